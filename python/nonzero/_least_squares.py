"""Least squares and singular values, by names and shapes that SciPy has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import function, pair, real, whole
from nonzero._arrays import (
    as_dtype,
    dense,
    dtype_of,
    empty,
    host_vector,
    lend,
    library_of,
    stream_of,
)
from nonzero._eigs import NoConvergence
from nonzero._functions import _checked, _computed, as_given, common_dtype
from nonzero._krylov import default_tol
from nonzero._matrices import Matrix
from nonzero._operator import Operator, plan


def lsmr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
    *,
    callback: Callable[[float], object] | None = None,
) -> tuple[Any, int, int, float, float, float, float, float]:
    """Minimise norm(b - A x)^2 + damp^2 norm(x - x0)^2 for A of any shape and rank, by LSMR.

    Of all x that do, the nearest to x0. Norms that it returns are estimates that the iterations
    carry along. It computes in double precision, as SciPy's.

    Parameters
    ----------
    A : Operator, a matrix as `plan` takes it, or another's operator, (m, n)
        A^T is stored too. Of others: what has `matvec` and `rmatvec`, such as SciPy's
        LinearOperator, or a dense array; they are given NumPy arrays and multiply on the CPU.
    b : array, (m,) or (m, 1)
        On the operator's device; not changed.
    damp : float
        Makes ill-posed problems regular.
    atol, btol : float
        Relative errors of A and of b; x is good enough where it is a solution within them.
    conlim : float
        The estimated condition number of A at which it stops; 0: none.
    maxiter : int, optional
        [min(m, n)]
    show : bool
        Print how it ended.
    x0 : array, (n,), optional
        The guess. [zero]
    callback : callable, optional
        Is called with norm(b - A x) / norm(b) after each iteration; StopIteration ends it.

    Returns
    -------
    x : array, (n,)
        Of the library of b. The same bits in every run.
    istop : int
        SciPy's 0 to 7, and: 9 where a callback stopped it, 10 where a product is not finite, or
        squares of numbers are beyond all numbers or below them.
    itn : int
        Iterations.
    normr, normar, norma, conda, normx : float
        norm(b - A x), damped; norm(A^H (b - A x)), damped; the Frobenius norm of A, from below;
        its condition number; norm(x).

    Raises
    ------
    TypeError, ValueError
        Where A, b or x0 are not as above, or b or x0 holds NaN or infinity.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, nonzero as nz
    >>> A = sp.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> x, istop, itn, normr, *_ = nz.lsmr(A, [1.0, 0.0, -1.0])
    >>> np.round(x, 6), istop
    (array([ 1., -1.]), 1)
    """
    p = _Problem(A, b, x0)
    r = p.run("lsmr", damp, atol, btol, conlim, maxiter, callback)
    if show:
        print(f"lsmr: {r['why']}; {r['iterations']} iterations, norm(b - A x) {r['damped_norm']:g}")
    return (
        p.x,
        r["istop"],
        r["iterations"],
        r["damped_norm"],
        r["gradient_norm"],
        r["norm"],
        r["condition"],
        r["solution_norm"],
    )


def lsqr(
    A: Any,
    b: Any,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
    *,
    callback: Callable[[float], object] | None = None,
) -> tuple[Any, int, int, float, float, float, float, float, float, Any]:
    """Minimise the same as `lsmr` by LSQR, whose norm(b - A x) is the least in every iteration.

    Parameters
    ----------
    A, b, damp, atol, btol, conlim, show, x0, callback
        As in `lsmr`.
    iter_lim : int, optional
        [2 n]
    calc_var : bool
        Whether to estimate `var`.

    Returns
    -------
    x, istop, itn
        As in `lsmr`.
    r1norm, r2norm : float
        norm(b - A x), and with the damping's share.
    anorm, acond, arnorm, xnorm : float
        As norma, conda, normar and normx of `lsmr`.
    var : array, (n,)
        Estimates of the diagonal of (A^H A + damp^2 I)^-1; zeros without `calc_var`.

    Raises
    ------
    TypeError, ValueError
        As `lsmr`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, nonzero as nz
    >>> A = sp.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> x, istop, itn, r1norm = nz.lsqr(A, [1.0, 0.0, -1.0])[:4]
    >>> np.round(x, 6), istop
    (array([ 1., -1.]), 1)
    """
    p = _Problem(A, b, x0)
    kind = np.dtype(np.float64)
    var = empty((p.A.shape[1],), kind, p.x)
    var[...] = 0
    r = p.run("lsqr", damp, atol, btol, conlim, iter_lim, callback, var if calc_var else None)
    if show:
        print(
            f"lsqr: {r['why']}; {r['iterations']} iterations, norm(b - A x) {r['residual_norm']:g}"
        )
    return (
        p.x,
        r["istop"],
        r["iterations"],
        r["residual_norm"],
        r["damped_norm"],
        r["norm"],
        r["condition"],
        r["gradient_norm"],
        r["solution_norm"],
        var,
    )


class _Problem:
    """A, b and x in one dtype, of double precision, where A lies."""

    def __init__(self, A: Any, b: Any, x0: Any) -> None:
        given, rhs = as_given(A, "A"), dense(b, "b")
        dtype = np.result_type(common_dtype(given, dtype_of(rhs), "A"), np.float64)
        self.A = _pair_in(given, dtype)
        self.b = self._vector(rhs, "b", self.A.shape[0])
        self.x = empty((self.A.shape[1],), dtype, self.b)
        self.x[...] = 0 if x0 is None else self._vector(dense(x0, "x0"), "x0", self.A.shape[1])

    def _vector(self, v: Any, name: str, length: int) -> Any:
        kind = dtype_of(v).kind
        if kind not in "biufc" or (kind == "c" and self.A.dtype.kind == "f"):
            raise TypeError(f"{name}: of dtype {dtype_of(v)}, expected {self.A.dtype}")
        found = self.A._checked(as_dtype(v, self.A.dtype), name)
        flat = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        if tuple(flat.shape) != (length,):
            raise ValueError(f"{name}: of shape {tuple(found.shape)}, expected ({length},)")
        if not _is_finite(flat):
            raise ValueError(f"{name}: holds NaN or infinity")
        if library_of(flat) == "torch":
            return flat.contiguous()
        return flat if flat.flags.c_contiguous else flat.copy()

    def run(
        self,
        method: str,
        damp: float,
        atol: float,
        btol: float,
        conlim: float,
        most: int | None,
        callback: Any,
        var: Any = None,
    ) -> dict[str, Any]:
        """Solve; x holds what has been found."""
        report: dict[str, Any] = _nonzero.least_squares(
            method,
            self.A._core,
            lend(self.b),
            lend(self.x),
            None if var is None else lend(var),
            damp=real(damp, "damp"),
            atol=real(atol, "atol", 0),
            btol=real(btol, "btol", 0),
            conlim=float("inf") if conlim == float("inf") else real(conlim, "conlim", 0),
            maxiter=-1 if most is None else whole(most, "maxiter", 0, 2**63 - 1),
            stream=stream_of(self.x) if self.A._device >= 0 else 0,
            callback=function(callback, "callback"),
        )
        return report


def _is_finite(v: Any) -> bool:
    if library_of(v) == "torch":
        import torch

        return bool(torch.isfinite(v).all())
    if library_of(v) == "cupy":
        import cupy

        return bool(cupy.isfinite(v).all())
    return bool(np.isfinite(v).all())


#: Products that a search or a solve takes, as far as the plan of a matrix needs to know.
_PRODUCTS = 200


def _pair_in(A: Any, dtype: np.dtype[Any]) -> Operator:
    """Give `A`, as given, as an operator that multiplies by A and by A^H in `dtype`."""
    if isinstance(A, Matrix):
        matrix = Matrix(as_dtype(A.data, dtype), A.indices, A.indptr, A.shape)
        return plan(matrix, transposed=True, products=_PRODUCTS, keep=False)
    if isinstance(A, Operator):
        own: Operator = A._in_double() if A.dtype != dtype and A._matrix is not None else A
        if own.dtype == dtype:
            own._store_transpose()
            return own
        if A._device >= 0:
            raise TypeError(f"A: of dtype {A.dtype}, expected {dtype} on a GPU")
    found = getattr(A, "shape", None)
    if found is None:
        raise TypeError(f"A: a {type(A).__name__} without a shape, expected one with it")
    rows, cols = pair(found, "A.shape")
    if hasattr(A, "matvec") and hasattr(A, "rmatvec"):
        product, adjoint = A.matvec, A.rmatvec
    elif isinstance(A, np.ndarray):
        product, adjoint = A.__matmul__, A.conj().T.__matmul__
    else:
        raise TypeError(f"A: a {type(A).__name__}, expected a matrix, or matvec and rmatvec")
    core = _nonzero.operator_of(
        _checked(product, rows, dtype, "A"),
        (rows, cols),
        dtype=dtype.char,
        name="A",
        adjoint=_checked(adjoint, cols, dtype, "A"),
    )
    return Operator(core, None, {"name": "function"})


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    *,
    center: bool = False,
    callback: Callable[[int, int, float], object] | None = None,
    solver: str = "lanczos",
    rng: Any = None,
    random_state: Any = None,
    options: Any = None,
) -> Any:
    """Find the k largest singular values of a real matrix of any shape, every copy included.

    Parameters
    ----------
    A : as in `lsmr`, (m, n)
        Real.
    k : int
        Values, 1 to min(m, n); on a GPU at most 100.
    ncv : int, optional
        Vectors that the search holds, k + 2 at least. [6 k + 8, or 32; from k = 41 on k + 208 or
        3 k / 2; on a GPU 128 at most]
    tol : float
        Of norm(A v - s u) / norm(A) and norm(A^T u - s v) / norm(A), for each of them. [1e-8, or
        1e-5 in single precision, where it is 0]
    which : {"LM"}
        The largest. The smallest would need factors of A: `eigsh` of A^T A by ``sigma=0`` finds
        them to the square root of its accuracy.
    v0 : array, (min(m, n),), optional
        A vector near to what is wanted, on the right where n <= m, else on the left; in CPU memory.
    maxiter : int, optional
        Products with A, at most, and as many with A^T. [10000]
    return_singular_vectors : bool or {"u", "vh"}
        Both, none, or those on one side; the other is None then.
    center : bool
        Take the means of the columns off, without making that matrix: the rows of vh are then
        principal components.
    callback : callable, optional
        Is called with the products done, the values converged and the current residual;
        StopIteration ends the search.
    solver, rng, random_state, options
        SciPy's; not used. The start is the same in every run.

    Returns
    -------
    u : array, (m, k)
        Orthonormal columns; in CPU memory. The same bits in every run.
    s : array, (k,)
        Ascending, as SciPy's.
    vh : array, (k, n)
        Orthonormal rows.

    Raises
    ------
    NoConvergence
        Where not all have converged; `triplets` has the best so far, (u, s, vh).
    TypeError, ValueError
        Where A is complex, or an option is wrong.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, nonzero as nz
    >>> u, s, vh = nz.svds(sp.diags_array([3.0, 1.0, 3.0, 2.0]), k=3)
    >>> np.round(s, 6)
    array([2., 3., 3.])
    """
    if which != "LM":
        raise ValueError(f"which: {which!r}, expected 'LM': the smallest would need factors of A")
    if return_singular_vectors not in (True, False, "u", "vh"):
        raise ValueError(
            f"return_singular_vectors: {return_singular_vectors!r}, expected True, False, 'u' or "
            "'vh'"
        )
    del solver, rng, random_state, options
    asked = real(tol, "tol", 0)
    most = 10000 if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1)
    given = as_given(A, "A")
    own = np.dtype(getattr(given, "dtype", None) or np.float64)
    if own.kind == "c":
        raise TypeError("A: complex, expected real values")
    op = _pair_in(given, _computed(own, "A"))
    least = min(op.shape)
    k = whole(k, "k", 1, least)
    target = asked or default_tol(op.dtype)
    found: dict[str, Any] = _nonzero.svds(
        op._core,
        count=k,
        tol=target,
        max_products=most,
        basis=0 if ncv is None else whole(ncv, "ncv", min(k + 2, least), 2**31 - 1),
        centred=bool(center),
        guess=None if v0 is None else host_vector(v0, "v0", least, op.dtype),
        callback=function(callback, "callback"),
    )
    s = found["values"][::-1].astype(op.dtype)
    u, vh = found["left"][:, ::-1], found["right"][:, ::-1].T
    if not found["converged"]:
        why = found["why"].replace(
            "max_products were spent", f"maxiter = {most} products were spent"
        )
        error = NoConvergence(
            f"svds: not all singular values have converged to {target:g}: {why}",
            found["status"],
            s,
            vh.T,
        )
        error.triplets = (u, s, vh)
        raise error
    if return_singular_vectors is False:
        return s
    return (
        None if return_singular_vectors == "vh" else u,
        s,
        None if return_singular_vectors == "u" else vh,
    )

"""Linear systems and eigenpairs, by names and shapes that SciPy has."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero
from nonzero._arguments import function, real, whole
from nonzero._arrays import empty, from_numpy, lend, library_of, stream_of, to_numpy
from nonzero._matrices import Matrix, as_matrix
from nonzero._operator import Operator, _device_number, plan, table_as_html
from nonzero._progress import residual_bar

Callback = Callable[[float], object]


class NoConvergence(RuntimeError):
    """Raised by `eigsh` where not all pairs have converged.

    Attributes
    ----------
    eigenvalues : array, (found,)
        What it has.
    eigenvectors : array, (n, found)
        What it has.
    """

    def __init__(self, why: str, eigenvalues: Any, eigenvectors: Any) -> None:
        super().__init__(why)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


@dataclass(frozen=True)
class SolveResult:
    """The solution of a linear system, and how it was found.

    Attributes
    ----------
    x : array, (n,)
        The best solution found, of the library of b.
    converged : bool
        Whether norm(b - A x) <= tol norm(b), with b - A x computed at the end.
    iterations : int
        Of all attempts.
    residuals : array
        Relative residuals of the attempt that found x: at the start, then after each iteration.
    why : str
        It ended, in one sentence.
    method, preconditioner : str
        That found x.
    setup_s, solve_s : float
        Planning and building the product and the preconditioners; everything after [s].
    attempts : list of dict
        Every method that was tried, in order.
    """

    x: Any = field(repr=False)
    converged: bool
    iterations: int
    residuals: NDArray[np.float64] = field(repr=False)
    why: str
    method: str
    preconditioner: str
    setup_s: float
    solve_s: float
    attempts: list[dict[str, Any]] = field(repr=False)

    @property
    def relative_residual(self) -> float:
        """norm(b - A x) / norm(b) at the end."""
        return float(self.residuals[-1]) if len(self.residuals) else 0.0

    def plot(self, ax: Any = None) -> Any:
        """Draw the relative residuals over the iterations, by matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn into. [a new one]

        Returns
        -------
        matplotlib.axes.Axes
        """
        from nonzero._plots import residuals_plot

        return residuals_plot(self, ax)

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{a['method']} with {a['preconditioner']}",
                str(a["iterations"]),
                f"{a['relative_residual']:.2e}",
                f"{a['preconditioner_s'] * 1e3:,.1f}",
                f"{a['solve_s'] * 1e3:,.1f}",
                a["why"],
            )
            for a in self.attempts
        ]
        heads = ("attempt", "iterations", "residual", "setup [ms]", "solve [ms]", "it ended")
        state = "converged" if self.converged else "not converged"
        return table_as_html(heads, rows, f"{state}: {html.escape(self.why)}")


def solve(
    A: Any,
    b: Any,
    *,
    x0: Any = None,
    tol: float | None = None,
    rtol: float | None = None,
    maxiter: int = 10000,
    method: str | None = None,
    preconditioner: str | None = None,
    restart: int = 30,
    block: int = 1,
    device: int | str | None = None,
    threads: int = 0,
    callback: Callback | None = None,
    progress: bool = False,
) -> SolveResult:
    """Solve A x = b by the method and the preconditioner that suit A.

    Where one fails the next is tried, from the best x so far; the result says which were.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        As `plan` takes it. On a GPU it is copied to the CPU for the setup.
    b : array, (n,)
        Of A's dtype after `plan`'s conversions, or convertible to it; where A lies. Copied to the
        CPU where it is on a GPU.
    x0 : array, (n,), optional
        The initial guess. [zeros]
    tol, rtol : float
        Of the relative residual, norm(b - A x) / norm(b); one name or the other. [1e-8, or 1e-5
        in single precision]
    maxiter : int
        Iterations of the first attempt; those that follow share as many again.
    method : {"cg", "minres", "bicgstab", "gmres"}, optional
        To use alone. [as suits A]
    preconditioner : {"none", "jacobi", "block-jacobi", "sgs", "amg"}, optional
        To use alone. [as suits A]
    restart : int
        Vectors of gmres.
    block : int
        Unknowns that belong together, for block-jacobi and amg.
    device : int or "cpu" or "gpu", optional
        Where to iterate. [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.
    callback : callable, optional
        Is called with the relative residual after each iteration, on a GPU in bursts. Raising
        StopIteration ends the solve with what there is.
    progress : bool
        Show a bar by tqdm.

    Returns
    -------
    SolveResult
        Not converging is a value, no error. The same bits in every run.

    Raises
    ------
    TypeError, ValueError
        Where A, b or x0 are not as above, or A does not suit the method asked for.
    MemoryError
        Where the memory does not suffice.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> r = nz.solve(A, np.ones(900), tol=1e-10)
    >>> r.converged, bool(np.linalg.norm(A @ r.x - 1) <= 1e-10 * 30)
    (True, True)
    """
    if tol is not None and rtol is not None:
        raise TypeError("tol and rtol: one quantity, expected one of them")
    asked, named = (tol, "tol") if tol is not None else (rtol, "rtol")
    matrix = as_matrix(A)
    target = _default_tol(matrix.dtype) if asked is None else real(asked, named, 0)
    number = _device_number(device, matrix)
    host = matrix.on_cpu()
    rhs = _vector(b, host, "b")
    x = np.zeros_like(rhs) if x0 is None else _vector(x0, host, "x0").copy()
    with residual_bar(progress, target, function(callback, "callback")) as watched:
        r = _nonzero.solve(
            host.shape,
            *host.lent(),
            rhs,
            x,
            device=number,
            threads=whole(threads, "threads"),
            tol=target,
            maxiter=whole(maxiter, "maxiter", 0, 2**63 - 1),
            restart=whole(restart, "restart", 1, 1000),
            method=method,
            preconditioner=preconditioner,
            block=whole(block, "block", 1),
            callback=watched,
        )
    best = r["attempts"][r["best"]]
    return SolveResult(
        x=from_numpy(x, b) if library_of(b) != "numpy" else x,
        converged=best["converged"],
        iterations=sum(a["iterations"] for a in r["attempts"]),
        residuals=best["residuals"],
        why=best["why"],
        method=best["method"],
        preconditioner=best["preconditioner"],
        setup_s=r["setup_s"],
        solve_s=r["solve_s"],
        attempts=r["attempts"],
    )


def _default_tol(dtype: np.dtype[Any]) -> float:
    """Give the tolerance where none is asked for, which rounding lets every method reach."""
    return 1e-8 if np.finfo(dtype).eps < 1e-10 else 1e-5


def _operator(A: Any) -> Operator:
    if isinstance(A, Operator):
        return A
    if hasattr(A, "matvec"):
        raise TypeError(
            f"A: a {type(A).__name__}, expected an Operator, as nonzero.plan makes, or a matrix"
        )
    return plan(A)


def _vector(v: Any, A: Matrix, name: str) -> NDArray[Any]:
    """Give a vector on the CPU, contiguous and of the matrix's dtype."""
    host = to_numpy(v)
    if host.ndim == 2 and host.shape[1] == 1:
        host = host[:, 0]
    if host.shape != (A.shape[0],):
        raise ValueError(f"{name}: of shape {host.shape}, expected ({A.shape[0]},)")
    if host.dtype.kind not in "biu" and not np.can_cast(host.dtype, A.dtype, "same_kind"):
        raise TypeError(f"{name}: of dtype {host.dtype}, expected {A.dtype}")
    return np.ascontiguousarray(host, dtype=A.dtype)


def _krylov(
    method: str,
    A: Any,
    b: Any,
    x0: Any,
    rtol: float,
    maxiter: int | None,
    M: Operator | None,
    callback: Callback | None,
    restart: int = 30,
) -> tuple[Any, int]:
    op = _operator(A)
    flat = _flat(op, b, "b")
    x = empty(tuple(flat.shape), op.dtype, flat)
    x[...] = 0 if x0 is None else _flat(op, x0, "x0")
    if M is not None and not isinstance(M, Operator):
        raise TypeError(f"M: a {type(M).__name__}, expected an Operator, as nonzero.amg makes")
    r = _nonzero.krylov(
        method,
        op._core,
        lend(_contiguous(flat)),
        lend(x),
        None if M is None else M._core,
        tol=real(rtol, "rtol", 0),
        maxiter=10 * op.shape[0] if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1),
        restart=whole(restart, "restart", 1, 1000),
        threads=0,
        stream=stream_of(x) if op.device >= 0 else 0,
        callback=function(callback, "callback"),
    )
    return x, 0 if r["converged"] else max(int(r["iterations"]), 1)


def _flat(op: Operator, v: Any, name: str) -> Any:
    found = op._checked(v, name)
    flat = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if tuple(flat.shape) != (op.shape[0],):
        raise ValueError(f"{name}: of shape {tuple(found.shape)}, expected ({op.shape[0]},)")
    return flat


def _contiguous(x: Any) -> Any:
    if library_of(x) == "torch":
        return x.contiguous()
    return x if x.flags.c_contiguous else x.copy()


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by conjugate gradients, for a symmetric (hermitian) positive definite A.

    Parameters
    ----------
    A : Operator, or a matrix as `plan` takes it
        Plan it once for several right-hand sides.
    b, x0 : array, (n,)
        Of the operator's dtype and on its device; not changed.
    rtol : float
        Of the relative residual, norm(b - A x) / norm(b).
    maxiter : int, optional
        [10 n]
    M : Operator, optional
        The preconditioner, an approximate inverse of A: what `amg` makes.
    callback : callable, optional
        Is called with the relative residual after each iteration. (SciPy's is given x.)

    Returns
    -------
    x : array, (n,)
        Of the library of b. The same bits in every run.
    info : int
        0 where it has converged, else the number of iterations.

    Raises
    ------
    TypeError, ValueError
        Where b, x0 or M are not as above.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.cg(A, np.ones(900), M=nz.amg(A))
    >>> info
    0
    """
    return _krylov("cg", A, b, x0, rtol, maxiter, M, callback)


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by minimal residuals, for a symmetric (hermitian) A; as `cg`.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.minres(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("minres", A, b, x0, rtol, maxiter, M, callback)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by stabilised biconjugate gradients, for any A; as `cg`.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.bicgstab(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("bicgstab", A, b, x0, rtol, maxiter, M, callback)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    restart: int = 30,
    maxiter: int | None = None,
    M: Operator | None = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by generalised minimal residuals, for any A; as `cg`.

    Parameters
    ----------
    A, b, x0, rtol, maxiter, M, callback
        As `cg` has them; `maxiter` counts inner iterations.
    restart : int
        Vectors held.

    Returns
    -------
    x, info
        As `cg` has them.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.gmres(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("gmres", A, b, x0, rtol, maxiter, M, callback, restart)


def amg(
    A: Any,
    *,
    device: int | str | None = None,
    threads: int = 0,
    block: int = 1,
    cycle: str = "v",
    strength: float | None = None,
) -> Operator:
    """Make a multigrid preconditioner: smoothed aggregation, one cycle a product.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        Symmetric positive definite and real, as `plan` takes it; copied to the CPU where it is on
        a GPU. Not needed afterwards.
    device : int or "cpu" or "gpu", optional
        Where it is applied. [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.
    block : int
        Unknowns a node, which are aggregated together: 3 for elasticity in space.
    cycle : {"v", "w"}
        Of the levels.
    strength : float, optional
        Of couplings that are aggregated; larger couples less.

    Returns
    -------
    Operator
        ``M @ r``, near the inverse of A, symmetric: for `cg`, here or in SciPy.

    Raises
    ------
    TypeError, ValueError
        Where A is complex, not symmetric, or has a diagonal entry that is not positive.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace3d(12)
    >>> M = nz.amg(A)
    >>> (M @ np.ones(1728)).shape
    (1728,)
    """
    matrix = as_matrix(A)
    if cycle not in ("v", "w"):
        raise ValueError(f"cycle: {cycle!r}, expected 'v' or 'w'")
    host = matrix.on_cpu()
    core, text = _nonzero.amg(
        host.shape,
        *host.lent(),
        device=_device_number(device, matrix),
        threads=whole(threads, "threads"),
        block=whole(block, "block", 1),
        cycle=cycle,
        strength=None if strength is None else real(strength, "strength", 0),
    )
    return Operator(core, None, {"name": "amg", "report": text})


def eigsh(
    A: Any,
    k: int = 6,
    *,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    preconditioner: Operator | None = None,
    callback: Callable[[int, int, float], object] | None = None,
) -> Any:
    """Find a few eigenpairs of a real symmetric matrix, every multiplicity included.

    Parameters
    ----------
    A : Operator, or a matrix as `plan` takes it, (n, n)
        Real and symmetric, which is not checked.
    k : int
        Pairs, 1 to 50; at most n.
    which : {"LM", "LA", "SA", "BE"}
        The largest in magnitude, the largest, the smallest, or half of them from each end.
    v0 : array, (n,), optional
        A vector near to what is wanted; in CPU memory.
    maxiter : int, optional
        Products at most. [10000]
    tol : float
        Of norm(A v - w v) / norm(A), for each pair. [1e-8, or 1e-5 in single precision, where
        it is 0]
    return_eigenvectors : bool
        Whether to return the vectors too.
    preconditioner : Operator, optional
        Near the inverse of a definite A, for its smallest: what `amg` makes.
    callback : callable, optional
        Is called with the products done, the pairs converged and the current residual.

    Returns
    -------
    w : array, (k,)
        Ascending.
    v : array, (n, k)
        Orthonormal; in CPU memory. The same bits in every run.

    Raises
    ------
    NoConvergence
        Where not all pairs have converged.
    TypeError, ValueError
        Where A is complex or not square, or an option is wrong.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> w, v = nz.eigsh(nz.generate.laplace2d(20), k=3, which="SA")
    >>> np.round(w, 4)
    array([0.0447, 0.1112, 0.1112])
    """
    op = _operator(A)
    if preconditioner is not None and not isinstance(preconditioner, Operator):
        raise TypeError(f"preconditioner: a {type(preconditioner).__name__}, expected an Operator")
    n = op.shape[0]
    k = whole(k, "k", 1, 50)
    target = real(tol, "tol", 0) or _default_tol(op.dtype)
    most = 10000 if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1)
    function(callback, "callback")

    guess = None
    if v0 is not None:
        guess = np.ascontiguousarray(v0, dtype=op.dtype)
        if guess.shape != (n,):
            raise ValueError(f"v0: of shape {guess.shape}, expected ({n},)")

    def search(end: str, count: int) -> dict[str, Any]:
        found: dict[str, Any] = _nonzero.eigs(
            op._core,
            count=count,
            which=end,
            tol=target,
            max_products=most,
            threads=0,
            M=None if preconditioner is None else preconditioner._core,
            guess=guess,
            callback=callback,
        )
        return found

    k = min(k, n)
    if which in ("SA", "LA"):
        parts = [search(which, k)]
    elif which == "LM":
        parts = [search("SA", k), search("LA", k)]
    elif which == "BE":
        parts = [search("SA", k // 2)] if k > 1 else []
        parts.append(search("LA", k - k // 2))
    else:
        raise ValueError(
            f"which: {which!r}, expected 'LM', 'LA', 'SA' or 'BE'; for the smallest in magnitude "
            "of a definite matrix take 'SA'"
        )
    w, v = _merged(parts, k, n, which)
    for p in parts:
        if not p["converged"]:
            why = p["why"].replace(
                "max_products were spent", f"maxiter = {most} products were spent"
            )
            raise NoConvergence(f"eigsh: not all pairs have converged to {target:g}: {why}", w, v)
    return (w, v) if return_eigenvectors else w


def _merged(
    parts: list[dict[str, Any]], k: int, n: int, which: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Put together what searches from both ends found, ascending, no pair twice."""
    w = np.concatenate([p["values"] for p in parts])
    v = np.concatenate([p["vectors"] for p in parts], axis=1)
    if which == "LM" and len(w) > n:
        # Of fewer than 2 k pairs each end found some that the other did: the one end's all.
        smallest, largest = (p["values"] for p in parts)
        keep = np.concatenate(
            [np.ones(len(smallest), bool), np.arange(len(largest)) < n - len(smallest)]
        )
        w, v = w[keep], v[:, keep]
    if which == "LM":
        best = np.argsort(-np.abs(w), kind="stable")[:k]
        w, v = w[best], v[:, best]
    order = np.argsort(w, kind="stable")
    return w[order], v[:, order]

"""Eigenpairs, by names and shapes that SciPy has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import function, real, whole
from nonzero._arrays import host_vector
from nonzero._functions import as_given, as_operator, operator_in
from nonzero._krylov import System, default_tol
from nonzero._matrices import Matrix
from nonzero._operator import Operator


class NoConvergence(RuntimeError):
    """Raised by `eigsh` and `svds` where not all pairs or triplets have converged.

    Attributes
    ----------
    status : str
        The search ended by: "max-products", "stopped-by-caller", "limited-by-rounding",
        "not-finite" and others.
    eigenvalues : array, (found,)
        Eigenvalues of the pairs that have converged.
    eigenvectors : array, (n, found)
        Their eigenvectors.
    triplets : tuple of arrays, or None
        Of `svds` alone: u, s and vh, the best so far.
    """

    triplets: tuple[Any, Any, Any] | None = None

    def __init__(self, why: str, status: str, eigenvalues: Any, eigenvectors: Any) -> None:
        super().__init__(why)
        self.status = status
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def eigsh(
    A: Any,
    k: int = 6,
    *,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    preconditioner: Any = None,
    callback: Callable[[int, int, float], object] | None = None,
) -> Any:
    """Find a few eigenpairs of a real symmetric matrix, every multiplicity included.

    Parameters
    ----------
    A : Operator, a matrix as `plan` takes it, or another's operator as `cg` takes it, (n, n)
        Real and symmetric, which is not checked.
    k : int
        Pairs, 1 to 50; at most n.
    sigma : float, optional
        Pairs near it are sought, as those of (A - sigma I)^-1: by the factors of A - sigma I, which
        `factorize` makes on the CPU, or, where A has no entries, by minres. Where sigma is an
        eigenvalue, as near as rounding can tell, 1e-5 norm(A) less takes its place.
    which : {"LM", "LA", "SA", "BE", "SM"}
        The largest in magnitude, the largest, the smallest, half of them from each end, or the
        smallest in magnitude, which is "LM" with sigma = 0. With sigma, the eigenvalues of
        (A - sigma I)^-1 are meant: "LM" are the nearest to sigma, "LA" those above it, "SA" those
        below.
    v0 : array, (n,), optional
        A vector near to what is wanted; in CPU memory.
    maxiter : int, optional
        Products at most, at each end of the spectrum; with sigma, by (A - sigma I)^-1. [10000]
    tol : float
        Of norm(A v - w v) / norm(A), for each pair. [1e-8, or 1e-5 in single precision, where
        it is 0]
    return_eigenvectors : bool
        Whether to return the vectors too.
    preconditioner : as A, optional
        Near the inverse of a definite A, for its smallest: what `amg` makes. Where both ends are
        searched, the largest are found without it. Not with sigma.
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
    >>> w, v = nz.eigsh(nz.generate.laplace2d(20), k=2, sigma=4.05)
    >>> np.round(w, 4)
    array([4.0665, 4.0665])
    """
    k = whole(k, "k", 1, 50)
    most = 10000 if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1)
    asked = real(tol, "tol", 0)
    function(callback, "callback")
    wanted = ("LM", "LA", "SA", "BE") if sigma is not None else ("LM", "LA", "SA", "BE", "SM")
    if which not in wanted:
        raise ValueError(f"which: {which!r}, expected one of {', '.join(wanted)}")
    shift = 0.0 if which == "SM" else None if sigma is None else real(sigma, "sigma")
    op = as_operator(A)
    search = _Search(k, "LM" if which == "SM" else which, most, callback)
    if shift is not None:
        if preconditioner is not None:
            raise TypeError("preconditioner: does not go with sigma")
        w, v = _near(A, op, shift, asked or default_tol(op.dtype), v0, search)
        return (w, v) if return_eigenvectors else w
    inverse = (
        None
        if preconditioner is None
        else operator_in(
            as_given(preconditioner, "preconditioner"), op.dtype, "preconditioner", op.shape
        )
    )
    target = asked or default_tol(op.dtype)
    guess = None if v0 is None else host_vector(v0, "v0", op.shape[0], op.dtype)
    w, v = search.run(op, target, guess, inverse)
    order = np.argsort(w, kind="stable")
    return (w[order], v[:, order]) if return_eigenvectors else w[order]


class _Search(NamedTuple):
    """A search for extreme eigenpairs."""

    k: int
    which: str
    most: int
    callback: Callable[[int, int, float], object] | None

    def run(self, op: Operator, target: float, guess: Any, inverse: Operator | None = None) -> Any:
        """Give eigenvalues and vectors; raises NoConvergence, with those that were found."""
        found: dict[str, Any] = _nonzero.eigs(
            op._core,
            count=self.k,
            which=self.which,
            tol=target,
            max_products=self.most,
            threads=0,
            M=None if inverse is None else inverse._core,
            guess=guess,
            callback=self.callback,
        )
        if not found["converged"]:
            why = found["why"].replace(
                "max_products were spent", f"maxiter = {self.most} products were spent"
            )
            order = np.argsort(found["values"], kind="stable")
            raise NoConvergence(
                f"eigsh: not all pairs have converged to {target:g}: {why}",
                found["status"],
                found["values"][order],
                found["vectors"][:, order],
            )
        return found["values"], found["vectors"]


def _near(A: Any, op: Operator, sigma: float, target: float, v0: Any, search: _Search) -> Any:
    """Find the pairs near sigma, by the inverse of A - sigma I, in double precision."""
    n = op.shape[0]
    if op.dtype.kind == "c":
        raise TypeError("A: complex, expected real values")
    if op.shape[1] != n:
        raise ValueError(f"eigsh: A is {n} x {op.shape[1]}, expected a square matrix")
    given = as_given(A, "A")
    matrix = given if isinstance(given, Matrix) else getattr(given, "_matrix", None)
    product = operator_in(given if matrix is None else matrix.on_cpu(), np.dtype(float), "A")
    rng = np.random.default_rng(0)
    start = rng.standard_normal(n)
    norm = float(np.linalg.norm(product @ start) / np.linalg.norm(start)) if n > 0 else 0.0
    guess = None if v0 is None else host_vector(v0, "v0", n, product.dtype)
    try:
        w, v = _by_inverse(product, matrix, sigma, target, norm, guess, search)
    except _TooNear:
        w, v = _by_inverse(
            product, matrix, sigma - 1e-5 * (norm or 1.0), target, norm, guess, search
        )
    order = np.argsort(w, kind="stable")
    return w[order].astype(op.dtype), v[:, order].astype(op.dtype)


class _TooNear(NoConvergence):
    """The shift is an eigenvalue, or too near to one for the others to be found."""

    @classmethod
    def of(cls, sigma: float) -> _TooNear:
        """Make one of a shift that is an eigenvalue."""
        why = f"eigsh: sigma = {sigma:g} is an eigenvalue, as near as rounding can tell"
        return cls(why, "singular-matrix", np.empty(0), np.empty((0, 0)))


def _by_inverse(
    A: Operator,
    matrix: Matrix | None,
    sigma: float,
    target: float,
    norm: float,
    guess: Any,
    search: _Search,
) -> Any:
    """Find pairs of A by those of its shifted inverse, until their residuals keep the target."""
    if matrix is None:
        inverse = _by_minres(A, sigma)
    else:
        inverse, is_definite = _factors(matrix.on_cpu(), sigma)
        if is_definite and search.which == "LM":  # at one end alone
            search = search._replace(which="LA")
    x = np.random.default_rng(1).standard_normal(A.shape[0])
    for _ in range(2):
        x = inverse @ (x / np.linalg.norm(x))
    if not np.linalg.norm(x) * norm < 1e11:
        raise _TooNear.of(sigma)
    tol = target
    while True:
        stopped: NoConvergence | None = None
        try:
            _, v = search.run(inverse, tol, guess)
        except NoConvergence as e:
            stopped, v = e, e.eigenvectors
        # Of the inverse's largest pair the residual says little about that of A's others.
        Av = A @ v
        w = np.einsum("ij,ij->j", v, Av)
        residual = np.linalg.norm(Av - v * w, axis=0).max(initial=0)
        if residual <= target * norm and v.shape[1] == min(search.k, A.shape[0]):
            return w, v
        if stopped is not None:
            raise NoConvergence(str(stopped), stopped.status, w, v)
        tol *= 0.1 * target * norm / residual
        if tol < 1e-14:
            raise _TooNear(
                f"eigsh: sigma = {sigma:g} is so near to an eigenvalue that others are found to "
                f"{residual / norm:.1e} alone, not to {target:g}",
                "limited-by-rounding",
                w,
                v,
            )
        guess = v.sum(axis=1)


def _factors(matrix: Matrix, sigma: float) -> tuple[Operator, bool]:
    """Give the inverse of A - sigma I by its factors, and whether it is positive definite."""
    n = matrix.shape[0]
    ends = np.asarray(matrix.indptr)[1:]
    data = np.insert(np.asarray(matrix.data, float), ends, -sigma)
    indices = np.insert(np.asarray(matrix.indices), ends, np.arange(n))
    shifted = Matrix(data, indices, np.asarray(matrix.indptr) + np.arange(n + 1), matrix.shape)
    try:
        factors = _nonzero.factorize(
            shifted.shape, *shifted.lent(), max_bytes=None, direct_solver="eigen"
        )
    except ValueError as e:
        if "singular" in str(e):
            raise _TooNear.of(sigma) from None
        raise

    def solved(x: Any) -> Any:
        y = np.empty_like(x)
        factors.solve(x, y)
        return y

    return _as_inverse(solved, matrix.shape), factors.kind == "cholesky"


def _by_minres(A: Operator, sigma: float) -> Operator:
    """Give the inverse of A - sigma I by a solve for each product."""
    shifted = _as_inverse(lambda x: A @ x - sigma * x, A.shape)

    def solved(x: Any) -> Any:
        s = System(shifted, None, x, np.zeros_like(x))
        r = s.run("minres", 1e-12, 10 * len(x), max_seconds=math.inf, restart=1, callback=None)
        if not r["converged"] and r["relative_residual"] > 1e-9:
            raise NoConvergence(
                f"eigsh: minres did not solve with A - sigma I: {r['why']}",
                r["status"],
                np.empty(0),
                np.empty((len(x), 0)),
            )
        return s.x

    return _as_inverse(solved, A.shape)


def _as_inverse(f: Callable[[Any], Any], shape: tuple[int, int]) -> Operator:
    core = _nonzero.operator_of(f, shape, dtype="d", name="A - sigma I")
    return Operator(core, None, {"name": "function"})

"""Eigenpairs, by names and shapes that SciPy has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import function, real, whole
from nonzero._arrays import host_vector
from nonzero._functions import as_given, as_operator, operator_in
from nonzero._krylov import default_tol


class NoConvergence(RuntimeError):
    """Raised by `eigsh` where not all pairs have converged.

    Attributes
    ----------
    status : str
        The search ended by: "max-products", "stopped-by-caller", "limited-by-rounding",
        "not-finite" and others.
    eigenvalues : array, (found,)
        Eigenvalues of the pairs that have converged.
    eigenvectors : array, (n, found)
        Their eigenvectors.
    """

    def __init__(self, why: str, status: str, eigenvalues: Any, eigenvectors: Any) -> None:
        super().__init__(why)
        self.status = status
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


def eigsh(
    A: Any,
    k: int = 6,
    *,
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
    A : Operator, or a matrix as `plan` takes it, (n, n)
        Real and symmetric, which is not checked.
    k : int
        Pairs, 1 to 50; at most n.
    which : {"LM", "LA", "SA", "BE"}
        The largest in magnitude, the largest, the smallest, or half of them from each end.
    v0 : array, (n,), optional
        A vector near to what is wanted; in CPU memory.
    maxiter : int, optional
        Products at most, at each end of the spectrum. [10000]
    tol : float
        Of norm(A v - w v) / norm(A), for each pair. [1e-8, or 1e-5 in single precision, where
        it is 0]
    return_eigenvectors : bool
        Whether to return the vectors too.
    preconditioner : Operator, optional
        Near the inverse of a definite A, for its smallest: what `amg` makes. Where both ends are
        searched, the largest are found without it.
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
    op = as_operator(A)
    inverse = (
        None
        if preconditioner is None
        else operator_in(
            as_given(preconditioner, "preconditioner"), op.dtype, "preconditioner", op.shape
        )
    )
    n = op.shape[0]
    k = whole(k, "k", 1, 50)
    target = real(tol, "tol", 0) or default_tol(op.dtype)
    most = 10000 if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1)
    function(callback, "callback")

    guess = None if v0 is None else host_vector(v0, "v0", n, op.dtype)

    if which not in ("LM", "LA", "SA", "BE"):
        raise ValueError(
            f"which: {which!r}, expected 'LM', 'LA', 'SA' or 'BE'; for the smallest in magnitude "
            "of a definite matrix take 'SA'"
        )
    found: dict[str, Any] = _nonzero.eigs(
        op._core,
        count=k,
        which=which,
        tol=target,
        max_products=most,
        threads=0,
        M=None if inverse is None else inverse._core,
        guess=guess,
        callback=callback,
    )
    order = np.argsort(found["values"], kind="stable")
    w, v = found["values"][order], found["vectors"][:, order]
    if not found["converged"]:
        why = found["why"].replace(
            "max_products were spent", f"maxiter = {most} products were spent"
        )
        raise NoConvergence(
            f"eigsh: not all pairs have converged to {target:g}: {why}", found["status"], w, v
        )
    return (w, v) if return_eigenvectors else w

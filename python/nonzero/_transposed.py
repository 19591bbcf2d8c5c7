"""The transpose of an operator, and its conjugates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonzero._arrays import library_of
from nonzero._linear_operator import CONJUGATE, TRANSPOSE, ArrayOperator, LinearOperator, from_left

if TYPE_CHECKING:
    from nonzero._operator import Operator


class TransposedOperator(ArrayOperator):
    """The transpose of an operator, or its conjugate transpose; shares the operator."""

    def __init__(self, of: Operator, *, conjugated: bool) -> None:
        self._of = of
        self._kind = CONJUGATE if conjugated else TRANSPOSE
        self.shape = (of.shape[1], of.shape[0])
        self.dtype = of.dtype
        self.device: int | str = of.device

    def __matmul__(self, x: Any) -> Any:
        """Multiply a vector (cols,) or the columns of a matrix (cols, k)."""
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__matmul__(x)
        return self._of._product(self._kind, x)

    def __rmatmul__(self, x: Any) -> Any:
        """Multiply from the left."""
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__rmatmul__(x)
        return from_left(lambda _, X: self.T @ X, None, x)

    def matvec(self, x: Any) -> Any:
        """Multiply a vector (cols,) or (cols, 1)."""
        return self._of._of_vector(self._kind, x, self.shape[1])

    def rmatvec(self, x: Any) -> Any:
        """Multiply a vector by the conjugate transpose of this operator."""
        return self.H.matvec(x)

    def matmat(self, X: Any) -> Any:
        """Multiply the columns of a matrix (cols, k)."""
        return self._of._product(self._kind, X)

    def rmatmat(self, X: Any) -> Any:
        """Multiply the columns of a matrix by the conjugate transpose of this operator."""
        return self.H.matmat(X)

    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matmat, rmatmat

    def apply(self, x: Any, out: Any = None, *, alpha: complex = 1.0, beta: complex = 0.0) -> Any:
        """Compute alpha op(A) x + beta out, as `Operator.apply`."""
        return self._of._apply(self._kind, x, out, alpha, beta)

    @property
    def T(self) -> Any:
        """The transpose of this operator."""
        return self._of if self._kind is TRANSPOSE else ConjugatedOperator(self._of)

    @property
    def H(self) -> Any:
        """The conjugate transpose of this operator."""
        return self._of if self._kind is CONJUGATE else ConjugatedOperator(self._of)

    def __repr__(self) -> str:
        """Name the operator that it is of."""
        return f"<{'adjoint' if self._kind is CONJUGATE else 'transpose'} of {self._of!r}>"


class ConjugatedOperator(ArrayOperator):
    """An operator with its values conjugated: the transpose of its conjugate transpose."""

    def __init__(self, of: Operator) -> None:
        self._of = of
        self.shape, self.dtype, self.device = of.shape, of.dtype, of.device

    def _conjugated(self, product: Any, x: Any) -> Any:
        if self.dtype.kind == "f":
            return product @ x
        if library_of(x) == "numpy":
            x = np.asanyarray(x)
        return (product @ x.conj()).conj()

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__matmul__(x)
        return self._conjugated(self._of, x)

    def __rmatmul__(self, x: Any) -> Any:
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().__rmatmul__(x)
        return from_left(lambda _, X: self._of.H @ X, None, x)

    def matvec(self, x: Any) -> Any:
        return self._conjugated(self._of, x)

    def rmatvec(self, x: Any) -> Any:
        return self._conjugated(self._of.H, x)

    matmat, rmatmat = matvec, rmatvec
    _matvec, _rmatvec, _matmat, _rmatmat = matvec, rmatvec, matvec, rmatvec

    @property
    def T(self) -> Any:
        return self._of.H

    @property
    def H(self) -> Any:
        return self._of.T

    def __repr__(self) -> str:
        return f"<conjugate of {self._of!r}>"

"""The transpose of an operator, and its conjugates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonzero._arrays import library_of
from nonzero._linear_operator import CONJUGATE, TRANSPOSE, LinearOperator, from_left

if TYPE_CHECKING:
    from typing_extensions import Self

    from nonzero._operator import Operator


class TransposedOperator(LinearOperator):  # type: ignore[misc]
    """The transpose of an operator, or its conjugate transpose; shares the operator."""

    __array_priority__ = 1000
    __array_ufunc__ = None
    ndim = 2
    args: tuple[Any, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Leave SciPy's own choice of a class out."""
        return object.__new__(cls)

    def __init__(self, of: Operator, *, conjugated: bool) -> None:
        self._of = of
        self._kind = CONJUGATE if conjugated else TRANSPOSE
        self.shape = (of.shape[1], of.shape[0])
        self.dtype = of.dtype
        self.device = of.device

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

    def dot(self, x: Any) -> Any:
        """Multiply by `x`: a vector, a matrix, another operator or a number."""
        return super().dot(x) if isinstance(x, LinearOperator) or np.isscalar(x) else self @ x

    def __mul__(self, x: Any) -> Any:
        """Multiply by `x`, as `dot`."""
        return self.dot(x)

    def __call__(self, x: Any) -> Any:
        """Multiply, as ``op @ x``."""
        return self.dot(x)

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

    def transpose(self) -> Any:
        """Give the transpose, `T`."""
        return self.T

    def adjoint(self) -> Any:
        """Give the conjugate transpose, `H`."""
        return self.H

    _transpose, _adjoint = transpose, adjoint

    def __repr__(self) -> str:
        """Name the operator that it is of."""
        return f"<{'adjoint' if self._kind is CONJUGATE else 'transpose'} of {self._of!r}>"


class ConjugatedOperator(LinearOperator):  # type: ignore[misc]
    """An operator with its values conjugated: the transpose of its conjugate transpose."""

    __array_priority__ = 1000
    __array_ufunc__ = None
    ndim = 2
    args: tuple[Any, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return object.__new__(cls)

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

    def dot(self, x: Any) -> Any:
        return super().dot(x) if isinstance(x, LinearOperator) or np.isscalar(x) else self @ x

    def __mul__(self, x: Any) -> Any:
        return self.dot(x)

    def __call__(self, x: Any) -> Any:
        return self.dot(x)

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

    def transpose(self) -> Any:
        return self.T

    def adjoint(self) -> Any:
        return self.H

    _transpose, _adjoint = transpose, adjoint

    def __repr__(self) -> str:
        return f"<conjugate of {self._of!r}>"

"""The interface of every operator for SciPy, and without SciPy where it is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nonzero import _nonzero
from nonzero._arrays import dense, finished, library_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ArrayOperator", "CONJUGATE", "PLAIN", "TRANSPOSE", "LinearOperator", "from_left"]

try:
    from scipy.sparse.linalg import LinearOperator
except ImportError:  # SciPy is not needed
    _namespace: Any = None

    class LinearOperator:  # type: ignore[no-redef]
        """Stands in for SciPy's class where SciPy is not installed: multiplies arrays only."""

        def _only_arrays(self, x: Any) -> Any:
            raise TypeError(f"x: a {type(x).__name__}, expected an array; the rest needs SciPy")

        __matmul__ = __rmatmul__ = dot = _only_arrays

else:
    # Of arrays, as SciPy's own operators have it from 1.18 on; sums of two need the same.
    _identity = LinearOperator((1, 1), matvec=lambda x: x, dtype=np.float64)
    _namespace = getattr(_identity, "_xp", None)


class ArrayOperator(LinearOperator):  # type: ignore[misc]
    """Base of operators on arrays: a class with `__matmul__`, `T` and `H` gets the rest."""

    # SciPy would treat `op * x` on arrays by NumPy's broadcasting without these.
    __array_priority__ = 1000
    __array_ufunc__ = None
    ndim = 2
    args: tuple[Any, ...] = ()  # as SciPy's operators name what they are made of
    _xp = _namespace

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Leave SciPy's own choice of a class out."""
        return object.__new__(cls)

    def __getstate__(self) -> dict[str, Any]:
        """Leave SciPy's own state out: `_xp` is the class's."""
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` gave."""
        self.__dict__.update(state)

    def dot(self, x: Any) -> Any:
        """Multiply by `x`: a vector, a matrix, another operator or a number."""
        return super().dot(x) if isinstance(x, LinearOperator) or np.isscalar(x) else self @ x

    def __mul__(self, x: Any) -> Any:
        """Multiply by `x`, as `dot`."""
        return self.dot(x)

    def __call__(self, x: Any) -> Any:
        """Multiply, as ``op @ x``."""
        return self.dot(x)

    def transpose(self) -> Any:
        """Give the transpose, `T`."""
        return self.T

    def adjoint(self) -> Any:
        """Give the conjugate transpose, `H`."""
        return self.H

    _transpose, _adjoint = transpose, adjoint


#: What is done to A before the product.
PLAIN = _nonzero.Transposition.plain
TRANSPOSE = _nonzero.Transposition.transpose
CONJUGATE = _nonzero.Transposition.conjugate_transpose


def from_left(product: Any, kind: Any, x: Any) -> Any:
    """Multiply x from the left by what `product` multiplies by the transpose of."""
    given, x = x, dense(x, "x")
    if library_of(x) != "numpy":
        return product(kind, x) if x.ndim == 1 else product(kind, x.T).T
    return finished(product(kind, x.T).T, given)

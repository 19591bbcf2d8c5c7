"""What every operator is to SciPy, and to others where SciPy is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonzero import _nonzero
from nonzero._arrays import library_of

__all__ = ["CONJUGATE", "PLAIN", "TRANSPOSE", "LinearOperator", "from_left"]

try:
    from scipy.sparse.linalg import LinearOperator
except ImportError:  # SciPy is not needed

    class LinearOperator:  # type: ignore[no-redef]
        """Stands in for SciPy's class where SciPy is not installed: multiplies arrays only."""

        def _only_arrays(self, x: Any) -> Any:
            raise TypeError(f"x: a {type(x).__name__}, expected an array; the rest needs SciPy")

        __matmul__ = __rmatmul__ = dot = _only_arrays


#: What is done to A before the product.
PLAIN = _nonzero.Transposition.plain
TRANSPOSE = _nonzero.Transposition.transpose
CONJUGATE = _nonzero.Transposition.conjugate_transpose


def from_left(product: Any, kind: Any, x: Any) -> Any:
    """Multiply x from the left by what `product` multiplies by the transpose of."""
    if library_of(x) != "numpy":
        return product(kind, x) if x.ndim == 1 else product(kind, x.T).T
    if hasattr(x, "tocsr"):
        raise TypeError(f"x: a {type(x).__name__}, expected a dense array")
    return product(kind, np.asanyarray(x).T).T

"""Operators of others as ours: whatever has `matvec`, multiplies by `@` or can be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import pair
from nonzero._arrays import VALUE_TYPES, as_dtype, library_of
from nonzero._matrices import Matrix, as_matrix
from nonzero._operator import Operator, plan


def as_given(A: Any, name: str) -> Any:
    """Give `A` as an operator of ours, the arrays of a matrix, or another's operator.

    Raises
    ------
    TypeError
        Where it is none of them.
    """
    if isinstance(A, (Operator, Matrix)):
        return A
    is_matrix = (
        isinstance(A, tuple) or hasattr(A, "tocsr") or library_of(A) == "torch" or _is_of_jax(A)
    )
    multiplies = hasattr(A, "matvec") or hasattr(A, "__matmul__") or callable(A)
    return A if multiplies and not is_matrix else as_matrix(A, name=name)


def _is_of_jax(A: Any) -> bool:
    """Tell whether it is a sparse array of JAX's, and no function that it compiled."""
    return library_of(A) == "jax" and hasattr(A, "todense")


def common_dtype(A: Any, dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Give the dtype in which SciPy's solvers compute with `A`, as given, and b of `dtype`.

    Half precision, integers and booleans count as float64.
    """
    own = _computed(np.dtype(getattr(A, "dtype", None) or np.float32), name)
    common: np.dtype[Any] = np.result_type(own, _computed(dtype, "b"))
    return common


def _computed(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    if dtype.name in VALUE_TYPES:
        native: np.dtype[Any] = dtype.newbyteorder("=")
        return native
    if dtype.kind in "biu" or dtype == np.float16:
        return np.dtype(np.float64)
    raise TypeError(f"{name}: of dtype {dtype}, expected one of {', '.join(VALUE_TYPES)}")


def operator_in(
    A: Any, dtype: np.dtype[Any], name: str, shape: tuple[int, int] | None = None
) -> Operator:
    """Give `A`, as given, as an operator that multiplies in `dtype`.

    One of ours is taken as it is where it does; a matrix is planned. All else becomes a function in
    CPU memory. `shape` is that of what does not say its own.

    Raises
    ------
    TypeError
        Where it has no shape, or is on a GPU and of another dtype.
    """
    if isinstance(A, Matrix):
        return plan(Matrix(as_dtype(A.data, dtype), A.indices, A.indptr, A.shape))
    if isinstance(A, Operator):
        if A.dtype == dtype:
            return A
        if A._matrix is not None and np.result_type(A.dtype, np.float64) == dtype:
            return A._in_double()
        if A._device >= 0:
            raise TypeError(f"{name}: of dtype {A.dtype}, expected {dtype} on a GPU")
    found = getattr(A, "shape", shape)
    if found is None:
        raise TypeError(f"{name}: a {type(A).__name__} without a shape, expected one with it")
    rows, cols = pair(found, f"{name}.shape")
    core = _nonzero.operator_of(
        _checked(_product(A), rows, dtype, name), (rows, cols), dtype=dtype.char, name=name
    )
    return Operator(core, None, {"name": "function"})


def _product(A: Any) -> Callable[[Any], Any]:
    if hasattr(A, "matvec"):
        return A.matvec  # type: ignore[no-any-return]
    if hasattr(A, "__matmul__"):
        return lambda x: A @ x
    return A  # type: ignore[no-any-return]


def _checked(
    product: Callable[[Any], Any], rows: int, dtype: np.dtype[Any], name: str
) -> Callable[[Any], Any]:
    """Give the function with its result as the library takes it."""

    def checked(x: Any) -> Any:
        y = np.asarray(product(x))
        if y.shape not in ((rows,), (rows, 1), (1, rows)):
            raise ValueError(f"{name}: gives an array of shape {y.shape}, expected ({rows},)")
        if y.dtype.kind == "c" and dtype.kind == "f":
            raise TypeError(f"{name}: gives complex numbers, expected real ones, as b is real")
        return np.ascontiguousarray(y.reshape(rows), dtype)

    return checked


def as_operator(A: Any, name: str = "A") -> Operator:
    """Give `A` as an operator in its own dtype; float64 where it has none of nonzero's."""
    given = as_given(A, name)
    own = np.dtype(getattr(given, "dtype", None) or np.float64)
    return operator_in(given, _computed(own, name), name)

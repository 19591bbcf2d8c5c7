"""Sparse matrices of SciPy, CuPy, PyTorch and JAX as the three arrays of a CSR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonzero._arguments import pair
from nonzero._arrays import (
    VALUE_TYPES,
    as_dtype,
    copied,
    device_of,
    dtype_of,
    lend,
    library_of,
    to_numpy,
)


@dataclass(frozen=True)
class Matrix:
    """The arrays of a matrix in compressed sparse row form, borrowed from their owner.

    Attributes
    ----------
    data, indices, indptr : array
        The values (nnz), the column of each (nnz), and where each row starts (rows + 1), of one
        library and in one memory.
    shape : tuple of int
        Rows and columns.
    """

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]

    @property
    def device(self) -> int:
        """The GPU that holds the arrays; -1 for the CPU."""
        return device_of(self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return dtype_of(self.data)

    def lent(self) -> tuple[Any, Any, Any]:
        """Give indptr, indices and data as the C++ library takes them."""
        return lend(self.indptr), lend(self.indices), lend(self.data)

    def on_cpu(self) -> Matrix:
        """Give the matrix in CPU memory; itself where it is there."""
        if self.device < 0:
            return self
        return Matrix(
            to_numpy(self.data), to_numpy(self.indices), to_numpy(self.indptr), self.shape
        )

    def diagonal(self) -> NDArray[Any]:
        """Give the sums of the entries on the diagonal, of a matrix in CPU memory."""
        data, indices, indptr = to_numpy(self.data), to_numpy(self.indices), to_numpy(self.indptr)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(indptr))
        on = np.flatnonzero(rows == indices)
        found = np.zeros(min(self.shape), self.dtype)
        np.add.at(found, rows[on], data[on])
        return found

    def copied(self) -> Matrix:
        """Give the matrix in memory of its own, which its owner does not change."""
        return Matrix(copied(self.data), copied(self.indices), copied(self.indptr), self.shape)


def as_matrix(A: Any, shape: tuple[int, int] | None = None, name: str = "A") -> Matrix:
    """Give the CSR arrays of `A`.

    Arrays that are those of a CSR already are used as they lie; everything else is converted by
    the library that it is of. Integers and booleans become float64, before entries that stand more
    than once are added; on a GPU 64-bit column indices become 32-bit ones.

    Raises
    ------
    TypeError
        Where `A` is no sparse matrix, or of a dtype that does not become one of nonzero's.
    ValueError
        Where the arrays do not have one dimension, or the shape is missing.
    """
    if isinstance(A, Matrix):
        return A
    kept = getattr(A, "_matrix", None)  # of an Operator
    if isinstance(kept, Matrix) and shape is None:
        return kept
    data, indices, indptr, found = _arrays_of(A, shape, name)
    data = _with_value_type(data, name)
    indices = _with_index_type(indices, f"{name}.indices")
    indptr = _with_index_type(indptr, f"{name}.indptr")
    if device_of(data) >= 0:
        indices = as_dtype(indices, np.dtype(np.int32))
    for part, what in ((data, "data"), (indices, "indices"), (indptr, "indptr")):
        if part.ndim != 1:
            raise ValueError(f"{name}.{what}: an array of {part.ndim} dimensions, expected 1")
    matrix = Matrix(_contiguous(data), _contiguous(indices), _contiguous(indptr), found)
    _check_lengths(matrix, name)
    return matrix


def _arrays_of(
    A: Any, shape: tuple[int, int] | None, name: str
) -> tuple[Any, Any, Any, tuple[int, int]]:
    if isinstance(A, tuple):
        if len(A) != 3:
            raise TypeError(f"{name}: a tuple of {len(A)}, expected (data, indices, indptr)")
        data, indices, indptr = (_as_it_lies(x) for x in A)
        if shape is None:
            raise ValueError(f"{name}: (data, indices, indptr) without a shape; give shape=")
        return data, indices, indptr, pair(shape, "shape")
    if shape is not None:
        raise TypeError(f"shape: only for (data, indices, indptr); {name} has its own")
    if library_of(A) == "torch":
        return _arrays_of_torch(A, name)
    if library_of(A) == "jax":
        return _arrays_of_jax(A, name)
    if hasattr(A, "_matrix"):
        raise TypeError(f"{name}: an operator that keeps no matrix, expected one that does")
    if not hasattr(A, "tocsr"):
        raise TypeError(
            f"{name}: a {type(A).__module__}.{type(A).__name__}, expected a sparse matrix or array "
            "of SciPy, CuPy, PyTorch or JAX, or (data, indices, indptr)"
        )
    if len(A.shape) != 2:
        raise ValueError(f"{name}: a sparse array of {len(A.shape)} dimension, expected 2")
    if library_of(A) == "cupy" or type(A).__module__.startswith("cupyx."):
        with A.data.device:  # which need not be the current one
            csr = _with_wide_values(A, name).tocsr()
    else:
        csr = _with_wide_values(A, name).tocsr()
    return csr.data, csr.indices, csr.indptr, (int(csr.shape[0]), int(csr.shape[1]))


def _with_wide_values(A: Any, name: str) -> Any:
    """Give A with values of nonzero's, so that no sum of entries of one place overflows.

    The arrays of a CSR are taken as they lie: nothing is added.
    """
    if getattr(A, "format", None) == "csr":
        return A
    wanted = _value_type(np.dtype(A.dtype), name)
    return A if A.dtype == wanted else A.astype(wanted)


def _arrays_of_torch(A: Any, name: str) -> tuple[Any, Any, Any, tuple[int, int]]:
    import torch

    if A.layout == torch.strided:
        raise TypeError(
            f"{name}: a dense tensor, expected a sparse one, as A.to_sparse_csr() gives"
        )
    if A.dim() != 2 or A.dense_dim() != 0:
        raise ValueError(f"{name}: a sparse tensor of {A.dim()} dimensions, expected 2 sparse ones")
    csr = A
    if A.layout != torch.sparse_csr:  # its conversion adds what stands in one place
        csr = A.to(getattr(torch, _value_type(_dtype_of(A, name), name).name)).to_sparse_csr()
    return (
        csr.values().detach(),
        csr.col_indices(),
        csr.crow_indices(),
        (int(csr.shape[0]), int(csr.shape[1])),
    )


def _as_it_lies(x: Any) -> Any:
    """Give an array of its library; of NumPy where it lies in CPU memory and is JAX's or none."""
    library = library_of(x)
    return np.asarray(x) if library == "numpy" or (library == "jax" and device_of(x) < 0) else x


def _arrays_of_jax(A: Any, name: str) -> tuple[Any, Any, Any, tuple[int, int]]:
    from jax.experimental import sparse

    if not isinstance(A, (sparse.BCSR, sparse.BCOO)):
        raise TypeError(
            f"{name}: a JAX {type(A).__name__}, expected a BCSR or BCOO of jax.experimental.sparse"
        )
    if len(A.shape) != 2 or A.n_batch != 0 or A.n_dense != 0:
        raise ValueError(
            f"{name}: a {type(A).__name__} of shape {A.shape}, {A.n_batch} batch and {A.n_dense} "
            "dense dimensions, expected 2 sparse ones"
        )
    device_of(A.data)  # not traced, on one device
    csr = A if isinstance(A, sparse.BCSR) else sparse.BCSR.from_bcoo(A.sort_indices())
    data, indices, indptr = (_as_it_lies(x) for x in (csr.data, csr.indices, csr.indptr))
    entries = int(indptr[-1])  # JAX may store places behind them, whose columns are outside
    return data[:entries], indices[:entries], indptr, (int(A.shape[0]), int(A.shape[1]))


def _dtype_of(A: Any, name: str) -> np.dtype[Any]:
    try:
        return dtype_of(A)
    except TypeError as e:
        raise TypeError(f"{name}: {e}, expected one of {', '.join(VALUE_TYPES)}") from None


def _value_type(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Give the dtype in which nonzero computes with values of `dtype`."""
    if dtype.name in VALUE_TYPES:
        native: np.dtype[Any] = dtype.newbyteorder("=")
        return native
    if dtype.kind in "biu":
        return np.dtype(np.float64)
    if dtype == np.float16:
        return np.dtype(np.float32)
    raise TypeError(f"{name}: of dtype {dtype}, expected one of {', '.join(VALUE_TYPES)}")


def _with_value_type(data: Any, name: str) -> Any:
    dtype = _dtype_of(data, name)
    wanted = _value_type(dtype, name)
    return data if dtype == wanted and dtype.isnative else as_dtype(data, wanted)


def _with_index_type(x: Any, name: str) -> Any:
    """Give indices of 32 or 64 bits; an empty list is of no type."""
    dtype = dtype_of(x)
    if dtype.name in ("int32", "int64") and dtype.isnative:
        return x
    if dtype.kind in "iu" or (x.ndim == 1 and len(x) == 0):
        return as_dtype(x, np.dtype(np.int64))
    raise TypeError(f"{name}: of dtype {dtype}, expected int32 or int64")


def _check_lengths(A: Matrix, name: str) -> None:
    rows, nnz = A.shape[0], len(A.data)
    if len(A.indices) != nnz:
        raise ValueError(
            f"{name}.indices: of length {len(A.indices)}, expected that of data, {nnz}"
        )
    if len(A.indptr) != rows + 1:
        raise ValueError(
            f"{name}.indptr: of length {len(A.indptr)}, expected rows + 1 = {rows + 1}"
        )
    if A.device < 0 and (int(A.indptr[0]), int(A.indptr[-1])) != (0, nnz):
        raise ValueError(
            f"{name}.indptr: from {int(A.indptr[0])} to {int(A.indptr[-1])}, expected from 0 to "
            f"the number of entries, {nnz}"
        )


def _contiguous(x: Any) -> Any:
    if library_of(x) == "torch":
        return x.contiguous()
    if library_of(x) == "jax":
        return x
    if x.flags.c_contiguous and getattr(x.flags, "aligned", True):
        return x
    return x.copy()

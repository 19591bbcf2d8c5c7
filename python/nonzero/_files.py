"""Matrices from files and to files."""

from __future__ import annotations

import errno
import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from nonzero import _nonzero
from nonzero._arguments import whole
from nonzero._arrays import VALUE_TYPES
from nonzero._matrices import as_matrix


def csr_array(made: Any) -> Any:
    """Give arrays that the library made as SciPy's csr_array, without a copy."""
    try:
        from scipy.sparse import csr_array as scipy_csr_array
    except ImportError as e:
        raise ImportError("this returns a scipy.sparse.csr_array: pip install scipy") from e
    arrays, shape = made
    return scipy_csr_array(arrays, shape=shape, copy=False)


def dtype_code(dtype: DTypeLike) -> str:
    """Give the character of a dtype that the library computes with."""
    found = np.dtype(dtype)
    if found.name not in VALUE_TYPES:
        raise TypeError(f"dtype: {found}, expected one of {', '.join(VALUE_TYPES)}")
    return found.char


def read(path: str | os.PathLike[str], *, dtype: DTypeLike | None = None, threads: int = 0) -> Any:
    """Read a matrix or a graph, in any format that the command reads.

    Matrix Market, SciPy's .npz, MATLAB's .mat and PETSc's binary files under any name; by the
    name's end edge lists (.csv, .tsv, .txt and others), METIS's .graph and Rutherford-Boeing. Text
    may be gzipped. An edge list's nodes are rows in ascending order, of numbers or else of names;
    one that may be read in two ways is refused.

    Parameters
    ----------
    path : path
        Of the file.
    dtype : dtype, optional
        Of the values: float32, float64, complex64 or complex128. [float64, or complex128 for a
        complex file]
    threads : int
        0: as many as OpenMP offers.

    Returns
    -------
    scipy.sparse.csr_array
        With ascending columns, duplicates summed, symmetric files expanded.

    Raises
    ------
    ValueError
        Where the file is no matrix or may be read in two ways, with the line; or complex, and dtype
        real.
    OSError
        Where it cannot be opened.
    ImportError
        Without SciPy.

    Examples
    --------
    >>> import nonzero as nz, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "A.mtx.gz")
    >>> nz.write(path, nz.generate.laplace2d(4))
    >>> nz.read(path).shape
    (16, 16)
    """
    name = os.fsdecode(path)
    with open(name, "rb"):  # for the errors that Python has
        pass
    code = None if dtype is None else dtype_code(dtype)
    return csr_array(_nonzero.read(name, dtype=code, threads=whole(threads, "threads")))


def write(path: str | os.PathLike[str], A: Any) -> None:
    """Write a matrix to .mtx, .mtx.gz, .npz or .petsc, by the name's end.

    The file appears under its name when it is complete; what fails leaves an older one as it was.

    Parameters
    ----------
    path : path
        Of the file.
    A : sparse matrix
        As `plan` takes it; copied to the CPU where it is on a GPU.

    Raises
    ------
    ValueError
        Where the name ends otherwise, or A is no CSR.
    FileNotFoundError
        Where there is no such folder.
    RuntimeError
        Where the file system refuses.
    """
    host = as_matrix(A).on_cpu()
    name = os.fsdecode(path)
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    _nonzero.write(name, host.shape, *host.lent())

"""Reference for products: the same sum in extended precision, with its bound."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

DTYPES = ("float32", "float64", "complex64", "complex128")


def numbers(rng: np.random.Generator, shape: Any, dtype: str) -> NDArray[Any]:
    """Give normal numbers, complex where the dtype is."""
    drawn = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        return np.asarray(drawn + 1j * rng.standard_normal(shape)).astype(dtype)
    return np.asarray(drawn).astype(dtype)


def matrix(rows: int, cols: int, dtype: str = "float64", seed: int = 0, fill: float = 0.2) -> Any:
    """Give a csr_array of normal numbers at random places, as many in every run."""
    rng = np.random.default_rng(seed)
    dense = numbers(rng, (rows, cols), dtype)
    dense[rng.random((rows, cols)) >= fill] = 0
    return sp.csr_array(dense)


def spd(n: int, dtype: str = "float64", seed: int = 0) -> Any:
    """Give a hermitian, diagonally dominant csr_array with a positive diagonal."""
    A = matrix(n, n, dtype, seed, 0.1)
    hermitian = A + A.conj().T
    dominant = np.asarray(abs(hermitian).sum(axis=1)).ravel() + 1
    return sp.csr_array(hermitian + sp.diags_array(dominant)).astype(dtype)


def check(y: Any, dense: NDArray[Any], x: NDArray[Any]) -> None:
    """Assert that y is dense @ x as far as its dtype can tell, entry by entry.

    The bound is that of a sum in any order: (n + 3) u sum |a| |x|, with n entries in the row; a
    product of complex numbers rounds as four sums of two do.
    """
    wide = np.clongdouble if dense.dtype.kind == "c" or x.dtype.kind == "c" else np.longdouble
    exact = dense.astype(wide) @ x.astype(wide)
    entries = np.count_nonzero(dense, axis=1)
    entries = entries if x.ndim == 1 else entries[:, None]
    u = np.finfo(y.dtype).eps
    several = 4 if np.asarray(y).dtype.kind == "c" else 1
    magnitude = np.abs(dense).astype(np.longdouble) @ np.abs(x).astype(np.longdouble)
    bound = several * (entries + 3) * u * magnitude + np.finfo(y.dtype).tiny
    assert np.shape(y) == exact.shape
    assert np.all(np.abs(np.asarray(y) - exact) <= bound)


def python(code: str, *, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own, with this one's path and cache folder."""
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )

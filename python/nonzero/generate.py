"""Model problems: matrices of a known kind and any size, as SciPy's csr_array.

The same bits for the same arguments and seed, whatever the number of threads. All raise ValueError
where an argument is out of its range, MemoryError where the matrix exceeds the memory, and
ImportError without SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from nonzero import _nonzero
from nonzero._arguments import real, whole
from nonzero._files import csr_array, dtype_code


def _made(name: str, parameters: list[float], dtype: DTypeLike, seed: int = 0) -> Any:
    code = dtype_code(dtype)
    known = next(g for g in _nonzero.generators() if g[0] == name)[2]
    seed = whole(seed, "seed", 0, 2**64 - 1)
    given = [real(p, what[0]) for what, p in zip(known, parameters, strict=True)]
    try:
        made = _nonzero.generate(name, given, seed=seed, dtype=code)
    except ValueError as e:
        listed = ", ".join(f"{k[0]} = {p:g}" for k, p in zip(known, given, strict=True))
        raise ValueError(f"{e} (with {listed})") from None
    return csr_array(made)


def laplace2d(nx: int, ny: int | None = None, *, dtype: DTypeLike = np.float64) -> Any:
    """Give -Laplace by 5 points on an nx x ny grid, u = 0 around it: 4 and -1.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.laplace2d(30).shape
    (900, 900)
    """
    return _made("laplace2d", [nx, nx if ny is None else ny], dtype)


def laplace3d(
    nx: int, ny: int | None = None, nz: int | None = None, *, dtype: DTypeLike = np.float64
) -> Any:
    """Give -Laplace by 7 points on an nx x ny x nz grid, u = 0 around it: 6 and -1.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.laplace3d(10).nnz
    6400
    """
    return _made("laplace3d", [nx, nx if ny is None else ny, nx if nz is None else nz], dtype)


def laplace27(
    nx: int, ny: int | None = None, nz: int | None = None, *, dtype: DTypeLike = np.float64
) -> Any:
    """Give the 27-point stencil on an nx x ny x nz grid: 26, and -1 for each neighbour.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.laplace27(3).nnz
    343
    """
    return _made("laplace27", [nx, nx if ny is None else ny, nx if nz is None else nz], dtype)


def elasticity3d(
    nx: int,
    ny: int | None = None,
    nz: int | None = None,
    *,
    poisson: float = 0.3,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give linear elasticity on nx x ny x nz cubes, one face clamped: 3 unknowns a node.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.elasticity3d(2).shape
    (54, 54)
    """
    sides = [nx, nx if ny is None else ny, nx if nz is None else nz]
    return _made("elasticity3d", [*sides, poisson], dtype)


def banded(
    n: int,
    half_width: int = 5,
    *,
    fill: float = 1.0,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give the diagonals up to `half_width` away, each entry kept with probability `fill`.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.banded(5, 1).nnz
    13
    """
    return _made("banded", [n, half_width, fill], dtype, seed)


def random(
    rows: int, cols: int, per_row: int = 10, *, seed: int = 0, dtype: DTypeLike = np.float64
) -> Any:
    """Give rows of `per_row` distinct columns each, uniform among all.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.random(4, 100, 3).nnz
    12
    """
    return _made("random", [rows, cols, per_row], dtype, seed)


def powerlaw(
    n: int,
    mean: float = 10.0,
    *,
    exponent: float = 2.5,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give row lengths by a power law, `mean` on average; columns uniform. exponent > 2.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.powerlaw(1000).shape
    (1000, 1000)
    """
    return _made("powerlaw", [n, mean, exponent], dtype, seed)


def rmat(
    scale: int,
    per_row: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give a directed graph of 2^scale vertices by recursion into quadrants (R-MAT).

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.rmat(8).shape
    (256, 256)
    """
    return _made("rmat", [scale, per_row, a, b, c], dtype, seed)


def circuit(
    n: int,
    per_node: int = 2,
    *,
    rails: int = 4,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give conductances of a circuit: near wires, a few far ones, supply rails with long rows.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.circuit(100).shape
    (100, 100)
    """
    return _made("circuit", [n, per_node, rails], dtype, seed)


def blocks(
    n: int,
    side: int = 4,
    *,
    per_row: int = 8,
    seed: int = 0,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Give n x n dense square blocks, `per_row` of them at random places in each block row.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.blocks(20, 3, per_row=2).nnz
    360
    """
    return _made("blocks", [n, side, per_row], dtype, seed)


def stokes2d(nx: int, ny: int | None = None, *, dtype: DTypeLike = np.float64) -> Any:
    """Give Stokes flow on nx x ny staggered cells, open on one side: a saddle point.

    Velocities on the cells' faces, all along x first, then a pressure in each cell.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.stokes2d(10).shape
    (290, 290)
    """
    return _made("stokes2d", [nx, nx if ny is None else ny], dtype)


def stokes3d(
    nx: int, ny: int | None = None, nz: int | None = None, *, dtype: DTypeLike = np.float64
) -> Any:
    """Give Stokes flow on nx x ny x nz staggered cells, as `stokes2d`.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.stokes3d(4).shape
    (224, 224)
    """
    return _made("stokes3d", [nx, nx if ny is None else ny, nx if nz is None else nz], dtype)


def mixed2d(nx: int, ny: int | None = None, *, dtype: DTypeLike = np.float64) -> Any:
    """Give -Laplace on nx x ny squares by lowest Raviart-Thomas elements: a saddle point.

    A flux through each face, all along x first, then a value in each square.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.generate.mixed2d(10).shape
    (320, 320)
    """
    return _made("mixed2d", [nx, nx if ny is None else ny], dtype)

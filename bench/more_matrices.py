#!/usr/bin/env python3
"""Makes matrices of kinds that `nz generate` has no generator for, as SciPy's .npz files, by which
the planner is held to account beside the collections' matrices (docs/experiments/performance.md).

    bench/more_matrices.py FOLDER [NAME ...]
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def matrix(rows, cols, row, col, seed):
    """An entry at each place given, doubled ones once, its value at random in (-1, 1)."""
    places = sp.csr_matrix(sp.coo_matrix((np.ones(len(row)), (row, col)), shape=(rows, cols)))
    places.sum_duplicates()
    places.sort_indices()
    places.data = np.random.default_rng(seed).uniform(-1, 1, places.nnz)
    return places


def each_row(rows, per_row):
    return np.repeat(np.arange(rows), per_row)


def arrow(n=1_000_000):
    i = np.arange(n)
    return matrix(n, n, np.r_[i, 0 * i, i], np.r_[i, i, 0 * i], 1)


def dense_rows(n=500_000):
    """Three diagonals and twenty full rows."""
    i = np.arange(n)
    full = [np.full(n, k * 20_011) for k in range(20)]
    return matrix(n, n, np.concatenate([i, i[1:], i[:-1], *full]),
                  np.concatenate([i, i[:-1], i[1:], *[i] * 20]), 2)


def block_diagonal(blocks=2000, side=40):
    k = np.arange(blocks * side * side)
    first = k // (side * side) * side
    n = blocks * side
    return matrix(n, n, first + k % (side * side) // side, first + k % side, 3)


def hypersparse(n=5_000_000, nnz=1_000_000):
    g = np.random.default_rng(4)
    return matrix(n, n, g.integers(0, n, nnz), g.integers(0, n, nnz), 4)


def permuted_laplace3d(n=100):
    one = np.ones(n)
    line, eye = sp.diags([-one[1:], 2 * one, -one[1:]], [-1, 0, 1]), sp.eye(n)
    cube = sp.csr_matrix(sp.kron(sp.kron(line, eye), eye) + sp.kron(sp.kron(eye, line), eye)
                         + sp.kron(sp.kron(eye, eye), line))
    order = np.random.default_rng(5).permutation(n ** 3)
    return sp.csr_matrix(cube[order][:, order])


def random_30(n=1_000_000):
    return matrix(n, n, each_row(n, 30), np.random.default_rng(6).integers(0, n, 30 * n), 6)


def ratings(users=300_000, items=20_000, nnz=8_000_000):
    """Users of whom few rate much, items of which few are rated much."""
    g = np.random.default_rng(7)
    user = (g.random(nnz) ** 2 * users).astype(int)
    return matrix(users, items, user, np.minimum(g.zipf(1.3, nnz), items) - 1, 7)


def small_world(n=500_000):
    """Watts and Strogatz: ten neighbours on a ring, a tenth of them anywhere instead."""
    g = np.random.default_rng(8)
    row = each_row(n, 10)
    col = (row + np.tile(np.r_[-5:0, 1:6], n)) % n
    far = g.random(len(col)) < 0.1
    col[far] = g.integers(0, n, far.sum())
    return matrix(n, n, row, col, 8)


def tridiagonal(n=2_000_000):
    i = np.arange(n)
    return matrix(n, n, np.r_[i, i[1:], i[:-1]], np.r_[i, i[:-1], i[1:]], 9)


def diagonal(n=4_000_000):
    return matrix(n, n, np.arange(n), np.arange(n), 10)


def full(n=2000):
    k = np.arange(n * n)
    return matrix(n, n, k // n, k % n, 11)


def hubs(n=600_000):
    """Five entries a row in the first hundred columns, five anywhere."""
    g = np.random.default_rng(12)
    row = each_row(n, 5)
    return matrix(n, n, np.r_[row, row], np.r_[g.integers(0, 100, 5 * n), g.integers(0, n, 5 * n)],
                  12)


def triangular(n=400_000):
    """At most twelve entries a row, left of the diagonal and mostly near it."""
    g = np.random.default_rng(13)
    row = each_row(n, 12)
    return matrix(n, n, row, row - (g.random(len(row)) ** 4 * row).astype(int), 13)


def few_long_rows(rows=200, cols=2_000_000):
    g = np.random.default_rng(14)
    return matrix(rows, cols, each_row(rows, 20_000), g.integers(0, cols, 20_000 * rows), 14)


def mixed(n=200_000):
    """Rows of four entries, and one in fifty of four hundred, near the diagonal."""
    g = np.random.default_rng(15)
    row = np.repeat(np.arange(n), np.where(g.random(n) < 0.02, 400, 4))
    off = (g.standard_normal(len(row)) * 2000).astype(int)
    return matrix(n, n, row, np.clip(row + off, 0, n - 1), 15)


def small_integers(n=300_000):
    """Twenty entries a row near the diagonal, values 1 to 5."""
    g = np.random.default_rng(16)
    row = each_row(n, 20)
    m = matrix(n, n, row, np.clip(row + g.integers(-3000, 3000, 20 * n), 0, n - 1), 16)
    m.data = g.integers(1, 6, m.nnz).astype(float)
    return m


MAKERS = [arrow, dense_rows, block_diagonal, hypersparse, permuted_laplace3d, random_30, ratings,
          small_world, tridiagonal, diagonal, full, hubs, triangular, few_long_rows, mixed,
          small_integers]


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder, names = Path(arguments[0]), arguments[1:]
    unknown = set(names) - {make.__name__ for make in MAKERS}
    if unknown:
        print(f"more_matrices: no {', '.join(sorted(unknown))}", file=sys.stderr)
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    for make in MAKERS:
        if not names or make.__name__ in names:
            sp.save_npz(folder / f"{make.__name__}.npz", make(), compressed=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

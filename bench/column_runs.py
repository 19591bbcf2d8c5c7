#!/usr/bin/env python3
"""How far matrices consist of runs of neighbouring columns.

    bench/column_runs.py A.npz ...      needs NumPy and SciPy

For each: the mean length of a run, and for g = 2, 3, 6 the share of the entries in rows that consist of
runs of g, the first of each at a multiple of g from the row's first entry.
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def told(path: str) -> str:
    """A line of the table."""
    A = sp.load_npz(path).tocsr()
    lengths = np.diff(A.indptr)
    row = np.repeat(np.arange(A.shape[0]), lengths)
    place = np.arange(A.nnz) - A.indptr[row]
    breaks = (place == 0) | (A.indices != np.roll(A.indices, 1) + 1)
    cells = [f"{A.nnz / breaks.sum():.1f}"]
    for g in (2, 3, 6):
        suits = lengths % g == 0
        suits[row[breaks & (place % g != 0)]] = False
        cells.append(f"{lengths[suits].sum() / A.nnz:.0%}")
    return f"| `{Path(path).stem}` | {' | '.join(cells)} |"


for path in sys.argv[1:]:
    print(told(path))

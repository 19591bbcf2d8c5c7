#!/usr/bin/env python3
"""Count what the matrices of docs/experiments/performance.md are made of.

    bench/composition.py FOLDER [--json bench/results/matrices.json]

For every matrix listed in the JSON file, rows, columns, entries, the lengths of its rows and the
number of its distinct values are counted from FOLDER/NAME.npz. What was written by hand stays:
``what`` the matrix is, and its ``origin``: ``original`` (a public collection's), ``pattern only``
(the same with every value 1), ``regenerated`` (from its mathematical definition), ``replica``
(generated with the size and structure of the matrix it is named after), ``assembled`` (a finite
element problem, by FreeFem++); ``random values`` where the values were replaced.
``generated`` says how the matrices of other suites are made, by `nz generate` or
bench/more_matrices.py.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np


def counted(path: Path) -> dict[str, Any]:
    """Counts of a SciPy .npz file of a CSR matrix."""
    with np.load(path) as A:
        rows, cols = (int(n) for n in A["shape"])
        lengths = np.diff(A["indptr"])
        return {"rows": rows, "cols": cols, "nnz": len(A["indices"]),
                "shortest_row": int(lengths.min()), "longest_row": int(lengths.max()),
                "distinct_values": len(np.unique(A["data"]))}


def main() -> None:
    """Read the arguments and renew the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, default=Path("bench/results/matrices.json"))
    args = parser.parse_args()
    known = json.loads(args.json.read_text())
    for m in known["matrices"]:
        m |= counted(args.folder / f"{m['name']}.npz")
        print(f"{m['name']}: {m['nnz']} entries, {m['distinct_values']} distinct values")
    matrices = ",\n".join("  " + json.dumps(m) for m in known["matrices"])
    generated = ",\n".join(f"  {json.dumps(name)}: {json.dumps(text)}"
                           for name, text in known["generated"].items())
    args.json.write_text(f'{{\n "matrices": [\n{matrices}\n ],\n'
                         f' "generated": {{\n{generated}\n }}\n}}\n')


if __name__ == "__main__":
    main()

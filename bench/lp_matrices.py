#!/usr/bin/env python3
"""Makes constraint matrices of linear programs, as SciPy's .npz files, for a class of its own.

    bench/lp_matrices.py FOLDER [--scale S] [--mps MODELS] [--only NAME] [--transposes]

Five kinds, five sizes of each: transport, multi-commodity flow, generalised assignment, two-stage
stochastic programs, set covering. S multiplies the entries of all of them; with 1 the largest has
about 10^8 entries. MODELS: a folder of .mps, .mps.gz or .lp files, which highspy reads
(pip install highspy). --transposes: also A^T as A_T.npz. What is in the folder afterwards is told
by composition.json: for each matrix its kind, where it is from, its shape, its entries and its
longest row and column.

    nz bench FOLDER/*.npz --device gpu --peers --plan [--transpose] --json results.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from unseen_matrices import assignment, flows, set_covering, transport, two_stage

SIZES = [0.01, 0.03, 0.1, 0.3, 1]


def generated(scale):
    """Gives name, kind and maker of each matrix."""
    for number, size in enumerate(SIZES):
        of = scale * size

        def count(n, of=of):
            return max(int(n * of), 4)

        seed = 100 + number
        yield f"transport_{number}", "transport", lambda of=of, c=count, s=seed: transport(
            c(1_600_000), c(2_400_000), s)
        yield f"flows_{number}", "multi-commodity flow", lambda of=of, c=count, s=seed: flows(
            c(200_000), c(800_000), 40, s)
        yield f"assignment_{number}", "generalised assignment", lambda c=count, s=seed: assignment(
            c(25_000), c(500_000), 2_000, s)
        yield f"two_stage_{number}", "two-stage", lambda of=of, c=count, s=seed: two_stage(
            c(5_000), 400, 1_000, 1_000, 10, min(c(80_000), 1_000 * c(5_000)), s)
        yield f"covering_{number}", "set covering", lambda c=count, s=seed: set_covering(
            c(40_000), c(8_000_000), 12, s)


def read_model(path):
    """Reads the constraint matrix of a model."""
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    if model.readModel(str(path)) == highspy.HighsStatus.kError:
        raise ValueError(f"{path}: highspy reads no model")
    lp = model.getLp()
    matrix = lp.a_matrix_
    make = sp.csc_matrix if matrix.format_ == highspy.MatrixFormat.kColwise else sp.csr_matrix
    shape = (lp.num_row_, lp.num_col_)
    return sp.csr_matrix(make((matrix.value_, matrix.index_, matrix.start_), shape=shape))


def models(folder):
    """Gives name, kind and maker of each model in the folder."""
    for path in sorted(Path(folder).iterdir()):
        if path.name.endswith((".mps", ".mps.gz", ".lp")):
            yield path.name.split(".")[0], path.name, lambda path=path: read_model(path)


def longest(matrix):
    """Gives the entries of the longest row."""
    return int(np.diff(matrix.indptr).max(initial=0))


def main():
    parse = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("folder", type=Path)
    parse.add_argument("--scale", type=float, default=1, help="factor of all entries")
    parse.add_argument("--mps", help="folder of models that highspy reads")
    parse.add_argument("--only", default="", help="matrices whose name holds this")
    parse.add_argument("--transposes", action="store_true", help="that of each beside it")
    o = parse.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    told = []
    for name, kind, make in [*generated(o.scale), *(models(o.mps) if o.mps else [])]:
        if o.only not in name:
            continue
        matrix = sp.csr_matrix(make())
        matrix.sort_indices()
        sp.save_npz(o.folder / f"{name}.npz", matrix, compressed=False)
        if o.transposes:
            transpose = sp.csr_matrix(matrix.T)
            transpose.sort_indices()
            sp.save_npz(o.folder / f"{name}_T.npz", transpose, compressed=False)
        told.append({"name": name, "kind": kind, "rows": matrix.shape[0],
                     "cols": matrix.shape[1], "nnz": int(matrix.nnz),
                     "longest_row": longest(matrix), "longest_column": longest(matrix.tocsc())})
        print(f"{name:16} {kind:24} {matrix.shape[0]:9} x {matrix.shape[1]:9} {matrix.nnz:10}",
              flush=True)
    (o.folder / "composition.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()

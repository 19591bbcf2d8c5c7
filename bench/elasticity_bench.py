#!/usr/bin/env python3
"""Multigrid for elasticity: unknowns apart, in nodes that are found, with modes given, and found.

    bench/elasticity_bench.py --generated 16 32 --folder SYSTEMS --json elasticity.json

Generated: nz.generate.elasticity3d of that many cubes along an axis, clamped at one face. The
folder has SciPy .npz files that INDEX.tsv lists, of which those of the kinds spd:elasticity and
spd:structural are taken, and NAME.B.npz with the modes where they are known. b = A x* for a
standard normal x*; to 1e-8 by conjugate gradients. Where PyAMG is installed its smoothed
aggregation runs beside, by its own settings, with and without the modes. Seconds by the clock: the
least of three.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import nonzero as nz

TURNS, MOST, TOL = 3, 2000, 1e-8


def generated(n):
    A = sp.csr_array(nz.generate.elasticity3d(n, n, n))
    along = np.arange(n + 1.0)
    z, y, x = np.meshgrid(along, along, along[1:], indexing="ij")
    return A, nz.rigid_body_modes(np.column_stack([x.ravel(), y.ravel(), z.ravel()]))


def from_folder(folder):
    with open(folder / "INDEX.tsv", newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    for row in rows:
        if row["kind"] not in ("spd:elasticity", "spd:structural") or row["file"] == "-":
            continue
        modes = folder / f"{row['name']}.B.npz"
        B = np.load(modes)["B"] if modes.is_file() else None
        yield row["name"], (sp.csr_array(sp.load_npz(folder / row["file"])), B)


def least(f):
    """Give what f gives, and the least time that it takes."""
    best = float("inf")
    for _ in range(TURNS):
        start = time.perf_counter()
        result = f()
        best = min(best, time.perf_counter() - start)
    return result, best


def solved(A, M, b):
    """Give iterations and seconds of conjugate gradients."""
    op = nz.plan(A)
    steps = []

    def run():
        steps.clear()
        return nz.cg(op, b, M=M, rtol=TOL, maxiter=MOST, callback=steps.append)

    (x, info), seconds = least(run)
    residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
    return {
        "iterations": len(steps),
        "converged": info == 0,
        "residual": float(residual),
        "solve_s": seconds,
    }


def ours(A, b, **options):
    M, setup_s = least(lambda: nz.amg(A, **options))
    return {
        "setup_s": setup_s,
        "block": M.block,
        "levels": [level.rows for level in M.levels],
        "operator_complexity": M.operator_complexity,
        **solved(A, M, b),
    }


def pyamgs(A, b, B, block):
    import pyamg

    matrix = sp.bsr_matrix(A, blocksize=(block, block)) if block > 1 else sp.csr_matrix(A)
    M, setup_s = least(lambda: pyamg.smoothed_aggregation_solver(matrix, B=B))
    residuals = []

    def run():
        residuals.clear()
        return M.solve(b, accel="cg", tol=TOL, maxiter=MOST, residuals=residuals)

    x, solve_s = least(run)
    return {
        "setup_s": setup_s,
        "iterations": len(residuals) - 1,
        "solve_s": solve_s,
        "residual": float(np.linalg.norm(b - A @ x) / np.linalg.norm(b)),
        "operator_complexity": M.operator_complexity(),
    }


def measure(A, B):
    b = A @ np.random.default_rng(20260101).standard_normal(A.shape[0])
    result = {"rows": A.shape[0], "nnz": A.nnz, "single": ours(A, b, block=1), "found": ours(A, b)}
    block = result["found"]["block"]
    for k in (1, 2, 3, 6):
        result[f"adaptive_{k}"] = ours(A, b, adaptive_candidates=k)
    if B is not None:
        result["modes"] = ours(A, b, near_nullspace=B)
    if importlib.util.find_spec("pyamg"):
        result["pyamg"] = pyamgs(A, b, None, block)
        if B is not None:
            result["pyamg_modes"] = pyamgs(A, b, B, block)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generated", type=int, nargs="*", default=[])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--commit", default="", help="of nonzero, for the JSON")
    parser.add_argument("--note", default="", help="what the machine was doing, for the JSON")
    options = parser.parse_args()
    problems = {f"elasticity3d {n}^3": generated(n) for n in options.generated}
    problems.update(from_folder(options.folder) if options.folder else [])
    results = {}
    for name, (A, B) in problems.items():
        results[name] = measure(A, B)
        print(name, results[name]["rows"], "rows")
        for variant, r in results[name].items():
            if isinstance(r, dict):
                print(
                    f"  {variant:12} {r['iterations']:5} iterations, setup {r['setup_s']:.3f} s, "
                    f"solve {r['solve_s']:.3f} s, residual {r['residual']:.1e}",
                    flush=True,
                )
    if options.json:
        told = {
            "command": "bench/elasticity_bench.py",
            "commit": options.commit,
            "machine": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "note": options.note,
            "tol": TOL,
            "problems": results,
        }
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Solve the collection of bench/systems.py by other libraries, to the same true residual.

    bench/system_peers.py FOLDER [--json peers.json] [--seconds 60] [--only REGEX]

SciPy: `splu` (SuperLU) in two orders, gmres and bicgstab with `spilu` (drop_tol 1e-4, fill_factor
10, its defaults), cg and minres alone. PyAMG, where it is installed: cg or gmres with smoothed
aggregation. Each pair of system and peer is a process of its own, ended after the budget; seconds
are setup and solve by its clock, the least of up to three turns while they take under a second.
Iterative peers ask for a residual of half the tolerance, as some test an estimate of it. Solved
means what it means in bench/systems.py.
"""
import argparse
import importlib.metadata
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import systems

RESTART = 50  # vectors of gmres
MOST_ITERATIONS = 10000


def by_splu(order):
    def solve(A, b, _tol):
        return sla.splu(A.tocsc(), permc_spec=order).solve(b)
    return solve


def iterative(method, **options):
    def solve(A, b, tol):
        return method(A, b, rtol=tol / 2, maxiter=MOST_ITERATIONS, **options)[0]
    return solve


def with_spilu(method, **options):
    def solve(A, b, tol):
        factors = sla.spilu(A.tocsc())
        M = sla.LinearOperator(A.shape, factors.solve, dtype=A.dtype)
        return method(A, b, rtol=tol / 2, M=M, **options)[0]
    return solve


def by_pyamg(A, b, tol):
    import pyamg

    symmetric = abs(A - A.conj().T).max() <= 1e-12 * abs(A).max()
    levels = pyamg.smoothed_aggregation_solver(
        A, symmetry="hermitian" if symmetric else "nonsymmetric")
    return levels.solve(b, tol=tol / 2, maxiter=1000, accel="cg" if symmetric else "gmres")


PEERS = {
    "splu": by_splu("COLAMD"),
    "splu, symmetric order": by_splu("MMD_AT_PLUS_A"),
    "gmres, spilu": with_spilu(sla.gmres, restart=RESTART, maxiter=MOST_ITERATIONS // RESTART),
    "bicgstab, spilu": with_spilu(sla.bicgstab, maxiter=MOST_ITERATIONS),
    "cg": iterative(sla.cg),
    "minres": iterative(sla.minres),
    "pyamg": by_pyamg,
}


def measure(path, peer, tol, told):
    """Solve in this process; sends (seconds, residual), or the error."""
    A = sp.csr_array(sp.load_npz(path))
    reference = systems.Matrix(path)
    b = reference @ reference.normal_vector()
    least, residual = float("inf"), None
    try:
        for _ in range(3):
            start = time.perf_counter()
            x = PEERS[peer](A, b, tol)
            least = min(least, time.perf_counter() - start)
            residual = float(np.linalg.norm(b - reference @ x) / np.linalg.norm(b))
            if least > 1:
                break
        told.send((least, residual))
    except Exception as e:  # whatever a peer raises, it has not solved
        told.send((None, f"{type(e).__name__}: {e}"[:200]))


def run(path, peer, options):
    here, there = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(
        target=measure, args=(path, peer, options.tol, there))
    process.start()
    there.close()
    try:
        seconds, residual = here.recv() if here.poll(options.seconds) else (None, "out of time")
    except EOFError:
        seconds, residual = None, "ended without a word"
    process.kill()
    process.join()
    solved = seconds is not None and np.isfinite(residual) and residual <= 2 * options.tol
    return {"seconds": seconds, "solved": bool(solved),
            "why": residual if seconds is None else f"residual {residual:.1e}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of each pair")
    parser.add_argument("--only", default="", help="names that this regular expression finds")
    options = parser.parse_args()
    versions = {}
    for name in ("scipy", "numpy", "pyamg"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            if name == "pyamg":
                PEERS.pop(name)
    found = systems.systems_of(options.folder, options.only)
    if not found:
        parser.error(f"{options.folder}: no system is there")
    results = []
    for row in found:
        peers = {peer: run(options.folder / row["file"], peer, options) for peer in PEERS}
        results.append({"name": row["name"], "group": row["group"], "peers": peers})
        solved = [(p["seconds"], name) for name, p in peers.items() if p["solved"]]
        told = "{:.4f} s by {}".format(*min(solved)) if solved else "solved by none"
        print(row["name"], told, flush=True)
    if options.json:
        options.json.write_text(json.dumps(
            {"tol": options.tol, "seconds": options.seconds, "cores": os.cpu_count(),
             "threads": os.environ.get("OMP_NUM_THREADS"), "python": sys.version.split()[0],
             "versions": versions, "systems": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

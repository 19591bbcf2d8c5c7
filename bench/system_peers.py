#!/usr/bin/env python3
"""Solve the collection of bench/systems.py by other libraries and nz.solve, to one true residual.

    bench/system_peers.py FOLDER [--json peers.json] [--seconds 60] [--only REGEX] [--peers REGEX]

SciPy: `splu` (SuperLU) in two orders, gmres and bicgstab with `spilu` (drop_tol 1e-4, fill_factor
10, its defaults), cg and minres alone. Where they are found: nonzero's Python package, by its
defaults; PyAMG's cg or gmres with smoothed aggregation; MKL's PARDISO (pypardiso) as unsymmetric
and, of symmetric matrices, as such; UMFPACK (libumfpack); PETSc (petsc4py) in one process, gmres
and bcgs with its ILU(0), cg or gmres with hypre's BoomerAMG. Each pair of system and peer is a
process of its own, ended after the budget; seconds are all that the call takes by its clock, the
least of up to three turns while they take under a second. What the JSON file has of other peers is
kept. Iterative peers ask for a residual of half
the tolerance, as some test an estimate of it. Solved means what it means in bench/systems.py.
"""
import argparse
import contextlib
import ctypes
import ctypes.util
import importlib.metadata
import importlib.util
import json
import multiprocessing
import os
import re
import subprocess
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


def is_hermitian(A):
    return abs(A - A.conj().T).max() <= 1e-12 * abs(A).max()


def by_pyamg(A, b, tol):
    import pyamg

    symmetric = is_hermitian(A)
    levels = pyamg.smoothed_aggregation_solver(
        A, symmetry="hermitian" if symmetric else "nonsymmetric")
    return levels.solve(b, tol=tol / 2, maxiter=1000, accel="cg" if symmetric else "gmres")


def by_pardiso(mtype):
    solvers = {}

    def solve(A, b, _tol):
        import pypardiso

        if mtype == -2 and not is_hermitian(A):
            raise ValueError("not symmetric")
        if mtype not in solvers:  # which looks for MKL's files, 0.1 s
            solvers[mtype] = pypardiso.PyPardisoSolver(mtype=mtype)
        solver = solvers[mtype]
        M = sp.csr_matrix(A)
        if mtype == -2:  # of a triangle, whose diagonal is stored where it is zero as well
            T, i = sp.triu(A).tocoo(), np.arange(A.shape[0])
            M = sp.csr_matrix((np.append(T.data, np.zeros(len(i))),
                               (np.append(T.row, i), np.append(T.col, i))), A.shape)
        try:
            return solver.solve(M, b)
        finally:
            solver.free_memory(everything=True)
    return solve


def by_umfpack(A, b, _tol):
    library = ctypes.CDLL(ctypes.util.find_library("umfpack"))
    is_complex = np.iscomplexobj(A)
    call = {name: getattr(library, f"umfpack_{'zi' if is_complex else 'di'}_{name}")
            for name in ("symbolic", "numeric", "solve")}
    M = sp.csc_matrix(A)
    M.sort_indices()
    def pointer(array):
        return array.ctypes.data_as(ctypes.c_void_p)
    # Complex numbers lie together, so the array of imaginary parts is null.
    imaginary = [None] if is_complex else []
    kept = M.indptr.astype(np.int32), M.indices.astype(np.int32)
    ptr, ind, val = pointer(kept[0]), pointer(kept[1]), pointer(M.data)
    symbolic, numeric = ctypes.c_void_p(), ctypes.c_void_p()
    n = M.shape[0]
    x, b = np.zeros(n, M.dtype), b.astype(M.dtype)
    codes = [
        call["symbolic"](n, n, ptr, ind, val, *imaginary, ctypes.byref(symbolic), None, None),
        call["numeric"](ptr, ind, val, *imaginary, symbolic, ctypes.byref(numeric), None, None),
        call["solve"](0, ptr, ind, val, *imaginary, pointer(x), *imaginary, pointer(b),
                      *imaginary, numeric, None, None)]
    if any(code < 0 for code in codes):
        raise RuntimeError(f"UMFPACK: {codes}")
    return x


def by_petsc(method, preconditioner):
    def solve(A, b, tol):
        from petsc4py import PETSc

        if np.iscomplexobj(A):
            raise TypeError("a PETSc of real numbers")
        M = sp.csr_matrix(A)
        matrix = PETSc.Mat().createAIJ(size=M.shape, csr=(M.indptr, M.indices, M.data))
        solver = PETSc.KSP().create()
        solver.setOperators(matrix)
        solver.setType("cg" if method == "cg or gmres" and is_hermitian(A) else
                       method.replace("cg or ", ""))
        solver.getPC().setType(preconditioner)
        if solver.getType() == "gmres":
            solver.setPCSide(PETSc.PC.Side.RIGHT)  # which tests the residual of the system itself
            solver.setGMRESRestart(RESTART)
        else:
            solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
        solver.setTolerances(rtol=tol / 2, max_it=MOST_ITERATIONS)
        x = matrix.createVecRight()
        solver.solve(PETSc.Vec().createWithArray(b), x)
        return x.getArray().copy()
    return solve


def by_nonzero(A, b, tol):
    import nonzero

    return nonzero.solve(A, b, tol=tol).x


PEERS = {
    "nonzero": by_nonzero,
    "splu": by_splu("COLAMD"),
    "splu, symmetric order": by_splu("MMD_AT_PLUS_A"),
    "gmres, spilu": with_spilu(sla.gmres, restart=RESTART, maxiter=MOST_ITERATIONS // RESTART),
    "bicgstab, spilu": with_spilu(sla.bicgstab, maxiter=MOST_ITERATIONS),
    "cg": iterative(sla.cg),
    "minres": iterative(sla.minres),
    "pyamg": by_pyamg,
    "pardiso": by_pardiso(11),
    "pardiso, symmetric": by_pardiso(-2),
    "umfpack": by_umfpack,
    "petsc gmres, ilu": by_petsc("gmres", "ilu"),
    "petsc bcgs, ilu": by_petsc("bcgs", "ilu"),
    "petsc cg or gmres, boomeramg": by_petsc("cg or gmres", "hypre"),
}
# The module that a peer of this name needs.
MODULES = {"nonzero": "nonzero", "pyamg": "pyamg", "pardiso": "pypardiso", "petsc": "petsc4py"}


def missing(peer):
    """Whether the peer is not installed here."""
    if peer == "umfpack":
        return ctypes.util.find_library("umfpack") is None
    module = MODULES.get(peer.replace(",", "").split()[0])
    return module is not None and importlib.util.find_spec(module) is None


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


def versions_of(*packages):
    versions = {}
    for name in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def commit():
    """Give the commit of the checkout that this is part of."""
    told = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=Path(__file__).parent,
                          capture_output=True, text=True, check=False)
    return told.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of each pair")
    parser.add_argument("--only", default="", help="names that this regular expression finds")
    parser.add_argument("--peers", default="", help="peers that this regular expression finds")
    options = parser.parse_args()
    asked = [peer for peer in PEERS if re.search(options.peers, peer) and not missing(peer)]
    before = {}
    if options.json and options.json.is_file():
        before = {s["name"]: s["peers"] for s in json.loads(options.json.read_text())["systems"]}
    versions = versions_of("scipy", "numpy", "pyamg", "pypardiso", "mkl", "petsc4py", "nonzero-sparse")
    found = systems.systems_of(options.folder, options.only)
    if not found:
        parser.error(f"{options.folder}: no system is there")
    results = []
    for row in found:
        peers = before.get(row["name"], {}) | {
            peer: run(options.folder / row["file"], peer, options) for peer in asked}
        results.append({"name": row["name"], "group": row["group"], "peers": peers})
        solved = sorted((p["seconds"], name) for name, p in peers.items() if p["solved"])
        print(row["name"], ", ".join(f"{s:.4f} s by {name}" for s, name in solved[:3]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(
            {"commit": commit(), "tol": options.tol, "seconds": options.seconds, "cores": os.cpu_count(),
             "threads": os.environ.get("OMP_NUM_THREADS"), "python": sys.version.split()[0],
             "versions": versions, "systems": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()

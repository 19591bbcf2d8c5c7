#!/usr/bin/env python3
"""Several processes on the CPUs of one machine: products and CG over ranks of one thread beside one
process of as many threads, PETSc's own product beside that of libnz_petsc.so, and solvers over
ranks beside PETSc's.

    bench/ranks_bench.py BUILD RESULT.json [--ranks 2]
    bench/ranks_bench.py build/release bench/results/epyc-2/ranks.json

BUILD: a build folder with nz, libnonzero_mpi.so and, for PETSc's part, petsc_product_bench and
petsc_solve_bench (-DNONZERO_BENCH=ON). Both sides of a ratio take turns; the least of the rounds counts.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROUNDS = 3
SOLVER_ROUNDS = 2
MATRICES = {
    "laplace3d 120^3": ["laplace3d", "--nx", "120", "--ny", "120", "--nz", "120"],
    "elasticity3d 32^3": ["elasticity3d", "--nx", "32", "--ny", "32", "--nz", "32"],
    "random, 1,000,000 rows of 8": ["random", "--rows", "1000000", "--cols", "1000000",
                                    "--per-row", "8"],
}
PETSC = [("poisson", 100), ("elasticity", 30)]
SIDE = 100  # of the cube whose Poisson problem the solvers take
PETSC_SOLVERS = {
    "PETSc, cg + BoomerAMG": ["-pc_type", "hypre"],
    "PETSc, cg + BoomerAMG for space": [
        "-pc_type", "hypre", "-pc_hypre_boomeramg_strong_threshold", "0.5",
        "-pc_hypre_boomeramg_coarsen_type", "HMIS", "-pc_hypre_boomeramg_interp_type", "ext+i",
        "-pc_hypre_boomeramg_agg_nl", "1"],
    "PETSc, cg + gamg": ["-pc_type", "gamg"],
    "PETSc, cg + nzamg": ["-mat_type", "nz", "-pc_type", "nzamg"],
    "PETSc, cg + jacobi": ["-pc_type", "jacobi"],
}
NZ_SOLVERS = {"nonzero, cg + amg": "amg", "nonzero, cg + jacobi": "jacobi"}


def output_of(command: list[str]) -> str:
    """Output of a command; its own words where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ranks_bench: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def on_ranks(ranks: int, command: list[str]) -> list[str]:
    """The command over ranks that stay on a core each."""
    return ["mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", str(ranks), *command]


def product_s(command: list[str]) -> float:
    """The time of a product that `nz spmv --json -` tells."""
    return json.loads(output_of([*command, "--json", "-"]))["product_s"]


def iteration_s(command: list[str]) -> float:
    """The time of an iteration that `nz solve --json -` tells."""
    return json.loads(output_of([*command, "--json", "-"]))["iteration_s"]


def compared(nz: str, ranks: int, name: str, matrix: str) -> dict[str, Any]:
    """One matrix: seconds of a product and of an iteration of CG, both ways."""
    jobs = {"product": (product_s, [nz, "spmv", matrix])}
    if not name.startswith("random"):
        jobs["cg"] = (iteration_s, [nz, "solve", matrix, "--method", "cg", "--precond", "jacobi",
                                    "--tol", "1e-6"])
    row: dict[str, Any] = {"matrix": name}
    for what, (seconds, command) in jobs.items():
        over_ranks = on_ranks(ranks, [*command, "--threads", "1"])
        threads = [*command, "--threads", str(ranks)]
        times = [(seconds(over_ranks), seconds(threads)) for _ in range(ROUNDS)]
        row[f"{what}_ranks_s"], row[f"{what}_threads_s"] = map(min, zip(*times, strict=True))
    return row


def petsc_rows(build: Path, ranks: int) -> list[dict[str, Any]]:
    """PETSc's own product and ours in it; none where the bench is not built."""
    bench, library = build / "petsc/petsc_product_bench", build / "petsc/libnz_petsc.so"
    if not bench.exists():
        return []
    return [json.loads(output_of(on_ranks(count, [
                str(bench), "-dll_append", str(library.resolve()), "-matrix", matrix, "-n", str(n),
                *distinct])).splitlines()[-1])
            for matrix, n in PETSC for distinct in ([], ["-distinct"]) for count in (1, ranks)]


def solved_by_petsc(build: Path, ranks: int, options: list[str]) -> dict[str, Any]:
    """Setup, solve and product of Poisson's problem by a KSP of these options."""
    library = (build / "petsc/libnz_petsc.so").resolve()
    bench = build / "petsc/petsc_solve_bench"
    told = json.loads(output_of(on_ranks(ranks, [
        str(bench), "-dll_append", str(library), "-n", str(SIDE), "-rounds", "1", "-ksp_type",
        "cg", *options])).splitlines()[-1])
    return {key: told[key] for key in ("setup_s", "solve_s", "product_s", "iterations")}


def solved_by_nz(nz: str, ranks: int, matrix: str, b: str, precond: str) -> dict[str, Any]:
    """The same by `nz solve`, the product by `nz spmv`."""
    told = json.loads(output_of(on_ranks(ranks, [
        nz, "solve", matrix, "-b", b, "--method", "cg", "--precond", precond, "--threads", "1",
        "--json", "-"])))
    product = product_s(on_ranks(ranks, [nz, "spmv", matrix, "--threads", "1"]))
    return {"plan_s": told["plan_s"], "setup_s": told["preconditioner_s"],
            "solve_s": told["solve_s"], "product_s": product, "iterations": told["iterations"]}


def solver_rows(build: Path, nz: str, ranks: int, folder: str) -> list[dict[str, Any]]:
    """All solvers, in turn, the least of the rounds; without PETSc's where it is not built."""
    matrix, b = f"{folder}/poisson.petsc", f"{folder}/ones.mtx"
    side = str(SIDE)
    output_of([nz, "generate", "laplace3d", "--nx", side, "--ny", side, "--nz", side, "-o", matrix])
    rows = SIDE**3
    Path(b).write_text(f"%%MatrixMarket matrix array real general\n{rows} 1\n" + "1\n" * rows)
    jobs = {name: lambda p=p: solved_by_nz(nz, ranks, matrix, b, p)
            for name, p in NZ_SOLVERS.items()}
    if (build / "petsc/petsc_solve_bench").exists():
        jobs |= {name: lambda o=o: solved_by_petsc(build, ranks, o)
                 for name, o in PETSC_SOLVERS.items()}
    best: dict[str, dict[str, Any]] = {}
    for _ in range(SOLVER_ROUNDS):
        for name, job in jobs.items():
            told = job()
            before = best.setdefault(name, told)
            best[name] = {key: min(before[key], told[key]) for key in told}
    return [{"solver": name, **told} for name, told in best.items()]


def main() -> None:
    """Read the arguments, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--ranks", type=int, default=2)
    args = parser.parse_args()
    nz = str((args.build / "nz").resolve())
    machine = json.loads(output_of([nz, "machine", "--json"]))
    commit = output_of(["git", "rev-parse", "--short=12", "HEAD"]).strip()
    dirty = bool(output_of(["git", "status", "--porcelain", "--untracked-files=no"]).strip())
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for k, (name, generator) in enumerate(MATRICES.items()):
            matrix = f"{folder}/{k}.npz"
            output_of([nz, "generate", *generator, "-o", matrix])
            rows.append(compared(nz, args.ranks, name, matrix))
        solvers = solver_rows(args.build, nz, args.ranks, folder)
    result = {"command": f"bench/ranks_bench.py BUILD RESULT --ranks {args.ranks}",
              "commit": commit, "dirty": dirty, "date": str(datetime.date.today()),
              "machine": machine["machine"]["cpu"], "ranks": args.ranks, "rounds": ROUNDS,
              "products": rows, "petsc": petsc_rows(args.build, args.ranks),
              "side": SIDE, "solvers": solvers}
    args.result.parent.mkdir(parents=True, exist_ok=True)
    args.result.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{args.result}: {len(rows)} matrices, {len(result['petsc'])} of PETSc")


if __name__ == "__main__":
    main()

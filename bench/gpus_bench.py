#!/usr/bin/env python3
"""Products and solvers over several GPUs of one host beside one of them.

    bench/gpus_bench.py BUILD RESULT.json [--gpus 2] [--parts products,cg,amg,large] [--only 350]
    bench/gpus_bench.py build/cuda bench/results/h100-x2/gpus.json

BUILD: a build folder with nz, libnonzero_mpi.so and, for the part `large`, large_bench
(-DNONZERO_BENCH=ON). Matrices are generated into a temporary folder, up to 13 GB at once. All values
of the products' matrices are distinct. One GPU solves as `nz solve` does without mpirun, in CUDA
graphs. RESULT.json is written after every part, so that nothing measured is lost.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

ROUNDS = 2


def cube(kind: str, side: int) -> list[str]:
    """A generator's arguments for a cube."""
    return [kind, "--nx", str(side), "--ny", str(side), "--nz", str(side)]


PRODUCTS = {
    "elasticity3d 75^3": cube("elasticity3d", 75),
    "elasticity3d 105^3": cube("elasticity3d", 105),
    "laplace27 160^3": cube("laplace27", 160),
    "laplace27 224^3": cube("laplace27", 224),
    "laplace3d 250^3": cube("laplace3d", 250),
    "laplace3d 350^3": cube("laplace3d", 350),
    "laplace2d 4500^2": ["laplace2d", "--nx", "4500", "--ny", "4500"],
    "random, 8,000,000 rows of 15": ["random", "--rows", "8000000", "--cols", "8000000",
                                     "--per-row", "15"],
    "R-MAT, scale 23": ["rmat", "--scale", "23", "--per-row", "16"],
    "R-MAT, scale 26": ["rmat", "--scale", "26", "--per-row", "16"],
    "power law, 10,000,000 rows of 11": ["powerlaw", "--n", "10000000", "--mean", "11"],
}
CG_SIDES = (216, 300, 350)  # of cubes of Poisson's problem, 10^7 unknowns and more
AMG_SIDES = (160, 256, 450)  # the last one fills a GPU of 80 GB
LARGE_SIDE = {2: 672, 4: 840}  # of the cube, by the number of GPUs: too large for half of them


class Runner:
    """How commands are run on one GPU and on all of them."""

    def __init__(self, build: Path, gpus: int) -> None:
        self.build, self.gpus = build, gpus
        self.nz = str((build / "nz").resolve())

    def output(self, command: list[str], processes: int = 1) -> str:
        """Output of a command; its own words where it fails. Processes share out the cores."""
        threads = max(len(os.sched_getaffinity(0)) // processes, 1)
        start = []
        if processes > 1:
            start = ["mpirun", "--allow-run-as-root", "--map-by", f"slot:PE={threads}", "--bind-to",
                     "core:overload-allowed", "-n", str(processes)]
        done = subprocess.run([*start, *command], capture_output=True, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join([*start, *command])}: {done.stderr.strip()}")
        return done.stdout

    def told(self, arguments: list[str], processes: int = 1) -> dict[str, Any]:
        """The JSON of a subcommand of nz."""
        text = self.output([self.nz, *arguments, "--device", "gpu", "--json", "-"], processes)
        told: dict[str, Any] = json.loads(text)
        return told


def products(run: Runner, folder: str, only: str) -> list[dict[str, Any]]:
    """Products of the matrices whose names match, on one GPU, on two, ... and on all."""
    rows = []
    for name, generator in PRODUCTS.items():
        if not re.search(only, name):
            continue
        matrix = f"{folder}/A.petsc"
        run.output([run.nz, "generate", *generator, "-o", matrix])
        told = run.told(["bench", matrix, "--ranks-table", "--distinct"], run.gpus)
        keys = ("rows", "nnz", "ranks", "where", "method", "median_s", "min_s", "spread",
                "without_messages_s", "messages_s", "entries", "halo_entries", "halo_bytes", "imbalance")
        rows.append({"matrix": name,
                     "over_ranks": [{key: row[key] for key in keys} for row in told["over_ranks"]]})
        alone, together = told["over_ranks"][0], told["over_ranks"][-1]
        print(f"{name}: {alone['median_s'] * 1e6:.0f} us, {together['median_s'] * 1e6:.0f} us, "
              f"{alone['median_s'] / together['median_s']:.2f}x; without messages "
              f"{together['without_messages_s'] * 1e6:.0f}, messages alone "
              f"{together['messages_s'] * 1e6:.0f} us", flush=True)
    return rows


def solved(run: Runner, matrix: str, precond: str, processes: int) -> dict[str, Any]:
    """Return the round whose plan, setup and solve together take least."""
    keys = ("where", "product", "method", "preconditioner", "iterations", "plan_s",
            "preconditioner_s", "solve_s", "iteration_s", "in_graph", "converged", "residual")
    rounds = [run.told(["solve", matrix, "--method", "cg", "--precond", precond, "--tol", "1e-8"],
                       processes) for _ in range(ROUNDS)]
    best = min(rounds, key=lambda told: told["plan_s"] + told["preconditioner_s"] + told["solve_s"])
    return {key: best[key] for key in keys if key in best}


def solvers(run: Runner, folder: str, sides: tuple[int, ...], precond: str,
            only: str) -> list[dict[str, Any]]:
    """CG for Poisson's problem in the cubes whose names match, on one GPU and on all."""
    rows = []
    for side in sides:
        if not re.search(only, f"laplace3d {side}^3"):
            continue
        matrix = f"{folder}/A.petsc"
        run.output([run.nz, "generate", *cube("laplace3d", side), "-o", matrix])
        one, all_ = solved(run, matrix, precond, 1), solved(run, matrix, precond, run.gpus)
        rows.append({"problem": f"laplace3d {side}^3", "one": one, "all": all_})
        for told in (one, all_):
            print(f"laplace3d {side}^3, cg + {precond}: {told['where']}: plan "
                  f"{told['plan_s'] * 1e3:.0f} ms, setup {told['preconditioner_s'] * 1e3:.0f} ms, "
                  f"solve {told['solve_s'] * 1e3:.1f} ms, {told['iterations']} iterations of "
                  f"{told['iteration_s'] * 1e6:.1f} us", flush=True)
    return rows


def large(run: Runner) -> list[dict[str, Any]]:
    """A system that one GPU does not hold."""
    if run.gpus not in LARGE_SIDE:
        raise RuntimeError(f"a side is known for {' and '.join(map(str, LARGE_SIDE))} GPUs alone")
    side = str(LARGE_SIDE[run.gpus])
    told = json.loads(run.output([str(run.build / "large_bench"), side], run.gpus))
    print(json.dumps(told), flush=True)
    return [told]


def main() -> None:
    """Read the arguments, measure, write after every part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--parts", default="products,cg,amg,large")
    parser.add_argument("--only", default="", help="names of the problems, a regular expression")
    args = parser.parse_args()
    run = Runner(args.build, args.gpus)
    machine = json.loads(run.output([run.nz, "machine", "--json", "-"]))
    result: dict[str, Any] = {key: machine[key] for key in ("nz", "commit", "dirty") if
                              key in machine}
    result |= {"date": str(datetime.date.today()), "machine": machine["machine"],
               "gpu": machine.get("gpu"), "gpus": args.gpus, "rounds": ROUNDS}
    args.result.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        jobs = {"products": lambda: products(run, folder, args.only),
                "cg": lambda: solvers(run, folder, CG_SIDES, "jacobi", args.only),
                "amg": lambda: solvers(run, folder, AMG_SIDES, "amg", args.only),
                "large": lambda: large(run)}
        for part in args.parts.split(","):
            start = time.monotonic()
            try:
                result[part] = jobs[part]()
            except RuntimeError as e:
                result[part] = {"failed": str(e)}
                print(f"{part}: {e}", flush=True)
            print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)
            args.result.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

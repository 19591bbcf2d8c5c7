#!/usr/bin/env python3
"""Run `nz solve` over a collection of linear systems and hold every x against A x = b.

    bench/systems.py FOLDER [--nz build/release/nz] [--json systems.json] [-- --iterative]

FOLDER has INDEX.tsv, with the columns name, file and group, and matrices as SciPy writes them
(.npz, CSR); systems without a file are left out. b is A x* for a standard normal x* of a fixed
seed. Solved means that |b - A x| <= 2 tol |b|, computed here with NumPy, and not what the command
says of itself; where it says so wrongly, that is printed and the exit code is 1. Options behind --
go to `nz solve`. Seconds are those that it tells of planning, setups and iterations, without its
first look at A; with --turns N the least of up to N commands while they take under a second.
"""
import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SEED = 20260101


def systems_of(folder, pattern):
    """Give the rows of INDEX.tsv whose file is there and whose name the pattern finds."""
    with open(folder / "INDEX.tsv", newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    return [r for r in rows
            if (folder / r["file"]).is_file() and re.search(pattern, r["name"])]


class Matrix:
    """A CSR as SciPy stores it."""

    def __init__(self, path):
        with np.load(path) as parts:
            form = parts["format"].item()
            if form not in (b"csr", "csr"):
                raise ValueError(f"{path}: {form}, expected csr")
            self.shape = tuple(int(n) for n in parts["shape"])
            self.data, self.columns = parts["data"], parts["indices"]
            lengths = np.diff(parts["indptr"])
        self.rows = np.repeat(np.arange(self.shape[0]), lengths)

    def __matmul__(self, x):
        terms = self.data * x[self.columns]

        def summed(part):
            return np.bincount(self.rows, part, self.shape[0])

        if np.iscomplexobj(terms):
            return summed(terms.real) + 1j * summed(terms.imag)
        return summed(terms)

    def normal_vector(self):
        random = np.random.default_rng(SEED)
        x = random.standard_normal(self.shape[1])
        if np.iscomplexobj(self.data):
            x = x + 1j * random.standard_normal(self.shape[1])
        return x


def write_vector(path, v):
    field = "complex" if np.iscomplexobj(v) else "real"
    parts = np.column_stack([v.real, v.imag]) if field == "complex" else v
    np.savetxt(path, parts, fmt="%.17g", comments="",
               header=f"%%MatrixMarket matrix array {field} general\n{len(v)} 1")


def read_vector(path):
    with open(path) as text:
        lines = [line for line in text if not line.startswith("%")][1:]
    parts = np.array([[float(word) for word in line.split()] for line in lines])
    return parts[:, 0] + 1j * parts[:, 1] if parts.shape[1] == 2 else parts[:, 0]


def methods_of(report):
    """Give "method/preconditioner" of every attempt, in order."""
    return [f"{a['method']}/{a['preconditioner']}" for a in report.get("attempts", [])]


def solve(path, options):
    """Solve one system; what came of it."""
    A = Matrix(path)
    b = A @ A.normal_vector()
    with tempfile.TemporaryDirectory() as scratch:
        rhs, x, told = (Path(scratch) / name for name in ("b.mtx", "x.mtx", "told.json"))
        write_vector(rhs, b)
        command = [options.nz, "solve", str(path), "-b", str(rhs), "-o", str(x), "--json",
                   str(told), "--tol", repr(options.tol), "--max-seconds", repr(options.seconds),
                   "--threads", str(options.threads), *options.more]
        start = time.monotonic()
        try:
            # Beyond its budget it may finish what is under way.
            run = subprocess.run(command, capture_output=True, text=True, check=False,
                                 timeout=3 * options.seconds + 60)
        except subprocess.TimeoutExpired:
            return {"status": "killed", "seconds": time.monotonic() - start, "method": "",
                    "attempts": [], "claimed": False, "residual": None}
        report = json.loads(told.read_text()) if told.is_file() else {}
        r = b - A @ read_vector(x) if x.is_file() else None
    residual = None if r is None else float(np.linalg.norm(r) / np.linalg.norm(b))
    attempts = report.get("attempts", [])
    return {"status": report.get("status", run.stderr.strip() or f"exit code {run.returncode}"),
            "seconds": report.get("plan_s", 0) + sum(a["preconditioner_s"] + a["solve_s"]
                                                     for a in attempts),
            "method": f"{report['method']}/{report['preconditioner']}" if attempts else "",
            "attempts": methods_of(report), "claimed": run.returncode == 0, "residual": residual,
            "iterations": sum(a.get("iterations", 0) for a in attempts),
            "commit": report.get("commit", "")}


def least_of_turns(path, options):
    """Solve one system, again while it takes under a second; give the least of the turns."""
    results = [solve(path, options)]
    while len(results) < options.turns and results[-1]["seconds"] < 1:
        results.append(solve(path, options))
    return min(results, key=lambda result: result["seconds"])


def is_solved(result, tol):
    return result["residual"] is not None and result["residual"] <= 2 * tol


def table_of(results, tol):
    """Give lines: for each group the systems tried, those solved and the sum of seconds."""
    groups = {}
    for r in results:
        groups.setdefault(r["group"], []).append(r)
    lines = ["| group | solved | of | seconds |", "| --- | ---: | ---: | ---: |"]
    for name, of in [*sorted(groups.items()), ("all", results)]:
        solved = sum(is_solved(r, tol) for r in of)
        lines.append(f"| {name} | {solved} | {len(of)} | {sum(r['seconds'] for r in of):.1f} |")
    return lines


def line_of(result, tol):
    residual = "-" if result["residual"] is None else f"{result['residual']:.1e}"
    return (f"{'solved' if is_solved(result, tol) else 'FAILED':6} {result['seconds']:8.3f} s "
            f"{residual:>8} {result['name']}: {' '.join(result['attempts'])} ({result['status']})")


def main():
    repository = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nz", default=str(repository / "build" / "release" / "nz"))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of each system")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=1, help="commands for each quick system")
    parser.add_argument("--only", default="", help="names that this regular expression finds")
    behind = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:behind])
    options.more = sys.argv[behind + 1:]  # of nz solve
    found = systems_of(options.folder, options.only)
    if not found:
        parser.error(f"{options.folder}: no system is there")
    results = []
    for row in found:
        result = {"name": row["name"], "group": row["group"],
                  **least_of_turns(options.folder / row["file"], options)}
        results.append(result)
        print(line_of(result, options.tol), flush=True)
    print("\n".join(["", *table_of(results, options.tol)]))
    if options.json:
        commits = {r.pop("commit", "") for r in results} - {""}
        options.json.write_text(json.dumps(
            {"commit": " ".join(sorted(commits)), "tol": options.tol, "seconds": options.seconds,
             "threads": options.threads, "turns": options.turns, "cores": os.cpu_count(),
             "options": options.more,
             "composition": {r["name"]: r["group"] for r in results}, "systems": results}, indent=1) + "\n")
    wrong = [r["name"] for r in results if r["claimed"] and not is_solved(r, options.tol)]
    if wrong:
        sys.exit(f"claimed, but not solved: {', '.join(wrong)}")


if __name__ == "__main__":
    main()

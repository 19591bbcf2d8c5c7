#!/usr/bin/env python3
"""Generate the tables of the documents from the committed measurements.

    bench/figures.py --check     fails where a table differs from what the JSON says, with the lines
    bench/figures.py --write     puts the tables in place

A table stands below a comment that names its generator and the generator's arguments, such as
``<!-- figures: classes -->``. Files: README.md and docs/**/*.md. In README.md,
docs/performance.md and docs/experiments/performance.md every table with a figure must have such a
comment. Charts, docs/images/*.svg, are held to the measurements as well.

New suite files (bench/collect.py) take part by their name: bench/results/MACHINE/SUITE.json.

Over 500 lines, as every table has its generator here.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import itertools
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import charts
import collect
import dist_model
import summary

Row = dict[str, Any]
Rows = dict[str, list[Row]]  # by matrix
Pick = Callable[[list[Row]], Row | None]

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"<!-- figures: ([a-z0-9 -]+?) -->")
# Files whose tables are all generated.
ALL_GENERATED = ("README.md", "docs/performance.md", "docs/experiments/performance.md")


# ---- the measurements ----------------------------------------------------------------------------


class Measurements:
    """The suites below a folder, each read once.

    Parameters
    ----------
    folder
        Such as bench/results.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = functools.cache(self._runs)

    def _runs(self, machine: str, suite: str) -> list[collect.Run]:
        path = self.folder / machine / f"{suite}.json"
        return collect.read_runs(path) if path.exists() else []

    def json(self, name: str) -> Any:
        """Any file below the folder."""
        return json.loads((self.folder / name).read_text())

    def suites(self) -> list[tuple[str, str]]:
        """(machine, suite) of every suite of products."""
        return [(path.parent.name, path.stem) for path in sorted(self.folder.glob("*/*.json"))
                if '"columns"' in path.read_text()[:400]]

    def chosen(self, machine: str, suite: str, **settings: Any) -> list[collect.Run]:
        """The runs of a suite under these settings."""
        return [run for run in self.runs(machine, suite)
                if all(run.get(k) == v for k, v in settings.items())]

    def rows(self, machine: str, suite: str, threads: int = 0, **settings: Any) -> Rows:
        """The timed rows of a suite, by matrix; 0 threads are the GPU's."""
        return timed(self.chosen(machine, suite, **settings), threads)


def timed(runs: Iterable[collect.Run], threads: int) -> Rows:
    """The timed rows of runs, by matrix. Serial methods count with every number of threads."""
    rows: Rows = {}
    for run in runs:
        for row in run["rows"]:
            alone = threads > 1 and row["threads"] == 1 and row["method"].endswith("serial")
            if "median_s" in row and (row["threads"] == threads or alone):
                rows.setdefault(row["matrix"], []).append(row)
    return rows


def cache_bytes(run: collect.Run) -> int:
    """L2 of the GPU, or the last level of the CPU's caches."""
    if "gpu" in run:
        return run["gpu"]["l2_bytes"]
    return max(run["machine"]["l2_bytes"], run["machine"]["l3_bytes"])


def class_of(run: collect.Run) -> str | None:
    """Which class of README's table a run belongs to; None for neither.

    Whether it is beyond the cache, the run says (``class``), or its CSR's bytes do. All values
    distinct are those that ``--distinct`` made; a matrix whose own values are all different counts
    as it is. Copies of a matrix along the diagonal (``--tile``) count with distinct values only,
    rounded values (``--storage``) not at all.
    """
    if "storage" in run:
        return None
    matrix = run["matrices"][0]
    said = matrix.get("class")
    distinct = run["values"] == "distinct"
    beyond = not said.startswith("in_") if said else matrix["csr_bytes"] > cache_bytes(run)
    if not beyond:
        return None if distinct else "in"
    if distinct:
        return "beyond distinct"
    return None if is_tiled(run) else "beyond"


def is_tiled(run: collect.Run) -> bool:
    """Whether the matrix is several copies of one, along the diagonal (`nz bench --tile`)."""
    return run["matrices"][0].get("tile", run.get("tile", 1)) not in (None, 0, 1)


# ---- cells ---------------------------------------------------------------------------------------


def method(name: str) -> Pick:
    """Picks the row of a method."""
    return lambda rows: summary.named(rows, name)


def best_baseline(rows: list[Row]) -> Row | None:
    """The fastest of the other libraries' methods."""
    return summary.best_of(rows, peer=True)


def best_of_ours(rows: list[Row]) -> Row | None:
    """The fastest of our methods, apart from what the plan chose."""
    return summary.best_of(rows, peer=False)


def best_classic(rows: list[Row]) -> Row | None:
    """The fastest of our methods that a lecture or paper has."""
    return best_of_ours([r for r in rows if r["method"] not in summary.OUR_OWN])


def best_rival(rows: list[Row]) -> Row | None:
    """The fastest of Eigen, MKL and our own CSR."""
    return summary.fastest([r for r in rows if r["peer"] or r["method"] in
                            ("csr.static", "csr.balanced", "csr.merge")])


def ratios(rows: Rows, ours: Pick, theirs: Pick) -> dict[str, float]:
    """How many times as fast ours is, where both were measured."""
    each = {name: summary.ratio(ours(here), theirs(here)) for name, here in rows.items()}
    return {name: r for name, r in each.items() if r is not None}


def mean_cell(each: dict[str, float], named: bool = True) -> str:
    """Geometric mean, lowest and its matrix, number of matrices."""
    if not each:
        return "not measured"
    lowest = min(each, key=each.__getitem__)
    name = f" `{lowest}`" if named else ""
    return (f"{summary.geometric_mean(each.values()):.2f}x, lowest {each[lowest]:.2f}{name} "
            f"({len(each)})")


def table(heads: Iterable[str], lines: Iterable[Iterable[str]], text: int = 1) -> list[str]:
    """The lines of a table whose first columns are text and whose others are figures."""
    heads = list(heads)
    rule = ["---"] * text + ["---:"] * (len(heads) - text)
    return ["| " + " | ".join(cells) + " |" for cells in [heads, rule, *lines]]


def us(row: Row | None) -> str:
    """A time in microseconds."""
    return "-" if row is None else f"{row['median_s'] * 1e6:.1f}"


def spread_of(each: dict[str, float]) -> str:
    """Median and highest, with its matrix."""
    most = max(each, key=each.__getitem__)
    return f"{statistics.median(each.values()):.1f}, highest {each[most]:.1f} `{most}`"


# ---- what the matrices are -----------------------------------------------------------------------

DISTINCT_BOUNDS = (("one", 1), ("2 to 256", 256), ("257 to 65,536", 65536), ("more", math.inf))


def matrices(m: Measurements) -> list[str]:
    """Every matrix of the suites: size, row lengths, distinct values, where it comes from."""
    return table(
        ["matrix", "what it is", "origin", "rows", "columns", "entries",
         "row: shortest, mean, longest", "distinct values"],
        [[f"`{a['name']}`", a["what"], a["origin"], f"{a['rows']:,}", f"{a['cols']:,}",
          f"{a['nnz']:,}",
          f"{a['shortest_row']:,}, {a['nnz'] / a['rows']:.1f}, {a['longest_row']:,}",
          f"{a['distinct_values']:,}"] for a in m.json("matrices.json")["matrices"]], text=3)


def composition(m: Measurements) -> list[str]:
    """How many matrices have how many distinct values, by origin."""
    listed = m.json("matrices.json")["matrices"]
    origins = sorted({a["origin"] for a in listed})

    def count(origin: str, least: float, most: float) -> str:
        return str(sum(a["origin"] == origin and least < a["distinct_values"] <= most
                       for a in listed))

    lines, least = [], 0.0
    for label, most in DISTINCT_BOUNDS:
        cells = [count(origin, least, most) for origin in origins]
        lines.append([label, *cells, str(sum(map(int, cells)))])
        least = most
    lines.append(["all", *(count(origin, 0, math.inf) for origin in origins), str(len(listed))])
    return table(["distinct values", *origins, "all"], lines)


# ---- the three classes ---------------------------------------------------------------------------

CLASSES = {"in": "in the cache", "beyond": "beyond the cache, as they are",
           "beyond distinct": "beyond the cache, all values distinct"}
# Machine, its name, threads (0: the GPU), and the suites in order: of each class the first suite
# that has it counts.
PLACES = (("h200", "NVIDIA H200", 0, ("classes", "plan")),
          ("h100", "NVIDIA H100", 0, ("classes", "plan")),
          ("xeon-16", "Xeon, 16 threads", 16, ("classes", "beyond-cache")),
          ("xeon-16", "Xeon, 2 threads", 2, ("classes", "plan")),
          ("epyc-2", "EPYC, 2 threads", 2, ("classes", "plan")))


def is_plain(run: collect.Run) -> bool:
    """Whether a run is of single products in double precision, by A, with data in the caches."""
    return (run["type"] == "double" and not run.get("transposed")
            and run.get("vectors", 1) == 1 and run.get("caches", "hot") == "hot")


def runs_of_class(m: Measurements, machine: str, suites: Iterable[str], threads: int,
                  kind: str) -> list[collect.Run]:
    """The runs of a class, of the first of these suites that has some."""
    for suite in suites:
        here = [run for run in m.runs(machine, suite)
                if is_plain(run) and class_of(run) == kind and timed([run], threads)]
        if here:
            return here
    return []


def other_libraries(all_runs: list[collect.Run], threads: int) -> str:
    """Which libraries' methods took part; of cuSPARSE whether SpMVOp did."""
    if threads:
        return "Eigen and MKL"
    with_op = [any("spmvop" in r["method"] for r in run["rows"]) for run in all_runs]
    if all(with_op):
        return "cuSPARSE, with SpMVOp"
    return "cuSPARSE, " + ("SpMVOp in part" if any(with_op) else "without SpMVOp")


def measured_classes(m: Measurements) -> list[tuple[str, str, str, dict[str, float],
                                                    dict[str, float]]]:
    """(machine, class, other libraries, over their default, over the best of them), as measured."""
    found = []
    for machine, name, threads, suites in PLACES:
        default = method("eigen.csr" if threads else "cusparse.csr")
        for kind, label in CLASSES.items():
            here = runs_of_class(m, machine, suites, threads, kind)
            rows = timed(here, threads)
            if here:
                found.append((name, label, other_libraries(here, threads),
                              ratios(rows, method("plan"), default),
                              ratios(rows, method("plan"), best_baseline)))
    return found


def classes(m: Measurements) -> list[str]:
    """The plan against the default and the best of the baselines, by machine and class."""
    return table(["double precision", "matrices", "other libraries", "over their default",
                  "over the best of them"],
                 [[name, label, others, mean_cell(default, False), mean_cell(best, False)]
                  for name, label, others, default, best in measured_classes(m)], text=3)


def class_sizes(m: Measurements) -> list[str]:
    """Commands, numbers and sizes of the matrices behind each cell of the table of classes."""
    lines = []
    for machine, name, threads, suites in PLACES:
        for kind, label in CLASSES.items():
            here = runs_of_class(m, machine, suites, threads, kind)
            if not here:
                continue
            sizes = [run["matrices"][0] for run in here]
            options = (f" --threads {threads}" if threads else " --device gpu") + " --peers --plan"
            options += " --distinct" if kind == "beyond distinct" else ""
            options += " --tile ENTRIES" if any(map(is_tiled, here)) else ""
            spans = ([a[key] / 1e6 for a in sizes] for key in ("nnz", "csr_bytes"))
            lines.append([name, label, f"`nz bench A.npz{options}`", str(len(here)),
                          str(sum(map(is_tiled, here))),
                          *(f"{min(span):,.1f} to {max(span):,.1f}" for span in spans),
                          f"{cache_bytes(here[0]) / 1e6:.0f}"])
    return table(["machine", "class", "command", "matrices", "of them tiled", "million entries",
                  "CSR, MB", "cache, MB"], lines, text=3)


def floor_s(run: collect.Run, threads: int) -> float:
    """A value and a byte for its place an entry, and a value a row and a column, read.

    A kernel that stores several entries by one number may take less.
    """
    a = run["matrices"][0]
    value = 4 if run["type"] == "float" else 8
    read = next(b["read_gbps"] for b in run["bandwidth"] if b["threads"] == threads)
    return ((value + 1) * a["nnz"] + value * (a["rows"] + a["cols"])) / (read * 1e9)


def floors(m: Measurements) -> list[str]:
    """The plan beyond the cache with distinct values: time, bytes, setup."""
    lines = []
    for machine, name, threads, suites in PLACES:
        here = runs_of_class(m, machine, suites, threads, "beyond distinct")
        if not here:
            continue
        over, stored, setup = {}, {}, {}
        for run in here:
            a = run["matrices"][0]
            row = summary.named(timed([run], threads)[a["name"]], "plan")
            over[a["name"]] = row["median_s"] / floor_s(run, threads)
            stored[a["name"]] = row["matrix_bytes"] / a["csr_bytes"]
            setup[a["name"]] = row["preprocessing_s"] / row["median_s"]
        cells = []
        for each in (over, stored):
            most = max(each, key=each.__getitem__)
            mean = summary.geometric_mean(each.values())
            cells.append(f"{mean:.2f}, highest {each[most]:.2f} `{most}`")
        lines.append([name, *cells, spread_of(setup)])
    return table(["machine", "time over the floor", "bytes stored over CSR's",
                  "choosing and packing, in products of the plan"], lines)


# Aims on GPUs beyond the cache: of an H200, of an H100, and whether more is better.
AIMS = {"against `cusparse.csr`": (1.70, 1.45, True),
        "against the best of cuSPARSE": (1.60, 1.40, True),
        "lowest of them": (1.05, 1.05, True),
        "time over the floor": (1.25, 1.25, False),
        "the same in float": (1.40, 1.40, False),
        "bytes over CSR's, highest": (1.02, 1.02, False),
        "share of the read bandwidth, regular matrices": (0.92, 0.92, True),
        "setup in products, highest": (20, 20, False)}
REGULAR = ("atmosmodd_like", "ecology1", "lap3d_40", "mc2depi_like", "nlpkkt80",
           "parabolic_fem_like", "xenon1")


def reached_beyond_cache(m: Measurements, machine: str) -> dict[str, float]:
    """The quantities of AIMS, as measured on that machine."""
    here = runs_of_class(m, machine, ("classes",), 0, "beyond distinct")
    of = timed(here, 0)
    against = [ratios(of, method("plan"), pick) for pick in (method("cusparse.csr"),
                                                            best_baseline)]
    over, stored, setup, share = [], [], [], []
    for run in here:
        a = run["matrices"][0]
        row = summary.named(of[a["name"]], "plan")
        over.append(row["median_s"] / floor_s(run, 0))
        stored.append(row["matrix_bytes"] / a["csr_bytes"])
        setup.append(row["preprocessing_s"] / row["median_s"])
        if a["name"] in REGULAR:
            moved = row["matrix_bytes"] + 8 * (a["rows"] + a["cols"])
            share.append(moved / row["median_s"] / (run["bandwidth"][0]["read_gbps"] * 1e9))
    floats_over = [summary.named(timed([run], 0)[run["matrices"][0]["name"]], "plan")["median_s"]
                   / floor_s(run, 0) for run in m.runs(machine, "float")]
    mean = summary.geometric_mean
    values = (*(mean(each.values()) for each in against), min(against[1].values()), mean(over),
              mean(floats_over), max(stored), mean(share), max(setup))
    return dict(zip(AIMS, values, strict=True))


def aims(m: Measurements) -> list[str]:
    """Aims beyond the cache, beside what is reached."""
    lines = []
    reached = [reached_beyond_cache(m, machine) for machine in ("h200", "h100")]
    for what, (*goals, more) in AIMS.items():
        cells = []
        for goal, got in zip(goals, (r[what] for r in reached), strict=True):
            holds = round(got, 2) >= goal if more else round(got, 2) <= goal
            cells += [f"{goal:g}", f"{got:.2f}", "yes" if holds else "no"]
        lines.append([what, *cells])
    return table(["tiled patterns, all values distinct",
                  *(head for name in ("H200", "H100")
                    for head in (f"{name}: aim", "measured", "reached"))], lines)


def launches(m: Measurements, machine: str) -> list[str]:
    """Matrices as they are: products in a stream, in CUDA graphs, behind a kernel that rewrites x."""
    plain = [run for run in m.runs(machine, "classes") if run["values"] == "as they are"]
    other = m.runs(machine, "launches")
    lines = []
    for label, here in (
            ("one after the other in a stream", plain),
            ("the same in CUDA graphs", [run for run in other if run["launches"] == "graph"]),
            ("each behind a kernel that rewrites x",
             [run for run in other if run["launches"] == "chain"])):
        of = timed(here, 0)
        lines.append([label, *(mean_cell(ratios(of, method("plan"), pick))
                               for pick in (method("cusparse.csr"), best_baseline))])
    return table(["products", "against `cusparse.csr`", "against the best of cuSPARSE"], lines)


def floats(m: Measurements, *machines: str) -> list[str]:
    """Tiled matrices of distinct values in single precision, beside cuSPARSE and their floor."""
    lines = []
    for machine in machines:
        here = m.runs(machine, "float")
        of = timed(here, 0)
        over = {}
        for run in here:
            name = run["matrices"][0]["name"]
            over[name] = summary.named(of[name], "plan")["median_s"] / floor_s(run, 0)
        most = max(over, key=over.__getitem__)
        mean = summary.geometric_mean(over.values())
        lines.append([f"NVIDIA {machine.upper()}",
                      *(mean_cell(ratios(of, method("plan"), pick))
                        for pick in (method("cusparse.csr"), best_baseline)),
                      f"{mean:.2f}, highest {over[most]:.2f} `{most}`"])
    return table(["float, tiled, all values distinct", "against `cusparse.csr`",
                  "against the best of cuSPARSE", "time over the floor"], lines)


def stripes(m: Measurements, machine: str) -> list[str]:
    """Stripes of columns beside all columns at once, where no cache holds x."""
    lines = []
    for run in m.runs(machine, "stripes"):
        a = run["matrices"][0]
        here = timed([run], 0)[a["name"]]
        us = [f"{row['median_s'] * 1e6:,.0f}" for row in
              (summary.named(here, "packed.warp"), summary.named(here, "packed.stripes"),
               best_baseline(here))]
        lines.append([f"{a['rows']:,} x {a['cols']:,}, {a['nnz']:,} entries", run["values"], *us,
                      f"`{summary.named(here, 'plan')['chosen']}`"])
    return table(["uniformly random", "values", "`packed.warp`, us", "`packed.stripes`, us",
                  "best of cuSPARSE, us", "the plan's choice"], lines, text=2)


def storage(m: Measurements, machine: str) -> list[str]:
    """The plan with values rounded to single precision, beside the exact one."""
    plans: dict[str, dict[str, Row]] = {}
    for run in m.runs(machine, "storage"):
        name = run["matrices"][0]["name"]
        row = summary.named(timed([run], 0)[name], "plan")
        plans.setdefault(name, {})[run.get("storage", "exact")] = row
    lines = []
    for name, of in sorted(plans.items()):
        exact, single = of["exact"], of["single"]
        lines.append([f"`{name}`", *(f"{r['matrix_bytes'] / 1e6:,.0f}" for r in (exact, single)),
                      *(f"{r['median_s'] * 1e6:,.0f}" for r in (exact, single)),
                      f"{exact['median_s'] / single['median_s']:.2f}"])
    return table(["matrix", "`exact`, MB", "`single`, MB", "`exact`, us", "`single`, us",
                  "times as fast"], lines)


def best_spmm(rows: list[Row]) -> Row | None:
    """The fastest of cuSPARSE's products with several vectors."""
    return summary.best_of([r for r in rows if "spmm" in r["method"]], peer=True)


def of_vectors(m: Measurements, machine: str, order: str, count: int,
               suite: str = "vectors") -> Rows:
    """Measurements with that number of vectors in that order on a GPU."""
    return timed((run for run in m.runs(machine, suite)
                  if run["order"] == order and run["vectors"] == count), 0)


def several_vectors(m: Measurements, *machines: str, suite: str = "vectors") -> list[str]:
    """Products with several vectors on GPUs, beside the fastest of cuSPARSE's SpMM."""
    runs = m.runs(machines[0], suite)
    lines = [[f"{order}-major", str(k),
              *(mean_cell(ratios(of_vectors(m, machine, order, k, suite), method("packed.warp"),
                                 best_spmm)) for machine in machines)]
             for order in ("row", "column") if any(run["order"] == order for run in runs)
             for k in sorted({run["vectors"] for run in runs})]
    return table(["vectors lie", "K", *(f"NVIDIA {machine.upper()}" for machine in machines)],
                 lines)


def several_vectors_unseen(m: Measurements, machine: str) -> list[str]:
    """The same on matrices by which nothing was chosen."""
    return several_vectors(m, machine, suite="vectors-unseen")


def several_vectors_each(m: Measurements, machine: str) -> list[str]:
    """The same by matrix, in microseconds."""
    def us_of(row: Row | None) -> str:
        return f"{row['median_s'] * 1e6:,.0f}"

    lines = []
    counts = sorted({run["vectors"] for run in m.runs(machine, "vectors")})
    for name in sorted(of_vectors(m, machine, "row", counts[0])):
        for k in counts:
            here = [of_vectors(m, machine, order, k)[name] for order in ("row", "column")]
            lines.append([f"`{name}`", str(k),
                          *(us_of(pick(rows)) for rows in here
                            for pick in (method("packed.warp"), best_spmm))])
    return table(["matrix", "K", "row-major", "best", "column-major", "best"], lines)


def explained(m: Measurements, machine: str) -> list[str]:
    """`nz explain` beside a GPU's counters, a line a kernel."""
    of_kernel: dict[tuple[str, str], list[Any]] = {}
    for kernel in m.json(f"{machine}/explain.json")["kernels"]:
        of_kernel.setdefault((kernel["method"], kernel["kernel"]), []).append(kernel)
    lines = []
    for (name, kernel), here in sorted(of_kernel.items()):
        whole = {k["matrix"]: next(c for c in k["comparisons"] if c["bytes"] == 0) for k in here}
        off = {matrix: (c["counted"] - c["predicted"]) / max(c["predicted"], 1)
               for matrix, c in whole.items()}
        worst = max(off, key=lambda matrix: abs(off[matrix]))
        sectors = sum(c["counted"] for c in whole.values())
        furthest = f"{off[worst]:+.2%} `{worst}`" if abs(off[worst]) >= 5e-5 else "none"
        lines.append([f"`{name}`", f"`{kernel}`", f"{sum(k['agrees'] for k in here)} of {len(here)}",
                      f"{sectors:,}", furthest])
    return table(["method", "kernel", "agrees on", "sectors counted", "furthest off"], lines,
                 text=2)


def several_vectors_cpu(m: Measurements, machine: str) -> list[str]:
    """Products with several vectors on a CPU beside MKL's."""
    runs = m.runs(machine, "vectors")
    lines = []
    for order in ("row", "column"):
        for k in sorted({run["vectors"] for run in runs}):
            rows = timed((r for r in runs if r["order"] == order and r["vectors"] == k), 2)
            lines.append([f"{order}-major", str(k),
                          *(mean_cell(ratios(rows, method(name), method("mkl.csr")))
                            for name in ("plan", "packed.warp"))])
    return table(["vectors lie", "K", "plan / `mkl.csr`", "`packed.warp` / `mkl.csr`"], lines)


def unseen(m: Measurements, machine: str) -> list[str]:
    """The plan on matrices that nothing was fitted to, beside other libraries and plain CSR."""
    def best_csr(rows: list[Row]) -> Row | None:
        return summary.best_of([r for r in rows if r["method"].startswith("csr.")], peer=False)

    def best_rival(rows: list[Row]) -> Row | None:
        rivals = [r for r in (best_baseline(rows), best_csr(rows)) if r is not None]
        return min(rivals, key=lambda r: r["median_s"], default=None)

    lines = []
    for values in ("as they are", "distinct"):
        here = [run for run in m.runs(machine, "unseen") if run["values"] == values]
        for threads in (1, 2):
            rows = {name: [r for r in some if r["threads"] == threads]
                    for name, some in timed(here, threads).items()}
            setup = {}
            for name, some in rows.items():
                row = summary.named(some, "plan")
                setup[name] = row["setup_s"] / row["median_s"]
            lines.append([values, str(threads),
                          *(mean_cell(ratios(rows, method("plan"), pick))
                            for pick in (best_baseline, method("aocl.csr"), best_csr,
                                         best_rival)), spread_of(setup)])
    return table(["values", "threads", "against the best of Eigen, MKL and AOCL-Sparse",
                  "AOCL-Sparse alone", "the best of our CSR", "the best of all of them",
                  "setup in products of the plan"], lines, text=2)


CHOICES = {"twenty linear systems": "products-systems",
           "`unseen_matrices.py judge`": "products-judge",
           "`unseen_matrices.py again`": "products-again"}


def choices(m: Measurements, machine: str) -> list[str]:
    """What the plan chose, beside the fastest of all methods, of CSR and of the other libraries."""
    lines = []
    for label, suite in CHOICES.items():
        for threads in (1, 2):
            rows = m.rows(machine, suite, threads)
            lines.append([label, str(threads),
                          *(mean_cell(ratios(rows, method("plan"), theirs))
                            for theirs in (best_of_ours, method("csr.balanced"), best_baseline))])
    return table(["matrices", "threads", "the best of our methods", "`csr.balanced`",
                  "the best of Eigen and MKL"], lines, text=2)


def cpu_stripes(m: Measurements, machine: str) -> list[str]:
    """Products in stripes of columns beside those without, on a CPU."""
    lines = []
    for threads in (1, 2):
        rows = m.rows(machine, "products-stripes", threads)
        for name, here in sorted(rows.items()):
            whole, striped, planned = (summary.named(here, name) for name in
                                       ("packed.warp", "packed.stripes", "plan"))
            if striped is None:
                continue
            lines.append([f"`{name}`", str(threads), f"{1e3 * whole['median_s']:.2f}",
                          f"{1e3 * striped['median_s']:.2f}",
                          f"{whole['median_s'] / striped['median_s']:.2f}", f"`{planned['chosen']}`",
                          f"{best_baseline(here)['median_s'] / planned['median_s']:.2f}"])
    return table(["matrix", "threads", "`packed.warp`, ms", "`packed.stripes`, ms",
                  "times as fast", "the plan", "over the best of Eigen and MKL"], lines, text=2)


def expected(m: Measurements, machine: str) -> list[str]:
    """Plans for a number of products, from planning to the last of them, beside plain CSR."""
    runs = m.json(f"{machine}/expected.json")["runs"]

    def of(threads: int, products: int, value: Callable[[Row], float]) -> dict[str, float]:
        return {r["matrix"]: value(r) for r in runs
                if (r["threads"], r["products"]) == (threads, products)}

    lines = []
    for products, threads in sorted({(r["products"], r["threads"]) for r in runs}):
        lines.append([str(products), str(threads)])
        for how in ("kept", "given_away"):
            lines[-1].append(mean_cell(of(threads, products,
                                          lambda r: r["plain_s"] / r[how]["all_s"])))
            lines[-1].append(spread_of(of(threads, products, lambda r: (
                r[how]["setup_s"] / r["plain_s"] * r["products"]))))
    return table(["products", "threads", "A is kept", "setup in products of CSR",
                  "A is given away", "setup"], lines, text=2)


# ---- the plan on a GPU ---------------------------------------------------------------------------

AS_THEY_ARE = {"type": "double", "values": "as they are"}
PLAN_RUNS = (("double", "plan", AS_THEY_ARE),
             ("double, all values distinct", "plan", {"type": "double", "values": "distinct"}),
             ("float", "plan", {"type": "float"}),
             ("double, L2 flushed before every product", "cold", {}))


def setup_products(rows: Rows, name: str) -> dict[str, float]:
    """Time of preparing a method on the GPU, in products of cusparse.csr."""
    each = {}
    for matrix, here in rows.items():
        built, csr = summary.named(here, name), summary.named(here, "cusparse.csr")
        if built and csr:
            each[matrix] = built["preprocessing_s"] / csr["median_s"]
    return each


def plan(m: Measurements, machine: str) -> list[str]:
    """The plan against cuSPARSE and against our own methods, and what it takes to make."""
    lines = []
    for label, suite, settings in PLAN_RUNS:
        rows = m.rows(machine, suite, **settings)
        lines.append([label, *(mean_cell(ratios(rows, method("plan"), pick)) for pick in
                               (method("cusparse.csr"), best_baseline, best_of_ours)),
                      spread_of(setup_products(rows, "plan"))])
    return table(["", "against `cusparse.csr`", "against the best of cuSPARSE",
                  "against the best of ours",
                  "choosing and packing, in products of `cusparse.csr`"], lines)


def plan_sizes(m: Measurements, machine: str) -> list[str]:
    """The plan against cusparse.csr by the size of the CSR."""
    columns = [(label, m.chosen(machine, suite, **settings))
               for label, suite, settings in PLAN_RUNS]
    lines = []
    for label, least, most in (("in L2", 0, 1), ("up to four times L2", 1, 4),
                               ("beyond", 4, math.inf)):
        cells = []
        for _, all_runs in columns:
            here = [run for run in all_runs if least <
                    run["matrices"][0]["csr_bytes"] / cache_bytes(run) <= most]
            cells.append(mean_cell(ratios(timed(here, 0), method("plan"), method("cusparse.csr"))))
        lines.append([label, *("-" if c == "not measured" else c for c in cells)])
    return table(["plan / `cusparse.csr`", *(label for label, _ in columns)], lines)


def plan_misses(m: Measurements, machine: str) -> list[str]:
    """Where the plan takes longer than another method of ours, by more than 5%."""
    lines = []
    for label, suite, settings in PLAN_RUNS:
        rows = m.rows(machine, suite, **settings)
        each = ratios(rows, method("plan"), best_of_ours)
        for name in sorted((n for n in each if each[n] < 0.95), key=each.__getitem__):
            chosen, best = summary.named(rows[name], "plan"), best_of_ours(rows[name])
            lines.append([f"`{name}`", label, f"`{chosen['chosen']}`", us(chosen),
                          f"`{best['method']}`", us(best), f"{each[name]:.2f}"])
    return table(["matrix", "run", "chosen", "us", "best", "us", "speed of the plan"], lines,
                 text=3)


def transposed(m: Measurements, machine: str) -> list[str]:
    """Products with the transpose: speed, and what a stored transpose costs."""
    rows = m.rows(machine, "transposed")
    plain = m.rows(machine, "plan", **AS_THEY_ARE)
    own = {n: (p := summary.named(here, "plan"))["preprocessing_s"] / p["median_s"]
           for n, here in rows.items()}
    bytes_ = {n: summary.named(here, "plan")["matrix_bytes"]
              / summary.named(plain[n], "plan")["matrix_bytes"] for n, here in rows.items()}
    return table(["planned product with the transpose", ""], [
        ["speed against cuSPARSE's own transposed product",
         mean_cell(ratios(rows, method("plan"), method("cusparse.csr")))],
        ["bytes held, in those of a plan without the transpose", spread_of(bytes_)],
        ["setup, in transposed products of cuSPARSE", spread_of(setup_products(rows, "plan"))],
        ["setup, in transposed products of its own", spread_of(own)]])


# ---- linear programs -----------------------------------------------------------------------------

LP_KINDS = {"transport": "transport", "flows": "multi-commodity flow",
            "assignment": "generalised assignment", "two_stage": "two-stage stochastic programs",
            "covering": "set covering"}


def lp_kind(name: str) -> str:
    """The kind of a generated constraint matrix; all others are Netlib's."""
    return next((kind for start, kind in LP_KINDS.items() if name.startswith(start)), "Netlib")


def lp_class(m: Measurements, machine: str) -> list[str]:
    """The plan on constraint matrices and on their transposes, against cuSPARSE."""
    runs = m.runs(machine, "lp")
    sizes = {(of := run["matrices"][0])["name"]: of["nnz"] for run in runs}
    rows = timed(runs, 0)

    def better_op(here: list[Row]) -> Row | None:
        return summary.best_of([r for r in here if "spmvop" in r["method"]], peer=True)

    def line(kind: str, of: str, here: Rows) -> list[str]:
        entries = [sizes[name] / 1e6 for name in here]
        return [kind, of, str(len(here)), f"{min(entries):.2g} to {max(entries):.2g}",
                *(mean_cell(ratios(here, method("plan"), theirs), theirs is best_baseline)
                  for theirs in (method("cusparse.csr"), better_op, best_baseline)),
                spread_of(setup_products(here, "plan"))]

    lines = []
    for kind in [*LP_KINDS.values(), "Netlib"]:
        for of in ("A", "A^T"):
            here = {name: r for name, r in rows.items()
                    if lp_kind(name) == kind and name.endswith("_T") == (of == "A^T")}
            lines.append(line(kind, of, here))
    lines.append(line("all", "both", rows))
    return table(["constraint matrices", "of", "matrices", "million entries", "`cusparse.csr`",
                  "the better SpMVOp", "the best of cuSPARSE",
                  "setup in products of `cusparse.csr`"], lines, text=2)


def pairs(m: Measurements, machine: str) -> list[str]:
    """What setting A and A^T up takes, in products of both."""
    rows = m.json(f"{machine}/pairs.json")["pairs"]
    lines = []
    for label, here in [("below 10^6 entries", [r for r in rows if r["nnz"] < 1e6]),
                        ("from 10^6 entries on", [r for r in rows if r["nnz"] >= 1e6]),
                        ("all", rows)]:
        each = {r["name"]: r["setup_s"] / (r["product_s"] + r["transposed_s"]) for r in here}
        seconds = [1e6 * r["setup_s"] for r in here]
        lines.append([label, str(len(here)), spread_of(each),
                      f"{min(seconds):.0f} to {max(seconds):.0f}"])
    return table(["constraint matrices", "pairs", "setup in products of the pair, median", "us"], lines)


def singular_values(m: Measurements, *machines: str) -> list[str]:
    """The triplets of svds and the solutions of lsmr, beside the fastest of the others."""
    tasks = {"svds": "`svds`, k = 20", "lsmr": "`lsmr`"}
    names = {"cupy": "CuPy", "scipy": "SciPy", "scipy-arpack": "SciPy, ARPACK",
             "scipy-propack": "SciPy, PROPACK"}
    lines = []
    for task, label in tasks.items():
        for machine in machines:
            factors = {}
            rows = [r for r in m.json(f"{machine}/svds.json")["results"] if r["task"] == task]
            for row in rows:
                ours, theirs = row["methods"]["nonzero"], row["methods"][row["fastest"]]
                where = ours.get("gpu", "Xeon, 2 threads")
                name = f"{row['matrix']}, {row['rows']:,} x {row['cols']:,}"
                factors[name] = theirs["wall"] / ours["wall"]
                lines.append([label, where, name, f"{row['nnz'] / 1e6:.1f}",
                              f"{1e3 * ours['wall']:,.0f}", names[row["fastest"]],
                              f"{1e3 * theirs['wall']:,.0f}", f"{factors[name]:.2f}"])
            lines.append([label, where, "geometric mean, lowest", "", "", "", "",
                          f"{summary.geometric_mean(factors.values()):.2f}, {min(factors.values()):.2f}"])
    return table(["", "on", "matrix", "million entries", "ms", "fastest other", "ms",
                  "times as fast"], lines, text=3)


def cupdlpx(m: Measurements, machine: str) -> list[str]:
    """cuPDLPx with its own products and with nonzero's, end to end."""
    lines, over, whole = [], [], []
    for p in m.json(f"{machine}/cupdlpx.json")["problems"]:
        theirs, ours = p["cusparse"], p["nonzero"]
        over.append(theirs["us_per_iteration"] / ours["us_per_iteration"])
        solved = theirs["status"] == ours["status"] == "OPTIMAL"
        if solved:
            whole.append(theirs["solve_s"] / ours["solve_s"])
        lines.append([f"`{p['name']}`", p["kind"], f"{p['reduced_entries'] / 1e6:.2f}",
                      f"{ours['iterations']:,}", f"{theirs['us_per_iteration']:.1f}",
                      f"{ours['us_per_iteration']:.1f}", f"{over[-1]:.2f}",
                      *((f"{theirs['solve_s']:.2f}", f"{ours['solve_s']:.2f}", f"{whole[-1]:.2f}")
                        if solved else ("not in time", "not in time", "-"))])
    lines.append(["geometric mean", "", "", "", "", "", f"{summary.geometric_mean(over):.2f}",
                  "", "", f"{summary.geometric_mean(whole):.2f}"])
    return table(["LP", "kind", "million entries", "iterations", "an iteration, cuSPARSE [us]",
                  "nonzero [us]", "times as fast", "from the model to the answer, cuSPARSE [s]",
                  "nonzero [s]", "times as fast"], lines, text=2)


def giants(m: Measurements, machine: str) -> list[str]:
    """Matrices of a billion entries."""
    made_by = m.json("matrices.json")["generated"]
    lines = []
    for run in m.runs(machine, "giants"):
        a, rows = run["matrices"][0], run["rows"]
        plan_, packed = summary.named(rows, "plan"), summary.named(rows, "packed.warp")
        lines.append([made_by[a["name"]], f"{a['nnz']:,}", f"{a['csr_bytes'] / 1e9:.1f}",
                      f"`{plan_['chosen']}`", f"{plan_['median_s'] * 1e3:.2f}",
                      f"{plan_['matrix_bytes'] / 1e9:.2f}",
                      f"{summary.named(rows, 'csr.adaptive')['median_s'] * 1e3:.2f}",
                      f"{packed['preprocessing_s'] * 1e3:.0f}", run.get("commit", "-")])
    return table(["matrix", "entries", "CSR GB", "planned", "ms", "GB", "`csr.adaptive` ms",
                  "packing ms", "commit"], lines)


def large(m: Measurements, *machines: str) -> list[str]:
    """Generated matrices of some 10^8 entries, all distinct, beside cuSPARSE."""
    made_by = m.json("matrices.json")["generated"]
    lines = []
    for machine in machines:
        runs = m.runs(machine, "large")
        of = timed(runs, 0)
        name_ = f"NVIDIA {machine.upper()}"
        for run in runs:
            a = run["matrices"][0]
            rows = of[a["name"]]
            plan_, best = summary.named(rows, "plan"), best_baseline(rows)
            csr_s = summary.named(rows, "cusparse.csr")["median_s"]
            lines.append([name_, made_by[a["name"]], f"{a['nnz'] / 1e6:,.0f}",
                          f"`{plan_['chosen']}`", f"{plan_['median_s'] * 1e6:,.0f}",
                          f"{csr_s / plan_['median_s']:.2f}x",
                          f"{best['median_s'] / plan_['median_s']:.2f}x `{best['method']}`",
                          f"{plan_['median_s'] / floor_s(run, 0):.2f}"])
        both = (ratios(of, method("plan"), pick)
                for pick in (method("cusparse.csr"), best_baseline))
        lines.append([name_, "geometric mean", "", "", "",
                      *(f"{summary.geometric_mean(r.values()):.2f}x" for r in both), ""])
    return table(["machine", "matrix", "million entries", "planned", "us",
                  "against `cusparse.csr`", "against the best of cuSPARSE", "over the floor"],
                 lines, text=2)


def generated(m: Measurements, machine: str) -> list[str]:
    """The plan on kinds of matrices that the collections hold few of."""
    made_by = m.json("matrices.json")["generated"]
    each = [ratios(m.rows(machine, "generated", type=kind), method("plan"), pick)
            for kind in ("double", "float") for pick in (method("cusparse.csr"), best_baseline)]
    lines = [[text, *(f"{r[name]:.2f}" for r in each)]
             for name, text in made_by.items() if name in each[0]]
    lines.append(["geometric mean", *(f"{summary.geometric_mean(r.values()):.2f}" for r in each)])
    lines.append(["lowest", *(f"{min(r.values()):.2f}" for r in each)])
    return table(["matrix", "double: / `cusparse.csr`", "/ best of cuSPARSE",
                  "float: / `cusparse.csr`", "/ best of cuSPARSE"], lines)


# ---- every kernel of the GPU ---------------------------------------------------------------------


def kernel_matrices(m: Measurements, machine: str, kind: str) -> list[str]:
    """Per matrix the fastest of our kernels and of cuSPARSE's."""
    lines = []
    for name, here in m.rows(machine, "kernels", type=kind).items():
        ours, theirs = best_of_ours(here), best_baseline(here)
        csr = summary.named(here, "cusparse.csr")
        lines.append([f"`{name}`", f"`{ours['method']}`", us(ours),
                      f"{ours['share_of_read_bandwidth']:.0%}", f"`{theirs['method']}`", us(theirs),
                      us(csr), f"{summary.ratio(ours, theirs):.2f}",
                      f"{summary.ratio(ours, csr):.2f}"])
    return table(["matrix", "best of ours", "us", "of read", "best of cuSPARSE", "us",
                  "`cusparse.csr` us", "ours / best", "ours / csr"], lines)


KERNEL_MEANS: tuple[tuple[str, Pick, Pick], ...] = (
    ("best of ours / `cusparse.csr`", best_of_ours, method("cusparse.csr")),
    ("best of ours / best of cuSPARSE", best_of_ours, best_baseline),
    ("best classic kernel / `cusparse.csr`", best_classic, method("cusparse.csr")),
    ("best classic kernel / best of cuSPARSE", best_classic, best_baseline),
    ("best of cuSPARSE / `cusparse.csr`", best_baseline, method("cusparse.csr")),
    ("`csr.adaptive` / `cusparse.csr`", method("csr.adaptive"), method("cusparse.csr")),
    ("`csr.merge` / `cusparse.csr`", method("csr.merge"), method("cusparse.csr")),
    ("`csr.adaptive` / `cusparse.csr_deterministic`", method("csr.adaptive"),
     method("cusparse.csr_deterministic")),
    ("`csr.merge` / `cusparse.csr_deterministic`", method("csr.merge"),
     method("cusparse.csr_deterministic")),
    ("`hll.column` / `cusparse.sell`", method("hll.column"), method("cusparse.sell")),
    ("`icrs.row` / `cusparse.sell`", method("icrs.row"), method("cusparse.sell")))


def kernel_means(m: Measurements, machine: str) -> list[str]:
    """Geometric means over all matrices where both run."""
    kinds = [m.rows(machine, "kernels", type=kind) for kind in ("double", "float")]
    return table(["", "double", "float"],
                 [[label, *(mean_cell(ratios(rows, ours, theirs)) for rows in kinds)]
                  for label, ours, theirs in KERNEL_MEANS])


def kernels(m: Measurements, machine: str) -> list[str]:
    """Every kernel against cusparse.csr and against our others."""
    here = m.chosen(machine, "kernels", type="double")
    return summary.kernels_table(timed(here, 0), summary.load_declined(here))


def kernels_compared(m: Measurements, machine: str) -> list[str]:
    """The comparisons that lectures make."""
    return summary.compared_table(m.rows(machine, "kernels", type="double"))


# ---- the CPU -------------------------------------------------------------------------------------

CPU_RUNS = (("Xeon, 2 threads", "xeon-16", 2), ("Xeon, 1 thread", "xeon-16", 1),
            ("EPYC, 2 threads", "epyc-2", 2), ("EPYC, 1 thread", "epyc-2", 1))
CPU_MEANS: tuple[tuple[str, Pick, Pick], ...] = (
    ("plan / `eigen.csr`", method("plan"), method("eigen.csr")),
    ("plan / `mkl.csr`", method("plan"), method("mkl.csr")),
    ("plan / best of Eigen and MKL", method("plan"), best_baseline),
    ("plan / best of Eigen, MKL and our CSR", method("plan"), best_rival),
    ("plan / best of our methods", method("plan"), best_of_ours),
    ("best of our methods / best of Eigen and MKL", best_of_ours, best_baseline),
    ("`csr.balanced` / best of Eigen and MKL", method("csr.balanced"), best_baseline),
    ("`csr.serial` / `eigen.csr`", method("csr.serial"), method("eigen.csr")))


def cpu(m: Measurements) -> list[str]:
    """Means over all matrices, by machine and number of threads."""
    of = [m.rows(machine, "plan", threads) for _, machine, threads in CPU_RUNS]
    one = [threads == 1 for _, _, threads in CPU_RUNS]
    lines = []
    for label, ours, theirs in CPU_MEANS:
        serial = label.startswith("`csr.serial`")
        cells = [mean_cell(ratios(rows, ours, theirs)) if single or not serial else "-"
                 for rows, single in zip(of, one, strict=True)]
        lines.append([label, *("-" if c == "not measured" else c for c in cells)])
    return table(["", *(label for label, _, _ in CPU_RUNS)], lines)


def cpu_matrices(m: Measurements) -> list[str]:
    """The plan beside the best of Eigen, MKL and our CSR on every matrix, with 2 threads."""
    places = [m.rows(machine, "plan", 2) for machine in ("xeon-16", "epyc-2")]
    sizes = {run["matrices"][0]["name"]: run["matrices"][0]["csr_bytes"]
             for run in m.runs("epyc-2", "plan")}
    lines = []
    for name in sorted(sizes, key=lambda n: -sizes[n]):
        cells = [f"`{name}`", f"{sizes[name] / 1e6:.1f}"]
        for rows in places:
            ours, rival = summary.named(rows[name], "plan"), best_rival(rows[name])
            cells += [f"`{ours['chosen']}`", us(ours), f"`{rival['method']}`", us(rival),
                      f"{summary.ratio(ours, rival):.2f}"]
        lines.append(cells)
    return table(["matrix", "CSR MB", "Xeon: plan", "us", "best rival", "us", "speed-up",
                  "EPYC: plan", "us", "best rival", "us", "speed-up"], lines)


def beyond_cache(m: Measurements) -> list[str]:
    """Matrices beyond the last-level cache, with 16 threads."""
    made_by = m.json("matrices.json")["generated"]
    rows = m.rows("xeon-16", "beyond-cache", 16)
    sizes = {run["matrices"][0]["name"]: run["matrices"][0]["csr_bytes"]
             for run in m.runs("xeon-16", "beyond-cache")}
    lines = []
    for name in sorted(rows, key=sizes.__getitem__):
        ours, rival = summary.named(rows[name], "plan"), best_rival(rows[name])
        lines.append([made_by.get(name, f"`{name}`"), f"{sizes[name] / 1e6:.0f}",
                      f"`{ours['chosen']}`", us(ours), f"`{rival['method']}`", us(rival),
                      f"{summary.ratio(ours, rival):.2f}"])
    each = ratios(rows, method("plan"), best_rival)
    lines.append(["geometric mean", "", "", "", "", "",
                  f"{summary.geometric_mean(each.values()):.2f}"])
    return table(["matrix", "CSR MB", "plan", "us", "best of Eigen, MKL and our CSR", "us",
                  "speed-up"], lines)


def read_share(m: Measurements) -> list[str]:
    """Products whose own bytes exceed the CPU's last level: their share of the read bandwidth."""
    lines = []
    for label, machine, threads in CPU_RUNS:
        here = m.runs(machine, "plan")
        shares = {}
        for name, rows in timed(here, threads).items():
            best = best_of_ours(rows)
            if best["matrix_bytes"] + best["vector_bytes"] > cache_bytes(here[0]):
                shares[name] = best["share_of_read_bandwidth"]
                lines.append([label, f"`{name}`", f"`{best['method']}`",
                              f"{best['matrix_bytes'] / 1e6:.0f}", f"{shares[name]:.0%}"])
    return table(["machine", "matrix", "best of ours", "MB", "of the read bandwidth"], lines,
                 text=3)


def io(m: Measurements, machine: str) -> list[str]:
    """Reading Matrix Market files beside SciPy."""
    def span(values: list[float]) -> str:
        return f"{summary.geometric_mean(values):.2f}, {min(values):.2f} to {max(values):.2f}"

    results = m.json(f"{machine}/io.json")["results"]
    lines = []
    for threads in sorted({r["threads"] for r in results}):
        here = [r for r in results if r["threads"] == threads]
        lines.append([str(threads), str(len(here)),
                      *(span([r[key] / r["nonzero_s"] for r in here])
                        for key in ("scipy_coo_s", "scipy_csr_s")),
                      *(span([r[key] for r in here])
                        for key in ("nonzero_peak_over_csr", "scipy_peak_over_csr"))])
    return table(["threads", "files", "speed-up over SciPy into COO", "over SciPy into CSR",
                  "our peak memory, in CSRs", "SciPy's"], lines)


def multigrid(m: Measurements, machine: str) -> list[str]:
    """Conjugate gradients with multigrid beside the same without and with Jacobi."""
    lines = []
    for name, p in m.json(f"{machine}/amg/cycles.json")["problems"].items():
        setup, ours = p["setup_s"], p["amg_cg"]
        cells = [f"`{Path(name).stem}`", f"{p['rows']:,}", f"{setup * 1e3:.1f}",
                 f"{ours['solve_s'] * 1e3:.1f}"]
        for other in (p["cg"], p["jacobi_cg"]):
            ends = "" if other["converged"] else ", not converged"
            cells += [f"{other['solve_s'] * 1e3:.1f}{ends}",
                      f"{other['solve_s'] / (setup + ours['solve_s']):.2f}"]
        lines.append(cells)
    return table(["problem", "rows", "setup ms", "solve ms", "plain CG ms", "plain CG / both",
                  "Jacobi-CG ms", "Jacobi-CG / both"], lines)


# ---- what stands behind all of it ----------------------------------------------------------------


def oracle(m: Measurements) -> list[str]:
    """How far results are from the oracle's, in bounds."""
    lines = []
    for machine, suite in m.suites():
        rows = [r for run in m.runs(machine, suite) for r in run["rows"] if "median_s" in r]
        worst = max(rows, key=lambda r: r["error_bounds"])
        wrong = sum(not r["validated"] for r in rows)
        lines.append([f"`{machine}/{suite}.json`", str(len(rows)), str(wrong),
                      f"{worst['error_bounds']:.2f} `{worst['method']}` on `{worst['matrix']}`"])
    return table(["suite", "results", "beyond the bound", "largest error, in bounds"], lines)


def version(v: Any) -> str:
    """A CUDA version: 13000 as 13.0, a text as it is."""
    return f"{v // 1000}.{v % 1000 // 10}" if isinstance(v, int) else str(v)


def refuses(split: Row, by_every_take: bool) -> bool:
    """Whether a choice gives way to plain CSR: now, or as it was when every take had to say so."""
    choice, plain = split["choice_s"], split["plain_s"]
    if by_every_take:
        return max(plain) < 0.95 * min(choice)
    return min(plain) < 0.95 * min(choice) and max(plain) < max(choice)


def acceptance(m: Measurements, machine: str) -> list[str]:
    """What is kept beside the better of a choice and plain CSR, by split and rule."""
    lines = []
    for products, by_every_take in itertools.product((2, 3, 4), (True, False)):
        cells = [f"{products} and {8 - products}", "every" if by_every_take else "the fastest"]
        for runs in m.json(f"{machine}/acceptance.json")["sets"].values():
            kept, wrong = [], 0
            for run in runs:
                end = run["in_the_end"]
                for split in run["splits"]:
                    if split["products_of_choice"] == products:
                        refused = refuses(split, by_every_take)
                        took = end["plain_s" if refused else "choice_s"]
                        kept.append(min(end.values()) / took)
                        wrong += refused and end["plain_s"] > 1.05 * end["choice_s"]
            cells.append(f"{summary.geometric_mean(kept):.3f}, lowest {min(kept):.2f}; "
                         f"{wrong} of {len(kept)}")
        lines.append(cells)
    return table(["products of the choice and of CSR", "takes that decide",
                  *m.json(f"{machine}/acceptance.json")["sets"]], lines, text=2)


def compiling(m: Measurements, machine: str) -> list[str]:
    """CPU seconds of compiling the demo, by folder, and as a multiple of Eigen's object."""
    builds = m.json(f"{machine}/compile.json")["builds"]
    names = sorted(builds[0]["folders"], key=lambda f: -builds[0]["folders"][f]["cpu_s"])
    shown = [n for n in names if builds[0]["folders"][n]["cpu_s"] >= 10]
    rest = [n for n in names if n not in shown]

    def seconds(of: Row, folders: list[str]) -> str:
        return f"{sum(of['folders'][f]['cpu_s'] for f in folders):.0f}"

    lines = [[f"`{n}`", *(seconds(b, [n]) for b in builds)] for n in shown]
    lines += [["the other folders", *(seconds(b, rest) for b in builds)],
              ["all", *(f"{b['total_s']:.0f}" for b in builds)],
              ["Eigen's object, mean", *(f"{statistics.fmean(b['yardsticks_s']):.1f}"
                                         for b in builds)],
              ["lowest and highest of it",
               *(f"{min(b['yardsticks_s']):.1f}, {max(b['yardsticks_s']):.1f}" for b in builds)],
              ["all over it", *(f"{b['ratio']:.1f}" for b in builds)]]
    return table(["CPU seconds", *(b["flags"] for b in builds)], lines)


def quick_solvers(m: Measurements, machine: str) -> list[str]:
    """nz.solve of linear systems by the demo's build, beside one at -O2."""
    # Two threads that others disturb solve szdMat in 0.2 or 4 s, whatever the flags.
    each = {s["name"]: s["quick_s"] / s["o2_s"]
            for s in m.json(f"{machine}/quick.json")["systems"] if s["name"] != "szdMat"}
    slowest = sorted(each, key=lambda n: -each[n])[:3]
    return table(["systems", "time over that at -O2, mean", "highest"],
                 [[str(len(each)), f"{summary.geometric_mean(each.values()):.2f}",
                   ", ".join(f"{each[n]:.2f} `{n}`" for n in slowest)]])


def runs(m: Measurements) -> list[str]:
    """Where, when and at which commit every suite was measured, and against what."""
    lines = []
    for machine, suite in m.suites():
        here = m.runs(machine, suite)
        gpus = {f"{g['name']}, CUDA driver {version(g['driver_version'])}"
                for g in (run.get("gpu") for run in here) if g}
        commits = {(run.get("commit") or "not known") + (" (dirty)" if run.get("dirty") else "")
                   for run in here}
        dates = sorted({run["date"][:10] for run in here})
        peers = sorted({r["method"] for run in here for r in run["rows"] if r["peer"]})
        libraries = sorted({f"{b['name']} {b['version']}" for run in here
                            for b in run.get("baselines", ())})
        lines.append([f"`{machine}/{suite}.json`",
                      "; ".join(sorted(gpus or {run["machine"]["cpu"] for run in here})),
                      ", ".join(sorted(commits)), ", ".join(dates), str(len(here)),
                      ", ".join(libraries + [f"`{p}`" for p in peers]) or "none"])
    return table(["suite", "on", "commit", "date", "runs", "baselines"], lines, text=6)


def python(m: Measurements) -> list[str]:
    """The Python package beside others, from every machine's python.json."""
    lines = []
    for path in sorted(m.folder.glob("*/python.json")):
        r = json.loads(path.read_text())
        on = f"{r['machine']}, {r['threads']} threads" if "calls" in r else r["machine"]

        def add(what: str, result: str, on: str = on) -> None:
            lines.append([what, on, result])

        def mean_of(theirs: str, ours: str = "nonzero", r: Any = r) -> str:
            return mean_cell({p["matrix"]: p[f"{theirs}_s"] / p[f"{ours}_s"]
                              for p in r["products"] if f"{theirs}_s" in p})

        if calls := r.get("calls"):
            for name, what in (("matmul", "`op @ x`"), ("apply_out", "`op.apply(x, out=y)`")):
                more = (calls[f"{name}_s"] - calls["library_s"]) * 1e6
                add(f"a call {what} with 10 rows, more than the library's own",
                    f"{more:.1f} us (of {calls[f'{name}_s'] * 1e6:.1f} us)")
        for theirs, ours, what in (
                ("scipy", "nonzero", "SciPy's `A @ x`"), ("cupy", "nonzero", "CuPy's `A @ x`"),
                ("torch", "nonzero" if "calls" in r else "nonzero_torch", "`torch.sparse` CSR")):
            if any(f"{theirs}_s" in p for p in r["products"]):
                add(f"`op @ x` against {what}", mean_of(theirs, ours))
        if poisson := r.get("poisson"):
            theirs, what = (("pyamg_s", "PyAMG's smoothed aggregation with CG, setup and solve")
                            if "pyamg_s" in poisson else
                            ("cupy_cg_s", "CuPy's `cg` without a preconditioner, the solve alone"))
            add(f"`nz.solve` of Poisson {poisson['n']}^3 to 1e-8 against {what}",
                f"{poisson[theirs] / poisson['nonzero_s']:.2f}x "
                f"({poisson['nonzero_s'] * 1e3:,.0f} ms)")
        add("`import nonzero`", f"{r['import_s'] * 1e3:.0f} ms")
    return table(["measured", "on", "result"], lines, text=3)


def ranks(m: Measurements, machine: str) -> list[str]:
    """Products and CG over ranks of one thread beside one process of as many threads."""
    r = m.json(f"{machine}/ranks.json")
    lines = []
    for p in r["products"]:
        cells = [f"`{p['matrix']}`"]
        for what in ("product", "cg"):
            if f"{what}_ranks_s" not in p:
                cells += ["-"] * 3
                continue
            ours, theirs = p[f"{what}_ranks_s"], p[f"{what}_threads_s"]
            cells += [f"{ours * 1e3:.2f}", f"{theirs * 1e3:.2f}", f"{theirs / ours:.2f}"]
        lines.append(cells)
    n = r["ranks"]
    return table(["matrix", f"product, {n} ranks [ms]", f"{n} threads [ms]", "speed of the ranks",
                  f"iteration of CG, {n} ranks [ms]", f"{n} threads [ms]", "speed of the ranks"],
                 lines)


def petsc(m: Measurements, machine: str) -> list[str]:
    """PETSc's own product beside that of libnz_petsc.so."""
    lines = []
    for p in m.json(f"{machine}/ranks.json")["petsc"]:
        name = f"{p['matrix']} {p['n']}^3{', distinct' if p['distinct'] else ''}"
        cells = [name, str(p["ranks"])]
        for kind in ("", "_transposed"):
            aij, nz = p[f"aij{kind}_s"], p[f"nz{kind}_s"]
            cells += [f"{aij * 1e3:.2f}", f"{nz * 1e3:.2f}", f"{aij / nz:.2f}"]
        gain = p["aij_s"] - p["nz_s"]
        lines.append([*cells, f"{p['first_product_s'] * 1e3:.0f}",
                      f"{p['first_product_s'] / gain:.0f}" if gain > 0 else "-"])
    return table(["matrix", "ranks", "AIJ [ms]", "nz [ms]", "ratio", "transposed: AIJ [ms]",
                  "nz [ms]", "ratio", "first product [ms]", "pays after, products"], lines)


def networkx(m: Measurements, machine: str) -> list[str]:
    """Functions of NetworkX's by its own code and by ours, with and without converting the graph."""
    lines = []
    for r in m.json(f"{machine}/networkx.json")["results"]:
        times = [f"{r[key + '_s']:.3g} s, {r['networkx_s'] / r[key + '_s']:.3g}x"
                 for key in ("converted", "cached")]
        lines.append([f"`{r['function']}`", "directed" if r["directed"] else "undirected",
                      f"{r['networkx_s']:.3g} s", *times])
    return table(["function", "graph", "NetworkX", "ours, converted", "ours, cached"], lines, 2)


def networkx_tests(m: Measurements, machine: str) -> list[str]:
    """NetworkX's whole suite of tests by our backend."""
    lines = [[r["networkx"], "yes" if r["fallback"] else "no",
              *(str(r[key]) for key in ("passed", "failed", "skipped", "xfailed")), r["why"]]
             for r in m.json(f"{machine}/networkx_tests.json")["runs"]]
    return table(["NetworkX", "fallback", "passed", "failed", "skipped", "expected to fail",
                  "failed why"], lines, 2)


def amgx_clients(m: Measurements, machine: str) -> list[str]:
    """What programs written for AmgX do over our library."""
    told = m.json(f"{machine}/amgx_clients.json")
    lines = [[f"`{c['client']}`, {c['version']}", f"{c['tests']} tests",
              f"{c['passed']} passed, {c['failed']} failed, {c['skipped']} skipped: {c['why']}"]
             for c in told["clients"]]
    cubes = told["cubes"]
    times = (f"{cubes[f'gpu_{what}_s']:.1f} s, by its own path {cubes[f'cpu_{what}_s']:.1f} s"
             for what in ("forward", "backward"))
    lines.append([f"`{cubes['client']}`, {cubes['version']}",
                  f"`cubes.py`, {cubes['unknowns']:,} unknowns",
                  f"setup and solve of its two systems {cubes['gpu_systems_s']:.2f} s, by its own "
                  f"path {cubes['cpu_systems_s']:.1f} s; forward {', backward '.join(times)} "
                  f"({cubes['cpu']})"])
    return table(["client", "what ran", "outcome"], lines, 3)


def system_peers(m: Measurements, machine: str) -> list[str]:
    """The collection of systems: nz.solve's defaults beside the fastest peer that solves each."""
    systems = m.json(f"{machine}/systems/peers.json")["systems"]
    peers = {s["name"]: {name: p["seconds"] for name, p in s["peers"].items() if p["solved"]}
             for s in systems}
    ours = {name: of.pop("nonzero") for name, of in peers.items() if "nonzero" in of}
    lines = []
    for kind in [*sorted({s["group"] for s in systems}), "all"]:
        def is_of(s: Row, kind: str = kind) -> bool:
            return kind in ("all", s["group"])

        every = [s for s in systems if is_of(s)]
        # Where no peer solves a system nonzero is the fastest.
        times = {s["name"]: ours[s["name"]] / min(peers[s["name"]].values(), default=math.inf)
                 for s in every if s["name"] in ours}
        both = {name: ratio for name, ratio in times.items() if ratio > 0}
        worst = max(times, key=times.__getitem__)
        by = min(peers[worst], key=peers[worst].__getitem__, default="none")
        lines.append([kind, str(len(every)), str(len(times)),
                      str(sum(peers[s["name"]] != {} for s in every)),
                      *(f"{sum(t <= most for t in times.values()) / len(every):.0%}"
                        for most in (1, 2, 10)),
                      f"{1 / summary.geometric_mean(both.values()):.2f}x",
                      f"{1 / times[worst]:.2g}x, `{worst}` by {by}"])
    return table(["kind", "systems", "solved", "solved by some peer", "as fast as the fastest peer",
                  "within 2x", "within 10x", "the fastest peer's time over ours, mean", "lowest"],
                 lines)


def ranks_solvers(m: Measurements, machine: str) -> list[str]:
    """Solvers over ranks beside PETSc's."""
    lines = [[p["solver"], f"{p['plan_s'] * 1e3:.0f}" if "plan_s" in p else "-",
              f"{p['setup_s'] * 1e3:.0f}",
              f"{p['solve_s'] * 1e3:.0f}", str(p["iterations"]),
              f"{p['solve_s'] / p['iterations'] * 1e3:.2f}", f"{p['product_s'] * 1e3:.2f}"]
             for p in m.json(f"{machine}/ranks.json")["solvers"]]
    return table(["solver", "plan [ms]", "setup [ms]", "solve [ms]", "iterations",
                  "an iteration [ms]", "a product [ms]"], lines)


def expected_over_gpus(rows: list[Row], launch_s: float) -> dict[str, float]:
    """Seconds of every product over all GPUs by the model, whose messages are those of two GPUs."""
    latency, rate = dist_model.messages_of_a_host()
    together = {p["matrix"]: p["over_ranks"][-1] for p in rows}
    return {p["matrix"]: dist_model.expected_product_s(
                p["over_ranks"][0]["median_s"], (r := together[p["matrix"]])["entries"],
                r["halo_entries"], latency, max(r["halo_bytes"]) / rate, launch_s)
            for p in rows}


def products_over_gpus(m: Measurements, machine: str) -> Row:
    """What gpus_bench.py measured of products; the largest graph was a run of its own."""
    told = m.json(f"{machine}/gpus.json")
    if (m.folder / machine / "rmat.json").exists():
        told = {**told, "products": told["products"] + m.json(f"{machine}/rmat.json")["products"]}
    return told


def gpus_products(m: Measurements, machine: str) -> list[str]:
    """Products over several GPUs beside one of them, and beside the model."""
    told = products_over_gpus(m, machine)
    expected = expected_over_gpus(told["products"], told["gpu"]["launch_s"])
    lines = []
    for p in told["products"]:
        one, together = p["over_ranks"][0], p["over_ranks"][-1]
        seconds = together["median_s"]
        lines.append([f"`{p['matrix']}`", f"{one['nnz'] / 1e6:,.0f}",
                      f"{max(together['halo_bytes']) / 1e6:.2f}",
                      *(f"{s * 1e6:,.0f}" for s in (one["median_s"], seconds)),
                      f"{one['median_s'] / seconds:.2f}",
                      *(f"{s * 1e6:,.0f}" for s in (together["without_messages_s"],
                                                    together["messages_s"],
                                                    expected[p["matrix"]])),
                      f"{seconds / expected[p['matrix']]:.2f}"])
    n = told["gpus"]
    return table(["matrix", "million entries", "halo of a GPU [MB]", "1 GPU [us]", f"{n} GPUs [us]",
                  "speed-up", "without messages [us]", "messages alone [us]", "model [us]",
                  "measured over model"], lines)


def gpus_messages(m: Measurements, machine: str) -> list[str]:
    """Latency and rate of messages between GPUs, fitted to those of the products."""
    rows = [p["over_ranks"][-1] for p in m.json(f"{machine}/gpus.json")["products"]]
    latency, rate = dist_model.fitted_messages(
        [(max(r["halo_bytes"]), r["messages_s"]) for r in rows])
    return table(["messages of a product", "fitted"], [
        ["packing, start, arrival, whatever their size", f"{latency * 1e6:.1f} us"],
        ["in each direction", f"{rate / 1e9:.0f} GB/s"]])


def whole_s(side: Row) -> float:
    """Seconds from the matrix in the CPUs' memory to the answer."""
    return float(side["plan_s"] + side["preconditioner_s"] + side["solve_s"])


def over_gpus(m: Measurements, machine: str) -> list[tuple[str, int, Row, Row]]:
    """Problem, number of GPUs, one GPU's solve and all GPUs' of every solve of that machine.

    Of several runs by one GPU the fastest stands for all.
    """
    runs = []
    for name, part, preconditioner in (("gpus", "cg", "jacobi"), ("amg", "amg", "amg"),
                                       ("amg-of-2", "amg", "amg")):
        if (m.folder / machine / f"{name}.json").exists():
            told = m.json(f"{machine}/{name}.json")
            runs += [(f"`{p['problem']}`, {preconditioner}", told["gpus"], p["one"], p["all"])
                     for p in told[part]]
    one = {name: min((o for other, _, o, _ in runs if other == name), key=whole_s)
           for name, _, _, _ in runs}
    return sorted(((name, gpus, one[name], side) for name, gpus, _, side in runs),
                  key=lambda run: (list(one).index(run[0]), run[1]))


def gpus_solvers(m: Measurements, machine: str) -> list[str]:
    """CG over several GPUs beside one of them."""
    lines = []
    for name, gpus, one, side in over_gpus(m, machine):
        cells = [f"{side[key] * 1e3:,.0f}" for key in ("plan_s", "preconditioner_s", "solve_s")]
        alone = [f"{one[key] * 1e3:,.0f}" for key in ("plan_s", "preconditioner_s", "solve_s")]
        lines.append([name, str(gpus), *(" / ".join(pair) for pair in
                                         zip(alone, cells, strict=True)),
                      str(side["iterations"]),
                      f"{one['iteration_s'] * 1e6:,.0f} / {side['iteration_s'] * 1e6:,.0f}",
                      f"{one['iteration_s'] / side['iteration_s']:.2f}",
                      f"{whole_s(one) / whole_s(side):.2f}"])
    return table(["problem, preconditioner", "GPUs", "plan, one / all [ms]", "setup [ms]",
                  "solve [ms]", "iterations", "iteration [us]", "speed-up of an iteration",
                  "of the whole"], lines)


def gpus_large(m: Measurements, machine: str) -> list[str]:
    """A system that one GPU does not hold."""
    told = m.json(f"{machine}/large.json")["large"][0]
    used = ", ".join(f"{b / 1e9:.1f}" for b in told["gpu_used_bytes"])
    checked = [["error of a row of a product, 1,000 rows a GPU", f"{told['row_error_eps']:.1f} eps "
                "of its terms' magnitudes"],
               ["two products", "the same bits" if told["same_bits"] else "not the same bits"],
               ] if "same_bits" in told else []
    return table(["measured", "result"], [
        ["unknowns, entries", f"{told['rows']:,}, {told['entries']:,}"],
        ["in CSR", f"{told['csr_bytes'] / 1e9:.1f} GB"],
        ["in use on the GPUs, of "
         f"{told['gpu_memory_bytes'] / 1e9:.1f} GB each", f"{used} GB"],
        ["making the rows, planning and packing",
         f"{told['generate_s']:.0f} s, {told['setup_s']:.0f} s"],
        ["iterations", f"{told['iterations']} of {told['iteration_s'] * 1e3:.1f} ms"],
        ["residual over \\|b\\|", f"{told['relative_residual']:.2g}"],
        ["error over \\|x\\|", f"{told['relative_error']:.2g}"], *checked])


def gains_of_gpus(told: Row, part: str) -> list[float]:
    """Speed-ups of all GPUs over one: products of meshes, or iterations of CG."""
    if part == "cg":
        return [p["one"]["iteration_s"] / p["all"]["iteration_s"] for p in told["cg"]]
    return [p["over_ranks"][0]["median_s"] / p["over_ranks"][-1]["median_s"]
            for p in told["products"] if p["matrix"].startswith(("laplace", "elasticity"))]


def ranks_aims(m: Measurements, gpus: str, four: str, cpus: str) -> list[str]:
    """Aims over ranks, beside what is reached."""
    told, here = m.json(f"{gpus}/gpus.json"), m.json(f"{cpus}/ranks.json")
    lines: list[list[str]] = []

    def add(what: str, aim: float, each: Iterable[float]) -> None:
        values = list(each)
        mean, least = summary.geometric_mean(values), min(values)
        lines.append([what, f"{aim:g}", f"{mean:.2f}, lowest {least:.2f}",
                      "yes" if round(least, 2) >= aim else
                      "in the mean" if round(mean, 2) >= aim else "no"])

    gain = {p["matrix"]: p["over_ranks"][0]["median_s"] / p["over_ranks"][-1]["median_s"]
            for p in told["products"]}
    meshes = [name for name in gain if name.startswith(("laplace", "elasticity"))]
    add("2 GPUs: product, stencils and elements, 10^8 entries and more", 1.85,
        (gain[name] for name in meshes))
    add("2 GPUs: product of graphs", 1, (g for name, g in gain.items() if name not in meshes))
    add("2 GPUs: iteration of CG, 10^7 unknowns and more", 1.8,
        (p["one"]["iteration_s"] / p["all"]["iteration_s"] for p in told["cg"]))
    for what, aim, part in (("product, stencils and elements", 3.5, "products"),
                            ("iteration of CG, 4 x 10^7 unknowns", 3.3, "cg")):
        add(f"4 GPUs: {what}", aim, gains_of_gpus(m.json(f"{four}/gpus.json"), part))
    add("4 GPUs: product of graphs, over fewer GPUs", 1,
        (min(r["median_s"] for r in p["over_ranks"][:-1]) / p["over_ranks"][-1]["median_s"]
         for p in products_over_gpus(m, four)["products"] if p["matrix"] not in meshes))
    aims = {(2, "256"): 1.4, (2, "450"): 1.7, (4, "256"): 2, (4, "450"): 2}
    for name, count, one, side in over_gpus(m, four):
        if name.endswith(", amg"):
            add(f"{count} GPUs: CG with multigrid, {name[1:-6]}, plan, setup and solve",
                aims[count, name[11:14]], [whole_s(one) / whole_s(side)])
    for machine in (gpus, four):
        over = products_over_gpus(m, machine)
        expected = expected_over_gpus(over["products"], over["gpu"]["launch_s"])
        off = [p["over_ranks"][-1]["median_s"] / expected[p["matrix"]] - 1
               for p in over["products"]]
        near = sum(abs(o) <= 0.15 for o in off)
        lines.append([f"{over['gpus']} GPUs: products that the model tells", "within 15%",
                      f"{near} of {len(off)}", "yes" if near == len(off) else "in part"])
    for what, key in (("product", "product"), ("iteration of CG", "cg")):
        add(f"CPU: {what}, 2 ranks over 2 threads", 0.9,
            (p[f"{key}_threads_s"] / p[f"{key}_ranks_s"] for p in here["products"]
             if f"{key}_ranks_s" in p))
    add("CPU, 2 ranks: product over PETSc's AIJ", 1.3,
        (p["aij_s"] / p["nz_s"] for p in here["petsc"] if p["ranks"] == here["ranks"]))
    seconds = {p["solver"]: p.get("plan_s", 0) + p["setup_s"] + p["solve_s"]
               for p in here["solvers"]}
    add("CPU, 2 ranks: CG with Jacobi over PETSc's", 1.2,
        [seconds["PETSc, cg + jacobi"] / seconds["nonzero, cg + jacobi"]])
    add("CPU, 2 ranks: CG with multigrid over PETSc's with BoomerAMG", 1.5,
        (s / seconds["nonzero, cg + amg"] for name, s in seconds.items() if "Boomer" in name))
    return table(["measured, times as fast", "aim", "reached", "as aimed"], lines)


def many_gpus(_m: Measurements) -> list[str]:
    """A model's table, of no measurement of several GPUs."""
    return dist_model.gpu_table()


def many_gpus_amg(_m: Measurements) -> list[str]:
    """The same of CG with multigrid."""
    return dist_model.amg_table()


def many_gpus_levels(_m: Measurements, gpus: str) -> list[str]:
    """The same of the levels of multigrid, on so many GPUs."""
    return dist_model.level_table(int(gpus))


GENERATORS: dict[str, Callable[..., list[str]]] = {
    f.__name__.replace("_", "-"): f for f in (
        matrices, composition, classes, class_sizes, floors, floats, aims, launches, stripes, storage,
        explained, several_vectors, several_vectors_unseen, several_vectors_each,
        several_vectors_cpu, unseen, choices, cpu_stripes,
        expected, plan, plan_sizes, plan_misses, transposed,
        giants, large, generated, kernel_matrices, kernel_means, kernels, kernels_compared, cpu,
        cpu_matrices, read_share, beyond_cache, io, multigrid, oracle, runs, python, ranks, petsc,
        networkx, networkx_tests, acceptance, compiling, quick_solvers,
        amgx_clients, system_peers, lp_class, pairs, singular_values, cupdlpx,
        ranks_solvers, gpus_products, gpus_messages, gpus_solvers, gpus_large,
        ranks_aims, many_gpus,
        many_gpus_amg, many_gpus_levels)}


# ---- charts --------------------------------------------------------------------------------------


def classes_chart(m: Measurements) -> str:
    """The table of classes, drawn."""
    lines: list[charts.Bars] = []
    machine = ""
    for name, label, others, default, best in measured_classes(m):
        if name != machine:
            lines.append(charts.Bars(f"{name}, against {others}", []))
            machine = name
        means = [summary.geometric_mean(each.values()) for each in (default, best)]
        lines.append(charts.Bars(label, [("b", means[0]), ("a", means[1])]))
    return charts.bar_chart("Products: times as fast as other libraries, geometric mean",
                            [("a", "than the fastest of their methods"),
                             ("b", "than their default")], lines, "x")


def matrices_chart(m: Measurements) -> str:
    """Every matrix as it is on an H200, in one or the other of the first two classes."""
    machine, _, threads, suites = PLACES[0]
    rows: Rows = {}
    for kind in ("in", "beyond"):
        rows.update(timed(runs_of_class(m, machine, suites, threads, kind), threads))
    best = ratios(rows, method("plan"), best_baseline)
    default = ratios(rows, method("plan"), method("cusparse.csr"))
    lines = [charts.Bars(name, [("b", default[name]), ("a", best[name])])
             for name in sorted(best, key=best.__getitem__, reverse=True)]
    return charts.bar_chart("NVIDIA H200: the planned product on each matrix, times as fast",
                            [("a", "than the fastest of cuSPARSE's methods"),
                             ("b", "than its default")], lines, "x")


def cg_chart(m: Measurements) -> str:
    """An iteration of conjugate gradients on an H200, in microseconds over the least possible."""
    lines = []
    for row in m.json("h200/solve.json")["results"]:
        name = row["matrix"].rsplit("/", 1)[-1].removesuffix(".npz")
        lines.append(charts.Bars(f"{name}, {row['rows']:,} rows",
                                 [("b", row["peer_iteration_us"] / row["floor_us"]),
                                  ("a", row["iteration_us"] / row["floor_us"])]))
    return charts.bar_chart("NVIDIA H200: an iteration of CG, in times of the least that its bytes take",
                            [("a", "nonzero"), ("b", "cuSPARSE and cuBLAS, NVIDIA's example")],
                            lines, "")


# By the path of the file. A root without the measurements has no charts.
CHARTS = {"docs/images/classes.svg": classes_chart, "docs/images/matrices.svg": matrices_chart,
          "docs/images/cg.svg": cg_chart}


# ---- the documents -------------------------------------------------------------------------------


def renewed(text: str, m: Measurements) -> str:
    """A document with every generated table as it is now."""
    out: list[str] = []
    lines = iter(text.splitlines())
    replacing = False
    for line in lines:
        if replacing and line.startswith("|"):
            continue
        replacing = False
        out.append(line)
        comment = COMMENT.fullmatch(line)
        if comment:
            name, *args = comment[1].split(" ")
            if name not in GENERATORS:
                sys.exit(f"figures.py: no generator '{name}'; those are {', '.join(GENERATORS)}")
            out += GENERATORS[name](m, *args)
            replacing = True
    return "\n".join(out) + "\n"


def tables_by_hand(text: str) -> list[str]:
    """The first lines of tables with figures that no generator made."""
    found = []
    before, inside = "", False
    for line in text.splitlines():
        starts = line.startswith("|") and not inside
        inside = line.startswith("|")
        if starts:
            head, made = line, COMMENT.fullmatch(before) is not None
        if inside and not made and re.search(r"\d", line) and head not in found:
            found.append(head)
        before = line
    return found


def main() -> None:
    """Check the documents, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true")
    action.add_argument("--write", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of README.md")
    args = parser.parse_args()
    m = Measurements(args.root / "bench" / "results")
    wrong = False
    for path in [args.root / "README.md", *sorted((args.root / "docs").rglob("*.md"))]:
        name, text = str(path.relative_to(args.root)), path.read_text()
        now = renewed(text, m)
        if args.write and now != text:
            path.write_text(now)
            print(f"figures.py: wrote {name}")
        if args.check and now != text:
            wrong = True
            print("\n".join(difflib.unified_diff(text.splitlines(), now.splitlines(), name,
                                                 "as measured", lineterm="", n=0)))
        for head in tables_by_hand(text) if args.check and name in ALL_GENERATED else ():
            wrong = True
            print(f"{name}: no generator made the table {head}")
    for name, chart in CHARTS.items():
        path = args.root / name
        if not path.exists() and args.root != ROOT:
            continue
        now = chart(m)
        if args.write:
            path.write_text(now)
        elif now != path.read_text():
            wrong = True
            print(f"{name}: differs from what was measured")
    if wrong:
        sys.exit("figures.py: the documents differ from the measurements; see --write")


if __name__ == "__main__":
    main()

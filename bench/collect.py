#!/usr/bin/env python3
"""Merge what `nz bench --json` and `nz pagerank --json` wrote into one file a suite.

    bench/collect.py SUITE.json FILE.json ... [--commit HASH]
    bench/collect.py bench/results/h200/plan.json /tmp/plan/*.json

A suite file that exists is extended; a run of the same matrix under the same settings takes the
place of the older one. ``--commit`` names the commit of files that do not carry one.

What stays of a run of `nz bench`: per matrix and method the median and the smallest time, bytes,
error and setup, which method the plan chose, which methods declined; with date, commit, driver,
machine and options. What goes: the time of every block, the reasons for declining, and what
follows from the rest (GFLOP/s, GB/s). Of a run of `nz pagerank` stay its single values.

A suite file holds one line a run. ``settings`` lists what many runs have in common, ``columns``
names the entries of a row, ``baselines`` the methods of other libraries.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

Run = dict[str, Any]

COLUMNS = ("method", "threads", "median_s", "min_s", "matrix_bytes", "error_bounds", "setup_s",
           "preprocessing_s")
MEASURED = COLUMNS[2:]
DIGITS = 7
# Fields of a run that differ from matrix to matrix; all others are its settings.
OF_ONE_RUN = ("date", "bandwidth", "matrices", "rows", "plan", "interrupted")
# Settings that say what was measured, not what was asked for.
PROVENANCE = ("commit", "dirty", "compiler", "flags", "nz")


def rounded(x: Any) -> Any:
    """A number with `DIGITS` significant digits, whole where it is whole; anything else as is."""
    if not isinstance(x, float):
        return x
    short = float(f"{x:.{DIGITS}g}")
    return int(short) if short.is_integer() else short


def read_runs(path: Path | str) -> list[Run]:
    """The runs of a suite file, or the one run of a file that `nz --json` wrote.

    Parameters
    ----------
    path
        A JSON file of either kind.

    Returns
    -------
    list of dict
        Runs in the form of `nz bench --json`: ``matrices`` and ``rows`` beside the settings. Rows
        of a suite have GFLOP/s and the share of the read bandwidth computed from what it keeps.
    """
    data = json.loads(Path(path).read_text())
    if "columns" not in data:
        return [data]
    return [expanded(run, data) for run in data["runs"]]


def expanded(run: Run, suite: dict[str, Any]) -> Run:
    """A run of a suite file in the form of `nz bench --json`."""
    setting = suite["settings"][run["setting"]]
    matrix = run["matrix"]
    read_gbps = {int(threads): gbps for threads, gbps in run["read_gbps"].items()}

    def on(threads: int) -> dict[str, Any]:
        return {"matrix": matrix["name"], "backend": "cpu" if threads else "gpu",
                "threads": threads}

    rows = []
    for cells in run["rows"]:
        row = {k: v for k, v in zip(suite["columns"], cells, strict=True) if v is not None}
        row |= on(row["threads"])
        row["peer"] = row["method"] in suite["baselines"]
        row["vector_bytes"] = run["vector_bytes"]
        row["gflops"] = run["flops"] / row["median_s"] * 1e-9
        moved = row["matrix_bytes"] + run["vector_bytes"]
        row["share_of_read_bandwidth"] = (
            moved / row["median_s"] * 1e-9 / read_gbps[row["threads"]])
        row["validated"] = row["method"] not in run.get("not_validated", ())
        if row["method"] == "plan":
            row["chosen"] = run["chosen"][str(row["threads"])]
        rows.append(row)
    for threads, methods in run["declined"].items():
        rows += [on(int(threads)) | {"method": method, "peer": method in suite["baselines"],
                                     "declined": "declined"} for method in methods]
    if "clocks" in run:
        setting = setting | {"gpu": setting["gpu"] | {"clocks": run["clocks"]}}
    return setting | {"date": run["date"], "matrices": [matrix], "rows": rows,
                      "bandwidth": [{"threads": t, "read_gbps": g} for t, g in read_gbps.items()]}


def compact(run: Run) -> list[tuple[dict[str, Any], Run]]:
    """The settings of a run and, for each of its matrices, the line that a suite keeps."""
    setting = {k: v for k, v in run.items() if k not in OF_ONE_RUN}
    clocks = {}
    if "clocks" in run.get("gpu", {}):
        clocks = {"clocks": run["gpu"]["clocks"]}
        setting["gpu"] = {k: v for k, v in run["gpu"].items() if k != "clocks"}
    lines = []
    for matrix in run["matrices"]:
        rows = [r for r in run["rows"] if r["matrix"] == matrix["name"]]
        timed = [r for r in rows if "median_s" in r]
        if not timed:
            sys.exit(f"collect.py: no method was timed on {matrix['name']}")
        declined: dict[str, list[str]] = {}
        for r in rows:
            if "declined" in r and "median_s" not in r:
                declined.setdefault(str(r["threads"]), []).append(r["method"])
        lines.append((setting, {
            "matrix": matrix,
            "date": run["date"],
            **clocks,
            "flops": round(timed[0]["gflops"] * timed[0]["median_s"] * 1e9),
            "vector_bytes": rounded(timed[0]["vector_bytes"]),
            "read_gbps": {str(b["threads"]): rounded(b["read_gbps"]) for b in run["bandwidth"]},
            "chosen": {str(r["threads"]): r["chosen"] for r in timed if r["method"] == "plan"},
            "declined": declined,
            "not_validated": [r["method"] for r in timed if not r["validated"]],
            "rows": [[r["method"], r["threads"]] + [rounded(r.get(k)) for k in MEASURED]
                     for r in timed],
        }))
    return lines


def is_suite_of_products(runs: list[Run]) -> bool:
    """Whether these are runs of `nz bench`. Exits where they are of several commands."""
    kinds = {"rows" in run for run in runs}
    if len(kinds) != 1:
        sys.exit("collect.py: runs of `nz bench` and of other commands do not fit one suite")
    return kinds.pop()


def merge_products(suite: dict[str, Any], new: list[Run]) -> dict[str, Any]:
    """The suite with new runs of `nz bench` in it."""
    kept: dict[str, tuple[dict[str, Any], Run]] = {}
    baselines = set(suite.get("baselines", ()))
    for line in suite.get("runs", ()):
        setting = suite["settings"][line["setting"]]
        kept[key_of(setting, line)] = (setting, line)
    for run in new:
        baselines |= {r["method"] for r in run["rows"] if r["peer"]}
        for setting, line in compact(run):
            kept[key_of(setting, line)] = (setting, line)
    settings: list[dict[str, Any]] = []
    lines = []
    for setting, line in kept.values():
        if setting not in settings:
            settings.append(setting)
        lines.append({**line, "setting": settings.index(setting)})
    return {"columns": list(COLUMNS), "baselines": sorted(baselines), "settings": settings,
            "runs": lines}


def key_of(setting: dict[str, Any], line: Run) -> str:
    """Facts that two runs have in common of which the later one counts."""
    asked = {k: v for k, v in setting.items()
             if k not in PROVENANCE and not isinstance(v, (dict, list))}
    machine = setting["gpu"]["name"] if "gpu" in setting else setting["machine"]["cpu"]
    size = [line["matrix"][k] for k in ("name", "rows", "nnz")]
    return json.dumps([machine, size, sorted(line["read_gbps"]), asked], sort_keys=True)


def merge_others(suite: dict[str, Any], new: list[Run]) -> dict[str, Any]:
    """The suite with new runs of another command in it, of which single values are kept."""
    runs = suite.get("runs", [])
    for run in new:
        runs.append({k: rounded(v) for k, v in run.items() if not isinstance(v, list)})
    return {"runs": runs}


def written(suite: dict[str, Any]) -> str:
    """The text of a suite file, one line a setting and a run."""
    def lines(items: list[Any]) -> str:
        return ",\n".join("  " + json.dumps(item, separators=(",", ":")) for item in items)

    head = "".join(f' "{k}": {json.dumps(suite[k])},\n' for k in ("columns", "baselines")
                   if k in suite)
    if "settings" in suite:
        head += f' "settings": [\n{lines(suite["settings"])}\n ],\n'
    return "{\n" + head + f' "runs": [\n{lines(suite["runs"])}\n ]\n' + "}\n"


def main() -> None:
    """Read the arguments, merge, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--commit")
    args = parser.parse_args()
    new = [json.loads(path.read_text()) for path in args.files]
    if args.commit:
        new = [run | {"commit": run.get("commit") or args.commit} for run in new]
    suite = json.loads(args.suite.read_text()) if args.suite.exists() else {}
    merge = merge_products if is_suite_of_products(new) else merge_others
    suite = merge(suite, new)
    args.suite.parent.mkdir(parents=True, exist_ok=True)
    args.suite.write_text(written(suite))
    print(f"{args.suite}: {len(suite['runs'])} runs")


if __name__ == "__main__":
    main()

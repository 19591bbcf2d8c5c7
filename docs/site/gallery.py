"""The reports of the gallery, drawn by nz report from the committed measurements.

A measurement that bench/collect.py put into bench/results/ takes the place of the one before when
the site is made anew. What a suite has not, such as row lengths or solvers, its page leaves out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import collect  # noqa: E402


@dataclass(frozen=True)
class Report:
    """A page of the gallery: its file's stem, and the runs of a suite that it draws."""

    name: str
    title: str
    look_at: str
    suite: str
    matrices: tuple[str, ...]
    type: str = "double"


REPORTS = (
    Report(
        "h200-few-values",
        "A KKT system of seven different values, NVIDIA H200",
        "`packed.warp` stores 0.6 bytes an entry where CSR takes 12, and is 2.5 times as fast as "
        "the next kernel",
        "h200/kernels",
        ("nlpkkt80",),
    ),
    Report(
        "h200-graphs",
        "Graphs, NVIDIA H200",
        "rows of very different length: where a thread or a warp has a whole row, all wait for it",
        "h200/kernels",
        ("cnr-2000", "NotreDame_www", "dblp-2010", "CA-HepPh"),
    ),
    Report(
        "h200-elements",
        "Finite elements in single precision, NVIDIA H200",
        "blocks, unequal rows and empty rows beside one another",
        "h200/kernels",
        ("fem_dg2d_p2dc", "fem_elast3d_p2", "fem_region3d_emptyrows", "fem_thermal3d_p1"),
        "float",
    ),
    Report(
        "h100-beside-cusparse",
        "The plan beside cuSPARSE, NVIDIA H100",
        "matrices as they are, with every algorithm of cuSPARSE, SpMVOp among them",
        "h100/classes",
        ("cage12", "ecology1", "lap3d_40", "memplus", "xenon1"),
    ),
    Report(
        "epyc-stencils",
        "Stencils and circuits, AMD EPYC with one and two threads",
        "all methods of the CPU, beside Eigen and MKL: what a second thread brings, and to whom",
        "epyc-2/plan",
        ("lap3d_40", "ecology1", "memplus", "xenon1"),
    ),
    Report(
        "xeon-beyond-the-cache",
        "Beyond the cache, Xeon with 16 threads",
        "a graph on which nothing beats a balanced CSR, beside three on which packing does",
        "xeon-16/beyond-cache",
        ("nlpkkt80", "laplace27", "elasticity3d", "rmat"),
    ),
)


def runs_of(report: Report) -> list[dict[str, Any]]:
    """Return its runs, a matrix each: as they are, single products, in the stream."""
    runs = collect.read_runs(ROOT / "bench" / "results" / f"{report.suite}.json")
    found = {}
    for run in runs:
        name = run["matrices"][0]["name"]
        plain = run["values"] == "as they are" and run["type"] == report.type
        if name in report.matrices and plain and run.get("launches", "stream") == "stream":
            found.setdefault(name, run)
    return [found[name] for name in report.matrices]


def merged(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one JSON of nz bench that has the matrices of all runs."""
    return {
        **runs[0],
        "date": min(run["date"] for run in runs),
        "matrices": [matrix for run in runs for matrix in run["matrices"]],
        "rows": [row for run in runs for row in run["rows"]],
    }


def draw(report: Report, nz: str, to: Path) -> None:
    """Write the page of a report."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / f"{report.name}.json"
        data.write_text(json.dumps(merged(runs_of(report))))
        subprocess.run([nz, "report", "--from", data, "-o", to], check=True, capture_output=True)


def listed() -> str:
    """Return the gallery's list, with what to look at and where it was measured."""
    lines = []
    for report in REPORTS:
        run = runs_of(report)[0]
        commit = run.get("commit", "not known")
        lines.append(
            f'- <a href="gallery/{report.name}.html">{report.title}</a>: {report.look_at}. '
            f"`bench/results/{report.suite}.json`, {run['date'][:10]}, commit {commit}."
        )
    return "\n".join(lines)

#!/usr/bin/env python3
"""Hold `nz explain` against a GPU's own counters, read by Nsight Compute.

    bench/explain_check.py NZ [MATRIX ...] [--methods ell.row,csr.vector] [--type double]
                           [--keep FOLDER] [--counters FILE] [--json FILE [--by-width]]
                           [--markdown FILE] [--ncu ncu]
    bench/explain_check.py build/dev/nz --counters bench/results/h200/explain.json

Without matrices it takes ten: those of matrices/ and four that it generates. For each, ncu runs
once, over one product with every kernel that has a trace (`nz explain MATRIX --once`). Compared
with what `nz explain --json` says of each kernel are

- the sectors of loads of 4, 8, ... bytes a lane, from the counters of each instruction
  (``memory_l2_theoretical_sectors_global``, which no cache changes);
- the sectors and requests of all loads from global memory, from the counters of the L1 unit.

The trace may be off by 3% of the sectors of columns, values and the rest of the matrix, and by 10%
of those of x. An instruction does not say which array it reads, so loads of one width are compared
together, and the sum of what each array may be off is allowed. Requests and the lanes that take
part in them are shown and not judged: a compiler that unrolls a loop splits steps whose lanes
take different numbers of trips. Loads by texture are left out on both sides.

The JSON has every load of every kernel, with its line in the source where the build has -lineinfo;
with --by-width the loads of each width together. --counters takes the counters of such a JSON, and
--keep keeps ncu's reports: where they are there already ncu does not run. So a trace can be mended
and held against the same counters on a machine without a GPU.

Exit code 0 where all agree, 1 where one does not, 2 where something could not be run. Unless there
are counters, it needs a GPU whose counters the user may read, ncu, and its module ``ncu_report``
(extras/python of Nsight Compute; on PYTHONPATH where it is not in its usual place).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import ncu_counters
from ncu_counters import Counted, Failure

ROOT = Path(__file__).resolve().parent.parent
MATRIX_TOLERANCE, X_TOLERANCE = 0.03, 0.10
# Beside those of matrices/: one so large that loads bypass L1, dense blocks, rows of very
# different lengths, and columns in no order.
GENERATED = {
    "banded": ["banded", "--n", "1000000", "--half-width", "3"],
    "elasticity3d": ["elasticity3d", "--nx", "12", "--ny", "12", "--nz", "12"],
    "powerlaw": ["powerlaw", "--n", "50000"],
    "random": ["random", "--rows", "50000", "--cols", "50000", "--per-row", "8"],
}


@dataclass
class Comparison:
    """Sectors of the loads of one width, or of all (bytes 0), of one kernel."""

    bytes: int
    predicted: int
    counted: int
    allowed: float  # sectors that the two may differ by

    @property
    def agrees(self) -> bool:
        """Whether the difference is allowed."""
        return abs(self.counted - self.predicted) <= self.allowed

    @property
    def off(self) -> float:
        """How much more was counted, as a part of what was predicted."""
        return (self.counted - self.predicted) / max(self.predicted, 1)

    def __str__(self) -> str:
        """Say what differs by how much."""
        return (f"{'all loads' if self.bytes == 0 else f'loads of {self.bytes} bytes'}: "
                f"{self.predicted} sectors predicted, {self.counted} counted, {self.off:+.1%}")


@dataclass
class Kernel:
    """One kernel of one method on one matrix: the trace and the counters."""

    matrix: str
    method: str
    kernel: str
    predicted: dict[str, Any]  # an entry of `kernels` of `nz explain --json`
    counted: Counted
    comparisons: list[Comparison]

    @property
    def agrees(self) -> bool:
        """Whether loads of every width do."""
        return all(c.agrees for c in self.comparisons)

    @property
    def whole(self) -> Comparison:
        """Of all loads together."""
        return next(c for c in self.comparisons if c.bytes == 0)

    def to_json(self, by_width: bool) -> dict[str, Any]:
        """Everything, so that a trace can be mended by it; or the sums for each width of loads."""
        loads = self.counted.by_width if by_width else self.counted.loads.values()
        told = {"matrix": self.matrix, "method": self.method, "kernel": self.kernel,
                "agrees": self.agrees,
                "counted": {"requests": self.counted.requests, "sectors": self.counted.sectors,
                            "lanes": self.counted.lanes, "loads": [asdict(load) for load in loads]},
                "comparisons": [asdict(c) | {"agrees": c.agrees} for c in self.comparisons]}
        return told if by_width else told | {"predicted": self.predicted}


@dataclass
class Checked:
    """All that was compared, and what could not be."""

    kernels: list[Kernel] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)  # what `nz explain --once` says of it


def allowed_difference(kernel: dict[str, Any], value_bytes: int, load_bytes: int) -> float:
    """How far the sectors of loads of one width may be off.

    Parameters
    ----------
    kernel
        An entry of ``kernels`` of `nz explain --json`.
    value_bytes
        Of an element of x.
    load_bytes
        The width; 0 for all loads together.
    """
    x = kernel["loads_of"]["x"]["sectors"] if load_bytes in (0, value_bytes) else 0
    widths = kernel.get("loads_by_bytes", {})
    all_sectors = (kernel["loads"]["sectors"] if load_bytes == 0
                   else widths.get(str(load_bytes), {"sectors": 0})["sectors"])
    x = min(x, all_sectors)
    return MATRIX_TOLERANCE * (all_sectors - x) + X_TOLERANCE * x


def compare(kernel: dict[str, Any], value: str, seen: Counted) -> list[Comparison]:
    """All widths of one kernel, then all loads together.

    Parameters
    ----------
    kernel
        An entry of ``kernels`` of `nz explain --json`.
    value
        The type of the values, "float" or "double".
    seen
        Its counters.
    """
    value_bytes = {"float": 4, "double": 8}[value]
    by_bytes = seen.sectors_by_bytes
    widths = {int(b): c["sectors"] for b, c in kernel.get("loads_by_bytes", {}).items()}
    rows = [(b, widths.get(b, 0), by_bytes.get(b, 0)) for b in sorted({*widths, *by_bytes})]
    rows.append((0, sum(widths.values()), seen.sectors))
    return [Comparison(b, predicted, counted, allowed_difference(kernel, value_bytes, b))
            for b, predicted, counted in rows]


def check_method(matrix: str, value: str, predicted: dict[str, Any], launches: list[Any],
                 to: Checked) -> None:
    """Compare the kernels of one product.

    Parameters
    ----------
    matrix, value
        Its name and the type of its values.
    predicted
        An entry of ``methods`` of `nz explain --json`.
    launches
        Actions of ``ncu_report``.
    to
        Gets them, and a failure for each kernel that works by the trace and was not seen.
    """
    method = predicted["method"]
    counted = ncu_counters.count(launches)
    for kernel in predicted["kernels"]:
        name = kernel["kernel"]
        if kernel["working_warps"] == 0:
            continue
        if name not in counted:
            to.failures.append(f"{method} on {matrix}: ncu saw no kernel {name}, but "
                               f"{', '.join(sorted(counted)) or 'none'}")
            continue
        to.kernels.append(Kernel(matrix, method, name, kernel, counted[name],
                                 compare(kernel, value, counted[name])))


def run(command: list[str], **environment: str) -> str:
    """Output of the command; Failure with its last line on stderr where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=os.environ | environment)
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}") from e
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no reason given"]
        raise Failure(f"{' '.join(command)}: {said[-1]}")
    return done.stdout


def multiply_under_ncu(o: argparse.Namespace, matrix: Path, report: Path, once: Path) -> None:
    """One product with each kernel, its counters into `report`, the methods in order into `once`.

    The clocks and the caches are left as they are: no count depends on them.
    """
    if report.exists() and once.exists():
        return
    said = run([o.ncu, "--force-overwrite", "-o", str(report), "--metrics",
                ",".join(ncu_counters.METRICS), "--cache-control", "none",
                "--clock-control", "none", "--kernel-name-base", "function",
                "--kernel-name", "regex:_kernel$",
                o.nz, "explain", str(matrix), "--once", "--type", o.type, "--json", str(once)])
    if not report.exists():
        raise Failure(f"ncu wrote no report: {(said.strip() or 'no reason given').splitlines()[-1]}")


def check_counted(matrix: str, value: str, methods: dict[str, Any], kernels: list[dict[str, Any]],
                  to: Checked) -> None:
    """Compare with the counters of an earlier run.

    Parameters
    ----------
    matrix, value
        Its name and the type of its values.
    methods
        Entries of ``methods`` of `nz explain --json`, by their names.
    kernels
        Entries of ``kernels`` of a JSON of this script, of this matrix.
    to
        Gets them, and a failure for each kernel of which there is no trace.
    """
    for before in kernels:
        method, name = before["method"], before["kernel"]
        traced = {k["kernel"]: k for k in methods.get(method, {"kernels": []})["kernels"]}
        if name not in traced:
            to.failures.append(f"{method} on {matrix}: no trace of {name}")
            continue
        counted = ncu_counters.counted_before(before["counted"])
        to.kernels.append(Kernel(matrix, method, name, traced[name], counted,
                                 compare(traced[name], value, counted)))


def check_matrix(o: argparse.Namespace, matrix: Path, folder: Path, to: Checked) -> None:
    """Compare all kernels on one matrix; Failure where it could not be read or multiplied."""
    name = matrix.name.split(".")[0]
    # Without a GPU in sight `nz explain` only counts, and times nothing.
    predicted = json.loads(run([o.nz, "explain", str(matrix), "--type", o.type, "--json=-"],
                               CUDA_VISIBLE_DEVICES=""))
    methods = {m["method"]: m for m in predicted["methods"] if "declined" not in m}
    if not_there := set(o.methods) - set(methods):
        to.failures.append(f"{', '.join(sorted(not_there))} on {name}: declined, or no trace")
    if o.counters:
        before = json.loads(o.counters.read_text())
        to.machine = before["machine"]
        if (counted := to.machine.get("value", o.type)) != o.type:
            raise Failure(f"{o.counters}: counted with {counted}, not {o.type}")
        kernels = [k for k in before["kernels"] if k["matrix"] == name]
        if not kernels:
            raise Failure(f"{o.counters}: nothing was counted on {name}")
        return check_counted(name, o.type, methods, kernels, to)
    file, once = folder / f"{name}.{o.type}.ncu-rep", folder / f"{name}.{o.type}.once.json"
    multiply_under_ncu(o, matrix, file, once)
    to.machine = json.loads(once.read_text())
    multiplied = to.machine.pop("multiplied")
    report = ncu_counters.load_report(o.ncu, file)
    products = ncu_counters.products_of(report)
    if len(products) != len(multiplied):
        raise Failure(f"{name}: nz multiplied {len(multiplied)} times, ncu saw {len(products)}")
    for method, launches in zip(multiplied, products):
        if method not in methods or (o.methods and method not in o.methods):
            continue
        try:
            check_method(name, o.type, methods[method], launches, to)
        except Failure as e:
            to.failures.append(f"{method} on {name}: {e}")


def print_kernel(k: Kernel) -> None:
    """A line for each width, and one of what is not judged."""
    for c in k.comparisons:
        print(f"{k.matrix:<20} {k.method:<18} {k.kernel:<24} "
              f"{'all' if c.bytes == 0 else c.bytes:>4} {c.predicted:>12} {c.counted:>12} "
              f"{c.off:>+7.1%} {'' if c.agrees else 'DIFFERS'}")
    loads = k.predicted["loads"]
    print(f"  {k.kernel}: {loads['requests']} requests of {loads['lanes']} lanes predicted, "
          f"{k.counted.requests} of {k.counted.lanes} counted")


def table_of(checked: Checked) -> str:
    """A line a kernel, in Markdown: on how many matrices it agrees, and where it is furthest off.

    Parameters
    ----------
    checked
        Everything that was compared.
    """
    of_kernel: dict[tuple[str, str], list[Kernel]] = {}
    for k in checked.kernels:
        of_kernel.setdefault((k.method, k.kernel), []).append(k)
    lines = ["| method | kernel | agrees | sectors of all loads, furthest off | on | "
             "requests there |", "| --- | --- | ---: | ---: | --- | ---: |"]
    for (method, kernel), all_of in sorted(of_kernel.items()):
        worst = max(all_of, key=lambda k: abs(k.whole.off))
        predicted = max(worst.predicted["loads"]["requests"], 1)
        lines.append(f"| {method} | {kernel} | {sum(k.agrees for k in all_of)} of {len(all_of)} | "
                     f"{worst.whole.off:+.1%} | {worst.matrix} | "
                     f"{worst.counted.requests / predicted - 1:+.1%} |")
    return "\n".join(lines) + "\n"


def write(o: argparse.Namespace, checked: Checked) -> None:
    """Write the files that were asked for, anew after every matrix."""
    if o.json:
        kernels = ",\n".join(json.dumps(k.to_json(o.by_width)) for k in checked.kernels)
        o.json.write_text(f'{{"machine": {json.dumps(checked.machine)},\n'
                          f'"failures": {json.dumps(checked.failures)},\n'
                          f'"kernels": [\n{kernels}\n]}}\n')
    if o.markdown:
        o.markdown.write_text(table_of(checked))


def print_end(checked: Checked) -> None:
    """Print the differences, the largest first, and what could not be run."""
    differing = sorted((k for k in checked.kernels if not k.agrees),
                       key=lambda k: -max(abs(c.off) for c in k.comparisons if not c.agrees))
    print(f"\n{len(checked.kernels) - len(differing)} of {len(checked.kernels)} kernels agree")
    for k in differing:
        said = "; ".join(str(c) for c in k.comparisons if not c.agrees)
        print(f"{k.method} ({k.kernel}) on {k.matrix}: {said}")
    for failure in checked.failures:
        print(f"explain_check: {failure}", file=sys.stderr)


def ten_matrices(nz: str, folder: Path) -> list[Path]:
    """Return those of matrices/, and those of GENERATED, made in `folder` where not there."""
    made = []
    for name, arguments in GENERATED.items():
        made.append(folder / f"{name}.npz")
        if not made[-1].exists():
            run([nz, "generate", *arguments, "-o", str(made[-1])])
    return [*sorted((ROOT / "matrices").glob("*.mtx.gz")), *made]


def check(o: argparse.Namespace, folder: Path) -> int:
    """Compare on all matrices; the exit code."""
    checked = Checked()
    print(f"{'matrix':<20} {'method':<18} {'kernel':<24} {'of':>4} {'predicted':>12} "
          f"{'counted':>12} {'off':>7}  sectors, by bytes of a lane's load")
    for matrix in o.matrices or ten_matrices(o.nz, folder):
        before = len(checked.kernels)
        try:
            check_matrix(o, matrix, folder, checked)
        except Failure as e:
            checked.failures.append(str(e))
        for kernel in checked.kernels[before:]:
            print_kernel(kernel)
        sys.stdout.flush()
        write(o, checked)
    print_end(checked)
    return 2 if checked.failures else 0 if all(k.agrees for k in checked.kernels) else 1


def main() -> int:
    """Run the command."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("nz", help="the command nz, of a build with CUDA")
    arguments.add_argument("matrices", nargs="*", type=Path, help="(default: ten)")
    arguments.add_argument("--methods", default=[], type=lambda text: text.split(","),
                           help="separated by commas (default: all)")
    arguments.add_argument("--type", default="double", choices=["float", "double"])
    arguments.add_argument("--ncu", default="ncu")
    arguments.add_argument("--keep", type=Path, help="folder for ncu's reports")
    arguments.add_argument("--counters", type=Path,
                           help="a JSON of an earlier run, whose counters are taken")
    arguments.add_argument("--by-width", action="store_true",
                           help="the JSON has the loads of each width together")
    arguments.add_argument("--json", type=Path, help="file for all that was compared")
    arguments.add_argument("--markdown", type=Path, help="file for a table, a line a kernel")
    o = arguments.parse_args()
    names = [m.name.split(".")[0] for m in o.matrices]
    if len(set(names)) < len(names):
        arguments.error("two matrices have one name")
    with tempfile.TemporaryDirectory() as folder:
        kept = o.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        try:
            return check(o, kept)
        except Failure as e:
            print(f"explain_check: {e}", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())

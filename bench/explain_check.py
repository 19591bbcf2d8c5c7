#!/usr/bin/env python3
"""Hold `nz explain` against a GPU's own counters, read by Nsight Compute.

    bench/explain_check.py NZ MATRIX ... [--methods ell.row,csr.vector] [--type double]
                           [--ncu ncu] [--json FILE]

Runs one product, `nz spmv MATRIX --device gpu --method METHOD -o -`, under ncu for every matrix and
method, and compares what the kernels' loads asked for with what `nz explain --json` says:

- the sectors of loads of 4, 8, ... bytes a lane, from the counters of each instruction
  (``memory_l2_theoretical_sectors_global``, which no cache changes);
- the sectors and requests of all loads from global memory, from the counters of the L1 unit.

The trace may be off by 3% of the sectors of columns, values and the rest of the matrix, and by 10%
of those of x. An instruction does not say which array it reads, so loads of one width are compared
together, and the sum of what each array may be off is allowed. Requests and the lanes that take
part in them are printed and not judged: a compiler that unrolls a loop splits steps whose lanes
take different numbers of trips. Loads by texture are left out on both sides.

Exit code 0 where all agree, 1 where one does not, 2 where something could not be run. Needs a GPU
whose counters the user may read, ncu, and its module ``ncu_report`` (extras/python of Nsight
Compute) on PYTHONPATH. This script has not been run on a GPU yet.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MATRIX_TOLERANCE, X_TOLERANCE = 0.03, 0.10
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SECTORS_OF_INSTRUCTION = "memory_l2_theoretical_sectors_global"
LANES_OF_INSTRUCTION = "thread_inst_executed_true"
# LDG.E.64.CONSTANT, LDG.E.U8, ...: bytes a lane; without a size 4.
LOAD = re.compile(r"\bLDG\.E((?:\.\w+)*)")
SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


@dataclass
class Counted:
    """What the loads of one kernel, over all its launches, asked for."""

    requests: int = 0
    sectors: int = 0
    lanes: int = 0  # threads that were not masked, over all requests
    sectors_by_bytes: dict[int, int] | None = None


@dataclass
class Comparison:
    """Sectors of the loads of one width, or of all (bytes 0), of one kernel."""

    matrix: str
    method: str
    kernel: str
    bytes: int
    predicted: int
    measured: int
    allowed: float  # sectors that the two may differ by

    @property
    def agrees(self) -> bool:
        """Whether the difference is allowed."""
        return abs(self.measured - self.predicted) <= self.allowed


class Failure(Exception):
    """Something could not be run or read; the text is one sentence."""


def bytes_of_load(sass: str) -> int | None:
    """Bytes a lane of a load from global memory; None for any other instruction.

    Parameters
    ----------
    sass
        An instruction as a disassembler prints it.
    """
    found = LOAD.search(sass)
    if found is None:
        return None
    for part in found.group(1).split("."):
        if part in SIZES:
            return SIZES[part]
    return 4


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


def compare(matrix: str, predicted: dict[str, Any],
            measured: dict[str, Counted]) -> list[Comparison]:
    """All widths of all kernels of one method.

    Parameters
    ----------
    matrix
        Its name.
    predicted
        What `nz explain --method --json` printed.
    measured
        By kernel.

    Raises
    ------
    Failure
        Where a kernel that works by the trace was not seen.
    """
    value_bytes = {"float": 4, "double": 8}[predicted["value"]]
    all_of: list[Comparison] = []
    for kernel in predicted["kernels"]:
        name = kernel["kernel"]
        if name not in measured:
            raise Failure(f"{predicted['method']} on {matrix}: ncu saw no kernel {name}")
        seen = measured[name]
        by_bytes = seen.sectors_by_bytes or {}
        widths = {int(b): c["sectors"] for b, c in kernel.get("loads_by_bytes", {}).items()}
        rows = [(b, widths.get(b, 0), by_bytes.get(b, 0)) for b in sorted({*widths, *by_bytes})]
        rows.append((0, sum(widths.values()), seen.sectors))
        all_of += [Comparison(matrix, predicted["method"], name, b, p, m,
                              allowed_difference(kernel, value_bytes, b)) for b, p, m in rows]
    return all_of


def count_action(action: Any, to: Counted) -> None:
    """Add one launch, an action of ``ncu_report``."""
    to.requests += int(action.metric_by_name(REQUESTS).as_uint64())
    to.sectors += int(action.metric_by_name(SECTORS).as_uint64())
    by_bytes = to.sectors_by_bytes = to.sectors_by_bytes or {}
    for size, sectors in of_loads(action, SECTORS_OF_INSTRUCTION):
        by_bytes[size] = by_bytes.get(size, 0) + sectors
    to.lanes += sum(lanes for _, lanes in of_loads(action, LANES_OF_INSTRUCTION))


def of_loads(action: Any, name: str) -> list[tuple[int, int]]:
    """Bytes a lane, and the metric, of every load from global memory."""
    metric = action.metric_by_name(name)
    addresses = metric.correlation_ids()
    counted = [(bytes_of_load(action.sass_by_pc(addresses.as_uint64(k))), int(metric.as_uint64(k)))
               for k in range(metric.num_instances())]
    return [(size, n) for size, n in counted if size is not None]


def run(command: list[str]) -> str:
    """What the command prints; Failure with its last line on stderr where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}") from e
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no reason given"]
        raise Failure(f"{' '.join(command)}: {said[-1]}")
    return done.stdout


def measure(nz: str, ncu: str, matrix: Path, method: str, value: str,
            kernels: set[str]) -> dict[str, Counted]:
    """The counters of one product, by kernel."""
    try:
        import ncu_report
    except ImportError as e:
        raise Failure("no module ncu_report: Nsight Compute has it in extras/python") from e
    with tempfile.TemporaryDirectory() as folder:
        report = str(Path(folder) / "counters.ncu-rep")
        run([ncu, "--force-overwrite", "-o", report, "--section", "SourceCounters",
             "--metrics", f"{REQUESTS},{SECTORS},{SECTORS_OF_INSTRUCTION},{LANES_OF_INSTRUCTION}",
             "--kernel-name-base", "function",
             "--kernel-name", f"regex:^({'|'.join(sorted(kernels))})$",
             nz, "spmv", str(matrix), "--device", "gpu", "--method", method, "--type", value,
             "-o", "-"])
        context = ncu_report.load_report(report)
        counted: dict[str, Counted] = {}
        for r in range(context.num_ranges()):
            of_range = context.range_by_idx(r)
            for a in range(of_range.num_actions()):
                action = of_range.action_by_idx(a)
                name = action.name(action.NameBase_FUNCTION)
                count_action(action, counted.setdefault(name, Counted()))
        return counted


def explained(nz: str, matrix: Path, value: str, *more: str) -> dict[str, Any]:
    """What `nz explain --json` says."""
    return json.loads(run([nz, "explain", str(matrix), "--type", value, "--json", *more]))


def print_comparisons(rows: list[Comparison]) -> None:
    """One line a comparison."""
    for c in rows:
        off = (c.measured - c.predicted) / max(c.predicted, 1)
        print(f"{c.matrix:<20} {c.method:<18} {c.kernel:<24} "
              f"{'all' if c.bytes == 0 else c.bytes:>4} {c.predicted:>12} {c.measured:>12} "
              f"{off:>+7.1%} {'' if c.agrees else 'DIFFERS'}")


def main() -> int:
    """Run the command."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("nz", help="the command nz, of a build with CUDA")
    arguments.add_argument("matrices", nargs="+", type=Path)
    arguments.add_argument("--methods", default="", help="separated by commas (default: all)")
    arguments.add_argument("--type", default="double", choices=["float", "double"])
    arguments.add_argument("--ncu", default="ncu")
    arguments.add_argument("--json", type=Path, help="file for all comparisons")
    o = arguments.parse_args()
    rows: list[Comparison] = []
    print(f"{'matrix':<20} {'method':<18} {'kernel':<24} {'of':>4} {'predicted':>12} "
          f"{'measured':>12} {'off':>7}  sectors, by bytes of a lane's load")
    try:
        for matrix in o.matrices:
            methods = o.methods.split(",") if o.methods else [
                m["method"] for m in explained(o.nz, matrix, o.type)["methods"]
                if "declined" not in m]
            for method in methods:
                predicted = explained(o.nz, matrix, o.type, "--method", method)
                working = [k for k in predicted["kernels"] if k["working_warps"] > 0]
                predicted["kernels"] = working
                kernels = {k["kernel"] for k in working}
                if not kernels:
                    continue
                seen = measure(o.nz, o.ncu, matrix, method, o.type, kernels)
                found = compare(predicted["matrix"], predicted, seen)
                print_comparisons(found)
                for k in working:
                    loads, counted = k["loads"], seen[k["kernel"]]
                    print(f"  {k['kernel']}: {loads['requests']} requests of {loads['lanes']} "
                          f"lanes predicted, {counted.requests} of {counted.lanes} counted")
                rows += found
    except Failure as e:
        print(f"explain_check: {e}", file=sys.stderr)
        return 2
    if o.json:
        o.json.write_text(json.dumps([asdict(c) | {"agrees": c.agrees} for c in rows], indent=1))
    return 0 if all(c.agrees for c in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

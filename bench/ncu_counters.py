"""Counters of Nsight Compute of the kernels of products: read from its reports.

``ncu_report`` is Nsight Compute's own module, in its folder extras/python.
"""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
# Of each instruction. No cache changes them.
SECTORS_OF_INSTRUCTION = "memory_l2_theoretical_sectors_global"
REQUESTS_OF_INSTRUCTION = "inst_executed"
LANES_OF_INSTRUCTION = "thread_inst_executed_true"
METRICS = (REQUESTS, SECTORS, SECTORS_OF_INSTRUCTION, REQUESTS_OF_INSTRUCTION,
           LANES_OF_INSTRUCTION)
# It runs before and behind every product of `nz explain --once`.
MARKER = "negate_kernel"
# LDG.E.64.CONSTANT, LDG.E.U8, ...: bytes a lane; without a size 4.
LOAD = re.compile(r"\bLDG?\.E((?:\.\w+)*)")
SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}


class Failure(Exception):
    """Something could not be run or read; the text is one sentence."""


@dataclass
class Load:
    """An instruction that loads from global memory, over all launches of its kernel."""

    sass: str
    bytes: int  # a lane
    source: str | None  # "file:line", where the build has -lineinfo
    requests: int = 0
    lanes: int = 0  # threads that were not masked, over all requests
    sectors: int = 0


@dataclass
class Counted:
    """Requests of the loads of one kernel, over all its launches."""

    requests: int = 0
    sectors: int = 0
    loads: dict[tuple[str, int], Load] = field(default_factory=dict)  # by instance and address

    @property
    def lanes(self) -> int:
        """Threads that were not masked, over all requests."""
        return sum(load.lanes for load in self.loads.values())

    @property
    def sectors_by_bytes(self) -> dict[int, int]:
        """Sectors, by the bytes of a lane's load."""
        by_bytes: dict[int, int] = {}
        for load in self.loads.values():
            by_bytes[load.bytes] = by_bytes.get(load.bytes, 0) + load.sectors
        return by_bytes

    @property
    def by_width(self) -> list[Load]:
        """The loads of each width together, the narrowest first."""
        widths: dict[int, Load] = {}
        for load in self.loads.values():
            of_width = widths.setdefault(load.bytes, Load("", load.bytes, None))
            of_width.requests += load.requests
            of_width.lanes += load.lanes
            of_width.sectors += load.sectors
        return [widths[width] for width in sorted(widths)]


def counted_before(counted: dict[str, Any]) -> Counted:
    """The counters that `explain_check --json` wrote as ``counted``.

    Parameters
    ----------
    counted
        With ``requests``, ``sectors`` and ``loads``.
    """
    loads = {("", k): Load(**load) for k, load in enumerate(counted["loads"])}
    return Counted(counted["requests"], counted["sectors"], loads)


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


def name_of(action: Any) -> str:
    """The kernel's name in the source."""
    return str(action.name(action.NameBase_FUNCTION))


def metric_of(action: Any, name: str) -> Any:
    """A metric of ``ncu_report``; Failure where it was not counted."""
    metric = action.metric_by_name(name)
    if metric is None:
        raise Failure(f"ncu counted no {name} of {name_of(action)}")
    return metric


def by_address(action: Any, name: str) -> dict[int, int]:
    """A metric of each instruction."""
    metric = metric_of(action, name)
    addresses = metric.correlation_ids()
    return {int(addresses.value(k)): int(metric.value(k)) for k in range(metric.num_instances())}


def count_launch(action: Any, to: Counted) -> None:
    """Add one launch, an action of ``ncu_report``."""
    to.requests += int(metric_of(action, REQUESTS).value())
    to.sectors += int(metric_of(action, SECTORS).value())
    requests = by_address(action, REQUESTS_OF_INSTRUCTION)
    lanes = by_address(action, LANES_OF_INSTRUCTION)
    sectors = by_address(action, SECTORS_OF_INSTRUCTION)
    instance = str(action.name(action.NameBase_MANGLED))
    for address in sorted({*requests, *sectors}):
        sass = str(action.sass_by_pc(address)).strip()
        size = bytes_of_load(sass)
        if size is None:
            continue
        source = action.source_info(address)
        place = f"{Path(source.file_name()).name}:{source.line()}" if source else None
        load = to.loads.setdefault((instance, address), Load(sass, size, place))
        load.requests += requests.get(address, 0)
        load.lanes += lanes.get(address, 0)
        load.sectors += sectors.get(address, 0)


def count(launches: list[Any]) -> dict[str, Counted]:
    """The launches of one product, by kernel."""
    counted: dict[str, Counted] = {}
    for action in launches:
        count_launch(action, counted.setdefault(name_of(action), Counted()))
    return counted


def products_of(report: Any) -> list[list[Any]]:
    """The launches of each product, in the order in which they were launched.

    A product's launches stand between two of the marker. What builds its layout stands before the
    first, so that it is left out. They live as long as the report.

    Parameters
    ----------
    report
        Result of ``ncu_report.load_report``.
    """
    products: list[list[Any]] = []
    inside = False
    for r in range(report.num_ranges()):
        of_range = report.range_by_idx(r)
        for a in range(of_range.num_actions()):
            action = of_range.action_by_idx(a)
            if name_of(action) == MARKER:
                inside = not inside
                if inside:
                    products.append([])
            elif inside:
                products[-1].append(action)
    return products


def load_report(ncu: str, file: Path) -> Any:
    """A report, by the module of the Nsight Compute that `ncu` belongs to, or another's.

    Raises
    ------
    Failure
        Where there is no such module, or the file is no report.
    """
    found = Path(shutil.which(ncu) or "").resolve().parent / "extras/python"
    usual = ("opt/nvidia/nsight-compute/*/extras/python",
             "usr/local/cuda*/nsight-compute*/extras/python")
    folders = [found, *(folder for where in usual for folder in sorted(Path("/").glob(where)))]
    sys.path += [str(folder) for folder in folders if str(folder) not in sys.path]
    try:
        report = importlib.import_module("ncu_report").load_report(str(file))
    except ImportError as e:
        raise Failure("no module ncu_report: Nsight Compute has it in extras/python") from e
    except Exception as e:  # its own kinds, which its documentation does not name
        raise Failure(f"{file}: {e}") from e
    if report is None:
        raise Failure(f"{file}: no report")
    return report

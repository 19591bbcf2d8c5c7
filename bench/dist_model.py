"""Time of a product over many ranks, and of an iteration of CG with multigrid: a model, no
measurement. scripts/dist-check prints it.

Of a cube of n^3 unknowns and 7 points each rank has as many unknowns. Its own columns are
multiplied while messages wait for each other; then the halo travels, and its entries are
multiplied. The halo does not travel meanwhile: on two and four GPUs 0.7 to 0.9 of long messages'
time came on top of the product, which fills the GPU that NCCL's kernels want. The levels of
multigrid shrink as those that one GPU made of a smaller cube.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

ENTRY = 12  # bytes of an entry in CSR: value and column
ROW = 4 + 8 + 8  # bytes a row: position, its element of x once, of y
POINTS = 7


@dataclass(frozen=True)
class Machine:
    """Speeds of a rank's processor and of its link."""

    name: str
    memory: float  # bytes/s
    launch: float  # of all kernels of a product [s]
    latency: float  # of a message [s]
    link: float  # bytes/s in each direction


@dataclass(frozen=True)
class Part:
    """A rank's part of a product: the one with most neighbours."""

    rows: float
    halo: float  # elements received, and as many sent
    neighbours: float
    entries: float = POINTS  # a row

    @property
    def local_bytes(self) -> float:
        """Memory that the own columns' product moves."""
        return self.rows * (self.entries * ENTRY + ROW)

    @property
    def halo_bytes(self) -> float:
        """Bytes received."""
        return self.halo * 8

    def product_s(self, m: Machine) -> float:
        """Own columns beside the wait for messages, the halo, then an entry for each of it."""
        packing = self.halo * 16 / m.memory
        after = self.halo * (ENTRY + 24) / m.memory
        waiting = min(self.neighbours, 1) * m.latency  # once, as all messages start together
        own = max(self.local_bytes / m.memory, waiting)
        return m.launch + packing + own + self.halo_bytes / m.link + after


def cube(n: int, ranks: int, boxes: bool) -> Part:
    """n^3 unknowns, in contiguous ranges of rows (slabs), or in cubes as partitioners make them."""
    rows = n**3 / ranks
    if ranks == 1:
        return Part(rows, 0, 0)
    if not boxes:
        sides = 1 if ranks == 2 else 2
        return Part(rows, sides * n**2, sides * math.ceil(n**2 / rows))
    return Part(rows, 6 * rows ** (2 / 3), 6)


# ---- held to what was measured ------------------------------------------------------------------


def fitted_messages(measured: list[tuple[float, float]]) -> tuple[float, float]:
    """Latency [s] and bytes/s of messages, from (bytes, seconds) of some: relative least squares."""
    w = [1 / seconds**2 for _, seconds in measured]
    b = [size for size, _ in measured]
    t = [seconds for _, seconds in measured]
    sw, swb = sum(w), sum(wi * bi for wi, bi in zip(w, b, strict=True))
    swbb = sum(wi * bi * bi for wi, bi in zip(w, b, strict=True))
    swt = sum(wi * ti for wi, ti in zip(w, t, strict=True))
    swbt = sum(wi * bi * ti for wi, bi, ti in zip(w, b, t, strict=True))
    per_byte = (sw * swbt - swb * swt) / (sw * swbb - swb**2)
    return (swt - per_byte * swb) / sw, 1 / per_byte


def expected_product_s(alone_s: float, entries: list[float], halo_entries: list[float],
                       latency: float, travel_s: float, launch_s: float) -> float:
    """A product over ranks, from that of one rank: the slowest rank's own columns beside the
    messages' wait, then their travel and its entries in others' columns, by two kernels more.
    """
    entry_s = alone_s / sum(entries)
    return max(max((all_ - halo) * entry_s, latency) + halo * entry_s
               for all_, halo in zip(entries, halo_entries, strict=True)) + travel_s + 2 * launch_s


# ---- multigrid -----------------------------------------------------------------------------------

WORTH_A_RANK = 1000  # rows of a level; else fewer ranks have it (nonzero/solve/multigrid/coarsen.cpp)
WORTH_A_GPU = 300_000  # the same where a GPU's messages cost more than its rows
DIRECT = 500  # rows of a level that one rank solves directly
SMOOTHED = 6 * 8  # bytes a row of a smoother's step: four vectors read, two written
ALL_AROUND = 26  # neighbours of a cube whose rows reach beyond its edges and corners


@dataclass(frozen=True)
class Shrinking:
    """How levels follow each other: of the finest, of the next, of all below."""

    rows: tuple[float, float]  # of a level over the next one's: of the finest, of others
    entries: tuple[float, float, float]  # a row: of the finest, of the second level, of others


@dataclass(frozen=True)
class Level:
    """A level of multigrid as the ranks that hold it see it."""

    number: int
    all_rows: float
    ranks: int  # that hold it
    A: Part
    P: Part  # to the next coarser level; of the last one no rows
    products: int  # with A in a cycle
    steps: int  # of the smoother in a cycle

    @property
    def is_last(self) -> bool:
        """Whether one rank solves it directly."""
        return self.products == 0

    @property
    def halo_bytes(self) -> float:
        """Bytes that a rank receives in a cycle on this level."""
        return self.products * self.A.halo_bytes + 2 * self.P.halo_bytes

    @property
    def messages(self) -> float:
        """Messages that a rank receives in a cycle on this level."""
        return self.products * self.A.neighbours + 2 * self.P.neighbours

    def cycle_s(self, m: Machine) -> float:
        """Time of a cycle on this level. [s]"""
        if self.is_last:  # the dense inverse
            return m.launch + self.all_rows**2 * 8 / m.memory
        smoothing = self.steps * (m.launch / LAUNCHES + self.A.rows * SMOOTHED / m.memory)
        return self.products * self.A.product_s(m) + 2 * self.P.product_s(m) + smoothing


def shell(rows: float, reach: float) -> float:
    """Elements outside a cube of `rows` elements, within `reach` of it."""
    side = rows ** (1 / 3)
    return (side + 2 * reach) ** 3 - rows


def reach_of(entries: float) -> float:
    """How far a row reaches whose entries fill a cube."""
    return (entries ** (1 / 3) - 1) / 2


def part_of_level(number: int, all_rows: float, ranks: int, entries: float) -> Part:
    """A rank's cube of a level: rows of the finest reach over its faces, others all around."""
    rows = all_rows / ranks
    if ranks == 1:
        return Part(rows, 0, 0, entries)
    if number == 0:
        return Part(rows, 6 * rows ** (2 / 3), min(6, ranks - 1), entries)
    return Part(rows, shell(rows, reach_of(entries)), min(ALL_AROUND, ranks - 1), entries)


def prolongation(A: Part, number: int, ranks: int, coarse: float, coarse_ranks: int) -> Part:
    """A rank's rows of P, smoothed by A: each reaches the aggregates that A's row does."""
    side = (A.rows * ranks / coarse) ** (1 / 3)  # of an aggregate
    entries = 1 + 6 / side if number == 0 else (1 + 2 * reach_of(A.entries) / side) ** 3
    if ranks == 1:
        return Part(A.rows, 0, 0, entries)
    if coarse_ranks < ranks:  # all that one rank collects, from all that it collects from
        return Part(A.rows, coarse / coarse_ranks, math.ceil(ranks / coarse_ranks) - 1, entries)
    return Part(A.rows, shell(coarse / ranks, 1), min(ALL_AROUND, ranks - 1), entries)


def levels_of(rows: float, ranks: int, how: Shrinking,
              worth: float = WORTH_A_RANK) -> list[Level]:
    """The levels of `rows` unknowns, finest first; a rank has `worth` rows or more of each."""
    levels: list[Level] = []
    while True:
        k = len(levels)
        if rows <= DIRECT:
            return [*levels, Level(k, rows, 1, Part(rows, 0, 0, rows), Part(0, 0, 0), 0, 0)]
        mine = ranks_of_level(rows, ranks, worth)
        A = part_of_level(k, rows, mine, how.entries[min(k, 2)])
        coarse = rows / how.rows[min(k, 1)]
        degree = 2 if k == 0 else 3  # of Chebyshev's polynomial, before and after
        P = prolongation(A, k, mine, coarse, ranks_of_level(coarse, ranks, worth))
        levels.append(Level(k, rows, mine, A, P, 2 * degree, 2 * degree))
        rows = coarse


def ranks_of_level(rows: float, ranks: int, worth: float) -> int:
    """How many ranks hold a level."""
    return 1 if rows <= DIRECT else min(ranks, max(1, int(rows / worth)))


def iteration_s(levels: list[Level], ranks: int, m: Machine) -> float:
    """An iteration of CG: a product, a cycle, eight vectors read or written, two sums."""
    finest = levels[0].A
    sums = 2 * math.ceil(math.log2(ranks)) * m.latency
    vectors = 8 * 8 * finest.rows / m.memory
    return finest.product_s(m) + vectors + sums + sum(level.cycle_s(m) for level in levels)


# ---- the tables ----------------------------------------------------------------------------------

SIDE = 1000
GPUS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
LAUNCHES = 4  # packing, own columns, the halo's, adding
LINK = 50e9  # bytes/s, assumed between hosts: 400 Gbit/s a GPU
RESULTS = Path(__file__).resolve().parent / "results"


def messages_of_a_host() -> tuple[float, float]:
    """Latency [s] and bytes/s of a product's messages between two GPUs, as measured."""
    products = json.loads((RESULTS / "h100-x2/gpus.json").read_text())["products"]
    rows = [p["over_ranks"][-1] for p in products]
    return fitted_messages([(max(row["halo_bytes"]), row["messages_s"]) for row in rows])


def h200() -> Machine:
    """Memory and launches as measured on one GPU, latency between two; the link is assumed."""
    gpu = json.loads((RESULTS / "h200/machine.json").read_text())["gpu"]
    return Machine(gpu["name"], gpu["read_gbps"] * 1e9, LAUNCHES * gpu["launch_s"],
                   messages_of_a_host()[0], LINK)


def measured_shrinking() -> Shrinking:
    """Of the largest cube whose levels were made and measured on one GPU."""
    path = RESULTS / "h200/amg/amg.json"
    levels = json.loads(path.read_text())["problems"]["laplace3d:160"]["levels"]
    rows = [level["rows"] for level in levels]
    entries = [level["nonzeros"] / level["rows"] for level in levels]
    return Shrinking((rows[0] / rows[1], rows[1] / rows[2]), (POINTS, entries[1], entries[2]))


def gpu_table() -> list[str]:
    """A product of the cube of side SIDE on 4 to 1,024 GPUs, as a table of Markdown."""
    lines = ["| GPUs | rows each | slabs: halo [MB] | product [ms] | efficiency | cubes: halo [MB] "
             "| product [ms] | efficiency |", "| ---: |" + " ---: |" * 7]
    gpu = h200()
    alone = cube(SIDE, 1, boxes=False).local_bytes / gpu.memory
    for ranks in GPUS:
        cells = [f"{ranks:,}", f"{SIDE**3 // ranks:,}"]
        for boxes in (False, True):
            part = cube(SIDE, ranks, boxes)
            seconds = part.product_s(gpu)
            cells += [f"{part.halo_bytes / 1e6:.1f}", f"{seconds * 1e3:.3f}",
                      f"{alone / ranks / seconds:.0%}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def amg_table() -> list[str]:
    """An iteration of CG with multigrid on the same cube and GPUs."""
    lines = ["| GPUs | levels on all of them | halo of the finest level [MB] | of the others [MB] "
             "| messages | iteration [ms] | of it the coarser levels [ms] | efficiency "
             "| levels on fewer GPUs: iteration [ms] |",
             "| ---: |" + " ---: |" * 8]
    gpu, how = h200(), measured_shrinking()
    alone = iteration_s(levels_of(SIDE**3, 1, how), 1, gpu)
    for ranks in GPUS:
        levels = levels_of(SIDE**3, ranks, how)
        finest = levels[0].A
        seconds = iteration_s(levels, ranks, gpu)
        fewer = iteration_s(levels_of(SIDE**3, ranks, how, WORTH_A_GPU), ranks, gpu)
        halo = [level.halo_bytes for level in levels]
        cells = [f"{ranks:,}", f"{sum(level.ranks == ranks for level in levels)} of {len(levels)}",
                 f"{(halo[0] + finest.halo_bytes) / 1e6:.1f}", f"{sum(halo[1:]) / 1e6:.1f}",
                 f"{finest.neighbours + sum(level.messages for level in levels):.0f}",
                 f"{seconds * 1e3:.2f}",
                 f"{sum(level.cycle_s(gpu) for level in levels[1:]) * 1e3:.2f}",
                 f"{alone / ranks / seconds:.0%}", f"{fewer * 1e3:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def level_table(ranks: int) -> list[str]:
    """The levels on that number of GPUs, as lines of a table."""
    lines = ["| level | rows | entries a row | GPUs that hold it | rows each "
             "| halo of a product [KB] | messages a cycle | cycle [ms] |", "| ---: |" + " ---: |" * 7]
    gpu = h200()
    for level in levels_of(SIDE**3, ranks, measured_shrinking()):
        cells = [f"{level.number}", f"{level.all_rows:,.0f}",
                 "dense" if level.is_last else f"{level.A.entries:.0f}", f"{level.ranks:,}",
                 f"{level.A.rows:,.0f}", f"{level.A.halo_bytes / 1e3:,.1f}",
                 f"{level.messages:.0f}", f"{level.cycle_s(gpu) * 1e3:.3f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines

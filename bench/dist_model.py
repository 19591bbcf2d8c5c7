"""What a product over many ranks should take: a model, no measurement. scripts/dist-check prints it.

Of a cube of n^3 unknowns and 7 points each rank has as many unknowns. Its own columns are
multiplied while the halo travels; the halo's entries are multiplied afterwards.
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
    """What a rank's processor and its link can do."""

    name: str
    memory: float  # bytes/s
    launch: float  # of all kernels of a product [s]
    latency: float  # of a message [s]
    link: float  # bytes/s in each direction


@dataclass(frozen=True)
class Part:
    """A rank's part: the one with most neighbours."""

    rows: float
    halo: float  # elements received, and as many sent
    neighbours: int

    @property
    def local_bytes(self) -> float:
        """Memory that the own columns' product moves."""
        return self.rows * (POINTS * ENTRY + ROW)

    @property
    def halo_bytes(self) -> float:
        """Bytes received."""
        return self.halo * 8

    def message_s(self, m: Machine) -> float:
        """From the first message's start to the last one's end."""
        return self.neighbours * m.latency + self.halo_bytes / m.link

    def product_s(self, m: Machine) -> float:
        """Messages beside the own columns, then an entry for each of the halo's elements."""
        packing = self.halo * 16 / m.memory
        after = self.halo * (ENTRY + 24) / m.memory
        own = self.local_bytes / m.memory
        return m.launch + packing + max(own, self.message_s(m)) + after


def cube(n: int, ranks: int, boxes: bool) -> Part:
    """n^3 unknowns, in contiguous ranges of rows (slabs), or in cubes as a partitioner makes them."""
    rows = n**3 / ranks
    if ranks == 1:
        return Part(rows, 0, 0)
    if not boxes:
        sides = 1 if ranks == 2 else 2
        return Part(rows, sides * n**2, sides * math.ceil(n**2 / rows))
    return Part(rows, 6 * rows ** (2 / 3), 6)


SIDE = 1000
LAUNCHES = 4  # packing, own columns, the halo's, adding
LATENCY, LINK = 5e-6, 50e9  # assumed: 400 Gbit/s a GPU


def h200() -> Machine:
    """Memory and launches as measured on one GPU; the link is assumed."""
    path = Path(__file__).resolve().parent / "results/h200/machine.json"
    gpu = json.loads(path.read_text())["gpu"]
    return Machine(gpu["name"], gpu["read_gbps"] * 1e9, LAUNCHES * gpu["launch_s"], LATENCY, LINK)


def gpu_table() -> list[str]:
    """A product of the cube of side SIDE on 4 to 1,024 GPUs, as a table of Markdown."""
    lines = ["| GPUs | rows each | slabs: halo [MB] | product [ms] | efficiency | cubes: halo [MB] "
             "| product [ms] | efficiency |", "| ---: |" + " ---: |" * 7]
    gpu = h200()
    alone = cube(SIDE, 1, boxes=False).local_bytes / gpu.memory
    for ranks in (4, 8, 16, 32, 64, 128, 256, 512, 1024):
        cells = [f"{ranks:,}", f"{SIDE**3 // ranks:,}"]
        for boxes in (False, True):
            part = cube(SIDE, ranks, boxes)
            seconds = part.product_s(gpu)
            cells += [f"{part.halo_bytes / 1e6:.1f}", f"{seconds * 1e3:.3f}",
                      f"{alone / ranks / seconds:.0%}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines

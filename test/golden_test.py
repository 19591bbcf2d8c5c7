"""What the README's commands print, held against test/data/golden/, at 80 columns.

Run as ``NZ_COMMAND=build/dev/nz test/golden_test.py``; with ``--write`` it renews the files. Each
begins with its command. Digits are masked: times and sizes are a machine's. What a machine decides
is not compared: units, which method is the fastest, rows that differ by nothing else, and whether
the machine was busy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test" / "data" / "golden"
NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
MADE_FIRST = (
    "generate laplace2d --nx 20 --ny 15 -o A.mtx",
    "generate rmat --scale 6 -o G.mtx",
    "generate laplace2d --nx 2 --ny 2 -o S.mtx",
    "spmv A.mtx -o b.mtx",
)
METHODS = "bsr|coo|csc|csr|dia|ell|hll|hll_rows|hyb|icrs|jds|jds_ell|packed|sell"
NUMBER = r"~?#+(?:\.#+)?(?:e[-+]?#+)?"


def run(arguments: str, folder: Path) -> str:
    """What nz prints; a machine without a GPU, with two threads."""
    environment = {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "2",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    done = subprocess.run(
        [NZ, *arguments.split()],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        raise AssertionError(f"nz {arguments}: {done.stderr}")
    return done.stdout.replace(NZ, "nz")


def masked(text: str) -> str:
    """Every digit of a number as #: columns stay where they are, and names keep theirs."""
    number = r"(?<![\w-])\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)"
    return re.sub(number, lambda found: re.sub(r"\d", "#", found[0]), text)


def compared(text: str) -> list[str]:
    """What must be the same on every machine: lines without what a machine decides."""
    text = re.sub(r"The machine (?:is|was) busy:.*?(?:\n\n|\Z)", "", text, flags=re.DOTALL)
    text = re.sub(r"What this taught\n\n.*?\n\n", "", text, flags=re.DOTALL)
    # A sentence that begins with the fastest method is wrapped where that name ends.
    text = re.sub(r"\S+ is the fastest on # of # matrices.*?\n(?=\n|\Z)", "", text, flags=re.DOTALL)
    text = re.sub(r"(?:^|\n)(?:gpu|simd|cpu) .*(?:\n {8}.*)*", "", text)
    text = re.sub(rf"\b(?:{METHODS})\.\w+", "METHOD", text)
    # Lines are wrapped where numbers and names are longer.
    text = re.sub(r"\n {2,}(?! *METHOD)(?=\S)", " ", text)
    text = re.sub(rf"{NUMBER} (?:ns|us|ms|s)\b", "TIME", text)
    text = re.sub(rf"{NUMBER} (?:B|kB|MB|GB)\b", "BYTES", text)
    text = re.sub(NUMBER, "N", text)
    text = re.sub(r"machine .*? threads", "machine CPU", text)
    text = re.sub(r"-{2,}", "--", text)
    lines = [" ".join(line.replace(" *", "").split()) for line in text.strip().splitlines()]
    return [line for k, line in enumerate(lines) if k == 0 or line != lines[k - 1]]


def without_tables(lines: list[str]) -> list[str]:
    """Paragraphs that hold no rule: a table leaves columns out where numbers are longer.

    Neither lines that name a method, as that may be the fastest.
    """
    paragraphs = "\n".join(lines).split("\n\n")
    kept = [p for p in paragraphs if not re.search(r"^-- --", p, flags=re.MULTILINE)]
    return [line for p in kept for line in p.split("\n") if "METHOD" not in line]


#: Sentences that a machine's speeds choose between.
CHOICES = (
    (r"This order [^\n]*", "ORDER"),
    (r", N times as long", ""),
    (r"setup takes TIME(?:, with its timing beside METHOD)?"
     r"(?:; it pays from N products on, against METHOD|, and no other method's takes less)", "SETUP"),
)  # fmt: skip


class Golden(unittest.TestCase):
    """Every file of test/data/golden/."""

    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = Path(cls.made.name)
        for arguments in MADE_FIRST:
            run(arguments, cls.folder)

    def printed(self, path: Path) -> tuple[str, str]:
        """The command, and what it prints now, masked and within 80 columns."""
        command = path.read_text().splitlines()[0].removeprefix("$ nz ")
        text = run(command, self.folder)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, f"nz {command}: {line}")
            self.assertNotRegex(line, r"\d{16}", f"nz {command}")
            self.assertNotRegex(line, r"\d\.\d+e\+\d\d (?:ns|us|ms|s|B|kB|MB|GB)\b", command)
        return command, masked(text)

    def lines(self, text: str) -> list[str]:
        chosen = "\n".join(compared(text))
        for pattern, by in CHOICES:
            chosen = re.sub(pattern, by, chosen)
        return chosen.split("\n")

    def test_what_is_printed_is_what_was(self) -> None:
        for path in sorted(GOLDEN.glob("*.txt")):
            with self.subTest(path.stem):
                command, text = self.printed(path)
                wanted = path.read_text().partition("\n")[2]
                ours, theirs = self.lines(text), self.lines(wanted)
                if path.stem in ("bench", "bench-plan", "study"):
                    ours, theirs = without_tables(ours), without_tables(theirs)
                self.assertEqual(ours, theirs, f"nz {command}; --write renews {path}")

    def test_every_command_of_the_readme_is_here(self) -> None:
        known = {path.read_text().split()[2] for path in GOLDEN.glob("*.txt")}
        readme = (ROOT / "README.md").read_text()
        named = set(re.findall(r"^(?:\S*/)?nz ([a-z]+)", readme, flags=re.MULTILINE))
        self.assertGreater(len(named), 2)
        # These write files, or open a page, and print nothing.
        self.assertEqual(named - known - {"generate", "convert", "help"}, set())


def write() -> None:
    with tempfile.TemporaryDirectory() as name:
        for arguments in MADE_FIRST:
            run(arguments, Path(name))
        for path in sorted(GOLDEN.glob("*.txt")):
            command = path.read_text().splitlines()[0]
            text = masked(run(command.removeprefix("$ nz "), Path(name)))
            path.write_text(f"{command}\n{text}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()

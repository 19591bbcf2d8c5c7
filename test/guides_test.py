"""Every block of code in README.md, docs/guides/ and docs/api.md runs: shell in order, C++ as programs.

Run as ``NZ_COMMAND=build/dev/nz NZ_LIBRARY=build/dev/libnonzero.a NZ_LINK="..." test/guides_test.py``.
Blocks of Python run where the package is, in python/tests/test_guides.py.

Behind a block of code may stand a block of its output. One marked ``text`` is held against what the
code prints, figures aside; one marked ``console`` differs between machines, and is only shown. Where
the command prints something new: ``test/guides_test.py --write`` renews both (Python's too, where
the interpreter has the package).

A block whose first line is ``# needs: WHAT`` runs where WHAT is there: a command, ``gpu``, or
``build``, which is never there. A block that begins with a script of scripts/ needs a build.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    ROOT / "docs" / "api.md",
]
NZ = Path(os.environ.get("NZ_COMMAND", ROOT / "build" / "dev" / "nz")).resolve()
LIBRARY = os.environ.get("NZ_LIBRARY", str(ROOT / "build" / "dev" / "libnonzero.a"))
LINK = os.environ.get("NZ_LINK", "-lfmt -lz -lpng -lzip -ldl").split()
COMPILER = os.environ.get("CXX", "c++")
BLOCK = re.compile(
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$"
    r"(?P<between>\n+```(?P<kind>text|console)\n)?(?(between)(?P<output>.*?)^```$)",
    re.M | re.S,
)
NEEDS = re.compile(r"# needs: (\w+)")
FIGURE = re.compile(r"[-+<]?\d[\d.,]*(?:e[-+]?\d+)?")


@dataclass
class Block:
    """A block of code, and what stands behind it as its output; kind is empty where nothing does."""

    language: str
    code: str
    kind: str = ""
    output: str = ""

    @property
    def needs(self) -> str:
        """What must be there for it to run; empty where nothing must."""
        found = NEEDS.match(self.code)
        if found:
            return found[1]
        return "build" if self.code.startswith("scripts/") else ""


def blocks_of(text: str) -> list[Block]:
    """Return all blocks of a guide, in order."""
    return [
        Block(m["language"], m["code"], m["kind"] or "", m["output"] or "")
        for m in BLOCK.finditer(text)
    ]


def without_figures(output: str) -> list[str]:
    """Return the lines of an output with a # for each figure, and without what aligns columns."""
    lines = (FIGURE.sub("#", line) for line in output.splitlines())
    return [re.sub(r"-{2,}|[█▉▊▋▌▍▎▏]+|\s+", " ", line).strip() for line in lines]


def missing_lines(shown: str, printed: str) -> list[str]:
    """Return the lines of a guide's output that were not printed; a line "..." stands for any."""
    have = without_figures(printed)
    return [line for line in without_figures(shown) if line not in {"", "..."} and line not in have]


def is_there(need: str) -> bool:
    """Whether what a block needs is there."""
    if need == "gpu":
        done = subprocess.run([NZ, "machine"], capture_output=True, text=True)
        return "gpu     none" not in done.stdout
    return need == "" or (need != "build" and shutil.which(need) is not None)


def program_of(block: Block, folder: Path) -> list[str]:
    """Return the command that runs a block; a program of C++ is compiled before."""
    if block.language == "sh":
        return ["bash", "-euo", "pipefail", "-c", block.code]
    if block.language == "python":
        return [sys.executable, "-c", block.code]
    (folder / "block.cpp").write_text(block.code)
    flags = ["-std=c++20", "-fopenmp", "-Wall", "-Wextra", f"-I{ROOT}"]
    run([COMPILER, *flags, "block.cpp", "-o", "block", LIBRARY, *LINK], folder)
    return ["./block"]


def run(command: list[str], folder: Path) -> str:
    """Run a command where the guides do, and return what it prints."""
    more = {
        "PATH": f"{NZ.parent}:{os.environ['PATH']}",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "COLUMNS": "80",
    }
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command[-1]}\n{done.stdout}")
    return done.stdout


class Guides(unittest.TestCase):
    """All guides; a block that fails is shown with what it printed."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "matrices").symlink_to(ROOT / "matrices")

    def test_every_block_is_in_a_language_that_is_run(self) -> None:
        self.assertGreaterEqual(len(GUIDES), 3)
        for guide in GUIDES:
            languages = {block.language for block in blocks_of(guide.read_text("utf-8"))}
            # CMake's lines are run by install_test and subdirectory_test, in projects of theirs, C's
            # and Fortran's by c/languages_test.py against the library that they are for.
            others = {"cmake", "c", "fortran"}
            self.assertLessEqual(languages, {"sh", "cpp", "python", *others}, guide.name)

    def test_a_guide_is_short(self) -> None:
        for guide in (ROOT / "docs" / "guides").glob("*.md"):
            prose = BLOCK.sub("", guide.read_text("utf-8"))
            self.assertLess(len(prose.split()), 900, guide.name)

    def test_guides_are_a_quarter_of_the_documents(self) -> None:
        words = {
            file.relative_to(ROOT / "docs"): len(file.read_text("utf-8").split())
            for file in (ROOT / "docs").rglob("*.md")
            if file.relative_to(ROOT / "docs").parts[0] != "experiments"
        }
        guides = sum(count for file, count in words.items() if file.parts[0] == "guides")
        self.assertGreaterEqual(guides, sum(words.values()) / 4)

    def test_output_differs_where_words_do(self) -> None:
        self.assertEqual(missing_lines("a  1.5 us\n...\nb 2\n", "x\na 17 us\nb 30\n"), [])
        self.assertEqual(missing_lines("a 1 us\n", "a 1 ms\n"), ["a # us"])

    def check(self, language: str) -> None:
        for guide in GUIDES:
            for number, block in enumerate(blocks_of(guide.read_text("utf-8"))):
                if block.language != language or not is_there(block.needs):
                    continue
                with self.subTest(guide.name, number=number):
                    printed = run(program_of(block, self.folder), self.folder)
                    if block.kind == "text":
                        self.assertEqual(missing_lines(block.output, printed), [], printed)
                    if guide.name == "README.md" and language == "sh":
                        self.assertEqual([x for x in printed.splitlines() if len(x) > 80], [])

    def test_shell(self) -> None:
        self.check("sh")

    def test_cpp(self) -> None:
        self.check("cpp")


def renewed(text: str, folder: Path) -> str:
    """Return a guide with the outputs as they are now, cut where they were cut by a line "..."."""

    def replace(match: re.Match[str]) -> str:
        block = blocks_of(match[0])[0]
        if not is_there(block.needs):
            return match[0]
        # Blocks of shell without output are run all the same: later ones want their files.
        if block.language not in {"sh", *(["cpp", "python"] if block.kind else [])}:
            return match[0]
        printed = run(program_of(block, folder), folder)
        if not block.kind:
            return match[0]
        lines = [line.rstrip() for line in printed.splitlines()]
        if "..." in block.output.splitlines():
            lines = [*lines[: block.output.splitlines().index("...")], "..."]
        end = match.end("output") - match.start()
        start = match.start("output") - match.start()
        return match[0][:start] + "\n".join(lines) + "\n" + match[0][end:]

    return BLOCK.sub(replace, text)


def write() -> None:
    """Renew the outputs of all guides."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "matrices").symlink_to(ROOT / "matrices")
        for guide in GUIDES:
            text = guide.read_text("utf-8")
            now = renewed(text, Path(name))
            if now != text:
                guide.write_text(now, "utf-8")
                print(guide.relative_to(ROOT))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()

"""Every block of code in docs/guides/ and docs/api.md runs: shell in order, C++ as programs.

Run as ``NZ_COMMAND=build/dev/nz NZ_LIBRARY=build/dev/libnonzero.a NZ_LINK="..." test/guides_test.py``.
Blocks of Python run where the package is, in python/tests/test_guides.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "docs" / "api.md"]
NZ = Path(os.environ.get("NZ_COMMAND", ROOT / "build" / "dev" / "nz")).resolve()
LIBRARY = os.environ.get("NZ_LIBRARY", str(ROOT / "build" / "dev" / "libnonzero.a"))
LINK = os.environ.get("NZ_LINK", "-lfmt -lz -lpng -lzip -ldl").split()
COMPILER = os.environ.get("CXX", "c++")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks(guide: Path, language: str) -> list[str]:
    """Return the code of all blocks in that language, in order."""
    return [code for name, code in BLOCK.findall(guide.read_text("utf-8")) if name == language]


class Guides(unittest.TestCase):
    """All guides; a block that fails is shown with what it printed."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "matrices").symlink_to(ROOT / "matrices")

    def run_in_folder(self, command: list[str]) -> None:
        path = f"{NZ.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, f"{command[-1]}\n{done.stdout}{done.stderr}")

    def test_every_block_is_in_a_language_that_is_run(self) -> None:
        self.assertGreaterEqual(len(GUIDES), 3)
        for guide in GUIDES:
            languages = {name for name, _ in BLOCK.findall(guide.read_text("utf-8"))}
            self.assertLessEqual(languages, {"sh", "cpp", "python"}, guide.name)

    def test_shell(self) -> None:
        for guide in GUIDES:
            for code in blocks(guide, "sh"):
                with self.subTest(guide.name, code=code):
                    self.run_in_folder(["bash", "-euo", "pipefail", "-c", code])

    def test_cpp(self) -> None:
        for guide in GUIDES:
            for number, code in enumerate(blocks(guide, "cpp")):
                with self.subTest(guide.name, number=number):
                    (self.folder / "block.cpp").write_text(code)
                    flags = ["-std=c++20", "-fopenmp", "-Wall", "-Wextra", f"-I{ROOT}"]
                    self.run_in_folder(
                        [COMPILER, *flags, "block.cpp", "-o", "block", LIBRARY, *LINK]
                    )
                    self.run_in_folder(["./block"])


if __name__ == "__main__":
    unittest.main()

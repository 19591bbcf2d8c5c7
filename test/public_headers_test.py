"""Checks of the public headers for projects that include them, before anything is linked.

Each header alone, compiled as C++17, is one clear error; all of them and the templates that
test/consumer/strict.cpp uses are without a warning that a strict project may have on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GCC = """-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
-Wuseless-cast -Wdouble-promotion -Wnull-dereference -Wcast-qual -Wcast-align=strict -Wformat=2
-Wnon-virtual-dtor -Woverloaded-virtual -Wduplicated-cond -Wduplicated-branches -Wlogical-op
-Wextra-semi -Wzero-as-null-pointer-constant -Wredundant-decls -Wmissing-declarations
-Wsuggest-override -Wswitch-enum -Wundef -Wdeprecated-copy-dtor -Wredundant-tags
-Wmismatched-tags -Wctor-dtor-privacy""".split()
# Without what speaks against C++20, of the layout of structs, of classes and templates that are in
# the library (or another source), and of x == 0, by which beta is told.
CLANG = """-Weverything -Wno-c++98-compat -Wno-c++98-compat-pedantic -Wno-padded -Wno-weak-vtables
-Wno-undefined-func-template -Wno-float-equal""".split()


def public_headers() -> list[str]:
    """List what cmake/install.cmake installs."""
    found = ["nonzero/nonzero.hpp", "nonzero/dist/mpi.hpp"]
    for header in found:
        text = (ROOT / header).read_text()
        included = re.findall(r'^#include "(nonzero/[^"]*)"', text, re.M)
        found += [h for h in included if h not in found]
    return found


def compile_(compiler: str, *arguments: str, code: str = "") -> str:
    """Give what the compiler says, in English, of the code or of the file that is named."""
    folders = os.environ.get("MPI_INCLUDES", "").split(":")
    mpi = [f"-isystem{folder}" for folder in folders if folder]
    command = [compiler, f"-I{ROOT}", *mpi, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *arguments]
    english = os.environ | {"LC_ALL": "C"}
    return subprocess.run(
        command, input=code, capture_output=True, text=True, check=False, env=english
    ).stderr


def compilers() -> list[str]:
    """List the build's compiler, and the other one of GCC and Clang where it is here."""
    own = os.environ.get("CXX", "c++")
    other = shutil.which("g++" if is_clang(own) else "clang++")
    return [own, *([other] if other else [])]


def is_clang(compiler: str) -> bool:
    """Tell Clang by what it says of itself."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return "clang" in said.stdout


class PublicHeaders(unittest.TestCase):
    def test_say_in_one_sentence_that_they_need_cpp20(self) -> None:
        for compiler in compilers():
            for header in public_headers():
                if header.endswith("/mpi.hpp") and not os.environ.get("MPI_INCLUDES"):
                    continue
                with self.subTest(compiler=compiler, header=header):
                    flags = ("-std=c++17", "-fsyntax-only", "-xc++", "-")
                    said = compile_(compiler, *flags, code=f"#include <{header}>\n")
                    errors = [line for line in said.splitlines() if "error:" in line]
                    self.assertEqual(len(errors), 2, said)
                    self.assertIn("nonzero needs C++20: compile with -std=c++20", errors[0])
                    self.assertIn("fatal error: ", errors[1])

    def test_are_without_warnings(self) -> None:
        sources = ["strict.cpp", *(["strict_mpi.cpp"] if os.environ.get("MPI_INCLUDES") else [])]
        for compiler in compilers():
            for source in sources:
                with self.subTest(compiler=compiler, source=source):
                    warnings = CLANG if is_clang(compiler) else GCC
                    file = str(ROOT / "test/consumer" / source)
                    flags = ("-std=c++20", "-fopenmp", "-O2", "-c", file, "-o", os.devnull)
                    said = compile_(compiler, *flags, *warnings)
                    self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()

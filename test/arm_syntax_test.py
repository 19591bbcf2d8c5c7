"""The files with loops in NEON compile for arm64, without warnings: their syntax, as that takes
seconds. Skipped where there is no cross compiler; scripts/arm-check builds and runs all of it."""

import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
COMPILER = shutil.which("aarch64-linux-gnu-g++")
FILES = [
    "formats/simd/simd.cpp",
    "formats/simd/rows.cpp",
    "formats/bsr/bsr_simd.cpp",
    "formats/packed/spmv/simd.cpp",
]
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-psabi -Werror".split()

if COMPILER is None:
    print("skipped: no aarch64-linux-gnu-g++ here (Debian's package g++-aarch64-linux-gnu)")
    sys.exit(77)
failed = [
    file
    for file in FILES
    if subprocess.run(
        [COMPILER, "-std=c++20", "-fsyntax-only", "-fopenmp", *WARNINGS, "-I.", f"nonzero/{file}"],
        cwd=SOURCE,
        check=False,
    ).returncode
]
print("failed:", *failed) if failed else print(len(FILES), "files compile for arm64")
sys.exit(len(failed) > 0)

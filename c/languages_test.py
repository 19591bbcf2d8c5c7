"""The C interface as other compilers and languages see it.

What the library exports, against c/exported.txt and the header; its keys, against `nz help solve`;
docs/guides/c.md and the examples in C, Fortran, Rust, Julia and Octave, each where its compiler is.

Run as ``NZ_COMMAND=build/dev/nz NZ_C_LIBRARY=build/dev/c/libnonzero_c.so c/languages_test.py``.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "c" / "nonzero.h"
NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
LIBRARY = Path(
    os.environ.get("NZ_C_LIBRARY", ROOT / "build" / "dev" / "c" / "libnonzero_c.so")
).absolute()
LINK = [f"-L{LIBRARY.parent}", "-lnonzero_c", f"-Wl,-rpath,{LIBRARY.parent}"]
C_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'c'}"]
FORTRAN_FLAGS = ["-std=f2018", "-Wall", "-Werror", "-Wno-compare-reals"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
EXPECTED = "iterations 14, residual 2.7e-11\nx in the middle 751.338\n"

# Options of `nz solve` that are no keys: arguments of nz_solve, fields of its report, files of the
# command, and the display of ranks.
NO_KEYS = {
    "device",
    "explain",
    "guess",
    "help",
    "json",
    "output",
    "plot",
    "same-pattern",
    "share-gpu",
    "type",
}


def blocks(language: str) -> list[str]:
    """Return the code of docs/guides/c.md in that language."""
    text = (ROOT / "docs" / "guides" / "c.md").read_text("utf-8")
    return [code for name, code in BLOCK.findall(text) if name == language]


class Languages(unittest.TestCase):
    """Every program is compiled with warnings as errors, and run."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "matrices").symlink_to(ROOT / "matrices")

    def output_of(self, *command: str | Path) -> str:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env={**os.environ, "LD_LIBRARY_PATH": str(LIBRARY.parent)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        return done.stdout

    def need(self, program: str) -> None:
        if shutil.which(program) is None:
            self.skipTest(f"no {program}")

    def compiled(self, compiler: str, *arguments: str | Path) -> Path:
        self.need(compiler)
        self.output_of(compiler, *arguments, "-o", "program")
        return self.folder / "program"

    def test_exports(self) -> None:
        listed = (ROOT / "c" / "exported.txt").read_text("utf-8").split()
        declared = re.findall(r"^NZ_API [^(]*?(\w+)\(", HEADER.read_text("utf-8"), re.M)
        self.assertEqual(sorted(declared), listed)
        symbols = self.output_of("nm", "-D", "--defined-only", LIBRARY).splitlines()
        names = {line.split()[-1] for line in symbols} - {"NONZERO_1"}
        self.assertEqual(sorted(names), [f"{name}@@NONZERO_1" for name in listed])
        dynamic = self.output_of("readelf", "-d", LIBRARY)
        self.assertIn("Library soname: [libnonzero_c.so.1]", dynamic)

    def test_keys_are_options_of_the_command(self) -> None:
        library = ctypes.CDLL(str(LIBRARY))
        library.nz_last_error.restype = ctypes.c_char_p
        matrix = ctypes.c_void_p()
        positions, column, value = (ctypes.c_int32 * 2)(0, 1), ctypes.c_int32(0), ctypes.c_double(1)
        wrapped = library.nz_matrix_wrap(
            *(2, 1, 1, ctypes.c_int64(1), 32, positions),
            *(ctypes.byref(column), ctypes.byref(value), 102, -1, None, ctypes.byref(matrix)),
        )
        self.assertEqual(wrapped, 0)
        solver = ctypes.c_void_p()
        refused = library.nz_solver_create(matrix, -1, None, b"no-key=1", ctypes.byref(solver))
        self.assertEqual(refused, 2)
        keys = set(library.nz_last_error().decode().split("one of ")[1].split(", "))
        library.nz_matrix_destroy(matrix)
        options = set(re.findall(r"--([a-z-]+)", self.output_of(NZ, "help", "solve")))
        said = {"without", "gpu"}  # words of the help that are no options
        self.assertEqual(keys, {o for o in options if o not in NO_KEYS | said})

    def test_functions_of_the_fortran_module(self) -> None:
        listed = (ROOT / "c" / "exported.txt").read_text("utf-8").split()
        module = (ROOT / "c" / "nonzero.f90").read_text("utf-8")
        functions = set(re.findall(r"function (nz_\w+)\(", module))
        self.assertEqual(functions, set(listed))
        constants = r"\b(NZ_\w+)(?: = | )(-?\d+)\b"
        in_c = dict(re.findall(constants, HEADER.read_text("utf-8")))
        self.assertEqual(dict(re.findall(constants, module)), in_c)

    def test_clang(self) -> None:
        test = self.compiled(
            "clang", *C_FLAGS, ROOT / "c" / "c_test.c", *LINK, "-lm", "-lpthread"
        )
        self.assertIn("passed", self.output_of(test, ROOT / "matrices"))

    def test_header_in_cpp(self) -> None:
        code = "#include <nonzero.h>\nint main() { return nz_gpu_count() < 0; }\n"
        (self.folder / "main.cpp").write_text(code)
        flags = [flag for flag in C_FLAGS if flag != "-std=c99"]
        self.output_of(self.compiled("c++", "-std=c++11", *flags, "main.cpp", *LINK))

    def test_examples(self) -> None:
        folder = ROOT / "examples"
        module = ROOT / "c" / "nonzero.f90"
        with self.subTest("C"):
            program = self.compiled("cc", *C_FLAGS, folder / "c" / "poisson.c", *LINK)
            self.assertEqual(self.output_of(program), EXPECTED)
        with self.subTest("Fortran"):
            source = folder / "fortran" / "poisson.f90"
            program = self.compiled("gfortran", *FORTRAN_FLAGS, module, source, *LINK)
            self.assertEqual(self.output_of(program), EXPECTED.replace("2.7e", " 2.7E"))
        with self.subTest("Rust"):
            source = folder / "rust" / "poisson.rs"
            search = ["-L", LIBRARY.parent, "-l", "nonzero_c"]
            program = self.compiled("rustc", "-D", "warnings", source, *search)
            self.assertEqual(
                self.output_of(program),
                EXPECTED + "a vector too short: solve: a vector of 9999 elements, expected 10000\n",
            )

    def test_julia(self) -> None:
        self.need("julia")
        said = self.output_of("julia", ROOT / "examples" / "julia" / "poisson.jl")
        self.assertEqual(said, "x in the middle 751.338\n")

    def test_octave(self) -> None:
        self.need("mkoctfile")
        self.need("octave-cli")
        source = ROOT / "examples" / "matlab" / "nz_solve.c"
        self.output_of("mkoctfile", "--mex", source, f"-I{ROOT / 'c'}", *LINK)
        program = """
            n = 100; D = spdiags([-ones(n, 1) 2*ones(n, 1) -ones(n, 1)], -1:1, n, n);
            A = kron(D, speye(n)) + kron(speye(n), D); b = ones(n*n, 1);
            x = nz_solve(A, b, 'method=cg precond=amg tol=1e-10');
            assert(norm(b - A*x) < 1.1e-10*norm(b));
            B = sparse([4 1 0; 0 3 2; 1 0 5]); c = [1; 2; 3];
            assert(norm(c - B*nz_solve(B, c, 'tol=1e-12')) < 1e-10);
            try; nz_solve(A, b, 'tool=1'); catch e; disp(e.message); end
        """
        said = self.output_of("octave-cli", "--quiet", "--no-init-file", "--eval", program)
        self.assertIn("no key is called 'tool'", said)

    def test_docs(self) -> None:
        self.assertEqual(len(blocks("c")), 1)
        self.assertEqual(len(blocks("fortran")), 1)
        with self.subTest("C"):
            (self.folder / "block.c").write_text(blocks("c")[0])
            program = self.compiled("cc", *C_FLAGS, "block.c", *LINK)
            self.assertIn("residual", self.output_of(program))
        with self.subTest("Fortran"):
            (self.folder / "block.f90").write_text(blocks("fortran")[0])
            module = ROOT / "c" / "nonzero.f90"
            program = self.compiled("gfortran", *FORTRAN_FLAGS, module, "block.f90", *LINK)
            self.assertIn("residual", self.output_of(program))


if __name__ == "__main__":
    unittest.main()

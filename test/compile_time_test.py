#!/usr/bin/env python3
"""scripts/compile-time without the hour that it takes: what its launcher records of a compiler,
and how its objects are shared out to folders.

    test/compile_time_test.py
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/compile-time"
sys.dont_write_bytecode = True  # scripts/ stays as it is
loader = importlib.machinery.SourceFileLoader("compile_time", str(SCRIPT))
compile_time = importlib.util.module_from_spec(importlib.util.spec_from_loader(
    loader.name, loader))
loader.exec_module(compile_time)


class CompileTime(unittest.TestCase):
    def launch(self, log: Path, *command: str) -> int:
        return subprocess.run([SCRIPT, "--launch", log, "--", *command]).returncode

    def test_launcher_records_the_seconds_of_what_compiles(self):
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log"
            busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
            self.assertEqual(self.launch(log, "sh", "-c", busy, "-o", "a.o"), 0)
            self.assertEqual(self.launch(log, "true", "-o", "program"), 0)  # which links
            objects = compile_time.read_log(log)
            self.assertEqual(list(objects), ["a.o"])
            self.assertGreater(objects["a.o"], 0)

    def test_launcher_hands_on_the_exit_code(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(self.launch(Path(name) / "log", "sh", "-c", "exit 3"), 3)

    def test_folders_have_the_seconds_of_their_objects(self):
        of = compile_time.by_folder({
            "CMakeFiles/nz.dir/cli/commands/solve.cpp.o": 2.0,
            "CMakeFiles/nz.dir/cli/commands/spmv.cpp.o": 1.5,
            "CMakeFiles/nz.dir/cli/main.cpp.o": 1.0,
            "CMakeFiles/nonzero.dir/nonzero/formats/ell/ell.cpp.o": 4.0,
            "CMakeFiles/nz.dir/generated/page.cpp.o": 0.25})
        self.assertEqual(of, {"cli/commands": (2, 3.5), "cli": (1, 1.0),
                              "nonzero/formats": (1, 4.0), "generated": (1, 0.25)})

    def test_folders_have_the_seconds_of_their_units(self):
        of = compile_time.by_folder({
            "CMakeFiles/nonzero.dir/Unity/unity_nonzero/solve_0_cxx.cxx.o": 9.0,
            "CMakeFiles/nonzero.dir/Unity/unity_nonzero/solve_1_cxx.cxx.o": 8.0,
            "CMakeFiles/nz.dir/Unity/unity_cli_0_cxx.cxx.o": 2.0})
        self.assertEqual(of, {"nonzero/solve": (2, 17.0), "cli": (1, 2.0)})

    def test_a_preset_names_what_it_builds(self):
        self.assertEqual(compile_time.targets_of("demo"), ["nz"])
        self.assertEqual(compile_time.targets_of("release"), ["all"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""scripts/gpu-check with programs that stand in for a GPU, the sanitizers and the tests: what it
runs, that a test that fails fails the whole, and that several GPUs are taken in turn.

    test/gpu_check_test.py
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ("gpu_test", "cg_test", "preconditioners_test", "storage_test", "amg_on_gpus_test",
         "gpu_over_ranks_test", "local_rows_test", "packed_test", "vectors_test",
         "setup_on_gpu_test", "stripes_test", "stats_test", "many_vectors_test", "minres_test",
         "krylov_scale_test", "eigs_test", "ranks_test", "peers_test", "incomplete_test",
         "new_values_test", "cg_columns_test", "krylov_columns_test",
         "solve_columns_test", "solve_on_gpu_test", "facts_on_gpu_test", "least_squares_test",
         "svds_test")
SANITIZER = """#!/bin/sh
while [ "$1" != "${1#--}" ]; do shift 2; done
exec "$@"
"""
NAMES_ITSELF = '#!/bin/sh\necho "$(basename "$0") GPU=$CUDA_VISIBLE_DEVICES shard=$GTEST_SHARD_INDEX $*"\n'


def program(path: Path, text: str) -> None:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class GpuCheck(unittest.TestCase):
    def run_it(self, gpus: int, failing: str = "") -> tuple[int, str]:
        """Exit code and output of a run on so many GPUs."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            lines = "".join(f"echo GPU {k}\n" for k in range(gpus))
            program(folder / "bin/nvidia-smi", f"#!/bin/sh\n{lines}")
            program(folder / "bin/compute-sanitizer", SANITIZER)
            program(folder / "bin/mpirun", '#!/bin/sh\nshift 3\nexec "$@"\n')
            program(folder / "build/nz", NAMES_ITSELF)
            for test in TESTS:
                program(folder / "build/test" / test,
                        "#!/bin/sh\nexit 1\n" if test == failing else NAMES_ITSELF)
            done = subprocess.run(
                [ROOT / "scripts/gpu-check", ROOT / "matrices", folder / "results"],
                capture_output=True, text=True,
                env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
                     "NZ_BUILD": str(folder / "build"), "NZ_SKIP": "same-bits bench",
                     "NZ_JOBS": "4"})
            return done.returncode, done.stdout

    def test_runs_every_test_that_is_built(self):
        code, out = self.run_it(1)
        self.assertEqual(code, 0, out)
        self.assertIn("gpu-check: all green", out)
        for test in TESTS:
            self.assertRegex(out, rf"(?m)^== {test}( \(.* s\))?$")
        self.assertIn("ranks_test GPU= shard= --gtest_brief=1 --gtest_filter=*gpu*", out)
        self.assertIn("== racecheck, part 8 of 8 (", out)
        self.assertIn("gpu_test GPU=0 shard=7 ", out)
        self.assertNotIn("GPU=1", out)

    def test_takes_several_gpus_in_turn(self):
        code, out = self.run_it(2)
        self.assertIn("GPU=1", out)
        self.assertIn("== memcheck of two GPUs (", out)
        self.assertIn("== racecheck of two GPUs (", out)
        self.assertEqual(out.count("nz GPU= shard= solve "), 2)
        self.assertIn("amg_on_gpus_test GPU= shard= ", out)

    def test_names_what_failed(self):
        code, out = self.run_it(1, failing="cg_test")
        self.assertEqual(code, 1)
        self.assertIn("gpu-check: FAILED: cg_test\n", out)
        self.assertNotIn("all green", out)

    def test_names_what_failed_alone(self):
        code, out = self.run_it(1, failing="gpu_test")
        self.assertEqual(code, 1)
        self.assertIn("gpu-check: FAILED: gpu_test\n", out)


if __name__ == "__main__":
    unittest.main()

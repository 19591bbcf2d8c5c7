"""Tests of bench/collect.py, on measurements made up."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import collect

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "collect.py")


def row(method, threads, s, **more):
    gflops, moved = 20 / s * 1e-9, 120 / s * 1e-9
    return {"matrix": "A", "method": method, "backend": "cpu" if threads else "gpu",
            "threads": threads, "peer": method.startswith("eigen"), "median_s": s, "min_s": s / 2,
            "gflops": gflops, "matrix_bytes": 100, "vector_bytes": 20, "error_bounds": 0.25,
            "setup_s": 8.0, "share_of_read_bandwidth": moved / 10, "validated": True,
            "block_s": [s, s], "gbps": moved, **more}


def measured(rows, name="A", **more):
    return {"command": "bench", "nz": "0.2.0", "commit": "abc", "date": "2026-01-02T03:04:05Z",
            "machine": {"cpu": "a CPU", "l2_bytes": 1, "l3_bytes": 2}, "type": "double",
            "values": "as they are", "bandwidth": [{"threads": 2, "read_gbps": 10.0}],
            "matrices": [{"name": name, "rows": 3, "cols": 3, "nnz": 10, "csr_bytes": 100,
                          "class": "in_l2"}],
            "rows": [{**r, "matrix": name} for r in rows], "interrupted": False, **more}


DECLINED = {"matrix": "A", "method": "dia.row", "backend": "cpu", "threads": 2, "peer": False,
            "declined": "too wide"}
ROWS = [row("csr.merge", 2, 3.0), row("plan", 2, 2.0, chosen="csr.merge"),
        row("eigen.csr", 2, 4.0), DECLINED]


class Collect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.suite = self.folder / "results" / "suite.json"

    def collect(self, *runs, options=(), check=True):
        files = []
        for k, run in enumerate(runs):
            files.append(str(self.folder / f"{k}.json"))
            Path(files[-1]).write_text(json.dumps(run))
        return subprocess.run([sys.executable, SCRIPT, str(self.suite), *files, *options],
                              check=check, capture_output=True, text=True)

    def test_what_is_kept_reads_as_it_was_measured(self):
        self.collect(measured(ROWS))
        (run,) = collect.read_runs(self.suite)
        for key in ("commit", "date", "machine", "type", "values", "matrices", "bandwidth"):
            self.assertEqual(run[key], measured(ROWS)[key])
        for was, now in zip(ROWS, run["rows"], strict=True):
            for key in set(was) - {"block_s", "gbps", "declined"}:
                if isinstance(was[key], float):
                    self.assertAlmostEqual(now[key], was[key], delta=1e-6 * was[key])
                else:
                    self.assertEqual(now[key], was[key], key)
        self.assertIn("declined", run["rows"][3])
        self.assertNotIn("block_s", self.suite.read_text())

    def test_a_raw_file_is_one_run(self):
        path = self.folder / "A.json"
        path.write_text(json.dumps(measured(ROWS)))
        self.assertEqual(collect.read_runs(path), [measured(ROWS)])

    def test_a_later_run_of_the_same_takes_its_place(self):
        self.collect(measured(ROWS), measured(ROWS, name="B"))
        self.collect(measured([row("plan", 2, 1.0, chosen="csr.merge")], commit="def"))
        runs = {r["matrices"][0]["name"]: r for r in collect.read_runs(self.suite)}
        self.assertEqual(len(runs), 2)
        self.assertEqual((runs["A"]["commit"], runs["B"]["commit"]), ("def", "abc"))
        self.assertEqual(len(runs["A"]["rows"]), 1)
        self.collect(measured(ROWS, type="float"))
        self.assertEqual(len(collect.read_runs(self.suite)), 3)

    def test_a_result_that_is_wrong_stays_wrong(self):
        self.collect(measured([row("csr.merge", 2, 3.0, validated=False), ROWS[2]]))
        (run,) = collect.read_runs(self.suite)
        self.assertEqual([r["validated"] for r in run["rows"]], [False, True])

    def test_the_commit_of_files_that_carry_none(self):
        bare = measured(ROWS)
        del bare["commit"]
        unknown = measured(ROWS, name="C", commit=None)
        self.collect(bare, measured(ROWS, name="B"), unknown, options=("--commit", "fed"))
        commits = {r["matrices"][0]["name"]: r["commit"] for r in collect.read_runs(self.suite)}
        self.assertEqual(commits, {"A": "fed", "B": "abc", "C": "fed"})

    def test_clocks_differ_from_run_to_run(self):
        gpus = [{"name": "a GPU", "l2_bytes": 1, "clocks": {"sm_mhz": mhz}} for mhz in (1, 2)]
        self.collect(*(measured([row("plan", 0, 1.0, chosen="csr.merge")], name, gpu=gpu,
                                bandwidth=[{"threads": 0, "read_gbps": 10.0}])
                       for name, gpu in zip("AB", gpus, strict=True)))
        self.assertEqual(len(json.loads(self.suite.read_text())["settings"]), 1)
        self.assertEqual([r["gpu"] for r in collect.read_runs(self.suite)], gpus)

    def test_other_commands_keep_single_values(self):
        self.collect({"command": "pagerank", "graph": "G", "iteration_s": 0.5, "history": [1, 2]})
        self.assertEqual(json.loads(self.suite.read_text())["runs"],
                         [{"command": "pagerank", "graph": "G", "iteration_s": 0.5}])

    def test_refusals(self):
        mixed = self.collect(measured(ROWS), {"command": "pagerank"}, check=False)
        self.assertIn("do not fit one suite", mixed.stderr)
        untimed = self.collect(measured([DECLINED]), check=False)
        self.assertIn("no method was timed on A", untimed.stderr)
        self.assertFalse(self.suite.exists())


if __name__ == "__main__":
    unittest.main()

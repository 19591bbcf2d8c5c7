"""The documents against the measurements, and the generator on measurements made up."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import figures

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figures.py")
BIG, SMALL = 1000, 10  # bytes of a CSR; the L2 has 100


def run(matrix, times, csr_bytes=BIG, values="as they are", **more):
    """A run of `nz bench` on a GPU with these seconds by method."""
    rows = [{"matrix": matrix, "method": method, "backend": "gpu", "threads": 0,
             "peer": method.startswith("cusparse"), "median_s": s, "min_s": s, "gflops": 1 / s,
             "matrix_bytes": 1, "vector_bytes": 1, "error_bounds": 0.5, "setup_s": 1,
             "preprocessing_s": 1, "validated": True,
             **({"chosen": "packed.warp"} if method == "plan" else {})}
            for method, s in times.items()]
    matrices = [{"name": matrix, "rows": 1, "cols": 1, "nnz": 1, "csr_bytes": csr_bytes, **more}]
    return {"command": "bench", "commit": "abc", "date": "2026-01-02", "type": "double",
            "values": values, "machine": {"cpu": "a CPU", "l2_bytes": 1, "l3_bytes": 1},
            "gpu": {"name": "a GPU", "l2_bytes": 100, "driver_version": 13000},
            "bandwidth": [{"threads": 0, "read_gbps": 1}], "matrices": matrices, "rows": rows}


RUNS = [
    run("small", {"plan": 1, "cusparse.csr": 4, "cusparse.sell": 2}, SMALL),
    run("large", {"plan": 1, "cusparse.csr": 2, "cusparse.sell": 3}),
    run("larger", {"plan": 1, "cusparse.csr": 8, "cusparse.sell": 8}),
    run("small", {"plan": 1, "cusparse.csr": 99}, SMALL, values="distinct"),
]
ROW = "| NVIDIA H200 | %s | cuSPARSE, without SpMVOp | "
IN, BEYOND = ROW % "in the cache", ROW % "beyond the cache, as they are"


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "docs" / "performance.md").write_text("# Nothing\n")
        self.readme = self.root / "README.md"
        self.readme.write_text("Before\n\n<!-- figures: classes -->\n| old |\n| --- |\n\nAfter\n")
        self.collect("plan", RUNS)

    def collect(self, suite, runs):
        files = []
        for k, one in enumerate(runs):
            files.append(self.root / f"{k}.json")
            files[-1].write_text(json.dumps(one))
        script = os.path.join(os.path.dirname(SCRIPT), "collect.py")
        suite = self.root / "bench" / "results" / "h200" / f"{suite}.json"
        subprocess.run([sys.executable, script, suite, *files], check=True, capture_output=True)

    def figures(self, action, code=0):
        done = subprocess.run([sys.executable, SCRIPT, action, "--root", self.root],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_the_documents_say_what_was_measured(self):
        """Where this fails: bench/figures.py --write, and read what changed."""
        done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_figure_that_differs_fails_by_name(self):
        self.figures("--check", 1)
        self.figures("--write")
        self.figures("--check")
        text = self.readme.read_text()
        self.assertTrue(text.startswith("Before\n\n<!-- figures: classes -->\n| double"))
        self.assertTrue(text.endswith("|\n\nAfter\n"))
        self.readme.write_text(text.replace("4.00x, lowest 4.00 (1)", "4.01x, lowest 4.00 (1)"))
        told = self.figures("--check", 1)
        self.assertIn("-" + IN + "4.01x, lowest 4.00 (1) | 2.00x, lowest 2.00 (1)", told)
        self.assertIn("+" + IN + "4.00x, lowest 4.00 (1) | 2.00x, lowest 2.00 (1)", told)

    def test_classes(self):
        self.figures("--write")
        text = self.readme.read_text()
        self.assertIn(IN + "4.00x, lowest 4.00 (1) | 2.00x, lowest 2.00 (1) |", text)
        self.assertIn(BEYOND + "4.00x, lowest 2.00 (2) | 4.00x, lowest 2.00 (2) |", text)

    def test_what_was_not_measured_has_no_row(self):
        self.figures("--write")
        self.assertNotIn("NVIDIA H100", self.readme.read_text())
        self.assertNotIn("all values distinct", self.readme.read_text())

    def test_a_suite_of_classes_slots_in(self):
        tiled = {"plan": 2, "cusparse.csr": 3, "cusparse.spmvop1": 2.5}
        said = {"class": "beyond_l2_distinct", "tile": 7}
        self.collect("classes", [run("small", tiled, values="distinct", **said)])
        self.figures("--write")
        text = self.readme.read_text()
        self.assertIn(IN + "4.00x, lowest 4.00 (1) | 2.00x, lowest 2.00 (1) |", text)
        self.assertIn("| NVIDIA H200 | beyond the cache, all values distinct | "
                      "cuSPARSE, with SpMVOp | 1.50x, lowest 1.50 (1) | 1.25x, lowest 1.25 (1) |",
                      text)

    def test_a_chart_that_differs_fails_by_name(self):
        self.figures("--write")
        images = self.root / "docs" / "images"
        images.mkdir()
        (images / "classes.svg").write_text("<svg/>")
        self.assertIn("docs/images/classes.svg: differs", self.figures("--check", 1))
        self.figures("--write")
        self.figures("--check")
        self.assertIn("4.0x", (images / "classes.svg").read_text())

    def test_copies_of_a_matrix_as_it_is_count_in_no_class(self):
        self.assertIsNone(figures.class_of(run("A", {}, tile=7)))
        self.assertEqual(figures.class_of(run("A", {}, tile=1)), "beyond")
        self.assertEqual(figures.class_of(run("A", {}, values="distinct")), "beyond distinct")
        self.assertEqual(figures.class_of({**run("A", {}, SMALL), "values": "as they are"}), "in")
        self.assertIsNone(figures.class_of({**run("A", {}, SMALL), "storage": "single"}))
        said = run("A", {}, BIG, **{"class": "in_l2"})
        self.assertEqual(figures.class_of(said), "in")

    def test_a_table_by_hand_is_named(self):
        self.figures("--write")
        self.readme.write_text(self.readme.read_text() + "\n| speed |\n| --- |\n| 2.0x |\n")
        self.assertIn("README.md: no generator made the table | speed |",
                      self.figures("--check", 1))
        self.readme.write_text(self.readme.read_text().replace("2.0x", "words"))
        self.figures("--check")

    def test_a_generator_that_does_not_exist(self):
        self.readme.write_text("<!-- figures: none -->\n")
        self.assertIn("no generator 'none'; those are matrices,", self.figures("--check", 1))


if __name__ == "__main__":
    unittest.main()

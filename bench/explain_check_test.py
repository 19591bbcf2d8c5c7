"""Tests of bench/explain_check.py, on counters made up."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import explain_check
import ncu_counters
from ncu_counters import Counted, Load

BENCH = Path(__file__).resolve().parent
MARKER = {"name": ncu_counters.MARKER}


class Metric:
    """As ncu_report's: a number, or one for each instruction, whose addresses are 0, 16, ..."""

    def __init__(self, value=0, instances=()):
        self.total, self.instances = value, instances

    def value(self, k=None):
        return self.total if k is None else self.instances[k]

    def num_instances(self):
        return len(self.instances)

    def correlation_ids(self):
        return Metric(instances=[16 * k for k in range(len(self.instances))])


class Source:
    """Where an instruction stands."""

    def file_name(self):
        return "/nonzero/formats/ell/ell.cu"

    def line(self):
        return 7


class Action:
    """A launch: {"name", "requests", "sectors", "loads": [[sass, sectors], ...]}."""

    NameBase_FUNCTION, NameBase_MANGLED = range(2)

    def __init__(self, launch):
        self.launch = launch
        loads = launch.get("loads", [])
        self.metrics = {
            ncu_counters.REQUESTS: Metric(launch.get("requests", 0)),
            ncu_counters.SECTORS: Metric(launch.get("sectors", 0)),
            ncu_counters.SECTORS_OF_INSTRUCTION: Metric(instances=[n for _, n in loads]),
            ncu_counters.REQUESTS_OF_INSTRUCTION: Metric(instances=[1] * len(loads)),
            ncu_counters.LANES_OF_INSTRUCTION: Metric(instances=[32] * len(loads)),
        }

    def name(self, base):
        return self.launch["name"] if base == self.NameBase_FUNCTION else "_Z" + self.launch["name"]

    def metric_by_name(self, name):
        return None if name == self.launch.get("without") else self.metrics[name]

    def sass_by_pc(self, address):
        return self.launch["loads"][address // 16][0]

    def source_info(self, address):
        return Source() if address == 0 else None


class Report:
    """Launches, all in one range, as reports have them."""

    def __init__(self, launches):
        self.launches = launches

    def num_ranges(self):
        return 1

    def range_by_idx(self, _):
        return self

    def num_actions(self):
        return len(self.launches)

    def action_by_idx(self, k):
        return Action(self.launches[k])


def load_report(file):
    """The report in place of that of the module ncu_report."""
    return Report(json.loads(Path(file).read_text()))


def launch(name, columns, values_and_x, **more):
    return {"name": name, "requests": 3, "sectors": columns + values_and_x,
            "loads": [["LDG.E R2, [R4.64]", columns],
                      ["LDG.E.64.CONSTANT R2, [R4.64]", values_and_x]], **more}


def predicted(columns, values, x, kernel="row_kernel"):
    of = {"columns": columns, "values": values, "x": x, "structure": 0, "y": 0}
    return {"kernel": kernel, "working_warps": 1,
            "loads": {"sectors": columns + values + x, "requests": 2, "lanes": 64},
            "loads_of": {name: {"sectors": n} for name, n in of.items()},
            "loads_by_bytes": {"4": {"sectors": columns}, "8": {"sectors": values + x}}}


class Counters(unittest.TestCase):
    def test_tells_loads_by_their_width(self):
        for sass, size in (("LDG.E R2, [R4.64]", 4), ("@P0 LDG.E.64.CONSTANT R2, [R4.64]", 8),
                           ("LDG.E.U16 R2, [R4]", 2), ("LDG.E.128 R4, [R8.64]", 16),
                           ("LDG.E.U8.CONSTANT R0, [R2.64]", 1), ("LD.E.64 R0, [R2.64]", 8),
                           ("LDG.E.ENL2.256.CONSTANT R4, R8, [R2.64]", 32)):
            self.assertEqual(ncu_counters.bytes_of_load(sass), size, sass)
        for sass in ("STG.E.64 [R2.64], R4", "LDS.64 R2, [R4]", "FFMA R2, R3, R4, R5", ""):
            self.assertIsNone(ncu_counters.bytes_of_load(sass), sass)

    def test_adds_launches_up(self):
        one = {"name": "row_kernel", "requests": 7, "sectors": 90,
               "loads": [["LDG.E R2, [R4]", 20], ["DFMA R2", 3], ["LDG.E.64 R2, [R4]", 30],
                         ["LDG.E.64.CONSTANT R2, [R4]", 40]]}
        other = {"name": "section_kernel", "loads": [["LDG.E R2, [R4]", 1]]}
        counted = ncu_counters.count([Action(one), Action(other), Action(one)])
        self.assertEqual(set(counted), {"row_kernel", "section_kernel"})
        rows = counted["row_kernel"]
        self.assertEqual((rows.requests, rows.sectors, rows.lanes), (14, 180, 2 * 3 * 32))
        self.assertEqual(rows.sectors_by_bytes, {4: 40, 8: 140})
        self.assertEqual([(load.source, load.requests) for load in rows.loads.values()],
                         [("ell.cu:7", 2), (None, 2), (None, 2)])

    def test_a_product_stands_between_two_markers(self):
        names = ["scale_kernel", "negate_kernel", "row_kernel", "negate_kernel", "copy_kernel",
                 "negate_kernel", "scale_kernel", "segmented_kernel", "negate_kernel",
                 "negate_kernel", "negate_kernel"]
        products = ncu_counters.products_of(Report([{"name": n} for n in names]))
        self.assertEqual([[ncu_counters.name_of(a) for a in p] for p in products],
                         [["row_kernel"], ["scale_kernel", "segmented_kernel"], []])

    def test_says_what_was_not_counted(self):
        with self.assertRaisesRegex(ncu_counters.Failure, "inst_executed of row_kernel"):
            ncu_counters.count([Action(launch("row_kernel", 1, 1, without="inst_executed"))])


class Comparing(unittest.TestCase):
    def judged(self, columns, values_and_x):
        seen = Counted(1, columns + values_and_x, {
            ("", 0): Load("", 4, None, sectors=columns),
            ("", 1): Load("", 8, None, sectors=values_and_x)})
        return {c.bytes: c.agrees for c in explain_check.compare(
            predicted(1000, 2000, 500), "double", seen)}

    def test_allows_three_percent_of_the_matrix_and_ten_of_x(self):
        self.assertEqual(self.judged(1000, 2500), {4: True, 8: True, 0: True})
        self.assertEqual(self.judged(1030, 2610), {4: True, 8: True, 0: True})
        self.assertEqual(self.judged(1031, 2500), {4: False, 8: True, 0: True})
        self.assertEqual(self.judged(1000, 2611), {4: True, 8: False, 0: True})
        self.assertEqual(self.judged(900, 2300), {4: False, 8: False, 0: False})

    def test_a_width_that_was_not_predicted_differs(self):
        seen = ncu_counters.count([Action(launch("row_kernel", 1000, 2500))])["row_kernel"]
        seen.loads["", 3] = Load("", 16, None, sectors=1)
        judged = explain_check.compare(predicted(1000, 2000, 500), "double", seen)
        self.assertEqual([c.bytes for c in judged if not c.agrees], [16])

    def test_says_what_cannot_be_run(self):
        with self.assertRaisesRegex(ncu_counters.Failure, "no_such_command"):
            explain_check.run(["no_such_command"])


NZ = """#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "generate":
    open(sys.argv[-1], "w").close()
elif "--once" in sys.argv:
    multiplied = {"machine": {"gpu": "made up"}, "multiplied": METHODS}
    open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(multiplied))
else:
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""
    print(json.dumps(PREDICTED))
"""
NCU = """#!/usr/bin/env python3
import json, subprocess, sys
nz = next(k for k, argument in enumerate(sys.argv) if argument.endswith("/nz"))
subprocess.run(sys.argv[nz:], check=True)
open(sys.argv[sys.argv.index("-o") + 1], "w").write(json.dumps(LAUNCHES))
open(STARTS, "a").write("started\\n")
"""


class Command(unittest.TestCase):
    """The whole script, with an nz, an ncu and a module ncu_report that are made up."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "ncu_report.py").write_text("from explain_check_test import load_report\n")
        self.methods = {"ell.row": [predicted(1000, 2000, 500)],
                        "hyb.device": [predicted(100, 200, 50),
                                       predicted(10, 20, 5, "segmented_kernel")],
                        "csr.scalar": [predicted(10, 20, 5, "scalar_kernel")]}
        self.launches = [{"name": "copy_kernel"},
                         MARKER, launch("row_kernel", 1000, 2500), MARKER,
                         {"name": "scale_kernel"},
                         MARKER, launch("row_kernel", 100, 250),
                         launch("segmented_kernel", 10, 50), MARKER,
                         MARKER, launch("scalar_kernel", 10, 25), MARKER]

    def script(self, name, text, **values):
        for placeholder, value in values.items():
            text = text.replace(placeholder, repr(value))
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def check(self, *arguments):
        methods = [{"method": m, "kernels": k} for m, k in self.methods.items()]
        methods.append({"method": "dia.row", "declined": "too wide"})
        self.script("nz", NZ, METHODS=list(self.methods), PREDICTED={"methods": methods})
        self.script("ncu", NCU, LAUNCHES=self.launches, STARTS=str(self.folder / "starts"))
        return subprocess.run(
            [sys.executable, BENCH / "explain_check.py", self.folder / "nz", *arguments,
             "--ncu", self.folder / "ncu", "--json", "all.json", "--markdown", "table.md"],
            cwd=self.folder, capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": f"{self.folder}:{BENCH}"})

    def starts(self):
        return len((self.folder / "starts").read_text().splitlines())

    def test_goes_on_where_a_kernel_differs(self):
        done = self.check("A.mtx", "B.mtx.gz")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(self.starts(), 2)  # once a matrix
        self.assertIn("6 of 8 kernels agree\n"
                      "hyb.device (segmented_kernel) on A: loads of 8 bytes: 25 sectors predicted, "
                      "50 counted, +100.0%; all loads: 35 sectors predicted, 60 counted, +71.4%\n"
                      "hyb.device (segmented_kernel) on B: ", done.stdout)
        written = json.loads((self.folder / "all.json").read_text())
        self.assertEqual(written["machine"], {"machine": {"gpu": "made up"}})
        self.assertEqual([k["agrees"] for k in written["kernels"]],
                         [True, True, False, True] * 2)
        self.assertEqual(written["kernels"][0]["counted"]["loads"][0],
                         {"sass": "LDG.E R2, [R4.64]", "bytes": 4, "source": "ell.cu:7",
                          "requests": 1, "lanes": 32, "sectors": 1000})
        self.assertIn("| hyb.device | segmented_kernel | 0 of 2 | +71.4% | A | +50.0% |\n",
                      (self.folder / "table.md").read_text())

    def test_takes_ten_matrices_where_none_is_named(self):
        del self.launches[5:9]
        del self.methods["hyb.device"]
        done = self.check("--keep", "kept")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.starts(), 10)
        self.assertIn("| csr.scalar | scalar_kernel | 10 of 10 | +0.0% | CA-HepPh | +50.0% |\n",
                      (self.folder / "table.md").read_text())

    def test_takes_the_methods_that_were_named(self):
        done = self.check("A.mtx", "--methods", "csr.scalar")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1 of 1 kernels agree\n", done.stdout)
        done = self.check("A.mtx", "--methods", "csr.scalar,dia.row")
        self.assertEqual(done.returncode, 2)
        self.assertIn("dia.row on A: declined, or no trace\n", done.stderr)

    def test_counters_are_kept_and_held_against_a_mended_trace(self):
        self.assertEqual(self.check("A.mtx", "--keep", "kept").returncode, 1)
        self.methods["hyb.device"][1] = predicted(10, 40, 10, "segmented_kernel")
        self.assertEqual(self.check("A.mtx", "--keep", "kept").returncode, 0)
        self.assertEqual(self.starts(), 1)

    def test_takes_the_counters_of_an_earlier_run(self):
        self.assertEqual(self.check("A.mtx", "--by-width").returncode, 1)
        (self.folder / "all.json").rename(self.folder / "before.json")
        again = self.check("A.mtx", "--counters", "before.json", "--by-width")
        self.assertEqual((again.returncode, again.stderr), (1, ""))
        self.assertEqual((self.folder / "all.json").read_text(),
                         (self.folder / "before.json").read_text())
        self.methods["hyb.device"][1] = predicted(10, 40, 10, "segmented_kernel")
        self.assertEqual(self.check("A.mtx", "--counters", "before.json").returncode, 0)
        self.assertEqual(self.starts(), 1)
        nothing = self.check("B.mtx", "--counters", "before.json")
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("before.json: nothing was counted on B\n", nothing.stderr)
        del self.methods["csr.scalar"]
        done = self.check("A.mtx", "--counters", "before.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("csr.scalar on A: no trace of scalar_kernel\n", done.stderr)

    def test_a_kernel_that_was_not_seen_is_a_failure_of_its_own(self):
        self.launches[6] = launch("panel_kernel", 1, 1)
        done = self.check("A.mtx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("hyb.device on A: ncu saw no kernel row_kernel, but panel_kernel, "
                      "segmented_kernel\n", done.stderr)
        self.assertIn("2 of 3 kernels agree", done.stdout)

    def test_a_kernel_without_work_need_not_be_launched(self):
        self.methods["hyb.device"][1]["working_warps"] = 0
        self.assertEqual(self.check("A.mtx").returncode, 0)

    def test_says_that_products_are_missing(self):
        del self.launches[-3:]
        done = self.check("A.mtx", "B.mtx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("A: nz multiplied 3 times, ncu saw 2\n", done.stderr)
        self.assertIn("B: nz multiplied 3 times, ncu saw 2\n", done.stderr)

    def test_matrices_of_one_name_are_refused(self):
        self.assertIn("two matrices have one name", self.check("A.mtx", "more/A.npz").stderr)


if __name__ == "__main__":
    unittest.main()

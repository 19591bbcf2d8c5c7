"""Output of nz report, without a browser: its data, its size, its colours, and its errors.

Run as ``NZ_COMMAND=build/dev/nz test/report_test.py``.
"""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "test" / "data" / "report" / "two_matrices.json"
NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
HOSTILE = "</script><script>document.title='bad'</script><img src=x onerror=alert(1)>&lt;\"'"


class Page(HTMLParser):
    """The elements of a page, the text of its scripts, and the addresses it names."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.in_script = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.in_script = tag == "script"
        if self.in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.in_script = False

    def handle_data(self, data: str) -> None:
        if self.in_script:
            self.scripts[-1] += data

    def data(self) -> dict:
        """The measurements in it."""
        return json.loads(self.scripts[0])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG 2.1 defines it, 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


class Report(unittest.TestCase):
    """Each test in a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def nz(self, *arguments: str | bytes, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [NZ, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def page(self, name: str = "r.html") -> Page:
        return Page((self.folder / name).read_text(encoding="utf-8"))

    def from_data(self, data: object) -> Page:
        (self.folder / "in.json").write_text(json.dumps(data))
        self.nz("report", "--from", "in.json", "-o", "r.html")
        return self.page()

    def test_takes_a_list_of_edges_as_it_is(self) -> None:
        (self.folder / "my.tsv").write_text("alice\tbob\nbob\tcarol\ncarol\talice\neve\tbob\n")
        options = ("--threads", "1", "--seconds", "0.1", "--solve-seconds", "0.05")
        told = self.nz("report", "my.tsv", *options, "-o", "r.html").stdout
        data = self.page().data()
        self.assertEqual(told, f"r.html: 1 matrix, {len(data['results'])} results\n")
        (matrix,) = data["matrices"]
        self.assertEqual([matrix[k] for k in ("name", "rows", "cols", "nnz")], ["my", 4, 4, 4])
        self.assertTrue(all(r.get("validated", True) for r in data["results"]))

    def test_measures_what_study_info_plan_and_solve_do(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "20", "--ny", "15", "-o", "A.mtx")
        self.nz(
            "generate", "random", "--rows", "50", "--cols", "80", "--per-row", "4", "-o", "B.mtx"
        )
        told = self.nz(
            "report",
            "A.mtx",
            "B.mtx",
            "--threads",
            "1,2",
            "--seconds",
            "0.2",
            "--solve-seconds",
            "0.1",
            "-o",
            "r.html",
            "--json",
            "r.json",
        ).stdout
        data = self.page().data()
        self.assertEqual(data, json.loads((self.folder / "r.json").read_text()))
        self.assertEqual(told, f"r.html: 2 matrices, {len(data['results'])} results\n")
        self.assertIn("nz report A.mtx B.mtx --threads 1,2 --seconds 0.2", data["command_line"])
        self.assertEqual([b["threads"] for b in data["bandwidth"]], [1, 2])
        info = json.loads(self.nz("info", "A.mtx", "--json").stdout)
        A, B = data["matrices"]
        for key in ("rows", "cols", "nnz", "row_length", "layouts", "bandwidth"):
            self.assertEqual(A[key], info[key], key)
        for matrix in (A, B):
            self.assertTrue(base64.b64decode(matrix["picture"]["png"]).startswith(b"\x89PNG\r\n"))
        self.assertEqual({p["matrix"] for p in data["plans"]}, {"A", "B"})
        self.assertEqual({s["matrix"] for s in data["solves"]}, {"A"})  # B is not square
        best = data["solves"][0]
        self.assertTrue(best["converged"])
        self.assertEqual(best["history"][0], 1)
        self.assertLessEqual(min(best["history"]), 1e-8)
        self.assertTrue(all(r["validated"] for r in data["results"] if "median_s" in r))

    def test_the_memorys_view_is_that_of_explain(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "30", "--ny", "30", "-o", "A.mtx")
        measured = ("A.mtx", "--threads", "1", "--seconds", "0.01", "--json", "m.json")
        counted = {
            m["method"]: {k: v for k, v in m.items() if k not in self.BESIDE_COUNTS}
            for m in json.loads(self.nz("explain", "A.mtx", "--json").stdout)["methods"]
        }
        for command in (
            ("study", *measured),
            ("report", *measured, "--solve-seconds", "0", "-o", "r.html"),
        ):
            with self.subTest(command[0]):
                self.nz(*command)
                self.nz("report", "--from", "m.json", "-o", "r.html")
                seen = self.page().data()["matrices"][0]["explain"]
                self.assertEqual(seen["entries"], 4380)
                self.assertNotIn("rows", seen)
                self.assertEqual({m["method"]: m for m in seen["methods"]}, counted)
                taken = [m["method"] for m in seen["methods"] if "declined" not in m]
                self.assertGreater(len(taken), 15)
                pictured = [p["method"] for p in seen["pictures"]]
                self.assertEqual(pictured, [taken[0], taken[-1]])
                for picture in seen["pictures"]:
                    self.assert_explain_draws("A.mtx", picture)

    #: What `nz explain` says of a method beside the counts that the page shows.
    BESIDE_COUNTS = frozenset({"kernels", "predicted_s", "measured_s"})

    def assert_explain_draws(self, matrix: str, picture: dict) -> None:
        """`nz explain` has the same warp, and the sectors that the picture shows."""
        one = ("--method", picture["method"], "--warp", str(picture["warp"]), "--requests", "48")
        warp = json.loads(self.nz("explain", matrix, *one, "--json").stdout)["warp"]
        self.assertEqual(warp["picture"], {k: picture[k] for k in ("requests", "shown")})
        self.assertEqual(len(picture["shown"]), min(picture["requests"], 48))
        self.assertEqual(
            picture["requests"], warp["loads"]["requests"] + warp["stores"]["requests"]
        )
        if picture["requests"] <= 48:
            sectors = sum(len(set(step["lanes"]) - {" "}) for step in picture["shown"])
            self.assertEqual(sectors, warp["loads"]["sectors"] + warp["stores"]["sectors"])
            lanes = sum(32 - step["lanes"].count(" ") for step in picture["shown"])
            self.assertEqual(lanes, warp["loads"]["lanes"] + warp["stores"]["lanes"])

    def test_a_part_of_a_large_matrix_is_counted(self) -> None:
        n = 720
        self.nz("generate", "laplace2d", "--nx", str(n), "--ny", str(n), "-o", "A.npz")
        self.nz("study", "A.npz", "--threads", "1", "--seconds", "0.01", "--json", "m.json")
        seen = json.loads((self.folder / "m.json").read_text())["matrices"][0]["explain"]
        first, last = seen["rows"]
        self.assertLessEqual(seen["entries"], 2_000_000)
        self.assertGreater(seen["entries"], 2_000_000 - 5)
        self.assertAlmostEqual(first + last, n * n, delta=n)  # in the middle
        (scalar,) = (m for m in seen["methods"] if m["method"] == "csr.scalar")
        # Of each entry the column and the value once, x once at most, and of each row its bounds.
        rows, entries = last - first, seen["entries"]
        self.assertGreaterEqual(scalar["used_bytes"], 12 * entries)
        self.assertLessEqual(scalar["used_bytes"], 20 * entries + 8 * rows)

    def test_the_page_holds_its_data_and_asks_for_nothing(self) -> None:
        data = json.loads(MEASURED.read_text())
        page = self.from_data(data)
        self.assertEqual(page.data(), data)
        for tag, attributes in page.elements:
            for key in ("src", "href", "action", "data"):
                self.assertRegex(attributes.get(key) or "data:", "^data:", tag)
        policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
        self.assertTrue(policy.startswith("default-src 'none';"))
        text = (self.folder / "r.html").read_text().replace("http://www.w3.org/2000/svg", "")
        for word in (
            "://",
            "@import",
            "url(",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "fetch(",
            "XMLHttpRequest",
        ):
            self.assertNotIn(word, text)

    def test_names_stay_text(self) -> None:
        data = json.loads(MEASURED.read_text().replace('"laplace2d"', json.dumps(HOSTILE)))
        data["machine"]["cpu"] = data["results"][0]["method"] = HOSTILE
        page = self.from_data(data)
        self.assertEqual(page.data(), data)
        self.assertEqual([tag for tag, _ in page.elements].count("script"), 2)
        self.assertNotIn("img", [tag for tag, _ in page.elements])

    def test_a_file_name_that_is_no_utf_8(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "5", "--ny", "5", "-o", "A.mtx")
        os.rename(self.folder / "A.mtx", os.fsencode(self.folder) + b"/\xff<b>.mtx")
        self.nz(
            "report",
            b"\xff<b>.mtx",
            "--seconds",
            "0.01",
            "--solve-seconds",
            "0",
            "--threads",
            "1",
            "-o",
            "r.html",
            "--json",
            "r.json",
        )
        self.assertEqual(self.page().data()["matrices"][0]["name"], "\ufffd<b>")

    def test_matrices_without_entries(self) -> None:
        head = "%%MatrixMarket matrix coordinate real general\n"
        (self.folder / "A.mtx").write_text(head + "0 0 0\n")
        (self.folder / "B.mtx").write_text(head + "3 3 0\n")
        self.nz("report", "A.mtx", "B.mtx", "--threads", "1", "--seconds", "0.01", "-o", "r.html")
        data = self.page().data()
        self.assertEqual([A["nnz"] for A in data["matrices"]], [0, 0])
        self.assertEqual(data["solves"], [])

    def test_the_json_of_study_and_bench(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "9", "--ny", "9", "-o", "A.mtx")
        for command, key in (("study", "results"), ("bench", "rows")):
            self.nz(command, "A.mtx", "--threads", "1", "--seconds", "0.01", "--json", "m.json")
            self.nz("report", "--from", "m.json", "-o", "r.html")
            data = json.loads((self.folder / "m.json").read_text())
            for row in data[key]:
                row.pop("block_s", None)
            self.assertEqual(self.page().data(), data)

    def test_values_deeper_than_any_command_writes_are_left_out(self) -> None:
        text = MEASURED.read_text().rstrip()[:-1] + ', "deep": ' + "[" * 100000 + "]" * 100000 + "}"
        (self.folder / "in.json").write_text(text)
        self.nz("report", "--from", "in.json", "-o", "r.html")
        self.assertLess(len(json.dumps(self.page().data()["deep"])), 20)

    def test_thirty_matrices_stay_below_5_mb(self) -> None:
        data = json.loads(MEASURED.read_text())
        rows = [r for r in data["results"] if r["matrix"] == "laplace2d"]
        A, plan = data["matrices"][0], data["plans"][0]
        A["picture"]["png"] = base64.b64encode(random.Random(1).randbytes(240 * 240)).decode()
        for picture in A["explain"]["pictures"]:  # of as many steps as a page shows
            picture["shown"] = (picture["shown"] * 4)[:48]
            self.assertEqual(len(picture["shown"]), 48)
        big = {**data, "matrices": [], "results": [], "plans": [], "solves": []}
        for k in range(30):
            named = {"matrix": f"A{k}"}
            big["matrices"].append({**A, "name": f"A{k}"})
            big["results"] += [
                {**copy.copy(r), **named, "method": f"{r['method']}{n}"}
                for r in rows
                for n in range(8)
            ]
            big["plans"].append({**plan, **named, "candidates": plan["candidates"] * 6})
            big["solves"] += [{**s, **named} for s in data["solves"] for _ in range(2)]
        self.assertGreater(len(big["results"]), 30 * 100)
        self.from_data(big)
        self.assertLess((self.folder / "r.html").stat().st_size, 5e6)

    def test_colours_have_contrast(self) -> None:
        style = (ROOT / "cli" / "page" / "page.css").read_text()
        themes = [
            dict(re.findall(r"--([a-z0-9-]+):\s*(#[0-9a-f]{6})", block))
            for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
        ]
        self.assertEqual(len(themes), 3)  # light, dark, print
        for theme in themes:
            pairs = [
                (name, "paper") for name in ("ink", "soft", "s1", "s2", "s3", "s4", "s5", "s6")
            ]
            pairs += [(f"on-heat{k}", f"heat{k}") for k in range(5)] + [("on-note", "note")]
            for front, back in pairs:
                self.assertGreaterEqual(
                    contrast(theme[front], theme[back]), 4.5, (front, theme[front])
                )

    def test_errors(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "5", "--ny", "5", "-o", "A.mtx")
        self.nz("generate", "banded", "--n", "9", "--type", "cdouble", "-o", "C.mtx")
        (self.folder / "twice").mkdir()
        (self.folder / "twice" / "A.mtx").write_bytes((self.folder / "A.mtx").read_bytes())
        data = json.loads(MEASURED.read_text())
        for name, content in (
            ("cut.json", MEASURED.read_text()[:2000]),
            ("deep.json", "[" * 200000),
            ("list.json", "[1]"),
            ("plan.json", self.nz("plan", "A.mtx", "--json").stdout),
            ("nameless.json", json.dumps({**data, "matrices": [{"rows": 3}]})),
            ("stray.json", json.dumps({**data, "matrices": data["matrices"][:1]})),
            ("rows.json", json.dumps({**data, "results": [1, 2]})),
        ):
            (self.folder / name).write_text(content)
        for arguments, code, said in (
            ("none.mtx -o r.html", 3, "none.mtx"),
            ("A.mtx none.mtx -o r.html", 3, "none.mtx"),
            ("none.mtx -o nowhere/r.html", 4, "nowhere/r.html"),
            ("A.mtx -o r.txt", 2, ".html"),
            ("A.mtx", 2, "--output is required"),
            ("-o r.html", 2, "--from"),
            ("A.mtx --from cut.json -o r.html", 2, "--from"),
            ("--from cut.json --threads 1 -o r.html", 2, "--from excludes --threads"),
            ("A.mtx twice/A.mtx -o r.html", 2, "named 'A'"),
            ("C.mtx -o r.html", 2, "complex"),
            ("A.mtx --threads 0 -o r.html", 2, "--threads"),
            ("A.mtx -o r.html --json A.mtx", 2, "--json"),
            ("--from none.json -o r.html", 3, "none.json: cannot be opened"),
            ("--from cut.json -o r.html", 3, "cut.json: is no JSON"),
            ("--from deep.json -o r.html", 3, "deep.json: "),
            (
                "--from list.json -o r.html",
                3,
                "expected the JSON of nz study, nz bench or nz report",
            ),
            ("--from plan.json -o r.html", 3, "not of nz plan"),
            ("--from nameless.json -o r.html", 3, "a matrix has no name"),
            ("--from stray.json -o r.html", 3, "none of the matrices"),
            ("--from rows.json -o r.html", 3, "'results' is no list of objects"),
        ):
            with self.subTest(arguments):
                told = self.nz("report", *arguments.split(), code=code)
                self.assertIn(said, told.stderr)
                self.assertEqual([p.name for p in self.folder.glob("r.*")], [])

    def test_ctrl_c_leaves_a_whole_page_and_an_end_leaves_none(self) -> None:
        self.nz("generate", "laplace2d", "--nx", "50", "--ny", "50", "-o", "A.mtx")
        for ended_by, code in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
            run = subprocess.Popen(
                [NZ, "report", "A.mtx", "--seconds", "300", "-o", "r.html"],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(1.5)
            run.send_signal(ended_by)
            self.assertEqual(run.wait(60), code)
            if ended_by == signal.SIGINT:
                self.assertEqual(self.page().data()["interrupted"], True)
                (self.folder / "r.html").unlink()
            self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["A.mtx"])


if __name__ == "__main__":
    unittest.main()

"""The page of nz report in a real browser: every plot is there, and no error, and no request.

Run as ``NZ_COMMAND=build/dev/nz test/report_page_test.py``. Exits with 77, which ctest calls
skipped, where there is no Chromium.
"""

from __future__ import annotations

import copy
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MEASURED = ROOT / "test" / "data" / "report" / "two_matrices.json"
NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
SKIPPED = 77
PLOTS = [
    "heat-map",
    "spy",
    "row-lengths",
    "format-bytes",
    "methods",
    "roofline",
    "speed-up",
    "efficiency",
    "plan",
    "warp",
    "solvers",
]


class Drawn(HTMLParser):
    """A page as a browser drew it: marks and text by figure, tags, and the root's attributes."""

    def __init__(self, dom: str) -> None:
        super().__init__()
        self.marks: Counter[str] = Counter()
        self.text: dict[str, str] = {}
        self.tags: Counter[str] = Counter()
        self.root: dict[str, str | None] = {}
        self.figure = ""
        self.feed(dom)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags[tag] += 1
        if tag == "html":
            self.root = attributes
        if tag == "figure":
            self.figure = attributes["id"] or ""
        self.marks[self.figure] += "mark" in (attributes.get("class") or "").split()

    def handle_endtag(self, tag: str) -> None:
        if tag == "figure":
            self.figure = ""

    def handle_data(self, data: str) -> None:
        self.text[self.figure] = self.text.get(self.figure, "") + data + "\n"


@dataclass
class Visit:
    """A page that was opened, what it wrote to the console, and the addresses it asked for."""

    page: Drawn
    console: list[str]
    requests: list[str]


def visit(path: Path, fragment: str = "", *flags: str) -> Visit:
    """Open a file in the browser and wait until nothing happens on it any more.

    Further flags of Chromium take the place of those before them.
    """
    with tempfile.TemporaryDirectory() as profile:
        log = Path(profile) / "net.json"
        done = subprocess.run(
            [
                str(CHROMIUM),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={profile}",
                f"--log-net-log={log}",
                "--enable-logging=stderr",
                "--window-size=1200,900",
                "--virtual-time-budget=2000",
                *flags,
                "--dump-dom",
                path.as_uri() + fragment,
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        events = json.loads(log.read_text())["events"]
    asked = [event["params"] for event in events if "url" in event.get("params", {})]
    # The browser looks for updates by itself; those requests have "not an origin" as initiator.
    own = [p["url"] for p in asked if p.get("initiator", "not an origin") != "not an origin"]
    return Visit(Drawn(done.stdout), re.findall(r":CONSOLE.*", done.stderr), own)


class Page(unittest.TestCase):
    """Pages made from committed measurements."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.data = json.loads(MEASURED.read_text())

    def visit_report(self, script: str = "") -> Visit:
        """The page of the data, after `script` has run in it."""
        (self.folder / "in.json").write_text(json.dumps(self.data))
        page = self.folder / "r.html"
        subprocess.run(
            [NZ, "report", "--from", "in.json", "-o", page],
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        end = f'<script nonce="nz">{script}</script></body>' if script else "</body>"
        page.write_text(page.read_text().replace("</body>", end))
        seen = visit(page)
        self.assertEqual((seen.console, seen.requests), ([], []))
        self.assertNotIn("data-error", seen.page.root)
        return seen

    def test_the_browser_tells_of_errors_and_requests(self) -> None:
        bad = self.folder / "bad.html"
        bad.write_text("<script>console.error('oops')</script><img src='http://example.org/a.png'>")
        seen = visit(bad)
        self.assertIn("oops", "".join(seen.console))
        self.assertEqual(set(seen.requests), {"http://example.org/a.png"})

    def test_every_plot_is_drawn(self) -> None:
        page = self.visit_report().page
        for plot in PLOTS:
            self.assertGreater(page.marks[plot], 0, plot)
        of_first = [
            r for r in self.data["results"] if r["matrix"] == "laplace2d" and "median_s" in r
        ]
        self.assertEqual(page.marks["methods"], len({r["method"] for r in of_first}))
        self.assertEqual(page.marks["roofline"], len(of_first) + len(self.data["bandwidth"]))
        self.assertEqual(
            page.marks["row-lengths"], len(self.data["matrices"][0]["row_length"]["histogram"])
        )
        self.assertEqual(page.marks["spy"], 1)
        for plot, words in (
            ("methods", "GFLOP/s"),
            ("roofline", "operations / byte"),
            ("speed-up", "threads"),
            ("solvers", "iterations"),
            ("plan", "predicted"),
            ("format-bytes", "bytes / entry"),
            ("row-lengths", "entries in the row"),
            ("warp", "lane"),
            ("warp", "step"),
        ):
            self.assertIn(words, page.text[plot], plot)

    def test_it_begins_with_what_was_taught(self) -> None:
        for r in self.data["results"]:
            r["spread"] = min(r.get("spread", 0), 0.1)  # doubtful times teach nothing
        page = self.visit_report("""
            const texts = (what) => [...document.querySelectorAll(what)].map((e) => e.textContent);
            const links = [...document.querySelectorAll('nav a')];
            document.documentElement.dataset.seen = JSON.stringify({
                title: document.title, h1: texts('h1')[0], heads: texts('h2'),
                links: texts('nav a'), figures: texts('.taught strong'), small: texts('.taught li'),
                lost: links.filter((a) => !document.querySelector(a.getAttribute('href'))).length});
            """).page
        seen = json.loads(page.root["data-seen"] or "{}")
        self.assertEqual(seen["heads"][:2], ["What this taught", "All matrices"])
        self.assertEqual((seen["links"], seen["lost"]), (seen["heads"], 0))
        self.assertEqual(len(seen["figures"]), 3)
        for text in (seen["title"], seen["h1"]):
            self.assertIn(" on 2 threads", text)
            self.assertIn(f"nonzero {self.data['nz']}", text)
        gains = []
        for matrix in self.data["matrices"]:
            times = {
                (r["method"], r["threads"]): r["median_s"]
                for r in self.data["results"]
                if r["matrix"] == matrix["name"] and "median_s" in r
            }
            gains.append(times["csr.static", 2] / min(times.values()))
        self.assertEqual(seen["figures"][0], f"{(gains[0] * gains[1]) ** 0.5:.3g}×")
        self.assertIn("2 matrices", seen["small"][0])

    def test_doubtful_times_teach_nothing(self) -> None:
        for r in self.data["results"]:
            r["spread"] = 0.9
        seen = self.visit_report("""
            document.documentElement.dataset.seen =
                document.getElementById('section-what-this-taught').textContent;
            """).page.root["data-seen"]
        left_out = "All of the matrices are left out here, as the machine was busy."
        self.assertEqual(seen, "What this taught" + left_out)

    def test_kernels_with_the_same_figures_share_a_row_which_is_folded_on_a_cpu(self) -> None:
        script = """
            const table = [...document.querySelectorAll('table')].find(
                (t) => t.caption?.textContent.startsWith('What each GPU kernel'));
            const fold = table.closest('details');
            document.documentElement.dataset.seen = JSON.stringify([
                fold === null ? 'open' : fold.open,
                [...table.tBodies[0].rows].map((row) => row.cells[0].textContent)]);
            """
        is_open, rows = json.loads(self.visit_report(script).page.root["data-seen"] or "[]")
        self.assertIs(is_open, False)
        same = (
            "csr.vector, csr.vector_ldg, csr.vector_shared, csr.vector_shared2d, csr.vector_texture"
        )
        self.assertIn(same, rows)
        self.assertIn("csr.scalar", rows)

    def test_a_warp_is_drawn_as_it_was_counted(self) -> None:
        explained = self.data["matrices"][0]["explain"]
        for k, picture in enumerate(explained["pictures"]):
            with self.subTest(picture["method"]):
                seen = self.visit_report(f"""
                    const chooser = document.querySelector('select[aria-label=kernel]');
                    chooser.value = '{k}';
                    chooser.dispatchEvent(new Event('change'));
                    document.documentElement.dataset.seen =
                        chooser.closest('section').textContent;
                    """).page
                working = sum(c != " " for step in picture["shown"] for c in step["lanes"])
                self.assertEqual(seen.marks["warp"], working)
                steps = [len(set(step["lanes"]) - {" "}) for step in picture["shown"]]
                drawn = seen.text["warp"].split("sectors\n")[-1]
                for number, sectors in enumerate(steps):
                    self.assertRegex(drawn, rf"(^|\n){number}\n(.|\n)*\n{sectors}\n")
                text = seen.root["data-seen"] or ""
                self.assertIn(f"All of its {len(steps)} steps.", text)
                self.assertIn(picture["place"], text)
                for m in explained["methods"]:
                    self.assertIn(m.get("binds", m.get("declined")), text)

    def test_what_was_left_out_of_the_memorys_view_is_said(self) -> None:
        explained = self.data["matrices"][0]["explain"]
        explained["rows"], explained["entries"] = [1000, 5000], 1234567
        explained["pictures"][0]["requests"] = 4013
        text = self.visit_report().page.text[""]
        self.assertIn("counted are rows 1,001 to 5,000 alone, as a matrix of 1,234,567", text)
        self.assertIn("The first 13 of its 4,013 steps; 4,000 are left out.", text)

    def test_times_of_a_gpu_stand_beside_its_kernels(self) -> None:
        script = """
            document.documentElement.dataset.seen = [...document.querySelectorAll('table')]
                .map((table) => table.textContent)
                .find((text) => text.startsWith('What each GPU kernel'));
            """
        self.assertNotIn("µs", self.visit_report(script).page.root["data-seen"] or "")
        gpu = {"matrix": "laplace2d", "method": "packed.warp", "threads": 0, "median_s": 1.234e-5}
        self.data["results"].append(gpu)
        self.assertIn("12.3 µs", self.visit_report(script).page.root["data-seen"] or "")

    def test_tables_sort_by_any_column_up_and_down(self) -> None:
        page = self.visit_report("""
            const all = [...document.querySelectorAll('table:not(.heat) th button')].map((button) => {
                const head = button.parentElement, table = head.closest('table');
                const column = [...head.parentElement.children].indexOf(head);
                const cells = () => [...table.tBodies[0].rows].map(
                    (row) => row.cells[column].textContent);
                const sorted = () => {
                    button.click();
                    return [head.getAttribute('aria-sort'), cells()];
                };
                return {table: table.caption.textContent, column: button.textContent,
                    words: head.className === 'words', before: cells(),
                    after: [sorted(), sorted()]};
            });
            document.documentElement.dataset.seen = JSON.stringify(all);
            """).page
        columns = json.loads(page.root["data-seen"] or "[]")
        self.assertGreater(len({c["table"] for c in columns}), 4)
        for c in columns:
            with self.subTest(f"{c['table']}: {c['column']}"):
                self.assertEqual({way for way, _ in c["after"]}, {"ascending", "descending"})
                for way, cells in c["after"]:
                    self.assertEqual(Counter(cells), Counter(c["before"]))
                    plain = [cell for cell in cells if re.fullmatch(r"[0-9.]+", cell)]
                    if c["words"] or len(plain) < len(cells):
                        continue
                    numbers = [float(cell) for cell in cells]
                    self.assertEqual(numbers, sorted(numbers, reverse=way == "descending"))

    def test_it_fits_a_phone_and_a_desk(self) -> None:
        self.visit_report()
        report = (self.folder / "r.html").read_text()
        for width in (1200, 400):
            frame = self.folder / "frame.html"
            frame.write_text(f"""<iframe width={width} height=900 frameborder=0
                srcdoc="{html.escape(report)}"></iframe><script>
                onload = () => {{
                    const page = document.querySelector('iframe').contentDocument;
                    const right = (e) => Math.ceil(e.getBoundingClientRect().right);
                    document.documentElement.dataset.seen = JSON.stringify([
                        page.documentElement.scrollWidth,
                        ...[...page.querySelectorAll('figure > *')].map(right)]);
                }}</script>""")
            seen = json.loads(visit(frame).page.root["data-seen"] or "[]")
            self.assertGreater(len(seen), len(PLOTS))
            self.assertLessEqual(max(seen), width)

    def test_a_busy_machine_is_said(self) -> None:
        busy = sum(r.get("spread", 0) > 0.5 for r in self.data["results"])
        self.assertGreater(busy, 0)
        self.assertIn(f"The machine was busy: {busy} of ", self.visit_report().page.text[""])

    def test_threads_that_are_slower_than_one_are_said(self) -> None:
        said = "csr.static takes 2 times as long on 2 threads as on one (laplace2d)"
        self.assertNotIn(said, self.visit_report().page.text[""])
        for r in self.data["results"]:
            if r["matrix"] == "laplace2d" and r["method"] == "csr.static":
                r["median_s"] = 1e-3 * r["threads"]
        self.assertIn(said, self.visit_report().page.text[""])

    def test_names_stay_text(self) -> None:
        hostile = "</script><img src=x onerror=alert(1)><b>"
        text = (
            json.dumps(self.data)
            .replace('"laplace2d"', json.dumps(hostile))
            .replace('"csr.serial"', json.dumps(hostile))
        )
        self.data = json.loads(text)
        page = self.visit_report().page
        self.assertEqual(page.tags["b"], 0)
        self.assertEqual(page.tags["img"], 1)  # the sparsity picture
        self.assertIn(hostile, page.text[""])

    def test_methods_of_one_layout_that_store_different_bytes_have_bars_of_their_own(self) -> None:
        for matrix in self.data["matrices"]:
            del matrix["layouts"]  # as in what nz bench writes
        row = next(r for r in self.data["results"] if r["method"].startswith("csr."))
        for method, more in (
            ("csr.adaptive", 8),
            ("cusparse.csr", 16),
            ("cusparse.coo", 24),
            ("cusparse.coo_deterministic", 24),
        ):
            changed = {"method": method, "matrix_bytes": row["matrix_bytes"] + more}
            self.data["results"].append({**row, **changed})
        page = self.visit_report("""
            const names = document.querySelectorAll('#format-bytes text[text-anchor=end]');
            document.documentElement.dataset.seen =
                JSON.stringify([...names].map((name) => name.textContent));
            """).page
        names = json.loads(page.root["data-seen"] or "[]")
        of_two = [name for name in names if name.startswith(("csr", "cusparse"))]
        csr = {r["method"] for r in self.data["results"] if r["method"].startswith("csr.")}
        self.assertIn("ell", names)
        self.assertEqual(
            of_two[1:], ["csr.adaptive", "cusparse.csr", "cusparse.coo and 1 more"], csr
        )
        self.assertRegex(of_two[0], rf"^csr\.\w+ and {len(csr) - 2} more$")

    def test_other_commands_have_fewer_plots(self) -> None:
        subprocess.run(
            [NZ, "generate", "laplace2d", "--nx", "9", "--ny", "9", "-o", "A.mtx"],
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        for command, plots in (
            (
                "study",
                {"methods", "roofline", "speed-up", "efficiency", "plan", "format-bytes", "warp"},
            ),
            ("bench", {"methods", "roofline", "speed-up", "efficiency", "format-bytes"}),
        ):
            subprocess.run(
                [NZ, command, "A.mtx", "--threads", "1,2", "--seconds", "0.01", "--json", "m.json"],
                cwd=self.folder,
                check=True,
                capture_output=True,
            )
            self.data = json.loads((self.folder / "m.json").read_text())
            page = self.visit_report().page
            self.assertEqual(
                {plot for plot, marks in page.marks.items() if marks > 0 and plot}, plots
            )

    def test_odd_measurements_are_shown_as_far_as_they_go(self) -> None:
        name = {"name": "A", "rows": 0, "cols": 0, "nnz": 0}
        still = {"matrix": "A", "method": "m", "threads": 1, "median_s": 1e-6, "gflops": 0}
        odd = {**still, "spread": -4, "matrix_bytes": -5, "gbps": 7}
        step = {"array": 7, "role": "toString", "lanes": {}}
        view = {"methods": [{"requests": 1}], "pictures": [{"shown": [step]}, {}]}
        wordy = {**still, "gflops": {}, "median_s": "fast"}
        for what, rows, explained, plots in (
            ("nothing", [{"matrix": "A", "method": "m", "threads": 1}], 7, set()),
            ("no numbers", [wordy, still, odd], view, {"methods"}),
        ):
            with self.subTest(what):
                self.data = {"command": "bench", "matrices": [name], "rows": rows}
                self.data |= {"bandwidth": 7, "solves": {"a": 1}, "lessons": [3]}
                self.data["matrices"][0]["explain"] = explained
                marks = self.visit_report().page.marks
                self.assertEqual({plot for plot in marks if plot and marks[plot] > 0}, plots)

    def grow_to_thirty_matrices(self) -> None:
        """Fifteen times the matrices, six times the methods, and many pictures of each."""
        for key, name in (
            ("matrices", "name"),
            ("results", "matrix"),
            ("plans", "matrix"),
            ("solves", "matrix"),
        ):
            self.data[key] = [
                {**row, name: f"{row[name]}{k}"} for k in range(15) for row in self.data[key]
            ]
        self.data["results"] = [
            {**row, "method": f"{row['method']}{k}"}
            for k in range(6)
            for row in self.data["results"]
        ]
        explained = self.data["matrices"][0]["explain"]
        for picture in explained["pictures"]:
            picture["shown"] = (picture["shown"] * 5)[:48]
        for matrix in self.data["matrices"]:
            matrix["explain"] = explained

    def test_thirty_matrices_cost_little_more_than_two(self) -> None:
        two = self.data
        thirty = self.data = copy.deepcopy(two)
        self.grow_to_thirty_matrices()
        ratios = []
        for _ in range(3):  # other processes may slow down one of them
            ready = []
            for self.data in (two, thirty):
                page = self.visit_report().page
                ready.append(int(page.root["data-ready-ms"] or 0))
            ratios.append(ready[1] / ready[0])  # 1.3 to 2.2 on two cores, quiet or busy
            if ratios[-1] < 2.5:
                break
        self.assertLess(min(ratios), 2.5)
        self.assertGreater(page.marks["heat-map"], 30 * 20)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: there is no Chromium here (Debian's package chromium)")
        sys.exit(SKIPPED)
    unittest.main()

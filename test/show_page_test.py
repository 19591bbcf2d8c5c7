"""The page of nz show: its data against the product, and in a real browser what lights up.

Run as ``NZ_COMMAND=build/dev/nz test/show_page_test.py``. What needs Chromium is skipped where there
is none.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from report_page_test import CHROMIUM, NZ, ROOT, Visit, visit

FOUR = """%%MatrixMarket matrix coordinate real general
4 4 9
1 1 4
1 2 1
2 1 1
2 2 5
2 3 2
3 3 6
4 1 3
4 3 8
4 4 7
"""
ROW_A_THREAD = ("csr.scalar", "jds.row", "hll.column", "hll.row", "icrs.row", "sell.row")
Data = dict[str, Any]
# What scripts/live-explorer has made, if it has.
LIVE = Path(os.environ.get("NZ_LIVE", ROOT / "build" / "live" / "explorer.wasm"))
LIBRARY = ["cs121", "pmpp", "calzetta-lori", "stencil", "power-law", "dense-row", "empty-rows"]


def wide_lines(rows: int, cols: int) -> str:
    """Rows of 0, 1, 2 ... 12 entries: for several warps, sections and diagonals."""
    entries = [(i, (7 * i + 5 * k) % cols, i + k + 1) for i in range(rows) for k in range(i % 13)]
    lines = sorted({(i, j): v for i, j, v in entries}.items())
    head = f"%%MatrixMarket matrix coordinate real general\n{rows} {cols} {len(lines)}\n"
    return head + "".join(f"{i + 1} {j + 1} {v}\n" for (i, j), v in lines)


def stencil(side: int) -> str:
    """-1, 2, -1 on three diagonals."""
    lines = [(i, j, 2 if i == j else -1) for i in range(side) for j in (i - 1, i, i + 1)]
    lines = [(i, j, v) for i, j, v in lines if 0 <= j < side]
    head = f"%%MatrixMarket matrix coordinate real general\n{side} {side} {len(lines)}\n"
    return head + "".join(f"{i + 1} {j + 1} {v}\n" for i, j, v in lines)


# Five full diagonals of 320 different values: a table whose numbers take two bytes.
MANY_VALUES = "%%MatrixMarket matrix coordinate real general\n64 64 320\n" + "".join(
    f"{i + 1} {(i + 7 * k) % 64 + 1} {64 * k + i + 1}\n" for i in range(64) for k in range(5)
)


def all_data(page: Path) -> Data:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S
    )
    assert found is not None
    data: Data = json.loads(found[1])
    return data


def totals(data: Data, kernel: Data) -> tuple[int, int, int, int]:
    """Steps, sectors, bytes used and idle lanes of all steps."""
    bytes_of = {a["name"]: a["bytes"] for a in data["layouts"][kernel["layout"]]["arrays"]}
    bytes_of |= {"x": 8, "y": 8}
    sectors = used = idle = 0
    for step in kernel["steps"]:
        wide = step.get("cells", 1)
        cells = {first + k for first in step["at"] if first >= 0 for k in range(wide)}
        size = bytes_of[step["array"]] if step["array"] in bytes_of else step["bytes"]
        sectors += len({cell * size // 32 for cell in cells})
        used += step.get("used", size * len(cells))
        idle += 32 - sum(first >= 0 for first in step["at"])
    return len(kernel["steps"]), sectors, used, idle


class Page(unittest.TestCase):
    """Pages of small matrices."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page_of(self, matrix: str, *options: str) -> Path:
        (self.folder / "A.mtx").write_text(matrix)
        return self.write_page("A.mtx", *options)

    def write_page(self, *arguments: str) -> Path:
        subprocess.run(
            [NZ, "show", *arguments, "--html", "-o", "A.html"],
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        return self.folder / "A.html"

    def data_of(self, matrix: str, *options: str) -> Data:
        (data,) = all_data(self.page_of(matrix, *options))["matrices"]
        return data


class DataOfThePage(Page):
    """The data that the page draws, without a browser."""

    def matrices(self) -> list[Data]:
        return [
            self.data_of(FOUR),
            self.data_of(wide_lines(61, 64)),
            self.data_of(wide_lines(64, 13), "--chunk", "4", "--hack", "8", "--interleave", "16"),
            self.data_of(FOUR, "--block-side", "2", "--split-width", "1", "--least-fill", "0"),
        ]

    def test_every_entry_has_one_place_among_the_values(self) -> None:
        for data in self.matrices():
            count = len(data["matrix"]["entries"])
            self.assertGreaterEqual(len({m["format"] for m in data["layouts"]}), 10)
            for layout in data["layouts"]:
                if layout["format"] == "packed":  # its values are in a table
                    continue
                with self.subTest(layout["format"]):
                    values = [a for a in layout["arrays"] if a["role"] == "values"]
                    held = [e for a in values for e in a["entries"] if e >= 0]
                    self.assertEqual(sorted(held), list(range(count)))
                    for array in values:
                        for cell, e in zip(array["cells"], array["entries"], strict=True):
                            if e >= 0:
                                self.assertEqual(float(cell), data["matrix"]["entries"][e][2])
                    self.assertEqual(
                        layout["bytes"], sum(a["bytes"] * len(a["cells"]) for a in layout["arrays"])
                    )

    def test_what_an_entry_lights_of_packed_says_where_and_what_it_is(self) -> None:
        seen = set()
        for data in [*self.matrices(), *(self.data_of(m) for m in (stencil(33), MANY_VALUES))]:
            (layout,) = [m for m in data["layouts"] if m["format"] == "packed"]
            cells = {a["name"]: a["cells"] for a in layout["arrays"]}
            numbers = next(a["entries"] for a in layout["arrays"] if a["name"] == "val")
            held = [e for e in numbers if e >= 0]
            self.assertEqual(len(held), len(set(held)))
            self.assertEqual(
                layout["bytes"], sum(a["bytes"] * len(a["cells"]) for a in layout["arrays"])
            )
            for e, (row, col, value) in enumerate(data["matrix"]["entries"]):
                lit: dict[str, list[str]] = {}
                for name, element in layout["places"][e]:
                    lit.setdefault(name, []).append(cells[name][element])
                with self.subTest(data["matrix"]["entries"][e]):
                    self.assertEqual([int(r) for r in lit.get("perm", [row])], [row])
                    (chunk,) = lit["chunks"]
                    kind, rest = chunk.split(": ")
                    first = int(rest.split("from ")[1].split(",")[0])
                    seen |= {kind, *("perm" for _ in lit.get("perm", []))}
                    words = lit["indices"]
                    if "diagonals" in kind:
                        self.assertEqual(int(words[0]), col - row)
                        self.assertEqual(words[1][row - first], "1")
                    else:
                        base = int(rest.split("columns from ")[1])
                        self.assertIn(str(col - base), words[0].split("|"))
                    if kind == "constant diagonals":
                        self.assertEqual(float(words[2]), value)
                        self.assertNotIn(e, held)
                        continue
                    self.assertEqual([float(v) for v in lit["table"]], [value])
                    if e in held:
                        self.assertEqual(
                            cells["table"][int(cells["val"][numbers.index(e)])], lit["table"][0]
                        )
                    else:  # all have one value
                        self.assertEqual(cells["val"], [])
        self.assertEqual(seen, {"constant diagonals", "diagonals", "16-bit columns", "perm"})

    def test_columns_beside_values_are_the_entries_columns(self) -> None:
        for data in self.matrices():
            entries = data["matrix"]["entries"]
            for array in (a for m in data["layouts"] for a in m["arrays"] if "entries" in a):
                which = {"col_ind": 1, "row_ind": 0}.get(array["name"].split(".")[-1])
                if which is None:
                    continue
                for cell, e in zip(array["cells"], array["entries"], strict=True):
                    if e >= 0:
                        self.assertEqual(int(cell), entries[e][which])

    def test_every_kernel_multiplies_every_entry_once(self) -> None:
        for data in self.matrices():
            count = len(data["matrix"]["entries"])
            self.assertGreater(len(data["kernels"]), 20)
            for kernel in data["kernels"]:
                with self.subTest(kernel["method"]):
                    done = [e for s in kernel["steps"] for _, e in s.get("entries", [])]
                    self.assertEqual(sorted(done), list(range(count)))

    def test_lanes_read_what_says_where_their_entries_are(self) -> None:
        for data in self.matrices():
            for kernel in data["kernels"]:
                if kernel["method"] not in ROW_A_THREAD:
                    continue
                layout = data["layouts"][kernel["layout"]]
                roles = {a["name"]: a["role"] for a in layout["arrays"]}
                read: dict[tuple[int, int], set[tuple[str, int]]] = {}
                owner: dict[int, tuple[int, int]] = {}
                for step in kernel["steps"]:
                    for lane, e in step.get("entries", []):
                        owner[e] = (step["warp"], lane)
                    for lane, at in enumerate(step["at"]):
                        if at >= 0 and roles.get(step["array"]) == "structure":
                            read.setdefault((step["warp"], lane), set()).add((step["array"], at))
                for e, thread in owner.items():
                    with self.subTest(kernel["method"], entry=e):
                        self.assertEqual(read[thread], {tuple(p) for p in layout["places"][e]})

    def test_totals_are_those_of_nz_explain(self) -> None:
        for matrix in (FOUR, wide_lines(61, 64), stencil(33)):
            data = self.data_of(matrix)
            report = self.folder / "explain.json"
            subprocess.run(
                [NZ, "explain", "A.mtx", "--json", report],
                cwd=self.folder,
                check=True,
                capture_output=True,
            )
            of_method = {m["method"]: m for m in json.loads(report.read_text())["methods"]}
            for kernel in data["kernels"]:
                with self.subTest(kernel["method"]):
                    explained = of_method[kernel["method"]]
                    counts = [k[w] for k in explained["kernels"] for w in ("loads", "stores")]
                    steps, sectors, used, idle = totals(data, kernel)
                    for counted, what in (
                        (steps, "requests"),
                        (sectors, "sectors"),
                        (32 * sectors, "moved_bytes"),
                        (used, "used_bytes"),
                        (32 * steps - idle, "lanes"),
                    ):
                        self.assertEqual(counted, sum(c[what] for c in counts), what)

    def test_without_a_matrix_the_page_has_those_that_teach(self) -> None:
        data = all_data(self.write_page())
        self.assertNotIn("live", data)
        self.assertEqual([m["matrix"]["name"] for m in data["matrices"]], LIBRARY)
        for one in data["matrices"]:
            with self.subTest(one["matrix"]["name"]):
                self.assertTrue(one["about"].endswith("."))
                self.assertGreater(len(one["kernels"]), 14)  # a dense row is too long for some
                rows = [i for i, _, _ in one["matrix"]["entries"]]
                lengths = [rows.count(i) for i in range(one["matrix"]["rows"])]
                if one["matrix"]["name"] == "dense-row":
                    self.assertEqual(max(lengths), one["matrix"]["cols"])
                if one["matrix"]["name"] == "empty-rows":
                    self.assertEqual(lengths.count(0), 24)
                if one["matrix"]["name"] == "power-law":
                    self.assertGreater(max(lengths), 2.5 * sum(lengths) / len(lengths))

    def test_a_file_that_is_no_webassembly_is_refused(self) -> None:
        (self.folder / "A.wasm").write_text("no")
        done = subprocess.run(
            [NZ, "show", "--html", "-o", "A.html", "--live", "A.wasm"],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("A.wasm: is no WebAssembly", done.stderr)
        self.assertFalse((self.folder / "A.html").exists())

    def test_what_is_too_large_is_refused(self) -> None:
        (self.folder / "A.mtx").write_text(wide_lines(65, 64))
        done = subprocess.run(
            [NZ, "show", "A.mtx", "--html", "-o", "A.html"],
            cwd=self.folder,
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("65 x 64 with", done.stderr)
        self.assertIn("is too large to show; up to 64 x 64 with 400 are", done.stderr)
        self.assertFalse((self.folder / "A.html").exists())

    def test_the_options_of_a_page_and_of_text_are_told_apart(self) -> None:
        (self.folder / "A.mtx").write_text(FOUR)
        for options in (
            ["--html"],
            ["-o", "A.html"],
            ["--html", "-o", "A.txt"],
            ["--format", "csr", "--live", "A.wasm"],
        ):
            done = subprocess.run(
                [NZ, "show", "A.mtx", *options], cwd=self.folder, capture_output=True, text=True
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertTrue(done.stderr.startswith("nz: "), done.stderr)


@unittest.skipIf(CHROMIUM is None, "there is no Chromium here (Debian's package chromium)")
class InABrowser(Page):
    """The page, pointed at by a script that is put into it."""

    def act(self, matrix: str, script: str, *options: str) -> tuple[Visit, Any]:
        """Result of `script` in `seen`, and the visit."""
        return self.act_on(self.page_of(matrix, *options), script)

    def act_on(self, page: Path, script: str, fragment: str = "") -> tuple[Visit, Any]:
        """The same on a page that is there. `script` may wait."""
        helpers = """
            const lit = (panel) => [...panel.querySelectorAll('.array .cell.lit')].map((cell) =>
                `${cell.closest('.array').dataset.array}[${cell.dataset.element}]`);
            const panels = () => [...document.querySelectorAll('.panel')];
            const at = (row, col) => document.querySelector(`[data-at="${row},${col}"]`);
            const choose = (panel, format, method) => {
                const [first, second] = panel.querySelectorAll('select');
                first.value = format;
                first.dispatchEvent(new Event('change'));
                const option = [...second.options].find((o) => o.text === method);
                second.value = option?.value;
                second.dispatchEvent(new Event('change'));
            };
            const slide = (step) => {
                const slider = document.querySelector('input[type=range]');
                slider.value = step ?? slider.max;
                slider.dispatchEvent(new Event('input'));
            };
            const key = (element, name) => element.dispatchEvent(
                new KeyboardEvent('keydown', {key: name, bubbles: true}));
            let seen;
        """
        text = page.read_text().replace(
            "</body>",
            f'<script nonce="nz">{helpers}(async () => {{ {script};'
            "document.documentElement.dataset.seen = JSON.stringify(seen) })()</script></body>",
        )
        page.write_text(text)
        seen = visit(page, fragment)
        self.assertEqual((seen.console, seen.requests), ([], []))
        self.assertNotIn("data-error", seen.page.root)
        return seen, json.loads(seen.page.root["data-seen"] or "null")

    def test_an_entry_lights_its_place_in_every_array(self) -> None:
        _, seen = self.act(
            FOUR,
            """at(1, 2).dispatchEvent(new PointerEvent('pointerenter', {pointerType: 'mouse'}));
            choose(panels()[1], 'ell', 'ell.row');
            seen = [...panels().map(lit), document.querySelector('.told').textContent,
                    panels()[1].querySelector('.reader').textContent];
            at(1, 2).dispatchEvent(new PointerEvent('pointerleave', {pointerType: 'mouse'}));
            seen.push(document.querySelectorAll('.lit:not(.key)').length)""",
        )
        self.assertEqual(
            seen,
            [
                ["row_ptr[1]", "row_ptr[2]", "col_ind[4]", "val[4]", "x[2]", "y[1]"],
                ["col_ind[65]", "val[65]", "x[2]", "y[1]"],
                "Row 1, column 2: 2.",
                # col_ind, val; col_ind, val; col_ind, val; col_ind, val; x of columns 0, 1, 2
                "Lane 1 of warp 0, block 0, loads its value in step 6 and multiplies it in step 9.",
                0,
            ],
        )

    def test_an_entry_lights_its_place_in_packed(self) -> None:
        _, seen = self.act(
            stencil(33),
            """const [panel] = panels();
            choose(panel, 'packed', 'packed.warp');
            at(1, 2).click();
            seen = [lit(panel), panel.querySelector('.reader').textContent];
            panel.querySelector('[data-array=indices] [data-element="4"]').click();
            seen.push([...document.querySelectorAll('.dense .lit')].length);
            at(32, 31).click();
            seen.push(lit(panel), panel.querySelector('.reader').textContent)""",
        )
        self.assertEqual(
            seen,
            [
                ["chunks[0]", *(f"indices[{k}]" for k in range(8, 12)), "x[2]", "y[1]"],
                "Lane 1 of warp 0, block 0, multiplies it in step 8.",
                32,  # of the main diagonal's mask
                ["chunks[1]", "indices[16]", "val[0]", "table[1]", "x[31]", "y[32]"],
                "Lane 0 of warp 1, block 0, loads its value in step 14 and multiplies it in "
                "step 18.",
            ],
        )

    def test_keys_move_and_keep_and_release(self) -> None:
        _, seen = self.act(
            FOUR,
            """at(0, 0).focus();
            key(at(0, 0), 'ArrowDown'), key(at(1, 0), 'ArrowRight');
            const moved = document.activeElement.dataset.at;
            key(at(1, 1), 'Enter');
            const kept = lit(panels()[0]);
            key(document, 'Escape');
            seen = [moved, kept, lit(panels()[0])]""",
        )
        self.assertEqual(
            seen,
            ["1,1", ["row_ptr[1]", "row_ptr[2]", "col_ind[3]", "val[3]", "x[1]", "y[1]"], []],
        )

    def test_an_element_of_structure_lights_all_its_entries(self) -> None:
        _, seen = self.act(
            FOUR,
            """panels()[0].querySelector('[data-array=row_ptr] [data-element="4"]').click();
            seen = [...document.querySelectorAll('.dense .lit')].map((cell) => cell.dataset.at)""",
        )
        self.assertEqual(seen, ["3,0", "3,2", "3,3"])

    def test_the_last_step_has_summed_every_row(self) -> None:
        wide = wide_lines(40, 30)
        entries = [[float(t) for t in line.split()] for line in wide.splitlines()[2:]]
        sums = [sum(v * j for i, j, v in entries if i == row + 1) for row in range(40)]
        _, seen = self.act(
            wide,
            """seen = {};
            const [panel] = panels();
            for (const {method, layout} of data.kernels) {
                choose(panel, data.layouts[layout].format, method);
                slide(0);
                slide();
                seen[method] = [
                    [...panel.querySelectorAll('[data-array=y] .cell')].map((c) => c.textContent),
                    document.querySelectorAll('.dense .entry.done').length];
            }""".replace(
                "data.", "JSON.parse(document.getElementById('data').textContent).matrices[0]."
            ),
        )
        self.assertGreater(len(seen), 20)
        for method, (shown, multiplied) in seen.items():
            with self.subTest(method):
                self.assertEqual([float(t or 0) for t in shown], sums)
                self.assertEqual(multiplied, len(entries))

    def test_a_step_shows_its_lanes(self) -> None:
        _, seen = self.act(
            FOUR,
            """const [panel] = panels();
            choose(panel, 'csr', 'csr.scalar');
            slide(3);  // row_ptr behind, row_ptr, then the first value of each row
            seen = [
                [...panel.querySelectorAll('.lanes .at-work')].map((lane) => lane.lastChild.textContent),
                [...panel.querySelectorAll('.cell.now')].map((c) => c.dataset.element),
                panel.querySelector('.said').textContent];
            slide(5);  // x of those
            seen.push([...document.querySelectorAll('.dense .now')].map(
                (c) => `${c.dataset.at}: ${c.dataset.lane}`))""",
        )
        self.assertEqual(
            seen,
            [
                ["0", "2", "5", "6"],
                ["0", "2", "5", "6"],
                "Block 0, warp 0: lanes 0–3 load val, 2 sectors of 32 bytes.",
                ["0,0: 0", "1,0: 1", "2,2: 2", "3,0: 3"],
            ],
        )

    def test_one_slider_runs_all_panels_and_totals_run_with_them(self) -> None:
        data = self.data_of(FOUR)
        shown = """[...document.querySelectorAll('.totals tr')].map(
            (row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent))"""
        _, seen = self.act(
            FOUR,
            f"""choose(panels()[0], 'csr', 'csr.scalar');
            choose(panels()[1], 'ell', 'ell.row');
            slide(0);
            seen = [{shown}];
            slide(5);
            seen.push(panels().map((p) => p.querySelector('.said').textContent));
            slide();
            seen.push({shown});
            seen.push(panels().map((p) => p.querySelector('.said').textContent));
            seen.push(document.querySelector('.dense .done') !== null)""",
        )
        begun, said, ended, last, done = seen
        self.assertEqual(begun[0], ["", "csr.scalar", "ell.row"])
        self.assertEqual(begun[3], ["sectors", "0", "0"])
        self.assertEqual(
            said,
            [
                "Block 0, warp 0: lanes 0–3 load x, 1 sector of 32 bytes.",
                "Block 0, warp 0: lanes 0–3 load col_ind, 1 sector of 32 bytes.",
            ],
        )
        kernels = {k["method"]: k for k in data["kernels"]}
        for column, method in enumerate(ended[0][1:], 1):
            steps, sectors, used, idle = totals(data, kernels[method])
            told = {row[0]: row[column] for row in ended[1:]}
            self.assertEqual(told["steps"], f"{steps} of {steps}")
            self.assertEqual(told["entries multiplied"], "9 of 9")
            self.assertEqual(told["sectors"], str(sectors))
            self.assertEqual(told["bytes moved"], str(32 * sectors))
            self.assertEqual(told["bytes used"].split()[0], str(used))
            self.assertEqual(told["lanes idle"].split()[0], str(idle))
        self.assertTrue(last[1].startswith("Ended at step 10."), last)
        self.assertTrue(done)

    def test_a_link_opens_a_matrix_its_panels_and_a_step(self) -> None:
        shown = """seen = [document.querySelector('h1').textContent,
            ...panels().map((p) => p.getAttribute('aria-label')),
            document.querySelector('.stepper output').textContent,
            document.querySelector('.note').textContent]"""
        for fragment, expected in (
            ("", ["cs121", "csr.scalar", "ell.row", "step 0 of 12", ""]),
            ("#left=ell.row", ["cs121", "ell.row", "coo.atomic", "step 0 of 10", ""]),
            (
                "#matrix=stencil&left=jds.row&right=dia&step=7",
                ["stencil", "jds.row", "dia.row", "step 7 of 39", ""],
            ),
            (
                "#matrix=nix&left=csr.nix&step=1000",
                [
                    "cs121",
                    "csr.scalar",
                    "ell.row",
                    "step 12 of 12",
                    "csr.nix is not among the formats of this matrix.",
                ],
            ),
        ):
            with self.subTest(fragment):
                _, seen = self.act_on(self.write_page(), shown, fragment)
                self.assertEqual(seen, expected)

    def test_the_address_tells_what_is_shown(self) -> None:
        _, seen = self.act_on(
            self.write_page(),
            """choose(panels()[1], 'dia', 'dia.row');
            slide(3);
            await new Promise((done) => setTimeout(done, 400));
            seen = [location.hash];
            location.hash = '#matrix=pmpp&embed';
            await new Promise((done) => setTimeout(done, 400));
            seen.push(location.hash, document.querySelector('h1').offsetHeight)""",
        )
        self.assertEqual(
            seen,
            [
                "#matrix=cs121&left=csr.scalar&right=dia.row&step=3",
                "#matrix=pmpp&left=csr.scalar&right=ell.row&embed=",
                0,
            ],
        )

    def test_without_webassembly_nothing_can_be_typed(self) -> None:
        _, seen = self.act_on(
            self.write_page(),
            """seen = [document.querySelectorAll('textarea').length,
                document.querySelector('.note').textContent]""",
            "#cells=1,2",
        )
        self.assertEqual(seen, [0, "This page lays out no typed matrix: it has no WebAssembly."])

    @unittest.skipUnless(LIVE.exists(), "no build/live/explorer.wasm (scripts/live-explorer)")
    def test_a_typed_matrix_is_laid_out_as_the_command_does(self) -> None:
        self.assertLess(LIVE.stat().st_size, 2_000_000)
        head = "%%MatrixMarket matrix coordinate "
        matrices = [
            FOUR,
            wide_lines(61, 64),
            wide_lines(64, 13),
            stencil(33),
            MANY_VALUES,
            head + "real general\n0 0 0\n",
            head + "complex general\n2 2 2\n1 1 1 -2\n2 2 0 1\n",
            head + "pattern symmetric\n3 3 2\n2 1\n3 3\n",
        ]
        expected = [self.data_of(matrix) for matrix in matrices]
        grid = "4 1 0 0\n[1, 5, 2, 0];0\t0\t6\t.\n3,*,8,7"
        page = self.write_page("--live", str(LIVE))
        _, seen = self.act_on(
            page,
            f"""const {{live}} = JSON.parse(document.getElementById('data').textContent);
            const library = liveLibrary(live);
            seen = [];
            for (const text of {json.dumps([*matrices, grid])})
                seen.push(await library.explore(text))""",
        )
        for text, own, told in zip([*matrices, grid], [*expected, expected[0]], seen, strict=True):
            with self.subTest(text.splitlines()[:2]):
                told["matrix"]["name"] = own["matrix"]["name"]
                self.assertEqual(told, own)

    @unittest.skipUnless(LIVE.exists(), "no build/live/explorer.wasm (scripts/live-explorer)")
    def test_the_page_takes_what_is_typed_and_says_what_is_wrong(self) -> None:
        _, seen = self.act_on(
            self.write_page("--live", str(LIVE)),
            """const text = document.querySelector('textarea');
            const button = text.closest('details').querySelector('button');
            const wait = () => new Promise((done) => setTimeout(done, 300));
            seen = [text.value];
            for (text.value of ['1 2\\n3 x', '%%MatrixMarket matrix', '1\\n2 3']) {
                button.click();
                await wait();
                seen.push(document.querySelector('.fault').textContent);
            }
            text.value = '1 2\\n0 3';
            button.click();
            await wait();
            seen.push(document.querySelector('h1').textContent,
                      [...document.querySelectorAll('.dense .entry')].length);
            await wait();
            seen.push(new URLSearchParams(location.hash.slice(1)).get('cells'));
            const matrix = document.querySelector('select[aria-label=matrix]');
            matrix.value = 'stencil';
            matrix.dispatchEvent(new Event('change'));
            await wait();
            seen.push(document.querySelector('h1').textContent, panels().length)""",
        )
        self.assertEqual(seen[0], "1 7 0 0\n0 2 8 0\n5 0 3 9\n0 6 0 4")
        self.assertEqual(seen[1], "Line 2: 'x', expected a number")
        self.assertTrue(seen[2].startswith("Line 1: "), seen[2])
        self.assertEqual(seen[3], "Line 2: 2 cells, expected 1 as in the first row")
        self.assertEqual(seen[4:], ["typed", 3, "1 2\n0 3", "stencil", 2])

    def test_panels_open_and_close(self) -> None:
        _, seen = self.act(
            FOUR,
            """const names = () => panels().map((p) => p.querySelector('select').value);
            seen = [names()];
            document.querySelector('.choice-add button').click();
            seen.push(names().length);
            panels()[0].querySelector('.close').click();
            seen.push(names());""",
            "--format",
            "jds",
        )
        self.assertEqual(seen, [["jds", "ell"], 3, ["ell", "bsr"]])

    def test_matrices_with_little_in_them(self) -> None:
        head = "%%MatrixMarket matrix coordinate "
        for matrix, panels in (
            (head + "real general\n0 0 0\n", 2),
            (head + "complex general\n2 2 2\n1 1 1 -2\n2 2 0 1\n", 2),
        ):
            with self.subTest(matrix):
                _, seen = self.act(matrix, "seen = panels().length")
                self.assertEqual(seen, panels)


if __name__ == "__main__":
    assert ROOT.is_dir()
    unittest.main()

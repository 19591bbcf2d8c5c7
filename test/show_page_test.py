"""The page of nz show: its data against the product, and in a real browser what lights up.

Run as ``NZ_COMMAND=build/dev/nz test/show_page_test.py``. What needs Chromium is skipped where there
is none.
"""

from __future__ import annotations

import json
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


class Page(unittest.TestCase):
    """Pages of small matrices."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page_of(self, matrix: str, *options: str) -> Path:
        (self.folder / "A.mtx").write_text(matrix)
        subprocess.run(
            [NZ, "show", "A.mtx", "--html", "-o", "A.html", *options],
            cwd=self.folder,
            check=True,
            capture_output=True,
        )
        return self.folder / "A.html"


class DataOfThePage(Page):
    """The data that the page draws, without a browser."""

    def data_of(self, matrix: str, *options: str) -> Data:
        text = self.page_of(matrix, *options).read_text()
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
        assert found is not None
        data: Data = json.loads(found[1])
        return data

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
                        self.assertEqual(cells["table"][int(cells["val"][numbers.index(e)])],
                                         lit["table"][0])
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
        for options in ([], ["--html"], ["-o", "A.html"], ["--html", "-o", "A.txt"]):
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
        page = self.page_of(matrix, *options)
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
            const slide = (panel, step) => {
                const slider = panel.querySelector('input[type=range]');
                slider.value = step ?? slider.max;
                slider.dispatchEvent(new Event('input'));
            };
            const key = (element, name) => element.dispatchEvent(
                new KeyboardEvent('keydown', {key: name, bubbles: true}));
            let seen;
        """
        text = page.read_text().replace(
            "</body>",
            f'<script nonce="nz">{helpers}{script};'
            "document.documentElement.dataset.seen = JSON.stringify(seen)</script></body>",
        )
        page.write_text(text)
        seen = visit(page)
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
                slide(panel, 0);
                slide(panel);
                seen[method] = [
                    [...panel.querySelectorAll('[data-array=y] .cell')].map((c) => c.textContent),
                    document.querySelectorAll('.dense .entry.done').length];
            }""".replace("data.", "JSON.parse(document.getElementById('data').textContent)."),
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
            slide(panel, 3);  // row_ptr behind, row_ptr, then the first value of each row
            seen = [
                [...panel.querySelectorAll('.lanes .at-work')].map((lane) => lane.lastChild.textContent),
                [...panel.querySelectorAll('.cell.now')].map((c) => c.dataset.element),
                panel.querySelector('.said').textContent];
            slide(panel, 5);  // x of those
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

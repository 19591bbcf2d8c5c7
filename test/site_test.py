"""The site of the documents: its sources, and the HTML that is made of them.

Run as ``NZ_COMMAND=build/dev/nz test/site_test.py``. The HTML is made where ``scripts/docs
--only-install`` put Sphinx, or taken from the folder that NZ_SITE names; what needs Chromium is
skipped where there is none.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from links_test import ROOT, broken_links
from report_page_test import CHROMIUM, visit

sys.path.insert(0, str(ROOT / "docs" / "site"))
import build

SPHINX = ROOT / "build" / "docs-venv" / "bin" / "python"
GIVEN = os.environ.get("NZ_SITE", "")


class Sources(unittest.TestCase):
    """The sources that scripts/docs hands to Sphinx."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.source = Path(folder.name).resolve()
        build.write_sources(cls.source)
        cls.methods = json.loads(build.run("methods", "--json"))

    def page(self, name: str) -> str:
        return (self.source / f"{name}.md").read_text("utf-8")

    def test_every_format_has_a_page(self) -> None:
        for layout in {row["layout"] for row in self.methods}:
            page = self.page(f"formats/{layout}")
            for part in ("    | 4 1 . . |", "## When it suits\n\n", "## Bytes of a product\n\n",
                         "## Source\n\n", "explorer.html#left="):
                self.assertIn(part, page, layout)
            for row in self.methods:
                if row["layout"] == layout:
                    self.assertIn(f"../kernels/{row['name']}.md", page)

    def test_every_kernel_has_a_page_with_its_trace(self) -> None:
        explained = json.loads(
            build.run("explain", str(self.source / "extra" / "four.mtx"), "--json")
        )
        traced = {row["method"] for row in explained["methods"] if "declined" not in row}
        self.assertGreater(len(traced), 15)
        for row in self.methods:
            page = self.page(f"kernels/{row['name']}")
            self.assertIn(f"## Source\n\n{row['source']}.", page)
            self.assertIn(f"../formats/{row['layout']}.md", page)
            self.assertEqual("## Step by step\n" in page, row["name"] in traced, row["name"])
            self.assertEqual(f"#left={row['name']}\"" in page, row["name"] in traced, row["name"])

    def test_padding_is_counted_apart_from_alignment(self) -> None:
        self.assertIn("12 places for values, 3 of them padding", self.page("formats/ell"))
        self.assertIn("alignment, which is not counted", self.page("formats/ell"))

    def test_every_subcommand_and_every_name_of_python_is_listed(self) -> None:
        command = self.page("reference/command")
        for name in ("plan", "solve", "show", "report", "explain"):
            self.assertIn(f"## nz {name}\n", command)
        listed = {name for _, names in build.PYTHON.values() for name in names}
        homes = (ROOT / "python" / "nonzero" / "__init__.py").read_text("utf-8")
        names = set(re.findall(r"^    from nonzero\.\w+ import (\w+) as", homes, re.M))
        self.assertEqual(names - listed, {"__version__"})

    def test_every_name_of_cpp_leads_to_its_header(self) -> None:
        api = self.page("api")
        self.assertIn('<a href="files/nonzero/plan/plan.hpp.txt"><code>make_plan</code></a>', api)
        listed = re.findall(r"^\| (?:`|<a)(.*?) \|", api, re.M)
        self.assertEqual([cell for cell in listed if "`" in cell], [])

    def test_marks_for_tests_are_not_shown(self) -> None:
        self.assertIn("\n# needs: build\n", (ROOT / "docs/guides/install.md").read_text("utf-8"))
        self.assertNotIn("# needs: build", self.page("guides/install"))
        self.assertIn("# needs: mpirun", self.page("guides/machines"))

    def test_no_two_files_have_one_name(self) -> None:
        self.assertEqual(build.names_twice(self.source), [])
        (self.source / "extra" / "Show.html").write_text("")
        self.assertEqual(build.names_twice(self.source), ["show.html"])
        (self.source / "extra" / "Show.html").unlink()

    def test_no_link_is_broken(self) -> None:
        self.assertEqual(broken_links(self.source), [])


class Page(HTMLParser):
    """What a page of HTML links to, and where it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in {"href", "src", "data-src"}:
                self.links.append(value)
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)


class Built(unittest.TestCase):
    """The HTML."""

    @classmethod
    def setUpClass(cls) -> None:
        if GIVEN:
            cls.site = Path(GIVEN).resolve()
            return
        if not SPHINX.exists():
            raise unittest.SkipTest("scripts/docs --only-install installs Sphinx")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = Path(folder.name).resolve() / "site"
        made = subprocess.run(
            [SPHINX, ROOT / "docs" / "site" / "build.py", cls.site], capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        assert "WARNING" not in made.stderr, made.stderr

    def pages(self) -> dict[Path, Page]:
        """Return the pages of the site, without the reports and the explorer, which are no text."""
        return {
            file: Page(file.read_text("utf-8"))
            for file in sorted(self.site.rglob("*.html"))
            if file.parent.name != "gallery" and file.name != "explorer.html"
        }

    def test_every_link_and_picture_resolves(self) -> None:
        pages = self.pages()
        self.assertGreater(len(pages), 80)
        broken = []
        for file, page in pages.items():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                to = (file.parent / unquote(parts.path)).resolve() if parts.path else file
                if not to.is_file():
                    broken.append(f"{file.relative_to(self.site)}: {link}")
                elif parts.fragment and to in pages and "=" not in parts.fragment:
                    if unquote(parts.fragment) not in pages[to].anchors:
                        broken.append(f"{file.relative_to(self.site)}: {link}: no such anchor")
        self.assertEqual(broken, [])

    def test_the_explorer_is_one_click_away_and_is_the_explorer(self) -> None:
        index = (self.site / "index.html").read_text("utf-8")
        explorer = re.search(r'<a [^>]*href="([^"#]+)#[^"]*">Open the explorer', index)
        assert explorer is not None
        text = (self.site / explorer[1]).read_text("utf-8")
        self.assertIn("csr.scalar", text)
        self.assertNotIn("furo", text)
        self.assertIn("furo", (self.site / "show.html").read_text("utf-8"))

    def test_nothing_is_loaded_from_elsewhere(self) -> None:
        loaded = re.compile(r'<(?:script|img|iframe|source)[^>]* src="(?:https?:)?//[^"]*"')
        styled = re.compile(r'<link[^>]* href="(?:https?:)?//[^"]*"')
        for file in self.site.rglob("*.html"):
            text = file.read_text("utf-8")
            self.assertEqual(loaded.findall(text) + styled.findall(text), [], file)

    def test_gallery(self) -> None:
        reports = sorted((self.site / "gallery").glob("*.html"))
        self.assertEqual(len(reports), len(build.gallery.REPORTS))
        page = (self.site / "gallery.html").read_text("utf-8")
        for report in reports:
            self.assertIn(f'href="gallery/{report.name}"', page)

    def seen_in_frames(self, script: str, *flags: str) -> Any:
        """Return what a script finds that opens pages in frames: `await frame(name, width)`.

        It assigns to `seen`; `site` is the site's address.
        """
        page = """<body><script>
            const site = %s;
            async function frame(name, width) {
                const made = document.createElement('iframe');
                Object.assign(made, {width, height: 900, src: `${site}/${name}`});
                document.body.replaceChildren(made);
                await new Promise((loaded) => made.onload = loaded);
                return made.contentWindow;
            }
            (async () => {
                let seen;
                %s
                document.documentElement.dataset.seen = JSON.stringify(seen);
            })();
            </script></body>"""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "frames.html"
            file.write_text(page % (json.dumps(self.site.as_uri()), script))
            patient = ("--allow-file-access-from-files", "--virtual-time-budget=100000")
            opened = visit(file, "", *patient, *flags)
        self.assertEqual(opened.console, [])
        return json.loads(opened.page.root["data-seen"] or "null")

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
    def test_no_page_is_wider_than_a_phone(self) -> None:
        names = [str(f.relative_to(self.site)) for f in sorted(self.site.rglob("*.html"))]
        wide = self.seen_in_frames(
            f"const names = {json.dumps(names)};"
            """
            seen = [];
            for (const name of names) {
                const page = (await frame(name, 400)).document;
                const boxes = [page.documentElement, ...page.querySelectorAll('.content')];
                if (boxes.some((box) => box.scrollWidth > box.clientWidth)) seen.push(name);
            }"""
        )
        self.assertEqual(wide, [])

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
    def test_the_explorer_has_the_colours_that_are_chosen_on_its_page(self) -> None:
        for system, of_system in (("light", 1), ("dark", 0)):
            seen = self.seen_in_frames(
                """
                const page = await frame('index.html', 1200);
                const explorer = page.document.querySelector('iframe.explorer').contentWindow;
                seen = {};
                for (const theme of ['auto', 'light', 'dark']) {
                    page.document.body.dataset.theme = theme;
                    await new Promise((done) => setTimeout(done, 200));
                    seen[theme] = explorer.matchMedia('(prefers-color-scheme: dark)').matches;
                }""",
                f"--blink-settings=preferredColorScheme={of_system}",
            )
            self.assertEqual(seen, {"auto": system == "dark", "light": False, "dark": True})

    @unittest.skipIf(CHROMIUM is None, "there is no Chromium here")
    def test_pages_open_without_an_error_or_a_request(self) -> None:
        for name in ("index.html", "formats/ell.html", "gallery/h200-graphs.html"):
            opened = visit(self.site / name)
            self.assertEqual(opened.console, [], name)
            self.assertGreater(sum(opened.page.tags.values()), 50, name)
            away = [url for url in opened.requests if not url.startswith(("file:", "data:"))]
            self.assertEqual(away, [], name)


if __name__ == "__main__":
    unittest.main()

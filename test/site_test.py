"""The site of the documents, as far as it is made without Sphinx: every format, kernel and name.

Run as ``NZ_COMMAND=build/dev/nz test/site_test.py``. What needs Doxygen is skipped where there is
none.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from links_test import ROOT, broken_links

sys.path.insert(0, str(ROOT / "docs" / "site"))
import build

# Where a class, a structure, a function or a concept is declared, outside of classes.
DECLARED = re.compile(
    r"^(?:template <[^;{]*>\n)?(?:\[\[nodiscard\]\] )?(?:inline |constexpr |extern )*"
    r"(?:(?:struct|class|enum|enum class|concept|using) (?P<type>\w+)\b(?! *;)"
    r"|[\w:<>, &*]+? &?\*?(?P<function>[a-z]\w+)\([^)]*)",
    re.M,
)


class Site(unittest.TestCase):
    """The sources that scripts/docs hands to Sphinx."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.source = Path(folder.name).resolve()
        build.copy_documents(cls.source)
        cls.groups = {**build.GROUPS, **build.generate_pages(cls.source)}
        cls.methods = json.loads(build.run("methods", "--json"))

    def page(self, name: str) -> str:
        return (self.source / f"{name}.md").read_text("utf-8")

    def test_every_format_has_a_page_with_what_its_header_says_and_its_arrays(self) -> None:
        layouts = {row["layout"] for row in self.methods}
        self.assertEqual(set(self.groups["Formats"]), {f"formats/{name}" for name in layouts})
        for layout in layouts:
            page = self.page(f"formats/{layout}")
            for part in ("    A = |", "\nMoves ", "\nSuits ", "\nSource ", "## Its arrays\n"):
                self.assertIn(part, page, layout)
            for row in self.methods:
                if row["layout"] == layout:
                    self.assertIn(f"../kernels/{row['name']}.md", page)

    def test_every_kernel_has_a_page_with_its_trace(self) -> None:
        names = {row["name"] for row in self.methods}
        self.assertEqual(set(self.groups["Kernels"]), {f"kernels/{name}" for name in names})
        explained = json.loads(
            build.run("explain", str(self.source / "extra" / "four.mtx"), "--json")
        )
        traced = {row["method"] for row in explained["methods"] if "declined" not in row}
        self.assertGreater(len(traced), 15)
        for row in self.methods:
            page = self.page(f"kernels/{row['name']}")
            self.assertIn(f"Source: {row['source']}.", page)
            self.assertIn(f"../formats/{row['layout']}.md", page)
            self.assertEqual("## Its trace\n" in page, row["name"] in traced, row["name"])

    def test_no_link_is_broken(self) -> None:
        self.assertEqual(broken_links(self.source), [])
        for file in self.source.rglob("*.md"):
            for link in re.findall(r'href="([^"]+)"', file.read_text("utf-8")):
                # Files of the site that are no documents lie in extra until Sphinx copies them.
                to = self.source / "extra" / (file.parent / link).resolve().relative_to(self.source)
                self.assertTrue(to.is_file(), f"{file}: {link}")

    @unittest.skipIf(shutil.which("doxygen") is None, "there is no Doxygen here")
    def test_the_api_has_every_name_of_the_installed_headers(self) -> None:
        build.write_api(self.source)
        words = {
            word
            for page in (self.source / "extra" / "api").glob("*.html")
            for word in re.findall(r"\w+", page.read_text("utf-8"))
        }
        names = set()
        headers = build.public_headers()
        installed = re.search(
            r"set\(public_headers (.*)\)", (ROOT / "cmake" / "install.cmake").read_text("utf-8")
        )
        assert installed is not None
        self.assertLessEqual(set(installed[1].split()), set(headers))
        for header in headers:
            for match in DECLARED.finditer((ROOT / header).read_text("utf-8")):
                names.add(match["type"] or match["function"])
        self.assertGreater(len(names), 100)
        self.assertEqual(names - words, set())


if __name__ == "__main__":
    unittest.main()

"""Every relative link of every Markdown file names a file, and an anchor that file has.

Run as ``test/links_test.py``; links to other sites are not followed.
"""

from __future__ import annotations

import re
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SKIPPED_FOLDERS = {"build", "carry"}  # as in architecture_test.cmake
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
INLINE_LINK = re.compile(r"\]\(\s*<?([^\s)>]*)>?(?:\s+[\"'(][^)]*)?\)")
REFERENCE = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
HTML_ANCHOR = re.compile(r"<a\s+(?:id|name)=[\"']([^\"']+)[\"']")
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)


def prose_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line outside fenced code blocks."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""
        elif not fence:
            yield number, line


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading.

    Parameters
    ----------
    heading
        Text after the number signs, Markdown included.

    Returns
    -------
    str
        Lower case, spaces as hyphens; of the punctuation only hyphens and underscores are left.
    """
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Return all anchors of a Markdown text; equal headings are numbered from the second on."""
    found: set[str] = set()
    times: dict[str, int] = {}
    for _, line in prose_lines(text):
        found.update(HTML_ANCHOR.findall(line))
        heading = HEADING.match(line)
        if heading:
            name = slug(heading.group(1))
            earlier = times.get(name, 0)
            times[name] = earlier + 1
            found.add(f"{name}-{earlier}" if earlier else name)
    return found


def links(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number and target of each link outside code."""
    for number, line in prose_lines(text):
        shown = CODE_SPAN.sub("", line)
        for target in INLINE_LINK.findall(shown) + REFERENCE.findall(shown):
            yield number, target


def flaw(source: Path, target: str, root: Path) -> str:
    """Say what is wrong with one link.

    Parameters
    ----------
    source
        File that has the link.
    target
        Its target as written.
    root
        Folder of the project, which no link may leave.

    Returns
    -------
    str
        Empty where the link resolves.
    """
    if ELSEWHERE.match(target):
        return ""
    path, _, anchor = target.partition("#")
    file = (source.parent / unquote(path)).resolve() if path else source
    if path.startswith("/") or not file.is_relative_to(root):
        return "leaves the project"
    if not file.exists():
        return "no such file"
    if anchor and (file.suffix != ".md" or unquote(anchor) not in anchors(file.read_text("utf-8"))):
        return "no such anchor"
    return ""


def markdown_files(root: Path) -> list[Path]:
    """Return all Markdown files below root, without hidden folders and build folders."""
    return sorted(
        file
        for file in root.rglob("*.md")
        if not any(
            part.startswith(".") or part in SKIPPED_FOLDERS
            for part in file.relative_to(root).parts[:-1]
        )
    )


def broken_links(root: Path) -> list[str]:
    """Return one line for each relative link below root that does not resolve."""
    return [
        f"{file.relative_to(root)}:{number}: {target}: {what}"
        for file in markdown_files(root)
        for number, target in links(file.read_text("utf-8"))
        if (what := flaw(file, target, root))
    ]


class Links(unittest.TestCase):
    def check(self, text: str) -> list[str]:
        """Return the broken links of a project with `text` in docs/a.md, beside a README."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "docs").mkdir()
            (root / "README.md").write_text("# One `two`, three\n## Same\n## Same\n", "utf-8")
            (root / "docs" / "a.md").write_text(text, "utf-8")
            return [line.split(": ", 1)[1] for line in broken_links(root)]

    def test_links_that_resolve(self) -> None:
        self.assertEqual(
            self.check(
                "# Here\n[a](../README.md) [b](../README.md#one-two-three) [c](#here) [d](.)\n"
                '[e](https://example.org/none.md) [f](../README.md#same-1 "title")\n[g]: a.md\n'
            ),
            [],
        )

    def test_broken_links(self) -> None:
        self.assertEqual(
            self.check(
                "[a](none.md) ![b](none.png) [c](../README.md#none) [d](#none) [e](../../x)\n"
                "[f]: none.md\n"
            ),
            [
                "none.md: no such file",
                "none.png: no such file",
                "../README.md#none: no such anchor",
                "#none: no such anchor",
                "../../x: leaves the project",
                "none.md: no such file",
            ],
        )

    def test_code_has_no_links(self) -> None:
        self.assertEqual(self.check("`[a](none.md)`\n```\n[b](none.md)\n# none\n```\n"), [])
        self.assertEqual(self.check("```\n# none\n```\n[c](#none)\n"), ["#none: no such anchor"])

    def test_this_project(self) -> None:
        self.assertGreater(len(markdown_files(ROOT)), 10)
        self.assertEqual(broken_links(ROOT), [])


if __name__ == "__main__":
    unittest.main()

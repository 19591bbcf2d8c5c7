"""Make the site: the documents, a page a format and a page a kernel, all by Sphinx.

Run as ``scripts/docs [FOLDER]``. Formats and kernels come from ``nz methods --json`` and the
headers, the measurements from the tables of ``docs/methods.md``, traces from ``nz explain``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
GROUPS = {
    "Guides": ["guides/first-steps", "guides/exercises", "guides/coming-from"],
    "Documents": [
        "show", "explain", "report", "api", "solvers", "files", "python", "c", "networkx", "petsc",
        "amgx", "distributed", "methods", "performance", "reliability", "sources",
        "decisions/README",
    ],
}  # fmt: skip
EXAMPLE = """%%MatrixMarket matrix coordinate real general
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
PICTURE = """    | 4 1 . . |
A = | 1 5 2 . |
    | . . 6 . |
    | 3 . 8 7 |
"""
# Left out of the site: its own sources, and logs, which no guide is mixed with.
LEFT_OUT = {"site", "experiments"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s:#]+)(?:#[^)\s]*)?\)")
CODE = re.compile(r"`([^`]+)`")


def run(*arguments: str) -> str:
    """Return what nz prints; empty where it declines."""
    done = subprocess.run([NZ, *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def linked(text: str, page: Path, extra: Path) -> str:
    """Point links to files that are no documents to copies in the site."""

    def replace(match: re.Match[str]) -> str:
        file = (ROOT / "docs" / page.parent / match[2]).resolve()
        in_site = (
            file.is_relative_to(ROOT / "docs")
            and file.relative_to(ROOT / "docs").parts[0] not in LEFT_OUT
            and file.suffix in {".md", ".png", ".svg"}
        )
        if in_site or not file.is_relative_to(ROOT) or not file.is_file():
            return match[0]
        name = f"files/{file.relative_to(ROOT)}.txt"
        copy = extra / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        words = CODE.sub(r"<code>\1</code>", match[1])
        return f'<a href="{"../" * len(page.parent.parts)}{name}">{words}</a>'

    return LINK.sub(replace, text)


def copy_documents(source: Path) -> None:
    """Put the documents into the source folder."""
    for file in sorted((ROOT / "docs").rglob("*")):
        page = file.relative_to(ROOT / "docs")
        if page.parts[0] in LEFT_OUT or not file.is_file():
            continue
        to = source / page
        to.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            to.write_text(linked(file.read_text("utf-8"), page, source / "extra"), "utf-8")
        else:
            shutil.copyfile(file, to)


def docstring(layout: str) -> str:
    """Return the layout's own docstring, from its header: picture, bytes, what it suits, source."""
    text = (ROOT / "nonzero" / "formats" / layout / f"{layout}.hpp").read_text("utf-8")
    documented = r"((?:^///.*\n)+)template .*\n"
    # A layout that is an alias: what it stands for is said first.
    for names in ([f"struct {layout} {{"], [r"struct \w+ {", f"using {layout} ="]):
        found = [re.search(documented + name, text, re.M) for name in names]
        lines = "\n".join(match[1] for match in found if match is not None)
        if lines:
            return re.sub(r"^/// ?", "", lines, flags=re.M)
    return ""


def measured(method: str) -> str:
    """Return the rows of docs/methods.md that measure the method, with their heads."""
    tables: list[str] = []
    head: list[str] = []
    for line in (ROOT / "docs" / "methods.md").read_text("utf-8").splitlines():
        if not line.startswith("|"):
            head = []
        elif len(head) < 2:
            head.append(line)
        elif line.startswith(f"| `{method}` |") and "deterministic" not in head[0]:
            tables.append("\n".join([*head, line]))
    return "\n\n".join(tables) or "It is in no table yet."


def kernel_page(name: str, rows: list[dict[str, object]], example: Path) -> str:
    """Return the page of a method: where it runs, its source, trace and measurements."""
    where = ", ".join("GPU" if row["backend"] == "gpu" else "CPU" for row in rows)
    layout = rows[0]["layout"]
    parts = [
        f"# `{name}`",
        f"Format: [`{layout}`](../formats/{layout}.md). Runs on: {where}.",
        f"Deterministic: {'yes' if all(row['deterministic'] for row in rows) else 'no'}. "
        f"Source: {rows[0]['source']}.",
        "## Measured",
        f"More in [methods](../methods.md).\n\n{measured(name)}",
    ]
    trace = run("explain", str(example), "--method", name)
    if trace:
        parts += [
            "## Its trace",
            "On the matrix of the [exercises](../guides/exercises.md), by `nz explain`; "
            "[how to read it](../explain.md).",
            f"```text\n{trace.strip()}\n```",
        ]
    return "\n\n".join(parts) + "\n"


def format_page(layout: str, methods: list[str], example: Path) -> str:
    """Return the page of a format: its docstring, its arrays on an example, its kernels."""
    arrays = run("show", str(example), "--format", layout)
    kernels = "\n".join(f"- [`{name}`](../kernels/{name}.md)" for name in methods)
    parts = [f"# `{layout}`", f"```text\n{docstring(layout)}\n```"]
    if arrays:
        parts += ["## Its arrays", f"```text\n{PICTURE}```", f"```text\n{arrays}```"]
        parts += ['<a href="../show.html">The explorer</a> shows this matrix in all formats.']
    return "\n\n".join([*parts, "## Its kernels", kernels]) + "\n"


def generate_pages(source: Path) -> dict[str, list[str]]:
    """Write the pages of formats and kernels; return their names by group."""
    example = source / "extra" / "four.mtx"
    example.parent.mkdir(parents=True, exist_ok=True)
    example.write_text(EXAMPLE)
    run("show", str(example), "--html", "-o", str(source / "extra" / "show.html"))
    by_method: dict[str, list[dict[str, object]]] = defaultdict(list)
    for row in json.loads(run("methods", "--json")):
        by_method[row["name"]].append(row)
    by_layout: dict[str, list[str]] = defaultdict(list)
    for name, rows in by_method.items():
        by_layout[str(rows[0]["layout"])].append(name)
    for folder in ("kernels", "formats"):
        (source / folder).mkdir(exist_ok=True)
    for name, rows in by_method.items():
        (source / "kernels" / f"{name}.md").write_text(kernel_page(name, rows, example), "utf-8")
    for layout, methods in by_layout.items():
        page = format_page(layout, methods, example)
        (source / "formats" / f"{layout}.md").write_text(page, "utf-8")
    return {
        "Formats": [f"formats/{layout}" for layout in sorted(by_layout)],
        "Kernels": [f"kernels/{name}" for name in sorted(by_method)],
    }


def write_index(source: Path, groups: dict[str, list[str]]) -> None:
    """Write the first page, which lists all others."""
    api = (
        '<p><a href="api/index.html">The API in C++</a> · <a href="show.html">The explorer</a></p>'
    )
    text = "# nonzero\n\nSparse matrix-vector products on CPUs and NVIDIA GPUs.\n\n" + api
    for group, pages in groups.items():
        listed = "\n".join(pages)
        text += f"\n\n```{{toctree}}\n:caption: {group}\n:maxdepth: 1\n\n{listed}\n```"
    (source / "index.md").write_text(text + "\n", "utf-8")


def public_headers() -> list[str]:
    """Return the headers that are installed, as cmake/install.cmake finds them."""
    seen: list[str] = []
    wanted = ["nonzero/nonzero.hpp", "nonzero/dist/mpi.hpp"]
    while wanted:
        name = wanted.pop()
        if name in seen:
            continue
        seen.append(name)
        wanted += re.findall(r'#include "(nonzero/[^"]+)"', (ROOT / name).read_text("utf-8"))
    return sorted(seen)


def write_api(source: Path) -> None:
    """Run Doxygen over the headers that are installed."""
    settings = f"""
        PROJECT_NAME = nonzero
        INPUT = {" ".join(public_headers())}
        OUTPUT_DIRECTORY = {source / "extra"}
        HTML_OUTPUT = api
        GENERATE_LATEX = NO
        EXTRACT_ALL = YES
        MARKDOWN_SUPPORT = NO
        QUIET = YES
        WARNINGS = NO
        HAVE_DOT = NO
        BUILTIN_STL_SUPPORT = YES
    """
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)


def main() -> None:
    """Make the site in the folder that is named, or in build/site."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    source = ROOT / "build" / "site-source"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    copy_documents(source)
    groups = {**GROUPS, **generate_pages(source)}
    write_api(source)
    write_index(source, groups)
    shutil.copyfile(Path(__file__).with_name("conf.py"), source / "conf.py")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-j", "auto"]
    subprocess.run([*command, str(source), str(site)], check=True)
    print(f"{site / 'index.html'}")


if __name__ == "__main__":
    main()

"""Make the site: the documents, a page a format and a kernel, the reference, the gallery.

Run as ``scripts/docs [FOLDER]``. Formats and kernels come from ``nz methods --json`` and the
headers, their places from ``bench/results/``, traces from ``nz explain``, the command's page from
``nz help``, Python's from the docstrings.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import gallery

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "test")]
import figures  # noqa: E402
import public_names_test  # noqa: E402
import summary  # noqa: E402

NZ = os.environ.get("NZ_COMMAND", str(ROOT / "build" / "dev" / "nz"))
# The first page's list of pages, by heading. Formats, kernels and logs are listed by a page each.
GROUPS = {
    "Guides": [
        "guides/install", "guides/first-steps", "guides/formats", "guides/plan", "guides/solvers",
        "guides/many-systems", "guides/troubleshooting", "guides/gpu", "guides/machines",
        "guides/files", "guides/edge-lists", "guides/c", "guides/petsc",
        "guides/petsc-preconditioners", "guides/networkx", "guides/coming-from",
        "guides/teaching", "guides/exercises", "guides/faq", "guides/glossary",
    ],
    "See": ["show", "gallery", "explain", "report", "methods", "performance"],
    "Reference": ["reference/python", "api", "amgx", "reference/command"],
    "Manuals": ["python", "solvers", "distributed"],
    "Behind it": ["reliability", "sources", "experiments/README", "decisions/README"],
}  # fmt: skip
PYTHON = {
    "products": ("Products", ["plan", "Operator", "Plan", "Candidate", "methods"]),
    "solvers": (
        "Solvers",
        ["solve", "SolveResult", "Solver", "factorize", "Factorization", "cg", "minres",
         "bicgstab", "gmres"],
    ),
    "preconditioners": (
        "Preconditioners",
        ["amg", "Multigrid", "rigid_body_modes", "ilu", "ic", "fsai", "spai"],
    ),
    "least_squares": ("Least squares and singular values", ["lsqr", "lsmr", "svds"]),
    "graphs": (
        "Eigenpairs and graphs",
        ["eigsh", "NoConvergence", "pagerank", "PageRank", "partition", "Partition"],
    ),
    "files": ("Files and measurements", ["read", "write", "spy", "bench", "study", "Study"]),
    "machine": (
        "The machine, and what is raised",
        ["gpu_count", "DeviceError", "Unavailable", "get_include", "get_library"],
    ),
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
LEFT_OUT = {"site"}  # the site's own sources
# Machines whose measurements of every kernel are shown, their suites and numbers of threads.
PLACES = (
    ("gpu", "h200", "kernels", 0, "NVIDIA H200"),
    ("cpu", "epyc-2", "plan", 2, "AMD EPYC, 2 threads"),
)
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
            # A mark for guides_test, which tells a reader nothing.
            text = file.read_text("utf-8").replace("\n# needs: build\n", "\n")
            to.write_text(linked(text, page, source / "extra"), "utf-8")
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


def said_of(layout: str, word: str) -> str:
    """Return what a docstring says behind Moves, Suits or Source."""
    found = re.search(rf"^{word} +(.*(?:\n {{3,}}\S.*)*)", docstring(layout), re.M)
    words = " ".join(found[1].split()) if found else ""
    return words[:1].upper() + words[1:]


def first_words(layout: str) -> str:
    """Return the sentences of a docstring before its picture."""
    text = " ".join(re.split(r"\n\s*\n| {4,}\|", docstring(layout))[0].split())
    # What the header says of its own picture, which is not shown here, is left out.
    return re.sub(r"[^.]*\bdrawn here[^.]*\.", "", text)


def paragraphs(name: str) -> list[str]:
    """Return the paragraphs of docs/experiments/kernels.md that begin with a kernel's name."""
    text = (ROOT / "docs" / "experiments" / "kernels.md").read_text("utf-8")
    return [
        re.sub(r"\]\((?!https?:)", "](../experiments/", part.strip())
        for part in text.split("\n\n")
        if re.match(rf"(`[\w.]+`,? (and )?)*`{re.escape(name)}`", part)
    ]


@functools.cache
def speeds(machine: str, suite: str, threads: int) -> dict[str, dict[str, float]]:
    """Return each method's speed over that of the fastest of ours, by method and matrix."""
    m = figures.Measurements(ROOT / "bench" / "results")
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for matrix, rows in m.rows(machine, suite, threads, type="double").items():
        best = figures.best_of_ours(rows)
        for row in rows:
            if best is not None and not row["peer"]:
                found[row["method"]][matrix] = best["median_s"] / row["median_s"]
    return found


def measured(name: str, backends: set[str]) -> str:
    """Return a method's place among all of ours, a machine a line."""
    lines = []
    for backend, machine, suite, threads, label in PLACES:
        each = speeds(machine, suite, threads).get(name, {})
        if backend not in backends or not each:
            continue
        best, worst = max(each, key=each.__getitem__), min(each, key=each.__getitem__)
        lines.append(
            f"| {label} | {len(each)} of 30 | {summary.geometric_mean(each.values()):.0%} "
            f"| {each[best]:.0%} `{best}` | {each[worst]:.0%} `{worst}` "
            f"| {sum(value == 1 for value in each.values())} |"
        )
    if not lines:
        return "It is in no measurement of all methods."
    head = "| machine | matrices | mean | best | worst | fastest on |\n" + "| --- " * 6 + "|\n"
    legend = (
        "\n\nSpeed in percent of the fastest of all methods on the same matrix; the mean is "
        "geometric, over the matrices that the method takes. Double precision, data in the caches "
        "where they fit. *Fastest on*: of how many matrices. [All "
        "measurements](../experiments/performance.md)."
    )
    return head + "\n".join(lines) + legend


def explorer(query: str, at: str) -> str:
    """Return the explorer in a page, opened at a kernel or a format."""
    address = f"{at}explorer.html#{query}"
    return (
        f'<p><a href="{address}">Open the explorer by itself</a></p>\n'
        f'<iframe class="explorer" src="{address}&embed" title="The explorer, on a small matrix" '
        'loading="lazy"></iframe>'
    )


def kernel_page(name: str, rows: list[dict[str, object]], example: Path) -> str:
    """Return the page of a method: where it runs, its source, place, trace and explorer."""
    layout = rows[0]["layout"]
    backends = {str(row["backend"]) for row in rows}
    where = " and ".join("GPU" if b == "gpu" else "CPU" for b in sorted(backends))
    bits = "the same in every run" if all(row["deterministic"] for row in rows) else "may differ"
    trace = run("explain", str(example), "--method", name)
    told = paragraphs(name)
    parts = [
        # Its format's page leads to it; all of them would fill the sidebar of every page.
        "---\norphan: true\n---",
        f"# `{name}`",
        told.pop(0)
        if told
        else f"A kernel of the {where} over [`{layout}`](../formats/{layout}.md).",
        f"Format: [`{layout}`](../formats/{layout}.md). Runs on: {where}. Bits: {bits}.",
        *told,
    ]
    if trace:
        parts += [
            "## Step by step",
            explorer(f"left={name}", "../"),
            "Its requests on the matrix of the [exercises](../guides/exercises.md), by `nz "
            "explain`; [how to read it](../explain.md).",
            f"```text\n{trace.strip()}\n```",
        ]
    parts += ["## Measured", measured(name, backends), "## Source", f"{rows[0]['source']}."]
    return "\n\n".join(parts) + "\n"


def places(arrays: str) -> str:
    """Return how many places a drawn format has, and how many of them are padding."""
    found = re.search(r"^(?:ell\.)?(?:val|diagonals) *= (.*)$", arrays, re.M)
    if found is None:
        return ""
    total, padding = len(found[1].split()), found[1].split().count("*")
    text = f"{total} places for values, {padding} of them padding (`*`)."
    if "pitch" in arrays:
        text += " The pitch is rounded up to 32 for alignment, which is not counted."
    return text


def format_page(layout: str, methods: dict[str, list[dict[str, object]]], example: Path) -> str:
    """Return the page of a format: drawing, explorer, what it suits, bytes, source, kernels."""
    arrays = run("show", str(example), "--format", layout)
    traced = [name for name in methods if run("explain", str(example), "--method", name)]
    parts = [f"# `{layout}`", first_words(layout)]
    if arrays:
        parts += [f"```text\n{PICTURE}\n{arrays.rstrip()}\n```", places(arrays)]
        parts += ["## Explorer", explorer(f"left={(traced or [layout])[0]}", "../")]
    else:
        parts += [f"```text\n{docstring(layout)}\n```"]
    parts += ["## When it suits", said_of(layout, "Suits")]
    parts += ["## Bytes of a product", said_of(layout, "Moves")]
    parts += ["## Its kernels, measured"]
    parts += [
        f"**[`{name}`](../kernels/{name}.md)**\n\n"
        + measured(name, {str(row["backend"]) for row in rows}).split("\n\n")[0]
        for name, rows in methods.items()
    ]
    parts += ["*Speed in percent of the fastest of all methods on the same matrix.*"]
    parts += ["## Source", said_of(layout, "Source")]
    return "\n\n".join(part for part in parts if part) + "\n"


def generate_pages(source: Path) -> None:
    """Write the explorer and the pages of formats and kernels, which docs/methods.md lists."""
    example = source / "extra" / "four.mtx"
    example.parent.mkdir(parents=True, exist_ok=True)
    example.write_text(EXAMPLE)
    live = ROOT / "build" / "live" / "explorer.wasm"  # where scripts/live-explorer could make it
    with_live = ["--live", str(live)] if live.exists() else []
    run("show", "--html", *with_live, "-o", str(source / "extra" / "explorer.html"))
    by_method: dict[str, list[dict[str, object]]] = defaultdict(list)
    for row in json.loads(run("methods", "--json")):
        by_method[row["name"]].append(row)
    by_layout: dict[str, dict[str, list[dict[str, object]]]] = defaultdict(dict)
    for name, rows in by_method.items():
        by_layout[str(rows[0]["layout"])][name] = rows
    for folder in ("kernels", "formats"):
        (source / folder).mkdir(exist_ok=True)
    for name, rows in by_method.items():
        (source / "kernels" / f"{name}.md").write_text(kernel_page(name, rows, example), "utf-8")
    for layout, methods in by_layout.items():
        page = format_page(layout, methods, example)
        (source / "formats" / f"{layout}.md").write_text(page, "utf-8")
    listed = "\n".join(f"formats/{layout}" for layout in sorted(by_layout))
    page = source / "methods.md"
    text = page.read_text("utf-8")
    for name in by_method:  # the table's names lead to their pages
        text = text.replace(f"\n| `{name}` |", f"\n| [`{name}`](kernels/{name}.md) |")
    text += f"\n## The formats\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    page.write_text(text, "utf-8")


def write_lists(source: Path) -> None:
    """Give the pages that list others a table of contents each: experiments and decisions."""
    for folder in ("experiments", "decisions"):
        page = source / folder / "README.md"
        pages = sorted(file.stem for file in page.parent.glob("*.md") if file != page)
        text = page.read_text("utf-8")
        listed = "\n".join(pages)
        page.write_text(f"{text}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n", "utf-8")


def write_python(source: Path) -> None:
    """Write the reference of the Python package, a page a task, for autodoc to fill."""
    folder = source / "reference" / "python"
    folder.mkdir(parents=True, exist_ok=True)
    modules = {"generate": "Model problems", "torch": "PyTorch", "dist": "Several processes"}
    pages = PYTHON | {stem: (title, []) for stem, title in modules.items()}
    for stem, (title, names) in pages.items():
        text = f"# {title}\n\n```{{eval-rst}}\n.. currentmodule:: nonzero\n\n"
        for name in names:
            kind = "autoclass" if name[0].isupper() else "autofunction"
            text += f".. {kind}:: nonzero.{name}\n"
            text += "   :members:\n\n" if kind == "autoclass" else "\n"
        if not names:
            text += f".. automodule:: nonzero.{stem}\n   :members:\n"
        (folder / f"{stem}.md").write_text(text + "```\n", "utf-8")
    listed = "\n".join(f"python/{stem}" for stem in pages)
    text = (
        "# Python reference\n\nFrom the docstrings of the package; [the manual](../python.md) "
        f"begins with a tour.\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    (source / "reference" / "python.md").write_text(text, "utf-8")


def write_command(source: Path) -> None:
    """Write the page of the command, from its help."""
    (source / "reference").mkdir(exist_ok=True)
    text = (
        "# The command\n\nAs `nz help NAME` prints it. [Which one does what](../guides/faq.md).\n"
    )
    helped = run("--help")
    names = re.findall(r"^  ([a-z]+) {2,}\S", helped.split("Subcommands:")[1], re.M)
    for name in names:
        if name != "help":
            text += f"\n## nz {name}\n\n```text\n{run('help', name).rstrip()}\n```\n"
    (source / "reference" / "command.md").write_text(text, "utf-8")


def link_names(source: Path) -> None:
    """Let every name of C++ in api.md lead to the header that declares it."""
    home: dict[str, str] = {}
    for header in sorted(public_names_test.public_headers()):
        for declaration in public_names_test.declarations((ROOT / header).read_text("utf-8")):
            name = public_names_test.name_of(declaration)
            if name is not None:
                home.setdefault(name, header)
    page = source / "api.md"
    lines = []
    for line in page.read_text("utf-8").splitlines():
        if line.startswith("| `"):
            first, rest = line[2:].split(" |", 1)
            for name in re.findall(r"`(\w+)`", first):
                if name in home:
                    first = first.replace(f"`{name}`", f"[`{name}`](../{home[name]})")
            line = linked(f"| {first} |", Path("api.md"), source / "extra") + rest
        lines.append(line)
    page.write_text("\n".join(lines) + "\n", "utf-8")


def write_gallery(source: Path) -> None:
    """Draw the gallery's reports, and list them on its page."""
    folder = source / "extra" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for report in gallery.REPORTS:
        gallery.draw(report, NZ, folder / f"{report.name}.html")
    page = source / "gallery.md"
    text = page.read_text("utf-8").replace("<!-- gallery -->", gallery.listed())
    page.write_text(text, "utf-8")


def write_index(source: Path) -> None:
    """Put the explorer into the first page and its own, and list all other pages on the first."""
    for name in ("index", "show"):
        page = source / f"{name}.md"
        text = page.read_text("utf-8")
        opened = explorer("left=csr.scalar&right=ell.row", "")
        page.write_text(text.replace("<!-- explorer -->", opened), "utf-8")
    with (source / "index.md").open("a", encoding="utf-8") as index:
        for group, pages in GROUPS.items():
            listed = "\n".join(pages)
            head = f":caption: {group}\n:hidden:\n:maxdepth: 1"
            index.write(f"\n```{{toctree}}\n{head}\n\n{listed}\n```\n")


def write_sources(source: Path) -> None:
    """Write all that Sphinx makes the site of."""
    copy_documents(source)
    generate_pages(source)
    write_lists(source)
    write_python(source)
    write_command(source)
    link_names(source)
    write_gallery(source)
    write_index(source)
    here = Path(__file__).parent
    shutil.copyfile(here / "conf.py", source / "conf.py")
    (source / "static").mkdir()
    shutil.copyfile(here / "site.css", source / "static" / "site.css")


def names_twice(source: Path) -> list[str]:
    """Return what would be one file of the site twice: pages, and files that are copied.

    Names that differ in capitals alone are one file on some machines.
    """
    pages = [str(p.relative_to(source).with_suffix(".html")) for p in source.rglob("*.md")]
    extra = source / "extra"
    copied = [str(p.relative_to(extra)) for p in extra.rglob("*") if p.is_file()]
    seen: dict[str, int] = defaultdict(int)
    for name in [*pages, *copied]:
        seen[name.lower()] += 1
    return sorted(name for name, times in seen.items() if times > 1)


def main() -> None:
    """Make the site in the folder that is named, or in build/site."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    source = ROOT / "build" / "site-source"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    write_sources(source)
    twice = names_twice(source)
    if twice:
        sys.exit(f"docs: two files of one name: {', '.join(twice)}")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-q",
        "-W",
        "--keep-going",
        "-j",
        "auto",
    ]
    subprocess.run([*command, str(source), str(site)], check=True)
    print(f"{site / 'index.html'}")


if __name__ == "__main__":
    main()

"""Every example of examples/python runs to its end, the notebook's cells in order too."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"
OVER_RANKS = "over_ranks.py"
SCRIPTS = sorted({p.name for p in EXAMPLES.glob("*.py")} - {OVER_RANKS})
NOTEBOOKS = sorted(p.name for p in EXAMPLES.glob("*.ipynb"))


def run(code: list[str], start: Sequence[str] = (sys.executable,)) -> str:
    done = subprocess.run(
        [*start, *code],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_are_found() -> None:
    assert SCRIPTS == ["cupy_solver.py", "pagerank.py", "poisson_scipy.py", "torch_layer.py"]
    assert NOTEBOOKS == ["first_steps.ipynb"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name: str) -> None:
    if name.startswith("torch") and importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch")
    assert run([str(EXAMPLES / name)]).strip(), "it printed nothing"


def test_over_ranks() -> None:
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("mpirun is not installed")
    out = run(
        [str(EXAMPLES / OVER_RANKS), "20"],
        [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable],
    )
    assert out.startswith("8000 unknowns on 2 ranks: cg and amg")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_cells(name: str) -> None:
    notebook = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [c for c in notebook["cells"] if c["cell_type"] == "code"]
    assert cells
    for cell in cells:
        assert cell["outputs"] == [] and cell["execution_count"] is None, "it stores outputs"
    sources = [c["source"] if isinstance(c["source"], str) else "".join(c["source"]) for c in cells]
    # The last expression of a cell is shown: as HTML, if it can be.
    program = f"""
import ast
names = {{}}
for source in {sources!r}:
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        shown = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        html = getattr(shown, "_repr_html_", None)
        print(html() if html else repr(shown))
"""
    assert "<table>" in run(["-c", program])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str) -> None:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    nbformat.validate(notebook)
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()

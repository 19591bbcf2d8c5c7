"""The package as a whole: what it imports, what it names, what its docstrings promise."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import nonzero as nz
from oracle import python

MODULES = ["nonzero"] + [
    f"nonzero.{m.name}" for m in pkgutil.iter_modules(nz.__path__) if m.name != "_nonzero"
]


def test_import_loads_neither_numpy_nor_scipy() -> None:
    done = python(
        "import sys, json, nonzero; dir(nonzero); "
        "print(json.dumps([m for m in sys.modules if m.partition('.')[0] in "
        "('numpy', 'scipy', 'torch', 'cupy', 'matplotlib', 'tqdm')]))"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("module", MODULES)
def test_docstrings_run(module: str) -> None:
    try:
        found = importlib.import_module(module)
    except ImportError as e:
        pytest.skip(str(e))
    if module == "nonzero.torch":
        pytest.importorskip("torch")
    results = doctest.testmod(found, optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


@pytest.mark.parametrize("name", [n for n in nz.__all__ if n not in ("torch", "__version__")])
def test_every_public_name_has_a_docstring_and_an_example(name: str) -> None:
    found = getattr(nz, name)
    assert name in dir(nz)
    text = inspect.getdoc(found)
    assert text
    if inspect.isfunction(found):
        assert ">>>" in text or name == "write"


def test_names_for_type_checkers_are_those_at_run_time() -> None:
    tree = ast.parse(Path(inspect.getfile(nz)).read_text())
    named = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert named == set(nz.__all__)


def test_the_version_is_that_of_the_library() -> None:
    assert nz.__version__.count(".") == 2


WITHOUT_SCIPY = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import numpy as np
import nonzero as nz

op = nz.plan(([2.0, 3.0], [1, 0], [0, 1, 2]), shape=(2, 2))
x = np.array([1.0, 10.0])
assert (op @ x).tolist() == [20, 3]
assert (op.T @ x).tolist() == [30, 2]
assert (x @ op).tolist() == [30, 2]
assert (op.H.matvec(x)).tolist() == [30, 2]
assert (op @ np.ones((2, 3))).shape == (2, 3)
assert nz.pagerank(op).converged and nz.partition(op).cut == 1
assert nz.eigsh(nz.plan(([2.0, 3.0], [0, 1], [0, 1, 2]), shape=(2, 2)), 1)[0][0] > 2.9
x, info = nz.gmres(op, np.ones(2))
assert info == 0
r = nz.solve(op, np.ones(2))
assert r.converged
for call, error in (
    (lambda: nz.generate.laplace2d(3), ImportError),
    (lambda: nz.read({file!r}), ImportError),
    (lambda: nz.spy(op), ImportError),
    (lambda: r.plot(), ImportError),
    (lambda: op @ 2, TypeError),
    (lambda: op @ op, TypeError),
):
    try:
        call()
    except error as e:
        assert "pip install" in str(e) or "needs SciPy" in str(e), e
    else:
        raise SystemError("no error")
"""


def test_without_scipy_and_matplotlib(tmp_path: Path) -> None:
    file = tmp_path / "A.mtx"
    file.write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n")
    missing = ["scipy", "matplotlib", "matplotlib.pyplot", "tqdm"]
    done = python(WITHOUT_SCIPY.format(missing=missing, file=str(file)))
    assert done.returncode == 0, done.stderr


def test_a_build_that_fails_says_what_is_missing(tmp_path: Path) -> None:
    pytest.importorskip("scikit_build_core")
    if not Path("/etc/debian_version").exists():
        pytest.skip("scripts/setup knows the packages of Debian and Ubuntu")
    root = Path(__file__).resolve().parents[2]
    for name, does in (("dpkg-query", "exit 1"), ("apt-get", f"touch {tmp_path}/asked")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import build_backend as b\n"
            "def fail(*_): raise SystemExit(7)\n"
            "b._backend.build_wheel = fail\n"
            "b.get_requires_for_build_wheel(None)\n"
            "b.build_wheel('.')",
        ],
        cwd=root,
        env={
            **os.environ,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(root / "python"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert "nonzero: this machine lacks g++, libeigen3-dev, libfast-float-dev" in done.stderr
    assert "scripts/setup installs what is missing" in done.stderr
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize(
    ("nvcc", "gpu", "given", "said", "cuda"),
    [
        (False, False, {}, "no nvcc here: built for the CPU", None),
        (True, False, {}, "nvcc is here, but no GPU: built for the CPU", "OFF"),
        (True, True, {}, "CUDA is compiled for this machine's GPU", None),
        (True, False, {"NONZERO_CUDA": "ON"}, "CUDA is compiled for three architectures", "ON"),
        (True, False, {"CMAKE_CUDA_ARCHITECTURES": "80"}, "CUDA is compiled for 80.", None),
        (True, True, {"NONZERO_CUDA": "OFF"}, "built for the CPU, as asked for", "OFF"),
    ],
)
def test_a_build_says_for_which_device(
    tmp_path: Path, nvcc: bool, gpu: bool, given: dict[str, str], said: str, cuda: str | None
) -> None:
    pytest.importorskip("scikit_build_core")
    for name, works in (("nvcc", nvcc), ("nvidia-smi", gpu)):
        if works:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)
    settings = {f"cmake.define.{name}": value for name, value in given.items()}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import build_backend as b\n"
            "b._backend.build_wheel = lambda where, settings, metadata: print(settings)\n"
            f"b.build_wheel('.', {settings!r})",
        ],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        start_new_session=True,  # no terminal to write to
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith(f"nonzero: {said}"), done.stderr
    assert done.stderr.count("\n") == 1
    with_cuda = {**settings, **({} if cuda is None else {"cmake.define.NONZERO_CUDA": cuda})}
    assert done.stdout == f"{with_cuda}\n"
    if "compiled for" in said:
        assert "-C cmake.define.NONZERO_CUDA=OFF" in done.stderr
        assert "-C cmake.define.CMAKE_CUDA_ARCHITECTURES=90" in done.stderr

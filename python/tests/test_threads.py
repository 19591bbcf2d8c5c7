"""Several threads, the GIL, Ctrl-C, and interpreters besides the first."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import nonzero as nz
from oracle import check, matrix, python

METHODS = ["csr.static", "csr.merge", "ell.row", "packed.warp", "csc.serial"]

# A process that was started in the background may ignore SIGINT, and its children with it.
HEEDS_CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
"""
INTERRUPTED = (
    HEEDS_CTRL_C
    + """
import sys, time
import numpy as np, nonzero as nz

{setup}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(0)
print("ended by itself", flush=True)
"""
)


def in_threads(*calls: Callable[[], object]) -> None:
    """Run all at once; raise what one raises."""
    errors: list[BaseException] = []

    def run(call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=run, args=(c,)) for c in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive(), "a deadlock"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("method", METHODS)
def test_products_at_once(method: str) -> None:
    A = matrix(300, 300, seed=1)
    op = nz.plan(A, methods=method)
    xs = np.random.default_rng(0).standard_normal((4, 300))
    wanted = [op @ x for x in xs]
    wanted_transposed = [op.T @ x for x in xs]

    def many(k: int) -> None:
        out = np.empty(300)
        for _ in range(200):
            assert np.array_equal(op @ xs[k], wanted[k])
            op.apply(xs[k], out)
            assert np.array_equal(out, wanted[k])
            assert np.array_equal(op.T @ xs[k], wanted_transposed[k])

    in_threads(*(partial(many, k) for k in range(4)))


def test_the_transpose_is_first_used_by_several() -> None:
    A = matrix(200, 150, seed=1)
    x, y = np.ones(150), np.ones(200)
    for _ in range(20):
        op = nz.plan(A, methods="csr.static")
        begin = threading.Barrier(4)

        def go(op: nz.Operator, begin: threading.Barrier, transposed: bool) -> None:
            begin.wait()
            for _ in range(10):
                if transposed:
                    check(op.T @ y, A.T.toarray(), y)
                else:
                    check(op @ x, A.toarray(), x)

        in_threads(*(partial(go, op, begin, k % 2 == 0) for k in range(4)))


@pytest.mark.parametrize("method", ["csr.static", "ell.row", "packed.warp"])
def test_products_while_values_change(method: str) -> None:
    A = matrix(200, 200, seed=1)
    ones = A.copy()
    ones.data[:] = 1
    lengths = ones @ np.ones(200)
    op = nz.plan(ones, methods=method)
    stop = threading.Event()

    def change() -> None:
        for k in range(1, 150):
            op.update_values(np.full(A.nnz, float(k)))
        stop.set()

    def multiply(transposed: bool) -> None:
        wanted = ones.T @ np.ones(200) if transposed else lengths
        while not stop.is_set():
            y = (op.T if transposed else op) @ np.ones(200)
            # Each product sees one set of values, of no other and of no mixture.
            k = y[wanted > 0][0] / wanted[wanted > 0][0]
            assert np.array_equal(y, k * wanted)

    def solve() -> None:
        while not stop.is_set():
            nz.gmres(op, np.ones(200), maxiter=5)

    in_threads(change, lambda: multiply(False), lambda: multiply(True), solve)
    check(op.T @ np.ones(200), 149 * ones.T.toarray(), np.ones(200))


def test_the_transpose_stored_at_once_with_new_values_has_the_new_ones() -> None:
    A = matrix(100, 100, seed=1)
    for k in range(40):
        op = nz.plan(A, methods="csr.static")
        begin = threading.Barrier(2)

        def use(op: nz.Operator, begin: threading.Barrier) -> None:
            begin.wait()
            _ = op.T @ np.ones(100)

        def change(op: nz.Operator, begin: threading.Barrier, k: int) -> None:
            begin.wait()
            op.update_values(A.data * (k + 2))

        in_threads(partial(use, op, begin), partial(change, op, begin, k))
        check(op.T @ np.ones(100), (k + 2) * A.T.toarray(), np.ones(100))


@pytest.mark.parametrize("make", [nz.amg, nz.ilu, nz.ic, nz.fsai, nz.spai])
def test_a_preconditioner_used_by_several(make: Callable[[Any], nz.Operator]) -> None:
    M = make(nz.generate.laplace2d(40))
    xs = np.random.default_rng(0).standard_normal((3, 1600))
    wanted = [M @ x for x in xs]

    def many(k: int) -> None:
        for _ in range(30):
            assert np.array_equal(M @ xs[k], wanted[k])

    in_threads(*(partial(many, k) for k in range(3)))


def test_solves_and_plans_at_once() -> None:
    A = nz.generate.laplace2d(40)
    b = np.ones(1600)

    def solve() -> None:
        for _ in range(5):
            assert nz.solve(A, b).converged
            assert nz.cg(A, b)[1] == 0

    def plan() -> None:
        for _ in range(30):
            nz.plan(A).matvec(b)

    def other() -> None:
        for _ in range(5):
            nz.pagerank(A)
            nz.eigsh(A, 1, which="LA", tol=1e-3)

    in_threads(solve, plan, other, solve)


def progress_during(call: Callable[[], object]) -> tuple[float, int]:
    """Run the call in a thread; tell how long it took and how often this one ran meanwhile."""
    took = 0.0

    def timed() -> None:
        nonlocal took
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start

    t = threading.Thread(target=timed)
    t.start()
    steps = 0
    while t.is_alive():
        time.sleep(0.002)
        steps += 1
    t.join()
    return took, steps


@pytest.mark.parametrize("what", ["plan", "generate", "solve", "eigsh", "read", "partition"])
def test_others_run_during_a_long_call(what: str, tmp_path: object) -> None:
    A = nz.generate.laplace2d(300)
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    path = f"{tmp_path}/A.mtx"
    if what == "read":
        nz.write(path, A)
    calls: dict[str, Callable[[], object]] = {
        "plan": lambda: [nz.plan(A, methods=["csr.merge"], fresh=False) for _ in range(100)],
        "generate": lambda: [nz.generate.laplace3d(140) for _ in range(3)],
        "solve": lambda: nz.cg(A, b, rtol=1e-12, maxiter=1500),
        "eigsh": lambda: nz.eigsh(A, 4, which="LA", tol=1e-3),
        "read": lambda: [nz.read(path) for _ in range(10)],
        "partition": lambda: nz.partition(A, 8, method="spectral"),
    }
    took, steps = progress_during(calls[what])
    assert took > 0.03, "too short to tell"
    # A call that held the GIL would let this thread run a few times at most.
    assert steps >= 5 and steps * 0.002 > took / 20


@pytest.mark.parametrize(
    ("setup", "call"),
    [
        (
            "A = nz.plan(nz.generate.laplace3d(60)); b = np.random.rand(60**3)",
            "nz.cg(A, b, rtol=1e-300, maxiter=10**9)",
        ),
        (
            "A = nz.plan(nz.generate.laplace3d(60)); b = np.random.rand(60**3); nz.solve(A, b)",
            "nz.solve(A, b, tol=1e-15, maxiter=10**9, method='gmres', preconditioner='none')",
        ),
        (
            "A = nz.plan(nz.generate.laplace2d(300))",
            "nz.eigsh(A, 20, which='SA', tol=1e-14, maxiter=10**9)",
        ),
        (
            "A = nz.plan(nz.generate.laplace2d(300), transposed=True)",
            "nz.svds(A, 20, tol=1e-14, maxiter=10**9)",
        ),
    ],
    ids=["cg", "solve", "eigsh", "svds"],
)
def test_ctrl_c_ends_a_solve(setup: str, call: str) -> None:
    code = INTERRUPTED.format(setup=setup, call=f"for _ in range(1000): {call}")
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(1.0)
        start = time.perf_counter()
        child.send_signal(signal.SIGINT)
        said = child.stdout.readline()
        took = time.perf_counter() - start
        assert said == "interrupted\n"
        assert took < 2.0
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()


def test_ctrl_c_wins_over_what_a_callback_raises_later() -> None:
    code = (
        HEEDS_CTRL_C
        + """
import numpy as np, nonzero as nz
calls = []
def callback(residual):
    calls.append(residual)
    if len(calls) == 3:
        signal.raise_signal(signal.SIGINT)
try:
    nz.cg(nz.generate.laplace2d(50), np.ones(2500), callback=callback, rtol=1e-12)
except KeyboardInterrupt:
    print(len(calls))
"""
    )
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3\n"


WAITING = """
import os
import nonzero as nz
before = dict(os.environ)
nz.methods()
assert dict(os.environ) == before
"""


@pytest.mark.parametrize(
    ("asked", "spins", "policy"),
    [
        ({}, "2000", "PASSIVE"),
        ({"OMP_WAIT_POLICY": "active"}, None, "ACTIVE"),
        ({"GOMP_SPINCOUNT": "77"}, "77", None),
    ],
)
def test_threads_that_wait_spin_for_a_moment_only(
    asked: dict[str, str], spins: str | None, policy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    done = python(WAITING, timeout=60, OMP_DISPLAY_ENV="verbose", **asked)
    assert done.returncode == 0, done.stderr
    if "GOMP_SPINCOUNT" not in done.stderr:
        pytest.skip("another OpenMP than GCC's")
    for name, wanted in (("GOMP_SPINCOUNT", spins), ("OMP_WAIT_POLICY", policy)):
        assert wanted is None or f"{name} = '{wanted}'" in done.stderr


SUBINTERPRETER = """
import sys
{first}
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import sys
sys.path[:] = {path!r}
try:
    import nonzero._nonzero
except ImportError as e:
    assert 'subinterpreter' in str(e), e
else:
    raise SystemError("imported")
'''
i = interpreters.create()
failure = interpreters.run_string(i, code)
assert failure is None, failure
interpreters.destroy(i)
import nonzero as nz
print(nz.generate.laplace2d(3).nnz)
"""


@pytest.mark.parametrize("first", ["", "import nonzero as nz; nz.methods()"])
def test_subinterpreters_are_refused(first: str) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("this Python has no interpreters to create from Python")
    done = python(SUBINTERPRETER.format(first=first, path=[p for p in sys.path if p]))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "33\n"

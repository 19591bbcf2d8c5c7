"""Tests of an operator besides its products: forms, plan, pickles, new values, memory."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg, eigsh, gmres, svds

import nonzero as nz
from oracle import DTYPES, check, matrix, numbers, python, spd


@pytest.mark.parametrize("dtype", DTYPES)
def test_transposes_of_transposes(dtype: str) -> None:
    A = matrix(9, 6, dtype)
    dense = A.toarray()
    op = nz.plan(A)
    rng = np.random.default_rng(0)
    x, y = numbers(rng, 6, dtype), numbers(rng, 9, dtype)
    forms = [
        (op, dense),
        (op.T, dense.T),
        (op.H, dense.conj().T),
        (op.T.T, dense),
        (op.H.H, dense),
        (op.T.H, dense.conj()),
        (op.H.T, dense.conj()),
        (op.T.H.T, dense.conj().T),
        (op.T.H.H, dense.T),
        (op.transpose().adjoint().transpose(), dense.conj().T),
    ]
    for form, wanted in forms:
        assert form.shape == wanted.shape and form.dtype == op.dtype and form.ndim == 2
        there, back = (x, y) if wanted.shape == dense.shape else (y, x)
        check(form @ there, wanted, there)
        if dtype == "complex128":
            check(form @ list(map(complex, there)), wanted, there)
        check(form.matvec(there), wanted, there)
        check(form.matmat(np.stack([there, there], 1)), wanted, np.stack([there, there], 1))
        check(form.rmatvec(back), wanted.conj().T, back)
        check(back @ form, wanted.T, back)
        assert np.allclose((2 * form) @ there, 2 * (wanted @ there), rtol=1e-4, atol=1e-5)
        assert repr(form)
    assert op.T.T is op and op.H.H is op


def test_the_algebra_of_linear_operators() -> None:
    A, B = matrix(7, 7, seed=1), matrix(7, 7, seed=2)
    a, b, x = nz.plan(A), nz.plan(B), np.arange(7.0)
    made: list[tuple[Any, Any]] = [
        (a + b, A + B),
        (a - b, A - B),
        (-a, -A),
        (3 * a, 3 * A),
        (a * 3, 3 * A),
        (a / 2, A / 2),
        (a @ b, A @ B),
        (a * b, A @ B),
        (a.dot(b), A @ B),
        (a**2, A @ A),
        (a.T @ b, A.T @ B),
        (a @ b.H, A @ B.T),
        ((a + b).T, (A + B).T),
        (a @ aslinearoperator(B), A @ B),
    ]
    for composed, wanted in made:
        assert isinstance(composed, LinearOperator)
        assert np.allclose(composed @ x, wanted @ x, rtol=1e-12, atol=1e-12)
    assert aslinearoperator(a) is a


def test_solvers_of_scipy_take_it() -> None:
    A = spd(60)
    op, b = nz.plan(A), np.ones(60)
    for method in (cg, gmres):
        x, info = method(op, b, rtol=1e-10, atol=0)
        assert info == 0 and np.linalg.norm(A @ x - b) <= 1e-9 * np.linalg.norm(b)
    x, info = cg(A, b, M=nz.amg(A), rtol=1e-10, atol=0)
    assert info == 0
    assert np.allclose(eigsh(op, k=2)[0], eigsh(A, k=2)[0], rtol=1e-9)
    R = matrix(30, 20)
    assert np.allclose(svds(nz.plan(R), k=2)[1], svds(R, k=2)[1], rtol=1e-7)


def test_numpy_leaves_products_from_the_left_to_it() -> None:
    A = matrix(5, 4)
    op = nz.plan(A)
    for y in (np.arange(5.0), np.ones((3, 5)), [1.0, 2, 3, 4, 5], [[1.0, 2, 3, 4, 5]]):
        result = y @ op
        assert isinstance(result, np.ndarray)
        check(result.T, A.T.toarray(), np.asarray(y).T)
        check((y @ op.T.T).T, A.T.toarray(), np.asarray(y).T)


def test_the_plan_tells_what_was_chosen() -> None:
    op = nz.plan(nz.generate.laplace2d(20))
    plan = op.plan
    names = [c.method for c in plan.candidates]
    assert set(nz.methods()) <= set(names)
    assert plan.method == names[0] and plan.method in plan.why + str(plan)
    assert plan.machine
    possible = [c for c in plan.candidates if not c.declined]
    assert [c.predicted_s for c in possible] == sorted(c.predicted_s for c in possible)
    assert all(c.bytes > 0 and c.matrix_bytes > 0 for c in possible)
    assert all(c.declined for c in plan.candidates[len(possible) :])
    lines = str(plan).splitlines()
    assert lines[0] == plan.why and lines[1].startswith("setup takes ")
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == "method predicted setup bytes moved bytes stored".split()
    assert [line.split()[0] for line in table[1:6]] == names[:5]
    assert all(len(line) <= 80 for line in table)
    for name in names:
        assert name in plan._repr_html_()
    html = op._repr_html_()
    assert html.count("<tr>") == len(names) + 1 and html.startswith("<table>")
    assert repr(op) == f"<{plan.method}: 400 x 400, float64 on the CPU>"


def test_results_have_numbers_that_people_read() -> None:
    text = nz._nonzero
    assert [text.text_of_time(s) for s in (2e-7, 1.12, 0)] == ["200 ns", "1.12 s", "0 s"]
    assert [text.text_of_bytes(b) for b in (512, 1.759e6)] == ["512 B", "1.76 MB"]
    assert [text.text_of_number(x) for x in (1120, 1e7, 1e-9)] == ["1120", "10.0 M", "1.0e-09"]
    A = nz.generate.laplace2d(20)
    b = A @ np.ones(400)
    unit = r"[\d.]+ (?:ns|us|ms|s)"
    solved = repr(nz.solve(A, b, method="cg", preconditioner="none"))
    how = rf"cg, \d+ iterations, residual \d\.\de-\d\d, setup {unit}, solve {unit}>"
    assert re.fullmatch(rf"<solution: converged by {how}", solved), solved
    short = repr(nz.solve(A, b, method="cg", preconditioner="none", maxiter=2))
    assert short.startswith("<solution: not converged, max_iter iterations were spent, by cg, 2")
    ranks = repr(nz.pagerank(A))
    assert re.fullmatch(
        rf"<ranks of 400 nodes: converged, \d+ iterations, error at most \d\.\de-\d\d, "
        rf"setup {unit}, solve {unit}>",
        ranks,
    ), ranks
    first, *_, last = map(repr, nz.plan(A).plan.candidates)
    assert re.fullmatch(
        rf"<[a-z_.]+: {unit} a product and {unit} of setup, predicted; [\d.]+ kB moved, "
        r"[\d.]+ k?B stored>",
        first,
    ), first
    assert " declines: " in last


def test_what_an_operator_says_of_itself() -> None:
    A = matrix(12, 9)
    op = nz.plan(A)
    assert op.device == op.T.device == "cpu" and op.nnz == A.nnz
    assert nz.plan(A, device=op.device).shape == op.shape
    assert np.array_equal(op.diagonal(), A.diagonal())
    twice = nz.plan(([1.0, 2.0, 3.0], [0, 0, 0], [0, 3, 3]), shape=(2, 1))
    assert twice.diagonal().tolist() == [6] and twice.nnz == 3
    said = repr(op.plan)
    assert f"12 x 9 with {A.nnz} entries: {op.plan.method}, of " in said
    assert op.plan.machine in said and "\n" not in said
    less = nz.plan(A, keep=False)
    assert less.nnz == A.nnz
    with pytest.raises(RuntimeError, match="diagonal: this operator does not keep a matrix"):
        less.diagonal()
    with pytest.raises(RuntimeError, match="nnz: this operator is a preconditioner"):
        _ = nz.amg(nz.generate.laplace2d(10)).nnz


def test_tuning_times_the_methods() -> None:
    A = nz.generate.laplace2d(12)
    assert any(c.measured_s > 0 for c in nz.plan(A, tune=True).plan.candidates)


@pytest.mark.slow
def test_measuring_the_machine_anew() -> None:
    A = nz.generate.laplace2d(12)
    op = nz.plan(A, tune=True, fresh=True)
    assert any(c.measured_s > 0 for c in op.plan.candidates)
    check(op @ np.ones(144), A.toarray(), np.ones(144))


def test_options_of_a_plan() -> None:
    A = nz.generate.laplace2d(30)
    assert nz.plan(A, methods=["ell.row"]).plan.method == "ell.row"
    assert nz.plan(A, methods="ell.row").plan.method == "ell.row"
    plain, both = (
        nz.plan(A, methods="csr.static"),
        nz.plan(A, methods="csr.static", transposed=True),
    )
    assert both.nbytes > plain.nbytes >= 8 * A.nnz
    few = nz.plan(A, products=1)
    assert few.plan.candidates[0].predicted_setup_s <= min(
        c.predicted_setup_s + c.predicted_s for c in few.plan.candidates if not c.declined
    )
    x = np.arange(900.0)
    for threads in (1, 2):
        check(nz.plan(A, threads=threads) @ x, A.toarray(), x)


def test_values_stored_in_single_precision() -> None:
    A = matrix(40, 30)
    x = np.linspace(-1, 1, 30)
    exact, single = nz.plan(A), nz.plan(A, storage="single")
    assert exact.plan.storage == "exact" and single.plan.storage == "single"
    assert 2**-24 < single.plan.bound < 1.001 * 2**-24
    for values in (A.data, A.data / 3):
        A.data = values
        single.update_values(values)
        rounded = sp.csr_matrix((values.astype("f4").astype("f8"), A.indices, A.indptr), A.shape)
        for op in (single, pickle.loads(pickle.dumps(single))):
            check(op @ x, rounded.toarray(), x)
            check(op.T @ np.ones(40), rounded.T.toarray(), np.ones(40))
        assert (np.abs(single @ x - A @ x) <= single.plan.bound * (abs(A) @ np.abs(x))).all()
        assert not np.array_equal(single @ x, A @ x)
    A.data[0] = 1e39
    with pytest.raises(ValueError, match="beyond the range of single precision"):
        nz.plan(A, storage="single")
    with pytest.raises(ValueError, match="not one of exact and single"):
        nz.plan(A, storage="double")
    with pytest.raises(ValueError, match="stored exactly only"):
        nz.plan(A.astype("c16"), storage="single")


def test_the_transpose_is_stored_when_it_first_multiplies() -> None:
    op = nz.plan(nz.generate.laplace2d(30), methods="ell.row")
    before = op.nbytes
    transposed = op.T
    assert op.nbytes == before
    assert np.array_equal(transposed @ np.ones(900), op @ np.ones(900))
    assert op.nbytes > before


def test_the_transpose_where_no_layout_suits_it() -> None:
    # One long column is a long row of A^T, for which ELL declines: the method then multiplies by
    # the transpose without storing it.
    A = sp.lil_array((400, 400))
    A.setdiag(2.0)
    A[:, 0] = 1.0
    op = nz.plan(A, methods="ell.row")
    y = np.arange(400.0)
    for _ in range(2):
        check(op.T @ y, A.toarray().T, y)
    assert op.plan.method == "ell.row"


def test_the_transpose_has_a_method_of_its_own() -> None:
    A = sp.csr_array(sp.hstack([sp.csr_array(np.ones((400, 1))), sp.eye_array(400)]))
    op = nz.plan(A)
    before, y = op @ np.ones(401), np.arange(400.0)
    check(op.T @ y, A.toarray().T, y)
    assert np.array_equal(op @ np.ones(401), before)


def test_without_the_matrix() -> None:
    A = matrix(12, 9)
    op = nz.plan(A, keep=False)
    check(op @ np.ones(9), A.toarray(), np.ones(9))
    check(op.T @ np.ones(12), A.T.toarray(), np.ones(12))
    assert op.plan.method in repr(op)
    for call, what in (
        (lambda: op.update_values(A.data), "update_values"),
        (lambda: pickle.dumps(op), "pickling"),
    ):
        with pytest.raises(RuntimeError, match=f"{what}: this operator does not keep a matrix"):
            call()


@pytest.mark.parametrize("dtype", DTYPES)
def test_new_values(dtype: str) -> None:
    A = matrix(15, 11, dtype)
    rng = np.random.default_rng(9)
    x, y = numbers(rng, 11, dtype), numbers(rng, 15, dtype)
    for method in ("csr.static", "ell.row", "packed.warp", "coo.serial"):
        op = nz.plan(A, methods=method)
        _ = op.T @ y  # the transpose must follow, too
        for _ in range(2):
            changed = A.copy()
            changed.data = numbers(rng, A.nnz, dtype)
            op.update_values(changed.data)
            check(op @ x, changed.toarray(), x)
            check(op.T @ y, changed.T.toarray(), y)
            check(pickle.loads(pickle.dumps(op)) @ x, changed.toarray(), x)


def test_new_values_before_the_transpose_is_used() -> None:
    A = matrix(15, 11)
    op = nz.plan(A)
    op.update_values(3 * A.data)
    check(op.T @ np.ones(15), 3 * A.T.toarray(), np.ones(15))


def test_a_solver_keeps_the_values_that_it_began_with() -> None:
    A = nz.generate.laplace2d(30)
    op, b = nz.plan(A), np.ones(900)
    calls = 0

    def change(_: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            op.update_values(1000 * A.data)
        elif calls == 5:
            _x = op.T @ b

    x, info = nz.cg(op, b, rtol=1e-10, callback=change)
    assert info == 0 and calls > 5
    assert np.linalg.norm(A @ x - b) <= 1e-9 * np.linalg.norm(b)
    check(op @ b, 1000 * A.toarray(), b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_pickles_and_copies(dtype: str) -> None:
    A = matrix(15, 11, dtype)
    x = numbers(np.random.default_rng(1), 11, dtype)
    op = nz.plan(A, threads=2, products=1000, methods=["csr.static"])
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(op, protocol))
        assert np.array_equal(again @ x, op @ x)
        assert again.plan.method == "csr.static"
        y = numbers(np.random.default_rng(2), 15, dtype)
        check(again.T @ y, A.T.toarray(), y)
    assert copy.copy(op) is op
    deep = copy.deepcopy(op)
    assert deep is not op and np.array_equal(deep @ x, op @ x)
    deep.update_values(2 * A.data)
    check(op @ x, A.toarray(), x)
    transposed = pickle.loads(pickle.dumps(op.T))
    assert transposed.shape == (11, 15)


def test_a_preconditioner_is_not_pickled() -> None:
    M = nz.amg(nz.generate.laplace2d(8))
    assert copy.copy(M) is M
    with pytest.raises(RuntimeError, match="pickling: this operator does not keep a matrix"):
        pickle.dumps(M)


def test_the_arrays_are_held_while_needed_and_not_longer() -> None:
    A = matrix(50, 50)
    arrays = [A.data, A.indices, A.indptr]
    before = [sys.getrefcount(a) for a in arrays]
    op = nz.plan(A)
    assert [sys.getrefcount(a) for a in arrays] == before  # it has copied them
    x, out = np.ones(50), np.ones(50)
    counts = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(1000):
        op.matvec(x)
        op.apply(x, out, alpha=2.0, beta=0.5)
        op.T.matvec(x)
        op.update_values(A.data)
        with pytest.raises(ValueError):
            op.apply(x, x)
        with pytest.raises(ValueError):
            op.dot(out[:3])
    assert (sys.getrefcount(x), sys.getrefcount(out)) == counts
    assert [sys.getrefcount(a) for a in arrays] == before
    del op
    gc.collect()
    assert [sys.getrefcount(a) for a in arrays] == before
    small = nz.plan(A, keep=False)
    assert [sys.getrefcount(a) for a in arrays] == before
    del small


def spoil(A: Any) -> None:
    """Change a CSR in place: its values, then its pattern, which is then none."""
    A.data *= 10
    A.indices[:] = 2**30
    A.indptr[1:-1] = -5


METHODS = [m for m in nz.methods() if not m.startswith("packed")] + ["packed.warp"]


@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "bool"])
@pytest.mark.parametrize("given_as", ["csr", "arrays", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_an_operator_is_of_the_matrix_as_it_was(given_as: str, dtype: str) -> None:
    drawn = sp.csr_array(abs(matrix(9, 9)) > 0.8).astype(dtype) * np.dtype(dtype).type(1)
    dense = drawn.toarray().astype("float64" if dtype in ("int8", "bool") else dtype)
    A = drawn.copy() if given_as == "arrays" else drawn.asformat(given_as, copy=True)
    keeps = nz.plan((A.data, A.indices, A.indptr), shape=A.shape) if given_as == "arrays" else None
    op = keeps or nz.plan(A)
    stored = nz.plan(drawn.copy() if given_as == "arrays" else A, transposed=True)
    if given_as in ("csr", "arrays"):
        spoil(A) if dtype != "bool" else A.indices.fill(2**30)
    elif given_as == "lil":
        A.data[:] = [[] for _ in A.data]
    elif given_as == "dok":
        A.clear() if hasattr(A, "clear") else A._dict.clear()
    else:
        A.data[:] = 0
    x = np.arange(1, 10).astype(op.dtype)
    X = np.stack([x, x + 1, x + 2], axis=1)
    for same in (op, pickle.loads(pickle.dumps(op)), nz.plan(op), stored):
        assert np.array_equal(same @ x, dense @ x)
        assert np.array_equal(same @ X, dense @ X)
        assert np.array_equal(same.T @ x, dense.T @ x)
        assert np.array_equal(same.H @ x, dense.conj().T @ x)
        assert np.array_equal(same.T @ X, dense.T @ X)


@pytest.mark.parametrize("method", METHODS)
def test_no_method_reads_the_matrix_again(method: str) -> None:
    A = spd(40)
    dense, x = A.toarray(), np.arange(40.0)
    for options in ({}, {"keep": False}, {"vectors": 3}, {"storage": "single"}):
        given_as = A.copy()
        try:
            op = nz.plan(given_as, methods=[method], deterministic=False, **options)
        except (nz.Unavailable, ValueError):
            continue
        before = [op @ x, op @ np.stack([x, x], axis=1)]
        spoil(given_as)
        assert np.array_equal(op @ x, before[0])
        assert np.array_equal(op @ np.stack([x, x], axis=1), before[1])
        if "storage" not in options:
            check(op.T @ x, dense.T, x)


def test_new_values_are_as_they_were_given() -> None:
    A = matrix(15, 15)
    op = nz.plan(A)
    changed = 3 * A.data
    op.update_values(changed)
    changed *= 10
    x = np.ones(15)
    for same in (op, pickle.loads(pickle.dumps(op))):
        check(same @ x, 3 * A.toarray(), x)
        check(same.T @ x, 3 * A.T.toarray(), x)
    spoil(A)
    op.update_values(np.repeat(changed, 2)[::2])
    assert np.array_equal(op @ x, nz.plan(op) @ x)


def test_solvers_take_an_operator_for_the_matrix_that_it_multiplies_by() -> None:
    A = spd(30)
    b = A @ np.ones(30)
    op, M = nz.plan(A), nz.amg(A)
    before = M @ b
    spoil(A)
    assert np.allclose(nz.solve(op, b, tol=1e-12).x, 1)
    assert np.allclose(nz.cg(op, b, rtol=1e-12, M=M)[0], 1)
    assert np.array_equal(M @ b, before)
    assert np.array_equal(nz.amg(op) @ b, before)


def test_an_operator_outlives_its_matrix() -> None:
    A = matrix(50, 50)
    dense = A.toarray()
    op = nz.plan((A.data.copy(), A.indices.copy(), A.indptr.copy()), shape=A.shape)
    del A
    gc.collect()
    check(op @ np.ones(50), dense, np.ones(50))
    check(op.T @ np.ones(50), dense.T, np.ones(50))


def test_results_own_their_memory() -> None:
    A = nz.generate.laplace2d(6)
    kept = [A.data, nz.pagerank(A).rank, nz.solve(A, np.ones(36)).residuals, nz.eigsh(A, 2)[1]]
    copies = [k.copy() for k in kept]
    for _ in range(50):
        nz.generate.laplace2d(6)
        nz.pagerank(A)
    gc.collect()
    assert all(np.array_equal(k, c) for k, c in zip(kept, copies, strict=True))
    kept[0][0] = 5  # writable: it is the caller's


LEAK = """
import gc, resource, sys
import numpy as np, nonzero as nz

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

rng = np.random.default_rng(0)
n, nnz = 200, 2000
arrays = rng.random(nnz), rng.integers(0, n, nnz).astype(np.int32), np.arange(0, nnz + 1, 10)
x, out = np.ones(n), np.ones(n)

def once():
    op = nz.plan(arrays, shape=(n, n), methods=["csr.serial"], threads=1)
    op @ x
    op.apply(x, out)
    op.T @ x
    op.update_values(arrays[0])
    try:
        op.apply(x, x)
    except ValueError:
        pass

for _ in range(500):
    once()
gc.collect()
counts, before = [sys.getrefcount(a) for a in (*arrays, x, out)], resident()
for _ in range(10_000):
    once()
gc.collect()
grown = resident() - before
assert [sys.getrefcount(a) for a in (*arrays, x, out)] == counts
print(grown)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_plans_leak_nothing() -> None:
    done = python(LEAK, timeout=120, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    # One plan holds 50 kB; a leak of 400 bytes a plan would be 4 MB.
    assert int(done.stdout) < 4_000_000


SOLVER_LEAK = """
import gc, resource
import numpy as np, nonzero as nz

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()

def stop(*_):
    raise StopIteration

def fail(*_):
    raise KeyError

def once():
    A = nz.generate.laplace2d(10)
    b = np.ones(100)
    nz.solve(A, b)
    nz.cg(A, b, callback=stop)
    nz.pagerank(A)
    nz.eigsh(A, 1, which="LA", tol=1e-2)
    for call in (nz.cg, nz.solve):
        try:
            call(A, b, callback=fail)
        except KeyError:
            pass

for _ in range(50):
    once()
gc.collect()
before = resident()
for _ in range(300):
    once()
gc.collect()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_solvers_leak_nothing() -> None:
    done = python(SOLVER_LEAK, timeout=120, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 2_000_000


def test_misaligned_vectors_are_refused() -> None:
    op = nz.plan(sp.eye_array(4, format="csr"))
    x = np.frombuffer(b"\0" * 33, np.uint8)[1:].view(np.float64)
    with pytest.raises(ValueError, match="x: its elements are not aligned in memory, expected"):
        op.matvec(x)

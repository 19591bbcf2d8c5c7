"""Linear systems and eigenpairs, against SciPy and against matrices whose spectrum is known."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from hypothesis import given
from hypothesis import strategies as st

import nonzero as nz
from oracle import DTYPES, matrix, numbers, spd

KRYLOV = {"cg": nz.cg, "minres": nz.minres, "bicgstab": nz.bicgstab, "gmres": nz.gmres}


def relative_residual(A: Any, x: Any, b: Any) -> float:
    """Give norm(b - A x) / norm(b)."""
    return float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))


@pytest.mark.parametrize("method", KRYLOV)
@pytest.mark.parametrize("dtype", DTYPES)
def test_krylov_methods(method: str, dtype: str) -> None:
    A = spd(80, dtype)
    b = numbers(np.random.default_rng(0), 80, dtype)
    rtol = 1e-10 if np.finfo(dtype).eps < 1e-10 else 1e-4
    x, info = KRYLOV[method](A, b, rtol=rtol)
    assert info == 0 and x.dtype == b.dtype and x.shape == b.shape
    assert relative_residual(A, x, b) <= 2 * rtol
    wanted = sla.spsolve(A.astype(np.result_type(dtype, np.float64)).tocsc(), b)
    assert np.linalg.norm(x - wanted) <= 100 * rtol * np.linalg.norm(wanted)


@pytest.mark.parametrize("method", ["bicgstab", "gmres"])
def test_matrices_that_are_not_symmetric(method: str) -> None:
    A = matrix(60, 60) + 20 * sp.eye_array(60)
    b = np.ones(60)
    x, info = KRYLOV[method](sp.csr_array(A), b, rtol=1e-10)
    assert info == 0 and relative_residual(A, x, b) <= 1e-9


@pytest.mark.parametrize("method", ["minres", "gmres"])
def test_matrices_that_are_not_definite(method: str) -> None:
    A = sp.csr_array(sp.diags_array(np.r_[np.linspace(-3, -1, 20), np.linspace(1, 4, 20)]))
    b = np.ones(40)
    x, info = KRYLOV[method](A, b, rtol=1e-10)
    assert info == 0 and np.allclose(x, 1 / A.diagonal(), rtol=1e-8)


@pytest.mark.parametrize("method", KRYLOV)
def test_arguments_of_krylov_methods(method: str) -> None:
    A = nz.generate.laplace2d(12)
    run, op, b = KRYLOV[method], nz.plan(A), np.random.default_rng(0).standard_normal(144)
    x, info = run(op, b, rtol=1e-11)
    assert info == 0
    given = b.copy()
    started = x + 1e-3
    kept = started.copy()
    seen: list[float] = []
    again, info = run(op, b[:, None], started, rtol=1e-11, callback=seen.append)
    assert info == 0 and np.allclose(again, x, rtol=1e-8)
    assert np.array_equal(b, given) and np.array_equal(started, kept)
    assert seen and all(isinstance(r, float) for r in seen) and seen[-1] <= 1e-11
    few, info = run(op, b, maxiter=2)
    assert info == 2 and relative_residual(A, few, b) > 1e-5
    by_amg: list[float] = []
    x, info = run(op, b, M=nz.amg(A), rtol=1e-11, callback=by_amg.append)
    assert info == 0 and relative_residual(A, x, b) <= 1e-10
    whole: list[float] = []
    run(op, b, rtol=1e-11, callback=whole.append)
    assert len(by_amg) < len(whole)
    assert np.array_equal(run(op, b, rtol=1e-11)[0], run(A, np.repeat(b, 2)[::2], rtol=1e-11)[0])
    assert not run(op, 0 * b)[0].any()


def test_iterations_are_those_of_scipy() -> None:
    A = nz.generate.laplace2d(20)
    b = np.random.default_rng(1).standard_normal(400)
    mine: list[float] = []
    theirs: list[int] = []
    x, info = nz.cg(A, b, rtol=1e-8, callback=mine.append)
    wanted, _ = sla.cg(A, b, rtol=1e-8, callback=lambda _: theirs.append(1))
    assert info == 0 and abs(len(mine) - len(theirs)) <= 2
    assert np.allclose(x, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", KRYLOV)
def test_stop_iteration_ends_a_method(method: str) -> None:
    A = nz.generate.laplace2d(20)
    calls: list[float] = []

    def enough(residual: float) -> None:
        calls.append(residual)
        if len(calls) == 4:
            raise StopIteration

    x, info = KRYLOV[method](A, np.ones(400), rtol=1e-12, callback=enough)
    assert len(calls) == 4 and info > 0
    assert 1e-12 < relative_residual(A, x, np.ones(400)) < math.inf


@pytest.mark.parametrize("method", [None, *KRYLOV])
def test_an_exception_in_a_callback_comes_out(method: str | None) -> None:
    A, b = nz.generate.laplace2d(20), np.random.default_rng(0).standard_normal(400)
    error = LookupError("mine")
    calls = 0

    def fail(_: float) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise error

    with pytest.raises(LookupError) as caught:
        if method is None:
            nz.solve(A, b, preconditioner="none", callback=fail)
        else:
            KRYLOV[method](A, b, callback=fail)
    assert caught.value is error and calls == 2
    names = [t.name for t in caught.traceback]
    assert "fail" in names


def test_solve_by_itself() -> None:
    A = nz.generate.laplace3d(12)
    b = np.random.default_rng(0).standard_normal(1728)
    r = nz.solve(A, b, tol=1e-10)
    assert r.converged and relative_residual(A, r.x, b) <= 1e-10
    assert r.relative_residual <= 1e-10
    assert r.relative_residual == pytest.approx(r.residuals[-1], rel=1e-3)
    assert r.residuals[0] == pytest.approx(1) and len(r.residuals) == r.iterations + 1
    assert r.method == "cg" and r.preconditioner == "ic"
    assert r.status == r.attempts[0]["status"] == r.why == "converged"
    assert r.setup_s > 0 and r.solve_s > 0 and len(r.attempts) == 1
    assert np.allclose(r.x, sla.spsolve(A.tocsc(), b), rtol=1e-7, atol=1e-9)
    assert np.array_equal(nz.solve(A, b, tol=1e-10).x, r.x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_of_every_dtype(dtype: str) -> None:
    A = spd(80, dtype)
    b = numbers(np.random.default_rng(0), 80, dtype)
    r = nz.solve(A, b)
    assert r.converged and r.x.dtype == np.dtype(dtype)
    assert relative_residual(A, r.x, b) <= (1e-7 if np.finfo(dtype).eps < 1e-10 else 1e-4)


@pytest.mark.parametrize("method", KRYLOV)
@pytest.mark.parametrize(
    "preconditioner", ["none", "jacobi", "block-jacobi", "sgs", "amg", "ilu", "ic", "fsai"]
)
@pytest.mark.parametrize("fill_level", [0, 1])
def test_solve_as_asked(method: str, preconditioner: str, fill_level: int) -> None:
    A, b = nz.generate.laplace2d(12), np.ones(144)
    r = nz.solve(
        A,
        b,
        method=method,
        preconditioner=preconditioner,
        block=2,
        fill_level=fill_level,
        rtol=1e-9,
    )
    assert (r.method, r.preconditioner) == (method, preconditioner)
    assert r.converged and relative_residual(A, r.x, b) <= 1e-9


@pytest.mark.parametrize("method", [None, "gmres", "fgmres", "minres", "bicgstab", "idrs"])
def test_solve_a_saddle_point(method: str | None) -> None:
    for A in (nz.generate.stokes2d(12), nz.generate.mixed2d(9), -nz.generate.stokes3d(4)):
        b = np.ones(A.shape[0])
        r = nz.solve(A, b, method=method, preconditioner="saddle", rtol=1e-9)
        assert r.converged and relative_residual(A, r.x, b) <= 1e-9
        assert (r.method, r.preconditioner) == (method or "gmres", "saddle")
    with pytest.raises(ValueError, match="saddle: no block of zeros"):
        nz.solve(nz.generate.laplace2d(5), np.ones(25), preconditioner="saddle")


def test_solve_within_single_precision() -> None:
    A, b = nz.generate.laplace2d(30), np.ones(900)
    r = nz.solve(A, b, method="refine", rtol=1e-10)
    assert r.converged and relative_residual(A, r.x, b) <= 1e-10
    assert r.attempts[0]["inner_iterations"] > r.iterations
    with pytest.raises(ValueError, match="refine: for values in double precision"):
        nz.solve(A.astype(np.float32), b, method="refine")


def test_solve_where_the_diagonal_is_zero() -> None:
    A = sp.csr_array(np.roll(nz.generate.laplace2d(9).toarray(), 40, axis=0))
    b = np.ones(81)
    for options in ({}, {"method": "direct"}, {"iterative": True}, {"preconditioner": "ilut"}):
        r = nz.solve(A, b, tol=1e-9, **options)
        assert r.converged and relative_residual(A, r.x, b) <= 1e-9
        asked_otherwise = "iterative" in options or "preconditioner" in options
        assert (r.method == "direct") is not asked_otherwise


@pytest.mark.parametrize("dtype", DTYPES)
def test_factorize(dtype: str) -> None:
    A = sp.csr_array(np.roll(spd(80, dtype).toarray(), 30, axis=0))
    rng = np.random.default_rng(0)
    F = nz.factorize(A)
    eps = float(np.finfo(dtype).eps)
    assert F.shape == A.shape and F.nnz >= 80 and F.nbytes > 0 and F.predicted_bytes > 0
    b = numbers(rng, 80, dtype)
    x = F.solve(b)
    assert x.dtype == np.dtype(dtype) and relative_residual(A, x, b) <= 100 * eps
    B = np.stack([b, 2 * b, numbers(rng, 80, dtype)], axis=1)
    X = F.solve(B)
    assert X.shape == B.shape and relative_residual(A, X, B) <= 100 * eps
    assert np.array_equal(X[:, 0], x)


@pytest.mark.parametrize("by", ["eigen", "cholmod", "umfpack", "pardiso", "klu", "auto"])
def test_factorize_by_what_is_installed(by: str) -> None:
    A, b = nz.generate.laplace2d(30), np.ones(900)
    try:
        F = nz.factorize(A, direct_solver=by)
    except nz.Unavailable as e:
        pytest.skip(str(e))
    assert relative_residual(A, F.solve(b), b) <= 1e-13
    assert by in (F.library, "auto")
    assert F.kind == ("lu" if F.library in ("umfpack", "klu") else "cholesky")
    r = nz.solve(A, b, method="direct", direct_solver=by)
    assert r.converged and r.attempts[0]["forecast"]["library"] == F.library
    assert r.attempts[0]["factors"]["entries"] == F.nnz
    assert any("cg first" in reason for reason in r.reasons)


def test_factorize_refuses() -> None:
    A = nz.generate.laplace2d(30)
    with pytest.raises(nz.Unavailable, match="B allowed"):
        nz.factorize(A, max_bytes=1000)
    with pytest.raises(ValueError, match="structurally singular"):
        nz.factorize(sp.csr_array(([1.0], ([0], [0])), shape=(2, 2)))
    with pytest.raises(ValueError, match="numerically singular"):
        nz.factorize(sp.csr_array(np.ones((2, 2))))
    with pytest.raises(ValueError, match=r"b: of shape \(3,\)"):
        nz.factorize(A).solve(np.ones(3))


def test_solve_of_what_is_no_array_of_its_dtype() -> None:
    A = nz.generate.laplace2d(5)
    wanted = sla.spsolve(A.tocsc(), np.ones(25))
    rhs: list[Any] = [[1] * 25, np.ones(25, int), np.ones(25, np.float32), np.ones((25, 1))]
    rhs += [np.ones(50)[::2], np.ones(25, bool), np.asmatrix(np.ones((25, 1)))]
    for b in rhs:
        r = nz.solve(A, b, tol=1e-12)
        assert r.x.shape == (25,) and np.allclose(r.x, wanted, rtol=1e-9)
    started = nz.solve(nz.plan(A), np.ones(25), x0=wanted)
    assert started.converged and started.iterations == 0


def test_solve_that_does_not_converge_is_a_value() -> None:
    A, b = nz.generate.laplace2d(30), np.random.default_rng(0).standard_normal(900)
    r = nz.solve(A, b, method="cg", preconditioner="none", maxiter=3)
    assert not r.converged and r.iterations == 3 and r.status == "max-iter"
    r = nz.solve(sp.csr_array((3, 3)), np.ones(3))
    assert not r.converged and "singular" in r.why and r.status == "singular-matrix"
    r = nz.solve(A, b * np.nan)
    assert not r.converged and "not finite" in r.why and r.status == "not-finite-at-start"


def test_solve_stopped_by_its_callback() -> None:
    A, b = nz.generate.laplace2d(30), np.random.default_rng(0).standard_normal(900)

    def enough(_: float) -> None:
        raise StopIteration

    r = nz.solve(A, b, tol=1e-12, preconditioner="jacobi", callback=enough)
    assert not r.converged and r.iterations == 1
    assert (r.status, r.why) == ("stopped-by-caller", "stopped by the caller")


def test_solve_ends_in_time() -> None:
    A, b = nz.generate.laplace2d(60), np.ones(3600)
    r = nz.solve(A, b, max_seconds=0)
    assert (r.converged, r.iterations, r.why) == (False, 0, "max_seconds were spent")
    assert r.status == "max-seconds"
    assert r.advice[0] == "allow more than 0 seconds (max_seconds)"
    assert nz.solve(A, b, max_seconds=60).converged
    for method in KRYLOV.values():
        x, info = method(A, b, max_seconds=0)
        assert info == 1 and not x.any()
        with pytest.raises(ValueError, match="max_seconds"):
            method(A, b, max_seconds=-1)
    with pytest.raises(ValueError, match="max_seconds"):
        nz.solve(A, b, max_seconds=math.nan)


def test_the_residual_of_a_result_is_that_of_its_x() -> None:
    A = nz.generate.laplace2d(20).astype("f4")
    b = np.ones(400, "f4")
    r = nz.solve(A, b, tol=1e-10)
    true = relative_residual(A.astype("f8"), r.x.astype("f8"), b.astype("f8"))
    assert r.relative_residual == pytest.approx(true, rel=0.5)
    assert r.relative_residual > 100 * r.residuals[-1]  # what rounding parts from it


@st.composite
def semidefinite(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    """Give a Laplacian of some components, and a vector of ones on each of them."""
    blocks, null = [], []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(2, 400))
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        edges = draw(st.integers(0, 2 * n))
        i = np.r_[np.arange(n - 1), rng.integers(0, n, edges)]
        j = np.r_[np.arange(1, n), rng.integers(0, n, edges)]
        w = np.exp(rng.uniform(-1, 1, len(i)))
        W = sp.coo_array((w, (i, j)), shape=(n, n)).tocsr()
        blocks.append(sp.csr_array(sp.csgraph.laplacian(W + W.T)))
    A = sp.csr_array(sp.block_diag(blocks))
    start = np.cumsum([0] + [block.shape[0] for block in blocks])
    for first, last in zip(start, start[1:], strict=False):
        ones = np.zeros(A.shape[0])
        ones[first:last] = 1
        null.append(ones)
    return A, null


@pytest.mark.parametrize(("seed", "share"), [(53, 1e-10), (85, 0)])
def test_null_spaces_do_not_grow_from_attempt_to_attempt(seed: int, share: float) -> None:
    g = np.random.default_rng(seed)
    blocks: list[Any] = []
    for n in g.integers(2, 400, g.integers(1, 4)):
        edges = int(g.integers(0, 2 * n)) if g.random() < 0.5 else 0
        i = np.r_[np.arange(n - 1), g.integers(0, n, edges)]
        j = np.r_[np.arange(1, n), g.integers(0, n, edges)]
        W = sp.coo_array((np.exp(g.uniform(-1, 1, len(i))), (i, j)), shape=(n, n)).tocsr()
        blocks.append(sp.csr_array(sp.csgraph.laplacian(W + W.T)))
    A = sp.csr_array(sp.block_diag(blocks))
    ones = sp.block_diag([np.ones((block.shape[0], 1)) for block in blocks]).toarray()
    ones /= np.linalg.norm(ones, axis=0)
    least = g.standard_normal(A.shape[0])
    least -= ones @ (ones.T @ least)
    b = A @ least
    b += share * np.linalg.norm(b) * ones.sum(axis=1)
    r = nz.solve(A, b, tol=1e-8)  # CG with multigrid ends as A is not definite for a direction
    assert r.converged and relative_residual(A, r.x, b) <= 1.01e-8
    assert np.linalg.norm(r.x) <= 4 * np.linalg.norm(least)


@given(semidefinite(), st.integers(0, 2**32 - 1), st.sampled_from([0, 1e-10, 1e-9]))
def test_solutions_of_semidefinite_systems_are_small(
    system: tuple[Any, list[Any]], seed: int, share: float
) -> None:
    A, null = system
    least = np.random.default_rng(seed).standard_normal(A.shape[0])
    for v in null:
        least -= v * (v @ least) / (v @ v)
    b = A @ least
    for v in null:  # a part that is no product of A, below the tolerance
        b += share * np.linalg.norm(b) / np.linalg.norm(v) * v
    r = nz.solve(A, b, tol=1e-8)
    assert r.converged, r.why
    assert relative_residual(A, r.x, b) <= 1.01e-8
    assert np.linalg.norm(r.x) <= 4 * np.linalg.norm(least) + 1e-6


def test_solve_tries_the_next() -> None:
    # Neither positive definite nor of a diagonal that Jacobi can take.
    A = sp.csr_array(np.array([[0.0, 1], [1, 0]]))
    r = nz.solve(A, np.array([1.0, 2.0]))
    assert r.converged and np.allclose(r.x, [2, 1])
    assert r.iterations == sum(a["iterations"] for a in r.attempts)


def test_results_of_a_solve_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("tqdm")
    A, b = nz.generate.laplace2d(20), np.random.default_rng(0).standard_normal(400)
    seen: list[float] = []
    r = nz.solve(A, b, preconditioner="none", progress=True, callback=seen.append)
    shown = capsys.readouterr().err
    assert "residual" in shown and "100%" in shown and f"{r.residuals[-1]:.1e}" in shown
    assert seen == r.residuals[1:].tolist()
    html = r._repr_html_()
    assert "converged" in html and html.count("<tr>") == 2 and "cg with none" in html
    axes = r.plot()
    line = axes.get_lines()[0]
    assert np.array_equal(line.get_ydata(), r.residuals) and axes.get_yscale() == "log"
    assert r.plot(axes) is axes and len(axes.get_lines()) == 2
    assert "x=" not in repr(r) and "converged by cg" in repr(r)


def test_progress_closes_its_bar_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    tqdm: Any = pytest.importorskip("tqdm.auto").tqdm
    closed: list[bool] = []
    close = tqdm.close

    def counted(bar: Any) -> None:
        if not bar.disable:
            closed.append(sys.exc_info()[0] is KeyError)
        close(bar)

    monkeypatch.setattr(tqdm, "close", counted)

    def fail(_: float) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        nz.solve(nz.generate.laplace2d(5), np.ones(25), progress=True, callback=fail)
    assert closed == [True]


def test_progress_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="progress=True: needs tqdm"):
        nz.solve(nz.generate.laplace2d(5), np.ones(25), progress=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("cycle", ["v", "w"])
def test_amg_is_near_the_inverse(dtype: str, cycle: str) -> None:
    A = nz.generate.laplace2d(30, dtype=dtype)
    M = nz.amg(A, cycle=cycle)
    assert M.shape == A.shape and M.dtype == np.dtype(dtype) and M.nbytes > 0
    assert "amg" in repr(M) and M._repr_html_()
    rng = np.random.default_rng(0)
    # Symmetric and positive: r' M s = s' M r, r' M r > 0. The spectrum of M A is near 1.
    r, s = numbers(rng, 900, dtype), numbers(rng, 900, dtype)
    assert np.isclose(r @ (M @ s), s @ (M @ r), rtol=1e-4 if dtype == "float32" else 1e-10)
    assert np.allclose(M.T @ r, M @ r, rtol=1e-3, atol=1e-5)
    x = numbers(rng, 900, dtype)
    for _ in range(30):
        x = x / np.linalg.norm(x)
        x = x - M @ (A @ x)
    assert np.linalg.norm(x) < 0.8
    assert np.array_equal(M @ r, nz.amg(A, cycle=cycle) @ r)
    several = np.stack([r, s], axis=1)
    # Several vectors share a cycle, whose products may round otherwise than one vector's.
    difference = np.linalg.norm((M @ several)[:, 0] - M @ r)
    assert difference <= 100 * np.finfo(dtype).eps * np.linalg.norm(M @ r)
    assert np.array_equal(M @ several, M @ several)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("level", [0, 1])
def test_incomplete_factors_spare_iterations(dtype: str, level: int) -> None:
    A = nz.generate.laplace2d(30).astype(dtype)
    b = np.ones(900, dtype)
    rtol = 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-9
    plain: list[float] = []
    nz.cg(A, b, rtol=rtol, callback=plain.append)
    for make, run in (
        (nz.ilu, nz.bicgstab),
        (nz.ic, nz.cg),
        (nz.fsai, nz.cg),
        (nz.spai, nz.bicgstab),
    ):
        M = make(A, level)
        assert M.shape == A.shape and M.dtype == np.dtype(dtype) and M.nbytes > 0
        assert make.__name__ in repr(M)
        fewer: list[float] = []
        x, info = run(A, b, rtol=rtol, M=M, callback=fewer.append)
        assert info == 0 and len(fewer) < len(plain)
        assert relative_residual(A, x, b) <= 10 * rtol
        # Products are planned for a number of threads, and with them their rounding.
        alike = make(A, level, threads=1) @ b
        assert np.allclose(M @ b, alike, rtol=100 * np.finfo(dtype).eps, atol=0)


def test_blocks_spare_iterations_where_unknowns_of_a_node_react() -> None:
    reaction = sp.diags_array([-4.0, 4.0], offsets=[-1, 1], shape=(3, 3))
    diffusion = nz.generate.laplace2d(30)
    A = sp.csr_array(sp.kron(diffusion, np.eye(3)) + sp.kron(np.eye(900), reaction))
    b = A @ np.random.default_rng(5).standard_normal(2700)
    products = {}
    for block in (1, 3):
        calls: list[float] = []
        x, info = nz.bicgstab(A, b, M=nz.ilu(A, block=block), rtol=1e-9, callback=calls.append)
        assert info == 0 and relative_residual(A, x, b) < 1e-8
        products[block] = len(calls)
    assert 4 * products[3] < 3 * products[1]
    kept = nz.solve(A, b, method="bicgstab", preconditioner="ilu", block=3)
    assert kept.converged and kept.iterations <= products[3]


def test_amg_of_a_hermitian_matrix() -> None:
    A = nz.generate.laplace2d(40)
    rng = np.random.default_rng(3)
    D = sp.diags_array(np.exp(2j * np.pi * rng.random(1600)))
    H = sp.csr_array(D.conj() @ A @ D)
    r, s = numbers(rng, 1600, "complex128"), numbers(rng, 1600, "complex128")
    M = nz.amg(H)
    assert np.isclose(np.vdot(r, M @ s), np.conj(np.vdot(s, M @ r)), rtol=1e-10)
    b = H @ r
    turned: list[float] = []
    real: list[float] = []
    x, info = nz.cg(H, b, rtol=1e-8, M=M, callback=turned.append)
    nz.cg(A, b.real, rtol=1e-8, M=nz.amg(A), callback=real.append)
    assert info == 0 and len(turned) <= len(real) + 2
    assert relative_residual(H, x, b) <= 1e-7


def test_amg_of_elasticity() -> None:
    A = nz.generate.elasticity3d(5)
    b = np.ones(A.shape[0])
    M = nz.amg(A, block=3)
    plain: list[float] = []
    fast: list[float] = []
    nz.cg(A, b, rtol=1e-8, callback=plain.append)
    x, info = nz.cg(A, b, rtol=1e-8, M=M, callback=fast.append)
    assert info == 0 and len(fast) < len(plain) / 2
    assert relative_residual(A, x, b) <= 1e-7


def elastic(n: int) -> tuple[Any, Any]:
    """Give a block of n x n x n elastic cubes and the coordinates of its nodes."""
    along = np.arange(n + 1.0)
    z, y, x = np.meshgrid(along, along, along[1:], indexing="ij")
    nodes = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    return nz.generate.elasticity3d(n, n, n), nodes


def elastic_plane(n: int) -> tuple[Any, Any]:
    """Give n x n bilinear squares in plane strain, clamped on the left."""
    along = np.arange(n + 1)
    y, x = np.meshgrid(along, along, indexing="ij")
    nodes = np.column_stack([x.ravel(), y.ravel()])
    gauss = 0.5 + np.array([-1, 1]) / math.sqrt(12)
    stiffness = np.array([[1.4, 0.6, 0.0], [0.6, 1.4, 0.0], [0.0, 0.0, 0.4]])
    K = np.zeros((8, 8))
    for s in gauss:
        for t in gauss:
            slopes = np.array([[t - 1, 1 - t, -t, t], [s - 1, -s, 1 - s, s]])
            strain = np.zeros((3, 8))
            strain[0, 0::2] = strain[2, 1::2] = slopes[0]
            strain[1, 1::2] = strain[2, 0::2] = slopes[1]
            K += strain.T @ stiffness @ strain / 4
    corner = (x + (n + 1) * y)[:-1, :-1].ravel()
    unknowns = 2 * (corner[:, None] + [0, 1, n + 1, n + 2])[:, :, None] + [0, 1]
    unknowns = unknowns.reshape(-1, 8)
    row, col = np.repeat(unknowns, 8, axis=1), np.tile(unknowns, 8)
    A = sp.csr_array((np.tile(K.ravel(), len(corner)), (row.ravel(), col.ravel())))
    free = np.flatnonzero(np.repeat(nodes[:, 0] > 0, 2))
    return sp.csr_array(A[free][:, free]), nodes[nodes[:, 0] > 0]


def steps(A: Any, M: Any) -> int:
    """Give the iterations that cg takes with M."""
    taken: list[float] = []
    b = np.random.default_rng(0).standard_normal(A.shape[0]).astype(A.dtype)
    rtol = 1e-8 if A.dtype == np.float64 else 1e-4
    x, info = nz.cg(A, b, rtol=rtol, M=M, callback=taken.append)
    assert info == 0 and relative_residual(A, x, b) <= 20 * rtol
    return len(taken)


def test_amg_in_single_precision() -> None:
    A = nz.generate.laplace3d(20)
    r = np.random.default_rng(1).standard_normal(A.shape[0])
    exact, single = nz.amg(A), nz.amg(A, precision="single")
    apart = np.linalg.norm(single @ r - exact @ r) / np.linalg.norm(exact @ r)
    assert 0 < apart < 1e-5
    assert steps(A, single) <= steps(A, exact) + 1
    with pytest.raises(ValueError, match="precision"):
        nz.amg(A, precision="half")
    with pytest.raises(ValueError, match="single"):
        nz.amg(A * 1e39, precision="single")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("make", [elastic, elastic_plane])
def test_amg_with_the_modes_of_a_rigid_body(make: Any, dtype: str) -> None:
    A, nodes = make(14 if make is elastic else 50)
    A = A.astype(dtype)
    B = nz.rigid_body_modes(nodes)
    unknowns = nodes.shape[1]
    assert B.shape == (A.shape[0], {2: 3, 3: 6}[unknowns]) and B.dtype == np.float64
    with_modes = nz.amg(A, near_nullspace=B)
    assert with_modes.block == unknowns
    found = nz.amg(A)
    assert found.block == unknowns
    assert steps(A, with_modes) < steps(A, found)
    assert steps(A, found) < steps(A, nz.amg(A, block=1))
    assert steps(A, nz.amg(A, adaptive_candidates=3)) < steps(A, found)
    # The same of columns that depend on others, and of lists.
    again = np.column_stack([B, B[:, 0] - 2 * B[:, 1], np.zeros(len(B))])
    assert steps(A, nz.amg(A, near_nullspace=again)) < steps(A, found)
    assert np.array_equal(nz.rigid_body_modes(nodes.tolist()), B)


def test_solve_with_near_nullspace() -> None:
    A, nodes = elastic(14)
    b = np.ones(A.shape[0])
    B = nz.rigid_body_modes(nodes)
    found = nz.solve(A, b, preconditioner="amg")
    with_modes = nz.solve(A, b, near_nullspace=B)
    apart = nz.solve(A, b, preconditioner="amg", block=1)
    assert with_modes.preconditioner == "amg" and with_modes.converged and apart.converged
    assert with_modes.iterations < found.iterations < apart.iterations
    assert found.iterations == nz.solve(A, b, preconditioner="amg", block=3).iterations
    # In single precision A x alone is rounded by this much, which no residual gets below.
    size = np.linalg.norm(abs(A) @ abs(with_modes.x)) / np.linalg.norm(b)
    tol = 2 * float(np.finfo(np.float32).eps * size)
    single = nz.solve(A.astype(np.float32), b.astype(np.float32), near_nullspace=B, tol=tol)
    assert single.converged and single.preconditioner == "amg"


@pytest.mark.parametrize("call", [nz.amg, lambda A, **k: nz.solve(A, np.ones(900), **k)])
def test_near_nullspace_that_is_none(call: Any) -> None:
    A = nz.generate.laplace2d(30)
    for shape in ((899, 1), (900, 0), (1, 900), (900, 1, 1), ()):
        with pytest.raises(ValueError, match="near_nullspace: of shape"):
            call(A, near_nullspace=np.ones(shape))
    for wrong in (math.nan, math.inf):
        B = np.ones((900, 2))
        B[7, 1] = wrong
        with pytest.raises(ValueError, match="near_nullspace: .* in row 7, column 1"):
            call(A, near_nullspace=B)
    with pytest.raises(TypeError, match="near_nullspace"):
        call(A, near_nullspace=np.ones(900, complex))
    with pytest.raises(TypeError, match="near_nullspace"):
        call(A, near_nullspace=sp.eye(900))
    with pytest.raises(ValueError, match="block"):
        call(A, block=0)
    call(A, near_nullspace=np.ones(900))
    call(A, near_nullspace=[1] * 900)
    call(A, near_nullspace=np.ones((900, 3)))


def test_amg_refuses_what_does_not_suit_its_options() -> None:
    A = nz.generate.laplace2d(30)
    with pytest.raises(ValueError, match="blocks of 7"):
        nz.amg(A, block=7)
    for wrong in (-1, 51):
        with pytest.raises(ValueError, match="adaptive_candidates"):
            nz.amg(A, adaptive_candidates=wrong)
    for shape in ((9,), (3, 1), (3, 4), (3, 3, 3)):
        with pytest.raises(ValueError, match="coordinates: of shape"):
            nz.rigid_body_modes(np.ones(shape))
    with pytest.raises(ValueError, match="coordinates: nan in row 1, column 0"):
        nz.rigid_body_modes([[0.0, 0.0], [math.nan, 0.0]])
    assert nz.rigid_body_modes(np.empty((0, 2))).shape == (0, 3)


def test_amg_prints_its_levels() -> None:
    A = nz.generate.laplace2d(100)
    M = nz.amg(A)
    assert isinstance(M, nz.Multigrid) and isinstance(M, nz.Operator)
    assert M.levels[0].rows == 10000 and M.levels[0].nnz == A.nnz and len(M.levels) > 1
    assert 0 < M.levels[0].spectral_radius < 4 and M.levels[-1].spectral_radius == 0
    assert M.levels[0].method in nz.methods()
    assert M.operator_complexity == sum(level.nnz for level in M.levels) / A.nnz
    assert M.grid_complexity == sum(level.rows for level in M.levels) / 10000
    assert M.block == 1 and M.setup_s > 0
    table = str(M).splitlines()
    assert table[0].split() == [
        "level",
        "rows",
        "nonzeros",
        "share",
        "per",
        "row",
        "radius",
        "product",
    ]
    share = 100 * A.nnz / sum(level.nnz for level in M.levels)
    assert table[1].split()[:4] == ["0", "10000", str(A.nnz), f"{share:.1f}%"]
    assert table[-1].startswith(f"operator complexity {M.operator_complexity:.2f}, grid")
    assert table[1] in M._repr_html_()


def spectrum(n: int) -> Any:
    """Give the eigenvalues of the 5-point Laplacian on an n x n grid, ascending."""
    one = 4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1))) ** 2
    return np.sort((one[:, None] + one[None, :]).ravel())


@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
@pytest.mark.parametrize("k", [1, 4, 7])
def test_eigenpairs_of_a_known_matrix(which: str, k: int) -> None:
    A, all_of_them = nz.generate.laplace2d(15), spectrum(15)
    wanted = {
        "LM": all_of_them[-k:],
        "LA": all_of_them[-k:],
        "SA": all_of_them[:k],
        "BE": np.r_[all_of_them[: k // 2], all_of_them[225 - (k - k // 2) :]],
    }[which]
    w, v = nz.eigsh(A, k, which=which)
    assert w.shape == (k,) and v.shape == (225, k)
    assert np.allclose(w, wanted, rtol=1e-7)
    assert np.allclose(v.T @ v, np.eye(k), atol=1e-8)
    assert np.linalg.norm(A @ v - v * w) <= 1e-7 * 8 * math.sqrt(k)
    assert np.array_equal(nz.eigsh(A, k, which=which, return_eigenvectors=False), w)


def test_eigenvalues_of_both_signs_and_several_times() -> None:
    diagonal = np.r_[np.full(3, -5.0), np.full(2, 4.0), np.linspace(-1, 1, 35)]
    A = sp.csr_array(sp.diags_array(diagonal))
    assert np.allclose(nz.eigsh(A, 5, which="LM")[0], [-5, -5, -5, 4, 4])
    w, v = nz.eigsh(A, 5, which="SA")
    assert np.allclose(w[:3], -5) and np.linalg.matrix_rank(v) == 5


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_all_eigenpairs_of_a_small_matrix(n: int) -> None:
    A = spd(n)
    for k in range(1, n + 3):
        for which in ("LM", "SA", "LA"):
            w, v = nz.eigsh(A, k, which=which)
            every = np.linalg.eigvalsh(A.toarray())
            count = min(k, n)
            wanted = every[:count] if which == "SA" else every[n - count :]
            assert np.allclose(w, wanted, rtol=1e-7) and v.shape == (n, count)


def diagonal(values: Any) -> Any:
    return np.diag(np.asarray(values, float))


def of_low_rank(n: int, rank: int, seed: int) -> Any:
    u = np.random.default_rng(seed).standard_normal((n, rank))
    return u @ np.diag(np.arange(1, rank + 1) * (-1.0) ** np.arange(rank)) @ u.T


def bipartite(n: int, m: int, seed: int) -> Any:
    B = np.random.default_rng(seed).integers(0, 2, (n, m)).astype(float)
    return np.block([[np.zeros((n, n)), B], [B.T, np.zeros((m, m))]])


def symmetric(n: int, seed: int) -> Any:
    B = np.random.default_rng(seed).standard_normal((n, n))
    return B + B.T


seeds = st.integers(0, 2**31)
sizes = st.integers(1, 40)
symmetric_matrices = st.one_of(
    st.builds(symmetric, sizes, seeds),
    st.builds(of_low_rank, sizes, st.integers(0, 5), seeds),
    st.builds(bipartite, st.integers(1, 12), st.integers(1, 12), seeds),
    st.builds(diagonal, st.lists(st.sampled_from([-2, -1, 0, 1, 1 + 1e-9, 2]), min_size=1)),
    st.builds(lambda n, w: w * np.eye(n), sizes, st.sampled_from([1.0, -3.0, 0.0])),
)


def selected(w: Any, k: int, which: str) -> Any:
    """Of all eigenvalues those that `which` asks for, ascending."""
    k = min(k, len(w))
    if which == "LM":
        return np.sort(w[np.argsort(-np.abs(w), kind="stable")[:k]])
    if which == "BE":
        return np.r_[w[: k // 2], w[len(w) - (k - k // 2) :]]
    return w[:k] if which == "SA" else w[len(w) - k :]


@given(
    symmetric_matrices,
    st.integers(1, 50),
    st.sampled_from(["LM", "LA", "SA", "BE"]),
    st.sampled_from(["float64", "float32"]),
    st.one_of(st.just(0), st.integers(-1000, 1000)),
)
def test_eigenvectors_are_orthonormal_and_what_they_should_be(
    dense: Any, k: int, which: str, dtype: str, power: int
) -> None:
    single = dtype == "float32"
    power = power // 10 if single else power
    dense = dense.astype(dtype).astype(float)
    A = sp.csr_array(np.ldexp(dense, power).astype(dtype))
    w, v = nz.eigsh(A, k, which=which)
    exact = np.linalg.eigvalsh(dense)
    norm = np.abs(exact).max()
    tol = 1e-5 if single else 1e-8
    rounding = 100 * np.finfo(dtype).eps
    v = v.astype(float)
    assert v.shape == (len(dense), min(k, len(dense)))
    # In single precision a vector counts as orthogonal with 10 units of rounding left.
    orthonormal = rounding if single else 1e-12
    assert np.abs(v.T @ v - np.eye(v.shape[1])).max() <= orthonormal
    w = np.ldexp(w, -power)
    residual = np.linalg.norm(dense @ v - v * w, axis=0)
    assert (residual <= (tol + rounding) * norm).all()
    wanted = selected(exact, k, which)
    if which == "LM":  # of w and -w either may be taken
        w, wanted = np.sort(np.abs(w)), np.sort(np.abs(wanted))
    assert np.abs(w - wanted).max() <= (tol + rounding) * norm


@pytest.mark.parametrize("k", [1, 2, 6, 50])
@pytest.mark.parametrize("which", ["LM", "BE"])
def test_eigenvectors_of_the_identity_are_orthonormal(k: int, which: str) -> None:
    w, v = nz.eigsh(sp.eye_array(100).tocsr(), k=k, which=which)
    assert np.allclose(w, 1) and np.abs(v.T @ v - np.eye(k)).max() <= 1e-12


def test_both_ends_as_far_as_they_came_are_orthonormal() -> None:
    with pytest.raises(nz.NoConvergence, match="maxiter = 4 products were spent") as caught:
        nz.eigsh(nz.generate.laplace2d(30), 6, maxiter=4)
    v = caught.value.eigenvectors
    assert v.shape == (900, 6) and np.abs(v.T @ v - np.eye(6)).max() <= 1e-12


@pytest.mark.parametrize("scale", [2e-170, 2e-300, 1e165, 1e300])
def test_eigsh_of_every_scale(scale: float) -> None:
    A = sp.diags_array([-np.ones(29), 2 * np.ones(30), -np.ones(29)], offsets=[-1, 0, 1]).tocsr()
    for which in ("SA", "LM", "BE"):
        wanted = selected(np.linalg.eigvalsh(A.toarray()), 4, which)
        w, v = nz.eigsh(scale * A, 4, which=which)
        assert np.allclose(w / scale, wanted, rtol=0, atol=4e-8), which


def test_eigsh_of_what_is_no_number() -> None:
    for bad in (np.nan, np.inf):
        A = sp.csr_array(np.diag([1.0, bad, 2.0]))
        for which in ("SA", "LM", "BE"):
            with pytest.raises(nz.NoConvergence, match="a product of A is not finite"):
                nz.eigsh(A, 1, which=which)


def test_eigsh_against_scipy() -> None:
    A = spd(120)
    assert np.allclose(nz.eigsh(A, 5)[0], sla.eigsh(A, 5)[0], rtol=1e-7)
    assert np.allclose(nz.eigsh(A, 5, which="BE")[0], sla.eigsh(A, 5, which="BE")[0], rtol=1e-7)


def test_eigsh_in_single_precision() -> None:
    A = nz.generate.laplace2d(10, dtype=np.float32)
    for which in ("LM", "SA"):
        w, v = nz.eigsh(A, 3, which=which)
        assert v.dtype == np.float32
        wanted = spectrum(10)[-3:] if which == "LM" else spectrum(10)[:3]
        assert np.allclose(w, wanted, atol=1e-4)


def test_options_of_eigsh() -> None:
    A = nz.generate.laplace2d(30)
    calls: list[tuple[int, int, float]] = []
    w, v = nz.eigsh(A, 2, which="SA", callback=lambda *p: calls.append(p))
    assert calls and calls[-1][0] > 0 and all(0 <= c <= 2 for _, c, _ in calls)
    again: list[tuple[int, int, float]] = []
    nz.eigsh(
        A, 2, which="SA", v0=v[:, 0], preconditioner=nz.amg(A), callback=lambda *p: again.append(p)
    )
    assert again[-1][0] < calls[-1][0]
    with pytest.raises(nz.NoConvergence, match="maxiter = 3 products were spent") as caught:
        nz.eigsh(A, 2, which="SA", maxiter=3)
    e = caught.value
    assert e.eigenvalues.shape[0] == e.eigenvectors.shape[1] and e.eigenvectors.shape[0] == 900
    assert isinstance(e, RuntimeError)

    def enough(*_: Any) -> None:
        raise StopIteration

    with pytest.raises(nz.NoConvergence, match="stopped by the caller"):
        nz.eigsh(A, 2, which="SA", callback=enough)


def heat(n: int, spot: float) -> sp.csr_array:
    """A conductivity of one but around a spot, and a mass matrix."""
    x = (np.arange(n) + 1) / (n + 1)
    k = 1 + 99 * np.exp(-((x - spot) ** 2) / 0.01)
    D = sp.diags_array(np.sqrt(np.repeat(k, n)))
    A = nz.generate.laplace2d(n)
    return sp.csr_array(D @ A @ D + 0.01 * sp.eye_array(n * n))


def test_a_kept_solver_solves_a_sequence() -> None:
    steps = [heat(40, 0.2 + 0.1 * k) for k in range(5)]
    s = nz.Solver(steps[0], iterative=True)
    x = np.zeros(1600)
    for A in steps:
        s.update_values(A.data)
        b = x + 1
        r = s.solve(b, x0=x)
        assert r.converged and r.preconditioner == "amg"
        assert np.linalg.norm(A @ r.x - b) <= 1.01e-8 * np.linalg.norm(b)
        x = r.x


def test_a_kept_solver_gives_what_a_new_one_gives() -> None:
    A = nz.generate.laplace2d(30)
    s = nz.Solver(A)
    for b in (np.ones(900), np.arange(900.0)):
        assert np.array_equal(s.solve(b).x, nz.Solver(A).solve(b).x)
        assert np.allclose(s.solve(b).x, nz.solve(A, b).x, rtol=1e-6)


def test_a_kept_solver_refuses_what_does_not_fit() -> None:
    A = nz.generate.laplace2d(10)
    s = nz.Solver(A)
    before = s.solve(np.ones(100)).x
    with pytest.raises(ValueError, match="expected"):
        s.update_values(np.ones(3))
    with pytest.raises(ValueError):
        s.solve(np.ones(99))
    with pytest.raises(ValueError):
        nz.Solver(A, method="no such method")
    assert np.array_equal(s.solve(np.ones(100)).x, before)


@pytest.mark.parametrize("order", ["C", "F"])
def test_cg_takes_several_right_hand_sides(order: Any) -> None:
    A = nz.generate.laplace2d(30)
    B = np.asarray(np.random.default_rng(1).standard_normal((900, 7)), order=order)
    B[:, 2] = 0
    X, info = nz.cg(nz.plan(A, vectors=7), B, M=nz.amg(A), rtol=1e-9)
    assert info == 0 and X.shape == B.shape
    assert np.all(np.linalg.norm(A @ X - B, axis=0) <= 1.01e-9 * np.linalg.norm(B, axis=0))
    assert np.all(X[:, 2] == 0)
    again, _ = nz.cg(nz.plan(A, vectors=7), B, M=nz.amg(A), rtol=1e-9)
    assert np.array_equal(X, again)


def test_cg_tells_which_right_hand_side_it_could_not_solve() -> None:
    A = nz.generate.laplace2d(30)
    B = np.ones((900, 3))
    B[5, 1] = np.nan
    X, info = nz.cg(A, B, M=nz.amg(A))
    assert info > 0
    for k in (0, 2):
        assert np.linalg.norm(A @ X[:, k] - 1) <= 1.01e-5 * 30
    with pytest.raises(ValueError):
        nz.cg(A, np.ones((899, 3)))
    with pytest.raises(TypeError, match="one right-hand side"):
        nz.cg(A, np.ones((900, 3)), callback=print)
    assert nz.cg(A, np.ones((900, 0)))[0].shape == (900, 0)


@pytest.mark.parametrize("method", ["minres", "bicgstab", "gmres"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_other_methods_take_several_right_hand_sides(method: str, dtype: str) -> None:
    A = spd(80, dtype)
    rng = np.random.default_rng(1)
    B = np.stack([numbers(rng, 80, dtype) for _ in range(5)], axis=1)
    B[:, 2] = 0
    rtol = 1e-10 if np.finfo(dtype).eps < 1e-10 else 1e-4
    X, info = KRYLOV[method](A, B, rtol=rtol)
    assert info == 0 and X.shape == B.shape and X.dtype == B.dtype
    assert np.all(np.linalg.norm(A @ X - B, axis=0) <= 2 * rtol * np.linalg.norm(B, axis=0))
    assert np.all(X[:, 2] == 0)
    with pytest.raises(TypeError, match="one right-hand side"):
        KRYLOV[method](A, B, callback=print)


@pytest.mark.parametrize("order", ["C", "F"])
def test_solve_takes_several_right_hand_sides(order: Any) -> None:
    A = nz.generate.laplace2d(30)
    B = np.asarray(np.random.default_rng(1).standard_normal((900, 7)), order=order)
    r = nz.solve(A, B)
    assert r.converged and r.x.shape == B.shape and len(r.columns) == 7
    assert np.all(np.linalg.norm(A @ r.x - B, axis=0) <= 1.01e-8 * np.linalg.norm(B, axis=0))
    assert r.iterations == max(c.iterations for c in r.columns)
    assert r.relative_residual == max(c.relative_residual for c in r.columns)
    for k, c in enumerate(r.columns):
        assert c.converged and np.array_equal(c.x, r.x[:, k])
    assert np.array_equal(nz.solve(A, B).x, r.x)
    # Of a start that is the solution nothing is left to do.
    assert nz.solve(A, B, x0=r.x).iterations == 0
    s = nz.Solver(A)
    assert s.solve(B[:, 0]).converged and s.solve(B).converged
    assert np.all(s.solve(B, x0=r.x).x == r.x)


@pytest.mark.parametrize("with_M", [False, True])
def test_solve_takes_several_with_what_is_given(with_M: bool) -> None:
    A = sp.csr_array(matrix(60, 60) + 20 * sp.eye_array(60))
    B = np.random.default_rng(1).standard_normal((60, 4))
    M = sp.diags_array(1 / A.diagonal()) if with_M else None
    r = nz.solve(A if with_M else sla.aslinearoperator(A), B, M=M, tol=1e-9)
    assert r.converged and len(r.columns) == 4
    assert np.all(np.linalg.norm(A @ r.x - B, axis=0) <= 2e-9 * np.linalg.norm(B, axis=0))


def test_solve_of_several_tells_of_each() -> None:
    A = nz.generate.laplace2d(30)
    B = np.ones((900, 3))
    B[5, 1] = np.nan
    r = nz.solve(A, B)
    assert not r.converged and [c.converged for c in r.columns] == [True, False, True]
    assert r.status == r.columns[1].status
    for wrong in (np.ones((899, 3)), np.ones((900, 0)), np.ones((900, 3, 1))):
        with pytest.raises(ValueError):
            nz.solve(A, wrong)
    with pytest.raises(ValueError):
        nz.solve(A, np.ones((900, 3)), x0=np.ones((900, 2)))
    with pytest.raises(TypeError):
        nz.solve(A, np.full((900, 3), 1j))
    seen: list[float] = []
    assert nz.solve(A, np.ones((900, 3)), callback=seen.append).converged and seen


def test_block_cg_takes_fewer_iterations() -> None:
    A = nz.generate.laplace2d(40)
    B = np.random.default_rng(0).standard_normal((1600, 8))
    B[:, 1] = 2 * B[:, 0]
    options: dict[str, Any] = {"method": "cg", "preconditioner": "jacobi", "tol": 1e-9}
    in_step = nz.solve(A, B, **options)
    block = nz.solve(A, B, block_cg=True, **options)
    assert block.converged and block.iterations < 0.8 * in_step.iterations
    for r, b in zip(block.columns, B.T, strict=True):
        assert np.linalg.norm(A @ r.x - b) <= 1.01e-9 * np.linalg.norm(b)
    np.testing.assert_array_equal(nz.Solver(A, block_cg=True, **options).solve(B).x, block.x)

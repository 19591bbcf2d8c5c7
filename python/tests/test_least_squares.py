"""Least squares and singular values, against SciPy and against dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import nonzero as nz
from oracle import DTYPES, matrix, numbers

SOLVERS: dict[str, tuple[Any, Any]] = {"lsmr": (nz.lsmr, sla.lsmr), "lsqr": (nz.lsqr, sla.lsqr)}
SHAPES = [(90, 40), (40, 90), (60, 60)]


def dense_values(A: Any) -> Any:
    """Give all singular values, ascending."""
    return np.linalg.svd(A.toarray() if hasattr(A, "toarray") else A, compute_uv=False)[::-1]


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("damp", [0.0, 0.5])
def test_as_scipy(method: str, dtype: str, shape: tuple[int, int], damp: float) -> None:
    ours, scipys = SOLVERS[method]
    A = matrix(*shape, dtype)
    if shape[0] == shape[1]:  # a random square matrix is ill-conditioned
        A = sp.csr_array(A + 8 * sp.eye_array(shape[0])).astype(dtype)
    b = numbers(np.random.default_rng(1), shape[0], dtype)
    options: dict[str, Any] = {"damp": damp, "atol": 1e-10, "btol": 1e-10, "conlim": 0}
    got = ours(A, b, **options)
    wide = np.result_type(dtype, np.float64)  # SciPy's computes in b's precision otherwise
    want = scipys(A.astype(wide), b.astype(wide), **options)
    assert len(got) == len(want) == (8 if method == "lsmr" else 10)
    assert got[0].dtype == wide and got[0].shape == (shape[1],)
    assert got[1] == want[1] and abs(got[2] - want[2]) <= 0.1 * want[2] + 1
    assert np.linalg.norm(got[0] - want[0]) <= 1e-6 * np.linalg.norm(want[0])
    sizes = (3, 7) if method == "lsmr" else (3, 4, 8)  # norms of b - A x and of x
    for k in sizes:
        assert got[k] == pytest.approx(want[k], rel=1e-4, abs=1e-6), k
    of_matrix = (5, 6)  # they grow with the iterations
    for k in of_matrix:
        assert got[k] == pytest.approx(want[k], rel=0.2), k


@pytest.mark.parametrize("method", SOLVERS)
def test_optimality(method: str) -> None:
    A, b = matrix(200, 60), np.ones(200)
    x = SOLVERS[method][0](A, b, atol=1e-12, btol=1e-12)[0]
    assert np.linalg.norm(A.T @ (b - A @ x)) <= 1e-8 * np.linalg.norm(b)


@pytest.mark.parametrize("method", SOLVERS)
def test_of_a_guess(method: str) -> None:
    ours, scipys = SOLVERS[method]
    A, b = matrix(80, 30), np.ones(80)
    x0 = np.arange(30.0)
    for options in ({"x0": x0}, {"x0": x0, "damp": 2.0}):
        got = ours(A, b, atol=1e-10, btol=1e-10, **options)
        want = scipys(A, b, atol=1e-10, btol=1e-10, **options)
        assert got[0] == pytest.approx(want[0], rel=1e-6, abs=1e-8)
    assert np.array_equal(x0, np.arange(30.0))
    none = ours(A, b, x0=x0, **{"maxiter" if method == "lsmr" else "iter_lim": 0})
    assert np.array_equal(none[0], x0) and none[1:3] == (7, 0)


@pytest.mark.parametrize("method", SOLVERS)
def test_operators(method: str) -> None:
    solve = SOLVERS[method][0]
    A, b = matrix(50, 20), np.ones(50)
    want = solve(A, b)[0]
    function = sla.LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda y: A.T @ y)
    op = nz.plan(A)
    for given in (A.tocsc(), A.toarray(), function, sla.aslinearoperator(A), op, op.T.T, b):
        if given is b:
            with pytest.raises(TypeError, match="A"):
                solve(given, b)
            continue
        assert solve(given, b)[0] == pytest.approx(want, rel=1e-6)
    assert solve(A, b[:, None])[0] == pytest.approx(want)
    assert solve(op.T, np.ones(20))[0].shape == (50,)
    forward = sla.LinearOperator(A.shape, matvec=lambda x: A @ x)
    with pytest.raises((NotImplementedError, TypeError)):
        solve(forward, b)


def test_complex_numbers() -> None:
    real, c = matrix(50, 20), numbers(np.random.default_rng(2), 50, "complex128")
    for given in (real, nz.plan(real)):
        x = nz.lsmr(given, c, atol=1e-12, btol=1e-12)[0]
        assert x == pytest.approx(sla.lsmr(real.astype(complex), c, atol=1e-12, btol=1e-12)[0])
    A = matrix(50, 20, "complex128")
    b = numbers(np.random.default_rng(1), 50, "complex128")
    want = nz.lsmr(A, b)[0]
    assert nz.lsmr(sla.aslinearoperator(A), b)[0] == pytest.approx(want)
    assert nz.lsmr(A.toarray(), b)[0] == pytest.approx(want)


def test_variance() -> None:
    A = sp.diags_array([1.0, 2.0, 4.0])
    x, *_, var = nz.lsqr(A, np.ones(3), calc_var=True, atol=1e-12, btol=1e-12)
    assert var == pytest.approx([1, 1 / 4, 1 / 16])
    assert np.array_equal(nz.lsqr(A, np.ones(3))[-1], np.zeros(3))


@pytest.mark.parametrize("method", SOLVERS)
def test_bad_input(method: str) -> None:
    solve = SOLVERS[method][0]
    A, b = matrix(50, 20), np.ones(50)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="b: holds NaN or infinity"):
            solve(A, np.where(np.arange(50) == 3, bad, 1.0))
        with pytest.raises(ValueError, match="x0: holds NaN or infinity"):
            solve(A, b, x0=np.full(20, bad))
        B = A.copy()
        B.data[5] = bad
        assert solve(B, b)[1] == 10
    with pytest.raises(ValueError, match=r"b: of shape \(20,\), expected \(50,\)"):
        solve(A, np.ones(20))
    with pytest.raises(ValueError, match="x0: of shape"):
        solve(A, b, x0=np.ones(50))
    for option in ("damp", "atol", "btol", "conlim"):
        with pytest.raises(ValueError, match=option):
            solve(A, b, **{option: np.nan})
    zero = solve(sp.csr_array((6, 4)), np.ones(6))
    assert zero[1] == 0 and np.array_equal(zero[0], np.zeros(4))


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    nz.lsmr(matrix(50, 20), np.ones(50), show=True)
    nz.lsqr(matrix(50, 20), np.ones(50), show=True)
    told = capsys.readouterr().out
    assert "lsmr: x is a least squares solution" in told and "lsqr: x is" in told


@pytest.mark.parametrize("method", SOLVERS)
def test_callbacks(method: str) -> None:
    seen: list[float] = []

    def enough(residual: float) -> None:
        seen.append(residual)
        if len(seen) == 3:
            raise StopIteration

    solve = SOLVERS[method][0]
    r = solve(matrix(200, 150), np.ones(200), atol=0, btol=0, callback=enough)
    assert r[1] == 9 and r[2] == 3 and len(seen) == 3
    assert seen == sorted(seen, reverse=True)
    with pytest.raises(ZeroDivisionError):
        solve(matrix(50, 20), np.ones(50), callback=lambda _: 1 / 0)


# Singular values.


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_singular_values_as_scipy(dtype: str, shape: tuple[int, int]) -> None:
    A = matrix(*shape, dtype)
    u, s, vh = nz.svds(A, k=5)
    want = sla.svds(A.astype(float), k=5)
    tol = 1e-5 if dtype == "float32" else 1e-8
    assert (u.shape, s.shape, vh.shape) == tuple(x.shape for x in want)
    assert u.dtype == s.dtype == vh.dtype == np.dtype(dtype)
    assert s == pytest.approx(want[1], abs=2 * tol * float(s[-1]))
    assert np.linalg.norm(A @ vh.T - u * s, axis=0).max() <= 2 * tol * s[-1]
    assert np.linalg.norm(A.T @ u - vh.T * s, axis=0).max() <= 2 * tol * s[-1]
    assert u.T @ u == pytest.approx(np.eye(5), abs=1e-5 if tol > 1e-6 else 1e-12)


@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (5, 5), (1, 4), (4, 1)])
def test_all_singular_values(shape: tuple[int, int]) -> None:
    A = matrix(*shape, fill=0.6)
    u, s, vh = nz.svds(A, k=min(shape))
    assert s == pytest.approx(dense_values(A), abs=1e-12)
    assert (u * s) @ vh == pytest.approx(A.toarray(), abs=1e-12)


def test_copies_are_found() -> None:
    A = sp.block_diag([matrix(60, 30)] * 3)
    s = nz.svds(A, k=9, return_singular_vectors=False)
    assert s == pytest.approx(np.repeat(dense_values(matrix(60, 30))[-3:], 3), abs=1e-7)
    identity = nz.svds(sp.eye_array(40), k=40, return_singular_vectors=False)
    assert identity == pytest.approx(np.ones(40))


def test_what_is_returned() -> None:
    A = matrix(50, 20)
    u, s, vh = nz.svds(A, 3)
    for which, has_u, has_vh in (("u", True, False), ("vh", False, True)):
        got = nz.svds(A, 3, return_singular_vectors=which)
        assert (got[0] is not None, got[2] is not None) == (has_u, has_vh)
    assert np.array_equal(nz.svds(A, 3, return_singular_vectors=False), s)
    again = nz.svds(A, 3)
    assert np.array_equal(again[0], u) and np.array_equal(again[2], vh)
    for given in (nz.plan(A), A.toarray(), sla.aslinearoperator(A), A.tocoo()):
        assert nz.svds(given, 3)[1] == pytest.approx(s)
    start = vh[-1]
    assert nz.svds(A, 1, v0=start)[1] == pytest.approx(s[-1:])
    assert nz.svds(A, 3, ncv=8)[1] == pytest.approx(s)


@pytest.mark.parametrize("shape", SHAPES)
def test_principal_components(shape: tuple[int, int]) -> None:
    A = matrix(*shape) + sp.csr_array(np.full(shape, 2.0) * (np.arange(shape[1]) % 3 == 0))
    centred = A.toarray() - A.toarray().mean(axis=0)
    u, s, vh = nz.svds(A, 4, center=True)
    assert s == pytest.approx(dense_values(centred)[-4:], abs=1e-8 * s[-1])
    assert np.abs(centred @ vh.T - u * s).max() <= 1e-7 * s[-1]


def test_zeros() -> None:
    u, s, vh = nz.svds(sp.csr_array((9, 6)), 3)
    assert np.array_equal(s, np.zeros(3))
    assert u.T @ u == pytest.approx(np.eye(3)) and vh @ vh.T == pytest.approx(np.eye(3))
    one = sp.csr_array(np.outer(np.arange(9.0), np.ones(6)))
    u, s, vh = nz.svds(one, 4)
    assert s == pytest.approx(dense_values(one)[-4:], abs=1e-12)
    gaps = matrix(60, 50)
    gaps = sp.csr_array(gaps.toarray() * (np.arange(50) % 3 > 0) * (np.arange(60) % 4 > 0)[:, None])
    assert nz.svds(gaps, 5)[1] == pytest.approx(dense_values(gaps)[-5:], abs=1e-8)


def test_bad_singular_values() -> None:
    A = matrix(50, 20)
    for k in (0, 21, -1):
        with pytest.raises(ValueError, match="k: "):
            nz.svds(A, k)
    with pytest.raises(ValueError, match="which: 'SM', expected 'LM'"):
        nz.svds(A, which="SM")
    with pytest.raises(ValueError, match="return_singular_vectors"):
        nz.svds(A, return_singular_vectors="both")
    with pytest.raises(ValueError, match="ncv"):
        nz.svds(A, 6, ncv=7)
    with pytest.raises(ValueError, match="v0"):
        nz.svds(A, v0=np.ones(50))
    with pytest.raises(TypeError, match="A: complex"):
        nz.svds(matrix(9, 9, "complex128"))
    for bad in (np.nan, np.inf):
        B = A.copy()
        B.data[5] = bad
        with pytest.raises(nz.NoConvergence, match="not finite") as failed:
            nz.svds(B)
        assert failed.value.status == "not-finite"


def test_best_so_far() -> None:
    A = matrix(400, 300)
    with pytest.raises(nz.NoConvergence, match="maxiter = 12 products were spent") as failed:
        nz.svds(A, 4, maxiter=12)
    triplets = failed.value.triplets
    assert triplets is not None
    u, s, vh = triplets
    assert u.shape == (400, 4) and vh.shape == (4, 300)
    assert s[-1] == pytest.approx(dense_values(A)[-1], rel=0.1)

    def enough(products: int, converged: int, residual: float) -> None:
        assert products > 0 and converged >= 0 and residual >= 0
        raise StopIteration

    with pytest.raises(nz.NoConvergence, match="stopped by the caller"):
        nz.svds(A, 4, callback=enough)

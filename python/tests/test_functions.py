"""Operators of others in our solvers, and their right-hand sides as SciPy takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import nonzero as nz
from oracle import numbers

KRYLOV = {"cg": nz.cg, "minres": nz.minres, "bicgstab": nz.bicgstab, "gmres": nz.gmres}

A = nz.generate.laplace2d(20)
n = A.shape[0]
b = np.random.default_rng(0).standard_normal(n)
wanted = sla.spsolve(A.tocsc(), b)


class Callable:
    """A function with a shape."""

    def __init__(self, of: Any) -> None:
        self.of, self.shape, self.calls = of, of.shape, 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        assert x.shape == (self.shape[1],)
        y = self.of @ x
        x[:] = np.nan  # its own copy
        return y


class OnlyMatmul:
    def __init__(self, of: Any) -> None:
        self.of, self.shape, self.dtype = of, of.shape, of.dtype

    def __matmul__(self, x: Any) -> Any:
        return self.of @ x


OTHERS = {
    "LinearOperator": sla.aslinearoperator,
    "without a dtype": lambda A: sla.LinearOperator(A.shape, matvec=lambda x: (A @ x)[:, None]),
    "a function": Callable,
    "only @": OnlyMatmul,
    "a dense array": lambda A: A.toarray(),
    "a dense matrix": lambda A: np.asmatrix(A.toarray()),
    "a transpose of ours": lambda A: nz.plan(A).T,
    "a sum with ours": lambda A: 0.5 * nz.plan(A) + 0.5 * sla.aslinearoperator(A),
    "without its matrix": lambda A: nz.plan(A, keep=False),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("method", KRYLOV)
def test_operators_of_others(method: str, kind: str) -> None:
    x, info = KRYLOV[method](OTHERS[kind](A), b, rtol=1e-10)
    assert info == 0 and x.dtype == np.float64
    assert np.linalg.norm(A @ x - b) <= 1.01e-10 * np.linalg.norm(b)
    diagonal = sp.diags_array(1 / A.diagonal()).tocsr()
    counted: list[float] = []
    x, info = KRYLOV[method](A, b, M=OTHERS[kind](diagonal), rtol=1e-10, callback=counted.append)
    assert info == 0 and np.allclose(x, wanted, rtol=1e-6, atol=1e-8)
    ours: list[float] = []
    KRYLOV[method](A, b, M=diagonal, rtol=1e-10, callback=ours.append)
    assert abs(len(ours) - len(counted)) <= 1


def test_a_preconditioner_of_pyamg() -> None:
    pyamg = pytest.importorskip("pyamg")
    M = pyamg.smoothed_aggregation_solver(A).aspreconditioner()
    for method in KRYLOV.values():
        seen: list[float] = []
        x, info = method(A, b, M=M, rtol=1e-10, callback=seen.append)
        assert info == 0 and len(seen) < 20 and np.allclose(x, wanted, rtol=1e-6, atol=1e-8)
    assert nz.solve(A, b, M=M).iterations < 20


@pytest.mark.parametrize("dtype_of_A", ["float32", "float64", "complex64", "complex128", "int32"])
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int64", "bool", "complex64", "complex128"]
)
def test_dtypes_are_those_of_scipy(dtype_of_A: str, dtype: str) -> None:
    S = A.astype(dtype_of_A)
    rhs = numbers(np.random.default_rng(1), n, dtype) if dtype[0] in "fc" else (b > 0).astype(dtype)
    theirs, _ = sla.cg(S, rhs, rtol=1e-4)
    given = [S, OnlyMatmul(S)] + ([nz.plan(S)] if dtype_of_A != "int32" else [])
    for one in given:
        x, info = nz.cg(one, rhs, rtol=1e-4)
        assert info == 0 and x.dtype == theirs.dtype
        assert np.linalg.norm(S @ x - rhs) <= 1.1e-4 * np.linalg.norm(rhs)
    x, info = nz.cg(S, rhs, x0=np.ones(n, int), M=nz.amg(A.astype("f4")), rtol=1e-4)
    assert info == 0 and x.dtype == theirs.dtype


def test_wider_right_hand_sides_are_solved_in_their_precision() -> None:
    S = A.astype("f4")
    for op in (S, nz.plan(S)):
        x, info = nz.cg(op, b, rtol=1e-12)
        assert info == 0 and np.linalg.norm(S.astype("f8") @ x - b) <= 1e-11 * np.linalg.norm(b)
    X, info = nz.cg(nz.plan(S), np.stack([b, 2 * b], axis=1), rtol=1e-12)
    assert info == 0 and np.allclose(X[:, 1], 2 * x, rtol=1e-9)
    for solver in (sla.cg, sla.gmres, sla.bicgstab, sla.minres):  # theirs on ours
        x, info = solver(nz.plan(S), b, rtol=1e-6, M=nz.amg(S))
        assert info == 0 and np.linalg.norm(S @ x - b) <= 1e-5 * np.linalg.norm(b)


@pytest.mark.parametrize("method", KRYLOV)
def test_atol(method: str) -> None:
    run = KRYLOV[method]
    norm = np.linalg.norm(b)
    for scale in (1.0, 1e-200, 1e200):
        counted: list[float] = []
        x, info = run(A, scale * b, rtol=0, atol=scale * norm * 1e-3, callback=counted.append)
        assert info == 0 and np.linalg.norm(A @ (x / scale) - b) <= 1.01e-3 * norm
        same: list[float] = []
        run(A, scale * b, rtol=1e-3, callback=same.append)
        assert abs(len(same) - len(counted)) <= 1
    assert run(A, b, atol=np.inf)[1] == 0
    assert run(A, 0 * b, rtol=0, atol=1e-3)[1] == 0
    with pytest.raises(ValueError, match="atol: -1"):
        run(A, b, atol=-1)


def test_atol_of_several_right_hand_sides_and_of_solve() -> None:
    B = np.stack([b, 100 * b, 0 * b], axis=1)
    X, info = nz.cg(A, B, rtol=0, atol=1e-6)
    assert info == 0 and (np.linalg.norm(A @ X - B, axis=0) <= 1.01e-6).all()
    r = nz.solve(A, b, tol=0, atol=1e-3, method="cg", preconditioner="none")
    assert r.converged and 1e-6 < np.linalg.norm(A @ r.x - b) <= 1e-3


def test_one_default_tolerance() -> None:
    for dtype, tol in (("f8", 1e-8), ("f4", 1e-5)):
        S, rhs = A.astype(dtype), b.astype(dtype)
        for method in KRYLOV.values():
            x, info = method(S, rhs)
            assert info == 0 and np.linalg.norm(S @ x - rhs) <= 1.01 * tol * np.linalg.norm(rhs)


def test_solve_with_a_preconditioner_of_the_callers() -> None:
    M = Callable(sp.diags_array(1 / A.diagonal()).tocsr())
    r = nz.solve(A, b, M=M, tol=1e-10)
    assert r.converged and (r.method, r.preconditioner) == ("cg", "given")
    assert M.calls > 0 and np.linalg.norm(A @ r.x - b) <= 1.01e-10 * np.linalg.norm(b)
    assert r.relative_residual <= 1e-10 and len(r.residuals) == r.iterations + 1
    assert "symmetric" in r.reasons[0] and "converged" in r._repr_html_()
    skew = sp.csr_array(A + sp.diags_array([np.ones(n - 1)], offsets=[1]))
    assert nz.solve(skew, b, M=nz.ilu(skew)).method == "bicgstab"
    indefinite = sp.csr_array(A - 1.0 * sp.eye_array(n) * 5)
    assert nz.solve(indefinite, b, M=sp.eye_array(n)).converged
    few = nz.solve(A, b, M=M, maxiter=3, method="gmres")
    assert not few.converged and few.iterations == 3 and few.method == "gmres"
    assert few.advice[0] == "allow more than 3 iterations (maxiter)"
    with pytest.raises(TypeError, match="preconditioner: does not go with M"):
        nz.solve(A, b, M=M, preconditioner="amg")
    with pytest.raises(ValueError, match="method: 'direct', expected one of cg, minres"):
        nz.solve(A, b, M=M, method="direct")


def test_solve_of_an_operator() -> None:
    for op in (sla.aslinearoperator(A), nz.plan(A).T, nz.plan(A, keep=False)):
        r = nz.solve(op, b, M=nz.amg(A))
        assert r.converged and r.method == "gmres" and np.allclose(r.x, wanted, atol=1e-6)
        assert "products" in r.reasons[0]
    with pytest.raises(TypeError, match="block: does not go with an operator"):
        nz.solve(sla.aslinearoperator(A), b, block=2)


def test_what_a_function_raises_goes_on() -> None:
    error = LookupError("mine")
    calls = 0

    def fail(x: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise error
        return 0.25 * x

    for method in KRYLOV.values():
        calls = 0
        with pytest.raises(LookupError) as caught:
            method(A, b, M=sla.LinearOperator(A.shape, matvec=fail, dtype=float))
        assert caught.value is error
    calls = 0
    with pytest.raises(LookupError):
        nz.solve(A, b, M=sla.LinearOperator(A.shape, matvec=fail, dtype=float))


def shaped(f: Any, shape: Any = (n, n)) -> Any:
    f.shape = shape
    return f


@pytest.mark.parametrize(
    "given, kind, said",
    [
        (lambda x: x, TypeError, "A: a function without a shape, expected one with it"),
        (shaped(lambda x: x[:3]), ValueError, r"A: gives an array of shape \(3,\), expected \(400"),
        (shaped(lambda x: None), ValueError, r"A: gives an array of shape \(\), expected"),
        (shaped(lambda x: 1j * x), TypeError, "A: gives complex numbers, expected real ones"),
        (shaped(lambda x: ["a"] * n), ValueError, "could not convert"),
        (shaped(lambda x: x, (n, 3)), ValueError, "A is 400 x 3, expected a square matrix"),
        (shaped(lambda x: x, n), TypeError, r"A.shape: 400, expected \(rows, columns\)"),
        (3, TypeError, "A: a builtins.int, expected a sparse matrix or array"),
        (np.ones((n, n), np.longdouble), TypeError, "A: of dtype float128, expected one of"),
    ],
)  # fmt: skip
def test_what_is_no_operator(given: Any, kind: Any, said: str) -> None:
    with pytest.raises(kind, match=said):
        nz.gmres(given, b)


def test_right_hand_sides_that_do_not_suit() -> None:
    with pytest.raises(TypeError, match="b: of dtype float128"):
        nz.cg(A, b.astype(np.longdouble))
    with pytest.raises(TypeError, match="x0: of dtype complex128, expected float64"):
        nz.cg(A, b, x0=1j * b)
    with pytest.raises(ValueError, match=r"b: of shape \(3,\)"):
        nz.cg(Callable(A), np.ones(3))
    with pytest.raises(ValueError, match="preconditioner is 3 x 3"):
        nz.cg(A, b, M=sp.eye_array(3).tocsr())


def test_eigsh_of_an_operator() -> None:
    exact = np.linalg.eigvalsh(A.toarray())
    for kind in OTHERS:
        w, v = nz.eigsh(OTHERS[kind](A), 3, which="SA")
        assert np.allclose(w, exact[:3], atol=1e-7), kind
    w = nz.eigsh(Callable(A), 3, which="LA", return_eigenvectors=False)
    assert np.allclose(w, exact[-3:], atol=1e-7)
    M = sla.aslinearoperator(nz.amg(A))
    assert np.allclose(nz.eigsh(A, 3, which="SA", preconditioner=M)[0], exact[:3], atol=1e-7)


SIZES = np.linalg.eigvalsh(A.toarray())


def nearest(sigma: float, k: int, of: Any = SIZES) -> Any:
    return np.sort(of[np.argsort(np.abs(of - sigma), kind="stable")[:k]])


@pytest.mark.parametrize("sigma", [-1.0, 0.0, 0.3, 3.21, 7.9, 100.0])
def test_eigenpairs_near_a_shift(sigma: float) -> None:
    for given in (A, nz.plan(A), A.tocoo(), A.astype("f4")):
        w, v = nz.eigsh(given, 5, sigma=sigma)
        assert w.dtype == v.dtype == (np.float32 if given.dtype == np.float32 else np.float64)
        tol = 1e-4 if w.dtype == np.float32 else 1e-7
        assert np.allclose(w, nearest(sigma, 5), atol=tol)
        assert np.abs(v.T @ v - np.eye(5)).max() <= tol
        assert np.linalg.norm(A @ v - v * w, axis=0).max() <= tol
    theirs = sla.eigsh(A, 5, sigma=sigma)[0]
    assert np.allclose(nz.eigsh(A, 5, sigma=sigma)[0], np.sort(theirs), atol=1e-7)


def test_eigenpairs_on_one_side_of_a_shift() -> None:
    above, below = SIZES[SIZES > 3.21], SIZES[SIZES < 3.21]
    assert np.allclose(nz.eigsh(A, 3, sigma=3.21, which="LA")[0], above[:3], atol=1e-7)
    assert np.allclose(nz.eigsh(A, 3, sigma=3.21, which="SA")[0], below[-3:], atol=1e-7)
    both = nz.eigsh(A, 3, sigma=3.21, which="BE", return_eigenvectors=False)
    assert np.allclose(both, np.r_[below[-1:], above[:2]], atol=1e-7)


def test_eigenpairs_near_a_shift_of_an_operator() -> None:
    w, v = nz.eigsh(Callable(A), 3, sigma=0.3)
    assert np.allclose(w, nearest(0.3, 3), atol=1e-7)
    assert np.linalg.norm(A @ v - v * w, axis=0).max() <= 1e-6


def test_the_smallest_in_magnitude() -> None:
    assert np.allclose(nz.eigsh(A, 4, which="SM")[0], SIZES[:4], atol=1e-7)
    indefinite = sp.csr_array(A - 3.21 * sp.eye_array(n))
    wanted = nearest(0, 4, SIZES - 3.21)
    assert np.allclose(nz.eigsh(indefinite, 4, which="SM")[0], wanted, atol=1e-7)
    assert np.allclose(nz.eigsh(1e-3 * A, 4, which="SM")[0], 1e-3 * SIZES[:4], atol=1e-10)


def test_a_shift_that_is_an_eigenvalue() -> None:
    path = sp.diags_array([-np.ones(99), 2 * np.ones(100), -np.ones(99)], offsets=[-1, 0, 1])
    L = sp.lil_array(path)
    L[0, 0] = L[99, 99] = 1  # a path's Laplacian: singular
    L = L.tocsr()
    exact = np.linalg.eigvalsh(L.toarray())
    for scale in (1.0, 1e6, 1e-6):
        w, v = nz.eigsh(scale * L, 4, which="SM")
        assert np.allclose(w / scale, exact[:4], atol=1e-8)
    D = sp.diags_array(np.arange(1.0, 31)).tocsr()
    assert np.allclose(nz.eigsh(D, 3, sigma=5.0)[0], [4, 5, 6])
    assert np.allclose(nz.eigsh(sp.csr_array((4, 4)), 2, which="SM")[0], 0)


def test_options_of_a_shift() -> None:
    with pytest.raises(ValueError, match="which: 'SM', expected one of LM, LA, SA, BE"):
        nz.eigsh(A, sigma=1.0, which="SM")
    with pytest.raises(ValueError, match="sigma: nan, expected a finite number"):
        nz.eigsh(A, sigma=np.nan)
    with pytest.raises(TypeError, match="preconditioner: does not go with sigma"):
        nz.eigsh(A, sigma=1.0, preconditioner=nz.amg(A))
    with pytest.raises(TypeError, match="A: complex"):
        nz.eigsh(A.astype(complex), sigma=1.0)
    with pytest.raises(ValueError, match="expected a square matrix"):
        nz.eigsh(A[:5], sigma=1.0)
    with pytest.raises(nz.NoConvergence, match="maxiter = 2 products") as caught:
        nz.eigsh(A, 3, sigma=3.21, maxiter=2)
    assert caught.value.status == "max-products"
    calls: list[Any] = []
    nz.eigsh(A, 2, sigma=0.3, v0=b, callback=lambda *p: calls.append(p))
    assert calls

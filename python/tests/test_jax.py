"""Arrays and sparse matrices of JAX in CPU memory; test_gpu.py has those on a GPU."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX takes most of a GPU else

import numpy as np
import pytest
import scipy.sparse as sp

import nonzero as nz

jax = pytest.importorskip("jax")
jnp = jax.numpy
sparse = pytest.importorskip("jax.experimental.sparse")


@pytest.fixture(autouse=True)
def _in_double() -> Any:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices("cpu")[0]):
        yield
    jax.config.update("jax_enable_x64", before)


def laplace(n: int, dtype: str = "float64") -> Any:
    return sp.csr_array(nz.generate.laplace2d(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_products(dtype: str) -> None:
    A = laplace(7, dtype)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((49, 3)).astype(dtype)
    tol = 1e-5 if A.dtype.itemsize <= 8 and dtype != "float64" else 1e-12
    for given in (sparse.BCSR.from_scipy_sparse(A), sparse.BCOO.from_scipy_sparse(A)):
        op = nz.plan(given)
        assert op.dtype == dtype and op.device == "cpu"
        for y, want in (
            (op @ jnp.asarray(x), A @ x),
            (op @ jnp.asarray(x[:, 0]), A @ x[:, 0]),
            (op.T @ jnp.asarray(x), A.T @ x),
            (jnp.asarray(x[:, 0]) @ op.H, x[:, 0] @ A.conj().T),
            (op.apply(jnp.asarray(x)), A @ x),
            (op.matvec(jnp.asarray(x[:, :1])), A @ x[:, :1]),
        ):
            assert isinstance(y, jax.Array) and y.dtype == dtype
            np.testing.assert_allclose(np.asarray(y), want, rtol=tol, atol=tol)
    assert isinstance(op @ x, np.ndarray)
    assert isinstance(nz.plan(A) @ jnp.asarray(x), jax.Array)


def test_matrices_with_places_to_spare() -> None:
    A = laplace(6)
    more = sparse.BCOO.from_scipy_sparse(A).sum_duplicates(nse=A.nnz + 7)
    assert more.nse == A.nnz + 7
    twice = sparse.BCOO(
        (jnp.asarray([1.0, 2.0, 4.0]), jnp.asarray([[1, 0], [0, 1], [1, 0]])), shape=(2, 2)
    )
    x = np.arange(36.0)
    np.testing.assert_allclose(np.asarray(nz.plan(more) @ x), A @ x)
    np.testing.assert_allclose(np.asarray(nz.plan(twice) @ np.array([1.0, 10.0])), [20.0, 5.0])
    arrays = tuple(jnp.asarray(a) for a in (A.data, A.indices, A.indptr))
    np.testing.assert_allclose(np.asarray(nz.plan(arrays, shape=A.shape) @ x), A @ x)
    whole = sparse.BCSR(
        (jnp.asarray([1, 2]), jnp.asarray([0, 1]), jnp.asarray([0, 1, 2])), shape=(2, 2)
    )
    assert nz.plan(whole).dtype == np.float64


@pytest.mark.parametrize("columns", [None, 4])
def test_solvers(columns: int | None) -> None:
    A = laplace(20)
    given = sparse.BCSR.from_scipy_sparse(A)
    rng = np.random.default_rng(0)
    b = rng.standard_normal(400 if columns is None else (400, columns))
    theirs = jnp.asarray(b)
    want = nz.solve(A, b)
    r = nz.solve(given, theirs)
    assert r.converged and isinstance(r.x, jax.Array)
    np.testing.assert_array_equal(np.asarray(r.x), want.x)
    again = nz.solve(given, theirs, x0=r.x)
    assert again.iterations == 0
    assert isinstance(nz.solve(given, b).x, np.ndarray)
    s = nz.Solver(given)
    s.update_values(2 * given.data)
    x = s.solve(theirs).x
    assert isinstance(x, jax.Array)
    np.testing.assert_allclose(2 * (A @ np.asarray(x)), b, atol=1e-6)
    M = nz.amg(given)
    for method in (nz.cg, nz.minres, nz.bicgstab, nz.gmres):
        x, info = method(given, theirs, M=M, x0=jnp.zeros_like(theirs))
        assert info == 0 and isinstance(x, jax.Array), method.__name__
        np.testing.assert_allclose(A @ np.asarray(x), b, atol=1e-6)
    r = nz.solve(given, theirs, M=M)
    assert r.converged and isinstance(r.x, jax.Array)
    np.testing.assert_array_equal(np.asarray(theirs), b)  # as it was


def test_others() -> None:
    A = laplace(12)
    given = sparse.BCSR.from_scipy_sparse(A)
    w, _ = nz.eigsh(given, k=3, which="SA")
    np.testing.assert_allclose(w, nz.eigsh(A, k=3, which="SA")[0])
    np.testing.assert_array_equal(nz.pagerank(given).rank, nz.pagerank(A).rank)
    x = nz.lsqr(given, jnp.ones(144))[0]
    assert np.linalg.norm(A @ np.asarray(x) - 1) < 1e-3
    F = nz.factorize(given)
    np.testing.assert_allclose(A @ F.solve(jnp.ones(144)), 1)


def test_what_is_refused() -> None:
    A = laplace(5)
    op = nz.plan(A)
    x = jnp.ones(25)
    with pytest.raises(TypeError, match="out: an array of JAX"):
        op.apply(x, out=jnp.zeros(25))
    with pytest.raises(TypeError, match="traces"):
        jax.jit(lambda v: op @ v)(x)
    called = jax.jit(
        lambda v: jax.pure_callback(op.matvec, jax.ShapeDtypeStruct((25,), np.float64), v)
    )(x)
    np.testing.assert_allclose(np.asarray(called), A @ np.ones(25))
    with pytest.raises(ValueError, match="batch"):
        nz.plan(sparse.BCOO.fromdense(jnp.ones((2, 3, 3)), n_batch=1))
    with pytest.raises(TypeError, match="sparse"):
        op @ sparse.BCOO.fromdense(jnp.ones(25))
    with pytest.raises(TypeError, match="A: a JAX ArrayImpl"):
        nz.plan(jnp.ones((3, 3)))
    with pytest.raises(ValueError, match="b: of shape"):
        nz.solve(A, jnp.ones(24))


def test_single_precision_where_jax_has_no_other() -> None:
    jax.config.update("jax_enable_x64", False)
    A = laplace(8, "float32")
    b = jnp.ones(64)
    r = nz.solve(sparse.BCSR.from_scipy_sparse(A), b)
    assert r.converged and r.x.dtype == np.float32
    assert np.linalg.norm(A @ np.asarray(r.x) - 1) < 1e-3
    wide = nz.solve(laplace(8), b)  # in double, given in what JAX has
    assert wide.converged and wide.x.dtype == np.float32

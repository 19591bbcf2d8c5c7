"""Products of every dtype, layout and order of x, against a sum in extended precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import nonzero as nz
from oracle import DTYPES, check, matrix, numbers

LAYOUTS = ("csr", "csc", "coo", "dia", "bsr", "lil", "dok")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_layout_of_scipy(dtype: str, layout: str, kind: str) -> None:
    A = matrix(24, 18, dtype)
    given_as = getattr(sp, f"{layout}_{kind}")(A)
    x = numbers(np.random.default_rng(1), 18, dtype)
    op = nz.plan(given_as)
    assert op.dtype == np.dtype(dtype) and op.shape == (24, 18) and op.device == "cpu"
    y = op @ x
    assert y.dtype == np.dtype(dtype)
    check(y, A.toarray(), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", ["int16", "int32", "int64", "uint32", "uint64"])
def test_three_arrays_with_indices_of_any_width(dtype: str, index: str) -> None:
    A = matrix(15, 22, dtype, seed=3)
    arrays = (A.data, A.indices.astype(index), A.indptr.astype(index))
    x = numbers(np.random.default_rng(2), 22, dtype)
    check(nz.plan(arrays, shape=A.shape) @ x, A.toarray(), x)


def test_indptr_and_indices_of_different_width() -> None:
    A = matrix(15, 22)
    x = np.ones(22)
    for wide in (A.indices.astype(np.int64), A.indices.astype(np.int32)):
        for indptr in (A.indptr.astype(np.int64), A.indptr.astype(np.int32)):
            check(nz.plan((A.data, wide, indptr), shape=A.shape) @ x, A.toarray(), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_method_of_the_registry(dtype: str) -> None:
    A = matrix(40, 40, dtype, seed=7)
    x = numbers(np.random.default_rng(5), 40, dtype)
    built = 0
    for method in nz.methods():
        try:
            op = nz.plan(A, methods=[method], deterministic=False)
        except nz.Unavailable:
            continue  # the method declines this matrix
        assert op.plan.method == method
        check(op @ x, A.toarray(), x)
        built += 1
    assert built >= 20


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_integers_and_booleans_become_float64(dtype: str) -> None:
    dense = (np.random.default_rng(0).random((9, 7)) * 3).astype(dtype)
    op = nz.plan(sp.csr_array(dense))
    assert op.dtype == np.float64
    assert np.array_equal(op @ np.arange(7.0), dense.astype(float) @ np.arange(7.0))


def test_float16_becomes_float32() -> None:
    A = sp.csr_array(np.eye(3))
    arrays = (A.data.astype(np.float16), A.indices, A.indptr)
    op = nz.plan(arrays, shape=(3, 3))
    assert op.dtype == np.float32
    assert (op @ np.ones(3, np.float32)).tolist() == [1, 1, 1]


def test_values_of_the_other_byte_order() -> None:
    A = matrix(9, 9)
    op = nz.plan((A.data.astype(">f8"), A.indices.astype(">i4"), A.indptr), shape=A.shape)
    assert np.array_equal(op @ np.ones(9).astype(">f8"), nz.plan(A) @ np.ones(9))


METHODS = ["csr.serial", "ell.row", "sell.chunk", "packed.warp", "dia.row"]


@pytest.mark.parametrize("method", METHODS)
def test_unsorted_and_duplicate_columns(method: str) -> None:
    n = 256  # rows enough for every layout, each with columns i + 2, i, i + 2 and i + 1
    data = np.arange(4.0 * n) + 1
    indices = ((np.arange(n)[:, None] + [2, 0, 2, 1]) % n).ravel()
    dense = np.zeros((n, n))
    for row, column, value in zip(np.repeat(np.arange(n), 4), indices, data, strict=True):
        dense[row, column] += value
    op = nz.plan((data, indices, np.arange(0, 4 * n + 1, 4)), shape=(n, n), methods=method)
    x = np.arange(float(n))
    assert op.plan.method == method
    assert (op @ x).tolist() == (dense @ x).tolist()
    assert (op.T @ x).tolist() == (dense.T @ x).tolist()


ORDERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "contiguous": lambda x: x,
    "strided": lambda x: np.repeat(x, 3, axis=0)[::3],
    "negative strides": lambda x: x[::-1].copy()[::-1],
    "read-only": lambda x: _frozen(x),
    "offset": lambda x: np.concatenate([x[:1], x])[1:],
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "subclass": lambda x: x.view(_Sub),
}


class _Sub(np.ndarray):
    """A subclass of ndarray that is no matrix."""


def _frozen(x: NDArray[Any]) -> NDArray[Any]:
    copy: NDArray[Any] = x.copy()
    copy.flags.writeable = False
    return copy


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_however_they_lie(order: str, dtype: str) -> None:
    A = matrix(21, 13, dtype, seed=4)
    lain = ORDERS[order](numbers(np.random.default_rng(6), 13, dtype))
    for op, dense in ((nz.plan(A), A.toarray()), (nz.plan(A.T.tocsr()).T, A.toarray())):
        check(op @ lain, dense, np.asarray(lain))
        check(op.matvec(lain), dense, np.asarray(lain))
        check(op(lain), dense, np.asarray(lain))
        check(op.dot(lain), dense, np.asarray(lain))


COLUMN_ORDERS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "rows strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "columns strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "negative": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda X: X.T.copy().T,
    "gap between columns": lambda X: np.asfortranarray(np.vstack([X, X]))[: len(X)],
    "repeated column": lambda X: np.broadcast_to(X[:, :1], X.shape),
}


@pytest.mark.parametrize("order", COLUMN_ORDERS)
@pytest.mark.parametrize("columns", [0, 1, 2, 9])
def test_several_vectors_however_they_lie(order: str, columns: int) -> None:
    A = matrix(21, 13, seed=4)
    X = COLUMN_ORDERS[order](numbers(np.random.default_rng(7), (13, columns), "float64"))
    op = nz.plan(A)
    check(op @ X, A.toarray(), X)
    check(op.matmat(X), A.toarray(), X)
    out = COLUMN_ORDERS["F"](np.full((21, columns), np.nan))
    assert op.apply(X, out) is out
    check(out, A.toarray(), X)
    Y = numbers(np.random.default_rng(8), (columns, 21), "float64")
    check((Y @ op).T, A.T.toarray(), Y.T)
    check(op.rmatmat(np.ascontiguousarray(Y.T)), A.T.toarray(), Y.T)


@pytest.mark.parametrize("order", ["C", "F", "strided", "negative"])
def test_out_however_it_lies(order: str) -> None:
    A = matrix(20, 13)
    x = numbers(np.random.default_rng(3), (13, 3), "float64")
    made = {
        "C": np.zeros((20, 3)),
        "F": np.zeros((20, 3), order="F"),
        "strided": np.zeros((40, 6))[::2, ::2],
        "negative": np.zeros((20, 3))[::-1, ::-1],
    }[order]
    around = made.base.copy() if isinstance(made.base, np.ndarray) else None
    assert nz.plan(A).apply(x, made) is made
    check(made, A.toarray(), x)
    if order == "strided" and around is not None and isinstance(made.base, np.ndarray):
        assert not made.base[1::2].any() and not made.base[:, 1::2].any()


def test_a_matrix_of_numpy_gives_a_matrix() -> None:
    A = matrix(5, 4)
    column = np.asmatrix(np.arange(4.0)).T
    y = nz.plan(A) @ column
    assert isinstance(y, np.matrix) and y.shape == (5, 1)
    check(np.asarray(y), A.toarray(), np.asarray(column))


def test_a_column_stays_a_column() -> None:
    op = nz.plan(matrix(5, 4))
    assert (op @ np.ones((4, 1))).shape == (5, 1)
    assert op.matvec(np.ones((4, 1))).shape == (5, 1)
    assert op.rmatvec(np.ones((5, 1))).shape == (4, 1)
    assert op.matvec(np.ones(4)).shape == (5,)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (5, 5), (1, 1)])
def test_empty_matrices(shape: tuple[int, int]) -> None:
    for dtype in DTYPES:
        op = nz.plan(sp.csr_array(shape, dtype=dtype))
        assert np.array_equal(op @ np.ones(shape[1], dtype), np.zeros(shape[0], dtype))
        assert np.array_equal(op.T @ np.ones(shape[0], dtype), np.zeros(shape[1], dtype))
        assert (op @ np.ones((shape[1], 3), dtype)).shape == (shape[0], 3)


def test_an_operator_from_empty_lists() -> None:
    op = nz.plan(([], [], [0, 0, 0]), shape=(2, 3))
    assert (op @ np.ones(3)).tolist() == [0, 0]


def test_narrower_x_is_widened() -> None:
    A = matrix(6, 6)
    op = nz.plan(A)
    for dtype in ("float16", "float32", "int8", "int64", "bool"):
        x = np.arange(6).astype(dtype)
        assert np.array_equal(op @ x, op @ x.astype(float))


@pytest.mark.parametrize("values", ["float32", "complex64"])
@pytest.mark.parametrize("dtype", ["float64", "complex128", ">f8"])
def test_wider_x_is_multiplied_in_its_own_precision(values: str, dtype: str) -> None:
    A = matrix(30, 20, values)
    op = nz.plan(A)
    wide = np.result_type(values, dtype)
    of = A.toarray().astype(np.result_type(values, np.float64))
    rng = np.random.default_rng(3)
    for scale in (1, 2):
        op.update_values(scale * A.data)
        x, y = numbers(rng, 20, wide.name), numbers(rng, 30, wide.name)
        x, y = (
            v.astype(dtype) if np.dtype(dtype).kind == "c" else v.real.astype(dtype) for v in (x, y)
        )
        assert (op @ x).dtype == wide == op.matvec(x).dtype
        check(op @ x, scale * of, x)
        check(op @ np.stack([x, x], axis=1), scale * of, np.stack([x, x], axis=1))
        check(op.T @ y, scale * of.T, y)
        check(op.H @ y, scale * of.conj().T, y)
        check(y @ op, scale * of.T, y)
    with pytest.raises(TypeError, match="expected"):
        op.apply(np.ones(20, dtype))
    with pytest.raises(TypeError, match="x: of dtype .*128, expected one of float32"):
        op.dot(np.ones(20, np.longdouble))
    less = nz.plan(A, keep=False) @ x
    assert less.dtype == wide
    bound = 2e-6 * (np.abs(A.toarray()) @ np.abs(x))
    assert (np.abs(less - A.toarray() @ x) <= bound).all()


def test_complex_x_with_real_values() -> None:
    A = matrix(6, 6)
    x = numbers(np.random.default_rng(0), 6, "complex128")
    y = nz.plan(A) @ x
    assert y.dtype == np.complex128
    check(y, A.toarray(), x)
    y = nz.plan(A.astype(np.float32)) @ x.astype(np.complex64)
    assert y.dtype == np.complex64


@given(
    rows=st.integers(0, 40),
    cols=st.integers(0, 40),
    fill=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    columns=st.one_of(st.none(), st.integers(0, 10)),
    order=st.sampled_from(["C", "F"]),
    kind=st.sampled_from(["plain", "T", "H"]),
    step=st.sampled_from([1, 2, -1, -3]),
)
def test_products(
    rows: int,
    cols: int,
    fill: float,
    seed: int,
    dtype: str,
    layout: str,
    columns: int | None,
    order: Any,
    kind: str,
    step: int,
) -> None:
    A = matrix(rows, cols, dtype, seed, fill)
    if layout == "bsr" and 0 in A.shape:
        layout = "csr"  # SciPy has no blocks of nothing
    op = nz.plan(getattr(sp, f"{layout}_array")(A))
    dense = A.toarray()
    if kind == "T":
        op, dense = op.T, dense.T
    elif kind == "H":
        op, dense = op.H, dense.conj().T
    shape = (dense.shape[1],) if columns is None else (dense.shape[1], columns)
    x = numbers(np.random.default_rng(seed), shape, dtype)
    lain = np.array(np.repeat(x, abs(step), axis=0), order=order)[:: abs(step)]
    if step < 0:
        lain = np.array(lain[::-1], order=order)[::-1]
    assert np.array_equal(lain, x)
    check(op @ lain, dense, x)


@given(
    n=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(DTYPES),
    alpha=st.sampled_from([0, 1, -1, 2.5, np.float32(3), True]),
    beta=st.sampled_from([0, 1, -0.5, np.float64(2)]),
    columns=st.one_of(st.none(), st.integers(1, 5)),
)
def test_alpha_and_beta(
    n: int, seed: int, dtype: str, alpha: Any, beta: Any, columns: int | None
) -> None:
    A = matrix(n, n, dtype, seed)
    rng = np.random.default_rng(seed)
    shape: Any = n if columns is None else (n, columns)
    x, y = numbers(rng, shape, dtype), numbers(rng, shape, dtype)
    for op, dense in ((nz.plan(A), A.toarray()), (nz.plan(A).T, A.toarray().T)):
        out = y.copy()
        assert op.apply(x, out, alpha=alpha, beta=beta) is out
        # [alpha A, beta I] [x; y], so that one bound covers the whole
        both = np.hstack([dense * complex(alpha).real, np.eye(n) * beta]).astype(dtype)
        check(out, both, np.concatenate([x, y]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_alpha_and_beta(dtype: str) -> None:
    A = matrix(8, 8, dtype)
    x = numbers(np.random.default_rng(0), 8, dtype)
    y = numbers(np.random.default_rng(1), 8, dtype)
    out = y.copy()
    nz.plan(A).apply(x, out, alpha=1j, beta=2 - 1j)
    both = np.hstack([A.toarray() * 1j, np.eye(8) * (2 - 1j)]).astype(dtype)
    check(out, both, np.concatenate([x, y]))


def test_beta_of_zero_reads_nothing() -> None:
    out = np.full(6, np.nan)
    nz.plan(matrix(6, 6)).apply(np.ones(6), out)
    assert np.isfinite(out).all()


def test_the_same_bits_in_every_run() -> None:
    A = nz.generate.powerlaw(3000, seed=2)
    x = np.random.default_rng(0).standard_normal(3000)
    op = nz.plan(A)
    first = op @ x
    for _ in range(5):
        assert np.array_equal(op @ x, first)
        assert np.array_equal(nz.plan(A, methods=op.plan.method) @ x, first)


def test_x_that_is_out() -> None:
    op = nz.plan(matrix(8, 8))
    buffer = np.ones(12)
    for x, out in (
        (buffer[:8], buffer[:8]),
        (buffer[:8], buffer[4:]),
        (buffer[4:], buffer[:8]),
    ):
        with pytest.raises(ValueError, match="out: overlaps with x, expected memory of its own"):
            op.apply(x, out)
        with pytest.raises(ValueError, match="out: overlaps with x, expected memory of its own"):
            op.T.apply(x, out)
    X = np.asfortranarray(np.ones((8, 4)))
    with pytest.raises(ValueError, match="out: overlaps with x"):
        op.apply(X, X)
    # Neighbours do not overlap.
    both = np.ones(16)
    op.apply(both[:8], both[8:])
    columns = np.asfortranarray(np.ones((8, 4)))
    op.apply(columns[:, :2], columns[:, 2:])


def test_rows_of_two_matrices_may_alternate() -> None:
    A = matrix(8, 8)
    both = np.zeros((8, 6))
    both[:, :2] = np.arange(16.0).reshape(8, 2)
    X = both[:, :2].copy()
    nz.plan(A).apply(both[:, :2], both[:, 2:4])
    check(both[:, 2:4], A.toarray(), X)
    assert np.array_equal(both[:, :2], X) and not both[:, 4:].any()


def test_what_is_copied_may_overlap() -> None:
    A = matrix(8, 8)
    buffer = np.arange(8.0)
    expected = nz.plan(A) @ buffer[::-1].copy()
    nz.plan(A).apply(buffer[::-1], buffer)
    assert np.array_equal(buffer, expected)

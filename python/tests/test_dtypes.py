"""Matrices of every dtype and layout through everything that takes one, against SciPy's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import nonzero as nz
from oracle import DTYPES

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
REAL = ("bool", *INTEGERS, "float32", "float64")
LAYOUTS = ("coo", "csr", "csc", "bsr", "dia", "lil", "dok")
#: Layouts of SciPy's in which an entry may stand more than once.
REPEATING = ("coo", "csr", "csc", "bsr")


def computed_in(dtype: str) -> np.dtype[Any]:
    return np.dtype(dtype if dtype in DTYPES else "float64")


class Entries:
    """A symmetric, diagonally dominant matrix whose diagonal stands in parts that overflow."""

    def __init__(self, n: int, dtype: str, pairs: list[tuple[int, int, int]], parts: int) -> None:
        big = 1 if dtype == "bool" else 100 if np.dtype(dtype).kind in "fc" else 120
        if np.dtype(dtype).kind in "iu":
            big = int(min(np.iinfo(dtype).max, 2**40)) // 2 + 1
        row, col, val = [], [], []
        beside = np.zeros(n, int)
        for i, j, times in pairs:
            if i % n != j % n:
                for r, c in ((i % n, j % n), (j % n, i % n)):
                    row += [r] * times
                    col += [c] * times
                    val += [1] * times
                    beside[r] += times
        for i in range(n):
            times = max(parts, -(-(int(beside[i]) + 1) // big))
            row += [i] * times
            col += [i] * times
            val += [big] * times
        self.row, self.col = np.array(row), np.array(col)
        self.val, self.n = np.array(val).astype(dtype), n

    def __repr__(self) -> str:
        return f"{self.val.dtype}: {list(zip(self.row, self.col, self.val, strict=True))}"

    def exact(self) -> Any:
        """Give what SciPy makes of them in the dtype that nonzero computes in."""
        wide = self.val.astype(computed_in(self.val.dtype.name))
        return sp.coo_array((wide, (self.row, self.col)), shape=(self.n, self.n)).tocsr()

    def once(self) -> Entries:
        """Give each of them once."""
        _, first = np.unique(self.row * self.n + self.col, return_index=True)
        found = object.__new__(Entries)
        found.n = self.n
        found.row, found.col, found.val = self.row[first], self.col[first], self.val[first]
        return found

    def given_as(self, layout: str, kind: str) -> Any:
        shape = (self.n, self.n)
        make = getattr(sp, f"{layout}_{kind}")
        if layout not in REPEATING:
            return make(sp.coo_array((self.val, (self.row, self.col)), shape=shape))
        if layout == "coo":
            return make((self.val, (self.row, self.col)), shape=shape)
        major, minor = (self.col, self.row) if layout == "csc" else (self.row, self.col)
        order = np.argsort(major, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=self.n))])
        values = self.val[order]
        return make(
            (values.reshape(-1, 1, 1) if layout == "bsr" else values, minor[order], starts),
            shape=shape,
        )


@st.composite
def entries(draw: Any, dtypes: tuple[str, ...] = REAL) -> Entries:
    n = draw(st.integers(1, 7))
    place = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(place, place, st.integers(1, 3)), max_size=8))
    return Entries(n, draw(st.sampled_from(dtypes)), pairs, draw(st.integers(1, 4)))


def products(A: Any) -> list[Any]:
    op = nz.plan(A)
    x = np.arange(1, op.shape[1] + 1).astype(op.dtype)
    X = np.stack([x, 2 * x], axis=1)
    return [op @ x, op @ X, op.T @ x, op.H @ x, op.matvec(x), nz.plan(A, vectors=2) @ X]


def solution(A: Any) -> list[Any]:
    return [nz.solve(A, np.arange(1.0, A.shape[0] + 1)).x]


def preconditioned(A: Any) -> list[Any]:
    M = nz.amg(A)
    return [M @ np.arange(1, A.shape[0] + 1).astype(M.dtype)]


def krylov(A: Any) -> list[Any]:
    b = np.ones(A.shape[0], computed_in(A.dtype.name))
    return [f(A, b)[0] for f in (nz.cg, nz.minres, nz.bicgstab, nz.gmres)]


def eigenvalues(A: Any) -> list[Any]:
    return [nz.eigsh(A, 1, which="LA", return_eigenvectors=False)]


def ranks(A: Any) -> list[Any]:
    return [nz.pagerank(A).rank]


def parts(A: Any) -> list[Any]:
    return [nz.partition(A, min(2, A.shape[0]), method="spectral").part]


def file(A: Any) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for end in ("mtx", "npz", "petsc"):
            path = os.path.join(folder, f"A.{end}")
            nz.write(path, A)
            found.append(nz.read(path).toarray())
        return found


def picture(A: Any) -> list[Any]:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    drawn = nz.spy(A, ax=figure.subplots(), size=A.shape[0])
    return [np.asarray(drawn.images[0].get_array()) > 0]  # where, not how many


def tensor(A: Any) -> list[Any]:
    torch = pytest.importorskip("torch")
    op = nz.plan(A)
    x = torch.ones(op.shape[1], dtype=getattr(torch, op.dtype.name))
    return [nz.torch.spmv(op, x).numpy(), nz.torch.spmv(op.T, x).numpy()]


DOORS: dict[str, Callable[[Any], list[Any]]] = {
    "plan": products,
    "solve": solution,
    "amg": preconditioned,
    "krylov": krylov,
    "eigsh": eigenvalues,
    "pagerank": ranks,
    "partition": parts,
    "write": file,
    "spy": picture,
    "torch": tensor,
}


def check_door(door: str, given_as: Any, exact: Any) -> None:
    found, wanted = DOORS[door](given_as), DOORS[door](exact)
    tol = 1e-4 if computed_in(given_as.dtype.name) == np.float32 else 1e-9
    for is_, should in zip(found, wanted, strict=True):
        assert is_.dtype == should.dtype and is_.shape == should.shape
        np.testing.assert_allclose(is_, should, rtol=tol, atol=0)


@pytest.mark.parametrize("door", DOORS)
@given(of=entries(), layout=st.sampled_from(LAYOUTS), kind=st.sampled_from(["array", "matrix"]))
def test_every_dtype_is_as_scipy_has_it(door: str, of: Entries, layout: str, kind: str) -> None:
    if layout not in REPEATING:
        of = of.once()
    check_door(door, of.given_as(layout, kind), of.exact())


@given(
    of=entries(("bool", *INTEGERS, *DTYPES)),
    layout=st.sampled_from(LAYOUTS),
    kind=st.sampled_from(["array", "matrix"]),
)
def test_products_of_every_dtype_are_scipys(of: Entries, layout: str, kind: str) -> None:
    if layout not in REPEATING:
        of = of.once()
    exact = of.exact()
    op = nz.plan(of.given_as(layout, kind))
    assert op.dtype == computed_in(of.val.dtype.name)
    x = np.arange(1, of.n + 1).astype(op.dtype)
    # Whole numbers, which both add without rounding.
    assert np.array_equal(op @ x, exact @ x) and np.array_equal(op.T @ x, exact.T @ x)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_what_stands_in_one_place_is_added_as_float64(dtype: str, door: str) -> None:
    of = Entries(3, dtype, [(0, 1, 2), (1, 2, 1)], 4)
    for layout in REPEATING:
        check_door(door, of.given_as(layout, "array"), of.exact())


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_dtype_without_a_place_here_is_named(dtype: str, layout: str) -> None:
    A = getattr(sp, f"{layout}_array")(sp.eye_array(2, dtype=dtype))
    for door in ("plan", "solve", "amg", "pagerank", "partition", "write", "spy"):
        with pytest.raises(TypeError, match=f"of dtype {np.dtype(dtype)}, expected one of float32"):
            DOORS[door](A)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16"])
def test_tensors_of_every_dtype(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    of = Entries(3, "uint8" if dtype == "float16" else dtype, [(0, 1, 2), (1, 2, 1)], 4)
    values = torch.from_numpy(of.val.astype(dtype))
    A = torch.sparse_coo_tensor(np.stack([of.row, of.col]), values, (3, 3))
    op = nz.plan(A)
    assert op.dtype == ("float32" if dtype == "float16" else "float64")
    x = np.arange(1, 4).astype(op.dtype)
    assert np.array_equal(op @ torch.from_numpy(x), of.exact() @ x)


@pytest.mark.parametrize("dtype", ["bfloat16", "complex32"])
def test_a_tensor_of_a_dtype_that_numpy_has_not_is_named(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    A = torch.eye(2).to(getattr(torch, dtype)).to_sparse()
    with pytest.raises(TypeError, match=f"A: a tensor of dtype {dtype}.*expected one of float32"):
        nz.plan(A)

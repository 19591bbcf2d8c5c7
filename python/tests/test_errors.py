"""Wrong arguments: which exception, and a text that says what is wrong and what was expected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import nonzero as nz
from oracle import matrix

A = matrix(6, 6) + 10 * sp.eye_array(6)
A = sp.csr_array(A + A.T)
R = matrix(4, 6)
b = np.ones(6)
ONE = np.ones(1)


def op() -> nz.Operator:
    return nz.plan(A)


def boom(*_: Any) -> None:
    raise LookupError("from the callback")


def arrays(data: Any = ONE, indices: Any = (0,), indptr: Any = (0, 1), shape: Any = (1, 1)) -> Any:
    return nz.plan((data, np.asarray(indices), np.asarray(indptr)), shape=shape)


Wrong = tuple[Callable[[], object], type[BaseException], str]

MATRICES: dict[str, Wrong] = {
    "list": (lambda: nz.plan([[1.0]]), TypeError, "A: a builtins.list, expected a sparse matrix"),
    "dense": (lambda: nz.plan(np.eye(2)), TypeError, "A: a numpy.ndarray, expected a sparse"),
    "none": (lambda: nz.plan(None), TypeError, "A: a builtins.NoneType, expected a sparse"),
    "two arrays": (lambda: nz.plan((1, 2)), TypeError, "A: a tuple of 2, expected (data, indices"),
    "no shape": (
        lambda: nz.plan((ONE, [0], [0, 1])),
        ValueError,
        "A: (data, indices, indptr) without a shape; give shape=",
    ),
    "two shapes": (
        lambda: nz.plan(A, shape=(6, 6)),
        TypeError,
        "shape: only for (data, indices, indptr); A has its own",
    ),
    "shape is no pair": (lambda: arrays(shape=5), TypeError, "shape: 5, expected (rows, columns)"),
    "shape of three": (
        lambda: arrays(shape=(1, 1, 1)),
        TypeError,
        "shape: (1, 1, 1), expected (rows, columns)",
    ),
    "fractional": (
        lambda: arrays(shape=(1.5, 1)),
        TypeError,
        "shape: 1.5, expected a whole number",
    ),
    "negative": (lambda: arrays(shape=(-1, 1)), ValueError, "shape: -1, expected 0 to 2147483647"),
    "too large": (
        lambda: arrays(shape=(1, 2**31)),
        ValueError,
        "shape: 2147483648, expected 0 to 2147483647",
    ),
    "two dimensions": (
        lambda: arrays(np.ones((1, 1))),
        ValueError,
        "A.data: an array of 2 dimensions, expected 1",
    ),
    "indices of floats": (
        lambda: arrays(indices=[0.0]),
        TypeError,
        "A.indices: of dtype float64, expected int32 or int64",
    ),
    "indptr of floats": (
        lambda: arrays(indptr=[0.0, 1.0]),
        TypeError,
        "A.indptr: of dtype float64, expected int32 or int64",
    ),
    "indptr too long": (
        lambda: arrays(indptr=[0, 1, 1]),
        ValueError,
        "A.indptr: of length 3, expected rows + 1 = 2",
    ),
    "indptr is empty": (
        lambda: arrays(indptr=[]),
        ValueError,
        "A.indptr: of length 0, expected rows + 1 = 2",
    ),
    "indptr not from 0": (
        lambda: arrays(np.ones(2), [0, 0], [1, 2]),
        ValueError,
        "A.indptr: from 1 to 2, expected from 0 to the number of entries, 2",
    ),
    "indptr descends": (
        lambda: arrays(np.ones(2), [0, 0], [0, 3, 2], (2, 1)),
        ValueError,
        "csr: row_ptr",
    ),
    "lengths differ": (
        lambda: arrays(np.ones(2)),
        ValueError,
        "A.indices: of length 1, expected that of data, 2",
    ),
    "column outside": (lambda: arrays(indices=[5]), ValueError, "csr: column 5 in row 0, expected"),
    "column outside 32 bits": (
        lambda: arrays(indices=[2**40]),
        ValueError,
        "indices: 1099511627776 at position 0, expected 0 to 2147483647",
    ),
    "negative column": (
        lambda: arrays(indices=[-1]),
        ValueError,
        "indices: -1 at position 0, expected 0 to 2147483647",
    ),
    "negative column of 32 bits": (
        lambda: arrays(indices=np.array([-1], np.int32)),
        ValueError,
        "csr: column -1 in row 0",
    ),
    "long double": (
        lambda: nz.plan(A.astype(np.longdouble)),
        TypeError,
        "A: of dtype float128, expected one of float32, float64, complex64, complex128",
    ),
    "objects": (
        lambda: arrays(np.array([1], object)),
        TypeError,
        "A: of dtype object, expected one of",
    ),
    "strings": (lambda: arrays(np.array(["a"])), TypeError, "A: of dtype <U1, expected one of"),
    "one dimension": (
        lambda: nz.plan(sp.coo_array(([1.0], ([0],)), shape=(3,))),
        ValueError,
        "A: a sparse array of 1 dimension, expected 2",
    ),
    "keeps no matrix": (
        lambda: nz.pagerank(nz.plan(A, keep=False)),
        TypeError,
        "G: an operator that keeps no matrix, expected one that does",
    ),
}

OPTIONS: dict[str, Wrong] = {
    "device": (
        lambda: nz.plan(A, device="tpu"),
        ValueError,
        "device: 'tpu', expected 'cpu', 'gpu' or the number of a GPU",
    ),
    "negative device": (lambda: nz.plan(A, device=-1), ValueError, "device: -1, expected 'cpu'"),
    "fractional device": (
        lambda: nz.plan(A, device=1.5),  # type: ignore[arg-type]
        ValueError,
        "device: 1.5, expected 'cpu'",
    ),
    "threads": (lambda: nz.plan(A, threads=-1), ValueError, "threads: -1, expected 0 to"),
    "threads by name": (
        lambda: nz.plan(A, threads="2"),  # type: ignore[arg-type]
        TypeError,
        "threads: '2', expected a whole number",
    ),
    "products": (lambda: nz.plan(A, products=0), ValueError, "products: 0, expected 1 to"),
    "half a product": (
        lambda: nz.plan(A, products=0.5),  # type: ignore[arg-type]
        TypeError,
        "products: 0.5, expected a whole number",
    ),
    "unknown method": (lambda: nz.plan(A, methods=["nope"]), ValueError, "no method 'nope'"),
    "methods of numbers": (
        lambda: nz.plan(A, methods=[1]),  # type: ignore[list-item]
        TypeError,
        "methods: 1 among them, expected names",
    ),
    "methods of a device": (
        lambda: nz.methods("tpu"),
        ValueError,
        "device: 'tpu', expected 'cpu' or 'gpu'",
    ),
    "unknown name": (
        lambda: getattr(nz, "no" + "pe"),
        AttributeError,
        "module 'nonzero' has no attribute 'nope'",
    ),
}

VECTORS: dict[str, Wrong] = {
    "too short": (lambda: op() @ np.ones(5), ValueError, "x: of shape (5,), expected (6,)"),
    "too few rows": (
        lambda: op() @ np.ones((5, 2)),
        ValueError,
        "x: of shape (5, 2), expected (6, 2)",
    ),
    "matvec of several": (
        lambda: op().matvec(np.ones((6, 2))),
        ValueError,
        "x: of shape (6, 2), expected (6,) or (6, 1)",
    ),
    "no dimensions": (
        lambda: op() @ np.array(1.0),
        ValueError,
        "x: an array of 0 dimensions, expected 1 or 2",
    ),
    "none": (lambda: op() @ None, TypeError, "x: a NoneType, expected an array of numbers"),
    "a number": (lambda: op() @ 1.0, ValueError, "Scalar operands are not allowed"),
    "three dimensions": (
        lambda: op() @ np.ones((6, 1, 1)),
        ValueError,
        "x: an array of 3 dimensions, expected 1 or 2",
    ),
    "strings": (
        lambda: op() @ np.array(["a"] * 6),
        TypeError,
        "x: of dtype <U1, expected one of float32",
    ),
    "objects": (
        lambda: op() @ np.array([None] * 6),
        TypeError,
        "x: of dtype object, expected one of float32, float64, complex64, complex128",
    ),
    "long double": (
        lambda: op() @ np.ones(6, np.longdouble),
        TypeError,
        "x: of dtype float128, expected one of float32",
    ),
    "sparse": (lambda: op() @ A, TypeError, "x: a sparse csr_array"),
    "sparse from the left": (
        lambda: A @ op(),
        TypeError,
        "x: a sparse csr_array, expected a dense",
    ),
    "from the left": (lambda: np.ones(5) @ op(), ValueError, "x: of shape (5,), expected (6,)"),
    "apply: dtype of x": (
        lambda: op().apply(np.ones(6, np.float32)),
        TypeError,
        "x: of dtype float32, expected float64",
    ),
    "apply: length of out": (
        lambda: op().apply(b, np.ones(5)),
        ValueError,
        "out: of shape (5,), expected (6,)",
    ),
    "apply: dimensions of out": (
        lambda: op().apply(b, np.ones((6, 1))),
        ValueError,
        "out: of shape (6, 1), expected (6,)",
    ),
    "apply: columns of out": (
        lambda: op().apply(np.ones((6, 2)), np.ones((6, 3))),
        ValueError,
        "out: of shape (6, 3), expected (6, 2)",
    ),
    "apply: dtype of out": (
        lambda: op().apply(b, np.ones(6, np.float32)),
        TypeError,
        "out: of dtype float32, expected float64",
    ),
    "apply: list": (
        lambda: op().apply(b, [0.0] * 6),
        TypeError,
        "out: a list, expected an array",
    ),
    "apply: read-only": (
        lambda: op().apply(b, np.broadcast_to(0.0, 6)),
        ValueError,
        "out: a read-only array, expected one that can be written to",
    ),
    "apply: out missing": (
        lambda: op().apply(b, beta=1.0),
        ValueError,
        "out: missing, expected an array, as beta is not 0",
    ),
    "apply: alpha": (
        lambda: op().apply(b, alpha="a"),  # type: ignore[arg-type]
        TypeError,
        "alpha: a str, expected a number",
    ),
    "apply: complex alpha": (
        lambda: op().apply(b, alpha=1j),
        TypeError,
        "alpha: complex, expected a real number, as the values are real",
    ),
    "apply: complex beta": (
        lambda: op().apply(b, np.ones(6), beta=1j),
        TypeError,
        "beta: complex, expected a real number, as the values are real",
    ),
    "apply: byte order": (
        lambda: op().apply(b.astype(">f8")),
        TypeError,
        "x: of dtype >f8, expected float64",
    ),
    "apply: field": (
        lambda: op().apply(np.zeros(6, dtype=[("a", "f8"), ("b", "i2")])["a"]),
        TypeError,
        "x: of dtype a field of records, expected float64",
    ),
    "update: list": (
        lambda: op().update_values([1.0]),
        TypeError,
        "data: a list, expected an array",
    ),
    "update: length": (
        lambda: op().update_values(b),
        ValueError,
        f"data: of shape (6,), expected ({A.nnz},)",
    ),
    "update: dtype": (
        lambda: op().update_values(A.data.astype(np.float32)),
        TypeError,
        "data: of dtype float32, expected float64",
    ),
}

SOLVERS: dict[str, Wrong] = {
    "solve: two tolerances": (
        lambda: nz.solve(A, b, tol=1e-3, rtol=1e-3),
        TypeError,
        "tol and rtol: one quantity, expected one of them",
    ),
    "solve: tol": (
        lambda: nz.solve(A, b, tol=-1),
        ValueError,
        "tol: -1.0, expected a finite number",
    ),
    "solve: nan": (lambda: nz.solve(A, b, rtol=np.nan), ValueError, "rtol: nan, expected a finite"),
    "solve: text": (
        lambda: nz.solve(A, b, tol="x"),  # type: ignore[arg-type]
        TypeError,
        "tol: 'x', expected a real number",
    ),
    "solve: b": (lambda: nz.solve(A, np.ones(3)), ValueError, "b: of shape (3,), expected (6,)"),
    "solve: two b": (
        lambda: nz.solve(A, np.ones((5, 2))),
        ValueError,
        "b: of shape (5, 2), expected (6, k)",
    ),
    "solve: complex b": (
        lambda: nz.solve(A, 1j * b),
        TypeError,
        "b: of dtype complex128, expected float64",
    ),
    "solve: x0": (
        lambda: nz.solve(A, b, x0=np.ones(3)),
        ValueError,
        "x0: of shape (3,), expected (6,)",
    ),
    "solve: not square": (lambda: nz.solve(R, np.ones(4)), ValueError, "A is 4 x 6, not square"),
    "solve: maxiter": (
        lambda: nz.solve(A, b, maxiter=-1),
        ValueError,
        "maxiter: -1, expected 0 to",
    ),
    "solve: method": (
        lambda: nz.solve(A, b, method="lu"),
        ValueError,
        "method: 'lu', expected one of cg, minres, bicgstab, gmres, direct, fgmres, idrs, refine",
    ),
    "solve: preconditioner": (
        lambda: nz.solve(A, b, preconditioner="lu"),
        ValueError,
        "preconditioner: 'lu', expected one of none, jacobi, block-jacobi, sgs, amg, matching",
    ),
    "solve: method that does not suit": (
        lambda: nz.solve(A + sp.csr_array(([1.0], ([0], [1])), shape=(6, 6)), b, method="cg"),
        ValueError,
        "cg: A is not symmetric: row",
    ),
    "solve: restart": (lambda: nz.solve(A, b, restart=0), ValueError, "restart: 0, expected 1 to"),
    "solve: block": (lambda: nz.solve(A, b, block=0), ValueError, "block: 0, expected 1 to"),
    "solve: callback": (
        lambda: nz.solve(A, b, callback=3),  # type: ignore[arg-type]
        TypeError,
        "callback: 3, expected a function or None",
    ),
    "solve: in the callback": (
        lambda: nz.solve(A, b, callback=boom),
        LookupError,
        "from the callback",
    ),
    "cg: in the callback": (lambda: nz.cg(A, b, callback=boom), LookupError, "from the callback"),
    "cg: b": (lambda: nz.cg(A, np.ones(3)), ValueError, "b: of shape (3,), expected (6,)"),
    "cg: dtype": (
        lambda: nz.cg(A, np.ones(6, np.longdouble)),
        TypeError,
        "b: of dtype float128, expected one of float32",
    ),
    "cg: x0": (lambda: nz.cg(A, b, np.ones(3)), ValueError, "x0: of shape (3,), expected (6,)"),
    "cg: M": (
        lambda: nz.cg(A, b, M=3),
        TypeError,
        "M: a builtins.int, expected a sparse matrix or array",
    ),
    "cg: shape of M": (
        lambda: nz.cg(A, b, M=nz.plan(R[:, :4])),
        ValueError,
        "cg: the preconditioner is 4 x 4, expected 6 x 6",
    ),
    "cg: not square": (
        lambda: nz.cg(R, np.ones(4)),
        ValueError,
        "cg: A is 4 x 6, expected a square matrix",
    ),
    "cg: rtol": (lambda: nz.cg(A, b, rtol=-1), ValueError, "rtol: -1.0, expected a finite number"),
    "minres: maxiter": (
        lambda: nz.minres(A, b, maxiter=1.5),  # type: ignore[arg-type]
        TypeError,
        "maxiter: 1.5, expected a whole number",
    ),
    "gmres: restart": (lambda: nz.gmres(A, b, restart=0), ValueError, "restart: 0, expected 1 to"),
    "amg: not hermitian": (
        lambda: nz.amg(sp.csr_array(np.array([[2.0, 1j], [1j, 2]]))),
        ValueError,
        "not hermitian",
    ),
    "amg: not symmetric": (
        lambda: nz.amg(sp.csr_array(np.array([[2.0, 1], [0, 2]]))),
        ValueError,
        "amg: the matrix is not symmetric in row 0",
    ),
    "amg: negative": (
        lambda: nz.amg(-A),
        ValueError,
        "amg: the matrix is not positive definite: its diagonal is -",
    ),
    "amg: not square": (lambda: nz.amg(R), ValueError, "amg: the matrix is 4 x 6, not square"),
    "amg: cycle": (lambda: nz.amg(A, cycle="f"), ValueError, "cycle: 'f', expected 'v' or 'w'"),
    "amg: block": (lambda: nz.amg(A, block=4), ValueError, "amg: 6 rows, not whole blocks of 4"),
    "ilu: level": (lambda: nz.ilu(A, 101), ValueError, "ilu: level is 101, expected 0 to 100"),
    "ilu: block": (lambda: nz.ilu(A, block=65), ValueError, "block is 65, expected 1 to 64"),
    "ilu: not square": (lambda: nz.ilu(R), ValueError, "ilu: A is 4 x 6, expected a square matrix"),
    "ic: not symmetric": (
        lambda: nz.ic(sp.csr_array(np.array([[2.0, 1], [0, 2]]))),
        ValueError,
        "ic: A is not symmetric: row 0, column 1 has 1, and row 1, column 0 has 0",
    ),
    "fsai: level": (lambda: nz.fsai(A, 2), ValueError, "fsai: level is 2, expected 0 or 1"),
    "spai: level": (lambda: nz.spai(A, 2), ValueError, "spai: level is 2, expected 0 or 1"),
    "amg: strength": (
        lambda: nz.amg(A, strength=-1),
        ValueError,
        "strength: -1.0, expected a finite number from 0 on",
    ),
    "eigsh: k": (lambda: nz.eigsh(A, k=51), ValueError, "k: 51, expected 1 to 50"),
    "eigsh: which": (
        lambda: nz.eigsh(A, which="SR"),
        ValueError,
        "which: 'SR', expected one of LM",
    ),
    "eigsh: complex": (
        lambda: nz.eigsh(A.astype(complex)),
        TypeError,
        "A: complex, expected real values",
    ),
    "eigsh: not square": (
        lambda: nz.eigsh(R),
        ValueError,
        "eigs: A is 4 x 6, expected a square matrix",
    ),
    "eigsh: v0": (
        lambda: nz.eigsh(A, v0=np.ones(3)),
        ValueError,
        "v0: of shape (3,), expected (6,)",
    ),
    "eigsh: tol": (lambda: nz.eigsh(A, tol=-1), ValueError, "tol: -1.0, expected a finite number"),
    "eigsh: preconditioner": (
        lambda: nz.eigsh(A, preconditioner=3),
        TypeError,
        "preconditioner: a builtins.int, expected a sparse matrix or array",
    ),
    "eigsh: in the callback": (
        lambda: nz.eigsh(nz.generate.laplace2d(20), callback=boom),
        LookupError,
        "from the callback",
    ),
}

REST: dict[str, Wrong] = {
    "pagerank: not square": (
        lambda: nz.pagerank(R),
        ValueError,
        "pagerank: the graph's matrix is 4 x 6, expected a square one",
    ),
    "pagerank: damping": (
        lambda: nz.pagerank(A, damping=1.5),
        ValueError,
        "pagerank: damping is 1.500000, expected a number between 0 and 1",
    ),
    "pagerank: tol": (lambda: nz.pagerank(A, tol=-1), ValueError, "tol: -1.0, expected a finite"),
    "pagerank: maxiter": (
        lambda: nz.pagerank(A, maxiter=-1),
        ValueError,
        "maxiter: -1, expected 0 to",
    ),
    "pagerank: personalization": (
        lambda: nz.pagerank(A, personalization=np.ones(3)),
        ValueError,
        "personalization: of shape (3,), expected (6,)",
    ),
    "pagerank: negative": (
        lambda: nz.pagerank(A, personalization=-b),
        ValueError,
        "personalization: -1.0 at position 0, expected a finite number, 0 or more",
    ),
    "pagerank: not a number": (
        lambda: nz.pagerank(A, personalization=[1, 1, np.nan, 1, 1, 1]),
        ValueError,
        "personalization: nan at position 2, expected a finite number, 0 or more",
    ),
    "pagerank: zeros": (
        lambda: nz.pagerank(A, personalization=0 * b),
        ValueError,
        "personalization: sums to 0.0, expected a positive finite number",
    ),
    "pagerank: a sum beyond double": (
        lambda: nz.pagerank(A, personalization=1e308 * b),
        ValueError,
        "personalization: sums to inf, expected a positive finite number",
    ),
    "pagerank: complex personalization": (
        lambda: nz.pagerank(A, personalization=1j * b),
        TypeError,
        "personalization: of dtype complex128, expected float64",
    ),
    "pagerank: complex": (
        lambda: nz.pagerank(A.astype(complex)),
        TypeError,
        "G.data: complex, expected real values",
    ),
    "pagerank: dense": (lambda: nz.pagerank(np.eye(2)), TypeError, "G: a numpy.ndarray, expected"),
    "partition: not square": (
        lambda: nz.partition(R),
        ValueError,
        "adjacency: the matrix is 4 x 6, expected a square one",
    ),
    "partition: none": (lambda: nz.partition(A, 0), ValueError, "nparts: 0, expected 1 to 6"),
    "partition: many": (lambda: nz.partition(A, 7), ValueError, "nparts: 7, expected 1 to 6"),
    "partition: imbalance": (
        lambda: nz.partition(A, imbalance=-1),
        ValueError,
        "imbalance: -1.0, expected a finite number from 0 on",
    ),
    "partition: method": (
        lambda: nz.partition(A, method="kl"),
        ValueError,
        "method: 'kl', expected auto, metis or spectral",
    ),
    "read: dtype": (
        lambda: nz.read(os.devnull, dtype=int),
        TypeError,
        "dtype: int64, expected one of float32, float64, complex64, complex128",
    ),
    "read: missing": (lambda: nz.read("/nowhere/A.mtx"), FileNotFoundError, "/nowhere/A.mtx"),
    "read: folder": (lambda: nz.read("/"), IsADirectoryError, "'/'"),
    "write: name": (
        lambda: nz.write("/tmp/a.txt", A),
        ValueError,
        "write: /tmp/a.txt ends in none of .mtx, .mtx.gz, .npz, .petsc",
    ),
    "write: nowhere": (
        lambda: nz.write("/nowhere/a.mtx", A),
        FileNotFoundError,
        "No such file or directory: '/nowhere'",
    ),
    "write: dense": (
        lambda: nz.write("/tmp/a.mtx", np.eye(2)),
        TypeError,
        "A: a numpy.ndarray, expected a sparse matrix",
    ),
    "generate: size": (
        lambda: nz.generate.laplace2d(-1),
        ValueError,
        "laplace2d: a size of -1, expected 1 or more (with nx = -1, ny = -1)",
    ),
    "generate: text": (
        lambda: nz.generate.laplace2d("3"),  # type: ignore[arg-type]
        TypeError,
        "nx: '3', expected a real number",
    ),
    "generate: fraction": (
        lambda: nz.generate.laplace2d(2.5),  # type: ignore[arg-type]
        ValueError,
        "laplace2d: nx is 2.5, expected a whole number below 2^31",
    ),
    "generate: dtype": (
        lambda: nz.generate.laplace2d(3, dtype=int),
        TypeError,
        "dtype: int64, expected one of float32",
    ),
    "generate: seed": (
        lambda: nz.generate.random(3, 3, 2, seed=-1),
        ValueError,
        "seed: -1, expected 0 to",
    ),
    "generate: range": (
        lambda: nz.generate.powerlaw(10, exponent=1),
        ValueError,
        "powerlaw: exponent is not above 2 and at most 100 (with n = 10, mean = 10, exponent = 1)",
    ),
    "generate: too large": (
        lambda: nz.generate.laplace3d(100000),
        ValueError,
        "laplace3d: more than 2^31 - 1 rows or columns (with nx = 100000",
    ),
    "bench: method": (lambda: nz.bench(A, methods=["x"]), ValueError, "no method 'x'"),
    "bench: seconds": (
        lambda: nz.bench(A, seconds=-1),
        ValueError,
        "seconds: -1, expected more than 0",
    ),
    "bench: threads": (lambda: nz.bench(A, threads=-1), ValueError, "threads: -1, expected 0 to"),
    "study: no matrix": (lambda: nz.study([3]), TypeError, "A: a builtins.int, expected a sparse"),
    "spy: dense": (lambda: nz.spy(np.eye(2)), TypeError, "A: a numpy.ndarray, expected a sparse"),
    "spy: size": (lambda: nz.spy(A, size=0), ValueError, "size: 0, expected 1 to 16384"),
}


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(w, id=f"{part}-{name}")
        for part, group in (
            ("matrix", MATRICES),
            ("option", OPTIONS),
            ("vector", VECTORS),
            ("solver", SOLVERS),
            ("rest", REST),
        )
        for name, w in group.items()
    ],
)
def test_the_error_says_what_is_wrong(wrong: Wrong) -> None:
    call, kind, text = wrong
    with pytest.raises(kind, match=re.escape(text)) as caught:
        call()
    assert caught.type is kind


@pytest.mark.skipif(nz.gpu_count() > 0, reason="there is a GPU")
@pytest.mark.parametrize(
    "call",
    [
        lambda: nz.plan(A, device="gpu"),
        lambda: nz.plan(A, device=3),
        lambda: nz.solve(A, b, device="gpu"),
        lambda: nz.amg(A, device="gpu"),
        lambda: nz.pagerank(A, device="gpu"),
        lambda: nz.bench(A, device="gpu"),
    ],
)
def test_without_a_gpu(call: Callable[[], object]) -> None:
    with pytest.raises(nz.Unavailable, match=r"no CUDA|GPU|driver") as caught:
        call()
    assert caught.type is nz.Unavailable and issubclass(nz.Unavailable, RuntimeError)


def test_out_of_memory_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        nz.generate.random(2**31 - 1, 2**31 - 1, 100)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello\n", ":1: no Matrix Market banner, expected '%%MatrixMarket matrix"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n", ":3: the file ends"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n", ":3: "),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 x\n", ":3: "),
    ],
)
def test_files_that_are_wrong(text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "A.mtx"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(str(path) + said)):
        nz.read(path)


def test_a_complex_file_read_as_real(tmp_path: Any) -> None:
    path = tmp_path / "A.mtx"
    path.write_text("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1.0 2.0\n")
    assert nz.read(path).dtype == np.complex128
    with pytest.raises(ValueError, match="complex values, expected real ones"):
        nz.read(path, dtype="f8")


def column(make: Any) -> Any:
    return make(b.reshape(6, 1))


NO_VECTORS: dict[str, tuple[Callable[[], Any], str]] = {
    "sparse array": (lambda: column(sp.csr_array), "a sparse csr_array"),
    "sparse matrix": (lambda: column(sp.coo_matrix), "a sparse coo_matrix"),
    "sparse row": (lambda: sp.lil_array(b.reshape(1, 6)), "a sparse lil_array"),
    "none": (lambda: None, "a NoneType"),
    "dict": (lambda: {0: 1.0, 3: "much"}, "a dict"),
    "dict of all": (lambda: dict.fromkeys(range(6), 1.0), "a dict"),
    "set": (lambda: {1.0, 2.0}, "a set"),
    "text": (lambda: "abcdef", "a str"),
    "texts": (lambda: list("abcdef"), "a list"),
    "nones": (lambda: [1, 1, 1, None, 1, 1], "a list"),
    "ragged": (lambda: [[1, 2], [3]], "a list"),
    "generator": (lambda: (x for x in b), "a generator"),
    "operator": (op, "a Operator"),
}
VECTOR_ARGUMENTS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "solve: b": ("b", lambda v: nz.solve(A, v)),
    "solve: x0": ("x0", lambda v: nz.solve(A, b, x0=v)),
    "cg: b": ("b", lambda v: nz.cg(A, v)),
    "minres: b": ("b", lambda v: nz.minres(A, v)),
    "bicgstab: x0": ("x0", lambda v: nz.bicgstab(A, b, v)),
    "gmres: b": ("b", lambda v: nz.gmres(A, v)),
    "pagerank: personalization": ("personalization", lambda v: nz.pagerank(A, personalization=v)),
    "eigsh: v0": ("v0", lambda v: nz.eigsh(A, 1, v0=v)),
    "apply: x": ("x", lambda v: op().apply(v)),
    "matvec: x": ("x", lambda v: op().matvec(v)),
    "rmatvec: x": ("x", lambda v: op().rmatvec(v)),
    "matmat: x": ("x", lambda v: op().matmat(v)),
    "T.apply: x": ("x", lambda v: op().T.apply(v)),
    "amg: x": ("x", lambda v: nz.amg(A).apply(v)),
}
MAY_BE_NONE = ("solve: x0", "bicgstab: x0", "pagerank: personalization", "eigsh: v0")


@pytest.mark.parametrize("what", NO_VECTORS)
@pytest.mark.parametrize("where", VECTOR_ARGUMENTS)
def test_what_is_no_vector_is_named(where: str, what: str) -> None:
    if what == "none" and where in MAY_BE_NONE:
        pytest.skip("None is the default")
    make, kind = NO_VECTORS[what]
    name, call = VECTOR_ARGUMENTS[where]
    wanted = "a dense array" if kind.startswith("a sparse") else "an array of numbers"
    with pytest.raises(TypeError) as caught:
        call(make())
    assert str(caught.value) == f"{name}: {kind}, expected {wanted}"

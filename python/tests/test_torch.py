"""Products that PyTorch differentiates, on the CPU; test_gpu.py has them on GPUs."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

import nonzero as nz  # noqa: E402

DTYPES = ("float32", "float64", "complex64", "complex128")
FORMS = {
    "A": (lambda op: op, lambda A: A),
    "T": (lambda op: op.T, lambda A: A.T),
    "H": (lambda op: op.H, lambda A: A.conj().T),
    "conj": (lambda op: op.T.H, lambda A: A.conj()),
}


def numbers(shape: Any, dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def matrix(dtype: str, rows: int = 12, cols: int = 9) -> Any:
    A = sp.random(rows, cols, density=0.3, random_state=0, format="csr")
    A.data = numbers(A.nnz, dtype, 1)
    return A


def tensor(shape: Any, dtype: str, seed: int = 2) -> Any:
    return torch.from_numpy(numbers(shape, dtype, seed)).requires_grad_()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype: str, form: str) -> None:
    A = matrix(dtype)
    of_op, of_matrix = FORMS[form]
    op, B = of_op(nz.plan(A)), of_matrix(A).toarray()
    C = A.copy()
    C.data = numbers(A.nnz, dtype, 7)
    for shape in ((B.shape[1],), (B.shape[1], 3), (B.shape[1], 1), (B.shape[1], 0)):
        x = numbers(shape, dtype, 3)
        y = nz.torch.spmv(op, torch.from_numpy(x))
        assert y.dtype == getattr(torch, dtype) and y.shape == (B @ x).shape
        tol = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(y.resolve_conj().numpy(), B @ x, rtol=tol, atol=tol)
        y = nz.torch.spmv(op, torch.from_numpy(x), torch.from_numpy(C.data))
        right = of_matrix(C).toarray() @ x
        np.testing.assert_allclose(y.resolve_conj().numpy(), right, rtol=tol, atol=tol)
    x = numbers((B.shape[1], 6), dtype, 4)
    strided = torch.from_numpy(x)[:, ::2]
    y = nz.torch.spmv(op, strided).resolve_conj().numpy()
    np.testing.assert_allclose(y, B @ x[:, ::2], rtol=tol, atol=tol)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("columns", [None, 2])
def test_gradients(dtype: str, form: str, columns: int | None) -> None:
    A = matrix(dtype, 7, 5)
    op = FORMS[form][0](nz.plan(A))
    x = tensor((op.shape[1],) if columns is None else (op.shape[1], columns), dtype)
    values = tensor(A.nnz, dtype, 5)
    assert torch.autograd.gradcheck(lambda x: nz.torch.spmv(op, x), (x,))
    assert torch.autograd.gradcheck(lambda x, v: nz.torch.spmv(op, x, v), (x, values))
    assert torch.autograd.gradgradcheck(lambda x: nz.torch.spmv(op, x), (x,))
    assert torch.autograd.gradgradcheck(lambda x, v: nz.torch.spmv(op, x, v), (x, values))
    # Of the values alone, and of many columns in several steps.
    constant = x.detach()
    assert torch.autograd.gradcheck(lambda v: nz.torch.spmv(op, constant, v), (values,))


def test_gradient_of_the_values_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix("float64")
    op, values, x = nz.plan(A), tensor(A.nnz, "float64"), tensor((9, 7), "float64", 4)
    at_once = torch.autograd.grad(nz.torch.spmv(op, x, values).sin().sum(), values)[0]
    monkeypatch.setattr(nz.torch, "_AT_A_TIME", 3 * A.nnz)
    in_steps = torch.autograd.grad(nz.torch.spmv(op, x, values).sin().sum(), values)[0]
    torch.testing.assert_close(in_steps, at_once)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_operators_of_pytorch(dtype: str) -> None:
    A = matrix(dtype)
    op = nz.plan(A)
    for x, g in (
        (tensor(9, dtype), tensor(12, dtype)),
        (tensor((9, 2), dtype), tensor((12, 2), dtype)),
    ):
        nz.torch.spmv(op, x)
        values = tensor(A.nnz, dtype, 5)
        for given in (None, values):
            arguments = (x, given, op._handle, False, 12)
            torch.library.opcheck(torch.ops.nonzero.spmv, arguments)
            torch.library.opcheck(torch.ops.nonzero.spmv, (g, given, op._handle, True, 9))
        torch.library.opcheck(torch.ops.nonzero.outer_at, (g, x, op._handle, A.nnz))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_compiled(dtype: str, form: str) -> None:
    torch._dynamo.reset()
    A = matrix(dtype)
    base = nz.plan(A)
    x = tensor(12 if form in "TH" else 9, dtype)
    values = tensor(A.nnz, dtype, 5)

    def loss(x: Any, v: Any) -> Any:
        op = FORMS[form][0](base)
        return (nz.torch.spmv(op, x, v.exp()).sin() * nz.torch.spmv(op, x)).abs().sum()

    expected = torch.autograd.grad(loss(x, values), (x, values))
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for _ in range(2):
        found = torch.autograd.grad(compiled(x, values), (x, values))
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b)


def test_compiled_with_operators_that_are_new() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda op, x: 2 * nz.torch.spmv(op, x), backend="aot_eager")
    for rows in (12, 15, 12):
        A = matrix("float64", rows)
        A.data *= rows
        x = numbers(9, "float64", rows)
        op = nz.plan(A)
        for _ in range(2):
            np.testing.assert_allclose(compiled(op, torch.from_numpy(x)), 2 * (A @ x))


def test_values_that_change_in_any_way() -> None:
    A = matrix("float64")
    op = nz.plan(A)
    x = numbers(9, "float64", 3)
    values = torch.from_numpy(A.data.copy()).requires_grad_()

    def check(factor: float) -> None:
        y = nz.torch.spmv(op, torch.from_numpy(x), values).detach().numpy()
        np.testing.assert_allclose(y, factor * (A @ x), rtol=1e-12, atol=1e-12)

    check(1)
    with torch.no_grad():
        values *= 2
    check(2)
    values.data *= 2  # which PyTorch does not count as a change
    check(4)
    values.data = torch.from_numpy(8 * A.data)
    check(8)
    # The operator has its own values still, in another product and in a gradient.
    np.testing.assert_allclose(op @ x, A @ x)
    of = torch.from_numpy(x).requires_grad_()
    y = nz.torch.spmv(op, of)
    check(8)
    y.sum().backward()
    np.testing.assert_allclose(of.grad, A.T @ np.ones(12))


def test_errors() -> None:
    A = matrix("float64")
    op = nz.plan(A)
    x, values = torch.zeros(9, dtype=torch.float64), torch.from_numpy(A.data)
    with pytest.raises(TypeError, match="op: a csr_.*, expected an Operator"):
        nz.torch.spmv(A, x)
    with pytest.raises(TypeError, match="x: a ndarray, expected a torch.Tensor"):
        nz.torch.spmv(op, x.numpy())
    with pytest.raises(ValueError, match="x: of shape"):
        nz.torch.spmv(op, torch.zeros(12, dtype=torch.float64))
    with pytest.raises(ValueError, match="dimensions"):
        nz.torch.spmv(op, torch.zeros((9, 1, 1), dtype=torch.float64))
    with pytest.raises(TypeError, match="float32.*float64"):
        nz.torch.spmv(op, x.float())
    with pytest.raises(TypeError, match="values: of dtype float32"):
        nz.torch.spmv(op, x, values.float())
    with pytest.raises(ValueError, match="values: of shape"):
        nz.torch.spmv(op, x, values[1:])
    with pytest.raises(RuntimeError, match="does not keep a matrix"):
        nz.torch.spmv(nz.plan(A, keep=False), x, values)
    np.testing.assert_allclose(nz.torch.spmv(op, x + 1, values), A @ np.ones(9))


def test_life_of_an_operator() -> None:
    A = matrix("float64")
    op = nz.plan(A)
    x = tensor(9, "float64")
    y = nz.torch.spmv(op, x, torch.from_numpy(A.data)).sum()
    seen, handle = weakref.ref(op), op._handle
    del op
    gc.collect()
    assert seen() is not None, "the operator is needed for the gradient"
    y.backward()
    np.testing.assert_allclose(x.grad, A.T @ np.ones(12))
    del y
    gc.collect()
    assert seen() is None and handle not in nz.torch._entries
    with pytest.raises(RuntimeError, match="no longer exists"):
        torch.ops.nonzero.spmv(x, None, handle, False, 12)


def test_layer_learns_the_values() -> None:
    A = matrix("float64", 30, 20)
    op = nz.plan(A)
    x = torch.from_numpy(numbers((20, 40), "float64", 1))
    target = torch.from_numpy(A @ x.numpy())
    values = torch.zeros(A.nnz, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([values], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        (nz.torch.spmv(op, x, values) - target).square().mean().backward()
        optimizer.step()
    np.testing.assert_allclose(values.detach().numpy(), A.data, atol=1e-2)


def test_the_product_is_of_the_tensor_as_it_was() -> None:
    A = torch.from_numpy(matrix("float64").toarray())
    for given_as in (A.to_sparse_csr(), A.to_sparse()):
        op = nz.plan(given_as)
        given_as.values().mul_(10) if given_as.layout == torch.sparse_csr else (
            given_as.coalesce().values().mul_(10)
        )
        for form, of_matrix in FORMS.values():
            x = numbers(of_matrix(A).shape[1], "float64", 3)
            y = nz.torch.spmv(form(op), torch.from_numpy(x))
            np.testing.assert_allclose(y.resolve_conj().numpy(), of_matrix(A) @ x, rtol=1e-13)


def test_new_values_of_a_tensor_are_as_they_were_given() -> None:
    A = matrix("float64")
    op = nz.plan(A)
    values = torch.from_numpy(3 * A.data)
    op.update_values(values)
    values *= 10
    x = torch.ones(9, dtype=torch.float64)
    np.testing.assert_allclose(nz.torch.spmv(op, x).numpy(), 3 * A @ np.ones(9))
    y = torch.ones(12, dtype=torch.float64)
    np.testing.assert_allclose(nz.torch.spmv(op.T, y).numpy(), 3 * A.T @ np.ones(12))

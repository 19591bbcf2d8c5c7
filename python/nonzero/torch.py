"""Products with sparse matrices that PyTorch differentiates, on CPUs and NVIDIA GPUs.

`spmv` is a PyTorch operator of its own, ``torch.ops.nonzero.spmv``, so that `torch.compile` takes
it as it takes PyTorch's.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

import numpy as np

try:
    import torch
except ImportError as e:
    raise ImportError("nonzero.torch needs PyTorch: pip install torch") from e

from nonzero._arrays import dtype_of, library_of
from nonzero._linear_operator import CONJUGATE, PLAIN, TRANSPOSE
from nonzero._matrices import Matrix
from nonzero._operator import Operator, _planned
from nonzero._transposed import ConjugatedOperator, TransposedOperator

__all__ = ["spmv"]

#: Elements that the gradient with respect to the values gathers at a time.
_AT_A_TIME = 1 << 24


def spmv(
    op: Operator | TransposedOperator | ConjugatedOperator,
    x: torch.Tensor,
    values: torch.Tensor | None = None,
) -> torch.Tensor:
    """Multiply by a sparse matrix; differentiable in x and in the values, any number of times.

    Parameters
    ----------
    op : Operator, or its T or H
        Made by `nonzero.plan`. Where gradients are wanted it must keep its matrix, as it does by
        default.
    x : Tensor, (cols,) or (cols, k)
        Of the operator's dtype and on its device. It is copied where neither its columns nor its
        rows are contiguous.
    values : Tensor, (nnz,), optional
        Taken for the values of the matrix, in the order of the CSR arrays that the operator was
        planned from, also by its T and H; of its dtype and on its device. The operator itself
        does not change: a second one of the same pattern, which is built at the first such call
        and holds as much memory, takes them whenever they differ from those that it has, which
        on a GPU the CPU waits to know. [the operator's own]

    Returns
    -------
    Tensor, (rows,) or (rows, k)
        Contiguous where x is, else its columns are. On a GPU it is complete in PyTorch's current
        stream.

    Raises
    ------
    TypeError
        Where op is no operator, or x or values are of another dtype or on another device.
    ValueError
        Where the length of x or of values does not fit.
    RuntimeError
        Where values are given, or asked for their gradient, and the operator does not keep its
        matrix; in a backward pass where the operator cannot multiply by its transpose.

    Notes
    -----
    With G the gradient of the result, that of x is A^H G and that of value k, which stands in row
    r and column c, is the sum of G[r] conj(x[c]) over the columns of x.

    Under `torch.compile` an operator that has not yet multiplied here divides the graph once: call
    `spmv` with it before, outside, where ``fullgraph=True``.

    Examples
    --------
    >>> import numpy as np, torch, nonzero as nz
    >>> op = nz.plan((np.array([2.0, 3.0]), [1, 0], [0, 1, 2]), shape=(2, 2))
    >>> x = torch.tensor([1.0, 10.0], dtype=torch.float64, requires_grad=True)
    >>> values = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    >>> y = nz.torch.spmv(op, x, values)
    >>> y.tolist()
    [20.0, 3.0]
    >>> y.sum().backward()
    >>> x.grad.tolist(), values.grad.tolist()
    ([3.0, 2.0], [10.0, 1.0])
    """
    if isinstance(op, Operator):
        base, adjoint, conjugated = op, False, False
    elif isinstance(op, TransposedOperator):
        # A^T x is the conjugate of A^H conj(x).
        base, adjoint, conjugated = op._of, True, op._kind is TRANSPOSE
    elif isinstance(op, ConjugatedOperator):
        base, adjoint, conjugated = op._of, False, True
    else:
        raise TypeError(f"op: a {type(op).__name__}, expected an Operator, as nonzero.plan makes")
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"x: a {type(x).__name__}, expected a torch.Tensor")
    rows, cols = op.shape
    if x.dim() not in (1, 2):
        raise ValueError(f"x: a tensor of {x.dim()} dimensions, expected 1 or 2")
    if x.shape[0] != cols:
        raise ValueError(f"x: of shape {tuple(x.shape)}, expected {cols} for the first")
    handle: int | None = getattr(base, "_handle", None)
    if handle is None:
        handle = int(_enter(base))
    of = x.conj() if conjugated and x.is_complex() else x
    y: torch.Tensor = torch.ops.nonzero.spmv(of, values, handle, adjoint, rows)
    return y.conj() if conjugated and x.is_complex() else y


class _Entry:
    """Data of an operator here: its pattern as tensors, and its twin with other values."""

    def __init__(self, op: Operator) -> None:
        self._op = weakref.ref(op)
        self._lock = threading.Lock()
        self._pattern: tuple[torch.Tensor, torch.Tensor] | None = None
        self._rows: torch.Tensor | None = None
        self._twin: Operator | None = None
        self._taken: torch.Tensor | None = None

    def op(self) -> Operator:
        op = self._op()
        if op is None:
            raise RuntimeError("op: the operator of this product no longer exists")
        return op

    def apply(self, x: torch.Tensor, y: torch.Tensor, adjoint: bool) -> None:
        """Multiply by the operator's own values."""
        self.op()._apply(CONJUGATE if adjoint else PLAIN, x, y, None, None)

    def apply_with(
        self, values: torch.Tensor, x: torch.Tensor, y: torch.Tensor, adjoint: bool
    ) -> None:
        """Multiply by other values, which the twin takes if it has not got them."""
        op = self.op()
        nnz = int(op._kept("values").data.shape[0])
        if tuple(values.shape) != (nnz,):
            raise ValueError(f"values: of shape {tuple(values.shape)}, expected ({nnz},)")
        if dtype_of(values) != op.dtype:
            raise TypeError(f"values: of dtype {dtype_of(values)}, expected {op.dtype}")
        if values.device != x.device:
            raise TypeError(f"values: on {values.device}, expected {x.device}, where x is")
        op._checked(x, "x")
        with self._lock:  # no other values before the product has begun
            self._take(op, values)
            assert self._twin is not None
            self._twin._apply(CONJUGATE if adjoint else PLAIN, x, y, None, None)

    def _take(self, op: Operator, values: torch.Tensor) -> None:
        bits = torch.int32 if values.dtype == torch.float32 else torch.int64
        plain = values.detach().resolve_conj().resolve_neg().contiguous()
        if self._taken is not None and torch.equal(self._taken.view(bits), plain.view(bits)):
            return
        self._taken = None  # until it is done
        taken = plain.clone()  # not to change with the caller's
        with _in_default_stream(values.device):
            if self._twin is None:
                indptr, indices = self.pattern(values.device)
                options = {**op._options, "methods": [op.plan.method], "tune": False}
                matrix = Matrix(taken, indices, indptr, (op.shape[0], op.shape[1]))
                self._twin = _planned(matrix, options)
            else:
                self._twin._take_values(taken)
        self._taken = taken

    def pattern(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Give indptr and indices where the operator is."""
        if self._pattern is None:
            A = self.op()._kept("values")
            self._pattern = _tensor(A.indptr, device), _tensor(A.indices, device)
        return self._pattern

    def rows_and_columns(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Give the row and the column of every value."""
        indptr, indices = self.pattern(device)
        if self._rows is None:
            numbers = torch.arange(indptr.numel() - 1, dtype=indices.dtype, device=device)
            self._rows = torch.repeat_interleave(
                numbers, indptr.diff(), output_size=indices.numel()
            )
        return self._rows, indices


class _in_default_stream:
    """Orders what the library does in the GPU's default stream within PyTorch's current one."""

    def __init__(self, device: torch.device) -> None:
        self._device = device if device.type == "cuda" else None

    def __enter__(self) -> None:
        if self._device is not None:
            default = torch.cuda.default_stream(self._device)
            default.wait_stream(torch.cuda.current_stream(self._device))

    def __exit__(self, *_: object) -> None:
        if self._device is not None:
            default = torch.cuda.default_stream(self._device)
            torch.cuda.current_stream(self._device).wait_stream(default)


def _tensor(x: Any, device: torch.device) -> torch.Tensor:
    library = library_of(x)
    if library == "torch":
        found: torch.Tensor = x
    elif library == "cupy":
        found = torch.utils.dlpack.from_dlpack(x)
    else:
        array = np.asarray(x)
        found = torch.from_numpy(array if array.flags.writeable else array.copy())
    return found.to(device)


_entries: dict[int, _Entry] = {}
_handles = itertools.count(1)
_entering = threading.Lock()


def _entered(op: Operator) -> int:
    with _entering:
        known: int | None = getattr(op, "_handle", None)
        if known is not None:
            return known
        handle = next(_handles)
        _entries[handle] = _Entry(op)
        weakref.finalize(op, _entries.pop, handle, None)
        op.__dict__["_handle"] = handle
        return handle


_untraced: Any = torch.compiler.disable
_enter = _untraced(_entered)


def _entry(handle: int) -> _Entry:
    entry = _entries.get(handle)
    if entry is None:
        raise RuntimeError("op: the operator of this product no longer exists")
    return entry


# The product, and what its gradient with respect to the values is. Each gives the other's
# gradients, so that they can be differentiated any number of times.


def _product(
    x: torch.Tensor, values: torch.Tensor | None, handle: int, adjoint: bool, rows: int
) -> torch.Tensor:
    entry = _entry(handle)
    y = _product_like(x, values, handle, adjoint, rows)
    if values is None:
        entry.apply(x, y, adjoint)
    else:
        entry.apply_with(values, x, y, adjoint)
    return y


def _product_like(
    x: torch.Tensor, values: torch.Tensor | None, handle: int, adjoint: bool, rows: int
) -> torch.Tensor:
    if x.dim() == 1:
        return x.new_empty(rows)
    if x.is_contiguous() and not adjoint:
        return x.new_empty((rows, x.shape[1]))
    return x.new_empty((x.shape[1], rows)).T


def _product_saves(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    x, values, ctx.handle, ctx.adjoint, _ = inputs
    ctx.cols = x.shape[0]
    # The operator lives as long as what may yet be differentiated.
    entry = _entries.get(ctx.handle)
    ctx.op = None if entry is None else entry.op()
    ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, values)


def _product_gradients(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    x, values = ctx.saved_tensors
    of_x = of_values = None
    if ctx.needs_input_grad[0]:
        of_x = torch.ops.nonzero.spmv(g, values, ctx.handle, not ctx.adjoint, ctx.cols)
    if ctx.needs_input_grad[1]:
        a, b = (x, g) if ctx.adjoint else (g, x)
        of_values = torch.ops.nonzero.outer_at(a, b, ctx.handle, values.shape[0])
    return of_x, of_values, None, None, None


def _outer(a: torch.Tensor, b: torch.Tensor, handle: int, nnz: int) -> torch.Tensor:
    """Give a b^H where the matrix has values."""
    rows, cols = _entry(handle).rows_and_columns(a.device)
    if a.dim() == 1:
        return a.index_select(0, rows) * b.index_select(0, cols).conj_physical()
    found = a.new_zeros(nnz)
    step = max(1, _AT_A_TIME // max(nnz, 1))
    for c in range(0, a.shape[1], step):
        left = a[:, c : c + step].index_select(0, rows)
        found += (left * b[:, c : c + step].index_select(0, cols).conj_physical()).sum(1)
    return found


def _outer_like(a: torch.Tensor, b: torch.Tensor, handle: int, nnz: int) -> torch.Tensor:
    return a.new_empty(nnz)


def _outer_saves(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    a, b, ctx.handle, _ = inputs
    entry = _entries.get(ctx.handle)
    ctx.op = None if entry is None else entry.op()
    ctx.save_for_backward(a, b)


def _outer_gradients(ctx: Any, g: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    a, b = ctx.saved_tensors
    of_a = of_b = None
    if ctx.needs_input_grad[0]:
        of_a = torch.ops.nonzero.spmv(b, g, ctx.handle, False, a.shape[0])
    if ctx.needs_input_grad[1]:
        of_b = torch.ops.nonzero.spmv(a, g, ctx.handle, True, b.shape[0])
    return of_a, of_b, None, None


def _define() -> None:
    library = torch.library
    # A captured graph would not wait for the operator's own stream.
    tag = getattr(torch.Tag, "cudagraph_unsafe", None)
    tags = () if tag is None else (tag,)
    arguments = "Tensor x, Tensor? values, int handle, bool adjoint, SymInt rows"
    library.custom_op(
        "nonzero::spmv", _product, mutates_args=(), schema=f"({arguments}) -> Tensor", tags=tags
    )
    library.register_fake("nonzero::spmv", _product_like)
    library.register_autograd("nonzero::spmv", _product_gradients, setup_context=_product_saves)
    arguments = "Tensor a, Tensor b, int handle, SymInt nnz"
    library.custom_op(
        "nonzero::outer_at", _outer, mutates_args=(), schema=f"({arguments}) -> Tensor", tags=tags
    )
    library.register_fake("nonzero::outer_at", _outer_like)
    library.register_autograd("nonzero::outer_at", _outer_gradients, setup_context=_outer_saves)


_define()

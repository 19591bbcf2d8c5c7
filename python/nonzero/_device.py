"""The shortest way of a vector in GPU memory through a product, for a product takes microseconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np


def device_product(op: Any, x: Any) -> Any:
    """Multiply a vector of CuPy or PyTorch; None where `x` is not one that fits as it lies."""
    product = _product_for(type(x))
    return None if product is None else product(op, x)


@lru_cache(maxsize=64)
def _product_for(kind: type) -> Callable[[Any, Any], Any] | None:
    library = kind.__module__.partition(".")[0]
    return {"cupy": _cupy_product, "torch": _torch_product}.get(library)


def _cupy_product(op: Any, x: Any) -> Any:
    import cupy

    if (
        x.dtype != op.dtype
        or x.shape != (op.shape[1],)
        or not x.flags.c_contiguous
        or x.data.device_id != op.device
        or cupy.cuda.runtime.getDevice() != op.device
    ):
        return None
    y = cupy.empty(op.shape[0], op.dtype)
    op._core.apply_at(x.data.ptr, y.data.ptr, cupy.cuda.get_current_stream().ptr)
    return y


def _torch_product(op: Any, x: Any) -> Any:
    import torch

    if (
        x.dtype is not _torch_dtype(op.dtype)
        or x.dim() != 1
        or x.shape[0] != op.shape[1]
        or not x.is_cuda
        or x.get_device() != op.device
        or not x.is_contiguous()
        or x.is_conj()
        or x.is_neg()
    ):
        return None
    y = x.new_empty(op.shape[0])
    op._core.apply_at(x.data_ptr(), y.data_ptr(), torch.cuda.current_stream(x.device).cuda_stream)
    return y


@lru_cache(maxsize=8)
def _torch_dtype(dtype: np.dtype[Any]) -> Any:
    import torch

    return getattr(torch, dtype.name)

"""Arrays of NumPy, CuPy and PyTorch, lent to the C++ library where they lie."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: What the library calls its value types.
VALUE_TYPES = ("float32", "float64", "complex64", "complex128")


class DeviceArray(NamedTuple):
    """An array in a GPU's memory, as the C++ library is told of it."""

    pointer: int
    typestr: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    device: int
    readonly: bool
    owner: Any  # keeps the memory as long as this is held


def library_of(x: Any) -> str:
    """Name the package that `x` is an array of; "numpy" for everything it can convert."""
    name = type(x).__module__.partition(".")[0]
    return name if name in ("cupy", "torch") else "numpy"


def device_of(x: Any) -> int:
    """Tell on which GPU `x` lies; -1 for CPU memory."""
    library = library_of(x)
    if library == "cupy":
        return int(x.device.id)
    if library == "torch" and x.device.type == "cuda":
        return int(x.device.index or 0)
    return -1


def stream_of(x: Any) -> int:
    """Give the stream that is current in the library of `x` and on its GPU; 0 for the default."""
    library = library_of(x)
    if library == "cupy":
        import cupy

        return int(cupy.cuda.get_current_stream(x.device.id).ptr)
    if library == "torch" and x.device.type == "cuda":
        import torch

        return int(torch.cuda.current_stream(x.device).cuda_stream)
    return 0


def dtype_of(x: Any) -> np.dtype[Any]:
    """Give the NumPy dtype of the elements of `x`."""
    if library_of(x) == "torch":
        name = str(x.dtype).removeprefix("torch.")
        try:
            return np.dtype(name)
        except TypeError:
            raise TypeError(f"a tensor of dtype {name}, which NumPy does not have") from None
    dtype: np.dtype[Any] = np.dtype(x.dtype)
    return dtype


def dense(x: Any, name: str) -> Any:
    """Give `x` as an array of its library; of NumPy where it is a list or a number.

    Raises
    ------
    TypeError
        Where `x` is sparse, or no array of numbers.
    """
    kind = type(x).__name__
    library = library_of(x)
    if hasattr(x, "tocsr"):
        raise TypeError(f"{name}: a sparse {kind}, expected a dense array")
    if library == "torch":
        import torch

        if x.layout != torch.strided:
            raise TypeError(f"{name}: a sparse {kind}, expected a dense tensor")
    if library != "numpy" or isinstance(x, np.ndarray):
        return x
    try:
        found = np.asarray(x)
    except ValueError:  # rows of several lengths
        found = np.empty(0, object)
    if found.dtype.kind not in "biufc":
        raise TypeError(f"{name}: a {kind}, expected an array of numbers")
    return found


def host_vector(v: Any, name: str, length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give a vector in CPU memory, contiguous, of that length and dtype; (length, 1) will do.

    Raises
    ------
    TypeError
        Where `v` is no dense array, or of a dtype that does not become the one wanted.
    ValueError
        Where it is of another shape.
    """
    host = to_numpy(dense(v, name))
    if host.ndim == 2 and host.shape[1] == 1:
        host = host[:, 0]
    if host.shape != (length,):
        raise ValueError(f"{name}: of shape {host.shape}, expected ({length},)")
    if host.dtype.kind not in "biu" and not np.can_cast(host.dtype, dtype, "same_kind"):
        raise TypeError(f"{name}: of dtype {host.dtype}, expected {dtype}")
    return np.ascontiguousarray(host, dtype=dtype)


def copied(x: Any) -> Any:
    """Copy `x` to memory of its own, where it lies."""
    library = library_of(x)
    if library == "torch":
        return x.detach().clone()
    if library == "cupy":
        with x.device:
            return x.copy()
    return np.array(x)


def lend(x: Any) -> Any:
    """Give `x` in the form that the C++ library takes; shares its memory."""
    library = library_of(x)
    if library == "cupy":
        return DeviceArray(
            x.data.ptr, x.dtype.str, x.shape, x.strides, x.device.id, readonly=False, owner=x
        )
    if library == "torch":
        plain = x.detach().resolve_conj().resolve_neg()
        if plain.device.type == "cpu":
            return plain.numpy()
        size = plain.element_size()
        return DeviceArray(
            plain.data_ptr(),
            dtype_of(x).str,
            tuple(plain.shape),
            tuple(s * size for s in plain.stride()),
            plain.device.index or 0,
            readonly=False,
            owner=plain,
        )
    return x


def empty(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any, order: str = "C") -> Any:
    """Make an uninitialised array of the library, and on the device, of `like`."""
    library = library_of(like)
    if library == "cupy":
        import cupy

        with like.device:
            return cupy.empty(shape, dtype, order=order)
    if library == "torch":
        import torch

        kind = getattr(torch, dtype.name)
        if len(shape) == 2 and order == "F":
            return torch.empty(shape[::-1], dtype=kind, device=like.device).T
        return torch.empty(shape, dtype=kind, device=like.device)
    return np.empty(shape, dtype, order="F" if order == "F" else "C")


def on_gpu(x: Any, *, rows_will_do: bool) -> Any:
    """Give `x` as GPUs take it, copied where it lies otherwise.

    With contiguous columns, or with contiguous rows where they will do.
    """
    library = library_of(x)
    if rows_will_do and x.ndim == 2 and library == "torch":
        plain = x.resolve_conj().resolve_neg()
        if plain.stride(1) == 1 and plain.stride(0) >= plain.shape[1]:
            return plain
    if rows_will_do and x.ndim == 2 and library == "cupy":
        row = x.shape[1] * x.itemsize
        if x.strides[1] == x.itemsize and x.strides[0] >= row:
            return x
    if library == "cupy":
        import cupy

        with x.device:
            return cupy.asfortranarray(x)
    if library == "torch":
        plain = x.resolve_conj().resolve_neg()
        if plain.dim() == 1:
            return plain.contiguous()
        return plain if plain.T.is_contiguous() else plain.T.contiguous().T
    return x


def assign(to: Any, values: Any) -> None:
    """Copy `values` into the array `to`, of the same library and device."""
    if library_of(to) == "cupy":
        with to.device:
            to[...] = values
    else:
        to[...] = values


def as_dtype(x: Any, dtype: np.dtype[Any]) -> Any:
    """Convert the elements of `x`; `x` itself where they are of that dtype."""
    if library_of(x) == "torch":
        import torch

        return x.to(getattr(torch, dtype.name))
    if library_of(x) == "cupy":
        with x.device:
            return x.astype(dtype, copy=False)
    return x.astype(dtype, copy=False)


def to_numpy(x: Any) -> NDArray[Any]:
    """Give `x` in CPU memory, copied from a GPU's."""
    library = library_of(x)
    if library == "cupy":
        with x.device:
            return np.asarray(x.get())
    if library == "torch":
        return np.asarray(x.detach().resolve_conj().resolve_neg().cpu().numpy())
    return np.asarray(x)


def from_numpy(x: NDArray[Any], like: Any) -> Any:
    """Give `x` as an array of the library, and on the device, of `like`."""
    library = library_of(like)
    if library == "cupy":
        import cupy

        with cupy.cuda.Device(like.device.id):
            return cupy.asarray(x)
    if library == "torch":
        import torch

        return torch.from_numpy(x).to(like.device)
    return x

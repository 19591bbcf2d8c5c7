"""Arrays of NumPy, CuPy, PyTorch and JAX, lent to the C++ library where they lie.

JAX's arrays do not change: those in CPU memory are read as NumPy's, and results are given as new
ones. JAX tells no one its streams: what it computes on a GPU is waited for, and so are results.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero

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
    if name in ("jax", "jaxlib"):
        return "jax"
    return name if name in ("cupy", "torch") else "numpy"


def device_of(x: Any) -> int:
    """Tell on which GPU `x` lies; -1 for CPU memory."""
    library = library_of(x)
    if library == "cupy":
        return int(x.device.id)
    if library == "torch" and x.device.type == "cuda":
        return int(x.device.index or 0)
    if library == "jax":
        return _device_of_jax(x)
    return -1


def _device_of_jax(x: Any) -> int:
    import jax

    if isinstance(x, jax.core.Tracer):
        raise TypeError(
            "an array that JAX traces, as within jax.jit, has no elements yet; expected one "
            "outside, or within jax.pure_callback"
        )
    devices = list(x.devices())
    if len(devices) != 1:
        raise TypeError(f"an array of JAX on {len(devices)} devices, expected one")
    if devices[0].platform == "cpu":
        return -1
    if devices[0].platform not in ("gpu", "cuda"):
        raise TypeError(f"an array of JAX on {devices[0]}, expected a CPU or a GPU of NVIDIA's")
    return int(devices[0].local_hardware_id)


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
    if library == "jax":
        if hasattr(x, "todense"):
            raise TypeError(f"{name}: a sparse {kind}, expected a dense array")
        try:
            return x if device_of(x) >= 0 else np.asarray(x)
        except TypeError as e:
            raise TypeError(f"{name}: {e}") from None
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
    if library == "jax" and device_of(x) >= 0:
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
    if library == "jax" and device_of(x) >= 0:
        x.block_until_ready()
        return DeviceArray(
            x.unsafe_buffer_pointer(),
            np.dtype(x.dtype).str,
            tuple(x.shape),
            None,
            device_of(x),
            readonly=False,  # results are lent before anyone else has them
            owner=x,
        )
    return np.asarray(x) if library == "jax" else x


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
    if library == "jax" and device_of(like) >= 0:
        return from_numpy(np.zeros(shape, dtype), like)
    return np.empty(shape, dtype, order="F" if order == "F" else "C")


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> Any:
    """Make an array of zeros of the library, and on the device, of `like`; it is no one else's."""
    x = empty(shape, dtype, like)
    if library_of(x) != "jax":  # which has no other
        assign(x, 0)
    return x


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
    if library == "jax" and x.ndim == 2 and x.shape[1] > 1 and not rows_will_do:
        raise TypeError("a matrix of JAX on a GPU, expected one vector: this product takes columns")
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
    if library_of(x) == "jax" and device_of(x) >= 0:
        found = x.astype(dtype)
        if found.dtype != dtype:
            raise TypeError(f"JAX has no {dtype} here: set jax_enable_x64")
        return found
    return np.asarray(x).astype(dtype, copy=False)


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
    if library == "jax":
        import jax

        return jax.device_put(x, next(iter(like.devices())))
    return x


def finished(x: Any, like: Any) -> Any:
    """Give a result as an array of the library of `like`, for which `empty` was asked."""
    if library_of(like) != "jax":
        return x
    if library_of(x) != "jax":
        return from_numpy(x, like)
    _nonzero.synchronize(device_of(x))
    return x

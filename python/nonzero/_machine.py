"""Methods and GPUs that this build and this machine offer."""

from __future__ import annotations

from nonzero import _nonzero
from nonzero._nonzero import DeviceError, Unavailable

__all__ = ["DeviceError", "Unavailable", "__version__", "gpu_count", "methods"]

__version__: str = _nonzero.version


def gpu_count() -> int:
    """Count the GPUs that can be used; 0 without a driver.

    Examples
    --------
    >>> import nonzero as nz
    >>> nz.gpu_count() >= 0
    True
    """
    return int(_nonzero.gpu_count())


def methods(device: str = "cpu") -> list[str]:
    """List the methods that multiply on a device, "cpu" or "gpu".

    Examples
    --------
    >>> import nonzero as nz
    >>> "csr.merge" in nz.methods()
    True
    """
    if device not in ("cpu", "gpu"):
        raise ValueError(f"device: {device!r}, expected 'cpu' or 'gpu'")
    return list(_nonzero.methods(device == "gpu"))

"""Where the C interface of the package lies, for compilers."""

from __future__ import annotations

from pathlib import Path

from nonzero import _nonzero

__all__ = ["get_include", "get_library"]


def _installed(name: str) -> str:
    path = Path(_nonzero.__file__).parent / name
    if not path.exists():
        raise FileNotFoundError(f"{path}: the package was built without its C interface")
    return str(path)


def get_include() -> str:
    """Return the folder of ``nonzero.h``, and of the Fortran module ``nonzero.f90``.

    >>> import os, nonzero as nz
    >>> sorted(os.listdir(nz.get_include()))
    ['nonzero.f90', 'nonzero.h']
    """
    return _installed("include")


def get_library() -> str:
    """Return the path of ``libnonzero_c.so.1``, the C interface: a file to link with.

    Programs find it again by an rpath: ``cc solve.c -I$include $library
    -Wl,-rpath,$(dirname $library)``. Languages that open libraries at run time take the path as it
    is.

    >>> import ctypes, nonzero as nz
    >>> ctypes.CDLL(nz.get_library()).nz_abi_version()
    1
    """
    return _installed("lib/libnonzero_c.so.1")

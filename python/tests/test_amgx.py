"""AmgX's interface within the package."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from nonzero import amgx


def installed() -> Path:
    try:
        return Path(amgx.install_path())
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def test_header_and_library_are_where_packages_look() -> None:
    folder = installed()
    assert "AMGX_solver_create" in (folder / "include" / "amgx_c.h").read_text("utf-8")
    library = ctypes.CDLL(str(folder / "build" / "libamgxsh.so"))
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert library.AMGX_get_api_version(ctypes.byref(major), ctypes.byref(minor)) == 0
    assert (major.value, minor.value) == (1, 0)

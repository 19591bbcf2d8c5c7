"""AmgX's C interface, for programs that were written for AmgX: header and library of this package.

A package that is built against AmgX is told of both by environment variables of its own. For
``jaxamg`` these are ``AMGX_ROOT`` and ``AMGX_BUILD``, for ``pyamgx`` ``AMGX_DIR`` and
``AMGX_BUILD_DIR``, for ``torch-fem``, which opens the library itself, ``AMGX_DLL``::

    export AMGX_ROOT=$(python -c "import nonzero.amgx as a; print(a.install_path())")
    export AMGX_BUILD=$AMGX_ROOT/build
    pip install --no-build-isolation jaxamg
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["install_path"]


def install_path() -> str:
    """Return the folder in which ``include/amgx_c.h`` and ``build/libamgxsh.so`` are.

    Raises
    ------
    FileNotFoundError
        This package was built without them (``-DNONZERO_AMGX=OFF``).
    """
    folder = Path(__file__).parent / "_amgx"
    if not (folder / "build" / "libamgxsh.so").exists():
        raise FileNotFoundError(f"{folder}: this nonzero was built without libamgxsh.so")
    return str(folder)

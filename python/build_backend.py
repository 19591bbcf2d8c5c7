"""scikit-build-core, after a look at whether this machine has what the library is built from.

On a Debian or Ubuntu without a compiler or the libraries, and as root, they are installed by
scripts/setup, which asks nothing. Anyone else is told what to install.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

get_requires_for_build_editable = _backend.get_requires_for_build_editable
prepare_metadata_for_build_editable = _backend.prepare_metadata_for_build_editable


def _setup() -> None:
    """Install what the C++ build needs, where this process may; scripts/setup says what it is."""
    if os.geteuid() == 0 and Path("/etc/debian_version").exists():
        subprocess.run([str(Path(__file__).parents[1] / "scripts" / "setup")], check=True)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel, PEP 517."""
    _setup()
    return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build an editable wheel, PEP 660."""
    _setup()
    return _backend.build_editable(wheel_directory, config_settings, metadata_directory)

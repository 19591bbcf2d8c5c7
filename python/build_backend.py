"""scikit-build-core, after a look at whether this machine has what the library is built from.

On a Debian or Ubuntu without a compiler or the libraries, and as root, they are installed by
scripts/setup, which asks nothing. Anyone else is told by CMake what is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
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


def _setup() -> None:
    """Install what the C++ build needs, where this process may; scripts/setup says what it is."""
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        return
    packages = []
    if sys.base_prefix == "/usr" and not Path(sysconfig.get_path("include"), "Python.h").exists():
        packages.append(f"libpython3.{sys.version_info.minor}-dev")
    script = Path(__file__).parents[1] / "scripts" / "setup"
    subprocess.run([str(script), *packages], check=True)


# Both are asked before scikit-build-core looks for CMake and Ninja, and asks for them where it
# finds none.
def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Say what else building a wheel needs, PEP 517."""
    _setup()
    return _backend.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Say what else building an editable wheel needs, PEP 660."""
    _setup()
    return _backend.get_requires_for_build_editable(config_settings)


# Without build isolation nobody asks the two above.
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

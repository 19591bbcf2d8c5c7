"""scikit-build-core, and where the build fails a word on what this machine lacks for it.

Nothing is installed here: scripts/setup does that, for those who ask it to.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scikit_build_core import build as _backend
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
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

SETUP = Path(__file__).resolve().parents[1] / "scripts" / "setup"

#: Packages of scripts/setup that building the extension module does without; CMake and Ninja come
#: from PyPI where the machine has none.
NOT_NEEDED = {"cmake", "libcli11-dev", "libgtest-dev", "ninja-build"}


def missing_packages() -> list[str]:
    """List the Debian packages that the build needs and this machine lacks.

    Empty where nothing is missing, and on a machine of which scripts/setup does not know.
    """
    packages = []
    # Debian splits the headers from its Python.
    if sys.base_prefix == "/usr" and not Path(sysconfig.get_path("include"), "Python.h").exists():
        packages.append(f"libpython3.{sys.version_info.minor}-dev")
    told = subprocess.run(
        ["bash", str(SETUP), "--missing", *packages], capture_output=True, text=True, check=False
    )
    if told.returncode != 0:
        return []
    return sorted(set(told.stdout.split()) - NOT_NEEDED)


def _told(build: Callable[..., str], *arguments: Any) -> str:
    """Build; where that fails, list what is missing before the error goes on."""
    try:
        return build(*arguments)
    except BaseException:
        missing = missing_packages()
        if missing:
            print(
                f"nonzero: this machine lacks {', '.join(missing)}.\n"
                f"nonzero: scripts/setup installs what is missing: bash {SETUP}",
                file=sys.stderr,
                flush=True,
            )
        raise


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a wheel, PEP 517."""
    return _told(_backend.build_wheel, wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build an editable wheel, PEP 660."""
    return _told(_backend.build_editable, wheel_directory, config_settings, metadata_directory)

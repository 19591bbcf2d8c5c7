"""scikit-build-core, with a word on what is built for which device, and on what a build lacks.

Compiling for GPUs takes long, and pip shows nothing meanwhile: where nvcc is found but no GPU is,
the build is for the CPU unless CUDA is asked for.

Nothing is installed here: scripts/setup does that, for those who ask it to.
"""

from __future__ import annotations

import os
import shutil
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


def has_nvcc() -> bool:
    """Tell whether CMake would find a CUDA compiler."""
    if os.environ.get("CUDACXX"):
        return True
    path = os.pathsep.join(
        [os.environ.get("PATH", ""), os.path.join(os.environ.get("CUDA_PATH", "/nowhere"), "bin")]
    )
    return shutil.which("nvcc", path=path) is not None


def has_gpu() -> bool:
    """Tell whether the driver lists a GPU."""
    try:
        return (
            subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).returncode == 0
        )
    except OSError:
        return False


def asked_for(config_settings: dict[str, Any], what: str) -> str | None:
    """Give the value of a CMake variable that was asked for, as pip and its environment pass it."""
    for key in (f"cmake.define.{what}", f"skbuild.cmake.define.{what}"):
        if key in config_settings:
            return str(config_settings[key])
    for name in ("CMAKE_ARGS", "SKBUILD_CMAKE_ARGS", "SKBUILD_CMAKE_DEFINE"):
        for word in os.environ.get(name, "").replace(";", " ").split():
            if word.removeprefix("-D").split(":")[0].split("=")[0] == what:
                return word.partition("=")[2]
    return None


NO_CUDA = "pip install . -C cmake.define.NONZERO_CUDA=OFF"
ONE_ARCHITECTURE = (
    "pip install . -C cmake.define.NONZERO_CUDA=ON -C cmake.define.CMAKE_CUDA_ARCHITECTURES=90"
)


def with_device(config_settings: dict[str, Any] | None) -> tuple[dict[str, Any], str]:
    """Give the settings with the choice of CUDA in them, and the line that says it."""
    settings = dict(config_settings or {})
    cuda = asked_for(settings, "NONZERO_CUDA")
    architectures = asked_for(settings, "CMAKE_CUDA_ARCHITECTURES") or os.environ.get("CUDAARCHS")
    if cuda is not None and cuda.upper() in ("OFF", "0", "NO", "FALSE", "N"):
        return settings, "built for the CPU, as asked for"
    if not has_nvcc():
        return settings, "no nvcc here: built for the CPU"
    if cuda is None and architectures is None and not has_gpu():
        settings["cmake.define.NONZERO_CUDA"] = "OFF"
        return settings, (
            "nvcc is here, but no GPU: built for the CPU. For GPUs of one architecture, such as "
            f"compute capability 9.0: {ONE_ARCHITECTURE}"
        )
    if architectures is None:
        architectures = "this machine's GPU" if has_gpu() else "three architectures"
    return settings, (
        f"CUDA is compiled for {architectures}. Three architectures take over a quarter of an "
        f"hour on two cores; pip -v shows how far it is. One architecture: {ONE_ARCHITECTURE}. "
        f"Without CUDA: {NO_CUDA}"
    )


def say(line: str) -> None:
    """Print a line where the user sees it: pip hides what a build prints, but not its terminal."""
    print(f"nonzero: {line}", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        return
    try:
        with open("/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\r\nnonzero: {line}\r\n")
    except OSError:  # there is none
        pass


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
    settings, line = with_device(config_settings)
    say(line)
    return _told(_backend.build_wheel, wheel_directory, settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build an editable wheel, PEP 660."""
    settings, line = with_device(config_settings)
    say(line)
    return _told(_backend.build_editable, wheel_directory, settings, metadata_directory)

"""The files that NONZERO_UNITY compiles as one go together: no name of one file is another's.

Every unit of the library and of the command is read by the compiler, which makes no code of it.

    test/unity_test.py FOLDER [CMAKE-OPTION...]

FOLDER: where CMake configures preset demo with those options, anew each time.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def units(folder: Path) -> list[dict[str, str]]:
    """The compile commands of the units of the library and of the command."""
    entries = json.loads((folder / "compile_commands.json").read_text())
    return [e for e in entries if "/Unity/" in e["file"]]


def complaint(entry: dict[str, str]) -> str:
    """What the compiler says where it does not take the unit."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    done = subprocess.run([*words[:at], "-fsyntax-only", "-Werror", entry["file"]],
                          cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main() -> int:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cmake", "--preset", "demo", "-B", folder, *sys.argv[2:]], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    all_ = units(folder)
    failed = [said for said in map(complaint, all_) if said]
    print(*failed, sep="\n")
    print(f"unity: {len(all_)} units, {len(failed)} that do not compile")
    return len(failed) if len(all_) > 20 else 1


if __name__ == "__main__":
    sys.exit(main())

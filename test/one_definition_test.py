#!/usr/bin/env python3
"""No two files of the library define a type of one name in one namespace.

Two headers that are never included together may, and every compiler takes them. But what is made of
such a type by a template, as a kernel is, has one name for the linker, which keeps one of the two.

    test/one_definition_test.py
"""

from __future__ import annotations

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = re.compile(r"namespace ([a-z_:]*) ?\{")
END = re.compile(r"\}  // namespace ?([a-z_:]*)$")
TYPE = re.compile(r"(?:struct|class|enum class) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: :.*)? ?\{")


def types_of(path: Path) -> set[str]:
    """The types that a file defines, with their namespaces, but for those in nameless ones."""
    spaces: list[str] = []
    types = set()
    for line in path.read_text().splitlines():
        if opened := NAMESPACE.match(line):
            spaces.append(opened.group(1))
        elif END.match(line) and spaces:
            spaces.pop()
        elif (defined := TYPE.match(line)) and spaces and "" not in spaces:
            types.add("::".join([*spaces, defined.group(1)]))
    return types


def main() -> int:
    """How many names have two definitions."""
    files: dict[str, list[str]] = collections.defaultdict(list)
    for path in sorted((ROOT / "nonzero").rglob("*")):
        # Tests are programs of their own; files without CUDA take the place of others.
        if path.suffix not in (".hpp", ".cuh", ".cpp", ".cu") or path.stem.endswith(
                ("_test", "_absent")):
            continue
        for name in types_of(path):
            files[name].append(str(path.relative_to(ROOT)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name}: defined in {' and in '.join(where)}")
    print(f"one_definition: {len(files)} types, {len(twice)} defined twice")
    return len(twice) if len(files) > 100 else 1


if __name__ == "__main__":
    sys.exit(main())

"""An example's output against examples/README.md, which tells how it is started.

Run as ``test/examples_test.py PROGRAM``, in the repository's folder. Iterations differ with the
order of sums, and methods with the machine's plan: those words alone may be others than there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = re.compile(r"^```\n\$ build/dev/examples/(\w+)(.*)\n((?:(?!```).*\n)*)```$", re.M)
DEPENDS = re.compile(r"\d+ iterations|with: \d+|without: \d+|by [a-z_]+\.[a-z_0-9]+")


def fixed(text: str) -> str:
    """The text without the words that depend on the machine."""
    return DEPENDS.sub(lambda found: re.sub(r"\S*[\d.]\S*", "~", found[0]), text)


def main(program: Path) -> int:
    text = (ROOT / "examples" / "README.md").read_text()
    told = {name: (arguments.split(), output) for name, arguments, output in SHOWN.findall(text)}
    if program.name not in told:
        print(f"examples/README.md tells no output of {program.name}")
        return 1
    arguments, expected = told[program.name]
    done = subprocess.run(
        [program, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    print(done.stdout, done.stderr, sep="", end="")
    if done.returncode != 0 or fixed(done.stdout) != fixed(expected):
        print(f"exit {done.returncode}; examples/README.md has:\n{expected}", end="")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

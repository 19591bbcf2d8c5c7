"""The library exports what its header declares and no more; docs/amgx.md runs and has its keys."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

library, root = sys.argv[1], pathlib.Path(sys.argv[2])

header = (root / "amgx/amgx_c.h").read_text()
declared = set(re.findall(r"^AMGX_API \w+ (AMGX_\w+)\(", header, re.M))
lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                       check=True).stdout.splitlines()
exported = {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in "TtBDRW"}
assert declared == exported, f"only one of both: {sorted(declared ^ exported)}"

with tempfile.NamedTemporaryFile() as file:
    keys = 2  # AMGX_GET_PARAMS_DESC_TEXT_TO_FILE
    assert ctypes.CDLL(library).AMGX_write_parameters_description(file.name.encode(), keys) == 0
    told = dict(line.split(": ", 1) for line in pathlib.Path(file.name).read_text().splitlines())
page = (root / "docs/amgx.md").read_text()
table = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", page.split("## Configurations")[1], re.M))
wrong = sorted(key for key in told.keys() | table.keys() if told.get(key) != table.get(key))
assert not wrong, f"docs/amgx.md and amgx/keys.cpp differ: {wrong}"

program, = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
folder = pathlib.Path(library).parent
with tempfile.TemporaryDirectory() as scratch:
    source, built = pathlib.Path(scratch, "program.c"), pathlib.Path(scratch, "program")
    source.write_text(program)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c99", "-pedantic", "-Wall", "-Werror", source,
                    "-I", root / "amgx", "-L", folder, "-lamgxsh", f"-Wl,-rpath,{folder}", "-o",
                    built, *os.environ.get("NZ_LINK", "").split()], check=True)
    subprocess.run([built], check=True, timeout=60)

"""Instructions of one product on arm64, of plain loops and of those in NEON, counted under qemu.

    python3 bench/arm_instructions.py --output bench/results/arm64-qemu/instructions.json

Wants the library that scripts/arm-check built. It stands in for times where there is no arm64: an
instruction says nothing of caches, of memory or of how many run at once.

The loops and bench/arm_instructions.cpp are compiled at -O2 into one program, which the library of
build/arm64 serves with all else: as they are, and with __aarch64__ undefined, which leaves the
plain loops. qemu runs instruction by instruction and logs each that lies in the program's own text;
a run of two products less one of one product are a product's. A run takes 10 to 40 s."""

import argparse
import datetime
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "arm64"
ARM_ROOT = (ROOT / "build" / "arm64-root").resolve()
COMPILER = "aarch64-linux-gnu-g++"
FLAGS = [
    *("-std=c++20", "-O2", "-ffp-contract=off", "-fopenmp", "-no-pie"),
    *(f"-I{ROOT}", f"--sysroot={ARM_ROOT}", "-Wno-psabi"),
]
LOOPS = [
    *("bsr/bsr.cpp", "bsr/bsr_simd.cpp", "csr/csr.cpp", "csr/csr_many.cpp", "sell/sell.cpp"),
    *("packed/spmm/row_major.cpp", "packed/spmv/simd.cpp", "packed/spmv/spmv.cpp"),
    *("simd/rows.cpp", "simd/simd.cpp"),
]
CASES = [
    ("csr.serial", "stencil_27"),
    ("packed.warp", "random_16"),
    ("packed.warp", "stencil_27"),
]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build(folder, name, more):
    """The program's path, and where its text lies, as qemu's filter wants it."""
    objects = []
    for file in [f"nonzero/formats/{loop}" for loop in LOOPS] + ["bench/arm_instructions.cpp"]:
        plain = more if file.startswith("nonzero") else []
        objects.append(folder / f"{name}.{file.replace('/', '.')}.o")
        run(COMPILER, *FLAGS, *plain, "-c", ROOT / file, "-o", objects[-1])
    program = folder / name
    library = [BUILD / "libnonzero.a", "-lfmt", "-lz", "-lpng", "-lzip"]
    run(COMPILER, *FLAGS, *objects, *library, "-o", program)
    for line in run("aarch64-linux-gnu-objdump", "-h", program).splitlines():
        words = line.split()
        if len(words) > 3 and words[1] == ".text":
            return program, f"0x{words[3]}+0x{words[2]}"
    raise SystemExit("a program without text")


def instructions(program, text, method, matrix, products):
    """Those of a run in the program's text, and what it prints."""
    qemu = ["qemu-aarch64-static", "-L", ARM_ROOT, "-singlestep", "-d", "exec,nochain"]
    with tempfile.NamedTemporaryFile() as log:
        told = run(*qemu, "-dfilter", text, "-D", log.name, program, method, matrix, str(products))
        return sum(line.startswith(b"Trace") for line in log), told.split()


def product(program, text, method, matrix):
    one, told = instructions(program, text, method, matrix, 1)
    two, _ = instructions(program, text, method, matrix, 2)
    return two - one, told


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    to = parser.parse_args().output
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = build(folder, "plain", ["-U__aarch64__"])
        neon = build(folder, "neon", [])
        for method, matrix in CASES:
            before, told = product(*plain, method, matrix)
            after, same = product(*neon, method, matrix)
            rows, entries = int(told[0]), int(told[1])
            results.append(
                {
                    **{"method": method, "matrix": matrix, "rows": rows, "entries": entries},
                    **{"plain": before, "neon": after, "same_bits": told[2] == same[2]},
                }
            )
            print(results[-1], flush=True)
    written = {
        "counted": "instructions of one product in the program's text, under qemu -singlestep",
        "stands_for": "speed, which was not measured: no arm64 was at hand",
        "compiler": run(COMPILER, "--version").splitlines()[0],
        "flags": "-O2 -ffp-contract=off",
        "qemu": run("qemu-aarch64-static", "--version").splitlines()[0],
        "commit": run("git", "-C", ROOT, "rev-parse", "--short=12", "HEAD").strip(),
        "date": datetime.date.today().isoformat(),
        "results": results,
    }
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()

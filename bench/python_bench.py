#!/usr/bin/env python3
"""The Python package beside SciPy, PyAMG, CuPy and PyTorch, in one run on one machine.

    unpack.py /tmp/matrices                                        the thirty matrices, as .npz
    bench/python_bench.py /tmp/matrices --threads 2 --json bench/results/MACHINE/python.json
    bench/python_bench.py /tmp/matrices --device gpu --json bench/results/MACHINE/python.json

A product is timed in blocks that take turns, ours and theirs; the smallest time of a block counts.
On a GPU a block ends with a synchronisation, and its calls follow each other in one stream, as in
a solver. What is not installed is left out, and the JSON says so.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import inspect
import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

BLOCKS, BLOCK_S = 7, 0.02


def seconds_of(f, synchronise=lambda: None):
    """The time of one call, in a block of some 20 ms."""
    start = time.perf_counter()
    f()
    synchronise()
    once = time.perf_counter() - start
    count = max(1, min(20000, int(BLOCK_S / max(once, 1e-7))))
    start = time.perf_counter()
    for _ in range(count):
        f()
    synchronise()
    return (time.perf_counter() - start) / count


def in_turns(functions, synchronise=lambda: None):
    """The smallest time of each, the blocks taking turns."""
    for f in functions.values():
        for _ in range(3):
            f()
    synchronise()
    best = dict.fromkeys(functions, math.inf)
    for _ in range(BLOCKS):
        for name, f in functions.items():
            best[name] = min(best[name], seconds_of(f, synchronise))
    return best


def measure_import():
    """`import nonzero` in a fresh process, the median of 15."""
    code = ("import time; s = time.perf_counter(); import nonzero; "
            "print(time.perf_counter() - s)")
    times = sorted(float(subprocess.run([sys.executable, "-c", code], capture_output=True,
                                        text=True, check=True).stdout) for _ in range(15))
    return {"import_s": times[len(times) // 2], "import_max_s": times[-1]}


def measure_calls(threads):
    """A product with 10 rows: the package's call, and the library's own."""
    import numpy as np
    import nonzero as nz
    import scipy.sparse as sp

    A = sp.random_array((10, 10), density=0.3, format="csr", rng=np.random.default_rng(1))
    op = nz.plan(A, threads=threads)
    x, y = np.ones(10), np.ones(10)
    times = in_turns({"matmul": lambda: op @ x, "apply": lambda: op.apply(x, out=y),
                      "scipy": lambda: A @ x})
    own = nz.bench(A, methods=[op.plan.method], threads=threads, seconds=0.3).results[0]
    return {"method": op.plan.method, "matmul_s": times["matmul"], "apply_out_s": times["apply"],
            "scipy_s": times["scipy"], "library_s": own["min_s"]}


def load(path):
    """The matrix in float64, as the file has it."""
    import scipy.sparse as sp

    return sp.csr_array(sp.load_npz(path)).astype(float)


def measure_products_cpu(paths, threads):
    """op @ x beside SciPy's A @ x, and PyTorch's on the CPU where it is there."""
    import numpy as np
    import nonzero as nz

    torch = found("torch")
    if torch is not None:
        torch.set_num_threads(threads)
    rows = []
    for path in paths:
        A = load(path)
        op = nz.plan(A, threads=threads)
        x = np.random.default_rng(1).standard_normal(A.shape[1])
        error = float(np.abs(op @ x - A @ x).max() / np.abs(A @ x).max())
        functions = {"nonzero": lambda: op @ x, "scipy": lambda: A @ x}
        if torch is not None:
            T = torch.sparse_csr_tensor(A.indptr, A.indices, A.data, A.shape)
            t = torch.from_numpy(x)
            functions["torch"] = lambda: T @ t
        rows.append({"matrix": path.stem, "method": op.plan.method, "error": error,
                     **{f"{k}_s": v for k, v in in_turns(functions).items()}})
        print_ratio(rows[-1])
    return rows


def measure_products_gpu(paths):
    """op @ x beside CuPy's and PyTorch's products, arrays on the GPU."""
    import cupy
    import cupyx.scipy.sparse as csp
    import numpy as np
    import nonzero as nz

    torch = found("torch")
    rows = []
    for path in paths:
        A = load(path)
        C = csp.csr_matrix((cupy.asarray(A.data), cupy.asarray(A.indices.astype(np.int32)),
                            cupy.asarray(A.indptr.astype(np.int32))), shape=A.shape)
        op = nz.plan(C)
        x = cupy.asarray(np.random.default_rng(1).standard_normal(A.shape[1]))
        error = float(abs(op @ x - C @ x).max() / abs(C @ x).max())
        functions = {"nonzero": lambda: op @ x, "cupy": lambda: C @ x}
        synchronise = cupy.cuda.runtime.deviceSynchronize
        if torch is not None:
            T = torch.sparse_csr_tensor(
                torch.from_numpy(A.indptr.astype(np.int32)),
                torch.from_numpy(A.indices.astype(np.int32)), torch.from_numpy(A.data), A.shape
            ).to("cuda")
            t = torch.from_numpy(x.get()).to("cuda")
            functions["nonzero_torch"] = lambda: op @ t
            functions["torch"] = lambda: T @ t
        rows.append({"matrix": path.stem, "method": op.plan.method, "error": error,
                     **{f"{k}_s": v for k, v in in_turns(functions, synchronise).items()}})
        print_ratio(rows[-1])
    return rows


def print_ratio(row):
    ours = row["nonzero_s"]
    ratios = " ".join(f"{k[:-2]} {row[k] / ours:.2f}x" for k in row
                      if k.endswith("_s") and not k.startswith("nonzero"))
    print(f"{row['matrix']:28} {row['method']:18} {ours * 1e6:10.1f} us  {ratios}", flush=True)


def measure_poisson_cpu(threads, n=100, rounds=3):
    """Poisson n^3 to 1e-8, setup and solve: nz.solve beside PyAMG's smoothed aggregation, CG."""
    import numpy as np
    import nonzero as nz

    pyamg = found("pyamg")
    if pyamg is None:
        return None
    A = nz.generate.laplace3d(n)
    b = np.random.default_rng(1).standard_normal(A.shape[0])
    ours, theirs = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        r = nz.solve(A, b, tol=1e-8, threads=threads)
        ours.append(time.perf_counter() - start)
        import scipy.sparse as sp

        M = sp.csr_matrix(A)
        start = time.perf_counter()
        x = pyamg.smoothed_aggregation_solver(M).solve(b, tol=1e-8, accel="cg")
        theirs.append(time.perf_counter() - start)
    residual = lambda v: float(np.linalg.norm(b - A @ v) / np.linalg.norm(b))
    return {"n": n, "nonzero_s": min(ours), "pyamg_s": min(theirs), "iterations": r.iterations,
            "method": r.method, "preconditioner": r.preconditioner,
            "residual": residual(r.x), "pyamg_residual": residual(x)}


def measure_poisson_gpu(n=100, rounds=3):
    """Poisson n^3 to 1e-8 from CuPy arrays, the solve alone: nz.solve beside CuPy's cg."""
    import cupy
    import cupyx.scipy.sparse as csp
    import cupyx.scipy.sparse.linalg as cla
    import numpy as np
    import nonzero as nz

    A = nz.generate.laplace3d(n)
    C = csp.csr_matrix((cupy.asarray(A.data), cupy.asarray(A.indices), cupy.asarray(A.indptr)),
                       shape=A.shape)
    b = cupy.asarray(np.random.default_rng(1).standard_normal(A.shape[0]))
    # CuPy 14 names it as SciPy does now.
    name = "rtol" if "rtol" in inspect.signature(cla.cg).parameters else "tol"
    tolerance, ours, theirs = {name: 1e-8}, [], []
    for _ in range(rounds):
        r = nz.solve(C, b, tol=1e-8)
        ours.append(r.solve_s)
        cupy.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        x, info = cla.cg(C, b, **tolerance)
        cupy.cuda.runtime.deviceSynchronize()
        theirs.append(time.perf_counter() - start)
    residual = lambda v: float(cupy.linalg.norm(b - C @ v) / cupy.linalg.norm(b))
    return {"n": n, "nonzero_s": min(ours), "setup_s": r.setup_s, "cupy_cg_s": min(theirs),
            "iterations": r.iterations, "method": r.method, "preconditioner": r.preconditioner,
            "residual": residual(r.x), "cupy_residual": residual(x), "cupy_info": int(info)}


def found(name):
    """The module of that name, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def versions():
    """Versions of the libraries compared."""
    known = {}
    for name in ("numpy", "scipy", "cupy", "torch", "pyamg", "nonzero"):
        module = found(name)
        known[name] = getattr(module, "__version__", None)
    return known


def commit():
    """The commit of this file's repository, with a mark where it has changes."""
    here = Path(__file__).parent
    run = lambda *a: subprocess.run(["git", *a], cwd=here, capture_output=True, text=True)
    head = run("rev-parse", "--short=12", "HEAD")
    if head.returncode != 0:
        return ""
    return head.stdout.strip() + ("+" if run("status", "--porcelain", "-uno").stdout else "")


def machine(device):
    """The name of the GPU, or of the processor."""
    if device == "gpu":
        import cupy

        return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("matrices", type=Path, help="the folder of the .npz")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--commit", default=commit(), help="of the package, for the JSON")
    parser.add_argument("--note", default="", help="what the machine was doing, for the JSON")
    o = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(o.threads)
    paths = sorted(o.matrices.glob("*.npz"))
    result = {"command": f"bench/python_bench.py --device {o.device}", "commit": o.commit,
              "date": datetime.date.today().isoformat(), "machine": machine(o.device),
              "threads": o.threads, "note": o.note, "versions": versions(), **measure_import()}
    if o.device == "cpu":
        result["calls"] = measure_calls(o.threads)
        result["products"] = measure_products_cpu(paths, o.threads)
        result["poisson"] = measure_poisson_cpu(o.threads)
    else:
        result["products"] = measure_products_gpu(paths)
        result["poisson"] = measure_poisson_gpu()
    print(json.dumps({k: v for k, v in result.items() if k != "products"}, indent=1))
    if o.json:
        o.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

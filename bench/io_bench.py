#!/usr/bin/env python3
"""Reading Matrix Market files: nonzero (into CSR) beside SciPy's fast_matrix_market (into COO, and into CSR).

    cmake --preset release -DNONZERO_BENCH=ON && cmake --build build/release --target read_bench
    bench/io_bench.py build/release/read_bench --json bench/results/MACHINE/io.json

Files of several kinds and sizes are written to a temporary folder and stay in the page cache. Every
measurement is a process of its own; the readers take turns, and the median of the rounds counts.
CPU is the processor time of all threads, which a busy machine disturbs less. Memory is the growth of the
process's peak, over the bytes of the CSR arrays.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import scipy
import scipy.sparse as sp

SCIPY = """
import json, sys, time
import numpy, scipy.sparse, scipy.io._fast_matrix_market as fmm
path, fmm.PARALLELISM = sys.argv[1], int(sys.argv[2])
peak = lambda: int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) * 1024
import scipy.io._fast_matrix_market._fmm_core
before = peak()
start, cpu = time.perf_counter(), time.process_time()
A = fmm.mmread(path)
coo, coo_cpu = time.perf_counter() - start, time.process_time() - cpu
A = A.tocsr()
print(json.dumps(dict(coo=coo, coo_cpu=coo_cpu, csr=time.perf_counter() - start, peak_bytes=peak() - before)))
"""


def entries(megabytes, line_bytes):
    return int(megabytes * 1e6 / line_bytes)


def write_file(path, kind, megabytes, rng):
    """Writes about as many megabytes; rows of 10 entries on average."""
    import scipy.io._fast_matrix_market as fmm

    n = max(entries(megabytes, {"real": 34, "real, shuffled": 34}.get(kind, 14)), 10)
    size = max(n // 10, 1)
    row, col = rng.integers(0, size, n), rng.integers(0, size, n)
    data, field, symmetry = rng.standard_normal(n), "real", "general"
    if kind == "pattern, symmetric":
        row, col, data, field, symmetry = np.maximum(row, col), np.minimum(row, col), np.ones(n), "pattern", "symmetric"
    elif kind == "integer":
        data, field = rng.integers(-99, 100, n), "integer"
    if kind != "real, shuffled":
        order = np.lexsort((col, row))
        row, col, data = row[order], col[order], data[order]
    fmm.mmwrite(path, sp.coo_matrix((data, (row, col)), shape=(size, size)), field=field, symmetry=symmetry)


def cpu_model():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return model[1] if model else os.uname().machine


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(reader, path, threads, rounds):
    """The median seconds of each reader, and its peak memory."""
    ours, scipys = [], []
    for _ in range(rounds):
        ours.append(run([reader, path, str(threads), "double"]))
        scipys.append(run([sys.executable, "-c", SCIPY, path, str(threads)]))
    median = lambda of, key: statistics.median(r[key] for r in of)
    csr_bytes = ours[0]["csr_bytes"]
    return {
        "megabytes": os.path.getsize(path) / 1e6,
        "nnz": ours[0]["nnz"],
        "threads": threads,
        "nonzero_s": median(ours, "seconds"),
        "nonzero_cpu_s": median(ours, "cpu"),
        "scipy_coo_cpu_s": median(scipys, "coo_cpu"),
        "scipy_coo_s": median(scipys, "coo"),
        "scipy_csr_s": median(scipys, "csr"),
        "nonzero_peak_over_csr": median(ours, "peak_bytes") / csr_bytes,
        "scipy_peak_over_csr": median(scipys, "peak_bytes") / csr_bytes,
    }


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("reader", help="the read_bench executable")
    parse.add_argument("--json", help="where the results go")
    parse.add_argument("--megabytes", default="10,100,300")
    parse.add_argument("--threads", default="1,2")
    parse.add_argument("--rounds", type=int, default=5)
    o = parse.parse_args()
    rng, results = np.random.default_rng(1), []
    print(f"{'file':20} {'MB':>6} {'threads':>7} {'nonzero':>9} {'SciPy COO':>9} {'SciPy CSR':>9} "
          f"{'x COO':>6} {'x CSR':>6} {'x CPU':>6} {'memory':>7} {'SciPy':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("real", "real, shuffled", "pattern, symmetric", "integer"):
            for megabytes in o.megabytes.split(","):
                path = f"{folder}/A.mtx"
                write_file(path, kind, float(megabytes), rng)
                for threads in o.threads.split(","):
                    r = {"file": kind, **measure(o.reader, path, int(threads), o.rounds)}
                    results.append(r)
                    print(f"{kind:20} {r['megabytes']:6.0f} {threads:>7} {r['nonzero_s']:7.3f} s {r['scipy_coo_s']:7.3f} s "
                          f"{r['scipy_csr_s']:7.3f} s {r['scipy_coo_s'] / r['nonzero_s']:6.2f} "
                          f"{r['scipy_csr_s'] / r['nonzero_s']:6.2f} "
                          f"{r['scipy_coo_cpu_s'] / r['nonzero_cpu_s']:6.2f} {r['nonzero_peak_over_csr']:7.2f} "
                          f"{r['scipy_peak_over_csr']:7.2f}", flush=True)
                os.remove(path)
    if o.json:
        os.makedirs(os.path.dirname(o.json), exist_ok=True)
        with open(o.json, "w") as f:
            json.dump({"command": "bench/io_bench.py", "machine": cpu_model(),
                       "cores": os.cpu_count(), "scipy": scipy.__version__, "rounds": o.rounds,
                       "results": results}, f, indent=1)
            f.write("\n")


main()

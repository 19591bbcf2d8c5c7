#!/usr/bin/env python3
"""Eigenpairs: nz eigs beside ARPACK by SciPy's eigsh, on twelve problems.

    unpack.py /tmp/matrices                                 the real matrices, as .npz
    bench/eigs_bench.py build/release/nz /tmp/matrices --json bench/results/MACHINE/eigs.json

Both look for the same six pairs to residuals of 1e-8 of |A|: ARPACK's tolerance is relative to the eigenvalue, so it
gets 1e-8 |A| / |lambda|. Every measurement is a process of its own; the two take turns, and the smallest time of the
rounds counts, of the wall and of the processor each. nz's is that of its plan, its layout, its preconditioner and its
search; SciPy's that of eigsh. What either found is held against the other: a pair is missing where a value that the
other has does not come as often.
"""
import argparse
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import scipy
import scipy.sparse as sp

COUNT, TOL = 6, 1e-8

SCIPY = """
import json, sys, time
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sla
path, which, count, tol, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
A, products = sp.load_npz(path).tocsr(), 0
def multiply(x):
    global products
    products += 1
    return A @ x
op = sla.LinearOperator(A.shape, matvec=multiply, dtype=float)
import signal
def give_up(*_):
    print(json.dumps(dict(gave_up=True, wall=time.perf_counter() - start, cpu=time.process_time() - cpu)))
    sys.exit()
signal.signal(signal.SIGALRM, give_up)
start, cpu = time.perf_counter(), time.process_time()
signal.alarm(seconds)
w, v = sla.eigsh(op, count, which=which, tol=tol)
signal.alarm(0)
wall, cpu = time.perf_counter() - start, time.process_time() - cpu
order = np.argsort(w if which == "SA" else -w)
residuals = [float(np.linalg.norm(A @ v[:, k] - w[k] * v[:, k])) for k in order]
print(json.dumps(dict(wall=wall, cpu=cpu, products=products, values=[float(w[k]) for k in order],
                      residuals=residuals)))
"""


def problems(folder):
    """name, which end, the matrix: a function, so that one at a time is held."""
    load = lambda name: sp.load_npz(f"{folder}/{name}.npz").tocsr().astype(float)

    def graph(name):
        A = load(name)
        A = (A + A.T).tocsr()
        A.setdiag(0)
        A.eliminate_zeros()
        A.data[:] = 1
        return A

    def laplacian(name):
        A = graph(name)
        return (sp.diags(np.asarray(A.sum(axis=1)).ravel()) - A).tocsr()

    def grid(n):
        T = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
        return sp.kronsum(T, T).tocsr()

    def equal_parts():
        A = sp.random(5000, 5000, 0.0008, random_state=np.random.default_rng(1))
        A = (A + A.T).tocsr()
        A.setdiag(0)
        A.eliminate_zeros()
        A.data[:] = 1
        return sp.kron(sp.eye(8), A).tocsr()

    def clustered(n=50000):
        rng = np.random.default_rng(1)
        d = rng.random(n)
        d[:20] = 1.2 + 1e-4 * np.arange(20)
        A = (sp.diags(d) + 1e-3 * sp.diags([np.ones(n - 1)] * 2, [-1, 1])).tocsr()
        order = rng.permutation(n)
        return A[order][:, order].tocsr()

    return [("lap3d_40", "smallest", lambda: load("lap3d_40")),
            ("lap3d_40", "largest", lambda: load("lap3d_40")),
            ("minus lap3d_40", "smallest", lambda: -load("lap3d_40")),
            ("grid 300 x 300", "largest", lambda: grid(300)),
            ("grid 300 x 300", "smallest", lambda: grid(300)),
            ("bcsstk17 graph", "largest", lambda: graph("bcsstk17")),
            ("CA-HepPh graph", "largest", lambda: graph("CA-HepPh")),
            ("finan512 graph", "largest", lambda: graph("finan512_graph")),
            ("mdual Laplacian", "largest", lambda: laplacian("mdual")),
            ("mycielskian15", "largest", lambda: load("mycielskian15")),
            ("8 equal graphs", "largest", equal_parts),
            ("cluster of 20", "largest", clustered)]


def run(command, threads):
    env = dict(os.environ, **{f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL")})
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if not done.stdout:
        raise RuntimeError(f"{command[0]}: {done.stderr}")
    return json.loads(done.stdout)


def run_nz(nz, path, which, threads):
    j = run([nz, "eigs", path, "-k", str(COUNT), "--which", which, "--tol", str(TOL), "--threads", str(threads),
             "--json", "-"], threads)
    return {"wall": j["plan_s"] + j["preconditioner_s"] + j["search_s"], "cpu": j["cpu_s"], "search": j["search_s"],
            "products": j["products"], "values": j["values"], "residuals": j["residuals"], "norm": j["norm"],
            "converged": j["converged"], "preconditioner": j["preconditioner"], "method": j["product"]}


def missing(mine, others, norm):
    """Of `mine`, the places at which a value is further in than the other's, the outermost first."""
    return sum(abs(a - b) > 100 * TOL * norm and abs(a - others[0]) > abs(b - others[0]) for a, b in zip(mine, others))


def measure(nz, path, which, threads, rounds, seconds):
    ours, scipys = [], []
    for _ in range(rounds):
        ours.append(run_nz(nz, path, which, threads))
        norm, values = ours[0]["norm"], ours[0]["values"]
        tol = min(TOL * norm / max(min(abs(v) for v in values), 1e-300), 0.1)
        if not scipys or scipys[-1]["wall"] * rounds < seconds:
            scipys.append(run([sys.executable, "-c", SCIPY, path, "SA" if which == "smallest" else "LA", str(COUNT),
                               str(tol), str(seconds)], threads))
    least = lambda of, key: min(r[key] for r in of)
    first, theirs = ours[0], scipys[0]
    r = {"threads": threads, "preconditioner": first["preconditioner"], "method": first["method"],
         "converged": first["converged"], "products": first["products"], "values": values,
         "residual": max(first["residuals"]), "wall_s": least(ours, "wall"), "cpu_s": least(ours, "cpu"),
         "search_s": least(ours, "search"), "same_bits": all(o["values"] == values for o in ours),
         "scipy_tol": tol, "scipy_wall_s": least(scipys, "wall"), "scipy_cpu_s": least(scipys, "cpu")}
    if theirs.get("gave_up"):
        return {**r, "scipy_gave_up": True}
    return {**r, "scipy_products": theirs["products"], "scipy_values": theirs["values"],
            "scipy_residual": max(theirs["residuals"]) / norm, "missing": missing(values, theirs["values"], norm),
            "scipy_missing": missing(theirs["values"], values, norm)}


def machine():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return model[1] if model else os.uname().machine


def show(name, which, r):
    by = f"{r['scipy_wall_s'] / r['wall_s']:6.2f} {r['scipy_cpu_s'] / r['cpu_s']:6.2f}"
    theirs = ("     gave up            " if r.get("scipy_gave_up") else
              f"{r['scipy_products']:8} {r['scipy_residual']:9.1e} {r['scipy_missing']:6}")
    print(f"{name:16} {which:8} {r['threads']:3} {r['preconditioner']:4} {r['products']:6} {r['residual']:8.1e} "
          f"{r['wall_s']:8.3f} {r['cpu_s']:8.3f} | {r['scipy_wall_s']:8.3f} {r['scipy_cpu_s']:8.3f} {theirs} | {by}",
          flush=True)


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("nz", help="the command")
    parse.add_argument("matrices", help="the folder of the .npz")
    parse.add_argument("--json", help="where the results go")
    parse.add_argument("--only", default="", help="names that hold this")
    parse.add_argument("--threads", default="1,2")
    parse.add_argument("--rounds", type=int, default=5)
    parse.add_argument("--seconds", type=int, default=100, help="that eigsh has for a problem")
    parse.add_argument("--commit", default="", help="of nz, for the JSON")
    parse.add_argument("--note", default="", help="what the machine was doing, for the JSON")
    o = parse.parse_args()
    results = []
    print(f"{'':25} thr prec nz prod residual   wall s    CPU s |   SciPy s    CPU s products  residual missing | x wall  x CPU")
    with tempfile.TemporaryDirectory() as folder:
        for name, which, make in problems(o.matrices):
            if o.only not in name:
                continue
            A = make()
            sp.save_npz(f"{folder}/A.npz", A, compressed=False)
            for threads in o.threads.split(","):
                r = {"matrix": name, "which": which, "rows": A.shape[0], "nnz": A.nnz,
                     **measure(o.nz, f"{folder}/A.npz", which, int(threads), o.rounds, o.seconds)}
                results.append(r)
                show(name, which, r)
    if o.json:
        os.makedirs(os.path.dirname(o.json), exist_ok=True)
        with open(o.json, "w") as f:
            json.dump({"command": "bench/eigs_bench.py", "commit": o.commit, "machine": machine(),
                       "cores": os.cpu_count(), "date": datetime.date.today().isoformat(), "scipy": scipy.__version__,
                       "numpy": np.__version__, "count": COUNT, "tol": TOL, "rounds": o.rounds, "note": o.note,
                       "results": results}, f, indent=1)
            f.write("\n")


main()

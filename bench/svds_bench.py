#!/usr/bin/env python3
"""Singular values and least squares: nonzero's svds and lsmr beside SciPy's and scikit-learn's.

    PYTHONPATH=build/release/python bench/svds_bench.py --threads 2 --json bench/results/MACHINE/svds.json

Generated matrices of counts with one seed: terms in documents by Zipf's law, ratings, genes in cells. All look for the
same k largest singular triplets to residuals of 1e-8 of |A|, which are computed from what each returns: ARPACK's
tolerance is relative to the value, so it gets 1e-8 s_1 / s_k, and LOBPCG's is absolute, of A^T A, so it gets
1e-8 s_1 s_k. scikit-learn's randomised method has no tolerance: it runs with its defaults, and its residual says what
they give. lsmr solves with b = A x + noise, atol = btol = 1e-8. Every measurement is a process of its own, which reads
the matrix from a file first; they take turns, and the smallest wall time of the rounds counts. nonzero's is that of its
plans, layouts and search.

    bench/svds_bench.py --gpu build/release/pair_bench --json bench/results/MACHINE/svds.json

On a GPU, beside CuPy, whose tolerance is LOBPCG's. The matrix lies there as CSR, for both; the smallest of five takes
in a process counts, and of three of lsmr.
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as sla

TOL = 1e-8


def of_entries(rows, cols, shape, values):
    A = sp.csr_array((values, (rows, cols)), shape=shape)
    A.sum_duplicates()
    return A


def zipf_columns(rng, count, cols, exponent):
    """Columns drawn by Zipf's law, which number k + 1 has (k + 1)^-exponent of."""
    weight = np.arange(1, cols + 1) ** -float(exponent)
    return np.searchsorted(np.cumsum(weight / weight.sum()), rng.random(count)).clip(0, cols - 1)


def terms(entries):
    """Counts of words in documents of 100 words in the mean, some of topics of their own."""
    rng = np.random.default_rng(1)
    tokens = 2 * entries
    documents, words = max(tokens // 150, 10), max(entries // 100, 50)
    row = rng.integers(0, documents, tokens)
    col = zipf_columns(rng, tokens, words, 1.05)
    of_topic = rng.random(tokens) < 0.3
    shift = (row % 50) * (words // 50)
    col[of_topic] = (zipf_columns(rng, int(of_topic.sum()), max(words // 50, 1), 0.8) + shift[of_topic]) % words
    return of_entries(row, col, (documents, words), np.ones(tokens))


def ratings(entries):
    """Stars from 1 to 5 that users give, of ten tastes."""
    rng = np.random.default_rng(2)
    users, items = max(entries // 50, 20), max(entries // 400, 20)
    row = (users * rng.random(entries) ** 1.5).astype(int)
    col = zipf_columns(rng, entries, items, 0.7)
    taste = rng.standard_normal((users, 10)), rng.standard_normal((items, 10))
    A = of_entries(row, col, (users, items), np.ones(entries)).tocoo()
    stars = 3.5 + 0.3 * np.einsum("ij,ij->i", taste[0][A.row], taste[1][A.col])
    A.data = np.clip(np.round(stars + 0.5 * rng.standard_normal(A.nnz)), 1, 5)
    return A.tocsr()


def genes(entries):
    """Counts of genes in cells of twelve kinds."""
    rng = np.random.default_rng(3)
    count = 20000 if entries >= 10**6 else 2000
    cells = max(entries // 500, 20)
    kind = rng.integers(0, 12, cells)
    level = np.exp(rng.standard_normal((12, count)) * 0.7 + 1.5 * rng.standard_normal(count))
    level = np.cumsum(level / level.sum(axis=1, keepdims=True), axis=1)
    row = np.repeat(np.arange(cells), 800)
    col = np.concatenate([np.searchsorted(level[k], rng.random(800)) for k in kind]).clip(0, count - 1)
    return of_entries(row, col, (cells, count), np.ones(row.size))


PROBLEMS = {"terms": terms, "ratings": ratings, "genes": genes}


def rhs(A):
    rng = np.random.default_rng(4)
    b = A @ rng.standard_normal(A.shape[1])
    # Threads of BLAS, which norm takes, would spin for some 30 ms on a core that the solver wants.
    norm = np.sqrt(np.square(b).sum())
    return b + 0.01 * norm / np.sqrt(b.size) * rng.standard_normal(b.size)


def finder(method, k, tol):
    """What finds the triplets of a matrix; its package is imported."""
    if method == "nonzero":
        import nonzero as nz

        svds = nz.svds
        return lambda A: svds(A, k, tol=TOL)
    if method.startswith("scipy-"):
        more = {"rng": np.random.default_rng(0)} if method != "scipy-arpack" else {}
        return lambda A: sla.svds(A, k, tol=tol, solver=method.removeprefix("scipy-"), maxiter=5000, **more)
    from sklearn.decomposition import TruncatedSVD

    def find(A):
        svd = TruncatedSVD(k, random_state=0)
        u = svd.fit_transform(A)
        return u / svd.singular_values_, svd.singular_values_, svd.components_

    return find


def measure_svds(method, A, k, tol):
    find = finder(method, k, tol)
    start, cpu = time.perf_counter(), time.process_time()
    u, s, vh = find(A)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "values": np.sort(s)[::-1].tolist(), "residual": residual_of(A, u, s, vh)}


def measure_lsmr(method, A):
    if method == "nonzero":
        import nonzero as nz

        solve = nz.lsmr
    else:
        solve = sla.lsmr
    b = rhs(A)
    start, cpu = time.perf_counter(), time.process_time()
    x, istop, iterations = solve(A, b, atol=TOL, btol=TOL, maxiter=2000)[:3]
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "istop": int(istop), "iterations": int(iterations), **residuals_of(A, x)}


def least_seconds(takes, run):
    """Of some takes on a GPU, and what the last gave."""
    import cupy

    least = np.inf
    for _ in range(takes):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        found = run()
        cupy.cuda.Device().synchronize()
        least = min(least, time.perf_counter() - start)
    return least, found


def measure_cupy(task, A, k, tol):
    import cupy
    from cupyx.scipy.sparse import csr_matrix
    from cupyx.scipy.sparse.linalg import lsmr, svds

    there = csr_matrix(sp.csr_matrix((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape))
    if task == "lsmr":
        b = cupy.asarray(rhs(A))
        wall, found = least_seconds(3, lambda: lsmr(there, b, atol=TOL, btol=TOL, maxiter=2000))
        return {"wall": wall, "iterations": int(found[2]), **residuals_of(A, found[0].get())}
    wall, (u, s, vh) = least_seconds(5, lambda: svds(there, k, tol=tol))
    u, s, vh = u.get(), s.get(), vh.get()
    return {"wall": wall, "values": np.sort(s)[::-1].tolist(), "residual": residual_of(A, u, s, vh)}


def residuals_of(A, x):
    """Of a least squares solution, as lsmr measures them."""
    b = rhs(A)
    r = b - A @ x
    return {"residual": float(np.linalg.norm(r) / np.linalg.norm(b)),
            "gradient": float(np.linalg.norm(A.T @ r) / (sla.norm(A) * np.linalg.norm(r)))}


def residual_of(A, u, s, vh):
    """The largest of |A v - s u| and |A^T u - s v|, over the largest value."""
    residuals = [(A @ vh[j] - s[j] * u[:, j], A.T @ u[:, j] - s[j] * vh[j]) for j in range(len(s))]
    return max(np.linalg.norm(r) for both in residuals for r in both) / s.max()


def measure_here(o):
    A = sp.csr_array(sp.load_npz(o.here))
    if o.method == "cupy":
        print(json.dumps(measure_cupy(o.task, A, o.k, o.tol)))
    elif o.task == "svds":
        print(json.dumps(measure_svds(o.method, A, o.k, o.tol)))
    else:
        print(json.dumps(measure_lsmr(o.method, A)))


def run(o, path, task, method, tol=TOL):
    """In a process of its own; None where it fails or takes too long."""
    if o.gpu and method == "nonzero":
        return run_pair_bench(o, path)[task]
    env = dict(os.environ, **{f"{lib}_NUM_THREADS": str(o.threads) for lib in ("OMP", "OPENBLAS", "MKL")})
    command = [sys.executable, __file__, "--here", path, "--task", task, "--method", method, "--k", str(o.k),
               "--tol", repr(tol)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=o.seconds)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        print(f"{method}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def run_pair_bench(o, path):
    """Gives what both tasks took."""
    b = path.replace(".npz", "_b.mtx")
    scipy.io.mmwrite(b, rhs(sp.csr_array(sp.load_npz(path)))[:, None], precision=17)
    told = subprocess.run([o.gpu, "--solve", str(o.k), repr(TOL), b, path], capture_output=True, text=True, check=True)
    told = json.loads(told.stdout)
    for task in ("svds", "lsmr"):
        told[task].update(commit=told["commit"], gpu=told["gpu"], setup=told["setup_s"])
    return told


def least(runs):
    """The run that took the least; its wall and CPU time each the least of all."""
    ran = [r for r in runs if r]
    return {**ran[0], **{t: min(r[t] for r in ran) for t in ("wall", "cpu") if t in ran[0]}} if ran else None


def tolerance_for(method, values):
    if method in ("scipy-lobpcg", "cupy"):
        return TOL * values[0] * values[-1]
    return TOL * values[0] / values[-1] if method == "scipy-arpack" else TOL


def measure(o, path, task, others):
    ours, theirs = [], {method: [] for method in others}
    for _ in range(o.rounds):
        ours.append(run(o, path, task, "nonzero"))
        if ours[-1] is None:
            raise RuntimeError("nonzero found nothing")
        for method, runs in theirs.items():
            if None not in runs:
                tol = tolerance_for(method, ours[0]["values"]) if task == "svds" else TOL
                runs.append(run(o, path, task, method, tol))
    return {"nonzero": least(ours), **{method: least(runs) for method, runs in theirs.items()}}


def fastest(of):
    """The fastest of the others that kept the tolerance, within a factor of ten."""
    kept = {m: r for m, r in of.items() if m != "nonzero" and r and ("gradient" in r or r["residual"] <= 10 * TOL)}
    return min(kept, key=lambda m: kept[m]["wall"]) if kept else None


def show(name, task, A, of):
    best = fastest(of)
    factor = of[best]["wall"] / of["nonzero"]["wall"] if best else float("nan")
    print(f"{task:5} {name:8} {A.shape[0]:8} x {A.shape[1]:7} {A.nnz:9}  {factor:5.2f} of {best}")
    for method, r in of.items():
        cpu = f" {r['cpu']:8.3f} s CPU," if r and "cpu" in r else ""
        what = "gave up" if r is None else f"{r['wall']:8.4f} s,{cpu} residual {r['residual']:.1e}"
        more = f", {r['iterations']} iterations, gradient {r['gradient']:.1e}" if r and "gradient" in r else ""
        print(f"    {method:18} {what}{more}", flush=True)


def machine():
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    return model[1] if model else platform.machine()


def version_of_sklearn():
    try:
        import sklearn
    except ImportError:
        return None
    return sklearn.__version__


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--json", help="where the results go")
    parse.add_argument("--only", default="", help="matrices or tasks whose name holds this")
    parse.add_argument("--entries", default="1e6,1e7", help="about as many, of each matrix")
    parse.add_argument("--threads", type=int, default=2)
    parse.add_argument("--gpu", help="on a GPU, by this program, pair_bench")
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--seconds", type=int, default=600, help="that each has for a problem")
    parse.add_argument("--k", type=int, default=20)
    parse.add_argument("--commit", default="", help="of nz, for the JSON")
    parse.add_argument("--note", default="", help="what the machine was doing, for the JSON")
    for internal in ("--here", "--task", "--method"):
        parse.add_argument(internal, help=argparse.SUPPRESS)
    parse.add_argument("--tol", type=float, help=argparse.SUPPRESS)
    o = parse.parse_args()
    if o.here:
        return measure_here(o)
    results, sklearn = [], version_of_sklearn()
    randomised = ["sklearn-randomized"] if sklearn else []
    others = {"svds": ["scipy-arpack", "scipy-propack", "scipy-lobpcg", *randomised], "lsmr": ["scipy"]}
    if o.gpu:
        others = {"svds": ["cupy"], "lsmr": ["cupy"]}
    with tempfile.TemporaryDirectory() as folder:
        for entries in (int(float(n)) for n in o.entries.split(",")):
            for name, make in PROBLEMS.items():
                A, path = make(entries), f"{folder}/A.npz"
                sp.save_npz(path, A, compressed=False)
                for task in others:
                    if o.only in name or o.only in task:
                        of = measure(o, path, task, others[task])
                        results.append({"matrix": name, "task": task, "rows": A.shape[0], "cols": A.shape[1],
                                        "nnz": A.nnz, "fastest": fastest(of), "methods": of})
                        show(name, task, A, of)
    if o.json:
        os.makedirs(os.path.dirname(o.json) or ".", exist_ok=True)
        with open(o.json, "w") as f:
            json.dump({"command": "bench/svds_bench.py", "commit": o.commit, "machine": machine(),
                       "cores": os.cpu_count(), "threads": o.threads, "date": datetime.date.today().isoformat(),
                       "scipy": scipy.__version__, "numpy": np.__version__, "sklearn": sklearn, "k": o.k, "tol": TOL,
                       "rounds": o.rounds, "note": o.note, "results": results}, f, indent=1)
            f.write("\n")


main()

"""Tests that need a GPU; by pytest, or alone: ``python test_gpu.py [names]``."""

from __future__ import annotations

import concurrent.futures
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import time
import traceback
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX takes most of a GPU else

import numpy as np
import scipy.sparse as sp

import nonzero as nz

try:
    import pytest
except ImportError:  # then main() below runs the tests
    pytest = None  # type: ignore[assignment]

DTYPES = ("float32", "float64", "complex64", "complex128")


class Skipped(Exception):
    """Raised by a test that this machine cannot run, where there is no pytest."""


def skip(reason: str) -> None:
    if pytest is not None:
        pytest.skip(reason)
    raise Skipped(reason)


def needs(*names: str, gpus: int = 1) -> Any:
    """Give these modules, or skip the test that asks."""
    if nz.gpu_count() < gpus:
        skip(f"needs {gpus} GPUs, found {nz.gpu_count()}")
    found = []
    for name in names:
        try:
            found.append(importlib.import_module(name))
        except ImportError as e:
            skip(f"needs {name}: {e}")
    for module in found:
        if module.__name__ == "torch" and not module.cuda.is_available():
            skip("needs PyTorch with CUDA")
    return found[0] if len(found) == 1 else found


def raises(kind: type[BaseException], call: Any, *words: str) -> None:
    """Fail unless `call` raises `kind` with these words in its message."""
    try:
        call()
    except kind as e:
        for word in words:
            assert word in str(e), f"{word!r} is not in {str(e)!r}"
        return
    raise AssertionError(f"no {kind.__name__} was raised")


def matrix(rows: int, cols: int, dtype: str, seed: int = 0) -> Any:
    """Give a SciPy CSR with some empty rows and one long row."""
    rng = np.random.default_rng(seed)
    A = sp.random(rows, cols, density=0.04, random_state=rng, format="lil")
    A[rows // 2, :] = rng.standard_normal(cols)
    A[rows // 3, :] = 0
    A = A.tocsr()
    A.eliminate_zeros()
    A.data = vector(A.nnz, dtype, seed + 1)
    return A


def vector(shape: Any, dtype: str, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def host(x: Any) -> Any:
    if hasattr(x, "detach"):
        return x.detach().resolve_conj().cpu().numpy()
    return x.get() if hasattr(x, "get") else np.asarray(x)


def check(y: Any, A: Any, x: Any, what: str, scale: float = 1.0) -> None:
    """Compare y with A x, entry by entry, by the bound of a sum of products."""
    y, x = host(y), host(x)
    wide = np.result_type(x.dtype, np.float64)
    right = scale * (A.astype(wide) @ x.astype(wide))
    terms = max(1, int(np.diff(A.tocsr().indptr).max(initial=1)))
    bound = (terms + 8) * np.finfo(x.dtype).eps * abs(scale) * (abs(A) @ abs(x).astype(np.float64))
    assert y.shape == right.shape, f"{what}: of shape {y.shape}, expected {right.shape}"
    assert y.dtype == x.dtype, f"{what}: of dtype {y.dtype}, expected {x.dtype}"
    wrong = abs(y - right) > bound
    assert not wrong.any(), f"{what}: {wrong.sum()} of {wrong.size} entries are wrong"


def in_own_process(code: str) -> None:
    """Run code that could leave the GPU unusable for this process, if it were wrong."""
    start = "import numpy as np, scipy.sparse as sp, nonzero as nz, cupy\n"
    done = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr[-2000:]}"


# Products.


def operators(A: Any, cupy: Any) -> Iterator[tuple[str, Any]]:
    """Give operators on GPU 0 from everything on a GPU that A can be."""
    sparse = importlib.import_module("cupyx.scipy.sparse")
    on_gpu = sparse.csr_matrix(A)
    for name, form in (("csr", on_gpu), ("csc", on_gpu.tocsc()), ("coo", on_gpu.tocoo())):
        yield f"CuPy {name}", nz.plan(form)
    yield "arrays", nz.plan((on_gpu.data, on_gpu.indices, on_gpu.indptr), shape=A.shape)
    yield "stored transpose", nz.plan(on_gpu, transposed=True)


def test_multigrid_of_a_matrix_that_stays_on_the_gpu() -> None:
    cp, cpx = needs("cupy", "cupyx.scipy.sparse")
    host = sp.csr_array(nz.generate.laplace2d(60))
    A = cpx.csr_matrix(sp.csr_matrix(host))
    b = cp.ones((3600, 5))
    x, info = nz.cg(nz.plan(A, vectors=5), b, M=nz.amg(A), rtol=1e-9)
    assert info == 0
    for k in range(5):
        assert np.linalg.norm(host @ cp.asnumpy(x)[:, k] - 1) <= 1.01e-9 * 60
    A.data[1] = 7
    raises(ValueError, lambda: nz.amg(A), "not symmetric")


def test_products_of_every_dtype_and_form() -> None:
    cupy = needs("cupy")
    for dtype in DTYPES:
        A = matrix(300, 211, dtype)
        x, z = vector(211, dtype, 5), vector(300, dtype, 6)
        X, Z = vector((211, 5), dtype, 7), vector((300, 3), dtype, 8)
        for name, op in operators(A, cupy):
            what = f"{name} {dtype}"
            assert op.device == 0 and op.dtype == np.dtype(dtype), what
            y = op @ cupy.asarray(x)
            assert isinstance(y, cupy.ndarray), what
            check(y, A, x, f"{what} A x")
            check(op.T @ cupy.asarray(z), A.T, z, f"{what} A^T x")
            check(op.H @ cupy.asarray(z), A.conj().T, z, f"{what} A^H x")
            check(op.rmatvec(cupy.asarray(z)), A.conj().T, z, f"{what} rmatvec")
            check(op.matvec(cupy.asarray(x[:, None])), A, x[:, None], f"{what} matvec")
            for order in "CF":
                check(op @ cupy.asarray(X, order=order), A, X, f"{what} A X, {order}")
                check(op.T @ cupy.asarray(Z, order=order), A.T, Z, f"{what} A^T X, {order}")
            strided = cupy.zeros((211, 2), dtype)
            strided[:, 1] = cupy.asarray(x)
            check(op @ strided[:, 1], A, x, f"{what} strided x")


def test_products_of_a_matrix_from_the_cpu() -> None:
    cupy = needs("cupy")
    for dtype in DTYPES:
        A = matrix(200, 150, dtype)
        op = nz.plan(A, device="gpu")
        x, X = vector(150, dtype, 1), vector((150, 4), dtype, 2)
        check(op @ cupy.asarray(x), A, x, dtype)
        check(op @ cupy.asarray(X), A, X, dtype)
        both = nz.plan(A, device=0, transposed=True)
        z = vector(200, dtype, 3)
        check(both.T @ cupy.asarray(z), A.T, z, f"{dtype} stored transpose")


def test_transpose_of_a_matrix_from_the_cpu() -> None:
    needs("cupy")
    in_own_process("""
        A = sp.random(200, 150, density=0.05, random_state=0, format="csr")
        op = nz.plan(A, device="gpu")
        z = np.arange(200.0)
        for _ in range(3):
            assert abs((op.T @ cupy.asarray(z)).get() - A.T @ z).max() < 1e-10
            assert abs((op.H @ cupy.asarray(z)).get() - A.T @ z).max() < 1e-10
    """)


def test_new_values_for_a_matrix_from_the_cpu() -> None:
    needs("cupy")
    in_own_process("""
        A = sp.random(200, 150, density=0.05, random_state=0, format="csr")
        op = nz.plan(A, device="gpu")
        x = np.arange(150.0)
        for data in (2 * A.data, cupy.asarray(3 * A.data)):
            try:
                op.update_values(data)
            except TypeError:  # one of both memories may be refused, not both
                refused = data
                continue
            values = data.get() if hasattr(data, "get") else data
            B = sp.csr_matrix((values, A.indices, A.indptr), shape=A.shape)
            assert abs((op @ cupy.asarray(x)).get() - B @ x).max() < 1e-9
            taken = True
        assert taken
    """)


def test_out_alpha_and_beta() -> None:
    cupy = needs("cupy")
    for dtype in DTYPES:
        A = matrix(120, 90, dtype)
        op = nz.plan(importlib.import_module("cupyx.scipy.sparse").csr_matrix(A))
        x, X = vector(90, dtype, 1), vector((90, 3), dtype, 2)
        out = cupy.full(120, np.nan, dtype)
        assert op.apply(cupy.asarray(x), out=out) is out
        check(out, A, x, f"{dtype} out")
        op.apply(cupy.asarray(x), out=out, alpha=2.0, beta=-1.0)
        check(out, A, x, f"{dtype} 2 A x - y", scale=1.0)
        for order in "CF":
            Y = cupy.zeros((120, 3), dtype, order=order)
            op.apply(cupy.asarray(X), out=Y, alpha=0.5)
            op.apply(cupy.asarray(X), out=Y, alpha=0.5, beta=1.0)
            check(Y, A, X, f"{dtype} two halves, {order}")
        wide = cupy.zeros((120, 2), dtype)
        op.apply(cupy.asarray(x), out=wide[:, 0])
        check(wide[:, 0], A, x, f"{dtype} strided out")
        assert not wide[:, 1].any(), "it wrote beside out"


def test_torch_matrices_and_vectors() -> None:
    torch = needs("torch")
    for dtype in DTYPES:
        A = matrix(140, 100, dtype)
        on_gpu = torch.sparse_csr_tensor(
            torch.from_numpy(A.indptr),
            torch.from_numpy(A.indices),
            torch.from_numpy(A.data),
            size=A.shape,
        ).cuda()
        x, X, z = vector(100, dtype, 1), vector((100, 4), dtype, 2), vector(140, dtype, 3)
        for name, form in (("csr", on_gpu), ("coo", on_gpu.to_sparse_coo())):
            op = nz.plan(form)
            what = f"torch {name} {dtype}"
            assert op.device == 0, what
            y = op @ torch.from_numpy(x).cuda()
            assert isinstance(y, torch.Tensor) and y.is_cuda, what
            check(y, A, x, what)
            check(op @ torch.from_numpy(X).cuda(), A, X, f"{what}, rows contiguous")
            check(op @ torch.from_numpy(X.T.copy()).cuda().T, A, X, f"{what}, columns contiguous")
            check(op.T @ torch.from_numpy(z).cuda(), A.T, z, f"{what} A^T")
            check(op.H @ torch.from_numpy(z).cuda(), A.conj().T, z, f"{what} A^H")
            for shape, of in ((140, x), ((140, 4), X)):
                out = torch.zeros(shape, dtype=y.dtype, device="cuda")
                op.apply(torch.from_numpy(of).cuda(), out=out, alpha=2.0)
                check(out, A, of, f"{what} out", scale=2.0)
            # A conjugate that PyTorch has only noted, for x and for out.
            check(op @ torch.from_numpy(x).cuda().conj(), A, x.conj(), f"{what} conjugate of x")
            kept = torch.zeros(140, dtype=y.dtype, device="cuda")
            op.apply(torch.from_numpy(x).cuda(), out=kept.conj())
            check(kept.conj(), A, x, f"{what} conjugate of out")


def test_new_values() -> None:
    cupy = needs("cupy")
    A = matrix(150, 150, "float64")
    x = vector(150, "float64", 1)
    tried = 0
    for method in [""] + nz.methods("gpu"):
        try:
            form = importlib.import_module("cupyx.scipy.sparse").csr_matrix(A)
            op = nz.plan(form, methods=[method] if method else [])
        except (ValueError, nz.Unavailable):
            continue  # the method declines
        tried += 1
        for factor in (2.0, -3.0):
            op.update_values(cupy.asarray(factor * A.data))
            check(op @ cupy.asarray(x), factor * A, x, f"{method} times {factor}")
            check(op.T @ cupy.asarray(x), factor * A.T, x, f"{method} transposed times {factor}")
    assert tried > 2, f"{tried} methods of {nz.methods('gpu')}"
    op = nz.plan(form)
    raises(TypeError, lambda: op.update_values(A.data))


# Errors.


def test_wrong_device_and_dtype() -> None:
    cupy = needs("cupy")
    A = matrix(50, 40, "float64")
    x = vector(40, "float64", 1)
    on_gpu, on_cpu = nz.plan(A, device="gpu"), nz.plan(A)
    raises(TypeError, lambda: on_gpu @ x, "GPU 0", "CPU memory")
    raises(TypeError, lambda: on_cpu @ cupy.asarray(x), "GPU 0", "CPU memory")
    raises(TypeError, lambda: on_gpu.apply(cupy.asarray(x), out=np.zeros(50)), "out")
    raises(TypeError, lambda: on_gpu.apply(cupy.asarray(x, dtype="f")), "float32", "float64")
    raises(ValueError, lambda: on_gpu @ cupy.zeros(41), "41")
    raises(TypeError, lambda: nz.cg(nz.plan(A @ A.T, device="gpu"), np.ones(50)), "CPU memory")
    check(on_gpu @ cupy.asarray(x), A, x, "after the errors")


def test_wrong_device_of_tensors() -> None:
    torch = needs("torch")
    A = matrix(50, 40, "float64")
    x = torch.from_numpy(vector(40, "float64", 1))
    on_gpu, on_cpu = nz.plan(A, device="gpu"), nz.plan(A)
    raises(TypeError, lambda: on_gpu @ x, "GPU 0")
    raises(TypeError, lambda: on_cpu @ x.cuda(), "GPU 0")
    raises(TypeError, lambda: nz.torch.spmv(on_gpu, x), "GPU 0")
    raises(TypeError, lambda: nz.torch.spmv(on_cpu, x.cuda()), "GPU 0")
    raises(TypeError, lambda: nz.torch.spmv(on_gpu, x.cuda(), torch.from_numpy(A.data)), "values")


def test_no_such_gpu() -> None:
    needs()
    A = matrix(50, 40, "float64")
    raises(nz.Unavailable, lambda: nz.plan(A, device=nz.gpu_count()))


def test_jax_arrays() -> None:
    jax = needs("jax")
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError as e:
        skip(f"needs JAX with CUDA: {e}")
    sparse = importlib.import_module("jax.experimental.sparse")
    A = matrix(80, 60, "float32")
    x = vector(60, "float32", 1)
    theirs = jax.device_put(x, device)
    y = nz.plan(A, device="gpu") @ theirs
    assert isinstance(y, jax.Array) and y.devices() == {device}
    check(np.asarray(y), A, x, "a vector")
    several = jax.device_put(np.stack([x, 2 * x], axis=1), device)
    both = np.asarray(nz.plan(A, device="gpu") @ several)
    check(both[:, 1] / 2, A, x, "columns")
    raises(TypeError, lambda: nz.plan(A) @ theirs, "x", "CPU")
    L = sp.csr_array(nz.generate.laplace3d(20, dtype="float32"))
    given = jax.device_put(sparse.BCSR.from_scipy_sparse(L), device)
    assert nz.plan(given).device == 0
    b = jax.device_put(vector(8000, "float32", 1), device)
    r = nz.solve(given, b, tol=1e-5)
    assert r.converged and isinstance(r.x, jax.Array) and r.x.devices() == {device}, r.why
    assert residual_of(L, np.asarray(r.x), np.asarray(b)) < 2e-5
    assert not any("copied to the CPU" in reason for reason in r.reasons)
    s = nz.Solver(given, tol=1e-5)
    s.update_values(2 * given.data)
    assert residual_of(2 * L, np.asarray(s.solve(b).x), np.asarray(b)) < 2e-5
    X, info = nz.cg(given, b, M=nz.amg(given), rtol=1e-5)
    assert info == 0 and isinstance(X, jax.Array)
    assert residual_of(L, np.asarray(X), np.asarray(b)) < 1e-4


# Streams.


def test_products_in_cupy_streams() -> None:
    cupy = needs("cupy")
    spin = cupy.RawKernel(
        'extern "C" __global__ void spin(long long n) {'
        " long long start = clock64(); while (clock64() - start < n) {} }",
        "spin",
    )
    A = matrix(4000, 1000, "float64")
    base = cupy.asarray(vector(1000, "float64", 1))
    op = nz.plan(A, device="gpu")
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
    rounds = 150
    kept = [cupy.empty((rounds, 4000)) for _ in streams]
    x = [cupy.empty(1000) for _ in streams]
    y = [cupy.empty(4000) for _ in streams]
    cupy.cuda.Device().synchronize()
    for k in range(rounds):
        for s, stream in enumerate(streams):
            with stream:
                spin((1,), (1,), (100000,))  # x is written late
                cupy.multiply(base, k + 1 + 1000 * s, out=x[s])
                if k % 2:
                    op.apply(x[s], out=y[s])
                    kept[s][k] = y[s]
                else:
                    kept[s][k] = op @ x[s]
                x[s].fill(np.nan)  # not before the product has read it
    cupy.cuda.Device().synchronize()
    once = host(base)
    for s in range(len(streams)):
        for k in range(rounds):
            check(kept[s][k], A, once * (k + 1 + 1000 * s), f"stream {s}, round {k}")


def test_products_in_torch_streams() -> None:
    torch = needs("torch")
    A = matrix(4000, 1000, "float64")
    base = torch.from_numpy(vector(1000, "float64", 1)).cuda()
    values = torch.from_numpy(A.data).cuda()
    indices, indptr = torch.from_numpy(A.indices).cuda(), torch.from_numpy(A.indptr).cuda()
    op = nz.plan((values, indices, indptr), shape=A.shape)
    side = torch.cuda.Stream()
    rounds = 100
    kept = torch.empty((rounds, 4000), dtype=torch.float64, device="cuda")
    x = torch.empty_like(base)
    scaled = torch.empty_like(values)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        for k in range(rounds):
            torch.cuda._sleep(100000)  # what follows is written late
            torch.mul(base, k + 1, out=x)
            if k % 3 == 0:
                kept[k] = op @ x
            elif k % 3 == 1:
                kept[k] = nz.torch.spmv(op, x)
            else:
                torch.mul(values, 2.0 * k, out=scaled)
                kept[k] = nz.torch.spmv(op, x, scaled) / (2.0 * k)
                scaled.fill_(float("nan"))
            x.fill_(float("nan"))
    torch.cuda.synchronize()
    once = host(base)
    for k in range(rounds):
        check(kept[k], A, once * (k + 1), f"round {k}")


def test_products_in_threads() -> None:
    cupy = needs("cupy")
    A = matrix(3000, 2000, "float64")
    op = nz.plan(A, device="gpu")

    def work(seed: int) -> None:
        with cupy.cuda.Device(0), cupy.cuda.Stream(non_blocking=True) as stream:
            for k in range(50):
                x = vector(2000, "float64", 100 * seed + k)
                y = op @ cupy.asarray(x)
                stream.synchronize()
                check(y, A, x, f"thread {seed}, round {k}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


# Solvers.


def test_cupy_solvers() -> None:
    cupy, linalg = needs("cupy", "cupyx.scipy.sparse.linalg")
    A = nz.generate.laplace3d(20)
    op, M = nz.plan(A, device="gpu"), nz.amg(A, device="gpu")
    b = cupy.asarray(vector(8000, "float64", 1))
    for solver in (linalg.cg, linalg.gmres):
        tol = "rtol" if "rtol" in inspect.signature(solver).parameters else "tol"
        counts = {}
        for name, inverse in (("none", None), ("amg", M)):
            products: list[int] = []

            def counted(_: Any = None, products: list[int] = products) -> None:
                products.append(1)

            x, info = solver(op, b, M=inverse, maxiter=2000, callback=counted, **{tol: 1e-8})
            assert info == 0, f"{solver.__name__} with {name}: {info}"
            residual = np.linalg.norm(A @ host(x) - host(b)) / np.linalg.norm(host(b))
            assert residual < 1e-6, f"{solver.__name__} with {name}: {residual}"
            counts[name] = len(products)
        assert counts["amg"] <= counts["none"], f"{solver.__name__}: {counts}"
        if solver is linalg.cg:
            assert counts["amg"] < counts["none"] / 2, counts


def residual_of(A: Any, x: Any, b: Any) -> float:
    return float(np.linalg.norm(A @ host(x) - host(b)) / np.linalg.norm(host(b)))


def test_solve_and_cg() -> None:
    cupy, sparse = needs("cupy", "cupyx.scipy.sparse")
    for dtype, tol in (("float64", 1e-10), ("float32", 1e-5)):
        A = nz.generate.laplace3d(20, dtype=dtype)
        on_gpu = sparse.csr_matrix(sp.csr_matrix(A))
        b = cupy.asarray(vector(8000, dtype, 1))
        r = nz.solve(on_gpu, b, tol=tol)
        assert r.converged and isinstance(r.x, cupy.ndarray), f"{dtype}: {r.why}"
        assert residual_of(A, r.x, b) < 2 * tol, dtype
        r = nz.solve(A, host(b), tol=tol, device="gpu")
        assert r.converged and isinstance(r.x, np.ndarray), f"{dtype}: {r.why}"
        assert residual_of(A, r.x, b) < 2 * tol, dtype
        for M in (None, nz.amg(on_gpu)):
            x, info = nz.cg(on_gpu, b, rtol=tol, M=M)
            assert info == 0 and isinstance(x, cupy.ndarray), dtype
            assert residual_of(A, x, b) < 10 * tol, dtype
            again, _ = nz.cg(on_gpu, b, rtol=tol, M=M)
            assert bool((x == again).all()), f"{dtype}: not the same bits"
    op = nz.plan(on_gpu)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        rhs = b * 2
        x, info = nz.cg(op, rhs, rtol=1e-5)
        stream.synchronize()
    assert info == 0 and residual_of(A, x, rhs) < 1e-4, "in a stream"


def test_solve_where_arrays_lie() -> None:
    cupy, sparse = needs("cupy", "cupyx.scipy.sparse")
    A = sp.csr_array(nz.generate.laplace3d(20))
    on_gpu = sparse.csr_matrix(sp.csr_matrix(A))
    b = cupy.asarray(np.stack([vector(8000, "float64", k) for k in range(3)], axis=1))
    for rhs in (b, cupy.asfortranarray(b), b[:, 0], b[:, 0].copy(), b.astype("float32")):
        r = nz.solve(on_gpu, rhs)
        assert r.converged and isinstance(r.x, cupy.ndarray) and r.x.shape == rhs.shape, r.why
        assert residual_of(A, r.x, rhs) < 2e-8
        assert not any("copied to the CPU" in reason for reason in r.reasons), r.reasons
        assert nz.solve(on_gpu, rhs, x0=r.x).iterations == 0
    want = nz.solve(A, host(b), device="gpu")
    r = nz.solve(on_gpu, host(b))
    assert isinstance(r.x, np.ndarray) and r.method == want.method
    assert abs(r.x - want.x).max() < 1e-6 * abs(want.x).max()
    r = nz.solve(on_gpu, b[:, 0], preconditioner="ilu")
    assert r.converged and sum("copied to the CPU for ilu" in reason for reason in r.reasons) == 1
    # In a stream of the caller's, before anything else is there.
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        values = on_gpu.data * 2
        twice = sparse.csr_matrix((values, on_gpu.indices, on_gpu.indptr), shape=A.shape)
        doubled = nz.solve(twice, b * 2).x * 1
        stream.synchronize()
    assert residual_of(2 * A, doubled, host(b) * 2) < 2e-8
    s = nz.Solver(on_gpu)
    first = s.solve(b[:, 0])
    s.update_values(on_gpu.data * 4)
    again = s.solve(b[:, 0], x0=first.x)
    assert again.converged and residual_of(4 * A, again.x, b[:, 0]) < 2e-8
    s.update_values(A.data)
    assert residual_of(A, s.solve(host(b)).x, b) < 2e-8
    raises(ValueError, lambda: s.update_values(on_gpu.data[1:]), "data")
    raises(ValueError, lambda: nz.solve(on_gpu, b[1:]), "b")
    raises(ValueError, lambda: nz.solve(on_gpu, b, x0=b[:, :2]), "x0")
    raises(TypeError, lambda: nz.solve(on_gpu, b * 1j), "b")


def test_solve_complex_systems() -> None:
    needs("cupy")
    rng = np.random.default_rng(0)
    L = nz.generate.laplace2d(30).tocsr()
    phases = np.exp(2j * np.pi * rng.random(900))
    hermitian = sp.csr_array(sp.diags(phases) @ L @ sp.diags(phases.conj()))
    general = sp.csr_array(hermitian + 0.3j * sp.diags(np.ones(899), 1))
    b = vector(900, "complex128", 1)
    for A in (hermitian, general):
        r = nz.solve(A, b, device="gpu")
        assert r.converged and residual_of(A, r.x, b) < 2e-8, r.why
    for method in ("bicgstab", "gmres", "idrs"):
        for M in ("jacobi", "ilu", "ilut", "spai"):
            if M == "ilut" and method != "gmres":
                continue
            r = nz.solve(general, b, device="gpu", method=method, preconditioner=M)
            assert r.converged and residual_of(general, r.x, b) < 2e-8, f"{method} {M}: {r.why}"


def test_solve_tensors() -> None:
    torch = needs("torch")
    A = nz.generate.laplace2d(40)
    b = torch.ones(1600, dtype=torch.float64, device="cuda")
    op = nz.plan(A, device="gpu")
    for method in (nz.cg, nz.minres, nz.bicgstab, nz.gmres):
        x, info = method(op, b, rtol=1e-8)
        assert info == 0 and x.is_cuda, method.__name__
        assert residual_of(A, x, b) < 1e-6, method.__name__
    r = nz.solve(A, b, device="gpu")
    assert r.converged and r.x.is_cuda and residual_of(A, r.x, b) < 1e-7
    tensor = torch.sparse_csr_tensor(
        torch.from_numpy(A.indptr), torch.from_numpy(A.indices), torch.from_numpy(A.data), A.shape
    ).cuda()
    for rhs in (b, torch.stack([b, 2 * b], dim=1), torch.stack([b, 3 * b]).T):
        r = nz.solve(tensor, rhs)
        assert r.converged and r.x.is_cuda and r.x.shape == rhs.shape
        assert residual_of(A, r.x, rhs) < 1e-7
        assert not any("copied to the CPU" in reason for reason in r.reasons)


def test_eigsh() -> None:
    sparse = needs("cupyx.scipy.sparse")
    A = nz.generate.laplace2d(30)
    expected, _ = nz.eigsh(A, k=4, which="SA")
    for given in (nz.plan(A, device="gpu"), sparse.csr_matrix(sp.csr_matrix(A))):
        w, v = nz.eigsh(given, k=4, which="SA")
        assert abs(w - expected).max() < 1e-7, w
        assert np.linalg.norm(A @ v - v * w) < 1e-5
    w, _ = nz.eigsh(
        nz.plan(A, device="gpu"), k=4, which="SA", preconditioner=nz.amg(A, device="gpu")
    )
    assert abs(w - expected).max() < 1e-7, w


def test_pagerank() -> None:
    sparse = needs("cupyx.scipy.sparse")
    G = nz.generate.rmat(12, 8)
    expected = nz.pagerank(G)
    for given, device in ((G, "gpu"), (G, 0), (sparse.csr_matrix(sp.csr_matrix(G)), None)):
        r = nz.pagerank(given, device=device)
        assert r.converged and abs(r.rank.sum() - 1) < 1e-9
        assert abs(r.rank - expected.rank).sum() < 1e-8


# PyTorch.


def csr_operator(torch: Any, A: Any) -> tuple[Any, Any]:
    values = torch.from_numpy(A.data).cuda()
    arrays = values, torch.from_numpy(A.indices).cuda(), torch.from_numpy(A.indptr).cuda()
    return nz.plan(arrays, shape=A.shape), values.clone().requires_grad_()


def test_gradients() -> None:
    torch = needs("torch")
    for dtype in ("float64", "complex128"):
        A = matrix(12, 9, dtype)
        op, values = csr_operator(torch, A)
        for form in (op, op.T, op.H):
            for shape in ((form.shape[1],), (form.shape[1], 2)):
                x = torch.from_numpy(vector(shape, dtype, 3)).cuda().requires_grad_()

                def product(x: Any, form: Any = form) -> Any:
                    return nz.torch.spmv(form, x)

                def with_values(x: Any, v: Any, form: Any = form) -> Any:
                    return nz.torch.spmv(form, x, v)

                assert torch.autograd.gradcheck(product, (x,))
                assert torch.autograd.gradcheck(with_values, (x, values))
                assert torch.autograd.gradgradcheck(with_values, (x, values))


def test_values_of_a_matrix_from_the_cpu() -> None:
    torch = needs("torch")
    A = matrix(60, 40, "float64")
    op = nz.plan(A, device="gpu")
    x = torch.from_numpy(vector(40, "float64", 1)).cuda()
    values = (2 * torch.from_numpy(A.data)).cuda().requires_grad_()
    y = nz.torch.spmv(op, x, values)
    check(y, 2 * A, x, "with values")
    check(nz.torch.spmv(op, x), A, x, "without")
    y.sum().backward()
    check(
        values.grad,
        sp.csr_matrix((np.ones(A.nnz), A.indices, range(A.nnz + 1)), shape=(A.nnz, 40)),
        x,
        "gradient of the values",
    )


def test_compiled() -> None:
    torch = needs("torch")
    A = matrix(60, 40, "float64")
    op, values = csr_operator(torch, A)
    x = torch.from_numpy(vector((40, 3), "float64", 1)).cuda().requires_grad_()

    def loss(x: Any, v: Any) -> Any:
        return (nz.torch.spmv(op, x, torch.exp(v)).sin() + nz.torch.spmv(op, x)).square().sum()

    expected = torch.autograd.grad(loss(x, values), (x, values))
    torch.library.opcheck(torch.ops.nonzero.spmv, (x, values, op._handle, False, 60))
    compiled = torch.compile(loss, fullgraph=True)
    for _ in range(3):
        found = torch.autograd.grad(compiled(x, values), (x, values))
        for a, b in zip(found, expected, strict=True):
            assert torch.allclose(a, b, rtol=1e-10, atol=1e-12)


# Several GPUs.


def test_second_gpu() -> None:
    cupy, sparse = needs("cupy", "cupyx.scipy.sparse", gpus=2)
    for dtype in DTYPES:
        A = matrix(200, 150, dtype)
        x, X, z = vector(150, dtype, 1), vector((150, 3), dtype, 2), vector(200, dtype, 3)
        with cupy.cuda.Device(1):
            there = sparse.csr_matrix(A)
            on_1, X_1, z_1 = cupy.asarray(x), cupy.asarray(X), cupy.asarray(z)
        on_0 = cupy.asarray(x)
        for name, op in (
            ("from GPU 1", nz.plan(there)),
            ("from csc", nz.plan(there.tocsc() if cupy.cuda.Device().id == 1 else there)),
            ("from the CPU", nz.plan(A, device=1, transposed=True)),
        ):
            assert op.device == 1, name
            assert cupy.cuda.Device().id == 0, "the current GPU has changed"
            # The current GPU is the other one.
            y = op @ on_1
            assert y.device.id == 1, name
            check(y, A, x, f"{name} {dtype}")
            check(op @ X_1, A, X, f"{name} {dtype}, several columns")
            check(op.T @ z_1, A.T, z, f"{name} {dtype} transposed")
            raises(TypeError, lambda op=op, on_0=on_0: op @ on_0, "GPU 0", "GPU 1")
            with cupy.cuda.Device(1):
                check(op @ on_1, A, x, f"{name} {dtype}, current")
        raises(TypeError, lambda A=A, on_1=on_1: nz.plan(A, device=0) @ on_1, "GPU 0", "GPU 1")
    L = nz.generate.laplace3d(12)
    with cupy.cuda.Device(1):
        b = cupy.ones(1728)
    x, info = nz.cg(nz.plan(L, device=1), b, rtol=1e-8, M=nz.amg(L, device=1))
    assert info == 0 and x.device.id == 1 and residual_of(L, x, b) < 1e-6
    r = nz.solve(L, b, device=1)
    assert r.converged and r.x.device.id == 1


def test_tensors_on_the_second_gpu() -> None:
    torch = needs("torch", gpus=2)
    A = matrix(60, 40, "float64")
    op = nz.plan(A, device=1, transposed=True)
    x = torch.from_numpy(vector(40, "float64", 1)).to("cuda:1").requires_grad_()
    values = torch.from_numpy(A.data).to("cuda:1").requires_grad_()
    y = nz.torch.spmv(op, x, values)
    assert y.device.index == 1
    check(y, A, x, "GPU 1")
    y.sum().backward()
    check(x.grad, A.T, np.ones(60), "its gradient")
    raises(TypeError, lambda: nz.torch.spmv(op, x.detach().to("cuda:0")), "GPU 0", "GPU 1")


# Life times.


def free_bytes(cupy: Any) -> int:
    cupy.cuda.Device().synchronize()
    return int(cupy.cuda.runtime.memGetInfo()[0])


def test_plans_leak_no_memory() -> None:
    cupy = needs("cupy")
    A = nz.generate.laplace2d(40)
    on_gpu = importlib.import_module("cupyx.scipy.sparse").csr_matrix(sp.csr_matrix(A))
    x = cupy.ones(1600)
    for given in (A, on_gpu):

        def once(given: Any = given) -> None:
            op = nz.plan(given, device="gpu", transposed=True)
            op.apply(x)

        for _ in range(200):
            once()
        before, start, done = free_bytes(cupy), time.perf_counter(), 0
        while done < 2000 or (done < 10000 and time.perf_counter() - start < 30):
            once()
            done += 1
        lost = before - free_bytes(cupy)
        # Even one array of 1 byte a plan would take 512 bytes of each.
        assert lost < min(512 * done, 4 << 20), f"{lost} bytes lost in {done} plans"


def test_pickle() -> None:
    cupy, sparse = needs("cupy", "cupyx.scipy.sparse")
    A = matrix(120, 80, "complex64")
    x, z = vector(80, "complex64", 1), vector(120, "complex64", 2)
    for op in (nz.plan(A, device="gpu", transposed=True), nz.plan(sparse.csr_matrix(A))):
        again = pickle.loads(pickle.dumps(op))
        assert again.device == 0 and again.shape == op.shape and again.dtype == op.dtype
        check(again @ cupy.asarray(x), A, x, "unpickled")
        check(again.T @ cupy.asarray(z), A.T, z, "unpickled and transposed")


def main(names: list[str]) -> int:
    """Run the tests, those named or all; give the number that failed."""
    failed = 0
    skipped: tuple[type[BaseException], ...] = (Skipped,)
    if pytest is not None:
        skipped = (Skipped, pytest.skip.Exception)
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_") and callable(f)]
    for name, test in tests:
        if names and not any(n in name for n in names):
            continue
        start = time.perf_counter()
        try:
            test()
            word, why = "PASS", ""
        except skipped as e:
            word, why = "SKIP", str(e)
        except Exception as e:
            word, why = "FAIL", f"{type(e).__name__}: {e}"
            traceback.print_exc()
            failed += 1
        print(f"{word} {name} ({time.perf_counter() - start:.1f} s) {why}".rstrip(), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)

"""Matrices over processes, by mpi4py: each test starts itself under mpirun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nonzero as nz

pytest.importorskip("mpi4py")
MPIRUN = shutil.which("mpirun")

HEAD = """
import numpy as np, scipy.sparse as sp, nonzero as nz
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
def own(n):
    return range(n * rank // size, n * (rank + 1) // size)
def whole(v):
    return np.concatenate(comm.allgather(v))
"""


def run(script: str, ranks: int, folder: Path) -> str:
    """Run a script on so many ranks; what it prints."""
    if MPIRUN is None:
        pytest.skip("mpirun is not installed")
    path = folder / "script.py"
    path.write_text(HEAD + script)
    here = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [MPIRUN, "--oversubscribe", "-n", str(ranks), sys.executable, str(path)],
        cwd=folder,
        env={
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMP_WAIT_POLICY": "passive",
            "PYTHONPATH": os.pathsep.join([p for p in sys.path if p] + [str(here)]),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_products_and_solves(ranks: int, tmp_path: Path) -> None:
    out = run(
        """
A = nz.generate.laplace3d(12)
n = A.shape[0]
mine = own(n)
R = nz.dist.rows(A[mine.start:mine.stop])
assert R.shape == A.shape and R.rows == mine and R.nnz == A[mine.start:mine.stop].nnz
x = np.random.default_rng(0).standard_normal(n)
op = nz.dist.plan(R)
y = op @ x[op.cols.start:op.cols.stop]
assert np.allclose(whole(y), A @ x, rtol=0, atol=1e-12)
r = nz.dist.solve(R, (A @ x)[mine.start:mine.stop], tol=1e-10)
assert r.converged and r.method == "cg" and r.preconditioner == "amg", r
assert np.linalg.norm(whole(r.x) - x) <= 1e-7 * np.linalg.norm(x)
assert nz.dist.solve(R, (A @ x)[mine.start:mine.stop], x0=r.x, tol=1e-9).iterations == 0
if rank == 0:
    print("passed", repr(R))
""",
        ranks,
        tmp_path,
    )
    assert "passed <1728 x 1728 float64 over" in out


def test_files_and_other_matrices(tmp_path: Path) -> None:
    out = run(
        """
A = nz.generate.laplace2d(20) + 0.3 * sp.eye_array(400, k=1)
A = sp.csr_array(A)
if rank == 0:
    nz.write("A.mtx", A)
comm.Barrier()
R = nz.dist.read("A.mtx")
assert R.shape == (400, 400) and sum(comm.allgather(R.nnz)) == A.nnz
b = np.ones(400)[R.rows.start:R.rows.stop]
r = nz.dist.solve(R, b, method="bicgstab")
assert r.converged and np.linalg.norm(A @ whole(r.x) - 1) <= 2e-8 * 20
S = nz.dist.read("A.mtx", comm, dtype=np.float32)
assert S.dtype == np.float32
# A half of the processes by themselves.
half = comm.Split(rank % 2)
alone = nz.dist.solve(A[own(400).start:own(400).stop] if half.size == size else A, np.ones(
    len(own(400)) if half.size == size else 400), half)
assert alone.converged
if rank == 0:
    print("passed")
""",
        2,
        tmp_path,
    )
    assert "passed" in out


def test_what_is_wrong_on_one_is_told_by_all(tmp_path: Path) -> None:
    out = run(
        """
A = nz.generate.laplace2d(10)
mine = own(100)
R = nz.dist.rows(A[mine.start:mine.stop])
told = []
def refused(f, error=ValueError):
    try:
        f()
    except error as e:
        told.append(str(e))
    else:
        raise AssertionError("nothing was raised")
b = np.ones(len(mine) + (1 if rank == 1 else 0))
refused(lambda: nz.dist.solve(R, b))
refused(lambda: nz.dist.plan(R) @ b)
refused(lambda: nz.dist.solve(R, np.ones(len(mine)), maxiter=10 + rank))
refused(lambda: nz.dist.rows(A[mine.start:mine.stop].astype(np.float32 if rank else np.float64)))
refused(lambda: nz.dist.rows("A" if rank == 1 else A[mine.start:mine.stop]), TypeError)
refused(lambda: nz.dist.rows(A[mine.start:mine.stop, : 100 - rank]))
refused(lambda: nz.dist.solve(R, np.ones(len(mine)), method="no such method"))
refused(lambda: nz.dist.read("A.mtx", dtype="int8"), TypeError)
assert nz.dist.solve(R, np.ones(len(mine))).converged  # and all go on
if rank == 0:
    print("passed", told[0])
""",
        2,
        tmp_path,
    )
    assert "passed rank 1: b: of shape (51,), expected (50,)" in out


def test_without_a_gpu_all_are_refused(tmp_path: Path) -> None:
    out = run(
        """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = ""
R = nz.dist.rows(sp.csr_array(nz.generate.laplace2d(10))[own(100).start:own(100).stop])
for f in (nz.dist.plan, lambda A, device: nz.dist.solve(A, np.ones(len(R.rows)), device=device)):
    for device, error in (("gpu", nz.Unavailable), ("tpu", ValueError)):
        try:
            f(R, device=device)
        except error:
            continue
        raise AssertionError("nothing was raised")
if rank == 0:
    print("passed")
""",
        2,
        tmp_path,
    )
    assert "passed" in out


@pytest.mark.parametrize("ranks", [1, 2])
def test_on_gpus(ranks: int, tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    if nz.gpu_count() == 0:
        pytest.skip("no GPU")
    out = run(
        """
import cupy as cp
A = nz.generate.laplace3d(30)
n = A.shape[0]
mine = own(n)
R = nz.dist.rows(A[mine.start:mine.stop])
x = np.random.default_rng(0).standard_normal(n)
op = nz.dist.plan(R, device="gpu", share_gpu=True)
y = op @ x[mine.start:mine.stop]
assert np.allclose(whole(y), A @ x, rtol=0, atol=1e-12)
with cp.cuda.Device(op.device):
    there = op @ cp.asarray(x[mine.start:mine.stop])
    assert np.array_equal(there.get(), y)
    b = cp.asarray((A @ x)[mine.start:mine.stop])
r = nz.dist.solve(R, b, tol=1e-10, device="gpu", share_gpu=True)
assert r.converged and r.preconditioner == "amg", r
assert isinstance(r.x, cp.ndarray) and r.x.device.id == op.device
assert np.linalg.norm(whole(r.x.get()) - x) <= 1e-7 * np.linalg.norm(x)
again = nz.dist.solve(R, b.get(), tol=1e-10, device="gpu", share_gpu=True)
assert np.array_equal(again.x, r.x.get())
if rank == 0:
    print("passed", op.device)
""",
        ranks,
        tmp_path,
    )
    assert "passed" in out

"""Poisson's equation on a GPU: CuPy's solver with nonzero's product and multigrid."""

from __future__ import annotations

import sys
import time

import nonzero as nz

try:
    import cupy
    from cupyx.scipy.sparse.linalg import gmres
except ImportError:
    cupy = None


def main(points: int = 60) -> int:
    """Solve on points^3 unknowns; 0 where it is right, or there is no GPU."""
    if cupy is None or nz.gpu_count() == 0:
        print("This example needs CuPy and an NVIDIA GPU; there is nothing to show here.")
        return 0

    # The matrix is made on the CPU; the operator and the preconditioner lie on the GPU.
    A = nz.generate.laplace3d(points)
    op = nz.plan(A, device="gpu")
    M = nz.amg(A, device="gpu")
    b = cupy.ones(points**3)

    # CuPy's solvers take both as they are, and all vectors stay on the GPU.
    start = time.perf_counter()
    x, info = gmres(op, b, M=M)
    cupy.cuda.Device().synchronize()
    print(f"CuPy's gmres: {time.perf_counter() - start:.3f} s, info = {info}")

    # nonzero's own solver waits less for the GPU.
    start = time.perf_counter()
    x, info = nz.cg(op, b, rtol=1e-10, M=M)
    print(f"nz.cg: {time.perf_counter() - start:.3f} s, info = {info}")

    residual = float(cupy.linalg.norm(b - op @ x) / cupy.linalg.norm(b))
    print(f"relative residual: {residual:.1e}")
    return 0 if info == 0 and residual < 1e-8 else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))

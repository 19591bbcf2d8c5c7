"""Poisson's equation on a cube: by SciPy with nonzero's multigrid, and by nonzero alone."""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.sparse.linalg import cg

import nonzero as nz


def main(points: int = 40) -> int:
    """Solve on points^3 unknowns both ways; 0 where both are right."""
    # -Laplace u = 1 inside a unit cube, u = 0 on its surface.
    A = nz.generate.laplace3d(points)
    h = 1 / (points + 1)
    b = np.full(points**3, h * h)

    # SciPy iterates; the product and the preconditioner are nonzero's.
    start = time.perf_counter()
    op, M = nz.plan(A), nz.amg(A)
    ready = time.perf_counter()
    u, info = cg(op, b, rtol=1e-10, M=M)
    done = time.perf_counter()
    print(f"SciPy's cg: {done - ready:.3f} s after {ready - start:.3f} s of setup")

    # Without a preconditioner it takes many more iterations.
    start = time.perf_counter()
    plain, plain_info = cg(A, b, rtol=1e-10)
    print(f"SciPy's cg on its own: {time.perf_counter() - start:.3f} s")

    # nonzero chooses the method and the preconditioner, and says what it did.
    result = nz.solve(A, b, tol=1e-10)
    print(
        f"nz.solve: {result.solve_s:.3f} s after {result.setup_s:.3f} s of setup, "
        f"{result.iterations} iterations of {result.method} with {result.preconditioner}"
    )

    # The largest value is in the middle: 0.0562 for a fine grid.
    print(f"u in the middle: {u.max():.5f}")
    right = info == plain_info == 0 and result.converged and abs(u.max() - 0.0562) < h * h
    return 0 if right and np.allclose(u, result.x) and np.allclose(u, plain) else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))

"""Poisson's equation over processes, each with its own rows, on CPUs or on a GPU each.

    mpirun -n 2 python examples/python/over_ranks.py [N] [cpu | gpu]

N: points along each edge of the cube [64].
"""

import sys
import time

import numpy as np
import scipy.sparse as sp
from mpi4py import MPI

import nonzero as nz


def own_rows(n: int, first: int, last: int) -> sp.csr_array:
    """Rows first to last - 1 of the operator with seven points, with all n^3 columns."""
    row = np.arange(first, last, dtype=np.int64)
    x, y, z = row % n, row // n % n, row // n**2
    neighbours = [(x > 0, -1), (x < n - 1, 1), (y > 0, -n), (y < n - 1, n)]
    neighbours += [(z > 0, -n * n), (z < n - 1, n * n)]
    rows, cols = [row - first], [row]
    for inside, step in neighbours:
        rows.append(row[inside] - first)
        cols.append(row[inside] + step)
    values = np.full(sum(map(len, rows)), -1.0)
    values[: len(row)] = 6
    places = np.concatenate(rows), np.concatenate(cols)
    return sp.csr_array((values, places), shape=(last - first, n**3))


def main() -> None:
    """Plan, multiply and solve; rank 0 tells how it went."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    A = nz.dist.rows(own_rows(n, n**3 * rank // size, n**3 * (rank + 1) // size), comm)

    ones = np.ones(len(A.cols))
    product = nz.dist.plan(A, device=device)
    b = product @ ones
    comm.Barrier()
    start = time.perf_counter()
    for _ in range(10):
        product @ ones
    product_s = (time.perf_counter() - start) / 10

    start = time.perf_counter()
    result = nz.dist.solve(A, b, device=device)
    solve_s = time.perf_counter() - start
    residual = np.sqrt(comm.allreduce(np.sum((b - product @ result.x) ** 2)))
    residual /= np.sqrt(comm.allreduce(b @ b))
    if rank == 0:
        print(
            f"{n**3} unknowns on {size} ranks: {result.method} and {result.preconditioner}, "
            f"{result.iterations} iterations, residual {residual:.1e}; "
            f"a product {product_s * 1e3:.3g} ms, all of the solve {solve_s:.3g} s"
        )
    assert result.converged and residual <= 2e-8


if __name__ == "__main__":
    main()

"""PageRank of a real graph: which authors are central among those who write papers together."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import nonzero as nz

MATRICES = Path(__file__).resolve().parents[2] / "matrices"


def main(path: str = str(MATRICES / "CA-HepPh.mtx.gz")) -> int:
    """Rank the nodes and walk the same from one of them; 0 where both converge."""
    # Entry (i, j) says that i and j have written a paper together; .npz files can be read too.
    G = nz.read(path)
    links = np.diff(G.indptr)
    print(f"{G.shape[0]:,} nodes, {G.nnz:,} links, {np.count_nonzero(links):,} nodes with links")

    result = nz.pagerank(G)
    print(
        f"{result.iterations} iterations, {result.solve_s * 1e3:.0f} ms; the ranks are within "
        f"{result.error_bound:.0e} of the limit"
    )
    for node in np.argsort(-result.rank)[:5]:
        print(f"node {node}: rank {result.rank[node]:.2e}, {links[node]} links")

    # Who matters from where the first of them stands: the walk starts anew there.
    first = int(np.argmax(result.rank))
    from_first = np.zeros(G.shape[0])
    from_first[first] = 1
    near = nz.pagerank(G, personalization=from_first)
    print(f"nearest to node {first}: {np.argsort(-near.rank)[1:6].tolist()}")
    sums = result.rank.sum(), near.rank.sum()
    return 0 if result.converged and near.converged and np.allclose(sums, 1) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))

"""PageRank and partitions of graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero
from nonzero._arguments import real, whole
from nonzero._arrays import host_vector, stream_of
from nonzero._matrices import as_matrix
from nonzero._operator import device_number


@dataclass(frozen=True)
class PageRank:
    """The ranks of a graph's nodes.

    Attributes
    ----------
    rank : array, (n,)
        Of every node; they sum to 1.
    converged : bool
        Whether the last change is at most tol.
    iterations : int
        Done.
    changes : array, (iterations,)
        The change of every iteration, in the 1-norm.
    error_bound : float
        The ranks are at most so far from those of infinitely many iterations, in the 1-norm.
    setup_s, solve_s : float
        Of planning and of the iterations [s].
    """

    rank: NDArray[Any] = field(repr=False)
    converged: bool
    iterations: int
    changes: NDArray[np.float64] = field(repr=False)
    error_bound: float
    setup_s: float
    solve_s: float

    def __repr__(self) -> str:
        """Say how it ended, after how many iterations and how long."""
        ended = "converged" if self.converged else "not converged"
        return (
            f"<ranks of {len(self.rank)} nodes: {ended}, {self.iterations} iterations, "
            f"error at most {_nonzero.text_of_number(self.error_bound)}, "
            f"setup {_nonzero.text_of_time(self.setup_s)}, "
            f"solve {_nonzero.text_of_time(self.solve_s)}>"
        )


def pagerank(
    G: Any,
    *,
    damping: float = 0.85,
    tol: float = 1e-10,
    maxiter: int = 1000,
    personalization: Any = None,
    links_in_rows: bool = True,
    device: int | str | None = None,
    threads: int = 0,
) -> PageRank:
    """Rank the nodes of a graph by where a walk along its links is found in the long run.

    Parameters
    ----------
    G : sparse matrix, (n, n)
        As `plan` takes it; on a GPU it stays there. Every entry of its pattern is one link,
        whatever its value.
    damping : float
        Probability of following a link, between 0 and 1.
    tol : float
        Of the ranks' change in one iteration, in the 1-norm.
    maxiter : int
        Iterations at most.
    personalization : array, (n,), optional
        Where a walk goes on that follows no link: numbers, none negative. [anywhere]
    links_in_rows : bool
        Entry (i, j) is a link from i to j; False: from j to i.
    device : int or "cpu" or "gpu", optional
        Where to iterate. [where G lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.

    Returns
    -------
    PageRank
        Not converging is a value. The same bits in every run.

    Raises
    ------
    TypeError, ValueError
        Where G is no real square matrix, or an argument is out of its range.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> ring = (np.ones(3), [1, 2, 0], [0, 1, 2, 3])
    >>> nz.pagerank(nz.plan(ring, shape=(3, 3))).rank.round(3)
    array([0.333, 0.333, 0.333])
    """
    matrix = as_matrix(G, name="G")
    number = device_number(device, matrix)
    kept = matrix if matrix.device >= 0 and matrix.device == number else matrix.on_cpu()
    indptr, indices, data = kept.lent()
    if personalization is not None:
        personalization = host_vector(personalization, "personalization", kept.shape[0], kept.dtype)
        _check_weights(personalization)
    return PageRank(
        **_without(
            _nonzero.pagerank(
                kept.shape,
                indptr,
                indices,
                data,
                personalization,
                device=number,
                threads=whole(threads, "threads"),
                stream=stream_of(kept.data) if kept.device >= 0 else 0,
                links_in_rows=links_in_rows,
                damping=real(damping, "damping"),
                tol=real(tol, "tol", 0),
                maxiter=whole(maxiter, "maxiter"),
            ),
            "change",
        )
    )


def _check_weights(personalization: NDArray[Any]) -> None:
    wrong = np.flatnonzero(~((personalization >= 0) & np.isfinite(personalization)))
    if len(wrong) > 0:
        raise ValueError(
            f"personalization: {personalization[wrong[0]]} at position {wrong[0]}, expected a "
            "finite number, 0 or more"
        )
    with np.errstate(over="ignore"):
        total = np.sum(personalization, dtype=np.float64)
    if len(personalization) > 0 and not 0 < total < np.inf:
        raise ValueError(f"personalization: sums to {total}, expected a positive finite number")


@dataclass(frozen=True)
class Partition:
    """A graph in parts.

    Attributes
    ----------
    part : array of int, (n,)
        Of each node, 0 to parts - 1.
    sizes : array of int, (parts,)
        Nodes of each part.
    cut : int
        Edges between the parts.
    imbalance : float
        Nodes of the largest part over the mean, less 1.
    components : int
        Connected components of the graph.
    method : str
        The method that found it.
    """

    part: NDArray[np.int32] = field(repr=False)
    sizes: NDArray[np.int32]
    cut: int
    imbalance: float
    components: int
    method: str


def partition(
    G: Any, nparts: int = 2, *, imbalance: float = 0.03, method: str = "auto"
) -> Partition:
    """Cut a graph into parts of nearly equal size between which few edges run.

    Parameters
    ----------
    G : sparse matrix, (n, n)
        As `plan` takes it. Entries (i, j) and (j, i) are one edge, whatever their values; the
        diagonal does not count.
    nparts : int
        1 to n.
    imbalance : float
        Of the largest part, over the mean and less 1.
    method : {"auto", "metis", "spectral"}
        "auto": METIS where it is installed, else spectral.

    Returns
    -------
    Partition

    Raises
    ------
    TypeError, ValueError
        Where G is not square, or an argument is out of its range.
    Unavailable
        Where METIS is asked for and not installed.

    Examples
    --------
    >>> import nonzero as nz
    >>> parts = nz.partition(nz.generate.laplace2d(16), 2)
    >>> parts.cut, parts.sizes.tolist()
    (16, [128, 128])
    """
    host = as_matrix(G, name="G").on_cpu()
    r = _nonzero.partition(
        host.shape,
        *host.lent(),
        parts=whole(nparts, "nparts", 1, max(host.shape[0], 1)),
        imbalance=real(imbalance, "imbalance", 0),
        method=method,
    )
    return Partition(**r)


def _without(d: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in d.items() if k != key}

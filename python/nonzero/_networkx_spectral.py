"""The backend's functions by eigenvectors: hubs, authorities, and Fiedler's vector."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero
from nonzero._eigs import NoConvergence, eigsh
from nonzero._matrices import Matrix
from nonzero._networkx_graph import Graph
from nonzero._solvers import amg

#: Products for each iteration of NetworkX's, which are restarts of ARPACK with 20 vectors.
_PRODUCTS = 20

#: How NetworkX finds hubs where a call does not say: before 3.7 it had one way alone.
_HITS = "power_iteration" if "method" in inspect.signature(nx.hits).parameters else "svd"

_METHODS = ("tracemin", "tracemin_pcg", "tracemin_lu", "lanczos", "lobpcg")


def leading_vector(op: Any, tol: float, max_iter: int, v0: Any = None) -> NDArray[np.float64]:
    """Give the vector of the largest eigenvalue, of length 1, whose elements sum to 0 or more.

    Raises
    ------
    networkx.PowerIterationFailedConvergence
        Where it has not been found to the tolerance.
    """
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        _, v = eigsh(
            op, 1, which="LA", v0=v0, maxiter=_PRODUCTS * max_iter, tol=max(min(tol, 1e-8), 1e-12)
        )
    except NoConvergence as e:
        raise nx.PowerIterationFailedConvergence(max_iter) from e
    x: NDArray[np.float64] = v[:, 0]
    return -x if x.sum() < 0 else x


class _Gram:
    """The product with A^T A of a graph's matrix A."""

    def __init__(self, incoming: Any) -> None:
        self.of, self.shape, self.dtype = incoming, incoming.shape, incoming.dtype

    def matvec(self, x: Any) -> Any:
        return self.of @ (self.of.T @ x)


def _hits_start(G: Graph, nstart: dict[Any, float] | None) -> NDArray[np.float64]:
    """Give hubs that sum to 1, to iterate from."""
    if nstart is None:
        return np.full(len(G), 1.0 / len(G))
    missing = set(G.nodes) - nstart.keys()
    if missing:
        raise nx.NetworkXError(f"nstart must have a value for every node; missing: {missing}")
    h: NDArray[np.float64] = np.array([nstart[node] for node in G.nodes], float)
    if h.sum() == 0:
        raise nx.NetworkXError("nstart values must not sum to zero")
    h /= h.sum()
    return h


def _hits_iterated(
    op: Any, h: NDArray[np.float64], tol: float, max_iter: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give hubs and authorities, the largest of each 1, by the iterations of NetworkX."""
    back = op.T
    for _ in range(max_iter):
        a = op @ h
        new = back @ a
        largest = new.max()
        if largest == 0:  # no links: NetworkX goes on with what is no number
            break
        new /= largest
        change = np.abs(new - h).sum()
        h = new
        if change < tol:
            return h, a / a.max()
    raise nx.PowerIterationFailedConvergence(max_iter)


def hits(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
    *,
    method: str = _HITS,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Give hubs and authorities as `networkx.hits` does."""
    if method not in ("power_iteration", "svd"):
        raise ValueError(f"method not supported: {method}")
    if len(G) == 0:
        return {}, {}
    op = G.operator("weight")
    if method == "svd":
        v0 = None if nstart is None else np.array(list(nstart.values()), float)
        a = leading_vector(_Gram(op), tol, max_iter, v0)
        h = op.T @ a
    else:
        h, a = _hits_iterated(op, _hits_start(G, nstart), tol, max_iter)
    if normalized:
        h, a = h / h.sum(), a / a.sum()
    hubs, authorities = (dict(zip(G.nodes, v.tolist(), strict=True)) for v in (h, a))
    return hubs, authorities


def _neighbours(G: Graph, weight: str | None) -> Matrix:
    """Give the weights between different nodes, each in magnitude, of links in both directions."""
    rows: Any = G.sources()
    cols: Any = G.indices
    values = np.abs(G.weight(weight))
    joined = np.flatnonzero((rows != cols) & (values != 0))
    rows, cols, values = rows[joined], cols[joined], values[joined]
    if G.is_directed():
        rows, cols = np.r_[rows, cols], np.r_[cols, rows]
        values = np.r_[values, values]
        order = np.argsort(rows, kind="stable")
        rows, cols, values = rows[order], cols[order], values[order]
    n = len(G)
    return Matrix(values, cols, np.r_[0, np.cumsum(np.bincount(rows, minlength=n))], (n, n))


def _laplacian(W: Matrix, normalized: bool) -> Matrix:
    n = W.shape[0]
    rows = np.repeat(np.arange(n), np.diff(W.indptr))
    degree = np.bincount(rows, W.data, n)
    off: Any = -W.data
    diagonal: Any = degree
    if normalized:
        root = np.sqrt(degree)
        off, diagonal = off / (root[rows] * root[W.indices]), np.ones(n)
    ends = W.indptr[1:]
    return Matrix(
        np.insert(off, ends, diagonal),
        np.insert(W.indices, ends, np.arange(n, dtype=np.int32)),
        W.indptr + np.arange(n + 1),
        W.shape,
    )


def _part(W: Matrix, nodes: NDArray[np.int64]) -> Matrix:
    """Give the rows and columns of some nodes, which no weight joins to others."""
    place = np.zeros(W.shape[0], np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    inside = np.zeros(W.shape[0], bool)
    inside[nodes] = True
    kept = inside[rows]
    counts = np.diff(W.indptr)[nodes]
    return Matrix(
        W.data[kept], place[W.indices[kept]], np.r_[0, np.cumsum(counts)], (len(nodes), len(nodes))
    )


def _components(W: Matrix) -> NDArray[np.int32]:
    found: Any = _nonzero.components(W.shape, *W.lent(), strong=False)
    return np.asarray(found, np.int32)


def _fiedler(W: Matrix, normalized: bool, tol: float) -> tuple[float, NDArray[np.float64]]:
    """Give the second eigenvalue of the Laplacian of a connected graph, and its vector."""
    L = _laplacian(W, normalized)
    # NetworkX measures residuals in the 1-norm, which may be so much more.
    target = max(tol / np.sqrt(L.shape[0]), 1e-13)
    w, v = eigsh(L, 2, which="SA", tol=target, preconditioner=amg(L), maxiter=1_000_000)
    return float(w[1]), v[:, 1]


def _checked(G: Graph, method: str) -> None:
    if method not in _METHODS:
        raise nx.NetworkXError(f"unknown method {method!r}.")
    if len(G) < 2:
        raise nx.NetworkXError("graph has less than two nodes.")


def algebraic_connectivity(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> float:
    """Give the connectivity as `networkx.algebraic_connectivity` does."""
    _checked(G, method)
    W = _neighbours(G, weight)
    if _components(W).any():
        return 0.0
    if len(G) == 2:
        return 2.0 if normalized else 2.0 * float(W.data[: W.indptr[1]].sum())
    return _fiedler(W, normalized, tol)[0]


def fiedler_vector(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> NDArray[np.float64]:
    """Give the vector as `networkx.fiedler_vector` does; its sign is open there as well."""
    _checked(G, method)
    if G.is_directed():
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    W = _neighbours(G, weight)
    if _components(W).any():
        raise nx.NetworkXError("graph is not connected.")
    if len(G) == 2:
        return np.array([1.0, -1.0])
    return _fiedler(W, normalized, tol)[1]


def spectral_ordering(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> list[Any]:
    """Order nodes as `networkx.spectral_ordering` does, component by component."""
    if len(G) == 0:
        raise nx.NetworkXError("graph is empty.")
    if method not in _METHODS:
        raise nx.NetworkXError(f"unknown method {method!r}.")
    W = _neighbours(G, weight)
    numbers = _components(W)
    _, first = np.unique(numbers, return_index=True)
    order: list[Any] = []
    for number in np.argsort(first).tolist():
        nodes: Any = np.flatnonzero(numbers == number)
        if len(nodes) > 2:
            _, v = _fiedler(_part(W, nodes), normalized, tol)
            nodes = nodes[np.argsort(v, kind="stable")]
        order.extend(map(G.nodes.__getitem__, nodes.tolist()))
    return order


def spectral_bisection(
    G: Graph,
    weight: str | None = "weight",
    normalized: bool = False,
    tol: float = 1e-8,
    method: str = "tracemin_pcg",
    seed: Any = None,
) -> tuple[set[Any], set[Any]]:
    """Cut the graph by the signs of Fiedler's vector, as `networkx.spectral_bisection` does."""
    v = fiedler_vector(G, weight, normalized, tol, method)
    halves = (np.flatnonzero(v < 0), np.flatnonzero(v >= 0))
    below, above = (set(map(G.nodes.__getitem__, half.tolist())) for half in halves)
    return below, above

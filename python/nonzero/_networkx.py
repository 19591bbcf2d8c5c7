"""The backend "nonzero" of NetworkX: its functions, and which calls of them it takes.

NetworkX loads this module by the entry point `networkx.backends`. Arguments, results and errors are
those of the functions of the same name there; docs/guides/networkx.md tells what differs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from nonzero._matrices import Matrix
from nonzero._networkx_graph import Graph, from_networkx
from nonzero._networkx_info import FUNCTIONS
from nonzero._networkx_spectral import (
    algebraic_connectivity,
    fiedler_vector,
    hits,
    leading_vector,
    spectral_bisection,
    spectral_ordering,
)
from nonzero._operator import plan
from nonzero._solvers import factorize

__all__ = [
    "algebraic_connectivity",
    "can_run",
    "convert_from_nx",
    "convert_to_nx",
    "fiedler_vector",
    "hits",
    "should_run",
    "spectral_bisection",
    "spectral_ordering",
]

#: Graphs of fewer nodes are left to NetworkX where it is free to choose.
SMALL = 500

#: One pass over a graph, which takes no longer than converting it.
ONE_PASS = {
    "connected_components",
    "is_connected",
    "is_strongly_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_weakly_connected_components",
    "weakly_connected_components",
}


def convert_from_nx(
    G: Any,
    edge_attrs: dict[str, Any] | None = None,
    node_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> Graph:
    """Convert a graph, with the named attributes of its links, which must be real numbers."""
    if preserve_edge_attrs and edge_attrs is None:
        raise NotImplementedError("nonzero keeps attributes of links by their names alone")
    return from_networkx(G, edge_attrs)


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Convert a graph of ours to one of NetworkX; give back all else."""
    return result.to_networkx() if isinstance(result, Graph) else result


def _bound(name: str, args: Any, kwargs: Any) -> dict[str, Any]:
    signature = inspect.signature(globals()[name])
    return signature.bind(*args, **{k: v for k, v in kwargs.items() if k != "backend"}).arguments


def can_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Say whether a call can be taken, and where not, why."""
    if name not in FUNCTIONS:
        return f"nonzero has no {name}"
    given = _bound(name, args, kwargs)
    if callable(given.get("weight")):
        return "weights are the names of attributes, and not functions"
    if given.get("nodelist") is not None and set(given["nodelist"]) != set(given["G"]):
        return "nodelist is another set than the graph's nodes"
    if name == "eigenvector_centrality_numpy" and given["G"].is_directed():
        return "the matrix of a directed graph is not symmetric"
    return True


def should_run(name: str, args: Any, kwargs: Any) -> bool | str:
    """Say whether a call that can be taken will be faster than NetworkX's own."""
    G = _bound(name, args, kwargs)["G"]
    if not isinstance(G, Graph) and len(G) < SMALL:
        return f"the graph has fewer than {SMALL} nodes"
    if name in ONE_PASS and not isinstance(G, Graph) and not _is_kept(G):
        return "NetworkX has passed over the graph before it is converted"
    return True


def _is_kept(G: Any) -> bool:
    """Tell whether NetworkX keeps the graph as ours."""
    cache = getattr(G, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("nonzero"))


def _in_order(G: Graph, values: dict[Any, Any], default: float = 0.0) -> NDArray[np.float64]:
    return np.array([values.get(node, default) for node in G.nodes], float)


def _by_node(G: Graph, values: NDArray[np.float64]) -> dict[Any, float]:
    return dict(zip(G.nodes, values.tolist(), strict=True))


def _teleports(
    G: Graph, personalization: dict[Any, float] | None, dangling: dict[Any, float] | None
) -> tuple[Any, Any]:
    """Give where a walk goes on: of its own accord, and from a node without links."""
    n = len(G)
    p: Any = 1.0 / n
    if personalization is not None:
        p = _in_order(G, personalization)
        if p.sum() == 0:
            raise ZeroDivisionError
        p /= p.sum()
    if dangling is None:
        return p, p
    d = _in_order(G, dangling)
    return p, d / d.sum()


def pagerank(
    G: Graph,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, float] | None = None,
) -> dict[Any, float]:
    """Rank nodes as `networkx.pagerank` does, by the same iterations."""
    n = len(G)
    if n == 0:
        return {}

    def stochastic() -> tuple[Any, NDArray[np.int64]]:
        values = G.weight(weight)
        out = np.bincount(G.sources(), values, n)
        scale = np.divide(1.0, out, out=np.zeros(n), where=out != 0)
        A = G.incoming(values)
        shares = Matrix(A.data * scale[A.indices], A.indices, A.indptr, A.shape)
        return plan(shares), np.flatnonzero(out == 0)

    op, ends = G.made(("stochastic", weight), stochastic)
    p, d = _teleports(G, personalization, dangling)
    x = np.full(n, 1.0 / n)
    if nstart is not None:
        x = _in_order(G, nstart)
        x /= x.sum()
    for _ in range(max_iter):
        y = op @ x
        y *= alpha
        lost = alpha * x[ends].sum()
        y += lost * d + (1 - alpha) * p
        np.subtract(y, x, out=x)
        change = np.abs(x, out=x).sum()
        x = y
        if change < n * tol:
            return _by_node(G, x)
    raise nx.PowerIterationFailedConvergence(max_iter)


def google_matrix(
    G: Graph,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    nodelist: list[Any] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, float] | None = None,
) -> NDArray[np.float64]:
    """Give the matrix as `networkx.google_matrix` does."""
    n = len(G)
    A = np.zeros((n, n))
    if n == 0:
        return A
    np.add.at(A, (G.sources(), G.indices), G.weight(weight))
    p, d = (np.broadcast_to(v, n) for v in _teleports(G, personalization, dangling))
    A[A.sum(axis=1) == 0] = d
    A /= A.sum(axis=1)[:, np.newaxis]
    A = alpha * A + (1 - alpha) * p
    if nodelist is None:
        return A
    order = [G.index[node] for node in nodelist]
    return A[np.ix_(order, order)]


def eigenvector_centrality(
    G: Graph,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """Give centralities as `networkx.eigenvector_centrality` does, by the same iterations."""
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    x = np.ones(n) if nstart is None else np.array([nstart[node] for node in G.nodes], float)
    if not x.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    x /= x.sum()
    op = G.operator(weight)
    for _ in range(max_iter):
        y = op @ x
        y += x
        y /= np.linalg.norm(y) or 1
        if np.abs(y - x).sum() < n * tol:
            return _by_node(G, y)
        x = y
    raise nx.PowerIterationFailedConvergence(max_iter)


def eigenvector_centrality_numpy(
    G: Graph, weight: str | None = None, max_iter: int = 50, tol: float = 0
) -> dict[Any, float]:
    """Give centralities as `networkx.eigenvector_centrality_numpy` does."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if G.components(strong=False).any():
        raise nx.AmbiguousSolution(
            "`eigenvector_centrality_numpy` does not give consistent results for disconnected "
            "graphs"
        )
    x = leading_vector(G.operator(weight), tol, max_iter)
    return _by_node(G, x)


def _constant(G: Graph, beta: Any) -> NDArray[np.float64]:
    try:
        return np.full(len(G), float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        return _in_order(G, beta)


def katz_centrality(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Give centralities as `networkx.katz_centrality` does, by the same iterations."""
    n = len(G)
    if n == 0:
        return {}
    x = np.zeros(n) if nstart is None else np.array([nstart[node] for node in G.nodes], float)
    b = _constant(G, beta)
    op = G.operator(weight)
    for _ in range(max_iter):
        y = op @ x
        y *= alpha
        y += b
        if np.abs(y - x).sum() < n * tol:
            norm = np.linalg.norm(y) if normalized else 1.0
            return _by_node(G, y / norm if norm > 0 else y)
        x = y
    raise nx.PowerIterationFailedConvergence(max_iter)


def katz_centrality_numpy(
    G: Graph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Give centralities as `networkx.katz_centrality_numpy` does, by sparse factors."""
    n = len(G)
    if n == 0:
        return {}
    nodes = G.nodes
    if hasattr(beta, "keys"):
        nodes = list(beta)
        b = _constant(G, beta)
    else:
        try:
            b = np.ones(n) * beta
        except (TypeError, ValueError, AttributeError) as error:
            raise nx.NetworkXError("beta must be a number") from error
    x = _katz_solution(G, alpha * G.weight(weight), b)
    norm = np.sign(x.sum()) * np.linalg.norm(x) if normalized else 1
    by_node = _by_node(G, x / norm)
    return by_node if nodes is G.nodes else {node: by_node[node] for node in nodes}


def _katz_solution(
    G: Graph, values: NDArray[np.float64], b: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve with the identity less the graph's matrix of these values.

    Where that is singular, as with alpha the inverse of an eigenvalue, LAPACK's rounding errors
    solve with a matrix near by; so does this.
    """
    A = G.incoming(values)
    n, ends = len(G), A.indptr[1:]
    indices = np.insert(A.indices, ends, np.arange(n, dtype=np.int32))
    indptr = A.indptr + np.arange(n + 1)
    for one in (1.0, 1.0 + 1e-13):
        shifted = Matrix(np.insert(-A.data, ends, one), indices, indptr, (n, n))
        try:
            return np.asarray(factorize(shifted).solve(b))
        except ValueError as error:
            why = error
    raise np.linalg.LinAlgError("Singular matrix") from why


def _sets(G: Graph, numbers: NDArray[np.int32]) -> list[set[Any]]:
    """Give the nodes of each number, by ascending numbers."""
    order = np.argsort(numbers, kind="stable").tolist()
    ends = np.cumsum(np.bincount(numbers)).tolist() if len(order) > 0 else []
    nodes = list(map(G.nodes.__getitem__, order))
    return [set(nodes[a:b]) for a, b in zip([0, *ends], ends, strict=False)]


def _as_met(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Give the numbers of components in the order of their first nodes."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int32)
    place[np.argsort(first)] = np.arange(len(first))
    return place[inverse]


def _count(G: Graph, *, strong: bool) -> int:
    return int(np.max(G.components(strong=strong), initial=-1)) + 1


def _is_one(G: Graph, *, strong: bool) -> bool:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _count(G, strong=strong) == 1


def connected_components(G: Graph) -> Iterator[set[Any]]:
    """Give the sets that `networkx.connected_components` gives, in its order."""
    yield from _sets(G, _as_met(G.components(strong=False)))


def number_connected_components(G: Graph) -> int:
    """Count the components."""
    return _count(G, strong=False)


def is_connected(G: Graph) -> bool:
    """Tell whether there is one component."""
    return _is_one(G, strong=False)


def node_connected_component(G: Graph, n: Any) -> set[Any]:
    """Give the component of a node."""
    numbers = G.components(strong=False)
    members = np.flatnonzero(numbers == numbers[G.index[n]])
    return set(map(G.nodes.__getitem__, members.tolist()))


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


def strongly_connected_components(G: Graph) -> Iterator[set[Any]]:
    """Give the sets of `networkx.strongly_connected_components`, in its order."""
    yield from _sets(G, G.components(strong=True))


def number_strongly_connected_components(G: Graph) -> int:
    """Count the strong components."""
    return _count(G, strong=True)


def is_strongly_connected(G: Graph) -> bool:
    """Tell whether there is one strong component."""
    return _is_one(G, strong=True)

"""Graphs of NetworkX as the arrays of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero
from nonzero._matrices import Matrix
from nonzero._operator import Operator, plan

#: Conversions from NetworkX so far, in this process.
conversions = 0


class Graph:
    """A graph as NetworkX's backends have them: nodes, links, and numbers on the links.

    Attributes
    ----------
    nodes : list
        In NetworkX's order.
    indptr, indices : array
        Of node u the links to indices[indptr[u]:indptr[u + 1]], in NetworkX's order. Parallel links
        stand side by side.
    weights : dict
        Of an attribute, its number on each link.
    """

    __networkx_backend__ = "nonzero"

    def __init__(
        self,
        nodes: list[Any],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: dict[str, NDArray[np.float64]],
        *,
        directed: bool,
        multigraph: bool,
    ) -> None:
        self.nodes, self.indptr, self.indices, self.weights = nodes, indptr, indices, weights
        self._directed, self._multigraph = directed, multigraph
        self._index: dict[Any, int] | None = None
        self._made: dict[Any, Any] = {}

    def is_directed(self) -> bool:
        """Tell whether links have a direction."""
        return self._directed

    def is_multigraph(self) -> bool:
        """Tell whether links may be parallel."""
        return self._multigraph

    def number_of_nodes(self) -> int:
        """Count the nodes."""
        return len(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: Any) -> bool:
        return node in self.index

    @property
    def index(self) -> dict[Any, int]:
        """The number of each node."""
        if self._index is None:
            self._index = dict(zip(self.nodes, range(len(self.nodes)), strict=True))
        return self._index

    def sources(self) -> NDArray[np.int32]:
        """Give the node that each link leaves."""
        return np.repeat(np.arange(len(self.nodes), dtype=np.int32), np.diff(self.indptr))

    def weight(self, name: str | None) -> NDArray[np.float64]:
        """Give the weight of each link, 1 where they have no name."""
        if name is None:
            return np.ones(len(self.indices))
        return self.weights[name]

    def incoming(self, values: NDArray[np.float64]) -> Matrix:
        """Give the matrix with a row for each node and the links to it, by their weights."""
        n = len(self.nodes)
        if not self._directed:  # each link is there in both directions
            return Matrix(values, self.indices, self.indptr, (n, n))

        def search() -> Any:
            order = np.argsort(self.indices, kind="stable")
            counts = np.bincount(self.indices, minlength=n)
            return order, self.sources()[order], np.r_[0, np.cumsum(counts)]

        order, sources, indptr = self.made("incoming links", search)
        return Matrix(values[order], sources, indptr, (n, n))

    def made(self, what: Any, make: Callable[[], Any]) -> Any:
        """Give what is made of the graph once."""
        if what not in self._made:
            self._made[what] = make()
        return self._made[what]

    def operator(self, weight: str | None) -> Operator:
        """Plan the product that sums, for each node, what the links to it bring."""
        found: Operator = self.made(
            ("operator", weight), lambda: plan(self.incoming(self.weight(weight)))
        )
        return found

    def components(self, *, strong: bool) -> NDArray[np.int32]:
        """Give the number of each node's component."""

        def search() -> Any:
            n, ones = len(self.nodes), np.ones(len(self.indices))
            return _nonzero.components((n, n), self.indptr, self.indices, ones, strong=strong)

        found: NDArray[np.int32] = self.made(("components", strong), search)
        return found

    def to_networkx(self) -> Any:
        """Give the graph as one of NetworkX, with the attributes that have been kept."""
        G = _kind(self._directed, self._multigraph)()
        G.add_nodes_from(self.nodes)
        rows, names = self.sources(), list(self.weights)
        keep = slice(None) if self._directed else np.flatnonzero(self.indices <= rows)
        values = zip(*(self.weights[name][keep].tolist() for name in names), strict=True)
        if not names:
            values = iter([()] * len(self.indices[keep]))  # type: ignore[assignment]
        for u, v, w in zip(rows[keep].tolist(), self.indices[keep].tolist(), values, strict=True):
            G.add_edge(self.nodes[u], self.nodes[v], **dict(zip(names, w, strict=True)))
        return G


def from_networkx(G: Any, edge_attrs: dict[str, Any] | None) -> Graph:
    """Convert a graph of NetworkX, with these attributes of its links and their defaults."""
    global conversions
    conversions += 1
    if type(G._adj) is not dict:
        G = _copied(G)
    nodes = list(G)
    index = dict(zip(nodes, range(len(nodes)), strict=True))
    directed, multigraph = G.is_directed(), G.is_multigraph()
    rows = list(map(G._adj.__getitem__, nodes))
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    total = int(counts.sum())
    names = chain.from_iterable(rows)
    # Most graphs number their nodes from 0 on: then nothing need be looked up.
    numbered = nodes == list(range(len(nodes)))
    found = names if numbered else map(index.__getitem__, names)
    indices = np.fromiter(found, np.int32, total)
    values = methodcaller("values")
    if multigraph:
        parallel = np.fromiter(map(len, chain.from_iterable(map(values, rows))), np.int64, total)
        indices = np.repeat(indices, parallel)
        ends = np.r_[0, np.cumsum(parallel)]
        counts = np.diff(ends[np.r_[0, np.cumsum(counts)]])

    def links() -> Iterator[Any]:
        data = chain.from_iterable(map(values, rows))
        return chain.from_iterable(map(values, data)) if multigraph else data

    bare = edge_attrs is None or not any(links())
    weights = {}
    for name, default in (edge_attrs or {}).items():
        weights[name] = (
            np.full(len(indices), default, np.float64)
            if bare
            else np.fromiter(map(methodcaller("get", name, default), links()), float, len(indices))
        )
    graph = Graph(
        nodes,
        np.r_[0, np.cumsum(counts)],
        indices,
        weights,
        directed=directed,
        multigraph=multigraph,
    )
    graph._index = index
    return graph


def _copied(view: Any) -> Any:
    """Copy a view of a graph link by link.

    Neighbours of a filtered one are miscounted, and an undirected one of a directed graph may say
    two things of a link.
    """
    G = _kind(view.is_directed(), view.is_multigraph())()
    G.add_nodes_from(view)
    G.add_edges_from(view.edges(data=True))
    return G


def _kind(directed: bool, multigraph: bool) -> Any:
    import networkx as nx

    return [[nx.Graph, nx.MultiGraph], [nx.DiGraph, nx.MultiDiGraph]][directed][multigraph]

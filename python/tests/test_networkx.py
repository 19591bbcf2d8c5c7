"""The backend of NetworkX: against NetworkX's own results, and by NetworkX's own tests."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

nx = pytest.importorskip("networkx", "3.4")

from nonzero import _networkx as backend  # noqa: E402
from nonzero import _networkx_graph  # noqa: E402
from nonzero._networkx_graph import Graph  # noqa: E402
from nonzero._networkx_info import FUNCTIONS, get_info  # noqa: E402

if "nonzero" not in nx.utils.backends.backends:
    pytest.skip("nonzero runs without being installed", allow_module_level=True)

nx.config.warnings_to_ignore.add("cache")

KINDS = {c.__name__: c for c in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)}

#: What `hits` takes as its method: nothing before NetworkX 3.7.
HITS_METHODS = (
    ["power_iteration", "svd"] if "method" in inspect.signature(nx.hits).parameters else []
)


def graph(kind: str, nodes: int = 60, links: int = 150, seed: int = 0, weights: bool = True) -> Any:
    """Give a graph of nodes of several types with loops and, where there may be, parallel links."""
    rng = np.random.default_rng(seed)
    names = [i if i % 3 else f"n{i}" for i in range(nodes)]
    G = KINDS[kind]()
    G.add_nodes_from(names)
    for _ in range(links):
        u, v = rng.integers(0, nodes, 2)
        if weights and rng.random() < 0.7:
            G.add_edge(names[u], names[v], weight=float(rng.random() + 0.1))
        else:
            G.add_edge(names[u], names[v])
    return G


def close(ours: dict[Any, float], theirs: dict[Any, float], tol: float = 1e-10) -> None:
    assert list(ours) == list(theirs)
    assert all(type(value) is float for value in ours.values())
    assert max(abs(ours[k] - theirs[k]) for k in theirs) <= tol


def both(name: str, G: Any, **options: Any) -> tuple[Any, Any]:
    function = getattr(nx, name)
    return function(G, backend="nonzero", **options), function(G, backend="networkx", **options)


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_pagerank(kind: str, weights: bool) -> None:
    G = graph(kind, weights=weights)
    nodes = list(G)
    some = {nodes[3]: 2.0, nodes[10]: 1.0}
    choices: list[dict[str, Any]] = [
        {},
        {"alpha": 0.5, "tol": 1e-12, "max_iter": 1000},
        {"weight": None},
        {"weight": "none has it"},
        {"personalization": some},
        {"nstart": some},
        {"dangling": some},
        {"personalization": some, "dangling": {nodes[0]: 1}, "nstart": some},
    ]
    for options in choices:
        close(*both("pagerank", G, **options), 1e-15)
    choices = [{}, {"personalization": some, "dangling": some, "nodelist": nodes[::-1]}]
    for options in choices:
        ours, theirs = both("google_matrix", G, **options)
        assert np.allclose(ours, theirs, rtol=1e-14, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_hits(kind: str) -> None:
    G = graph(kind, weights=True)
    choices: list[dict[str, Any]] = [{}, {"nstart": dict.fromkeys(G, 1.0)}]
    choices += [{"method": method} for method in HITS_METHODS]
    for options in choices:
        for ours, theirs in zip(*both("hits", G, max_iter=1000, **options), strict=True):
            close(ours, theirs, 1e-6)
    hubs, authorities = nx.hits(G, normalized=False, max_iter=1000, backend="nonzero")
    assert min(hubs.values()) >= -1e-7 and min(authorities.values()) >= -1e-7


@pytest.mark.skipif(not HITS_METHODS, reason="this NetworkX has one method of hits")
@pytest.mark.parametrize("kind", KINDS)
def test_hits_by_iterations(kind: str) -> None:
    G = graph(kind)
    some = {node: 1.0 + k % 3 for k, node in enumerate(reversed(list(G)))}
    choices: list[dict[str, Any]] = [{}, {"normalized": False}, {"nstart": some}, {"tol": 1e-3}]
    for options in choices:
        for ours, theirs in zip(*both("hits", G, max_iter=1000, **options), strict=True):
            close(ours, theirs, 1e-14)
    # Two singular values are the largest: the start says which vectors come out.
    for ours, theirs in zip(*both("hits", nx.star_graph(9)), strict=True):
        close(ours, theirs, 1e-15)


@pytest.mark.parametrize("kind", ["Graph", "DiGraph"])
def test_centralities(kind: str) -> None:
    G = graph(kind)
    some = {node: 1.0 + (hash(node) % 3) for node in G}
    for weight in (None, "weight"):
        choices: list[dict[str, Any]] = [{}, {"nstart": some}]
        for more in choices:
            options = {"weight": weight, "max_iter": 1000, **more}
            close(*both("eigenvector_centrality", G, **options), 1e-14)
        choices = [{}, {"beta": some}, {"normalized": False}, {"beta": 3.0}]
        for more in choices:
            options = {"weight": weight, "alpha": 0.05, **more}
            close(*both("katz_centrality_numpy", G, **options), 1e-12)
            close(*both("katz_centrality", G, **options), 1e-14)


def test_eigenvector_centrality_of_a_connected_graph() -> None:
    G = nx.connected_watts_strogatz_graph(200, 6, 0.3, seed=1)
    close(*both("eigenvector_centrality_numpy", G), 1e-6)
    with pytest.raises(nx.AmbiguousSolution):
        nx.eigenvector_centrality_numpy(graph("Graph", links=20), backend="nonzero")


@pytest.mark.parametrize("links", [0, 20, 60, 150])
def test_components(links: int) -> None:
    for kind in ("Graph", "MultiGraph"):
        G = graph(kind, links=links)
        ours, theirs = both("connected_components", G)
        assert list(ours) == list(theirs)
        for name in ("number_connected_components", "is_connected"):
            ours, theirs = both(name, G)
            assert ours == theirs and type(ours) is type(theirs)
        for node in ("n0", 7):
            ours, theirs = both("node_connected_component", G, n=node)
            assert ours == theirs
    for kind in ("DiGraph", "MultiDiGraph"):
        G = graph(kind, links=links)
        ours, theirs = both("weakly_connected_components", G)
        assert list(ours) == list(theirs)
        ours, theirs = both("strongly_connected_components", G)
        assert list(ours) == list(theirs)
        for way in ("weakly", "strongly"):
            for name in (f"number_{way}_connected_components", f"is_{way}_connected"):
                ours, theirs = both(name, G)
                assert ours == theirs and type(ours) is type(theirs)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("kind", ["Graph", "MultiGraph"])
def test_fiedler(kind: str, normalized: bool) -> None:
    G = graph(kind)
    G = G.subgraph(max(nx.connected_components(G), key=len)).copy()
    options: dict[str, Any] = {"normalized": normalized, "seed": 1}
    ours, theirs = both("algebraic_connectivity", G, **options)
    assert type(ours) is float and ours == pytest.approx(theirs, rel=1e-6)
    ours, theirs = both("fiedler_vector", G, **options)
    assert np.abs(ours @ theirs) == pytest.approx(np.linalg.norm(theirs), rel=1e-6)
    ours, theirs = both("spectral_bisection", G, **options)
    ours, theirs = ([{str(node) for node in half} for half in two] for two in (ours, theirs))
    assert ours in (theirs, theirs[::-1])
    ours, theirs = both("spectral_ordering", G, **options)
    assert ours in (theirs, theirs[::-1])


def test_spectral_ordering_of_several_components_and_of_a_directed_graph() -> None:
    for kind in ("Graph", "DiGraph"):
        G = graph(kind, nodes=40, links=25)
        ours, theirs = both("spectral_ordering", G, seed=1)
        assert sorted(map(str, ours)) == sorted(map(str, theirs))
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.spectral_bisection(nx.DiGraph([(1, 2), (2, 3)]), backend="nonzero")


def test_a_large_path_has_a_fiedler_vector() -> None:
    G = nx.path_graph(2000)
    found = nx.algebraic_connectivity(G, backend="nonzero")
    assert found == pytest.approx(4 * np.sin(np.pi / 4000) ** 2, rel=1e-2)
    order = nx.spectral_ordering(nx.grid_2d_graph(40, 4), backend="nonzero")
    rows = [row for row, _ in order]
    assert abs(np.corrcoef(rows, range(160))[0, 1]) > 0.99


def test_a_graph_is_converted_once() -> None:
    G = graph("DiGraph")
    before = _networkx_graph.conversions
    first = nx.pagerank(G, backend="nonzero")
    assert nx.pagerank(G, backend="nonzero") == first
    assert _networkx_graph.conversions == before + 1
    kept = G.__networkx_cache__["backends"]["nonzero"]
    assert all(isinstance(one, Graph) for one in kept.values())
    list(nx.weakly_connected_components(G, backend="nonzero"))  # without weights: less than is kept
    assert _networkx_graph.conversions == before + 1
    G.add_edge("n0", "n3", weight=100.0)
    close(*both("pagerank", G), 1e-15)
    assert _networkx_graph.conversions == before + 2


@pytest.mark.parametrize("kind", KINDS)
def test_converting_there_and_back(kind: str) -> None:
    G = graph(kind)
    H = backend.convert_from_nx(G, edge_attrs={"weight": 1})
    assert (len(H), H.is_directed(), H.is_multigraph()) == (60, G.is_directed(), G.is_multigraph())
    assert list(H) == list(G) and "n0" in H and "no such" not in H
    back = backend.convert_to_nx(H)
    assert type(back) is type(G) and list(back) == list(G)

    def links(G: Any) -> list[Any]:
        ends = ((str(u), str(v), w) for u, v, w in G.edges(data="weight", default=1.0))
        return sorted((u, v, w) if G.is_directed() else (*sorted((u, v)), w) for u, v, w in ends)

    assert links(back) == links(G)
    assert backend.convert_to_nx(3) == 3
    # A graph of ours is taken as it is.
    close(nx.pagerank(H), nx.pagerank(G, backend="networkx"), 1e-15)


def test_views_are_converted() -> None:
    G = graph("DiGraph")
    for view in (G.subgraph(list(G)[:30]), G.reverse(copy=False), nx.to_undirected(G)):
        close(*both("pagerank", view), 1e-15)
    for kind in ("MultiGraph", "MultiDiGraph"):
        G = graph(kind, nodes=20, links=300)
        view = nx.subgraph_view(G, filter_edge=lambda u, v, key: (hash(str(v)) + key) % 3 == 0)
        close(*both("pagerank", view), 1e-15)


def test_what_it_takes_and_what_it_leaves() -> None:
    G = graph("DiGraph")
    said = backend.can_run("pagerank", (G,), {"weight": lambda u, v, d: 1})
    assert "functions" in str(said)
    assert "symmetric" in str(backend.can_run("eigenvector_centrality_numpy", (G,), {}))
    assert "nodelist" in str(backend.can_run("google_matrix", (G,), {"nodelist": [1, 2]}))
    assert "has no louvain" in str(backend.can_run("louvain", (G,), {}))
    assert backend.can_run("pagerank", (G,), {"alpha": 0.5, "backend": None}) is True
    assert "fewer than" in str(backend.should_run("pagerank", (G,), {}))
    large = nx.path_graph(2000)
    assert backend.should_run("pagerank", (large,), {}) is True
    assert "before it is converted" in str(backend.should_run("is_connected", (large,), {}))
    nx.pagerank(large, backend="nonzero")
    assert backend.should_run("is_connected", (large,), {}) is True
    assert set(get_info()["functions"]) == set(FUNCTIONS)
    for name in FUNCTIONS:
        assert callable(getattr(backend, name))
        assert "nonzero" in getattr(nx, name).backends


@pytest.mark.filterwarnings("ignore:invalid value")  # NetworkX, of a graph without links
def test_errors_are_those_of_networkx() -> None:
    G = nx.path_graph(5)
    empty = nx.Graph()
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("pagerank", G, {"max_iter": 0}),
        ("pagerank", G, {"personalization": {0: 0}}),
        ("hits", G, {"max_iter": 0}),
        *[("hits", G, {"max_iter": 0, "method": method}) for method in HITS_METHODS],
        ("eigenvector_centrality", empty, {}),
        ("eigenvector_centrality", G, {"nstart": dict.fromkeys(G, 0)}),
        ("eigenvector_centrality", G, {"max_iter": 0}),
        ("eigenvector_centrality_numpy", empty, {}),
        ("katz_centrality", G, {"beta": {0: 1}}),
        ("katz_centrality", G, {"max_iter": 0}),
        ("katz_centrality_numpy", G, {"beta": {0: 1}}),
        ("katz_centrality_numpy", G, {"beta": "many"}),
        ("is_connected", empty, {}),
        ("is_weakly_connected", nx.DiGraph(), {}),
        ("is_strongly_connected", nx.DiGraph(), {}),
        ("connected_components", nx.DiGraph(), {}),
        ("node_connected_component", G, {"n": 99}),
        ("algebraic_connectivity", nx.empty_graph(1), {}),
        ("algebraic_connectivity", G, {"method": "none"}),
        ("fiedler_vector", nx.empty_graph(3), {}),
        ("spectral_ordering", empty, {}),
    ]
    if HITS_METHODS:
        calls += [
            ("hits", G, {"method": "none"}),
            ("hits", G, {"max_iter": 1}),
            ("hits", G, {"nstart": {0: 1.0}}),
            ("hits", G, {"nstart": dict.fromkeys(G, 0.0)}),
            ("hits", nx.empty_graph(3), {}),
        ]
    for name, of, options in calls:
        with pytest.raises(Exception) as theirs:
            getattr(nx, name)(of, backend="networkx", **options)
        with pytest.raises(theirs.type):
            getattr(nx, name)(of, backend="nonzero", **options)
    assert nx.pagerank(empty, backend="nonzero") == {}
    G.add_edge(0, 1, weight="heavy")
    with pytest.raises((TypeError, ValueError)):
        nx.pagerank(G, backend="nonzero")


#: NetworkX's own tests of what the backend has: a part of all, which take minutes. Those of the
#: last file ask functions that are not claimed for what they expect.
OWN = [
    "algorithms/link_analysis",
    "algorithms/centrality/tests/test_eigenvector_centrality.py",
    "algorithms/centrality/tests/test_katz_centrality.py",
    "algorithms/components",
    "linalg/tests/test_algebraic_connectivity.py",
]


@pytest.mark.parametrize("fallback, passed", [(True, 200), (False, 80)])
def test_networkx_by_its_own_tests(fallback: bool, passed: int, tmp_path: Path) -> None:
    """With NetworkX for what the backend leaves, and without: that is expected to fail then."""
    spec = importlib.util.find_spec("networkx")
    assert spec is not None and spec.origin is not None
    files = [Path(spec.origin).parent / name for name in (OWN if fallback else OWN[:-1])]
    if not all(file.exists() for file in files):
        pytest.skip("this NetworkX comes without its tests")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore",
         *(["--fallback-to-nx"] if fallback else []), *map(str, files)],
        cwd=tmp_path,
        env={**os.environ, "NETWORKX_TEST_BACKEND": "nonzero"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    count = re.search(r"(\d+) passed", done.stdout)
    print(done.stdout.splitlines()[-1])
    assert count is not None and int(count[1]) >= passed

#!/usr/bin/env python3
"""NetworkX's functions by the backend nonzero and by NetworkX itself, on random graphs.

    OMP_NUM_THREADS=2 bench/networkx_bench.py --nodes 100000 --edges 1000000 --json networkx.json

The graphs are nx.gnm_random_graph, directed and not. Theirs is the function with
backend="networkx"; ours with backend="nonzero", once with the graph converted anew each time and
once from NetworkX's cache. Both have run once before. Seconds by the clock: the least of
three turns, which alternate. `differs` is the largest difference of two values, over the largest value.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

import networkx as nx

import nonzero
from nonzero import _networkx_graph

TURNS = 3
#: The function, of directed graphs or not, and what of its result is compared.
CASES = [
    ("pagerank", True),
    ("pagerank", False),
    ("hits", True),
    ("eigenvector_centrality", False),
    ("katz_centrality", True),
    ("connected_components", False),
    ("strongly_connected_components", True),
]
OPTIONS = {"katz_centrality": {"alpha": 0.01}}


def timed(f):
    start = time.perf_counter()
    result = f()
    return result, time.perf_counter() - start


def values(result):
    if isinstance(result, tuple):
        return values(result[0])
    return list(result.values()) if isinstance(result, dict) else sorted(map(len, result))


def measure(name, G):
    function, options = getattr(nx, name), OPTIONS.get(name, {})

    def run(backend):
        result = function(G, backend=backend, **options)
        return result if isinstance(result, (dict, tuple)) else list(result)

    def converted():
        G.__networkx_cache__.clear()
        return run("nonzero")

    least = {"networkx_s": float("inf"), "converted_s": float("inf"), "cached_s": float("inf")}
    for turn in range(TURNS + 1):
        theirs, networkx_s = timed(lambda: run("networkx"))
        before = _networkx_graph.conversions
        _, converted_s = timed(converted)
        ours, cached_s = timed(lambda: run("nonzero"))
        assert _networkx_graph.conversions == before + 1
        if turn > 0:
            for key, seconds in zip(least, (networkx_s, converted_s, cached_s)):
                least[key] = min(least[key], seconds)
    a, b = values(theirs), values(ours)
    assert len(a) == len(b)
    return {
        **least,
        "differs": max(map(lambda x, y: abs(x - y), a, b)) / max(map(abs, a)),
        "converted": least["networkx_s"] / least["converted_s"],
        "cached": least["networkx_s"] / least["cached_s"],
    }


def write(options, results):
    if options.json is None:
        return
    told = {
        "command": f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', '')} "
        f"bench/networkx_bench.py --nodes {options.nodes} --edges {options.edges}",
        "commit": options.commit,
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "networkx": nx.__version__,
        "nonzero": nonzero.__version__,
        "note": options.note,
        "results": results,
    }
    options.json.write_text(json.dumps(told, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="*", help="functions")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--commit", default="", help="of nonzero, for the JSON")
    parser.add_argument("--note", default="", help="what the machine was doing, for the JSON")
    options = parser.parse_args()
    nx.config.warnings_to_ignore.add("cache")
    graphs = {
        directed: nx.gnm_random_graph(options.nodes, options.edges, seed=1, directed=directed)
        for directed in (True, False)
    }
    results = []
    for name, directed in CASES:
        if options.only and name not in options.only:
            continue
        r = {"function": name, "directed": directed, **measure(name, graphs[directed])}
        results.append(r)
        print(
            f"{name:30} {'directed' if directed else 'undirected':10} "
            f"networkx {r['networkx_s']:7.3f} s, converted {r['converted_s']:6.3f} s "
            f"({r['converted']:.1f}x), cached {r['cached_s']:6.3f} s ({r['cached']:.1f}x), "
            f"differs {r['differs']:.1e}",
            flush=True,
        )
        write(options, results)


if __name__ == "__main__":
    main()

"""The backend as NetworkX lists it: read whenever NetworkX is imported, so it loads nothing."""

from __future__ import annotations

from typing import Any

#: Functions of NetworkX that the backend has, and what it says of them beyond their docstrings.
FUNCTIONS = {
    "pagerank": "The iterations of NetworkX, to the same tolerance, by a planned product.",
    "google_matrix": "",
    "hits": "The iterations of NetworkX, by a planned product; `svd` by `nonzero.eigsh`, with hubs "
    "and authorities that are positive where the result is not normalised.",
    "eigenvector_centrality": "The iterations of NetworkX, by a planned product.",
    "eigenvector_centrality_numpy": "Of undirected graphs, by `nonzero.eigsh`.",
    "katz_centrality": "The iterations of NetworkX, by a planned product.",
    "katz_centrality_numpy": "By sparse factors, and no dense matrix.",
    "connected_components": "",
    "number_connected_components": "",
    "is_connected": "",
    "node_connected_component": "",
    "weakly_connected_components": "",
    "number_weakly_connected_components": "",
    "is_weakly_connected": "",
    "strongly_connected_components": "",
    "number_strongly_connected_components": "",
    "is_strongly_connected": "",
    "algebraic_connectivity": "By `nonzero.eigsh`, whatever the method.",
    "fiedler_vector": "By `nonzero.eigsh`, whatever the method.",
    "spectral_ordering": "By `nonzero.eigsh`, whatever the method.",
    "spectral_bisection": "By `nonzero.eigsh`, whatever the method.",
}


def get_info() -> dict[str, Any]:
    """Describe the backend, as the entry point `networkx.backend_info` does."""
    return {
        "backend_name": "nonzero",
        "project": "nonzero",
        "package": "nonzero-sparse",
        "short_summary": "Sparse matrix products, solvers and eigenpairs at the speed of memory.",
        "functions": {
            name: {"additional_docs": said} if said else {} for name, said in FUNCTIONS.items()
        },
    }

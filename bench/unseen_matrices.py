#!/usr/bin/env python3
"""Makes matrices of kinds that the thirty hold none of, as SciPy's .npz files: graphs of nearest
neighbours, counts of terms and genes, graphs of images, KKT systems, power grids, meshes, LPs.
Constants of the CPU's planner and of packing are tuned on the set `tune` and judged on the set
`judge`, which has other kinds and other sizes (docs/experiments/performance.md). The set `again`
has the kinds of `judge` with other seeds, constraint matrices of LPs and terms by Zipf's law; `lp`
has constraint matrices with long rows among short ones in sizes for a GPU, and their transposes.

    bench/unseen_matrices.py SET FOLDER [NAME ...]
"""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay, cKDTree


def from_places(rows, cols, row, col, values):
    """Entries at these places; values of one place are added."""
    matrix = sp.csr_matrix(sp.coo_matrix((values, (row, col)), shape=(rows, cols)))
    matrix.sort_indices()
    return matrix


def neighbours(points, count, values):
    """Each point's nearest ones, `values` of the distances."""
    distance, near = cKDTree(points).query(points, count + 1)
    n = len(points)
    return from_places(n, n, np.repeat(np.arange(n), count), near[:, 1:].ravel(),
                       values(distance[:, 1:].ravel()))


def counts(rows, cols, nnz, exponent, seed):
    """How often: rows and columns both by power laws, in no order."""
    g = np.random.default_rng(seed)
    row = g.permutation(rows)[(g.random(nnz) ** exponent * rows).astype(int)]
    col = g.permutation(cols)[(g.random(nnz) ** (2 * exponent) * cols).astype(int)]
    return from_places(rows, cols, row, col, np.ones(nnz))


def image(height, width, radius, seed):
    """Pixels within `radius` of one another, weighted by how alike they are."""
    bright = np.random.default_rng(seed).random((height, width))
    number = np.arange(height * width).reshape(height, width)
    row, col, weight = [], [], []
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            here = np.s_[max(0, -dy):height - max(0, dy), max(0, -dx):width - max(0, dx)]
            there = np.s_[max(0, dy):height + min(0, dy), max(0, dx):width + min(0, dx)]
            row.append(number[here].ravel())
            col.append(number[there].ravel())
            weight.append(np.exp(-(bright[here] - bright[there]).ravel() ** 2))
    n = height * width
    return from_places(n, n, np.concatenate(row), np.concatenate(col), np.concatenate(weight))


def saddle(H, A):
    """The KKT matrix of min x'Hx/2 with A x = b."""
    return sp.csr_matrix(sp.bmat([[H, A.T], [A, None]]))


def scattered(rows, cols, per_row, seed):
    g = np.random.default_rng(seed)
    return from_places(rows, cols, np.repeat(np.arange(rows), per_row),
                       g.integers(0, cols, rows * per_row), g.standard_normal(rows * per_row))


def grid_of_lines(n, loops, seed):
    """Admittances: a tree whose nodes hang on one not far before them, closed by some lines."""
    g = np.random.default_rng(seed)
    child = np.arange(1, n)
    parent = child - 1 - np.minimum(child - 1, g.exponential(20, n - 1).astype(int))
    a = np.r_[child, g.integers(0, n, loops)]
    b = np.r_[parent, np.clip(a[n - 1:] + g.integers(-500, 500, loops), 0, n - 1)]
    value = g.random(len(a)) + 0.1
    lines = from_places(n, n, np.r_[a, b], np.r_[b, a], -np.r_[value, value])
    return sp.csr_matrix(lines - sp.diags(np.asarray(lines.sum(axis=1)).ravel()))


def mesh(points, dimension, order, seed):
    """Which points of a triangulation share a simplex; along a curve, or in no order."""
    g = np.random.default_rng(seed)
    where = g.random((points, dimension))
    if order == "curve":  # strips of a fortieth, each from left to right
        where = where[np.lexsort((where[:, 0], *(np.floor(40 * where[:, 1:]).T)))]
    cells = Delaunay(where).simplices
    corners = cells.shape[1]
    row = np.repeat(cells, corners, axis=1).ravel()
    col = np.tile(cells, corners).ravel()
    matrix = from_places(points, points, row, col, np.ones(len(row)))
    matrix.data = g.standard_normal(matrix.nnz)
    return matrix


def normal_blocks(n, seed):
    return sp.diags(np.random.default_rng(seed).random(n) + 1)


def two_stage(scenarios, first, second, constraints, per_row, links, seed):
    """Constraints T x + W y_s = h_s of every scenario s: x is common to all, y_s its own. Each
    column of x has `links` entries, each of the constraints `per_row` in y_s."""
    g = np.random.default_rng(seed)
    rows = scenarios * constraints
    own = np.repeat(np.arange(rows), per_row)
    col = first + own // constraints * second + g.integers(0, second, len(own))
    linked = np.concatenate([g.choice(rows, links, replace=False) for _ in range(first)])
    shared = np.repeat(np.arange(first), links)
    values = g.standard_normal(len(own) + len(linked))
    return from_places(rows, first + scenarios * second, np.r_[own, linked], np.r_[col, shared],
                       values)


def set_covering(elements, sets, per_set, seed):
    """Which sets cover an element: few long rows, many short columns, of ones."""
    g = np.random.default_rng(seed)
    col = np.repeat(np.arange(sets), per_set)
    matrix = from_places(elements, sets, g.integers(0, elements, len(col)), col, np.ones(len(col)))
    matrix.data[:] = 1
    return matrix


def transport(sources, sinks, seed):
    """Supplies and demands over some arcs of a bipartite graph."""
    g = np.random.default_rng(seed)
    arcs = 12 * (sources + sinks)
    source, sink = g.integers(0, sources, arcs), sources + g.integers(0, sinks, arcs)
    arc = np.arange(arcs)
    return from_places(sources + sinks, arcs, np.r_[source, sink], np.r_[arc, arc],
                       np.ones(2 * arcs))


def flows(nodes, arcs, commodities, seed):
    """Multi-commodity flow: each commodity is conserved, and all share the capacity of an arc."""
    g = np.random.default_rng(seed)
    tail = g.integers(0, nodes, arcs)
    head = (tail + 1 + g.integers(0, nodes - 1, arcs)) % nodes
    arc = np.arange(arcs)
    graph = from_places(nodes, arcs, np.r_[tail, head], np.r_[arc, arc],
                        np.r_[np.ones(arcs), -np.ones(arcs)])
    kept = sp.kron(sp.identity(commodities), graph)
    shared = sp.kron(np.ones((1, commodities)), sp.identity(arcs))
    return sp.csr_matrix(sp.vstack([kept, shared]))


def assignment(agents, tasks, per_agent, seed):
    """Generalised assignment: every task once, and a capacity for each agent."""
    g = np.random.default_rng(seed)
    pairs = agents * per_agent
    agent = np.repeat(np.arange(agents), per_agent)
    task = g.integers(0, tasks, pairs)
    pair = np.arange(pairs)
    return from_places(tasks + agents, pairs, np.r_[task, tasks + agent], np.r_[pair, pair],
                       np.r_[np.ones(pairs), g.integers(5, 25, pairs)])


def terms(documents, words, tokens, seed):
    """How often a word is in a document: words by Zipf's law, a third of them of the document's
    topic, lengths of documents by a lognormal one."""
    g = np.random.default_rng(seed)
    length = g.lognormal(0, 1, documents)
    row = g.choice(documents, tokens, p=length / length.sum())
    weight = np.arange(1, words + 1) ** -1.05
    col = np.searchsorted(np.cumsum(weight / weight.sum()), g.random(tokens)).clip(0, words - 1)
    of_topic = g.random(tokens) < 0.3
    col[of_topic] = (col[of_topic] + row[of_topic] % 50 * (words // 50)) % words
    return from_places(documents, words, row, col, np.ones(tokens))


def judged(first):
    """The kinds that judge, of seeds from `first` on."""
    return {
        "neighbours_6d": lambda: neighbours(np.random.default_rng(first).random((80_000, 6)), 15,
                                            lambda d: np.exp(-d)),
        "neighbours_3d": lambda: neighbours(
            np.random.default_rng(first + 1).random((200_000, 3)), 6, np.sqrt),
        "gene_counts": lambda: counts(19_465, 2_898, 4_500_000, 1.0, first + 2),
        "terms_by_documents": lambda: counts(90_000, 12_000, 2_000_000, 2.0, first + 3),
        "image_24": lambda: image(300, 400, 2, first + 4),
        "image_8_large": lambda: image(900, 900, 1, first + 5),
        "saddle_mesh": lambda: saddle(mesh(60_000, 2, "curve", first + 6),
                                      scattered(9_000, 60_000, 4, first + 6)),
        "saddle_wide": lambda: saddle(normal_blocks(200_000, first + 7),
                                      scattered(20_000, 200_000, 30, first + 7)),
        "power_grid": lambda: grid_of_lines(500_000, 60_000, first + 8),
        "power_grid_small": lambda: grid_of_lines(60_000, 30_000, first + 9),
        "mesh_3d_curve": lambda: mesh(90_000, 3, "curve", first + 10),
        "mesh_3d_shuffled": lambda: mesh(90_000, 3, "none", first + 11),
        "mesh_2d_shuffled": lambda: mesh(200_000, 2, "none", first + 12),
        "ratings_small": lambda: counts(40_000, 8_000, 1_000_000, 1.2, first + 13),
    }


SETS = {
    "tune": {
        "neighbours_2d": lambda: neighbours(np.random.default_rng(1).random((150_000, 2)), 8,
                                            lambda d: np.ones(len(d))),
        "term_counts": lambda: counts(20_000, 60_000, 3_000_000, 1.5, 2),
        "image_8": lambda: image(400, 500, 1, 3),
        "saddle_random": lambda: saddle(normal_blocks(120_000, 4),
                                        scattered(60_000, 120_000, 6, 4)),
        "lines": lambda: grid_of_lines(300_000, 120_000, 5),
        "mesh_2d_curve": lambda: mesh(150_000, 2, "curve", 6),
        "random_12": lambda: scattered(150_000, 150_000, 12, 7),
        "mesh_2d_none": lambda: mesh(90_000, 2, "none", 8),
        "mesh_2d_none_large": lambda: mesh(350_000, 2, "none", 31),
        "mesh_3d_strips": lambda: mesh(50_000, 3, "curve", 32),
        "mesh_3d_strips_large": lambda: mesh(160_000, 3, "curve", 33),
        "mesh_3d_none": lambda: mesh(50_000, 3, "none", 34),
        "mesh_3d_none_large": lambda: mesh(160_000, 3, "none", 35),
        "purchases": lambda: counts(60_000, 15_000, 700_000, 1.3, 36),
        "neighbours_4d": lambda: neighbours(np.random.default_rng(37).random((120_000, 4)), 10,
                                            np.sqrt),
        "saddle_strips": lambda: saddle(mesh(100_000, 2, "curve", 38),
                                        scattered(15_000, 100_000, 5, 38)),
        "lines_small": lambda: grid_of_lines(40_000, 15_000, 39),
    },
    "judge": judged(11),
    "again": judged(51) | {
        "lp_two_stage": lambda: two_stage(100, 200, 800, 500, 10, 1500, 65),
        "lp_two_stage_T": lambda: two_stage(100, 200, 800, 500, 10, 1500, 65).T,
        "lp_set_covering": lambda: set_covering(1_000, 150_000, 12, 66),
        "lp_transport": lambda: transport(30_000, 50_000, 67),
        "lp_flows": lambda: flows(1_500, 6_000, 60, 68),
        "lp_assignment": lambda: assignment(400, 8_000, 1_500, 69),
        "documents": lambda: terms(40_000, 30_000, 4_000_000, 70),
        "documents_T": lambda: terms(40_000, 30_000, 4_000_000, 70).T,
    },
    "lp": {
        "two_stage": lambda: two_stage(600, 400, 1_000, 1_000, 10, 7_000, 81),
        "two_stage_T": lambda: two_stage(600, 400, 1_000, 1_000, 10, 7_000, 81).T,
        "set_covering": lambda: set_covering(5_000, 1_000_000, 12, 82),
        "set_covering_T": lambda: set_covering(5_000, 1_000_000, 12, 82).T,
    },
}


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in SETS:
        print(__doc__, file=sys.stderr)
        return 2
    makers, folder, names = SETS[arguments[0]], Path(arguments[1]), arguments[2:]
    unknown = set(names) - set(makers)
    if unknown:
        print(f"unseen_matrices: no {', '.join(sorted(unknown))}", file=sys.stderr)
        return 3
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in makers.items():
        if not names or name in names:
            matrix = sp.csr_matrix(make())
            matrix.sort_indices()
            sp.save_npz(folder / f"{name}.npz", matrix, compressed=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

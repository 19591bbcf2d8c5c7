"""PageRank, partitions, files, model problems, timings and pictures, against known answers."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import nonzero as nz
from oracle import DTYPES, matrix, numbers


def ranks(G: Any, damping: float, teleport: Any = None) -> Any:
    """Give PageRank by a dense solve: (I - d (S + u e_0')) r = (1 - d) t."""
    n = G.shape[0]
    t = np.full(n, 1 / n) if teleport is None else np.asarray(teleport) / np.sum(teleport)
    links = (G.toarray() != 0).astype(float)
    out = links.sum(axis=1)
    S = np.where(out[:, None] > 0, links / np.maximum(out, 1)[:, None], t)
    return np.linalg.solve(np.eye(n) - damping * S.T, (1 - damping) * t)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pagerank_is_that_of_a_dense_solve(dtype: str) -> None:
    G = matrix(60, 60, dtype, fill=0.05)  # with nodes that link to none
    assert (np.diff(G.indptr) == 0).any()
    tol = 1e-12 if dtype == "float64" else 1e-5
    for damping in (0.5, 0.85):
        r = nz.pagerank(G, damping=damping, tol=tol)
        assert r.converged and r.iterations == len(r.changes) and r.changes[-1] <= tol
        assert abs(r.rank.sum() - 1) < 1e-5 and r.setup_s > 0 and r.solve_s > 0
        error = np.abs(r.rank - ranks(G, damping)).sum()
        assert error <= r.error_bound + 100 * np.finfo(dtype).eps
    teleport = np.arange(60.0)
    r = nz.pagerank(G, tol=tol, personalization=teleport)
    assert np.allclose(r.rank, ranks(G, 0.85, teleport), atol=1e-4 if dtype == "float32" else 1e-10)


def test_pagerank_of_links_in_columns() -> None:
    G = matrix(40, 40, fill=0.1)
    there = nz.pagerank(G, tol=1e-13)
    back = nz.pagerank(sp.csr_array(G.T), tol=1e-13, links_in_rows=False)
    assert np.allclose(there.rank, back.rank, atol=1e-12)
    assert np.array_equal(nz.pagerank(nz.plan(G), tol=1e-13).rank, there.rank)
    assert not nz.pagerank(G, maxiter=1, tol=1e-15).converged


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("method", ["auto", "metis", "spectral"])
def test_partitions(parts: int, method: str) -> None:
    G = nz.generate.laplace2d(20)
    try:
        p = nz.partition(G, parts, method=method, imbalance=0.05)
    except nz.Unavailable as e:
        pytest.skip(str(e))
    assert p.part.shape == (400,) and p.part.dtype == np.int32
    assert np.array_equal(np.bincount(p.part, minlength=parts), p.sizes) and len(p.sizes) == parts
    coo = G.tocoo()
    crossing = (p.part[coo.row] != p.part[coo.col]).sum() // 2
    assert p.cut == crossing and p.components == 1
    assert p.imbalance == pytest.approx(np.max(p.sizes) / (400 / parts) - 1)
    assert p.imbalance <= 0.1
    assert p.cut <= {1: 0, 2: 30, 3: 50, 7: 130}[parts]


def test_components_of_a_graph() -> None:
    G = sp.block_diag([nz.generate.laplace2d(4)] * 3, format="csr")
    p = nz.partition(G, 3)
    assert p.components == 3 and p.cut == 0 and p.sizes.tolist() == [16, 16, 16]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["A.mtx", "A.mtx.gz", "A.npz"])
def test_what_is_written_is_read(dtype: str, name: str, tmp_path: Path) -> None:
    A = matrix(20, 30, dtype)
    path = tmp_path / name
    nz.write(path, A)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    for given in (path, str(path), bytes(path)):
        B = nz.read(given, dtype=dtype)  # type: ignore[arg-type]
        assert isinstance(B, sp.csr_array) and B.dtype == A.dtype and B.shape == A.shape
        assert (A != B).nnz == 0
    assert nz.read(path).dtype == np.dtype("complex128" if "complex" in dtype else "float64")
    assert (nz.read(path, threads=2).astype(dtype) != A).nnz == 0
    theirs: Any = sp.load_npz(path) if name.endswith("npz") else scipy.io.mmread(path)
    assert np.array_equal(theirs.toarray().astype(dtype), A.toarray())


def test_files_of_others(tmp_path: Path) -> None:
    A = matrix(20, 30)
    scipy.io.mmwrite(tmp_path / "A.mtx", A, precision=17)
    sp.save_npz(tmp_path / "A.npz", A)
    (tmp_path / "other.name").write_bytes(gzip.compress((tmp_path / "A.mtx").read_bytes()))
    for name in ("A.mtx", "A.npz", "other.name"):
        assert np.array_equal(nz.read(tmp_path / name).toarray(), A.toarray())
    symmetric = A[:, :20] + A[:, :20].T
    scipy.io.mmwrite(tmp_path / "S.mtx", symmetric, precision=17, symmetry="symmetric")
    assert np.array_equal(nz.read(tmp_path / "S.mtx").toarray(), symmetric.toarray())


def test_edge_lists(tmp_path: Path) -> None:
    cycle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    texts = {
        "a.csv": "author_id,coauthor_id\n1,2\n2,3\n3,1\n",
        "A.CSV": "1, 2\n2, 3\n3, 1\n",
        "b.csv": "001,01\n01,1\n1,001\n",
        "c.csv": '\ufeff"from","to","w"\na,b,"1"\nb,c,1\nc,a,1\n',
        "d.csv": "#java,go\ngo,r\nr,#java\n",
        "e.edgelist": "1 2 {}\n2 3 {'weight': 1}\n3 1 {}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert np.array_equal(nz.read(tmp_path / name).toarray(), cycle), name
    (tmp_path / "head.csv").write_text("source,target\n")
    assert nz.read(tmp_path / "head.csv").shape == (0, 0)
    (tmp_path / "doubt.csv").write_text("author,coauthor\nAnn,Bob\n")
    with pytest.raises(ValueError, match="names of columns or the nodes of an edge"):
        nz.read(tmp_path / "doubt.csv")
    (tmp_path / "wide.csv").write_text("1,2\n", encoding="utf-16")
    with pytest.raises(ValueError, match="UTF-16"):
        nz.read(tmp_path / "wide.csv")


def test_a_petsc_vector_behind_a_matrix(tmp_path: Path) -> None:
    matrix_bytes = np.array([1211216, 3, 3, 4, 2, 1, 1, 0, 1, 1, 2], ">i4").tobytes()
    vector = np.array([1211214, 3], ">i4").tobytes() + np.array([1, 2, 3], ">f8").tobytes()
    path = tmp_path / "a.petsc"
    path.write_bytes(matrix_bytes + np.array([4, 1, 5, 6], ">f8").tobytes() + vector)
    A = nz.read(path)
    assert A.dtype == np.float64
    assert np.array_equal(A.toarray(), [[4, 1, 0], [0, 5, 0], [0, 0, 6]])


def test_a_write_that_fails_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "A.mtx"
    nz.write(path, matrix(3, 3))
    before = path.read_bytes()
    broken = ([1.0, 1.0], [0, 9], [0, 1, 2])
    with pytest.raises(ValueError):
        nz.write(path, nz.plan(broken, shape=(2, 2)))
    assert path.read_bytes() == before


MODELS: dict[str, tuple[Any, Any]] = {
    "laplace2d": (lambda **o: nz.generate.laplace2d(5, 4, **o), (20, 20)),
    "laplace3d": (lambda **o: nz.generate.laplace3d(3, 4, 5, **o), (60, 60)),
    "laplace27": (lambda **o: nz.generate.laplace27(3, 4, 5, **o), (60, 60)),
    "elasticity3d": (lambda **o: nz.generate.elasticity3d(2, poisson=0.2, **o), (54, 54)),
    "banded": (lambda **o: nz.generate.banded(30, 3, fill=0.5, **o), (30, 30)),
    "random": (lambda **o: nz.generate.random(20, 30, 4, **o), (20, 30)),
    "powerlaw": (lambda **o: nz.generate.powerlaw(50, 4.0, **o), (50, 50)),
    "rmat": (lambda **o: nz.generate.rmat(6, 4, **o), (64, 64)),
    "circuit": (lambda **o: nz.generate.circuit(50, 2, rails=2, **o), (50, 50)),
    "blocks": (lambda **o: nz.generate.blocks(6, 3, per_row=2, **o), (18, 18)),
    "stokes2d": (lambda **o: nz.generate.stokes2d(4, 3, **o), (32, 32)),
    "stokes3d": (lambda **o: nz.generate.stokes3d(3, 2, 4, **o), (78, 78)),
    "mixed2d": (lambda **o: nz.generate.mixed2d(3, **o), (33, 33)),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_model_problems(model: str, dtype: str) -> None:
    make, shape = MODELS[model]
    A = make(dtype=dtype)
    assert isinstance(A, sp.csr_array) and A.shape == shape and A.dtype == np.dtype(dtype)
    assert A.nnz > 0 and A.has_canonical_format
    assert np.array_equal(make(dtype=dtype).toarray(), A.toarray())
    if model in ("banded", "random", "powerlaw", "rmat", "circuit", "blocks"):
        assert not np.array_equal(make(dtype=dtype, seed=1).toarray(), A.toarray())


def test_laplacians_are_sums_of_kronecker_products() -> None:
    def line(n: int) -> Any:
        return sp.diags_array(
            [-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
        )

    plane = sp.kronsum(line(5), line(4))
    assert np.array_equal(nz.generate.laplace2d(5, 4).toarray(), plane.toarray())
    assert np.array_equal(
        nz.generate.laplace3d(5, 4, 3).toarray(), sp.kronsum(plane, line(3)).toarray()
    )
    full = nz.generate.laplace27(4)
    assert (full.diagonal() == 26).all() and set(full.data) == {26.0, -1.0}
    stiff = nz.generate.elasticity3d(3).toarray()
    assert np.allclose(stiff, stiff.T) and np.linalg.eigvalsh(stiff)[0] > 0


def test_timings_are_right_and_sorted() -> None:
    A = nz.generate.laplace2d(20)
    study = nz.bench(
        A, methods=["csr.serial", "ell.row"], threads=[1, 2], seconds=0.01, name="grid"
    )
    assert {(r["method"], r["threads"]) for r in study.results} >= {
        ("csr.serial", 1),
        ("ell.row", 1),
        ("ell.row", 2),
    }
    for r in study.results:
        assert r["matrix"] == "grid" and 0 < r["min_s"] <= r["median_s"] and r["spread"] >= 0
        assert r["gflops"] == pytest.approx(2 * A.nnz / r["median_s"] * 1e-9)
        assert r["gbps"] > 0 and r["setup_s"] >= 0 and r["bytes_per_entry"] >= 8
        assert r["error_bounds"] <= 1
    quickest = min(study.results, key=lambda r: r["median_s"])
    assert study.fastest() == {"grid": quickest["method"]}
    lines = str(study).splitlines()
    assert lines[0].split()[:3] == ["matrix", "method", "threads"]
    assert lines[1].split()[1] == quickest["method"] and len(lines) == len(study.results) + 1
    assert study._repr_html_().count("<tr>") == len(lines)


def test_methods_that_decline_say_why() -> None:
    A = nz.generate.random(300, 300, 3)
    study = nz.bench(A, methods=["dia.row", "csr.serial"], seconds=0.01)
    by_method = {r["method"]: r for r in study.results}
    assert by_method["dia.row"]["declined"] and "median_s" not in by_method["dia.row"]
    assert "dia.row" not in str(study) and not by_method["csr.serial"]["declined"]


def test_a_study_of_several(tmp_path: Path) -> None:
    nz.write(tmp_path / "stored.mtx.gz", nz.generate.laplace2d(10))
    A = matrix(20, 20)
    study = nz.study(
        [tmp_path / "stored.mtx.gz", ("named", A), A, nz.plan(A)],
        methods="csr.serial",
        seconds=0.005,
    )
    names = ["stored", "named", "matrix 2", "matrix 3"]
    assert list(study.fastest()) == names and [r["matrix"] for r in study.results] == names


def test_pictures() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    A = nz.generate.laplace2d(8)
    axes = nz.spy(A, size=64)
    drawn = np.asarray(axes.get_images()[0].get_array())
    assert drawn.shape == (64, 64) and np.array_equal(drawn > 0, A.toarray() != 0)
    assert axes.get_ylabel() == "64 rows" and str(A.nnz) in axes.get_title()
    mine = plt.subplots()[1]
    assert nz.spy(nz.plan(A), ax=mine, size=16) is mine
    assert np.asarray(mine.get_images()[0].get_array()).shape == (16, 16)
    plt.close("all")


def test_values_from_numbers_of_numpy() -> None:
    four: Any = np.int64(4)
    two: Any = np.int32(2)
    tol: Any = np.float32(1e-5)
    assert nz.generate.laplace2d(four).shape == (16, 16)
    A = nz.generate.laplace2d(4)
    assert nz.plan(A, threads=two).shape == (16, 16)
    assert nz.eigsh(A, two)[0].shape == (2,)
    b = numbers(np.random.default_rng(0), 16, "float64")
    assert nz.solve(A, b, tol=tol).converged

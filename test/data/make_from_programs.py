#!/usr/bin/env python3
"""Writes the files of from_programs/, each by the program that its name begins with.

    make_from_programs.py [PROGRAM...]

PROGRAM: scipy, networkx, pandas, r, petsc or metis [all]. Needs SciPy, NetworkX, pandas, R's
Rscript, PETSc of real and of complex numbers with mpicc as Debian has it, METIS's m2gmetis. What the
files hold is told in test/from_programs_test.cpp. They are committed; run this to add one.
"""

import os
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "from_programs")
MATRIX = [[4.0, 1.0, 0.0, 0.0], [0.0, 5.5, 0.0, -2.0], [0.0, 0.0, 6.0, 0.0], [1e-3, 0.0, 0.0, 1 / 3]]
EDGES = [(1, 2, 0.5), (2, 3, 2.0), (3, 1, 1e-3)]
NAMED = [("Ann", "Bo Li", 0.5), ("Bo Li", "C, D", 2.0), ("C, D", "Ann", 1e-3)]


def path(name):
    return os.path.join(FOLDER, name)


def scipy():
    import numpy as np
    import scipy.io as sio
    import scipy.sparse as sp

    A = sp.csc_array(np.array(MATRIX))
    whole = sp.csc_array(np.round(10 * np.array(MATRIX)).astype(np.int64))
    sio.hb_write(path("scipy_real.hb"), A)
    sio.hb_write(path("scipy_integer.hb"), whole)
    sio.mmwrite(path("scipy_general.mtx"), A)
    sio.mmwrite(path("scipy_symmetric.mtx"), A + A.T)
    sio.mmwrite(path("scipy_complex.mtx"), A * (1 + 1j))
    sio.mmwrite(path("scipy_array.mtx"), A.toarray())
    sio.savemat(path("scipy.mat"), {"x": np.ones(4), "A": A}, do_compression=True)
    for form in ("csr", "csc", "coo"):
        sp.save_npz(path(f"scipy_{form}.npz"), A.asformat(form))


def networkx():
    import networkx as nx

    G = nx.DiGraph()
    G.add_weighted_edges_from(EDGES)
    nx.write_edgelist(G, path("networkx_attributes.edgelist"))
    nx.write_edgelist(G, path("networkx_attributes.csv"), delimiter=",")
    nx.write_weighted_edgelist(G, path("networkx_weights.edgelist"))
    nx.write_edgelist(G, path("networkx_plain.txt"), data=False)
    named = nx.DiGraph()
    named.add_weighted_edges_from((s.replace(",", ""), t.replace(",", ""), w) for s, t, w in NAMED)
    nx.write_weighted_edgelist(named, path("networkx_names.tsv"), delimiter="\t")


def pandas():
    import pandas as pd

    edges = pd.DataFrame(EDGES, columns=["author_id", "coauthor_id", "papers"])
    named = pd.DataFrame(NAMED, columns=["source", "target", "weight"])
    edges.to_csv(path("pandas_numbers.csv"), index=False)
    edges.to_csv(path("pandas_semicolons.csv"), index=False, sep=";")
    edges.to_csv(path("pandas_tabs.tsv"), index=False, sep="\t")
    edges[["author_id", "coauthor_id"]].to_csv(path("pandas_unweighted.csv"), index=False)
    named.to_csv(path("pandas_names.csv"), index=False, encoding="utf-8-sig")
    named.to_csv(path("pandas_blanks.txt"), index=False, sep=" ")
    edges.to_csv(path("pandas_refused_index.csv"))
    edges.to_csv(path("pandas_refused_utf16.csv"), index=False, encoding="utf-16")
    edges.to_csv(path("pandas_refused_decimal_commas.csv"), index=False, sep=";", decimal=",")
    named[["source", "target"]].rename(columns={"source": "who", "target": "whom"}).to_csv(
        path("pandas_refused_head.csv"), index=False
    )


def r():
    def column(values):
        return "c(" + ",".join(f'"{v}"' if isinstance(v, str) else repr(v) for v in values) + ")"

    def frame(edges):
        names = ("from", "to", "w")
        columns = zip(names, zip(*edges))
        return "data.frame(" + ",".join(f"{n}={column(v)}" for n, v in columns) + ")"

    script = f"""
        edges <- {frame(EDGES)}
        named <- {frame(NAMED)}
        write.csv(edges, "r_numbers.csv", row.names=FALSE)
        write.csv(named, "r_names.csv", row.names=FALSE)
        write.table(named, "r_names.txt", row.names=FALSE)
        write.table(edges, "r_plain.txt", row.names=FALSE, col.names=FALSE)
        write.table(named, "r_tabs.tsv", row.names=FALSE, sep="\\t", quote=FALSE)
        write.csv(edges, "r_refused_row_names.csv")
        write.table(edges[1:2], "r_refused_row_names.txt")
        write.csv2(edges, "r_refused_decimal_commas.csv", row.names=FALSE)
    """
    subprocess.run(["Rscript", "-e", script], cwd=FOLDER, check=True)


PETSC = """
#include <petsc.h>
int main(int argc, char** argv) {
    const double values[4][4] = @MATRIX@;
    Mat A;
    Vec b;
    IS all;
    PetscViewer file;
    PetscInitialize(&argc, &argv, NULL, NULL);
    MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 4, 4, NULL, &A);
    for (PetscInt i = 0; i < 4; ++i)
        for (PetscInt j = 0; j < 4; ++j)
            if (values[i][j] != 0) MatSetValue(A, i, j, values[i][j], INSERT_VALUES);
    MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY);
    VecCreateSeq(PETSC_COMM_SELF, 6, &b);  // a file as long as one of complex values
    VecSet(b, 7);
    ISCreateStride(PETSC_COMM_SELF, 4, 0, 1, &all);
    for (int k = 0; k < 5; ++k) {
        char name[512];
        snprintf(name, sizeof name, "%s%s", argv[1], (const char*[]){
            ".petsc", "_vector.petsc", "_several.petsc", "_solver.petsc",
            "_refused_vector_first.petsc"}[k]);
        PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_WRITE, &file);
        PetscViewerBinarySetSkipInfo(file, PETSC_TRUE);
        if (k == 4) VecView(b, file);
        MatView(A, file);
        if (k >= 1 && k < 4) VecView(b, file);
        if (k >= 2) ISView(all, file);
        if (k == 2) MatView(A, file);
        if (k == 3) {
            KSP solver;
            KSPCreate(PETSC_COMM_SELF, &solver);
            KSPSetOperators(solver, A, A);
            KSPView(solver, file);
        }
        PetscViewerDestroy(&file);
    }
    PetscFinalize();
    return 0;
}
"""


def petsc():
    values = "{" + ",".join("{" + ",".join(map(repr, row)) + "}" for row in MATRIX) + "}"
    prefix = "/usr/lib/petscdir/petsc-"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "write.c")
        with open(source, "w") as f:
            f.write(PETSC.replace("@MATRIX@", values))
        for numbers in ("real", "complex"):
            program = os.path.join(folder, numbers)
            flags = [f"-I{prefix}{numbers}/include", f"-lpetsc_{numbers}"]
            subprocess.run(["mpicc", source, "-o", program, *flags], check=True)
            subprocess.run([program, path(f"petsc_{numbers}")], check=True)


def metis():
    with tempfile.TemporaryDirectory() as folder:
        mesh = os.path.join(folder, "mesh")
        with open(mesh, "w") as f:
            f.write("4\n1 2 3\n2 3 4\n3 4 5\n4 5 6\n")  # four triangles in a row
        subprocess.run(["m2gmetis", "-gtype=dual", "-ncommon=2", mesh, path("metis_dual.graph")],
                       check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["m2gmetis", "-gtype=nodal", mesh, path("metis_nodal.graph")], check=True,
                       stdout=subprocess.DEVNULL)


PROGRAMS = {f.__name__: f for f in (scipy, networkx, pandas, r, petsc, metis)}

if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    for program in sys.argv[1:] or PROGRAMS:
        PROGRAMS[program]()

"""Tests of bench/systems.py, with a command made up."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import scipy.sparse

import system_peers
import systems

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "systems.py")
# Answers with half of the right x where its matrix is named so.
COMMAND = """#!{python}
import json, sys
sys.path.insert(0, {bench!r})
import systems
option = dict(zip(sys.argv[3::2], sys.argv[4::2]))
A, b = systems.Matrix(sys.argv[2]), systems.read_vector(option["-b"])
x = b / A.data  # a diagonal matrix
wrong = "wrong" in sys.argv[2]
systems.write_vector(option["-o"], x / 2 if wrong else x)
attempt = dict(method="cg", preconditioner="amg", preconditioner_s=1.0, solve_s=0.25)
json.dump(dict(attempt, commit="abc", status="converged", plan_s=0.5, attempts=[attempt]),
          open(option["--json"], "w"))
sys.exit("honest" in sys.argv[2])
"""


def write_diagonal(path, values):
    n = len(values)
    np.savez(
        path,
        format=b"csr",
        shape=(n, n),
        indices=np.arange(n),
        indptr=np.arange(n + 1),
        data=values,
    )


class Systems(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.nz = self.folder / "nz"
        self.nz.write_text(COMMAND.format(python=sys.executable, bench=os.path.dirname(SCRIPT)))
        self.nz.chmod(0o755)

    def run_over(self, **matrices):
        lines = ["name\tfile\tgroup", "large\t-\tSPD"]
        for name, values in matrices.items():
            write_diagonal(self.folder / f"{name}.npz", values)
            lines.append(f"{name}\t{name}.npz\t{'complex' if np.iscomplexobj(values) else 'SPD'}")
        (self.folder / "INDEX.tsv").write_text("\n".join(lines) + "\n")
        out = self.folder / "out.json"
        ran = subprocess.run(
            [sys.executable, SCRIPT, str(self.folder), "--nz", str(self.nz), "--json", str(out)],
            capture_output=True,
            text=True,
            check=False,
        )
        return ran, json.loads(out.read_text())

    def test_true_residuals_decide(self):
        ran, told = self.run_over(right=np.array([2.0, 3.0]), turned=np.array([1j, 2 + 1j]))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("| all | 2 | 2 | 3.5 |", ran.stdout)
        self.assertIn("| complex | 1 | 1 | 1.8 |", ran.stdout)
        self.assertEqual(told["commit"], "abc")
        for r in told["systems"]:
            self.assertLess(r["residual"], 1e-14)
            self.assertEqual((r["method"], r["seconds"]), ("cg/amg", 1.75))

    def test_wrong_claims_are_told(self):
        ran, told = self.run_over(right=np.array([2.0]), wrong=np.array([1.0, 2.0]))
        self.assertEqual(ran.returncode, 1)
        self.assertIn("claimed, but not solved: wrong", ran.stderr)
        self.assertAlmostEqual(told["systems"][1]["residual"], 0.5)
        ran, told = self.run_over(wrong_honest=np.array([1.0]))
        self.assertEqual(ran.returncode, 0)
        self.assertIn("| all | 0 | 1 |", ran.stdout)

    def test_products_are_those_of_the_definition(self):
        path = self.folder / "A.npz"
        np.savez(
            path,
            format=b"csr",
            shape=(3, 3),
            indptr=[0, 2, 2, 3],
            indices=[0, 2, 1],
            data=[1.0, 2.0, 3.0],
        )
        A = systems.Matrix(path)
        np.testing.assert_array_equal(A @ np.array([1.0, 10.0, 100.0]), [201.0, 0.0, 30.0])


class Peers(unittest.TestCase):
    def outcome(self, peer, A):
        options = argparse.Namespace(tol=1e-8, seconds=60)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "A.npz"
            scipy.sparse.save_npz(path, A)
            return system_peers.run(path, peer, options)

    def test_all_solve_what_is_easy(self):
        A = scipy.sparse.diags_array([-1.0, 4.0, -1.0], offsets=[-1, 0, 1], shape=(30, 30))
        for peer in system_peers.PEERS:
            if not system_peers.missing(peer):
                self.assertTrue(self.outcome(peer, scipy.sparse.csr_array(A))["solved"], peer)

    def test_what_a_peer_raises_is_told(self):
        found = self.outcome("splu", scipy.sparse.csr_array(np.array([[1.0, 0.0], [0.0, 0.0]])))
        self.assertFalse(found["solved"])
        self.assertIn("singular", found["why"])


if __name__ == "__main__":
    unittest.main()

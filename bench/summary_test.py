"""The summary's arithmetic, on measurements made up so that every ratio is known."""
import json
import os
import subprocess
import sys
import tempfile
import unittest


def row(matrix, method, threads, s, peer=False, share=0.5):
    return {"matrix": matrix, "method": method, "threads": threads, "peer": peer, "median_s": s,
            "gflops": 1 / s, "share_of_read_bandwidth": share}


MEASURED = {
    "machine": {"l2_bytes": 10, "l3_bytes": 1000},
    "matrices": [{"name": "large", "csr_bytes": 2000}, {"name": "small", "csr_bytes": 100}],
    "rows": [
        row("large", "csr.serial", 1, 4), row("large", "eigen.csr", 1, 8, True),
        row("large", "csr.balanced", 2, 3), row("large", "hll.fast", 2, 1, share=0.9),
        row("large", "eigen.csr", 2, 6, True), row("large", "mkl.csr", 2, 4, True),
        # Serial on one thread is the best of ours here, also against two threads of a peer.
        row("small", "csr.serial", 1, 1), row("small", "eigen.csr", 1, 1 / 2, True),
        row("small", "csr.balanced", 2, 2), row("small", "eigen.csr", 2, 1, True),
        {"matrix": "small", "method": "dia.row", "threads": 2, "peer": False, "declined": "too wide"},
    ],
}


class Summary(unittest.TestCase):
    def test_geometric_means(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "A.json")
            with open(path, "w") as f:
                json.dump(MEASURED, f)
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "summary.py")
            out = subprocess.run([sys.executable, script, path], check=True, capture_output=True,
                                 text=True).stdout
        words = [line.split() for line in out.splitlines()]
        means = {" ".join(w[:-1]): w[-1] for w in words if w}
        self.assertEqual(means["best / peer"], "2.000")          # sqrt(4/1 * 1/1)
        self.assertEqual(means["csr.balanced / peer"], "0.816")  # sqrt(4/3 * 1/2)
        self.assertEqual(means["csr.serial / eigen"], "1.000")   # sqrt(8/4 * 0.5/1)
        self.assertIn(["large", "0.0", "hll.fast", "1.00", "mkl.csr", "4.00", "1.33", "2.00", "90%"],
                      words)
        self.assertIn(["small", "0.0", "csr.serial", "1.00", "eigen.csr", "1.00", "0.50", "0.50", "-"],
                      words)
        self.assertIn("1 matrices beyond", out)


if __name__ == "__main__":
    unittest.main()

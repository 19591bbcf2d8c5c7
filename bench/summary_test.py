"""The summary's arithmetic, on measurements made up so that every ratio is known."""
import json
import os
import subprocess
import sys
import tempfile
import unittest


def row(matrix, method, threads, s, peer=False, share=0.5, size=0):
    return {"matrix": matrix, "method": method, "threads": threads, "peer": peer, "median_s": s,
            "min_s": s / 2 if method == "csr.serial" else s, "gflops": 1 / s, "share_of_read_bandwidth": share, "matrix_bytes": size,
            "vector_bytes": 1}


MEASURED = {
    "machine": {"l2_bytes": 10, "l3_bytes": 1000},
    "matrices": [{"name": "large", "csr_bytes": 2000}, {"name": "small", "csr_bytes": 100}],
    "rows": [
        row("large", "csr.serial", 1, 4), row("large", "eigen.csr", 1, 8, True),
        row("large", "csr.balanced", 2, 3), row("large", "hll.fast", 2, 1, share=0.9, size=1000),
        row("large", "eigen.csr", 2, 6, True), row("large", "mkl.csr", 2, 4, True),
        # Serial on one thread is the best of ours here, also against two threads of a peer.
        row("small", "csr.serial", 1, 1), row("small", "eigen.csr", 1, 1 / 2, True),
        row("small", "csr.balanced", 2, 2), row("small", "eigen.csr", 2, 1, True),
        {"matrix": "small", "method": "dia.row", "threads": 2, "peer": False, "declined": "too wide"},
    ],
}


def on_gpu(matrix, method, s, peer=False, validated=True):
    return {**row(matrix, method, 0, s, peer), "backend": "gpu", "validated": validated}


MEASURED_ON_GPU = {
    "gpu": {"l2_bytes": 100},
    "matrices": [{"name": "ecology1", "csr_bytes": 100}, {"name": "other", "csr_bytes": 101}],
    "rows": [
        on_gpu("ecology1", "hll.column", 1), on_gpu("ecology1", "csr.merge", 2),
        on_gpu("ecology1", "csr.adaptive", 4), on_gpu("ecology1", "csr.scalar", 60),
        on_gpu("ecology1", "dia.row", 8),
        on_gpu("ecology1", "cusparse.sell", 2, True), on_gpu("ecology1", "cusparse.csr", 4, True),
        on_gpu("other", "csr.merge", 4, validated=False), on_gpu("other", "csr.adaptive", 2),
        on_gpu("other", "cusparse.csr", 1, True),
        {"matrix": "other", "method": "dia.row", "backend": "gpu", "threads": 0, "peer": False,
         "declined": "too wide"},
    ],
}


def run(*arguments):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "summary.py")
    return subprocess.run([sys.executable, script, *arguments], check=True,
                          capture_output=True, text=True).stdout


def summary(measured, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "A.json")
        with open(path, "w") as f:
            json.dump(measured, f)
        return run(*options, path)


class Summary(unittest.TestCase):
    def test_gpu(self):
        lines = [" ".join(line.split()) for line in summary(MEASURED_ON_GPU, "--gpu").splitlines()]
        for line in (
                "best of ours / best of cuSPARSE 1.000 lowest 0.500 on other, of 2",  # sqrt(2 * 0.5)
                "best of ours / cusparse.csr 1.414 lowest 0.500 on other, of 2",      # sqrt(4 * 0.5)
                "best of cuSPARSE / cusparse.csr 1.414 lowest 1.000 on other, of 2",
                "hll.column / cusparse.sell, regular 2.000 lowest 2.000 on ecology1, of 1",
                "icrs.row / cusparse.sell, regular -",
                "csr.adaptive / cusparse.csr 0.707 lowest 0.500 on other, of 2",
                "csr.merge / cusparse.csr 0.707 lowest 0.250 on other, of 2",
                "faster of the two / cusparse.csr 1.000 lowest 0.500 on other, of 2",
                "Slowest that does not decline: 60.0x the best, csr.scalar on ecology1",
                "Not validated: csr.merge on other of 10 results"):
            self.assertIn(line, lines)

    def test_kernels(self):
        lines = summary(MEASURED_ON_GPU, "--gpu", "--kernels").splitlines()
        for line in (
                "| kernel | mean / csr | best / csr | worst / csr | best / other | worst / other "
                "| fastest on | declines on |",
                # Twice as fast as csr.merge, which comes next; and half as fast as csr.adaptive.
                "| `hll.column` | 4.00 | 4.00 ecology1 | 4.00 ecology1 | 2.00 ecology1 "
                "| 2.00 ecology1 | 1 | 0 |",
                "| `csr.merge` | 0.71 | 2.00 ecology1 | 0.25 other | 0.50 ecology1 | 0.50 ecology1 "
                "| 0 | 0 |",
                "| `csr.adaptive` | 0.71 | 1.00 ecology1 | 0.50 other | 2.00 other | 0.25 ecology1 "
                "| 1 | 0 |",
                "| `dia.row` | 0.50 | 0.50 ecology1 | 0.50 ecology1 | 0.12 ecology1 | 0.12 ecology1 "
                "| 0 | 1 |",
                "| compared | mean on 1 structured | mean on 1 others | highest | lowest | matrices |",
                "| `hll.column` / `csr.adaptive` | 4.00 | - | 4.00 ecology1 | 4.00 ecology1 | 1 |",
                "| `csr.vector` / `csr.scalar` | - | - | - | - | 0 |",
                "| fastest of ours, GFLOP/s | 1.00 | 0.50 | 1.00 ecology1 | 0.50 other | 2 |"):
            self.assertIn(line, lines)

    def test_plan(self):
        planned = {**MEASURED_ON_GPU, "rows": MEASURED_ON_GPU["rows"] + [
            on_gpu("ecology1", "plan", 1 / 2), on_gpu("other", "plan", 4)]}
        lines = [" ".join(line.split()) for line in summary(planned, "--gpu").splitlines()]
        for line in ("plan / cusparse.csr 1.414 lowest 0.250 on other, of 2",   # sqrt(8 * 1/4)
                     "plan / best peer 1.000 lowest 0.250 on other, of 2",      # sqrt(4 * 1/4)
                     "plan / best of our methods 1.000 lowest 0.500 on other, of 2",  # sqrt(2 * 1/2)
                     "plan / cusparse.csr, in L2 8.000 lowest 8.000 on ecology1, of 1",
                     "plan / cusparse.csr, to 4x L2 0.250 lowest 0.250 on other, of 1",
                     "plan / cusparse.csr, beyond -",
                     # It is no kernel: these are what they are without it.
                     "best of ours / best of cuSPARSE 1.000 lowest 0.500 on other, of 2",
                     "Slowest that does not decline: 60.0x the best, csr.scalar on ecology1"):
            self.assertIn(line, lines)
        self.assertEqual(summary(planned, "--gpu", "--kernels"),
                         summary(MEASURED_ON_GPU, "--gpu", "--kernels"))
        on_cpu = {**MEASURED, "rows": MEASURED["rows"] + [row("large", "plan", 2, 1 / 2),
                                                          row("small", "plan", 2, 2)]}
        lines = [" ".join(line.split()) for line in summary(on_cpu).splitlines()]
        for line in ("plan / best peer 2.000 lowest 0.500 on small, of 2",      # sqrt(8 * 1/2)
                     "plan / best of our methods 1.000 lowest 0.500 on small, of 2",
                     "best / peer 2.000"):
            self.assertIn(line, lines)
        self.assertNotIn("plan /", summary(MEASURED) + summary(MEASURED_ON_GPU, "--gpu"))

    def test_classic(self):
        rows = MEASURED_ON_GPU["rows"] + [on_gpu("other", "csr.split", 1 / 2)]
        lines = [" ".join(line.split())
                 for line in summary({**MEASURED_ON_GPU, "rows": rows}, "--gpu").splitlines()]
        for line in ("best of ours / cusparse.csr 2.828 lowest 2.000 on other, of 2",  # sqrt(4 * 2)
                     "best classic / cusparse.csr 1.414 lowest 0.500 on other, of 2"):
            self.assertIn(line, lines)

    def test_setup(self):
        rows = MEASURED_ON_GPU["rows"] + [
            {**on_gpu("ecology1", "packed.warp", 9), "preprocessing_s": 40},  # a product takes 4
            {**on_gpu("other", "packed.warp", 9), "preprocessing_s": 30}]     # and 1
        self.assertIn("Packing, in products of cusparse.csr: median 20.0, highest 30.0 on other, of 2\n",
                      summary({**MEASURED_ON_GPU, "rows": rows}, "--gpu"))
        self.assertNotIn("Packing", summary(MEASURED_ON_GPU, "--gpu"))
        planned = MEASURED_ON_GPU["rows"] + [
            {**on_gpu("ecology1", "plan", 9), "preprocessing_s": 60}]
        self.assertIn(
            "Choosing and building, in products of cusparse.csr: median 15.0, highest 15.0 on ecology1, of 1\n",
            summary({**MEASURED_ON_GPU, "rows": planned}, "--gpu"))

    def test_geometric_means(self):
        out = summary(MEASURED)
        words = [line.split() for line in out.splitlines()]
        means = {" ".join(w[:-1]): w[-1] for w in words if w}
        self.assertEqual(means["best / peer"], "2.000")          # sqrt(4/1 * 1/1)
        self.assertEqual(means["csr.balanced / peer"], "0.816")  # sqrt(4/3 * 1/2)
        self.assertEqual(means["csr.serial / eigen"], "1.000")   # sqrt(8/4 * 0.5/1)
        self.assertIn(["large", "0.0", "hll.fast", "1.00", "mkl.csr", "4.00", "1.33", "2.00", "90%"],
                      words)
        self.assertIn(["small", "0.0", "csr.serial", "1.00", "eigen.csr", "1.00", "0.50", "0.50", "-"],
                      words)
        self.assertIn("1 products beyond", out)

    def test_one_type_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{kind}.json") for kind in ("double", "float")]
            for path, kind in zip(paths, ("double", "float")):
                with open(path, "w") as f:
                    json.dump({**MEASURED, "type": kind}, f)
            with self.assertRaises(subprocess.CalledProcessError) as refused:
                run(*paths)
            self.assertIn("several type: double, float; choose one with --type",
                          refused.exception.stderr)
            self.assertEqual(run(*paths, "--type", "float"), summary(MEASURED))

    def test_fastest_blocks(self):
        self.assertIn("csr.serial / eigen     2.000", summary(MEASURED, "--fastest"))

    def test_what_is_packed_into_the_cache_is_not_beyond_it(self):
        rows = [row("large", "packed.warp", 2, 1, share=0.1, size=999)]
        self.assertIn("0 products beyond", summary({**MEASURED, "rows": rows}))


if __name__ == "__main__":
    unittest.main()

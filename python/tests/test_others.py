"""The tests of SciPy and PyAMG, with our operators in the place of their matrices.

`others/plans_for_matrices.py` says where they are put. Each suite runs in a process of its own.
What ran, on PyAMG 5.4.1 and two versions of SciPy:

| tests of | SciPy | ran | passed | skipped or expected to fail | may differ, and did |
| --- | --- | --- | --- | --- | --- |
| SciPy's iterative solvers | 1.17.1 | 892 | 846 | 46 | 0 |
| | 1.18.1 | 1261 | 857 | 402 | 2 |
| SciPy's LinearOperator | 1.17.1 | 28 | 28 | 0 | 0 |
| | 1.18.1 | 272 | 219 | 36 | 17 |
| SciPy's LOBPCG | both | 1541 | 1540 | 1 | 0 |
| PyAMG's Krylov methods and preconditioners | both | 63 | 63 | 0 | 0 |

What may differ from SciPy 1.18 on: TFQMR on one matrix in single precision converges or not by the
order in which products are summed (not by NumPy's own `einsum` either). Stacks of vectors, the
warning that column vectors are deprecated in `matvec`, products with a sparse matrix, and the words
of an error are those of SciPy's own operators; ours take vectors and matrices.

Inside of SciPy's solvers the matrix is planned in the precision of the right-hand side, where SciPy
makes an operator of it.

PyAMG's other tests look into its own hierarchies, strengths and aggregates, of which `nonzero.amg`
has no counterpart in Python: it is one operator. Its cycles F and AMLI, and matrices that are not
real and symmetric positive definite, stay with PyAMG.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Suite:
    """Test files of a package, what of ours must take part at least, and which may differ.

    Those that may differ do so from SciPy 1.18 on, whose own least counts are `least_of_new`.
    """

    def __init__(
        self,
        package: str,
        files: list[str],
        least: dict[str, int],
        *,
        may_differ: str = "(?!)",
        least_of_new: dict[str, int] | None = None,
    ) -> None:
        self.package, self.files, self.least = package, files, least
        self.may_differ, self.least_of_new = re.compile(may_differ), least_of_new or least


SUITES = {
    "scipy.iterative": Suite(
        "scipy",
        ["sparse/linalg/_isolve/tests/test_iterative.py"],
        {"passed": 840, "plans": 4000, "products": 50_000},
        may_differ=r"test_(convergence|precond_dummy)\[rand-sym-pd-F-tfqmr",
    ),
    "scipy.interface": Suite(
        "scipy",
        ["sparse/linalg/tests/test_interface.py"],
        {"passed": 25, "plans": 40, "products": 500},
        may_differ=r"test_batch\[.*batch_A0-aslinearoperator|test_aslinearop_\w+\[.*batch_shape0"
        r"|TestAsLinearOperator.test_basic\[|test_dimension_mismatch\[|test_sparse_matmat_exception",
        least_of_new={"passed": 200, "plans": 40, "products": 150},
    ),
    "scipy.lobpcg": Suite(
        "scipy",
        ["sparse/linalg/_eigen/lobpcg/tests/test_lobpcg.py"],
        {"passed": 1400, "plans": 500, "products": 10_000},
    ),
    "pyamg": Suite(
        "pyamg",
        [
            "krylov/tests",
            "tests/test_multilevel.py",
            "aggregation/tests/test_aggregation.py",
            "aggregation/tests/test_rootnode.py",
        ],
        {"passed": 55, "plans": 500, "products": 5_000, "preconditioners": 30},
    ),
}


@pytest.mark.parametrize("name", SUITES)
def test_suite(name: str, tmp_path: Path) -> None:
    suite = SUITES[name]
    spec = importlib.util.find_spec(suite.package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{suite.package} is not installed")
    files = [Path(spec.origin).parent / f for f in suite.files]
    missing = [str(f) for f in files if not f.exists()]
    if missing:
        pytest.skip(f"this {suite.package} comes without {missing[0]}")
    path = os.pathsep.join([str(HERE / "others"), *(p for p in sys.path if p)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, f"--rootdir={tmp_path}",
         "-p", "plans_for_matrices", "-p", "no:cacheprovider", "-W", "ignore",
         f"--junitxml={tmp_path / 'results.xml'}", *map(str, files)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "NONZERO_COUNTS": str(tmp_path / "counts.json")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    counts: dict[str, int] = json.loads((tmp_path / "counts.json").read_text())
    counts |= {"passed": 0, "skipped": 0, "different": 0}
    wrong: list[str] = []
    version = importlib.metadata.version("scipy").split(".")
    is_new = (int(version[0]), int(version[1])) >= (1, 18)
    for case in ET.parse(tmp_path / "results.xml").iter("testcase"):
        failures = [*case.iter("failure"), *case.iter("error")]
        full = f"{case.get('classname')}.{case.get('name')}"
        if not failures:
            counts["skipped" if case.find("skipped") is not None else "passed"] += 1
        elif is_new and suite.may_differ.search(full):
            counts["different"] += 1
        else:
            wrong.append(f"{full}: {failures[0].get('message')}")
    print(name, counts)
    assert not wrong, "\n".join(wrong)
    for what, least in (suite.least_of_new if is_new else suite.least).items():
        assert counts[what] >= least, f"{what}: {counts[what]}, expected {least} or more"

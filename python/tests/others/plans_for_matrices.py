"""A pytest plugin: plans in the place of the matrices that tests of SciPy and PyAMG hand on.

Where SciPy's solvers make an operator of a matrix (`make_system`, `aslinearoperator`, LOBPCG's
`_makeMatMat`), the matrix is planned, in the dtype that SciPy then computes in. Where PyAMG makes a
preconditioner of its hierarchy, `nonzero.amg` makes one of the hierarchy's matrix. Matrices of a
dtype that nonzero has not, and those that `amg` refuses, are left as they are.

Writes what took part into the file that NONZERO_COUNTS names: the plans made, the products that
they did, and the preconditioners.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import _interface
from scipy.sparse.linalg._eigen.lobpcg import lobpcg as _lobpcg_function  # noqa: F401
from scipy.sparse.linalg._isolve import utils

import nonzero as nz

VALUE_TYPES = ("float32", "float64", "complex64", "complex128")

counts = {"plans": 0, "products": 0, "preconditioners": 0}


class Counted:
    """The core of an operator, which counts its products."""

    def __init__(self, core: Any) -> None:
        self._counted = core

    def apply(self, *arguments: Any) -> None:
        """Multiply."""
        counts["products"] += 1
        self._counted.apply(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counted, name)


def planned(A: Any, dtype: Any = None) -> Any:
    """Plan a matrix of NumPy or SciPy; give back what nonzero does not take."""
    if isinstance(A, nz.Operator):
        if dtype is None or A.dtype == dtype:
            return A
        kept: Any = A._matrix
        wide = planned(sp.csr_array((kept.data, kept.indices, kept.indptr), kept.shape), dtype)
        wide.__dict__.update({k: v for k, v in A.__dict__.items() if k in ("psolve", "rpsolve")})
        return wide
    if not (isinstance(A, np.ndarray) or sp.issparse(A)) or A.ndim > 2:
        return A
    if (A.dtype if dtype is None else np.dtype(dtype)).name not in VALUE_TYPES:
        return A
    matrix = sp.csr_array(A if sp.issparse(A) else np.atleast_2d(np.asarray(A)))
    op = nz.plan(matrix if dtype is None else matrix.astype(dtype))
    op._core = Counted(op._core)
    op.A = A  # PyAMG takes norms of it, as of SciPy's MatrixLinearOperator
    counts["plans"] += 1
    return op


_aslinearoperator, _make_system = _interface.aslinearoperator, utils.make_system


def aslinearoperator(A: Any) -> Any:
    """Make an operator as SciPy does, of a plan."""
    return _aslinearoperator(planned(A))


def make_system(A: Any, M: Any, x0: Any, b: Any) -> Any:
    """Make a system as SciPy does, of a plan in the dtype of A and b."""
    if hasattr(A, "dtype"):
        dtype = utils.coerce(A.dtype.char, np.asanyarray(b).dtype.char)
        A = planned(A, np.dtype(dtype))
    return _make_system(A, M, x0, b)


def _make_mat_mat(m: Any) -> Any:
    """Make LOBPCG's products, by plans in the dtype of A and X."""
    if m is None:
        return None
    if callable(m) and not isinstance(m, nz.Operator):
        return lambda v: m(v)
    by_dtype: dict[Any, Any] = {}

    def product(v: Any) -> Any:
        dtype = np.result_type(m.dtype, v.dtype)
        if dtype not in by_dtype:
            by_dtype[dtype] = planned(m, dtype)
        op = by_dtype[dtype]
        return op @ (v.astype(dtype) if isinstance(op, nz.Operator) else v)

    return product


def _aspreconditioner(theirs: Any) -> Any:
    def aspreconditioner(self: Any, cycle: str = "V") -> Any:
        try:
            M = nz.amg(self.levels[0].A, cycle=cycle.lower())
        except (ValueError, TypeError):
            return theirs(self, cycle)
        M._core = Counted(M._core)
        counts["preconditioners"] += 1
        return M

    return aspreconditioner


def _replace(name: str, old: Any, new: Any) -> None:
    for module in list(sys.modules.values()):
        if module.__name__ != __name__ and getattr(module, name, None) is old:
            setattr(module, name, new)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems() -> None:
    """Put plans into every module that the tests have imported."""
    _replace("aslinearoperator", _aslinearoperator, aslinearoperator)
    _replace("make_system", _make_system, make_system)
    lobpcg = sys.modules["scipy.sparse.linalg._eigen.lobpcg.lobpcg"]
    lobpcg._makeMatMat = _make_mat_mat  # type: ignore[attr-defined]
    if "pyamg" in sys.modules:
        from pyamg.multilevel import MultilevelSolver

        MultilevelSolver.aspreconditioner = _aspreconditioner(MultilevelSolver.aspreconditioner)


def pytest_sessionfinish() -> None:
    """Write the counts."""
    with open(os.environ["NONZERO_COUNTS"], "w") as file:
        json.dump(counts, file)

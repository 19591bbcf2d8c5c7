"""Sparse matrix-vector products at the speed of memory, on CPUs and NVIDIA GPUs.

>>> import numpy as np, nonzero as nz
>>> A = nz.generate.laplace3d(20)
>>> op = nz.plan(A)
>>> y = op @ np.ones(8000)
>>> result = nz.solve(A, y, tol=1e-10)
>>> bool(result.converged)
True

What is imported here loads when it is first used, so that ``import nonzero`` takes milliseconds.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonzero import dist as dist
    from nonzero import generate as generate
    from nonzero import torch as torch
    from nonzero._c_interface import get_include as get_include
    from nonzero._c_interface import get_library as get_library
    from nonzero._eigs import NoConvergence as NoConvergence
    from nonzero._eigs import eigsh as eigsh
    from nonzero._files import read as read
    from nonzero._files import write as write
    from nonzero._graphs import PageRank as PageRank
    from nonzero._graphs import Partition as Partition
    from nonzero._graphs import pagerank as pagerank
    from nonzero._graphs import partition as partition
    from nonzero._least_squares import lsmr as lsmr
    from nonzero._least_squares import lsqr as lsqr
    from nonzero._least_squares import svds as svds
    from nonzero._machine import DeviceError as DeviceError
    from nonzero._machine import Unavailable as Unavailable
    from nonzero._machine import __version__ as __version__
    from nonzero._machine import gpu_count as gpu_count
    from nonzero._machine import methods as methods
    from nonzero._operator import Operator as Operator
    from nonzero._operator import plan as plan
    from nonzero._plan import Candidate as Candidate
    from nonzero._plan import Plan as Plan
    from nonzero._plots import spy as spy
    from nonzero._solvers import Factorization as Factorization
    from nonzero._solvers import Multigrid as Multigrid
    from nonzero._solvers import Solver as Solver
    from nonzero._solvers import SolveResult as SolveResult
    from nonzero._solvers import amg as amg
    from nonzero._solvers import bicgstab as bicgstab
    from nonzero._solvers import cg as cg
    from nonzero._solvers import factorize as factorize
    from nonzero._solvers import fsai as fsai
    from nonzero._solvers import gmres as gmres
    from nonzero._solvers import ic as ic
    from nonzero._solvers import ilu as ilu
    from nonzero._solvers import minres as minres
    from nonzero._solvers import rigid_body_modes as rigid_body_modes
    from nonzero._solvers import solve as solve
    from nonzero._solvers import spai as spai
    from nonzero._study import Study as Study
    from nonzero._study import bench as bench
    from nonzero._study import study as study

_HOMES = {
    "dist": "dist",
    "generate": "generate",
    "torch": "torch",
    **dict.fromkeys(("get_include", "get_library"), "_c_interface"),
    **dict.fromkeys(("NoConvergence", "eigsh"), "_eigs"),
    **dict.fromkeys(("read", "write"), "_files"),
    **dict.fromkeys(("lsmr", "lsqr", "svds"), "_least_squares"),
    **dict.fromkeys(("PageRank", "Partition", "pagerank", "partition"), "_graphs"),
    **dict.fromkeys(
        ("DeviceError", "Unavailable", "__version__", "gpu_count", "methods"), "_machine"
    ),
    **dict.fromkeys(("Candidate", "Plan"), "_plan"),
    **dict.fromkeys(("Operator", "plan"), "_operator"),
    "spy": "_plots",
    **dict.fromkeys(
        (
            "Factorization",
            "Multigrid",
            "SolveResult",
            "Solver",
            "amg",
            "bicgstab",
            "cg",
            "factorize",
            "fsai",
            "gmres",
            "ic",
            "ilu",
            "minres",
            "rigid_body_modes",
            "solve",
            "spai",
        ),
        "_solvers",
    ),
    **dict.fromkeys(("Study", "bench", "study"), "_study"),
}

__all__ = sorted(_HOMES)


#: As the command `nz` sets them: threads that wait spin for a moment and then sleep.
_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "2000"}


def _library() -> Any:
    """Load the C++ library, whose threads then wait as the command's do.

    OpenMP reads how when it loads, which is now unless another package brought it; child processes
    shall not inherit it (docs/decisions/threads.md).
    """
    if any(name in os.environ for name in _WAITING):
        return importlib.import_module("nonzero._nonzero")
    os.environ.update(_WAITING)
    try:
        return importlib.import_module("nonzero._nonzero")
    finally:
        for name in _WAITING:
            os.environ.pop(name, None)


def __getattr__(name: str) -> Any:
    if name == "_nonzero":  # what the package's modules import first of all
        return _library()
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'nonzero' has no attribute {name!r}")
    module = importlib.import_module(f"nonzero.{home}")
    found = module if home == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__

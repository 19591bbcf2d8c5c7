"""Krylov methods on operators: what `cg` and its kin, and `solve` with an operator, have in common.

Precisions and shapes of b are SciPy's.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from nonzero import _nonzero
from nonzero._arguments import function, real, whole
from nonzero._arrays import (
    as_dtype,
    copied,
    dense,
    dtype_of,
    empty,
    lend,
    library_of,
    stream_of,
    to_numpy,
)
from nonzero._functions import as_given, common_dtype, operator_in
from nonzero._matrices import Matrix
from nonzero._operator import Operator

METHODS = ("cg", "minres", "bicgstab", "gmres")


def default_tol(dtype: np.dtype[Any]) -> float:
    """Give the tolerance where none is asked for, which rounding lets every method reach."""
    tol: float = _nonzero.default_tol(single=np.finfo(dtype).bits == 32)
    return tol


class System(NamedTuple):
    """Operators and vectors of one dtype, where A lies; x is the guess and takes the solution."""

    A: Operator
    M: Operator | None
    b: Any
    x: Any

    def run(self, method: str, target: float, most: int, **options: Any) -> dict[str, Any]:
        """Solve by a method; x holds what has been found."""
        report: dict[str, Any] = _nonzero.krylov(
            method,
            self.A._core,
            lend(self.b),
            lend(self.x),
            None if self.M is None else self.M._core,
            tol=target,
            maxiter=most,
            threads=0,
            stream=stream_of(self.x) if self.A._device >= 0 else 0,
            **options,
        )
        return report

    def run_columns(
        self, method: str, target: float, most: int, max_seconds: float, restart: int
    ) -> list[dict[str, Any]]:
        """Solve for the columns of b, in step where the method takes them so."""
        if self.b.shape[1] == 0:
            return []
        reports: list[dict[str, Any]] = _nonzero.krylov_of_columns(
            method,
            self.A._core,
            lend(self.b),
            lend(self.x),
            None if self.M is None else self.M._core,
            tol=target,
            maxiter=most,
            max_seconds=max_seconds,
            restart=restart,
            stream=stream_of(self.x) if self.A._device >= 0 else 0,
        )
        return reports

    def column(self, c: int) -> System:
        """Give the system of one column, with its x as it is now."""
        return self._replace(b=_contiguous(self.b[:, c]), x=_contiguous(self.x[:, c]))


def has_columns(b: Any) -> bool:
    """Tell whether b has several columns, or none."""
    shape: tuple[int, ...] = getattr(b, "shape", ())
    return len(shape) == 2 and shape[1] != 1


def system(A: Any, b: Any, x0: Any, M: Any, columns: bool = False) -> System:
    """Bring A, b, x0 and M to one dtype; b has one column, or where `columns` any number of them.

    Raises
    ------
    TypeError, ValueError
        Where one of them is not what the methods take.
    """
    given, rhs = as_given(A, "A"), dense(b, "b")
    dtype = common_dtype(given, dtype_of(rhs), "A")
    op = operator_in(given, dtype, "A")
    inverse = None if M is None else operator_in(as_given(M, "M"), dtype, "M", op.shape)
    rhs = _vectors(op, rhs, "b", columns)
    guess = None if x0 is None else _vectors(op, dense(x0, "x0"), "x0", columns)
    x = empty(tuple(rhs.shape), dtype, rhs)
    if library_of(x) == "jax":  # which does not change for anyone but the library
        x = x if guess is None else copied(guess)
    else:
        x[...] = 0 if guess is None else guess
    return System(op, inverse, _contiguous(rhs), x)


def _vectors(op: Operator, v: Any, name: str, columns: bool) -> Any:
    kind = dtype_of(v).kind
    if kind not in "biufc" or (kind == "c" and op.dtype.kind == "f"):
        raise TypeError(f"{name}: of dtype {dtype_of(v)}, expected {op.dtype}")
    found = op._checked(as_dtype(v, op.dtype), name)
    if columns and found.ndim == 2:
        return found
    flat = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    if tuple(flat.shape) != (op.shape[0],):
        raise ValueError(f"{name}: of shape {tuple(found.shape)}, expected ({op.shape[0]},)")
    return flat


def _contiguous(x: Any) -> Any:
    if library_of(x) == "torch":
        return x.contiguous()
    if library_of(x) == "jax":
        return x
    return x if x.flags.c_contiguous else x.copy()


def target_of(tol: float | None, name: str, atol: float, b: Any, dtype: np.dtype[Any]) -> float:
    """Give the relative tolerance that stands for max(tol norm(b), atol).

    Of several columns it is that of the largest, which is the strictest.
    """
    asked = default_tol(dtype) if tol is None else real(tol, name, 0)
    least = math.inf if atol == math.inf else real(atol, "atol", 0)
    if least == 0:
        return asked
    host = np.abs(to_numpy(dense(b, "b")).astype(np.result_type(dtype, np.float64)))
    largest = float(host.max(initial=0))
    if not 0 < largest < math.inf:
        return asked
    norm = float(np.max(np.linalg.norm(host / largest, axis=0)))  # over the largest element
    return max(asked, min(least / largest / norm, sys.float_info.max))


def count_of(maxiter: int | None, default: int) -> int:
    """Give the most iterations."""
    return default if maxiter is None else whole(maxiter, "maxiter", 0, 2**63 - 1)


def seconds_of(limit: float | None) -> float:
    """Give the most seconds."""
    return math.inf if limit is None else real(limit, "max_seconds", 0)


def solve_with(
    s: System,
    matrix: Matrix | None,
    method: str | None,
    target: float,
    most: int,
    max_seconds: float,
    restart: int,
    callback: Callable[[float], object] | None,
) -> dict[str, Any]:
    """Solve by the methods that suit A, one after the other until one converges.

    `matrix`: of A, where there is one: it tells whether A is symmetric. The dictionary is that of
    the library's solve.
    """
    order, reasons = ([method], []) if method else _order(matrix)
    began = time.perf_counter()
    attempts: list[dict[str, Any]] = []
    best, found = 0, s.x
    for name in order:
        start = time.perf_counter()
        trial = s._replace(x=found.copy())
        r = trial.run(
            name,
            target,
            most,
            max_seconds=max(max_seconds - (start - began), 0),
            restart=restart,
            callback=function(callback, "callback"),
        )
        r |= {
            "method": name,
            "preconditioner": "none" if s.M is None else "given",
            "preconditioner_s": 0.0,
            "predicted_s": 0.0,
            "solve_s": time.perf_counter() - start,
        }
        attempts.append(r)
        if r["relative_residual"] <= attempts[best]["relative_residual"]:
            best, found = len(attempts) - 1, trial.x
        if r["converged"] or r["status"] in ("stopped-by-caller", "max-seconds"):
            break
    s.x[...] = found
    return {
        "attempts": attempts,
        "best": best,
        "advice": [] if attempts[best]["converged"] else _advice(s, most),
        "reasons": reasons,
        "setup_s": 0.0,
        "solve_s": time.perf_counter() - began,
    }


def solve_columns_with(
    s: System,
    matrix: Matrix | None,
    method: str | None,
    target: float,
    most: int,
    max_seconds: float,
    restart: int,
) -> list[dict[str, Any]]:
    """Solve for the columns of b by the first method that suits A, in step.

    Those that it does not solve go on alone, as `solve_with` has it. A dictionary of each column.
    """
    order, reasons = ([method], []) if method else _order(matrix)
    start = time.perf_counter()
    reports = s.run_columns(order[0], target, most, max_seconds, restart)
    took = time.perf_counter() - start
    found = []
    for c, r in enumerate(reports):
        r |= {
            "method": order[0],
            "preconditioner": "none" if s.M is None else "given",
            "preconditioner_s": 0.0,
            "predicted_s": 0.0,
            "solve_s": took,
        }
        all_of_it = {"attempts": [r], "best": 0, "advice": [], "reasons": reasons}
        all_of_it |= {"setup_s": 0.0, "solve_s": took}
        left = max_seconds - (time.perf_counter() - start)
        ended = r["converged"] or r["status"] in ("stopped-by-caller", "max-seconds")
        if not ended and len(order) > 1 and left > 0:
            one = s.column(c)
            rest = solve_with(one, None, order[1], target, most, left, restart, None)
            s.x[:, c] = one.x
            all_of_it |= {
                "attempts": [r, *rest["attempts"]],
                "best": 1 + rest["best"],
                "advice": rest["advice"],
                "solve_s": took + rest["solve_s"],
            }
        elif not r["converged"]:
            all_of_it["advice"] = _advice(s, most)
        found.append(all_of_it)
    return found


def _order(matrix: Matrix | None) -> tuple[list[str], list[str]]:
    if matrix is None:
        return ["gmres", "bicgstab"], ["A is given by its products: nothing is known of it"]
    host = matrix.on_cpu()
    if not _nonzero.is_symmetric(host.shape, *host.lent()):
        return ["bicgstab", "gmres"], ["A is not symmetric"]
    if (host.diagonal().real > 0).all():
        return ["cg", "gmres"], ["A is symmetric and its diagonal positive"]
    return ["minres", "gmres"], ["A is symmetric and its diagonal not positive"]


def _advice(s: System, most: int) -> list[str]:
    told = [f"allow more than {most} iterations (maxiter)"]
    if s.M is None:
        told.append("give an approximate inverse of A (M)")
    return told

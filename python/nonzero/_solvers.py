"""Linear systems, by names and shapes that SciPy has."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonzero import _nonzero
from nonzero._arguments import function, real, whole
from nonzero._arrays import (
    as_dtype,
    copied,
    dense,
    device_of,
    dtype_of,
    finished,
    from_numpy,
    host_vector,
    lend,
    library_of,
    stream_of,
    to_numpy,
    zeros,
)
from nonzero._functions import as_given
from nonzero._krylov import (
    METHODS,
    count_of,
    default_tol,
    has_columns,
    seconds_of,
    solve_columns_with,
    solve_with,
    system,
    target_of,
)
from nonzero._matrices import Matrix, as_matrix
from nonzero._operator import Operator, device_number
from nonzero._plan import table_as_html
from nonzero._progress import residual_bar

Callback = Callable[[float], object]


@dataclass(frozen=True)
class SolveResult:
    """The solution of a linear system, and how it was found.

    Attributes
    ----------
    x : array, (n,) or (n, k)
        The best solution found, of the library of b.
    converged : bool
        Whether norm(b - A x) <= max(tol norm(b), atol), with b - A x computed at the end; of k
        columns whether it holds for each. All that follows is then of the column whose relative
        residual is the largest, but for the iterations.
    iterations : int
        Of all attempts; of k columns the most of one.
    relative_residual : float
        norm(b - A x) / norm(b), with b - A x computed at the end.
    residuals : array
        Of the attempt that found x, at the start and after each iteration: relative residuals as
        the method carries them along, which rounding errors part from norm(b - A x).
    status : str
        It ended by: "converged", "max-iter", "max-seconds", "stopped-by-caller",
        "limited-by-rounding", "indefinite-matrix" and others; each attempt has its own.
    why : str
        The same, in one sentence.
    advice : list of str
        Where it has not converged: what stands in the way and what to try next, a sentence each.
    method, preconditioner : str
        Of the attempt that found x.
    reasons : list of str
        Facts of A and forecasts that decided what was tried when, a sentence each.
    setup_s, solve_s : float
        Planning and building the product and the preconditioners; everything after [s].
    attempts : list of dict
        Every method that was tried, in order, with what it was predicted to take ("predicted_s": of
        direct its factors, else an iteration) and took; of direct, "ilu" and "ic" the "factors", of
        direct their "forecast", with the library that made them. Times of columns that went in step
        are those of all of them.
    columns : list of SolveResult
        Of an (n, k) b, the result of each column; else empty.
    """

    x: Any = field(repr=False)
    converged: bool
    iterations: int
    relative_residual: float
    residuals: NDArray[np.float64] = field(repr=False)
    status: str
    why: str
    advice: list[str]
    reasons: list[str]
    method: str
    preconditioner: str
    setup_s: float
    solve_s: float
    attempts: list[dict[str, Any]] = field(repr=False)
    columns: list[SolveResult] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        """Say how it ended, by which method, after how many iterations and how long."""
        how = (
            self.method
            if self.preconditioner == "none"
            else f"{self.method} with {self.preconditioner}"
        )
        ended = "converged" if self.converged else f"not converged, {self.why},"
        return (
            f"<solution: {ended} by {how}, {self.iterations} iterations, "
            f"residual {_nonzero.text_of_number(self.relative_residual)}, "
            f"setup {_nonzero.text_of_time(self.setup_s)}, "
            f"solve {_nonzero.text_of_time(self.solve_s)}>"
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the relative residuals over the iterations, by matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Drawn into. [a new one]

        Returns
        -------
        matplotlib.axes.Axes
        """
        from nonzero._plots import residuals_plot

        return residuals_plot(self, ax)

    def _repr_html_(self) -> str:
        rows = [
            (
                f"{a['method']} with {a['preconditioner']}",
                str(a["iterations"]),
                _nonzero.text_of_number(a["relative_residual"]),
                _nonzero.text_of_time(a["preconditioner_s"]),
                _nonzero.text_of_time(a["solve_s"]),
                a["why"],
            )
            for a in self.attempts
        ]
        heads = ("attempt", "iterations", "residual", "setup", "solve", "it ended")
        state = "converged" if self.converged else "not converged"
        return table_as_html(heads, rows, f"{state}: {html.escape(self.why)}")


def solve(
    A: Any,
    b: Any,
    *,
    x0: Any = None,
    tol: float | None = None,
    rtol: float | None = None,
    atol: float = 0.0,
    maxiter: int = 10000,
    max_seconds: float | None = None,
    method: str | None = None,
    preconditioner: str | None = None,
    M: Any = None,
    restart: int = 30,
    block: int | None = None,
    near_nullspace: Any = None,
    iterative: bool = False,
    direct_solver: str = "eigen",
    fill_level: int = 0,
    block_cg: bool = False,
    device: int | str | None = None,
    threads: int = 0,
    callback: Callback | None = None,
    progress: bool = False,
) -> SolveResult:
    """Solve A x = b by the method and the preconditioner that suit A.

    Where one fails the next is tried, from the best x so far; the result says which were.

    Parameters
    ----------
    A : sparse matrix or operator, (n, n)
        As `plan` takes it. On a GPU it stays there, real values at least, unless an attempt needs
        what is made on the CPU alone, as ILU and the direct solver are: then ``reasons`` says so.
        An operator, as `cg` takes it, is known by its products alone: gmres is tried, then
        bicgstab, with M.
    b : array, (n,) or (n, k)
        Of A's dtype after `plan`'s conversions, or convertible to it; on a GPU it is read in the
        current stream of its library. It is copied where it lies elsewhere than A. With an operator
        or M, as `cg` takes it. k systems share plan and preconditioner, and go in step where
        the method is cg, minres, bicgstab or gmres: each to its own bound, with a result of its own
        in ``columns``.
    x0 : array, of b's shape, optional
        The initial guess. [zeros]
    tol, rtol : float
        Of the relative residual, norm(b - A x) / norm(b); one name or the other. [1e-8, or 1e-5
        in single precision]
    atol : float
        norm(b - A x) <= atol will do as well.
    maxiter : int
        Iterations of the first attempt; those that follow share as many again.
    max_seconds : float, optional
        The solve ends with the best x when that long has passed, setup included; planning and a
        preconditioner under way are finished first. [no limit]
    method : str, optional
        To use alone: "cg", "minres", "bicgstab", "gmres", "direct", "fgmres", "idrs" or "refine".
        [as suits A]
    preconditioner : str, optional
        To use alone: "none", "jacobi", "block-jacobi", "sgs", "amg", "matching", "ilut", "ilu",
        "ic", "fsai", "saddle", "spai" or "ict". [as suits A]
    M : as `cg` takes it, optional
        A preconditioner of the caller's, for "cg", "minres", "bicgstab" or "gmres". Where no method
        is given, cg is tried for a symmetric A with a positive diagonal, minres for another
        symmetric one and bicgstab else, and then gmres. The options that make a preconditioner or
        place the work do not go with it.
    restart : int
        Vectors of gmres, at first.
    block : int, optional
        Unknowns that belong together, for block-jacobi, ilu, ic, fsai, spai and amg. [amg: as many
        as A's rows show; others: 1]
    near_nullspace : array, (n, k), optional
        For amg, as `amg` takes it.
    iterative : bool
        Leave the direct solver out.
    direct_solver : {"eigen", "cholmod", "umfpack", "pardiso", "klu", "auto"}
        Who factorizes for it, as `factorize` takes it.
    fill_level : int
        Of ilu and ic; for fsai and spai the pattern of A (0) or of A squared (1).
    block_cg : bool
        For cg with several columns on the CPU: blocks of 16 share their directions, which takes
        fewer iterations of more arithmetic each; columns that depend on others do no harm.
    device : int or "cpu" or "gpu", optional
        Where to iterate. [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.
    callback : callable, optional
        Is called with the relative residual after each iteration, on a GPU in bursts; of columns
        that go in step with the largest. Raising StopIteration ends the solve with what there is.
    progress : bool
        Show a bar by tqdm.

    Returns
    -------
    SolveResult
        Not converging is a value, no error. The same bits in every run.

    Raises
    ------
    TypeError, ValueError
        Where A, b or x0 are not as above, or A does not suit the method asked for.
    Unavailable
        Where the direct solver asked for is not installed.
    MemoryError
        Where the memory does not suffice.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> r = nz.solve(A, np.ones(900), tol=1e-10)
    >>> r.converged, bool(np.linalg.norm(A @ r.x - 1) <= 1e-10 * 30)
    (True, True)
    """
    if tol is not None and rtol is not None:
        raise TypeError("tol and rtol: one quantity, expected one of them")
    asked, named = (tol, "tol") if tol is not None else (rtol, "rtol")
    given = as_given(A, "A")
    has_entries = isinstance(given, Matrix) or getattr(given, "_matrix", None) is not None
    if M is not None or not has_entries:
        made = {
            "preconditioner": preconditioner,
            "block": block,
            "near_nullspace": near_nullspace,
            "iterative": iterative or None,
            "direct_solver": None if direct_solver == "eigen" else direct_solver,
            "fill_level": fill_level or None,
            "block_cg": block_cg or None,
            "device": device,
            "threads": threads or None,
        }
        return _solve_with(
            given, b, x0, M, asked, named, atol, maxiter, max_seconds, method, restart, callback,
            progress, made,
        )  # fmt: skip
    matrix = as_matrix(given)
    target = target_of(asked, named, atol, b, matrix.dtype)
    number = device_number(device, matrix)
    kept = _where_solved(matrix, number)
    rhs, x = _both(b, x0, kept)
    if rhs.ndim == 2 and rhs.shape[1] == 0:
        raise ValueError("b: no columns, expected one at least")
    with residual_bar(progress, target, function(callback, "callback")) as watched:
        r = _nonzero.solve(
            kept.shape,
            *kept.lent(),
            lend(rhs),
            lend(x),
            device=number,
            threads=whole(threads, "threads"),
            **_system_options(
                kept,
                target,
                maxiter,
                max_seconds,
                method,
                preconditioner,
                restart,
                block,
                near_nullspace,
                iterative,
                direct_solver,
                fill_level,
                block_cg,
            ),
            callback=watched,
            streams=_streams(kept.data, rhs),
        )
    return _result(r, x, b)


def _where_solved(matrix: Matrix, device: int) -> Matrix:
    """Give the matrix where its system is solved from: on a GPU, if it iterates on that one."""
    stays = matrix.device >= 0 and matrix.device == device and matrix.dtype.kind == "f"
    return matrix if stays else matrix.on_cpu()


def _streams(*arrays: Any) -> tuple[int, ...]:
    """Give the streams in which arrays on a GPU become complete, and are read afterwards."""
    return tuple({stream_of(a) for a in arrays if device_of(a) >= 0})


def _solve_with(
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    tol: float | None,
    named: str,
    atol: float,
    maxiter: int,
    max_seconds: float | None,
    method: str | None,
    restart: int,
    callback: Callback | None,
    progress: bool,
    others: dict[str, Any],
) -> SolveResult:
    """Solve by products with A and M alone."""
    with_what = "M" if M is not None else "an operator"
    for name, value in others.items():
        if value is not None:
            raise TypeError(f"{name}: does not go with {with_what}, which says it all")
    if method is not None and method not in METHODS:
        raise ValueError(
            f"method: {method!r}, expected one of {', '.join(METHODS)} with {with_what}"
        )
    matrix = A if isinstance(A, Matrix) else getattr(A, "_matrix", None)
    s = system(A, b, x0, M, columns=has_columns(b))
    target = target_of(tol, named, atol, b, s.A.dtype)
    if has_columns(b):
        if callback is not None or progress:
            raise TypeError(f"callback, progress: with {with_what} for one right-hand side")
        reports = solve_columns_with(
            s,
            matrix,
            method,
            target,
            whole(maxiter, "maxiter", 0, 2**63 - 1),
            seconds_of(max_seconds),
            whole(restart, "restart", 1, 1000),
        )
        return _result(reports, to_numpy(s.x), b)
    with residual_bar(progress, target, function(callback, "callback")) as watched:
        r = solve_with(
            s,
            matrix,
            method,
            target,
            whole(maxiter, "maxiter", 0, 2**63 - 1),
            seconds_of(max_seconds),
            whole(restart, "restart", 1, 1000),
            watched,
        )
    return _result([r], to_numpy(s.x), b)


def _system_options(
    host: Matrix,
    tol: float,
    maxiter: int,
    max_seconds: float | None,
    method: str | None,
    preconditioner: str | None,
    restart: int,
    block: int | None,
    near_nullspace: Any,
    iterative: bool,
    direct_solver: str,
    fill_level: int,
    block_cg: bool,
) -> dict[str, Any]:
    """Check the options of a system, as the C++ library takes them."""
    return {
        "tol": tol,
        "maxiter": whole(maxiter, "maxiter", 0, 2**63 - 1),
        "max_seconds": seconds_of(max_seconds),
        "restart": whole(restart, "restart", 1, 1000),
        "method": method,
        "preconditioner": preconditioner,
        "block": _block(block),
        "near": _near(near_nullspace, host.shape[0], np.dtype(np.float64)),
        "iterative": bool(iterative),
        "direct_solver": direct_solver,
        "fill_level": whole(fill_level, "fill_level", 0),
        "block_cg": bool(block_cg),
    }


def _result(reports: list[dict[str, Any]], x: Any, b: Any) -> SolveResult:
    """Put together the result of a solve, of the reports of all columns; x in b's library."""
    if library_of(x) == library_of(b) and device_of(x) == device_of(b):
        given = finished(x, b)
    else:
        given = from_numpy(to_numpy(x), b)
    if x.ndim == 1:
        return _result_of_one(reports[0], given)
    columns = [_result_of_one(r, given[:, c]) for c, r in enumerate(reports)]
    if not columns:
        raise ValueError("b: no columns, expected one at least")
    worst = max(columns, key=lambda r: (not r.converged, r.relative_residual))
    return replace(worst, x=given, iterations=max(r.iterations for r in columns), columns=columns)


def _result_of_one(r: dict[str, Any], x: Any) -> SolveResult:
    best = r["attempts"][r["best"]]
    return SolveResult(
        x=x,
        converged=best["converged"],
        iterations=sum(a["iterations"] for a in r["attempts"]),
        relative_residual=best["relative_residual"],
        residuals=best["residuals"],
        status=best["status"],
        why=best["why"],
        advice=r["advice"],
        reasons=r["reasons"],
        method=best["method"],
        preconditioner=best["preconditioner"],
        setup_s=r["setup_s"],
        solve_s=r["solve_s"],
        attempts=r["attempts"],
    )


class Solver:
    """Systems A x = b whose matrices have one pattern: in time, in Newton's method, of loads.

    It keeps what `solve` makes anew for each: a copy of A, the plan, the method that has converged
    and its preconditioner. The first solve tries what `solve` tries; those that follow begin with
    what has converged. After `update_values` multigrid keeps its aggregates, and other
    preconditioners are made anew; where a solve takes over 1.5 times the iterations that the
    preconditioner took when it was new, the next solve makes it anew.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        As `plan` takes it. On a GPU it stays there, as `solve` has it.
    tol, maxiter, max_seconds, method, preconditioner, restart, block, near_nullspace, iterative, \
    direct_solver, fill_level, block_cg, device, threads
        As `solve` takes them, for every solve.

    Raises
    ------
    TypeError, ValueError
        Where A or an option is not as above.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> s = nz.Solver(A)
    >>> x = s.solve(np.ones(900)).x
    >>> s.update_values(2 * A.data)
    >>> r = s.solve(np.ones(900), x0=x)
    >>> r.converged, bool(np.linalg.norm(2 * (A @ r.x) - 1) <= 1e-8 * 30)
    (True, True)
    """

    def __init__(
        self,
        A: Any,
        *,
        tol: float | None = None,
        maxiter: int = 10000,
        max_seconds: float | None = None,
        method: str | None = None,
        preconditioner: str | None = None,
        restart: int = 30,
        block: int | None = None,
        near_nullspace: Any = None,
        iterative: bool = False,
        direct_solver: str = "eigen",
        fill_level: int = 0,
        block_cg: bool = False,
        device: int | str | None = None,
        threads: int = 0,
    ) -> None:
        matrix = as_matrix(A)
        number = device_number(device, matrix)
        self._kept: Matrix = _where_solved(matrix, number)
        self.shape: tuple[int, int] = self._kept.shape
        self.dtype: np.dtype[Any] = self._kept.dtype
        self._core = _nonzero.Solver(
            self._kept.shape,
            *self._kept.lent(),
            device=number,
            streams=_streams(self._kept.data),
            threads=whole(threads, "threads"),
            **_system_options(
                self._kept,
                default_tol(self.dtype) if tol is None else real(tol, "tol", 0),
                maxiter,
                max_seconds,
                method,
                preconditioner,
                restart,
                block,
                near_nullspace,
                iterative,
                direct_solver,
                fill_level,
                block_cg,
            ),
        )

    def solve(self, b: Any, x0: Any = None) -> SolveResult:
        """Solve A x = b.

        Parameters
        ----------
        b : array, (n,) or (n, k)
            As `nonzero.solve` takes it. The first call with several columns plans the product anew.
        x0 : array, of b's shape, optional
            The initial guess, such as the x of the step before. [zeros]

        Returns
        -------
        SolveResult
            Not converging is a value, no error.

        Raises
        ------
        TypeError, ValueError
            Where b or x0 is not as above, or A does not suit the method asked for.
        """
        rhs, x = _both(b, x0, self._kept)
        return _result(self._core.solve(lend(rhs), lend(x), _streams(rhs, x)), x, b)

    def update_values(self, data: Any) -> None:
        """Take other values on the old pattern.

        Parameters
        ----------
        data : array, (nnz,)
            In the order of A.data; on the CPU or a GPU.

        Raises
        ------
        TypeError, ValueError
            Where data is of another length or is not numeric: nothing has changed then.
        """
        A = self._kept
        if tuple(np.shape(data)) != tuple(A.data.shape):
            raise ValueError(f"data: of shape {np.shape(data)}, expected {tuple(A.data.shape)}")
        if A.device < 0:
            values = np.ascontiguousarray(to_numpy(data), dtype=self.dtype)
        else:
            values = _there(data, A, "data", len(A.data))
        self._core.take_values(
            lend(A.indptr), lend(A.indices), lend(values), _streams(A.data, values)
        )


class Factorization:
    """The factors of a square matrix, for any number of right-hand sides; `factorize` makes it.

    Attributes
    ----------
    shape : tuple of int
        Of the matrix.
    nnz : int
        Entries of both factors.
    nbytes : int
        Their memory.
    library, kind : str
        Who made them, and "lu" or "cholesky".
    predicted_bytes, predicted_s : float
        What the symbolic factorization said before.
    """

    def __init__(self, core: Any, matrix: Matrix) -> None:
        self._core = core
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype[Any] = matrix.dtype
        self.nnz: int = core.entries
        self.nbytes: int = core.bytes
        self.library: str = core.library
        self.kind: str = core.kind
        self.predicted_bytes: float = core.predicted_bytes
        self.predicted_s: float = core.predicted_s

    def solve(self, b: Any) -> NDArray[Any]:
        """Solve A x = b, refined by the true residual.

        Parameters
        ----------
        b : array, (n,) or (n, k)
            One right-hand side, or k; on the CPU.

        Returns
        -------
        array, of b's shape
            The same bits in every run. Where A is nearly singular its residual may be large.

        Raises
        ------
        TypeError, ValueError
            Where b is not as above.
        """
        rhs = np.asfortranarray(b, dtype=self.dtype)
        if rhs.ndim not in (1, 2) or rhs.shape[0] != self.shape[0]:
            n = self.shape[0]
            raise ValueError(f"b: of shape {rhs.shape}, expected ({n},) or ({n}, k)")
        x = np.empty_like(rhs, order="F")
        self._core.solve(rhs.ravel(order="F"), x.reshape(-1, order="F"))
        return x


def factorize(
    A: Any, *, max_bytes: float | None = None, direct_solver: str = "eigen"
) -> Factorization:
    """Factorize A, for many right-hand sides: a sparse LU on the CPU, computed in double precision.

    Rows and columns are scaled by powers of two and permuted so that large entries are on the
    diagonal, and ordered so that little is filled in. Where A is symmetric (hermitian) positive
    definite it is a Cholesky factorization, of half the memory.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        As `plan` takes it.
    max_bytes : float, optional
        The most memory that the factors may take, as predicted. [half of the machine's]
    direct_solver : {"eigen", "cholmod", "umfpack", "pardiso", "klu", "auto"}
        Who factorizes: "eigen" is part of nonzero; the others are used where they are installed
        (SuiteSparse 5; MKL, where the loader finds it); "cholmod" takes definite matrices alone.
        "auto" is "cholmod" where A may be definite, else "pardiso", "umfpack" or "eigen", the first
        that is there. Bits are those of the library and its BLAS.

    Returns
    -------
    Factorization

    Raises
    ------
    TypeError, ValueError
        Where A is not as above, not finite, or singular: structurally, naming a row and a column
        that match none, or numerically.
    Unavailable
        Where the factors would take more than max_bytes; it says how much. Where the library is not
        installed.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> F = nz.factorize(A)
    >>> x = F.solve(np.ones(900))
    >>> bool(np.linalg.norm(A @ x - 1) <= 1e-12 * 30)
    True
    """
    matrix = as_matrix(A)
    host = matrix.on_cpu()
    limit = None if max_bytes is None else real(max_bytes, "max_bytes", 0)
    core = _nonzero.factorize(
        host.shape, *host.lent(), max_bytes=limit, direct_solver=direct_solver
    )
    return Factorization(core, host)


def _vector(v: Any, A: Matrix, name: str) -> NDArray[Any]:
    """Give a vector on the CPU, contiguous and of the matrix's dtype."""
    return host_vector(v, name, A.shape[0], A.dtype)


def _both(b: Any, x0: Any, A: Matrix) -> tuple[Any, Any]:
    """Give b and the guess where A is: vectors, or arrays of as many columns, by rows."""
    several = has_columns(b)
    if A.device >= 0:
        rhs = _there(b, A, "b", A.shape[0], several)
        guess = None if x0 is None else _there(x0, A, "x0", A.shape[0], several)
        x = zeros(tuple(rhs.shape), A.dtype, rhs) if guess is None else copied(guess)
    else:
        take = _columns if several else _vector
        rhs = take(b, A, "b")
        x = np.zeros_like(rhs) if x0 is None else take(x0, A, "x0").copy()
    if tuple(x.shape) != tuple(rhs.shape):
        raise ValueError(f"x0: of shape {tuple(x.shape)}, expected {tuple(rhs.shape)}")
    return rhs, x


def _there(v: Any, A: Matrix, name: str, length: int, several: bool = False) -> Any:
    """Give a vector, or several by rows, on A's GPU and of its dtype, contiguous."""
    found = dense(v, name)
    if found.ndim == 2 and found.shape[1] == 1 and not several:
        found = found[:, 0]
    if found.ndim != 1 + several or found.shape[0] != length:
        wanted = f"({length}, k)" if several else f"({length},)"
        raise ValueError(f"{name}: of shape {tuple(found.shape)}, expected {wanted}")
    kind = dtype_of(found).kind
    if kind not in "biuf":
        raise TypeError(f"{name}: of dtype {dtype_of(found)}, expected {A.dtype}")
    if device_of(found) != A.device:
        found = from_numpy(np.ascontiguousarray(to_numpy(found), A.dtype), A.data)
    found = as_dtype(found, A.dtype)
    if library_of(found) == "torch":
        return found.contiguous()
    if library_of(found) == "cupy" and not found.flags.c_contiguous:
        return found.copy(order="C")
    return found


def _columns(v: Any, A: Matrix, name: str) -> NDArray[Any]:
    host = to_numpy(dense(v, name))
    if host.ndim != 2 or host.shape[0] != A.shape[0]:
        raise ValueError(f"{name}: of shape {host.shape}, expected ({A.shape[0]}, k)")
    flat = host_vector(host.reshape(-1), name, host.size, A.dtype)
    return flat.reshape(host.shape)


def _block(block: int | None) -> int:
    return 0 if block is None else whole(block, "block", 1)


def _near(B: Any, rows: int, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Give vectors (rows, k) on the CPU, row by row, in one dimension."""
    if B is None:
        return None
    host = to_numpy(dense(B, "near_nullspace"))
    if host.ndim == 1:
        host = host[:, None]
    if host.ndim != 2 or host.shape[0] != rows or host.shape[1] < 1:
        raise ValueError(
            f"near_nullspace: of shape {np.shape(B)}, expected ({rows}, k) with k from 1 on"
        )
    return _finite(host, "near_nullspace", dtype)


def _finite(host: NDArray[Any], name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give the elements of a matrix, row by row, in one dimension."""
    if host.dtype.kind not in ("biufc" if dtype.kind == "c" else "biuf"):
        expected = "numbers" if dtype.kind == "c" else "real numbers"
        raise TypeError(f"{name}: of dtype {host.dtype}, expected {expected}")
    flat = np.ascontiguousarray(host, dtype=dtype).reshape(-1)
    wrong = np.flatnonzero(~np.isfinite(flat))
    if wrong.size > 0:
        row, column = divmod(int(wrong[0]), host.shape[1])
        raise ValueError(f"{name}: {flat[wrong[0]]} in row {row}, column {column}, expected finite")
    return flat


def _krylov(
    method: str,
    A: Any,
    b: Any,
    x0: Any,
    rtol: float | None,
    atol: float,
    maxiter: int | None,
    max_seconds: float | None,
    M: Any,
    callback: Callback | None,
    restart: int = 30,
) -> tuple[Any, int]:
    several = has_columns(b)
    if several and callback is not None:
        raise TypeError("callback: for one right-hand side")
    s = system(A, b, x0, M, columns=several)
    target = target_of(rtol, "rtol", atol, b, s.A.dtype)
    most, limit = count_of(maxiter, 10 * s.A.shape[0]), seconds_of(max_seconds)
    cycle = whole(restart, "restart", 1, 1000)
    if several:
        reports = s.run_columns(method, target, most, limit, cycle)
    else:
        watched = function(callback, "callback")
        reports = [s.run(method, target, most, max_seconds=limit, restart=cycle, callback=watched)]
    return finished(s.x, b), max(
        (max(r["iterations"], 1) for r in reports if not r["converged"]), default=0
    )


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    maxiter: int | None = None,
    max_seconds: float | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by conjugate gradients, for a symmetric (hermitian) positive definite A.

    Parameters
    ----------
    A : Operator, a matrix as `plan` takes it, or another's operator, (n, n)
        Plan it once for several right-hand sides. Of others: what has `matvec` or multiplies by
        ``@``, such as SciPy's LinearOperator or a dense array, or a function with a shape; they are
        given NumPy arrays and multiply on the CPU.
    b, x0 : array, (n,) or (n, k)
        On the operator's device; not changed. As in SciPy the dtypes of A and b decide that of x;
        integers count as float64. k systems go in step and share products, cycles and passes over
        vectors, each to its own bound: plan A with vectors=k.
    rtol, atol : float
        It has converged where norm(b - A x) <= max(rtol norm(b), atol); of k systems with the
        largest norm(b). [rtol: 1e-8, or 1e-5 in single precision, as `solve` has it; SciPy's is
        1e-5]
    maxiter : int, optional
        [10 n]
    max_seconds : float, optional
        x is what has been found when that long has passed. [no limit]
    M : as A, optional
        The preconditioner, an approximate inverse of A: what `amg`, `ic` or `fsai` make, PyAMG's
        ``aspreconditioner()``, a function.
    callback : callable, optional
        Is called with the relative residual after each iteration. (SciPy's is given x.)

    Returns
    -------
    x : array, of b's shape
        Of the library of b. The same bits in every run.
    info : int
        0 where it has converged, else the number of iterations; of k systems the most of one that
        has not.

    Raises
    ------
    TypeError, ValueError
        Where A, b, x0 or M are not as above. What a function raises goes on.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.cg(A, np.ones(900), M=nz.amg(A))
    >>> info
    0
    >>> x, info = nz.cg(lambda v: 2 * v, np.ones(3))
    Traceback (most recent call last):
    TypeError: A: a function without a shape, expected one with it
    """
    return _krylov("cg", A, b, x0, rtol, atol, maxiter, max_seconds, M, callback)


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    maxiter: int | None = None,
    max_seconds: float | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by minimal residuals, for a symmetric (hermitian) A; as `cg`.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.minres(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("minres", A, b, x0, rtol, atol, maxiter, max_seconds, M, callback)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    maxiter: int | None = None,
    max_seconds: float | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by stabilised biconjugate gradients, for any A; as `cg`.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.bicgstab(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("bicgstab", A, b, x0, rtol, atol, maxiter, max_seconds, M, callback)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    restart: int = 30,
    maxiter: int | None = None,
    max_seconds: float | None = None,
    M: Any = None,
    callback: Callback | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by generalised minimal residuals, for any A; as `cg`.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, max_seconds, M, callback
        As `cg` has them; `maxiter` counts inner iterations.
    restart : int
        Vectors held, at first.

    Returns
    -------
    x, info
        As `cg` has them.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> x, info = nz.gmres(nz.generate.laplace2d(10), np.ones(100))
    >>> info
    0
    """
    return _krylov("gmres", A, b, x0, rtol, atol, maxiter, max_seconds, M, callback, restart)


class Level(NamedTuple):
    """A level of multigrid.

    Attributes
    ----------
    rows, nnz : int
        Of its matrix.
    spectral_radius : float
        An estimate of that of D^-1 A; 0 on a level that is solved directly.
    method : str
        Of its product.
    """

    rows: int
    nnz: int
    spectral_radius: float
    method: str


class Multigrid(Operator):
    """Multigrid as a preconditioner, which `amg` makes; prints as a table of its levels.

    Attributes
    ----------
    levels : list of Level
        Finest first: named tuples of rows, nnz, spectral_radius and method.
    block : int
        Unknowns a node of the finest level.
    operator_complexity, grid_complexity : float
        Entries, and rows, of all levels over those of the finest.
    setup_s : float
        What making it took [s].
    """

    def __init__(self, core: Any, report: dict[str, Any]) -> None:
        super().__init__(core, None, {"name": "amg"})
        self.levels = [Level(*level) for level in report["levels"]]
        self.block: int = report["block"]
        self.operator_complexity: float = report["operator_complexity"]
        self.grid_complexity: float = report["grid_complexity"]
        self.setup_s: float = report["setup_s"]
        self._text: str = report["text"]

    def __str__(self) -> str:
        """Give the table of levels, and the complexities below it."""
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"


def rigid_body_modes(coordinates: Any) -> NDArray[np.float64]:
    """Give the motions of a rigid body, which elasticity hardly resists: for `near_nullspace`.

    Parameters
    ----------
    coordinates : array, (nodes, 3) or (nodes, 2)
        Of the nodes, in space or in the plane; finite. Their mean is taken for the origin.

    Returns
    -------
    array, (3 nodes, 6) or (2 nodes, 3)
        Translations, then rotations, for unknowns (u, v, w) or (u, v) a node, node by node.

    Raises
    ------
    TypeError, ValueError
        Where coordinates are not as above.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> nz.rigid_body_modes([[0.0, 0.0], [2.0, 0.0]])
    array([[ 1.,  0., -0.],
           [ 0.,  1., -1.],
           [ 1.,  0., -0.],
           [ 0.,  1.,  1.]])
    """
    host = to_numpy(dense(coordinates, "coordinates"))
    if host.ndim != 2 or host.shape[1] not in (2, 3):
        raise ValueError(f"coordinates: of shape {host.shape}, expected (nodes, 2) or (nodes, 3)")
    flat = _finite(host, "coordinates", np.dtype(np.float64))
    modes = np.asarray(_nonzero.rigid_body_modes(flat, host.shape[1]), np.float64)
    return modes.reshape(host.size, 3 if host.shape[1] == 2 else 6)


def amg(
    A: Any,
    *,
    near_nullspace: Any = None,
    block: int | None = None,
    adaptive_candidates: int = 0,
    device: int | str | None = None,
    threads: int = 0,
    cycle: str = "v",
    strength: float | None = None,
    precision: str = "exact",
) -> Multigrid:
    """Make a multigrid preconditioner: smoothed aggregation, one cycle a product.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        Symmetric (complex: hermitian) positive definite, as `plan` takes it. On a GPU it stays
        there, and so do its levels, unless `device` says otherwise. Not needed afterwards.
    near_nullspace : array, (n, k), optional
        Vectors that A hardly feels, which coarser levels must represent, such as
        `rigid_body_modes`; finite. Columns that depend on others do no harm. [the constant, one
        for each of a node's unknowns; where A is not real: phases that make its couplings negative]
    block : int, optional
        Unknowns a node, which are aggregated together: 3 for elasticity in space. [6, 3 or 2 where
        A's rows come in such groups with one pattern, and hardly feel constants; else 1]
    adaptive_candidates : int
        Vectors that are found by relaxation, beside those of near_nullspace or the constants;
        each takes another setup and ten cycles.
    device : int or "cpu" or "gpu", optional
        Where it is applied. [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.
    cycle : {"v", "w"}
        Of the levels.
    strength : float, optional
        Of couplings that are aggregated; larger couples less.
    precision : {"exact", "single"}
        Of a cycle. "single" rounds its vectors and all levels' matrices from float64 to float32,
        and takes half their bytes; values should lie between 1e-18 and 1e18 in magnitude.

    Returns
    -------
    Multigrid
        ``M @ r``, near the inverse of A, symmetric: for `cg`, here or in SciPy. ``print(M)`` shows
        its levels.

    Raises
    ------
    TypeError, ValueError
        Where A is not symmetric (complex: hermitian), or has a diagonal entry that is not positive;
        where near_nullspace is not as above, or n no multiple of block.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace3d(12)
    >>> M = nz.amg(A)
    >>> (M @ np.ones(1728)).shape
    (1728,)
    >>> [level.rows for level in M.levels]
    [1728, 85]
    """
    matrix = as_matrix(A)
    if cycle not in ("v", "w"):
        raise ValueError(f"cycle: {cycle!r}, expected 'v' or 'w'")
    if precision not in ("exact", "single"):
        raise ValueError(f"precision: {precision!r}, expected 'exact' or 'single'")
    number = device_number(device, matrix)
    stays = matrix.device >= 0 and matrix.device == number
    host = matrix if stays else matrix.on_cpu()
    core, report = _nonzero.amg(
        host.shape,
        *host.lent(),
        device=number,
        threads=whole(threads, "threads"),
        block=_block(block),
        near=_near(near_nullspace, host.shape[0], host.dtype),
        adaptive_candidates=whole(adaptive_candidates, "adaptive_candidates", 0, 50),
        cycle=cycle,
        strength=None if strength is None else real(strength, "strength", 0),
        in_single=precision == "single",
        stream=stream_of(host.data) if stays else 0,
    )
    return Multigrid(core, report)


def _incomplete(
    kind: str, A: Any, level: int, block: int, device: int | str | None, threads: int
) -> Operator:
    matrix = as_matrix(A)
    host = matrix.on_cpu()
    core, text = _nonzero.incomplete(
        kind,
        host.shape,
        *host.lent(),
        device=device_number(device, matrix),
        threads=whole(threads, "threads"),
        level=whole(level, "level", 0),
        block=whole(block, "block", 1),
    )
    return Operator(core, None, {"name": kind, "report": text})


def ilu(
    A: Any,
    level: int = 0,
    *,
    block: int = 1,
    device: int | str | None = None,
    threads: int = 0,
) -> Operator:
    """Make a preconditioner of incomplete LU factors: for `bicgstab` and `gmres`.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        As `plan` takes it; copied to the CPU where it is on a GPU. Not needed afterwards. Small
        pivots are shifted.
    level : int
        Of fill: 0 keeps the pattern of A; 1 and 2 keep more.
    block : int
        Unknowns of a node, up to 64, which follow each other: where an entry couples two nodes, all
        their unknowns are coupled in the pattern, as in block ILU.
    device : int or "cpu" or "gpu", optional
        Where it is applied: on a GPU by products with approximate inverses of the factors.
        [where A lies]
    threads : int
        On the CPU; 0: as many as OpenMP offers.

    Returns
    -------
    Operator
        ``M @ r``, near the inverse of A. The same bits for any number of threads.

    Raises
    ------
    TypeError, ValueError
        Where A is not square or not finite, has a row of zeros, or its factors overflow.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.bicgstab(A, np.ones(900), M=nz.ilu(A))
    >>> info
    0
    """
    return _incomplete("ilu", A, level, block, device, threads)


def ic(
    A: Any,
    level: int = 0,
    *,
    block: int = 1,
    device: int | str | None = None,
    threads: int = 0,
) -> Operator:
    """Make a preconditioner of an incomplete Cholesky factor: for `cg`.

    Where there is no such factor, a part of A's diagonal is added to A.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        Symmetric (hermitian) positive definite; as `ilu` takes it.
    level, block, device, threads
        As `ilu` has them.

    Returns
    -------
    Operator
        ``M @ r``, near the inverse of A, symmetric. The same bits for any number of threads.

    Raises
    ------
    TypeError, ValueError
        Where A is not symmetric, or has a diagonal entry that is not positive.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.cg(A, np.ones(900), M=nz.ic(A))
    >>> info
    0
    """
    return _incomplete("ic", A, level, block, device, threads)


def fsai(
    A: Any,
    level: int = 0,
    *,
    block: int = 1,
    device: int | str | None = None,
    threads: int = 0,
) -> Operator:
    """Make a preconditioner of a factorised sparse approximate inverse: for `cg`.

    It is two products, in which no row waits for another: for GPUs and many threads.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        Symmetric (hermitian) positive definite; as `ilu` takes it.
    level : int
        The pattern of the factor: that of A (0) or of A squared (1).
    block, device, threads
        As `ilu` has them.

    Returns
    -------
    Operator
        ``M @ r``, near the inverse of A, symmetric. The same bits for any number of threads.

    Raises
    ------
    TypeError, ValueError
        Where A is not symmetric positive definite, or level is none of the two.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.cg(A, np.ones(900), M=nz.fsai(A))
    >>> info
    0
    """
    return _incomplete("fsai", A, level, block, device, threads)


def spai(
    A: Any,
    level: int = 0,
    *,
    block: int = 1,
    device: int | str | None = None,
    threads: int = 0,
) -> Operator:
    """Make a preconditioner of a sparse approximate inverse: for `bicgstab` and `gmres`.

    It is one product, in which no row waits for another: for GPUs and many threads.

    Parameters
    ----------
    A : sparse matrix, (n, n)
        As `ilu` takes it.
    level : int
        The pattern of the inverse: that of A (0) or of A squared (1).
    block, device, threads
        As `ilu` has them.

    Returns
    -------
    Operator
        ``M @ r``: each row m of M is the one for which m A is nearest to the identity's. The same
        bits for any number of threads.

    Raises
    ------
    TypeError, ValueError
        Where A is not square or not finite, where a row of M is zero, as of a singular A, or where
        level is none of the two.

    Examples
    --------
    >>> import numpy as np, nonzero as nz
    >>> A = nz.generate.laplace2d(30)
    >>> x, info = nz.bicgstab(A, np.ones(900), M=nz.spai(A))
    >>> info
    0
    """
    return _incomplete("spai", A, level, block, device, threads)

"""Matrices over the processes of MPI: each has some rows, and products and solves are of all.

MPI is mpi4py's. All processes make the same calls in the same order::

    mpirun -n 4 python script.py

>>> import nonzero as nz
>>> A = nz.dist.read("A.mtx")  # doctest: +SKIP
>>> r = nz.dist.solve(A, b)  # doctest: +SKIP

A is this process's rows, b its elements.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from nonzero import _nonzero
from nonzero._arguments import real, whole
from nonzero._arrays import device_of, dtype_of, empty, host_vector, lend, on_gpu, stream_of
from nonzero._files import dtype_code
from nonzero._krylov import default_tol, seconds_of
from nonzero._matrices import as_matrix
from nonzero._solvers import SolveResult, _result

__all__ = ["Operator", "Rows", "plan", "read", "rows", "solve"]

#: MPI counts in an int.
_LARGEST_PIECE = 1 << 30


def _mpi() -> Any:
    try:
        from mpi4py import MPI
    except ImportError as e:
        raise ImportError("nonzero.dist needs mpi4py and an MPI: pip install mpi4py") from e
    return MPI


class _Transport:
    """What the library asks of a communicator, over a duplicate of mpi4py's."""

    def __init__(self, comm: Any) -> None:
        self._mpi = _mpi()
        self._comm = comm.Dup()
        self._requests: list[Any] = []

    def all_gather(self, mine: memoryview, everyone: memoryview) -> None:
        byte = self._mpi.BYTE
        self._comm.Allgather([mine, byte], [everyone, byte])

    def start(self, out: list[tuple[int, memoryview]], into: list[tuple[int, memoryview]]) -> None:
        byte = self._mpi.BYTE
        for peer, memory in into:
            self._requests += [self._comm.Irecv([p, byte], peer) for p in _pieces(memory)]
        for peer, memory in out:
            self._requests += [self._comm.Isend([p, byte], peer) for p in _pieces(memory)]

    def wait(self) -> None:
        self._mpi.Request.Waitall(self._requests)
        self._requests.clear()


def _pieces(memory: memoryview) -> list[memoryview]:
    return [memory[at : at + _LARGEST_PIECE] for at in range(0, memory.nbytes, _LARGEST_PIECE)]


_key: int | None = None  # under which a communicator has its ranks


def _ranks_of(comm: Any) -> Any:
    """Give the library's ranks of a communicator, which are made once for each."""
    global _key
    mpi = _mpi()
    if _key is None:
        _key = mpi.Comm.Create_keyval()
    found = comm.Get_attr(_key)
    if found is None:
        found = _nonzero.Ranks(_Transport(comm), comm.Get_rank(), comm.Get_size())
        comm.Set_attr(_key, found)
    return found


def _agreed(comm: Any, f: Callable[[], Any]) -> Any:
    """Give f(), which asks no other process; what one raises all raise."""
    fault: Exception | None = None
    made = None
    try:
        made = f()
    except (TypeError, ValueError) as e:
        fault = e
    faults = comm.allgather(None if fault is None else (type(fault).__name__, str(fault)))
    if fault is not None:
        raise fault
    for rank, told in enumerate(faults):
        if told is not None:
            raise (TypeError if told[0] == "TypeError" else ValueError)(f"rank {rank}: {told[1]}")
    return made


def _equal(comm: Any, what: str, value: Any) -> None:
    everyone = comm.allgather(value)
    if any(other != everyone[0] for other in everyone):
        raise ValueError(f"{what}: {everyone}, expected the same on all ranks")


class Rows:
    """Rows of a matrix that all processes share, of this one; `read` and `rows` make it.

    Attributes
    ----------
    shape : tuple of int
        Of the whole matrix.
    rows, cols : range
        The rows that are this process's, and the elements of x.
    nnz : int
        Entries of these rows.
    dtype : numpy.dtype
    """

    def __init__(self, core: Any, comm: Any) -> None:
        self._core, self._comm = core, comm
        self.shape: tuple[int, int] = core.shape
        self.rows, self.cols = range(*core.rows), range(*core.cols)
        self.nnz: int = core.entries
        self.dtype: np.dtype[Any] = np.dtype(core.dtype)

    def __repr__(self) -> str:
        m, n = self.shape
        own = f"rows {self.rows.start} to {self.rows.stop - 1}" if len(self.rows) else "no rows"
        return f"<{m} x {n} {self.dtype} over {self._comm.Get_size()} ranks, here {own}>"


class Operator:
    """A product that is planned over all processes; `plan` makes it.

    Attributes
    ----------
    shape : tuple of int
        Of the whole matrix.
    rows, cols : range
        This process's elements of y and of x.
    method : str
        By which its own columns are multiplied.
    device : str or int
        ``"cpu"``, or the number of this process's GPU.
    """

    def __init__(self, core: Any, of: Rows) -> None:
        self._core, self._of = core, of
        self.shape, self.rows, self.cols, self.dtype = of.shape, of.rows, of.cols, of.dtype
        self.method: str = core.method
        self.device: str | int = "cpu" if core.device < 0 else core.device

    def __matmul__(self, x: Any) -> Any:
        """Multiply: x is this process's elements, as is the result. Called by all.

        On a GPU a vector of CuPy or PyTorch that lies there stays there; others travel to it, and
        the result is NumPy's.
        """
        own = _agreed(self._of._comm, lambda: self._vector(x))
        y = empty((len(self.rows),), self.dtype, own)
        self._core.apply(lend(own), lend(y), stream_of(own))
        return y

    def _vector(self, x: Any) -> Any:
        if self.device == "cpu" or device_of(x) != self.device:
            return host_vector(x, "x", len(self.cols), self.dtype)
        if tuple(x.shape) != (len(self.cols),):
            raise ValueError(f"x: of shape {tuple(x.shape)}, expected ({len(self.cols)},)")
        if dtype_of(x) != self.dtype:
            raise TypeError(f"x: of dtype {dtype_of(x)}, expected {self.dtype}")
        return on_gpu(x, rows_will_do=False)


def read(path: str | os.PathLike[str], comm: Any = None, *, dtype: DTypeLike = np.float64) -> Rows:
    """Read this process's rows of a matrix in a file.

    Ranges of rows have about as many entries each. No process reads the whole file but where its
    format asks for that.

    Parameters
    ----------
    path : path
        As `nonzero.read` takes it.
    comm : mpi4py.MPI.Comm, optional
        [MPI.COMM_WORLD]
    dtype : dtype
        Of the values.

    Returns
    -------
    Rows

    Raises
    ------
    ImportError
        Where mpi4py is not installed.
    TypeError, ValueError
        On all processes where it is raised on one.
    """
    comm = _mpi().COMM_WORLD if comm is None else comm
    code, name = _agreed(comm, lambda: (dtype_code(dtype), os.fspath(path)))
    _equal(comm, "dtype", code)
    return Rows(_nonzero.read_rows(_ranks_of(comm), name, code), comm)


def rows(A: Any, comm: Any = None) -> Rows:
    """Take each process's own rows of a matrix.

    Parameters
    ----------
    A : sparse matrix, (rows of this process, n)
        As `nonzero.plan` takes it, columns numbered as in the whole matrix; the rows of all
        processes, in their order, are the matrix. Copied.
    comm : mpi4py.MPI.Comm, optional
        [MPI.COMM_WORLD]

    Returns
    -------
    Rows

    Raises
    ------
    ImportError
        Where mpi4py is not installed.
    TypeError, ValueError
        On all processes where it is raised on one.
    """
    if isinstance(A, Rows):
        return A
    comm = _mpi().COMM_WORLD if comm is None else comm
    host = _agreed(comm, lambda: as_matrix(A).on_cpu())
    _equal(comm, "A: dtypes", host.dtype.name)
    core = _nonzero.distributed_rows(_ranks_of(comm), host.shape, *host.lent())
    return Rows(core, comm)


def plan(
    A: Any, comm: Any = None, *, device: str = "cpu", share_gpu: bool = False, threads: int = 1
) -> Operator:
    """Plan the product with a matrix over all processes.

    Parameters
    ----------
    A : Rows, or as `rows` takes it
    comm : mpi4py.MPI.Comm, optional
        Of a matrix that is no Rows. [MPI.COMM_WORLD]
    device : {"cpu", "gpu"}
        "gpu": the processes of a host take its GPUs in turn, and talk by NCCL where it is found.
    share_gpu : bool
        Whether several may take one GPU. The first call of a communicator decides.
    threads : int
        Of each process on the CPU; 0: as many as OpenMP offers.

    Returns
    -------
    Operator
        ``y = op @ x``, called by all. The same bits in every run with as many processes.

    Raises
    ------
    Unavailable
        On all processes where one has no GPU, or would share one and may not.
    """
    own = rows(A, comm)
    where, count = _agreed(own._comm, lambda: _place(device, share_gpu, threads))
    _equal(own._comm, "device, share_gpu", where)
    on_gpu_, may_share = where
    return Operator(_nonzero.DistributedProduct(own._core, on_gpu_, may_share, count), own)


def _place(device: str, share_gpu: bool, threads: int) -> tuple[tuple[bool, bool], int]:
    """Give whether it is on GPUs, whether they may be shared, and the threads."""
    if device not in ("cpu", "gpu"):
        raise ValueError(f"device: {device!r}, expected 'cpu' or 'gpu'")
    return (device == "gpu", bool(share_gpu)), whole(threads, "threads")


def solve(
    A: Any,
    b: Any,
    comm: Any = None,
    *,
    x0: Any = None,
    tol: float | None = None,
    maxiter: int = 10000,
    max_seconds: float | None = None,
    method: str | None = None,
    preconditioner: str | None = None,
    restart: int = 30,
    iterative: bool = False,
    fill_level: int = 0,
    device: str = "cpu",
    share_gpu: bool = False,
    threads: int = 1,
) -> SolveResult:
    """Solve A x = b over all processes, by the method and the preconditioner that suit A.

    Multigrid is over all processes; other preconditioners but jacobi are of each one's rows and
    columns.

    Parameters
    ----------
    A : Rows, or as `rows` takes it, (n, n)
    b : array, (rows of this process,)
        Its elements of b.
    comm : mpi4py.MPI.Comm, optional
        Of a matrix that is no Rows. [MPI.COMM_WORLD]
    x0 : array, as b, optional
        The initial guess. [zeros]
    tol, maxiter, max_seconds, method, preconditioner, restart, iterative, fill_level
        As `nonzero.solve` has them; the same on all processes.
    device, share_gpu, threads
        As `plan` has them.

    Returns
    -------
    SolveResult
        x is this process's elements, as an array of b's library and where b lies; all else is the
        same on all, but for times.

    Raises
    ------
    Unavailable
        As `plan`.
    ImportError
        Where mpi4py is not installed.
    TypeError, ValueError
        On all processes where it is raised on one.
    """
    own = rows(A, comm)

    def arguments() -> tuple[Any, ...]:
        rhs = host_vector(b, "b", len(own.rows), own.dtype)
        x = np.zeros_like(rhs)
        if x0 is not None:
            x[:] = host_vector(x0, "x0", len(own.rows), own.dtype)
        options = {
            "tol": default_tol(own.dtype) if tol is None else real(tol, "tol", 0),
            "maxiter": whole(maxiter, "maxiter", 0, 2**63 - 1),
            "max_seconds": seconds_of(max_seconds),
            "restart": whole(restart, "restart", 1, 1000),
            "method": method,
            "preconditioner": preconditioner,
            "fill_level": whole(fill_level, "fill_level", 0),
            "iterative": bool(iterative),
        }
        (options["on_gpu"], options["share_gpu"]), count = _place(device, share_gpu, threads)
        return rhs, x, options, count

    rhs, x, options, count = _agreed(own._comm, arguments)
    _equal(own._comm, "options", options)
    r = _nonzero.solve_rows(own._core, rhs, x, threads=count, **options)
    return _result([r], x, b)

"""Methods timed on matrices."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nonzero import _nonzero
from nonzero._arguments import names, real, whole
from nonzero._matrices import as_matrix
from nonzero._operator import device_number
from nonzero._plan import table_as_html

_HEADS = ("matrix", "method", "threads", "GFLOP/s", "GB/s", "product", "setup", "bytes an entry")


@dataclass(frozen=True)
class Study:
    """Times of methods on matrices; prints as a table, fastest first for each matrix.

    Attributes
    ----------
    results : list of dict
        For each matrix and method: matrix, method, threads; declined, the reason where it was not
        timed; else median_s and min_s of a product, spread (the quartiles' distance over the
        median), gflops, gbps, setup_s, bytes_per_entry, and error_bounds, the largest error over
        its bound, at most 1 for a right product.
    """

    results: list[dict[str, Any]] = field(repr=False)

    def fastest(self) -> dict[str, str]:
        """Name the fastest method on each matrix."""
        found: dict[str, str] = {}
        for r in self._sorted():
            found.setdefault(r["matrix"], r["method"])
        return found

    def _sorted(self) -> list[dict[str, Any]]:
        timed = [r for r in self.results if "median_s" in r]
        places = {m: k for k, m in enumerate(dict.fromkeys(r["matrix"] for r in timed))}
        return sorted(timed, key=lambda r: (places[r["matrix"]], r["median_s"]))

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                r["matrix"],
                r["method"],
                str(r["threads"]),
                _nonzero.text_of_number(r["gflops"]),
                _nonzero.text_of_number(r["gbps"]),
                _nonzero.text_of_time(r["median_s"]),
                _nonzero.text_of_time(r["setup_s"]),
                _nonzero.text_of_number(r["bytes_per_entry"]),
            )
            for r in self._sorted()
        ]

    def __str__(self) -> str:
        """Give the table as text."""
        rows = [_HEADS, *self._rows()]
        widths = [max(len(r[k]) for r in rows) for k in range(len(_HEADS))]
        return "\n".join(
            "  ".join(
                c.ljust(w) if k < 2 else c.rjust(w)
                for k, (c, w) in enumerate(zip(r, widths, strict=True))
            ).rstrip()
            for r in rows
        )

    def _repr_html_(self) -> str:
        return table_as_html(_HEADS, self._rows(), "Products timed, fastest first")


def bench(
    A: Any,
    *,
    methods: str | Sequence[str] = (),
    threads: int | Sequence[int] = 0,
    device: int | str | None = None,
    seconds: float = 0.1,
    name: str = "A",
) -> Study:
    """Time methods on a matrix, and check each against an oracle.

    Parameters
    ----------
    A : sparse matrix
        As `plan` takes it; copied to the CPU where it is on a GPU.
    methods : str or sequence of str
        As `nonzero.methods` lists them. [all]
    threads : int or sequence of int
        On the CPU; 0: as many as OpenMP offers.
    device : int or "cpu" or "gpu", optional
        Where to multiply. [where A lies]
    seconds : float
        Of timing a method.
    name : str
        Of the matrix in the result.

    Returns
    -------
    Study

    Raises
    ------
    ValueError
        Where a method is unknown.
    Unavailable
        Where there is no such GPU.

    Examples
    --------
    >>> import nonzero as nz
    >>> study = nz.bench(nz.generate.laplace2d(20), methods=["csr.serial"], seconds=0.01)
    >>> study.fastest()
    {'A': 'csr.serial'}
    """
    matrix = as_matrix(A)
    host = matrix.on_cpu()
    counts = list(threads) if isinstance(threads, Sequence) else [threads]
    if real(seconds, "seconds") <= 0:
        raise ValueError(f"seconds: {seconds}, expected more than 0")
    found = _nonzero.benchmark(
        host.shape,
        *host.lent(),
        device=device_number(device, matrix),
        threads=[_nonzero.thread_count(whole(t, "threads")) for t in counts],
        methods=names(methods, "methods"),
        seconds=seconds,
    )
    return Study([{"matrix": name, **r} for r in found])


def study(matrices: Sequence[Any], **options: Any) -> Study:
    """Time methods on several matrices.

    Parameters
    ----------
    matrices : sequence
        Paths of files, matrices as `plan` takes them, or (name, matrix).
    **options
        As `bench` has them.

    Returns
    -------
    Study

    Examples
    --------
    >>> import nonzero as nz
    >>> grids = [(f"{n} x {n}", nz.generate.laplace2d(n)) for n in (8, 16)]
    >>> len(nz.study(grids, methods=["csr.serial"], seconds=0.01).results)
    2
    """
    from nonzero._files import read

    results: list[dict[str, Any]] = []
    for k, given in enumerate(matrices):
        if isinstance(given, (str, os.PathLike)):
            name, A = os.path.basename(os.fspath(given)).split(".")[0], read(given)
        elif isinstance(given, tuple) and len(given) == 2:
            name, A = given
        else:
            name, A = f"matrix {k}", given
        results += bench(A, name=name, **options).results
    return Study(results)

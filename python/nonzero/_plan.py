"""Report of a plan: the method chosen, the candidates, and why."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nonzero import _nonzero


@dataclass(frozen=True)
class Candidate:
    """A method, and what the planner found out about it.

    Attributes
    ----------
    method : str
        As `nonzero.methods` names it.
    declined : str
        Why it is out of the question; empty where it is not.
    matrix_bytes, bytes : float
        Of the arrays it would build; that one product moves.
    predicted_s, predicted_setup_s : float
        Of one product, and of building it [s].
    measured_s, measured_setup_s : float
        The same where it was timed (``tune=True``), else 0 [s].
    """

    method: str
    declined: str
    matrix_bytes: float
    bytes: float
    predicted_s: float
    predicted_setup_s: float
    measured_s: float
    measured_setup_s: float

    @property
    def _time(self) -> str:
        """The time of a product: measured where it was, else predicted."""
        return _nonzero.text_of_time(self.measured_s or self.predicted_s)

    @property
    def _setup(self) -> str:
        measured = self.measured_s > 0
        return _nonzero.text_of_time(self.measured_setup_s if measured else self.predicted_setup_s)

    def __repr__(self) -> str:
        """Name the method, and its times or why it declined."""
        if self.declined:
            return f"<{self.method} declines: {self.declined}>"
        how = "measured" if self.measured_s > 0 else "predicted"
        return (
            f"<{self.method}: {self._time} a product and {self._setup} of setup, {how}; "
            f"{_nonzero.text_of_bytes(self.bytes)} moved, "
            f"{_nonzero.text_of_bytes(self.matrix_bytes)} stored>"
        )


@dataclass(frozen=True)
class Plan:
    """The choice for a matrix, from which candidates, and why; prints as a table."""

    _report: dict[str, Any] = field(repr=False)

    @property
    def method(self) -> str:
        """The method chosen."""
        return self.candidates[0].method

    @property
    def why(self) -> str:
        """The choice, in one sentence."""
        return str(self._report["why"])

    @property
    def machine(self) -> str:
        """The machine that the plan is for."""
        return str(self._report["machine"])

    @property
    def storage(self) -> str:
        """The precision of the stored values: "exact" or "single"."""
        return str(self._report["storage"])

    @property
    def bound(self) -> float:
        """The c of ``abs(y - A @ x) <= c * (abs(A) @ abs(x))``, which every product keeps.

        Unless it overflows or underflows; with ``storage="single"``, also unless A has entries
        below 1.2e-38 in magnitude, each of which may add 7e-46 of its element of x.
        """
        return float(self._report["bound"])

    @property
    def candidates(self) -> list[Candidate]:
        """All of them, best first; those that decline last."""
        return [Candidate(**c) for c in self._report["candidates"]]

    def __repr__(self) -> str:
        """Name the matrix, the method and what it was chosen from."""
        rows, cols = self._report["shape"]
        open_ = sum(not c["declined"] for c in self._report["candidates"])
        return (
            f"<plan for {rows} x {cols} with {self._report['nnz']} entries: {self.method}, "
            f"of {open_} methods that suit, on {self.machine}>"
        )

    def __str__(self) -> str:
        """Give the choice and why, when its setup pays, and the best five candidates."""
        return str(self._report["text"])

    def _repr_html_(self) -> str:
        heads = ("method", "product", "setup", "bytes moved", "bytes stored", "declined because")
        rows = [
            (
                c.method,
                "" if c.declined else c._time,
                "" if c.declined else c._setup,
                "" if c.declined else _nonzero.text_of_bytes(c.bytes),
                "" if c.declined else _nonzero.text_of_bytes(c.matrix_bytes),
                c.declined,
            )
            for c in self.candidates
        ]
        return table_as_html(heads, rows, f"{self.why} ({self.machine})")


def table_as_html(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Give a table as HTML, for notebooks; numbers to the right."""
    head = "".join(f"<th>{html.escape(h)}</th>" for h in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{"left" if k in (0, len(r) - 1) else "right"}">'
            f"{html.escape(c)}</td>"
            for k, c in enumerate(r)
        )
        + "</tr>"
        for r in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )

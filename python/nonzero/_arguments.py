"""Arguments checked before they reach the library: the errors name them, and what was expected."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any


def whole(value: Any, name: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """Give a whole number from `least` to `most`."""
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r}, expected a whole number") from None
    if not least <= found <= most:
        raise ValueError(f"{name}: {found}, expected {least} to {most}")
    return found


def real(value: Any, name: str, least: float = -math.inf) -> float:
    """Give a finite number that is not below `least`."""
    if not isinstance(value, Real):
        raise TypeError(f"{name}: {value!r}, expected a real number")
    found = float(value)
    if not (math.isfinite(found) and found >= least):
        limit = "a finite number" if least == -math.inf else f"a finite number from {least:g} on"
        raise ValueError(f"{name}: {found}, expected {limit}")
    return found


def function(value: Any, name: str) -> Any:
    """Give None or what can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name}: {value!r}, expected a function or None")
    return value


def names(value: str | Sequence[str], name: str) -> list[str]:
    """Give a list of names; one name is a list of one."""
    found = [value] if isinstance(value, str) else list(value)
    for one in found:
        if not isinstance(one, str):
            raise TypeError(f"{name}: {one!r} among them, expected names")
    return found


def pair(value: Any, name: str) -> tuple[int, int]:
    """Give rows and columns."""
    try:
        rows, cols = value
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r}, expected (rows, columns)") from None
    return whole(rows, name), whole(cols, name)

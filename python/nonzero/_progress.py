"""Bars that show how a solver stands, by tqdm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def residual_bar(
    shown: bool, target: float, callback: Callable[[float], object] | None
) -> Iterator[Callable[[float], object] | None]:
    """Give the callback that moves a bar from a residual of 1 to the target, in decades."""
    if not shown:
        yield callback
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as e:
        raise ImportError("progress=True: needs tqdm (pip install tqdm)") from e
    decades = max(-math.log10(target), 1.0) if 0 < target < 1 else 1.0
    bar: Any = tqdm(total=round(decades, 1), desc="residual", unit="decade")

    def moved(residual: float) -> None:
        done = min(max(-math.log10(residual), 0.0), decades) if residual > 0 else decades
        bar.n = round(done, 1)
        bar.set_postfix_str(f"{residual:.1e}", refresh=False)
        bar.update(0)
        if callback is not None:
            callback(residual)

    try:
        yield moved
    finally:
        bar.close()

"""The Python blocks of docs/guides/ and of docs/networkx.md run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCKS = [
    pytest.param(code, id=f"{guide.stem}-{number}")
    for guide in [*sorted((DOCS / "guides").glob("*.md")), DOCS / "networkx.md"]
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.M | re.S)
    )
]


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("code", BLOCKS)
def test_block(code: str) -> None:
    if "networkx" not in code:
        exec(compile(code, "guide", "exec"), {})
        return
    nx = pytest.importorskip("networkx", "3.4")
    if "nonzero" not in nx.utils.backends.backends:
        pytest.skip("nonzero runs without being installed")
    before = nx.config.backend_priority.algos
    try:
        exec(compile(code, "guide", "exec"), {})
    finally:
        nx.config.backend_priority.algos = before

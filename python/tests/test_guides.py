"""The Python blocks of docs/guides/ run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
BLOCKS = [
    pytest.param(code, id=f"{guide.stem}-{number}")
    for guide in sorted(GUIDES.glob("*.md"))
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```$", guide.read_text(), re.M | re.S)
    )
]


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("code", BLOCKS)
def test_block(code: str) -> None:
    exec(compile(code, "guide", "exec"), {})

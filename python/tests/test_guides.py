"""The Python blocks of README.md and docs/guides/ run as they stand.

What they print is held against the guides' outputs, figures aside (test/guides_test.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
from guides_test import Block, blocks_of, missing_lines  # noqa: E402

BLOCKS = [
    pytest.param(block, id=f"{guide.stem}-{number}")
    for guide in [ROOT / "README.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]
    for number, block in enumerate(blocks_of(guide.read_text()))
    if block.language == "python"
]


def test_there_are_blocks() -> None:
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_block(
    block: Block, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import nonzero

    monkeypatch.chdir(ROOT)
    if block.needs == "gpu":
        if nonzero.gpu_count() == 0:
            pytest.skip("there is no GPU here")
    elif block.needs:
        pytest.importorskip(block.needs)
    if "networkx" in block.code:
        nx = pytest.importorskip("networkx", "3.4")
        if "nonzero" not in nx.utils.backends.backends:
            pytest.skip("nonzero runs without being installed")
        before = nx.config.backend_priority.algos
    try:
        exec(compile(block.code, "guide", "exec"), {})
    finally:
        if "networkx" in block.code:
            nx.config.backend_priority.algos = before
    if block.kind == "text":
        assert missing_lines(block.output, capsys.readouterr().out) == []

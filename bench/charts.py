"""The charts of README.md and docs/performance.md as SVG, drawn from the committed measurements.

``bench/figures.py --write`` and ``--check`` call :data:`CHARTS` as they call the generators of
tables. A chart is one file without script; it follows the reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

WIDTH, LEFT, RIGHT, ROW = 760, 258, 72, 21
STYLE = """
svg { background: #fff; font: 13px system-ui, sans-serif }
text { fill: #222 } .pale { fill: #666 } .head { font-weight: 600 }
.one { stroke: #888; stroke-dasharray: 3 3 }
.a { fill: #1b6ca8 } .b { fill: #a9cce3 }
@media (prefers-color-scheme: dark) {
svg { background: #131416 } text { fill: #ddd } .pale { fill: #aaa }
.one { stroke: #999 }
.a { fill: #5dade2 } .b { fill: #2c5270 }
}
"""


@dataclass
class Bars:
    """A line of a chart: its label, and from the back to the front each bar's class and length.

    A line without bars is a heading.
    """

    label: str
    bars: list[tuple[str, float]]


def bar_chart(title: str, legend: list[tuple[str, str]], lines: Iterable[Bars], unit: str,
              rule: float = 1) -> str:
    """Return horizontal bars, one line each, that share one axis from 0.

    Parameters
    ----------
    title
        What the chart says, for those who do not see it; it is drawn above.
    legend
        Class and meaning of each kind of bar.
    lines
        From top to bottom.
    unit
        Stands behind every number.
    rule
        Where a dashed line is drawn.
    """
    lines = list(lines)
    most = max(length for line in lines for _, length in line.bars)
    scale = (WIDTH - LEFT - RIGHT) / most
    top = 58
    height = top + ROW * len(lines) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
           f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
           f'<text class="head" x="10" y="20">{escape(title)}</text>']
    x = 10.0
    for kind, meaning in legend:
        out.append(f'<rect class="{kind}" x="{x:g}" y="31" width="12" height="12"/>')
        out.append(f'<text class="pale" x="{x + 17:g}" y="42">{escape(meaning)}</text>')
        x += 34 + 6.6 * len(meaning)
    at = LEFT + rule * scale
    for k, line in enumerate(lines):
        y = top + ROW * k
        if not line.bars:
            out.append(f'<text class="head" x="10" y="{y + 14}">{escape(line.label)}</text>')
            continue
        out.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">'
                   f"{escape(line.label)}</text>")
        for kind, length in line.bars:
            out.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{length * scale:.1f}" '
                       f'height="{ROW - 6}"/>')
        out.append(f'<line class="one" x1="{at:.1f}" x2="{at:.1f}" y1="{y}" y2="{y + ROW}"/>')
        longest = max(length for _, length in line.bars)
        numbers = " / ".join(f"{length:.1f}" for _, length in reversed(line.bars))
        out.append(f'<text class="pale" x="{LEFT + longest * scale + 5:.1f}" y="{y + 14}">'
                   f"{numbers}{unit}</text>")
    return "\n".join([*out, "</svg>"]) + "\n"

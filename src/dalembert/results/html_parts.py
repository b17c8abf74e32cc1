"""Pieces of HTML that results show themselves with: in a notebook badges, tables, small curves, whose names are escaped; in a
file the page around what is to be said."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOOD, BAD, CARE, PLAIN = "#1a7f37", "#b3261e", "#8a5a00", "#5f6368"
COLOURS = ("#2f6fb5", "#c2571a", "#3b8a3e", "#8d4bab", "#5f6368")
TABLE = '<table style="color:inherit;border:0;text-align:left">'
_CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
_MOST_ROWS, _POINTS = 24, 240
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 84rem; margin: 1.5rem auto; }
body { padding: 0 1.2rem; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin-bottom: 0.4rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 0.4rem; }
svg { width: 100%; height: auto; margin-top: 0.8rem; }
ol, ul { padding-left: 1.3rem; margin: 0.3rem 0; }
.scroll { overflow-x: auto; margin-top: 0.8rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.88rem; }
th, td { padding: 0.2rem 0.9rem 0.2rem 0; border-bottom: 1px solid #e3e6ea; white-space: nowrap; text-align: left; }
th.right, td.right { text-align: right; }
tbody tr:hover { background: #f3f6fa; }
"""


def page(title: str, body: str, name: str, data: object, style: str = "") -> str:
    """A page that needs no other file and no network; data : at its end for programs, under a name."""
    text = json.dumps(data, allow_nan=False).replace("</", "<\\/")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}{style}</style>
</head>
<body>
{body}
<script type="application/json" id="{name}">{text}</script>
</body>
</html>
"""


def page_table(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """columns : heading, "left" or "right";  rows : class, cells"""
    head = "".join(f'<th class="{side}">{escape(name)}</th>' for name, side in columns)
    body = ""
    for kind, cells in rows:
        told = (f'<td class="{side}">{escape(cell)}</td>' for (_, side), cell in zip(columns, cells, strict=True))
        body += f'<tr class="{kind}">{"".join(told)}</tr>\n'
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def as_svg(figure: Figure) -> str:
    """The figure for a page of its own text: letters stay letters."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    picture = text.getvalue()
    return picture[picture.index("<svg") :]


def badge(text: str, colour: str = PLAIN) -> str:
    """White on a colour that is dark enough for it, in light and dark notebooks alike."""
    style = f"display:inline-block;background:{colour};color:#fff;padding:2px 8px;margin:2px 0;border-radius:9px"
    return f'<b style="{style}">{escape(text)}</b>'


def row(*cells: str, tag: str = "td", whole: Sequence[int] = ()) -> str:
    """A row of a table; cells are HTML already; whole : those that are not broken."""
    styles = [_CELL + (";white-space:nowrap" if k in whole else "") for k in range(len(cells))]
    return "<tr>" + "".join(f'<{tag} style="{s}">{c}</{tag}>' for s, c in zip(styles, cells, strict=True)) + "</tr>"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], most: int = _MOST_ROWS) -> str:
    """A table of plain text; of a long one the first rows, and how many more there are."""
    head = row(*map(escape, headings), tag="th") if headings else ""
    body = "".join(row(*(escape(str(cell)) for cell in cells)) for cells in rows[:most])
    more = f"<div>... and {len(rows) - most} more</div>" if len(rows) > most else ""
    return f"{TABLE}{head}{body}</table>{more}"


def folded(heading: str, body: str, *, shown: bool = False) -> str:
    """What is there for who asks."""
    return f"<details{' open' if shown else ''}><summary><b>{escape(heading)}</b></summary>{body}</details>"


def beside(*parts: str) -> str:
    """Next to each other, where there is room."""
    inner = "".join(f"<div>{part}</div>" for part in parts if part)
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{inner}</div>'


def runs_html(what: str, status: Sequence[str], message: Mapping[int, str]) -> str:
    """Many runs: how many ended how, and what stopped the others."""
    counts = ", ".join(f"{list(status).count(word)} {word}" for word in dict.fromkeys(status))
    failed = table(("run", "what stopped it"), sorted(message.items())) if message else ""
    return f"<div>{badge(counts, GOOD if set(status) <= {'complete'} else BAD)} {escape(what)}{failed}</div>"


def small_curves(
    title: str,
    t: npt.NDArray[np.float64],
    curves: Mapping[str, npt.NDArray[np.float64]],
    unit: str = "",
    along: tuple[str, str] = ("t", "s"),
) -> str:
    """Curves over t as an SVG of a few kB: extremes and the ends of time as numbers, names in the colours of the lines.

    along : name and unit of t
    """
    width, height, left, top = 300, 110, 8, 20
    kept = np.unique(np.linspace(0, len(t) - 1, min(len(t), _POINTS)).round().astype(int)) if len(t) else np.zeros(0, int)
    finite = {name: y[kept] for name, y in curves.items() if len(kept) and np.all(np.isfinite(y[kept]))}
    if not finite:
        return ""
    low, high = min(float(y.min()) for y in finite.values()), max(float(y.max()) for y in finite.values())
    across = (t[kept] - t[0]) / ((t[-1] - t[0]) or 1.0)
    lines, names = [], []
    for (name, y), colour in zip(finite.items(), COLOURS, strict=False):
        up = (y - low) / ((high - low) or 1.0)
        points = " ".join(
            f"{left + (width - 2 * left) * a:.1f},{top + height * (1 - b):.1f}" for a, b in zip(across, up, strict=True)
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        names.append(f'<tspan fill="{colour}">{escape(name)}</tspan>')
    text = 'font-family="sans-serif" font-size="11" fill="currentColor"'
    frame = 'fill="none" stroke="currentColor" opacity=".25"'
    end = f"{along[0]} = {t[-1]:.4g} {along[1]}"
    return (
        f'<svg width="{width}" height="{top + height + 34}" role="img" aria-label="{escape(title)}">'
        f'<text x="{left}" y="12" {text}><tspan font-weight="bold">{escape(title)}</tspan>'
        f" {low:.3g} to {high:.3g} {escape(unit)}</text>"
        f'<rect x="{left}" y="{top}" width="{width - 2 * left}" height="{height}" {frame}/>'
        f'{"".join(lines)}<text x="{left}" y="{top + height + 14}" {text}>{t[0]:.4g}</text>'
        f'<text x="{width - left}" y="{top + height + 14}" text-anchor="end" {text}>{escape(end)}</text>'
        f'<text x="{left}" y="{top + height + 29}" {text}>{"  ".join(names)}</text></svg>'
    )

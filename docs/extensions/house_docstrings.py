"""Docstrings of this project (plain text, formulas indented, `name : meaning` lines) as reStructuredText for autodoc."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# `name : meaning`, also several on one line: `t : (nt,) [s];  x : (nt, nx) states`
_TERM = re.compile(r"^[A-Za-z_][\w *./'(),\[\]]*? : ")
_NEXT = re.compile(r";  (?=[A-Za-z_][\w *./',\[\]]* ?: )")


def to_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring in reStructuredText."""
    out: list[str] = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = paragraph.split("\n")
        if rows[0].startswith("    "):
            out += ["::", "", *("    " + row for row in rows), ""]
        else:
            out += _prose(rows)
    return out


def _prose(rows: list[str]) -> list[str]:
    """A paragraph; what it defines becomes a list of terms."""
    out: list[str] = []
    text: list[str] = []
    terms: list[str] = []
    for row in rows:
        if _TERM.match(row):
            terms += _NEXT.split(row)
        elif terms and (row.startswith((" ", "`")) or row[:1].islower()):
            terms[-1:] = _NEXT.split(f"{terms[-1]} {row.strip()}")
        elif terms:  # prose behind a list of terms
            return [*_paragraph(text), *_definitions(terms), *_prose(rows[rows.index(row) :])]
        else:
            text.append(row)
    out += _paragraph(text)
    return out + _definitions(terms)


def _paragraph(rows: list[str]) -> list[str]:
    """Running text, or a formula where the lines are indented below a sentence."""
    plain = [row for row in rows if not row.startswith("    ")]
    formulas = [row for row in rows if row.startswith("    ")]
    out = [escaped(" ".join(row.strip() for row in plain)), ""] if plain else []
    return out + (["::", "", *("    " + row for row in formulas), ""] if formulas else [])


def _definitions(terms: list[str]) -> list[str]:
    out = []
    for term in terms:
        name, _, meaning = term.partition(" : ")
        out += [f"``{name.strip()}``", f"    {escaped(meaning.strip())}", ""]
    return out


def escaped(text: str) -> str:
    """No character of the text means anything to reStructuredText, but for `code`."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"``{part}``" if k % 2 else re.sub(r"([\\*|_])", r"\\\1", part) for k, part in enumerate(parts))


def _process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    lines[:] = to_rst(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

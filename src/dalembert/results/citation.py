"""References: what docstrings cite, and what a run should cite.

print(da.cite("JetMultibody"))
print(da.cite(solution))
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Protocol

from dalembert.errors import DalembertError

__all__ = ["cite", "load_references"]

_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^\s,{}]+)\s*,")
_FIELD = re.compile(r"\s*(\w+)\s*=\s*\{")


class Cited(Protocol):
    """Anything that says which sources it rests on: a solution, a formulation, an integrator."""

    @property
    def citations(self) -> Iterable[str]: ...


@cache
def load_references() -> dict[str, dict[str, str]]:
    """All references by key: BibTeX fields in lower case, and the kind of entry under "entry"."""
    return parse_bibtex(files("dalembert.results").joinpath("references.bib").read_text(encoding="utf-8"))


def cite(source: str | Iterable[str] | Cited) -> str:
    """The references of a key, of several keys, or of an object with `citations`, as text; one per line, each once."""
    if isinstance(source, str):
        keys: Iterable[str] = [source]
    elif isinstance(source, Iterable):
        keys = source
    else:
        keys = source.citations
    return "\n".join(f"[{key}] {_format(_find(key))}" for key in dict.fromkeys(keys))


def parse_bibtex(text: str) -> dict[str, dict[str, str]]:
    """Read `@kind{Key, field = {value}, ...}` entries; braces inside a value must balance and are dropped."""
    entries: dict[str, dict[str, str]] = {}
    for match in _ENTRY.finditer(re.sub(r"^\s*%.*$", "", text, flags=re.MULTILINE)):
        kind, key = match.groups()
        if key in entries:
            raise DalembertError(f"references: key '{key}' appears twice; rename one")
        fields = {"entry": kind.lower()}
        position = match.end()
        while field := _FIELD.match(match.string, position):
            value, position = _braced(match.string, field.end(), key)
            fields[field[1].lower()] = value
        entries[key] = fields
    return entries


def _braced(text: str, start: int, key: str) -> tuple[str, int]:
    """The value from just behind its opening brace, and the position behind its closing brace and comma."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            value = " ".join(re.sub(r"[{}]", "", text[start:position]).split())
            comma = re.match(r"\s*,", text[position + 1 :])
            return value, position + 1 + (comma.end() if comma else 0)
    raise DalembertError(f"references: entry '{key}' has a brace that is never closed; close it")


def _find(key: str) -> dict[str, str]:
    references = load_references()
    if key not in references:
        near = difflib.get_close_matches(key, references, n=1, cutoff=0.4)
        hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(references)}"
        raise DalembertError(f"no reference has the key '{key}'; {hint}")
    return references[key]


def _format(fields: dict[str, str]) -> str:
    """Authors. Title. Where, year. Note. Link."""
    authors = fields.get("author", "").split(" and ")
    names = " and ".join(filter(None, (", ".join(authors[:-1]), authors[-1])))
    number = " ".join(filter(None, (fields.get("type"), fields.get("number"))))
    if volume := fields.get("volume"):
        number = f"{volume}({fields['number']})" if "number" in fields else volume
    where = fields.get("journal") or fields.get("institution") or fields.get("publisher")
    edition = f"{fields['edition']} edition" if "edition" in fields else None
    place = ", ".join(filter(None, (where, number, edition, fields.get("pages"), fields.get("year"))))
    link = f"doi:{fields['doi']}" if "doi" in fields else fields.get("url")
    parts = (names, fields.get("title"), place, fields.get("note"), link)
    return ". ".join(part.rstrip(".") for part in parts if part)

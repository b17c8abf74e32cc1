"""The code of a mechanism of the gallery: its function with all of its file that it needs, so that it runs as it stands."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from dalembert.gallery import Entry

ROOT = Path(__file__).resolve().parents[2]


def file_of(entry: Entry) -> str:
    """Where the function is, from the root of the project."""
    return Path(inspect.getsourcefile(entry.function) or "").resolve().relative_to(ROOT).as_posix()


def call_of(entry: Entry) -> str:
    """What makes the model."""
    return f"{entry.function.__name__}({', '.join(f'{name}={value!r}' for name, value in entry.options.items())})"


def code_of(entry: Entry) -> str:
    """Imports, constants and helpers that the function needs, the function, and its call as `model`."""
    text = (ROOT / file_of(entry)).read_text(encoding="utf-8")
    lines, statements = text.splitlines(), ast.parse(text).body
    made = [_makes(statement) for statement in statements]
    needed = {entry.function.__name__}
    while more := set().union(*(_names(s) for s, names in zip(statements, made, strict=True) if names & needed)) - needed:
        needed |= more
    shown, end = [], 0
    for statement, names in zip(statements, made, strict=True):
        start = min([statement.lineno, *(mark.lineno for mark in getattr(statement, "decorator_list", ()))]) - 1
        while start > end and lines[start - 1].startswith("#"):
            start -= 1
        if names & needed:
            blank = next((k for k in range(start) if lines[start - 1 - k].strip()), start)
            shown += [""] * blank + _lines(statement, needed, lines[start : statement.end_lineno])
        end = statement.end_lineno or 0
    return "\n".join([*shown, "", "", f"model = {call_of(entry)}"]).strip() + "\n"


def _makes(statement: ast.stmt) -> set[str]:
    """Names that a statement of a module gives a meaning."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _names(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _lines(statement: ast.stmt, needed: set[str], lines: list[str]) -> list[str]:
    """A statement as it is written; of an import what is needed."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return lines
    kept = [alias for alias in statement.names if (alias.asname or alias.name.partition(".")[0]) in needed]
    if len(kept) == len(statement.names):
        return lines
    statement.names = kept
    return [ast.unparse(statement)]

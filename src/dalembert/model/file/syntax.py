"""YAML text as plain data that knows where each of its parts stands.

YAML 1.2 core: `1e-3` is a number, `no` and `1:30` are text. Tags, several documents and merge keys are refused; size, depth
and aliases are limited, so that no file can exhaust memory or stack. Nothing in a file is ever executed.

Deviation from yaml.compose: nodes are made from parser events, because the C composer recurses without a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

from dalembert.errors import ModelError
from dalembert.files import read_regular
from dalembert.model.file.problems import MAX_PROBLEMS, ModelFileError, Problem
from dalembert.model.validation import shown

MAX_BYTES = 16_000_000
MAX_DEPTH = 20
MAX_NODES = 1_000_000  # aliases count as often as they are used

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_NO_SPACE = re.compile(r"\s*(\w+:)[^\s:/]")  # a key that runs into its value
_CLOSING = re.compile(r"',' or '([\]}])'")
_KEY = re.compile(r"\s*[\w \"']+:\s")
_BARE = re.compile(r"\s*\w[^:#\[\]{}]*(#.*)?")  # neither key nor list
_INT = re.compile(r"[-+]?[0-9]+")
_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

Path_ = tuple[str | int, ...]
Place = tuple[int, int]


@dataclass
class Document:
    """data : dicts, lists, strings, numbers, booleans, None;  values, keys : path -> (line, column) of a value or its key
    commas : lists in which a comma runs into the next number, and whether others have a space behind them, as in [0,28, 0]
    """

    name: str
    data: Any = None
    values: dict[Path_, Place] = field(default_factory=dict)
    keys: dict[Path_, Place] = field(default_factory=dict)
    commas: dict[Path_, bool] = field(default_factory=dict)

    def place(self, path: Path_, *, key: bool = False) -> Place:
        """Where a path is written: its key if asked for, else its value; the nearest part above it if it is not there."""
        table = self.keys if key else self.values
        while path and path not in table:
            path, table = path[:-1], self.values
        return table.get(path, (1, 1))

    def at(self, path: Path_) -> Any:
        """The data at a path."""
        return reduce(getitem, path, self.data)

    def problem(self, path: Path_, text: str, *, key: bool = False) -> Problem:
        """A problem at a path."""
        return Problem(*self.place(path, key=key), text)


def read_text(path: Path) -> str:
    """The text of a model file, if it is one and not too large."""
    try:
        if path.is_dir():
            raise ModelError(f"{path}: is a folder; give a model file (.yaml)")
        raw = read_regular(path, MAX_BYTES)
    except OSError as problem:
        raise ModelError(f"{path}: cannot read: {problem.strerror or problem}") from None
    except ValueError as problem:
        raise ModelFileError(str(path), [Problem(1, 1, f"the file {problem}; write a smaller one")]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = raw[: problem.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        text = f"byte 0x{raw[problem.start]:02x} is not UTF-8 text; save the file as UTF-8"
        raise ModelFileError(str(path), [Problem(line, column, text)]) from None


def parse(text: str, name: str) -> Document:
    """Data and places of a YAML text; what is wrong raises `ModelFileError`."""
    if len(text) > MAX_BYTES:
        raise ModelFileError(
            name, [Problem(1, 1, f"the file has {len(text) / 1e6:.0f} MB, more than {MAX_BYTES / 1e6:.0f} MB")]
        )
    document = Document(name)
    composer = _Composer(document)
    try:
        document.data = composer.document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as problem:
        raise ModelFileError(name, [_syntax_problem(problem, text)]) from None
    except yaml.reader.ReaderError as problem:
        before = text[: problem.position]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        what = f"character {shown(chr(problem.character) if isinstance(problem.character, int) else problem.character)}"
        raise ModelFileError(name, [Problem(line, column, f"{what} is not allowed in YAML; remove it")]) from None
    if composer.problems:
        raise ModelFileError(name, composer.problems)
    return document


def _syntax_problem(problem: yaml.MarkedYAMLError, source: str) -> Problem:
    mark = problem.problem_mark or problem.context_mark
    if "end of stream" in str(problem.problem) and problem.context_mark:
        mark = problem.context_mark  # where it began says more than where the file ends
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    text = " ".join(filter(None, [problem.context, problem.problem]))
    hint = "check indentation, colons and brackets here and on the line above"
    lines = source.splitlines()
    if line <= len(lines) and "\t" in lines[line - 1][:column]:
        hint = "indent with spaces, not with tabs"
    elif crowded := next(filter(None, map(_NO_SPACE.match, reversed(lines[max(line - 2, 0) : line]))), None):
        hint = f"a space is missing after the colon of {crowded[1]!r}"
    elif (closing := _CLOSING.search(text)) and problem.context_mark:
        row, place = problem.context_mark.line + 1, problem.context_mark.column + 1
        hint = f"before here a comma is missing, or the {closing[1]} of what begins in line {row}, column {place}"
    elif bare := next((k for k in (line - 1, line) if _BARE.fullmatch(lines[k - 1] if 0 < k <= len(lines) else "")), None):
        hint = f"line {bare} has no colon; write 'name: value'"
    elif "'-'" in text:
        hint = "elements of a section are 'name: ...' lines, without -"
    elif 1 < line <= len(lines) and all(map(_KEY.match, lines[line - 2 : line])):
        here, above = (len(row) - len(row.lstrip()) for row in (lines[line - 1], lines[line - 2]))
        if here != above:
            hint = f"check indentation: line {line} begins with {here} spaces, line {line - 1} with {above}"
    return Problem(line, column, f"not valid YAML: {text}; {hint}")


class _Stop(Exception):
    """The document goes beyond a limit: nothing after it is read."""


@dataclass
class _Composer:
    """Parser events -> data with places. Anchored parts are kept as events and replayed by their aliases."""

    target: Document
    problems: list[Problem] = field(default_factory=list)
    anchors: dict[str, list[Any]] = field(default_factory=dict)
    nodes: int = 0

    def document(self, events: Iterator[Any]) -> Any:
        """The data of the only document."""
        data = None
        seen = 0
        try:
            for event in events:
                if isinstance(event, yaml.DocumentStartEvent):
                    seen += 1
                    if seen > 1:
                        self._complain(event, "a second document begins; a model file holds one, without '---' between")
                        break
                elif isinstance(event, yaml.NodeEvent):
                    data = self._node(event, events, ())
        except _Stop:
            return None
        return data

    def _complain(self, event: Any, text: str) -> None:
        self.problems.append(Problem(event.start_mark.line + 1, event.start_mark.column + 1, text))
        if len(self.problems) > MAX_PROBLEMS:
            raise _Stop

    def _stop(self, event: Any, text: str) -> _Stop:
        self._complain(event, text)
        return _Stop()

    def _node(self, event: Any, events: Iterator[Any], path: Path_) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self._stop(event, f"more than {MAX_NODES} values, aliases counted as often as used; write a smaller file")
        if len(path) > MAX_DEPTH:
            raise self._stop(event, f"nested more than {MAX_DEPTH} levels deep; no part of a model is")
        self.target.values.setdefault(path, (event.start_mark.line + 1, event.start_mark.column + 1))
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, path)
        if event.anchor is not None:
            recorded = [event, *_whole(event, events)]
            self.anchors[event.anchor] = recorded
            events = iter(recorded[1:])
        if event.tag is not None and event.tag != "!":
            self._complain(event, f"tag {event.tag!r} is not supported; write plain values")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._mapping(events, path)

    def _alias(self, event: Any, path: Path_) -> Any:
        recorded = self.anchors.get(event.anchor)
        if recorded is None:
            self._complain(event, f"alias *{event.anchor} has no anchor &{event.anchor} before it")
            return None
        first, *rest = recorded
        bare = type(first)(**{**_arguments(first), "anchor": None})
        data = self._node(bare, iter(rest), path)
        return data

    def _sequence(self, events: Iterator[Any], path: Path_) -> list[Any]:
        items: list[Any] = []
        before: Any = None
        tight = loose = False
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            if isinstance(before, yaml.ScalarEvent) and before.end_mark.line == event.start_mark.line:
                close = event.start_mark.column - before.end_mark.column == 1
                tight |= close and all(_FLOAT.fullmatch(getattr(one, "value", "")) is not None for one in (before, event))
                loose |= not close
            before = event
            items.append(self._node(event, events, (*path, len(items))))
        if tight:
            self.target.commas[path] = loose
        return items

    def _mapping(self, events: Iterator[Any], path: Path_) -> dict[str, Any]:
        items: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            place = (event.start_mark.line + 1, event.start_mark.column + 1)
            if not isinstance(event, yaml.ScalarEvent):
                raise self._stop(event, "a key is not plain text; write 'key: value', and put text with { or [ in quotes")
            key = event.value
            if key == "<<" and event.implicit[0]:
                self._complain(event, "merge keys (<<) are not part of YAML 1.2; write the keys out")
            if key in items:
                first = self.target.keys[(*path, key)]
                fix = "give one of them another name" if len(path) == 1 else "keep one of them"  # of elements, parameters
                self._complain(event, f"{key!r} is already given in line {first[0]}; {fix}")
                key = f"{key} (again, line {place[0]})"
            self.target.keys.setdefault((*path, key), place)
            items[key] = self._node(next(events), events, (*path, key))
        return items


def _arguments(event: Any) -> dict[str, Any]:
    return {k: v for k, v in vars(event).items() if not k.startswith("__")}


def _whole(event: Any, events: Iterator[Any]) -> list[Any]:
    """The rest of the events of a node that has begun."""
    taken: list[Any] = []
    depth = int(isinstance(event, yaml.CollectionStartEvent))
    while depth:
        item = next(events)
        taken.append(item)
        depth += isinstance(item, yaml.CollectionStartEvent) - isinstance(item, yaml.CollectionEndEvent)
    return taken


def _scalar(event: Any) -> Any:
    """YAML 1.2 core schema: quoted text is text, plain text is a number, true, false or null where it looks like one."""
    text = event.value
    if not event.implicit[0] or event.style in ("'", '"', "|", ">"):
        return text
    if _NULL.fullmatch(text):
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INT.fullmatch(text):
        return int(text) if len(text) <= 400 else float(text)
    if _BASE.fullmatch(text):
        return int(text, 0) if len(text) <= 400 else float("inf")
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text

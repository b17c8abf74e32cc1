"""Checksummed JSON records: how attributes and the commit counter lie in a result store.

Each record is the attributes of a zarr v3 group, `{"record": ..., "sha256": ...}`, so that any zarr reader shows it.
JSON has no infinity and no NaN; they are written as `{"__float__": "inf"}` and come back as floats.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from dalembert.files import read_regular, replace_file
from dalembert.results.plain import FLOAT

__all__ = ["read_record", "write_record"]

MAX_BYTES = 64_000_000
MAX_DEPTH = 64  # of dicts and lists inside each other
_METADATA = "zarr.json"


def write_record(group: Path, record: Any) -> None:
    """Write an encoded record as the attributes of the zarr group folder `group`, atomically."""
    attributes = {"record": record, "sha256": _digest(record)}
    metadata = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    replace_file(group / _METADATA, json.dumps(metadata, indent=1, allow_nan=False).encode())


def read_record(group: Path) -> dict[str, Any]:
    """Read and verify a record; `ValueError` says in a few words what is wrong with it."""
    try:
        text = read_regular(group / _METADATA, MAX_BYTES)
    except FileNotFoundError:
        raise ValueError(f"'{_METADATA}' is missing") from None
    except OSError:
        raise ValueError(f"'{_METADATA}' cannot be read") from None
    except ValueError as problem:
        raise ValueError(f"'{_METADATA}' {problem}") from None
    try:
        attributes = json.loads(text)["attributes"]
        record, expected = attributes["record"], attributes["sha256"]
        _check_depth(record)
        if _digest(record) != expected:
            raise ValueError(f"'{_METADATA}' does not match its checksum")
        decoded = _decode(record)
    except (KeyError, TypeError, RecursionError, UnicodeError, json.JSONDecodeError):
        raise ValueError(f"'{_METADATA}' is damaged or holds no record") from None
    if not isinstance(decoded, dict):
        raise ValueError(f"'{_METADATA}' holds no record")
    return decoded


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"'{_METADATA}' is nested more than {MAX_DEPTH} levels deep")
        inside = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        level = [part for items in inside for part in items]


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {FLOAT}:
            return float(value[FLOAT])
        return {key: _decode(item) for key, item in value.items()}
    return [_decode(item) for item in value] if isinstance(value, list) else value


def _digest(record: Any) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()

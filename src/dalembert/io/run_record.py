"""The attributes of a stored run, checked as if a stranger wrote them, so that what uses them later need not."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.errors import DalembertError, StoreError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS
from dalembert.model.validation import shown
from dalembert.results.plain import DAMAGED, INCOMPLETE
from dalembert.run.settings import from_data
from dalembert.run.statistics import Statistics

STATUSES = ("complete", "event", "interrupted", "failed", INCOMPLETE, DAMAGED)
_KINDS: dict[str, type] = {
    "versions": dict, "model": dict, "model_hash": str, "coordinates": str, "x_0": list, "settings": dict, "rows": list,
    "monitored_rows": list, "status": str, "statistics": dict, "message": str, "events": list, "warnings": list,
}  # fmt: skip
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_AT_THE_END = ("statistics", "message", "events", "warnings")


def check_attributes(folder: Path, attributes: Mapping[str, Any]) -> None:
    """Raise a `StoreError` for what no run writes."""
    for key, kind in _KINDS.items():
        if key not in attributes and key not in _AT_THE_END:
            raise StoreError(
                f"{folder}: a result store without a dalembert run: it has no {key};"
                " give a path written by Solution.save or simulate(..., out=...)"
            )
        if not isinstance(attributes.get(key, kind()), kind):
            raise _bad(folder, key, attributes[key])
    if attributes["status"] not in STATUSES:
        raise _bad(folder, "status", attributes["status"])
    versions, settings = attributes["versions"], attributes["settings"]
    if not all(isinstance(text, str) for text in versions.values()) or "dalembert" not in versions:
        raise _bad(folder, "versions", versions)
    for name, value in attributes.get("statistics", {}).items():
        _check_statistic(folder, name, value)
    for event in attributes.get("events", ()):
        if not (isinstance(event, list) and len(event) == 2 and isinstance(event[0], str) and _is_number(event[1])):
            raise _bad(folder, "events", event)
    for key in ("rows", "monitored_rows", "warnings"):
        if not all(isinstance(text, str) for text in attributes.get(key, ())):
            raise _bad(folder, key, attributes[key])
    for value in (attributes.get("given_at", 0.0), settings.get("t_start", 0.0)):
        if not _is_number(value) or not np.isfinite(value):
            raise _bad(folder, "start", value)
    if not all(_is_number(value) for value in attributes["x_0"]):
        raise _bad(folder, "x_0", attributes["x_0"])
    _check_settings(folder, settings)
    for key in ("status", "versions", "settings", "message", "events", "warnings"):
        _check_text(folder, key, attributes.get(key))


def _check_text(folder: Path, key: str, value: Any) -> None:
    """What is printed later must not speak to the terminal."""
    if isinstance(value, str) and _CONTROL.search(value):
        raise _bad(folder, key, value)
    for item in value.items() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        _check_text(folder, key, item)


def check_times(folder: Path, t: npt.NDArray[np.float64]) -> None:
    if t.dtype != np.float64 or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise StoreError(f"{folder}: its times are not finite and increasing; it was changed after it was written")


def _tells_error(found: Any) -> bool:
    """Whether it is an estimated error as a second run gives it, or why there is none."""
    kinds = {"error": float, "share": float, "time": float, "unit": str, "where": str}
    if not isinstance(found, dict) or isinstance(found.get("problem"), str):
        return isinstance(found, dict)
    largest = found.get("largest", [])  # which runs before 0.2 do not tell
    items = [found, *largest] if isinstance(largest, list) and isinstance(found.get("against"), str) else [None]
    return all(isinstance(item, dict) and all(isinstance(item.get(key), kind) for key, kind in kinds.items()) for item in items)


def _check_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    if not _is_number(settings.get("t_end")) or not isinstance(settings.get("coordinates"), str):
        raise _bad(folder, "settings", settings)
    for key in ("citations", "plain_python"):
        listed = settings.get(key, [])
        if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
            raise _bad(folder, f"settings.{key}", listed)
    found = settings.get("trajectory_error", {"problem": ""})
    if not _tells_error(found):
        raise _bad(folder, "settings.trajectory_error", found)
    for part, known in (("formulation", FORMULATIONS), ("integrator", INTEGRATORS)):
        data = settings.get(part)
        if not isinstance(data, dict) or not isinstance(data.get("type"), str) or not isinstance(data.get("options"), dict):
            raise _bad(folder, f"settings.{part}", data)
        if data["type"] not in {cls.__name__ for cls in known.values()} or isinstance(data["options"].get("invariants"), list):
            continue  # a user's own, which dense output refuses
        try:
            from_data(data, known)
        except (DalembertError, TypeError, ValueError, KeyError):
            raise _bad(folder, f"settings.{part}", data) from None


def _check_statistic(folder: Path, name: str, value: Any) -> None:
    defaults = {f.name: getattr(Statistics(), f.name) for f in dataclasses.fields(Statistics)}
    default = defaults.get(name)
    good = default is not None and (_is_number(value) if isinstance(default, int | float) else isinstance(value, type(default)))
    if good and isinstance(value, dict):
        good = all(_is_number(seconds) for seconds in value.values())
    if not good and not (isinstance(default, tuple) and isinstance(value, list)):
        raise _bad(folder, f"statistics.{name}", value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bad(folder: Path, key: str, value: Any) -> StoreError:
    return StoreError(f"{folder}: the stored {key} is {shown(value)}, which no run writes; it was changed after it was written")

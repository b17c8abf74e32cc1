"""What bodies of the gallery are made of, for the eye; mechanics does not know of it."""

from __future__ import annotations

from collections.abc import Mapping


def made_of(*parts: Mapping[str, object]) -> dict[str, object]:
    """The shape of all these parts, in body axes."""
    return {"type": "compound", "parts": list(parts)}

"""What later stages carry out for models and results. It is entered here by name, so that these know none of them."""

from __future__ import annotations

import importlib
from typing import Any

LATER: dict[str, str] = {}  # verb -> module; filled by the package itself, which knows all stages


def carried_out(verb: str, *arguments: Any) -> Any:
    """What the stage that was entered for a verb makes of its arguments."""
    return getattr(importlib.import_module(LATER[verb]), verb)(*arguments)

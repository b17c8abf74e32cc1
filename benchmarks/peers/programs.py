"""Which programs are here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

FILES = ("ours", "by_hand", "pinocchio", "sundae", "mujoco", "drake", "exudyn")
PACKAGES = {"pinocchio": "pin", "sundae": "scikit-sundae", "mujoco": "mujoco", "drake": "drake", "exudyn": "exudyn"}


@dataclass
class Programs:
    """found : modules of this folder whose program is installed;  missing : the others, and why"""

    found: list[ModuleType]
    missing: dict[str, str]


def programs(only: set[str] | None = None) -> Programs:
    """All programs, or ours and those named."""
    found, missing = [], {}
    for name in FILES:
        if only is not None and name != "ours" and name not in only:
            missing[name] = "left out on request"
            continue
        try:
            found.append(importlib.import_module(f"benchmarks.peers.{name}"))
        except ImportError as problem:
            missing[name] = f"{problem}; pip install {PACKAGES[name]}"
    return Programs(found, missing)

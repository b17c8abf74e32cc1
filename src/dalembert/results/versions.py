"""Versions that a result depends on, kept with it."""

from __future__ import annotations

from functools import cache


def current_versions() -> dict[str, str]:
    """Versions that a result depends on."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    import platform
    from importlib.metadata import version

    from dalembert import __version__

    packages = [(name, version(name)) for name in ("numpy", "scipy", "numba")]
    return ("dalembert", __version__), ("python", platform.python_version()), *packages

"""Mutants that change nothing a test could see: (file, old line, new line), both without indentation, and why."""

EQUIVALENT: dict[tuple[str, str, str], str] = {}

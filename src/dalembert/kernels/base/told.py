"""Who is told that machine code is not on disk, before it is compiled. Without Numba, so that commands start at once."""

import sys
from collections.abc import Callable

LISTENERS: list[Callable[[str], None]] = []  # each is given the label of the code; where there is none, a person is told
GENERATED = "callback-"  # begins labels of code that is made of users' functions
SAID = "compiling kernels, once: 7 to 15 s in a first run, up to 20 s for features that are used later; kept on disk"
_said: list[str] = []


def tell(label: str) -> None:
    """Tell listeners; without any, a person at a terminal or notebook, once, but for users' functions, which are short."""
    for listen in LISTENERS:
        listen(label)
    if not LISTENERS and not _said and not label.startswith(GENERATED) and _is_person(sys.stderr):
        _said.append(SAID)
        print(SAID, file=sys.stderr, flush=True)


def _is_person(stream: object) -> bool:
    """Whether somebody reads along: a terminal, or what a notebook has in its place."""
    return type(stream).__module__.startswith("ipykernel") or bool(getattr(stream, "isatty", bool)())

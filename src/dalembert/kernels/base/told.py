"""Who is told that machine code is not on disk, before it is compiled. Without Numba, so that commands start at once."""

from collections.abc import Callable

LISTENERS: list[Callable[[str], None]] = []  # each is given the label of the code
GENERATED = "callback-"  # begins labels of code that is made of users' functions

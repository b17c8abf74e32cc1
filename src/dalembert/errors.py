"""What dalembert raises and warns of. Every message names the element, what was got, what was expected, and the fix."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence


class DalembertError(Exception):
    """Base class of all errors raised by dalembert."""


class ModelError(DalembertError):
    """The description of a mechanism makes no sense."""


class UnknownParameter(ModelError):
    """A value is given for a parameter that the model does not have.

    name : of it
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class AssemblyError(DalembertError):
    """The initial positions or velocities cannot be made consistent with the joints.

    joints : names of the joints that conflict
    """

    def __init__(self, message: str, joints: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.joints = tuple(joints)


class SimulationError(DalembertError):
    """A run broke down.

    solution : what was computed until then, or None;  time : when [s];  joint : name of the worst joint, if known
    """

    def __init__(
        self, message: str, *, solution: object | None = None, time: float | None = None, joint: str | None = None
    ) -> None:
        super().__init__(message)
        self.solution = solution
        self.time = time
        self.joint = joint


class StoreError(DalembertError):
    """A result file cannot be written, or what was read is not a whole result."""


class ViewerError(DalembertError):
    """A run cannot be shown: the viewer was not built, or what it needs is not installed."""


def warn(text: str) -> None:
    """A warning that names the line of the user's program, however deep the call goes."""
    level, frame = 2, sys._getframe(1)
    while frame.f_globals.get("__name__", "").partition(".")[0] == "dalembert" and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, RuntimeWarning, stacklevel=level)

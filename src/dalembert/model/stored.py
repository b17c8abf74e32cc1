"""What stored elements must be beyond their types, so that the tables of the kernels fit them: as the verbs would make them."""

from __future__ import annotations

import math

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.elements import Body, Driver, Force, Joint, Primitive
from dalembert.model.joints import CONTACTS, JOINTS, primitives
from dalembert.model.serialise import MissingFunction
from dalembert.model.store import Element, ElementStore
from dalembert.model.validation import inertia, nearest, number, shown

MAX_USER_ROWS = 3  # of one primitive


def check_element(owner: str, element: Element, store: ElementStore) -> None:
    """Raise a `ModelError` unless the element is one that the verbs could have added to what is there."""
    match element:
        case Body():
            _check_body(owner, element)
        case Joint():
            _check_joint(owner, element)
        case Driver():
            row = element.primitive
            if row.kind not in ("O", "A", "D") or len(row.labels) != 1 or row.law or row.function or row.motion is None:
                raise _bad(owner, f"drives {row.kind} {shown(row.labels)}", "one prescribed row")
        case Force():
            element.check(owner, {joint.name: joint for joint in store.joints})
    ends = [getattr(element, end, None) for end in ("first", "second")]
    if ends[0] is not None and ends[0] == ends[1]:
        raise _bad(owner, f"connects {shown(ends[0])} with itself", "two different bodies")


def _check_body(owner: str, body: Body) -> None:
    number(owner, "mass", body.mass, above=0.0)
    if body.kind == "ground":
        raise _bad(owner, "is the ground", "a body that moves")
    if body.kind == "rigid":
        inertia(owner, body.inertia)
    if not math.isclose(float(np.linalg.norm(body.rotation)), 1.0, abs_tol=1e-6):
        raise _bad(owner, f"has rotation {shown(body.rotation)}", "a unit quaternion")


def _check_joint(owner: str, joint: Joint) -> None:
    rows = tuple((row.kind, row.labels, row.law) for row in joint.primitives)
    if joint.type == "user":
        fits = all(_is_user_row(row) for row in joint.primitives) and bool(rows) and not joint.coordinates
    elif joint.type in JOINTS:
        frame = np.eye(3)
        made = primitives(joint.type, frame[0], frame[0], frame, frame)
        fits = rows == tuple((row.kind, row.labels, "") for row in made) and joint.coordinates == JOINTS[joint.type].coordinates
    elif joint.type in CONTACTS:
        fits = rows == tuple((kind, tuple(labels), law) for kind, law, *labels in CONTACTS[joint.type].rows)
        fits &= not joint.coordinates
    else:
        raise ModelError(f"{owner}: there is no joint type {shown(joint.type)}; {nearest(joint.type, (*JOINTS, *CONTACTS))}")
    fits &= joint.type == "user" or all(row.function is None for row in joint.primitives)
    if not fits:
        raise _bad(owner, f"has rows {shown(rows)}", f"those of a {joint.type} joint")
    if any(len(values) not in (0, len(joint.coordinates)) for values in (joint.coordinate, joint.rate)):
        raise _bad(owner, f"starts at {shown((joint.coordinate, joint.rate))}", "a value for each of its coordinates")


def _is_user_row(row: Primitive) -> bool:
    function = isinstance(row.function, MissingFunction)
    return function and row.kind in ("U", "V") and not row.law and 1 <= len(row.labels) <= MAX_USER_ROWS


def _bad(owner: str, got: str, wanted: str) -> ModelError:
    return ModelError(f"{owner}: {got}; expected {wanted}; give the data of Model.to_dict() unchanged")

"""What stored elements must be beyond their types, so that the tables of the kernels fit them: as the verbs would make them."""

from __future__ import annotations

import math

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.cams import FEWEST_VALUES
from dalembert.model.couplings import coupled_rows
from dalembert.model.elements import MOST_ROWS, Body, Driver, Force, Joint, Primitive
from dalembert.model.joints import CONTACTS, JOINTS, check_point_masses, coordinates_of, primitives
from dalembert.model.motions import as_path
from dalembert.model.serialise import MissingFunction
from dalembert.model.store import Element, ElementStore
from dalembert.model.validation import inertia, nearest, number, shown

WRITTEN = ("coupling", "cam_flat", "cam_roller")  # may hold a function of the user


def check_element(owner: str, element: Element, store: ElementStore) -> None:
    """Raise a `ModelError` unless the element is one that the verbs could have added to what is there."""
    match element:
        case Body():
            _check_body(owner, element)
        case Joint():
            _check_joint(owner, element, store)
            _check_parts(owner, element, store)
        case Driver():
            row = element.primitive
            if row.kind not in ("O", "A", "D") or len(row.labels) != 1 or row.law or row.function or row.motion is None:
                raise _bad(owner, f"drives {row.kind} {shown(row.labels)}", "one prescribed row")
        case Force():
            element.check(owner, {joint.name: joint for joint in store.joints})
    rows = element.primitives if isinstance(element, Joint) else (element.primitive,) if isinstance(element, Driver) else ()
    for motion in (row.motion for row in rows if row.motion is not None):
        as_path(owner, "motion", motion)
    ends = [getattr(element, end, None) for end in ("first", "second")]
    if ends[0] is not None and ends[0] == ends[1]:
        raise _bad(owner, f"connects {shown(ends[0])} with itself", "two different bodies")


def _check_body(owner: str, body: Body) -> None:
    if body.kind == "ground":
        raise _bad(owner, "is the ground", "a body that moves")
    if body.kind == "point" or body.mass or np.any(body.inertia):  # else a body without mass
        number(owner, "mass", body.mass, above=0.0)
        if body.kind == "rigid":
            inertia(owner, body.inertia)
    if not math.isclose(float(np.linalg.norm(body.rotation)), 1.0, abs_tol=1e-6):
        raise _bad(owner, f"has rotation {shown(body.rotation)}", "a unit quaternion")


def _check_joint(owner: str, joint: Joint, store: ElementStore) -> None:
    rows = tuple((row.kind, row.labels, row.law) for row in joint.primitives)
    written = joint.type == "user" or (joint.type in WRITTEN and any(row.function for row in joint.primitives))
    if written:
        law = "" if joint.type == "user" else CONTACTS[joint.type].rows[0][1]
        fits = all(_is_user_row(row, law) for row in joint.primitives) and bool(rows) and not joint.coordinates
    elif joint.type in JOINTS:
        frame = np.eye(3)
        made = primitives(joint.type, frame[0], frame[0], frame, frame)
        ends = store._body(owner, joint.first), store._body(owner, joint.second)
        check_point_masses(owner, joint.type, *ends)
        fits = rows == tuple((row.kind, row.labels, "") for row in made)
        fits &= joint.coordinates == coordinates_of(joint.type, *ends)
    elif joint.type in CONTACTS:
        fits = rows == tuple((kind, tuple(labels), law) for kind, law, *labels in CONTACTS[joint.type].rows)
        fits &= not joint.coordinates
    else:
        raise ModelError(f"{owner}: there is no joint type {shown(joint.type)}; {nearest(joint.type, (*JOINTS, *CONTACTS))}")
    fits &= written or all(row.function is None for row in joint.primitives)
    if not fits:
        raise _bad(owner, f"has rows {shown(rows)}, coordinates {shown(joint.coordinates)}", f"those of a {joint.type} joint")
    if any(len(values) not in (0, len(joint.coordinates)) for values in (joint.coordinate, joint.rate)):
        raise _bad(owner, f"starts at {shown((joint.coordinate, joint.rate))}", "a value for each of its coordinates")


def _is_user_row(row: Primitive, law: str) -> bool:
    function = isinstance(row.function, MissingFunction)
    return function and row.kind in (("U",) if law else ("U", "V")) and row.law == law and 1 <= len(row.labels) <= MOST_ROWS


def _check_parts(owner: str, joint: Joint, store: ElementStore) -> None:
    """Bodies, parts and numbers of a row of any number of bodies: what generated code reads."""
    members, bodies = joint.members, joint.bodies
    many = joint.type in ("user", "coupling", "cable")
    if members and (not many or len(members) < 3 or len(set(members)) < len(members)):
        raise _bad(owner, f"connects {shown(members)}", "three or more different bodies")
    if (joint.first, joint.second) != (bodies[0], bodies[-1]):
        raise _bad(owner, f"connects {shown(members)}", "bodies from the first to the second")
    for row in joint.primitives:
        fits, parts, count = not joint.coupled, row.parts, len(row.numbers)
        if joint.type == "coupling":
            for name, component in joint.coupled:
                found = store._joint(owner, name)
                if not 0 <= component < len(found.coordinates):
                    raise _bad(owner, f"couples component {component} of {name!r}", "one of its coordinates")
            factors = dict(zip(joint.coupled, row.numbers[::10], strict=False))
            fits = 0 < len(joint.coupled) == len(factors) and 10 * len(factors) == count
            fits = fits and (bodies, parts, row.numbers) == coupled_rows(store, factors)
        elif joint.type == "cable":
            known = {str(k) for k in range(len(bodies))}
            fits &= set(parts) == known and len(parts) >= 2 and count == 3 * len(parts)
        elif joint.type.startswith("cam"):
            fits &= not parts and (count == 0 if row.function else count >= FEWEST_VALUES and min(row.numbers) > 0.0)
        else:
            fits &= not parts and count == 0
        if not fits:
            raise _bad(owner, f"has parts {shown(parts)} and {count} numbers", f"those of a {joint.type}")


def _bad(owner: str, got: str, wanted: str) -> ModelError:
    return ModelError(f"{owner}: {got}; expected {wanted}; give the data of Model.to_dict() unchanged")

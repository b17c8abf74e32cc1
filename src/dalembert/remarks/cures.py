"""What to change in a model so that no row is redundant, and all reactions are unique: only what leaves it as free as it was.

A model that moves in a plane is solved there. Of others a joint is named that can be left out, or one that has all rows of the
old one but those that are redundant: what is left spans the same, so that nothing else can move [JetMultibody, Table 1].
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from dalembert.compilation.compile import compile
from dalembert.compilation.compiled import Compiled
from dalembert.compilation.mechanism import Mechanism
from dalembert.compilation.planarity import find_plane
from dalembert.compilation.wrong_axes import wrong_axes
from dalembert.errors import DalembertError
from dalembert.model.editing import refers
from dalembert.model.elements import GROUND, Joint
from dalembert.model.model import Model
from dalembert.model.plane import PLANES, InPlane
from dalembert.model.store import Element

# what has no rows of its kind that hold turnings
_TURNING = {
    "revolute": "a spherical joint",
    "universal": "a spherical joint",
    "prismatic": "a point on the same line",
    "cylindrical": "a point on the same line",
    "planar": "a point on the same plane",
}
_OPEN = "let {}, or others of the same loop, hold less"


def cure(mechanism: Compiled) -> str:
    """One sentence for a mechanism with redundant rows."""
    if isinstance(mechanism.model, Model) and (wrong := [*wrong_axes(mechanism.model)]):
        return f"see first whether this is meant: {'; '.join(wrong)}"
    in_plane, in_space = _in_plane(mechanism), _of_rows(mechanism)
    return in_space if "; there, " in in_plane and "hold less" not in in_space else in_plane or in_space


def _of_rows(mechanism: Compiled) -> str:
    """What to do about the elements whose rows are redundant."""
    labels: dict[str, list[str]] = {}
    for row in mechanism.redundant:
        labels.setdefault(row.element, []).append(row.label)
    found: dict[str, list[str]] = {}
    for name, own in labels.items():
        rows = [row.label for row in mechanism.rows if row.element == name]
        found.setdefault(_words(mechanism, name, own, rows, len(labels) == 1), []).append(name)
    return "; ".join(words.format(", ".join(names)) for words, names in found.items())


def _in_plane(mechanism: Compiled) -> str:
    """What to do about a model of which everything moves in one plane, "" for others."""
    if not isinstance(mechanism, Mechanism) or mechanism.coordinates == "planar":
        return ""
    try:
        plane = find_plane(mechanism.model, mechanism.assembly.bodies)
        planar = compile(mechanism.model, "planar", t_start=mechanism.t_0)
    except DalembertError:  # it leaves the plane, or may
        return ""
    text = 'take coordinates="planar" (--coordinates planar): all of the model moves in one plane'
    for name in PLANES:
        if np.linalg.norm(np.cross(InPlane(name).normal, plane.normal)) < 1e-9:
            text += f'; plane="{name}" of the model (in a file `plane: {name}`) says so for good'
    return f"{text}; there, {cure(planar)}" if planar.redundant else text


def _words(mechanism: Compiled, name: str, redundant: list[str], rows: list[str], alone: bool) -> str:
    """What to do about an element; alone : whether no other has redundant rows."""
    joint = next((joint for joint in getattr(mechanism.model, "joints", ()) if joint.name == name), None)
    turnings = [label for label in redundant if label.startswith("SO")]
    motions = [label for label in redundant if label in ("x", "y", "z") or label.startswith("O(")]
    loop = joint is not None and joint.type in ("revolute", "prismatic") and (len(motions), len(turnings)) == (1, 2)
    if loop and alone and _parallel_hinges(mechanism.model):
        return (
            "in the loop with {} whose hinges are parallel, replace one revolute joint by a spherical and another by a"
            " cylindrical one"
        )
    model = mechanism.model
    users: list[Element] = [*model.joints, *model.drivers, *model.forces] if isinstance(model, Model) else []
    if any(refers(other, name) for other in users):
        return _OPEN  # they need its coordinates
    if len(redundant) == len(rows):
        return "leave out {}, of which others hold all"
    if joint is None or mechanism.coordinates == "planar":
        return _OPEN
    if not motions and len(turnings) == sum(label.startswith("SO") for label in rows) and joint.type in _TURNING:
        return f"replace {{}} by {_TURNING[joint.type]}"
    if joint.type == "revolute" and not motions:
        return f"replace {{}} by a universal joint with axes={_universal(mechanism.model, joint, turnings[0])}"
    if joint.type == "revolute" and not turnings and len(motions) == 1 and GROUND in joint.bodies and _along(joint, motions[0]):
        return "replace {} by a cylindrical joint"
    if joint.type == "spherical" and len(motions) == 1 and joint.first == GROUND:
        return f"replace {{}} by a point on a line along {motions[0]}"
    return _OPEN


def _parallel_hinges(model: Model) -> bool:
    """Whether there are two, as every loop in a plane has that can be freed at them."""
    hinges = [joint for joint in model.joints if joint.type == "revolute"]
    axes = [model.body(joint.first).matrix @ joint.E_i[:, 2] for joint in hinges]
    return any(np.linalg.norm(np.cross(one, two)) < 1e-6 for one, two in combinations(axes, 2))


def _universal(model: Model, joint: Joint, turning: str) -> str:
    """World axes of what holds the other row of a hinge: x or y of its frame in the first body, and its axis in the second."""
    kept = {"SO(x, z)": 1, "SO(y, z)": 0}[turning]
    axes = model.body(joint.first).matrix @ joint.E_i[:, kept], model.body(joint.second).matrix @ joint.E_j[:, 2]
    return "({})".format(", ".join("({})".format(", ".join(f"{x + 0.0:.4g}" for x in np.round(axis, 12))) for axis in axes))


def _along(joint: Joint, axis: str) -> bool:
    """Whether a hinge in the ground lies along a world axis."""
    own = joint.E_i if joint.first == GROUND else joint.E_j
    return abs(float(own["xyz".index(axis), 2])) > 1.0 - 1e-12

"""Solids that give a body its mass, inertia and look, and shapes that only give it a look, as records of a model file.

Solids follow from the functions of model/shapes.py, shapes from the table in model/shape_records.py.
"""

from __future__ import annotations

import inspect
from typing import Annotated, Any, Union

from pydantic import FailFast, Field

from dalembert.model import shapes
from dalembert.model.file.values import Axis, Places, Quaternion, Record, Triple, derived
from dalembert.model.shape_records import SHAPES as KEYS

# kinds of value by key, numbers are not named; what else is to be said of some
_VALUES: dict[str, Any] = {
    "axis": Axis,
    **dict.fromkeys(("size", "semi_axes"), Triple),
    "file": str,
    "between": Places,
    "points": Annotated[list[Triple], FailFast()],
    "parts": Annotated[list["Shape"], FailFast()],
}
_SAID = {
    "between": "instead of length: world points that place the body as well [m]",
    "file": "STL or OBJ, in the model file's folder or below it; a solid lies where the file has it",
    "density": "kg/m^3",
    "scale": "metres in a unit of the file",
    "points": "centres of its eyes, of that radius, in body axes and across the axis [m]",
    "width": "of the tyre",
}


class ShapeRecord(Record):
    """How the viewer draws a body; mechanics does not know of it."""

    position: Annotated[Triple | None, Field(description="of the shape in body axes [m]")] = None
    rotation: Annotated[Quaternion | None, Field(description="of the shape in body axes, scalar first")] = None
    colour: Annotated[str | None, Field(description="its own, else that of the body")] = None
    fixed: Annotated[bool, Field(description="in the world instead of the body")] = False
    clear: Annotated[bool, Field(description="seen through")] = False


def _solid(make: Any) -> type[Record]:
    given = inspect.signature(make).parameters.values()
    defaults = {one.name: ... if one.default is one.empty else one.default for one in given}
    return derived(make.__name__, f"{make.__name__.capitalize()}Record", defaults, make.__doc__, _VALUES, _SAID)


def _shape(kind: str) -> type[Record]:
    needed, optional = KEYS[kind]
    usual = {"axis": "z", "scale": 1.0}
    defaults = dict.fromkeys(needed, ...) | {key: usual[key] for key in optional}
    return derived(kind, f"{kind.capitalize()}Shape", defaults, ShapeRecord.__doc__, _VALUES, _SAID, ShapeRecord)


_MAKERS = (shapes.rod, shapes.cylinder, shapes.disc, shapes.box, shapes.sphere, shapes.mesh)
SOLIDS = {make.__name__: _solid(make) for make in _MAKERS}
SHAPES = {kind: _shape(kind) for kind in KEYS}
Solid: Any = Annotated[Union[tuple(SOLIDS.values())], Field(discriminator="type")]  # noqa: UP007
Shape: Any = Annotated[Union[tuple(SHAPES.values())], Field(discriminator="type")]  # noqa: UP007
SHAPES["compound"].model_rebuild(_types_namespace={"Shape": Shape})

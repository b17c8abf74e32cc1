"""The named elements of a model: unique names, lookup by handle or name, in the order they were added."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from typing import TypeVar

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.elements import GROUND, Body, Driver, Force, Joint, Marker
from dalembert.model.validation import by_name, element_name, frozen, nearest, shown

Element = Body | Joint | Driver | Force | Marker
# sections of a model, in the order in which it is written down: noun, class
SECTIONS: dict[str, tuple[str, type[Element]]] = {
    "bodies": ("body", Body),
    "joints": ("joint", Joint),
    "drivers": ("driver", Driver),
    "forces": ("force", Force),
    "markers": ("marker", Marker),
}
E = TypeVar("E", bound=Element)

_ZERO = frozen(np.zeros(3))


def ground_body() -> Body:
    """The body that never moves: world axes, at the origin."""
    return Body(GROUND, "ground", 0.0, frozen(np.zeros((3, 3))), _ZERO, frozen([1.0, 0.0, 0.0, 0.0]), _ZERO, _ZERO)


def _with_shared(own: str, shared: str, names: Collection[str]) -> str:
    """A verb's docstring, with those terms of its class's, `a, b : meaning`, that it takes and does not say itself."""
    terms = re.findall(r"^(\w[\w, ]*) : (.*(?:\n +.*)*)", inspect.cleandoc(shared), re.MULTILINE)
    told = [
        f"{words} : {meaning}"
        for words, meaning in terms
        if set(words.split(", ")) & set(names) and not re.search(rf"^{words.partition(',')[0]}\b.* : ", own, re.MULTILINE)
    ]
    return "\n".join([own, "", *told]) if told else own


class ElementStore:
    """Holds the elements; the verbs of `Model` add to it."""

    def __init_subclass__(cls) -> None:
        verbs = {label: verb for label, verb in vars(cls).items() if label.startswith("add_")}
        made = {verb: by_name(verb) for verb in verbs.values()}  # one verb may have two names
        for verb, told in made.items():
            told.__doc__ = _with_shared(inspect.getdoc(verb) or "", cls.__doc__ or "", inspect.signature(verb).parameters)
        for label, verb in verbs.items():
            setattr(cls, label, made[verb])

    def __init__(self) -> None:
        self._ground = ground_body()
        self._elements: dict[str, Element] = {}

    @property
    def ground(self) -> Body:
        """The fixed world as a body: give it (or the name "ground") wherever a body is asked for."""
        return self._ground

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Bodies and point masses in the order they were added, without the ground."""
        return tuple(e for e in self._elements.values() if isinstance(e, Body))

    @property
    def joints(self) -> tuple[Joint, ...]:
        """Joints in the order they were added."""
        return tuple(e for e in self._elements.values() if isinstance(e, Joint))

    @property
    def drivers(self) -> tuple[Driver, ...]:
        """Drivers in the order they were added."""
        return tuple(e for e in self._elements.values() if isinstance(e, Driver))

    @property
    def forces(self) -> tuple[Force, ...]:
        """Forces, torques, spring-dampers and motors in the order they were added."""
        return tuple(e for e in self._elements.values() if isinstance(e, Force))

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Markers in the order they were added."""
        return tuple(e for e in self._elements.values() if isinstance(e, Marker))

    def body(self, name: Body | str) -> Body:
        """A body by name ("ground" for the ground); a handle of this model is returned as it is."""
        return self._body("model", name)

    def joint(self, name: Joint | str) -> Joint:
        """A joint by name; a handle of this model is returned as it is."""
        return self._joint("model", name)

    def _new_name(self, kind: str, name: object) -> str:
        """Check a new element's name and return how messages call the element: "joint 'knee'"."""
        text = element_name(kind, name)
        if text == GROUND:
            raise ModelError(f"{kind} {text!r}: this name belongs to the ground; choose another")
        if text in self._elements:
            used = type(self._elements[text]).__name__
            raise ModelError(f"{kind} {text!r}: this name is already used by a {used}; choose another")
        return f"{kind} {text!r}"

    def _add(self, element: E) -> E:
        self._elements[element.name] = element
        return element

    def _body(self, owner: str, which: object) -> Body:
        """A body of this model, by handle or name."""
        return self._element(owner, Body, which, [*(body.name for body in self.bodies), GROUND])

    def _joint(self, owner: str, which: object) -> Joint:
        """A joint of this model, by handle or name."""
        return self._element(owner, Joint, which, [joint.name for joint in self.joints])

    def _element(self, owner: str, kind: type[E], which: object, known: list[str]) -> E:
        name, noun = which.name if isinstance(which, kind) else which, kind.__name__.lower()
        found = (self._ground if name == GROUND else self._elements.get(name)) if isinstance(name, str) else None
        if not isinstance(found, kind):
            if other := next((noun for noun, cls in SECTIONS.values() if isinstance(found, cls)), ""):
                raise ModelError(f"{owner}: {name!r} is a {other}; give a {noun}, one of {', '.join(map(repr, known))}")
            raise ModelError(f"{owner}: there is no {noun} {shown(name)}; {nearest(name, known)}")
        if isinstance(which, kind) and which is not found and name != GROUND:
            raise ModelError(f"{owner}: {noun} {name!r} belongs to another model; give a {noun} of this one, as it is now")
        return found

    def _two_bodies(self, owner: str, first: object, second: object) -> tuple[Body, Body]:
        """The two different bodies that an element connects."""
        i, j = self._body(owner, first), self._body(owner, second)
        if i is j:
            raise ModelError(f"{owner}: connects body {i.name!r} with itself; give two different bodies")
        return i, j

    def _moving_body(self, owner: str, which: object) -> Body:
        """A body that a force can move."""
        body = self._body(owner, which)
        if body.kind == "ground":
            raise ModelError(f"{owner}: acts on the ground, which never moves; give a body")
        return body

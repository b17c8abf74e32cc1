"""LagrangianSystem: a Lagrangian with constraints and forces, as NumPy functions or SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.lagrangian.equations import Constraint, Equations
from dalembert.lagrangian.graph import INPUT, Graph, Node, reachable
from dalembert.lagrangian.sympy_tree import is_expression, symbol_name, walk
from dalembert.lagrangian.tracer import Named, shaped, trace, warn_if_rough
from dalembert.model.later import carried_out
from dalembert.model.serialise import content_hash
from dalembert.model.validation import nearest, printable, shown

FORMAT = "dalembert-lagrangian"
Given = Callable[..., Any] | Any


class LagrangianSystem:
    """L = T - U with constraints, for `simulate` like any model.

        def L(q, v, p): return 0.5 * p.m * (v.x**2 + v.y**2) - p.m * p.g * q.y
        system = LagrangianSystem(L, "x y", holonomic={"rod": lambda q, p: q.x**2 + q.y**2 - p.l**2},
                                  parameters={"m": 1.0, "g": 9.81, "l": 1.0}, initial={"x": 1.0})

    lagrangian : function with arguments chosen from q, v, t, p (by name), or SymPy expression in `dynamicsymbols`
    coordinates : names, as a list or one string, or dynamicsymbols
    holonomic : constraints g(q, t, p) = 0, a list or named in a dict; each may give several rows
    nonholonomic : constraints f(q, v, t, p) = 0 linear in v, likewise; never integrated
    forces : generalised forces by coordinate, functions of q, v, t, p, expressions or numbers
    parameters : numbers (functions also take arrays) by name; change them with `replace`, nothing is derived or compiled again
    initial, velocities : start, by coordinate; what is not given starts at 0 and moves first to meet the constraints
    """

    def __init__(
        self,
        lagrangian: Given,
        coordinates: str | Sequence[Any],
        *,
        holonomic: Sequence[Given] | Mapping[str, Given] = (),
        nonholonomic: Sequence[Given] | Mapping[str, Given] = (),
        forces: Mapping[Any, Given] | None = None,
        parameters: Mapping[Any, Any] | None = None,
        initial: Mapping[Any, float] | None = None,
        velocities: Mapping[Any, float] | None = None,
        name: str = "",
    ) -> None:
        names = _names(coordinates)
        values = _flat_parameters(parameters or {}, names)
        tracer = _Tracer(names, values)
        L = tracer.nodes("the Lagrangian", lagrangian, "qvtp")
        if len(L) != 1:
            raise ModelError(f"the Lagrangian returned {len(L)} values; return one number, L = T - U")
        force = [tracer.graph.constant(0.0)] * len(names)
        for key, value in _by_name("forces", forces).items():
            k = _index("forces", key, names)
            made = tracer.nodes(f"the force on {names[k]!r}", value, "qvtp")
            if len(made) != 1:
                raise ModelError(f"the force on {names[k]!r} has {len(made)} values; give one per coordinate")
            force[k] = made[0]
        positions = tracer.constraints("holonomic", holonomic, "qtp")
        velocity = tracer.constraints("nonholonomic", nonholonomic, "qvtp")
        inputs = (tracer.q, tracer.v, tracer.t, tracer.p)
        equations = Equations(tracer.graph, names, *inputs, L[0], positions, velocity, tuple(force))
        _check_names(equations)
        equations.check_linear()
        self._set(equations, values, _start("initial", initial, names), _start("velocities", velocities, names), name)

    def _set(
        self, equations: Equations, values: dict[str, float], initial: dict[str, float], velocities: dict[str, float], name: str
    ) -> None:
        self.equations = equations
        self.parameters = values
        self.initial = initial
        self.velocities = velocities
        self.name = printable("system", name)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.equations.names

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints, holonomic ones first."""
        return tuple(c.name for c in (*self.equations.holonomic, *self.equations.nonholonomic))

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<LagrangianSystem{label}: coordinates {', '.join(self.coordinates)}; constraints {len(self.constraints)}>"

    def replace(
        self,
        *,
        parameters: Mapping[Any, Any] | None = None,
        initial: Mapping[Any, float] | None = None,
        velocities: Mapping[Any, float] | None = None,
        name: str | None = None,
        **numbers: Any,
    ) -> LagrangianSystem:
        """The same system with other numbers; those not given stay. Parameters also by name: system.replace(l=2.0)."""
        values = dict(self.parameters)
        for key, number in _flat_parameters({**(parameters or {}), **numbers}, self.coordinates).items():
            if key not in values:
                raise ModelError(f"parameters: there is no {key!r}; {nearest(key, values)}")
            values[key] = number
        made = LagrangianSystem.__new__(LagrangianSystem)
        made._set(
            self.equations,
            values,
            self.initial | _start("initial", initial, self.coordinates),
            self.velocities | _start("velocities", velocities, self.coordinates),
            self.name if name is None else name,
        )
        return made

    def compile(self) -> Any:
        """Tables, generated code and a consistent initial state."""
        return carried_out("compile", self)

    @property
    def source(self) -> str:
        """The generated code, for the curious."""
        from dalembert.lagrangian.source import write_source

        return write_source(self.equations.parts(), self.equations.inputs)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON holds exactly: what was traced, not the functions."""
        e = self.equations
        constraints = {"holonomic": e.holonomic, "nonholonomic": e.nonholonomic}
        outputs = [e.lagrangian, *e.force, *(row for group in constraints.values() for c in group for row in c.rows)]
        nodes = reachable([*outputs, *e.q, *e.v, e.t, *e.p])
        number = {node.index: k for k, node in enumerate(nodes)}
        return {
            "format": FORMAT,
            "name": self.name,
            "coordinates": list(e.names),
            "parameters": dict(self.parameters),
            "initial": dict(self.initial),
            "velocities": dict(self.velocities),
            "nodes": [[n.op, n.value if not n.args else [number[a.index] for a in n.args]] for n in nodes],
            "lagrangian": number[e.lagrangian.index],
            "forces": [number[node.index] for node in e.force],
            **{kind: [[c.name, [number[row.index] for row in c.rows]] for c in group] for kind, group in constraints.items()},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LagrangianSystem:
        """What `to_dict` described, ready to run; anything else raises `ModelError`."""
        from dalembert.lagrangian.stored import read_equations, read_numbers

        if not isinstance(data, Mapping) or data.get("format") != FORMAT or not isinstance(data.get("name"), str):
            raise ModelError(f"system data: got {shown(data)}; give the dict of LagrangianSystem.to_dict()")
        equations = read_equations(data)
        initial, velocities = (read_numbers(data, key, equations.names) for key in ("initial", "velocities"))
        made = cls.__new__(cls)
        made._set(equations, read_numbers(data, "parameters"), initial, velocities, data["name"])
        return made

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical JSON of `to_dict`."""
        return content_hash(self.to_dict())


class _Tracer:
    """Makes graph nodes of what a user gives."""

    def __init__(self, names: tuple[str, ...], values: Mapping[str, float]) -> None:
        self.graph = graph = Graph()
        self.names = names
        self.q = tuple(graph.input(f"q:{name}") for name in names)
        self.v = tuple(graph.input(f"v:{name}") for name in names)
        self.t = graph.input("t")
        by_name = {name: graph.input(f"p:{name}") for name in values}
        self.p = tuple(by_name.values())
        self.given = {
            "q": Named("q", dict(zip(names, self.q, strict=True))),
            "v": Named("v", dict(zip(names, self.v, strict=True))),
            "t": self.t,
            "p": Named("p", shaped(by_name)),
        }
        rates = {f"{name}'": node for name, node in zip(names, self.v, strict=True)}
        self.symbols = {"t": self.t, **by_name, **dict(zip(names, self.q, strict=True)), **rates}

    def nodes(self, owner: str, given: Given, allowed: str) -> list[Node]:
        """One node per value of a function, an expression or a number."""
        if isinstance(given, int | float | np.number):
            return [self.graph.constant(float(given))]
        if is_expression(given):
            known = {k: v for k, v in self.symbols.items() if "v" in allowed or not k.endswith("'")}
            items: list[Any] = np.ravel(np.array(given, dtype=object)).tolist()
            return [walk(owner, item, self.graph, known) for item in items]
        if callable(given):
            return trace(owner, given, {name: self.given[name] for name in allowed}, self.graph)
        raise ModelError(f"{owner} is {shown(given)}; give a function of {', '.join(allowed)} or a SymPy expression")

    def constraints(self, kind: str, given: Sequence[Given] | Mapping[str, Given], allowed: str) -> tuple[Constraint, ...]:
        if callable(given) or is_expression(given) or isinstance(given, str):
            raise ModelError(f"{kind} is {shown(given)}; give a list of constraints, or a dict of them by name")
        items = given.items() if isinstance(given, Mapping) else [(self._label(kind, k, g), g) for k, g in enumerate(given)]
        made = []
        for name, value in items:
            printable(f"{kind} constraint", str(name))
            rows = self.nodes(f"{kind} constraint {name!r}", value, allowed)
            for row in rows:
                if not any(node.op == INPUT and node.value[0] in "qv" for node in reachable([row])):
                    raise ModelError(f"{kind} constraint {name!r} does not depend on any coordinate or velocity; remove it")
            warn_if_rough(f"{kind} constraint {name!r}", rows)
            made.append(Constraint(str(name), tuple(rows)))
        return tuple(made)

    def _label(self, kind: str, k: int, given: Given) -> str:
        own = getattr(given, "__name__", "<lambda>")
        return own if isinstance(own, str) and own.isidentifier() and not is_expression(given) else f"{kind} {k + 1}"


def _names(coordinates: str | Sequence[Any]) -> tuple[str, ...]:
    listed: Iterable[Any] = coordinates.replace(",", " ").split() if isinstance(coordinates, str) else coordinates
    names = tuple(symbol_name(c) if is_expression(c) else str(c) for c in listed)
    for name in names:
        if not name.isidentifier() or name == "t" or names.count(name) > 1:
            raise ModelError(f"coordinates: {name!r} cannot be one; give different names made of letters, digits and _ (not t)")
    if not names:
        raise ModelError("coordinates are empty; give at least one name")
    return names


def _entry(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{','.join(map(str, place))}]" if place else name


def _flat_parameters(parameters: Mapping[Any, Any], names: Sequence[str]) -> dict[str, float]:
    """Numbers by name, arrays entry by entry."""
    values: dict[str, float] = {}
    for key, value in _by_name("parameters", parameters).items():
        name = symbol_name(key) if is_expression(key) else str(key)
        if name in names or name == "t":
            raise ModelError(f"parameters: {name!r} is already a coordinate or the time; choose another name")
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if not np.all(np.isfinite(array)):
            raise ModelError(f"parameters: {name!r} is {shown(value)}; give finite numbers")
        values |= {_entry(name, place): float(array[place]) for place in np.ndindex(array.shape)}
    return values


def _by_name(owner: str, given: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"{owner} is {shown(given)}; give a dict by name")
    return given or {}


def _index(owner: str, key: Any, names: Sequence[str]) -> int:
    name = symbol_name(key) if is_expression(key) else str(key)
    if name not in names:
        raise ModelError(f"{owner}: there is no coordinate {name!r}; {nearest(name, names)}")
    return list(names).index(name)


def _start(owner: str, given: Mapping[Any, float] | None, names: Sequence[str]) -> dict[str, float]:
    start = {}
    for key, value in _by_name(owner, given).items():
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
            raise ModelError(f"{owner}: {key} is {shown(value)}; give a finite number")
        start[names[_index(owner, key, names)]] = float(value)
    return start


def _check_names(equations: Equations) -> None:
    names = [c.name for c in (*equations.holonomic, *equations.nonholonomic)]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"two constraints are called {name!r}; name them in a dict")

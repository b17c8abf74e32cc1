"""Random mechanisms: all choices of kind from one generator of random numbers, all numbers from another, so that a family of
mechanisms with one structure can be made. Joints are placed at the bodies' poses; velocities are made to fit by the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dalembert as da
from benchmarks.campaigns import user_functions
from benchmarks.campaigns.oracle import Oracle, Unsuitable

OPEN_JOINTS = (
    *("revolute", "spherical", "universal", "prismatic", "cylindrical", "planar", "fixed"),
    *("distance", "point_on_line", "point_on_plane", "coincidence", "in_plane", "perpendicular"),
)
CLOSING_JOINTS = ("spherical", "distance", "point_on_plane", "point_on_line", "universal", "cylindrical", "in_plane")
SHAPES = ("open", "open", "floating", "loop", "loop", "rolling", "rolling", "skate", "user")
MOTIONS = ("constant", "polynomial", "harmonic", "smooth_step", "table")
ANGLES = {"revolute": 0, "cylindrical": 1, "planar": 2}  # component of the angle
SLIDES = {"prismatic": 0, "cylindrical": 0, "point_on_line": 0}
WORST_CONDITION = 0.02
FASTEST = 8.0  # m/s or rad/s at the start
STRONGEST = 500.0  # m/s^2 or rad/s^2 at the start


def unit(rng: Any) -> Any:
    v = rng.standard_normal(3)
    return v / np.linalg.norm(v)


def normal_to(rng: Any, a: Any) -> Any:
    v = np.cross(a, unit(rng))
    return v / np.linalg.norm(v)


def matrix(theta: Any) -> Any:
    a, (b, c, d) = theta[0], theta[1:]
    K = np.array([[0, -d, c], [d, 0, -b], [-c, b, 0]])
    return np.eye(3) + 2 * a * K + 2 * K @ K


@dataclass
class Builder:
    """kinds : decides what there is, equal for all members of a family;  rng : numbers;  given : (6, n) velocities"""

    kinds: Any
    rng: Any
    given: Any = None
    bodies: list[Any] = field(default_factory=list)

    def build(self) -> Any:
        kinds, rng = self.kinds, self.rng
        self.shape = str(kinds.choice(SHAPES))
        n = int(kinds.integers(1, 5 if self.shape != "loop" else 4))
        self.light = int(kinds.integers(n)) if kinds.random() < 0.1 and n > 1 else -1
        self.model = da.Model(rng.uniform(-6.0, 6.0, 3), name=self.shape)
        self.bodies = [self.model.ground]
        getattr(self, self.shape)(n)
        if kinds.random() < 0.15:
            self.redundant()
        if self.light < 0:
            self.forces()
            self.drivers()
        return self.model

    def body(self, near: Any, *, point: bool = False, position: Any = None, rotation: Any = None) -> Any:
        rng, k = self.rng, len(self.bodies) - 1
        scale = 10.0 ** rng.uniform(-5.0, -2.0) if k == self.light else 1.0
        mass, theta = scale * rng.uniform(0.5, 2.0), rng.standard_normal(4)
        theta = theta / np.linalg.norm(theta) if rotation is None else rotation
        place = near + rng.uniform(0.5, 1.0) * unit(rng) if position is None else position
        moments, turn = rng.uniform(0.3, 1.0, 3) * 0.1 * scale, matrix(theta).T  # a full matrix
        v, w = 1.5 * rng.standard_normal((2, 3))
        if self.given is not None:
            v, w = self.given[:3, k], self.given[3:, k]
        if point:
            made = self.model.add_point_mass(f"body {k}", mass=mass, position=place, velocity=v)
        else:
            made = self.model.add_body(
                f"body {k}",
                mass=mass,
                inertia=turn @ np.diag(moments.sum() - moments) @ turn.T,
                position=place,
                rotation=theta,
                velocity=v,
                angular_velocity=w,
            )
        self.bodies.append(made)
        return made

    def joint(self, kind: str, first: Any, second: Any, *, moving: bool = False, at: Any = None, along: Any = None) -> Any:
        rng, model = self.rng, self.model
        name = f"joint {len(model.joints)}"
        point = 0.5 * (first.position + second.position) + 0.2 * rng.standard_normal(3)
        point = second.position if second.kind == "point" else point
        point = point if at is None else at
        axis = unit(rng) if along is None else along
        R_i, R_j = matrix(first.rotation), matrix(second.rotation)
        local = tuple(np.zeros(3) if b.kind == "point" else 0.3 * rng.standard_normal(3) for b in (first, second))
        ends = first.position + R_i @ local[0], second.position + R_j @ local[1]
        match kind:
            case "spherical" | "fixed":
                return getattr(model, f"add_{kind}")(name, first, second, point=point)
            case "universal":
                return model.add_universal(name, first, second, point=point, axes=(axis, normal_to(rng, axis)))
            case "distance":
                span = float(np.linalg.norm(ends[1] - ends[0]))
                length = self.motion(span) if moving else None
                return model.add_distance(name, first, second, points=local, length=length)
            case "coincidence":
                points = R_i.T @ (point - first.position), R_j.T @ (point - second.position)
                return model.add_coincidence(name, first, second, points=points)
            case "perpendicular":
                return model.add_perpendicular(name, first, second, axes=(R_i.T @ axis, R_j.T @ normal_to(rng, axis)))
            case "in_plane":
                offset = float(axis @ (ends[1] - ends[0]))
                return model.add_in_plane(name, first, second, direction=R_i.T @ axis, points=local, offset=offset)
        verb = getattr(model, "add_planar_joint" if kind == "planar" else f"add_{kind}")
        return verb(name, first, second, point=point, axis=axis)

    def motion(self, value: float) -> Any:
        """A motion that starts at the value, with a kink of a higher derivative within the run for two of the kinds."""
        a, b = self.rng.uniform(0.2, 0.6, 2) * self.rng.choice([-1.0, 1.0], 2)
        match str(self.kinds.choice(MOTIONS)):
            case "constant":
                return da.Constant(value)
            case "polynomial":
                return da.Polynomial((value, a, b, -a))
            case "harmonic":
                return da.Harmonic(0.3 * a, 4.0 + b, b, value - 0.3 * a * np.sin(b))
            case "smooth_step":
                return da.SmoothStep(value, value + 0.2 * a, 0.05, 0.35)
        times = np.linspace(-0.1, 0.4, 6)
        values = value + 0.1 * a * np.sin(8.0 * times) + 0.3 * b * times**2
        return da.Table(tuple(times), tuple(values))

    def open(self, n: int, grounded: bool = True) -> None:
        for k in range(n):
            parent = self.bodies[int(self.kinds.integers(0 if grounded else 1, len(self.bodies)))] if k or grounded else None
            if k and parent is self.bodies[0] and self.kinds.random() < 0.5:
                parent = self.bodies[-1]
            kind = str(self.kinds.choice(OPEN_JOINTS))
            point = bool(self.kinds.random() < 0.15) and kind in ("spherical", "distance", "point_on_line", "point_on_plane")
            moving, swap = bool(self.kinds.random() < 0.3), bool(self.kinds.random() < 0.3)
            if parent is not None and parent.kind == "point":
                parent = self.bodies[0]
            body = self.body(np.zeros(3) if parent is None else parent.position, point=point)
            if parent is not None:
                ends = (body, parent) if swap and not point else (parent, body)
                self.joint(kind, *ends, moving=moving)

    def floating(self, n: int) -> None:
        self.open(n, grounded=False)

    def loop(self, n: int) -> None:
        """A chain from the ground and back, closed by a joint that leaves it mobile more often than not."""
        for k in range(n + 1):
            kind = str(self.kinds.choice(("revolute", "spherical", "universal", "prismatic", "cylindrical")))
            body = self.body(self.bodies[k].position)
            self.joint(kind, self.bodies[k], body)
        back = self.bodies[int(self.kinds.integers(0, 2)) if n > 1 else 0]
        moving = bool(self.kinds.random() < 0.2)
        self.joint(str(self.kinds.choice(CLOSING_JOINTS)), back, self.bodies[-1], moving=moving)

    def table(self) -> Any:
        """The ground, or a body that moves, with a plane on it: (body, point, normal)."""
        rng, on = self.rng, self.bodies[0]
        if self.kinds.random() < 0.4:
            kind = str(self.kinds.choice(("revolute", "spherical", "planar", "prismatic", "universal")))
            on = self.body(np.zeros(3))
            self.joint(kind, self.bodies[0], on)
        return on, on.position + 0.3 * rng.standard_normal(3), unit(rng)

    def rolling(self, n: int) -> None:
        rng, kinds = self.rng, self.kinds
        on, origin, normal = self.table()
        shape = str(kinds.choice(("sphere", "disc", "ellipsoid")))
        theta = rng.standard_normal(4)
        theta /= np.linalg.norm(theta)
        R, centre, radius, semi = matrix(theta), 0.1 * rng.standard_normal(3), rng.uniform(0.3, 0.8), rng.uniform(0.3, 0.8, 3)
        tilt = rng.uniform(-0.7, 0.7)
        axis = tilt * normal + np.sqrt(1 - tilt * tilt) * normal_to(rng, normal)
        down = tilt * axis - normal
        m = R.T @ normal
        low = {
            "sphere": -radius * normal,
            "disc": radius * down / np.linalg.norm(down),
            "ellipsoid": -R @ (semi**2 * m) / np.sqrt(m @ (semi**2 * m)),
        }[shape]
        side = normal_to(rng, normal)
        place = origin + 0.5 * side - low - R @ centre
        body = self.body(None, position=place, rotation=theta)
        size = {"sphere": {"radius": radius}, "disc": {"radius": radius, "axis": R.T @ axis}, "ellipsoid": {"semi_axes": semi}}
        verb = getattr(self.model, f"add_rolling_{shape}")
        for k in range(2 if kinds.random() < 0.1 else 1):  # the same contact twice: a redundant one
            verb(f"roll {k}", body, **size[shape], centre=centre, plane=(origin, normal), on=on)
        self.open_on(body, n - 1)

    def skate(self, n: int) -> None:
        on, origin, normal = self.table()
        body = self.body(on.position)
        self.joint("planar", on, body, at=origin, along=normal)
        R = matrix(body.rotation)
        edge = R.T @ normal_to(self.rng, normal)
        point = 0.3 * self.rng.standard_normal(3)
        self.model.add_skate("skate", body, direction=edge, point=point, plane=(origin, normal), on=on)
        self.open_on(body, n - 1)

    def open_on(self, body: Any, n: int) -> None:
        """A few bodies that hang on one."""
        for _ in range(min(n, 2)):
            kind = str(self.kinds.choice(("revolute", "spherical", "distance", "prismatic", "universal")))
            self.joint(kind, body, self.body(body.position))

    def user(self, n: int) -> None:
        place = self.rng.uniform(-1.0, 1.0, 3)
        place[2] = 0.2 * np.sin(2.0 * place[0])
        body = self.body(None, position=place)
        which = int(self.kinds.integers(3))
        if which == 0:
            self.model.add_constraint("wave", user_functions.wave, body)
        if which == 1:
            self.model.add_velocity_constraint("drifting", user_functions.drifting, body)
        self.open_on(body, n - 1)
        if which == 2:
            other = self.body(body.position)
            self.model.add_velocity_constraint("geared", user_functions.geared, (body, other))

    def redundant(self) -> None:
        """A joint once more, or a part of it that the whole implies."""
        joints = [j for j in self.model.joints if j.type in OPEN_JOINTS and not any(p.motion for p in j.primitives)]
        if not joints:
            return
        joint = joints[int(self.kinds.integers(len(joints)))]
        ends = [next(b for b in self.bodies if b.name == name) for name in (joint.first, joint.second)]
        R = matrix(ends[0].rotation)
        x, z = ends[0].position + R @ joint.p_i, R @ joint.E_i[:, 2]
        less = bool(self.kinds.random() < 0.5)
        match joint.type:
            case "revolute":
                self.joint("cylindrical" if less else "revolute", *ends, at=x + 0.4 * z, along=z)
            case "spherical" | "fixed" | "universal":
                self.joint("point_on_plane" if less else "spherical", *ends, at=x)
            case "prismatic" | "cylindrical":
                self.joint("point_on_line" if less else "cylindrical", *ends, at=x, along=z)
            case "planar":
                self.joint("point_on_plane" if less else "planar", *ends, at=x, along=z)
            case "distance":
                self.model.add_distance("again", *ends, points=(joint.p_i, joint.p_j))

    def forces(self) -> None:
        kinds, rng, model = self.kinds, self.rng, self.model
        rigid = [b for b in self.bodies[1:] if b.kind == "rigid"]

        def some(of: list[Any]) -> Any:
            return of[int(kinds.integers(len(of)))]

        def factor() -> Any:
            return self.motion(1.0) if kinds.random() < 0.5 else None

        if rigid and kinds.random() < 0.3:
            frame = str(kinds.choice(("world", "body")))
            point = 0.3 * rng.standard_normal(3)
            model.add_force("force", some(rigid), 2.0 * rng.standard_normal(3), point=point, frame=frame, factor=factor())
        if rigid and kinds.random() < 0.3:
            frame = str(kinds.choice(("world", "body")))
            model.add_torque("torque", some(rigid), rng.standard_normal(3), frame=frame, factor=factor())
        if rigid and kinds.random() < USER_SHARE:
            frame = str(kinds.choice(("world", "body")))
            model.add_force("gust", some(rigid), user_functions.gust, point=0.2 * rng.standard_normal(3), frame=frame)
            model.add_torque("stir", some(rigid), user_functions.stir, frame="body")
        if kinds.random() < 0.4:
            a, b = some(self.bodies), some(self.bodies)
            if a is not b:
                points = tuple(np.zeros(3) if e.kind == "point" else 0.3 * unit(rng) for e in (a, b))
                slack = rng.uniform(0.2, 0.8)
                model.add_spring_damper("spring", a, b, stiffness=5.0, damping=0.3, length=slack, points=points)
        for number, joint in enumerate(model.joints):
            found = [table[joint.type] for table in (ANGLES, SLIDES) if joint.type in table]
            found += [0, 1] if joint.type == "universal" else []
            if found and kinds.random() < 0.3:
                component = int(kinds.choice(found))
                at = float(rng.uniform(-0.5, 0.5))
                model.add_joint_spring_damper(
                    f"joint spring {number}",
                    joint,
                    stiffness=2.0,
                    damping=0.3,
                    law="coordinate",
                    reference=at,
                    component=component,
                )
            if found and kinds.random() < 0.2:
                model.add_motor(f"motor {number}", joint, self.motion(0.5), component=int(kinds.choice(found)))
            if joint.type in ("spherical", "universal") and joint.coordinates and kinds.random() < 0.3:
                law = str(kinds.choice(("rotation-vector", "euler-321")))
                model.add_joint_spring_damper(f"rotation spring {number}", joint, stiffness=1.5, damping=0.2, law=law)

    def drivers(self) -> None:
        kinds, model = self.kinds, self.model
        usable = [(j, table[j.type]) for j in model.joints for table in (ANGLES, SLIDES) if j.type in table]
        if usable and kinds.random() < 0.25:
            joint, component = usable[int(kinds.integers(len(usable)))]
            model.add_driver("driver", joint, self.motion(0.0), component=component)
        if kinds.random() < 0.05:
            body, direction = self.bodies[-1], unit(self.rng)
            motion = self.motion(float(direction @ body.position))
            model.add_point_driver("point driver", body, direction=direction, motion=motion)


USER_SHARE = 0.02  # functions of users as forces; each costs a compilation


def family(rng: np.random.Generator, members: int) -> tuple[list[Any], str]:
    """Mechanisms of one structure with velocities that fit, and what they are."""
    for _ in range(50):
        structure, numbers = rng.integers(2**63, size=2)
        try:
            return _family(int(structure), int(numbers), members)
        except Unsuitable:
            continue
    raise Unsuitable("no structure in 50 tries")


def _family(structure: int, numbers: int, members: int) -> tuple[list[Any], str]:
    def make(number: int, given: Any = None) -> Builder:
        b = Builder(np.random.default_rng(structure), np.random.default_rng([numbers, number]), given)
        b.build()
        return b

    tries = [make(k) for k in range(2 * members)]
    oracle = Oracle([b.model for b in tries])
    freedom, condition = oracle.conditioning(0.0, oracle.start)
    fitting = oracle.consistent(oracle.start)
    speed = np.abs(np.concatenate([fitting.v, fitting.w])).max(axis=(0, 1))
    pull = np.abs(oracle.accelerations(0.0, fitting, oracle.independent(oracle.velocity_rows(0.0, fitting)[0]))).max(axis=0)
    calm = (condition > WORST_CONDITION) & (speed < FASTEST) & (pull < STRONGEST)
    good = list(np.flatnonzero(calm))
    if freedom < 1 or len(good) < members:
        raise Unsuitable(f"freedom {freedom}, {len(good)} of {members} far from singular poses")
    models = []
    for k in good[:members]:
        u = np.concatenate([fitting.v[:, :, k], fitting.w[:, :, k]])
        models.append(make(k, u).model)
    return models, f"{tries[0].shape} of {oracle.n}" + (", light" if tries[0].light >= 0 else "")

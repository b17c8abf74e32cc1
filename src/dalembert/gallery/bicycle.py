"""The Whipple bicycle with the parameters of the benchmark of [MeijaardPapadopoulosRuinaSchwab2007]."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.gallery.looks import made_of
from dalembert.gallery.rolling import turn
from dalembert.model.model import Model
from dalembert.model.validation import numbers, vector

X, Y, Z = np.eye(3)

WHEELBASE, TRAIL, TILT = 1.02, 0.08, pi / 10  # [m], [m], of the steering axis from the vertical [rad]
STEERING_AXIS = np.array([sin(TILT), 0.0, cos(TILT)])
REAR_RADIUS, FRONT_RADIUS = 0.3, 0.35
RADII = {"rear wheel": REAR_RADIUS, "front wheel": FRONT_RADIUS}
# upright and straight with the rear contact in the origin: centres of mass, a point of the steering axis [m]
REAR_WHEEL, FRONT_WHEEL = np.array([0.0, 0.0, -REAR_RADIUS]), np.array([WHEELBASE, 0.0, -FRONT_RADIUS])
FRAME, FORK, HEAD = np.array([0.3, 0.0, -0.9]), np.array([0.9, 0.0, -0.7]), np.array([WHEELBASE + TRAIL, 0.0, 0.0])
# mass [kg] and inertia about the centre of mass [kg m^2]
REAR_WHEEL_BODY = (2.0, np.diag([0.0603, 0.12, 0.0603]))
FRAME_BODY = (85.0, np.array([[9.2, 0.0, 2.4], [0.0, 11.0, 0.0], [2.4, 0.0, 2.8]]))
FORK_BODY = (4.0, np.array([[0.05892, 0.0, -0.00756], [0.0, 0.06, 0.0], [-0.00756, 0.0, 0.00708]]))
FRONT_WHEEL_BODY = (3.0, np.diag([0.1405, 0.28, 0.1405]))


def bicycle(speed: float = 4.6, angles: npt.ArrayLike = (0.0, 0.0, 0.0), rates: npt.ArrayLike | None = None) -> Model:
    """Whipple bicycle, hands off [BasuMandalChatterjeePapadopoulos2007]: x forward, y right, z down; wheels are thin discs.

    Bodies "rear wheel", "frame" (with the rider), "fork", "front wheel"; joints "rear hub", "head", "front hub" revolute,
    "rear contact", "front contact" rolling. The rear wheel touches the floor at the origin, heading along x. By default
    upright at `speed`, leaning at 0.5 rad/s: between 4.29 and 6.02 m/s it rights itself.

    speed : forward [m/s], unless rates are given
    angles : roll, pitch and steer [rad]: the frame is turned by yaw about z, then roll about x, then pitch about y
    rates : of yaw, roll, pitch, steer, rear wheel and front wheel [rad/s]; angles and rates that the contacts refuse are
        corrected by assembly
    """
    roll, pitch, steer = vector("bicycle", "angles", angles)
    if rates is None:
        rates = (0.0, 0.5, 0.0, 0.0, -speed / REAR_RADIUS, -speed / FRONT_RADIUS)
    d_yaw, d_roll, d_pitch, d_steer, d_rear, d_front = numbers("bicycle", "rates", rates, (6,))
    leaning, tilted = turn(0, roll), turn(1, TILT)
    R = leaning @ turn(1, pitch)
    R_fork = R @ tilted @ turn(2, steer) @ tilted.T
    w = d_yaw * Z + d_roll * X + d_pitch * leaning[:, 1]
    w_fork = w + d_steer * R @ STEERING_AXIS
    w_rear = w + d_rear * R[:, 1]
    rear = -REAR_RADIUS * leaning[:, 2]
    v_rear = np.cross(w_rear, rear)
    to_head = R @ (HEAD - REAR_WHEEL)
    head, v_head = rear + to_head, v_rear + np.cross(w, to_head)

    model = Model((0.0, 0.0, 9.81), name="Whipple bicycle")

    def add(
        name: str, body: tuple[float, Array], R: Array, w: Array, at: Array, v: Array, arm: Array, spin: float = 0.0
    ) -> None:
        """A body that turns with a frame (R, w) whose point `at` moves with v, its centre at R arm from there."""
        mass, inertia = body
        model.add_body(
            name,
            mass=mass,
            inertia=inertia,
            position=at + R @ arm,
            rotation=R,
            velocity=v + np.cross(w, R @ arm),
            angular_velocity=w + spin * R[:, 1],
            shape=_shape(name),
        )

    add("rear wheel", REAR_WHEEL_BODY, R, w, rear, v_rear, np.zeros(3), d_rear)
    add("frame", FRAME_BODY, R, w, rear, v_rear, FRAME - REAR_WHEEL)
    add("fork", FORK_BODY, R_fork, w_fork, head, v_head, FORK - HEAD)
    add("front wheel", FRONT_WHEEL_BODY, R_fork, w_fork, head, v_head, FRONT_WHEEL - HEAD, d_front)
    model.add_revolute("rear hub", "frame", "rear wheel", points=(REAR_WHEEL - FRAME, (0, 0, 0)), axes=(Y, Y))
    steering = (tilted[:, 0], Y, STEERING_AXIS, Y)
    model.add_revolute("head", "frame", "fork", points=(HEAD - FRAME, HEAD - FORK), vectors=steering)
    model.add_revolute("front hub", "fork", "front wheel", points=(FRONT_WHEEL - FORK, (0, 0, 0)), axes=(Y, Y))
    for name, radius in RADII.items():
        contact = name.replace("wheel", "contact")
        model.add_rolling_disc(contact, name, radius=radius, axis=Y, plane=((0, 0, 0), -Z))
    return model


def _shape(name: str) -> dict[str, object]:
    """Wheels with spokes, tubes of the frame with saddle and rider, fork with handlebar; in body axes."""
    if name in RADII:
        return {"type": "wheel", "radius": RADII[name], "width": 0.036, "axis": "y"}
    steering = [HEAD - s * STEERING_AXIS for s in (0.5, 0.74, 0.84, 0.98)]
    bracket, seat, hip, shoulder = (
        np.array([x, 0.0, z]) for x, z in ((0.42, -0.28), (0.24, -0.82), (0.22, -0.98), (0.5, -1.42))
    )
    if name == "fork":
        blades = [_tube(steering[0] + y * Y, FRONT_WHEEL + y * Y, 0.015) for y in (-0.05, 0.05)]
        bar = _tube(steering[3] - 0.26 * Y, steering[3] + 0.26 * Y, 0.014)
        tubes = [*blades, _tube(steering[0], steering[3], 0.02), bar]
        return made_of(*(_moved(tube, FORK) for tube in tubes))
    ends = ((REAR_WHEEL, bracket), (REAR_WHEEL, seat), (bracket, seat), (bracket, steering[1]), (seat, steering[2]))
    tubes = [*(_tube(p, q, 0.018) for p, q in ends), _tube(seat, hip + 0.1 * Z, 0.015)]
    tubes.append({"type": "box", "size": (0.24, 0.13, 0.05), "position": hip + 0.08 * Z, "colour": "#333840"})
    crown = shoulder + 0.08 * X - 0.19 * Z
    rider = [_tube(hip, shoulder, 0.11), _tube(shoulder, crown, 0.05), {"type": "sphere", "radius": 0.11, "position": crown}]
    for side, foot in ((-0.1, (0.5, -0.16)), (0.1, (0.36, -0.42))):
        knee, pedal = np.array([0.6, side, -0.75]), np.array([foot[0], side, foot[1]])
        elbow, hand = shoulder + np.array([0.14, 2.2 * side, 0.26]), steering[3] + 2.2 * side * Y - 0.03 * Z
        ways = ((hip + side * Y, knee, 0.06), (knee, pedal, 0.05), (shoulder + side * Y, elbow, 0.035), (elbow, hand, 0.03))
        rider += [_tube(*way) for way in ways]
    parts = [*tubes, *(part | {"colour": "#7d8794"} for part in rider)]
    return made_of(*(_moved(part, FRAME) for part in parts))


def _tube(start: Array, end: Array, radius: float) -> dict[str, Any]:
    """A cylinder from point to point."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    half_way = axis / length + Z  # a half turn about it brings z to the axis
    if not np.linalg.norm(half_way) > 1e-9:
        half_way = X
    turn = (0.0, *(half_way / np.linalg.norm(half_way)).tolist())
    return {"type": "cylinder", "radius": radius, "length": length, "position": (start + end) / 2, "rotation": turn}


def _moved(part: dict[str, Any], centre: Array) -> dict[str, Any]:
    """The same part, placed from a body's centre of mass."""
    return part | {"position": (part["position"] - centre).round(6).tolist()}

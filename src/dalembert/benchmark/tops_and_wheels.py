"""Tops and rolling bodies: heavy top, torque-free top, rolling disc, bicycle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert import gallery
from dalembert.arrays import Array
from dalembert.benchmark import evidence
from dalembert.benchmark.problem import Expected, Problem, adaptive_ways, derived, expected_of, of_gallery, stored
from dalembert.gallery.bicycle import STEERING_AXIS
from dalembert.integrators.explicit_rk import DOP853

_Z = np.array([0.0, 0.0, 1.0])


def rotations(expected: Expected) -> Expected:
    """Euler parameters as rotation matrices, whose sign is not free."""
    theta = expected.values.get("theta")
    if theta is None:
        return expected
    w, v = theta[:, 0], theta[:, 1:]
    hat = np.zeros((len(theta), 3, 3))
    hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    hat -= np.swapaxes(hat, 1, 2)
    R = np.eye(3) + 2 * w[:, None, None] * hat + 2 * hat @ hat
    others = {name: values for name, values in expected.values.items() if name != "theta"}
    return replace(expected, values={"R": R.reshape(-1, 9), **others})


def _flat_rotation(body: str) -> Any:
    return lambda s: s.rotation(body).reshape(-1, 9)


def heavy_top() -> Problem:
    """48 turns in two seconds."""
    data = stored("heavy_top")
    return of_gallery(
        "heavy_top",
        name="heavy-top",
        title="Heavy top of the Lie group literature",
        t_end=2.0,
        source=("BruelsCardonaArnold2012",),
        outputs={
            "z": lambda s: s.position("top")[:, 2],
            "R": _flat_rotation("top"),
            "omega": lambda s: s.angular_velocity("top", frame="body"),
        },
        axis="height of the centre of mass [m]",
        expected=tuple(rotations(e) for e in (derived("heavy_top"), *expected_of(data))),
        steps=80000,
        evidence=evidence.heavy_top,
    )


def euler_top() -> Problem:
    """Angular velocity and attitude."""
    return of_gallery(
        "euler_top",
        name="euler-top",
        title="Torque-free asymmetric top",
        t_end=10.0,
        source=("LandauLifshitz1976",),
        found_in=("Jacobi's elliptic functions; benchmarks/references integrates the attitude as well",),
        outputs={
            "omega": lambda s: s.angular_velocity("top", frame="body"),
            "R": _flat_rotation("top"),
        },
        axis="angular velocity, body axes [rad/s]",
        expected=(rotations(derived("euler_top")),),
        evidence=evidence.euler_top,
    )


def _disc_outputs(s: Any) -> dict[str, Array]:
    """Yaw, lean, spin, angular velocity in the leaning frame and point of contact."""
    R = s.rotation("disc")
    y = R[:, :, 1]
    x = np.cross(y, _Z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    z = np.cross(x, y)
    axes = np.stack([x, y, z], axis=1)
    local = axes @ R  # from the leaning frame to the body: a turn about y
    return {
        "yaw": np.unwrap(np.arctan2(x[:, 1], x[:, 0])),
        "lean": np.arcsin(y[:, 2]),
        "spin": np.unwrap(np.arctan2(local[:, 0, 2], local[:, 0, 0])),
        "u": np.einsum("tij,tj->ti", axes, s.angular_velocity("disc")),
        "contact": (s.position("disc") - 0.5 * z)[:, :2],
    }


def rolling_disc() -> Problem:
    """Nonholonomic: two rows at velocity level."""

    def output(name: str) -> Any:
        return lambda s: _disc_outputs(s)[name]

    return of_gallery(
        "rolling_disc",
        name="rolling-disc",
        title="Thin disc rolling on its edge",
        t_end=5.0,
        source=("NeimarkFufaev1972",),
        outputs={name: output(name) for name in ("lean", "yaw", "spin", "u", "contact")},
        axis="lean [rad]",
        holonomic=False,
    )


_STEP = 2e-3  # of the bicycle: its accelerations are differences of velocities one step apart
_FORWARD = np.array([-761 / 280, 8, -14, 56 / 3, -35 / 2, 56 / 5, -14 / 3, 8 / 7, -1 / 8])  # f' from f(0), .., f(8 h)


def _bicycle_model() -> Any:
    """The state of [BasuMandalChatterjeePapadopoulos2007, Table 1]; mapping of axes and signs as in data/bicycle.json."""
    state = stored("bicycle")["state"]
    angles = (np.pi / 2 - state["psi"], np.pi - state["phi"], -state["psif"])
    rates = [-state[name] for name in ("thetad", "psid", "phid", "psifd", "betard", "betafd")]
    return gallery.bicycle(angles=angles, rates=rates)


def _bicycle_rates(s: Any) -> dict[str, Array]:
    """The nine published velocities over time."""
    R, R_fork = s.rotation("frame"), s.rotation("fork")
    w, w_fork = s.angular_velocity("frame"), s.angular_velocity("fork")
    y = R[:, :, 1]
    level = np.cross(y, _Z)  # the axis of roll
    level /= np.linalg.norm(level, axis=1)[:, None]
    axes = np.stack([np.broadcast_to(_Z, y.shape), level, y], axis=2)
    yaw, roll, pitch = np.linalg.solve(axes, w[:, :, None])[:, :, 0].T
    v = s.velocity("rear wheel")
    steer = np.einsum("ti,ti->t", w_fork - w, R @ STEERING_AXIS)
    rear = np.einsum("ti,ti->t", s.angular_velocity("rear wheel") - w, y)
    front = np.einsum("ti,ti->t", s.angular_velocity("front wheel") - w_fork, R_fork[:, :, 1])
    names = ("xdd", "ydd", "zdd", "thetadd", "psidd", "phidd", "psifdd", "betardd", "betafdd")
    return dict(zip(names, (-v[:, 0], v[:, 1], -v[:, 2], -yaw, -roll, -pitch, -steer, -rear, -front), strict=True))


def bicycle() -> Problem:
    """One published state: its accelerations are found from the motion that follows it."""
    data = stored("bicycle")

    def acceleration(name: str) -> Any:
        def of(s: Any) -> Array:
            """At the start, from the velocities of the run itself; elsewhere not wanted."""
            rates = _bicycle_rates(s)[name]
            at = np.searchsorted(s.t, _STEP * np.arange(9) - 1e-9)
            made = np.full(len(s.t), np.nan)
            made[0] = _FORWARD @ rates[at] / _STEP
            return made

        return of

    outputs: dict[str, Any] = {"lean": lambda s: -np.arcsin(s.rotation("frame")[:, 2, 1])}
    outputs |= {name: acceleration(name) for name in data["expected"][0]["values"]}
    outputs["force_rear"] = lambda s: s.reaction("rear contact").force
    outputs["force_front"] = lambda s: s.reaction("front contact").force
    return Problem(
        name="bicycle",
        title="Whipple bicycle, nine accelerations and contact forces of one state",
        call="gallery.bicycle(angles=..., rates=...)",
        model=_bicycle_model,
        t_end=0.2,
        source=("BasuMandalChatterjeePapadopoulos2007", "MeijaardPapadopoulosRuinaSchwab2007"),
        found_in=tuple(data["source"]),
        outputs=outputs,
        axis="lean [rad]",
        expected=expected_of(data),
        holonomic=False,
        ways=adaptive_ways(DOP853(step=_STEP), "fixed steps, so that accelerations follow from the run's own velocities"),
        steps=1600,
        cannot={"soft": "compliant contacts start to vibrate: accelerations of one state are not those of rigid ones"},
        extra=tuple(float(t) for t in _STEP * np.arange(9)),
        extra_always=True,
        evidence=evidence.bicycle,
    )

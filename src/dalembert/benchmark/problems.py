"""The published problems, each a gallery model with values from outside; `dalembert benchmark` runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dalembert import gallery
from dalembert.benchmark import evidence
from dalembert.benchmark.problem import Array, Expected, Problem, Way, derived, expected_of, stored
from dalembert.formulations.jet import Jet
from dalembert.formulations.minimal import Minimal
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.soft import Soft
from dalembert.gallery.bicycle import STEERING_AXIS
from dalembert.gallery.squeezer import BETA
from dalembert.integrators.explicit_rk import DOP853, RungeKutta4
from dalembert.integrators.gauss_legendre import GaussLegendre

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


def _pendulum() -> Problem:
    data = stored("simple_pendulum")
    return Problem(
        name="a01",
        title="IFToMM A01, simple pendulum",
        call="gallery.simple_pendulum()",
        model=gallery.simple_pendulum,
        t_end=10.0,
        source=("IFToMM",),
        found_in=tuple(data["source"]),
        outputs={
            "x": lambda s: s.position("bob")[:, 0],
            "y": lambda s: s.position("bob")[:, 1],
            "vx": lambda s: s.velocity("bob")[:, 0],
            "vy": lambda s: s.velocity("bob")[:, 1],
        },
        axis="x of the bob [m]",
        expected=expected_of(data),
        evidence=evidence.pendulum,
    )


def _n_four_bar(n: int, t_end: float) -> Problem:
    data = stored(f"n_four_bar_{n}")
    note = (
        "rounding comes back as eps / d^3 from a step that ends at a distance d from a singular position; these fixed steps "
        "stay away from all of them"
    )
    tight: Any = {"tolerance": 1e-14, "velocity_tolerance": 1e-14}
    return Problem(
        name="a02" if n == 2 else f"a02-{n}",
        title=f"IFToMM A02, N-four-bar with N = {n}",
        call=f"gallery.n_four_bar({n})",
        model=lambda: gallery.n_four_bar(n),
        t_end=t_end,
        source=("IFToMM",),
        found_in=tuple(data["source"]),
        outputs={
            "x_B0": lambda s: s.point("link 0", (0, 0.5, 0))[:, 0],
            "y_B0": lambda s: s.point("link 0", (0, 0.5, 0))[:, 1],
            "vx_B0": lambda s: 2 * s.velocity("link 0")[:, 0],
            "vy_B0": lambda s: 2 * s.velocity("link 0")[:, 1],
        },
        axis="x of B0 [m]",
        expected=expected_of(data),
        ways={
            "jet": Way(Jet(**tight), DOP853(step=t_end / 314), note=note),
            "moving-frame": Way(MovingFrame(**tight), RungeKutta4(step=0.0025), note=note),
            "minimal": Way(Minimal(singular="pass"), DOP853(step=t_end / 525), note=note),
        },
        short=0.5,
        evidence=evidence.n_four_bar if n == 2 else None,
    )


def _squeezer(name: str, title: str, beta: float, t_end: float, **more: Any) -> Problem:
    """Andrews' mechanism. Angles of joints are those turned since the start."""
    start = {joint: _start_angle(beta, body) for joint, body in (("O", 0), ("B", 2), ("A5", 4), ("A7", 6))}
    angles = {"beta": "O", "gamma": "B", "delta": "A5", "epsilon": "A7"}

    def angle(joint: str) -> Any:
        return lambda s: s.coordinate(joint) + start[joint]

    outputs: dict[str, Any] = {
        "x_F": lambda s: s.point("K1", (0.007 - 0.00092, 0, 0))[:, 0],
        "y_F": lambda s: s.point("K1", (0.007 - 0.00092, 0, 0))[:, 1],
    }
    for quantity, joint in angles.items():
        outputs[quantity] = angle(joint)
        outputs[f"{quantity}_rate"] = _joint_rate(joint)
    return Problem(
        name=name,
        title=title,
        call="gallery.andrews()" if beta == BETA else f"gallery.andrews(beta={beta!r})",
        model=lambda: gallery.andrews(beta),
        t_end=t_end,
        outputs=outputs,
        axis="x of F [m]",
        ways={"soft": Way(Soft(stiffness=1e12), note="1e8 N/m would give way by more than the error of its steps")},
        short=0.01,
        **more,
    )


def _joint_rate(joint: str) -> Any:
    return lambda s: s.coordinate_rate(joint)


def _start_angle(beta: float, body: int) -> float:
    rotation = gallery.andrews(beta).bodies[body].rotation
    return float(2 * np.arctan2(rotation[3], rotation[0]))


def _andrews() -> tuple[Problem, ...]:
    data = stored("andrews")
    a03 = (data["printed_in_A03"]["source"],)
    return (
        _squeezer(
            "a03",
            "IFToMM A03, Andrews' mechanism, from Theta = 0",
            BETA,
            0.05,
            source=("IFToMM",),
            found_in=a03,
            expected=(derived("andrews"),),
            evidence=evidence.a03,
        ),
        _squeezer(
            "a03-rounded",
            "IFToMM A03, Andrews' mechanism, from beta = -0.0620 as printed",
            -0.062,
            0.05,
            source=("IFToMM",),
            found_in=a03,
            expected=(derived("andrews_rounded_start"),),
            evidence=evidence.a03_rounded,
        ),
        _squeezer(
            "andrews",
            "IVP test set, Andrews' squeezing mechanism",
            BETA,
            0.03,
            source=("IVPTestSet", "HairerWanner1996"),
            found_in=tuple(data["source"]),
            expected=expected_of(data),
            evidence=evidence.andrews,
        ),
    )


def _bricard() -> Problem:
    data = stored("bricard")

    def p3(axis: int) -> Any:
        return lambda s: s.point("rod 2", (0.5, 0, 0))[:, axis]

    return Problem(
        name="a04",
        title="IFToMM A04, Bricard's mechanism",
        call="gallery.bricard()",
        model=gallery.bricard,
        t_end=10.0,
        source=("IFToMM",),
        found_in=tuple(data["source"]),
        outputs={"x_P3": p3(0), "y_P3": p3(1), "z_P3": p3(2)},
        axis="x of P3 [m]",
        expected=expected_of(data),
        evidence=evidence.bricard,
    )


def _governor() -> Problem:
    stiff = GaussLegendre(5, rtol=1e-11, atol=1e-11)
    note = "stiff: implicit stages"
    explicit = "its steps are explicit, and dampers of 4e4 N s/m ask for steps of 1e-5 s: a million of them"
    return Problem(
        name="a05",
        title="IFToMM A05, stiff flyball governor",
        call="gallery.flyball_governor()",
        model=gallery.flyball_governor,
        t_end=10.0,
        source=("IFToMM",),
        found_in=(
            "github RehabEngGroup/MBSbenchmarksInOpenSim help/benchmarks/A05_FlyballGovernor.rst (no digits, a plot)",
            "github jgerstmayr/EXUDYN TestModels/stiffFlyballGovernor.py (same geometry)",
        ),
        outputs={
            "s": lambda s: s.position("slider")[:, 2],
            "alpha": lambda s: np.arcsin(-s.rotation("right")[:, 2, 0]),
            "shaft_rate": lambda s: s.coordinate_rate("bearing"),
        },
        axis="height s of the slider [m]",
        expected=(derived("flyball_governor"),),
        ways={
            "jet": Way(Jet(), stiff, note=note),
            "moving-frame": Way(MovingFrame(), stiff, note=note),
            "minimal": Way(Minimal(), stiff, note=note),
        },
        cannot={"impulse": explicit, "soft": explicit, "variational": explicit},
    )


def _slider_crank(reading: str) -> Problem:
    data = stored("slider_crank")
    what = {"A": "slender rod (Gonzalez, Masarati)", "C": "rod inertia that Masoudi's series follows"}[reading]
    expected = (*expected_of(data), derived("slider_crank_a")) if reading == "A" else (derived("slider_crank_c"),)
    times = {float(t) for series in data["submissions"].values() for t in series["t"]}
    return Problem(
        name=f"slider-crank-{reading.lower()}",
        title=f"IFToMM spatial slider-crank, reading {reading}: {what}",
        call=f'gallery.slider_crank("{reading}")',
        model=lambda: gallery.slider_crank(reading),  # type: ignore[arg-type]
        t_end=5.0,
        source=("IFToMM", "QRContinuation"),
        found_in=tuple(data["source"]),
        outputs={
            "slider_x": lambda s: s.position("slider")[:, 0],
            "slider_v": lambda s: s.velocity("slider")[:, 0],
            "crank_angle": lambda s: s.coordinate("A"),
            "crank_rate": lambda s: s.coordinate_rate("A"),
        },
        axis="x of the slider [m]",
        expected=expected,
        ways={"soft": Way(Soft(stiffness=1e10), note="1e8 N/m would give way by more than the error of its steps")},
        short=0.5,
        extra=tuple(sorted(times)),
        evidence=evidence.slider_crank,
    )


def _car_axis() -> Problem:
    data = stored("car_axis")

    def named(key: str) -> Any:
        return lambda s: s[key]

    outputs = {name: named(name) for name in ("yr", "xl", "yl", "xr")}
    outputs |= {f"{name}_rate": named(f"{name}'") for name in ("xl", "yl", "xr", "yr")}
    outputs["lam1"] = lambda s: s.multiplier("perpendicular")[:, 0]
    outputs["lam2"] = lambda s: s.multiplier("axis")[:, 0]
    return Problem(
        name="car-axis",
        title="IVP test set, car axis",
        call="gallery.car_axis()",
        model=gallery.car_axis,
        t_end=3.0,
        source=("IVPTestSet",),
        found_in=tuple(data["source"]),
        outputs=outputs,
        axis="y of the right mass [m]",
        expected=expected_of(data),
    )


def _heavy_top() -> Problem:
    data = stored("heavy_top")
    return Problem(
        name="heavy-top",
        title="Heavy top of the Lie group literature",
        call="gallery.heavy_top()",
        model=gallery.heavy_top,
        t_end=2.0,
        source=("BruelsCardonaArnold2012",),
        found_in=tuple(data["source"]),
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


def _euler_top() -> Problem:
    return Problem(
        name="euler-top",
        title="Torque-free asymmetric top",
        call="gallery.euler_top()",
        model=gallery.euler_top,
        t_end=10.0,
        source=("LandauLifshitz1976",),
        found_in=("Jacobi's elliptic functions; benchmarks/references.py integrates the attitude as well",),
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


def _rolling_disc() -> Problem:
    data = stored("rolling_disc")

    def output(name: str) -> Any:
        return lambda s: _disc_outputs(s)[name]

    return Problem(
        name="rolling-disc",
        title="Thin disc rolling on its edge",
        call="gallery.rolling_disc()",
        model=gallery.rolling_disc,
        t_end=5.0,
        source=("NeimarkFufaev1972",),
        found_in=tuple(data["source"]),
        outputs={name: output(name) for name in ("lean", "yaw", "spin", "u", "contact")},
        axis="lean [rad]",
        expected=expected_of(data),
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


def _bicycle() -> Problem:
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
    stepped, note = DOP853(step=_STEP), "fixed steps, so that accelerations follow from the run's own velocities"
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
        ways={
            "jet": Way(Jet(), stepped, note=note),
            "moving-frame": Way(MovingFrame(), stepped, note=note),
            "minimal": Way(Minimal(), stepped, note=note),
        },
        steps=1600,
        cannot={"soft": "compliant contacts start to vibrate: accelerations of one state are not those of rigid ones"},
        extra=tuple(float(t) for t in _STEP * np.arange(9)),
        extra_always=True,
        evidence=evidence.bicycle,
    )


def make_problems() -> dict[str, Problem]:
    """All problems by name, in the order in which they run."""
    listed = (
        _pendulum(),
        _n_four_bar(2, 10.0),
        *_andrews()[:2],
        _bricard(),
        _governor(),
        _slider_crank("A"),
        _slider_crank("C"),
        _andrews()[2],
        _car_axis(),
        _heavy_top(),
        _euler_top(),
        _rolling_disc(),
        _bicycle(),
    )
    return {problem.name: problem for problem in listed}

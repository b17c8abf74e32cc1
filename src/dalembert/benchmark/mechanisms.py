"""Mechanisms of the IFToMM library and of the IVP test set."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert import gallery
from dalembert.benchmark import evidence
from dalembert.benchmark.problem import Problem, Way, adaptive_ways, derived, expected_of, of_gallery, stored
from dalembert.formulations.jet import Jet
from dalembert.formulations.minimal import Minimal
from dalembert.formulations.moving_frame import MovingFrame
from dalembert.formulations.soft import Soft
from dalembert.gallery.car_axis import car_axis_of_bodies
from dalembert.gallery.squeezer import BETA
from dalembert.integrators.collocation import GaussLegendre
from dalembert.integrators.explicit_rk import DOP853, RungeKutta4


def pendulum() -> Problem:
    """A01."""
    return of_gallery(
        "simple_pendulum",
        name="a01",
        title="IFToMM A01, simple pendulum",
        t_end=10.0,
        source=("IFToMM",),
        outputs={
            "x": lambda s: s.position("bob")[:, 0],
            "y": lambda s: s.position("bob")[:, 1],
            "vx": lambda s: s.velocity("bob")[:, 0],
            "vy": lambda s: s.velocity("bob")[:, 1],
        },
        axis="x of the bob [m]",
        evidence=evidence.pendulum,
    )


def n_four_bar(n: int, t_end: float) -> Problem:
    """A02: ten singular positions in ten seconds with n = 2; with n = 40 the first two of them."""
    data = stored(f"n_four_bar_{n}")
    note = (
        "rounding comes back as eps / d^3 from a step that ends at a distance d from a singular position; these fixed steps "
        "stay away from all of them"
    )
    tight: Any = {"tolerance": 1e-14, "velocity_tolerance": 1e-14}
    by_itself, rtol = "passes singular positions by itself", 1e-11 if n == 2 else 1e-10
    if n == 2:
        jet = Way(Jet(**tight), DOP853(step=t_end / 314), note=note)
    else:
        jet = Way(Jet(**tight), RungeKutta4(step=0.0025), "planar", note)
    return of_gallery(
        "n_four_bar",
        n,
        data=f"n_four_bar_{n}",
        name="a02" if n == 2 else f"a02-{n}",
        title=f"IFToMM A02, N-four-bar with N = {n}",
        t_end=t_end,
        source=("IFToMM",),
        outputs={
            "x_B0": lambda s: s.point("link 0", (0, 0.5, 0))[:, 0],
            "y_B0": lambda s: s.point("link 0", (0, 0.5, 0))[:, 1],
            "vx_B0": lambda s: 2 * s.velocity("link 0")[:, 0],
            "vy_B0": lambda s: 2 * s.velocity("link 0")[:, 1],
        },
        axis="x of B0 [m]",
        expected=tuple(e.until(t_end) for e in expected_of(data)),
        ways={
            "jet": jet,
            "moving-frame": Way(MovingFrame(**tight), RungeKutta4(step=0.0025), note=note),
            "minimal": Way(Minimal(singular="pass"), DOP853(rtol=rtol, atol=rtol), "planar", by_itself),
        },
        steps=20000 if n == 2 else 2000,
        long=n != 2,
        short=0.5,
        evidence=evidence.n_four_bar if n == 2 else None,
    )


def _squeezer(name: str, title: str, beta: float, t_end: float, **more: Any) -> Problem:
    """Andrews' mechanism. Angles of joints are those turned since the start."""
    start = {joint: _start_angle(beta, body) for joint, body in (("O", 0), ("B", 2), ("A5", 4), ("A7", 6))}
    outputs: dict[str, Any] = {
        "x_F": lambda s: s.point("K1", (0.007 - 0.00092, 0, 0))[:, 0],
        "y_F": lambda s: s.point("K1", (0.007 - 0.00092, 0, 0))[:, 1],
    }
    for quantity, joint in zip(("beta", "gamma", "delta", "epsilon"), start, strict=True):
        outputs[quantity] = lambda s, joint=joint: s.coordinate(joint) + start[joint]
        outputs[f"{quantity}_rate"] = lambda s, joint=joint: s.coordinate_rate(joint)
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


def _start_angle(beta: float, body: int) -> float:
    rotation = gallery.andrews(beta).bodies[body].rotation
    return float(2 * np.arctan2(rotation[3], rotation[0]))


def andrews() -> tuple[Problem, ...]:
    """A03 from both readings of its start, and the problem of the test set."""
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


def bricard() -> Problem:
    """A04."""

    def p3(axis: int) -> Any:
        return lambda s: s.point("rod 2", (0.5, 0, 0))[:, axis]

    return of_gallery(
        "bricard",
        name="a04",
        title="IFToMM A04, Bricard's mechanism",
        t_end=10.0,
        source=("IFToMM",),
        outputs={"x_P3": p3(0), "y_P3": p3(1), "z_P3": p3(2)},
        axis="x of P3 [m]",
        evidence=evidence.bricard,
    )


def governor() -> Problem:
    """A05."""
    return of_gallery(
        "flyball_governor",
        name="a05",
        title="IFToMM A05, stiff flyball governor",
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
        ways=adaptive_ways(GaussLegendre(5, rtol=1e-11, atol=1e-11), "stiff: implicit stages"),
        steps=40000,
        short=0.5,  # their forces are explicit, and dampers of 4e4 N s/m ask for steps below 1e-4 s
    )


def slider_crank(reading: str) -> Problem:
    """Both readings that published series follow."""
    data = stored("slider_crank")
    what = {"A": "slender rod (Gonzalez, Masarati)", "C": "rod inertia that Masoudi's series follows"}[reading]
    expected = (*expected_of(data), derived("slider_crank_a")) if reading == "A" else (derived("slider_crank_c"),)
    times = {float(t) for series in data["submissions"].values() for t in series["t"]}
    return of_gallery(
        "slider_crank",
        reading,
        name=f"slider-crank-{reading.lower()}",
        title=f"IFToMM spatial slider-crank, reading {reading}: {what}",
        t_end=5.0,
        source=("IFToMM", "QRContinuation"),
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


def car_axis() -> Problem:
    """A Lagrangian with a constraint that moves."""

    def named(key: str, rate: bool = False) -> Any:
        """A coordinate like "xl", or its rate, of the Lagrangian or of the bodies."""
        body, axis = {"l": "left", "r": "right"}[key[1]], "xy".index(key[0])

        def of(s: Any) -> Any:
            if not hasattr(s, "position"):
                return s[key + "'" * rate]
            return (s.velocity if rate else s.position)(body)[:, axis]

        return of

    outputs = {name: named(name) for name in ("yr", "xl", "yl", "xr")}
    outputs |= {f"{name}_rate": named(name, True) for name in ("xl", "yl", "xr", "yr")}
    outputs["lam1"] = lambda s: s.multiplier("perpendicular")[:, 0]
    outputs["lam2"] = lambda s: s.multiplier("axis")[:, 0]
    return of_gallery(
        "car_axis",
        name="car-axis",
        title="IVP test set, car axis",
        t_end=3.0,
        source=("IVPTestSet",),
        outputs=outputs,
        axis="y of the right mass [m]",
        steps=160000,
        ways={
            "moving-frame": Way(
                MovingFrame(),
                note="works on bodies: the axis of three point masses with written constraints, gallery.car_axis_of_bodies()",
                model=car_axis_of_bodies,
            )
        },
    )

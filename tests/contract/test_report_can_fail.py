"""Deliberately broken runs, and the line of the report that catches each: the table of docs/howto/trust_report.md."""

import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "trust_report.md").read_text(encoding="utf-8")


def pendulum(*, light=None):
    """A rod of 1 kg; with `light`, hung from another by a link of that mass."""
    model = da.Model()
    masses = [1.0] if light is None else [1.0, light, 1.0]
    before = model.ground
    for k, mass in enumerate(masses):
        inertia = mass * np.array([0.01, 0.08, 0.08])
        before_name, before = before, model.add_body(f"rod {k}", mass=mass, inertia=inertia, position=(0.5 + k, 0, 0))
        model.add_revolute(f"pin {k}", before_name, before, point=(k, 0, 0), axis=(0, 1, 0))
    return model


def loose_tolerance():
    return da.simulate(gallery.build("slider_crank"), 5.0, integrator=da.DormandPrince(rtol=1e-3, atol=1e-3))


def diverging_steps():
    return da.simulate(pendulum(), 3.0, integrator=da.Euler(step=0.05))


def coarse_steps():
    """The energy of a wheel is right however far it turns: 133.9 instead of 100 rad."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("w", mass=1, inertia=(1, 1, 1))
    model.add_revolute("h", model.ground, "w", point=(0, 0, 0), axis=(0, 0, 1), rate=100.0)
    return da.simulate(model, 1.0, integrator=da.RungeKutta4(step=0.05))


def teleporting_constraint():
    """A gear 3 : 1 written with arctan2, whose residual jumps by 2 pi where the wheel's angle wraps: 1.7 rad in one step."""

    def gear(a, b):
        return 3.0 * np.arctan2(a.R[1, 0], a.R[0, 0]) + np.arctan2(b.R[1, 0], b.R[0, 0])

    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("wheel", 0.0), ("pinion", 1.0)):
        model.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    model.add_revolute("A", model.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    model.add_revolute("B", model.ground, "pinion", point=(1, 0, 0), axis=(0, 0, 1))
    model.add_constraint("gear", gear, ["wheel", "pinion"])
    return da.simulate(model, 3.0, formulation=da.Jet(), integrator=da.RungeKutta4(step=0.05))


def moved_ground():
    """States of one mechanism under the name of another whose pin is a micrometre away."""
    run = da.simulate(pendulum(), 1.0)
    other = da.Model()
    other.add_body("rod 0", mass=1.0, inertia=(0.01, 0.08, 0.08), position=(0.500001, 0, 0))
    other.add_revolute("pin 0", other.ground, "rod 0", point=(1e-6, 0, 0), axis=(0, 1, 0))
    mechanism = replace(da.compile(other), x_0=run.mechanism.x_0)
    return type(run)(mechanism, run.t, run.x, settings=run.settings, statistics=run.statistics)


def no_projection():
    return da.simulate(pendulum(), 20.0, formulation=da.Jet(projection="none"), integrator=da.DOP853(rtol=1e-6, atol=1e-6))


def near_massless_link():
    return da.simulate(pendulum(light=1e-9), 0.3, formulation=da.Impulse(), integrator=da.RungeKutta4(step=1e-3))


def wrong_bookkeeping():
    """A user's energy with gravity upwards, kept constant by projection."""

    def my_energy(t, q, u):
        return 0.5 * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2) - 9.81 * q[2]

    model = da.Model()
    model.add_point_mass("stone", mass=1.0, velocity=(1, 0, 2))
    return da.simulate(model, 0.2, formulation=da.Jet(invariants=[my_energy]))


def lost_work():
    """States whose external work was not kept."""
    model = pendulum()
    model.add_force("push", "rod 0", (0, 0, 5.0))
    run = da.simulate(model, 1.0)
    x = run.x.copy()
    x[:, run.mechanism.nq + run.mechanism.nu] = 0.0
    return type(run)(run.mechanism, run.t, x, settings=run.settings, statistics=run.statistics)


def tolerance_above_motion():
    model = da.Model(gravity=(0, 0, 0))
    for k in range(2):
        model.add_point_mass(f"p{k}", mass=1.0, position=(1e-8 * k, 0, 0))
    model.add_spring_damper("s", "p0", "p1", points=((0, 0, 0), (0, 0, 0)), stiffness=1.0, length=5e-9)
    return da.simulate(model, 1.0)


def nothing_after_the_start():
    run = da.simulate(pendulum(), 1.0, save_at=[0.0])
    return type(run)(run.mechanism, run.t, run.x, settings=run.settings, statistics=run.statistics)  # as read from a file


def out_of_plane():
    def gust(t, r, v, R, w):
        return np.array([0.0, 1.0 if t > 0.2 else 0.0, 0.0])

    model = pendulum()
    model.add_force("gust", "rod 0", gust)
    return da.simulate(model, 0.5, coordinates="planar")


BROKEN = {
    "wrong tolerance": (loose_tolerance, "energy balance"),
    "teleporting constraint": (teleporting_constraint, "largest projection"),
    "diverging steps": (diverging_steps, "energy balance"),
    "fixed steps too coarse for a wheel": (coarse_steps, "error estimate"),
    "moved ground": (moved_ground, "position drift"),
    "constraints left to drift": (no_projection, "position drift"),
    "near-massless link": (near_massless_link, "mass conditioning"),
    "wrong energy in a user's invariant": (wrong_bookkeeping, "rate of my_energy"),
    "external work lost": (lost_work, "energy balance"),
    "tolerance larger than the motion": (tolerance_above_motion, "error estimate"),
    "no state after the start": (nothing_after_the_start, "velocity drift"),
    "a force that leaves the plane": (out_of_plane, "plane"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_run_is_caught(name):
    make, line = BROKEN[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = make().report()
    assert report[line].verdict == "FAIL", str(report)
    assert not report.passed
    assert report.verdict == "FAIL"


@pytest.mark.parametrize("model", [pendulum(), gallery.build("slider_crank")], ids=["pendulum", "slider_crank"])
def test_the_same_unbroken_passes(model):
    assert da.simulate(model, 1.0).report().verdict == "pass"


def test_the_page_lists_them():
    rows = re.findall(r"^\| (.+?) \| `(.+?)` \|", PAGE, re.MULTILINE)
    for name, (_, line) in BROKEN.items():
        assert (name, line) in rows

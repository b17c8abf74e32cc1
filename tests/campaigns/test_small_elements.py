"""Relations of joint coordinates, cables, cams beside the same rows written as constraints of bodies: a step or two.

A relation has rows by hand (kernels/mechanics/relations.py), a written constraint has derivatives of generated code: motions
and multipliers are the same where both are right. Uncompiled.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import dalembert as da
from dalembert.kernels.base.compiler import JIT

pytestmark = [
    pytest.mark.nojit,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough"),
]

T_END = 0.02
ONE_STEP = {"integrator": da.DOP853(rtol=1e-9, atol=1e-9, first_step=T_END), "save_at": [0.5 * T_END, T_END]}
FACTORS = (1.0, -0.7, 0.4)


def train(rate=2.0):
    """A cart that turns about a mast carries a wheel and, inclined, a slider: all of their axes move."""
    model = da.Model(gravity=(0, 3.0, -9.81))
    model.add_body("cart", mass=2.0, inertia=(0.2, 0.3, 0.25), position=(1, 0, 0))
    model.add_body("wheel", mass=1.0, inertia=(0.1, 0.05, 0.12), position=(1.3, 0.4, 0.1))
    model.add_body("slider", mass=1.5, inertia=(0.1, 0.1, 0.1), position=(0.8, -0.3, 0.2))
    model.add_revolute("mast", "ground", "cart", point=(0, 0, 0), axis=(0.1, 0, 1), rate=1.1)
    model.add_revolute("axle", "cart", "wheel", point=(1.3, 0.4, 0), axis=(1, 0.2, 0.3), rate=rate)
    model.add_prismatic("rail", "wheel", "slider", point=(0.8, -0.3, 0.2), axis=(0.3, 1, 0))
    return model


def angle(i, j, n):
    """Angle of body j beside body i about n, equal in both at the start; of the ground without an i."""
    n = np.array(n) / np.linalg.norm(n)
    a = np.cross(n, (0.0, 0.0, 1.0) if abs(n[2]) < 0.9 else (0.0, 1.0, 0.0))
    a = a / np.linalg.norm(a)
    b, d = np.cross(n, a), j.R @ a
    if i is not None:
        a, b = i.R @ a, i.R @ b
    return np.arctan2(b @ d, a @ d)


def coordinates(cart, wheel, slider):
    along = np.array((0.3, 1.0, 0.0)) / np.linalg.norm((0.3, 1.0, 0.0))
    slide = (wheel.R @ along) @ (slider.r + slider.R @ np.zeros(3) - wheel.r - wheel.R @ np.array((-0.5, -0.7, 0.1)))
    return angle(None, cart, (0.1, 0, 1)), angle(cart, wheel, (1, 0.2, 0.3)), slide


def plain(a, b, c):
    return sum(f * s for f, s in zip(FACTORS, (a, b, c), strict=True)) - 0.01


def bent(a, b, c):
    return np.array([a - 0.4 * np.sin(b) * np.cos(c), c - 0.3 * a * b])


BODIES = ("cart", "wheel", "slider")


def coupled(kind):
    """The train with a relation, and with the same as a written constraint."""
    models = [train(None if kind == "function" else 2.0) for _ in range(2)]
    if kind == "factors":
        models[0].add_coupling("rows", dict(zip(("mast", "axle", "rail"), FACTORS, strict=True)), offset=0.01)
        models[1].add_constraint("rows", lambda cart, wheel, slider: plain(*coordinates(cart, wheel, slider)), BODIES)
    elif kind == "function":
        models[0].add_coupling("rows", bent, ["mast", "axle", "rail"])
        models[1].add_constraint("rows", lambda cart, wheel, slider: bent(*coordinates(cart, wheel, slider)), BODIES)
    else:
        ends = [("ground", (0, 0, 2.0)), ("wheel", (1.3, 0.5, 0.2)), ("cart", (0.9, 0.1, 0)), ("slider", (0.8, -0.4, 0.1))]
        at = {"wheel": (1.3, 0.4, 0.1), "cart": (1, 0, 0), "slider": (0.8, -0.3, 0.2)}
        local = {name: np.subtract(point, at[name]) for name, point in ends if name in at}
        length = sum(np.linalg.norm(np.subtract(p, q)) for (_, p), (_, q) in pairwise(ends))

        def taut(cart, wheel, slider):
            places = [np.array((0, 0, 2.0))]
            for name, body in (("wheel", wheel), ("cart", cart), ("slider", slider)):
                places.append(body.r + body.R @ local[name])
            return sum(((q - p) @ (q - p)) ** 0.5 for p, q in pairwise(places)) - length

        models[0].add_cable("rows", [(name, local.get(name, point)) for name, point in ends], length=length)
        models[1].add_constraint("rows", taut, BODIES)
    return models


@pytest.mark.parametrize("kind", ["factors", "function", "cable"])
def test_relations_are_the_written_rows(kind):
    runs = [da.simulate(model, T_END, **ONE_STEP) for model in coupled(kind)]
    for name in BODIES:
        for what in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            one, other = (getattr(run, what)(name) for run in runs)
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * (1 + np.abs(other).max()), err_msg=f"{what} of {name}")
    for run in runs:
        assert run.drift.position.max() <= 1e-11 and run.drift.velocity.max() <= 1e-10
        assert run.statistics.newton_maximum <= 4
    np.testing.assert_allclose(np.abs(runs[0].multiplier("rows")), np.abs(runs[1].multiplier("rows")), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["factors", "function", "cable"])
def test_reactions_of_relations_are_those_of_written_rows(kind):
    """Force and torque about its centre on each body."""
    found = []
    for model in coupled(kind):
        run = da.simulate(model, T_END, integrator=da.DOP853(step=T_END))
        for name in BODIES:
            reaction = run.reaction("rows", name)
            moment = reaction.torque + np.cross(reaction.point - run.position(name), reaction.force)
            found.append(np.concatenate([reaction.force, moment], axis=1))
    one, other = np.array(found[:3]), np.array(found[3:])
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * np.abs(other).max())


def test_effort_of_a_cable():
    """Its length is what it was given, through all of its points, and it does no work."""
    model = coupled("cable")[0]
    run = da.simulate(model, T_END, integrator=da.DOP853(step=T_END))
    effort, (row,) = run.effort("rows"), next(joint for joint in model.joints if joint.name == "rows").primitives
    np.testing.assert_allclose(effort.coordinate, row.offset, rtol=0, atol=1e-11)
    np.testing.assert_allclose(effort.rate, 0.0, rtol=0, atol=1e-10)
    np.testing.assert_allclose(effort.power, 0.0, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kind", ["factors", "function", "cable"])
@pytest.mark.parametrize("way", [da.MovingFrame(), da.Minimal(), da.Impulse()])
def test_relations_in_other_formulations(kind, way):
    model = da.compile(coupled(kind)[0])
    limit, options = 1e-9, ONE_STEP
    if isinstance(way, da.Impulse):
        limit, options = 1e-4, {"integrator": da.RungeKutta4(step=T_END / 4), "save_at": [T_END]}
    run, jet = da.simulate(model, T_END, formulation=way, **options), da.simulate(model, T_END, **ONE_STEP)
    for name in BODIES:
        np.testing.assert_allclose(run.position(name)[-1], jet.position(name)[-1], rtol=0, atol=limit)
        np.testing.assert_allclose(run.velocity(name)[-1], jet.velocity(name)[-1], rtol=0, atol=10 * limit)


R, E, ROLLER, SPEED = 0.1, 0.03, 0.02, 12.0


def support(psi):
    """An eccentric circle."""
    return R + E * np.cos(psi)


def pitch(psi):
    """The path of a roller's centre on the same circle."""
    return E * np.cos(psi) + ((R + ROLLER) ** 2 - (E * np.sin(psi)) ** 2) ** 0.5


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("kind", ["flat", "roller"])
def test_lift_of_a_cam(kind, table):
    """An eccentric circle that turns steadily: place, speed and acceleration of the follower, and what lifts it."""
    profile, mass = support if kind == "flat" else pitch, 0.5
    touching = {"support" if kind == "flat" else "pitch": profile}
    if table:
        psi = np.linspace(0, 2 * np.pi, 25)
        values = [float(v) for v in profile(psi)]
        touching = {name: values[:-1] for name in touching}
        profile = CubicSpline(psi, [*values[:-1], values[0]], bc_type="periodic")
    if kind == "flat":
        touching["normal"] = (0, 1, 0)
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cam", mass=1.0, inertia=(0.01, 0.01, 0.02))
    model.add_body("follower", mass=mass, inertia=(1e-3,) * 3, position=(0, 0.3, 0))
    model.add_revolute("C", model.ground, "cam", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("F", model.ground, "follower", point=(0, 0.3, 0), axis=(0, 1, 0))
    model.add_driver("spin", "C", da.Polynomial((0.0, SPEED)))
    model.add_cam("K", "cam", "follower", point=(0, float(profile(np.pi / 2)) - 0.3, 0), **touching)
    run = da.simulate(model, T_END, **ONE_STEP)
    h = 1e-3  # [s]: within one piece of the spline around the times that are looked at
    s = [profile(np.pi / 2 - SPEED * (run.t + k * h)) - profile(np.pi / 2) for k in (-2, -1, 0, 1, 2)]
    s_1 = (s[0] - 8 * s[1] + 8 * s[3] - s[4]) / (12 * h)
    s_2 = (-s[0] + 16 * s[1] - 30 * s[2] + 16 * s[3] - s[4]) / (12 * h * h)
    np.testing.assert_allclose(run.coordinate("F"), s[2], rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.velocity("follower")[:, 1], s_1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.acceleration("follower")[:, 1], s_2, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.multiplier("K")[:, 0], mass * s_2, rtol=0, atol=1e-6)


def test_laws_have_room_for_their_parameters():
    """J s'' = -(sum of 400 gains) s: more numbers than anything else of this model needs room for."""
    model, gains = da.Model(gravity=(0, 0, 0)), np.linspace(0.0, 1.0, 400)
    model.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0, 0, 0))
    model.add_revolute("hinge", "ground", "wheel", point=(0, 0, 0), axis=(0, 0, 1), rate=3.0)
    model.add_joint_law("law", ["hinge"], lambda t, s, s_dot, gains: -np.sum(gains) * s, parameters={"gains": gains})
    run, w = da.simulate(model, T_END, **ONE_STEP), np.sqrt(200 / 0.2)
    np.testing.assert_allclose(run.coordinate("hinge").ravel()[-1], 3 / w * np.sin(w * T_END), rtol=0, atol=1e-9)


def test_damper_between_turning_bodies():
    """What it takes from two bodies that tumble is the power at its ends: the balance with its work holds."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("a", mass=2.0, inertia=(0.1, 0.2, 0.3), velocity=(0.3, 0.1, 0), angular_velocity=(2, -1, 3))
    model.add_body("b", mass=1.0, inertia=(0.2, 0.1, 0.15), position=(1, 0.2, 0), angular_velocity=(-1, 4, 2))
    model.add_spring_damper("damper", "a", "b", damping=20.0, points=((0.2, 0.3, -0.1), (-0.1, 0.2, 0.3)))
    energy = da.simulate(model, T_END, **ONE_STEP).energy
    assert np.ptp(energy.total) <= 1e-9 and np.ptp(energy.kinetic) >= 0.01


def test_relation_that_moves():
    """s = 0.3 sin(2 t) + 0.1 sin(s) as a relation of a hinge: place and speed, whatever the weight on it does."""
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, 0))
    model.add_revolute("hinge", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_coupling("way", lambda s, t: s - 0.3 * np.sin(2 * t) - 0.1 * np.sin(s), ["hinge"])
    run = da.simulate(model, T_END, integrator=da.RungeKutta4(step=T_END / 2))
    s, rate = run.coordinate("hinge").ravel(), run.angular_velocity("arm")[:, 1]
    np.testing.assert_allclose(s, 0.3 * np.sin(2 * run.t) + 0.1 * np.sin(s), rtol=0, atol=1e-11)
    np.testing.assert_allclose(rate * (1 - 0.1 * np.cos(s)), 0.6 * np.cos(2 * run.t), rtol=0, atol=1e-10)


def test_spring_with_a_law():
    """A tension of 8 (l - 1): x'' = -4 (x - 1) of two kilograms on a line."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("bob", mass=2.0, position=(1.5, 0, 0))
    model.add_spring_damper("rope", "ground", "bob", force=lambda t, l, l_dot, k: k * (l - 1.0), parameters={"k": 8.0})
    run = da.simulate(model, T_END, **ONE_STEP)
    np.testing.assert_allclose(run.position("bob")[:, 0], 1 + 0.5 * np.cos(2 * run.t), rtol=0, atol=1e-12)

"""Derivatives of rates from the kernels themselves against extrapolated differences, over joints, forces, drivers, coordinates.

Along random directions of state and time, with error h^8 of the differences and rounding of the rates over h: 1e-13 |f|, more
off the constraints.
"""

import itertools

import numpy as np
import pytest
from random_mechanisms import KINDS, MOTIONS, SHAPES, add_forces, pair_model, planar_chain, random_model

import dalembert as da
from dalembert import gallery
from dalembert.errors import SimulationError
from dalembert.formulations.derivatives import Derivatives
from dalembert.kernels.base.compiler import JIT

plain_only = pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough")
compiled_only = pytest.mark.skipif(not JIT, reason="of compiled kernels")
pytestmark = pytest.mark.nojit
STEP, ALLOWED = 5e-3, 1e-9
OFF = ((0.1, 0.2, 0.0), (0.0, 0.3, -0.2))


def along(run, t, x, direction):
    """Derivative of the rates along a direction of (x, t) by Richardson's extrapolation."""

    def rate(s):
        dx = np.zeros(len(x))
        assert run.rate(t + s * direction[-1], x + s * direction[:-1], dx) == 0
        return dx

    column = [(rate(h) - rate(-h)) / (2.0 * h) for h in (STEP / 2.0**k for k in range(4))]
    for p in (4.0, 16.0, 64.0):
        column = [(p * b - a) / (p - 1.0) for a, b in itertools.pairwise(column)]
    return column[0]


def error(formulation, mechanism, t=0.05, moved=0.05):
    """Largest relative error of derivatives along two directions at a state near the start; the value to the last bit."""
    run, rng = formulation.prepare(mechanism), np.random.default_rng(7)
    x = run.from_absolute(mechanism.x_0, t)
    n = run.size
    x[:n] += moved * rng.standard_normal(n)
    f, by_state, by_time = Derivatives(run).jacobian(t, x)
    rate, largest = np.zeros(len(x)), 0.0
    run.rate(t, x, rate)
    rounding = 1e-14 if mechanism.functions else 0.0  # np.linalg.norm sums in another order for other numbers
    assert np.abs(f - rate).max() <= rounding * np.abs(rate).max()
    for _ in range(2):
        direction = rng.standard_normal(len(x) + 1)
        expected = along(run, t, x, direction)
        found = by_state @ direction[:-1] + by_time * direction[-1]
        largest = max(largest, np.abs(found - expected).max() / np.abs(expected).max())
    return largest


@plain_only
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["jet", "moving-frame"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_with_its_forces_and_a_driver(kind, formulation):
    k = KINDS.index(kind)
    model = pair_model(k, kind, motion_kind=MOTIONS[k % len(MOTIONS)])
    add_forces(model, np.random.default_rng(k), list(model.joints))
    assert error(formulation, da.compile(model)) <= ALLOWED


@plain_only
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape):
    mechanism = da.compile(random_model(1, shape, 3))
    assert error(da.Jet(), mechanism) <= ALLOWED
    assert error(da.MovingFrame(), mechanism) <= ALLOWED
    if shape == "ring":
        assert error(da.Minimal(), mechanism, moved=0.0) <= ALLOWED


@plain_only
@pytest.mark.parametrize("name", ["four_bar", "routh_sphere", "slider_crank", "torsion_chain_rotation_vector", "mobile"])
def test_redundant_traced_and_hub_rows(name):
    mechanism = da.compile(gallery.build(name))
    assert error(da.Jet(), mechanism, moved=0.01) <= ALLOWED
    assert error(da.MovingFrame(), mechanism, moved=0.01) <= ALLOWED


@plain_only
def test_other_kinds_of_coordinates():
    assert error(da.Jet(), da.compile(planar_chain(3, 3), "planar")) <= ALLOWED
    assert error(da.Jet(baumgarte=(5.0, 5.0), projection="none"), da.compile(planar_chain(2, 2))) <= ALLOWED
    assert error(da.Minimal(), da.compile(planar_chain(1, 2), "planar"), moved=0.0) <= ALLOWED
    tree = da.compile(random_model(2, "ring", 3), "tree")
    assert error(da.MovingFrame(), tree) <= ALLOWED
    assert error(da.Minimal(), tree, moved=0.0) <= ALLOWED


@pytest.mark.parametrize("name", ["oscillator_on_circle", "routh_sphere_in_coordinates"])
def test_lagrangian_systems(name):
    assert error(da.Jet(), da.compile(gallery.build(name))) <= ALLOWED


def drag(t, x, v, R, w):
    return -0.3 * v * np.linalg.norm(v) - 0.2 * (R @ x)


def pull(t, x, v, R, w):
    return (-2.0 * v[0] * abs(v[0]), np.sin(t) * x[1], -3.0 * x[2] ** 2 + R[0, 1])


def test_functions_of_users_and_a_tree():
    """One that takes numbers with derivatives, two whose arrays Numba does not make of them: by differences, and it is said."""
    model = gallery.chain(2)
    first, second = (body.name for body in model.bodies)
    model.add_force("pull", first, pull)
    model.add_force("drag", second, drag)
    model.add_torque("swing", second, lambda t: np.array([np.sin(3.0 * t), 0.0, t * t]))
    mechanism = da.compile(model)
    assert error(da.MovingFrame(), mechanism, moved=0.3) <= ALLOWED
    run = da.MovingFrame().prepare(mechanism)
    derivatives = Derivatives(run)
    assert derivatives.differenced == (("drag", "swing") if JIT else ())
    rest = run.from_absolute(run.mechanism.x_0)
    assert np.isfinite(derivatives.jacobian(0.0, rest)[1]).all()  # v |v| at rest


def attraction(t, r, R, v, w, k):
    return -k * r - 0.2 * v, 0.3 * R[:, 0] - 0.1 * w


@plain_only
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["jet", "moving-frame"])
def test_laws_with_parameters_bushings_and_motions_that_are_functions(formulation):
    model = gallery.chain(2, joint="revolute")
    first, second = model.bodies
    joints = [joint.name for joint in model.joints]
    model.add_interaction("attraction", first, second, attraction, parameters={"k": 1.2}, points=OFF)
    model.add_bushing("bushing", first, second, stiffness=[3.0, 2.0, 1.0, 0.5, 0.4, 0.3], damping=[0.3] * 6, points=OFF)
    gains = {"gains": [0.7, 0.2]}
    model.add_joint_law("control", joints, lambda t, s, r, gains: gains[0] * np.sin(s) - gains[1] * r, parameters=gains)
    table = da.Table((-2.0, -0.7, 0.9, 2.0), (-3.0, -0.5, 0.4, 2.0))
    model.add_joint_spring_damper("stop", joints[-1], stiffness=table, damping=table, reference=0.2)
    model.add_spring_damper("line", first, second, force=lambda t, l, r: (l - 0.4) ** 3 + 0.3 * r * np.cos(t), points=OFF)
    model.add_motor("motor", joints[0], lambda t: np.sin(3.0 * t) * t)
    assert error(formulation, da.compile(model), moved=0.2) <= ALLOWED


def wheels():
    """A gear, a belt, a rack, a differential, a screw, a linear coupling and one by a function, all on one train."""
    model = da.Model()
    names = [f"w{k}" for k in range(5)]
    for k, name in enumerate(names):
        model.add_body(name, mass=1.0 + k, inertia=(0.01 + 0.004 * k, 0.02, 0.02), position=(0.3 * k, 0, 0.1 * k))
        model.add_revolute(f"J{k}", model.ground, name, point=(0.3 * k, 0, 0), axis=(0, 0, 1))
    model.add_body("rack", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(0.6, -0.1, 0))
    model.add_prismatic("R", model.ground, "rack", point=(0.6, -0.1, 0), axis=(1, 0, 0))
    model.add_body("nut", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0, 1, 0))
    model.add_screw("T", model.ground, "nut", pitch=0.3, point=(0, 1, 0), axis=(0, 0, 1))
    model.add_gear("gear", "w0", "w1", teeth=(10, 20))
    model.add_belt("belt", "w1", "w2", radii=(0.05, 0.1))
    model.add_rack("mesh", "w2", "rack", radius=0.1)
    model.add_differential("axle", "w2", "w3", "w4")
    model.add_coupling("shared", {"J0": 1.0, ("T", 1): -0.7, "J3": 0.4})
    return model


def cam_and_cables():
    """A cam with a roller, one by a table with a flat; a cable that holds and one that stretches; a plate by a function."""
    model = da.Model()
    model.add_body("cam", mass=1.0, inertia=(0.01, 0.01, 0.02))
    model.add_revolute("C", model.ground, "cam", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    for name, angle in (("roller", 0.5), ("flat", 2.0)):
        out = np.array([np.cos(angle), np.sin(angle), 0])
        model.add_body(name, mass=0.5, inertia=(1e-3,) * 3, position=0.4 * out)
        model.add_prismatic(f"of {name}", model.ground, name, point=(0, 0, 0), axis=out)
    path = 0.12 + 0.03 * np.cos(0.5)
    at = path * np.array([np.cos(0.5), np.sin(0.5), 0])
    model.add_cam("K", "cam", "roller", pitch=lambda psi: 0.12 + 0.03 * np.cos(psi), point=at - model.body("roller").position)
    out, psi = np.array([np.cos(2.0), np.sin(2.0), 0]), np.linspace(0, 2 * np.pi, 12, endpoint=False)
    table, height = (0.1 + 0.02 * np.cos(psi)).tolist(), 0.1 + 0.02 * np.cos(2.0)
    model.add_cam("L", "cam", "flat", support=table, normal=out, point=(height - 0.4) * out)
    model.add_point_mass("load", mass=1.0, position=(0.3, 1, -0.4))
    model.add_body("box", mass=2.0, inertia=(0.02, 0.03, 0.04), position=(1, 1, -1), velocity=(0.1, 0.2, 0.3))
    eye = ("ground", (0.3, 1.2, 1))
    model.add_cable("rope", [("load", (0, 0, 0)), eye, ("box", (0.1, 0, 0.1))])
    through = [("load", (0, 0, 0)), ("roller", (0, 0, 0)), ("box", (0, 0.1, 0))]
    model.add_cable("band", through, stiffness=40.0, damping=0.5, length=0.5)
    model.add_bushing("bushing", "flat", "box", stiffness=[3.0, 2.0, 1.0, 0.5, 0.4, 0.3], damping=[0.3] * 6, points=OFF)
    return model


@plain_only
@pytest.mark.parametrize("build", [wheels, cam_and_cables])
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["jet", "moving-frame"])
def test_couplings_cams_and_cables(build, formulation):
    assert error(formulation, da.compile(build()), moved=0.01) <= ALLOWED


@plain_only
def test_drivers_of_points_and_rates():
    """A point on a prescribed path, a row of velocities, and contacts that roll."""
    model = da.Model()
    model.add_body("sphere", mass=1.0, inertia=(0.1, 0.2, 0.15), position=(0, 0, 0.3), angular_velocity=(1, 2, 0))
    model.add_rolling_sphere("floor", "sphere", radius=0.3)
    model.add_body("sled", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0.5))
    model.add_point_driver("carried", "sled", direction=(1, 0, 0), motion=da.Harmonic(0.2, omega=2.0, offset=1.0))
    model.add_skate("edge", "sled", direction=(1, 0, 0))
    assert error(da.Jet(), da.compile(model), moved=0.01) <= ALLOWED


@compiled_only
def test_compiled_kernels_of_bodies():
    """Absolute coordinates with every force, with traced rows."""
    assert error(da.Jet(), da.compile(random_model(1, "tree", 4))) <= ALLOWED
    assert error(da.Jet(), da.compile(gallery.build("routh_sphere")), moved=0.01) <= ALLOWED


def test_what_has_no_derivative_is_said():
    """A spring without slack length between points that coincide: the direction of its force turns over there."""
    model = da.Model()
    ball = model.add_point_mass("ball", mass=1.0)
    model.add_spring_damper("spring", model.ground, ball, stiffness=3.0, damping=0.1)
    derivatives = Derivatives(da.Jet().prepare(da.compile(model)))
    with np.errstate(all="ignore"), pytest.raises(SimulationError, match="have no derivative"):
        derivatives.jacobian(0.0, derivatives.run.mechanism.x_0)

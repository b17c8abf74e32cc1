"""Rolling bodies and the sleigh against independent values, integrals of the sphere, the rattleback, user-written rows."""

import json

import numpy as np
import pytest
from reference_data import largest, load, run

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.gallery.rolling import turn

# the default 1e-11 m of height is 4e-10 of the energy of a sphere of 20 mm, whose energy is to stay constant to 1e-10
CLOSE = {"tolerance": 1e-13, "velocity_tolerance": 1e-13}
FORMULATIONS = [da.Jet(**CLOSE), da.MovingFrame(**CLOSE), da.Minimal(**CLOSE)]
NAMES = [type(f).__name__ for f in FORMULATIONS]


def same_rotation(a, b):
    return float(np.minimum(np.abs(a - b).max(axis=1), np.abs(a + b).max(axis=1)).max())


each_formulation = pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)


@each_formulation
def test_routh_sphere(formulation):
    data = load("routh_sphere")
    columns = data["columns"]
    solution = run(gallery.routh_sphere(), data["t"], formulation=formulation)
    assert same_rotation(solution.quaternion("sphere"), columns["quat_wxyz"]) <= 1e-9
    assert largest(solution.position("sphere")[:, :2] - columns["xy_com"]) <= 1e-10
    assert largest(solution.rotation("sphere")[:, 2, 2] - columns["cos_theta"]) <= 1e-9
    assert largest(solution.angular_velocity("sphere", frame="body") - columns["omega_body"]) <= 1e-9 * 40  # of 40 rad/s
    jellett, routh = sphere_integrals(solution, 0.02, 0.02, 0.3)
    for ours, independent, key in ((da.jellett, jellett, "jellett"), (da.routh, routh, "routh")):
        assert largest(ours(solution, "floor").values / independent - 1) <= 1e-14
        assert largest(independent / data[key] - 1) <= 1e-10
    assert largest(solution.energy.total / data["energy"] - 1) <= 1e-10


def sphere_integrals(solution, m, R, alpha):
    """J = -(I w) . r / R and D = I_3 w_3 sqrt(g_1 + s (alpha - z)^2 + s g_1 (1 - z^2)), s = m R^2 / I_3, g_1 = I_1 / I_3."""
    I_1, I_3 = 131 / 350 * m * R**2, 0.4 * m * R**2
    w, up = solution.angular_velocity("sphere", frame="body"), solution.rotation("sphere")[:, 2, :]
    r, z = R * (np.array([0, 0, alpha]) - up), up[:, 2]
    s, g_1 = m * R**2 / I_3, I_1 / I_3
    jellett = -np.einsum("ti,ti->t", w * (I_1, I_1, I_3), r) / R
    return jellett, I_3 * w[:, 2] * np.sqrt(g_1 + s * (alpha - z) ** 2 + s * g_1 * (1 - z**2))


def assert_constant(solution):
    for integral in (da.jellett, da.routh):
        assert integral(solution, "floor").deviation.max() <= 1e-10
    assert largest(solution.energy.total / solution.energy.total[0] - 1) <= 1e-10


def assert_sphere(solution, columns, rate):
    assert same_rotation(solution.quaternion("sphere"), columns["q"]) <= 1e-9
    r = solution.position("sphere")
    assert largest(r - r[0] - columns["a"] + columns["a"][0]) <= 1e-9
    assert largest(solution.angular_velocity("sphere", frame="body") - rate) <= 1e-9
    assert_constant(solution)


@each_formulation
def test_rocking_sphere(formulation):
    data = load("rocking_sphere")
    columns = data["columns"]
    solution = run(gallery.rocking_sphere(), data["t"], formulation=formulation)
    assert_sphere(solution, columns, columns["omega2"][:, None] * (0, 1, 0))
    assert largest(solution.reaction("floor").force - columns["contact_force"]) <= 1e-9
    assert largest(da.jellett(solution, "floor").values) <= 1e-12


@each_formulation
def test_homogeneous_sphere(formulation):
    data = load("homogeneous_sphere")
    solution = run(gallery.homogeneous_sphere(), data["t"], formulation=formulation)
    assert_sphere(solution, data["columns"], data["columns"]["omega"])


@pytest.mark.parametrize("spin", [0.2, 0.5, 0.8])
def test_sphere_whose_centre_of_mass_tends_to_the_top(spin):
    """Closed form of the last part of the way: the tilt falls as exp(-rate t), rate from the energy to second order."""
    alpha, inertia = 0.3, 0.4
    top, N = 1 + alpha, inertia + (1 + alpha) ** 2
    k = (1 - alpha * top / N) / 2
    rate = np.sqrt((alpha - spin**2 * ((top * k - 1) ** 2 + inertia * (alpha / N + k**2))) / N)
    times = np.linspace(0, 6.0 / rate + 12.0, 401)
    model = gallery.rising_sphere(spin)
    solution = run(model, times, integrator=da.DOP853(rtol=1e-13, atol=1e-13))
    R = solution.rotation("sphere")
    tilt = np.arctan2(np.hypot(R[:, 0, 2], R[:, 1, 2]), -R[:, 2, 2])
    assert tilt.min() < 1e-3 < 1.0 < tilt[0]
    near = tilt < 0.01
    np.testing.assert_allclose(np.diff(np.log(tilt[near])), -rate * times[1], rtol=1e-4)
    np.testing.assert_allclose(solution.angular_velocity("sphere")[-1], (0, 0, spin), rtol=0, atol=2 * tilt[-1])
    np.testing.assert_allclose(solution.position("sphere")[-1, 2], top, rtol=0, atol=tilt[-1] ** 2)
    assert_constant(solution)


@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_sphere_that_nothing_makes_rise(spin):
    with pytest.raises(ModelError, match=f"rising_sphere: spin is {spin} with alpha 0.3; give a spin other than 0 at which"):
        gallery.rising_sphere(spin)


@each_formulation
def test_rolling_disc(formulation):
    data = load("rolling_disc")
    columns = data["columns"]
    solution = run(gallery.rolling_disc(), data["t"], formulation=formulation)
    yaw, lean, spin = (stacked(axis, columns[key]) for axis, key in ((2, "q1_yaw"), (0, "q2_lean"), (1, "q3_spin")))
    assert largest(solution.rotation("disc") - yaw @ lean @ spin) <= 1e-9
    rates = np.einsum("tji,tj->ti", yaw @ lean, solution.angular_velocity("disc"))
    assert largest(rates - columns["u"]) <= 1e-9
    contact = solution.position("disc") - 0.5 * (yaw @ lean)[:, :, 2]
    assert largest(contact[:, :2] - columns["contact_xy"]) <= 1e-9
    assert largest(contact[:, 2]) <= 1e-9
    assert largest(solution.energy.total / data["energy"] - 1) <= 1e-10


def stacked(axis, angles):
    """(nt, 3, 3) rotations about a coordinate axis."""
    return np.array([turn(axis, angle) for angle in angles])


@each_formulation
def test_chaplygin_sleigh(formulation):
    """Also its momentum about the knife edge, (I + m a^2) w, and along and across the edge, m v and m a w."""
    data = load("chaplygin_sleigh")
    columns = data["columns"]
    solution = run(gallery.sleigh(), data["t"], formulation=formulation)
    edge, direction = solution.point("sleigh", (-0.25, 0, 0)), solution.rotation("sleigh")
    assert largest(edge[:, 0] - columns["xP"]) <= 1e-9
    assert largest(edge[:, 1] - columns["yP"]) <= 1e-9
    assert largest(direction - stacked(2, columns["theta"])) <= 1e-9
    assert largest(solution.angular_velocity("sleigh")[:, 2] - columns["omega"]) <= 1e-9
    forward = np.sum(solution.velocity("sleigh", (-0.25, 0, 0)) * direction[:, :, 0], axis=1)
    assert largest(forward - columns["v"]) <= 1e-9
    momentum = solution.momentum.about(edge)
    assert largest(momentum.angular[:, 2] - (0.3 + 2.0 * 0.25**2) * columns["omega"]) <= 1e-9
    expected = np.stack([2.0 * columns["v"], 2.0 * 0.25 * columns["omega"], 0 * columns["v"]], axis=1)
    assert largest(np.einsum("tji,tj->ti", direction, momentum.linear) - expected) <= 1e-9


@each_formulation
@pytest.mark.parametrize("name", ["nonholonomic_particle", "particle_of_the_source"])
def test_particle_with_a_velocity_constraint(name, formulation):
    """z' = y x' as a user's row on a body, against both sets of values."""
    data = load(name)
    columns = data["columns"]
    position, velocity = (0.0, 0.5, 0.0), (1.0, 0.8, 0.5)
    if name == "particle_of_the_source":
        (x, y, z), (vx, _, vz) = columns["q"].T, columns["v"].T
        columns = {"x": x, "y": y, "z": z, "vx": vx, "vz": vz, "multiplier": columns["lam"]}
        position, velocity = (0.2, -1.0, 0.5), (1.0, 0.8, -1.0)
    model = da.Model((0, 0, 0))
    model.add_body("particle", mass=1.0, inertia=(1, 1, 1), position=position, velocity=velocity)
    model.add_velocity_constraint("slope", lambda particle: particle.v[2] - particle.r[1] * particle.v[0], "particle")
    solution = run(model, data["t"], formulation=formulation)
    for k, axis in enumerate("xyz"):
        assert largest(solution.position("particle")[:, k] - columns[axis]) <= 1e-9
    for k, axis in ((0, "vx"), (2, "vz")):
        assert largest(solution.velocity("particle")[:, k] - columns[axis]) <= 1e-9
    assert largest(np.abs(solution.multiplier("slope")[:, 0]) - np.abs(columns["multiplier"])) <= 1e-9
    assert largest(solution.reaction("slope").force[:, 2] - columns["multiplier"]) <= 1e-9


@pytest.mark.parametrize(("spin", "t_end"), [(-5.0, 3.0), (5.0, 10.0)])
def test_rattleback_turns_one_way_only(spin, t_end):
    solution = da.simulate(gallery.rattleback(spin), t_end, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    rate = solution.angular_velocity("stone", frame="body")[:, 2]
    assert np.any(rate * spin < 0) == (spin < 0)
    energy = solution.energy.total
    assert largest(energy / energy[0] - 1) <= 1e-9


def test_contact_force_carries_the_weight():
    """A homogeneous sphere rolls straight: the floor's force is the weight and nothing else."""
    model = gallery.routh_sphere(1.0, 1.0, 0.0, (1, 1, 1), 1.0, np.eye(3), (0, 1, 0))
    solution = da.simulate(model, 1.0)
    reaction = solution.reaction("floor")
    np.testing.assert_allclose(reaction.force, np.tile((0, 0, 1), (len(solution.t), 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(reaction.torque, 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.position("sphere")[-1], (1, 0, 1), rtol=0, atol=1e-9)


def test_sphere_on_a_turning_table():
    """On a table turning at a constant rate a rolling sphere runs round a circle at 2/7 of it [NeimarkFufaev1972]."""
    rate, radius = 3.0, 0.1
    model = da.Model((0, 0, -9.81))
    table = model.add_body("table", **da.disc(5.0, 1.0).body(), angular_velocity=(0, 0, rate))
    model.add_revolute("axle", model.ground, table, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "axle", da.Polynomial((0, rate)))
    model.add_body("ball", **da.sphere(1.0, radius).body(), position=(0.4, 0, radius), velocity=(0.1, 0.2, 0))
    model.add_rolling_sphere("contact", "ball", radius=radius, on="table")
    solution = da.simulate(model, 5.0, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    v, a = solution.velocity("ball"), solution.acceleration("ball")
    np.testing.assert_allclose(a[:, 0], -2 / 7 * rate * v[:, 1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(a[:, 1], 2 / 7 * rate * v[:, 0], rtol=0, atol=1e-8)


def test_user_constraint_equal_to_a_joint_gives_the_same_motion():
    def pendulum(written):
        model = da.Model()
        rod = model.add_body("rod", **da.rod(1.0, 1.0, radius=0.1).body(), position=(0.5, 0, 0), angular_velocity=(0.3, 1, 2))
        if written:
            model.add_constraint("pivot", lambda rod: rod.point((-0.5, 0, 0)), rod)
        else:
            model.add_spherical("pivot", model.ground, rod, point=(0, 0, 0))
        return model

    times = np.linspace(0, 3, 7)
    joint, written = (run(pendulum(w), times) for w in (False, True))
    assert largest(joint.position("rod") - written.position("rod")) <= 1e-10
    assert largest(joint.quaternion("rod") - written.quaternion("rod")) <= 1e-10
    assert largest(joint.reaction("pivot").force - written.reaction("pivot").force) <= 1e-9


def test_moving_constraint_of_two_bodies():
    """|x_b - x_a| = 1 + t / 10, written by a user, against add_distance with the same motion."""

    def pair(written):
        model = da.Model((0, 0, 0))
        a = model.add_point_mass("a", mass=1.0, position=(0, 0, 0), velocity=(0, 0.3, 0))
        b = model.add_point_mass("b", mass=2.0, position=(1, 0, 0), velocity=(0.1, 0, 0.2))
        if written:
            model.add_constraint("bar", lambda a, b, t: ((b.r - a.r) @ (b.r - a.r)) ** 0.5 - 1 - 0.1 * t, (a, b))
        else:
            model.add_distance("bar", a, b, length=da.Polynomial((1.0, 0.1)), points=((0, 0, 0), (0, 0, 0)))
        return model

    times = np.linspace(0, 2, 5)
    joint, written = (run(pair(w), times) for w in (False, True))
    for name in "ab":
        assert largest(joint.position(name) - written.position(name)) <= 1e-10
    assert largest(joint.energy.external_work - written.energy.external_work) <= 1e-9


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda m: m.add_constraint("c", lambda b: b.v[0], "b"), "uses a velocity of 'b'; a constraint on velocities is"),
        (lambda m: m.add_constraint("c", lambda b: 1.0, "b"), "residual 1 of its function does not depend on the position of"),
        (lambda m: m.add_constraint("c", lambda b, d: b.r[0], "b"), "takes 2 bodies"),
        (lambda m: m.add_velocity_constraint("c", lambda b: b.v[0] ** 2, "b"), "is not linear in the velocities"),
        (lambda m: m.add_velocity_constraint("c", lambda b: b.r[0], "b"), "contains no velocity; give it to add_constraint"),
        (lambda m: m.add_constraint("c", lambda b: b.r[0] if b.r[0] > 0 else b.r[1], "b"), "constraint 'c'"),
        (lambda m: m.add_rolling_sphere("c", "b", radius=0), "radius is 0"),
        (lambda m: m.add_rolling_ellipsoid("c", "b", semi_axes=(1, -1, 1)), "three lengths greater than 0"),
    ],
)
def test_constraints_that_cannot_be(add, message):
    model = da.Model()
    model.add_body("b", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match=message):
        add(model)


@pytest.mark.parametrize("name", ["routh_sphere", "rolling_disc", "rattleback", "sleigh"])
def test_stored_rolling_bodies_move_alike(name):
    """A model through JSON and back: the same laws on the same numbers, bit for bit."""
    model = gallery.build(name)
    again = da.Model.from_dict(json.loads(json.dumps(model.to_dict())))
    np.testing.assert_array_equal(da.simulate(again, 0.1).x, da.simulate(model, 0.1).x)


@pytest.mark.parametrize("verb", ["add_constraint", "add_velocity_constraint"])
def test_stored_user_constraint_asks_for_its_function(verb):
    def held(bead):
        return bead.r[0] if verb == "add_constraint" else bead.v[0]

    model = da.Model()
    model.add_body("bead", mass=1.0, inertia=(1, 1, 1))
    getattr(model, verb)("wire", held, "bead")
    again = da.Model.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.hash == model.hash
    with pytest.raises(ModelError, match=r"^Joint 'wire': the user function '.*held' was not stored, only its source; build"):
        da.compile(again)

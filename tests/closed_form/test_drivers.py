"""Prescribed motions: the coordinate follows, and the driver's reaction is what the equation of motion asks for."""

import numpy as np
import pytest
from reference_data import largest, load, run
from scipy.interpolate import CubicSpline

import dalembert as da

FOLLOWS = 1e-10  # ten times the projection's tolerance: a driven coordinate is a constraint
EFFORT = 1e-8  # reactions follow from positions and rates within 1e-10, times m g l or a stiffness of a few hundred
MASS, LENGTH, INERTIA, G = 1.5, 0.4, 0.03, 9.81
TIMES = np.linspace(0.0, 2.0, 41)
KNOTS = (0.0, 0.3, 0.9, 1.4, 2.0)
VALUES = (0.2, 0.5, -0.4, 0.1, 0.6)


def smooth_step(t):
    s = np.clip((t - 0.5) / 1.2, 0.0, 1.0)
    f = 10 * s**3 - 15 * s**4 + 6 * s**5
    return 0.1 + 0.8 * f, 0.8 * 60 * s * (1 - s) * (1 - 2 * s) / 1.2**2


SPLINE = CubicSpline(KNOTS, VALUES, bc_type="natural")

# motion, its value, its second derivative: written independently of the library
MOTIONS = {
    "number": (0.3, lambda t: (0 * t + 0.3, 0 * t)),
    "constant": (da.Constant(-0.7), lambda t: (0 * t - 0.7, 0 * t)),
    "polynomial": (
        da.Polynomial((0.1, 0.2, -0.3, 0.25)),
        lambda t: (0.1 + 0.2 * t - 0.3 * t**2 + 0.25 * t**3, 1.5 * t - 0.6),
    ),
    "harmonic": (
        da.Harmonic(0.5, 4.0, 0.3, 0.1),
        lambda t: (0.1 + 0.5 * np.sin(4 * t + 0.3), -8.0 * np.sin(4 * t + 0.3)),
    ),
    "smooth step": (da.SmoothStep(0.1, 0.9, 0.5, 1.7), smooth_step),
    "table": (da.Table(KNOTS, VALUES), lambda t: (SPLINE(t), SPLINE(t, 2))),
}
every_motion = pytest.mark.parametrize("kind", MOTIONS)


def driven_pendulum(motion):
    """Hanging at angle 0 in the x-y plane, counted about z."""
    model = da.Model((0, -G, 0))
    arm = model.add_body("arm", mass=MASS, inertia=(0.01, 0.02, INERTIA), position=(0, -LENGTH, 0))
    model.add_revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "hinge", motion)
    return model


@every_motion
@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_driven_angle(kind, coordinates):
    """Torque = (I + m l^2) phi'' + m g l sin phi."""
    motion, exact = MOTIONS[kind]
    solution = run(driven_pendulum(motion), TIMES, coordinates=coordinates)
    phi, phi_2 = exact(TIMES)
    assert largest(solution.coordinate("hinge") - phi) <= FOLLOWS
    r = LENGTH * np.stack([np.sin(phi), -np.cos(phi)], axis=1)
    assert largest(solution.position("arm")[:, :2] - r) <= FOLLOWS
    torque = (INERTIA + MASS * LENGTH**2) * phi_2 + MASS * G * LENGTH * np.sin(phi)
    reaction = solution.reaction("drive")
    assert largest(reaction.torque[:, 2] - torque) <= EFFORT
    assert largest(reaction.torque[:, :2]) <= 1e-12 + 1e-10 * largest(torque)
    assert largest(reaction.force) == 0.0
    # what the driver puts in is what the pendulum has
    assert largest(solution.energy.total - solution.energy.total[0]) <= EFFORT
    assert solution.mechanism.degrees_of_freedom == 0


@every_motion
def test_driven_slide(kind):
    """Force = m (z'' + g) along a vertical slide."""
    motion, exact = MOTIONS[kind]
    model = da.Model()
    lift = model.add_body("lift", mass=MASS, inertia=(1, 1, 1))
    model.add_prismatic("rail", model.ground, lift, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "rail", motion)
    solution = run(model, TIMES)
    z, z_2 = exact(TIMES)
    assert largest(solution.position("lift")[:, 2] - z) <= FOLLOWS
    force = np.stack([0 * z, 0 * z, MASS * (z_2 + G)], axis=1)
    assert largest(solution.reaction("drive").force - force) <= EFFORT


def test_driver_turns_many_times():
    """The angle is counted, not wrapped: 20 turns."""
    solution = run(driven_pendulum(da.Polynomial((0.0, 20 * np.pi))), TIMES)
    assert largest(solution.coordinate("hinge") - 20 * np.pi * TIMES) <= FOLLOWS


def test_prescribed_length_of_a_rod():
    """A pendulum shortened at a constant rate, without gravity: l^2 phi' stays constant."""
    model = da.Model((0, 0, 0))
    bob = model.add_point_mass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, 2.0, 0))
    model.add_distance("rope", model.ground, bob, length=da.Polynomial((1.0, -0.25)))
    solution = run(model, TIMES)
    l = 1.0 - 0.25 * TIMES
    assert largest(solution.coordinate("rope") - l) <= FOLLOWS
    r, v = solution.position("bob"), solution.velocity("bob")
    assert largest(r[:, 0] * v[:, 1] - r[:, 1] * v[:, 0] - 2.0) <= 1e-9  # the integrator's bound
    phi = 2.0 * TIMES / (1.0 - 0.25 * TIMES)  # integral of 2 / l^2
    assert largest(r - l[:, None] * np.stack([np.cos(phi), np.sin(phi), 0 * phi], axis=1)) <= 1e-9
    tension = 4.0 / l**3  # m l phi'^2
    assert largest(np.linalg.norm(solution.reaction("rope").force, axis=1) - tension) <= EFFORT * 10
    assert largest(solution.energy.total - solution.energy.total[0]) <= EFFORT


@every_motion
def test_point_driver(kind):
    """A bead whose height is prescribed flies on in the other directions; force m (z'' + g)."""
    motion, exact = MOTIONS[kind]
    z, z_2 = exact(TIMES)
    model = da.Model((0.5, 0, -G))
    bead = model.add_point_mass("bead", mass=MASS, position=(0, 0, z[0]), velocity=(1, 2, 0))
    model.add_point_driver("height", bead, direction=(0, 0, 3.0), motion=motion)
    solution = run(model, TIMES)
    exact_r = np.stack([TIMES + 0.25 * TIMES**2, 2 * TIMES, z], axis=1)
    assert largest(solution.position("bead") - exact_r) <= FOLLOWS
    assert largest(solution.reaction("height").force - np.stack([0 * z, 0 * z, MASS * (z_2 + G)], axis=1)) <= EFFORT


def towed_ship():
    """Held at its mount: roll, yaw, surge and sway by primitives, heave by a point driver; pitch is free."""
    p = load("ship_heave_pitch")["parameters"]
    offset = np.array([p["px"], p["py"], p["pz"]])  # mount to centre of mass, body axes
    pitch = da.Rotation.from_axis_angle((0, 1, 0), p["th0"])
    model = da.Model((0, 0, -p["g"]))
    ship = model.add_body(
        "ship",
        mass=p["m"],
        inertia=(p["Ix"], p["Iy"], p["Iz"]),
        position=pitch.apply(offset),
        rotation=pitch,
        velocity=(0, 0, 0.2),
    )
    x, y, z = np.eye(3)
    model.add_perpendicular("roll", model.ground, ship, axes=(z, y))
    model.add_perpendicular("yaw", model.ground, ship, axes=(x, y))
    model.add_in_plane("surge", model.ground, ship, direction=x, points=((0, 0, 0), -offset))
    model.add_in_plane("sway", model.ground, ship, direction=y, points=((0, 0, 0), -offset))
    model.add_point_driver("heave", ship, direction=z, point=-offset, motion=da.Harmonic(0.1, 2.0))
    return model


def test_towed_ship():
    """[ConstraintNotes]'s towing tank, table to 1e-17: pitch to 1e-9 rad as demanded, loads of 1.2e3 N to 1e-9 of that."""
    reference = load("ship_heave_pitch")
    columns = reference["columns"]
    solution = run(towed_ship(), reference["t"])
    R = solution.rotation("ship")
    assert largest(np.arctan2(R[:, 0, 2], R[:, 0, 0]) - columns["theta"]) <= 1e-9
    assert largest(solution.angular_velocity("ship")[:, 1] - columns["thetadot"]) <= 1e-9
    assert largest(solution.position("ship") - columns["r_cm"]) <= 1e-9
    names = ("roll", "yaw", "surge", "sway", "heave")
    force = sum(solution.reaction(name).force for name in names)
    moment = sum(solution.reaction(name).torque for name in names)
    assert largest(force - columns["F_mount"]) <= 1e-9 * largest(columns["F_mount"])
    assert largest(moment - columns["M_mount"]) <= 1e-9 * largest(columns["F_mount"])
    assert largest(solution.energy.kinetic - columns["T"]) <= 1e-7  # 1e-9 of the loads' power
    assert largest(solution.energy.potential - columns["U"]) <= 1e-6
    assert largest(solution.energy.total - solution.energy.total[0]) <= 1e-6
    assert solution.mechanism.degrees_of_freedom == 1

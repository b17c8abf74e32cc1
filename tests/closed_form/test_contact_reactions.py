"""Newton and Euler closed with the reactions of contacts: the force acts at the contact point and has no torque there."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
SEMI = np.array([0.5, 0.35, 0.25])
AXIS = np.array([0.6, 0.0, 0.8])
CENTRE = np.array([0.02, -0.05, 0.04])
TILT = da.Rotation.from_axis_angle((1.0, 2.0, 0.5), 0.7)


def lowest(shape, n, R):
    """Contact point from the centre of the shape, world axes; n : (nt, 3) normals, R : (nt, 3, 3)."""
    if shape == "sphere":
        return -0.3 * n
    if shape == "disc":
        axis = R @ AXIS
        down = np.sum(n * axis, axis=1)[:, None] * axis - n
        return 0.3 * down / np.linalg.norm(down, axis=1)[:, None]
    m = np.einsum("tji,tj->ti", R, n)
    reach = np.linalg.norm(SEMI * m, axis=1)[:, None]
    return -np.einsum("tij,tj->ti", R, SEMI**2 * m / reach)


def rolling(shape, on_table):
    """A shape with its centre of mass off centre on a tilted floor, or on a table that swings on a ball joint."""
    model = da.Model((0.5, -0.3, -9.81))
    normal = np.array([0.1, -0.2, 1.0]) / np.linalg.norm([0.1, -0.2, 1.0])
    on, plane = model.ground, ((0.0, 0.0, 0.0), normal)
    if on_table:
        on = model.add_body(
            "table", mass=4.0, inertia=(0.5, 0.6, 0.9), position=(0.2, 0.1, -0.4), angular_velocity=(0.3, 0.2, 2)
        )
        model.add_spherical("pivot", model.ground, on, point=(0.0, 0.0, -1.0))
    R = TILT.matrix[None]
    low = lowest(shape, normal[None], R)[0]
    centre = np.array([0.3, -0.2, 0.0]) - (normal @ [0.3, -0.2, 0.0]) * normal - low
    model.add_body(
        "body",
        mass=1.5,
        inertia=(0.05, 0.07, 0.06),
        position=centre - R[0] @ CENTRE,
        rotation=TILT,
        angular_velocity=(1, 2, 1.5),
    )
    data = {"sphere": {"radius": 0.3}, "disc": {"radius": 0.3, "axis": AXIS}, "ellipsoid": {"semi_axes": SEMI}}[shape]
    getattr(model, f"add_rolling_{shape}")("contact", "body", **data, centre=CENTRE, plane=plane, on=on)
    model.add_force("wind", "body", (0.5, -0.3, 0.2))
    return model, plane


@pytest.mark.filterwarnings("ignore")  # assembly completes the velocities
@pytest.mark.parametrize("on_table", [False, True], ids=["floor", "table"])
@pytest.mark.parametrize("shape", ["sphere", "disc", "ellipsoid"])
def test_newton_and_euler_with_contact_reactions(shape, on_table):
    model, (_, normal) = rolling(shape, on_table)
    run = da.simulate(model, 0.5, integrator=TIGHT, save_at=np.linspace(0, 0.5, 6))
    body = model.body("body")
    if on_table:
        n = run.rotation("table") @ (np.asarray(model.joint("contact").E_i)[:, 2])
    else:
        n = np.tile(normal, (len(run.t), 1))
    x = run.point("body", CENTRE) + lowest(shape, n, run.rotation("body"))
    reaction = run.reaction("contact")
    np.testing.assert_array_equal(reaction.torque, 0.0)
    np.testing.assert_allclose(reaction.point, x, rtol=0, atol=1e-13)
    force = body.mass * (run.acceleration("body") - model.gravity) - (0.5, -0.3, 0.2)
    size = np.abs(force).max()
    np.testing.assert_allclose(reaction.force, force, rtol=0, atol=1e-10 * size)
    k = [b.name for b in model.bodies].index("body")
    w, w_dot = run.angular_velocity("body", frame="body"), run.evaluated.acceleration[:, 6 * k + 3 : 6 * k + 6]
    spin = np.einsum("tij,tj->ti", run.rotation("body"), w_dot @ body.inertia + np.cross(w, w @ body.inertia))
    moment = np.cross(x - run.position("body"), reaction.force)
    assert np.abs(spin).max() > 0.1  # there is something to balance
    np.testing.assert_allclose(moment, spin, rtol=0, atol=1e-9 * size)
    if on_table:  # the table feels the opposite force at the same point
        table = model.body("table")
        joint = run.reaction("pivot")
        total = joint.force - reaction.force
        np.testing.assert_allclose(total, table.mass * (run.acceleration("table") - model.gravity), rtol=0, atol=1e-9 * size)
        w, w_dot = run.angular_velocity("table", frame="body"), run.evaluated.acceleration[:, 3:6]
        spin = np.einsum("tij,tj->ti", run.rotation("table"), w_dot @ table.inertia + np.cross(w, w @ table.inertia))
        r = run.position("table")
        moment = np.cross((0.0, 0.0, -1.0) - r, joint.force) - np.cross(x - r, reaction.force)
        np.testing.assert_allclose(moment, spin, rtol=0, atol=1e-9 * size)


RATE, TURN = 1.7, 0.9  # of the table and of the skate


def skate_on_table():
    """A sledge with its blade under the centre of mass, on a table that is turned at a constant rate."""
    model = da.Model((0, 0, -9.81))
    table = model.add_body("table", **da.disc(5.0, 1.0).body(), angular_velocity=(0, 0, RATE))
    model.add_revolute("axle", model.ground, table, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "axle", da.Polynomial((0, RATE)))
    # edge along x, so the velocity normal to it is that of the table there: 1.7 * 0.4
    model.add_body(
        "sledge",
        mass=2.0,
        inertia=(0.1, 0.1, 0.2),
        position=(0.4, 0.1, 0),
        velocity=(0.3, RATE * 0.4, 0),
        angular_velocity=(0, 0, TURN),
    )
    model.add_planar_joint("ice", table, "sledge", point=(0.4, 0.1, 0), axis=(0, 0, 1))
    model.add_skate("blade", "sledge", direction=(1, 0, 0), on=table)
    return model


def on_table(t, y):
    """Rates of (x, y, s): speed s along the blade e = (cos, sin)(TURN t), across it that of the table, RATE r . e.

    m v' is along n = e', so s' = v . e' = TURN v . n, and v . n = n . (RATE k x r) = RATE r . e.
    """
    e, n = np.array([np.cos(TURN * t), np.sin(TURN * t)]), np.array([-np.sin(TURN * t), np.cos(TURN * t)])
    across = RATE * (y[:2] @ e)
    return [*(y[2] * e + across * n), TURN * across]


FORMULATIONS = [da.Jet(), da.MovingFrame(), da.Minimal(), da.Minimal(velocities="joints")]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_skate_on_a_turning_table(formulation):
    expected = solve_ivp(on_table, (0, 1.5), [0.4, 0.1, 0.3], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=[0.5, 1.0, 1.5])
    run = da.simulate(skate_on_table(), 1.5, formulation=formulation, integrator=TIGHT, save_at=[0.5, 1.0, 1.5])
    np.testing.assert_allclose(run.position("sledge")[:, :2], expected.y[:2].T, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.angular_velocity("sledge")[:, 2], TURN, rtol=0, atol=1e-9)


@pytest.mark.parametrize("formulation", [da.Impulse(), da.Variational()], ids=lambda f: type(f).__name__)
def test_skate_on_a_turning_table_to_order_two(formulation):
    expected = solve_ivp(on_table, (0, 1.0), [0.4, 0.1, 0.3], method="DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]
    method, errors = da.FixedStep if isinstance(formulation, da.Variational) else da.RungeKutta4, []
    for step in (0.02, 0.01):
        run = da.simulate(skate_on_table(), 1.0, formulation=formulation, integrator=method(step=step), save_at=[1.0])
        errors.append(np.abs(run.position("sledge")[-1, :2] - expected).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2) and errors[1] <= 1e-3

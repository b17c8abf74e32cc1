"""Initial velocities with redundant rows, what over-constrained models are told, and starts that crashed."""

import numpy as np
import pytest

import dalembert as da

ROUNDING = 1e-12  # some hundred eps of velocities of the size of one


def pinned(rng: np.random.Generator, second: str) -> tuple[da.Model, np.ndarray]:
    """A body that turns about a point which two joints hold, given an angular velocity that fits both."""
    p, r, w = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), rng.normal(size=3)
    model = da.Model()
    model.add_body("b", **da.box(2.0, (1, 0.2, 0.3)).body(), position=r, angular_velocity=w)
    model.add_spherical("s", "ground", "b", point=p)
    if second == "plane":
        model.add_point_on_plane("again", "ground", "b", point=p, axis=(0, 0, 1))
    else:
        model.add_spherical("again", "ground", "b", point=p)
    return model, w


@pytest.mark.parametrize("second", ["plane", "spherical"])
def test_angular_velocity_that_fits_stays_when_a_joint_is_given_twice(second):
    rng = np.random.default_rng(1)
    for _ in range(20):
        model, w = pinned(rng, second)
        body = model.assemble().bodies[0]
        assert np.abs(body.angular_velocity - w).max() < ROUNDING * (1.0 + np.abs(w).max())
        assert not model.assemble().changed


def test_rolling_contact_given_twice_keeps_the_spin():
    model = da.Model()
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), position=(0, 0, 0.1), angular_velocity=(0, 3, 0))
    model.add_rolling_sphere("a", "ball", radius=0.1)
    model.add_rolling_sphere("b", "ball", radius=0.1)
    mechanism = da.compile(model)
    assert not mechanism.moved
    np.testing.assert_allclose(mechanism.x_0[7:13], (0.3, 0, 0, 0, 3, 0), rtol=0, atol=ROUNDING)


def carried_skate(twice: bool) -> da.Model:
    """A skate that slides and turns on a tilted plane, with a pendulum on it; the joint with the plane given twice or once."""
    model = da.Model(gravity=(1.8, -2.6, -2.9))
    axis = np.array([-0.6, 0.0, 0.8])
    along = np.array([0.0, 1.0, 0.0])
    model.add_body("sledge", mass=0.8, inertia=(0.13, 0.12, 0.14), velocity=0.7 * along, angular_velocity=0.4 * axis)
    model.add_body("bob", mass=0.7, inertia=(0.1, 0.12, 0.13), position=(0.2, 0.5, -0.4), angular_velocity=(1.0, 2.6, -1.8))
    model.add_planar_joint("plane", "ground", "sledge", point=(0, 0, 0), axis=axis)
    model.add_skate("blade", "sledge", direction=along, point=(0.1, 0.2, 0.075), plane=((0, 0, 0), axis))
    model.add_spherical("pin", "sledge", "bob", point=(0.3, 0.3, -0.1))
    if twice:
        model.add_planar_joint("again", "ground", "sledge", point=(0.3, -0.2, 0.225), axis=axis)
    return model


@pytest.mark.parametrize(
    "formulation", [da.Jet(), da.MovingFrame(), da.Minimal(), da.Minimal(velocities="joints"), da.Impulse()]
)
def test_rows_of_velocities_act_among_redundant_ones(formulation):
    """Rows of positions are closed without those of velocities, which must not lose their turn by that."""
    integrator = da.RungeKutta4(step=0.01) if isinstance(formulation, da.Impulse) else da.DOP853(rtol=1e-11, atol=1e-11)
    runs = [da.simulate(carried_skate(twice), 1.0, formulation=formulation, integrator=integrator) for twice in (True, False)]
    assert [len(run.mechanism.redundant) for run in runs] == [3, 0]
    assert runs[0].drift.velocity.max() <= 1e-10 and runs[0].statistics.smallest_pivot != 0.0
    for name in ("sledge", "bob"):
        np.testing.assert_allclose(runs[0].position(name)[-1], runs[1].position(name)[-1], rtol=0, atol=1e-8)
        np.testing.assert_allclose(runs[0].rotation(name)[-1], runs[1].rotation(name)[-1], rtol=0, atol=1e-8)


def test_lagrangian_velocities_that_fit_stay_with_three_equal_rows():
    rows = {f"k{i}": lambda q, v, p: v.x - 1.5 * v.y for i in range(3)}
    system = da.LagrangianSystem(
        lambda q, v, p: 0.5 * (v.x**2 + v.y**2), "x y", nonholonomic=rows, velocities={"x": 0.6, "y": 0.4}
    )
    mechanism = system.compile()
    np.testing.assert_allclose(mechanism.x_0[2:4], (0.6, 0.4), rtol=0, atol=ROUNDING)
    assert not mechanism.moved


def four_bar(axis_c=(0, -1, 0), rate=None, drivers=()) -> da.Model:
    points = {
        name: np.array(p, float)
        for name, p in (("A", (0, 0, 0)), ("B", (0, 0, 0.15)), ("C", (0.4, 0, 0.45)), ("D", (0.4, 0, 0)))
    }
    model = da.Model()
    for name, p, q in (("crank", "A", "B"), ("coupler", "B", "C"), ("rocker", "D", "C")):
        model.add_body(name, mass=1.0, inertia=(0.01, 0.02, 0.03), position=(points[p] + points[q]) / 2)
    for name, i, j in (
        ("A", "ground", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("D", "ground", "rocker"),
    ):
        axis = axis_c if name == "C" else (0, -1, 0)
        model.add_revolute(name, i, j, point=points[name], axis=axis, **({"rate": rate} if name == "A" and rate else {}))
    for k, (joint, speed) in enumerate(drivers):
        model.add_driver(f"d{k}", joint, da.Polynomial((0.0, speed)))
    return model


@pytest.mark.parametrize(
    ("model", "named", "remedy"),
    [
        (four_bar(axis_c=(0.3, -1, 0), rate=4.0), "'A'", "check the axes"),
        (four_bar(axis_c=(0.3, -1, 0), drivers=(("A", 2.0),)), "'d0'", "check the axes"),
        (four_bar(drivers=(("A", 2.0), ("D", 3.0))), "'d0', 'd1'", "leave out a driver or rate"),
    ],
)
def test_wrong_axes_and_a_second_driver_are_called_over_constrained(model, named, remedy):
    """The cause comes first, and what is likely wrong; residuals last."""
    axis = "the axis of joint 'C' is 16.7 degrees off .*; " if "axes" in remedy else ""
    first = f"^no velocities fit: {axis}the mechanism is over-constrained: the other joints and drivers leave no freedom for"
    with pytest.raises(
        da.AssemblyError, match=f"{first} {named}; {remedy}.* keep the velocity residual in brackets, in m/s or rad/s$"
    ):
        da.compile(model)


@pytest.mark.parametrize(
    ("joint", "told"),
    [
        ("A", r"joint 'A' is given rate 4 rad/s, driver 'd0' asks for 2 rad/s at t = 0 s: leave out the rate$"),
        ("D", r"rates given at 'A' follow from the drivers .* leave out those"),
    ],
)
def test_a_rate_that_contradicts_a_driver_is_not_called_over_constrained(joint, told):
    with pytest.raises(da.AssemblyError, match=told):
        da.compile(four_bar(drivers=((joint, 2.0),), rate=4.0))


def test_disc_that_lies_flat_is_refused_by_name():
    model = da.Model()
    model.add_body("disc", mass=1.0, inertia=(0.01, 0.01, 0.02))
    model.add_rolling_disc("roll", "disc", radius=0.1, axis=(0, 0, 1))
    with pytest.raises(da.AssemblyError, match="'roll' are not defined in the model pose"):
        da.compile(model)


@pytest.mark.parametrize("formulation", [da.MovingFrame(), da.Minimal(velocities="joints")])
def test_welded_body_gives_its_reaction(formulation):
    model = da.Model()
    model.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_fixed("weld", model.ground, "b")
    solution = da.simulate(model, t_end=1.0, formulation=formulation)
    np.testing.assert_allclose(solution.reaction("weld").force[-1], (0, 0, 9.81), rtol=0, atol=1e-12)


def telescope(length) -> da.Model:
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("p", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.add_prismatic("s", model.ground, "p", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_distance("d", model.ground, "p", length=length)
    return model


@pytest.mark.parametrize(
    "length", [da.Polynomial((1.0, -0.5)), da.Table((0.0, 0.5, 1.0, 2.0, 3.0), (1.0, 1.0, 0.01, 1.0, 1.0))]
)
def test_length_that_runs_through_zero_is_refused(length):
    with pytest.raises(da.ModelError, match=r"joint 'd': its length reaches 0 at t = "):
        da.simulate(telescope(length), t_end=4.0 if isinstance(length, da.Polynomial) else 3.0)


def test_length_that_would_vanish_after_the_run_is_followed():
    solution = da.simulate(telescope(da.Polynomial((1.0, -0.5))), t_end=1.9)
    assert abs(solution.coordinate("d")[-1] - 0.05) < 1e-9


def test_refusal_of_minimal_keeps_the_partial_solution():
    """Slider-crank with rod = crank: the singular configuration is at a right angle of the crank."""
    angle, r = 0.5, 0.3
    b, c = r * np.array([np.cos(angle), 0, np.sin(angle)]), np.array([2 * r * np.cos(angle), 0, 0])
    model = da.Model(gravity=(0, 0, 0))
    for name, p, q in (("crank", np.zeros(3), b), ("rod", b, c)):
        d = (q - p) / r
        turn = np.column_stack([d, [0, 1, 0], np.cross(d, [0, 1, 0])])
        model.add_body(name, mass=1.0, inertia=(1e-4, 7.5e-3, 7.6e-3), position=(p + q) / 2, rotation=turn)
    model.add_body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), position=c)
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, -1, 0), rate=4.0)
    model.add_revolute("B", "crank", "rod", point=b, axis=(0, 1, 0))
    model.add_revolute("C", "rod", "slider", point=c, axis=(0, 1, 0))
    model.add_prismatic("D", model.ground, "slider", point=c, axis=(1, 0, 0))
    with pytest.raises(da.SimulationError, match="singular configuration") as refusal:
        da.simulate(model, t_end=1.5, formulation=da.Minimal())
    solution = refusal.value.solution
    assert solution is not None and abs(solution.coordinate("A")[-1] - (np.pi / 2 - angle)) < 1e-3

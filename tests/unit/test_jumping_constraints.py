"""A residual that jumps: named by the tracer, by the run that stops there, and by the report of fixed steps."""

import numpy as np
import pytest

import dalembert as da


def gear() -> da.Model:
    """Two wheels whose angles are read by arctan2, which jumps at half a turn."""
    model = da.Model(gravity=(0, 0, 0))
    for name, x, w in (("a", 0.0, 20.0), ("b", 1.0, -10.0)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0), angular_velocity=(0, 0, w))
        model.add_revolute(f"hinge {name}", model.ground, name, point=(x, 0, 0), axis=(0, 0, 1))
    with pytest.warns(UserWarning, match="constraint 'gear' uses arctan2"):
        model.add_constraint("gear", lambda a, b: _angle(a) + 2 * _angle(b), ("a", "b"))
    return model


def _angle(body):
    return np.arctan2(body.R[1, 0], body.R[0, 0])


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [(da.Jet(), da.DOP853()), (da.Jet(), da.DormandPrince()), (da.MovingFrame(), da.DOP853()), (da.Jet(), da.GaussLegendre(3))],
    ids=["jet", "jet-dormand-prince", "moving-frame", "gauss"],
)
def test_the_run_stops_at_the_jump_and_names_the_row(formulation, integrator):
    with pytest.raises(da.SimulationError, match=r"residual of joint 'gear' jumps there to 6.28") as stopped:
        da.simulate(gear(), t_end=10.0, formulation=formulation, integrator=integrator)
    assert stopped.value.time == pytest.approx(np.pi / 20.0, abs=1e-8)  # ten steps at a tolerance of 1e-9
    angles = [stopped.value.solution.coordinate(f"hinge {name}") for name in "ab"]
    assert np.abs(angles[0] + 2 * angles[1]).max() < 1e-9  # nothing was teleported before


FIXED = {"rk4": da.RungeKutta4(step=0.01), "euler": da.SymplecticEuler(step=0.01), "radau": da.RadauIIA(2, step=0.01)}


@pytest.mark.parametrize("integrator", FIXED.values(), ids=FIXED)
def test_fixed_steps_leave_it_to_the_report(integrator):
    report = da.simulate(gear(), t_end=0.5, integrator=integrator).report()
    assert [line.name for line in report.failures] == ["largest projection"]
    assert report["largest projection"].data > 1.0  # the wheels were moved by more than they turned


@pytest.mark.parametrize("curve", ["midpoint", "verlet", "symplectic-euler"])
def test_variational_steps_leave_it_to_the_report(curve):
    """No projection ends such a step: what its velocities do not explain is what the jump moved."""
    run = {"formulation": da.Variational(curve=curve), "integrator": da.FixedStep(step=0.01)}
    report = da.simulate(gear(), t_end=0.5, **run).report()
    assert report["largest projection"].verdict == "FAIL"
    before = da.simulate(gear(), t_end=0.15, **run).report()
    assert "largest projection" not in [line.name for line in before.failures]


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-8])
def test_jumps_of_small_mechanisms_are_as_large(size):
    """A bead on a saw tooth: after half a turn of its phase the tooth is 0.4 lower, far below 1e-6 m for the small ones."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("bead", mass=1.0, position=(0, 0, 0), velocity=(size, 0, 0))
    with pytest.warns(UserWarning, match="uses arctan2"):
        model.add_constraint("saw", lambda bead: (_tooth(bead.r, size), bead.r[2]), "bead")
    steps = da.RungeKutta4(step=0.01)
    for way, integrator in ((da.Jet(), steps), (da.Impulse(), steps), (da.Variational(), da.FixedStep(step=0.01))):
        report = da.simulate(model, t_end=3.5, formulation=way, integrator=integrator).report()
        assert "largest projection" in [line.name for line in report.failures]
        before = da.simulate(model, t_end=3.0, formulation=way, integrator=integrator).report()
        assert "largest projection" not in [line.name for line in before.failures]
    if size > 1e-7:  # below, a tolerance of 1e-9 m is no more than a tenth of the jump
        with pytest.raises(da.SimulationError, match="residual of joint 'saw' jumps there"):
            da.simulate(model, t_end=3.5)


def _tooth(r, size):
    return r[1] - 0.2 * size * np.arctan2(np.sin(r[0] / size), np.cos(r[0] / size)) / np.pi


def test_smooth_constraints_project_little():
    model = da.Model()
    model.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_revolute("hinge", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    report = da.simulate(model, t_end=1.0, integrator=da.Euler(step=0.01)).report()
    assert report["largest projection"].verdict == "pass"
    assert "largest projection" not in {line.name for line in da.simulate(model, t_end=1.0).report().lines}


@pytest.mark.parametrize(("operation", "used"), [(np.abs, "abs"), (lambda x: np.arctan2(x, 1.0), "arctan2")])
def test_the_tracer_warns_of_what_is_not_smooth(operation, used):
    with pytest.warns(UserWarning, match=f"'rod' uses {used}, which is not smooth"):
        da.LagrangianSystem(lambda q, v: 0.5 * (v @ v), "x y", holonomic={"rod": lambda q: q.y + operation(q.x)})


def test_floor_and_comparisons_are_refused():
    for residual in (lambda q: np.floor(q.x), lambda q: q.x if q.x > 0 else q.y):
        with pytest.raises(da.ModelError, match="rod"):
            da.LagrangianSystem(lambda q, v: 0.5 * (v @ v), "x y", holonomic={"rod": residual})


def test_parameters_are_replaced_by_name():
    system = da.LagrangianSystem(
        lambda q, v, p: 0.5 * (v.x**2 + v.y**2), "x y", holonomic={"rod": lambda q, p: q.x**2 + q.y**2 - p.l**2},
        parameters={"l": 1.0}, initial={"x": 1.0},
    )  # fmt: skip
    assert system.replace(l=2.0).parameters["l"] == 2.0
    with pytest.raises(da.ModelError, match="there is no 'length'"):
        system.replace(length=2.0)

"""The report's checks run over every step, on scales of each connected part; what it cannot see is no pass."""

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.parts import connected_parts
from dalembert.results.moving import Moving


def double_pendulum(*, flywheel=False):
    model = da.Model()
    for k in range(2):
        model.add_body(f"b{k}", mass=1.0, inertia=(0.02, 0.08, 0.08), position=(0.5 + k, 0, 0))
    model.add_revolute("A", model.ground, "b0", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "b0", "b1", point=(1, 0, 0), axis=(0, 1, 0))
    if flywheel:
        model.add_body("fly", mass=100.0, inertia=(50.0, 50.0, 50.0), position=(0, 5, 0))
        model.add_revolute("F", model.ground, "fly", point=(0, 5, 0), axis=(0, 1, 0), rate=50.0)
    return model


def oscillator(amplitude, *, gravity=0.0, damping=0.0):
    """1 g on a spring of 0.1 N/m along x: angular frequency 10 rad/s."""
    model = da.Model(gravity=(0, 0, -gravity))
    model.add_body("p", mass=1e-3, inertia=(1e-7, 1e-7, 1e-7), position=(amplitude, 0, 0))
    model.add_prismatic("s", model.ground, "p", points=((0, 0, 0), (0, 0, 0)), axes=((1, 0, 0), (1, 0, 0)))
    model.add_joint_spring_damper("k", "s", stiffness=0.1, damping=damping)
    return model


def failures(solution):
    return [line.name for line in solution.report().failures]


@pytest.mark.parametrize("save_at", [(), (0.0,), (0.0, 0.1)])
def test_steps_between_saved_times_are_checked(save_at):
    """motion_11: saving nothing hides nothing."""
    options = {"integrator": da.Euler(step=0.01), "formulation": da.MovingFrame()}
    whole = da.simulate(double_pendulum(), 3.0, **options)
    some = da.simulate(double_pendulum(), 3.0, save_at=save_at, **options)
    assert len(some.t) == len(save_at)
    assert "energy balance" in failures(some)
    assert some.report()["energy balance"].data == pytest.approx(whole.report()["energy balance"].data, rel=1e-12)
    assert np.array_equal(some.steps.t, np.union1d(whole.t, save_at))


def test_steps_of_a_long_run_are_chosen_evenly():
    """3000 steps: at most 1024 beside the saved times, and no gap above four steps."""
    run = da.simulate(double_pendulum(), 3.0, integrator=da.RungeKutta4(step=0.001), save_at=[1.0])
    assert len(run.t) == 1
    assert 512 <= len(run.steps.t) <= 1026
    assert np.diff(run.steps.t).max() < 4.5e-3
    assert "states checked" in run.report()["status"].value


def test_steps_end_with_the_run_at_an_event():
    stop = da.Event(lambda state: state.time - 0.505, stop=True, name="stop")
    run = da.simulate(double_pendulum(), 3.0, integrator=da.RungeKutta4(step=0.01), save_at=[0.1, 2.0], events=stop)
    assert run.steps.t[-1] == run.t[-1] == pytest.approx(0.505)


def test_run_that_left_only_its_start_cannot_pass():
    run = da.simulate(double_pendulum(), 1.0, save_at=[0.0])
    assert failures(run) == []
    run.watched = None  # as after loading
    del run.__dict__["steps"]
    assert failures(run) == ["position drift", "velocity drift", "unit length error", "energy balance"]


@pytest.mark.parametrize("options", [{}, {"gravity": 9.81}, {"damping": 1e-4}])
def test_small_mechanism_is_measured_by_its_own_energy(options):
    """motion_10: 0.1 nm, far below atol, 150 % off; gravity across the slide changes nothing."""
    run = da.simulate(oscillator(1e-10, **options), 5.03)
    assert "energy balance" in failures(run)
    tight = da.DOP853(rtol=1e-9, atol=1e-20)
    assert failures(da.simulate(oscillator(1e-10, **options), 5.03, integrator=tight)) == []


def test_loaded_weld_at_rest_passes():
    """motion_10: 2e-18 J of rounding is no error."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_fixed("weld", model.ground, "b")
    model.add_force("f", "b", (1, 2, 3), point=(0.1, 0, 0), factor=da.Harmonic(1.0, 5.0))
    report = da.simulate(model, 0.5, integrator=da.DOP853(rtol=1e-11, atol=1e-11)).report()
    assert report.passed
    assert report["energy balance"].value == "nothing moves"


def test_flywheel_hides_nothing():
    """motion_12 (b): Euler's steps lose 19 % of the pendulum's energy and none of the wheel's."""
    options = {"integrator": da.Euler(step=0.01), "formulation": da.MovingFrame()}
    alone = da.simulate(double_pendulum(), 3.0, **options).report()
    beside = da.simulate(double_pendulum(flywheel=True), 3.0, **options).report()
    assert beside["energy balance"].verdict == "FAIL"
    assert beside["energy balance"].data == pytest.approx(alone["energy balance"].data, rel=1e-6)
    assert "'b0', 'b1'" in beside["energy balance"].value


def test_energies_of_parts_add_up():
    model = double_pendulum(flywheel=True)
    model.add_spring_damper("spring", "ground", "b1", points=((3, 0, 0), (0, 0, 0)), stiffness=20.0, length=0.5)
    model.add_joint_spring_damper("coil", "B", stiffness=3.0, reference=0.2)
    run = da.simulate(model, 1.0)
    parts = connected_parts(model)
    assert [part.bodies for part in parts] == [("b0", "b1"), ("fly",)]
    assert parts[0].elements == ("A", "B")
    assert parts[0].forces == ("spring", "coil")
    energies = [Moving(part, run).energy[0] for part in parts]
    for name in ("kinetic", "potential"):
        total = getattr(run.energy, name)
        assert np.allclose(sum(getattr(e, name) for e in energies), total, rtol=1e-13, atol=1e-13 * run.energy.scale)


def wheel():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("w", mass=1, inertia=(1, 1, 1))
    model.add_revolute("h", model.ground, "w", point=(0, 0, 0), axis=(0, 0, 1), rate=100.0)
    return model


def late(t):
    return np.array([-5.0 if t > 0.3 else 0.0, 0.0, 0.0])


def pushed():
    model = da.Model()
    model.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 0, 0))
    model.add_prismatic("s", model.ground, "b", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_force("f", "b", late)
    return model


def test_fixed_steps_are_compared_with_halves():
    """motion_12 (a), (c): a wheel turned by 133.9 instead of 100 rad, a force sampled late; energy is right in both."""
    for model, step, good in ((wheel(), 0.05, 0.002), (pushed(), 0.07, 0.001)):
        coarse = da.simulate(model, 1.0, integrator=da.RungeKutta4(step=step)).report()
        assert coarse["energy balance"].verdict == "pass"
        assert [line.name for line in coarse.failures] == ["error estimate"]
        fine = da.simulate(model, 1.0, integrator=da.RungeKutta4(step=good)).report()
        assert fine.passed
        assert fine.verdict == "pass"


def test_what_only_slides_has_no_spins_that_could_be_wrong():
    """A trolley that is pulled by its load: rounding turns it by 1e-16 rad/s, 0.2 of which was called an error."""
    model = da.Model()
    model.add_body("trolley", mass=3.0, inertia=(0.1, 0.1, 0.1))
    model.add_prismatic("rail", "trolley", model.ground, point=(0, 0, 0), axis=(1, 0, 0))
    model.add_point_mass("load", mass=1.0, position=(0.3, 0, -1))
    model.add_cable("rope", [("ground", (-2, 0, 0)), ("trolley", (0, 0, 0)), ("load", (0, 0, 0))])
    run = da.simulate(model, 1.2, formulation=da.Impulse(), integrator=da.RungeKutta4(step=1e-3))
    assert run.report()["error estimate"].verdict == "pass" and run.report()["error estimate"].data < 1e-6


@pytest.mark.parametrize("method", [da.Euler, da.Midpoint, da.RungeKutta4, da.SymplecticEuler])
def test_estimate_is_of_the_size_of_the_error(method):
    """A pendulum of small angles: the estimate sums local errors, the true error may partly cancel or add up."""
    model = da.Model()
    model.add_body("rod", mass=1.0, inertia=(0.01, 0.08, 0.08), position=(np.sin(0.3), 0, -np.cos(0.3)))
    model.add_revolute("A", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    exact = da.simulate(model, 2.0, integrator=da.DOP853(rtol=1e-12, atol=1e-12), save_at=[2.0])
    run = da.simulate(model, 2.0, integrator=method(step=0.01))
    error = np.linalg.norm(run.position("rod")[-1] - exact.position("rod")[-1])
    estimate = run.report()["error estimate"].data * np.trapezoid(np.linalg.norm(run.velocity("rod"), axis=1), run.t)
    assert 0.1 * error < estimate < 30 * error


def test_tolerance_above_the_motion_is_no_estimate():
    """0.1 um on a part of 0.1 um: atol = 1e-9 is 1 % of it and more."""
    model = da.Model(gravity=(0, 0, 0))
    for k in range(2):
        model.add_point_mass(f"p{k}", mass=1.0, position=(1e-7 * k, 0, 0))
    model.add_spring_damper("s", "p0", "p1", points=((0, 0, 0), (0, 0, 0)), stiffness=1.0, length=5e-8)
    line = da.simulate(model, 1.0).report()["error estimate"]
    assert line.verdict == "FAIL"
    assert "smaller atol" in line.value
    tight = da.simulate(model, 1.0, integrator=da.DOP853(atol=1e-16)).report()
    assert tight.passed
    assert tight.verdict == "pass"


def test_compliant_joints_have_no_estimate():
    soft = da.simulate(double_pendulum(), 0.1, formulation=da.Soft(), integrator=da.RungeKutta4(step=1e-4)).report()
    assert soft.passed
    assert soft.verdict == soft.to_dict()["verdict"] == "no inconsistency found"


@pytest.mark.parametrize("method", [da.SymplecticEuler(step=1e-3), da.RungeKutta4(step=1e-3)])
def test_compliant_joints_project_nothing(method):
    """A run from rest failed: its first step changed the coordinates by g h^2, "inf of its own change"."""
    run = da.simulate(double_pendulum(), 0.2, formulation=da.Soft(), integrator=method)
    assert failures(run) == [] and run.report().verdict == "no inconsistency found"


def test_limits_do_not_grow_with_a_divergence():
    """Velocities of 1e73 with a drift of 1e63: no limit follows them."""
    run = da.simulate(double_pendulum(), 0.5)
    x = run.x.copy()
    x[-1, run.mechanism.nq : run.mechanism.nq + run.mechanism.nu] *= 1e73
    x[-1, : run.mechanism.nq] *= 1e30
    claimed = type(run)(run.mechanism, run.t, x, settings=run.settings)
    assert {"position drift", "velocity drift", "energy balance"} <= set(failures(claimed))
    assert float(claimed.report()["velocity drift"].limit) < 2e-6  # 1e-6 of the part's size


def test_failed_run_has_no_passes():
    model = double_pendulum()
    model.add_force("gust", "b1", lambda t: (np.nan if t > 0.5 else 0.0, 0.0, 0.0))
    with pytest.raises(da.SimulationError) as caught:
        da.simulate(model, 1.0)
    report = caught.value.solution.report()
    assert {line.verdict for line in report.lines} == {"FAIL", "note"}
    assert report.verdict == "FAIL"


def test_rounding_of_far_away_is_no_drift():
    """At 1e7 m a coordinate is known to 2e-9 m."""
    model = da.Model()
    model.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1e7 + 1, 0, 0))
    model.add_revolute("A", model.ground, "b", point=(1e7, 0, 0), axis=(0, 1, 0))
    run = da.simulate(model, 1.0, integrator=da.DOP853(rtol=1e-14, atol=1e-9))
    assert run.report()["position drift"].verdict == "pass"
    assert float(run.report()["position drift"].limit) > 1e-9


def loaded(mass, force, *, free=False) -> da.Model:
    """A driven four-bar against a load;  free : with a pendulum on it"""
    A, B, C, D = (0, 0), (0, 0.1), (0.35, 0.25), (0.3, 0)
    model = da.Model(plane="xz")
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        model.add_link(name, start, end, mass=mass)
    pins = [
        ("A", "ground", "crank", A),
        ("B", "crank", "coupler", B),
        ("C", "coupler", "rocker", C),
        ("D", "ground", "rocker", D),
    ]
    if free:
        model.add_link("bob", C, (0.35, 0.1), mass=mass)
        pins.append(("E", "rocker", "bob", C))
    for name, first, second, point in pins:
        model.add_revolute(name, first, second, point=point)
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    model.add_force("load", "coupler", (0, -force), at=C)
    return model


@pytest.mark.parametrize(("mass", "force"), [(1e-9, 10.0), (1e-3, 1000.0), (0.5, 2e5)])
def test_light_bodies_between_a_load_and_a_motor(mass, force):
    """All is prescribed: errors are those of the work that the motor does against the load, not of what is in the motion."""
    run = da.simulate(loaded(mass, force), 1.0)
    line = run.report()["energy balance"]
    assert run.report().headline == "trusted"
    work = force * np.ptp(run(np.linspace(0.0, 1.0, 201)).effort("load").point[:, 2])
    assert line.data < 1e-8
    assert float(line.value.split()[2]) == pytest.approx(work, rel=0.05)  # by steps
    run.x[:, run.mechanism.nq + run.mechanism.nu] += 1e-4 * force * run.t  # work that nobody did
    assert failures(da.Solution(run.mechanism, run.t, run.x, settings=run.settings)) == ["energy balance"]


def test_of_light_bodies_that_are_free_the_masses_are_named_first():
    line = da.simulate(loaded(1e-9, 10.0, free=True), 1.0).report()["energy balance"]
    assert line.verdict == "FAIL"  # of the bob nobody can tell
    words = "see that masses are not too small (the least is 1e-09 kg, of 'crank'): forces do 0.335 J of work that others take"
    assert line.advice.startswith(words) and "no rtol mends that" in line.advice
    coarse = da.simulate(loaded(0.5, 10.0, free=True), 1.0, integrator=da.Euler(step=0.01)).report()["energy balance"]
    assert coarse.verdict == "FAIL" and coarse.advice.startswith("take steps shorter than 0.01 s")


def test_joints_that_give_way_have_a_motion_of_their_own():
    """Light bodies between soft joints shake by 1e9 m/s^2, and what the motor supplies is percents off."""
    run = da.simulate(loaded(1e-8, 1000.0), 0.5, formulation=da.Soft(), integrator=da.Euler(step=0.002))
    assert np.abs(run.acceleration("coupler")).max() > 1e6
    assert failures(run) == ["energy balance"]

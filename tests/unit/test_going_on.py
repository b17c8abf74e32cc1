"""Going on: a run continued is the unbroken run, stored ones too; starts at other states and times; runs put together."""

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError, StoreError

METHODS = {
    "jet": (da.Jet(), da.RungeKutta4(step=0.01)),
    "gauss": (da.Jet(), da.GaussLegendre(2, step=0.01)),
    "radau": (da.Jet(), da.RadauIIA(2, step=0.01)),
    "moving frame": (da.MovingFrame(), da.RungeKutta4(step=0.01)),
    "minimal": (da.Minimal(), da.RungeKutta4(step=0.01)),
    "minimal joints": (da.Minimal(velocities="joints"), da.RungeKutta4(step=0.01)),
    "impulse": (da.Impulse(), da.RungeKutta4(step=0.01)),
    "soft": (da.Soft(), da.Euler(step=0.001)),
    "variational": (da.Variational(), da.FixedStep(step=0.01)),
}


def pendulum(mass: float = 1.0, *, name: str = "a") -> da.Model:
    """Two rods that swing in different planes."""
    model = da.Model(name="double pendulum")
    for body, x, axis in ((name, 0.5, (0, 1, 0)), ("b", 1.5, (0, 1, 1))):
        model.add_body(body, **da.rod(mass, 1.0, axis="x", radius=0.02).body(), position=(x, 0, 0))
        first = model.ground if body == name else name
        model.add_revolute(f"{body}0", first, body, point=(x - 0.5, 0, 0), axis=axis)
    return model


@pytest.mark.parametrize("stored", [False, True], ids=["at once", "stored"])
@pytest.mark.parametrize("name", METHODS)
def test_going_on_is_the_unbroken_run_bit_for_bit(tmp_path, name, stored):
    formulation, integrator = METHODS[name]
    half = 3 * integrator.step
    whole = da.simulate(pendulum(), 2 * half, formulation=formulation, integrator=integrator)
    first = da.simulate(pendulum(), half, formulation=formulation, integrator=integrator)
    if stored:
        first.save(tmp_path / "first.zarr")
        first = da.load(tmp_path / "first.zarr")
    joined = da.concatenate([first, da.simulate(first, 2 * half)])
    assert np.array_equal(joined.t, whole.t) and np.array_equal(joined.x, whole.x)


def test_stiff_runs_go_on_with_their_jacobians(tmp_path):
    """More than 400 columns until the first run ends: it had asked for exact ones, and so does the one that goes on."""
    model, run = pendulum(), {"integrator": da.RadauIIA(2, step=0.02)}
    model.add_spring_damper("spring", model.ground, "b", between=((1.0, 0, 0.7), (1.5, 0, 0)), stiffness=3e4, damping=3.0)
    whole, first = da.simulate(model, 2.0, **run), da.simulate(model, 1.0, **run)
    assert first.statistics.stage_jacobians * 26 > 400
    first.save(tmp_path / "first.zarr")
    for start in (first, da.load(tmp_path / "first.zarr")):
        later = da.simulate(start, 2.0)
        assert np.array_equal(later.x, whole.x[len(first.t) - 1 :])
        assert first.statistics.stage_jacobians + later.statistics.stage_jacobians == whole.statistics.stage_jacobians


@pytest.mark.parametrize("name", ["moving frame", "minimal joints"])
def test_quaternions_go_on_with_their_signs_after_more_than_half_a_turn(name):
    formulation, integrator = METHODS[name]
    model = pendulum()
    model.replace("a0", rate=25.0)  # 5 rad until the first run ends
    whole = da.simulate(model, 0.4, formulation=formulation, integrator=integrator)
    first = da.simulate(model, 0.2, formulation=formulation, integrator=integrator)
    assert np.array_equal(da.concatenate([first, da.simulate(first, 0.4)]).x, whole.x)


def test_what_memory_is_for(tmp_path):
    """Without what the file holds of the end, the basis of Minimal is found anew: other bits."""
    formulation, integrator = METHODS["minimal"]
    whole = da.simulate(pendulum(), 0.06, formulation=formulation, integrator=integrator)
    first = da.simulate(pendulum(), 0.03, formulation=formulation, integrator=integrator)
    first.ending = None
    later = da.simulate(first, 0.06)
    assert not np.array_equal(later.minimal.basis[-1], whole.minimal.basis[-1])
    assert np.allclose(later.x[-1], whole.x[-1], rtol=0.0, atol=1e-12)


def test_adaptive_run_goes_on_to_its_tolerance_with_counted_angles_and_work():
    model = da.Model()
    model.add_body("wheel", mass=1.0, inertia=(1, 1, 0.5))
    model.add_revolute("hub", model.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1), rate=40.0)
    model.add_motor("motor", "hub", da.Harmonic(3.0, omega=5.0))
    whole = da.simulate(model, 0.5, save_at=[0.5])
    first = da.simulate(model, 0.2, save_at=[0.1])  # ends after its last saved state
    later = da.simulate(first, 0.5, save_at=[0.3, 0.5])
    assert later.begin_time == 0.2 and later.t.tolist() == [0.3, 0.5]
    assert later.coordinate("hub")[-1] > 2 * np.pi and np.allclose(later.x[-1], whole.x[-1], rtol=0.0, atol=1e-7)
    assert np.isclose(later.energy.external_work[-1], whole.energy.external_work[-1], rtol=0.0, atol=1e-7)
    assert later.report().passed
    assert da.concatenate([first, later]).t.tolist() == [0.1, 0.3, 0.5]


def test_going_on_with_another_method_starts_from_the_state():
    first = da.simulate(pendulum(), 0.03, integrator=da.RungeKutta4(step=0.01))
    later = da.simulate(first, 0.05, formulation=da.MovingFrame(), integrator=da.DormandPrince(step=0.01))
    assert later.settings["formulation"]["type"] == "MovingFrame" and later.t[0] == first.t[-1]
    assert np.allclose(later.x[0], first.x[-1], rtol=0.0, atol=1e-14)


def test_going_on_after_an_event_and_with_kept_energy():
    """A run that an event stopped goes on from there; the energy that is kept is that of the first run, work included."""
    event = da.Event(lambda s: s.coordinate("a0") - 0.001, stop=True)
    jet = da.Jet(invariants="energy")
    first = da.simulate(pendulum(), 0.1, formulation=jet, integrator=da.RungeKutta4(step=0.01), events=event)
    later = da.simulate(first, 0.05)
    assert first.status == "event" and later.t[0] == first.t[-1]
    assert np.isclose(later.t[1], 0.01 * np.ceil(later.t[0] / 0.01))  # on the grid of the first run
    total = da.concatenate([first, later]).energy.total
    assert np.ptp(total) < 1e-12 * 10  # kept to 1e-13 of the energy


def test_parts_that_go_on_balance_with_the_work_of_the_run_before():
    """A wheel that spins freely beside a mass that is pushed: their energies are compared one by one."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    model.add_point_mass("mass", mass=1.0, position=(1, 0, 0))
    model.add_force("push", "mass", (0, 3.0, 0))
    first = da.simulate(model, 0.2)
    later = da.simulate(first, 0.4)
    assert later.energy.external_work[0] > 0.1 and later.report()["energy balance"].verdict == "pass"


def test_start_at_a_state_of_another_run_and_at_another_time():
    light = da.simulate(pendulum(), 0.04, integrator=da.RungeKutta4(step=0.01))
    state = light(0.035)
    heavy = da.simulate(pendulum(3.0), 0.06, initial=state, integrator=da.RungeKutta4(step=0.01))
    assert heavy.t[0] == 0.035 and np.allclose(heavy.q[0], state.x[0, : heavy.q.shape[1]], rtol=0.0, atol=1e-12)
    assert heavy.energy.external_work[0] == 0.0 and heavy.report().passed
    moved = da.simulate(pendulum(3.0), 0.06, initial=state, t_start=0.0, integrator=da.RungeKutta4(step=0.01))
    assert moved.t[0] == 0.0 and np.array_equal(moved.x[0], heavy.x[0])


def test_drivers_begin_at_the_start(tmp_path):
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    model.add_revolute("hub", model.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "hub", lambda t: 0.3 * t**2)
    late = da.simulate(model, 2.05, t_start=2.0, integrator=da.RungeKutta4(step=0.01))
    assert np.allclose(late.coordinate("hub"), 0.3 * late.t**2, rtol=0.0, atol=1e-11)
    assert np.allclose(late.coordinate_rate("hub"), 0.6 * late.t, rtol=0.0, atol=1e-11)
    assert late.t[0] == 2.0 and late.report().passed
    late.save(tmp_path / "late.zarr")
    again = da.load(tmp_path / "late.zarr", model=model)
    assert again.begin_time == 2.0 and np.array_equal(again.x, late.x) and again.mechanism.t_0 == 2.0


def test_joined_outputs_are_those_of_the_unbroken_run():
    integrator = da.RungeKutta4(step=0.01)
    whole = da.simulate(pendulum(), 0.06, integrator=integrator)
    first = da.simulate(pendulum(), 0.03, integrator=integrator)
    joined = da.concatenate([first, da.simulate(first, 0.06)])
    for output in (
        lambda s: s.position("b"),
        lambda s: s.reaction("b0").force,
        lambda s: s.reaction("b0", "a").force,
        lambda s: s.multiplier("a0"),
        lambda s: s.acceleration("b"),
        lambda s: s.energy.total,
        lambda s: s.drift.by_joint("b0").position,
        lambda s: s(0.045).x,
    ):
        assert np.array_equal(output(joined), output(whole))
    report = joined.report()
    assert report.passed and joined.statistics.accepted == 6 and len(joined.pieces) == 2
    assert "worst of 2 pieces" in report["position drift"].value
    assert joined.to_xarray().sizes["time"] == 7


def test_pieces_of_different_models_are_told():
    """Their states meet, their energies do not."""
    integrator = da.RungeKutta4(step=0.01)
    light = da.simulate(pendulum(), 0.03, integrator=integrator)
    other = pendulum()
    other.add_spring_damper("spring", other.ground, "b", points=((0, 0, 1), (0, 0, 0)), stiffness=10.0, length=0.1)
    sprung = da.simulate(other, 0.06, initial=light(0.03), integrator=integrator)
    line = da.concatenate([light, sprung]).report()["energy between pieces"]
    assert line.verdict == "WARN" and "at t = 0.03 s, and no event did it" in line.value
    same = da.concatenate([light, da.simulate(light, 0.06)]).report()
    assert "energy between pieces" not in [line.name for line in same.lines]


def test_laws_are_looked_at_where_the_run_starts():
    """log(t) is not finite at t = 0, where this run never is."""
    model = pendulum()
    model.add_motor("late", "a0", lambda t, s, s_dot: np.log(t))
    assert da.simulate(model, 1.01, t_start=1.0, integrator=da.RungeKutta4(step=0.01)).effort("late").value[0] == 0.0


def _other_place() -> da.Solution:
    model = da.Model()
    model.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(9.0, 0, 0))
    model.add_body("b", mass=1.0, inertia=(1, 1, 1))
    return da.simulate(model, 0.02, t_start=0.01, integrator=da.Euler(step=0.01))


def _driven() -> da.Model:
    model = pendulum()
    model.add_driver("motor", "a0", da.Harmonic(0.3, 2 * np.pi))
    return model


def test_drivers_start_late_as_long_as_times_are_fine_enough():
    """At t = 1e6 s numbers are 1e-10 s apart: the same motion as from t = 0, the energy balance holds."""
    late = da.simulate(_driven(), 1e6 + 1, t_start=1e6, save_at=[1e6 + 1])
    assert late.report().passed
    early = da.simulate(_driven(), 1.0, save_at=[1.0])
    np.testing.assert_allclose(late.position("b"), early.position("b"), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda s: da.simulate(s, 0.005), r"t_end is 0.005; give a time after the start of the run, t = 0.01 s"),
        (lambda s: da.simulate(pendulum(), 1.0, t_start=1.0), "t_end is 1; give a time after the start of the run, t = 1 s"),
        (lambda s: da.simulate(s, 1.0, t_start=0.5), "t_start is 0.5, but a run goes on as it is, from its end"),
        (lambda s: da.simulate(s, 1.0, coordinates="planar"), "coordinates is 'planar', but a run goes on as it is"),
        (lambda s: da.simulate(pendulum(), 1.0, initial=s), r"initial is <Solution .*; give one state of a solution"),
        (lambda s: da.simulate(pendulum(), 1.0, initial=0.5), r"initial is 0.5; give one state of a solution, solution\(t\)"),
        (
            lambda s: da.simulate(pendulum(name="c"), 1.0, initial=s(0.01)),
            "initial is a state of another model: its bodies are",
        ),
        (lambda s: da.simulate(pendulum(), 1.0, initial=s(0.01), coordinates="planar"), "coordinates"),
        (lambda s: da.concatenate([s, s]), r"concatenate: a run ends at t = 0.01 s and the next starts at 0 s"),
        (
            lambda s: da.concatenate([s, _other_place()]),
            r"concatenate: at t = 0.01 s a run ends elsewhere than the next starts",
        ),
        (lambda s: da.concatenate([]), "concatenate got"),
        (lambda s: da.concatenate([s, 3]), "concatenate got"),
        (lambda s: da.simulate(s.mechanism, 1.0, t_start=0.5), "was compiled for t = 0; give the model"),
        (lambda s: da.simulate(pendulum(), 1.0, t_start=np.nan), "t_start is nan"),
        (
            lambda s: da.simulate(pendulum(), 1.7e9 + 1, t_start=1.7e9, integrator=da.RungeKutta4(step=1e-3)),
            r"RungeKutta4: step is 0.001 s, but numbers at t = 1.7e\+09 s are 2e-07 s apart; start at t = 0",
        ),
        (
            lambda s: da.simulate(_driven(), 1.7e9 + 1, t_start=1.7e9),
            r"DOP853: numbers at t = 1.7e\+09 s are 2e-07 s apart, and 'motor' moves by 4e-07 in between, .*; start at t = 0",
        ),
    ],
)
def test_messages(act, message):
    run = da.simulate(pendulum(), 0.01, integrator=da.Euler(step=0.01))
    with pytest.raises(ModelError, match=message):
        act(run)


def test_pieces_are_stored_one_by_one(tmp_path):
    first = da.simulate(pendulum(), 0.02, integrator=da.Euler(step=0.01))
    joined = da.concatenate([first, da.simulate(first, 0.04)])
    with pytest.raises(StoreError, match=r"2 pieces .* save each of solution\.pieces"):
        joined.save(tmp_path / "run.zarr")
    for k, piece in enumerate(joined.pieces):
        piece.save(tmp_path / f"{k}.zarr")
    again = da.concatenate([da.load(tmp_path / f"{k}.zarr") for k in range(2)])
    assert np.array_equal(again.x, joined.x)

"""What every formulation with every integrator promises; new rows of the registries are covered by themselves."""

import dataclasses
import itertools
import math
import re
from importlib import resources

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS
from dalembert.run.settings import from_data, to_data

STEP = 1 / 128  # exact in binary, so that step ends are too
PAIRS = [
    (formulation, integrator)
    for formulation, integrator in itertools.product(FORMULATIONS, INTEGRATORS)
    if "absolute" in FORMULATIONS[formulation].coordinates
    and FORMULATIONS[formulation]().takes(INTEGRATORS[integrator](step=STEP)) is None
]
ADAPTIVE = [name for name, cls in INTEGRATORS.items() if cls.estimates_error]
FIXED = [name for name in INTEGRATORS if name not in ADAPTIVE]

every_pair = pytest.mark.parametrize(("formulation", "integrator"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
every_integrator = pytest.mark.parametrize("name", INTEGRATORS)


def small_model():
    """A rigid body on a ball joint with a point mass hanging from it: five degrees of freedom, all spatial."""
    model = da.Model()
    arm = model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5, 0, 0), angular_velocity=(0, 0, 1.0))
    bob = model.add_point_mass("bob", mass=0.5, position=(1.0, 0, -0.4))
    model.add_spherical("pivot", model.ground, arm, point=(0, 0, 0))
    model.add_distance("string", arm, bob, points=((0.5, 0, 0), (0, 0, 0)))
    return model


def simulate(formulation, integrator, t_end=0.5, **options):
    return da.simulate(
        small_model(),
        t_end,
        formulation=FORMULATIONS[formulation](),
        integrator=INTEGRATORS[integrator](step=STEP),
        **options,
    )


@every_pair
def test_runs_to_the_end_exactly(formulation, integrator):
    for t_end in (0.5, 0.3, math.pi / 10, 1e-3):
        solution = simulate(formulation, integrator, t_end)
        assert solution.status == "complete"
        assert solution.t[0] == 0.0
        assert solution.t[-1] == t_end
        assert np.all(np.diff(solution.t) > 0)
        assert np.isfinite(solution.x).all()
        assert len(solution.t) == solution.statistics.accepted + 1
        if not FORMULATIONS[formulation].compliant:  # joints give way, by what they carry over the default stiffness of 1e8 N/m
            assert solution.drift.position.max() <= 1.1e-11  # the default projection tolerance
            assert solution.drift.velocity.max() <= 1.1e-11


@every_pair
def test_saves_at_the_given_times_exactly(formulation, integrator):
    times = np.array([0.0, 1e-9, 0.1, 0.1 + 1e-12, 0.25, 1 / 3, 0.5])
    solution = simulate(formulation, integrator, save_at=times)
    np.testing.assert_array_equal(solution.t, times)
    dense = simulate(formulation, integrator)
    both = np.isin(dense.t, times)
    assert both.sum() == 3
    np.testing.assert_array_equal(dense.x[both], solution.x[np.isin(times, dense.t)])  # saving changes no step
    np.testing.assert_array_equal(simulate(formulation, integrator, save_at=0.2).t, [0.2])


@every_pair
def test_is_deterministic(formulation, integrator):
    first, second = simulate(formulation, integrator), simulate(formulation, integrator)
    np.testing.assert_array_equal(first.t, second.t)
    np.testing.assert_array_equal(first.x, second.x)
    assert dataclasses.replace(first.statistics, time={}) == dataclasses.replace(second.statistics, time={})


@every_pair
def test_callable_solution_meets_saved_states(formulation, integrator):
    solution = simulate(formulation, integrator)
    state = solution(float(solution.t[7]))
    np.testing.assert_array_equal(state.q[0], solution.q[7])
    assert state.time == solution.t[7]
    middle = solution(np.array([0.1, 0.2]))
    assert middle.position("bob").shape == (2, 3)
    with pytest.raises(da.SimulationError, match=r"the run covers t = 0 to 0\.5 s"):
        solution(0.6)


@every_pair
def test_settings_and_citations_travel_with_the_solution(formulation, integrator):
    solution = simulate(formulation, integrator)
    assert from_data(solution.settings["formulation"], FORMULATIONS) == solution.formulation
    assert from_data(solution.settings["integrator"], INTEGRATORS) == solution.integrator
    assert set(solution.formulation.citations) | set(solution.integrator.citations) == set(solution.citations)
    assert solution.settings["t_end"] == 0.5


@pytest.mark.parametrize("name", [name for name in ADAPTIVE if not INTEGRATORS[name].implicit])
def test_after_a_smaller_step_none_is_larger_than_the_one_before(name):
    h = np.diff(da.simulate(small_model(), 10.0, integrator=INTEGRATORS[name](rtol=1e-6, atol=1e-6)).t)
    smaller = h[1:-1] < h[:-2] * (1 - 1e-9)
    assert smaller.sum() > 5
    assert (h[2:][smaller] <= h[:-2][smaller] * (1 + 1e-9)).all()


@pytest.mark.parametrize("name", ADAPTIVE)
def test_adaptive_runs(name):
    cls = INTEGRATORS[name]
    loose, tight = (
        da.simulate(small_model(), 0.5, integrator=cls(rtol=tolerance, atol=tolerance)) for tolerance in (1e-5, 1e-10)
    )
    assert loose.t[-1] == tight.t[-1] == 0.5
    assert loose.statistics.accepted < tight.statistics.accepted
    bounded = da.simulate(small_model(), 0.5, integrator=cls(rtol=1e-5, atol=1e-5, max_step=0.01))
    assert np.diff(bounded.t).max() <= 0.01 * (1 + 1e-9)
    started = da.simulate(small_model(), 0.5, integrator=cls(rtol=1e-5, atol=1e-5, first_step=1e-4))
    assert started.t[1] == 1e-4
    np.testing.assert_array_equal(
        da.simulate(small_model(), 0.5, integrator=cls()).x, da.simulate(small_model(), 0.5, integrator=cls()).x
    )


@pytest.mark.parametrize("name", FIXED)
def test_methods_without_error_estimate_need_a_step(name):
    cls = INTEGRATORS[name]
    text = f"{cls.__name__} has no error estimate: give a step size, {cls.__name__}(step=...)"
    with pytest.raises(ModelError, match=re.escape(text)):
        cls()


@every_integrator
@pytest.mark.parametrize("option", ["step", "first_step", "max_step", "rtol", "atol", "safety", "factor_min"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_integrator_options_are_checked(name, option, value):
    cls = INTEGRATORS[name]
    with pytest.raises(ModelError, match=f"{cls.__name__}: {option} is .*; give a positive number"):
        cls(**{"step": 0.1, option: value})


@every_integrator
def test_largest_growth_is_checked(name):
    with pytest.raises(ModelError, match=r"factor_max is 1\.0; give a number above 1"):
        INTEGRATORS[name](step=0.1, factor_max=1.0)


@pytest.mark.parametrize("option", ["projection", "stages", "metric", "solver"])
def test_jet_words_are_checked(option):
    with pytest.raises(ModelError, match=f"Jet: {option} is 'wrong'; give one of"):
        da.Jet(**{option: "wrong"})


@pytest.mark.parametrize("option", ["tolerance", "velocity_tolerance", "invariant_tolerance", "max_newton"])
def test_jet_numbers_are_checked(option):
    for value in (0, -1.0, math.nan):
        with pytest.raises(ModelError, match=f"Jet: {option} is .*; give a positive number"):
            da.Jet(**{option: value})


KEEPING = [
    (name, coordinates)
    for name, cls in FORMULATIONS.items()
    for coordinates in cls.coordinates
    if "invariants" in {field.name for field in dataclasses.fields(cls)} and coordinates != "generalised"
]


@pytest.mark.parametrize(("name", "coordinates"), KEEPING, ids=["-".join(pair) for pair in KEEPING])
def test_energy_is_kept_in_all_coordinates(name, coordinates):
    """By loose steps that lose it by far more, round a loop, and the same motion to their tolerance."""
    model, loose = da.gallery.build("planar_quadrangle"), da.DormandPrince(rtol=1e-5, atol=1e-5)
    runs = [
        da.simulate(model, 0.3, formulation=FORMULATIONS[name](invariants=kept), integrator=loose, coordinates=coordinates)
        for kept in (None, "energy")
    ]
    free, kept = (np.ptp(run.energy.total) / run.energy.scale for run in runs)
    assert free > 1e-10 and kept <= 1e-12
    assert np.abs(runs[1].position("rocker")[-1] - runs[0].position("rocker")[-1]).max() <= 1e-3


def test_jet_invariants_are_checked():
    with pytest.raises(ModelError, match="Jet: invariants is 'momentum'; give None, 'energy' or a list of functions"):
        da.Jet(invariants="momentum")
    with pytest.raises(ModelError, match=r"Jet: invariants holds 3\.0; give functions f\(t, q, u\)"):
        da.Jet(invariants=[3.0])
    with pytest.raises(ModelError, match=r"give functions f\(t, q, u\)"):
        da.Jet(invariants=[lambda q: 0.0])


def options_of(cls):
    """The defaults, and a case with every plain option changed."""
    fixed = {"step": 0.1} if dataclasses.fields(cls)[0].name == "step" else {}
    yield cls(**fixed)
    changed = {f.name: 0.25 for f in dataclasses.fields(cls) if f.type in ("float", "float | None") and "factor" not in f.name}
    yield cls(**(fixed | changed))


@pytest.mark.parametrize("cls", [*FORMULATIONS.values(), *INTEGRATORS.values()], ids=lambda cls: cls.__name__)
def test_options_rebuild_from_repr_and_from_data(cls):
    for options in options_of(cls):
        assert eval(repr(options), {cls.__name__: cls, "inf": math.inf}) == options
        assert from_data(to_data(options), FORMULATIONS | INTEGRATORS) == options
        with pytest.raises(dataclasses.FrozenInstanceError):
            options.__setattr__(dataclasses.fields(cls)[0].name, None)
        with pytest.raises((TypeError, ModelError)):
            cls(0.1)  # options are keyword-only, but for the number of stages


def test_pairs_without_meaning_are_refused():
    explicit = "Euler, Midpoint, RungeKutta4, DormandPrince"
    others = "DOP853, GaussLegendre, RadauIIA, SymplecticEuler or StoermerVerlet"
    text = (
        f"Jet, MovingFrame or Minimal with {explicit}, {others};"
        f" Impulse or Soft with {explicit}, DOP853, SymplecticEuler or StoermerVerlet of fixed step; Variational with FixedStep"
    )
    with pytest.raises(ModelError, match=rf"is 'jet'; give an object, as formulation=da\.Jet\(\); there are {text}"):
        da.simulate(small_model(), 1.0, formulation="jet")
    with pytest.raises(ModelError, match=f"Jet with the class DOP853 itself has no meaning; pairs that do: {text}"):
        da.simulate(small_model(), 1.0, integrator=da.DOP853)
    with pytest.raises(ModelError, match=f"Impulse with GaussLegendre has no meaning; pairs that do: {text}"):
        da.simulate(small_model(), 1.0, formulation=da.Impulse(), integrator=da.GaussLegendre(step=STEP))
    with pytest.raises(ModelError, match=f"Jet with FixedStep has no meaning; pairs that do: {text}"):
        da.simulate(small_model(), 1.0, integrator=da.FixedStep(step=STEP))
    with pytest.raises(ModelError, match=f"Variational with DOP853 has no meaning; pairs that do: {text}"):
        da.simulate(small_model(), 1.0, formulation=da.Variational())
    for options, words in (
        ({"curve": "rk4"}, "curve 'rk4' is for Lagrangian systems; bodies take symplectic-euler, midpoint, verlet"),
        ({"constraint_curve": "flow"}, "constraint_curve is for Lagrangian systems; bodies have their own, leave it out"),
    ):
        with pytest.raises(ModelError, match=f"Variational: {words}"):
            da.simulate(small_model(), 1.0, formulation=da.Variational(**options), integrator=da.FixedStep(step=STEP))


@pytest.mark.parametrize("name", [name for name, cls in FORMULATIONS.items() if cls.steps == "explicit"])
def test_velocity_level_needs_a_fixed_step(name):
    cls = FORMULATIONS[name]
    text = f"{cls.__name__} corrects velocities once per step, .*: give a step size, DOP853\\(step=...\\)"
    with pytest.raises(ModelError, match=text):
        da.simulate(small_model(), 1.0, formulation=cls())


@pytest.mark.parametrize("option", ["tau", "tolerance", "max_newton"])
def test_impulse_options_are_checked(option):
    for value in (0, -1.0, math.nan):
        with pytest.raises(ModelError, match=f"Impulse: {option} is .*; give a positive number"):
            da.Impulse(**{option: value})
    with pytest.raises(ModelError, match="Impulse: stabilisation is 'wrong'; give 'projection', 'baumgarte' or None"):
        da.Impulse(stabilisation="wrong")
    with pytest.raises(ModelError, match="Impulse: metric is 'wrong'; give one of euclidean, mass"):
        da.Impulse(metric="wrong")


def test_soft_gains_are_checked():
    for value in (-1.0, math.nan, math.inf, "stiff", True):
        with pytest.raises(ModelError, match=r"Soft: stiffness is .*; give a finite number that is not negative"):
            da.Soft(stiffness=value)
        with pytest.raises(ModelError, match=r"Soft: damping of 'pivot' is .*; give a finite number"):
            da.Soft(damping={"pivot": value})
    for options, text in (
        ({"stiffness": {"pivit": 1e6}}, "Soft: stiffness names 'pivit'; did you mean 'pivot'"),
        ({"stiffness": {"string": 0.0}}, r"Soft: 'string.*' has neither stiffness nor damping"),
    ):
        with pytest.raises(ModelError, match=text):
            da.simulate(small_model(), 1.0, formulation=da.Soft(**options), integrator=da.RungeKutta4(step=STEP))


def test_states_hold_no_dust():
    """Of a plane mechanism in space, what projections leave out of its plane would become subnormal: ten times slower."""
    model = da.Model.from_yaml(resources.files("dalembert") / "model/file/starter.yaml")
    size = np.abs(da.simulate(model, 2.0, integrator=da.DOP853(rtol=1e-6, atol=1e-6)).x)
    assert not ((size > 0) & (size < 1e-100)).any()

"""Runs that break down say what, when and where, and hand over what they computed; options that must not change the motion."""

import json
import re
import warnings

import numpy as np
import pytest
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert import gallery

RK4 = da.RungeKutta4(step=0.01)
both_steps = pytest.mark.parametrize("integrator", [da.DOP853(), RK4], ids=["adaptive", "fixed"])


def pushed(function, second=None):
    model = da.Model()
    body = model.add_body("body", mass=1.0, inertia=(1, 1, 1))
    model.add_spherical("pivot", model.ground, body, point=(1, 0, 0))
    model.add_force("push", body, function)
    if second is not None:
        model.add_torque("twist", body, second, frame="body")
    return model


def check_partial(error, until):
    """The solution up to the failure, usable."""
    assert error.time == pytest.approx(until, abs=0.2)
    assert error.time <= until
    solution = error.solution
    assert solution.status == "failed"
    assert solution.message == str(error)
    assert len(solution.t) > 1
    assert solution.t[-1] == error.time
    assert np.isfinite(solution.x).all()
    assert solution.drift.position.max() <= 1.1e-11
    assert solution.statistics.accepted == len(solution.t) - 1


def nan_after_half(t):
    return 0.0, 0.0, np.nan if t > 0.5 else 1.0


def raise_after_half(t):
    if t > 0.5:
        raise ValueError("out of fuel")
    return 0.0, 0.0, 1.0


def raise_after_half_in_python(t):
    json.dumps({})  # cannot be compiled
    return raise_after_half(t)


def nothing(t):
    return 0.0, 0.0, 0.0


@both_steps
def test_user_force_that_returns_nan(integrator):
    text = r"accelerations are not finite \(NaN or infinite\) at t = 0\.\d+ s; check what you wrote for 'push'"
    with pytest.raises(da.SimulationError, match=text) as caught:
        da.simulate(pushed(nan_after_half), 1.0, integrator=integrator)
    check_partial(caught.value, 0.5)


@pytest.mark.filterwarnings("ignore::dalembert.compilation.callbacks.SlowFunctionWarning")
@both_steps
@pytest.mark.parametrize("function", [raise_after_half, raise_after_half_in_python], ids=["compiled", "plain"])
def test_user_force_that_raises(integrator, function):
    text = r"user function 'push' raised ValueError\('out of fuel'\) at t = 0\.\d+ s"
    with pytest.raises(da.SimulationError, match=text) as caught:
        da.simulate(pushed(function), 1.0, integrator=integrator)
    check_partial(caught.value, 0.5)
    assert isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize(("functions", "name"), [((raise_after_half, nothing), "push"), ((nothing, raise_after_half), "twist")])
def test_user_force_that_raises_among_others(functions, name):
    """A compiled exception does not say whose it is: the function that did not come to its end is named."""
    with pytest.raises(da.SimulationError, match=rf"user function '{name}' raised ValueError"):
        da.simulate(pushed(functions[0], second=functions[1]), 1.0)
    mechanism = da.compile(pushed(functions[0], second=functions[1]))
    runs = da.simulate_many(mechanism, 1.0, initial_states=np.tile(mechanism.x_0[: mechanism.nq + mechanism.nu], (2, 1)))
    assert all(f"user function '{name}' raised" in runs.message[k] for k in range(2))


@both_steps
@pytest.mark.parametrize(("functions", "name"), [((nan_after_half, nothing), "push"), ((nothing, nan_after_half), "twist")])
def test_user_force_that_returns_nan_among_others(integrator, functions, name):
    with pytest.raises(da.SimulationError, match=rf"(?m)check what you wrote for '{name}'$"):
        da.simulate(pushed(functions[0], second=functions[1]), 1.0, integrator=integrator)


def always(t):
    raise ValueError("never")


@pytest.mark.filterwarnings("ignore::dalembert.compilation.callbacks.SlowFunctionWarning")
def test_user_force_that_raises_at_once():
    with pytest.raises(da.SimulationError, match=r"function 'push' raised ValueError\('never'\) at t = 0 s") as caught:
        da.simulate(pushed(always), 1.0)
    np.testing.assert_array_equal(caught.value.solution.t, [0.0])


def test_force_that_is_nan_from_the_start():
    with pytest.raises(da.ModelError, match=r"force 'push': its function '<lambda>' returned \(nan, 0.0, 0.0\) at the start"):
        da.simulate(pushed(lambda t: (np.nan, 0.0, 0.0)), 1.0)


def locking_crank():
    """A crank of 1 m driven at 1 rad/s whose rod of 0.6 m reaches the slide only while sin(t) <= 0.6."""
    model = da.Model((0, 0, 0))
    crank = model.add_body("crank", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0))
    rod = model.add_body("rod", mass=1.0, inertia=(0.01, 0.1, 0.1), position=(1.3, 0, 0))
    slider = model.add_body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.6, 0, 0))
    model.add_revolute("bearing", model.ground, crank, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("pin", crank, rod, point=(1, 0, 0), axis=(0, 0, 1))
    model.add_revolute("wrist", rod, slider, point=(1.6, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("rail", model.ground, slider, point=(1.6, 0, 0), axis=(1, 0, 0))
    model.add_driver("drive", "bearing", da.Polynomial((0.0, 1.0)))
    return model


@both_steps
@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_mechanism_that_locks(integrator, coordinates):
    locks = float(np.arcsin(0.6))
    with pytest.raises(da.SimulationError) as caught:
        da.simulate(locking_crank(), 1.0, integrator=integrator, coordinates=coordinates)
    error = caught.value
    assert error.joint in ("bearing", "pin", "wrist", "rail", "drive")
    assert re.search(r"could not be restored at|step size collapsed at", str(error))
    at = "" if integrator.adaptive else r" at t = 0\.643501 s"  # a fixed step of 0.01 ends before
    assert re.search(rf"singular{at} \(condition \d.*\): joints .*'pin'.*'wrist'.* lock", str(error))
    asks = r"ed at t = \S+ s: driver 'drive' cannot turn past 0\.6435 rad = 36\.87 degrees, the mechanism reaches no further"
    assert re.search(rf"{asks}; check its sign and range, lengths, and the axis of 'rail', \(1, 0, 0\); the config", str(error))
    if integrator.adaptive:
        report = error.solution.report()
        assert [line.name for line in report.lines if line.advice] == ["status"]  # the rest comes from it
    assert locks - 0.02 <= error.time <= locks + 1e-9  # a fixed step of 0.01 ends before
    assert error.solution.t[-1] == error.time
    assert error.solution.drift.position.max() <= 1e-10


@pytest.mark.parametrize(
    ("formulation", "integrator"),
    [(da.Jet(), da.GaussLegendre(step=0.01)), (da.Impulse(), RK4), (da.Variational(), da.FixedStep(step=0.01))],
    ids=["Gauss-Legendre", "Impulse", "Variational"],
)
def test_steps_of_any_kind_that_end_before_a_mechanism_locks(formulation, integrator):
    with pytest.raises(da.SimulationError, match=r"at t = 0\.64 s: driver 'drive' cannot turn past 0\.6435 rad = 36\.87 "):
        da.simulate(locking_crank(), 1.0, formulation=formulation, integrator=integrator)


def test_a_change_point_that_stops_a_run_names_what_goes_through():
    """A parallelogram that is driven through the line; how near to it steps end, and so which of them stop, is rounding."""
    model = da.Model(plane="xz")
    for name, start, end in (("crank", (0, 0), (0, 1)), ("rod", (0, 1), (2, 1)), ("rocker", (2, 0), (2, 1))):
        model.add_link(name, start=start, end=end, mass=1.0)
    pins = {"A": ("ground", "crank", (0, 0)), "B": ("crank", "rod", (0, 1)), "C": ("rod", "rocker", (2, 1))}
    for name, (first, second, point) in (pins | {"D": ("ground", "rocker", (2, 0))}).items():
        model.add_revolute(name, first, second, point=point)
    model.add_driver("motor", "A", da.Polynomial((0.0, np.pi)))
    told = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for rtol in (1e-9, 1e-10, 1e-11, 1e-12):
            for integrator in (da.DOP853(rtol=rtol, atol=rtol), da.DormandPrince(rtol=rtol, atol=rtol)):
                try:
                    da.simulate(model, 1.0, integrator=integrator)
                except da.SimulationError as error:
                    told.append(error)
        passed = da.simulate(model, 1.0, formulation=da.Minimal(singular="pass"))
    through = " lock; if branches meet there, Minimal(singular='pass') goes through on the one that it is on"
    assert told and all(str(error).endswith(through) for error in told), told
    assert passed.report().passed
    kept = f"what was computed up to t = {told[0].solution.t[-1]:.6g} s is kept: error.solution"
    assert told[0].__notes__ == [kept]


def test_a_step_that_is_too_long_is_told():
    """Shorter ones go on, so that nothing locks."""
    with pytest.raises(da.SimulationError, match=r"(?m)keeps a residual of .*; the step may be too large$"):
        da.simulate(gallery.build("four_bar"), 5.0, integrator=da.RungeKutta4(step=0.3))


def test_too_many_steps():
    text = r"20 steps reached only t = 0\.\d+ s; raise max_steps or loosen the tolerances"
    with pytest.raises(da.SimulationError, match=text) as caught:
        da.simulate(gallery.slider_crank(), 5.0, integrator=da.DOP853(max_steps=20))
    assert caught.value.solution.statistics.accepted == 20
    assert len(caught.value.solution.t) == 21
    assert caught.value.time == caught.value.solution.t[-1]


def blow_up(t, r, v, R, w):
    return 6.0 * r[0] ** 2, 0.0, 0.0


def test_step_size_collapse():
    """x'' = 6 x^2 from x = 1, x' = 2 is x = 1 / (1 - t)^2: no solution beyond t = 1."""
    model = da.Model((0, 0, 0))
    model.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(2, 0, 0))
    model.add_force("push", "body", blow_up)
    with pytest.raises(da.SimulationError, match=r"step size collapsed|not finite") as caught:
        da.simulate(model, 2.0)
    assert caught.value.time == pytest.approx(1.0, abs=1e-4)
    solution = caught.value.solution
    early = solution.t < 0.9
    np.testing.assert_allclose(solution.position("body")[early, 0], 1 / (1 - solution.t[early]) ** 2, rtol=1e-6)


@pytest.mark.parametrize("t_end", [0, -1.0, np.nan, np.inf, "5", None, True, [1.0]])
def test_bad_end_times(t_end):
    with pytest.raises(da.ModelError, match=r"t_end is .*; give a positive number of seconds"):
        da.simulate(gallery.pendulum_3d(), t_end)


@pytest.mark.parametrize(
    ("save_at", "text"),
    [
        ([0.0, 2.0], "times from 0 to 2 s; the run covers 0 to 1 s"),
        ([-0.1, 0.5], "times from -0.1 to 0.5 s; the run covers 0 to 1 s"),
        ([0.5, 0.4], "give finite times in increasing order"),
        ([0.5, 0.5], "give finite times in increasing order"),
        ([0.5, np.nan], "give finite times in increasing order"),
        ([[0.1, 0.2]], "give finite times in increasing order"),
        ("often", "give finite times in increasing order"),
    ],
)
def test_bad_save_times(save_at, text):
    with pytest.raises(da.ModelError, match=f"save_at.*{text}"):
        da.simulate(gallery.pendulum_3d(), 1.0, save_at=save_at)


def test_unknown_coordinates_and_empty_model():
    with pytest.raises(da.ModelError, match="coordinates are 'polar'; give one of 'absolute', 'planar', 'tree'"):
        da.simulate(gallery.pendulum_3d(), 1.0, coordinates="polar")
    with pytest.raises(da.ModelError, match="the model has no bodies"):
        da.simulate(da.Model(), 1.0)


def test_interruption_returns_what_was_computed():
    """Ctrl-C, here from the progress function between two chunks of steps."""

    def interrupt(t, t_end):
        if t > 0.5:
            raise KeyboardInterrupt

    solution = da.simulate(gallery.slider_crank(), 5.0, progress=interrupt)
    assert solution.status == "interrupted"
    assert solution.message.startswith("interrupted by the user at t = ")
    assert solution.report()["status"].value.startswith("interrupted by the user at t = ")
    assert 0.5 < solution.t[-1] < 5.0
    assert solution.drift.position.max() <= 1.1e-11


# --- invariants and options of the jet formulation


def spinning_top():
    w = np.array([0.5, 0.0, 30.0])
    model = da.Model()
    tilt = da.Rotation.from_axis_angle((0, 1, 0), 0.4)
    top = model.add_body(
        "top",
        mass=2.0,
        inertia=(0.04, 0.04, 0.02),
        rotation=tilt,
        position=tilt.apply((0, 0, 0.3)),
        velocity=np.cross(w, tilt.apply((0, 0, 0.3))),
        angular_velocity=w,
    )
    model.add_spherical("tip", model.ground, top, point=(0, 0, 0))
    return model


def vertical_momentum(t, q, u):
    """L_z about the tip, from (r, theta) and (v, w_B)."""
    a, b, c, d = q[3], q[4], q[5], q[6]
    z_x, z_y, z_z = 2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d
    return 2.0 * (q[0] * u[1] - q[1] * u[0]) + 0.04 * (z_x * u[3] + z_y * u[4]) + 0.02 * z_z * u[5]


def momentum_error(solution):
    values = np.array([vertical_momentum(0.0, q, u) for q, u in zip(solution.q, solution.u, strict=True)])
    return np.abs(values - values[0]).max()


def test_user_invariant_is_kept():
    """With a step at which the method alone loses it in the fifth digit; kept to the tolerance, 1e-13, and rounding."""
    integrator = da.RungeKutta4(step=0.005)
    free = da.simulate(spinning_top(), 2.0, integrator=integrator)
    kept = da.simulate(spinning_top(), 2.0, integrator=integrator, formulation=da.Jet(invariants=[vertical_momentum]))
    assert momentum_error(free) > 1e-7
    assert momentum_error(kept) <= 2e-13
    assert free.statistics.invariant_gradients == 0
    # one Newton step per state, rarely two
    assert 0.5 * kept.statistics.accepted <= kept.statistics.invariant_gradients <= 2 * kept.statistics.accepted
    assert kept.drift.position.max() <= 1.1e-11
    assert kept.drift.velocity.max() <= 1.1e-11
    # the motion stays what it was, within the error of the method at this step
    assert np.abs(free.position("top") - kept.position("top")).max() <= 1e-3


def test_several_invariants():
    def energy(t, q, u):
        turning = 0.04 * (u[3] ** 2 + u[4] ** 2) + 0.02 * u[5] ** 2
        return 0.5 * (2.0 * (u[0] ** 2 + u[1] ** 2 + u[2] ** 2) + turning) + 2.0 * 9.81 * q[2]

    kept = da.simulate(
        spinning_top(),
        2.0,
        integrator=da.RungeKutta4(step=0.005),
        formulation=da.Jet(invariants=[vertical_momentum, energy]),
    )
    E = kept.energy.total
    assert np.abs(E - E[0]).max() <= 3e-13 * abs(E[0])  # relative 1e-13 and rounding
    assert momentum_error(kept) <= 2e-13


def test_invariant_that_returns_nan_or_raises():
    def bad(t, q, u):
        return np.nan if t > 0.1 else 1.0

    def worse(t, q, u):
        if t > 0.1:
            raise ValueError("no")
        return 1.0

    with pytest.raises(da.SimulationError, match="not finite") as caught:
        da.simulate(spinning_top(), 1.0, formulation=da.Jet(invariants=[bad]))
    assert caught.value.solution.t[-1] <= 0.1
    with pytest.raises(da.SimulationError, match="user function 'worse' raised ValueError"):
        da.simulate(spinning_top(), 1.0, formulation=da.Jet(invariants=[worse]))


ENERGY_MODELS = {
    "slider-crank": gallery.slider_crank,
    "crank with torque": gallery.crank_mechanism,
    "top": spinning_top,
}


@pytest.mark.parametrize("metric", ["euclidean", "mass"])
@pytest.mark.parametrize("model", ENERGY_MODELS)
def test_energy_invariant_even_with_large_steps(model, metric):
    """Also where a method of low order would lose energy quickly, and where external work is done: 1e-12 of what there is."""
    solution = da.simulate(
        ENERGY_MODELS[model](),
        1.0,
        integrator=da.Midpoint(step=0.002),
        formulation=da.Jet(invariants="energy", metric=metric),
    )
    E = solution.energy.total
    assert np.abs(E - E[0]).max() <= 1e-12 * max(1.0, solution.energy.kinetic.max())
    assert solution.drift.position.max() <= 1.1e-11
    assert solution.drift.velocity.max() <= 1.1e-11


def harmonic_lift():
    """Driven: the energy changes, and the invariant is what it owes to the driver's work."""
    model = da.Model()
    lift = model.add_body("lift", mass=1.0, inertia=(1, 1, 1))
    arm = model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    model.add_prismatic("rail", model.ground, lift, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "rail", da.Harmonic(0.2, 5.0))
    model.add_revolute("hinge", lift, arm, point=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_energy_invariant_of_a_driven_mechanism():
    solution = da.simulate(harmonic_lift(), 2.0, integrator=da.RungeKutta4(step=0.01), formulation=da.Jet(invariants="energy"))
    E = solution.energy.total
    assert np.ptp(solution.energy.external_work) > 0.5
    assert np.abs(E - E[0]).max() <= 1e-12 * max(1.0, solution.energy.kinetic.max())


@pytest.mark.parametrize("shape", SHAPES)
def test_energy_invariant_of_random_mechanisms(shape):
    """All joints, drivers and forces; hubs too. One Newton step per state is enough because the method is quadratic."""
    solution = da.simulate(
        random_model(1, shape), 0.5, integrator=da.RungeKutta4(step=0.002), formulation=da.Jet(invariants="energy")
    )
    E = solution.energy.total
    assert np.abs(E - E[0]).max() <= 1e-12 * max(1.0, solution.energy.scale)
    assert 0 < solution.statistics.invariant_gradients <= solution.statistics.accepted
    assert solution.drift.velocity.max() <= 1.1e-11


OPTIONS = {
    "orthogonal": {"projection": "orthogonal", "tolerance": 1e-13, "velocity_tolerance": 1e-13},
    "mass metric": {"metric": "mass"},
    "orthogonal in mass metric": {
        "projection": "orthogonal",
        "metric": "mass",
        "tolerance": 1e-13,
        "velocity_tolerance": 1e-13,
    },
    "conjugate gradients": {"solver": "cg"},
    "stages on the constraints": {"stages": "constraints"},
    "energy": {"invariants": "energy"},
    "energy, all stages": {"invariants": "energy", "stages": "all"},
    "energy, orthogonal": {"invariants": "energy", "projection": "orthogonal"},
    "tighter": {"tolerance": 1e-12, "velocity_tolerance": 1e-12, "max_newton": 20},
}
CASES = {
    "pendulum": (lambda: gallery.pendulum_3d(torque=(0.0, 10.0, 0.0)), "absolute", "pendulum"),
    "slider-crank": (gallery.slider_crank, "absolute", "slider"),
    "quadrangle": (gallery.planar_quadrangle, "planar", "coupler"),
    "redundant": (gallery.spatial_four_bar, "absolute", "coupler"),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("case", CASES)
def test_options_do_not_change_the_motion(option, case):
    """The same motion to 1e-8 m at rtol = atol = 1e-11, as against the references."""
    build, coordinates, body = CASES[case]
    mechanism = da.compile(build(), coordinates)
    integrator, times = da.DOP853(rtol=1e-11, atol=1e-11), np.linspace(0.0, 1.5, 16)
    plain = da.simulate(mechanism, 1.5, integrator=integrator, save_at=times)
    other = da.simulate(mechanism, 1.5, integrator=integrator, save_at=times, formulation=da.Jet(**OPTIONS[option]))
    assert np.abs(plain.position(body) - other.position(body)).max() <= 1e-8
    independent = other.evaluated.g[:, : mechanism.m]
    assert np.abs(independent).max() <= 1.1e-11  # whatever the option, the constraints hold
    assert other.drift.velocity.max() <= 1.1e-11
    if option == "conjugate gradients":
        assert other.statistics.conjugate_gradient_steps > 0
    if "orthogonal" in option:
        assert other.statistics.second_differentials > 0
    if "stages" in option:
        assert other.statistics.projections > 10 * plain.statistics.projections / 2
    if "energy" in option:
        assert other.statistics.invariant_gradients > 0


def test_doubts_of_the_model_stand_before_the_advice_on_branches():
    """Degrees for radians drive a four-bar towards where it goes no further."""
    model = da.Model(plane="xz")
    a, b, c, d = (0, 0), (0, 0.3), (0.4, 0.3), (0.6, 0)
    for name, p, q in (("crank", a, b), ("coupler", b, c), ("rocker", d, c)):
        model.add_link(name, p, q, mass=0.3)
    for name, first, second, point in (
        ("A", "ground", "crank", a),
        ("B", "crank", "coupler", b),
        ("C", "coupler", "rocker", c),
        ("D", "ground", "rocker", d),
    ):
        model.add_revolute(name, first, second, point=point)
    model.add_driver("motor", "A", da.Harmonic(17, 2.0))
    with warnings.catch_warnings(), pytest.raises(da.SimulationError) as caught:
        warnings.simplefilter("ignore")
        da.simulate(model, 3.0)
    text = str(caught.value)
    assert 0 < text.find("driver 'motor' goes to 17 rad: 17 degrees are radians(17)") < text.find("cannot turn past"), text
    report = caught.value.solution.report()
    assert report["status"].advice.startswith("look first at what is said of the model above; then mend what the status names")
    assert report["energy balance"].value == "not judged: the run failed"

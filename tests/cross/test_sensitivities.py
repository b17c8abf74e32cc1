"""Derivatives of runs by parameters against closed forms and against extrapolated differences of tighter runs.

Differences of runs with rtol = 1e-13 and steps of 1 % have errors of 1e-13 / 0.01 = 1e-11 and h^4 = 1e-8 / 30 of the curvature.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipe, ellipk

import dalembert as da
from dalembert import gallery
from dalembert.kernels.base.compiler import JIT
from dalembert.results.signals import signal

plain_only = pytest.mark.skipif(JIT, reason="many kernels: their sources as plain Python are enough")
pytestmark = pytest.mark.nojit
FINE = da.DOP853(rtol=1e-13, atol=1e-13)
GOOD = da.DOP853(rtol=1e-11, atol=1e-11)
ALLOWED = 1e-8


def pendulum(length=1.3, amplitude=1.1, g=9.81, mass=1.0):
    model = da.Model(gravity=(0, 0, -g))
    bob = model.add_point_mass("bob", mass=mass, position=(length * np.sin(amplitude), 0, -length * np.cos(amplitude)))
    model.add_distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    return model


def double_pendulum(length=0.7, mass=1.2, angle=0.9, rate=0.5):
    model = da.Model(gravity=(0, 0, -9.81))
    s, c = np.sin(angle), np.cos(angle)
    upper = model.add_body("upper", mass=mass, inertia=(0.03, 0.02, 0.01), position=(0.5 * length * s, 0, -0.5 * length * c))
    at = np.array([length * s, 0, -length * c])
    lower = model.add_body(
        "lower", mass=0.8, inertia=(0.01, 0.03, 0.02), position=at + np.array([0.3, 0, 0]), angular_velocity=(0, rate, 0)
    )
    model.add_revolute("A", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", upper, lower, point=at, axis=(0, 1, 0))
    return model


def slider_crank(length=0.3, speed=6.0, stiffness=10.0, damping=0.3, crank=0.08):
    model = da.Model(gravity=(0, 0, -9.81))
    a = np.arcsin(crank / length)
    end = (length * np.cos(a), 0, 0)
    turned = (np.cos(a / 2), 0, np.sin(a / 2), 0)
    first = model.add_body(
        "crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-5), position=(0, 0, crank / 2), angular_velocity=(0, speed, 0)
    )
    rod = model.add_body("rod", mass=0.5, inertia=(4e-4, 4e-3, 3.9e-3), position=(0.5 * end[0], 0, crank / 2), rotation=turned)
    slider = model.add_body("slider", mass=2.0, inertia=(1e-3, 1.1e-3, 1.2e-3), position=end)
    model.add_revolute("A", model.ground, first, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("B", first, rod, point=(0, 0, crank))
    model.add_universal("C", rod, slider, point=end, axes=((0, 1, 0), (0, 0, 1)))
    model.add_prismatic("D", model.ground, slider, point=end, axis=(1, 0, 0))
    ends = ((0.6, 0, 0), (0, 0, 0))
    model.add_spring_damper("spring", model.ground, slider, points=ends, stiffness=stiffness, damping=damping, length=0.2)
    return model


def differences(build, name, value, t, functions, **options):
    """Derivatives of outputs by one parameter from runs beside, by Richardson's extrapolation."""
    columns = []
    for h in (0.01 * value, 0.005 * value):
        above, below = (
            da.simulate(build, t[-1], parameters={name: value + s * h}, save_at=t, integrator=FINE, **options) for s in (1, -1)
        )
        columns.append([(f(above) - f(below)) / (2 * h) for f in functions])
    return [(4.0 * v - u) / 3.0 for u, v in zip(*columns, strict=True)]


def error(build, names, t, outputs, **options):
    """Largest difference, relative to the largest derivative of each output."""
    solution = da.simulate(build, t[-1], sensitivities=list(names), save_at=t, integrator=GOOD, **options)
    functions = [output if callable(output) else (lambda s, output=output: signal(s, output).values) for output in outputs]
    worst = 0.0
    for name in names:
        expected = differences(build, name, solution.sensitivities.parameters[name], t, functions, **options)
        for output, values in zip(outputs, expected, strict=True):
            found = solution.derivative(output, name)
            worst = max(worst, np.abs(found - values).max() / max(np.abs(values).max(), 1e-3))
    return worst


def test_period_of_a_pendulum_by_length_and_amplitude():
    """theta = 0 at a quarter of the period, so dT/dp = -4 (dx/dp) / x'; elliptic integrals [to 1e-9]."""
    length, amplitude, g = 1.3, 1.1, 9.81
    m = np.sin(amplitude / 2) ** 2
    T = 4 * np.sqrt(length / g) * ellipk(m)
    by_amplitude = 4 * np.sqrt(length / g) * (ellipe(m) / (1 - m) - ellipk(m)) / (2 * m) * 0.5 * np.sin(amplitude)
    fine = da.DOP853(rtol=1e-11, atol=1e-11)
    names = ["length", "amplitude", "g"]
    solution = da.simulate(pendulum, T / 4, sensitivities=names, integrator=fine, save_at=[T / 4])
    found = [-4 * solution.derivative("bob.x", name)[0] / solution.velocity("bob")[0, 0] for name in names]
    assert np.abs(np.array(found) - [T / (2 * length), by_amplitude, -T / (2 * g)]).max() < 1e-9


@pytest.mark.parametrize("names", [["length"], ["length", "amplitude", "g"]])
def test_values_are_those_of_the_run_without(names):
    """To the last bit, with the same counters; and the run goes on as the other does."""
    t = [0.1, 0.15, 0.3]
    plain, rich = (da.simulate(pendulum, 0.3, sensitivities=asked, save_at=t) for asked in ([], names))
    assert np.array_equal(plain.x, rich.x)
    left_out = {"time": None, "cpu_time": None}
    assert vars(plain.statistics) | left_out == vars(rich.statistics) | left_out
    assert np.array_equal(da.simulate(plain, 0.4).x, da.simulate(rich, 0.4).x)


def carried_pendulum(begin=0.1, end=0.3):
    model = da.Model(gravity=(0, 0, -9.81))
    cart = model.add_point_mass("cart", mass=1.0)
    bob = model.add_point_mass("bob", mass=0.7, position=(0, 0, -0.5))
    for name, direction, motion in zip("xyz", np.eye(3), (da.SmoothStep(0.0, 0.4, begin, end), 0.0, 0.0), strict=True):
        model.add_point_driver(name, cart, direction=direction, motion=motion)
    model.add_distance("rod", cart, bob, points=((0, 0, 0), (0, 0, 0)))
    return model


def test_breakpoints_of_a_motion_move_with_their_parameters():
    """l a'' = -g sin a - f'' cos a and its variations, which jump at both ends of the step, piece by piece by SciPy."""
    begin, end, length, g, top = 0.1, 0.3, 0.5, 9.81, 0.4

    def rates(t, y, moving):
        s, L = (t - begin) / (end - begin), end - begin
        f, slope = (60 * s * (1 - s) * (1 - 2 * s), 60 * (1 - 6 * s + 6 * s * s)) if moving else (0.0, 0.0)
        pull = top / L**2 * f
        by = top / L**3 * np.array([slope * (s - 1) + 2 * f, -slope * s - 2 * f])  # of f'', by begin and by end
        a, w, da_, dw = y[0], y[1], y[2:4], y[4:6]
        dw_ = (-g * np.cos(a) * da_ + pull * np.sin(a) * da_ - by * np.cos(a)) / length
        return np.concatenate([[w, (-g * np.sin(a) - pull * np.cos(a)) / length], dw, dw_])

    y, at_end = np.zeros(6), {}
    for t_0, t_1, moving in ((begin, end, True), (end, 0.4, False)):
        y = solve_ivp(rates, (t_0, t_1), y, "DOP853", args=(moving,), rtol=1e-12, atol=1e-12).y[:, -1]
        at_end[t_1] = y
    solution = da.simulate(carried_pendulum, 0.4, sensitivities=["begin", "end"], save_at=[end, 0.4], integrator=GOOD)
    for k, name in enumerate(("begin", "end")):  # height of the bob -l cos a
        expected = [length * np.sin(y[0]) * y[2 + k] for y in at_end.values()]
        assert np.abs(solution.derivative("bob.z", name) - expected).max() < ALLOWED


@plain_only
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=["jet", "moving-frame", "minimal"])
def test_double_pendulum(formulation):
    t = np.array([0.0, 0.02, 0.03])
    outputs = ["B", "lower.vx", "A.fx", "total_energy"]
    assert error(double_pendulum, ("length",), t, outputs, formulation=formulation) < ALLOWED


@plain_only
def test_double_pendulum_in_the_plane_by_its_start():
    t = np.array([0.02])
    assert error(double_pendulum, ("angle",), t, ["B", "kinetic_energy"], coordinates="planar") < ALLOWED


@plain_only
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["jet", "moving-frame"])
def test_slider_crank(formulation):
    t = np.array([0.005, 0.01])
    names = ("length",) if formulation == da.Jet() else ("damping",)
    outputs = ["slider.x", "B.fx", lambda s: s.effort("spring").value]
    assert error(slider_crank, names, t, outputs, formulation=formulation) < ALLOWED


def test_parameters_of_a_lagrangian_system():
    system = gallery.build("oscillator_on_circle")
    solution = da.simulate(system, 0.2, sensitivities=["m"], save_at=[0.1, 0.2], integrator=GOOD)
    (expected,) = differences(system, "m", system.parameters["m"], np.array([0.1, 0.2]), [lambda s: s.multiplier("circle")])
    assert np.abs(solution.derivative(lambda s: s.multiplier("circle"), "m") - expected).max() < ALLOWED


@plain_only
def test_the_report_notices_a_wrong_sensitivity():
    def line(solution):
        return next(line for line in solution.report().lines if line.name == "sensitivities")

    solution = da.simulate(pendulum, 0.1, sensitivities=["length", "g"])
    wrong = da.simulate(pendulum, 0.1, sensitivities=["length", "g"])
    wrong.sensitivities.states[:, :, 0] *= 1.01
    assert line(solution).verdict == "pass"
    assert line(wrong).verdict == "FAIL"
    heavy = da.simulate(pendulum, 0.1, sensitivities=["length", "mass"])  # which a mass has no influence on
    assert line(heavy).verdict == "pass"
    heavy.sensitivities.states[:, :, 0] *= 1.01
    heavy.sensitivities.check.cache_clear()
    assert line(heavy).verdict == "FAIL"


def test_outputs_of_a_mechanism_of_a_millimetre():
    """s = l f(t / l^(1/2)) and a = h(t / l^(1/2)), so da/dl = -t a' / (2 l); a' by differences along the run [1e-8]."""
    length, at, h = 1e-3, 0.02, 1e-5
    t = np.array([at - h, at - 0.5 * h, at, at + 0.5 * h, at + h])
    run = da.simulate(pendulum, t[-1], parameters={"length": length}, sensitivities=["length"], save_at=t, integrator=FINE)
    a = run.acceleration("bob")[:, 0]
    slope = (4.0 * (a[3] - a[1]) / h - (a[4] - a[0]) / (2.0 * h)) / 3.0
    found = run.derivative(lambda s: s.acceleration("bob")[:, 0], "length")[2]
    assert abs(found + at * slope / (2.0 * length)) < 1e-6 * abs(found)


def hung_spring(length=1.0, stiffness=20.0, size=1.0):
    """A mass on a rod, another on a spring below it; all lengths times size."""
    model = da.Model(gravity=(0, 0, -9.81 * size))
    upper = model.add_point_mass("upper", mass=1.0, position=(0.6 * length * size, 0, -0.8 * length * size))
    model.add_distance("rod", model.ground, upper, points=((0, 0, 0), (0, 0, 0)))
    lower = model.add_point_mass("lower", mass=0.4, position=((0.6 * length + 0.5) * size, 0, -0.8 * length * size))
    ends = ((0, 0, 0), (0, 0, 0))
    model.add_spring_damper("spring", upper, lower, points=ends, stiffness=stiffness, damping=0.2, length=0.3 * size)
    return model


def test_forces_in_a_mechanism_of_a_micrometre():
    """They are those of a metre, times the size; points were moved by more than the mechanism is wide, forces half off."""
    found = []
    for size in (1.0, 1e-6):
        options = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11 * size), "save_at": [0.2]}
        run = da.simulate(hung_spring, 0.2, parameters={"size": size}, sensitivities=["length", "stiffness"], **options)
        names = ("spring", "rod.f", "lower.x")
        found.append([run.derivative(o, p)[0] / size for o in names for p in ("length", "stiffness")])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-7)
    assert run.report()["sensitivities"].verdict == "pass"
    run.sensitivities.states[...] *= 1.01  # the check took what a micrometre changes by for noise
    run.sensitivities.check.cache_clear()
    assert run.report()["sensitivities"].verdict == "FAIL"


def test_reactions_in_a_lagrangian_system_of_a_micrometre():
    """They are those of a metre, times the size; differences far outside of the system agreed with each other."""
    found = []
    for size in (1.0, 1e-6):
        system = da.LagrangianSystem(
            lambda q, v, p: 0.5 * (v @ v) - p.g * p.size * q.y - 1.5 * (np.hypot(q.x - 2 * p.size, q.y) - p.size) ** 2,
            "x y",
            holonomic={"rod": lambda q, p: (q.x**2 + q.y**2) / p.size**2 - 1.0},
            parameters={"g": 9.81, "size": size},
            initial={"x": size},
        )
        options = {"integrator": da.DOP853(rtol=1e-11, atol=1e-11 * size), "save_at": [0.2]}
        run = da.simulate(system, 0.2, sensitivities=["g"], **options)
        found.append(run.derivative(lambda s: s.reaction("rod"), "g") / size)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)


def wavy(q=0.4, g=9.81):
    """Its length goes up and down within 1e-4 of q."""
    return pendulum(length=1.3 + 1e-5 * np.sin(3e4 * q), g=g)


def test_tables_that_bend_are_looked_at_more_closely():
    """What near models with all parameters changed at once tell is not enough there; d/dq = d/dlength dlength/dq."""
    t, length = np.array([0.1]), 1.3 + 1e-5 * np.sin(3e4 * 0.4)
    found = da.simulate(wavy, 0.1, sensitivities=["q", "g"], save_at=t).derivative("bob.x", "q")
    options = {"parameters": {"length": length}, "sensitivities": ["length"], "save_at": t}
    expected = da.simulate(pendulum, 0.1, **options).derivative("bob.x", "length") * 0.3 * np.cos(3e4 * 0.4)
    assert np.abs(found - expected).max() < ALLOWED


@pytest.mark.parametrize("names", [["q"], ["q", "g"]])
def test_a_kink_has_no_derivative(names):
    with pytest.raises(da.ModelError, match="'q': the model has no derivative at 0: its tables jump, have a kink"):
        da.simulate(lambda q=0.0, g=9.81: pendulum(length=1.3 + abs(q), g=g), 0.1, sensitivities=names)


def pushed(push=2.0):
    model = pendulum()
    model.add_force("push", "bob", lambda t, x, v, R, w: (push, 0.0, 0.0))
    return model


@plain_only
def test_the_ratio_of_a_gear_at_a_round_number():
    """s'' = M / (J_1 + J_2 / z^2); teeth were scaled by a power of two that jumped at z = 2."""

    def build(z=2.0):
        model = da.Model(gravity=(0, 0, 0))
        for name, x in (("a", 0.0), ("b", 1.0)):
            model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
            model.add_revolute(name.upper(), model.ground, name, point=(x, 0, 0), axis=(0, 0, 1))
        model.add_gear("mesh", "a", "b", ratio=z)
        model.add_motor("drive", "A", 1.0)
        return model

    run = da.simulate(build, 1.0, sensitivities=["z"])
    exact = 0.5 * (2 * 0.1 / 2.0**3) / (0.1 + 0.1 / 2.0**2) ** 2
    assert abs(run.derivative(lambda s: s.coordinate("A"), "z")[-1] - exact) <= 1e-8 * exact


@plain_only
def test_a_parameter_in_the_code_of_a_function():
    fixed = da.RungeKutta4(step=0.01)
    with pytest.raises(da.ModelError, match="'push' is a constant in a function of the model"):
        da.simulate(pushed, 0.01, sensitivities=["push"], integrator=fixed)


@pytest.mark.parametrize(
    ("build", "options", "told"),
    [
        (pendulum, {"sensitivities": ["lenght"]}, "no parameter 'lenght'; did you mean 'length'"),
        (pendulum, {"parameters": {"lenght": 1.0}, "sensitivities": ["g"]}, "no argument 'lenght'"),
        (pendulum, {"parameters": {"length": np.nan}, "sensitivities": ["length"]}, "finite numbers"),
        (pendulum, {"sensitivities": ["g", "g"]}, "names a parameter twice"),
        (pendulum(), {"sensitivities": ["g"]}, "a function that returns a Model"),
        (pendulum, {"sensitivities": ["g"], "integrator": da.GaussLegendre(2, step=0.01)}, "explicit Runge-Kutta"),
        (pendulum, {"sensitivities": ["g"], "formulation": da.Impulse(), "integrator": da.Euler(step=0.01)}, "with Impulse"),
    ],
)
def test_bad_input(build, options, told):
    with pytest.raises(da.ModelError, match=told):
        da.simulate(build, 0.02, **options)


def test_a_parameter_without_influence_and_an_output_that_is_not_one():
    with pytest.raises(da.ModelError, match="'idle' has no influence"):
        da.simulate(lambda idle=2.0: pendulum(), 0.01, sensitivities=["idle"])
    with pytest.raises(da.ModelError, match="the run has no sensitivities"):
        da.simulate(pendulum, 0.01).derivative("bob.x", "g")


def oscillator(mass=1.1, stiffness=1.2, start=0.7):
    def L(q, v, t, p):
        return 0.5 * p.m * v.x**2 - 0.5 * p.k * q.x**2

    return da.LagrangianSystem(L, ["x"], parameters={"m": mass, "k": stiffness}, initial={"x": start})


def test_parameters_that_the_code_of_a_lagrangian_reads():
    """x = x_0 cos(w t), w = (k / m)^(1/2)."""
    t, (m, k, x_0) = np.array([0.3, 0.6]), (1.1, 1.2, 0.7)
    w = np.sqrt(k / m)
    expected = {"mass": x_0 * np.sin(w * t) * t * w / (2 * m), "stiffness": -x_0 * np.sin(w * t) * t * w / (2 * k)}
    solution = da.simulate(oscillator, t[-1], sensitivities=[*expected, "start"], save_at=t, integrator=GOOD)
    for name, values in (expected | {"start": np.cos(w * t)}).items():
        assert np.abs(solution.derivative("x", name) - values).max() < ALLOWED


def driven(mass=1.1, push=1.2):
    model = da.Model()
    model.add_body("ball", mass=mass, inertia=(1, 1, 1))
    model.add_spherical("pivot", model.ground, "ball", point=(0, 0, 1))
    model.add_force("push", "ball", lambda t, F: (F * (1.0 + t), 0.0, 0.0), parameters={"F": push})
    return model


def test_functions_of_forces_with_parameters():
    """Compiled, where what a run keeps of its functions lies behind its workspace."""
    assert error(driven, ("mass", "push"), np.array([0.1, 0.2]), ["ball.x", "ball.vx", "pivot.fz"]) < ALLOWED


def captured(kind, k):
    """A model with a constant in a function."""
    if kind == "Lagrangian":
        return da.LagrangianSystem(lambda q, v, t: 0.5 * v.x**2 - 0.5 * k * q.x**2, ["x"], initial={"x": 1.0})
    model = da.Model()
    model.add_point_mass("ball", mass=1.0, position=(1, 0, 0))
    if kind == "constraint":
        model.add_velocity_constraint("slope", lambda ball: ball.v[0] - k * ball.v[2], "ball")
    elif kind == "motion":
        model.add_distance("rod", model.ground, "ball", points=((0, 0, 0), (0, 0, 0)), length=lambda t: 1.0 + k * t)
    elif kind == "factor":
        model.add_force("push", "ball", (1, 0, 0), factor=lambda t: k * t)
    else:
        numbers = SimpleNamespace(k=k)
        model.add_force("push", "ball", lambda t: np.array([numbers.k * t, 0.0, 0.0]))
    return model


@pytest.mark.parametrize("kind", ["Lagrangian", "constraint", "motion", "factor", "an object in a function"])
def test_constants_in_functions_are_refused(kind):
    def build(k=1.2):
        return captured(kind, k)

    with pytest.raises(da.ModelError, match="parameter 'k' is a constant in a function of the model"):
        da.simulate(build, 0.1, sensitivities=["k"])


def lagrangian_pendulum(length=1.3):
    return da.LagrangianSystem(
        lambda q, v, t, p: 0.5 * (v.x**2 + v.y**2) - 9.81 * q.y,
        ["x", "y"],
        holonomic=[lambda q, t, p: q.x**2 + q.y**2 - p.length**2],
        parameters={"length": length},
        initial={"x": length * np.sin(1.1), "y": -length * np.cos(1.1)},
    )


def spinning(length=1.1, spin=30.0):
    """Links of one angle, of two, of a quaternion, which turn more than half around."""
    model = da.Model()
    for k, name in enumerate("bcde"):
        turned = (0, spin if name == "b" else 0, spin if name == "d" else 0)
        model.add_body(name, mass=1.0, inertia=(1, 2, 2.5), position=(length, 0, k), angular_velocity=turned)
    model.add_revolute("A", model.ground, "b", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_universal("B", "b", "c", point=(length, 0, 0.5), axes=((0, 1, 0), (1, 0, 0)))
    model.add_spherical("C", "c", "d", point=(length, 0, 1.5))
    model.add_revolute("D", "d", "e", point=(length, 0, 2.5), axis=(1, 0, 0))
    return model


@plain_only
def test_turns_of_more_than_half_around_in_relative_coordinates():
    """Rotations tell neither the sign of a quaternion nor how often an angle went around."""
    options = {"save_at": np.linspace(0.05, 0.4, 8), "integrator": da.RungeKutta4(step=0.01), "formulation": da.MovingFrame()}
    solution, h = da.simulate(spinning, 0.4, sensitivities=["length"], **options), 1e-4
    above, below = (da.simulate(spinning(1.1 + s * h), 0.4, **options) for s in (1, -1))
    for name in "bcde":
        wanted = (above.rotation(name) - below.rotation(name)) / (2 * h)
        found = solution.derivative(lambda s, name=name: s.rotation(name), "length")
        assert np.abs(found - wanted).max() < 1e-5 * np.abs(wanted).max()  # h^2 times how the motion bends


@pytest.mark.parametrize("build", [pendulum, lagrangian_pendulum])
def test_energy_that_is_kept(build):
    """The kernels that correct it take numbers with derivatives, compiled as well."""
    formulation = da.Jet(invariants="energy")
    options = {"save_at": [0.1], "formulation": formulation, "integrator": GOOD}
    solution = da.simulate(build, 0.1, parameters={"length": 1.3}, sensitivities=["length"], **options)
    (expected,) = differences(build, "length", 1.3, np.array([0.1]), [lambda s: s.x[:, 0]], formulation=formulation)
    assert np.abs(solution.derivative(lambda s: s.x[:, 0], "length") - expected).max() < ALLOWED


@pytest.mark.parametrize("way", [da.Jet, pytest.param(da.MovingFrame, marks=plain_only)])
def test_values_of_energy_that_is_kept(way):
    """To the last bit; in runs with derivatives only these were corrected, and the energy was not kept."""
    build, name = (pendulum, "length") if way is da.Jet else (double_pendulum, "mass")
    coarse = da.DOP853(rtol=1e-4, atol=1e-4)
    options = {"formulation": way(invariants="energy"), "integrator": coarse, "save_at": [0.3]}
    plain, rich = (da.simulate(build, 0.3, sensitivities=asked, **options) for asked in ([], [name]))
    assert np.array_equal(plain.x, rich.x)
    free = da.simulate(build, 0.3, **options | {"formulation": way()})
    assert not np.array_equal(plain.x, free.x)


def three_cranks(length):
    """A bar on three cranks, in space: rows are redundant in the plane, and out of it."""
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, length))
    for k in range(3):
        model.add_body(f"crank{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k, 0, 0.5 * length))
        rate = {"rate": 2.0} if k == 0 else {}
        model.add_revolute(f"A{k}", model.ground, f"crank{k}", point=(k, 0, 0), axis=(0, 1, 0), **rate)
        model.add_revolute(f"B{k}", f"crank{k}", "bar", point=(k, 0, length), axis=(0, 1, 0))
    return model


def test_minimal_chooses_the_basis_of_the_run_beside():
    """Of redundant loops rounding chooses signs and pivots: the basis jumped, and the model was said to have no derivative."""
    options = {"parameters": {"length": 1.2}, "sensitivities": ["length"], "save_at": [0.3]}
    fine = da.DOP853(rtol=1e-11, atol=1e-11)
    found, expected = (
        da.simulate(three_cranks, 0.3, formulation=way, integrator=fine, **options).derivative("bar.x", "length")
        for way in (da.Minimal(), da.Jet())
    )
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    run = da.simulate(three_cranks, 0.3, formulation=da.Minimal(), **options)
    assert "s" in run.to_xarray() and "s" not in run.derivatives()  # was told as zero
    with pytest.raises(da.ModelError, match="minimal coordinates have no derivatives"):
        run.derivative(lambda s: s.minimal.s, "length")

"""Tables of a joint's coordinate and of its rate: closed forms, quadratures, and laws of motors that compute the same.

Runs are made with DOP853 at 1e-11; errors grow by less than a hundred over them.
"""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import PchipInterpolator

import dalembert as da

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
CLOSE = 1e-9
MASS, FORCE, EDGE, SPEED = 2.0, 400.0, 1e-3, 1.5
FORWARD = da.Table((-10.0, 0.0, EDGE, 10.0), (0.0, 0.0, FORCE, FORCE))
FORWARD_TURN = da.Table((-3.0, 0.0, 0.5, 3.0), (0.0, 0.0, 0.2, 0.3))
KNOTS, TORQUES = (-1.2, -0.6, -0.2, 0.2, 0.6, 1.2), (-30.0, -6.0, -1.2, 1.2, 6.0, 30.0)
RATES, LOSSES = (-3.0, -0.5, 0.1, 0.6, 3.0), (-2.5, -1.0, 0.1, 0.3, 0.9)


def ram(rate, **gains):
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("ram", mass=MASS, inertia=(0.1, 0.1, 0.1))
    model.add_prismatic("guide", "ground", "ram", point=(0, 0, 0), axis=(1, 2, 2), rate=rate)
    model.add_joint_spring_damper("cut", "guide", **gains)
    return model


def test_a_force_against_forward_motion_alone():
    """v^2 m / (2 F) to the edge of the table, m v dv / f(v) below it with f = F (3 x^2 - 2 x^3), x = v / EDGE; nothing back."""
    solution = da.simulate(ram(SPEED, damping=FORWARD), t_end=0.05, integrator=TIGHT)
    x = solution.coordinate_rate("guide")[-1] / EDGE
    assert 0.0 < x < 1e-4
    within = MASS * EDGE**2 / (3.0 * FORCE) * np.log((3.0 - 2.0 * x) / x)
    assert solution.coordinate("guide")[-1] == pytest.approx(MASS * (SPEED**2 - EDGE**2) / (2.0 * FORCE) + within, abs=1e-11)
    assert solution.energy.external_work[-1] == pytest.approx(-0.5 * MASS * SPEED**2, abs=1e-9)
    assert solution.effort("cut").value[0] == -FORCE and solution.report().passed
    back = da.simulate(ram(-SPEED, damping=FORWARD), t_end=0.05)
    assert back.coordinate("guide")[-1] == pytest.approx(-0.05 * SPEED, abs=1e-15)
    assert not back.effort("cut").value.any() and back.report().passed


def pendulum(reference=0.0, amplitude=0.0, rate=None, **gains):
    """Of inertia 0.5 kg m^2 about its hinge, without gravity."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("disc", mass=1.0, inertia=(0.3, 0.4, 0.5))
    axis = {"point": (0, 0, 0), "axis": (0, 0, 1), "coordinate": reference + amplitude, "rate": rate}
    model.add_revolute("hinge", "ground", "disc", **axis)
    model.add_joint_spring_damper("spring", "hinge", reference=reference, **gains)
    return model


@pytest.mark.parametrize("amplitude", [0.5, 1.1, 1.5])
def test_period_of_a_hardening_torsional_pendulum(amplitude):
    """T = 4 int ds / sqrt(2 (U(A) - U(s)) / J), with s = A sin(a) so without a singularity; beyond the table its end slope."""
    curve = PchipInterpolator(KNOTS, TORQUES)
    last, end, slope = KNOTS[-1], TORQUES[-1], float(curve(KNOTS[-1], 1))

    def U(s):
        more = max(s - last, 0.0)
        return float(curve.integrate(0.0, min(s, last))) + end * more + 0.5 * slope * more**2

    def part(a):
        s = amplitude * np.sin(a)
        return amplitude * np.cos(a) / np.sqrt(2.0 * max(U(amplitude) - U(s), 1e-300) / 0.5)

    knots = [np.arcsin(s / amplitude) for s in (0.2, 0.6, 1.2) if s < amplitude]
    period = 4.0 * quad(part, 0.0, np.pi / 2 - 1e-7, points=knots, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
    period += 4.0 * 1e-7 * part(np.pi / 2 - 1e-4)  # where both roots vanish and their ratio does not
    model = pendulum(0.3, amplitude, stiffness=da.Table(KNOTS, TORQUES))
    solution = da.simulate(model, t_end=period, integrator=TIGHT)
    assert solution.coordinate("hinge")[-1] == pytest.approx(0.3 + amplitude, abs=1e-7)
    assert solution.coordinate_rate("hinge")[-1] == pytest.approx(0.0, abs=1e-5)
    assert solution.effort("spring").energy[0] == pytest.approx(U(amplitude), rel=1e-12)
    assert solution.report()["energy balance"].verdict == "pass"
    said = [line.value for line in solution.report().lines if line.name == "force elements"]
    assert bool(said) == (amplitude > 1.2)
    assert all("'spring': coordinate [rad] from -1.5 to 1.5, its table from -1.2 to 1.2" in text for text in said)


def piecewise(t, s, s_dot, origin, knots, curve, rates, damper):
    """The same tables as polynomials of their pieces."""
    value = 0.0
    for x, given, c in ((s - origin, knots, curve), (s_dot, rates, damper)):
        at = min(max(x, given[0]), given[-1])
        k = min(max(np.searchsorted(given, at) - 1, 0), len(given) - 2)
        d = at - given[k]
        slope = 3.0 * c[0, k] * d * d + 2.0 * c[1, k] * d + c[2, k]
        value += c[0, k] * d * d * d + c[1, k] * d * d + c[2, k] * d + c[3, k] + slope * (x - at)
    return -value


def machine(form):
    """A slide and a hinge on it; efforts by tables, or by motors that compute the same."""
    model = da.Model(plane="xz")
    model.add_body("cart", mass=1.0, inertia=0.2)
    model.add_link("arm", (0, 0), (0.6, -0.2), mass=0.5)
    model.add_prismatic("rail", "ground", "cart", point=(0, 0), axis=(1, 0.5), rate=0.7)
    model.add_revolute("hinge", "cart", "arm", point=(0, 0), rate=2.0)
    for name, origin in (("rail", 0.1), ("hinge", -0.2)):
        if form == "tables":
            tables = {"stiffness": da.Table(KNOTS, TORQUES), "damping": da.Table(RATES, LOSSES)}
            model.add_joint_spring_damper(f"on {name}", name, reference=origin, **tables)
            continue
        pieces = {"curve": PchipInterpolator(KNOTS, TORQUES).c, "damper": PchipInterpolator(RATES, LOSSES).c}
        given = {"origin": origin, "knots": KNOTS, "rates": RATES, **pieces}
        model.add_motor(f"on {name}", name, piecewise, parameters=given)
    return model


@pytest.fixture(scope="module")
def by_motors():
    return da.simulate(machine("motors"), t_end=1.0, integrator=TIGHT, save_at=np.linspace(0, 1, 21))


WAYS = {
    "planar": {"integrator": TIGHT},
    "absolute": {"integrator": TIGHT, "coordinates": "absolute"},
    "tree": {"integrator": TIGHT, "coordinates": "tree"},
    "moving frame": {"integrator": TIGHT, "formulation": da.MovingFrame()},
    "minimal": {"integrator": TIGHT, "formulation": da.Minimal()},
    "implicit": {"integrator": da.RadauIIA(stages=3, rtol=1e-11, atol=1e-11)},
    "impulse": {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.001)},
    "variational": {"formulation": da.Variational(), "integrator": da.FixedStep(step=0.0005)},
}


@pytest.mark.parametrize("way", WAYS)
def test_tables_are_motors_that_compute_the_same(by_motors, way):
    close = {"impulse": 1e-5, "variational": 1e-6}.get(way, CLOSE)
    run = da.simulate(machine("tables"), t_end=1.0, save_at=by_motors.t, **WAYS[way])
    for name in ("rail", "hinge"):
        assert np.ptp(by_motors.coordinate(name)) > 0.3
        assert np.abs(run.coordinate(name) - by_motors.coordinate(name)).max() < close
        assert np.abs(run.effort(f"on {name}").value - by_motors.effort(f"on {name}").value).max() < 1e3 * close
    assert run.report().passed


def test_the_answers_of_questions():
    """Poses at rest, stiffness there, the torque that a motion needs: by the table itself."""
    curve, damper = PchipInterpolator(KNOTS, TORQUES), PchipInterpolator(RATES, LOSSES)
    tables = {"stiffness": da.Table(KNOTS, TORQUES), "damping": da.Table(RATES, LOSSES)}
    model = pendulum(0.3, 0.1, **tables)
    model.add_motor("load", "hinge", 4.0)
    rest = da.equilibrium(model)
    at = rest.coordinate("hinge") - 0.3
    assert curve(at) + damper(0.0) == pytest.approx(4.0, abs=1e-9)
    assert rest.stiffness == pytest.approx([float(curve(at, 1)) / 0.5], rel=1e-7)  # of the inertia
    linear = da.linearise(model, at=rest)
    k, c = curve(at, 1) / 0.5, damper(0.0, 1) / 0.5
    assert np.sort_complex(linear.eigenvalues) == pytest.approx(np.sort_complex(np.roots([1.0, c, k])), rel=1e-7)
    times = np.array([0.1, 0.9])
    needed = da.inverse_dynamics(model, {"hinge": da.Polynomial((0.0, 0.8))}, ["load"], t=times)
    assert needed.effort("load") == pytest.approx(curve(0.8 * times - 0.3) + damper(0.8), abs=1e-9)


def test_sensitivities_are_differences():
    def build(reference, edge):
        tables = {"stiffness": da.Table(KNOTS, TORQUES), "damping": da.Table(RATES, (*LOSSES[:-1], edge))}
        return pendulum(reference, 0.0, rate=2.0, **tables)

    def end(reference, edge):
        return da.simulate(build(reference, edge), t_end=0.7, integrator=TIGHT).coordinate("hinge")[-1]

    given = {"reference": 0.3, "edge": 0.9}
    found = da.simulate(build, t_end=0.7, parameters=given, sensitivities=["reference", "edge"], integrator=TIGHT)
    assert end(**given) == pytest.approx(found.coordinate("hinge")[-1], abs=1e-9)
    for name in given:
        near, far = (
            (end(**{**given, name: given[name] + h}) - end(**{**given, name: given[name] - h})) / h for h in (0.01, 0.02)
        )
        expected = (4.0 * near - far) / 6.0
        assert found.derivative("hinge", name)[-1] == pytest.approx(expected, rel=1e-4), name


def test_sweeps_of_tables():
    """What each model alone gives, where a table is made anew or moved, also side by side in lanes that are in other pieces."""

    def build(reference, edge):
        tables = {"stiffness": da.Table((-1.0, 0.0, 0.2, 1.0), (-2.0, 0.0, 1.0, edge)), "damping": FORWARD_TURN}
        return pendulum(reference, 0.2, rate=1.0, **tables)

    given = {"reference": np.linspace(0.0, 0.3, 80), "edge": np.linspace(2.0, 9.0, 80)}
    many = da.simulate_many(build, 0.5, parameters=given, save_at=[0.5], integrator=TIGHT)
    for k in range(0, 80, 13):
        alone = da.simulate(build(given["reference"][k], given["edge"][k]), 0.5, save_at=[0.5], integrator=TIGHT)
        assert many.coordinate("hinge")[k, -1] == pytest.approx(alone.coordinate("hinge")[-1], abs=CLOSE)

"""compare does not certify a reference that its own kind of run cannot check, and times the compiled loop alone."""

import re

import numpy as np

import dalembert as da


def pulse(t, r, v, R, w):
    return np.array([0.0, 1000.0 * np.exp(-(((t - 0.6123) / 1e-3) ** 2)), 0.0])


def thrown():
    """sqrt(pi) m/s along y after a pulse of 1 ms: 2.46 m at t = 2 s, that adaptive runs at rest jump over."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("b", mass=1.0, inertia=np.eye(3), velocity=(1, 0, 0))
    model.add_force("pulse", "b", pulse)
    return model


def test_reference_that_misses_a_pulse_is_not_certified():
    """Jet and MovingFrame make the same adaptive run of a free body; fixed steps see the pulse."""
    plain = da.simulate(thrown(), 2.0).position("b")[-1, 1]
    missed = abs(plain - np.sqrt(np.pi) * (2.0 - 0.6123)) / 2.0 > 1e-3
    options = {"formulations": ["jet"], "integrators": ["rk4"], "steps": [0.0005], "repeats": 1, "progress": False}
    comparison = da.compare(thrown(), 2.0, **options)
    assert re.search(r"h = [\d.e-]+ s", comparison.reference.check)
    assert (comparison.reference.accuracy > 1e-3) == missed
    assert ("WARNING" in str(comparison)) == missed
    (seen,) = comparison.measurements
    assert not (seen.resolved and missed)  # the run that sees it is not blamed


def test_times_of_runs_with_functions_are_those_of_the_loop():
    """The CPU time of 4000 and of 400 steps of one method, with a force that is a function: about 10 : 1, never noise."""
    options = {"formulations": ["jet"], "integrators": ["rk4"], "steps": [0.005, 0.0005], "repeats": 1, "progress": False}
    coarse, fine = da.compare(thrown(), 2.0, **options).measurements
    assert (coarse.steps, fine.steps) == (400, 4000)
    assert 1e-7 * coarse.steps < coarse.time < fine.time
    assert fine.time < 30 * coarse.time
    run = da.simulate(thrown(), 2.0, integrator=da.RungeKutta4(step=0.005))
    assert 0 < run.statistics.cpu_time < 2 * run.statistics.time["integration"] + 0.01

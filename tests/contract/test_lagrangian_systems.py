"""What a Lagrangian system gets from every formulation that takes one: coordinates by name, reactions, energy, drift."""

import itertools

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS

TAKING = [name for name, cls in FORMULATIONS.items() if "generalised" in cls.coordinates]
PAIRS = [
    (formulation, integrator)
    for formulation, integrator in itertools.product(TAKING, INTEGRATORS)
    if FORMULATIONS[formulation]().takes(INTEGRATORS[integrator](step=0.1)) is None
]
STEP = 1 / 512


def bead():
    """On a rod that leans and is slid along y at a given rate: one holonomic row, one of velocities that moves, drag."""
    return da.LagrangianSystem(
        lambda q, v: 0.5 * (v.x**2 + v.y**2 + v.z**2) - 9.81 * q.z,
        "x y z",
        holonomic={"rod": lambda q: q.z - 0.5 * q.x},
        nonholonomic={"slide": lambda q, v, t: v.y - q.x * np.cos(t)},
        forces={"x": lambda v: -0.3 * v.x},
        initial={"x": 1.0, "z": 0.5},
        velocities={"y": 1.0},
    )


def exact(t):
    """x'' (1 + 1/4) + 0.3 x' + 9.81/2 = 0 along the rod; the slide does not act there. x and x'."""
    rate, fall = 0.3 / 1.25, 9.81 / 2 / 0.3
    return 1 - fall * t + fall / rate * (1 - np.exp(-rate * t)), -fall * (1 - np.exp(-rate * t))


def test_all_that_were_asked_for_take_lagrangian_systems():
    assert {"jet", "minimal", "impulse", "soft", "variational"} <= set(TAKING)
    for name in set(FORMULATIONS) - set(TAKING):
        with pytest.raises(ModelError, match="Lagrangian system takes one of Jet, Minimal, Impulse, Soft, Variational"):
            da.simulate(bead(), 0.1, formulation=FORMULATIONS[name]())


@pytest.mark.parametrize(("formulation", "integrator"), PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_same_solution_from_every_pair(formulation, integrator):
    """Errors of first order methods at 1/512 s: 0.5 g h t = 5e-3 m; what the constraints demand holds in each."""
    run = da.simulate(bead(), 0.5, formulation=FORMULATIONS[formulation](), integrator=INTEGRATORS[integrator](step=STEP))
    assert run.status == "complete" and run.t[-1] == 0.5
    x, rate = exact(run.t)
    np.testing.assert_allclose(run["x"], x, rtol=0, atol=1e-2)
    np.testing.assert_allclose(run["x'"], rate, rtol=0, atol=2e-2)
    np.testing.assert_allclose(run.reaction("rod")[:, 1], 0, rtol=0, atol=1e-12)
    push = run["x'"] * np.cos(run.t) - run["x"] * np.sin(run.t)  # m y'', all of it from the slide
    late = slice(2, None)
    np.testing.assert_allclose(run.reaction("slide")[late, 1], push[late], rtol=0, atol=5e-2)
    balance = np.ptp(run.energy.total)
    assert balance <= 5e-2 * run.energy.scale
    compliant = formulation == "soft"
    assert run.drift.position.max() <= (1e-5 if compliant else 1.1e-11)
    assert run.drift.by_joint("slide").velocity.max() <= (1e-2 if compliant or formulation == "variational" else 1.1e-11)
    assert run(0.2)["x"] == pytest.approx(exact(0.2)[0], abs=1e-2)
    assert set(run.to_xarray().dims) >= {"time"}

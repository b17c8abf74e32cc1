"""Jacobians of implicit stages by numbers with derivatives: the same steps as by differences, with fewer evaluations."""

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery.moving_frame import coiled_chain
from dalembert.integrators import advance
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.time import simplified_newton

compiled_only = pytest.mark.skipif(not JIT, reason="long")
plain_only = pytest.mark.skipif(JIT, reason="compiled code does not see the change of a constant")


class Never:
    at, arrays = -1, {}

    def __init__(self, run):
        pass


@compiled_only
@pytest.mark.parametrize("method", [da.RadauIIA, da.GaussLegendre])
def test_a_stiff_coil(method, monkeypatch):
    """Also that it is asked for in the middle of a run, which goes on as if nothing had been."""
    model = coiled_chain(4, joint_damping=7000.0)
    integrator = method(3, rtol=1e-6, atol=1e-6)
    options = {"formulation": da.MovingFrame(), "integrator": integrator, "save_at": np.linspace(0, 4, 5)}
    exact = da.simulate(model, 4.0, **options)
    monkeypatch.setattr(advance, "Slopes", Never)
    differences = da.simulate(model, 4.0, **options)
    a, b, n = exact.statistics, differences.statistics, 7 * len(model.bodies)
    asked = -(-simplified_newton.ENOUGH // n)
    assert a.accepted == b.accepted and a.stage_newton_steps == b.stage_newton_steps
    assert a.stage_jacobians == b.stage_jacobians > asked
    assert b.rate_evaluations - a.rate_evaluations == 2 * n * (a.stage_jacobians - asked)
    for body in model.bodies:
        np.testing.assert_allclose(exact.position(body.name), differences.position(body.name), rtol=0, atol=1e-12)


@plain_only
@pytest.mark.nojit
@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=["jet", "moving-frame"])
def test_columns_are_those_of_differences(formulation, monkeypatch):
    run = formulation.prepare(da.compile(da.gallery.chain(2)))
    x = run.from_absolute(run.mechanism.x_0)
    steps = advance.Advance(run, da.RadauIIA(2, step=0.01), 0.0, x, 1.0, None)
    simplified_newton.stand(steps.bundle)
    assert simplified_newton.differentiate(steps.bundle, run.view) == 0
    expected = steps.bundle.jacobian.copy()
    steps.ask_for_slopes()
    steps.bundle.jacobian[:] = 0.0
    simplified_newton.stand(steps.bundle)
    assert simplified_newton.slopes(steps.bundle, run.view) == 0
    np.testing.assert_allclose(steps.bundle.jacobian, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@plain_only
@pytest.mark.nojit
def test_differences_stay_where_nothing_else_is(monkeypatch):
    """A spring of length zero has no derivative where it begins."""
    monkeypatch.setattr(simplified_newton, "ENOUGH", 0)
    model = da.Model()
    ball = model.add_point_mass("ball", mass=1.0)
    model.add_spring_damper("spring", model.ground, ball, stiffness=3.0, damping=0.1)
    solution = da.simulate(model, 0.02, integrator=da.RadauIIA(2, step=0.01))
    assert solution.status == "complete" and solution.statistics.stage_jacobians > 0
    np.testing.assert_allclose(solution.position("ball")[-1], model.gravity * 0.02**2 / 2, rtol=1e-2)

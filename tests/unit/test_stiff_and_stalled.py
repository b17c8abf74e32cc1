"""Fixed implicit steps on stiff forces, friction that stalls a run, and the signs of quaternions in dense output."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery


def bushing(stiffness=1e8, damping=1e4) -> da.Model:
    """Two bodies that a stiff bushing makes one; the motion is that of a double body on a hinge."""
    model = da.Model()
    for k, name in enumerate("ab"):
        model.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0.5 + k, 0, 0))
    model.add_revolute("hinge", model.ground, "a", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("knee", "a", "b", point=(1, 0, 0), axis=(0, 1, 0))
    model.add_joint_spring_damper("bushing", "knee", stiffness=stiffness, damping=damping)
    return model


STIFF = {
    # error of a step of h = 0.02 of the slow motion, some 4 rad/s: (h w)^(order + 1) x 50 steps
    "radau 3, 0.02": (da.RadauIIA(3, step=0.02), 1e-7),
    "radau 3, 0.01": (da.RadauIIA(3, step=0.01), 1e-8),
    "radau 3, 0.002": (da.RadauIIA(3, step=0.002), 1e-8),
    "radau 2, 0.02": (da.RadauIIA(2, step=0.02), 1e-4),
    "gauss 3, 0.02": (da.GaussLegendre(3, step=0.02), 1e-7),
    "gauss 2, 0.01": (da.GaussLegendre(2, step=0.01), 1e-7),
}


@pytest.mark.parametrize(("integrator", "bound"), STIFF.values(), ids=STIFF)
def test_fixed_implicit_steps_on_a_stiff_bushing(integrator, bound):
    mechanism = da.compile(bushing())
    solution = da.simulate(mechanism, 1.0, integrator=integrator)
    reference = da.simulate(mechanism, 1.0, integrator=da.RadauIIA(3, rtol=1e-11, atol=1e-11))
    assert solution.coordinate("hinge")[-1] == pytest.approx(reference.coordinate("hinge")[-1], abs=bound)


@pytest.mark.parametrize("stiffness", [1e6, 1e10])
def test_other_stiffnesses(stiffness):
    solution = da.simulate(bushing(stiffness, 1e-4 * stiffness), 0.5, integrator=da.RadauIIA(3, step=0.01))
    assert abs(solution.coordinate("knee")).max() < 20.0 / stiffness * 10  # torque of some 20 N m


def test_friction_by_sign_is_named():
    def friction(t, r, v, R, w):
        return np.array([-5.0 * np.sign(v[0]), 0.0, 0.0])

    model = da.Model()
    model.add_body("block", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(1, 0, 0))
    model.add_prismatic("rail", model.ground, "block", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_force("dry friction", "block", friction)
    model.add_force("wind", "block", lambda t: (np.cos(t), 0.0, 0.0))
    with pytest.raises(
        da.SimulationError, match=r"a force jumps there; look at what you wrote for 'dry friction'; .*tanh"
    ) as stopped:
        da.simulate(model, t_end=1.0, integrator=da.DOP853(max_steps=100_000))
    assert stopped.value.time == pytest.approx(0.25, abs=5e-3)  # where v = 1 - 5 t + sin t ends
    assert stopped.value.solution.statistics.accepted < 50_000


def test_small_steps_of_a_smooth_motion_are_let_be():
    """A frequency of 1e7 rad/s takes as many steps and no force jumps: only max_steps ends it."""
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2 - 0.5e14 * q.x**2, "x", velocities={"x": 1e7})
    with pytest.raises(da.SimulationError, match="20000 steps reached only"):
        da.simulate(system, t_end=10.0, integrator=da.DOP853(max_steps=20_000))


def test_dense_output_keeps_the_signs_of_quaternions():
    solution = da.simulate(gallery.build("slider_crank"), t_end=0.5, formulation=da.MovingFrame())
    between = solution(np.linspace(0, 0.5, 41)).quaternion("crank")
    assert np.all(np.sum(between[1:] * between[:-1], axis=1) > 0)
    at = solution(solution.t[3:6] + 1e-6).quaternion("crank")
    assert np.all(np.sum(at * solution.quaternion("crank")[3:6], axis=1) > 0)

"""Force elements against closed forms: springs, dampers, motors, forces of time and of state, user functions."""

import json

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, run

import dalembert as da
from dalembert.compilation.callbacks import SlowFunctionWarning

BOUND = 1e-9  # a hundred times rtol = atol = 1e-11, for amplitudes of the order of one
MASS, STIFFNESS = 2.0, 50.0
TIMES = np.linspace(0.0, 4.0, 41)
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)


def oscillator(t, x_0, v_0, damping):
    """x and v of m x'' + c x' + k x = 0, from the exponential of its matrix's eigenvalues."""
    roots = np.roots([MASS, damping, STIFFNESS]).astype(complex)
    a, b = np.linalg.solve([[1, 1], roots], [x_0, v_0])
    e = a * np.exp(roots[0] * t), b * np.exp(roots[1] * t)
    return (e[0] + e[1]).real, (roots[0] * e[0] + roots[1] * e[1]).real


def sliding_block(x_0=0.3, v_0=0.5):
    model = da.Model()
    block = model.add_body("block", mass=MASS, inertia=(1, 1, 1), position=(x_0, 0, 0), velocity=(v_0, 0, 0))
    model.add_prismatic("slide", model.ground, block, points=((0, 0, 0), (0, 0, 0)), axis=(1, 0, 0))
    return model


@every_integrator
@pytest.mark.parametrize("damping", [0.0, 3.0, 40.0], ids=["undamped", "underdamped", "overdamped"])
@pytest.mark.parametrize("element", ["joint", "point-to-point"])
def test_spring_mass_damper(integrator, damping, element):
    model = sliding_block()
    if element == "joint":
        model.add_joint_spring_damper("spring", "slide", stiffness=STIFFNESS, damping=damping)
    else:
        model.add_spring_damper(
            "spring",
            model.ground,
            "block",
            stiffness=STIFFNESS,
            damping=damping,
            length=2.0,
            points=((-2, 0, 0), (0, 0, 0)),
        )
    solution = run(model, TIMES, integrator)
    x, v = oscillator(TIMES, 0.3, 0.5, damping)
    assert largest(solution.position("block")[:, 0] - x) <= BOUND
    assert largest(solution.velocity("block")[:, 0] - v) <= 5 * BOUND  # it swings at 5 rad/s
    assert largest(solution.coordinate("slide") - x) <= BOUND
    assert largest(solution.energy.potential - solution.energy.potential[0] - STIFFNESS * (x**2 - 0.09) / 2) <= 20 * BOUND
    lost = MASS * (v**2 - 0.25) / 2 + STIFFNESS * (x**2 - 0.09) / 2
    assert largest(solution.energy.external_work - lost) <= 20 * BOUND
    assert largest(solution.reaction("slide").force - [0, 0, MASS * 9.81]) <= 20 * BOUND


def hinged_disc(rate=0.0):
    """A disc whose centre lies on its hinge, so that gravity does nothing."""
    model = da.Model()
    disc = model.add_body("disc", mass=3.0, inertia=(0.4, 0.4, 0.7), position=(1, 2, 3), angular_velocity=(0, 0, rate))
    model.add_revolute("hinge", model.ground, disc, point=(1, 2, 3), axis=(0, 0, 1))
    return model


@every_integrator
def test_torsional_spring(integrator):
    """I theta'' + c theta' + k (theta - theta_0) = 0, about the reference angle 0.4."""
    model = hinged_disc(rate=2.0)
    model.add_joint_spring_damper("spring", "hinge", stiffness=6.0, damping=0.5, reference=0.4)
    solution = run(model, TIMES, integrator)
    decay = 0.5 / (2 * 0.7)
    frequency = np.sqrt(6.0 / 0.7 - decay**2)
    a, b = -0.4, (2.0 - 0.4 * decay) / frequency
    envelope = np.exp(-decay * TIMES)
    angle = 0.4 + envelope * (a * np.cos(frequency * TIMES) + b * np.sin(frequency * TIMES))
    assert largest(solution.coordinate("hinge") - angle) <= BOUND
    assert largest(solution.energy.total - solution.energy.total[0]) <= 10 * BOUND


@every_integrator
def test_motor_with_constant_torque(integrator):
    """theta = tau t^2 / (2 I): 11 turns, counted; its work is tau theta."""
    model = hinged_disc()
    model.add_motor("motor", "hinge", 6.3)
    solution = run(model, TIMES, integrator)
    angle = 6.3 * TIMES**2 / (2 * 0.7)
    assert angle[-1] > 11 * 2 * np.pi
    assert largest(solution.coordinate("hinge") - angle) <= BOUND * angle[-1]
    assert largest(solution.coordinate_rate("hinge") - 6.3 * TIMES / 0.7) <= BOUND * angle[-1]
    assert largest(solution.energy.external_work - 6.3 * angle) <= BOUND * 6.3 * angle[-1]


def test_motor_force_on_a_slide():
    model = sliding_block(x_0=0.0, v_0=0.0)
    model.add_motor("motor", "slide", da.Polynomial((1.0, 3.0)))
    solution = run(model, TIMES)
    exact = (TIMES**2 / 2 + TIMES**3 / 2) / MASS
    assert largest(solution.position("block")[:, 0] - exact) <= BOUND * exact[-1]


def free_body(velocity=(0, 0, 0)):
    model = da.Model((0, 0, 0))
    model.add_body("body", mass=MASS, inertia=(0.5, 0.6, 0.7), velocity=velocity)
    return model


def test_force_with_a_factor():
    """m x'' = F sin(w t + p)"""
    model = free_body()
    model.add_force("shaker", "body", (4.0, 0, 0), factor=da.Harmonic(1.0, 3.0, 0.5))
    solution = run(model, TIMES)
    exact = 4.0 / MASS / 9 * (np.sin(0.5) - np.sin(3 * TIMES + 0.5) + 3 * TIMES * np.cos(0.5))
    assert largest(solution.position("body")[:, 0] - exact) <= BOUND


def test_torque_with_a_factor():
    """I w' = M t about a principal axis, in body axes"""
    model = free_body()
    model.add_torque("twist", "body", (0, 0, 0.7), frame="body", factor=da.Polynomial((0.0, 1.0)))
    solution = run(model, TIMES)
    assert largest(solution.angular_velocity("body", "body")[:, 2] - TIMES**2 / 2) <= BOUND * 8
    half = TIMES**3 / 12
    exact = np.abs(np.stack([np.cos(half), np.sin(half)], axis=1))
    assert largest(np.abs(solution.quaternion("body")[:, [0, 3]]) - exact) <= BOUND * 10


def test_follower_force_turns_with_its_body():
    """A thrust in body axes on a body that spins at w: v = (F / m w) (sin wt, 1 - cos wt)."""
    model = da.Model((0, 0, 0))
    model.add_body("rocket", mass=MASS, inertia=(0.5, 0.6, 0.7), angular_velocity=(0, 0, 2.0))
    model.add_force("thrust", "rocket", (3.0, 0, 0), frame="body")
    solution = run(model, TIMES)
    exact = 3.0 / (MASS * 2.0) * np.stack([np.sin(2 * TIMES), 1 - np.cos(2 * TIMES)], axis=1)
    assert largest(solution.velocity("rocket")[:, :2] - exact) <= BOUND


def test_user_force_of_time():
    def push(t):
        return np.cos(2.0 * t), 0.0, t

    model = free_body()
    model.add_force("push", "body", push)
    solution = run(model, TIMES)
    exact = np.stack([(1 - np.cos(2 * TIMES)) / 4, 0 * TIMES, TIMES**3 / 6], axis=1) / MASS
    assert largest(solution.position("body") - exact) <= BOUND * 10


def drag(t, r, v, R, w):
    return -0.8 * v[0], -0.8 * v[1], -0.8 * v[2]


def plain_drag(t, r, v, R, w):
    """The same, in a way that cannot be compiled."""
    shown = json.loads(json.dumps({"v": [float(c) for c in v]}))
    return [-0.8 * c for c in shown["v"]]


def test_user_force_of_state():
    """m v' = -c v"""
    model = free_body(velocity=(3.0, -2.0, 1.0))
    model.add_force("drag", "body", drag)
    solution = run(model, TIMES)
    decay = np.exp(-0.8 * TIMES / MASS)[:, None]
    assert largest(solution.velocity("body") - decay * [3.0, -2.0, 1.0]) <= BOUND
    work = MASS * 14.0 / 2 * (decay[:, 0] ** 2 - 1)
    assert largest(solution.energy.external_work - work) <= 20 * BOUND


def test_user_force_acts_at_its_point():
    """r and v are those of the point: a spring to the origin, written by hand, equals the spring element."""

    def spring(t, r, v, R, w):
        s = np.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
        return -20.0 * (s - 0.5) * r / s - 0.3 * (r @ v) * r / s**2

    solutions = []
    for by_hand in (True, False):
        model = da.Model()
        body = model.add_body("body", mass=MASS, inertia=(0.5, 0.6, 0.7), position=(1, 0.5, 0), angular_velocity=(1, 2, 3))
        point = (0.1, 0.2, 0.3)
        if by_hand:
            model.add_force("spring", body, spring, point=point)
        else:
            model.add_spring_damper(
                "spring",
                model.ground,
                body,
                stiffness=20,
                damping=0.3,
                length=0.5,
                points=((0, 0, 0), point),
            )
        solutions.append(run(model, TIMES))
    a, b = solutions
    # other step sizes come from other rounding: the bound of two independent runs
    assert largest(a.position("body") - b.position("body")) <= 10 * BOUND
    assert largest(a.angular_velocity("body") - b.angular_velocity("body")) <= 100 * BOUND


def test_user_torque():
    def brake(t, r, v, R, w):
        return -0.35 * w

    model = hinged_disc(rate=5.0)
    model.add_torque("brake", "disc", brake, frame="world")
    solution = run(model, TIMES)
    exact = 5.0 * np.exp(-0.35 / 0.7 * TIMES)
    assert largest(solution.coordinate_rate("hinge") - exact) <= BOUND * 5


def test_plain_python_force_warns_and_gives_the_same_motion():
    solutions = []
    for function in (drag, plain_drag):
        model = free_body(velocity=(3.0, -2.0, 1.0))
        model.add_force("drag", "body", function)
        if function is plain_drag:
            with pytest.warns(SlowFunctionWarning, match="'drag' could not be compiled .*; it runs as plain Python"):
                solutions.append(run(model, TIMES))
        else:
            solutions.append(run(model, TIMES))
    # the same operations; the compiler may fuse a product and a sum, hence a few ulp instead of none
    assert largest(solutions[0].x - solutions[1].x) <= 1e-13

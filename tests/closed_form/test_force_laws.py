"""Laws of the user in mechanisms, each against an independent calculation in its own few coordinates by SciPy.

Both sides run DOP853 at 1e-11; errors of the right-hand sides grow by less than a hundred over these runs: 1e-8 is asked for.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

import dalembert as da

G = 9.81
FORMULATIONS = [da.Jet, da.MovingFrame, da.Minimal]
CLOSE = 1e-8


def run(model: da.Model, t_end: float, formulation: type) -> da.Solution:
    tight = da.DOP853(rtol=1e-11, atol=1e-11)
    return da.simulate(model, t_end, formulation=formulation(), integrator=tight, save_at=np.linspace(0, t_end, 21))


def reference(rate, start, t_end: float) -> np.ndarray:
    """States at the same times."""
    times = np.linspace(0, t_end, 21)
    return solve_ivp(rate, (0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times, max_step=0.01).y


def rod(model: da.Model, name: str, length: float, mass: float, start: np.ndarray, along: np.ndarray):
    """A thin rod from a point in the x-z plane, moment of inertia m l^2 / 12 about y."""
    J = mass * length**2 / 12
    angle = np.arctan2(-along[2], along[0])
    turned = da.Rotation.from_axis_angle((0, 1, 0), angle).quaternion
    return model.add_body(name, mass=mass, inertia=(1e-3 * J, J, J), position=start + 0.5 * length * along, rotation=turned)


# a two-link arm: angles about y, each of its own joint; x = (cos, -sin)(angle) in (x, z)
L1, L2, M1, M2 = 0.8, 0.6, 3.0, 2.0
KP, KD = np.array([120.0, 60.0]), np.array([12.0, 5.0])


def wanted(t: float) -> np.ndarray:
    return np.array([0.4 * np.sin(2.0 * t), 0.3 - 0.5 * np.cos(1.5 * t)])


def arm(law, parameters=None) -> da.Model:
    model = da.Model(gravity=(0, 0, -G))
    x = np.array([1.0, 0.0, 0.0])
    upper = rod(model, "upper", L1, M1, np.zeros(3), x)
    lower = rod(model, "lower", L2, M2, L1 * x, x)
    model.add_revolute("shoulder", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("elbow", upper, lower, point=L1 * x, axis=(0, 1, 0))
    model.add_joint_law("control", ["shoulder", "elbow"], law, parameters=parameters)
    return model


def pd(t, s, s_dot, kp, kd):
    aim = np.array([0.4 * np.sin(2.0 * t), 0.3 - 0.5 * np.cos(1.5 * t)])
    return kp * (aim - s) - kd * s_dot


def arm_rate(t, y):
    q, u = y[:2], y[2:]
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    a = M1 * L1**2 / 3 + M2 * (L1**2 + L2**2 / 3 + L1 * L2 * c2)
    b, d = M2 * (L2**2 / 3 + L1 * L2 * c2 / 2), M2 * L2**2 / 3
    h = M2 * L1 * L2 * s2 / 2
    coriolis = np.array([-h * (2 * u[0] * u[1] + u[1] ** 2), h * u[0] ** 2])
    # height of a centre is -sin of its angle: gravity drives the angles up
    c1, c12 = np.cos(q[0]), np.cos(q[0] + q[1])
    weight = G * np.array([(M1 / 2 + M2) * L1 * c1 + M2 * L2 / 2 * c12, M2 * L2 / 2 * c12])
    tau = KP * (wanted(t) - q) - KD * u
    return np.concatenate([u, np.linalg.solve([[a, b], [b, d]], tau + weight - coriolis)])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_pd_control_of_a_two_link_arm(formulation):
    solution = run(arm(pd, {"kp": KP, "kd": KD}), 2.0, formulation)
    angles = reference(arm_rate, np.zeros(4), 2.0)
    for k, joint in enumerate(("shoulder", "elbow")):
        assert np.abs(solution.coordinate(joint) - angles[k]).max() < CLOSE
        assert np.abs(solution.coordinate_rate(joint) - angles[2 + k]).max() < 10 * CLOSE
    effort = solution.effort("control")
    expected = KP * (np.array([wanted(t) for t in solution.t]) - angles[:2].T) - KD * angles[2:].T
    assert np.abs(effort.value - expected).max() < 1e3 * CLOSE
    assert np.abs(effort.power - np.sum(effort.value * effort.rate, axis=1)).max() < 1e-10
    assert solution.report().passed


def test_one_motor_for_each_joint_is_the_same_control():
    def shoulder(t, s, s_dot, kp, kd):
        return kp * (0.4 * np.sin(2.0 * t) - s) - kd * s_dot

    def elbow(t, s, s_dot, kp, kd):
        return kp * (0.3 - 0.5 * np.cos(1.5 * t) - s) - kd * s_dot

    one = arm(pd, {"kp": KP, "kd": KD})
    two = arm(lambda t, s, s_dot: 0.0 * s)
    two.add_motor("first", "shoulder", shoulder, parameters={"kp": KP[0], "kd": KD[0]})
    two.add_motor("second", "elbow", elbow, parameters={"kp": KP[1], "kd": KD[1]})
    a, b = run(one, 0.5, da.MovingFrame), run(two, 0.5, da.MovingFrame)
    assert np.abs(a.coordinate("elbow") - b.coordinate("elbow")).max() < 1e-10


def wound_up(t, s, s_dot, k):
    return -k * s


def test_laws_see_angles_over_full_turns():
    """A wheel that starts more than a turn away from rest: 7 cos(w t), not what its remainder would do."""
    model = da.Model(gravity=(0, 0, 0))
    for name, at in (("a", (0, 0, 0)), ("b", (1, 0, 0))):
        model.add_body(name, mass=1.0, inertia=(1, 1, 0.5), position=at)
        model.add_revolute(f"hub {name}", model.ground, name, point=at, axis=(0, 0, 1), coordinate=7.0)
    model.add_motor("motor", "hub a", wound_up, parameters={"k": 2.0})
    model.add_joint_law("law", ["hub b"], wound_up, parameters={"k": 2.0})
    solution = da.simulate(model, 1.0, integrator=da.DOP853(rtol=1e-10, atol=1e-10))
    for name in ("hub a", "hub b"):
        assert np.abs(solution.coordinate(name) - 7.0 * np.cos(2.0 * solution.t)).max() < 1e-8
    assert np.abs(solution.effort("motor").value + 2.0 * solution.coordinate("hub a")).max() < 1e-12


# two pendulums that swing towards each other, with a bump stop between their ends
LENGTH, APART, REACH, STIFF, LOSS = 1.0, 0.7, 0.5, 4e4, 30.0


def bump_stop(t, l, l_dot, reach, stiff, loss):
    gap = reach - l
    if gap <= 0.0:
        return 0.0
    return -stiff * gap**3 + loss * gap * l_dot


def pendulum_rate(t, y):
    q, u = y[:2], y[2:]
    feet = np.array([[0.0, 0.0], [APART, 0.0]])
    along = np.stack([np.sin(q), -np.cos(q)], axis=1)
    across = np.stack([np.cos(q), np.sin(q)], axis=1)
    ends, speeds = feet + LENGTH * along, LENGTH * u[:, None] * across
    d, v = ends[1] - ends[0], speeds[1] - speeds[0]
    l = np.linalg.norm(d)
    tension = bump_stop(t, l, d @ v / l, REACH, STIFF, LOSS)
    pull = np.array([tension * d / l, -tension * d / l])
    m = np.array([1.0, 2.0])
    torque = LENGTH * np.sum(across * pull, axis=1) - m * G * LENGTH / 2 * np.sin(q)
    return np.concatenate([u, torque / (m * LENGTH**2 / 3)])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_bump_stop_between_two_moving_bodies(formulation):
    start = np.array([-0.6, 0.5])
    model = da.Model(gravity=(0, 0, -G))
    for k, name in enumerate(("left", "right")):
        along = np.array([np.sin(start[k]), 0.0, -np.cos(start[k])])
        body = rod(model, name, LENGTH, 1.0 + k, np.array([APART * k, 0.0, 0.0]), along)
        model.add_revolute(f"hinge {name}", model.ground, body, point=(APART * k, 0, 0), axis=(0, -1, 0))
    ends = ((LENGTH / 2, 0, 0), (LENGTH / 2, 0, 0))
    numbers = {"reach": REACH, "stiff": STIFF, "loss": LOSS}
    model.add_spring_damper("stop", "left", "right", points=ends, force=bump_stop, parameters=numbers)
    solution = run(model, 1.0, formulation)
    angles = reference(pendulum_rate, np.concatenate([start, np.zeros(2)]), 1.0)
    for k, name in enumerate(("left", "right")):
        assert np.abs(solution.coordinate(f"hinge {name}") + start[k] - angles[k]).max() < CLOSE
    effort = solution.effort("stop")
    assert effort.value.min() < -10.0  # it was hit
    assert np.abs(effort.force + effort.on["left"].force).max() == 0.0
    assert solution.report().passed


# a double wishbone: two arms about x axes, an upright on ball joints, a tie rod beside the lower arm that keeps it straight
LOWER, UPPER = np.array([0.0, 0.2, 0.2]), np.array([0.0, 0.3, 0.5])  # hinges of the arms
LOW_BALL, HIGH_BALL = np.array([0.0, 0.65, 0.18]), np.array([0.0, 0.62, 0.52])
TOWER = np.array([0.0, 0.32, 0.75])  # of the strut, on the chassis
SEAT = 0.7  # of the strut on the lower arm, in parts of it
MASSES = {"lower arm": 4.0, "upper arm": 3.0, "upright": 20.0}
SPRING, SLACK = 45e3, 0.62
RATES = (-1.2, -0.3, 0.0, 0.1, 1.5)
TENSIONS = (-900.0, -700.0, 0.0, 500.0, 2600.0)  # soft in compression, hard in rebound


def wishbone() -> da.Model:
    model = da.Model(gravity=(0, 0, -G))
    places = {"lower arm": (LOWER + LOW_BALL) / 2, "upper arm": (UPPER + HIGH_BALL) / 2, "upright": (LOW_BALL + HIGH_BALL) / 2}
    for name, place in places.items():
        model.add_body(name, mass=MASSES[name], inertia=[0.02 * MASSES[name]] * 3, position=place)
    model.add_revolute("low hinge", model.ground, "lower arm", point=LOWER, axis=(1, 0, 0))
    model.add_revolute("high hinge", model.ground, "upper arm", point=UPPER, axis=(1, 0, 0))
    model.add_spherical("low ball", "lower arm", "upright", point=LOW_BALL)
    model.add_spherical("high ball", "upper arm", "upright", point=HIGH_BALL)
    aside = np.array([0.12, 0.0, 0.0])
    model.add_distance("tie rod", model.ground, "upright", points=(LOWER + aside, LOW_BALL + aside - places["upright"]))
    seat = LOWER + SEAT * (LOW_BALL - LOWER)
    ends = (seat - places["lower arm"], TOWER)
    curve = da.Table(RATES, TENSIONS)
    model.add_spring_damper("strut", "lower arm", model.ground, points=ends, stiffness=SPRING, length=SLACK, damping=curve)
    return model


def linkage(theta: complex) -> tuple[np.ndarray, np.ndarray]:
    """(y, z) of the three centres of mass and the angles of the bodies by that of the lower arm; complex steps allowed."""

    def turned(p, a):
        return np.array([np.cos(a) * p[0] - np.sin(a) * p[1], np.sin(a) * p[0] + np.cos(a) * p[1]])

    low, high = LOWER[1:], UPPER[1:]
    a, b, c = LOW_BALL[1:] - low, HIGH_BALL[1:] - high, HIGH_BALL[1:] - LOW_BALL[1:]
    ball = low + turned(a, theta)
    to = high - ball  # upright c from the ball, upper arm -b from its end back to its hinge: a triangle
    dd, cc, bb = to @ to, c @ c, b @ b
    cosine = (cc + dd - bb) / (2 * np.sqrt(dd * cc))
    sides = [np.arctan2(v[1].real, v[0].real) for v in (high - LOW_BALL[1:], c)]
    sign = np.sign(np.sin(sides[1] - sides[0]))

    def angle(v):  # arctan2 of complex numbers near real ones
        return np.arctan2(v[1].real, v[0].real) + 1j * ((v[0].real * v[1].imag - v[1].real * v[0].imag) / (v @ v).real)

    cosine_angle = np.arccos(cosine.real) - 1j * cosine.imag / np.sqrt(1 - cosine.real**2)
    upright = angle(to) + sign * cosine_angle - sides[1]
    end = ball + turned(c, upright)
    upper = angle(end - high) - np.arctan2(b[1], b[0])
    centres = np.array([low + turned(a, theta) / 2, (high + end) / 2, ball + turned(c, upright) / 2])
    return centres, np.array([theta, upper, upright])


def wishbone_rate(t, y):
    theta, rate = y
    m = np.array([MASSES[name] for name in ("lower arm", "upper arm", "upright")])
    J = 0.02 * m

    def jacobian(at):
        centres, angles = linkage(at + 1e-30j)
        return centres.imag / 1e-30, angles.imag / 1e-30

    def inertia(at):
        x, a = jacobian(at)
        return np.sum(m[:, None] * x**2) + np.sum(J * a**2)

    h = 1e-3
    slope = np.dot([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280],
                   [inertia(theta + k * h) for k in (-4, -3, -2, -1, 1, 2, 3, 4)]) / h  # fmt: skip
    x, _ = jacobian(theta)
    arm = SEAT * (LOW_BALL - LOWER)[1:]
    c, s = np.cos(theta), np.sin(theta)
    seat = LOWER[1:] + np.array([c * arm[0] - s * arm[1], s * arm[0] + c * arm[1]])
    way = np.array([-s * arm[0] - c * arm[1], c * arm[0] - s * arm[1]])
    d = TOWER[1:] - seat
    l = np.linalg.norm(d)
    l_dot = -d @ way / l * rate
    curve = PchipInterpolator(RATES, TENSIONS)
    inside = np.clip(l_dot, RATES[0], RATES[-1])
    damper = float(curve(inside)) + float(curve.derivative()(inside)) * (l_dot - inside)
    tension = SPRING * (l - SLACK) + damper
    force = tension * (d @ way) / l - G * np.sum(m * x[:, 1])
    return np.array([rate, (force - 0.5 * slope * rate**2) / inertia(theta)])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_damper_curve_in_a_double_wishbone(formulation):
    solution = run(wishbone(), 0.4, formulation)
    angle, rate = reference(wishbone_rate, np.zeros(2), 0.4)
    assert np.ptp(angle) > 0.1
    assert np.abs(solution.coordinate("low hinge") - angle).max() < CLOSE
    assert np.abs(solution.coordinate_rate("low hinge") - rate).max() < 100 * CLOSE
    strut = solution.effort("strut")
    assert strut.rate.min() < -0.3 or strut.rate.max() > 0.1  # beyond the inner knots of the curve
    assert solution.report().passed

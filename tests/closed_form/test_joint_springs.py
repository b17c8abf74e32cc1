"""Signs and frames of springs and dampers in ball joints and of a spring-damper at a rod's end [MovingFrame, 3.3.2-3.3.3].

One joint in closed form, then power and work in space against what the elements should do, computed from the motion alone.
"""

import numpy as np
import pytest
from reference_data import largest, run
from scipy.integrate import simpson
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert import gallery

BOUND = 1e-9
TIMES = np.linspace(0.0, 4.0, 41)
INERTIA = np.array([0.4, 0.5, 0.7]), np.array([1.1, 1.3, 1.6])
ANGLE, STIFFNESS, DAMPING = 0.6, 6.0, 0.5
LAWS = ["rotation-vector", "euler-321"]


def twins(axis, law, parent="body"):
    """Two bodies with a common centre of mass, the second turned about a common principal axis: no other motion follows."""
    model = da.Model((0, 0, 0))
    attitude = da.Rotation.from_rpy(0.3, -0.5, 0.8)  # of the first body: frames matter
    first = model.ground
    if parent == "body":
        first = model.add_body("first", mass=1.0, inertia=INERTIA[0], rotation=attitude)
    else:
        attitude = da.Rotation()
    turn = attitude * da.Rotation.from_axis_angle(np.eye(3)[axis], ANGLE)
    second = model.add_body("second", mass=2.0, inertia=INERTIA[1], rotation=turn)
    joint = model.add_spherical("ball", first, second, points=((0, 0, 0), (0, 0, 0)))
    model.add_joint_spring_damper("spring", joint, stiffness=STIFFNESS, damping=DAMPING, law=law)
    return model


def decaying(t, inertia):
    """angle and rate of J s'' + c s' + k s = 0 from rest at ANGLE."""
    decay = DAMPING / (2 * inertia)
    frequency = np.sqrt(STIFFNESS / inertia - decay**2)
    e, c, s = np.exp(-decay * t), np.cos(frequency * t), np.sin(frequency * t)
    return ANGLE * e * (c + decay / frequency * s), -ANGLE * e * (decay**2 / frequency + frequency) * s


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("parent", ["ground", "body"])
def test_one_joint(parent, law, axis):
    """Both laws are k times the angle about one axis; against a free parent J_1 J_2 / (J_1 + J_2) swings."""
    J_1, J_2 = INERTIA[0][axis], INERTIA[1][axis]
    reduced = J_2 if parent == "ground" else J_1 * J_2 / (J_1 + J_2)
    angle, rate = decaying(TIMES, reduced)
    solution = run(twins(axis, law, parent), TIMES)
    e = np.eye(3)[axis]
    assert largest(solution.coordinate("ball") - np.outer(angle, e)) <= BOUND
    w = solution.angular_velocity("second", "body")
    if parent == "body":
        v = solution.angular_velocity("first", "body")
        assert largest(J_1 * v + J_2 * w) <= BOUND  # no momentum to begin with: what one gets the other loses
        w = w - v
    assert largest(w - np.outer(rate, e)) <= 5 * BOUND  # it swings at up to 5 rad/s
    stored = STIFFNESS * angle**2 / 2
    lost = reduced * rate**2 / 2 + stored - stored[0]  # the damper's work
    work = solution.energy.external_work
    if law == "euler-321":  # no potential in general: the spring's own work is external too
        work = work + stored - stored[0]
    assert largest(work - lost) <= 10 * BOUND


def loaded_chain(law, stiffness, joint_damping, end_damping):
    """Three rods in space with springs and dampers at the joints and a spring-damper from the end to a fixed point."""
    model = gallery.torsion_chain((0.0, 0.0, 0.0), bend=0.4)
    for k in (1, 2, 3):
        name = f"law {k}"
        model.add_joint_spring_damper(name, f"joint {k}", stiffness=stiffness * k, damping=joint_damping, law=law)
    model.add_spring_damper(
        "tether",
        model.ground,
        "rod 3",
        stiffness=100.0,
        damping=end_damping,
        length=3.0,
        points=((1.0, 4.0, -3.0), (0, 0, -1)),
    )
    return model


def powers(solution, law, stiffness, joint_damping, end_damping):
    """Power of joint dampers, of joint springs and of the end damper over time, from poses and velocities alone."""
    count = len(solution.t)
    dampers, springs = np.zeros(count), np.zeros(count)
    R_i, w_i = np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3))
    for k in (1, 2, 3):
        R_j, w_j = solution.rotation(f"rod {k}"), solution.angular_velocity(f"rod {k}")
        turn = Rotation.from_matrix(np.einsum("tji,tjk->tik", R_i, R_j))
        a = turn.as_rotvec() if law == "rotation-vector" else turn.as_euler("ZYX")[:, ::-1]
        moment = -stiffness * k * np.einsum("tij,tj->ti", R_i, a)  # on the child, world axes
        springs += np.sum(moment * (w_j - w_i), axis=1)
        dampers -= joint_damping * np.sum((w_j - w_i) ** 2, axis=1)
        R_i, w_i = R_j, w_j
    d = solution.point("rod 3", (0, 0, -1)) - [1.0, 4.0, -3.0]
    n = d / np.linalg.norm(d, axis=1)[:, None]
    end = -end_damping * np.sum(n * solution.velocity("rod 3", (0, 0, -1)), axis=1) ** 2
    return dampers, springs, end


@pytest.mark.parametrize(
    ("stiffness", "joint_damping", "end_damping"),
    [(0.0, 8.0, 0.0), (0.0, 0.0, 60.0), (200.0, 0.0, 0.0), (200.0, 8.0, 60.0)],
    ids=["joint dampers", "end damper", "springs", "all"],
)
@pytest.mark.parametrize("law", LAWS)
def test_work_in_space(law, stiffness, joint_damping, end_damping):
    """T + U - W_ext is constant, W_ext is the time integral of the elements' power, and dampers only take.

    Simpson's rule at 0.5 ms leaves 1e-8 of the work: twist at 50 rad/s, (50 h)^4 / 180.
    """
    gains = (law, stiffness, joint_damping, end_damping)
    times = np.linspace(0.0, 1.0, 2001)
    solution = run(loaded_chain(*gains), times, da.DOP853(rtol=1e-12, atol=1e-12))
    dampers, springs, end = powers(solution, *gains)
    energy = solution.energy
    assert largest(energy.total - energy.total[0]) <= BOUND * energy.scale
    external = dampers + end + (springs if law == "euler-321" else 0.0)
    work = energy.external_work
    assert abs(simpson(external, x=times) - work[-1]) <= 1e-8 * energy.scale
    if law == "rotation-vector" or stiffness == 0.0:
        assert np.all(np.diff(work) <= 0)
        assert (work[-1] < -1.0) == (joint_damping + end_damping > 0)
    # V = 1/2 k angle^2: what the springs give leaves the potential
    if law == "rotation-vector" and stiffness:
        heights = sum(solution.position(f"rod {k}")[:, 2] for k in (1, 2, 3))
        d = solution.point("rod 3", (0, 0, -1)) - [1.0, 4.0, -3.0]
        tether = 50.0 * (np.linalg.norm(d, axis=1) - 3.0) ** 2
        stored = energy.potential - 50 * 9.81 * heights - tether
        assert abs(stored[-1] - stored[0] + simpson(springs, x=times)) <= 1e-8 * energy.scale


def test_a_ball_joint_that_is_turned_over_is_told():
    """Beyond half a turn its spring goes on from the other side, unlike the coordinate, which is counted on."""
    for rate, told in ((2.0, False), (5.0, True)):
        model = da.Model(gravity=(0, 0, 0))
        model.add_body("ball", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, rate))
        model.add_spherical("socket", model.ground, "ball", point=(0, 0, 0))
        model.add_joint_spring_damper("spring", "socket", stiffness=1.0)
        report = da.simulate(model, t_end=2.0).report()
        said = [line.value for line in report.lines if line.name == "force elements"]
        assert bool(said) == told
        if told:
            assert said[0].startswith("joint spring-damper 'spring': turned by up to 1")
            assert said[0].endswith("at 180 its torque turns over")

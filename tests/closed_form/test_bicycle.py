"""The Whipple bicycle against the published accelerations, its weight and its range of stability."""

import numpy as np
import pytest
from reference_data import largest, load

import dalembert as da
from dalembert import gallery
from dalembert.gallery.bicycle import STEERING_AXIS

Z = np.array([0.0, 0.0, 1.0])
FORMULATIONS = [da.Jet(), da.MovingFrame(), da.Minimal()]
NAMES = [type(f).__name__ for f in FORMULATIONS]


def published():
    """The published state: the bicycle (mapping of axes and signs: the data file) and the file itself."""
    data = load("bicycle")
    state = data["initial_conditions"]
    angles = (np.pi / 2 - state["psi"], np.pi - state["phi"], -state["psif"])
    rates = [-state[name] for name in ("thetad", "psid", "phid", "psifd", "betard", "betafd")]
    return gallery.bicycle(angles=angles, rates=rates), data


def test_published_state_is_ours():
    """Height and velocity of the rear wheel follow from rolling; the front wheel rolls too. The file has 13 digits."""
    model, data = published()
    state = data["initial_conditions"]
    rear = model.body("rear wheel")
    assert rear.position[2] == pytest.approx(-state["z"], abs=2e-13)
    np.testing.assert_allclose(rear.velocity, (-state["xd"], state["yd"], -state["zd"]), rtol=0, atol=1e-12)
    assembly = model.assemble()
    assert assembly.position_residual[0] <= 1e-12
    assert assembly.velocity_residual[0] <= 1e-11


def accelerations(solution):
    """The nine accelerations of the first state under their published names, from those of the four bodies."""
    count = {body.name: k for k, body in enumerate(solution.mechanism.model.bodies)}

    def turning(name):
        """Angular velocity and acceleration, world axes."""
        R, k = solution.rotation(name)[0], 6 * count[name]
        return solution.angular_velocity(name)[0], R @ solution.evaluated.acceleration[0, k + 3 : k + 6]

    (w, a), (_, a_fork) = turning("frame"), turning("fork")
    R, R_fork = solution.rotation("frame")[0], solution.rotation("fork")[0]
    lean = np.cross(R[:, 1], np.cross(Z, R[:, 1]))  # the frame's y is the axis of pitch, level is the axis of roll
    level = np.cross(R[:, 1], lean / np.linalg.norm(lean))
    axes = np.column_stack([Z, level, R[:, 1]])
    d_yaw, d_roll, d_pitch = np.linalg.solve(axes, w)
    bias = np.cross(d_yaw * Z, d_roll * level) + np.cross(d_yaw * Z + d_roll * level, d_pitch * R[:, 1])
    yaw, roll, pitch = np.linalg.solve(axes, a - bias)
    steer = (a_fork - a) @ R @ STEERING_AXIS  # w x axis is normal to the axis
    rear = (turning("rear wheel")[1] - a) @ R[:, 1]
    front = (turning("front wheel")[1] - a_fork) @ R_fork[:, 1]
    x, y, z = solution.acceleration("rear wheel")[0]
    values = (-x, y, -z, -yaw, -roll, -pitch, -steer, -rear, -front)
    return dict(zip(("xdd", "ydd", "zdd", "thetadd", "psidd", "phidd", "psifdd", "betardd", "betafdd"), values, strict=True))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=NAMES)
def test_nine_accelerations(formulation):
    """[BasuMandalChatterjeePapadopoulos2007, Table 1]"""
    model, data = published()
    solution = da.simulate(model, 1e-3, formulation=formulation, save_at=[0.0, 1e-3])
    found, expected = accelerations(solution), data["reference"]["accelerations"]
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=0, abs=1e-10), name
    for wheel, force in data["reference"]["contact_forces"].items():
        np.testing.assert_allclose(solution.reaction(f"{wheel} contact").force[0], force, rtol=0, atol=1e-9)


def test_standing_upright_the_wheels_carry_the_weight():
    """Moments about the contacts: front N = g sum(m x) / wheelbase."""
    model = gallery.bicycle(rates=np.zeros(6))
    reaction = {name: da.simulate(model, 1e-3).reaction(f"{name} contact").force[0] for name in ("rear", "front")}
    front = 9.81 * sum(body.mass * body.position[0] for body in model.bodies) / 1.02
    np.testing.assert_allclose(reaction["front"], (0, 0, -front), rtol=0, atol=1e-10)
    np.testing.assert_allclose(reaction["rear"], (0, 0, front - 9.81 * 94), rtol=0, atol=1e-10)


def test_rights_itself_between_weave_and_capsize():
    """Self-stable from 4.292 to 6.024 m/s [MeijaardPapadopoulosRuinaSchwab2007]; energy and rolling are kept."""
    lean = {}
    for speed in (4.0, 4.6):
        solution = da.simulate(gallery.bicycle(speed, rates=(0, 0.05, 0, 0, -speed / 0.3, -speed / 0.35)), 6.0)
        swing = np.abs(np.arcsin(solution.rotation("frame")[:, 2, 1]))
        lean[speed] = swing[solution.t > 4].max() / swing[solution.t < 2].max()
        energy = solution.energy
        assert largest(energy.total - energy.total[0]) <= 1e-8 * energy.scale
    assert lean[4.6] < 1 < lean[4.0]

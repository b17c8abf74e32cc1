"""Efforts by inverse dynamics, put into the motors of a run from rest: it makes the motion that was asked for."""

import numpy as np
import pytest
from mechanisms import bump, bumped, delta, derivatives, five_bar, four_rrr, stewart, turns_of_feet

import dalembert as da
from dalembert.gallery.bicycle import bicycle

T = np.linspace(0, 1, 321)


@pytest.mark.parametrize(
    ("build", "sizes"),
    [(five_bar, (0.4, -0.3)), (delta, (0.3, 0.2, -0.2)), (stewart, (0.05, 0.1, 0.02, -0.04, 0.08, 0.03))],
    ids=["five-bar", "delta", "stewart"],
)
def test_forward_after_inverse(build, sizes):
    model, joints = build()
    found = da.inverse_dynamics(model, dict(zip(joints, map(bump, sizes), strict=True)), joints, t=T)
    assert found.unique and found.residual.max() < 1e-10
    for joint, effort in found.motions().items():
        model.add_motor(f"motor {joint}", joint, effort)
    run = da.simulate(model, 1.0, save_at=[0.0, 0.4, 1.0], integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    for joint, size in zip(joints, sizes, strict=True):
        np.testing.assert_allclose(run.coordinate(joint), bumped(size, run.t), rtol=0, atol=1e-8)


def test_four_motors_for_three_freedoms():
    """The smallest efforts against least squares on angles of the feet by circles: A^T tau is the same for all that do it."""
    model, feet = four_rrr()
    wanted = {"foot0": bump(-0.1), "foot1": bump(0.07), "foot2": bump(-0.08)}
    found = da.inverse_dynamics(model, wanted, feet, t=T)
    three = da.inverse_dynamics(model, wanted, feet[:3], t=T)
    assert not found.unique and "a choice" in found.note and three.unique
    plate = found.motion
    for k in range(0, len(T), 40):
        pose = np.array([*plate.position("plate")[k, :2], np.arctan2(*plate.rotation("plate")[k, 1::-1, 0])])
        A = np.array([derivatives(lambda s, d=d, pose=pose: turns_of_feet(pose + s * d), 0.0)[0] for d in np.eye(3)])
        needed = A[:, :3] @ [three.effort(foot)[k] for foot in feet[:3]]
        expected = np.linalg.lstsq(A, needed, rcond=None)[0]
        np.testing.assert_allclose([found.effort(foot)[k] for foot in feet], expected, rtol=1e-9, atol=1e-9)
    for joint, effort in found.motions().items():
        model.add_motor(f"motor {joint}", joint, effort)
    run = da.simulate(model, 1.0, save_at=[0.4, 1.0], integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    np.testing.assert_allclose(run.coordinate("foot0"), bumped(-0.1, run.t), rtol=0, atol=1e-8)


def test_steering_torque_of_a_bicycle():
    """Three freedoms and one motor, where it rights itself: a motion that the motor made gives its torque back, and that torque
    the motion, all of its state."""

    def ride(torque, times):
        model = bicycle(5.0)
        model.add_motor("hands", "head", torque)
        return model, da.simulate(model, 1.0, save_at=times, integrator=da.DOP853(rtol=1e-11, atol=1e-11))

    model, first = ride(bump(2.0) + da.Constant(0.1), T)
    found = da.inverse_dynamics(model, first, ["hands"])
    np.testing.assert_allclose(found.effort("hands"), 0.1 + bumped(2.0, T), rtol=0, atol=1e-10)
    assert found.unique and found.residual.max() < 1e-12
    _, again = ride(found.motions()["hands"], T[::80])
    assert np.ptp(first.coordinate("head")) > 0.2
    nx = again.mechanism.nq + again.mechanism.nu
    np.testing.assert_allclose(again.x[:, :nx], first.x[::80, :nx], rtol=0, atol=1e-8)


def test_a_motion_that_a_joint_forbids():
    model, feet = four_rrr()
    too_many = {f"foot{k}": bump(0.3) for k in range(4)}
    with pytest.raises(da.DalembertError, match="foot"):
        da.inverse_dynamics(model, too_many, feet, t=T[::40])
    with pytest.raises(da.ModelError, match=r"the motion cannot be made: the motion ends at .* a dead centre"):
        da.inverse_dynamics(model, {"foot0": bump(3.0), "foot1": bump(0.0), "foot2": bump(0.0)}, feet, t=T[::40])

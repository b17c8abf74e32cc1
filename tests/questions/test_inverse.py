"""Efforts for a given motion: by hand, and forward again."""

import numpy as np
import pytest

import dalembert as da

T = np.linspace(0, 1, 401)


def arm():
    """Two links in the plane of gravity."""
    model = da.Model(gravity=(0, -9.81, 0))
    upper = model.add_body("upper", mass=2.0, inertia=(0.01, 0.05, 0.05), position=(0.25, 0, 0))
    lower = model.add_body("lower", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(0.7, 0, 0))
    model.add_revolute("shoulder", model.ground, upper, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("elbow", upper, lower, point=(0.5, 0, 0), axis=(0, 0, 1))
    model.add_motor("m1", "shoulder", 0.0)
    model.add_motor("m2", "elbow", 0.0)
    return model


MOTION = {"shoulder": da.Harmonic(0.5, omega=3.0), "elbow": da.Harmonic(0.4, omega=5.0)}


def by_hand(t):
    """M(q) q'' + c(q, q') + g(q) of the two-link arm."""
    a, b = 0.5 * np.sin(3 * t), 0.4 * np.sin(5 * t)
    da_, db = 1.5 * np.cos(3 * t), 2.0 * np.cos(5 * t)
    dda, ddb = -4.5 * np.sin(3 * t), -10.0 * np.sin(5 * t)
    m1, m2, l1, r1, r2, J1, J2, g = 2.0, 1.0, 0.5, 0.25, 0.2, 0.05, 0.02, 9.81
    k = m2 * l1 * r2
    M11 = J1 + m1 * r1**2 + J2 + m2 * (l1**2 + r2**2) + 2 * k * np.cos(b)
    M12, M22 = J2 + m2 * r2**2 + k * np.cos(b), J2 + m2 * r2**2
    g2 = m2 * g * r2 * np.cos(a + b)
    g1 = (m1 * r1 + m2 * l1) * g * np.cos(a) + g2
    first = M11 * dda + M12 * ddb - k * np.sin(b) * (2 * da_ * db + db**2) + g1
    return first, M12 * dda + M22 * ddb + k * np.sin(b) * da_**2 + g2


@pytest.mark.nojit
def test_a_two_link_arm_by_hand():
    found = da.inverse_dynamics(arm(), MOTION, ["m1", "m2"], t=T[::100])
    first, second = by_hand(T[::100])
    np.testing.assert_allclose(found.effort("m1"), first, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.effort("m2"), second, rtol=0, atol=1e-9)
    assert found.unique and found.note == "unique" and found.residual.max() < 1e-12
    np.testing.assert_allclose(found.power("m1"), first * 1.5 * np.cos(3 * T[::100]), rtol=0, atol=1e-9)


def test_forward_after_inverse():
    """A table is a spline with straight ends: its error falls with the third power of the distance of times."""
    model = arm()
    found = da.inverse_dynamics(model, MOTION, ["m1", "m2"], t=np.linspace(0, 1, 4001))
    again = da.Model(gravity=(0, -9.81, 0))
    upper = again.add_body("upper", mass=2.0, inertia=(0.01, 0.05, 0.05), position=(0.25, 0, 0))
    lower = again.add_body("lower", mass=1.0, inertia=(0.01, 0.02, 0.02), position=(0.7, 0, 0))
    again.add_revolute("shoulder", again.ground, upper, point=(0, 0, 0), axis=(0, 0, 1), rate=1.5)
    again.add_revolute("elbow", upper, lower, point=(0.5, 0, 0), axis=(0, 0, 1), rate=2.0)
    for (name, effort), joint in zip(found.motions().items(), ("shoulder", "elbow"), strict=True):
        again.add_motor(name, joint, effort)
    solution = da.simulate(again, 1.0, save_at=[1.0], integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    assert solution.coordinate("shoulder")[-1] == pytest.approx(0.5 * np.sin(3.0), abs=1e-8)
    assert solution.coordinate("elbow")[-1] == pytest.approx(0.4 * np.sin(5.0), abs=1e-8)


def test_a_solution_needs_the_efforts_that_made_it():
    """A slider-crank with redundant joints, driven by a motor; also its reactions."""
    model = da.gallery.build("four_bar")
    joint = model.joints[0].name
    model.add_motor("motor", joint, da.Harmonic(3.0, omega=2.0, offset=1.0))
    solution = da.simulate(model, 0.3, save_at=np.linspace(0, 0.3, 4))
    found = da.inverse_dynamics(model, solution, ["motor"])
    np.testing.assert_allclose(found.effort("motor"), 1.0 + 3.0 * np.sin(2.0 * solution.t), rtol=0, atol=1e-9)


def test_more_actuators_than_freedoms_take_the_smallest():
    """A closed loop with motors in three of its joints: weights shift the load, the motion stays."""
    model = da.gallery.build("four_bar")
    names = [joint.name for joint in model.joints[:3]]
    solution = da.simulate(model, 0.2, save_at=[0.1, 0.2])
    even = da.inverse_dynamics(model, solution, names)
    assert not even.unique and "a choice" in even.note
    model.add_motor("push", names[0], 2.0)
    pushed = da.simulate(model, 0.2, save_at=[0.1, 0.2])
    alone = da.inverse_dynamics(model, pushed, ["push"])
    shared = da.inverse_dynamics(_free(model), pushed, names)
    squares = sum(shared.effort(name) ** 2 for name in names)
    assert np.all(squares < alone.effort("push") ** 2) and shared.residual.max() < 1e-9
    heavy = da.inverse_dynamics(_free(model), pushed, names, weights=[1e6, 1.0, 1.0])
    assert np.all(np.abs(heavy.effort(names[0])) < 1e-3 * np.abs(shared.effort(names[0])) + 1e-6)


def _free(model):
    made = da.gallery.build("four_bar")
    assert [body.name for body in made.bodies] == [body.name for body in model.bodies]
    return made


def test_fewer_actuators_than_freedoms_are_named():
    found = da.inverse_dynamics(arm(), MOTION, ["m1"], t=T[::100])
    assert found.uncontrolled and "not met" in found.note and found.residual.max() > 0.01


def test_reactions_come_with_it():
    """The elbow at rest carries the weight of the lower arm."""
    held = {"shoulder": da.Constant(0.0), "elbow": da.Constant(0.0)}
    found = da.inverse_dynamics(arm(), held, ["m1", "m2"], t=[0.0])
    np.testing.assert_allclose(found.reaction("elbow").force[0], (0, 9.81, 0), rtol=0, atol=1e-10)
    assert found.effort("m2")[0] == pytest.approx(9.81 * 0.2, abs=1e-10)


@pytest.mark.parametrize("t", [[0.0], [0.3, 0.4]])
def test_a_run_that_a_joint_forbids(t):
    """The same bodies without the elbow: at first only accelerations tell, later places; the same with a joint elsewhere."""
    loose = arm()
    for name in ("m2", "elbow"):
        loose.remove(name)
    fallen = da.simulate(loose, 0.5, save_at=t)
    with pytest.raises(da.ModelError, match=r"the motion violates 'elbow' at t = 0.* is off by .* give a motion that"):
        da.inverse_dynamics(arm(), fallen, ["m1", "m2"])
    swung = da.simulate(arm(), 0.5, save_at=t)
    moved = arm()
    moved.replace("elbow", points=((0.26, 0, 0), (-0.2, 0, 0)))
    with pytest.raises(da.ModelError, match=r"violates 'elbow' .* place is off by"):
        da.inverse_dynamics(moved, swung, ["m1", "m2"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: da.inverse_dynamics(m, MOTION, ["m3"], t=T), "no motor, driver or joint 'm3'"),
        (lambda m: da.inverse_dynamics(m, MOTION, "m1", t=T), "give a list of names"),
        (lambda m: da.inverse_dynamics(m, MOTION, ["m1"]), "give the times t"),
        (lambda m: da.inverse_dynamics(m, {"shoulder": 0.0}, ["m1"], t=T), "still has 1 degree of freedom;"),
        (lambda m: da.inverse_dynamics(m, {}, ["m1"], t=T), "give {joint: motion}"),
        (lambda m: da.inverse_dynamics(m, MOTION, ["m1", "m2"], t=T, weights=[1.0]), "for each of 2 actuators"),
        (lambda m: da.inverse_dynamics(m, MOTION, ["m1", "m1"], t=T), "twice"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(da.ModelError, match=words):
        call(arm())

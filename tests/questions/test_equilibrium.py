"""Equilibria and steady motions against closed forms and independent solutions."""

import numpy as np
import pytest

import dalembert as da
from dalembert.questions import equilibrium

G = 9.81


def pendulum():
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("rod", mass=2.0, inertia=(1 / 6, 1 / 6, 1e-3), position=(0.3, 0, -0.4))
    model.add_revolute("A", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_a_pendulum_hangs_or_stands():
    found = da.equilibrium(pendulum())
    np.testing.assert_allclose(found.position("rod"), [0, 0, -0.5], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.reaction("A").force, [0, 0, 2 * G], rtol=0, atol=1e-12)
    assert found.energy.potential == found.potential_energy == pytest.approx(-G, rel=1e-14)
    assert found.stable and found.stiffness == pytest.approx([2 * G * 0.5 / (1 / 6 + 0.5)], rel=1e-10)
    level = da.Model()
    level.add_body("rod", mass=2.0, inertia=(1e-3, 1 / 6, 1 / 6), position=(0.5, 0, 0))  # where K vanishes
    level.add_revolute("A", level.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    np.testing.assert_allclose(da.equilibrium(level).position("rod"), [0, 0, -0.5], rtol=0, atol=1e-13)
    down, up = da.equilibrium(pendulum(), starts=[{"A": 0.2}, {"A": 3.0}, {"A": 0.3}])
    assert down.stable and not up.stable and up.stiffness[0] < 0 < down.stiffness[0]
    np.testing.assert_allclose(up.position("rod"), [0, 0, 0.5], rtol=0, atol=1e-13)
    both = da.equilibrium(pendulum(), starts=8)
    assert [one.stable for one in both] == [True, False]


def test_efforts_by_the_names_of_a_solution():
    """A motor holds the rod where m g l sin(a) / 2 is its torque, and a spring carries what it must."""
    model = pendulum()
    model.add_motor("motor", "A", 3.0)
    found = da.equilibrium(model)
    assert found.effort("motor").value == 3.0
    assert abs(found.position("rod")[0]) == pytest.approx(3.0 / (2 * G), rel=1e-12)
    hung = da.Model(gravity=(0, 0, -G))
    hung.add_body("load", mass=2.0, inertia=(1, 1, 1), position=(0, 0, -1.0))
    hung.add_prismatic("line", hung.ground, "load", point=(0, 0, 0), axis=(0, 0, 1))
    hung.add_spring_damper("spring", hung.ground, "load", stiffness=100.0, length=0.5)
    held = da.equilibrium(hung)
    np.testing.assert_allclose(held.effort("spring").force, [0, 0, 2 * G], rtol=0, atol=1e-12)
    np.testing.assert_allclose(held.acceleration("load"), 0.0, rtol=0, atol=1e-12)


def hanging_chain(n, span):
    """n rods of 1 / n m between two supports, each of 1 kg in all, started as an arc of a circle."""
    length = 1.0 / n
    half = _half_angle(span)
    radius = 0.5 * length / np.sin(half / n)
    angles = -half + 2 * half / n * np.arange(n + 1)
    joints = np.column_stack([radius * (np.sin(angles) + np.sin(half)), 0 * angles, radius * (np.cos(half) - np.cos(angles))])
    joints[:, 0] *= span / joints[-1, 0]
    model = da.Model(gravity=(0, 0, -G))
    before = model.ground
    for k in range(n):
        along = joints[k + 1] - joints[k]
        turn = da.Rotation.from_axis_angle((0, 1, 0), -np.arctan2(along[2], along[0]))
        inertia = (1e-6, length**2 / 12 / n, length**2 / 12 / n)
        body = model.add_body(f"rod{k + 1}", mass=1 / n, inertia=inertia, position=joints[k] + along / 2, rotation=turn)
        points = (joints[0] if k == 0 else (length / 2, 0, 0), (-length / 2, 0, 0))
        model.add_revolute(f"J{k}", before, body, points=points, axes=((0, 1, 0),) * 2)
        before = body
    model.add_revolute(f"J{n}", before, model.ground, points=((length / 2, 0, 0), (span, 0, 0)), axes=((0, 1, 0),) * 2)
    return model


def _half_angle(span):
    from scipy.optimize import brentq

    return brentq(lambda a: np.sin(a) / a - span, 1e-3, 3.0)


def chain_between_supports(n, span):
    """Joint points by statics: the horizontal pull H is the same in all rods, the vertical one grows by their weights."""
    from scipy.optimize import brentq

    length, weight = 1.0 / n, G / n
    vertical = weight * (np.arange(n) - (n - 1) / 2)  # at the middles

    def directions(H):
        return np.column_stack([np.full(n, H), vertical]) / np.hypot(H, vertical)[:, None]

    H = brentq(lambda H: length * directions(H)[:, 0].sum() - span, 1e-3, 1e3, xtol=1e-15, rtol=1e-15)
    return length * np.cumsum(directions(H), axis=0), H


@pytest.mark.parametrize("n", [4, 20])
def test_a_chain_between_two_supports(n):
    """A mirrored pose: the vertical pull vanishes in the middle."""
    model = hanging_chain(n, 0.7)
    found = da.equilibrium(model)
    joints, H = chain_between_supports(n, 0.7)
    own = np.array([found.point(f"rod{k + 1}", (0.5 / n, 0, 0)) for k in range(n)])
    np.testing.assert_allclose(own[:, [0, 2]], joints, rtol=0, atol=1e-12)
    assert found.reaction("J0").force[0] == pytest.approx(-H, rel=1e-10)
    assert found.stable and found.residual < 1e-12


def governor(drive=None):
    """A ball on a rod, hinged on a shaft about the vertical axis: cos(angle) = g / (w^2 l)."""
    model = da.Model(gravity=(0, 0, -G))
    shaft = model.add_body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_revolute("bearing", model.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1))
    ball = model.add_body("ball", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.4, 0, -0.3))
    model.add_revolute("hinge", shaft, ball, point=(0, 0, 0), axis=(0, 1, 0))
    if drive is not None:
        model.add_driver("drive", "bearing", da.Polynomial((0.0, drive)))
    return model


@pytest.mark.parametrize("speed", [5.0, 6.0, 9.0])
def test_opening_of_a_governor_over_speed(speed):
    found = da.equilibrium(governor(), rates={"bearing": speed})
    assert -found.position("ball")[2] / 0.5 == pytest.approx(G / (speed**2 * 0.5), rel=1e-10)
    assert found.steady_rates == pytest.approx({"bearing": speed})
    assert found.coordinate_rate("bearing") == pytest.approx(speed) and found.stable


def test_a_driven_governor_swings_about_its_opening():
    """With a driver: th'' = -(w^2 sin^2(th)) J' / J of small swings, J = m l^2 + I, J' = m l^2 of the ball."""
    w, m, length, I = 6.0, 2.0, 0.5, 1e-3
    found = da.equilibrium(governor(w))
    cosine = G / (w**2 * length)
    assert -found.position("ball")[2] / length == pytest.approx(cosine, rel=1e-10)
    expected = np.sqrt(m * length**2 * w**2 * (1 - cosine**2) / (m * length**2 + I))
    np.testing.assert_allclose(found.linear.eigenvalues.imag, [-expected, expected], rtol=1e-10)


def test_regular_precession_of_a_top():
    """J W^2 cos(th) - C w3 W + m g l = 0, with w3 = W cos(th) + spin."""
    m, length, A, C, tilt, W = 1.0, 0.5, 0.1, 0.05, 0.6, 2.0
    J = A + m * length**2
    spin = (J * W**2 * np.cos(tilt) + m * G * length) / (C * W) - W * np.cos(tilt)
    model = da.Model(gravity=(0, 0, -G))
    R = da.Rotation.from_axis_angle((0, 1, 0), tilt + 0.1)
    axis = np.array([np.sin(tilt + 0.1), 0.0, np.cos(tilt + 0.1)])
    model.add_body("top", mass=m, inertia=(A, A, C), position=length * axis, rotation=R)
    model.add_spherical("O", model.ground, "top", point=(0, 0, 0))
    found = da.equilibrium(model, rates={"O.about_z": W, "top.spin_z": spin})
    assert found.rotation("top")[2, 2] == pytest.approx(np.cos(tilt), rel=1e-10)
    assert found.stable and found.steady_rates == pytest.approx({"O.about_z": W, "top.spin_z": spin})


def test_a_disc_rolls_in_a_circle():
    """Moments about its centre by hand: (contact - centre) x m (a - g) = W x L, everything turns with W about the vertical."""
    m, r, lean, W = 1.5, 0.3, 0.3, 2.0
    A = 0.25 * m * r * r
    model = da.Model(gravity=(0, 0, -G))
    turn = da.Rotation.from_axis_angle((1, 0, 0), lean)
    place = {"position": (0, -r * np.sin(lean), r * np.cos(lean)), "rotation": turn}
    model.add_body("disc", mass=m, inertia=(A, 2 * A, A), velocity=(2, 0, 0), **place)
    model.add_rolling_disc("floor", "disc", radius=r, axis=(0, 1, 0))
    found = da.equilibrium(model, rates={"disc.about_z": W})
    R, about = found.rotation("disc"), np.array([0.0, 0.0, W])
    down = np.array([0, 0, -1.0]) + R[2, 1] * R[:, 1]
    to_contact = r * down / np.linalg.norm(down)
    spin = found.angular_velocity("disc")
    a = np.cross(about, np.cross(to_contact, spin))  # of the centre, from rolling
    np.testing.assert_allclose(found.velocity("disc"), np.cross(to_contact, spin), rtol=0, atol=1e-12)
    inertia = R @ np.diag([A, 2 * A, A]) @ R.T
    moment = np.cross(to_contact, m * (a + np.array([0, 0, G])))
    np.testing.assert_allclose(moment, np.cross(about, inertia @ spin), rtol=0, atol=1e-10)
    assert abs(R[2, 1]) > 0.1 and found.steady_rates["disc.about_z"] == pytest.approx(W, rel=1e-10)


def compliant_four_bar():
    """A parallelogram-like four-bar with a spring across that snaps through."""
    model = da.Model(gravity=(0, 0, 0))
    for name, x, z, length, angle in (("crank", 0.0, 0.0, 1.0, 1.2), ("rocker", 1.5, 0.0, 1.0, 1.2)):
        along = length * np.array([np.cos(angle), 0.0, np.sin(angle)])
        turn = da.Rotation.from_axis_angle((0, 1, 0), -angle)
        model.add_body(name, mass=1.0, inertia=(0.01, 0.1, 0.1), position=np.array([x, 0, z]) + along / 2, rotation=turn)
        model.add_revolute(f"at {name}", model.ground, name, point=(x, 0, z), axis=(0, -1, 0))
    tip = np.array([np.cos(1.2), 0.0, np.sin(1.2)])
    model.add_body("coupler", mass=1.0, inertia=(0.01, 0.1, 0.1), position=tip + np.array([0.75, 0, 0]))
    model.add_revolute("B", "crank", "coupler", point=tip, axis=(0, -1, 0))
    model.add_revolute("C", "coupler", "rocker", point=tip + np.array([1.5, 0, 0]), axis=(0, -1, 0))
    points = ((0.4, 0, 0), (-0.75, 0, 0))
    model.add_spring_damper("spring", model.ground, "coupler", points=points, stiffness=300.0, length=0.9)
    return model


def test_a_compliant_four_bar_has_three_poses():
    """The spring from (0.4, 0) to the crank's tip on the unit circle is slack at cos(a) = (1 + 0.16 - 0.81) / 0.8 on both
    sides, and shortest, so that it only balances, at a = 0."""
    model = compliant_four_bar()
    slack = np.arccos((1 + 0.4**2 - 0.9**2) / 0.8)
    found = da.equilibrium(model, starts=[{"at crank": a - 1.2} for a in (1.2, 0.1, -1.0)])
    angles = np.array([np.arctan2(tip[2], tip[0]) for tip in (one.point("crank", (0.5, 0, 0)) for one in found)])
    assert [one.stable for one in found] == [True, True, False]
    np.testing.assert_allclose(np.sort(angles), [-slack, 0.0, slack], rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1.0, 1e-7])
def test_all_poses_of_a_truss_that_snaps_through(size):
    """Two springs of slack length hypot(1, 0.3) from (-1, 0) and (1, 0) to a slide along y: y = -0.3, 0, 0.3; stiffness at 0:
    2 k (1 - hypot(1, 0.3)) < 0. The slide's body, joint and centre are one point: only the springs tell how large it is."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("slide", mass=1.0, inertia=[0.1 * size**2] * 3, position=(0, 0.35 * size, 0))
    model.add_prismatic("guide", "ground", "slide", point=(0, 0.35 * size, 0), axis=(0, 1, 0))
    for name, x in (("left", -size), ("right", size)):
        ends = ((x, 0, 0), (0, 0.35 * size, 0))
        model.add_spring_damper(name, "ground", "slide", between=ends, stiffness=100.0, length=size * np.hypot(1, 0.3))
    found = sorted(da.equilibrium(model, starts=12), key=lambda one: one.position("slide")[1])
    places = [one.position("slide")[1] / size for one in found]
    np.testing.assert_allclose(places, (-0.3, 0, 0.3), rtol=0, atol=1e-12)
    assert [one.stable for one in found] == [True, False, True]
    assert found[1].stiffness == pytest.approx(200 * (1 - np.hypot(1, 0.3)), rel=1e-9)


def test_what_keeps_moving(monkeypatch):
    """However little is left of gravity on a slope: nothing balances it."""
    monkeypatch.setattr(equilibrium, "_STEPS", 10)
    falling = da.Model(gravity=(0, 0, -G))
    falling.add_body("stone", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(da.SimulationError, match="body 'stone' keeps moving"):
        da.equilibrium(falling)
    falling.add_prismatic("slope", falling.ground, "stone", point=(0, 0, 0), axis=(1, 0, 1e-7))
    with pytest.raises(da.SimulationError, match=r"body 'stone' keeps moving, .* with 9\.81e-07 m/s"):
        da.equilibrium(falling)


def test_bad_input():
    with pytest.raises(da.ModelError, match="no joint 'B'"):
        da.equilibrium(pendulum(), starts=[{"B": 1.0}])
    with pytest.raises(da.ModelError, match="nothing 'B' could move"):
        da.equilibrium(pendulum(), rates={"B": 1.0})
    with pytest.raises(da.SimulationError, match="no steady motion"):
        da.equilibrium(pendulum(), rates={"A": 1.0})
    held = pendulum()
    held.add_driver("drive", "A", 0.0)
    with pytest.raises(da.ModelError, match="leave no freedom"):
        da.equilibrium(held)


def test_a_run_starts_at_an_equilibrium():
    model = pendulum()
    found = da.equilibrium(model)
    stays = da.simulate(model, 0.5, initial=found)
    np.testing.assert_allclose(stays.position("rod"), np.tile([0, 0, -0.5], (len(stays.t), 1)), rtol=0, atol=1e-12)

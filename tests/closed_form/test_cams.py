"""Cams with a flat and with a roller against closed forms; lift-off is told."""

import numpy as np
import pytest

import dalembert as da

R, E, ROLLER, OMEGA, MASS, STIFFNESS, PRELOAD = 0.1, 0.03, 0.02, 12.0, 0.5, 200.0, 3.0


def support(psi):
    """An eccentric circle."""
    return R + E * np.cos(psi)


def pitch(psi):
    """The path of a roller's centre on the same circle."""
    return E * np.cos(psi) + ((R + ROLLER) ** 2 - (E * np.sin(psi)) ** 2) ** 0.5


def cam(kind, *, table=False, omega=OMEGA):
    """A cam that turns steadily lifts a follower along y against a spring."""
    profile = support if kind == "flat" else pitch
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cam", mass=1.0, inertia=(0.01, 0.01, 0.02))
    model.add_body("follower", mass=MASS, inertia=(1e-3,) * 3, position=(0, 0.3, 0))
    model.add_revolute("C", model.ground, "cam", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("F", model.ground, "follower", point=(0, 0.3, 0), axis=(0, 1, 0))
    model.add_driver("spin", "C", da.Polynomial((0.0, omega)))
    model.add_joint_spring_damper("spring", "F", stiffness=STIFFNESS, reference=-PRELOAD / STIFFNESS)
    given = [float(profile(psi)) for psi in np.linspace(0, 2 * np.pi, 360, endpoint=False)] if table else profile
    touching = {"support": given, "normal": (0, 1, 0)} if kind == "flat" else {"pitch": given}
    model.add_cam("K", "cam", "follower", point=(0, float(profile(np.pi / 2)) - 0.3, 0), **touching)
    return model, profile


def lift(profile, t, omega=OMEGA):
    """Lift, and force on the follower along y: m s'' + k s + preload; differences of the lift for a roller."""
    h = 1e-4
    s = [profile(np.pi / 2 - omega * (t + k * h)) - profile(np.pi / 2) for k in (-2, -1, 0, 1, 2)]
    s_2 = (-s[0] + 16 * s[1] - 30 * s[2] + 16 * s[3] - s[4]) / (12 * h * h)
    return s[2], MASS * s_2 + STIFFNESS * s[2] + PRELOAD


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("kind", ["flat", "roller"])
def test_follower_moves_as_the_profile_says(kind, table):
    model, profile = cam(kind, table=table)
    for way in (da.Jet(), da.MovingFrame(), da.Minimal()):
        run = da.simulate(model, t_end=0.6, formulation=way)  # more than a turn
        s, force = lift(profile, run.t)
        # of a cubic spline with steps h: 5/384 h^4 f and, in f, h^2/12 f; else what the differences leave
        assert np.abs(run.coordinate("F") - s).max() <= 1e-10
        assert np.abs(run.multiplier("K")[:, 0] - force).max() <= (3e-4 if table else 1e-5)
        if kind == "flat" and not table:
            exact = MASS * -E * OMEGA**2 * np.sin(OMEGA * run.t) + STIFFNESS * E * np.sin(OMEGA * run.t) + PRELOAD
            assert np.abs(run.effort("K").value - exact).max() <= 1e-8
        assert run.report().passed


def test_a_roller_beside_the_plane_of_a_cam_that_tumbles_keeps_its_distance():
    """A round cam: the distance in its plane is constant, and so its rate is zero, however the cam's axis turns."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cam", mass=1.0, inertia=(0.1, 0.15, 0.2), angular_velocity=(3.0, -2.0, 4.0))
    model.add_point_mass("follower", mass=0.5, position=(0.3, 0, 0.2), velocity=(0, 0.5, 1.0))
    model.add_cam("K", "cam", "follower", pitch=[0.3] * 4)
    effort = da.simulate(model, t_end=0.2).effort("K")
    assert np.abs(effort.coordinate - 0.3).max() <= 1e-10
    assert np.abs(effort.rate).max() <= 1e-9


def test_lift_off_is_told():
    """A flat lifts off where m e w^2 sin exceeds preload and spring: the sign of its force says so."""
    omega = 30.0
    model, _ = cam("flat", omega=omega)
    run = da.simulate(model, t_end=0.2)
    line = run.report()["cam K"]
    assert line.verdict == "WARN" and "cam 'K' would lift off" in line.value
    expected = np.arcsin(PRELOAD / (E * (MASS * omega**2 - STIFFNESS))) / omega
    force = run.effort("K").value
    k = int(np.argmax(force < 0))
    t = run.t[k - 1] + (run.t[k] - run.t[k - 1]) * force[k - 1] / (force[k - 1] - force[k])
    assert abs(t - expected) <= 1e-3


@pytest.mark.parametrize("table", [False, True])
def test_a_flat_that_no_cam_could_touch_is_told(table):
    """r + a cos(3 psi) has the radius of curvature r - 8 a cos(3 psi): r - 8 a is below 0."""
    for told in (False, True):
        model, _ = cam("flat")
        model.remove("K")
        wave = {True: lambda psi: R + 0.03 * np.cos(3 * psi), False: lambda psi: R + 0.01 * np.cos(3 * psi)}[told]
        profile = [wave(psi) for psi in np.linspace(0, 2 * np.pi, 360, endpoint=False)] if table else wave
        model.add_cam("K", "cam", "follower", support=profile, normal=(0, 1, 0), point=(0, R - 0.3, 0))
        lines = {line.name: line for line in da.simulate(model, t_end=0.01).report().lines}
        assert ("undercut" in lines) == told
    assert lines["undercut"].verdict == "WARN" and abs(lines["undercut"].data - (R - 8 * 0.03)) <= 1e-3


def test_lift_off_is_an_event():
    """Where the force of the flat changes its sign, to 1e-9 s."""
    omega = 30.0
    lift_off = da.Event(lambda state: state.effort("K").value, "lift-off", stop=True, direction=-1)
    run = da.simulate(cam("flat", omega=omega)[0], t_end=0.2, events=[lift_off])
    expected = np.arcsin(PRELOAD / (E * (MASS * omega**2 - STIFFNESS))) / omega
    assert run.events[0][0] == "lift-off" and abs(run.events[0][1] - expected) <= 1e-9


def test_a_follower_that_lifts_off_flies():
    """Free from where it lifts off: m s'' + k s + preload = 0; no force while it flies, and its energy is kept."""
    omega = 30.0
    lift_off = da.Event(lambda state: state.effort("K").value, "lift-off", direction=-1, action=da.Free("K"))
    run = da.simulate(cam("flat", omega=omega)[0], t_end=0.06, events=[lift_off])
    t_1, w, rest = run.events[0][1], np.sqrt(STIFFNESS / MASS), -PRELOAD / STIFFNESS
    s_1, v_1 = E * np.sin(omega * t_1), E * omega * np.cos(omega * t_1)
    tau = run.t - t_1
    flight = rest + (s_1 - rest) * np.cos(w * tau) + v_1 / w * np.sin(w * tau)
    assert np.abs(run.coordinate("F") - np.where(tau < 0, E * np.sin(omega * run.t), flight)).max() <= 1e-8
    effort = run.effort("K")
    assert effort.value[0] > 1.0 and not effort.value[tau >= 0].any() and not effort.on["cam"].force[tau >= 0].any()
    assert run.report().passed


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"support": None, "normal": None}, "cam 'x': got neither support= nor pitch="),
        ({"pitch": pitch}, "got both support= and pitch="),
        ({"normal": None}, r"normal is None; a flat \(support=\) has one"),
        ({"zero": (0, 0, 1)}, "zero and axis have cosine 1; give a direction normal to the axis"),
        ({"support": lambda psi: 0.1 + 0.01 * psi}, "give a function with the period 2 pi"),
        ({"support": lambda psi: 0.01 + 0.1 * np.cos(psi)}, "support goes down to -0.09"),
        ({"support": [0.1, 0.2]}, "give a function of psi, or 4 or more values over one turn"),
        ({"support": lambda: 0.1}, "support has 0 arguments; give a function of the angle psi"),
        ({"cam": "wheel"}, "cam 'x': there is no body 'wheel'"),
    ],
)
def test_what_a_cam_must_be(change, text):
    model, _ = cam("flat")
    given = {"cam": "cam", "follower": "follower", "support": support, "normal": (0, 1, 0)} | change
    with pytest.raises(da.ModelError, match=text):
        model.add_cam("x", given.pop("cam"), given.pop("follower"), **given)

"""Linear models against closed forms, published eigenvalues, and the motion itself at small amplitude."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from mechanisms import BASE, HEIGHT, TOP, four_rrr, stewart
from scipy.linalg import eigh

import dalembert as da
from dalembert.errors import SimulationError
from dalembert.gallery.bicycle import bicycle
from dalembert.questions.steady import staircase
from dalembert.viewer.scene import scene_of

G = 9.81
BICYCLE = json.loads((Path(__file__).parents[1] / "data" / "bicycle_linear.json").read_text())["reference"]["table_2"]


def chain(n, gravity=(0, 0, -G)):
    """n rods of 1 m and 1 kg, hanging."""
    model = da.Model(gravity=gravity)
    before = model.ground
    for k in range(n):
        body = model.add_body(f"rod{k + 1}", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=(0, 0, -(k + 0.5)))
        model.add_revolute(f"J{k + 1}", before, body, point=(0, 0, -k), axis=(0, 1, 0))
        before = body
    return model


def frequencies_of_chain(n):
    """From the matrices in absolute angles: M th'' + K th = 0."""
    M, K = np.zeros((2, n, n))
    for k in range(n):
        arms = np.where(np.arange(n) < k, 1.0, 0.0)
        arms[k] = 0.5
        M += np.outer(arms, arms)
        M[k, k] += 1 / 12
        K += G * np.diag(arms)
    return np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K))))


@pytest.mark.parametrize(("n", "error"), [(1, 1e-14), (4, 1e-13), (16, 1e-12)])
def test_small_oscillations_of_a_hanging_chain(n, error):
    linear = da.linearise(chain(n))
    found = np.array([mode.eigenvalue.imag for mode in linear.modes])
    np.testing.assert_allclose(found, frequencies_of_chain(n), rtol=error)
    assert np.abs(linear.eigenvalues.real).max() < 1e-12
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(linear.A).imag))[::2], found, rtol=1e-6)
    assert linear.state_names == (*(f"J{k + 1}" for k in range(n)), *(f"J{k + 1}'" for k in range(n)))
    assert linear.stable and linear.residual < 1e-12


def test_matrices_of_a_double_pendulum_by_hand():
    """In relative angles, with a motor at the first joint: M s'' = -K s + (1, 0)."""
    model = chain(2)
    model.add_motor("motor", "J1", 0.0)
    linear = da.linearise(model, inputs=["motor"], outputs=["J2", ("position", "rod2"), ("reaction", "J1")])
    to_absolute = np.array([[1.0, 0.0], [1.0, 1.0]])
    M = to_absolute.T @ np.array([[1 / 3 + 1, 0.5], [0.5, 1 / 3]]) @ to_absolute
    K = to_absolute.T @ np.diag([1.5 * G, 0.5 * G]) @ to_absolute
    np.testing.assert_allclose(linear.A[2:, :2], -np.linalg.solve(M, K), rtol=1e-10)
    np.testing.assert_allclose(linear.B[2:, 0], np.linalg.solve(M, [1.0, 0.0]), rtol=1e-10)
    np.testing.assert_allclose(linear.C[0], [0, 1, 0, 0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(linear.C[1], [-1.5, -0.5, 0, 0], rtol=0, atol=1e-11)
    at = linear.output_names.index("reaction(J1).fx")
    push = -0.5 * linear.B[2] - (1.5 * linear.B[2] + 0.5 * linear.B[3])  # accelerations of the rods along x
    np.testing.assert_allclose(linear.D[at], push, rtol=1e-10)


def test_mode_shapes_move_all_bodies():
    linear = da.linearise(chain(2))
    slow = linear.modes[0]
    assert abs(slow.rotation("rod1")[1]) < abs(slow.rotation("rod2")[1])
    assert slow.coordinate("J1'") == pytest.approx(slow.eigenvalue * slow.coordinate("J1"), rel=1e-9)
    np.testing.assert_allclose(slow.position("rod1")[0], -0.5 * slow.rotation("rod1")[1], rtol=1e-9)
    motion = linear.motion(0, frames=9)
    assert motion.t[-1] == pytest.approx(1 / linear.frequencies[0]) and motion.drift.position.max() < 1e-12


def test_a_mode_on_show_has_its_rates_and_is_not_judged_as_a_run():
    motion = da.linearise(chain(2)).motion(0, amplitude=1e-3, frames=201)
    angle, rate = motion.coordinate("J1"), motion.coordinate_rate("J1")
    slopes = np.gradient(angle, motion.t)[1:-1]
    assert np.abs(slopes - rate[1:-1]).max() < 1e-3 * np.abs(rate).max()  # of the differences, (2 pi / 200)^2 / 6 = 2e-4
    report = motion.report()
    assert report.passed and "no motion of the model" in report["mode"].value
    assert scene_of(motion)["method"].startswith("mode 0: ")


def test_benchmark_bicycle():
    """All eigenvalues that are printed, 0 to 10 m/s; rounding leaves 2e-12 [MeijaardPapadopoulosRuinaSchwab2007, table 2]."""
    for speed, *real, (growth, turn) in zip(
        *(BICYCLE[name] for name in ("speed", "capsize", "castering", "weave")), strict=True
    ):
        linear = da.linearise(_straight(speed))
        pair = [growth + 1j * turn, growth - 1j * turn] if speed else [growth, -real[1]]
        expected = np.sort_complex(np.array([*real, *pair], dtype=complex))
        np.testing.assert_allclose(np.sort_complex(linear.reduced_eigenvalues), expected, rtol=0, atol=1e-11)
        assert len(linear.eigenvalues) == 10 and np.sum(linear.eigenvalues == 0.0) == 6
        assert linear.stable == (speed in (5, 6))
        if speed:
            assert linear.steady_rates["front hub"] == pytest.approx(-speed / 0.35)


def _straight(speed):
    return bicycle(speed, rates=(0.0, 0.0, 0.0, 0.0, -speed / 0.3, -speed / 0.35))


def test_weave_and_capsize_speed():
    """By a secant across the printed speeds; the curves that are followed see them, too."""
    printed = [BICYCLE["weave_speed"], BICYCLE["capsize_speed"]]
    for speed, turn in zip(printed, (BICYCLE["weave_frequency"], 0.0), strict=True):
        ends = np.array([speed - 1e-5, speed + 1e-5])
        values = [da.linearise(_straight(v)).reduced_eigenvalues for v in ends]
        near = [found[np.argmin(np.abs(found - 1j * turn))] for found in values]
        (growth, faster) = np.real(near)
        assert ends[0] - growth * 2e-5 / (faster - growth) == pytest.approx(speed, abs=1e-9)
        assert np.mean(np.imag(near)) == pytest.approx(turn, abs=1e-9)
    curves = da.eigenvalue_curves(_straight, speed=[4.0, 4.2, 4.4, 4.6, 5.8, 5.95, 6.1, 6.25])
    crossings = curves.crossings()
    np.testing.assert_allclose([at for at, _ in crossings], printed, rtol=0, atol=2e-3)
    assert crossings[1][1] == 0.0 and crossings[0][1] > 3.0
    assert list(curves.stable) == [False, False, True, True, True, True, False, False]
    assert np.abs(np.diff(curves.eigenvalues, axis=0)).max() < 5.0


def test_curves_go_on_where_they_cross():
    """Two masses on springs of their own: one frequency stays, the other passes it."""

    def pair(stiffness):
        model = da.Model(gravity=(0, 0, 0))
        for k, (name, value) in enumerate((("one", 4.0), ("other", stiffness))):
            model.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0, k, 0))
            model.add_prismatic(f"{name} line", model.ground, name, point=(0, k, 0), axis=(1, 0, 0))
            model.add_joint_spring_damper(f"{name} spring", f"{name} line", stiffness=value)
        return model

    values = np.array([1.0, 2.0, 3.0, 5.0, 6.0])
    found = np.abs(da.eigenvalue_curves(pair, stiffness=values).eigenvalues.imag)
    expected = [np.full(5, 2.0), np.sqrt(values)]
    np.testing.assert_allclose(found[:, np.argsort(-found[0])], np.repeat(expected, 2, axis=0).T, rtol=1e-12)


@pytest.mark.parametrize("k", [0.25, 0.5])
def test_critical_speed_of_a_disc_and_a_hoop(k):
    """Lean of a disc with A = k m r^2 across, C = 2 A: (A + m r^2) th'' + ((C + m r^2) C / A w^2 - m g r) th = 0."""
    m, r = 2.0, 0.5
    A, C = k * m * r * r, 2 * k * m * r * r

    def squared(v):
        return -((C + m * r * r) * C / A * (v / r) ** 2 - m * G * r) / (A + m * r * r)

    critical = r * np.sqrt(m * G * r * A / ((C + m * r * r) * C))
    squares, speeds = [], (0.9 * critical, 1.1 * critical)
    for v in speeds:
        linear = da.linearise(_disc(v, m, r, A, C))
        squares.append(np.square(linear.reduced_eigenvalues)[0].real)
        np.testing.assert_allclose(np.square(linear.reduced_eigenvalues), squared(v), rtol=1e-10, atol=1e-10)
        assert linear.stable == (v > critical)
    crossed = np.interp(0.0, squares[::-1], np.square(speeds)[::-1])  # they are linear in v^2
    assert np.sqrt(crossed) == pytest.approx(critical, rel=1e-10)


def _disc(v, m, r, A, C):
    model = da.Model(gravity=(0, 0, -G))
    spin = {"angular_velocity": (0, v / r, 0), "velocity": (v, 0, 0)}
    model.add_body("disc", mass=m, inertia=(A, C, A), position=(0, 0, r), **spin)
    model.add_rolling_disc("floor", "disc", radius=r, axis=(0, 1, 0))
    return model


@pytest.mark.parametrize("spin", [30.0, 120.0])
def test_sleeping_top(spin):
    """J l^2 + i C s l ... : roots (C s +- sqrt(C^2 s^2 - 4 J m g l)) / 2 J, stable where the root is real."""
    m, length, A, C = 1.0, 0.5, 0.1, 0.05
    J = A + m * length**2
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("top", mass=m, inertia=(A, A, C), position=(0, 0, length), angular_velocity=(0, 0, spin))
    model.add_spherical("O", model.ground, "top", point=(0, 0, 0))
    linear = da.linearise(model)
    root = np.sqrt(complex((C * spin) ** 2 - 4 * J * m * G * length))
    expected = [1j * sign * (C * spin + s * root) / (2 * J) for sign in (1, -1) for s in (1, -1)]
    assert np.abs(linear.reduced_eigenvalues[:, None] - np.array(expected)[None]).min(axis=1).max() < 1e-9
    assert len(linear.reduced_eigenvalues) == 4 and linear.stable == (spin > 100)


def test_the_same_eigenvalues_in_the_plane():
    """A chain, and a plate on four legs with springs at their feet."""
    platform, feet = four_rrr(gravity=0.0)
    for foot in feet:
        platform.add_joint_spring_damper(f"spring {foot}", foot, stiffness=30.0)
    for model, modes in ((chain(3), 3), (platform, 3)):
        planar = da.linearise(da.compile(model, "planar"))
        assert len(planar.modes) == modes and planar.stable
        np.testing.assert_allclose(planar.eigenvalues, da.linearise(model).eigenvalues, rtol=0, atol=1e-10)


def test_step_response_of_the_motion_itself():
    """The error against the full motion falls with the square of the amplitude."""
    from scipy.signal import lsim

    times, errors = np.linspace(0, 1.5, 31), []
    for size in (0.4, 0.2, 0.1):
        model = chain(2)
        model.add_motor("motor", "J1", 0.0)
        linear = da.linearise(model, inputs=["motor"], outputs=["J2"])
        _, y, _ = lsim(linear.to_scipy(), np.full(len(times), size), times)
        pushed = chain(2)
        pushed.add_motor("motor", "J1", size)
        full = da.simulate(pushed, 1.5, save_at=times, integrator=da.DOP853(rtol=1e-11, atol=1e-12)).coordinate("J2")
        errors.append(np.abs(full - y).max() / size)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15) and errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


def test_frequency_response_and_pictures(tmp_path):
    model = chain(1)
    model.add_force("wind", "rod1", (1, 0, 0), point=(0, 0, -0.5))
    equilibrium = da.equilibrium(model)
    linear = da.linearise(model, equilibrium, inputs=["wind"], outputs=["J1"])
    w = np.sqrt(np.abs(np.linalg.det(linear.A)))
    response = linear.frequency_response([0.0, 3.0])[:, 0, 0]
    np.testing.assert_allclose(np.abs(response[1] / response[0]), abs(1 / (1 - (6 * np.pi / w) ** 2)), rtol=1e-8)
    for figure in (linear.plot.eigenvalues(), linear.plot.bode()):
        figure.savefig(tmp_path / "figure.png")


@pytest.mark.nojit
def test_a_kink_is_told_though_one_branch_has_a_derivative():
    model = chain(1)
    model.add_force("stop", "rod1", lambda t, x, v, R, w: (-30.0 * abs(x[0]), 0.0, 0.0))
    with pytest.raises(da.SimulationError, match="linearise: accelerations at t = 0 s have no derivative; a force has a kink"):
        da.linearise(model)


def two_rods(first, second):
    """Of 1 m, hanging, with masses far apart."""
    model, before = da.Model(gravity=(0, 0, -G)), None
    for k, mass in enumerate((first, second)):
        inertia = (mass / 12, mass / 12, mass / 1000)
        body = model.add_body(f"rod{k + 1}", mass=mass, inertia=inertia, position=(0, 0, -(k + 0.5)))
        model.add_revolute(f"J{k + 1}", before or model.ground, body, point=(0, 0, -k), axis=(0, 1, 0))
        before = body
    return model


def test_masses_far_apart():
    """A light rod below a heavy one is answered, closed form; a heavy one below a light one is refused, and not for a kink."""
    w2 = 3 * G / 2 * (1 + np.array([-1.0, 1.0]) * np.sqrt(0.75 * 3e-12))  # to first order in the root of the ratio
    linear = da.linearise(two_rods(1.0, 1e-12))
    np.testing.assert_allclose(np.sort(linear.eigenvalues.imag)[2:], np.sqrt(w2), rtol=1e-9)
    for question in (da.linearise, da.equilibrium):
        with pytest.raises(SimulationError, match=r"lost in rounding.*'rod1' has 1e-12 kg, 'rod2' 1 kg"):
            question(two_rods(1e-12, 1.0))
    with pytest.raises(SimulationError, match="directions of motion are lost in rounding"):
        da.linearise(two_rods(1.0, 1e-15))


def test_bad_input():
    swinging = da.simulate(_tilted(), 0.1)
    with pytest.warns(RuntimeWarning, match="not steady: .* body 'rod1'"):
        linear = da.linearise(_tilted(), swinging(0.1))
    assert linear.residual > 0.01
    assert not linear.steady and not linear.stable and "not steady" in repr(linear) and ">not steady<" in linear._repr_html_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(da.ModelError, match="no motor, force, torque or driver 'motor'"):
            da.linearise(chain(1), inputs=["motor"])
        with pytest.raises(da.ModelError, match="output 'J3'"):
            da.linearise(chain(1), outputs=["J3"])
        with pytest.raises(da.ModelError, match="a solution has no 'place'"):
            da.linearise(chain(1), outputs=[("place", "rod1")])
        with pytest.raises(da.ModelError, match="give a list of names"):
            da.linearise(chain(1), inputs="motor")
        driven = chain(1)
        driven.add_driver("drive", "J1", 0.0)
        with pytest.raises(da.ModelError, match="leave no freedom; use kinematics"):
            da.linearise(driven)
    with pytest.raises(da.ModelError, match="give one with its values"):
        da.eigenvalue_curves(_straight, speed=[1.0, 2.0], other=[1.0])


def _tilted():
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("rod1", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=(0.3, 0, -0.4))
    model.add_revolute("J1", model.ground, "rod1", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_a_platform_on_springs_in_all_coordinates():
    """M s'' + k J^T J s = 0 with the lengths of legs by platform motions J in closed form, M from the matrices of each kind."""
    model, _ = stewart(gravity=0.0, stiffness=2e4)
    d = TOP + HEIGHT - BASE
    e = d / np.linalg.norm(d, axis=1, keepdims=True)
    J = np.hstack([e, np.cross(TOP, e)])
    absolute, tree, minimal = (da.equations(model, coordinates=kind) for kind in ("absolute", "tree", "minimal"))
    names = [tree.velocity_names.index(f"leg{k}.translation'") for k in range(6)]
    legs = {"absolute": J @ absolute.tangent[:6], "tree": tree.tangent[names], "minimal": J @ absolute.tangent[:6]}
    squares = []
    for at in (absolute, tree, minimal):
        K = 2e4 * legs[at.coordinates].T @ legs[at.coordinates]
        squares.append(eigh(K, at.tangent.T @ at.M @ at.tangent, eigvals_only=True))
    for mechanism in (model, da.compile(model, "tree")):
        found = da.linearise(mechanism)
        assert len(found.modes) == 6 and found.stable
        squares.append(np.sort([mode.eigenvalue.imag**2 for mode in found.modes]))
    for one in squares[1:]:
        np.testing.assert_allclose(one, squares[0], rtol=1e-10)


@pytest.mark.parametrize("spin", [2.0, 8.0])
def test_rouths_sphere_spins_about_the_vertical(spin):
    """Its centre of mass a above its centre. With the axis z + eps, complex in the floor, about the point of contact:

    (A + m (r + a)^2) eps'' - i n (C + m r (r + a)) eps' - m g a eps = 0: stable where n^2 K^2 > 4 J m g a.
    """
    m, r, a, A, C = 1.5, 0.3, 0.05, 0.04, 0.06
    model = da.Model(gravity=(0, 0, -G))
    model.add_body("sphere", mass=m, inertia=(A, A, C), position=(0, 0, r + a), angular_velocity=(0, 0, spin))
    model.add_rolling_sphere("floor", "sphere", radius=r, centre=(0, 0, -a))
    J, K = A + m * (r + a) ** 2, C + m * r * (r + a)
    root = np.sqrt(complex((spin * K) ** 2 - 4 * J * m * G * a))
    expected = np.array([1j * sign * (spin * K + s * root) / (2 * J) for sign in (1, -1) for s in (1, -1)])
    found = da.linearise(model)
    assert found.stable == ((spin * K) ** 2 > 4 * J * m * G * a) == (spin == 8.0)
    assert np.abs(found.reduced_eigenvalues[:, None] - expected[None]).min(axis=0).max() < 1e-9
    assert found.steady_rates == pytest.approx({"sphere.spin_z": spin})


def test_frequency_response_of_the_motion_itself():
    """Started on the periodic motion of the linear model, the full one leaves it by the square of the amplitude."""
    model = chain(1)
    model.add_motor("motor", "J1", 0.0)
    linear = da.linearise(model, inputs=["motor"], outputs=["J1"])
    w, t, errors = 5.0, np.linspace(0, 2.0, 21), []
    (response,) = linear.frequency_response(w / (2 * np.pi))[:, 0, 0]
    for size in (1.0, 0.5, 0.25):
        shaken = chain(1)
        shaken.remove("J1")
        start = size * response.imag, size * (1j * w * response).imag
        shaken.add_revolute("J1", shaken.ground, "rod1", point=(0, 0, 0), axis=(0, 1, 0), coordinate=start[0], rate=start[1])
        shaken.add_motor("motor", "J1", da.Harmonic(size, omega=w))
        full = da.simulate(shaken, 2.0, save_at=t, integrator=da.DOP853(rtol=1e-11, atol=1e-12)).coordinate("J1")
        errors.append(np.abs(full - size * (response * np.exp(1j * w * t)).imag).max() / size)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1) and errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)


def test_errors_of_a_cyclic_coordinate_are_no_rates():
    """The third, of which nothing depends but by rounding: balanced up to 1e-7, both zeros came out as a pair of 1.2e-7."""
    A = np.array([[0.0, 1.0, 0.0, 0.0], [-4.0, 0.0, 1e-13, 0.1], [0.0, 0.0, 3e-14, 0.15], [0.0, -0.3, 1e-13, 0.0]])
    zeros, Q, upper = staircase(A, 1e-10)
    assert zeros == 2
    np.testing.assert_allclose(np.linalg.eigvals(upper[2:, 2:]).imag, np.sqrt(4.03) * np.array([1, -1]), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.solve(Q, A @ Q), upper, rtol=0, atol=1e-14)


@pytest.mark.parametrize("stiffness", [1e6, 1e11, 1e12])
def test_something_fast_leaves_what_is_slow(stiffness):
    """A pendulum that stands, beside a mass on a stiff spring: was all zero, and stable, from 1e10 N/m on."""
    model = da.Model(gravity=(0, 0, -0.5))
    model.add_body("rod", mass=1.0, inertia=(1e-9,) * 3, position=(0, 0, 1))
    model.add_revolute("A", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_body("block", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0))
    model.add_prismatic("S", model.ground, "block", point=(5, 0, 0), axis=(1, 0, 0))
    model.add_joint_spring_damper("spring", "S", stiffness=stiffness)
    linear = da.linearise(model)
    fast, slow = np.sqrt(stiffness), np.sqrt(0.5)
    assert np.allclose(linear.frequencies, fast / (2 * np.pi), rtol=1e-12)
    # rounding of A is 1e-16 of stiffness / mass
    assert np.allclose(np.sort(linear.eigenvalues.real), [-slow, 0, 0, slow], atol=1e-9 + 1e-15 * stiffness)
    assert not linear.stable


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_free_body_spins_about_its_principal_axes(axis):
    """Stable about the longest and the shortest. In the frame that turns along, a drift is a double eigenvalue with one vector,
    whose parts are off by roots of rounding: they made it unstable."""
    inertia, spin, turned = np.array([0.2, 0.35, 0.5]), 7.0, da.Rotation.from_axis_angle((1, -2, 0.7), 2.2)
    model = da.Model(gravity=(0, 0, 0))
    w = turned.apply(spin * np.eye(3)[axis])
    model.add_body("body", mass=1.0, inertia=inertia, position=(1, 2, 3), rotation=turned, angular_velocity=w)
    linear = da.linearise(model)
    own, others = inertia[axis], np.delete(inertia, axis)
    expected = np.sqrt(complex(-np.prod(own - others) / np.prod(others))) * spin
    assert np.abs(linear.eigenvalues - expected).min() < 1e-10
    assert linear.steady and linear.stable == (axis != 1)


def test_a_castor_under_a_cart_that_is_driven():
    """It has no free velocity, and nevertheless falls in line, exp(-V t / trail): was refused."""
    speed, trail = 3.0, 0.2
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("cart", mass=5.0, inertia=(1, 1, 1), velocity=(speed, 0, 0))
    model.add_prismatic("track", model.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_driver("drive", "track", da.Polynomial((0.0, speed)))
    model.add_body("fork", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(-0.1, 0, 0), velocity=(speed, 0, 0))
    model.add_revolute("swivel", "cart", "fork", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_skate("wheel", "fork", direction=(1, 0, 0), point=(-0.1, 0, 0))
    linear = da.linearise(model)
    np.testing.assert_allclose(linear.reduced_eigenvalues, [-speed / trail], rtol=1e-10)
    assert linear.stable


def test_damping_that_is_rounding_is_told_as_none():
    model = da.Model(plane="xz")
    points = ((0, 0), (0.13, -0.41), (0.37, -0.77), (0.5, -1.3))
    for k in range(3):
        model.add_link(f"bar {k}", points[k], points[k + 1], mass=0.3 + 0.1 * k)
        model.add_revolute(f"J{k}", "ground" if k == 0 else f"bar {k - 1}", f"bar {k}", point=points[k])
    linear = da.equilibrium(model).linear
    assert linear.damping_ratios.any() and repr(linear).count("(damping 0)") == 3

"""Mechanisms as a user would write them down, each against physics that can be checked by hand."""

import threading
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import dalembert as da
from dalembert.compilation import callbacks
from dalembert.errors import AssemblyError, ModelError

# DOP853 at rtol = atol = 1e-9: positions of metre-sized mechanisms over a few seconds come out better than this
CLOSE = 1e-7


def pendulum(length=1.0, mass=1.0, velocities=None, **options):
    """A rod along x on a hinge about y in the origin."""
    model = da.Model()
    rod = da.rod(mass, length, axis="x", radius=length / 100).body()
    model.add_body("rod", **rod, position=(length / 2, 0, 0), **(velocities or {}))
    model.add_revolute("hinge", "ground", "rod", point=(0, 0, 0), axis=(0, 1, 0), **options)
    return model


def tilted_double_pendulum(*, swapped=False, reordered=False):
    """Two bodies on hinges about different axes; first and second, or the order of adding, exchanged on request."""
    model = da.Model()
    sign = -1.0 if swapped else 1.0

    def one():
        turn = da.Rotation.from_axis_angle((1, 2, 0.5), 0.7)
        model.add_body("one", mass=1.3, inertia=(0.02, 0.03, 0.025), position=(0.3, 0.1, -0.2), rotation=turn)

    def two():
        model.add_body("two", mass=0.7, inertia=(0.01, 0.013, 0.02), position=(0.6, 0.3, -0.5))

    def upper():
        ends = ("one", "ground") if swapped else ("ground", "one")
        model.add_revolute("upper", *ends, point=(0, 0, 0), axis=(0, 1, 0.3), rate=sign)

    def lower():
        ends = ("two", "one") if swapped else ("one", "two")
        model.add_revolute("lower", *ends, point=(0.5, 0.2, -0.3), axis=(1, 0, 0.5), rate=2 * sign)

    for add in (two, one, lower, upper) if reordered else (one, two, upper, lower):
        add()
    model.add_motor("motor", "lower", sign * 0.3)
    model.add_joint_spring_damper("spring", "upper", stiffness=2.0, damping=0.1, reference=sign * 0.4)
    return model


def test_roles_and_order_do_not_matter():
    times = np.linspace(0, 2, 21)
    a = da.simulate(tilted_double_pendulum(), 2.0, save_at=times)
    swapped = da.simulate(tilted_double_pendulum(swapped=True), 2.0, save_at=times)
    reordered = da.simulate(tilted_double_pendulum(reordered=True), 2.0, save_at=times)
    for other in (swapped, reordered):
        np.testing.assert_allclose(other.position("two"), a.position("two"), rtol=0, atol=CLOSE)
        np.testing.assert_allclose(other.energy.total, a.energy.total, rtol=0, atol=CLOSE)
    np.testing.assert_allclose(swapped.coordinate("lower"), -a.coordinate("lower"), rtol=0, atol=CLOSE)
    np.testing.assert_allclose(swapped.reaction("lower").force, -a.reaction("lower").force, rtol=0, atol=1e-5)
    np.testing.assert_allclose(swapped.reaction("lower").torque, -a.reaction("lower").torque, rtol=0, atol=1e-5)


def test_scotch_yoke_needs_the_torque_that_power_says():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("disc", **da.disc(1.0, 0.2).body())
    model.add_body("yoke", **da.box(2.0, (0.1, 0.3, 0.05)).body(), position=(0.15, 0, 0))
    model.add_revolute("crank", "ground", "disc", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("slide", "ground", "yoke", point=(0.15, 0, 0), axis=(1, 0, 0))
    model.add_point_on_plane("pin", "yoke", "disc", point=(0.15, 0, 0), axis=(1, 0, 0))
    model.add_driver("motor", "crank", da.Polynomial((0, 5.0)))
    s = da.simulate(model, 3.0)
    np.testing.assert_allclose(s.position("yoke")[:, 0], 0.15 * np.cos(5 * s.t), rtol=0, atol=1e-10)
    torque = 2.0 * 0.15**2 * 25 * np.cos(5 * s.t) * np.sin(5 * s.t)  # (m x'') dx/dangle, x = 0.15 cos(angle)
    np.testing.assert_allclose(s.reaction("motor").torque[:, 2], torque, rtol=0, atol=1e-9)


def test_cardan_shaft_turns_by_the_classical_law():
    bend = 0.5
    out = np.array([cos(bend), sin(bend), 0])
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("in", mass=1, inertia=(0.01, 0.02, 0.02), position=(-0.5, 0, 0))
    turn = da.Rotation.from_axis_angle((0, 0, 1), bend)
    model.add_body("out", mass=1, inertia=(0.01, 0.02, 0.02), position=0.5 * out, rotation=turn)
    model.add_revolute("A", "ground", "in", point=(-0.5, 0, 0), axis=(1, 0, 0))
    model.add_universal("U", "in", "out", point=(0, 0, 0), axes=((0, 0, 1), (-sin(bend), cos(bend), 0)))
    model.add_cylindrical("C", "ground", "out", point=out, axis=out)
    model.add_driver("motor", "A", da.Polynomial((0, 3.0)))
    s = da.simulate(model, 4.0)
    expected = np.unwrap(np.arctan2(np.sin(3 * s.t) * cos(bend), np.cos(3 * s.t)))
    np.testing.assert_allclose(s.coordinate("C")[:, 1], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(s.coordinate("C")[:, 0], 0.0, rtol=0, atol=1e-10)


def test_heavy_gyroscope_precesses_level():
    mass, arm, spin, J = 1.0, 0.2, 100.0, 0.02
    rate = mass * 9.81 * arm / (J * spin)
    model = da.Model()
    model.add_body("wheel", mass=mass, inertia=(J, 0.01, 0.01), position=(arm, 0, 0), angular_velocity=(spin, 0, rate))
    model.add_spherical("pivot", "ground", "wheel", point=(0, 0, 0))
    s = da.simulate(model, 3.0)
    path = arm * np.column_stack([np.cos(rate * s.t), np.sin(rate * s.t), np.zeros_like(s.t)])
    np.testing.assert_allclose(s.position("wheel"), path, rtol=0, atol=CLOSE)


def test_winch_works_against_the_angular_momentum():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("ball", mass=2.0, position=(1, 0, 0), velocity=(0, 1, 0))
    model.add_distance("rope", "ground", "ball", length=da.SmoothStep(1.0, 0.5, 0.2, 1.2))
    s = da.simulate(model, 2.0)
    np.testing.assert_allclose(np.cross(s.position("ball"), s.velocity("ball"))[:, 2], 1.0, rtol=0, atol=CLOSE)
    assert s.energy.kinetic[-1] == pytest.approx(4.0, abs=CLOSE)  # half the radius: twice the speed
    assert s.energy.external_work[-1] == pytest.approx(3.0, abs=CLOSE)


def test_torsion_spring_counts_turns():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("wheel", mass=1, inertia=(0.02, 0.02, 0.02))
    model.add_revolute("hinge", "ground", "wheel", point=(0, 0, 0), axis=(0, 0, 1), coordinate=7 * pi)
    model.add_joint_spring_damper("spring", "hinge", stiffness=0.5)
    s = da.simulate(model, 3.0)
    np.testing.assert_allclose(s.coordinate("hinge"), 7 * pi * np.cos(5 * s.t), rtol=0, atol=1e-6)


def test_two_masses_on_a_spring():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("a", mass=1.0)
    model.add_point_mass("b", mass=3.0, position=(1.2, 0, 0))
    model.add_spring_damper("spring", "a", "b", stiffness=30.0, length=1.0)
    s = da.simulate(model, 5.0)
    stretch = (s.position("b") - s.position("a"))[:, 0] - 1.0
    np.testing.assert_allclose(stretch, 0.2 * np.cos(sqrt(30.0 / 0.75) * s.t), rtol=0, atol=CLOSE)
    np.testing.assert_allclose(s.velocity("a") + 3 * s.velocity("b"), 0.0, rtol=0, atol=1e-12)


def test_force_from_a_table():
    times, values = (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0)
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=2.0)
    model.add_force("push", "p", (1, 0, 0), factor=da.Table(times, values))
    s = da.simulate(model, 3.0)
    twice = CubicSpline(times, values, bc_type="natural").antiderivative(2)
    np.testing.assert_allclose(s.position("p")[:, 0], twice(s.t) / 2.0, rtol=0, atol=1e-6)


def test_table_on_two_rails_slides_as_on_one():
    model = da.Model()
    model.add_body("table", **da.box(5.0, (1, 0.6, 0.05)).body(), position=(0, 0, 1))
    for name, y in (("left", -0.3), ("right", 0.3)):
        model.add_prismatic(name, "ground", "table", point=(0, y, 1), axis=(1, 0, 0.2))
    s = da.simulate(model, 1.0)
    slope = 0.2 / sqrt(1.04)
    np.testing.assert_allclose(s.coordinate("left"), -0.5 * 9.81 * slope * s.t**2, rtol=0, atol=1e-10)
    assert s.mechanism.degrees_of_freedom == 1
    assert not s.reaction("left").unique
    both = s.reaction("left").force + s.reaction("right").force
    normal = np.array([-0.2, 0, 1]) / sqrt(1.04)
    np.testing.assert_allclose(both, np.tile(5 * 9.81 * (normal @ (0, 0, 1)) * normal, (len(s.t), 1)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1e3])
def test_motion_scales_with_length(length):
    times = np.linspace(0, 2, 11)
    reference = da.simulate(pendulum(), 2.0, save_at=times).position("rod")
    slower = sqrt(length)
    scaled = da.simulate(pendulum(length, 1e-9), 2.0 * slower, save_at=times * slower)
    np.testing.assert_allclose(scaled.position("rod") / length, reference, rtol=0, atol=1e-6)


def test_small_mechanism_is_assembled():
    length = 1e-6
    model = da.Model()
    rod = da.rod(1e-9, length, axis="x", radius=length / 100).body()
    model.add_body("rod", **rod, position=(0.6 * length, 0, 0))
    model.add_revolute("hinge", "ground", "rod", points=((0, 0, 0), (-length / 2, 0, 0)), axes=((0, 1, 0), (0, 1, 0)))
    assert model.assemble().bodies[0].position[0] == pytest.approx(length / 2, rel=1e-6)


def test_a_given_velocity_is_kept_and_the_others_follow():
    body = pendulum(velocities={"angular_velocity": (0, 6, 0)}).assemble().bodies[0]
    np.testing.assert_allclose(body.angular_velocity, (0, 6, 0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(body.velocity, (0, 0, -3), rtol=0, atol=1e-12)
    body = pendulum(velocities={"velocity": (0, 0, -3)}).assemble().bodies[0]
    np.testing.assert_allclose(body.angular_velocity, (0, 6, 0), rtol=0, atol=1e-12)


def test_given_velocities_that_do_not_fit_change_least_in_the_mass_metric():
    body = pendulum(velocities={"angular_velocity": (0, 6, 0), "velocity": (0, 0, 0)}).assemble().bodies[0]
    J, offset = body.inertia[1, 1], 0.5
    rate = J * 6.0 / (J + body.mass * offset**2)  # the angular momentum about the hinge is kept
    np.testing.assert_allclose(body.angular_velocity, (0, rate, 0), rtol=0, atol=1e-12)


def test_velocities_follow_through_a_spatial_loop():
    """The spatial slider-crank of DESIGN.md: only the crank's angular velocity is given."""
    model = da.Model()
    model.add_body("crank", mass=0.12, inertia=(1e-4, 1e-5, 1e-4), position=(0, 0.1, 0.16), angular_velocity=(6, 0, 0))
    model.add_body("rod", mass=0.5, inertia=(4e-3, 4e-4, 4e-3), position=(0.1, 0.05, 0.1))
    model.add_body("slider", mass=2, inertia=(1e-4, 1e-4, 1e-4), position=(0.2, 0, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0.1, 0.12), axis=(1, 0, 0))
    model.add_spherical("B", "crank", "rod", point=(0, 0.1, 0.2))
    model.add_universal("C", "rod", "slider", point=(0.2, 0, 0), axes=((0, 1, 0), (0, 0, 1)))
    model.add_prismatic("D", "ground", "slider", point=(0.2, 0, 0), axis=(1, 0, 0))
    crank, _, slider = model.assemble().bodies
    np.testing.assert_allclose(crank.angular_velocity, (6, 0, 0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(slider.velocity, (0.24, 0, 0), rtol=0, atol=1e-12)  # the benchmark's value
    assert da.Model.from_dict(model.to_dict()).hash == model.hash


def test_fixed_body_with_velocities_that_cannot_fit_is_refused():
    with pytest.raises(AssemblyError, match="hinge"):
        pendulum(velocities={"angular_velocity": (1, 0, 0), "fixed": True}).assemble()


def test_adding_to_a_model_does_not_change_what_was_simulated(tmp_path):
    model = pendulum()
    before = model.hash
    s = da.simulate(model, 0.5)
    model.add_force("later", "rod", (0, 0, 1))
    assert s.mechanism.model.hash == before != model.hash
    s.save(tmp_path / "run.zarr")
    assert da.load(tmp_path / "run.zarr").report().passed


def test_planar_refuses_what_would_leave_the_plane():
    def model(shift):
        made = pendulum()
        made.add_point_mass("ball", mass=0.2, position=(2.0, shift, -1.0))
        made.add_distance("rope", "rod", "ball", points=((0.5, 0, 0), (0, 0, 0)))
        return made

    times = np.linspace(0, 1, 6)
    flat = [da.simulate(model(0.0), 1.0, coordinates=kind, save_at=times) for kind in ("planar", "absolute")]
    np.testing.assert_allclose(flat[0].position("ball"), flat[1].position("ball"), rtol=0, atol=CLOSE)
    with pytest.raises(ModelError, match=r"'rope' is not parallel to the plane.*'ball'"):
        da.compile(model(0.3), "planar")


def test_planar_takes_offsets_that_hinges_carry():
    model = pendulum()
    model.add_body("other", **da.rod(1.0, 1.0, axis="x", radius=0.01).body(), position=(1.5, 0.4, 0))
    model.add_revolute("elbow", "rod", "other", point=(1, 0.2, 0), axis=(0, 1, 0))
    model.add_spring_damper("spring", "ground", "other", points=((1, 0, 1), (0, 0, 0)), stiffness=5.0, length=0.5)
    times = np.linspace(0, 1, 6)
    planar, absolute = (da.simulate(model, 1.0, coordinates=kind, save_at=times) for kind in ("planar", "absolute"))
    np.testing.assert_allclose(planar.position("other"), absolute.position("other"), rtol=0, atol=CLOSE)


def test_planar_refuses_a_wobbling_body():
    model = da.Model(gravity=(0, 0, 0))
    tilt = da.Rotation.from_axis_angle((1, 0, 0), 0.3)
    model.add_body("b", mass=1, inertia=(1, 2, 2.5), rotation=tilt, angular_velocity=(0, 0, 1), velocity=(1, 0, 0))
    with pytest.raises(ModelError, match="no principal axis of body 'b'"):
        da.compile(model, "planar")


def test_ctrl_c_in_a_plain_python_force_returns_what_was_computed():
    calls = []

    def push(t):
        calls.append(t)
        if len(calls) == 500:
            raise KeyboardInterrupt
        return (0, 0, sin(t))

    model = pendulum()
    model.add_force("push", "rod", push)
    with pytest.warns(callbacks.SlowFunctionWarning):
        s = da.simulate(model, 1000.0)
    assert s.status == "interrupted"
    assert 0 < s.t[-1] < 1000.0


def test_arguments_of_simulate_are_checked():
    mechanism = da.compile(pendulum())
    with pytest.raises(ModelError, match="give a Model"):
        da.simulate("slider_crank", 1.0)
    with pytest.raises(ModelError, match="compiled in 'absolute' coordinates, not 'planar'"):
        da.simulate(mechanism, 1.0, coordinates="planar")
    for events in (3, [3], lambda state: 1.0):
        with pytest.raises(ModelError, match="give Event"):
            da.simulate(mechanism, 1.0, events=events)
    with pytest.raises(ModelError, match="give a function"):
        da.Event(3)
    with pytest.raises(ModelError, match="give -1, 0 or 1"):
        da.Event(lambda state: 1.0, direction=5)
    with pytest.raises(ModelError, match="Jet: tolerance is 'a'"):
        da.Jet(tolerance="a")


def test_threads_do_not_disturb_each_other():
    mechanism = da.compile(pendulum())
    alone = da.simulate(mechanism, 10.0)
    found = []
    threads = [threading.Thread(target=lambda: found.append(da.simulate(mechanism, 10.0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(s.x, alone.x) for s in found)


def test_stretched_links_that_would_have_to_fold_are_refused_with_the_remedy():
    def model(bend):
        made = da.Model()
        link = da.rod(1.0, 1.0, axis="x", radius=0.01).body()
        made.add_body("a", **link, position=(0.5, 0, 0), rotation=da.Rotation.from_axis_angle((0, 1, 0), bend))
        made.add_body("b", **link, position=(1.5, 0, 0))
        made.add_revolute("A", "ground", "a", points=((0, 0, 0), (-0.5, 0, 0)), axes=((0, 1, 0), (0, 1, 0)))
        made.add_spherical("B", "a", "b", points=((0.5, 0, 0), (-0.5, 0, 0)))
        made.add_spherical("C", "ground", "b", points=((1.5, 0, 0), (0.5, 0, 0)))
        return made

    with pytest.raises(AssemblyError, match="bend them a little"):
        model(0.0).assemble()
    folded = model(-0.05).assemble().bodies[0]
    assert folded.position[2] == pytest.approx(0.5 * sqrt(1 - 0.75**2), abs=1e-10)  # an isosceles triangle, apex up


@pytest.mark.parametrize("formulation", [da.Jet(), da.Jet(metric="mass"), da.MovingFrame()])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3, 1e6])
def test_pendulums_of_any_size(length, formulation):
    """The same motion in units of sqrt(length): a quarter period brings the rod to the vertical."""
    model = da.Model()
    model.add_body("rod", **da.rod(1.0, length, axis="x", radius=length / 100).body(), position=(length / 2, 0, 0))
    model.add_revolute("hinge", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    solution = da.simulate(model, 1.5 * length**0.5, formulation=formulation)
    assert solution.report().passed
    assert np.abs(solution.position("rod")[-1]).max() <= 0.5 * length * (1 + 1e-9)


def test_report_says_what_assembly_moved():
    model = da.Model()
    model.add_body("rod", **da.rod(1.0, 1.0, axis="x").body(), position=(0.6, 0, 0))
    model.add_revolute("hinge", model.ground, "rod", points=((0, 0, 0), (-0.5, 0, 0)), axes=((0, 1, 0), (0, 1, 0)))
    report = da.simulate(model, 0.1).report()
    line = report["assembly moved"]
    assert "rod: moved 1.000e-01 m" in line.value
    assert "assembly moved 'rod' by 0.1 m" in report["model"].value
    assert line.verdict == "note"

"""From rest to motion, in any coordinates; what an equilibrium says of itself."""

import re
import warnings

import numpy as np
import pytest

import dalembert as da
from dalembert.errors import ModelError
from dalembert.questions.equilibrium import Equilibrium

KINDS = ["absolute", "planar", "tree"]


def quarter_car(plane="yz", road=0.0):
    """A chassis on a slide, two wishbones, an upright on a tyre over a driven road."""
    model = da.Model(plane=plane)
    model.add_body("chassis", mass=400.0, inertia=20.0, position=(0.0, 0.6))
    model.add_prismatic("slide", model.ground, "chassis", point=(0, 0.6), axis=(0, 1))
    model.add_link("lower", (0.2, 0.2), (0.6, 0.18), mass=4.0)
    model.add_link("upper", (0.25, 0.45), (0.55, 0.44), mass=3.0)
    model.add_link("upright", (0.6, 0.18), (0.55, 0.44), mass=30.0)
    for name, first, second, at in (
        ("LI", "chassis", "lower", (0.2, 0.2)),
        ("UI", "chassis", "upper", (0.25, 0.45)),
        ("LO", "lower", "upright", (0.6, 0.18)),
        ("UO", "upper", "upright", (0.55, 0.44)),
    ):
        model.add_revolute(name, first, second, point=at)
    model.add_spring_damper(
        "strut", "chassis", "lower", points=((0.3, 0.0), (0.1, 0.0)), stiffness=60e3, damping=3e3, length=0.5
    )
    model.add_body("road", mass=10.0, inertia=1.0, position=(0.6, 0.0))
    model.add_prismatic("road slide", model.ground, "road", point=(0.6, 0.0), axis=(0, 1))
    model.add_driver("bump", "road slide", road)
    model.add_spring_damper("tyre", "road", "upright", points=((0, 0), (0, 0)), stiffness=2e5, damping=100, length=0.35)
    return model


def arm():
    """An unstable pose upright, on its hinge."""
    model = da.Model(plane="xz")
    model.add_link("arm", (0, 0, 0), (0, 0, 0.5), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0))
    return model


@pytest.fixture(scope="module")
def rest():
    return da.equilibrium(quarter_car())


@pytest.mark.parametrize("plane", ["yz", "xz"])  # in yz the normal of planar coordinates is that of the model, in xz against it
@pytest.mark.parametrize("goes_on", [None, *KINDS])
@pytest.mark.parametrize("found", [None, *KINDS])
def test_from_rest_to_motion(plane, found, goes_on):
    """Refused: initial is in 'absolute' coordinates, the run in 'planar'."""
    model = quarter_car(plane)
    pose = da.equilibrium(model if found is None else da.compile(model, found))
    run = da.simulate(model, 1.0, initial=pose, coordinates=goes_on)
    for body in ("chassis", "lower", "upright"):
        np.testing.assert_allclose(run.position(body), np.tile(pose.position(body), (len(run.t), 1)), atol=1e-10)
        np.testing.assert_allclose(run.rotation(body)[0], pose.rotation(body), atol=1e-12)
    np.testing.assert_allclose(run.coordinate("LO")[0], pose.coordinate("LO"), atol=1e-12)


@pytest.mark.parametrize("found", KINDS)
@pytest.mark.parametrize("goes_on", KINDS)
def test_states_of_runs_go_on_in_other_coordinates(found, goes_on):
    """The unbroken run, velocities and all, to the tolerance of integration: 1e-9, five digits of growth."""
    model = quarter_car(road=da.Harmonic(0.02, omega=9.0))
    half, whole = da.simulate(model, 0.5, coordinates=found), da.simulate(model, 1.0, save_at=[0.5, 1.0])
    run = da.simulate(model, 1.0, initial=half(0.5), coordinates=goes_on, save_at=[0.5, 1.0])
    for of in ("position", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(run, of)("upright"), getattr(whole, of)("upright"), atol=1e-6)
    np.testing.assert_allclose(run.reaction("LO").force, whole.reaction("LO").force, atol=1e-2)  # of 4 kN


def test_what_is_beside_the_plane_is_refused():
    model = da.Model(plane="xz", gravity=(0, 0, 0))
    model.add_point_mass("bob", mass=1.0, position=(1, 0, 0))
    space = da.Model(gravity=(0, 0, 0))
    space.add_point_mass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, 1.0, 0))
    with pytest.raises(ModelError, match=r"body 'bob' is beside the plane in the state that was given: its position would be"):
        da.simulate(model, 1.0, initial=da.simulate(space, 0.1)(0.1))


def test_questions_take_the_coordinates_of_the_model(rest):
    """They were absolute, and the report advised coordinates="planar" to who had written plane=."""
    assert rest.mechanism.coordinates == "planar"
    assert "planar" not in str(rest.report())
    model, inside = quarter_car(), da.compile(quarter_car(), "absolute")
    assert da.linearise(model, at=rest).mechanism.coordinates == "planar"
    in_space = da.linearise(inside, at=rest)
    assert in_space.mechanism.coordinates == "absolute"
    np.testing.assert_allclose(in_space.frequencies, rest.linear.frequencies, rtol=1e-9)
    assert da.equations(model, da.equilibrium(inside), coordinates="planar").M.shape == (15, 15)
    assert da.equations(model, rest).coordinates == "absolute"


def test_what_leaves_the_plane_of_its_model_rests_in_space():
    """A body whose principal axes are askew is refused in planar coordinates."""
    model = da.Model(plane="xz")
    model.add_body("box", mass=1.0, inertia=[[2.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.0]], position=(0, 0, -1.0))
    model.add_bushing("mount", "ground", "box", point=(0, 0, -1), stiffness=(1e3, 1e3, 1e3, 10.0, 10.0, 10.0))
    with pytest.raises(ModelError, match="use coordinates='absolute'"):
        da.simulate(model, 1.0)
    found = da.equilibrium(model)
    assert found.mechanism.coordinates == "absolute" and np.isclose(found.position("box")[2], -1.0 - 9.81 / 1e3)


def test_a_state_in_the_place_of_its_model(rest):
    for ask, answer in (
        (lambda: da.simulate(rest, t_end=3.0), "start its model there: simulate(model, t_end, initial=state)"),
        (lambda: da.linearise(rest), "linearise(model, at=state)"),
        (lambda: da.equations(rest), "equations(model, state)"),
    ):
        with pytest.raises(ModelError, match=re.escape(answer)):
            ask()


def test_the_verdict_of_a_pose(rest, tmp_path):
    """Not trusted: no state after the start was saved."""
    report = rest.report()
    assert report.verdict == "pass" and report.headline == "trusted", report
    assert report["status"].value == "complete: at rest" and report["stability"].value == "stable"
    assert report["balance of forces"].verdict == "pass" and 0.0 < report["balance of forces"].data < 1e-9
    assert "energy balance" not in [line.name for line in report.lines]
    rest.solution.save(tmp_path / "rest.zarr")
    assert da.load(tmp_path / "rest.zarr").report().headline == "trusted"
    assert da.equilibrium(arm()).report().headline == "trusted with care: stability"


def pose(rest, x, rates=None):
    return Equilibrium(rest.mechanism, 0.0, x, residual=0.0, iterations=0, steady_rates=rates or {})


def test_the_verdict_of_a_pose_fails_where_it_should(rest):
    nq = rest.mechanism.nq
    open_, fast = rest.x[0].copy(), rest.x[0].copy()
    open_[4] += 1e-3  # a link beside its pins
    fast[nq + 1] = 1e-3  # and a chassis that moves
    for x, names in ((open_, ["position drift"]), (fast, ["velocity drift", "balance of forces"])):
        failed = [line.name for line in pose(rest, x).report().failures]
        assert set(names) <= set(failed), failed
    start = pose(rest, rest.mechanism.x_0.copy()).report()
    assert [line.name for line in start.failures] == ["balance of forces"]
    assert start["balance of forces"].advice and "are left at '" in start["balance of forces"].value
    moved = da.equilibrium(quarter_car())  # a stored pose of a model with other numbers
    moved.solution.mechanism = da.compile(heavier(), "planar")
    del moved.solution.__dict__["evaluated"]
    assert [line.name for line in moved.solution.report().failures] == ["balance of forces"]


def heavier():
    model = quarter_car()
    model.replace("chassis", mass=400.1)
    return model


def test_the_verdict_of_a_steady_motion():
    governor = da.Model()
    shaft = governor.add_body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    ball = governor.add_body("ball", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.3, 0, -0.4))
    governor.add_revolute("bearing", governor.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1))
    governor.add_revolute("hinge", shaft, ball, point=(0, 0, 0), axis=(0, 1, 0))
    found = da.equilibrium(governor, rates={"bearing": 6.0})
    assert found.report()["status"].value == "complete: steady motion, 'bearing' at 6"
    assert found.report().verdict == "pass"
    x = found.x[0].copy()
    x[found.mechanism.nq : found.mechanism.nq + found.mechanism.nu] *= 1.01
    assert [line.name for line in pose(found, x, {"bearing": 6.06}).report().failures] == ["balance of forces"]
    half = pose(found, found.x[0].copy(), {"bearing": 6.0}).solution
    assert half.report().verdict == "pass"  # and of a state that was changed since:
    half = pose(found, found.x[0].copy(), {"bearing": 6.0}).solution
    half.x[0, found.mechanism.nq : found.mechanism.nq + found.mechanism.nu] *= 0.5
    del half.__dict__["evaluated"]
    report = half.report()
    assert [line.name for line in report.failures] == ["balance of forces"]
    assert report["balance of forces"].value.startswith("the angular velocity of body '")


def test_what_is_not_steady_is_named_with_its_size():
    """One of the velocities, or all of them times one?"""
    tilted = da.Model(plane="xz")
    tilted.add_link("arm", (0, 0, 0), (0.5, 0, 0), mass=1.0)
    tilted.add_revolute("A", tilted.ground, "arm", point=(0, 0, 0))
    with pytest.warns(RuntimeWarning, match=r"the acceleration of body 'arm' is off by 7.36 m/s\^2, 0.5 of those"):
        da.linearise(tilted)  # 3/4 g


def test_a_linear_model_tells_its_modes(rest):
    f, d = rest.linear.frequencies, rest.linear.damping_ratios
    assert f"stable; {f[0]:.4g} Hz (damping {d[0]:.3g}), {f[1]:.4g} Hz (damping {d[1]:.3g})>" in repr(rest.linear)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert repr(da.linearise(arm())).endswith("unstable>")


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda rest, run: rest.linear.modes[0].shape, 'mode.position("link")'),
        (lambda rest, run: rest.linear.report(), "linear.verdict says whether it is stable"),
        (lambda rest, run: rest.linear.outputs, "their names are linear.output_names"),
        (lambda rest, run: rest.state, "it is one: simulate(model, t_end, initial=it)"),
        (lambda rest, run: run.state, "solution(0.3) is the state then"),
        (lambda rest, run: run.coordinate_acceleration, 'solution.acceleration("link")'),
        (lambda rest, run: run.signal("chassis.a.z"), "did you mean 'chassis.az'?"),
        (lambda rest, run: run.signal("LO.f.y"), "did you mean 'LO.fy'?"),
        (lambda rest, run: run.model.simulate(3.0), "da.simulate(model, t_end) runs it"),
        (lambda rest, run: run.model.set_initial(rest), "da.simulate(model, t_end, initial=state)"),
        (lambda rest, run: da.simulate(run.model, 1.0, start=rest), "did you mean 'initial'?"),
        (lambda rest, run: da.simulate(run.model, 1.0, state=rest), "did you mean 'initial'?"),
        (lambda rest, run: da.linearise(run.model, state=rest), "did you mean 'at'?"),
        (lambda rest, run: da.save, 'solution.save("run.zarr")'),
        (lambda rest, run: da.wheel, "da.disc and da.cylinder"),
        (lambda rest, run: da.Step, "da.SmoothStep"),
        (lambda rest, run: da.Solid, "solids are da.box"),
    ],
)
def test_what_was_meant(rest, ask, answer):
    run = da.simulate(quarter_car(), 0.01, initial=rest)
    with pytest.raises((AttributeError, TypeError, ModelError), match=re.escape(answer)):
        ask(rest, run)


def test_a_bump_with_an_if():
    with pytest.raises(ModelError, match=r"a bump is SmoothStep\(0, h, t_1, t_2\) - SmoothStep\(0, h, t_2, t_3\), .* Table"):
        quarter_car(road=lambda t: 0.025 if 0.5 < t < 0.8 else 0.0)

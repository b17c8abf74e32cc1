"""Angles of bodies in a plane: of a driven crank, of the coupler and the rocker of a four-bar linkage by closing its loop."""

import numpy as np
import pytest

import dalembert as da
from dalembert.model.plane import PLANES

KINDS = ["planar", "absolute", "tree"]
RATE = 6.0


def crank(plane="xz", angle=0.4, length=0.1):
    """A driven bar that points where `angle` says, with a block on it that was turned by 0.3, and a bead."""
    model = da.Model(plane=plane)
    end = (length * np.cos(angle), length * np.sin(angle))
    model.add_link("crank", (0, 0), end, mass=0.2)
    model.add_body("block", mass=0.1, inertia=1e-4, position=end, rotation=0.3)
    model.add_point_mass("bead", mass=0.1, position=end)
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_fixed("weld", "crank", "block", point=end)
    model.add_spherical("glue", "crank", "bead", point=end)
    model.add_marker("tip", "crank", at=end)
    model.add_driver("motor", "A", da.Polynomial((0.0, RATE)))
    return model


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("coordinates", KINDS)
def test_of_a_driven_crank(plane, coordinates):
    """Counted over three turns, from the way it points; of a body by how it was turned."""
    run = da.simulate(crank(plane), 3.0, coordinates=coordinates)
    np.testing.assert_allclose(run.signal("crank.angle"), 0.4 + RATE * run.t, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.signal("crank.angle.rate"), RATE, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.signal("block.angle"), 0.3 + RATE * run.t, rtol=0, atol=1e-8)
    few = run([2.9, 0.1])  # turns are not counted from the first of these
    np.testing.assert_allclose(few.signal("crank.angle"), 0.4 + RATE * few.t, rtol=0, atol=1e-8)
    assert run(2.9).signal("crank.angle") == pytest.approx(0.4 + RATE * 2.9, abs=1e-8)
    assert da.largest(run, "crank.angle") == pytest.approx(0.4 + RATE * 3.0, abs=1e-8)
    data = run.to_xarray().angle
    np.testing.assert_array_equal(data.sel(body="crank"), run.signal("crank.angle"))
    assert np.isnan(data.sel(body="bead")).all() and data.attrs["units"] == "rad"


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("coordinates", KINDS)
def test_accelerations_of_angles_count_as_angles_do(plane, coordinates, tmp_path):
    """angle = 0.4 + 6 t + t^2 / 2; the table had the acceleration about an axis of the world, in xz with the other sign."""
    model = crank(plane)
    model.remove("motor")
    model.add_driver("motor", "A", da.Polynomial((0.0, RATE, 0.5)))
    run = da.simulate(model, 1.0, coordinates=coordinates)
    # drifts of 1e-10 m/s at an arm of 0.1 m, and of accelerations that meet joints to 1e-8
    np.testing.assert_allclose(run.signal("crank.angle.acceleration"), 1.0, rtol=0, atol=1e-6)
    run.export(tmp_path / "run.csv")
    names = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert {"crank.angle.acceleration", "block.angle.acceleration"} <= set(names)
    assert not [name for name in names if "angular" in name or name.startswith("bead.angle")]


@pytest.mark.parametrize("coordinates", KINDS)
def test_to_the_left_it_is_plus_half_a_turn(coordinates):
    for end in ((-0.1, 0.0), (-0.1, 1e-18), (-0.1, -1e-18)):
        model = da.Model(plane="xz", gravity=(0, 0))
        model.add_link("crank", (0, 0), end, mass=0.2)
        model.add_revolute("A", "ground", "crank", point=(0, 0), rate=-1.0)
        run = da.simulate(model, 0.1, coordinates=coordinates)
        assert run.signal("crank.angle")[0] == pytest.approx(np.pi, abs=1e-12)
        assert np.all(np.diff(run.signal("crank.angle")) < 0.0) and np.ptp(run.signal("crank.angle")) < 1.0


@pytest.mark.parametrize("coordinates", ["planar", "absolute"])
@pytest.mark.parametrize("angle", [0.4, np.pi - 1e-5])
def test_derivatives(coordinates, angle):
    """By the way it points at the start: 1, to the left as well, where the angle at the start jumps by a turn beside it."""
    run = da.simulate(crank, 1.0, parameters={"angle": angle}, sensitivities=["angle"], coordinates=coordinates)
    np.testing.assert_allclose(run.derivative("crank.angle", "angle"), 1.0, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.derivative("block.angle", "angle"), 0.0, rtol=0, atol=1e-6)
    found = da.gradient(crank, lambda s: da.largest(s, "crank.angle"), {"angle": angle}, t_end=1.0, coordinates=coordinates)
    assert found["angle"] == pytest.approx(1.0, abs=1e-6)


def four_bar():
    A, B, C, D = (0, 0), (0, 0.1), (0.35, 0.25), (0.3, 0)
    model = da.Model(plane="xz", name="four-bar")
    model.add_link("crank", A, B, mass=0.2)
    model.add_link("coupler", B, C, mass=0.5)
    model.add_link("rocker", D, C, mass=0.4)
    for name, first, second, point in (
        ("A", "ground", "crank", A),
        ("B", "crank", "coupler", B),
        ("C", "coupler", "rocker", C),
        ("D", "ground", "rocker", D),
    ):
        model.add_revolute(name, first, second, point=point)
    model.add_driver("motor", "A", da.Polynomial((0.0, RATE)))
    return model


def closed(t):
    """Angles of coupler and rocker where circles about B and D meet, C on the left of the way from B to D."""
    B = 0.1 * np.exp(1j * (np.pi / 2 + RATE * t))
    b, c = abs(0.35 + 0.15j), abs(0.05 + 0.25j)
    d = 0.3 - B
    along = (b**2 - c**2 + abs(d) ** 2) / (2 * abs(d))
    C = B + d / abs(d) * (along + 1j * np.sqrt(b**2 - along**2))
    return np.angle(C - B), np.angle(C - 0.3)


@pytest.mark.parametrize("coordinates", KINDS)
def test_of_a_four_bar_linkage(coordinates):
    run = da.simulate(four_bar(), 2.0, coordinates=coordinates)
    coupler, rocker = closed(run.t)
    np.testing.assert_allclose(run.signal("crank.angle"), np.pi / 2 + RATE * run.t, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.signal("coupler.angle"), coupler, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.signal("rocker.angle"), rocker, rtol=0, atol=1e-9)
    times = np.linspace(0.0, 2.0, 4001)
    assert da.smallest(run, "rocker.angle") == pytest.approx(closed(times)[1].min(), abs=1e-6)


def test_of_joints_formulations_and_poses():
    run = da.simulate(four_bar(), 2.0, formulation=da.MovingFrame())
    np.testing.assert_allclose(run.signal("coupler.angle"), closed(run.t)[0], rtol=0, atol=1e-9)
    poses = da.kinematics(four_bar(), np.linspace(0.0, 2.0, 101))
    np.testing.assert_allclose(poses.signal("rocker.angle"), closed(poses.t)[1], rtol=0, atol=1e-9)
    np.testing.assert_allclose(poses.signal("crank.angle"), np.pi / 2 + RATE * poses.t, rtol=0, atol=1e-9)


@pytest.mark.parametrize("coordinates", KINDS)
def test_across_an_event_that_acts(coordinates):
    """A wheel that is let go after four turns goes on counting, also at times behind that alone."""
    model = da.Model(plane="xz", gravity=(0, 0))
    model.add_body("wheel", mass=1.0, inertia=0.1, rotation=0.2)
    model.add_revolute("A", "ground", "wheel", point=(0, 0), rate=10.0)
    let_go = da.Event(lambda s: s.time - 2.5, name="let go", action=da.Free("A"))
    run = da.simulate(model, 4.0, events=[let_go], coordinates=coordinates)
    assert len(run.pieces) == 2
    np.testing.assert_allclose(run.signal("wheel.angle"), 0.2 + 10.0 * run.t, rtol=0, atol=1e-7)
    late = run([3.5, 3.6])
    np.testing.assert_allclose(late.signal("wheel.angle"), 0.2 + 10.0 * late.t, rtol=0, atol=1e-7)


def test_in_sweeps_and_figures(tmp_path):
    options = {"parameters": {"angle": [0.1, 0.4]}, "save_at": np.linspace(0.0, 1.0, 11), "progress": False}
    found = da.simulate_many(crank, 1.0, outputs=["crank.angle"], out=tmp_path / "s.zarr", **options)
    np.testing.assert_allclose(found["crank.angle"][:, -1], [0.1 + RATE, 0.4 + RATE], rtol=0, atol=1e-8)
    assert found["crank.angle"].attrs == {"units": "rad", "long_name": "angle of crank"}
    run = da.simulate(crank(), 1.0)
    axes = run.plot.time("crank.angle", "crank.angle.rate", "crank.angle.acceleration", degrees=True).axes
    labels = ["angle of crank [deg]", "rate of angle of crank [deg/s]", "acceleration of angle of crank [deg/s^2]"]
    assert [ax.get_ylabel() for ax in axes] == labels
    np.testing.assert_allclose(axes[0].get_lines()[0].get_ydata()[-1], np.degrees(0.4 + RATE), rtol=1e-9)
    run.plot.phase("crank.angle", "motor")


def test_where_there_is_none_what_to_use_is_told():
    run = da.simulate(crank(), 0.1)
    with pytest.raises(da.ModelError, match=r"'tip' is a marker, a point without axes; 'crank\.angle' is that of its body"):
        run.signal("tip.angle")
    with pytest.raises(
        da.ModelError, match="'bead' is a point mass, which does not turn; give a body, or the angle of a joint"
    ):
        run.signal("bead.angle")
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 0.1), mass=0.2)
    model.add_revolute("pin", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0), rate=1.0)
    told = (
        r"in space a body has no single angle: give the angle of a joint, 'pin', ask for solution\.cardan\('crank'\), or write"
    )
    for coordinates in ("absolute", "planar"):
        space = da.simulate(model, 0.1, coordinates=coordinates)
        for name in ("crank.angle", "crank.angle.rate", "crank.angle.acceleration"):
            with pytest.raises(da.ModelError, match=told):
                space.signal(name)
        assert "angle" not in space.to_xarray()


def test_what_leaves_the_plane_has_none():
    model = da.Model(plane="xz", gravity=(0, 0))
    model.add_body("top", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(1.0, 2.0, 3.0))
    run = da.simulate(model, 1.0, coordinates="absolute")
    with pytest.raises(da.ModelError, match="body 'top' leaves the plane xz of the model, where it would have one angle"):
        run.signal("top.angle")
    assert "angle" not in run.to_xarray()


def swung(coordinates, times):
    """A run saved at these times alone, and the angle of its wheel."""
    model = da.Model(plane="xz", gravity=(0, 0))
    model.add_body("wheel", mass=1.0, inertia=0.1)
    model.add_torque("twist", "wheel", lambda t: (0.0, -200.0 * np.cos(7.0 * t), 0.0))
    run = da.simulate(model, times[-1], coordinates=coordinates, save_at=times)
    return run, 200.0 / 4.9 * (1.0 - np.cos(7.0 * run.t))


@pytest.mark.parametrize("coordinates", KINDS)
@pytest.mark.parametrize("end", [1.0, 1.5, 1.7, 2.0, 2.3, 3.0])
def test_turns_are_counted_by_steps_and_not_by_saved_times(coordinates, end):
    """They were told by the rates at saved times: in 3 s they were whole turns off, the others were refused."""
    run, exact = swung(coordinates, [0.0, end])
    np.testing.assert_allclose(run.signal("wheel.angle"), exact, rtol=0, atol=1e-6)
    fine = run(np.linspace(0.0, end, 7))
    np.testing.assert_allclose(fine.signal("wheel.angle"), 200.0 / 4.9 * (1.0 - np.cos(7.0 * fine.t)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("end", [1.0, 1.5, 1.7, 2.0, 2.3, 3.0])
def test_times_too_far_apart_to_count_are_refused(end):
    """Where nothing is known of the steps between."""
    run, _ = swung("absolute", [0.0, end])
    alone = da.Solution(run.mechanism, run.t, run.x, settings=run.settings)
    with pytest.raises(
        da.ModelError, match="'wheel': saved times are too far apart to count its turns in absolute coordinates"
    ):
        alone.signal("wheel.angle")

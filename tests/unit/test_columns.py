"""Columns of tables: one for each signal and function, in units that they say."""

import functools

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.errors import ModelError
from dalembert.model.references import called


@pytest.fixture(scope="module")
def run():
    return da.simulate(gallery.build("slider_crank"), 0.1)


def columns_in(run, path, *names, **options):
    """A table as columns by name."""
    run.export(path, *names, **options)
    names = path.read_text().partition("\n")[0].split(",")
    return dict(zip(names, np.genfromtxt(path, delimiter=",", skip_header=1).T, strict=True))


def command(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def twice(s):
    return 2 * s.t


made = [functools.wraps(twice)(lambda s, k=k: k * s.t) for k in (1, 2)]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ("A", ("A", twice)),
            "export: signal 'A' and a function called 'A' would both be the column 'A'; give functions",
        ),
        (
            (("A", twice), "A"),
            "export: a function called 'A' and signal 'A' would both be the column 'A'; give functions",
        ),
        (made, "export: the function 'twice' and the function 'twice' would both be the column 'twice'; give functions"),
        (
            (("travel [m]", twice),) * 2,
            r"both be the column 'travel \[m\]'; give functions names of their own, \(\"travel \[m\]\"",
        ),
        ((("time", twice),), "export: the time and a function called 'time' would both be the column 'time'"),
    ],
)
def test_columns_of_one_name_are_refused(run, tmp_path, names, message):
    """One was left out, and its name stood over the numbers of the other."""
    with pytest.raises(ModelError, match=message):
        run.export(tmp_path / "x.csv", *names)
    assert not (tmp_path / "x.csv").exists()


def test_a_signal_that_is_named_twice_is_one_column(run, tmp_path):
    assert [*columns_in(run, tmp_path / "x.csv", "time", "A", "A", run.model.joint("A"))] == ["time", "A"]


def test_columns_that_are_one_in_degrees_are_refused(run, tmp_path):
    with pytest.raises(ModelError, match=r"degrees: the columns 'A' and 'A \[deg\]' would both be 'A \[deg\]'; give functions"):
        run.export(tmp_path / "x.csv", "A", ("A [deg]", lambda s: np.degrees(s.signal("A"))), degrees=True)
    swept = da.kinematics(gallery.build("four_bar"), sweep={"A": np.linspace(0, 1, 7)})
    with pytest.raises(ModelError, match="signal 'A' and a function called 'A' would both be the column 'A'"):
        swept.export(tmp_path / "x.csv", ("A", twice))


def test_all_angles_of_a_table_are_turned(tmp_path):
    """Rates of a spherical joint and what joint springs act along stayed in rad among degrees."""
    model = da.Model(name="ball")
    link = model.add_body("link", mass=1, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    bob = model.add_body("bob", mass=1, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_spherical("S", model.ground, link, point=(0, 0, 0))
    model.add_revolute("R", link, bob, point=(1, 0, 0), axis=(0, 1, 0))
    model.add_joint_spring_damper("twist", "R", stiffness=2.0, reference=0.3)
    model.add_spring_damper("pull", model.ground, bob, points=((0, 0, 1), (0, 0, 0)), stiffness=10.0, length=0.5)
    model.add_bushing("rubber", model.ground, bob, point=(1, 0, 0), stiffness=(1.0,) * 6, damping=(0.1,) * 6)
    model.add_joint_law("law", ["R"], lambda t, s, v: -v)
    run = da.simulate(model, 0.2)
    plain, turned = (columns_in(run, tmp_path / f"{on}.csv", degrees=on) for on in (False, True))
    units = {"S.rotation_x": "deg", "S.rotation_x.coordinate_rate": "deg/s", "link.wx": "deg/s", "link.wx.rate": "deg/s^2"}
    units |= {
        f"{name}.effort_{part}": unit for name in ("twist", "law") for part, unit in (("coordinate", "deg"), ("rate", "deg/s"))
    }
    units |= {"rubber[5].effort_coordinate": "deg", "rubber[3].effort_rate": "deg/s", "R": "deg", "R.rate": "deg/s"}
    for name, unit in units.items():
        np.testing.assert_allclose(turned[f"{name} [{unit}]"], np.degrees(plain[name]), rtol=1e-14)
    as_before = {"pull.effort_coordinate", "pull.effort_rate", "rubber[0].effort_coordinate", "rubber[2].effort_rate", "twist"}
    assert as_before <= turned.keys()
    assert [name.partition(" [")[0] for name in turned] == [*plain]


def test_rates_of_a_sweep_are_per_unit_of_what_was_swept(tmp_path):
    """They were told per second, and in degrees rad/rad was multiplied."""
    model = gallery.build("slider_crank")
    names = [joint.name for joint in model.joints]
    swept = da.kinematics(model, sweep={"A": np.radians(np.arange(0, 361, 5))})
    slide = next(joint.name for joint in model.joints if joint.coordinates == ("translation",))
    assert "A" in names
    plain = columns_in(swept, tmp_path / "plain.csv", "A", "A.rate", slide, f"{slide}.rate", "slider.ax")
    turned = columns_in(swept, tmp_path / "turned.csv", "A", "A.rate", slide, f"{slide}.rate", "slider.ax", degrees=True)
    assert [*turned] == ["A [deg]", "A.rate [deg/deg]", slide, f"{slide}.rate [m/deg]", "slider.ax [m/deg^2]"]
    for (before, values), factor in zip(plain.items(), (180 / np.pi, 1, 1, np.pi / 180, (np.pi / 180) ** 2), strict=True):
        told = next(name for name in turned if name.partition(" [")[0] == before)
        np.testing.assert_allclose(turned[told], factor * values, rtol=1e-14)
    np.testing.assert_allclose(plain["A.rate"], 1.0, atol=1e-12)
    whole = columns_in(swept, tmp_path / "all.csv", degrees=True)
    assert {"A [deg]", "A.rate [deg/deg]", f"{slide}.rate [m/deg]", "slider.vx [m/deg]"} <= whole.keys()
    assert not any("/s" in name for name in whole)
    dataset = swept.to_xarray()
    assert (dataset["velocity"].units, dataset["angular_acceleration"].units) == ("m/rad", "rad/rad^2")
    assert dataset["coordinate_rate"].units == "rad/rad or m/rad"
    assert da.simulate(model, 0.1).to_xarray()["velocity"].units == "m/s"


def test_labels_and_numbers_of_a_sweep_have_these_units():
    from dalembert.questions.objectives import of_whole_run

    model = gallery.build("slider_crank")
    slide = next(joint.name for joint in model.joints if joint.coordinates == ("translation",))
    swept = da.kinematics(model, sweep={"A": np.linspace(0, 6, 101)})
    assert of_whole_run(swept, f"{slide}.rate.max")[1] == "m/rad"
    labels = [axes.get_ylabel() for axes in swept.plot.time(f"{slide}.rate", "swept A.power").axes]
    assert labels == [f"rate of translation of {slide} [m/rad]", "power of swept A [J/rad]"]
    phase = swept.plot.phase(slide, degrees=True).axes[0]
    assert phase.get_ylabel() == "rate of change [m/deg]"
    np.testing.assert_allclose(
        phase.get_lines()[0].get_ydata(), np.pi / 180 * swept.plot.phase(slide).axes[0].get_lines()[0].get_ydata()
    )
    assert da.simulate(model, 0.1).plot.phase("A", degrees=True).axes[0].get_ylabel() == "rate of change [deg/s]"


def test_sweeps_are_told_in_what_was_swept(tmp_path):
    """One that falls and ends early was told to go to 0, and where rods leave barrels in seconds."""
    model = gallery.build("four_bar")
    swept = da.kinematics(model, sweep={"A": np.linspace(0, 0.5, 11)})
    assert repr(swept) == "<Solution of 'spatial four-bar': 11 states, A = 0 to 0.5 rad, complete>"
    falling = da.kinematics(model, sweep={"A": np.linspace(0, -0.5, 11)})
    assert "11 states, A = -0.5 to 0 rad" in repr(falling)
    assert falling.report()["status"].value == "complete: 11 states, A = -0.5 to 0 rad"
    assert "size" not in falling.report(verbose=True)["steps"].value
    with pytest.raises(ModelError, match=r"export_picture: t is 99\.0; give one of the run, A = 0 to 0\.5 rad"):
        swept.export_picture(tmp_path / "x.png", t=99.0)
    with pytest.raises(ModelError, match=r"export_picture: t is 99\.0; give one of the run, t = 0 to 0\.1 s"):
        da.simulate(gallery.build("slider_crank"), 0.1).export_picture(tmp_path / "x.png", t=99.0)
    slide = da.Model(plane="xy", name="cylinder")
    barrel, rod = (slide.add_link(name, (x, 0), (x + 1, 0), mass=1) for name, x in (("barrel", 0), ("rod", 0.2)))
    slide.add_fixed("F", slide.ground, barrel)
    slide.add_prismatic("C", barrel, rod, point=(0.2, 0), axis=(1, 0))
    found = da.kinematics(slide, sweep={"C": np.linspace(0, 2, 21)}).report()
    assert any("'rod' leaves 'barrel' at C = 0.8 m:" in str(line.value) for line in found.lines)


def test_what_is_made_of_a_lambda_has_a_name():
    assert called(np.vectorize(lambda s: 1.0)) == "function"


def push(t, r, v, R, w):
    return np.array([1.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def without_function(tmp_path_factory):
    model = gallery.build("slider_crank")
    model.add_force("push", "slider", push)
    path = tmp_path_factory.mktemp("runs") / "run.zarr"
    da.simulate(model, 0.1, save_at=np.linspace(0, 0.1, 41)).save(path)
    return path


def test_all_signals_but_those_that_cannot_be_computed(without_function, tmp_path):
    """One force without its function kept all others from being written."""
    text = "left out: push.fx, push.fy, push.fz, push.f, push.tx, push.ty, push.tz, push.t, ...: PointForce 'push': the user"
    done = command("export", without_function, tmp_path / "x.csv", "--output", "*")
    assert done.exit_code == 0 and text in done.stderr
    columns = (tmp_path / "x.csv").read_text().partition("\n")[0].split(",")
    assert {"A", "slider.x", "A.f"} <= {*columns} and not any("push" in name for name in columns)
    done = command("export", without_function, "--output", "*.f.max")
    assert done.exit_code == 0 and "A.f.max" in done.stdout and "left out: push.f.max: PointForce 'push'" in done.stderr
    done = command("export", without_function, tmp_path / "y.csv", "--output", "push.fx")
    assert done.exit_code == 2 and "error: PointForce 'push': the user function" in done.stderr
    done = command("export", without_function, tmp_path / "y.csv", "--output", "push*")
    assert done.exit_code == 2 and "error: left out: push.fx" in done.stderr
    done = command("plot", without_function, "time", "push.*", "slider.*", "--out", tmp_path / "x.png")
    assert done.exit_code == 0 and "left out: push.fx" in done.stderr


def test_all_signals_of_a_lagrangian_system(tmp_path):
    """There were said to be none."""
    run = da.simulate(gallery.chaplygin_sleigh(), 0.1)
    run.save(tmp_path / "run.zarr")
    assert command("export", tmp_path / "run.zarr", tmp_path / "x.csv", "--output", "*").exit_code == 0
    columns = (tmp_path / "x.csv").read_text().partition("\n")[0].split(",")
    names = [f"{name}{dash}" for name in run.mechanism.model.coordinates for dash in ("", "'")]
    assert columns == ["time", *names, "total_energy", "kinetic_energy", "potential_energy", "external_work"]

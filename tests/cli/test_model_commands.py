"""new, check, export, plot and compare on the command line: the path of a new user, and what is refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.cli.plot import ALONE, OF_SOMETHING


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.zarr"
    da.simulate(gallery.build("slider_crank"), 1.0).save(path)
    return path


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check_refused(result, *words, code=2):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("dalembert: error: ") and result.stderr.count("\n") == 1, result.stderr
    for word in words:
        assert word in result.stderr


def test_new_check_edit_run():
    assert call("new", "mine.yaml").stdout.startswith("written: mine.yaml, dalembert-model.schema.json")
    assert "dalembert run mine.yaml" in Path("mine.yaml").read_text()
    json.loads(Path("dalembert-model.schema.json").read_text())
    assert "1 degree of freedom" in call("check", "mine.yaml").stdout
    first = call("run", "mine.yaml", "--t-end", 0.5, "--out", "a.zarr")
    assert first.exit_code == 0, first.output
    text = Path("mine.yaml").read_text()
    Path("mine.yaml").write_text(text.replace("mass: 2,", "mass: 4,"))
    assert call("run", "mine.yaml", "--t-end", 0.5, "--out", "b.zarr", "--quiet").exit_code == 0
    a, b = da.load("a.zarr"), da.load("b.zarr")
    assert (a.mechanism.model.body("slider").mass, b.mechanism.model.body("slider").mass) == (2.0, 4.0)
    assert not np.allclose(a.position("slider")[-1], b.position("slider")[-1])


def test_new_in_a_plane():
    assert call("new", "own.yaml", "--plane").exit_code == 0
    text = Path("own.yaml").read_text()
    assert "plane: xz" in text and "60 * pi / 30" in text and "dalembert run own.yaml" in text
    findings = json.loads(call("check", "own.yaml", "--json").stdout)
    assert (findings["drivers"], findings["degrees_of_freedom"], findings["warnings"]) == (1, 0, [])
    Path("own.yaml").write_text(text.replace("force: [-20, 0]}", "force: [-20, 0], at: [reach, 0.02]}"))  # as its comment says
    assert json.loads(call("check", "own.yaml", "--json").stdout)["forces"] == 1
    swept = call("sweep", "own.yaml", "--set", "rod=0.2,0.3", "--output", "motor", "--t-end", 0.05, "--out", "s.zarr")
    assert swept.exit_code == 0, swept.output


def test_parameters_are_set_for_one_run():
    call("new", "mine.yaml")
    assert call("run", "mine.yaml", "--set", "crank=sqrt(4) / 20", "--t-end", 0.1, "--out", "a.zarr").exit_code == 0
    model = da.load("a.zarr").model
    assert model.body("crank").position[2] == 0.05 and model.body("slider").position[0] == np.sqrt(0.3**2 - 0.1**2)
    check_refused(call("run", "mine.yaml", "--set", "crnk=0.1"), "mine.yaml: has no parameter 'crnk'; did you mean 'crank'?")
    check_refused(call("check", "mine.yaml", "--set", "crank=0.1,0.2"), "give one value (`dalembert sweep` takes several)")
    check_refused(call("check", "mine.yaml", "--set", "crank=90mm"), "crank=90mm", "write 90 * 1e-3, which is 0.09")
    check_refused(call("check", "mine.yaml", "--set", "crank=long"), "parameter 'crank': value is 'long'; give a number")
    check_refused(call("check", "mine.yaml", "--set", "crank"), "give NAME=VALUE")
    check_refused(call("check", "mine.yaml", "--set", "crank=1", "--set", "crank=2"), "each name once")
    assert "chain of 3 rods" in call("check", "chain_16", "--set", "n=3").stdout
    assert "rotation-vector" in call("check", "torsion_chain", "--set", "law=rotation-vector").stdout
    check_refused(call("check", "chain_16", "--set", "rods=3"), "chain_16 takes no 'rods'; known: 'n'")
    Path("arm.py").write_text(
        "import dalembert as da\n\n\ndef build(length=1.0):\n    model = da.Model(name=f'arm of {length} m')\n"
        "    model.add_link('arm', (0, 0, 0), (length, 0, 0), mass=1.0)\n    return model\n\n\nmodel = build()\n"
    )
    assert "arm of 1.0 m" in call("check", "arm.py").stdout
    assert "arm of 2 m" in call("check", "arm.py", "--set", "length=2").stdout
    check_refused(call("check", "arm.py", "--set", "lenght=2"), "arm.py", "build takes no 'lenght'; did you mean 'length'?")
    Path("only.py").write_text("import dalembert as da\nmodel = da.Model()\n")
    check_refused(call("check", "only.py", "--set", "length=2"), "only.py: defines no function `build(...)` with arguments")


def test_t_end_of_the_file_is_the_default():
    Path("m.yaml").write_text("t_end: 0.25\nbodies: {a: {type: point_mass, mass: 1}}")
    assert "simulating to t = 0.25 s" in call("run", "m.yaml").stdout
    Path("m.yaml").write_text("t_end: -1\nbodies: {a: {type: point_mass, mass: 1}}")
    check_refused(call("run", "m.yaml"), "t_end is -1")


def test_new_keeps_existing_files():
    Path("m.yaml").write_text("mine")
    check_refused(call("new", "m.yaml"), "is there already", "--force")
    assert Path("m.yaml").read_text() == "mine"
    assert call("new", "m.yaml", "--force", "--quiet").output == ""
    check_refused(call("new", "m.txt"), "ends in .yaml")
    check_refused(call("new", "no/m.yaml"), "does not exist")


def test_check_finds_redundancy():
    result = call("check", "four_bar")
    assert result.exit_code == 0
    assert "3 redundant constraint rows" in result.stdout
    findings = json.loads(call("check", "four_bar", "--json").stdout)
    mechanism = da.compile(gallery.build("four_bar"))
    assert findings["degrees_of_freedom"] == mechanism.degrees_of_freedom == 1
    assert len(findings["redundant_rows"]) == 3
    assert findings["rank"] == mechanism.rank
    assert findings["position_residual"]["assembled"] < 1e-12
    assert findings["model_hash"] == mechanism.model.hash


def three(values) -> str:
    return ", ".join(f"{x:.4g}" for x in values)


def test_check_shows_settings_and_versions_where_asked():
    shown, more = (call("check", "four_bar", *option).stdout for option in ((), ("--verbose",)))
    *before, verdict = shown.splitlines()
    *lines, last = more.splitlines()
    assert (lines[: len(before)], last) == (before, verdict)
    findings = json.loads(call("check", "four_bar", "--json").stdout)
    assert [" ".join(line.split()) for line in lines[len(before) :] if line] == [
        "coordinates absolute: 21 coordinates, 18 velocities",
        "force elements 0",
        f"versions {', '.join(f'{name} {version}' for name, version in findings['versions'].items())}",
        f"model hash {findings['model_hash']}",
        "body mass inertia about its centre drawn as",
        *(f"{b['name']} {b['mass']:.4g} kg ({three(b['inertia'])}) kg m^2 {b['drawn']}" for b in findings["each_body"]),
        "joint type between at the start at [m]",
        *(f"{j['name']} {j['type']} {' - '.join(j['bodies'])} ({three(j['at'])})" for j in findings["each_joint"]),
    ]


def test_check_tells_gravity_and_what_bodies_are():
    """What is seen there: an arm in millimetres, a mass in grams, gravity that acts the other way."""
    model = da.Model(plane="xz")
    model.add_link("arm", (0, 0), (0.3, 0.4), mass=0.25)
    model.add_body("block", **da.box(2.0, (0.1, 0.2, 0.1)).body(), position=(0.3, 0.4))
    model.add_body("load", mass=3.0, inertia=0.1, position=(0.3, 0.4))
    for name, first, second, point in (("A", "ground", "arm", (0, 0)), ("B", "arm", "block", (0.3, 0.4))):
        model.add_revolute(name, first, second, point=point)
    model.add_fixed("weld", "block", "load")
    model.to_yaml("arm.yaml")
    assert "gravity             9.81 m/s^2 along -z\n" in call("check", "arm.yaml").stdout
    lines = [" ".join(line.split()) for line in call("check", "arm.yaml", "--verbose").stdout.splitlines() if line]
    bodies = ["body mass inertia about its centre drawn as", "arm 0.25 kg 0.005208 kg m^2 bar of 0.5 m"]  # m l^2 / 12
    bodies += ["block 2 kg 0.003333 kg m^2 box of 0.2 m", "load 3 kg 0.1 kg m^2"]
    joints = ["joint type between at the start at [m]", "A revolute ground - arm (0, 0)", "B revolute arm - block (0.3, 0.4)"]
    assert lines[-9:-1] == [*bodies, *joints, "weld fixed block - load (0.3, 0.4)"]


@pytest.mark.parametrize(
    ("gravity", "told"),
    [((0, 0, 0), "none"), ((0, 9.81, 0), "9.81 m/s^2 along +y"), ((3, 0, -4), "5 m/s^2 along (0.6, 0, -0.8)")],
)
def test_gravity_in_words(gravity, told):
    model = da.Model(gravity)
    model.add_body("ball", **da.sphere(1.0, 0.1).body())
    line = da.simulate(model, 0.01).report()["gravity"]
    assert (line.value, line.block) == (told, "details")


@pytest.mark.parametrize(
    ("plane", "gravity", "up"), [("xz", (0, 9.81), True), ("xy", (1, -1), False), ("yz", (9.81, 0), False)]
)
def test_gravity_that_acts_upwards_in_pictures(plane, gravity, up):
    """A sign that was reversed; who counts downwards draws it so."""
    model = da.Model(gravity, plane=plane)
    model.add_link("arm", (0, 0), (1, 0), mass=1.0)
    line = da.simulate(model, 0.01).report()["gravity"]
    assert (line.value.endswith(", up in pictures"), line.block) == (up, "careful" if up else "details")


def test_check_tells_cranks_that_cannot_turn():
    """The template with a crank longer than its rod: B is the rod's length below the guide at cos(angle) = -0.1 / 0.31. It was
    said to be simulated, and a run broke off."""
    call("new", "own.yaml", "--plane")
    assert json.loads(call("check", "own.yaml", "--json").stdout)["reach"] is None
    text = Path("own.yaml").read_text().replace("crank: 0.1 ", "crank: 0.31").replace("offset: 0 ", "offset: 0.2 ")
    Path("own.yaml").write_text(text)
    reach = json.loads(call("check", "own.yaml", "--json").stdout)["reach"]
    assert reach["t"] == pytest.approx(np.arccos(-0.1 / 0.31) / (2 * np.pi), rel=1e-6)
    assert "driver 'motor' cannot turn past 1.899 rad = 108.8 degrees" in reach["why"]
    assert "the axis of 'D', (1, 0)" in reach["why"]
    assert call("check", "own.yaml").stdout.endswith("it can be simulated as far as t = 0.3023 s\n")
    Path("own.yaml").write_text(text.replace("t_end: 2", "t_end: 0.3"))
    assert json.loads(call("check", "own.yaml", "--json").stdout)["reach"] is None


def test_check_follows_drivers_all_the_way():
    """Out of reach and back was not seen; many turns of a fast driver beside a slow one took long."""
    call("new", "own.yaml", "--plane")
    text = Path("own.yaml").read_text().replace("joint: A\n", "joint: D\n")
    step = "{{type: smooth_step, start: 0, stop: {}, t_start: {}, t_stop: {}}}"
    there = f"{{type: sum, parts: [{step.format(0.3, 0.1, 0.6)}, {step.format(-0.3, 1.2, 1.8)}]}}"
    Path("own.yaml").write_text(text.replace("{type: polynomial, coefficients: [0, speed]}", there))
    reach = json.loads(call("check", "own.yaml", "--json").stdout)["reach"]
    assert 0.1 < reach["t"] < 0.6 and "driver 'motor' cannot go past 0.1172 m" in reach["why"]


def test_check_runs_nothing(monkeypatch):
    import dalembert.simulation.simulate

    monkeypatch.setattr(dalembert.simulation.simulate, "simulate", lambda *a, **k: pytest.fail("check simulates"))
    assert call("check", "slider_crank").exit_code == 0


def test_export_of_models_and_results(store):
    assert call("export", "slider_crank", "m.yaml").stdout == "written: m.yaml\n"
    assert da.Model.from_yaml("m.yaml").hash == gallery.build("slider_crank").hash
    assert "t_end: 5" in Path("m.yaml").read_text()
    assert call("export", store, "n.yaml").exit_code == 0
    assert f"t_end: {da.load(store).settings['t_end']:g}\n" in Path("n.yaml").read_text()
    assert da.Model.from_yaml("n.yaml").hash == gallery.build("slider_crank").hash
    assert call("export", store, "a.csv", "--quiet").output == ""
    header = Path("a.csv").read_text().splitlines()[0]
    assert ",slider.x," in header
    assert call("export", store, "even.csv", "--every", "0.03").exit_code == 0
    rows = csv.reader(Path("even.csv").read_text().splitlines())
    table = {name: np.array(column, dtype=float) for name, *column in zip(*rows, strict=True)}
    np.testing.assert_allclose(table["time"], [*np.arange(0.0, 0.995, 0.03), 1.0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(table["slider.x"], da.load(store)(table["time"]).position("slider")[:, 0])
    check_refused(call("export", store, "even.csv", "--every", "0"), "option --every is 0; give a number above 0")
    few = call("export", store, "few.csv", "--output", "A,slider.x", "--output", "B.f", "--every", "0.03")
    assert few.exit_code == 0, few.output
    lines = Path("few.csv").read_text().splitlines()
    assert lines[0] == "time,A,slider.x,B.f" and len(lines) == 1 + len(table["time"])
    again = da.load(store)
    again.export("same.csv", "A", "slider.x", "B.f")
    last = [float(number) for number in Path("same.csv").read_text().splitlines()[-1].split(",")]
    assert last == [again.t[-1], *(again.signal(name)[-1] for name in ("A", "slider.x", "B.f"))]
    check_refused(call("export", store, "few.csv", "--output", "slidr.x"), "did you mean 'slider.x'?")
    check_refused(call("export", store, "page.html", "--output", "A"), "option --output is for tables of one run; leave it out")
    check_refused(call("export", store, "page.html", "--every", "0.1"), "option --every is for tables of one run; leave it out")
    for target, start, *few in (("a.html", b"<!doctype html>"), ("a.gif", b"GIF89a", "--fps=5"), ("a.mp4", b"", "--fps=5")):
        assert call("export", store, target, *few).stdout == f"written: {target}\n"
        assert Path(target).read_bytes().startswith(start) and Path(target).stat().st_size > 10_000
    check_refused(call("export", store, "a.xyz"), "unknown suffix '.xyz'", ".csv, .nc, .parquet, .html, .png, .gif, .mp4")
    check_refused(call("export", "slider_crank", "a.csv"), "there is no such result store")
    check_refused(call("export", "slider_crnk", "m.yaml"), "did you mean 'slider_crank'?")


def test_a_wrong_name_keeps_no_other_number_back(store):
    some = call("export", store, "--output", "A.rate.peak,B.f.maxi,slidr.x.min,slider.x.range")
    assert some.exit_code == 2
    assert [line.split()[0] for line in some.stdout.splitlines()[1:]] == ["A.rate.peak", "slider.x.range"]
    assert "there is no number 'B.f.maxi'; did you mean 'B.f.max'?" in some.stderr.splitlines()[0]
    assert "did you mean 'slider.x'?" in some.stderr.splitlines()[1]
    found = call("export", store, "--json", "--output", "A.rate.peak,B.f.maxi")
    assert found.exit_code == 2 and list(json.loads(found.stdout)) == ["A.rate.peak"]
    assert call("export", store, "--output", "B.f.maxi").stdout == ""


def test_numbers_of_runs_that_are_not_trusted_say_so():
    """In each line, and by the exit code that the run had."""
    assert call("run", "pendulum_3d", "--t-end", 1, "--rtol", 1e-9, "--atol", 0.1, "--out", "bad.zarr").exit_code == 1
    printed = call("export", "bad.zarr", "--output", "pendulum.z.min,pendulum.v.max")
    assert printed.exit_code == 1 and "warning: bad.zarr: not trusted: " in printed.stderr
    head, *lines = printed.stdout.splitlines()
    assert head.endswith("verdict") and [line[-11:] for line in lines] == ["not trusted"] * 2
    table = call("export", "bad.zarr", "bad.csv")
    assert table.exit_code == 0 and table.stderr == printed.stderr
    found = call("export", "bad.zarr", "--json", "--output", "pendulum.z.min")
    assert found.exit_code == 1 and json.loads(found.stdout)["pendulum.z.min"]["trusted"] is False


def test_numbers_of_a_whole_run(store, tmp_path):
    """Without a file, extremes are printed that lie between steps, with the times at which."""
    names = ("B.f.max", "slider.x.min", "A.rate.peak", "slider.x.range")
    printed = call("export", store, "--output", ",".join(names[:3]), "--output", names[3])
    assert printed.exit_code == 0, printed.output
    heads, *lines = printed.stdout.splitlines()
    assert heads.split() == ["number", "value", "unit", "at", "time", "t", "[s]"]
    assert [line.split()[0] for line in lines] == [*names] and [line.split()[2] for line in lines] == ["N", "m", "rad/s", "m"]
    run = da.load(store)
    found = json.loads(call("export", store, "--json", "--output", ",".join(names)).stdout)
    assert found["B.f.max"]["value"] == da.largest(run, "B.f") > run.signal("B.f").max()
    assert found["slider.x.min"]["value"] == da.smallest(run, "slider.x")
    assert found["slider.x.range"] == {
        "value": da.largest(run, "slider.x") - da.smallest(run, "slider.x"),
        "unit": "m",
        "at": None,
        "trusted": True,
    }
    for name, size in (("B.f.max", abs), ("slider.x.min", float), ("A.rate.peak", abs)):
        value = run(found[name]["at"]).signal(name.rpartition(".")[0])
        assert size(value) == pytest.approx(found[name]["value"], rel=1e-9)
    rates = np.abs(run(np.linspace(0, 1, 10001)).signal("A.rate"))
    assert rates.max() <= found["A.rate.peak"]["value"] == pytest.approx(rates.max(), rel=1e-5)
    fine = run(np.linspace(0, 1, 20001))
    square, step = fine.signal("A.rate") ** 2, np.diff(fine.t)
    found = json.loads(call("export", store, "--json", "--output", "A.rate.mean,A.rate.rms,slider.v.mean").stdout)
    assert found["A.rate.mean"] == {
        "value": pytest.approx(np.ptp(run.signal("A")[[0, -1]]), rel=1e-9),
        "unit": "rad/s",
        "at": None,
        "trusted": True,
    }
    turned = json.loads(call("export", store, "--json", "--degrees", "--output", "A.rate.mean,slider.v.mean").stdout)
    assert turned["A.rate.mean"] == {
        "value": pytest.approx(np.degrees(found["A.rate.mean"]["value"]), rel=1e-15),
        "unit": "deg/s",
        "at": None,
        "trusted": True,
    }
    assert turned["slider.v.mean"] == found["slider.v.mean"]
    assert found["A.rate.rms"]["value"] == pytest.approx((0.5 * (square[1:] + square[:-1]) @ step) ** 0.5, rel=1e-6)
    poses = da.kinematics(gallery.build("slider_crank"), sweep={"A": np.radians(np.arange(0, 361, 5))})
    poses.save(tmp_path / "poses.zarr")
    assert "at angle of A [rad]" in call("export", tmp_path / "poses.zarr", "--output", "slider.x.max").stdout
    check_refused(call("export", store), "give a file to write, as in run.csv, or numbers of the whole run")
    check_refused(call("export", store, "--output", "B.f"), "'B.f' is a signal over time; give a file", "B.f.max, B.f.min")
    check_refused(call("export", store, "--output", "Bq.f.max"), "did you mean 'B.f'?")
    check_refused(
        call("export", store, "--output", "A.swing"), "numbers of the run end in .max, .min, .peak, .range, .mean, .rms"
    )
    check_refused(call("export", store, "a.gif", "--degrees"), "option --degrees is for tables of one run; leave it out")
    turned = call("export", store, "turned.csv", "--degrees", "--output", "A,slider.x")
    assert turned.stdout == "written: turned.csv, units: m, s, deg, N, N m, W, J\n"
    assert Path("turned.csv").read_text().startswith("time,A [deg],slider.x\n")
    check_refused(call("export", store, "--output", "B.f.max", "--every", "0.1"), "option --every is for tables")
    check_refused(call("export", store, "a.csv", "--output", "B.f.max"), "`dalembert export RUN --output B.f.max` prints it")
    check_refused(call("export", store, "a.csv", "--json"), "option --json is for numbers of a whole run")
    check_refused(call("export", "slider_crank", "--output", "B.f.max"), "slider_crank is a model; first `dalembert run")


@pytest.mark.parametrize("name", [*ALONE, *OF_SOMETHING])
def test_every_plot(store, name):
    of = {
        "invariants": ["--of", "energy"],
        "reactions": ["--of", "B"],
        "phase": ["--of", "A"],
        "spectrum": ["slider.x"],
        "time": ["slider.x", "A", "rod.z"],
    }.get(name, [])
    result = call("plot", store, name, *of)
    assert result.stdout == f"written: {name}.png\n", result.output
    assert Path(f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_plot_in_degrees(store):
    result = call("plot", store, "time", "A", "--degrees", "--out", "angle.svg")
    assert result.exit_code == 0 and "angle of A [deg]" in Path("angle.svg").read_text()  # Matplotlib notes texts it draws
    check_refused(
        call("plot", store, "energy", "--degrees"), "--degrees has no meaning; it is for time, phase, spectrum, map, fan"
    )


def test_paths_by_name(store):
    result = call("plot", store, "trajectories", "slider", "rod", "--out", "paths.svg")
    assert result.exit_code == 0 and "paths of slider, rod" in Path("paths.svg").read_text()
    check_refused(call("plot", store, "trajectories", "slidr"), "no body or marker 'slidr'", "did you mean 'slider'?")


def test_one_signal_is_drawn_over_another(store, tmp_path):
    result = call("plot", store, "phase", "A", "D", "*.f", "--degrees", "--out", tmp_path / "over.png")
    assert result.exit_code == 0 and (tmp_path / "over.png").stat().st_size > 5000, result.output


def test_plot_refuses(store):
    check_refused(call("plot", store, "enrgy"), "no plot 'enrgy'", "did you mean 'energy'?")
    check_refused(
        call("plot", store, "rod"), "no plot 'rod'; `dalembert plot ", " trajectories rod` draws its path, ", " time rod.x`"
    )
    check_refused(call("plot", store, "phase"), "of what? name a joint coordinate or position (A, D, crank.x, ", " phase A`")
    check_refused(call("plot", store, "time"), "of what? name signals (A, D, crank.x, rod.x, slider.x), as in", " time A`")
    check_refused(call("plot", store, "invariants"), "name what should stay constant (energy, ", " invariants energy`")
    check_refused(call("plot", store, "reactions"), "of what? name a joint, driver or force element (A, B, ", " reactions A`")
    check_refused(call("plot", store, "energy", "--of", "A"), "'A' has no meaning")
    check_refused(call("plot", store, "reactions", "A", "B"), "takes one name, not 2", "time A.f B.f` draws the sizes")
    check_refused(call("plot", store, "spectrum", "A", "D"), "plot spectrum takes one name, not 2; draw a figure of each")
    check_refused(call("plot", store, "spectrum", "--of", "slidr.x"), "no signal 'slidr.x'", "did you mean 'slider.x'?")
    check_refused(call("plot", "no.zarr", "energy"), "no.zarr")
    check_refused(call("plot", store, "energy", "--out", "a.xyz"), "no picture format")


def test_model_where_a_result_is_asked_for(store):
    call("new", "mine.yaml")
    hint = "mine.yaml is a model; first `dalembert run mine.yaml --out mine.zarr`"
    check_refused(call("view", "mine.yaml", "--no-browser"), hint)
    check_refused(call("view", store, "--compare", "mine.yaml", "--out", "a.html"), hint)
    check_refused(call("plot", "mine.yaml", "energy"), hint)
    check_refused(call("view", "four_bar", "--no-browser"), "first `dalembert run four_bar --out four_bar.zarr`")


def test_compare(store):
    result = call(
        "compare", "slider_crank", "--t-end", 0.3, "--formulations", "jet,moving-frame", "--integrators", "dop853,rk4",
        "--tolerances", "1e-4,1e-8", "--steps", "0.01", "--repeats", 1, "--out", "c.png", "--out", "c.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "comparison of 'spatial slider-crank, rod A', t = 0 to 0.3 s" in result.stdout
    assert result.stdout.count("rtol 1e-0") == 4 and result.stdout.count("h 0.01 s") == 2
    assert "written: c.png, c.html" in result.stdout
    assert Path("c.png").exists() and Path("c.html").read_text().startswith("<!DOCTYPE html>")


def test_compare_as_json():
    result = call(
        "compare", "pendulum_3d", "--t-end", 0.3, "--integrators", "dop853", "--tolerances", "1e-6", "--repeats", 1, "--json"
    )
    data = json.loads(result.stdout)
    assert {m["integrator"] for m in data["measurements"]} == {"dop853"}
    assert data["t_end"] == 0.3


def test_compare_refuses():
    check_refused(call("compare", "slider_crank", "--formulations", "jet,jat"), "no formulation 'jat'", "did you mean 'jet'?")
    check_refused(call("compare", "slider_crank", "--tolerances", "tight"), "--tolerances is 'tight'")
    check_refused(call("compare", "slider_crank", "--steps", "0.1,-1"), "--steps has -1")
    check_refused(call("compare", "slider_crank", "--out", "c.txt"), "'.txt'", ".png, .svg, .pdf, .html, .json")
    check_refused(call("compare", "slider_crank", "--out", "no/c.html"), "does not exist")
    check_refused(call("compare", "nothing_like_it_at_all.yaml"), "there is no such file")


def test_compare_of_what_nothing_runs_is_exit_code_1():
    Path("m.py").write_text(
        "import dalembert as da\nmodel = da.Model()\nmodel.add_point_mass('bob', mass=1)\n"
        "model.add_force('bad', 'bob', lambda t: (float('nan'), 0.0, 0.0))\n"
    )
    result = call("compare", "m.py", "--t-end", 1)
    assert result.exit_code == 1, result.output
    assert "no formulation can run this model" in result.stderr


def test_check_tells_what_was_written():
    """Masses, lengths, springs, and parameters that nothing uses: what was typed can be compared."""
    call("new", "own.yaml", "--plane")
    text = Path("own.yaml").read_text().replace("  # spring: ", "  spring: ").replace("  # cut: ", "  cut: ")
    Path("own.yaml").write_text(text.replace("C: [reach, offset]", "C: [0.4, offset]"))
    shown = call("check", "own.yaml")
    assert "crank 0.5 kg (bar of 0.1 m), rod 0.8 kg (bar of 0.4123 m), slider 2 kg (box of 0.05 m)" in shown.stdout
    assert "spring              400 N/m, slack at 0.4 m, 0.3 m long at the start\n" in shown.stdout
    assert "cut                 400 N against motion along (1, 0, 0), 0 N the other way\n" in shown.stdout
    assert "own.yaml:25:3: body 'rod' is 0.4123 m long, the parameter of this name is 0.3\n" in shown.stderr
    assert "own.yaml:16:3: parameter 'reach' is not used: what it is changes nothing" in shown.stderr
    with pytest.warns(RuntimeWarning, match="parameter 'reach' is not used"):
        da.Model.from_yaml("own.yaml")


def test_options_and_files_by_other_names(store):
    assert "No such option: --dt; did you mean --every?" in call("export", store, "--dt", 0.1).stderr
    assert "No such option: -o; did you mean --out?" in call("run", "four_bar", "-o", "x.zarr").stderr
    refused = call("export", store, "--output", "r.csv")
    assert refused.exit_code == 2 and f"give it without: `dalembert export {store} r.csv`" in refused.stderr


def test_joints_named_like_another_point():
    call("new", "own.yaml", "--plane")
    text = (
        Path("own.yaml")
        .read_text()
        .replace(
            "C: {type: revolute, first: rod, second: slider, point: C}",
            "C: {type: revolute, first: rod, second: slider, point: B}",
        )
    )
    Path("own.yaml").write_text(text)
    assert "joint 'C' is at the point 'B', and there is a point 'C'" in call("check", "own.yaml").stderr

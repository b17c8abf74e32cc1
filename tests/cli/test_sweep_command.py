"""dalembert sweep"""

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app

pytestmark = pytest.mark.nojit
FILE = """
t_end: 0.04
parameters: {length: 1.0, half: length / 2}
bodies:
  rod:
    solid: {type: rod, mass: 1, length: length, axis: x, radius: 0.01}
    position: [half, 0, 0]
joints:
  pivot: {type: revolute, first: ground, second: rod, point: [0, 0, 0], axis: [0, 1, 0]}
"""


def call(*arguments):
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


@pytest.fixture
def model(tmp_path):
    (tmp_path / "rod.yaml").write_text(FILE)
    return tmp_path / "rod.yaml"


def test_a_file_with_parameters(model, tmp_path):
    """The second call finds everything; what follows from a parameter in the file does so in each run."""
    asked = (model, "--set", "length=0.5:1.5:3", "--output", "rod.x", "--out", tmp_path / "s.zarr")
    result = call(*asked)
    assert result.exit_code == 0 and "3 runs, 3 complete" in result.output, result.output
    data = json.loads(call(*asked, "--json").stdout)
    assert data["complete"] == 3 and data["worst_energy_error"] < 1e-8 and data["messages"] == {}
    found = da.load(tmp_path / "s.zarr")
    assert found["rod.x"].values[:, 0].tolist() == [0.25, 0.5, 0.75]
    assert call(model, "--set", "length=0:pi/2:3", "--out", tmp_path / "pi.zarr").exit_code == 1  # no rod of length 0
    assert da.load(tmp_path / "pi.zarr")["length"].values.tolist() == [0.0, np.pi / 4, np.pi / 2]
    assert da.Model.from_yaml(model, {"length": 2.0}).bodies[0].position[0] == 1.0


def test_doubts_about_the_model_are_told(model, tmp_path):
    """As of one run: a pin beside its bar was swept without a word."""
    asked = (model, "--set", "length=0.9:1.1:2", "--out", tmp_path / "s.zarr")
    assert "model:" not in call(*asked).stderr
    model.write_text(FILE.replace("point: [0, 0, 0]", "point: [0, 0, 0.05]"))
    result = call(*asked, "--overwrite", "--quiet")
    assert result.exit_code == 0 and "model: joint 'pivot' is 0.05 m off" in result.stderr, result.stderr


def test_another_output_to_the_same_path(model, tmp_path):
    asked = (model, "--set", "length=0.5:1.5:3", "--out", tmp_path / "s.zarr", "--output")
    assert call(*asked, "rod.x").exit_code == 0
    refused = call(*asked, "rod.z")
    assert refused.exit_code == 2 and "(outputs)" in refused.stderr and "or give --overwrite to replace it" in refused.stderr
    assert call(*asked, "rod.z", "--overwrite").exit_code == 0
    assert "rod.z" in da.load(tmp_path / "s.zarr").dataset


def test_a_run_that_stops_is_named(tmp_path):
    """A four-bar whose crank is too long to turn, beside one that turns."""
    (tmp_path / "wiper.yaml").write_text("""
dalembert: 2
plane: xz
parameters: {crank: 0.04, u: ((0.2 - crank)**2 + 0.19**2 - 0.07**2) / (2 * (0.2 - crank)), z: sqrt(0.19**2 - u**2)}
bodies:
  crank: {type: link, start: [0, 0, 0], end: [crank, 0, 0], mass: 0.1}
  coupler: {type: link, start: [crank, 0, 0], end: [crank + u, 0, z], mass: 0.2}
  rocker: {type: link, start: [0.2, 0, 0], end: [crank + u, 0, z], mass: 0.1}
joints:
  A: {type: revolute, first: ground, second: crank, point: [0, 0, 0]}
  B: {type: revolute, first: crank, second: coupler, point: [crank, 0, 0]}
  C: {type: revolute, first: coupler, second: rocker, point: [crank + u, 0, z]}
  D: {type: revolute, first: ground, second: rocker, point: [0.2, 0, 0]}
drivers:
  motor: {joint: A, motion: {type: polynomial, coefficients: [0, 4.7]}}
""")
    result = call(tmp_path / "wiper.yaml", "--set", "crank=0.04,0.075", "--t-end", 0.6, "--out", tmp_path / "s.zarr")
    assert result.exit_code == 1 and "failed: run 1 (crank = 0.075): the step size collapsed at" in result.output, result.output


def test_a_function_of_a_file_in_processes(tmp_path, monkeypatch):
    """A run that cannot be built fails alone, and the exit code says so."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # of the workers: they start sooner
    (tmp_path / "study.py").write_text(
        "import dalembert as da\n\n\ndef build(mass, kind='A'):\n"
        "    model = da.Model()\n    model.add_body(kind, mass=mass, inertia=(1, 1, 1))\n    return model\n"
    )
    asked = ("--set", "mass=1,-1", "--set", "kind=A", "--t-end", 0.01, "--processes", 1)
    result = call(tmp_path / "study.py", *asked, "--out", tmp_path / "s.zarr")
    assert result.exit_code == 1 and "1 complete, 1 failed" in result.output, result.output
    assert "failed: run 1 (mass = -1, kind = A)" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "over what?"),
        (("--set", "length"), "give NAME=FROM:TO:COUNT"),
        (("--set", "length=0:1"), "give NAME=FROM:TO:COUNT"),
        (("--set", "width=1,2"), "rod.yaml has no parameter 'width'; known: 'length'"),
        (("--set", "length=long"), "parameters of model files are numbers"),
        (("--set", "length=10mm,20mm"), "write 10 * 1e-3, which is 0.01"),
        (("--set", "length=-1,-2"), "run 0 (length = -1): rod.yaml:"),
        (("--set", "length=1,2", "--set", "length=3"), "given twice"),
        (("--set", "length=1", "--output", "rod.q"), "no signal 'rod.q'"),
        (("--set", "length=1", "--output", "rod.x,rd.vx"), "no signal 'rd.vx'; did you mean 'rod.vx'?"),
        (("--set", "length=1", "--output", "rod.x,rod.x"), "two have the same name"),
        (
            ("--set", "length=1", "--output", "rod.x.max"),
            "'rod.x.max' is of a whole run, no signal over time; `dalembert export",
        ),
        (("--set", "length=1", "--output", "rod.x.max"), "of a sweep keep 'rod.x' at many times (--save-every)"),
        (("--set", "length=1", "--processes", "0"), "above 0"),
        (("--set", "length=1", "--processes", "1", "--scheduler", "tcp://x"), "exclude each other"),
    ],
)
def test_bad_input(model, tmp_path, arguments, words):
    result = call(model, *arguments, "--out", tmp_path / "s.zarr")
    assert result.exit_code == 2 and words in result.output
    assert not (tmp_path / "s.zarr").exists()


def test_outputs_with_commas_between(model, tmp_path):
    asked = (model, "--set", "length=1,2", "--output", "rod.x, pivot", "--output", "pivot.f", "--out", tmp_path / "s.zarr")
    assert call(*asked).exit_code == 0
    assert {"rod.x", "pivot", "pivot.f"} <= set(da.load(tmp_path / "s.zarr").dataset.data_vars)


def test_wrong_outputs_are_refused_before_anything_is_compiled(model, tmp_path, monkeypatch):
    def simulate(*_):
        raise AssertionError("nothing is to be run")

    monkeypatch.setattr("dalembert.simulation.sweep_block.Job.simulate", simulate)
    result = call(model, "--set", "length=1", "--output", "rod.x,pivto", "--out", tmp_path / "s.zarr")
    assert result.exit_code == 2 and "no signal 'pivto'; did you mean 'pivot'?" in result.output


def test_a_sweep_ends_with_its_outputs_and_is_a_table(model, tmp_path):
    """One row per run; a run that failed has no numbers."""
    store, table = tmp_path / "s.zarr", tmp_path / "s.csv"
    asked = (model, "--set", "length=0,1.5,0.5", "--output", "rod.x,rod.vz", "--save-every", "0.01", "--out", store)
    shown = call(*asked).output
    assert re.search(r"^output +first run +last run +smallest +largest$", shown, re.MULTILINE), shown
    assert re.search(
        r"^rod\.x\.max \[m\] +0\.75 +0\.25 +0\.25 \(length = 0\.5\) +0\.75 \(length = 1\.5\)$", shown, re.MULTILINE
    ), shown
    assert "rod.x at the end [m]" in shown and "rod.vz.min [m/s]" in shown
    data = json.loads(call(*asked, "--json").stdout)["outputs"]
    assert data["rod.x.max"] == {
        "first": 0.75,
        "last": 0.25,
        "smallest": 0.25,
        "largest": 0.75,
        "smallest_run": 2,
        "largest_run": 1,
    }
    result = CliRunner().invoke(app, ["export", str(store), str(table)])
    assert result.exit_code == 0 and f"written: {table}" in result.output.replace("\n", ""), result.output
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = da.load(store)
    assert repr(found).endswith("3 runs, 2 complete, 1 failed; it keeps rod.x, rod.vz>")
    assert [row["status"] for row in rows] == ["failed", "complete", "complete"] and rows[0]["rod.x"] == "nan"
    assert [float(row["length"]) for row in rows] == [0.0, 1.5, 0.5] and "length" in rows[0]["message"]
    for name, values in (("rod.x", found["rod.x"][:, -1]), ("rod.vz.min", found["rod.vz.min"]), ("steps", found["steps"])):
        np.testing.assert_array_equal([float(row[name]) for row in rows], values)
    printed = CliRunner().invoke(app, ["export", str(store), "--output", "rod.x.range,rod.vz.min"])
    assert printed.exit_code == 0, printed.output
    head, *lines = printed.stdout.splitlines()
    assert re.split(r"  +", head) == ["run", "length", "status", "rod.x.range [m]", "rod.vz.min [m/s]"]
    assert lines[1].split() == [
        "1",
        "1.5",
        "complete",
        *(f"{found[name].values[1]:.6g}" for name in ("rod.x.range", "rod.vz.min")),
    ]
    told = CliRunner().invoke(app, ["export", str(store), "--output", "rod.x.range", "--json"]).stdout
    assert json.loads(told)[2]["rod.x.range [m]"] == float(found["rod.x.range"][2])
    refused = CliRunner().invoke(app, ["export", str(store), "--output", "rod.x"])
    assert refused.exit_code == 2 and "'rod.x' is not one number of a run; give rod.x.max, .min" in refused.stderr


def test_a_sweep_of_states_is_a_table_too(model, tmp_path):
    assert "output " not in call(model, "--set", "length=1,2", "--out", tmp_path / "s.zarr").output
    found = da.load(tmp_path / "s.zarr")
    found.export(tmp_path / "s.csv")
    head, *rows = (tmp_path / "s.csv").read_text().splitlines()
    assert head.startswith("run,length,status,q[") and len(rows) == 2
    with pytest.raises(da.StoreError, match=r"s\.xlsx: .* give a path that ends in \.csv"):
        found.export(tmp_path / "s.xlsx")


def test_a_sweep_is_drawn(model, tmp_path):
    """Over time and over its parameter; what is of a run, or was not kept, is refused in one line."""
    store = tmp_path / "s.zarr"
    asked = (model, "--set", "length=0.5:1.5:3", "--output", "rod.x", "--out", store)
    assert call(*asked, "--save-every", "0.01").exit_code == 0

    def said(*arguments):
        return CliRunner().invoke(app, [*map(str, arguments)])

    for name in ("fan", "map"):
        assert said("plot", store, name, "rod.x", "--out", tmp_path / f"{name}.png").exit_code == 0
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert said("plot", store, "map", "rod.x.max", "--out", tmp_path / "largest.png").exit_code == 0
    for command, text in (
        (("plot", store, "time", "rod.x"), "plot time: .* holds a sweep; draw 'map OUTPUT' or 'fan OUTPUT'"),
        (
            ("plot", store, "rod.x"),
            "there is no plot 'rod.x'; `dalembert plot .* time rod.x` draws what is called so over time",
        ),
        (("plot", store, "fan", "rod.y"), "the sweep has no 'rod.y', it keeps what --output names; did you mean 'rod.x'"),
        (("plot", store, "map"), r"\(rod.x, position_drift, .*\), as in `dalembert plot .* map rod.x`"),
        (("plot", store, "fan", "rod.x.max"), "'rod.x.max' is no series over time"),
        (("plot", store, "fan"), r"plot fan: of what\? .* \(rod.x\), as in `dalembert plot .* fan rod.x`"),
        (("export", store, tmp_path / "s.png"), "holds a sweep; give a path that ends in .csv for a table of its runs"),
        (("view", store, "--out", tmp_path / "s.html"), "it holds a sweep"),
        (("sweep", model, "--set", "length=0.5,1.5"), "Missing option '--out': Store to write, as in --out s.zarr"),
    ):
        refused = said(*command)
        assert refused.exit_code == 2 and refused.stderr.count("\n") == 1, refused.output
        assert re.search(text, refused.stderr), refused.stderr
    assert call(*asked[:-1], tmp_path / "ends.zarr").exit_code == 0
    assert "rod.x.max: the sweep kept 2 instants, too few" in said("plot", tmp_path / "ends.zarr", "map", "rod.x.max").stderr
    assert "kept 2 instants" in said("plot", tmp_path / "ends.zarr", "fan", "rod.x", "--out", tmp_path / "e.png").stderr

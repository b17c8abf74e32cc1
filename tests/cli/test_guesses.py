"""What a user guesses on the way from the README alone, and what is answered."""

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app


def said(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 2, result.output
    return result.stderr


@pytest.fixture
def press(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["new", "press.yaml", "--plane"]).exit_code == 0
    return tmp_path


@pytest.mark.parametrize("name", ["x.yml", "x.yaml", "x.json", "x.png", "x.html", "x.csv"])
def test_stores_are_not_called_like_files(press, name):
    for command in ("run", "press.yaml"), ("kinematics", "press.yaml", "--times", "0:1:0.5"):
        assert f"{name}: a result is stored as a folder" in (text := said(*command, "--out", name))
        assert "give a path that ends in .zarr, then `dalembert " in text
    swept = said("sweep", "press.yaml", "--set", "crank=0.1,0.11", "--t-end", "0.01", "--out", name)
    assert "a sweep is stored as a folder" in swept
    assert not (press / name).exists()


def test_a_driven_model_at_rest_is_told_of_inverse(press):
    assert "`dalembert inverse`" in said("equilibrium", "press.yaml")


@pytest.mark.parametrize("command", ["kinematics", "inverse"])
def test_a_count_is_no_step(press, command):
    assert "STEP, from value to value, leads beyond TO; give a smaller one" in said(command, "press.yaml", "--times", "0:2:101")


@pytest.mark.parametrize(
    ("guess", "between", "in_joint"),
    [
        ("k", "stiffness", "stiffness"),
        ("c", "damping", "damping"),
        ("damper", "damping", "damping"),
        ("rest", "length", "reference"),
        ("free_length", "length", "reference"),
        ("l0", "length", "reference"),
        ("length0", "length", "reference"),
        ("angle", None, "reference"),
    ],
)
def test_what_springs_have_by_other_names(press, guess, between, in_joint):
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.2)
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    with pytest.raises(TypeError, match=f"has no argument {guess!r}; did you mean {in_joint!r}"):
        model.add_joint_spring_damper("spring", "A", stiffness=1.0, **{guess: 0.1})
    if between is not None:
        with pytest.raises(TypeError, match=f"has no argument {guess!r}; did you mean {between!r}"):
            model.add_spring_damper("spring", "ground", "crank", **{guess: 0.1})
    model.add_joint_spring_damper("spring", "A", stiffness=1.0)
    model.to_yaml("spring.yaml")
    text = (press / "spring.yaml").read_text(encoding="utf-8")
    assert "stiffness: 1" in text
    (press / "spring.yaml").write_text(text.replace("stiffness: 1", f"{guess}: 1"), encoding="utf-8")
    assert f"did you mean {in_joint!r}" in said("check", "spring.yaml")


def test_verbs_of_a_solution_tell_which_arguments_they_have():
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.2)
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    run = da.simulate(model, t_end=0.1)
    with pytest.raises(TypeError, match="export_picture has no argument 'at'; did you mean 't'"):
        run.export_picture("a.png", at=0.1)
    with pytest.raises(TypeError, match="export_animation has no argument 'sped'; did you mean 'speed'"):
        run.export_animation("a.gif", sped=0.1)
    with pytest.raises(TypeError, match="export_html has no argument 'other'; known: "):
        run.export_html("a.html", other=run)
    with pytest.raises(TypeError, match="export has no argument 'every'; known: "):
        run.export("a.csv", every=0.1)
    with pytest.raises(TypeError, match="report has no argument 'verbos'; did you mean 'verbose'"):
        run.report(verbos=True)
    with pytest.raises(TypeError, match="phase has no argument 'degree'; did you mean 'degrees'"):
        run.plot.phase("A", degree=True)
    with pytest.raises(TypeError, match="energy has no argument 'axes'; known: 'ax'"):
        run.plot.energy(axes=None)
    with pytest.raises(TypeError, match="eigenvalues has no argument 'axes'; known: 'ax'"):
        da.linearise(model).plot.eigenvalues(axes=None)
    with pytest.raises(TypeError, match="reaction has no argument 'bodies'; did you mean 'body'"):
        run.reaction("A", bodies="crank")
    wrong_names = (lambda: run.plot.phase("B"), lambda: run.signal("B"), lambda: run.reaction("B"), lambda: run.position("B"))
    extremes = (lambda: da.largest(run, "B"), lambda: da.smallest(run, "B"), lambda: da.integral(run, "B"))
    for wrong in (lambda: da.load("none.zarr"), *wrong_names, *extremes):
        with pytest.raises(da.DalembertError) as caught:
            wrong()
        assert caught.traceback[-1].path.name == "test_guesses.py"  # the user's line, not the way from there


@pytest.mark.parametrize(("name", "verb"), [("mean", "integral"), ("rms", "integral"), ("max", "largest"), ("min", "smallest")])
def test_numbers_of_runs_that_have_no_verb_are_answered_by_one_that_there_is(name, verb):
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; da\.{verb}\(solution, "):
        getattr(da, name)
    if verb == "integral":
        with pytest.raises(AttributeError, match=rf"a Solution has no '{name}'; da\.integral\(solution, "):
            getattr(da.Solution.__new__(da.Solution), name)


def test_a_fan_of_few_runs_names_them_all(tmp_path):
    def build(length=0.1):
        model = da.Model(plane="xz")
        model.add_link("crank", (0, 0), (length, 0), mass=0.2)
        model.add_revolute("A", "ground", "crank", point=(0, 0))
        return model

    lengths = [0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17]
    times = [0.0, 0.1, 0.2, 0.3]
    sweep = da.simulate_many(build, 0.3, parameters={"length": lengths}, save_at=times, outputs=["A"], out=tmp_path / "s.zarr")
    with pytest.raises(TypeError, match="fan has no argument 'degree'; did you mean 'degrees'"):
        sweep.plot.fan("A", degree=True)
    panel = sweep.plot.fan("A").axes[0]
    assert [line.get_label() for line in panel.lines] == [f"length = {length:g}" for length in lengths]


@pytest.mark.parametrize("model", ["press.yaml", "slider_crank", "own.py"])
def test_options_that_are_taken_for_parameters(press, model):
    (press / "own.py").write_text("def build(length=1.0):\n    return None\n", encoding="utf-8")
    for command, *more in (("run",), ("sweep", "--out", "s.zarr", "--t-end", "1")):
        text = said(command, model, "--set", "t_end=1", *more)
        assert "'t_end'" in text and text.endswith("--t-end is an option of its own: give --t-end VALUE, without --set\n")
        assert "option of its own" not in said(command, model, "--set", "t_ende=1", *more)

"""dalembert run: what it prints, writes and returns, for good input and bad."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-c", "from dalembert.cli import app; app()"]
PENDULUM = """
import dalembert as da
model = da.Model(name="my pendulum")
model.add_point_mass("bob", mass=1.0, position=(1, 0, 0))
model.add_distance("rod", model.ground, "bob")
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def check_refused(result, *words, code=2):
    """One line on standard error with these words, nothing on standard output, no traceback."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("dalembert: error: ")
    for word in words:
        assert word in lines[0]


def test_writes_result_and_picture():
    result = call("run", "pendulum_3d", "--t-end", 1, "--out", "a.zarr", "--plot", "a.png")
    assert result.exit_code == 0, result.output
    assert "1 body, 1 joint, 3 degrees of freedom" in result.stdout
    assert "assembly: nothing was moved" in result.stdout
    assert "position drift" in result.stdout and "FAIL" not in result.stdout
    assert "written: a.zarr, a.png" in result.stdout
    assert da.load("a.zarr").t[-1] == 1.0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_existing_result_is_replaced_and_nothing_else_is():
    for t_end in (1, 2):
        assert call("run", "pendulum_3d", "--t-end", t_end, "--out", "a.zarr", "--quiet").exit_code == 0
    assert da.load("a.zarr").t[-1] == 2.0
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years")
    check_refused(call("run", "pendulum_3d", "--out", "mine"), "mine", "not a dalembert result")
    assert Path("mine/thesis.txt").read_text() == "years"


def test_options_reach_the_run():
    options = ["--projection", "orthogonal", "--invariants", "energy", "--integrator", "dormand-prince"]
    result = call(
        "run", "pendulum_3d", "--t-end", 1, "--save-every", 0.3, "--rtol", 1e-7, "--atol", 1e-8, *options, "--out", "a.zarr"
    )
    assert result.exit_code == 0, result.output
    solution = da.load("a.zarr")
    np.testing.assert_allclose(solution.t, [0, 0.3, 0.6, 0.9, 1.0])
    formulation, integrator = solution.settings["formulation"]["options"], solution.settings["integrator"]
    assert (formulation["projection"], formulation["invariants"]) == ("orthogonal", "energy")
    assert integrator["type"] == "DormandPrince"
    assert (integrator["options"]["rtol"], integrator["options"]["atol"]) == (1e-7, 1e-8)


def test_gauss_legendre_with_stages():
    options = ["--integrator", "gauss-legendre", "--stages", 2, "--step", 0.01]
    result = call("run", "pendulum_3d", "--t-end", 0.5, *options, "--verbose", "--out", "a.zarr")
    assert result.exit_code == 0, result.output
    assert "implicit stages" in result.stdout and "functional iteration" in result.stdout
    solution = da.load("a.zarr")
    assert solution.settings["integrator"]["type"] == "GaussLegendre"
    assert solution.settings["integrator"]["options"]["stages"] == 2
    assert solution.statistics.stage_solver == "functional iteration"
    np.testing.assert_allclose(solution(0.255).q[0], solution(np.array([0.255])).q[0])
    check_refused(call("run", "pendulum_3d", "--stages", 2), "--stages has no meaning for integrator dop853")
    check_refused(call("run", "pendulum_3d", "--integrator", "gauss-legendre", "--stages", 9), "stages is 9", "1 to 8")


def test_fixed_step_and_planar_coordinates():
    result = call(
        "run", "planar_quadrangle", "--t-end", 0.5, "--coordinates", "planar", "--integrator", "rk4", "--step", 0.001,
        "--out", "a.zarr",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    solution = da.load("a.zarr")
    assert solution.settings["coordinates"] == "planar"
    np.testing.assert_allclose(np.diff(solution.t), 0.001, rtol=1e-6)


@pytest.mark.parametrize("every, count", [(0.1, 11), (1.0, 2), (5.0, 2), (1 / 3, 4)])
def test_saved_times_end_at_the_end(every, count):
    assert call("run", "pendulum_3d", "--t-end", 1, "--save-every", every, "--out", "a.zarr").exit_code == 0
    t = da.load("a.zarr").t
    assert len(t) == count
    assert (t[0], t[-1]) == (0.0, 1.0)


def test_json_is_the_report():
    result = call("run", "four_bar", "--t-end", 1, "--json", "--out", "a.zarr")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert report["passed"] is True
    assert {"status", "position drift", "redundant rows"} <= {line["name"] for line in report["lines"]}
    assert "3 redundant constraint rows" in result.stderr


def test_monitored_invariants_are_lines_of_the_report():
    what = ("--monitor", "angular momentum z", "--monitor", "linear momentum x")
    result = call("run", "symmetric_top", "--t-end", "0.1", "--json", *what)
    assert result.exit_code == 1
    verdicts = {line["name"]: line["verdict"] for line in json.loads(result.stdout)["lines"]}
    assert (verdicts["angular momentum z"], verdicts["linear momentum x"]) == ("pass", "FAIL")
    check_refused(call("run", "symmetric_top", "--monitor", "spin", "--quiet"), "--monitor: there is no invariant 'spin'")
    result = call("run", "oscillator", "--t-end", "0.1", "--json", "--monitor", "momentum x")
    assert result.exit_code == 1


def test_quiet_prints_nothing():
    result = call("run", "pendulum_3d", "--t-end", 1, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_failed_verdict_gives_exit_code_1():
    result = call("run", "pendulum_3d", "--t-end", 5, "--rtol", 1e-9, "--atol", 0.1)
    assert result.exit_code == 1
    assert "FAIL" in result.stdout


def test_failed_run_is_reported_and_kept():
    Path("m.py").write_text(PENDULUM + "model.add_force('f', 'bob', lambda t: (0.0, 0.0, (0.5 - t) ** 0.5))")
    result = call("run", "m.py", "--t-end", 1, "--out", "a.zarr", "--plot", "a.svg")
    assert result.exit_code == 1, result.output
    assert "not finite" in result.stderr.splitlines()[-1]
    assert "check the user function" not in result.stderr  # the reasons are said once
    assert "failed" in result.stdout and "check what you wrote for 'f'" in " ".join(result.stdout.split())
    assert "check what you wrote for 'f'" in call("run", "m.py", "--t-end", 1, "--quiet").stderr
    assert da.load("a.zarr").status == "failed"
    assert Path("a.svg").exists()


def test_python_file_with_model_or_build():
    Path("m.py").write_text(PENDULUM)
    assert "my pendulum: 1 body, 1 joint, 2 degrees of freedom" in call("run", "m.py", "--t-end", 1).stdout
    Path("helper.py").write_text("LENGTH = 2.0")
    Path("b.py").write_text(
        "from helper import LENGTH\ndef build():\n" + PENDULUM.replace("\n", "\n    ") + "\n    return model"
    )
    assert call("run", Path("b.py").resolve(), "--t-end", 1).exit_code == 0


@pytest.mark.parametrize(
    "text, words",
    [
        ("x = 1", ("m.py", "defines neither `model` nor a function `build()`; add one of them")),
        (
            "import dalembert as da; own = da.Model()",
            ("m.py", "neither `model` nor a function `build()`; it has a model named 'own'; call it 'model'"),
        ),
        ("import dalembert as da; a, b = da.Model(), da.Model()", ("it has models named 'a', 'b'; call one of them 'model'",)),
        ("def build():\n    pass", ("m.py: `build()` returned None; end it with `return model`",)),
        ("import dalembert as da\nda.Model().add_revolut('j')", ("m.py, line 2", "did you mean 'add_revolute'?")),
        ("model = 3", ("`model` is a int", "dalembert.Model")),
        ("\n1 / 0", ("m.py, line 2: ZeroDivisionError: division by zero",)),
        ("def build(:", ("m.py, line 1: ",)),
        ("def build():\n    raise ValueError('no')", ("m.py, line 2: ValueError: no",)),
        ("raise SystemExit('bye')", ("m.py, line 1: SystemExit: bye",)),
        ("import dalembert as da\nda.Model().add_body('b', mass=-1, inertia=(1, 1, 1))", ("m.py, line 2: body 'b': mass",)),
        ("import dalembert as da\nmodel = da.Model()", ("the model has no bodies",)),
    ],
)
def test_python_file_that_is_no_model(text, words):
    Path("m.py").write_text(text)
    check_refused(call("run", "m.py", "--t-end", 1), *words)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["slider_crnk"], ("did you mean 'slider_crank'?", "dalembert gallery")),
        (["no.py"], ("no.py: there is no such file",)),
        (["model.yaml"], ("model.yaml: there is no such file",)),
        (["."], (".: is a folder",)),
        (["slider_crank", "--t-end", "-1"], ("--t-end is -1; give a number above 0",)),
        (["slider_crank", "--t-end", "nan"], ("--t-end is nan",)),
        (["slider_crank", "--t-end", "soon"], ("--t-end", "number")),
        (["slider_crank", "--rtol", "0"], ("--rtol is 0",)),
        (["slider_crank", "--step", "inf"], ("--step is inf",)),
        (["slider_crank", "--save-every", "0"], ("--save-every is 0",)),
        (["slider_crank", "--save-every", "1e-12"], ("would save 5e+12 states",)),
        (["slider_crank", "--integrator", "dop835"], ("--integrator", "did you mean 'dop853'?")),
        (["slider_crank", "--integrator", "rk4"], ("rk4 cannot choose its step size; give --step",)),
        (["slider_crank", "--step", "0.01", "--rtol", "1e-6"], ("--rtol and --atol have no effect",)),
        (["slider_crank", "--formulation", "jat"], ("--formulation", "did you mean 'jet'?")),
        (["slider_crank", "--projection", "oblique"], ("projection is 'oblique'",)),
        (["slider_crank", "--invariants", "momentum"], ("invariants is 'momentum'",)),
        (["slider_crank", "--coordinates", "polar"], ("--coordinates", "'polar'")),
        (["slider_crank", "--coordinates", "planar"], ("leaves the plane",)),
        (["slider_crank", "--out", "no/such/run.zarr"], ("run.zarr", "does not exist")),
        (["slider_crank", "--out", "run.csv"], ("give a path that ends in .zarr, then `dalembert export run.zarr run.csv`",)),
        (["slider_crank", "--plot", "no/such/run.png"], ("run.png", "does not exist")),
        (["slider_crank", "--plot", "run.xyz"], ("'xyz' is no picture format", "png")),
        (["slider_crank", "--plot", "."], ("picture format",)),
        (["slider_crank", "--bogus"], ("No such option", "--bogus")),
        ([], ("Missing argument 'MODEL': Gallery name (`dalembert gallery`), YAML file",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line(arguments, words):
    check_refused(call("run", *arguments), *words)
    assert os.listdir() == []


def test_file_needs_an_end():
    Path("m.py").write_text(PENDULUM)
    check_refused(call("run", "m.py"), "give --t-end SECONDS")


def test_file_that_simulates_is_told_how_to_keep_that_out():
    rest = "run = __import__('dalembert').simulate(model, 0.01)\nprint(run)\n"
    Path("m.py").write_text(PENDULUM + rest)
    result = call("run", "m.py", "--t-end", 0.01, "--json")
    assert json.loads(result.stdout)["passed"], "what a file prints is no part of the answer"
    assert "m.py was executed whole to get its model" in result.stderr and '`if __name__ == "__main__":`' in result.stderr
    Path("m.py").write_text(PENDULUM + 'if __name__ == "__main__":\n    ' + rest.replace("\n", "\n    "))
    assert call("run", "m.py", "--t-end", 0.01, "--json").stderr.count("executed") == 0
    Path("m.py").write_text("def build():\n    print('made')" + PENDULUM.replace("\n", "\n    ") + "\n    return model")
    result = call("run", "m.py", "--t-end", 0.01, "--json")
    assert json.loads(result.stdout)["passed"] and "made" in result.stderr


def test_slow_user_function_is_said_in_one_line():
    Path("m.py").write_text(PENDULUM + "model.add_force('slow', 'bob', lambda t: [float(str(t)), 0.0, 0.0])")
    result = call("run", "m.py", "--t-end", 0.01)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("dalembert: warning: 'slow' could not be compiled")


def start(*arguments):
    """The program as its own process, with Ctrl-C working even when this one ignores it."""
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def compute_for(seconds, process):
    """Until it has computed so long, whatever else the machine does; as long on the clock where nobody tells."""
    account = Path(f"/proc/{process.pid}/stat")
    if not account.exists():
        time.sleep(seconds)
        return

    def spent():
        user, system = account.read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    begin, end = spent(), time.monotonic() + 120
    while spent() < begin + seconds and time.monotonic() < end:
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("with_store", [True, False])
def test_interrupt_keeps_what_was_computed(with_store):
    process = start("run", "slider_crank", "--t-end", "1e7", *(["--out", "a.zarr"] if with_store else []))
    try:
        for line in process.stdout:
            if line.startswith("simulating"):
                break
        else:
            pytest.fail(process.stderr.read())
        waited = 0.0
        while with_store and not Path("a.zarr").exists() and waited < 60.0:  # a busy machine takes its time to begin
            time.sleep(0.1)
            waited += 0.1
        compute_for(2.5, process)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "interrupted by the user at t = " in errors
    assert "Traceback" not in errors
    assert "trust report" in output
    if with_store:
        assert "what was computed is in a.zarr" in errors
        solution = da.load("a.zarr")
        assert solution.status == "interrupted"
        assert solution.t[-1] > 1.0
        assert solution.drift.position.max() < 1e-10
    else:
        assert "give --out to keep what is computed" in errors


def test_compiling_is_said(monkeypatch):
    """With an empty cache the program says that it compiles."""
    from dalembert.cli import kernels

    monkeypatch.setattr(kernels.Kernel, "state", "not compiled")
    result = call("run", "pendulum_3d", "--t-end", 1)
    assert result.exit_code == 0
    assert "compiling kernels, once: 7 to 15 s" in result.stdout


@pytest.mark.parametrize("integrator", [("dop853",), ("gauss-legendre", "--step", "0.01")])
@pytest.mark.parametrize("formulation", ["jet", "moving-frame"])
def test_every_formulation_runs(formulation, integrator):
    result = call("run", "slider_crank", "--t-end", 0.5, "--formulation", formulation, "--integrator", *integrator)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "FAIL" not in result.stdout


def test_options_of_another_formulation_are_refused():
    result = call("run", "slider_crank", "--formulation", "moving-frame", "--projection", "orthogonal")
    check_refused(result, "--projection", "moving-frame")

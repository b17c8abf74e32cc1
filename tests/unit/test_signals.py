"""Signals by name: of markers, of one run as numbers, of sweeps as one number per run; and what other names are answered by."""

import base64
import pickle
import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

import dalembert as da
from dalembert.questions.objectives import of_whole_run


def arm(length=0.4):
    """A driven arm with a marker at its tip."""
    model = da.Model(plane="xz", name="arm")
    model.add_link("arm", (0, 0), (length, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0))
    model.add_marker("tip", "arm", at=(length, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 2.0)))
    return model


ALL = "; solution.export('all.csv') has the names of all in its first line"
FIRST = [f"arm.{part}" for part in ("x", "y", "z", "vx", "vy", "vz", "v", "ax", "ay")]
ARM = (
    "'arm' has arm.x, y, z (position), arm.vx, vy, vz (velocity), arm.v (its size), arm.ax, ay, az, a (acceleration);"
    " arm.angle, arm.angle.rate and arm.angle.acceleration"
)


@pytest.fixture(scope="module")
def run():
    return da.simulate(arm(), t_end=1.0, save_at=np.linspace(0.0, 1.0, 41))


def test_markers_are_signals_as_bodies_are(run):
    angle = 2.0 * run.t
    x, vz, v = (da.largest(run, f"tip.{part}") for part in ("x", "vz", "v"))
    np.testing.assert_allclose([x, vz, v], [0.4, 0.8, 0.8], rtol=1e-8)
    np.testing.assert_allclose(run.signal("tip.ax"), -1.6 * np.cos(angle), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.signal("arm.a"), 0.8, rtol=1e-9)
    ax = run.plot.time("tip.x", "tip.z").axes[0]
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata()[[0, -1]], 0.4 * np.cos(angle[[0, -1]]), rtol=0, atol=1e-9)
    assert isinstance(run.plot.phase("tip.z"), Figure)
    with pytest.raises(da.ModelError, match=r"there is no signal 'tip\.turn'; 'tip' has tip\.x, y, z \(position\)"):
        run.plot.time("tip.turn")
    with pytest.raises(da.ModelError, match=r"no signal 'end_of_arm\.z'; known: .*; a point of a body needs a marker"):
        run.plot.time("end_of_arm.z")


def test_sweeps_keep_markers_and_have_ranges(tmp_path):
    options = {"parameters": {"length": [0.3, 0.4]}, "save_at": np.linspace(0.0, 1.0, 41)}
    found = da.simulate_many(arm, 1.0, outputs=["tip.x"], out=tmp_path / "s.zarr", progress=False, **options)
    kept = found["tip.x"].values
    for kind, expected in (("max", kept.max(1)), ("min", kept.min(1)), ("peak", abs(kept).max(1)), ("range", np.ptp(kept, 1))):
        np.testing.assert_array_equal(found[f"tip.x.{kind}"].values, expected)
    middle, step = (0.5 * (y[:, 1:] + y[:, :-1]) for y in (kept, kept**2)), np.full(40, 1 / 40)
    for kind, y, size in zip(("mean", "rms"), middle, (1.0, 0.5), strict=True):
        np.testing.assert_allclose(found[f"tip.x.{kind}"].values, (y @ step) ** size, rtol=1e-12)
    assert found["tip.x.range"].attrs["long_name"] == "range of saved x of tip"
    with pytest.raises(
        da.ModelError,
        match=r"of 'tip\.x' there are tip\.x\.max, tip\.x\.min, tip\.x\.peak, tip\.x\.range, tip\.x\.mean, tip\.x\.rms$",
    ):
        found["tip.x.swing"]


def test_a_law_of_one_joint_is_a_torque_or_a_force():
    """It was a tension in N, whatever it acted along."""
    model = arm()
    model.add_body("slider", mass=1.0, inertia=(1, 1, 1))
    model.add_prismatic("S", model.ground, "slider", point=(0, 0), axis=(1, 0))
    for name, joint in (("turns", "A"), ("pushes", "S")):
        model.add_joint_law(name, [joint], lambda t, s, s_dot: -2.0 * s)
    labels = da.simulate(model, 0.1).plot.time("turns", "pushes").axes
    assert [ax.get_ylabel() for ax in labels] == ["torque of turns [N m]", "force of pushes [N]"]


def test_reactions_are_of_one_joint(run):
    for given in (("A", "motor"), (["A", "motor"],)):
        with pytest.raises(da.ModelError, match=r'takes one joint; of several plot\.time\("A\.f", "B\.f"\)'):
            run.plot.reactions(*given)


def test_signals_as_numbers(run):
    np.testing.assert_array_equal(run.signal("A.f"), np.linalg.norm(run.reaction("A").force, axis=1))
    np.testing.assert_array_equal(run.signal("motor.power"), run.effort("motor").power)
    assert run(0.5).signal("tip.x") == pytest.approx(0.4 * np.cos(1.0), abs=1e-9)
    many = da.simulate_many(arm, 1.0, parameters={"length": [0.3, 0.4]}, save_at=run.t, progress=False)
    assert many.signal("A.f").shape == (2, len(run.t))
    with pytest.raises(TypeError, match=r'a Solution has no items; solution\.signal\("A\.f"\)'):
        run["A.f"]
    with pytest.raises(da.ModelError, match=r"solution\('A\.f'\): give a time.*solution\.signal\('A\.f'\)"):
        run("A.f")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (".power", "a Solution has no 'power'; solution.effort(\"motor\").power"),
        (".torque", 'solution.effort("motor").value'),
        (".time", "solution.t has the times"),
        (".angle", 'solution.coordinate("A")'),
        (".animate", "solution.export_animation("),
        (".to_pandas", 'solution.export("run.csv")'),
        (".save_html", "solution.export_html("),
        (".reactions", "did you mean 'reaction'?"),
        (".plot.torque", 'plot.time("motor", '),
        (".plot.path", "plot.trajectories()"),
        (".plot.energies", "a Plots has no 'energies'; did you mean 'energy'?"),
        ('.reaction("A").magnitude', "a Reaction has no 'magnitude'; solution.signal(\"A.f\")"),
        ('.reaction("A").norm', 'solution.signal("A.f")'),
    ],
)
def test_names_that_there_are_not_are_answered_by_what_was_meant(run, said, told):
    with pytest.raises(AttributeError) as refused:
        eval(f"run{said}", {"run": run})
    assert told in str(refused.value)
    assert not hasattr(run, "_nothing") and not hasattr(run.plot, "_ipython_display_")


@pytest.mark.parametrize("name", ["ConstantSpeed", "Speed", "Ramp", "rpm"])
def test_constant_speeds_are_polynomials(name):
    with pytest.raises(
        AttributeError, match=rf"no attribute '{name}'; a constant speed is the motion Polynomial\(\(0, omega\)\)"
    ):
        getattr(da, name)


def test_kinematics_says_its_arguments():
    with pytest.raises(TypeError, match="kinematics has no argument 'times'; known: 'model', 't', 'sweep', 'branches'"):
        da.kinematics(arm(), times=[0.0, 1.0])


def test_extrema_are_those_of_the_run_between_saved_times(run):
    """A curve through saved values swings beyond them: 167.33 N were told for 166.93."""
    few = da.simulate(arm(), t_end=12.0, save_at=np.linspace(0.0, 12.0, 11))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert da.largest(few, "tip.x") == pytest.approx(0.4, rel=1e-7)
        assert da.smallest(few, "tip.z") == pytest.approx(-0.4, rel=1e-7)
        assert da.largest(few, lambda s: s.signal("tip.x") ** 2) == pytest.approx(0.16, rel=1e-7)
        assert da.largest(run, "tip.v") == pytest.approx(0.8, rel=1e-9)  # constant: what rounding changes is no matter
        assert da.integral(run, "tip.v") == pytest.approx(0.8, rel=1e-9)


def test_extrema_tell_when_and_of_equal_peaks_the_first():
    turning = da.simulate(arm(), t_end=13.0)  # four turns
    for verb, name, t, value in (
        (da.largest, "tip.z", 0.25 * np.pi, 0.4),
        (da.smallest, "tip.z", 0.75 * np.pi, -0.4),
        (da.smallest, "tip.x", 0.5 * np.pi, -0.4),
        (da.largest, "tip.x", 0.0, 0.4),
        (da.largest, "motor", 0.0, 0.2 * 9.81),
        (da.smallest, "A.fz", 0.25 * np.pi, 9.81 - 0.8),
    ):
        found = verb(turning, name)
        assert found.t == pytest.approx(t, abs=3e-5) and float(found) == pytest.approx(value, rel=1e-7)
        assert type(2 * found) is float and pickle.loads(pickle.dumps(found)).t == found.t
    assert of_whole_run(turning, "tip.z.peak") == (pytest.approx(0.4), "m", pytest.approx(0.25 * np.pi, abs=1e-4))
    assert of_whole_run(turning, "motor.peak")[2] == pytest.approx(0.0, abs=1e-4)


def test_extrema_are_not_read_off_a_curve_that_saved_times_are_too_few_for(tmp_path):
    """Without the function there are none between: a curve through steps of unlike size swung to 58749 N."""
    model = da.Model()
    model.add_point_mass("bob", mass=1.0, position=(1, 0, 0))
    model.add_distance("rod", "ground", "bob", points=((0, 0, 0), (0, 0, 0)), length=1.0)
    model.add_force("push", "bob", lambda t: (0.0, 0.0, (0.5 - t) ** 0.5))
    with pytest.raises(da.SimulationError) as caught:
        da.simulate(model, 1.0)
    caught.value.solution.save(tmp_path / "failed.zarr")
    failed = da.load(tmp_path / "failed.zarr")
    with pytest.warns(RuntimeWarning, match="saved times may be too few, it is that at these times"):
        found = da.largest(failed, "rod.f")
    values = failed.signal("rod.f")
    assert (found, found.t) == (values.max(), failed.t[values.argmax()])


def test_extrema_of_stored_runs_and_in_sweeps(tmp_path):
    options = {"save_at": np.linspace(0.0, 3.0, 8), "progress": False}
    peak = {"peak": lambda s: da.largest(s, "tip.z")}
    many = da.simulate_many(arm, 3.0, parameters={"length": [0.3, 0.4]}, outputs=peak, out=tmp_path / "s.zarr", **options)
    np.testing.assert_allclose(many["peak"].values, [0.3, 0.4], rtol=1e-7)
    model = arm()
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1))
    run = da.simulate(model, 3.0, **options)
    run.save(tmp_path / "r.zarr")
    assert da.largest(da.load(tmp_path / "r.zarr"), "tip.z") == pytest.approx(0.4, rel=1e-7)
    assert da.largest(run, "ball.z") == pytest.approx(0.0, abs=1e-12)
    assert da.smallest(run, "ball.z") == pytest.approx(-9.81 * 4.5, rel=1e-7)


def test_extrema_with_derivatives_are_those_of_the_run_as_well():
    """Of a curve through these times they were off by more than a part in ten, with and without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for few in (12, 31, 401):
            found = da.gradient(
                arm, lambda s: da.largest(s, "tip.x"), {"length": 0.4}, t_end=12.0, save_at=np.linspace(0.0, 12.0, few)
            )
            np.testing.assert_allclose([found.value, found["length"]], [0.4, 1.0], rtol=1e-6)
        poses = da.kinematics(arm(), np.linspace(0.0, 3.0, 61))
        assert da.largest(poses, "tip.z") == pytest.approx(0.4, rel=1e-6)


def swing(length=1.0, rate=3.0):
    model = da.Model()
    model.add_link("bar", (0, 0, 0), (length, 0, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0, 0), axis=(0, 1, 0), rate=rate)
    return model


def test_gradients_of_extrema_do_not_depend_on_saved_times():
    """A bar swings down: below, A carries m g + m l / 2 (rate^2 + 3 g / l), and its angle there is greatest where it rests."""
    top = np.pi + np.arcsin(9.0 / (3 * 9.81))
    slope = 6.0 / (3 * 9.81) / np.sqrt(1 - (9.0 / (3 * 9.81)) ** 2)
    for few in (12, 101):
        options = {"t_end": 5.0, "save_at": np.linspace(0.0, 5.0, few)}
        force = da.gradient(swing, lambda s: da.largest(s, lambda q: q.signal("A.fz")), {"length": 1.0, "rate": 3.0}, **options)
        np.testing.assert_allclose([force.value, force["length"], force["rate"]], [29.025, 4.5, 3.0], rtol=1e-5)
        both = da.gradient(
            swing, lambda s: da.largest(s, "A") - 0.1 * da.smallest(s, "A.fz") / da.largest(s, "A.fz"), {"rate": 3.0}, **options
        )
        parts = (lambda s: da.largest(s, "A"), lambda s: da.smallest(s, "A.fz"), lambda s: da.largest(s, "A.fz"))
        angle, low, high = (da.gradient(swing, part, {"rate": 3.0}, **options) for part in parts)
        np.testing.assert_allclose([angle.value, angle["rate"]], [top, slope], rtol=1e-5)
        np.testing.assert_allclose(
            both["rate"],
            angle["rate"] - 0.1 * (low["rate"] / high.value - low.value * high["rate"] / high.value**2),
            rtol=1e-6,
        )


def dropped(g=9.81, height=2.0):
    model = da.Model(gravity=(0, 0, -g))
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(0, 0, height))
    return model


def test_gradients_of_extrema_at_an_end_that_moves():
    """A ball is fastest where it meets the ground and the run stops: v = sqrt(2 g h)."""
    event = da.Event(lambda state: state.position("ball")[2], "ground", stop=True)
    found = da.gradient(dropped, lambda s: da.largest(s, "ball.v"), {"g": 9.81, "height": 2.0}, t_end=3.0, events=[event])
    v = np.sqrt(2 * 9.81 * 2.0)
    np.testing.assert_allclose([found.value, found["g"], found["height"]], [v, 2.0 / v, 9.81 / v], rtol=1e-7)


def test_times_just_behind_saved_ones_are_theirs():
    """A step of one rounding error cannot be taken."""
    run = da.simulate(swing(), 5.0, save_at=np.linspace(0.0, 5.0, 401))
    np.testing.assert_array_equal(run(np.nextafter(run.t[1:-1], np.inf)).x, run.x[1:-1])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("amr.x", "did you mean 'arm.x'?"),
        ("arm.X", "did you mean 'arm.x'?"),
        ("ARM.vx", "did you mean 'arm.vx'?"),
        ("a", "did you mean 'A'?"),
        ("a.f", "did you mean 'A.f'?"),
        ("arm", ARM),
        ("Arm", ARM),
        ("P.f", f"known: 'A.f', 'motor.f', ...{ALL}"),
        ("P.power", f"known: 'motor.power', ...{ALL}"),
        ("torque", "that of 'motor' is called 'motor'"),
        ("qqqqqqqq", "known: 'motor', 'A', 'A.rate', " + ", ".join(f"'{name}'" for name in FIRST) + f", ...{ALL}"),
        ("Total_energy", "did you mean 'total_energy'?"),
    ],
)
def test_wrong_names_of_signals_are_answered_by_the_nearest(run, name, told):
    with pytest.raises(da.ModelError) as refused:
        run.signal(name)
    assert str(refused.value) == f"there is no signal {name!r}; {told}"


def test_all_names_of_signals_are_signals(run):
    from dalembert.results.signal_names import meant, signals_of

    names = list(signals_of(run.mechanism.model))
    assert len(set(names)) == len(names) > 30
    for name in names:
        assert meant(run.mechanism.model, name) and run.signal(name).shape == run.t.shape


def test_extrema_of_a_run_whose_events_act():
    model = da.Model()
    model.add_point_mass("ball", mass=1.0, position=(0, 0, 0))
    kick = da.Event(lambda s: s.time - 0.5, name="kick", action={"ball": (0.0, 0.0, 6.0)})
    run = da.simulate(model, 2.0, events=[kick], save_at=np.linspace(0.0, 2.0, 15))
    assert da.largest(run, "ball.z") == pytest.approx(36.0 / (2 * 9.81) - 0.5 * 9.81 * 0.25, rel=1e-8)
    assert da.largest(run, "ball.vz") == pytest.approx(6.0, rel=1e-8)  # at once behind the kick, between saved times


def test_names_that_mean_two_things_are_refused():
    """Elements may have any names, those of signals, too: nothing else is given than what was asked for."""
    model = da.Model()
    for k, name in enumerate(("bar", "other")):
        model.add_link(name, (k, 0, 0), (k + 1, 0, 0), mass=1.0)
    model.add_revolute("A", "ground", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("A.rate", "bar", "other", point=(1, 0, 0), axis=(0, 1, 0))
    model.add_driver("potential_energy", "A", da.Polynomial((0, 1.0)))
    model.add_spring_damper("other.v", "ground", "other", between=((1, 0, 1), (1, 0, 0)), stiffness=1.0)
    run = da.simulate(model, 0.1)
    for name, told in (
        ("A.rate", "means two things, coordinate of 'A.rate' and rate of 'A'; rename 'A.rate'"),
        ("potential_energy", "means two things, the energy and force or torque of 'potential_energy'"),
        ("other.v", "means two things, velocity of 'other' and force or torque of 'other.v'"),
    ):
        with pytest.raises(da.ModelError, match=told):
            run.signal(name)
    for name in ("A", "A.angle.rate", "A.rate.angle", "A.rate.rate", "kinetic_energy", "bar.v", "other.v.fx", "other.v.power"):
        assert run.signal(name).shape == run.t.shape
    system = da.LagrangianSystem(lambda q, v: v[0] ** 2 / 2, "total_energy", initial={"total_energy": 1.0})
    with pytest.raises(da.ModelError, match="an energy and a coordinate"):
        da.simulate(system, 0.1).signal("total_energy")


def test_wrong_names_of_efforts_are_answered_by_drivers_too(run):
    for name, told in (("mtor", "did you mean 'motor'?"), ("xyz", "known: 'motor'")):
        with pytest.raises(da.ModelError) as refused:
            run.effort(name)
        assert str(refused.value) == f"there is no force element or driver {name!r}; {told}"


def test_extremes_read_off_figures_and_the_viewer_are_those_between_saved_times():
    """At saved times they are low by parts in a hundred."""
    from dalembert.viewer.scene import frames_of

    def low(values):
        return (top - values.max()) / np.ptp(values)

    few = da.simulate(swing(), 2.0, save_at=np.linspace(0.0, 2.0, 8))
    top = da.largest(few, "A.fz")
    shown = frames_of(few)["reactions"]
    assert low(few.signal("A.fz")) > 0.01
    assert 0.0 <= low(few.plot.time("A.fz").axes[0].get_lines()[0].get_ydata()) < 1e-3
    assert abs(low(np.frombuffer(base64.b64decode(shown), "<f4").reshape(-1, 3)[:, 2])) < 1e-3

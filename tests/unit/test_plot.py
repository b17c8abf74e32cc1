"""Figures: what is on the axes is what is in the solution; nothing covers data; files are whole or absent."""

from importlib import resources
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError, SimulationError, StoreError
from dalembert.plot import save_figure
from dalembert.plot.paths import view_of
from dalembert.plot.signals import _wrapped, draw_over_time, draw_phase
from dalembert.plot.style import MUTED, new_figure
from dalembert.results.signals import Signal, signal

LINE_PLOTS = ["energy", "energy_error", "drift", "trajectories", "step_sizes"]


@pytest.fixture(scope="module")
def quadrangle():
    return da.simulate(gallery.build("planar_quadrangle"), 2.0)


@pytest.fixture(scope="module")
def slider_crank():
    return da.simulate(gallery.build("slider_crank"), 1.0)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label):
    return next(item for item in ax.get_lines() if item.get_label() == label)


def at_states(ax, label, solution):
    """What is drawn at the saved states."""
    t, values = line(ax, label).get_data()
    return values[np.searchsorted(t, solution.t)]


@pytest.mark.parametrize("name", LINE_PLOTS)
def test_every_plot_has_title_units_and_labels(quadrangle, name):
    figure = getattr(quadrangle.plot, name)()
    assert isinstance(figure, Figure)
    assert figure.get_suptitle().startswith("planar quadrangle, t = 0 to 2 s")
    for ax in figure.axes:
        assert ax.get_title("left")
        assert "[" in ax.get_xlabel() and "[" in ax.get_ylabel()
        units = [text.get_text()[-1:] for text in ax.get_yticklabels()]
        assert not {"J", "N", "m"} & {*units}, "the axis has the unit"


@pytest.mark.parametrize("name", LINE_PLOTS)
def test_plots_draw_into_given_axes(quadrangle, name):
    figure = Figure()
    ax = figure.subplots()
    assert getattr(quadrangle.plot, name)(ax=ax) is figure
    assert len(figure.axes) == 1
    assert ax.get_lines()


def test_overview_of_what_is_driven():
    """What the driver does is there as well; numbers along the paths do not touch."""
    run = da.simulate(da.Model.from_yaml(resources.files("dalembert") / "model/file/starter_plane.yaml"), 0.2)
    figure = run.plot.overview()
    panel = next(ax for ax in figure.axes if ax.get_ylabel() == "torque of motor [N m]")
    assert panel.get_lines()[0].get_ydata()[-1] == pytest.approx(run.signal("motor")[-1])
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_xticklabels()]
    assert len(boxes) > 2 and all(a.x1 + 4 < b.x0 for a, b in pairwise(boxes))


def test_overview_of_a_driven_run_whose_function_was_not_stored(tmp_path):
    model = da.Model.from_yaml(resources.files("dalembert") / "model/file/starter_plane.yaml")
    model.add_force("push", "slider", lambda t: (t, 0.0, 0.0))
    da.simulate(model, 0.05).save(tmp_path / "run.zarr")
    assert len(da.load(tmp_path / "run.zarr").plot.overview().axes) == 4


def test_overview(slider_crank, quadrangle):
    figure = slider_crank.plot.overview()
    assert len(figure.axes) == 4
    assert figure.axes[0].name == "3d"
    assert quadrangle.plot.overview().axes[0].name == "rectilinear"
    assert "Jet, DOP853, rtol 1e-09" in figure.get_supxlabel()


def test_legends_stand_above_the_axes_and_leave_them_their_width(slider_crank):
    """Below the title, within the picture, in space and in many panels too."""
    names = ["A.angle", "D", "slider.x", "rod.y", "A.f", "B.f", "D.f"]
    for figure in (slider_crank.plot.overview(), slider_crank.plot.time(*names), slider_crank.plot.trajectories()):
        figure.draw_without_rendering()
        found = 0
        for ax in figure.axes:
            if ax.get_legend():
                found += 1
                legend, title = ax.get_legend().get_window_extent(), ax._left_title.get_window_extent()
                assert legend.y0 >= ax.get_window_extent().y1 - 1
                assert legend.x1 <= figure.bbox.x1 and legend.y1 <= figure.bbox.y1
                assert not ax.get_title("left") or title.y0 >= legend.y1 - 1
        assert found >= 1
        columns = 2 if len(figure.axes) == 4 else 1
        widths = [ax.get_window_extent().width for ax in figure.axes if ax.name != "3d"]
        assert all(width > 0.8 * figure.bbox.width / columns for width in widths)


def test_energies_with_a_large_offset_are_shown_as_changes():
    """A pendulum 100 m above the origin; the panel below shows how far their sum is off."""
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 100), (0.5, 100), mass=2.0)
    model.add_revolute("hinge", "ground", "bar", point=(0, 100))
    solution = da.simulate(model, 1.0)
    above, below = solution.plot.energy().axes
    assert above.get_title("left") == "change of energy since the start; T(0) = 0 J, U(0) = 1.96 kJ"
    assert above.get_ylabel() == "change of energy [J]" and labels(above) == ["kinetic T", "potential U", "total T + U"]
    change = solution.energy.potential - solution.energy.potential[0]
    np.testing.assert_allclose(at_states(above, "potential U", solution), change, rtol=0, atol=1e-9)
    assert 4.0 < np.ptp(above.get_ylim()) < 12.0
    (drawn,) = below.get_lines()
    np.testing.assert_array_equal(drawn.get_ydata(), solution.energy.total - solution.energy.total[0])
    assert len(solution.plot.overview().axes) == 4


def test_without_constraints_the_overview_shows_no_drift():
    model = da.Model((0, 0, 0))
    model.add_body("top", mass=1.0, inertia=(1.0, 2.0, 3.0), angular_velocity=(0, 1, 0.1))
    titles = [ax.get_title("left") for ax in da.simulate(model, 0.1).plot.overview().axes]
    assert len(titles) == 3 and not any("come apart" in title for title in titles)


@pytest.mark.parametrize(("gravity", "up"), [((0, 0, 9.81), "−z"), ((0, -9.81, 0), "y"), ((9.81, 0, 0), "−x")])
def test_in_space_what_is_up_is_up_and_nothing_is_mirrored(gravity, up):
    model = da.Model(gravity)
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(1.0, 2.0, 3.0))
    model.add_body("other", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(-2.0, 1.0, 3.0))
    view = view_of(da.simulate(model, 0.3))
    assert view.labels[2] == up and view.axes[2] @ np.array(gravity) < 0
    np.testing.assert_allclose(np.linalg.det(view.axes), 1.0)


def test_energy_shows_the_numbers(quadrangle):
    ax = quadrangle.plot.energy().axes[0]
    assert labels(ax) == ["kinetic T", "potential U", "external work W", "balance T + U − W"]
    np.testing.assert_allclose(at_states(ax, "kinetic T", quadrangle), quadrangle.energy.kinetic, rtol=1e-12)
    np.testing.assert_array_equal(at_states(ax, "external work W", quadrangle), quadrangle.energy.external_work)


def test_drift_names_joints_and_hides_no_peak(quadrangle):
    for level in ("position", "velocity"):
        ax = quadrangle.plot.drift(level=level).axes[0]
        assert labels(ax)[:4] == ["A", "B", "C", "D"]
        assert ax.get_yscale() == "log"
        for joint in "ABCD":
            peak = getattr(quadrangle.drift.by_joint(joint), level).max()
            assert np.max(line(ax, joint).get_ydata()) == peak


def test_many_joints_are_summed_up():
    solution = da.simulate(gallery.chain(12), 0.2)
    ax = solution.plot.drift().axes[0]
    assert "4 others" in labels(ax)
    assert len(labels(ax)) == 10
    assert "1 other" in labels(da.simulate(gallery.chain(9), 0.01).plot.drift().axes[0])
    assert "first 10 of 12 bodies" in solution.plot.trajectories().axes[0].get_title("left")


def test_lines_differ_in_colour_and_in_style(quadrangle):
    lines = quadrangle.plot.drift().axes[0].get_lines()[:4]
    assert len({item.get_color() for item in lines}) == 4
    assert len({item.get_linestyle() for item in lines}) == 4


def test_reactions(quadrangle):
    ax = quadrangle.plot.reactions("A").axes[0]
    np.testing.assert_allclose(at_states(ax, "x", quadrangle), quadrangle.reaction("A").force[:, 0], rtol=1e-9)
    ax = quadrangle.plot.reactions("A", quantity="torque").axes[0]
    np.testing.assert_allclose(at_states(ax, "z", quadrangle), quadrangle.reaction("A").torque[:, 2], rtol=1e-9)
    assert ax.get_ylabel() == "torque [N m]"
    with pytest.raises(ModelError, match="there is no joint, driver or force element 'Q'"):
        quadrangle.plot.reactions("Q")


def test_reactions_that_are_not_unique_are_marked():
    solution = da.simulate(gallery.build("four_bar"), 0.1)
    assert "not unique" in solution.plot.reactions("B").axes[0].get_title("left")


def test_step_sizes_need_every_step(quadrangle):
    ax = quadrangle.plot.step_sizes().axes[0]
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata()[:-1], np.diff(quadrangle.t))
    sparse = da.simulate(gallery.build("pendulum_3d"), 1.0, save_at=[0, 0.5, 1])
    with pytest.raises(SimulationError, match="simulate without save_at"):
        sparse.plot.step_sizes()


def test_view_finds_the_plane():
    pendulum = da.simulate(gallery.build("pendulum_3d"), 1.0)
    assert view_of(pendulum).labels == ("x", "y")
    tilted = view_of(da.simulate(gallery.build("four_bar"), 0.5))
    assert tilted.axes.shape == (2, 3)
    assert tilted.labels[0].startswith("along (")
    np.testing.assert_allclose(tilted.axes @ gallery.four_bar.NORMAL, 0, rtol=0, atol=1e-9)


def test_view_of_a_straight_motion():
    model = da.Model()
    model.add_point_mass("stone", mass=1.0)
    solution = da.simulate(model, 1.0)
    view = view_of(solution)
    np.testing.assert_allclose(view.axes[1], (0, 0, 1), rtol=0, atol=1e-12)
    assert solution.plot.overview().axes


def test_bars_are_drawn_from_end_to_end():
    """Arms of scissors whose far ends roll, a counterweight off its bar; an axle leaves the picture in its plane."""
    model = da.Model(name="scissors")
    for name, start, end in (("rising", (0, 0, 0), (0.8, 0, 0.6)), ("falling", (0.8, 0, 0), (0, 0, 0.6))):
        model.add_link(name, start, end, mass=1.0, radius=0.01)
    model.add_body("axle", **da.cylinder(0.1, 0.005, 0.3, axis="y").body(), position=(0.4, 0, 0.3))
    model.add_body("weight", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.4, 0, 0.7))
    model.add_revolute("A", "ground", "rising", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("M", "rising", "falling", point=(0.4, 0, 0.3), axis=(0, 1, 0))
    model.add_point_on_line("C", "ground", "falling", point=(0.8, 0, 0), axis=(1, 0, 0))
    model.add_fixed("key", "rising", "axle", point=(0.4, 0, 0.3))
    model.add_fixed("weld", "rising", "weight", point=(0.4, 0, 0.6))
    ax = da.simulate(model, 0.01).plot.trajectories().axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "z [m]")
    drawn = [np.round(np.stack(item.get_data(), axis=1), 9).tolist() for item in ax.get_lines() if item.get_alpha() == 0.3]
    rising, falling, axle, off, weight = drawn
    assert sorted(rising) == [[0, 0], [0.8, 0.6]] and sorted(falling) == [[0, 0.6], [0.8, 0]]
    assert axle == [[0.4, 0.3], [0.4, 0.3]] and off == [[0.4, 0.3], [0.4, 0.6]] and weight == [[0.4, 0.7], [0.4, 0.6]]


def test_paths_pass_through_the_states(quadrangle):
    ax = quadrangle.plot.trajectories().axes[0]
    path = np.stack(line(ax, "crank").get_data(), axis=1)
    positions = quadrangle.position("crank")[:, :2]
    gaps = np.linalg.norm(path[:, None] - positions[None], axis=2).min(axis=0)
    assert gaps.max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1.0, rtol=0, atol=1e-9)  # kept by projection


def test_status_is_in_the_title():
    stop = da.Event(lambda state: state.time - 0.5, stop=True)
    solution = da.simulate(gallery.build("pendulum_3d"), 1.0, events=stop)
    assert "stopped by an event" in solution.plot.energy().get_suptitle()


def test_save(quadrangle, tmp_path):
    quadrangle.plot.save(tmp_path / "a.pdf")
    save_figure(quadrangle.plot.energy(), tmp_path / "b.png")
    quadrangle.plot.save(tmp_path / "b.png", quadrangle.plot.drift())
    for swapped in ((quadrangle.plot.drift(), tmp_path / "c.png"), (tmp_path / "c.png", quadrangle.plot.drift().axes[0])):
        with pytest.raises(TypeError, match="save takes the path, then a figure"):
            quadrangle.plot.save(*swapped)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.pdf", "b.png"]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_save_is_whole_or_not_at_all(quadrangle, tmp_path, monkeypatch):
    (tmp_path / "a.png").write_text("old")

    def broken(self, path, **options):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", broken)
    with pytest.raises(StoreError, match="No space left on device"):
        quadrangle.plot.save(tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_text() == "old"


@pytest.mark.parametrize(
    "path, message", [("a.xyz", "'xyz' is no picture format"), ("a", "'no suffix'"), ("no/a.png", "does not exist")]
)
def test_save_refuses_bad_paths(quadrangle, tmp_path, path, message):
    with pytest.raises(StoreError, match=message):
        quadrangle.plot.save(tmp_path / path)
    (tmp_path / "f.png").mkdir()
    with pytest.raises(StoreError, match="it is a folder"):
        quadrangle.plot.save(tmp_path / "f.png")


def test_nothing_to_plot(quadrangle):
    empty = da.Solution(quadrangle.mechanism, np.zeros(0), quadrangle.x[:0], settings=quadrangle.settings)
    with pytest.raises(SimulationError, match="no states"):
        empty.plot.energy()


def test_settings_of_the_caller_are_left_alone(quadrangle):
    import matplotlib

    before = dict(matplotlib.rcParams)
    quadrangle.plot.overview()
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in vars(__import__("dalembert.plot", fromlist=["x"]))


def test_what_is_constant_but_for_rounding_is_drawn_as_constant():
    t = np.linspace(0.0, 1.0, 50)
    for values, flat in ((0.12 + 1e-11 * np.sin(99 * t), True), (0.12 + 1e-5 * t, False), (1e-11 * t, False)):
        ax = new_figure().add_subplot()
        draw_over_time(ax, t, [Signal("z", "m", values)], "time t [s]")
        low, high = ax.get_ylim()
        assert (high - low > 1e-3) == flat and low <= values.min() and values.max() <= high


def test_phase_plane(quadrangle):
    ax = quadrangle.plot.phase("A").axes[0]
    rates = ax.get_lines()[0].get_ydata()
    gaps = np.abs(rates[:, None] - quadrangle.coordinate_rate("A")).min(axis=0)
    assert len(rates) > 600 and gaps.max() < 1e-12, "the states, and the dense output between them"
    assert ax.get_xlabel() == "angle of A [rad]" and ax.get_ylabel() == "rate of change [rad/s]"
    assert labels(ax) == ["start", "end"]


def test_one_signal_over_another(quadrangle):
    """A force over an angle, as engineers draw it."""
    ax = quadrangle.plot.phase("A", "B.f", degrees=True).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("angle of A [deg]", "|reaction force| of B [N]")
    assert ax.get_title("left") == "|reaction force| of B over angle of A"
    x, y = ax.get_lines()[0].get_data()
    assert x[0] == pytest.approx(np.degrees(quadrangle.coordinate("A")[0])) and y[0] == pytest.approx(
        quadrangle.signal("B.f")[0]
    )
    assert x[-1] == pytest.approx(np.degrees(quadrangle.coordinate("A")[-1])) and len(x) > 100
    assert y[-1] == pytest.approx(quadrangle.signal("B.f")[-1])


def test_several_signals_over_another(quadrangle):
    """A panel for each unit, with names where there are several; all within the turn that the first has."""
    angles, forces = quadrangle.plot.phase("A", "C.angle", "D", "B.f", degrees=True).axes
    assert labels(angles) == ["angle of C", "angle of D"] and labels(forces) == ["start", "end"]
    assert (angles.get_ylabel(), forces.get_ylabel()) == ("angle [deg]", "|reaction force| of B [N]")
    x, y = angles.get_lines()[1].get_data()
    assert y[-1] == pytest.approx(np.degrees(quadrangle.coordinate("D")[-1])) and x[0] == angles.get_lines()[0].get_xdata()[0]
    ax = new_figure().add_subplot()
    quadrangle.plot.phase("A", "D", "B.f", ax=ax)
    assert len(ax.get_lines()) == 6


def test_coordinates_of_a_point_over_each_other_are_its_path():
    """To one scale; across a line up and down there is only rounding, which is drawn as none."""
    model = da.Model()
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1), velocity=(0, 0, 5.0))
    model.add_marker("tip", "ball", point=(0.1, 0, 0))
    run = da.simulate(model, 1.0)
    ax = run.plot.phase("tip.x", "tip.z").axes[0]
    assert ax.get_aspect() == 1.0
    assert np.ptp(ax.get_xlim()) > 1e-3
    assert run.plot.phase("tip.x", "tip.vz").axes[0].get_aspect() == "auto"
    t = np.linspace(0.0, 1.0, 40)
    ax = new_figure().add_subplot()
    draw_phase(ax, Signal("x", "m", 0.1 + 1e-12 * np.sin(99 * t)), [Signal("f", "N", 3.0 + 1e-12 * np.cos(70 * t))])
    assert np.ptp(ax.get_xlim()) > 1e-3 and np.ptp(ax.get_ylim()) > 1e-2


def test_phase_plane_of_a_turning_joint_is_one_turn_wide():
    ax = da.simulate(gallery.build("slider_crank"), 2.0).plot.phase("A").axes[0]
    pieces = [line for line in ax.get_lines() if line.get_marker() in ("None", None)]
    x = np.concatenate([line.get_xdata() for line in pieces])
    assert ax.get_title("left").endswith(", one turn from its start, later turns darker")
    assert (np.diff([line.get_alpha() for line in pieces]) > 0.0).all() and len({line.get_color() for line in pieces}) == 1
    assert np.nanmax(x) - np.nanmin(x) == pytest.approx(2 * np.pi, abs=1e-12)
    assert np.isnan(x).sum() >= 2
    assert np.nanmax(np.abs(np.diff(x))) < np.pi


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_turning_joint_starts_where_it_starts_and_closes_its_turns(sign):
    """From the first value one turn on, the way it turns; curves reach both ends of it, by interpolation."""
    angle = np.radians(30.0) + sign * np.linspace(0.0, 4 * np.pi, 1001)
    x, y, *curve = _wrapped(angle, np.cos(angle), 2 * np.pi)
    assert (x[0], y[0]) == (angle[0], np.cos(angle[0]))
    pieces = np.split(np.stack(curve, axis=1), np.flatnonzero(np.isnan(curve[0])))
    assert len(pieces) == 2
    for piece in pieces:
        (first, last), told = piece[np.isfinite(piece[:, 0])][[0, -1]], np.cos(angle[0])
        np.testing.assert_allclose(first, (angle[0], told), rtol=0, atol=1e-4)
        np.testing.assert_allclose(last, (angle[0] + sign * 2 * np.pi, told), rtol=0, atol=1e-4)


def test_what_swings_and_turns_over_is_drawn_about_its_rest():
    angle = np.concatenate([np.linspace(0, -3, 200), np.linspace(-3, 7, 600)])
    x, _, *curve = _wrapped(angle, angle, 2 * np.pi)
    assert np.abs(x).max() <= np.pi and x[100] == pytest.approx(angle[100])
    assert np.nanmax(curve[0]) == pytest.approx(np.pi, abs=1e-12) and np.nanmin(curve[0]) == pytest.approx(-np.pi, abs=1e-12)


def test_angles_in_degrees():
    """Angles and rates are drawn in degrees where asked for, lengths as they are; the turn of a phase plane is 360 degrees."""
    run = da.simulate(gallery.build("slider_crank"), 2.0)
    angle, rate, x = run.plot.time("A", "A.rate", "slider.x", degrees=True).axes
    labels = ["angle of A [deg]", "rate of angle of A [deg/s]", "x of slider [m]"]
    assert [panel.get_ylabel() for panel in (angle, rate, x)] == labels
    plain = [panel.get_lines()[0].get_ydata() for panel in run.plot.time("A", "A.rate", "slider.x").axes]
    for panel, values, factor in zip((angle, rate, x), plain, (180 / np.pi, 180 / np.pi, 1.0), strict=True):
        np.testing.assert_allclose(panel.get_lines()[0].get_ydata(), factor * values, rtol=1e-12)
    phase = run.plot.phase("A", degrees=True).axes[0]
    assert (phase.get_xlabel(), phase.get_ylabel()) == ("angle of A [deg]", "rate of change [deg/s]")
    assert np.ptp([each for each in phase.get_lines()[0].get_xdata() if each == each]) == pytest.approx(360.0)
    assert "one turn from its start" in phase.get_title("left")
    assert np.allclose(np.diff(phase.get_xticks()), 45.0)
    assert run.plot.spectrum("A", degrees=True).axes[0].get_ylabel() == "amplitude [deg]"


def test_a_swept_angle_in_degrees():
    turn = da.kinematics(gallery.build("four_bar"), sweep={"A": np.linspace(0, np.pi / 2, 31)})
    figure = turn.plot.time("B", degrees=True)
    assert figure.axes[0].get_xlabel() == "angle of A [deg]"
    assert figure.get_suptitle().endswith("angle of A = 0 to 90 deg")
    assert figure.axes[0].get_lines()[0].get_xdata()[-1] == pytest.approx(90)
    assert turn.plot.time("B").axes[0].get_xlabel() == "angle of A [rad]"
    assert turn.plot.phase("A", "B", degrees=True).get_suptitle().endswith("angle of A = 0 to 90 deg")


def test_degrees_of_a_lagrangian_system_are_refused():
    run = da.simulate(gallery.chaplygin_sleigh(), 0.1)
    with pytest.raises(ModelError, match="which coordinates of a Lagrangian system are angles is not known"):
        run.plot.time("x", degrees=True)


def test_spectrum_of_a_known_motion():
    """A joint driven by a sine wave shows its frequency and amplitude."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("arm", mass=1, inertia=(1, 1, 1))
    model.add_prismatic("slide", "ground", "arm", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_driver("motor", "slide", da.Harmonic(0.25, 2 * np.pi * 3.0, offset=0.7))
    solution = da.simulate(model, 8.0, save_at=np.linspace(0, 8, 801))
    from dalembert.plot.signals import spectrum

    for name in ("slide", "arm.x"):
        f, a = spectrum(solution.t, signal(solution, name))
        assert f[np.argmax(a)] == pytest.approx(3.0, abs=1e-9)
        assert a.max() == pytest.approx(0.25, rel=1e-4)
        assert a[np.abs(f - 3.0) > 0.5].max() < 1e-6
    figure = solution.plot.spectrum("slide")
    assert labels(figure.axes[0]) == ["largest: 0.25 m at 3 Hz"]


def test_signals_by_name(slider_crank):
    for name, values in {
        "A": slider_crank.coordinate("A"),
        "C.angle_second": slider_crank.coordinate("C")[:, 1],
        "rod.z": slider_crank.position("rod")[:, 2],
        "rod.vy": slider_crank.velocity("rod")[:, 1],
        "B.fx": slider_crank.reaction("B").force[:, 0],
        "C.tz": slider_crank.reaction("C").torque[:, 2],
    }.items():
        np.testing.assert_array_equal(signal(slider_crank, name).values, values)
    with pytest.raises(ModelError, match="no signal 'C'; "):
        signal(slider_crank, "C")
    with pytest.raises(ModelError, match="the rate of 'reaction force x of B' is not known"):
        slider_crank.plot.phase("B.fx")


def test_spectrum_needs_states():
    solution = da.simulate(gallery.build("pendulum_3d"), 1.0, save_at=[0, 0.5, 1])
    with pytest.raises(SimulationError, match="a spectrum needs at least 16"):
        solution.plot.spectrum("pendulum.x")


def driven() -> da.Model:
    """A disc of 0.5 kg m^2 on the axis y that is turned by 3 t^2 / 2, against a spring and by a motor."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("disc", mass=1.0, inertia=(0.3, 0.5, 0.3))
    model.add_revolute("A", model.ground, "disc", point=(0, 0, 0), axis=(0, -1, 0))
    model.add_motor("motor", "A", 4.0)
    model.add_driver("drive", "A", da.Polynomial((0.0, 0.0, 1.5)))
    model.add_spring_damper("spring", model.ground, "disc", points=((0, 0, 2.0), (0, 0, 0)), stiffness=10.0, length=1.5)
    return model


def test_what_drivers_motors_and_springs_do_is_drawn():
    """A driver that only turns has no force to draw; its torque, the way the angle grows, is J phi'' less that of the motor."""
    run = da.simulate(driven(), 0.5)
    for name, torque in (("drive", 0.5 * 3.0 - 4.0), ("motor", 4.0)):
        figure = run.plot.reactions(name)
        assert [ax.get_ylabel() for ax in figure.axes] == ["torque [N m]"]
        np.testing.assert_allclose(at_states(figure.axes[0], "y", run), -torque, rtol=1e-9)
        drawn = run.plot.time(name).axes[0]
        assert drawn.get_ylabel() == f"torque of {name} [N m]"
        np.testing.assert_allclose(drawn.get_lines()[0].get_ydata(), torque, rtol=1e-9)
    spring = run.plot.time("spring", "spring.fz").axes[0]
    np.testing.assert_allclose(spring.get_lines()[0].get_ydata(), 5.0, rtol=1e-9)
    np.testing.assert_allclose(spring.get_lines()[1].get_ydata(), 5.0, rtol=1e-9)
    assert [ax.get_title("left") for ax in run.plot.reactions("spring").axes] == ["force of spring-damper 'spring'"]
    assert len(run.plot.reactions("A").axes) == 1 and len(run.plot.reactions("A", quantity="torque").axes) == 1
    with pytest.raises(
        ModelError, match="there is no signal 'torque'; that of 'drive' is called 'drive', that of 'motor' is called 'motor'"
    ):
        run.plot.time("torque")
    with pytest.raises(ModelError, match="there is no signal 'moter'; did you mean 'motor'"):
        run.plot.time("moter")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "motor.torque",
            "'motor' has motor (its torque), motor.power, motor.fx, y, z (force), motor.f (its size), motor.tx",
        ),
        (
            "spring.length",
            "'spring' has spring (its tension), spring.power, spring.fx, y, z (force), spring.f (its size)",
        ),
        (
            "push.value",
            "'push' has push.power, push.fx, y, z (force), push.f (its size), push.tx, y, z (torque), push.t (its size)",
        ),
        (
            "arm.turn",
            "'arm' has arm.x, y, z (position), arm.vx, vy, vz (velocity), arm.v (its size), arm.ax, ay, az, a (acceleration)",
        ),
        ("A.speed", "'A' has A (angle), A.rate, A.fx, y, z (force), A.f (its size), A.tx, y, z (torque), A.t (its size)"),
        ("B.angle", "'B' has B.rotation_x, B.rotation_y, B.rotation_z, B.fx, y, z (force), B.f (its size), B.tx"),
    ],
)
def test_unknown_parts_of_what_is_known_list_what_there_is(name, told):
    model = da.Model()
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_link("rod", (0.4, 0, 0), (0.4, 0, -0.3), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("B", "arm", "rod", point=(0.4, 0, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 1.0)))
    model.add_spring_damper("spring", model.ground, "rod", stiffness=5.0)
    model.add_force("push", "rod", (1, 0, 0))
    run = da.simulate(model, t_end=0.01)
    with pytest.raises(ModelError) as refused:
        run.plot.time(name)
    assert str(refused.value).startswith(f"there is no signal {name!r}; {told}")
    np.testing.assert_array_equal(signal(run, "A.rate").values, run.coordinate_rate("A"))
    assert (
        signal(run, "A.rate").unit == "rad/s" and run.plot.time("A.rate").axes[0].get_ylabel() == "rate of angle of A [rad/s]"
    )
    with pytest.raises(
        ModelError, match=r"^'A\.max' is of a whole run, no signal over time; `dalembert export RUN --output A\.max` prints it"
    ):
        run.plot.time("A.max")
    np.testing.assert_allclose(signal(run, "motor").values, run.multiplier("motor")[:, 0], rtol=1e-9)


def test_reactions_in_a_plane_are_not_called_redundant():
    """Hinges hold a loop twice across its plane only, where nothing acts: neither word nor curve of redundancy."""
    model = da.Model(plane="xz")
    model.add_link("crank", start=(0, 0), end=(0, 0.1), mass=0.5)
    model.add_link("rod", start=(0, 0.1), end=(0.3, 0.2), mass=0.8)
    model.add_link("rocker", start=(0.3, 0.2), end=(0.3, 0), mass=0.8)
    model.add_revolute("A", "ground", "crank", point=(0, 0), rate=12)
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "rocker", point=(0.3, 0.2))
    model.add_revolute("D", "rocker", "ground", point=(0.3, 0))
    run = da.simulate(model, 0.01)
    (panel,) = run.plot.reactions("C").axes
    assert panel.get_title("left") == "reaction force of 'C'; out of the plane: not determined"
    assert [line.get_label() for line in panel.lines] == ["x", "z", "magnitude"]
    (panel,) = run.plot.reactions("C", quantity="torque").axes
    assert panel.get_title("left") == "reaction torque of 'C'; out of the plane: not determined"
    assert [line.get_label() for line in panel.lines] == ["y", "magnitude"]


def test_only_what_is_not_unique_is_said_to_be():
    """Two ball joints of a beam share what acts along it; forces across are determined."""
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_body("beam", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add_spherical("A", model.ground, "beam", point=(-1, 0, 0))
    model.add_spherical("B", model.ground, "beam", point=(1, 0, 0))
    run = da.simulate(model, 0.01)
    assert run.reaction("A").undetermined == ("force along x",) and not run.reaction("A").unique
    assert run.plot.reactions("A").axes[0].get_title("left") == "reaction force of 'A'; not unique: force along x"
    report = run.report()
    assert report["reactions not unique"].value.startswith("A, B (force along x): ")
    assert report["redundant rows"].value.startswith("B (motion along x): ")
    assert run.plot.reactions("A", quantity="torque").axes[0].get_title("left") == "reaction torque of 'A'"


def test_needed_efforts_have_a_panel_for_each_unit():
    """A hinge on a carriage: a torque and a force."""
    model = da.Model(plane="xz", name="carriage with a bar")
    model.add_body("carriage", mass=1.0, inertia=0.1)
    model.add_link("bar", (0, 0), (0.5, 0), mass=1.0)
    model.add_prismatic("rail", "ground", "carriage", point=(0, 0), axis=(1, 0))
    model.add_revolute("hinge", "carriage", "bar", point=(0, 0))
    motion = {"rail": da.Harmonic(0.1, omega=2.0), "hinge": da.Harmonic(0.3, omega=2.0)}
    figure = da.inverse_dynamics(model, motion, ["rail", "hinge"], t=np.linspace(0.0, 1.0, 21)).plot()
    assert [ax.get_ylabel() for ax in figure.axes] == ["force of rail [N]", "torque of hinge [N m]"]
    assert {ax.get_xlabel() for ax in figure.axes} == {"time t [s]"} and figure.get_suptitle() == "carriage with a bar"


def test_needed_forces_of_a_joint_that_slides_and_turns():
    """All three were torques in N m."""
    model = da.Model(plane="xy", gravity=(0, 0, 0))
    model.add_body("plate", mass=1.0, inertia=0.1)
    model.add_planar_joint("P", "ground", "plate", point=(0, 0, 0), axis=(0, 0, 1))
    for k, name in enumerate(("along", "across", "turn")):
        model.add_driver(name, "P", da.Harmonic(0.1, omega=2.0), component=k)
    motion = {("P", k): da.Harmonic(0.1, omega=2.0) for k in range(3)}
    found = da.inverse_dynamics(model, motion, ["along", "across", "turn"], t=np.linspace(0.0, 1.0, 11))
    forces, torques = found.plot().axes
    assert (forces.get_ylabel(), torques.get_ylabel()) == ("force [N]", "torque of turn [N m]")
    assert [line.get_label() for line in forces.get_lines()] == ["force of along", "force of across"]


def test_a_single_state_of_few_points_is_drawn():
    """A point mass on a spring: one point in one pose has no plane of its own."""
    model = da.Model()
    model.add_point_mass("bob", mass=1.0, position=(0, 0, -1))
    model.add_spring_damper("spring", "ground", "bob", points=((0, 0, 0), (0, 0, 0)), stiffness=100.0, length=1.0)
    rest = da.equilibrium(model).solution
    for figure in (rest.plot.trajectories(), rest.plot.overview()):
        assert [figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()] == ["x [m]", "z [m]"]


def test_a_fit_shows_units_and_its_legend_covers_no_data():
    def oscillator(stiffness):
        model = da.Model((0, 0, 0), plane="xz")
        model.add_body("mass", mass=1.0, inertia=1.0, velocity=(1, 0))
        model.add_prismatic("rail", "ground", "mass", point=(0, 0), axis=(1, 0))
        model.add_joint_spring_damper("spring", "rail", stiffness=stiffness)
        return model

    t = np.linspace(0.0, 1.0, 20)
    data = {"t": t, "mass.x": np.sin(3.0 * t) / 3.0 + 1e-3 * np.cos(40.0 * t)}
    figure = da.fit(oscillator, data, {"stiffness": 8.0}).plot.residuals()
    figure.draw_without_rendering()
    left = figure.axes[0]
    assert left.get_ylabel() == "mass.x [m]"
    assert left.get_legend().get_window_extent().y0 >= left.get_window_extent().y1 - 1
    heights = [ax._left_title.get_window_extent().y0 for ax in figure.axes[:2]]
    assert heights[0] == pytest.approx(heights[1], abs=2.0) and figure.get_suptitle() == "unnamed model"


@pytest.mark.parametrize("width", [0.1, 1.0, 4.0, 6.0, 9.0, 13.0, 21.0, 44.0, 91.0, 136.0, 271.0, 800.0, 3000.0, 9000.0])
@pytest.mark.parametrize("start", [0.0, 96.7])
def test_degrees_have_ticks_enough_on_both_axes(width, start):
    figure = new_figure(8.0, 4.2)
    ax = figure.subplots()
    x = np.linspace(start, start + width, 50)
    draw_over_time(ax, x, [Signal("angle", "deg", x)], "angle of A [deg]")
    figure.draw_without_rendering()
    for ticks, (low, high) in ((ax.get_xticks(), ax.get_xlim()), (ax.get_yticks(), ax.get_ylim())):
        assert 4 <= np.sum((ticks >= low) & (ticks <= high)) <= 11


def test_energies_that_change_by_less_than_they_are_off_zero_are_changes():
    """A body on a spring that a bump lifts by a seventh of its height: 16 J of motion beside 1360 J of height."""
    model = da.Model(plane="xz")
    model.add_body("body", mass=140.0, inertia=1.0, position=(0, 1.0))
    model.add_prismatic("guide", "ground", "body", point=(0, 1.0), axis=(0, 1))
    model.add_force("lift", "body", (0, 140.0 * 9.81 + 350.0))
    above = da.simulate(model, 0.34).plot.energy().axes[0]
    assert above.get_ylabel() == "change of energy [J]" and above.get_title("left").endswith("T(0) = 0 J, U(0) = 1.37 kJ")
    potential, kinetic = (np.ptp(line(above, label).get_ydata()) for label in ("potential U", "kinetic T"))
    assert potential > 0.14 * 1370 and kinetic > 0.02 * np.ptp(above.get_ylim())


def test_titles_beside_each_other_are_on_one_height():
    run = da.simulate(da.Model.from_yaml(resources.files("dalembert") / "model/file/starter_plane.yaml"), 0.2)
    figure = run.plot.overview()
    figure.draw_without_rendering()
    rows = {}
    for ax in figure.axes:
        rows.setdefault(ax.get_subplotspec().rowspan.start, []).append(ax._left_title.get_window_extent().y0)
    assert len(rows) == 3 and all(len(row) == 2 and abs(row[0] - row[1]) < 2.0 for row in rows.values())
    assert [ax.get_title("left") for ax in figure.axes[1:3]] == ["torque of drivers", "power of drivers"]


def test_outlines_of_shapes_and_springs_are_around_paths_in_a_plane():
    """A wheel is round, from its side a rectangle; a spring a zigzag from end to end."""
    model = da.Model(plane="xz")
    for name, x, axis in (("disc", 0.0, "y"), ("roller", 2.0, "x")):
        solid = da.cylinder(1.0, 0.5, 0.2, axis=axis)
        model.add_body(name, mass=1.0, inertia=0.1, shape=solid.shape, position=(x, 1.0))
    model.add_spring_damper("spring", "disc", "roller", between=((0, 1), (2, 1)), stiffness=1.0, damping=1.0, length=2.0)
    ax = da.simulate(model, 0.1).plot.trajectories().axes[0]
    disc, roller = (patch.get_path().vertices for patch in ax.patches)
    np.testing.assert_allclose(np.linalg.norm(disc - [0, 1], axis=1), 0.5, rtol=1e-12)
    assert np.ptp(roller, axis=0) == pytest.approx([0.2, 1.0])
    (zigzag,) = (np.array(item.get_data()) for item in ax.get_lines() if item.get_color() == MUTED)
    assert pytest.approx(np.array([[0, 1], [2, 1]])) == zigzag[:, [0, -1]].T and np.ptp(zigzag[1]) > 0.02
    assert labels(ax) == ["disc", "roller"]

"""What people see is right: tables that never cut a number, text and pictures in notebooks, curves between the steps."""

import io
import re

import numpy as np
import pytest
import rich.console
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import dalembert as da
from dalembert import gallery
from dalembert.comparison.table import Comparison, Measurement, Reference
from dalembert.results.sampling import curve, usual_speed


@pytest.fixture(scope="module")
def pendulum():
    return da.simulate(gallery.build("simple_pendulum"), 4.0, integrator=da.DOP853(rtol=1e-6, atol=1e-6))


@pytest.fixture(scope="module")
def comparison():
    runs = tuple(
        Measurement(
            formulation, integrator, setting, value, 5.83e-11, value < 1e-3, 1.2e-13, 4.4e-16, 0, 123456, 0, 7654321, 12.3
        )
        for formulation in ("moving-frame", "variational")
        for integrator in ("symplectic-euler", "gauss-legendre-3")
        for setting, value in (("rtol", 1e-4), ("h", 1.2345e-5))[: 1 if formulation == "variational" else 2]
    )
    return Comparison("m", 1.0, Reference("a", "b", 1e-12), runs, (), {"repeats": 1}, {"dalembert": "0"})


@pytest.mark.parametrize("width", [60, 80, 100, 118])
def test_compare_never_cuts_a_number(comparison, width):
    text = io.StringIO()
    comparison.print(rich.console.Console(file=text, width=width))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width and "…" not in text.getvalue()
    table = lines[: next(k for k, line in enumerate(lines) if line.startswith("- "))]
    for measured in comparison.measurements:
        assert any({measured.cells()[3], *measured.shown_setting.split()} <= set(line.split()) for line in table)
    left_out = [name for name in ("evaluations", "drift", "energy error", "steps") if name not in "".join(table[:4])]
    assert (f"a wider terminal also shows: {', '.join(left_out)}" in " ".join(text.getvalue().split())) == bool(left_out)
    assert left_out or width > 80


def test_report_and_comparison_have_text_in_a_notebook(pendulum, comparison, monkeypatch):
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    report = pendulum.report()
    assert "position drift" in str(report) and "position drift" in report._repr_html_()
    assert "moving-frame" in str(comparison) and "moving-frame" in comparison._repr_html_()


def test_a_figure_shows_itself_in_a_notebook(pendulum):
    assert pendulum.plot.energy()._repr_png_().startswith(b"\x89PNG")
    formatters = pytest.importorskip("IPython.core.formatters", reason="IPython is not installed")
    shown, _ = formatters.DisplayFormatter().format(pendulum.plot.overview())
    assert shown["image/png"].startswith(b"\x89PNG") if isinstance(shown["image/png"], bytes) else shown["image/png"]


def test_curves_are_the_dense_output(pendulum):
    """Large steps, and yet what is drawn between them is the motion: x^2 + z^2 = 1 and T + U = 0, not chords."""
    ax = pendulum.plot.trajectories().axes[0]
    path = np.stack(next(line for line in ax.get_lines() if line.get_label() == pendulum.mechanism.body_names[0]).get_data())
    assert len(path.T) > 600 > 3 * len(pendulum.t)
    assert np.linalg.norm(path, axis=0) == pytest.approx(1.0, abs=1e-9)  # kept by projection
    ax = pendulum.plot.energy().axes[0]
    t, kinetic = ax.get_lines()[0].get_data()
    assert np.isin(pendulum.t, t).all()
    dense = pendulum(t)
    body = pendulum.mechanism.body_names[0]
    mass = pendulum.mechanism.model.bodies[0].mass
    assert kinetic == pytest.approx(
        0.5 * mass * np.sum(dense.velocity(body) ** 2, axis=1), abs=1e-6
    )  # the tolerance of the run


def test_curves_far_from_saved_states_start_from_each_other():
    sparse = da.simulate(gallery.build("simple_pendulum"), 4.0, save_at=[0.0, 2.0, 4.0])
    found = curve(sparse)
    assert len(found.t) > 600
    body = sparse.mechanism.body_names[0]
    exact = sparse(found.t[[100, 333, 500]])
    assert found.position(body)[[100, 333, 500]] == pytest.approx(exact.position(body), abs=1e-7)


def test_without_dense_output_curves_join_the_states(tmp_path):
    model = gallery.build("simple_pendulum")
    model.add_force("push", model.bodies[0], lambda t: (np.sin(t), 0.0, 0.0))
    da.simulate(model, 1.0).save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.plot.energy().axes[0].get_lines()[0].get_xdata(), again.t)


def test_signals_over_time(pendulum):
    crank = da.simulate(gallery.build("slider_crank"), 0.5)
    figure = crank.plot.time("slider.x", "A", "rod.z")
    lengths, angle = figure.axes
    assert lengths.get_legend_handles_labels()[1] == ["x of slider", "z of rod"]
    assert (lengths.get_ylabel(), angle.get_ylabel()) == ("length [m]", "angle of A [rad]")
    t, z = lengths.get_lines()[1].get_data()
    assert z == pytest.approx(crank(t).position("rod")[:, 2], abs=1e-9)
    with pytest.raises(da.ModelError, match=r"no signal 'slidr\.x'; did you mean 'slider\.x'"):
        crank.plot.time("slidr.x")
    with pytest.raises(da.ModelError, match="of what"):
        crank.plot.time()
    system = da.simulate(gallery.build("oscillator"), 1.0)
    assert [line.get_label() for line in system.plot.time("x", "x'").axes[0].get_lines()] == ["x", "x'"]


def test_drift_is_drawn_with_the_limit_of_the_report(pendulum):
    for level in ("position", "velocity"):
        limit = pendulum.report()[f"{level} drift"].limit
        line = next(line for line in pendulum.plot.drift(level=level).axes[0].get_lines() if "limit" in line.get_label())
        assert line.get_label() == f"limit of the report, {limit}"
        assert line.get_ydata()[0] == float(limit)


def test_the_overview_says_what_is_good(pendulum):
    """Both lower panels say what they show, and have the limit of the report above their curves."""
    titles = {ax.get_title(loc="left") or ax.get_title(): ax for ax in pendulum.plot.overview().axes}
    for words, check in (("how far the joints come apart", "position drift"), ("how far the energy is off", "energy balance")):
        ax = next(ax for title, ax in titles.items() if title.startswith(words))
        *curves, limit = ax.get_lines()
        assert limit.get_ydata()[0] == float(pendulum.report()[check].limit)
        assert max(np.max(line.get_ydata()) for line in curves) < limit.get_ydata()[0]


def test_rotation_vectors_are_those_of_states_whatever_is_saved():
    """A ball joint that turns by several turns: lines break where its rotation vector jumps to the other side."""
    model = da.Model((0, 0, 0))
    model.add_body("top", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0.0, 0.0, 10.0))
    model.add_spherical("ball", model.ground, "top", point=(0, 0, 0))
    end = 20.0 - 6.0 * np.pi
    for save_at in (None, (0.0, 0.5, 1.0, 2.0), (1.0, 2.0)):
        solution = da.simulate(model, 2.0, save_at=save_at)
        assert solution.coordinate("ball")[:, 2] == pytest.approx(np.angle(np.exp(10j * solution.t)), abs=1e-6)
        assert [solution.coordinate("ball")[-1, 2], solution(2.0).coordinate("ball")[2]] == pytest.approx([end, end], abs=1e-6)
        assert da.largest(solution, "ball.rotation_z") == pytest.approx(np.pi, abs=1e-2)
    (line,) = solution.plot.time("ball.rotation_z").axes[0].get_lines()
    assert np.isnan(line.get_ydata()).sum() >= 1
    (line,) = da.simulate(model, 2.0).plot.time("ball.rotation_z").axes[0].get_lines()
    assert np.isnan(line.get_ydata()).sum() == 3


def test_usual_speed_is_round_and_shows_about_ten_seconds():
    assert [usual_speed(span) for span in (0.05, 0.03, 1e-4, 1.0, 60.0, 100.0, 3600.0)] == [0.005, 0.002, 1e-5, 1, 1, 10, 500]


@pytest.mark.parametrize("name", ["mobile", "slider_crank", "andrews"])
def test_legends_cover_no_axis(name):
    figure = da.simulate(gallery.build(name), 0.02).plot.overview()
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    for ax in figure.axes:
        if ax.get_legend():
            legend = ax.get_legend().get_window_extent(renderer)
            assert not any(legend.overlaps(axis.get_tightbbox(renderer)) for axis in ax._axis_map.values())


def test_a_motion_in_a_coordinate_plane_is_drawn_along_its_axes():
    """Whatever way its points lie."""
    axes = da.simulate(gallery.build("andrews"), 0.02).plot.trajectories().axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")


def test_figures_have_one_kind_of_minus_signs(pendulum):
    figure = pendulum.plot.drift()
    figure.draw_without_rendering()
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert any("1e−" in text for text in texts)
    assert [text for text in texts if "$" not in text and re.search(r"(?<![\w-])-\d|\de-\d", text)] == []

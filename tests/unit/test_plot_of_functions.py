"""Functions of a solution as signals: in plots, tables, extremes; what they are called."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.model.references import called


@pytest.fixture(scope="module")
def run():
    return da.simulate(gallery.build("slider_crank"), 1.0)


def reach(s):
    return s.signal("slider.x") - s.signal("rod.x")


def test_functions_over_time_are_as_fine_as_other_plots(run):
    """Each without a unit in a panel of its own, with a unit beside signals of that unit."""
    figure = run.plot.time("slider.x", ("reach [m]", reach), reach, lambda s: s.signal("rod.x") - s.signal("slider.x"))
    metres, named, computed = figure.axes
    assert [text.get_text() for text in metres.get_legend().get_texts()] == ["x of slider", "reach"]
    assert [panel.get_ylabel() for panel in figure.axes] == ["length [m]", "reach", "rod.x - slider.x"]
    t, values = named.get_lines()[0].get_data()
    assert len(t) > 5 * len(run.t)
    np.testing.assert_allclose(values, reach(run(t)), rtol=0, atol=1e-10)  # dense states are closed to 1e-11
    np.testing.assert_array_equal(computed.get_lines()[0].get_ydata(), -values)
    np.testing.assert_array_equal(metres.get_lines()[1].get_ydata(), values)


def test_functions_in_phase_planes_spectra_and_degrees(run):
    ax = run.plot.phase(reach, ("swing [rad]", lambda s: s.signal("A")), degrees=True).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("reach", "swing [deg]")
    assert ax.get_lines()[0].get_ydata()[0] == pytest.approx(np.degrees(run.signal("A")[0]))
    ax = run.plot.spectrum(("reach [m]", reach)).axes[0]
    assert ax.get_title("left").startswith("spectrum: reach,") and ax.get_ylabel() == "amplitude [m]"
    assert "[" not in run.plot.spectrum(reach).axes[0].get_ylabel()
    with pytest.raises(ModelError, match=r"the rate of 'reach' is not known; give .*, or what to draw over it"):
        run.plot.phase(reach)


def test_functions_in_tables_and_extremes(run, tmp_path):
    run.export(tmp_path / "run.csv", "A", reach, ("reach [mm]", lambda s: 1e3 * reach(s)))
    table = np.genfromtxt(tmp_path / "run.csv", delimiter=",", skip_header=1)
    assert (tmp_path / "run.csv").read_text().startswith("time,A,reach,reach [mm]\n")
    np.testing.assert_array_equal(table[:, 2], reach(run))
    assert da.largest(run, ("reach [m]", reach)) == da.largest(run, reach)
    np.testing.assert_array_equal(run.signal(reach), reach(run))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda s: s.position("rod"), r"signal 's\.position\(\"rod\"\)': the output has the shape \(\d+, 3\); give one value"),
        (lambda s: 1.0, r"signal '1\.0': the output has the shape \(\); give one value for each of the \d+ times"),
        (lambda s: "much", "signal '\"much\"': its function gave 'much'; give one number for each time"),
        (("reach [m]", "slider.x"), r"signal \('reach \[m\]', 'slider.x'\): give a name, a function of the solution, or both"),
        ((), r"signal \(\): give a name, a function"),
    ],
)
def test_what_is_no_signal_is_told(run, output, message):
    with pytest.raises(ModelError, match=message):
        run.plot.time(output)


def test_a_function_is_called_by_its_name_or_by_what_it_computes():
    long = lambda s: s.signal("a") + s.signal("b") + s.signal("c") + s.signal("d") + s.signal("e") * 1.23456789  # noqa: E731
    assert called(reach) == "reach" and called(np.sin) == "sin"
    assert called(lambda run: 2 * (run.signal("ä.x") - 1)) == "2 * (ä.x - 1)"
    assert (
        called(
            lambda s: np.hypot(
                s.signal("x"),
                s.signal("y"),
            )
        )
        == "np.hypot( x, y, )"
    )
    assert called(long) == "a + b + c + d + e * 1.23456789"
    assert called(eval("lambda s: s.t")) == "function"


@pytest.mark.parametrize("ask", [da.largest, da.smallest, da.integral])
def test_outputs_that_are_not_finite_are_told(ask):
    """They ended in raw errors of splines."""
    model = da.Model()
    model.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    run = da.simulate(model, 1.0, save_at=np.linspace(0.0, 1.0, 21))
    with pytest.raises(da.ModelError, match=r"^travel: the output is not finite at t = 0\.6 s; give one that is"):
        ask(run, ("travel [m]", lambda s: np.where(s.t > 0.59, np.nan, s.t)))

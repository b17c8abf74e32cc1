"""compare: its figures are those of single runs; what cannot run is listed; table, figure and page say the same."""

import contextlib
import json
import re
import warnings
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.comparison.compare import SAMPLES
from dalembert.comparison.table import NO_MEANING
from dalembert.errors import ModelError, SimulationError
from dalembert.formulations import FORMULATIONS
from dalembert.integrators import INTEGRATORS


@pytest.fixture(scope="module")
def crank():
    return da.compare(gallery.build("slider_crank"), 1.0, repeats=1, progress=False)


def run_of(comparison, formulation, integrator, value):
    return next(m for m in comparison.of(formulation, integrator) if m.value == value)


def distance(solution, reference, size):
    """The error as the documentation defines it, written down again."""
    last = len(solution.t) - 1
    worst = 0.0
    for k in np.unique(np.linspace(1, last, SAMPLES).round().astype(int)):
        exact = reference(float(solution.t[k]))
        for body in solution.mechanism.body_names:
            r = np.linalg.norm(solution.position(body)[k] - exact.position(body)) / size
            chord = np.linalg.norm(solution.rotation(body)[k] - exact.rotation(body)) / np.sqrt(8)  # sin of half the angle
            worst = max(worst, r, 2 * np.arcsin(chord))
    return worst


def test_every_formulation_and_integrator_is_there(crank):
    listed = {m.formulation for m in crank.measurements} | {e.formulation for e in crank.excluded}
    assert listed == set(FORMULATIONS)
    assert {m.integrator for m in crank.measurements} <= set(INTEGRATORS)
    assert {"jet", "moving-frame"} <= {m.formulation for m in crank.measurements}
    for m in crank.measurements:
        assert m.problem or m.time > 0


@pytest.mark.parametrize("name, way", [("jet", da.Jet()), ("moving-frame", da.MovingFrame())])
def test_figures_are_those_of_single_runs(crank, name, way):
    model = gallery.build("slider_crank")
    tight = da.Jet(tolerance=1e-13, velocity_tolerance=1e-13)
    reference = da.simulate(model, 1.0, formulation=tight, integrator=da.DOP853(rtol=1e-13, atol=1e-13))
    methods = {"dop853": (1e-6, da.DOP853(rtol=1e-6, atol=1e-6)), "rk4": (crank.settings["steps"][1], None)}
    for integrator, (value, method) in methods.items():
        method = method or da.RungeKutta4(step=value)
        single = da.simulate(model, 1.0, formulation=way, integrator=method)
        m = run_of(crank, name, integrator, value)
        assert (m.steps, m.rejected) == (single.statistics.accepted, single.statistics.rejected)
        assert m.rate_evaluations == single.statistics.rate_evaluations
        assert m.position_drift == single.drift.position.max()
        assert m.energy_error == pytest.approx(single.report()["energy balance"].data, rel=1e-12)
        assert m.error == pytest.approx(distance(single, reference, crank.reference.size), rel=1e-6)
        assert m.resolved


def test_reference_is_checked_and_tight(crank):
    assert crank.reference.run.startswith("jet, DOP853")
    assert crank.reference.check.startswith("moving-frame, DOP853")
    assert crank.reference.accuracy < 1e-9


def test_tighter_is_more_exact(crank):
    for formulation in ("jet", "moving-frame"):
        for integrator in ("dormand-prince", "dop853", "gauss-legendre", "rk4"):
            errors = [m.error for m in crank.of(formulation, integrator)]
            assert errors == sorted(errors, reverse=True), (formulation, integrator, errors)


def test_order_shows_in_the_ladder(crank):
    """Halving twice divides the error of midpoint and rk4 by 4^2 and 4^4, about."""
    for integrator, order in (("midpoint", 2), ("rk4", 4)):
        coarse, fine = crank.of("jet", integrator)[1:3]
        observed = np.log(coarse.error / fine.error) / np.log(coarse.value / fine.value)
        assert abs(observed - order) < 0.6, (integrator, observed)


def test_table_data_and_page_agree(crank, tmp_path):
    text = str(crank)
    assert "comparison of 'spatial slider-crank, rod A', t = 0 to 1 s" in text
    data = json.loads(json.dumps(crank.to_dict(), allow_nan=False))
    assert len(data["measurements"]) == len(crank.measurements) == len(crank.rows())
    for name in ("c.png", "c.html", "c.json"):
        crank.save(tmp_path / name)
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "c.json").read_text()) == data
    page = (tmp_path / "c.html").read_text()
    assert json.loads(re.search(r'id="comparison">(.*?)</script>', page, re.DOTALL)[1].replace("<\\/", "</")) == data
    assert page.count("<table>") == page.count('<div class="scroll"><table>') == 3, "wide tables do not widen the page"
    assert "<svg" in page and "src=" not in page and "@import" not in page
    for m in crank.measurements:
        if not m.problem:
            assert f"{1e3 * m.time:.3g} ms" in page


def test_figure_tells_lines_apart_without_colour(crank):
    figure = crank.plot()
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title("left") for ax in shown] == [
        "the best of all",
        *dict.fromkeys(m.formulation for m in crank.measurements),
    ]
    legend = [text.get_text().strip() for text in figure.legends[0].get_texts()]
    drawn = {m.formulation for m in crank.measurements} | {m.integrator for m in crank.measurements}
    assert set(legend) - {"formulation", "integrator"} == drawn
    curves = {}
    for ax in shown[1:]:
        for line in ax.get_lines():
            formulation, _, integrator = line.get_label().partition(", ")
            if integrator and formulation == ax.get_title("left"):
                curves.setdefault(formulation, set()).add((line.get_color(), str(line._dash_pattern)))
            elif integrator:
                assert line.get_color() == "#c9ccd1"
    assert all(len(styles) == 1 for styles in curves.values())
    assert len(set.union(*curves.values())) == len(curves)


def test_errors_below_the_reference_are_marked():
    result = da.compare(
        gallery.build("single_pendulum"), 0.5, formulations=["jet"], integrators=["dop853"], tolerances=[1e-6, 1e-14], repeats=1
    )
    loose, tight = result.measurements
    assert loose.resolved and not tight.resolved
    assert tight.cells()[3].startswith("(")


def test_what_cannot_run_is_listed():
    """A planar mechanism in planar coordinates: moving-frame has no such coordinates."""
    model = gallery.build("planar_quadrangle")
    result = da.compare(model, 0.3, coordinates="planar", integrators=["dop853"], tolerances=[1e-6], repeats=1, progress=False)
    ran = {m.formulation for m in result.measurements}
    assert "jet" in ran
    assert ran | {e.formulation for e in result.excluded} == set(FORMULATIONS)
    text, _, left_out = " ".join(str(result).split()).partition("left out, for they have no meaning: ")
    for item in result.excluded:
        assert item.reason
        assert f"{item.formulation} with {item.integrator}" in left_out if NO_MEANING in item.reason else item.reason in text
    assert any(NO_MEANING in item.reason for item in result.excluded)


def test_runs_that_break_down_are_listed():
    model = gallery.build("slider_crank")
    options = {"formulations": ["moving-frame"], "integrators": ["euler"], "steps": [0.011, 0.001]}
    result = da.compare(model, 1.0, **options, repeats=1, progress=False)
    broken = [m for m in result.measurements if m.problem]
    assert [m.value for m in broken] == [0.011]
    problem = broken[0].problem  # which of the two comes first is left to rounding: the run has gone wild
    assert re.match(r"(the constraints could not be restored|accelerations are not finite .*) at t = 0\.[78]", problem)
    assert f"moving-frame, euler, h 0.011 s broke down: {problem[:30]}" in str(result)


def test_warnings_of_coarse_steps_are_not_told_among_the_runs(recwarn):
    """Steps so long that a run jumps over singular configurations; its error, or that it broke down, is in the table."""
    model = da.Model.from_yaml(files("dalembert.model.file") / "starter.yaml")

    def breaks_down(step):
        with pytest.warns() as told, contextlib.suppress(SimulationError):
            warnings.warn("one at least", stacklevel=1)
            return da.simulate(model, 1.0, formulation=da.MovingFrame(), integrator=da.Euler(step=step)) is None
        return any("singular configuration" in str(warning.message) for warning in told)

    step = next(filter(breaks_down, (0.006, 0.008, 0.009, 0.01, 0.015)))  # which of them does is left to rounding
    recwarn.clear()
    comparison = da.compare(model, 1.0, formulations=["moving-frame"], integrators=["euler"], steps=[step], repeats=1)
    assert [str(warning.message) for warning in recwarn] == []
    assert any("broke down" in note for note in comparison.notes())


def test_options_objects_and_labels():
    result = da.compare(
        gallery.build("pendulum_3d"), 0.2, formulations=[da.Jet(projection="orthogonal"), "jet"],
        integrators=[da.GaussLegendre(2), "gauss-legendre"], tolerances=[1e-6], repeats=1, progress=False,
    )  # fmt: skip
    assert result.pairs == (
        ("jet (projection=orthogonal)", "gauss-legendre (stages=2)"),
        ("jet (projection=orthogonal)", "gauss-legendre"),
        ("jet", "gauss-legendre (stages=2)"),
        ("jet", "gauss-legendre"),
    )


def test_budget_ends_it():
    result = da.compare(gallery.build("pendulum_3d"), 0.2, integrators=["dop853"], budget=1e-6, progress=False)
    assert {m.problem for m in result.measurements} == {"not run: the time budget was used up"}
    count = len(result.measurements)
    assert f"{count} of {count} runs were not made" in str(result)


def test_interruption_keeps_what_was_measured(monkeypatch):
    import dalembert.comparison.compare as module

    simulate, count = module.simulate, [0]

    def broken_off(mechanism, t_end, **options):
        count[0] += t_end == 0.2
        if count[0] > 7:  # three for the reference, three of the first job, which is short, one of the second
            raise KeyboardInterrupt
        return simulate(mechanism, t_end, **options)

    monkeypatch.setattr(module, "simulate", broken_off)
    result = module.compare(gallery.build("pendulum_3d"), 0.2, formulations=["jet"], integrators=["dop853"], progress=False)
    assert result.interrupted
    assert [bool(m.problem) for m in result.measurements] == [False, False, True, True]
    assert "interrupted" in str(result)


@pytest.mark.parametrize(
    "options, words",
    [({"formulations": ["jat"]}, "no formulation 'jat'; did you mean 'jet'"), ({"integrators": [3]}, "3 is no integrator"),
     ({"tolerances": [0.0]}, "tolerances is 0"), ({"steps": [-1.0]}, "steps is -1"),
     ({"formulations": []}, "no formulation given")],
)  # fmt: skip
def test_bad_options(options, words):
    with pytest.raises(ModelError, match=words):
        da.compare(gallery.build("pendulum_3d"), 0.2, **options)


def test_a_model_that_nothing_runs():
    model = da.Model()
    model.add_point_mass("bob", mass=1.0)
    model.add_force("wrong", "bob", lambda t: (float("nan"), 0.0, 0.0))
    with pytest.raises(SimulationError, match="no formulation can run this model"):
        da.compare(model, 0.1, progress=False)


def test_a_model_in_a_plane_is_compared_there():
    model = da.Model(plane="xy")
    model.add_link("rod", (0, 0), (1, 0), mass=1)
    model.add_revolute("A", "ground", "rod", point=(0, 0))
    made = da.compare(model, 0.02, formulations=["jet"], integrators=["dop853"], tolerances=(1e-4,), repeats=1)
    assert made.settings["coordinates"] == "planar" and not made.excluded


def test_panels_fill_their_lines(crank):
    """No line holds a single one."""
    for count in (1, 3, 4, 6):
        names = list(FORMULATIONS)[:count]
        few = [replace(crank.measurements[0], formulation=name) for name in names]
        figure = replace(crank, measurements=tuple(few)).plot()
        heights = [round(ax.get_position().y0, 3) for ax in figure.axes if ax.get_visible()]
        assert len(heights) == len(names) + 1 and min(map(heights.count, heights)) > 1

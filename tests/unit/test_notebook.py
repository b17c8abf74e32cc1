"""What results of a notebook's cell show: short, complete, and with every name escaped."""

import re

import numpy as np
import pytest

import dalembert as da
from dalembert.comparison.table import Comparison, Measurement, Reference
from dalembert.results.html_parts import badge, small_curves, table

HOSTILE = "<script>alert(1)</script>"


def pendulum(name=HOSTILE, z=-1.0):
    model = da.Model(gravity=(0, 0, -9.81), name=name)
    model.add_body(f"bob {HOSTILE}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.1, z))
    model.add_revolute(f"hinge {HOSTILE}", model.ground, f"bob {HOSTILE}", point=(0, 0, 0), axis=(1, 0, 0))
    return model


def clean(html):
    """Names are text: no tag of theirs is left."""
    assert "<script" not in html and "&lt;script&gt;" in html
    return html


@pytest.mark.nojit
def test_model_shows_a_picture_its_joints_and_degrees_of_freedom():
    html = clean(pendulum()._repr_html_())
    assert "1 degree of freedom" in html and "data:image/png;base64," in html and "revolute" in html and len(html) < 60_000
    assert "no bodies yet" in da.Model()._repr_html_()


@pytest.mark.nojit
def test_model_that_cannot_be_assembled_says_why():
    model = pendulum()
    model.add_distance("rod", model.ground, f"bob {HOSTILE}", points=((0, 0, 0), (0, 0, 0)), length=9.0)
    html = clean(model._repr_html_())
    assert "cannot be assembled" in html and "rod" in html


@pytest.mark.nojit
def test_solution_shows_its_verdict_and_small_curves():
    html = clean(da.simulate(pendulum(), 0.05)._repr_html_())
    assert ">trusted<" in html and html.count("<svg") == 2 and "trust report" in html and len(html) < 40_000


@pytest.mark.nojit
def test_what_holds_arrays_shows_itself_in_short():
    """No dump of a dataclass, nor an address, where a cell ends on what a verb returns."""
    model = pendulum("swing")
    solution = da.simulate(model, 0.05, save_at=np.linspace(0, 0.05, 40))
    assert repr(solution(0.02)) == "<State of 'swing' at t = 0.02 s>"
    assert repr(model.assemble()) == str(model.assemble())
    name = model.joints[0].name
    low, high = solution.reaction(name).force.min(), solution.reaction(name).force.max()
    assert repr(solution.reaction(name)).startswith(f"<Reaction: force (40, 3) from {low:.6g} to {high:.6g}; torque (40, 3)")
    assert repr(solution(0.02).energy).startswith("<Energy: kinetic ") and "external_work 0>" in repr(solution(0.02).energy)
    shown = [repr(item) for item in (solution.energy, solution.drift, solution.momentum, solution(0.02).reaction(name))]
    assert all(len(text) < 250 and "array" not in text and "dataclass" not in text for text in shown)


@pytest.mark.nojit
def test_equilibrium_and_linear_model():
    rest = da.equilibrium(pendulum())
    html = clean(rest._repr_html_())
    assert ">stable<" in html and "data:image/png" in html
    assert "frequency [Hz]" in clean(rest.linear._repr_html_())


def test_ensemble_shows_how_runs_ended():
    runs = da.simulate_many(pendulum(), 0.01, initial_states=np.tile(da.compile(pendulum()).x_0, (3, 1)))
    assert "3 complete" in clean(runs._repr_html_())


def test_sweep_shows_between_what_its_numbers_lie(tmp_path):
    def rod(mass):
        model = pendulum()
        model.add_point_mass("weight", mass=mass, position=(0, 0, 3))
        return model

    runs = da.simulate_many(rod, 0.01, parameters={"mass": [1.0, 2.5]}, outputs=["weight.z"], out=tmp_path / "sweep.zarr")
    cells = re.findall(r">([^<>]+)</td>", clean(runs._repr_html_()))
    at = cells.index("mass")
    assert cells[at : at + 3] == ["mass", "1", "2.5"] and "energy_error" in cells and "weight.z" not in cells


def test_warnings_of_a_run_name_the_line_of_the_program_that_asked_for_it():
    states = np.tile(da.compile(pendulum()).x_0, (2, 1))
    states[:, 0] += 0.01
    with pytest.warns(RuntimeWarning, match="2 initial states") as met:
        da.simulate_many(pendulum(), 0.01, initial_states=states)
    assert met[0].filename == __file__


@pytest.mark.nojit
def test_verbs_return_what_a_cell_shows_in_one_line():
    model = pendulum("p")
    body = model.bodies[0]
    force = model.add_force("wind", body, (0, 0, 1))
    marker = model.add_marker("tip", body, point=(0, 0, 1))
    driver = model.add_driver("motor", model.joints[0], 1.0)
    for item in (body, model.joints[0], force, marker, driver, model.ground):
        assert len(repr(item)) < 140 and "array" not in repr(item)
    assert repr(force) == "<force 'wind'>" and repr(model.ground) == "<ground>"


@pytest.mark.nojit
def test_parts_escape_and_bound_what_they_show():
    assert badge("<a>", "#123456").count("<") == 2 and "12 more" in table(("a",), [("<b>",)] * 36)
    t = np.linspace(0, 1, 5000)
    svg = small_curves("<i>", t, {"<u>": np.sin(t)}, "m")
    assert len(svg) < 5000 and "<i>" not in svg and "<u>" not in svg
    assert small_curves("x", t, {"y": np.full(5000, np.nan)}) == "" and small_curves("x", t[:0], {"y": t[:0]}) == ""


def run(formulation, error, time, resolved=True, **options):
    return Measurement(formulation, "rk4", "h", time, error=error, time=time, resolved=resolved, **options)


def comparison(*measurements):
    reference = Reference("tight", "tighter", 1e-8)
    return Comparison(HOSTILE, 1.0, reference, measurements, (), {"repeats": 1}, {"dalembert": "0"})


@pytest.mark.nojit
def test_fastest_setting_in_one_sentence():
    made = comparison(
        run("a", 1e-2, 1.0), run("a", 1e-4, 3.0), run("b", 1e-3, 4.0), run("b", 1e-6, 5.0),
        run("c", 1e-9, 6.0, resolved=False), run("d", 1e-10, 7.0, resolved=False), run("e", 0.0, 0.5, problem="broke"),
    )  # fmt: skip
    assert [m.time for m in made.pareto] == [1.0, 3.0, 5.0, 6.0]  # errors below the reference's are alike
    assert made.fastest(1e-3).time == 3.0 and made.fastest(1e-11) is None
    assert made.advice(1e-3) == "an error of 0.001 is reached fastest by a with rk4, h 3 s: 1.0e-04 in 3 s"
    assert made.advice(2e-9).endswith("in 6 s, as far as the reference (1.0e-08) can tell")
    assert made.advice(1e-11).startswith("no run reaches an error of 1e-11; d with rk4, h 7 s comes nearest, with 1.0e-10")
    assert clean(made._repr_html_()).count(">*<") == 4
    with pytest.raises(da.ModelError, match="error"):
        made.fastest(0.0)


@pytest.mark.nojit
def test_front_and_panels_are_drawn():
    figure = comparison(run("a", 1e-2, 1.0), run("a", 1e-4, 3.0), run("b", 1e-6, 5.0)).plot()
    assert [ax.get_title("left") for ax in figure.axes if ax.get_visible()] == ["the best of all", "a", "b"]
    front = next(line for line in figure.axes[0].get_lines() if line.get_drawstyle() == "steps-post")
    assert list(front.get_xdata()) == [1.0, 3.0, 5.0]


def star(n, driven=()):
    """Bars on hinges at the ground, in a plane."""
    model = da.Model(plane="xz", name="star")
    for k in range(n):
        model.add_link(f"bar {k}", (k, 0), (k, -0.5), mass=1.0)
        model.add_revolute(f"A{k}", "ground", f"bar {k}", point=(k, 0))
        if k in driven:
            model.add_driver(f"motor {k}", f"A{k}", da.Harmonic(0.1, 3.0))
    return model


def test_curves_are_smooth_those_of_driven_joints_first():
    """They were straight lines between steps, of the first four joints, in "rad or m"."""
    run = da.simulate(star(6, driven=(5,)), 2.0)
    html = run._repr_html_()
    assert re.findall(r"<tspan fill[^>]*>([^<]*)", html)[:4] == ["A5", "A0", "A1", "A2"] and "and 2 more" in html
    assert " rad</text>" in html and "rad or m" not in html
    points = re.findall(r'<polyline points="([^"]*)"', html)
    assert len(points[0].split()) > 2 * len(run.t)
    assert "more</div>" not in da.simulate(star(2), 0.1)._repr_html_()


@pytest.mark.nojit
def test_rows_are_those_in_the_plane_of_a_plane_model():
    """As `check` counts them; a hinge has two there, not five."""
    cells = re.findall(r">([^<>]+)</td>", star(1)._repr_html_())
    assert cells[cells.index("revolute") + 2] == "2"
    cells = re.findall(r">([^<>]+)</td>", pendulum("swing")._repr_html_())
    assert cells[cells.index("revolute") + 2] == "5"

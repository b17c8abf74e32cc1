"""Names that are guessed, and what is answered."""

import re

import numpy as np
import pytest

import dalembert as da


@pytest.fixture(scope="module")
def run():
    model = da.Model(plane="xz")
    model.add_link("bar", (0, 0), (1, 0), mass=1.0)
    model.add_point_mass("tip", mass=1.0, position=(1, 0))
    model.add_revolute("A", "ground", "bar", point=(0, 0))
    model.add_spherical("T", "bar", "tip", point=(1, 0))
    model.add_driver("left", "A", da.Harmonic(0.3, 2.0))
    return da.simulate(model, 0.05)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda run: da.inverse_kinematics, "add_point_driver moves a point, da.kinematics(model, t) finds the joints"),
        (lambda run: da.modes, "da.linearise(model) has .modes, .frequencies"),
        (lambda run: da.frequencies, "da.linearise(model) has .modes, .frequencies"),
        (lambda run: da.animate, 'solution.view() shows a run, .export_animation("run.gif") writes a film'),
        (lambda run: da.Sine, "Harmonic(0.5, omega) is 0.5 sin(omega t)"),
        (lambda run: da.Harmonic(0.3, frequency=2), "Harmonic has no argument 'frequency'; give omega, 2 pi times the freq"),
        (lambda run: run.model.modes, "da.linearise(model) has them"),
        (lambda run: run.model.view(), "da.simulate(model, t_end) is what is seen: .view(), .plot"),
        (lambda run: run.model.plot, "da.simulate(model, t_end) is what is seen: .view(), .plot"),
        (lambda run: run.model.show(), "da.simulate(model, t_end) is what is seen: .view(), .plot"),
        (lambda run: run.model.add_mass, "did you mean 'add_point_mass'?"),
        (lambda run: da.simulate(run.model, 1.0, rates={"A": 0.1}), "simulate has no argument 'rates'; joints have rates: mod"),
        (lambda run: da.simulate(run.model, 1.0, velocities={}), 'model.replace("A", coordinate=rest.coordinate("A"), rate='),
        (lambda run: run.model.add_spring_damper("s", "A", stiffness=2.0), "add_spring_damper got no second; give two bodies;"),
        (
            lambda run: run.model.add_spring_damper("s", "A", stiffness=2.0),
            "at a joint it is add_joint_spring_damper(name, joi",
        ),
        (lambda run: run.model.add_driver("s"), "add_driver got no joint, motion; it takes name, joint, motion"),
        (
            lambda run: run.model.add_revolute("s", "bar", "tip", point=(1, 0)),
            "use a spherical joint (add_spherical) for a mass at a pin, a distance or",
        ),
        (lambda run: run.export("x.gif"), "x.gif: a .gif is no table; solution.export_animation('x.gif') writes it"),
        (lambda run: run.export("x.html"), "x.html: a .html is no table; solution.export_html('x.html') writes it"),
        (lambda run: run.export("x.png"), "x.png: a .png is no table; solution.export_picture('x.png') writes it"),
        (lambda run: run.effort("A"), "ask for effort('left'), which acts along it, or reaction('A')"),
        (lambda run: run.effort("T"), "'T' is a joint, no force element; ask for reaction('T')"),
        (
            lambda run: da.simulate_many(run.model, 0.01, initial_states=np.array([[*run.q[0], *run.u[0]]] * 2)).plot,
            "ensemble[k] is a Solution, with .plot; simulate_many(..., out=...) gives a Sweep, with .plot",
        ),
    ],
)
def test_what_was_meant(run, ask, answer):
    with pytest.raises((AttributeError, TypeError, da.ModelError, da.StoreError), match=re.escape(answer)):
        ask(run)

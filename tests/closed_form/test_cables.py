"""Cables that do not stretch: Atwood's machine and a block and tackle against their closed forms; slack is told."""

import re

import numpy as np
import pytest

import dalembert as da

G = 9.81


def atwood(m_1=1.0, m_2=3.0):
    model = da.Model()
    model.add_point_mass("a", mass=m_1, position=(0, 0, -1))
    model.add_point_mass("b", mass=m_2, position=(1, 0, -2))
    model.add_cable("rope", [("a", (0, 0, 0)), ("ground", (0, 0, 0)), ("ground", (1, 0, 0)), ("b", (0, 0, 0))])
    return model


WAYS = [
    (da.Jet(), None),
    (da.MovingFrame(), None),
    (da.Minimal(), None),
    (da.Impulse(), da.RungeKutta4(step=0.01)),
    (da.Variational(), da.FixedStep(step=0.01)),
]


@pytest.mark.parametrize(("way", "integrator"), WAYS, ids=[type(w).__name__ for w, _ in WAYS])
def test_atwood(way, integrator):
    run = da.simulate(atwood(), t_end=0.3, formulation=way, **({} if integrator is None else {"integrator": integrator}))
    a, tension = (3.0 - 1.0) / 4.0 * G, 2 * 1.0 * 3.0 / 4.0 * G
    assert (
        np.abs(run.acceleration("a") - [0, 0, a]).max() <= 1e-10 and np.abs(run.acceleration("b") - [0, 0, -a]).max() <= 1e-10
    )
    assert np.abs(run.position("a")[:, 2] + 1.0 - 0.5 * a * run.t**2).max() <= 1e-10
    effort = run.effort("rope")
    assert np.abs(effort.value - tension).max() <= 1e-10
    assert np.abs(effort.coordinate - 4.0).max() <= 1e-10 and np.abs(effort.power).max() <= 1e-9
    np.testing.assert_allclose(run.reaction("rope", "b").force, np.tile([0, 0, tension], (len(run.t), 1)), rtol=0, atol=1e-10)
    assert run.report().passed


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_block_and_tackle(coordinates):
    """The load hangs on two parts of the rope that runs through its block: 2 z_block + z_weight is constant."""
    M, m = 5.0, 2.0
    model = da.Model()
    model.add_body("block", mass=M, inertia=(0.01,) * 3, position=(0.5, 0, -2))
    model.add_body("weight", mass=m, inertia=(0.02,) * 3, position=(2, 0, -1))
    for name, x, z in (("block", 0.5, -2), ("weight", 2, -1)):
        model.add_prismatic(f"guide of {name}", model.ground, name, point=(x, 0, z), axis=(0, 0, 1))
    points = [("ground", (0.5, 0, 0)), ("block", (0, 0, 0)), ("ground", (0.5, 0, 0)), ("ground", (2, 0, 0))]
    model.add_cable("rope", [*points, ("weight", (0, 0, 0))])
    if coordinates == "planar":  # a body that turns shows the plane
        model.add_body("wheel", mass=1.0, inertia=(0.01,) * 3, position=(3, 0, 0))
        model.add_revolute("hinge", model.ground, "wheel", point=(3, 0, 0), axis=(0, 1, 0))
    run = da.simulate(model, t_end=0.3, coordinates=coordinates)
    a = (2 * m - M) * G / (M + 4 * m)
    assert np.abs(run.acceleration("block")[:, 2] - a).max() <= 1e-10
    assert np.abs(run.acceleration("weight")[:, 2] + 2 * a).max() <= 1e-10
    assert np.abs(run.effort("rope").value - m * (G - 2 * a)).max() <= 1e-10
    assert run.report().passed


def test_a_part_along_one_body_has_a_constant_length():
    model = da.Model()
    model.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -1), angular_velocity=(0, 1, 0))
    model.add_cable("rope", [("ground", (0, 0, 0)), ("bar", (-0.2, 0, 0)), ("bar", (0.2, 0, 0)), ("ground", (0.5, 0, 0))])
    run = da.simulate(model, t_end=0.2)
    assert np.ptp(run.effort("rope").coordinate) <= 1e-11 and run.report().passed


def test_slack_is_told():
    """Thrown up faster than the other falls: both weights rise, and the rope would have to push."""
    model = atwood()
    model.add_force("up", "b", (0, 0, 60.0))
    run = da.simulate(model, t_end=0.1)
    line = run.report()["cable rope"]
    assert line.verdict == "WARN" and "cable 'rope' would go slack at t = 0 s: its tension becomes" in line.value
    assert run.effort("rope").value.max() < 0


@pytest.mark.parametrize(
    ("points", "options", "text"),
    [
        ([("a", (0, 0, 0))], {}, r"cable 'x': points are \[\('a', \(0, 0, 0\)\)\]; give two or more \(body, point\)"),
        ([("a", (0, 0, 0)), ("c", (0, 0, 0))], {}, "cable 'x': there is no body 'c'"),
        ([("a", (0, 0, 0)), ("a", (0, 0, 0))], {}, "all its points are on 'a'; give points of two or more bodies"),
        ([("a", (0, 0, 0)), ("b", (0, 0, 1))], {}, r"points\[1\] is \[0.0, 0.0, 1.0\] on point mass 'b'; give \(0, 0, 0\)"),
        ([("a", (0, 0, 0)), ("ground", (0, 0, -1)), ("b", (0, 0, 0))], {}, "coincide in the model pose"),
        ([("a", (0, 0, 0)), ("b", (0, 0, 0))], {"length": 0.0}, "length is 0; give a number greater than 0"),
        ([("a", (0, 0, 0)), "b"], {}, r"points\[1\] is 'b'; give \(body, point\)"),
    ],
)
def test_what_a_cable_must_be(points, options, text):
    with pytest.raises(da.ModelError, match=text):
        atwood().add_cable("x", points, **options)


def bungee(damping=0.0):
    """A mass falls on a cable through an eye and an arm: slack for the first metre, then a spring."""
    model = da.Model()
    model.add_point_mass("m", mass=2.0, position=(0, 0, -0.5))
    points = [("ground", (1, 0, 0)), ("ground", (0, 0, 0)), ("m", (0, 0, 0))]
    model.add_cable("rope", points, length=2.5, stiffness=400.0, damping=damping)
    return model


def test_a_cable_that_stretches():
    run = da.simulate(bungee(), t_end=1.2, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    t_1, w = np.sqrt(2.0 * 1.0 / G), np.sqrt(200.0)
    tau = run.t - t_1
    down = 1.0 + G / w**2 * (1.0 - np.cos(w * tau)) + G * t_1 / w * np.sin(w * tau)
    back = t_1 + 2.0 * (np.pi - np.arctan2(G * t_1 * w, G)) / w  # slack again
    fall = np.where(run.t < t_1, 0.5 * G * run.t**2, down)
    held = run.t < back
    assert np.abs(-0.5 - run.position("m")[:, 2] - fall)[held].max() <= 1e-8
    effort = run.effort("rope")
    assert np.abs(effort.value - np.where(run.t < t_1, 0.0, 400.0 * (down - 1.0)))[held].max() <= 1e-5
    assert np.abs(effort.energy - 200.0 * np.maximum(effort.coordinate - 2.5, 0.0) ** 2).max() <= 1e-9
    np.testing.assert_allclose(effort.on["m"].force[:, 2], effort.value, rtol=0, atol=1e-9)
    np.testing.assert_allclose(effort.on["ground"].force, -effort.on["m"].force, rtol=0, atol=1e-9)
    report = run.report()
    assert report.passed and "slack at" in str(report)
    lost = da.simulate(bungee(10.0), t_end=1.2)
    assert lost.energy.external_work[-1] < -5.0 and lost.report().passed and lost.effort("rope").value.min() == 0.0
    slack = lost.effort("rope").coordinate < 2.5
    assert slack.any() and not lost.effort("rope").value[slack].any()  # its damper does not pull either


def test_a_stretching_cable_through_bodies_has_no_resultant_and_reads_back(tmp_path):
    model = da.Model()
    for k, at in enumerate(((0.0, 0, 0), (1.0, 0.2, 0), (2.0, 0, 0.3))):
        model.add_body(f"b{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.25), position=at, angular_velocity=(0.3, k, -1.0))
    points = [("b0", (0.1, 0, 0)), ("b1", (0, 0.1, 0)), ("b1", (0, 0, 0.1)), ("b2", (0, 0.1, 0.1)), ("b0", (0, -0.1, 0))]
    model.add_cable("rope", points, length=3.0, stiffness=50.0, damping=2.0)
    model.to_yaml(tmp_path / "m.yaml")
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash
    run = da.simulate(model, t_end=0.05)
    effort = run.effort("rope")
    force = sum(side.force for side in effort.on.values())
    moment = sum(side.torque + np.cross(side.point, side.force) for side in effort.on.values())
    assert effort.value.min() > 1.0 and np.abs(force).max() <= 1e-12 and np.abs(moment).max() <= 1e-12
    np.testing.assert_allclose(effort.power, -effort.value * effort.rate, rtol=0, atol=1e-10)
    made = model.replace("rope", stiffness=60.0)
    assert made.stiffness == 60.0 and made.length == 3.0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"damping": 1.0}, "cable 'x': damping is 1.0 without stiffness; give stiffness= too"),
        ({"stiffness": 0.0}, "cable 'x': stiffness is 0"),
        ({"stiffness": 10.0, "damping": -1.0}, "cable 'x': damping is -1"),
    ],
)
def test_what_a_stretching_cable_must_be(change, text):
    with pytest.raises(da.ModelError, match=text):
        atwood().add_cable("x", [("a", (0, 0, 0)), ("b", (0, 0, 0))], **change)


@pytest.mark.parametrize("stiffness", [None, 5000.0])
def test_a_part_that_shrinks_to_nothing_is_named(stiffness):
    """The lighter mass is pulled straight into its eye: said where the run gets stuck and where it goes through."""
    model = da.Model()
    model.add_point_mass("a", mass=1.0, position=(0, 0, -0.5))
    model.add_point_mass("b", mass=2.0, position=(1, 0, -0.5))
    points = [("a", (0, 0, 0)), ("ground", (0, 0, 0)), ("ground", (1, 0, 0)), ("b", (0, 0, 0))]
    model.add_cable("rope", points, stiffness=stiffness)
    told = r"the part of cable 'rope' between 'a' and 'ground' shrinks to \S+ m, first at t = 0.5"
    try:
        run = da.simulate(model, 1.0)
    except da.SimulationError as problem:  # steps may meet the eye, or go over it
        assert re.search(told, str(problem))
        run = problem.solution
    line = run.report()["cable"]
    assert line.verdict == "WARN" and re.match(told, line.value) and "event" in line.advice
    assert "cable" not in [line.name for line in da.simulate(model, 0.4).report().lines]

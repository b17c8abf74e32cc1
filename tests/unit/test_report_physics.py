"""Lines of the report on what the equations of motion do not show by themselves: light bodies, contacts that pull, functions
that leave the plane or are not conserved; springs without length, bodies without joints."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app


def slider_crank(rod_mass, gravity=(0, 0, -9.81)):
    """A crank of 0.3 m, a rod of 0.8 m, masses 1 kg but for the rod's."""
    model = da.Model(gravity)
    th = 0.6
    A, B = np.zeros(3), 0.3 * np.array([np.cos(th), 0, np.sin(th)])
    C = np.array([B[0] + np.sqrt(0.64 - B[2] ** 2), 0, 0])
    for name, p, q, mass in (("crank", A, B, 1.0), ("rod", B, C, rod_mass)):
        length = np.linalg.norm(q - p)
        d = (q - p) / length
        inertia = mass * length**2 / 12 * np.array([0.01, 1.0, 1.005])
        R = np.column_stack([d, [0, 1, 0], np.cross(d, [0, 1, 0])])
        model.add_body(name, mass=mass, inertia=inertia, position=(p + q) / 2, rotation=R)
    model.add_body("slider", mass=1.0, inertia=(0.01, 0.01, 0.01), position=C)
    model.add_revolute("A", model.ground, "crank", point=A, axis=(0, 1, 0), rate=6.0)
    model.add_revolute("B", "crank", "rod", point=B, axis=(0, 1, 0))
    model.add_spherical("C", "rod", "slider", point=C)
    model.add_prismatic("D", model.ground, "slider", point=C, axis=(1, 0, 0))
    return model


def test_near_massless_link_fails_the_line_of_mass_conditioning():
    """1e-10 kg between bodies of 1 kg: multipliers lose ten digits, which Jet gets back by refinement and Impulse does not."""
    run = {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=1e-3)}
    light = da.simulate(slider_crank(1e-10), 0.1, **run).report()
    assert "mass conditioning" in [line.name for line in light.failures]
    assert "'rod'" in light["mass conditioning"].value
    for mass in (1.0, 1e-3):
        names = [line.name for line in da.simulate(slider_crank(mass), 0.1, **run).report().lines]
        assert "mass conditioning" not in names


def test_near_massless_link_by_jet():
    """Unrefined it was 8e-6 rad off."""
    runs = [
        da.simulate(slider_crank(1e-9), 2.0, formulation=formulation, integrator=da.DOP853(rtol=rtol, atol=rtol))
        for formulation, rtol in ((da.Jet(), 1e-9), (da.Minimal(), 1e-12))
    ]
    assert abs(runs[0].coordinate("A")[-1] - runs[1].coordinate("A")[-1]) < 5e-9
    assert runs[0].report().verdict == "pass"


def test_default_formulation_is_told_with_its_reason():
    assert da.simulate(slider_crank(1e-9), 0.1).report()["chosen"].value.startswith("Jet by default: it runs every model")
    given = da.simulate(slider_crank(1.0), 0.1, formulation=da.Jet()).report()
    assert "chosen" not in [line.name for line in given.lines]


def test_spring_without_slack_length_starts_from_length_zero():
    """Ends that coincide: tension k d has no direction but needs none. x = v/w sin(w t), w = 2 rad/s."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=1.0, velocity=(1, 0, 0))
    model.add_spring_damper("s", model.ground, "p", points=((0, 0, 0), (0, 0, 0)), stiffness=4.0)
    run = da.simulate(model, 2.0)
    assert run.position("p")[-1, 0] == pytest.approx(0.5 * np.sin(4.0), abs=1e-8)
    assert run.report().passed


def test_spring_of_length_zero_is_named():
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=1.0, velocity=(1, 0, 0))
    model.add_spring_damper("bungee", model.ground, "p", points=((0, 0, 0), (0, 0, 0)), stiffness=4.0, length=0.1)
    with pytest.raises(da.ModelError, match=r"spring-damper 'bungee': its ends coincide.*give length=0"):
        da.simulate(model, 1.0)


def test_unconnected_body_is_said(tmp_path):
    """Once: where it falls it is doubted, and where nothing pulls it, noted."""
    path = tmp_path / "m.yaml"
    for gravity in ((0, 0, -9.81), (0, 0, 0)):
        model = slider_crank(1.0, gravity)
        model.add_body("forgotten", mass=1.0, inertia=(1, 1, 1), position=(0, 2, 0))
        said = [line for line in da.simulate(model, 0.1).report().lines if "forgotten" in line.value]
        assert [(line.name, line.verdict) for line in said] == [
            ("unconnected", "note") if gravity[2] == 0 else ("model", "WARN")
        ]
        model.to_yaml(path)
        shown = CliRunner().invoke(app, ["check", str(path)]).output
        assert ("unconnected" in shown, "is not connected" in shown) == (gravity[2] == 0, gravity[2] != 0)
    for model in (slider_crank(1.0), gallery.build("euler_top")):  # which is all free
        assert "unconnected" not in [line.name for line in da.simulate(model, 0.1).report().lines]


def rolling(force=None):
    model = da.Model()
    model.add_body("d", **da.disc(1.0, 0.3, axis="y").body(), position=(0, 0, 0.3), angular_velocity=(0, 3, 0))
    model.add_rolling_disc("roll", "d", radius=0.3, axis=(0, 1, 0))
    if force is not None:
        model.add_force("pull", "d", force)
    return model


def test_contact_that_pulls_is_said():
    """Lifted by 20 t N against a weight of 9.81 N: it would lift off at t = 0.4905 s."""
    report = da.simulate(rolling(lambda t: (0.0, 0.0, 20.0 * t)), 1.0).report()
    line = report["contact roll"]
    assert line.verdict == report.verdict == "WARN"
    at = re.match(r"contact 'roll' would lift off at t = (\S+) s", line.value)
    assert at is not None and float(at[1]) == pytest.approx(0.4905, abs=1e-4)  # between states; the force is linear in t
    assert line.data == pytest.approx(9.81 - 20.0, rel=1e-6)
    assert "contact roll" not in [line.name for line in da.simulate(rolling(), 1.0).report().lines]


def test_rolling_reaction_acts_at_the_contact():
    """Newton-Euler about the centre of mass close with the force at .point; the contact lies on the plane below the disc."""
    run = da.simulate(rolling(), 0.5)
    reaction = run.reaction("roll")
    assert np.allclose(reaction.point, run.position("d") - (0, 0, 0.3), rtol=0, atol=1e-9)
    joint = da.simulate(slider_crank(1.0), 0.1).reaction("A")
    assert np.allclose(joint.point, 0.0, rtol=0, atol=1e-9)
    leaning = da.Model()
    leaning.add_body("d", **da.disc(1.0, 0.3, axis="y").body(), position=(0, 0, 0.3), angular_velocity=(1, 5, 0.3))
    leaning.add_rolling_disc("roll", "d", radius=0.3, axis=(0, 1, 0))
    run = da.simulate(leaning, 0.5)
    reaction, body = run.reaction("roll"), run.mechanism.model.bodies[0]
    assert np.abs(reaction.point[:, 2]).max() < 1e-9
    torque = np.cross(reaction.point - run.position("d"), reaction.force) + reaction.torque
    w_B, alpha = run.angular_velocity("d", "body"), run.evaluated.acceleration[:, 3:6]
    euler = alpha @ body.inertia + np.cross(w_B, w_B @ body.inertia)
    assert np.allclose(np.einsum("tji,tj->ti", run.rotation("d"), torque), euler, rtol=0, atol=1e-8)


def test_invariant_that_is_not_conserved_fails():
    """x kept at 0 while v = 1: projection holds the body, and the rate of x shows it."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=1.0, velocity=(1, 0.5, 0))

    def x(t, q, u):
        return q[0]

    def momentum(t, q, u):
        return u[0] + u[1]

    kept = da.simulate(model, 0.1, formulation=da.Jet(invariants=[x])).report()
    assert "rate of x" in [line.name for line in kept.failures]
    fine = da.simulate(model, 0.1, formulation=da.Jet(invariants=[momentum])).report()
    assert fine["rate of momentum"].verdict == "pass"


def test_invariant_of_a_swinging_body_is_conserved():
    """The angular momentum of a spherical pendulum about the vertical: its terms cancel."""
    model = da.Model()
    model.add_point_mass("p", mass=1.0, position=(1, 0, 0), velocity=(0, 1, 0))
    model.add_distance("rod", model.ground, "p")

    def spin(t, q, u):
        return q[0] * u[1] - q[1] * u[0]

    def wrong(t, q, u):
        return q[0] * u[1] - 0.9 * q[1] * u[0]

    assert da.simulate(model, 1.0, formulation=da.Jet(invariants=[spin])).report().passed
    report = da.simulate(model, 0.2, formulation=da.Jet(invariants=[wrong])).report()
    assert "rate of wrong" in [line.name for line in report.failures]


def side(t, r, v, R, w):
    return np.array([0.0, 2.0, 0.0])


def late_side(t, r, v, R, w):
    return np.array([0.0, 2.0 if t > 0.1 else 0.0, 0.0])


def along(t, r, v, R, w):
    return np.array([1.0, 0.0, 0.5])


def test_functions_that_leave_the_plane():
    """planar_02: as a constant (0, 2, 0) is refused; one that sets in later fails the report."""
    with pytest.raises(da.ModelError, match="'pull' leaves the plane"):
        da.simulate(rolling(side), 0.4, coordinates="planar")
    report = da.simulate(rolling(late_side), 0.4, coordinates="planar").report()
    assert [line.name for line in report.failures] == ["plane"]
    assert da.simulate(rolling(along), 0.2, coordinates="planar").report().passed


def test_planar_reactions_have_what_acts_across_the_plane():
    """A hinge beside the plane of the centre of mass: the weight tilts it. The same as in absolute coordinates."""
    model = da.Model()
    model.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0.2, 0), angular_velocity=(0, 1, 0))
    model.add_revolute("h", model.ground, "b", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring_damper("s", model.ground, "b", points=((1, 0.7, 0), (0, 0, 0)), stiffness=50.0, length=0.2)
    planar, absolute = (da.simulate(model, 0.3, coordinates=kind, save_at=[0.1, 0.3]) for kind in ("planar", "absolute"))
    one, two = planar.reaction("h"), absolute.reaction("h")
    assert np.abs(two.torque[:, [0, 2]]).max() > 0.1
    assert np.abs(two.force[:, 1]).max() > 1.0
    assert np.allclose(one.force, two.force, rtol=0, atol=1e-6)
    assert np.allclose(one.torque, two.torque, rtol=0, atol=1e-6)
    assert one.unique is two.unique is True


def test_planar_reactions_that_redundancy_leaves_open_say_so():
    """A four-bar of hinges: in space, moments across the plane are shared as no rigid model can tell."""
    corners = [np.array(p, float) for p in ((0, 0, 0), (0, 0, 0.15), (0.4, 0, 0.45), (0.4, 0, 0))]
    model = da.Model()
    for name, p, q in (("crank", *corners[:2]), ("coupler", *corners[1:3]), ("rocker", *corners[2:])):
        model.add_body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=(p + q) / 2)
    bodies = ("ground", "crank", "coupler", "rocker", "ground")
    for k, point in enumerate(corners):
        model.add_revolute("ABCD"[k], bodies[k], bodies[k + 1], point=point, axis=(0, 1, 0))
    planar, absolute = (da.simulate(model, 0.1, coordinates=kind, save_at=[0.1]) for kind in ("planar", "absolute"))
    assert planar.reaction("A").unique is absolute.reaction("A").unique is False
    in_plane = [0, 2]
    assert np.allclose(planar.reaction("A").force[:, in_plane], absolute.reaction("A").force[:, in_plane], rtol=0, atol=1e-6)


def test_massless_coordinate_on_a_curve_of_accelerations_is_refused():
    system = da.LagrangianSystem(
        lambda q, v, p: 0.5 * v.x**2 - 0.5 * q.y**2,
        "x y",
        holonomic={"tie": lambda q, p: q.x - q.y},
        initial={"x": 1.0, "y": 1.0},
    )
    with pytest.raises(da.ModelError, match=r"curve 'rk4' follows accelerations.*y.*no inertia"):
        da.simulate(system, 1.0, formulation=da.Variational(curve="rk4"), integrator=da.FixedStep(step=0.01))


def test_rows_that_hold_twice_at_the_start_only_are_told():
    """A crank and a rod in one line, and a guide across them by mistake: what opens is no matter of tolerances."""
    model = da.Model(plane="xz", name="wrong guide")
    A, B, C = (0, 0), (0.05, 0), (0.21, 0)
    model.add_link("crank", A, B, mass=0.2)
    model.add_link("rod", B, C, mass=0.3)
    model.add_body("slider", mass=0.4, inertia=1e-4, position=C)
    for name, first, second, point in (("A", "ground", "crank", A), ("B", "crank", "rod", B), ("C", "rod", "slider", C)):
        model.add_revolute(name, first, second, point=point)
    model.add_prismatic("guide", "ground", "slider", point=C, axis=(0, 1))
    model.add_driver("motor", "A", da.Polynomial((0.0, 31.4)))
    report = da.simulate(model, t_end=0.2).report()
    line = report["position drift"]
    assert line.verdict == "FAIL" and "'C'" in line.advice and "another pose" in line.advice and "rtol" not in line.advice
    assert "singular" in report["redundant rows"].value and "not affected" not in report["redundant rows"].value
    twice = da.simulate(da.gallery.build("four_bar"), t_end=0.1).report()
    assert "the motion is not affected" in twice["redundant rows"].value

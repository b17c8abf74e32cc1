"""Kinematics without integration against closed forms and independent vector loops."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mechanisms import bar, circles, derivatives, five_bar, four_rrr, hinge, moving_circles
from scipy.optimize import brentq

import dalembert as da
from dalembert.model.rotation import quaternion_to_matrix

sys.path.insert(0, str(Path(__file__).parents[2]))
linkages = pytest.importorskip("benchmarks.campaigns.linkages", reason="the sources come without benchmarks")
FAMILY = [getattr(linkages, name)() for name in ("bennett", "bricard", "goldberg", "kempe", "sarrus", "spherical_four_bar")]


A0, D0 = np.zeros(3), np.array([3.2, 0.0, 0.0])
CRANK, COUPLER, ROCKER, START = 1.0, 3.0, 2.5, 0.3


def four_bar(mass=1.0, size=1.0, a=CRANK, b=COUPLER, c=ROCKER, D=D0):
    model = da.Model(gravity=(0, -9.81, 0))
    B = a * np.array([np.cos(START), np.sin(START), 0])
    C = circles(B, b, D, c, 1)
    B, C, D = size * B, size * C, size * D
    links = (("crank", A0, B), ("coupler", B, C), ("rocker", D, C))
    crank, coupler, rocker = (bar(model, *link, mass=mass) for link in links)
    for name, i, j, P in (("A", model.ground, crank, A0), ("B", crank, coupler, B), ("C", coupler, rocker, C)):
        hinge(model, name, i, j, P)
    hinge(model, "D", model.ground, rocker, D)
    return model


def rocker_angle(theta, a=CRANK, b=COUPLER, c=ROCKER, D=D0):
    B = a * np.array([np.cos(theta), np.sin(theta), 0])
    C = circles(B, b, D, c, 1)
    return np.arctan2(C[1], C[0] - D[0])


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_the_size_of_a_mechanism_changes_no_angles(size):
    """Constraints are closed to a share of its size: rates were off by 4e-10 at 1e-6 m."""
    angles = np.linspace(0, 2 * np.pi, 13)
    solution, other = (da.kinematics(four_bar(size=one), sweep={"A": angles}) for one in (size, 1.0))
    np.testing.assert_allclose(solution.coordinate("D"), other.coordinate("D"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.coordinate_rate("D"), other.coordinate_rate("D"), rtol=0, atol=1e-11)


def heavy(model):
    """The same with 1 kg and 0.1 kg m^2 for every body."""
    for body in model.bodies:
        model._add(replace(body, mass=1.0, inertia=0.1 * np.eye(3)))
    return model


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e5])
def test_inertias_change_no_accelerations(size):
    """With J / (m L^2) = 1e11 accelerations were 0 instead of 3 rad/s^2, and the report passed."""
    angles = np.linspace(0, 2, 5)
    both = [da.kinematics(model, sweep={"A": angles}) for model in (heavy(four_bar(size=size)), four_bar())]
    found, expected = (s.evaluated.acceleration.reshape(5, 3, 2, 3) / [[a], [1]] for s, a in zip(both, (size, 1), strict=True))
    solution = both[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    pull = solution.reaction("B", "coupler").force + solution.reaction("C", "coupler").force
    inertial = size * found[:, 1, 0] - [0, -9.81, 0]  # of 1 kg
    np.testing.assert_allclose(pull, inertial, rtol=0, atol=1e-9 * np.abs(inertial).max())
    assert solution.report()["accelerations"].data < 1e-10


def test_a_four_bar_over_a_turn_of_its_crank():
    angles = np.linspace(0, 2 * np.pi, 13)
    solution = da.kinematics(four_bar(), sweep={"A": angles})
    expected = np.unwrap([rocker_angle(START + a) for a in angles]) - rocker_angle(START)
    np.testing.assert_allclose(solution.coordinate("D"), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.coordinate("A"), angles, rtol=0, atol=1e-12)
    rates = np.array([derivatives(rocker_angle, START + a) for a in angles])
    np.testing.assert_allclose(solution.coordinate_rate("D"), rates[:, 0], rtol=0, atol=1e-11)
    alpha = solution.evaluated.acceleration[:, -1]  # of the rocker about z
    np.testing.assert_allclose(alpha, rates[:, 1], rtol=0, atol=1e-10)
    assert solution.report().passed


def test_poses_that_are_closed_need_no_estimate():
    """The headline and the line on the estimate say the same."""
    report = da.kinematics(da.gallery.build("four_bar"), sweep={"A": np.linspace(0.0, 1.0, 5)}).report()
    assert report["error estimate"].verdict == "pass" and "none is needed" in report["error estimate"].value
    assert report.headline == "trusted"


def test_bodies_without_mass_move_the_same(tmp_path):
    """Whatever masses are taken in their place; what would depend on them is refused."""
    heavy, light = (da.kinematics(four_bar(mass), sweep={"A": [0.0, 0.5, 1.0]}) for mass in (1.0, None))
    for output in ("position", "velocity", "acceleration"):
        np.testing.assert_allclose(getattr(light, output)("coupler"), getattr(heavy, output)("coupler"), rtol=0, atol=1e-12)
    light.save(tmp_path / "light.zarr")
    again = da.load(tmp_path / "light.zarr")
    for solution in (light, again):
        for ask in (lambda s: s.reaction("A"), lambda s: s.energy, lambda s: s.momentum, lambda s: s.multiplier("B")):
            with pytest.raises(da.ModelError, match="need masses, and there are bodies without: 'crank', 'coupler', 'rocker'"):
                ask(solution)
    assert "reaction_force" not in light.to_xarray() and "without mass" in str(light.report()) and light.report().passed
    light.export_html(tmp_path / "light.html")


@pytest.mark.nojit
def test_dynamics_needs_masses(tmp_path):
    model = four_bar(mass=None)
    model.to_yaml(tmp_path / "light.yaml")
    assert da.Model.from_yaml(tmp_path / "light.yaml").hash == da.Model.from_dict(model.to_dict()).hash == model.hash
    for ask in (da.compile, da.equilibrium, da.linearise, da.equations, lambda m: da.simulate(m, 1.0), da.Model.assemble):
        with pytest.raises(da.ModelError, match="bodies without mass: 'crank', 'coupler', 'rocker'; give"):
            ask(model)
    assert model.replace("crank", mass=1.0, inertia=(1, 1, 1)).mass == 1.0 and "no mass" in str(model)
    assert model.add_link("more", (0, 0, 0), (1, 0, 0)).mass == 0.0


def test_dead_centres_of_a_rocker_that_is_swept():
    """Crank and coupler in one line: A C = b + a, or b - a."""

    def rocker(AC):
        return np.pi - np.arccos((D0[0] ** 2 + ROCKER**2 - AC**2) / (2 * D0[0] * ROCKER)) - rocker_angle(START)

    for values, AC in ((np.linspace(0, 1, 21), COUPLER - CRANK), (np.linspace(0, -1, 21), COUPLER + CRANK)):
        solution = da.kinematics(four_bar(), sweep={"D": values})
        ((name, at),) = solution.events
        assert solution.status == "event" and "dead centre" in name and "dead centre" in solution.message
        assert at == pytest.approx(rocker(AC), abs=1e-12)
        assert np.abs(solution.t).max() < abs(at) < np.abs(solution.t).max() + 0.05


def test_the_other_way_of_assembly():
    one, other = da.kinematics(four_bar(), sweep={"A": [0.0, 0.1]}, branches=True)
    B = CRANK * np.array([np.cos(START), np.sin(START), 0])
    C = circles(B, COUPLER, D0, ROCKER, -1)
    expected = np.arctan2(C[1], C[0] - D0[0]) - rocker_angle(START)
    assert one.coordinate("D")[0] == pytest.approx(0.0, abs=1e-12)
    assert np.cos(other.coordinate("D")[0] - expected) == pytest.approx(1.0, abs=1e-12)


def test_a_change_point_is_named():
    model = da.Model()
    P, B = np.array([2.0, 0.0, 0.0]), np.array([np.cos(0.7), np.sin(0.7), 0.0])
    crank, coupler, rocker = bar(model, "crank", A0, B), bar(model, "coupler", B, B + P), bar(model, "rocker", P, B + P)
    for name, i, j, at in (("A", model.ground, crank, A0), ("B", crank, coupler, B), ("C", coupler, rocker, B + P)):
        hinge(model, name, i, j, at)
    hinge(model, "D", model.ground, rocker, P)
    solution = da.kinematics(model, sweep={"A": np.linspace(0, 3.0, 31)})
    ((name, at),) = solution.events
    assert "change point" in name and at == pytest.approx(np.pi - 0.7, abs=1e-5)
    np.testing.assert_allclose(
        solution.coordinate("D"), solution.coordinate("A"), rtol=0, atol=1e-9
    )  # the parallelogram goes on


def test_drivers_in_time_and_their_efforts():
    """A crank driven at constant speed in the plane of gravity: its torque is that of its weight."""
    model = da.Model(gravity=(0, -9.81, 0))
    arm = bar(model, "arm", A0, (0.5, 0, 0), mass=2.0)
    hinge(model, "A", model.ground, arm, A0)
    model.add_driver("drive", "A", da.Polynomial((0.0, 3.0)))
    t = np.linspace(0, 2, 9)
    solution = da.kinematics(model, t)
    np.testing.assert_allclose(solution.coordinate("A"), 3 * t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.reaction("drive").torque[:, 2], 2 * 9.81 * 0.25 * np.cos(3 * t), rtol=0, atol=1e-10)
    centripetal = -9 * 0.25 * np.column_stack([np.cos(3 * t), np.sin(3 * t), 0 * t])
    np.testing.assert_allclose(solution.acceleration("arm"), centripetal, rtol=0, atol=1e-11)


def test_a_cardan_shaft():
    """tan(output) = tan(input) / cos(bend), of two shafts in bearings joined by a cross."""
    bend = 0.4
    z = np.array([np.sin(bend), 0.0, np.cos(bend)])  # the second shaft
    model = da.Model()
    first = model.add_body("first", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    second = model.add_body("second", mass=1.0, inertia=(1, 1, 1), position=z)
    model.add_revolute("in", model.ground, first, point=(0, 0, -1), axis=(0, 0, 1))
    model.add_revolute("out", model.ground, second, point=z, axis=z)
    model.add_universal("cross", first, second, point=(0, 0, 0), axes=((0, 1, 0), (np.cos(bend), 0, -np.sin(bend))))
    solution = da.kinematics(model, sweep={"in": np.linspace(0, 2 * np.pi, 17)})
    a = solution.t
    expected = np.unwrap(np.arctan2(np.cos(bend) * np.sin(a), np.cos(a)))
    np.testing.assert_allclose(solution.coordinate("out"), expected, rtol=0, atol=1e-12)
    slip = 1 - np.sin(bend) ** 2 * np.sin(a) ** 2
    np.testing.assert_allclose(solution.coordinate_rate("out"), np.cos(bend) / slip, rtol=0, atol=1e-12)
    second = np.cos(bend) * np.sin(bend) ** 2 * np.sin(2 * a) / slip**2
    np.testing.assert_allclose(solution.angular_acceleration("second"), np.outer(second, z), rtol=0, atol=1e-10)


def test_jansens_leg():
    """Theo Jansen's eleven lengths [Jansen], as two four-bars and two triangles, against circles one after another."""
    lengths = (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0)
    a, b, c, d, e, f, g, h, i, j, k, low, m = np.array(lengths) / 100
    O, Q = np.zeros(3), np.array([-a, -low, 0.0])

    def points(theta):
        P = m * np.array([np.cos(theta), np.sin(theta), 0.0])
        P = P, np.cross((0, 0, 1), P), -P
        fixed = Q, np.zeros(3), np.zeros(3)
        X = moving_circles(fixed, b, P, j, 1)
        Y = moving_circles(fixed, d, X, e, 1)
        Z = moving_circles(fixed, c, P, k, -1)
        V = moving_circles(Z, g, Y, f, 1)
        W = moving_circles(Z, i, V, h, 1)
        return P, X, Y, Z, V, W

    P, X, Y, Z, V, W = (place for place, *_ in points(0.4))
    model = da.Model()
    links = {
        "crank": (O, P), "upper": (P, X), "lower": (P, Z), "triangle": (Q, X), "c": (Q, Z), "f": (Y, V), "foot": (Z, V),
    }  # fmt: skip
    bodies = {name: bar(model, name, *ends) for name, ends in links.items()}
    ground = model.ground
    for name, first, second, at in (
        ("A", ground, "crank", O), ("P1", "crank", "upper", P), ("P2", "crank", "lower", P), ("X", "upper", "triangle", X),
        ("Q1", ground, "triangle", Q), ("Q2", ground, "c", Q), ("Z1", "lower", "c", Z), ("Z2", "c", "foot", Z),
        ("Y", "triangle", "f", Y), ("V", "f", "foot", V),
    ):  # fmt: skip
        hinge(model, name, first, second, at)
    solution = da.kinematics(model, sweep={"A": np.linspace(0, 2 * np.pi, 13)})
    foot = bodies["foot"]
    in_foot = quaternion_to_matrix(foot.rotation).T @ (W - foot.position)
    places, velocities, accelerations = np.array([points(0.4 + s)[-1] for s in solution.t]).swapaxes(0, 1)
    np.testing.assert_allclose(solution.point("foot", in_foot), places, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.velocity("foot", in_foot), velocities, rtol=0, atol=1e-11)
    np.testing.assert_allclose(solution.acceleration("foot", in_foot), accelerations, rtol=0, atol=1e-10)


@pytest.mark.parametrize("linkage", FAMILY, ids=lambda linkage: linkage.name)
def test_linkages_with_redundant_joints(linkage):
    """Poses and accelerations against the closed form of the linkage."""
    solution = da.kinematics(linkage.model(driven=False), sweep={linkage.crank: np.linspace(0.0, 0.5, 3)})
    for body in linkage.bodies:
        for k, s in enumerate(solution.t):
            position, rotation = linkage.pose(body, linkage.start + s)
            np.testing.assert_allclose(solution.position(body)[k], position, rtol=0, atol=1e-12)
            np.testing.assert_allclose(solution.rotation(body)[k], rotation, rtol=0, atol=1e-12)
            expected = derivatives(lambda a, body=body: linkage.pose(body, a)[0], linkage.start + s, 0.01)[1]
            np.testing.assert_allclose(solution.acceleration(body)[k], expected, rtol=0, atol=1e-10)
            by = derivatives(lambda a, body=body: linkage.pose(body, a)[1].ravel(), linkage.start + s, 0.01)
            R_1, R_2 = np.reshape(by, (2, 3, 3))
            turning = R_2 @ rotation.T + R_1 @ R_1.T  # of the angular acceleration
            expected = turning[2, 1], turning[0, 2], turning[1, 0]
            np.testing.assert_allclose(solution.angular_acceleration(body)[k], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: da.kinematics(m, [0.0, 1.0]), "still has 1 degree of freedom; add_driver on '[AD]' leaves none"),
        (da.kinematics, "give times, or sweep"),
        (lambda m: da.kinematics(m, sweep={"a": [0, 1]}), "no joint 'a'"),
        (lambda m: da.kinematics(m, sweep={"A": [0, 1, 0]}), "rise, or fall"),
        (lambda m: da.kinematics(m, sweep={"A": [0, np.nan]}), "finite numbers"),
        (lambda m: da.kinematics(m, sweep={"A": [0], "B": [0]}), "sweep has values for 'A', 'B'; give values for one joint"),
        (lambda m: da.kinematics("m", [0.0]), "give a Model of bodies"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(da.ModelError, match=words):
        call(four_bar())


def test_drivers_that_are_missing_are_named():
    """What the message asks for leaves no freedom; what no driver can take is said as a body."""
    model, _ = five_bar()
    with pytest.raises(da.ModelError, match=r"still has 2 degrees of freedom; add_driver on 'A', 'B' leaves none"):
        da.kinematics(model, [0.0])
    model.add_driver("drive", "P", 0.0)
    with pytest.raises(da.ModelError, match=r"still has 1 degree of freedom; add_driver on '[AB]' leaves none of them"):
        da.kinematics(model, [0.0])
    plate, _ = four_rrr()
    with pytest.raises(da.ModelError, match=r"add_driver on ('foot[0-3]'(, )?){3} leaves") as refused:
        da.kinematics(plate, [0.0])
    for joint in re.findall(r"'(foot\d)'", str(refused.value)):
        plate.add_driver(f"drive {joint}", joint, 0.0)
    assert da.kinematics(plate, [0.0]).status == "complete"
    table = da.Model()
    table.add_body("puck", mass=1.0, inertia=(1, 1, 1))
    table.add_planar_joint("on table", table.ground, "puck", point=(0, 0, 0), axis=(0, 0, 1))
    table.add_link("rod", (1, 0, 0), (1, 0, 1), mass=1.0, radius=0.01)
    table.add_spherical("low", table.ground, "rod", point=(1, 0, 0))
    table.add_spherical("high", table.ground, "rod", point=(1, 0, 1))
    wanted = [f"'on table' (component={k}, {label})" for k, label in enumerate(("x", "y", "angle"))]
    with pytest.raises(da.ModelError, match="no driver of a joint takes 1 of them, motion of 'rod': a rod between") as refused:
        da.kinematics(table, [0.0])
    assert "still has 4" in str(refused.value) and all(one in str(refused.value) for one in wanted)


def test_an_over_driven_mechanism_is_refused():
    model = four_bar()
    model.add_driver("one", "A", da.Polynomial((0.0, 1.0)))
    with pytest.raises(da.DalembertError, match="leave no freedom"):
        da.kinematics(model, sweep={"D": [0.0, 0.1], "A": 0.0})


def test_a_rolling_disc_is_refused():
    with pytest.raises(da.ModelError, match="depend on the way"):
        da.kinematics(da.gallery.build("rolling_disc"), [0.0])


@pytest.mark.nojit
def test_closer_values_change_nothing():
    """A jump to another branch would show as a difference between a coarse and a fine sweep."""
    coarse = da.kinematics(four_bar(), sweep={"A": [0.0, 3.0, 6.0]})
    fine = da.kinematics(four_bar(), sweep={"A": np.linspace(0, 6, 61)})
    np.testing.assert_allclose(coarse.coordinate("D"), fine.coordinate("D")[[0, 30, 60]], rtol=0, atol=1e-12)


def test_the_branch_is_kept_where_another_is_near():
    """Nearly a parallelogram: steps as long as the values, without a look at their corrections, end on the other branch."""
    near = {"b": 2.0, "c": 1.1, "D": np.array([2.05, 0.0, 0.0])}
    solution = da.kinematics(four_bar(**near), sweep={"A": np.linspace(0, 4.8, 5)})
    expected = [rocker_angle(START + s, **near) - rocker_angle(START, **near) for s in solution.t]
    turned = np.remainder(solution.coordinate("D") - expected + np.pi, 2 * np.pi) - np.pi
    np.testing.assert_allclose(turned, 0.0, rtol=0, atol=1e-12)


def test_brentq_finds_the_same_dead_centre():
    """The closed form above is not the library's: where the rocker's rate by the crank vanishes."""
    turn = brentq(lambda a: derivatives(rocker_angle, a)[0], 0.5, 1.5)
    top = max(rocker_angle(a) for a in np.linspace(turn - 1e-4, turn + 1e-4, 3))
    solution = da.kinematics(four_bar(), sweep={"D": np.sign(top - rocker_angle(START)) * np.linspace(0, 1, 21)})
    assert solution.events[0][1] == pytest.approx(rocker_angle(turn) - rocker_angle(START), abs=1e-10)

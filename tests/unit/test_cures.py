"""What to do about redundant joints is said; where it is done no row is redundant, and the mechanism is as free as before."""

import ast
import re
from itertools import permutations

import numpy as np
import pytest

import dalembert as da
from dalembert.cli.check import examine
from dalembert.compilation.compile import compile
from dalembert.remarks.cures import cure
from dalembert.remarks.row_words import beyond_reach

Y = (0, 1, 0)


def joined(model, kind, name, first, second, point, axis=Y):
    """A joint of any kind at a point; axis : of what has one."""
    given = {} if kind == "spherical" else {"axes": (axis, np.roll(axis, 1))} if kind == "universal" else {"axis": axis}
    getattr(model, f"add_{kind}")(name, first, second, point=point, **given)


def slider_crank(B="revolute", C="revolute", A="revolute", gravity=(0, -5.0, -9.81), **said):
    """In the plane x-z, and pulled out of it: not a model in a plane, unless gravity is along z."""
    model = da.Model(gravity, **said)
    model.add_link("crank", (0, 0, 0), (0.05, 0, 0.1), mass=1.0)
    model.add_link("rod", (0.05, 0, 0.1), (0.3, 0, 0), mass=1.0, radius=0.01)
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.3, 0, 0))
    joined(model, A, "A", "ground", "crank", (0, 0, 0))
    joined(model, B, "B", "crank", "rod", (0.05, 0, 0.1))
    joined(model, C, "C", "rod", "slider", (0.3, 0, 0))
    joined(model, "prismatic", "D", "ground", "slider", (0.3, 0, 0), (1, 0, 0))
    return model


def two(kind, second=""):
    """A body on two joints on one axis, or on axes beside each other; second : the kind of the other one, "none" for none."""
    model = da.Model((-3.0, -5.0, -9.81))
    model.add_body("body", **da.box(1.0, (1.0, 0.1, 2.0)).body())
    for name, one, y in zip("LR", (kind, second or kind), (0.8, -0.8), strict=True):
        if one != "none":
            joined(model, one, name, "ground", "body", (0, y, 0), Y if kind == "revolute" else (1, 0, 0))
    return model


LOOP = (
    "in the loop with C whose hinges are parallel, replace one revolute joint by a spherical and another by a cylindrical one"
)
IN_PLANE = (
    'take coordinates="planar" (--coordinates planar): all of the model moves in one plane; plane="xz" of the model'
    " (in a file `plane: xz`) says so for good"
)
OPEN = "let {}, or others of the same loop, hold less"


@pytest.mark.parametrize(
    ("before", "told", "after"),
    [
        *((slider_crank(), LOOP, slider_crank(*kinds)) for kinds in permutations(("revolute", "spherical", "cylindrical"))),
        (slider_crank("cylindrical"), "replace C by a spherical joint", slider_crank("cylindrical", "spherical")),
        (slider_crank("universal", "spherical"), "", None),
        (
            slider_crank("revolute", "cylindrical"),
            "replace C by a point on the same line",
            slider_crank("revolute", "point_on_line"),
        ),
        (slider_crank("revolute", "spherical"), OPEN.format("C"), None),  # along which line, hangs on what is between
        (two("revolute"), "leave out R, of which others hold all", two("revolute", "none")),
        (two("prismatic"), "leave out R, of which others hold all", two("prismatic", "none")),
        (two("revolute", "cylindrical"), "leave out R, of which others hold all", two("revolute", "none")),
        (two("cylindrical"), OPEN.format("R"), None),
    ],
)
def test_redundant_joints_are_cured(before, told, after):
    mechanism = compile(before)
    assert cure(mechanism) == told
    if after is not None:
        is_cured(mechanism, compile(after))


def is_cured(mechanism, cured):
    assert not cured.redundant and not cured.not_unique and not cured.warnings
    assert cured.degrees_of_freedom == mechanism.degrees_of_freedom


def beside(held, kind, name="R"):
    """A body on a joint of any kind, of which something else holds as much: not turning at all, or not moving along y."""
    model = da.Model((-3.0, -5.0, -9.81))
    model.add_body("body", **da.box(1.0, (1.0, 0.1, 2.0)).body())
    model.add_point_mass("bob", mass=1.0, position=(1, 2, 3), velocity=(1, 0, 1))  # not all of it is in one plane
    if held == "turning":
        for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
            model.add_perpendicular(f"held {k}", "ground", "body", axes=(np.eye(3)[a], np.eye(3)[b]))
    else:
        joined(model, "planar_joint" if held == "planar" else "point_on_plane", "held", "ground", "body", (0, 0.8, 0))
    joined(model, kind, name, "ground", "body", (0, -0.8, 0))
    return model


@pytest.mark.parametrize(
    ("held", "kind", "told", "by"),
    [
        ("turning", "revolute", "replace R by a spherical joint", "spherical"),
        ("turning", "universal", "replace R by a spherical joint", "spherical"),
        ("turning", "prismatic", "replace R by a point on the same line", "point_on_line"),
        ("turning", "cylindrical", "replace R by a point on the same line", "point_on_line"),
        ("turning", "planar_joint", "replace R by a point on the same plane", "point_on_plane"),
        ("moving", "revolute", "replace R by a cylindrical joint", "cylindrical"),
        ("moving", "spherical", "replace R by a point on a line along y", "point_on_line"),
        ("planar", "revolute", OPEN.format("R"), None),  # one hinge is no loop
    ],
)
def test_what_something_else_holds_is_left_out_of_a_joint(held, kind, told, by):
    mechanism = compile(beside(held, kind))
    assert cure(mechanism) == told
    if by is not None:
        is_cured(mechanism, compile(beside(held, by)))


@pytest.mark.parametrize("model", [slider_crank("spherical"), da.gallery.build("bricard")])
def test_axes_of_a_universal_joint_are_told(model):
    """Others may let more move than the hinge did."""
    mechanism = compile(model)
    told = re.fullmatch(r"replace (\w+) by a universal joint with axes=\((.*), (\(.*\))\)", cure(mechanism))
    assert told is not None
    joint = model.joint(told[1])
    cured = model.copy()
    cured.remove(joint.name)
    axes = tuple(ast.literal_eval(text) for text in told.groups()[1:])
    point = model.body(joint.first).position + model.body(joint.first).matrix @ joint.p_i
    cured.add_universal(joint.name, joint.first, joint.second, point=point, axes=axes)
    is_cured(mechanism, compile(cured))


def test_joints_that_others_refer_to_are_not_replaced():
    model = slider_crank("cylindrical")
    model.add_joint_spring_damper("spring", "C", stiffness=1.0)
    assert cure(compile(model)) == OPEN.format("C")


@pytest.mark.parametrize("kinds", [(), ("spherical",), ("revolute", "spherical")])
def test_models_that_move_in_a_plane_are_cured_there(kinds, tmp_path):
    """By coordinates, or by a word in the model as it is; forces in the plane are the same."""
    model = slider_crank(*kinds, gravity=(0, 0, -9.81))
    mechanism = compile(model)
    assert mechanism.not_unique and cure(mechanism) == IN_PLANE
    is_cured(mechanism, compile(model, "planar"))
    model.to_yaml(tmp_path / "model.yaml")
    (tmp_path / "flat.yaml").write_text("plane: xz\n" + (tmp_path / "model.yaml").read_text())
    said = slider_crank(*kinds, gravity=(0, 0, -9.81), plane="xz"), da.Model.from_yaml(tmp_path / "flat.yaml")
    for flat in said:
        assert compile(flat).coordinates == "planar"
        is_cured(mechanism, compile(flat))
    if not kinds:
        runs = [da.simulate(one, 0.05, save_at=[0.05]) for one in (model, *said)]
        for run in runs[1:]:
            for name in "ABCD":
                there, here = (of.reaction(name).force[0, [0, 2]] for of in (runs[0], run))
                np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-5)


def test_a_plane_may_leave_rows_that_are_redundant():
    model = slider_crank(gravity=(0, 0, -9.81))
    joined(model, "prismatic", "E", "ground", "slider", (0.3, 0, 0.1), (1, 0, 0))
    assert cure(compile(model)) == f"{IN_PLANE}; there, {OPEN.format('E')}"


def test_cures_are_in_the_report_and_of_several_joints_together():
    report = da.simulate(slider_crank(), 0.01).report()
    assert report["reactions not unique"].value.endswith(f"redundancy leaves these undetermined; for unique ones, {LOOP}")
    assert cure(compile(da.gallery.build("andrews"))) == IN_PLANE.replace("xz", "xy")
    pulled = da.gallery.build("andrews").to_dict() | {"gravity": (0, 0, -9.81)}
    assert cure(compile(da.Model.from_dict(pulled))) == OPEN.format("G, H, E2")  # loops that share joints


def test_a_second_driver_of_a_system_of_coordinates():
    """Lagrangian systems have constraints and no joints."""
    system = da.LagrangianSystem(
        lambda q, v, p: 0.5 * (v @ v),
        ["x", "y"],
        holonomic={"one": lambda q: q.x - q.y, "two": lambda q: 2 * q.x - 2 * q.y},
        initial={"x": 1.0, "y": 1.0},
    )
    report = da.simulate(system, 0.01).report()
    assert "for unique ones, leave out two, of which others hold all" in report["reactions not unique"].value


def test_check_has_the_cure(capsys):
    from dalembert.cli.check import _show

    mechanism = compile(slider_crank())
    _show("", examine("", mechanism, mechanism.assembly), mechanism)
    assert LOOP in " ".join(capsys.readouterr().out.split())


def test_check_counts_rows_in_the_plane(capsys):
    """20 rows of hinges and a slide would be of rank 8 only, with nothing redundant."""
    from dalembert.cli.check import _show

    for coordinates, told in (
        ("absolute", "20 rows of 4 joints and 0 drivers, rank 17 "),
        ("planar", "8 rows of 4 joints and 0 drivers, rank 8, without 12 rows out of the plane "),
    ):
        mechanism = compile(slider_crank(gravity=(0, 0, -9.81)), coordinates)
        findings = examine("", mechanism, mechanism.assembly)
        _show("", findings, mechanism)
        assert told in " ".join(capsys.readouterr().out.split())
        assert findings["constraint_rows"] == 20


def test_of_what_locks_that_is_told_which_prescribes_a_position():
    model = slider_crank()
    model.add_driver("drive", "A", da.Polynomial((0.0, 1.0)))
    assert beyond_reach(compile(model), 0.5, ["B", "C"]) == ""
    rest = "the mechanism reaches no further; check its sign and range"
    told = f"driver 'drive' cannot turn past 0.5 rad = 28.65 degrees, {rest}"
    assert beyond_reach(compile(model), 0.5, ["drive", "C"]) == f"{told}, lengths, and the axis of 'D', (1, 0, 0)"
    model = da.Model()
    model.add_point_mass("bob", mass=1.0, position=(0, 0, -1))
    model.add_distance("rope", model.ground, "bob", points=((0, 0, 0), (0, 0, 0)), length=da.Polynomial((1.0, -0.5)))
    assert beyond_reach(compile(model), 1.0, ["rope"]) == f"joint 'rope' cannot go past 0.5 m, {rest}, and lengths"


def test_the_axis_of_a_slide_is_told_where_a_driver_asks_for_too_much():
    """A ram that was to go up and down, on a level guide."""
    model = da.Model()
    points = np.array([(0, 0, 0), (0.052, 0, 0.03), (0, 0, 0.24)])
    model.add_link("crank", points[0], points[1], mass=0.5)
    model.add_link("rod", points[1], points[2], mass=0.8)
    model.add_body("ram", **da.box(3.0, (0.06, 0.06, 0.08)).body(), position=points[2])
    for name, first, second, at in (("A", "ground", "crank", 0), ("B", "crank", "rod", 1), ("C", "rod", "ram", 2)):
        model.add_revolute(name, first, second, point=points[at], axis=(0, 1, 0))
    model.add_prismatic("guide", model.ground, "ram", point=points[2], axis=(1, 0, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 9.42)))
    told = beyond_reach(compile(model), 0.01, ["motor", "B", "A", "C"])
    assert told.endswith("; check its sign and range, lengths, and the axis of 'guide', (1, 0, 0)")


def test_what_drivers_move_is_no_freedom_that_is_missing(tmp_path):
    """0 degrees of freedom read like an error: told where the size of a model is, by check, reports and notebooks."""
    from typer.testing import CliRunner

    from dalembert.cli import app

    model = da.Model(name="driven")
    model.add_link("arm", (0, 0, 0), (0.4, 0, 0), mass=1.0)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    model.to_yaml(tmp_path / "m.yaml")
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "m.yaml")]).stdout
    assert "driven: 1 body, 1 joint, 0 degrees of freedom left, 1 driven\ndegrees of freedom  0 left, 1 driven\n" in shown
    assert "0 degrees of freedom left, 1 driven" in model._repr_html_()
    turns = "'motor' turns 'arm' about (0, 1, 0) at 6 rad/s = 57.3 rpm (joint 'A')"  # rpm given as rad/s are seen
    assert f"driven              {turns}\n" in shown
    report = da.simulate(model, 0.01).report()
    assert report["degrees of freedom"].value == "0 left, 1 driven"
    assert (report["driven"].value, report["driven"].data["rate"]) == (turns, 6.0)


@pytest.mark.parametrize(
    ("motion", "rate"), [((0.3, -6.0, 0.0), -6.0), ((0.0, 6.0, 1.0), None), ((1.0,), None), ((0.0, 0.0), None)]
)
def test_only_steady_turns_are_told_with_their_speed(motion, rate):
    from dalembert.remarks.row_words import turning

    model = da.Model()
    model.add_body("block", mass=1.0, inertia=(1, 1, 1))
    model.add_cylindrical("A", model.ground, "block", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "A", da.Polynomial(motion), component=1)
    model.add_driver("feed", "A", da.Polynomial((0.0, 1.0)), component=0)
    assert turning(compile(model)) == ({"motor": rate} if rate else {})


def test_what_is_free_beside_drivers_is_not_read_as_driven():
    """ "2 degrees of freedom, 1 driven" was read as 2 of which 1 is driven; there are 3."""
    from dalembert.remarks.row_words import freedom

    model = da.Model(name="an arm that was to be held at its end")
    for name, at in (("crank", 0.0), ("rod", 0.3), ("arm", 0.6)):
        model.add_link(name, (at, 0, 0), (at + 0.3, 0, 0), mass=1.0)
    for name, first, second, at in (("A", "ground", "crank", 0.0), ("B", "crank", "rod", 0.3), ("C", "rod", "arm", 0.6)):
        model.add_revolute(name, first, second, point=(at, 0, 0), axis=(0, 1, 0))
    assert freedom(compile(model)) == "3 degrees of freedom"
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    assert freedom(compile(model)) == "2 degrees of freedom left beside 1 driven"
    assert freedom(compile(model), alone=True) == "2 left beside 1 driven"

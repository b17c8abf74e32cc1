"""What to do about redundant joints is said; where it is done no row is redundant, and the mechanism is as free as before."""

import numpy as np
import pytest

import dalembert as da
from dalembert.cli.check import examine
from dalembert.compilation.compile import compile
from dalembert.compilation.row_words import cure

Y = (0, 1, 0)


def joined(model, kind, name, first, second, point, axis=Y):
    """A joint of any kind at a point; axis : of what has one."""
    given = {} if kind == "spherical" else {"axes": (axis, np.roll(axis, 1))} if kind == "universal" else {"axis": axis}
    getattr(model, f"add_{kind}")(name, first, second, point=point, **given)


def slider_crank(B="revolute", C="revolute"):
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 0.1), mass=1.0)
    model.add_link("rod", (0, 0, 0.1), (0.3, 0, 0), mass=1.0, radius=0.01)
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.3, 0, 0))
    joined(model, "revolute", "A", "ground", "crank", (0, 0, 0))
    joined(model, B, "B", "crank", "rod", (0, 0, 0.1))
    joined(model, C, "C", "rod", "slider", (0.3, 0, 0))
    joined(model, "prismatic", "D", "ground", "slider", (0.3, 0, 0), (1, 0, 0))
    return model


def two(kind, second=""):
    """A body on two joints on one axis, or on axes beside each other; second : the kind of the other one, "none" for none."""
    model = da.Model()
    model.add_body("body", **da.box(1.0, (1.0, 0.1, 2.0)).body())
    for name, one, y in zip("LR", (kind, second or kind), (0.8, -0.8), strict=True):
        if one != "none":
            joined(model, one, name, "ground", "body", (0, y, 0), Y if kind == "revolute" else (1, 0, 0))
    return model


LOOP = "in every loop with C replace one revolute joint by a spherical and another by a cylindrical one"


@pytest.mark.parametrize(
    ("before", "told", "after"),
    [
        (slider_crank(), LOOP, slider_crank("spherical", "cylindrical")),
        (slider_crank("spherical"), "replace C by a universal joint", slider_crank("spherical", "universal")),
        (slider_crank("cylindrical"), "replace C by a spherical joint", slider_crank("cylindrical", "spherical")),
        (slider_crank("universal", "spherical"), "", None),
        (slider_crank("revolute", "cylindrical"), "replace C by a point on a line", slider_crank("revolute", "point_on_line")),
        (slider_crank("revolute", "spherical"), "replace C by a point on a line", slider_crank("revolute", "point_on_line")),
        (two("revolute"), "leave out R, of which others hold all", two("revolute", "none")),
        (two("prismatic"), "leave out R, of which others hold all", two("prismatic", "none")),
        (two("cylindrical"), "let R, or others of the same loop, hold less", None),
    ],
)
def test_redundant_joints_are_cured(before, told, after):
    mechanism = compile(before)
    assert cure(mechanism) == told
    if after is not None:
        cured = compile(after)
        assert not cured.redundant and not cured.not_unique and not cured.warnings
        assert cured.degrees_of_freedom == mechanism.degrees_of_freedom


def test_cures_are_in_the_report_and_of_several_joints_together():
    report = da.simulate(slider_crank(), 0.01).report()
    assert report["reactions not unique"].value.endswith(f"redundancy leaves these undetermined; for unique ones, {LOOP}")
    assert cure(compile(da.gallery.build("andrews"))) == LOOP.replace("C", "G, H, E2")


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

"""What a model says twice and not alike is told: swapped teeth, points in other axes, meshes in millimetres."""

import json

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.doubts import doubts


def wheels(radii, distance, flip=False, **gear) -> da.Model:
    """Two discs on parallel axes in the ground, the second joint also the other way round."""
    model = da.Model(gravity=(0, 0, 0))
    for name, r, x in (("first", radii[0], 0.0), ("second", radii[1], distance)):
        model.add_body(name, **da.disc(1.0, r, axis="z").body(), position=(x, 0, 0))
    model.add_revolute("A", model.ground, "first", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute(
        "B", *(("second", model.ground) if flip else (model.ground, "second")), point=(distance, 0, 0), axis=(0, 0, 1)
    )
    model.add_gear("gear", "first", "second", **gear)
    return model


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(
    ("radii", "distance", "gear", "told"),
    [
        ((0.04, 0.02), 0.06, {"teeth": (40, 20)}, None),
        ((0.0442, 0.0231), 0.06, {"teeth": (40, 20)}, None),  # with the heads of the teeth
        ((0.04, 0.02), 0.06, {"teeth": (20, 40)}, "0.5 times the teeth.* radii of 0.04 and 0.02 m"),
        ((0.04, 0.02), 0.06, {"ratio": 2.0}, "swapped"),  # z_second / z_first is 0.5
        ((0.04, 0.02), 0.06, {"teeth": (40, 20), "internal": True}, "beside the other, but they turn the same way"),
        ((0.06, 0.02), 0.04, {"teeth": (60, 20), "internal": True}, None),
        ((0.06, 0.02), 0.04, {"teeth": (60, 20)}, "inside the other, but they turn against each other"),
        ((0.04, 0.02), 0.5, {"teeth": (20, 40)}, None),  # not in mesh: other wheels are between them
    ],
)
def test_wheels_that_are_drawn_in_mesh(radii, distance, gear, told, flip):
    found = doubts(wheels(radii, distance, flip, **gear))
    assert len(found) == (told is not None)
    if told is not None:
        with pytest.raises(ValueError, match=told):
            raise ValueError(found[0])


@pytest.mark.parametrize(
    ("inner", "outer", "told"),
    [
        ((30, 20), (20, 70), []),
        ((20, 30), (20, 70), ["'inner' couples"]),
        ((30, 20), (70, 20), ["'outer' couples"]),
        ((30, 20), (20, 70, "external"), ["'outer': of"]),
    ],
)
def test_wheels_on_a_carrier_that_turns(inner, outer, told):
    """A planetary gear: sun and ring turn on the ground, the planet on its arm."""
    model = da.Model(gravity=(0, 0, 0))
    for name, radius, x in (("sun", 0.03, 0.0), ("arm", 0.05, 0.0), ("planet", 0.02, 0.05), ("ring", 0.07, 0.0)):
        model.add_body(name, **da.disc(1.0, radius, axis="z").body(), position=(x, 0, 0))
    for name, first, second, x in (("S", "ground", "sun", 0.0), ("C", "arm", "ground", 0.0), ("R", "ground", "ring", 0.0)):
        model.add_revolute(name, first, second, point=(x, 0, 0), axis=(0, 0, 1))
    model.add_revolute("P", "arm", "planet", point=(0.05, 0, 0), axis=(0, 0, -1))
    model.add_gear("inner", "sun", "planet", carrier="arm", teeth=inner)
    model.add_gear("outer", "planet", "ring", carrier="arm", teeth=outer[:2], internal="external" not in outer)
    assert [text[: len(start)] for text, start in zip(doubts(model), told, strict=True)] == told


def leg() -> da.Model:
    model = da.Model()
    model.add_body("leg", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(5, 0, 0))
    model.add_revolute("hip", model.ground, "leg", point=(4.5, 0, 0), axis=(0, 1, 0))
    return model


def test_points_in_other_axes():
    model = leg()
    model.add_marker("foot", "leg", (0.5, 0, 0))
    model.add_marker("toe", "leg", at=(5.6, 0, 0))
    model.add_marker("far", "leg", (3, 3, 0))  # on it in no axes: meant
    model.add_spring_damper("spring", model.ground, "leg", between=((5, 0, 1), (5.2, 0, 0)), stiffness=1.0)
    assert doubts(model) == []
    model.add_marker("world", "leg", (5.5, 0, 0))
    model.add_marker("body", "leg", at=(0.5, 0, 0))
    model.add_force("push", "leg", (0, 0, 1), point=(5.4, 0, 0))
    told = doubts(model)
    assert [text.partition(" is ")[0] for text in told] == ["marker 'world'", "marker 'body'", "force 'push'"]
    assert ["give at=" in text for text in told] == [True, True, True]
    assert ["do not give at=" in text for text in told] == [False, True, False]


def test_a_mesh_in_millimetres(tmp_path):
    """A cube of 200 mm as a mesh of 200 m, put in its place or where its file has it: told by `check` and by the report."""
    from typer.testing import CliRunner

    from dalembert.cli import app

    x = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    text = [f"v {a} {b} {c}" for a, b, c in 200 * x] + ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    (tmp_path / "cube.obj").write_text("\n".join(text))
    for scale, placed, told in ((1e-3, True, 0), (1e-3, False, 0), (1.0, False, 1), (1.0, True, 1)):
        model, cube = da.Model(), da.mesh(str(tmp_path / "cube.obj"), density=1000.0, scale=scale).body()
        model.add_body("cube", **cube | ({"position": (0.1, 0, 0)} if placed else {}))
        model.add_revolute("pin", model.ground, "cube", point=(0, 0, 0), axis=(0, 1, 0))
        if not placed:
            model.add_point_mass("bob", mass=1.0, position=(0.3, 0, 0))
        assert len(doubts(model)) == told
    assert "radius of gyration of 81.6 m in a mechanism of 0.1 m" in doubts(model)[0]
    model.to_yaml(tmp_path / "cube.yaml")
    shown = json.loads(CliRunner().invoke(app, ["check", str(tmp_path / "cube.yaml"), "--json"]).stdout)
    assert shown["warnings"] == doubts(model)
    line = next(line for line in da.simulate(model, 0.01).report().lines if line.name == "warning")
    assert (line.block, line.value) == ("careful", doubts(model)[0])


def test_tables_whose_curve_leaves_their_values():
    """A pulse between two rests: the curve through five values falls to -2 between 0 and 0.05."""
    for times, values, told in (
        ((0, 3, 3.02, 3.04, 9), (0, 0, 0.05, 0, 0), 1),
        (np.linspace(0.0, 6.0, 9), np.sin(np.linspace(0.0, 6.0, 9)), 0),
        ((0.0, 1.0, 2.0, 3.0), (0.0, 0.0, 1.0, 1.0), 0),
        ((0.0, 1.0), (2.0, 2.0), 0),
    ):
        model = leg()
        model.add_driver("drive", "hip", 2 * da.Table(tuple(times), tuple(values), clamp=True) + da.Constant(0.1))
        model.add_force("push", "leg", (0, 0, 1), factor=da.Table(tuple(times), tuple(values)))
        found = doubts(model)
        assert len(found) == 2 * told
    model = leg()
    model.add_driver("drive", "hip", da.Table((0, 3, 3.02, 3.04, 9), (0, 0, 0.05, 0, 0)))
    assert "the table of 'drive' has values from 0 to 0.05, but a smooth curve through them goes from -" in doubts(model)[0]


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ((0.4, 0, 0), None),
        ((0.4, 0.3, 0), None),  # along the pin: links lie beside each other
        ((0.2, 0, 0), None),
        ((0.41, 0, 0), None),  # the eye
        ((0.5, 0, 0), r"joint 'B' is 0.1 m off body 'crank', beyond its end, which is drawn as a link of 0.4 m"),
        ((0.2, 0, 0.1), r"joint 'B' is 0.1 m off body 'crank', beside it"),
    ],
)
@pytest.mark.parametrize("solid", [da.rod(1.0, 0.4), da.rod(1.0, 0.4, radius=0.01), da.box(1.0, (0.4, 0.01, 0.02))])
def test_pins_off_the_link_that_is_drawn(point, told, solid):
    model = da.Model()
    model.add_body("crank", **solid.body(), position=(0.2, 0, 0))
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(0.6, 0, 0))  # may be held from anywhere
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_revolute("B", "crank", "slider", point=point, axis=(0, 1, 0))
    found = doubts(model)
    told = None if solid.shape["type"] == "box" and told and "beside" in told else told  # beams may have eyes there
    assert len(found) == (told is not None)
    if told is not None:
        with pytest.raises(ValueError, match=told):
            raise ValueError(found[0])


def test_nothing_is_doubted_in_the_gallery():
    for name in da.gallery.GALLERY:
        model = da.gallery.build(name)
        assert not isinstance(model, da.Model) or doubts(model) == [], name


@pytest.mark.parametrize(
    ("radii", "teeth", "told"),
    [((0.04, 0.02), (40, 20), 0), ((0.04, 0.02), (20, 40), 1), ((0.04, 0.01), (20, 40), 0)],  # the last do not touch
)
def test_bevels_that_are_drawn_in_mesh(radii, teeth, told):
    """Axes x and z meet in the origin; the pitch circles touch at (0.02, 0, 0.04)."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("first", **da.disc(1.0, radii[0], axis="x").body(), position=(0.02, 0, 0))
    model.add_body("second", **da.disc(1.0, radii[1], axis="z").body(), position=(0, 0, 0.04))
    model.add_revolute("A", model.ground, "first", point=(0.02, 0, 0), axis=(1, 0, 0))
    model.add_revolute("B", "second", model.ground, point=(0, 0, 0.04), axis=(0, 0, 1))
    model.add_gear("gear", "first", "second", teeth=teeth)
    assert ["0.5 times the teeth" in text for text in doubts(model)] == [True] * told

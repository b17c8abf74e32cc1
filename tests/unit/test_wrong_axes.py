"""Axes that do not belong to the plane of their loop are named, by doubts, by advice on redundancy and where nothing fits."""

import numpy as np
import pytest

import dalembert as da
from dalembert.compilation.compile import compile
from dalembert.remarks.cures import cure
from dalembert.remarks.doubts import doubts

C = (0.5, 0, 0.3)
PLAIN = (0, 1, 0)


def linkage(slider=False, rate=None, layers=0.0, **axes) -> da.Model:
    """A four-bar, or a slider-crank; layers : how far the rod lies beside the crank."""
    end = (0.5, 0, 0) if slider else C
    model = da.Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 0.2), mass=1.0)
    model.add_link("rod", (0, layers, 0.2), np.add(end, (0, layers, 0)), mass=1.0)
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=axes.get("A", PLAIN), rate=rate)
    model.add_revolute("B", "crank", "rod", point=(0, layers, 0.2), axis=axes.get("B", PLAIN))
    if slider:
        model.add_body("block", **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=end)
        model.add_revolute("C", "rod", "block", point=end, axis=axes.get("C", PLAIN))
        model.add_prismatic("D", model.ground, "block", point=end, axis=axes.get("D", (1, 0, 0)))
    else:
        model.add_link("rocker", (0.5, 0, 0), C, mass=1.0)
        model.add_revolute("C", "rod", "rocker", point=C, axis=axes.get("C", PLAIN))
        model.add_revolute("D", model.ground, "rocker", point=(0.5, 0, 0), axis=axes.get("D", PLAIN))
    return model


@pytest.mark.parametrize("slider", [False, True])
@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize(
    ("axis", "angle", "shown"), [((1, 0, 0), "90", "(1, 0, 0)"), ((0, 1, 0.02), "1.15", "(0, 0.9998, 0.02)")]
)
def test_one_hinge_of_a_loop_that_is_off(slider, name, axis, angle, shown):
    model = linkage(slider, **{name: axis})
    said = f"the axis of joint {name!r} is {angle} degrees off those of the other hinges of its loop"
    said += f": it is {shown}; theirs is (0, 1, 0)"
    assert doubts(model) == [said]
    assert cure(compile(model)) == f"see first whether this is meant: {said}"


def test_where_nothing_fits_the_axis_is_named():
    with pytest.raises(da.AssemblyError, match="the axis of joint 'B' is 90 degrees off those of the other hinges of its loop"):
        linkage(rate=6.0, B=(1, 0, 0)).assemble()


def test_a_slide_across_the_plane_of_its_loop():
    found = doubts(linkage(True, D=(0, 1, 0.5)))
    assert [text.partition(":")[0] for text in found] == [
        "the axis of joint 'D' is 63.4 degrees off the plane in which the hinges of its loop turn"
    ]
    assert found[0].endswith("it is (0, 0.8944, 0.4472); that of the hinges is (0, 1, 0)")


@pytest.mark.parametrize("slider", [False, True])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 0, 1)])
@pytest.mark.parametrize("names", ["AB", "ABC"])
def test_hinges_about_an_axis_in_the_plane_of_their_loop(slider, axis, names):
    """As (0, 0, 1) in a mechanism that is drawn in x and z; the advice named a plane that is not the one drawn."""
    model = linkage(slider, **dict.fromkeys(names, axis))
    more = "'B'" if len(names) == 2 else "2 more hinges"
    shown = ", ".join(map(str, axis))
    assert doubts(model) == [
        f"the axes of 'A' and {more} lie in the plane of their loop: they are ({shown}); across it is (0, 1, 0)"
    ]


def test_loops_that_are_meant():
    for model in (
        linkage(),
        linkage(True),
        linkage(layers=0.02),
        linkage(True, layers=-0.02),
        linkage(A=(0, -1, 0)),
        da.gallery.spatial_four_bar(),
        da.gallery.bricard(),
    ):
        assert doubts(model) == []
    door = da.Model()
    door.add_body("door", **da.box(20.0, (1.0, 0.04, 2.0)).body(), position=(0.5, 0, 1.0))
    for k, z in enumerate((0.2, 1.0, 1.8)):
        door.add_revolute(f"hinge {k}", door.ground, "door", point=(0, 0, z), axis=(0, 0, 1))
    assert doubts(door) == []


@pytest.mark.parametrize(("kind", "axis"), [("prismatic", PLAIN), ("revolute", (1, 0, 0))])
@pytest.mark.parametrize("driven", [1, 2])
def test_a_bearing_that_gives_way_is_no_wrong_axis(kind, axis, driven):
    """A sleeve that slides along the axis of a hinge, or turns across it: the loop moves without, but for two motors."""
    model = linkage()
    model.remove("D")
    model.add_body("sleeve", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=(0.5, 0, 0))
    model.add_revolute("D", "sleeve", "rocker", point=(0.5, 0, 0), axis=PLAIN)
    getattr(model, f"add_{kind}")("float", "ground", "sleeve", point=(0.5, 0, 0), axis=axis)
    for joint in ("A", "D")[:driven]:
        model.add_driver(f"motor {joint}", joint, da.Polynomial((0.0, 1.0)))
    told = ["the axis of joint 'float' is 90 degrees off"] if driven == 2 else []
    assert [text[: text.index("off") + 3] for text in doubts(model) if "axis of joint" in text] == told


def test_the_plane_is_that_of_most_axes():
    """Not of the first joint, which may be the one that is off."""
    with pytest.raises(da.ModelError, match=r"joint 'A': its axis is not the normal.*normal \(0, 1, 0\)"):
        compile(linkage(A=(1, 0, 0)), "planar")


def test_a_coupling_of_shafts_beside_each_other():
    """Oldham's: two hinges and two slides across each other, all in a plane with both shafts at the start."""
    model = da.Model()
    for name, place in (("in", (0, 0, 0)), ("disc", (0, 0, 0.1)), ("out", (0.05, 0, 0.2))):
        model.add_body(name, **da.disc(1.0, 0.1, axis="z").body(), position=place)
    model.add_revolute("A", model.ground, "in", point=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    model.add_prismatic("P", "in", "disc", point=(0, 0, 0.1), axis=(1, 0, 0))
    model.add_prismatic("Q", "disc", "out", point=(0, 0, 0.1), axis=(0, 1, 0))
    model.add_revolute("B", model.ground, "out", point=(0.05, 0, 0.2), axis=(0, 0, 1))
    assert doubts(model) == []

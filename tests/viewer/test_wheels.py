"""Wheels of couplings, and what couplings are called."""

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import stage_of
from dalembert.viewer.wheels import bodies_of, kind_of, wheel_forms


def shafts(distance=1.0, out=0.0):
    """Two bodies without shapes that turn about y; out : centre of mass of the second one off its axis [m]"""
    model = da.Model(gravity=(0, 0, 0))
    for name, x, off in (("a", 0.0, 0.0), ("b", distance, out)):
        model.add_body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), position=(x + off, 0, 0))
        model.add_revolute(f"{name} shaft", model.ground, name, point=(x, 0, 0), axis=(0, 1, 0))
    return model


def coupled(how, **options):
    model = shafts(**options)
    if how == "rack":
        model.add_body("bar", **da.box(1.0, (1.0, 0.1, 0.1)).body(), position=(0, 0, -0.3))
        model.add_prismatic("slide", model.ground, "bar", point=(0, 0, -0.3), axis=(1, 0, 0))
        model.add_rack("drive", "a", "bar", radius=0.3)
    elif how == "coupling":
        model.add_coupling("drive", lambda a, b: a - b**3, ["a shaft", "b shaft"])
    elif how == "belt":
        model.add_belt("drive", "a", "b", radii=(0.2, 0.4))
    else:
        model.add_gear("drive", "a", "b", teeth=(20, 60), internal=how == "internal")
    return model


@pytest.mark.parametrize(
    ("how", "kind", "sizes"),
    [
        ("gear", "gear", {"a": 0.25, "b": 0.75}),
        ("internal", "gear", {"a": 0.5, "b": 1.5}),
        ("belt", "belt", {"a": 0.2, "b": 0.4}),
        ("rack", "rack", {"a": 0.3}),
        ("coupling", "coupling", {}),
    ],
)
def test_wheels_have_their_pitch_circles(how, kind, sizes):
    """Of a gear they fill the distance of the axes; also of a stored model, which says no more than the rows."""
    stored = [] if how == "coupling" else [da.Model.from_dict(coupled(how).to_dict())]
    for model in (coupled(how), *stored):
        forms = wheel_forms(model)
        inner = {name: part.size[0] - part.size[1] if part.kind == "ring" else part.size[0] for name, (part,) in forms.items()}
        assert inner == pytest.approx(sizes)
        assert kind_of(model, model.joint("drive")) == kind
        for name, (part,) in forms.items():
            assert (part.kind == "ring") == (how == "internal" and name == "b")
            assert abs(part.matrix[1, 2]) == pytest.approx(1.0)


def test_what_swings_is_no_wheel():
    model = coupled("gear", out=0.2)
    assert wheel_forms(model) == {} and kind_of(model, model.joint("drive")) == "coupling"


def test_what_has_a_shape_keeps_it():
    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.add_body(name, **da.box(1.0, (0.1, 0.1, 0.1)).body(), position=(x, 0, 0))
        model.add_revolute(f"{name} shaft", model.ground, name, point=(x, 0, 0), axis=(0, 1, 0))
    model.add_gear("drive", "a", "b", ratio=1.0)
    assert wheel_forms(model) == {}
    run = da.simulate(model, 0.1)
    assert {part.kind for part in stage_of(run).pictures["a"].parts} == {"box"}


def test_couplings_are_told_with_what_they_move():
    """Not as from the ground to the last one; their own torque is the first plot of them."""
    model = coupled("belt")
    model.add_body("case", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1, 0.5, 0))
    model.add_revolute("case shaft", model.ground, "case", point=(1, 0.5, 0), axis=(0, 1, 0))
    model.add_body("left", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1, 1, 0))
    model.add_revolute("left shaft", model.ground, "left", point=(1, 1, 0), axis=(0, 1, 0))
    model.add_differential("differential", "case", "left", "b")
    assert bodies_of(model, model.joint("drive")) == ["a", "b"]
    assert bodies_of(model, model.joint("differential")) == ["case", "left", "b"]
    assert bodies_of(model, model.joint("a shaft")) == ["ground", "a"]
    scene = scene_of(da.simulate(model, 0.1))
    (belt,) = [joint for joint in scene["joints"] if joint["name"] == "drive"]
    assert (belt["kind"], belt["joins"]) == ("belt", ["a", "b"])
    assert kind_of(model, model.joint("differential")) == "differential"
    tag = f"joint {scene['joints'].index(belt)}"
    first = next(group for group in scene["groups"] if group["tag"] == tag)
    assert (first["name"], first["unit"]) == ("effort of drive", "N m")
    assert [one["name"] for one in first["series"]] == ["effort of drive on a shaft", "effort of drive on b shaft"]


def test_the_disc_of_a_wheel_turns_with_it():
    run = da.simulate(coupled("belt"), 0.1)
    part = stage_of(run).pictures["b"].parts[0]
    assert part.kind == "cylinder" and part.at == pytest.approx(np.zeros(3))

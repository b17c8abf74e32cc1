"""Replace, remove, rename: what refers to an element goes with it, or is named."""

import numpy as np
import pytest
from test_model_files import everything

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError
from dalembert.gallery import GALLERY
from dalembert.model.joints import CONTACTS

pytestmark = pytest.mark.nojit


def small(mass=1.0):
    model = da.Model()
    model.add_body("crank", mass=mass, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, 0, 1))
    model.add_point_mass("bead", mass=1, position=(0, 2, 0))
    model.add_revolute("A", "ground", "crank", point=(0, 0, 0), axis=(0, 1, 0), rate=2.0)
    model.add_distance("rod", "crank", "bead")
    model.add_driver("go", "A", da.Harmonic(1.0, 2.0))
    model.add_spring_damper("spring", "ground", "bead", stiffness=3)
    model.add_marker("tip", "crank", (1, 0, 0))
    return model


def test_a_replaced_number_is_that_of_a_model_made_so():
    model = small()
    new = model.replace("crank", mass=3)
    assert new is model.body("crank") and model.hash == small(3.0).hash
    model.replace("crank", mass=1.0)
    assert model.hash == small().hash


@pytest.mark.parametrize("name", [name for name in GALLERY if isinstance(gallery.build(name), da.Model)])
def test_replacing_nothing_changes_nothing(name):
    model = gallery.build(name)
    if len(model.bodies) > 12:
        return
    for element in (*model.bodies, *model.joints, *model.drivers, *model.forces):
        if getattr(element, "type", "") not in ("user", "skate") and not getattr(element, "type", "").startswith("rolling"):
            model.replace(element)
    assert model.hash == gallery.build(name).hash


def test_replacing_nothing_changes_no_verb():
    model = everything()
    for element in list(model._elements.values()):
        if getattr(element, "type", "") not in CONTACTS:
            model.replace(element)
    assert model.hash == everything().hash
    with pytest.raises(ModelError, match="a rolling_sphere joint cannot be replaced in parts; remove it and add it anew"):
        model.replace("ro")


def test_each_kind():
    model = small()
    assert model.replace("bead", position=(0, 3, 0)).position[1] == 3
    assert model.replace("A", rate=None).rate == (None,)
    assert model.replace("rod", length=4.0).primitives[0].offset == 4.0
    assert model.replace("go", motion=1.0).primitive.motion == da.Constant(1.0)
    assert model.replace("spring", damping=0.5).damping == 0.5
    np.testing.assert_array_equal(model.replace("tip", point=(0, 0, 1)).point, (0, 0, 1))
    assert [e.name for e in model._elements.values()] == [e.name for e in small()._elements.values()]


def test_rename_goes_everywhere():
    model = small()
    model.rename("crank", "arm")
    model.rename("A", "hinge")
    assert model.joint("hinge").second == "arm" and model.markers[0].body == "arm"
    assert model.drivers[0].joint == "hinge" and model.drivers[0].second == "arm"
    model.rename("arm", "crank")
    model.rename("hinge", "A")
    assert model.hash == small().hash
    assert da.simulate(model, 0.01).status == "complete"


def test_remove():
    model = small()
    model.remove("spring")
    model.remove("tip")
    assert not model.forces and not model.markers
    with pytest.raises(ModelError, match="body 'crank': joint 'A', joint 'rod', driver 'go' refer to it; remove them first"):
        model.remove("crank")
    with pytest.raises(ModelError, match="joint 'A': driver 'go' refers to it; remove that first"):
        model.remove("A")
    for name in ("go", "A", "rod", "crank"):
        model.remove(name)
    assert [body.name for body in model.bodies] == ["bead"]


@pytest.mark.parametrize(
    "change, text",
    [
        (lambda m: m.replace("crank", mas=3), "body 'crank': has no 'mas' that could be replaced; did you mean 'mass'"),
        (lambda m: m.replace("crank", mass=-3), "body 'crank': mass is -3"),
        (lambda m: m.replace("crunk", mass=3), "there is no element 'crunk'; did you mean 'crank'"),
        (lambda m: m.replace("ground", mass=3), "the ground cannot be changed"),
        (
            lambda m: m.replace("A", axis=(0, 0, 1)),
            "joint 'A': has no 'axis' that could be replaced; .*remove it and add it anew",
        ),
        (lambda m: m.rename("crank", "bead"), "'bead': this name is already used by a Body"),
        (lambda m: m.rename("crank", ""), "the name is ''"),
        (lambda m: m.remove("nothing"), "there is no element 'nothing'"),
    ],
)
def test_bad_changes(change, text):
    model = small()
    with pytest.raises(ModelError, match=text):
        change(model)
    assert model.hash == small().hash


def test_an_old_handle_is_refused():
    model = da.Model()
    old = model.add_body("a", mass=1, inertia=(1, 1, 1))
    model.replace(old, mass=2)
    with pytest.raises(ModelError, match="body 'a' belongs to another model; give a body of this one, as it is now"):
        model.add_spherical("j", "ground", old, point=(0, 0, 0))

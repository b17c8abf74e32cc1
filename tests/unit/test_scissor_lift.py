"""What a first model of a lift on scissors is told where a joint is forgotten, or on the wrong body, or has the wrong axis."""

import numpy as np
import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.compilation.compile import compile
from dalembert.remarks.doubts import MODEL, doubts
from dalembert.remarks.left_free import left_free

A, B, C, D = np.zeros(2), np.array([1.14, 0.0]), np.array([1.14, 0.36]), np.array([0.0, 0.36])
FOOT = np.array([0.25, 0.02])
EYE = B + 0.3 * (D - B)


def lift(without="", rail="table", axis=(1, 0)) -> da.Model:
    """without : the joint that is left out;  rail : what the block at C slides on, along `axis`"""
    model, small = da.Model(plane="xz"), da.box(0.5, (0.06, 0.06, 0.06)).body()
    for name, mass, ends in (("left", 8.0, (A, C)), ("right", 8.0, (B, D))):
        model.add_link(name, *ends, mass=mass)
    model.add_body("table", **da.box(40.0, (1.3, 0.4, 0.05)).body(), position=(0.6, 0.36))
    model.add_body("roller", **small, position=B)
    model.add_body("block", **small, position=C)
    model.add_link("barrel", FOOT, FOOT + 0.9 * (EYE - FOOT), mass=3.0)
    model.add_link("rod", EYE - 0.9 * (EYE - FOOT), EYE, mass=2.0)
    for name, first, second, point in (
        ("A", "ground", "left", A),
        ("M", "left", "right", 0.5 * C),
        ("B", "right", "roller", B),
        ("C", "left", "block", C),
        ("D", "right", "table", D),
        ("F", "ground", "barrel", FOOT),
        ("E", "rod", "right", EYE),
    ):
        if name != without:
            model.add_revolute(name, first, second, point=point)
    for name, first, second, point, along in (
        ("floor", "ground", "roller", B, (1, 0)),
        ("slot", rail, "block", C, axis),
        ("cylinder", "barrel", "rod", FOOT, EYE - FOOT),
    ):
        if name != without:
            model.add_prismatic(name, first, second, point=point, axis=along)
    model.add_driver("pump", "cylinder", da.Polynomial((0.0, 0.03)))
    return model


ALL = "'left' and 6 more are left free beside what is driven"


@pytest.mark.parametrize(
    ("without", "told"),
    [
        ("", None),
        ("A", ALL),
        ("M", ALL),
        ("B", ALL),
        ("floor", ALL),
        ("C", "an end of 'left' is at joint 'slot' and nothing joins them there"),
        ("D", "an end of 'right' is on 'table' and nothing joins them there"),
        ("slot", "'block' is at 'table' and nothing joins them there"),
        ("F", ALL),
        ("E", "an end of 'rod' is on 'right' and nothing joins them there"),
    ],
)
def test_every_joint_that_is_forgotten_is_in_the_verdict(without, told, tmp_path):
    model = lift(without)
    found = [*(text for name, text in left_free(compile(model)) if name == MODEL), *doubts(model)]
    assert [text.partition(":")[0] for text in found[:1]] == [told] * (told is not None)
    if without == "M":
        assert da.simulate(model, 0.1).report().headline == f"trusted, but look at the model: {told}"
    model.to_yaml(tmp_path / "lift.yaml")
    verdict = CliRunner().invoke(app, ["check", str(tmp_path / "lift.yaml")]).stdout.splitlines()[-1]
    assert verdict.startswith(f"it can be simulated, but look at the model: {told}" if told else "it can be simulated")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rail": "ground"}, "with 'table' in place of the ground in 'slot' it would move"),
        ({"axis": (0, 1)}, "with the axis (1, 0) of 'slot' it would move"),
    ],
)
def test_what_locks_it_is_told_first(given, told):
    """And no end of a rod in its barrel, which is free in every cylinder."""
    with pytest.raises(da.AssemblyError, match="no velocities fit: ") as refusal:
        compile(lift(**given))
    assert str(refusal.value).startswith(f"no velocities fit: {told}; the mechanism is over-constrained")


def test_a_guide_across_the_motion_that_is_asked_for():
    model = da.Model(plane="xz")
    model.add_link("crank", (0, 0), (0, 0.1), mass=0.5)
    model.add_link("rod", (0, 0.1), (0.3, 0.1), mass=0.8)
    model.add_body("slider", **da.box(2.0, (0.06, 0.06, 0.06)).body(), position=(0.3, 0.1))
    model.add_revolute("A", "ground", "crank", point=(0, 0))
    model.add_revolute("B", "crank", "rod", point=(0, 0.1))
    model.add_revolute("C", "rod", "slider", point=(0.3, 0.1))
    model.add_prismatic("D", "ground", "slider", point=(0.3, 0.1), axis=(0, 1))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    with pytest.raises(
        da.AssemblyError, match=r"no velocities fit: with the axis \(1, 0\) of 'D' it would move; the mechanism"
    ):
        compile(model)

"""Redundant rows by name, over-driven mechanisms, singular starts."""

import numpy as np
import pytest
from kernel_calls import count, evaluate, mass_matrix, project, relative, rows
from random_mechanisms import SHAPES, inertia, random_model, rotation

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.compilation.rank import dependent_rows
from dalembert.errors import ModelError
from dalembert.kernels.base import tables as T
from dalembert.model.model import Model
from dalembert.model.motions import Polynomial
from dalembert.model.rotation import Rotation


def names(found):
    return [f"{row.element}.{row.label}" for row in found]


def test_four_bar_and_its_twin():
    four_bar, twin = compile(gallery.spatial_four_bar()), compile(gallery.spatial_four_bar(redundant=False))
    assert len(four_bar.redundant) == 3 and {row.element for row in four_bar.redundant} == {"C"}
    assert four_bar.m == 20 and four_bar.rank == 17 and four_bar.degrees_of_freedom == 1
    assert four_bar.not_unique == ("A", "B", "C", "D")
    assert not twin.redundant and not twin.not_unique and twin.m == 17 and twin.degrees_of_freedom == 1
    assert not four_bar.warnings and not twin.warnings


def test_rank_agrees_with_the_singular_values():
    for name in gallery.GALLERY:
        model = gallery.build(name)
        if not isinstance(model, Model):
            continue
        mechanism = compile(model)
        G, *_ = rows(mechanism, 0.0, mechanism.x_0)
        values = np.linalg.svd(G, compute_uv=False)
        # rows of length 0.1 to 10: a dependent one leaves 1e-15, an independent one more than 1e-3
        assert mechanism.rank == np.sum(values > 1e-4 * values[:1]) == np.sum(values > 1e-12 * values[:1]), name


@pytest.mark.parametrize("shape", SHAPES)
def test_random_mechanisms_have_no_redundant_rows(shape):
    for seed in range(4):
        mechanism = compile(random_model(seed, shape))
        assert not mechanism.redundant and not any("singular" in text for text in mechanism.warnings)


def test_duplicate_joints():
    model = gallery.pendulum_3d()
    model.add_spherical("again", model.ground, "pendulum", point=(0, 0, 0))
    mechanism = compile(model)
    assert names(mechanism.redundant) == ["again.x", "again.y", "again.z"]
    assert mechanism.not_unique == ("pivot", "again") and mechanism.degrees_of_freedom == 3
    twin = compile(gallery.pendulum_3d())
    a, b = (evaluate(m, 0.0, m.x_0).acceleration for m in (mechanism, twin))
    assert relative(a, b) <= 1e-14  # the same three rows


def test_door_on_two_hinges():
    model = Model()
    door = model.add_body("door", mass=20.0, inertia=(1.0, 2.0, 1.0), position=(0.5, 0, 1))
    model.add_revolute("lower", model.ground, door, point=(0, 0, 0.2), axis=(0, 0, 1))
    model.add_revolute("upper", model.ground, door, point=(0, 0, 1.8), axis=(0, 0, 1))
    mechanism = compile(model)
    assert len(mechanism.redundant) == 5 and {row.element for row in mechanism.redundant} == {"upper"}
    assert mechanism.degrees_of_freedom == 1


def test_redundancy_of_one_loop_is_not_sought_in_another():
    """Two four-bars side by side: three rows each."""
    data = gallery.spatial_four_bar().to_dict()
    other = gallery.spatial_four_bar().to_dict()["elements"]
    for element in other:
        for key in ("name", "first", "second"):
            if key in element and element[key] != "ground":
                element[key] += "'"
    data["elements"] = [*data["elements"], *other]
    mechanism = compile(Model.from_dict(data))
    assert sorted(row.element for row in mechanism.redundant) == ["C"] * 3 + ["C'"] * 3
    assert mechanism.degrees_of_freedom == 2


def test_over_driven_names_the_driver():
    model = gallery.spatial_four_bar(crank_angle=0.3)
    model.add_driver("first", "A", Polynomial((0.0,)))
    assert compile(model).degrees_of_freedom == 0
    model.add_driver("second", "D", Polynomial((0.0,)))
    with pytest.raises(ModelError, match=r"over-driven.*'second'"):
        compile(model)


def test_driver_on_a_coordinate_that_another_joint_holds():
    model = Model()
    body = model.add_body("body", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.add_revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_fixed("weld", model.ground, body)
    model.add_driver("motor", "hinge", 0.0)
    with pytest.raises(ModelError, match="'motor'"):
        compile(model)


def flat_parallelogram(seed, hubs, angle=0.0):
    """A parallelogram, on one line for angle = 0, in a random direction; `hubs` of its bodies carry point masses."""
    rng = np.random.default_rng(seed)
    turn = Rotation(rotation(rng))
    model = Model(rng.uniform(-5.0, 5.0, 3))
    crank, base = rng.uniform(0.5, 1.5), rng.uniform(2.0, 3.0)
    tip = crank * np.array([np.cos(angle), np.sin(angle), 0.0])
    corners = [turn.apply(p) for p in ((0, 0, 0), tip, tip + np.array([base, 0, 0]), (base, 0, 0))]
    bodies = [
        model.add_body(name, mass=1.0, inertia=inertia(rng), position=0.5 * (a + b), rotation=rotation(rng))
        for name, a, b in zip(("crank", "coupler", "rocker"), corners, corners[1:], strict=False)
    ]
    ends = [model.ground, *bodies, model.ground]
    for name, point, first, second in zip("ABCD", corners, ends, ends[1:], strict=False):
        model.add_revolute(name, first, second, point=point, axis=turn.apply((0, 0, 1)))
    for body in bodies[:hubs]:
        for k in range(3):
            weight = model.add_point_mass(f"{body.name} {k}", mass=0.3, position=body.position + rng.uniform(-1, 1, 3))
            model.add_spherical(f"{body.name} {k} ball", body, weight, point=weight.position)
    return model


@pytest.mark.parametrize("hubs", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_singular_start(hubs, seed):
    """The rank is lower on the line: warned about, one vanishing pivot, and accelerations of the pseudo-inverse."""
    mechanism = compile(flat_parallelogram(seed, hubs))
    assert len(mechanism.warnings) == 1 and "singular" in mechanism.warnings[0]
    assert len(mechanism.redundant) == 3 and mechanism.I[T.NHUB] == hubs
    e = evaluate(mechanism, 0.0, mechanism.x_0)
    assert e.status == T.OK and count(mechanism, e.W).dependent == 1
    G, _, _, zeta = rows(mechanism, 0.0, mechanism.x_0)
    inverse = np.linalg.inv(mass_matrix(mechanism))
    # the null direction has a singular value of 1e-16, the others more than 1e-2
    lam = np.linalg.lstsq(G @ inverse @ G.T, -zeta - G @ inverse @ e.wrench, rcond=1e-11)[0]
    assert relative(e.acceleration, inverse @ (e.wrench + G.T @ lam)) <= 1e-10  # cond of the rest 1e5
    # the dependent multiplier is zero, not a quotient of roundings
    assert np.abs(e.lam).max() <= 1e3 * np.abs(lam).max()


@pytest.mark.parametrize("hubs", [0, 3])
def test_regular_start_of_the_same_mechanism(hubs):
    mechanism = compile(flat_parallelogram(1, hubs, angle=1.0))
    assert not mechanism.warnings and len(mechanism.redundant) == 3
    e = evaluate(mechanism, 0.0, mechanism.x_0)
    assert count(mechanism, e.W).dependent == 0
    assert project(mechanism, 0.0, mechanism.x_0)[0] == T.OK


def test_planar_coordinates_leave_out_what_holds_by_itself():
    planar = compile(gallery.planar_quadrangle(), "planar")
    assert planar.m == 8 and planar.degrees_of_freedom == 1
    assert len(planar.out_of_plane) == 9 and not planar.redundant
    assert {row.label for row in planar.out_of_plane} >= {"z"}


def test_dependent_rows_by_priority():
    rows_ = np.array([[1.0, 0, 0], [0, 2.0, 0], [1.0, 1.0, 0], [0, 0, 0], [0, 0, 1e-3]])
    assert dependent_rows(rows_, range(5)) == [2, 3]
    assert dependent_rows(rows_, [2, 1, 0, 3, 4]) == [0, 3]


@pytest.mark.parametrize("name", ["slider_crank", "four_bar", "andrews", "bricard", "rolling_disc", "flyball_governor"])
def test_rows_that_are_independent_at_the_start_need_no_other_poses(name, monkeypatch):
    quick = compile(gallery.build(name))
    monkeypatch.setattr("dalembert.compilation.rank.far_from_dependent", lambda gram: [False])
    whole = compile(gallery.build(name))
    assert (quick.redundant, quick.not_unique, quick.warnings) == (whole.redundant, whole.not_unique, whole.warnings)
    assert quick.rank == whole.rank and np.array_equal(quick.I, whole.I)

"""Rotations, solids and motions."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as Reference

from dalembert.compilation.pack_motions import vanishes
from dalembert.errors import ModelError
from dalembert.model.motions import Constant, Function, Harmonic, Polynomial, SmoothStep, Table, lower_bound
from dalembert.model.rotation import Rotation, matrix_to_quaternion, quaternion_to_matrix, unit_quaternion
from dalembert.model.shapes import box, cylinder, disc, rod, sphere
from dalembert.model.validation import inertia

components = st.floats(-1, 1, allow_nan=False)
quaternions = st.tuples(components, components, components, components).filter(lambda q: np.linalg.norm(q) > 1e-3)


def unit(q):
    return np.array(q) / np.linalg.norm(q)


@given(quaternions)
def test_matrix_and_quaternion_agree_with_scipy_and_with_each_other(q):
    q = unit(q)
    R = quaternion_to_matrix(q)
    np.testing.assert_allclose(R, Reference.from_quat(np.roll(q, -1)).as_matrix(), rtol=0, atol=1e-15)
    back = matrix_to_quaternion(R)
    assert abs(back @ q) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(quaternion_to_matrix(back), R, rtol=0, atol=1e-14)


@pytest.mark.parametrize("q", np.vstack([np.eye(4), [(0, 1, 1, 0), (1e-9, 1, 0, 0), (0, 0.6, 0, 0.8)]]))
def test_half_turns_lose_no_digits(q):
    q = unit(q)
    back = matrix_to_quaternion(quaternion_to_matrix(q))
    np.testing.assert_allclose(back * np.sign(back @ q), q, rtol=0, atol=1e-15)


@given(quaternions, quaternions)
def test_product_applies_the_right_factor_first(p, q):
    a, b = Rotation.from_quaternion(unit(p)), Rotation(unit(q))
    v = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose((a * b).apply(v), a.apply(b.apply(v)), rtol=0, atol=1e-14)
    np.testing.assert_allclose((a * a.inverse()).matrix, np.eye(3), rtol=0, atol=1e-14)


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))
def test_roll_pitch_yaw_is_scipys_xyz(roll, pitch, yaw):
    expected = Reference.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
    np.testing.assert_allclose(Rotation.from_rpy(roll, pitch, yaw).matrix, expected, rtol=0, atol=1e-14)


def test_axis_angle_and_repr():
    turn = Rotation.from_axis_angle((0, 0, 5), np.pi / 2)
    np.testing.assert_allclose(turn.apply((1, 0, 0)), (0, 1, 0), rtol=0, atol=1e-15)
    rebuilt = eval(repr(turn))
    np.testing.assert_allclose(rebuilt.quaternion, turn.quaternion, rtol=0, atol=1e-16)
    np.testing.assert_allclose(Rotation.from_matrix(turn.matrix).quaternion, turn.quaternion, rtol=0, atol=1e-15)


def test_rounded_tables_are_normalised():
    """Three digits, as printed in the literature."""
    assert np.linalg.norm(unit_quaternion("body 'x'", (0.978, 0, 0, 0.210))) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("given_rotation", "message"),
    [
        ((1, 0, 0, 0.1), "quaternion of length 1.00499; give a unit quaternion"),
        ((0, 0, 0, 0), "quaternion of length 0; give a unit quaternion"),
        ((1, 0, 0), "rotation is (1, 0, 0); give a quaternion (4 numbers, scalar first), a 3x3 matrix"),
        (np.diag([1, 1, 1.001]), "misses orthogonality by 0.002"),
        (np.diag([1.0, 1, -1]), "determinant -1, a reflection; change a column's sign"),
        ((1, 0, 0, np.nan), "rotation is [1.0, 0.0, 0.0, nan]; give finite numbers"),
        ("up", "rotation is 'up'; give a quaternion"),
        (((1, 0), (0, 1, 0)), "give a quaternion"),
    ],
)
def test_bad_rotations(given_rotation, message):
    with pytest.raises(ModelError, match="^body 'x': .*" + re.escape(message)):
        unit_quaternion("body 'x'", given_rotation)


@pytest.mark.parametrize(
    "solid",
    [rod(2, 3), rod(2, 3, "z"), rod(2, 3, "y", 0.1), box(2, (1, 2, 3)), cylinder(2, 1, 3), sphere(2, 1), disc(2, 1)],
)
def test_solids_are_bodies_that_can_exist(solid):
    np.testing.assert_allclose(np.diag(inertia("body", solid.inertia)), solid.inertia)
    assert set(solid.body()) == {"mass", "inertia", "shape"}


def test_solid_moments():
    np.testing.assert_allclose(rod(12, 2).inertia, (4e-4, 4, 4))
    np.testing.assert_allclose(rod(12, 2, "y", radius=0.5).inertia, cylinder(12, 0.5, 2, "y").inertia)
    np.testing.assert_allclose(cylinder(12, 1, 2, "x").inertia, (6, 7, 7))
    np.testing.assert_allclose(box(12, (1, 2, 3)).inertia, (13, 10, 5))
    np.testing.assert_allclose(disc(4, 1, "y").inertia, (1, 2, 1))
    np.testing.assert_allclose(sphere(5, 1).inertia, (2, 2, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rod(0, 1), "rod: mass is 0; give a number greater than 0"),
        (lambda: rod(1, 1, radius=-1), "rod: radius is -1; give a number not less than 0"),
        (lambda: rod(1, 1, "w"), "rod: axis is 'w'; give 'x' or 'y' or 'z'"),
        (lambda: box(1, (1, 0, 1)), "box: size is [1.0, 0.0, 1.0]; give three edges greater than 0"),
        (lambda: sphere(1, np.inf), "sphere: radius is inf; give a finite number"),
        (lambda: Constant("fast"), "Constant: value is 'fast'; give a number"),
        (lambda: Polynomial((1.0, np.nan)), "Polynomial: coefficients[1] is nan; give a finite number"),
        (lambda: Polynomial(()), "Polynomial: coefficients is (); give at least one number"),
        (lambda: Polynomial(3.0), "Polynomial: coefficients is 3.0; give a sequence, as (0, 3.0) for a speed"),
        (lambda: Harmonic(1.0, np.inf), "Harmonic: omega is inf; give a finite number"),
        (lambda: SmoothStep(0, 1, 2, 2), "SmoothStep: t_stop is 2; give a time after t_start = 2"),
        (lambda: Table((0, 1, 1), (0, 0, 0)), "Table: times[2] = 1 after 1; give strictly increasing times"),
        (lambda: Table((0,), (1,)), "Table: 1 times and 1 values; give as many of each, at least 2"),
        (lambda: Table((0, 1), (1,)), "Table: 2 times and 1 values"),
    ],
)
def test_bad_solids_and_motions(make, message):
    with pytest.raises(ModelError, match="^" + re.escape(message)):
        make()


def test_motions_hold_plain_floats():
    table = Table(np.array([0, 1, 2]), [3, 4, 5])
    assert table == Table((0.0, 1.0, 2.0), (3.0, 4.0, 5.0))
    assert all(type(x) is float for x in (*table.times, *table.values))


def test_lower_bound_of_prescribed_lengths():
    motions = Constant(1), Polynomial((2, 9)), Harmonic(1, 2, 0, 4), SmoothStep(5, 3, 0, 1), Table((0, 1), (7, 6))
    assert [lower_bound(m) for m in motions] == [1, 2, 3, 3, 6]


@pytest.mark.nojit
def test_when_a_prescribed_length_is_zero():
    """By formulas, and by looking: also where it is below zero for less than the distance of two looks, or only nearly so."""
    dips = [Function(lambda t, least=least: (t - 1.2345) ** 2 + least) for least in (-1e-9, 1e-9)]
    assert vanishes(Polynomial((1, -0.5)), 0, 4) == pytest.approx(2) and vanishes(Polynomial((1, -0.5)), 0, 1.9) is None
    assert vanishes(Table((0, 1, 2), (3, 1, -1)), 0, 2) == pytest.approx(1.5)
    assert vanishes(dips[0], 0, 3) == pytest.approx(1.2345 - 1e-9**0.5, abs=2e-5) and vanishes(dips[1], 0, 3) is None
    assert vanishes(Polynomial((1.5,)) + Harmonic(2, 1), 0, 6) == pytest.approx(np.pi + np.arcsin(0.75), abs=3e-3)

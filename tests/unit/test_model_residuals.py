"""Joint frames and primitives against an evaluator of their own definitions, on random poses and on the gallery."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as R

from dalembert import gallery
from dalembert.model.joints import JOINTS, angle_of, direction_of
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial

INERTIA = (1.0, 1.1, 1.2)
seeds = st.integers(0, 2**32 - 1)


def pose(body):
    return body.position, R.from_quat(np.roll(body.rotation, -1)).as_matrix()


def value(motion, t):
    """f(t) of the motions used here."""
    match motion:
        case None:
            return 0.0
        case Constant(c):
            return c
        case Polynomial(coefficients):
            return np.polyval(coefficients[::-1], t)
        case Harmonic(amplitude, omega, phase, offset):
            return offset + amplitude * np.sin(omega * t + phase)


def angle(a_i, n_i, a_j):
    return np.arctan2(np.cross(n_i, a_i) @ a_j, a_i @ a_j)


def lowest(p, n):
    """How far a body that rolls reaches below its centre p_j, n the plane's normal in its axes: support functions."""
    match p.law:
        case "sphere height":
            return p.offset
        case "disc height":
            return p.offset * np.sqrt(1 - (n @ p.a_j) ** 2)
        case "ellipsoid height":
            return np.linalg.norm(p.a_j * n)


def residual(p, pose_i, pose_j, t=0.0):
    """g of one primitive, from the definitions in `elements.Primitive`, in order of its rows; rows of velocities have none."""
    (r_i, R_i), (r_j, R_j) = pose_i, pose_j
    d = r_j + R_j @ p.p_j - r_i - R_i @ p.p_i
    f = p.offset + value(p.motion, t)
    match p.kind:
        case "C":
            return d
        case "SO":
            return [(R_i @ p.a_i) @ (R_j @ p.a_j)]
        case "O":
            return [(R_i @ p.a_i) @ d - f]
        case "D":
            return [(d @ d - f**2) / (2 * f)]
        case "A":
            return [np.sin(angle(R_i @ p.a_i, R_i @ p.n_i, R_j @ p.a_j) - f)]
        case "U":
            return [(R_i @ p.n_i) @ d - lowest(p, R_j.T @ R_i @ p.n_i)]
        case "V":
            return []


def residuals(model, poses=None, t=0.0):
    """All residuals of joints and drivers, one vector."""
    poses = {b.name: pose(b) for b in (model.ground, *model.bodies)} | (poses or {})
    rows = [(e.first, e.second, p) for e in model.joints for p in e.primitives]
    rows += [(e.first, e.second, e.primitive) for e in model.drivers]
    return np.concatenate([np.zeros(0), *(residual(p, poses[i], poses[j], t) for i, j, p in rows)])


def two_bodies(seed):
    """Two bodies in random poses, and the generator for more."""
    rng = np.random.default_rng(seed)
    model = Model()
    for name in ("a", "b"):
        rotation = np.roll(R.random(random_state=rng).as_quat(), 1)
        model.add_body(name, mass=1.0, inertia=INERTIA, position=rng.normal(size=3), rotation=rotation)
    return model, rng


def world_frames(joint, model, poses=None):
    """Joint points and triads in world axes."""
    poses = {b.name: pose(b) for b in (model.ground, *model.bodies)} | (poses or {})
    (r_i, R_i), (r_j, R_j) = poses[joint.first], poses[joint.second]
    return r_i + R_i @ joint.p_i, R_i @ joint.E_i, r_j + R_j @ joint.p_j, R_j @ joint.E_j


def assert_rotation(E):
    np.testing.assert_allclose(E.T @ E, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(E) == pytest.approx(1.0)


AXIS_VERBS = {
    "revolute": "add_revolute",
    "cylindrical": "add_cylindrical",
    "prismatic": "add_prismatic",
    "planar": "add_planar_joint",
    "point_on_line": "add_point_on_line",
    "point_on_plane": "add_point_on_plane",
}


@pytest.mark.parametrize("kind", AXIS_VERBS)
@given(seed=seeds)
def test_world_axis_gives_frames_equal_at_the_model_pose(kind, seed):
    model, rng = two_bodies(seed)
    point, axis = rng.normal(size=3), rng.normal(size=3)
    joint = getattr(model, AXIS_VERBS[kind])("j", "a", "b", point=point, axis=axis)
    x_i, W_i, x_j, W_j = world_frames(joint, model)
    np.testing.assert_allclose([x_i, x_j], [point, point], rtol=0, atol=1e-13)
    np.testing.assert_allclose(W_i, W_j, rtol=0, atol=1e-13)
    np.testing.assert_allclose(W_i[:, 2], axis / np.linalg.norm(axis), rtol=0, atol=1e-13)
    assert_rotation(joint.E_i)
    assert np.abs(residuals(model)).max() < 1e-12
    assert len(residuals(model)) == JOINTS[kind].conditions


@given(seed=seeds)
def test_body_fixed_axes_are_turned_to_agree(seed):
    """Rough pose: the given axes are the z columns, and x_j is the part of x_i normal to z_j."""
    model, rng = two_bodies(seed)
    a_i, a_j = rng.normal(size=(2, 3))
    joint = model.add_revolute("j", "a", "b", points=rng.normal(size=(2, 3)), axes=(a_i, a_j))
    _, W_i, _, W_j = world_frames(joint, model)
    for E in (joint.E_i, joint.E_j):
        assert_rotation(E)
    np.testing.assert_allclose(joint.E_i[:, 2], a_i / np.linalg.norm(a_i), rtol=0, atol=1e-14)
    np.testing.assert_allclose(abs(joint.E_j[:, 2] @ a_j), np.linalg.norm(a_j), rtol=0, atol=1e-13)
    assert W_i[:, 2] @ W_j[:, 2] >= 0.0
    part = W_i[:, 0] - (W_i[:, 0] @ W_j[:, 2]) * W_j[:, 2]
    np.testing.assert_allclose(W_j[:, 0], part / np.linalg.norm(part), rtol=0, atol=1e-10)


@given(seed=seeds)
def test_tabulated_vectors_give_the_rows_of_the_table(seed):
    """x_i = a_i, y_i = +-b_i, z_j = a_j, y_j = +-b_j, all as given though the signs of the axis differ."""
    model, rng = two_bodies(seed)
    W = R.random(random_state=rng).as_matrix()
    R_a, R_b = pose(model.body("a"))[1], pose(model.body("b"))[1]
    flip = rng.choice([-1.0, 1.0], size=2)
    vectors = (R_a.T @ W[:, 0], R_a.T @ (flip[0] * W[:, 1]), R_b.T @ W[:, 2], R_b.T @ (flip[1] * W[:, 1]))
    joint = model.add_prismatic("j", "a", "b", points=np.zeros((2, 3)), vectors=vectors)
    _, W_i, _, W_j = world_frames(joint, model)
    np.testing.assert_allclose(W_i, W, rtol=0, atol=1e-13)
    np.testing.assert_allclose(W_j, W, rtol=0, atol=1e-13)


@pytest.mark.parametrize("world", [True, False])
@given(seed=seeds)
def test_universal_axes_are_fixed_in_one_body_each(world, seed):
    model, rng = two_bodies(seed)
    W = R.random(random_state=rng).as_matrix()
    R_a, R_b = pose(model.body("a"))[1], pose(model.body("b"))[1]
    if world:
        joint = model.add_universal("j", "a", "b", point=rng.normal(size=3), axes=(W[:, 0], W[:, 1]))
        assert np.abs(residuals(model)).max() < 1e-12
    else:
        axes = (R_a.T @ W[:, 0], R_b.T @ W[:, 1])
        joint = model.add_universal("j", "a", "b", points=rng.normal(size=(2, 3)), axes=axes)
    _, W_i, _, W_j = world_frames(joint, model)
    np.testing.assert_allclose(W_i, W, rtol=0, atol=1e-13)
    np.testing.assert_allclose(W_j, W, rtol=0, atol=1e-13)


def test_universal_axes_that_are_not_perpendicular_stay_as_given():
    model, _ = two_bodies(0)
    x, y = np.array([1.0, 0, 0]), np.array([0.6, 0.8, 0])
    joint = model.add_universal("j", "a", "b", point=(0, 0, 0), axes=(x, y))
    _, W_i, _, W_j = world_frames(joint, model)
    np.testing.assert_allclose([W_i[:, 0], W_j[:, 1]], [x, y], rtol=0, atol=1e-14)
    assert_rotation(joint.E_i)
    assert_rotation(joint.E_j)


@pytest.mark.parametrize(
    ("kind", "relative"),
    [
        ("revolute", lambda s: (np.zeros(3), R.from_euler("z", s[0]))),
        ("prismatic", lambda s: (np.array([0, 0, s[0]]), R.identity())),
        ("cylindrical", lambda s: (np.array([0, 0, s[0]]), R.from_euler("z", s[1]))),
        ("planar", lambda s: (np.array([s[0], s[1], 0]), R.from_euler("z", s[2]))),
        ("point_on_line", lambda s: (np.array([0, 0, s[0]]), R.from_rotvec([1, 2, 3]))),
        ("point_on_plane", lambda s: (np.array([s[0], s[1], 0]), R.from_rotvec([1, 2, 3]))),
        ("universal", lambda s: (np.zeros(3), R.from_euler("XY", [s[0], s[1]]))),
    ],
)
@given(seed=seeds)
def test_driven_joint_at_its_coordinates(kind, relative, seed):
    """Bodies moved apart by the joint coordinates keep all rows of joint and drivers at zero, and no others."""
    model, rng = two_bodies(seed)
    if kind == "universal":
        W = R.random(random_state=rng).as_matrix()
        joint = model.add_universal("j", "a", "b", point=rng.normal(size=3), axes=(W[:, 0], W[:, 1]))
    else:
        joint = getattr(model, AXIS_VERBS[kind])("j", "a", "b", point=rng.normal(size=3), axis=rng.normal(size=3))
    s = rng.uniform(-1.5, 1.5, size=len(joint.coordinates))
    for k, name in enumerate(joint.coordinates):
        model.add_driver(f"drive {name}", joint, float(s[k]), component=k)

    x_i, W_i, _, _ = world_frames(joint, model)
    translation, rotation = relative(s)
    R_b = W_i @ rotation.as_matrix() @ joint.E_j.T
    r_b = x_i + W_i @ translation - R_b @ joint.p_j
    assert np.abs(residuals(model, {"b": (r_b, R_b)})).max() < 1e-12
    moved = r_b + W_i @ rng.normal(size=3), R_b @ R.random(random_state=rng).as_matrix()
    assert np.abs(residuals(model, {"b": moved})).max() > 1e-6

    # the same coordinates read off the frames, so that the sign of every angle is fixed and not only its sine
    poses = {"a": pose(model.body("a")), "b": (r_b, R_b)}
    for k in range(len(s)):
        a = angle_of(joint, k)
        if a is None:
            measured = (poses["a"][1] @ direction_of(joint, k)) @ (W_i @ translation)
        else:
            R_1, R_2 = poses[a.first][1], poses[a.second][1]
            measured = angle(R_1 @ a.a_i, R_1 @ a.n_i, R_2 @ a.a_j)
        assert measured == pytest.approx(s[k], abs=1e-12)


@given(seed=seeds)
def test_fixed_and_spherical_hold_at_the_model_pose(seed):
    model, rng = two_bodies(seed)
    weld = model.add_fixed("weld", "a", "b")
    ball = model.add_spherical("ball", "a", "b", point=rng.normal(size=3))
    for joint in (weld, ball):
        _, W_i, _, W_j = world_frames(joint, model)
        np.testing.assert_allclose(W_i, W_j, rtol=0, atol=1e-13)
    assert np.abs(residuals(model)).max() < 1e-12
    np.testing.assert_array_equal(weld.p_j, np.zeros(3))


def test_spherical_with_body_fixed_points_counts_from_the_bodies_axes():
    model, _ = two_bodies(1)
    joint = model.add_spherical("ball", "a", "b", points=((1, 2, 3), (4, 5, 6)))
    np.testing.assert_array_equal(joint.E_i, np.eye(3))
    np.testing.assert_array_equal(joint.E_j, np.eye(3))
    np.testing.assert_array_equal([joint.p_i, joint.p_j], [[1, 2, 3], [4, 5, 6]])


def test_bare_primitives_keep_what_they_are_given():
    model, _ = two_bodies(2)
    (c,) = model.add_coincidence("C", "a", "b", points=((1, 0, 0), (0, 2, 0))).primitives
    (so,) = model.add_perpendicular("SO", "a", "b", axes=((0, 3, 0), (0, 0, -2))).primitives
    plane = model.add_in_plane("O", "a", "b", direction=(0, -5, 0), points=((1, 1, 1), (2, 2, 2)), offset=0.25)
    (o,) = plane.primitives
    assert (c.kind, so.kind, o.kind, o.offset) == ("C", "SO", "O", 0.25)
    np.testing.assert_array_equal([c.p_i, c.p_j], [[1, 0, 0], [0, 2, 0]])
    np.testing.assert_array_equal([so.a_i, so.a_j], [[0, 1, 0], [0, 0, -1]])
    np.testing.assert_array_equal([o.a_i, o.p_i, o.p_j], [[0, -1, 0], [1, 1, 1], [2, 2, 2]])
    assert c.labels == ("x", "y", "z")


def test_distance_defaults_to_the_model_pose_and_takes_a_motion():
    model, _ = two_bodies(3)
    rod = model.add_distance("rod", "a", "b", points=((0.1, 0, 0), (0, 0.2, 0)))
    assert np.abs(residuals(model)).max() < 1e-14
    assert rod.coordinates == ("length",)
    growing = model.add_distance("growing", "a", "b", length=Polynomial((2.0, 0.1))).primitives[0]
    assert (growing.offset, growing.motion) == (0.0, Polynomial((2.0, 0.1)))


def test_point_driver_measures_along_the_direction_of_its_reference():
    model, _ = two_bodies(4)
    r, Rb = pose(model.body("b"))
    x = r + Rb @ [0.1, 0.2, 0.3]
    model.add_point_driver("lift", "b", point=(0.1, 0.2, 0.3), direction=(0, 0, 2), motion=x[2] - 1, origin=(5, 5, 1))
    assert np.abs(residuals(model)).max() < 1e-14
    assert model.drivers[0].joint is None
    assert model.drivers[0].first == "ground"


# The gallery: positions to rounding, velocities by a difference along the stated velocities.


@pytest.mark.parametrize("name", [name for name in gallery.GALLERY if isinstance(gallery.build(name), Model)])
def test_gallery_starts_consistent(name):
    model = gallery.build(name)
    assert np.abs(residuals(model)).max(initial=0.0) < 1e-12

    h = 1e-4 / max(1.0, *(np.linalg.norm(b.angular_velocity) for b in model.bodies))

    def at(t):
        turned = lambda b: R.from_rotvec(t * b.angular_velocity).as_matrix() @ pose(b)[1]  # noqa: E731
        return residuals(model, {b.name: (b.position + t * b.velocity, turned(b)) for b in model.bodies}, t)

    # central difference: error O(h^2) times third derivatives, which are below 1e2 where nothing turns faster than 1 rad/s
    assert np.abs(at(h) - at(-h)).max(initial=0.0) / (2 * h) < 1e-6


def constraint_rank(model):
    """Rank of the rows, by differences in the six directions of every body."""
    h, columns = 1e-6, []
    for body in model.bodies:
        r, W = pose(body)
        for e in np.eye(6):
            step = lambda s, r=r, W=W, e=e: (r + s * e[:3], R.from_rotvec(s * e[3:]).as_matrix() @ W)  # noqa: E731
            columns.append((residuals(model, {body.name: step(h)}) - residuals(model, {body.name: step(-h)})) / (2 * h))
    singular = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return int((singular > 1e-6 * singular[0]).sum())


@pytest.mark.parametrize(
    ("name", "rows", "rank"),
    [
        ("pendulum_3d", 3, 3),
        ("planar_quadrangle", 17, 17),
        ("crank_mechanism", 17, 17),
        ("slider_crank", 17, 17),
        ("four_bar", 20, 17),
        ("four_bar_twin", 17, 17),
        ("chain", 12, 12),
    ],
)
def test_gallery_has_the_published_number_of_conditions(name, rows, rank):
    model = gallery.build(name)
    assert sum(JOINTS[j.type].conditions for j in model.joints) == len(residuals(model)) == rows
    assert constraint_rank(model) == rank


def test_residuals_notice_a_shifted_body():
    """The evaluator itself: a millimetre out of place is seen as one."""
    model = gallery.build("slider_crank")
    model._elements["rod"] = replace(model.body("rod"), position=model.body("rod").position + np.array([0, 0, 1e-3]))
    assert np.abs(residuals(model)).max() == pytest.approx(1e-3, rel=1e-9)

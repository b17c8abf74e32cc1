"""Seeded random mechanisms over all joints, motions and forces; shared by the tests of kernels, plan and assembly.

Bodies get random poses, joints are defined by world points and axes at these poses, so that positions fit by
construction (up to drivers, which assembly repairs); `compile` makes the random velocities consistent.
"""

import numpy as np

from dalembert.model.joints import JOINTS, angle_of, direction_of
from dalembert.model.model import Model
from dalembert.model.motions import Constant, Harmonic, Polynomial, SmoothStep, Table
from dalembert.model.rotation import Rotation, quaternion_to_matrix

KINDS = tuple(JOINTS)
POINT_KINDS = ("spherical", "distance", "point_on_line", "point_on_plane", "coincidence", "in_plane")
MOTIONS = ("constant", "polynomial", "harmonic", "smooth_step", "table")
SHAPES = ("chain", "tree", "hub", "ring", "floating")


def unit(rng):
    v = rng.standard_normal(3)
    return v / np.linalg.norm(v)


def normal_to(rng, a):
    v = np.cross(a, unit(rng))
    return v / np.linalg.norm(v)


def rotation(rng):
    theta = rng.standard_normal(4)
    return theta / np.linalg.norm(theta)


def inertia(rng, size=0.1):
    """A full matrix that a body can have: J = R diag(b + c, a + c, a + b) R^T with a, b, c > 0."""
    R = quaternion_to_matrix(rotation(rng))
    moments = rng.uniform(0.3, 1.0, 3) * size
    return R @ np.diag(moments.sum() - moments) @ R.T


def motion(rng, kind, value=0.0):
    """A motion of the given kind that starts near `value`; smooth wherever |t - 0.75| < 0.05."""
    a, b = rng.uniform(0.2, 0.5, 2) * rng.choice([-1.0, 1.0], 2)
    match kind:
        case "constant":
            return Constant(value)
        case "polynomial":
            return Polynomial((value, a, b, -0.3 * a, 0.1))
        case "harmonic":
            return Harmonic(a, 2.0 + abs(b), b, value - a * np.sin(b))
        case "smooth_step":
            return SmoothStep(value, value + a, -0.1, 1.4)
        case "table":
            times = np.linspace(-0.5, 2.0, 6)  # knots at 0.5 and 1.0
            return Table(tuple(times), tuple(value + a * np.sin(2.0 * times) + 0.1 * b))
    raise ValueError(kind)


def add_random_body(model, rng, name, centre=(0.0, 0.0, 0.0), *, point=False):
    position = np.asarray(centre) + rng.uniform(-1.0, 1.0, 3)
    mass, velocity = rng.uniform(0.5, 2.0), rng.standard_normal(3)
    if point:
        return model.add_point_mass(name, mass=mass, position=position, velocity=velocity)
    return model.add_body(
        name,
        mass=mass,
        inertia=inertia(rng),
        position=position,
        rotation=rotation(rng),
        velocity=velocity,
        angular_velocity=rng.standard_normal(3),
    )


def in_body(body, x):
    return quaternion_to_matrix(body.rotation).T @ (np.asarray(x) - body.position)


def add_joint(model, rng, kind, name, first, second, *, length=None):
    """A joint of any type that holds at the bodies' poses; `length`: motion kind of a prescribed distance."""
    R_i, R_j = quaternion_to_matrix(first.rotation), quaternion_to_matrix(second.rotation)
    point = 0.5 * (first.position + second.position) + 0.3 * rng.standard_normal(3)
    if second.kind == "point":
        point = second.position
    axis = unit(rng)
    points = tuple(np.zeros(3) if b.kind == "point" else 0.3 * rng.standard_normal(3) for b in (first, second))
    ends = first.position + R_i @ points[0], second.position + R_j @ points[1]
    match kind:
        case "spherical":
            return model.add_spherical(name, first, second, point=point)
        case "universal":
            return model.add_universal(name, first, second, point=point, axes=(axis, normal_to(rng, axis)))
        case "fixed":
            return model.add_fixed(name, first, second, point=point)
        case "distance":
            span = float(np.linalg.norm(ends[1] - ends[0]))
            prescribed = None if length is None else motion(rng, length, max(span, 1.5))  # motions reach 1.0 lower
            return model.add_distance(name, first, second, points=points, length=prescribed)
        case "coincidence":
            return model.add_coincidence(name, first, second, points=(in_body(first, point), in_body(second, point)))
        case "perpendicular":
            axes = (R_i.T @ axis, R_j.T @ normal_to(rng, axis))
            return model.add_perpendicular(name, first, second, axes=axes)
        case "in_plane":
            offset = float(axis @ (ends[1] - ends[0]))
            return model.add_in_plane(name, first, second, direction=R_i.T @ axis, points=points, offset=offset)
    verb = getattr(model, "add_planar_joint" if kind == "planar" else f"add_{kind}")
    return verb(name, first, second, point=point, axis=axis)


def usable_components(joint):
    """Joint coordinates that a driver, motor or spring can act on alone."""
    return [c for c in range(len(joint.coordinates)) if angle_of(joint, c) is not None or direction_of(joint, c) is not None]


def pair_model(seed, kind, *, motion_kind=None, point=False):
    """Two free bodies with one joint of the given kind, driven in its last usable coordinate if a motion is named."""
    rng = np.random.default_rng([seed, KINDS.index(kind), MOTIONS.index(motion_kind) if motion_kind else 9, point])
    model = Model(rng.uniform(-5.0, 5.0, 3), name=f"pair {kind} {seed}")
    a = add_random_body(model, rng, "a")
    b = add_random_body(model, rng, "b", (1.0, 0.0, 0.0), point=point)
    length = motion_kind if kind == "distance" else None
    joint = add_joint(model, rng, kind, "joint", a, b, length=length)
    components = usable_components(joint)
    if motion_kind and components:
        model.add_driver("driver", joint, motion(rng, motion_kind), component=components[-1])
    return model


def tree_parents(rng, shape, n):
    """Parent of each body 1..n (0 = ground, -1 = floating)."""
    match shape:
        case "chain" | "ring":
            return list(range(n))
        case "tree":
            return [0, *(int(rng.integers(1, k)) for k in range(2, n + 1))]
        case "hub":
            return [0, *([1] * (n - 1))]
        case "floating":
            return [-1, *(int(rng.integers(max(1, k - 3), k)) for k in range(2, n + 1))]
    raise ValueError(shape)


def random_model(seed, shape, n=6, *, forces=True, drivers=True):
    """A mechanism of n bodies of the given shape; every seed takes other joints, motions and forces.

    chain, tree, hub (one body with n joints), ring (a chain closed by a ball joint or a rod), floating (a tree without
    ground); all but the ring end in a point mass on a rod.
    """
    rng = np.random.default_rng([seed, SHAPES.index(shape), n])
    model = Model(rng.uniform(-5.0, 5.0, 3), name=f"{shape} of {n}, seed {seed}")
    parents = tree_parents(rng, shape, n)
    bodies = [model.ground]
    depth = [0]
    loop = shape == "ring"
    kinds = list(rng.permutation(["spherical", "universal", "cylindrical", "revolute"] if loop else KINDS))
    joints = []
    for k, parent in enumerate(parents, start=1):
        depth.append(depth[max(parent, 0)] + 1)
        body = add_random_body(model, rng, f"body {k}", (0.8 * depth[-1], 0.0, 0.0))
        bodies.append(body)
        if parent < 0:
            continue
        kind = str(kinds[k % len(kinds)])
        if loop and k in (1, 2):
            kind = ("spherical", "universal")[k - 1]  # leaves the loop mobile
        first, second = bodies[parent], body
        if rng.random() < 0.3:  # either body may come first
            first, second = second, first
        joints.append(add_joint(model, rng, kind, f"joint {k}", first, second))
    if loop:
        kind = "spherical" if seed % 2 else "distance"
        add_joint(model, rng, kind, "closing", bodies[-1], model.ground)
    else:
        weight = add_random_body(model, rng, "weight", (0.8 * depth[-1] + 1.0, 0.0, 0.0), point=True)
        add_joint(model, rng, "distance", "rod", bodies[-1], weight, length="harmonic" if seed % 2 else None)
        if drivers and seed % 3 == 0:
            direction = unit(rng)
            f = motion(rng, "polynomial", float(direction @ weight.position))
            model.add_point_driver("point driver", weight, direction=direction, motion=f)
    open_joints = [j for j in joints if usable_components(j)]
    if drivers and not loop and open_joints:
        for number, k in enumerate(rng.permutation(len(open_joints))[:2]):
            joint = open_joints[int(k)]
            kind = MOTIONS[(seed + number) % len(MOTIONS)]
            c = int(rng.choice(usable_components(joint)))
            model.add_driver(f"driver {number}", joint, motion(rng, kind), component=c)
    if forces:
        add_forces(model, rng, joints)
    return model


def add_forces(model, rng, joints):
    """Every kind of force that the model's joints can take."""
    rigid = [b for b in model.bodies if b.kind == "rigid"]

    def some():
        return rigid[int(rng.integers(len(rigid)))]

    def effort():
        return motion(rng, MOTIONS[int(rng.integers(1, len(MOTIONS)))], 1.0)

    model.add_force("world force", some(), rng.standard_normal(3), point=0.3 * rng.standard_normal(3))
    model.add_force("follower", some(), rng.standard_normal(3), point=0.2 * unit(rng), frame="body", factor=effort())
    model.add_torque("body torque", some(), rng.standard_normal(3), frame="body", factor=effort())
    model.add_torque("world torque", some(), rng.standard_normal(3), frame="world")
    points = (unit(rng), 0.3 * unit(rng))
    model.add_spring_damper("to ground", model.ground, rigid[-1], stiffness=3.0, damping=0.4, length=0.5, points=points)
    if len(rigid) > 1:
        points = (0.3 * unit(rng), 0.3 * unit(rng))
        model.add_spring_damper("between", rigid[0], rigid[-1], stiffness=2.0, damping=0.3, points=points)
    for number, joint in enumerate(joints):
        for c in usable_components(joint):
            model.add_joint_spring_damper(
                f"coordinate spring {number}.{c}",
                joint,
                stiffness=2.0,
                damping=0.3,
                law="coordinate",
                reference=0.2,
                component=c,
            )
            model.add_motor(f"motor {number}.{c}", joint, effort(), component=c)
        if joint.type in ("spherical", "universal") and joint.coordinates:
            law = ("rotation-vector", "euler-321")[number % 2]
            model.add_joint_spring_damper(f"rotation spring {number}", joint, stiffness=1.5, damping=0.2, law=law)


def planar_chain(seed, n=4, *, tilt=True, spring=True):
    """Rods on parallel hinges, moving in one (tilted) plane through the origin, with velocities in it."""
    rng = np.random.default_rng([seed, n])
    turn = Rotation(rotation(rng)) if tilt else Rotation()
    e1, e2, normal = turn.matrix.T
    model = Model(rng.uniform(-5.0, 5.0, 2) @ turn.matrix.T[:2], name=f"planar chain {seed}")
    start, previous = np.zeros(3), model.ground
    for k in range(1, n + 1):
        angle, length = rng.uniform(-2.0, 2.0), rng.uniform(0.5, 1.0)
        end = start + length * (np.cos(angle) * e1 + np.sin(angle) * e2)
        rod = model.add_body(
            f"rod {k}",
            mass=rng.uniform(0.5, 2.0),
            inertia=(0.08, 0.1, 0.12),
            position=0.5 * (start + end),
            rotation=turn * Rotation.from_axis_angle((0, 0, 1), angle),
            angular_velocity=rng.standard_normal() * normal,
            velocity=rng.standard_normal(2) @ np.array([e1, e2]),
        )
        model.add_revolute(f"hinge {k}", previous, rod, point=start, axis=normal)
        start, previous = end, rod
    if spring:
        model.add_spring_damper("spring", model.ground, rod, stiffness=5.0, damping=0.5, length=0.3)
        model.add_torque("torque", rod, rng.standard_normal() * normal, frame="world")
        model.add_motor("motor", "hinge 2", Harmonic(2.0, 3.0))
    return model

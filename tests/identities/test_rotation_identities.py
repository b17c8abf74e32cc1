"""The algebra of Euler parameters, and [Jet]'s variables as an independent dense right-hand side (THEORY 1 and 3)."""

import numpy as np
import pytest
from kernel_calls import evaluate, poses, project
from random_mechanisms import inertia, random_model, rotation

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.kernels.base import tables as T
from dalembert.kernels.base.vectors import Mat3, Quat, Vec3
from dalembert.kernels.coordinates.kinematics import euler_parameter_rates, normalised
from dalembert.kernels.coordinates.kinematics import rotation as rotation_matrix
from dalembert.kernels.mechanics.rotations import euler_321, rotation_vector

EXACT = 4e-15  # sums of 4 to 8 products of numbers up to 1 (angular velocities: up to 3), each rounded


def H(th):
    a, b, c, d = th
    return np.array([[-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])


def H_tilde(th):
    a, b, c, d = th
    return np.array([[-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@pytest.mark.nojit
@pytest.mark.bounds
def test_euler_parameter_identities(rng):
    for _ in range(20):
        th, v, w = rotation(rng), *rng.uniform(-1, 1, (2, 4))
        w_B = rng.uniform(-3, 3, 3)
        R = np.reshape(list(rotation_matrix(Quat(*th))), (3, 3))
        rates = np.array(list(euler_parameter_rates(Quat(*th), Vec3(*w_B))))
        assert np.abs(H(th) @ H(th).T - np.eye(3)).max() <= EXACT
        assert np.abs(H(th).T @ H(th) - np.eye(4) + np.outer(th, th)).max() <= EXACT
        assert np.abs(H(th) @ th).max() <= EXACT
        assert np.abs(H(v) @ w + H(w) @ v).max() <= EXACT
        assert np.abs(H_tilde(th) @ H(th).T - R).max() <= EXACT
        assert np.abs(R.T @ R - np.eye(3)).max() <= EXACT and np.linalg.det(R) == pytest.approx(1.0, abs=EXACT)
        assert np.abs(rates - 0.5 * H(th).T @ w_B).max() <= EXACT
        assert np.abs(2 * H(th) @ rates - w_B).max() <= EXACT
        assert np.abs(2 * H_tilde(th) @ rates - R @ w_B).max() <= 2 * EXACT
        assert abs(th @ rates) <= EXACT
        # R' = R w_B^, with the quadratic R(theta): R(theta + s theta') - R(theta - s theta') = 2 s R' exactly
        R_dot = H_tilde(rates) @ H(th).T + H_tilde(th) @ H(rates).T
        assert np.abs(R_dot - R @ hat(w_B)).max() <= 4 * EXACT


@pytest.mark.nojit
def test_rotation_of_any_length_is_a_rotation(rng):
    for length in (0.1, 1.0, 30.0):
        th = rotation(rng)
        R = np.array(list(rotation_matrix(Quat(*(length * th)))))
        assert np.abs(R - list(rotation_matrix(Quat(*th)))).max() <= EXACT
        assert np.linalg.norm(list(normalised(Quat(*(length * th))))) == pytest.approx(1.0, abs=EXACT)


@pytest.mark.nojit
def test_rotation_vector_and_euler_angles(rng):
    from scipy.spatial.transform import Rotation

    for angle in (0.0, 1e-9, 1e-4, 1.9e-3, 0.3, 2.0, 3.1, np.pi - 1e-7):
        axis = rng.standard_normal(3)
        phi = angle * axis / np.linalg.norm(axis)
        R = Rotation.from_rotvec(phi).as_matrix()
        # scipy's own matrix is good to a few eps; near pi the axis comes from 1 + cos, still without cancellation
        assert np.abs(np.array(list(rotation_vector(Mat3(*R.ravel())))) - phi).max() <= 1e-14 * (1 + angle) * 4
    yaw, pitch, roll = 0.7, -0.4, 2.1
    R = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
    assert np.allclose(list(euler_321(Mat3(*R.ravel()))), (roll, pitch, yaw), rtol=0, atol=1e-14)  # a few roundings


class Series:
    """a + b s + c s^2 of arrays, cut after s^2: exact derivatives along a line, since R(theta) is a polynomial."""

    def __init__(self, *c):
        self.c = [np.asarray(v, dtype=float) for v in c]

    def __add__(self, other):
        return Series(*(a + b for a, b in zip(self.c, other.c, strict=True)))

    def __sub__(self, other):
        return Series(*(a - b for a, b in zip(self.c, other.c, strict=True)))

    def __matmul__(self, other):
        (a, b, c), (d, e, f) = self.c, other.c
        return Series(a @ d, a @ e + b @ d, a @ f + b @ e + c @ d)


def jet_residual(model, index, y, y1):
    """g along y + s y1 as three coefficients, from the definitions of the primitives; R = H~ H^T not normalised."""

    def constant(v):
        v = np.asarray(v, dtype=float)
        return Series(v, np.zeros_like(v), np.zeros_like(v))

    def pose(name):
        if name == "ground":
            return constant(np.zeros(3)), constant(np.eye(3))
        k = 7 * index[name]
        (r, th), (r1, th1) = (y[k : k + 3], y[k + 3 : k + 7]), (y1[k : k + 3], y1[k + 3 : k + 7])
        R = [H_tilde(a) @ H(b).T for a, b in ((th, th), (th, th1), (th1, th), (th1, th1))]
        return Series(r, r1, np.zeros(3)), Series(R[0], R[1] + R[2], R[3])

    parts = []
    for joint in model.joints:
        (r_i, R_i), (r_j, R_j) = pose(joint.first), pose(joint.second)
        for p in joint.primitives:
            e = r_j + R_j @ constant(p.p_j) - r_i - R_i @ constant(p.p_i)
            match p.kind:
                case "C":
                    parts.append(e.c)
                case "SO":
                    parts.append(((R_i @ constant(p.a_i)) @ (R_j @ constant(p.a_j))).c)
                case "O":
                    parts.append(((R_i @ constant(p.a_i)) @ e).c)
                case "D":
                    parts.append([v / (2.0 * p.offset) for v in (e @ e).c])
    return [np.concatenate([np.atleast_1d(part[k]) for part in parts]) for k in range(3)]


def jet_accelerations(model, y, y1, torques):
    """r'' and w_B' by [JetMultibody, Algorithms 3.2, 5.1] in (r, theta): dense, with nothing from the kernels."""
    bodies = model.bodies
    index = {body.name: k for k, body in enumerate(bodies)}
    n = len(y)
    dg = np.column_stack([jet_residual(model, index, y, e)[1] for e in np.eye(n)])
    d2g = 2.0 * jet_residual(model, index, y, y1)[2]
    E, HH, u1, Iy = [], [], [], np.zeros(n)
    for k, body in enumerate(bodies):
        th, th1 = y[7 * k + 3 : 7 * k + 7], y1[7 * k + 3 : 7 * k + 7]
        K = H(th) @ H(th1).T @ body.inertia @ H(th) @ th1
        F_e = np.concatenate([body.mass * model.gravity, 2.0 * torques.get(body.name, np.zeros(3))])
        E.append(np.block([[body.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), 4.0 * body.inertia]]))
        HH.append(np.block([[np.eye(3), np.zeros((3, 4))], [np.zeros((3, 3)), H(th)]]))
        u1.append(np.linalg.solve(E[-1], F_e - np.concatenate([np.zeros(3), 8.0 * K])))
        Iy[7 * k + 3 : 7 * k + 7] = (th1 @ th1) * th

    def diagonal(blocks):
        rows, columns = (sum(b.shape[axis] for b in blocks) for axis in (0, 1))
        out, i, j = np.zeros((rows, columns)), 0, 0
        for b in blocks:
            out[i : i + b.shape[0], j : j + b.shape[1]] = b
            i, j = i + b.shape[0], j + b.shape[1]
        return out

    E, HH, u1 = diagonal(E), diagonal(HH), np.concatenate(u1)
    dgH = dg @ HH.T
    S = -dgH @ np.linalg.solve(E, dgH.T)
    v2 = np.linalg.lstsq(S, dgH @ u1 - dg @ Iy + d2g, rcond=1e-13)[0]
    d = u1 + np.linalg.solve(E, dgH.T @ v2)
    d = d.reshape(-1, 6)
    d[:, 3:] *= 2.0  # c = w_B' / 2
    return d.ravel(), v2


def jet_state(mechanism, x):
    """[Jet]'s y = (r, theta), y1 = (r', theta')."""
    y, u = x[: mechanism.nq], x[mechanism.nq :][: mechanism.nu].reshape(-1, 6)
    theta = y.reshape(-1, 7)[:, 3:]
    y1 = [np.concatenate([v[:3], 0.5 * H(th).T @ v[3:]]) for th, v in zip(theta, u, strict=True)]
    return y, np.concatenate(y1)


def scleronomic(seed, shape):
    """A random mechanism of rigid bodies alone, without drivers or forces other than gravity and torques."""
    from dalembert.model.model import Model

    source = random_model(seed, shape, 4, forces=False, drivers=False).to_dict()
    source["elements"] = [e for e in source["elements"] if e["name"] not in ("weight", "rod")]
    model = Model.from_dict(source)
    rng = np.random.default_rng(seed)
    torques = {body.name: rng.standard_normal(3) for body in model.bodies[:2]}
    for name, torque in torques.items():
        model.add_torque(f"torque on {name}", name, torque, frame="body")
    return model, torques


@pytest.mark.parametrize(("shape", "seed"), [(s, k) for s in ("chain", "tree", "ring", "floating", "hub") for k in (0, 1, 2)])
def test_jet_variables_give_the_same_accelerations(shape, seed):
    model, torques = scleronomic(seed, shape)
    mechanism = compile(model)
    assert not mechanism.redundant
    x = mechanism.x_0
    d, v2 = jet_accelerations(model, *jet_state(mechanism, x), torques)
    e = evaluate(mechanism, 0.0, x)
    # two solves with cond(S) <= 1e4, that is 1e4 eps = 2e-12 each
    assert np.abs(d - e.acceleration).max() <= 1e-11 * np.abs(d).max()
    lam = np.zeros(len(v2))
    for number, row in enumerate(mechanism.rows):
        lam[number] = e.lam[row.index]
    assert np.abs(v2 - lam).max() <= 1e-11 * (1.0 + np.abs(v2).max())


@pytest.mark.nojit
@pytest.mark.parametrize("name", ["crank_mechanism", "planar_quadrangle", "pendulum_3d"])
def test_jet_variables_on_the_published_examples(name):
    """In motion: the published examples start at rest, so give them a consistent velocity first."""
    model = getattr(gallery, name)()
    mechanism = compile(model)
    x = mechanism.x_0.copy()
    x[mechanism.nq : mechanism.nq + mechanism.nu] = np.linspace(-1.0, 1.0, mechanism.nu)
    status, x, _ = project(mechanism, 0.0, x)
    assert status == T.OK
    torques = {force.body: force.torque for force in model.forces}
    d, _ = jet_accelerations(model, *jet_state(mechanism, x), torques)
    e = evaluate(mechanism, 0.0, x)
    # cond(S) of these mechanisms is below 1e5: 1e5 eps = 2e-11
    assert np.abs(d - e.acceleration).max() <= 1e-10 * np.abs(d).max()


def test_gyroscopic_term_of_a_free_body_keeps_momentum(rng):
    """I w' + w x I w = 0 is R I w = constant: d/dt (R I w_B) = 0."""
    from dalembert.model.model import Model

    model = Model((0, 0, 0))
    J = inertia(rng)
    model.add_body("body", mass=1.0, inertia=J, rotation=rotation(rng), angular_velocity=rng.standard_normal(3))
    mechanism = compile(model)
    _, (R,) = poses(mechanism, mechanism.x_0)
    w = mechanism.x_0[mechanism.nq + 3 : mechanism.nq + 6]
    w_dot = evaluate(mechanism, 0.0, mechanism.x_0).acceleration[3:]
    # inertia 0.1, w of size 2: a dozen roundings of numbers below 1
    assert np.abs(R @ hat(w) @ J @ w + R @ J @ w_dot).max() <= 1e-15 * 4

"""The wrenches of a bushing against its energy, at random poses and twists: power, action and reaction, order of the bodies."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dalembert.kernels.base.vectors import Mat3, Vec3
from dalembert.kernels.base.views import Numbers
from dalembert.kernels.mechanics.bushing import bushing, bushing_energy, deflections


def body(rng: np.random.Generator) -> SimpleNamespace:
    pose = {"r": rng.standard_normal(3), "R": Rotation.random(random_state=rng).as_matrix()}
    return SimpleNamespace(**pose, v=rng.standard_normal(3), w=rng.standard_normal(3))


def seen(b: SimpleNamespace, s: float = 0.0) -> SimpleNamespace:
    """A body as the kernel reads it, after moving on with its twist for a time s."""
    R = b.R @ Rotation.from_rotvec(s * b.w).as_matrix()
    zero = {"force": Vec3(0.0, 0.0, 0.0), "torque": Vec3(0.0, 0.0, 0.0)}
    return SimpleNamespace(r=Vec3(*(b.r + s * b.v)), R=Mat3(*R.ravel()), v=Vec3(*b.v), w=Vec3(*b.w), **zero)


def made(rng: np.random.Generator) -> tuple[dict[str, SimpleNamespace], dict[str, object], np.ndarray]:
    bodies = {"i": body(rng), "j": body(rng)}
    frames = {f"E_{k}": Mat3(*Rotation.random(random_state=rng).as_matrix().ravel()) for k in "ij"}
    points = {f"p_{k}": Vec3(*rng.standard_normal(3)) for k in "ij"}
    factors = rng.standard_normal((2, 6, 6))
    return bodies, frames | points, factors @ np.swapaxes(factors, 1, 2)


def element(bodies, rest, matrices, s: float = 0.0) -> tuple[SimpleNamespace, SimpleNamespace]:
    records = [SimpleNamespace(s=0.0, rate=0.0, value=0.0) for _ in range(6)]
    for name, value in {"i": seen(bodies["i"], s), "j": seen(bodies["j"], s), **rest, "number": 0, "numbers": 0}.items():
        setattr(records[0], name, value)
    return records[0], SimpleNamespace(constants=Numbers(matrices.ravel().tolist(), 0), forces=records)


def numbers(v: Vec3) -> np.ndarray:
    return np.array(list(v))


@pytest.mark.parametrize("seed", range(12))
def test_power_of_a_bushing_is_what_leaves_its_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bodies, rest, matrices = made(rng)
    if seed % 3 == 0:  # almost, or just, not turned
        R_i, E_i, E_j = bodies["i"].R, np.reshape(list(rest["E_i"]), (3, 3)), np.reshape(list(rest["E_j"]), (3, 3))
        bodies["j"].R = R_i @ E_i @ Rotation.from_rotvec(1e-3 * (seed > 0) * rng.standard_normal(3)).as_matrix() @ E_j.T
    e, system = element(bodies, rest, matrices)
    external = bushing(e, False, system)
    power = sum(numbers(b.force) @ numbers(b.v) + numbers(b.torque) @ numbers(b.w) for b in (e.i, e.j))
    h = 1e-5
    energies = [bushing_energy(*element(bodies, rest, matrices, s)) for s in (-2 * h, -h, h, 2 * h)]
    change = np.dot([1 / 12, -2 / 3, 2 / 3, -1 / 12], energies) / h
    z_dot = np.array([record.rate for record in system.forces])
    assert abs(power - (external - change)) < 1e-8 * (1.0 + abs(power) + abs(external))
    assert abs(external + z_dot @ matrices[1] @ z_dot) < 1e-12 * abs(external)
    shifted = [np.concatenate([numbers(v) for v in deflections(element(bodies, rest, matrices, s)[0])]) for s in (-h, h)]
    assert np.abs((shifted[1] - shifted[0]) / (2 * h) - z_dot).max() < 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_a_bushing_acts_and_reacts_alike_whichever_body_comes_first(seed: int) -> None:
    bodies, rest, matrices = made(np.random.default_rng(seed))
    e, system = element(bodies, rest, matrices)
    swapped = {name: rest[name[:2] + {"i": "j", "j": "i"}[name[2]]] for name in rest}
    other, other_system = element({"i": bodies["j"], "j": bodies["i"]}, swapped, matrices)
    assert abs(bushing(e, False, system) - bushing(other, False, other_system)) < 1e-12 * abs(matrices).max()
    size = max(float(np.abs(numbers(b.force)).max()) for b in (e.i, e.j)) * 4
    for one, two in ((e.i, other.j), (e.j, other.i)):
        assert np.abs(numbers(one.force) - numbers(two.force)).max() < 1e-14 * size
        assert np.abs(numbers(one.torque) - numbers(two.torque)).max() < 1e-14 * size
    assert np.abs(numbers(e.i.force) + numbers(e.j.force)).max() < 1e-14 * size
    about_origin = sum(np.cross(numbers(b.r), numbers(b.force)) + numbers(b.R @ b.torque) for b in (e.i, e.j))
    assert np.abs(about_origin).max() < 1e-13 * size

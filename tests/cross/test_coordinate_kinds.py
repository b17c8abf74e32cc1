"""The same model in other clothes: `planar` against `absolute`, bodies and joints in another order."""

import numpy as np
import pytest
from kernel_calls import evaluate, mass_matrix, poses, relative, twist
from random_mechanisms import SHAPES, planar_chain, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.gallery.four_bar import NORMAL
from dalembert.kernels.base import tables as T
from dalembert.model.model import Model

AGREEMENT = 1e-10  # cond(S) of the redundant four-bar is 1e6: cond eps = 2e-10, the solve being better than its bound


def quadrangle():
    """The planar quadrangle of [JetMultibody, 6.2.2], in motion."""
    return turning(gallery.planar_quadrangle(), np.array([0.0, 0.0, 1.0]))


def four_bar():
    """The four-bar of four hinges, in motion, with gravity in its plane."""
    return turning(gallery.spatial_four_bar(crank_angle=0.3), NORMAL)


def turning(model, normal):
    """The same model with a fast crank, of which assembly leaves some, and the part of gravity in the plane."""
    data = model.to_dict()
    data["gravity"] = [float(v) for v in model.gravity - normal * (normal @ model.gravity)]
    for element in data["elements"]:
        if element["name"] == "crank":
            element["angular_velocity"] = [float(v) for v in 50.0 * normal]
    return Model.from_dict(data)


MODELS = {
    "quadrangle": quadrangle,
    "four-bar": four_bar,
    "chain-0": lambda: planar_chain(0, 3),
    "chain-1": lambda: planar_chain(1, 6),
    "chain-x-y": lambda: planar_chain(2, 4, tilt=False),
}


@pytest.mark.parametrize("name", MODELS)
def test_planar_against_absolute(name):
    model = MODELS[name]()
    absolute, planar = compile(model), compile(model, "planar")
    assert planar.degrees_of_freedom == absolute.degrees_of_freedom
    assert np.abs(twist(absolute, absolute.x_0)).max() > 0.1  # something moves
    # one assembly serves both: only the change of coordinates rounds, and speeds of 50 rad/s were projected out
    assert np.allclose(twist(planar, planar.x_0), twist(absolute, absolute.x_0), rtol=0, atol=5e-12)
    for a, b in zip(poses(planar, planar.x_0), poses(absolute, absolute.x_0), strict=True):
        assert np.allclose(a, b, rtol=0, atol=1e-13)

    a, p = evaluate(absolute, 0.0, absolute.x_0), evaluate(planar, 0.0, planar.x_0)
    assert relative(p.acceleration, a.acceleration) <= AGREEMENT
    assert p.power == pytest.approx(a.power, rel=1e-10, abs=1e-10)  # damping and motors, from rounded rates

    # reaction of all joints on each body, G^T lam = M u' - h, in the plane
    n = planar.plane.normal
    reactions = [mass_matrix(m) @ e.acceleration - e.wrench for m, e in ((absolute, a), (planar, p))]
    force_a, force_p = (r.reshape(-1, 6)[:, :3] for r in reactions)
    force_a = force_a - np.outer(force_a @ n, n)
    assert relative(force_p, force_a) <= AGREEMENT
    _, R = poses(absolute, absolute.x_0)
    torque_a, torque_p = (np.einsum("bij,bj->bi", R, r.reshape(-1, 6)[:, 3:]) @ n for r in reactions)
    assert np.abs(torque_p - torque_a).max() <= AGREEMENT * (np.abs(force_a).max() + np.abs(torque_a).max())


@pytest.mark.nojit
def test_planar_against_absolute_selection():
    model = planar_chain(0, 3)
    absolute, planar = compile(model), compile(model, "planar")
    a, p = evaluate(absolute, 0.0, absolute.x_0), evaluate(planar, 0.0, planar.x_0)
    assert relative(p.acceleration, a.acceleration) <= AGREEMENT


def shuffled(model, rng):
    """Bodies in another order, then joints, then drivers and forces in another order."""
    data = model.to_dict()
    names = {"bodies": [], "joints": [], "rest": []}
    bodies, joints = {b.name for b in model.bodies}, {j.name for j in model.joints}
    for element in data["elements"]:
        group = "bodies" if element["name"] in bodies else "joints" if element["name"] in joints else "rest"
        names[group].append(element)
    data["elements"] = [group[k] for group in names.values() for k in rng.permutation(len(group))]
    return Model.from_dict(data)


@pytest.mark.parametrize(("shape", "seed"), [(shape, seed) for shape in SHAPES for seed in (1, 2, 3)])
def test_order_of_elements_changes_nothing(shape, seed, rng):
    model = random_model(seed, shape, 7)
    other = shuffled(model, rng)
    a, b = compile(model), compile(other)
    e, f = evaluate(a, 0.0, a.x_0), evaluate(b, 0.0, b.x_0)
    assert e.status == f.status == T.OK
    by_name = {name: f.acceleration.reshape(-1, 6)[k] for k, name in enumerate(b.body_names)}
    matched = np.array([by_name[name] for name in a.body_names]).ravel()
    # cond(S) eps as above, and the two assemblies differ by their own tolerance of 1e-13 times speeds and levers
    assert relative(e.acceleration, matched) <= 1e-10
    lam = dict(zip(b.row_names(), f.lam, strict=True))
    assert relative(e.lam, np.array([lam[name] for name in a.row_names()])) <= 1e-10

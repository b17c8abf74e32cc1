"""What forces add to the matrix of a variational step: by numbers with derivatives against extrapolated differences, and runs
that ask for it on their way."""

import itertools

import numpy as np
import pytest
from random_mechanisms import planar_chain, random_model

import dalembert as da
from dalembert import gallery
from dalembert.compilation.compiled_loops import compiled
from dalembert.formulations import variational
from dalembert.integrators import advance
from dalembert.integrators.slopes import NEVER
from dalembert.kernels.base.compiler import JIT
from dalembert.kernels.base.tables import NON_FINITE, OK, RIGID
from dalembert.kernels.base.vectors import Vec3
from dalembert.kernels.base.views import Wrenches
from dalembert.kernels.coordinates.exponential import dexp_inverse
from dalembert.kernels.formulations.constant_twist import add_components
from dalembert.kernels.formulations.variational_bodies import force_terms

pytestmark = pytest.mark.skipif(not JIT, reason="uncompiled runs take differences")
OFF = ((0.1, 0.2, 0.0), (0.0, 0.3, -0.2))
T, H = 0.05, 0.03


def pull(t, x, v, R, w):
    return (-2.0 * v[0] * v[1], np.sin(t) * x[1], -3.0 * x[2] ** 2 * R[2, 2] + R[0, 1])


def attraction(t, r, R, v, w, k):
    a, b = R[0, 0], R[1, 0]
    return (-k * r[0] - 0.2 * v[0], -k * r[1], v[2] * r[2]), (0.3 * a, 0.2 * b * b, -0.1 * w[2])


def control(t, s, rate, gains):
    return gains[0] * np.sin(s[0]) - gains[1] * rate[0], -gains[1] * rate[1] * s[0]


def laws():
    """Users' functions of every form, a bushing, a cable that stretches, a point mass."""
    model = gallery.chain(2, joint="revolute")
    first, second = model.bodies
    joints = [joint.name for joint in model.joints]
    model.add_interaction("attraction", first, second, attraction, parameters={"k": 1.2}, points=OFF)
    model.add_bushing("bushing", first, second, stiffness=[3.0, 2.0, 1.0, 0.5, 0.4, 0.3], damping=[0.3] * 6, points=OFF)
    model.add_joint_law("control", joints, control, parameters={"gains": [0.7, 0.2]})
    table = da.Table((-2.0, -0.7, 0.9, 2.0), (-3.0, -0.5, 0.4, 2.0))
    model.add_joint_spring_damper("stop", joints[-1], stiffness=table, damping=table, reference=0.2)
    model.add_force("pull", first, pull, point=(0.1, 0.2, 0.3))
    model.add_torque("swing", second, lambda t, x, v, R, w: (-w[0] * w[1], R[0, 1], 0.3 * x[2]), frame="world")
    model.add_point_mass("load", mass=1.0, position=(0.3, 1, -0.4), velocity=(0.1, 0.2, 0.3))
    model.add_force("push", "load", pull)  # which has axes, though it never turns
    through = [("load", (0, 0, 0)), (first, (0, 0, 0)), (second, (0, 0.1, 0))]
    model.add_cable("band", through, stiffness=40.0, damping=0.5, length=0.1)
    return model


def planar():
    model = planar_chain(3, 3)
    assert model.forces
    return da.compile(model, "planar")


def at_rest():
    """Nothing turns: the exponential at zero."""
    model = da.Model()
    body = model.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.25))
    model.add_bushing("bushing", model.ground, body, stiffness=[30.0] * 6, damping=[3.0] * 6, points=OFF)
    model.add_torque("motor", body, (0.1, 0.2, 0.3), frame="body")
    return model


MODELS = {
    "chain": lambda: random_model(1, "chain", 5),
    "hub": lambda: random_model(2, "hub", 4),
    "floating": lambda: random_model(4, "floating", 5),
    "springs and dampers in joints": lambda: gallery.coiled_chain(4, joint_damping=50.0),
    "torsion": lambda: gallery.build("torsion_chain_rotation_vector"),
    "redundant loop": lambda: damped("four_bar"),
    "rolling": lambda: damped("routh_sphere"),
    "laws": laws,
    "planar": planar,
    "at rest": at_rest,
}


def damped(name):
    model = gallery.build(name)
    body = model.bodies[-1]
    model.add_spring_damper(
        "rope", model.ground, body, points=((0.3, 2, 1), (0.1, 0, 0.2)), stiffness=3.0, damping=1.0, length=1
    )
    return model


def compiled_model(name):
    model = MODELS[name]()
    return da.compile(model) if isinstance(model, da.Model) else model


def begin(mechanism, moved=0.05):
    """An integration at a state near the start, with exact derivatives asked for."""
    run = da.Variational(quadrature="simpson").prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    x[: run.size] += moved * np.random.default_rng(7).standard_normal(run.size)
    steps = advance.Advance(run, da.FixedStep(step=H), 0.0, x, 1.0, None)
    steps.ask_for_slopes()
    return steps


def exact(steps):
    """(status, D) from the kernel."""
    system, W = steps.run.view, steps.run.W
    system.count.began, system.count.step = T, H
    status = compiled("exact_forces")(steps.bundle, system)
    assert system.impulses.known == (status == OK)
    nu, at = int(system.nu), system.impulses.D.at
    return status, W[at : at + nu * nu].reshape(nu, nu).copy()


def extrapolated(run, x):
    """D by differences of S and E."""
    system, nq, nu, y = run.view, int(run.view.nq), int(run.view.nu), x.copy()
    made, u = system.impulses, x[nq : nq + nu]
    turns = {body.number: -H * Vec3(*u[body.u + 3 : body.u + 6]) for body in system.bodies if body.kind == RIGID}

    def terms(z):
        f = np.zeros(nu)
        status, _ = force_terms(T, H, x, z, made.S, made.E, y, system)
        assert status == OK
        for body in system.bodies:
            s, e = (Wrenches(block, 0)[body.number] for block in (made.S, made.E))
            torque = dexp_inverse(turns[body.number], s.torque) if body.kind == RIGID else s.torque
            add_components(f, 1, 1.0, s.force - e.force, torque - e.torque, body, system.plane)
        return f

    def column(d):
        sides = [(terms(u + h * d) - terms(u - h * d)) / (2 * h) for h in (0.02 / 2.0**k for k in range(4))]
        for p in (4.0, 16.0, 64.0):
            sides = [(p * b - a) / (p - 1.0) for a, b in itertools.pairwise(sides)]
        return sides[0]

    return np.stack([column(d) for d in np.eye(nu)], axis=1)


@pytest.mark.parametrize("name", MODELS)
def test_columns_are_those_of_differences(name):
    steps = begin(compiled_model(name), moved=0.0 if name == "at rest" else 0.05)
    status, found = exact(steps)
    expected = extrapolated(steps.run, steps.x)
    assert status == OK and np.abs(expected).max() > 0.0
    assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()


def test_no_derivative_no_matrix():
    """A spring of no length has none where it begins: the step finds differences."""
    model = da.Model()
    ball = model.add_point_mass("ball", mass=1.0)
    model.add_spring_damper("spring", model.ground, ball, stiffness=3.0, damping=0.1)
    assert exact(begin(da.compile(model), moved=0.0))[0] == NON_FINITE


def norm(t, x, v, R, w):
    return -0.3 * v * np.linalg.norm(v)


def test_a_function_that_takes_no_such_numbers_is_differenced():
    model = gallery.chain(2)
    model.add_force("drag", model.bodies[0], norm)
    steps = begin(da.compile(model))
    assert steps.bundle.at_slopes == NEVER and steps.run.callbacks.differenced == ["drag"]


def late(t, x, v, R, w):
    if t > 0.952:
        raise ValueError("too late")
    return (-0.1 * v[0], -0.1 * v[1], -0.1 * v[2])


def test_a_long_run_asks_for_them_on_its_way(monkeypatch):
    """Put together of two runs it is the same to the last bit, and what a function raises there is told."""
    asked, options = [], {"formulation": da.Variational(), "integrator": da.FixedStep(step=0.01)}

    class Watched(advance.Slopes):
        def __init__(self, run):
            super().__init__(run)
            asked.append(self.at)

    monkeypatch.setattr(advance, "Slopes", Watched)
    monkeypatch.setattr(variational, "ENOUGH", 6 * 50)  # fifty steps of a body
    model = at_rest()
    model.add_force("late", "body", late)
    before = da.simulate(model, 0.4, **options)
    assert not asked
    whole = da.simulate(model, 0.8, **options)
    assert len(asked) == 1 and asked[0] > 0
    for start in (before, da.simulate(model, 0.6, **options)):
        asked.clear()
        assert np.array_equal(da.simulate(start, 0.8, **options).x, whole.x[len(start.t) - 1 :])
        assert len(asked) == 1
    with pytest.raises(da.SimulationError, match="'late' raised ValueError"):
        da.simulate(model, 1.0, **options)


@pytest.mark.parametrize("composition", [1, 3])
@pytest.mark.parametrize("name", ["springs and dampers in joints", "planar", "at rest"])
def test_runs_are_those_of_differences(name, composition):
    """What Newton's method ends with does not hang on its matrix; it takes no more iterations, but for rounding, which adds
    up to 12 or takes as many away in 200 steps of one size."""
    iterations, count = np.zeros(2), 0.0
    for step in (0.003, 0.0035, 0.005):
        ends = []
        for k, asked in enumerate((True, False)):
            run = da.Variational().prepare(compiled_model(name))
            integrator = da.FixedStep(step=step, composition=composition)
            steps = advance.Advance(run, integrator, 0.0, run.mechanism.x_0, 1.0, None)
            if asked:
                steps.ask_for_slopes()
            assert steps.to_the_end() == OK
            ends.append(steps.x.copy())
            iterations[k] += run.view.count.newton
            count += 0.5 * run.view.count.project
        assert np.abs(ends[0] - ends[1]).max() <= 1e-10 * np.abs(ends[1]).max()
    assert iterations[0] <= iterations[1] + 0.05 * count

"""Minimal coordinates among the joint velocities of a spanning tree: against the articulated-body recursion and the bodies'."""

import itertools

import numpy as np
import pytest
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert.compilation.tree import make_tree
from dalembert.formulations import moving_frame
from dalembert.gallery import GALLERY, build, chain, n_four_bar
from dalembert.kernels.base import tables as T

TIGHT = {"rtol": 1e-11, "atol": 1e-11}
LOOPS = ["slider_crank", "planar_quadrangle", "bricard", "andrews"]


def rates(run, x):
    """Rates of q, u and external work."""
    dx = np.zeros(len(x))
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    return dx


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES)
def test_rates_of_random_mechanisms(shape, seed, monkeypatch):
    """Every joint type, drivers (whose power needs multipliers), forces, branches, loops; the state stays as it was. The
    recursion on the same coordinates: ball joints count from their parents."""
    monkeypatch.setattr(moving_frame, "make_tree", lambda mechanism, cut, *, world: make_tree(mechanism, cut))
    mechanism = da.compile(random_model(seed, shape, 8))
    recursion, minimal = da.MovingFrame().prepare(mechanism), da.Minimal(velocities="joints").prepare(mechanism)
    expected = rates(recursion, recursion.from_absolute(mechanism.x_0))[: recursion.size + 1]
    x = minimal.from_absolute(mechanism.x_0)
    before = x.copy()
    found = rates(minimal, x)[: minimal.size + 1]
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("basis", "seed"), list(itertools.product(["qr", "svd", "eigen"], range(4))))
def test_basis_is_orthonormal_and_holds_the_velocities(basis, seed):
    """u - Z s' is what moving constraints ask for, and vanishes without them."""
    mechanism = da.compile(random_model(seed, "ring", 5))
    run = da.Minimal(velocities="joints", basis=basis).prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    more = run.more(x[None])
    Z, s_dot = more["basis"][0], more["s_dot"][0]
    nq, nu = int(run.I[T.NQ]), int(run.I[T.NU])
    assert Z.shape == (nu, mechanism.degrees_of_freedom)
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), rtol=0, atol=1e-14)
    if not mechanism.model.drivers:
        np.testing.assert_allclose(Z @ s_dot, x[nq : nq + nu], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", LOOPS)
def test_every_variant_gives_the_motion_of_the_bodies(name):
    mechanism = da.compile(build(name))
    end = min(0.5, GALLERY[name].t_end)
    options = {"integrator": da.DOP853(**TIGHT), "save_at": np.linspace(0.0, end, 6)}
    bodies = da.simulate(mechanism, end, formulation=da.Minimal(), **options)
    variants = [{"basis": "svd", "continuation": False}, {"basis": "eigen", "continuation": False}, {"order": 1}, {"order": 4}]
    for variant in [{}, {"continuation": False}, *variants]:
        joints = da.simulate(mechanism, end, formulation=da.Minimal(velocities="joints", **variant), **options)
        np.testing.assert_allclose(joints.q, bodies.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(joints.u, bodies.u, rtol=0, atol=1e-8 * max(1.0, np.abs(bodies.u).max()))
        assert joints.report().passed
        assert joints.minimal.s.shape == bodies.minimal.s.shape


def test_carried_basis_is_the_same_by_every_order():
    """Rates of the basis integrated with the motion against the exponential of fourth order."""
    runs = [
        da.simulate(
            build("slider_crank"),
            0.5,
            formulation=da.Minimal(velocities="joints", order=order),
            integrator=da.DOP853(step=1e-3),
            save_at=[0.5],
        )
        for order in ("integrator", 4)
    ]
    np.testing.assert_allclose(runs[0].minimal.basis, runs[1].minimal.basis, rtol=0, atol=1e-8)
    np.testing.assert_allclose(runs[0].minimal.s_dot, runs[1].minimal.s_dot, rtol=0, atol=1e-7)


def two_branches():
    """A closed loop of balls and hinges with five degrees of freedom, moving in space."""
    model = da.Model(name="loop of five degrees of freedom")
    for k, (x, z, size) in enumerate(
        ((0.0, -0.2, (0.05, 0.08, 0.4)), (0.3, -0.4, (0.6, 0.05, 0.08)), (0.6, -0.2, (0.05, 0.08, 0.4)))
    ):
        model.add_body(f"rod {k}", **da.box(1.0, size).body(), position=(x, 0, z))
    model.add_universal("A", model.ground, "rod 0", point=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)))
    model.add_spherical("B", "rod 0", "rod 1", point=(0, 0, -0.4))
    model.add_spherical("C", "rod 1", "rod 2", point=(0.6, 0, -0.4))
    model.add_universal("D", model.ground, "rod 2", point=(0.6, 0, 0), axes=((1, 0, 0), (0, 1, 0)))
    model.add_torque("push", "rod 1", (0.3, 0.5, 0.8), frame="body")
    return model


def test_jump_shrinks_with_the_step_only_with_continuation():
    def jump(formulation, step):
        options = {"integrator": da.DormandPrince(step=step), "save_at": [1.0]}
        return da.simulate(two_branches(), 1.0, formulation=formulation, **options).minimal.jump[-1]

    coarse, fine = (jump(da.Minimal(velocities="joints"), h) for h in (4e-3, 1e-3))
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("integrator", [da.RungeKutta4(step=1e-3), da.GaussLegendre(3, step=5e-3)], ids=["RK4", "GL3"])
def test_fixed_steps(integrator):
    mechanism = da.compile(build("slider_crank"))
    runs = [
        da.simulate(mechanism, 0.5, formulation=f, integrator=integrator, save_at=[0.25, 0.5])
        for f in (da.Minimal(velocities="joints"), da.Minimal())
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-7)  # errors of both methods at this step


def test_driven_loop():
    """p' and p'': a driver on a loop with one more degree of freedom, and the work that it does."""
    model = two_branches()
    model.add_driver("swing", "A", da.Harmonic(0.2, 1.0))
    options = {"integrator": da.DOP853(**TIGHT), "save_at": np.linspace(0, 1, 5)}
    jet, joints = (da.simulate(model, 1.0, formulation=f, **options) for f in (da.Jet(), da.Minimal(velocities="joints")))
    np.testing.assert_allclose(joints.q, jet.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(joints.energy.external_work, jet.energy.external_work, rtol=0, atol=1e-8)


def test_tree_without_loops_has_its_own_velocities():
    """No rows, so that s' = u and the basis is the unit matrix, with and without continuation."""
    options = {"integrator": da.DOP853(**TIGHT), "save_at": [0.0, 0.5, 1.0]}
    expected = da.simulate(chain(3), 1.0, formulation=da.MovingFrame(), **options)
    for basis, carry in itertools.product(("qr", "svd", "eigen"), (True, False)):
        formulation = da.Minimal(velocities="joints", basis=basis, continuation=carry)
        found = da.simulate(chain(3), 1.0, formulation=formulation, **options)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(found.minimal.basis, np.broadcast_to(np.eye(9), (3, 9, 9)))
        w = found.angular_velocity("rod 1", frame="body")
        np.testing.assert_allclose(found.minimal.s_dot[:, :3], w, rtol=0, atol=1e-12)


def test_joints_to_cut_are_the_users_choice():
    mechanism = da.compile(build("slider_crank"))
    options = {"integrator": da.DOP853(**TIGHT), "save_at": [0.25, 0.5]}
    runs = {
        cut: da.simulate(mechanism, 0.5, formulation=da.Minimal(velocities="joints", cut=cut), **options)
        for cut in (("A",), ("B",), ("D",))
    }
    for other in runs.values():
        np.testing.assert_allclose(other.q, runs[("A",)].q, rtol=0, atol=1e-9)
    assert len({other.minimal.basis.shape for other in runs.values()}) > 1


def test_singular_configuration_stops_a_run():
    with pytest.raises(
        da.SimulationError, match=r"leads to a singular configuration at t = 0\.714\d* s \(condition \d"
    ) as caught:
        da.simulate(n_four_bar(), 2.0, formulation=da.Minimal(velocities="joints"))
    assert 0.7 < caught.value.solution.t[-1] < 0.714356


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"velocities": "both"}, "velocities is 'both'; give one of bodies, joints"),
        ({"velocities": "joints", "singular": "pass"}, "singular='pass' needs the velocities of bodies"),
        ({"cut": ("A",)}, "cut is for a spanning tree of joints; give velocities='joints' too"),
    ],
)
def test_options_are_checked(options, text):
    with pytest.raises(da.ModelError, match=text):
        da.Minimal(**options)


def test_planar_coordinates_are_refused():
    with pytest.raises(
        da.ModelError, match="Minimal with these options does not take 'planar' coordinates; a model in these takes one of Jet"
    ):
        da.simulate(build("planar_quadrangle"), 0.1, coordinates="planar", formulation=da.Minimal(velocities="joints"))

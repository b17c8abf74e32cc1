"""Minimal coordinates against multipliers: the same accelerations and motions, whatever basis; s' smooth with continuation."""

import itertools

import numpy as np
import pytest
from kernel_calls import difference, mass_matrix, moved, rows, twist
from random_mechanisms import SHAPES, random_model

import dalembert as da
from dalembert.gallery import GALLERY, build, chain, n_four_bar, spherical_pendulum, spin_top
from dalembert.kernels.base import tables as T

SEEDS = range(4)
TIGHT = {"rtol": 1e-11, "atol": 1e-11}
VARIANTS = [
    da.Minimal(basis=basis, continuation=carry) for basis, carry in itertools.product(("qr", "svd", "eigen"), (True, False))
]


def accelerations(run, x):
    """u' of all velocities and the external power at one state of a run."""
    dx = np.zeros(len(x))
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    return dx[int(run.I[T.NQ]) : run.size], dx[run.size]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_accelerations_of_random_mechanisms(shape, seed):
    """Every joint type, drivers (whose power needs multipliers), forces, hubs, loops."""
    mechanism = da.compile(random_model(seed, shape, 8))
    jet, minimal = da.Jet().prepare(mechanism), da.Minimal(singular="pass").prepare(mechanism)
    expected, power = accelerations(jet, mechanism.x_0.copy())
    found, other_power = accelerations(minimal, minimal.from_absolute(mechanism.x_0))
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(
        found, expected, rtol=0, atol=1e-10 * scale
    )  # rounding times the condition of the loops, squared
    assert other_power == pytest.approx(power, abs=1e-9 * max(1.0, abs(power)) * scale)


@pytest.mark.parametrize("basis", ["qr", "svd", "eigen"])
@pytest.mark.parametrize("seed", SEEDS)
def test_basis_is_tangent_orthonormal_and_complete(seed, basis):
    mechanism = da.compile(random_model(seed, "ring", 5))
    run = da.Minimal(basis=basis).prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    more = run.more(x[None])
    Z, s_dot = more["basis"][0], more["s_dot"][0]
    f = mechanism.degrees_of_freedom
    assert Z.shape == (mechanism.nu, f)
    columns = np.stack(
        [twist(mechanism, np.concatenate([mechanism.x_0[: mechanism.nq], z, x[: 1 + 64] * 0])) for z in Z.T], axis=1
    )
    G, _, g_t, _ = rows(mechanism, 0.0, mechanism.x_0)
    W = mass_matrix(mechanism, mechanism.I[T.METRIC_F])
    np.testing.assert_allclose(G @ columns, 0, rtol=0, atol=1e-13 * np.abs(G).max())
    np.testing.assert_allclose(columns.T @ W @ columns, np.eye(f), rtol=0, atol=1e-14)
    if np.abs(g_t).max(initial=0.0) == 0.0:
        np.testing.assert_allclose(Z @ s_dot, mechanism.x_0[mechanism.nq :][: mechanism.nu], rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_carried_basis_turns_with_the_jacobian(seed):
    """Y' = -G^+ G' Y: G Y stays zero along the motion, and Y' has no part in the tangent space."""
    mechanism = da.compile(random_model(seed, "ring", 5))
    run = da.Minimal().prepare(mechanism)
    x = run.from_absolute(mechanism.x_0)
    dx = np.zeros(len(x))
    assert run.system(T.RATE, 0.0, x, dx, run.view) == T.OK
    nu, f, at = mechanism.nu, mechanism.degrees_of_freedom, int(run.places.carry)

    def spread(v):
        return twist(mechanism, np.concatenate([mechanism.x_0[: mechanism.nq], v, np.zeros(64)]))

    u = spread(mechanism.x_0[mechanism.nq :][:nu])
    G, *_ = rows(mechanism, 0.0, mechanism.x_0)
    G_dot = difference(lambda h: rows(mechanism, h, moved(mechanism, mechanism.x_0, h * u))[0], 1e-4)
    W = mass_matrix(mechanism, mechanism.I[T.METRIC_F])
    for j in range(f):
        y, y_dot = spread(x[at + nu * j :][:nu]), spread(dx[at + nu * j :][:nu])
        assert np.abs(y_dot).max() > 1e-3
        np.testing.assert_allclose(
            G @ y_dot + G_dot @ y, 0, rtol=0, atol=1e-7 * max(1.0, np.abs(G_dot).max())
        )  # differences of 1e-4
        basis = np.stack([spread(x[at + nu * i :][:nu]) for i in range(f)])
        np.testing.assert_allclose(basis @ W @ y_dot, 0, rtol=0, atol=1e-12 * np.abs(y_dot).max() + 1e-12)


BODIES = [name for name in GALLERY if isinstance(build(name), da.Model)]
SPAN = {"coiled_chain": 0.002, "chain_16": 0.1}  # a basis of 384 or 96 velocities in every step
# Explicit steps longer than 6 / 840 s, stable only while no rounding excites the twists of damped rods, let it grow to the
# tolerance; the others have oscillations whose velocities are tolerance times frequency.
FINE = {"rtol": 1e-13, "atol": 1e-13}
EXACT = {
    "tethered_chain": {"max_step": 5e-3},
    "torsion_chain": FINE,
    "torsion_chain_rotation_vector": FINE,
    "towing_tank_ship_compliant": FINE,
}


@pytest.mark.parametrize("name", BODIES)
def test_gallery_moves_alike(name):
    """Jet, MovingFrame, and Minimal with every basis, with and without continuation, on bodies and on joints, to 1e-9."""
    mechanism = da.compile(build(name))
    end = SPAN.get(name, min(0.5, GALLERY[name].t_end))
    options = {"integrator": da.DOP853(**{**TIGHT, **EXACT.get(name, {})}), "save_at": np.linspace(0.0, end, 6)}
    variants = [v for v in VARIANTS if v.continuation or v.basis == "qr" or name != "coiled_chain"]  # seconds per basis there
    found, *others = (da.simulate(mechanism, end, formulation=formulation, **options) for formulation in variants)
    expected, relative, joints = (
        da.simulate(mechanism, end, formulation=formulation, **options)
        for formulation in (da.Jet(), da.MovingFrame(), da.Minimal(velocities="joints"))
    )
    for other in (*others, expected, relative, joints):
        np.testing.assert_allclose(found.q, other.q, rtol=0, atol=1e-9 * max(1.0, np.abs(found.q).max()))
        np.testing.assert_allclose(found.u, other.u, rtol=0, atol=1e-9 * max(1.0, np.abs(found.u).max()))
    assert found.report().passed
    assert joints.report().passed
    reactions = [j.name for j in mechanism.model.joints if found.reaction(j.name).unique][:2]
    for joint in reactions:
        size = max(1.0, np.abs(expected.reaction(joint).force).max())
        np.testing.assert_allclose(found.reaction(joint).force, expected.reaction(joint).force, rtol=0, atol=1e-7 * size)


@pytest.mark.parametrize("name", ["slider_crank", "planar_quadrangle", "spin_top", "bricard", "double_pendulum"])
def test_every_order_gives_the_same_motion(name):
    mechanism = da.compile(build(name))
    options = {"integrator": da.DOP853(**TIGHT), "save_at": np.linspace(0.0, 0.5, 6)}
    runs = [da.simulate(mechanism, 0.5, formulation=da.Minimal(order=order), **options) for order in ("integrator", 1, 4)]
    for other in runs[1:]:
        np.testing.assert_allclose(other.q, runs[0].q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.u, runs[0].u, rtol=0, atol=1e-9 * max(1.0, np.abs(runs[0].u).max()))


def jump(model, formulation, step, t_end=1.0):
    integrator = da.DormandPrince(step=step)
    return da.simulate(model, t_end, formulation=formulation, integrator=integrator, save_at=[t_end]).minimal.jump[-1]


def small_chain():
    """Hinge, ball, hinge: five degrees of freedom, moving in space."""
    model = da.Model(name="chain of five degrees of freedom")
    spin = ((0, 0, 0), (1.0, 0.5, 3.0), (1.0, 0.5, 3.0))
    for k in range(3):
        x, w = 0.2 + 0.4 * k, np.array(spin[k])
        v = np.cross(w, (x - 0.4, 0, 0))
        solid = da.box(1.0, (0.4, 0.05, 0.08)).body()
        model.add_body(f"rod {k}", **solid, position=(x, 0, 0), velocity=v, angular_velocity=w)
    model.add_revolute("hinge", model.ground, "rod 0", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("ball", "rod 0", "rod 1", point=(0.4, 0, 0))
    model.add_revolute("other", "rod 1", "rod 2", point=(0.8, 0, 0), axis=(0, 0.6, 0.8))
    return model


@pytest.mark.parametrize(
    ("make", "order"), list(itertools.product([spherical_pendulum, spin_top, small_chain], ["integrator", 1, 4]))
)
def test_jump_shrinks_with_the_step_only_with_continuation(make, order):
    """[QRContinuation, Figs. 9, 10, 14]: s' is continuous, so its change within a step is proportional to the step."""
    model, t_end = make(), 2.5 if make is spin_top else 1.0
    coarse, fine = (jump(model, da.Minimal(order=order), h, t_end) for h in (4e-3, 1e-3))
    assert coarse / fine == pytest.approx(4.0, rel=0.1)
    if order == "integrator":
        without = [jump(model, da.Minimal(continuation=False), h, t_end) for h in (4e-3, 1e-3)]
        assert min(without) > 10 * fine
        assert without[1] > 0.7 * without[0]  # a discontinuity does not care for the step


def test_planar_coordinates_and_idle_angles():
    """A planar point mass has an idle angle, which is no degree of freedom."""
    model = da.Model((0, 0, -9.81))
    arm = model.add_body("arm", **da.rod(1.0, 1.0).body(), position=(0.5, 0, 0))
    bob = model.add_point_mass("bob", mass=0.5, position=(1.0, 0, -0.4))
    model.add_revolute("pivot", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_distance("string", arm, bob, points=((0.5, 0, 0), (0, 0, 0)))
    model.add_in_plane("plane", model.ground, bob, direction=(0, 1, 0))
    runs = {
        kind: da.simulate(
            model, 1.0, formulation=da.Minimal(), coordinates=kind, save_at=[0.5, 1.0], integrator=da.DOP853(**TIGHT)
        )
        for kind in ("absolute", "planar")
    }
    assert runs["planar"].minimal.s.shape == runs["absolute"].minimal.s.shape == (2, 2)
    np.testing.assert_allclose(runs["planar"].position("bob"), runs["absolute"].position("bob"), rtol=0, atol=1e-9)
    Z = runs["planar"].minimal.basis
    np.testing.assert_array_equal(Z[:, 5], 0.0)


@pytest.mark.parametrize("order", ["integrator", 1, 4])
def test_driven_mechanism(order):
    """p' and p'': a driver on the crank, and another coordinate left free."""
    model = da.Model()
    arm = model.add_body("arm", **da.box(1.0, (1.0, 0.1, 0.1)).body(), position=(0.5, 0, 0))
    bob = model.add_body("bob", **da.box(1.0, (0.1, 0.1, 0.5)).body(), position=(1.0, 0, -0.25))
    model.add_revolute("motor", model.ground, arm, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_spherical("ball", arm, bob, point=(1.0, 0, 0))
    model.add_driver("drive", "motor", da.Harmonic(0.5, 1.0))
    options = {"integrator": da.DOP853(**TIGHT), "save_at": np.linspace(0, 1, 5)}
    jet, minimal = (da.simulate(model, 1.0, formulation=f, **options) for f in (da.Jet(), da.Minimal(order=order)))
    np.testing.assert_allclose(minimal.x[:, : jet.mechanism.nq], jet.x[:, : jet.mechanism.nq], rtol=0, atol=1e-9)
    np.testing.assert_allclose(minimal.energy.external_work, jet.energy.external_work, rtol=0, atol=1e-8)
    assert minimal.minimal.s.shape == (5, 3)


def test_no_degree_of_freedom_left():
    model = da.Model()
    arm = model.add_body("arm", **da.box(1.0, (1.0, 0.1, 0.1)).body(), position=(0.5, 0, 0))
    model.add_revolute("motor", model.ground, arm, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("drive", "motor", da.Polynomial((0.0, 2.0, 1.0)))
    solution = da.simulate(model, 1.0, formulation=da.Minimal())
    np.testing.assert_allclose(solution.coordinate("motor"), 2 * solution.t + solution.t**2, rtol=0, atol=1e-9)
    assert solution.minimal.basis.shape[1:] == (6, 0)


def test_minimal_coordinates_are_stored(tmp_path):
    solution = da.simulate(chain(2), 0.1, formulation=da.Minimal(), out=tmp_path / "written.zarr")
    solution.save(tmp_path / "saved.zarr")
    for name in ("written.zarr", "saved.zarr"):
        loaded = da.load(tmp_path / name)
        for quantity in ("s", "s_dot", "basis", "jump"):
            np.testing.assert_array_equal(getattr(loaded.minimal, quantity), getattr(solution.minimal, quantity))
        np.testing.assert_allclose(loaded(0.05).q, solution(0.05).q)
    without = da.simulate(chain(2), 0.1)
    with pytest.raises(da.ModelError, match="this run has no minimal coordinates: it used Jet, not Minimal"):
        _ = without.minimal
    assert "s" not in without.to_xarray()


def test_minimal_coordinates_in_a_dataset(tmp_path):
    """s, s' and the jump with units; every export format holds them."""
    solution = da.simulate(chain(2), 0.1, formulation=da.Minimal())
    dataset = solution.to_xarray()
    assert dataset.s.dims == dataset.s_dot.dims == ("time", "independent")
    np.testing.assert_array_equal(dataset.s, solution.minimal.s)
    np.testing.assert_array_equal(dataset.s_dot, solution.minimal.s_dot)
    np.testing.assert_array_equal(dataset.s_dot_jump, solution.minimal.jump)
    assert all(dataset[name].attrs["units"] for name in ("s", "s_dot", "s_dot_jump"))
    solution.export(tmp_path / "run.csv")
    titles = (tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "s_dot[0]" in titles
    assert "s_dot[5]" in titles


@pytest.mark.parametrize("order", ["integrator", 1, 4])
def test_energy_is_kept_as_an_invariant(order):
    """The correction moves the end of a step within the constraints; the basis goes on from there."""
    options = {"integrator": da.DormandPrince(rtol=1e-5, atol=1e-5), "save_at": np.linspace(0, 2, 21)}
    plain, kept = (
        da.simulate(build("slider_crank"), 2.0, formulation=da.Minimal(order=order, invariants=invariants), **options)
        for invariants in (None, "energy")
    )
    assert np.abs(plain.energy.total - plain.energy.total[0]).max() > 1e-6 * plain.energy.scale
    assert np.abs(kept.energy.total - kept.energy.total[0]).max() <= 1e-12 * kept.energy.scale
    assert kept.drift.position.max() <= 1e-11
    assert kept.statistics.basis_restarts == 0
    np.testing.assert_allclose(np.einsum("tij,tj->ti", kept.minimal.basis, kept.minimal.s_dot), kept.u, rtol=0, atol=1e-9)


def test_velocities_are_those_of_the_basis():
    solution = da.simulate(build("slider_crank"), 1.0, formulation=da.Minimal())
    u = np.einsum("tij,tj->ti", solution.minimal.basis, solution.minimal.s_dot)
    np.testing.assert_allclose(u, solution.u, rtol=0, atol=1e-9)  # velocity tolerance 1e-11 times the condition


@pytest.mark.parametrize(
    "integrator", [da.DOP853(**TIGHT), da.DormandPrince(), da.RungeKutta4(step=0.002)], ids=lambda i: type(i).__name__
)
def test_singular_configuration_stops_a_run(integrator):
    with pytest.raises(
        da.SimulationError, match=r"leads to a singular configuration at t = 0\.71435\d* s \(condition \d"
    ) as caught:
        da.simulate(n_four_bar(), 2.0, formulation=da.Minimal(), integrator=integrator)
    assert all(f"'{joint}'" in str(caught.value) for joint in ("B 1", "B 2", "C 1", "C 2"))
    assert "Minimal(singular='pass') goes through" in str(caught.value)
    assert 0.71 < caught.value.solution.t[-1] < 0.714356


@pytest.mark.parametrize(
    ("n", "integrator"),
    [
        (2, da.DOP853(rtol=1e-10, atol=1e-10)),
        (2, da.DormandPrince(rtol=1e-10, atol=1e-10)),
        (2, da.GaussLegendre(4, rtol=1e-10, atol=1e-10)),
        (40, da.DOP853(rtol=3e-10, atol=3e-10)),
    ],
)
def test_singular_configuration_is_passed_with_a_warning(n, integrator):
    """Stays on the branch of parallel links, where a silent jump would fold some windows the other way.

    Of many windows a step must not end within the zone of the crossing: there velocities lose digits (5e-6 of 3 m/s), and the
    report fails.
    """
    with pytest.warns(
        RuntimeWarning, match=r"a singular configuration was passed at t = 0\.7[12]\d* s \(condition .*\): joints '"
    ):
        solution = da.simulate(
            n_four_bar(n), 1.0, coordinates="planar", formulation=da.Minimal(singular="pass"), integrator=integrator
        )
    assert len(solution.warnings) == 1
    assert sum(line.name == "warning" for line in solution.report().lines) == 1
    links = np.stack([solution.coordinate(f"A {i}") for i in range(n + 1)])
    assert np.ptp(links, axis=0).max() <= 1e-10
    energy = solution.energy.total
    assert np.abs(energy - energy[0]).max() <= 1e-8 * solution.energy.scale


@pytest.mark.parametrize("integrator", [da.RungeKutta4(step=1e-3), da.DOP853(step=1e-3), da.GaussLegendre(3, step=5e-3)])
def test_fixed_steps_do_not_pass(integrator):
    with pytest.raises(da.ModelError, match=r"needs an integrator that chooses its steps.* give \w+\(\) without a step"):
        da.simulate(n_four_bar(), 1.0, formulation=da.Minimal(singular="pass"), integrator=integrator)


@pytest.mark.parametrize("longer", [1e-3, 1e-6])
def test_near_miss_is_not_taken_for_a_crossing(longer):
    """A parallelogram with one longer link does not cross branches: it folds, and interpolation must not carry it through."""
    model, z = da.Model((0, -9.81, 0)), (0, 0, 1)
    moving = {"velocity": (0.5, 0, 0), "angular_velocity": (0, 0, -1)}
    model.add_body("first", **da.rod(1.0, 1.0, "y").body(), position=(0, 0.5, 0), **moving)
    model.add_body("coupler", **da.rod(1.0, 1.0, "x").body(), position=(0.5, 1, 0), velocity=(1, 0, 0))
    model.add_body("second", **da.rod(1.0, 1.0 + longer, "y").body(), position=(1, 0.5 - longer / 2, 0), **moving)
    for joint, bodies, point in (
        ("A", ("ground", "first"), (0, 0, 0)),
        ("B", ("first", "coupler"), (0, 1, 0)),
        ("C", ("coupler", "second"), (1, 1, 0)),
        ("D", ("ground", "second"), (1, -longer, 0)),
    ):
        model.add_revolute(joint, *bodies, point=point, axis=z)
    options = {"coordinates": "planar", "integrator": da.DOP853(rtol=1e-10, atol=1e-10), "save_at": np.linspace(0, 1.2, 13)}
    jet, minimal = (da.simulate(model, 1.2, formulation=f, **options) for f in (da.Jet(), da.Minimal(singular="pass")))
    assert not minimal.warnings
    assert abs(minimal.coordinate("A")[-1] - minimal.coordinate("D")[-1]) > 1.0
    np.testing.assert_allclose(minimal.coordinate("A"), jet.coordinate("A"), rtol=0, atol=1e-7)  # 1e-10 times the fold's 1 / d


def test_start_in_a_singular_configuration_is_refused():
    """A parallelogram that starts flat."""
    model = da.Model()
    for name, x in (("first", 0.5), ("coupler", 1.5), ("second", 1.5)):
        model.add_body(name, **da.rod(1.0, 1.0).body(), position=(x, 0, 0))
    for joint, bodies, x in (("A", ("ground", "first"), 0), ("B", ("first", "coupler"), 1), ("C", ("coupler", "second"), 2)):
        model.add_revolute(joint, *bodies, point=(x, 0, 0), axis=(0, 1, 0))
    model.add_revolute("D", model.ground, "second", point=(1, 0, 0), axis=(0, 1, 0))
    for singular in ("stop", "pass"):
        with pytest.raises(da.SimulationError, match=r"configuration at t = 0 s is singular \(condition .*start beside it"):
            da.simulate(model, 1.0, formulation=da.Minimal(singular=singular))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("basis", "lu"),
        ("invariants", "momentum"),
        ("order", 2),
        ("order", True),
        ("singular", "ignore"),
        ("continuation", 1),
        ("tolerance", 0.0),
    ],
)
def test_options_are_checked(option, value):
    with pytest.raises(da.ModelError, match=f"Minimal: {option} is .*; give"):
        da.Minimal(**{option: value})

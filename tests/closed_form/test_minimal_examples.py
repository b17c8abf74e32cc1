"""The examples of [QRContinuation, 3] and two loops of [IFToMM] in minimal coordinates against their reference motions."""

import numpy as np
import pytest
from reference_data import INTEGRATORS, NAMES, largest, load, run

import dalembert as da
from dalembert import gallery

POSITION = 1e-8  # demanded at rtol = atol = 1e-11
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS, ids=NAMES)


@every_integrator
def test_planar_pendulum(integrator):
    reference = load("planar_pendulum")
    columns = reference["columns"]
    for coordinates in ("absolute", "planar"):
        solution = run(gallery.planar_pendulum(), reference["t"], integrator, formulation=da.Minimal(), coordinates=coordinates)
        assert largest(solution.position("bob")[:, [0, 2]] - np.stack([columns["x"], columns["z"]], axis=1)) <= POSITION
        # one column, fixed but for its sign: s' = l phi', s = l (phi - phi_0)
        sign = np.sign(solution.minimal.s_dot[1, 0] * columns["phidot"][1])
        assert largest(sign * solution.minimal.s_dot[:, 0] - columns["phidot"]) <= 5 * POSITION  # rates of up to 4.4 rad/s
        assert largest(sign * solution.minimal.s[:, 0] - (columns["phi"] - columns["phi"][0])) <= POSITION


@every_integrator
def test_spherical_pendulum_and_its_continued_basis(integrator):
    """Basis, s' and s in the exact limit of the continuation, which starts at Q2 = (e2, e3) [QRContinuation, (27), (53)]."""
    reference = load("spherical_pendulum")
    columns = reference["columns"]
    solution = run(gallery.spherical_pendulum(), reference["t"], integrator, formulation=da.Minimal())
    minimal = solution.minimal
    assert largest(solution.position("bob") - columns["r"]) <= POSITION
    assert largest(solution.velocity("bob") - columns["v"]) <= 15 * POSITION  # 15 rad/s
    assert largest(minimal.basis - columns["Q2"].reshape(-1, 3, 2)) <= POSITION / 0.08  # directions of a rod of 0.08 m
    assert largest(minimal.s_dot - columns["qdot"]) <= 1.3 * POSITION / 0.08  # at up to 1.3 m/s
    assert largest(minimal.s - columns["q"]) <= POSITION
    tension = 2 * 0.08 * columns["lam"]
    assert largest(np.linalg.norm(solution.reaction("rod").force, axis=1) - np.abs(tension)) <= 1e-5 * tension.max()


@pytest.mark.parametrize(("order", "expected"), [(1, 2), (4, 4)])
def test_order_of_the_exponential(order, expected):
    """The projection after the exponential leaves only what it turns within the subspace, which is one order better."""
    reference = load("spherical_pendulum")
    times, Q2 = reference["t"][:5], reference["columns"]["Q2"].reshape(-1, 3, 2)[:5]
    errors = []
    for step in (1 / 512, 1 / 1024):
        options = {"formulation": da.Minimal(order=order), "integrator": da.DOP853(step=step), "save_at": times}
        errors.append(largest(da.simulate(gallery.spherical_pendulum(), times[-1], **options).minimal.basis - Q2))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(expected, abs=0.1)


@every_integrator
def test_spin_top(integrator):
    reference = load("spin_top")
    columns = reference["columns"]
    solution = run(gallery.spin_top(), reference["t"], integrator, formulation=da.Minimal())
    assert largest(solution.position("top") - columns["r"]) <= POSITION
    assert largest(solution.velocity("top") - columns["v"]) <= 10 * POSITION  # the fall reaches 10 1/s
    assert largest(solution.quaternion("top") - columns["q"]) <= POSITION
    assert solution.minimal.s.shape == (len(reference["t"]), 5)


@every_integrator
def test_slider_crank(integrator):
    reference = load("slider_crank")
    columns = reference["columns"]
    solution = run(gallery.slider_crank(), reference["t"], integrator, formulation=da.Minimal())
    assert largest(solution.position("slider")[:, 0] - columns["x"]) <= POSITION
    assert largest(solution.coordinate("A") - columns["theta"]) <= POSITION / 0.08  # a crank of 0.08 m


@every_integrator
def test_bricard(integrator):
    """Overconstrained: 30 rows for 30 velocities, one of them redundant."""
    reference = load("bricard")
    columns = reference["columns"]
    solution = run(gallery.bricard(), reference["t"], integrator, formulation=da.Minimal())
    point = solution.point("rod 2", (0.5, 0, 0))
    assert largest(point - np.stack([columns[name] for name in ("xP3", "yP3", "zP3")], axis=1)) <= POSITION


@every_integrator
@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_n_four_bar_through_its_singular_positions(coordinates, integrator):
    """Ten of them in ten seconds, all passed on the branch of parallel links."""
    reference = load("n_four_bar")["2"]
    options = {"formulation": da.Minimal(singular="pass"), "coordinates": coordinates}
    with pytest.warns(RuntimeWarning, match="singular configuration"):
        solution = run(gallery.n_four_bar(), np.array(reference["t"]), integrator, **options)
    top = solution.point("link 0", (0, 0.5, 0))
    assert largest(top[:, :2] - np.stack([reference["xB0"], reference["yB0"]], axis=1)) <= POSITION
    assert largest(solution.coordinate("A 2") + np.array(reference["theta"])) <= POSITION
    assert largest(solution.energy.total - solution.energy.total[0]) <= 1e-10 * solution.energy.scale

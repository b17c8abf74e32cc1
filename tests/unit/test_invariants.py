"""Momentum, invariants by name and by function, Jellett's and Routh's integrals, and where a reader meets them."""

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.errors import ModelError, SimulationError

TIGHT = {"integrator": da.DOP853(rtol=1e-12, atol=1e-12)}


def pair():
    """Two free bodies on a spring-damper, and a point mass that passes by."""
    model = da.Model((0, 0, 0), name="pair")
    shape = {"mass": 2.0, "inertia": (0.1, 0.2, 0.25)}
    model.add_body("a", **shape, position=(1, 0, 0), velocity=(0, 1, 0.5), angular_velocity=(3, 1, 2))
    model.add_body("b", **shape, position=(0, 1, 0), velocity=(1, 0, 0), angular_velocity=(0, 5, 0.1))
    model.add_spring_damper("link", "a", "b", points=((0.2, 0, 0), (0, 0.3, 0)), stiffness=50.0, damping=0.5, length=0.5)
    model.add_point_mass("c", mass=0.5, position=(0, 0, 4), velocity=(1, 2, 3))
    return model


@pytest.fixture(scope="module")
def free():
    return da.simulate(pair(), 3.0, **TIGHT)


def test_momentum_of_free_bodies_is_that_of_the_start(free):
    """By hand: sum m v and sum r x m v + I w, the bodies' axes along the world's at the start."""
    linear = np.array([2 * 0 + 2 * 1 + 0.5, 2 * 1 + 0.5 * 2, 2 * 0.5 + 0.5 * 3])
    orbit = 2 * np.cross((1, 0, 0), (0, 1, 0.5)) + 2 * np.cross((0, 1, 0), (1, 0, 0)) + 0.5 * np.cross((0, 0, 4), (1, 2, 3))
    angular = orbit + np.array([0.3, 0.2 + 1.0, 0.5 + 0.025])
    np.testing.assert_allclose(free.momentum.linear, np.tile(linear, (len(free.t), 1)), rtol=0, atol=1e-11)
    np.testing.assert_allclose(free.momentum.angular, np.tile(angular, (len(free.t), 1)), rtol=0, atol=1e-10)
    point = np.array([0.3, -2.0, 1.0])
    about = free.momentum.about(point)
    np.testing.assert_allclose(about.angular, np.tile(angular - np.cross(point, linear), (len(free.t), 1)), rtol=0, atol=1e-10)
    np.testing.assert_allclose(about.about((0, 0, 0)).angular, free.momentum.angular, rtol=0, atol=1e-13)
    with pytest.raises(ModelError, match=r"momentum about \(1, 2\); give a point of three numbers"):
        free.momentum.about((1, 2))


def test_momentum_about_the_moving_centre_of_mass(free):
    """The orbital part of the whole has gone: what is left does not depend on where the origin is."""
    mass = {"a": 2.0, "b": 2.0, "c": 0.5}
    centre = sum(m * free.position(name) for name, m in mass.items()) / 4.5
    spin = free.momentum.about(centre).angular
    np.testing.assert_allclose(spin, np.tile(spin[0], (len(free.t), 1)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_momentum_in_the_plane(coordinates):
    model = da.Model((0, 0, 0))
    model.add_body("rod", **da.rod(2.0, 1.0, axis="x", radius=0.05).body(), velocity=(0, 1, 0), angular_velocity=(0, 0, 3))
    model.add_point_mass("bead", mass=0.5, position=(2, 0, 0), velocity=(0, -1, 0))
    model.add_planar_joint("table", model.ground, "rod", point=(0, 0, 0), axis=(0, 0, 1))
    solution = da.simulate(model, 1.0, coordinates=coordinates)
    about_z = 3 * model.body("rod").inertia[2, 2] - 2 * 0.5
    np.testing.assert_allclose(solution.momentum.angular[-1], (0, 0, about_z), rtol=0, atol=1e-9)
    np.testing.assert_allclose(solution.momentum.linear[-1], (0, 2.0 - 0.5, 0), rtol=0, atol=1e-9)


def test_heavy_top_keeps_its_momentum_about_the_vertical_alone():
    solution = da.simulate(gallery.symmetric_top(), 5.0, integrator=da.DOP853(rtol=1e-11, atol=1e-11))
    assert solution.invariant("angular momentum z").deviation.max() <= 1e-10
    assert solution.invariant("angular momentum x").deviation.max() > 0.01
    report = solution.report(invariants=["angular momentum z", "angular momentum x"])
    assert report["angular momentum z"].verdict == "pass"
    assert [line.name for line in report.failures] == ["angular momentum x"]


def test_report_has_a_line_for_each_invariant(free):
    def height(solution):
        return solution.momentum.about((1, 0, 0)).angular[:, 2]

    report = free.report(invariants=["linear momentum", "angular momentum y", height, free.invariant(height, name="other")])
    for name in ("linear momentum", "angular momentum y", "height", "other"):
        assert report[name].verdict == "pass"
        assert 0 <= report[name].data <= 1e-10
    assert report["linear momentum"].value.startswith(f"{report['linear momentum'].data:.3g} of ")
    assert " N s, worst at t = " in report["linear momentum"].value
    names = [line.name for line in report.lines]
    assert names.index("energy balance") < names.index("linear momentum") < names.index("degrees of freedom")
    assert "linear momentum" not in [line.name for line in free.report().lines]


def test_scale_of_an_invariant(free):
    def nothing(solution):
        return 0 * solution.t

    assert free.invariant(nothing).deviation.max() == 0.0
    assert free.invariant(lambda s: s.t, scale=10.0).deviation[-1] == pytest.approx(0.3)
    assert free.invariant(lambda s: s.t).deviation[-1] == 1.0
    assert free.invariant("energy").scale == free.energy.scale


def test_invariant_of_a_run_that_saved_late():
    solution = da.simulate(pair(), 1.0, save_at=[0.5, 1.0])
    assert " since t = 0.5 s, worst at t = 1 s" in solution.report(invariants=["linear momentum"])["linear momentum"].value


def test_kept_function_has_its_line():
    def spin(t, q, u):
        return u[3] ** 2 + u[4] ** 2 + u[5] ** 2

    model = da.Model((0, 0, 0))
    model.add_body("ball", mass=1.0, inertia=(1, 1, 1), angular_velocity=(1, 2, 3))
    solution = da.simulate(model, 1.0, formulation=da.Jet(invariants=[spin]))
    line = solution.report()["spin"]
    assert line.verdict == "pass" and "kept by projection" in line.value
    np.testing.assert_allclose(solution.invariant(spin).values, 14.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("what", "error", "words"),
    [
        ("angular momentum w", ModelError, "there is no invariant 'angular momentum w'; did you mean 'angular momentum"),
        (3.0, ModelError, "an invariant is 3.0; give a name, a function or an Invariant"),
        (
            lambda s: s.t[:2],
            ModelError,
            r"invariant '<lambda>' returned values of shape \(2,\); return one number or vector for",
        ),
        (lambda s: s.nothing, SimulationError, "invariant '<lambda>' raised AttributeError"),
    ],
)
def test_invariants_that_cannot_be(free, what, error, words):
    with pytest.raises(error, match=words):
        free.invariant(what)


def test_loaded_run_has_its_invariants(free, tmp_path):
    free.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    np.testing.assert_array_equal(again.invariant("angular momentum").values, free.momentum.angular)
    assert again.report(invariants=["angular momentum"]).passed


def test_plot_draws_the_deviation(free):
    ax = free.plot.invariants(["energy", "linear momentum", lambda s: 1 + s.t]).axes[0]
    labels = [line.get_label() for line in ax.get_lines()]
    assert [label.split(",")[0] for label in labels] == ["energy", "linear momentum", "<lambda>"]
    assert ax.get_yscale() == "log"
    assert ax.get_lines()[2].get_ydata()[-1] == pytest.approx(0.75)  # (1 + t - 1) / 4
    assert [line.get_label().split(",")[0] for line in free.plot.invariants().axes[0].get_lines()] == ["energy"]


def planet():
    """Kepler's problem in polar coordinates, with parameters as an array."""
    return da.LagrangianSystem(
        lambda q, v, p: p.c[0] / 2 * (v.r**2 + (q.r * v.angle) ** 2) + p.c[1] / q.r,
        "r angle",
        parameters={"c": (2.0, 3.0)},
        initial={"r": 1.0},
        velocities={"r": 0.3, "angle": 1.1},
    )


def test_invariants_of_a_lagrangian_system():
    solution = da.simulate(planet(), 5.0, **TIGHT)
    np.testing.assert_allclose(solution.conjugate_momentum("angle"), 2 * 1.1, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(solution.invariant("momentum r").values, 2.0 * solution["r'"])

    def laplace(q, v, p):
        """First component of the Laplace-Runge-Lenz vector, which points to the pericentre."""
        momentum = q.r**2 * v.angle
        across = v.r * np.sin(q.angle) + q.r * v.angle * np.cos(q.angle)
        return across * momentum - p.c[1] / p.c[0] * np.cos(q.angle)

    assert solution.invariant(laplace).deviation.max() <= 1e-9
    in_order = solution.invariant(lambda time, x, w: x.r**2 * w.angle)
    by_solution = solution.invariant(lambda run: run["r"] ** 2 * run["angle'"])
    np.testing.assert_allclose(in_order.values, by_solution.values, rtol=1e-15)
    report = solution.report(invariants=["momentum angle", laplace, "momentum r"])
    assert [line.name for line in report.failures] == ["momentum r"]
    assert len(solution.plot.invariants(["momentum angle", laplace]).axes[0].get_lines()) == 2
    with pytest.raises(ModelError, match="there is no invariant 'momentum phi'"):
        solution.invariant("momentum phi")
    with pytest.raises(ModelError, match="there is no coordinate 'phi'"):
        solution.conjugate_momentum("phi")
    with pytest.raises(ModelError, match="returned 2 values; return one number"):
        solution.invariant(lambda q, v: np.array([q.r, v.r]))


def test_kept_function_of_a_lagrangian_system_has_its_line():
    def area(t, q, u):
        return q.r**2 * u.angle

    solution = da.simulate(planet(), 5.0, formulation=da.Jet(invariants=[area]))
    assert "kept by projection" in solution.report()["area"].value
    assert solution.report().passed


def turned(Q, centre, inertia=None, **options):
    """A loaded sphere whose body axes are turned by Q against those in which `centre` and `inertia` are given."""
    I = np.diag((0.36, 0.36, 0.4)) if inertia is None else np.asarray(inertia)
    model = da.Model((0, 0, -9.81))
    w, c = np.array([1.0, 2.0, 5.0]), np.asarray(centre)
    contact = c - (0, 0, 1.0)
    model.add_body(
        "sphere", mass=1.0, inertia=Q @ I @ Q.T, rotation=Q.T, position=-contact, velocity=-np.cross(w, contact),
        angular_velocity=w,
    )  # fmt: skip
    model.add_rolling_sphere("floor", "sphere", radius=1.0, centre=Q @ c, **options)
    return da.simulate(model, 1.0, integrator=da.DOP853(rtol=1e-12, atol=1e-12), formulation=da.Jet(tolerance=1e-13))


def test_integrals_do_not_depend_on_the_body_axes():
    Q = da.Rotation.from_axis_angle((0.3, -1.0, 0.7), 1.2).matrix
    plain, other = (turned(axes, (0, 0, 0.3)) for axes in (np.eye(3), Q))
    for integral in (da.jellett, da.routh):
        one, two = integral(plain, "floor"), integral(other, "floor")
        np.testing.assert_allclose(two.values[0], one.values[0], rtol=1e-14)
        assert max(one.deviation.max(), two.deviation.max()) <= 1e-11
    assert plain.report(invariants=[da.jellett(plain, "floor"), da.routh(plain, "floor")]).passed


def test_ball_of_chaplygin_has_jelletts_integral_only():
    """Centre of mass in the centre, three different moments: -(I w) . s / R is the angular momentum about the vertical."""
    solution = turned(np.eye(3), (0, 0, 0), np.diag((0.3, 0.35, 0.4)))
    integral = da.jellett(solution, "floor")
    assert integral.deviation.max() <= 1e-11
    np.testing.assert_allclose(integral.values[0], 0.4 * 5.0, rtol=1e-14)
    with pytest.raises(ModelError, match="routh of 'floor': the inertia of 'sphere' is not symmetric about the line"):
        da.routh(solution, "floor")


def test_balanced_sphere_of_two_moments_spins_on_about_its_own_axis():
    """Where c = 0 the axis is that of the moment which differs, here x; Routh's integral is w_x times a root."""
    solution = turned(np.eye(3), (0, 0, 0), np.diag((0.4, 0.3, 0.3)))
    up, w = solution.rotation("sphere")[:, 2], solution.angular_velocity("sphere", frame="body")
    root = np.sqrt(0.4 * 0.3 + 0.3 + 0.1 * up[:, 0] ** 2)
    np.testing.assert_allclose(da.routh(solution, "floor").values, w[:, 0] * root)
    assert da.routh(solution, "floor").deviation.max() <= 1e-11


def test_spheres_without_the_integrals():
    lopsided = turned(np.eye(3), (0.2, 0, 0.3))
    for integral, name in ((da.jellett, "jellett"), (da.routh, "routh")):
        with pytest.raises(ModelError, match=f"{name} of 'floor': the inertia of 'sphere' is not symmetric"):
            integral(lopsided, "floor")
    disc = da.simulate(gallery.rolling_disc(), 0.01)
    with pytest.raises(ModelError, match="rolling_disc joint 'floor' is no rolling sphere"):
        da.jellett(disc, "floor")
    model = gallery.routh_sphere()
    table = model.add_body("table", mass=1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    model.add_fixed("bolt", model.ground, table, point=(0, 0, 0))
    model.add_body("ball", **da.sphere(1.0, 0.1).body(), position=(1, 0, 0.1))
    model.add_rolling_sphere("contact", "ball", radius=0.1, on="table")
    with pytest.raises(ModelError, match="joint 'contact': its plane moves with 'table'"):
        da.routh(da.simulate(model, 0.01), "contact")


@pytest.mark.parametrize("formulation", [da.Jet, da.MovingFrame, da.Minimal])
def test_without_freedom_no_invariant_can_be_kept(formulation):
    model = da.Model()
    model.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    model.add_revolute("hinge", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "hinge", da.Polynomial((0.0, 2.0)))
    with pytest.raises(ModelError, match=r"no freedom is left to correct the energy \(0 degrees of freedom\)"):
        da.simulate(model, 0.1, formulation=formulation(invariants="energy"))

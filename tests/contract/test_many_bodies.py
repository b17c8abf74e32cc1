"""Constraints of more than two bodies in every formulation and kind of coordinates, against the same system in coordinates.

Three point masses: one residual of positions and one of velocities, each of all three; and three rigid bodies in a plane, two
of them jointed, whose centres keep a mean. The other side is a Lagrangian system with the same constraints, which shares
neither rows nor incidences with bodies.
"""

import numpy as np
import pytest

import dalembert as da

T_END = 0.1
TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
# fixed steps: errors of order h^2 (Impulse, Variational), of order h (Soft)
FIXED = [
    (da.Impulse(), da.RungeKutta4(step=0.01), 2e-5),
    (da.Soft(stiffness=1e10, damping=1e6), da.RungeKutta4(step=0.002), 1e-3),
    (da.Variational(), da.FixedStep(step=0.01), 2e-5),
]
EXACT = [
    da.Jet(),
    da.Jet(solver="cg"),
    da.Jet(invariants="energy"),
    da.MovingFrame(),
    da.MovingFrame(path="reference"),
    da.Minimal(),
    da.Minimal(velocities="joints"),
    da.Minimal(singular="pass"),
]
WAYS = [(way, TIGHT, 1e-9) for way in EXACT] + FIXED


def masses():
    model = da.Model()
    for k in range(3):
        model.add_point_mass(f"p{k}", mass=1.0 + k, position=(k, 0.1 * k, 0.0), velocity=(0.2, 0.3 * k, 1.0 - k))
    trio = ["p0", "p1", "p2"]
    model.add_constraint("sum", lambda a, b, c: a.r[2] + 2 * b.r[2] + c.r[2] - 0.1 * a.r[0] * c.r[1], trio)
    model.add_velocity_constraint("slip", lambda a, b, c, t: a.v[0] - b.v[0] * c.r[0] + (1.0 + 0.1 * t) * c.v[1], trio)
    return model


@pytest.fixture(scope="module")
def in_coordinates():
    start = da.compile(masses()).x_0
    names = [f"{c}{k}" for k in range(3) for c in "xyz"]
    system = da.LagrangianSystem(
        lambda q, v: sum(
            (1.0 + k) * (0.5 * (v[3 * k : 3 * k + 3] @ v[3 * k : 3 * k + 3]) - 9.81 * q[3 * k + 2]) for k in range(3)
        ),
        names,
        holonomic={"sum": lambda q: q[2] + 2 * q[5] + q[8] - 0.1 * q[0] * q[7]},
        nonholonomic={"slip": lambda q, v, t: v[0] - v[3] * q[6] + (1.0 + 0.1 * t) * v[7]},
        initial=dict(zip(names, start[:9], strict=True)),
        velocities=dict(zip(names, start[9:18], strict=True)),
    )
    return da.simulate(system, t_end=T_END, integrator=TIGHT)


@pytest.mark.parametrize(("way", "integrator", "tolerance"), WAYS, ids=[repr(w)[:60] for w, _, _ in WAYS])
def test_three_bodies_move_as_in_coordinates(in_coordinates, way, integrator, tolerance):
    run = da.simulate(masses(), t_end=T_END, formulation=way, integrator=integrator)
    for k in range(3):
        expected = np.array([in_coordinates[f"{c}{k}"][-1] for c in "xyz"])
        assert np.abs(run.position(f"p{k}")[-1] - expected).max() <= tolerance
    if tolerance == 1e-9:
        assert run.report().passed


def test_each_body_gets_its_share(in_coordinates):
    """M a = gravity + what both constraints do to it; no other force acts."""
    run = da.simulate(masses(), t_end=T_END, integrator=TIGHT)
    for k in range(3):
        shares = sum(run.reaction(name, f"p{k}").force for name in ("sum", "slip"))
        balance = (1.0 + k) * (run.acceleration(f"p{k}") - run.mechanism.model.gravity) - shares
        assert np.abs(balance).max() <= 1e-10
    with pytest.raises(da.ModelError, match="'sum' does not act on 'ground'"):
        run.reaction("sum", "ground")


def linked():
    """Two hinged rods and a slider; the slider's height is the mean of the heights of the rods' centres."""
    model = da.Model(gravity=(0, -9.81, 0))
    model.add_body("a", **da.rod(1.0, 1.0, axis="x", radius=0.02).body(), position=(0.5, 0, 0))
    model.add_body("b", **da.rod(2.0, 1.0, axis="x", radius=0.02).body(), position=(1.5, 0, 0))
    model.add_body("s", **da.box(1.5, (0.1, 0.1, 0.1)).body(), position=(3, 0, 0))
    model.add_revolute("A", model.ground, "a", point=(0, 0, 0), axis=(0, 0, 1), rate=0.7)
    model.add_revolute("B", "a", "b", point=(1, 0, 0), axis=(0, 0, 1), rate=-0.4)
    model.add_prismatic("S", model.ground, "s", point=(3, 0, 0), axis=(0, 1, 0))
    model.add_constraint("mean", lambda a, b, s: 2 * s.r[1] - a.r[1] - b.r[1], ["a", "b", "s"])
    return model


def test_planar_and_tree_coordinates_agree_with_the_lagrangian():
    r2 = 0.02**2
    J = [(1.0 + k) * (1.0 / 12 + r2 / 4) for k in range(2)]

    def lagrangian(q, v):
        f, g = q  # world angles of the rods
        w, z = v
        heights = [0.5 * np.sin(f), np.sin(f) + 0.5 * np.sin(g)]
        rates = [0.5 * np.cos(f) * w, np.cos(f) * w + 0.5 * np.cos(g) * z]
        sideways = [-0.5 * np.sin(f) * w, -np.sin(f) * w - 0.5 * np.sin(g) * z]
        T = 0.5 * (J[0] * w * w + J[1] * z * z)
        T = (
            T
            + 0.5 * sum((1.0 + k) * (rates[k] ** 2 + sideways[k] ** 2) for k in range(2))
            + 0.75 * ((rates[0] + rates[1]) / 2) ** 2
        )
        return T - 9.81 * (heights[0] + 2.0 * heights[1] + 1.5 * (heights[0] + heights[1]) / 2)

    system = da.LagrangianSystem(lagrangian, ["f", "g"], velocities={"f": 0.7, "g": 0.3})
    expected = da.simulate(system, t_end=T_END, integrator=TIGHT)
    for options in ({"coordinates": "absolute"}, {"coordinates": "planar"}, {"coordinates": "tree"},
                    {"formulation": da.Minimal(), "coordinates": "planar"}, {"formulation": da.MovingFrame()}):  # fmt: skip
        run = da.simulate(linked(), t_end=T_END, integrator=TIGHT, **options)
        assert abs(run.coordinate("A")[-1] - expected["f"][-1]) <= 1e-9, options
        assert abs(run.coordinate("B")[-1] - expected["g"][-1] + expected["f"][-1]) <= 1e-9, options
        assert run.report().passed
    stepped = {"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.01)}
    run = da.simulate(linked(), t_end=T_END, coordinates="tree", **stepped)
    assert abs(run.coordinate("A")[-1] - expected["f"][-1]) <= 2e-5


def test_redundant_rows_of_three_bodies_are_found():
    model = masses()
    model.add_constraint(
        "again", lambda a, b, c: 2 * a.r[2] + 4 * b.r[2] + 2 * c.r[2] - 0.2 * a.r[0] * c.r[1], ["p0", "p1", "p2"]
    )
    mechanism = da.compile(model)
    assert mechanism.rank == 2 and [row.element for row in mechanism.redundant] == ["again"]
    run = da.simulate(model, t_end=0.05)
    assert run.report().passed and not run.reaction("again").unique


def test_what_many_bodies_must_be():
    model = masses()
    with pytest.raises(da.ModelError, match="constraint 'x': body 'p0' is listed twice"):
        model.add_constraint("x", lambda a, b, c: a.r[0], ["p0", "p1", "p0"])
    with pytest.raises(da.ModelError, match=r"takes 2 bodies \(a, b\), bodies lists 3"):
        model.add_constraint("x", lambda a, b: a.r[0], ["p0", "p1", "p2"])
    with pytest.raises(da.ModelError, match="give a body, or a list of bodies"):
        model.add_constraint("x", lambda: 0.0, [])


def test_many_bodies_are_stored(tmp_path):
    model = masses()
    again = da.Model.from_dict(model.to_dict())
    assert again.joint("sum").bodies == ("p0", "p1", "p2") and again.hash == model.hash
    run = da.simulate(model, t_end=0.05)
    run.save(tmp_path / "run.zarr")
    loaded = da.load(tmp_path / "run.zarr", model=model)
    assert np.array_equal(loaded.reaction("sum", "p1").force, run.reaction("sum", "p1").force)

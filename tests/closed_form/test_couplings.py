"""Couplings, gears, racks, belts, differentials and screws against closed forms, over full turns, in every formulation."""

import numpy as np
import pytest

import dalembert as da

TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
EXACT = da.Jet(tolerance=1e-14, velocity_tolerance=1e-14)  # each projection down to rounding
Z_S, Z_P = 30, 20
Z_R = Z_S + 2 * Z_P
ARM = 0.05
J = {"sun": 2e-3, "arm": 5e-3, "planet": 3e-4, "ring": 7e-2}
TORQUE = {"sun": 0.3, "arm": -0.5, "ring": 0.1}


def planetary():
    model = da.Model(gravity=(0, 0, 0))
    for name, mass, at in (("sun", 1.0, 0.0), ("arm", 2.0, 0.0), ("planet", 0.5, ARM), ("ring", 3.0, 0.0)):
        model.add_body(name, mass=mass, inertia=(J[name] / 1.8, J[name] / 1.8, J[name]), position=(at, 0, 0))
    model.add_revolute("S", model.ground, "sun", point=(0, 0, 0), axis=(0, 0, 1), rate=40.0)
    model.add_revolute("C", "arm", model.ground, point=(0, 0, 0), axis=(0, 0, 1), rate=-5.0)  # the other way round
    model.add_revolute("P", "arm", "planet", point=(ARM, 0, 0), axis=(0, 0, -1))
    model.add_revolute("R", model.ground, "ring", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_gear("inner", "sun", "planet", carrier="arm", teeth=(Z_S, Z_P))
    model.add_gear("outer", "planet", "ring", carrier="arm", teeth=(Z_P, Z_R), internal=True)
    for name, value in TORQUE.items():
        model.add_torque(f"on {name}", name, (0, 0, value))
    return model


def planetary_accelerations(planets=1):
    """M q'' = Q for q = (sun, arm): the ring and the planets (world angles) follow from them, all linearly."""
    i = Z_S / Z_R
    rates = {"sun": [1.0, 0.0], "arm": [0.0, 1.0], "ring": [-i, 1.0 + i], "planet": [-Z_S / Z_P, 1.0 + Z_S / Z_P]}
    inertia = J | {"arm": J["arm"] + planets * 0.5 * ARM**2, "planet": planets * J["planet"]}
    M = sum(inertia[name] * np.outer(r, r) for name, r in rates.items())
    Q = sum(value * np.array(rates[name]) for name, value in TORQUE.items())
    q = np.linalg.solve(M, Q)
    return {name: float(np.dot(r, q)) for name, r in rates.items()}


WAYS = [
    (da.Jet(), TIGHT, "absolute"),
    (da.Jet(), TIGHT, "planar"),
    (da.MovingFrame(), TIGHT, "absolute"),
    (da.Minimal(), TIGHT, "absolute"),
    (da.Minimal(velocities="joints"), TIGHT, "absolute"),
    (da.MovingFrame(), TIGHT, "tree"),
    (da.Impulse(), da.RungeKutta4(step=0.005), "absolute"),
    (da.Variational(), da.FixedStep(step=0.005), "absolute"),
]


@pytest.mark.parametrize(("way", "integrator", "coordinates"), WAYS, ids=[f"{type(w).__name__}-{c}" for w, _, c in WAYS])
def test_planetary_gear(way, integrator, coordinates):
    """Willis' ratio (w_s - w_c) / (w_r - w_c) = -z_r / z_s, accelerations, and the torques at the teeth."""
    run = da.simulate(planetary(), t_end=0.5, formulation=way, integrator=integrator, coordinates=coordinates)
    w_s, w_c, w_r = (run.angular_velocity(name)[:, 2] for name in ("sun", "arm", "ring"))
    assert np.abs((w_s - w_c) / (w_r - w_c) + Z_R / Z_S).max() <= 1e-12
    expected = planetary_accelerations()
    assert abs(run.coordinate("S")[-1] - (40.0 * 0.5 + 0.125 * expected["sun"])) <= (1e-9 if integrator is TIGHT else 2e-2)
    assert run.report().passed
    inner, outer = run.effort("inner"), run.effort("outer")
    on_sun = dict(zip(inner.joints, inner.value.T, strict=True))["S", 0]
    on_ring = dict(zip(outer.joints, outer.value.T, strict=True))["R", 0]
    assert np.abs(on_sun - (J["sun"] * expected["sun"] - TORQUE["sun"])).max() <= 1e-10
    assert np.abs(on_ring - (J["ring"] * expected["ring"] - TORQUE["ring"])).max() <= 1e-10
    assert np.abs(inner.power).max() <= 1e-10  # teeth do no work


def test_three_planets_share_redundant_teeth():
    """Each further planet needs one of its two meshes only; the carrier, with many joints, is a node of the solve."""
    model = da.Model(gravity=(0, 0, 0))
    for name, mass in (("sun", 1.0), ("arm", 2.0), ("ring", 3.0)):
        start = {} if name == "ring" else {"rate": 10.0}
        model.add_body(name, mass=mass, inertia=(J[name] / 1.8, J[name] / 1.8, J[name]))
        model.add_revolute(name.upper(), model.ground, name, point=(0, 0, 0), axis=(0, 0, 1), **start)
    for k, angle in enumerate((0.0, 2.0, 4.5)):
        at = (ARM * np.cos(angle), ARM * np.sin(angle), 0)
        model.add_body(f"planet {k}", mass=0.5, inertia=(J["planet"] / 1.8, J["planet"] / 1.8, J["planet"]), position=at)
        model.add_revolute(f"P{k}", "arm", f"planet {k}", point=at, axis=(0, 0, 1))
        model.add_gear(f"inner {k}", "sun", f"planet {k}", carrier="arm", teeth=(Z_S, Z_P))
        model.add_gear(f"outer {k}", f"planet {k}", "ring", carrier="arm", teeth=(Z_P, Z_R), internal=True)
    for name, value in TORQUE.items():
        model.add_torque(f"on {name}", name, (0, 0, value))
    mechanism = da.compile(model)
    assert mechanism.degrees_of_freedom == 2 and [row.element for row in mechanism.redundant] == ["outer 1", "outer 2"]
    expected = planetary_accelerations(planets=3)
    for way in (da.Jet(), da.MovingFrame()):
        run = da.simulate(model, t_end=0.2, formulation=way, integrator=TIGHT)
        for name in ("sun", "arm", "ring"):
            assert np.abs(np.diff(run.angular_velocity(name)[[0, -1], 2]) - 0.2 * expected[name]).max() <= 1e-9
        assert run.report().passed


def shafts(*axes, points=None):
    model = da.Model(gravity=(0, 0, 0))
    for k, axis in enumerate(axes):
        at = (0.3 * k, 0, 0) if points is None else points[k]
        model.add_body(f"w{k}", mass=1.0 + k, inertia=(0.01 + 0.004 * k,) * 3, position=at)
        model.add_revolute(f"J{k}", model.ground, f"w{k}", point=at, axis=axis, **({"rate": 7.0} if k == 0 else {}))
    return model


def same_at(run, contact):
    """Whether both wheels move, and alike, at a world point, at the start."""
    arms = [contact - run.position(f"w{k}")[0] for k in (0, 1)]
    made = [run.velocity(f"w{k}")[0] + np.cross(run.angular_velocity(f"w{k}")[0], arms[k]) for k in (0, 1)]
    return np.abs(made[0] - made[1]).max() <= 1e-12 and np.linalg.norm(made[0]) > 0.1


@pytest.mark.parametrize("flip", [1, -1])
def test_gears_have_one_velocity_where_they_touch(flip):
    model = shafts((0, 0, 1), (0, 0, flip))
    model.add_gear("mesh", "w0", "w1", teeth=(10, 20))
    assert same_at(da.simulate(model, t_end=0.01), np.array([0.1, 0, 0]))
    model = shafts((0, 0, 1), (0, 0, flip))
    model.add_gear("mesh", "w0", "w1", ratio=2.0, internal=True)
    assert same_at(da.simulate(model, t_end=0.01), np.array([-0.3, 0, 0]))
    # bevel: axes meet in the origin under 70 degrees, half angles by the teeth
    angle = np.radians(70.0)
    second = np.array([np.sin(angle), 0, np.cos(angle)])
    half = np.arctan2(np.sin(angle), 25 / 15 + np.cos(angle))  # sin(half) / sin(angle - half) = 15 / 25
    model = shafts((0, 0, 1), flip * second, points=[(0, 0, 0.4), 0.2 * second])
    model.add_gear("mesh", "w0", "w1", teeth=(15, 25))
    assert same_at(da.simulate(model, t_end=0.01), 0.4 * np.array([np.sin(half), 0, np.cos(half)]))


@pytest.mark.parametrize("flip", [1, -1])
@pytest.mark.parametrize("crossed", [False, True])
def test_belts(flip, crossed):
    model = shafts((0, 0, 1), (0, 0, flip))
    model.add_belt("belt", "w0", "w1", radii=(0.05, 0.1), crossed=crossed)
    run = da.simulate(model, t_end=0.01)
    w = [run.angular_velocity(f"w{k}")[-1, 2] for k in (0, 1)]
    assert abs(w[1] - (-0.5 if crossed else 0.5) * w[0]) <= 1e-13


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("swapped", [False, True])
def test_rack(side, swapped):
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("pinion", **da.disc(1.0, 0.1, axis="z").body())
    model.add_body("rack", **da.box(2.0, (1.0, 0.05, 0.05)).body(), position=(0, -0.1 * side, 0))
    model.add_revolute("P", model.ground, "pinion", point=(0, 0, 0), axis=(0, 0, 1), rate=20.0)
    pair = ("rack", model.ground) if swapped else (model.ground, "rack")
    model.add_prismatic("R", *pair, point=(0, -0.1 * side, 0), axis=(1, 0, 0))
    model.add_rack("mesh", "pinion", "rack", radius=0.1)
    model.add_torque("drive", "pinion", (0, 0, 0.5))
    run = da.simulate(model, t_end=1.0, formulation=EXACT, integrator=TIGHT)
    phi = 20.0 * run.t + 0.5 * (0.5 / (0.5 * 0.01 + 2.0 * 0.01)) * run.t**2
    assert np.abs(run.coordinate("P") - phi).max() <= 1e-9
    assert np.abs(run.position("rack")[:, 0] - 0.1 * side * run.coordinate("P")).max() <= 1e-13
    assert np.abs(np.abs(run.effort("mesh").value[:, 0]) - 2.0 * 0.1 * 0.5 / 0.025).max() <= 1e-10  # force at the teeth


@pytest.mark.parametrize("pitch", [0.05, -0.02])
def test_screw_under_gravity(pitch):
    model = da.Model()
    model.add_body("nut", **da.disc(1.0, 0.1, axis="z").body(), position=(0, 0, 1))
    model.add_screw("T", model.ground, "nut", pitch=pitch, point=(0, 0, 1), axis=(0, 0, 1))
    lead = pitch / (2 * np.pi)
    for way in (EXACT, da.MovingFrame(tolerance=1e-14)):
        run = da.simulate(model, t_end=2.0, formulation=way, integrator=TIGHT)
        z, phi = run.coordinate("T").T
        assert np.abs(z + 0.5 * 9.81 * lead**2 / (lead**2 + 0.005) * run.t**2).max() <= 1e-11
        assert np.abs(z - lead * phi).max() <= 1e-13
        assert run.report().passed


def test_differential_splits_torque():
    model = da.Model(gravity=(0, 0, 0))
    inertia = {"case": 0.02, "left": 0.01, "right": 0.03}
    for k, (name, value) in enumerate(inertia.items()):
        model.add_body(name, mass=1.0, inertia=(value,) * 3, position=(k, 0, 0))
        model.add_revolute(name.upper(), model.ground, name, point=(k, 0, 0), axis=(-1 if name == "right" else 1, 0, 0))
    model.add_differential("axle", "case", "left", "right")
    model.add_torque("drive", "case", (3.0, 0, 0))
    model.add_torque("load", "left", (-0.7, 0, 0))
    run = da.simulate(model, t_end=0.5, formulation=EXACT, integrator=TIGHT)
    w = {name: run.angular_velocity(name)[:, 0] for name in inertia}
    assert np.abs(w["case"] - 0.5 * (w["left"] + w["right"])).max() <= 1e-13
    # c'' = (l'' + r'') / 2;  each shaft gets half of what the case hands on
    M = np.array([[0.02, 0, 0, 2.0], [0, 0.01, 0, -1.0], [0, 0, 0.03, -1.0], [2.0, -1.0, -1.0, 0]])
    expected = np.linalg.solve(M, [3.0, -0.7, 0.0, 0.0])
    for name, value in zip(inertia, expected, strict=False):
        assert np.abs(w[name] - value * run.t).max() <= 1e-9
    value = dict(zip(run.effort("axle").joints, run.effort("axle").value.T, strict=True))
    assert np.abs(value["LEFT", 0] - expected[3]).max() <= 1e-10 and np.abs(value["RIGHT", 0] + expected[3]).max() <= 1e-10


def plate():
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("wheel", mass=1.0, inertia=(0.01,) * 3)
    model.add_body("slider", mass=0.5, inertia=(0.001,) * 3, position=(0, 0, 1))
    model.add_revolute("A", model.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_prismatic("B", model.ground, "slider", point=(0, 0, 1), axis=(0, 0, 1))
    model.add_driver("spin", "A", da.Polynomial((0.0, 8.0)))
    model.add_coupling("plate", lambda a, b: b - 0.02 * np.sin(3 * a) - 0.01 * a, ["A", "B"])
    return model


@pytest.mark.parametrize("way", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=["jet", "moving-frame", "minimal"])
def test_plate_through_full_turns(way):
    """A relation that is not periodic: the slider rises with every turn, without a step where an angle wraps."""
    run = da.simulate(plate(), t_end=1.0, formulation=way, integrator=da.DOP853(rtol=1e-9, atol=1e-9, max_step=0.05))
    a = 8.0 * run.t
    assert np.abs(run.coordinate("B") - 0.02 * np.sin(3 * a) - 0.01 * a).max() <= 1e-10
    effort = run.effort("plate")
    force = 0.5 * (-0.02 * 9 * 64 * np.sin(3 * a))
    assert np.abs(effort.value[:, 1] - force).max() <= 1e-8
    assert np.abs(effort.value[:, 0] + force * (0.06 * np.cos(3 * a) + 0.01)).max() <= 1e-8
    assert run.report().passed


def test_gears_hold_after_many_turns():
    """Angles are counted over all turns, and what rounding leaves of them, times the teeth, is no residual to be closed."""
    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
        start = {"rate": 1e4} if name == "a" else {}
        model.add_revolute(name.upper(), model.ground, name, point=(x, 0, 0), axis=(0, 0, 1), **start)
    model.add_gear("mesh", "a", "b", teeth=(200, 600))
    run = da.simulate(
        model, t_end=1.0, formulation=da.MovingFrame(), integrator=da.DOP853(rtol=1e-8, atol=1e-8), save_at=[0.5, 1.0]
    )
    assert run.report().passed
    np.testing.assert_allclose(run.coordinate("A"), 1e4 * run.t, rtol=0, atol=1e-10)  # ulp(1e4) = 2e-12
    np.testing.assert_allclose(run.coordinate("B"), -1e4 / 3 * run.t, rtol=0, atol=1e-10)


def test_gears_that_turn_far_in_a_step_are_not_singular(monkeypatch):
    """Steps of many turns are looked at again; one that cannot be repeated told of a singular configuration of condition 1."""
    looked = []

    def refused(*arguments):
        looked.append(arguments)
        raise da.SimulationError("no step from here")

    monkeypatch.setattr("dalembert.run.conditioning.one_step", refused)
    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
        start = {"rate": 1e4} if name == "a" else {}
        model.add_revolute(name.upper(), model.ground, name, point=(x, 0, 0), axis=(0, 0, 1), **start)
    model.add_gear("mesh", "a", "b", teeth=(200, 600))
    run = da.simulate(model, t_end=1.0, formulation=da.MovingFrame(), integrator=da.DOP853())
    assert looked
    assert run.warnings == ()


def test_kinematics_of_a_planetary_gear_over_turns():
    """Willis: the sun turns 1 + z_R / z_S times as fast as the arm that is driven, the ring stands still."""
    model = da.Model(gravity=(0, 0, 0))
    for name, x in (("sun", 0.0), ("arm", 0.0), ("planet", ARM)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
    model.add_revolute("S", model.ground, "sun", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("C", model.ground, "arm", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("P", "arm", "planet", point=(ARM, 0, 0), axis=(0, 0, 1))
    model.add_gear("inner", "sun", "planet", carrier="arm", teeth=(Z_S, Z_P))
    model.add_gear("outer", "planet", model.ground, carrier="arm", teeth=(Z_P, Z_R), internal=True)
    model.add_driver("drive", "C", da.Polynomial((0.0, 2.0, 30.0)))
    t = np.linspace(0, 3, 7)
    found = da.kinematics(model, t)
    times = 1 + Z_R / Z_S
    np.testing.assert_allclose(found.coordinate("S"), times * (2 * t + 30 * t**2), rtol=0, atol=1e-11)  # ulp(920) = 1e-13
    np.testing.assert_allclose(found.coordinate_rate("S"), times * (2 + 60 * t), rtol=0, atol=1e-11)

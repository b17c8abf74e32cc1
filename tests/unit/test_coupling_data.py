"""Couplings: what they refuse, how they start, what is stored, and how a slip by a turn is noticed."""

import numpy as np
import pytest

import dalembert as da

STEP = da.RungeKutta4(step=0.01)


def shafts(**start):
    model = da.Model(gravity=(0, 0, 0))
    for k in range(2):
        at = (0.3 * k, 0, 0)
        model.add_body(f"w{k}", mass=1.0 + k, inertia=(0.01 + 0.004 * k,) * 3, position=at)
        model.add_revolute(f"J{k}", model.ground, f"w{k}", point=at, axis=(0, 0, 1), **(start if k == 0 else {}))
    model.add_body("slider", mass=1.0, inertia=(0.01,) * 3, position=(0, 1, 0))
    model.add_cylindrical("T", model.ground, "slider", point=(0, 1, 0), axis=(1, 0, 0))
    model.add_body("ball", mass=1.0, inertia=(0.01,) * 3, position=(0, 2, 0))
    model.add_spherical("S", model.ground, "ball", point=(0, 2, 0))
    return model


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m: m.add_coupling("x", {"J0": 1.0, "J9": 1.0}), "coupling 'x': there is no joint 'J9'; known: 'J0', 'J1'"),
        (lambda m: m.add_coupling("x", {("J0", 1): 1.0}), "coupling 'x': component is 1; joint 'J0' has 0: angle"),
        (lambda m: m.add_coupling("x", {"J0": 1.0, "J1": 0.0}), "the factor of joint 'J1' is 0; give a number other than 0"),
        (lambda m: m.add_coupling("x", {"J0": 1.0, "J1": np.nan}), "factor of joint 'J1' is nan; give a finite number"),
        (
            lambda m: m.add_coupling("x", {"J0": 1.0, "T": 1.0}),
            r"has 0: translation, 1: angle; give \('T', 0\) or 'T.translation'",
        ),
        (
            lambda m: m.add_coupling("x", {"J0": 1.0, ("S", 0): 1.0}),
            "coordinate 'rotation_x' of spherical joint 'S' cannot be used",
        ),
        (lambda m: m.add_coupling("x", {}), r"relation is \{\}; give \{joint: factor, ...\} or a function with joints"),
        (
            lambda m: m.add_coupling("x", lambda a, b: a - b),
            "joints are None; give the list of coordinates that its function takes",
        ),
        (lambda m: m.add_coupling("x", lambda a: a, ["J0", "J1"]), r"takes 1 coordinates \(a\), joints lists 2"),
        (lambda m: m.add_coupling("x", lambda a, b: a, ["J0", "J1"]), "its function does not use \"joint 'J1'\""),
        (lambda m: m.add_coupling("x", lambda a, b: a - b, ["J0", "J0"]), "joint 'J0' is listed twice"),
        (
            lambda m: m.add_coupling("x", lambda a, b: a - b, ["J0", "J1"], offset=1.0),
            "offset is 1.0; a function has it inside",
        ),
        (lambda m: m.add_gear("x", "w0", "w1", ratio=0.0), "gear 'x': ratio is 0; give a number greater than 0"),
        (lambda m: m.add_gear("x", "w0", "w1", teeth=(10, -5)), "gear 'x': teeth is -5; give a number greater than 0"),
        (lambda m: m.add_gear("x", "w0", "w1"), "got neither teeth= nor ratio=; give teeth="),
        (lambda m: m.add_gear("x", "w0", "w9", ratio=2), "gear 'x': there is no body 'w9'"),
        (
            lambda m: m.add_gear("x", "w0", "ball", ratio=2),
            "'ball' does not turn about one axis on 'ground'; join them by add_revolute",
        ),
        (lambda m: m.add_rack("x", "w0", "slider", radius=0.0), "rack 'x': radius is 0; give a number greater than 0"),
        (lambda m: m.add_rack("x", "w0", "w1", radius=0.1), "'w1' does not slide on 'ground'; join them by add_prismatic"),
        (lambda m: m.add_belt("x", "w0", "slider", radii=(1, 2)), "the axes of the pulleys are not parallel"),
        (lambda m: m.add_belt("x", "w0", "w1", radii=(1, 0)), "belt 'x': radii is 0; give a number greater than 0"),
        (lambda m: m.add_differential("x", "w0", "w1", "slider", share=1.0), "share is 1; give a number between 0 and 1"),
        (
            lambda m: m.add_screw("x", "w0", "w1", pitch=0, point=(0, 0, 0), axis=(1, 0, 0)),
            "screw 'x': pitch is 0; give metres",
        ),
    ],
)
def test_what_couplings_must_be(call, text):
    model = shafts()
    with pytest.raises(da.ModelError, match=text):
        call(model)
    assert "x" not in model._elements and "x thread" not in model._elements


def test_full_turns_count_from_the_start():
    """A coordinate that starts beyond a turn puts the other where the relation wants it, not where its remainder would."""
    model = shafts(coordinate=10.0)
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5}, offset=0.5)
    state = da.simulate(model, t_end=0.02, integrator=STEP)
    assert abs(state.coordinate("J0")[0] - 10.0) <= 1e-12 and abs(state.coordinate("J1")[0] + 9.5 / 2.5) <= 1e-12
    drawn = shafts()
    drawn.add_coupling("mesh", {"J0": 1.0, "J1": 2.5, "T.angle": 1.0}, offset=None)
    assert drawn.joint("mesh").primitives[0].offset == 0.0


@pytest.mark.parametrize("way", [da.Jet(), da.MovingFrame(), da.Minimal()], ids=["jet", "moving-frame", "minimal"])
def test_no_slip_over_many_turns(way):
    """0.6 rad in each step, through many half turns of both wheels."""
    model = shafts(rate=60.0)
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5})
    run = da.simulate(model, t_end=1.0, formulation=way, integrator=STEP)
    assert np.abs(run.coordinate("J0") + 2.5 * run.coordinate("J1")).max() <= 1e-9
    assert abs(run.coordinate("J0")[-1]) > 30 and run.report().passed


def test_a_slip_is_noticed():
    """A counter that is off by a turn, as a wheel that jumped one: the drift says so, and names the coupling."""
    model = shafts(rate=6.0)
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5})
    run = da.simulate(model, t_end=0.05, integrator=STEP)
    k = run.mechanism.nq + run.mechanism.nu + 1 + run.mechanism.angles.index(("J1", 0))
    run.x[3:, k] += 2 * np.pi
    line = run.report()["position drift"]
    assert line.verdict == "FAIL" and "'mesh'" in line.value and abs(line.data - 5 * np.pi) < 1e-9


def test_stored_and_many(tmp_path):
    model = shafts(rate=6.0)
    model.add_gear("mesh", "w0", "w1", teeth=(10, 25))
    model.add_coupling("thread", {"T.translation": 1.0, "T.angle": -0.01})
    assert da.Model.from_dict(model.to_dict()).hash == model.hash
    model.to_yaml(tmp_path / "m.yaml")
    assert da.Model.from_yaml(tmp_path / "m.yaml").hash == model.hash
    run = da.simulate(model, t_end=0.05, integrator=STEP)
    run.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    assert np.array_equal(again.effort("mesh").value, run.effort("mesh").value)


def test_starts_of_many_runs_keep_the_turns_that_gears_count():
    """q and u of a wheel that has turned are those of one that has not: the gear was closed by turning both wheels."""
    model = shafts(rate=6.0)
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5})
    first = da.simulate(model, t_end=3.0, integrator=da.RungeKutta4(step=0.05))
    with pytest.raises(da.ModelError, match=r"run 0 miss 'mesh' by .* how many turns"):
        da.simulate_many(model, t_end=0.05, initial_states=[np.r_[first.q[-1], first.u[-1]]], integrator=STEP)
    many = da.simulate_many(model, t_end=0.05, initial_states=[first.x[-1]], integrator=STEP)
    assert many.moved[0] < 1e-9 and abs(many.coordinate("J0")[0, 0] - first.coordinate("J0")[-1]) < 1e-9


@pytest.mark.parametrize(
    ("add", "text"),
    [
        (
            lambda m: m.add_coupling("x", lambda a, b: a - b, ["J0", "J1"]),
            "joint 'x': .* no code: give factors, or",
        ),
        (lambda m: m.add_cam("x", "w0", "w1", pitch=lambda psi: 0.3 + 0.0 * psi), "give its values at equal steps of a turn"),
        (
            lambda m: m.add_motor("x", "J0", lambda t, s, s_dot: s),
            "motor 'x': .* give a number or a motion, or",
        ),
        (lambda m: m.add_joint_law("x", ["J0"], lambda t, s, s_dot: s), "joint law 'x': .* no code: build the model in Python"),
    ],
)
def test_functions_stay_out_of_files(add, text, tmp_path):
    model = shafts()
    add(model)
    with pytest.raises(da.ModelError, match=text):
        model.to_yaml(tmp_path / "m.yaml")


def test_a_ratio_is_swept():
    """The factors are numbers of the tables: one code for all runs."""

    def build(ratio):
        model = shafts(rate=60.0)
        model.add_gear("mesh", "w0", "w1", ratio=ratio)
        return model

    ratios = np.array([0.5, 1.0, 2.5])
    many = da.simulate_many(build, 0.2, parameters={"ratio": ratios}, integrator=STEP, threads=1)
    assert np.abs(many.coordinate("J0")[:, -1] + ratios * many.coordinate("J1")[:, -1]).max() <= 1e-9
    assert all(run.report().passed for run in many)


def test_damaged_records_are_refused():
    model = shafts()
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5})
    data = model.to_dict()
    (record,) = [e for e in data["elements"] if e["name"] == "mesh"]
    for key, value in (("parts", ["angle 0 1", "angle 0 7"]), ("numbers", [1.0] * 7), ("parts", ["turn 0 1", "angle 0 2"])):
        kept, record["primitives"][0][key] = record["primitives"][0][key], value
        with pytest.raises(da.ModelError, match="'mesh'"):
            da.Model.from_dict(data)
        record["primitives"][0][key] = kept
    record["coupled"] = [["J0", 0], ["J1", 5]]
    with pytest.raises(da.ModelError, match="couples component 5 of 'J1'"):
        da.Model.from_dict(data)


def test_joints_of_a_coupling_change_with_it():
    """A coupling holds the places and axes of its joints: it follows where one is replaced, and none is removed under it."""
    model = shafts()
    model.add_coupling("mesh", {"T.translation": 1.0, "J1": 2.5})
    before = model.joint("mesh").primitives[0].numbers
    model.replace("T", points=((0.5, 1, 0), (0, 0, 0)))
    after = model.joint("mesh").primitives[0].numbers
    assert before[:10] != after[:10] and before[10:] == after[10:] and after[1:4] == (0.5, 1.0, 0.0)
    with pytest.raises(da.ModelError, match="joint 'J1': joint 'mesh' refers to it; remove that first"):
        model.remove("J1")
    model.rename("J1", "wheel")
    model.rename("w1", "disc")
    assert model.joint("mesh").coupled == (("T", 0), ("wheel", 0)) and model.joint("mesh").members[-1] == "disc"
    assert da.Model.from_dict(model.to_dict()).hash == model.hash


@pytest.mark.parametrize("offset", [None, 0.0])
def test_wheels_that_are_turned_stay_in_mesh(offset):
    """Where they are drawn in mesh; a number that is given for the offset is kept, and what it moves is told."""
    model = shafts()
    model.add_coupling("mesh", {"J0": 1.0, "J1": 2.5}, offset=offset)
    name = model.joint("J1").second
    model.replace(name, rotation=da.Rotation.from_axis_angle(model.joint("J1").E_i[:, 2], 0.3))
    assert model.joint("mesh").primitives[0].offset == pytest.approx(0.0 if offset == 0.0 else 0.75)
    assert bool(model.assemble().changed) == (offset == 0.0)
    assert da.Model.from_dict(model.to_dict()).hash == model.hash

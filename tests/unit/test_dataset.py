"""The xarray Dataset of a solution: labels, units, values, and exact round trips through the export formats."""

import csv
import json
import re

import numpy as np
import pytest
import xarray

import dalembert as da
from dalembert import gallery

TIMES = np.linspace(0.0, 1.0, 21)


def run(name, **options):
    return da.simulate(gallery.build(name), 1.0, save_at=TIMES, **options)


@pytest.fixture(scope="module")
def solution():
    return run("slider_crank")


@pytest.fixture(scope="module")
def dataset(solution):
    return solution.to_xarray()


def test_values_are_the_named_outputs(solution, dataset):
    np.testing.assert_array_equal(dataset.time, TIMES)
    for body in ("crank", "rod", "slider"):
        for output in ("position", "velocity", "acceleration", "angular_velocity", "quaternion"):
            np.testing.assert_array_equal(dataset[output].sel(body=body), getattr(solution, output)(body))
    for joint in "ABCD":
        np.testing.assert_array_equal(dataset.reaction_force.sel(joint=joint), solution.reaction(joint).force)
        np.testing.assert_array_equal(dataset.reaction_torque.sel(joint=joint), solution.reaction(joint).torque)
        drift = solution.drift.by_joint(joint)
        np.testing.assert_array_equal(dataset.joint_position_drift.sel(joint=joint), drift.position)
        np.testing.assert_array_equal(dataset.joint_velocity_drift.sel(joint=joint), drift.velocity)
    np.testing.assert_array_equal(dataset.coordinate.sel(joint_coordinate="A.angle"), solution.coordinate("A"))
    np.testing.assert_array_equal(
        dataset.coordinate_rate.sel(joint_coordinate=["C.angle_first", "C.angle_second"]), solution.coordinate_rate("C")
    )
    np.testing.assert_array_equal(dataset.total_energy, solution.energy.total)
    np.testing.assert_array_equal(dataset.position_drift, solution.drift.position)


def test_everything_has_units_and_a_description(solution, dataset):
    for name, variable in dataset.data_vars.items():
        assert variable.attrs["units"], name
        assert variable.attrs["long_name"], name
    units = dict(zip(dataset.joint_coordinate.values, dataset.coordinate_unit.values, strict=True))
    assert units["A.angle"] == units["B.rotation_x"] == units["C.angle_second"] == "rad"
    assert units["D.translation"] == "m"
    assert dataset.attrs["model_hash"] == solution.mechanism.model.hash
    assert json.loads(dataset.attrs["settings"])["integrator"]["type"] == "DOP853"
    assert json.loads(dataset.attrs["versions"])["dalembert"] == da.__version__
    assert "JetMultibody" in dataset.attrs["citations"]


def check_signals(solution, table, some):
    """Each column that is called like a signal is that signal, to the bit, and these are among them."""
    assert set(some) <= set(table)
    for name in table:
        try:
            expected = solution.signal(name)
        except (da.ModelError, KeyError):
            assert name in ("time", "s_dot_jump") or re.search(r"\]$|\.(quaternion|effort_|coordinate|position\.)", name), name
        else:
            np.testing.assert_array_equal(table[name], expected, err_msg=name)


def read(path):
    with path.open(newline="") as file:
        return {name: np.array(column, dtype=float) for name, *column in zip(*csv.reader(file), strict=True)}


def test_netcdf_round_trip(solution, dataset, tmp_path):
    solution.export(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as read:
        assert read.identical(dataset)


def test_parquet_and_csv_round_trip(solution, dataset, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    solution.export(tmp_path / "run.parquet")
    solution.export(tmp_path / "run.csv")
    table = parquet.read_table(tmp_path / "run.parquet")
    with (tmp_path / "run.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    named = dict(zip(table.column_names, table.columns, strict=True))
    here = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert not any("," in name for name in named)
    assert header == [name for name in named if not name.endswith("drift")]
    for name, values in here.items():
        np.testing.assert_array_equal(named[name].to_numpy(), values)
    check_signals(solution, here, ("rod.x", "rod.vz", "A", "A.rate", "C.angle_first", "C.angle_first.rate", "D", "B.fz", "B.f"))
    assert {"B.rotation_x", "rod.ax", "rod.quaternion.w", "B.rotation_x.coordinate_rate", "rod.wx", "rod.wz.rate"} <= set(here)
    np.testing.assert_array_equal(named["rod.x"], dataset.position.sel(body="rod", axis="x"))
    np.testing.assert_array_equal(named["D"], solution.coordinate("D"))
    np.testing.assert_array_equal(named["B.fz"], solution.reaction("B").force[:, 2])
    assert json.loads(table.schema.metadata[b"attributes"])["model_hash"] == dataset.attrs["model_hash"]


def test_drivers_and_redundant_joints(tmp_path):
    dataset = run("four_bar").to_xarray()
    assert dataset.attrs["reactions_not_unique"] == "A, B, C, D"
    model = da.Model()
    model.add_body("wheel", mass=1.0, inertia=(1, 1, 1))
    model.add_revolute("hinge", model.ground, "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "hinge", da.Polynomial((0.0, 0.0, 2.0)))
    driven = da.simulate(model, 1.0, save_at=TIMES)
    # M = I w' = 1 kg m^2 * 4 rad/s^2, on the second body about the axis
    torque = driven.to_xarray().reaction_torque.sel(joint="motor", axis="z")
    np.testing.assert_allclose(torque, 4.0, rtol=0, atol=1e-9)
    # by the names of signals, with P = M w; a name that is an output's or a dimension's is that one's
    driven.export(tmp_path / "run.csv")
    table = read(tmp_path / "run.csv")
    np.testing.assert_allclose(table["motor"], 4.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(table["motor.power"], 16.0 * TIMES, rtol=0, atol=1e-8)
    model.add_torque("time", "wheel", (0.0, 0.0, 1.0))
    model.add_joint_spring_damper("position", "hinge", stiffness=1.0)
    model.add_joint_spring_damper("up/down", "hinge", stiffness=1.0)
    named = da.simulate(model, 1.0, save_at=TIMES)
    named.export(tmp_path / "run.nc")
    data = named.to_xarray()
    np.testing.assert_array_equal(data.time, TIMES)
    assert data.position.dims == ("time", "body", "axis") and {"time.power", "position.power"} <= set(data)
    assert data["position.power"].attrs["units"] == "W"


@pytest.mark.parametrize("suffix", ["nc", "csv"])
def test_free_body_has_no_joints(tmp_path, suffix):
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("stone", mass=1.0, inertia=(1, 1, 1), velocity=(1, 2, 3))
    solution = da.simulate(model, 1.0)
    dataset = solution.to_xarray()
    assert dataset.sizes["joint"] == dataset.sizes["joint_coordinate"] == 0
    assert dataset.reaction_force.shape == (len(solution.t), 0, 3)
    solution.export(tmp_path / f"run.{suffix}")
    assert (tmp_path / f"run.{suffix}").stat().st_size > 0


def test_planar_coordinates_give_the_same_dataset():
    absolute, planar = (run("planar_quadrangle", coordinates=kind).to_xarray() for kind in ("absolute", "planar"))
    for name in ("position", "velocity", "coordinate", "coordinate_rate", "kinetic_energy", "total_energy"):
        scale = float(np.abs(absolute[name]).max())
        # two integrations at rtol = 1e-9 over 1 s of a motion that the torque speeds up
        np.testing.assert_allclose(planar[name], absolute[name], rtol=0, atol=1e-6 * scale, err_msg=name)


def lever(beside=0.0):
    """In the plane xz, driven, a weight and a bead at its end, a block that slides; beside : of the weight along the normal"""
    model = da.Model(plane="xz", name="lever")
    model.add_link("arm", (0, 0), (0.4, 0), mass=0.2)
    model.add_body("weight", mass=0.5, inertia=1e-3, position=(0.4, beside, 0), rotation=0.2)
    model.add_point_mass("bead", mass=0.1, position=(0.4, 0))
    model.add_body("block", mass=1.0, inertia=1e-3, position=(0.8, 0))
    model.add_revolute("A", "ground", "arm", point=(0, 0))
    model.add_fixed("weld", "arm", "weight", point=(0.4, 0))
    model.add_spherical("glue", "arm", "bead", point=(0.4, 0))
    model.add_prismatic("guide", "ground", "block", point=(0.8, 0), axis=(1, 0))
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    model.add_spring_damper("spring", "arm", "block", between=((0.4, 0), (0.8, 0)), stiffness=50.0)
    model.add_marker("tip", "arm", at=(0.4, 0.1))
    return model


def header(path):
    with path.open(newline="") as file:
        return next(csv.reader(file))


def of(name, *labels):
    return [f"{name}[{label}]" for label in labels]


@pytest.mark.parametrize("coordinates", ["planar", "absolute"])
def test_tables_of_a_plane_have_no_columns_of_zeros(tmp_path, coordinates):
    run = da.simulate(lever(), 1.0, save_at=TIMES, coordinates=coordinates)
    run.export(tmp_path / "run.csv")
    bodies = ("arm", "weight", "bead", "block")
    joints = ("A", "weld", "glue", "guide", "motor")
    energies = ["kinetic_energy", "potential_energy", "external_work", "total_energy"]
    assert header(tmp_path / "run.csv") == [
        *("time", "motor", "motor.power", "spring", "spring.power"),
        *(f"{body}.{axis}" for body in bodies for axis in "xz"),
        *(f"{body}.v{axis}" for body in bodies for axis in "xz"),
        *(f"{body}.a{axis}" for body in bodies for axis in "xz"),
        *(f"{body}.angle.{part}" for part in ("rate", "acceleration") for body in ("arm", "weight", "block")),
        *("arm.angle", "weight.angle", "block.angle"),
        *("tip.x", "tip.z", "tip.vx", "tip.vz", "tip.ax", "tip.az"),
        *("A", "guide", "A.rate", "guide.rate"),
        *(f"{joint}.{part}" for joint in joints[:-1] for part in ("fx", "fz", "f")),
        *("weld.ty", "guide.ty"),
        *energies,
        *("spring.fx", "spring.fz"),
        *(f"spring.{name}" for name in ("effort_energy", "effort_coordinate", "effort_rate")),
    ]
    check_signals(
        run,
        read(tmp_path / "run.csv"),
        ("arm.angle", "A.fz", "A.f", "spring.fx", "motor", "tip.vz", "block.angle.acceleration"),
    )
    run.export(tmp_path / "some.csv", "A.fy", "arm.y", "A.ty")
    assert header(tmp_path / "some.csv") == ["time", "A.fy", "arm.y", "A.ty"]


def test_tables_of_a_plane_keep_what_is_beside_it(tmp_path):
    """A weight beside the arm bends it, so that its joints bear torques about axes in the plane."""
    run = da.simulate(lever(0.05), 1.0, save_at=TIMES)
    run.export(tmp_path / "run.csv")
    found = set(header(tmp_path / "run.csv"))
    assert {"weight.y", "A.tx", "weld.tx", "weld.tz"} <= found
    assert not {"arm.y", "weight.vy", "A.fy", "motor.tx"} & found


def test_tables_for_programs_and_of_space_hold_all(tmp_path, solution, dataset):
    parquet = pytest.importorskip("pyarrow.parquet")
    run = da.simulate(lever(), 1.0, save_at=TIMES)
    run.export(tmp_path / "run.parquet")
    names = parquet.read_table(tmp_path / "run.parquet").column_names
    assert {
        "arm.y",
        "arm.quaternion.w",
        "arm.angle",
        "bead.angle",
        "A.ty",
        "arm.wy",
        "arm.angle.rate",
        "position_drift",
    } <= set(names)
    run.export(tmp_path / "run.csv")
    assert set(header(tmp_path / "run.csv")) <= set(names)
    model = da.Model(plane="xz", gravity=(0, 0))
    model.add_body("top", mass=1.0, inertia=(0.1, 0.2, 0.3), angular_velocity=(1.0, 2.0, 3.0))
    da.simulate(model, 0.1, coordinates="absolute").export(tmp_path / "top.csv")  # it leaves the plane
    assert {"top.y", "top.quaternion.w", "top.wy"} <= set(header(tmp_path / "top.csv"))


def test_columns_that_would_mean_two_things_keep_their_names(tmp_path):
    """As do those that are called like the time. Drifts are not in this table, their names are free."""
    model = da.Model(plane="xy")
    for k, (pin, arm) in enumerate((("arm.x", "arm"), ("position_drift", "bar"), ("time", "rod"))):
        model.add_link(arm, (0, k), (1, k), mass=1.0)
        model.add_revolute(pin, "ground", arm, point=(0, k))
    model.add_force("wind", "arm", lambda t: (0.0, 1.0, 0.0))
    model.add_joint_spring_damper("velocity_drift", "time", stiffness=1.0)
    run = da.simulate(model, 0.5, save_at=TIMES[:11])
    run.export(tmp_path / "run.csv")
    table = read(tmp_path / "run.csv")
    np.testing.assert_array_equal(table["time"], run.t)
    np.testing.assert_array_equal(table["arm.position.x"], run.position("arm")[:, 0])
    np.testing.assert_array_equal(table["arm.x.angle.coordinate"], run.coordinate("arm.x"))
    np.testing.assert_array_equal(table["time.angle.coordinate"], run.coordinate("time"))
    others = {name: values for name, values in table.items() if name != "time"}
    check_signals(run, others, ("arm.y", "arm.x.f", "wind.fy", "wind.power", "position_drift", "velocity_drift"))


def test_columns_of_a_lagrangian_system_are_its_signals(tmp_path):
    system = da.LagrangianSystem(lambda q, v: 0.5 * v.x**2 - 2.0 * q.x**2, "x", initial={"x": 1.0})
    run = da.simulate(system, 1.0, save_at=TIMES)
    run.export(tmp_path / "run.csv")
    check_signals(run, read(tmp_path / "run.csv"), ("x", "x'", "x''", "total_energy"))

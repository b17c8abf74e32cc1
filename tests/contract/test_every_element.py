"""Everything that joins bodies besides joints, in one machine: in every formulation and kind of coordinates, in files, in
stored results, in many runs at once and in pictures. A new verb must be told of in a page or an example that runs."""

import re
from pathlib import Path

import numpy as np
import pytest

import dalembert as da
from dalembert.viewer.scene import scene_of

ROOT = Path(__file__).parents[2]
TIMES = [0.0, 0.01, 0.02]


def machine() -> da.Model:
    """All of them move in the plane y = 0."""
    model = da.Model(name="machine elements")

    def wheel(name, at, **start):
        model.add_body(name, mass=1.0, inertia=(0.01, 0.02, 0.01), position=at)
        model.add_revolute(f"of {name}", model.ground, name, point=at, axis=(0, 1, 0), **start)

    def slider(name, at, axis, **start):
        model.add_body(name, mass=0.5, inertia=(0.01, 0.01, 0.01), position=at)
        model.add_prismatic(f"of {name}", model.ground, name, point=at, axis=axis, **start)

    wheel("pinion", (0, 0, 0), rate=3.0)
    wheel("wheel", (0.3, 0, 0))
    wheel("pulley", (0.8, 0, 0))
    wheel("left", (1.2, 0, 0), rate=1.0)
    wheel("right", (1.6, 0, 0))
    wheel("cam", (2.0, 0, 0), rate=2.0)
    slider("rack", (0.1, 0, -0.1), (1, 0, 0))
    slider("valve", (2.0, 0, 0.3), (0, 0, 1))
    slider("load", (2.6, 0, -1.0), (0, 0, 1))
    model.add_point_mass("weight", mass=0.7, position=(3.0, 0, -1.0))
    model.add_point_mass("bob", mass=0.4, position=(3.4, 0, -1.0), velocity=(0.3, 0, 0))
    model.add_gear("gear", "pinion", "wheel", teeth=(10, 20))
    model.add_rack("rack drive", "pinion", "rack", radius=0.1)
    model.add_belt("belt", "wheel", "pulley", radii=(0.2, 0.1))
    model.add_differential("differential", "pulley", "left", "right")
    model.add_coupling("linkage", {"of load": 1.0, "of cam": -0.1})
    profile = [0.1 + 0.01 * np.cos(2 * psi) for psi in np.linspace(0, 2 * np.pi, 40, endpoint=False)]
    model.add_cam("lobe", "cam", "valve", support=profile, normal=(0, 0, 1), axis=(0, 1, 0), point=(0, 0, -0.19))
    model.add_cable("rope", [("load", (0, 0, 0)), ("ground", (2.6, 0, 0)), ("ground", (3.0, 0, 0)), ("weight", (0, 0, 0))])
    points = [("ground", (3.2, 0, 0)), ("ground", (3.4, 0, 0)), ("bob", (0, 0, 0))]
    model.add_cable("bungee", points, stiffness=80.0, damping=0.5, length=1.1)
    model.add_body("engine", mass=3.0, inertia=(0.05, 0.06, 0.07), position=(4.0, 0, 0), angular_velocity=(0, 0.4, 0))
    gains = {"stiffness": (900, 800, 700, 20, 30, 40), "damping": (3, 2, 1, 0.1, 0.2, 0.3)}
    model.add_bushing("mount", model.ground, "engine", point=(4.0, 0, -0.1), **gains)
    model.add_link("arm", (4.5, 0, 0), (5.0, 0, 0), mass=0.5)
    model.add_revolute("of arm", model.ground, "arm", point=(4.5, 0, 0), axis=(0, 1, 0))
    model.add_motor("motor", "of arm", 0.3)
    model.add_joint_spring_damper("coil", "of arm", stiffness=2.0, damping=0.1, reference=0.2)
    curve = da.Table((-1.0, 0.0, 1.0), (-2.0, 0.0, 5.0))
    model.add_joint_spring_damper("stop", "of left", stiffness=curve, damping=curve, reference=0.1)
    model.add_joint_spring_damper("cut", "of rack", stiffness=curve, damping=curve)
    model.add_spring_damper("strut", "engine", "arm", points=((0.2, 0, 0), (0, 0, 0)), stiffness=40.0, damping=curve)
    model.add_force("push", "arm", (0, 0, 1.0), at=(5.0, 0, 0))
    model.add_torque("twist", "engine", (0, 0.2, 0))
    model.add_torque("turn", "pinion", (0, 0.5, 0))
    model.add_torque("brake", "left", (0, -0.1, 0))
    model.add_marker("tip", "arm", at=(5.0, 0, 0))
    return model


COUPLINGS = ("gear", "rack drive", "belt", "differential", "linkage", "lobe", "rope")
FORCES = ("bungee", "mount", "motor", "coil", "stop", "cut", "strut", "push", "twist", "turn", "brake")
TIGHT = da.DOP853(rtol=1e-11, atol=1e-11)
# how far positions may be from the first run: fixed steps of second order (of first, and compliant: Soft)
WAYS = {
    "planar": ({"integrator": TIGHT, "coordinates": "planar"}, 1e-10),
    "tree": ({"integrator": TIGHT, "coordinates": "tree"}, 1e-10),
    "moving frame": ({"integrator": TIGHT, "formulation": da.MovingFrame()}, 1e-10),
    "minimal": ({"integrator": TIGHT, "formulation": da.Minimal()}, 1e-10),
    "minimal joints": ({"integrator": TIGHT, "formulation": da.Minimal(velocities="joints")}, 1e-10),
    "impulse": ({"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.002)}, 1e-5),
    "variational": ({"formulation": da.Variational(), "integrator": da.FixedStep(step=0.002)}, 1e-5),
    "soft": ({"formulation": da.Soft(stiffness=1e10, damping=1e6), "integrator": da.RungeKutta4(step=0.00025)}, 5e-5),
}


@pytest.fixture(scope="module")
def run():
    made = da.simulate(machine(), TIMES[-1], save_at=TIMES, integrator=TIGHT)
    assert made.report().passed
    return made


def apart(one, other) -> float:
    bodies = one.mechanism.body_names
    return max(float(np.abs(one.position(b) - other.position(b)).max()) for b in (*bodies, "tip"))


@pytest.mark.parametrize("way", WAYS)
def test_moves_alike_in_every_formulation_and_kind_of_coordinates(run, way):
    options, close = WAYS[way]
    other = da.simulate(machine(), TIMES[-1], save_at=TIMES, **options)
    assert apart(run, other) <= close and other.report().passed
    if way != "soft":  # which has efforts of its steps, not of its states
        for name in COUPLINGS + FORCES:
            mine, its = run.effort(name), other.effort(name)
            for body in mine.on:
                assert np.abs(mine.on[body].force - its.on[body].force).max() <= 1e4 * close, (name, body)


def test_every_one_acts(run):
    """What is listed does something: else the tests above compare zeros."""
    for name in COUPLINGS + FORCES:
        effort = run.effort(name)
        assert max(np.abs(w.force).max() + np.abs(w.torque).max() for w in effort.on.values()) > 1e-2, name
        assert np.isfinite(effort.power).all() and np.isfinite(effort.energy).all()


def test_files_hold_it(run, tmp_path):
    model = machine()
    model.to_yaml(tmp_path / "machine.yaml")
    again = da.Model.from_yaml(tmp_path / "machine.yaml")
    assert again.hash == model.hash and da.Model.from_dict(model.to_dict()).hash == model.hash


def test_stored_results_have_all_outputs(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    for name in COUPLINGS + FORCES:
        mine, its = run.effort(name), again.effort(name)
        for body in mine.on:
            assert np.array_equal(mine.on[body].force, its.on[body].force), name
            assert np.array_equal(mine.on[body].torque, its.on[body].torque), name
    assert np.array_equal(again.position("tip"), run.position("tip")) and again.report().passed
    table = run.to_xarray()
    assert set(FORCES) <= set(table["force_element"].values) and "tip" in table["marker"].values


def test_many_runs_at_once(run):
    x = run.x[:2, : run.mechanism.nq + run.mechanism.nu]
    many = da.simulate_many(machine(), 0.01, initial_states=x, save_at=[0.0, 0.01], integrator=TIGHT)
    assert apart(many[0], _until(run, 2)) <= 1e-9
    for name in COUPLINGS + FORCES:
        its = many.effort(name)
        for body in its.on:
            assert np.abs(its.on[body].force[1, 0] - run.effort(name).on[body].force[1]).max() <= 1e-7, name


def _until(run, n):
    return run.mechanism.trajectory(run.t[:n], run.x[:n])


def test_pictures_show_it(run):
    """Each element has a line or a part of its own, and a curve of what it does."""
    scene = scene_of(run)
    drawn = {entry["tag"] for entry in (*scene["lines"], *scene["fittings"])}
    model = run.mechanism.model
    for k, joint in enumerate(model.joints):
        if joint.name in COUPLINGS and joint.name != "lobe":  # a cam without a shape is drawn by its profile
            assert f"joint {k}" in drawn, joint.name
    for k, force in enumerate(model.forces):
        if force.name not in (
            "stop",
            "cut",
        ):  # tables of a coordinate and its rate may be a stop, a cut, friction: no part of a machine
            assert f"force {k}" in drawn or not force.glyph, force.name
    cam = next(body for body in scene["bodies"] if body["name"] == "cam")
    assert any(part["kind"] == "mesh" for part in cam["parts"])
    curves = {group["name"] for group in scene["groups"]}
    assert {f"effort of {name}" for name in COUPLINGS} <= curves


def test_every_verb_is_in_code_that_runs():
    """In a page of docs/, the README, an example or the gallery; each of them runs in the tests."""
    places = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "examples").glob("*.py")]
    places += (ROOT / "src/dalembert/gallery").glob("*.py")
    text = "\n".join(place.read_text(encoding="utf-8") for place in places if "_build" not in place.parts)
    called = set(re.findall(r"\.(add_\w+)\(", text))
    verbs = {name for name in dir(da.Model) if name.startswith("add_") and getattr(da.Model, name).__name__ == name}
    assert not verbs - called

"""Assembly: what is repaired, what is left alone, what is refused, and how it is said."""

import numpy as np
import pytest
from kernel_calls import rows, twist
from random_mechanisms import SHAPES, random_model

from dalembert import gallery
from dalembert.compilation.compile import compile
from dalembert.errors import AssemblyError
from dalembert.model.joints import angle_of
from dalembert.model.model import Model
from dalembert.model.motions import Harmonic, Polynomial
from dalembert.model.rotation import quaternion_to_matrix
from dalembert.remarks.doubts import doubts
from dalembert.simulation.simulate import simulate

# assembly stops at 1e-12 times the size of the mechanism; Newton's last step usually lands at rounding
MET = 1e-11


def perturbed(model, rng, size=0.05, keep=()):
    """The same joints on bodies that were moved away from where they fit."""
    data = model.to_dict()
    bodies = {body.name for body in model.bodies} - set(keep)
    for element in data["elements"]:
        if element["name"] in bodies:
            element["position"] = (np.array(element["position"]) + size * rng.uniform(-1, 1, 3)).tolist()
            theta = np.array(element["rotation"]) + size * rng.uniform(-1, 1, 4)
            if np.any(np.array(element["inertia"])):
                element["rotation"] = (theta / np.linalg.norm(theta)).tolist()
    return Model.from_dict(data)


def hinged(**options):
    """One body on a hinge about z through the origin, its centre at (1, 0, 0)."""
    model = Model()
    body = model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    model.add_revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 0, 1), **options)
    return model


def body_of(assembly, name):
    return next(body for body in assembly.bodies if body.name == name)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_perturbed_data_are_repaired_and_reported(shape, seed, rng):
    model = perturbed(random_model(seed, shape, forces=False), rng)
    assembly = model.assemble()
    before, after = assembly.position_residual
    assert before > 1e-3 and after <= MET
    assert assembly.velocity_residual[1] <= MET
    assert {m.body for m in assembly.moved} <= {b.name for b in model.bodies} and assembly.moved
    original = {b.name: b for b in model.bodies}
    for moved in assembly.moved:
        new = body_of(assembly, moved.body)
        old = original[moved.body]
        assert moved.distance == pytest.approx(np.linalg.norm(new.position - old.position), abs=1e-15)
        turn = 2 * np.arccos(min(1.0, abs(new.rotation @ old.rotation)))
        assert moved.angle == pytest.approx(turn, abs=1e-7)  # arccos near 1 keeps half the digits
        assert moved.velocity == pytest.approx(np.linalg.norm(new.velocity - old.velocity), abs=1e-15)
        assert (f"\n{moved.body}: " in str(assembly)) != (moved.body in assembly.completed)
        assert (f"\n{moved.body}: moved" in str(assembly)) == (moved.distance > 1e-12)
    mechanism = compile(model)
    G, g, g_t, _ = rows(mechanism, 0.0, mechanism.x_0)
    assert np.abs(g).max() <= MET
    assert np.abs(G @ twist(mechanism, mechanism.x_0) + g_t).max() <= MET


def test_consistent_data_are_left_alone():
    assembly = gallery.slider_crank().assemble()
    assert assembly.moved == () and "nothing was moved" in str(assembly)
    assert max(*assembly.position_residual, *assembly.velocity_residual) <= 1e-15 * 10  # given exactly, up to rounding


def test_the_model_itself_is_not_changed(rng):
    model = perturbed(random_model(1, "chain", 3, forces=False), rng)
    before = model.hash
    model.assemble()
    compile(model)
    assert model.hash == before


def test_velocities_are_the_nearest_in_the_mass_metric(rng):
    """M du is orthogonal to every admissible velocity (inertia along body axes: assembly takes the diagonal alone)."""
    data = gallery.slider_crank().to_dict()
    for element in data["elements"]:
        if "velocity" in element:
            element["velocity"] = rng.standard_normal(3).tolist()
    model = Model.from_dict(data)
    mechanism = compile(model)
    G, *_ = rows(mechanism, 0.0, mechanism.x_0)
    impulse = []
    for before, after in zip(model.bodies, model.assemble().bodies, strict=True):
        R = quaternion_to_matrix(after.rotation)
        impulse += [*(before.mass * (after.velocity - before.velocity))]
        impulse += [*(before.inertia @ R.T @ (after.angular_velocity - before.angular_velocity))]
    for _ in range(5):
        v = rng.standard_normal(G.shape[1])
        v -= np.linalg.lstsq(G, G @ v, rcond=None)[0]
        # masses of 2 kg, velocities of 1 m/s: a rounding error per row of the least-squares problem
        assert abs(np.array(impulse) @ v) <= 1e-13 * np.abs(impulse).sum() * np.abs(v).max()


@pytest.mark.parametrize("name", ["body 1", "body 3"])
def test_fixed_bodies_do_not_move(name, rng):
    data = perturbed(random_model(1, "floating", 4, forces=False, drivers=False), rng).to_dict()
    for element in data["elements"]:
        if element["name"] == name:
            element["fixed"] = True
    model = Model.from_dict(data)
    assembly = model.assemble()
    old, new = next(b for b in model.bodies if b.name == name), body_of(assembly, name)
    assert np.array_equal(new.position, old.position) and np.array_equal(new.velocity, old.velocity)
    # the rotation passes through a normalisation, the angular velocity through body axes and back
    assert np.allclose(new.rotation, old.rotation, rtol=0, atol=4e-16)
    assert np.allclose(new.angular_velocity, old.angular_velocity, rtol=0, atol=4e-15)
    assert name not in {m.body for m in assembly.moved}
    assert assembly.position_residual[1] <= MET


@pytest.mark.parametrize("value", [0.5, -1.2, 1.6, 2.5, 3.0, -3.1, np.pi, 7.0])
def test_given_angle_is_met_even_far_from_the_model_pose(value):
    """The residual of an angle is a sine: half a turn away it vanishes too, and must not be taken for a solution."""
    model = hinged(coordinate=value, rate=2.0)
    arm = body_of(model.assemble(), "arm")
    assert np.allclose(arm.position, [np.cos(value), np.sin(value), 0.0], rtol=0, atol=MET)
    assert np.allclose(arm.angular_velocity, [0, 0, 2.0], rtol=0, atol=MET)
    assert np.allclose(arm.velocity, [-2.0 * np.sin(value), 2.0 * np.cos(value), 0.0], rtol=0, atol=MET)
    assert compile(model).x_0[-1] == pytest.approx(value, abs=MET)  # counted from the given value, turns included


@pytest.mark.parametrize("start", [2.5, -3.0, 7.0])
def test_driver_that_starts_far_from_the_model_pose(start):
    model = hinged()
    model.add_driver("driver", "hinge", Polynomial((start, 1.0)))
    arm = body_of(model.assemble(), "arm")
    assert np.allclose(arm.position, [np.cos(start), np.sin(start), 0.0], rtol=0, atol=MET)
    assert np.allclose(arm.angular_velocity, [0, 0, 1.0], rtol=0, atol=MET)
    assert compile(model).x_0[-1] == pytest.approx(start, abs=MET)  # the angle that the driver says, turns included


@pytest.mark.parametrize("start", [0.5, 1.1, -3.0, 20.0])
def test_given_rate_holds_wherever_a_driver_brings_its_angle(start):
    """Refused as open by the way from the model pose, above a radian, at which the rate was thought to hold."""
    model = hinged(rate=1.0)
    model.add_driver("driver", "hinge", Polynomial((start, 1.0)))
    arm = body_of(model.assemble(), "arm")
    assert np.allclose(arm.position, [np.cos(start), np.sin(start), 0.0], rtol=0, atol=MET)
    assert np.allclose(arm.angular_velocity, [0, 0, 1.0], rtol=0, atol=MET)


def test_given_angle_in_a_loop():
    model = gallery.spatial_four_bar(crank_angle=0.3)
    data = model.to_dict()
    for element in data["elements"]:
        if element["name"] == "A":
            element["coordinate"], element["rate"] = [2.0], [1.5]
    driven = Model.from_dict(data)
    assembly = driven.assemble()
    angle = angle_of(driven.joints[0], 0)
    R = quaternion_to_matrix(body_of(assembly, "crank").rotation)
    d = R @ angle.a_j  # the first body is the ground
    assert np.arctan2(np.cross(angle.n_i, angle.a_i) @ d, angle.a_i @ d) == pytest.approx(2.0, abs=MET)
    assert angle.n_i @ body_of(assembly, "crank").angular_velocity == pytest.approx(1.5, abs=MET)
    assert assembly.position_residual[1] <= MET and {m.body for m in assembly.moved} == {"crank", "coupler", "rocker"}


def test_given_translation_and_rate():
    model = Model()
    slider = model.add_body("slider", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0))
    axis = np.array([1.0, 2.0, 2.0]) / 3.0
    model.add_prismatic("guide", model.ground, slider, point=(0, 0, 0), axis=axis, coordinate=0.7, rate=-1.1)
    moved = body_of(model.assemble(), "slider")
    assert np.allclose(moved.position, 0.7 * axis, rtol=0, atol=MET)
    assert np.allclose(moved.velocity, -1.1 * axis, rtol=0, atol=MET)


def test_given_coordinates_of_universal_cylindrical_and_planar():
    model = Model()
    bodies = [model.add_body(n, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, k, 0)) for k, n in enumerate("uvw")]
    ground = model.ground
    options = {"coordinate": (0.4, -0.3), "rate": (0.1, 0.2)}
    joint = model.add_universal("U", ground, bodies[0], point=(0, 0, 0), axes=((1, 0, 0), (0, 1, 0)), **options)
    model.add_cylindrical("C", ground, bodies[1], point=(0, 1, 0), axis=(0, 0, 1), coordinate=(0.2, 0.5))
    options = {"coordinate": (0.1, None, -0.6), "rate": (0.3, None, 0.4)}
    model.add_planar_joint("P", ground, bodies[2], point=(1, 2, 0), axis=(0, 0, 1), **options)
    assembly = model.assemble()
    R = quaternion_to_matrix(body_of(assembly, "u").rotation)
    relative = joint.E_i.T @ R @ joint.E_j  # Rx(alpha) Ry(beta)
    assert np.arctan2(relative[2, 1], relative[1, 1]) == pytest.approx(0.4, abs=MET)
    assert np.arctan2(relative[0, 2], relative[0, 0]) == pytest.approx(-0.3, abs=MET)
    assert body_of(assembly, "v").position[2] == pytest.approx(0.2, abs=MET)
    assert body_of(assembly, "w").angular_velocity[2] == pytest.approx(0.4, abs=MET)
    assert assembly.position_residual[1] <= MET and assembly.velocity_residual[1] <= MET


def test_loop_that_cannot_close_names_its_joints():
    model = Model()
    near = model.add_body("near", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    far = model.add_body("far", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    model.add_spherical("start", model.ground, near, points=((0, 0, 0), (-0.5, 0, 0)))
    model.add_spherical("middle", near, far, points=((0.5, 0, 0), (-0.5, 0, 0)))
    model.add_spherical("end", far, model.ground, points=((0.5, 0, 0), (5, 0, 0)))
    with pytest.raises(AssemblyError, match="cannot be assembled") as caught:
        model.assemble()
    assert set(caught.value.joints) == {"start", "middle", "end"}
    assert all(f"'{name}'" in str(caught.value) for name in caught.value.joints)


def test_what_is_beside_a_joint_that_stays_open_is_not_its_cause():
    """The error began with the body that falls; a doubt of a body of the joint comes first as before."""
    model = Model(plane="xz")
    model.add_link("arm", (0, 0), (1, 0), mass=1.0)
    model.add_point_mass("bob", mass=1.0, position=(5, 0))
    model.add_body("wheel", mass=1.0, inertia=1.0, position=(2, 0), shape={"type": "disc", "radius": 0.1})
    model.add_revolute("pin", model.ground, "arm", point=(0, 0))
    model.add_distance("short", "arm", "bob", points=((0.5, 0), (0, 0)), length=1.0)
    model.add_distance("long", model.ground, "bob", points=((0, 0), (0, 0)), length=10.0)
    assert any(text.startswith("'wheel' is not connected") for text in doubts(model))
    with pytest.raises(
        AssemblyError, match=r"^the mechanism cannot be assembled: joints 'short' \(7.5\), 'long' \(3.75\) stay"
    ):
        model.assemble()


def test_impossible_given_coordinate_names_the_joint():
    model = gallery.spatial_four_bar()
    data = model.to_dict()
    for element in data["elements"]:
        if element["name"] == "D":  # the rocker of a crank-rocker does not reach this angle
            element["coordinate"] = [2.5]
    with pytest.raises(AssemblyError) as caught:
        Model.from_dict(data).assemble()
    assert "D" in caught.value.joints


def test_two_fixed_bodies_that_do_not_fit():
    model = Model()
    for name, x in (("a", 0.0), ("b", 1.0)):
        model.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0), fixed=True)
    model.add_spherical("ball", "a", "b", points=((0, 0, 0), (-0.9, 0, 0)))
    with pytest.raises(AssemblyError, match=r"'ball' \(0.1\)"):
        model.assemble()


def test_velocity_of_a_fixed_body_that_cannot_fit():
    model = Model()
    options = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1), "position": (1, 0, 0), "fixed": True}
    body = model.add_body("arm", velocity=(1, 0, 0), **options)
    model.add_spherical("ball", model.ground, body, point=(0, 0, 0))
    with pytest.raises(AssemblyError, match=r"no velocities fit.*'ball'") as caught:
        model.assemble()
    assert caught.value.joints == ("ball",)


def test_drivers_with_conflicting_rates():
    model = hinged()
    model.add_driver("angle", "hinge", Polynomial((0.0, 1.0)))
    model.add_point_driver("point", "arm", direction=(0, 1, 0), motion=Polynomial((0.0, 2.0)))
    with pytest.raises(AssemblyError, match="no velocities fit") as caught:
        model.assemble()
    assert {"angle", "point"} <= set(caught.value.joints)


def test_rate_against_the_driver_of_its_joint():
    model = hinged(rate=12.0)
    model.add_driver("motor", "hinge", Polynomial((90.0, 20.0)))
    told = "joint 'hinge' is given rate 12 rad/s, driver 'motor' asks for 20 rad/s at t = 0 s: leave out the rate"
    with pytest.raises(AssemblyError) as caught:
        model.assemble()
    first, degrees = str(caught.value).split("; ")
    assert first == f"no velocities fit: {told}"
    assert degrees.startswith("driver 'motor' goes to 90 rad: 90 degrees are")
    assert caught.value.joints == ("hinge", "motor")


def test_rate_of_an_angle_without_its_coordinate():
    made = hinged(rate=1.5).assemble()
    assert np.isclose(np.linalg.norm(made.bodies[0].angular_velocity), 1.5, rtol=0, atol=MET)
    assert made.moved[0].distance == 0.0  # the pose stays as it was


def test_moving_length_sets_the_velocity():
    model = Model()
    bob = model.add_point_mass("bob", mass=1.0, position=(2, 0, 0))
    model.add_distance("rope", model.ground, bob, length=Harmonic(0.5, 3.0, 0.0, 2.0))
    assert np.allclose(model.assemble().bodies[0].velocity, [1.5, 0, 0], rtol=0, atol=MET)  # 0.5 * 3 cos(0)


def test_velocities_that_follow_from_one_are_completed_not_moved():
    model = hinged(rate=1.5)
    made, mechanism = model.assemble(), compile(model)
    assert made.completed == mechanism.completed == ("arm",)
    assert made.changed == mechanism.moved == () and not mechanism.warnings
    assert (
        str(made).splitlines()[1]
        == f"velocity residual {made.velocity_residual[1]:.2e} m/s or rad/s: those of arm follow from what is given or driven"
    )
    assert "turned" not in str(made.moved[0]) and "angular velocity 1.500e+00 rad/s" in str(made.moved[0])


def test_velocity_that_was_given_and_changes_is_moved():
    model = Model()
    model.add_body("arm", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(1, 0, 0))
    model.add_revolute("hinge", model.ground, "arm", point=(0, 0, 0), axis=(0, 1, 0))
    made = model.assemble()
    assert made.completed == () and made.changed == ("arm: velocity 1.000e+00 m/s",) and not made.warnings
    assert [text.endswith(": made to fit by the smallest change") for text in made.residuals] == [False, True]


def test_what_fits_needs_no_remedy():
    made = hinged().assemble()
    zero = tuple(f"0.00e+00 {unit} as given, 0.00e+00 assembled" for unit in ("m or rad", "m/s or rad/s"))
    assert made.residuals == zero
    assert str(made).splitlines()[:2] == [
        f"{what} residual {text}" for what, text in zip(("position", "velocity"), zero, strict=True)
    ]


def test_driver_that_starts_elsewhere_is_a_warning():
    model = hinged()
    model.add_driver("angle", "hinge", Polynomial((1.0, 2.0)))
    (warning,) = compile(model).warnings
    assert "body 'arm' does not start where it was placed" in warning and "turned it by 1 rad" in warning
    assert "warning: body 'arm'" in str(model.assemble())


@pytest.mark.parametrize("size", [1e-10, 1e-8, 1e-3, 1e4])
def test_a_mechanism_of_any_size_is_assembled_alike(size):
    def four_bar(size):
        model, points = Model(), size * np.array([(0, 0, 0), (0.3, 0, 1), (2.5, 0, 1.6), (2, 0, 0)])
        for k in range(3):
            middle = 0.5 * (points[k] + points[k + 1])
            model.add_body(f"bar {k}", mass=1.0, inertia=[0.1 * size**2] * 3, position=middle)
        names = ["ground", "bar 0", "bar 1", "bar 2", "ground"]
        for k, rate in enumerate([3.0, None, None, None]):
            model.add_revolute(f"hinge {k}", names[k], names[k + 1], point=points[k], axis=(0, 1, 0), rate=rate)
        data = model.to_dict()
        data["elements"][1]["position"][0] += 0.05 * size  # off its hinges
        return Model.from_dict(data)

    one, made = four_bar(1.0).assemble(), four_bar(size).assemble()
    for a, b in zip(one.bodies, made.bodies, strict=True):
        assert np.allclose(b.position / size, a.position, rtol=0, atol=MET)
        assert np.allclose(b.velocity / size, a.velocity, rtol=0, atol=MET)
        assert np.allclose(b.angular_velocity, a.angular_velocity, rtol=0, atol=MET)
    assert [item.body for item in made.moved] == [item.body for item in one.moved]
    model = four_bar(size)
    model.add_driver("against", "hinge 3", Polynomial((0.0, 1.0)))
    with pytest.raises(AssemblyError, match="no velocities fit"):
        model.assemble()


def gantry(**trolley):
    """A bar that a motor turns on a trolley, which is free to roll."""
    model = Model(plane="xz")
    model.add_body("trolley", mass=200.0, inertia=10.0, position=(0, 5), **trolley)
    model.add_link("bar", (0, 5), (0, 2), mass=40.0)
    model.add_prismatic("rail", "ground", "trolley", point=(0, 5), axis=(1, 0))
    model.add_revolute("pin", "trolley", "bar", point=(0, 5))
    model.add_driver("motor", "pin", Polynomial((0.0, 1.2)))
    return model


def test_velocities_that_nothing_tells_are_those_of_an_impulse_and_are_told():
    """It rolled off under "trusted" without a word, where rest was meant."""
    made = gantry().assemble()
    velocity = {body.name: body.velocity[0] for body in made.bodies}
    assert 200.0 * velocity["trolley"] + 40.0 * velocity["bar"] == pytest.approx(0.0, abs=1e-12)  # no force along the rail
    assert abs(velocity["trolley"]) == pytest.approx(40.0 * 1.5 * 1.2 / 240.0, rel=1e-12)
    assert made.chosen == ("trolley", "bar") and made.choice in str(made)
    assert (
        "nothing tells how 'trolley', 'bar' start: velocities as after an impulse were taken ('trolley' 0.3 m/s" in made.choice
    )
    report = simulate(gantry(), 0.1).report()
    assert (report["start"].value, report["start"].block) == (made.choice, "careful")
    other = simulate(gantry(velocity=(0, 0)), 0.1)
    assert "start" not in [line.name for line in simulate(gantry(), 0.1, initial=other(0.0)).report().lines]


@pytest.mark.parametrize("velocity", [(0, 0), (0.5, 0)])
def test_velocities_that_are_told_are_no_choice(velocity):
    made = gantry(velocity=velocity).assemble()
    assert made.chosen == () and made.choice == "" and made.completed == ("bar",)
    assert "start" not in [line.name for line in simulate(gantry(velocity=velocity), 0.1).report().lines]


def test_a_spin_that_nothing_tells_is_zero_and_no_choice():
    """A rod on two balls is free to spin about its length, and does not."""
    model = Model()
    model.add_link("crank", (0, 0, 0), (0, 0, 1), mass=1.0, angular_velocity=(0, 2.0, 0))
    model.add_link("rod", (0, 0, 1), (2, 0.5, 0), mass=1.0)
    model.add_body("slider", mass=1.0, inertia=(1, 1, 1), position=(2, 0.5, 0))
    model.add_revolute("A", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spherical("B", "crank", "rod", point=(0, 0, 1))
    model.add_spherical("C", "rod", "slider", point=(2, 0.5, 0))
    model.add_prismatic("D", model.ground, "slider", point=(2, 0.5, 0), axis=(1, 0, 0))
    made = model.assemble()
    assert made.completed == ("crank", "rod", "slider") and made.chosen == ()

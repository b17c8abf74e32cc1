"""What stands on the floor and what joins bodies, as pages and pictures draw them: rails, posts, bearings, welds, springs."""

import numpy as np
import pytest

import dalembert as da
from dalembert.gallery import GALLERY
from dalembert.viewer.fittings import met
from dalembert.viewer.scene import scene_of
from dalembert.viewer.stage import stage_of


def test_rails_stand_on_the_floor_beside_what_they_guide():
    """The joint's point is 1.9 m away from the slider, at the crank's bearing: as good for mechanics, not for the eye."""
    run = da.simulate(GALLERY["crank_mechanism"].build(), 0.05)
    scene = scene_of(run)
    names = [joint["name"] for joint in scene["joints"]]
    mine = [f["part"] for f in scene["fittings"] if f["tag"] == f"joint {names.index('translational')}" and f["body"] == -1]
    bar, *ends = sorted(mine, key=lambda part: -max(part["size"]))
    assert np.linalg.norm(np.subtract(bar["at"], run.position("slider")[0])[1:]) < 1e-12 and len(ends) == 2
    for end in ends:
        x, y, z = end["at"]
        near = 0.1 * scene["scale"]  # behind it by as much, where the rod would pass through a post
        feet = [part for part in scene["ground"] if np.hypot(part["at"][0] - x, part["at"][2] - z) < near]
        assert min(part["at"][1] - 0.5 * part["size"][1] for part in feet) == pytest.approx(scene["floor"], abs=1e-9)
        assert max(part["at"][1] + 0.5 * part["size"][1] for part in feet) > y  # it reaches the rail


def test_posts_go_straight_down_where_nothing_moves_below():
    """A spring beside a bar is held by a post below its end; the bar's own hinge has it behind the motion."""
    model = da.Model()
    model.add_link("bar", (0, 0, 1), (1, 0, 1), mass=1.0, radius=0.02)
    model.add_revolute("pivot", model.ground, "bar", point=(0, 0, 1), axis=(0, 1, 0))
    model.add_spring_damper("side", model.ground, "bar", between=((1.6, 0, 1), (1, 0, 1)), stiffness=50.0, length=0.5)
    posts = [part for part in stage_of(da.simulate(model, 0.5)).ground if part.kind == "capsule" or part.size[1] > 0.3]
    assert [np.round(part.at[:2], 6).tolist() for part in posts if part.at[0] > 1.5] == [[1.6, 0.0]]


def wiper():
    """A four-bar whose crank passes below its pivot, and a long arm welded to its rocker, nobody says where."""
    model = da.Model(plane="xz")
    a, b, c, d = (0, 0), (0.04, 0), (0.1959375, 0.1085578), (0.2, 0)
    model.add_link("crank", a, b, mass=0.1)
    model.add_link("coupler", b, c, mass=0.2)
    model.add_link("rocker", d, c, mass=0.1)
    model.add_link("arm", d, (0.2 - 0.0187, 0.5), mass=0.4)
    for name, first, second, point in (
        ("A", "ground", "crank", a),
        ("B", "crank", "coupler", b),
        ("C", "coupler", "rocker", c),
    ):
        model.add_revolute(name, first, second, point=point)
    model.add_revolute("D", "ground", "rocker", point=d)
    model.add_fixed("clamp", "rocker", "arm")
    model.add_driver("motor", "A", da.Polynomial((0.0, 6.0)))
    return da.simulate(model, 1.1)


def test_a_crank_turns_before_its_pedestal_and_bars_without_a_radius_are_alike():
    run = wiper()
    stage = stage_of(run)
    radius = {name: picture.parts[0].size[0] for name, picture in stage.pictures.items()}
    assert max(radius.values()) < 1.5 * min(radius.values())
    assert radius["rocker"] > 1.05 * radius["arm"]  # around it, in the same place: both are seen
    behind = -np.sign(stage.look.direction[1])
    mine = [part for part in stage.ground if part.at[0] < 0.1 and not part.clear]
    shaft, bearing, cone, plate, post, foot = mine
    assert [part.kind for part in mine] == ["capsule", "cylinder", "cone", "cylinder", "capsule", "cylinder"]
    for part in (bearing, cone, plate, post, foot):
        assert part.at[0] == 0.0 and part.at[1] == pytest.approx(cone.at[1])
        assert 3.0 * radius["crank"] < behind * part.at[1] < 0.1 * stage.scale  # beside the crank and its eye, and near
    assert bearing.at == pytest.approx((0.0, cone.at[1], 0.0)) and abs(bearing.matrix[1, 2]) == pytest.approx(1.0)
    reach = shaft.size[1] - 2.0 * shaft.size[0]  # from the hinge through the bearing, which is the thicker one
    assert behind * shaft.at[1] + 0.5 * reach > behind * bearing.at[1] + bearing.half[2] and bearing.size[0] > 2 * shaft.size[0]
    assert behind * shaft.at[1] - 0.5 * reach == pytest.approx(0.0, abs=1e-12)
    assert foot.at[2] - foot.half[2] == pytest.approx(stage.look.floor)
    assert sum(part.kind == "cone" and part.at[1] == 0.0 for part in stage.ground) == 1  # nothing swings below the rocker's


def test_what_hangs_is_held_from_behind_not_by_a_spike_above():
    """A pendulum on a hinge has a bearing behind it, on a post; one on a ball an arm that is seen from the side."""

    def ground(joint, **axis):
        model = da.Model()
        model.add_link("rod", (0, 0, 1), (0.3, 0, 0), mass=1.0, radius=0.01)
        getattr(model, joint)("A", "ground", "rod", point=(0, 0, 1), **axis)
        stage = stage_of(da.simulate(model, 1.0), np.array([0.5, -1.0, 0.5]) / np.sqrt(1.5) if axis else None)
        return stage, stage.look, [part for part in stage.ground if part.kind == "capsule"]

    stage, _, (shaft, post) = ground("add_revolute", axis=(0, 1, 0))
    (cone,) = (part for part in stage.ground if part.kind == "cone")
    assert cone.matrix[2, 2] == pytest.approx(1.0) and max(part.at[2] for part in stage.ground) == pytest.approx(1.0)
    assert shaft.at[0] == post.at[0] == 0.0 and 0.01 < abs(post.at[1]) < 0.2
    _, look, (arm, post) = ground("add_spherical")
    across = abs(look.axes[0] @ post.at)  # of the picture, where the pendulum hangs in its middle
    assert across > 0.3 * abs(look.direction @ post.at)
    assert arm.at[2] > 1.0 > post.at[2]


def test_a_weld_without_a_point_is_drawn_where_its_bodies_meet():
    """It was a cube at the arm's centre of mass, and a stem of the rocker up to there."""
    run = wiper()
    stage = stage_of(run)
    (cube,) = (f for f in stage.fittings if f.tag == "joint 4")
    assert run.point(cube.body, cube.part.at)[0] == pytest.approx((0.2, 0, 0), abs=1e-6)
    assert [part.kind for part in stage.pictures["rocker"].parts] == ["cylinder"] * 3  # the bar and two eyes
    model = run.mechanism.model
    model.add_fixed("given", "coupler", "arm", point=(0.3, 0, 0.3))  # they meet elsewhere, but it was said
    assert np.array_equal(met(model, model.joint("given")).p_i, model.joint("given").p_i)


def test_hinges_are_drawn_where_their_bodies_are():
    """The point of the bicycle's head is on the floor, where the steering axis meets it; the pin is drawn at the frame."""
    run = da.simulate(da.gallery.build("bicycle"), 0.01)
    number = [joint.name for joint in run.mechanism.model.joints].index("head")
    heights = [run.point(f.body, f.part.at)[0, 2] for f in stage_of(run).fittings if f.tag == f"joint {number}"]
    assert heights and max(heights) < -0.4  # z is down; it was at 0


@pytest.mark.parametrize("joint", ["prismatic", "cylindrical", "revolute"])
def test_springs_on_rails_are_wound_from_an_end_of_the_rail(joint):
    """The points of the joint meet at the start, so that a coil between them would be a point."""
    model = da.Model(gravity=(0, 0, 0))
    model.add_body("slider", **da.box(1.0, (0.1, 0.1, 0.1)).body())
    getattr(model, f"add_{joint}")("rail", model.ground, "slider", point=(0, 0, 0), axis=(1, 0, 0))
    component = {"component": 0} if joint == "cylindrical" else {}
    model.add_joint_spring_damper("back", "rail", stiffness=100.0, reference=0.3, **component)
    run = da.simulate(model, 0.5)
    stage = stage_of(run)
    wound = [line for line in stage.lines if line.tag == "force 0"]
    flat = [fitting for fitting in stage.fittings if fitting.tag == "force 0"]
    assert (len(wound), len(flat)) == ((0, 1) if joint == "revolute" else (1, 0))
    for line in wound:
        along = run.point(*line.end) - run.point(*line.start)
        assert line.kind == "spring" and np.all(along[:, 0] > 0.01) and np.abs(along[:, 1:]).max() < 1e-9


def test_springs_of_pictures_are_wound():
    from dalembert.viewer.surfaces import coil

    faces = coil(np.zeros(3), np.array([0.0, 2.0, 0.0]), 0.1, 0.02)
    x = faces.reshape(-1, 3)
    assert x[:, 1].min() == pytest.approx(0.0, abs=0.03) and x[:, 1].max() == pytest.approx(2.0, abs=0.03)
    across = np.linalg.norm(x[:, [0, 2]], axis=1)
    assert across.max() == pytest.approx(0.12, abs=1e-3) and faces.shape[1:] == (4, 3)
    normals = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1])
    middle = faces.mean(axis=1)
    far = np.linalg.norm(middle[:, [0, 2]], axis=1) > 0.112  # the outside of the wire looks outward
    assert far.any() and (np.sum(normals * middle, axis=1) - normals[:, 1] * middle[:, 1])[far].min() > 0.0


def test_posts_of_rails_are_not_in_the_way_of_what_swings():
    """A bar that swings in the plane of its cart's rail would pass through both posts: they stand behind it."""

    def posts(y):
        model = da.Model()
        model.add_body("cart", **da.box(2.0, (0.02, 0.02, 0.02)).body(), position=(0, 0, 0))
        model.add_link("bar", (0, y, 0), (0.4, y, 0), mass=1.0, radius=0.01)
        model.add_prismatic("slide", model.ground, "cart", point=(0, 0, 0), axis=(1, 0, 0))
        model.add_revolute("pin", "cart", "bar", point=(0, y, 0), axis=(0, 1, 0))
        shown = stage_of(da.simulate(model, 1.0)).ground
        upright = [part for part in shown if part.kind == "capsule" and abs(part.matrix[2, 2]) > 0.9]
        assert len(upright) == 2
        return [part.at[1] for part in upright]

    assert np.abs(posts(-0.1)).max() < 1e-12
    assert np.abs(posts(0.0)).min() > 0.01


def test_no_post_is_seen_behind_a_guide():
    """The upper pivot of a toggle press is held by a ceiling, as in drawings; its post went through the ram and its rail."""
    model = da.Model(plane="xz")
    knee, ram = (0.08, 0.36), (0.0, 0.36 - float(np.sqrt(0.3**2 - 0.08**2)))
    model.add_link("crank", (-0.5, 0.3), (-0.42, 0.3), mass=0.5)
    model.add_link("rod", (-0.42, 0.3), knee, mass=1.0)
    model.add_link("upper", (0, 0.6), knee, mass=1.0)
    model.add_link("lower", knee, ram, mass=1.0)
    model.add_body("ram", **da.box(5.0, (0.12, 0.08, 0.08)).body(), position=ram)
    model.add_revolute("O", "ground", "crank", point=(-0.5, 0.3))
    model.add_revolute("A", "crank", "rod", point=(-0.42, 0.3))
    model.add_revolute("E", "ground", "upper", point=(0, 0.6))
    model.add_revolute("K", "upper", "rod", point=knee)
    model.add_revolute("L", "upper", "lower", point=knee)
    model.add_revolute("M", "lower", "ram", point=ram)
    model.add_prismatic("guide", "ground", "ram", point=ram, axis=(0, 1))
    model.add_driver("motor", "O", da.Polynomial((0.0, 2 * np.pi)))
    stage = stage_of(da.simulate(model, 1.0))
    line = [part for part in stage.ground if part.clear]
    assert len(line) == 1 and line[0].at[2] + line[0].half[2] == pytest.approx(stage.look.floor), "the floor is a line"
    above = [part for part in stage.ground if abs(part.at[0]) < 0.1 and part.at[2] > 0.2]
    assert min(part.at[2] - part.reach(part.matrix[2]) for part in above) > 0.55, "nothing leads down"
    cone = next(part for part in above if part.kind == "cone")
    assert cone.at[2] > 0.6 and cone.matrix[2, 2] == pytest.approx(-1.0), "hangs from above"
    assert sum(part.kind == "capsule" for part in above) == 5, "strokes"
    assert any(part.kind == "capsule" and part.half[2] > 0.1 for part in stage.ground if part.at[0] < -0.4), "the crank's post"


@pytest.mark.parametrize("below", [True, False])
def test_no_post_leads_down_through_what_hangs_in_a_plane(below):
    """Pivots of a mechanism that hangs below them are at a ceiling; those of one that stands on them have posts."""
    model, side = da.Model(plane="xz"), -1.0 if below else 1.0
    for name, x in (("left", -0.1), ("right", 0.1)):
        model.add_link(name, (x, 0), (2 * x, 0.4 * side), mass=1.0)
        model.add_revolute(f"{name} pin", "ground", name, point=(x, 0))
        model.add_driver(f"{name} motor", f"{name} pin", da.Harmonic(0.1, 2.0))
    model.add_link("rod", (0.2, 0.4 * side), (0.2, 0.4 * side - 0.9), mass=1.0)  # so that the floor is far below
    model.add_revolute("rod pin", "right", "rod", point=(0.2, 0.4 * side))
    stage = stage_of(da.simulate(model, 1.0))
    posts = [part for part in stage.ground if part.kind == "capsule" and part.half[2] > 0.1]
    assert len(posts) == (0 if below else 2)
    cones = [part.matrix[2, 2] for part in stage.ground if part.kind == "cone"]
    assert cones == pytest.approx([-1.0, -1.0] if below else [1.0, 1.0])


def test_a_point_mass_is_seen_beside_its_pin():
    """It was within the pin; a heavy one is larger, up to a bound."""

    def radius(mass):
        model = da.Model(plane="xz")
        model.add_link("bar", (0, 0), (0.3, -0.4), mass=1.0)
        model.add_point_mass("tip", mass=mass, position=(0.3, -0.4))
        model.add_revolute("A", "ground", "bar", point=(0, 0))
        model.add_spherical("T", "bar", "tip", point=(0.3, -0.4))
        stage = stage_of(da.simulate(model, 0.1))
        pins = [max(f.part.half[:2]) for f in stage.fittings if f.tag == "joint 1"]
        (ball,) = stage.pictures["tip"].parts
        assert ball.size[0] > 1.3 * max(pins)
        return ball.size[0]

    assert radius(0.01) < radius(1.0) < radius(100.0) < 2.0 * radius(0.01)

"""Bodies that nothing connects to the ground, and fall, are told in the verdict."""

import pytest

import dalembert as da
from dalembert.compilation.compile import compile
from dalembert.remarks.doubts import MODEL, doubts, look_at
from dalembert.remarks.left_free import left_free


def loose(gravity=(0, 0, -9.81), singles=(), joined=True, grounded=False, **plane) -> da.Model:
    """Two bars that are pinned together, and single bodies; held where they are grounded."""
    model = da.Model(gravity=gravity, **plane)
    for k, name in enumerate(("block", "bar") if joined else ()):
        model.add_link(name, (0.4 * k, 0, 0), (0.4 * k + 0.4, 0, 0), mass=1.0)
    if joined:
        model.add_revolute("pin", "block", "bar", point=(0.4, 0, 0), axis=(0, 1, 0))
    if grounded:
        model.add_revolute("base", model.ground, "block", point=(0, 0, 0), axis=(0, 1, 0))
    for name in singles:
        model.add_body(name, mass=1.0, inertia=(1, 1, 1), position=(0, 1, 0))
    return model


PAIR = "'block' and 'bar' are not connected to the ground and fall: a joint may be missing"
ALONE = "'lid' is not connected to the ground and falls: a joint may be missing"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, [PAIR]),
        ({"gravity": (0, 0, 0)}, []),
        ({"gravity": (0, 9.81, 0), "plane": "xz"}, []),  # gravity across the plane moves nothing in it
        ({"grounded": True}, []),
        ({"grounded": True, "singles": ("lid",)}, [ALONE]),
        ({"grounded": True, "singles": ("lid",), "gravity": (0, 0, 0)}, []),
        ({"joined": False, "singles": ("lid",)}, []),  # thrown, or a top
        ({"joined": False, "singles": ("lid", "other")}, []),
    ],
)
def test_bodies_that_nothing_connects_to_the_ground(given, told):
    assert doubts(loose(**given)) == told


def test_what_is_thrown_may_fall():
    """Bolas; a drop tower in which a pendulum swings; an apple beside an arm."""
    bolas = da.Model()
    for name, x in (("a", -0.5), ("b", 0.5)):
        bolas.add_point_mass(name, mass=1.0, position=(x, 0, 2), velocity=(10, -6 * x, 5))
    bolas.add_distance("string", "a", "b", points=((0, 0, 0), (0, 0, 0)))
    tower = loose(joined=False, singles=("capsule", "bob"))
    tower.add_revolute("P", "capsule", "bob", point=(0, 1, 1), axis=(0, 1, 0), rate=3.0)
    apple = loose(grounded=True)
    apple.add_point_mass("apple", mass=0.1, position=(3, 0, 2), velocity=(-5, 0, 3))
    assert [doubts(model) for model in (bolas, tower, apple)] == [[], [], []]
    assert da.simulate(apple, 0.01).report()["unconnected"].data == ["apple"]


def test_fixed_keeps_the_start_alone():
    model = da.Model()
    model.add_body("box", **da.box(1.0, (0.1, 0.1, 0.1)).body(), fixed=True)
    model.add_link("bar", (0, 0, 0), (1, 0, 0), mass=1.0)
    model.add_revolute("A", "box", "bar", point=(0, 0, 0), axis=(0, 1, 0))
    told = "a joint may be missing; fixed= keeps the start of 'box' alone: join it by add_fixed"
    assert doubts(model) == [f"'box' and 'bar' are not connected to the ground and fall: {told}"]


def test_bodies_of_a_longer_chain_that_falls_are_counted():
    """In short, too: there is no comma before what happens to them."""
    model = loose(singles=("lid",))
    model.add_spherical("hook", "bar", "lid", point=(0.8, 0, 0))
    assert look_at(doubts(model)) == "look at the model: 'block' and 2 more are not connected to the ground and fall"


@pytest.mark.parametrize("by", ["force", "torque", "spring", "roll", "point_driver", "constraint", "rope"])
def test_whatever_may_hold_bodies_connects_them(by):
    model = loose()
    match by:
        case "force":
            model.add_force("lift", "bar", (0, 0, 19.62))
        case "torque":
            model.add_torque("lift", "bar", (0, 1, 0))
        case "spring":
            model.add_spring_damper("lift", "ground", "bar", between=((0.6, 0, 1), (0.6, 0, 0)), stiffness=100.0)
        case "roll":
            model.add_rolling_sphere("lift", "bar", radius=0.1, plane=((0, 0, -0.1), (0, 0, 1)))
        case "point_driver":
            model.add_point_driver("lift", "bar", direction=(0, 0, 1), motion=0.0)
        case "constraint":
            model.add_constraint("lift", lambda bar: bar.r[2], "bar")  # of the world, which it does not name
        case "rope":
            model.add_cable("lift", [("ground", (0.6, 0, 1)), ("bar", (0, 0, 0))])
    assert doubts(model) == []


def test_forces_between_loose_bodies_do_not_hold_them():
    model = loose(joined=False, singles=("lid", "other"))
    model.add_spring_damper("spring", "lid", "other", stiffness=1.0, length=0.0)
    model.add_joint_spring_damper(
        "coil", model.add_revolute("pin", "lid", "other", point=(0, 1, 0), axis=(0, 1, 0)), stiffness=1.0
    )
    assert doubts(model) == ["'lid' and 'other' are not connected to the ground and fall: a joint may be missing"]


def test_a_missing_joint_is_part_of_the_verdict(tmp_path):
    from typer.testing import CliRunner

    from dalembert.cli import app

    assert da.simulate(loose(), 0.1).report().headline == f"trusted, but look at the model: {PAIR.partition(':')[0]}"
    loose().to_yaml(tmp_path / "model.yaml")
    checked = CliRunner().invoke(app, ["check", str(tmp_path / "model.yaml")])
    assert checked.stdout.splitlines()[-1] == f"it can be simulated, but look at the model: {PAIR.partition(':')[0]}"


def upright(rate=0.0):
    model = da.Model()
    model.add_link("bar", (0, 0, 0), (0, 0, 0.4), mass=1.0)
    model.add_revolute("A", model.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0), rate=rate)
    return model


def test_a_run_that_rests_is_noted():
    said = "nothing moves       the run starts in an equilibrium and stays there"
    assert said in str(da.simulate(upright(), 0.1).report())
    assert "nothing moves" not in str(da.simulate(upright(0.1), 0.1).report())


def test_arguments_by_a_wrong_name_are_told():
    for wrong, told in (
        (lambda: da.simulate(da.Model(), tend=1.0), "simulate has no argument 'tend'; did you mean 't_end'"),
        (lambda: da.disc(1.0, 0.1, thickness=0.02), "disc has no argument 'thickness'; known: 'mass', 'radius', 'axis'"),
        (lambda: da.Polynomial(0.0, 6.0), "Polynomial takes coefficients; several numbers for one of them go in brackets"),
        (lambda: da.Harmonic(1.0, frequency=2.0), "Harmonic has no argument 'frequency'; give omega, 2 pi times the frequency"),
    ):
        with pytest.raises(TypeError, match=told):
            wrong()
    with pytest.raises(AttributeError, match="has no attribute 'disk'; did you mean 'disc'"):
        da.disk  # noqa: B018
    with pytest.raises(AttributeError, match=r"has no attribute 'add_body'; it is a verb of models, model.add_body\(...\)"):
        da.add_body  # noqa: B018
    with pytest.raises(TypeError, match="add_link has no argument 'mas'; did you mean 'mass'"):
        da.Model().add_link("bar", (0, 0, 0), (1, 0, 0), mas=1.0)


@pytest.mark.parametrize("spring", [False, True])
def test_sliders_without_their_guide(spring):
    """A block on a pin at its centre, on a rod that hangs on a steady crank; gondolas below their pin, wheels are none."""

    def crank(motion, **of_block):
        model = da.Model(plane="xz")
        model.add_link("crank", (0, 0), (0, 0.1), mass=1.0)
        model.add_link("rod", (0, 0.1), (0.28, 0), mass=1.0)
        model.add_body("slider", **{**da.box(2.0, (0.06, 0.06, 0.06)).body(), "position": (0.28, 0)} | of_block)
        for name, first, second, point in (("A", "ground", "crank", (0, 0)), ("B", "crank", "rod", (0, 0.1))):
            model.add_revolute(name, first, second, point=point)
        model.add_revolute("C", "rod", "slider", point=(0.28, 0))
        model.add_driver("motor", "A", motion)
        if spring:
            model.add_spring_damper("spring", "ground", "slider", between=((0.7, 0), (0.28, 0)), stiffness=40.0)
        return [text for name, text in left_free(compile(model)) if name == MODEL and "guide" in text]

    steady = da.Polynomial((0, 6.0))
    told = ["'slider' is held by 'C' alone, on 'rod', which is left free: a guide may be missing"]
    assert crank(steady) == told == crank(steady, shape=None, inertia=0.01)
    assert not crank(da.Harmonic(0.5, 6.0)) and not crank(steady, position=(0.28, -0.05))
    assert not crank(steady, **da.cylinder(2.0, 0.03, 0.02, axis="y").body())


def test_springs_between_the_centres_of_bodies_on_one_hinge():
    def arm(**given):
        model = da.Model(plane="xz")
        model.add_link("upper", (0, 0), (0.4, 0), mass=0.8)
        model.add_link("fore", (0.4, 0), (0.4, -0.3), mass=0.5)
        model.add_revolute("S", "ground", "upper", point=(0, 0))
        model.add_revolute("E", "upper", "fore", point=(0.4, 0))
        model.add_spring_damper("spring", "upper", "fore", stiffness=2.0, **given)
        return doubts(model)

    assert [look_at(arm())] == ["look at the model: spring-damper 'spring' acts between the centres of 'upper' and 'fore'"]
    assert not arm(between=((0.1, 0), (0.4, -0.2)))


def test_a_cart_without_its_rail():
    """A spring that is level holds no weight; one from above does, as gravity off or along it, a rail, or a driven point."""

    def cart(anchor=(-0.5, 0), rail=False, **given):
        model = da.Model(plane="xz", **given)
        model.add_body("cart", mass=2.0, inertia=0.01, position=(0, 0))
        model.add_link("bar", (0, 0), (0.5, 0), mass=1.0)
        model.add_revolute("pin", "cart", "bar", point=(0, 0))
        model.add_spring_damper("spring", "ground", "cart", between=(anchor, (0, 0)), stiffness=50.0)
        if rail:
            model.add_prismatic("rail", "ground", "cart", point=(0, 0), axis=(1, 0))
        return doubts(model)

    assert cart() == ["'cart' is held by spring-damper 'spring' alone, which is level: a joint may be missing"]
    assert not (cart((0, 0.5)) or cart((-0.5, 0.1)) or cart(rail=True) or cart(gravity=(0, 0)) or cart(gravity=(-9.81, 0)))

"""What is free besides what is driven is told in words, and drivers that move nothing else."""

from copy import deepcopy

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert.cli import app
from dalembert.compilation.compile import compile
from dalembert.gallery import GALLERY
from dalembert.remarks.doubts import MODEL, doubts
from dalembert.remarks.left_free import left_free as by_name
from dalembert.results.report.table import as_text


def left_free(mechanism):
    return [text for name, text in by_name(mechanism) if name != MODEL]


def doubted(model) -> list[str]:
    return [text.partition(" left free")[0] for name, text in by_name(compile(model)) if name == MODEL]


POINTS = {"A": (0, 0, 0), "B": (0, 0, 0.1), "C": (0.3, 0, 0.25), "D": (0.35, 0, 0)}
BARS = {"crank": "AB", "coupler": "BC", "rocker": "CD"}


def four_bar(without="", driven=True, axis=(0, 1, 0), **types) -> da.Model:
    """Hinges about y but for `types`; without : joints that are left out;  axis : of the crank."""
    model = da.Model()
    for name, (a, b) in BARS.items():
        model.add_link(name, POINTS[a], POINTS[b], mass=1.0)
    for name, first, second in (
        ("A", "ground", "crank"),
        ("B", "crank", "coupler"),
        ("C", "coupler", "rocker"),
        ("D", "ground", "rocker"),
    ):
        if name not in without:
            kind = types.get(name, "revolute")
            turning = {} if kind == "spherical" else {"axis": axis if name == "A" else (0, 1, 0)}
            getattr(model, f"add_{kind}")(name, first, second, point=POINTS[name], **turning)
    if driven:
        model.add_driver("motor", "A", da.Polynomial((0, 6.0)))
    return model


AT_B, AT_D = (f"turn about (0, 1, 0) through joint '{joint}'" for joint in "BD")
MISSING = ": a joint may be missing, if this is not meant"
ON = "an end of {!r} is on {!r} and nothing joins them there: a joint may be missing"
SPIN = "is free to spin about its own length, which moves nothing else"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"without": "D", "driven": False}, []),
        (
            {"without": "D"},
            [f"'rocker' is free to {AT_B.replace('B', 'C')}; 'coupler' is free to {AT_B}, 'rocker' with it{MISSING}"],
        ),
        ({"without": "C"}, [f"'coupler' is free to {AT_B}; 'rocker' is free to {AT_D}{MISSING}"]),
        ({"without": "CD"}, [f"'coupler' is free to {AT_B}{MISSING}"]),  # that the rocker falls is told elsewhere
        ({"B": "spherical", "C": "spherical"}, [f"'coupler' {SPIN}"]),
        (
            {"B": "spherical", "C": "spherical", "D": "spherical"},
            [
                "'coupler', 'rocker' are free to move together; 'coupler', 'rocker' "
                + SPIN.replace("is free", "are free").replace("its", "their")
                + MISSING
            ],
        ),
        (
            {"B": "spherical", "C": "spherical", "axis": (0, 0, 1)},
            ["driver 'motor' moves 'crank' and nothing else: see the axis of 'A'", f"'coupler' {SPIN}"],
        ),
    ],
)
@pytest.mark.parametrize("coordinates", ["absolute", "tree"])
def test_what_is_free_in_a_four_bar(given, told, coordinates):
    besides = [words if words.startswith("driver") else f"besides what is driven, {words}" for words in told]
    assert left_free(compile(four_bar(**given), coordinates)) == besides


def test_in_a_plane_as_in_space():
    """Where no row holds what is out of it; points of mass do not turn."""
    model = four_bar(without="D")
    model.add_point_mass("bob", mass=1.0, position=(1, 0, 0))
    model.add_distance("string", "ground", "bob", points=((0.5, 0, 0), (0, 0, 0)))
    told = left_free(compile(four_bar(without="D"), "planar"))
    assert told == left_free(compile(four_bar(without="D")))
    (told,) = left_free(compile(model, "planar"))
    assert "'bob' is free to move along (0, 0, 1)" in told
    (told,) = left_free(compile(model))
    assert "'bob' is free to move across (1, 0, 0)" in told


def test_shifts_and_pairs_that_move_as_one():
    model = da.Model()
    model.add_body("cart", **da.box(1.0, (0.1, 0.1, 0.1)).body())
    model.add_prismatic("rail", "ground", "cart", point=(0, 0, 0), axis=(1, 0, 0))
    model.add_driver("shaker", "rail", da.Harmonic(0.1, 3.0))
    for name, x in (("arm", 0.0), ("plate", 0.2)):
        model.add_link(name, (x, 0, 0), (x + 0.2, 0, 0), mass=1.0)
    model.add_cylindrical("sleeve", "cart", "arm", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_fixed("weld", "arm", "plate", point=(0.2, 0, 0))
    both = "move along (0, 0, 1) and to turn about (0, 0, 1) through joint 'sleeve'"
    assert left_free(compile(model)) == [f"besides what is driven, 'arm', 'plate' are free to {both}{MISSING}"]


def test_driven_bodies_that_push_others_by_forces_alone_are_meant_to():
    """A shaft with a wheel around it, which a damper takes along; a wheel in a carriage has no other joint at all."""
    model = da.Model(gravity=(0, 0, 0))
    for name in ("shaft", "wheel"):
        model.add_body(name, **da.disc(1.0, 0.1, axis="z").body())
    model.add_revolute("A", "ground", "shaft", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_revolute("B", "shaft", "wheel", point=(0, 0, 0), axis=(0, 0, 1))
    model.add_driver("motor", "A", da.Polynomial((0, 6.0)))
    spin = "besides what is driven, 'wheel' is free to spin about its own axis (0, 0, 1), which moves nothing else"
    assert left_free(compile(model)) == ["driver 'motor' moves 'shaft' and nothing else: see the axis of 'A'", spin]
    model.add_joint_spring_damper("drag", "B", damping=0.1)
    assert left_free(compile(model)) == [spin]


def test_chains_on_a_base_that_is_driven_are_meant_to_be_free():
    model = da.Model()
    for k, first in enumerate(("ground", "bar 0", "bar 1", "bar 2", "bar 3", "bar 4")):
        model.add_link(f"bar {k}", (k, 0, 0), (k + 1, 0, 0), mass=1.0)
        model.add_revolute(f"J{k}", first, f"bar {k}", point=(k, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "J0", da.Polynomial((0, 6.0)))
    assert left_free(compile(model)) == []


def test_no_words_on_free_mechanisms_of_the_gallery():
    built = {name: entry.build() for name, entry in GALLERY.items()}
    told = {name for name, model in built.items() if left_free(compile(model))}
    assert told == {"towing_tank_ship", "towing_tank_ship_compliant"}  # driven heave, free pitch
    assert [name for name in told if doubted(built[name])] == []


def test_check_and_report_say_it_and_doubt_the_model(tmp_path):
    model = four_bar(without="D")
    (told,) = left_free(compile(model))
    report = da.simulate(model, 0.1).report()
    assert report["left free"].value == told
    assert (report["left free"].block, report["left free"].verdict) == ("careful", "note")
    look = "look at the model: 'coupler' and 'rocker' are left free beside what is driven"
    assert report.headline == f"trusted, but {look}"
    assert (report[MODEL].block, report[MODEL].verdict) == ("careful", "WARN")
    model.to_yaml(tmp_path / "model.yaml")
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "model.yaml")]).stdout
    assert f"left free {told}" in " ".join(shown.split())
    assert shown.endswith(f"it can be simulated, but {look}\n")
    lines = as_text(report.print, 80).splitlines()
    assert sum("(0, 1, 0)" in line for line in lines) == 3  # lines do not break within it


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"without": "D"}, ["'coupler' and 'rocker' are"]),  # a chain on a crank
        ({"without": "C"}, []),  # a pendulum of its own; that its end is at the coupler's is told elsewhere
        ({"without": "B"}, ["'coupler' and 'rocker' are"]),
        ({"without": "CD"}, []),  # one pendulum on a driven bar
        ({"B": "spherical", "C": "spherical"}, []),
    ],
)
def test_joints_of_a_four_bar_that_are_likely_to_be_missing(given, told):
    assert doubted(four_bar(**given)) == told


def test_what_moves_by_itself_is_meant_to():
    """Springs, laws, a velocity that is given; a load alone does not hold anything."""

    def slider(rate=None) -> da.Model:
        """Beside the motor, on a rail of its own."""
        model = four_bar(without="CD")
        model.add_prismatic("rail", "ground", "rocker", point=POINTS["D"], axis=(1, 0, 0), rate=rate)
        return model

    model = slider()
    model.add_force("load", "rocker", (1.0, 0, 0))
    assert doubted(model) == ["'rocker' is"]
    assert left_free(compile(model))[0].endswith("'rocker' is free to move along (1, 0, 0)" + MISSING)
    model.add_joint_spring_damper("coil", "rail", stiffness=1.0)
    assert doubted(model) == []
    assert "'rocker' is free to move along (1, 0, 0), on springs, motors or laws" in left_free(compile(model))[0]
    model = slider()
    model.add_torque("drag", "rocker", lambda t, r, v, R, w: -0.1 * w)
    assert doubted(model) == []
    assert doubted(slider(rate=1.0)) == []


def test_pendulums_are_meant():
    """On a hinge of their own; stretched, on an arm that turns steadily, as of a ride."""
    model = four_bar(without="C", driven=False)
    for name in ("A", "B", "crank", "coupler"):
        model.remove(name)
    model.add_link("arm", (0, 0, 0), (3, 0, 0), mass=100.0)
    model.add_revolute("A", "ground", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_driver("motor", "A", da.Polynomial((0, 1.0)))
    assert doubted(model) == [] and "'rocker' is free to" in left_free(compile(model))[0]
    for knee, told in ((3.0, []), (3.1, ["'upper' and 'lower' are"])):
        ride = deepcopy(model)
        for name, start, end in (("upper", (3, 0, 0), (knee, 0, -1)), ("lower", (knee, 0, -1), (3, 0, -2))):
            ride.add_link(name, start, end, mass=9.0)
        ride.add_revolute("B", "arm", "upper", point=(3, 0, 0), axis=(0, 1, 0))
        ride.add_revolute("C", "upper", "lower", point=(knee, 0, -1), axis=(0, 1, 0))
        assert doubted(ride) == told


@pytest.mark.parametrize("axis", [(0, 1, 0), (0, 0, 1)])
@pytest.mark.parametrize("steady", [True, False])
def test_chains_on_what_is_driven(axis, steady):
    """On a crank, in its plane, a loop is open; on a shaft, on what rocks or slides they are loads and governors."""
    model = four_bar(without="D", driven=False, axis=axis)
    model.add_driver("motor", "A", da.Polynomial((0, 6.0)) if steady else da.Harmonic(0.1, 6.0))
    assert bool(doubted(model)) == (steady and axis == (0, 1, 0))


@pytest.mark.parametrize(
    ("held", "told"),
    [
        (("foot", "eye", "base"), []),
        (("eye", "base"), ["'boom' and 2 more are"]),
        (("foot", "base"), [ON.format("rod", "boom"), "'barrel' and 'rod' are"]),
    ],
)
def test_a_cylinder_of_which_an_end_is_loose(held, told):
    model = da.Model(plane="xz")
    model.add_link("boom", (0, 0), (1.5, 0.6), mass=20.0)
    model.add_link("barrel", (0.5, -0.4), (0.5, 0.0), mass=3.0)
    model.add_link("rod", (0.5, -0.2), (0.5, 0.2), mass=2.0)
    model.add_prismatic("slide", "barrel", "rod", point=(0.5, 0), axis=(0, 1))
    model.add_driver("cylinder", "slide", da.SmoothStep(0.0, 0.1, 0.0, 1.0))
    pins = {"base": ("ground", "boom", (0, 0)), "foot": ("ground", "barrel", (0.5, -0.4)), "eye": ("rod", "boom", (0.5, 0.2))}
    for name in held:
        first, second, point = pins[name]
        model.add_revolute(name, first, second, point=point)
    assert doubted(model) == told


@pytest.mark.parametrize(
    ("joint", "motion", "told"),
    [
        (
            "B",
            da.Polynomial((0, 6.0)),
            ["'motor' drives 'B' between two moving bodies; 'A' and 'D' are in the ground and not driven"],
        ),
        ("A", da.Polynomial((0, 6.0)), []),
        ("B", da.Harmonic(0.1, 6.0), []),  # an actuator
    ],
)
def test_a_motor_on_a_joint_of_two_moving_bodies(joint, motion, told):
    model = four_bar(driven=False)
    model.add_driver("motor", joint, motion)
    assert left_free(compile(model)) == told


def test_motors_of_arms_without_a_loop_are_where_they_belong():
    model = four_bar(without="D")
    model.add_driver("elbow", "B", da.Polynomial((0, 6.0)))
    assert not any("between two moving" in text for text in left_free(compile(model)))


WIPER = {"O": (0, 0), "C": (0.045, 0), "A": (0.3, -0.02), "B": (0.34, 0.04), "T": (0.5, 0.28)}
FAR = {name: (x + 0.4, z) for name, (x, z) in WIPER.items()}


def wipers(without="", friction="", motion=None, second=True) -> da.Model:
    """Two wipers of one crank, the second one at the middle of its bar; friction : joints with a damper."""
    model = da.Model(plane="xz")
    bars = {"crank": (WIPER["O"], WIPER["C"]), "rod": (WIPER["C"], WIPER["B"]), "one": (WIPER["A"], WIPER["T"])}
    bars |= {"link": (WIPER["B"], FAR["B"]), **({"two": (FAR["A"], FAR["T"])} if second else {})}
    for name, (start, end) in bars.items():
        model.add_link(name, start, end, mass=1.0)
    for name, first, other, point in (
        ("O", "ground", "crank", WIPER["O"]),
        ("C", "crank", "rod", WIPER["C"]),
        ("B", "rod", "one", WIPER["B"]),
        ("A", "ground", "one", WIPER["A"]),
        ("F", "one", "link", WIPER["B"]),
        *((("E", "link", "two", FAR["B"]), ("D", "ground", "two", FAR["A"])) if second else ()),
    ):
        if name not in without:
            model.add_revolute(name, first, other, point=point)
    for name in friction:
        model.add_joint_spring_damper(f"friction {name}", name, damping=0.5)
    model.add_driver("motor", "O", motion or da.Polynomial((0, 6.0)))
    return model


@pytest.mark.parametrize("friction", ["", "AD", "ABCDEF"])
@pytest.mark.parametrize(
    ("without", "told"),
    [
        ("", []),
        ("E", [ON.format("link", "two")]),
        ("D", ["'link' and 'two' are"]),  # a chain on a rocker that the crank moves
    ],
)
def test_wipers_of_which_a_pin_is_missing(without, told, friction):
    """Friction in pins does not say that what turns in them was meant to be free."""
    model = wipers(without, "".join(name for name in friction if name not in without))
    assert doubted(model) == told
    assert da.simulate(model, 0.05).report().headline.startswith("trusted, but" if told else "trusted")


def test_what_may_be_meant_beside_a_linkage():
    """One pendulum on a rocker; a chain on one that is rocked; a bar on a spring, which may lie on another."""
    assert doubted(wipers(second=False)) == []
    assert doubted(wipers("D", motion=da.Harmonic(0.1, 6.0))) == []
    held = wipers("E", "AD")
    held.add_joint_spring_damper("coil", "F", stiffness=1.0)
    assert doubted(held) == []


def test_chains_on_what_slides_are_loads():
    """A double pendulum below the slider of a crank."""
    model = da.Model(plane="xz")
    for name, start, end in (("crank", (0, 0), (0, 0.1)), ("rod", (0, 0.1), (0.3, 0)), ("upper", (0.3, 0), (0.4, -0.3))):
        model.add_link(name, start, end, mass=1.0)
    model.add_link("lower", (0.4, -0.3), (0.4, -0.6), mass=1.0)
    model.add_body("slider", **da.box(1.0, (0.05, 0.05, 0.05)).body(), position=(0.3, 0))
    model.add_prismatic("guide", "ground", "slider", point=(0.3, 0), axis=(1, 0))
    for name, first, second, point in (
        ("A", "ground", "crank", (0, 0)),
        ("B", "crank", "rod", (0, 0.1)),
        ("C", "rod", "slider", (0.3, 0)),
        ("hook", "slider", "upper", (0.3, 0)),
        ("knee", "upper", "lower", (0.4, -0.3)),
    ):
        model.add_revolute(name, first, second, point=point)
    model.add_driver("motor", "A", da.Polynomial((0, 6.0)))
    assert len(left_free(compile(model))) == 1 and doubted(model) == []


@pytest.mark.parametrize(
    ("end", "told"),
    [((0.6, 0.3), True), ((0.55, 0.3), True), ((0.6, 0.31), False), ((0.6, 0.34), False)],
)
def test_an_end_on_a_bar_that_it_crosses(end, told):
    """The pendulum of a driven cart, and a bar that is held above it."""
    model = da.Model(plane="xz")
    model.add_body("cart", **da.box(1.0, (0.1, 0.1, 0.1)).body())
    model.add_prismatic("rail", "ground", "cart", point=(0, 0), axis=(1, 0))
    model.add_driver("shaker", "rail", da.Harmonic(0.1, 3.0))
    model.add_link("arm", (0, 0), end, mass=1.0)
    model.add_revolute("hinge", "cart", "arm", point=(0, 0))
    model.add_link("beam", (0.4, 0.3), (1.0, 0.3), mass=1.0)
    model.add_fixed("weld", "ground", "beam", point=(1.0, 0.3))
    assert doubted(model) == [ON.format("arm", "beam")] * told


def quarter_car(wheel="weld", **joints) -> da.Model:
    """A wishbone suspension on a road that is moved;  wheel : how it is held, beside its tyre"""
    model = da.Model(plane="xz")
    model.add_body("chassis", **da.box(300.0, (0.4, 0.4, 0.4)).body(), position=(0, 0.6))
    model.add_prismatic("rail", "ground", "chassis", point=(0, 0.6), axis=(0, 1))
    for name, z in (("lower", 0.4), ("upper", 0.6)):
        model.add_link(name, (0.2, z), (0.6, z), mass=3.0)
        model.add_revolute(f"{name} in", "chassis", name, point=(0.2, z))
    model.add_link("upright", (0.6, 0.4), (0.6, 0.6), mass=5.0)
    for name, z in (("lower", 0.4), ("upper", 0.6)):
        model.add_revolute(f"{name} out", name, "upright", point=(0.6, z))
    model.add_body("wheel", **da.disc(15.0, 0.3, axis="x").body(), position=(0.7, 0.5))
    if wheel == "weld":
        model.add_fixed("hub", "upright", "wheel", point=(0.6, 0.5))
    model.add_body("road", **da.box(1.0, (0.5, 0.5, 0.02)).body(), position=(0.7, 0.1))
    model.add_prismatic("bump", "ground", "road", point=(0.7, 0.1), axis=(0, 1))
    model.add_driver("shaker", "bump", da.Harmonic(0.02, 6.0))
    model.add_spring_damper("spring", "chassis", "lower", between=((0.2, 0.8), (0.4, 0.4)), stiffness=3e4, damping=2e3)
    model.add_spring_damper("tyre", "road", "upright" if wheel == "rope" else "wheel", stiffness=2e5, length=0.5)
    if wheel == "rope":
        model.add_spring_damper("rope", "upright", "wheel", stiffness=2e5)
    return model


def test_a_suspension_is_free_on_its_springs():
    """All bodies are named, and no joint is missing."""
    five = "'chassis', 'lower', 'upper', 'upright', 'wheel'"
    (told,) = left_free(compile(quarter_car()))
    assert told == f"besides what is driven, {five} are free to move together in 2 ways, on springs, motors or laws"
    assert doubts(quarter_car()) == [] and doubted(quarter_car()) == []


def test_a_wheel_that_no_joint_holds():
    """It has only its tyre; a load may hang on a rope that stretches."""
    alone = "'wheel' is joined to nothing by a joint, a spring alone holds it"
    (told,) = left_free(compile(quarter_car("")))
    assert told.startswith(f"besides what is driven, {alone};") and told.endswith(MISSING)
    assert doubts(quarter_car("")) == [f"{alone}: a joint may be missing"]
    assert doubts(quarter_car("rope")) == []

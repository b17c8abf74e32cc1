"""What force elements do: together with reactions and weight it moves every body, in every kind of coordinates; its powers."""

import numpy as np
import pytest
from random_mechanisms import SHAPES, planar_chain, random_model, usable_components

import dalembert as da
from dalembert.results.signals import signal

TIMES = np.linspace(0.0, 0.05, 4)


def pull(t, l, l_dot, k):
    return k * (l - 0.4) ** 3 + 0.3 * l_dot * np.cos(t)


def control(t, s, s_dot, gains):
    return gains[0] * np.sin(s) - gains[1] * s_dot + 0.1 * t


def attraction(t, r, R, v, w, k):
    return -k * r - 0.2 * v, 0.3 * R[:, 0] - 0.1 * w


def push(t, r, v, R, w, k):
    return k * np.array([np.sin(t), r[0], v[1]])


def with_laws(model: da.Model, seed: int) -> da.Model:
    """One more of every element that is a function of the user, and a bushing."""
    rng = np.random.default_rng(seed)
    rigid = [body for body in model.bodies if body.kind == "rigid"]
    first, second = rigid[0], rigid[-1]
    model.add_force("push", second, push, point=0.2 * rng.standard_normal(3), parameters={"k": 1.5})
    ends = {"points": 0.3 * rng.standard_normal((2, 3))}
    model.add_spring_damper("pull", first, second, force=pull, parameters={"k": 2.0}, **ends)
    model.add_interaction("attraction", second, first, attraction, parameters={"k": 1.2}, **ends)
    matrix = rng.standard_normal((6, 6))
    model.add_bushing("bushing", first, second, stiffness=matrix @ matrix.T, damping=[0.3] * 6, **ends)
    joints = [(joint, usable_components(joint)[-1]) for joint in model.joints if usable_components(joint)]
    if joints:
        model.add_joint_law("control", joints[:1] * (len(joints) == 1) or joints[:2], control, parameters={"gains": [0.7, 0.2]})
        model.add_motor("servo", *joints[0][:1], servo, component=joints[0][1], parameters={"k": 0.4})
    return model


def servo(t, s, s_dot, k):
    return -k * s - 0.1 * s_dot


def balance(solution: da.Solution) -> float:
    """The largest part of m a and of the rate of spin that efforts, reactions and weight leave unexplained, over its size."""
    model = solution.mechanism.model
    force, torque, size, about = {}, {}, 1.0, {}
    for body in model.bodies:
        R, w = solution.rotation(body.name), solution.angular_velocity(body.name, "body")
        spin = solution.angular_acceleration(body.name, "body") @ body.inertia.T + np.cross(w, w @ body.inertia.T)
        force[body.name] = body.mass * (model.gravity - solution.acceleration(body.name))
        torque[body.name] = -np.einsum("tij,tj->ti", R, spin)
        about[body.name] = solution.position(body.name)
        size = max(size, np.abs(force[body.name]).max())

    def acts(body: str, f: np.ndarray, m: np.ndarray, at: np.ndarray) -> None:
        if body != "ground":
            force[body] += f
            torque[body] += m + np.cross(at - about[body], f)

    for element in model.forces:
        effort = solution.effort(element)
        if element.coordinates > 1:
            assert effort.coordinate.shape == effort.value.shape == (len(solution.t), element.coordinates)
        for body, wrench in effort.on.items():
            acts(body, wrench.force, wrench.torque, wrench.point)
            size = max(size, np.abs(wrench.force).max(), np.abs(wrench.torque).max())
    for element in (*model.joints, *model.drivers):
        reaction = solution.reaction(element.name)
        acts(element.second, reaction.force, reaction.torque, reaction.point)
        acts(element.first, -reaction.force, -reaction.torque, reaction.point)
        size = max(size, np.abs(reaction.force).max(), np.abs(reaction.torque).max())
    rigid = [body.name for body in model.bodies if body.kind == "rigid"]
    left = [np.abs(force[body.name]).max() for body in model.bodies] + [np.abs(torque[name]).max() for name in rigid]
    return max(left) / size


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_efforts_reactions_and_weight_move_every_body(shape, seed):
    model = with_laws(random_model(seed, shape, 4), seed)
    solution = da.simulate(model, TIMES[-1], save_at=TIMES, integrator=da.RungeKutta4(step=0.0125))
    assert balance(solution) < 1e-9
    between = [element for element in model.forces if "ground" not in solution.effort(element).on]
    for element in between:  # action and reaction
        on = solution.effort(element).on
        if len(on) > 1:
            total = sum(wrench.force for wrench in on.values())
            turning = sum(wrench.torque + np.cross(wrench.point, wrench.force) for wrench in on.values())
            largest = max(np.abs(wrench.force).max() + np.abs(wrench.torque).max() for wrench in on.values())
            assert max(np.abs(total).max(), np.abs(turning).max()) < 1e-12 * max(largest, 1.0)


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_efforts_do_not_depend_on_coordinates(coordinates):
    solution = da.simulate(planar_chain(3), TIMES[-1], save_at=TIMES, coordinates=coordinates)
    assert balance(solution) < 1e-9
    motor = solution.effort("motor")
    assert np.abs(motor.value - 2.0 * np.sin(3.0 * solution.t)).max() < 1e-15
    assert np.array_equal(motor.coordinate, solution.coordinate("hinge 2"))
    assert np.abs(motor.power - motor.value * solution.coordinate_rate("hinge 2")).max() < 1e-12


def test_an_effort_tells_length_tension_power_and_energy_of_a_spring():
    model = da.Model(gravity=(0, 0, -9.81))
    model.add_point_mass("weight", mass=2.0, position=(0, 0, -1.2), velocity=(0.3, 0, 1))
    model.add_spring_damper("spring", model.ground, "weight", stiffness=50.0, damping=0.7, length=1.0)
    solution = da.simulate(model, 0.5)
    spring = solution.effort("spring")
    with pytest.raises(da.ModelError, match=r"^'spring' is a force element, no joint or driver; ask for effort\('spring'\)$"):
        solution.reaction("spring")
    d = solution.position("weight")
    l = np.linalg.norm(d, axis=1)
    rate = np.sum(d * solution.velocity("weight"), axis=1) / l
    tension = 50.0 * (l - 1.0) + 0.7 * rate
    for value, expected in (
        (spring.coordinate, l),
        (spring.rate, rate),
        (spring.value, tension),
        (spring.power, -tension * rate),
    ):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spring.energy, 25.0 * (l - 1.0) ** 2, rtol=0, atol=1e-13)
    np.testing.assert_allclose(spring.force, -tension[:, None] * d / l[:, None], rtol=0, atol=1e-12)
    assert np.array_equal(spring.on["ground"].force, -spring.force)
    assert not spring.on["ground"].point.any()
    np.testing.assert_allclose(spring.point, d, rtol=0, atol=0)
    np.testing.assert_allclose(solution.energy.potential - spring.energy, 2.0 * 9.81 * d[:, 2], rtol=0, atol=1e-12)


def driven(coordinates: str) -> da.Solution:
    """A slide on an arm that turns, a hand on the slide, all driven; in space the hand by the second angle of a Cardan joint,
    and a point of it off the arm besides, as seen from the arm."""
    model = da.Model(name="driven", plane="xz" if coordinates == "planar" else None)
    model.add_link("arm", (0, 0, 0), (0.5, 0, 0), mass=1.0)
    model.add_body("slide", **da.box(0.5, (0.1, 0.1, 0.1)).body(), position=(0.2, 0, 0))
    model.add_link("hand", (0.2, 0, 0), (0.2, 0, -0.3), mass=0.7)
    model.add_revolute("A", model.ground, "arm", point=(0, 0, 0), axis=(0, -1, 0))
    model.add_prismatic("S", "arm", "slide", point=(0.2, 0, 0), axis=(1, 0, 0))
    if coordinates == "planar":
        model.add_revolute("H", "slide", "hand", point=(0.2, 0, 0), axis=(0, -1, 0))
    else:
        model.add_universal("H", "slide", "hand", point=(0.2, 0, 0), axes=((0, 1, 0), (1, 0, 0)))
        seen = {"reference": "arm", "direction": (1, 0, 0), "point": (0, 0, 0.15)}
        model.add_point_driver("hold", "hand", motion=da.Harmonic(0.02, 4.0, offset=-0.05), **seen)
    model.add_driver("motor", "A", da.Polynomial((0.0, 2.0, 0.5)))
    model.add_driver("push", "S", da.Harmonic(0.1, 3.0))
    model.add_driver("turn", "H", da.Harmonic(0.4, 5.0), component=0 if coordinates == "planar" else 1)
    return da.simulate(model, 0.6, integrator=da.DOP853(rtol=1e-12, atol=1e-12))


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_drivers_tell_effort_and_power(coordinates):
    """What all of them give is what the energy grows by: their powers, integrated by Gauss, are the external work."""
    solution = driven(coordinates)
    names = {driver.name: driver.joint for driver in solution.model.drivers}
    nodes, weights = np.polynomial.legendre.leggauss(40)
    fine = solution(0.3 + 0.3 * nodes)
    power = sum(fine.effort(name).power for name in names)
    work = solution.energy.external_work
    assert abs(0.3 * np.sum(weights * power) - (work[-1] - work[0])) < 1e-9 * np.ptp(work)
    grown = solution.energy.kinetic + solution.energy.potential
    assert abs(grown[-1] - grown[0] - (work[-1] - work[0])) < 1e-9 * np.ptp(work)
    motions = {"motor": lambda t: 2.0 + t, "push": lambda t: 0.3 * np.cos(3 * t), "turn": lambda t: 2.0 * np.cos(5 * t)}
    for name, joint in names.items():
        effort = solution.effort(name)
        np.testing.assert_allclose(effort.value, solution.multiplier(name)[:, 0], rtol=0, atol=1e-9)
        if name in motions:
            component = 1 if name == "turn" and coordinates == "absolute" else 0
            coordinate = solution.coordinate(joint).reshape(len(solution.t), -1)[:, component]
            np.testing.assert_allclose(effort.coordinate, coordinate, rtol=0, atol=1e-10)
            np.testing.assert_allclose(effort.rate, motions[name](solution.t), rtol=0, atol=1e-10)
    assert np.array_equal(solution.effort("push").force, solution.reaction("push").force)
    assert np.array_equal(solution.effort("push").on["arm"].force, -solution.reaction("push").force)
    np.testing.assert_allclose(signal(solution, "motor.power").values, solution.effort("motor").power)
    np.testing.assert_allclose(signal(solution, "S.f").values, np.linalg.norm(solution.reaction("S").force, axis=1))
    np.testing.assert_allclose(signal(solution, "hand.v").values, np.linalg.norm(solution.velocity("hand"), axis=1))
    assert solution(0.3).effort("motor").power == pytest.approx(solution(np.array([0.3])).effort("motor").power[0])
    assert solution.plot.time("motor.power", "push.power").axes[0].get_ylabel() == "power [W]"


def test_points_have_velocities_and_accelerations():
    model = random_model(1, "tree", 3, drivers=False)
    fine = da.simulate(model, 0.02, save_at=np.linspace(0, 0.02, 9), integrator=da.DOP853(rtol=1e-12, atol=1e-12))
    p, h = (0.3, -0.2, 0.5), fine.t[1]
    for body in ("body 1", "body 3"):
        for of, rate in ((fine.point, fine.velocity), (fine.velocity, fine.acceleration)):
            values = of(body, p)
            middle = (values[0] - 8 * values[2] + 8 * values[6] - values[8]) / (24 * h)  # of steps 2 h, from both sides
            np.testing.assert_allclose(middle, rate(body, p)[4], rtol=0, atol=1e-6 * (1 + np.abs(values).max()))
        w = fine.angular_velocity(body)
        turning = (w[0] - 8 * w[2] + 8 * w[6] - w[8]) / (24 * h)
        np.testing.assert_allclose(turning, fine.angular_acceleration(body)[4], rtol=0, atol=1e-6 * (1 + np.abs(w).max()))
    assert not fine.acceleration("ground", p).any()
    with pytest.raises(da.ModelError, match=r"body 'body 1': point has shape \(2,\)"):
        fine.acceleration("body 1", (1, 2))
    with pytest.raises(da.ModelError, match="there is no force element or driver 'world forc'; did you mean 'world force'"):
        fine.effort("world forc")


def test_efforts_are_in_tables_and_ensembles(tmp_path):
    model = with_laws(planar_chain(2, spring=False), 2)
    solution = da.simulate(model, TIMES[-1], save_at=TIMES)
    data = solution.to_xarray()
    names = [force.name for force in model.forces]
    assert list(data["force_element"].values) == names
    control_ = solution.effort("control")
    assert np.array_equal(data["effort"].sel(effort_along=["control[0]", "control[1]"]), control_.value)
    assert np.array_equal(data["effort_force"].sel(force_element="pull"), solution.effort("pull").force)
    solution.save(tmp_path / "run.zarr")
    again = da.load(tmp_path / "run.zarr")
    assert np.array_equal(again.effort("bushing").value, solution.effort("bushing").value)
    with pytest.raises(da.ModelError, match=r"PointForce 'push'.* was not stored"):
        again.effort("push")
    assert np.isnan(again.to_xarray()["effort_force"].sel(force_element="push")).all()
    assert np.array_equal(da.load(tmp_path / "run.zarr", model=model).effort("push").force, solution.effort("push").force)
    x = solution.mechanism.x_0[None, : solution.mechanism.nq + solution.mechanism.nu].repeat(2, axis=0)
    many = da.simulate_many(model, TIMES[-1], initial_states=x, save_at=TIMES)
    assert many.effort("bushing").value.shape == (2, len(TIMES), 6)
    np.testing.assert_allclose(
        many.effort("bushing").on["rod 1"].force[1], solution.effort("bushing").on["rod 1"].force, rtol=0, atol=1e-8
    )


# distance from the default run: tolerances of 1e-9 for those with step control, steps of 1/200 s of second order for the others
WAYS = {
    "tree": ({"coordinates": "tree"}, 1e-8),
    "minimal": ({"formulation": da.Minimal()}, 1e-8),
    "gauss": ({"integrator": da.GaussLegendre(2)}, 1e-6),
    "energy": ({"formulation": da.MovingFrame(invariants="energy")}, 1e-8),
    "impulse": ({"formulation": da.Impulse(), "integrator": da.RungeKutta4(step=0.005)}, 1e-5),
    "variational": ({"formulation": da.Variational(), "integrator": da.FixedStep(step=0.005)}, 1e-5),
}


@pytest.mark.parametrize("way", WAYS)
def test_laws_act_alike_in_every_formulation(way):
    options, close = WAYS[way]
    times = [0.0, 0.01, 0.02]
    model = with_laws(planar_chain(2, n=2, spring=False), 2)
    one, other = da.simulate(model, 0.02, save_at=times), da.simulate(model, 0.02, save_at=times, **options)
    assert np.abs(one.position("rod 2") - other.position("rod 2")).max() < close
    assert np.abs(one.effort("bushing").value - other.effort("bushing").value).max() < 100 * close
    assert balance(other) < 1e-9


@pytest.mark.parametrize("coordinates", ["absolute", "planar"])
def test_a_single_state_has_what_the_solution_has(coordinates):
    model = da.Model()
    model.add_body("bar", mass=1.0, inertia=(0.1,) * 3, position=(0.5, 0, 0))
    model.add_revolute("A", model.ground, "bar", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_spring_damper("spring", model.ground, "bar", points=((0, 0, 1), (0.5, 0, 0)), stiffness=30.0, damping=1.0)
    run = da.simulate(model, t_end=0.2, coordinates=coordinates, integrator=da.RungeKutta4(step=0.05))
    state, k = run(float(run.t[2])), 2
    effort, whole = state.effort("spring"), run.effort("spring")
    assert abs(effort.value - whole.value[k]) <= 1e-12 and abs(effort.energy - whole.energy[k]) <= 1e-12
    np.testing.assert_allclose(effort.on["bar"].force, whole.on["bar"].force[k], rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.reaction("A").force, run.reaction("A").force[k], rtol=0, atol=1e-10)
    np.testing.assert_allclose(state.acceleration("bar"), run.acceleration("bar")[k], rtol=0, atol=1e-10)
    assert abs(state.energy.total - run.energy.total[k]) <= 1e-12
    with pytest.raises(AttributeError, match="has no 'colour'"):
        _ = state.colour
    soft = da.simulate(model, t_end=0.01, formulation=da.Soft(), integrator=da.SymplecticEuler(step=0.005))
    assert abs(soft(0.005).effort("spring").value - soft.effort("spring").value[1]) <= 1e-9
    with pytest.raises(da.ModelError, match="belong to the steps"):
        soft(0.004).reaction("A")

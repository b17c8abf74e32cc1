"""What an ensemble holds: outputs of all runs at once, runs that could not start, and all of it in a pickle."""

import pickle

import numpy as np
import pytest

import dalembert as da
from dalembert import gallery
from dalembert.formulations import evaluation

TIMES = np.linspace(0.0, 0.2, 3)


def linkage(length):
    """A crank of 1 m and a ground point 3 m away, held together by a rod: 2 m to 4 m long."""
    model = da.Model()
    model.add_body("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.5))
    model.add_revolute("bearing", model.ground, "crank", point=(0, 0, 0), axis=(0, 1, 0))
    model.add_distance("rod", model.ground, "crank", points=((3, 0, 0), (0, 0, 0.5)), length=length)
    return model


def pendulum(length):
    model = da.Model()
    model.add_body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(length, 0, 0), angular_velocity=(0, 1, 0))
    model.add_revolute("pivot", model.ground, "rod", point=(0, 0, 0), axis=(0, 1, 0))
    return model


def test_a_variant_that_cannot_be_assembled_fails_alone():
    with pytest.warns(RuntimeWarning, match=r"1 of 3 runs could not start; run 1 \(length = 1\): "):
        many = da.simulate_many(linkage, 0.2, parameters={"length": [3.0, 1.0, 3.5]}, save_at=TIMES)
    assert many.status.tolist() == ["complete", "failed", "complete"]
    assert many.message[1].startswith("run 1 (length = 1): ")
    assert many.message.keys() == {1}
    assert many[1].status == "failed"
    assert len(many[1].t) == 0
    got = many.position("crank")
    assert np.isnan(got[1]).all()
    for k, length in ((0, 3.0), (2, 3.5)):
        alone = da.simulate(linkage(length), 0.2, save_at=TIMES)
        np.testing.assert_allclose(got[k], alone.position("crank"), rtol=0, atol=1e-9)
    assert np.isnan(many.energy.total[1]).all()


def test_where_no_variant_can_be_made_the_first_says_why():
    with pytest.raises(da.AssemblyError, match=r"run 0 \(length = 1\): "):
        da.simulate_many(linkage, 0.2, parameters={"length": [1.0, 0.5]})


def check_outputs(many, body, joint):
    """Every output of the ensemble is that of its runs, to the bit: the same kernels at the same states."""
    for k, solution in enumerate(many):
        n = len(solution.t)
        for name in ("kinetic", "potential", "external_work", "total"):
            assert np.array_equal(getattr(many.energy, name)[k, :n], getattr(solution.energy, name))
        assert np.array_equal(many.reaction(joint).force[k, :n], solution.reaction(joint).force)
        assert np.array_equal(many.reaction(joint).torque[k, :n], solution.reaction(joint).torque)
        assert np.array_equal(many.multiplier(joint)[k, :n], solution.multiplier(joint))
        assert np.array_equal(many.acceleration(body)[k, :n], solution.acceleration(body))
        assert np.array_equal(many.drift.position[k, :n], solution.drift.position)
        assert np.array_equal(many.drift.by_joint(joint).velocity[k, :n], solution.drift.by_joint(joint).velocity)
    assert np.isfinite(many.reaction(joint).force).all()


@pytest.mark.parametrize("formulation", [da.Jet(), da.MovingFrame()], ids=repr)
def test_reactions_energies_and_accelerations_of_many_starts(formulation):
    mechanism = da.compile(gallery.slider_crank())
    s = da.simulate(mechanism, 1.0, save_at=np.linspace(0.0, 1.0, 4))
    states = np.hstack([s.q, s.u])
    many = da.simulate_many(mechanism, 0.2, initial_states=states, formulation=formulation, save_at=TIMES)
    check_outputs(many, "slider", "B")
    check_outputs(pickle.loads(pickle.dumps(many)), "slider", "B")


def test_reactions_energies_and_accelerations_of_variants():
    many = da.simulate_many(linkage, 0.2, parameters={"length": [3.0, 3.5]}, save_at=TIMES)
    check_outputs(many, "crank", "rod")
    check_outputs(pickle.loads(pickle.dumps(many)), "crank", "rod")


def test_variants_whose_solve_is_not_good_enough_are_evaluated_by_themselves(monkeypatch):
    many = da.simulate_many(pendulum, 0.2, parameters={"length": [3.0, 3.5]}, save_at=TIMES)
    check_outputs(many, "rod", "pivot")
    assert [len(evaluated.lam) for evaluated in many.evaluated_together()] == [3, 3]
    monkeypatch.setattr(evaluation, "LOST", -1.0)
    assert many.evaluated_together() == [None, None]
    fresh = da.simulate_many(pendulum, 0.2, parameters={"length": [3.0, 3.5]}, save_at=TIMES)
    check_outputs(fresh, "rod", "pivot")


def test_compliant_forces_of_many_starts():
    mechanism = da.compile(gallery.pendulum_3d())
    options = {"formulation": da.Soft(stiffness=1e6), "integrator": da.RungeKutta4(step=1e-3), "save_at": TIMES}
    many = da.simulate_many(mechanism, 0.2, initial_states=[mechanism.x_0, mechanism.x_0], **options)
    joint, body = mechanism.model.joints[0].name, mechanism.model.bodies[0].name
    check_outputs(many, body, joint)
    assert np.array_equal(many.impulse(joint).force[1], many[1].impulse(joint).force)


def test_a_pickle_has_everything():
    many = da.simulate_many(
        gallery.oscillator(), 0.2, initial_states=[[1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]], save_at=TIMES
    )
    again = pickle.loads(pickle.dumps(many))
    assert repr(again) == repr(many)
    assert again.status.tolist() == many.status.tolist()
    assert np.array_equal(again.energy.total, many.energy.total)
    for one, other in zip(many, again, strict=True):
        assert np.array_equal(one.x, other.x)
        assert one.statistics == other.statistics
        assert other.report().passed == one.report().passed
    with pytest.raises(AttributeError, match=r"an Ensemble has no 'speed'; it has position, .*reaction, .*energy"):
        again.speed  # noqa: B018


def wire(slope):
    model = da.Model()
    model.add_point_mass("bead", mass=1.0)
    model.add_constraint("wire", lambda bead: [bead.r[2] - slope * bead.r[0], bead.r[1]], "bead")
    return model


def pushed(mass):
    model = da.Model(gravity=(0, 0, 0))
    model.add_point_mass("p", mass=mass)
    model.add_force("push", "p", lambda t: (1.0, 0.0, 0.0))
    return model


def test_parameters_inside_functions_are_another_structure():
    """One compiled function does not serve all runs: each slides down its own slope, with half of g along one of 45 degrees."""
    with pytest.warns(RuntimeWarning, match="the runs have 2 structures, each compiled by itself"):
        many = da.simulate_many(wire, 0.2, parameters={"slope": [0.0, 1.0]})
    np.testing.assert_allclose(many[0].position("bead")[-1], (0.0, 0.0, 0.0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(many[1].position("bead")[-1], np.array((-1.0, 0.0, -1.0)) * 9.81 / 4 * 0.2**2, rtol=0, atol=1e-9)


def test_functions_that_are_the_same_in_all_variants():
    many = da.simulate_many(pushed, 2.0, parameters={"mass": [1.0, 2.0]})
    np.testing.assert_allclose(many.position("p")[:, -1, 0], [2.0, 1.0], rtol=1e-9)

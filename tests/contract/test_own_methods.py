"""A formulation and an integrator of one's own, registered by a page of the documentation: the contract holds for them too."""

import numpy as np
import pytest
import test_docs
import test_integrators as contract

import dalembert as da
from dalembert.formulations import FORMULATIONS, Formulation
from dalembert.integrators import INTEGRATORS

PAGE = test_docs.DOCS / "howto" / "own_method.md"


@pytest.fixture
def registered():
    test_docs.run_blocks(PAGE)
    assert {"least-energy"} <= set(FORMULATIONS) and {"heun"} <= set(INTEGRATORS)


@pytest.mark.parametrize("pair", [("least-energy", "heun"), ("least-energy", "rk4"), ("jet", "heun"), ("moving-frame", "heun")])
@pytest.mark.parametrize("promise", [name for name in dir(contract) if getattr(contract, name) in (
    contract.test_runs_to_the_end_exactly,
    contract.test_saves_at_the_given_times_exactly,
    contract.test_is_deterministic,
    contract.test_callable_solution_meets_saved_states,
    contract.test_settings_and_citations_travel_with_the_solution,
)])  # fmt: skip
def test_contract_holds(registered, pair, promise):
    assert FORMULATIONS[pair[0]]().takes(INTEGRATORS[pair[1]](step=contract.STEP)) is None
    getattr(contract, promise)(*pair)


@pytest.mark.nojit
def test_options_rebuild(registered):
    for cls in (FORMULATIONS["least-energy"], INTEGRATORS["heun"]):
        assert cls.__module__ == "page"
        contract.test_options_rebuild_from_repr_and_from_data(cls)


@pytest.mark.nojit
def test_command_line_and_pairs_know_them(registered):
    from dalembert.cli.method import Method

    chosen = Method("least-energy", integrator="heun", step=0.1)
    assert type(chosen.make_formulation()).__name__ == "LeastEnergy"
    assert chosen.make_integrator().order == 2
    with pytest.raises(da.ModelError, match=r"Minimal or LeastEnergy with Euler, .*, StoermerVerlet or Heun;"):
        da.simulate(contract.small_model(), 1.0, formulation="jet")


def pendulum(length=0.4):
    model = da.Model()
    bob = model.add_point_mass("bob", mass=1.0, position=(length, 0, 0))
    model.add_distance("rod", model.ground, bob, points=((0, 0, 0), (0, 0, 0)))
    return model


@pytest.mark.nojit
def test_sensitivities_go_with_what_says_that_it_has_them(registered):
    """They went with three names of classes."""
    options = {"integrator": INTEGRATORS["heun"](step=0.01), "sensitivities": ["length"]}
    ways = (FORMULATIONS["least-energy"](), da.Jet(metric="mass", tolerance=1e-12))
    found, expected = (da.simulate(pendulum, 0.03, formulation=way, **options).sensitivities.states for way in ways)
    assert np.any(expected != 0.0)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(da.ModelError, match="with Impulse: they go with one of Jet, MovingFrame, Minimal, LeastEnergy"):
        da.simulate(pendulum, 0.03, formulation=da.Impulse(), **options)


@pytest.mark.nojit
@pytest.mark.parametrize(
    ("register", "name", "made", "text"),
    [
        (da.register_formulation, "Jet 2", da.Jet, "give words of small letters"),
        (da.register_formulation, "other", object, "give a dataclass that inherits from Formulation"),
        (da.register_formulation, "other", da.Jet, "Jet is registered as 'jet' already"),
        (da.register_integrator, "euler", da.Midpoint, "Euler is registered as 'euler' already"),
        (da.register_integrator, "own", da.Jet, "give a dataclass that inherits from Integrator"),
    ],
)
def test_registration_is_checked(register, name, made, text):
    with pytest.raises(da.ModelError, match=text):
        register(name, made)


@pytest.mark.nojit
def test_protocol_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Formulation()

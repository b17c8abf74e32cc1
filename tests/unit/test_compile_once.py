"""A model is flattened once while it is compiled, and packed as rarely as can be; commands assemble no second time."""

import pytest
from typer.testing import CliRunner

import dalembert as da
from dalembert import gallery
from dalembert.cli import app
from dalembert.compilation import assembly, compile

pytestmark = pytest.mark.nojit


@pytest.fixture
def counts(monkeypatch):
    made = {"flatten": 0, "pack": 0}

    def counted(name):
        function = getattr(assembly, name)

        def call(*arguments, **options):
            made[name] += 1
            return function(*arguments, **options)

        return call

    for name in made:
        call = counted(name)
        for module in (assembly, compile):
            monkeypatch.setattr(module, name, call, raising=False)
    return made


@pytest.mark.parametrize(
    ("name", "coordinates", "packs"),
    [
        ("slider_crank", "absolute", 1),
        ("slider_crank", "tree", 1),
        ("bricard", "absolute", 1),  # redundant rows only add to the tables
        ("planar_quadrangle", "planar", 1),  # in space for assembly, then arranged in the plane
    ],
)
def test_flattened_once(counts, name, coordinates, packs):
    mechanism = da.compile(gallery.build(name), coordinates)
    assert counts == {"flatten": 1, "pack": packs}
    assert str(mechanism.assembly) == str(mechanism.model.assemble())


def test_given_coordinates_cost_nothing_more(counts):
    model = da.Model()
    arm = model.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.02), position=(0.5, 0, 0))
    model.add_revolute("hinge", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0), coordinate=0.3, rate=1.0)
    mechanism = da.compile(model)
    assert counts == {"flatten": 1, "pack": 1}
    assert len(mechanism.rows) == 5


def test_check_assembles_once(counts):
    assert CliRunner().invoke(app, ["check", "slider_crank"]).exit_code == 0
    assert counts == {"flatten": 1, "pack": 1}

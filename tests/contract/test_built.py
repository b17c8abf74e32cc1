"""The page that says how the library is built names files that exist, and the stages that the order of imports has."""

import re
from pathlib import Path

import pytest
import test_package_order

import dalembert

SOURCE = Path(dalembert.__file__).parent
ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "built.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`([\w/]+\.py)`", TEXT)))
pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("name", FILES)
def test_named_files_exist(name):
    assert (SOURCE / name).is_file() or (ROOT / name).is_file()


def test_stages_are_those_of_the_imports():
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT, re.MULTILINE)
    stages = [test_package_order.STAGE[package] for row in rows for package in re.findall(r"`(\w+)`", row)]
    assert len(stages) > 10 and stages == sorted(stages)


def test_rows_of_the_registries_are_public_names(monkeypatch):
    """One that was just added needs no line in the package's own list."""
    from dalembert import formulations, integrators

    registered = (*formulations.FORMULATIONS.values(), *integrators.INTEGRATORS.values())
    for cls in registered:
        if cls.__module__.startswith("dalembert"):
            assert getattr(dalembert, cls.__name__) is cls
    monkeypatch.setattr(integrators, "Heun", type("Heun", (), {}), raising=False)
    assert dalembert.Heun is integrators.Heun
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        dalembert.Nothing  # noqa: B018

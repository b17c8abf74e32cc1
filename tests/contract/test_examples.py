"""Every example runs and checks its own physics."""

import runpy
import shutil
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_example(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(shutil.copy(file, tmp_path), run_name="__main__")
    assert callable(names["check"]) and callable(names["build"])
    assert (tmp_path / f"{file.stem}.png").stat().st_size > 10_000
    assert 30 <= len(file.read_text(encoding="utf-8").splitlines()) <= 80

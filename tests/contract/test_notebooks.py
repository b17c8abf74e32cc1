"""The notebooks in examples/notebooks are what their script writes, show what they store, and run in a real kernel."""

import copy
import json
import re
import runpy
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from dalembert.kernels.base.told import SAID

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
WRITTEN = runpy.run_path(str(FOLDER / "write.py"))
SHOWN = {"tutorial": "1 degree of freedom", "how_exact": "not trusted: ", "vibrations": "stable", "many_runs": "5 complete"}


def printed(cell):
    """The numbers that a cell prints, but not times of the processor."""
    text = "".join("".join(output["text"]) for output in cell.outputs if output["output_type"] == "stream")
    return [float(number) for number in re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", re.sub(r"[\d.]+ m?s\b", "", text))]


def kinds(cell):
    """What a cell shows, in which forms."""
    return [(output["output_type"], sorted(output.get("data", ()))) for output in cell.outputs]


def test_files_are_what_the_script_writes():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(WRITTEN["NOTEBOOKS"])
    for name in WRITTEN["NOTEBOOKS"]:
        book = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                assert cell["outputs"], f"{name}: a cell shows nothing; run `python examples/notebooks/write.py {name}`"
                cell["outputs"], cell["execution_count"] = [], None
        assert book == json.loads(WRITTEN["notebook"](name))


def test_notebooks_run_and_show_what_they_store(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in sorted(FOLDER.glob("*.ipynb"))}
    stored = copy.deepcopy(notebooks)
    for notebook in notebooks.values():
        nbformat.validate(notebook)
    together = nbformat.v4.new_notebook(cells=[cell for notebook in notebooks.values() for cell in notebook.cells])
    monkeypatch.chdir(tmp_path)
    nbclient.NotebookClient(together, timeout=300, kernel_name="python3").execute()  # one kernel, so that it starts once
    for cell in together.cells:  # with an empty cache, one says that kernels are compiled
        cell.outputs = [output for output in cell.get("outputs", ()) if output.get("text", "").strip() != SAID]
    for name, notebook in notebooks.items():
        cells = [pair for pair in zip(notebook.cells, stored[name].cells, strict=True) if pair[0].cell_type == "code"]
        for now, then in cells:
            assert kinds(now) == kinds(then), name
            if name != "choose_a_method":  # which says what was fastest
                assert_allclose(printed(now), printed(then), rtol=1e-6, atol=1e-15)  # zeros are rounded
        for outputs in ([output for pair in cells for output in pair[k].outputs] for k in (0, 1)):
            assert not [output for output in outputs if output.get("name") == "stderr"], name
            html = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
            assert SHOWN.get(name, "") in html and "&lt;pre" not in html
            assert sum(len(str(output)) for output in outputs) < 300_000, name

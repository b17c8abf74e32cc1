"""The notebooks in examples/notebooks are what their script writes, and run in a real kernel, one after the other."""

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
WRITTEN = runpy.run_path(str(FOLDER / "write.py"))
SHOWN = {"tutorial": "1 degree of freedom", "how_exact": "not trusted: ", "vibrations": "stable", "many_runs": "5 complete"}


def test_files_are_what_the_script_writes():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(WRITTEN["NOTEBOOKS"])
    for name in WRITTEN["NOTEBOOKS"]:
        assert (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8") == WRITTEN["notebook"](name)


def test_notebooks_run(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebooks = {path.stem: nbformat.read(path, as_version=4) for path in sorted(FOLDER.glob("*.ipynb"))}
    for notebook in notebooks.values():
        nbformat.validate(notebook)
    together = nbformat.v4.new_notebook(cells=[cell for notebook in notebooks.values() for cell in notebook.cells])
    monkeypatch.chdir(tmp_path)
    nbclient.NotebookClient(together, timeout=300, kernel_name="python3").execute()  # one kernel, so that it starts once
    for name, notebook in notebooks.items():
        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        assert not [output for output in outputs if output.get("name") == "stderr"], name
        html = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
        assert SHOWN.get(name, "") in html and "&lt;pre" not in html
        assert sum(len(str(output)) for output in outputs) < 1_000_000, name

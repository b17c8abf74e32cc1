"""The pages of docs/ tell the truth: their Python blocks run, their citations resolve, the site knows every public name."""

import inspect
import re
import runpy
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dalembert as da
from dalembert.plot.style import new_figure
from dalembert.results.citation import load_references

DOCS = Path(__file__).parents[2] / "docs"
MADE = {"_build", "gallery"}  # by docs/build.py
PAGES = sorted(page for page in DOCS.rglob("*.md") if not MADE & set(page.relative_to(DOCS).parts))
EXAMPLES = sorted((DOCS.parent / "examples").glob("*.py"))
sys.path.insert(0, str(DOCS / "extensions"))

import joint_drawings  # noqa: E402
from code_blocks import python_blocks, ran, run_blocks, with_output  # noqa: E402
from house_docstrings import to_rst  # noqa: E402


def name_of(page):
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page.read_text(encoding="utf-8"))], ids=name_of)
def test_blocks_run_print_and_draw(page):
    """All that the site shows below them is there afterwards."""
    text = page.read_text(encoding="utf-8")
    folder, printed = ran(page)
    for (line, code), output in zip(python_blocks(text), printed, strict=True):
        assert bool(output.strip()) == ("print(" in code), f"{page}:{line}"
    shown = set(re.findall(r"_build/pictures/([\w.-]+)", text)) - {f"{file.stem}.png" for file in EXAMPLES}
    assert {name for name in shown if not name.startswith(("gallery_", "joints")) and not (folder / name).exists()} == set()


def test_code_is_no_wider_than_its_pages():
    """A page shows 100 columns beside its sidebars; the file that `dalembert new` writes is shown as it is."""
    starter = (DOCS.parent / "src/dalembert/model/file/starter.yaml").read_text(encoding="utf-8")
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace(starter, "")
        for code in re.findall(r"^ *```(?:python|py|sh|text|yaml)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
            widest = max(code.splitlines(), key=len, default="")
            assert len(widest) <= 100, f"{name_of(page)}: {widest}"


def test_what_a_block_prints_is_shown_below_it():
    text = "# A page\n\n```python\nprint(1)\n```\n\ntext\n\n- item\n\n  ```python\n  a = 2\n  ```\n"
    assert with_output(text, ["1\n", ""]) == text.replace(
        "print(1)\n```\n", "print(1)\n```\n\n````{code-block} text\n:class: output\n\n1\n````\n"
    )
    assert "line 58\n...\n````" in with_output(text, ["".join(f"line {k}\n" for k in range(100)), ""])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_citations_resolve(page):
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    cited = {match[1] for match in re.finditer(r"(?<![\w\])!])\[([A-Z][A-Za-z]{4,}\d{0,4})(?:, [^\]]+)?\](?![(:])", text)}
    assert cited <= set(load_references())


def test_pages_can_be_read_without_being_built():
    """Code is in the page itself, not named by a directive that a code host does not follow; and it is that of the files. How
    pictures are made is told on the page or on its folder's first."""
    for page in (page for page in PAGES if "_build/pictures" in page.read_text(encoding="utf-8")):
        texts = [place.read_text(encoding="utf-8") for place in (page, page.parent / "index.md")]
        assert any("`python docs/build.py` draws them" in text for text in texts), page
    assert [name_of(page) for page in PAGES if "{literalinclude}" in page.read_text(encoding="utf-8")] == []
    text = (DOCS / "examples.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(\.\./(examples/\w+\.py)\):\n\n```py\n(.*?)```\n", text, re.DOTALL)
    assert len(shown) == text.count("```py\n") == 3
    for file, code in shown:
        assert code in (DOCS.parent / file).read_text(encoding="utf-8"), file
    starter = (DOCS.parent / "src/dalembert/model/file/starter.yaml").read_text(encoding="utf-8")
    assert f"```yaml\n{starter}```\n" in (DOCS / "howto" / "model_files.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", da.gallery.GALLERY.values(), ids=lambda entry: entry.name)
def test_the_code_of_a_mechanism_runs_as_its_page_shows_it(entry, tmp_path):
    from gallery_code import code_of

    file = tmp_path / "pasted.py"
    file.write_text(code_of(entry), encoding="utf-8")
    pasted = runpy.run_path(str(file), run_name=entry.function.__module__)  # functions in a model are known by their module
    assert pasted["model"].hash == entry.build().hash


def test_errors_name_the_page_and_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\na = 1\n```\n\ntext\n\n```python\n\nraise ValueError(a)\n```\n")
    with pytest.raises(ValueError) as caught:
        run_blocks(page)
    last = caught.traceback[-1]
    assert (last.path, last.lineno + 1) == (page, 11)


def test_reference_has_every_public_name():
    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^\.\. auto\w+:: (\w+)(?:\(\))?$", text, re.MULTILINE))
    assert set(da.__all__) <= described


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="#here"></a><a href="b.html#there"></a><img src="c.png"></p>')
    (tmp_path / "b.html").write_text('<p id="where"><a href="a.html#here"></a><a href="https://elsewhere.example/x"></a></p>')
    broken_links = runpy.run_path(str(DOCS / "build.py"))["broken_links"]
    assert sorted(broken_links(tmp_path)) == ["a.html -> b.html#there", "a.html -> c.png"]
    (tmp_path / "c.png").touch()
    (tmp_path / "b.html").write_text('<p id="there"></p>')
    assert broken_links(tmp_path) == []


def test_docstrings_become_paragraphs_formulas_and_terms():
    text = """What it does, with |x| and x_1.

    q' = N u                  [JetMultibody, 3]

step : of the run [s];  order : 1 to 8,
    also for `Jet`
or more than that
Other options are fixed."""
    lines = [line for line in to_rst(text.splitlines()) if line]
    assert lines[0] == r"What it does, with \|x\| and x\_1."
    assert lines[1] == "::" and lines[2].strip() == "q' = N u                  [JetMultibody, 3]"
    assert lines[3:7] == ["``step``", "    of the run [s]", "``order``", "    1 to 8, also for ``Jet`` or more than that"]
    assert lines[7] == "Other options are fixed."


def documented(found, thing, name):
    """Names and docstrings of what the package offers, and of its parts."""
    ours = str(getattr(thing, "__module__", "")).startswith("dalembert") or isinstance(thing, property)
    if ours and name not in found and (inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, property)):
        found[name] = inspect.getdoc(thing) or ""
        for part, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
            if not part.startswith("_"):
                documented(found, value, f"{name}.{part}")
    return found


def test_arguments_do_not_run_together():
    """Each `name : meaning` is a term of its own; two spaces behind a semicolon are left in formulas only."""
    found = {}
    for name in da.__all__:
        documented(found, getattr(da, name), name)
    assert {"Model.add_body", "Model.add_revolute", "compare"} <= found.keys()
    for name, text in found.items():
        plain = [line for line in to_rst(text.splitlines()) if not line.startswith(" " * 8)]
        together = [line for line in plain if ";  " in line and " = " not in line]
        assert together == [], name
    lines = to_rst(found["Model.add_body"].splitlines())
    terms = [line.strip("`") for line in lines if line.startswith("``")]
    assert ", ".join(terms) == "mass, inertia, position, rotation, velocity, angular_velocity, fixed, shape"


def test_the_site_knows_every_verb_by_the_name_that_is_called():
    """Sphinx's search finds what is in its index of objects: `Model.add_revolute`, not a mixin without index."""
    text = (DOCS / "reference" / "model.md").read_text(encoding="utf-8")
    assert ":no-index:" not in text
    listed = set(re.findall(r":members: (.*)", text)[0].split(", "))
    for module, mixin in re.findall(r"```\{verbs\} (\S+)\.(\w+)", text):
        listed |= set(dir(getattr(import_module(module), mixin)))
    assert {name for name in dir(da.Model) if name.startswith("add_")} <= listed


def test_performance_page_shows_plots_of_its_tables_which_are_folded(tmp_path, monkeypatch):
    """All but the two of single runs can be drawn again from the page."""
    monkeypatch.syspath_prepend(DOCS.parent)
    from benchmarks.peers import page_plots

    page = DOCS / "performance.md"
    text = page.read_text(encoding="utf-8").partition("% begin results")[2].partition("% end results")[0]
    page_plots.draw(page, tmp_path)
    drawn = {file.name for file in tmp_path.iterdir()} | {"chains.png", "slider_crank.png"}
    assert set(re.findall(r"\(performance/(\w+\.png)\)", text)) == drawn
    opened = re.sub(r":::\{dropdown\}.*?\n:::\n", "", text, flags=re.DOTALL)
    assert "\n|" not in opened
    assert opened.count("\n![") == opened.count("\n## ") == 5


def test_the_theme_is_told_its_mode():
    """Without it the theme's script complains in the console of every page."""
    assert runpy.run_path(str(DOCS / "conf.py"))["html_context"]["default_mode"] == "auto"


def test_sources_of_expected_values_are_no_memories():
    folders = (DOCS.parent / "src" / "dalembert" / "benchmark" / "data", DOCS.parent / "tests" / "data")
    files = [file for folder in folders for file in folder.glob("*.json")]
    assert len(files) > 30
    assert [file.name for file in files if "from memory" in file.read_text(encoding="utf-8")] == []


def test_every_verb_has_a_drawing(tmp_path):
    """In the families and the order of the README's list, each unlike the others but for two names of one joint."""
    import element_drawings

    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    listed = re.search("<!-- verbs -->(.*?)<!-- end of verbs -->", text, re.DOTALL)[1].split("\n- ")[2:]  # without bodies
    families = element_drawings.FAMILIES.values()
    assert [re.findall(r"`(add_\w+)`", line) for line in listed] == [list(family) for family in families]
    element_drawings.draw(tmp_path)
    drawn = {file.stem: file.read_bytes() for file in tmp_path.glob("*.png")}
    assert len(set(drawn.values())) == len(drawn) == sum(map(len, families))


def test_the_reference_shows_every_drawing_once():
    import element_drawings

    text = (DOCS / "reference" / "model.md").read_text(encoding="utf-8")
    assert re.findall(r"```\{drawings\} (\w+)", text) == list(element_drawings.FAMILIES)


@pytest.mark.parametrize("kind", joint_drawings.SHOWN_JOINTS)
def test_names_of_axes_stand_apart(kind):
    """In the drawing of every joint with coordinates, also where frames coincide."""
    figure = new_figure(2.3, 2.2)
    ax = figure.add_subplot(xlim=(-1.3, 1.3), ylim=(-0.8, 1.5), aspect="equal")
    joint_drawings._draw_joint(ax, *joint_drawings.assembled(kind))
    figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent().padded(3) for text in ax.texts if text.get_text()}
    assert len(boxes) == 6
    near = [(a, b) for a in boxes for b in boxes if a < b and boxes[a].overlaps(boxes[b])]
    assert near == []

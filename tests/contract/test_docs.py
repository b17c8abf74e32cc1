"""The pages of docs/ tell the truth: their Python blocks run, their citations resolve, the site knows every public name."""

import re
import sys
from pathlib import Path

import pytest

import dalembert as da
from dalembert.citation import load_references

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
sys.path.insert(0, str(DOCS / "extensions"))

from code_blocks import python_blocks, run_blocks  # noqa: E402


def name_of(page):
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page.read_text(encoding="utf-8"))], ids=name_of)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "da" in run_blocks(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_citations_resolve(page):
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    cited = {match[1] for match in re.finditer(r"(?<![\w\])!])\[([A-Z][A-Za-z]{4,}\d{0,4})(?:, [^\]]+)?\](?![(:])", text)}
    assert cited <= set(load_references())


def test_errors_name_the_page_and_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n```python\na = 1\n```\n\ntext\n\n```python\n\nraise ValueError(a)\n```\n")
    with pytest.raises(ValueError) as caught:
        run_blocks(page)
    last = caught.traceback[-1]
    assert (last.path, last.lineno + 1) == (page, 11)


def test_reference_has_every_public_name():
    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    described = set(re.findall(r"^\.\. auto\w+:: (\w+)$", text, re.MULTILINE))
    assert set(da.__all__) <= described

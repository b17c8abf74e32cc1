"""Every citation in a docstring or a comment resolves in references.bib."""

import ast
import io
import re
import tokenize
from pathlib import Path
from types import SimpleNamespace

import pytest

from dalembert.errors import DalembertError
from dalembert.results.citation import cite, load_references, parse_bibtex

SOURCE = Path(__file__).parents[2] / "src" / "dalembert"

# [Key] or [Key, place]; not a subscript such as list[Body].
CITATION = re.compile(r"(?<![\w\])])\[([A-Z][A-Za-z]+[0-9]{0,4}[a-z]?)(,[^\]]*)?\]")
# The short names the theory notes use for the sources; in code the keys are written out.
SHORT = re.compile(r"(?<![\w\])])\[(Jet|MFM|Var|Notes|QR)(?=[\s,\]])")
PLACE = re.compile(r"\d|Lemma|Table|Algorithm|Fig|Sec|App")


def prose_of(source):
    """Docstrings and comments of a module, as (line, text)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            if docstring:
                yield node.body[0].lineno, docstring
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def is_key(name, place):
    """Whether a bracketed word is meant as a citation: five letters or more, a year, or a place such as 5.3."""
    letters = sum(map(str.isalpha, name))
    return letters >= 5 or name[-4:].isdigit() or (letters > 1 and place is not None and bool(PLACE.search(place)))


def citations_in(source):
    """All citation keys of a module, as (line, column in the text, key)."""
    found = set()
    for line, text in prose_of(source):
        for match in (*CITATION.finditer(text), *SHORT.finditer(text)):
            if match.re is SHORT or is_key(match[1], match[2]):
                found.add((line + text.count("\n", 0, match.start()), match.start(), match[1]))
    return sorted(found)


def unknown_citations(source, references):
    return [f"line {line}: [{key}]" for line, _, key in citations_in(source) if key not in references]


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_citations_resolve(file):
    unknown = unknown_citations(file.read_text(encoding="utf-8"), load_references())
    assert not unknown, f"{file.name}: not in references.bib: {unknown}"


def test_unknown_keys_are_caught():
    source = '''
"""Module [NobodyKnows2020].

    x = 1                                  [Jet, 5.3]
"""
def f(a: list[Body]) -> dict[Mechanism]:
    """Known [JetMultibody, Lemma 3.1] and [Featherstone2008]; unknown [Smith1999, p. 3] and [Jet 5.3].

    Units and brackets that cite nothing: [rad/s], [N m], [Pa], [Nm], list[Joint], [G; Gamma], [M, h], [0, 1], [-].
    """
    return x  # [Imaginary, eq. 4]
'''
    unknown = unknown_citations(source, load_references())
    assert unknown == [
        "line 2: [NobodyKnows2020]",
        "line 4: [Jet]",
        "line 7: [Smith1999]",
        "line 7: [Jet]",
        "line 11: [Imaginary]",
    ]


def test_references_are_complete():
    references = load_references()
    assert {"JetMultibody", "MovingFrame", "Variational", "ConstraintNotes", "QRContinuation", "IFToMM"} <= set(references)
    for key, fields in references.items():
        assert CITATION.fullmatch(f"[{key}]"), key
        assert is_key(key, None), key
        assert fields["title"], key
        assert key[-4:] == fields["year"] if key[-4:].isdigit() else True, key


def test_cite_formats_each_reference_once():
    text = cite(SimpleNamespace(citations=("JetMultibody", "DormandPrince1980", "JetMultibody")))
    assert text.splitlines() == [
        "[JetMultibody] Jukka Tuomela, Teijo Arponen and Villesamuli Normi. On the simulation of multibody systems "
        "with holonomic constraints. Helsinki University of Technology, Institute of Mathematics, "
        "Research Reports A509, 2006",
        "[DormandPrince1980] J. R. Dormand and P. J. Prince. A family of embedded Runge-Kutta formulae. "
        "Journal of Computational and Applied Mathematics, 6(1), 19-26, 1980. doi:10.1016/0771-050X(80)90013-3",
    ]
    assert cite("IFToMM").startswith("[IFToMM] IFToMM Technical Committee for Multibody Dynamics. Library")
    assert cite(["IFToMM"]) == cite("IFToMM")
    assert cite([]) == ""


def test_unknown_key_suggests_the_nearest():
    with pytest.raises(DalembertError, match=r"no reference has the key 'DormandPrince1981'; did you mean 'DormandPrince1980'"):
        cite("DormandPrince1981")


def test_bibtex_reader():
    text = "% @book{No, title = {x}}\n@Book{A1, Title = {The {QR}\n  method}, year={1999}}\n@misc{B2,\n note = {n},\n}"
    assert parse_bibtex(text) == {
        "A1": {"entry": "book", "title": "The QR method", "year": "1999"},
        "B2": {"entry": "misc", "note": "n"},
    }
    with pytest.raises(DalembertError, match="entry 'A1' has a brace that is never closed"):
        parse_bibtex("@book{A1, title = {x")
    with pytest.raises(DalembertError, match="key 'A1' appears twice"):
        parse_bibtex("@book{A1, title = {x}}\n@book{A1, title = {x}}")

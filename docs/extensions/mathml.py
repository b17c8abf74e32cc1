"""Formulas as MathML, which browsers draw by themselves: no script, nothing fetched from elsewhere."""

from __future__ import annotations

import html
import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import latex2mathml, pick_math_environment
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number


def _mathml(source: str, block: bool) -> str:
    try:
        made = latex2mathml.tex2mathml(source)
    except Exception as problem:
        raise ExtensionError(f"formula {source!r}: {problem}") from problem
    ElementTree.register_namespace("", "http://www.w3.org/1998/Math/MathML")
    tree = ElementTree.fromstring(re.sub(r"&(?!lt|gt|amp)\w+;", lambda entity: html.unescape(entity[0]), made))
    _set_indices_aside(tree)
    if block:
        tree.set("display", "block")
    return ElementTree.tostring(tree, encoding="unicode")


def _set_indices_aside(tree: ElementTree.Element) -> None:
    """The converter puts the index of an accented letter below it; it belongs to its right."""
    for node in tree.iter():
        if node.tag.endswith("munderover") and not node[0].tag.endswith("mo"):
            space = node.tag.removesuffix("munderover")
            letter, index, accent = list(node)
            over = ElementTree.Element(space + "mover", {"accent": "true"})
            over.extend([letter, accent])
            node.tag = space + "msub"
            node[:] = [over, index]


def visit_inline(self: Any, node: nodes.math) -> None:
    """A formula in the text."""
    self.body.append(_mathml(node.astext(), block=False))
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """A formula on its own, with its number when it has a label."""
    source = node.astext().strip()
    if pick_math_environment(source) == "align*":
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    self.body.append(self.starttag(node, "div", CLASS="math notranslate"))
    self.body.append(_mathml(source, block=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""`[Key]` and `[Key, place]` become links to the page of sources, in pages and docstrings alike."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from dalembert.results.citation import cite, load_references


class Sources(Directive):
    """All sources of references.bib, each with its key as target."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        sources = nodes.definition_list(classes=["sources"])
        for key in sorted(load_references(), key=str.lower):
            item = nodes.definition_list_item("", nodes.term("", key, ids=[_anchor(key)]))
            item += nodes.definition("", nodes.paragraph("", cite(key).partition("] ")[2]))
            sources += item
        return [sources]


class LinkCitations(SphinxTransform):
    """Text that cites a known key."""

    default_priority = 750

    def apply(self, **kwargs: Any) -> None:
        """Called by Sphinx."""
        cited = re.compile(rf"\[({'|'.join(map(re.escape, load_references()))})(, [^\]]+)?\]")
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.reference | addnodes.pending_xref):
                continue
            parts, done = [], 0
            for match in cited.finditer(text):
                parts += [nodes.Text(text[done : match.start()]), self._link(match[1], match[0])]
                done = match.end()
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text[done:])])

    def _link(self, key: str, shown: str) -> nodes.Node:
        target = self.app.builder.get_relative_uri(self.env.docname, "references")
        return nodes.reference("", shown, refuri=f"{target}#{_anchor(key)}", internal=True, classes=["citation"])


def _anchor(key: str) -> str:
    return f"source-{key.lower()}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("sources", Sources)
    app.add_transform(LinkCitations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

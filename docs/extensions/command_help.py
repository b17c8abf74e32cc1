"""The reference of the command line, from the commands themselves."""

from __future__ import annotations

import re
from typing import Any

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from dalembert.cli import app as dalembert


class CommandLine(Directive):
    """A section for every command: what it does, arguments, options."""

    def run(self) -> list[nodes.Node]:
        """Called by docutils."""
        group: Any = typer.main.get_command(dalembert)
        return [_section(name, command) for name, command in group.commands.items()]


def _section(name: str, command: Any) -> nodes.section:
    section = nodes.section(ids=[f"dalembert-{name}"], names=[f"dalembert {name}"])
    section += nodes.title("", f"dalembert {name}")
    context = command.make_context(f"dalembert {name}", [], resilient_parsing=True)
    usage = re.sub("Usage: |[{}]", "", command.get_usage(context))
    section += nodes.literal_block(text=usage, language="text")
    for paragraph in re.split(r"\n\s*\n", command.help or ""):
        section += _paragraph(paragraph)
    table = nodes.definition_list()
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in record[0]:
            item = nodes.definition_list_item("", nodes.term("", "", nodes.literal("", record[0])))
            item += nodes.definition("", _paragraph(record[1]))
            table += item
    section += table
    return section


def _paragraph(text: str) -> nodes.paragraph:
    """Running text in which `code` is set as such."""
    parts = " ".join(text.split()).split("`")
    return nodes.paragraph("", "", *(nodes.literal("", part) if k % 2 else nodes.Text(part) for k, part in enumerate(parts)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Methods that `Model` has from one of its mixins, each under the name by which it is called: `Model.add_revolute`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def verbs_of(mixin: str) -> list[str]:
    """Names of the public methods of a class, given by its full name, and of what it puts together, in the order of sources."""
    module, _, name = mixin.rpartition(".")
    classes = [cls for cls in getattr(import_module(module), name).__mro__ if cls.__module__.startswith(module)]
    return [verb for cls in classes for verb in vars(cls) if not verb.startswith("_")]


class Verbs(SphinxDirective):
    """Their descriptions."""

    required_arguments = 1

    def run(self) -> list[Any]:
        """Called by docutils."""
        lines = [f".. automethod:: dalembert.Model.{verb}" for verb in verbs_of(self.arguments[0])]
        return self.parse_text_to_nodes("\n".join(["```{eval-rst}", *lines, "```"]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("verbs", Verbs)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

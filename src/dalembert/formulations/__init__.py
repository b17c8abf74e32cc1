"""Formulations by name: how constraints enter the equations. Adding one is one file and one row here."""

from __future__ import annotations

from dalembert.formulations.jet import Jet

FORMULATIONS: dict[str, type[Jet]] = {"jet": Jet}

"""dalembert new"""

from __future__ import annotations

import importlib.resources
import json
from pathlib import Path
from typing import Annotated

import typer

from dalembert.cli.console import Voice, reported_errors
from dalembert.errors import ModelError

File = Annotated[Path, typer.Argument(metavar="FILE", help="Model file to write, for example mine.yaml.")]
Plane = Annotated[bool, typer.Option("--plane", help="A driven machine in a plane, with points of two numbers, and a load.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def new(file: File = Path("model.yaml"), plane: Plane = False, force: Force = False, quiet: Quiet = False) -> None:
    """Write a commented model file that runs, and beside it the JSON Schema by which editors complete and check it.

    Exit codes:
    0 = written; 2 = the file exists, or cannot be written.
    """
    with reported_errors():
        from dalembert.files import written_whole
        from dalembert.model.file.schema import SCHEMA_FILE, json_schema

        if file.suffix not in (".yaml", ".yml"):
            raise ModelError(f"{file}: a model file ends in .yaml; give such a name")
        if file.is_dir() or (file.exists() and not force):
            raise ModelError(f"{file}: is there already; choose another name, or replace it with --force")
        texts = importlib.resources.files("dalembert.model.file")
        chosen = texts.joinpath("starter_plane.yaml" if plane else "starter.yaml")
        starter = chosen.read_text(encoding="utf-8").replace("THIS_FILE", file.name)
        schema = file.with_name(SCHEMA_FILE)
        for path, text in ((file, starter), (schema, json.dumps(json_schema(), indent=1) + "\n")):
            with written_whole(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        voice = Voice(quiet=quiet)
        voice.say(f"written: {file}, {schema} (for completion in editors)")
        voice.say(f"next: dalembert check {file}; dalembert run {file} --out {file.with_suffix('.zarr')}")

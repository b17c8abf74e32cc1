"""Model files with random mistakes: each is read, or refused with our own words; what is read compiles or is refused alike.

Mistakes are made in the text (bytes, lines, cuts) and in its values (numbers beyond bounds, names, types, structures).
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import dalembert as da
from benchmarks.campaigns.runner import Campaign, Outcome, main
from dalembert import gallery
from dalembert.errors import DalembertError, ModelError
from dalembert.model.file.read import read_string
from dalembert.model.file.write import model_text
from dalembert.model.model import Model

NAMES = ("slider_crank", "four_bar", "pendulum_3d", "governor", "rolling_disc", "planar_quadrangle")
VALUES = (
    *("1e200", "-1e200", "1e-300", "0", "-1", ".inf", ".nan", "null", "true", "'x'", "[]", "{}", "[1, 2]", "[[1]]"),
    *("1e49", "ground", "9" * 500, "pi**99", "sqrt(-1)", "1/0", "__import__('os')", '"\\0"', '"\\e[31m"', "'[/x]'"),
    *("'" + "x" * 5000 + "'", "&a [*a]", "!!python/object:os.system x", "{type: mesh, file: /etc/passwd}"),
)


@cache
def texts() -> tuple[str, ...]:
    """Good files."""
    made = []
    for name in NAMES:
        if name in gallery.GALLERY and isinstance(model := gallery.build(name), Model):
            try:
                made.append(model_text(model, Path(), t_end=1.0))
            except ModelError:
                continue  # has user functions
    return tuple(made)


def mutated(rng: np.random.Generator, text: str) -> str:
    lines = text.splitlines(keepends=True)
    k = int(rng.integers(len(lines)))
    match int(rng.integers(8)):
        case 0:
            at = int(rng.integers(len(text)))
            return text[:at] + chr(int(rng.integers(0x250))) + text[at + 1 :]
        case 1:
            return text[: int(rng.integers(len(text)))]
        case 2:
            lines.insert(k, lines[int(rng.integers(len(lines)))])
        case 3:
            del lines[k]
        case 4:
            lines[k] = " " * int(rng.integers(5)) + lines[k]
        case _:
            head, colon, _ = lines[k].partition(": ")
            lines[k] = f"{head}{colon}{rng.choice(VALUES)}\n"
    return "".join(lines)


def case(rng: np.random.Generator, index: int) -> Outcome:
    """One file with one to three mistakes."""
    text = str(rng.choice(texts()))
    for _ in range(int(rng.integers(1, 4))):
        text = mutated(rng, text)
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = read_string(text, "m.yaml", Path(folder)).model
        except ModelError as problem:
            return _refused(problem, time.process_time() - begin)
    seconds = time.process_time() - begin
    if Model.from_dict(model.to_dict()).hash != model.hash:
        return Outcome("changed", {"seconds": seconds}, text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            da.simulate(model, 1e-3, integrator=da.DOP853(max_steps=20), progress=False)
    except DalembertError as problem:
        return Outcome("does not run", {"seconds": seconds}, str(problem)[:200])
    return Outcome("runs", {"seconds": seconds})


def _refused(problem: ModelError, seconds: float) -> Outcome:
    words = str(problem)
    if any(ord(letter) < 32 and letter != "\n" for letter in words) or len(words) > 50_000:
        return Outcome("raw words", {"seconds": seconds}, ascii(words[:300]))
    return Outcome("refused", {"seconds": seconds, "problems": float(words.count("\n") + 1)})


CAMPAIGN = Campaign("model_files", case, good=("refused", "runs", "does not run"))

if __name__ == "__main__":
    os.nice(10)
    sys.exit(main(CAMPAIGN, count=1000))

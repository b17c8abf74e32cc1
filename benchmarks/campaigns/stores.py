"""Results that were damaged, or edited with right checksums: each loads what was written, or is refused with our own words.

Damage must never change a number that loads. Edited records may, for their checksums are right; but all that a solution is
asked for must be answered or refused, never end in an error of Python's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dalembert as da
from benchmarks.campaigns.runner import Campaign, Outcome, main
from dalembert import gallery
from dalembert.errors import DalembertError
from dalembert.io import column
from dalembert.io.record import read_record, write_record
from dalembert.results.plain import encode

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1e300, -0.5, float("nan"), "", "x", "../x", "\x1b[31m", "ground", "inf"),
    *([], {}, [[]], [1.0], {"a": 1}, ["x"] * 50, {"__float__": "inf"}),
)


NAMES = ("slider_crank", "pendulum_3d", "oscillator")


@cache
def original(name: str) -> tuple[Path, Any]:
    """A store of several blocks, and what it holds."""
    column.BLOCK_ROWS = 16
    path = Path(tempfile.mkdtemp(prefix="stores-")) / f"{name}.zarr"
    options: Any = {"formulation": da.Minimal()} if name == "pendulum_3d" else {}
    solution = da.simulate(gallery.build(name), 1.0, save_at=np.linspace(0, 1, 60), progress=False, **options)
    solution.save(path)
    return path, solution


def damage(rng: np.random.Generator, path: Path) -> str:
    """Other bytes in one to three files."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    done = []
    for _ in range(int(rng.integers(1, 4))):
        file = files[int(rng.integers(len(files)))]
        if not file.exists():
            continue
        data = bytearray(file.read_bytes())
        kind = str(rng.choice(["flip", "cut", "empty", "gone", "swap", "pipe", "zeros"]))
        if kind == "flip" and data:
            data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
            file.write_bytes(data)
        elif kind == "zeros" and data:
            start = int(rng.integers(len(data)))
            file.write_bytes(data[:start] + bytes(len(data) - start))
        elif kind in ("cut", "empty"):
            file.write_bytes(data[: int(rng.integers(len(data) + 1)) if kind == "cut" else 0])
        elif kind == "swap":
            file.write_bytes(files[int(rng.integers(len(files)))].read_bytes())
        elif kind in ("gone", "pipe"):
            file.unlink()
            if kind == "pipe":
                os.mkfifo(file)
            files.remove(file)
        done.append(f"{kind} {file.relative_to(path)}")
    return ", ".join(done)


def edit(rng: np.random.Generator, path: Path) -> str:
    """Another value somewhere in a record, its checksums made right."""
    group = path / str(rng.choice(["", "commit"]))
    record = read_record(group)
    part, key = record, str(rng.choice(list(record)))
    trace = [key]
    while isinstance(part[key], dict | list) and part[key] and rng.random() < 0.85:
        part = part[key]
        key = str(rng.choice(list(part))) if isinstance(part, dict) else int(rng.integers(len(part)))
        trace.append(str(key))
    value = ODD[int(rng.integers(len(ODD)))]
    if rng.random() < 0.15:
        del part[key]
    else:
        part[key] = value
    attributes = record.get("attributes")
    if isinstance(attributes, dict) and isinstance(attributes.get("model"), dict):
        text = json.dumps(encode_safely(attributes["model"]), sort_keys=True, separators=(",", ":"))
        attributes["model_hash"] = hashlib.sha256(text.encode()).hexdigest()
    write_record(group, encode_safely(record))
    return f"{'.'.join(trace)} = {value!r:.40}"


def encode_safely(value: Any) -> Any:
    """`encode`, with what is already encoded left as it is."""
    if isinstance(value, dict):
        return value if value.keys() == {"__float__"} else {key: encode_safely(item) for key, item in value.items()}
    return [encode_safely(item) for item in value] if isinstance(value, list) else encode(value)


def ask(solution: Any, folder: Path) -> None:
    """All that commands ask of a result."""
    str(solution.report())
    json.dumps(solution.report().to_dict())
    repr(solution)
    solution.export(folder / "a.csv")
    solution.plot.save(folder / "a.svg")
    if len(solution.t) > 1:
        solution(0.5 * float(solution.t[0] + solution.t[1]))
    if hasattr(solution, "position"):
        from dalembert.viewer.scene import scene_of

        json.dumps(scene_of(solution), allow_nan=False)


def case(rng: np.random.Generator, index: int) -> Outcome:
    """One store."""
    stored, solution = original(str(rng.choice(NAMES, p=[0.6, 0.3, 0.1])))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / "run.zarr"
        shutil.copytree(stored, path)
        edited = bool(rng.integers(2))
        what = edit(rng, path) if edited else damage(rng, path)
        begin = time.process_time()
        try:
            loaded = da.load(path)
            figures = {"seconds": time.process_time() - begin}
            if not edited and not _is_part(loaded, solution):
                return Outcome("wrong", figures, what)
            if edited or rng.random() < 0.2:
                ask(loaded, Path(folder))
        except DalembertError as problem:
            figures = {"seconds": time.process_time() - begin}
            if "\n" in str(problem) or "\x1b" in str(problem):
                return Outcome("raw words", figures, f"{what}: {ascii(str(problem))[:300]}")
            return Outcome("refused", figures)
        except Exception as problem:
            return Outcome("raised", {}, f"{stored.name}: {what}: {type(problem).__name__}: {problem}")
        return Outcome("edited" if edited else loaded.status, figures)


def _is_part(loaded: Any, solution: Any) -> bool:
    """Whether all that was loaded is what was written."""
    rows = np.searchsorted(solution.t, loaded.t)
    return bool(np.all(rows < len(solution.t))) and loaded.x.tobytes() == solution.x[rows].tobytes()


CAMPAIGN = Campaign("stores", case, good=("refused", "complete", "damaged", "edited"))

if __name__ == "__main__":
    os.nice(10)
    sys.exit(main(CAMPAIGN, count=500))

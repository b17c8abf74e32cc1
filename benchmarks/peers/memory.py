"""Largest resident memory of a process that makes one run."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

LIMIT = 400.0  # MB

_CHILD = """
import json, re, resource, sys
from pathlib import Path
import numpy as np, dalembert as da
from benchmarks.peers.ours import chain_model
from dalembert.gallery import slider_crank
what, t_end = sys.argv[1], float(sys.argv[2])
model, formulation = (chain_model(64), da.MovingFrame()) if what == "chain" else (slider_crank(), da.Jet())
save = None if what == "chain" else np.linspace(0.0, t_end, 1001)
solution = da.simulate(model, t_end, formulation=formulation, save_at=save)
status = Path("/proc/self/status")  # getrusage would count the process that started this one
found = re.search(r"VmHWM:\\s*(\\d+)", status.read_text()) if status.exists() else None
peak = int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"peak": peak / 1024, "steps": solution.statistics.accepted}))
"""


@dataclass
class Memory:
    what: str
    peak: float  # MB
    steps: int


def measure() -> list[Memory]:
    """64 links for 10 s with every step kept, and the slider-crank with 1,001 states for 100 s and 1,000 s."""
    cases = (
        ("64 links, 10 s, every step saved", "chain", 10.0),
        ("slider-crank, 100 s, save_at 1,001 times", "crank", 100.0),
        ("slider-crank, 1,000 s, save_at 1,001 times", "crank", 1000.0),
    )
    results = []
    for label, what, t_end in cases:
        subprocess.run([sys.executable, "-c", _CHILD, what, "0.01"], check=True, capture_output=True)  # fills the kernel cache
        done = subprocess.run([sys.executable, "-c", _CHILD, what, str(t_end)], check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        results.append(Memory(label, found["peak"], found["steps"]))
    return results

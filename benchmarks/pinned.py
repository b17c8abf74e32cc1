"""Whether a change of the code changed results: gallery runs by Jet, MovingFrame and Minimal, kept and compared to the bit.

    python -m benchmarks.pinned keep FILE           states of all runs at 11 times, into an .npz file
    python -m benchmarks.pinned compare FILE        the same runs now: equal bits, or the largest relative difference

Bits depend on the processor and the versions of NumPy and Numba: keep and compare on one machine.
"""

import hashlib
import sys
import time
import warnings

import numpy as np

import dalembert as da
from dalembert.gallery import GALLERY, build

T_END, SAMPLES = 1.0, 11
SHORT = {"andrews": 0.03, "coiled_chain": 0.02, "chain_16": 0.3, "tethered_chain": 0.2, "tethered_chain_undamped": 0.2}
FORMULATIONS = {"jet": da.Jet, "moving-frame": da.MovingFrame, "minimal": da.Minimal}


def runs():
    """(name, states) of every run; what a formulation refuses has no states."""
    for name in GALLERY:
        t_end = SHORT.get(name, T_END)
        for label, formulation in FORMULATIONS.items():
            for coordinates in ("absolute", "planar"):
                states = _states(name, t_end, formulation, coordinates)
                if states is not None:
                    yield f"{name}/{label}/{coordinates}", states


def _states(name, t_end, formulation, coordinates):
    model = build(name)
    chosen = {} if isinstance(model, da.LagrangianSystem) else {"coordinates": coordinates}
    if not chosen and coordinates == "planar":
        return None
    try:
        solution = da.simulate(model, t_end, formulation=formulation(), save_at=np.linspace(0.0, t_end, SAMPLES), **chosen)
    except (da.DalembertError, ValueError, NotImplementedError):
        return None
    return np.asarray(solution.x)


def digest(states):
    return hashlib.sha256(np.ascontiguousarray(states).tobytes()).hexdigest()[:16]


def compare(kept):
    """Print what differs; how many runs do."""
    differ, worst, seen = 0, 0.0, set()
    for name, states in runs():
        seen.add(name)
        if name not in kept.files:
            print(f"{name:50} new")
            continue
        before = kept[name]
        if digest(before) != digest(states):
            differ += 1
            error = np.inf
            if before.shape == states.shape:
                error = float(np.max(np.abs(states - before)) / max(np.max(np.abs(before)), 1e-300))
            worst = max(worst, error)
            print(f"{name:50} {digest(before)} {digest(states)} {error:.1e}")
    for name in sorted(set(kept.files) - seen):
        differ += 1
        print(f"{name:50} gone")
    print(f"{len(seen)} runs, {differ} differ, largest relative difference {worst:.1e}")
    return differ


def main(what, path):
    warnings.simplefilter("ignore")
    begin = time.process_time()
    if what == "keep":
        made = dict(runs())
        np.savez(path, **made)
        print(f"{len(made)} runs kept")
    else:
        with np.load(path) as kept:
            differ = compare(kept)
    print(f"{time.process_time() - begin:.0f} s of CPU")
    return 0 if what == "keep" else int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))

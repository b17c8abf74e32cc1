"""Writes the notebooks of this folder and runs them: `python examples/notebooks/write.py [name ...]`. Needs the extra "dev".

Outputs are stored, so that they can be read without running anything. Tests run all of them again: the numbers that they
print must be those of the file. Times differ from run to run, so write only those again that have changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NOTEBOOKS = {
    "tutorial": """
# A mechanism from nothing

A slider-crank in a plane: a crank that turns, a rod, a slider. The last line of a cell shows itself.

>>>
import math

import dalembert as da

model = da.Model(gravity=(0, 0, -9.81), name="slider-crank")
crank = model.add_body("crank", mass=0.5, inertia=(2e-3, 2e-3, 2e-5), position=(0, 0, 0.1), angular_velocity=(0, 6, 0))
tilt = da.Rotation.from_axis_angle((0, 1, 0), math.atan2(0.2, 0.4))
rod = model.add_body("rod", mass=0.8, inertia=(2e-5, 1e-2, 1e-2), position=(0.2, 0, 0.1), rotation=tilt)
slider = model.add_body("slider", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.4, 0, 0))
model.add_revolute("A", model.ground, crank, point=(0, 0, 0), axis=(0, 1, 0))
model.add_revolute("B", crank, rod, point=(0, 0, 0.2), axis=(0, 1, 0))
model.add_revolute("C", rod, slider, point=(0.4, 0, 0), axis=(0, 1, 0))
model.add_prismatic("D", model.ground, slider, point=(0.4, 0, 0), axis=(1, 0, 0))
model
>>>

Simulate it. The solution says whether to trust it, and shows how it moves.

>>>
solution = da.simulate(model, t_end=1.0)
assert solution.report().passed
solution
>>>

Any output by name; a figure shows itself, too.

>>>
print(solution.position("slider")[-1], solution.coordinate("A")[-1])
solution.plot.time("slider.x", "A")
>>>
""",
    "bearing_loads": """
# What must the bearings carry?

Reactions act on the second body of a joint, in world axes.

>>>
import numpy as np

import dalembert as da
from dalembert import gallery

solution = da.simulate(gallery.build("slider_crank"), t_end=1.0, save_at=np.linspace(0, 1, 1001))
load = np.linalg.norm(solution.reaction("A").force, axis=1)
print(f"the bearing A carries up to {load.max():.3g} N, at t = {solution.t[load.argmax()]:.3g} s")
assert solution.reaction("A").unique
solution.plot.reactions("A")
>>>
""",
    "how_exact": """
# How exact is it?

A loose run fails its report, which says what to do about it.

>>>
import dalembert as da
from dalembert import gallery

model = gallery.build("slider_crank")
loose = da.simulate(model, t_end=1.0, integrator=da.DormandPrince(rtol=1e-2, atol=1e-2))
assert not loose.report().passed
loose.report()
>>>

A second run, tighter and by another formulation, gives the error of the trajectory itself.

>>>
better = da.simulate(model, t_end=1.0, integrator=da.DormandPrince(rtol=1e-6, atol=1e-6), estimate_error=True)
assert better.report()["trajectory error"].verdict == "pass"
better.report()
>>>
""",
    "vibrations": """
# Where does it rest, and how does it vibrate?

>>>
import numpy as np

import dalembert as da

model = da.Model(gravity=(0, 0, -9.81), name="pendulum on a spring")
bob = model.add_body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0.3, -0.9))
model.add_revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(1, 0, 0))
model.add_joint_spring_damper("spring", "hinge", stiffness=5.0, damping=0.2)
rest = da.equilibrium(model)
rest
>>>

>>>
linear = rest.linear
assert linear.stable and np.all(linear.damping_ratios > 0)
linear
>>>
""",
    "many_runs": """
# What if a number changes?

>>>
import numpy as np

import dalembert as da


def build(length):
    model = da.Model(gravity=(0, 0, -9.81), name="pendulum")
    bob = model.add_body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, length, 0))
    model.add_revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(1, 0, 0))
    return model


lengths = np.linspace(0.5, 1.5, 5)
runs = da.simulate_many(build, 0.5, parameters={"length": lengths}, save_at=np.linspace(0, 0.5, 26))
assert not len(runs.failed)
runs
>>>

>>>
for length, angle in zip(lengths, runs.coordinate("hinge")[:, -1], strict=True):
    print(f"{length:.2f} m: {angle:.4f} rad")
>>>
""",
    "choose_a_method": """
# Which method for this error?

>>>
import dalembert as da
from dalembert import gallery

comparison = da.compare(
    gallery.build("slider_crank"),
    t_end=0.5,
    formulations=["jet", "moving-frame"],
    integrators=["dop853", "dormand-prince"],
    tolerances=[1e-4, 1e-6, 1e-8],
    repeats=1,
)
print(comparison.advice(1e-5))
assert comparison.fastest(1e-5) is not None
comparison
>>>

>>>
comparison.plot()
>>>
""",
}


def notebook(name: str) -> str:
    """Text and code in turns, before it is run."""
    cells = []
    for k, part in enumerate(NOTEBOOKS[name].split(">>>")):
        if text := part.strip("\n"):
            kind = {"cell_type": "code", "execution_count": None, "outputs": []} if k % 2 else {"cell_type": "markdown"}
            cells.append({**kind, "id": f"{name}-{k}", "metadata": {}, "source": text.splitlines(keepends=True)})
    language = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def executed(name: str) -> str:
    """The same with what its cells show, as its file holds it."""
    import nbclient
    import nbformat

    book = nbformat.reads(notebook(name), as_version=4)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", record_timing=False).execute()
    book.metadata.pop("language_info", None)  # of the Python that happened to run it
    return nbformat.writes(book) + "\n"


if __name__ == "__main__":
    for title in sys.argv[1:] or NOTEBOOKS:
        (FOLDER / f"{title}.ipynb").write_text(executed(title), encoding="utf-8")

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

Which bearing of the benchmark's spatial slider-crank carries most within the first second, how much, and when?

>>>
import numpy as np

import dalembert as da
from dalembert import gallery

solution = da.simulate(gallery.build("slider_crank"), t_end=1.0, save_at=np.linspace(0, 1, 1001))
assert solution.report().passed
solution
>>>

Reactions act on the second body of a joint, in world axes. Of each joint the largest force and torque, and when the force is
largest:

>>>
for name in "ABCD":
    reaction = solution.reaction(name)
    assert reaction.unique
    force, torque = (np.linalg.norm(vectors, axis=1) for vectors in (reaction.force, reaction.torque))
    print(f"{name}: {force.max():.1f} N at {solution.t[force.argmax()]:.3f} s, {torque.max():.2f} N m")
>>>

Over time, the crank's bearing A:

>>>
largest = np.linalg.norm(solution.reaction("A").force, axis=1).max()
assert round(largest, 1) == 64.1
solution.plot.reactions("A")
>>>

**Answer.** A, the bearing of the crank, carries most: 64.1 N at 0.856 s, when the crank is fastest: two and a half times the
weight of the mechanism, 25.7 N.
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

A bob hangs on a hinge whose spring pulls it sideways. Where does it come to rest, how fast does it swing about that, and how
soon does the swing die out?

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

About the pose of rest the equations are linear, with one vibration:

>>>
linear = rest.linear
assert linear.stable and np.round(linear.frequencies, 2) == 0.63 and np.round(linear.damping_ratios, 3) == 0.028
linear
>>>

A run from the pose that was given, 12 degrees away, shows the same:

>>>
run = da.simulate(model, t_end=10.0, save_at=np.linspace(0, 10, 501))
angle = run.coordinate("hinge") - rest.coordinate("hinge")
up = np.flatnonzero((angle[:-1] < 0) & (angle[1:] >= 0))  # the swing passes the pose of rest on its way up
print(f"{(len(up) - 1) / (run.t[up[-1]] - run.t[up[0]]):.2f} Hz")
run.plot.time("hinge")
>>>

**Answer.** It rests at -0.209 rad, 12 degrees from where it was given, and swings about that at 0.63 Hz. Its damping ratio of
0.028 takes a sixth of the swing away in each period.
""",
    "many_runs": """
# What if a number changes?

How long does a pendulum that is let go level take to its lowest point, and how does that depend on its length?

>>>
import numpy as np

import dalembert as da


def build(length):
    model = da.Model(gravity=(0, 0, -9.81), name="pendulum")
    bob = model.add_body("bob", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0, length, 0))
    model.add_revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(1, 0, 0))
    return model


lengths = np.linspace(0.5, 1.5, 5)
times = np.linspace(0, 0.8, 81)
runs = da.simulate_many(build, 0.8, parameters={"length": lengths}, save_at=times)
assert not len(runs.failed)
runs
>>>

All five, until they pass the lowest point at a quarter turn:

>>>
from dalembert.plot.style import house_style, new_figure

angles = -runs.coordinate("hinge")
with house_style():
    figure = new_figure()
    ax = figure.add_subplot(xlabel="time t [s]", ylabel="angle fallen [rad]", ylim=(0, np.pi / 2))
    for length, angle in zip(lengths, angles, strict=True):
        ax.plot(times, angle, label=f"{length:.2f} m")
    ax.legend()
figure
>>>

When they are there, and the same divided by the root of the length:

>>>
fall = np.array([np.interp(np.pi / 2, angle, times) for angle in angles])
for length, time in zip(lengths, fall, strict=True):
    print(f"{length:.2f} m: {time:.3f} s, {time / np.sqrt(length):.3f}")
assert np.allclose(fall / np.sqrt(lengths), 0.592, atol=0.002)
>>>

**Answer.** It takes 0.592 s times the root of the length in metres, the closed form K(1/2) / sqrt(g) of a point mass: three
times the length, 0.725 s instead of 0.419 s.
""",
    "choose_a_method": """
# Which method for this error?

The positions of the slider-crank are wanted with an error of 1e-5 of its size. Which formulation, integrator and tolerance give
that in the least time?

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
comparison
>>>

Errors over time: lower and further left is better; what lies on the black line is beaten by none.

>>>
comparison.plot()
>>>

In one sentence, with the times of the computer that ran this:

>>>
print(comparison.advice(1e-5))
loose, tight = ([row.error for row in comparison.measurements if row.value == rtol] for rtol in (1e-4, 1e-6))
assert min(loose) > 1e-5 > max(tight)
>>>

**Answer.** `rtol=1e-6`, with any of the four: their errors are below 4e-6, while 1e-4 leaves more than 1e-5 with all. They take
less than a millisecond each; which of them is fastest, the sentence above says for one computer.
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

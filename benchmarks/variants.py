"""What a further variant of a model costs, beside its bare integration.

    python -m benchmarks.variants [old]         old : before simulate took functions

Slider-crank over its rod's length, for 0.1 s and for 5 s, and six-bar over a link's, by simulate and by simulate_many (one
thread); what simulate adds to its compiled loop on a compiled mechanism. CPU times, the fastest of five rounds.
"""

import os
import sys
import time

os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np

import dalembert as da
from benchmarks.fit_slider_crank import slider_crank

RUNS, T_END, ROUNDS = 100, 0.1, 5


def six_bar(length=0.3):
    """Two loops of plane revolute joints: a four-bar with a dyad on its coupler."""
    model = da.Model(gravity=(0, 0, -9.81), name="six-bar")
    points = {"A": (0, 0), "B": (0.0, 0.1), "D": (0.35, 0.0), "F": (0.1, 0.55)}
    P = {name: np.array([x, 0.0, z]) for name, (x, z) in points.items()}
    P["C"] = circles(P["B"], length, P["D"], 0.28)
    middle = 0.5 * (P["B"] + P["C"])
    P["E"] = circles(middle, 0.25, P["F"], 0.3)
    links = {"crank": "AB", "rocker": "DC", "link": "ME", "arm": "FE"}
    P["M"] = middle
    for name, (a, b) in {**links, "coupler": "BC"}.items():
        x, z = (P[b] - P[a])[[0, 2]]
        half = -0.5 * np.arctan2(z, x)
        turned = (np.cos(half), 0.0, np.sin(half), 0.0)
        speed = (0, 5.0, 0) if name == "crank" else (0, 0, 0)
        inertia = (1e-4, 2e-3, 2e-3)
        model.add_body(name, mass=0.5, inertia=inertia, position=0.5 * (P[a] + P[b]), rotation=turned, angular_velocity=speed)
    ground, axis = model.ground, (0, 1, 0)
    pairs = {"A": (ground, "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": (ground, "rocker")}
    pairs |= {"M": ("coupler", "link"), "E": ("link", "arm"), "F": (ground, "arm")}
    for name, (first, second) in pairs.items():
        model.add_revolute(name, first, second, point=P[name], axis=axis)
    return model


def circles(a, r, b, s):
    """Where two circles in the x-z plane meet, above the line from a to b."""
    d = b - a
    distance = np.linalg.norm(d)
    along = (r**2 - s**2 + distance**2) / (2 * distance)
    e = d / distance
    return a + along * e + np.sqrt(r**2 - along**2) * np.array([-e[2], 0.0, e[0]])


def fastest(function):
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return 1e3 * min(times) / RUNS


def measured(name, build, lengths, old, t_end=T_END, **given):
    """Milliseconds for a run of starts, of simulate_many over lengths, and of simulate in a loop."""
    one = da.compile(build(lengths[0]), given.get("coordinates", "absolute"))
    starts = np.tile(one.x_0[: one.nq + one.nu], (RUNS, 1))
    options = {"save_at": [t_end], **given}

    def bare():
        da.simulate_many(one, t_end, initial_states=starts, save_at=[t_end])

    def many():
        da.simulate_many(build, t_end, parameters={"rod": lengths}, **options)

    def single():
        for rod in lengths:
            da.simulate(build(rod), t_end, **options) if old else da.simulate(build, t_end, parameters={"rod": rod}, **options)

    ways = [bare, many, single]
    for way in ways:
        way()
    a, b, c = map(fastest, ways)
    print(f"{name:18s} ms per run: starts {a:.2f}, simulate_many {b:.2f} ({b / a:.1f}), simulate {c:.2f}")


def above_the_loop():
    """What simulate on a compiled mechanism takes, and its compiled loop alone."""
    mechanism = da.compile(slider_crank())
    loops = []

    def runs():
        loops.append(sum(da.simulate(mechanism, T_END, save_at=[T_END]).statistics.cpu_time for _ in range(RUNS)))

    runs()
    whole, loop = fastest(runs), 1e3 * min(loops) / RUNS
    print(f"{'compiled':18s} ms per run: simulate {whole:.2f}, its loop {loop:.2f}")


def main(old=""):
    for t_end in (T_END, 5.0):
        measured(f"slider-crank {t_end:g} s", lambda rod: slider_crank(rod=rod), np.linspace(0.28, 0.34, RUNS), old, t_end)
    above_the_loop()
    measured("six-bar", lambda rod: six_bar(rod), np.linspace(0.29, 0.31, RUNS), old, coordinates="planar")


if __name__ == "__main__":
    main(*sys.argv[1:])

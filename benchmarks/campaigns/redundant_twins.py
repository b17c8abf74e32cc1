"""Random mechanisms with redundant joints, each against its twin, from which the generator leaves the redundant rows out.

    python -m benchmarks.campaigns.redundant_twins --count 2000 --out folder

Both are the same mechanism, so the motions agree to what integration at 1e-11 leaves: 1e-8. A case in which the mechanism
itself comes near a singular configuration says so and is not compared, because there any two runs part. One that differs more
is called sensitive only if the twin's motion answers a change of its start by so much that errors of the tolerance explain it,
and if the difference falls with the tolerance; chaotic, where a start changed by 1e-7 ends elsewhere altogether.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import dalembert as da
from benchmarks.campaigns.runner import Campaign, Outcome, main

Array = npt.NDArray[np.float64]
LIMIT = 1e-8
SINGULAR = 0.03  # pivot of the twin below which a run is not compared
FORMULATIONS = (da.Jet(), da.MovingFrame(), da.Minimal())
TOLERANCE = 1e-11
TIGHT, TIGHTER = (da.DOP853(rtol=rtol, atol=rtol) for rtol in (TOLERANCE, 0.01 * TOLERANCE))
CHANGE = 1e-7  # of velocities at the start, to see how it grows


def rotation(rng: np.random.Generator) -> Array:
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return np.asarray(q * np.sign(np.linalg.det(q)))


def add_link(model: da.Model, rng: np.random.Generator, name: str, position: Array) -> None:
    moments = rng.uniform(0.01, 0.03, 3)
    model.add_body(name, mass=rng.uniform(0.5, 2.0), inertia=moments.sum() - moments, position=position, rotation=rotation(rng))


def twins(
    rng: np.random.Generator, gravity: Array, centres: list[Array], axes: list[tuple[Array, Array]], close: Callable[..., None]
) -> tuple[da.Model, da.Model]:
    """A loop of links about hinges (point, axis), in random order; twin: the last hinge is what `close` adds for it."""
    n, seed = len(axes), int(rng.integers(2**31))
    rates, order = rng.uniform(-2, 2, n), [int(k) for k in rng.permutation(n)]
    names = ["ground", *(f"b{k}" for k in range(n - 1)), "ground"]
    made = []
    for whole in (True, False):
        own, model = np.random.default_rng(seed), da.Model(gravity=gravity)
        for name, centre in zip(names[1:-1], centres, strict=True):
            add_link(model, own, name, centre)
        for k in order:
            (point, axis), rate = axes[k], {"rate": rates[k]} if k < n - 3 else {}
            if whole or k < n - 1:
                model.add_revolute(f"h{k}", names[k], names[k + 1], point=point, axis=axis, **rate)
            else:
                close(model, names[k])
        made.append(model)
    return made[0], made[1]


def planar_loop(rng: np.random.Generator) -> tuple[da.Model, da.Model]:
    """A polygon of hinges; twin: the last hinge only keeps a point on the line of its axis."""
    n = int(rng.integers(4, 7))
    R, offset, gravity = rotation(rng), rng.uniform(-1, 1, 3), rng.uniform(-5, 5, 3)
    angles = np.sort(rng.uniform(0, 2 * np.pi, n)) if n > 4 else np.arange(4) * np.pi / 2 + rng.uniform(-0.5, 0.5, 4)
    corners = [
        R @ np.array([r * np.cos(a), r * np.sin(a), 0.0]) + offset for a, r in zip(angles, rng.uniform(0.4, 1, n), strict=True)
    ]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(corners)]

    def close(model: da.Model, first: str) -> None:
        model.add_point_on_line("last", first, "ground", point=corners[-1], axis=R[:, 2])

    return twins(rng, gravity, middles, [(corner, R[:, 2]) for corner in corners], close)


def spherical_loop(rng: np.random.Generator) -> tuple[da.Model, da.Model]:
    """Hinges through one point; twin: the last one only keeps its axis parallel, by two rows."""
    n = int(rng.integers(4, 6))
    R, centre, gravity = rotation(rng), rng.uniform(-1, 1, 3), rng.uniform(-5, 5, 3)
    around = (np.arange(n) + rng.uniform(-0.25, 0.25, n)) * 2 * np.pi / n
    tilt = rng.uniform(0.5, 1.1, n)
    axes = [R @ np.array([np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b)]) for a, b in zip(around, tilt, strict=True)]

    def close(model: da.Model, first: str) -> None:
        axis = axes[-1]
        side = np.cross(axis, R[:, 0] if abs(axis @ R[:, 0]) < 0.7 else R[:, 1])
        side /= np.linalg.norm(side)
        own_axis = da.Rotation(model.body(first).rotation).matrix.T @ axis
        for c, across in enumerate((side, np.cross(axis, side))):
            model.add_perpendicular(f"last{c}", first, "ground", axes=(own_axis, across))

    middles = [centre + 0.6 * (a + b) / 2 for a, b in itertools.pairwise(axes)]
    return twins(rng, gravity, middles, [(centre + 0.6 * axis, axis) for axis in axes], close)


def doubled_chain(rng: np.random.Generator) -> tuple[da.Model, da.Model]:
    """A chain with joints given twice: hinges at two places of one axis, balls with a plane or a second ball."""
    n = int(rng.integers(1, 5))
    gravity, seed = rng.uniform(-5, 5, 3), int(rng.integers(2**31))
    made = []
    for whole in (True, False):
        own = np.random.default_rng(seed)
        model = da.Model(gravity=gravity)
        place, before = own.uniform(-1, 1, 3), "ground"
        extras = []
        for k in range(n):
            centre = place + own.uniform(-0.6, 0.6, 3)
            add_link(model, own, f"b{k}", centre)
            axis, kind = own.standard_normal(3), int(own.integers(4))
            along, speed = own.uniform(0.2, 0.5), own.uniform(-2, 2)
            if kind == 0:
                model.add_revolute(f"j{k}", before, f"b{k}", point=place, axis=axis, rate=speed)
                extras.append(("revolute", f"e{k}", before, f"b{k}", place + along * axis, axis))
            elif kind == 1:
                model.add_spherical(f"j{k}", before, f"b{k}", point=place)
                extras.append(("spherical", f"e{k}", before, f"b{k}", place, axis))
            elif kind == 2:
                model.add_spherical(f"j{k}", before, f"b{k}", point=place)
                extras.append(("point_on_plane", f"e{k}", before, f"b{k}", place, axis))
            else:
                model.add_prismatic(f"j{k}", before, f"b{k}", point=place, axis=axis, rate=0.3 * speed)
                extras.append(("prismatic", f"e{k}", before, f"b{k}", place + along * own.standard_normal(3), axis))
            before, place = f"b{k}", centre + own.uniform(-0.6, 0.6, 3)
        for kind_, name, first, second, point, axis in extras if whole else []:
            add = getattr(model, f"add_{kind_}")
            add(name, first, second, point=point, **({} if kind_ == "spherical" else {"axis": axis}))
        made.append(model)
    return made[0], made[1]


KINDS = (planar_loop, spherical_loop, doubled_chain)


def difference(a: Any, b: Any) -> float:
    """Largest difference of a position [m] or of an entry of a rotation matrix between two runs."""
    return max(
        max(float(np.abs(a.position(n) - b.position(n)).max()), float(np.abs(a.rotation(n) - b.rotation(n)).max()))
        for n in a.mechanism.body_names
    )


def growth(mechanism: Any) -> float:
    """How much a small change of the velocities at the start has grown at the end."""
    n = mechanism.nq + mechanism.nu
    starts = np.tile(mechanism.x_0[:n], (2, 1))
    starts[1, mechanism.nq :] += CHANGE * np.random.default_rng(0).standard_normal(mechanism.nu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = da.simulate_many(mechanism, 0.3, initial_states=starts, integrator=TIGHT, save_at=[0.3], threads=1)
    return difference(runs[0], runs[1]) / CHANGE


def converged(whole: da.Model, twin: da.Model, formulation: Any, times: Array) -> float:
    """The difference of both motions at a hundredth of the tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a = da.simulate(whole, 0.3, formulation=formulation, integrator=TIGHTER, save_at=times)
        return difference(a, da.simulate(twin, 0.3, integrator=TIGHTER, save_at=times))


def case(rng: np.random.Generator, index: int) -> Outcome:
    """The motion of a mechanism with redundant joints against that of its twin."""
    kind = KINDS[index % len(KINDS)]
    whole, twin = kind(rng)
    formulation: Any = FORMULATIONS[int(rng.integers(len(FORMULATIONS)))]
    words = f"{kind.__name__} by {type(formulation).__name__}"
    times = np.linspace(0.0, 0.3, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            b = da.simulate(twin, 0.3, integrator=TIGHT, save_at=times)
        except da.DalembertError as problem:
            return Outcome("the twin is refused", {}, f"{words}: {problem}")
        if b.statistics.smallest_pivot < SINGULAR or b.statistics.branch_points:
            return Outcome("near singular")
        if b.mechanism.redundant or b.mechanism.degrees_of_freedom == 0:
            return Outcome("no twin", {}, f"{words}: {b.mechanism.redundant}, {b.mechanism.degrees_of_freedom} freedoms")
        try:
            a = da.simulate(whole, 0.3, formulation=formulation, integrator=TIGHT, save_at=times)
        except da.DalembertError as problem:
            return Outcome("refused", {}, f"{words}: {problem}")
    error = difference(a, b)
    if error > LIMIT:
        grown = growth(b.mechanism)
        if grown * CHANGE > 0.1:  # as far off as the mechanism is large
            return Outcome("chaotic", {}, f"{words}: changes of the start grow {grown:.1e} times")
        left = converged(whole, twin, formulation, times)
        speed = 1.0 + float(np.abs(b.u).max())  # steps may err by rtol of it
        if error <= 10.0 * TOLERANCE * speed * grown and left <= 0.5 * error:
            words += f": {error:.2e}, at 1e-13 {left:.2e}; changes of the start grow {grown:.1e} times"
            return Outcome("sensitive", {"error of sensitive motions": error}, words)
    figures = {f"error of {type(formulation).__name__}": error}
    same = len(a.mechanism.redundant) > 0 and a.mechanism.rank == b.mechanism.rank
    verdict = "right" if error <= LIMIT and same else "wrong"
    return Outcome(verdict, figures, f"{words}: {error:.2e}, rank {a.mechanism.rank} of the twin's {b.mechanism.rank}")


CAMPAIGN = Campaign("redundant_twins", case, good=("right", "near singular", "sensitive", "chaotic"))

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))

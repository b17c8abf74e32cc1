"""Overconstrained linkages by every formulation, joints in six orders, one turn of the crank against the closed form.

    python -m benchmarks.campaigns.overconstrained --count 300 --out folder

Driven, a linkage has no freedom left: where its links are follows from the constraints alone, whatever the order of the method,
so that `Impulse` and `Variational` are held to the same 1e-7. Free, it is started at one turn a second; its links are compared
with the closed form for the angle that its crank has, and its energy with that of the start.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

import dalembert as da
from benchmarks.campaigns.linkages import LINKAGES, Linkage
from benchmarks.campaigns.runner import Campaign, Outcome, main

LIMIT = 1e-7
ORDERS = 6
TIMES = np.linspace(0.0, 1.0, 41)
FORMULATIONS: dict[str, tuple[Any, Any]] = {
    "Jet": (da.Jet(), da.DOP853()),
    "MovingFrame": (da.MovingFrame(), da.DOP853()),
    "Minimal": (da.Minimal(), da.DOP853()),
    "Impulse": (da.Impulse(), da.RungeKutta4(step=0.005)),
    "Variational": (da.Variational(), da.FixedStep(step=0.005)),
}
COUNT = len(LINKAGES) * len(FORMULATIONS) * ORDERS


def pick(index: int) -> tuple[Linkage, str, list[str]]:
    """Linkage, formulation and order of joints of a case; order 0 is that of the linkage."""
    index, order = divmod(index % COUNT, ORDERS)
    linkage = LINKAGES[index // len(FORMULATIONS)]()
    names = list(linkage.joints)
    if order:
        names = [str(name) for name in np.random.default_rng(order).permutation(names)]
    return linkage, list(FORMULATIONS)[index % len(FORMULATIONS)], names


def pose_error(linkage: Linkage, solution: Any, angles: np.ndarray) -> float:
    """Largest difference of a position [m] or of an entry of a rotation matrix from the closed form."""
    worst = 0.0
    for body in linkage.bodies:
        poses = [linkage.pose(body, float(angle)) for angle in angles]
        worst = max(worst, float(np.abs(solution.position(body) - np.array([p for p, _ in poses])).max()))
        worst = max(worst, float(np.abs(solution.rotation(body) - np.array([R for _, R in poses])).max()))
    return worst


def driven_error(linkage: Linkage, formulation: str, order: list[str]) -> tuple[float, Any]:
    method, integrator = FORMULATIONS[formulation]
    solution = da.simulate(linkage.model(order), 1.0, formulation=method, integrator=integrator, save_at=TIMES)
    return pose_error(linkage, solution, np.array([linkage.angle(t) for t in TIMES])), solution


def free_error(linkage: Linkage, formulation: str, order: list[str]) -> tuple[float, float]:
    """(pose error, energy error over kinetic energy) of a run without a driver; swinging linkages only a little way.

    Steps are kept short: some linkages turn through a radian in one, and what is saved within it is interpolated.
    """
    method, integrator = FORMULATIONS[formulation]
    t_end = 1.0 if linkage.swing is None else 0.05
    integrator = replace(integrator, max_step=t_end / 20)
    times = t_end * TIMES
    solution = da.simulate(linkage.model(order, driven=False), t_end, formulation=method, integrator=integrator, save_at=times)
    total = solution.energy.total
    angles = linkage.start + np.asarray(solution.coordinate(linkage.crank), dtype=float).ravel()
    return pose_error(linkage, solution, angles), float(np.abs(total - total[0]).max() / solution.energy.kinetic.max())


def case(rng: np.random.Generator, index: int) -> Outcome:
    """One linkage by one formulation with its joints in one order."""
    linkage, formulation, order = pick(index)
    words = f"{linkage.name} by {formulation}, joints {', '.join(order)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            error, solution = driven_error(linkage, formulation, order)
            figures = {f"error of {formulation}": error, f"closure of {formulation}": float(solution.drift.position.max())}
            good = error <= LIMIT and solution.status == "complete" and solution.drift.position.max() <= 1e-9
            if formulation in ("Jet", "MovingFrame", "Minimal"):
                pose, energy = free_error(linkage, formulation, order)
                figures |= {f"free error of {formulation}": pose, f"energy error of {formulation}": energy}
                good = good and pose <= LIMIT and energy <= LIMIT
        except da.DalembertError as problem:
            return Outcome("refused", {}, f"{words}: {problem}")
    return Outcome("right" if good else "wrong", figures, f"{words}: {figures}")


CAMPAIGN = Campaign("overconstrained", case)

if __name__ == "__main__":
    sys.exit(main(CAMPAIGN))

"""A four-bar whose crank is driven at constant speed: what torque does the drive need?

python examples/driven_four_bar.py          writes driven_four_bar.png
"""

from math import atan2, hypot, pi

import numpy as np

import dalembert as da

SPEED = pi  # rad/s
NORMAL = (0.0, -1.0, 0.0)
A, B, C, D = (0.0, 0.0), (0.0, 0.2), (0.6, 0.5), (0.7, 0.0)  # joints at the start, (x, z) [m]


def build() -> da.Model:
    """Crank A-B, coupler B-C, rocker D-C, with a driver on the crank's hinge."""
    model = da.Model(gravity=(0, 0, -9.81), name="driven four-bar")
    for name, (x1, z1), (x2, z2) in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = hypot(x2 - x1, z2 - z1)
        turn = da.Rotation.from_axis_angle(NORMAL, atan2(z2 - z1, x2 - x1))
        bar = da.box(2.0 * length, (length, 0.02, 0.04))
        middle = ((x1 + x2) / 2, 0, (z1 + z2) / 2)
        model.add_body(name, **bar.body(), position=middle, rotation=turn)
    model.add_revolute("A", model.ground, "crank", point=(A[0], 0, A[1]), axis=NORMAL)
    model.add_spherical("B", "crank", "coupler", point=(B[0], 0, B[1]))
    model.add_cylindrical("C", "coupler", "rocker", point=(C[0], 0, C[1]), axis=NORMAL)
    model.add_revolute("D", model.ground, "rocker", point=(D[0], 0, D[1]), axis=NORMAL)
    model.add_driver("drive", "A", da.Polynomial((0.0, SPEED)))
    return model


def run() -> da.Solution:
    """Two turns of the crank."""
    return da.simulate(build(), t_end=4 * pi / SPEED, save_at=np.linspace(0, 4 * pi / SPEED, 401))


def check(solution: da.Solution) -> None:
    """The crank follows; the drive's work is the change of energy; after a full turn all is as it was."""
    assert solution.report().passed
    np.testing.assert_allclose(solution.coordinate("A"), SPEED * solution.t, atol=1e-9)
    power = SPEED * solution.reaction("drive").torque @ np.array(NORMAL)
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(solution.t))])
    energy = solution.energy.kinetic + solution.energy.potential
    np.testing.assert_allclose(work, energy - energy[0], atol=2e-3 * np.ptp(energy))  # trapezoidal rule, 200 per turn
    np.testing.assert_allclose(solution.position("rocker")[200], solution.position("rocker")[0], atol=1e-8)


if __name__ == "__main__":
    result = run()
    check(result)
    result.plot.save("driven_four_bar.png", result.plot.reactions("drive", quantity="torque"))

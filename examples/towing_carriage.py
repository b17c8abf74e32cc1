"""A home-made ship simulator, with its own state and time step, gets a towing carriage: `da.constrain` and `da.project`.

python examples/towing_carriage.py          writes towing_carriage.png
"""

import numpy as np
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert.gallery import towing_tank_ship
from dalembert.plot.style import house_style, new_figure, save_figure

M, INERTIA, P = 120.0, np.diag([8.0, 45.0, 48.0]), np.array([0.05, 0.02, -0.15])  # P: mount to centre of mass, body axes
STEP, T_END, ZERO, ONE = 2e-3, 4.0, np.zeros((3, 3)), np.eye(3)


def turn(q):
    """R of q = (roll, pitch, yaw, centre of mass), and E: angle rates -> world angular velocity."""
    R = Rotation.from_euler("ZYX", q[[2, 1, 0]]).as_matrix()
    return R, np.column_stack([R[:, 0], (-np.sin(q[2]), np.cos(q[2]), 0), (0, 0, 1)])


def free_step(q, u):
    """The home-made simulator: explicit Euler, u = (world angular velocity, velocity); returns u and the mass matrix."""
    J = turn(q)[0] @ INERTIA @ turn(q)[0].T
    gyroscopic = np.linalg.solve(J, -np.cross(u[:3], J @ u[:3]))
    return u + STEP * np.concatenate([gyroscopic, (0, 0, -9.81)]), np.block([[J, ZERO], [ZERO, M * ONE]])


def gap(q, t):
    """The carriage: roll, yaw, and the mount r - R P, which is to be at (0, 0, 0.1 sin 2t)."""
    return np.concatenate([q[[0, 2]], q[3:] - turn(q)[0] @ P - (0, 0, 0.1 * np.sin(2 * t))])


def rows(q):
    """A of the same five conditions, for u."""
    R, E = turn(q)
    return np.block([[np.linalg.inv(E)[[0, 2]], ZERO[:2]], [np.cross(ONE, R @ P), ONE]])


def sail():
    """(time, pitch, vertical force of the mount) of every step."""
    q, u, path = np.array([0, 0.1, 0, 0, 0, 0.0]), np.array([0, 0, 0, 0, 0, 0.2]), []
    q[3:] = turn(q)[0] @ P
    for t in STEP * np.arange(1, round(T_END / STEP) + 1):
        u_star, mass = free_step(q, u)
        u, impulse = da.constrain(mass, u_star, rows(q), [0, 0, 0, 0, -0.2 * np.cos(2 * t)])
        q = q + STEP * np.concatenate([np.linalg.solve(turn(q)[1], u[:3]), u[3:]])
        q = da.project(
            q,
            lambda q, t=t: gap(q, t),
            lambda q: rows(q) @ np.block([[turn(q)[1], ZERO], [ZERO, ONE]]),
        )
        path.append((t, q[1], impulse[4] / STEP))
    return np.array(path).T


def build() -> da.Model:
    """The same ship in the library, to compare with."""
    return towing_tank_ship()


def check(path, solution: da.Solution) -> None:
    """Pitch and force agree with the library's to first order in the step."""
    assert np.abs(path[1] - solution.cardan("ship").pitch).max() < STEP
    assert np.abs(path[2] - solution.reaction("heave").force[:, 2]).max() < STEP * M * 9.81


if __name__ == "__main__":
    path = sail()
    check(path, da.simulate(build(), T_END, save_at=path[0]))
    with house_style():
        picture = new_figure(8.0, 5.0)
        for k, label in ((1, "pitch [rad]"), (2, "mount's vertical force [N]")):
            ax = picture.add_subplot(2, 1, k, xlabel="time t [s]", ylabel=label)
            ax.plot(path[0], path[k])
    save_figure(picture, "towing_carriage.png")

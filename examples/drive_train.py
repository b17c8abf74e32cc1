"""A motor with a falling torque curve drives, through a belt and a differential with a viscous lock, a spindle and a rack.

python examples/drive_train.py          writes drive_train.png
"""

import numpy as np
from scipy.linalg import expm

import dalembert as da
from dalembert.plot.style import house_style, new_figure, save_figure

J = {"motor": 2e-3, "case": 5e-3, "left": 4e-3, "right": 6e-3}  # about the axle, x
R_MOTOR, R_CASE, R_PINION, PITCH = 0.02, 0.06, 0.05, 0.02
TABLE, RACK, STALL, SLOPE, LOCK, T_END = 8.0, 2.0, 3.0, 0.02, 0.08, 1.0


def torque(t, s, s_dot, stall, slope):
    """Of the motor, falling with its speed."""
    return stall - slope * s_dot


def lock(t, r, R, v, w, c):
    """A viscous coupling: holds back the second shaft as it turns relative to the first."""
    return np.zeros(3), np.array([-c * w[0], 0.0, 0.0])


def build() -> da.Model:
    """All shafts along x; the motor beside the axle."""
    model = da.Model(gravity=(0, 0, 0), name="drive train")
    places = {"motor": (0, 0.2, 0), "case": (0, 0, 0), "left": (-0.3, 0, 0), "right": (0.3, 0, 0)}
    for name, at in places.items():
        model.add_body(name, mass=1.0, inertia=(J[name], J[name], J[name]), position=at)
        model.add_revolute(f"{name} shaft", model.ground, name, point=at, axis=(1, 0, 0))
    model.add_belt("belt", "motor", "case", radii=(R_MOTOR, R_CASE))
    model.add_differential("differential", "case", "left", "right")
    model.add_interaction("lock", "left", "right", lock, parameters={"c": LOCK})
    model.add_motor("drive", "motor shaft", torque, parameters={"stall": STALL, "slope": SLOPE})
    model.add_body("table", **da.box(TABLE, (0.2, 0.2, 0.05)).body(), position=(-0.6, 0, 0))
    model.add_screw("spindle", "left", "table", pitch=PITCH, point=(-0.6, 0, 0), axis=(1, 0, 0))
    # it does not turn with the spindle
    model.add_perpendicular("guide", model.ground, "table", axes=((0, 1, 0), (0, 0, 1)))
    model.add_body("rack", **da.box(RACK, (0.02, 0.8, 0.02)).body(), position=(0.3, 0, -R_PINION))
    model.add_prismatic("slide", model.ground, "rack", point=(0.3, 0, -R_PINION), axis=(0, 1, 0))
    model.add_rack("pinion", "right", "rack", radius=R_PINION)
    return model


def speeds(t):
    """(2,) of both shafts: M w' = b - D w, all of it reduced to them by hand."""
    lead, gain = PITCH / (2 * np.pi), R_CASE / R_MOTOR / 2
    mean = np.full((2, 2), J["motor"] * gain**2 + J["case"] / 4)
    M = mean + np.diag([J["left"] + TABLE * lead**2, J["right"] + RACK * R_PINION**2])
    D = SLOPE * gain**2 * np.ones((2, 2)) + LOCK * np.array([[1.0, -1.0], [-1.0, 1.0]])
    A = np.linalg.solve(M, D)
    return np.linalg.solve(D, (np.eye(2) - M @ expm(-A * t) @ np.linalg.inv(M)) @ np.full(2, STALL * gain))


def check(solution: da.Solution) -> None:
    """Both shafts, what they move, and the report."""
    w = np.array([speeds(t) for t in solution.t])
    for k, name in enumerate(("left shaft", "right shaft")):
        assert np.abs(solution.coordinate_rate(name) - w[:, k]).max() < 1e-7
    assert np.allclose(np.abs(solution.velocity("table")[:, 0]), PITCH / (2 * np.pi) * w[:, 0], atol=1e-8)
    assert np.allclose(np.abs(solution.velocity("rack")[:, 1]), R_PINION * w[:, 1], atol=1e-8)
    assert solution.report().passed


if __name__ == "__main__":
    solution = da.simulate(build(), T_END)
    check(solution)
    with house_style():
        picture = new_figure(8.0, 5.0)
        ax = picture.add_subplot(2, 1, 1, xlabel="time t [s]", ylabel="speed [rad/s]")
        for name in ("motor shaft", "left shaft", "right shaft"):
            ax.plot(solution.t, solution.coordinate_rate(name), label=name)
        ax.legend()
        ax = picture.add_subplot(2, 1, 2, xlabel="time t [s]", ylabel="torque of the motor [N m]")
        ax.plot(solution.t, solution.effort("drive").value)
    save_figure(picture, "drive_train.png")

"""MuJoCo: joint coordinates; loops by soft equality constraints, here as stiff as each step size allows."""

from __future__ import annotations

import mujoco
import numpy as np

from benchmarks.peers.problems import (
    CHAIN_END,
    CHAIN_RATE,
    CHAIN_ROTATION,
    CRANK_CENTRE,
    CRANK_END,
    CRANK_INERTIA,
    CRANK_MASS,
    CRANK_SPEED,
    CROSS_RATES,
    GRAVITY,
    LENGTH,
    MASS,
    ROD_LENGTH,
    ROD_MASS,
    ROD_PRINCIPAL,
    ROD_ROTATION,
    SAMPLES,
    SLIDER_INERTIA,
    SLIDER_MASS,
    SLIDER_SPEED,
    A,
    B,
    C,
    Method,
    Outcome,
    Stopwatch,
    moments,
    step_counts,
)

PROGRAM = "MuJoCo"
VERSION = mujoco.__version__
_OPTION = '<option integrator="RK4" gravity="0 0 {g}" {more}><flag contact="disable" {flags}/></option>'


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in values)


def _quaternion(matrix: np.ndarray) -> str:
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(matrix).ravel())
    return _numbers(quaternion)


def _inertial(mass: float, centre: np.ndarray, inertia: np.ndarray) -> str:
    return f'<inertial mass="{mass}" pos="{_numbers(centre)}" diaginertia="{_numbers(inertia)}"/>'


def _chain_model(n: int, mass: float, length: float) -> mujoco.MjModel:
    across, axial = moments(mass, length)
    inertial = _inertial(mass, np.array([0.0, 0.0, -length / 2]), np.array([across, across, axial]))
    text = f"<mujoco>{_OPTION.format(g=-GRAVITY, more='', flags='')}<worldbody>"
    for k in range(n):
        at = f'pos="0 0 {-length if k else 0}"' + ("" if k else f' quat="{_quaternion(CHAIN_ROTATION)}"')
        text += f'<body {at}><joint type="ball" armature="0" damping="0"/>{inertial}'
    return mujoco.MjModel.from_xml_string(text + "</body>" * n + "</worldbody></mujoco>")


def chain(n: int, mass: float = MASS, length: float = LENGTH) -> list[Method]:
    model = _chain_model(n, mass, length)
    data = mujoco.MjData(model)

    def solve(steps: float, rate: np.ndarray = CHAIN_RATE) -> Outcome:
        mujoco.mj_resetData(model, data)
        model.opt.timestep = CHAIN_END / steps
        data.qvel[:3] = rate
        watch = Stopwatch()
        with watch.running():
            mujoco.mj_step(model, data, nstep=int(steps))
        mujoco.mj_kinematics(model, data)
        tip = data.xpos[n] + data.xmat[n].reshape(3, 3) @ np.array([0.0, 0.0, -length])
        return Outcome(watch.seconds, tip, evaluations=4 * int(steps))

    what = "ball joints, RK4 with fixed steps, all steps in one call of mj_step, contacts off"
    return [Method(PROGRAM, "RK4", what, step_counts(100, 51_200), solve)]


def _crank_model() -> mujoco.MjModel:
    axis = ROD_ROTATION[:, 0]
    rod = _inertial(ROD_MASS, np.array([0.0, ROD_LENGTH / 2, 0.0]), ROD_PRINCIPAL)
    text = f"""<mujoco>{_OPTION.format(g=-GRAVITY, more='tolerance="1e-16" iterations="100"', flags='energy="enable"')}
    <worldbody>
      <body name="crank" pos="{_numbers(A)}"><joint type="hinge" axis="1 0 0"/>
        {_inertial(CRANK_MASS, CRANK_CENTRE - A, CRANK_INERTIA)}<site name="b1" pos="{_numbers(B - A)}"/></body>
      <body name="slider" pos="{_numbers(C)}"><joint type="slide" axis="1 0 0"/>
        {_inertial(SLIDER_MASS, np.zeros(3), SLIDER_INERTIA)}
        <body name="rod" quat="{_quaternion(ROD_ROTATION)}"><joint type="hinge" axis="{_numbers(ROD_ROTATION.T @ [1, 0, 0])}"/>
          <joint type="hinge" axis="{_numbers(ROD_ROTATION.T @ axis)}"/>{rod}<site name="b2" pos="0 {ROD_LENGTH} 0"/></body>
      </body>
    </worldbody>
    <equality><connect name="loop" site1="b1" site2="b2" solimp="0.9999 0.9999 0.001 0.5 2"/></equality></mujoco>"""
    return mujoco.MjModel.from_xml_string(text)


def slider_crank() -> list[Method]:
    model = _crank_model()
    data = mujoco.MjData(model)

    def solve(steps: float) -> Outcome:
        mujoco.mj_resetData(model, data)
        each = max(int(steps) // SAMPLES, 1)
        h = model.opt.timestep = CRANK_END / (each * SAMPLES)
        model.eq_solref[0] = (2.0 * h, 1.0)  # as stiff as MuJoCo lets it be (refsafe), critically damped
        data.qvel[:] = (CRANK_SPEED, SLIDER_SPEED, *CROSS_RATES)
        mujoco.mj_forward(model, data)
        energies, gaps, kinetic = [data.energy.sum()], [0.0], data.energy[1]
        watch = Stopwatch()
        for _ in range(SAMPLES):
            with watch.running():
                mujoco.mj_step(model, data, nstep=each)
            mujoco.mj_forward(model, data)
            gaps.append(float(np.linalg.norm(data.site_xpos[0] - data.site_xpos[1])))
            energies.append(data.energy.sum())
            kinetic = max(kinetic, data.energy[1])
        drift = np.abs(np.array(energies) - energies[0]).max() / kinetic
        return Outcome(watch.seconds, data.xipos[model.body("rod").id].copy(), max(gaps), float(drift), 4 * each * SAMPLES)

    what = "connect constraint, solref = (2 h, 1), solimp 0.9999, Newton solver to 1e-16, RK4 with fixed steps"
    return [Method(PROGRAM, "RK4, connect", what, step_counts(500, 2_048_000, 2.0), solve)]

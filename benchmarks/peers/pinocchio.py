"""Pinocchio's forward dynamics (C++) under SciPy's DOP853 and in a loop compiled with it (g++).

Numba cannot call Pinocchio; the compiled loop is pinocchio_loop.cpp and needs g++ and Eigen (`pip install cmeel-eigen`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks.peers.cpp import compiled, pointer, tableau
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
    powers,
)

PROGRAM, COMPILED = "Pinocchio", "Pinocchio in a C++ loop"  # the second is no peer that one could install
VERSION = pin.__version__
TOLERANCES = powers(1e-3, 1e-13)
GAINS = (0.0, 20.0)  # 1/s, of the loop's critically damped correction
_SCIPY = "SciPy's DOP853, rtol = atol scanned"
_COMPILED = "DOP853 in a C++ loop of ours compiled with it (g++ -O3 -march=native), rtol = atol scanned"
Rate = Callable[[float, np.ndarray], np.ndarray]


def chain_model(n: int, mass: float = MASS, length: float = LENGTH) -> pin.Model:
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    across, axial = moments(mass, length)
    parent, inertia = 0, pin.Inertia(mass, np.array([0.0, 0.0, -length / 2]), np.diag([across, across, axial]))
    for k in range(n):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -length])) if k else pin.SE3(CHAIN_ROTATION, np.zeros(3))
        parent = model.addJoint(parent, pin.JointModelSpherical(), place, f"joint{k}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def chain_rate(model: pin.Model) -> Rate:
    """x = (quaternions (x, y, z, w), angular velocities); theta' = 1/2 theta (w, 0). aba takes unit quaternions only."""
    data, tau = model.createData(), np.zeros(model.nv)
    nq, n = model.nq, model.njoints - 1
    dx = np.zeros(nq + model.nv)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, w = x[:nq].reshape(n, 4), x[nq:].reshape(n, 3)
        unit = q / np.sqrt(np.einsum("ij,ij->i", q, q))[:, None]
        dx[nq:] = pin.aba(model, data, unit.ravel(), x[nq:], tau)
        d, a, b = dx[:nq].reshape(n, 4), 0.5 * q, w
        d[:, 0] = a[:, 3] * b[:, 0] + a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
        d[:, 1] = a[:, 3] * b[:, 1] + a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
        d[:, 2] = a[:, 3] * b[:, 2] + a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
        d[:, 3] = -a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1] - a[:, 2] * b[:, 2]
        return dx.copy()

    return rate


def chain_tip(model: pin.Model, length: float, x: np.ndarray) -> np.ndarray:
    data = model.createData()
    pin.forwardKinematics(model, data, pin.normalize(model, x[: model.nq].copy()))
    return np.array(data.oMi[model.njoints - 1].act(np.array([0.0, 0.0, -length])))


def chain(n: int, mass: float = MASS, length: float = LENGTH) -> list[Method]:
    model = chain_model(n, mass, length)
    x_0 = np.concatenate([pin.neutral(model), CHAIN_RATE, np.zeros(model.nv - 3)])

    def outcome(seconds: float, x: np.ndarray, count: int) -> Outcome:
        return Outcome(seconds, chain_tip(model, length, x[:, -1]), evaluations=count)

    text = f"spherical joints, aba (in local axes: in world axes it loses 11 digits), {_SCIPY}"
    methods = [
        Method(PROGRAM, "SciPy DOP853", text, TOLERANCES, _by_scipy(chain_rate(model), x_0, CHAIN_END, outcome, model.nq))
    ]
    library = compiled_loop()
    if library is not None:

        def solve(tolerance: float, rate: np.ndarray = CHAIN_RATE) -> Outcome:
            x, count, watch = np.zeros(model.nq + model.nv), ctypes.c_long(), Stopwatch()
            with watch.running():
                library.chain(
                    n, *(ctypes.c_double(v) for v in (mass, length, *moments(mass, length), GRAVITY)), pointer(CHAIN_ROTATION),
                    pointer(rate), ctypes.c_double(CHAIN_END), ctypes.c_double(tolerance), *tableau(), pointer(x),
                    ctypes.byref(count),
                )  # fmt: skip
            return outcome(watch.seconds, x[:, None], count.value)

        what = f"spherical joints, aba (in local axes: in world axes it loses 11 digits), {_COMPILED}"
        methods.append(Method(COMPILED, "DOP853", what, TOLERANCES, solve))
    return methods


def _by_scipy(
    f: Rate, x_0: np.ndarray, t_end: float, outcome: Callable[[float, np.ndarray, int], Outcome], at: int = 0
) -> Callable[..., Outcome]:
    def solve(tolerance: float, rate: np.ndarray | None = None) -> Outcome:
        start = x_0.copy()
        if rate is not None:
            start[at : at + 3] = rate
        watch = Stopwatch()
        with watch.running():
            found = solve_ivp(f, (0.0, t_end), start, method="DOP853", rtol=max(tolerance, 3e-14), atol=tolerance)
        return outcome(watch.seconds, found.y, found.nfev)

    return solve


def crank_model() -> tuple[pin.Model, np.ndarray]:
    """Tree crank | slider - rod, and the initial velocities."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    crank = model.addJoint(0, pin.JointModelRX(), pin.SE3(np.eye(3), A), "A")
    model.appendBodyToJoint(crank, pin.Inertia(CRANK_MASS, CRANK_CENTRE - A, np.diag(CRANK_INERTIA)), pin.SE3.Identity())
    slider = model.addJoint(0, pin.JointModelPX(), pin.SE3(np.eye(3), C), "D")
    model.appendBodyToJoint(slider, pin.Inertia(SLIDER_MASS, np.zeros(3), np.diag(SLIDER_INERTIA)), pin.SE3.Identity())
    cross = model.addJoint(slider, pin.JointModelRX(), pin.SE3.Identity(), "C1")
    rod = model.addJoint(cross, pin.JointModelRX(), pin.SE3(ROD_ROTATION, np.zeros(3)), "C2")
    centre = np.array([0.0, ROD_LENGTH / 2, 0.0])
    model.appendBodyToJoint(rod, pin.Inertia(ROD_MASS, centre, np.diag(ROD_PRINCIPAL)), pin.SE3.Identity())
    return model, np.array([CRANK_SPEED, SLIDER_SPEED, *CROSS_RATES])


def crank_rate(model: pin.Model, gain: float) -> Rate:
    crank, rod = model.getJointId("A"), model.getJointId("C2")
    ends = pin.SE3(np.eye(3), B - A), pin.SE3(np.eye(3), np.array([0.0, ROD_LENGTH, 0.0]))
    loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, crank, ends[0], rod, ends[1], pin.ReferenceFrame.LOCAL)
    loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(gain**2, 2.0 * gain))
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(loop)
    datas.append(loop.createData())
    data, tau = model.createData(), np.zeros(model.nv)
    pin.initConstraintDynamics(model, data, models, datas)
    accuracy = pin.ProximalSettings(1e-14, 1e-14, 1e-10, 10)
    nq = model.nq
    dx = np.zeros(nq + model.nv)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        dx[:nq] = x[nq:]
        dx[nq:] = pin.constraintDynamics(model, data, x[:nq], x[nq:], tau, models, datas, accuracy)
        return dx.copy()

    return rate


def crank_outcome(model: pin.Model, seconds: float, x: np.ndarray, count: int) -> Outcome:
    """Of (nx, nt) states."""
    crank, rod = model.getJointId("A"), model.getJointId("C2")
    data, gaps, energies, kinetic = model.createData(), [], [], []
    for column in x.T:
        q, v = column[: model.nq].copy(), column[model.nq :].copy()
        pin.forwardKinematics(model, data, q, v)
        ends = data.oMi[crank].act(B - A), data.oMi[rod].act(np.array([0.0, ROD_LENGTH, 0.0]))
        gaps.append(float(np.linalg.norm(ends[0] - ends[1])))
        kinetic.append(pin.computeKineticEnergy(model, data, q, v))
        energies.append(kinetic[-1] + pin.computePotentialEnergy(model, data, q))
    drift = float(np.abs(np.array(energies) - energies[0]).max() / max(kinetic))
    return Outcome(seconds, np.array(data.oMi[rod].act(np.array([0.0, ROD_LENGTH / 2, 0.0]))), max(gaps), drift, count)


def slider_crank() -> list[Method]:
    model, speeds = crank_model()
    x_0 = np.concatenate([np.zeros(model.nq), speeds])
    outcome = partial(crank_outcome, model)
    methods = []
    for gain in GAINS:
        kind = f"Baumgarte {gain:g}/s" if gain else "no Baumgarte"
        text = f"constraintDynamics with a 3-row loop, proximal to 1e-14, {kind}, {_SCIPY}"
        solve = _by_scipy(crank_rate(model, gain), x_0, CRANK_END, outcome)
        methods.append(Method(PROGRAM, f"SciPy DOP853, {kind}", text, TOLERANCES, solve))
        library = compiled_loop()
        if library is not None:
            text = f"constraintDynamics with a 3-row loop, proximal to 1e-14, {kind}, {_COMPILED}"
            solve = _compiled_crank(library, gain, speeds, outcome)
            methods.append(Method(COMPILED, f"DOP853, {kind}", text, TOLERANCES, solve))
    return methods


def _compiled_crank(
    library: ctypes.CDLL, gain: float, speeds: np.ndarray, outcome: Callable[[float, np.ndarray, int], Outcome]
) -> Callable[[float], Outcome]:
    parts = ((CRANK_MASS, CRANK_CENTRE - A, CRANK_INERTIA), (SLIDER_MASS, np.zeros(3), SLIDER_INERTIA))
    rod = (ROD_MASS, np.array([0.0, ROD_LENGTH / 2, 0.0]), ROD_PRINCIPAL)
    solids = np.concatenate([np.r_[mass, centre, inertia] for mass, centre, inertia in (*parts, rod)])
    points = np.concatenate([A, C, B - A, [0.0, ROD_LENGTH, 0.0]])
    room = 100_000
    steps, rotation = np.zeros((room, 2 * len(speeds))), np.ascontiguousarray(ROD_ROTATION)
    library.slider_crank.restype = ctypes.c_long

    def solve(tolerance: float) -> Outcome:
        count, watch = ctypes.c_long(), Stopwatch()
        with watch.running():
            rows = library.slider_crank(
                *(pointer(v) for v in (solids, points, rotation, speeds)),
                *(ctypes.c_double(v) for v in (GRAVITY, gain, CRANK_END, tolerance)), *tableau(), pointer(steps),
                ctypes.c_long(room), ctypes.byref(count),
            )  # fmt: skip
        return outcome(watch.seconds, steps[:rows].T, count.value)

    return solve


_DEFINES = ("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS")  # as its CMake files give


@cache
def compiled_loop() -> ctypes.CDLL | None:
    """pinocchio_loop.cpp against the installed headers; None where there is no compiler or no Eigen."""
    prefix = Path(pin.__file__).resolve()
    while prefix.name != "cmeel.prefix" and prefix != prefix.parent:
        prefix = prefix.parent
    if not (prefix / "include" / "eigen3").exists():
        return None
    places = (
        f"-I{prefix}/include",
        f"-I{prefix}/include/eigen3",
        f"-L{prefix}/lib",
        "-lpinocchio_default",
        f"-Wl,-rpath,{prefix}/lib",
    )
    return compiled("pinocchio_loop.cpp", (*_DEFINES, *places), VERSION)

"""Exudyn: a kinematic tree in joint angles under its explicit integrators; loops by a ball joint under its implicit ones."""

from __future__ import annotations

import sys
from importlib.metadata import version

import numpy as np

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks
import exudyn as exu  # noqa: E402
from exudyn.itemInterface import (  # noqa: E402
    MarkerKinematicTreeRigid,
    NodeGenericODE2,
    ObjectJointSpherical,
    ObjectKinematicTree,
    SensorNode,
)

from benchmarks.peers.problems import (  # noqa: E402
    ACROSS,
    AXIAL,
    CHAIN_END,
    CHAIN_RATE,
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
    TILT,
    A,
    B,
    C,
    Method,
    Outcome,
    Stopwatch,
    powers,
    step_counts,
)

PROGRAM = "Exudyn"
VERSION = version("exudyn")
X, Y, Z, SLIDE = exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ, exu.JointType.PrismaticX


def _turn(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    rotation = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rotation[[i, i, j, j], [i, j, i, j]] = (c, -s, s, c)
    return rotation


class _Tree:
    """A system that holds one kinematic tree, restarted for every run."""

    def __init__(
        self, joints: list, parents: list[int], at: list, turns: list, links: list, q: np.ndarray, u: np.ndarray
    ) -> None:
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        n = len(joints)
        self.node = self.mbs.AddNode(
            NodeGenericODE2(
                numberOfODE2Coordinates=n, referenceCoordinates=[0.0] * n, initialCoordinates=q, initialCoordinates_t=u
            )
        )
        self.tree = self.mbs.AddObject(
            ObjectKinematicTree(
                nodeNumber=self.node,
                jointTypes=joints,
                linkParents=parents,
                jointTransformations=exu.Matrix3DList(turns),
                jointOffsets=exu.Vector3DList(at),
                linkInertiasCOM=exu.Matrix3DList([np.diag(link[2]) for link in links]),
                linkCOMs=exu.Vector3DList([link[1] for link in links]),
                linkMasses=[link[0] for link in links],
                gravity=[0.0, 0.0, -GRAVITY],
            )
        )
        self.q, self.u = q, u

    def settings(self, t_end: float) -> exu.SimulationSettings:
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = t_end
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.solutionSettings.solutionInformation = ""
        settings.displayStatistics = settings.displayComputationTime = False
        settings.parallel.numberOfThreads = 1
        return settings

    def restart(self) -> None:
        self.mbs.systemData.SetODE2Coordinates(self.q, exu.ConfigurationType.Initial)
        self.mbs.systemData.SetODE2Coordinates_t(self.u, exu.ConfigurationType.Initial)


_NOTHING = (0.0, np.zeros(3), np.zeros(3))


def chain(n: int) -> list[Method]:
    rod = (MASS, np.array([0.0, 0.0, -LENGTH / 2]), np.array([ACROSS, ACROSS, AXIAL]))
    at = [np.array([0.0, 0.0, -LENGTH if k % 3 == 0 and k > 0 else 0.0]) for k in range(3 * n)]
    q, u = np.zeros(3 * n), np.zeros(3 * n)
    q[0], u[:3] = TILT, CHAIN_RATE
    tree = _Tree([X, Y, Z] * n, list(range(-1, 3 * n - 1)), at, [np.eye(3)] * 3 * n, [_NOTHING, _NOTHING, rod] * n, q, u)
    tree.mbs.Assemble()

    def tip() -> np.ndarray:
        rotation, point = np.eye(3), np.zeros(3)
        for a, b, c in tree.mbs.systemData.GetODE2Coordinates().reshape(n, 3):
            rotation = rotation @ _turn(0, a) @ _turn(1, b) @ _turn(2, c)
            point = point + rotation @ np.array([0.0, 0.0, -LENGTH])
        return point

    def method(name: str, adaptive: bool, values: tuple[float, ...]) -> Method:
        solver = getattr(exu.DynamicSolverType, name)

        def solve(value: float, rate: np.ndarray = CHAIN_RATE) -> Outcome:
            settings = tree.settings(CHAIN_END)
            times = settings.timeIntegration
            times.automaticStepSize = adaptive
            if adaptive:
                times.numberOfSteps, times.absoluteTolerance, times.relativeTolerance = 10, value, value
                times.initialStepSize, times.minimumStepSize = 1e-4, 1e-8
            else:
                times.numberOfSteps = int(value)
            tree.u[:3] = rate
            tree.restart()
            watch = Stopwatch()
            with watch.running():
                tree.mbs.SolveDynamic(settings, solverType=solver)
            return Outcome(watch.seconds, tip())

        kind = "absolute = relative tolerance scanned" if adaptive else "fixed steps scanned"
        return Method(PROGRAM, name, f"kinematic tree, ball joints as three hinges, {name}, {kind}", values, solve)

    return [method("DOPRI5", True, powers(1e-3, 1e-13)), method("RK67", False, step_counts(100, 12_800))]


def slider_crank() -> list[Method]:
    links = [
        (CRANK_MASS, CRANK_CENTRE - A, CRANK_INERTIA),
        (SLIDER_MASS, np.zeros(3), SLIDER_INERTIA),
        _NOTHING,
        (ROD_MASS, np.array([0.0, ROD_LENGTH / 2, 0.0]), ROD_PRINCIPAL),
    ]
    turns = [np.eye(3), np.eye(3), np.eye(3), ROD_ROTATION]
    speeds = np.array([CRANK_SPEED, SLIDER_SPEED, *CROSS_RATES])
    tree = _Tree([X, SLIDE, X, X], [-1, -1, 1, 2], [A, C, np.zeros(3), np.zeros(3)], turns, links, np.zeros(4), speeds)
    end = np.array([0.0, ROD_LENGTH, 0.0])
    ends = [
        tree.mbs.AddMarker(MarkerKinematicTreeRigid(objectNumber=tree.tree, linkNumber=link, localPosition=point))
        for link, point in ((0, B - A), (3, end))
    ]
    tree.mbs.AddObject(ObjectJointSpherical(markerNumbers=ends))
    kinds = exu.OutputVariableType.Coordinates, exu.OutputVariableType.Coordinates_t
    sensors = [tree.mbs.AddSensor(SensorNode(nodeNumber=tree.node, outputVariableType=k, storeInternal=True)) for k in kinds]
    tree.mbs.Assemble()

    def look(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, float, float, float]:
        """Rod's centre, gap of the loop, kinetic and potential energy."""
        crank = _turn(0, q[0])
        cross = _turn(0, q[2])
        rod = cross @ ROD_ROTATION @ _turn(0, q[3])
        at = C + np.array([q[1], 0.0, 0.0])
        omega = np.array([u[2], 0.0, 0.0]) + u[3] * (cross @ ROD_ROTATION[:, 0])
        arm, half = rod @ (end / 2), crank @ (CRANK_CENTRE - A)
        centre = at + arm
        v_rod = np.array([u[1], 0.0, 0.0]) + np.cross(omega, arm)
        v_crank = np.cross([u[0], 0.0, 0.0], half)
        kinetic = 0.5 * (CRANK_MASS * v_crank @ v_crank + CRANK_INERTIA[0] * u[0] ** 2 + SLIDER_MASS * u[1] ** 2)
        kinetic += 0.5 * (ROD_MASS * v_rod @ v_rod + ROD_PRINCIPAL @ (rod.T @ omega) ** 2)
        potential = GRAVITY * (CRANK_MASS * (A + half)[2] + ROD_MASS * centre[2])
        return centre, float(np.linalg.norm(A + crank @ (B - A) - at - rod @ end)), float(kinetic), float(potential)

    def method(label: str, solver: exu.DynamicSolverType, radius: float, what: str) -> Method:
        def solve(steps: float) -> Outcome:
            tree.restart()
            watch = Stopwatch()
            settings = tree.settings(CRANK_END)
            settings.timeIntegration.numberOfSteps = max(int(steps) // SAMPLES, 1) * SAMPLES
            settings.timeIntegration.generalizedAlpha.spectralRadius = radius
            settings.solutionSettings.sensorsWritePeriod = CRANK_END / SAMPLES
            with watch.running():
                tree.mbs.SolveDynamic(settings, solverType=solver)
            q, u = (tree.mbs.GetSensorStoredData(sensor)[:, 1:] for sensor in sensors)
            seen = [look(*state) for state in zip(q, u, strict=True)]
            drift = max(abs(s[2] + s[3] - seen[0][2] - seen[0][3]) for s in seen) / max(s[2] for s in seen)
            end_q, end_u = tree.mbs.systemData.GetODE2Coordinates(), tree.mbs.systemData.GetODE2Coordinates_t()
            return Outcome(watch.seconds, look(end_q, end_u)[0], max(s[1] for s in seen), drift)

        text = f"kinematic tree with a spherical joint, {what}, fixed steps scanned"
        return Method(PROGRAM, label, text, step_counts(500, 512_000, 2.0), solve)

    return [
        method("trapezoidal, index 2", exu.DynamicSolverType.TrapezoidalIndex2, 1.0, "TrapezoidalIndex2"),
        method("generalised alpha", exu.DynamicSolverType.GeneralizedAlpha, 0.9, "GeneralizedAlpha, spectral radius 0.9"),
    ]

"""Drake: a continuous MultibodyPlant under its own integrators; loops only in a discrete plant (SAP) or by a stiff bushing."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    Frame,
    PrismaticJoint,
    RevoluteJoint,
    RigidBody,
    RotationalInertia,
    SpatialInertia,
    UniversalJoint,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from benchmarks.peers.problems import (
    ACROSS,
    AXIAL,
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
    powers,
    step_counts,
)

PROGRAM = "Drake"
VERSION = version("drake")
ACCURACIES = powers(1e-3, 1e-13)


def _inertia(mass: float, centre: np.ndarray, principal: np.ndarray) -> SpatialInertia:
    return SpatialInertia.MakeFromCentralInertia(mass, centre, RotationalInertia(*principal))


def _frame(plant: MultibodyPlant, name: str, body: RigidBody, pose: RigidTransform) -> Frame:
    return plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), pose))


def _chain_plant(n: int) -> MultibodyPlant:
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
    inertia = _inertia(MASS, np.array([0.0, 0.0, -LENGTH / 2]), np.array([ACROSS, ACROSS, AXIAL]))
    parent = plant.world_body()
    for k in range(n):
        rod = plant.AddRigidBody(f"rod{k}", inertia)
        at = RigidTransform([0.0, 0.0, -LENGTH]) if k else RigidTransform(RotationMatrix(CHAIN_ROTATION), np.zeros(3))
        plant.AddJoint(BallRpyJoint(f"joint{k}", _frame(plant, f"end{k}", parent, at), rod.body_frame(), damping=0.0))
        parent = rod
    plant.Finalize()
    return plant


def chain(n: int) -> list[Method]:
    plant = _chain_plant(n)
    tip = plant.GetBodyByName(f"rod{n - 1}")

    def method(scheme: str) -> Method:
        simulator = Simulator(plant)
        ResetIntegratorFromFlags(simulator, scheme, 0.5)
        rest = simulator.get_context().Clone()

        def solve(accuracy: float, rate: np.ndarray = CHAIN_RATE) -> Outcome:
            initial = rest.Clone()
            plant.GetJointByName("joint0").set_angular_velocity(initial, rate)  # at zero angles both frames agree
            simulator.reset_context(initial)
            integrator = simulator.get_mutable_integrator()
            integrator.set_fixed_step_mode(False)
            integrator.set_target_accuracy(accuracy)
            simulator.Initialize()
            count = integrator.get_num_derivative_evaluations()
            watch = Stopwatch()
            with watch.running():
                simulator.AdvanceTo(CHAIN_END)
            pose = plant.EvalBodyPoseInWorld(plant.GetMyContextFromRoot(simulator.get_context()), tip)
            done = integrator.get_num_derivative_evaluations() - count
            return Outcome(watch.seconds, pose.multiply(np.array([0.0, 0.0, -LENGTH])), evaluations=done)

        return Method(PROGRAM, scheme, f"BallRpy joints, continuous plant, {scheme}, accuracy scanned", ACCURACIES, solve)

    return [method("runge_kutta3"), method("runge_kutta5")]


def _crank_plant(h: float) -> MultibodyPlant:
    plant = MultibodyPlant(h)
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.mutable_gravity_field().set_gravity_vector([0.0, 0.0, -GRAVITY])
    crank = plant.AddRigidBody("crank", _inertia(CRANK_MASS, CRANK_CENTRE - A, CRANK_INERTIA))
    slider = plant.AddRigidBody("slider", _inertia(SLIDER_MASS, np.zeros(3), SLIDER_INERTIA))
    rod = plant.AddRigidBody("rod", _inertia(ROD_MASS, np.array([0.0, ROD_LENGTH / 2, 0.0]), ROD_PRINCIPAL))
    world = plant.world_body()
    places = _frame(plant, "at A", world, RigidTransform(A)), _frame(plant, "at C", world, RigidTransform(C))
    plant.AddJoint(RevoluteJoint("A", places[0], crank.body_frame(), [1.0, 0.0, 0.0]))
    plant.AddJoint(PrismaticJoint("D", places[1], slider.body_frame(), [1.0, 0.0, 0.0]))
    # Drake's universal joint turns about x, then about y: y is the rod's n
    cross = np.column_stack([[1.0, 0.0, 0.0], ROD_ROTATION[:, 0], np.cross([1.0, 0.0, 0.0], ROD_ROTATION[:, 0])])
    on_rod = RigidTransform(RotationMatrix(ROD_ROTATION.T @ cross), np.zeros(3))
    on_slider = RigidTransform(RotationMatrix(cross), np.zeros(3))
    ends = _frame(plant, "on slider", slider, on_slider), _frame(plant, "on rod", rod, on_rod)
    plant.AddJoint(UniversalJoint("C", *ends))
    plant.AddBallConstraint(crank, B - A, rod, np.array([0.0, ROD_LENGTH, 0.0]))
    plant.Finalize()
    return plant


def slider_crank() -> list[Method]:
    def solve(steps: float) -> Outcome:
        plant = _crank_plant(CRANK_END / steps)
        simulator = Simulator(plant)
        context = simulator.get_mutable_context()
        plant.GetJointByName("A").set_angular_rate(context, CRANK_SPEED)
        plant.GetJointByName("D").set_translation_rate(context, SLIDER_SPEED)
        plant.GetJointByName("C").set_angular_rates(context, CROSS_RATES)
        simulator.Initialize()
        crank, rod = plant.GetBodyByName("crank"), plant.GetBodyByName("rod")
        gaps, energies, kinetic, watch = [], [], [], Stopwatch()
        for k in range(SAMPLES + 1):
            with watch.running():
                simulator.AdvanceTo(CRANK_END * k / SAMPLES)
            at = plant.EvalBodyPoseInWorld(context, crank), plant.EvalBodyPoseInWorld(context, rod)
            gaps.append(float(np.linalg.norm(at[0].multiply(B - A) - at[1].multiply(np.array([0.0, ROD_LENGTH, 0.0])))))
            kinetic.append(plant.CalcKineticEnergy(context))
            energies.append(kinetic[-1] + plant.CalcPotentialEnergy(context))
        drift = float(np.abs(np.array(energies) - energies[0]).max() / max(kinetic))
        return Outcome(watch.seconds, at[1].multiply(np.array([0.0, ROD_LENGTH / 2, 0.0])), max(gaps), drift)

    what = "discrete plant, SAP, ball constraint (a continuous plant has no constraints), step scanned"
    return [Method(PROGRAM, "SAP", what, step_counts(500, 512_000, 2.0), solve)]

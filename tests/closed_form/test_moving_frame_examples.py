"""The examples of [MovingFrame, 3.2-3.3] against their reference motions, in absolute and, where plane, planar coordinates.

The tables agree to 1e-14 or better and are correct to double rounding; 1e-9 is demanded, with DOP853 at 1e-12 or 1e-13.
"""

from functools import cache

import numpy as np
import pytest
from reference_data import largest, load, run
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert import gallery

BOUND = 1e-9
FINE, FINER = da.DOP853(rtol=1e-12, atol=1e-12), da.DOP853(rtol=1e-13, atol=1e-13)
END = (0.0, 0.0, -1.0)  # of a rod, body axes
both_kinds = pytest.mark.parametrize("coordinates", ["absolute", "planar"])


@cache
def motion(name, table, coordinates="absolute", integrator=FINE):
    reference = load(f"moving_frame_{table}")
    return run(gallery.build(name), reference["t"], integrator, coordinates=coordinates), reference["columns"]


def rods(model):
    return [body.name for body in model.bodies]


def angles_about_x(solution):
    """Absolute angle and rate of every rod, (nt, n); the angle within one turn."""
    R = np.stack([solution.rotation(name) for name in rods(solution.mechanism.model)], axis=1)
    w = np.stack([solution.angular_velocity(name)[:, 0] for name in rods(solution.mechanism.model)], axis=1)
    return np.arctan2(R[..., 2, 1], R[..., 1, 1]), w


def turns_apart(a, b):
    """a - b as angles, within half a turn."""
    return (a - b + np.pi) % (2 * np.pi) - np.pi


def check_plane_chain(solution, columns, until=np.inf):
    """Angles to BOUND; rates, end point and its velocity to BOUND times their own size, energies to BOUND of theirs."""
    early = solution.t <= until
    angle, rate = angles_about_x(solution)
    last = rods(solution.mechanism.model)[-1]
    assert largest(turns_apart(angle, columns["theta_abs"])[early]) <= BOUND
    assert largest((rate - columns["omega_abs"])[early]) <= BOUND * max(1.0, largest(columns["omega_abs"]))
    assert largest((solution.point(last, END) - columns["tip"])[early]) <= BOUND * largest(columns["tip"])
    velocity = (solution.velocity(last, END) - columns["tip_vel"])[early]
    assert largest(velocity) <= BOUND * max(1.0, largest(columns["tip_vel"]))
    energy, potential = solution.energy, columns["U"] + columns.get("V_spring", 0.0)
    assert largest((energy.kinetic - columns["T"])[early]) <= BOUND * largest(columns["T"])
    assert largest((energy.potential - potential)[early]) <= BOUND * largest(potential)
    assert largest(energy.total - energy.total[0]) <= BOUND * energy.scale


@both_kinds
def test_single_pendulum(coordinates):
    solution, columns = motion("single_pendulum", "single_pendulum", coordinates)
    angle, rate = angles_about_x(solution)
    assert largest(angle[:, 0] - columns["theta"]) <= BOUND
    assert largest(rate[:, 0] - columns["omega"]) <= BOUND
    assert largest(solution.point("rod 1", END) - columns["tip"]) <= 2 * BOUND  # a rod of 2 m
    assert largest(solution.energy.kinetic - columns["T"]) <= BOUND * largest(columns["T"])
    assert largest(solution.energy.potential - columns["U"]) <= BOUND * largest(columns["U"])
    # the source compares with a thin rod, which is another pendulum: 3e-3 rad apart within 10 s
    assert 1e-3 < largest(angle[:, 0] - columns["theta_thinrod"]) < 4e-3


@both_kinds
@pytest.mark.parametrize(
    ("name", "table"),
    [("double_pendulum", "double_pendulum"), ("chain", "chain_4"), ("tethered_chain", "tethered_chain")],
)
def test_plane_chains(name, table, coordinates):
    check_plane_chain(*motion(name, table, coordinates))


@both_kinds
def test_sixteen_rods_without_damping(coordinates):
    """A disturbance grows by 1e5 within 10 s (the tables themselves part by 3e-14, computed with 1e-19): rounding of 1e-15
    times steps and growth leaves 1e-9 up to 8 s, ten times that up to 10 s. The energy does not suffer."""
    solution, columns = motion("chain_16", "chain_16", coordinates, FINER)
    check_plane_chain(solution, columns, until=8.0)
    assert largest(turns_apart(angles_about_x(solution)[0], columns["theta_abs"])) <= 10 * BOUND
    assert largest(solution.energy.total) <= 1e-11 * solution.energy.scale  # T + U = 0: level with the support at rest


def test_plane_chains_stay_in_their_plane():
    """Ball joints would let them leave it; nothing pushes them."""
    for name, table in (("chain", "chain_4"), ("tethered_chain", "tethered_chain")):
        solution, _ = motion(name, table)
        for rod in rods(solution.mechanism.model):
            assert largest(solution.position(rod)[:, 0]) <= 1e-14


@both_kinds
def test_what_the_dampers_take(coordinates):
    """The work of end damper and joint dampers: 24 kJ within 10 s, never given back."""
    solution, columns = motion("tethered_chain", "tethered_chain", coordinates)
    assert largest(solution.energy.external_work + columns["dissipated"]) <= BOUND * largest(columns["dissipated"])
    assert np.all(np.diff(solution.energy.external_work) < 0)


def test_symmetric_top():
    """40 rad/s, 64 turns: errors relative to the rates, the momentum and the energy."""
    solution, columns = motion("symmetric_top", "top")
    q, w = solution.quaternion("top"), solution.angular_velocity("top", "body")
    q *= np.sign(np.sum(q * columns["q"], axis=1))[:, None]  # q and -q are the same rotation
    assert largest(q - columns["q"]) <= BOUND
    assert largest(w - columns["omega_body"]) <= BOUND
    assert largest(solution.position("top") - columns["x_cm"]) <= BOUND
    axis = solution.rotation("top")[:, :, 2]
    azimuth = np.unwrap(np.arctan2(axis[:, 0], -axis[:, 1]))
    assert largest(turns_apart(azimuth, columns["phi"])) <= BOUND / 0.29  # the sine of the tilt is 0.29 or more
    assert largest(solution.energy.kinetic - columns["T"]) <= BOUND * largest(columns["T"])
    assert largest(solution.energy.potential - columns["U"]) <= BOUND * largest(columns["U"])
    body = solution.mechanism.model.body("top")
    L = np.einsum("tij,tj->ti", solution.rotation("top"), w @ body.inertia)
    L += body.mass * np.cross(solution.position("top"), solution.velocity("top"))
    assert largest(L[:, 2] - columns["Hz"]) <= BOUND * largest(columns["Hz"])
    assert largest(np.sum(L * axis, axis=1) - columns["H3"]) <= BOUND * largest(columns["H3"])


def relative_motion(solution):
    """Rotation and angular velocity of each rod against the one before: (n, nt, 3, 3), (n, nt, 3) in its own axes."""
    names = rods(solution.mechanism.model)
    R = [np.broadcast_to(np.eye(3), (len(solution.t), 3, 3)), *(solution.rotation(name) for name in names)]
    w = [np.zeros((len(solution.t), 3)), *(solution.angular_velocity(name) for name in names)]
    pairs = range(1, len(R))
    turn = [np.einsum("tji,tjk->tik", R[k - 1], R[k]) for k in pairs]
    return np.array(turn), np.array([np.einsum("tji,tj->ti", R[k], w[k] - w[k - 1]) for k in pairs])


def test_torsional_springs_on_euler_angles():
    """The rods twist at 100 to 250 rad/s, which rates show most: BOUND times the largest rate of twist."""
    solution, columns = motion("torsion_chain", "torsion_chain", integrator=FINER)
    R, w = relative_motion(solution)
    u = columns["u"].reshape(-1, 4, 4).transpose(1, 0, 2)
    expected = Rotation.from_quat(u.reshape(-1, 4)[:, [1, 2, 3, 0]]).as_matrix().reshape(R.shape)
    assert largest(R - expected) <= BOUND
    assert largest(w - columns["w"].reshape(-1, 4, 3).transpose(1, 0, 2)) <= BOUND * largest(columns["w"])
    x = np.concatenate([solution.position(name) for name in rods(solution.mechanism.model)], axis=1)
    assert largest(x - columns["x"]) <= BOUND
    assert largest(solution.point("rod 4", END) - columns["tip"]) <= BOUND
    energy = solution.energy
    assert largest(energy.kinetic - columns["T"]) <= BOUND * largest(columns["T"])
    assert largest(energy.potential - columns["U"]) <= BOUND * largest(columns["U"])
    # without a potential all of the springs' work is external
    work = columns["T"] + columns["U"] - columns["U"][0]
    assert largest(energy.external_work - work) <= BOUND * largest(columns["T"])


def test_euler_angle_springs_feed_energy():
    """From a bend of 0.3, T + U + 1/2 sum k |angles|^2 is 343 J higher after 15 s, as found independently."""
    solution = run(gallery.torsion_chain(bend=0.3), [0.0, 15.0])
    R, _ = relative_motion(solution)
    stored = np.zeros(2)
    for stiffness, turn in zip((4000, 3000, 2000, 1000), R, strict=True):
        stored += stiffness * np.sum(Rotation.from_matrix(turn).as_euler("ZYX") ** 2, axis=1) / 2
    total = solution.energy.kinetic + solution.energy.potential + stored
    assert total[1] - total[0] == pytest.approx(343.0, abs=0.5)


def test_rotation_vector_springs_have_a_potential():
    """V = 1/2 k angle^2 at every joint; T + U + V is constant and nothing is external."""
    solution = run(gallery.build("torsion_chain_rotation_vector"), np.linspace(0.0, 15.0, 31), FINE)
    R, _ = relative_motion(solution)
    stored = np.zeros(31)
    for stiffness, turn in zip((4000, 3000, 2000, 1000), R, strict=True):
        stored += stiffness * Rotation.from_matrix(turn).magnitude() ** 2 / 2
    heights = sum(solution.position(name)[:, 2] for name in rods(solution.mechanism.model))
    energy = solution.energy
    assert largest(energy.potential - 50 * 9.81 * heights - stored) <= 1e-12 * largest(energy.potential)
    assert largest(energy.external_work) == 0.0
    assert largest(energy.total - energy.total[0]) <= BOUND * energy.scale
    assert np.ptp(stored) > 100.0


def test_coil_starts_as_specified():
    columns = load("moving_frame_coiled_chain")["columns"]
    model = gallery.build("coiled_chain")
    some = [model.body(f"rod {k}") for k in (1, 16, 32, 48, 64)]
    # 64 rods end to end over 128 m: rounding
    assert largest(np.concatenate([body.position for body in some]) - columns["x"][0]) <= 1e-13
    for body, q in zip(some, columns["q"][0].reshape(5, 4), strict=True):
        assert abs(body.rotation @ q) == pytest.approx(1.0, abs=1e-14)
    end = some[-1].position + da.Rotation(some[-1].rotation).apply(END)
    assert largest(end - columns["tip"][0]) <= 1e-13


def test_coil_falls():
    """Two seconds of 64 rods: rods far from the support fall freely; energy is accounted for, dampers only take."""
    solution = run(gallery.build("coiled_chain"), np.linspace(0.0, 2.0, 21), da.DOP853())
    energy = solution.energy
    assert largest(energy.total) <= 1e-8 * energy.scale  # starts at zero; default tolerances
    assert np.all(np.diff(energy.external_work) < 0)
    assert solution.position("rod 64")[:, 2][5] == pytest.approx(-9.81 * 0.25 / 2, rel=0.01)  # t = 0.5 s

"""Cardan angles against SciPy's, continued through the vertical, and flagged there."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import dalembert as da
from dalembert import gallery
from dalembert.model.cardan import SEQUENCES, cardan_angles

every_sequence = pytest.mark.parametrize("sequence", SEQUENCES)


@every_sequence
def test_angles_of_single_rotations(sequence):
    angles = np.random.default_rng(1).uniform(-1.4, 1.4, (50, 3))
    R = Rotation.from_euler(sequence.upper(), angles).as_matrix()  # capitals: about the turned axes
    for k in range(50):
        np.testing.assert_allclose(cardan_angles(R[k : k + 1], sequence).angles[0], angles[k], rtol=0, atol=1e-12)


@every_sequence
def test_angles_are_counted_on(sequence):
    """Three turns of every angle, the middle one through the singularity six times between the samples."""
    t = np.linspace(0, 20, 801)
    angles = np.stack([1.1 * t + 0.3 * np.sin(t), t, 0.2 - 0.9 * t], axis=1)
    found = cardan_angles(Rotation.from_euler(sequence.upper(), angles).as_matrix(), sequence)
    np.testing.assert_allclose(found.angles, angles, rtol=0, atol=1e-10)
    assert not found.singular.any()


@every_sequence
def test_singular_rotations_are_flagged(sequence):
    angles = np.array([[0.1, 0.0, 0.2], [0.1, 0.8, 0.2], [0.1, np.pi / 2, 0.2], [0.1, 2.3, 0.2], [0.1, np.pi, 0.2]])
    found = cardan_angles(Rotation.from_euler(sequence.upper(), angles).as_matrix(), sequence)
    np.testing.assert_array_equal(found.singular, [False, False, True, False, False])
    np.testing.assert_allclose(found.angles, angles, rtol=0, atol=1e-8)


def test_outputs_of_a_solution():
    solution = da.simulate(gallery.towing_tank_ship(), 1.0, save_at=np.linspace(0, 1, 11))
    angles = solution.cardan("ship")
    assert angles.sequence == "zyx"
    assert np.abs(angles.roll).max() <= 1e-10 and np.abs(angles.yaw).max() <= 1e-10
    assert angles.pitch[0] == pytest.approx(0.1, abs=1e-12)
    np.testing.assert_allclose(solution.cardan("ship", "xyz").about("y"), angles.pitch, rtol=0, atol=1e-10)
    with pytest.raises(da.ModelError, match="sequence is 'zxz'; give one of xyz, xzy"):
        solution.cardan("ship", "zxz")
    with pytest.raises(da.ModelError, match="axis is 'w'; give 'x', 'y' or 'z'"):
        angles.about("w")
    with pytest.raises(da.ModelError, match="there is no body 'boat'"):
        solution.cardan("boat")

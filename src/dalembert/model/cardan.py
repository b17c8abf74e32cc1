"""Cardan angles of a rotation, e.g. roll, pitch and yaw: the sequence is named, angles are counted on, singularities flagged.

R = R_i(a) R_j(b) R_k(c) about the axes i, j, k that a sequence such as "zyx" names, each turn about the axes as already
turned; sin b = s R_ik,  tan a = -s R_jk / R_kk,  tan c = -s R_ij / R_ii,  s = 1 for xyz, yzx, zxy, else -1
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from dalembert.arrays import Array
from dalembert.errors import ModelError

SEQUENCES = tuple("".join(letters) for letters in permutations("xyz"))
# below this cosine of the middle angle the two others lose three digits and more, and are flagged
SINGULAR = 1e-3


@dataclass(frozen=True, eq=False)
class CardanAngles:
    """angles : (nt, 3) [rad], column k about axis sequence[k], continuous over time (not wrapped)
    singular : (nt,) True where the first and the last axis are parallel to 1e-3 and only the sum or difference of their
        angles is well determined
    """

    sequence: str
    angles: Array
    singular: npt.NDArray[np.bool_]

    def about(self, axis: str) -> Array:
        """(nt,) the angle about "x", "y" or "z" [rad]."""
        if axis not in self.sequence or len(axis) != 1:
            raise ModelError(f"axis is {axis!r}; give 'x', 'y' or 'z'")
        return self.angles[:, self.sequence.index(axis)]

    @property
    def roll(self) -> Array:
        """(nt,) about x [rad]."""
        return self.about("x")

    @property
    def pitch(self) -> Array:
        """(nt,) about y [rad]."""
        return self.about("y")

    @property
    def yaw(self) -> Array:
        """(nt,) about z [rad]."""
        return self.about("z")


def cardan_angles(R: Array, sequence: str = "zyx") -> CardanAngles:
    """Angles of (nt, 3, 3) rotations; the first middle angle lies within a quarter turn, all go on from there.

    A rotation has two sets of angles, (a, b, c) and (a + pi, pi - b, c + pi): the one nearer to the time before is taken,
    so that a body that loops is followed through the vertical. Where the rotation is singular c keeps its value.
    """
    if sequence not in SEQUENCES:
        raise ModelError(f"sequence is {sequence!r}; give one of {', '.join(SEQUENCES)}")
    i, j, k = ("xyz".index(letter) for letter in sequence)
    s = 1.0 if (j - i) % 3 == 1 else -1.0
    a, b = np.arctan2(-s * R[:, j, k], R[:, k, k]), np.arctan2(s * R[:, i, k], np.hypot(R[:, i, i], R[:, i, j]))
    c = np.arctan2(-s * R[:, i, j], R[:, i, i])
    singular = np.hypot(R[:, i, i], R[:, i, j]) < SINGULAR
    angles = np.stack([a, b, c], axis=1)
    undetermined = np.hypot(R[:, i, i], R[:, i, j]) < 1e-9
    for n in range(1, len(angles)):
        before = angles[n - 1]
        if undetermined[n]:
            # R_j(+-pi/2): only a + s b' c is known, b' = sign of sin b
            turn = np.arctan2(s * R[n, k, j], R[n, j, j])
            angles[n] = turn - np.sign(R[n, i, k]) * before[2], angles[n, 1], before[2]
        other = np.array([angles[n, 0] + np.pi, np.pi - angles[n, 1], angles[n, 2] + np.pi])
        one, two = (v - 2 * np.pi * np.round((v - before) / (2 * np.pi)) for v in (angles[n], other))
        angles[n] = one if undetermined[n] or np.abs(one - before).sum() <= np.abs(two - before).sum() else two
    return CardanAngles(sequence, angles, singular)

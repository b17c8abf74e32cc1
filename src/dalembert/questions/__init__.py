"""Questions about a mechanism beside its motion in time, answered by the same rows, forces and masses."""

"""Constraint rows, motions, forces and inertia of bodies."""

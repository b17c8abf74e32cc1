"""Lagrangian systems: a tracer for user functions, equations of motion from a Lagrangian, discrete variational steps."""

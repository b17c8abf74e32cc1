"""Runs as functions of other programs' derivatives: JAX (`bridges/jax.py`) and torch (`bridges/torch.py`)."""

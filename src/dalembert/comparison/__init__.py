"""The same model by many formulations and integrators."""

"""The jet formulation's two slots [JetMultibody, 3-6]: the distribution as right-hand side, and the projection.

Stage points are projected inside the right-hand side. The Runge-Kutta method then sees the vector field f(P(x)), which has the
same solutions on the manifold, so that every method keeps its order.
"""

from dalembert.kernels.compiler import kernel
from dalembert.kernels.distribution import rates
from dalembert.kernels.project import project_state
from dalembert.kernels.tables import NX, OK, STAGES, W_X


@kernel
def jet_rate(t, x, dx, I, F, W, callback):
    """dx <- distribution at x, or at its projection when the formulation projects stages."""
    if I[STAGES] == 0:
        return rates(t, x, dx, I, F, W, callback)
    n = I[NX]
    y = W[I[W_X] : I[W_X] + n]
    for i in range(n):
        y[i] = x[i]
    status = project_state(t, y, I[STAGES] == 2, I, F, W, callback)
    if status != OK:
        return status
    return rates(t, y, dx, I, F, W, callback)


@kernel
def jet_project(t, x, I, F, W, callback):
    """x <- its projection onto unit Euler parameters, constraints and invariants."""
    return project_state(t, x, True, I, F, W, callback)

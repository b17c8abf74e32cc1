"""What saved states imply: multipliers, accelerations, residuals, energies."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import (
    KINETIC,
    M_ALL,
    OK,
    OUTPUT,
    POTENTIAL_ENERGY,
    W_ACC,
    W_G,
    W_RHS,
    W_STAT,
    W_ZETA,
    M,
)


@light
def evaluate_states(t, x, dx, out_lam, out_acc, out_g, out_gdot, out_energy, system):
    """For every saved (t_k, x_k): lam (m), accelerations (6 per body or 1 per coordinate), g (m_all), g' (m), T, U. Status."""
    I, W = system.I, system.W
    for k in range(t.size):
        status = equations(OUTPUT, t[k], x[k], dx, system)
        if status != OK:
            return status
        for i in range(out_acc.shape[1]):  # after the ground's six numbers
            out_acc[k, i] = W[I[W_ACC] + 6 + i]
        for i in range(I[M_ALL]):
            out_g[k, i] = W[I[W_G] + i]
        for i in range(I[M]):
            out_lam[k, i] = W[I[W_RHS] + i]
            out_gdot[k, i] = W[I[W_ZETA] + i]
        out_energy[k, 0] = W[I[W_STAT] + KINETIC]
        out_energy[k, 1] = W[I[W_STAT] + POTENTIAL_ENERGY]
    return OK

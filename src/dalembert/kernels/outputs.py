"""What saved states imply: multipliers, accelerations, residuals, energies."""

from dalembert.kernels.compiler import kernel
from dalembert.kernels.inertia import gravity_potential, kinetic_energy
from dalembert.kernels.solve import subtract_row_products
from dalembert.kernels.tables import (
    M_ALL,
    NB,
    OK,
    POTENTIAL,
    POWER,
    RATE,
    S_V,
    STATE_W,
    W_A,
    W_ACC,
    W_BODY,
    W_G,
    W_GT,
    W_RHS,
    W_STAT,
    W_ZETA,
    M,
)


@kernel
def evaluate_states(system, forces, callback, t, x, dx, out_lam, out_acc, out_g, out_gdot, out_energy, I, F, W):
    """For every saved (t_k, x_k): lam (m), accelerations (6 per body), g (m_all), g' (m), (T, U). Returns status."""
    m = I[M]
    for k in range(t.size):
        status = system(RATE, t[k], x[k], dx, I, F, W, forces, callback)
        if status != OK:
            return status
        for i in range(6 * I[NB]):
            out_acc[k, i] = W[I[W_ACC] + 6 + i]
        for i in range(I[M_ALL]):
            out_g[k, i] = W[I[W_G] + i]
        for i in range(m):
            out_lam[k, i] = W[I[W_RHS] + i]
            W[I[W_ZETA] + i] = -W[I[W_GT] + i]
        subtract_row_products(I[W_A], I[W_BODY] + S_V, STATE_W, I[W_ZETA], False, I, W)
        for i in range(m):
            out_gdot[k, i] = -W[I[W_ZETA] + i]
        out_energy[k, 0] = kinetic_energy(I, F, W)
        forces(POTENTIAL, t[k], I, F, W, callback)
        out_energy[k, 1] = gravity_potential(I, F, W) + W[I[W_STAT] + POWER]
    return OK

"""What a saved state implies: multipliers, joint wrenches, residuals, energies."""


from dalembert.kernels.compiler import kernel
from dalembert.kernels.distribution import accelerations
from dalembert.kernels.forces import kinetic_energy, potential_energy
from dalembert.kernels.tables import (
    E_A,
    E_BODY,
    E_N,
    E_ROW,
    INC_I,
    INC_I_W,
    M_ALL,
    NB,
    NINC,
    OK,
    S_V,
    STATE_W,
    W_A,
    W_ACC,
    W_BODY,
    W_G,
    W_GT,
    W_RHS,
    M,
)


@kernel
def evaluate_states(t, x, out_lam, out_acc, out_g, out_gdot, out_energy, I, F, W, callback):
    """For every saved (t_k, x_k): lam (M), accelerations (6 per body), g (M_ALL), g' (M), (T, U). Returns (status, k)."""
    m, nb = I[M], I[NB]
    for k in range(t.size):
        _, status = accelerations(t[k], x[k], I, F, W, callback)
        if status != OK:
            return status, k
        for i in range(m):
            out_lam[k, i] = W[I[W_RHS] + i]
            out_gdot[k, i] = W[I[W_GT] + i]
        for i in range(6 * nb):
            out_acc[k, i] = W[I[W_ACC] + 6 + i]
        for i in range(I[M_ALL]):
            out_g[k, i] = W[I[W_G] + i]
        for e in range(I[NINC]):
            c = I[INC_I] + INC_I_W * e
            v = I[W_BODY] + STATE_W * I[c + E_BODY] + S_V
            for i in range(I[c + E_N]):
                a = I[W_A] + I[c + E_A] + 6 * i
                for j in range(6):
                    out_gdot[k, I[c + E_ROW] + i] += W[a + j] * W[v + j]
        out_energy[k, 0] = kinetic_energy(I, F, W)
        out_energy[k, 1] = potential_energy(I, F, W)
    return OK, t.size

"""What saved states imply: multipliers, accelerations, residuals, energies."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.slots import equations
from dalembert.kernels.base.tables import OK, OUTPUT


@light
def evaluate_states(t, x, dx, out_lam, out_acc, out_g, out_gdot, out_energy, system):
    """For every saved (t_k, x_k): lam (m), accelerations (6 per body or 1 per coordinate), g (m_all), g' (m), T, U. Status."""
    acc, count = system.acc, system.count
    for k in range(t.size):
        status = equations(OUTPUT, t[k], x[k], dx, system)
        if status != OK:
            return status
        for i in range(out_acc.shape[1]):
            out_acc[k, i] = acc[i]
        for i in range(system.m_all):
            out_g[k, i] = system.g[i]
        for i in range(system.m):
            out_lam[k, i], out_gdot[k, i] = system.rhs[i], system.zeta[i]
        out_energy[k, 0], out_energy[k, 1] = count.kinetic, count.potential
    return OK

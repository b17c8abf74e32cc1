"""What saved states imply: multipliers, accelerations, residuals, energies, what force elements do."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.loops import copy
from dalembert.kernels.base.slots import equations, forces
from dalembert.kernels.base.tables import OK, OUTPUT, POTENTIAL, WRENCH
from dalembert.kernels.coordinates.kinematics import load_angles, load_poses
from dalembert.kernels.mechanics.inertia import clear_wrenches


@light
def evaluate_states(t, x, dx, out_lam, out_acc, out_g, out_gdot, out_energy, system):
    """For every saved (t_k, x_k): lam (m), accelerations (6 per body or 1 per coordinate), g (m_all), g' (m), T, U, what is
    unmet of G u' + zeta = 0. Status."""
    count = system.count
    for k in range(t.size):
        status = equations(OUTPUT, t[k], x[k], dx, system)
        if status != OK:
            return status
        copy(out_acc[k], system.acc, out_acc.shape[1])
        copy(out_g[k], system.g, system.m_all)
        copy(out_lam[k], system.rhs, system.m)
        copy(out_gdot[k], system.zeta, system.m)
        out_energy[k, 0], out_energy[k, 1], out_energy[k, 2] = count.kinetic, count.potential, count.unmet
    return OK


@light
def evaluate_forces(t, x, out_wrench, out_records, out_energy, system):
    """For every saved (t_k, x_k): per body, the ground included, force and torque about its centre of mass, world axes; per
    record of the force elements coordinate, rate and effort; the energy that they store. Status."""
    for k in range(t.size):
        load_poses(x[k], system)
        load_angles(x[k], system)
        clear_wrenches(system)
        status = forces(WRENCH, t[k], system)
        if status != OK:
            return status
        for b in range(system.nb + 1):
            body = system.bodies[b]
            force, torque = body.force, body.R @ body.torque
            for c in range(3):
                out_wrench[k, 6 * b + c], out_wrench[k, 6 * b + 3 + c] = force[c], torque[c]
        for e in system.forces:
            at = 3 * e.number
            out_records[k, at], out_records[k, at + 1], out_records[k, at + 2] = e.s, e.rate, e.value
        forces(POTENTIAL, t[k], system)
        out_energy[k] = system.count.power
    return OK

"""The jet formulation's slot [JetMultibody, 3-6]: the distribution as rate, the quasi-orthogonal projection."""

from dalembert.kernels.base.compiler import light
from dalembert.kernels.base.tables import OK, OUTPUT, PROJECT
from dalembert.kernels.formulations.distribution import prepare_solve, solve_by_factor, store_outputs, store_solution, unmet
from dalembert.kernels.formulations.pivots import watch_rows
from dalembert.kernels.formulations.project import project_constraints, snap_angles


@light
def jet(mode, t, x, dx, system):
    """RATE: dx <- distribution at x (Algorithm 5.2). PROJECT: x <- onto unit Euler parameters and constraints.
    OUTPUT: RATE, then what a saved state implies (see `store_outputs`)."""
    if mode != PROJECT:
        status = prepare_solve(t, x, system)
        if status == OK:
            solve_by_factor(system)
            status = store_solution(x, dx, system)
        if mode == OUTPUT and status == OK:
            free = system.nu > system.m - system.nidle  # else accelerations follow from the rows alone
            system.count.unmet = unmet(system.cg, free, system)
            store_outputs(t, system)
    else:
        status = project_constraints(t, x, system)
        snap_angles(x, system)
        if status == OK:
            watch_rows(t, system)
    return status

"""The seams at which compiled code calls compiled code it does not know: the integrator's system, force elements, user
functions.

    callback(k, t, W, s)                        user function k; inputs from W[s], outputs after them; status
    forces(mode, t, I, F, W, callback)          the force elements of a model, see forces.py; status
    system(mode, t, x, dx, I, F, W, forces, callback)
                                                RATE: dx <- x';  PROJECT: x <- nearest admissible state; status

One fixed function type each, so that nothing is compiled twice and everything is cached.
"""

from numba import types

from dalembert.kernels.compiler import bind, light

_f8, _i8, _F, _I = types.float64, types.int64, types.float64[::1], types.int64[::1]

CALLBACK_SIGNATURE = _i8(_i8, _f8, _F, _i8)
CALLBACK = types.FunctionType(CALLBACK_SIGNATURE)
FORCES_SIGNATURE = _i8(_i8, _f8, _I, _F, _F, CALLBACK)
FORCES = types.FunctionType(FORCES_SIGNATURE)
SYSTEM_SIGNATURE = _i8(_i8, _f8, _F, _F, _I, _F, _F, FORCES, CALLBACK)
SYSTEM = types.FunctionType(SYSTEM_SIGNATURE)


@light
def no_callback(k, t, W, s):
    """Stands in where a model has no user function."""
    return 0


@light
def no_forces(mode, t, I, F, W, callback):
    """Stands in where a model has no force elements."""
    return 0


@light
def no_correction(mode, t, x, dx, I, F, W, forces, callback):
    """Stands in where a formulation keeps no invariants."""
    return 0


def as_callback(function):
    """Compiled for the callback seam."""
    return bind(function, CALLBACK_SIGNATURE)


def as_forces(function):
    """Compiled for the force seam."""
    return bind(function, FORCES_SIGNATURE)


def as_system(function):
    """Compiled for the system seam."""
    return bind(function, SYSTEM_SIGNATURE)

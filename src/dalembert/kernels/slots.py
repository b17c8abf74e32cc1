"""The two seams at which compiled code calls compiled code it does not know: the integrator's right-hand side and
projection, and the user's functions. One fixed function type each, so that nothing is compiled twice and all is cached.

    callback(k, t, W, s)                       user function k: inputs W[s..s+17] = r, v, R, w; outputs W[s+18..s+20]; status
    rate(t, x, dx, I, F, W, callback)          dx <- x'; status
    project(t, x, I, F, W, callback)           x <- nearest admissible state; status
"""

from numba import types

from dalembert.kernels.compiler import bind, kernel

_f8, _i8, _F, _I = types.float64, types.int64, types.float64[::1], types.int64[::1]

CALLBACK_SIGNATURE = _i8(_i8, _f8, _F, _i8)
CALLBACK = types.FunctionType(CALLBACK_SIGNATURE)
RATE_SIGNATURE = _i8(_f8, _F, _F, _I, _F, _F, CALLBACK)
RATE = types.FunctionType(RATE_SIGNATURE)
PROJECT_SIGNATURE = _i8(_f8, _F, _I, _F, _F, CALLBACK)
PROJECT = types.FunctionType(PROJECT_SIGNATURE)


@kernel
def no_callback(k, t, W, s):
    """Stands in where a model has no user function."""
    return 0


def bound_no_callback():
    return bind(no_callback, CALLBACK_SIGNATURE)

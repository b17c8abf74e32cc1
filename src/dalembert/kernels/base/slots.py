"""The seams at which compiled code calls compiled code it does not know: the integrator's system, force elements, user
functions.

    callback(k, t, W, s)                        user function k; inputs from W[s], outputs after them; status
    forces(mode, t, I, F, W, callback)          the force elements of a model, see forces.py; which of its redundant rows act,
                                                see choosing.py; status
    system(mode, t, x, dx, I, F, W, forces, callback)
                                                RATE: dx <- x';  PROJECT: x <- nearest admissible state; status

One fixed function type each, so that nothing is compiled twice and everything is cached.
"""

from numba import types

from dalembert.kernels.base.compiler import COMPILING, JIT, bind, light

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


def _settled(function):
    """The same function with its one compiled version at hand: Numba looks both addresses of it up anew, which takes 50 us,
    whenever it is passed through a slot from Python."""
    with COMPILING:
        if JIT and "get_compile_result" not in vars(function):
            (result,) = function.overloads.values()
            find, known = result.library.get_pointer_to_function, {}

            def address(name):
                if name not in known:
                    known[name] = find(name)
                return known[name]

            result.library.get_pointer_to_function = address
            function.get_compile_result = lambda signature: result
    return function


def as_callback(function):
    """Compiled for the callback seam."""
    return _settled(bind(function, CALLBACK_SIGNATURE))


def as_forces(function):
    """Compiled for the force seam."""
    return _settled(bind(function, FORCES_SIGNATURE))


def as_system(function):
    """Compiled for the system seam."""
    return _settled(bind(function, SYSTEM_SIGNATURE))

"""The seams at which compiled code calls compiled code it does not know. Addresses of what fills them lie in the header of I:

    equations(mode, t, x, dx, system)     the formulation: RATE: dx <- x';  OUTPUT: also what a saved state implies;
                                          STEP: x <- after a step of count.step, where it makes its own; status
    projection(mode, t, x, dx, system)    PROJECT: x <- nearest admissible state; status
    correction(mode, t, x, dx, system)    CORRECT: x <- back to the invariants that are kept; status
    forces(mode, t, system)               the force elements of a model, see forces.py; which of its redundant rows act, see
                                          choosing.py; status
    laws(mode, t, system)                 those force elements that few models have, see laws.py; status
    callback(k, t, system, s)             user function k; inputs from W[s], outputs after them; status

One fixed signature each, so that nothing is compiled twice and everything is cached; another one for systems of other scalars
(dual_types.py), whose I names what was compiled for these. What fills a seam must outlive the I that names it
(formulations/run.py).
"""

from functools import cache
from weakref import WeakValueDictionary

from numba import types
from numba.core import cgutils

from dalembert.kernels.base.compiler import COMPILING, JIT, bind, light
from dalembert.kernels.base.tables import AT_CALLBACK, AT_CORRECTION, AT_EQUATIONS, AT_FORCES, AT_LAWS, AT_PROJECTION
from dalembert.kernels.base.vector_types import define
from dalembert.kernels.base.view_types import SYSTEM, SYSTEM_VIEW, View, array_type, header_entry, view_as_array

_i8 = types.int64


@cache
def callback_signature(system):
    scalar = system.scalar("W")
    return _i8(_i8, scalar, array_type(scalar), _i8)


@cache
def forces_signature(system):
    return _i8(_i8, system.scalar("W"), system)


@cache
def equations_signature(system):
    array = array_type(system.scalar("W"))
    return _i8(_i8, system.scalar("W"), array, array, system)


CALLBACK_SIGNATURE = callback_signature(SYSTEM)
FORCES_SIGNATURE = forces_signature(SYSTEM)
EQUATIONS_SIGNATURE = equations_signature(SYSTEM)

_known = WeakValueDictionary()  # address -> function


def callback(k, t, system, s):
    called = _known[system.I[AT_CALLBACK]] if system.callback is None else system.callback
    return called(k, t, system.W, s)


def _is_system(typ):
    return isinstance(typ, View) and typ.what == SYSTEM_VIEW


def define_seam(function, signature_of, place):
    """`function` in compiled code: a call of whatever lies at the address that place(builder, *args) finds.

    signature_of(system) : its signature, for the type of the system among its arguments
    """
    count = len(signature_of(SYSTEM).args)

    def result(typingctx, *args):
        return types.int64 if any(map(_is_system, args)) else None

    def lower(context, builder, out, *args):
        signature = signature_of(next(typ for _, typ in args if _is_system(typ)))
        wanted = signature.args
        address, convention = place(builder, *(value for value, _ in args)), context.call_conv
        called = builder.inttoptr(address, convention.get_function_type(signature.return_type, wanted).as_pointer())
        given = []
        for (value, typ), want in zip(args, wanted, strict=True):
            if _is_system(typ) and want != typ:  # user functions see the workspace alone
                given.append(view_as_array(context, builder, typ, value, "W"))
            else:
                given.append(context.cast(builder, value, typ, want))
        status, value = convention.call_function(builder, called, signature.return_type, wanted, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    define(function, result, lower, [types.Any] * count)


def seam(name, signature_of, find, place):
    """What calls the function at an address that find(*args) reads in plain Python, place(builder, *args) in compiled code."""

    def called(*args):
        return _known[find(*args)](*args)

    called.__name__ = called.__qualname__ = name
    define_seam(called, signature_of, place)
    return called


def _of_system(name, signature_of, entry):
    """At an address in the header of I of the system, which is the last argument."""

    def place(builder, *args):
        return header_entry(builder, args[-1], entry)

    return seam(name, signature_of, lambda *args: args[-1].I[entry], place)


equations = _of_system("equations", equations_signature, AT_EQUATIONS)
projection = _of_system("projection", equations_signature, AT_PROJECTION)
correction = _of_system("correction", equations_signature, AT_CORRECTION)
forces = _of_system("forces", forces_signature, AT_FORCES)
laws = _of_system("laws", forces_signature, AT_LAWS)
define_seam(callback, callback_signature, lambda builder, k, t, system, s: header_entry(builder, system, AT_CALLBACK))


@light
def no_callback(k, t, W, s):
    """Stands in where a model has no user function."""
    return 0


@light
def no_forces(mode, t, system):
    """Stands in where a model has no force elements, or none of laws.py."""
    return 0


@light
def no_correction(mode, t, x, dx, system):
    """Stands in where a formulation keeps no invariants."""
    return 0


def address(function, signature=None):
    """Of a function that was bound to a seam: what goes into the header of I. signature : which, where it has several."""
    placed = getattr(function, "placed", {})
    if id(signature) in placed:
        return placed[id(signature)][0]
    with COMPILING:
        found = id(function)
        if JIT:
            (result,) = function.overloads.values() if signature is None else (function.overloads[signature.args],)
            found = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
            assert found, f"{function.py_func.__name__} is a helper: only kernels have an address"
        _known[found] = function
        function.placed = {**placed, id(signature): (found, signature)}  # which lives as long as its id is asked for
    return found


def as_system(function):
    """Compiled for the seams of formulations."""
    return bind(function, EQUATIONS_SIGNATURE)

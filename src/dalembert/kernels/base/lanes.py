"""Lanes: a scalar that holds the same number of several runs, so that one evaluation of a kernel's source serves them all.

A value is one vector register of LLVM, <COUNT x double>; +, -, *, /, abs, sqrt, sin, cos, arctan2 and floor act lane by lane
and give what they give for float64, to the last bit. Numbers that all runs share (constants, literals) stay float64 and are
spread where they meet lanes. A kernel goes one way for all lanes, so comparisons give one answer:

    a < b, a <= b, a == b     true when true in every lane
    a > b, a >= b, a != b     true when true in some lane

A branch on values is right for lanes when taking it does no harm where it was not called for (normalising, refusing a step).
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from dalembert.kernels.base.scalar_types import COMPARISONS, Scalar, declare, seen_as, spread
from dalembert.kernels.base.vector_types import whole
from dalembert.kernels.base.view_types import View

COUNT = 4  # doubles in a register of AVX2
_VECTOR = ir.VectorType(ir.DoubleType(), COUNT)
_BITS = ir.IntType(COUNT)


class Lanes(Scalar):
    """The type; numbers become lanes where they must."""

    def __init__(self):
        super().__init__(name=f"Lanes({COUNT})")


LANES = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _spread(context, builder, fromty, toty, value):
    return spread(builder, _VECTOR, context.cast(builder, value, fromty, types.float64))


def _at(lane):
    return ir.Constant(ir.IntType(32), lane)


def _define(function, arguments, lower, result=LANES):
    """`function` of one or two arguments, lanes or numbers but not numbers alone; lower(context, builder, *values)."""
    declare(LANES, function, arguments, result, lambda a: LANES)
    lower_builtin(function, *[Lanes] * arguments)(lambda context, builder, sig, args: lower(context, builder, *args))


def _instruction(name):
    return lambda context, builder, a, b: getattr(builder, name)(a, b)


def _intrinsic(name):
    """LLVM's own function of one vector."""

    def lower(context, builder, a):
        function = ir.FunctionType(_VECTOR, [_VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.v{COUNT}f64"), [a])

    return lower


def _each(function):
    """A function of float64, lane after lane."""

    def lower(context, builder, *args):
        scalar, out = context.get_function(function, signature(*[types.float64] * (len(args) + 1))), args[0]
        for lane in range(COUNT):
            value = scalar(builder, [builder.extract_element(a, _at(lane)) for a in args])
            out = builder.insert_element(out, value, _at(lane))
        return out

    return lower


def _compared(how, every):
    def lower(context, builder, a, b):
        compare = builder.fcmp_unordered if how == "!=" else builder.fcmp_ordered
        bits = builder.bitcast(compare(how, a, b), _BITS)
        return builder.icmp_unsigned("==" if every else "!=", bits, ir.Constant(_BITS, -1 if every else 0))

    return lower


for _function, _inplace, _name in (
    (operator.add, operator.iadd, "fadd"),
    (operator.sub, operator.isub, "fsub"),
    (operator.mul, operator.imul, "fmul"),
    (operator.truediv, operator.itruediv, "fdiv"),
):
    _define(_function, 2, _instruction(_name))
    _define(_inplace, 2, _instruction(_name))
for _function, _how in COMPARISONS.items():
    _define(_function, 2, _compared(_how, _how in ("<", "<=", "==")), types.boolean)
_define(operator.neg, 1, lambda context, builder, a: builder.fneg(a))
_define(abs, 1, _intrinsic("fabs"))
_define(np.sqrt, 1, _intrinsic("sqrt"))
_define(np.floor, 1, _intrinsic("floor"))
_define(np.sin, 1, _each(math.sin))
_define(np.cos, 1, _each(math.cos))
_define(np.arctan2, 2, _each(math.atan2))


@intrinsic
def as_lanes(typingctx, a, first):
    """a[first:] as lanes: entry i of lane k is a[first + COUNT i + k]. Any alignment will do."""
    made = types.Array(LANES, 1, "C", aligned=False)

    def codegen(context, builder, sig, args):
        given = context.make_array(sig.args[0])(context, builder, args[0])
        return seen_as(context, builder, made, given, args[1], COUNT)

    return made(a, types.intp), codegen


@intrinsic
def apart(typingctx, numbers):
    """Numbers of lanes one by one: entry i of lane k is apart(numbers)[COUNT i + k]."""
    made = View(numbers.what, numbers.of, types.float64)

    def codegen(context, builder, sig, args):
        pointer, *limits = (builder.extract_value(args[0], i) for i in range(len(args[0].type)))
        return whole(context, builder, made, [builder.bitcast(pointer, ir.DoubleType().as_pointer()), *limits])

    return made(numbers), codegen

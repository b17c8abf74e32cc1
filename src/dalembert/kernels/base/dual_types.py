"""The numbers of dual.py in compiled code: a double and one vector of LLVM, <count x double>.

The value is to the last bit what it is without derivatives. In the derivatives sums may be taken in another order and fused
with products (contract, reassoc): a quarter of the time. What is a plain number stays one: no zeros are multiplied.
"""

import math
import operator

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from dalembert.kernels.base.cache import source_stamp
from dalembert.kernels.base.dual import smooth, value_of
from dalembert.kernels.base.scalar_types import Scalar, declare, seen_as, spread
from dalembert.kernels.base.view_types import system_type

COUNT, FEW = 8, 4  # two registers of AVX2; where few derivatives are wanted, one
SIZE = 1 + COUNT  # doubles of a number
_D = ir.DoubleType()
_FUSED = ("contract", "reassoc", "nsz")


class Dual(Scalar):
    """The type, by its number of derivatives; numbers become duals where they must."""

    def __init__(self, count):
        self.count = count
        self.vector = ir.VectorType(_D, count)
        self.zero = ir.Constant(self.vector, [0.0] * count)
        self.pair = ir.LiteralStructType([_D, self.vector], packed=True)
        # kernels do not import this file: its stamp in the name tells their code on disk from that of an older one
        super().__init__(name=f"Dual({count}, {source_stamp(__name__)[:12]})")

    def arithmetic(self, builder):
        """+, -, *, unary - for vector_types.py."""
        at = _At(self, None)
        return (
            *(
                lambda a, b, rule=rule: rule(at, builder, *_parts(builder, a), *_parts(builder, b))
                for rule in (_add, _sub, _mul)
            ),
            lambda a: _neg(at, builder, *_parts(builder, a)),
        )


class _At:
    """Where a rule is lowered: the type of its numbers, Numba's context."""

    def __init__(self, kind, context):
        self.kind, self.context = kind, context


DUAL, FEW_DUAL = Dual(COUNT), Dual(FEW)
DUAL_SYSTEM = system_type(types.float64, DUAL)


@register_model(Dual)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.pair)


def _pair(at, builder, value, tangents):
    made = builder.insert_value(ir.Constant(at.kind.pair, ir.Undefined), value, 0)
    made = builder.insert_value(made, at.kind.zero if tangents is None else tangents, 1)
    if tangents is None:
        made.plain = value  # for who meets it while the same operation is lowered
    return made


def _parts(builder, a):
    """(value, tangents), tangents None of a plain number"""
    if a.type == _D:
        return a, None
    if hasattr(a, "plain"):
        return a.plain, None
    return builder.extract_value(a, 0), builder.extract_value(a, 1)


@lower_cast(types.Float, Dual)
@lower_cast(types.Integer, Dual)
def _lift(context, builder, fromty, toty, value):
    return _pair(_At(toty, context), builder, context.cast(builder, value, fromty, types.float64), None)


def _times(builder, slope, tangents):
    return None if tangents is None else builder.fmul(spread(builder, tangents.type, slope), tangents, flags=_FUSED)


def _sum(builder, a, b):
    if a is None or b is None:
        return b if a is None else a
    return builder.fadd(a, b, flags=_FUSED)


# ------------------------------------------------------------------------------------------- rules: (value, tangents) of each


def _add(at, b, u, du, v, dv):
    return _pair(at, b, b.fadd(u, v), _sum(b, du, dv))


def _sub(at, b, u, du, v, dv):
    change = du
    if dv is not None:
        change = b.fneg(dv) if du is None else b.fsub(du, dv, flags=_FUSED)
    return _pair(at, b, b.fsub(u, v), change)


def _mul(at, b, u, du, v, dv):
    return _pair(at, b, b.fmul(u, v), _sum(b, _times(b, v, du), _times(b, u, dv)))


def _div(at, b, u, du, v, dv):
    q, inverse = b.fdiv(u, v), b.fdiv(ir.Constant(_D, 1.0), v)
    return _pair(at, b, q, _sum(b, _times(b, inverse, du), _times(b, b.fneg(b.fmul(q, inverse)), dv)))


def _neg(at, b, u, du):
    return _pair(at, b, b.fneg(u), None if du is None else b.fneg(du))


def _abs(at, b, u, du):
    negative = b.fcmp_ordered("<", u, ir.Constant(_D, 0.0))
    return _pair(at, b, _scalar(at, b, abs, u), b.select(negative, b.fneg(du), du))


def _arctan2(at, b, u, du, v, dv):
    inverse = b.fdiv(ir.Constant(_D, 1.0), b.fadd(b.fmul(u, u), b.fmul(v, v)))
    change = _sum(b, _times(b, b.fmul(v, inverse), du), _times(b, b.fneg(b.fmul(u, inverse)), dv))
    return _pair(at, b, _scalar(at, b, math.atan2, u, v), change)


def _pow(at, b, u, du, v, dv):
    f, one = _scalar(at, b, operator.pow, u, v), ir.Constant(_D, 1.0)
    change = None
    if du is not None:
        change = _times(b, b.fmul(v, _scalar(at, b, operator.pow, u, b.fsub(v, one))), du)
    if dv is not None:  # a power of a number below zero: none where the exponent does not change
        by_exponent = _times(b, b.fmul(f, _scalar(at, b, math.log, u)), dv)
        zero = at.kind.zero
        change = _sum(b, change, b.select(b.fcmp_ordered("==", dv, zero), zero, by_exponent))
    return _pair(at, b, f, change)


def _scalar(at, builder, function, *args):
    """A function of float64."""
    return at.context.get_function(function, signature(*[types.float64] * (len(args) + 1)))(builder, args)


def _slope(value, slope):
    """Rule of a function of one argument; slope(b, call, u, f) with call(function, u) for functions of float64"""

    def lower(at, b, u, du):
        def call(function, *args):
            return _scalar(at, b, function, *args)

        f = call(value, u)
        return _pair(at, b, f, _times(b, slope(b, call, u, f), du))

    return lower


def _one(value=1.0):
    return ir.Constant(_D, value)


def _complement(b, u):
    return b.fsub(_one(), b.fmul(u, u))


_OF_ONE = {
    np.sqrt: (math.sqrt, lambda b, call, u, f: b.fdiv(_one(0.5), f)),
    np.sin: (math.sin, lambda b, call, u, f: call(math.cos, u)),
    np.cos: (math.cos, lambda b, call, u, f: b.fneg(call(math.sin, u))),
    np.tan: (math.tan, lambda b, call, u, f: b.fadd(_one(), b.fmul(f, f))),
    np.arcsin: (math.asin, lambda b, call, u, f: b.fdiv(_one(), call(math.sqrt, _complement(b, u)))),
    np.arccos: (math.acos, lambda b, call, u, f: b.fdiv(_one(-1.0), call(math.sqrt, _complement(b, u)))),
    np.arctan: (math.atan, lambda b, call, u, f: b.fdiv(_one(), b.fadd(_one(), b.fmul(u, u)))),
    np.sinh: (math.sinh, lambda b, call, u, f: call(math.cosh, u)),
    np.cosh: (math.cosh, lambda b, call, u, f: call(math.sinh, u)),
    np.tanh: (math.tanh, lambda b, call, u, f: _complement(b, f)),
    np.arcsinh: (math.asinh, lambda b, call, u, f: b.fdiv(_one(), call(math.sqrt, b.fadd(_one(), b.fmul(u, u))))),
    np.arccosh: (math.acosh, lambda b, call, u, f: b.fdiv(_one(), call(math.sqrt, b.fsub(b.fmul(u, u), _one())))),
    np.arctanh: (math.atanh, lambda b, call, u, f: b.fdiv(_one(), _complement(b, u))),
    np.exp: (math.exp, lambda b, call, u, f: f),
    np.expm1: (math.expm1, lambda b, call, u, f: b.fadd(f, _one())),
    np.log: (math.log, lambda b, call, u, f: b.fdiv(_one(), u)),
    np.log1p: (math.log1p, lambda b, call, u, f: b.fdiv(_one(), b.fadd(_one(), u))),
}


# ------------------------------------------------------------------------------------------------------------------ in Numba


def _kept(a):
    """What an argument is lowered as."""
    return a if isinstance(a, Dual) else types.float64


def _define(function, arguments, lower, result=None):
    """`function` of one or two arguments, not all of them plain; lower(at, builder, value, tangents, ...)"""
    for kind in (DUAL, FEW_DUAL):
        declare(kind, function, arguments, result or kind, _kept)

    def lowered(context, builder, sig, args):
        at = _At(next(a for a in sig.args if isinstance(a, Dual)), context)
        return lower(at, builder, *(part for a in args for part in _parts(builder, a)))

    for kinds in ((Dual,),) if arguments == 1 else ((Dual, Dual), (Dual, types.Float), (types.Float, Dual)):
        lower_builtin(function, *kinds)(lowered)


def _compared(how):
    def lower(at, b, u, du, v, dv):
        return (b.fcmp_unordered if how == "!=" else b.fcmp_ordered)(how, u, v)

    return lower


def _chosen(how):
    """max and min, as Python finds them: the first of equals."""

    def lower(at, b, u, du, v, dv):
        later, zero = b.fcmp_ordered(how, v, u), at.kind.zero
        return _pair(at, b, b.select(later, v, u), b.select(later, zero if dv is None else dv, zero if du is None else du))

    return lower


for _functions, _rule in (
    ((operator.add, operator.iadd), _add),
    ((operator.sub, operator.isub), _sub),
    ((operator.mul, operator.imul), _mul),
    ((operator.truediv, operator.itruediv), _div),
    ((operator.pow, operator.ipow, np.power), _pow),
    ((np.arctan2,), _arctan2),
    ((max, np.maximum), _chosen(">")),
    ((min, np.minimum), _chosen("<")),
):
    for _function in _functions:
        _define(_function, 2, _rule)
for _function, _how in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.eq, "=="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.ne, "!="),
):
    _define(_function, 2, _compared(_how), types.boolean)
for _function, _rules in _OF_ONE.items():
    _define(_function, 1, _slope(*_rules))
_define(operator.neg, 1, _neg)
_define(abs, 1, _abs)
_define(np.abs, 1, _abs)


def _finite(at, b, u, du):
    size = _scalar(at, b, abs, u)
    return b.fcmp_ordered("<", size, ir.Constant(_D, math.inf))


def _smooth(at, b, u, du):
    bits = ir.IntType(at.kind.count)
    finite = b.fcmp_ordered("==", b.fsub(du, du), at.kind.zero)  # inf - inf and NaN - NaN are NaN
    return b.icmp_unsigned("==", b.bitcast(finite, bits), ir.Constant(bits, -1))


def _sign(at, b, u, du):
    signed = _scalar(at, b, math.copysign, _one(), u)
    moved = b.fcmp_ordered("!=", u, _one(0.0))
    return b.select(b.fcmp_unordered("uno", u, u), u, b.select(moved, signed, _one(0.0)))


def _floor(at, b, u, du):
    function = cgutils.get_or_insert_function(b.module, ir.FunctionType(_D, [_D]), "llvm.floor.f64")
    return b.call(function, [u])


_define(np.floor, 1, _floor, types.float64)
_define(np.sign, 1, _sign, types.float64)
_define(np.isfinite, 1, _finite, types.boolean)
_define(np.isnan, 1, lambda at, b, u, du: b.fcmp_unordered("uno", u, u), types.boolean)
_define(smooth, 1, _smooth, types.boolean)
_define(value_of, 1, lambda at, b, u, du: u, types.float64)
_define(int, 1, lambda at, b, u, du: b.fptosi(u, ir.IntType(64)), types.int64)


def _seen_as(kind):
    """Numbers with derivatives that lie in an array of float64: entry i has its value at a[size i], its tangents behind."""
    made = types.Array(kind, 1, "C", aligned=False)

    @intrinsic
    def as_numbers(typingctx, a):
        def codegen(context, builder, sig, args):
            given = context.make_array(sig.args[0])(context, builder, args[0])
            return seen_as(context, builder, made, given, context.get_constant(types.intp, 0), 1 + kind.count)

        return made(a), codegen

    return as_numbers


as_duals, as_few_duals = _seen_as(DUAL), _seen_as(FEW_DUAL)

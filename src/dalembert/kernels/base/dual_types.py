"""The numbers of dual.py in compiled code: one vector of LLVM, the value first, then its derivatives; a double and a vector,
where both together fill no registers.

The value is to the last bit what it is without derivatives. In the derivatives products are fused with sums (contract). What is
a plain number stays one: no zeros are multiplied. Numbers fill registers, so that none crosses a line of the cache where they
begin at one (`beginning`): a quarter of the time.
"""

import math
import operator
from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from dalembert.kernels.base.cache import source_stamp
from dalembert.kernels.base.dual import smooth, value_of, values_of
from dalembert.kernels.base.scalar_types import COMPARISONS, Scalar, declare, seen_as, spread
from dalembert.kernels.base.tables import VALUES_F, VALUES_I, VALUES_W
from dalembert.kernels.base.vector_types import define, whole
from dalembert.kernels.base.view_types import SYSTEM, View, header_entry, system_type

COUNT, FEW, ONE = 7, 3, 1  # with the value two registers of AVX2, or one; half of one for a single derivative
FOUR = 4  # one register beside the value
MANY = 8  # a block of more than COUNT: less than two blocks
SIZE = 1 + COUNT  # doubles of a number
_D, _I32 = ir.DoubleType(), ir.IntType(32)
_FIRST, _FUSED = ir.Constant(_I32, 0), ("contract", "reassoc", "nsz")


class Dual(Scalar):
    """The type, by its number of derivatives; numbers become duals where they must."""

    def __init__(self, count):
        self.size = 1 + count
        self.whole = self.size & count == 0  # one vector
        self.vector = ir.VectorType(_D, self.size if self.whole else count)
        self.data = self.vector if self.whole else ir.LiteralStructType([_D, self.vector], packed=True)
        self.zero = ir.Constant(self.vector, [0.0] * self.vector.count)
        # of a vector the first, of another one the others
        self.joined = ir.Constant(ir.VectorType(_I32, self.size), [0, *range(self.size + 1, 2 * self.size)])
        # kernels do not import this file: its stamp in the name tells their code on disk from that of an older one
        super().__init__(name=f"Dual({count}, {source_stamp(__name__)[:12]})")

    def arithmetic(self, builder):
        """+, -, *, unary - for vector_types.py."""
        return (partial(_applied, rule, _At(self, None), builder) for rule in (_add, _sub, _mul, _neg))


def _applied(rule, at, builder, *numbers):
    return rule(at, builder, *(part for a in numbers for part in _parts(builder, a)))


class _At:
    """Where a rule is lowered: the type of its numbers, Numba's context."""

    def __init__(self, kind, context):
        self.kind, self.context = kind, context


_, DUAL, _, _, _ = KINDS = tuple(map(Dual, (MANY, COUNT, FOUR, FEW, ONE)))
DUAL_SYSTEM = system_type(types.float64, DUAL)


@register_model(Dual)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, fe_type.data)


def _pair(at, builder, value, tangents):
    """A number; whatever is the first of `tangents` where it has the value, None of a plain one"""
    behind = at.kind.zero if tangents is None else tangents
    if at.kind.whole:
        made = builder.insert_element(behind, value, _FIRST)
    else:
        made = builder.insert_value(ir.Constant(at.kind.data, ir.Undefined), value, 0)
        made = builder.insert_value(made, behind, 1)
    if tangents is None:
        made.plain = value  # for who meets it while the same operation is lowered
    return made


def _parts(builder, a):
    """(value, vector with or without it), or (value, None) of a plain number"""
    if a.type == _D:
        return a, None
    if hasattr(a, "plain"):
        return a.plain, None
    if isinstance(a.type, ir.VectorType):
        return builder.extract_element(a, _FIRST), a
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


# ------------------------------------------------------------------------------------- rules: (value, vector or None) of each


def _both(at, du, dv):
    """Whether two vectors with their values are all there is."""
    return at.kind.whole and du is not None and dv is not None


def _add(at, b, u, du, v, dv):
    return b.fadd(du, dv) if _both(at, du, dv) else _pair(at, b, b.fadd(u, v), _sum(b, du, dv))


def _sub(at, b, u, du, v, dv):
    if _both(at, du, dv):
        return b.fsub(du, dv)
    return _pair(at, b, b.fsub(u, v), du if dv is None else _sum(b, du, b.fneg(dv)))


def _mul(at, b, u, du, v, dv):
    if _both(at, du, dv):
        product = b.fmul(spread(b, at.kind.vector, u), dv)
        return b.shuffle_vector(product, _sum(b, _times(b, v, du), product), at.kind.joined)
    if at.kind.whole and (du is not None or dv is not None):
        return b.fmul(spread(b, at.kind.vector, u if du is None else v), dv if du is None else du)
    return _pair(at, b, b.fmul(u, v), _sum(b, _times(b, v, du), _times(b, u, dv)))


def _div(at, b, u, du, v, dv):
    q, inverse = b.fdiv(u, v), b.fdiv(ir.Constant(_D, 1.0), v)
    return _pair(at, b, q, _sum(b, _times(b, inverse, du), _times(b, b.fneg(b.fmul(q, inverse)), dv)))


def _neg(at, b, u, du):
    return b.fneg(du) if _both(at, du, du) else _pair(at, b, b.fneg(u), None if du is None else b.fneg(du))


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
    for kind in KINDS:
        declare(kind, function, arguments, result or kind, _kept)

    def lowered(context, builder, sig, args):
        at = _At(next(a for a in sig.args if isinstance(a, Dual)), context)
        return _applied(lower, at, builder, *args)

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
for _function, _how in COMPARISONS.items():
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
    bits = ir.IntType(at.kind.vector.count)
    du = _pair(at, b, _one(), du) if at.kind.whole else du
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


@intrinsic(prefer_literal=True)
def as_duals(typingctx, a, count):
    """Numbers with so many derivatives (a constant) that lie in an array of float64, each behind its value."""
    kind = next(kind for kind in KINDS if kind.size == 1 + count.literal_value)
    made = types.Array(kind, 1, "C", aligned=False)

    def codegen(context, builder, sig, args):
        given = context.make_array(sig.args[0])(context, builder, args[0])
        return seen_as(context, builder, made, given, context.get_constant(types.intp, 0), kind.size)

    return made(a, count), codegen


def _values_of(context, builder, out, system):
    """See the header of I."""
    value, _ = system
    words = [builder.extract_value(value, k) for k in range(len(value.type))]
    for k, (entry, plain) in enumerate(((VALUES_I, ir.IntType(64)), (VALUES_F, _D), (VALUES_W, _D))):
        words[k] = builder.gep(builder.bitcast(words[k], plain.as_pointer()), [header_entry(builder, value, entry)])
    return whole(context, builder, out, words)


define(values_of, lambda typingctx, system: SYSTEM, _values_of, (View,))

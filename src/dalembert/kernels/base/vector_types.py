"""The small values of vectors.py in compiled code.

A value is an LLVM array of scalars and every operation emits its instructions in place: nothing is called, nothing compiled
twice. What an operation does is what vectors.py says, told numbers that emit their arithmetic. A scalar type needs +, -, *,
unary - (and casts from float64).
"""

import operator
from functools import partial, reduce

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, lower_cast, lower_getattr_generic, models, register_model

from dalembert.kernels.base.vectors import Mat3, Quat, Sym3, Vec3, cross, outer, unit, upper

_NAMES = {Vec3: "xyz", Mat3: "", Sym3: "", Quat: "abcd"}
_SIZES = {Vec3: 3, Mat3: 9, Sym3: 6, Quat: 4}
# what each operation makes of what; None is a scalar
_SUMS = {(shape, shape): shape for shape in _SIZES}
_MAKES = {
    **dict.fromkeys((operator.add, operator.iadd, operator.sub, operator.isub), _SUMS),
    operator.mul: {(shape, None): shape for shape in _SIZES} | {(None, shape): shape for shape in _SIZES},
    operator.matmul: {(Mat3, Vec3): Vec3, (Sym3, Vec3): Vec3, (Mat3, Mat3): Mat3, (Vec3, Vec3): None, (Quat, Quat): Quat},
    operator.neg: {(shape,): shape for shape in _SIZES},
    cross: {(Vec3, Vec3): Vec3, (Vec3, Mat3): Mat3, (Vec3, Sym3): Mat3},
    outer: {(Vec3, Vec3): Mat3},
    upper: {(Mat3,): Sym3},
    **{shape: {(None,) * size: shape} for shape, size in _SIZES.items()},
    Mat3: {(None,) * 9: Mat3, (Vec3, Vec3, Vec3): Mat3},
}


class Small(types.Type):
    """The type of a Vec3, Mat3, ... with components of one scalar type."""

    def __init__(self, shape, scalar):
        self.shape, self.scalar, self.size = shape, scalar, _SIZES[shape]
        super().__init__(name=f"{shape.__name__}({scalar})")

    @property
    def key(self):
        return self.shape, self.scalar

    def can_convert_from(self, typingctx, other):
        if isinstance(other, Small) and other.shape is self.shape:
            return typingctx.can_convert(other.scalar, self.scalar)
        return None

    def unify(self, typingctx, other):
        if isinstance(other, Small) and other.shape is self.shape:
            return Small(self.shape, joined(typingctx, self.scalar, other.scalar))
        return None


def joined(typingctx, a, b):
    """The scalar type of what comes from both."""
    if a == b:
        return a
    return typingctx.unify_types(a, b, types.float64)


def is_scalar(a):
    return not isinstance(a, Small) and (isinstance(a, types.Number) or hasattr(a, "is_scalar"))


@register_model(Small)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.ArrayType(dmm[fe_type.scalar].get_value_type(), fe_type.size))


def parts(builder, value, size):
    return [builder.extract_value(value, i) for i in range(size)]


def whole(context, builder, typ, components):
    value = ir.Constant(context.get_value_type(typ), ir.Undefined)
    for i, component in enumerate(components):
        value = builder.insert_value(value, component, i)
    return value


@lower_cast(Small, Small)
def _cast(context, builder, fromty, toty, value):
    if fromty.shape is not toty.shape:
        raise TypingError(f"a {fromty} is stored where a {toty} belongs")
    return whole(context, builder, toty, components_as(context, builder, value, fromty, toty.scalar))


def components_as(context, builder, value, typ, scalar):
    found = parts(builder, value, typ.size)
    return found if typ.scalar == scalar else [context.cast(builder, v, typ.scalar, scalar) for v in found]


class Arithmetic:
    """+, -, * of one scalar type: single instructions where it is a number or a vector register, else the type's own."""

    def __init__(self, context, builder, scalar):
        if not hasattr(scalar, "arithmetic"):
            self.add, self.sub, self.mul, self.neg = builder.fadd, builder.fsub, builder.fmul, builder.fneg
        else:
            self.add, self.sub, self.mul, self.neg = scalar.arithmetic(builder)


class _Number:
    """A scalar in compiled code: its operators emit their instructions."""

    __slots__ = ("do", "value")

    def __init__(self, do, value):
        self.do, self.value = do, value

    def __add__(a, b):
        return _Number(a.do, a.do.add(a.value, b.value))

    def __sub__(a, b):
        return _Number(a.do, a.do.sub(a.value, b.value))

    def __mul__(a, b):
        return _Number(a.do, a.do.mul(a.value, b.value)) if isinstance(b, _Number) else NotImplemented

    def __neg__(a):
        return _Number(a.do, a.do.neg(a.value))


# ----------------------------------------------------------------------------------------------------------- operations


def define(function, result, lower, *kinds):
    """`function` in compiled code; result(typingctx, *args) -> type or None; lower(context, builder, out, *pairs).

    kinds : classes of the arguments' types, once for each way to call it
    """

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) in {len(classes) for classes in kinds}:
                out = result(self.context, *args)
                if out is not None:
                    return signature(out, *args)
            return None

    Template.key = function
    infer_global(function, types.Function(Template))

    def lowered(context, builder, sig, args):
        return lower(context, builder, sig.return_type, *zip(args, sig.args, strict=True))

    for classes in kinds:
        lower_builtin(function, *classes)(lowered)


def _scalar_of(a):
    return a.scalar if isinstance(a, Small) else types.float64 if isinstance(a, types.Number) else a


def _numbers(context, builder, do, scalar, value, typ):
    """A value as vectors.py has it, of numbers that emit their arithmetic."""
    if isinstance(typ, Small):
        return typ.shape(*(_Number(do, v) for v in components_as(context, builder, value, typ, scalar)))
    return _Number(do, context.cast(builder, value, typ, scalar))


def _define_operation(function, makes):
    """`function` of vectors.py in compiled code; makes : shapes of the arguments -> that of the result"""

    def result(typingctx, *args):
        shapes = tuple(a.shape if isinstance(a, Small) else None for a in args)
        if shapes not in makes or not all(isinstance(a, Small) or is_scalar(a) for a in args):
            return None
        scalar = reduce(partial(joined, typingctx), map(_scalar_of, args))
        return scalar if makes[shapes] is None else Small(makes[shapes], scalar)

    def lower(context, builder, out, *args):
        scalar = getattr(out, "scalar", out)
        do = Arithmetic(context, builder, scalar)
        made = function(*(_numbers(context, builder, do, scalar, *pair) for pair in args))
        return made.value if isinstance(made, _Number) else whole(context, builder, out, [number.value for number in made])

    kinds = dict.fromkeys(tuple(Small if shape else types.Any for shape in shapes) for shapes in makes)
    define(function, result, lower, *kinds)


for _function, _makes in _MAKES.items():
    _define_operation(_function, _makes)


# --------------------------------------------------------------------------------------- making them and taking them apart


def _unit(context, builder, out, c):
    zero, one = (context.get_constant(types.float64, v) for v in (0.0, 1.0))
    index = context.cast(builder, *c, types.int64)
    return whole(context, builder, out, [builder.select(_equal(builder, index, i), one, zero) for i in range(3)])


def _equal(builder, index, i):
    return builder.icmp_signed("==", index, ir.Constant(index.type, i))


def _unit_type(typingctx, c):
    return Small(Vec3, types.float64) if isinstance(c, types.Integer) else None


define(unit, _unit_type, _unit, (types.Integer,))


def _item(typingctx, a, c):
    if isinstance(a, Small) and isinstance(c, types.Integer):
        return Small(Vec3, a.scalar) if a.shape is Mat3 else a.scalar
    return None


def _chosen(builder, index, choices):
    """choices[index] without a branch; the compiler knows which where it knows the index."""
    out = choices[-1]
    for i in range(len(choices) - 2, -1, -1):
        out = builder.select(_equal(builder, index, i), choices[i], out)
    return out


def _get(context, builder, out, a, c):
    values, index = parts(builder, a[0], a[1].size), context.cast(builder, *c, types.int64)
    if a[1].shape is not Mat3:
        return _chosen(builder, index, values)
    return whole(context, builder, out, [_chosen(builder, index, values[j::3]) for j in range(3)])


define(operator.getitem, _item, _get, (Small, types.Integer))


@infer
class _StaticItem(AbstractTemplate):
    key = "static_getitem"

    def generic(self, args, kws):
        a, c = args
        if isinstance(a, Small) and isinstance(c, int):
            return signature(Small(Vec3, a.scalar) if a.shape is Mat3 else a.scalar, *args)
        return None


@lower_builtin("static_getitem", Small, types.Any)
def _static_get(context, builder, sig, args):
    (value, c), typ = args, sig.args[0]
    if typ.shape is not Mat3:
        return builder.extract_value(value, c)
    return whole(context, builder, sig.return_type, [builder.extract_value(value, 3 * c + j) for j in range(3)])


@infer_getattr
class _Attributes(AttributeTemplate):
    key = Small

    def generic_resolve(self, typ, attr):
        if attr == "T" and typ.shape is Mat3:
            return typ
        return typ.scalar if len(attr) == 1 and attr in _NAMES[typ.shape] else None


@lower_getattr_generic(Small)
def _attribute(context, builder, typ, value, attr):
    if attr == "T":
        e = parts(builder, value, 9)
        return whole(context, builder, typ, e[0::3] + e[1::3] + e[2::3])
    return builder.extract_value(value, _NAMES[typ.shape].index(attr))

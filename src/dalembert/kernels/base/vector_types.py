"""The small values of vectors.py in compiled code.

A value is an LLVM array of scalars and every operation emits its instructions in place: nothing is called, nothing compiled
twice. A scalar type needs +, -, *, unary - (and casts from float64).
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer, infer_getattr, infer_global, signature
from numba.extending import lower_builtin, lower_cast, lower_getattr_generic, models, register_model

from dalembert.kernels.base.vectors import UPPER, Mat3, Quat, Sym3, Vec3, cross, outer, unit, upper

_NAMES = {Vec3: "xyz", Mat3: "", Sym3: "", Quat: "abcd"}
_SIZES = {Vec3: 3, Mat3: 9, Sym3: 6, Quat: 4}
_PRODUCTS = {(Mat3, Vec3): Vec3, (Sym3, Vec3): Vec3, (Mat3, Mat3): Mat3, (Vec3, Vec3): None, (Quat, Quat): Quat}
_ROWS = {Mat3: (0, 1, 2, 3, 4, 5, 6, 7, 8), Sym3: (0, 1, 2, 1, 3, 4, 2, 4, 5)}


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

    def dot(self, a, b):
        s = self.mul(a[0], b[0])
        for p, q in zip(a[1:], b[1:], strict=True):
            s = self.add(s, self.mul(p, q))
        return s


# ----------------------------------------------------------------------------------------------------------- operations


def define(function, result, lower, *kinds):
    """`function` in compiled code; result(typingctx, *args) -> type or None; lower(context, builder, out, *pairs).

    kinds : classes of the arguments' types, once for each way to call it
    """

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == len(kinds[0]):
                out = result(self.context, *args)
                if out is not None:
                    return signature(out, *args)
            return None

    Template.key = function
    infer_global(function)(Template)

    def lowered(context, builder, sig, args):
        return lower(context, builder, sig.return_type, *zip(args, sig.args, strict=True))

    for classes in kinds:
        lower_builtin(function, *classes)(lowered)


def _same(typingctx, a, b):
    if isinstance(a, Small) and isinstance(b, Small) and a.shape is b.shape:
        return Small(a.shape, joined(typingctx, a.scalar, b.scalar))
    return None


def _by_components(name):
    def lower(context, builder, out, a, b):
        do = getattr(Arithmetic(context, builder, out.scalar), name)
        a, b = (components_as(context, builder, *pair, out.scalar) for pair in (a, b))
        return whole(context, builder, out, [do(p, q) for p, q in zip(a, b, strict=True)])

    return lower


def _scaled(typingctx, a, b):
    if isinstance(b, Small) and is_scalar(a):
        a, b = b, a
    if isinstance(a, Small) and is_scalar(b):
        return Small(a.shape, joined(typingctx, a.scalar, types.float64 if isinstance(b, types.Number) else b))
    return None


def _scale(context, builder, out, a, b):
    if isinstance(b[1], Small):
        a, b = b, a
    s = context.cast(builder, *b, out.scalar)
    mul = Arithmetic(context, builder, out.scalar).mul
    return whole(context, builder, out, [mul(s, v) for v in components_as(context, builder, *a, out.scalar)])


def _product(typingctx, a, b):
    if isinstance(a, Small) and isinstance(b, Small) and (a.shape, b.shape) in _PRODUCTS:
        shape, scalar = _PRODUCTS[a.shape, b.shape], joined(typingctx, a.scalar, b.scalar)
        return scalar if shape is None else Small(shape, scalar)
    return None


def _multiply(context, builder, out, a, b):
    scalar, (shape_a, shape_b) = getattr(out, "scalar", out), (a[1].shape, b[1].shape)
    a, b = (components_as(context, builder, *pair, scalar) for pair in (a, b))
    dot = Arithmetic(context, builder, scalar).dot
    if shape_a is Vec3:
        return dot(a, b)
    if shape_a is Quat:
        return whole(context, builder, out, _quaternion_product(Arithmetic(context, builder, scalar), a, b))
    rows = [[a[i] for i in _ROWS[shape_a][3 * k : 3 * k + 3]] for k in range(3)]
    columns = [b] if shape_b is Vec3 else [b[j::3] for j in range(3)]
    return whole(context, builder, out, [dot(row, column) for row in rows for column in columns])


def _quaternion_product(do, p, q):
    """In the order in which Quat says it."""
    terms = (
        ((0, 0), (1, 1, -1), (2, 2, -1), (3, 3, -1)),
        ((0, 1), (1, 0, 1), (2, 3, 1), (3, 2, -1)),
        ((0, 2), (1, 3, -1), (2, 0, 1), (3, 1, 1)),
        ((0, 3), (1, 2, 1), (2, 1, -1), (3, 0, 1)),
    )
    for (i, j), *rest in terms:
        s = do.mul(p[i], q[j])
        for k, l, sign in rest:
            s = (do.add if sign > 0 else do.sub)(s, do.mul(p[k], q[l]))
        yield s


def _crossed(typingctx, a, b):
    if isinstance(a, Small) and isinstance(b, Small) and a.shape is Vec3 and b.shape is not Quat:
        return Small(Vec3 if b.shape is Vec3 else Mat3, joined(typingctx, a.scalar, b.scalar))
    return None


def _cross(context, builder, out, a, b):
    do, shape = Arithmetic(context, builder, out.scalar), b[1].shape
    a, b = (components_as(context, builder, *pair, out.scalar) for pair in (a, b))
    pairs = ((1, 2), (2, 0), (0, 1))
    columns = [b] if shape is Vec3 else [[b[k] for k in _ROWS[shape][j::3]] for j in range(3)]
    return whole(context, builder, out, [do.sub(do.mul(a[i], c[j]), do.mul(a[j], c[i])) for i, j in pairs for c in columns])


def _outer(context, builder, out, a, b):
    mul = Arithmetic(context, builder, out.scalar).mul
    a, b = (components_as(context, builder, *pair, out.scalar) for pair in (a, b))
    return whole(context, builder, out, [mul(p, q) for p in a for q in b])


def _outer_type(typingctx, a, b):
    made = _same(typingctx, a, b)
    return Small(Mat3, made.scalar) if made is not None and made.shape is Vec3 else None


def _upper(context, builder, out, a):
    return whole(context, builder, out, [builder.extract_value(a[0], k) for k in UPPER])


def _upper_type(typingctx, a):
    return Small(Sym3, a.scalar) if isinstance(a, Small) and a.shape is Mat3 else None


def _negated(context, builder, out, a):
    neg = Arithmetic(context, builder, out.scalar).neg
    return whole(context, builder, out, [neg(v) for v in parts(builder, a[0], out.size)])


for _function, _name in ((operator.add, "add"), (operator.iadd, "add"), (operator.sub, "sub"), (operator.isub, "sub")):
    define(_function, _same, _by_components(_name), (Small, Small))
define(operator.mul, _scaled, _scale, (Small, types.Any), (types.Any, Small))
define(operator.matmul, _product, _multiply, (Small, Small))
define(operator.neg, lambda typingctx, a: a if isinstance(a, Small) else None, _negated, (Small,))
define(cross, _crossed, _cross, (Small, Small))
define(outer, _outer_type, _outer, (Small, Small))
define(upper, _upper_type, _upper, (Small,))


# --------------------------------------------------------------------------------------- making them and taking them apart


def _maker(shape):
    def result(typingctx, *args):
        if any(isinstance(a, Small) for a in args):
            return None
        scalar = types.float64
        for a in args:
            scalar = joined(typingctx, scalar, types.float64 if isinstance(a, types.Number) else a)
        return Small(shape, scalar)

    def lower(context, builder, out, *args):
        return whole(context, builder, out, [context.cast(builder, *pair, out.scalar) for pair in args])

    define(shape, result, lower, [types.Any] * _SIZES[shape])


for _shape in _SIZES:
    _maker(_shape)


def _of_rows(typingctx, *rows):
    if all(isinstance(row, Small) and row.shape is Vec3 for row in rows):
        return Small(Mat3, joined(typingctx, joined(typingctx, rows[0].scalar, rows[1].scalar), rows[2].scalar))
    return None


def _join_rows(context, builder, out, *rows):
    return whole(context, builder, out, [v for row in rows for v in components_as(context, builder, *row, out.scalar)])


define(Mat3, _of_rows, _join_rows, (Small, Small, Small))


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

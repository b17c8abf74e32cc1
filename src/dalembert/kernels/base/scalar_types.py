"""What lanes and numbers with derivatives share in compiled code: how they meet plain numbers, and lie in arrays."""

import operator

from llvmlite import ir
from numba import types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.np.arrayobj import populate_array

NUMBERS = (types.Float, types.Integer)
COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.eq: "==", operator.gt: ">", operator.ge: ">=", operator.ne: "!="}


class Scalar(types.Type):
    """A type that numbers become where they must."""

    is_scalar = True

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if isinstance(other, NUMBERS) else None

    def unify(self, typingctx, other):
        return self if isinstance(other, NUMBERS) else None


def declare(scalar, function, arguments, result, kept):
    """`function` of one or two arguments, scalars or numbers but not numbers alone, gives `result`; kept(a) : what it takes."""

    class Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == arguments and all(isinstance(a, (type(scalar), *NUMBERS)) for a in args) and scalar in args:
                return signature(result, *map(kept, args))
            return None

    infer_global(function)(Template)


def spread(builder, vector, value):
    """A double in all places of an LLVM vector."""
    undefined = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count))


def array_at(context, builder, made, data, shape):
    """An array `made` of what lies at a pointer, row by row."""
    view, item = context.make_array(made)(context, builder), context.get_abi_sizeof(data.type.pointee)
    strides = [context.get_constant(types.intp, item)]
    for count in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], count))
    populate_array(view, data=data, shape=shape, strides=strides, itemsize=strides[-1], meminfo=None)
    return view._getvalue()


def seen_as(context, builder, made, given, first, doubles):
    """given[first:] of doubles as an array `made` of scalars of so many of them. Any alignment will do."""
    size = builder.sub(builder.extract_value(given.shape, 0), first)
    data = builder.bitcast(builder.gep(given.data, [first]), context.get_data_type(made.dtype).as_pointer())
    return array_at(context, builder, made, data, [builder.sdiv(size, context.get_constant(types.intp, doubles))])

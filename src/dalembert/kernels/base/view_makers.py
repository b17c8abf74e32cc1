"""How views come about in compiled code: of arrays, of numbers, of what Python passes in."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, unbox

from dalembert.kernels.base.vector_types import define, whole
from dalembert.kernels.base.view_types import BOUNDS, NUMBERS, RECORD, RECORDS, SYSTEM, View, constant, place_at, system_type
from dalembert.kernels.base.views import Ball, Marks, Numbers, Pose, Rows, Spin, System, Twist, Twists, Wrenches

_I64 = ir.IntType(64)


def _of_arrays(typingctx, *arrays):
    if all(isinstance(a, types.Array) and a.ndim == 1 for a in arrays):
        return system_type(arrays[1].dtype, arrays[2].dtype)
    return None


def _array(context, builder, array, typ):
    """(pointer, how many)"""
    made = context.make_array(typ)(context, builder, array)
    return made.data, builder.extract_value(made.shape, 0)


def _make_system(context, builder, out, *arrays):
    found = [_array(context, builder, *a) for a in arrays]
    return whole(context, builder, out, [*[data for data, _ in found], *[count for _, count in found if BOUNDS]])


define(System, _of_arrays, _make_system, [types.Array] * 3)


System._numba_type_ = SYSTEM  # see `_type_of` of bundles.py


@unbox(View)
def _unbox(typ, obj, c):
    """A System made in Python; its arrays must outlive the call, as arguments do, and nobody may exchange them meanwhile.

    Numba tells arrays by the size of their numbers alone: `Run` checks the rest.
    """
    words, lengths, failed = [], [], cgutils.false_bit
    for name in "IFW":
        array_type = types.Array(typ.scalar(name), 1, "C")
        attribute = c.pyapi.object_getattr_string(obj, name)
        array = c.unbox(array_type, attribute)
        failed = c.builder.or_(failed, array.is_error)
        data, count = _array(c.context, c.builder, array.value, array_type)
        words.append(data)
        lengths.append(count)
        c.pyapi.decref(attribute)
        if array.cleanup is not None:
            array.cleanup()
    return NativeValue(whole(c.context, c.builder, typ, [*words, *(lengths if BOUNDS else [])]), is_error=failed)


def _words(context, builder, array, typ):
    """Of a view of a whole array: pointer, in bounds mode where it begins and ends."""
    pointer, count = _array(context, builder, array, typ)
    if not BOUNDS:
        return [pointer]
    begin, item = builder.ptrtoint(pointer, _I64), context.get_abi_sizeof(context.get_data_type(typ.dtype))
    return [pointer, begin, builder.add(begin, builder.mul(count, constant(item)))]


def as_numbers(context, builder, value, typ):
    """(value, type): an array as a view of its numbers; what is one already stays."""
    if isinstance(typ, View):
        return value, typ
    made = View(NUMBERS, "W", typ.dtype)
    return whole(context, builder, made, [*_words(context, builder, value, typ)]), made


def _view_of_array(made):
    many = hasattr(made, "stride")

    def result(typingctx, a, k):
        numbers = isinstance(a, View) and a.what == NUMBERS and a.of == "W"
        if (numbers or isinstance(a, types.Array)) and isinstance(k, types.Integer):
            scalar = a.scalars[0] if numbers else a.dtype
            if made is Numbers:
                return View(NUMBERS, "W", scalar)
            return View(RECORDS if many else RECORD, made.record, scalar)
        return None

    def lower(context, builder, out, a, k):
        value, _ = as_numbers(context, builder, *a)
        pointer, *limits = (builder.extract_value(value, i) for i in range(3 if BOUNDS else 1))
        place = place_at(builder, pointer, context.cast(builder, *k, types.int64))
        return whole(context, builder, out, [place, *limits, *([constant(made.stride)] if many else [])])

    define(made, result, lower, (types.Array, types.Integer), (View, types.Integer))


for _made in (Numbers, Rows, Wrenches, Twists, Pose, Twist, Marks, Ball, Spin):
    _view_of_array(_made)

"""The loops of loops.py in compiled code, for any scalar type."""

from numba import types
from numba.core import cgutils

from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, negate, plus_dot
from dalembert.kernels.base.vector_types import Arithmetic, define, joined
from dalembert.kernels.base.view_makers import as_numbers
from dalembert.kernels.base.view_types import NUMBERS, View, entry


def _is_run(a):
    return isinstance(a, types.Array) or (isinstance(a, View) and a.what == NUMBERS)


def _scalar(a):
    return a.dtype if isinstance(a, types.Array) else a.scalars[0]


def _loop(context, builder, n, scalar, *args):
    """In the body of a loop over n: what does arithmetic; places of the runs among args, what is one number as it is."""
    given = [as_numbers(context, builder, *a) if _is_run(a[1]) else (context.cast(builder, *a, scalar), scalar) for a in args]
    with cgutils.for_range(builder, context.cast(builder, *n, types.int64)) as loop:
        index = (loop.index, types.int64)
        yield (
            Arithmetic(context, builder, scalar),
            *(entry(context, builder, a, index) if _is_run(a[1]) else a[0] for a in given),
        )


def _read(context, builder, place, run, scalar):
    """An entry of a run as a scalar."""
    return context.cast(builder, builder.load(place, align=8), _scalar(run[1]), scalar)


def _sums(function, step):
    """s, a, b, n : s <- step(do, s, a_k, b_k) for all k"""

    def result(typingctx, s, a, b, n):
        return joined(typingctx, _scalar(a), _scalar(b)) if _is_run(a) and _is_run(b) else None

    def lower(context, builder, out, s, a, b, n):
        total = cgutils.alloca_once_value(builder, context.cast(builder, *s, out))
        for do, a_k, b_k in _loop(context, builder, n, out, a, b):
            read = [_read(context, builder, place, run, out) for place, run in ((a_k, a), (b_k, b))]
            builder.store(step(do, builder.load(total), *read), total)
        return builder.load(total)

    define(function, result, lower, [types.Any] * 4)


def _writes(function, arguments, step):
    """out, ..., n : out_k <- step(do, out_k, ...) for all k"""

    def result(typingctx, *args):
        return types.void if _is_run(args[0]) else None

    def lower(context, builder, _, out, *args):
        zero = (context.get_constant(types.float64, 0.0), types.float64)
        given = args[:-1] or (zero,)
        scalar = _scalar(out[1])
        for do, place, *found in _loop(context, builder, args[-1], scalar, out, *given):
            read = [_read(context, builder, v, a, scalar) if _is_run(a[1]) else v for a, v in zip(given, found, strict=True)]
            builder.store(step(do, lambda place=place: builder.load(place, align=8), *read), place, align=8)
        return context.get_dummy_value()

    define(function, result, lower, [types.Any] * arguments)


_sums(plus_dot, lambda do, s, a, b: do.add(s, do.mul(a, b)))
_sums(minus_dot, lambda do, s, a, b: do.sub(s, do.mul(a, b)))
_writes(clear, 2, lambda do, out, zero: zero)
_writes(copy, 3, lambda do, out, a: a)
_writes(negate, 3, lambda do, out, a: do.neg(a))
_writes(add_multiple, 4, lambda do, out, s, a: do.add(out(), do.mul(s, a)))

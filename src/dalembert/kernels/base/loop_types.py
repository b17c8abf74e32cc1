"""The loops of loops.py in compiled code, for any scalar type."""

import contextlib

from llvmlite import ir
from numba import types
from numba.core import cgutils

from dalembert.kernels.base.loops import add_multiple, clear, copy, minus_dot, negate, plus_dot, subtract_rows
from dalembert.kernels.base.scalar_types import spread
from dalembert.kernels.base.vector_types import Arithmetic, define, joined
from dalembert.kernels.base.view_makers import as_numbers
from dalembert.kernels.base.view_types import NUMBERS, View, constant, entry


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


@contextlib.contextmanager
def _few(builder, n):
    """A loop over n, mostly less than 8: LLVM is told not to unroll it by 8."""
    with cgutils.for_range(builder, n) as loop:
        yield loop.index
        last = builder.block
    module = builder.module
    told = ir.values.MDValue(module, (), name=str(len(module.metadata)))  # refers to itself, as LLVM wants it
    told.operands = told, module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    last.terminator.set_metadata("llvm.loop", told)


def _subtract_rows(context, builder, _, out, f, s, a, stride, B, width, m, n):
    """Registers of 4, 2 and 1 numbers side by side, where scalars are numbers: each is summed as it is one by one."""
    scalar = _scalar(out[1])
    runs = [as_numbers(context, builder, *run) for run in (out, a, B)]
    f, s = (context.cast(builder, *number, scalar) for number in (f, s))
    stride, width, m, n = (context.cast(builder, *number, types.int64) for number in (stride, width, m, n))
    do, one = Arithmetic(context, builder, scalar), context.get_value_type(scalar)

    def number(run, index):
        return _read(context, builder, entry(context, builder, run, (index, types.int64)), run, scalar)

    def columns(first, count):
        typ = one if count == 1 else ir.VectorType(one, count)

        def place(run, index, ends=(0, count - 1)):
            pointers = [entry(context, builder, run, (builder.add(index, constant(k)), types.int64)) for k in ends]
            return builder.bitcast(pointers[0], typ.as_pointer())

        def everywhere(number):
            return number if count == 1 else spread(builder, typ, number)

        out, a, B = runs
        target = place(out, first)
        total = cgutils.alloca_once_value(builder, builder.load(target, align=8))
        with _few(builder, m) as k:
            factor = do.mul(s, number(a, builder.mul(stride, k)))
            index = builder.add(builder.mul(width, k), first)
            row = number(B, index) if count == 1 else builder.load(place(B, index), align=8)
            builder.store(do.sub(builder.load(total), do.mul(everywhere(factor), row)), total)
        builder.store(do.mul(everywhere(f), builder.load(total)), target, align=8)

    widest = 4 if scalar == types.float64 else 1
    with _few(builder, builder.sdiv(n, constant(widest))) as k:
        columns(builder.mul(k, constant(widest)), widest)
    for count in (2, 1) if widest > 1 else ():
        with builder.if_then(builder.icmp_signed("!=", builder.and_(n, constant(count)), constant(0))):
            columns(builder.and_(n, constant(-2 * count)), count)
    return context.get_dummy_value()


define(subtract_rows, lambda typingctx, out, *rest: types.void if _is_run(out) else None, _subtract_rows, [types.Any] * 9)

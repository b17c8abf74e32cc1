"""The views of views.py in compiled code: attribute access is a load or store at a constant offset.

A view is one to four machine words; attributes are resolved when a kernel is compiled. I and F do not change while a kernel
runs: their loads say so (invariant.load), and LLVM need not repeat them after a store. A kernel that wrote there would go on
with old numbers; views refuse it, and tests/unit/test_views.py looks for stores into the arrays themselves. With
NUMBA_BOUNDSCHECK views also carry where their array begins and ends, and every access is checked.
"""

import operator
from functools import cache

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, iternext_impl
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_builtin, lower_getattr_generic, lower_setattr_generic, models, register_model

from dalembert.kernels.base import layout as L
from dalembert.kernels.base.scalar_types import array_at
from dalembert.kernels.base.tables import W_SIZE
from dalembert.kernels.base.vector_types import Small, define, whole
from dalembert.kernels.base.views import SHAPES

BOUNDS, _I64 = bool(config.BOUNDSCHECK), ir.IntType(64)


class View(types.Type):
    """what: one of the kinds below; of: what of layout.py it shows; scalars: of F and W, or the scalar of its own array."""

    def __init__(self, what, of, *scalars):
        self.what, self.of, self.scalars = what, of, scalars
        super().__init__(name=f"{what}({getattr(of, 'name', of)}, {', '.join(map(str, scalars))})")

    @property
    def key(self):
        return self.what, getattr(self.of, "name", self.of), self.scalars

    def scalar(self, array):
        """Of members and systems: the scalar type in I, F or W."""
        return {"I": types.int64, "F": self.scalars[0], "W": self.scalars[1]}[array]


class Iterable(View, types.IterableType):
    """The type of a table."""

    @property
    def iterator_type(self):
        return Iterator("iterator", self.of, *self.scalars)


class Iterator(View, types.IteratorType):
    @property
    def yield_type(self):
        return View("member", self.of, *self.scalars)


SYSTEM_VIEW, _MEMBER, NUMBERS, _BLOCKS = "system", "member", "numbers", "blocks"
RECORD, RECORDS, _FIXED, _FIXED_RECORDS = "record", "records", "fixed record", "fixed records"  # fixed: of I or F
_OF_ONE_ARRAY = (NUMBERS, RECORD, RECORDS, _FIXED, _FIXED_RECORDS)
_BASE = 6 if BOUNDS else 3  # words before a member's number: pointers to I, F, W, then how long these are


@cache
def system_type(constants, workspace):
    """The type of a system with these scalars in F and in W."""
    return View(SYSTEM_VIEW, "", constants, workspace)


def array_type(scalar):
    """The type of an array of scalars that kernels take."""
    return types.Array(scalar, 1, "C", aligned=scalar in (types.int64, types.float64))


SYSTEM = system_type(types.float64, types.float64)


@register_model(View)
@register_model(Iterable)
@register_model(Iterator)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        def pointer(scalar):
            return dmm[scalar].get_data_type().as_pointer()

        if fe_type.what in _OF_ONE_ARRAY:
            words = [pointer(fe_type.scalars[0])] + [_I64] * (2 if BOUNDS else 0)
        else:
            words = [_I64.as_pointer(), *(pointer(s) for s in fe_type.scalars)] + [_I64] * (3 if BOUNDS else 0)
        words += {_MEMBER: [_I64], RECORDS: [_I64], _FIXED_RECORDS: [_I64], "iterator": [_I64.as_pointer(), _I64]}.get(
            fe_type.what, []
        )
        super().__init__(dmm, fe_type, ir.LiteralStructType(words))


def constant(i):
    return ir.Constant(_I64, i)


def _fixed(builder, instruction):
    instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return instruction


def _header(builder, I, entry):
    return _fixed(builder, builder.load(builder.gep(I, [constant(entry)], inbounds=True), align=8))


def header_entry(builder, system, entry):
    """I[entry] of a system."""
    return _header(builder, builder.extract_value(system, 0), entry)


def _limits(context, builder, value, typ, array):
    """[where the array begins, where it ends] in bounds mode, else nothing."""
    if not BOUNDS:
        return []
    if typ.what in _OF_ONE_ARRAY:
        return [builder.extract_value(value, k) for k in (1, 2)]
    k = "IFW".index(array)
    begin, item = (
        builder.ptrtoint(builder.extract_value(value, k), _I64),
        context.get_abi_sizeof(context.get_data_type(typ.scalar(array))),
    )
    return [begin, builder.add(begin, builder.mul(builder.extract_value(value, 3 + k), constant(item)))]


def _check(context, builder, pointer, count, limits, name):
    """In bounds mode, raise where `count` scalars from the pointer on do not lie within the limits."""
    if limits:
        item = context.get_abi_sizeof(pointer.type.pointee)
        place = builder.ptrtoint(pointer, _I64)
        before = builder.icmp_unsigned("<", place, limits[0])
        behind = builder.icmp_unsigned(">", builder.add(place, constant(count * item)), limits[1])
        with builder.if_then(builder.or_(before, behind), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, (f"{name} is out of bounds",))


# ----------------------------------------------------------------------------------------------------- reading and writing


def _type_of(kind, scalar):
    return scalar if kind in (L.NUM, L.INT) else Small(SHAPES[kind], scalar)


def _place(context, builder, pointer, kind, scalar):
    """Pointer to the whole value."""
    typ = _type_of(kind, scalar)
    return builder.bitcast(pointer, context.get_value_type(typ).as_pointer()) if isinstance(typ, Small) else pointer


def _load(context, builder, pointer, kind, scalar, fixed):
    value = builder.load(_place(context, builder, pointer, kind, scalar), align=8)
    return _fixed(builder, value) if fixed else value


def place_at(builder, pointer, *offsets):
    """pointer + sum of the offsets, whole numbers among them added up first"""
    known, index = 0, None
    for o in offsets:
        if isinstance(o, int):
            known += o
        else:
            index = o if index is None else builder.add(index, o)
    inbounds = not BOUNDS
    if index is not None:
        pointer = builder.gep(pointer, [index], inbounds=inbounds)
    return builder.gep(pointer, [constant(known)], inbounds=inbounds) if known else pointer


def _product(builder, I, words):
    """Of whole numbers and header entries by their names."""
    made = constant(1)
    for word in words:
        made = builder.mul(made, constant(int(word)) if word.isdigit() else _header(builder, I, L.HEADER_I[word]))
    return made


def _field(context, builder, typ, value, attr):
    """(pointer, kind, scalar, fixed) of a field of a record or a member, checked."""
    if typ.what in (RECORD, _FIXED):
        kind, o = typ.of.fields[attr]
        array, scalar, fixed = None, typ.scalars[0], typ.what == _FIXED
        pointer = place_at(builder, builder.extract_value(value, 0), o)
    elif typ.what == _BLOCKS:
        kind, terms = typ.of.fields[attr]
        array, scalar, fixed, I = "W", typ.scalar("W"), False, builder.extract_value(value, 0)
        offsets = [_header(builder, I, typ.of.entry), *(_product(builder, I, term) for term in terms)]
        pointer = place_at(builder, builder.extract_value(value, 2), *offsets)
    else:
        section, kind, o = typ.of.fields[attr]
        array, scalar, fixed = section.array, typ.scalar(section.array), section.array != "W"
        start = _header(builder, builder.extract_value(value, 0), section.entry)
        number = builder.extract_value(value, _BASE)
        if section.width > 1:
            number = builder.mul(number, constant(section.width))
        pointer = place_at(builder, builder.extract_value(value, "IFW".index(array)), start, number, o)
    _check(context, builder, pointer, L.size(kind), _limits(context, builder, value, typ, array), f"{typ.of.name}.{attr}")
    return pointer, kind, scalar, fixed


@infer_getattr
class _Attributes(AttributeTemplate):
    key = View

    def generic_resolve(self, typ, attr):
        if typ.what in (RECORD, _FIXED):
            return _type_of(typ.of.fields[attr][0], typ.scalars[0]) if attr in typ.of.fields else None
        if typ.what == _BLOCKS and attr in typ.of.fields:
            return View(NUMBERS, "W", typ.scalar("W")) if typ.of.fields[attr][0] == L.MANY else typ.scalar("W")
        if typ.what == _MEMBER:
            if attr == "number":
                return types.int64
            if attr not in typ.of.fields:
                return None
            section, kind, _ = typ.of.fields[attr]
            if isinstance(kind, L.Ref):
                return View(_MEMBER, L.TABLES[kind.table], *typ.scalars)
            return View(NUMBERS, "I", types.int64) if isinstance(kind, L.Ints) else _type_of(kind, typ.scalar(section.array))
        return _of_system(typ, attr) if typ.what == SYSTEM_VIEW else None


def _of_system(typ, attr):
    if attr in ("I", "F", "W"):
        return array_type(typ.scalar(attr))
    if attr in L.HEADER_I:
        return types.int64
    if attr in L.TABLES:
        return Iterable("table", L.TABLES[attr], *typ.scalars)
    if attr in L.HEADER_F:
        return _type_of(L.HEADER_F[attr][0], typ.scalars[0])
    if attr in L.NUMBERS:
        return View(NUMBERS, L.NUMBERS[attr][0], typ.scalar(L.NUMBERS[attr][0]))
    if attr in L.BLOCKS:
        return View(_BLOCKS, L.BLOCKS[attr], *typ.scalars)
    if attr in L.RECORD:
        array, _, record = L.RECORD[attr]
        return View(RECORD if array == "W" else _FIXED, record, typ.scalar(array))
    if attr in L.RECORDS:
        array, _, record, _, _ = L.RECORDS[attr]
        return View(RECORDS if array == "W" else _FIXED_RECORDS, record, typ.scalar(array))
    return None


@lower_getattr_generic(View)
def _get_attribute(context, builder, typ, value, attr):
    if typ.what == SYSTEM_VIEW:
        return _get_of_system(context, builder, typ, value, attr)
    if attr == "number":
        return builder.extract_value(value, _BASE)
    pointer, kind, scalar, fixed = _field(context, builder, typ, value, attr)
    if isinstance(kind, L.Ref):
        number = _fixed(builder, builder.load(pointer, align=8))
        return builder.insert_value(value, number, _BASE)
    if isinstance(kind, L.Ints) or kind == L.MANY:
        array = "W" if kind == L.MANY else "I"
        numbers = View(NUMBERS, array, typ.scalar(array))
        return whole(context, builder, numbers, [pointer, *_limits(context, builder, value, typ, array)])
    return _load(context, builder, pointer, kind, scalar, fixed)


def _get_of_system(context, builder, typ, value, attr):
    words = [builder.extract_value(value, i) for i in range(3)]
    made = _of_system(typ, attr)
    if attr in ("I", "F", "W"):
        return view_as_array(context, builder, typ, value, attr)
    if attr in L.HEADER_I:
        return _header(builder, words[0], L.HEADER_I[attr])
    if attr in L.TABLES or attr in L.BLOCKS:
        return value
    if attr in L.HEADER_F:
        kind, o = L.HEADER_F[attr]
        return _load(context, builder, place_at(builder, words[1], o), kind, typ.scalars[0], True)
    if attr in L.NUMBERS:
        array, entry, o = L.NUMBERS[attr]
        stride = []
    elif attr in L.RECORD:
        (array, entry, _), o, stride = L.RECORD[attr], 0, []
    else:
        array, entry, _, step, o = L.RECORDS[attr]
        stride = [constant(step)]
    start = 0 if entry is None else _header(builder, words[0], entry)
    pointer = place_at(builder, words["IFW".index(array)], start, o)
    return whole(context, builder, made, [pointer, *_limits(context, builder, value, typ, array), *stride])


def view_as_array(context, builder, typ, value, name):
    """One of the three arrays again. Where bounds are not checked only the length of W is known, from the header of a `Run`:
    F and I seem endless, and are for indices alone, not for loops over them."""
    if BOUNDS:
        count = builder.extract_value(value, 3 + "IFW".index(name))
    else:
        count = header_entry(builder, value, W_SIZE) if name == "W" else constant(1 << 40)
    return array_at(context, builder, _of_system(typ, name), builder.extract_value(value, "IFW".index(name)), [count])


@lower_setattr_generic(View)
def _set_attribute(context, builder, sig, args, attr):
    typ, (view, value) = sig.args[0], args
    pointer, kind, scalar, fixed = _field(context, builder, typ, view, attr)
    if fixed:
        raise TypingError(f"{typ.of.name}.{attr} is written, but I and F do not change while a kernel runs")
    builder.store(value, _place(context, builder, pointer, kind, scalar), align=8)


def _item(typingctx, a, i):
    if isinstance(a, View) and isinstance(i, types.Integer):
        if a.what == NUMBERS:
            return a.scalars[0]
        if a.what in (RECORDS, _FIXED_RECORDS):
            return View(RECORD if a.what == RECORDS else _FIXED, a.of, a.scalars[0])
        if isinstance(a, Iterable):
            return View(_MEMBER, a.of, *a.scalars)
    return None


def entry(context, builder, a, i):
    """Pointer to an entry of numbers, checked."""
    (value, typ), index = a, context.cast(builder, *i, types.int64)
    pointer = place_at(builder, builder.extract_value(value, 0), index)
    _check(context, builder, pointer, 1, _limits(context, builder, value, typ, None), f"an index into numbers of {typ.of}")
    return pointer


def _get_item(context, builder, out, a, i):
    (value, typ), index = a, context.cast(builder, *i, types.int64)
    if typ.what == NUMBERS:
        found = builder.load(entry(context, builder, a, i), align=8)
        return found if typ.of == "W" else _fixed(builder, found)
    limits = [builder.extract_value(value, k) for k in (1, 2)] if BOUNDS else []
    if typ.what in (RECORDS, _FIXED_RECORDS):
        step = builder.mul(index, builder.extract_value(value, 1 + len(limits)))
        return whole(context, builder, out, [place_at(builder, builder.extract_value(value, 0), step), *limits])
    return whole(context, builder, out, [*[builder.extract_value(value, k) for k in range(_BASE)], index])


define(operator.getitem, _item, _get_item, (View, types.Integer), (Iterable, types.Integer))


def _set_item(context, builder, out, a, i, v):
    builder.store(context.cast(builder, *v, a[1].scalars[0]), entry(context, builder, a, i), align=8)
    return context.get_dummy_value()


def _may_set(typingctx, a, i, v):
    return types.void if isinstance(a, View) and a.what == NUMBERS and a.of == "W" and isinstance(i, types.Integer) else None


define(operator.setitem, _may_set, _set_item, (View, types.Integer, types.Any))


def _moved(typingctx, a, k):
    return a if isinstance(a, View) and a.what == NUMBERS and isinstance(k, types.Integer) else None


def _move(context, builder, out, a, k):
    pointer = place_at(builder, builder.extract_value(a[0], 0), context.cast(builder, *k, types.int64))
    return builder.insert_value(a[0], pointer, 0)


define(operator.add, _moved, _move, (View, types.Integer))


@lower_builtin("getiter", Iterable)
def _iterate(context, builder, sig, args):
    words = [builder.extract_value(args[0], k) for k in range(_BASE)]
    first = sig.args[0].of.first
    end = _header(builder, words[0], sig.args[0].of.count)
    place = cgutils.alloca_once_value(builder, constant(first))
    builder.store(constant(first), place)
    return whole(context, builder, sig.return_type, [*words, place, builder.add(end, constant(first)) if first else end])


@lower_builtin("iternext", Iterator)
@iternext_impl(RefType.UNTRACKED)
def _next(context, builder, sig, args, result):
    words = [builder.extract_value(args[0], k) for k in range(_BASE + 2)]
    index = builder.load(words[_BASE])
    valid = builder.icmp_signed("<", index, words[_BASE + 1])
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(whole(context, builder, sig.args[0].yield_type, [*words[:_BASE], index]))
        builder.store(builder.add(index, constant(1)), words[_BASE])

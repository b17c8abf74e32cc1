"""Views: the packed arrays read and written by the names of layout.py.

    system = System(I, F, W)
    for p in system.primitives:  p.i.r + p.i.R @ p.p_i        loads at constant offsets from three base pointers
    system.A[k].torque = v                                     a store
    Pose(x, body.q).theta                                      the same of any array
    system.rhs + k                                             the same numbers from entry k on

A view is one to four machine words; attributes are resolved when a kernel is compiled. I and F do not change while a kernel
runs: their loads say so (invariant.load), and LLVM need not repeat them after a store. With NUMBA_BOUNDSCHECK views also carry
where their array begins and ends, and every access is checked.
"""

import operator

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import RefType, iternext_impl
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import (
    NativeValue,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from dalembert.kernels.base import layout as L
from dalembert.kernels.base.tables import W_SIZE
from dalembert.kernels.base.vectors import Mat3, Quat, Small, Sym3, Vec3, define

_SHAPES = {L.VEC: Vec3, L.QUAT: Quat, L.SYM: Sym3, L.MAT: Mat3}
_BOUNDS = bool(config.BOUNDSCHECK)

# ------------------------------------------------------------------------------------------------- the views from Python


def _reader(kind):
    """(array, k) -> the value of this kind at array[k]"""
    if kind in (L.NUM, L.INT):
        return lambda array, k: array[k]
    shape, n = _SHAPES[kind], L.SIZE[kind]
    if n == 3:
        return lambda array, k: shape(array[k], array[k + 1], array[k + 2])
    return lambda array, k: shape(*array[k : k + n])


def _writer(kind):
    def write(array, k, value):
        for v in value:
            array[k] = v
            k += 1

    def write_number(array, k, value):
        array[k] = value

    return write_number if kind in (L.NUM, L.INT) else write


class Numbers:
    __slots__ = ("array", "at")

    def __init__(self, array, at):
        self.array, self.at = array, at

    def __getitem__(self, i):
        return self.array[self.at + i]

    def __setitem__(self, i, value):
        self.array[self.at + i] = value

    def __add__(self, k):
        return type(self)(self.array, self.at + k)


def _record_class(record):
    """A class whose objects see array[at:] as this record."""

    def field(kind, o):
        read, write = _reader(kind), _writer(kind)
        return property(lambda self: read(self.array, self.at + o), lambda self, value: write(self.array, self.at + o, value))

    made = type(record.name, (Numbers,), {label: field(*what) for label, what in record.fields.items()} | {"__slots__": ()})
    made.record = record
    return made


_ALL_RECORDS = (L.POSE, L.TWIST, L.ROW, L.INERTIA, *(record for _, _, record in L.RECORD.values()))
_RECORD_CLASSES = {record.name: _record_class(record) for record in _ALL_RECORDS}
Pose, Twist = _RECORD_CLASSES["Pose"], _RECORD_CLASSES["Twist"]


class _Records:
    __slots__ = ("array", "at", "made", "stride")

    def __init__(self, array, at, stride, made):
        self.array, self.at, self.stride, self.made = array, at, stride, made

    def __getitem__(self, i):
        return self.made(self.array, self.at + self.stride * i)


class Rows(_Records):
    """Rows of constraints from array[at] on, numbered by their first entry."""

    __slots__ = ()

    def __init__(self, array, at):
        super().__init__(array, at, 1, _RECORD_CLASSES["Row"])


class Wrenches(_Records):
    """Wrenches from array[at] on, six numbers per body."""

    __slots__ = ()

    def __init__(self, array, at):
        super().__init__(array, at, 6, _RECORD_CLASSES["Row"])


class Twists(_Records):
    """Twists from array[at] on, six numbers per body."""

    __slots__ = ()

    def __init__(self, array, at):
        super().__init__(array, at, 6, Twist)


def rows_of(numbers):
    """Numbers as rows, by their first entry."""
    return Rows(numbers.array, numbers.at)


def twists_of(numbers):
    """Numbers as twists, six per body."""
    return Twists(numbers.array, numbers.at)


def _member_class(table):
    def field(section, kind, o):
        name, entry, width = section.array, section.entry, section.width
        if isinstance(kind, L.Ref):
            return property(lambda self: _MEMBERS[kind.table](self.system, self.I[self.I[entry] + width * self.number + o]))
        if isinstance(kind, L.Ints):
            return property(lambda self: Numbers(self.I, self.I[entry] + width * self.number + o))
        read, write, array = _reader(kind), _writer(kind), operator.attrgetter(name)
        return property(
            lambda self: read(array(self), self.I[entry] + width * self.number + o),
            lambda self, value: write(array(self), self.I[entry] + width * self.number + o, value),
        )

    def __init__(self, system, number):
        self.system, self.number, self.I, self.F, self.W = system, number, system.I, system.F, system.W

    names = {label: field(*what) for label, what in table.fields.items()}
    slots = ("I", "F", "W", "number", "system")
    return type(table.name, (), names | {"__slots__": slots, "__init__": __init__, "table": table})


_MEMBERS = {name: _member_class(table) for name, table in L.TABLES.items()}


class _Table:
    __slots__ = ("made", "system")

    def __init__(self, system, made):
        self.system, self.made = system, made

    def __getitem__(self, i):
        return self.made(self.system, i)

    def __len__(self):
        return self.system.I[self.made.table.count]

    def __iter__(self):
        first = self.made.table.first
        return (self.made(self.system, i) for i in range(first, first + len(self)))


class System:
    """A model, its settings and one thread's workspace.

    callback : what plain Python calls instead of the callback at the address in I
    """

    __slots__ = ("F", "I", "W", "callback")

    def __init__(self, I, F, W, callback=None):
        self.I, self.F, self.W, self.callback = I, F, W, callback

    def __getattr__(self, label):
        I = self.I
        if label in L.HEADER_I:
            return I[L.HEADER_I[label]]
        if label in L.TABLES:
            return _Table(self, _MEMBERS[label])
        if label in L.HEADER_F:
            return _reader(L.HEADER_F[label][0])(self.F, L.HEADER_F[label][1])
        if label in L.NUMBERS:
            array, entry, o = L.NUMBERS[label]
            return Numbers(getattr(self, array), 0 if entry is None else I[entry] + o)
        if label in L.RECORD:
            array, entry, record = L.RECORD[label]
            return _RECORD_CLASSES[record.name](getattr(self, array), I[entry])
        if label not in L.RECORDS:
            raise AttributeError(f"layout.py has no {label!r}")
        array, entry, record, stride, o = L.RECORDS[label]
        return _Records(getattr(self, array), I[entry] + o, stride, _RECORD_CLASSES[record.name])


# ---------------------------------------------------------------------------------------------------------------- types

_I64 = ir.IntType(64)


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


_SYSTEM, _MEMBER, _NUMBERS = "system", "member", "numbers"
_RECORD, _RECORDS, _FIXED, _FIXED_RECORDS = "record", "records", "fixed record", "fixed records"  # fixed: of I or F
_OF_ONE_ARRAY = (_NUMBERS, _RECORD, _RECORDS, _FIXED, _FIXED_RECORDS)
_BASE = 6 if _BOUNDS else 3  # words before a member's number: pointers to I, F, W, then how long these are
SYSTEM = View(_SYSTEM, "", types.float64, types.float64)


@register_model(View)
@register_model(Iterable)
@register_model(Iterator)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        def pointer(scalar):
            return dmm[scalar].get_data_type().as_pointer()

        if fe_type.what in _OF_ONE_ARRAY:
            words = [pointer(fe_type.scalars[0])] + [_I64] * (2 if _BOUNDS else 0)
        else:
            words = [_I64.as_pointer(), *(pointer(s) for s in fe_type.scalars)] + [_I64] * (3 if _BOUNDS else 0)
        words += {_MEMBER: [_I64], _RECORDS: [_I64], _FIXED_RECORDS: [_I64], "iterator": [_I64.as_pointer(), _I64]}.get(
            fe_type.what, []
        )
        super().__init__(dmm, fe_type, ir.LiteralStructType(words))


def _pack(context, builder, typ, *words):
    value = ir.Constant(context.get_value_type(typ), ir.Undefined)
    for i, word in enumerate(words):
        value = builder.insert_value(value, word, i)
    return value


def _number(i):
    return ir.Constant(_I64, i)


def _fixed(builder, instruction):
    instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return instruction


def _header(builder, I, entry):
    return _fixed(builder, builder.load(builder.gep(I, [_number(entry)], inbounds=True), align=8))


def header_entry(builder, system, entry):
    """I[entry] of a system."""
    return _header(builder, builder.extract_value(system, 0), entry)


def _limits(context, builder, value, typ, array):
    """[where the array begins, where it ends] in bounds mode, else nothing."""
    if not _BOUNDS:
        return []
    if typ.what in _OF_ONE_ARRAY:
        return [builder.extract_value(value, k) for k in (1, 2)]
    k = "IFW".index(array)
    begin, item = (
        builder.ptrtoint(builder.extract_value(value, k), _I64),
        context.get_abi_sizeof(context.get_data_type(typ.scalar(array))),
    )
    return [begin, builder.add(begin, builder.mul(builder.extract_value(value, 3 + k), _number(item)))]


def _check(context, builder, pointer, count, limits, name):
    """In bounds mode, raise where `count` scalars from the pointer on do not lie within the limits."""
    if limits:
        item = context.get_abi_sizeof(pointer.type.pointee)
        place = builder.ptrtoint(pointer, _I64)
        before = builder.icmp_unsigned("<", place, limits[0])
        behind = builder.icmp_unsigned(">", builder.add(place, _number(count * item)), limits[1])
        with builder.if_then(builder.or_(before, behind), likely=False):
            context.call_conv.return_user_exc(builder, IndexError, (f"{name} is out of bounds",))


# ----------------------------------------------------------------------------------------------------- reading and writing


def _type_of(kind, scalar):
    return scalar if kind in (L.NUM, L.INT) else Small(_SHAPES[kind], scalar)


def _place(context, builder, pointer, kind, scalar):
    """Pointer to the whole value."""
    typ = _type_of(kind, scalar)
    return builder.bitcast(pointer, context.get_value_type(typ).as_pointer()) if isinstance(typ, Small) else pointer


def _load(context, builder, pointer, kind, scalar, fixed):
    value = builder.load(_place(context, builder, pointer, kind, scalar), align=8)
    return _fixed(builder, value) if fixed else value


def _at(builder, pointer, *offsets):
    """pointer + sum of the offsets, whole numbers among them added up first"""
    known, index = 0, None
    for o in offsets:
        if isinstance(o, int):
            known += o
        else:
            index = o if index is None else builder.add(index, o)
    inbounds = not _BOUNDS
    if index is not None:
        pointer = builder.gep(pointer, [index], inbounds=inbounds)
    return builder.gep(pointer, [_number(known)], inbounds=inbounds) if known else pointer


def _field(context, builder, typ, value, attr):
    """(pointer, kind, scalar, fixed) of a field of a record or a member, checked."""
    if typ.what in (_RECORD, _FIXED):
        kind, o = typ.of.fields[attr]
        array, scalar, fixed = None, typ.scalars[0], typ.what == _FIXED
        pointer = _at(builder, builder.extract_value(value, 0), o)
    else:
        section, kind, o = typ.of.fields[attr]
        array, scalar, fixed = section.array, typ.scalar(section.array), section.array != "W"
        start = _header(builder, builder.extract_value(value, 0), section.entry)
        number = builder.extract_value(value, _BASE)
        if section.width > 1:
            number = builder.mul(number, _number(section.width))
        pointer = _at(builder, builder.extract_value(value, "IFW".index(array)), start, number, o)
    _check(context, builder, pointer, L.size(kind), _limits(context, builder, value, typ, array), f"{typ.of.name}.{attr}")
    return pointer, kind, scalar, fixed


@infer_getattr
class _Attributes(AttributeTemplate):
    key = View

    def generic_resolve(self, typ, attr):
        if typ.what in (_RECORD, _FIXED):
            return _type_of(typ.of.fields[attr][0], typ.scalars[0]) if attr in typ.of.fields else None
        if typ.what == _MEMBER:
            if attr == "number":
                return types.int64
            if attr not in typ.of.fields:
                return None
            section, kind, _ = typ.of.fields[attr]
            if isinstance(kind, L.Ref):
                return View(_MEMBER, L.TABLES[kind.table], *typ.scalars)
            return View(_NUMBERS, "I", types.int64) if isinstance(kind, L.Ints) else _type_of(kind, typ.scalar(section.array))
        return _of_system(typ, attr) if typ.what == _SYSTEM else None


def _of_system(typ, attr):
    if attr in ("I", "F", "W"):
        return types.Array(typ.scalar(attr), 1, "C", aligned=typ.scalar(attr) in (types.int64, types.float64))
    if attr in L.HEADER_I:
        return types.int64
    if attr in L.TABLES:
        return Iterable("table", L.TABLES[attr], *typ.scalars)
    if attr in L.HEADER_F:
        return _type_of(L.HEADER_F[attr][0], typ.scalars[0])
    if attr in L.NUMBERS:
        return View(_NUMBERS, L.NUMBERS[attr][0], typ.scalar(L.NUMBERS[attr][0]))
    if attr in L.RECORD:
        array, _, record = L.RECORD[attr]
        return View(_RECORD if array == "W" else _FIXED, record, typ.scalar(array))
    if attr in L.RECORDS:
        array, _, record, _, _ = L.RECORDS[attr]
        return View(_RECORDS if array == "W" else _FIXED_RECORDS, record, typ.scalar(array))
    return None


@lower_getattr_generic(View)
def _get_attribute(context, builder, typ, value, attr):
    if typ.what == _SYSTEM:
        return _get_of_system(context, builder, typ, value, attr)
    if attr == "number":
        return builder.extract_value(value, _BASE)
    pointer, kind, scalar, fixed = _field(context, builder, typ, value, attr)
    if isinstance(kind, L.Ref):
        number = _fixed(builder, builder.load(pointer, align=8))
        return builder.insert_value(value, number, _BASE)
    if isinstance(kind, L.Ints):
        return _pack(context, builder, View(_NUMBERS, "I", types.int64), pointer, *_limits(context, builder, value, typ, "I"))
    return _load(context, builder, pointer, kind, scalar, fixed)


def _get_of_system(context, builder, typ, value, attr):
    words = [builder.extract_value(value, i) for i in range(3)]
    made = _of_system(typ, attr)
    if attr in ("I", "F", "W"):
        return view_as_array(context, builder, typ, value, attr)
    if attr in L.HEADER_I:
        return _header(builder, words[0], L.HEADER_I[attr])
    if attr in L.TABLES:
        return value
    if attr in L.HEADER_F:
        kind, o = L.HEADER_F[attr]
        return _load(context, builder, _at(builder, words[1], o), kind, typ.scalars[0], True)
    if attr in L.NUMBERS:
        array, entry, o = L.NUMBERS[attr]
        stride = []
    elif attr in L.RECORD:
        (array, entry, _), o, stride = L.RECORD[attr], 0, []
    else:
        array, entry, _, step, o = L.RECORDS[attr]
        stride = [_number(step)]
    start = 0 if entry is None else _header(builder, words[0], entry)
    pointer = _at(builder, words["IFW".index(array)], start, o)
    return _pack(context, builder, made, pointer, *_limits(context, builder, value, typ, array), *stride)


def view_as_array(context, builder, typ, value, name):
    """One of the three arrays again; where bounds are not checked only the length of W is known."""
    made = _of_system(typ, name)
    view, item = context.make_array(made)(context, builder), context.get_abi_sizeof(context.get_data_type(made.dtype))
    if _BOUNDS:
        count = builder.extract_value(value, 3 + "IFW".index(name))
    else:
        count = header_entry(builder, value, W_SIZE) if name == "W" else _number(1 << 40)
    data = builder.extract_value(value, "IFW".index(name))
    populate_array(view, data=data, shape=[count], strides=[_number(item)], itemsize=_number(item), meminfo=None)
    return view._getvalue()


@lower_setattr_generic(View)
def _set_attribute(context, builder, sig, args, attr):
    typ, (view, value) = sig.args[0], args
    pointer, kind, scalar, fixed = _field(context, builder, typ, view, attr)
    if fixed:
        raise TypingError(f"{typ.of.name}.{attr} is written, but I and F do not change while a kernel runs")
    builder.store(value, _place(context, builder, pointer, kind, scalar), align=8)


def _item(typingctx, a, i):
    if isinstance(a, View) and isinstance(i, types.Integer):
        if a.what == _NUMBERS:
            return a.scalars[0]
        if a.what in (_RECORDS, _FIXED_RECORDS):
            return View(_RECORD if a.what == _RECORDS else _FIXED, a.of, a.scalars[0])
        if isinstance(a, Iterable):
            return View(_MEMBER, a.of, *a.scalars)
    return None


def _entry(context, builder, a, i):
    """Pointer to an entry of numbers, checked."""
    (value, typ), index = a, context.cast(builder, *i, types.int64)
    pointer = _at(builder, builder.extract_value(value, 0), index)
    _check(context, builder, pointer, 1, _limits(context, builder, value, typ, None), f"an index into numbers of {typ.of}")
    return pointer


def _get_item(context, builder, out, a, i):
    (value, typ), index = a, context.cast(builder, *i, types.int64)
    if typ.what == _NUMBERS:
        found = builder.load(_entry(context, builder, a, i), align=8)
        return found if typ.of == "W" else _fixed(builder, found)
    limits = [builder.extract_value(value, k) for k in (1, 2)] if _BOUNDS else []
    if typ.what in (_RECORDS, _FIXED_RECORDS):
        step = builder.mul(index, builder.extract_value(value, 1 + len(limits)))
        return _pack(context, builder, out, _at(builder, builder.extract_value(value, 0), step), *limits)
    return _pack(context, builder, out, *[builder.extract_value(value, k) for k in range(_BASE)], index)


_lowered = define(operator.getitem, 2, _item, _get_item)
lower_builtin(operator.getitem, View, types.Integer)(_lowered)
lower_builtin(operator.getitem, Iterable, types.Integer)(_lowered)


def _set_item(context, builder, out, a, i, v):
    builder.store(context.cast(builder, *v, a[1].scalars[0]), _entry(context, builder, a, i), align=8)
    return context.get_dummy_value()


def _may_set(typingctx, a, i, v):
    return types.void if isinstance(a, View) and a.what == _NUMBERS and a.of == "W" and isinstance(i, types.Integer) else None


lower_builtin(operator.setitem, View, types.Integer, types.Any)(define(operator.setitem, 3, _may_set, _set_item))


def _moved(typingctx, a, k):
    return a if isinstance(a, View) and a.what == _NUMBERS and isinstance(k, types.Integer) else None


def _move(context, builder, out, a, k):
    pointer = _at(builder, builder.extract_value(a[0], 0), context.cast(builder, *k, types.int64))
    return builder.insert_value(a[0], pointer, 0)


lower_builtin(operator.add, View, types.Integer)(define(operator.add, 2, _moved, _move))


@lower_builtin("getiter", Iterable)
def _iterate(context, builder, sig, args):
    words = [builder.extract_value(args[0], k) for k in range(_BASE)]
    first = sig.args[0].of.first
    end = _header(builder, words[0], sig.args[0].of.count)
    place = cgutils.alloca_once_value(builder, _number(first))
    builder.store(_number(first), place)
    return _pack(context, builder, sig.return_type, *words, place, builder.add(end, _number(first)) if first else end)


@lower_builtin("iternext", Iterator)
@iternext_impl(RefType.UNTRACKED)
def _next(context, builder, sig, args, result):
    words = [builder.extract_value(args[0], k) for k in range(_BASE + 2)]
    index = builder.load(words[_BASE])
    valid = builder.icmp_signed("<", index, words[_BASE + 1])
    result.set_valid(valid)
    with builder.if_then(valid):
        result.yield_(_pack(context, builder, sig.args[0].yield_type, *words[:_BASE], index))
        builder.store(builder.add(index, _number(1)), words[_BASE])


# ----------------------------------------------------------------------------------------------------------- making views


def _of_arrays(typingctx, *arrays):
    if all(isinstance(a, types.Array) and a.ndim == 1 for a in arrays):
        return View(_SYSTEM, "", arrays[1].dtype, arrays[2].dtype)
    return None


def _array(context, builder, array, typ):
    """(pointer, how many)"""
    made = context.make_array(typ)(context, builder, array)
    return made.data, builder.extract_value(made.shape, 0)


def _make_system(context, builder, out, *arrays):
    found = [_array(context, builder, *a) for a in arrays]
    return _pack(context, builder, out, *[data for data, _ in found], *[count for _, count in found if _BOUNDS])


lower_builtin(System, *[types.Array] * 3)(define(System, 3, _of_arrays, _make_system))


@typeof_impl.register(System)
def _type_of_system(value, context):
    return SYSTEM


@unbox(View)
def _unbox(typ, obj, c):
    """A System made in Python; its arrays must outlive the call, as arguments do."""
    words, lengths = [], []
    for name in "IFW":
        array_type = types.Array(typ.scalar(name), 1, "C")
        attribute = c.pyapi.object_getattr_string(obj, name)
        array = c.unbox(array_type, attribute)
        data, count = _array(c.context, c.builder, array.value, array_type)
        words.append(data)
        lengths.append(count)
        c.pyapi.decref(attribute)
        if array.cleanup is not None:
            array.cleanup()
    return NativeValue(_pack(c.context, c.builder, typ, *words, *(lengths if _BOUNDS else [])))


def _view_of_array(made):
    strides = {Rows: (L.ROW, 1), Wrenches: (L.ROW, 6), Twists: (L.TWIST, 6)}

    def result(typingctx, a, k):
        if isinstance(a, types.Array) and isinstance(k, types.Integer):
            if made is Numbers:
                return View(_NUMBERS, "W", a.dtype)
            return View(_RECORDS, strides[made][0], a.dtype) if made in strides else View(_RECORD, made.record, a.dtype)
        return None

    def lower(context, builder, out, a, k):
        pointer, count = _array(context, builder, *a)
        limits = []
        if _BOUNDS:
            begin, item = builder.ptrtoint(pointer, _I64), context.get_abi_sizeof(context.get_data_type(out.scalars[0]))
            limits = [begin, builder.add(begin, builder.mul(count, _number(item)))]
        place = _at(builder, pointer, context.cast(builder, *k, types.int64))
        return _pack(context, builder, out, place, *limits, *([_number(strides[made][1])] if made in strides else []))

    lower_builtin(made, types.Array, types.Integer)(define(made, 2, result, lower))


for _made in (Numbers, Rows, Wrenches, Twists, Pose, Twist):
    _view_of_array(_made)


def _records_of_numbers(function, record, stride):
    def result(typingctx, a):
        return View(_RECORDS, record, a.scalars[0]) if isinstance(a, View) and a.what == _NUMBERS else None

    def lower(context, builder, out, a):
        words = [builder.extract_value(a[0], k) for k in range(3 if _BOUNDS else 1)]
        return _pack(context, builder, out, *words, _number(stride))

    lower_builtin(function, View)(define(function, 1, result, lower))


_records_of_numbers(rows_of, L.ROW, 1)
_records_of_numbers(twists_of, L.TWIST, 6)

"""Views: the packed arrays read and written by the names of layout.py.

    system = System(I, F, W)
    for p in system.primitives:  p.i.r + p.i.R @ p.p_i        loads at constant offsets from three base pointers
    system.A[k].torque = v                                     a store
    Pose(x, body.q).theta                                      the same of any array or numbers
    system.rhs + k                                             the same numbers from entry k on

These are the classes that plain Python uses; view_types.py is the same in compiled code.
"""

import operator

from dalembert.kernels.base import layout as L
from dalembert.kernels.base.vectors import Mat3, Quat, Sym3, Vec3

SHAPES = {L.VEC: Vec3, L.QUAT: Quat, L.SYM: Sym3, L.MAT: Mat3}


def _reader(kind):
    """(array, k) -> the value of this kind at array[k]"""
    if kind in (L.NUM, L.INT):
        return lambda array, k: array[k]
    shape, n = SHAPES[kind], L.SIZE[kind]
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
        self.array, self.at = (array.array, array.at + at) if isinstance(array, Numbers) else (array, at)

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
    made.now = property(lambda self: _by_name(record, self.array[self.at : self.at + record.width].tolist()))
    return made


def _by_name(record, numbers):
    """Of a record of numbers alone, in a tenth of the time that these take one by one."""
    return dict(zip(record.fields, numbers, strict=True))


_OF_ANY_ARRAY = (L.POSE, L.TWIST, L.ROW, L.INERTIA, L.MARKS, L.BALL, L.SPIN)
_RECORD_CLASSES = {r.name: _record_class(r) for r in (*_OF_ANY_ARRAY, *(record for _, _, record in L.RECORD.values()))}
Pose, Twist, Marks = _RECORD_CLASSES["Pose"], _RECORD_CLASSES["Twist"], _RECORD_CLASSES["Marks"]
Ball, Spin = _RECORD_CLASSES["Ball"], _RECORD_CLASSES["Spin"]


def _records_class(name, record, stride):
    """A class whose objects see array[at:] as such records, one every `stride` numbers."""
    made = _RECORD_CLASSES[record.name]

    def __getitem__(self, i):
        return made(self.array, self.at + stride * i)

    return type(name, (Numbers,), {"__slots__": (), "__getitem__": __getitem__, "record": record, "stride": stride})


Rows = _records_class("Rows", L.ROW, 1)  # rows of constraints, numbered by their first entry
Wrenches, Twists = _records_class("Wrenches", L.ROW, 6), _records_class("Twists", L.TWIST, 6)  # of all bodies
_RECORDS_CLASSES = {label: _records_class(label, record, stride) for label, (_, _, record, stride, _) in L.RECORDS.items()}


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


class _Sizes:
    def __init__(self, system):
        self.system = system

    def __getitem__(self, label):
        return self.system.I[L.HEADER_I[label]]


def _blocks_class(blocks):
    def field(kind, terms):
        def at(self):
            return self.system.I[blocks.entry] + L.total(terms, _Sizes(self.system))

        def write(self, value):
            self.system.W[at(self)] = value

        read = Numbers if kind == L.MANY else _reader(kind)
        return property(lambda self: read(self.system.W, at(self)), write)

    def __init__(self, system):
        self.system = system

    names = {label: field(*what) for label, what in blocks.fields.items()}
    return type(blocks.name, (), names | {"__slots__": ("system",), "__init__": __init__})


_BLOCK_CLASSES = {name: _blocks_class(blocks) for name, blocks in L.BLOCKS.items()}


class System:
    """A model, its settings and one thread's workspace.

    callback : what plain Python calls instead of the callback at the address in I
    values : in plain Python, of a system of numbers with derivatives the one without
    """

    __slots__ = ("F", "I", "W", "callback", "values")

    def __init__(self, I, F, W, callback=None, values=None):
        self.I, self.F, self.W, self.callback, self.values = I, F, W, callback, values

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
        if label in L.BLOCKS:
            return _BLOCK_CLASSES[label](self)
        if label not in L.RECORDS:
            raise AttributeError(f"layout.py has no {label!r}")
        array, entry, _, _, o = L.RECORDS[label]
        return _RECORDS_CLASSES[label](getattr(self, array), I[entry] + o)

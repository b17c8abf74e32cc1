"""Bundles: numbers and arrays that compiled code reads and writes by the names of a record of layout.py.

    steps.h = min(steps.h, steps.h_max)         a load and a store at constant offsets from one base pointer
    steps.stages[0, i]                          an array that lies elsewhere: its address and shape are in the bundle

To compiled code a bundle is one machine word, so that functions hand it on for nothing. From Python it is an object that keeps
its arrays alive. An array that compiled code puts into a bundle must lie in one that outlives it (a row of `runs.x`): Python
goes on with the one that it knows.
"""

import hashlib
from ctypes import addressof, c_char
from functools import cache

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, lower_setattr_generic, models, register_model, unbox

from dalembert.kernels.base import layout as L
from dalembert.kernels.base.scalar_types import array_at

_CHARACTER = {name: np.dtype(name).char for name in ("float64", "int64", "complex128")}  # by which NumPy compares at once


class Bundle:
    """words : the record itself, whole numbers, addresses and shapes;  reals : the same memory, for the real ones"""

    __slots__ = ("_numba_type_", "arrays", "reals", "record", "words")

    def __init__(self, record, **values):
        self._set(record, np.zeros(record.width, dtype=np.int64), {})
        self._fill(values)

    def _set(self, record, words, arrays):
        put = object.__setattr__
        put(self, "record", record)
        put(self, "_numba_type_", _type_of(record))
        put(self, "words", words)
        put(self, "reals", words.view(np.float64))
        put(self, "arrays", arrays)

    def _fill(self, values):
        fields, words, reals = self.record.fields, self.words, self.reals
        for label, value in values.items():
            kind, o = fields[label]
            if kind is L.NUM:
                reals[o] = value
            elif kind is L.INT:
                words[o] = value
            else:
                self._take(label, kind, o, value)

    def __getattr__(self, label):
        try:
            kind, o = self.record.fields[label]
        except KeyError:
            raise AttributeError(f"layout.py has no {label!r} of {self.record.name}") from None
        if kind is L.NUM:
            return self.reals[o]
        return self.words[o] if kind is L.INT else self.arrays[label]

    def __setattr__(self, label, value):
        kind, o = self.record.fields[label]
        if kind is L.NUM or kind is L.INT:
            (self.reals if kind is L.NUM else self.words)[o] = value
        else:
            self._take(label, kind, o, value)

    def _take(self, label, kind, o, value):
        flags, empty = value.flags, value.size == 0
        if value.dtype.char != _CHARACTER[kind.scalar] or value.ndim != kind.dimensions or not flags.c_contiguous:
            raise TypeError(f"{label} is not an array of {kind.dimensions} dimensions of {kind.scalar} in one piece")
        self.arrays[label] = value
        words = self.words
        if flags.writeable:  # a fifth of the time of the other way
            words[o] = 0 if empty else addressof(c_char.from_buffer(value))
        else:
            words[o] = value.__array_interface__["data"][0]
        for length in value.shape:
            o += 1
            words[o] = length

    def numbers(self, labels):
        """Some of its numbers by name."""
        fields, words, reals = self.record.fields, self.words, self.reals
        return {label: (reals if fields[label][0] is L.NUM else words).item(fields[label][1]) for label in labels}

    def copy(self, **values):
        """Its own numbers, the same arrays, but for what is given."""
        other = object.__new__(Bundle)
        other._set(self.record, self.words.copy(), self.arrays.copy())
        other._fill(values)
        return other


# ---------------------------------------------------------------------------------------------------------- compiled code

_I64 = ir.IntType(64)


@cache
def _layout(record):
    return hashlib.sha256(repr(record.fields).encode()).hexdigest()[:12]


class BundleType(types.Type):
    """Its name tells its layout: a kernel need not import what declares it, and its code on disk must not outlive it."""

    def __init__(self, record):
        self.record = record
        super().__init__(name=f"Bundle({record.name}, {_layout(record)})")


@register_model(BundleType)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _I64.as_pointer())


@cache
def _type_of(record):
    """What Numba takes a bundle for. It asks in C and forgets what Python code raises there, even Ctrl-C: none may answer."""
    return BundleType(record)


@unbox(BundleType)
def _unbox(typ, obj, c):
    """Its arrays must outlive the call, as arguments do."""
    words_type = types.int64[::1]
    attribute = c.pyapi.object_getattr_string(obj, "words")
    words = c.unbox(words_type, attribute)
    data = c.context.make_array(words_type)(c.context, c.builder, words.value).data
    c.pyapi.decref(attribute)
    if words.cleanup is not None:
        words.cleanup()
    return NativeValue(data)


def _field_type(kind):
    if isinstance(kind, L.Array):
        return types.Array(getattr(types, kind.scalar), kind.dimensions, "C")
    return types.float64 if kind == L.NUM else types.int64


@infer_getattr
class _Attributes(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, typ, attr):
        if attr == "words":
            return types.int64[::1]
        return _field_type(typ.record.fields[attr][0]) if attr in typ.record.fields else None


def word(builder, value, o):
    """Pointer to a word of a bundle."""
    return builder.gep(value, [ir.Constant(_I64, o)], inbounds=True)


@lower_getattr_generic(BundleType)
def _get(context, builder, typ, value, attr):
    if attr == "words":
        return array_at(context, builder, types.int64[::1], value, [ir.Constant(_I64, typ.record.width)])
    kind, o = typ.record.fields[attr]
    made = _field_type(kind)
    scalar = context.get_data_type(getattr(made, "dtype", made))
    if not isinstance(kind, L.Array):
        return builder.load(builder.bitcast(word(builder, value, o), scalar.as_pointer()), align=8)
    data = builder.load(builder.bitcast(word(builder, value, o), scalar.as_pointer().as_pointer()), align=8)
    shape = [builder.load(word(builder, value, o + 1 + k), align=8) for k in range(kind.dimensions)]
    return array_at(context, builder, made, data, shape)


@lower_setattr_generic(BundleType)
def _set(context, builder, sig, args, attr):
    (value, new), (kind, o) = args, sig.args[0].record.fields[attr]
    if not isinstance(kind, L.Array):
        builder.store(new, builder.bitcast(word(builder, value, o), new.type.as_pointer()), align=8)
        return
    view = context.make_array(sig.args[1])(context, builder, new)
    builder.store(builder.ptrtoint(view.data, _I64), word(builder, value, o), align=8)
    for k in range(kind.dimensions):
        builder.store(builder.extract_value(view.shape, k), word(builder, value, o + 1 + k), align=8)

"""What lies where: blocks of numbers whose lengths the header gives."""

import numpy as np
import pytest

from dalembert.kernels.base import tables as T
from dalembert.kernels.base.layout import BLOCKS, HEADER_I, TABLES, column, records, width
from dalembert.kernels.base.views import Numbers, System

SIZES = {"nb": 2, "nq": 3, "nu": 4, "nx": 9, "m": 2, "unknowns": 11}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_fill_their_section(name):
    """Block k is written with k through its view, one behind the other: what packing counts is what views address."""
    blocks, I = BLOCKS[name], np.zeros(T.HEADER_I, dtype=np.int64)
    for label, size in SIZES.items():
        I[HEADER_I[label]] = size
    first, length = 5, blocks.length(**SIZES)
    I[blocks.entry], W = first, np.full(first + length + 5, -1.0)
    view = getattr(System(I, np.zeros(T.HEADER_F), W), name)
    starts = [blocks.offset(label, **SIZES) for label in blocks.fields]
    for k, label in enumerate(blocks.fields):
        size = [*starts, length][k + 1] - starts[k]
        if isinstance(getattr(view, label), Numbers):
            for i in range(size):
                getattr(view, label)[i] = k
        else:
            assert size == 1
            setattr(view, label, k)
            assert getattr(view, label) == k
    expected = np.repeat(np.arange(len(starts)), np.diff([*starts, length]))
    np.testing.assert_array_equal(W[first:-5], expected)
    assert (W[:first] == -1).all()
    assert (W[-5:] == -1).all()


@pytest.mark.parametrize("array", [np.arange(50), np.arange(50).tolist(), np.arange(100.0).reshape(2, 50)])
def test_records_have_fields_by_name(array):
    """Of the last two of three primitives, from 1 on: the kind first, where three rows begin behind four numbers."""
    I = np.zeros(T.HEADER_I, dtype=np.int64)
    I[T.PRIM_I], I[T.NPRIM], wide = 1, 3, width(T.PRIM_I)
    found, numbers = records(I, array, T.PRIM_I), np.asarray(array)
    np.testing.assert_array_equal(found["kind"], numbers[..., 1::wide][..., :3])
    np.testing.assert_array_equal(found["row"][..., 1, :], numbers[..., 1 + wide + column(T.PRIM_I, "row") :][..., :3])
    assert records(I, array, T.PRIM_I, 2).shape == (*numbers.shape[:-1], 2)


def test_every_header_entry_is_the_only_one_of_its_number():
    names = {name for name in dir(T) if name.startswith(("W_", "AT_"))}
    names |= {section.name for table in TABLES.values() for section in table.sections}
    names |= {label.upper() for label in HEADER_I}
    numbers = {getattr(T, name) for name in names}
    assert len(numbers) == len(names) > 100
    assert max(numbers) < T.HEADER_I

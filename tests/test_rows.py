"""Single rows and rows by number: column[i], column[[...]], masks, take, filter, decompress_rows, reader."""

import gc
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from helpers import BINARY_TYPES, STRING_TYPES, VALUE_TYPES, array_over, column_of_codes, words
from hypothesis import given
from hypothesis import strategies as st
from strategies import columns

import fsst
from fsst import CorruptDataError


def one(drawn):
    """A drawn column as one compressed array."""
    if isinstance(drawn, pa.ChunkedArray):
        drawn = drawn.chunk(0) if drawn.num_chunks else pa.array([], drawn.type)
    return drawn, fsst.compress(drawn)


@pytest.mark.kind(46, 77)
@given(columns(), st.data())
def test_rows_by_number(drawn, data):
    plain, column = one(drawn)
    rows = plain.to_pylist()
    count = len(rows)
    numbers = data.draw(st.lists(st.none() | st.integers(-count, count - 1) if count else st.none(), max_size=10))
    expected = [None if number is None else rows[number] for number in numbers]
    shapes = [numbers, tuple(numbers), pa.array(numbers, pa.int64()), pa.array(numbers, pa.int8())]
    if None not in numbers:
        shapes += [np.array(numbers, np.int32), np.array(numbers, np.int64)]
    for shape in shapes:
        found = column[shape]
        assert isinstance(found, fsst.FsstArray) and found.to_pylist() == expected
    from_begin = [None if number is None else number % count for number in numbers]
    for shape in (numbers, from_begin, pa.array(numbers, pa.int32()), pa.array(from_begin, pa.uint16())):
        again = column.decompress_rows(shape)
        assert again.type == plain.type and again.to_pylist() == expected
        again.validate(full=True)
        taken = column.take(pa.array(from_begin, pa.int64()))
        assert fsst.decompress(taken).equals(again)


@given(columns(), st.data())
def test_masks(drawn, data):
    plain, column = one(drawn)
    mask = data.draw(st.lists(st.none() | st.booleans(), min_size=len(plain), max_size=len(plain)))
    expected = [row for row, keep in zip(plain.to_pylist(), mask, strict=True) if keep]
    assert column[pa.array(mask, pa.bool_())].to_pylist() == expected
    assert column.filter(pa.array(mask, pa.bool_())).to_pylist() == expected
    if mask:
        assert column[mask].to_pylist() == expected or set(mask) == {None}
        assert column[np.array([bool(keep) for keep in mask])].to_pylist() == expected


@given(columns(), st.slices(20))
def test_slices(drawn, cut):
    plain, column = one(drawn)
    assert column[cut].to_pylist() == plain.to_pylist()[cut]
    assert column.reader()[cut] == plain.to_pylist()[cut]


@pytest.mark.kind(77)
@given(columns())
def test_reader(drawn):
    plain, column = one(drawn)
    rows = plain.to_pylist()
    reader = column.reader()
    assert isinstance(reader, Sequence) and len(reader) == len(rows)
    assert list(reader) == rows and [reader[i] for i in range(len(rows))] == rows
    assert [reader[i - len(rows)] for i in range(len(rows))] == rows
    assert list(reversed(reader)) == rows[::-1]
    for row in rows[:3]:
        assert row in reader and reader.index(row) == rows.index(row) and reader.count(row) == rows.count(row)
    for outside in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError, match=str(len(rows))):
            reader[outside]


def test_reader_is_read_only_and_strict():
    reader = fsst.compress(["a", "b"]).reader()
    with pytest.raises(TypeError):
        reader[0] = "c"
    with pytest.raises(TypeError):
        reader["a"]
    with pytest.raises(ValueError, match="'z'"):
        reader.index("z")
    assert "2 rows" in repr(reader)
    assert reader[np.int64(1)] == "b"


def test_row_numbers_of_any_size_are_no_rows():
    column = fsst.compress(["a", "b"])
    for row in (2, -3, 2**63, -(2**63) - 1, 10**30):
        with pytest.raises(IndexError):
            column.reader()[row]
        with pytest.raises(IndexError):
            column[row]
        with pytest.raises(IndexError):
            column.decompress_rows([row])


def test_a_reader_is_set_up_once():
    # __init__ used to put other buffers in place before it had looked at them.
    reader = fsst.compress(["a row"] * 1000).reader()
    for rows in (2000, 5, 0):
        reader.__init__(fsst.SymbolTable()._native, b"", b"", False, 0, rows, None, True, -1)
        assert len(reader) == 1000 and reader[999] == "a row"
    with pytest.raises(ValueError, match="2000 rows"):
        type(reader)(fsst.SymbolTable()._native, b"", b"", False, 0, 2000, None, True, -1)


def test_reader_outlives_the_column():
    column = fsst.compress(words(5, 2000))
    expected = column.to_pylist()
    reader = column.slice(500).reader()
    del column
    gc.collect()
    assert list(reader) == expected[500:]


def test_reader_of_long_rows():
    rows = ["x" * size for size in (0, 1, 120, 127, 128, 129, 1000, 100_000)]
    assert list(fsst.compress(rows, symbol_table=fsst.SymbolTable([b"x"])).reader()) == rows
    assert list(fsst.compress(rows, symbol_table=fsst.SymbolTable()).reader()) == rows


def test_types_of_rows():
    for value_type in VALUE_TYPES:
        kind = str if value_type in STRING_TYPES else bytes
        assert value_type in STRING_TYPES + BINARY_TYPES
        assert type(fsst.compress(pa.array([b"a"], pa.binary()).cast(value_type)).reader()[0]) is kind


def test_keys_that_are_none():
    column = fsst.compress(["a", "b", None])
    for key in (3, -4, [0, 3], np.array([-4]), pa.array([5])):
        with pytest.raises(IndexError, match="3 rows"):
            column[key]
    for key in ([True], pa.array([True] * 4)):
        with pytest.raises(IndexError, match="mask"):
            column[key]
    for key in ("a", 1.0, [1.5], ["a"], None):
        with pytest.raises(TypeError):
            column[key]
    for rows in ([-4], [3], np.array([2**40]), np.array([-(2**40)])):
        with pytest.raises(IndexError, match="3 rows"):
            column.decompress_rows(rows)
    with pytest.raises(TypeError, match="integers"):
        column.decompress_rows([0.5])
    with pytest.raises(TypeError, match="integers"):
        column.decompress_rows(np.zeros((1, 1), np.int64))
    # Negative numbers count from the end in both, None in itself is no mask.
    assert column[[-1, -3, 1]].to_pylist() == column.decompress_rows([-1, -3, 1]).to_pylist() == [None, "a", "b"]
    assert column.decompress_rows(np.array([-2, 0])).to_pylist() == ["b", "a"]
    assert column.decompress_rows(pa.array([-2, None])).to_pylist() == ["b", None]
    assert column[[None, None, None]].to_pylist() == [None, None, None]
    assert column[pa.array([None, None, None])].to_pylist() == [None, None, None]
    assert column[pa.array([None, None, None], pa.bool_())].to_pylist() == []
    assert column[[]].to_pylist() == [] and column.decompress_rows([]).to_pylist() == []
    assert column[[None]].to_pylist() == [None] and column.decompress_rows([None, 2]).to_pylist() == [None, None]


def test_corrupt_rows_are_refused_alone():
    storage = array_over(pa.binary(), None, [b"\0", b"\7", b"\0\xff", b"\xff\xc3"])
    column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
    reader = column.reader()
    assert reader[0] == "a" and column.decompress_rows([0, 0]).to_pylist() == ["a", "a"]
    for row, message in [(1, "row 1 has code 7"), (2, "row 2 ends in an escape"), (3, "UTF-8")]:
        with pytest.raises(CorruptDataError, match=message):
            reader[row]
        with pytest.raises(CorruptDataError, match=message):
            column.decompress_rows([0, row])


def test_offsets_that_lead_astray():
    good = fsst.compress(["a", "b", "c"])
    for offsets in ([0, 9, 3, 5], [0, 5, 3, 5], [-4, 1, 2, 5], [0, 1, 2, 9]):
        buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"\0" * 5)]
        try:
            storage = pa.Array.from_buffers(pa.binary(), 3, buffers)
        except pa.ArrowInvalid:
            continue
        column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
        reader = column.reader()
        for row in range(3):
            if 0 <= offsets[row] <= offsets[row + 1] <= 5:
                assert reader[row] == "a" * (offsets[row + 1] - offsets[row])
            else:
                with pytest.raises(CorruptDataError, match="offset"):
                    reader[row]
                with pytest.raises(CorruptDataError):
                    column.decompress_rows([row])
        for work in (
            lambda c: c.take([0]),
            lambda c: c.filter(pa.array([True] * 3)),
            lambda c: c[::-1],
            lambda c: c.drop_null(),
            lambda c: c.equals(c.slice(0)),
            lambda c: c.diff(good),
            lambda c: good == c,
        ):
            with pytest.raises(CorruptDataError):
                work(column)


def test_fixed_size_rows_of_another_size():
    column = column_of_codes([b"ab"], [b"\0", b"\0\0"], pa.binary(2))
    assert column.reader()[0] == b"ab"
    with pytest.raises(CorruptDataError, match="4 bytes"):
        column.reader()[1]


def test_null_rows_that_hide_corrupt_codes():
    storage = array_over(pa.binary(), [True, False], [b"\0", b"\7"])
    column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
    assert list(column.reader()) == ["a", None] and column.decompress_rows([1, 0]).to_pylist() == [None, "a"]


def test_row_numbers_beyond_63_bits_are_no_negative_ones():
    column = fsst.compress(["x", "y", "z"])
    for number in (2**63, 2**64 - 1, 2**64 - 3):
        with pytest.raises(IndexError, match=f"row {number} of a column of 3 rows"):
            column.decompress_rows(np.array([0, number], np.uint64))
    assert column.decompress_rows(np.array([2, 0], np.uint64)).to_pylist() == ["z", "x"]

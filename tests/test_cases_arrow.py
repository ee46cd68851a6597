"""How such codecs fail in practice, Arrow columns: a small input for each kind, then the kinds in general."""

import random

import numpy as np
import pyarrow as pa
import pytest
import strategies
from helpers import STRING_TYPES, VALUE_TYPES, array_over, bitmap, column_of_codes, run_python, stored_codes, words
from hypothesis import given
from hypothesis import strategies as st

import fsst
from fsst import CorruptDataError, SymbolTable


def round_trip(plain, **options):
    plain = plain if isinstance(plain, (pa.Array, pa.ChunkedArray)) else pa.array(plain)
    column = fsst.compress(plain, **options)
    again = fsst.decompress(column)
    assert again.type == plain.type and again.equals(plain)
    again.validate(full=True)
    return column


def one_array(drawn):
    """A drawn column as one array."""
    if isinstance(drawn, pa.Array):
        return drawn
    return drawn.chunk(0) if drawn.num_chunks else pa.array([], drawn.type)


# --- Corrupt data ------------------------------------------------------------------------------


@pytest.mark.case(29)
def test_invalid_utf8_does_not_become_a_string():
    codes = [b"\xff\xc3\xff\x28"]
    for value_type in STRING_TYPES:
        column = column_of_codes([], codes, value_type)
        for work in (fsst.decompress, lambda c: c.to_pylist(), lambda c: c[0].as_py(), lambda c: c.reader()[0]):
            with pytest.raises(CorruptDataError, match="UTF-8"):
                work(column)
    assert fsst.decompress(column_of_codes([], codes, pa.binary())).to_pylist() == [b"\xc3\x28"]


@pytest.mark.kind(29)
@given(
    rows=st.lists(st.binary(max_size=4) | st.text(max_size=3).map(str.encode), max_size=4),
    value_type=st.sampled_from(STRING_TYPES),
    cut=st.sampled_from([[], [b"\xc3", b"\xa9"], [b"a", b"\xe6\x97"]]),
)
def test_any_bytes_under_a_string_type(rows, value_type, cut):
    """Python's decoder says what is UTF-8; symbols may cut a character, rows may not."""
    table = SymbolTable(cut)
    column = column_of_codes(cut, [table.compress(row) for row in rows], value_type)
    try:
        expected = [row.decode() for row in rows]
    except UnicodeDecodeError:
        with pytest.raises(CorruptDataError, match="UTF-8"):
            fsst.decompress(column)
        with pytest.raises(CorruptDataError, match="UTF-8"):
            list(column.reader())
    else:
        assert fsst.decompress(column).to_pylist() == list(column.reader()) == expected


# --- Offsets of 8 bytes (test_offsets.py has the columns that need them) ----------------------------


@pytest.mark.case(35, 36)
@pytest.mark.parametrize("value_type", [pa.large_string(), pa.large_binary()], ids=str)
def test_offsets_of_8_bytes_with_small_values(value_type):
    rows = pa.array([f"row {i}" * (i % 5) for i in range(300)]).cast(value_type)
    column = round_trip(rows)
    assert [column[i].as_py() for i in range(300)] == rows.to_pylist()
    wide = fsst.FsstArray.from_storage(
        fsst.FsstType(column.symbol_table, value_type, pa.large_binary()),
        column.storage.cast(pa.large_binary()),
    )
    assert fsst.decompress(wide).equals(rows)
    assert [wide[i].as_py() for i in range(300)] == list(wide.reader()) == rows.to_pylist()
    assert wide.decompress_rows([299, 0, 7]).to_pylist() == [rows[i].as_py() for i in (299, 0, 7)]


@pytest.mark.kind(31, 32, 34, 35, 36)
def test_any_column_around_the_limit_of_offsets():
    """Scaled: whatever is drawn, with the limit at every place it may matter."""
    code = """
from hypothesis import given, settings, strategies as st
import pyarrow as pa
import fsst, strategies
from fsst import FsstError

@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(strategies.columns())
def check(column):
    compressed = fsst.compress(column)
    pairs = zip(compressed.chunks, column.chunks) if isinstance(column, pa.ChunkedArray) else [(compressed, column)]
    for chunk, expected in pairs:
        rows = expected.to_pylist()
        assert list(chunk.reader()) == rows
        sizes = [len(row.encode() if isinstance(row, str) else row) for row in rows if row is not None]
        wide = chunk.value_type in (pa.large_string(), pa.large_binary(), pa.binary(3))
        views = chunk.value_type in (pa.string_view(), pa.binary_view())
        needed = max(sizes, default=0) if views else sum(sizes)
        try:
            plain = fsst.decompress(chunk)
        except FsstError as error:
            assert not wide and LIMIT < needed, error
        else:
            plain.validate(full=True)
            assert plain.equals(expected)
            assert wide or needed <= LIMIT

check()
"""
    for limit in ("0", "3", "30"):
        run_python(f"LIMIT = {limit}\n{code}", FSST_TEST_OFFSET_LIMIT=limit)


# --- Slices and chunks -------------------------------------------------------------------------


@pytest.mark.case(38)
def test_slice_of_nulls_and_empties():
    rows = pa.array(["zero", "one", None, "", "four", "five", None, "seven", "eight"]).slice(3, 6)
    column = round_trip(rows)
    assert column.to_pylist() == ["", "four", "five", None, "seven", "eight"]
    assert column.storage.offset == 0


@pytest.mark.case(39)
def test_first_offset_is_not_0():
    buffers = [None, pa.py_buffer(np.array([4, 6, 9], np.int32)), pa.py_buffer(b"junkhibye??")]
    column = fsst.compress(pa.Array.from_buffers(pa.string(), 2, buffers))
    assert fsst.decompress(column).to_pylist() == ["hi", "bye"]
    assert len(stored_codes(column)) <= 10
    stored = pa.Array.from_buffers(
        pa.binary(), 2, [None, buffers[1], pa.py_buffer(b"\xff\x05\xff\x05\0\0\0\0\0\xff\xff")]
    )
    again = fsst.FsstArray.from_storage(fsst.FsstType(SymbolTable([b"x"])), stored)
    assert again.to_pylist() == list(again.reader()) == ["xx", "xxx"]
    assert again.decompress_rows([1]).to_pylist() == ["xxx"]


@pytest.mark.case(40)
@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(3)], ids=str)
def test_validity_that_starts_within_a_byte(value_type):
    values = [None if i % 3 == 0 else f"{i:03d}" for i in range(40)]
    rows = pa.array([v if v is None else v.encode() for v in values], pa.binary()).cast(value_type)
    for offset in (1, 5, 7, 8, 9, 13):
        round_trip(rows.slice(offset, 4))
        round_trip(rows.slice(offset).slice(3, 11))
        compressed = fsst.compress(rows)
        assert fsst.decompress(compressed.slice(offset, 9).slice(2)).equals(rows.slice(offset + 2, 7))
        assert list(compressed.slice(offset, 9).slice(2).reader()) == rows.slice(offset + 2, 7).to_pylist()


@pytest.mark.kind(38, 39, 40, 44)
@given(drawn=strategies.columns(), cuts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), max_size=3))
def test_any_slices_of_slices(drawn, cuts):
    """Before compressing and after; offsets that begin within the data come with the cuts."""
    plain = one_array(drawn)
    column, expected = fsst.compress(plain), plain.to_pylist()
    for start, length in cuts:
        start = min(start, len(plain))
        plain, column, expected = plain.slice(start, length), column.slice(start, length), expected[start:][:length]
    assert column.to_pylist() == list(column.reader()) == expected
    assert round_trip(plain).to_pylist() == expected
    assert fsst.compress(column, symbol_table=SymbolTable([b"a"])).to_pylist() == expected


@pytest.mark.case(41)
def test_slice_does_not_carry_its_parent():
    rows = pa.array([f"a row of the parent, number {i}" for i in range(100_000)]).slice(50_000, 3)
    column = round_trip(rows)
    assert column.get_total_buffer_size() + len(column.type.__arrow_ext_serialize__()) < 1000
    assert column.symbol_table == fsst.train(rows.to_pylist())


@pytest.mark.kind(41, 55)
@given(drawn=strategies.columns(), start=st.integers(0, 20), length=st.integers(0, 20))
def test_buffers_hold_the_visible_rows_alone(drawn, start, length):
    plain = one_array(drawn).slice(0).slice(min(start, len(one_array(drawn))), length)
    again = pa.array(plain.to_pylist(), plain.type)
    column = fsst.compress(plain)
    assert stored_codes(column) == stored_codes(fsst.compress(again))
    assert column.symbol_table == fsst.train(again)
    if not pa.types.is_fixed_size_binary(plain.type) and "view" not in str(plain.type):
        data = fsst.decompress(column).buffers()[2]
        assert (0 if data is None else data.size) == sum(len(v) for v in again.cast(pa.binary()).to_pylist() if v)


@pytest.mark.case(43)
def test_many_pieces_and_none():
    chunked = pa.chunked_array([["a" * 20], [], ["b" * 20, None]], pa.string())
    assert round_trip(chunked).to_pylist() == ["a" * 20, "b" * 20, None]
    for value_type in VALUE_TYPES:
        nothing = fsst.compress(pa.chunked_array([], value_type))
        assert fsst.decompress(nothing).type == value_type and len(nothing) == 0


@pytest.mark.kind(43, 53)
@given(chunks=st.lists(st.lists(st.none() | st.text("ab", max_size=5), max_size=6), max_size=6))
def test_any_pieces(chunks):
    chunked = pa.chunked_array(chunks, pa.string())
    column = round_trip(chunked)
    assert [chunk.to_pylist() for chunk in column.chunks] == chunks
    assert column.null_count == chunked.null_count
    assert fsst.decompress(column.combine_chunks()).to_pylist() == chunked.to_pylist()


@pytest.mark.case(44)
@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_buffers_that_are_not_offset_adjusted(value_type):
    rows = pa.array([b"zero", None, b"two", b"three, long enough for a buffer", b""], pa.binary()).cast(value_type)
    for offset in range(6):
        round_trip(rows.slice(offset))
    table = pa.table({"text": rows, "number": [1, None, 3, 4, 5]}).slice(2)
    assert fsst.decompress(fsst.compress(table)).equals(table)


# --- Nulls and empty strings -------------------------------------------------------------------


@pytest.mark.case(46)
def test_take_with_null_indices():
    column = fsst.compress(["aa", "bb"])
    for rows in ([1, None, 0], pa.array([1, None, 0]), pa.array([1, None, 0], pa.uint8())):
        assert column.take(rows).to_pylist() == ["bb", None, "aa"]
        assert column[rows].to_pylist() == ["bb", None, "aa"]
        assert column.decompress_rows(rows).to_pylist() == ["bb", None, "aa"]
        assert fsst.decompress(column.take(rows)).to_pylist() == ["bb", None, "aa"]


@pytest.mark.case(48)
def test_nulls_are_put_back_where_they_were():
    column = round_trip([None, "x", None, None, "y"])
    assert len(column) == 5 and column.null_count == 3
    assert [row.is_valid for row in column.storage] == [False, True, False, False, True]
    assert column.to_pylist() == list(column.reader()) == [None, "x", None, None, "y"]


@pytest.mark.case(49, 51)
@pytest.mark.parametrize(
    "rows",
    [[], [""], [""] * 100_000 + ["x" * 20_000], [None, ""], ["", None, ""], ["\0", ""]],
    ids=["none", "one", "a long one", "null", "among", "zero"],
)
def test_empty_strings(rows):
    assert round_trip(pa.array(rows, pa.string())).to_pylist() == rows


@pytest.mark.kind(48, 49, 51)
@pytest.mark.parametrize("count", range(9))
def test_every_pattern_of_nulls_empties_and_values(count):
    """Exhaustive: each row null, empty or "x", 3 ** count patterns, in one column with a known end each."""
    patterns = np.array(np.meshgrid(*[range(3)] * count)).reshape(count, -1).T if count else np.zeros((1, 0), int)
    rows = [[None, "", "x"][kind] for pattern in patterns for kind in [*pattern, 2]]
    column = round_trip(pa.array(rows, pa.string()))
    assert list(column.reader()) == rows
    assert column.null_count == rows.count(None)


@pytest.mark.case(52, 60)
@pytest.mark.parametrize("rows", [[[], [], []], [[""], [""]], [[None, None], [None]], [None, []]], ids=repr)
def test_lists_of_nothing(rows):
    assert round_trip(pa.array(rows, pa.list_(pa.string()))).to_pylist() == rows


@pytest.mark.case(53)
def test_some_chunks_have_nulls():
    chunked = pa.chunked_array([["a", None], ["b", "c"]])
    column = round_trip(chunked)
    assert column.null_count == 1 and not column[1].is_valid and column[2].as_py() == "b"


@pytest.mark.case(55)
def test_nulls_after_a_huge_value():
    rows = ["x" * (3 << 20)] + [None] * 5000
    plain = fsst.decompress(fsst.compress(pa.array(rows)))
    assert plain.get_total_buffer_size() < 4 << 20
    # The nulls may lie over the huge value's own bytes.
    offsets = np.array([0, *([3 << 20] * 5001)], np.int32)
    hiding = pa.Array.from_buffers(
        pa.string(), 5001, [bitmap([1] + [0] * 5000), pa.py_buffer(offsets), pa.py_buffer(b"x" * (3 << 20))]
    )
    assert fsst.compress(hiding).equals(fsst.compress(pa.array(rows)))


# --- Nested columns ----------------------------------------------------------------------------


def struct_with_a_null(children):
    return pa.StructArray.from_arrays([children], names=["s"], mask=pa.array([False, True, False]))


@pytest.mark.case(57, 59)
def test_null_structs_mask_children():
    rows = struct_with_a_null(pa.array([["p"], ["q"], []]))
    assert round_trip(rows).to_pylist() == [{"s": ["p"]}, None, {"s": []}]
    assert round_trip(rows.slice(1, 2)).to_pylist() == [None, {"s": []}]
    rows = struct_with_a_null(pa.array(["p", "q", "r"]))
    assert round_trip(rows).to_pylist() == [{"s": "p"}, None, {"s": "r"}]
    assert fsst.decompress(fsst.compress(rows)).field(0).to_pylist() == ["p", None, "r"]


@pytest.mark.case(57)
def test_hidden_bytes_of_a_null():
    column = fsst.compress(array_over(pa.string(), [1, 0, 1], [b"seen", b"hidden", b"seen"]))
    assert stored_codes(column) == stored_codes(fsst.compress(["seen", None, "seen"]))


@pytest.mark.case(58)
def test_null_struct_in_a_list():
    lists = pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), struct_with_a_null(pa.array(["p", "q", "r"])))
    assert round_trip(lists).to_pylist() == [[{"s": "p"}, None, {"s": "r"}]]


@pytest.mark.case(61)
def test_one_long_list_among_empty_ones():
    rng = random.Random(3)
    long = [rng.randbytes(8) for _ in range(20_000)]
    round_trip(pa.array([[]] * 10_000 + [long] + [[]] * 10_000, pa.list_(pa.binary())))


# --- Dictionaries and views --------------------------------------------------------------------


@pytest.mark.case(63)
def test_dictionary_of_nothing():
    rows = pa.DictionaryArray.from_arrays(pa.array([None] * 3, pa.int8()), pa.array([], pa.string()))
    assert fsst.compress(rows).to_pylist() == [None] * 3


@pytest.mark.case(65)
def test_dictionary_of_large_strings():
    rows = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["aa", "bb"], pa.large_string()))
    again = fsst.decompress(fsst.compress(rows))
    assert again.equals(pa.array(["bb", "aa", "bb"], pa.large_string()))


@pytest.mark.case(66)
def test_nulls_of_a_dictionary():
    rows = pa.array([None if i % 7 == 0 else f"value {i % 3}" for i in range(500)])
    assert fsst.decompress(fsst.compress(rows.dictionary_encode())).equals(rows)
    # A null may be an entry of the dictionary, too.
    entries = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 1]), pa.array([None, "a"]))
    assert fsst.compress(entries).to_pylist() == [None, "a", None, "a"]


@pytest.mark.case(67)
@pytest.mark.parametrize("value_type", [pa.string_view(), pa.binary_view()], ids=str)
def test_views(value_type):
    rows = pa.array([b"short", None, b"longer than twelve bytes here", b""], pa.binary()).cast(value_type)
    round_trip(rows)
    column = round_trip(rows.slice(1))
    assert 0 < column.nbytes < 100


@pytest.mark.case(68)
def test_views_of_several_buffers():
    rows = pa.concat_arrays(
        [pa.array([text], pa.string_view()) for text in ("long enough to spill", "another long string", "short")]
    )
    assert round_trip(rows.slice(1)).to_pylist() == ["another long string", "short"]
    plain = pa.array(["long enough to spill"], pa.string_view())
    ours = fsst.decompress(fsst.compress(pa.array(["another long string"], pa.string_view())))
    for pair in ([plain, ours], [ours, plain]):
        joined = pa.concat_arrays(pair)
        joined.validate(full=True)
        assert joined.to_pylist() == [array[0].as_py() for array in pair]


@pytest.mark.kind(68)
@given(
    pieces=st.lists(st.tuples(st.booleans(), st.lists(st.none() | st.text("ab", max_size=20), max_size=4)), max_size=5)
)
def test_any_views_joined(pieces):
    arrays = [pa.array(rows, pa.string_view()) for _, rows in pieces]
    ours = [fsst.decompress(fsst.compress(a)) if go else a for a, (go, _) in zip(arrays, pieces, strict=True)]
    expected = [row for _, rows in pieces for row in rows]
    if ours:
        joined = pa.concat_arrays(ours)
        joined.validate(full=True)
        assert joined.to_pylist() == round_trip(joined).to_pylist() == expected


# --- What does not compress --------------------------------------------------------------------


@pytest.mark.case(82)
@pytest.mark.parametrize(
    "rows",
    [
        [None] * 50,
        [b""] * 50,
        [b"one row"],
        [b"a", b"b", b"c"],
        [random.Random(4).randbytes(50) for _ in range(100)],
    ],
    ids=["all null", "all empty", "one row", "one byte each", "random"],
)
def test_columns_that_do_not_compress(rows):
    column = round_trip(pa.array(rows, pa.binary()))
    assert len(stored_codes(column)) <= 2 * sum(len(row) for row in rows if row)


@pytest.mark.kind(82)
@given(strategies.columns())
def test_any_column_stays_below_the_bound(drawn):
    plain = one_array(drawn)
    stats = round_trip(plain).stats()
    # The table pays for itself on the sample it was made from, and here that is the whole column.
    assert stats.code_bytes + stats.table_bytes <= 2 * stats.text_bytes + 9


@pytest.mark.case(83, 84)
@pytest.mark.parametrize("count", [1023, 1024, 1025, 2048, 4096])
def test_row_counts_around_powers_of_two(count):
    column = round_trip([f"id-{i:04d}" for i in range(count)])
    assert len(column) == count and column[count - 1].as_py() == f"id-{count - 1:04d}"


@pytest.mark.kind(83)
def test_every_row_count():
    rows = pa.array([f"id-{i:04d}" for i in range(300)])
    table = fsst.train(rows)
    for count in range(300):
        column = fsst.compress(rows.slice(300 - count), symbol_table=table)
        assert len(column) == count and fsst.decompress(column).equals(rows.slice(300 - count))


@pytest.mark.case(98, 107)
@pytest.mark.parametrize("kind", ["random bytes", "uuids"])
def test_data_that_is_compressed_already(kind):
    rng = random.Random(6)
    if kind == "random bytes":
        rows, most = [rng.randbytes(2000) for _ in range(500)], 1.05
    else:
        rows, most = [rng.randbytes(16).hex().encode() for _ in range(20_000)], 0.75
    column = round_trip(pa.array(rows, pa.binary()))
    assert column.nbytes < most * sum(map(len, rows))


# --- One table for many ------------------------------------------------------------------------


@pytest.mark.case(101, 102)
def test_one_table_for_many_pieces():
    pieces = [pa.array(words(seed, 1000)) for seed in range(20)]
    table = fsst.train(pa.chunked_array(pieces))
    columns = [fsst.compress(piece, symbol_table=table) for piece in pieces]
    assert all(column.symbol_table is table for column in columns)
    assert pa.concat_arrays(columns).to_pylist() == [row for piece in pieces for row in piece.to_pylist()]
    # Not only an equal table: the same, with the look-ups that have been built for it.
    assert all(columns[0].slice(i, 3).symbol_table is table for i in range(1000))

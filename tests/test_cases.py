"""How such codecs fail in practice: one test for each kind of fault seen in public reports.

Faults of pages and Parquet files are tested with these. Kinds that a file of this suite is about
stand there: corrupt tables (test_symbol_table.py), widths (test_offsets.py), the trainer (test_train.py).
"""

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import reference
from helpers import VALUE_TYPES, array_over, bitmap, column_of_codes, join, split, stored_codes, words

import fsst
import fsst.compute as fc
from fsst import CorruptDataError, SymbolTable, codec


def round_trip(plain, **options):
    plain = plain if isinstance(plain, (pa.Array, pa.ChunkedArray)) else pa.array(plain)
    column = fsst.compress(plain, **options)
    again = fsst.decompress(column)
    assert again.type == plain.type and again.equals(plain)
    return column


# --- Output written past its end ---


def test_output_smaller_than_the_text():  # case 1
    rows = [b"AB" * 32] * 2000
    table = SymbolTable([b"ABABABAB"])
    codes, offsets = codec.compress(table, *join(rows))
    with pytest.raises(ValueError, match="128000"):
        codec.decompress(table, codes, offsets, out=bytearray(3 * len(codes)))
    text, _ = codec.decompress(table, codes, offsets, out=bytearray(8 * len(codes)))
    assert text.tobytes() == b"".join(rows)


@pytest.mark.parametrize("tail", [1, 2, 3, 4, 9])
def test_last_codes_of_an_exact_output(tail):  # cases 2 and 4
    table = SymbolTable([b"x", b"12345678"])
    codes = b"\0" * 13 + b"\1" * tail
    for more in range(41):
        out = np.full(13 + 8 * tail + more + 8, 0xAA, np.uint8)
        text, _ = codec.decompress(table, codes, np.array([0, len(codes)], np.int32), out=out[: len(out) - 8])
        assert text.tobytes() == b"x" * 13 + b"12345678" * tail
        assert (out[13 + 8 * tail :] == 0xAA).all()


def test_one_value_larger_than_any_scratch():  # case 5
    huge = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz 0123456789", k=20 << 20))
    column = fsst.compress(pa.array(["a", huge, "a"]), symbol_table=fsst.train(["a", "a"]))
    assert fsst.decompress(column).equals(pa.array(["a", huge, "a"]))


def test_the_bound_is_exact():  # case 6
    text, offsets = bytes(range(100)), np.array([0, 100], np.int32)
    assert len(codec.compress(SymbolTable(), text, offsets, out=bytearray(200))[0]) == 200
    with pytest.raises(ValueError, match="199"):
        codec.compress(SymbolTable(), text, offsets, out=bytearray(199))


# --- Input read past its end ---


@pytest.mark.parametrize("table", [SymbolTable(), SymbolTable([b"ab", b"abc", b"abcdefgh"])], ids=["empty", "some"])
def test_lengths_around_words_and_staging_buffers(table):  # cases 13, 14 and 16
    lengths = [*range(17), *range(503, 521), *range(1015, 1031)]
    rows = [(b"abcdefgh" * 200)[:length] for length in lengths]
    for row in rows:
        assert table.decompress(table.compress(row)) == row
        assert table.compress(row) == reference.compress(list(table.symbols), row)
    assert split(*codec.decompress(table, *codec.compress(table, *join(rows)))) == rows


def test_a_row_does_not_match_what_follows_it():  # case 14
    table = SymbolTable([b"a\0", b"ab", b"abcdefgh"])
    codes, offsets = codec.compress(table, *join([b"a", b"\0", b"abcdefg", b"h", b"a"], after=b"\0"))
    assert [row[0] for row in split(codes, offsets)] == [255, 255, 1, 255, 255]


def test_tiny_rows_and_a_long_one_in_one_sample():  # case 17
    round_trip(["q"] * 200 + ["".join(random.Random(2).choices("abcdef", k=40_000))])


def test_rows_past_the_sample():  # case 18
    rows = [f"{i:039d}," for i in range(1000)]
    column = round_trip(rows)
    assert column.symbol_table == round_trip(rows).symbol_table


@pytest.mark.parametrize("length", [9, 16, 300])
def test_symbols_are_at_most_8_bytes(length):  # case 19
    with pytest.raises(ValueError, match=f"{length} bytes"):
        SymbolTable([b"x" * length])
    assert all(len(symbol) <= 8 for symbol in fsst.train([b"x" * length] * 100).symbols)


# --- Corrupt data ---


@pytest.mark.parametrize(
    ("symbols", "codes"), [([b"a"], b"\x05"), ([], b"\x00"), ([b"a"] * 0, b"\xfe"), ([b"a"], b"\x01")]
)
def test_code_without_a_symbol(symbols, codes):  # case 20
    with pytest.raises(CorruptDataError, match=f"code {codes[0]}.*{len(symbols)} symbols"):
        SymbolTable(symbols).decompress(codes)
    with pytest.raises(CorruptDataError, match=f"code {codes[0]}"):
        fsst.decompress(column_of_codes(symbols, [codes]))


def test_escape_as_the_last_byte():  # case 21
    table = SymbolTable([b"a"])
    with pytest.raises(CorruptDataError, match="escape"):
        table.decompress(b"\x00\xff")
    assert table.decompress(b"\x00\xff\xff") == b"a\xff"
    with pytest.raises(CorruptDataError, match="escape"):
        table.decompress(b"\x00\xff\xff\xff")


def test_escape_does_not_reach_into_the_next_row():  # case 23
    table = SymbolTable([b"a"])
    for rows in (
        [b"\xff", b"\x41\x42"],
        [b"\xff", b"\x00\x00"],
        [b"\xff", b""],
        [b"\xff\xff\xff", b"\xff\xff"],
    ):
        with pytest.raises(CorruptDataError, match="row 0"):
            codec.decompress(table, *join(rows))
        with pytest.raises(CorruptDataError, match="row 0"):
            codec.decompress(table, *join(rows, first=2, after=b"\x41"))


@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("count", [0, 9, 255])
def test_symbol_lengths_of_a_stored_table(at, count):  # cases 24 and 26
    body = bytearray(
        SymbolTable([b"1", b"22", b"333", b"4444", b"55555", b"666666", b"7777777", b"88888888"]).to_bytes()
    )
    body[at] = count
    with pytest.raises(CorruptDataError, match="histogram"):
        SymbolTable.from_bytes(body)


@pytest.mark.parametrize("offsets", [[0, 5, 3], [0, 3, 2**31 - 1], [0, 6], [-1, 5], [3, 2, 5]])
def test_offsets_that_are_none(offsets):  # case 25
    with pytest.raises(CorruptDataError, match=r"offset|row"):
        codec.decompress(SymbolTable([b"a"]), bytes(5), np.array(offsets, np.int32))


def test_version_and_marker_bytes_of_cwida():  # case 26
    data = SymbolTable([b"ab", b"a"]).to_bytes("cwida")
    for at in (0, 4, 5, 6, 7):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            with pytest.raises(CorruptDataError):
                SymbolTable.from_bytes(changed, "cwida")


def test_invalid_utf8_does_not_become_a_string():  # case 29
    codes = [b"\xff\xc3\xff\x28"]
    with pytest.raises(CorruptDataError, match="UTF"):
        fsst.decompress(column_of_codes([], codes, pa.string()))
    assert fsst.decompress(column_of_codes([], codes, pa.binary())).to_pylist() == [b"\xc3\x28"]


def test_declared_lengths_that_do_not_fit():  # case 30
    with pytest.raises(CorruptDataError, match="fixed_size_binary"):
        fsst.decompress(column_of_codes([b"abc", b"ab"][::-1], [b"\1", b"\0"], pa.binary(3)))
    with pytest.raises(CorruptDataError):
        codec.decompress(SymbolTable(), b"ab", np.array([0, 2**40], np.int64))


# --- Offsets of 8 bytes ---


@pytest.mark.parametrize("value_type", [pa.large_string(), pa.large_binary()], ids=str)
def test_offsets_of_8_bytes_with_small_values(value_type):  # cases 35 and 36
    rows = pa.array([f"row {i}" * (i % 5) for i in range(300)]).cast(value_type)
    column = round_trip(rows)
    assert [column[i].as_py() for i in range(300)] == rows.to_pylist()
    wide = fsst.FsstArray.from_storage(
        fsst.FsstType(column.symbol_table, value_type, pa.large_binary()),
        column.storage.cast(pa.large_binary()),
    )
    assert fsst.decompress(wide).equals(rows)
    assert [wide[i].as_py() for i in range(300)] == rows.to_pylist()


# --- Slices and chunks ---


def test_slice_of_nulls_and_empties():  # case 38
    rows = pa.array(["zero", "one", None, "", "four", "five", None, "seven", "eight"]).slice(3, 6)
    column = round_trip(rows)
    assert column.to_pylist() == ["", "four", "five", None, "seven", "eight"]
    assert column.storage.offset == 0


def test_first_offset_is_not_0():  # case 39
    buffers = [None, pa.py_buffer(np.array([4, 6, 9], np.int32)), pa.py_buffer(b"junkhibye??")]
    column = fsst.compress(pa.Array.from_buffers(pa.string(), 2, buffers))
    assert fsst.decompress(column).to_pylist() == ["hi", "bye"]
    assert len(stored_codes(column)) <= 10
    stored = pa.Array.from_buffers(
        pa.binary(), 2, [None, buffers[1], pa.py_buffer(b"\xff\x05\xff\x05\0\0\0\0\0\xff\xff")]
    )
    again = fsst.FsstArray.from_storage(fsst.FsstType(SymbolTable([b"x"])), stored)
    assert again.to_pylist() == ["xx", "xxx"]


@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(3)], ids=str)
def test_validity_that_starts_within_a_byte(value_type):  # case 40
    values = [None if i % 3 == 0 else f"{i:03d}" for i in range(40)]
    rows = pa.array([v if v is None else v.encode() for v in values], pa.binary()).cast(value_type)
    for offset in (1, 5, 7, 8, 9, 13):
        round_trip(rows.slice(offset, 4))
        round_trip(rows.slice(offset).slice(3, 11))
        compressed = fsst.compress(rows)
        assert fsst.decompress(compressed.slice(offset, 9).slice(2)).equals(rows.slice(offset + 2, 7))


def test_slice_does_not_carry_its_parent():  # case 41
    rows = pa.array([f"a row of the parent, number {i}" for i in range(100_000)]).slice(50_000, 3)
    column = round_trip(rows)
    assert column.get_total_buffer_size() + len(column.type.__arrow_ext_serialize__()) < 1000
    assert column.symbol_table == fsst.train(rows.to_pylist())


def test_many_pieces_and_none():  # case 43
    chunked = pa.chunked_array([["a" * 20], [], ["b" * 20, None]], pa.string())
    assert round_trip(chunked).to_pylist() == ["a" * 20, "b" * 20, None]
    assert fsst.decompress(fsst.compress(pa.chunked_array([], pa.large_string()))).type == pa.large_string()


@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_buffers_that_are_not_offset_adjusted(value_type):  # case 44
    rows = pa.array([b"zero", None, b"two", b"three, long enough for a buffer", b""], pa.binary()).cast(value_type)
    for offset in range(6):
        round_trip(rows.slice(offset))


# --- Nulls and empty strings ---


def test_take_with_null_indices():  # case 46
    column = fsst.compress(["aa", "bb"]).take(pa.array([1, None, 0]))
    assert column.to_pylist() == ["bb", None, "aa"] == fsst.decompress(column).to_pylist()


def test_nulls_are_put_back_where_they_were():  # case 48
    column = round_trip([None, "x", None, None, "y"])
    assert len(column) == 5 and column.null_count == 3
    assert [row.is_valid for row in column.storage] == [False, True, False, False, True]


@pytest.mark.parametrize(
    "rows",
    [[], [""], [""] * 100_000 + ["x" * 20_000], [None, ""], ["", None, ""], ["\0", ""]],
    ids=["none", "one", "a long one", "null", "among", "zero"],
)
def test_empty_strings(rows):  # cases 49 and 51
    assert round_trip(pa.array(rows, pa.string())).to_pylist() == rows


@pytest.mark.parametrize("rows", [[[], [], []], [[""], [""]], [[None, None], [None]], [None, []]], ids=repr)
def test_lists_of_nothing(rows):  # cases 52 and 60
    assert round_trip(pa.array(rows, pa.list_(pa.string()))).to_pylist() == rows


def test_some_chunks_have_nulls():  # case 53
    chunked = pa.chunked_array([["a", None], ["b", "c"]])
    column = round_trip(chunked)
    assert column.null_count == 1 and not column[1].is_valid


def test_nulls_after_a_huge_value():  # case 55
    rows = ["x" * (3 << 20)] + [None] * 5000
    plain = fsst.decompress(fsst.compress(pa.array(rows)))
    assert plain.get_total_buffer_size() < 4 << 20
    # The nulls may lie over the huge value's own bytes.
    offsets = np.array([0, *([3 << 20] * 5001)], np.int32)
    hiding = pa.Array.from_buffers(
        pa.string(), 5001, [bitmap([1] + [0] * 5000), pa.py_buffer(offsets), pa.py_buffer(b"x" * (3 << 20))]
    )
    assert fsst.compress(hiding).equals(fsst.compress(pa.array(rows)))


# --- Nested columns ---


def test_null_structs_mask_children():  # cases 57 and 59
    rows = pa.StructArray.from_arrays([pa.array([["p"], ["q"], []])], names=["s"], mask=pa.array([False, True, False]))
    assert round_trip(rows).to_pylist() == [{"s": ["p"]}, None, {"s": []}]
    assert round_trip(rows.slice(1, 2)).to_pylist() == [None, {"s": []}]
    rows = pa.StructArray.from_arrays([pa.array(["p", "q", "r"])], names=["s"], mask=pa.array([False, True, False]))
    assert round_trip(rows).to_pylist() == [{"s": "p"}, None, {"s": "r"}]
    assert fsst.decompress(fsst.compress(rows)).field(0).to_pylist() == ["p", None, "r"]


def test_null_struct_in_a_list():  # case 58
    struct = pa.StructArray.from_arrays([pa.array(["p", "q", "r"])], names=["s"], mask=pa.array([False, True, False]))
    assert round_trip(pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), struct)).to_pylist() == [
        [{"s": "p"}, None, {"s": "r"}]
    ]


def test_one_long_list_among_empty_ones():  # case 61
    rng = random.Random(3)
    long = [rng.randbytes(8) for _ in range(20_000)]
    round_trip(pa.array([[]] * 10_000 + [long] + [[]] * 10_000, pa.list_(pa.binary())))


# --- Dictionaries and views ---


def test_dictionary_of_nothing():  # case 63
    rows = pa.DictionaryArray.from_arrays(pa.array([None] * 3, pa.int8()), pa.array([], pa.string()))
    assert fsst.compress(rows).to_pylist() == [None] * 3


def test_dictionary_of_large_strings():  # case 65
    rows = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["aa", "bb"], pa.large_string()))
    again = fsst.decompress(fsst.compress(rows))
    assert again.equals(pa.array(["bb", "aa", "bb"], pa.large_string()))


def test_nulls_of_a_dictionary():  # case 66
    rows = pa.array([None if i % 7 == 0 else f"value {i % 3}" for i in range(500)])
    assert fsst.decompress(fsst.compress(rows.dictionary_encode())).equals(rows)


@pytest.mark.parametrize("value_type", [pa.string_view(), pa.binary_view()], ids=str)
def test_views(value_type):  # case 67
    rows = pa.array([b"short", None, b"longer than twelve bytes here", b""], pa.binary()).cast(value_type)
    round_trip(rows)
    column = round_trip(rows.slice(1))
    assert column.nbytes > 0


def test_views_of_several_buffers():  # case 68
    rows = pa.concat_arrays(
        [pa.array([text], pa.string_view()) for text in ("long enough to spill", "another long string", "short")]
    )
    assert round_trip(rows.slice(1)).to_pylist() == ["another long string", "short"]


# --- Access ---


def test_code_order_is_not_string_order():  # case 74
    table = SymbolTable([b"b", b"a"])
    assert table.compress(b"a") > table.compress(b"b")
    column = fsst.compress(["a", "b", "a"], symbol_table=table)
    assert column.storage[0] == column.storage[2] != column.storage[1]
    assert column.to_pylist() == ["a", "b", "a"]


def test_rows_in_any_order_after_a_scan():  # cases 77, 103 and 104
    column = fsst.compress(words(9, 10))
    rows = column.to_pylist()
    assert [column[row].as_py() for row in (9, 0, 5, 5, 9)] == [rows[row] for row in (9, 0, 5, 5, 9)]


# --- Trainer ---


def test_symbols_are_distinct():  # case 78
    table = fsst.train(["ab"] * 5000 + ["ba"] * 5000)
    assert len(set(table.symbols)) == len(table) > 0


SIZES = [0, 1, 2, 7, 8, 9, 511, 512, 513, (4 << 20) - 1, 4 << 20, (4 << 20) + 1]


@pytest.mark.parametrize("size", SIZES)
def test_sizes_around_floors_and_buffers(size):  # case 81
    text = (b"a few words, again and again; " * (size // 30 + 1))[:size]
    round_trip(pa.array([text]))
    round_trip(pa.array([text[i : i + 1000] for i in range(0, size, 1000)] or [b""]))


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
def test_columns_that_do_not_compress(rows):  # case 82
    column = round_trip(pa.array(rows, pa.binary()))
    assert len(stored_codes(column)) <= 2 * sum(len(row) for row in rows if row)


@pytest.mark.parametrize("count", [1023, 1024, 1025, 2048, 4096])
def test_row_counts_around_powers_of_two(count):  # cases 83 and 84
    assert len(round_trip([f"id-{i:04d}" for i in range(count)])) == count


def test_tables_are_little_endian_on_disk():  # case 86
    data = bytes.fromhex("01 02 00 01 0a143401 00 0101000000000000") + b"bca"
    assert SymbolTable.from_bytes(data, "cwida").symbols == (b"bc", b"a")
    assert SymbolTable([b"bc", b"a"]).to_bytes("cwida") == data
    with pytest.raises(CorruptDataError):
        SymbolTable.from_bytes(data[:8][::-1] + data[8:], "cwida")


def test_tables_of_other_ports():  # case 88
    rng = random.Random(5)
    symbols = reference.parquet_order(list(dict.fromkeys(rng.randbytes(1 + i % 8) for i in range(300)))[:255])
    assert len(symbols) == 255 and {len(symbol) for symbol in symbols} == set(range(1, 9))
    data = reference.write_parquet(symbols)
    table = SymbolTable.from_bytes(data)
    text = b"".join(rng.choices(symbols, k=500)) + rng.randbytes(500) + b"\xff" * 9
    codes = reference.compress(symbols, text)
    assert table.to_bytes() == data and table.compress(text) == codes and table.decompress(codes) == text


def test_data_that_is_compressed_already():  # cases 98 and 107
    rng = random.Random(6)
    for rows in (
        [rng.randbytes(2000) for _ in range(500)],
        [rng.randbytes(16).hex().encode() for _ in range(20_000)],
    ):
        column = round_trip(pa.array(rows, pa.binary()))
        assert column.nbytes < 1.2 * sum(map(len, rows))


def test_small_columns_take_no_large_table():  # case 99
    rng = random.Random(7)
    rows = [(b"alpha" if i % 2 else b"gamma") + rng.randbytes(3) for i in range(40)]
    column = round_trip(pa.array(rows, pa.binary()))
    assert len(stored_codes(column)) + len(column.symbol_table.to_bytes()) < 2 * 320


def test_one_table_for_many_pieces():  # cases 101 and 102
    pieces = [pa.array(words(seed, 1000)) for seed in range(20)]
    table = fsst.train(pa.chunked_array(pieces))
    columns = [fsst.compress(piece, symbol_table=table) for piece in pieces]
    assert all(column.symbol_table is table for column in columns)
    assert pa.concat_arrays(columns).to_pylist() == [row for piece in pieces for row in piece.to_pylist()]
    assert all(columns[0].slice(i, 3).symbol_table == table for i in range(1000))


def test_hidden_bytes_of_a_null():  # cases 57 and 66: the same in a flat column
    column = fsst.compress(array_over(pa.string(), [1, 0, 1], [b"seen", b"hidden", b"seen"]))
    assert stored_codes(column) == stored_codes(fsst.compress(["seen", None, "seen"]))


# --- Predicates and access on compressed data ---


def both(name, column, *arguments):
    """Of fsst.compute, which is also what pyarrow says of the decompressed column."""
    found = getattr(fc, name)(column, *arguments)
    assert found.equals(getattr(pc, name)(fsst.decompress(column), *arguments))
    return found.to_pylist()


def test_take_with_nulls():  # case 46
    column = fsst.compress(["aa", "bb"])
    assert column.take([1, None, 0]).to_pylist() == ["bb", None, "aa"]
    assert column[[1, None, 0]].to_pylist() == ["bb", None, "aa"]
    assert column.decompress_rows([1, None, 0]).to_pylist() == ["bb", None, "aa"]


def test_equality_keeps_nulls():  # case 47
    assert both("equal", fsst.compress(["a", None]), "a") == [True, None]
    assert both("not_equal", fsst.compress(["a", None]), "a") == [False, None]


def test_nulls_keep_their_places():  # case 48
    column = fsst.compress([None, "x", None, None, "y"])
    assert column.to_pylist() == list(column.reader()) == [None, "x", None, None, "y"]
    assert both("match_substring", column, "x") == [None, True, None, None, False]


def test_like_with_an_escape():  # case 70
    column = fsst.compress(["50%", "50x", "a_b", "acb"])
    assert both("match_like", column, "50\\%") == [True, False, False, False]
    assert both("match_like", column, "a\\_b") == [False, False, True, False]


def test_empty_constant():  # case 71
    column = fsst.compress(["a", None, "", "b"])
    assert both("equal", column, "") == [False, None, True, False]
    assert both("less", column, "") == [False, None, False, False]
    assert both("greater_equal", column, "") == [True, None, True, True]


def test_predicates_see_real_values_only():  # case 72
    column = fsst.compress([f"k/{i}" for i in range(100)])
    assert all(both("match_substring_regex", column, "^k/[0-9]+$"))
    assert all(both("match_like", column, "k/_%"))
    assert min(both("binary_length", column)) == 3


def test_order_is_of_the_text():  # case 74
    column = fsst.compress(["a", "b", "ab", "ba"], symbol_table=SymbolTable([b"b", b"a"]))
    assert both("sort_indices", column) == [0, 2, 1, 3]
    assert both("less", column, "b") == [True, False, True, False]
    assert fc.min_max(column).as_py() == {"min": "a", "max": "ba"}


def test_text_has_several_codes():  # case 74
    rows = [b"\x01\xffb", b"\xffb\x02", b"\x03", b"\xffb\xffa\x00\xffa"]
    column = column_of_codes([b"nan", b"ban", b"ana", b"banana"], [*rows, b"\x01\x02", b"\x02"])
    assert column.to_pylist() == ["banb", "bana", "banana", "banana", "banana", "ana"]
    assert both("match_like", column, "%nan%") == [False, False, True, True, True, False]
    assert both("match_substring", column, "ana") == [False, True, True, True, True, True]
    assert both("equal", column, "banana") == [False, False, True, True, True, False]
    assert both("unique", column) == ["banb", "bana", "banana", "ana"]
    assert [count["counts"] for count in both("value_counts", column)] == [1, 1, 3, 1]
    assert both("index_in", column, pa.array(["ana", "banana"])) == [None, None, 1, 1, 1, 0]


def test_constants_of_columns_with_other_tables():  # case 75
    columns = [fsst.compress(["ab", "c"], symbol_table=SymbolTable(table)) for table in ([b"ab"], [b"b", b"a"])]
    for column in columns:
        assert both("equal", column, "ab") == [True, False]
    # Such columns can't be chunks of one array, so nothing can be encoded with the wrong table.
    with pytest.raises(pa.ArrowTypeError):
        pa.chunked_array(columns)


def test_rows_in_random_order():  # case 77
    rows = words(9, 20)
    column = fsst.compress(rows)
    reader = column.reader()
    list(reader)
    for row in (9, 0, 5, 5, 9):
        assert reader[row] == column[row].as_py() == column.decompress_rows([row])[0].as_py() == rows[row]


def test_slices_share_what_is_built():  # case 102
    column = fsst.compress(words(4, 1000))
    for start in range(0, 1000, 50):
        assert both("equal", column.slice(start, 50), column[start].as_py())[0]


def test_single_rows_of_a_long_column():  # cases 103 and 104
    column = fsst.compress(words(6, 50_000))
    reader = column.reader()
    expected = column.to_pylist()
    numbers = random.Random(1).sample(range(50_000), 2000)
    assert [reader[number] for number in numbers] == [expected[number] for number in numbers]

"""FsstType, FsstArray and FsstScalar: a compressed column is an Arrow array."""

import base64
import copy
import json
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import strategies
from helpers import BINARY_TYPES, STRING_TYPES, VALUE_TYPES, column_of_codes, ipc, words
from hypothesis import given
from hypothesis import strategies as st

import fsst
import fsst.compute as fc
import fsst.parquet
from fsst import CorruptDataError, FsstArray, FsstScalar, FsstType, SymbolTable, _core

VALUES = [
    "https://example.org/a",
    None,
    "",
    "https://example.org/b",
    "Grüße \0 🚲",
    None,
    "https://example.org/a",
]
TABLE = SymbolTable([b"a", b"org/", b"example.", b"https://"])


@pytest.fixture
def column():
    return fsst.compress(pa.array(VALUES), symbol_table=TABLE)


# --- The type ---


def test_a_type_does_not_change(column):
    # The columns that have it would be read with another table, and so would new ones.
    with pytest.raises(TypeError, match="does not change"):
        column.type.__init__(SymbolTable([b"x"]))
    assert column.to_pylist() == fsst.compress(VALUES, symbol_table=TABLE).to_pylist() == VALUES
    with pytest.raises(TypeError, match="value_type must be a string or binary type, not 5"):
        FsstType(TABLE, 5)


def test_type_names_what_it_holds(column):
    assert column.type == FsstType(TABLE, pa.string(), pa.binary()) == FsstType(TABLE)
    assert column.type.extension_name == "fsst"
    assert column.type.symbol_table is column.symbol_table is TABLE
    assert column.type.value_type == column.value_type == pa.string()
    assert column.type.storage_type == column.storage.type == pa.binary()
    assert "string" in repr(column.type) and "4 symbols" in repr(column.type)
    assert str(column.type) == repr(column.type)


def test_types_are_equal_where_table_value_type_and_storage_are():
    types = [FsstType(TABLE, value, storage) for value in VALUE_TYPES for storage in (pa.binary(), pa.large_binary())]
    types += [FsstType(TABLE, pa.binary(4)), FsstType(TABLE, pa.binary(5)), FsstType(SymbolTable([b"a"]))]
    for i, one in enumerate(types):
        for j, other in enumerate(types):
            assert (one == other) == (i == j) != (one != other), (one, other)
            assert (pa.field("x", one) == pa.field("x", other)) == (i == j)
    assert len(set(types)) == len(types)
    same = FsstType(SymbolTable(TABLE.symbols), pa.string())
    assert same == FsstType(TABLE) and hash(same) == hash(FsstType(TABLE))
    assert FsstType(TABLE) != pa.binary() and FsstType(TABLE) != "fsst"
    assert pa.binary() != FsstType(TABLE)


@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(0), pa.binary(7)], ids=str)
def test_type_survives_its_metadata_and_a_pickle(value_type):
    for storage in (pa.binary(), pa.large_binary()):
        fsst_type = FsstType(TABLE, value_type, storage)
        assert FsstType.__arrow_ext_deserialize__(storage, fsst_type.__arrow_ext_serialize__()) == fsst_type
        assert pickle.loads(pickle.dumps(fsst_type)) == fsst_type


def test_metadata_is_ascii_json_of_three_fields():
    data = FsstType(TABLE, pa.large_string()).__arrow_ext_serialize__()
    assert data.isascii()
    assert json.loads(data) == {
        "version": 1,
        "value_type": "large_string",
        "symbol_table": base64.b64encode(TABLE.to_bytes()).decode(),
    }


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((b"a",), TypeError, "SymbolTable, not bytes"),
        ((TABLE, pa.int32()), TypeError, "int32"),
        ((TABLE, pa.list_(pa.string())), TypeError, "list"),
        ((TABLE, pa.dictionary(pa.int8(), pa.string())), TypeError, "dictionary"),
        ((TABLE, pa.string(), pa.string()), TypeError, "storage_type.*string"),
        ((TABLE, pa.string(), pa.binary(3)), TypeError, "storage_type"),
        ((SymbolTable([b"ab", b"c"]),), ValueError, r"reordered\('parquet'\)"),
    ],
    ids=str,
)
def test_what_makes_no_type(arguments, error, words):
    with pytest.raises(error, match=words):
        FsstType(*arguments)


GOOD = json.loads(FsstType(TABLE).__arrow_ext_serialize__())
BODY = TABLE.to_bytes()


def changed(**fields):
    return json.dumps({**GOOD, **fields}).encode()


def without(field):
    return json.dumps({key: value for key, value in GOOD.items() if key != field}).encode()


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"\xff\xfe", "ASCII"),
        (json.dumps(GOOD).encode("utf-16"), "ASCII"),
        (b"[" * 100_000, "JSON"),
        (b"null", "object"),
        (b"[]", "object"),
        (b'"fsst"', "object"),
        (b"1", "object"),
        (b"9" * 5000, "JSON"),
        (b"{}", "version None"),
        (without("version"), "version None"),
        (changed(version=0), "version 0"),
        (changed(version=2), "version 2"),
        (changed(version="1"), "version '1'"),
        (changed(version=1.0), "version 1.0"),
        (changed(version=True), "version True"),
        (changed(version=None), "version None"),
        (without("value_type"), "value_type None"),
        (changed(value_type=""), "value_type ''"),
        (changed(value_type="int32"), "int32"),
        (changed(value_type=["string"]), "value_type"),
        (changed(value_type="String"), "String"),
        (changed(value_type="string "), "string "),
        (changed(value_type="fixed_size_binary[-1]"), "-1"),
        (changed(value_type="fixed_size_binary[]"), "fixed_size_binary"),
        (changed(value_type="fixed_size_binary[2147483648]"), "2147483648"),
        (changed(value_type="fixed_size_binary[99999999999999999999]"), "999"),
        (changed(value_type="dictionary<values=string, indices=int8, ordered=0>"), "dictionary"),
        (without("symbol_table"), "symbol_table.*NoneType"),
        (changed(symbol_table=None), "symbol_table.*NoneType"),
        (changed(symbol_table=7), "symbol_table.*int"),
        (changed(symbol_table=""), "symbol_table.*0 bytes"),
        (changed(symbol_table="AAAA"), "symbol_table.*3 bytes"),
        (changed(symbol_table="not base64!"), "symbol_table"),
        (changed(symbol_table="AAAA\n"), "symbol_table"),
        (changed(symbol_table="é" * 12), "symbol_table"),
        (changed(symbol_table=base64.b64encode(BODY).decode()[:-1]), "symbol_table"),
        (changed(symbol_table=base64.b64encode(BODY[:-1]).decode()), "symbol_table"),
        (changed(symbol_table=base64.b64encode(BODY + b"a").decode()), "symbol_table"),
        (changed(symbol_table=base64.b64encode(b"\xff" + BODY[1:]).decode()), "symbol_table.*255 symbols"),
    ],
    ids=lambda value: value[:60].decode("ascii", "replace") if isinstance(value, bytes) else "",
)
def test_corrupt_metadata_is_refused(metadata, words):
    with pytest.raises(CorruptDataError, match=words):
        FsstType.__arrow_ext_deserialize__(pa.binary(), metadata)


@pytest.mark.parametrize("storage", [pa.string(), pa.int32(), pa.binary(4), pa.binary_view(), pa.null()], ids=str)
def test_metadata_on_another_storage_is_refused(storage):
    with pytest.raises(CorruptDataError, match=str(storage).replace("[", r"\[")):
        FsstType.__arrow_ext_deserialize__(storage, json.dumps(GOOD).encode())


@given(at=st.integers(0, len(json.dumps(GOOD)) - 1), byte=st.integers(0, 255))
def test_any_byte_of_the_metadata_may_be_wrong(at, byte):
    data = bytearray(json.dumps(GOOD).encode())
    data[at] = byte
    try:
        read = FsstType.__arrow_ext_deserialize__(pa.binary(), bytes(data))
    except CorruptDataError:
        return
    assert isinstance(read, FsstType)
    assert FsstType.__arrow_ext_deserialize__(pa.binary(), read.__arrow_ext_serialize__()) == read


# --- Rows ---


def test_rows_are_read_one_by_one(column):
    assert isinstance(column, FsstArray) and len(column) == 7 and column.null_count == 2
    assert isinstance(column[0], FsstScalar)
    assert [column[row].as_py() for row in range(7)] == VALUES
    assert [column[row - 7].as_py() for row in range(7)] == VALUES
    assert [row.as_py() for row in column] == VALUES
    assert column.to_pylist() == VALUES
    assert column[1].as_py() is None and not column[1].is_valid
    for row in (7, -8, 10**9):
        with pytest.raises(IndexError):
            column[row]


def test_one_row_decompresses_nothing_else():
    column = column_of_codes([b"a"], [b"\x00", b"\x09", b"\xff"])
    assert column[0].as_py() == "a"
    for row in (1, 2):
        with pytest.raises(CorruptDataError):
            column[row].as_py()


@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_scalars_are_of_the_value_types_kind(value_type):
    text = value_type in STRING_TYPES
    values = ["abc", "", None, "a\0"] if text else [b"abc", b"", None, b"a\xff"]
    column = fsst.compress(pa.array(values, value_type))
    assert [row.as_py() for row in column] == values == column.to_pylist()
    assert column[0].type == column.type


def test_scalar_repr_shows_the_string(column):
    assert "https://example.org/a" in repr(column[0]) and "https://example.org/a" in str(column[0])
    assert "None" in repr(column[1])


def test_scalars_of_equal_strings_are_equal(column):
    assert column[0] == column[6] and column[0] != column[3]
    assert hash(column[0]) == hash(column[6])


def test_scalars_pickle(column):
    for row in (0, 1, 2):
        again = pickle.loads(pickle.dumps(column[row]))
        assert isinstance(again, FsstScalar) and again.as_py() == VALUES[row] and again == column[row]
    # A value that would be other, valid codes if taken for codes.
    raw = fsst.compress(pa.array([b"\x00\x01"]), symbol_table=TABLE)[0]
    assert pickle.loads(pickle.dumps(raw)).as_py() == b"\x00\x01"


# --- What Arrow does with arrays ---


def check(got, values, fsst_type):
    assert isinstance(got, FsstArray) and got.type == fsst_type
    got.validate(full=True)
    assert got.to_pylist() == values
    assert got.null_count == values.count(None)
    assert fsst.decompress(got).to_pylist() == values


def test_slices(column):
    for start in range(8):
        for length in range(8 - start):
            check(column.slice(start, length), VALUES[start : start + length], column.type)
    check(column[2:5], VALUES[2:5], column.type)
    check(column[::2], VALUES[::2], column.type)
    check(column[::-1], VALUES[::-1], column.type)
    check(column.slice(1, 5).slice(2), VALUES[3:6], column.type)


def test_take(column):
    check(column.take(pa.array([5, 0, 0, 3])), [None, VALUES[0], VALUES[0], VALUES[3]], column.type)
    check(column.take([6, 1]), [VALUES[6], None], column.type)
    check(column.take(pa.array([1, None, 0])), [None, None, VALUES[0]], column.type)
    check(column.take(pa.array([], pa.int64())), [], column.type)
    check(column.slice(3).take(pa.array([0, 1])), VALUES[3:5], column.type)
    with pytest.raises((IndexError, pa.ArrowIndexError)):
        column.take([7])


def test_filter(column):
    mask = pa.array([True, True, False, None, True, False, True])
    check(column.filter(mask), [VALUES[0], None, VALUES[4], VALUES[6]], column.type)
    check(column.filter(mask, null_selection_behavior="emit_null").slice(2, 1), [None], column.type)
    check(column.drop_null(), [value for value in VALUES if value is not None], column.type)


def test_concat_of_one_table(column):
    other = fsst.compress(pa.array(["https://", None]), symbol_table=SymbolTable(TABLE.symbols))
    check(
        pa.concat_arrays([column.slice(2, 3), other, column]),
        [*VALUES[2:5], "https://", None, *VALUES],
        column.type,
    )
    chunked = pa.chunked_array([column, other])
    assert chunked.to_pylist() == [*VALUES, "https://", None]
    check(chunked.combine_chunks(), [*VALUES, "https://", None], column.type)
    both = pa.concat_tables([pa.table({"x": column}), pa.table({"x": other})])
    assert fsst.decompress(both)["x"].to_pylist() == [*VALUES, "https://", None]


def test_concat_of_different_tables_is_refused(column):
    other = fsst.compress(pa.array(["https://"]), symbol_table=SymbolTable([b"https://"]))
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, TypeError)):
        pa.concat_arrays([column, other])
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, TypeError)):
        pa.chunked_array([column, other])
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, TypeError)):
        pa.concat_tables([pa.table({"x": column}), pa.table({"x": other})])
    check(
        pa.concat_arrays([column, fsst.compress(other, symbol_table=TABLE)]),
        [*VALUES, "https://"],
        column.type,
    )


@given(column=strategies.columns(), data=st.data())
def test_any_column_survives_anything(column, data):
    compressed = fsst.compress(column)
    again = fsst.decompress(compressed)
    assert again.type == column.type and again.equals(column)
    again.validate(full=True)
    if isinstance(column, pa.ChunkedArray):
        assert again.num_chunks == column.num_chunks
        again, column, compressed = (
            again.combine_chunks(),
            column.combine_chunks(),
            compressed.combine_chunks(),
        )
    if len(column):
        rows = data.draw(st.lists(st.none() | st.integers(0, len(column) - 1), max_size=8))
        indices = pa.array(rows, pa.int64())
        expected = [None if row is None else column[row].as_py() for row in rows]
        assert compressed.take(indices).to_pylist() == expected
        assert fsst.decompress(compressed.take(indices)).to_pylist() == expected
    start = data.draw(st.integers(0, len(column)))
    assert fsst.decompress(compressed.slice(start)).equals(column.slice(start))
    assert pickle.loads(pickle.dumps(compressed.slice(start))).to_pylist() == column.slice(start).to_pylist()
    assert fsst.compress(compressed, symbol_table=TABLE).to_pylist() == column.to_pylist()


def test_equality(column):
    assert column.equals(fsst.compress(pa.array(VALUES), symbol_table=TABLE))
    assert column == fsst.compress(pa.array(VALUES), symbol_table=TABLE)
    assert not column.equals(fsst.compress(pa.array(VALUES[::-1]), symbol_table=TABLE))
    assert not column.equals(fsst.compress(pa.array(VALUES), symbol_table=SymbolTable([b"a"])))
    assert column.slice(6).equals(column.slice(0, 1))


def test_nbytes_are_those_of_the_codes():
    rows = pa.array(words(1, 20_000))
    column = fsst.compress(rows)
    assert column.nbytes < rows.nbytes / 1.5
    assert column.get_total_buffer_size() < rows.get_total_buffer_size() / 1.5


# --- Files and streams ---


@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(2)], ids=str)
def test_ipc_stream_and_file(value_type, tmp_path):
    values = ["ab", None, "cd"] if value_type in STRING_TYPES else [b"ab", None, b"cd"]
    table = pa.table({"x": pa.array(values, value_type), "n": [1, 2, 3]}).replace_schema_metadata({"who": "us"})
    compressed = fsst.compress(table)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, compressed.schema) as writer:
        writer.write_table(compressed.slice(1))
    with pa.ipc.open_stream(sink.getvalue()) as reader:
        read = reader.read_all()
    assert read.schema.equals(compressed.schema, check_metadata=True)
    assert isinstance(read["x"].chunk(0), FsstArray)
    assert fsst.decompress(read).equals(table.slice(1))

    (tmp_path / "file.arrow").write_bytes(ipc(compressed))
    with pa.memory_map(str(tmp_path / "file.arrow")) as source, pa.ipc.open_file(source) as reader:
        mapped = reader.read_all()
        assert mapped["x"].chunk(0)[2].as_py() == values[2]
        assert fsst.decompress(mapped).equals(table)
        mapped["x"].chunk(0).validate(full=True)


@pytest.mark.thread_unsafe(reason="looks at what the whole process has allocated")
def test_memory_map_reads_rows_without_a_copy(tmp_path):
    column = fsst.compress(pa.array(words(2, 50_000)))
    (tmp_path / "file.arrow").write_bytes(ipc(pa.record_batch([column], ["x"])))
    before = pa.total_allocated_bytes()
    with pa.memory_map(str(tmp_path / "file.arrow")) as source, pa.ipc.open_file(source) as reader:
        mapped = reader.get_batch(0).column(0)
        assert mapped[49_999].as_py() == column[49_999].as_py()
        assert pa.total_allocated_bytes() - before < column.nbytes / 4


@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_parquet_of_today(value_type, tmp_path):
    values = ["ab", None, "", "cd"] if value_type in STRING_TYPES else [b"ab", None, b"", b"\xff"]
    table = pa.table({"x": pa.array(values, value_type)})
    compressed = fsst.compress(table)
    pq.write_table(compressed, tmp_path / "file.parquet")
    read = pq.read_table(tmp_path / "file.parquet")
    assert read.schema.field("x").type == compressed.schema.field("x").type
    assert fsst.decompress(read).equals(table)


def test_ipc_keeps_nested_types():
    table = pa.table({"x": pa.array([["a", None], None, []]), "y": pa.array([{"s": "b"}, None, {"s": None}])})
    compressed = fsst.compress(table)
    with pa.ipc.open_file(ipc(compressed)) as reader:
        read = reader.read_all()
    assert read.schema == compressed.schema
    assert fsst.decompress(read).equals(table)


# --- Pickles ---


def test_pickle(column):
    for rows in (column, column.slice(2, 3), column.slice(0, 0)):
        for protocol in (2, 4, 5):
            again = pickle.loads(pickle.dumps(rows, protocol))
            assert isinstance(again, FsstArray) and again.type == rows.type and again.equals(rows)
    chunked = pa.chunked_array([column, column.slice(3)])
    assert pickle.loads(pickle.dumps(chunked)).equals(chunked)
    table = pa.table({"x": column})
    assert pickle.loads(pickle.dumps(table)).equals(table)
    assert copy.copy(column).equals(column) and copy.deepcopy(column).equals(column)


def test_a_slice_pickles_small():
    rows = words(3, 100_000)
    column = fsst.compress(pa.array(rows))
    body = len(column.symbol_table.to_bytes()) * 4 // 3
    data = pickle.dumps(column.slice(50_000, 3))
    assert len(data) < 1000 + body
    assert pickle.loads(data).to_pylist() == rows[50_000:50_003]
    # Scalars, too, stay by themselves.
    assert len(pickle.dumps(column[7])) < 1000 + body


# --- Looking at it ---


def test_repr_shows_size_and_rows(column):
    shown = repr(column)
    assert "string" in shown and "7 rows" in shown and "2 null" in shown and "4 symbols" in shown
    assert '"https://example.org/b"' in shown and "null" in shown
    assert str(column) == shown
    empty = repr(fsst.compress(pa.array([], pa.string())))
    assert "0 rows" in empty


def test_repr_of_a_long_column_is_short():
    column = fsst.compress(pa.array([f"row {row}" for row in range(1000)]))
    shown = repr(column)
    assert len(shown.splitlines()) < 20
    for row in (0, 4, 995, 999):
        assert f'"row {row}"' in shown
    assert '"row 500"' not in shown and "990 more" in shown
    assert 'row 998"' in repr(column.slice(500))


def test_html_shows_rows_and_escapes_them():
    column = fsst.compress(pa.array(["<script>", None, *(f"row {row}" for row in range(100))]))
    shown = column._repr_html_()
    assert "&lt;script&gt;" in shown and "<script>" not in shown
    assert "102 rows" in shown and "row 99" in shown and "row 50" not in shown
    assert ">101<" in shown


def test_repr_of_corrupt_codes_says_so():
    column = column_of_codes([b"a"], [b"\x09", None])
    assert "corrupt" in repr(column) and "corrupt" in column._repr_html_()


# --- Validation ---


def test_validate(column):
    assert column.validate() is None
    assert column.validate(full=True) is None
    corrupt = column_of_codes([b"a"], [b"\x00", b"\x09"])
    assert corrupt.validate() is None
    with pytest.raises(CorruptDataError, match="row 1 has code 9"):
        corrupt.validate(full=True)
    corrupt.slice(0, 1).validate(full=True)


@pytest.mark.parametrize("value_type", STRING_TYPES, ids=str)
@pytest.mark.parametrize("row", [b"\xc3\x28", b"\xff", b"abc\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80"], ids=bytes.hex)
def test_codes_that_are_no_utf8_are_corrupt_strings(value_type, row):
    codes = SymbolTable().compress(row)
    column = column_of_codes([], [None, codes], value_type)
    for look in (
        fsst.decompress,
        lambda column: column.validate(full=True),
        lambda column: column.to_pylist(),
        lambda column: column[1].as_py(),
        lambda column: column.to_numpy(),
    ):
        with pytest.raises(CorruptDataError, match="UTF"):
            look(column)


@pytest.mark.parametrize("value_type", BINARY_TYPES, ids=str)
def test_codes_that_are_no_utf8_are_binaries(value_type):
    column = column_of_codes([], [SymbolTable().compress(b"\xc3\x28")], value_type)
    assert column.to_pylist() == [b"\xc3\x28"] == fsst.decompress(column).to_pylist()


def test_utf8_may_be_cut_by_codes_but_not_by_rows():
    whole = column_of_codes([b"\xc3", b"\xa9"], [b"\x00\x01"])
    assert whole.to_pylist() == ["é"]
    halves = column_of_codes([b"\xc3", b"\xa9"], [b"\x00", b"\x01"])
    with pytest.raises(CorruptDataError, match="UTF"):
        fsst.decompress(halves)


def test_a_fixed_width_is_checked():
    good = column_of_codes([b"abc"], [b"\x00", None], pa.binary(3))
    assert fsst.decompress(good).equals(pa.array([b"abc", None], pa.binary(3)))
    bad = column_of_codes([b"abc"], [b"\x00", b"\x00\x00"], pa.binary(3))
    for look in (
        fsst.decompress,
        lambda column: column[1].as_py(),
        lambda column: column.validate(full=True),
    ):
        with pytest.raises(CorruptDataError, match=r"fixed_size_binary\[3\]"):
            look(bad)
    assert bad[0].as_py() == b"abc"


def test_codes_below_a_null_are_not_read():
    storage = pa.array([b"\x00", b"\x09"]).buffers()
    storage = pa.Array.from_buffers(pa.binary(), 2, [pa.py_buffer(b"\x01"), *storage[1:]])
    column = FsstArray.from_storage(FsstType(SymbolTable([b"a"])), storage)
    assert column.to_pylist() == ["a", None]
    assert fsst.decompress(column).to_pylist() == ["a", None]
    column.validate(full=True)


# --- On to other forms ---


def stream_of_nulls(values, said):
    """A stream of four values, one of which is null, that says another number of them."""
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([values], ["x"])
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    stream = sink.getvalue().to_pybytes()
    place = stream.rindex((4).to_bytes(8, "little") + (1).to_bytes(8, "little")) + 8
    changed = stream[:place] + said.to_bytes(8, "little", signed=True) + stream[place + 8 :]
    return pa.ipc.open_stream(changed).read_next_batch().column(0)


@given(st.lists(st.booleans(), max_size=400), st.integers(0, 400), st.integers(-1, 1))
def test_any_count_of_nulls(present, first, off):
    bitmap = np.packbits(np.array(present, bool), bitorder="little").tobytes()
    rows = present[first:]
    nulls = rows.count(False)
    if off == 0 and rows:
        _core.check_null_count(bitmap, first, len(rows), nulls)
    elif rows:
        with pytest.raises(CorruptDataError, match=f"the validity has {nulls}"):
            _core.check_null_count(bitmap, first, len(rows), nulls + off)
    with pytest.raises(CorruptDataError, match="bits of validity"):
        _core.check_null_count(bitmap, first, 8 * len(bitmap) + 1, nulls)


@pytest.mark.parametrize("said", [2, 4, 5, 2**62, -5])
def test_a_count_of_nulls_that_is_wrong_is_noticed(said):
    # Arrow's streams tell it beside the validity, and results were made with it.
    compressed = fsst.compress(["aa", None, "bb", "cc"])
    assert stream_of_nulls(compressed, 1).null_count == 1
    for look in (
        fsst.decompress,
        lambda column: column.null_count,
        lambda column: column.to_pylist(),
        lambda column: column.reader(),
        lambda column: column[0],
        lambda column: column.decompress_rows([0]),
        lambda column: column.nbytes,
        lambda column: fc.starts_with(column, "a"),
        lambda column: fc.is_in(column, pa.array(["aa"])),
    ):
        with pytest.raises(CorruptDataError, match=rf"{said} of 4 rows are said to be null, the validity has 1"):
            look(stream_of_nulls(compressed, said))
    with pytest.raises(CorruptDataError, match="are said to be null"):
        fsst.compress(stream_of_nulls(pa.array(["aa", None, "bb", "cc"]), said))
    # Lists are made anew, and have as many as they have.
    lists = stream_of_nulls(pa.array([["aa"], None, [], ["cc", "b"]]), said)
    if 0 <= said <= 4:
        compressed = fsst.compress(lists)
        assert compressed.null_count == 1
        compressed.validate(full=True)
    else:
        with pytest.raises(CorruptDataError, match="ull count"):
            fsst.compress(lists)


@pytest.mark.parametrize("storage_type", [pa.binary(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_a_column_without_rows_may_have_no_offsets(value_type, storage_type):
    # Where pyarrow looked for the first one the process ended.
    for offsets in (None, pa.py_buffer(b"")):
        for codes in (b"", b"abc"):
            storage = pa.Array.from_buffers(storage_type, 0, [None, offsets, pa.py_buffer(codes)])
            column = FsstArray.from_storage(FsstType(TABLE, value_type, storage_type), storage)
            assert column.nbytes == 0
            assert pickle.loads(pickle.dumps(column)).to_pylist() == []
            assert column.decompress_rows([]).equals(pa.array([], value_type))
            assert column.decompress_rows([None]).to_pylist() == column.take([None]).to_pylist() == [None]
            with pytest.raises(IndexError):
                column.decompress_rows([0])
            for table in (pa.table({"x": column}), pa.table({"x": storage})):
                sink = pa.BufferOutputStream()
                fsst.parquet.write_table(table, sink)
                assert fsst.parquet.read_table(sink.getvalue()).num_rows == 0


def test_cast(column):
    assert column.cast(pa.string()).equals(pa.array(VALUES))
    assert column.cast(pa.large_string()).equals(pa.array(VALUES, pa.large_string()))
    assert column.cast("binary").equals(pa.array(VALUES).cast(pa.binary()))
    assert column.cast(column.type) is column
    assert fsst.compress(pa.array(["1", None])).cast(pa.int32()).equals(pa.array([1, None], pa.int32()))
    with pytest.raises(pa.ArrowInvalid):
        column.cast(pa.int32())


def test_to_numpy(column):
    for got in (
        column.to_numpy(),
        column.to_numpy(zero_copy_only=False),
        np.asarray(column),
        np.array(column),
    ):
        assert isinstance(got, np.ndarray) and got.dtype == object
        assert got.tolist() == VALUES
    with pytest.raises(pa.ArrowInvalid):
        column.to_numpy(zero_copy_only=True)


def test_to_pandas(column):
    pytest.importorskip("pandas")
    got = column.to_pandas()
    assert [value if isinstance(value, str) else None for value in got.tolist()] == VALUES


def test_to_pandas_of_a_table_shows_no_codes(column):
    pytest.importorskip("pandas")
    for got in (
        pa.table({"x": column}).to_pandas()["x"],
        pa.chunked_array([column, column.slice(7)]).to_pandas(),
    ):
        assert [value if isinstance(value, str) else None for value in got.tolist()] == VALUES


def test_to_pylist_of_tables(column):
    assert pa.chunked_array([column]).to_pylist() == VALUES
    assert pa.table({"x": column}).to_pylist() == [{"x": value} for value in VALUES]


def test_stats_count_what_the_codes_say():
    table = SymbolTable([b"a", b"the ", b"cat"])
    rows = [b"the cat", None, b"the a", b"\xff\xff", b"cat", b""]
    column = fsst.compress(pa.array(rows, pa.binary()), symbol_table=table.reordered())
    stats = column.stats()
    assert stats.symbols == (b"a", b"cat", b"the ")
    assert stats.uses == (1, 2, 2)
    assert (stats.escapes, stats.code_bytes, stats.text_bytes, stats.rows) == (2, 1 + 2 + 2 + 4, 17, 6)
    assert stats.table_bytes == 9 + 8
    assert stats.table().to_pylist()[0] == {"code": 2, "symbol": b"the ", "uses": 2, "saved": 2 * 3 - 4}
    assert stats.factor == 17 / (9 + 17)
    assert "b'the '" in repr(stats) and "2 escapes" in repr(stats)
    assert column.slice(3, 1).stats().uses == (0, 0, 0)
    wrong = fsst.FsstArray.from_storage(column.type, pa.array([b"\x07"]))
    with pytest.raises(CorruptDataError):
        wrong.stats()

"""compress and decompress: everything that is a column of strings, and what hides in one."""

import numpy as np
import pyarrow as pa
import pytest
import strategies
from helpers import STRING_TYPES, VALUE_TYPES, array_over, bitmap, run_python, stored_codes, words
from hypothesis import given

import fsst
from fsst import CorruptDataError, FsstArray, FsstType, SymbolTable

TABLE = SymbolTable([b"a", b"the", b"longer "])
SECRET = b"SECRET hidden below a null "


def values_of(value_type):
    values = ["short", None, "longer than twelve bytes here", "", "the \0 end", None]
    return values if value_type in STRING_TYPES else [v if v is None else v.encode() + b"\xff" for v in values]


def round_trip(data, **options):
    again = fsst.decompress(fsst.compress(data, **options))
    assert again.type == data.type
    again.validate(full=True)
    assert again.equals(data)
    return again


# --- Value types ---


@pytest.mark.kind(67)
@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_value_types(value_type):
    plain = pa.array(values_of(value_type), value_type)
    column = fsst.compress(plain)
    assert isinstance(column, FsstArray) and column.value_type == value_type
    assert column.type.storage_type == pa.binary()
    round_trip(plain)
    for start in range(len(plain)):
        round_trip(plain.slice(start))
        round_trip(plain.slice(start, 2), symbol_table=TABLE)
    round_trip(plain.slice(0, 0))
    round_trip(pa.array([], value_type))
    round_trip(pa.array([None, None], value_type))
    round_trip(pa.array([plain[0].as_py()], value_type))


@pytest.mark.parametrize("width", [0, 1, 3, 16, 300])
def test_fixed_size_binary(width):
    value = bytes(i % 256 for i in range(width))
    plain = pa.array([value, None, value[::-1], None], pa.binary(width))
    assert fsst.compress(plain).value_type == pa.binary(width)
    for start in range(5):
        round_trip(plain.slice(start))
    round_trip(pa.array([None], pa.binary(width)))
    round_trip(pa.array([], pa.binary(width)))


@pytest.mark.kind(63, 65, 66)
@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(3)], ids=str)
@pytest.mark.parametrize("index_type", [pa.int8(), pa.uint32(), pa.int64()], ids=str)
def test_dictionaries_become_their_plain_values(value_type, index_type):
    values = ["abc", None, "xyz", "ghi"] if value_type in STRING_TYPES else [b"abc", None, b"xyz", b"ghi"]
    encoded = pa.DictionaryArray.from_arrays(pa.array([3, 0, None, 1, 3], index_type), pa.array(values, value_type))
    expected = pa.array([values[3], values[0], None, None, values[3]], value_type)
    for start in range(6):
        column = fsst.compress(encoded.slice(start))
        assert column.value_type == value_type
        assert fsst.decompress(column).equals(expected.slice(start))
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], index_type), pa.array([], value_type))
    assert fsst.decompress(fsst.compress(empty)).equals(pa.array([None, None], value_type))
    chunked = pa.chunked_array([encoded, encoded.slice(2)])
    assert fsst.decompress(fsst.compress(chunked)).to_pylist() == chunked.to_pylist()


def test_chunks_of_a_dictionary_may_have_other_dictionaries():
    chunks = [pa.array(["a", "b", "a"]).dictionary_encode(), pa.array(["c", None, "b"]).dictionary_encode()]
    chunked = pa.chunked_array(chunks)
    column = fsst.compress(chunked)
    assert column.num_chunks == 2 and column.to_pylist() == ["a", "b", "a", "c", None, "b"]


def test_a_dictionary_does_not_train_on_what_no_index_names():
    used = pa.array(words(8, 500))
    dictionary = pa.concat_arrays([pa.array([f"UNUSED ENTRY {i}" for i in range(500)]), used])
    encoded = pa.DictionaryArray.from_arrays(pa.array(range(500, 1000), pa.int32()), dictionary)
    assert fsst.compress(encoded).equals(fsst.compress(used))


# --- What hides below nulls ---


def hidden_offsets(value_type):
    rows = [b"seen %d, " % i * 3 if i % 2 else SECRET * 3 for i in range(400)]
    hiding = array_over(value_type, [i % 2 for i in range(400)], rows)
    clean = [row if i % 2 else None for i, row in enumerate(rows)]
    return hiding, pa.array(clean, pa.binary()).cast(value_type)


def hidden_fixed():
    rows = [b"seen%04d" % i if i % 2 else SECRET[:8] for i in range(400)]
    hiding = pa.Array.from_buffers(
        pa.binary(8), 400, [bitmap([i % 2 for i in range(400)]), pa.py_buffer(b"".join(rows))]
    )
    return hiding, pa.array([row if i % 2 else None for i, row in enumerate(rows)], pa.binary(8))


def hidden_views(value_type):
    rows = [b"seen %d, " % i * 3 if i % 2 else SECRET * 3 for i in range(400)]
    full = array_over(pa.binary(), None, rows).cast(value_type)
    hiding = pa.Array.from_buffers(value_type, 400, [bitmap([i % 2 for i in range(400)]), *full.buffers()[1:]])
    return hiding, pa.array([r if i % 2 else None for i, r in enumerate(rows)], pa.binary()).cast(value_type)


def hidden_dictionary():
    rows = pa.array([f"seen {i}, " * 3 for i in range(400)] + [SECRET.decode() * 3])
    indices = pa.Array.from_buffers(
        pa.int32(),
        400,
        [
            bitmap([i % 2 for i in range(400)]),
            pa.py_buffer(np.where(np.arange(400) % 2, np.arange(400), 400).astype("i4")),
        ],
    )
    clean = pa.array([rows[i].as_py() if i % 2 else None for i in range(400)])
    return pa.DictionaryArray.from_arrays(indices, rows), clean


def hidden_dictionary_values():
    seen = [f"seen {i}, " * 3 for i in range(200)]
    dictionary = array_over(pa.string(), [True] * 200 + [False], [row.encode() for row in seen] + [SECRET * 99])
    encoded = pa.DictionaryArray.from_arrays(pa.array([200, *range(200), 200], pa.int32()), dictionary)
    return encoded, pa.array([None, *seen, None])


HIDING = {
    **{
        str(t): (lambda t=t: hidden_offsets(t))
        for t in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
    },
    **{str(t): (lambda t=t: hidden_views(t)) for t in (pa.string_view(), pa.binary_view())},
    "fixed_size_binary": hidden_fixed,
    "dictionary": hidden_dictionary,
    "dictionary values": hidden_dictionary_values,
}


@pytest.mark.parametrize("make", HIDING.values(), ids=HIDING.keys())
def test_hidden_bytes_are_neither_trained_on_nor_stored(make):
    hiding, clean = make()
    hiding.validate(full=True)
    for start, length in ((0, len(hiding)), (1, 200), (3, 17), (8, 9), (0, 1)):
        column = fsst.compress(hiding.slice(start, length))
        expected = fsst.compress(clean.slice(start, length))
        assert column.type == expected.type, "trained on what nobody sees"
        assert stored_codes(column) == stored_codes(expected), "stored what nobody sees"
        assert fsst.decompress(column).equals(clean.slice(start, length))
        assert fsst.train(hiding.slice(start, length)) == expected.symbol_table


def test_hidden_bytes_need_not_be_utf8():
    hiding = array_over(pa.string(), [1, 0, 1], [b"a", b"\xff\xfe", b"b"])
    assert fsst.decompress(fsst.compress(hiding)).to_pylist() == ["a", None, "b"]


# --- Chunks ---


def test_chunks_are_kept_and_share_a_table():
    chunked = pa.chunked_array([["a" * 20], [], ["b" * 20, None]], pa.string())
    column = fsst.compress(chunked)
    assert isinstance(column, pa.ChunkedArray) and [len(chunk) for chunk in column.chunks] == [1, 0, 2]
    assert {chunk.symbol_table for chunk in column.chunks} == {column.type.symbol_table}
    again = round_trip(chunked)
    assert again.num_chunks == 3
    assert round_trip(chunked.slice(1)).to_pylist() == ["b" * 20, None]


@pytest.mark.parametrize(
    "data_type",
    [
        *VALUE_TYPES,
        pa.binary(3),
        pa.list_(pa.string()),
        pa.large_list(pa.binary()),
        pa.list_(pa.string(), 2),
        pa.struct([("s", pa.string()), ("n", pa.int32())]),
        pa.map_(pa.string(), pa.string()),
        pa.list_(pa.struct([("s", pa.list_(pa.string()))])),
    ],
    ids=str,
)
def test_zero_chunks_keep_their_type(data_type):
    none = pa.chunked_array([], data_type)
    column = fsst.compress(none)
    assert isinstance(column, pa.ChunkedArray) and len(column) == 0
    again = fsst.decompress(column)
    assert again.type == data_type and len(again) == 0
    table = fsst.compress(pa.table({"x": none}))
    assert fsst.decompress(table).schema.field("x").type == data_type
    # With a chunk of no rows it is the same.
    assert fsst.compress(pa.chunked_array([pa.array([], data_type)])).type == column.type


def test_zero_chunks_of_a_dictionary():
    column = fsst.compress(pa.chunked_array([], pa.dictionary(pa.int8(), pa.large_string())))
    assert column.type.value_type == pa.large_string() and fsst.decompress(column).type == pa.large_string()


# --- Nested columns ---

NESTED = {
    "list": pa.array([["a", None], None, [], ["the", "b"], [None]], pa.list_(pa.string())),
    "large_list": pa.array([["a", None], None, [], ["the", "b"], [None]], pa.large_list(pa.string())),
    "list of views": pa.array([["a", None], None, [], ["longer than twelve bytes"]], pa.list_(pa.string_view())),
    "list of fixed": pa.array([[b"ab", None], None, []], pa.list_(pa.binary(2))),
    "fixed_size_list": pa.array([["a", "b"], None, ["c", None], [None, None]], pa.list_(pa.string(), 2)),
    "struct": pa.array(
        [{"s": "a", "n": 1}, None, {"s": None, "n": 2}, {"s": "the", "n": None}],
        pa.struct([("s", pa.string()), ("n", pa.int32())]),
    ),
    "map": pa.array([[("k", "v"), ("l", None)], None, [], [("k", "")]], pa.map_(pa.string(), pa.string())),
    "map to ints": pa.array([[("k", 1)], None, [("l", None)]], pa.map_(pa.string(), pa.int64())),
    "map, sorted": pa.array([[(1, b"v")], None, []], pa.map_(pa.int32(), pa.large_binary(), keys_sorted=True)),
    "list of lists": pa.array([[["a"], None, []], None, [["b", None]]], pa.list_(pa.list_(pa.string()))),
    "list of structs": pa.array([[{"s": "a"}, None, {"s": "b"}], None, [{"s": None}]]),
    "struct of lists": pa.array([{"s": ["p"]}, None, {"s": []}, {"s": None}]),
    "struct of maps": pa.array(
        [{"m": [("a", "b")], "x": b"y"}, None],
        pa.struct([("m", pa.map_(pa.string(), pa.string())), ("x", pa.binary())]),
    ),
    "empty": pa.array([], pa.list_(pa.string())),
    "all null": pa.array([None, None], pa.list_(pa.string())),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_columns(name):
    plain = NESTED[name]
    for start in range(len(plain) + 1):
        for length in range(len(plain) - start + 1):
            part = plain.slice(start, length)
            compressed = fsst.compress(part)
            compressed.validate(full=True)
            assert "fsst" in str(compressed.type)
            again = fsst.decompress(compressed)
            again.validate(full=True)
            assert again.type == plain.type and again.equals(part) and again.to_pylist() == part.to_pylist()
            assert compressed.to_pylist() == part.to_pylist()
    for cut in range(len(plain) + 1):
        chunked = pa.chunked_array([plain.slice(0, cut), plain.slice(cut)])
        again = fsst.decompress(fsst.compress(chunked))
        assert again.equals(chunked) and again.num_chunks == 2


@pytest.mark.parametrize("name", NESTED)
def test_slices_of_compressed_nested_columns(name):
    plain = NESTED[name]
    compressed = fsst.compress(plain)
    for start in range(len(plain) + 1):
        for length in range(len(plain) - start + 1):
            assert fsst.decompress(compressed.slice(start, length)).equals(plain.slice(start, length))


def test_fixed_size_lists_of_size_0():
    # In a process of its own: pyarrow's FixedSizeListArray.from_arrays divides by the size.
    run_python("""
import fsst, pyarrow as pa
plain = pa.array([[], None, []], pa.list_(pa.string(), 0))
for part in (plain, plain.slice(1), plain.slice(0, 0)):
    again = fsst.decompress(fsst.compress(part))
    assert again.type == plain.type and again.equals(part) and again.to_pylist() == part.to_pylist()
""")


def test_leaves_get_a_table_each():
    plain = pa.array([{"a": "x" * 50, "b": ["y" * 50]}] * 20)
    compressed = fsst.compress(plain)
    a, b = compressed.type.field("a").type, compressed.type.field("b").type.value_type
    assert isinstance(a, FsstType) and isinstance(b, FsstType)
    assert all(set(symbol) == {ord("x")} for symbol in a.symbol_table.symbols)
    assert all(set(symbol) == {ord("y")} for symbol in b.symbol_table.symbols)
    assert a.symbol_table != b.symbol_table


def test_names_nullability_and_metadata_of_nested_fields_stay():
    item = pa.field("element", pa.string(), nullable=False, metadata={"k": "v"})
    for data_type in (
        pa.list_(item),
        pa.large_list(item),
        pa.list_(item, 1),
        pa.struct([item, pa.field("n", pa.int8(), nullable=False)]),
        pa.map_(pa.field("key_", pa.string(), nullable=False), item),
    ):
        if pa.types.is_map(data_type):
            value = [("k", "v")]
        else:
            value = {"element": "a", "n": 1} if pa.types.is_struct(data_type) else ["a"]
        plain = pa.array([value], data_type)
        again = fsst.decompress(fsst.compress(plain))
        assert again.type.equals(plain.type, check_metadata=True), again.type
        assert again.equals(plain)


def lists_hiding(make_type, offset_type):
    """[["seen"], null over ["SECRET", ...], [], null over [...], ["seen too"]]"""
    values = pa.array(["seen", "SECRET", "SECRET", "SECRET", "seen too"])
    return pa.Array.from_buffers(
        make_type(pa.string()),
        5,
        [bitmap([1, 0, 1, 0, 1]), pa.py_buffer(np.array([0, 1, 3, 3, 4, 5], offset_type))],
        children=[values],
    )


@pytest.mark.kind(57, 58, 59)
@pytest.mark.parametrize(
    "hiding",
    [
        lists_hiding(pa.list_, np.int32),
        lists_hiding(pa.large_list, np.int64),
        pa.Array.from_buffers(
            pa.list_(pa.string(), 1),
            5,
            [bitmap([1, 0, 1, 0, 1])],
            children=[pa.array(["seen", "SECRET", None, "SECRET", "seen too"])],
        ),
        pa.StructArray.from_arrays(
            [pa.array(["seen", "SECRET", None, "SECRET", "seen too"])],
            names=["s"],
            mask=pa.array([False, True, False, True, False]),
        ),
        pa.Array.from_buffers(
            pa.map_(pa.string(), pa.string()),
            5,
            [bitmap([1, 0, 1, 0, 1]), pa.py_buffer(np.array([0, 1, 3, 3, 4, 5], np.int32))],
            children=[
                pa.StructArray.from_arrays(
                    [pa.array(["seen", "SECRET", "SECRET", "SECRET", "seen too"])] * 2,
                    fields=[pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string())],
                )
            ],
        ),
        pa.StructArray.from_arrays(
            [lists_hiding(pa.list_, np.int32)], names=["l"], mask=pa.array([False, True, False, True, False])
        ),
    ],
    ids=["list", "large_list", "fixed_size_list", "struct", "map", "struct of list"],
)
def test_null_parents_hide_children(hiding):
    hiding.validate(full=True)
    secret = SymbolTable([b"SECRET"])
    for start in range(6):
        for length in range(6 - start):
            part = hiding.slice(start, length)
            compressed = fsst.compress(part, symbol_table=secret)
            compressed.validate(full=True)
            again = fsst.decompress(compressed)
            assert again.type == hiding.type and again.to_pylist() == part.to_pylist()
            assert again.equals(part)
            leaf = compressed
            while not isinstance(leaf, FsstArray):
                leaf = leaf.field(0) if pa.types.is_struct(leaf.type) else getattr(leaf, "keys", leaf.values)
            assert b"\0" not in stored_codes(leaf), "a hidden child is stored"


@pytest.mark.kind(52, 58, 60, 61)
@given(column=strategies.columns(), lists=strategies.columns([pa.string()]))
def test_lists_and_structs_of_any_column(column, lists):
    column = column if isinstance(column, pa.Array) else column.combine_chunks()
    rows = len(column)
    struct = pa.StructArray.from_arrays(
        [column, pa.array(range(rows))],
        ["s", "n"],
        mask=pa.array([row % 3 == 1 for row in range(rows)], pa.bool_()),
    )
    ends = np.minimum(np.arange(0, rows + 2, 2), rows).astype(np.int32)
    nested = pa.ListArray.from_arrays(pa.array(ends), struct)
    again = fsst.decompress(fsst.compress(nested))
    assert again.equals(nested) and again.type == nested.type
    assert fsst.decompress(fsst.compress(nested.slice(1))).equals(nested.slice(1))


# --- Tables and batches ---

SCHEMA = pa.schema(
    [
        pa.field("a", pa.string(), nullable=False, metadata={"field": "1"}),
        pa.field("n", pa.int8()),
        pa.field("l", pa.list_(pa.large_binary())),
        pa.field("d", pa.dictionary(pa.int8(), pa.string())),
    ],
    metadata={"schema": "2"},
)


def rows_of_schema():
    return [
        pa.array(["x", "y", "z"]),
        pa.array([1, None, 3], pa.int8()),
        pa.array([[b"p"], None, [None]], pa.list_(pa.large_binary())),
        pa.array(["k", None, "k"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    ]


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatch], ids=lambda kind: kind.__name__)
def test_tables_and_batches(kind):
    table = kind.from_arrays(rows_of_schema(), schema=SCHEMA)
    compressed = fsst.compress(table)
    assert type(compressed) is kind and compressed.num_rows == 3
    assert isinstance(compressed.schema.field("a").type, FsstType)
    assert isinstance(compressed.schema.field("l").type.value_type, FsstType)
    assert compressed.schema.field("n") == SCHEMA.field("n")
    assert compressed.schema.metadata == {b"schema": b"2"}
    assert compressed.schema.field("a").metadata == {b"field": b"1"} and not compressed.schema.field("a").nullable
    again = fsst.decompress(compressed)
    plain = SCHEMA.set(3, pa.field("d", pa.string()))
    assert type(again) is kind and again.schema.equals(plain, check_metadata=True)
    assert again.equals(
        table.cast(plain)
        if kind is pa.Table
        else kind.from_arrays([*rows_of_schema()[:3], pa.array(["k", None, "k"])], schema=plain)
    )
    assert fsst.decompress(fsst.compress(table.slice(1))).to_pylist() == table.slice(1).to_pylist()


def test_chunks_of_a_table_are_kept():
    table = pa.table({"a": pa.chunked_array([["x"], ["y", "z"], []]), "n": pa.chunked_array([[1, 2], [3]])})
    compressed = fsst.compress(table)
    assert [column.num_chunks for column in compressed.columns] == [3, 2]
    assert fsst.decompress(compressed).equals(table)


def test_columns_of_one_name():
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array([1])], names=["x", "x", "n"])
    assert fsst.decompress(fsst.compress(table)).equals(table)


def test_a_table_of_no_rows():
    table = SCHEMA.empty_table()
    assert fsst.decompress(fsst.compress(table)).num_rows == 0
    assert fsst.decompress(fsst.compress(pa.table({"a": pa.array([], pa.string())}))).schema == pa.schema(
        [("a", pa.string())]
    )


def test_symbol_tables_by_column():
    table = pa.table({"a": ["the a"], "b": ["the b"], "n": [1]})
    with pytest.raises(ValueError, match="'not there'"):
        fsst.compress(table, symbol_table={"a": TABLE, "not there": TABLE})
    compressed = fsst.compress(table, symbol_table={"a": TABLE})
    assert compressed.schema.field("a").type.symbol_table == TABLE
    assert compressed.schema.field("b").type.symbol_table != TABLE
    everywhere = fsst.compress(table, symbol_table=TABLE)
    assert {everywhere.schema.field(name).type.symbol_table for name in "ab"} == {TABLE}
    assert fsst.decompress(compressed).equals(table) and fsst.decompress(everywhere).equals(table)


def test_a_given_table_serves_many_batches():
    batches = [fsst.compress(pa.array([f"the {i}", None]), symbol_table=TABLE) for i in range(5)]
    assert {batch.type for batch in batches} == {FsstType(TABLE)}
    assert pa.concat_arrays(batches).to_pylist() == [v for i in range(5) for v in (f"the {i}", None)]


def test_compressing_anew():
    column = fsst.compress(pa.array(["the a", None], pa.large_string()), symbol_table=TABLE)
    other = fsst.compress(column, symbol_table=SymbolTable([b"he"]))
    assert other.value_type == pa.large_string() and other.symbol_table.symbols == (b"he",)
    assert other.to_pylist() == ["the a", None]
    nested = fsst.compress(pa.array([["the a"]]), symbol_table=TABLE)
    assert fsst.compress(nested, symbol_table=SymbolTable([b"he"])).to_pylist() == [["the a"]]


# --- Other people's columns ---


class OnlyArray:
    """What nanoarrow and others offer: an array through the C data interface."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


class OnlyStream:
    def __init__(self, chunked):
        self.chunked = chunked

    def __arrow_c_stream__(self, requested_schema=None):
        return self.chunked.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("value_type", VALUE_TYPES, ids=str)
def test_the_c_data_interface(value_type):
    plain = pa.array(values_of(value_type), value_type)
    column = fsst.compress(OnlyArray(plain.slice(1)))
    assert column.value_type == value_type and fsst.decompress(column).equals(plain.slice(1))
    chunked = pa.chunked_array([plain, plain.slice(3)])
    again = fsst.decompress(fsst.compress(OnlyStream(chunked)))
    assert again.equals(chunked)
    assert fsst.train(OnlyStream(chunked)) == fsst.train(chunked)
    assert len(fsst.compress(OnlyStream(pa.chunked_array([], value_type)))) == 0


def test_the_c_data_interface_of_structs():
    struct = NESTED["struct"]
    assert fsst.decompress(fsst.compress(OnlyArray(struct))).equals(struct)
    assert fsst.decompress(fsst.compress(OnlyStream(pa.chunked_array([struct])))).to_pylist() == struct.to_pylist()


def test_readers_of_batches():
    table = pa.table({"a": ["x", None], "n": [1, 2]})
    assert fsst.decompress(fsst.compress(table.to_reader(1))).equals(table)


def test_what_is_compressed_leaves_through_the_c_data_interface():
    column = fsst.compress(["a", None, "b"])
    again = pa.array(OnlyArray(column))
    assert isinstance(again, FsstArray) and again.equals(column)


def test_polars():
    pl = pytest.importorskip("polars")
    values = ["a", None, "longer than twelve bytes here"]
    series = pl.Series("s", values)
    column = fsst.compress(series)
    assert column.to_pylist() == values
    assert pl.Series(fsst.decompress(column)).to_list() == values
    frame = pl.DataFrame({"s": values, "n": [1, 2, 3], "l": [["x"], None, ["y", None]]})
    compressed = fsst.compress(frame)
    assert isinstance(compressed, pa.Table)
    assert pl.from_arrow(fsst.decompress(compressed)).equals(frame)
    assert fsst.compress(pl.Series([b"\xff", None])).to_pylist() == [b"\xff", None]
    assert fsst.decompress(fsst.compress(frame.head(0))).num_rows == 0
    assert fsst.train(series.extend(series)).compress(b"a")
    struct = pl.Series([{"a": "x"}, {"a": None}])
    assert fsst.compress(struct).to_pylist() == [{"a": "x"}, {"a": None}]
    # The hand-over of what is compressed: polars shows an extension type, or its storage.
    assert len(pl.from_arrow(fsst.compress(pa.array(values)))) == 3


def test_polars_categoricals():
    pl = pytest.importorskip("polars")
    for dtype in (pl.Categorical, pl.Enum(["a", "b"])):
        series = pl.Series(["a", None, "b", "a"], dtype=dtype)
        assert fsst.compress(series).to_pylist() == ["a", None, "b", "a"]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(
        "select case when range = 1 then null else 'row ' || range end as s, range as n from range(3)"
    )
    compressed = fsst.compress(relation)
    assert isinstance(compressed, pa.Table)
    assert fsst.decompress(compressed).to_pylist() == [
        {"s": "row 0", "n": 0},
        {"s": None, "n": 1},
        {"s": "row 2", "n": 2},
    ]
    plain = fsst.decompress(compressed)  # noqa: F841  (duckdb finds it by its name)
    assert duckdb.sql("select count(*), max(s) from plain").fetchall() == [(3, "row 2")]
    codes = compressed["s"].chunk(0).storage
    # duckdb takes an unknown extension type as its storage.
    assert duckdb.sql("select octet_length(s) from compressed").fetchall() == [
        (None if row is None else len(row),) for row in codes.to_pylist()
    ]


def test_pandas():
    pd = pytest.importorskip("pandas")
    values = ["a", None, "b"]
    for dtype in (None, object, "category", "string"):
        series = pd.Series(values, dtype=dtype)
        assert fsst.compress(series).to_pylist() == values
    frame = pd.DataFrame({"s": values, "n": [1, 2, 3]})
    again = fsst.decompress(fsst.compress(frame))
    assert isinstance(again, pa.Table) and again["s"].to_pylist() == values and again["n"].to_pylist() == [1, 2, 3]


def test_nanoarrow():
    nanoarrow = pytest.importorskip("nanoarrow")
    values = ["a", None, "b"]
    assert fsst.compress(nanoarrow.Array(values, nanoarrow.string())).to_pylist() == values


# --- Python's and numpy's sequences ---


@pytest.mark.parametrize(
    ("values", "value_type"),
    [
        (["a", None, ""], pa.string()),
        ([b"a", None, b"\xff"], pa.binary()),
        ([bytearray(b"a"), memoryview(b"b"), b"c", None], pa.binary()),
        ([None, None], pa.string()),
        ([], pa.string()),
        (("a", "b"), pa.string()),
        (np.array(["a", "bc"]), pa.string()),
        (np.array([b"a", b"bc"]), pa.binary()),
        (np.array(["a", None], object), pa.string()),
    ],
    ids=lambda value: "",
)
def test_sequences(values, value_type):
    column = fsst.compress(values)
    assert isinstance(column, FsstArray) and column.value_type == value_type
    expected = [value if value is None or isinstance(value, str) else bytes(value) for value in values]
    assert column.to_pylist() == expected


def test_sequences_of_sequences():
    assert fsst.compress([["a", None], None]).to_pylist() == [["a", None], None]
    assert fsst.compress([{"s": "a"}, None]).to_pylist() == [{"s": "a"}, None]


class Text(str):
    pass


@pytest.mark.parametrize(
    "mixed",
    [
        ["a", b"b"],
        [b"a", None, "b"],
        ["a", bytearray(b"b")],
        ("a", b"b"),
        [Text("a"), b"b"],
        ["a"] * 1000 + [b"b"],
    ],
    ids=lambda value: "",
)
def test_str_and_bytes_do_not_mix(mixed):
    for work in (fsst.compress, fsst.train):
        with pytest.raises(TypeError, match="str and bytes"):
            work(mixed)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (pa.array([1, 2]), "int64.*string"),
        (pa.array([1.5]), "double"),
        (pa.array([[1]]), "list"),
        (pa.array([{"a": 1}]), "struct"),
        (pa.array([True]), "bool"),
        (pa.chunked_array([[1]]), "int64"),
        (pa.array([1, 2]).dictionary_encode(), "dictionary"),
        (pa.table({"a": [1]}), "int64"),
        (pa.record_batch({"a": [1]}), "int64"),
        (pa.table({}), "table"),
        ([1, 2], "int64"),
        (["a", 1], "list"),
        ([1, "a"], "list"),
        ([object()], "list"),
        ("a string", "list"),
        (b"bytes", "list"),
        (bytearray(b"bytes"), "list"),
        (7, "int"),
        (None, "NoneType"),
        (pa.string(), "DataType"),
    ],
    ids=lambda value: "",
)
def test_what_cannot_be_compressed_is_named(wrong, words):
    with pytest.raises(TypeError, match=words):
        fsst.compress(wrong)


def test_text_that_is_no_text():
    with pytest.raises((TypeError, ValueError)):
        fsst.compress(["\ud800"])


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        None,
        "a",
        ["a"],
        pa.array(["a"]),
        pa.array([["a"]]),
        pa.table({"a": ["x"]}),
        pa.array([b"\0"]),
        pa.chunked_array([["a"]]),
    ],
    ids=lambda value: "",
)
def test_what_is_not_compressed_is_named(wrong):
    with pytest.raises(TypeError):
        fsst.decompress(wrong)


def test_wrong_options():
    for wrong in ("a", b"", [b"a"], TABLE.to_bytes()):
        with pytest.raises(TypeError, match="SymbolTable"):
            fsst.compress(["a"], symbol_table=wrong)
        with pytest.raises(TypeError, match="SymbolTable"):
            fsst.compress(pa.table({"a": ["x"]}), symbol_table={"a": wrong})
    with pytest.raises(TypeError, match="mapping"):
        fsst.compress(["a"], symbol_table={"a": TABLE})
    with pytest.raises(ValueError, match=r"reordered\('parquet'\)"):
        fsst.compress(["a"], symbol_table=SymbolTable([b"ab", b"a"]))
    for threads in (0, -1):
        with pytest.raises(ValueError, match="threads"):
            fsst.compress(["a"], threads=threads)
        with pytest.raises(ValueError, match="threads"):
            fsst.decompress(fsst.compress(["a"]), threads=threads)
    with pytest.raises(TypeError):
        fsst.compress(["a"], threads="2")


def test_corrupt_codes_anywhere_are_found():
    fsst_type = FsstType(SymbolTable([b"a"]))
    bad = FsstArray.from_storage(fsst_type, pa.array([b"\0", b"\x05"]))
    lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), bad)
    struct = pa.StructArray.from_arrays([bad], ["s"])
    for data in (bad, pa.chunked_array([bad]), pa.table({"x": bad}), lists, struct):
        with pytest.raises(CorruptDataError, match="code 5"):
            fsst.decompress(data)
    assert fsst.decompress(bad.slice(0, 1)).to_pylist() == ["a"]


def test_bytes_that_are_no_utf8_are_refused_at_once():
    # Arrow lets them into a string array; decompress would have to refuse what compress had taken.
    for kind, offsets in ((pa.string(), np.int32), (pa.large_string(), np.int64)):
        buffers = [None, pa.py_buffer(np.array([0, 1, 2], offsets)), pa.py_buffer(b"a\xff")]
        with pytest.raises(ValueError, match=r"row 1 of a .*string column is not UTF-8; cast the column to binary"):
            fsst.compress(pa.Array.from_buffers(kind, 2, buffers))


@pytest.mark.parametrize("unordered", [{"a": ["b"]}, {"a", "b"}, frozenset("ab")], ids=repr)
def test_what_has_no_order_is_no_column(unordered):
    with pytest.raises(TypeError, match="no rows in order"):
        fsst.compress(unordered)


def test_object_arrays_are_taken_like_lists():
    mixed = np.array(["a", b"b"], object)
    with pytest.raises(TypeError, match="str and bytes are mixed"):
        fsst.compress(mixed)
    assert fsst.compress(np.array(["a", None, float("nan")], object)).to_pylist() == ["a", None, None]
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="str and bytes are mixed"):
        fsst.compress(pandas.Series(["a", b"b"], dtype=object))
    assert fsst.compress(pandas.Series(["a", None], dtype=object)).to_pylist() == ["a", None]
    assert fsst.compress(pandas.Series([], dtype=object)).value_type == pa.string()


def test_errors_name_column_and_chunk():
    good = fsst.compress(pa.array(["the a"]), symbol_table=TABLE)
    bad = FsstArray.from_storage(good.type, pa.array([b"\x00", b"\xfe"]))
    with pytest.raises(CorruptDataError, match=r"^column 'text': chunk 1: codes: row 1 has code 254"):
        fsst.decompress(pa.table({"n": [1, 2, 3], "text": pa.chunked_array([good, bad])}))
    with pytest.raises(TypeError, match=r"no compressed column.*import fsst before reading"):
        fsst.decompress(pa.table({"n": [1]}))

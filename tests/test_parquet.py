"""Parquet files with FSST columns: transcoded and back, written, read, rows taken."""

import io
import itertools
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import parquet_by_hand as by_hand
import polars
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from helpers import run_python, words
from hypothesis import assume, given
from hypothesis import strategies as st

import fsst
import fsst.codec
import fsst.page
import fsst.parquet
from fsst import FsstArray, FsstError, FsstType
from fsst.parquet import ParquetFile, read_table, transcode, write_table

EXAMPLES = Path(__file__).parents[1] / "examples"


def parquet(table, **options):
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def small(source, **options):
    """`source` transcoded to FSST, wherever that is possible."""
    file = io.BytesIO()
    transcode(source, file, **{"only_if_smaller": False, **options})
    return file.getvalue()


def back(source, encoding="plain", **options):
    file = io.BytesIO()
    transcode(source, file, encoding=encoding, **options)
    return file.getvalue()


def metadata(data):
    """What a footer says that must not change."""
    meta = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [meta.row_group(i) for i in range(meta.num_row_groups)]
    return (
        meta.schema.to_arrow_schema().to_string(),
        meta.schema,
        meta.metadata,
        meta.created_by,
        [(group.num_rows, group.sorting_columns) for group in groups],
        [
            (chunk.path_in_schema, chunk.physical_type, chunk.num_values, chunk.statistics)
            for group in groups
            for chunk in (group.column(i) for i in range(group.num_columns))
        ],
    )


def nested(rows=2000, seed=1):
    """Every kind of column that strings can be in, nulls at every level."""
    rng = random.Random(seed)
    text = words(seed, 500)

    def maybe(make):
        return None if rng.random() < 0.2 else make()

    def word():
        return rng.choice(text)

    def words_or_none():
        return [maybe(word) for _ in range(rng.randint(0, 4))]

    return pa.table(
        {
            "text": [maybe(word) for _ in range(rows)],
            "required": pa.array([word() for _ in range(rows)]),
            "number": range(rows),
            "binary": pa.array([maybe(lambda: word().encode()) for _ in range(rows)], pa.binary()),
            "large": pa.array([maybe(word) for _ in range(rows)], pa.large_string()),
            "list": [maybe(words_or_none) for _ in range(rows)],
            "lists": [maybe(lambda: [maybe(words_or_none) for _ in range(rng.randint(0, 3))]) for _ in range(rows)],
            "struct": pa.array(
                [maybe(lambda: {"a": maybe(word), "b": rng.random(), "c": maybe(words_or_none)}) for _ in range(rows)]
            ),
            "map": pa.array(
                [maybe(lambda: [(word(), maybe(word)) for _ in range(rng.randint(0, 2))]) for _ in range(rows)],
                pa.map_(pa.string(), pa.string()),
            ),
        },
        schema=pa.schema(
            [
                ("text", pa.string()),
                pa.field("required", pa.string(), nullable=False),
                ("number", pa.int64()),
                ("binary", pa.binary()),
                ("large", pa.large_string()),
                ("list", pa.list_(pa.string())),
                ("lists", pa.list_(pa.list_(pa.string()))),
                ("struct", pa.struct([("a", pa.string()), ("b", pa.float64()), ("c", pa.list_(pa.string()))])),
                ("map", pa.map_(pa.string(), pa.string())),
            ],
            metadata={"who": "me"},
        ),
    )


NESTED = nested()
STRINGS = ["text", "required", "binary", "large", "list", "lists", "struct.a", "struct.c", "map"]
ENCODINGS = [None, "PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]


# --- There and back ----------------------------------------------------------------------------


@pytest.mark.kind(89, 90)
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "lz4", "gzip", "brotli"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_whatever_pyarrow_writes_goes_there_and_back(version, codec, encoding):
    options = {"use_dictionary": encoding is None, "compression": codec, "data_page_version": version}
    if encoding is not None:
        leaves = pq.ParquetFile(io.BytesIO(parquet(NESTED))).metadata.row_group(0)
        columns = (leaves.column(i) for i in range(leaves.num_columns))
        options["column_encoding"] = {c.path_in_schema: encoding for c in columns if c.physical_type == "BYTE_ARRAY"}
    data = parquet(NESTED, row_group_size=700, data_page_size=2000, write_page_checksum=True, **options)
    fsst_data = small(data)
    with ParquetFile(fsst_data) as file:
        assert len(file.fsst_columns) == 10
        assert file.read().equals(NESTED)
        assert metadata(fsst_data) == metadata(data)
    for way in ("plain", "delta_length"):
        again = back(fsst_data, way)
        assert pq.read_table(io.BytesIO(again), page_checksum_verification=True).equals(NESTED)
        assert metadata(again) == metadata(data)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_page_index_and_bloom_filters_are_kept(version):
    bloom = {"text": {"ndv": 500}, "number": {"ndv": 500}}
    options = {"write_page_index": True, "data_page_version": version, "data_page_size": 2000}
    data = parquet(NESTED, row_group_size=700, bloom_filter_options=bloom, **options)
    again = back(small(data))
    before, after = pq.ParquetFile(io.BytesIO(data)).metadata, pq.ParquetFile(io.BytesIO(again)).metadata
    for group, column in itertools.product(range(before.num_row_groups), range(before.num_columns)):
        old, new = before.row_group(group).column(column), after.row_group(group).column(column)
        assert (old.has_column_index, old.has_offset_index) == (new.has_column_index, new.has_offset_index)
    assert indexes(data) == indexes(again)
    assert pq.read_table(io.BytesIO(again), filters=[("text", "=", NESTED["text"][5].as_py())]).num_rows > 0


def indexes(data):
    """Column indexes, bloom filters, and the rows at which pages begin."""
    from fsst.parquet_format import Footer, open_input
    from fsst.thrift import I32, I64, STRUCT, read_struct

    found = []
    with open_input(data) as file:
        for group in Footer(file).row_groups:
            for chunk in group.chunks:
                offset_index = read_struct(data, chunk.struct.get(4, I64))[0]
                locations = offset_index.items(1, STRUCT)
                column_index = chunk.struct.get(6, I64)
                bloom, bloom_size = chunk.meta.get(14, I64), chunk.meta.get(15, I32)
                found.append(
                    (
                        read_struct(data, column_index)[0] if column_index else None,
                        [location.get(3, I64) for location in locations],
                        data[bloom : bloom + bloom_size] if bloom else None,
                        offset_index.get(2, 9),
                    )
                )
                for location in locations:  # each is where a data page's header begins
                    header, _ = read_struct(data, location.get(1, I64))
                    assert header.get(1, I32) in (0, 3)
    return found


def test_unknown_fields_of_the_footer_survive():
    from fsst.parquet_format import Footer, footer_bytes, open_input
    from fsst.thrift import BINARY, I64, LIST, STRUCT, Items

    data = parquet(NESTED.select(["text", "number"]))
    with open_input(data) as file:
        footer = Footer(file)
    footer.struct.set(77, BINARY, b"of the file")
    for group in footer.row_groups:
        group.struct.set(55, I64, -3)
        for chunk in group.chunks:
            chunk.meta.set(99, LIST, Items(I64, [1, 2]))
            chunk.struct.set(66, STRUCT, footer.row_groups[0].chunks[0].meta.copy())
    marked = data[: footer.start] + footer_bytes(footer.struct)
    for made in (small(marked), back(small(marked))):
        with open_input(made) as file:
            found = Footer(file)
        assert found.struct.get(77, BINARY) == b"of the file"
        assert found.row_groups[0].struct.get(55, I64) == -3
        assert all(chunk.meta.get(99, LIST).values == [1, 2] for chunk in found.row_groups[0].chunks)
        assert all(66 in chunk.struct for chunk in found.row_groups[0].chunks)


def test_other_columns_are_copied_byte_for_byte():
    data = parquet(NESTED, row_group_size=700)
    made = small(data, columns=["text"])
    old, new = pq.ParquetFile(io.BytesIO(data)).metadata, pq.ParquetFile(io.BytesIO(made)).metadata
    for group in range(old.num_row_groups):
        for column in range(1, old.num_columns):
            chunks = [(d, m.row_group(group).column(column)) for d, m in ((data, old), (made, new))]
            starts = [chunk.dictionary_page_offset or chunk.data_page_offset for _, chunk in chunks]
            pieces = [d[s : s + c.total_compressed_size] for (d, c), s in zip(chunks, starts, strict=True)]
            assert pieces[0] == pieces[1]


def test_pages_of_version_1_that_begin_within_a_row():
    table = pa.table({"list": [["word"] * 300, None, ["a", None]] * 30})
    data = parquet(table, use_dictionary=False, data_page_size=500, write_batch_size=50)
    assert read_table(small(data)).equals(table)
    assert pq.read_table(io.BytesIO(back(small(data)))).equals(table)


LEAVES = st.none() | st.text("ab", max_size=9) | st.just("abcabc" * 50)


def _around(kinds):
    """These types, and lists and structs of them."""
    pairs = st.tuples(kinds, kinds).map(lambda pair: pa.struct([("x", pair[0]), ("y", pair[1])]))
    return kinds | kinds.map(pa.list_) | pairs


TYPES = _around(_around(st.sampled_from([pa.string(), pa.binary(), pa.int32()])))


def values(kind):
    if pa.types.is_list(kind):
        return st.none() | st.lists(values(kind.value_type), max_size=4)
    if pa.types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({field.name: values(field.type) for field in kind})
    if kind == pa.int32():
        return st.none() | st.integers(0, 9)
    return LEAVES.map(lambda text: text.encode() if text is not None and kind == pa.binary() else text)


@st.composite
def tables(draw):
    rows = draw(st.sampled_from([0, 1, 2, 7, 40]))
    kinds = draw(st.lists(TYPES, min_size=1, max_size=3))
    columns = [pa.array(draw(st.lists(values(kind), min_size=rows, max_size=rows)), kind) for kind in kinds]
    return pa.table(columns, names=[f"c{i}" for i in range(len(kinds))])


@pytest.mark.kind(52, 57, 58, 59, 60, 61, 82)
@given(
    tables(),
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from(["none", "zstd"]),
    st.sampled_from([1, 3, 100]),
    st.sampled_from([1, 2, 5, 1000]),
    st.booleans(),
)
def test_random_tables_go_there_and_back(table, version, codec, row_group, page, index):
    data = parquet(
        table,
        data_page_version=version,
        compression=codec,
        row_group_size=row_group,
        data_page_size=page,
        write_batch_size=page,
        write_page_index=index,
    )
    # pyarrow 26 loses rows of lists where it writes an empty page first, which small batches make it do.
    try:
        assume(pq.read_table(io.BytesIO(data)).equals(table))
    except (OSError, pa.ArrowException):
        assume(False)
    symbols = fsst.SymbolTable([b"b", b"ab", b"abc"])
    made = small(data, symbol_table=symbols)
    assert read_table(made).equals(table)
    again = back(made)
    assert pq.read_table(io.BytesIO(again)).equals(table)
    assert metadata(again) == metadata(data)
    rows = [row for row in (0, 5, 0, 39) if row < table.num_rows]
    with ParquetFile(made) as file:
        assert file.take(rows).equals(table.take(pa.array(rows, pa.int64())))


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows):
    table = NESTED.slice(0, rows)
    for columns in ("auto", STRINGS):
        file = io.BytesIO()
        write_table(table, file, columns=columns)
        assert read_table(file).equals(table)
        assert read_table(file, compressed=True).num_rows == rows
        assert ParquetFile(file).take(range(rows)).equals(table)


def test_many_rows_and_a_value_longer_than_a_page():
    text = pa.array(words(3, 1000) * 300 + ["long " * 500_000, None])
    table = pa.table({"text": text, "n": range(len(text))})
    file = io.BytesIO()
    write_table(table, file, row_group_size=90_000, compression="none")
    assert read_table(file).equals(table)
    assert ParquetFile(file).take([300_000, 5, 300_001])["text"].equals(table["text"].take([300_000, 5, 300_001]))
    assert pq.read_table(io.BytesIO(back(file.getvalue()))).equals(table)


@pytest.mark.parametrize(
    "options", ["", ", PARQUET_VERSION 'V2'", ", CODEC 'zstd', ROW_GROUP_SIZE 2048", ", CODEC 'gzip'"]
)
def test_what_duckdb_writes_and_reads(options, tmp_path):
    table = NESTED.select(["text", "binary", "list", "struct"])
    theirs, ours = tmp_path / "theirs.parquet", tmp_path / "ours.parquet"
    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.execute(f"COPY t TO '{theirs}' (FORMAT parquet{options})")
        made = small(theirs)
        assert read_table(made).equals(pq.read_table(theirs))
        ours.write_bytes(back(made))
        assert metadata(ours.read_bytes()) == metadata(theirs.read_bytes())
        query = "SELECT count(*), min(text), max(text) FROM '{}' WHERE text > 'm'"
        assert connection.execute(query.format(ours)).fetchall() == connection.execute(query.format(theirs)).fetchall()


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "zstd", "lz4", "gzip", "brotli"])
def test_what_polars_writes_and_reads(codec):
    frame = polars.from_arrow(NESTED.select(["text", "binary", "list", "struct"]))
    file = io.BytesIO()
    frame.write_parquet(file, compression=codec, row_group_size=500, data_page_size=2000)
    made = small(file.getvalue())
    assert read_table(made).equals(pq.read_table(file))
    assert polars.read_parquet(io.BytesIO(back(made))).equals(frame)


# --- When FSST does not pay --------------------------------------------------------------------


def test_asking_for_fsst_never_makes_a_chunk_bigger():
    rng = random.Random(1)
    table = pa.table(
        {
            "random": [rng.randbytes(200) for _ in range(2000)],
            "constant": ["the same value"] * 2000,
            "few": [rng.choice(["yes", "no"]) for _ in range(2000)],
            "empty": [""] * 2000,
            "null": pa.array([None] * 2000, pa.string()),
            "words": words(1, 2000),
        }
    )
    for codec in ("none", "zstd"):
        data = parquet(table, compression=codec)
        made = small(data, only_if_smaller=True)
        assert len(made) < len(data)
        assert ParquetFile(made).fsst_columns == ["words"]
        assert read_table(made).equals(table)
    # Even against the will, it is read as it was.
    assert read_table(small(data, symbol_table=fsst.SymbolTable([b"the"]))).equals(table)


def test_columns_that_are_fsst_stay_as_they_are():
    once = small(parquet(NESTED))
    assert small(once) == once
    assert transcode(once, io.BytesIO(), encoding="fsst").rewritten == 0
    plain = parquet(NESTED)
    assert transcode(plain, io.BytesIO(), encoding="plain").rewritten == 0


# --- Symbol tables -----------------------------------------------------------------------------


@pytest.mark.kind(101)
def test_row_groups_share_a_table_where_they_are_alike():
    table = pa.table({"text": words(1, 20_000)})
    file = io.BytesIO()
    write_table(table, file, row_group_size=5000)
    column = read_table(file, compressed=True)["text"]
    assert column.num_chunks == 4
    assert len({chunk.symbol_table for chunk in column.chunks}) == 1
    write_table(table, file := io.BytesIO(), row_group_size=5000, share_symbol_tables=False)
    assert len({ParquetFile(file).read_row_group(i, compressed=True)["text"].type for i in range(4)}) > 1
    # Read together, the columns of different tables become one type.
    assert fsst.decompress(read_table(file, compressed=True)).equals(table)


def test_row_groups_that_differ_get_tables_of_their_own():
    table = pa.table({"text": words(1, 5000) + [str(i * 7919) for i in range(5000)]})
    file = io.BytesIO()
    write_table(table, file, row_group_size=5000)
    assert len({ParquetFile(file).read_row_group(i, compressed=True)["text"].type for i in range(2)}) == 2
    assert fsst.decompress(read_table(file, compressed=True)).equals(table)


def test_compressed_columns_keep_their_table_and_codes():
    column = fsst.compress(pa.chunked_array([words(1, 3000), [None, "more"]]))
    table = pa.table({"text": column})
    file = io.BytesIO()
    write_table(table, file, columns=["text"])
    again = read_table(file, compressed=True)
    assert again["text"].type == column.type
    assert again["text"].combine_chunks().storage.equals(column.combine_chunks().storage)


def test_codes_move_between_arrays_pages_and_files_as_they_are():
    # Codes that no encoder here would make: "the" is spelled out, and once escaped.
    symbols = fsst.SymbolTable([b"t", b"h", b"e", b"the"])
    code = {symbol: number for number, symbol in enumerate(symbols.symbols)}
    spelled = bytes([code[b"t"], code[b"h"], code[b"e"]])
    rows = [spelled, None, bytes([code[b"the"]]), b"\xfft\xffh\xffe", b"", spelled * 3]
    kind = FsstType(symbols, pa.string())
    chunks = [FsstArray.from_storage(kind, pa.array(rows * 5)), FsstArray.from_storage(kind, pa.array(rows).slice(2))]
    column = pa.chunked_array(chunks)
    table = pa.table({"text": column, "number": range(len(column))})
    codes = [row for chunk in chunks for row in chunk.storage.to_pylist()]
    for options in ({}, {"row_group_size": 7}, {"data_page_size": 1, "write_batch_size": 3}, {"compression": "zstd"}):
        write_table(table, file := io.BytesIO(), columns=["text"], **options)
        again = read_table(file, compressed=True)["text"]
        assert again.type == kind
        assert [row for chunk in again.chunks for row in chunk.storage.to_pylist()] == codes
        assert read_table(file).equals(fsst.decompress(table))
        # What was read is written again, and the pages are the same.
        write_table(table.set_column(0, "text", again), second := io.BytesIO(), columns=["text"], **options)
        assert second.getvalue() == file.getvalue()
    # A page, and the layout of the reference implementation.
    whole = FsstArray.from_storage(kind, pa.array([row for row in codes if row is not None]))
    page = fsst.page.encode_data_page(whole)
    assert fsst.page.decode_data_page(page, symbols, len(whole), value_type=pa.string()).storage.equals(whole.storage)
    _, offsets, data = whole.storage.buffers()
    offsets = np.frombuffer(offsets, np.int32)
    theirs = symbols.reordered("cwida")
    exported = fsst.codec.renumber(symbols, data, offsets, theirs)
    text, _ = fsst.codec.decompress(theirs, exported, offsets)
    assert text.tobytes() == "".join(fsst.decompress(whole).to_pylist()).encode()
    assert fsst.codec.renumber(theirs, exported, offsets, symbols).tobytes() == data.to_pybytes()
    # Another table that is asked for means other codes.
    other = fsst.SymbolTable([b"th"])
    write_table(table, file := io.BytesIO(), columns=["text"], symbol_table=other)
    assert read_table(file, compressed=True)["text"].type.symbol_table == other
    assert read_table(file).equals(fsst.decompress(table))


def test_corrupt_codes_are_not_written(tmp_path):
    kind = FsstType(fsst.SymbolTable([b"a"]), pa.string())
    column = FsstArray.from_storage(kind, pa.array([b"\x00"] * 8 + [b"\x01"]))
    with pytest.raises(fsst.CorruptDataError, match="rows 6 to 8"):
        write_table(pa.table({"text": column}), tmp_path / "it.parquet", row_group_size=3)
    assert list(tmp_path.iterdir()) == []


def test_row_groups_are_those_that_pyarrow_makes(tmp_path):
    table = pa.table({"text": words(1, 1000), "list": [[i] for i in range(1000)]})
    options = [{"row_group_size": 300}, {"row_group_size": 1000}, {"row_group_size": 10**9}, {"row_group_size": -1}]
    for kwargs in ({}, *options):
        extras = {"write_page_index": True, "sorting_columns": [pq.SortingColumn(0)], **kwargs}
        write_table(table, file := io.BytesIO(), columns=["text"], **extras)
        assert metadata(file.getvalue()) == metadata(parquet(table, **extras))
        assert read_table(file).equals(table)
    with pytest.raises(ValueError, match="group size"):
        write_table(table, tmp_path / "it.parquet", row_group_size=0)
    with pytest.raises(TypeError, match="open_output_stream"):
        write_table(table, "it.parquet", filesystem=pa.fs.LocalFileSystem())
    write_table(table.slice(0, 0), file := io.BytesIO(), columns=["text"])
    assert read_table(file).equals(table.slice(0, 0))


@pytest.mark.parametrize("rows", [[""] * 2000, [None] * 2000, ["a"], ["abc", None]])
def test_columns_that_are_named_are_fsst_in_any_case(rows):
    table = pa.table({"text": pa.array(rows, pa.string())})
    for compression in ("none", "gzip"):
        write_table(table, file := io.BytesIO(), ["text"], compression=compression)
        with ParquetFile(file) as parquet_file:
            assert parquet_file.fsst_columns == ["text"]
        assert len(file.getvalue()) < 1000
        assert read_table(file).equals(table)
        assert fsst.decompress(read_table(file, compressed=True)).equals(table)
        assert pq.read_table(io.BytesIO(back(file.getvalue()))).equals(table)


def test_rows_without_columns():
    table = pa.table({"text": ["a"] * 5}).select([])
    write_table(table, file := io.BytesIO())
    assert pq.ParquetFile(io.BytesIO(parquet(table))).metadata.num_rows == ParquetFile(file).num_rows == 0
    assert read_table(file).num_columns == 0


def test_paths_that_coincide_are_refused():
    table = pa.table({"a.b": ["x"], "a": [{"b": "y"}]})
    write_table(table, file := io.BytesIO())
    with pytest.raises(FsstError, match=r"named alike: a\.b, a\.b"):
        read_table(file)


def test_content_defined_chunks_are_those_of_pyarrow():
    table = pa.table({"number": range(20_000), "text": words(1, 20_000)})
    options = {
        "use_content_defined_chunking": {"min_chunk_size": 1024, "max_chunk_size": 4096, "norm_level": 0},
        "row_group_size": 5000,
        "use_dictionary": False,
    }
    write_table(table, file := io.BytesIO(), columns=["text"], **options)
    theirs = pq.ParquetFile(io.BytesIO(parquet(table, **options))).metadata
    ours = pq.ParquetFile(file).metadata
    sizes = [[m.row_group(i).column(0).total_uncompressed_size for i in range(4)] for m in (ours, theirs)]
    assert sizes[0] == sizes[1]


def test_a_given_table_is_used():
    symbols = fsst.SymbolTable([b"a", b"e", b" t"])
    file = io.BytesIO()
    write_table(NESTED, file, columns=["text", "list"], symbol_table={"text": symbols})
    read = read_table(file, ["text"], compressed=True)
    assert read["text"].chunk(0).symbol_table == symbols


# --- Reading -----------------------------------------------------------------------------------


def test_columns_are_read_by_name_and_path():
    file = io.BytesIO()
    write_table(NESTED, file, columns=STRINGS, row_group_size=900)
    plain = pq.ParquetFile(io.BytesIO(parquet(NESTED, row_group_size=900)))
    assert read_table(file, ["number", "text"]).equals(NESTED.select(["number", "text"]))
    assert read_table(file, ["struct.a"]).equals(plain.read(["struct.a"]))
    assert read_table(file, ["struct.b"]).equals(plain.read(["struct.b"]))
    with ParquetFile(file) as parquet_file:
        assert parquet_file.schema_arrow.equals(plain.schema_arrow, check_metadata=True)
        assert parquet_file.read_row_group(1).equals(NESTED.slice(900, 900))
        assert parquet_file.read(["text", "list"], row_groups=[2, 0]).num_rows == 1100
        assert parquet_file.read(row_groups=[]).equals(NESTED.slice(0, 0))
        with pytest.raises(ValueError, match="no column 'nix'; there are text, required"):
            parquet_file.read(["nix"])
        with pytest.raises(IndexError, match="row group 3 of 3"):
            parquet_file.read_row_group(3)
        with pytest.raises(TypeError, match="list of names"):
            parquet_file.read("text")


def test_types_that_only_the_arrow_schema_knows():
    table = pa.table(
        {
            "dictionary": pa.array(words(1, 999)).dictionary_encode(),
            "view": pa.array(words(2, 999), pa.string_view()),
            "large_binary": pa.array([word.encode() for word in words(3, 999)], pa.large_binary()),
        }
    )
    file = io.BytesIO()
    write_table(table, file, columns=table.column_names)
    want = pq.read_table(io.BytesIO(parquet(table)))
    got = read_table(file)
    got.validate(full=True)
    assert got.schema == want.schema
    assert got.to_pylist() == want.to_pylist()
    assert [kind.value_type for kind in read_table(file, compressed=True).schema.types] == [
        pa.string(),
        pa.string_view(),
        pa.large_binary(),
    ]


@pytest.mark.parametrize("index", [True, False])
def test_take(index, tmp_path):
    path = tmp_path / "t.parquet"
    # What pyarrow writes without an index gets one where it is rewritten.
    write_table(NESTED, path, columns=STRINGS[:-3], row_group_size=700, data_page_size=500, write_page_index=index)
    rng = random.Random(2)
    with ParquetFile(path, memory_map=index) as file:
        for count in (0, 1, 3, 100, 3000):
            rows = [rng.randrange(len(NESTED)) for _ in range(count)]
            want = NESTED.take(pa.array(rows, pa.int64()))
            assert file.take(rows).equals(want)
            assert file.take(np.array(rows, np.uint32), ["text"], compressed=True)["text"].to_pylist() == (
                want["text"].to_pylist()
            )
        assert file.take(pa.array([3, 1]), ["number"])["number"].to_pylist() == [3, 1]
        for rows in ([-1], [len(NESTED)]):
            with pytest.raises(IndexError):
                file.take(rows)
        for rows in ([0.5], [[1]], ["a"]):
            with pytest.raises(TypeError, match="rows must be integers"):
                file.take(rows)


def test_take_reads_only_what_it_needs():
    class Counting(io.BytesIO):
        bytes_read = 0

        def read(self, *size):
            data = super().read(*size)
            self.bytes_read += len(data)
            return data

    table = pa.table({"text": words(1, 200_000)})
    write_table(table, file := io.BytesIO(), columns=["text"], compression="none", max_rows_per_page=1000)
    counting = Counting(file.getvalue())
    assert ParquetFile(counting).take([150_000])["text"].to_pylist() == [table["text"][150_000].as_py()]
    assert counting.bytes_read < len(file.getvalue()) / 10


# --- Other readers -----------------------------------------------------------------------------


def test_pyarrow_opens_the_file_and_reads_its_other_columns():
    data = small(parquet(NESTED.select(["text", "number"])))
    file = pq.ParquetFile(io.BytesIO(data))
    assert "UNKNOWN" in file.metadata.row_group(0).column(0).encodings
    assert file.schema_arrow.equals(NESTED.select(["text", "number"]).schema)
    assert file.read(["number"]).equals(NESTED.select(["number"]))
    with pytest.raises((OSError, pa.ArrowException)):
        file.read(["text"])


@pytest.mark.case(90)
@pytest.mark.parametrize("encoding", [10, 11])
@pytest.mark.parametrize("codec", [None, "zstd", "snappy"])
def test_a_file_written_by_hand(encoding, codec):
    number = {None: 0, "snappy": 1, "zstd": 6}[codec]
    for table_codec, delta, checksum in itertools.product({None, codec}, [False, True], [False, True]):
        pages = [by_hand.symbol_table_page(table_codec, checksum=checksum)]
        pages += [by_hand.data_page(page, encoding, delta, codec, checksum=checksum) for page in by_hand.PAGES]
        data = by_hand.parquet(pages, encoding, number)
        with ParquetFile(data) as file:
            assert file.fsst_columns == ["text"]
            assert file.read()["text"].to_pylist() == by_hand.ROWS
            assert file.take([5, 0])["text"].to_pylist() == [by_hand.ROWS[5], by_hand.ROWS[0]]
            compressed = file.read(compressed=True)["text"].chunk(0)
            assert list(compressed.symbol_table.symbols) == by_hand.SYMBOLS
        assert pq.read_table(io.BytesIO(back(data)))["text"].to_pylist() == by_hand.ROWS


def test_our_codes_for_the_same_rows_are_those_written_by_hand():
    data = small(back(by_hand.parquet()), symbol_table=fsst.SymbolTable(by_hand.SYMBOLS))
    for page in by_hand.PAGES:
        header = by_hand.data_page(page)
        assert header[-20:] in data


def test_number_10_without_a_symbol_table_is_another_encoding():
    data = by_hand.parquet([by_hand.data_page(page, 10) for page in by_hand.PAGES], 10, table=False)
    with ParquetFile(data) as file:
        assert file.fsst_columns == []
        with pytest.raises(fsst.CorruptDataError, match="pyarrow cannot read"):
            file.read()


# --- Options, files ----------------------------------------------------------------------------


def test_compression_is_what_was_asked_for():
    data = parquet(NESTED, compression="snappy")
    for codec, name in (("none", "UNCOMPRESSED"), ("ZSTD", "ZSTD"), ("lz4", "LZ4"), (None, "SNAPPY")):
        made = small(data, columns=["text"], compression=codec)
        chunk = pq.ParquetFile(io.BytesIO(made)).metadata.row_group(0)
        assert (chunk.column(0).compression, chunk.column(2).compression) == (name, "SNAPPY")
        assert read_table(made).equals(NESTED)
    file = io.BytesIO()
    write_table(NESTED, file, columns=["text"], compression="zstd", compression_level=9)
    chunk = pq.ParquetFile(file).metadata.row_group(0)
    assert {chunk.column(i).compression for i in range(chunk.num_columns)} == {"ZSTD"}
    assert read_table(file).equals(NESTED)


def test_checksums_are_written_on_request():
    data = parquet(pa.table({"text": words(1, 5000)}))
    sizes = [len(small(data, write_page_checksum=wanted)) for wanted in (None, False, True)]
    assert sizes[0] == sizes[1] < sizes[2]
    assert len(small(parquet(pa.table({"text": words(1, 5000)}), write_page_checksum=True))) == sizes[2]


def test_bad_arguments():
    data = parquet(NESTED)
    for arguments, why in [
        ({"encoding": "fast"}, "encoding must be one of"),
        ({"compression": "rar"}, "compression must be one of"),
        ({"columns": ["texts"]}, "no column 'texts'"),
        ({"effort": "little"}, "effort must be"),
        ({"threads": 0}, "threads must lie"),
    ]:
        with pytest.raises(ValueError, match=why):
            transcode(data, io.BytesIO(), **arguments)
    with pytest.raises(TypeError, match="dest must be a path or a file"):
        transcode(data, 5)


def test_progress_is_told():
    seen = []
    transcode(parquet(NESTED, row_group_size=900), io.BytesIO(), progress=lambda *done: seen.append(done))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("threads", [1, 3])
def test_the_result_does_not_depend_on_threads(threads):
    data = parquet(NESTED)
    assert small(data, threads=threads) == small(data, threads=2)


def test_a_failed_write_leaves_nothing(tmp_path):
    class StopError(Exception):
        pass

    def stop(done, of):
        if done == 2:
            raise StopError

    path = tmp_path / "new.parquet"
    data = parquet(NESTED, row_group_size=700)
    with pytest.raises(StopError):
        transcode(data, path, progress=stop)
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"what was there before")
    with pytest.raises(StopError):
        transcode(data, path, progress=stop)
    assert path.read_bytes() == b"what was there before"
    with pytest.raises(fsst.CorruptDataError):
        transcode(data[:-1], path)
    assert os.listdir(tmp_path) == ["new.parquet"]
    # And a file can be replaced by itself.
    path.write_bytes(data)
    transcode(path, path)
    assert read_table(path, memory_map=True).equals(NESTED)
    assert os.listdir(tmp_path) == ["new.parquet"]


def test_row_groups_stream(tmp_path):
    """Memory does not grow with the number of row groups."""
    table = pa.table({"text": words(1, 20_000) * 4})
    pq.write_table(table, tmp_path / "one", row_group_size=80_000, compression="none")
    many = pa.concat_tables([table] * 12)
    pq.write_table(many, tmp_path / "twelve", row_group_size=80_000, compression="none")
    peaks = []
    for name in ("one", "twelve"):
        import tracemalloc

        tracemalloc.start()
        transcode(tmp_path / name, tmp_path / "small")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]


def test_the_example_runs():
    example = str(EXAMPLES / "parquet.py")
    code = f"import runpy, sys; sys.argv = ['x']; runpy.run_path({example!r}, run_name='__main__')"
    assert "the same table" in run_python(f"import sys; sys.path.insert(0, {str(EXAMPLES)!r}); {code}")


def test_repr():
    with ParquetFile(by_hand.parquet()) as file:
        assert repr(file) == "<fsst.parquet.ParquetFile: 7 rows in 1 row groups, FSST: text>"


def test_compressed_leaves_of_nested_columns_are_written_as_text(tmp_path):
    table = pa.table({"c": pa.array([["hello hello"], None, ["x", None]] * 50), "d": pa.array(["a", None, "b"] * 50)})
    fsst.parquet.write_table(fsst.compress(table), tmp_path / "t.parquet")
    assert fsst.parquet.read_table(tmp_path / "t.parquet").to_pydict() == table.to_pydict()
    fsst.parquet.transcode(tmp_path / "t.parquet", tmp_path / "plain.parquet", encoding="plain")
    back = pq.read_table(tmp_path / "plain.parquet")
    assert back.schema.types == table.schema.types and back.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.list_(pa.string_view())], ids=str)
def test_take_of_views(kind, tmp_path):
    values = ["a", None, "longer than twelve bytes", "b"] * 5
    column = pa.array(values if kind == pa.string_view() else [[value] for value in values], kind)
    fsst.parquet.write_table(pa.table({"d": column}), tmp_path / "v.parquet")
    with fsst.parquet.ParquetFile(tmp_path / "v.parquet") as file:
        assert file.take([6, 1, 6, 0])["d"].to_pylist() == [column[i].as_py() for i in (6, 1, 6, 0)]


@pytest.mark.parametrize("source", ["path", "map", "bytes", "python file", "native file"])
def test_many_threads_read_one_file(source, tmp_path):
    """Files have one position, which threads must not share."""
    path = tmp_path / "t.parquet"
    write_table(NESTED, path, columns=STRINGS, row_group_size=300, compression="none", max_rows_per_page=50)
    opened = {
        "path": lambda: path,
        "map": lambda: path,
        "bytes": path.read_bytes,
        "python file": lambda: path.open("rb", buffering=64),
        "native file": lambda: pa.OSFile(str(path)),
    }[source]()
    rows = [random.Random(seed).sample(range(len(NESTED)), 100) for seed in range(16)]
    with ParquetFile(opened, memory_map=source == "map") as file, ThreadPoolExecutor(8) as pool:
        taken = pool.map(lambda some: file.take(some, ["text", "required", "number"]), rows)
        read = pool.map(lambda i: file.read_row_group(i % 7, ["text", "list", "number"]), range(16))
        for some, got in zip(rows, taken, strict=True):
            assert got.equals(NESTED.select(["text", "required", "number"]).take(some))
        for i, got in enumerate(read):
            assert got.equals(NESTED.select(["text", "list", "number"]).slice(i % 7 * 300, 300))
    if source.endswith("file"):
        assert not opened.closed
        opened.close()


@pytest.mark.parametrize("memory_map", [False, True])
def test_a_closed_file_is_not_read(memory_map, tmp_path):
    path = tmp_path / "t.parquet"
    write_table(NESTED.select(["text"]), path, columns=["text"])
    file = ParquetFile(path, memory_map=memory_map)
    file.close()
    for work in (file.read, lambda: file.take([1])):
        with pytest.raises(ValueError, match="closed"):
            work()


@pytest.mark.parametrize("limit", [None, 4000])
def test_nulls_and_pages_come_together_in_a_column(limit):
    """Offsets of many pages, with and without nulls, of 4 and (where that is pretended to be too few) 8 bytes.

    The limit is one of pages too, and the symbol table is one.
    """
    output = run_python(
        """
import io, random
import pyarrow as pa
import fsst
from fsst.parquet import ParquetFile, read_table, write_table
from helpers import words
rng = random.Random(3)
text = words(5, 3000)
# Pages with some nulls, none, and nothing else.
share = [0.7, 1, 0]
rows = [word if rng.random() < share[i // 300 % 3] else None for i, word in enumerate(text)]
table = pa.table({"text": rows})
write_table(table, file := io.BytesIO(), columns=["text"], max_rows_per_page=100)
column = read_table(file, compressed=True)["text"].chunk(0)
column.storage.validate(full=True)
assert read_table(file)["text"].to_pylist() == column.to_pylist() == rows
some = [rng.randrange(3000) for _ in range(500)]
assert ParquetFile(file).take(some)["text"].to_pylist() == [rows[i] for i in some]
print(column.type.storage_type)
""",
        **({} if limit is None else {"FSST_TEST_OFFSET_LIMIT": str(limit)}),
    )
    assert output == ("large_binary\n" if limit else "binary\n")


@pytest.mark.parametrize("encoding", ["plain", "delta_length"])
def test_dictionaries_on_the_way_back_are_read_by_pyarrow(encoding):
    """pyarrow reads no dictionary from DELTA_LENGTH pages, so there such columns become plain."""
    kinds = {"flat": pa.dictionary(pa.int32(), pa.string()), "list": pa.list_(pa.dictionary(pa.int32(), pa.string()))}
    rows = words(1, 900)
    table = pa.table(
        {
            "flat": pa.array(rows).dictionary_encode(),
            "list": pa.array([[row, None] for row in rows], kinds["list"]),
            "text": rows,
        }
    )
    data = small(parquet(table))
    assert read_table(data).to_pylist() == table.to_pylist()
    assert [read_table(data, [name]).schema.types for name in kinds] == [[kind] for kind in kinds.values()]
    assert read_table(data, ["list"], compressed=True).schema.types == [kinds["list"]]
    again = back(data, encoding)
    got = pq.read_table(io.BytesIO(again))
    assert got.schema.types == table.schema.types
    assert got.to_pylist() == table.to_pylist()
    group = pq.ParquetFile(io.BytesIO(again)).metadata.row_group(0)
    used = {group.column(i).path_in_schema: "DELTA_LENGTH_BYTE_ARRAY" in group.column(i).encodings for i in range(3)}
    assert used["text"] == (encoding == "delta_length")
    assert not used["flat"]


@given(
    st.integers(0, 2**32),
    st.sampled_from([0, 1, 3, 20, 300, 4000]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.sampled_from(["none", "zstd"]),
    st.booleans(),
    st.integers(1, 2000),
)
def test_rows_are_taken_from_files_of_any_pages(tmp_path_factory, seed, longest, nulls, codec, checksum, page_rows):
    """From a local file little more is read than the rows; what is found must not depend on it."""
    rng = random.Random(seed)
    letters = [b"a", b"b", b"the ", "ß".encode()]
    rows = [
        None if rng.random() < nulls else b"".join(rng.choices(letters, k=rng.randint(0, longest) // 8))
        for _ in range(rng.choice([1, 100, 3000]))
    ]
    column = pa.array(rows, pa.binary())
    path = tmp_path_factory.mktemp("take") / "t.parquet"
    options = {"compression": codec, "max_rows_per_page": page_rows, "data_page_size": 1 << 30, "row_group_size": 2500}
    write_table(pa.table({"a": column}), path, columns=["a"], write_page_checksum=checksum, **options)
    some = [rng.randrange(len(rows)) for _ in range(rng.choice([0, 1, 5, 200]))]
    for memory_map in (False, True):
        with ParquetFile(path, memory_map=memory_map) as file:
            for _ in range(2):  # the second time, it is known how long pages' offsets are
                assert file.take(some)["a"].to_pylist() == [rows[i] for i in some]
    assert ParquetFile(path.read_bytes()).take(some)["a"].to_pylist() == [rows[i] for i in some]


def test_long_statistics_and_long_offsets_before_a_row(tmp_path):
    """The first bytes of a page, of which the rest is not read, may not even hold its header."""
    rows = [f"{'x' * 60_000}{i}" for i in range(40)] + words(1, 30_000)
    path = tmp_path / "t.parquet"
    write_table(pa.table({"text": rows}), path, columns=["text"], compression="none", data_page_size=1 << 30)
    with ParquetFile(path) as file:
        for some in ([39, 30_039], [3], [25_000, 2]):
            assert file.take(some)["text"].to_pylist() == [rows[i] for i in some]


def test_take_from_a_local_file_reads_little(tmp_path):
    rows = words(1, 50_000) + ["a long row: " * 200] * 500
    path = tmp_path / "t.parquet"
    write_table(pa.table({"text": rows}), path, columns=["text"], compression="none", max_rows_per_page=100_000)
    with ParquetFile(path) as file:
        reads = []
        read = file._file.read
        file._file.read = lambda start, size, what: reads.append(size) or read(start, size, what)
        for place in (10, 50_400):
            assert file.take([place])["text"].to_pylist() == [rows[place]]
    assert sum(reads) < path.stat().st_size

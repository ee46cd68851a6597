"""fsst.page: values sections against the oracle, hostile pages, and whole columns cut into pages."""

import random
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
import reference
import strategies
from golden.make import PAGE_ROWS, PAGE_SYMBOLS
from helpers import VALUE_TYPES, array_over, column_of_codes, run_python, words
from hypothesis import given
from hypothesis import strategies as st

import fsst
from fsst import CorruptDataError, FsstArray, SymbolTable
from fsst.delta import delta_decode
from fsst.page import DataPage, PageEncoder, decode_data_page, encode_data_page

TABLE = SymbolTable(PAGE_SYMBOLS)
EXAMPLE = bytes.fromhex(
    "00 04000000 10000000 05000000 0A000000 0D000000 0F000000 04 03 00 FF 31  04 03 00 FF 32  04 05 01  02 03"
)


def codes_of(column):
    return column.storage.to_pylist()


def test_the_worked_examples_of_the_proposal():
    body = bytes([6, 0, 0, 0, 0, 2, 0, 2, 2]) + b"/page/datahttp://examplehttps://test.com"
    assert TABLE.to_bytes() == body and SymbolTable.from_bytes(body) == TABLE
    rows = ["https://example/page1", "https://example/page2", "https://test.com/data", "http://example"]
    assert encode_data_page(fsst.compress(rows, symbol_table=TABLE)) == EXAMPLE
    column = decode_data_page(EXAMPLE, TABLE, 4, value_type=pa.string())
    assert isinstance(column, FsstArray) and column.to_pylist() == rows
    assert decode_data_page(EXAMPLE, TABLE, 4, compressed=False).equals(pa.array(PAGE_ROWS, pa.binary()))


@pytest.mark.kind(94)
@given(case=strategies.tables_and_rows(), times=st.sampled_from([1, 1, 30]))
def test_pages_are_the_oracles(case, times):
    symbols, rows = case
    symbols, rows = reference.parquet_order(symbols), rows * times
    codes = [reference.compress(symbols, row) for row in rows]
    column = fsst.compress(pa.array(rows, pa.binary()), symbol_table=SymbolTable(symbols))
    page = encode_data_page(column)
    assert page == reference.write_page(codes)
    for delta in (False, True):
        page = reference.write_page(codes, delta)
        again = decode_data_page(page, SymbolTable(symbols), len(rows))
        again.validate(full=True)
        assert again.equals(column) and codes_of(again) == codes
        assert decode_data_page(page, SymbolTable(symbols), len(rows), compressed=False).to_pylist() == rows


@given(column=strategies.columns())
def test_any_column(column):
    compressed = fsst.compress(column)
    for chunk in compressed.chunks if isinstance(compressed, pa.ChunkedArray) else [compressed]:
        values = len(chunk) - chunk.null_count
        page = encode_data_page(chunk)
        again = decode_data_page(page, chunk.symbol_table, values, value_type=chunk.value_type)
        assert again.type.value_type == chunk.type.value_type
        assert again.to_pylist() == [value for value in chunk.to_pylist() if value is not None]


@pytest.mark.parametrize("storage_type", [pa.binary(), pa.large_binary()])
def test_storage_type(storage_type):
    column = decode_data_page(EXAMPLE, TABLE, 4, storage_type=storage_type)
    assert column.type == fsst.FsstType(TABLE, pa.binary(), storage_type)
    column.validate(full=True)
    assert column.to_pylist() == PAGE_ROWS
    assert encode_data_page(column) == encode_data_page(column.slice(0)) == EXAMPLE
    assert encode_data_page(column.slice(1, 2)) == reference.write_page(codes_of(column)[1:3])
    delta = reference.write_page(codes_of(column) * 50)
    assert encode_data_page(pa.concat_arrays([column] * 50)) == delta and delta[0] == 1
    assert decode_data_page(delta, TABLE, 200, storage_type=storage_type).to_pylist() == PAGE_ROWS * 50


def test_codes_are_not_copied():
    page = pa.py_buffer(EXAMPLE)
    data = decode_data_page(page, TABLE, 4).storage.buffers()[2]
    assert page.address <= data.address and data.address + data.size == page.address + page.size


def test_a_page_without_values():
    for page in (b"\0" * 9, reference.write_page([], True), b"\1" + b"\0" * 8):
        assert len(decode_data_page(page, TABLE, 0)) == 0
        assert decode_data_page(page, TABLE, 0, compressed=False).equals(pa.array([], pa.binary()))
    nulls = fsst.compress(pa.array([None] * 5, pa.string()), symbol_table=TABLE)
    assert encode_data_page(nulls) == encode_data_page(nulls.slice(0, 0)) == b"\0" * 9
    with pytest.raises(CorruptDataError, match="has 0 bytes"):
        decode_data_page(b"", TABLE, 0)


def test_what_nulls_hide_is_not_stored():
    storage = array_over(pa.binary(), [True, False, True], [b"\0", b"\1\1\1", b"\2"])
    column = FsstArray.from_storage(fsst.FsstType(TABLE, pa.binary()), storage)
    assert encode_data_page(column) == reference.write_page([b"\0", b"\2"])


def test_corrupt_columns_are_not_written():
    for codes in (b"\x06", b"\0\xff"):
        with pytest.raises(CorruptDataError, match="row 1"):
            encode_data_page(column_of_codes(PAGE_SYMBOLS, [b"\0", codes]))
    with pytest.raises(TypeError, match="FsstArray"):
        encode_data_page(pa.array(["a"]))


def test_tables_of_another_order_are_refused():
    table = SymbolTable([b"ab", b"a"])
    with pytest.raises(ValueError, match="reordered"):
        decode_data_page(EXAMPLE, table, 4)


# --- Hostile pages ---


def agree_with_the_oracle(page, num_values, symbols=PAGE_SYMBOLS):
    table = SymbolTable(symbols)
    try:
        expected = reference.read_page(symbols, page, num_values)
    except reference.CorruptError:
        for compressed in (True, False):
            with pytest.raises(CorruptDataError, match="data page"):
                decode_data_page(page, table, num_values, compressed=compressed)
    else:
        assert codes_of(decode_data_page(page, table, num_values)) == expected


@pytest.mark.kind(25, 27, 30, 56)
@pytest.mark.parametrize("delta", [False, True])
def test_every_byte_flipped_and_every_cut(delta):
    codes = [reference.compress(PAGE_SYMBOLS, row) for row in PAGE_ROWS] * 10
    page = reference.write_page(codes, delta)
    for size in range(len(page)):
        agree_with_the_oracle(page[:size], 40)
    for at in range(len(page)):
        for flip in (0x01, 0x08, 0x80, 0xFF):
            agree_with_the_oracle(page[:at] + bytes([page[at] ^ flip]) + page[at + 1 :], 40)
    for num_values in (0, 1, 39, 41, 2**31 - 1, 2**40):
        agree_with_the_oracle(page, num_values)


@pytest.mark.kind(25, 27, 30, 56)
@given(data=st.binary(max_size=50), count=st.integers(0, 3), delta=st.integers(0, 1), size=st.integers(-1, 20))
def test_any_bytes(data, count, delta, size):
    header = bytes([delta]) + count.to_bytes(4, "little") + size.to_bytes(4, "little", signed=True)
    agree_with_the_oracle(header + data, count, [b"a", b"b"])
    agree_with_the_oracle(data, count)


@pytest.mark.case(27)
def test_flipping_the_width_of_a_miniblock_is_an_error():
    """Not other strings (duckdb PR #24016)."""
    column = fsst.compress(words(1, 500))
    page = encode_data_page(column)
    assert page[0] == 1
    first = 9 + 2 + 1 + 2 + 1 + 1  # the header's and the delta header's fields, the smallest delta
    for at in range(first, first + 4):
        for width in set(range(256)) - {page[at]}:
            with pytest.raises(CorruptDataError):
                decode_data_page(page[:at] + bytes([width]) + page[at + 1 :], column.symbol_table, 500)


def test_num_values_is_not_negative():
    with pytest.raises(ValueError, match="negative"):
        decode_data_page(EXAMPLE, TABLE, -1)


def test_text_is_utf8_where_it_is_read_as_text():
    page = reference.write_page([b"\xff\xc3", b"\xff\xa9"])
    assert decode_data_page(page, TABLE, 2, compressed=False).to_pylist() == [b"\xc3", b"\xa9"]
    with pytest.raises(CorruptDataError, match=r"data page: .*UTF-8"):
        decode_data_page(page, TABLE, 2, value_type=pa.string(), compressed=False)
    with pytest.raises(CorruptDataError, match="UTF-8"):
        decode_data_page(page, TABLE, 2, value_type=pa.string()).to_pylist()


# --- Rows of a page ---


def test_rows_of_a_page():
    texts = words(2, 3000)
    column = fsst.compress(texts)
    page = DataPage(encode_data_page(column), column.symbol_table, 3000, value_type=pa.string())
    assert len(page) == 3000 and page.symbol_table == column.symbol_table and page.value_type == pa.string()
    assert page[0].as_py() == texts[0] and page[-1].as_py() == texts[-1] and page[1234].as_py() == texts[1234]
    assert "3000 values" in repr(page)
    rows = [5, 2999, 0, 5]
    for given_rows in (rows, np.array(rows, np.int32), pa.array(rows, pa.uint8() if max(rows) < 256 else pa.uint16())):
        taken = page.take(given_rows)
        assert isinstance(taken, FsstArray) and taken.to_pylist() == [texts[row] for row in rows]
        assert page.take(given_rows, compressed=False).equals(pa.array([texts[row] for row in rows]))
    assert page.take([1, None], compressed=False).to_pylist() == [texts[1], None]
    assert page.take([]).to_pylist() == []
    assert page.to_array().to_pylist() == page.to_array(compressed=False).to_pylist() == texts
    for wrong in ([3000], [-1], [0, 2**40]):
        with pytest.raises(IndexError):
            page.take(wrong)
    for wrong in (3000, -3001):
        with pytest.raises(IndexError):
            page[wrong]
    with pytest.raises(TypeError):
        page.take([0.5])
    with pytest.raises(TypeError):
        page[1:2]


@pytest.mark.kind(103, 104)
def test_only_the_rows_taken_are_looked_at():
    page = DataPage(reference.write_page([b"\0", b"\x77", b"\1"]), TABLE, 3)
    assert page.take([2, 0], compressed=False).to_pylist() == [b"/data", b"/page"]
    for work in (lambda: page.take([0, 1]), lambda: page.take([1], compressed=False), page.to_array):
        with pytest.raises(CorruptDataError, match="code 119"):
            work()


# --- Whole columns ---


def plain_values(page, num_values):
    lengths, start = delta_decode(page, num_values)
    ends = start + np.cumsum(lengths)
    assert (lengths >= 0).all() and (ends[-1] if num_values else start) == len(page)
    return [page[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def read_back(encoded, expected, page_bytes=1 << 20, page_rows=1 << 20):
    """All pages are as they must be, and hold `expected`, bytes or None."""
    assert len(encoded) == len(encoded.page_sizes)
    row = sizes = 0
    for page, size in zip(encoded, encoded.page_sizes, strict=True):
        assert page.first_row == row and len(page.data) == size
        rows = [value for value in expected[row : row + page.rows] if value is not None]
        assert 1 <= page.rows <= page_rows and page.values == len(rows)
        assert size <= page_bytes or page.values == 1 or not rows
        if encoded.encoding == "fsst":
            values = decode_data_page(page.data, encoded.symbol_table, page.values, compressed=False).to_pylist()
        else:
            values = plain_values(page.data, page.values)
        assert values == rows
        row += page.rows
        sizes += size
    assert row == encoded.rows == len(expected)
    if encoded.encoding == "fsst":
        assert SymbolTable.from_bytes(encoded.symbol_table_page) == encoded.symbol_table
        assert sizes + len(encoded.symbol_table_page) == encoded.fsst_bytes
    else:
        assert encoded.symbol_table_page is None and sizes == encoded.plain_bytes


def encode(batches, **options):
    encoder = PageEncoder(**options)
    for batch in batches:
        encoder.add(batch)
    return encoder.finish()


def as_bytes(values):
    return [value.encode() if isinstance(value, str) else value for value in values]


@pytest.mark.kind(7, 9, 11, 12, 49, 53, 81)
@given(
    column=strategies.columns(),
    page_bytes=st.integers(1, 120),
    page_rows=st.integers(1, 30),
    fallback=st.booleans(),
    compressed=st.booleans(),
)
def test_any_column_in_pages(column, page_bytes, page_rows, fallback, compressed):
    batch = fsst.compress(column) if compressed else column
    encoded = encode([batch], page_bytes=page_bytes, page_rows=page_rows, fallback=fallback)
    assert encoded.encoding == "fsst" or (fallback and not encoded.pays)
    assert encoded.value_type == column.type
    read_back(encoded, as_bytes(column.to_pylist()), page_bytes, page_rows)


def test_pages_do_not_depend_on_the_batches():
    texts = [None if i % 7 == 3 else text for i, text in enumerate(words(4, 20_000))]
    whole = pa.array(texts)
    one = encode([whole], page_bytes=10_000)
    many = [whole.slice(start, 77) for start in range(0, 20_000, 77)]
    assert list(encode(many, page_bytes=10_000, threads=2)) == list(one)
    assert list(encode([pa.chunked_array(many), pa.array([], pa.string())], page_bytes=10_000)) == list(one)
    assert one.pays and len(one) > 3
    read_back(one, as_bytes(texts), 10_000)
    # Near the target: only the last may be small.
    assert min(one.page_sizes[:-1]) > 9_900


@pytest.mark.parametrize("value_type", [*VALUE_TYPES, pa.binary(3)])
def test_value_types(value_type):
    rows = [b"abc", None, b"abc", b"xyz"] * 100
    if not (pa.types.is_fixed_size_binary(value_type) or "binary" in str(value_type)):
        array = pa.array([None if row is None else row.decode() for row in rows], value_type)
    else:
        array = pa.array(rows, value_type)
    for fallback in (True, False):
        encoded = encode([array, array], fallback=fallback)
        assert encoded.value_type == value_type
        read_back(encoded, rows * 2)


def test_dictionaries_are_encoded_as_their_values():
    array = pa.array(["new", None, "old", "new"] * 50)
    assert list(encode([array.dictionary_encode()])) == list(encode([array]))


def test_codes_go_into_pages_as_they_are():
    column = fsst.compress(words(5, 2000))
    encoded = encode([column.slice(0, 700), column.slice(700)])
    assert encoded.symbol_table == column.symbol_table
    assert [page.data for page in encoded] == [encode_data_page(column)]
    # With another table than the encoder's they are compressed anew.
    other = fsst.compress(words(6, 100))
    encoded = encode([column, other], symbol_table=column.symbol_table)
    assert encoded.symbol_table == column.symbol_table
    read_back(encoded, as_bytes(words(5, 2000) + words(6, 100)))
    assert encode([column, other]).symbol_table not in (column.symbol_table, other.symbol_table)


def test_a_table_may_be_given():
    encoded = encode([["https://example/page1"] * 100], symbol_table=TABLE)
    assert encoded.symbol_table == TABLE and encoded.pays
    assert next(iter(encoded)).data == reference.write_page([bytes([4, 3, 0, 255, 49])] * 100)


def test_an_encoder_may_be_used_again():
    encoder = PageEncoder()
    for rows in (["a" * 50] * 9, [b"b" * 40] * 8):
        encoder.add(rows)
        encoded = encoder.finish()
        read_back(encoded, as_bytes(rows))
        assert list(encoded) == list(encoded)
    assert len(encoder.finish()) == 0


def random_rows(count, size, seed=7):
    rng = random.Random(seed)
    return [rng.randbytes(size) for _ in range(count)]


def test_columns_that_fsst_makes_larger_fall_back():
    rows = random_rows(300, 40)
    encoded = encode([rows])
    assert not encoded.pays and encoded.encoding == "delta_length_byte_array" and encoded.symbol_table_page is None
    assert encoded.fsst_bytes >= encoded.plain_bytes
    read_back(encoded, rows)
    forced = encode([rows], fallback=False)
    assert not forced.pays and forced.encoding == "fsst"
    read_back(forced, rows)


FORCED = {
    "no rows": [],
    "all null": [None] * 300,
    "all empty": [b""] * 300,
    "one row": [b"one row"],
    "one byte each": [b"a", b"b"] * 500,
    "random": random_rows(50, 9),
    "null first": [None, b"a"],
    "null last": [b"a", None],
}


@pytest.mark.case(82)
@pytest.mark.parametrize("rows", FORCED.values(), ids=FORCED.keys())
@pytest.mark.parametrize("fallback", [True, False])
def test_fsst_forced_where_it_would_not_be_chosen(rows, fallback):
    for options in ({}, {"page_bytes": 20}, {"page_rows": 1}, {"page_bytes": 1}):
        encoded = encode([pa.array(rows, pa.binary())], fallback=fallback, **options)
        read_back(encoded, rows, options.get("page_bytes", 1 << 20), options.get("page_rows", 1 << 20))


# --- Cases ---


@pytest.mark.case(7)
def test_nulls_after_a_full_page():
    """duckdb PR #5042."""
    rows = [b"v%05d" % i for i in range(2500)] + [None] * 5000
    for fallback in (True, False):
        encoded = encode([pa.array(rows, pa.binary())], page_bytes=4096, fallback=fallback)
        read_back(encoded, rows, 4096)
        assert len(encoded) > 1


@pytest.mark.case(9)
def test_a_page_is_sized_from_its_own_rows():
    """duckdb #5675: one long row, then short ones mixed with nulls."""
    rows = random_rows(1, 60_000) + [b"x", None] * 10_000
    for fallback in (True, False):
        encoded = encode([pa.array(rows, pa.binary())], page_bytes=16_384, fallback=fallback)
        read_back(encoded, rows, 16_384)
        assert next(iter(encoded)).values == 1 and len(encoded) <= 4


@pytest.mark.case(11)
def test_a_value_larger_than_a_page():
    """duckdb PR #23341."""
    rows = random_rows(1, 9_000)
    encoded = encode([rows], page_bytes=16_384)
    assert not encoded.pays and len(encoded) == 1
    read_back(encoded, rows, 16_384)
    read_back(encode([rows * 3], page_bytes=16_384, fallback=False), rows * 3, 16_384)


@pytest.mark.case(12, 83, 84)
@pytest.mark.parametrize("rows", [1023, 1024, 1025, 2048, 4096])
def test_no_empty_page_at_a_boundary(rows):
    """duckdb PR #18203, lance #4079 and PR #4775."""
    texts = [b"id-%04d" % i for i in range(rows)]
    for page_rows in (rows, rows // 2 + 1, 1024, 128):
        encoded = encode([texts], page_rows=page_rows)
        assert len(encoded) == -(-rows // page_rows)
        read_back(encoded, texts, page_rows=page_rows)
    whole = encode([texts], page_bytes=1 << 30)
    assert len(encode([texts], page_bytes=whole.page_sizes[0])) == 1
    assert len(encode([texts], page_bytes=whole.page_sizes[0] - 1)) == 2


@pytest.mark.case(53)
def test_nulls_in_one_page_only():
    """lance PR #5074."""
    encoded = encode([["a", None], ["b", "c"]], page_rows=2, fallback=False)
    assert [(page.rows, page.values) for page in encoded] == [(2, 1), (2, 2)]
    read_back(encoded, [b"a", None, b"b", b"c"], page_rows=2)


@pytest.mark.case(81)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 511, 512, 513, 4 * 2**20 - 1, 4 * 2**20, 4 * 2**20 + 1])
def test_sizes_with_fsst_forced(size):
    """lance #2858."""
    rows = [(b"abcdefgh" * (size // 8 + 1))[:size]]
    for page_bytes in (100, 1 << 20):
        read_back(encode([rows], fallback=False, page_bytes=page_bytes), rows, page_bytes)


@pytest.mark.case(94)
def test_offsets_take_less_than_a_byte_a_row():
    """vortex PR #952: 32-bit offsets outweigh short codes."""
    page = encode_data_page(column_of_codes(PAGE_SYMBOLS, [b"\0\1\2\3\4\5"] * 100_000, pa.binary()))
    assert len(page) < 100_000 * 6 + 100_000 * 0.05
    varied = [b"\0" * (4 + i * 7919 % 5) for i in range(100_000)]
    page = encode_data_page(column_of_codes(PAGE_SYMBOLS, varied, pa.binary()))
    assert len(page) < sum(map(len, varied)) + 100_000 * 0.45


# --- What is refused ---


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"page_bytes": 0}, ValueError),
        ({"page_bytes": 2**31}, ValueError),
        ({"page_rows": 0}, ValueError),
        ({"effort": "best"}, ValueError),
        ({"threads": 0}, ValueError),
        ({"symbol_table": [b"a"]}, TypeError),
    ],
)
def test_wrong_options(options, error):
    with pytest.raises(error):
        PageEncoder(**options)


def test_wrong_batches():
    encoder = PageEncoder()
    encoder.add(["a"])
    for wrong in (pa.array([1]), pa.array([["a"]]), [b"a"], pa.array(["a"], pa.large_string())):
        with pytest.raises(TypeError):
            encoder.add(wrong)
    read_back(encoder.finish(), [b"a"])


def test_corrupt_batches():
    encoder = PageEncoder()
    encoder.add(column_of_codes(PAGE_SYMBOLS, [b"\x77"]))
    with pytest.raises(CorruptDataError):
        encoder.finish()


@pytest.mark.case(31)
def test_columns_beyond_32_bit_offsets():
    """Scaled: offsets end at 1000."""
    output = run_python(
        """
import fsst, pyarrow as pa
from fsst.page import PageEncoder, encode_data_page
from test_page import read_back, encode
rows = [b"row %d of these" % i for i in range(900)]
column = pa.array(rows, pa.binary())
views = column.cast(pa.binary_view())
for batches in ([column], [column.slice(0, 3), column.slice(3)], [fsst.compress(column)], [views]):
    for fallback in (True, False):
        encoded = encode(batches, fallback=fallback)
        read_back(encoded, rows, 1000)
        assert len(encoded) > 3
try:
    encode_data_page(fsst.compress(column))
except ValueError as error:
    print(error)
""",
        FSST_TEST_OFFSET_LIMIT="1000",
    )
    assert output.startswith("a page holds at most 1000 bytes, these 900 values take ")


def test_every_instruction_set_writes_the_same():
    code = """
import hashlib
from helpers import words
from test_page import encode
print(hashlib.sha256(b"".join(page.data for page in encode([words(8, 5000)], page_bytes=5000))).hexdigest())
"""
    assert len({run_python(code, FSST_FORCE_ISA=isa) for isa in ("", "baseline")}) == 1


# --- Pages of DELTA_LENGTH_BYTE_ARRAY ----------------------------------------------------------

BY_LENGTH = "delta_length_byte_array"


@given(st.lists(st.binary(max_size=40), max_size=300), st.integers(1, 100))
def test_pages_of_columns_that_fell_back_are_read(values, page_rows):
    encoder = PageEncoder(page_rows=page_rows)
    encoder.add(pa.array(values, pa.binary()))
    column = encoder.finish()
    got = [
        value
        for page in column
        for value in decode_data_page(
            page.data, column.symbol_table, page.values, encoding=column.encoding, compressed=False
        ).to_pylist()
    ]
    assert got == values


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)],
    ids=str,
)
def test_values_by_length_come_in_their_type(kind):
    # Lengths 2, 2, 2: block size, miniblocks, count, first, one block of deltas 0; then the bytes.
    data = bytes.fromhex("80 01 04 03 04 00 00 00 00 00") + b"abcdef"
    page = DataPage(data, None, 3, value_type=kind, encoding=BY_LENGTH)
    want = pa.array([b"ab", b"cd", b"ef"]).cast(kind)
    assert page.to_array().equals(want)
    assert page.to_array().type == page.value_type == kind
    assert page.take([2, 0, 0]).to_pylist() == [want[2].as_py(), want[0].as_py(), want[0].as_py()]
    assert page[1].as_py() == want[1].as_py()
    assert len(page) == 3
    assert page.symbol_table is None
    assert repr(page) == f"<fsst.page.DataPage of {kind}: 3 values, no codes>"
    with pytest.raises(IndexError):
        page.take([3])


@pytest.mark.parametrize(
    ("data", "count", "kind", "why"),
    [
        ("", 1, pa.binary(), "data page: integers"),
        ("80 01 04 03 04 00 00 00 00 00 616263646566", 2, pa.binary(), "declares 3 values, not 2"),
        ("80 01 04 03 04 00 00 00 00 00 6162636465", 3, pa.binary(), "take 6 bytes, 5 follow"),
        ("80 01 04 03 04 00 00 00 00 00 61626364656667", 3, pa.binary(), "take 6 bytes, 7 follow"),
        ("80 01 04 01 01", 1, pa.binary(), "value 0 has length -1"),
        # Lengths 2, 2^31 - 1: their sum passes 32 bits.
        ("80 01 04 02 04 faffffff0f 00 00 00 00 6162", 2, pa.binary(), "take 2147483649 bytes, 2 follow"),
        ("80 01 04 03 04 00 00 00 00 00 6162ff646566", 3, pa.string(), "are not string"),
        ("80 01 04 03 04 00 00 00 00 00 616263646566", 3, pa.binary(3), "are not fixed_size_binary"),
        ("80 01 04 ffffffff0f 00 00 00 00 00 00", 2**32 - 1, pa.binary(), "data page: integers"),
    ],
)
def test_values_by_length_are_refused_where_they_lie(data, count, kind, why):
    with pytest.raises(CorruptDataError, match=why):
        decode_data_page(bytes.fromhex(data), None, count, value_type=kind, encoding=BY_LENGTH)


@given(st.binary(max_size=60), st.integers(0, 5))
def test_any_bytes_may_come_as_values_by_length(data, count):
    with suppress(CorruptDataError):
        values = decode_data_page(data, None, count, encoding=BY_LENGTH)
        assert len(values) == count
        assert sum(map(len, values.to_pylist())) <= len(data)


def test_bad_arguments_of_pages_by_length():
    with pytest.raises(ValueError, match="encoding must be"):
        decode_data_page(b"", None, 0, encoding="plain")
    with pytest.raises(TypeError, match="needs a symbol_table"):
        decode_data_page(b"", None, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        decode_data_page(b"", None, -1, encoding=BY_LENGTH)
    with pytest.raises(TypeError, match="value_type"):
        decode_data_page(b"", None, 0, encoding=BY_LENGTH, value_type=pa.int32())
    assert len(decode_data_page(b"", None, 0, encoding=BY_LENGTH)) == 0


def test_numbers_of_values_that_no_page_has():
    table = fsst.SymbolTable([b"ab"])
    page = encode_data_page(fsst.compress(["ab", "abab"], symbol_table=table))
    with pytest.raises(TypeError):
        decode_data_page(page, table, 2.9)
    for count in (2**31, 2**64, 10**30):
        with pytest.raises(CorruptDataError, match=r"^data page"):
            decode_data_page(page, table, count)

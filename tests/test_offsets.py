"""Columns wider than 32-bit offsets, scaled: FSST_TEST_OFFSET_LIMIT makes the limit small in a process."""

import pytest
from helpers import run_python

START = """
import random
import numpy as np, pyarrow as pa, pytest
import fsst
from fsst import FsstError, SymbolTable, codec

LIMIT = 65_535
rng = random.Random(1)
noise = [rng.randbytes(100) for _ in range(400)]       # 40 000 bytes, 80 000 bytes of codes by escapes
EMPTY = SymbolTable()
LONG = SymbolTable([b"abcdefgh"])
def big(value_type):
    three = pa.array(["abcdefgh", None, "x"], pa.string()).cast(value_type)
    return fsst.compress(three, symbol_table=LONG).take(pa.array([0, 1, 2] * 9000))
expected = ["abcdefgh", None, "x"] * 9000              # 81 000 bytes
"""


def scaled(code):
    run_python(START + code, FSST_TEST_OFFSET_LIMIT="65535")


@pytest.mark.case(31)
def test_codes_past_the_limit_widen_the_storage():
    scaled("""
for value_type in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(100)):
    column = fsst.compress(pa.array(noise, value_type), symbol_table=EMPTY)
    assert column.type.storage_type == pa.large_binary(), column.type
    assert fsst.decompress(column).equals(pa.array(noise, value_type))
    assert column[399].as_py() == noise[399]
""")


def test_codes_below_the_limit_do_not():
    # The worst case would pass it: 2 x 40 000 bytes.
    scaled("""
rows = pa.array(["abcdefgh" * 5] * 999 + [None])
column = fsst.compress(rows, symbol_table=LONG)
assert column.type.storage_type == pa.binary()
assert column.storage.offset == 0 and column.storage.null_count == 1
assert fsst.decompress(column).equals(rows)
""")


def test_all_chunks_are_as_wide_as_the_widest():
    scaled("""
chunks = pa.chunked_array([noise[:3], noise, [], [None, b"x"]], pa.binary())
for threads in (1, 2):
    column = fsst.compress(chunks, symbol_table=EMPTY, threads=threads)
    assert column.type.storage_type == pa.large_binary()
    assert column.num_chunks == 4
    assert fsst.decompress(column).equals(chunks)
""")


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_text_past_the_limit_is_an_error_that_says_what_helps(kind):
    scaled(f"""
column = big(pa.{kind}())
with pytest.raises(FsstError, match="81000 bytes.*65535.*large_{kind}") as caught:
    fsst.decompress(column)
assert "large=True" in str(caught.value) and "slices" in str(caught.value)
assert len(fsst.decompress(column.slice(0, 20_000))) == 20_000
""")


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_text_past_the_limit_becomes_large_where_that_is_allowed(kind):
    scaled(f"""
column = big(pa.{kind}())
plain = fsst.decompress(column, large=True)
assert plain.type == pa.large_{kind}()
assert plain.equals(pa.array(expected).cast(pa.large_{kind}()))
small = fsst.decompress(column.slice(0, 5), large=True)
assert small.type == pa.{kind}(), "nothing needs to be large here"
assert column.to_pylist() == plain.to_pylist()
column.validate(full=True)
assert len(column.to_numpy()) == 27_000
assert column.cast(pa.large_{kind}()).equals(plain)
""")


def test_large_strings_stay_what_they_are():
    scaled("""
for value_type in (pa.large_string(), pa.large_binary()):
    plain = fsst.decompress(big(value_type))
    assert plain.equals(pa.array(expected).cast(value_type))
""")


@pytest.mark.case(32)
def test_views_are_split_over_buffers():
    # cases.md, case 32.
    scaled("""
for value_type in (pa.string_view(), pa.binary_view()):
    long = fsst.compress(pa.array(["abcdefgh" * 2, None], pa.string()).cast(value_type), symbol_table=LONG)
    column = long.take(pa.array([0, 1, 0] * 4000 + [1]))
    plain = fsst.decompress(column)
    assert plain.type == value_type
    plain.validate(full=True)
    assert plain.equals(pa.array(["abcdefgh" * 2, None, "abcdefgh" * 2] * 4000 + [None]).cast(value_type))
    assert len(plain.buffers()) >= 2 + 2
    assert max(len(buffer) for buffer in plain.buffers()[2:]) <= LIMIT
    assert column.to_pylist() == plain.to_pylist()
""")


def test_one_row_that_no_view_holds_is_an_error():
    scaled("""
column = fsst.compress(pa.array(["abcdefgh" * 9000, "x"], pa.string_view()), symbol_table=LONG)
for large in (False, True):
    with pytest.raises(FsstError, match="72000 bytes") as caught:
        fsst.decompress(column, large=large)
    assert not large or "large=True" not in str(caught.value), "it has been passed"
assert column[1].as_py() == "x" and len(column[0].as_py()) == 72_000
""")


def test_chunks_become_large_together():
    scaled("""
column = big(pa.string())
chunked = pa.chunked_array([column.slice(0, 3), column, column.slice(0, 0)])
plain = fsst.decompress(chunked, large=True)
assert plain.type == pa.large_string() and plain.num_chunks == 3
assert plain.to_pylist() == expected[:3] + expected
table = fsst.decompress(pa.table({"x": chunked, "n": range(27_003)}), large=True)
assert table.schema.field("x").type == pa.large_string()
with pytest.raises(FsstError, match="large_string"):
    fsst.decompress(chunked)
""")


@pytest.mark.case(34)
def test_pieces_that_fit_one_by_one_stay_chunks():
    # cases.md, case 34: three chunks that fit, but not together.
    scaled("""
column = big(pa.string()).slice(0, 15_000)
chunked = pa.chunked_array([column] * 3)
plain = fsst.decompress(chunked)
assert plain.type == pa.string() and plain.num_chunks == 3
assert plain.to_pylist() == expected[:15_000] * 3
with pytest.raises(FsstError, match="large_string"):
    fsst.decompress(chunked.combine_chunks())
""")


def test_leaves_of_nested_columns_become_large():
    scaled("""
column = big(pa.string())
lists = pa.ListArray.from_arrays(pa.array([0, 10, 27_000], pa.int32()), column)
plain = fsst.decompress(lists, large=True)
assert plain.type == pa.list_(pa.large_string())
assert plain.to_pylist() == [expected[:10], expected[10:]]
with pytest.raises(FsstError, match="large_string"):
    fsst.decompress(lists)
""")


def test_fixed_size_binary_past_the_limit():
    scaled("""
rows = pa.array([b"abcdefgh", None] * 9000, pa.binary(8))
column = fsst.compress(rows)
assert fsst.decompress(column).equals(rows)
every_other = column.take(pa.array(range(0, 18_000, 2)))
assert fsst.decompress(every_other).equals(pa.array([b"abcdefgh"] * 9000, pa.binary(8)))
""")


def test_compressing_anew_past_the_limit():
    scaled("""
column = fsst.compress(big(pa.string()), symbol_table=EMPTY)
assert column.value_type == pa.string() and column.type.storage_type == pa.large_binary()
assert column.to_pylist() == expected
""")


def test_the_repr_of_long_rows_calls_nothing_corrupt():
    scaled("""
column = fsst.compress(pa.array(["abcdefgh" * 900] * 20), symbol_table=LONG)
assert "corrupt" not in repr(column) and "corrupt" not in column._repr_html_()
assert "abcdefgh" in repr(column)
""")


def test_codec_widens_offsets_or_says_what_to_pass():
    scaled("""
codes, offsets = codec.compress(LONG, b"abcdefgh" * 1000, np.array([0, 8000], np.int32))
assert offsets.dtype == np.int32
text, text_offsets = codec.decompress(LONG, bytes(9000), np.array([0, 4000, 9000], np.int32))
assert text_offsets.dtype == np.int64 and text_offsets.tolist() == [0, 32_000, 72_000]
assert text.tobytes() == b"abcdefgh" * 9000
with pytest.raises(ValueError, match="72000.*int64"):
    codec.decompress(LONG, bytes(9000), np.array([0, 9000], np.int32), out_offsets=np.zeros(2, np.int32))
wide = np.zeros(2, np.int64)
text, _ = codec.decompress(LONG, bytes(9000), np.array([0, 9000], np.int32), out_offsets=wide)
assert len(text) == 72_000 == wide[1]

codes, offsets = codec.compress(LONG, b"abcdefgh" * 9000, np.array([0, 72_000], np.int32))
assert offsets.dtype == np.int64 and offsets.tolist() == [0, 9000]
with pytest.raises(ValueError, match="144000.*int64"):
    narrow = np.zeros(2, np.int32)
    codec.compress(LONG, b"abcdefgh" * 9000, np.array([0, 72_000], np.int32), out_offsets=narrow)
""")


def test_the_limit_is_what_32_bits_hold_by_default():
    run_python("""
import numpy as np
from fsst import SymbolTable, codec
rows = np.array([0, 70_000], np.int32)
codes, offsets = codec.compress(SymbolTable(), bytes(70_000), rows)
assert offsets.dtype == np.int32 and offsets.tolist() == [0, 140_000]
""")


# --- Picked rows, searches, pages, files -------------------------------------------------------


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_picked_rows_past_the_limit_are_an_error_that_says_what_helps(kind):
    scaled(f"""
column = big(pa.{kind}())
rows = list(range(0, 27_000, 3))                       # 72 000 bytes
with pytest.raises(FsstError, match="72000 bytes.*{kind}.*take fewer"):
    column.decompress_rows(rows)
assert column.decompress_rows(rows[:8000]).to_pylist() == ["abcdefgh" if "{kind}" == "string" else b"abcdefgh"] * 8000
# Taken, they stay compressed, however much text they are.
assert fsst.decompress(column.take(pa.array(rows)), large=True).type == pa.large_{kind}()
""")


def test_picked_rows_of_types_that_hold_more():
    scaled("""
rows = list(range(27_000))
for value_type in (pa.large_string(), pa.large_binary(), pa.string_view()):
    picked = big(value_type).decompress_rows(rows)
    assert picked.type == value_type and picked.equals(pa.array(expected).cast(value_type))
""")


def test_columns_are_joined_past_the_limit():
    scaled("""
half = fsst.compress(pa.array(noise[:200], pa.binary()), symbol_table=EMPTY)      # 40 000 bytes of codes
assert half.type.storage_type == pa.binary()
both = pa.concat_arrays([half, half])                  # pyarrow's own limit is the real one
assert both.type.storage_type == pa.binary()
assert fsst.decompress(both).to_pylist() == noise[:200] * 2
""")


def test_narrow_and_wide_columns_are_read_alike():
    scaled("""
import fsst.compute as fc
narrow, wide = big(pa.string()), big(pa.large_string())
storage = narrow.storage.cast(pa.large_binary())
stored_wide = fsst.FsstArray.from_storage(fsst.FsstType(LONG, pa.string(), pa.large_binary()), storage)
for column in (narrow, wide, stored_wide):
    lengths = fc.binary_length(column)
    assert lengths.type == (pa.int64() if column is wide else pa.int32())
    assert lengths.to_pylist() == [8, None, 1] * 9000
    assert fc.utf8_length(column).to_pylist() == [8, None, 1] * 9000
    assert fc.match_substring(column, "cde").to_pylist() == [True, None, False] * 9000
    found = fc.find_substring(column, "cde")
    assert found.type == lengths.type and found.to_pylist() == [2, None, -1] * 9000
    assert fc.count_substring(column, "e").to_pylist() == [1, None, 0] * 9000
    assert fc.equal(column, "x").to_pylist() == [False, None, True] * 9000
    assert fc.match_like(column, "%b_d%").to_pylist() == [True, None, False] * 9000
    assert fc.starts_with(column, "ab").to_pylist() == [True, None, False] * 9000
    assert fc.is_in(column, pa.array(["x"], column.value_type)).to_pylist() == [False, False, True] * 9000
    assert fc.unique(column).to_pylist() == ["abcdefgh", None, "x"]
    assert fc.dictionary_encode(column).indices.to_pylist() == [0, None, 1] * 9000
    assert fc.sort_indices(column)[0].as_py() == 0
    assert column.reader()[26_999] == "x" and column.stats().text_bytes == 81_000
""")


def test_distinct_values_past_the_limit():
    scaled("""
import fsst.compute as fc
rows = [f"{i:08}" for i in range(9000)]                # 72 000 bytes, none twice
column = fsst.compress(pa.array(rows))
for work in (fc.unique, fc.dictionary_encode, fc.value_counts):
    with pytest.raises(FsstError, match="72000 bytes"):
        work(column)
    assert len(work(column.slice(0, 8000))) == 8000
""")


def test_one_row_past_the_limit_is_an_error_in_a_run():
    scaled("""
import fsst.compute as fc
column = fsst.compress(pa.array(["abcdefgh" * 9000, "x"]), symbol_table=LONG)
assert fc.match_substring(column, "ha").to_pylist() == [True, False]
assert fc.binary_length(column).to_pylist() == [72_000, 1]
with pytest.raises(FsstError, match="72001 bytes"):
    fc.less(column, "x")
assert column.reader()[0] == column[0].as_py() == "abcdefgh" * 9000
""")


def test_pages_end_at_the_limit():
    scaled("""
from fsst import page
encoder = page.PageEncoder(symbol_table=EMPTY, page_bytes=2**31 - 1, fallback=False)
encoder.add(pa.array(noise, pa.binary()))              # 80 000 bytes of codes
column = encoder.finish()
assert len(column) == 2 and max(column.page_sizes) <= LIMIT < sum(column.page_sizes)
rows = [value for p in column for value in page.decode_data_page(p.data, EMPTY, p.values, compressed=False).to_pylist()]
assert rows == noise
whole = fsst.compress(pa.array(noise, pa.binary()), symbol_table=EMPTY)
with pytest.raises(ValueError, match="a page holds at most 65535 bytes, these 400 values take 80"):
    page.encode_data_page(whole)
""")


def test_a_page_whose_text_passes_the_limit():
    scaled("""
from fsst import page
column = big(pa.binary())
data = page.encode_data_page(column.drop_null())       # 18 000 values
plain = page.decode_data_page(data, LONG, 18_000, compressed=False)
assert plain.type == pa.large_binary() and plain.to_pylist() == [b"abcdefgh", b"x"] * 9000
compressed = page.decode_data_page(data, LONG, 18_000)
assert compressed.type.storage_type == pa.binary() and len(compressed.take([1])) == 1
""")


def test_parquet_columns_past_the_limit_widen():
    scaled("""
import fsst.parquet
file = pa.BufferOutputStream()
table = pa.table({"x": pa.array(noise, pa.binary())})
fsst.parquet.write_table(table, file, columns=["x"], symbol_table=EMPTY, row_group_size=300, data_page_size=4096)
file = file.getvalue()
with fsst.parquet.ParquetFile(file) as parquet:        # row groups of 60 000 and 20 000 bytes of codes
    assert parquet.num_row_groups == 2 and parquet.fsst_columns == ["x"]
    assert parquet.read()["x"].to_pylist() == noise
    column = parquet.read(compressed=True)["x"]
    assert fsst.decompress(column).to_pylist() == noise
    assert {chunk.type.storage_type for chunk in column.chunks} == {column.type.storage_type}
    taken = parquet.take(list(range(399, -1, -1)), compressed=True)["x"]
    assert taken.to_pylist() == noise[::-1]
# A row group whose codes pass the limit, beside one whose codes do not.
file = pa.BufferOutputStream()
table = pa.table({"x": pa.array(noise + noise[:10], pa.binary())})
fsst.parquet.write_table(table, file, columns=["x"], symbol_table=EMPTY, row_group_size=400, data_page_size=4096)
file = file.getvalue()
column = fsst.parquet.read_table(file, compressed=True)["x"]
assert column.type.storage_type == pa.large_binary()
assert fsst.decompress(column).to_pylist() == noise + noise[:10]
plain = pa.BufferOutputStream()
fsst.parquet.transcode(file, plain, encoding="plain")
import pyarrow.parquet as pq
assert pq.read_table(plain.getvalue())["x"].to_pylist() == noise + noise[:10]
""")


def test_a_parquet_page_past_the_limit_stays_as_it_is_or_is_an_error():
    scaled("""
import fsst.parquet
import pyarrow.parquet as pq
# A plain page below the limit whose codes pass it stays plain; of text that passes it none can be made.
source = pa.BufferOutputStream()
table = pa.table({"x": pa.array(noise[:400], pa.binary())})
pq.write_table(table, source, use_dictionary=False, data_page_size=2**30, compression="none")
file = pa.BufferOutputStream()
fsst.parquet.transcode(source.getvalue(), file, ["x"], symbol_table=EMPTY, only_if_smaller=False)
with fsst.parquet.ParquetFile(file.getvalue()) as parquet:
    assert parquet.fsst_columns == [] and parquet.read().equals(table)
file = pa.BufferOutputStream()
table = pa.table({"x": pa.array([b"abcdefgh"] * 9000, pa.binary())})
fsst.parquet.write_table(table, file, columns=["x"], symbol_table=LONG, data_page_size=2**30)
assert fsst.parquet.read_table(file.getvalue(), compressed=True)["x"].to_pylist() == [b"abcdefgh"] * 9000
with pytest.raises(FsstError, match="65535"):
    fsst.parquet.transcode(file.getvalue(), pa.BufferOutputStream(), encoding="plain")
""")

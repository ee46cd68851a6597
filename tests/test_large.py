"""Columns that do pass 2 GiB; everything else tests that scaled down (test_offsets.py). Run with ``-m large``."""

import pytest
from helpers import run_python

PROGRAM = """
import resource
import numpy as np, pyarrow as pa, pytest
import fsst, fsst.compute as fc
from fsst import FsstError, SymbolTable, codec
from helpers import words

def column_of(value_type, data, ends):
    return pa.Array.from_buffers(value_type, len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

# --- 2.3 GiB of text, 24.6 million rows of 100 bytes, codes below 2 GiB. The last row alone has the needle.
piece = "".join(words(1, 60_000)).encode()[:1_000_000]
text = np.tile(np.frombuffer(piece, np.uint8), 2460)
text[-100:-90] = list(b"Needle No1")
ends = np.arange(0, len(text) + 1, 100)
count = len(ends) - 1
assert len(text) > 2**31
plain = column_of(pa.large_string(), text, ends)
column = fsst.compress(plain)
assert column.type.storage_type == pa.binary() and len(column.storage.buffers()[2]) < 2**31
assert fsst.decompress(column).equals(plain)

found = np.flatnonzero(np.asarray(fc.match_substring(column, "Needle No")))
assert found.tolist() == [count - 1]
assert fc.find_substring(column, "No1")[-1].as_py() == 7
assert column.reader()[count - 1].startswith("Needle No1")
assert column.decompress_rows([count - 1, 0]).to_pylist() == [plain[count - 1].as_py(), plain[0].as_py()]
assert set(np.asarray(fc.binary_length(column.slice(count - 1000)))) == {100}

# The same codes as a string column: narrow results are refused, large ones made.
narrow = fsst.FsstArray.from_storage(fsst.FsstType(column.symbol_table, pa.string(), pa.binary()), column.storage)
with pytest.raises(FsstError, match=f"{len(text)} bytes.*{2**31 - 1}.*large_string"):
    fsst.decompress(narrow)
large = fsst.decompress(narrow, large=True, threads=2)
assert large.type == pa.large_string() and large.equals(plain)
del large
with pytest.raises(FsstError, match=f"{len(text)} bytes.*take fewer"):
    narrow.decompress_rows(np.arange(count))
assert fsst.decompress(narrow.slice(count - 10)).to_pylist() == plain.slice(count - 10).to_pylist()

# Offsets of 4 bytes as far as they go: the last at 2**31 - 48.
first = (2**31 - 1) // 100 * 100
few = ends[: first // 100 + 1].astype(np.int32)
codes, code_ends = codec.compress(column.symbol_table, text[:first], few, threads=2)
assert code_ends.dtype == np.int64
back, back_ends = codec.decompress(column.symbol_table, codes, code_ends)
assert back_ends.dtype == np.int32 and back_ends[-1] == first and np.array_equal(np.asarray(back), text[:first])
print(f"text past 2 GiB, peak {peak():.1f} GiB", flush=True)
del text, ends, plain, column, narrow, codes, code_ends, back, back_ends, few

# --- 1.1 GiB that does not compress: codes of 2.2 GiB, in one value of 1.05 GiB and small ones.
noise = np.random.default_rng(0).integers(0, 2**64, 1_200_000_000 // 8, dtype=np.uint64).view(np.uint8)
ends = np.concatenate([[0, 1_100_000_000], np.arange(1_100_000_100, len(noise) + 1, 100)])
plain = column_of(pa.large_binary(), noise, ends)
column = fsst.compress(plain, symbol_table=SymbolTable())
assert column.type.storage_type == pa.large_binary()
assert len(column.storage.buffers()[2]) == 2 * len(noise) > 2**31
assert fsst.decompress(column).equals(plain)
assert column.reader()[len(column) - 1] == plain[len(plain) - 1].as_py()
last = noise[-20:].tobytes()
assert np.flatnonzero(np.asarray(fc.ends_with(column, last))).tolist() == [len(column) - 1]
narrow = column_of(pa.binary(), noise, ends.astype(np.int32))
assert fsst.compress(narrow, symbol_table=SymbolTable()).type.storage_type == pa.large_binary()
print(f"codes past 2 GiB, peak {peak():.1f} GiB")
assert peak() < 9
"""


@pytest.mark.large
def test_columns_of_more_than_2_gib() -> None:
    print(run_python(PROGRAM, timeout=600))

"""Same input: same table and same codes, whatever the process, the threads, the chunks and the neighbours."""

import functools

import numpy as np
import pyarrow as pa
import pytest
import strategies
from helpers import VALUE_TYPES, join, run_python, split, words
from hypothesis import given
from hypothesis import strategies as st

import fsst
from fsst import SymbolTable, codec

# About 2 MB: enough for several threads to have a part.
BIG = words(4, 100_000)

FINGERPRINT = """
import hashlib
import pyarrow as pa
import fsst
from helpers import words
rows = words(4, 100_000)
rows[5::7] = [None] * len(rows[5::7])
digest = hashlib.sha256()
for effort in ("fast", "default", "max"):
    column = fsst.compress(pa.array(rows), effort=effort, threads=THREADS)
    digest.update(column.type.__arrow_ext_serialize__())
    for buffer in column.storage.buffers():
        digest.update(buffer.to_pybytes())
    assert fsst.decompress(column, threads=THREADS).equals(pa.array(rows))
print(digest.hexdigest())
"""


def fingerprint(threads, **env):
    return run_python(f"THREADS = {threads}\n" + FINGERPRINT, **env)


@functools.cache
def usual_fingerprint():
    return fingerprint(1, PYTHONHASHSEED="0")


@pytest.mark.kind(16)
@pytest.mark.parametrize(
    ("threads", "env"),
    [
        (2, {"PYTHONHASHSEED": "1"}),
        (5, {"PYTHONHASHSEED": "random", "MALLOC_PERTURB_": "85"}),
        (3, {"FSST_FORCE_ISA": "baseline"}),
    ],
    ids=["2 threads", "5 threads", "baseline"],
)
def test_processes_agree(threads, env):
    assert fingerprint(threads, **env) == usual_fingerprint()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_threads_agree(dtype):
    rows = [row.encode() for row in BIG] + [b""] * 1000 + [b"x" * 700_000, b""]
    text, offsets = join(rows, dtype, 3)
    table = SymbolTable([b"e", b"s", b"st", b"th", b"the", b"xxxx"])
    codes, ends = codec.compress(table, text, offsets)
    assert split(codes, ends)[:50] == [table.compress(row) for row in rows[:50]]
    for threads in (2, 3, 7, 64):
        again, again_ends = codec.compress(table, text, offsets, threads=threads)
        assert again.tobytes() == codes.tobytes() and again_ends.tobytes() == ends.tobytes()
        plain, plain_offsets = codec.decompress(table, codes, ends, threads=threads)
        assert plain.tobytes() == text[3:] and (plain_offsets == offsets - 3).all()


@given(case=strategies.tables_and_rows(), order=st.randoms())
def test_codes_depend_on_the_string_and_the_table_alone(case, order):
    symbols, rows = case
    table = SymbolTable(symbols)
    alone = {row: table.compress(row) for row in rows}
    shuffled = rows * 2
    order.shuffle(shuffled)
    codes, offsets = codec.compress(table, *join(shuffled))
    assert split(codes, offsets) == [alone[row] for row in shuffled]


def test_equal_strings_have_equal_codes_wherever_they_stand():
    rows = ([*BIG[:500], "the same"]) * 40
    column = fsst.compress(pa.array(rows))
    codes = {}
    for row, stored in zip(rows, column.storage.to_pylist(), strict=True):
        assert codes.setdefault(row, stored) == stored
    assert len(set(codes.values())) == len(codes)


@pytest.mark.kind(18)
def test_chunks_do_not_matter():
    rows = [None if row % 11 == 0 else text for row, text in enumerate(BIG)]
    whole = fsst.compress(pa.array(rows))
    sizes = [0, 1, 2, 999, 0, 50_000, len(rows)]
    pieces, start = [], 0
    for size in sizes:
        pieces.append(pa.array(rows[start : start + size], pa.string()))
        start += size
    chunked = fsst.compress(pa.chunked_array(pieces))
    assert chunked.type == whole.type
    assert chunked.combine_chunks().equals(whole)
    # Nor do slices of something larger.
    sliced = fsst.compress(pa.array(["before", *rows, "after"]).slice(1, len(rows)))
    assert sliced.equals(whole)


def test_value_types_do_not_matter():
    rows = pa.array(BIG[:5000])
    whole = fsst.compress(rows)
    for value_type in VALUE_TYPES:
        column = fsst.compress(rows.cast(value_type))
        assert column.symbol_table == whole.symbol_table
        assert column.storage.equals(whole.storage)
    assert fsst.compress(rows.dictionary_encode()).equals(whole)
    assert fsst.compress(rows.to_pylist()).equals(whole)
    assert codec.train(*join([row.encode() for row in BIG[:5000]])) == whole.symbol_table


def test_training_twice_gives_one_table():
    for effort in ("fast", "default", "max"):
        tables = {fsst.train(pa.array(BIG), effort=effort) for _ in range(3)}
        assert len(tables) == 1


def test_nulls_do_not_count():
    with_nulls = [value for row in BIG[:5000] for value in (row, None)]
    assert fsst.train(with_nulls) == fsst.train(BIG[:5000])

"""References and buffers: no call leaks, buffers outlive what made them, and a child process can go on."""

import gc
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from helpers import ipc, run_python, words

import fsst
import fsst.compute as fc
import fsst.page
import fsst.parquet
from fsst import SymbolTable, codec

LEAKS = """
import gc, os, pickle, sys, tracemalloc
import numpy as np, pyarrow as pa
import fsst, fsst.compute as fc, fsst.delta, fsst.page, fsst.parquet
from fsst import CorruptDataError, SymbolTable, _core, codec
from helpers import words

rows = words(1, 40)
plain = pa.array(rows + [None])
column = fsst.compress(plain)
table = column.symbol_table
text = "".join(rows).encode()
ends = np.cumsum([0] + [len(row) for row in rows], dtype=np.int32)
codes, code_ends = codec.compress(table, text, ends)
reader = column.reader()
data = table.to_bytes()
numbers = np.arange(100, dtype=np.int64)
deltas = fsst.delta.delta_encode(numbers)
file = pa.BufferOutputStream()
fsst.parquet.write_table(pa.table({"x": plain}), file, columns=["x"])
file = file.getvalue()
other = SymbolTable([b"ab"])
dense = column.slice(0, 40)
page = fsst.page.encode_data_page(dense)

def refused(work):
    def call():
        try:
            work()
        except (ValueError, TypeError, IndexError):
            return
        raise AssertionError("taken")
    return call

KINDS = {
    # name: (calls, work)
    "a string": (100_000, lambda: table.decompress(table.compress(b"the cat sat on the mat"))),
    "a long string": (20_000, lambda: table.decompress(table.compress(text * 2))),
    "a corrupt string": (100_000, refused(lambda: other.decompress(b"\\x07"))),
    "a symbol table": (20_000, lambda: SymbolTable.from_bytes(data).to_bytes()),
    "a bad symbol table": (100_000, refused(lambda: SymbolTable.from_bytes(data[:-1]))),
    "buffers": (100_000, lambda: codec.compress(table, text, ends)),
    "buffers back": (100_000, lambda: codec.decompress(table, codes, code_ends)),
    "buffers that are refused": (100_000, refused(lambda: codec.decompress(table, codes, code_ends[::-1].copy()))),
    "training": (2_000, lambda: codec.train(text, ends)),
    "a row": (100_000, lambda: reader[7]),
    "a null": (100_000, lambda: reader[40]),
    "a reader": (100_000, lambda: column.reader()),
    "a column": (10_000, lambda: fsst.compress(plain, symbol_table=table)),
    "a column back": (10_000, lambda: fsst.decompress(column)),
    "picked rows": (10_000, lambda: column.decompress_rows([1, 3])),
    "a slice": (10_000, lambda: column.slice(3, 5).take([1])),
    "a pickle": (5_000, lambda: pickle.loads(pickle.dumps(column))),
    "a search": (50_000, lambda: fc.match_substring(column, "the")),
    "a search, long": (20_000, lambda: fc.match_substring(column, "the " * 20, ignore_case=True)),
    "a count": (20_000, lambda: fc.count_substring(column, "e")),
    "a comparison": (20_000, lambda: fc.equal(column, rows[3])),
    "a pattern": (20_000, lambda: fc.match_like(column, "%a_t%")),
    "lengths": (100_000, lambda: fc.utf8_length(column)),
    "integers": (100_000, lambda: fsst.delta.delta_decode(fsst.delta.delta_encode(numbers), dtype=np.int64)),
    "integers cut": (100_000, refused(lambda: fsst.delta.delta_decode(deltas[:-1], dtype=np.int64))),
    "a page": (10_000, lambda: fsst.page.decode_data_page(fsst.page.encode_data_page(dense), table, 40)),
    "a page cut": (10_000, refused(lambda: fsst.page.decode_data_page(page[:-1], table, 40))),
    "a Parquet file": (500, lambda: fsst.parquet.read_table(file)),
    "a Parquet file's rows": (500, lambda: fsst.parquet.ParquetFile(file).take([3])),
    "a written Parquet file": (
        400, lambda: fsst.parquet.write_table(pa.table({"x": plain}), pa.BufferOutputStream(), columns=["x"])),
}

def memory():
    gc.collect()
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE"), sys.getallocatedblocks()

held = [table, column, codes, code_ends, reader, data, text, ends, numbers, plain, other, file]
for name, (calls, work) in KINDS.items():
    # Python's and pyarrow's own lists of free blocks settle after some 250 written files, then grow no more.
    for _ in range(calls // 10 + 300):
        work()
    counts = [sys.getrefcount(each) for each in held]
    bytes_before, blocks_before = memory()
    for _ in range(calls):
        work()
    bytes_after, blocks_after = memory()
    assert [sys.getrefcount(each) for each in held] == counts, name
    # A block in 100 calls would be a leak of some path (caches grow by a few), 16 bytes a call one of the kernels.
    assert blocks_after - blocks_before < max(200, calls // 100), (name, blocks_after - blocks_before)
    assert bytes_after - bytes_before < max(16 * calls, 1 << 19), (name, bytes_after - bytes_before)
    print(name, calls)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_calls_leak_nothing() -> None:
    assert len(run_python(LEAKS, timeout=600).splitlines()) == 30


# --- Buffers and their producers ---------------------------------------------------------------

ROWS = words(2, 5000)
EXPECTED = pa.array([*ROWS, None])


def churn() -> None:
    """Collect, and overwrite what the allocator has got back."""
    gc.collect()
    junk = [bytearray(b"\xee" * size) for size in (64, 1000, 20_000, 300_000) for _ in range(50)]
    del junk


def made_column() -> fsst.FsstArray:
    return fsst.compress(EXPECTED)


def test_a_column_needs_neither_its_text_nor_the_table_object() -> None:
    text = pa.array([*ROWS, None])
    column = fsst.compress(text)
    del text
    churn()
    assert fsst.decompress(column).equals(EXPECTED)


def test_a_reader_holds_its_column() -> None:
    column = made_column()
    reader = column.reader()
    del column
    churn()
    assert list(reader) == EXPECTED.to_pylist()


def test_an_iterator_holds_its_reader() -> None:
    rows = iter(made_column().reader())
    churn()
    assert list(rows) == EXPECTED.to_pylist()


def test_a_scalar_and_its_codes_outlive_the_column() -> None:
    column = made_column()
    scalar, codes = column[7], column[7].value.as_buffer()
    want = codes.to_pybytes()
    del column
    churn()
    assert scalar.as_py() == ROWS[7] and codes.to_pybytes() == want


def test_what_codec_returns_outlives_its_inputs() -> None:
    table = SymbolTable([b"ab", b"c"])
    codes, ends = codec.compress(table, bytearray(b"abc" * 1000), np.arange(0, 3001, 3))
    text, text_ends = codec.decompress(table, codes, ends)
    view = memoryview(text)
    del table, codes, ends, text
    churn()
    assert view.tobytes() == b"abc" * 1000 and text_ends[-1] == 3000


def test_a_given_output_is_held_while_its_result_is() -> None:
    room = bytearray(6000)
    codes, _ = codec.compress(SymbolTable([b"ab"]), b"ab" * 1000, np.array([0, 2000]), out=room)
    view = memoryview(codes)
    with pytest.raises(BufferError):
        room.extend(b"x")
    assert view.tobytes() == bytes(1000)
    view.release()
    del view, codes
    gc.collect()
    room.extend(b"x")


def test_arguments_are_let_go() -> None:
    # Also by calls that fail: a bytearray that somebody holds cannot grow.
    table = SymbolTable([b"ab"])
    text, ends = bytearray(b"abab"), np.array([0, 4])
    codec.compress(table, text, ends)
    for bad in (np.array([0, 5]), np.array([3, 2]), np.array([-1, 2])):
        with pytest.raises(ValueError):
            codec.compress(table, text, bad)
        with pytest.raises(ValueError):
            codec.decompress(table, text, bad)
    with pytest.raises(fsst.CorruptDataError):
        table.decompress(text)
    text.extend(b"x")


def test_a_page_outlives_what_encoded_it() -> None:
    page = bytearray(fsst.page.encode_data_page(made_column().slice(0, 5000)))
    table = made_column().symbol_table
    column = fsst.page.decode_data_page(page, table, 5000, value_type=pa.string())
    del page, table
    churn()
    assert fsst.decompress(column).to_pylist() == ROWS


def test_a_mapped_column_outlives_the_map_and_the_file(tmp_path: Path) -> None:
    path = tmp_path / "column.arrow"
    path.write_bytes(ipc(pa.table({"x": made_column()})).to_pybytes())
    with pa.memory_map(str(path)) as source:
        column = pa.ipc.open_file(source).read_all()["x"].chunk(0)
    reader, part = column.reader(), column.slice(10, 10)
    del source, column
    os.unlink(path)
    churn()
    assert list(reader) == EXPECTED.to_pylist()
    assert part.to_pylist() == ROWS[10:20]


def test_parquet_columns_outlive_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    fsst.parquet.write_table(pa.table({"x": EXPECTED}), path, columns=["x"])
    with fsst.parquet.ParquetFile(path, memory_map=True) as file:
        column = file.read(compressed=True)["x"]
        taken = file.take([4999, 0], compressed=True)["x"]
    del file
    os.unlink(path)
    churn()
    assert fsst.decompress(column).combine_chunks().equals(EXPECTED)
    assert taken.to_pylist() == [ROWS[4999], ROWS[0]]


# --- Child processes ---------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is POSIX")
def test_a_forked_child_goes_on() -> None:
    # Threads have been at work before, and are while the fork happens.
    run_python(
        """
import os, signal, threading
import pyarrow as pa
import fsst, fsst.compute as fc
from helpers import words
plain = pa.array(words(1, 100_000))
column = fsst.compress(plain, threads=4)
want = fc.match_substring(column, "the", threads=4)
stop = threading.Event()
def busy():
    while not stop.is_set():
        fsst.decompress(column, threads=3)
others = [threading.Thread(target=busy) for _ in range(2)]
for other in others:
    other.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        good = (
            fsst.compress(plain, threads=4).equals(column)
            and fsst.decompress(column, threads=4).equals(plain)
            and fc.match_substring(column, "the", threads=4).equals(want)
            and column.reader()[5] == plain[5].as_py()
        )
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for other in others:
    other.join()
""",
        ARROW_DEFAULT_MEMORY_POOL="system",
    )


# --- Many threads ------------------------------------------------------------------------------


def test_many_threads_share_a_table_a_column_a_reader_and_a_file(tmp_path: Path) -> None:
    plain = pa.array(words(3, 40_000))
    table = fsst.train(plain)
    column = fsst.compress(plain, symbol_table=table)
    path = tmp_path / "t.parquet"
    fsst.parquet.write_table(pa.table({"x": plain}), path, columns=["x"], row_group_size=10_000)
    reader = column.reader()
    file = fsst.parquet.ParquetFile(path)
    rows = list(range(0, 40_000, 997))
    picked = plain.take(pa.array(rows))
    found = fc.match_substring(column, "the")
    works = [
        lambda: fsst.compress(plain, symbol_table=table, threads=2).equals(column),
        lambda: fsst.decompress(column, threads=2).equals(plain),
        lambda: fc.match_substring(column, "the", threads=2).equals(found),
        lambda: [reader[row] for row in rows] == picked.to_pylist(),
        lambda: column.decompress_rows(rows).equals(picked),
        lambda: file.take(rows)["x"].combine_chunks().equals(picked),
        lambda: file.read(threads=2)["x"].combine_chunks().equals(plain),
        lambda: fsst.train(plain) == table,
        # A new table, whose look-ups all threads want first.
        lambda: fresh[0].decompress(fresh[0].compress(b"the cat" * 9)) == b"the cat" * 9,
    ]
    for _ in range(3):
        fresh = [SymbolTable.from_bytes(table.to_bytes())]
        wrong: list[object] = []
        start = threading.Barrier(2 * len(works))

        def run(work: int, start: threading.Barrier = start, wrong: list[object] = wrong) -> None:
            start.wait()
            try:
                if not works[work]():
                    wrong.append(work)
            except BaseException as error:
                wrong.append((work, error))

        threads = [threading.Thread(target=run, args=(i % len(works),)) for i in range(2 * len(works))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
    file.close()


def test_many_threads_want_what_is_made_at_first_use() -> None:
    # A table's encoder, a column's checked offsets, a file's page index, types and patterns that are cached.
    rows = words(4, 3000)
    plain = pa.array(rows)
    column = fsst.compress(plain)
    symbols = column.symbol_table.to_bytes()
    stream = ipc(pa.table({"x": column}))
    sink = pa.BufferOutputStream()
    fsst.parquet.write_table(pa.table({"x": plain}), sink, columns=["x"], row_group_size=1000)
    encoder = fsst.page.PageEncoder(page_bytes=4096)
    encoder.add(column)
    encoded = encoder.finish()
    pages = [page.data for page in encoded]
    page = fsst.page.DataPage(pages[0], encoded.symbol_table, next(iter(encoded)).values, value_type=pa.string())
    like = pa.array([re.search("t.e", row) is not None for row in rows])
    codes = column.symbol_table.compress("".join(rows[:20]).encode())
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(20):
            table = SymbolTable.from_bytes(symbols)
            arrived = pa.ipc.open_file(stream).read_all()["x"].chunk(0)
            file = fsst.parquet.ParquetFile(sink.getvalue())
            pattern = "%t_e%" + "%" * turn  # not seen before, so in no cache
            wrong: list[object] = []
            start = threading.Barrier(8)

            def run(
                table: SymbolTable = table,
                arrived: fsst.FsstArray = arrived,
                file: fsst.parquet.ParquetFile = file,
                pattern: str = pattern,
                start: threading.Barrier = start,
                wrong: list[object] = wrong,
            ) -> None:
                start.wait()
                try:
                    assert table.compress("".join(rows[:20]).encode()) == codes
                    assert fsst.compress(plain, symbol_table=table).equals(column)
                    assert fc.match_like(arrived, pattern).equals(like)
                    assert arrived[5].as_py() == rows[5] and arrived.take([7]).to_pylist() == [rows[7]]
                    assert file.take([2999, 0])["x"].to_pylist() == [rows[2999], rows[0]]
                    assert [page.data for page in encoded] == pages
                    assert page[1].as_py() == rows[1]
                except BaseException as error:
                    wrong.append(error)

            threads = [threading.Thread(target=run) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert wrong == []
    finally:
        sys.setswitchinterval(interval)

"""Ctrl-C ends long work soon, with nothing half-made: in the middle of one value, on other threads, in training, in
searches, while a file is written.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers import run_python

PROGRAM = """
import numpy as np, pyarrow as pa
import fsst
words = np.random.default_rng(0).integers(97, 117, 1_000_000, dtype=np.uint8).tobytes()
text = words * 400
table = fsst.train([words[:50_000]])
column = pa.Array.from_buffers(
    pa.large_binary(), 1, [None, pa.py_buffer(np.array([0, len(text)], np.int64)), pa.py_buffer(text)]
)
print("go", flush=True)
{work}
print("finished")
"""

WORK = {
    "one value": "fsst.compress(column, symbol_table=table, threads=1)",
    "one value, two threads": "fsst.compress(column, symbol_table=table, threads=2)",
    "a single string": "table.compress(text)",
    "training": "fsst.train(column, effort='max')",
}


# Zeros that nobody writes take no memory, and the first symbol may stand for any text.
SEARCH = """
import numpy as np, pyarrow as pa
import fsst, fsst.compute as fc
def column(symbol, value_type, ends):
    codes = pa.py_buffer(bytes(int(ends[-1])))
    storage = pa.Array.from_buffers(pa.large_binary(), len(ends) - 1, [None, pa.py_buffer(ends), codes])
    kind = fsst.FsstType(fsst.SymbolTable([symbol]), value_type, pa.large_binary())
    return fsst.FsstArray.from_storage(kind, storage)
one = np.array([0, 1_500_000_000])
many = np.arange(0, 2_000_000_001, 100)
some = np.arange(0, 400_000_001, 20)
{setup}
print("go", flush=True)
{work}
print("finished")
"""

SEARCHES = {
    "counting in one value": ("c = column(b'abcdefgh', pa.large_binary(), one)", "fc.count_substring(c, 'hab')"),
    "searching one value": ("c = column(b'abcdefgh', pa.large_binary(), one)", "fc.match_substring(c, 'ab' * 30)"),
    "LIKE": ("c = column(b'abcdefgh', pa.large_binary(), some)", "fc.match_like(c, '%ha%x_y%ha%')"),
    "LIKE that goes back and forth": (
        "c = column(b'aaaaaaaa', pa.large_binary(), np.array([0, 5_000_000]))",
        "fc.match_like(c, '%' + 'a' * 3000 + '_b%')",
    ),
    "lengths": ("c = column('\u00e9'.encode(), pa.large_string(), many)", "fc.utf8_length(c)"),
    "code counts": ("c = column(b'abcdefgh', pa.large_binary(), many)", "c.stats()"),
    "picking rows": (
        "c = column(b'abc', pa.large_binary(), some); rows = np.zeros(60_000_000, np.int64)",
        "c.decompress_rows(rows)",
    ),
}

PARQUET = """
import sys
import numpy as np, pyarrow as pa
import fsst.parquet
words = pa.array(np.random.default_rng(0).integers(0, 10**12, 2_000_000)).cast(pa.string())
table = pa.table({{f"{{i}}": words for i in range(8)}})
print("go", flush=True)
{work}
print("finished")
"""


def interrupt(program: str, *arguments: str, after: float = 0.1) -> None:
    """Run a program, press Ctrl-C some time after it says go, and see that it ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    assert process.stdout is not None and process.stdout.readline() == "go\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    output, errors = process.communicate(timeout=60)
    took = time.monotonic() - sent
    assert "finished" not in output and errors.strip().endswith("KeyboardInterrupt"), output + errors
    assert took < 1.5  # a second, and what ending the process takes


posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")


@posix
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_ctrl_c_ends_long_work(work: str) -> None:
    interrupt(PROGRAM.format(work=work))


@posix
@pytest.mark.parametrize(("setup", "work"), SEARCHES.values(), ids=SEARCHES.keys())
def test_ctrl_c_ends_long_searches(setup: str, work: str) -> None:
    interrupt(SEARCH.format(setup=setup, work=work))


@posix
@pytest.mark.parametrize("after", [0.3, 1.5])
def test_ctrl_c_leaves_no_half_written_file(tmp_path: Path, after: float) -> None:
    path = tmp_path / "t.parquet"
    work = "fsst.parquet.write_table(table, sys.argv[1], row_group_size=100_000)"
    interrupt(PARQUET.format(work=work), str(path), after=after)
    assert list(tmp_path.iterdir()) == []
    # A file that is there stays as it is.
    path.write_bytes(b"before")
    interrupt(PARQUET.format(work=work), str(path), after=after)
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"before"]


def test_work_goes_on_after_an_interrupt() -> None:
    program = """
import _thread, threading, time
import numpy as np, pyarrow as pa
import fsst
text = np.random.default_rng(0).integers(97, 117, 1_000_000, dtype=np.uint8).tobytes() * 200
table = fsst.train([text[:50_000]])
ends = np.arange(0, len(text) + 1, 1000)
column = pa.Array.from_buffers(pa.large_binary(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(text)])
want = fsst.compress(column, symbol_table=table)
interrupted = 0
for threads in (1, 2, 3):
    timer = threading.Timer(0.05, _thread.interrupt_main)
    timer.start()
    try:
        fsst.compress(column, symbol_table=table, threads=threads)
    except KeyboardInterrupt:
        interrupted += 1
    timer.join()
    assert fsst.compress(column, symbol_table=table, threads=threads).equals(want)
print(interrupted)
"""
    assert run_python(program).strip() == "3"

"""What several test files share."""

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

import fsst

GOLDEN = Path(__file__).parent / "golden"

STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
BINARY_TYPES = [pa.binary(), pa.large_binary(), pa.binary_view()]
VALUE_TYPES = STRING_TYPES + BINARY_TYPES


def join(rows, dtype=np.int32, first=0, after=b""):
    """Rows back to back, and their offsets, which begin at `first`."""
    offsets = np.cumsum([first, *map(len, rows)], dtype=dtype)
    return b"#" * first + b"".join(rows) + after, offsets


def split(data, offsets):
    data = bytes(data)
    return [data[start:end] for start, end in itertools.pairwise(offsets)]


def bitmap(bits):
    return pa.py_buffer(np.packbits(np.array(bits, bool), bitorder="little").tobytes())


def array_over(value_type, validity, rows):
    """An array with offsets, as its buffers say: null rows keep the bytes they are given here."""
    data, offsets = join(rows, np.int64 if "large" in str(value_type) else np.int32)
    buffers = [None if validity is None else bitmap(validity), pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(value_type, len(rows), buffers)


def column_of_codes(symbols, rows, value_type=None, storage_type=None):
    """A compressed column of codes that are handed in, None for a null."""
    storage_type = pa.binary() if storage_type is None else storage_type
    fsst_type = fsst.FsstType(fsst.SymbolTable(symbols), value_type or pa.string(), storage_type)
    return fsst.FsstArray.from_storage(fsst_type, pa.array(rows, storage_type))


def stored_codes(column):
    """The bytes of codes that a column's buffers hold, seen or not."""
    data = column.storage.buffers()[2]
    return b"" if data is None else data.to_pybytes()


def ipc(table_or_batch):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table_or_batch.schema) as writer:
        writer.write(table_or_batch)
    return sink.getvalue()


def words(seed, count, lexicon=200):
    """Seeded text: `count` rows of a few words each."""
    rng = random.Random(seed)
    letters = "etaoinshrdlu"
    known = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(lexicon)]
    return [" ".join(rng.choices(known, k=rng.randint(1, 6))) for _ in range(count)]


def run_python(code, timeout=120, **env):
    """Run `code` in a process of its own, warnings as errors; its output. Fails where it aborts or raises."""
    here = Path(__file__).parent
    paths = [str(here), str(Path(fsst.__file__).parent.parent)]
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **env},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert result.returncode == 0, f"exit {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout

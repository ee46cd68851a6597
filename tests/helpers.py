"""What several test files share."""

import itertools
import os
import random
import struct
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


def foreign_column(fsst_type, offsets, codes, validity=b"", *, rows=None, null_count=None, sizes=None):
    """A column of these buffers as an IPC stream brings it. `pa.Array.from_buffers` would refuse some of them.

    `rows`, `null_count` and `sizes` (of validity, offsets, codes) are what the batch says of itself, by default the
    truth.
    """
    kind = fsst_type.storage_type
    count = len(offsets) - 1
    assert count > 0
    # An honest batch with buffers as long as these; only where there is a null it has a validity.
    honest = pa.array(([None] * count + [b"\0" * len(codes)])[-count:], kind)
    nulls = honest.null_count
    batch = pa.record_batch([fsst.FsstArray.from_storage(fsst_type, honest)], ["column"])
    message = bytearray(batch.serialize())
    # The metadata's length stands at 4, the number of rows 72 bytes before the column's node, its buffers 56 before.
    body = 8 + struct.unpack_from("<i", message, 4)[0]
    node = message.rindex(struct.pack("<2q", count, nulls), 0, body)
    places = list(struct.unpack_from("<6q", message, node - 56))
    assert struct.unpack_from("<q", message, node - 72)[0] == count and places[5] == len(codes)
    struct.pack_into("<q", message, node - 72, count if rows is None else rows)
    unknown = -1 if validity else 0  # pyarrow counts them then
    struct.pack_into(
        "<2q", message, node, count if rows is None else rows, unknown if null_count is None else null_count
    )
    offsets = np.array(offsets, np.int64 if kind == pa.large_binary() else np.int32).tobytes()
    for i, data in enumerate((validity[: places[1]], offsets, codes)):
        message[body + places[2 * i] : body + places[2 * i] + len(data)] = data
        places[2 * i + 1] = len(data) if sizes is None or sizes[i] is None else sizes[i]
    struct.pack_into("<6q", message, node - 56, *places)
    with pa.ipc.open_stream(batch.schema.serialize().to_pybytes() + bytes(message)) as reader:
        return reader.read_next_batch().column(0)


def words(seed, count, lexicon=200):
    """Seeded text: `count` rows of a few words each."""
    rng = random.Random(seed)
    letters = "etaoinshrdlu"
    known = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(lexicon)]
    return [" ".join(rng.choices(known, k=rng.randint(1, 6))) for _ in range(count)]


def environment(**env):
    """For a process that imports the package and these files."""
    here = Path(__file__).parent
    paths = [str(here), str(Path(fsst.__file__).parent.parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **env}


def run_python(code, timeout=120, **env):
    """Run `code` in a process of its own, warnings as errors; its output. Fails where it aborts or raises."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert result.returncode == 0, f"exit {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout

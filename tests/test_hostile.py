"""Damaged inputs of every format, each in a process of its own: a crash is a failed test. See hostile.py."""

import subprocess
import sys
from pathlib import Path

import pytest
from helpers import environment, run_python
from hostile_cases import CASES, PROPERTIES


@pytest.mark.kind(30, 56)
@pytest.mark.parametrize("name", [*CASES, *PROPERTIES])
def test_hostile(name, tmp_path):
    note = tmp_path / "input"
    command = [sys.executable, "-W", "error", Path(__file__).parent / "hostile.py", name, "--note", note]
    result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600, check=False)
    last = note.read_text() if note.exists() else "none"
    assert result.returncode == 0, f"exit {result.returncode}, at {last}\n{result.stdout}{result.stderr}"
    assert "read" in result.stdout or name in PROPERTIES


# What was found, each as a small input of its own: it ended the process, or gave something else than CorruptDataError.
FOUND = {
    "repr of rows beyond the offsets": "repr(longer) and longer._repr_html_() and longer.null_count",
    "repr of rows beyond the validity": "repr(longer_nulls) and longer_nulls.null_count",
    "bytes of rows beyond the offsets": "longer.nbytes",
    "rows beyond the offsets": "longer.to_pylist()",
    "rows beyond the validity": "longer_nulls.to_pylist()",
    "a slice of rows beyond the validity": "longer_nulls[1:].to_pylist()",
    "picked rows beyond the validity": "longer_nulls.decompress_rows([10**7])",
    "least of rows beyond the validity": "fc.min_max(longer_nulls)",
    "lengths of rows beyond the validity": "fc.binary_length(longer_nulls)",
    "an empty needle in very many rows": "fc.match_substring(longer, '')",
    "offsets that lead astray, in a repr": "repr(astray) and astray.nbytes",
    "a struct whose child has a negative length": "fsst.decompress(negative_child)",
    "a list whose offsets decrease": "fsst.decompress(decreasing)",
}


def test_what_was_found():
    """All in one process, where each says that it has passed."""
    output = run_python(
        f"""
import struct
import pyarrow as pa
from helpers import foreign_column
import fsst, fsst.compute as fc
column = fsst.compress(["a", "b", "a"], symbol_table=fsst.SymbolTable([b"a", b"b"]))
longer = foreign_column(column.type, [0, 1, 2, 3], bytes(3), rows=10**9)
longer_nulls = foreign_column(column.type, [0, 1, 2, 3], bytes(3), b"\5", rows=10**9)
astray = foreign_column(column.type, [0, 2**30, 2, 3], bytes(3))
batch = pa.record_batch([pa.StructArray.from_arrays([column], ["s"])], ["x"])
message = bytearray(batch.serialize())
struct.pack_into("<q", message, message.rindex(struct.pack("<2q", 3, 0)), -4)
with pa.ipc.open_stream(batch.schema.serialize().to_pybytes() + bytes(message)) as reader:
    negative_child = reader.read_next_batch().column(0)
offsets = pa.py_buffer(struct.pack("<4i", 0, 3, 1, 3))
decreasing = pa.Array.from_buffers(pa.list_(column.type), 3, [None, offsets], children=[column])
for name, look in {FOUND!r}.items():
    try:
        eval(look)
    except fsst.CorruptDataError:
        print(name, flush=True)
"""
    )
    assert output.splitlines() == list(FOUND)


FAULTS = {
    "an error that is not documented": "raise KeyError('x')",
    "memory": "bytes(1 << 30)",
    "time": "exec('while True: pass')",
    "a crash": "os.abort()",
    "wrong data": "raise Fault('wrong')",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault):
    """The process that looks for faults sees each kind of them."""
    code = f"""
import os
import hostile
from hostile_cases import CASES, Fault
hostile.SECONDS = 1
looked = CASES["delta"].look
def look(seed, data, place):
    if place == 3:
        {FAULTS[fault]}
    return looked(seed, data, place)
CASES["delta"].look = look
hostile.run_tests(hostile.Process(None), ["delta"])
"""
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert fault == "a crash" or "byte 3 of" in result.stdout

"""Ctrl-C ends long work soon, with nothing half-made: in the middle of one value, on other threads, in training."""

import signal
import subprocess
import sys
import time

import pytest

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


@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_ctrl_c_ends_long_work(work: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(work=work)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None and program.stdout.readline() == "go\n"
    time.sleep(0.1)
    program.send_signal(signal.SIGINT)
    sent = time.monotonic()
    output, errors = program.communicate(timeout=60)
    took = time.monotonic() - sent
    assert "finished" not in output and errors.strip().endswith("KeyboardInterrupt"), output + errors
    assert took < 1.5  # a second, and what ending the process takes

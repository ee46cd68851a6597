"""Where memory ends: MemoryError whatever it ends in the middle of, and the process goes on.

What happens inside of csrc when any one of its allocations fails is in tests/native/test_memory.cpp.
"""

import sys

import pytest
from helpers import run_python

pytest.importorskip("resource", reason="limits of this kind are POSIX")

# Allocations of 4 KB and more ask the system, and what is freed goes back to it: the limit then hits them all.
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "4096",
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TOP_PAD_": "0",
    "MALLOC_TRIM_THRESHOLD_": "0",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}

PROGRAM = """
import ctypes, gc, os, resource
import numpy as np, pyarrow as pa
import fsst, fsst.compute as fc, fsst.parquet
from fsst import codec, page
from helpers import words

plain = pa.array(words(1, 60_000))  # 1.4 MB: enough for threads
column = fsst.compress(plain)
table = column.symbol_table
codes = pa.py_buffer(bytes(20_000_000))  # of the first symbol
repeats = fsst.SymbolTable([b"abcdefgh"])
large = pa.Array.from_buffers(pa.binary(), 1, [None, pa.py_buffer(np.array([0, 1_000_000], np.int32)), codes])
large = fsst.FsstArray.from_storage(fsst.FsstType(repeats, pa.binary(), pa.binary()), large)
ends = pa.py_buffer(np.arange(8_000_001, dtype=np.int32))
many = pa.Array.from_buffers(pa.binary(), 8_000_000, [None, ends, codes])
many = fsst.FsstArray.from_storage(fsst.FsstType(repeats, pa.binary(), pa.binary()), many)

def in_parquet(threads):
    file = pa.BufferOutputStream()
    fsst.parquet.write_table(pa.table({{"x": plain}}), file, columns=["x"], threads=threads)
    return fsst.parquet.read_table(file.getvalue(), threads=threads)

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]

def limit(size):
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))

def fill_holes():
    # The heap's free pieces would do for what is small.
    limit(1)
    filled = []
    for size in (1 << 20, 1 << 16, 1 << 12):
        while (at := libc.malloc(size)) is not None:
            filled.append(at)
    limit(resource.RLIM_INFINITY)
    return filled

def sweep(name, work, step, least):
    # Twice, so that what is made once is there.
    work(), work()
    want = work()
    gc.collect()
    filled = fill_holes()
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    refused = done = 0
    more = 0
    while done < 3:
        got = None
        limit(used + more)
        try:
            got = work()
        except MemoryError:
            refused += 1
        else:
            done += 1
        finally:
            limit(resource.RLIM_INFINITY)
        if got is not None:
            assert got == want if isinstance(want, (list, int)) else got.equals(want), (name, more)
        more += step
    for at in filled:
        libc.free(at)
    assert refused >= least, f"{{name}}: refused {{refused}} times, so the limit was none"
    got = work()
    assert got == want if isinstance(want, (list, int)) else got.equals(want), name

{sweeps}
"""

# The work, the step of the limit, and how often at least it must have been hit. Left out are rows by way of pyarrow's
# scalars: `array[i]` of a large value ends the process there, also where nothing is compressed (26.0).
SWEEPS = {
    "compress": ("lambda: fsst.compress(plain, symbol_table=table, threads=1)", 16_384, 100),
    "compress over threads": ("lambda: fsst.compress(plain, symbol_table=table, threads=3)", 16_384, 100),
    "train and compress": ("lambda: fsst.compress(plain)", 16_384, 100),
    "decompress": ("lambda: fsst.decompress(column, threads=1)", 16_384, 50),
    "decompress over threads": ("lambda: fsst.decompress(column, threads=3)", 16_384, 50),
    "pick rows": ("lambda: column.decompress_rows(np.arange(0, len(column), 2))", 16_384, 50),
    "read rows": ("lambda: list(column.reader())", 65_536, 20),
    "search": ("lambda: fc.match_substring(many, 'xyz', threads=2)", 65_536, 10),
    "count": ("lambda: fc.count_substring(column, 'a', ignore_case=True)", 4096, 10),
    "like": ("lambda: fc.match_like(many, '%a_x%')", 65_536, 10),
    "like, a large value": ("lambda: fc.match_like(large, '%a_c%')", 65_536, 100),
    "lengths": ("lambda: fc.utf8_length(column)", 4096, 10),
    "sort": ("lambda: fc.sort_indices(column)", 65_536, 20),
    "a large value": ("lambda: large.reader()[0] == b'abcdefgh' * 1_000_000 and 1", 65_536, 100),
    "Parquet": ("lambda: in_parquet(1)", 65_536, 50),
}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc; the allocator's switches are glibc's")
def test_out_of_memory_is_an_error_and_no_end() -> None:
    sweeps = "\n".join(f"sweep({name!r}, {work}, {step}, {least})" for name, (work, step, least) in SWEEPS.items())
    run_python(PROGRAM.format(sweeps=sweeps), timeout=600, **ENVIRONMENT)


@pytest.mark.parametrize("size", [2**62, 2**61 + 1])
def test_sizes_that_no_memory_has(size: int) -> None:
    # Claimed by a buffer of a few bytes: nothing is allocated before the claim has been checked.
    run_python(f"""
import numpy as np, pytest
from fsst import SymbolTable, codec
with pytest.raises(ValueError, match="past the end"):
    codec.compress(SymbolTable(), b"abc", np.array([0, {size}], np.int64))
with pytest.raises(ValueError, match="past the end"):
    codec.decompress(SymbolTable(), b"abc", np.array([0, {size}], np.int64))
""")

"""DELTA_BINARY_PACKED: against the oracle, against pyarrow's files, and against hostile bytes."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference
from helpers import run_python
from hypothesis import given
from hypothesis import strategies as st

from fsst import CorruptDataError
from fsst.delta import delta_decode, delta_encode

BITS = {np.int32: 32, np.int64: 64}
DTYPES = list(BITS)


def limits(dtype):
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


@st.composite
def integers(draw, max_size=700):
    """A dtype, and values of any spread: constant, ascending, or anything the type holds."""
    dtype = draw(st.sampled_from(DTYPES))
    low, high = limits(dtype)
    size = draw(st.integers(0, max_size))
    seed = draw(st.integers(0, 2**32))
    spread = 1 << draw(st.integers(0, BITS[dtype] - 1))
    values = np.random.default_rng(seed).integers(0, spread, size, dtype)
    if draw(st.booleans()):
        values = np.cumsum(values, dtype=dtype)
    for place in draw(st.lists(st.integers(0, max_size), max_size=3)):
        if place < size:
            values[place] = draw(st.sampled_from([low, high, 0, -1, 1]))
    return dtype, values


@st.composite
def headers(draw):
    """Block size and number of miniblocks, any legal ones, and what writers are free to do."""
    miniblocks = draw(st.integers(1, 9))
    block = 128 * miniblocks * draw(st.integers(1, 3)) if draw(st.booleans()) else 128 * draw(st.integers(1, 5))
    if block % (32 * miniblocks):
        miniblocks = draw(st.sampled_from([1, 2, 4]))
    return {
        "block": block,
        "miniblocks": miniblocks,
        "wider": draw(st.integers(0, 9)),
        "padding": draw(st.sampled_from([0, -1, 0x5555])),
        "unneeded": draw(st.sampled_from([0, 7, 33, 65, 255])),
    }


@given(case=integers())
def test_written_as_by_the_oracle(case):
    dtype, values = case
    encoded = delta_encode(values)
    assert encoded == reference.delta_encode(values.tolist(), BITS[dtype])
    decoded, consumed = delta_decode(encoded + b"\xff\xff", len(values), dtype)
    assert decoded.dtype == dtype and decoded.tolist() == values.tolist() and consumed == len(encoded)


@given(case=integers(), header=headers())
def test_every_legal_header_is_read(case, header):
    dtype, values = case
    encoded = reference.delta_encode(values.tolist(), BITS[dtype], **header)
    for after in (b"", b"\xff" * 9):
        decoded, consumed = delta_decode(encoded + after, dtype=dtype)
        assert decoded.tolist() == values.tolist() and consumed == len(encoded)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_width(dtype):
    low, high = limits(dtype)
    for width in range(BITS[dtype] + 1):
        deltas = [0, (1 << width) - 1, *range(max(0, (1 << width) - 40), 1 << width)][:200]
        for smallest in (0, low, high, -3):
            values = [5]
            for delta in deltas:
                values.append(reference.wrap(values[-1] + smallest + delta, BITS[dtype]))
            encoded = reference.delta_encode(values, BITS[dtype])
            assert delta_decode(encoded, dtype=dtype)[0].tolist() == values
            assert delta_encode(np.array(values, dtype)) == encoded


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 32, 33, 34, 127, 128, 129, 130, 160, 161, 256, 257, 258, 1023, 1024, 1025])
def test_sizes_around_blocks(dtype, size):
    values = (np.arange(size) ** 2 % 1000).astype(dtype)
    encoded = delta_encode(values)
    assert encoded == reference.delta_encode(values.tolist(), BITS[dtype])
    assert delta_decode(encoded, size, dtype)[0].tolist() == values.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [1, 100, 2**31 - 1])
def test_pyarrows_files_hold_the_same(dtype, spread):
    """An independent writer; its blocks have 128 values for int32, 256 for int64."""
    values = np.random.default_rng(3).integers(-spread, spread, 10_000, dtype)
    field = pa.field("n", pa.from_numpy_dtype(dtype), nullable=False)
    file = io.BytesIO()
    pq.write_table(
        pa.table([pa.array(values)], schema=pa.schema([field])),
        file,
        use_dictionary=False,
        compression="none",
        column_encoding="DELTA_BINARY_PACKED",
        write_statistics=False,
    )
    if dtype == np.int32:
        assert delta_encode(values) in file.getvalue()
    header = reference.varint(128 if dtype == np.int32 else 256) + b"\x04" + reference.varint(10_000)
    start = file.getvalue().index(header)
    assert delta_decode(file.getvalue()[start:], 10_000, dtype)[0].tolist() == values.tolist()


def test_a_smallest_delta_of_64_bits_wraps():
    """Some writers compute the deltas of int32 in 64 bits; the sums come out the same."""
    low, high = limits(np.int32)
    wide = reference.varint(128) + b"\4\2" + reference.zigzag(low) + reference.zigzag(high - low) + bytes(4)
    assert delta_decode(wide)[0].tolist() == [low, high]


def test_overlong_varints_are_legal():
    padded = b"\x80\x81\x00" + b"\x84\x80\x00" + b"\x81\x80\x80\x00" + b"\x86\x00"
    assert delta_decode(padded, 1)[0].tolist() == [3]


# --- What is refused ---


def header(block=128, miniblocks=4, count=4, first=0):
    return b"".join(map(reference.varint, (block, miniblocks, count))) + reference.zigzag(first)


BODY = b"\0" * 5
REFUSED = {
    "nothing": (b"", "at byte 0 .*needs 1 bytes, 0 are left"),
    "header cut": (header()[:-1], "at byte 4 "),
    "block 0": (header(block=0) + BODY, "blocks of 0"),
    "block 100": (header(block=100) + BODY, "blocks of 100"),
    "block 2^63": (header(block=2**63) + BODY, "blocks of 9223372036854775808"),
    "no miniblocks": (header(miniblocks=0) + BODY, "0 miniblocks"),
    "3 miniblocks": (header(miniblocks=3) + BODY, "3 miniblocks in blocks of 128"),
    "8 miniblocks": (header(miniblocks=8) + BODY, "8 miniblocks in blocks of 128"),
    "2^64-1 miniblocks": (header(miniblocks=2**64 - 1) + BODY, "18446744073709551615 miniblocks"),
    "widths cut": (header() + b"\0\0\0\0", "at byte 6 .*needs 4 bytes, 3 are left"),
    "width 33": (header() + b"\0\x21\0\0\0" + bytes(200), r"33 bits a value \(byte 6\), int32"),
    "miniblock cut": (header() + b"\0\x20\0\0\0" + bytes(127), "at byte 10 .*needs 128 bytes, 127 are left"),
    "huge miniblock": (header(2**61, 1) + b"\0\x20" + bytes(99), "needs .* bytes, 99 are left"),
    "many miniblocks": (header(2**61, 2**50) + BODY, "needs 1125899906842624 bytes"),
    "first 2^31": (header(first=2**31) + BODY, "2147483648, which is no int32"),
    "varint of 65 bits": (b"\xff" * 9 + b"\x02" + BODY, "integer at byte 0 has more than 64 bits"),
    "varint of 11 bytes": (header()[:-1] + b"\x80" * 10 + b"\0", "integer at byte 4"),
    "smallest delta of 11 bytes": (header() + b"\x80" * 10 + b"\0", "integer at byte 5"),
    "count 2^62": (header(count=2**62) + BODY, "declares 4611686018427387904 values"),
    "count 2^64-1": (header(count=2**64 - 1) + BODY, "declares 18446744073709551615 values"),
    "equal values without end": (header(2**40, 1, 2**31 - 1) + b"\0\0", "declares 2147483647 values in"),
}


@pytest.mark.parametrize(("data", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_impossible_is_refused(data, words):
    with pytest.raises(CorruptDataError, match=words):
        delta_decode(data)
    with pytest.raises(reference.CorruptError):
        reference.delta_decode(data)


def test_width_65_is_refused():
    with pytest.raises(CorruptDataError, match="65 bits"):
        delta_decode(header() + b"\0\x41\0\0\0" + bytes(999), dtype=np.int64)


def test_another_count_is_refused():
    with pytest.raises(CorruptDataError, match="declares 3 values, not 4"):
        delta_decode(delta_encode(np.array([1, 2, 3], np.int32)), 4)


def test_huge_counts_take_no_memory():
    """3 GB would be needed if the count were believed; half a GB is all there is."""
    output = run_python(
        """
import resource
import numpy as np
from fsst import CorruptDataError
from fsst.delta import delta_decode
from fsst.page import decode_data_page
from fsst import SymbolTable
import reference, struct
from pathlib import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**29, used + 2**29))
for count in (2**30, 2**31 - 1, 2**40, 2**63):
    data = reference.varint(2**40) + b"\\1" + reference.varint(count) + bytes(64)
    for dtype in (np.int32, np.int64):
        try:
            delta_decode(data, dtype=dtype)
        except CorruptDataError:
            print("refused")
    page = struct.pack("<Bii", 1, min(count, 2**31 - 1), len(data)) + data
    try:
        decode_data_page(page, SymbolTable(), min(count, 2**40))
    except CorruptDataError:
        print("refused")
"""
    )
    assert output == "refused\n" * 12


def agree_with_the_oracle(data, dtype):
    try:
        expected = reference.delta_decode(data, BITS[dtype])
    except reference.CorruptError:
        with pytest.raises(CorruptDataError):
            delta_decode(data, dtype=dtype)
    else:
        values, consumed = delta_decode(data, dtype=dtype)
        assert (values.tolist(), consumed) == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_byte_flipped_and_every_cut(dtype):
    values = [3, 1, 4, 1, 5, 9, 2, 6] * 20 + [2**31 - 1, -(2**31)]
    for data in (delta_encode(np.array(values, dtype)), reference.delta_encode(values[:50], BITS[dtype], 256, 2, 3)):
        for size in range(len(data)):
            agree_with_the_oracle(data[:size], dtype)
        for at in range(len(data)):
            for flip in (0x01, 0x02, 0x10, 0x80, 0xFF):
                agree_with_the_oracle(data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :], dtype)


@given(data=st.binary(max_size=60), dtype=st.sampled_from(DTYPES), start=st.sampled_from([b"", b"\x80\x01\x04"]))
def test_any_bytes(data, dtype, start):
    agree_with_the_oracle(start + data, dtype)


# --- What is taken ---


def test_arrays_of_any_layout():
    values = np.arange(300, dtype=np.int32) % 17
    odd = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:].view(np.int32)
    assert not odd.flags.aligned or odd.ctypes.data % 4
    spread = np.repeat(values, 2)[::2]
    values.flags.writeable = False
    assert delta_encode(odd) == delta_encode(spread) == delta_encode(values)
    for buffer in (
        bytearray(delta_encode(values)),
        memoryview(delta_encode(values)),
        pa.py_buffer(delta_encode(values)),
    ):
        assert delta_decode(buffer, 300)[0].tolist() == values.tolist()


@pytest.mark.parametrize("wrong", [np.zeros(3, np.uint32), np.zeros((2, 2), np.int32), np.zeros(3), ["a"]])
def test_other_arrays_are_refused(wrong):
    with pytest.raises(TypeError, match="int32 or int64"):
        delta_encode(wrong)


def test_wrong_arguments():
    for dtype in (np.int16, np.float64, ">i4"):
        with pytest.raises(TypeError, match="dtype"):
            delta_decode(header(), dtype=dtype)
    with pytest.raises(ValueError, match="negative"):
        delta_decode(header(), -1)

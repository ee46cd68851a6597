"""fsst.codec: the same work on raw buffers and offsets."""

import array
import random
import re

import numpy as np
import pytest
import reference
import strategies
from helpers import join, run_python, split
from hypothesis import given
from hypothesis import strategies as st

from fsst import CorruptDataError, FsstError, SymbolTable, codec

OFFSETS = [np.int32, np.int64]
TABLE = SymbolTable([b"a", b"abc", b"abcdefgh"])


@pytest.mark.kind(81, 86, 88)
@given(case=strategies.tables_and_rows(), dtype=st.sampled_from(OFFSETS), first=st.integers(0, 9))
def test_codes_are_the_oracles(case, dtype, first):
    symbols, rows = case
    table = SymbolTable(symbols)
    text, offsets = join(rows, dtype, first, b"what lies behind")
    codes, code_offsets = codec.compress(table, text, offsets)
    assert code_offsets[0] == 0 and code_offsets[-1] == len(codes)
    assert split(codes, code_offsets) == [reference.compress(symbols, row) for row in rows]
    assert codec.decompressed_size(table, codes, code_offsets) == sum(map(len, rows))
    again, again_offsets = codec.decompress(table, codes, code_offsets)
    assert split(again, again_offsets) == rows
    assert bytes(again) == b"".join(rows) and again_offsets[0] == 0


@pytest.mark.kind(20, 21, 23)
@given(case=strategies.tables_and_rows(), dtype=st.sampled_from(OFFSETS), first=st.integers(0, 9))
def test_text_is_the_oracles(case, dtype, first):
    """Any bytes, taken for codes."""
    symbols, rows = case
    table = SymbolTable(symbols)
    codes, offsets = join(rows, dtype, first, b"\xff")
    try:
        expected = [reference.decompress(symbols, row) for row in rows]
    except reference.CorruptError:
        for work in (codec.decompress, codec.decompressed_size):
            with pytest.raises(CorruptDataError, match="row"):
                work(table, codes, offsets)
    else:
        assert split(*codec.decompress(table, codes, offsets)) == expected
        assert codec.decompressed_size(table, codes, offsets) == sum(map(len, expected))


def test_results_are_numpy_arrays():
    codes, offsets = codec.compress(TABLE, *join([b"abc", b"", b"x"]))
    assert isinstance(codes, np.ndarray) and codes.dtype == np.uint8 and codes.tolist() == [1, 255, 120]
    assert isinstance(offsets, np.ndarray) and offsets.dtype == np.int32 and offsets.tolist() == [0, 1, 1, 3]
    text, offsets = codec.decompress(TABLE, codes, offsets)
    assert text.dtype == np.uint8 and offsets.dtype == np.int32 and offsets.tolist() == [0, 3, 3, 4]


@pytest.mark.parametrize("dtype", OFFSETS)
def test_no_rows_and_no_bytes(dtype):
    for data, offsets in ((b"", [0]), (b"abc", [3]), (b"", [0, 0, 0]), (b"abc", [2, 2])):
        offsets = np.array(offsets, dtype)
        for work in (codec.compress, codec.decompress):
            out, out_offsets = work(TABLE, data, offsets)
            assert len(out) == 0 and out_offsets.tolist() == [0] * len(offsets)
        assert codec.decompressed_size(TABLE, data, offsets) == 0
        assert len(codec.train(data, offsets)) == 0


def test_compress_bound_is_twice_the_size():
    assert codec.compress_bound(0) == 0
    assert codec.compress_bound(100) == 200
    assert codec.compress_bound(2**40) == 2**41
    for wrong in (-1, 2**63):
        with pytest.raises((ValueError, OverflowError)):
            codec.compress_bound(wrong)
    with pytest.raises(TypeError):
        codec.compress_bound("1")


# --- Buffers of the caller ---


@pytest.mark.parametrize("out_dtype", OFFSETS)
@pytest.mark.parametrize("dtype", OFFSETS)
def test_out_is_written_and_no_more_than_it(dtype, out_dtype):
    rows = [b"abcdefgh" * 5, b"", b"xyz", b"a"]
    text, offsets = join(rows, dtype)
    out = np.full(2 * len(text) + 16, 0xEE, np.uint8)
    out_offsets = np.full(len(rows) + 1, 77, out_dtype)
    codes, code_offsets = codec.compress(TABLE, text, offsets, out=out, out_offsets=out_offsets)
    assert split(codes, code_offsets) == [reference.compress(list(TABLE.symbols), row) for row in rows]
    assert np.shares_memory(codes, out) and out[: len(codes)].tobytes() == codes.tobytes()
    assert code_offsets is out_offsets
    assert (out[2 * len(text) :] == 0xEE).all()

    for more in range(41):
        back = np.full(len(text) + more, 0xEE, np.uint8)
        back_offsets = np.zeros(len(rows) + 1, out_dtype)
        again, again_offsets = codec.decompress(TABLE, codes, code_offsets, out=back, out_offsets=back_offsets)
        assert split(again, again_offsets) == rows and np.shares_memory(again, back)
        assert again_offsets is back_offsets
        assert (back[len(text) :] == 0xEE).all(), more


def test_out_may_be_exact_and_not_one_less():
    text = bytes(range(100))
    offsets = np.array([0, 100], np.int32)
    empty = SymbolTable()
    codes, code_offsets = codec.compress(empty, text, offsets, out=bytearray(200))
    assert len(codes) == 200
    with pytest.raises(ValueError, match=r"199.*200"):
        codec.compress(empty, text, offsets, out=bytearray(199))
    again, _ = codec.decompress(empty, codes, code_offsets, out=bytearray(100))
    assert bytes(again) == text
    with pytest.raises(ValueError, match=r"99.*100"):
        codec.decompress(empty, codes, code_offsets, out=bytearray(99))
    with pytest.raises(ValueError, match=r"0 bytes.*100"):
        codec.decompress(empty, codes, code_offsets, out=bytearray(0))


@pytest.mark.parametrize("entries", [0, 1, 2, 4])
def test_out_offsets_must_be_one_more_than_the_rows(entries):
    text, offsets = join([b"abc", b"a"])
    for work in (codec.compress, codec.decompress):
        with pytest.raises(ValueError, match=f"{entries} entries.*2 rows need 3"):
            work(
                TABLE,
                text if work is codec.compress else b"\0\0\0\0",
                offsets,
                out_offsets=np.zeros(entries, np.int32),
            )


def test_out_must_be_writable():
    text, offsets = join([b"abc"])
    with pytest.raises((BufferError, TypeError, ValueError)):
        codec.compress(TABLE, text, offsets, out=bytes(100))
    codes, code_offsets = codec.compress(TABLE, text, offsets)
    frozen = np.zeros(2, np.int32)
    frozen.flags.writeable = False
    with pytest.raises((BufferError, TypeError, ValueError)):
        codec.decompress(TABLE, codes, code_offsets, out_offsets=frozen)


def test_out_must_be_contiguous():
    text, offsets = join([b"abc"])
    with pytest.raises((BufferError, TypeError, ValueError)):
        codec.compress(TABLE, text, offsets, out=np.zeros(100, np.uint8)[::2])
    with pytest.raises((BufferError, TypeError, ValueError)):
        codec.compress(TABLE, text, offsets, out_offsets=np.zeros(4, np.int32)[::2])


OVERLAPS = {
    "compress, out_offsets is offsets": """
text = b"x" * 40_000
offsets = np.arange(0, len(text) + 1, 4, dtype=np.int32)
codec.compress(SymbolTable(), text, offsets, out_offsets=offsets)
""",
    "compress, out is data": """
text = np.full(40_000, 120, np.uint8)
codec.compress(SymbolTable(), text[:20_000], np.array([0, 20_000], np.int32), out=text)
""",
    "decompress, out_offsets is offsets": """
offsets = np.arange(0, 10_001, dtype=np.int32)
codec.decompress(SymbolTable([b"abcdefgh"]), bytes(10_000), offsets, out_offsets=offsets)
""",
    "decompress, out is codes": """
memory = np.zeros(80_000, np.uint8)
codec.decompress(SymbolTable([b"abcdefgh"]), memory[:10_000], np.array([0, 10_000], np.int32), out=memory)
""",
    "decompress, out and out_offsets": """
memory = np.zeros(80_000, np.uint8)
offsets = np.arange(0, 10_001, dtype=np.int32)
codec.decompress(SymbolTable([b"abcdefgh"]), bytes(10_000), offsets, out=memory,
                 out_offsets=memory[: 4 * 10_001].view(np.int32))
""",
}


@pytest.mark.parametrize("call", OVERLAPS.values(), ids=OVERLAPS.keys())
def test_out_must_not_overlap_what_is_read_or_written_besides(call):
    # Kernels trust what they have checked; output over it would change it under them.
    output = run_python(
        f"""
import numpy as np
from fsst import SymbolTable, codec
try:
    exec({call!r})
except ValueError as error:
    print(type(error).__name__, error)
else:
    print("accepted")
"""
    )
    assert output.startswith("ValueError") and "overlap" in output


# --- What is read ---


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_data_is_anything_with_a_buffer(kind):
    text, offsets = join([b"abc", b"a"])
    codes, code_offsets = codec.compress(TABLE, kind(text), offsets)
    assert split(codes, code_offsets) == [b"\1", b"\0"]
    again, _ = codec.decompress(TABLE, kind(codes.tobytes()), code_offsets)
    assert bytes(again) == text


def test_offsets_are_anything_with_a_buffer_of_ints():
    for offsets in (
        array.array("i", [0, 3, 4]),
        array.array("q", [0, 3, 4]),
        memoryview(array.array("l", [0, 3, 4])),
    ):
        codes, code_offsets = codec.compress(TABLE, b"abca", offsets)
        assert split(codes, code_offsets) == [b"\1", b"\0"]
    out_offsets = array.array("q", [9, 9, 9])
    codec.compress(TABLE, b"abca", array.array("i", [0, 3, 4]), out_offsets=out_offsets)
    assert out_offsets.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", OFFSETS)
@pytest.mark.parametrize("shift", range(1, 8))
def test_buffers_may_start_anywhere(shift, dtype):
    text, offsets = join([b"abcabcdefgh", b"", b"xabc"], dtype)
    memory = bytes(shift) + offsets.tobytes()
    moved = memoryview(memory)[shift:].cast("i" if dtype == np.int32 else "q")
    data = memoryview(bytes(shift) + text)[shift:]
    codes, code_offsets = codec.compress(TABLE, data, moved)
    assert split(codes, code_offsets) == [reference.compress(list(TABLE.symbols), row) for row in split(text, offsets)]
    # numpy's own buffers say so in their format.
    unaligned = np.frombuffer(memory, dtype, offset=shift)
    assert codec.compress(TABLE, data, unaligned)[0].tobytes() == codes.tobytes()
    codes = memoryview(bytes(shift) + codes.tobytes())[shift:]
    assert split(*codec.decompress(TABLE, codes, code_offsets)) == split(text, offsets)


@pytest.mark.parametrize(
    "wrong",
    [
        [0, 3],
        (0, 3),
        None,
        3,
        "03",
        bytes(8),
        np.array([0, 3], np.uint32),
        np.array([0, 3], np.uint64),
        np.array([0, 3], np.int16),
        np.array([0, 3], np.float64),
        np.array([0, 3], ">i4"),
        np.array([[0, 3]], np.int32),
        np.array(0, np.int32),
        np.array([0, 9, 3, 9], np.int32)[::2],
        np.array([3, 0], np.int32)[::-1],
    ],
    ids=lambda wrong: f"{getattr(wrong, 'dtype', type(wrong).__name__)}-{getattr(wrong, 'shape', '')}",
)
def test_wrong_offsets_are_a_type_error(wrong):
    for call in (
        lambda: codec.compress(TABLE, b"abc", wrong),
        lambda: codec.decompress(TABLE, b"\0\0\0", wrong),
        lambda: codec.decompressed_size(TABLE, b"\0\0\0", wrong),
        lambda: codec.train(b"abc", wrong),
    ):
        with pytest.raises(TypeError):
            call()
    if wrong is not None:
        with pytest.raises(TypeError):
            codec.compress(TABLE, b"abc", np.array([0, 3], np.int32), out_offsets=wrong)


@pytest.mark.parametrize("wrong", ["abc", None, 3, ["a"]], ids=repr)
def test_wrong_data_is_a_type_error(wrong):
    offsets = np.array([0, 0], np.int32)
    for work in (codec.compress, codec.decompress, codec.decompressed_size):
        with pytest.raises(TypeError):
            work(TABLE, wrong, offsets)


@pytest.mark.parametrize("wrong", [None, b"a", [b"a"], TABLE.to_bytes()], ids=repr)
def test_a_wrong_table_is_a_type_error(wrong):
    offsets = np.array([0, 0], np.int32)
    for work in (codec.compress, codec.decompress, codec.decompressed_size):
        with pytest.raises(TypeError, match="SymbolTable"):
            work(wrong, b"", offsets)


@pytest.mark.parametrize("dtype", OFFSETS)
@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        ([-1, 3], "-1 at row 0"),
        ([-5, -1, 3], "-5 at row 0"),
        ([0, 2, 1, 3], "row 1 ends at 1, before its start at 2"),
        ([0, 3, 0], "row 1 ends at 0, before its start at 3"),
        ([0, 2, -1], "row 1"),
        ([0, 2, 4], "4 at row 1.*3 bytes"),
        ([4, 4], "4 at row 0.*3 bytes"),
        ([0, 2**31 - 1], "2147483647 at row 0.*3 bytes"),
        ([0, 2**31 - 1, 1], "row"),
        ([-(2**31), 2**31 - 1], "row 0"),
    ],
)
def test_bad_offsets_are_named(offsets, words, dtype):
    offsets = np.array(offsets, dtype)
    for work in (codec.compress, codec.decompress, codec.decompressed_size):
        with pytest.raises(CorruptDataError, match=words):
            work(TABLE, b"\0\0\0", offsets)
    with pytest.raises(CorruptDataError, match=words):
        codec.train(b"abc", offsets)


@pytest.mark.parametrize("extreme", [2**63 - 1, -(2**63), 2**62, 2**32])
def test_huge_offsets_do_not_wrap(extreme):
    for offsets in ([0, extreme], [extreme, 3], [0, extreme, 3]):
        with pytest.raises(CorruptDataError):
            codec.compress(TABLE, b"abc", np.array(offsets, np.int64))
    offsets = np.array([0, 2**31 - 1, -(2**31), 3], np.int32)
    with pytest.raises(CorruptDataError):
        codec.compress(TABLE, b"abc", offsets)


def test_no_offsets_at_all_is_an_error():
    for work in (codec.compress, codec.decompress):
        with pytest.raises(ValueError, match="empty"):
            work(TABLE, b"", np.array([], np.int32))


@pytest.mark.parametrize("threads", [1, 3])
def test_corrupt_codes_are_named_by_row_and_byte(threads):
    rows = [b"\0\0"] * 200_000
    for bad, words in (
        (b"\0\x07", "row 150000 has code 7 at byte 300001"),
        (b"\0\xff", "row 150000 .*byte 300001"),
    ):
        codes, offsets = join([*rows[:150_000], bad, *rows[150_001:]])
        for work in (codec.decompress, codec.decompressed_size):
            with pytest.raises(CorruptDataError, match=words):
                work(TABLE, codes, offsets, **({"threads": threads} if work is codec.decompress else {}))


@pytest.mark.parametrize("threads", [0, -1, 10**6])
def test_threads_are_a_small_number(threads):
    with pytest.raises(ValueError, match="threads"):
        codec.compress(TABLE, b"", np.array([0], np.int32), threads=threads)
    with pytest.raises(TypeError):
        codec.decompress(TABLE, b"", np.array([0], np.int32), threads="1")
    assert len(codec.compress(TABLE, b"abc", np.array([0, 3], np.int32), threads=None)[0]) == 1


def test_train_is_the_packages():
    rows = [b"https://example.org/%d" % i for i in range(300)]
    table = codec.train(*join(rows))
    assert isinstance(table, SymbolTable) and table.to_bytes()
    assert codec.train(*join(rows, np.int64, 5)) == table
    for effort in ("fast", "default", "max"):
        assert isinstance(codec.train(*join(rows), effort=effort), SymbolTable)
    codes, _offsets = codec.compress(table, *join(rows))
    assert len(codes) < sum(map(len, rows)) / 2


@pytest.mark.parametrize("effort", ["best", "", None, 1])
def test_efforts_have_names(effort):
    with pytest.raises((ValueError, TypeError), match="effort"):
        codec.train(b"abc", np.array([0, 3], np.int32), effort=effort)


def test_errors_are_fsst_errors():
    with pytest.raises(FsstError):
        codec.decompress(TABLE, b"\x09", np.array([0, 1], np.int32))


def test_arrays_of_objects_hold_pointers_not_bytes():
    objects = np.zeros(8, object)
    offsets = np.array([0, 8], np.int32)
    with pytest.raises(TypeError, match="out holds Python objects"):
        codec.compress(SymbolTable(), b"aaaabbbb", offsets, out=np.zeros(16, object))
    with pytest.raises(TypeError, match="data holds Python objects"):
        codec.compress(SymbolTable(), objects, offsets)


def test_bounds_end_where_64_bits_do():
    assert codec.compress_bound(2**62 - 1) == 2**63 - 2
    for wrong in (-1, 2**62, 2**63, 2**80):
        with pytest.raises(ValueError, match="size must lie between"):
            codec.compress_bound(wrong)
    with pytest.raises(TypeError):
        codec.compress_bound(1.5)


# --- Other numbers for the same symbols --------------------------------------------------------


@given(case=strategies.tables_and_rows(), dtype=st.sampled_from(OFFSETS), first=st.integers(0, 9), seed=st.integers())
def test_renumbered_codes_stand_for_the_same_text(case, dtype, first, seed):
    """Any bytes, taken for codes, and the same symbols in any other order."""
    symbols, rows = case
    others = symbols.copy()
    random.Random(seed).shuffle(others)
    table, to = SymbolTable(symbols), SymbolTable(others)
    codes, offsets = join(rows, dtype, first, b"\xff")
    try:
        text, ends = codec.decompress(table, codes, offsets)
    except CorruptDataError as error:
        with pytest.raises(CorruptDataError, match=re.escape(str(error))):
            codec.renumber(table, codes, offsets, to)
        return
    renumbered, moved = codec.renumber(table, codes, offsets, to), offsets - offsets[0]
    again, again_ends = codec.decompress(to, renumbered, moved)
    assert bytes(again) == bytes(text) and list(again_ends) == list(ends)
    assert bytes(codec.renumber(to, renumbered, moved, table)) == codes[offsets[0] : offsets[-1]]


def test_what_cannot_be_renumbered():
    table = SymbolTable([b"a", b"the"])
    offsets = np.array([0, 2, 3], np.int32)
    with pytest.raises(ValueError, match="lacks 1 symbols of the other, b'the' first"):
        codec.renumber(table, b"\0\0\0", offsets, SymbolTable([b"a"]))
    with pytest.raises(CorruptDataError, match="row 1 has code 2 at byte 2, but the symbol table has 2 symbols"):
        codec.renumber(table, b"\0\1\2", offsets, table)
    # The escape's literal would be another row's code.
    with pytest.raises(CorruptDataError, match="row 0 ends in an escape"):
        codec.renumber(table, b"\0\xff\1", offsets, table)
    with pytest.raises(ValueError, match="out has room for 2 bytes, 3 are needed"):
        codec.renumber(table, b"\0\0\0", offsets, table, out=bytearray(2))
    codes = bytearray(b"\0\0\1")
    with pytest.raises(ValueError, match="overlaps"):
        codec.renumber(table, codes, offsets, table, out=codes)
    room = bytearray(5)
    assert codec.renumber(table, codes, offsets, SymbolTable([b"x", b"a", b"the"]), out=room).tobytes() == b"\1\1\2"

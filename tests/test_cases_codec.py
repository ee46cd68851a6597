"""How such codecs fail in practice, codec and trainer: a small input for each kind, then the kinds in general."""

import random

import numpy as np
import pyarrow as pa
import pytest
import reference
import strategies
from helpers import column_of_codes, join, run_python, split, words
from hypothesis import given
from hypothesis import strategies as st

import fsst
from fsst import CorruptDataError, SymbolTable, codec

# --- Output written past its end ---------------------------------------------------------------


@pytest.mark.case(1)
def test_output_smaller_than_the_text():
    rows = [b"AB" * 32] * 2000
    table = SymbolTable([b"ABABABAB"])
    codes, offsets = codec.compress(table, *join(rows))
    for room in (3 * len(codes), 128_000 - 1):
        with pytest.raises(ValueError, match="128000"):
            codec.decompress(table, codes, offsets, out=bytearray(room))
    text, _ = codec.decompress(table, codes, offsets, out=bytearray(8 * len(codes)))
    assert text.tobytes() == b"".join(rows) and len(text) == 8 * len(codes)


@pytest.mark.case(2, 4)
@pytest.mark.parametrize("tail", range(10))
def test_last_codes_of_an_exact_output(tail):
    table = SymbolTable([b"x", b"12345678"])
    codes = b"\0" * 13 + b"\1" * tail
    for more in range(41):
        out = np.full(13 + 8 * tail + more + 8, 0xAA, np.uint8)
        text, _ = codec.decompress(table, codes, np.array([0, len(codes)], np.int32), out=out[: len(out) - 8])
        assert text.tobytes() == b"x" * 13 + b"12345678" * tail
        assert (out[13 + 8 * tail :] == 0xAA).all()


@pytest.mark.case(4)
def test_odd_and_even_numbers_of_codes():
    table = SymbolTable([b"ab", b"abcdefgh"])
    rows = [b"\1\0\1\0\1"[:count] for count in (1, 2, 3, 4, 5)]
    text, offsets = codec.decompress(table, *join(rows))
    assert split(text, offsets) == [(b"abcdefghab" * 3)[: 10 * (n // 2) + 8 * (n % 2)] for n in (1, 2, 3, 4, 5)]


@pytest.mark.case(5)
def test_one_value_larger_than_any_scratch():
    huge = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz 0123456789", k=20 << 20))
    rows = pa.array(["a", huge, "a"])
    column = fsst.compress(rows, symbol_table=fsst.train(["a", "a"]))
    assert fsst.decompress(column).equals(rows)
    assert fsst.decompress(fsst.compress(rows)).equals(rows)


@pytest.mark.kind(5)
@pytest.mark.parametrize("power", [10, 11, 12, 14, 16, 20])
def test_long_values_between_short_ones(power):
    # Around the sizes that stages of the encoder have, or might have.
    text = "".join(words(power, 1 << 16)).encode()
    table = fsst.train([text[:4000]])
    for length in ((1 << power) - 1, 1 << power, (1 << power) + 1, 3 << (power - 1)):
        rows = [b"a", text[:length], b"", b"e" * length, b"a"]
        codes, offsets = codec.compress(table, *join(rows), out=bytearray(codec.compress_bound(2 + 2 * length)))
        assert split(codes, offsets) == [table.compress(row) for row in rows]
        assert split(*codec.decompress(table, codes, offsets)) == rows


@pytest.mark.case(6)
def test_the_bound_is_exact():
    text, offsets = bytes(range(100)), np.array([0, 100], np.int32)
    assert len(codec.compress(SymbolTable(), text, offsets, out=bytearray(200))[0]) == 200
    with pytest.raises(ValueError, match="199"):
        codec.compress(SymbolTable(), text, offsets, out=bytearray(199))


@pytest.mark.kind(1, 2, 4, 6)
@given(case=strategies.tables_and_rows(), missing=st.integers(-41, 9))
def test_any_room(case, missing):
    """Room that is exact is enough, less is refused, and nothing is written beyond what is used."""
    symbols, rows = case
    table, (text, offsets) = SymbolTable(symbols), join(rows)

    def run(work, data, offsets, needed):
        room = max(needed - missing, 0)
        memory = np.full(room + 64, 0xEE, np.uint8)
        if room < needed:
            with pytest.raises(ValueError, match=f"{room} bytes, {needed} are needed"):
                work(table, data, offsets, out=memory[:room])
            assert (memory == 0xEE).all()
            return work(table, data, offsets)
        made = work(table, data, offsets, out=memory[:room])
        assert (memory[needed:] == 0xEE).all()
        return made

    codes, ends = run(codec.compress, text, offsets, codec.compress_bound(len(text)))
    plain, plain_offsets = run(codec.decompress, codes, ends, len(text))
    assert split(plain, plain_offsets) == rows


# --- Input read past its end -------------------------------------------------------------------


@pytest.mark.case(13, 14, 16)
@pytest.mark.parametrize("table", [SymbolTable(), SymbolTable([b"ab", b"abc", b"abcdefgh"])], ids=["empty", "some"])
def test_lengths_around_words_and_staging_buffers(table):
    lengths = [*range(17), *range(503, 521), *range(1015, 1031)]
    rows = [(b"abcdefgh" * 200)[:length] for length in lengths]
    for row in rows:
        assert table.decompress(table.compress(row)) == row
        assert table.compress(row) == reference.compress(list(table.symbols), row)
    assert split(*codec.decompress(table, *codec.compress(table, *join(rows)))) == rows


@pytest.mark.case(1, 2, 13, 14)
@pytest.mark.parametrize("isa", ["", "baseline", "plain"])
def test_rows_at_the_end_of_memory(isa):
    """Text, codes and outputs end where the next page can't be touched."""
    output = run_python(
        """
import ctypes, mmap
import numpy as np
from fsst import SymbolTable, codec

def memory():
    pages = mmap.mmap(-1, 3 * mmap.PAGESIZE)
    end = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + 2 * mmap.PAGESIZE
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), mmap.PAGESIZE, 0) == 0
    return np.frombuffer(pages, np.uint8)[: 2 * mmap.PAGESIZE]

source, target = memory(), memory()
def end_of(memory, size):
    return memory[len(memory) - size :]
text = b"abcdefgh, abc and ab " * 60
for table in (SymbolTable(), SymbolTable([b"ab", b"abc", b"abcdefgh", b" and"])):
    for length in (*range(70), *range(503, 521), *range(1015, 1031)):
        row, offsets = end_of(source, length), np.array([0, length // 3, length], np.int32)
        row[:] = np.frombuffer(text[:length], np.uint8)
        codes, ends = codec.compress(table, row, offsets, out=end_of(target, 2 * length))
        expected = [table.compress(text[: length // 3]), table.compress(text[length // 3 : length])]
        assert codes.tobytes() == b"".join(expected)
        again = end_of(source, len(codes))
        again[:] = codes.copy()
        plain, _ = codec.decompress(table, again, ends, out=end_of(target, length))
        assert plain.tobytes() == text[:length] == table.decompress(again)
print("whole")
""",
        FSST_FORCE_ISA=isa,
    )
    assert output == "whole\n"


@pytest.mark.kind(13, 14)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_length(seed):
    text = "".join(words(seed, 500))[:700].encode()
    table = fsst.train([text])
    whole = reference.compress(list(table.symbols), text)
    assert table.compress(text) == whole
    for length in range(600):
        row = text[:length]
        codes, _ = codec.compress(table, row + text[length:], np.array([0, length], np.int32))
        assert codes.tobytes() == table.compress(row)
        # Up to the last few codes the longer text's: what follows the row has no say.
        same = max(len(codes) - 16, 0)
        assert codes[:same].tobytes() == whole[:same]
        assert table.decompress(codes) == row


@pytest.mark.case(14)
def test_a_row_does_not_match_what_follows_it():
    table = SymbolTable([b"a\0", b"ab", b"abcdefgh"])
    codes, offsets = codec.compress(table, *join([b"a", b"\0", b"abcdefg", b"h", b"a"], after=b"\0"))
    assert [row[0] for row in split(codes, offsets)] == [255, 255, 1, 255, 255]


@pytest.mark.case(16)
def test_nothing_but_the_input_is_looked_at():
    # Fresh memory is filled with one byte and with another: what is read before it is written would show.
    code = """
import numpy as np
from fsst import SymbolTable, codec
table = SymbolTable([b"a", b"ab", b"abc", b"ab" * 4])
for row in (b"abc", b"ab" * 30):
    codes, offsets = codec.compress(table, row, np.array([0, len(row)], np.int32))
    text, _ = codec.decompress(table, codes, offsets)
    print(codes.tobytes(), text.tobytes(), codec.train(row * 9, np.array([0, 9 * len(row)], np.int32)).symbols)
"""
    for isa in ("", "baseline", "plain"):
        seen = {run_python(code, MALLOC_PERTURB_=fill, FSST_FORCE_ISA=isa) for fill in ("1", "97", "190")}
        assert len(seen) == 1 and "b'\\x02' b'abc'" in seen.pop()


# --- The sample --------------------------------------------------------------------------------


@pytest.mark.case(17)
def test_tiny_rows_and_a_long_one_in_one_sample():
    rows = pa.array(["q"] * 200 + ["".join(random.Random(2).choices("abcdef", k=40_000))])
    assert fsst.decompress(fsst.compress(rows)).equals(rows)


@pytest.mark.kind(17)
@given(short=st.integers(0, 3000), size=st.integers(0, 3), long=st.integers(0, 60_000), tables=st.randoms())
def test_any_mixture_of_short_and_long_rows(short, size, long, tables):
    rows = [b"qrs"[:size]] * short + [b"abcdefghi" * (long // 9)] * (long > 0)
    tables.shuffle(rows)
    table = fsst.train(pa.array(rows, pa.binary()), effort="fast")
    assert len(set(table.symbols)) == len(table) and all(1 <= len(symbol) <= 8 for symbol in table.symbols)
    assert split(*codec.decompress(table, *codec.compress(table, *join(rows)))) == rows


@pytest.mark.case(18)
def test_rows_past_the_sample():
    # 40 000 bytes: more than any sample of them. What the table is does not depend on where the bytes lie.
    rows = [b"%039d," % i for i in range(1000)]
    table = codec.train(*join(rows))
    assert codec.train(*join(rows, first=3, after=b"\xff" * 64)) == table
    assert codec.train(*join(rows, np.int64)) == table
    codes, _ = codec.compress(table, *join(rows))
    # The golden: changes only with a change of the trainer that says why, as benchmarks/sizes.json does.
    assert (len(table), len(codes)) == (48, 6845)


@pytest.mark.case(19)
@pytest.mark.parametrize("length", [9, 16, 300])
def test_symbols_are_at_most_8_bytes(length):
    with pytest.raises(ValueError, match=f"{length} bytes"):
        SymbolTable([b"x" * length])
    table = fsst.train([b"x" * length] * 100)
    assert 0 < max(map(len, table.symbols)) <= 8
    assert table.decompress(table.compress(b"x" * length)) == b"x" * length


# --- Corrupt codes, tables, offsets ------------------------------------------------------------


@pytest.mark.case(20)
@pytest.mark.parametrize(
    ("symbols", "codes"), [([b"a"], b"\x05"), ([], b"\x00"), ([b"a"] * 0, b"\xfe"), ([b"a"], b"\x01")]
)
def test_code_without_a_symbol(symbols, codes):
    with pytest.raises(CorruptDataError, match=f"code {codes[0]}.*{len(symbols)} symbols"):
        SymbolTable(symbols).decompress(codes)
    with pytest.raises(CorruptDataError, match=f"code {codes[0]}"):
        fsst.decompress(column_of_codes(symbols, [codes]))


@pytest.mark.case(21)
def test_escape_as_the_last_byte():
    table = SymbolTable([b"a"])
    with pytest.raises(CorruptDataError, match="escape"):
        table.decompress(b"\x00\xff")
    assert table.decompress(b"\x00\xff\xff") == b"a\xff"
    with pytest.raises(CorruptDataError, match="escape"):
        table.decompress(b"\x00\xff\xff\xff")


@pytest.mark.case(23)
def test_escape_does_not_reach_into_the_next_row():
    table = SymbolTable([b"a"])
    for rows in (
        [b"\xff", b"\x41\x42"],
        [b"\xff", b"\x00\x00"],
        [b"\xff", b""],
        [b"\xff\xff\xff", b"\xff\xff"],
    ):
        with pytest.raises(CorruptDataError, match="row 0"):
            codec.decompress(table, *join(rows))
        with pytest.raises(CorruptDataError, match="row 0"):
            codec.decompress(table, *join(rows, first=2, after=b"\x41"))


@pytest.mark.case(24, 26)
@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("count", [0, 9, 255])
def test_symbol_lengths_of_a_stored_table(at, count):
    body = bytearray(
        SymbolTable([b"1", b"22", b"333", b"4444", b"55555", b"666666", b"7777777", b"88888888"]).to_bytes()
    )
    body[at] = count
    with pytest.raises(CorruptDataError, match="histogram"):
        SymbolTable.from_bytes(body)


@pytest.mark.case(26)
def test_version_and_marker_bytes_of_cwida():
    data = SymbolTable([b"ab", b"a"]).to_bytes("cwida")
    for at in (0, 4, 5, 6, 7):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            with pytest.raises(CorruptDataError):
                SymbolTable.from_bytes(changed, "cwida")


@pytest.mark.case(25)
@pytest.mark.parametrize("offsets", [[0, 5, 3], [0, 3, 2**31 - 1], [0, 6], [-1, 5], [3, 2, 5]])
def test_offsets_that_are_none(offsets):
    with pytest.raises(CorruptDataError, match=r"offset|row"):
        codec.decompress(SymbolTable([b"a"]), bytes(5), np.array(offsets, np.int32))


EDGES = [-(2**31), -1, 0, 1, 2, 3, 5, 6, 2**31 - 1]


@pytest.mark.kind(25)
@given(offsets=st.lists(st.sampled_from(EDGES), min_size=1, max_size=5), wide=st.booleans())
def test_any_offsets(offsets, wide):
    bad = offsets != sorted(offsets) or offsets[0] < 0 or offsets[-1] > 5
    offsets = np.array(offsets, np.int64 if wide else np.int32)
    table = SymbolTable([b"ab"])
    for work in (codec.compress, codec.decompress):
        if bad:
            with pytest.raises(CorruptDataError, match="offset"):
                work(table, bytes(5), offsets)
        else:
            per_byte = 2  # an escape and a literal, or a symbol of two bytes
            assert work(table, bytes(5), offsets)[1].tolist() == [per_byte * (end - offsets[0]) for end in offsets]


@pytest.mark.case(30)
def test_declared_lengths_that_do_not_fit():
    with pytest.raises(CorruptDataError, match="fixed_size_binary"):
        fsst.decompress(column_of_codes([b"abc", b"ab"][::-1], [b"\1", b"\0"], pa.binary(3)))
    with pytest.raises(CorruptDataError):
        codec.decompress(SymbolTable(), b"ab", np.array([0, 2**40], np.int64))


@pytest.mark.case(30)
@pytest.mark.parametrize("rows", [[b""] * 1000, [None, b"\0"] * 500], ids=["empty", "one byte"])
def test_a_declared_width_takes_no_memory(rows):
    column = column_of_codes([b"x"], rows, pa.binary(2**31 - 1))
    for work in (fsst.decompress, lambda column: column.validate(full=True), lambda column: column.to_pylist()):
        with pytest.raises(CorruptDataError, match="fixed_size_binary"):
            work(column)


@pytest.mark.kind(30)
@given(rows=st.lists(st.sampled_from([b"", b"\0", b"\1", b"\0\1", b"\1\1", b"\xff\xff"]), max_size=6))
def test_any_lengths_under_a_fixed_width(rows):
    symbols = [b"x", b"yz"]
    texts = [reference.decompress(symbols, row) for row in rows]
    column = column_of_codes(symbols, rows, pa.binary(3))
    for work in (fsst.decompress, lambda column: column.validate(full=True), lambda column: list(column.reader())):
        if any(len(text) != 3 for text in texts):
            with pytest.raises(CorruptDataError, match="fixed_size_binary"):
                work(column)
        else:
            work(column)


# --- The trainer -------------------------------------------------------------------------------


@pytest.mark.case(78)
def test_symbols_are_distinct():
    table = fsst.train(["ab"] * 5000 + ["ba"] * 5000)
    assert len(set(table.symbols)) == len(table) > 0


@pytest.mark.case(80)
@pytest.mark.parametrize("effort", ["fast", "default", "max"])
def test_ten_kilobytes_of_any_text(effort):
    # Run with overflow checked: tests/native/test_train.cpp under UBSan.
    rng = random.Random(effort)
    for letters in (b"a", b"ab", bytes(range(256)), b"\xfe\xff", b"etaoin "):
        text = bytes(rng.choices(letters, k=10_000))
        table = fsst.train([text], effort=effort)
        assert len(table) <= 255 and table.decompress(table.compress(text)) == text


SIZES = [0, 1, 2, 7, 8, 9, 511, 512, 513, (4 << 20) - 1, 4 << 20, (4 << 20) + 1]


@pytest.mark.case(81)
@pytest.mark.parametrize("size", SIZES)
def test_sizes_around_floors_and_buffers(size):
    text = (b"a few words, again and again; " * (size // 30 + 1))[:size]
    for rows in ([text], [text[i : i + 1000] for i in range(0, size, 1000)] or [b""]):
        column = fsst.compress(pa.array(rows, pa.binary()))
        assert fsst.decompress(column).to_pylist() == rows
        # No floor: whatever is long enough to have repeats is compressed.
        assert size < 511 or column.stats().factor > 2


@pytest.mark.case(99)
def test_small_columns_take_no_large_table():
    rng = random.Random(7)
    rows = [(b"alpha" if i % 2 else b"gamma") + rng.randbytes(3) for i in range(40)]
    stats = fsst.compress(pa.array(rows, pa.binary())).stats()
    assert stats.code_bytes + stats.table_bytes < 2 * 320
    assert stats.table_bytes < 100  # a full table has 500 and more


# --- Byte order, other ports -------------------------------------------------------------------


@pytest.mark.case(86)
def test_tables_are_little_endian_on_disk():
    data = bytes.fromhex("01 02 00 01 0a143401 00 0101000000000000") + b"bca"
    assert SymbolTable.from_bytes(data, "cwida").symbols == (b"bc", b"a")
    assert SymbolTable([b"bc", b"a"]).to_bytes("cwida") == data
    with pytest.raises(CorruptDataError):
        SymbolTable.from_bytes(data[:8][::-1] + data[8:], "cwida")


@pytest.mark.case(88)
def test_tables_of_other_ports():
    rng = random.Random(5)
    symbols = reference.parquet_order(list(dict.fromkeys(rng.randbytes(1 + i % 8) for i in range(300)))[:255])
    assert len(symbols) == 255 and {len(symbol) for symbol in symbols} == set(range(1, 9))
    data = reference.write_parquet(symbols)
    table = SymbolTable.from_bytes(data)
    text = b"".join(rng.choices(symbols, k=500)) + rng.randbytes(500) + b"\xff" * 9
    codes = reference.compress(symbols, text)
    assert table.to_bytes() == data and table.compress(text) == codes and table.decompress(codes) == text

"""The trainer: any column gives a table, and the table is worth its bytes."""

import os
import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import reference
import strategies
from helpers import words
from hypothesis import given, settings
from hypothesis import strategies as st

import fsst
from fsst import SymbolTable

EFFORTS = ("fast", "default", "max")
RNG = random.Random(99)
COLUMNS = {
    "no rows": [],
    "all null": [None] * 100,
    "all empty": [b""] * 1000,
    "one empty row": [b""],
    "one row": [b"one row alone"],
    "one long row": [b"one row alone, " * 5000],
    "one byte": [b"x"],
    "rows of one byte": [bytes([i % 7]) for i in range(5000)],
    "one value": [b"constant value"] * 10_000,
    "one letter": [b"a" * 1000] * 100,
    "random bytes": [RNG.randbytes(40) for _ in range(2000)],
    "random rows, 2 kB": [RNG.randbytes(2000) for _ in range(200)],
    "hex": [RNG.randbytes(16).hex().encode() for _ in range(2000)],
    "40 short rows": [(b"alpha" if i % 2 else b"gamma") + RNG.randbytes(3) for i in range(40)],
    "all byte values": [bytes(range(256))] * 20,
    "each byte value": [bytes([i]) for i in range(256)],
    "200 rows q and a long one": [b"q"] * 200 + [RNG.randbytes(20_000) + b"long" * 5000],
    "empties and a long one": [b""] * 100_000 + [b"x" * 20_000],
    "ab and ba": [b"ab"] * 5000 + [b"ba"] * 5000,
    "zeros": [b"\x00" * (i % 20) for i in range(1000)],
    "ff": [b"\xff" * (i % 20) for i in range(1000)],
    "escapes look alike": [b"\xff\x00\xff\xfe"] * 1000,
    "text": [row.encode() for row in words(5, 3000)],
    "every value unlike": [f"{i:08x}".encode() for i in range(3000)],
    "prefixes": [b"abcdefgh"[: i % 9] for i in range(3000)],
}


def total(table, rows):
    """What the column takes: codes, and the table."""
    return sum(len(table.compress(row)) for row in rows if row) + len(table.to_bytes())


@pytest.mark.kind(17, 19, 78, 80)
@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("name", COLUMNS)
def test_any_column_gives_a_good_table(name, effort):
    rows = COLUMNS[name]
    table = fsst.train(pa.array(rows, pa.binary()), effort=effort)
    assert len(set(table.symbols)) == len(table.symbols) <= 255
    assert all(1 <= len(symbol) <= 8 for symbol in table.symbols)
    assert SymbolTable.from_bytes(table.to_bytes()) == table
    sample = rows if len(rows) < 300 else rows[:150] + rows[-150:]
    for row in sample:
        if row:
            assert table.decompress(table.compress(row)) == row


@pytest.mark.kind(98, 99)
@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_table_never_costs_more_than_it_saves(name, effort):
    rows = COLUMNS[name]
    table = fsst.train(pa.array(rows, pa.binary()), effort=effort)
    assert total(table, rows) <= total(SymbolTable(), rows)


@pytest.mark.kind(19, 78, 80, 99)
@given(rows=st.lists(st.none() | strategies.texts(), max_size=30), effort=st.sampled_from(EFFORTS))
@settings(max_examples=30)
def test_small_columns_of_any_kind(rows, effort):
    table = fsst.train(pa.array(rows, pa.binary()), effort=effort)
    assert len(set(table.symbols)) == len(table.symbols) <= 255
    assert total(table, rows) <= total(SymbolTable(), rows)
    for row in rows:
        if row is not None:
            assert table.compress(row) == reference.compress(list(table.symbols), row)


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("name", ["no rows", "all null", "all empty", "one empty row", "one byte"])
def test_nothing_to_learn_is_an_empty_table(name, effort):
    assert fsst.train(pa.array(COLUMNS[name], pa.binary()), effort=effort) == SymbolTable()


@pytest.mark.kind(99)
@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("name", ["40 short rows", "one row", "prefixes", "one value", "ab and ba"])
def test_each_symbol_pays_for_itself(name, effort):
    rows = COLUMNS[name]
    table = fsst.train(pa.array(rows, pa.binary()), effort=effort)
    for symbol in table.symbols:
        less = SymbolTable(other for other in table.symbols if other != symbol)
        assert total(less, rows) >= total(table, rows), symbol


def test_repeats_are_found():
    for name, factor in (("one value", 5), ("one letter", 6), ("text", 1.8), ("zeros", 2), ("ff", 2)):
        rows = COLUMNS[name]
        assert total(fsst.train(pa.array(rows, pa.binary())), rows) < sum(map(len, rows)) / factor, name


def test_random_bytes_stay_about_as_long_as_they_are():
    # 255 one-byte symbols: one byte in 256 is escaped.
    rng = random.Random(1)
    rows = [rng.randbytes(1000) for _ in range(100)]
    assert total(fsst.train(pa.array(rows, pa.binary())), rows) < 100_000 * 1.05


def test_more_effort_is_never_worse():
    for name in ("text", "hex", "one value"):
        rows = COLUMNS[name]
        sizes = [total(fsst.train(pa.array(rows, pa.binary()), effort=effort), rows) for effort in EFFORTS]
        assert sizes[2] <= sizes[1] * 1.001 and sizes[1] <= sizes[0] * 1.01, (name, sizes)


def test_what_is_learnt_is_spread_over_the_column():
    # A sample of the beginning alone would miss the second half.
    rows = [b"first half %d" % i for i in range(50_000)] + [b"ANOTHER PART %d" % i for i in range(50_000)]
    table = fsst.train(pa.array(rows, pa.binary()))
    for half in (rows[:50_000], rows[50_000:]):
        codes = fsst.compress(pa.array(half, pa.binary()), symbol_table=table)
        assert pc.sum(pc.binary_length(codes.storage)).as_py() < sum(map(len, half)) / 2.5


@pytest.mark.parametrize("wrong", ["best", "", "DEFAULT", None, 3])
def test_efforts_have_names(wrong):
    with pytest.raises((TypeError, ValueError), match="effort"):
        fsst.train(["a"], effort=wrong)
    with pytest.raises((TypeError, ValueError), match="effort"):
        fsst.compress(["a"], effort=wrong)


def test_one_column_is_trained_on():
    for wrong in (
        pa.table({"a": ["x"]}),
        pa.record_batch({"a": ["x"]}),
        pa.array([["x"]]),
        pa.array([1]),
        "x",
        7,
        None,
    ):
        with pytest.raises(TypeError):
            fsst.train(wrong)
    for good in (
        ["xyz"],
        [b"xyz"],
        pa.array(["xyz"]),
        pa.chunked_array([["xyz"], []]),
        fsst.compress(["xyz"]),
    ):
        assert isinstance(fsst.train(good), SymbolTable)


def test_a_table_made_from_some_rows_serves_others():
    table = fsst.train(pa.array(words(6, 2000)))
    column = fsst.compress(pa.array([*words(7, 100), "ÄÖÜ", os.sep * 100]), symbol_table=table)
    assert column.symbol_table is table
    assert fsst.decompress(column).to_pylist() == [*words(7, 100), "ÄÖÜ", os.sep * 100]


@pytest.mark.parametrize("effort", ["fast", "default", "max"])
@pytest.mark.parametrize("length", [17, 50, 97, 99, 100])
def test_rows_of_one_repeated_byte(length, effort):
    # Occurrences overlap here, and what one symbol is worth depends on all of them at once.
    table = fsst.train([b"a" * length] * 1000, effort=effort)
    assert len(table.compress(b"a" * length)) <= -(-length // 8) + 1


@pytest.mark.parametrize("effort", ["fast", "default", "max"])
def test_sorted_keys_do_not_mislead_the_sample(effort):
    # Neighbours look alike: a sample of few long windows takes their common digits for frequent.
    rows = [b"key%012d" % i for i in range(50_000)]
    column = fsst.compress(pa.array(rows, pa.binary()), effort=effort)
    assert column.stats().factor > 3.5

"""How such codecs fail in practice, searches and single rows: a small input for each kind.

The kinds in general are tested by test_compute.py and test_rows.py, function by function.
"""

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from helpers import column_of_codes, ipc, words

import fsst
import fsst.compute as fc
from fsst import SymbolTable
from fsst.page import DataPage, encode_data_page


def both(name, column, *arguments):
    """Of fsst.compute, which is also what pyarrow says of the decompressed column."""
    found = getattr(fc, name)(column, *arguments)
    assert found.equals(getattr(pc, name)(fsst.decompress(column), *arguments))
    return found.to_pylist()


# --- Nulls and empty strings -------------------------------------------------------------------


@pytest.mark.case(47)
def test_equality_keeps_nulls():
    assert both("equal", fsst.compress(["a", None]), "a") == [True, None]
    assert both("not_equal", fsst.compress(["a", None]), "a") == [False, None]
    assert both("equal", fsst.compress(["a", None]), None) == [None, None]


@pytest.mark.case(48)
def test_nulls_keep_their_places():
    column = fsst.compress([None, "x", None, None, "y"])
    assert both("match_substring", column, "x") == [None, True, None, None, False]
    assert both("binary_length", column) == [None, 1, None, None, 1]


@pytest.mark.case(71)
def test_empty_constant():
    column = fsst.compress(["a", None, "", "b"])
    assert both("equal", column, "") == [False, None, True, False]
    assert both("less", column, "") == [False, None, False, False]
    assert both("greater_equal", column, "") == [True, None, True, True]
    assert both("starts_with", column, "") == both("ends_with", column, "") == [True, None, True, True]
    assert both("match_substring", column, "") == both("match_like", column, "%") == [True, None, True, True]
    assert both("match_like", column, "") == [False, None, True, False]


# --- Predicates --------------------------------------------------------------------------------


@pytest.mark.case(70)
def test_like_with_an_escape():
    column = fsst.compress(["50%", "50x", "a_b", "acb"])
    assert both("match_like", column, "50\\%") == [True, False, False, False]
    assert both("match_like", column, "a\\_b") == [False, False, True, False]
    assert both("match_like", column, "_0\\%") == [True, False, False, False]
    assert both("match_like", column, "_\\_%") == [False, False, True, False]


@pytest.mark.case(72)
def test_predicates_see_real_values_only():
    column = fsst.compress([f"k/{i}" for i in range(100)])
    assert all(both("match_substring_regex", column, "^k/[0-9]+$"))
    assert all(both("match_like", column, "k/_%"))
    assert min(both("binary_length", column)) == 3
    assert len(both("unique", column)) == 100 and both("dictionary_encode", column) == column.to_pylist()
    assert fc.min_max(column).as_py() == {"min": "k/0", "max": "k/99"}


@pytest.mark.case(74)
def test_order_is_of_the_text():
    table = SymbolTable([b"b", b"a"])
    assert table.compress(b"a") > table.compress(b"b")
    column = fsst.compress(["a", "b", "ab", "ba"], symbol_table=table)
    assert both("sort_indices", column) == [0, 2, 1, 3]
    assert both("less", column, "b") == [True, False, True, False]
    assert fc.min_max(column).as_py() == {"min": "a", "max": "ba"}


@pytest.mark.case(74)
def test_text_has_several_codes():
    rows = [b"\x01\xffb", b"\xffb\x02", b"\x03", b"\xffb\xffa\x00\xffa"]
    column = column_of_codes([b"nan", b"ban", b"ana", b"banana"], [*rows, b"\x01\x02", b"\x02"])
    assert column.to_pylist() == ["banb", "bana", "banana", "banana", "banana", "ana"]
    assert both("match_like", column, "%nan%") == [False, False, True, True, True, False]
    assert both("match_substring", column, "ana") == [False, True, True, True, True, True]
    assert both("equal", column, "banana") == [False, False, True, True, True, False]
    assert both("starts_with", column, "ban") == [True, True, True, True, True, False]
    assert both("ends_with", column, "nana") == [False, False, True, True, True, False]
    assert both("unique", column) == ["banb", "bana", "banana", "ana"]
    assert [count["counts"] for count in both("value_counts", column)] == [1, 1, 3, 1]
    assert both("index_in", column, pa.array(["ana", "banana"])) == [None, None, 1, 1, 1, 0]


@pytest.mark.case(75)
def test_constants_of_columns_with_other_tables():
    columns = [fsst.compress(["ab", "c"], symbol_table=SymbolTable(table)) for table in ([b"ab"], [b"b", b"a"])]
    assert columns[0].storage[0] != columns[1].storage[0]
    for column in columns:
        assert both("equal", column, "ab") == [True, False]
        for other in columns:
            assert fc.equal(column, other).to_pylist() == [True, True]
            assert fc.is_in(column, other).to_pylist() == [True, True]
    # Such columns can't be chunks of one array, so nothing can be encoded with the wrong table.
    with pytest.raises(pa.ArrowTypeError):
        pa.chunked_array(columns)


# --- Single rows -------------------------------------------------------------------------------


@pytest.mark.case(77)
def test_rows_in_random_order():
    rows = words(9, 20)
    column = fsst.compress(rows)
    reader = column.reader()
    page = DataPage(encode_data_page(column), column.symbol_table, 20, value_type=pa.string())
    for scan in (list(reader), column.to_pylist(), page.to_array().to_pylist()):
        assert scan == rows
        for row in (9, 0, 5, 5, 9):
            assert reader[row] == column[row].as_py() == page[row].as_py() == rows[row]
            assert column.decompress_rows([row])[0].as_py() == rows[row]
    assert page.take([9, 0, 5, 5, 9]).to_pylist() == [rows[row] for row in (9, 0, 5, 5, 9)]


@pytest.mark.case(102)
def test_slices_share_what_is_built():
    column = fsst.compress(words(4, 1000))
    with pa.ipc.open_file(ipc(pa.record_batch([column], ["text"]))) as reader:
        read = reader.get_batch(0).column(0)
    assert all(read.slice(start, 3).symbol_table is read.symbol_table for start in range(100))
    for start in range(1000):
        piece = column.slice(start, 50)
        assert piece.symbol_table is column.symbol_table
        assert fc.equal(piece, column[start].as_py())[0].as_py()


@pytest.mark.case(103, 104)
def test_single_rows_of_a_long_column():
    column = fsst.compress(words(6, 50_000))
    reader = column.reader()
    expected = column.to_pylist()
    numbers = random.Random(1).sample(range(50_000), 2000)
    assert [reader[number] for number in numbers] == [expected[number] for number in numbers]
    # Nothing but those rows is decoded: the others may be nonsense.
    codes = column.storage.to_pylist()
    kept = set(numbers[:9])
    nonsense = [row if i in kept else b"\xff" for i, row in enumerate(codes)]
    broken = column_of_codes(list(column.symbol_table.symbols), nonsense)
    picked = [expected[number] for number in numbers[:9]]
    assert [broken.reader()[number] for number in numbers[:9]] == picked
    assert [broken[number].as_py() for number in numbers[:9]] == picked
    assert broken.decompress_rows(numbers[:9]).to_pylist() == picked
    assert fsst.decompress(broken.take(np.array(numbers[:9]))).to_pylist() == picked


@pytest.mark.case(108)
def test_offsets_are_validated_once():
    column = fsst.compress(words(1, 1000))
    opened = column.opened()
    for work in (
        lambda: column.take([5]),
        lambda: column.filter(pa.array([True] * 1000)),
        lambda: fc.equal(column, "a"),
    ):
        work()
        assert column.opened() is opened

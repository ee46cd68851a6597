"""fsst.compute against pyarrow.compute on the decompressed column: equal values, nulls, types and errors.

Columns are drawn with trained tables and with tables that do not fit, with codes of our greedy parse and of
any other, with nulls, slices and chunks.
"""

import re
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from helpers import array_over, column_of_codes, words
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import symbols

import fsst
import fsst.compute as fc
import fsst.order
import fsst.runs
from fsst import CorruptDataError

SEARCHED = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
OTHERS = [pa.string_view(), pa.binary_view(), pa.binary(3)]
TEXT = [pa.string(), pa.large_string(), pa.string_view()]

# Pieces that overlap, fold, begin and end each other, and take several bytes.
PIECES = [
    "a",
    "b",
    "ab",
    "aba",
    "A",
    "B",
    "k",
    "K",
    "s",
    "\u017f",
    "\u212a",
    "é",
    "É",
    "日本",
    "%",
    "_",
    "\\",
    "\n",
    "\0",
    "",
]
texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
bytestrings = texts.map(str.encode) | st.lists(st.sampled_from([b"a", b"\xff", b"\0", b"\xc3"]), max_size=8).map(
    b"".join
)


def any_parse(table, text, choose):
    """Codes for `text` that need not be the greedy ones: any symbol that fits, or an escape."""
    codes = b""
    at = 0
    while at < len(text):
        fitting = [code for code, symbol in enumerate(table) if text.startswith(symbol, at)]
        pick = choose(range(len(fitting) + 1))
        if pick == len(fitting):
            codes += bytes([255, text[at]])
            at += 1
        else:
            codes += bytes([fitting[pick]])
            at += len(table[fitting[pick]])
    return codes


@st.composite
def columns(draw, value_types=SEARCHED):
    """A compressed column, plain or chunked."""
    value_type = draw(st.sampled_from(value_types))
    if pa.types.is_fixed_size_binary(value_type):
        value = st.lists(st.sampled_from([b"a", b"b", b"\xff"]), min_size=3, max_size=3).map(b"".join)
    else:
        value = texts if value_type in TEXT else bytestrings
    chunks = [draw(st.lists(st.none() | value, max_size=12)) for _ in range(draw(st.integers(0, 3)))]
    how = draw(st.sampled_from(["trained", "drawn", "foreign"]))
    if how == "trained":
        column = fsst.compress(pa.chunked_array(chunks, value_type))
    else:
        pieces = [piece.encode() for piece in PIECES if 0 < len(piece.encode()) <= 8]
        table = draw(symbols() | st.lists(st.sampled_from([*pieces, b"aa", b"ba", b"bab", b"\xff"]), unique=True))
        table = sorted(table, key=len)
        if how == "drawn":
            column = fsst.compress(pa.chunked_array(chunks, value_type), symbol_table=fsst.SymbolTable(table))
        else:
            storage = draw(st.sampled_from([pa.binary(), pa.large_binary()]))
            arrays = []
            for rows in chunks:
                plain = [row.encode() if isinstance(row, str) else row for row in rows]
                codes = [
                    None if row is None else any_parse(table, row, lambda of: draw(st.sampled_from(of)))
                    for row in plain
                ]
                arrays.append(column_of_codes(table, codes, value_type, storage))
            column = pa.chunked_array(arrays, fsst.FsstType(fsst.SymbolTable(table), value_type, storage))
    cut = []
    for chunk in column.chunks:
        start = draw(st.integers(0, len(chunk)))
        cut.append(chunk.slice(start, draw(st.integers(0, len(chunk) - start))))
    if cut and draw(st.booleans()):
        return cut[0]
    return pa.chunked_array(cut, column.type)


@st.composite
def columns_and_patterns(draw, value_types=SEARCHED):
    """A column, and a pattern of which there is something in it, or not."""
    column = draw(columns(value_types))
    rows = [row for row in column.to_pylist() if row is not None] if len(column) else []
    pattern = draw(texts | st.sampled_from(["abab", "x" * 60, "aaab"]))
    if rows and draw(st.booleans()):
        row = draw(st.sampled_from(rows))
        start = draw(st.integers(0, len(row)))
        pattern = row[start : start + draw(st.integers(0, 60))]
    if isinstance(pattern, str) and column.type.value_type not in TEXT and draw(st.booleans()):
        pattern = draw(bytestrings)
    return column, pattern


def plain_of(column):
    return fsst.decompress(column)


def same(name, column, *arguments, **options):
    """The two functions do the same; errors are of the same class."""
    plain = plain_of(column)
    arguments_plain = [
        plain_of(argument) if isinstance(getattr(argument, "type", None), fsst.FsstType) else argument
        for argument in arguments
    ]
    try:
        expected = getattr(pc, name)(plain, *arguments_plain, **options)
    except Exception as error:
        with pytest.raises(type(error)):
            getattr(fc, name)(column, *arguments, **options)
        return
    found = getattr(fc, name)(column, *arguments, **options)
    assert type(found) is type(expected)
    assert found.type == expected.type
    if isinstance(found, pa.Scalar):
        assert found.equals(expected), (found, expected)
        return
    assert found.to_pylist() == expected.to_pylist()
    assert found.equals(expected)
    if isinstance(found, pa.ChunkedArray):
        for chunk in found.chunks:
            chunk.validate(full=True)
    else:
        found.validate(full=True)


# --- Properties: one for every function ---


@pytest.mark.kind(71, 74, 75)
@pytest.mark.parametrize("name", ["match_substring", "starts_with", "ends_with", "find_substring", "count_substring"])
@given(columns_and_patterns(), st.booleans())
def test_pattern(name, drawn, ignore_case):
    column, pattern = drawn
    same(name, column, pattern, ignore_case=ignore_case)


@pytest.mark.parametrize("name", ["match_substring", "starts_with", "ends_with", "match_like", "find_substring"])
@given(columns_and_patterns(OTHERS))
def test_pattern_of_other_types(name, drawn):
    same(name, *drawn)


LIKE_PIECES = ["%", "_", "\\", "\\%", "\\_", "a", "b", "é", "日", "\n", "%%", "a%", "\u017f"]


@pytest.mark.kind(70)
@given(
    columns(),
    st.lists(st.sampled_from(LIKE_PIECES), max_size=6).map("".join) | st.just(b"_\xff%"),
    st.booleans(),
)
def test_like(column, pattern, ignore_case):
    same("match_like", column, pattern, ignore_case=ignore_case)


@given(columns_and_patterns(), st.data())
def test_like_around_what_is_there(drawn, data):
    column, pattern = drawn
    wild, other = ("%", "_") if isinstance(pattern, str) else (b"%", b"_")
    form = data.draw(st.sampled_from(["%x%", "x%", "%x", "x", "_x%", "%x_", "%x%x%", "_%x"]))
    for piece in re.split("(x)", form):
        assert piece in ("x", "") or set(piece) <= {"%", "_"}
    full = pattern[:0]
    for letter in form:
        full += {"x": pattern, "%": wild, "_": other}[letter]
    same("match_like", column, full)


def test_like_takes_no_longer_for_patterns_that_nearly_match():
    column = fsst.compress(["a" * 2_000_000, "a" * 600 + "xb", None, "b"])
    begun = time.process_time()
    for pattern in ("%" + "a" * 500 + "_b%", "%" + "a_" * 300 + "b%", "%" + "a" * 64 + "_b%", "%" + "a" * 64 + "_%b"):
        same("match_like", column, pattern)
    assert time.process_time() - begun < 1.5  # trying each place anew takes 4 s and more


@pytest.mark.kind(72)
@pytest.mark.parametrize("pattern", ["a+b", "^a", "b$", "(", ".", ""])
@given(column=columns(SEARCHED + OTHERS), ignore_case=st.booleans())
def test_regex(column, pattern, ignore_case):
    same("match_substring_regex", column, pattern, ignore_case=ignore_case)


@pytest.mark.parametrize("name", ["binary_length", "utf8_length"])
@given(columns(SEARCHED + OTHERS))
def test_lengths(name, column):
    same(name, column)


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.kind(47, 71, 74, 75)
@pytest.mark.parametrize("name", COMPARISONS)
@given(columns_and_patterns(SEARCHED + OTHERS), st.data())
def test_comparison(name, drawn, data):
    column, constant = drawn
    other = data.draw(st.sampled_from([constant, pa.scalar(constant), None, pa.scalar(None, pa.string()), 5]))
    same(name, column, other)
    try:
        expected = getattr(pc, name)(other, plain_of(column))
    except pa.ArrowNotImplementedError:
        with pytest.raises(pa.ArrowNotImplementedError):
            getattr(fc, name)(other, column)
        return
    assert getattr(fc, name)(other, column).equals(expected)


@pytest.mark.kind(47, 75)
@pytest.mark.parametrize("name", COMPARISONS)
@given(columns(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_comparison_of_columns(name, column, random, compressed, chunked):
    rows = column.to_pylist()
    random.shuffle(rows)
    other = pa.array(rows, column.type.value_type)
    if chunked:
        other = pa.chunked_array([other.slice(0, len(rows) // 2), other.slice(len(rows) // 2)])
    same(name, column, fsst.compress(other) if compressed else other)
    if len(rows) > 1:
        same(name, column, other.slice(1))


@pytest.mark.parametrize("name", ["is_in", "index_in"])
@given(columns(SEARCHED + OTHERS), st.data())
def test_membership(name, column, data):
    rows = list(dict.fromkeys(column.to_pylist() if len(column) else []))
    value = st.sampled_from(["a", "ab", "é", "no such row"])
    if column.type.value_type not in TEXT:
        value = value.map(str.encode)
    if pa.types.is_fixed_size_binary(column.type.value_type):
        value = st.just(b"xyz")
    wanted = data.draw(
        st.lists(st.sampled_from([*rows, None]) if rows else value, max_size=12) | st.lists(value, max_size=3)
    )
    value_type = data.draw(st.sampled_from([column.type.value_type, column.type.value_type, pa.string()]))
    try:
        value_set = pa.array(wanted, value_type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        value_set = pa.array(wanted, column.type.value_type)
    same(name, column, value_set, skip_nulls=data.draw(st.booleans()))


@given(columns(SEARCHED + OTHERS), st.booleans(), st.integers(0, 4))
def test_min_max(column, skip_nulls, min_count):
    same("min_max", column, skip_nulls=skip_nulls, min_count=min_count)


@pytest.mark.kind(72, 74)
@pytest.mark.parametrize("name", ["unique", "value_counts", "dictionary_encode"])
@given(columns(SEARCHED + OTHERS))
def test_distinct(name, column):
    same(name, column)


@given(columns())
def test_dictionary_encode_nulls(column):
    same("dictionary_encode", column, "encode")


@pytest.mark.parametrize("order", ["ascending", "descending"])
@given(columns(SEARCHED + OTHERS))
def test_sort_indices(order, column):
    same("sort_indices", column, [("x", order)])
    same("sort_indices", column)


ALIKE = ["", "a", "aaaaaaaa", "aaaaaaaa\0", "aaaaaaaab", "a" * 16, "a" * 17, "\0" * 9, "b", "é" * 5]


@pytest.mark.parametrize("order", ["ascending", "descending"])
@pytest.mark.parametrize("placement", ["at_end", "at_start"])
@given(columns(), st.data())
def test_sort_indices_in_many_runs(order, placement, column, data):
    # Runs of a few bytes: all ways in which rows with the same first bytes are told apart.
    value_type = column.type.value_type
    value = st.sampled_from(ALIKE if value_type in TEXT else [text.encode() for text in ALIKE])
    chunks = data.draw(st.lists(st.lists(st.none() | value, max_size=40), max_size=3))
    more = fsst.compress(pa.chunked_array(chunks, value_type))
    for drawn in (column, more, *more.chunks[:1]):
        with pytest.MonkeyPatch.context() as patch:
            for module in (fsst.order, fsst.runs, fc):
                patch.setattr(module, "RUN_CODES", data.draw(st.sampled_from([1, 16, 60])))
            patch.setattr(fsst.order, "_MOST_ALIKE", data.draw(st.sampled_from([0, 8, 256])))
            same("sort_indices", drawn, [("", order, placement)])


# --- What pyarrow takes and what it refuses ---


@pytest.mark.parametrize("name", ["match_substring", "starts_with", "match_like", "count_substring"])
@pytest.mark.parametrize(
    "pattern", [None, 5, "\ud800", pa.scalar("a"), bytearray(b"a"), "", b"", b"\xff", np.str_("a")]
)
def test_patterns_of_odd_types(name, pattern):
    same(name, fsst.compress(["a", None, "é", ""]), pattern)
    same(name, fsst.compress([b"a", None, b"\xff", b""]), pattern)


def test_options():
    column = fsst.compress(["Ab", None, "b"])
    plain = plain_of(column)
    options = pc.MatchSubstringOptions("B", ignore_case=True)
    for name in ("match_substring", "starts_with", "ends_with", "match_like", "find_substring", "count_substring"):
        assert getattr(fc, name)(column, options=options).equals(getattr(pc, name)(plain, options=options))
    lookup = pc.SetLookupOptions(pa.array(["b"]))
    assert fc.is_in(column, options=lookup).equals(pc.is_in(plain, options=lookup))
    few = pc.ScalarAggregateOptions(skip_nulls=False)
    assert fc.min_max(column, options=few).equals(pc.min_max(plain, options=few))
    encode = pc.DictionaryEncodeOptions("encode")
    assert fc.dictionary_encode(column, options=encode).equals(pc.dictionary_encode(plain, options=encode))
    order = pc.SortOptions([("x", "descending")])
    assert fc.sort_indices(column, options=order).equals(pc.sort_indices(plain, options=order))


def test_plain_columns_are_pyarrows():
    plain = pa.array(["b", None, "a"])
    assert fc.match_substring(plain, "a").equals(pc.match_substring(plain, "a"))
    assert fc.equal(plain, "a").equals(pc.equal(plain, "a"))
    assert fc.min_max(plain) == pc.min_max(plain)
    for name in ("unique", "value_counts", "dictionary_encode", "sort_indices", "binary_length", "utf8_length"):
        assert getattr(fc, name)(plain).equals(getattr(pc, name)(plain))


def test_sets_of_odd_types():
    column = fsst.compress(["a", None])
    for wanted in (
        ["a"],
        pa.array([1]),
        pa.array([None]),
        pa.chunked_array([["a"]]),
        pa.array(["a"], pa.large_string()),
    ):
        same("is_in", column, wanted)
        same("index_in", column, wanted)


def test_chunks_without_rows_and_no_chunks():
    column = fsst.compress(["a", "b"])
    for chunked in (pa.chunked_array([], column.type), pa.chunked_array([column.slice(0, 0), column])):
        same("match_substring", chunked, "a")
        same("equal", chunked, "a")
        same("min_max", chunked)
        for name in ("binary_length", "utf8_length", "unique", "value_counts", "sort_indices"):
            same(name, chunked)


def test_results_are_chunked_as_columns_are():
    column = fsst.compress(["a", "b", "c"])
    chunked = pa.chunked_array([column.slice(0, 0), column.slice(0, 2), column.slice(1, 0), column.slice(2)])
    for found in (fc.match_substring(chunked, "a"), fc.equal(chunked, "a"), fc.binary_length(chunked)):
        assert [len(chunk) for chunk in found.chunks] == [0, 2, 0, 1]


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65])
def test_constants_of_every_parse(size):
    # One text in every parse, and texts that differ from it in one byte, on columns of a few blocks and both widths
    # of offsets: what is told from edges alone, from four codes, from seven with escapes, and by walking.
    rng = np.random.default_rng(size)
    table = [b"a", b"b", b"\xff", b"ab", b"aa", b"aab", b"abaa", b"aabbaabb"]
    text = bytes(rng.choice([97, 98], size))
    others = [text[:at] + b"c" + text[at + 1 :] for at in range(size)] + [text + b"a", text[1:], b"b" + text, b""]
    rows = [text if rng.random() < 0.5 else others[rng.integers(len(others))] for _ in range(300)]
    codes = [any_parse(table, row, lambda of: int(rng.integers(len(of)))) for row in rows]
    plain = pa.array(rows, pa.binary())
    for storage in (pa.binary(), pa.large_binary()):
        for first in (0, 3, 64, 101):
            column = column_of_codes(table, codes, pa.binary(), storage).slice(first)
            cut = plain.slice(first)
            for name in ("equal", "not_equal", "starts_with", "ends_with"):
                for constant in (text, text[: size // 2 + 1], text[size // 2 :]):
                    assert getattr(fc, name)(column, constant).equals(getattr(pc, name)(cut, constant)), name


# --- Larger columns: all strategies of the search, runs, threads ---


def large_columns():
    rows = words(3, 30_000)
    rows[::7] = [None] * len(rows[::7])
    yield fsst.compress(rows)
    yield fsst.compress([word * 40 if word and len(word) < 12 else word for word in rows[:9000]])
    yield fsst.compress([f"Customer#{i:09d}" for i in range(20_000)])
    # A table of other data: escapes everywhere.
    yield fsst.compress(rows, symbol_table=fsst.train(["QWERTZ"] * 100))


@pytest.mark.parametrize("column", list(large_columns()), ids=["words", "long rows", "numbers", "escapes"])
def test_large_columns(column):
    plain = plain_of(column)
    rows = [row for row in plain.to_pylist() if row]
    needles = ["e", "0", "\x07", "Z", "er", "Custom", "#00", "00000", rows[77], rows[78][-3:], rows[79][:2], "x" * 70]
    needles += [rows[80][1:4], rows[81] + rows[81], (rows[82] * 3)[:60], "ee", " "]
    for needle in needles:
        for threads in (1, 3):
            assert fc.match_substring(column, needle, threads=threads).equals(pc.match_substring(plain, needle)), needle
            assert fc.starts_with(column, needle, threads=threads).equals(pc.starts_with(plain, needle)), needle
            assert fc.ends_with(column, needle, threads=threads).equals(pc.ends_with(plain, needle)), needle
            assert fc.equal(column, needle, threads=threads).equals(pc.equal(plain, needle)), needle
        assert fc.count_substring(column, needle).equals(pc.count_substring(plain, needle)), needle
        assert fc.find_substring(column, needle).equals(pc.find_substring(plain, needle)), needle
        assert fc.match_like(column, f"%{needle}_%").equals(pc.match_like(plain, f"%{needle}_%")), needle
    folded = pc.match_substring(plain, "ER", ignore_case=True)
    assert fc.match_substring(column, "ER", ignore_case=True).equals(folded)
    for name in ("binary_length", "utf8_length", "unique", "value_counts", "dictionary_encode", "sort_indices"):
        assert getattr(fc, name)(column).equals(getattr(pc, name)(plain)), name
    assert fc.min_max(column) == pc.min_max(plain)
    assert fc.less(column, rows[5]).equals(pc.less(plain, rows[5]))
    assert fc.equal(column, column).equals(pc.equal(plain, plain))
    values = pa.array(rows[:300])
    assert fc.index_in(column, values).equals(pc.index_in(plain, values))
    assert fc.match_substring_regex(column, "e.*r").equals(pc.match_substring_regex(plain, "e.*r"))


# --- Corrupt columns ---


@given(st.lists(st.binary(max_size=12), max_size=20), st.binary(min_size=1, max_size=4), symbols())
@example([b"\xff", b"a"], b"a", [b"a"])
def test_codes_without_symbols_stand_for_nothing(rows, needle, table):
    table = sorted(table, key=len)[:200]
    column = column_of_codes(table, rows, pa.binary())
    texts = []
    for codes in rows:
        text, at = b"", 0
        while at < len(codes):
            if codes[at] == 255:
                text += codes[at + 1 : at + 2]
                at += 1
            elif codes[at] < len(table):
                text += table[codes[at]]
            at += 1
        texts.append(text)
    plain = pa.array(texts, pa.binary())
    for name in ("match_substring", "starts_with", "ends_with", "find_substring", "count_substring"):
        assert getattr(fc, name)(column, needle).equals(getattr(pc, name)(plain, needle))
    assert fc.equal(column, needle).equals(pc.equal(plain, needle))


def test_what_decompresses_refuses_corrupt_codes():
    column = column_of_codes([b"a"], [b"\0", b"\7"])
    calls = [
        lambda: fc.binary_length(column),
        lambda: fc.utf8_length(column),
        lambda: fc.min_max(column),
        lambda: fc.unique(column),
        lambda: fc.less(column, "a"),
        lambda: fc.match_substring_regex(column, "a"),
        lambda: fc.match_like(column, "_"),
        lambda: fc.sort_indices(column),
    ]
    for call in calls:
        with pytest.raises(CorruptDataError, match="code 7"):
            call()


def test_offsets_are_checked_first():
    offsets = np.array([0, 9, 3, 5], np.int32)
    storage = pa.Array.from_buffers(pa.binary(), 3, [None, pa.py_buffer(offsets), pa.py_buffer(b"\0" * 5)])
    column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
    calls = [
        lambda: fc.match_substring(column, "a"),
        lambda: fc.equal(column, "a"),
        lambda: fc.unique(column),
        lambda: fc.dictionary_encode(column),
        lambda: fc.value_counts(column),
        lambda: fc.min_max(column),
        lambda: column.take([0]),
        lambda: column.filter(pa.array([True, False, True])),
        lambda: column[[1]],
        lambda: column[::2],
        lambda: column.decompress_rows([1]),
    ]
    for call in calls:
        with pytest.raises(CorruptDataError, match=r"row|offset"):
            call()


def test_null_rows_may_hide_bytes():
    storage = array_over(pa.binary(), [True, False, True], [b"\0", b"\7\7", b"\0\0"])
    column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
    same("match_substring", column, "a")
    same("binary_length", column)
    same("unique", column)
    same("value_counts", column)
    same("equal", column, "aa")
    same("min_max", column)


def test_like_does_not_look_below_nulls():
    storage = array_over(pa.binary(), [True, False, True], [b"\0", b"\0\7", b"\0\0"])
    column = fsst.FsstArray.from_storage(fsst.FsstType(fsst.SymbolTable([b"a"])), storage)
    assert fc.match_like(column, "_%a").to_pylist() == [False, None, True]


def test_offsets_that_end_anywhere():
    # Arrow lets a buffer be longer than needed, by any number of bytes.
    offsets = pa.py_buffer(np.array([0, 1, 3], np.int32).tobytes() + b"#")
    column = fsst.FsstArray.from_storage(
        fsst.FsstType(fsst.SymbolTable([b"a"])),
        pa.Array.from_buffers(pa.binary(), 2, [None, offsets, pa.py_buffer(bytes(3))]),
    )
    assert fc.less(column, "aa").to_pylist() == [True, False]
    assert fc.min_max(column).as_py() == {"min": "a", "max": "aa"}
    lists = pa.Array.from_buffers(pa.list_(column.type), 2, [None, offsets], children=[column.take([0, 1, 0])])
    assert fsst.decompress(lists).to_pylist() == [["a"], ["aa", "a"]]


@pytest.mark.parametrize("function", ["is_in", "index_in"])
@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_sets_that_are_compressed(function, kind):
    # Codes of the one column mean nothing in the other, nor beside text.
    plain = pa.array(["hello", "x", None, "hello", "\x00"], kind)
    column, ours, theirs = fsst.compress(plain), getattr(fc, function), getattr(pc, function)
    for chosen in (plain[:1], plain, plain[:0]):
        expected = theirs(plain, value_set=chosen)
        for value_set in (fsst.compress(chosen), pa.chunked_array([fsst.compress(chosen)])):
            assert ours(column, value_set).equals(expected)
            assert ours(plain, value_set).equals(expected)


# --- What a tester with nothing but the wheel found --------------------------------------------


@pytest.mark.parametrize("value_type", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
@pytest.mark.parametrize("pattern", ["%\\A", "\\k%", "%\\k%", "%\\", "\\%", "%a\\%"])
def test_backslashes_in_like_that_ignores_case(value_type, pattern):
    plain = pa.array(["kA", "ab", None, "a", "\\A", "x\\", "%\\A", "a%", ""]).cast(value_type)
    for ignore_case in (True, False):
        expected = pc.match_like(plain, pattern, ignore_case=ignore_case)
        assert fc.match_like(fsst.compress(plain), pattern, ignore_case=ignore_case).equals(expected)


def test_comparisons_with_sequences_and_with_rows_of_columns():
    plain = pa.array(["kA", "ab", None, "a"])
    column = fsst.compress(plain)
    for name in ("equal", "not_equal", "less", "greater_equal"):
        ours, theirs = getattr(fc, name), getattr(pc, name)
        for other in (["kA", "b", "c", "a"], ("a", None, "a", "a"), np.array(["kA", "b", "c", "a"])):
            assert ours(column, other).equals(theirs(plain, other))
            assert ours(other, column).equals(theirs(other, plain))
        for row in (0, 2, 3):
            assert ours(column, column[row]).equals(theirs(plain, plain[row]))
            assert ours(column[row], column).equals(theirs(plain[row], plain))

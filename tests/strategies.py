"""Hypothesis strategies: symbol tables of every shape, byte strings that try them, and Arrow columns."""

import random

import pyarrow as pa
from helpers import VALUE_TYPES
from hypothesis import strategies as st

import fsst

# Few letters make symbols that overlap and texts that match them; 0x00 and 0xFF are where codecs slip.
LETTERS = st.sampled_from([b"a", b"b", b"\x00", b"\xff"])


def _strings(shortest, longest):
    few = st.lists(LETTERS, min_size=shortest, max_size=longest).map(b"".join)
    return few | st.binary(min_size=shortest, max_size=longest)


def _full(seed):
    """255 symbols, many of which begin others."""
    rng = random.Random(seed)
    found = []
    while len(found) < 255:
        symbol = bytes(rng.choices(b"ab\x00\xff", k=rng.randint(1, 8)))
        if rng.random() < 0.1:
            symbol = rng.randbytes(rng.randint(1, 8))
        if symbol not in found:
            found.append(symbol)
    return found


def _prefixes(symbol):
    return [symbol[:length] for length in range(1, len(symbol) + 1)]


def symbols():
    """Lists of distinct symbols in any order."""
    return st.one_of(
        st.lists(_strings(1, 8), max_size=30, unique=True),
        st.lists(_strings(3, 8), max_size=30, unique=True),  # nothing short to fall back on
        st.lists(_strings(8, 8), max_size=30, unique=True),
        _strings(8, 8).map(_prefixes).flatmap(st.permutations),
        st.integers(0, 2**32).map(_full),
    )


@st.composite
def texts(draw, table=()):
    """A byte string: symbols, beginnings of symbols, repeats, and bytes of any kind."""
    pieces = [
        _strings(0, 12),
        st.builds(lambda piece, times: piece * times, _strings(1, 3), st.integers(0, 40)),
    ]
    if table:
        symbol = st.sampled_from(table)
        pieces += [symbol, symbol, st.builds(lambda s, end: s[:end], symbol, st.integers(1, 8))]
    return b"".join(draw(st.lists(st.one_of(pieces), max_size=12)))


@st.composite
def tables_and_rows(draw):
    """Symbols, and rows of text for them."""
    table = draw(symbols())
    return table, draw(st.lists(texts(table), max_size=12))


@st.composite
def columns(draw, value_types=VALUE_TYPES):
    """Arrow arrays and chunked arrays of the value types: nulls, slices, several chunks or none."""
    value_type = draw(st.sampled_from([*value_types, pa.binary(3)]))
    if pa.types.is_fixed_size_binary(value_type):
        value = _strings(3, 3)
    elif value_type in (pa.string(), pa.large_string(), pa.string_view()):
        value = st.text(max_size=20) | st.sampled_from(["", "\0", "Grüße", "🚲" * 7, "abcabcabc" * 4])
    else:
        value = texts()

    def chunk():
        array = pa.array(draw(st.lists(st.none() | value, max_size=20)), value_type)
        start = draw(st.integers(0, len(array)))
        return array.slice(start, draw(st.integers(0, len(array) - start)))

    if draw(st.booleans()):
        return chunk()
    return pa.chunked_array([chunk() for _ in range(draw(st.integers(0, 3)))], value_type)


@st.composite
def foreign_columns(draw):
    """What makes a compressed column that a file may bring, for `foreign_column`: everything in some disorder."""
    value_type = draw(st.sampled_from([*VALUE_TYPES, pa.binary(1)]))
    table = fsst.SymbolTable([b"a", b"e", b"K", b"the"])
    kind = fsst.FsstType(table, value_type, draw(st.sampled_from([pa.binary(), pa.large_binary()])))
    codes = draw(st.lists(st.sampled_from([0, 1, 2, 3, 3, 4, 97, 255]), max_size=20).map(bytes))
    count = draw(st.integers(1, 12))
    offsets = sorted(draw(st.lists(st.integers(0, len(codes)), min_size=count + 1, max_size=count + 1)))
    far = [-1, -(2**31), 2**31 - 1, len(codes) + 1, 2**20, -(2**20)]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        offsets[draw(st.integers(0, count))] = draw(st.sampled_from([*far, *range(len(codes) + 1)]))
    validity = draw(st.binary(min_size=1, max_size=2)) if draw(st.booleans()) else b""
    says = {}
    if draw(st.booleans()):
        says["rows"] = draw(st.integers(0, count) | st.sampled_from([count + 1, 17, 100, 10**7, 2**33, 2**62]))
        says["null_count"] = draw(st.sampled_from([None, 0, 1, count, 10**7, -1]))
    if draw(st.integers(0, 3)) == 0:
        says["sizes"] = draw(st.tuples(*[st.none() | st.integers(0, 9)] * 3))
    return kind, offsets, codes, validity, says

"""SymbolTable: what makes one, what it shows, and its two serialized forms."""

import copy
import pickle

import pytest
import reference
import strategies
from helpers import GOLDEN
from hypothesis import given
from hypothesis import strategies as st

from fsst import CorruptDataError, FsstError, SymbolTable

# formats.md, section 2: the worked example of the Parquet proposal (6.1).
EXAMPLE = bytes.fromhex("06 0000000002000202") + b"/page/datahttp://examplehttps://test.com"
EXAMPLE_SYMBOLS = (b"/page", b"/data", b"http://", b"example", b"https://", b"test.com")


# --- Making one ---


def test_symbols_stand_in_code_order():
    table = SymbolTable([b"bb", b"a", b"\x00\xff"])
    assert table.symbols == (b"bb", b"a", b"\x00\xff")
    assert len(table) == 3
    assert table.compress(b"abb\x00\xff") == b"\x01\x00\x02"


def test_an_empty_table_escapes_everything_and_is_true():
    table = SymbolTable()
    assert table.symbols == () and len(table) == 0 and bool(table)
    assert table.compress(b"a\xff") == b"\xffa\xff\xff"
    assert table.to_bytes() == bytes(9)
    assert SymbolTable.from_bytes(bytes(9)) == table


def test_any_iterable_of_bytes():
    assert SymbolTable(symbol for symbol in (b"a", b"bc")).symbols == (b"a", b"bc")


@pytest.mark.parametrize(
    ("symbols", "error", "words"),
    [
        ([b"a", b""], ValueError, "symbol 1.*0 bytes"),
        ([b"123456789"], ValueError, "symbol 0.*9 bytes"),
        ([b"a", b"b", b"a"], ValueError, "symbol 2.*b'a'.*code 0"),
        ([bytes([i // 16, i % 16]) for i in range(256)], ValueError, "255.*256"),
        (["a"], TypeError, "symbol 0 is str"),
        ([b"a", bytearray(b"b")], TypeError, "symbol 1 is bytearray"),
        ([b"a", None], TypeError, "symbol 1 is NoneType"),
        (b"abc", TypeError, "symbol 0 is int"),
        (7, TypeError, "int"),
    ],
    ids=lambda value: None,
)
def test_what_makes_no_table(symbols, error, words):
    with pytest.raises(error, match=words):
        SymbolTable(symbols)


def test_255_symbols_of_8_bytes_are_the_most():
    symbols = [b"symbol" + bytes([i // 16, i % 16]) for i in range(255)]
    table = SymbolTable(symbols)
    assert len(table.to_bytes()) == 9 + 255 * 8
    assert SymbolTable.from_bytes(table.to_bytes()) == table
    assert table.compress(symbols[254]) == b"\xfe"
    assert table.decompress(b"\xfe\x00\xff\xff") == symbols[254] + symbols[0] + b"\xff"


# --- Being one ---


def test_equality_and_hash_are_of_the_symbols_in_order():
    table = SymbolTable([b"a", b"bc"])
    assert table == SymbolTable([b"a", b"bc"])
    assert hash(table) == hash(SymbolTable([b"a", b"bc"]))
    assert table != SymbolTable([b"bc", b"a"])
    assert table != SymbolTable([b"a"])
    assert table != (b"a", b"bc")
    assert len({table, SymbolTable([b"a", b"bc"]), SymbolTable([b"a"])}) == 2


def test_it_cannot_be_changed():
    table = SymbolTable([b"a"])
    for name in ("symbols", "_symbols", "_native", "new"):
        with pytest.raises(AttributeError):
            setattr(table, name, ())
    with pytest.raises(AttributeError):
        del table.symbols
    with pytest.raises(TypeError):
        table.symbols[0] = b"b"


def test_it_cannot_be_initialised_again():
    table = SymbolTable([b"a"])
    known = {table: 1}
    try:  # it may raise or do nothing
        table.__init__([b"b"])
    except Exception as error:
        assert isinstance(error, (AttributeError, TypeError))
    assert table.symbols == (b"a",)
    assert known[SymbolTable([b"a"])] == 1


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for symbols in ([], [b"bb", b"a"], [b"a", b"\x00\xff", b"12345678"]):
        table = SymbolTable(symbols)
        again = pickle.loads(pickle.dumps(table, protocol))
        assert again == table and again.symbols == table.symbols
        assert again.compress(b"abb12345678") == table.compress(b"abb12345678")


def test_copies_are_equal():
    table = SymbolTable([b"a", b"the"])
    assert copy.copy(table) == table == copy.deepcopy(table)


def test_repr_is_short_and_shows_symbols():
    assert "empty" in repr(SymbolTable())
    assert repr(b"the") in repr(SymbolTable([b"a", b"the"]))
    assert "2 symbols" in repr(SymbolTable([b"a", b"the"]))
    full = SymbolTable([b"symbol" + bytes([i // 16, i % 16]) for i in range(255)])
    assert "255 symbols" in repr(full) and len(repr(full)) < 400


def test_html_escapes_what_symbols_hold():
    shown = SymbolTable([b"<b>", b"&", b"\x00\xff"])._repr_html_()
    assert "&lt;b&gt;" in shown and "&amp;" in shown and "<b>\x00" not in shown
    assert "\\x00\\xff" in shown
    assert "3 symbols" in shown


# --- Single strings ---


@given(data=st.data(), symbols=strategies.symbols())
def test_compress_is_the_oracles(data, symbols):
    table = SymbolTable(symbols)
    text = data.draw(strategies.texts(symbols))
    codes = table.compress(text)
    assert codes == reference.compress(symbols, text)
    assert table.decompress(codes) == text


@given(symbols=strategies.symbols(), codes=strategies.texts() | st.lists(st.integers(0, 40)).map(bytes))
def test_decompress_is_the_oracles(symbols, codes):
    table = SymbolTable(symbols)
    try:
        expected = reference.decompress(symbols, codes)
    except reference.CorruptError:
        with pytest.raises(CorruptDataError):
            table.decompress(codes)
    else:
        assert table.decompress(codes) == expected


def test_decompress_says_where_codes_are_corrupt():
    table = SymbolTable([b"a", b"bc"])
    with pytest.raises(CorruptDataError, match=r"code 7 at byte 3.*2 symbols"):
        table.decompress(b"\x00\xff\x07\x07")
    with pytest.raises(CorruptDataError, match=r"byte 2.* without its literal"):
        table.decompress(b"\x00\x01\xff")
    assert table.decompress(b"\xff\xff") == b"\xff"
    assert issubclass(CorruptDataError, FsstError) and issubclass(FsstError, ValueError)


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview], ids=lambda make: make.__name__)
def test_strings_are_any_bytes_like(make):
    table = SymbolTable([b"a", b"the"])
    assert table.compress(make(b"thea")) == b"\x01\x00"
    assert table.decompress(make(b"\x01\x00")) == b"thea"
    assert SymbolTable.from_bytes(make(table.to_bytes())) == table


@pytest.mark.parametrize("wrong", ["text", None, 7, [1, 2]], ids=repr)
def test_strings_are_nothing_else(wrong):
    table = SymbolTable([b"a"])
    for method in (table.compress, table.decompress, SymbolTable.from_bytes):
        with pytest.raises(TypeError):
            method(wrong)


def test_strided_bytes_are_refused():
    with pytest.raises((BufferError, ValueError)):
        SymbolTable([b"a"]).compress(memoryview(b"abcd")[::2])


# --- Formats ---


def test_worked_example_of_the_proposal():
    assert len(EXAMPLE) == 49
    table = SymbolTable.from_bytes(EXAMPLE)
    assert table.symbols == EXAMPLE_SYMBOLS
    assert table.to_bytes() == table.to_bytes("parquet") == table.to_bytes(format="parquet") == EXAMPLE
    # 6.2: the codes of four values.
    for text, codes in (
        (b"https://example/page1", "04 03 00 FF 31"),
        (b"https://example/page2", "04 03 00 FF 32"),
        (b"https://test.com/data", "04 05 01"),
        (b"http://example", "02 03"),
    ):
        assert table.compress(text) == bytes.fromhex(codes)
        assert table.decompress(bytes.fromhex(codes)) == text


@pytest.mark.kind(86, 88)
@given(symbols=strategies.symbols())
def test_parquet_is_the_oracles(symbols):
    ordered = reference.parquet_order(symbols)
    table = SymbolTable(symbols).reordered()
    assert list(table.symbols) == ordered
    assert table.to_bytes() == reference.write_parquet(ordered)
    assert list(SymbolTable.from_bytes(table.to_bytes()).symbols) == ordered


@pytest.mark.kind(86, 88)
@given(symbols=strategies.symbols())
def test_cwida_is_the_oracles(symbols):
    ordered = reference.cwida_order(symbols)
    table = SymbolTable(symbols).reordered("cwida")
    assert list(table.symbols) == ordered
    if set(b"".join(s for s in symbols if len(s) > 1)) == set(range(256)):
        return  # no terminator, no cwida: tested below
    assert table.to_bytes("cwida") == reference.write_cwida(ordered)
    again = SymbolTable.from_bytes(table.to_bytes("cwida"), "cwida")
    assert again == table
    assert again.to_bytes("cwida") == table.to_bytes("cwida")


def test_writing_in_another_order_is_refused():
    table = SymbolTable([b"the", b"a"])
    with pytest.raises(ValueError, match=r"reordered\('parquet'\)"):
        table.to_bytes()
    assert SymbolTable.from_bytes(table.to_bytes("cwida"), "cwida") == table
    with pytest.raises(ValueError, match=r"reordered\('cwida'\)"):
        table.reordered("parquet").to_bytes("cwida")
    # Two bytes that begin a longer symbol come after those that do not.
    with pytest.raises(ValueError, match="order"):
        SymbolTable([b"ab", b"cd", b"abc"]).to_bytes("cwida")
    assert SymbolTable([b"ab", b"cd", b"abc"]).reordered("cwida").symbols == (b"cd", b"ab", b"abc")


def test_cwida_needs_a_byte_that_no_long_symbol_holds():
    pairs = [bytes([i, i + 1]) for i in range(0, 256, 2)]
    with pytest.raises(ValueError, match=r"cwida.*256"):
        SymbolTable(pairs).to_bytes("cwida")
    but_one = SymbolTable([*pairs[:-1], b"\xfe\x00"])
    assert but_one.to_bytes("cwida")[2] == 0xFF


def test_the_word_format_is_checked():
    table = SymbolTable([b"a"])
    for use in (table.to_bytes, table.reordered, lambda format: SymbolTable.from_bytes(b"", format)):
        with pytest.raises(ValueError, match="'parquet' or 'cwida', not 'lance'"):
            use("lance")


def test_an_order_within_one_length_is_kept():
    table = SymbolTable([b"b", b"a", b"zz", b"yy"])
    assert SymbolTable.from_bytes(table.to_bytes()).symbols == table.symbols


def test_a_symbol_that_stands_twice_serves_with_its_first_code():
    # The format does not forbid it; a writer wasted a code.
    for format, data in (
        ("parquet", reference.write_parquet([b"a", b"bc", b"bc", b"def", b"def"])),
        ("cwida", reference.write_cwida([b"bc", b"bc", b"def", b"def", b"a"])),
    ):
        table = SymbolTable.from_bytes(data, format)
        codes = table.compress(b"abcdef")
        assert codes == reference.compress(list(table.symbols), b"abcdef")
        assert [table.decompress(bytes([code])) for code in range(5)] == list(table.symbols)
        assert pickle.loads(pickle.dumps(table)).to_bytes(format) == data


TABLES = {
    "parquet": [EXAMPLE, (GOLDEN / "table.parquet.bin").read_bytes(), bytes(9)],
    "cwida": [
        (GOLDEN / "table.cwida.bin").read_bytes(),
        reference.write_cwida([]),
        # Zero-terminated: code 0 is the symbol 00, counted and not stored.
        bytes.fromhex("01 04 00 02 0a143401 01 0201010000000000") + b"\x01\x02" + b"abc" + b"z",
    ],
}
CASES = [
    pytest.param(format, data, id=f"{format}-{len(data)}-bytes") for format, tables in TABLES.items() for data in tables
]


@pytest.mark.parametrize(("format", "data"), CASES)
def test_every_truncation_is_refused(format, data):
    for end in range(len(data)):
        with pytest.raises(CorruptDataError, match="bytes"):
            SymbolTable.from_bytes(data[:end], format)
    with pytest.raises(CorruptDataError, match=str(len(data) + 1)):
        SymbolTable.from_bytes(data + b"\0", format)


@pytest.mark.kind(24, 26)
@pytest.mark.parametrize(("format", "data"), CASES)
def test_every_corruption_of_a_byte_is_refused_or_kept(format, data):
    """A table that reads is one that says the same again: no field is passed over."""
    assert SymbolTable.from_bytes(data, format).to_bytes(format) == data
    for at in range(len(data)):
        for byte in range(256):
            changed = data[:at] + bytes([byte]) + data[at + 1 :]
            try:
                table = SymbolTable.from_bytes(changed, format)
            except CorruptDataError:
                continue
            assert table.to_bytes(format) == changed, (at, byte)


@pytest.mark.kind(24, 26)
@given(data=st.binary(max_size=60), format=st.sampled_from(["parquet", "cwida"]))
def test_any_bytes_are_a_table_or_corrupt(data, format):
    read = reference.read_parquet if format == "parquet" else reference.read_cwida
    try:
        expected = read(data)
    except reference.CorruptError:
        with pytest.raises(CorruptDataError):
            SymbolTable.from_bytes(data, format)
    else:
        assert list(SymbolTable.from_bytes(data, format).symbols) == expected

"""Thrift structs: what pyarrow has written comes back byte for byte, and nothing is believed."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsst import CorruptDataError
from fsst.thrift import (
    BINARY,
    BYTE,
    DOUBLE,
    I16,
    I32,
    I64,
    LIST,
    MAP,
    MAX_DEPTH,
    SET,
    STRUCT,
    TRUE,
    UUID,
    Items,
    Pairs,
    Struct,
    read_struct,
    write_struct,
)


def parquet(**options):
    table = pa.table(
        {
            "text": ["a", None, "b" * 300] * 700,
            "list": [["x"], [], None] * 700,
            "struct": [{"u": "k", "v": 1.5}] * 2100,
            "flag": [True, None, False] * 700,
        },
        metadata={"key": "value" * 50},
    )
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=500, data_page_size=1000, **options)
    return file.getvalue()


def footer(data):
    return data[-8 - int.from_bytes(data[-8:-4], "little") : -8]


OPTIONS = [
    {},
    {"data_page_version": "2.0", "write_page_index": True, "write_page_checksum": True},
    {"version": "1.0", "compression": "gzip", "use_dictionary": False, "sorting_columns": [pq.SortingColumn(0)]},
    {"bloom_filter_options": {"text": {"ndv": 100}}, "store_schema": False},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_footers_come_back_byte_for_byte(options):
    data = footer(parquet(**options))
    struct, end = read_struct(data)
    assert end == len(data)
    assert write_struct(struct) == data


@pytest.mark.parametrize("options", OPTIONS)
def test_page_headers_and_indexes_come_back_byte_for_byte(options):
    data = parquet(**options)
    seen = 0
    for group in read_struct(footer(data))[0].items(4, STRUCT):
        for chunk in group.items(1, STRUCT):
            for place, size in ((4, 5), (6, 7)):
                if place in chunk:
                    start = chunk.get(place, I64)
                    struct, end = read_struct(data, start)
                    assert write_struct(struct) == data[start:end]
                    assert end - start == chunk.get(size, I32)
            meta = chunk.get(3, STRUCT)
            at = meta.get(11, I64) or meta.get(9, I64)
            stop = at + meta.get(7, I64)
            while at < stop:
                header, end = read_struct(data, at)
                assert write_struct(header) == data[at:end]
                at = end + header.get(3, I32)
                seen += 1
    assert seen > 20


def values(kind, depth=0):
    if kind in (I16, I32, I64):
        bits = {I16: 15, I32: 31, I64: 63}[kind]
        return st.integers(-(2**bits), 2**bits - 1)
    if kind == BINARY:
        return st.binary(max_size=300)
    if kind == STRUCT:
        return structs(depth + 1)
    if kind in (LIST, SET):
        return KINDS(depth).flatmap(
            lambda item: st.lists(values(item, depth + 1), max_size=20).map(lambda found: Items(item, found))
        )
    if kind == MAP:
        pairs = st.lists(st.tuples(values(I32), values(BINARY)), max_size=4)
        return pairs.map(lambda found: Pairs(I32, BINARY, found) if found else Pairs(0, 0, []))
    if kind == TRUE:  # as an item
        return st.integers(1, 2)
    return st.binary(min_size={BYTE: 1, DOUBLE: 8, UUID: 16}[kind], max_size={BYTE: 1, DOUBLE: 8, UUID: 16}[kind])


def KINDS(depth):  # noqa: N802
    plain = [TRUE, BYTE, I16, I32, I64, DOUBLE, BINARY, UUID]
    return st.sampled_from(plain if depth > 2 else [*plain, LIST, SET, MAP, STRUCT])


@st.composite
def structs(draw, depth=0):
    struct = Struct()
    for number in draw(st.lists(st.integers(-300, 32767), max_size=6, unique=True)):
        kind = draw(KINDS(depth))
        struct.set(number, kind, draw(st.booleans() if kind == TRUE else values(kind, depth)))
    return struct


@given(structs(), st.binary(max_size=3))
def test_any_struct_comes_back(struct, after):
    data = write_struct(struct)
    assert read_struct(data + after) == (struct, len(data))
    assert write_struct(read_struct(data)[0]) == data


@given(structs(), st.integers(0, 2**32))
def test_a_cut_struct_is_refused(struct, place):
    data = write_struct(struct)
    with pytest.raises(CorruptDataError, match="here: byte"):
        read_struct(data[: place % len(data)], what="here")


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    try:
        struct, end = read_struct(data)
    except CorruptDataError:
        return
    # Longer forms of numbers are read too; what is written is no longer than they were.
    assert end <= len(data)
    assert read_struct(write_struct(struct))[0] == struct


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes([0x19, 0xF5, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), "4294967295 items are announced, 0 bytes are left"),
        (bytes([0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 0x41]), "2147483647 bytes are announced, 1 are left"),
        (bytes([0x15, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x00]), "takes more than 32 bits"),
        (bytes([0x16] + [0xFF] * 10 + [0x01, 0x00]), "more than 64 bits"),
        (bytes([0x1E, 0x00]), "14 is no Thrift type"),
        (bytes([0x15, 0x02, 0x05, 0x02, 0x02, 0x00]), "field 1 stands twice"),
        (b"\x1c" * 100_000, f"more than {MAX_DEPTH} structs"),
        (b"\x19" * 100_000, f"more than {MAX_DEPTH} structs"),
    ],
)
def test_what_is_announced_is_not_believed(data, why):
    with pytest.raises(CorruptDataError, match=why):
        read_struct(data)


def test_fields():
    struct = Struct((1, I32, 5), (9, BINARY, b"x"))
    struct.set(4, TRUE, False)
    assert [number for number, _, _ in struct] == [1, 4, 9]
    assert struct.get(4, TRUE) is False
    assert struct.get(2, I32) is None
    with pytest.raises(CorruptDataError, match="field 9 has Thrift type 8, not 5"):
        struct.get(9, I32)
    struct.drop(9, 10)
    assert 9 not in struct
    with pytest.raises(ValueError, match="does not fit into 32 bits"):
        write_struct(Struct((1, I32, 2**31)))

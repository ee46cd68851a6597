"""The pages of one column chunk: read and checked, taken apart into levels and values, and put together again.

Whatever a header says is held against the bytes that are there before room is made for it. What values mean is
not decided here: `plain_values` lets pyarrow read any encoding that it knows.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fsst import _core
from fsst.errors import CorruptDataError
from fsst.parquet_format import (
    BYTE_ARRAY,
    CODEC_NAMES,
    DATA_PAGE,
    DATA_PAGE_V2,
    DICTIONARY_PAGE,
    INDEX_PAGE,
    MAX_LEVEL,
    MAX_PAGE,
    PLAIN,
    PLAIN_DICTIONARY,
    RLE,
    RLE_DICTIONARY,
    SYMBOL_TABLE_PAGE,
    UNCOMPRESSED,
    Chunk,
    DataField,
    DataV2Field,
    Input,
    Leaf,
    MetaField,
    PageField,
    SchemaField,
    SymbolTableField,
    UnsupportedError,
    parquet_bytes,
)
from fsst.symbol_table import SymbolTable
from fsst.thrift import BINARY, I32, I64, LIST, STRUCT, TRUE, Items, Struct, read_struct, write_struct

__all__ = [
    "DataPage",
    "RawPage",
    "compress_body",
    "data_page",
    "data_pages",
    "decode_levels",
    "dictionary_page_pieces",
    "page_pieces",
    "plain_values",
    "raw_page",
    "raw_pages",
    "symbol_table_of",
    "symbol_table_page_pieces",
    "v2_page_pieces",
]

_PAGE_NAMES = {
    DATA_PAGE: "a data page",
    INDEX_PAGE: "an index page",
    DICTIONARY_PAGE: "a dictionary page",
    DATA_PAGE_V2: "a data page (version 2)",
    SYMBOL_TABLE_PAGE: "a symbol table page",
}

# Room that is made on a header's word alone.
_SMALL = 1 << 20
# How many times its compressed size a page may claim beyond that: what snappy and LZ4 can reach; for the others,
# where larger claims are met by reading piece by piece.
_MOST_GROWTH = {"snappy": 22, "lz4_raw": 256, "zstd": 64, "gzip": 64, "brotli": 64}


@dataclass(frozen=True, slots=True)
class RawPage:
    """A page as it stands in the file: its header, and the bytes after that."""

    where: str
    header: Struct
    type: int
    body: memoryview
    uncompressed_size: int
    has_checksum: bool
    offset: int  # in the chunk
    size: int  # header and body

    def part(self, field: int) -> Struct:
        """The struct in the header that belongs to the page's type."""
        found = self.header.get(field, STRUCT)
        if found is None:
            self.fail(f"its header has no field {field}, which {_PAGE_NAMES[self.type]} needs")
        return found  # type: ignore[no-any-return]

    def count(self, part: Struct, field: int) -> int:
        """A field of the header that has to be there and not negative."""
        value = part.get(field, I32)
        if value is None or value < 0:
            self.fail(f"field {field} of its header is {value}")
        return int(value)

    def fail(self, message: str) -> NoReturn:
        raise CorruptDataError(f"{self.where}: {message}")


@dataclass(frozen=True, slots=True)
class DataPage:
    """A data page of either version, decompressed, its levels as version 2 stores them."""

    raw: RawPage
    encoding: int
    num_values: int  # with nulls, and with empty lists
    num_nulls: int
    num_rows: int
    repetition: Any
    definition: Any
    values: Any
    statistics: Struct | None

    @property
    def num_present(self) -> int:
        """The values that are stored."""
        return self.num_values - self.num_nulls


# --- Pages as they stand in the file -----------------------------------------------------------


def raw_page(data: memoryview, start: int, where: str, verify: bool = True) -> RawPage:
    """The page whose header begins at byte `start` of `data`."""
    header, body_start = read_struct(data, start, f"{where}, header")
    sizes = header.get(PageField.COMPRESSED_SIZE, I32), header.get(PageField.UNCOMPRESSED_SIZE, I32)
    kind = header.get(PageField.TYPE, I32)
    if kind not in _PAGE_NAMES or None in sizes or min(sizes) < 0:
        raise CorruptDataError(f"{where}: its header has page type {kind} and sizes {sizes[0]}, {sizes[1]}")
    size = sizes[0]
    if size > len(data) - body_start:
        raise CorruptDataError(f"{where}: its body has {size} bytes, {len(data) - body_start} are left in the chunk")
    body = data[body_start : body_start + size]
    checksum = header.get(PageField.CRC, I32)
    if verify and checksum is not None and checksum & 0xFFFFFFFF != zlib.crc32(body):
        raise CorruptDataError(
            f"{where}: its checksum is {zlib.crc32(body):08x}, the header says {checksum & 0xFFFFFFFF:08x}"
        )
    return RawPage(where, header, kind, body, sizes[1], checksum is not None, start, body_start + size - start)


def raw_pages(file: Input, chunk: Chunk, verify: bool = True) -> Iterator[RawPage]:
    """The pages of a chunk, in order. Their bytes are the chunk's bytes, none left over."""
    data = file.read(chunk.start, chunk.size, chunk.where)
    at = index = 0
    while at < len(data):
        page = raw_page(data, at, f"{chunk.where}, page {index}", verify)
        yield page
        at += page.size
        index += 1


def _decompress(page: RawPage, codec: int, data: memoryview, size: int) -> Any:
    """`data` without its compression, which has to be `size` bytes."""
    if codec == UNCOMPRESSED:
        if len(data) != size:
            page.fail(f"{len(data)} bytes are stored uncompressed, the header says {size}")
        return data
    name = CODEC_NAMES.get(codec)
    if name is None:
        raise UnsupportedError(
            f"{page.where} is compressed with Parquet's codec {codec}, which pyarrow has no name for"
        )
    if size == 0:
        return b""  # some writers store nothing then
    try:
        result = _decompress_with(name, data, size)
    except (OSError, ValueError) as error:
        page.fail(f"{len(data)} bytes do not decompress with {name} to {size}: {error}")
    if len(result) != size:
        page.fail(f"its {len(data)} bytes decompress to {len(result)} or more, the header says {size}")
    return result


def _decompress_with(name: str, data: memoryview, size: int) -> Any:
    """What `data` decompresses to, where that is `size` bytes; otherwise less, or an error.

    pyarrow's one-call decompression makes room for `size` bytes first, and does not tell how many it has filled. So it
    is used where the data says the same size, and a codec's greatest growth does not forbid it.
    """
    if size > max(_SMALL, _MOST_GROWTH[name] * len(data)):
        if name in ("snappy", "lz4_raw"):
            raise ValueError("that much cannot be in them")
        return _read_all(name, data, size)
    if name == "snappy":
        if _snappy_size(data) != size:
            raise ValueError(f"they say that they are {_snappy_size(data)}")
    elif name == "lz4_raw":
        # The data does not know its size; but with less room it must fail.
        with suppress(OSError):
            pa.Codec(name).decompress(data, size - 1)
            raise ValueError("they are fewer")
    elif name != "zstd" or _zstd_size(data) != size:
        return _read_all(name, data, size)
    return memoryview(pa.Codec(name).decompress(data, size))


def _read_all(name: str, data: memoryview, size: int) -> bytes:
    """What `data` decompresses to, up to one byte more than `size`. Memory grows with what is there."""
    found = []
    left = size + 1
    # Not `read`: where that fails, pyarrow loses the memory that it was to fill.
    room = memoryview(bytearray(min(left, _SMALL)))
    with pa.CompressedInputStream(pa.BufferReader(data), name) as stream:
        while left > 0 and (count := stream.readinto(room[:left])):
            found.append(bytes(room[:count]))
            left -= count
    return b"".join(found)


def _snappy_size(data: memoryview) -> int:
    size = 0
    for i, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return size
    return -1


def _zstd_size(data: memoryview) -> int:
    """The content size in the header of a zstd frame (RFC 8878, 3.1.1.1), -1 where it has none."""
    if len(data) < 6 or bytes(data[:4]) != b"\x28\xb5\x2f\xfd":
        return -1
    descriptor = data[4]
    flag, single = descriptor >> 6, descriptor >> 5 & 1
    start = 5 + (not single) + (0, 1, 2, 4)[descriptor & 3]
    width = (single, 2, 4, 8)[flag]
    if width == 0 or len(data) < start + width:
        return -1
    return int.from_bytes(data[start : start + width], "little") + (256 if flag == 1 else 0)


# --- Data pages --------------------------------------------------------------------------------


def data_page(raw: RawPage, leaf: Leaf, codec: int) -> DataPage:
    """A data page taken apart.

    Raises
    ------
    UnsupportedError
        The levels are packed in the way that Parquet has given up, or lists are nested too deeply.
    """
    if max(leaf.max_definition, leaf.max_repetition) > MAX_LEVEL:
        raise UnsupportedError(f"{raw.where}: levels up to {leaf.max_definition}, {leaf.max_repetition}")
    if raw.type == DATA_PAGE:
        return _data_page_v1(raw, leaf, codec)
    if raw.type == DATA_PAGE_V2:
        return _data_page_v2(raw, leaf, codec)
    raw.fail(f"{_PAGE_NAMES[raw.type]} stands where a data page is due")


def _data_page_v1(raw: RawPage, leaf: Leaf, codec: int) -> DataPage:
    part = raw.part(PageField.DATA)
    count = raw.count(part, DataField.NUM_VALUES)
    data = memoryview(_decompress(raw, codec, raw.body, raw.uncompressed_size))
    levels: list[Any] = []
    for most, field, name in (
        (leaf.max_repetition, DataField.REPETITION_ENCODING, "repetition"),
        (leaf.max_definition, DataField.DEFINITION_ENCODING, "definition"),
    ):
        if most == 0:
            levels.append(b"")
            continue
        encoding = part.get(field, I32)
        if encoding != RLE:
            raise UnsupportedError(f"{raw.where}: {name} levels have encoding {encoding}, only RLE (3) is taken apart")
        size = int.from_bytes(data[:4], "little")
        if len(data) < 4 or size > len(data) - 4:
            raw.fail(f"{name} levels take {size} bytes, they say, {max(len(data) - 4, 0)} are left")
        levels.append(data[4 : 4 + size])
        data = data[4 + size :]
    repetition, definition = levels
    nulls, rows = _count(raw, leaf, repetition, definition, count)
    encoding = part.get(DataField.ENCODING, I32)
    statistics = part.get(DataField.STATISTICS, STRUCT)
    return DataPage(raw, encoding, count, nulls, rows, repetition, definition, data, statistics)


def _data_page_v2(raw: RawPage, leaf: Leaf, codec: int) -> DataPage:
    part = raw.part(PageField.DATA_V2)
    count, nulls, rows = (
        raw.count(part, field) for field in (DataV2Field.NUM_VALUES, DataV2Field.NUM_NULLS, DataV2Field.NUM_ROWS)
    )
    repetition_size = raw.count(part, DataV2Field.REPETITION_LENGTH)
    definition_size = raw.count(part, DataV2Field.DEFINITION_LENGTH)
    levels = repetition_size + definition_size
    if levels > len(raw.body) or levels > raw.uncompressed_size:
        raw.fail(f"levels take {repetition_size} + {definition_size} bytes of {len(raw.body)}")
    repetition, definition = raw.body[:repetition_size], raw.body[repetition_size:levels]
    # Without nulls and lists there is nothing to count: that the values are as many is checked with them.
    flat = nulls == 0 and leaf.max_repetition == 0
    found = (0, count) if flat else _count(raw, leaf, repetition, definition, count)
    if (nulls, rows) != found:
        raw.fail(f"its header says {nulls} nulls in {rows} rows, its levels say {found[0]} in {found[1]}")
    if part.get(DataV2Field.IS_COMPRESSED, TRUE) is False:
        codec = UNCOMPRESSED
    values = _decompress(raw, codec, raw.body[levels:], raw.uncompressed_size - levels)
    statistics = part.get(DataV2Field.STATISTICS, STRUCT)
    encoding = part.get(DataV2Field.ENCODING, I32)
    return DataPage(raw, encoding, count, nulls, rows, repetition, definition, values, statistics)


def decode_levels(data: Any, most: int, count: int, where: str) -> np.ndarray:
    """Levels as an array of uint8; zeros where `most` is 0, since nothing is stored then."""
    if most == 0:
        return np.zeros(count, np.uint8)
    return np.asarray(memoryview(_core.decode_levels(data, most, count, where)))


def _count(raw: RawPage, leaf: Leaf, repetition: Any, definition: Any, count: int) -> tuple[int, int]:
    """The nulls and the rows of a page, as its levels tell them."""
    nulls, rows = 0, count
    if leaf.max_definition:
        levels = decode_levels(definition, leaf.max_definition, count, f"{raw.where}, definition levels")
        nulls = count - int(np.count_nonzero(levels == leaf.max_definition))
    if leaf.max_repetition:
        levels = decode_levels(repetition, leaf.max_repetition, count, f"{raw.where}, repetition levels")
        rows = count - int(np.count_nonzero(levels))
    return nulls, rows


def data_pages(file: Input, chunk: Chunk, verify: bool = True) -> tuple[list[RawPage], list[DataPage]]:
    """The chunk's first page, where it is a dictionary or a symbol table, and its data pages.

    Raises
    ------
    CorruptDataError
        A page is not what its header or the chunk's metadata say, or stands where it must not.
    UnsupportedError
        See `data_page`.
    """
    ahead: list[RawPage] = []
    pages: list[DataPage] = []
    for raw in raw_pages(file, chunk, verify):
        if raw.type in (DICTIONARY_PAGE, SYMBOL_TABLE_PAGE):
            if ahead or pages:
                raw.fail(f"{_PAGE_NAMES[raw.type]} stands after other pages")
            ahead.append(raw)
        else:
            pages.append(data_page(raw, chunk.leaf, chunk.codec))
    found = sum(page.num_values for page in pages)
    if found != chunk.num_values:
        chunk.fail(f"its pages hold {found} values, its metadata says {chunk.num_values}")
    return ahead, pages


def symbol_table_of(raw: RawPage, codec: int) -> SymbolTable:
    """The symbol table in a symbol table page."""
    if raw.type != SYMBOL_TABLE_PAGE:
        raw.fail(f"{_PAGE_NAMES[raw.type]} stands where the symbol table page is due")
    part = raw.part(PageField.SYMBOL_TABLE)
    kind = part.get(SymbolTableField.TYPE, I32)
    if kind != 0:
        what = "FSST_16, which is not read here" if kind == 1 else "which is no known one"
        raw.fail(f"its symbol table is of type {kind}, {what}")
    if not part.get(SymbolTableField.IS_COMPRESSED, TRUE):
        codec = UNCOMPRESSED
    try:
        return _parse_table(bytes(_decompress(raw, codec, raw.body, raw.uncompressed_size)))
    except CorruptDataError as error:
        if str(error).startswith(raw.where):
            raise
        raw.fail(str(error))


# Row groups that share a table have a copy each; what a table needs for decoding is made once.
_parse_table = lru_cache(maxsize=32)(SymbolTable.from_bytes)


# --- Writing pages -----------------------------------------------------------------------------


def compress_body(data: Any, codec: pa.Codec | None) -> Any:
    """`data` compressed; None where that does not make it smaller."""
    if codec is None or len(data) == 0:
        return None
    buffer = codec.compress(data)
    compressed = memoryview(buffer)[: buffer.size]  # a resizable buffer shows all its room
    return compressed if len(compressed) < len(data) else None


def page_pieces(
    kind: int, part_field: int, part: Struct, body: list[Any], uncompressed: int, checksum: bool
) -> tuple[list[Any], int]:
    """A page, in pieces: its header, and the parts of its body as `body` has them. And its size without compression."""
    size = sum(len(piece) for piece in body)
    if max(size, uncompressed) > MAX_PAGE:
        raise UnsupportedError(f"a page would have {max(size, uncompressed)} bytes, more than {MAX_PAGE}")
    header = Struct(
        (PageField.TYPE, I32, kind),
        (PageField.UNCOMPRESSED_SIZE, I32, uncompressed),
        (PageField.COMPRESSED_SIZE, I32, size),
    )
    if checksum:
        crc = 0
        for piece in body:
            crc = zlib.crc32(piece, crc)
        header.set(PageField.CRC, I32, crc - (1 << 32) if crc >> 31 else crc)
    header.set(part_field, STRUCT, part)
    start = write_struct(header)
    return [start, *body], len(start) + uncompressed


def v2_page_pieces(
    page: DataPage, encoding: int, values: Any, codec: pa.Codec | None, checksum: bool
) -> tuple[list[Any], int]:
    """The data page `page`, as version 2, with `values` in `encoding` in place of its own."""
    compressed = compress_body(values, codec)
    levels = len(page.repetition) + len(page.definition)
    part = Struct(
        (DataV2Field.NUM_VALUES, I32, page.num_values),
        (DataV2Field.NUM_NULLS, I32, page.num_nulls),
        (DataV2Field.NUM_ROWS, I32, page.num_rows),
        (DataV2Field.ENCODING, I32, encoding),
        (DataV2Field.DEFINITION_LENGTH, I32, len(page.definition)),
        (DataV2Field.REPETITION_LENGTH, I32, len(page.repetition)),
    )
    part.set(DataV2Field.IS_COMPRESSED, TRUE, compressed is not None)
    if page.statistics is not None:
        part.set(DataV2Field.STATISTICS, STRUCT, page.statistics)
    body = [page.repetition, page.definition, values if compressed is None else compressed]
    return page_pieces(DATA_PAGE_V2, PageField.DATA_V2, part, body, levels + len(values), checksum)


def symbol_table_page_pieces(table: SymbolTable, codec: pa.Codec | None, checksum: bool) -> tuple[list[Any], int]:
    """The page of a symbol table."""
    body = table.to_bytes()
    compressed = compress_body(body, codec)
    part = Struct((SymbolTableField.TYPE, I32, 0))
    part.set(SymbolTableField.IS_COMPRESSED, TRUE, compressed is not None)
    stored = body if compressed is None else compressed
    return page_pieces(SYMBOL_TABLE_PAGE, PageField.SYMBOL_TABLE, part, [stored], len(body), checksum)


def dictionary_page_pieces(raw: RawPage, codec: int) -> list[Any]:
    """A dictionary page without its compression."""
    body = _decompress(raw, codec, raw.body, raw.uncompressed_size)
    header = raw.part(PageField.DICTIONARY)
    return page_pieces(DICTIONARY_PAGE, PageField.DICTIONARY, header, [body], len(body), False)[0]


# --- Values ------------------------------------------------------------------------------------


def plain_values(ahead: list[RawPage], pages: list[DataPage], chunk: Chunk) -> pa.ChunkedArray:
    """The values of all pages as ``large_binary``, nulls left out: pyarrow reads them from a file made of the pages.

    Raises
    ------
    CorruptDataError
        pyarrow finds that the values break their encoding.
    """
    written = [piece for raw in ahead for piece in dictionary_page_pieces(raw, chunk.codec)]
    dictionary_size = len(written[0]) if written else 0
    total = 0
    for page in pages:
        if page.encoding in (PLAIN_DICTIONARY, RLE_DICTIONARY) and not ahead:
            page.raw.fail("its values refer to a dictionary, but the chunk has none")
        if page.encoding == PLAIN and 4 * page.num_present > len(page.values):
            page.raw.fail(f"{page.num_present} values cannot lie in {len(page.values)} bytes")
        total += page.num_present
        part = Struct(
            (DataV2Field.NUM_VALUES, I32, page.num_present),
            (DataV2Field.NUM_NULLS, I32, 0),
            (DataV2Field.NUM_ROWS, I32, page.num_present),
            (DataV2Field.ENCODING, I32, page.encoding),
            (DataV2Field.DEFINITION_LENGTH, I32, 0),
            (DataV2Field.REPETITION_LENGTH, I32, 0),
        )
        if page.num_present:
            body = [page.values]
            written += page_pieces(DATA_PAGE_V2, PageField.DATA_V2, part, body, len(page.values), False)[0]
    size = sum(len(piece) for piece in written)
    meta = Struct(
        (MetaField.TYPE, I32, BYTE_ARRAY),
        (MetaField.ENCODINGS, LIST, Items(I32, sorted({page.encoding for page in pages}))),
        (MetaField.PATH, LIST, Items(BINARY, [b"values"])),
        (MetaField.CODEC, I32, UNCOMPRESSED),
        (MetaField.NUM_VALUES, I64, total),
        (MetaField.UNCOMPRESSED_SIZE, I64, size),
        (MetaField.COMPRESSED_SIZE, I64, size),
        (MetaField.DATA_PAGE, I64, 4 + dictionary_size),
    )
    if dictionary_size:
        meta.set(MetaField.DICTIONARY_PAGE, I64, 4)
    element = Struct(
        (SchemaField.TYPE, I32, BYTE_ARRAY), (SchemaField.REPETITION, I32, 0), (SchemaField.NAME, BINARY, b"values")
    )
    if total == 0:
        return pa.chunked_array([], pa.large_binary())
    try:
        with pq.ParquetFile(parquet_bytes(element, meta, total, written)) as file:
            values = file.read(use_threads=False).column(0)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptDataError(f"{chunk.where}: pyarrow cannot read its values: {error}") from None
    if len(values) != total:
        chunk.fail(f"{len(values)} values could be read, there should be {total}")
    return values

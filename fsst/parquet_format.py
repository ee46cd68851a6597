"""Parquet's metadata, as far as this package touches it: the footer, its column chunks, and the file they lie in.

Numbers of the format stand here and nowhere else. Structs stay what `fsst.thrift` read, so that what nobody here
knows is written back; the classes below only name and check what is used.
"""

from __future__ import annotations

import io
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa

from fsst import _core
from fsst.errors import CorruptDataError, FsstError
from fsst.thrift import BINARY, I32, I64, STRUCT, Items, Struct, read_struct, write_struct

__all__ = ["Chunk", "Footer", "Input", "Leaf", "Output", "RowGroup", "UnsupportedError", "open_input", "open_output"]

MAGIC = b"PAR1"
MAGIC_ENCRYPTED = b"PARE"

# Encodings. The proposal gives FSST the number 10, which ALP has taken; what is written in practice is 11.
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED = 0, 2, 3, 4
DELTA_LENGTH, DELTA, RLE_DICTIONARY = 6, 7, 8
FSST = 11
FSST_AS_PROPOSED = 10

# Page types.
DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2, SYMBOL_TABLE_PAGE = range(5)

BYTE_ARRAY = 6
UNCOMPRESSED = 0
CODEC_NAMES = {0: "none", 1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
CODECS = {name: number for number, name in CODEC_NAMES.items()} | {"uncompressed": 0, "lz4": 7}

# Definition and repetition levels are kept in a byte each.
MAX_LEVEL = 255
# Page sizes are 32-bit integers in the headers.
MAX_PAGE = _core.offset_limit


class UnsupportedError(FsstError):
    """A column chunk in a form that this package does not take apart, though it may be valid."""


class FileField:
    """FileMetaData."""

    SCHEMA, NUM_ROWS, ROW_GROUPS, ENCRYPTION_ALGORITHM = 2, 3, 4, 8


class SchemaField:
    """SchemaElement."""

    TYPE, REPETITION, NAME, NUM_CHILDREN = 1, 3, 4, 5


class GroupField:
    """RowGroup."""

    COLUMNS, TOTAL_BYTE_SIZE, NUM_ROWS, FILE_OFFSET, TOTAL_COMPRESSED_SIZE, ORDINAL = 1, 2, 3, 5, 6, 7


class ChunkField:
    """ColumnChunk."""

    FILE_PATH, FILE_OFFSET, META = 1, 2, 3
    OFFSET_INDEX, OFFSET_INDEX_LENGTH, COLUMN_INDEX, COLUMN_INDEX_LENGTH = 4, 5, 6, 7
    CRYPTO, ENCRYPTED_META = 8, 9


class MetaField:
    """ColumnMetaData; the last two are the proposal's."""

    TYPE, ENCODINGS, PATH, CODEC, NUM_VALUES, UNCOMPRESSED_SIZE, COMPRESSED_SIZE = 1, 2, 3, 4, 5, 6, 7
    DATA_PAGE, INDEX_PAGE, DICTIONARY_PAGE, STATISTICS, ENCODING_STATS = 9, 10, 11, 12, 13
    BLOOM_FILTER, BLOOM_FILTER_LENGTH = 14, 15
    SYMBOL_TABLE, SYMBOL_TABLE_LENGTH = 18, 19


class PageField:
    """PageHeader; the last one is the proposal's, which gives it no number: 9 is the next free one."""

    TYPE, UNCOMPRESSED_SIZE, COMPRESSED_SIZE, CRC = 1, 2, 3, 4
    DATA, DICTIONARY, DATA_V2, SYMBOL_TABLE = 5, 7, 8, 9


class DataField:
    """DataPageHeader, of version 1."""

    NUM_VALUES, ENCODING, DEFINITION_ENCODING, REPETITION_ENCODING, STATISTICS = 1, 2, 3, 4, 5


class DataV2Field:
    """DataPageHeaderV2."""

    NUM_VALUES, NUM_NULLS, NUM_ROWS, ENCODING = 1, 2, 3, 4
    DEFINITION_LENGTH, REPETITION_LENGTH, IS_COMPRESSED, STATISTICS = 5, 6, 7, 8


class SymbolTableField:
    """SymbolTablePageHeader; type 0 is FSST, 1 is FSST_16."""

    TYPE, IS_COMPRESSED = 1, 2


class LocationField:
    """PageLocation, in an OffsetIndex, whose field 1 is a list of them."""

    OFFSET, SIZE, FIRST_ROW = 1, 2, 3


# --- Files -------------------------------------------------------------------------------------


class Input:
    """A file that is read at any place, by several threads at once. Nothing is read, or room made for it, past its end.

    `is_local`: whether it pays to read little at a time, as it does not over a network or from memory.
    """

    def __init__(self, file: Any) -> None:
        self.native = file if isinstance(file, pa.NativeFile) else pa.PythonFile(_EachThread(file), mode="r")
        self.size = int(self.native.size())
        self._whole: memoryview | None = None
        if isinstance(file, (pa.MemoryMappedFile, pa.BufferReader)):
            file.seek(0)
            self._whole = memoryview(file.read_buffer(self.size)).cast("B")
        self.is_local = isinstance(file, pa.OSFile)

    def read(self, start: int, size: int, what: str) -> memoryview:
        """`size` bytes from byte `start` on; `what` names them where the file does not hold them."""
        if start < 0 or size < 0 or start > self.size or size > self.size - start:
            raise CorruptDataError(f"{what}: bytes {start} to {start} + {size} of a file of {self.size} bytes")
        if self._whole is None:
            data = memoryview(self.native.read_at(size, start))
        elif self.native.closed:
            raise ValueError("the file is closed")
        else:
            data = self._whole[start : start + size]
        if len(data) != size:
            raise CorruptDataError(f"{what}: the file ended after {len(data)} of {size} bytes")
        return data


class _EachThread:
    """A Python file in which each thread has a position of its own, so that none reads where another has sought to."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._own = threading.local()

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            place += self.tell()
        elif whence == os.SEEK_END:
            with self._lock:
                place = self._file.seek(place, whence)
        self._own.at = place
        return place

    def tell(self) -> int:
        return getattr(self._own, "at", 0)

    def read(self, size: int = -1) -> Any:
        with self._lock:
            self._file.seek(self.tell())
            data = self._file.read(size)
        self._own.at = self.tell() + len(data)
        return data

    def close(self) -> None:
        """Nothing: a file that was given stays open."""

    @property
    def closed(self) -> bool:
        return bool(getattr(self._file, "closed", False))


@contextmanager
def open_input(source: Any, memory_map: bool = False) -> Iterator[Input]:
    """`source` as an Input: a path, a file that can seek, or a buffer. A file that was given stays open."""
    if isinstance(source, Input):
        yield source
    elif isinstance(source, (str, os.PathLike)):
        with pa.memory_map(os.fspath(source)) if memory_map else pa.OSFile(os.fspath(source)) as file:
            yield Input(file)
    elif hasattr(source, "read") and hasattr(source, "seek"):
        yield Input(source)
    else:
        yield Input(pa.BufferReader(source))


class Output:
    """A file that is written front to back, and knows how far it has come."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.position = 0

    def write(self, data: Any) -> None:
        self._file.write(data)
        self.position += len(data)


@contextmanager
def open_output(dest: Any) -> Iterator[Output]:
    """`dest` as an Output. A path comes to be when all is written, and not at all if that fails."""
    if not isinstance(dest, (str, os.PathLike)):
        if not hasattr(dest, "write"):
            raise TypeError(f"dest must be a path or a file to write to, not {type(dest).__name__}")
        yield Output(dest)
        return
    path = os.fspath(dest)
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield Output(file)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


# --- The footer --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """A column as the file stores it: a leaf of the schema."""

    path: tuple[str, ...]
    type: int
    max_definition: int
    max_repetition: int

    @property
    def name(self) -> str:
        """The path, as pyarrow writes it."""
        return ".".join(self.path)


class Chunk:
    """The values of one leaf in one row group. `struct` is its ColumnChunk, `meta` its ColumnMetaData."""

    def __init__(self, struct: Struct, leaf: Leaf, row_group: int, end: int) -> None:
        self.struct = struct
        self.leaf = leaf
        self.row_group = row_group
        self.where = f"column {leaf.name!r}, row group {row_group}"
        if (
            struct.get(ChunkField.CRYPTO, STRUCT) is not None
            or struct.get(ChunkField.ENCRYPTED_META, BINARY) is not None
        ):
            raise FsstError(f"{self.where} is encrypted; encrypted files can be neither read nor rewritten here")
        if struct.get(ChunkField.FILE_PATH, BINARY):
            raise FsstError(f"{self.where} lies in another file; such files can be neither read nor rewritten here")
        meta = struct.get(ChunkField.META, STRUCT)
        if meta is None:
            self.fail("its metadata is missing")
        self.meta: Struct = meta
        if self.number(MetaField.TYPE, I32) != leaf.type:
            self.fail(f"it has type {meta.get(MetaField.TYPE, I32)}, the schema says {leaf.type}")
        self.codec = self.number(MetaField.CODEC, I32)
        self.num_values = self.number(MetaField.NUM_VALUES)
        self.uncompressed_size = self.number(MetaField.UNCOMPRESSED_SIZE)
        self.size = self.number(MetaField.COMPRESSED_SIZE)
        self.encodings = meta.items(MetaField.ENCODINGS, I32) or []
        data_page = self.number(MetaField.DATA_PAGE)  # 0 where there are no rows
        dictionary = meta.get(MetaField.DICTIONARY_PAGE, I64) or 0  # 0 is how some writers say that there is none
        table = meta.get(MetaField.SYMBOL_TABLE, I64) or 0
        self.has_symbol_table = table > 0
        self.start = min((place for place in (data_page, dictionary, table) if place > 0), default=len(MAGIC))
        if not len(MAGIC) <= self.start or self.size > end - self.start:
            self.fail(f"its pages take bytes {self.start} to {self.start} + {self.size}, the footer begins at {end}")

    @property
    def is_fsst(self) -> bool:
        """Whether the values are FSST: the number 10 alone is not enough, it may mean another encoding."""
        return FSST in self.encodings or (FSST_AS_PROPOSED in self.encodings and self.has_symbol_table)

    def number(self, field: int, kind: int = I64) -> int:
        """A field of the metadata that has to be there and not negative."""
        value = self.meta.get(field, kind)
        if value is None or value < 0:
            self.fail(f"field {field} of its metadata is {value}")
        return int(value)

    def fail(self, message: str) -> NoReturn:
        raise CorruptDataError(f"{self.where}: {message}")


class RowGroup:
    """A row group: its struct, its chunks in the order of the leaves, its rows."""

    def __init__(self, struct: Struct, leaves: list[Leaf], index: int, end: int) -> None:
        self.struct = struct
        columns = struct.items(GroupField.COLUMNS, STRUCT) or []
        rows = struct.get(GroupField.NUM_ROWS, I64)
        if len(columns) != len(leaves) or rows is None or rows < 0:
            raise CorruptDataError(
                f"row group {index}: {len(columns)} column chunks and {rows} rows, the schema has {len(leaves)} leaves"
            )
        self.num_rows = int(rows)
        self.chunks = [Chunk(column, leaf, index, end) for column, leaf in zip(columns, leaves, strict=True)]
        for chunk in self.chunks:
            if chunk.leaf.max_repetition == 0 and chunk.num_values != rows:
                chunk.fail(f"it has {chunk.num_values} values, the row group {rows} rows")


class Footer:
    """FileMetaData: the schema's leaves and the row groups. `struct` is all of it."""

    def __init__(self, file: Input) -> None:
        least = 2 * len(MAGIC) + 4
        if file.size < least:
            raise CorruptDataError(f"a file of {file.size} bytes is no Parquet file, which has {least} at least")
        tail = bytes(file.read(file.size - 8, 8, "end of file"))
        if MAGIC_ENCRYPTED in (tail[4:], bytes(file.read(0, 4, "start of file"))):
            raise FsstError("the file's footer is encrypted; encrypted files can be neither read nor rewritten here")
        if tail[4:] != MAGIC or bytes(file.read(0, 4, "start of file")) != MAGIC:
            raise CorruptDataError(f"the file begins or ends without {MAGIC!r}: it is no Parquet file, or cut off")
        size = int.from_bytes(tail[:4], "little")
        if size > file.size - least:
            raise CorruptDataError(f"the footer has {size} bytes, it says, in a file of {file.size}")
        self.start = file.size - 8 - size
        self.struct, _ = read_struct(bytes(file.read(self.start, size, "footer")), 0, "footer")
        if self.struct.get(FileField.ENCRYPTION_ALGORITHM, STRUCT) is not None:
            raise FsstError("the file is encrypted; encrypted files can be neither read nor rewritten here")
        self.leaves = _leaves(self.struct.items(FileField.SCHEMA, STRUCT) or [])
        groups = self.struct.items(FileField.ROW_GROUPS, STRUCT)
        if groups is None:
            raise CorruptDataError("footer: it does not list row groups, not even none")
        self.row_groups = [RowGroup(group, self.leaves, i, self.start) for i, group in enumerate(groups)]
        rows, said = sum(group.num_rows for group in self.row_groups), self.struct.get(FileField.NUM_ROWS, I64)
        if said != rows:
            raise CorruptDataError(f"footer: the file has {said} rows, it says, its row groups have {rows}")
        total = sum(chunk.size for group in self.row_groups for chunk in group.chunks)
        if total > self.start - len(MAGIC):
            raise CorruptDataError(f"the column chunks have {total} bytes, there are {self.start} before the footer")


def _leaves(elements: list[Struct]) -> list[Leaf]:
    """The leaves of a schema, which is stored depth first."""
    leaves: list[Leaf] = []
    # What is open: path, levels, and children that are still to come.
    stack: list[list[Any]] = []
    for index, element in enumerate(elements):
        if index and not stack:
            raise CorruptDataError(f"footer: the schema ends at element {index}, but has {len(elements)}")
        path, definition, repetition = stack[-1][:3] if stack else ((), 0, 0)
        name = (element.get(SchemaField.NAME, BINARY) or b"").decode("utf-8", "replace")
        repeats = element.get(SchemaField.REPETITION, I32) or 0
        children = element.get(SchemaField.NUM_CHILDREN, I32) or 0
        if stack:
            stack[-1][3] -= 1
            path = (*path, name)
            definition, repetition = definition + (repeats > 0), repetition + (repeats == 2)
        if children < 0 or children > len(elements) - index - 1 or len(path) > MAX_LEVEL:
            raise CorruptDataError(f"footer: schema element {index} has {children} children, {len(path)} levels deep")
        kind = element.get(SchemaField.TYPE, I32)
        if children or not stack or kind is None:
            stack.append([path, definition, repetition, children])
        else:
            leaves.append(Leaf(path, kind, definition, repetition))
        while stack and stack[-1][3] == 0:
            stack.pop()
    if stack:
        raise CorruptDataError(f"footer: the schema ends before the children of {'.'.join(stack[-1][0])!r}")
    return leaves


def footer_bytes(struct: Struct) -> bytes:
    """What ends a file: the footer, its size, the magic number."""
    data = write_struct(struct)
    return data + len(data).to_bytes(4, "little") + MAGIC


def parquet_bytes(leaf: Struct, meta: Struct, num_rows: int, pages: list[Any]) -> pa.Buffer:
    """A Parquet file of one column and one row group in memory, which pyarrow can then read."""
    body = io.BytesIO()
    body.write(MAGIC)
    for page in pages:
        body.write(page)
    root = Struct((SchemaField.NAME, BINARY, b"schema"), (SchemaField.NUM_CHILDREN, I32, 1))
    chunk = Struct((ChunkField.FILE_OFFSET, I64, 0), (ChunkField.META, STRUCT, meta))
    group = Struct(
        (GroupField.COLUMNS, 9, Items(STRUCT, [chunk])),
        (GroupField.TOTAL_BYTE_SIZE, I64, body.tell() - 4),
        (GroupField.NUM_ROWS, I64, num_rows),
    )
    footer = Struct(
        (1, I32, 2),
        (FileField.SCHEMA, 9, Items(STRUCT, [root, leaf])),
        (FileField.NUM_ROWS, I64, num_rows),
        (FileField.ROW_GROUPS, 9, Items(STRUCT, [group])),
    )
    body.write(footer_bytes(footer))
    return pa.py_buffer(body.getbuffer())

"""A Parquet file put together from row groups of others: their column chunks copied or replaced, the footer adjusted.

Whatever refers to a place in the file is moved with it: pages, bloom filters, column and offset indexes. What else
the footer says stays, known here or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from fsst.errors import CorruptDataError
from fsst.parquet_chunks import NewChunk, from_fsst
from fsst.parquet_format import (
    MAGIC,
    PLAIN,
    UNCOMPRESSED,
    Chunk,
    ChunkField,
    FileField,
    Footer,
    GroupField,
    Input,
    Leaf,
    LocationField,
    MetaField,
    Output,
    RowGroup,
    footer_bytes,
)
from fsst.thrift import I16, I32, I64, LIST, STRUCT, Items, Struct, read_struct, write_struct

__all__ = ["Assembly", "plain_copy"]

# Bytes copied at a time, where a chunk stays as it is.
_COPY = 1 << 24

_INDEX_FIELDS = (
    ChunkField.OFFSET_INDEX,
    ChunkField.OFFSET_INDEX_LENGTH,
    ChunkField.COLUMN_INDEX,
    ChunkField.COLUMN_INDEX_LENGTH,
)


@dataclass
class _Placed:
    """A chunk in the new file, and what has to be written of it after all chunks."""

    struct: Struct
    meta: Struct
    start: int
    size: int
    grown: int = 0  # without compression
    rewritten: bool = False
    bloom_filter: bytes | None = None
    column_index: bytes | None = None
    offset_index: Struct | None = None


class Assembly:
    """A Parquet file that is written to `out` row group by row group. They may come from several files of one schema.

    Attributes
    ----------
    chunks, rewritten : int
        Column chunks so far, and how many of them were replaced.
    """

    def __init__(self, out: Output) -> None:
        self._out = out
        self._placed: list[_Placed] = []
        self._groups: list[Struct] = []
        out.write(MAGIC)

    @property
    def chunks(self) -> int:
        return len(self._placed)

    @property
    def rewritten(self) -> int:
        return sum(chunk.rewritten for chunk in self._placed)

    def add(self, file: Input, group: RowGroup, new_chunks: Any) -> None:
        """Write a row group of `file`; `new_chunks` yields, for each of its chunks, what takes its place, or None.

        All that is needed of `file` is read before this returns.
        """
        placed = []
        for chunk, new in zip(group.chunks, new_chunks, strict=True):
            moved = _write_chunk(file, chunk, self._out, new)
            moved.bloom_filter = _bloom_filter(file, chunk)
            moved.column_index = _column_index(file, chunk, moved, new)
            moved.offset_index = _offset_index(file, chunk, moved.start, new)
            placed.append(moved)
        self._placed += placed
        struct = _new_group(group, placed)
        if GroupField.ORDINAL in struct:
            struct.set(GroupField.ORDINAL, I16, len(self._groups))
        self._groups.append(struct)

    def finish(self, struct: Struct) -> None:
        """Write what comes after the row groups. `struct` is a FileMetaData whose row groups are to be these."""
        for chunk in self._placed:
            if chunk.bloom_filter is not None:
                chunk.meta.set(MetaField.BLOOM_FILTER, I64, self._out.position)
                self._out.write(chunk.bloom_filter)
        for chunk in self._placed:
            if chunk.column_index is not None:
                chunk.struct.set(ChunkField.COLUMN_INDEX, I64, self._out.position)
                self._out.write(chunk.column_index)
        for chunk in self._placed:
            if chunk.offset_index is not None:
                data = write_struct(chunk.offset_index)
                chunk.struct.set(ChunkField.OFFSET_INDEX, I64, self._out.position)
                chunk.struct.set(ChunkField.OFFSET_INDEX_LENGTH, I32, len(data))
                self._out.write(data)
        struct = struct.copy()
        struct.set(FileField.ROW_GROUPS, LIST, Items(STRUCT, self._groups))
        self._out.write(footer_bytes(struct))


def _write_chunk(file: Input, chunk: Chunk, out: Output, new: NewChunk | None) -> _Placed:
    start = out.position
    if new is not None:
        for piece in new.pieces:
            out.write(piece)
        meta = new.metadata(chunk, start)
    else:
        for at in range(0, chunk.size, _COPY):
            out.write(file.read(chunk.start + at, min(_COPY, chunk.size - at), chunk.where))
        meta = chunk.meta.copy()
        for field in (MetaField.DATA_PAGE, MetaField.INDEX_PAGE, MetaField.DICTIONARY_PAGE, MetaField.SYMBOL_TABLE):
            place = meta.get(field, I64)
            if place:
                meta.set(field, I64, place - chunk.start + start)
    struct = chunk.struct.copy()
    if struct.get(ChunkField.FILE_OFFSET, I64):  # deprecated; 0 says nothing, and stays
        struct.set(ChunkField.FILE_OFFSET, I64, start)
    struct.set(ChunkField.META, STRUCT, meta)
    if new is None:
        return _Placed(struct, meta, start, chunk.size)
    return _Placed(struct, meta, start, new.size, new.uncompressed_size - chunk.uncompressed_size, True)


def _new_group(group: RowGroup, chunks: list[_Placed]) -> Struct:
    struct = group.struct.copy()
    struct.set(GroupField.COLUMNS, LIST, Items(STRUCT, [chunk.struct for chunk in chunks]))
    before = struct.get(GroupField.TOTAL_BYTE_SIZE, I64) or 0
    struct.set(GroupField.TOTAL_BYTE_SIZE, I64, before + sum(chunk.grown for chunk in chunks))
    if GroupField.TOTAL_COMPRESSED_SIZE in struct:
        struct.set(GroupField.TOTAL_COMPRESSED_SIZE, I64, sum(chunk.size for chunk in chunks))
    if GroupField.FILE_OFFSET in struct and chunks:
        struct.set(GroupField.FILE_OFFSET, I64, chunks[0].start)
    return struct


# --- Read of the old file, to be written after all chunks --------------------------------------


def _bloom_filter(file: Input, chunk: Chunk) -> bytes | None:
    start = chunk.meta.get(MetaField.BLOOM_FILTER, I64)
    if start is None:
        return None
    where = f"{chunk.where}, bloom filter"
    size = chunk.meta.get(MetaField.BLOOM_FILTER_LENGTH, I32)
    if size is None:
        # Older writers leave the size to the filter's own header, whose field 1 it is.
        header, end = read_struct(file.read(start, min(64, file.size - start), where), 0, where)
        size = end + (header.get(1, I32) or 0)
    return bytes(file.read(start, size, where))


def _column_index(file: Input, chunk: Chunk, placed: _Placed, new: NewChunk | None) -> bytes | None:
    start, size = chunk.struct.get(ChunkField.COLUMN_INDEX, I64), chunk.struct.get(ChunkField.COLUMN_INDEX_LENGTH, I32)
    if start is None or size is None:
        return None
    if new is not None and new.regrouped:
        # It tells the least and greatest value of pages that are no more.
        placed.struct.drop(ChunkField.COLUMN_INDEX, ChunkField.COLUMN_INDEX_LENGTH)
        return None
    return bytes(file.read(start, size, f"{chunk.where}, column index"))


def _offset_index(file: Input, chunk: Chunk, new_start: int, new: NewChunk | None) -> Struct | None:
    """Where each page is. Rewritten chunks get one in any case: single rows are read by it."""
    start, size = chunk.struct.get(ChunkField.OFFSET_INDEX, I64), chunk.struct.get(ChunkField.OFFSET_INDEX_LENGTH, I32)
    where = f"{chunk.where}, offset index"
    index = Struct()
    if start is not None and size is not None:
        index, _ = read_struct(file.read(start, size, where), 0, where)
    elif new is None:
        return None
    locations = index.items(1, STRUCT) or []
    if new is None:
        for location in locations:
            place = location.get(LocationField.OFFSET, I64)
            if place is None:
                raise CorruptDataError(f"{where}: a page has no offset")
            location.set(LocationField.OFFSET, I64, place - chunk.start + new_start)
    else:
        if new.regrouped or len(new.rows) != len(locations):
            index = Struct()  # of other pages, whose further fields mean nothing here
        locations = [
            Struct(
                (LocationField.OFFSET, I64, new_start + place),
                (LocationField.SIZE, I32, length),
                (LocationField.FIRST_ROW, I64, first_row),
            )
            for place, length, first_row in new.locations()
        ]
    index.set(1, LIST, Items(STRUCT, locations))
    return index


# --- One row group, for pyarrow to read --------------------------------------------------------


def plain_copy(file: Input, footer: Footer, row_group: int, leaves: set[Leaf], threads: int, verify: bool) -> pa.Buffer:
    """A file in memory of one row group, of which only `leaves` can be read, without FSST."""
    group = footer.row_groups[row_group]
    sink = pa.BufferOutputStream()
    out = Output(sink)
    out.write(MAGIC)
    chunks = []
    for chunk in group.chunks:
        if chunk.leaf in leaves:
            codec = UNCOMPRESSED, None
            new = from_fsst(file, chunk, PLAIN, codec, False, threads, verify) if chunk.is_fsst else None
            placed = _write_chunk(file, chunk, out, new)
            placed.struct.drop(*_INDEX_FIELDS)
            placed.meta.drop(MetaField.BLOOM_FILTER, MetaField.BLOOM_FILTER_LENGTH)
        else:
            placed = _Placed(chunk.struct, chunk.meta, chunk.start, 0)
        chunks.append(placed)
    struct = footer.struct.copy()
    struct.set(FileField.ROW_GROUPS, LIST, Items(STRUCT, [_new_group(group, chunks)]))
    struct.set(FileField.NUM_ROWS, I64, group.num_rows)
    out.write(footer_bytes(struct))
    return sink.getvalue()

"""FSST column chunks of flat columns as compressed Arrow columns: whole, or single rows by the page index.

Nested columns are not read here: they go back to PLAIN in memory, and pyarrow reads that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from fsst import _core
from fsst.array import FsstArray, FsstType
from fsst.errors import CorruptDataError
from fsst.parquet_chunks import check_encoding, code_pages
from fsst.parquet_format import UNCOMPRESSED, Chunk, ChunkField, Input, Leaf, LocationField
from fsst.parquet_pages import DataPage, data_page, decode_levels, raw_page, symbol_table_of
from fsst.symbol_table import SymbolTable
from fsst.thrift import I32, I64, STRUCT, read_struct

__all__ = ["ChunkIndex", "read_chunk"]

# Bytes that are copied from a local file in the time that one more call takes.
_READ_COST = 1 << 14


def read_chunk(file: Input, chunk: Chunk, value_type: pa.DataType, verify: bool = True) -> FsstArray:
    """The rows of a chunk of a flat column. Offsets are checked, the codes when they are decompressed.

    Raises
    ------
    CorruptDataError
        A page breaks the format.
    """
    table, pages = code_pages(file, chunk, verify)
    codes, offsets, wide = _core.join_pages([(page.values, page.num_present, page.raw.where) for page in pages])
    valid = None
    if any(page.num_nulls for page in pages):
        valid = np.concatenate([_present(page, chunk.leaf) for page in pages])
    return _column(table, value_type, np.asarray(memoryview(offsets).cast("q" if wide else "i")), codes, valid)


def _present(page: DataPage, leaf: Leaf) -> np.ndarray:
    """Which rows of a page have a value."""
    if page.num_nulls == 0:
        return np.ones(page.num_values, bool)
    levels = decode_levels(page.definition, leaf.max_definition, page.num_values, page.raw.where)
    return np.asarray(levels == leaf.max_definition)


def _column(
    table: SymbolTable, value_type: pa.DataType, offsets: np.ndarray, codes: Any, valid: np.ndarray | None
) -> FsstArray:
    """A column of the values with these codes; `valid` tells the rows that have one."""
    bits = None
    if valid is not None:
        # A row ends where the last value up to it does.
        offsets = offsets[np.concatenate([[0], np.cumsum(valid)])]
        bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    fsst_type = FsstType(table, value_type, pa.large_binary() if offsets.itemsize == 8 else pa.binary())
    buffers = [bits, pa.py_buffer(offsets), pa.py_buffer(codes)]
    storage = pa.Array.from_buffers(fsst_type.storage_type, len(offsets) - 1, buffers)
    column: FsstArray = FsstArray.from_storage(fsst_type, storage)
    return column


@dataclass
class ChunkIndex:
    """Where the pages of a chunk are, and its symbol table: what reading single rows needs."""

    chunk: Chunk
    table: SymbolTable
    starts: list[int]
    sizes: list[int]
    first_rows: list[int]  # of each page, and the number of rows
    head: int = 0  # bytes that a page's header, levels and offsets are likely to take

    @classmethod
    def read(cls, file: Input, chunk: Chunk, num_rows: int, verify: bool = True) -> ChunkIndex | None:
        """The index of a chunk of a flat FSST column, None where it has none."""
        place = chunk.struct.get(ChunkField.OFFSET_INDEX, I64)
        size = chunk.struct.get(ChunkField.OFFSET_INDEX_LENGTH, I32)
        if place is None or size is None:
            return None
        where = f"{chunk.where}, offset index"
        struct, _ = read_struct(file.read(place, size, where), 0, where)
        starts, sizes, rows = [], [], []
        for location in struct.items(1, STRUCT) or []:
            starts.append(location.get(LocationField.OFFSET, I64))
            sizes.append(location.get(LocationField.SIZE, I32))
            rows.append(location.get(LocationField.FIRST_ROW, I64))
        rows.append(num_rows)
        if None in starts or None in sizes or None in rows:
            raise CorruptDataError(f"{where}: a page has no offset, size or first row")
        # Pages follow each other in the chunk, after its table; and rows are counted from 0 on.
        places, first_rows = np.array([*starts, chunk.start + chunk.size]), np.array(rows)
        ends = np.concatenate([[chunk.start], places[:-1] + np.array(sizes, np.int64)])
        if (places < ends).any() or (places < 0).any():
            raise CorruptDataError(f"{where}: its pages overlap, or lie outside of the chunk")
        if rows[0] != 0 or (np.diff(first_rows) < 0).any() or (num_rows and not starts):
            raise CorruptDataError(f"{where}: its pages begin at rows {rows[:3]}... of {num_rows}")
        ahead = (starts[0] if starts else chunk.start + chunk.size) - chunk.start
        first = raw_page(file.read(chunk.start, ahead, chunk.where), 0, f"{chunk.where}, page 0", verify)
        return cls(chunk, symbol_table_of(first, chunk.codec), starts, sizes, rows)

    def take(self, file: Input, rows: np.ndarray, value_type: pa.DataType, verify: bool = True) -> FsstArray:
        """These rows of the chunk, which ascend. Only the pages that they lie in are read."""
        pages = np.searchsorted(np.array(self.first_rows), rows, side="right") - 1
        cuts = np.flatnonzero(np.diff(pages, prepend=-1)).tolist()
        codes: list[Any] = []
        valid = np.ones(len(rows), bool)
        for page, first, end in zip(pages[cuts].tolist(), cuts, [*cuts[1:], len(rows)], strict=True):
            arguments = file, page, rows[first:end], codes, verify
            if not self._take_quickly(*arguments):
                self._take_from_page(*arguments, valid[first:end])
        offsets = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, codes), np.int64, len(codes)), out=offsets[1:])
        if offsets[-1] <= _core.offset_limit:
            offsets = offsets.astype(np.int32)
        return _column(self.table, value_type, offsets, b"".join(codes), None if valid.all() else valid)

    def _take_quickly(self, file: Input, page: int, rows: np.ndarray, codes: list[Any], verify: bool) -> bool:
        """Add the codes of these rows of a page, if it is as most are: neither compressed nor with nulls.

        Of a local file, only the page's offsets and these rows are read. False if there is anything that
        `_take_from_page` has to look at.
        """
        start, size, first = self.starts[page], self.sizes[page], self.first_rows[page]
        where = self.chunk.where
        head = self.head or size // 8 + _READ_COST
        if not file.is_local or head + len(rows) * _READ_COST > size:
            head = size
        count = self.first_rows[page + 1] - first
        data = file.read(start, head, where)
        uncompressed = self.chunk.codec == UNCOMPRESSED
        found = _core.fsst_page_rows(data, size, count, rows - first, uncompressed, verify)
        if found is None:
            return False
        needed, picked = found
        self.head = needed + needed // 4  # pages are alike
        if picked is None:
            return False
        if head == size:
            codes += [data[begin:end] for begin, end in picked]
        else:
            codes += [file.read(start + begin, end - begin, where) for begin, end in picked]
        return True

    def _take_from_page(
        self, file: Input, page: int, rows: np.ndarray, codes: list[Any], verify: bool, valid: np.ndarray
    ) -> None:
        """The same of any page; `valid` then tells which of the rows have a value."""
        where = f"{self.chunk.where}, page at byte {self.starts[page]}"
        raw = raw_page(file.read(self.starts[page], self.sizes[page], where), 0, where, verify)
        found = data_page(raw, self.chunk.leaf, self.chunk.codec)
        check_encoding(found)
        first = self.first_rows[page]
        count = self.first_rows[page + 1] - first
        if found.num_values != count:
            raw.fail(f"it has {found.num_values} rows, the offset index says {count}")
        positions = rows - first
        if found.num_nulls:
            present = _present(found, self.chunk.leaf)
            valid[:] = present[positions]
            # The values before a row are its position among the values.
            positions = (np.cumsum(present) - 1)[positions][valid]
        try:
            picked = _core.page_rows(found.values, found.num_present, positions)
        except CorruptDataError as error:
            raw.fail(str(error))
        values = memoryview(found.values)
        codes += [values[begin:end] for begin, end in picked]

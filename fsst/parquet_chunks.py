"""One column chunk from other encodings to FSST, and back.

Levels, page boundaries and statistics stay; only the values sections become others. The one exception: pages of
version 1 may begin in the middle of a row, those of version 2 may not, so their boundaries move to the next row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fsst import _core
from fsst.array import FsstType, rows_of
from fsst.errors import CorruptDataError
from fsst.parquet_format import (
    DATA_PAGE_V2,
    DELTA_LENGTH,
    FSST,
    FSST_AS_PROPOSED,
    MAX_PAGE,
    RLE,
    Chunk,
    Input,
    Leaf,
    MetaField,
    UnsupportedError,
)
from fsst.parquet_pages import (
    DataPage,
    data_pages,
    decode_levels,
    plain_values,
    symbol_table_of,
    symbol_table_page_pieces,
    v2_page_pieces,
)
from fsst.symbol_table import SymbolTable
from fsst.thrift import I32, I64, LIST, STRUCT, Items, Struct

__all__ = ["NewChunk", "check_encoding", "code_pages", "from_fsst", "to_fsst"]

# Pages are compressed together up to this many bytes of text.
_BATCH = 1 << 22


@dataclass
class NewChunk:
    """What takes a chunk's place: its pages and what its metadata then says."""

    encoding: int
    codec: int
    pieces: list[Any] = field(default_factory=list)  # of all pages, to be written one after the other
    page_sizes: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)  # of each data page
    table_size: int = 0  # of the symbol table page; 0 where there is none
    uncompressed_size: int = 0
    regrouped: bool = False  # page boundaries have moved

    @property
    def size(self) -> int:
        return sum(self.page_sizes)

    def add(self, page: tuple[list[Any], int], rows: int | None = None) -> None:
        """Append a page in pieces, with its size without compression; `rows` is None for the symbol table page."""
        pieces, uncompressed = page
        size = sum(map(len, pieces))
        self.pieces += pieces
        self.page_sizes.append(size)
        self.uncompressed_size += uncompressed
        if rows is None:
            self.table_size = size
        else:
            self.rows.append(rows)

    def locations(self) -> list[tuple[int, int, int]]:
        """Of each data page: where it begins in the chunk, its size, its first row."""
        ahead = len(self.page_sizes) - len(self.rows)
        starts = np.cumsum([0, *self.page_sizes]).tolist()[ahead:-1]
        first_rows = np.cumsum([0, *self.rows]).tolist()[:-1]
        return list(zip(starts, self.page_sizes[ahead:], first_rows, strict=True))

    def metadata(self, chunk: Chunk, start: int) -> Struct:
        """The ColumnMetaData of `chunk` with these pages, the first of which is at byte `start` of the file."""
        meta = chunk.meta.copy()
        leveled = chunk.leaf.max_definition or chunk.leaf.max_repetition
        meta.set(MetaField.ENCODINGS, LIST, Items(I32, [RLE, self.encoding] if leveled else [self.encoding]))
        meta.set(MetaField.CODEC, I32, self.codec)
        meta.set(MetaField.UNCOMPRESSED_SIZE, I64, self.uncompressed_size)
        meta.set(MetaField.COMPRESSED_SIZE, I64, self.size)
        meta.set(MetaField.DATA_PAGE, I64, start + self.table_size)
        meta.drop(
            MetaField.INDEX_PAGE, MetaField.DICTIONARY_PAGE, MetaField.SYMBOL_TABLE, MetaField.SYMBOL_TABLE_LENGTH
        )
        count = Struct((1, I32, DATA_PAGE_V2), (2, I32, self.encoding), (3, I32, len(self.rows)))
        meta.set(MetaField.ENCODING_STATS, LIST, Items(STRUCT, [count]))
        if self.table_size:
            meta.set(MetaField.SYMBOL_TABLE, I64, start)
            meta.set(MetaField.SYMBOL_TABLE_LENGTH, I32, self.table_size)
        return meta


# --- To FSST -----------------------------------------------------------------------------------


def to_fsst(
    file: Input,
    chunk: Chunk,
    choose: Callable[[pa.ChunkedArray], SymbolTable | None],
    codec: tuple[int, pa.Codec | None],
    checksum: bool | None,
    threads: int,
    verify: bool = True,
    known: pa.ChunkedArray | None = None,
) -> NewChunk | None:
    """`chunk` with FSST pages, and the table that `choose` makes for its values; None where it makes none.

    `known` are the values without nulls, plain or compressed, where the caller has them: then they are not read from
    the pages. Codes are stored as they are, where `choose` returns their table.

    Raises
    ------
    UnsupportedError
        The chunk is in a form that is not taken apart, or a page would pass 2 GiB.
    """
    ahead, pages = data_pages(file, chunk, verify)
    if chunk.num_values == 0:
        return None
    values = plain_values(ahead, pages, chunk) if known is None else known
    if len(values) != sum(page.num_present for page in pages):
        chunk.fail(f"it should hold {len(values)} values, its pages hold {sum(page.num_present for page in pages)}")
    table = choose(values)
    if table is None:
        return None
    checksum = any(page.raw.has_checksum for page in pages) if checksum is None else checksum
    aligned = _at_row_starts(pages, chunk.leaf)
    new = NewChunk(FSST, codec[0], regrouped=aligned is not pages)
    new.add(symbol_table_page_pieces(table, codec[1], checksum))
    compressed = isinstance(values.type, FsstType)
    sections = _sections_of_codes(values, aligned) if compressed else _sections(values, aligned, table, threads)
    for page, section in zip(aligned, sections, strict=True):
        new.add(v2_page_pieces(page, FSST, section, codec[1], checksum), page.num_rows)
    return new


def _sections(values: pa.ChunkedArray, pages: list[DataPage], table: SymbolTable, threads: int) -> Any:
    """The values sections of `pages`, made of `values` in order. Neighbours are compressed together."""
    start = index = 0
    average = max(values.nbytes // max(len(values), 1), 1)
    while index < len(pages):
        end, count = index, 0
        while end < len(pages) and (count == 0 or (count + pages[end].num_present) * average <= _BATCH):
            count += pages[end].num_present
            end += 1
        batch = _joined(values.slice(start, count).chunks, values.type)
        codes, offsets, wide = _core.compress(table._native, *rows_of(batch), threads)
        first = 0
        for page in pages[index:end]:
            yield _section(codes, offsets, wide, first, page)
            first += page.num_present
        start += count
        index = end


def _sections_of_codes(values: pa.ChunkedArray, pages: list[DataPage]) -> Any:
    """The values sections of `pages`, of codes that are there already."""
    start = 0
    for page in pages:
        parts = [chunk.storage for chunk in values.slice(start, page.num_present).chunks]
        codes, offsets, wide, first, _ = rows_of(_joined(parts, pa.binary()))
        yield _section(codes, offsets, wide, first, page)
        start += page.num_present


def _joined(parts: list[pa.Array], data_type: pa.DataType) -> pa.Array:
    """The parts as one array; pyarrow's own way copies a single one."""
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts) if parts else pa.array([], data_type)


def _section(codes: Any, offsets: Any, wide: bool, first: int, page: DataPage) -> bytes:
    """The values section of a page whose rows begin at row `first`."""
    count = page.num_present
    if count:
        ends = np.asarray(memoryview(offsets).cast("B").cast("q" if wide else "i"))
        if 9 + 4 * count + int(ends[first + count]) - int(ends[first]) > MAX_PAGE:
            raise UnsupportedError(f"{page.raw.where}: its codes pass {MAX_PAGE} bytes")
    return _core.page_encode(codes, offsets, wide, first, count, fsst=True)


def _at_row_starts(pages: list[DataPage], leaf: Leaf) -> list[DataPage]:
    """The pages, cut where rows begin: the same list if they are already."""
    if leaf.max_repetition == 0 or len(pages) < 2:
        return pages
    repetition = [decode_levels(p.repetition, leaf.max_repetition, p.num_values, p.raw.where) for p in pages]
    if not any(len(levels) and levels[0] for levels in repetition[1:]):
        return pages
    definition = [decode_levels(p.definition, leaf.max_definition, p.num_values, p.raw.where) for p in pages]
    all_repetition, all_definition = np.concatenate(repetition), np.concatenate(definition)
    rows = np.flatnonzero(all_repetition == 0)
    if len(rows) == 0 or rows[0] != 0:
        raise CorruptDataError(f"{pages[0].raw.where}: its first value belongs to a row that has not begun")
    ends = np.cumsum([page.num_values for page in pages])
    # The first row that begins at or after the end of each page, or the end of all.
    later = np.searchsorted(rows, ends)
    cuts = np.append(rows, ends[-1])[later]
    aligned = []
    start = 0
    for page, cut in zip(pages, cuts.tolist(), strict=True):
        if cut > start:
            reps, defs = all_repetition[start:cut], all_definition[start:cut]
            aligned.append(
                replace(
                    page,
                    num_values=cut - start,
                    num_nulls=int(np.count_nonzero(defs != leaf.max_definition)),
                    num_rows=int(np.count_nonzero(reps == 0)),
                    repetition=_core.encode_levels(reps, leaf.max_repetition),
                    definition=_core.encode_levels(defs, leaf.max_definition),
                    statistics=None,
                )
            )
        start = max(start, cut)
    return aligned


# --- From FSST ---------------------------------------------------------------------------------


def code_pages(file: Input, chunk: Chunk, verify: bool = True) -> tuple[SymbolTable, list[DataPage]]:
    """The symbol table and the data pages of a chunk, which all are FSST.

    Raises
    ------
    CorruptDataError
        A page breaks the format, or there is no symbol table page before the data pages.
    """
    ahead, pages = data_pages(file, chunk, verify)
    if not ahead:
        chunk.fail("its values are FSST, but it has no symbol table page before its data pages")
    for page in pages:
        check_encoding(page)
    return symbol_table_of(ahead[0], chunk.codec), pages


def check_encoding(page: DataPage) -> None:
    """Raise CorruptDataError if a page is not FSST."""
    if page.encoding not in (FSST, FSST_AS_PROPOSED):
        page.raw.fail(f"its encoding is {page.encoding}, in a chunk whose other pages are FSST ({FSST})")


def from_fsst(
    file: Input,
    chunk: Chunk,
    encoding: int,
    codec: tuple[int, pa.Codec | None],
    checksum: bool | None,
    threads: int,
    verify: bool = True,
) -> NewChunk:
    """`chunk`, which is FSST, with pages in PLAIN or DELTA_LENGTH_BYTE_ARRAY."""
    table, pages = code_pages(file, chunk, verify)
    checksum = any(page.raw.has_checksum for page in pages) if checksum is None else checksum
    new = NewChunk(encoding, codec[0])
    for page in pages:
        try:
            offsets, start = _core.page_offsets(page.values, page.num_present)
            rows = memoryview(page.values)[start:], offsets, False, 0, page.num_present
            text, ends = _core.decompress(table._native, *rows, False, threads)
        except CorruptDataError as error:
            page.raw.fail(str(error))
        if text is None or isinstance(ends, int) or len(text) + 4 * page.num_present > MAX_PAGE:
            page.raw.fail(f"its codes decompress to more than a page can hold, {MAX_PAGE} bytes")
        if encoding == DELTA_LENGTH:
            section: Any = _core.page_encode(text, ends, False, 0, page.num_present, fsst=False)
        else:
            section = _plain(text, np.asarray(memoryview(ends).cast("i")))
        new.add(v2_page_pieces(page, encoding, section, codec[1], checksum), page.num_rows)
    return new


def _plain(text: Any, ends: np.ndarray) -> Any:
    """PLAIN: each value with its length, 4 bytes, in front. Joining such pairs is what makes that."""
    count = len(ends) - 1
    fours = np.arange(0, 4 * count + 1, 4, dtype=np.int32)
    sizes = pa.py_buffer(np.diff(ends).astype("<i4", copy=False))
    lengths = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(fours), sizes], 0)
    values = pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(ends), pa.py_buffer(text)], 0)
    joined = pc.binary_join_element_wise(lengths, values, b"").buffers()[2]
    return memoryview(b"" if joined is None else joined)[: len(text) + 4 * count]

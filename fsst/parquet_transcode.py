"""A Parquet file in, a Parquet file out: chunk by chunk copied or rewritten, and the footer adjusted to that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fsst import _core
from fsst.array import rows_of
from fsst.convert import train
from fsst.errors import CorruptDataError
from fsst.parquet_chunks import NewChunk, from_fsst, to_fsst
from fsst.parquet_format import (
    BYTE_ARRAY,
    CODEC_NAMES,
    CODECS,
    DELTA_LENGTH,
    FSST,
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
    UnsupportedError,
    footer_bytes,
    open_input,
    open_output,
)
from fsst.symbol_table import SymbolTable
from fsst.threads import thread_count
from fsst.thrift import I32, I64, LIST, STRUCT, Items, Struct, read_struct, write_struct

__all__ = ["TranscodeResult", "leaves_named", "plain_copy", "transcode", "transcode_known"]

ENCODINGS = {"fsst": FSST, "plain": PLAIN, "delta_length": DELTA_LENGTH}

_INDEX_FIELDS = (
    ChunkField.OFFSET_INDEX,
    ChunkField.OFFSET_INDEX_LENGTH,
    ChunkField.COLUMN_INDEX,
    ChunkField.COLUMN_INDEX_LENGTH,
)

# Bytes copied at a time, where a chunk stays as it is.
_COPY = 1 << 24
# Text that is compressed to see whether a table suits a row group, taken from so many places.
_TRIAL_BYTES = 1 << 18
_TRIAL_PLACES = 16
# Codes per byte of text, above which strings are not worth compressing: random bytes, images, what is compressed.
_WORTHWHILE = 0.97
# A row group gets a table of its own where the one before would take so much more. Columns whose row groups
# share one are one type when read compressed, which is worth as much.
_SHARE_TOLERANCE = 0.01


@dataclass(frozen=True)
class TranscodeResult:
    """What `transcode` has done: how many column chunks it rewrote, of how many bytes it made how many."""

    chunks: int
    rewritten: int
    size_before: int
    size_after: int


def transcode(
    source: Any,
    dest: Any,
    columns: str | Iterable[str] | None = None,
    *,
    encoding: str = "fsst",
    compression: str | None = None,
    compression_level: int | None = None,
    symbol_table: SymbolTable | Mapping[str, SymbolTable] | None = None,
    effort: str = "default",
    share_symbol_tables: bool = True,
    only_if_smaller: bool = True,
    write_page_checksum: bool | None = None,
    page_checksum_verification: bool = True,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TranscodeResult:
    """Copy a Parquet file, with its string columns in FSST pages, or from FSST back to what every reader reads.

    FSST in Parquet is a *proposal* (apache/parquet-format issue 531). Other readers cannot read such columns
    yet; they can read the file's other columns. The way back is ``encoding="plain"`` or ``"delta_length"``.

    Only values are encoded anew. Nulls, nesting, statistics, key-value metadata, bloom filters, the page index
    and the other columns are carried over, and so is what a footer holds that this package does not know.

    Parameters
    ----------
    source : path, file or buffer
        A file has to be able to seek.
    dest : path or file
        A path comes to be, or is replaced, when all is written, and stays as it was if that fails.
    columns : str or iterable of str, optional
        Columns by name, or by dotted path where they are nested; all strings and binaries if not given.
    encoding : {"fsst", "plain", "delta_length"}
        With "fsst", the columns that are not FSST are rewritten; with the others, those that are.
    compression : {"none", "snappy", "gzip", "brotli", "zstd", "lz4"}, optional
        For the pages that are rewritten, on top of the encoding; what the column had, if not given. Pages
        that a codec does not make smaller are stored without.
    compression_level : int, optional
    symbol_table : SymbolTable or mapping of str to SymbolTable, optional
        A table made before, for all columns or by their dotted path. Columns without one are trained.
    effort : {"default", "fast", "max"}
        How much work goes into training, see `fsst.compress`.
    share_symbol_tables : bool
        Use one table for a column's row groups, as long as that costs less than 1 %.
    only_if_smaller : bool
        Leave a column chunk as it is where FSST, symbol table included, would not make it smaller.
    write_page_checksum : bool, optional
        Whether rewritten pages get a checksum; where their column's pages have some, if not given.
    page_checksum_verification : bool
        Whether checksums are checked in the pages that are rewritten.
    threads : int, optional
        At most this many; by default as many as there are cores. The result does not depend on it.
    progress : callable, optional
        Called with the number of row groups that are done, and of all.

    Returns
    -------
    TranscodeResult

    Raises
    ------
    CorruptDataError
        The source breaks the format; the message says where.
    FsstError
        The source is encrypted, or refers to other files.
    ValueError
        There is no such column, encoding or codec.

    Examples
    --------
    >>> import io
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> plain, small, again = io.BytesIO(), io.BytesIO(), io.BytesIO()
    >>> table = pa.table({"url": [f"https://example.org/{i}" for i in range(10_000)]})
    >>> pq.write_table(table, plain)
    >>> transcode(plain, small).rewritten
    1
    >>> small.tell() < plain.tell()
    True
    >>> _ = transcode(small, again, encoding="plain")
    >>> pq.read_table(again).equals(table)
    True
    """
    if encoding not in ENCODINGS:
        raise ValueError(f"encoding must be one of {', '.join(map(repr, ENCODINGS))}, not {encoding!r}")
    return transcode_known(
        source,
        dest,
        columns,
        encoding=encoding,
        compression=compression,
        compression_level=compression_level,
        symbol_table=symbol_table,
        effort=effort,
        share_symbol_tables=share_symbol_tables,
        only_if_smaller=only_if_smaller,
        write_page_checksum=write_page_checksum,
        page_checksum_verification=page_checksum_verification,
        threads=threads,
        progress=progress,
        known=lambda leaf, first, count: None,
    )


# Values that the caller has already: of a leaf, `count` rows from row `first` of the file on, without nulls.
Known = Callable[[Leaf, int, int], pa.ChunkedArray | None]


def transcode_known(
    source: Any,
    dest: Any,
    columns: str | Iterable[str] | None,
    *,
    encoding: str,
    compression: str | None,
    compression_level: int | None,
    symbol_table: SymbolTable | Mapping[str, SymbolTable] | None,
    effort: str,
    share_symbol_tables: bool,
    only_if_smaller: bool,
    write_page_checksum: bool | None,
    page_checksum_verification: bool,
    threads: int | None,
    progress: Callable[[int, int], None] | None,
    known: Known,
) -> TranscodeResult:
    """`transcode`, where values need not be read from the source if `known` has them."""
    _core.check_effort(effort)
    workers = thread_count(threads)
    forced = None if compression is None else _codec(compression, compression_level)
    with open_input(source) as file:
        footer = Footer(file)
        chosen = leaves_named(footer.leaves, columns)
        tables: dict[Leaf, _Tables] = {}
        first_rows = list(accumulate((group.num_rows for group in footer.row_groups), initial=0))

        def rewrite(chunk: Chunk) -> NewChunk | None:
            leaf = chunk.leaf
            if leaf not in chosen or leaf.type != BYTE_ARRAY or chunk.is_fsst == (encoding == "fsst"):
                return None
            codec = _codec_of(chunk, compression_level) if forced is None else forced
            arguments = codec, write_page_checksum, workers, page_checksum_verification
            if encoding != "fsst":
                return from_fsst(file, chunk, ENCODINGS[encoding], *arguments)
            given = symbol_table.get(leaf.name) if isinstance(symbol_table, Mapping) else symbol_table
            choice = tables.setdefault(leaf, _Tables(effort, share_symbol_tables, only_if_smaller))
            choose = choice.choose if given is None else lambda values: given
            try:
                new = to_fsst(
                    file, chunk, choose, *arguments, known(leaf, first_rows[chunk.row_group], chunk.num_values)
                )
            except UnsupportedError:
                return None
            if new is None or not only_if_smaller:
                return new
            # An offset index, and where it and the symbol table are, come on top where there was none.
            had_index = ChunkField.OFFSET_INDEX in chunk.struct
            return new if new.size + 24 + (0 if had_index else 16 * len(new.rows) + 24) < chunk.size else None

        with open_output(dest) as out:
            return _write_file(file, footer, out, rewrite, progress)


def leaves_named(leaves: list[Leaf], columns: str | Iterable[str] | None) -> set[Leaf]:
    """The leaves that `columns` names: by their path, or by what they lie in."""
    if columns is None:
        return set(leaves)
    chosen = set()
    for name in [columns] if isinstance(columns, str) else columns:
        found = [leaf for leaf in leaves if leaf.name == name or leaf.name.startswith(f"{name}.")]
        if not found:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(leaf.name for leaf in leaves)}")
        chosen.update(found)
    return chosen


# --- Codecs and tables -------------------------------------------------------------------------


def _codec(name: str, level: int | None) -> tuple[int, pa.Codec | None]:
    number = CODECS.get(name.lower())
    if number is None:
        raise ValueError(f"compression must be one of {', '.join(map(repr, CODECS))}, not {name!r}")
    return number, None if number == UNCOMPRESSED else pa.Codec(CODEC_NAMES[number], level)


def _codec_of(chunk: Chunk, level: int | None) -> tuple[int, pa.Codec | None]:
    if chunk.codec not in CODEC_NAMES:
        return UNCOMPRESSED, None  # reading its pages will say that this is not supported
    return _codec(CODEC_NAMES[chunk.codec], level if chunk.codec in (2, 4, 6) else None)


class _Tables:
    """The symbol tables of one column's row groups."""

    def __init__(self, effort: str, share: bool, only_if_smaller: bool) -> None:
        self._effort = effort
        self._only_if_smaller = only_if_smaller
        self._share = share
        self._table: SymbolTable | None = None
        self._expected = 0.0  # codes per byte of text where the table was trained

    def choose(self, values: pa.ChunkedArray) -> SymbolTable | None:
        """The table for a row group's values; None where none would make them smaller."""
        sample = _sample(values)
        if self._table is not None and self._share:
            ratio = _ratio(self._table, sample)
            if ratio <= self._expected * (1 + _SHARE_TOLERANCE):
                return self._table
            own = train(values, effort=self._effort)
            if ratio <= _ratio(own, sample) * (1 + _SHARE_TOLERANCE):
                return self._table
        else:
            own = train(values, effort=self._effort)
        ratio = _ratio(own, sample)
        if len(own) == 0 or (self._only_if_smaller and ratio > _WORTHWHILE):
            return None
        self._table, self._expected = own, ratio
        return own


def _sample(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Some values from many places."""
    size = values.nbytes
    if size <= _TRIAL_BYTES or len(values) < 2 * _TRIAL_PLACES:
        return values
    rows = max(len(values) * _TRIAL_BYTES // size // _TRIAL_PLACES, 1)
    step = len(values) // _TRIAL_PLACES
    parts = [values.slice(i * step, min(rows, step)) for i in range(_TRIAL_PLACES)]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], values.type)


def _ratio(table: SymbolTable, values: pa.ChunkedArray) -> float:
    codes = sum(len(_core.compress(table._native, *rows_of(chunk), 1)[0]) for chunk in values.chunks)
    return codes / max(pc.sum(pc.binary_length(values)).as_py() or 0, 1)


# --- The file ----------------------------------------------------------------------------------


@dataclass
class _Moved:
    """A chunk in the new file: how far its pages have moved, or where those are that replaced them."""

    struct: Struct
    meta: Struct
    old: Chunk
    start: int
    size: int
    grown: int = 0  # without compression
    pages: list[tuple[int, int, int]] | None = None  # see NewChunk.locations; None: copied as they were
    regrouped: bool = False


def _write_file(
    file: Input,
    footer: Footer,
    out: Output,
    rewrite: Callable[[Chunk], NewChunk | None],
    progress: Callable[[int, int], None] | None,
) -> TranscodeResult:
    out.write(MAGIC)
    moved: list[_Moved] = []
    groups: list[Struct] = []
    for index, group in enumerate(footer.row_groups):
        chunks = [_write_chunk(file, chunk, out, rewrite(chunk)) for chunk in group.chunks]
        groups.append(_new_group(group, chunks))
        moved += chunks
        if progress is not None:
            progress(index + 1, len(footer.row_groups))
    for chunk in moved:
        _write_bloom_filter(file, chunk, out)
    for chunk in moved:
        _write_column_index(file, chunk, out)
    for chunk in moved:
        _write_offset_index(file, chunk, out)
    struct = footer.struct.copy()
    struct.set(FileField.ROW_GROUPS, LIST, Items(STRUCT, groups))
    out.write(footer_bytes(struct))
    rewritten = sum(chunk.pages is not None for chunk in moved)
    return TranscodeResult(len(moved), rewritten, file.size, out.position)


def _write_chunk(file: Input, chunk: Chunk, out: Output, new: NewChunk | None) -> _Moved:
    start = out.position
    if new is not None:
        for page in new.pages:
            out.write(page)
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
        return _Moved(struct, meta, chunk, start, chunk.size)
    grown = new.uncompressed_size - chunk.uncompressed_size
    return _Moved(struct, meta, chunk, start, new.size, grown, new.locations(), new.regrouped)


def _new_group(group: RowGroup, chunks: list[_Moved]) -> Struct:
    struct = group.struct.copy()
    struct.set(GroupField.COLUMNS, LIST, Items(STRUCT, [chunk.struct for chunk in chunks]))
    before = struct.get(GroupField.TOTAL_BYTE_SIZE, I64) or 0
    struct.set(GroupField.TOTAL_BYTE_SIZE, I64, before + sum(chunk.grown for chunk in chunks))
    if GroupField.TOTAL_COMPRESSED_SIZE in struct:
        struct.set(GroupField.TOTAL_COMPRESSED_SIZE, I64, sum(chunk.size for chunk in chunks))
    if GroupField.FILE_OFFSET in struct and chunks:
        struct.set(GroupField.FILE_OFFSET, I64, chunks[0].start)
    return struct


def _write_bloom_filter(file: Input, chunk: _Moved, out: Output) -> None:
    start = chunk.meta.get(MetaField.BLOOM_FILTER, I64)
    if start is None:
        return
    where = f"{chunk.old.where}, bloom filter"
    size = chunk.meta.get(MetaField.BLOOM_FILTER_LENGTH, I32)
    if size is None:
        # Older writers leave the size to the filter's own header, whose field 1 it is.
        header, end = read_struct(file.read(start, min(64, file.size - start), where), 0, where)
        size = end + (header.get(1, I32) or 0)
    data = file.read(start, size, where)
    chunk.meta.set(MetaField.BLOOM_FILTER, I64, out.position)
    out.write(data)


def _write_column_index(file: Input, chunk: _Moved, out: Output) -> None:
    struct = chunk.struct
    start, size = struct.get(ChunkField.COLUMN_INDEX, I64), struct.get(ChunkField.COLUMN_INDEX_LENGTH, I32)
    if start is None or size is None:
        return
    if chunk.regrouped:
        # It tells the least and greatest value of pages that are no more.
        struct.drop(ChunkField.COLUMN_INDEX, ChunkField.COLUMN_INDEX_LENGTH)
        return
    data = file.read(start, size, f"{chunk.old.where}, column index")
    struct.set(ChunkField.COLUMN_INDEX, I64, out.position)
    out.write(data)


def _write_offset_index(file: Input, chunk: _Moved, out: Output) -> None:
    """Where each page is. Rewritten chunks get one in any case: single rows are read by it."""
    struct = chunk.struct
    start, size = struct.get(ChunkField.OFFSET_INDEX, I64), struct.get(ChunkField.OFFSET_INDEX_LENGTH, I32)
    where = f"{chunk.old.where}, offset index"
    index = Struct()
    if start is not None and size is not None:
        index, _ = read_struct(file.read(start, size, where), 0, where)
    elif chunk.pages is None:
        return
    locations = index.items(1, STRUCT) or []
    if chunk.pages is None:
        for location in locations:
            place = location.get(LocationField.OFFSET, I64)
            if place is None:
                raise CorruptDataError(f"{where}: a page has no offset")
            location.set(LocationField.OFFSET, I64, place - chunk.old.start + chunk.start)
    else:
        if chunk.regrouped or len(chunk.pages) != len(locations):
            index = Struct()  # of other pages, whose further fields mean nothing here
        locations = [
            Struct(
                (LocationField.OFFSET, I64, chunk.start + place),
                (LocationField.SIZE, I32, length),
                (LocationField.FIRST_ROW, I64, first_row),
            )
            for place, length, first_row in chunk.pages
        ]
    index.set(1, LIST, Items(STRUCT, locations))
    data = write_struct(index)
    struct.set(ChunkField.OFFSET_INDEX, I64, out.position)
    struct.set(ChunkField.OFFSET_INDEX_LENGTH, I32, len(data))
    out.write(data)


def plain_copy(file: Input, footer: Footer, row_group: int, leaves: set[Leaf], threads: int, verify: bool) -> pa.Buffer:
    """A file in memory of one row group, of which only `leaves` can be read, without FSST: for pyarrow to read."""
    group = footer.row_groups[row_group]
    sink = pa.BufferOutputStream()
    out = Output(sink)
    out.write(MAGIC)
    chunks = []
    for chunk in group.chunks:
        if chunk.leaf in leaves:
            codec = UNCOMPRESSED, None
            new = from_fsst(file, chunk, PLAIN, codec, False, threads, verify) if chunk.is_fsst else None
            moved = _write_chunk(file, chunk, out, new)
            moved.struct.drop(*_INDEX_FIELDS)
            moved.meta.drop(MetaField.BLOOM_FILTER, MetaField.BLOOM_FILTER_LENGTH)
        else:
            moved = _Moved(chunk.struct, chunk.meta, chunk, chunk.start, 0)
        chunks.append(moved)
    struct = footer.struct.copy()
    struct.set(FileField.ROW_GROUPS, LIST, Items(STRUCT, [_new_group(group, chunks)]))
    struct.set(FileField.NUM_ROWS, I64, group.num_rows)
    out.write(footer_bytes(struct))
    return sink.getvalue()

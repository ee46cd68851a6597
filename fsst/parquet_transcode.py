"""Which column chunks of a Parquet file are rewritten, with which symbol table and codec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fsst import _core
from fsst.array import FsstType, rows_of
from fsst.convert import decompress, train
from fsst.leaves import has_leaf
from fsst.parquet_assemble import Assembly
from fsst.parquet_chunks import NewChunk, from_fsst, to_fsst
from fsst.parquet_format import (
    BYTE_ARRAY,
    CODEC_NAMES,
    CODECS,
    DELTA_LENGTH,
    FSST,
    PLAIN,
    UNCOMPRESSED,
    Chunk,
    ChunkField,
    Footer,
    Input,
    Leaf,
    UnsupportedError,
    open_input,
    open_output,
)
from fsst.symbol_table import SymbolTable
from fsst.threads import thread_count

__all__ = ["Rewriter", "TranscodeResult", "leaves_named", "transcode"]

ENCODINGS = {"fsst": FSST, "plain": PLAIN, "delta_length": DELTA_LENGTH}

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
        With "fsst", the columns that are not FSST are rewritten; with the others, those that are. Columns that
        are dictionaries to Arrow become plain in either case: pyarrow cannot read them from "delta_length".
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
        The source says that it is encrypted, or refers to other files. Damage may make a file say so.
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
    with open_input(source) as file:
        footer = Footer(file)
        rewriter = Rewriter(
            leaves=leaves_named(footer.leaves, columns),
            encoding=encoding,
            plain_columns=_dictionary_columns(file) if encoding == "delta_length" else frozenset(),
            compression=compression,
            compression_level=compression_level,
            symbol_table=symbol_table,
            effort=effort,
            share_symbol_tables=share_symbol_tables,
            only_if_smaller=only_if_smaller,
            write_page_checksum=write_page_checksum,
            page_checksum_verification=page_checksum_verification,
            threads=threads,
        )
        with open_output(dest) as out:
            assembly = Assembly(out)
            for index, group in enumerate(footer.row_groups):
                assembly.add(file, group, (rewriter.rewrite(file, chunk) for chunk in group.chunks))
                if progress is not None:
                    progress(index + 1, len(footer.row_groups))
            assembly.finish(footer.struct)
            return TranscodeResult(assembly.chunks, assembly.rewritten, file.size, out.position)


@dataclass(kw_only=True)
class Rewriter:
    """Rewrites column chunks, and keeps each column's symbol table from one row group to the next. See `transcode`."""

    leaves: set[Leaf]
    encoding: str = "fsst"
    plain_columns: Set[str] = frozenset()  # not DELTA_LENGTH, whatever `encoding` says
    compression: str | None = None
    compression_level: int | None = None
    symbol_table: SymbolTable | Mapping[str, SymbolTable] | None = None
    effort: str = "default"
    share_symbol_tables: bool = True
    only_if_smaller: bool = True
    write_page_checksum: bool | None = None
    page_checksum_verification: bool = True
    threads: int | None = None

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise ValueError(f"encoding must be one of {', '.join(map(repr, ENCODINGS))}, not {self.encoding!r}")
        _core.check_effort(self.effort)
        self._encoding = ENCODINGS[self.encoding]
        self._codec = None if self.compression is None else _codec(self.compression, self.compression_level)
        self._tables: dict[Leaf, _Tables] = {}
        self._threads = thread_count(self.threads)

    def rewrite(self, file: Input, chunk: Chunk, known: pa.ChunkedArray | None = None) -> NewChunk | None:
        """What takes the place of `chunk`; None where it stays.

        `known` are its values without nulls, plain or compressed, where the caller has them: then they are not read
        from `file`. Codes are stored as they are, unless another symbol table is asked for.
        """
        leaf = chunk.leaf
        if leaf not in self.leaves or leaf.type != BYTE_ARRAY or chunk.is_fsst == (self._encoding == FSST):
            return None
        codec = _codec_of(chunk, self.compression_level) if self._codec is None else self._codec
        arguments = codec, self.write_page_checksum, self._threads, self.page_checksum_verification
        if self._encoding != FSST:
            encoding = PLAIN if leaf.path[0] in self.plain_columns else self._encoding
            return from_fsst(file, chunk, encoding, *arguments)
        table = self.symbol_table
        if isinstance(table, Mapping):
            table = table.get(leaf.name)
        if known is not None and isinstance(known.type, FsstType):
            if table is None:
                table = known.type.symbol_table
            elif table != known.type.symbol_table:
                known = decompress(known, large=True, threads=self._threads)
        if leaf not in self._tables:
            self._tables[leaf] = _Tables(self.effort, self.share_symbol_tables, self.only_if_smaller)
        choose = self._tables[leaf].choose if table is None else lambda values: table
        try:
            new = to_fsst(file, chunk, choose, *arguments, known)
        except UnsupportedError:
            return None
        if new is None or not self.only_if_smaller:
            return new
        # An offset index, and where it and the symbol table are, come on top where there was none.
        had_index = ChunkField.OFFSET_INDEX in chunk.struct
        return new if new.size + 24 + (0 if had_index else 16 * len(new.rows) + 24) < chunk.size else None


def _dictionary_columns(file: Input) -> set[str]:
    """The columns that are or hold dictionaries to Arrow, which pyarrow cannot read from DELTA_LENGTH pages."""
    with suppress(pa.ArrowException, OSError, ValueError):  # a schema that pyarrow cannot read says nothing of them
        schema = pq.ParquetFile(file.native).schema_arrow
        return {field.name for field in schema if has_leaf(field.type, pa.types.is_dictionary)}
    return set()


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
        if self._only_if_smaller and (len(own) == 0 or ratio > _WORTHWHILE):
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

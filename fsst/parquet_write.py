"""A table written as a Parquet file with FSST columns: pyarrow writes a row group into memory, which then is rewritten.

So levels, statistics, the page index and all other columns are pyarrow's work. Values are taken from the table, not
from what pyarrow has written, and codes that are there already go into the pages as they are.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fsst.array import FsstArray, FsstType
from fsst.convert import decompress
from fsst.errors import CorruptDataError
from fsst.leaves import has_leaf
from fsst.parquet_assemble import Assembly
from fsst.parquet_format import BYTE_ARRAY, FileField, Footer, Leaf, open_input, open_output
from fsst.parquet_transcode import Rewriter, leaves_named
from fsst.symbol_table import SymbolTable
from fsst.thrift import I64

__all__ = ["write_table"]

# Rows of a row group where the options don't say, and the most that pyarrow makes one of.
_ROW_GROUP = 1 << 20
_MOST_ROWS = 1 << 26


def write_table(
    table: pa.Table,
    where: Any,
    columns: str | Iterable[str] = "auto",
    *,
    effort: str = "default",
    symbol_table: SymbolTable | Mapping[str, SymbolTable] | None = None,
    share_symbol_tables: bool = True,
    threads: int | None = None,
    **options: Any,
) -> None:
    """Write a table as a Parquet file whose string columns are in FSST pages.

    FSST in Parquet is a *proposal*: other readers cannot read such columns yet, see `transcode`.

    Parameters
    ----------
    table : pyarrow.Table
        Compressed columns (`FsstArray`) are stored as they are, symbol table and codes, and read as strings or as what
        they were; nested ones are compressed anew.
    where : path or file
        A path comes to be when all is written.
    columns : "auto", or names
        Columns to be FSST, by name or dotted path. With "auto": strings and binaries where that makes them
        smaller than what pyarrow writes with the same options. Columns that are named are FSST in any case.
    effort : {"default", "fast", "max"}
        How much work goes into training, see `fsst.compress`.
    symbol_table : SymbolTable or mapping of str to SymbolTable, optional
        A table made before, for all columns or by their dotted path.
    share_symbol_tables : bool
        Use one table for a column's row groups, as long as that costs less than 1 %.
    threads : int, optional
        At most this many; by default as many as there are cores.
    **options
        What `pyarrow.parquet.write_table` takes. Its codec, snappy if none is given, is used on top of FSST for
        pages that it makes smaller; ``compression="none"`` reads fastest.

    Raises
    ------
    ValueError
        There is no such column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from fsst.parquet import ParquetFile
    >>> file = pa.BufferOutputStream()
    >>> write_table(pa.table({"city": ["Berlin", None, "Bern"] * 1000}), file, columns=["city"])
    >>> ParquetFile(file.getvalue()).fsst_columns
    ['city']
    """
    if "filesystem" in options:
        raise TypeError("write_table takes no filesystem; pass the file that filesystem.open_output_stream(path) opens")
    auto = isinstance(columns, str) and columns == "auto"
    codec = options.get("compression", "snappy")
    level = options.get("compression_level")
    named = [] if auto else [columns] if isinstance(columns, str) else list(columns)
    if not auto and isinstance(codec, str) and not isinstance(level, Mapping):
        # Columns that are FSST in any case need not be compressed before, nor looked through for repeated values.
        fsst, others = _leaf_names(table, named, options)
        options["compression"] = dict.fromkeys(fsst, "none") | dict.fromkeys(others, codec)
        if level is not None:
            options["compression_level"] = dict.fromkeys(others, level)
        if options.get("use_dictionary", True) is True and not options.get("column_encoding"):
            options["use_dictionary"] = others
    else:
        codec = level = None
    rewriter: Rewriter | None = None
    rows = 0
    with open_output(where) as out:
        assembly, memory = Assembly(out), _Memory(1 << 16)
        for first, part in _parts(table, options):
            # A row group at a time, each in the memory of the one before: fresh memory would cost as much as the work.
            memory.clear(_room(part))
            pq.write_table(_plain(part, first, threads), memory, **options)
            with open_input(memory.written()) as file:
                footer = Footer(file)
                if rewriter is None:
                    struct = footer.struct
                    rewriter = Rewriter(
                        leaves=leaves_named(footer.leaves, None if auto else named),
                        compression=codec,
                        compression_level=level,
                        symbol_table=symbol_table,
                        effort=effort,
                        share_symbol_tables=share_symbol_tables,
                        only_if_smaller=auto,
                        page_checksum_verification=False,
                        threads=threads,
                    )
                start = 0
                for group in footer.row_groups:
                    known = [_values(part, chunk.leaf, start, group.num_rows) for chunk in group.chunks]
                    assembly.add(file, group, map(partial(rewriter.rewrite, file), group.chunks, known))
                    start += group.num_rows
                rows += start
        struct.set(FileField.NUM_ROWS, I64, rows)  # none where there are no columns
        assembly.finish(struct)


def _parts(table: pa.Table, options: dict[str, Any]) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each row group, and the number of the first: as `pyarrow.parquet.write_table` cuts a table."""
    rows = options.get("row_group_size")
    size = _ROW_GROUP if rows is None else rows
    runs_on = options.get("use_content_defined_chunking")  # from one row group to the next
    if not isinstance(size, int) or not 0 < size <= _MOST_ROWS or len(table) <= size or runs_on:
        yield 0, table
        return
    for first in range(0, len(table), size):
        yield first, table.slice(first, size)


def _room(table: pa.Table) -> int:
    """About what it takes as a file."""
    # pyarrow looks for the first offset of arrays without rows, which need not have any.
    size: int = sum(chunk.nbytes for column in table.columns for chunk in column.chunks if len(chunk))
    return size + size // 8


def _plain(table: pa.Table, first: int, threads: int | None) -> pa.Table:
    """`table`, which begins at row `first` of another, decompressed."""
    if not any(has_leaf(kind, lambda leaf: isinstance(leaf, FsstType)) for kind in table.schema.types):
        return table
    try:
        return decompress(table, large=True, threads=threads)
    except CorruptDataError as error:
        raise CorruptDataError(f"rows {first} to {first + len(table) - 1}: {error}" if first else str(error)) from None


def _leaf_names(table: pa.Table, columns: list[str], options: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The strings in `columns`, and all other columns, by the paths that pyarrow will give them."""
    sink = pa.BufferOutputStream()
    pq.write_table(_plain(table.slice(0, 0), 0, 1), sink, **options)
    with open_input(sink.getvalue()) as file:
        leaves = Footer(file).leaves
    chosen = leaves_named(leaves, columns)
    fsst = [leaf.name for leaf in leaves if leaf in chosen and leaf.type == BYTE_ARRAY]
    return fsst, [leaf.name for leaf in leaves if leaf.name not in fsst]


def _values(table: pa.Table, leaf: Leaf, first: int, count: int) -> pa.ChunkedArray | None:
    """The values of a leaf without nulls, where the table has them as they are, or compressed."""
    if len(leaf.path) > 1 or leaf.max_repetition or table.schema.names.count(leaf.path[0]) != 1:
        return None
    column = table.column(leaf.path[0]).slice(first, count)
    kind = column.type
    if isinstance(kind, FsstType):
        chunks = [FsstArray.from_storage(kind, chunk.storage.drop_null()) for chunk in column.chunks]
        return pa.chunked_array(chunks, kind)
    if kind not in (pa.string(), pa.binary(), pa.large_string(), pa.large_binary()):
        return None
    return column.drop_null() if column.null_count else column


class _Memory(io.RawIOBase):
    """A file in memory, to be written front to back, whose room is kept from one use to the next."""

    def __init__(self, room: int) -> None:
        self._room = np.empty(room, np.uint8).data
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        end = self._size + len(data)
        if end > len(self._room):
            room = np.empty(max(end, 2 * len(self._room)), np.uint8).data
            room[: self._size] = self._room[: self._size]
            self._room = room
        self._room[self._size : end] = data
        self._size = end
        return len(data)

    def clear(self, room: int) -> None:
        """Empty it, and see to it that there is so much room; it grows where that is not enough."""
        self._size = 0
        if room > len(self._room):
            self._room = np.empty(room, np.uint8).data

    def written(self) -> memoryview:
        return self._room[: self._size]

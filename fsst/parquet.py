"""Parquet files whose string columns are FSST: write them, read them, take rows, go back.

FSST in Parquet is a *proposal* (apache/parquet-format issue 531). Other readers cannot read such columns yet: they
open the file, show the encoding as unknown and read the other columns. `transcode` with ``encoding="plain"`` makes a
file of it that every reader reads.

>>> import pyarrow as pa
>>> import fsst.parquet
>>> table = pa.table({"url": [f"https://example.org/{i % 99}" for i in range(10_000)], "n": range(10_000)})
>>> file = pa.BufferOutputStream()
>>> fsst.parquet.write_table(table, file)
>>> fsst.parquet.read_table(file.getvalue()).equals(table)
True
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from contextlib import ExitStack
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fsst.array import FsstArray, FsstType, compress_leaf, decompress_leaf, is_value_type
from fsst.errors import CorruptDataError, FsstError
from fsst.leaves import has_leaf
from fsst.parquet_assemble import plain_copy
from fsst.parquet_format import BYTE_ARRAY, Chunk, Footer, Leaf, open_input
from fsst.parquet_read import ChunkIndex, read_chunk
from fsst.parquet_transcode import TranscodeResult, leaves_named, transcode
from fsst.parquet_write import write_table
from fsst.threads import thread_count

__all__ = ["ParquetFile", "TranscodeResult", "read_table", "transcode", "write_table"]


def read_table(
    source: Any,
    columns: Iterable[str] | None = None,
    *,
    compressed: bool = False,
    memory_map: bool = False,
    page_checksum_verification: bool = True,
    threads: int | None = None,
) -> pa.Table:
    """Read a Parquet file, FSST columns included.

    Parameters
    ----------
    source : path, file or buffer
    columns : iterable of str, optional
        Columns by name, or by dotted path where they are nested; all if not given.
    compressed : bool
        Return FSST columns as `FsstArray`, straight from the pages. Nested ones are returned plain. Where the
        row groups have different symbol tables, the column is brought to that of the first.
    memory_map : bool
        Map a file given by its path instead of reading it.
    page_checksum_verification : bool
        Whether checksums are checked, where pages have some.
    threads : int, optional
        At most this many; by default as many as there are cores.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    CorruptDataError
        The file breaks the format; the message names column, row group and page.
    FsstError
        It says that it is encrypted, lies in other files, or is compressed in a way that is not known here. Damage may
        make a file say so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> file = pa.BufferOutputStream()
    >>> write_table(pa.table({"city": ["Berlin", None, "Bern"] * 1000}), file, columns=["city"])
    >>> read_table(file.getvalue(), compressed=True)["city"].chunk(0)[2].as_py()
    'Bern'
    """
    with ParquetFile(source, memory_map=memory_map, page_checksum_verification=page_checksum_verification) as file:
        return file.read(columns, compressed=compressed, threads=threads)


class ParquetFile:
    """An open Parquet file with FSST columns. Several threads may read from one.

    Parameters
    ----------
    source : path, file or buffer
        A file that is given stays open when this is closed. Nobody else may read from it meanwhile.
    memory_map : bool
        Map a file given by its path instead of reading it.
    page_checksum_verification : bool
        Whether checksums are checked, where pages have some.

    Raises
    ------
    CorruptDataError
        It is no Parquet file, or its footer breaks the format.
    FsstError
        It says that it is encrypted, lies in other files, or is compressed in a way that is not known here. Damage may
        make a file say so.

    Examples
    --------
    >>> import pyarrow as pa
    >>> file = pa.BufferOutputStream()
    >>> write_table(pa.table({"city": ["Berlin", None, "Bern"] * 1000}), file)
    >>> with ParquetFile(file.getvalue()) as parquet:
    ...     parquet.num_rows, parquet.take([2999, 1, 0])["city"].to_pylist()
    (3000, ['Bern', None, 'Berlin'])
    """

    def __init__(self, source: Any, *, memory_map: bool = False, page_checksum_verification: bool = True) -> None:
        self._verify = page_checksum_verification
        self._indexes: dict[int, ChunkIndex | None] = {}
        with ExitStack() as stack:
            self._file = stack.enter_context(open_input(source, memory_map))
            self._footer = Footer(self._file)
            try:
                self._arrow = pq.ParquetFile(
                    self._file.native, page_checksum_verification=page_checksum_verification, pre_buffer=False
                )
                self._schema = self._arrow.schema_arrow
                self._turn = Lock()  # pyarrow does not say whether several threads may read with one reader
            except (pa.ArrowException, OSError, ValueError) as error:
                raise CorruptDataError(f"footer: pyarrow cannot read it: {error}") from None
            for names in (self._schema.names, [leaf.name for leaf in self._footer.leaves]):
                if len(set(names)) < len(names):
                    raise FsstError(f"columns are named alike: {', '.join(names)}")
            self._stack = stack.pop_all()
        self._row_counts = [group.num_rows for group in self._footer.row_groups]

    def close(self) -> None:
        """Close the file, where it was opened here."""
        self._stack.close()

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        shape = f"{self.num_rows} rows in {self.num_row_groups} row groups"
        return f"<fsst.parquet.ParquetFile: {shape}, FSST: {', '.join(self.fsst_columns) or 'none'}>"

    @property
    def metadata(self) -> pq.FileMetaData:
        """The footer, as pyarrow shows it."""
        return self._arrow.metadata

    @property
    def schema_arrow(self) -> pa.Schema:
        """The columns and their types, as `read` returns them."""
        return self._schema

    @property
    def num_row_groups(self) -> int:
        return len(self._row_counts)

    @property
    def num_rows(self) -> int:
        return sum(self._row_counts)

    @property
    def fsst_columns(self) -> list[str]:
        """The columns, by dotted path, of which a row group at least is FSST."""
        chunks = (chunk for group in self._footer.row_groups for chunk in group.chunks)
        found = {chunk.leaf for chunk in chunks if chunk.is_fsst}
        return [leaf.name for leaf in self._footer.leaves if leaf in found]

    def read(
        self,
        columns: Iterable[str] | None = None,
        *,
        row_groups: Iterable[int] | None = None,
        compressed: bool = False,
        threads: int | None = None,
    ) -> pa.Table:
        """Read columns, of all row groups or of some. See `read_table`."""
        workers = thread_count(threads)
        groups = list(range(self.num_row_groups)) if row_groups is None else [self._group(i) for i in row_groups]
        return self._collect(columns, lambda field: self._read_field(field, groups, compressed, workers))

    def read_row_group(self, i: int, columns: Iterable[str] | None = None, **options: Any) -> pa.Table:
        """Read columns of one row group. See `read`."""
        return self.read(columns, row_groups=[i], **options)

    def take(
        self,
        rows: Any,
        columns: Iterable[str] | None = None,
        *,
        compressed: bool = False,
        threads: int | None = None,
    ) -> pa.Table:
        """Read single rows by their numbers.

        Of flat FSST columns only the pages are read that the rows lie in, as the page index tells; of other
        columns, the row groups.

        Parameters
        ----------
        rows : array-like of int
            From 0 to ``num_rows - 1``, in any order, also repeated.
        columns, compressed, threads
            See `read_table`.

        Raises
        ------
        IndexError
            There is no such row.
        """
        wanted = np.asarray(rows)
        if wanted.ndim != 1 or (wanted.dtype.kind not in "iu" and len(wanted)):
            raise TypeError(f"rows must be integers in one dimension, not {wanted.dtype} of shape {wanted.shape}")
        wanted = wanted.astype(np.int64)
        if len(wanted) and not 0 <= wanted.min() <= wanted.max() < self.num_rows:
            raise IndexError(f"rows {wanted.min()} to {wanted.max()} of a file of {self.num_rows} rows")
        workers = thread_count(threads)
        order = np.argsort(wanted, kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        ascending = wanted[order]
        # Where the rows of each row group lie among the ascending ones.
        bounds = np.searchsorted(ascending, np.cumsum([0, *self._row_counts]))
        firsts = np.cumsum([0, *self._row_counts])
        parts = [
            (group, ascending[bounds[group] : bounds[group + 1]] - firsts[group])
            for group in range(self.num_row_groups)
            if bounds[group] < bounds[group + 1]
        ]
        return self._collect(columns, lambda field: self._take_field(field, parts, back, compressed, workers))

    # --- Columns ---

    def _group(self, i: int) -> int:
        index = operator.index(i)
        if not 0 <= index < self.num_row_groups:
            raise IndexError(f"row group {index} of {self.num_row_groups}")
        return index

    def _collect(self, columns: Iterable[str] | None, read: Any) -> pa.Table:
        """A table of the top-level columns that `columns` names, each of which `read` returns."""
        if isinstance(columns, str):
            raise TypeError("columns must be a list of names, not one string")
        names = None if columns is None else list(columns)
        leaves = leaves_named(self._footer.leaves, names)
        fields = [field.name for field in self._schema]
        if names is not None:
            # In the order in which they are named.
            fields = list(
                dict.fromkeys(
                    leaf.path[0]
                    for name in names
                    for leaf in self._footer.leaves
                    if leaf.name == name or leaf.name.startswith(f"{name}.")
                )
            )
        tables = [read(_Field(self, name, leaves)) for name in fields]
        return pa.Table.from_arrays(
            [column for column, _ in tables], schema=pa.schema([field for _, field in tables], self._schema.metadata)
        )

    def _read_field(
        self, field: _Field, groups: list[int], compressed: bool, threads: int
    ) -> tuple[pa.ChunkedArray, pa.Field]:
        column, arrow_field = self._read_groups(field, groups, compressed, threads)
        rows = sum(self._row_counts[group] for group in groups)
        if len(column) != rows:
            raise CorruptDataError(f"column {field.name!r}, row groups {groups}: {len(column)} rows, not {rows}")
        return column, arrow_field

    def _read_groups(
        self, field: _Field, groups: list[int], compressed: bool, threads: int
    ) -> tuple[pa.ChunkedArray, pa.Field]:
        if not groups or not field.is_fsst(groups):
            return self._by_pyarrow(field, groups)
        if not field.is_flat:
            parts = [self._by_way_of_plain(field, group, threads) for group in groups]
            return pa.chunked_array([chunk for part, _ in parts for chunk in part.chunks], parts[0][0].type), parts[0][
                1
            ]
        arrays: list[Any] = []
        for group in groups:
            chunk = field.chunk(group)
            if chunk.is_fsst:
                array = read_chunk(self._file, chunk, field.value_type, self._verify)
                # Decompressed at once: the codes' memory then serves the next row group.
                arrays += [array] if compressed else _decompress_chunk(chunk, array, threads)
            else:
                arrays += self._by_pyarrow(field, [group])[0].chunks
        return field.column(arrays, compressed, threads)

    def _take_field(
        self, field: _Field, parts: list[tuple[int, np.ndarray]], back: np.ndarray, compressed: bool, threads: int
    ) -> tuple[pa.ChunkedArray, pa.Field]:
        arrays: list[Any] = []
        arrow_field = None
        for group, rows in parts:
            index = self._index(field, group)
            if index is not None:
                arrays.append(index.take(self._file, rows, field.value_type, self._verify))
            else:
                column, arrow_field = self._read_field(field, [group], compressed, threads)
                arrays += _take(column, rows).chunks
        if not arrays:
            column, arrow_field = self._read_field(field, [], compressed, threads)
        elif field.is_flat and field.is_fsst([group for group, _ in parts]):
            column, arrow_field = field.column(arrays, compressed, threads)
        else:
            column = pa.chunked_array(arrays)
        if (np.diff(back) == 1).all():
            return column, arrow_field
        return _take(column, back), arrow_field

    def _index(self, field: _Field, group: int) -> ChunkIndex | None:
        if not field.is_flat or not field.chunk(group).is_fsst:
            return None
        chunk = field.chunk(group)
        if id(chunk) not in self._indexes:
            rows = self._row_counts[group]
            self._indexes[id(chunk)] = ChunkIndex.read(self._file, chunk, rows, self._verify)
        return self._indexes[id(chunk)]

    def _by_pyarrow(self, field: _Field, groups: list[int]) -> tuple[pa.ChunkedArray, pa.Field]:
        with self._turn:
            return _read_one(self._arrow, groups, field)

    def _by_way_of_plain(self, field: _Field, group: int, threads: int) -> tuple[pa.ChunkedArray, pa.Field]:
        plain = plain_copy(self._file, self._footer, group, set(field.leaves), threads, self._verify)
        try:
            with pq.ParquetFile(plain, page_checksum_verification=self._verify) as file:
                column, arrow_field = _read_one(file, [0], field)
            column.validate(full=True)  # pyarrow takes any bytes for text
        except CorruptDataError:
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            # What is damaged in the footer is in the copy's as well.
            raise CorruptDataError(f"column {field.name!r}, row group {group}: {error}") from None
        return column, arrow_field


def _read_one(file: pq.ParquetFile, groups: list[int], field: _Field) -> tuple[pa.ChunkedArray, pa.Field]:
    try:
        table = file.read_row_groups(groups, columns=[leaf.name for leaf in field.leaves])
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CorruptDataError(f"column {field.name!r}, row groups {groups}: pyarrow cannot read it: {error}") from None
    return table.column(0), table.schema.field(0)


class _Field:
    """A top-level column, and those of its leaves that are wanted."""

    def __init__(self, file: ParquetFile, name: str, leaves: set[Leaf]) -> None:
        self.name = name
        self._groups = file._footer.row_groups
        self._positions = [i for i, leaf in enumerate(file._footer.leaves) if leaf.path[0] == name and leaf in leaves]
        self.leaves = [file._footer.leaves[i] for i in self._positions]
        self.arrow = file._schema.field(name)
        kind = self.arrow.type
        self.value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
        leaf = self.leaves[0]
        # Whether the rows are the values: then they are read here, others by way of PLAIN.
        self.is_flat = (
            len(self.leaves) == 1
            and len(leaf.path) == 1
            and leaf.max_repetition == 0
            and leaf.type == BYTE_ARRAY
            and is_value_type(self.value_type)
            and not pa.types.is_fixed_size_binary(self.value_type)
        )

    def chunk(self, group: int) -> Chunk:
        """The chunk of a column that is flat."""
        return self._groups[group].chunks[self._positions[0]]

    def is_fsst(self, groups: list[int]) -> bool:
        """Whether a wanted leaf is FSST in one of the row groups."""
        return any(self._groups[group].chunks[i].is_fsst for group in groups for i in self._positions)

    def column(self, arrays: list[Any], compressed: bool, threads: int) -> tuple[pa.ChunkedArray, pa.Field]:
        """Arrays, some of which are compressed, as one column."""
        if compressed:
            alike = _one_type(arrays, self.value_type, threads)
            return pa.chunked_array(alike), self.arrow.with_type(alike[0].type)
        plain: list[Any] = []
        for array in arrays:
            plain += _decompress(array, threads) if isinstance(array, FsstArray) else [array]
        plain = [array.cast(self.arrow.type) if array.type != self.arrow.type else array for array in plain]
        return pa.chunked_array(plain, self.arrow.type), self.arrow


def _take(column: pa.ChunkedArray, rows: np.ndarray) -> pa.ChunkedArray:
    if not has_leaf(column.type, lambda leaf: leaf in (pa.string_view(), pa.binary_view())):
        return column.take(pa.array(rows))
    # pyarrow takes from no views; it joins them.
    pieces = [chunk for row in rows.tolist() for chunk in column.slice(row, 1).chunks]
    return pa.chunked_array([pa.concat_arrays(pieces)] if pieces else [], column.type)


def _decompress(array: FsstArray, threads: int) -> list[pa.Array]:
    """The values, in several arrays where they pass what the offsets of one can hold."""
    try:
        return [decompress_leaf(array, threads=threads)]
    except CorruptDataError:
        raise
    except FsstError:
        if len(array) < 2:
            raise
        half = len(array) // 2
        return _decompress(array.slice(0, half), threads) + _decompress(array.slice(half), threads)


def _decompress_chunk(chunk: Chunk, array: FsstArray, threads: int) -> list[pa.Array]:
    try:
        return _decompress(array, threads)
    except CorruptDataError as error:
        chunk.fail(str(error))


def _one_type(arrays: list[Any], value_type: pa.DataType, threads: int) -> list[FsstArray]:
    """The arrays with the symbol table of the first that has one. Those that have another are compressed again."""
    table = next(array.symbol_table for array in arrays if isinstance(array, FsstArray))
    alike: list[FsstArray] = []
    for array in arrays:
        if isinstance(array, FsstArray) and array.symbol_table == table:
            alike.append(array)
            continue
        plain = _decompress(array, threads) if isinstance(array, FsstArray) else [array]
        plain = [part.cast(value_type) if part.type != value_type else part for part in plain]
        alike += compress_leaf(plain, value_type, table, threads)
    if len({array.type for array in alike}) > 1:  # some are of 2 GiB and more
        wide = FsstType(table, value_type, pa.large_binary())
        alike = [FsstArray.from_storage(wide, array.storage.cast(pa.large_binary())) for array in alike]
    return alike

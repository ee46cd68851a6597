"""Arrow data in, compressed columns out, and back: `compress`, `decompress` and `train`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from fsst import _core
from fsst.array import (
    FsstArray,
    FsstType,
    compress_leaf,
    decompress_leaf,
    is_value_type,
    rows_of,
    with_offsets,
)
from fsst.errors import CorruptDataError
from fsst.leaves import has_leaf, map_leaves
from fsst.symbol_table import SymbolTable
from fsst.threads import thread_count

__all__ = ["compress", "decompress", "train"]

_ACCEPTED = (
    "string, large_string, string_view, binary, large_binary, binary_view, fixed_size_binary, dictionaries of these, "
    "and lists, structs and maps of them"
)


def train(data: Any, *, effort: str = "default") -> SymbolTable:
    """Make a symbol table for strings like those in `data`.

    Parameters
    ----------
    data : array-like
        One column, of anything that `compress` takes as a column. Nulls do not count.
    effort : {"default", "fast", "max"}
        How much work goes into a small result.

    Returns
    -------
    SymbolTable
        The same for the same rows, on any machine.

    Raises
    ------
    TypeError
        `data` is no column of strings.

    Examples
    --------
    >>> table = train(["https://example.org/a", "https://example.org/b"] * 50)
    >>> len(table.compress(b"https://example.org/b"))
    3
    """
    column = _import(data)
    if isinstance(column, (pa.Table, pa.RecordBatch)):
        raise TypeError("train takes one column, not a table: a table of symbols serves one column")
    arrays, data_type = _pieces(column)
    if not _is_leaf(data_type):
        raise TypeError(f"train takes strings or binaries, not {data_type}")
    return _train(_plain(arrays), effort)


def compress(
    data: Any,
    *,
    symbol_table: SymbolTable | Mapping[str, SymbolTable] | None = None,
    effort: str = "default",
    threads: int | None = None,
) -> Any:
    """Compress the strings in `data`.

    Parameters
    ----------
    data : array, table or sequence
        A `pyarrow.Array` or `ChunkedArray` of strings or binaries, or of lists, structs and maps that hold
        some; a `RecordBatch` or `Table`, whose other columns stay as they are; anything with
        ``__arrow_c_array__`` or ``__arrow_c_stream__`` (polars, pandas, duckdb); or a sequence of str,
        bytes and None. A compressed column is compressed anew.
    symbol_table : SymbolTable or mapping of str to SymbolTable, optional
        A table made before, for instance to serve many batches; for tables, one by column name. Columns
        without one are trained.
    effort : {"default", "fast", "max"}
        How much work goes into training.
    threads : int, optional
        At most this many; by default as many as there are cores. The result does not depend on it.

    Returns
    -------
    FsstArray, pyarrow.Array, ChunkedArray, RecordBatch or Table
        As `data`, with `FsstArray` columns where strings were. The chunks of a column share one table.

    Raises
    ------
    TypeError
        There are no strings in `data`, or str and bytes are mixed.
    ValueError
        `symbol_table` is not in the order of the "parquet" format (see `SymbolTable.reordered`).

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = compress(pa.array(["Berlin", None, "Bern"]))
    >>> column.value_type
    DataType(string)
    >>> column.to_pylist()
    ['Berlin', None, 'Bern']
    """
    _core.check_effort(effort)
    workers = thread_count(threads)
    column = _import(data)
    if isinstance(column, (pa.Table, pa.RecordBatch)):
        if isinstance(symbol_table, Mapping) and (unknown := set(symbol_table) - set(column.schema.names)):
            raise ValueError(f"symbol_table names columns that there are not: {', '.join(map(repr, sorted(unknown)))}")
        return _map_table(
            column,
            _is_leaf,
            lambda name: _compressor(_table_for(symbol_table, name), effort, workers),
            "string or binary",
        )
    if isinstance(symbol_table, Mapping):
        raise TypeError("symbol_table may be a mapping only where data is a table")
    arrays, data_type = _pieces(column)
    if not has_leaf(data_type, _is_leaf):
        raise TypeError(f"cannot compress {data_type}; accepted are {_ACCEPTED}")
    return _like(column, arrays, data_type, _is_leaf, _compressor(_table_for(symbol_table, None), effort, workers))


def decompress(data: Any, *, large: bool = False, threads: int | None = None) -> Any:
    """Decompress what `compress` returned.

    Parameters
    ----------
    data : FsstArray, pyarrow.Array, ChunkedArray, RecordBatch or Table
        Compressed columns anywhere in it are replaced, the rest stays as it is.
    large : bool
        Where a string or binary column has come to pass 2 GiB (taking rows repeatedly can do that), return
        large_string or large_binary instead of raising.
    threads : int, optional
        At most this many; by default as many as there are cores.

    Returns
    -------
    pyarrow.Array, ChunkedArray, RecordBatch or Table
        As `data`, with the types that were compressed.

    Raises
    ------
    CorruptDataError
        Codes are invalid, or decompress to what the value type cannot hold.
    FsstError
        A column does not fit its type's 32-bit offsets, and `large` is not set.
    TypeError
        Nothing in `data` is compressed.

    Examples
    --------
    >>> decompress(compress(["Berlin", None, "Bern"])).to_pylist()
    ['Berlin', None, 'Bern']
    """
    workers = thread_count(threads)

    def visit(arrays: list[pa.Array], data_type: pa.DataType) -> list[pa.Array]:
        plain = []
        for i, array in enumerate(arrays):
            with _naming(f"chunk {i}" if len(arrays) > 1 else ""):
                plain.append(decompress_leaf(array, large=large, threads=workers))
        if len({array.type for array in plain}) > 1:  # some have become large
            widest = next(array.type for array in plain if array.type != data_type.value_type)
            plain = [array.cast(widest) for array in plain]
        return plain

    if isinstance(data, (pa.Table, pa.RecordBatch)):
        return _map_table(data, _is_compressed, lambda name: visit, "compressed", _IMPORT_FIRST)
    if not isinstance(data, (pa.Array, pa.ChunkedArray)):
        raise TypeError(f"decompress takes compressed pyarrow arrays and tables, not {type(data).__name__}")
    if not has_leaf(data.type, _is_compressed):
        raise TypeError(f"nothing in {data.type} is compressed with FSST {_IMPORT_FIRST}")
    arrays, data_type = _pieces(data)
    return _like(data, arrays, data_type, _is_compressed, visit)


# Columns that were read before fsst was there, or through tools that drop extension types, are plain binary.
_IMPORT_FIRST = "(if it was: import fsst before reading, with a reader that keeps Arrow extension types)"


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Say in errors about corrupt data which part of a larger thing they are about."""
    try:
        yield
    except CorruptDataError as error:
        if not place:
            raise
        raise CorruptDataError(f"{place}: {error}") from None


# --- What is given -----------------------------------------------------------------------------


def _import(data: Any) -> Any:
    """`data` as a pyarrow array, chunked array, record batch or table."""
    if isinstance(data, (pa.Array, pa.ChunkedArray, pa.Table, pa.RecordBatch)):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"a single {type(data).__name__} is no column; pass a list, or use SymbolTable.compress")
    if isinstance(data, (Mapping, Set)):
        raise TypeError(f"a {type(data).__name__} has no rows in order; pass a list, or pa.table(...) of columns")
    if hasattr(data, "__arrow_c_array__"):
        return _typed(pa.array(data))
    objects = getattr(data, "dtype", None) == np.dtype(object)
    if hasattr(data, "__arrow_c_stream__") and not objects:
        # Frames stream a struct for each of their batches; a column of structs does so as well.
        return pa.table(data) if hasattr(data, "columns") else pa.chunked_array(data)
    if isinstance(data, (list, tuple)) or objects:
        kinds = {type(value) for value in data}
        if any(issubclass(kind, str) for kind in kinds) and any(
            issubclass(kind, (bytes, bytearray, memoryview)) for kind in kinds
        ):
            raise TypeError("str and bytes are mixed; a column holds one or the other")
    try:
        return _typed(pa.array(data, from_pandas=objects))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError) as error:
        raise TypeError(f"cannot make a column of {type(data).__name__}: {error}") from None


def _typed(array: Any) -> Any:
    """`array`; where it holds nothing but None it is of strings, since only they are compressed here."""
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array


def _pieces(column: pa.Array | pa.ChunkedArray) -> tuple[list[pa.Array], pa.DataType]:
    return (column.chunks if isinstance(column, pa.ChunkedArray) else [column]), column.type


def _is_compressed(data_type: pa.DataType) -> bool:
    return isinstance(data_type, FsstType)


def _is_leaf(data_type: pa.DataType) -> bool:
    if pa.types.is_dictionary(data_type):
        return is_value_type(data_type.value_type)
    return is_value_type(data_type) or _is_compressed(data_type)


def _plain(arrays: list[pa.Array]) -> list[pa.Array]:
    """Leaves as arrays of their value type: dictionaries and compressed columns as their plain values."""
    plain = []
    for array in arrays:
        if isinstance(array, FsstArray):
            array = decompress_leaf(array, large=True)
        elif pa.types.is_dictionary(array.type):
            # Through offsets, since pyarrow cannot take from views.
            array = pa.DictionaryArray.from_arrays(array.indices, with_offsets(array.dictionary)).dictionary_decode()
        plain.append(array)
    return plain


def _value_type(data_type: pa.DataType) -> pa.DataType:
    return data_type.value_type if pa.types.is_dictionary(data_type) or _is_compressed(data_type) else data_type


# --- What is done ------------------------------------------------------------------------------


def _table_for(symbol_table: Any, name: str | None) -> SymbolTable | None:
    table = symbol_table.get(name) if isinstance(symbol_table, Mapping) else symbol_table
    if table is None or isinstance(table, SymbolTable):
        return table
    raise TypeError(f"symbol_table must be a SymbolTable, not {type(table).__name__}")


def _train(arrays: list[pa.Array], effort: str) -> SymbolTable:
    return SymbolTable._wrap(_core.train([rows_of(with_offsets(array)) for array in arrays], effort))


def _compressor(symbol_table: SymbolTable | None, effort: str, threads: int) -> Any:
    def visit(arrays: list[pa.Array], data_type: pa.DataType) -> list[pa.Array]:
        plain = _plain(arrays)
        table = _train(plain, effort) if symbol_table is None else symbol_table
        return list(compress_leaf(plain, _value_type(data_type), table, threads))

    return visit


def _like(column: Any, arrays: list[pa.Array], data_type: pa.DataType, wanted: Any, visit: Any) -> Any:
    """`column` with its wanted leaves replaced, in as many chunks as it has."""
    if not isinstance(column, pa.ChunkedArray):
        return map_leaves(arrays, data_type, wanted, visit)[0]
    if arrays:
        return pa.chunked_array(map_leaves(arrays, data_type, wanted, visit))
    # No chunk to take the new type from: an empty one tells it.
    return pa.chunked_array([], type=map_leaves([pa.nulls(0, data_type)], data_type, wanted, visit)[0].type)


def _map_table(table: Any, wanted: Any, visitor_for: Any, what: str, hint: str = "") -> Any:
    columns, fields = [], []
    found = False
    for field, column in zip(table.schema, table.columns, strict=True):
        if has_leaf(field.type, wanted):
            found = True
            arrays, data_type = _pieces(column)
            with _naming(f"column {field.name!r}"):
                column = _like(column, arrays, data_type, wanted, visitor_for(field.name))
            field = field.with_type(column.type)
        columns.append(column)
        fields.append(field)
    if not found:
        types = ", ".join(f"{field.name}: {field.type}" for field in table.schema)
        raise TypeError(f"the table has no {what} column; its columns are {types} {hint}".rstrip())
    return type(table).from_arrays(columns, schema=pa.schema(fields, table.schema.metadata))

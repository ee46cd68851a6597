"""The compressed column as an Arrow extension array: its type, arrays and scalars.

A column's storage is a ``binary`` or ``large_binary`` array, one row's codes per value; everything
that Arrow does with such an array works on the compressed column. This file adds what is FSST's own.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import operator
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fsst import _core
from fsst.errors import CorruptDataError, FsstError
from fsst.stats import ColumnStats
from fsst.symbol_table import SymbolTable

__all__ = [
    "FsstArray",
    "FsstScalar",
    "FsstType",
    "compress_leaf",
    "decompress_leaf",
    "is_value_type",
    "rows_of",
    "validity_of",
    "with_offsets",
]

METADATA_VERSION = 1

# What pyarrow and we raise at arrays that a foreign file has filled with nonsense; a repr must live with it.
_BROKEN = (ValueError, IndexError, pa.ArrowException)

# Value types by the name that the metadata gives them; fixed_size_binary[n] besides.
VALUE_TYPES: dict[str, pa.DataType] = {
    str(value_type): value_type
    for value_type in (
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.large_binary(),
        pa.string_view(),
        pa.binary_view(),
    )
}
_FIXED_SIZE = re.compile(r"fixed_size_binary\[([0-9]{1,10})\]")

# What a value type becomes on its way to and from codes: offsets of 4 or 8 bytes.
_LARGE = (pa.large_string(), pa.large_binary())
_TEXT = (pa.string(), pa.large_string(), pa.string_view())
_WITH_OFFSETS = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def is_value_type(value_type: pa.DataType) -> bool:
    """Whether values of this type can be compressed as they are."""
    return value_type in VALUE_TYPES.values() or pa.types.is_fixed_size_binary(value_type)


class FsstType(pa.ExtensionType):  # type: ignore[misc]
    """Arrow type of FSST-compressed strings: extension name ``fsst``.

    Columns with equal tables and value types have equal types, and only those can be concatenated.

    Parameters
    ----------
    symbol_table : SymbolTable
        In the order of the "parquet" format: the metadata holds the table in that form.
    value_type : pyarrow.DataType
        What the column decompresses to: string, large_string, string_view, binary, large_binary,
        binary_view or fixed_size_binary.
    storage_type : pyarrow.DataType
        ``binary``, or ``large_binary`` for columns of 2 GiB of codes and more.

    Examples
    --------
    >>> import pyarrow as pa
    >>> FsstType(SymbolTable([b"a", b"the"]), pa.string())
    FsstType(string, 2 symbols)
    """

    def __init__(
        self,
        symbol_table: SymbolTable,
        value_type: pa.DataType | None = None,
        storage_type: pa.DataType | None = None,
    ) -> None:
        if hasattr(self, "_body"):
            raise TypeError("an FsstType does not change; make another one")
        value_type = pa.string() if value_type is None else value_type
        storage_type = pa.binary() if storage_type is None else storage_type
        if not isinstance(symbol_table, SymbolTable):
            raise TypeError(f"symbol_table must be a SymbolTable, not {type(symbol_table).__name__}")
        if not isinstance(value_type, pa.DataType) or not is_value_type(value_type):
            raise TypeError(f"value_type must be a string or binary type, not {value_type}")
        if storage_type not in (pa.binary(), pa.large_binary()):
            raise TypeError(f"storage_type must be binary or large_binary, not {storage_type}")
        self._symbol_table = symbol_table
        self._value_type = value_type
        # Raises where the table is in another order than the metadata can say.
        self._body = symbol_table.to_bytes("parquet")
        super().__init__(storage_type, "fsst")

    @property
    def symbol_table(self) -> SymbolTable:
        """The table that the codes refer to."""
        return self._symbol_table

    @property
    def value_type(self) -> pa.DataType:
        """The type that the column decompresses to."""
        return self._value_type

    def __arrow_ext_serialize__(self) -> bytes:
        metadata = {
            "version": METADATA_VERSION,
            "value_type": str(self._value_type),
            "symbol_table": base64.b64encode(self._body).decode("ascii"),
        }
        return json.dumps(metadata).encode("ascii")

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> FsstType:
        return _deserialize(storage_type, bytes(serialized))

    def to_pandas_dtype(self) -> Any:
        """What makes ``Table.to_pandas`` show strings instead of codes."""
        return _PandasDtype()

    def __arrow_ext_class__(self) -> type[FsstArray]:
        return FsstArray

    def __arrow_ext_scalar_class__(self) -> type[FsstScalar]:
        return FsstScalar

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._symbol_table, self._value_type, self.storage_type)

    def __eq__(self, other: object) -> bool:
        # pyarrow's own compares the storage types alone, and would join columns of different tables.
        if not isinstance(other, FsstType):
            return False
        return (
            self._symbol_table == other._symbol_table
            and self._value_type == other._value_type
            and self.storage_type == other.storage_type
        )

    def __ne__(self, other: object) -> bool:
        return not self == other  # pyarrow's own does not ask __eq__

    def __hash__(self) -> int:
        return hash((self._symbol_table, self._value_type, self.storage_type))

    def __repr__(self) -> str:
        large = ", large" if self.storage_type == pa.large_binary() else ""
        return f"FsstType({self._value_type}, {len(self._symbol_table)} symbols{large})"

    __str__ = __repr__


# pyarrow holds Python types by weak reference and deserializes them anew for every row that is read, which
# takes hundreds of times as long as reading the row; a symbol table takes a few kB.
@lru_cache(maxsize=128)
def _deserialize(storage_type: pa.DataType, serialized: bytes) -> FsstType:
    where = "metadata of extension type 'fsst'"
    try:
        metadata = json.loads(serialized.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(f"{where} is not ASCII JSON: {error}") from None
    if not isinstance(metadata, dict):
        raise CorruptDataError(f"{where} is a JSON {type(metadata).__name__}, not an object")
    version = metadata.get("version")
    if type(version) is not int or version != METADATA_VERSION:
        raise CorruptDataError(f"{where} has version {version!r}; this fsst reads version {METADATA_VERSION}")
    value_type = _parse_value_type(metadata.get("value_type"))
    if value_type is None:
        raise CorruptDataError(f"{where} has value_type {metadata.get('value_type')!r}, no string or binary type")
    body = metadata.get("symbol_table")
    try:
        if not isinstance(body, str):
            raise ValueError(f"it is {type(body).__name__}, not a string")
        table = SymbolTable.from_bytes(base64.b64decode(body, validate=True))
    except (ValueError, binascii.Error) as error:
        raise CorruptDataError(f"{where}: symbol_table: {error}") from None
    if storage_type not in (pa.binary(), pa.large_binary()):
        raise CorruptDataError(f"{where} stands on storage {storage_type}, not binary or large_binary")
    return FsstType(table, value_type, storage_type)


class _PandasDtype:
    """pandas asks a dtype for the array to show; this one answers with the decompressed strings."""

    def __from_arrow__(self, column: pa.Array | pa.ChunkedArray) -> Any:
        arrays = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        plain = [decompress_leaf(array, large=True) for array in arrays]
        if not plain:
            plain = [pa.array([], column.type.value_type)]
        return pa.chunked_array(plain).to_pandas().array


def _parse_value_type(name: object) -> pa.DataType | None:
    if not isinstance(name, str):
        return None
    fixed = _FIXED_SIZE.fullmatch(name)
    if fixed is None:
        return VALUE_TYPES.get(name)
    width = int(fixed[1])
    return pa.binary(width) if width < 2**31 else None


class FsstScalar(pa.ExtensionScalar):  # type: ignore[misc]
    """One row of an `FsstArray`."""

    def as_py(self, **kwargs: Any) -> str | bytes | None:
        """The row's string as str or bytes, None where it is null. Only this row is decompressed.

        Raises
        ------
        CorruptDataError
            The row's codes are invalid, or not UTF-8 where the value type says so.
        """
        codes = self.value
        if codes is None or not codes.is_valid:
            return None
        text: bytes = self.type.symbol_table.decompress(codes.as_buffer())
        value_type = self.type.value_type
        if value_type in _TEXT:
            try:
                return text.decode("utf-8")
            except UnicodeDecodeError as error:
                raise CorruptDataError(f"a row of type {value_type} is not UTF-8: {error}") from None
        if pa.types.is_fixed_size_binary(value_type) and len(text) != value_type.byte_width:
            raise CorruptDataError(f"a row of type {value_type} has {len(text)} bytes")
        return text

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle_scalar, (self.type, None if self.value is None else self.value.as_py())

    def __repr__(self) -> str:
        return f"<fsst.FsstScalar: {self.as_py()!r}>"

    __str__ = __repr__


def _unpickle_scalar(fsst_type: FsstType, codes: bytes | None) -> FsstScalar:
    scalar = FsstArray.from_storage(fsst_type, pa.array([codes], fsst_type.storage_type))[0]
    assert isinstance(scalar, FsstScalar)
    return scalar


class FsstArray(pa.ExtensionArray):  # type: ignore[misc]
    """A column of FSST-compressed strings.

    Made by `fsst.compress`, or from codes that exist already with
    ``FsstArray.from_storage(FsstType(...), storage)``. Slicing, taking, filtering, concatenating, IPC
    and the rest of `pyarrow.Array` work on the compressed rows.

    Examples
    --------
    >>> import fsst
    >>> column = fsst.compress(["a row", None, "another row"])
    >>> column[2].as_py(), column.null_count, column.slice(1).to_pylist()
    ('another row', 1, [None, 'another row'])
    """

    @property
    def symbol_table(self) -> SymbolTable:
        """The table that the codes refer to."""
        table: SymbolTable = self.type.symbol_table
        return table

    @property
    def value_type(self) -> pa.DataType:
        """The type that the column decompresses to."""
        return self.type.value_type

    @property
    def null_count(self) -> int:
        """How many rows are null."""
        buffers_of(self)
        return int(super().null_count)

    @property
    def nbytes(self) -> int:
        """Bytes of codes, offsets and validity that the rows take."""
        self.opened()
        # pyarrow looks for the first offset, which a column without rows need not have.
        return int(super().nbytes) if self.buffers()[1] else 0

    def __getitem__(self, key: Any) -> Any:
        """One row as an `FsstScalar`; the rows of a slice, a mask or a list of row numbers as an `FsstArray`.

        Masks and row numbers are lists, numpy or Arrow arrays. Negative numbers count from the end. Where a row
        number is null the row is null; where a mask is null the row is left out. Nothing but None says of
        itself neither; it is taken for row numbers, unless it is an Arrow array of booleans.

        Examples
        --------
        >>> import fsst
        >>> column = fsst.compress(["a", "b", "c"])
        >>> column[[-1, 0]].to_pylist(), column[[True, False, True]].to_pylist(), column[::-2].to_pylist()
        (['c', 'a'], ['a', 'c'], ['c', 'a'])
        """
        if isinstance(key, slice):
            # Steps make pyarrow take.
            if key.step not in (None, 1):
                self.opened()
            return super().__getitem__(key)
        if isinstance(key, (list, tuple, np.ndarray, pa.Array, pa.ChunkedArray)):
            return self._rows_at(key)
        row = operator.index(key)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of a column of {len(self)} rows")
        row %= len(self)
        self._check_row(row)
        return super().__getitem__(row)

    def _rows_at(self, key: Any) -> FsstArray:
        if isinstance(key, pa.ChunkedArray):
            key = key.combine_chunks()
        keys = key if isinstance(key, pa.Array) else pa.array(key)
        if pa.types.is_boolean(keys.type):
            if len(keys) != len(self):
                raise IndexError(f"a mask of {len(keys)} rows for a column of {len(self)} rows")
            return self.filter(keys)
        if not pa.types.is_integer(keys.type) and not pa.types.is_null(keys.type):
            raise TypeError(f"rows are picked by integers or booleans, not by {keys.type}")
        return self.take(_from_end(keys, len(self)))

    def __iter__(self) -> Iterator[FsstScalar]:
        return (self[row] for row in range(len(self)))

    def take(self, indices: Any) -> FsstArray:
        """The rows of these numbers, as `pyarrow.Array.take` does; still compressed.

        Raises
        ------
        CorruptDataError
            The offsets are not within the codes. They are checked once for each array.
        """
        self.opened()
        if not isinstance(indices, (pa.Array, pa.ChunkedArray)):
            indices = pa.array(indices)
        if pa.types.is_null(indices.type):
            indices = indices.cast(pa.int64())
        taken = super().take(indices)
        assert isinstance(taken, FsstArray)
        return taken

    def filter(self, mask: Any, *, null_selection_behavior: str = "drop") -> FsstArray:
        """The rows that a mask selects, as `pyarrow.Array.filter` does; still compressed.

        Raises
        ------
        CorruptDataError
            The offsets are not within the codes. They are checked once for each array.
        """
        self.opened()
        kept = super().filter(mask, null_selection_behavior=null_selection_behavior)
        assert isinstance(kept, FsstArray)
        return kept

    def drop_null(self) -> FsstArray:
        """The rows that are not null. Offsets are checked, see `take`."""
        self.opened()
        kept = super().drop_null()
        assert isinstance(kept, FsstArray)
        return kept

    def equals(self, other: pa.Array) -> bool:
        """Whether type, nulls and codes are equal. Offsets are checked, see `take`."""
        _open_both(self, other)
        return bool(super().equals(other))

    def diff(self, other: pa.Array) -> str:
        """What is different, in codes, as `pyarrow.Array.diff` tells it. Offsets are checked, see `take`."""
        _open_both(self, other)
        return str(super().diff(other))

    def decompress_rows(self, indices: Any) -> pa.Array:
        """The rows of these numbers, decompressed: ``decompress(column.take(indices))`` in one go.

        Only these rows are looked at, so a few rows of a long column cost no more than of a short one.

        Parameters
        ----------
        indices : list, numpy or Arrow array of integers
            Row numbers, negative ones from the end, as in ``column[[...]]``; null for a null.

        Returns
        -------
        pyarrow.Array
            Of the column's value type.

        Raises
        ------
        IndexError
            There is no such row.
        CorruptDataError
            Offsets or codes of a picked row are invalid.

        Examples
        --------
        >>> import fsst
        >>> fsst.compress(["a", "b", None, "d"]).decompress_rows([3, 0, 2]).to_pylist()
        ['d', 'a', None]
        """
        value_type = self.value_type
        rows, absent = _row_numbers(indices, len(self))
        validity, offsets, data = buffers_of(self)
        if len(self) == 0:
            return pa.nulls(len(rows), value_type)
        # Offsets cut out of a file may stand at any address.
        if value_type not in _WITH_OFFSETS or offsets is None or offsets.address % 8:
            taken = self.take(pa.array(rows, pa.int64(), mask=absent))
            return decompress_leaf(taken, large=True)
        if validity is not None and self.null_count:
            bits = np.frombuffer(validity, np.uint8)
            places = rows + self.offset
            present = (bits[places >> 3] >> (places & 7)) & 1 != 0
            absent = ~present if absent is None else absent | ~present
        if absent is not None:
            rows = np.where(absent, -1, rows)
        source = (data, offsets, self.type.storage_type == pa.large_binary(), self.offset, len(self))
        wide = value_type in _LARGE
        text, ends = _core.gather(self.symbol_table._native, *source, rows, wide, value_type in _TEXT)
        if text is None:
            raise FsstError(f"the rows decompress to {ends} bytes, more than type {value_type} holds; take fewer")
        mask = None if absent is None else pa.py_buffer(np.packbits(~absent, bitorder="little"))
        return pa.Array.from_buffers(value_type, len(rows), [mask, pa.py_buffer(ends), pa.py_buffer(text)])

    def reader(self) -> _core.Reader:
        """The rows as str, bytes or None, for loops that read one at a time: a read-only sequence.

        Many times as fast as ``column[i].as_py()``. It holds the column's buffers. Each row is checked when
        it is read.

        Examples
        --------
        >>> import fsst
        >>> rows = fsst.compress(["a", None, "c"]).reader()
        >>> rows[2], rows[-3], rows[:2], len(rows)
        ('c', 'a', ['a', None], 3)
        """
        validity, offsets, data = buffers_of(self)
        value_type = self.value_type
        fixed = value_type.byte_width if pa.types.is_fixed_size_binary(value_type) else -1
        source = (data, offsets, self.type.storage_type == pa.large_binary(), self.offset, len(self))
        return _core.Reader(self.symbol_table._native, *source, validity, value_type in _TEXT, fixed)

    def opened(self) -> _core.Column:
        """The rows as ``_core`` searches them, their offsets checked once. Null rows may hide bytes."""
        opened: _core.Column | None = self.__dict__.get("_opened")
        if opened is None:
            _, offsets, data = buffers_of(self)
            wide = self.type.storage_type == pa.large_binary()
            opened = self._opened = _core.open_rows(data, offsets, wide, self.offset, len(self))
        return opened

    def opened_visible(self) -> _core.Column:
        """The same, where null rows are empty."""
        opened = self.opened()
        return _core.open_rows(*rows_of(self.storage)) if self.null_count else opened

    def visible_storage(self) -> pa.Array:
        """The codes, for pyarrow to read: the offsets have been checked."""
        self.opened()
        return self.storage

    def code_offsets(self) -> Any:
        """The offsets of the rows in the codes, checked, as a numpy array; None where there are no rows."""
        self.opened()
        offsets = self.buffers()[1]
        if len(self) == 0 or offsets is None:
            return None
        kind = np.dtype(np.int64 if self.type.storage_type == pa.large_binary() else np.int32)
        # Not the whole buffer, which may end anywhere.
        return np.frombuffer(offsets, kind, len(self) + 1, self.offset * kind.itemsize)

    def _check_row(self, row: int) -> None:
        # pyarrow follows a row's offsets wherever they lead; those of a foreign file may lead anywhere.
        held: tuple[Any, Any, bool] | None = self.__dict__.get("_held")
        if held is None:
            _, offsets, data = buffers_of(self)
            held = self._held = data, offsets, self.type.storage_type == pa.large_binary()
        if not _core.row_is_inside(*held, row=self.offset + row):
            raise CorruptDataError(f"row {row} has offsets that are not within the codes; see .validate()")

    def stats(self) -> ColumnStats:
        """How often each symbol is used, and what it saves: why the column is as small as it is.

        Raises
        ------
        CorruptDataError
            A row's codes are invalid.

        Examples
        --------
        >>> import fsst
        >>> fsst.compress(["a row", "another row"] * 50).stats().escapes
        0
        """
        rows = rows_of(self.storage)
        uses = _core.code_uses(*rows)
        return ColumnStats(
            rows=len(self),
            text_bytes=_core.decompressed_size(self.symbol_table._native, *rows),
            code_bytes=sum(uses) + uses[255],
            table_bytes=len(self.symbol_table.to_bytes()),
            escapes=uses[255],
            symbols=self.symbol_table.symbols,
            uses=tuple(uses[: len(self.symbol_table)]),
        )

    def to_pylist(self, **kwargs: Any) -> list[str | bytes | None]:
        """All rows as Python objects."""
        return list(decompress_leaf(self, large=True).to_pylist())

    def to_numpy(self, zero_copy_only: bool = False, **kwargs: Any) -> Any:
        """All rows as a numpy array of Python objects."""
        if zero_copy_only:
            raise pa.ArrowInvalid("a compressed column has no numpy view; pass zero_copy_only=False")
        return decompress_leaf(self, large=True).to_numpy(zero_copy_only=False, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype)

    def to_pandas(self, **kwargs: Any) -> Any:
        """All rows as a pandas Series, as pyarrow makes one of the decompressed array."""
        return decompress_leaf(self, large=True).to_pandas(**kwargs)

    def cast(self, target_type: Any = None, safe: bool | None = None, **kwargs: Any) -> pa.Array:
        """The decompressed array, cast to `target_type`; as it is where that is the column's own type."""
        if target_type == self.type:
            return self
        return decompress_leaf(self, large=True).cast(target_type, safe=safe, **kwargs)

    def validate(self, *, full: bool = False) -> None:
        """Check the array as `pyarrow.Array.validate` does; with `full`, every row's codes as well.

        Raises
        ------
        pyarrow.ArrowInvalid
            The offsets or the validity do not fit the buffers.
        CorruptDataError
            A row's codes are invalid, or not UTF-8 where the value type says so.
        """
        super().validate(full=full)
        if full:
            decompress_leaf(self, large=True)

    def __reduce__(self) -> tuple[Any, ...]:
        # IPC writes the rows of a slice, where pyarrow would pickle its parent's whole buffers.
        self.opened()
        column = self
        if not self.buffers()[1]:  # pyarrow looks for the first offset, which a column without rows need not have
            column = FsstArray.from_storage(self.type, pa.array([], self.type.storage_type))
        sink = pa.BufferOutputStream()
        batch = pa.record_batch([column], ["column"])
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return _unpickle, (sink.getvalue(),)

    def _summary(self) -> str:
        try:
            codes = str(pc.sum(pc.binary_length(self.visible_storage())).as_py() or 0)
            nulls = str(self.null_count)
        except _BROKEN:
            codes = nulls = "?"
        return f"{len(self)} rows, {nulls} null, {codes} bytes of codes, {len(self.symbol_table)} symbols"

    def _preview(self) -> pa.Array | None:
        """A few rows from both ends, decompressed; None where the codes are corrupt."""
        try:
            self.opened()
            rows = self if len(self) <= 10 else pa.concat_arrays([self.slice(0, 5), self.slice(len(self) - 5)])
            return decompress_leaf(rows, large=True)
        except _BROKEN:
            return None

    def to_string(self, **kwargs: Any) -> str:
        """What `repr` shows below its first line."""
        preview = self._preview()
        if preview is None:
            return "[corrupt codes; see .validate(full=True)]"
        lines = preview.to_string(window=10, **{k: v for k, v in kwargs.items() if k != "window"}).split("\n")
        if len(self) > 10 and len(lines) == 12:
            lines.insert(6, f"  ... {len(self) - 10} more ...")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<fsst.FsstArray of {self.value_type}: {self._summary()}>\n{self.to_string()}"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        preview = self._preview()
        values = ["corrupt codes"] if preview is None else [repr(value) for value in preview.to_pylist()]
        numbers = [str(row if row < 5 or len(self) <= 10 else len(self) - 10 + row) for row in range(len(values))]
        cells = "".join(
            f"<tr><td>{number}</td><td style='text-align:left'><code>{html.escape(value[:120])}</code></td></tr>"
            for number, value in zip(numbers, values, strict=True)
        )
        return f"<p><b>FsstArray</b> of {self.value_type}: {self._summary()}</p><table>{cells}</table>"


def _open_both(*arrays: pa.Array) -> None:
    # pyarrow compares the bytes that offsets lead to, wherever that is.
    for array in arrays:
        if isinstance(array, FsstArray):
            array.opened()


def _from_end(rows: pa.Array, count: int) -> pa.Array:
    """Row numbers where negative ones count from the end, as numbers from 0 on."""
    rows = rows.cast(pa.int64())
    if len(rows) == rows.null_count:
        return rows
    ends = pc.min_max(rows)
    least, greatest = ends["min"].as_py(), ends["max"].as_py()
    if least < -count or greatest >= count:
        raise IndexError(f"row {least if least < -count else greatest} of a column of {count} rows")
    return pc.if_else(pc.less(rows, 0), pc.add(rows, count), rows) if least < 0 else rows


def _row_numbers(indices: Any, count: int) -> tuple[Any, Any]:
    """Row numbers as int64 from 0 on, checked, and which of them are null (None: none is)."""
    absent = None
    if isinstance(indices, np.ndarray):
        rows = indices
    else:
        array = indices.combine_chunks() if isinstance(indices, pa.ChunkedArray) else indices
        try:
            array = array if isinstance(array, pa.Array) else pa.array(array)
        except OverflowError:
            raise IndexError(f"a row number of more than 64 bits, of a column of {count} rows") from None
        if pa.types.is_null(array.type):
            array = array.cast(pa.int64())
        if array.null_count:
            absent = array.is_null().to_numpy(zero_copy_only=False)
            array = array.fill_null(0)
        rows = array.to_numpy(zero_copy_only=False)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise TypeError(f"row numbers must be integers in one dimension, not {rows.dtype} in {rows.ndim}")
    if rows.dtype == np.uint64 and rows.size and rows.max() > np.iinfo(np.int64).max:
        raise IndexError(f"row {rows.max()} of a column of {count} rows")
    rows = np.ascontiguousarray(rows, np.int64)
    if rows.size:
        if absent is not None and absent.all():
            return rows, absent
        least, greatest = rows.min(), rows.max()
        if absent is not None and count == 0:
            least, greatest = rows[~absent].min(), rows[~absent].max()
        if least < -count or greatest >= count:
            raise IndexError(f"row {least if least < -count else greatest} of a column of {count} rows")
        if least < 0:
            rows = np.where(rows < 0, rows + count, rows)
    return rows, absent


def _unpickle(data: pa.Buffer) -> FsstArray:
    with pa.ipc.open_stream(data) as reader:
        column = reader.read_next_batch().column(0)
    assert isinstance(column, FsstArray)
    return column


# --- Between plain arrays and codes ------------------------------------------------------------


def buffers_of(array: pa.Array) -> tuple[pa.Buffer | None, pa.Buffer | None, pa.Buffer | None]:
    """Validity, offsets and data of an array with offsets, the first two as long as its rows need.

    Arrow's readers of files and streams take a file's word for the number of rows, and pyarrow counts nulls and
    follows offsets without looking where the buffers end. So this comes before either.
    """
    validity, offsets, data = array.buffers()
    rows = array.offset + len(array)
    if validity is not None and rows > 8 * validity.size:
        raise CorruptDataError(f"{rows} rows need as many bits of validity, the buffer holds {8 * validity.size}")
    kind = array.type
    width = 8 if (kind.storage_type if isinstance(kind, FsstType) else kind) in _LARGE else 4
    held = 0 if offsets is None else offsets.size // width
    if len(array) and rows >= held:
        raise CorruptDataError(f"{rows} rows need {rows + 1} offsets, the buffer holds {held}")
    if validity is not None:
        _check_null_count(array, validity)
    return validity, offsets, data


def _check_null_count(array: pa.Array, validity: pa.Buffer) -> None:
    # A file says how many rows are null, and pyarrow takes its word: for what results are made of, too.
    if isinstance(array, FsstArray) and "_nulls_counted" in array.__dict__:
        return
    _core.check_null_count(validity, array.offset, len(array), _null_count(array))
    if isinstance(array, FsstArray):
        array._nulls_counted = True


_null_count = pa.Array.null_count.__get__  # not that of FsstArray, which comes here


def rows_of(array: pa.Array) -> tuple[Any, Any, bool, int, int]:
    """The arguments by which ``_core`` takes the rows of an array with offsets.

    Null rows come out empty: bytes that a null hides (Arrow allows it) are left behind.
    """
    wide = array.type in _LARGE
    validity, offsets, data = buffers_of(array)
    rows = (data, offsets, wide, array.offset, len(array))
    if array.null_count and _core.hides_bytes(*rows, validity):
        return rows_of(pc.fill_null(array, "" if array.type in _TEXT else b""))
    return rows


def validity_of(array: pa.Array) -> pa.Buffer | None:
    """The validity of `array` as a bitmap that starts at its first row."""
    if not array.null_count:
        return None
    if array.offset % 8 == 0:
        return array.buffers()[0].slice(array.offset // 8)
    return array.is_valid().buffers()[1]


def with_offsets(array: pa.Array) -> pa.Array:
    """`array`, of any value type, as one of the types with offsets and one data buffer."""
    value_type = array.type
    if value_type == pa.string_view():
        return array.cast(pa.large_string())
    if value_type == pa.binary_view():
        return array.cast(pa.large_binary())
    if pa.types.is_fixed_size_binary(value_type):
        large = value_type.byte_width * len(array) > _core.offset_limit
        return array.cast(pa.large_binary() if large else pa.binary())
    return array


# Making a type serializes the table, 25 us; batches of one stream share it.
@lru_cache(maxsize=128)
def _type_of(symbol_table: SymbolTable, value_type: pa.DataType, wide: bool) -> FsstType:
    return FsstType(symbol_table, value_type, pa.large_binary() if wide else pa.binary())


def compress_leaf(
    arrays: list[pa.Array], value_type: pa.DataType, symbol_table: SymbolTable, threads: int = 1
) -> list[FsstArray]:
    """Compress arrays of one value type with one table, into arrays of one type."""
    parts = []
    for array in arrays:
        array = with_offsets(array)
        rows = rows_of(array)
        if value_type in _TEXT:
            # Arrow does not enforce it, and decompressing would refuse what was let through here.
            invalid = _core.first_invalid_utf8(*rows, threads)
            if invalid >= 0:
                raise ValueError(f"row {invalid} of a {value_type} column is not UTF-8; cast the column to binary")
        parts.append((array, *_core.compress(symbol_table._native, *rows, threads)))
    # Offsets of 8 bytes were reserved where the worst case would need them; the codes rarely do.
    wide = any(len(codes) > _core.offset_limit for _, codes, _, _ in parts)
    fsst_type = _type_of(symbol_table, value_type, wide)
    compressed = []
    for array, codes, ends, ends_wide in parts:
        offsets: Any = ends
        if ends_wide != wide:
            offsets = np.asarray(memoryview(ends).cast("q" if ends_wide else "i"), np.int64 if wide else np.int32)
        buffers = [validity_of(array), pa.py_buffer(offsets), pa.py_buffer(codes)]
        storage = pa.Array.from_buffers(fsst_type.storage_type, len(array), buffers, array.null_count)
        compressed.append(FsstArray.from_storage(fsst_type, storage))
    return compressed


def decompress_leaf(array: FsstArray, *, large: bool = False, threads: int = 1) -> pa.Array:
    """The array of ``array.value_type`` that `array` was compressed from.

    With `large`, a string or binary column that passes 2 GiB becomes large_string or large_binary.
    """
    value_type = array.value_type
    storage = array.storage
    table = array.symbol_table._native
    if pa.types.is_fixed_size_binary(value_type):
        plain_type = pa.large_binary()
    elif value_type in (pa.string_view(), pa.binary_view()):
        plain_type = pa.string() if value_type == pa.string_view() else pa.binary()
    else:
        plain_type = value_type
    utf8 = value_type in _TEXT
    text, ends = _core.decompress(table, *rows_of(storage), plain_type in _LARGE, threads, utf8)
    if text is None:
        if plain_type is not value_type and len(array) > 1:
            # A view holds several data buffers, each of which its 4-byte offsets can reach into.
            half = len(array) // 2
            halves = (array.slice(0, half), array.slice(half))
            return pa.concat_arrays([decompress_leaf(part, threads=threads) for part in halves])
        if plain_type is not value_type:
            raise FsstError(f"the row decompresses to {ends} bytes, more than a {value_type} holds")
        if not large:
            raise FsstError(
                f"the column decompresses to {ends} bytes, more than the {_core.offset_limit} that type "
                f"{value_type} holds: fsst.decompress(column, large=True) makes it large_{plain_type}, or slices do"
            )
        plain_type = pa.large_string() if plain_type == pa.string() else pa.large_binary()
        text, ends = _core.decompress(table, *rows_of(storage), True, threads, utf8)
    data = pa.py_buffer(text)
    if pa.types.is_fixed_size_binary(value_type):
        # Before room is made for rows of a width that only the metadata knows.
        size = value_type.byte_width * (len(array) - storage.null_count)
        if data.size != size:
            raise CorruptDataError(f"rows of type {value_type} have {size} bytes, the codes decompress to {data.size}")
    buffers = [validity_of(storage), pa.py_buffer(ends), data]
    plain = pa.Array.from_buffers(plain_type, len(array), buffers, storage.null_count)
    try:
        return plain if plain_type == value_type else _as_value_type(plain, value_type)
    except pa.ArrowInvalid as error:
        raise CorruptDataError(f"the codes decompress to values that are not {value_type}: {error}") from None


def _as_value_type(plain: pa.Array, value_type: pa.DataType) -> pa.Array:
    if value_type in (pa.string(), pa.binary()):
        return plain  # has become large
    return plain.cast(value_type)


def _register() -> None:
    """Tell Arrow of the type, so that columns read from files and streams come back as FsstArray."""
    try:
        pa.register_extension_type(FsstType(SymbolTable()))
    except pa.ArrowKeyError:  # the module is imported anew, and Arrow knows the type already
        pa.unregister_extension_type("fsst")
        pa.register_extension_type(FsstType(SymbolTable()))


_register()

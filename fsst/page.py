"""Pages: what a Parquet encoder needs to store FSST columns, without anything else of Parquet.

A column chunk has one symbol table page, whose body is `SymbolTable.to_bytes`, and data pages, whose
*values section* is made and read here: the codes of the page's values that are not null. Nulls and
nesting are in the levels, which FSST leaves alone. The bytes are described in docs/format.md.

The encoding is a proposal (apache/parquet-format issue 531): few readers know it yet.

>>> import fsst
>>> column = fsst.compress(["https://example.org/a", None, "https://example.org/b"] * 50)
>>> page = encode_data_page(column)
>>> again = decode_data_page(page, column.symbol_table, 100, value_type=column.value_type)
>>> again.to_pylist()[:2]
['https://example.org/a', 'https://example.org/b']
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from fsst import _core
from fsst.array import FsstArray, FsstScalar, FsstType, decompress_leaf, rows_of
from fsst.errors import CorruptDataError
from fsst.symbol_table import SymbolTable

__all__ = ["DataPage", "decode_data_page", "encode_data_page"]


def encode_data_page(column: FsstArray) -> bytes:
    """The values section of a data page that holds the rows of `column` that are not null.

    End offsets are stored as plain integers or DELTA_BINARY_PACKED, whichever is smaller.

    Parameters
    ----------
    column : FsstArray
        Rows of one page, for instance a slice.

    Returns
    -------
    bytes
        Shape: 9 bytes of header, offsets, codes.

    Raises
    ------
    CorruptDataError
        The codes or offsets of `column` are not valid.
    ValueError
        The page would pass 2 GiB.

    Examples
    --------
    >>> import fsst
    >>> table = fsst.SymbolTable([b"ab"])
    >>> encode_data_page(fsst.compress(["ab", None, "abab"], symbol_table=table)).hex(" ")
    '00 02 00 00 00 08 00 00 00 01 00 00 00 03 00 00 00 00 00 00'
    """
    if not isinstance(column, FsstArray):
        raise TypeError(f"column must be an FsstArray, not {type(column).__name__}")
    storage = column.storage
    rows = rows_of(storage)
    # A page may not hold what its readers refuse; this also checks the offsets, before pyarrow follows them.
    _core.decompressed_size(column.symbol_table._native, *rows)
    if storage.null_count:
        rows = rows_of(storage.drop_null())
    return _core.page_encode(*rows, fsst=True)


def decode_data_page(
    buffer: Any,
    symbol_table: SymbolTable,
    num_values: int,
    *,
    value_type: pa.DataType | None = None,
    storage_type: pa.DataType | None = None,
    compressed: bool = True,
) -> FsstArray | pa.Array:
    """Read the values section of a data page, checking all of it.

    Parameters
    ----------
    buffer : bytes-like
        Exactly one values section.
    symbol_table : SymbolTable
        The column chunk's.
    num_values : int
        Values in the page that are not null, as its header says.
    value_type : pyarrow.DataType, optional
        What the values are, binary if not given. That text is UTF-8 is checked when it is decompressed.
    storage_type : pyarrow.DataType, optional
        ``binary``, or ``large_binary`` where pages are to be joined to a column of 2 GiB and more.
    compressed : bool
        False: return the decompressed values.

    Returns
    -------
    FsstArray or pyarrow.Array
        Of `num_values` rows without nulls. An FsstArray refers to the codes in `buffer`, which are not copied.

    Raises
    ------
    CorruptDataError
        The page breaks the format, or holds another number of values.

    Examples
    --------
    >>> page = bytes.fromhex("00 02000000 08000000 01000000 03000000 00 0000")
    >>> decode_data_page(page, SymbolTable([b"ab"]), 2, compressed=False).to_pylist()
    [b'ab', b'abab']
    """
    page = DataPage(buffer, symbol_table, num_values, value_type=value_type, storage_type=storage_type)
    return page.to_array(compressed=compressed)


class DataPage:
    """The values of a data page, to be read by their number.

    Header and offsets are checked at once, codes when they are read.

    Parameters
    ----------
    buffer, symbol_table, num_values, value_type, storage_type
        As for `decode_data_page`.

    Raises
    ------
    CorruptDataError
        Header or offsets break the format, or the page holds another number of values.

    Examples
    --------
    >>> import fsst
    >>> column = fsst.compress(["Berlin", "Bern", "Bonn"])
    >>> page = DataPage(encode_data_page(column), column.symbol_table, 3, value_type=pa.string())
    >>> len(page), page[1].as_py()
    (3, 'Bern')
    >>> page.take([2, 0], compressed=False).to_pylist()
    ['Bonn', 'Berlin']
    """

    __slots__ = ("_column",)

    _column: FsstArray  # its codes are not checked yet

    def __init__(
        self,
        buffer: Any,
        symbol_table: SymbolTable,
        num_values: int,
        *,
        value_type: pa.DataType | None = None,
        storage_type: pa.DataType | None = None,
    ) -> None:
        fsst_type = FsstType(symbol_table, pa.binary() if value_type is None else value_type, storage_type)
        ends, start = _core.page_offsets(buffer, num_values)
        offsets = pa.py_buffer(ends)
        if fsst_type.storage_type == pa.large_binary():
            narrow = pa.Array.from_buffers(pa.int32(), num_values + 1, [None, offsets])
            offsets = narrow.cast(pa.int64()).buffers()[1]
        codes = pa.py_buffer(buffer).slice(start)
        storage = pa.Array.from_buffers(fsst_type.storage_type, num_values, [None, offsets, codes], 0)
        self._column = FsstArray.from_storage(fsst_type, storage)

    @property
    def symbol_table(self) -> SymbolTable:
        """The table that the codes refer to."""
        return self._column.symbol_table

    @property
    def value_type(self) -> pa.DataType:
        """What the values are."""
        return self._column.value_type

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int) -> FsstScalar:
        scalar = self._column[row]
        if not isinstance(scalar, FsstScalar):
            raise TypeError("a page is read by row numbers; use take, or slice what to_array returns")
        return scalar

    def __repr__(self) -> str:
        return f"<fsst.page.DataPage of {self.value_type}: {len(self)} values, {len(self.symbol_table)} symbols>"

    def take(self, rows: Any, *, compressed: bool = True) -> FsstArray | pa.Array:
        """The values at these positions. The codes of others are not looked at.

        Parameters
        ----------
        rows : array-like of int
            From 0 to ``len(self) - 1``, in any order, repeated or null.
        compressed : bool
            False: return the decompressed values.

        Raises
        ------
        IndexError
            A position is negative or not in the page.
        CorruptDataError
            The codes of these values are invalid.
        """
        positions = rows if isinstance(rows, pa.Array) else pa.array(rows)
        if pa.types.is_null(positions.type):
            positions = positions.cast(pa.int64())
        if not pa.types.is_integer(positions.type):
            raise TypeError(f"rows must be integers, not {positions.type}")
        storage = self._column.storage.take(positions)
        return _checked(FsstArray.from_storage(self._column.type, storage), compressed)

    def to_array(self, *, compressed: bool = True) -> FsstArray | pa.Array:
        """All values; all codes are checked. See `decode_data_page`."""
        return _checked(self._column, compressed)


def _checked(column: FsstArray, compressed: bool) -> FsstArray | pa.Array:
    try:
        if not compressed:
            return decompress_leaf(column, large=True)
        _core.decompressed_size(column.symbol_table._native, *rows_of(column.storage))
    except CorruptDataError as error:
        raise CorruptDataError(f"data page: {error}") from None
    return column

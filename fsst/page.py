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

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fsst import _core
from fsst.array import (
    FsstArray,
    FsstScalar,
    FsstType,
    compress_leaf,
    decompress_leaf,
    is_value_type,
    rows_of,
    with_offsets,
)
from fsst.errors import CorruptDataError
from fsst.symbol_table import SymbolTable
from fsst.threads import thread_count

__all__ = ["DataPage", "EncodedColumn", "EncodedPage", "PageEncoder", "decode_data_page", "encode_data_page"]

Encoding = Literal["fsst", "delta_length_byte_array"]


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
    symbol_table: SymbolTable | None,
    num_values: int,
    *,
    value_type: pa.DataType | None = None,
    storage_type: pa.DataType | None = None,
    compressed: bool = True,
    encoding: Encoding = "fsst",
) -> FsstArray | pa.Array:
    """Read the values section of a data page, checking all of it.

    Parameters
    ----------
    buffer : bytes-like
        Exactly one values section.
    symbol_table : SymbolTable
        The column chunk's; not looked at where the page is not FSST, and may be None then.
    num_values : int
        Values in the page that are not null, as its header says.
    value_type : pyarrow.DataType, optional
        What the values are, binary if not given. That text is UTF-8 is checked when it is decompressed.
    storage_type : pyarrow.DataType, optional
        ``binary``, or ``large_binary`` where pages are to be joined to a column of 2 GiB and more.
    compressed : bool
        False: return the decompressed values.
    encoding : {"fsst", "delta_length_byte_array"}
        What `EncodedColumn.encoding` says. Pages of the latter hold no codes: their values come as they are,
        whatever `compressed` is.

    Returns
    -------
    FsstArray or pyarrow.Array
        Of `num_values` rows without nulls. An FsstArray refers to the codes in `buffer`, which are not copied.

    Raises
    ------
    CorruptDataError
        The page breaks the format, or holds another number of values.
    ValueError
        There is no such encoding, or `num_values` is negative.

    Examples
    --------
    >>> page = bytes.fromhex("00 02000000 08000000 01000000 03000000 00 0000")
    >>> decode_data_page(page, SymbolTable([b"ab"]), 2, compressed=False).to_pylist()
    [b'ab', b'abab']
    """
    page = DataPage(
        buffer, symbol_table, num_values, value_type=value_type, storage_type=storage_type, encoding=encoding
    )
    return page.to_array(compressed=compressed)


class DataPage:
    """The values of a data page, to be read by their number.

    Header and offsets are checked at once, codes when they are read.

    Parameters
    ----------
    buffer, symbol_table, num_values, value_type, storage_type, encoding
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

    _column: FsstArray | pa.Array  # its codes are not checked yet

    def __init__(
        self,
        buffer: Any,
        symbol_table: SymbolTable | None,
        num_values: int,
        *,
        value_type: pa.DataType | None = None,
        storage_type: pa.DataType | None = None,
        encoding: Encoding = "fsst",
    ) -> None:
        if encoding not in ("fsst", "delta_length_byte_array"):
            raise ValueError(f"encoding must be 'fsst' or 'delta_length_byte_array', not {encoding!r}")
        num_values = operator.index(num_values)
        if num_values >= 2**63:
            raise CorruptDataError(f"data page: {num_values} values are more than any page holds")
        value_type = pa.binary() if value_type is None else value_type
        if encoding != "fsst":
            self._column = _values_by_length(buffer, num_values, value_type)
            return
        if symbol_table is None:
            raise TypeError("a page of FSST needs a symbol_table")
        fsst_type = FsstType(symbol_table, value_type, storage_type)
        ends, start = _core.page_offsets(buffer, num_values)
        offsets = pa.py_buffer(ends)
        if fsst_type.storage_type == pa.large_binary():
            narrow = pa.Array.from_buffers(pa.int32(), num_values + 1, [None, offsets])
            offsets = narrow.cast(pa.int64()).buffers()[1]
        codes = pa.py_buffer(buffer).slice(start)
        storage = pa.Array.from_buffers(fsst_type.storage_type, num_values, [None, offsets, codes], 0)
        self._column = FsstArray.from_storage(fsst_type, storage)

    @property
    def symbol_table(self) -> SymbolTable | None:
        """The table that the codes refer to; None where the page is not FSST."""
        return self._column.symbol_table if isinstance(self._column, FsstArray) else None

    @property
    def value_type(self) -> pa.DataType:
        """What the values are."""
        return self._column.value_type if isinstance(self._column, FsstArray) else self._column.type

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, row: int) -> FsstScalar | pa.Scalar:
        scalar = self._column[row]
        if not isinstance(scalar, pa.Scalar):
            raise TypeError("a page is read by row numbers; use take, or slice what to_array returns")
        return scalar

    def __repr__(self) -> str:
        symbols = "no codes" if self.symbol_table is None else f"{len(self.symbol_table)} symbols"
        return f"<fsst.page.DataPage of {self.value_type}: {len(self)} values, {symbols}>"

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
        if not isinstance(self._column, FsstArray):
            return _take(self._column, positions)
        storage = self._column.storage.take(positions)
        return _checked(FsstArray.from_storage(self._column.type, storage), compressed)

    def to_array(self, *, compressed: bool = True) -> FsstArray | pa.Array:
        """All values; all codes are checked. See `decode_data_page`."""
        return _checked(self._column, compressed) if isinstance(self._column, FsstArray) else self._column


def _take(column: pa.Array, rows: pa.Array) -> pa.Array:
    """`column.take`, which pyarrow does not do of views."""
    if column.type in (pa.string_view(), pa.binary_view()):
        return with_offsets(column).take(rows).cast(column.type)
    return column.take(rows)


def _values_by_length(buffer: Any, num_values: int, value_type: pa.DataType) -> pa.Array:
    """The values of a page of DELTA_LENGTH_BYTE_ARRAY: the lengths of all, DELTA_BINARY_PACKED, then all bytes."""
    if not is_value_type(value_type):
        raise TypeError(f"value_type must be a string or binary type, not {value_type}")
    if num_values < 0:
        raise ValueError(f"num_values must not be negative, but is {num_values}")
    data = pa.py_buffer(buffer)
    if num_values == 0 and data.size == 0:
        return pa.array([], value_type)  # as in a page of FSST: no values need no lengths
    try:
        lengths, used = _core.delta_decode(data, False, num_values)
    except CorruptDataError as error:
        raise CorruptDataError(f"data page: {error}") from None
    sizes = np.asarray(memoryview(lengths).cast("i"))
    offsets = np.zeros(num_values + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if num_values and sizes.min() < 0:
        row = int(np.argmax(sizes < 0))
        raise CorruptDataError(f"data page: value {row} has length {sizes[row]}")
    if offsets[-1] != data.size - used:
        raise CorruptDataError(f"data page: its values take {offsets[-1]} bytes, {data.size - used} follow the lengths")
    text = value_type in (pa.string(), pa.large_string(), pa.string_view())
    wide = pa.large_string() if text else pa.large_binary()
    values = pa.Array.from_buffers(wide, num_values, [None, pa.py_buffer(offsets), data.slice(used)], 0)
    try:
        if text:
            values.validate(full=True)
        return values if value_type == wide else values.cast(value_type)
    except pa.ArrowInvalid as error:
        raise CorruptDataError(f"data page: its values are not {value_type}: {error}") from None


def _checked(column: FsstArray, compressed: bool) -> FsstArray | pa.Array:
    try:
        if not compressed:
            return decompress_leaf(column, large=True)
        _core.decompressed_size(column.symbol_table._native, *rows_of(column.storage))
    except CorruptDataError as error:
        raise CorruptDataError(f"data page: {error}") from None
    return column


# --- Whole columns -----------------------------------------------------------------------------


@dataclass(frozen=True)
class EncodedPage:
    """One data page of an `EncodedColumn`.

    Attributes
    ----------
    data : bytes
        The values section.
    first_row : int
        The page's first row in the column.
    rows : int
        Rows of the page, null or not.
    values : int
        Rows that are not null.
    """

    data: bytes
    first_row: int
    rows: int
    values: int


class PageEncoder:
    """Encodes a column chunk that comes in batches as pages near a size.

    Whether FSST pays is decided for the whole column, so pages come out after the last batch. Until then
    the encoder holds the batches that it was given, by reference.

    Parameters
    ----------
    symbol_table : SymbolTable, optional
        Trained from all batches if not given; taken over from compressed batches, if all have the same.
    page_bytes : int
        Size that the values section of a page does not pass, unless it holds a single value.
    page_rows : int
        Rows, null or not, that a page does not pass.
    fallback : bool
        False: use FSST whether it pays or not.
    effort : {"default", "fast", "max"}
        How much work goes into training.
    threads : int, optional
        At most this many; by default as many as there are cores. The result does not depend on it.

    Examples
    --------
    >>> encoder = PageEncoder(page_bytes=4096)
    >>> for start in (0, 5000):
    ...     encoder.add(pa.array([f"https://example.org/{i}" for i in range(start, start + 5000)]))
    >>> column = encoder.finish()
    >>> column.encoding, column.rows, len(column) > 10, column.fsst_bytes < column.plain_bytes / 3
    ('fsst', 10000, True, True)
    >>> page = next(iter(column))
    >>> len(page.data) <= 4096, len(page.data) == column.page_sizes[0]
    (True, True)
    >>> decode_data_page(page.data, column.symbol_table, page.values)[0].as_py()
    b'https://example.org/0'
    """

    def __init__(
        self,
        *,
        symbol_table: SymbolTable | None = None,
        page_bytes: int = 1 << 20,
        page_rows: int = 1 << 20,
        fallback: bool = True,
        effort: str = "default",
        threads: int | None = None,
    ) -> None:
        if symbol_table is not None and not isinstance(symbol_table, SymbolTable):
            raise TypeError(f"symbol_table must be a SymbolTable, not {type(symbol_table).__name__}")
        for name, value in (("page_bytes", page_bytes), ("page_rows", page_rows)):
            if not 1 <= value < 2**31:
                raise ValueError(f"{name} must lie between 1 and 2**31 - 1, not {value}")
        _core.check_effort(effort)
        self._symbol_table = symbol_table
        self._limits = page_bytes, page_rows
        self._fallback = fallback
        self._effort = effort
        self._threads = thread_count(threads)
        self._batches: list[pa.Array] = []
        self._value_type: pa.DataType | None = None

    def add(self, batch: Any) -> None:
        """Append rows: strings or binaries, dictionaries of them, or a compressed column.

        Parameters
        ----------
        batch : pyarrow.Array or ChunkedArray, or what `pyarrow.array` makes an array of
            All batches must hold the same type of value. Codes that were made with the encoder's table
            go into the pages as they are.

        Raises
        ------
        TypeError
            The values are no strings or binaries, or others than those of the batches before.
        """
        if not isinstance(batch, (pa.Array, pa.ChunkedArray)):
            batch = pa.array(batch)
        if isinstance(batch.type, FsstType) or pa.types.is_dictionary(batch.type):
            value_type = batch.type.value_type
        else:
            value_type = batch.type
        if not is_value_type(value_type):
            raise TypeError(f"cannot encode {batch.type}: a page holds strings or binaries")
        if self._value_type is not None and value_type != self._value_type:
            raise TypeError(f"a batch of {value_type} follows batches of {self._value_type}")
        self._value_type = value_type
        self._batches += batch.chunks if isinstance(batch, pa.ChunkedArray) else [batch]

    def finish(self) -> EncodedColumn:
        """The column of all batches. The encoder is empty afterwards, and may be used for another column."""
        batches, value_type = self._batches, pa.binary() if self._value_type is None else self._value_type
        self._batches, self._value_type = [], None
        table = self._symbol_table
        if table is None:
            tables = {batch.symbol_table if isinstance(batch, FsstArray) else None for batch in batches}
            table = tables.pop() if len(tables) == 1 else None
        plain = [_plain(batch) for batch in batches]
        if table is None:
            table = SymbolTable._wrap(_core.train([rows_of(array) for array in plain], self._effort))
        compressed = [
            batch
            if isinstance(batch, FsstArray) and batch.symbol_table == table
            else compress_leaf([array], value_type, table, self._threads)[0]
            for batch, array in zip(batches, plain, strict=True)
        ]
        as_fsst = _Layout([column.storage for column in compressed], True, *self._limits)
        as_plain = _Layout(plain, False, *self._limits)
        table_bytes = len(table.to_bytes())
        pays = as_fsst.size + table_bytes < as_plain.size
        return EncodedColumn(
            "fsst" if pays or not self._fallback else "delta_length_byte_array",
            table,
            value_type,
            as_fsst if pays or not self._fallback else as_plain,
            as_fsst.size + table_bytes,
            as_plain.size,
        )


class EncodedColumn:
    """A column cut into pages, which are written as they are asked for: ``for page in column``.

    A column without rows has no pages; no page is without rows.

    Attributes
    ----------
    encoding : {"fsst", "delta_length_byte_array"}
        What the pages hold: codes, or (where FSST does not pay) the lengths of all values and their text.
    symbol_table : SymbolTable
    value_type : pyarrow.DataType
        What was encoded.
    fsst_bytes, plain_bytes : int
        Bytes of all values sections if encoded the one way (with the symbol table page's body) or the other.
    """

    def __init__(
        self,
        encoding: Encoding,
        symbol_table: SymbolTable,
        value_type: pa.DataType,
        layout: _Layout,
        fsst_bytes: int,
        plain_bytes: int,
    ) -> None:
        self.encoding: Encoding = encoding
        self.symbol_table = symbol_table
        self.value_type = value_type
        self.fsst_bytes = fsst_bytes
        self.plain_bytes = plain_bytes
        self._layout = layout

    @property
    def pays(self) -> bool:
        """Whether FSST makes the column smaller, symbol table included."""
        return self.fsst_bytes < self.plain_bytes

    @property
    def rows(self) -> int:
        """Rows of the column, null or not."""
        return sum(rows for rows, _, _ in self._layout.plan)

    @property
    def symbol_table_page(self) -> bytes | None:
        """The body of the symbol table page, which goes before the data pages; None where there is none."""
        return self.symbol_table.to_bytes() if self.encoding == "fsst" else None

    @property
    def page_sizes(self) -> list[int]:
        """Bytes of each page's values section, known before it is written."""
        return [size for _, _, size in self._layout.plan]

    def __len__(self) -> int:
        return len(self._layout.plan)

    def __iter__(self) -> Iterator[EncodedPage]:
        return self._layout.pages()

    def __repr__(self) -> str:
        return (
            f"<EncodedColumn of {self.value_type}: {self.rows} rows in {len(self)} pages, {self.encoding}; "
            f"{self.fsst_bytes} bytes with FSST, {self.plain_bytes} without>"
        )


def _plain(array: pa.Array) -> pa.Array:
    """A batch as an array with offsets of its value type."""
    if isinstance(array, FsstArray):
        array = decompress_leaf(array, large=True)
    elif pa.types.is_dictionary(array.type):
        # Through offsets, since pyarrow cannot take from views.
        array = pa.DictionaryArray.from_arrays(array.indices, with_offsets(array.dictionary)).dictionary_decode()
    return with_offsets(array)


class _Layout:
    """A column cut into pages of one kind: all sizes known, nothing written yet."""

    def __init__(self, pieces: list[pa.Array], fsst: bool, page_bytes: int, page_rows: int) -> None:
        self.pieces = [piece for piece in pieces if len(piece)]
        self.fsst = fsst
        rows = sum(len(piece) for piece in self.pieces)
        lengths = pa.chunked_array([pc.binary_length(piece).cast(pa.int64()) for piece in self.pieces], pa.int64())
        offsets = np.zeros(rows - lengths.null_count + 1, np.int64)
        np.cumsum(lengths.drop_null().to_numpy(), out=offsets[1:])
        positions: npt.NDArray[np.int64] | None = None
        if lengths.null_count:
            positions = np.flatnonzero(lengths.is_valid().to_numpy()).astype(np.int64, copy=False)
        limit = min(page_bytes, _core.offset_limit)
        self.plan = _core.page_plan(offsets, positions, rows, page_rows, fsst, limit)
        self.size = sum(size for _, _, size in self.plan)

    def pages(self) -> Iterator[EncodedPage]:
        piece, at, first = 0, 0, 0  # the next row is `at` in pieces[piece]
        for rows, values, size in self.plan:
            parts = []
            left = rows
            while left:
                part = self.pieces[piece].slice(at, left)
                parts.append(part)
                left -= len(part)
                at += len(part)
                if at == len(self.pieces[piece]):
                    piece, at = piece + 1, 0
            if len({part.type for part in parts}) > 1:  # some pieces have offsets of 8 bytes
                parts = [part.cast(pa.large_binary()) for part in parts]
            page = pa.concat_arrays([part.drop_null() if part.null_count else part for part in parts])
            data = _core.page_encode(*rows_of(page), fsst=self.fsst)
            assert len(data) == size and len(page) == values, (len(data), size, len(page), values)
            yield EncodedPage(data, first, rows, values)
            first += rows

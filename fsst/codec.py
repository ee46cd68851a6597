"""The codec on raw buffers: the module that page encoders and other column writers import.

Text and codes are anything with the buffer protocol; offsets are contiguous arrays of int32 or int64,
one more than there are rows, where row ``i`` is ``data[offsets[i]:offsets[i + 1]]``. The first offset
need not be 0. Results are numpy arrays; pass `out` and `out_offsets` to have them written into memory of
your own. No pyarrow objects are needed, and rows have no nulls here: a null is an empty row.

>>> import numpy as np
>>> from fsst import codec
>>> text, offsets = b"http://a.orghttp://b.org", np.array([0, 12, 24], np.int32)
>>> table = codec.train(text * 50, np.arange(0, 1201, 12, dtype=np.int32))
>>> codes, code_offsets = codec.compress(table, text, offsets)
>>> again, again_offsets = codec.decompress(table, codes, code_offsets)
>>> bytes(again) == text and list(again_offsets) == list(offsets)
True
"""

from __future__ import annotations

import operator
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from fsst import _core
from fsst.errors import FsstError
from fsst.symbol_table import SymbolTable
from fsst.threads import thread_count

__all__ = ["compress", "compress_bound", "decompress", "decompressed_size", "renumber", "train"]

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def compress_bound(size: int) -> int:
    """The most bytes of codes that `size` bytes of text can become: twice as many."""
    return _core.compress_bound(operator.index(size))


def train(data: Any, offsets: Any, *, effort: str = "default") -> SymbolTable:
    """Make a symbol table for the given rows; see `fsst.train`."""
    return SymbolTable._wrap(_core.train([_rows(data, offsets)], effort))


def compress(
    symbol_table: SymbolTable,
    data: Any,
    offsets: Any,
    *,
    out: Any = None,
    out_offsets: Any = None,
    threads: int = 1,
) -> tuple[Bytes, Offsets]:
    """Compress rows.

    Parameters
    ----------
    symbol_table : SymbolTable
    data : buffer
        The text, in bytes.
    offsets : array of int32 or int64
        Shape (rows + 1,).
    out : writable buffer, optional
        Takes the codes. Must hold ``compress_bound`` of the text's size, whatever is used of it.
    out_offsets : writable array of int32 or int64, optional
        Shape (rows + 1,); takes the offsets of the codes, which begin with 0.
    threads : int, optional
        At most this many; None means as many as there are cores.

    Returns
    -------
    codes : array of uint8
        Shape (bytes of codes,): a part of `out`, where that is given.
    code_offsets : array of int32 or int64
        Shape (rows + 1,): `out_offsets`, where that is given, otherwise int32 unless the codes could
        pass 2 GiB.

    Raises
    ------
    ValueError
        Offsets are negative, decrease or pass the data, or an output buffer is too small.
    """
    rows = _rows(data, offsets)
    codes, ends, wide = _core.compress(
        _native(symbol_table), *rows, thread_count(threads), out, *_output_offsets(out_offsets, rows[4])
    )
    return np.asarray(memoryview(codes)), _as_offsets(ends, wide, out_offsets)


def decompressed_size(symbol_table: SymbolTable, codes: Any, offsets: Any) -> int:
    """The exact size, in bytes, that `codes` decompress to. All codes are checked.

    Raises
    ------
    CorruptDataError
        See `decompress`.
    """
    return _core.decompressed_size(_native(symbol_table), *_rows(codes, offsets))


def decompress(
    symbol_table: SymbolTable,
    codes: Any,
    offsets: Any,
    *,
    out: Any = None,
    out_offsets: Any = None,
    threads: int = 1,
) -> tuple[Bytes, Offsets]:
    """Decompress rows.

    Parameters
    ----------
    symbol_table : SymbolTable
    codes : buffer
    offsets : array of int32 or int64
        Shape (rows + 1,).
    out : writable buffer, optional
        Takes the text. Must hold ``decompressed_size`` bytes; nothing is written beyond them.
    out_offsets : writable array of int32 or int64, optional
        Shape (rows + 1,); takes the offsets of the text, which begin with 0.
    threads : int, optional
        At most this many; None means as many as there are cores.

    Returns
    -------
    data : array of uint8
        Shape (bytes of text,): a part of `out`, where that is given.
    data_offsets : array of int32 or int64
        Shape (rows + 1,): `out_offsets`, where that is given, otherwise int32 unless the text passes
        2 GiB.

    Raises
    ------
    CorruptDataError
        Offsets are negative, decrease or pass the codes; a code has no symbol; a row ends in an escape.
    ValueError
        An output buffer is too small.
    """
    rows = _rows(codes, offsets)
    ends, wide = _output_offsets(out_offsets, rows[4])
    text, got = _core.decompress(_native(symbol_table), *rows, wide, thread_count(threads), out=out, out_offsets=ends)
    if text is None and out_offsets is None:
        wide = True
        text, got = _core.decompress(_native(symbol_table), *rows, wide, thread_count(threads), out=out)
    if text is None:
        raise FsstError(f"the text has {got} bytes, more than the int32 offsets of out_offsets hold; pass int64")
    return np.asarray(memoryview(text)), _as_offsets(got, wide, out_offsets)


def renumber(symbol_table: SymbolTable, codes: Any, offsets: Any, to: SymbolTable, *, out: Any = None) -> Bytes:
    """Codes of one table as codes of another that numbers its symbols otherwise: nothing is compressed anew.

    Parameters
    ----------
    symbol_table : SymbolTable
        What the codes refer to.
    codes : buffer
    offsets : array of int32 or int64
        Shape (rows + 1,).
    to : SymbolTable
        Has all symbols of `symbol_table`, as what `SymbolTable.reordered` returns does.
    out : writable buffer, optional
        Takes the codes. Must hold ``offsets[-1] - offsets[0]`` bytes.

    Returns
    -------
    codes : array of uint8
        Shape (offsets[-1] - offsets[0],). Rows are as long as they were, so `offsets` serve again, less the first.

    Raises
    ------
    CorruptDataError
        See `decompress`.
    ValueError
        `to` lacks a symbol, or `out` is too small.

    Examples
    --------
    >>> table = SymbolTable([b"a", b"the"])
    >>> codes, offsets = compress(table, b"the a", np.array([0, 5], np.int32))
    >>> bytes(codes), bytes(renumber(table, codes, offsets, table.reordered("cwida")))
    (b'\\x01\\xff \\x00', b'\\x00\\xff \\x01')
    """
    native, _ = _native(symbol_table), _native(to)
    codes_of: dict[bytes, int] = {}
    for code, symbol in enumerate(to.symbols):
        codes_of.setdefault(symbol, code)
    missing = [symbol for symbol in symbol_table.symbols if symbol not in codes_of]
    if missing:
        raise ValueError(f"the table to renumber to lacks {len(missing)} symbols of the other, {missing[0]!r} first")
    places = bytes(codes_of[symbol] for symbol in symbol_table.symbols)
    return np.asarray(memoryview(_core.renumber(native, *_rows(codes, offsets), places, out=out)))


def _native(symbol_table: SymbolTable) -> _core.Table:
    if not isinstance(symbol_table, SymbolTable):
        raise TypeError(f"symbol_table must be a SymbolTable, not {type(symbol_table).__name__}")
    return symbol_table._native


def _rows(data: Any, offsets: Any) -> tuple[Any, Any, bool, int, int]:
    if data is None:
        raise TypeError("text and codes come in a bytes-like object, not None")
    wide, count = _offset_array(offsets, "offsets")
    if count == 0:
        raise ValueError("offsets is empty; rows + 1 offsets are needed, one for no rows")
    return data, offsets, wide, 0, count - 1


def _offset_array(offsets: Any, name: str) -> tuple[bool, int]:
    """Whether the entries are 8 bytes wide, and how many there are."""
    try:
        view = memoryview(offsets)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a contiguous one-dimensional array of int32 or int64, not {type(offsets).__name__}"
        ) from None
    # The prefixes mean native byte order; numpy has "=" where an array is not aligned.
    native = "@=<" if sys.byteorder == "little" else "@=>"
    integers = view.format is not None and view.format.lstrip(native) in ("i", "l", "q")
    if not integers or view.ndim != 1 or not view.c_contiguous:
        raise TypeError(
            f"{name} must be a contiguous one-dimensional array of int32 or int64, "
            f"not of format {view.format!r} in {view.ndim} dimensions with strides {view.strides}"
        )
    return view.itemsize == 8, view.nbytes // view.itemsize


def _output_offsets(out_offsets: Any, rows: int) -> tuple[Any, bool]:
    if out_offsets is None:
        return None, False
    wide, count = _offset_array(out_offsets, "out_offsets")
    if count != rows + 1:
        raise ValueError(f"out_offsets has {count} entries, {rows} rows need {rows + 1}")
    return out_offsets, wide


def _as_offsets(ends: Any, wide: bool, out_offsets: Any) -> Offsets:
    if out_offsets is not None and isinstance(out_offsets, np.ndarray):
        return out_offsets
    return np.asarray(memoryview(ends).cast("q" if wide else "i"))

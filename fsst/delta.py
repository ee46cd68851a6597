"""DELTA_BINARY_PACKED, Parquet's encoding of integers, on its own.

FSST pages use it for offsets, DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY pages for lengths.

>>> import numpy as np
>>> encoded = delta_encode(np.array([7, 5, 3, 1, 2], np.int32))
>>> encoded.hex(" ")
'80 01 04 05 0e 03 02 00 00 00 c0 00 00 00 00 00 00 00'
>>> delta_decode(encoded + b"what follows", 5)
(array([7, 5, 3, 1, 2], dtype=int32), 18)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fsst import _core

__all__ = ["delta_decode", "delta_encode"]

Integers = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def delta_encode(values: Any) -> bytes:
    """Encode integers in blocks of 128, each of 4 miniblocks.

    Parameters
    ----------
    values : array of int32 or int64
        One-dimensional. Deltas wrap in the width of the type, so any values can be encoded.

    Returns
    -------
    bytes

    Raises
    ------
    TypeError
        `values` is no one-dimensional array of int32 or int64.

    Examples
    --------
    >>> len(delta_encode(np.arange(100_000, dtype=np.int64)))
    3917
    """
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"values must be a one-dimensional array of int32 or int64, not {array.dtype} in {array.ndim} dimensions"
        )
    # Arrays that lie in a file need not be aligned.
    aligned = np.require(array, requirements=["C", "ALIGNED"])
    return _core.delta_encode(aligned, aligned.itemsize == 8)


def delta_decode(buffer: Any, count: int | None = None, dtype: Any = np.int32) -> tuple[Integers, int]:
    """Decode integers, and say where they end.

    Every legal header is taken: any multiple of 128 as block size, any number of miniblocks of which each
    holds a multiple of 32.

    Parameters
    ----------
    buffer : bytes-like
        Starts with the encoded integers; what follows them is not looked at.
    count : int, optional
        How many there must be, where that is known.
    dtype : numpy.int32 or numpy.int64
        The physical type that was encoded.

    Returns
    -------
    values : array of int32 or int64
    consumed : int
        Bytes of `buffer` that the integers took.

    Raises
    ------
    CorruptDataError
        The bytes break the format, or hold another number of values than `count`, or
        declare more than 65536 + 512 times the bytes of `buffer`, which no known writer does.

    Examples
    --------
    >>> delta_decode(delta_encode(np.array([-1, 2**40])), dtype=np.int64)
    (array([           -1, 1099511627776]), 15)
    """
    kind = np.dtype(dtype)
    if kind not in (np.int32, np.int64):
        raise TypeError(f"dtype must be int32 or int64, not {kind}")
    if count is not None and count < 0:
        raise ValueError(f"count must not be negative, but is {count}")
    values, consumed = _core.delta_decode(buffer, kind.itemsize == 8, -1 if count is None else count)
    return np.frombuffer(memoryview(values), kind), consumed

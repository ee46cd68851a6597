"""A column as runs of rows that fit a cache when they are decompressed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from fsst.array import FsstArray, decompress_leaf

__all__ = ["RUN_CODES", "code_bytes", "plain_runs", "runs"]

# Code bytes that are decompressed together: with their text they fit an L2 cache.
RUN_CODES = 128 * 1024


def code_bytes(column: FsstArray) -> int:
    """The bytes that its rows' codes take."""
    ends = column.code_offsets()
    return 0 if ends is None else int(ends[-1]) - int(ends[0])


def runs(column: FsstArray, codes: int | None = None) -> Iterator[FsstArray]:
    """Slices of about `codes` bytes of codes (by default RUN_CODES); one without rows where there are none."""
    codes = RUN_CODES if codes is None else codes
    rows = len(column)
    ends = column.code_offsets()
    if rows <= codes and code_bytes(column) <= codes:
        yield column
        return
    row = 0
    while row < rows:
        # Rows without codes take memory too, so a run has a limit of rows as well.
        until = int(np.searchsorted(ends, int(ends[row]) + codes, "right")) - 1
        until = min(max(until, row + 1), row + codes, rows)
        yield column.slice(row, until - row)
        row = until


def plain_runs(column: FsstArray, codes: int | None = None) -> Iterator[pa.Array]:
    """The runs, decompressed."""
    for run in runs(column, codes):
        yield decompress_leaf(run, large=False)

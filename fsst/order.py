"""The order of a column's rows, found without ever decompressing all of them.

Rows are first ordered by their first eight bytes, which are taken run by run. That order is cut where these bytes
change, into stretches whose text fits a cache; pyarrow orders the text of each. Where more rows than that begin with
the same eight bytes, each text among them is looked at once if there are few; otherwise they are ordered by the next
eight bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fsst.array import FsstArray, decompress_leaf
from fsst.runs import RUN_CODES, plain_runs

__all__ = ["order_of_rows"]

_KEY_BYTES = 8
# Rows that agree in so many bytes are few or odd: pyarrow orders them, however many there are.
_MOST_ALIKE = 32 * _KEY_BYTES
_LARGE = (pa.large_string(), pa.large_binary())


def order_of_rows(
    chunks: list[FsstArray], descending: bool, nulls_first: bool, order_of: Callable[[pa.Array], Any]
) -> Any:
    """Row numbers (uint64, counted over all chunks) in the order of the values; equal ones stay as they are.

    `order_of` says the same of a plain array without nulls.
    """
    sorter = _Sorter(chunks, descending, order_of)
    nulls = np.flatnonzero(_nulls(chunks))
    order = np.empty(sorter.length, np.uint64)
    start = len(nulls) if nulls_first else 0
    order[:start] = nulls[:start]
    # Handed on and not kept: `ordered` lets go of it before it makes the next array of this size.
    for piece in sorter.ordered(_others(nulls, sorter.length), 0):
        order[start : start + len(piece)] = piece
        start += len(piece)
    order[start:] = nulls[: sorter.length - start]
    return order


def _others(nulls: Any, length: int) -> Any:
    """The row numbers that are not among `nulls`."""
    if len(nulls) == 0:
        return np.arange(length)
    present = np.ones(length, bool)
    present[nulls] = False
    return np.flatnonzero(present)


def _nulls(chunks: list[FsstArray]) -> Any:
    found = [
        chunk.storage.is_null().to_numpy(zero_copy_only=False) if chunk.null_count else np.zeros(len(chunk), bool)
        for chunk in chunks
    ]
    return np.concatenate(found)


def _keys(plain: pa.Array, skip: int) -> tuple[Any, Any]:
    """Of each row the eight bytes from `skip` on as a number, zeros behind its end, and how many it has of them."""
    if pa.types.is_fixed_size_binary(plain.type):
        plain = plain.cast(pa.binary())
    _, offsets_buffer, data = plain.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64 if plain.type in _LARGE else np.int32)
    offsets = offsets[plain.offset : plain.offset + len(plain) + 1].astype(np.int64)
    text = np.zeros(int(offsets[-1]) + _KEY_BYTES, np.uint8)
    if offsets[-1] > 0:
        text[:-_KEY_BYTES] = np.frombuffer(data, np.uint8, int(offsets[-1]))
    # A word at every byte.
    words = np.ndarray((len(text) - _KEY_BYTES + 1,), ">u8", text, strides=(1,))
    starts = np.minimum(offsets[:-1] + skip, offsets[1:])
    there = np.minimum(offsets[1:] - starts, _KEY_BYTES)
    masks = np.array([2**64 - 2 ** (64 - 8 * size) for size in range(_KEY_BYTES + 1)], np.uint64)
    return words[starts].astype(np.uint64) & masks[there], there.astype(np.uint8)


class _Sorter:
    def __init__(self, chunks: list[FsstArray], descending: bool, order_of: Callable[[pa.Array], Any]) -> None:
        self.chunks = chunks
        self.descending = descending
        self.order_of = order_of
        self.firsts = np.cumsum([0, *map(len, chunks)])
        self.length = int(self.firsts[-1])
        sizes = []
        for chunk in chunks:
            offsets = chunk.code_offsets()
            if offsets is not None:
                # A row takes memory even if it has no codes; one of 2 GiB is a run of its own in any case.
                sizes.append(np.minimum(np.diff(offsets), 2**31 - 2).astype(np.int32) + 1)
        self.sizes = np.concatenate(sizes)

    def picked(self, rows: Any, pick: Callable[[FsstArray, Any], pa.Array]) -> pa.Array:
        """pick(chunk, row numbers) of the chunks that these rows lie in, as one array in the rows' order."""
        if len(self.chunks) == 1:
            return pick(self.chunks[0], rows)
        places = np.searchsorted(self.firsts, rows, "right") - 1
        by_chunk = np.argsort(places, kind="stable")
        found = []
        for place in np.unique(places):
            of_chunk = rows[by_chunk][places[by_chunk] == place]
            found.append(pick(self.chunks[place], of_chunk - self.firsts[place]))
        back = np.empty(len(rows), np.int64)
        back[by_chunk] = np.arange(len(rows))
        return pa.concat_arrays(found).take(pa.array(back))

    def plain(self, rows: Any) -> pa.Array:
        """Rows as text, in this order."""
        return self.picked(rows, lambda chunk, numbers: chunk.decompress_rows(numbers))

    def keys(self, rows: Any, skip: int) -> tuple[Any, Any]:
        """`_keys` of these rows, run by run."""
        keys, there = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint8)
        start = 0
        for plain in self.plain_runs(rows):
            until = start + len(plain)
            keys[start:until], there[start:until] = _keys(plain, skip)
            start = until
        return keys, there

    def plain_runs(self, rows: Any) -> Iterator[pa.Array]:
        """These rows (ascending) as text, in runs."""
        if len(rows) == self.length:
            for chunk in self.chunks:
                yield from plain_runs(chunk)
            return
        ends = self.ends(rows)
        start = 0
        while start < len(rows):
            done = int(ends[start - 1]) if start else 0
            until = max(start + 1, int(np.searchsorted(ends, done + RUN_CODES, "right")))
            yield self.plain(rows[start:until])
            start = until

    def ends(self, rows: Any) -> Any:
        """What these rows take, with all before them."""
        return np.cumsum(self.sizes[rows], dtype=np.int64)

    def ordered(self, rows: Any, skip: int) -> Iterator[Any]:
        """These rows (ascending), which share their first `skip` bytes, in pieces, in order."""
        if len(rows) == 0:
            return
        keys, there = self.keys(rows, skip)
        if self.descending:
            keys = ~keys
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        changes = np.append(np.flatnonzero(keys[1:] != keys[:-1]) + 1, len(rows))
        del keys  # arrays as long as the column are let go as soon as may be
        there = there[order]
        rows = order if len(rows) == self.length else rows[order]
        del order
        ends = self.ends(rows)
        start = 0
        while start < len(rows):
            done = int(ends[start - 1]) if start else 0
            most = int(np.searchsorted(ends, done + RUN_CODES, "right"))
            # The last change within a run, or the first one.
            change = int(np.searchsorted(changes, most, "right")) - 1
            if change >= 0 and changes[change] > start:
                until = int(changes[change])
                yield rows[start:until][self.order_of(self.plain(rows[start:until]))]
            else:
                until = int(changes[change + 1])
                yield from self._alike(rows[start:until], there[start:until], skip)
            start = until

    def _alike(self, rows: Any, there: Any, skip: int) -> Iterator[Any]:
        """Rows of one key, more than a run."""
        if len(rows) > 1:
            grouped = self.picked(rows, lambda chunk, numbers: chunk.take(pa.array(numbers)).storage)
            grouped = grouped.dictionary_encode()
            few = FsstArray.from_storage(self.chunks[0].type, grouped.dictionary)
            if few.storage.nbytes <= RUN_CODES:
                yield rows[self._by_rank(grouped.indices.to_numpy(), decompress_leaf(few, large=True))]
                return
        if len(rows) == 1 or skip >= _MOST_ALIKE:
            yield rows[self.order_of(self.plain(rows))]
            return
        # Those that end here are equal if they are of one length, and shorter ones come first.
        lengths = range(_KEY_BYTES + 1)
        for length in reversed(lengths) if self.descending else lengths:
            of_length = rows[there == length]
            if length == _KEY_BYTES:
                yield from self.ordered(of_length, skip + _KEY_BYTES)
            else:
                yield of_length

    def _by_rank(self, numbers: Any, texts: pa.Array) -> Any:
        """The order of rows that are given as numbers of texts, among which may be equal ones."""
        order = self.order_of(texts)
        ordered = texts.take(pa.array(order))
        changes = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
        ranks = np.empty(len(texts), np.int64)
        ranks[order] = np.concatenate([[0], np.cumsum(changes)])
        return np.argsort(ranks[numbers], kind="stable")

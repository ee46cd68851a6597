"""Speeds: pytest-benchmark suites to look at, and gates that are ratios within one process (thresholds.py).

make gate                                     what CI runs: the gates, quickly
pytest benchmarks/test_speed.py --benchmark-only             the suites, with statistics
FSST_TEXTS=../shared/corpora pytest benchmarks/test_speed.py --benchmark-only    on a folder of texts
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import texts
import thresholds
from interleaved import best_times, speed_ratio

import fsst
from fsst import _core, codec

MEGABYTES = 8


@cache
def columns() -> dict[str, pa.Array]:
    folder = os.environ.get("FSST_TEXTS")
    if folder:
        loaded = {source.name: source.load() for source in texts.sources_of(Path(folder))}
    else:
        plain = {"urls": texts.urls(), "uuids": texts.uuids(), "log lines": texts.log_lines(), "names": texts.names()}
        loaded = {name: pa.array(rows, pa.string()) for name, rows in plain.items()}
    return {name: texts.tiled(column, MEGABYTES * 1_000_000) for name, column in loaded.items()}


class Prepared:
    """A text with everything that kernels need, memory for their results included."""

    def __init__(self, name: str) -> None:
        self.column = columns()[name]
        if self.column.null_count:
            self.column = self.column.fill_null("")
        _, offsets, data = self.column.buffers()
        first, rows = self.column.offset, len(self.column)
        self.offsets = np.frombuffer(offsets, np.int32)[first : first + rows + 1]
        self.data = np.frombuffer(data, np.uint8)
        self.text_bytes = int(self.offsets[-1] - self.offsets[0])
        self.table = fsst.train(self.column)
        self.code_room = np.zeros(codec.compress_bound(self.text_bytes), np.uint8)
        self.text_room = np.zeros(self.text_bytes, np.uint8)
        self.offset_room = np.zeros(rows + 1, np.int32)
        self.compressed = fsst.compress(self.column, symbol_table=self.table)
        codes, self.code_offsets = codec.compress(self.table, self.data, self.offsets)
        self.codes = codes.copy()

    def compress(self) -> None:
        codec.compress(self.table, self.data, self.offsets, out=self.code_room, out_offsets=self.offset_room)

    def decompress(self) -> None:
        codec.decompress(self.table, self.codes, self.code_offsets, out=self.text_room, out_offsets=self.offset_room)


@cache
def prepared(name: str) -> Prepared:
    return Prepared(name)


@pytest.fixture(params=["urls", "uuids", "log lines", "names"] if "FSST_TEXTS" not in os.environ else list(columns()))
def text(request: pytest.FixtureRequest) -> Prepared:
    return prepared(request.param)


@pytest.fixture
def plain() -> Iterator[Callable[[Callable[[], None]], Callable[[], None]]]:
    """Makes of a call one that runs on the slow twins."""

    def with_twin(work: Callable[[], None]) -> Callable[[], None]:
        def run() -> None:
            before = _core.set_isa("plain")
            try:
                work()
            finally:
                _core.set_isa(before)

        return run

    yield with_twin


# --- Suites --------------------------------------------------------------------------------------


def test_bench_train(text: Prepared, benchmark: Callable[..., object]) -> None:
    benchmark(fsst.train, text.column)


def test_bench_compress(text: Prepared, benchmark: Callable[..., object]) -> None:
    benchmark(text.compress)


def test_bench_decompress(text: Prepared, benchmark: Callable[..., object]) -> None:
    benchmark(text.decompress)


def test_bench_one_row(text: Prepared, benchmark: Callable[..., object]) -> None:
    column, row = text.compressed, len(text.compressed) // 2
    benchmark(lambda: column[row].as_py())


def test_bench_take(text: Prepared, benchmark: Callable[..., object]) -> None:
    rows = pa.array(np.random.default_rng(0).integers(0, len(text.compressed), 1000))
    benchmark(lambda: fsst.decompress(text.compressed.take(rows), threads=1))


# --- Gates ---------------------------------------------------------------------------------------


def test_compress_beats_its_slow_twin(text: Prepared, plain: Callable[..., Callable[[], None]]) -> None:
    assert speed_ratio(text.compress, plain(text.compress)) > thresholds.COMPRESS_OVER_PLAIN


def test_decompress_beats_its_slow_twin(text: Prepared, plain: Callable[..., Callable[[], None]]) -> None:
    assert speed_ratio(text.decompress, plain(text.decompress)) > thresholds.DECOMPRESS_OVER_PLAIN


@pytest.mark.kind(107)
def test_decompress_against_a_copy(text: Prepared) -> None:
    half = len(text.column) // 2
    halves = [text.column.slice(0, half), text.column.slice(half)]
    ratio = speed_ratio(lambda: fsst.decompress(text.compressed, threads=1), lambda: pa.concat_arrays(halves))
    assert ratio > thresholds.DECOMPRESS_OVER_COPY


def test_compress_against_zstd(text: Prepared) -> None:
    zstd = pa.Codec("zstd", compression_level=1)
    raw = pa.py_buffer(text.data)
    assert speed_ratio(text.compress, lambda: zstd.compress(raw)) > thresholds.COMPRESS_OVER_ZSTD


@pytest.mark.kind(108)
def test_decompress_against_its_kernel(text: Prepared) -> None:
    _, offsets, codes = text.compressed.storage.buffers()
    rows = (False, 0, len(text.compressed), False, 1, True)  # the last: check UTF-8, as for any string column
    ratio = speed_ratio(
        lambda: fsst.decompress(text.compressed, threads=1),
        lambda: _core.decompress(text.table._native, codes, offsets, *rows),
    )
    assert ratio > thresholds.DECOMPRESS_OVER_KERNEL


@pytest.mark.kind(101, 102, 108)
def test_small_columns_cost_little_outside_kernels() -> None:
    column = pa.array([f"row {i}" for i in range(1000)])
    table = fsst.train(column)
    compressed = fsst.compress(column, symbol_table=table)
    _, offsets, data = column.buffers()
    _, code_offsets, codes = compressed.storage.buffers()
    native, rows = table._native, (False, 0, 1000)
    whole_in, whole_out, kernel_in, kernel_out = best_times(
        [
            lambda: fsst.compress(column, symbol_table=table, threads=1),
            lambda: fsst.decompress(compressed, threads=1),
            lambda: _core.compress(native, data, offsets, *rows, 1),
            lambda: _core.decompress(native, codes, code_offsets, *rows, False, 1, True),
        ],
        seconds=1,
        least=200,
    )
    assert (whole_in - kernel_in) * 1e6 < thresholds.SMALL_COLUMN_MICROSECONDS
    assert (whole_out - kernel_out) * 1e6 < thresholds.SMALL_COLUMN_MICROSECONDS

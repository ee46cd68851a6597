"""Parquet files: sizes are exact, speeds are ratios to pyarrow and zstd, measured in turns."""

import json

import parquet_files
import pyarrow as pa
import pytest
import texts
from thresholds import READ_PARQUET_OVER_ZSTD, TAKE_PARQUET_OVER_ZSTD, WRITE_PARQUET_OVER_ZSTD

EXPECTED = json.loads(parquet_files.EXPECTED.read_text())
COLUMNS = parquet_files.invented()


@pytest.mark.parametrize("name", COLUMNS)
def test_size(name: str) -> None:
    size = parquet_files.chunk_size(pa.table({"text": COLUMNS[name]}), parquet_files.WRITERS["fsst"])
    assert size == EXPECTED[name], "intended? then run: python benchmarks/parquet_files.py --update"


@pytest.mark.parametrize("name", ["urls", "uuids", "log lines", "names"])
def test_fsst_and_zstd_is_smaller_than_zstd_alone(name: str) -> None:
    table = pa.table({"text": COLUMNS[name]})
    both, alone = (parquet_files.file_size(table, parquet_files.WRITERS[w]) for w in ("fsst+zstd", "zstd"))
    assert both < alone


def test_speed() -> None:
    found = parquet_files.speeds(pa.array(texts.urls()), 2_000_000, 250)
    ratios = {work: theirs / ours for work, (ours, theirs) in found.items()}
    print(f"\nbeside pyarrow and zstd: {', '.join(f'{work} {ratio:.2f}' for work, ratio in ratios.items())}")
    assert ratios["write"] > WRITE_PARQUET_OVER_ZSTD
    assert ratios["read"] > READ_PARQUET_OVER_ZSTD
    assert ratios["take"] > TAKE_PARQUET_OVER_ZSTD

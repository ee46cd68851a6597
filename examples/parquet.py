#!/usr/bin/env python3
"""Parquet files with FSST columns: write one, take rows, read it compressed, give it away.

    python examples/parquet.py                    with generated links
    python examples/parquet.py your.parquet       with a file of yours, which is only read

FSST in Parquet is a proposal (apache/parquet-format issue 531): other readers cannot read such columns yet.
The last step makes a file that they can.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import texts

import fsst.parquet


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        show(Path(folder))


def show(folder: Path) -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "links.parquet"
    if len(sys.argv) < 2:
        pq.write_table(pa.table({"link": texts.urls(), "n": range(40_000)}), source)

    # The strings of a file as FSST; everything else is copied.
    small = folder / "fsst.parquet"
    result = fsst.parquet.transcode(source, small, compression="none", only_if_smaller=False)
    print(f"{result.rewritten} of {result.chunks} column chunks: {result.size_before} bytes, now {result.size_after}")

    with fsst.parquet.ParquetFile(small) as file:
        print(file)
        if file.num_rows:
            start = time.perf_counter()
            row = file.take([file.num_rows // 2], file.fsst_columns[:1])
            print(f"one row in {(time.perf_counter() - start) * 1000:.1f} ms: {row.to_pylist()[0]}")
        for field in file.read(compressed=True).schema:
            print(f"  {field.name}: {field.type}")

    # Back to what every reader reads.
    plain = folder / "plain.parquet"
    fsst.parquet.transcode(small, plain, encoding="plain", compression="zstd")
    same = pq.read_table(plain).equals(pq.read_table(source))
    print(f"back to PLAIN: {'the same table' if same else 'NOT the same table'}, {plain.stat().st_size} bytes")


if __name__ == "__main__":
    main()

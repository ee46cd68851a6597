#!/usr/bin/env python3
"""Parquet files of one string column: how small FSST pages make them, and how fast they are, beside zstd.

    python benchmarks/parquet_files.py                      the generated texts
    python benchmarks/parquet_files.py ../shared/corpora    each file of a folder, one string a line
    python benchmarks/parquet_files.py --rows 8000000       speeds as well, of the first text, repeated to so many rows
    python benchmarks/parquet_files.py --update             write parquet_sizes.json anew, after an intended change

Sizes are whole files, footer and all; Vortex's too, where vortex-data is installed. Times are CPU time, best of
several, in turns.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from interleaved import best_times
from sizes import invented

import fsst.parquet

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import texts

EXPECTED = Path(__file__).with_name("parquet_sizes.json")

Write = Callable[[pa.Table, Any], object]


def fsst_writer(**options: Any) -> Write:
    return lambda table, where: fsst.parquet.write_table(table, where, columns=["text"], **options)


def zstd_of_lengths(table: pa.Table, where: Any) -> None:
    """The smallest that pyarrow writes of such columns, as a rule."""
    encoding = {"text": "DELTA_LENGTH_BYTE_ARRAY"}
    pq.write_table(table, where, compression="zstd", use_dictionary=False, column_encoding=encoding)


def vortex_file(table: pa.Table, where: Any) -> None:
    """A file of the format whose strings are FSST too; it writes to paths only."""
    import vortex

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "it.vortex")
        vortex.io.write(vortex.array(table), str(path))
        where.write(path.read_bytes())


WRITERS: dict[str, Write] = {
    "fsst": fsst_writer(compression="none"),
    "fsst max": fsst_writer(compression="none", effort="max"),
    "fsst+zstd": fsst_writer(compression="zstd"),
    "lengths+zstd": zstd_of_lengths,
    "zstd": lambda table, where: pq.write_table(table, where, compression="zstd"),
    "snappy": lambda table, where: pq.write_table(table, where),
}
if find_spec("vortex") is not None:
    WRITERS["vortex"] = vortex_file


def file_size(table: pa.Table, write: Write) -> int:
    file = io.BytesIO()
    write(table, file)
    return file.tell()


def chunk_size(table: pa.Table, write: Write) -> int:
    """Bytes of all pages of the column. The footer holds pyarrow's version, and is left out where sizes are gated."""
    file = io.BytesIO()
    write(table, file)
    metadata = pq.ParquetFile(file).metadata
    return sum(metadata.row_group(i).column(0).total_compressed_size for i in range(metadata.num_row_groups))


def report_sizes(columns: dict[str, pa.Array]) -> None:
    print(f"{'':18}{'raw':>10}" + "".join(f"{name:>14}" for name in WRITERS))
    factors: dict[str, list[float]] = {name: [] for name in WRITERS}
    for name, column in columns.items():
        raw = texts.text_bytes(column)
        line = f"{name:18}{raw:>10}"
        for writer, write in WRITERS.items():
            factor = raw / file_size(pa.table({"text": column}), write)
            factors[writer].append(factor)
            line += f"{factor:>14.3f}"
        print(line, flush=True)
    means = (f"{math.exp(sum(map(math.log, found)) / len(found)):>14.3f}" for found in factors.values())
    print(f"{'geomean':28}" + "".join(means))


# --- Speeds ------------------------------------------------------------------------------------


def take_by_row_groups(path: Path, rows: list[int]) -> pa.Table:
    """How rows are taken from a file without FSST: read the row groups that they lie in. `rows` ascend."""
    found = []
    with pq.ParquetFile(path) as file:
        first = 0
        for group in range(file.num_row_groups):
            end = first + file.metadata.row_group(group).num_rows
            here = [row - first for row in rows if first <= row < end]
            if here:
                found.append(file.read_row_group(group).take(here))
            first = end
    return pa.concat_tables(found)


def speeds(column: pa.Array, rows: int, taken: int, seconds: float = 6.0) -> dict[str, tuple[float, float]]:
    """CPU seconds of writing, reading and taking rows: of FSST pages, and of a zstd file."""
    copies = pa.concat_arrays([column] * -(-rows // len(column)))
    table = pa.table({"text": copies.slice(0, rows)})
    wanted = sorted(random.Random(1).sample(range(rows), taken))
    with tempfile.TemporaryDirectory() as folder:
        small, zstd = Path(folder, "fsst.parquet"), Path(folder, "zstd.parquet")

        def take() -> pa.Table:
            with fsst.parquet.ParquetFile(small, memory_map=True) as file:
                return file.take(wanted, threads=1)

        write = WRITERS["fsst"]
        write(table, small)
        WRITERS["zstd"](table, zstd)
        works: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "write": (lambda: file_size(table, write), lambda: file_size(table, WRITERS["zstd"])),
            "read": (lambda: fsst.parquet.read_table(small), lambda: pq.read_table(zstd)),
            "take": (take, lambda: take_by_row_groups(zstd, wanted)),
        }
        found = {}
        for name, pair in works.items():
            ours, theirs = best_times(list(pair), seconds, least=3)
            found[name] = ours, theirs
        assert take().equals(take_by_row_groups(zstd, wanted))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, help="measure speeds, of so many rows")
    parser.add_argument("--update", action="store_true", help="write parquet_sizes.json anew")
    arguments = parser.parse_args()
    folder = arguments.folder
    columns = {source.name: source.load() for source in texts.sources_of(folder)} if folder else invented()
    if arguments.update:
        sizes = {name: chunk_size(pa.table({"text": c}), WRITERS["fsst"]) for name, c in invented().items()}
        EXPECTED.write_text(json.dumps(sizes, indent=1) + "\n")
        return
    report_sizes(columns)
    if arguments.rows:
        name, column = next(iter(columns.items()))
        for work, (ours, theirs) in speeds(column, arguments.rows, 1000).items():
            ratio = f"{theirs / ours:.1f} times as fast"
            print(f"{work} {name}, {arguments.rows} rows: {ours * 1000:.1f} ms, zstd {theirs * 1000:.1f} ms: {ratio}")


if __name__ == "__main__":
    main()

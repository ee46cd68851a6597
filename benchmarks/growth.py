#!/usr/bin/env python3
"""How cost grows with column size, string length and threads.

    python benchmarks/growth.py --plot docs/growth.png     (matplotlib, the "plot" extra)
    python benchmarks/growth.py --most-mb 1000             up to 1 GB; takes some 10 GB of memory and a few minutes

Column size: generated URLs, repeated to size, training included and apart. String length: the standard library's
sources cut into strings of one length, 8 MB. Threads: 64 MB of URLs, wall-clock time. Everything else is CPU time;
always the best of several.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import fsst

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import texts

Point = tuple[float, dict[str, float]]


def best(work: Callable[[], Any], clock: Callable[[], float] = time.process_time, seconds: float = 0.3) -> float:
    shortest = float("inf")
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 2 or time.perf_counter() < end:
        start = clock()
        result = work()
        shortest = min(shortest, clock() - start)
        del result
        rounds += 1
    return shortest


def costs(column: pa.Array) -> dict[str, float]:
    """Nanoseconds a byte of text, one thread."""
    size = texts.text_bytes(column)
    table = fsst.train(column)
    compressed = fsst.compress(column, symbol_table=table, threads=1)
    work = {
        "train": lambda: fsst.train(column),
        "compress": lambda: fsst.compress(column, symbol_table=table, threads=1),
        "decompress": lambda: fsst.decompress(compressed, threads=1),
    }
    return {name: best(call) * 1e9 / size for name, call in work.items()}


def by_size(most_mb: float) -> list[Point]:
    column = pa.array(texts.urls(), pa.large_string())
    sizes = [size for size in (1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9) if size <= most_mb * 1e6]
    return [(size, costs(texts.tiled(column, int(size)))) for size in sizes]


def by_length() -> list[Point]:
    data = "\n".join(texts.python_sources()).encode()[:8_000_000]
    points = []
    for length in (4, 8, 16, 32, 64, 256, 1024, 4096, 65536, 1_000_000, 4_000_000):
        offsets = np.arange(0, len(data) // length * length + 1, length, dtype=np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        points.append((length, costs(pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers))))
    return points


def by_threads() -> list[Point]:
    column = texts.tiled(pa.array(texts.urls()), 64_000_000)
    size = texts.text_bytes(column)
    table = fsst.train(column)
    compressed = fsst.compress(column, symbol_table=table)
    points = []
    for threads in range(1, (os.cpu_count() or 1) + 1):
        work = {
            "compress": lambda threads=threads: fsst.compress(column, symbol_table=table, threads=threads),
            "decompress": lambda threads=threads: fsst.decompress(compressed, threads=threads),
        }
        points.append((threads, {n: best(call, time.perf_counter, 2) * 1e9 / size for n, call in work.items()}))
    return points


def show(title: str, points: list[Point]) -> None:
    names = list(points[0][1])
    print(f"\n{title}: nanoseconds a byte\n{'':>12}" + "".join(f"{name:>12}" for name in names))
    for at, values in points:
        print(f"{at:>12,.0f}" + "".join(f"{values[name]:>12.3f}" for name in names))


def draw(figures: dict[str, list[Point]], to: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(figures), figsize=(5 * len(figures), 4), layout="constrained")
    for panel, (title, points) in zip(panels, figures.items(), strict=True):
        for name in points[0][1]:
            panel.plot([at for at, _ in points], [values[name] for _, values in points], marker="o", label=name)
        panel.set_xlabel(title)
        panel.set_ylabel("nanoseconds a byte")
        if title != "threads":
            panel.set_xscale("log")
            panel.set_yscale("log")
        else:
            panel.set_xticks([at for at, _ in points])
            panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
        panel.legend(frameon=False)
    figure.savefig(to, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most-mb", type=float, default=100, help="the largest column, in MB (default: 100)")
    parser.add_argument("--plot", type=Path, help="draw the figures into this file")
    arguments = parser.parse_args()
    figures = {
        "bytes of the column": by_size(arguments.most_mb),
        "bytes of each string": by_length(),
        "threads": by_threads(),
    }
    for title, points in figures.items():
        show(title, points)
    if arguments.plot:
        draw(figures, arguments.plot)


if __name__ == "__main__":
    main()

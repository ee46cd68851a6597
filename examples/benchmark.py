#!/usr/bin/env python3
"""How small, how fast: measures fsst on real and invented text, and checks every byte.

    python examples/benchmark.py                              what every Python installation has
    python examples/benchmark.py ../shared/corpora            each file of a folder, one string a line
    python examples/benchmark.py --file x.parquet --column c  your own data
    python examples/benchmark.py --peers --plot peers.png     beside Parquet, Arrow IPC, Vortex and Lance

The figures of a text:

    factor      raw bytes of the strings / everything stored: codes, offsets, validity, symbol table
    codes       raw bytes / codes and symbol table, as the FSST papers count
    train       making the symbol table
    compress    an Arrow array, with that table given
    decompress  to the original Arrow array
    one row     column[i].as_py() of random rows, in warm caches
    reader      column.reader()[i] of the same rows
    take        1000 random rows, decompressed: column.decompress_rows(rows)
    search      fsst.compute.match_substring on the column, mean of a rare and a frequent needle
    pyarrow     pyarrow.compute.match_substring on the plain strings, likewise

Speeds are raw bytes per second of CPU time, best of several short repetitions; with more than one thread,
of wall-clock time.
"""

# To add a figure: measure it in `measure`, keep it in `Result`, show it in `FIGURES` and draw it in `panels`.

from __future__ import annotations

import argparse
import gc
import importlib.metadata
import json
import math
import os
import platform
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import fsst
    import fsst.compute as fc
except ImportError as error:
    sys.exit(f"benchmark.py: {error}. `make benchmark` sets everything up; or `pip install .` first.")

import texts

ROWS_READ = 256  # random rows of one repetition
ROWS_TAKEN = 1000  # at once
Clock = Callable[[], float]


class MismatchError(Exception):
    """What came back is not what went in."""


# --- Measuring ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    effort: str
    threads: int

    @property
    def clock(self) -> Clock:
        """CPU time is the quieter one, but adds up what threads do at once."""
        return time.process_time if self.threads == 1 else time.perf_counter


@dataclass
class Result:
    """All figures of one text."""

    name: str
    rows: int
    raw_bytes: int
    codes_bytes: int
    offsets_bytes: int
    validity_bytes: int
    table_bytes: int
    symbols: int
    train_ms: float
    compress_mb_s: float
    decompress_mb_s: float
    one_row_us: float
    reader_ns: float
    take_us: float
    search_gb_s: float
    plain_search_gb_s: float
    factor: float = field(init=False)
    factor_codes: float = field(init=False)
    peers: dict[str, PeerResult] = field(default_factory=dict)

    def __post_init__(self) -> None:
        codes = self.codes_bytes + self.table_bytes
        self.factor = self.raw_bytes / (codes + self.offsets_bytes + self.validity_bytes)
        self.factor_codes = self.raw_bytes / codes

    @property
    def raw_mb(self) -> float:
        return self.raw_bytes / 1e6


def best_of(work: Callable[[], Any], clock: Clock, seconds: float = 0.4) -> tuple[float, Any]:
    """The shortest of the repetitions that fit in `seconds` (3 at least), and the work's result."""
    shortest = math.inf
    repetitions = 0
    gc.collect()
    gc.disable()
    end = time.perf_counter() + seconds
    try:
        while repetitions < 3 or time.perf_counter() < end:
            result = None  # the last result is freed here, off the clock
            start = clock()
            result = work()
            shortest = min(shortest, clock() - start)
            repetitions += 1
    finally:
        gc.enable()
    return max(shortest, 1e-9), result


def random_rows(column: pa.Array, count: int = ROWS_READ) -> list[int]:
    draw = random.Random(0).random
    return [int(draw() * len(column)) for _ in range(count)]


def needles(column: pa.Array) -> tuple[bytes, bytes]:
    """Two pieces of rows: 8 bytes, which are rare, and 3, which are less so."""
    longest = max((bytes(column[row].as_buffer()) for row in random_rows(column) if column[row].is_valid), key=len)
    start = len(longest) // 3
    return longest[start : start + 8], longest[start : start + 3]


def check(original: pa.Array, returned: pa.Array, where: str) -> None:
    """Raise MismatchError, naming the first row that differs, unless types, bytes and nulls are equal."""
    if returned.type == original.type and returned.equals(original):
        return
    if (returned.type, len(returned)) != (original.type, len(original)):
        was, came = (f"{len(array)} rows of {array.type}" for array in (original, returned))
        raise MismatchError(f"{where}: {came}, not {was}")
    for row, (was, came) in enumerate(zip(original.to_pylist(), returned.to_pylist(), strict=True)):
        if was != came:
            raise MismatchError(f"{where}: row {row} is {came!r}, not {was!r}")
    raise MismatchError(f"{where}: Arrow calls the arrays different")


def measure(name: str, column: pa.Array, settings: Settings, say: Callable[[str], None]) -> Result:
    """Compress one column, read it back, and time both."""
    raw = texts.text_bytes(column)
    threads = settings.threads
    say(f"{name}: train")
    train, table = best_of(lambda: fsst.train(column, effort=settings.effort), settings.clock)

    def compress_it() -> Any:
        return fsst.compress(column, symbol_table=table, threads=threads)

    say(f"{name}: compress")
    compress, compressed = best_of(compress_it, settings.clock)

    say(f"{name}: decompress")
    decompress, returned = best_of(lambda: fsst.decompress(compressed, threads=threads), settings.clock)
    check(column, returned, f"{name}: decompress")

    say(f"{name}: one row")
    rows = random_rows(column)
    one_row, read = best_of(lambda: [compressed[row].as_py() for row in rows], time.process_time)
    check(column.take(rows), pa.array(read, column.type), f"{name}: reading random rows")

    reader = compressed.reader()
    read_row, read = best_of(lambda: [reader[row] for row in rows], time.process_time)
    check(column.take(rows), pa.array(read, column.type), f"{name}: a reader's random rows")

    say(f"{name}: take")
    taken = pa.array(random_rows(column, ROWS_TAKEN))
    take, rows_taken = best_of(lambda: compressed.decompress_rows(taken), time.process_time)
    check(column.take(taken), rows_taken, f"{name}: taking random rows")

    say(f"{name}: search")
    search = plain_search = 0.0
    for needle in needles(column):
        seconds, found = best_of(lambda needle=needle: fc.match_substring(compressed, needle), time.process_time, 0.2)
        plain, wanted = best_of(lambda needle=needle: pc.match_substring(column, needle), time.process_time, 0.2)
        check(wanted, found, f"{name}: search for {needle!r}")
        search += seconds / 2
        plain_search += plain / 2

    storage = compressed.storage
    return Result(
        name=name,
        rows=len(column),
        raw_bytes=raw,
        codes_bytes=texts.text_bytes(storage),
        offsets_bytes=(len(storage) + 1) * (8 if storage.type == pa.large_binary() else 4),
        validity_bytes=-(-len(storage) // 8) if storage.null_count else 0,
        table_bytes=len(table.to_bytes()),
        symbols=len(table),
        train_ms=train * 1e3,
        compress_mb_s=raw / compress / 1e6,
        decompress_mb_s=raw / decompress / 1e6,
        one_row_us=one_row / len(rows) * 1e6,
        reader_ns=read_row / len(rows) * 1e9,
        take_us=take * 1e6,
        search_gb_s=raw / search / 1e9,
        plain_search_gb_s=raw / plain_search / 1e9,
    )


# --- Peers: other ways to store the same column ------------------------------------------------


@dataclass(frozen=True)
class Peer:
    """One way to store a column: write it, count it, read all of it, and read one row where that works."""

    name: str
    note: str
    write: Callable[[pa.Array, Path], Any]  # the folder is for those that write files
    size: Callable[[Any], int]
    read: Callable[[Any], Any]
    # Opens what was written, and returns a reader of single rows.
    row_reader: Callable[[Any], Callable[[int], Any]] | None = None
    packs: bool = True  # False: writing copies and reading maps, so that their speeds mean nothing


@dataclass
class PeerResult:
    stored_bytes: int
    factor: float
    write_mb_s: float | None
    read_mb_s: float | None
    one_row_us: float | None


def _ipc_write(column: pa.Array, compression: str | None = None) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch([column], ["text"])
    options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=pa.cpu_count() > 1)
    with pa.ipc.new_file(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _ipc_read(data: pa.Buffer) -> pa.Array:
    options = pa.ipc.IpcReadOptions(use_threads=pa.cpu_count() > 1)
    return pa.ipc.open_file(data, options=options).get_batch(0).column(0)


def _ipc_row_reader(data: pa.Buffer) -> Callable[[int], Any]:
    column = _ipc_read(data)
    return lambda row: column[row].as_py()


def _parquet_write(column: pa.Array, **options: Any) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table([column], ["text"]), sink, compression="zstd", **options)
    return sink.getvalue()


def _parquet_read(data: pa.Buffer) -> pa.ChunkedArray:
    return pq.read_table(pa.BufferReader(data), use_threads=pa.cpu_count() > 1).column(0)


def _arrow_peers(settings: Settings) -> list[Peer]:
    def size(data: pa.Buffer) -> int:
        return int(data.size)

    def compress(column: pa.Array, folder: Path) -> pa.Buffer:
        return _ipc_write(fsst.compress(column, effort=settings.effort, threads=settings.threads))

    def decompress(data: pa.Buffer) -> pa.Array:
        return fsst.decompress(_ipc_read(data), threads=settings.threads)

    def plain(column: pa.Array, folder: Path) -> pa.Buffer:
        return _ipc_write(column)

    def lz4(column: pa.Array, folder: Path) -> pa.Buffer:
        return _ipc_write(column, "lz4")

    def zstd(column: pa.Array, folder: Path) -> pa.Buffer:
        return _parquet_write(column)

    def zstd_lengths(column: pa.Array, folder: Path) -> pa.Buffer:
        return _parquet_write(column, use_dictionary=False, column_encoding="DELTA_LENGTH_BYTE_ARRAY")

    lengths = "Parquet, zstd, DELTA_LENGTH_BYTE_ARRAY"
    return [
        Peer("fsst", "trained, compressed, as Arrow IPC", compress, size, decompress, _ipc_row_reader),
        Peer("Arrow", "Arrow IPC, plain", plain, size, _ipc_read, _ipc_row_reader, packs=False),
        Peer("Arrow lz4", "Arrow IPC, lz4", lz4, size, _ipc_read),
        Peer("Parquet", "Parquet, zstd, else as pyarrow does by default", zstd, size, _parquet_read),
        Peer("Parquet DL", lengths, zstd_lengths, size, _parquet_read),
    ]


def _vortex_peer(settings: Settings) -> Peer:
    import vortex

    if hasattr(vortex, "set_worker_threads"):
        vortex.set_worker_threads(settings.threads)
    return Peer(
        "Vortex",
        f"vortex-data {importlib.metadata.version('vortex-data')}, compressed in memory, read as string_view",
        write=lambda column, folder: vortex.compress(vortex.array(column)),
        size=lambda array: int(array.nbytes),
        read=lambda array: array.to_arrow_array(),
        row_reader=lambda array: lambda row: array.scalar_at(row).as_py(),
    )


def _lance_peer(settings: Settings) -> Peer:
    os.environ.setdefault("LANCE_CPU_THREADS", str(settings.threads))
    import lance

    def write(column: pa.Array, folder: Path) -> Any:
        kind = pa.field("text", column.type, metadata={"lance-encoding:compression": "fsst"})
        table = pa.table([column], schema=pa.schema([kind]))
        return lance.write_dataset(table, Path(tempfile.mkdtemp(dir=folder)) / "text")

    def size(dataset: Any) -> int:
        return sum(file.stat().st_size for file in Path(dataset.uri).rglob("*") if file.is_file())

    return Peer(
        "Lance",
        f"pylance {importlib.metadata.version('pylance')}, a dataset on disk, its fsst asked for",
        write,
        size,
        read=lambda dataset: dataset.to_table().column("text"),
        row_reader=lambda dataset: lambda row: dataset.take([row]).column("text")[0].as_py(),
    )


def find_peers(settings: Settings) -> list[Peer]:
    """The peers that are installed; says which are not."""
    peers = _arrow_peers(settings)
    for module, package, make in [("vortex", "vortex-data", _vortex_peer), ("lance", "pylance", _lance_peer)]:
        if find_spec(module) is None:
            print(f"{package} is not installed, left out (pip install {package})", file=sys.stderr)
            continue
        try:
            peers.append(make(settings))
        except Exception as error:  # other people's packages: whatever ails them, the rest is measured
            print(f"{package} does not work, left out: {error}", file=sys.stderr)
    return peers


def measure_peer(peer: Peer, column: pa.Array, settings: Settings) -> PeerResult:
    """Write and read one column in another way; what comes back is checked as well."""
    raw = texts.text_bytes(column)
    with tempfile.TemporaryDirectory(prefix="fsst-benchmark-") as folder:
        write, stored = best_of(lambda: peer.write(column, Path(folder)), settings.clock, 0.3)
        read, returned = best_of(lambda: peer.read(stored), settings.clock, 0.3)
        if isinstance(returned, pa.ChunkedArray):
            returned = pa.concat_arrays(returned.chunks)
        check(column, returned.cast(column.type), "read")
        one_row = None
        if peer.row_reader is not None:
            reader = peer.row_reader(stored)
            rows = random_rows(column)
            seconds, rows_read = best_of(lambda: [reader(row) for row in rows], time.process_time, 0.3)
            check(column.take(rows), pa.array(rows_read, column.type), "reading random rows")
            one_row = seconds / len(rows) * 1e6
        size = peer.size(stored)
    write_mb_s, read_mb_s = (raw / write / 1e6, raw / read / 1e6) if peer.packs else (None, None)
    return PeerResult(size, raw / size, write_mb_s, read_mb_s, one_row)


# --- Showing -----------------------------------------------------------------------------------


def geomean(values: Iterable[float | None]) -> float | None:
    logs = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logs) / len(logs)) if logs else None


@dataclass(frozen=True)
class Figure:
    """A column of the table: an attribute of Result, how it is written, and what the last line says."""

    heading: str
    unit: str
    attribute: str
    decimals: int
    total: Callable[[Iterable[Any]], float | None] = geomean


FIGURES = [
    Figure("rows", "", "rows", 0, sum),
    Figure("raw", "MB", "raw_mb", 2, sum),
    Figure("factor", "", "factor", 3),
    Figure("codes", "", "factor_codes", 3),
    Figure("train", "ms", "train_ms", 1),
    Figure("compress", "MB/s", "compress_mb_s", 0),
    Figure("decompress", "MB/s", "decompress_mb_s", 0),
    Figure("one row", "us", "one_row_us", 2),
    Figure("reader", "ns", "reader_ns", 0),
    Figure("take", "us", "take_us", 0),
    Figure("search", "GB/s", "search_gb_s", 1),
    Figure("pyarrow", "GB/s", "plain_search_gb_s", 2),
]
TOTAL = "total / geomean"  # the last line's name

# Of PeerResult, a table each.
PEER_FIGURES = [
    Figure("factor", "", "factor", 3),
    Figure("write", "MB/s, training included", "write_mb_s", 0),
    Figure("read", "MB/s", "read_mb_s", 0),
    Figure("one row", "us, - where a whole column is read for it", "one_row_us", 2),
]


class Progress:
    """One line on stderr that says what is being done, where a person is watching."""

    def __init__(self) -> None:
        self.watched = sys.stderr.isatty()
        self.prefix = ""

    def __call__(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self._write(f"{self.prefix}{text}"[:width])

    def clear(self) -> None:
        self._write("")

    def _write(self, line: str) -> None:
        if self.watched:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


class Table:
    """Lines of right-aligned cells under headings, each behind a name."""

    def __init__(self, names: Iterable[str], headings: list[str]) -> None:
        self.name_width = max(len(name) for name in names)
        self.widths = [max(len(heading), 6) for heading in headings]

    def line(self, name: str, cells: Iterable[str]) -> str:
        padded = (cell.rjust(width) for cell, width in zip(cells, self.widths, strict=True))
        return f"{name:<{self.name_width}}  {'  '.join(padded)}"


def written(value: float | None, figure: Figure) -> str:
    return "-" if value is None else f"{value:.{figure.decimals}f}"


def result_line(table: Table, result: Result) -> str:
    return table.line(result.name, (written(getattr(result, f.attribute), f) for f in FIGURES))


def total_line(table: Table, results: list[Result]) -> str:
    totals = (f.total(getattr(result, f.attribute) for result in results) for f in FIGURES)
    return table.line(TOTAL, (written(total, f) for total, f in zip(totals, FIGURES, strict=True)))


def peer_values(result: Result, peers: list[Peer], figure: Figure) -> list[float | None]:
    """One figure of one text for all peers; None where a peer failed or has none."""
    return [getattr(result.peers.get(peer.name), figure.attribute, None) for peer in peers]


def peer_tables(results: list[Result], peers: list[Peer]) -> str:
    """One table for each figure, texts down, peers across."""
    headings = [peer.name for peer in peers]
    table = Table([TOTAL, *(result.name for result in results)], headings)
    lines = ["", *(f"{peer.name}: {peer.note}" for peer in peers)]
    for figure in PEER_FIGURES:
        rows = [peer_values(result, peers, figure) for result in results]
        means = [geomean(values) for values in zip(*rows, strict=True)]
        unit = f" ({figure.unit})" if figure.unit else ""
        lines += ["", f"{figure.heading}{unit}", table.line("", headings)]
        names = [*(result.name for result in results), "geomean"]
        for name, values in zip(names, [*rows, means], strict=True):
            lines.append(table.line(name, (written(value, figure) for value in values)))
    return "\n".join(lines)


def machine() -> str:
    """The processor's name, as far as the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def conditions(settings: Settings) -> str:
    clock = "CPU time" if settings.threads == 1 else "wall-clock time"
    return (
        f"fsst {fsst.__version__}, effort {settings.effort}, threads {settings.threads}, {clock}; "
        f"pyarrow {pa.__version__}, Python {platform.python_version()}; {machine()}, {os.cpu_count()} cores"
    )


# --- Drawing -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Panel:
    """One graph: texts down, and for each series a bar or mark at its value, none where that is None."""

    title: str
    decimals: int
    series: dict[str, list[float | None]]
    log: bool = False


def panels(results: list[Result], peers: list[Peer]) -> list[Panel]:
    """What there is to draw: the peers' figures where they were measured, otherwise fsst's own."""

    def own(attribute: str) -> list[float | None]:
        return [getattr(result, attribute) for result in results]

    def beside(figure: Figure) -> dict[str, list[float | None]]:
        columns = zip(*(peer_values(result, peers, figure) for result in results), strict=True)
        return {peer.name: list(values) for peer, values in zip(peers, columns, strict=True)}

    if peers:
        titles = ["factor", "write, MB/s", "read, MB/s", "one row, µs (less is better)"]
        return [
            Panel(title, figure.decimals, beside(figure), log=figure.attribute != "factor")
            for title, figure in zip(titles, PEER_FIGURES, strict=True)
        ]
    factors = {"everything stored": own("factor"), "codes and table": own("factor_codes")}
    return [
        Panel("factor", 2, factors),
        Panel("compress, MB/s", 0, {"": own("compress_mb_s")}),
        Panel("decompress, MB/s", 0, {"": own("decompress_mb_s")}),
        Panel("one row, µs (less is better)", 2, {"": own("one_row_us")}),
        Panel("search, GB/s", 1, {"": own("search_gb_s")}),
    ]


# Colours that the colour-blind can tell apart (Okabe and Ito), a paler one, and a shape for each.
COLOURS = ["#D55E00", "#777777", "#56B4E9", "#0072B2", "#009E73", "#CC79A7", "#E69F00"]
PALE = "#F3C9AE"
MARKERS = "ods^v<>"


def draw(path: Path, drawn: list[Panel], names: list[str], caption: str) -> None:
    """Panels side by side: bars where there is only fsst, marks where there are peers."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    matplotlib.rcParams.update({"font.size": 9, "svg.hashsalt": "fsst"})
    with_peers = len(drawn[-1].series) > 1
    height = 1.3 + (0.5 if with_peers else 0.3) * len(names)
    canvas = Canvas(figsize=(12.5, height), layout="constrained")
    all_axes = canvas.subplots(1, len(drawn), sharey=True)
    for axes, panel in zip(all_axes, drawn, strict=True):
        (_draw_marks if with_peers else _draw_bars)(axes, panel)
        axes.set_title(panel.title, fontsize=10, loc="left")
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, which="both", labelcolor="#555555")
    all_axes[0].set_yticks(range(len(names)), names, color="black")
    all_axes[0].set_ylim(len(names) - 0.5, -0.5)
    handles, labels = all_axes[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False)
    canvas.supxlabel(caption, fontsize=7, color="#777777")
    canvas.savefig(path, dpi=150)


def _draw_bars(axes: Any, panel: Panel) -> None:
    longest = max(value or 0 for values in panel.series.values() for value in values)
    for number, (name, values) in enumerate(panel.series.items()):
        lengths = [value or 0 for value in values]
        colour = COLOURS[0] if number == 0 else PALE
        axes.barh(range(len(lengths)), lengths, 0.72, color=colour, label=name, zorder=3 - number)
        for line, length in enumerate(lengths):
            inside = number == 0 and length > longest / 6
            axes.annotate(
                f"{length:.{panel.decimals}f}",
                (length, line),
                xytext=(-4 if inside else 4, 0),
                textcoords="offset points",
                ha="right" if inside else "left",
                va="center_baseline",
                color="white" if inside else "#555555",
                fontsize=8,
                zorder=4,
            )
    axes.set_xlim(0, longest * 1.15)
    axes.set_xticks([])


def _draw_marks(axes: Any, panel: Panel) -> None:
    texts_down = len(next(iter(panel.series.values())))
    for line in range(0, texts_down, 2):
        axes.axhspan(line - 0.5, line + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
    step = 0.7 / len(panel.series)
    for number, (name, values) in enumerate(panel.series.items()):
        ours = number == 0
        axes.plot(
            [math.nan if value is None else value for value in values],
            [line - 0.35 + (number + 0.5) * step for line in range(texts_down)],
            linestyle="none",
            marker=MARKERS[number % len(MARKERS)],
            markersize=7.5 if ours else 5,
            color=COLOURS[number % len(COLOURS)],
            zorder=4 if ours else 3,
            label=name,
        )
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.8)
    if panel.log:
        from matplotlib.ticker import LogLocator, NullLocator

        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")
    else:
        axes.set_xlim(left=0)


# --- The command -------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="benchmark.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("paths", nargs="*", type=Path, metavar="folder", help="files of text, one string a line")
    add("--file", type=Path, action="append", default=[], help="a Parquet file, or lines")
    add("--column", help="of the Parquet file; without it, all its columns of strings")
    add("--mb", type=float, help="repeat or cut each text to this size (repeats flatter whoever finds them)")
    add("--effort", choices=["fast", "default", "max"], default="default", help="of training")
    add("--threads", type=int, default=1, help="more than one: speeds are of wall-clock time")
    add("--peers", action="store_true", help="measure other ways to store the same texts")
    add("--json", type=Path, metavar="out.json", help="write all figures there")
    add("--plot", type=Path, metavar="out.png", help="draw them there (needs matplotlib)")
    return made


def check_options(options: argparse.Namespace) -> None:
    """Find what would fail at the end before the work begins."""
    if options.mb is not None and not 0.001 <= options.mb <= 100_000:
        raise texts.TextError(f"--mb must lie between 0.001 and 100000, not {options.mb:g}")
    if not 1 <= options.threads <= 4096:
        raise texts.TextError(f"--threads must lie between 1 and 4096, not {options.threads}")
    if options.column is not None and not (options.file or options.paths):
        raise texts.TextError(f"--column {options.column}: no --file is given")
    for path in (options.json, options.plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise texts.TextError(f"{path} can't be written: no folder {path.absolute().parent}")
        if path is not None and path.is_dir():
            raise texts.TextError(f"{path} can't be written: it is a folder")
    if options.plot is not None:
        if find_spec("matplotlib") is None:
            raise texts.TextError("--plot needs matplotlib: pip install matplotlib")
        if options.plot.suffix not in (".png", ".svg", ".pdf"):
            raise texts.TextError(f"--plot {options.plot}: the name must end in .png, .svg or .pdf")


def chosen_texts(options: argparse.Namespace) -> list[texts.Source]:
    paths = options.paths + options.file
    if not paths:
        return texts.sources()
    return [text for path in paths for text in texts.sources_of(path, options.column)]


def measure_text(
    text: texts.Source, options: argparse.Namespace, settings: Settings, peers: list[Peer], progress: Progress
) -> Result | None:
    """One text and all peers; None where it is empty."""
    progress(f"{text.name}: collect")
    column = text.load()
    if not texts.text_bytes(column):
        return None
    if options.mb is not None:
        column = texts.tiled(column, round(options.mb * 1e6))
    result = measure(text.name, column, settings, progress)
    for peer in peers:
        progress(f"{text.name}: {peer.name}")
        try:
            result.peers[peer.name] = measure_peer(peer, column, settings)
        except Exception as error:  # see find_peers
            progress.clear()
            print(f"{peer.name} fails on {text.name}: {error}", file=sys.stderr)
    return result


def write_files(
    options: argparse.Namespace,
    results: list[Result],
    settings: Settings,
    peers: list[Peer],
) -> None:
    if options.json is not None:
        content = {
            "conditions": conditions(settings),
            "settings": {**asdict(settings), "mb": options.mb},
            "peers": {peer.name: peer.note for peer in peers},
            "texts": [asdict(result) for result in results],
        }
        options.json.write_text(json.dumps(content, indent=2) + "\n")
    if options.plot is not None:
        draw(options.plot, panels(results, peers), [result.name for result in results], conditions(settings))


def run(options: argparse.Namespace) -> int:
    """Measure and print; 0 where every byte came back."""
    check_options(options)
    chosen = chosen_texts(options)
    settings = Settings(options.effort, options.threads)
    pa.set_cpu_count(settings.threads)
    peers = find_peers(settings) if options.peers else []
    print(conditions(settings))
    table = Table([TOTAL, *(text.name for text in chosen)], [figure.heading for figure in FIGURES])
    print(table.line("", (figure.heading for figure in FIGURES)))
    print(table.line("", (figure.unit for figure in FIGURES)), flush=True)
    progress = Progress()
    results: list[Result] = []
    wrong = 0
    for number, text in enumerate(chosen, 1):
        progress.prefix = f"[{number}/{len(chosen)}] "
        try:
            result = measure_text(text, options, settings, peers, progress)
        except (MismatchError, fsst.FsstError) as error:
            wrong += 1
            progress.clear()
            print(f"MISMATCH in {error}", file=sys.stderr)
            continue
        finally:
            progress.clear()
        if result is None:
            print(f"{text.name} is empty, left out", file=sys.stderr)
            continue
        results.append(result)
        print(result_line(table, result), flush=True)
    if not results and not wrong:
        raise texts.TextError("there is no text to measure")
    if results:
        print(total_line(table, results))
        if peers:
            print(peer_tables(results, peers))
        write_files(options, results, settings, peers)
    if wrong:
        print(f"\n{wrong} of {len(chosen)} texts came back WRONG")
        return 1
    print("\nevery byte came back as it was")
    return 0


def main() -> int:
    command = parser()
    try:
        return run(command.parse_args())
    except texts.TextError as error:
        command.exit(2, f"{command.prog}: {error}\n")
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())

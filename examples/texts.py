"""Texts to measure and test with: what every Python installation has, seeded inventions, and files.

Nothing is downloaded. `sources()` lists the texts that `benchmark.py` takes by default; the functions
below it can be called alone, and return lists of rows. The invented columns are the same on every
machine and Python version; Python's own texts are the same for one installation.
"""

from __future__ import annotations

import os
import random
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MAX_BYTES = 8_000_000  # of each text that Python brings along

Rows = list[str] | list[str | None]


class TextError(Exception):
    """A file, folder or column that can't be measured; the message is for the person who named it."""


@dataclass(frozen=True)
class Source:
    """A text by name, loaded when it is its turn."""

    name: str
    load: Callable[[], pa.Array]


def sources() -> list[Source]:
    """Python's own texts, then the invented ones."""
    makers: dict[str, Callable[[], Rows]] = {
        "python sources": python_sources,
        "python docs": python_docs,
        "file paths": file_paths,
        "urls": urls,
        "uuids": uuids,
        "log lines": log_lines,
        "names": names,
    }
    return [Source(name, partial(_column_of, make)) for name, make in makers.items()]


def _column_of(make: Callable[[], Rows]) -> pa.Array:
    return pa.array(make(), pa.string())


# --- What every Python installation has --------------------------------------------------------


def python_sources(max_bytes: int = MAX_BYTES) -> list[str]:
    """The standard library's source files, line by line, without its tests."""
    left_out = {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idle_test"}

    def lines() -> Iterator[str]:
        for path in _files(sysconfig.get_path("stdlib"), left_out):
            if path.endswith(".py"):
                try:
                    yield from Path(path).read_bytes().decode("utf-8").splitlines()
                except (OSError, UnicodeDecodeError):
                    continue

    return _up_to(max_bytes, lines())


def python_docs(max_bytes: int = MAX_BYTES) -> list[str]:
    """The prose behind ``help("if")`` and its like, line by line."""
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some distributions leave it out
        return []
    return _up_to(max_bytes, (line for name in sorted(topics) for line in topics[name].split("\n")))


def file_paths(max_bytes: int = MAX_BYTES) -> list[str]:
    """The paths of the files that are installed where Python is."""
    return _up_to(max_bytes, (path for path in _files(sys.base_prefix, {"__pycache__"}) if _is_unicode(path)))


def _files(folder: str, left_out: set[str]) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - left_out)
        for file in sorted(files):
            yield os.path.join(parent, file)


def _is_unicode(path: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in path)


def _up_to(max_bytes: int, rows: Iterator[str]) -> list[str]:
    taken = []
    for row in rows:
        max_bytes -= len(row.encode("utf-8"))
        if max_bytes < 0:
            break
        taken.append(row)
    return taken


# --- Inventions --------------------------------------------------------------------------------


class _Dice:
    """Choices from a seed. Uses only random(), whose sequence Python promises never to change."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, end: int) -> int:
        return int(self._random() * end)

    def one_of(self, items: Sequence[str]) -> str:
        return items[int(self._random() * len(items))]

    def skewed(self, items: Sequence[str]) -> str:
        """One of the items, those in front far more often, as with words and customers."""
        draw = self._random()
        return items[int(draw * draw * draw * len(items))]

    def hex(self, digits: int) -> str:
        return "".join([f"{self.below(1 << 48):012x}" for _ in range(-(-digits // 12))])[:digits]


def _words(text: str) -> list[str]:
    return text.split()


_WORDS = _words("""
    summer sale shoes running review guide best travel garden kitchen wireless camera children winter jacket
    classic leather wooden table coffee organic history world market energy health science music football
    election climate recipe chicken vegan bread weekend island flight hotel budget beginner advanced python
    data cloud security privacy battery electric bicycle mountain river festival museum interview opinion
    analysis report quarterly results update release notes screen phone laptop repair cleaning storage
    design modern vintage lamp ceramic cotton linen blanket pillow outdoor camping tent stove knife bottle
""")
_SYLLABLES = _words("""
    an ber bri cal dor el fen gar hal in jor kel lin mar nor os pen quin ros sal tor ul ver wyn yor zan
""")
_SECTIONS = _words("products blog news category item search user docs media/images archive/2024")
_FIRST_NAMES = _words("""
    James Mary Wei Maria John Fatima Anna David Mohammed Sofia Michael Priya Juan Emma Li Daniel Aisha
    Thomas Olga Carlos Yuki Elena Ahmed Laura Peter Chloe Ivan Ingrid Hassan Julia Rahul Marta Samuel Linh
    Jürgen Zoë Paulo Noor Kwame Astrid Hiroshi Leïla Mateusz Björn Camille Nikolai Amara Giulia Tomáš Eszter
""")
_LAST_NAMES = _words("""
    Smith Wang Garcia Müller Kumar Johnson Nguyen Kim Silva Martin Rossi Ivanov Brown Khan Singh Lopez
    Andersson Tanaka Kowalski Jones Ali Fernandez Dubois Schmidt Novak Hernández Jensen Yilmaz Papadopoulos
    Okafor Cohen Santos Murphy Bakker Horvath Popescu Nielsen Virtanen Walker Sato Haddad Mensah O'Connor
""")
_SERVICES = _words("checkout catalog payment auth search mailer inventory gateway")


def urls(rows: int = 40_000, seed: int = 1) -> list[str]:
    """Links of a few hundred sites: sections, slugs, numbers, and queries on a third of them."""
    dice = _Dice(seed)
    starts, ends = ["www.", "", "shop.", "m.", "cdn."], [".com", ".org", ".net", ".de", ".co.uk", ".io"]
    hosts = [
        f"https://{dice.skewed(starts)}{dice.one_of(_WORDS)}{dice.one_of(_SYLLABLES)}{dice.skewed(ends)}"
        for _ in range(300)
    ]
    made = []
    for _ in range(rows):
        slug = "-".join(dice.skewed(_WORDS) for _ in range(1 + dice.below(4)))
        link = f"{dice.skewed(hosts)}/{dice.skewed(_SECTIONS)}/{slug}"
        kind = dice.below(6)
        if kind < 2:
            link += f"-{dice.below(1_000_000)}.html"
        elif kind == 2:
            link += f"?page={1 + dice.below(40)}&sort={dice.skewed(['price', 'date', 'rating'])}"
        elif kind == 3:
            link += f"?utm_source={dice.skewed(['newsletter', 'google', 'partner'])}&session={dice.hex(16)}"
        made.append(link)
    return made


def uuids(rows: int = 80_000, seed: int = 2) -> list[str]:
    """Random UUIDs, version 4: no more to gain than two digits a byte and the fixed places."""
    dice = _Dice(seed)
    return [
        f"{dice.hex(8)}-{dice.hex(4)}-4{dice.hex(3)}-{'89ab'[dice.below(4)]}{dice.hex(3)}-{dice.hex(12)}"
        for _ in range(rows)
    ]


def log_lines(rows: int = 30_000, seed: int = 3) -> list[str]:
    """A day of a shop's services: time, level, thread, service and one of a few messages."""
    dice = _Dice(seed)
    messages: list[Callable[[], str]] = [
        lambda: f"GET /api/v1/{dice.skewed(_WORDS)}/{dice.below(100_000)} 200 in {dice.below(400)} ms",
        lambda: f"order {100_000 + dice.below(900_000)} accepted for user {dice.below(50_000)}",
        lambda: f"cache miss for key session:{dice.hex(24)}",
        lambda: f"request {dice.hex(8)} from 10.{dice.below(4)}.{dice.below(256)}.{dice.below(256)} finished",
        lambda: f"retrying upstream {dice.one_of(_SERVICES)} after timeout, attempt {1 + dice.below(5)} of 5",
        lambda: f"connection reset by peer: {dice.one_of(_SERVICES)}.internal:{8000 + dice.below(100)}",
    ]
    made = []
    for row in range(rows):
        seconds, millis = divmod(row * 86_400_000 // rows + dice.below(1000), 1000)
        made.append(
            f"2024-05-17T{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z "
            f"{dice.skewed(['INFO ', 'DEBUG', 'WARN ', 'ERROR'])} [worker-{dice.below(16)}] "
            f"shop.{dice.skewed(_SERVICES)} - {messages[min(dice.below(9), 5)]()}"
        )
    return made


def names(rows: int = 160_000, seed: int = 4) -> list[str | None]:
    """People, some with an initial, a third with a rare family name; one in fifty is null."""
    dice = _Dice(seed)
    made: list[str | None] = []
    for _ in range(rows):
        if dice.below(50) == 0:
            made.append(None)
            continue
        initial = f" {chr(65 + dice.below(26))}." if dice.below(4) == 0 else ""
        if dice.below(3) == 0:
            last = "".join(dice.one_of(_SYLLABLES) for _ in range(2 + dice.below(2))).capitalize()
        else:
            last = dice.skewed(_LAST_NAMES)
        made.append(f"{dice.skewed(_FIRST_NAMES)}{initial} {last}")
    return made


# --- Files -------------------------------------------------------------------------------------


def sources_of(path: Path, column: str | None = None) -> list[Source]:
    """The texts in a Parquet file, a file of lines, or a folder of files of lines.

    Without `column`, a Parquet file gives all its string columns.

    Raises
    ------
    TextError
        There is nothing there, or nothing that is made of strings.
    """
    if path.is_dir():
        if column is not None:
            raise TextError(f"--column {column}: {path} is a folder of files of lines, without columns")
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not files:
            raise TextError(f"{path} is a folder without files")
        return [Source(file.name, partial(_load_lines, file)) for file in files]
    if not path.is_file():
        raise TextError(f"{path}: no such file or folder")
    try:
        with path.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1" or path.suffix == ".parquet"
    except OSError as error:
        raise TextError(f"{path} can't be read: {error.strerror}") from None
    if is_parquet:
        return _parquet_sources(path, column)
    if column is not None:
        raise TextError(f"--column {column}: {path} is no Parquet file, but lines, without columns")
    return [Source(path.name, partial(_load_lines, path))]


def _load_lines(path: Path) -> pa.Array:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TextError(f"{path} can't be read: {error.strerror}") from None
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    column = pa.array(lines, pa.large_binary() if len(data) >= 2**31 else pa.binary())
    try:
        return column.cast(pa.large_string() if len(data) >= 2**31 else pa.string())
    except pa.ArrowInvalid:
        return column  # not UTF-8


def _parquet_sources(path: Path, column: str | None) -> list[Source]:
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise TextError(f"{path} can't be read as Parquet: {error}") from None
    found = [field.name for field in schema if _holds_strings(field.type)]
    known = f"its columns of strings are: {', '.join(found)}" if found else "it has no columns of strings"
    if column is None:
        if not found:
            raise TextError(f"{path}: {known}")
        return [Source(name, partial(_load_parquet, path, name)) for name in found]
    if column not in schema.names:
        raise TextError(f"{path} has no column {column!r}; {known}")
    if column not in found:
        raise TextError(f"{path}: column {column!r} is {schema.field(column).type}, not strings; {known}")
    return [Source(column, partial(_load_parquet, path, column))]


def _holds_strings(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    plain = (
        pa.string(),
        pa.large_string(),
        pa.string_view(),
        pa.binary(),
        pa.large_binary(),
        pa.binary_view(),
    )
    return kind in plain or pa.types.is_fixed_size_binary(kind)


def _load_parquet(path: Path, name: str) -> pa.Array:
    try:
        column = pq.read_table(path, columns=[name]).column(name)
    except (pa.ArrowException, OSError) as error:
        raise TextError(f"{path}: column {name!r} can't be read: {error}") from None
    # One array of a plain type, whatever the file's writer had; large where it needs to be.
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = kind in (pa.string(), pa.large_string(), pa.string_view())
    column = column.cast(pa.large_string() if text else pa.large_binary())
    if text_bytes(column) < 2**31:
        column = column.cast(pa.string() if text else pa.binary())
    combined = column.combine_chunks()
    return pa.concat_arrays(combined.chunks) if isinstance(combined, pa.ChunkedArray) else combined


# --- Sizes -------------------------------------------------------------------------------------


def text_bytes(column: pa.Array | pa.ChunkedArray) -> int:
    """The bytes of all strings of a column, without offsets."""
    return int(pc.sum(pc.binary_length(column)).as_py() or 0)


def tiled(column: pa.Array, size: int) -> pa.Array:
    """The column repeated, or cut, to about `size` bytes."""
    raw = text_bytes(column)
    if size >= 2**31:
        column = column.cast(pa.large_string() if column.type == pa.string() else pa.large_binary())
    copies, rest = divmod(size, raw)
    ends = pc.cumulative_sum(pc.cast(pc.fill_null(pc.binary_length(column), 0), pa.int64())).to_numpy()
    part = column.slice(0, int(ends.searchsorted(rest, side="right")))
    return pa.concat_arrays([column] * copies + [part, column.slice(0, 0)])

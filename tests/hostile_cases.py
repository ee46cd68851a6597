"""What test_hostile.py damages: of each format honest inputs, and what reading a damaged one may give."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import parquet_by_hand as by_hand
import pyarrow as pa
import pyarrow.parquet as pq
import strategies
from helpers import GOLDEN, foreign_column, ipc, words
from hypothesis import given, settings

import fsst
import fsst.compute as fc
from fsst import CorruptDataError, FsstError, SymbolTable
from fsst.delta import delta_decode, delta_encode
from fsst.page import DataPage, PageEncoder, decode_data_page, encode_data_page
from fsst.parquet import ParquetFile, read_table, transcode, write_table
from fsst.parquet_format import Footer, open_input
from fsst.thrift import read_struct, write_struct

# What pyarrow raises at its own formats. MemoryError is none of them, though pa.ArrowMemoryError derives from both.
ARROW_ERRORS = (ValueError, OSError, pa.ArrowException)


class Fault(AssertionError):  # noqa: N818
    """What must not happen: an error that is not documented, wrong data, too much memory or time."""


@dataclass
class Seed:
    """An honest input."""

    name: str
    data: bytes
    context: Any = None  # what reading it needs besides
    expected: Any = None
    fixed: range = range(0)  # bytes whose damage must be noticed, or do nothing
    places: range = range(0)  # bytes that are damaged; all, if empty


@dataclass
class Case:
    """`look(seed, data, place)` returns whether `data` was read. It raises what `errors` documents, Fault otherwise.

    `place` is the byte that was changed, None where the input was cut, -1 where several things have happened to it.
    """

    seeds: Callable[[], list[Seed]]
    look: Callable[[Seed, bytes, int | None], bool]
    errors: tuple[type[Exception], ...] = (CorruptDataError,)
    refuses_cuts: bool = True


CASES: dict[str, Case] = {}

# Tests of their own that may crash, too.
PROPERTIES: dict[str, Callable[[], None]] = {}


# --- Tables, metadata, pages, integers, structs --------------------------------------------------


def _table_seeds() -> list[Seed]:
    seeds = [Seed(format, (GOLDEN / f"table.{format}.bin").read_bytes(), format) for format in ("parquet", "cwida")]
    full = SymbolTable([bytes([i]) for i in range(255)])
    return [*seeds, *(Seed(f"255 symbols, {format}", full.to_bytes(format), format) for format in ("parquet", "cwida"))]


def _look_at_table(seed: Seed, data: bytes, place: int | None) -> bool:
    table = SymbolTable.from_bytes(data, seed.context)
    # What was believed serves like any other table.
    text = b"".join(table.symbols)[:300] + bytes(range(256))
    if table.decompress(table.compress(text)) != text:
        raise Fault("a table that was read does not give back what it compressed")
    if pickle.loads(pickle.dumps(table)) != table:
        raise Fault("a table that was read is another after pickling")
    for format in ("parquet", "cwida"):
        with contextlib.suppress(ValueError):
            again = SymbolTable.from_bytes(table.reordered(format).to_bytes(format), format)
            if sorted(again.symbols) != sorted(table.symbols):
                raise Fault(f"a table that was read is another by way of {format}")
    with contextlib.suppress(CorruptDataError):
        table.decompress(bytes(range(256)) * 5)
    return True


CASES["table"] = Case(_table_seeds, _look_at_table)


def _metadata_seeds() -> list[Seed]:
    table = SymbolTable([b"the", b"a"]).reordered()
    types = [fsst.FsstType(table, kind) for kind in (pa.string(), pa.binary_view(), pa.binary(3))]
    return [Seed(str(kind), kind.__arrow_ext_serialize__()) for kind in types]


def _look_at_metadata(seed: Seed, data: bytes, place: int | None) -> bool:
    kind = fsst.FsstType.__arrow_ext_deserialize__(pa.binary(), data)
    if fsst.FsstType.__arrow_ext_deserialize__(pa.binary(), kind.__arrow_ext_serialize__()) != kind:
        raise Fault(f"{kind!r} does not come back from its own metadata")
    return True


CASES["metadata"] = Case(_metadata_seeds, _look_at_metadata)


def _page_seeds() -> list[Seed]:
    rows = [*words(3, 40), "", "a"]
    column = fsst.compress(rows)
    seeds = [Seed("PLAIN", encode_data_page(column[:5]), context=(column.symbol_table, 5))]
    seeds.append(Seed("delta", encode_data_page(column), context=(column.symbol_table, len(rows))))
    seeds.append(Seed("no values", encode_data_page(column[:0]), context=(column.symbol_table, 0)))
    return seeds


def _look_at_page(seed: Seed, data: bytes, place: int | None) -> bool:
    table, count = seed.context
    page = DataPage(data, table, count)
    repr(page)
    read = []
    for row in range(count):
        try:
            read.append(page[row].as_py())
        except CorruptDataError:
            read.append(None)
    picked = decode_data_page(data, table, count, storage_type=pa.large_binary())
    plain = decode_data_page(data, table, count, compressed=False).to_pylist()
    if not read == plain == picked.to_pylist() == page.take(list(range(count)), compressed=False).to_pylist():
        raise Fault("ways of reading a page differ")
    return True


CASES["page"] = Case(_page_seeds, _look_at_page)


def _integer_seeds() -> list[Seed]:
    rng = np.random.default_rng(5)
    seeds = []
    for dtype in (np.int32, np.int64):
        info = np.iinfo(dtype)
        for name, values in (
            ("steady", np.arange(140)),
            ("wild", rng.integers(info.min, info.max, 140, endpoint=True)),
            ("one", np.array([info.min])),
        ):
            seeds.append(Seed(f"{name} {dtype.__name__}", delta_encode(values.astype(dtype)), context=(dtype, values)))
    return seeds


def _look_at_integers(seed: Seed, data: bytes, place: int | None) -> bool:
    dtype, values = seed.context
    found, end = delta_decode(data, None, dtype)
    if not 0 < end <= len(data) or len(found) > 65536 + 512 * len(data):
        raise Fault(f"{len(found)} integers in {end} of {len(data)} bytes")
    again, _ = delta_decode(delta_encode(found), len(found), dtype)
    if not np.array_equal(again, found):
        raise Fault("integers that were read do not come back")
    delta_decode(data, len(values), dtype)
    return True


CASES["delta"] = Case(_integer_seeds, _look_at_integers)


def _struct_seeds() -> list[Seed]:
    file = _parquet("snappy", True, store_schema=True)
    with open_input(file) as opened:
        footer = Footer(opened)
    with ParquetFile(file) as opened:
        place = opened._footer.row_groups[0].chunks[0]
    return [Seed("footer", write_struct(footer.struct)), Seed("column chunk", write_struct(place.struct))]


def _look_at_struct(seed: Seed, data: bytes, place: int | None) -> bool:
    struct, end = read_struct(data)
    again, _ = read_struct(write_struct(struct))
    if not 0 < end <= len(data) or again != struct:
        raise Fault("a struct that was read does not come back")
    repr(struct)
    return True


CASES["thrift"] = Case(_struct_seeds, _look_at_struct)


# --- Columns -------------------------------------------------------------------------------------

_SET = pa.array(["a", None, "the"])


def _all_true(column: Any) -> Any:
    return pa.array(np.ones(min(len(column), 1000), bool))


# Whatever FsstArray and the package itself do with a column. What is inherited from pyarrow trusts the buffers, as it
# does for any array that has not been validated.
LOOKS: dict[str, Callable[[Any], Any]] = {
    "repr": repr,
    "to_string": lambda c: c.to_string(),
    "html": lambda c: c._repr_html_(),
    "list": lambda c: c.to_pylist(),
    "numpy": lambda c: np.asarray(c),
    "pandas": lambda c: c.to_pandas(),
    "cast": lambda c: c.cast(pa.large_binary()),
    "null_count": lambda c: c.null_count,
    "nbytes": lambda c: c.nbytes,
    "pickle": lambda c: pickle.loads(pickle.dumps(c)),
    "pickled slice": lambda c: pickle.loads(pickle.dumps(c.slice(1))),
    "row": lambda c: [c[row].as_py() for row in (0, 1, -1)],
    "row repr": lambda c: [repr(c[row]) for row in (0, -1)],
    "pickled row": lambda c: [pickle.loads(pickle.dumps(c[row])) for row in (0, -1)],
    "iterate": lambda c: [row.as_py() for row in itertools.islice(c, 5)],
    "rows": lambda c: c[[0, -1, None]],
    "mask": lambda c: c[_all_true(c)],
    "step": lambda c: c[::2],
    "backwards": lambda c: c[::-1],
    "slice": lambda c: c[1:].to_pylist(),
    "take": lambda c: c.take([0, 1]),
    "take last": lambda c: c.take([len(c) - 1]),
    "filter": lambda c: c.filter(_all_true(c)),
    "decompress_rows": lambda c: c.decompress_rows([1, 0, None]),
    "decompress last row": lambda c: c.decompress_rows([len(c) - 1]),
    "reader": lambda c: [c.reader()[row] for row in (0, 1, -1)],
    "reader slice": lambda c: c.reader()[:3],
    "stats": lambda c: c.stats(),
    "decompress": fsst.decompress,
    "compress": fsst.compress,
    "train": fsst.train,
    "encode page": encode_data_page,
    "encode column": lambda c: _encode_column(c),
    "is_in": lambda c: fc.is_in(c, _SET),
    "index_in": lambda c: fc.index_in(c, _SET),
    "is_in itself": lambda c: fc.is_in(_SET, c),
    "in large set": lambda c: fc.index_in(c, pa.array([str(i) for i in range(20)])),
    "less": lambda c: fc.less(c, "a"),
    "equal to itself": lambda c: fc.equal(c, c),
    "equal to null": lambda c: fc.not_equal(c, pa.scalar(None, pa.string())),
    "min_max": fc.min_max,
    "sort_indices": fc.sort_indices,
    "unique": fc.unique,
    "value_counts": fc.value_counts,
    "dictionary_encode": fc.dictionary_encode,
    "dictionary_encode nulls": lambda c: fc.dictionary_encode(c, "encode"),
    "binary_length": fc.binary_length,
    "utf8_length": fc.utf8_length,
    "regex": lambda c: fc.match_substring_regex(c, "a.*e"),
}
for _name in ("match_substring", "starts_with", "ends_with", "find_substring", "count_substring"):
    for _needle, _fold in (("a", False), ("", False), ("the", False), ("K", True)):
        LOOKS[f"{_name} {_needle!r} {_fold}"] = functools.partial(
            lambda c, f, needle, fold: f(c, needle, ignore_case=fold), f=getattr(fc, _name), needle=_needle, fold=_fold
        )
for _pattern in ("a", "%a%", "a%", "%e", "%", "_h%e_", ""):
    LOOKS[f"like {_pattern!r}"] = functools.partial(lambda c, pattern: fc.match_like(c, pattern), pattern=_pattern)
for _name in ("equal", "not_equal"):
    LOOKS[_name] = functools.partial(lambda c, f: f(c, "the"), f=getattr(fc, _name))


def _encode_column(column: Any) -> list[Any]:
    encoder = PageEncoder(symbol_table=column.symbol_table, page_bytes=64)
    encoder.add(column)
    return list(encoder.finish())


def look_at_column(column: Any, looks: list[str]) -> bool:
    """Every look: an error or a result. Where all of the column is valid, the ways of reading it agree."""
    try:
        column.validate(full=True)
        valid = True
    except ARROW_ERRORS:
        valid = False
    for name in looks:
        try:
            LOOKS[name](column)
        except MemoryError as error:
            raise Fault(f"{name}: {error!r}") from error
        except (*ARROW_ERRORS, IndexError) as error:
            # A column may be too short for a look; pyarrow has no kernel for some types.
            if valid and not isinstance(error, (IndexError, pa.ArrowNotImplementedError, pa.ArrowTypeError)):
                raise Fault(f"the column is valid, but {name} raises {error!r}") from error
        except Exception as error:
            raise Fault(f"{name}: {error!r}") from error
    if valid:
        rows = column.to_pylist()
        numbers = list(range(len(column)))
        others = list(column.reader()), column.decompress_rows(numbers).to_pylist(), column.take(numbers).to_pylist()
        if any(other != rows for other in others) or len(rows) != len(column):
            raise Fault("ways of reading a column differ")
    return valid


def _ipc_seeds() -> list[Seed]:
    table = SymbolTable([b"the", b"a", b" "]).reordered()
    column = fsst.compress(["the a", None, "", "a the"], symbol_table=table)
    wide = fsst.FsstType(table, pa.binary(), pa.large_binary())
    large = fsst.FsstArray.from_storage(wide, column.storage.cast(pa.large_binary()))
    batch = pa.record_batch({"x": column, "y": large})
    nested = pa.array([["a", None], None, [], ["the", "a a"]])
    struct = pa.array([{"s": "a"}, None, {"s": "the"}, {"s": None}])
    pair = pa.array([["a", "b"], None, ["the", "a"], ["", None]], pa.list_(pa.string(), 2))
    entry = pa.array([[("k", "a")], None, [], [("a", "the"), ("b", None)]], pa.map_(pa.string(), pa.string()))
    columns = {"l": nested, "s": struct, "p": pair, "m": entry}
    lists = fsst.compress(pa.record_batch(columns), symbol_table=dict.fromkeys(columns, table))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, batch.schema) as writer:
        writer.write_batch(batch)
    return [
        Seed("file", ipc(batch).to_pybytes()),
        Seed("stream", stream.getvalue().to_pybytes(), context="stream"),
        Seed("nested", ipc(lists).to_pybytes()),
    ]


def _look_at_ipc(seed: Seed, data: bytes, place: int | None) -> bool:
    # A batch at a time: pa.Table counts the nulls of a batch whose length nobody has checked yet.
    if seed.context == "stream":
        with pa.ipc.open_stream(data) as reader:
            batches = list(reader)
    else:
        with pa.ipc.open_file(data) as reader:
            batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    looks = list(LOOKS) if place is None else list(LOOKS)[place % 3 :: 3]
    valid = True
    for batch in batches:
        for column in batch.columns:
            try:
                len(column)
            except SystemError:  # pyarrow's, where a file says that there are less than 0 rows
                return False
            if isinstance(column, fsst.FsstArray):
                valid &= look_at_column(column, looks)
            elif seed.name == "nested":
                try:
                    fsst.decompress(column).validate(full=True)
                except (CorruptDataError, TypeError):  # TypeError: nothing compressed in it
                    valid = False
    return valid


CASES["ipc"] = Case(_ipc_seeds, _look_at_ipc, errors=ARROW_ERRORS, refuses_cuts=False)


@settings(max_examples=5 * settings.default.max_examples)
@given(strategies.foreign_columns())
def _look_at_foreign_column(parts: Any) -> None:
    fsst_type, offsets, codes, validity, says = parts
    try:
        column = foreign_column(fsst_type, offsets, codes, validity, **says)
    except ARROW_ERRORS:  # this, pyarrow has seen
        return
    look_at_column(column, list(LOOKS))


PROPERTIES["foreign columns"] = _look_at_foreign_column


# --- Parquet files -------------------------------------------------------------------------------


def _parquet(codec: str, checksum: bool, **options: Any) -> bytes:
    """A file of a flat and a nested column with nulls, two pages each, and a page index."""
    # Few symbols, so that the codes still repeat, and the codec finds something to do.
    table = SymbolTable([b"the", b"a", b"in"]).reordered()
    rows = [f"the tea in {'a thin inn' * (i % 3)}" for i in range(10)]
    rows[1] = rows[7] = None
    rows[2] = ""
    lists = [["the in" * 8, None], [], None, ["the in", "a" * 40], ["x"]] * 2
    sink = pa.BufferOutputStream()
    write_table(
        pa.table({"t": rows, "l": lists}),
        sink,
        columns=["t", "l"],
        symbol_table=table,
        compression=codec,
        write_page_checksum=checksum,
        write_page_index=True,
        write_batch_size=5,
        data_page_size=1,
        **{"store_schema": False, "write_statistics": False, **options},
    )
    return sink.getvalue().to_pybytes()


def _pages_end(data: bytes) -> int:
    with open_input(data) as file:
        return max(chunk.start + chunk.size for group in Footer(file).row_groups for chunk in group.chunks)


def _parquet_seed(name: str, data: bytes, checksum: bool = False) -> Seed:
    fixed = range(_pages_end(data)) if checksum else range(4)
    return Seed(name, data, expected=_rows(read_table(data)), fixed=fixed)


def _parquet_seeds() -> list[Seed]:
    """Each codec with and without checksums: the pages."""
    seeds = []
    for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
        for checksum in (True, False):
            name = f"{codec}, {'checksums' if checksum else 'no checksums'}"
            seed = _parquet_seed(name, _parquet(codec, checksum), checksum)
            seed.places = range(_pages_end(seed.data))
            seeds.append(seed)
    return seeds


def _footer_seeds() -> list[Seed]:
    """Whole files: one of ours, one with all that pyarrow adds, one written by hand."""
    return [
        _parquet_seed("checksums", _parquet("zstd", True), True),
        _parquet_seed("statistics", _parquet("none", False, store_schema=True, write_statistics=True)),
        _parquet_seed("by hand", by_hand.parquet()),
    ]


def _rows(table: pa.Table) -> list[Any]:
    """The columns, strings as bytes: a footer may say either."""

    def plain(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return {name: plain(item) for name, item in value.items()} if isinstance(value, dict) else value

    return [plain(column.to_pylist()) for column in table.columns]


def _read_by_rows(data: bytes) -> pa.Table:
    with ParquetFile(data) as file:
        repr(file)
        count = file.num_rows
        if count > 1000:
            raise Fault(f"a file of {count} rows")
        backwards = file.take(range(count)[::-1])
        return backwards.take(pa.array(range(count)[::-1], pa.int64()))


def _read_plain_copy(data: bytes) -> pa.Table:
    copy = io.BytesIO()
    transcode(data, copy, encoding="plain")
    try:
        table = pq.read_table(copy)
        table.validate(full=True)
    except ARROW_ERRORS as error:
        raise CorruptDataError(f"the copy is as bad as the file: {error}") from error
    return table


READS: dict[str, Callable[[bytes], pa.Table]] = {
    "read": read_table,
    "read compressed": lambda data: fsst.decompress(read_table(data, compressed=True)),
    "take": _read_by_rows,
    "transcode": _read_plain_copy,
}


def _look_at_parquet(seed: Seed, data: bytes, place: int | None) -> bool:
    answers, errors = {}, []
    for name, read in READS.items():
        try:
            answers[name] = _rows(read(data))
        except FsstError as error:
            errors.append(error)
    for name, rows in answers.items():
        if place in seed.fixed and rows != seed.expected:
            raise Fault(f"{name}: wrong data")
        if [len(column) for column in rows] != [len(column) for column in seed.expected]:
            raise Fault(f"{name}: columns of {[len(column) for column in rows]} rows")
        if rows != next(iter(answers.values())):
            raise Fault(f"{' and '.join(answers)} differ")
    if not answers:
        raise errors[0]
    return True


CASES["parquet"] = Case(_parquet_seeds, _look_at_parquet, errors=(FsstError,))
CASES["parquet footer"] = Case(_footer_seeds, _look_at_parquet, errors=(FsstError,))

"""Functions named and behaving as those of `pyarrow.compute`, on compressed columns.

Each takes an `FsstArray`, or a chunked array of them, and returns what the function of the same name in
``pyarrow.compute`` returns for the decompressed column: values, nulls, types and errors. Plain arrays are
handed to pyarrow as they are.

====================  =================================================================================
on the codes          `equal` and `not_equal` with one string, `starts_with`, `ends_with`,
                      `match_substring`, `match_like`, `find_substring`, `count_substring`,
                      `binary_length`, `utf8_length`
on distinct codes     `unique`, `value_counts`, `dictionary_encode`: rows are grouped by their codes,
                      and each distinct row is decompressed once
mostly on the codes   `is_in`, `index_in`: rows that may be in the set are decompressed
run by run            `less` and its like, `match_substring_regex`, `min_max`, `sort_indices`,
                      comparisons of columns, ``ignore_case`` with letters beyond ASCII
====================  =================================================================================

"Run by run" decompresses as much as fits a cache, and asks pyarrow about that, before the next. Views and
fixed-size values go run by run everywhere, where pyarrow has the function for them.

A search looks at the text that the codes stand for, however they were parsed, so columns of other writers are
searched as well. It does not check them: a code without a symbol, or an escape as a row's last code, stands
for nothing there, and text is not checked to be UTF-8. ``column.validate(full=True)`` checks all of it. What
decompresses raises `CorruptDataError`.

>>> import fsst
>>> import fsst.compute as fc
>>> column = fsst.compress(["/checkout/pay", "/cart", None, "/checkout"])
>>> fc.match_substring(column, "checkout").to_pylist()
[True, False, None, True]
>>> fc.starts_with(column, "/ca").to_pylist()
[False, True, None, False]
>>> fc.utf8_length(column).to_pylist()
[13, 5, None, 9]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fsst import _core
from fsst.array import FsstArray, FsstScalar, FsstType, decompress_leaf, validity_of
from fsst.convert import decompress
from fsst.order import order_of_rows
from fsst.runs import RUN_CODES, code_bytes, plain_runs, runs
from fsst.threads import thread_count

__all__ = [
    "binary_length",
    "count_substring",
    "dictionary_encode",
    "ends_with",
    "equal",
    "find_substring",
    "greater",
    "greater_equal",
    "index_in",
    "is_in",
    "less",
    "less_equal",
    "match_like",
    "match_substring",
    "match_substring_regex",
    "min_max",
    "not_equal",
    "sort_indices",
    "starts_with",
    "unique",
    "utf8_length",
    "value_counts",
]

_BOOL, _INT32, _INT64 = pa.bool_(), pa.int32(), pa.int64()
_from_buffers, _py_buffer = pa.Array.from_buffers, pa.py_buffer
_SEARCHED = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_TEXT = (pa.string(), pa.large_string())
_LARGE = (pa.large_string(), pa.large_binary())


# --- Columns and runs --------------------------------------------------------------------------


class _View(NamedTuple):
    """What a search needs to know of a column: looked up once for each array, as on 1000 rows that takes as long
    as the search itself."""

    table: _core.Table
    rows: _core.Column
    length: int
    null_count: int
    validity: pa.Buffer | None
    searched: bool
    text: bool
    large: bool


def _view(column: FsstArray) -> _View:
    view: _View | None = column.__dict__.get("_view")
    if view is None:
        value_type = column.value_type
        kinds = (value_type in _SEARCHED, value_type in _TEXT, value_type in _LARGE)
        rows, validity = column.opened(), validity_of(column.storage)
        table = column.symbol_table._native
        view = column._view = _View(table, rows, len(column), column.null_count, validity, *kinds)
    return view


def _is_compressed(values: Any) -> bool:
    return isinstance(values, (FsstArray, pa.ChunkedArray)) and isinstance(values.type, FsstType)


def _each(values: Any, work: Callable[[FsstArray], pa.Array], result_type: Callable[[], pa.DataType]) -> Any:
    """`work` of an array, or of each chunk; chunked arrays without chunks need to be told the type."""
    if isinstance(values, FsstArray):
        return work(values)
    chunks = [work(chunk) for chunk in values.chunks]
    return pa.chunked_array(chunks, chunks[0].type if chunks else result_type())


def _searched(values: Any) -> bool:
    return _view(values).searched if isinstance(values, FsstArray) else values.type.value_type in _SEARCHED


def _by_runs(values: Any, work: Callable[[pa.Array], pa.Array]) -> Any:
    """`work` of the decompressed column, a run at a time; its result depends on single rows alone."""

    def of_column(column: FsstArray) -> pa.Array:
        results = [work(plain) for plain in plain_runs(column)]
        return results[0] if len(results) == 1 else pa.concat_arrays(results)

    return _each(values, of_column, lambda: work(_empty(values)).type)


def _empty(values: Any) -> pa.Array:
    return pa.array([], values.type.value_type)


def _bools(view: _View, bits: Any) -> pa.Array:
    return _from_buffers(_BOOL, view.length, [view.validity, _py_buffer(bits)], view.null_count)


def _all(view: _View) -> pa.Array:
    return _bools(view, b"\xff" * (-(-view.length // 8)))


def _integers(view: _View, values: Any, large: bool) -> pa.Array:
    kind = _INT64 if large else _INT32
    return _from_buffers(kind, view.length, [view.validity, _py_buffer(values)], view.null_count)


# --- Patterns ----------------------------------------------------------------------------------

# Letters of ASCII that are equal to others when case is ignored: K to the sign of Kelvin, s to the long s.
_ODD_FOLDS = {"k": "\u212a", "s": "\u017f"}


def _pattern_bytes(pattern: Any) -> bytes | None:
    """The pattern's bytes; None for what pyarrow must judge."""
    if isinstance(pattern, str):
        try:
            return pattern.encode("utf-8")
        except UnicodeEncodeError:
            return None
    return pattern if type(pattern) is bytes else None


def _folds_on_codes(values: Any, pattern: bytes) -> bool:
    """Whether case can be ignored on the codes: letters are ASCII, and none is equal to one beyond."""
    if not pattern.isascii():
        return False
    if values.type.value_type not in _TEXT:
        return True
    small = pattern.lower()
    chunks = [values] if isinstance(values, FsstArray) else values.chunks
    for letter, other in _ODD_FOLDS.items():
        if letter.encode() in small:
            for chunk in chunks:
                view = _view(chunk)
                bits = _core.search(view.table, view.rows, other.encode(), False, 1)
                if any(memoryview(bits)):
                    return False
    return True


def _match(
    name: str,
    values: Any,
    pattern: Any,
    ignore_case: bool,
    options: Any,
    threads: int | None,
    on_codes: Callable[[_View, bytes, int], pa.Array],
    visible: bool = False,
) -> Any:
    """What the functions with a pattern share: pyarrow does what is odd, codes what is left.

    With `visible`, nulls hide no codes from `on_codes`, which checks them.
    """
    if options is None and type(ignore_case) is bool and _is_compressed(values):
        text = _pattern_bytes(pattern)
        if text is not None and _searched(values) and not (ignore_case and not _folds_on_codes(values, text)):
            count = thread_count(threads)
            needle = text

            def of_column(column: FsstArray) -> pa.Array:
                view = _view(column)
                if visible and view.null_count:
                    view = view._replace(rows=column.opened_visible())
                return on_codes(view, needle, count)

            return _each(values, of_column, lambda: getattr(pc, name)(_empty(values), pattern).type)
    function = getattr(pc, name)

    def plainly(array: pa.Array) -> Any:
        if options is not None:
            return function(array, options=options)
        return function(array, pattern, ignore_case=ignore_case)

    if not _is_compressed(values):
        return plainly(values)
    plainly(_empty(values))  # raises before anything is decompressed
    return _by_runs(values, plainly)


def match_substring(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    """Whether each row contains `pattern`: see `pyarrow.compute.match_substring`. On the codes.

    Parameters
    ----------
    strings : FsstArray or ChunkedArray
    pattern : str or bytes
    ignore_case : bool
        Letters beyond ASCII go run by run.
    options : pyarrow.compute.MatchSubstringOptions, optional
    threads : int, optional
        At most this many; None means as many as there are cores.

    Examples
    --------
    >>> import fsst
    >>> match_substring(fsst.compress(["Berlin", "Bern", None]), "RL", ignore_case=True).to_pylist()
    [True, False, None]
    """

    def on_codes(view: _View, needle: bytes, threads: int) -> pa.Array:
        if not needle:
            return _all(view)
        return _bools(view, _core.search(view.table, view.rows, needle, ignore_case, threads))

    return _match("match_substring", strings, pattern, ignore_case, options, threads, on_codes)


def _affix(affix: str, ignore_case: bool) -> Callable[[_View, bytes, int], pa.Array]:
    def on_codes(view: _View, constant: bytes, threads: int) -> pa.Array:
        return _bools(view, _core.compare(view.table, view.rows, constant, affix, ignore_case, threads))

    return on_codes


def starts_with(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    """Whether each row begins with `pattern`: see `pyarrow.compute.starts_with`. On the codes."""
    on_codes = _affix("prefix", ignore_case)
    return _match("starts_with", strings, pattern, ignore_case, options, threads, on_codes)


def ends_with(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    """Whether each row ends in `pattern`: see `pyarrow.compute.ends_with`. On the codes."""
    on_codes = _affix("suffix", ignore_case)
    return _match("ends_with", strings, pattern, ignore_case, options, threads, on_codes)


def _locate(name: str, strings: Any, pattern: Any, ignore_case: bool, options: Any, threads: int | None) -> Any:
    def on_codes(view: _View, needle: bytes, threads: int) -> pa.Array:
        count = name == "count_substring"
        results = _core.locate(view.table, view.rows, needle, ignore_case, count, view.large, threads)
        return _integers(view, results, view.large)

    if _is_compressed(strings) and not _pattern_bytes(pattern):
        # What an empty needle means differs: zero, or one more than there are characters or bytes.
        def plainly(array: pa.Array) -> Any:
            if options is not None:
                return getattr(pc, name)(array, options=options)
            return getattr(pc, name)(array, pattern, ignore_case=ignore_case)

        plainly(_empty(strings))
        return _by_runs(strings, plainly)
    return _match(name, strings, pattern, ignore_case, options, threads, on_codes)


def find_substring(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    """At which byte of each row `pattern` occurs first, or -1: see `pyarrow.compute.find_substring`. On the codes."""
    return _locate("find_substring", strings, pattern, ignore_case, options, threads)


def count_substring(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    """How often each row contains `pattern`: see `pyarrow.compute.count_substring`. On the codes."""
    return _locate("count_substring", strings, pattern, ignore_case, options, threads)


def match_substring_regex(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None
) -> Any:
    """Whether each row has a match of a regular expression: see `pyarrow.compute.match_substring_regex`. Run by run."""

    def plainly(array: pa.Array) -> Any:
        if options is not None:
            return pc.match_substring_regex(array, options=options)
        return pc.match_substring_regex(array, pattern, ignore_case=ignore_case)

    if not _is_compressed(strings):
        return plainly(strings)
    plainly(_empty(strings))
    return _by_runs(strings, plainly)


# --- LIKE --------------------------------------------------------------------------------------

# pyarrow takes these forms for a plain search, in this order, a backslash in them being a backslash then.
_IS_SUBSTRING = re.compile(rb"%+((?:[^%_]*[^\\%_])?)%+", re.DOTALL)
_IS_PREFIX = re.compile(rb"((?:[^%_]*[^\\%_])?)%+", re.DOTALL)
_IS_SUFFIX = re.compile(rb"%+([^%_]*)", re.DOTALL)

_ANY_CHARACTER, _ANYTHING = 256, 257
# Parts between two % up to which rows are tried from each byte on. pyarrow takes a time that does not depend on it.
_MOST_TRIED = 64


@lru_cache(maxsize=64)
def _like_parts(pattern: bytes) -> tuple[tuple[int, ...], bytes]:
    """A pattern as bytes and wildcards, and its longest run of bytes."""
    parts: list[int] = []
    escaped = False
    for byte in pattern:
        if not escaped and byte == ord("\\"):
            escaped = True
            continue
        if not escaped and byte == ord("%"):
            if parts[-1:] != [_ANYTHING]:
                parts.append(_ANYTHING)
        elif not escaped and byte == ord("_"):
            parts.append(_ANY_CHARACTER)
        else:
            parts.append(byte)
        escaped = False
    pieces = (
        "".join(chr(part) for part in parts).replace(chr(_ANYTHING), chr(_ANY_CHARACTER)).split(chr(_ANY_CHARACTER))
    )
    return tuple(parts), max(pieces, key=len).encode("latin-1")


def _is_laborious(pattern: bytes) -> bool:
    """Whether rows would be tried with more than `_MOST_TRIED` parts again and again."""
    if any(form.fullmatch(pattern) for form in (_IS_SUBSTRING, _IS_PREFIX, _IS_SUFFIX)):
        return False
    parts, _ = _like_parts(pattern)
    longest = max(map(len, "".join(map(chr, parts)).split(chr(_ANYTHING))))
    return _ANYTHING in parts and longest > _MOST_TRIED


def match_like(
    strings: Any, /, pattern: Any = None, *, ignore_case: bool = False, options: Any = None, threads: int | None = 1
) -> Any:
    r"""Whether each row is like a pattern of SQL's: see `pyarrow.compute.match_like`.

    ``%`` stands for anything, ``_`` for one character (one byte of a binary column), and a backslash takes the
    next character as it is. On the codes: patterns that begin with, end in or contain one string are searched
    as that; of others the longest piece is, and rows that contain it are decompressed one at a time. With
    `ignore_case`, and with more than 64 bytes between two ``%``, the others go run by run.

    Examples
    --------
    >>> import fsst
    >>> match_like(fsst.compress(["50%", "50x", "5"]), r"50\%").to_pylist()
    [True, False, False]
    """

    def on_codes(view: _View, text: bytes, threads: int) -> pa.Array:
        table, rows = view.table, view.rows
        if match := _IS_SUBSTRING.fullmatch(text):
            return _bools(view, _core.search(table, rows, match[1], ignore_case, threads)) if match[1] else _all(view)
        if match := _IS_PREFIX.fullmatch(text):
            return _bools(view, _core.compare(table, rows, match[1], "prefix", ignore_case, threads))
        if match := _IS_SUFFIX.fullmatch(text):
            return _bools(view, _core.compare(table, rows, match[1], "suffix", ignore_case, threads))
        parts, piece = _like_parts(text)
        if _ANYTHING not in parts and _ANY_CHARACTER not in parts:
            return _bools(view, _core.compare(table, rows, bytes(parts), "whole", False, threads))
        return _bools(view, _core.like(table, rows, parts, view.text, piece, threads))

    if _is_compressed(strings):
        text = _pattern_bytes(pattern)
        # pyarrow's expressions above do not match bytes that are not UTF-8.
        odd = text is None or not _is_utf8(text)
        # With `ignore_case` a backslash is an escape to pyarrow in the plain forms as well.
        folded = ignore_case and (b"\\" in (text or b"") or not _is_search(text))
        if odd or options is not None or folded or _is_laborious(text or b""):

            def plainly(array: pa.Array) -> Any:
                if options is not None:
                    return pc.match_like(array, options=options)
                return pc.match_like(array, pattern, ignore_case=ignore_case)

            plainly(_empty(strings))
            return _by_runs(strings, plainly)
    return _match("match_like", strings, pattern, ignore_case, options, threads, on_codes, visible=True)


def _is_search(pattern: bytes | None) -> bool:
    """Whether a pattern is for a substring, a beginning or an end."""
    return pattern is not None and any(form.fullmatch(pattern) for form in (_IS_SUBSTRING, _IS_PREFIX, _IS_SUFFIX))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


# --- Lengths -----------------------------------------------------------------------------------


def _lengths(name: str, strings: Any, characters: bool) -> Any:
    if isinstance(strings, FsstArray):
        view = _view(strings)
        if view.text if characters else view.searched:
            return _lengths_on_codes(strings, view, characters)
    function = getattr(pc, name)
    if not _is_compressed(strings):
        return function(strings)
    if strings.type.value_type not in (_TEXT if characters else _SEARCHED):
        function(_empty(strings))
        return _by_runs(strings, function)
    return _each(
        strings,
        lambda column: _lengths_on_codes(column, _view(column), characters),
        lambda: function(_empty(strings)).type,
    )


def _lengths_on_codes(column: FsstArray, view: _View, characters: bool) -> pa.Array:
    rows = column.opened_visible() if view.null_count else view.rows
    results = _core.lengths(view.table, rows, view.large, characters)
    if results is None:
        return _integers(view, _core.lengths(view.table, rows, True, characters), True).cast(_INT32)
    return _integers(view, results, view.large)


def binary_length(strings: Any, /) -> Any:
    """Each row's length in bytes: see `pyarrow.compute.binary_length`. Adds up the symbols' lengths.

    Raises
    ------
    CorruptDataError
        A row's codes are invalid.
    """
    return _lengths("binary_length", strings, False)


def utf8_length(strings: Any, /) -> Any:
    """Each row's length in characters: see `pyarrow.compute.utf8_length`. Adds up the symbols' characters.

    Raises
    ------
    CorruptDataError
        A row's codes are invalid. Text that is not UTF-8 is not noticed.
    """
    return _lengths("utf8_length", strings, True)


# --- Comparisons -------------------------------------------------------------------------------

_FLIPPED = {
    "equal": "equal",
    "not_equal": "not_equal",
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
}


def _constant_bytes(value: Any) -> bytes | None:
    """The bytes of one string to compare with; None for what pyarrow must judge."""
    if isinstance(value, pa.Scalar):
        if value.type not in _SEARCHED or not value.is_valid:
            return None
        return bytes(value.as_buffer())
    if type(value) is str or type(value) is bytes:
        return _pattern_bytes(value)
    return None


def _operand(value: Any) -> Any:
    """What pyarrow makes of it: arrays of sequences; and a compressed column's row as the string it is."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return pa.array(value)
    return pa.scalar(value.as_py(), value.type.value_type) if isinstance(value, FsstScalar) else value


def _compare(name: str, x: Any, y: Any, threads: int | None) -> Any:
    if _is_compressed(x) or _is_compressed(y):
        x, y = _operand(x), _operand(y)
    if _is_compressed(x) and name in ("equal", "not_equal") and _searched(x):
        constant = _constant_bytes(y)
        if constant is not None:
            count = thread_count(threads)
            if isinstance(x, FsstArray):
                return _equal_on_codes(name, _view(x), constant, count)
            return pa.chunked_array([_equal_on_codes(name, _view(chunk), constant, count) for chunk in x.chunks], _BOOL)
    function = getattr(pc, name)
    if not _is_compressed(x):
        if not _is_compressed(y):
            return function(x, y)
        if isinstance(x, (pa.Array, pa.ChunkedArray)):
            return _compare_columns(function, x, y)
        return _compare(_FLIPPED[name], y, x, threads)
    if isinstance(y, (pa.Array, pa.ChunkedArray)):
        return _compare_columns(function, x, y)
    function(_empty(x), y)
    return _by_runs(x, lambda plain: function(plain, y))


def _equal_on_codes(name: str, view: _View, constant: bytes, threads: int) -> pa.Array:
    bits = _core.compare(view.table, view.rows, constant, "whole", False, threads)
    return _bools(view, bits if name == "equal" else _core.invert(bits))


def _compare_columns(function: Callable[..., Any], x: Any, y: Any) -> Any:
    """Row by row, in runs of both columns."""
    kinds = [_empty(side) if _is_compressed(side) else side.slice(0, 0) for side in (x, y)]
    function(*kinds)  # raises where pyarrow has no such function
    if len(x) != len(y):
        raise pa.ArrowInvalid("Array arguments must all be the same length")
    chunked = isinstance(x, pa.ChunkedArray) or isinstance(y, pa.ChunkedArray)
    results: list[pa.Array] = []
    row = 0
    first = x if _is_compressed(x) else y
    for chunk in [first] if isinstance(first, FsstArray) else first.chunks:
        for run in runs(chunk):
            sides = []
            for side in (x, y):
                part = side.slice(row, len(run))
                if _is_compressed(part):
                    parts = [part] if isinstance(part, FsstArray) else part.chunks
                    plain = [decompress_leaf(piece, large=True) for piece in parts]
                    part = plain[0] if len(plain) == 1 else pa.chunked_array(plain, part.type.value_type)
                sides.append(part)
            result = function(*sides)
            results += result.chunks if isinstance(result, pa.ChunkedArray) else [result]
            row += len(run)
    if chunked:
        return pa.chunked_array(results, _BOOL)
    return results[0] if len(results) == 1 else pa.concat_arrays(results)


def equal(x: Any, y: Any, /, *, threads: int | None = 1) -> Any:
    """Whether rows are equal: see `pyarrow.compute.equal`. With one string on the codes, otherwise run by run.

    Examples
    --------
    >>> import fsst
    >>> equal(fsst.compress(["a", None, "b"]), "a").to_pylist()
    [True, None, False]
    """
    return _compare("equal", x, y, threads)


def not_equal(x: Any, y: Any, /, *, threads: int | None = 1) -> Any:
    """Whether rows differ: see `pyarrow.compute.not_equal`. With one string on the codes, otherwise run by run."""
    return _compare("not_equal", x, y, threads)


def less(x: Any, y: Any, /) -> Any:
    """Whether rows come before: see `pyarrow.compute.less`. Run by run."""
    return _compare("less", x, y, 1)


def less_equal(x: Any, y: Any, /) -> Any:
    """Whether rows come before or are equal: see `pyarrow.compute.less_equal`. Run by run."""
    return _compare("less_equal", x, y, 1)


def greater(x: Any, y: Any, /) -> Any:
    """Whether rows come after: see `pyarrow.compute.greater`. Run by run."""
    return _compare("greater", x, y, 1)


def greater_equal(x: Any, y: Any, /) -> Any:
    """Whether rows come after or are equal: see `pyarrow.compute.greater_equal`. Run by run."""
    return _compare("greater_equal", x, y, 1)


# --- Membership --------------------------------------------------------------------------------


def _look_up(name: str, values: Any, value_set: Any, skip_nulls: bool, options: Any) -> Any:
    function = getattr(pc, name)
    if _is_compressed(value_set):
        # pyarrow would look for rows among the set's codes.
        value_set = decompress(value_set, large=True)

    def plainly(array: pa.Array) -> Any:
        if options is not None:
            return function(array, options=options)
        return function(array, value_set, skip_nulls=skip_nulls)

    if not _is_compressed(values):
        return plainly(values)
    absent = plainly(pa.nulls(0, values.type.value_type))
    wanted = _few_strings(value_set) if options is None and _searched(values) else None
    if wanted is None:
        # pyarrow hashes the set anew for each run: these are longer where the set is large.
        codes = max(RUN_CODES, 32 * len(value_set) if options is None else 0)
        return _each(values, lambda column: _look_up_runs(column, plainly, codes), lambda: absent.type)

    def on_codes(column: FsstArray) -> pa.Array:
        view = _view(column)
        bits = None
        for text in wanted:
            more = np.asarray(_core.compare(view.table, view.rows, text, "whole", False, 1), np.uint8)
            bits = more if bits is None else bits | more
        found = pa.Array.from_buffers(_BOOL, view.length, [None, pa.py_buffer(np.ascontiguousarray(bits))])
        if name == "is_in":
            # What pyarrow makes of a null does not depend on the row.
            of_null = plainly(pa.nulls(1, column.value_type))[0]
            return pc.if_else(column.storage.is_null(), of_null, found) if column.null_count else found
        # Rows found, and nulls, are looked up; the others are nowhere.
        chosen = pc.indices_nonzero(pc.or_(found, column.storage.is_null()) if column.null_count else found)
        looked_up = plainly(decompress_leaf(column.take(chosen), large=True).cast(column.value_type))
        positions = np.full(len(column), -1, np.int64)
        positions[chosen.to_numpy()] = np.arange(len(chosen))
        return looked_up.take(pa.array(positions, mask=positions < 0))

    return _each(values, on_codes, lambda: absent.type)


def _few_strings(value_set: Any) -> list[bytes] | None:
    """The strings of a small set; None where it is no set of strings, or not small."""
    if not isinstance(value_set, pa.Array) or value_set.type not in _SEARCHED or not 0 < len(value_set) <= 8:
        return None
    texts = [bytes(value.as_buffer()) for value in value_set if value.is_valid]
    return texts or None


def _look_up_runs(column: FsstArray, plainly: Callable[[pa.Array], pa.Array], codes: int) -> pa.Array:
    results = [plainly(plain) for plain in plain_runs(column, codes)]
    return results[0] if len(results) == 1 else pa.concat_arrays(results)


def is_in(values: Any, /, value_set: Any = None, *, skip_nulls: bool = False, options: Any = None) -> Any:
    """Whether rows are in a set: see `pyarrow.compute.is_in`. Up to 8 strings on the codes, otherwise run by run."""
    return _look_up("is_in", values, value_set, skip_nulls, options)


def index_in(values: Any, /, value_set: Any = None, *, skip_nulls: bool = False, options: Any = None) -> Any:
    """Where in a set rows are: see `pyarrow.compute.index_in`. Up to 8 strings on the codes, otherwise run by run."""
    return _look_up("index_in", values, value_set, skip_nulls, options)


# --- Distinct values ---------------------------------------------------------------------------


def _chunks(values: Any) -> list[FsstArray]:
    return [values] if isinstance(values, FsstArray) else list(values.chunks)


def _distinct(column: FsstArray) -> tuple[pa.Array, pa.Array]:
    """For each row the number of its codes among the distinct ones (null for a null), and those as text.

    Equal codes are equal text; different codes may be as well, where they were parsed otherwise.
    """
    grouped = column.visible_storage().dictionary_encode()
    codes = FsstArray.from_storage(column.type, grouped.dictionary)
    return grouped.indices, decompress_leaf(codes, large=False)


def _encode(values: Any, null_encoding: str) -> tuple[list[pa.Array], pa.Array]:
    """The rows of each chunk as numbers of the distinct values, as pyarrow numbers them."""
    groups = [_distinct(column) for column in _chunks(values)]
    null_is_value = null_encoding == "encode"
    pieces: list[tuple[pa.Array, pa.Array]] = []
    for indices, texts in groups:
        if null_is_value and indices.null_count:
            # The null becomes a value where it stands first, so that values are numbered in order of appearance.
            first = int(pc.index(indices.is_null(), True).as_py())
            before = indices.slice(0, first)
            at = (pc.max(before).as_py() + 1) if first else 0
            nulls = pa.nulls(1, texts.type)
            texts_with = pa.concat_arrays([texts.slice(0, at), nulls, texts.slice(at)])
            moved = pc.if_else(pc.greater_equal(indices, at), pc.add(indices, pa.scalar(1, pa.int32())), indices)
            indices, texts = pc.fill_null(moved, pa.scalar(at, pa.int32())), texts_with
        pieces.append((indices, texts))
    if not pieces:
        return [], _empty(values)
    encoded = pc.dictionary_encode(pa.concat_arrays([texts for _, texts in pieces]), null_encoding)
    numbers = []
    first = 0
    for indices, texts in pieces:
        numbers.append(encoded.indices.slice(first, len(texts)).take(indices))
        first += len(texts)
    return numbers, encoded.dictionary


def dictionary_encode(array: Any, /, null_encoding: str = "mask", *, options: Any = None) -> Any:
    """Rows as numbers of distinct values: see `pyarrow.compute.dictionary_encode`. Groups rows by their codes.

    Examples
    --------
    >>> import fsst
    >>> dictionary_encode(fsst.compress(["a", "b", None, "a"])).indices.to_pylist()
    [0, 1, None, 0]
    """
    if options is not None:
        return pc.dictionary_encode(_decompressed(array), options=options)
    if not _is_compressed(array) or null_encoding not in ("mask", "encode"):
        return pc.dictionary_encode(_decompressed(array), null_encoding)
    numbers, dictionary = _encode(array, null_encoding)
    chunks = [pa.DictionaryArray.from_arrays(number, dictionary) for number in numbers]
    if isinstance(array, FsstArray):
        return chunks[0]
    return pa.chunked_array(chunks, pa.dictionary(pa.int32(), array.type.value_type))


def unique(array: Any, /) -> pa.Array:
    """The distinct values, as they appear: see `pyarrow.compute.unique`. Groups rows by their codes."""
    if not _is_compressed(array):
        return pc.unique(array)
    texts = []
    for column in _chunks(array):
        codes = FsstArray.from_storage(column.type, column.visible_storage().unique())
        texts.append(decompress_leaf(codes, large=False))
    return pc.unique(pa.chunked_array(texts, array.type.value_type))


def value_counts(array: Any, /) -> pa.StructArray:
    """The distinct values and how often each occurs: see `pyarrow.compute.value_counts`. Groups rows by their codes."""
    if not _is_compressed(array):
        return pc.value_counts(array)
    texts, counts = [], []
    for column in _chunks(array):
        counted = column.visible_storage().value_counts()
        codes = FsstArray.from_storage(column.type, counted.field("values"))
        texts.append(decompress_leaf(codes, large=False))
        counts.append(counted.field("counts").to_numpy())
    if not texts:
        return pc.value_counts(_empty(array))
    merged = pc.dictionary_encode(pa.concat_arrays(texts), "encode")
    values = merged.dictionary
    totals = np.zeros(len(values), np.int64)
    np.add.at(totals, merged.indices.to_numpy(), np.concatenate(counts))
    return pa.StructArray.from_arrays([values, pa.array(totals, pa.int64())], ["values", "counts"])


# --- Order -------------------------------------------------------------------------------------


def _decompressed(values: Any) -> Any:
    if not _is_compressed(values):
        return values
    if isinstance(values, FsstArray):
        return decompress_leaf(values)
    return pa.chunked_array([decompress_leaf(chunk) for chunk in values.chunks], values.type.value_type)


def min_max(array: Any, /, *, skip_nulls: bool = True, min_count: int = 1, options: Any = None) -> pa.StructScalar:
    """The least and the greatest value: see `pyarrow.compute.min_max`. Run by run."""

    def plainly(plain: Any) -> Any:
        if options is not None:
            return pc.min_max(plain, options=options)
        return pc.min_max(plain, skip_nulls=skip_nulls, min_count=min_count)

    if not _is_compressed(array):
        return plainly(array)
    nothing = plainly(_empty(array))
    if options is not None:
        return plainly(_decompressed(array))
    valid = len(array) - array.null_count
    if (array.null_count and not skip_nulls) or valid < min_count:
        return nothing
    least, greatest = [], []
    for column in _chunks(array):
        for plain in plain_runs(column):
            of_run = pc.min_max(plain)
            least.append(of_run["min"])
            greatest.append(of_run["max"])
    value_type = array.type.value_type
    ends = [pc.min_max(pa.array([value.as_py() for value in side], value_type)) for side in (least, greatest)]
    return pa.scalar({"min": ends[0]["min"].as_py(), "max": ends[1]["max"].as_py()}, nothing.type)


def sort_indices(input: Any, /, sort_keys: Any = (), *, null_placement: Any = None, options: Any = None) -> Any:
    """The row numbers in the order of the values: see `pyarrow.compute.sort_indices`. Run by run.

    Beside the result it takes some 30 bytes a row, and as much of the text as fits a cache.

    Examples
    --------
    >>> import fsst
    >>> sort_indices(fsst.compress(["b", None, "a"])).to_pylist()
    [2, 0, 1]
    """

    def plainly(plain: Any) -> Any:
        if options is not None:
            return pc.sort_indices(plain, options=options)
        if null_placement is None:
            return pc.sort_indices(plain, sort_keys)
        return pc.sort_indices(plain, sort_keys, null_placement=null_placement)

    if not _is_compressed(input):
        return plainly(input)
    nothing = _empty(input)  # raises before anything is decompressed
    plainly(nothing if isinstance(input, FsstArray) else pa.chunked_array([nothing]))
    chunks = [chunk for chunk in _chunks(input) if len(chunk)]
    if sum(len(chunk) + code_bytes(chunk) for chunk in chunks) <= RUN_CODES:
        return plainly(decompress(input, large=True))
    # What the options mean, pyarrow says best.
    order = plainly(pa.array([None, "a", "b"], pa.string())).to_pylist()
    rows = order_of_rows(
        chunks,
        descending=order.index(2) < order.index(1),
        nulls_first=order[0] == 0,
        order_of=lambda plain: plainly(plain).to_numpy(),
    )
    return pa.array(rows, pa.uint64())

"""Thrift's compact protocol, read into plain objects and written back without loss.

Parquet's footer, page headers and page index are Thrift structs. Here they are kept as what stands in the bytes:
fields by number, each with its type, so that fields which nobody here knows survive. A struct that is read and
written again is the same bytes, as long as the writer used the shortest form of each number, which all do.

Nothing is trusted: lengths and counts are held against the bytes that are left before anything is made of them,
and nesting is limited. Reading is native: thousands of page headers stand between a reader and its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fsst import _core
from fsst.errors import CorruptDataError

__all__ = ["Items", "Pairs", "Struct", "read_struct", "write_struct"]

# The protocol's type numbers. A boolean field carries its value in its type.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)

MAX_DEPTH = 64

_INT_BITS = {I16: 16, I32: 32, I64: 64}
_FIXED_BYTES = {BYTE: 1, DOUBLE: 8, UUID: 16}


class Items(NamedTuple):
    """A list or set: the type of its items, and the items. Booleans are the bytes that stand for them."""

    type: int
    values: list[Any]


class Pairs(NamedTuple):
    """A map: the types of keys and values (0 where it is empty), and the pairs."""

    key_type: int
    value_type: int
    values: list[tuple[Any, Any]]


class Struct:
    """Fields by number, in the order of the bytes. Doubles, bytes and UUIDs are kept as their bytes."""

    __slots__ = ("_fields",)

    _fields: dict[int, tuple[int, Any]]

    def __init__(self, *fields: tuple[int, int, Any]) -> None:
        """Fields as (number, type, value), in ascending order of their numbers."""
        self._fields = {number: (kind, value) for number, kind, value in fields}

    @classmethod
    def _wrap(cls, fields: dict[int, tuple[int, Any]]) -> Struct:
        struct = cls.__new__(cls)
        struct._fields = fields
        return struct

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def __iter__(self) -> Iterator[tuple[int, int, Any]]:
        return ((number, kind, value) for number, (kind, value) in self._fields.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Struct({', '.join(f'{number}={value!r}' for number, _, value in self)})"

    def copy(self) -> Struct:
        """A struct with the same fields; the values are shared."""
        return Struct(*self)

    def get(self, number: int, kind: int) -> Any:
        """The value of a field, None where it is missing.

        Raises
        ------
        CorruptDataError
            The field is of another type than `kind`.
        """
        field = self._fields.get(number)
        if field is None:
            return None
        if field[0] != kind and not (kind == TRUE and field[0] == FALSE):
            raise CorruptDataError(f"field {number} has Thrift type {field[0]}, not {kind}")
        return field[1]

    def items(self, number: int, kind: int) -> list[Any] | None:
        """The items of a field that is a list of `kind`, None where it is missing."""
        found = self.get(number, LIST)
        if found is None:
            return None
        if found.type != kind and found.values:
            raise CorruptDataError(f"field {number} is a list of Thrift type {found.type}, not {kind}")
        return list(found.values)

    def set(self, number: int, kind: int, value: Any) -> None:
        """Put a field in place of the one with this number, or among the others in ascending order."""
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        new = number not in self._fields
        self._fields[number] = (kind, value)
        if new and any(known > number for known in self._fields):
            self._fields = dict(sorted(self._fields.items()))

    def drop(self, *numbers: int) -> None:
        """Take fields away; what is not there is no error."""
        for number in numbers:
            self._fields.pop(number, None)


# --- Reading -----------------------------------------------------------------------------------


def read_struct(data: Any, start: int = 0, what: str = "struct") -> tuple[Struct, int]:
    """The struct that begins at byte `start` of `data`, and where it ends.

    Raises
    ------
    CorruptDataError
        The bytes break the protocol; `what` names them in the message.
    """
    struct, end = _core.read_thrift(data, start, what, Struct._wrap, Items, Pairs, MAX_DEPTH)
    return struct, end


# --- Writing -----------------------------------------------------------------------------------


def write_struct(struct: Struct) -> bytes:
    """The bytes of a struct, each number in its shortest form."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


def _write_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _write_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for number, (kind, value) in struct._fields.items():
        delta = number - last
        if 0 < delta <= 15:
            out.append(delta << 4 | kind)
        else:
            out.append(kind)
            _write_int(out, I16, number)
        last = number
        if kind > FALSE:
            _write_value(out, kind, value)
    out.append(0)


def _write_int(out: bytearray, kind: int, value: int) -> None:
    bits = _INT_BITS[kind]
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"{value} does not fit into {bits} bits")
    _write_varint(out, value << 1 if value >= 0 else ~(value << 1))


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in _INT_BITS:
        _write_int(out, kind, value)
    elif kind == BINARY:
        _write_varint(out, len(value))
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind in (LIST, SET):
        count = len(value.values)
        out.append(min(count, 15) << 4 | value.type)
        if count >= 15:
            _write_varint(out, count)
        for item in value.values:
            _write_value(out, value.type, item)
    elif kind in _FIXED_BYTES:
        out += value
    elif kind in (TRUE, FALSE):
        out.append(value)
    else:
        _write_varint(out, len(value.values))
        if value.values:
            out.append(value.key_type << 4 | value.value_type)
        for key, item in value.values:
            _write_value(out, value.key_type, key)
            _write_value(out, value.value_type, item)

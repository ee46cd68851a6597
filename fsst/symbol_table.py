"""The symbol table: up to 255 symbols, and the codes that stand for them."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from fsst import _core

__all__ = ["SymbolTable"]

FORMATS = ("parquet", "cwida")


def check_format(format: str) -> str:
    if format not in FORMATS:
        raise ValueError(f"format must be 'parquet' or 'cwida', not {format!r}")
    return format


class SymbolTable:
    """An immutable table of at most 255 symbols, byte strings of 1 to 8 bytes.

    Symbol ``i`` is written as the code ``i``. What no symbol begins is escaped: code 255, then the
    byte itself. Tables compare and hash by their symbols and the order these stand in.

    Parameters
    ----------
    symbols : iterable of bytes
        Symbols in code order, all distinct.

    Raises
    ------
    TypeError
        A symbol is not bytes.
    ValueError
        A symbol is empty, longer than 8 bytes, or stands twice; or there are more than 255.

    Examples
    --------
    >>> table = SymbolTable([b"/", b"http://", b"example"])
    >>> table.compress(b"http://example/1")
    b'\\x01\\x02\\x00\\xff1'
    >>> table.decompress(b"\\x01\\x02\\x00\\xff1")
    b'http://example/1'
    """

    __slots__ = ("_native", "_symbols")

    _native: _core.Table
    _symbols: tuple[bytes, ...]

    def __new__(cls, symbols: Iterable[bytes] = ()) -> SymbolTable:
        listed = list(symbols)
        seen: dict[bytes, int] = {}
        for code, symbol in enumerate(listed):
            if isinstance(symbol, bytes) and seen.setdefault(symbol, code) != code:
                raise ValueError(f"symbol {code}, {symbol!r}, already stands at code {seen[symbol]}")
        return cls._wrap(_core.table_from_symbols(listed))

    @classmethod
    def _wrap(cls, native: _core.Table) -> SymbolTable:
        table = super().__new__(cls)
        object.__setattr__(table, "_native", native)
        object.__setattr__(table, "_symbols", native.symbols)
        return table

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a SymbolTable cannot be changed (attribute {name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a SymbolTable cannot be changed (attribute {name!r})")

    @property
    def symbols(self) -> tuple[bytes, ...]:
        """The symbols in code order."""
        return self._symbols

    def __len__(self) -> int:
        return len(self._symbols)

    def __bool__(self) -> bool:
        return True  # an empty table is a table: everything is escaped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymbolTable):
            return NotImplemented
        return self._symbols == other._symbols

    def __hash__(self) -> int:
        return hash(self._symbols)

    def __reduce__(self) -> tuple[Any, ...]:
        # The symbols rather than a format: any order of symbols pickles.
        return _rebuild, (self._symbols, *self._native.cwida_fields)

    def __repr__(self) -> str:
        shown = ", ".join(repr(symbol) for symbol in self._symbols[-6:][::-1])
        more = ", ..." if len(self) > 6 else ""
        return f"<SymbolTable of {len(self)} symbols: {shown}{more}>" if len(self) else "<SymbolTable, empty>"

    def _repr_html_(self) -> str:
        cells = [
            f"<td style='text-align:left'><small>{code}</small> <code>{html.escape(_printable(symbol))}</code></td>"
            for code, symbol in enumerate(self._symbols)
        ]
        rows = "".join(f"<tr>{''.join(cells[i : i + 8])}</tr>" for i in range(0, len(cells), 8))
        return f"<p><b>SymbolTable</b>, {len(self)} symbols, each behind its code</p><table>{rows}</table>"

    def to_bytes(self, format: str = "parquet") -> bytes:
        """Serialize the table.

        Parameters
        ----------
        format : {"parquet", "cwida"}
            The symbol table page body of the Parquet proposal, or ``fsst_export`` of the C++
            reference. Both imply the code of a symbol from its length, in different orders.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            The symbols are not in the order of `format`, so that written tables would give codes
            another meaning (see `reordered`); or the format cannot hold this table.

        Examples
        --------
        >>> SymbolTable([b"a", b"the"]).to_bytes()
        b'\\x02\\x01\\x00\\x01\\x00\\x00\\x00\\x00\\x00athe'
        """
        data = self._native.to_bytes(check_format(format))
        if data is None:
            raise ValueError(
                f"codes would change meaning: {format!r} numbers symbols in another order than this table does. "
                f"Compress with table.reordered({format!r}) instead; codes made with this table stay with this table"
            )
        return data

    @classmethod
    def from_bytes(cls, data: Any, format: str = "parquet") -> SymbolTable:
        """Read a serialized table, checking all of it.

        Tables of other writers may hold a symbol twice, which the constructor refuses; the lower code
        then serves for compressing.

        Parameters
        ----------
        data : bytes-like
            Exactly one table.
        format : {"parquet", "cwida"}
            See `to_bytes`.

        Raises
        ------
        CorruptDataError
            The bytes break the format.

        Examples
        --------
        >>> SymbolTable.from_bytes(b"\\x02\\x01\\x00\\x01\\x00\\x00\\x00\\x00\\x00athe").symbols
        (b'a', b'the')
        """
        return cls._wrap(_core.table_from_bytes(data, check_format(format)))

    def reordered(self, format: str = "parquet") -> SymbolTable:
        """The same symbols, numbered as `format` wants them.

        Codes made with the one table mean something else with the other, unless the tables are equal.

        Examples
        --------
        >>> SymbolTable([b"a", b"the"]).reordered("cwida").symbols
        (b'the', b'a')
        """
        return self._wrap(self._native.reordered(check_format(format)))

    def compress(self, text: Any) -> bytes:
        """Codes of one string (any bytes-like object): greedy longest match."""
        return self._native.compress(text)

    def decompress(self, codes: Any) -> bytes:
        """The string that `codes` (any bytes-like object) stand for.

        Raises
        ------
        CorruptDataError
            A code without a symbol, or an escape without its literal.
        """
        return self._native.decompress(codes)


def _rebuild(symbols: tuple[bytes, ...], terminator: int, zero_terminated: bool) -> SymbolTable:
    return SymbolTable._wrap(_core.table_from_symbols(symbols, terminator, zero_terminated))


def _printable(symbol: bytes) -> str:
    return "".join(chr(byte) if 32 < byte < 127 else "␣" if byte == 32 else f"\\x{byte:02x}" for byte in symbol)

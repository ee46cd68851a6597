"""What a column's symbols do for it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["ColumnStats"]


@dataclass(frozen=True, repr=False)
class ColumnStats:
    """Where the bytes of a compressed column go. Made by `FsstArray.stats`.

    Attributes
    ----------
    rows : int
    text_bytes : int
        Bytes of the decompressed values.
    code_bytes : int
        Bytes of the codes, escapes and literals included; offsets and validity are not.
    table_bytes : int
        Bytes of the serialized symbol table.
    escapes : int
        Bytes of text that no symbol covers; each takes two bytes of codes.
    symbols : tuple of bytes
        The symbols in code order.
    uses : tuple of int
        How often each symbol is used, in code order.
    """

    rows: int
    text_bytes: int
    code_bytes: int
    table_bytes: int
    escapes: int
    symbols: tuple[bytes, ...]
    uses: tuple[int, ...]

    @property
    def factor(self) -> float:
        """Text bytes / (code bytes + table bytes)."""
        return self.text_bytes / (self.code_bytes + self.table_bytes)

    def table(self) -> pa.Table:
        """A row for each symbol, what saves most first.

        Columns: ``code``, ``symbol``, ``uses``, and ``saved``: the bytes by which its uses are shorter than
        the text they stand for, minus its own bytes in the symbol table.
        """
        rows = [
            (code, symbol, uses, uses * (len(symbol) - 1) - len(symbol))
            for code, (symbol, uses) in enumerate(zip(self.symbols, self.uses, strict=True))
        ]
        rows.sort(key=lambda row: (-row[3], row[0]))
        types = [("code", pa.uint8()), ("symbol", pa.binary()), ("uses", pa.int64()), ("saved", pa.int64())]
        return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(types)})

    def __repr__(self) -> str:
        lines = [
            f"<ColumnStats: {self.rows} rows, {self.text_bytes} bytes of text in {self.code_bytes} of codes and "
            f"{self.table_bytes} of table, factor {self.factor:.3f}; {self.escapes} escapes>"
        ]
        best = self.table().slice(0, 10).to_pylist()
        lines += [f"  {row['symbol']!r:24} used {row['uses']:>9} times, saves {row['saved']:>9} bytes" for row in best]
        if len(self.symbols) > len(best):
            lines.append(f"  ... {len(self.symbols) - len(best)} more, see .table()")
        return "\n".join(lines)

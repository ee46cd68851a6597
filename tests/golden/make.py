"""Writes the golden files next to it, all from the table and rows below: `python tests/golden/make.py`.

Table and codes come from tests/reference.py, the column from pyarrow alone: nothing here is the package's
word about itself. cwida_vectors.json is not made here, but by the C++ reference (commit 4433be9).
"""

import base64
import json
import struct
import sys
from pathlib import Path

import pyarrow as pa

HERE = Path(__file__).parent
BAD = HERE / "bad"
sys.path.insert(0, str(HERE.parent))

import parquet_by_hand  # noqa: E402
import reference  # noqa: E402

# All lengths, symbols that begin others, 00 and FF; in the order of the "parquet" format.
SYMBOLS = [b"a", b"\x00", b"\xff", b"ab", b"qu", b"the", b"abcd", b"/page", b"/data", b"https:"]
SYMBOLS += [b"http://", b"example", b"https://", b"test.com"]
ROWS = ["https://example/page1", None, "", "the quabcde", "a\x00b", "Grüße", None, "http://test.com/data"]

# The worked example of the Parquet proposal (6.1 and 6.2).
PAGE_SYMBOLS = [b"/page", b"/data", b"http://", b"example", b"https://", b"test.com"]
PAGE_ROWS = [b"https://example/page1", b"https://example/page2", b"https://test.com/data", b"http://example"]

# The same in the order of "cwida".
CWIDA_SYMBOLS = reference.cwida_order(SYMBOLS)


def metadata(**changes):
    fields = {
        "version": 1,
        "value_type": "string",
        "symbol_table": base64.b64encode(reference.write_parquet(SYMBOLS)).decode(),
        **changes,
    }
    return json.dumps(fields).encode()


def column(extension_metadata, codes, storage_type=None):
    """An IPC file of one column, `text`, that says it is of extension type fsst."""
    field = pa.field(
        "text",
        pa.binary() if storage_type is None else storage_type,
        metadata={"ARROW:extension:name": "fsst", "ARROW:extension:metadata": extension_metadata},
    )
    batch = pa.record_batch([pa.array(codes, field.type)], schema=pa.schema([field]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write(batch)
    return sink.getvalue().to_pybytes()


def patched(data, old, new):
    assert data.count(old) == 1 and len(old) == len(new), (data.count(old), old, new)
    return data.replace(old, new)


def page(offset_encoding, offsets, codes, num_values=4, offsets_length=None):
    length = len(offsets) if offsets_length is None else offsets_length
    return struct.pack("<Bii", offset_encoding, num_values, length) + offsets + codes


def bad_pages():
    """Pages of what should be four values."""
    rows = [reference.compress(PAGE_SYMBOLS, row) for row in PAGE_ROWS]
    good = reference.write_page(rows, delta=False)
    codes = b"".join(rows)

    def plain(*ends):
        return page(0, struct.pack(f"<{len(ends)}i", *ends), codes)

    ends = [5, 10, 13, 15]
    delta = reference.delta_encode(ends)
    block = delta[5:]  # behind the header: 128, 4, count, first value
    assert reference.write_page(rows, delta=True) == page(1, delta, codes)
    assert plain(*ends) == good and delta[:5] == b"\x80\x01\x04\x04\x0a"
    return {
        "page-empty-file.bin": b"",
        "page-header-cut.bin": good[:8],
        "page-offset-encoding-2.bin": b"\2" + good[1:],
        "page-one-value-more.bin": page(0, struct.pack("<5i", *ends, 15), codes, 5),
        "page-one-value-less.bin": page(0, struct.pack("<3i", 5, 10, 15), codes, 3),
        "page-num-values-negative.bin": page(0, good[9:25], codes, -4),
        "page-offsets-length-negative.bin": page(0, good[9:25], codes, 4, -16),
        "page-offsets-length-huge.bin": page(0, good[9:25], codes, 4, 2**31 - 1),
        "page-offsets-length-short.bin": page(0, good[9:25], codes, 4, 12),
        "page-offsets-cut.bin": good[:24],
        "page-offset-negative.bin": plain(5, -1, 13, 15),
        "page-offsets-decrease.bin": plain(5, 13, 10, 15),
        "page-offset-past-end.bin": plain(5, 10, 13, 16),
        "page-offset-huge.bin": plain(5, 10, 2**31 - 1, 15),
        "page-codes-cut.bin": good[:-1],
        "page-byte-after.bin": good + b"\0",
        "page-unknown-code.bin": good[:-1] + b"\6",
        "page-escape-at-end.bin": plain(4, 10, 13, 15),
        "page-delta-cut.bin": page(1, delta[:-1], codes),
        "page-delta-header-cut.bin": page(1, delta[:4], codes),
        "page-delta-byte-after.bin": page(1, delta + b"\0", codes),
        "page-delta-one-value-more.bin": page(1, reference.delta_encode([*ends, 15]), codes),
        "page-delta-offsets-decrease.bin": page(1, reference.delta_encode([5, 13, 10, 15]), codes),
        "page-delta-offset-wraps.bin": page(1, reference.delta_encode([5, 2**31 - 1, -(2**31), 15]), codes),
        "page-delta-block-0.bin": page(1, b"\0\x04\x04\x0a" + block, codes),
        "page-delta-block-100.bin": page(1, b"\x64\x01\x04\x0a" + block, codes),
        "page-delta-miniblocks-0.bin": page(1, b"\x80\x01\x00\x04\x0a" + block, codes),
        "page-delta-miniblocks-8.bin": page(1, b"\x80\x01\x08\x04\x0a" + block, codes),
        "page-delta-width-33.bin": page(1, delta[:6] + b"\x21" + delta[7:10] + bytes(33 * 4), codes),
        "page-delta-first-2-31.bin": page(1, delta[:4] + reference.zigzag(2**31) + block, codes),
        "page-delta-varint-of-11-bytes.bin": page(1, delta[:4] + b"\x80" * 10 + b"\0" + block, codes),
    }


def main():
    codes = [None if row is None else reference.compress(SYMBOLS, row.encode()) for row in ROWS]
    table = reference.write_parquet(SYMBOLS)
    cwida = reference.write_cwida(CWIDA_SYMBOLS)
    good = {
        "table.parquet.bin": table,
        "table.cwida.bin": cwida,
        "column_v1.arrow": column(metadata(), codes),
        "codes.json": (
            json.dumps({"rows": ROWS, "codes": [c if c is None else c.hex() for c in codes]}, indent=1) + "\n"
        ).encode(),
        "page.plain.bin": reference.write_page([reference.compress(PAGE_SYMBOLS, row) for row in PAGE_ROWS]),
        "page.delta.bin": reference.write_page(
            [reference.compress(PAGE_SYMBOLS, row) for row in PAGE_ROWS * 50], delta=True
        ),
        "file.fsst.parquet": parquet_by_hand.parquet(),
        "file.fsst-as-10.parquet": parquet_by_hand.parquet(encoding=10),
    }
    plain = column(metadata(), [b"\x00\x01", b"\x02\x02\x02"])
    offsets = struct.pack("<3i", 0, 2, 5)
    bad = {
        # Symbol tables, "parquet".
        "table-empty-file.parquet.bin": b"",
        "table-header-cut.parquet.bin": table[:8],
        "table-symbols-cut.parquet.bin": table[:-1],
        "table-byte-after.parquet.bin": table + b"\0",
        "table-count-too-high.parquet.bin": bytes([table[0] + 1]) + table[1:],
        "table-count-wraps.parquet.bin": bytes([0]) + bytes([255, 1, 0, 0, 0, 0, 0, 0]) + b"a" * 257,
        "table-histogram-moved.parquet.bin": table[:1] + bytes([table[1] - 1, table[2] + 1]) + table[3:],
        # Symbol tables, "cwida".
        "table-header-cut.cwida.bin": cwida[:16],
        "table-symbols-cut.cwida.bin": cwida[:-1],
        "table-byte-after.cwida.bin": cwida + b"\0",
        "table-version.cwida.bin": cwida[:4] + b"\x0b" + cwida[5:],
        "table-big-endian.cwida.bin": cwida[:8][::-1] + cwida[8:],
        "table-endian-byte.cwida.bin": b"\0" + cwida[1:],
        "table-zero-terminated-2.cwida.bin": cwida[:8] + b"\2" + cwida[9:],
        "table-zero-terminated-without-a-symbol.cwida.bin": (
            struct.pack("<QB", 20190218 << 32 | 1 << 8 | 1, 1) + bytes([0, 1, 0, 0, 0, 0, 0, 0]) + b"ab"
        ),
        # Columns: the metadata.
        "column-version-2.arrow": column(metadata(version=2), codes),
        "column-version-missing.arrow": column(metadata().replace(b'"version": 1, ', b""), codes),
        "column-not-json.arrow": column(metadata()[:-1], codes),
        "column-json-list.arrow": column(b"[1]", codes),
        "column-not-ascii.arrow": column(metadata().replace(b"string", b"str\xc3\xafng"), codes),
        "column-value-type-int32.arrow": column(metadata(value_type="int32"), codes),
        "column-table-not-base64.arrow": column(metadata(symbol_table="*" * 12), codes),
        "column-table-cut.arrow": column(metadata(symbol_table=base64.b64encode(table[:-1]).decode()), codes),
        "column-storage-string.arrow": column(metadata(), ["a"], pa.string()),
        "column-storage-int32.arrow": column(metadata(), [1], pa.int32()),
        # Columns: codes and offsets.
        "column-unknown-code.arrow": column(metadata(), [b"\0", b"\x0e"]),
        "column-escape-at-end.arrow": column(metadata(), [b"\0\xff", b"\x41\x42"]),
        "column-not-utf8.arrow": column(metadata(), [b"\xff\xc3\xff\x28"]),
        "column-utf8-cut-between-rows.arrow": column(metadata(), [b"\xff\xc3", b"\xff\xa9"]),
        "column-wrong-width.arrow": column(metadata(value_type="fixed_size_binary[2]"), [b"\0"]),
        "column-offset-negative.arrow": patched(plain, offsets, struct.pack("<3i", -1, 2, 5)),
        "column-offsets-decrease.arrow": patched(plain, offsets, struct.pack("<3i", 0, 5, 3)),
        "column-offset-past-end.arrow": patched(plain, offsets, struct.pack("<3i", 0, 2, 2**31 - 1)),
        **bad_pages(),
        **parquet_by_hand.GOLDEN_BAD,
    }
    BAD.mkdir(exist_ok=True)
    for folder, files in ((HERE, good), (BAD, bad)):
        for name, data in files.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()

"""A whole Parquet file with FSST pages, byte by byte from the rules: docs/format.md and Parquet's own. Nothing of the
package under test is used, and the pieces can be made wrong one at a time.
"""

import struct as packing
import zlib

import pyarrow as pa
import reference

SYMBOLS = [b"/page", b"/data", b"http://", b"example", b"https://", b"test.com"]
PAGES = [
    ["https://example/page1", None, "https://example/page2", ""],
    ["https://test.com/data", "http://example", None],
]
ROWS = [row for page in PAGES for row in page]


# --- Thrift's compact protocol: a value is its type number and its bytes -----------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def i32(value):
    return 5, varint(value * 2 if value >= 0 else -value * 2 - 1)


def i64(value):
    return 6, i32(value)[1]


def text(value):
    return 8, varint(len(value)) + value


def flag(value):
    return (1 if value else 2), b""


def many(kind, values):
    assert len(values) < 15
    return 9, bytes([len(values) << 4 | kind]) + b"".join(value for _, value in values)


def struct(**fields):
    """Fields by names like `f3`, which are in order; None leaves one out."""
    out, last = b"", 0
    for name, value in fields.items():
        if value is not None:
            number = int(name[1:])
            out += bytes([number - last << 4 | value[0]]) + value[1]
            last = number
    return 12, out + b"\0"


# --- The file ----------------------------------------------------------------------------------


def page(kind, part, body, size=None, uncompressed=None, checksum=False, **more):
    """Header and body; `part` is the name of the header's field for this type of page, and its struct."""
    crc = zlib.crc32(body)
    header = {
        "f1": i32(kind),
        "f2": i32(len(body) if uncompressed is None else uncompressed),
        "f3": i32(len(body) if size is None else size),
        "f4": i32(crc - (crc >> 31 << 32)) if checksum else None,
        part[0]: part[1],
        **more,
    }
    return struct(**header)[1] + body


def symbol_table_page(codec=None, kind=0, body=None, part="f9", page_type=4, **options):
    body = reference.write_parquet(SYMBOLS) if body is None else body
    stored = body if codec is None else pa.Codec(codec).compress(body, asbytes=True)
    header = struct(f1=i32(kind), f2=flag(codec is not None))
    return page(page_type, (part, header), stored, **{"uncompressed": len(body), **options})


def data_page(rows, encoding=11, delta=False, codec=None, section=None, header=None, page_type=3, **options):
    codes = [reference.compress(SYMBOLS, row.encode()) for row in rows if row is not None]
    section = reference.write_page(codes, delta=delta) if section is None else section
    stored = section if codec is None else pa.Codec(codec).compress(section, asbytes=True)
    # Definition levels of one bit: groups of eight, packed.
    bits = sum((row is not None) << i for i, row in enumerate(rows))
    groups = (len(rows) + 7) // 8
    levels = varint(groups << 1 | 1) + packing.pack("<Q", bits)[:groups]
    fields = {
        "f1": i32(len(rows)),
        "f2": i32(len(rows) - len(codes)),
        "f3": i32(len(rows)),
        "f4": i32(encoding),
        "f5": i32(len(levels)),
        "f6": i32(0),
        "f7": flag(codec is not None),
        **(header or {}),
    }
    uncompressed = options.pop("uncompressed", len(levels) + len(section))
    return page(page_type, ("f8", struct(**fields)), levels + stored, uncompressed=uncompressed, **options)


def parquet(pages=None, encoding=11, codec=0, meta=None, rows=7, footer_size=None, table=True, column=None):
    """The bytes of a file of one column, `text`. `pages` are all pages, the table's first."""
    if pages is None:
        pages = [symbol_table_page(), *(data_page(page, encoding) for page in PAGES)]
    body = b"".join(pages)
    first = len(pages[0]) if table else 0
    fields = {
        "f1": i32(6),
        "f2": many(5, [i32(3), i32(encoding)]),
        "f3": many(8, [text(b"text")]),
        "f4": i32(codec),
        "f5": i64(rows),
        "f6": i64(len(body)),
        "f7": i64(len(body)),
        "f9": i64(4 + first),
        "f18": i64(4) if table else None,
        "f19": i32(first) if table else None,
        **(meta or {}),
    }
    fields = dict(sorted(fields.items(), key=lambda item: int(item[0][1:])))
    schema = [
        struct(f4=text(b"schema"), f5=i32(1)),
        struct(f1=i32(6), f3=i32(1), f4=text(b"text"), f6=i32(0)),
    ]
    chunk = struct(f2=i64(0), f3=struct(**fields), **(column or {}))
    group = struct(f1=many(12, [chunk]), f2=i64(len(body)), f3=i64(rows))
    footer = struct(f1=i32(2), f2=many(12, schema), f3=i64(rows), f4=many(12, [group]))[1]
    size = len(footer) if footer_size is None else footer_size
    return b"PAR1" + body + footer + packing.pack("<I", size) + b"PAR1"

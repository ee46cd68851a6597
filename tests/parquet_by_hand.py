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


def parquet(pages=None, encoding=11, codec=0, meta=None, rows=7, footer_size=None, table=True, column=None, file=None):
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
    fields = {"f1": i32(2), "f2": many(12, schema), "f3": i64(rows), "f4": many(12, [group]), **(file or {})}
    footer = struct(**fields)[1]
    size = len(footer) if footer_size is None else footer_size
    return b"PAR1" + body + footer + packing.pack("<I", size) + b"PAR1"


# --- Bad files: their bytes, and what the error says about them --------------------------------

TABLE = symbol_table_page()
FIRST, SECOND = (data_page(page) for page in PAGES)
BOMB = 2**31 - 1


def section(**changes):
    """The values section of the first page, with bytes replaced at the given places."""
    codes = [reference.compress(SYMBOLS, row.encode()) for row in PAGES[0] if row is not None]
    good = bytearray(reference.write_page(codes, delta=False))
    for place, byte in changes.items():
        good[int(place[1:])] = byte
    return bytes(good)


def first(chunk_codec=0, **options):
    """A file whose first data page is made with other options."""
    return parquet([TABLE, data_page(PAGES[0], **options), SECOND], codec=chunk_codec)


def second(**options):
    return parquet([TABLE, FIRST, data_page(PAGES[1], **options)])


def table(*arguments, chunk_codec=0, **options):
    return parquet([symbol_table_page(*arguments, **options), FIRST, SECOND], codec=chunk_codec)


CUT_TABLE = reference.write_parquet(SYMBOLS)[:-1]

BAD = {
    # The file and its footer.
    "no bytes": (b"", "a file of 0 bytes"),
    "no magic": (b"PAR2" + parquet()[4:], "begins or ends without"),
    "no magic at the end": (parquet()[:-1] + b"2", "begins or ends without"),
    "footer longer than the file": (parquet(footer_size=BOMB), f"the footer has {BOMB} bytes"),
    "footer too short": (parquet(footer_size=20), "footer"),
    "pages beyond the footer": (
        parquet(meta={"f7": i64(10**12)}),
        "'text', row group 0: its pages take bytes 4 to 4 [+] 10",
    ),
    "pages before the file": (parquet(meta={"f9": i64(-4), "f18": None}), "field 9 of its metadata is -4"),
    "no number of values": (parquet(meta={"f5": None}), "field 5 of its metadata is None"),
    "values as a string": (parquet(meta={"f5": text(b"7")}), "field 5 has Thrift type 8, not 6"),
    "more values than pages": (parquet(rows=9), "its pages hold 7 values, its metadata says 9"),
    "more rows than row groups": (parquet(file={"f3": i64(8)}), "the file has 8 rows, it says, its row groups have 7"),
    "no number of rows": (parquet(file={"f3": None}), "the file has None rows, it says"),
    "encrypted by an integer": (parquet(file={"f8": i32(1)}), "field 8 has Thrift type 5, not 12"),
    "a column encrypted by an integer": (parquet(column={"f8": i32(1)}), "field 8 has Thrift type 5, not 12"),
    "a column encrypted by a struct": (parquet(column={"f9": struct()}), "field 9 has Thrift type 12, not 8"),
    "type of another column": (parquet(meta={"f1": i32(1)}), "it has type 1, the schema says 6"),
    "metadata says fewer bytes": (parquet(meta={"f7": i64(len(TABLE + FIRST) - 5)}), "'text', row group 0"),
    # Which page is where.
    "no symbol table page": (parquet([FIRST, SECOND], table=False), "no symbol table page before its data pages"),
    "data page before the table": (
        parquet([FIRST, TABLE, SECOND], meta={"f9": i64(4)}),
        "row group 0, page 1: a symbol table page stands after other pages",
    ),
    "table twice": (parquet([TABLE, TABLE, FIRST, SECOND]), "page 1: a symbol table page stands after other pages"),
    "dictionary instead of the table": (
        table(page_type=2),
        "page 0: a dictionary page stands where the symbol table page is due",
    ),
    "table page without its header": (table(part="f10"), "has no field 9"),
    "data page of no known type": (first(page_type=7), "page type 7"),
    "index page": (first(page_type=1), "page 1: an index page stands"),
    "another encoding among the pages": (
        second(encoding=0),
        "row group 0, page 2: its encoding is 0",
    ),
    # The symbol table.
    "table of FSST_16": (table(kind=1), "FSST_16, which is not read here"),
    "table of another type": (table(kind=9), "of type 9"),
    "table cut": (
        table(body=CUT_TABLE),
        "row group 0, page 0: symbol table has 48 bytes, but its length histogram asks for 49",
    ),
    "table is a bomb": (
        table("zstd", uncompressed=BOMB, chunk_codec=6),
        "page 0",
    ),
    "table longer than it says": (table("zstd", uncompressed=48, chunk_codec=6), "page 0"),
    # Data pages.
    "page longer than the chunk": (second(size=BOMB), f"page 2: its body has {BOMB}"),
    "page of negative size": (second(size=-1), "page 2: its header has"),
    "page claims 2 GiB": (first(uncompressed=BOMB), f"the header says {BOMB - 2}"),
    "values claimed": (first(header={"f1": i32(BOMB)}), f"{BOMB} are needed"),
    "nulls claimed": (first(header={"f2": i32(2)}), "its header says 2 nulls"),
    "no nulls claimed": (first(header={"f2": i32(0)}), "declares 3 values"),
    "rows claimed": (first(header={"f3": i32(3)}), "nulls in 3 rows"),
    "levels longer than the page": (first(header={"f5": i32(BOMB)}), f"levels take 0 [+] {BOMB}"),
    "levels cut": (first(header={"f5": i32(1)}), "1 bytes hold 0 levels"),
    "wrong checksum": (
        parquet([TABLE, data_page(PAGES[0], checksum=True)[:-1] + b"\0", SECOND]),
        "page 1: its checksum is",
    ),
    "compressed it says": (first(header={"f7": flag(True)}, chunk_codec=6), "page 1: .* zstd"),
    "codec that is none": (first(codec="zstd", chunk_codec=3), "codec 3"),
    "unknown code": (first(section=section(s21=6)), "code 6"),
    "offset past the end": (first(section=section(s9=99)), "page 1: data page: "),
}

# The files that stand in tests/golden/bad: those whose bytes do not depend on the version of a codec.
_OF_CODECS = ("table is a bomb", "table longer than it says", "codec that is none")
GOLDEN_BAD = {
    f"file-{name.replace(' ', '-').lower()}.parquet": data for name, (data, _) in BAD.items() if name not in _OF_CODECS
}

"""Bad Parquet files: an error that says where and shows the numbers, and never a crash, a hang or much memory."""

import io
import random
import re
import resource
import struct as packing
from contextlib import suppress

import numpy as np
import parquet_by_hand as by_hand
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import GOLDEN, run_python, words
from hypothesis import given
from hypothesis import strategies as st
from parquet_by_hand import BAD, BOMB, FIRST, SECOND, TABLE, data_page, flag, i32, i64, many, parquet, section, text
from test_thrift import structs

import fsst
import fsst.parquet
from fsst import CorruptDataError, FsstError, _core
from fsst.parquet import ParquetFile, read_table, transcode, write_table
from fsst.thrift import write_struct


def zstd_bomb(size):
    # 2 GB of zeros in a few hundred bytes, made without having them.
    piece = pa.Codec("zstd").compress(bytes(1 << 20), asbytes=True)
    return piece * (size >> 20)


def look(data):
    """Everything that can be done with a file; the first error is raised."""
    errors = []
    for what in (
        lambda: read_table(data),
        lambda: fsst.decompress(read_table(data, compressed=True)),
        lambda: transcode(data, io.BytesIO(), encoding="plain"),
    ):
        try:
            what()
        except FsstError as error:
            errors.append(error)
    if errors:
        raise errors[0]


@pytest.mark.parametrize("name", BAD)
def test_bad_file(name):
    data, why = BAD[name]
    with pytest.raises(FsstError, match=why) as caught:
        look(data)
    assert isinstance(caught.value, CorruptDataError) or "codec" in name


def test_the_pieces_are_good():
    look(parquet([TABLE, FIRST, SECOND]))
    assert section() in FIRST


@pytest.mark.case(30)
@pytest.mark.parametrize("codec", [1, 2, 4, 6, 7])
def test_pages_that_claim_to_be_huge_take_no_memory(codec):
    name = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}[codec]
    honest = data_page(by_hand.PAGES[0], codec=name)
    bomb = data_page(by_hand.PAGES[0], codec=name, uncompressed=BOMB)
    short = data_page(by_hand.PAGES[0], codec=name, uncompressed=60)
    look(parquet([TABLE, honest, SECOND], codec=codec))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for page in (bomb, short):
        with pytest.raises(CorruptDataError, match=r"row group 0, page 1: .* decompress"):
            look(parquet([TABLE, page, SECOND], codec=codec))
    assert pa.total_allocated_bytes() < 1 << 26
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_page_that_is_more_than_it_says_is_refused_early():
    body = zstd_bomb(1 << 28)
    header = by_hand.struct(f1=i32(1), f2=i32(0), f3=i32(1), f4=i32(11), f5=i32(2), f6=i32(0), f7=flag(True))
    page = by_hand.page(3, ("f8", header), b"\2\1" + body, uncompressed=10_000)
    with pytest.raises(CorruptDataError, match="page 1"):
        look(parquet([TABLE, page], codec=6, rows=1))


def refused_or_read(data):
    """Either an error, or rows as many as there were: bytes of a text may change unseen."""
    try:
        look(data)
        with ParquetFile(data) as file:
            return file.take(range(file.num_rows)).num_rows
    except FsstError:
        return None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise AssertionError(f"an error that does not say where: {error!r}") from error


def transcoded():
    file = io.BytesIO()
    table = pa.table({"text": [*words(1, 40), None, ""], "list": [["a", None], []] * 21})
    source = io.BytesIO()
    pq.write_table(table, source, compression="zstd", write_page_index=True)
    transcode(source, file, only_if_smaller=False, symbol_table=fsst.SymbolTable([b"a", b"th", b"ino"]))
    return file.getvalue()


def test_pages_of_other_encodings_may_be_wrong():
    rng = random.Random(2)
    table = pa.table({"text": [*words(1, 60), None], "list": [["a", None]] * 61})
    for version, dictionary in (("1.0", True), ("2.0", False)):
        file = io.BytesIO()
        pq.write_table(table, file, data_page_version=version, use_dictionary=dictionary, compression="snappy")
        data = file.getvalue()
        for place in range(4, len(data) - 8, 3):
            bad = data[:place] + bytes([data[place] ^ rng.randrange(1, 256)]) + data[place + 1 :]
            with suppress(FsstError):
                transcode(bad, io.BytesIO(), only_if_smaller=False)


def test_a_page_header_whose_fields_are_of_other_types():
    # A list where a struct belongs ended the process: items were looked for beyond its end.
    rows = ["http://example", "test.com"]
    places = np.arange(2)

    def pick(**options):
        page = data_page(rows, **options)
        return _core.fsst_page_rows(page, len(page), 2, places, True, True)

    needed, picked = pick()
    good = data_page(rows)
    assert needed < len(good) and [good[begin:end] for begin, end in picked] == [b"\2\3", b"\5"]
    for number in range(15):
        for kind, value in ((3, b"\7"), (5, b"\7"), (8, b"\1x"), (12, b"\0"), (9, b"\x13\7")):
            others = [many(kind, [(kind, value)] * number), (11, bytes([number])), (10, b"\x0e"), (11, b"\1\x55\2\2")]
            for other in [*others, (13, bytes(16)), flag(True), i64(7), text(bytes(number))]:
                for field in ("f1", "f2", "f3", "f4", "f8"):
                    assert pick(**{field: other}) is None, (field, other)
                # Where levels and values are is taken from whatever number stands there.
                for field in ("f1", "f2", "f3", "f4", "f5", "f6"):
                    found = pick(header={field: other})
                    assert found is None or (field == "f5" and other == i64(7)), (field, other)


def test_a_footer_that_ends_before_its_row_groups():
    # With "0 rows" in front of them it passed for an empty file.
    for rows in (0, 7):
        with pytest.raises(CorruptDataError, match="row groups"):
            transcode(parquet(file={"f3": i64(rows), "f4": None}), io.BytesIO(), encoding="plain")


def test_a_copy_that_pyarrow_cannot_open_is_corrupt(monkeypatch):
    # Nested columns are read by way of a plain copy, whose footer has what damage the file's has.
    data = transcoded()
    assert read_table(data, columns=["list"]).num_rows == 42
    monkeypatch.setattr(fsst.parquet, "plain_copy", lambda *_: io.BytesIO(b"PAR1" + b"\x19" * 60 + b"PAR1"))
    with pytest.raises(CorruptDataError, match="column 'list', row group 0: "):
        read_table(data, columns=["list"])


@given(structs(), st.integers(0, 8), st.binary(max_size=30))
def test_any_struct_for_a_page_header(struct, number, body):
    # As a header, and as a field of one.
    for data in (write_struct(struct), bytes([0x15, 6, 0x15, 2, 0x15, 2, 0x5C]) + write_struct(struct) + b"\0"):
        found = _core.fsst_page_rows(data + body, len(data + body), number, np.arange(number), True, True)
        assert found is None or found[0] > len(data)


def test_an_offset_index_that_lies():
    data = transcoded()
    from fsst.parquet_format import Footer, open_input
    from fsst.thrift import I64

    with open_input(data) as file:
        place = Footer(file).row_groups[0].chunks[0].struct.get(4, I64)
    for at in range(place, place + 12):
        for change in range(1, 256, 5):
            refused_or_read(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])


def test_encrypted_files_are_refused_clearly():
    data = bytearray(parquet())
    data[-4:] = b"PARE"
    with pytest.raises(FsstError, match="encrypted"):
        read_table(bytes(data))
    with pytest.raises(FsstError, match="'text', row group 0 is encrypted"):
        read_table(parquet(column={"f8": by_hand.struct()}))


def test_text_within_lists_is_utf8():
    """As that of flat columns is; pyarrow does not look."""
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(packing.pack("<2i", 0, 2)), pa.py_buffer(b"a\xff")]
    )
    lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), text)
    file = pa.BufferOutputStream()
    write_table(pa.table({"l": lists}), file, columns=["l"], symbol_table=fsst.SymbolTable([b"a"]))
    assert ParquetFile(file.getvalue()).fsst_columns == ["l.list.element"]
    for read in (read_table, lambda file: ParquetFile(file).take([0])):
        with pytest.raises(CorruptDataError, match=r"column 'l', row group 0: .*UTF8"):
            read(file.getvalue())


def test_files_that_refer_to_others_are_refused_clearly():
    struct = by_hand.struct(f1=text(b"other.parquet"))
    root, leaf = by_hand.struct(f4=text(b"schema"), f5=i32(1)), by_hand.struct(f1=i32(6), f3=i32(1), f4=text(b"x"))
    footer = by_hand.struct(
        f1=i32(2),
        f2=many(12, [root, leaf]),
        f3=i64(0),
        f4=many(12, [by_hand.struct(f1=many(12, [struct]), f2=i64(0), f3=i64(0))]),
    )[1]
    with pytest.raises(FsstError, match="lies in another file"):
        read_table(b"PAR1" + footer + packing.pack("<I", len(footer)) + b"PAR1")


@pytest.mark.parametrize(
    ("children", "why"),
    [(2, "ends before the children|has 2 children"), (10**9, "has 1000000000 children"), (-1, "has -1 children")],
)
def test_a_schema_that_lies(children, why):
    good, bad = (by_hand.struct(f4=text(b"schema"), f5=i32(count))[1] for count in (1, children))
    data = parquet().replace(good, bad)
    size = len(data) - len(parquet()) + packing.unpack("<I", parquet()[-8:-4])[0]
    data = data[:-8] + packing.pack("<I", size) + b"PAR1"
    with pytest.raises(CorruptDataError, match=re.compile(why)):
        read_table(data)


def test_the_process_lives():
    """Every bad file of above again, in a process of its own, with little memory."""
    output = run_python(
        """
import resource
import test_parquet_bad as bad
from fsst import FsstError
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
for data, _ in bad.BAD.values():
    try:
        bad.look(data)
    except FsstError:
        pass
print("alive")
"""
    )
    assert output == "alive\n"
    assert GOLDEN.exists()

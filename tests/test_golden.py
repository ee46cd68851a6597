"""The golden files: what was written once is read, now and later; what is bad is refused."""

import json

import parquet_by_hand
import pyarrow as pa
import pytest
import reference
from golden.make import CWIDA_SYMBOLS, PAGE_ROWS, PAGE_SYMBOLS, ROWS, SYMBOLS
from helpers import GOLDEN, run_python

import fsst
import fsst.parquet
from fsst import CorruptDataError, SymbolTable
from fsst.page import decode_data_page, encode_data_page

BAD = sorted(path.name for path in (GOLDEN / "bad").iterdir() if path.suffix in (".bin", ".arrow", ".parquet"))


def read_column(path):
    with pa.ipc.open_file(path) as reader:
        return reader.read_all().column("text")


def test_table_parquet():
    data = (GOLDEN / "table.parquet.bin").read_bytes()
    assert list(SymbolTable.from_bytes(data).symbols) == SYMBOLS
    assert SymbolTable(SYMBOLS).to_bytes() == data


def test_table_cwida():
    data = (GOLDEN / "table.cwida.bin").read_bytes()
    assert list(SymbolTable.from_bytes(data, "cwida").symbols) == CWIDA_SYMBOLS
    assert SymbolTable(SYMBOLS).reordered("cwida").to_bytes("cwida") == data


def test_codes():
    golden = json.loads((GOLDEN / "codes.json").read_text())
    table = SymbolTable(SYMBOLS)
    assert golden["rows"] == ROWS
    for row, codes in zip(golden["rows"], golden["codes"], strict=True):
        if row is not None:
            assert table.compress(row.encode()).hex() == codes
            assert table.decompress(bytes.fromhex(codes)) == row.encode()


def test_column_version_1_is_read():
    column = read_column(GOLDEN / "column_v1.arrow")
    assert column.type == fsst.FsstType(SymbolTable(SYMBOLS), pa.string())
    column.validate(full=True)
    assert column.to_pylist() == ROWS
    assert fsst.decompress(column).equals(pa.chunked_array([pa.array(ROWS)]))


def test_column_version_1_is_what_we_write():
    column = fsst.compress(pa.array(ROWS), symbol_table=SymbolTable(SYMBOLS))
    golden = read_column(GOLDEN / "column_v1.arrow").chunk(0)
    assert column.type.__arrow_ext_serialize__() == golden.type.__arrow_ext_serialize__()
    assert column.storage.equals(golden.storage)


@pytest.mark.parametrize(("name", "rows"), [("plain", PAGE_ROWS), ("delta", PAGE_ROWS * 50)])
def test_page(name, rows):
    data = (GOLDEN / f"page.{name}.bin").read_bytes()
    table = SymbolTable(PAGE_SYMBOLS)
    assert decode_data_page(data, table, len(rows)).to_pylist() == rows
    assert encode_data_page(fsst.compress(rows, symbol_table=table)) == data


@pytest.mark.parametrize("name", ["file.fsst.parquet", "file.fsst-as-10.parquet"])
def test_parquet_files(name):
    assert fsst.parquet.read_table(GOLDEN / name)["text"].to_pylist() == parquet_by_hand.ROWS


def refuse(name):
    path = GOLDEN / "bad" / name
    if name.startswith("page-"):
        decode_data_page(path.read_bytes(), SymbolTable(PAGE_SYMBOLS), len(PAGE_ROWS))
        return
    if path.suffix == ".parquet":
        fsst.decompress(fsst.parquet.read_table(path, compressed=True))
        return
    if path.suffix == ".arrow":
        fsst.decompress(read_column(path))
    else:
        SymbolTable.from_bytes(path.read_bytes(), "cwida" if ".cwida" in name else "parquet")


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_refused(name):
    with pytest.raises(CorruptDataError):
        refuse(name)


def test_every_bad_file_has_its_line_in_the_readme():
    readme = (GOLDEN / "bad" / "README.md").read_text()
    for name in BAD:
        assert f"`{name}`" in readme or f"`{name.split('.')[0]}.*`" in readme, name


LOOKS = {
    "repr": "repr(column)",
    "html": "column._repr_html_()",
    "list": "column.to_pylist()",
    "validate": "column.validate(full=True)",
    "pickle": "pickle.dumps(column.slice(1))",
    "row": "[column[row].as_py() for row in range(-len(column), len(column))]",
    "iterate": "[row.as_py() for row in column]",
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_looking_at_bad_columns_raises_at_most(look):
    """Errors perhaps, but the process lives."""
    output = run_python(
        f"""
import pickle
import fsst, pyarrow as pa
from helpers import GOLDEN
for path in sorted((GOLDEN / "bad").glob("column-*.arrow")):
    try:
        with pa.ipc.open_file(path) as reader:
            column = reader.read_all().column("text").chunk(0)
        {look}
    except ValueError:  # CorruptDataError and pyarrow.ArrowInvalid are some
        pass
print("alive")
"""
    )
    assert output == "alive\n"


def test_make_py_makes_these_files(tmp_path):
    run_python(
        f"""
import pathlib
from golden import make
make.HERE = pathlib.Path({str(tmp_path)!r})
make.BAD = make.HERE / "bad"
make.main()
"""
    )
    for made in [
        path for pattern in ("*.bin", "*.parquet", "bad/*.bin", "bad/*.parquet") for path in tmp_path.glob(pattern)
    ]:
        assert made.read_bytes() == (GOLDEN / made.relative_to(tmp_path)).read_bytes(), made.name


def test_the_oracle_agrees_with_itself():
    for row in ROWS:
        if row is not None:
            assert reference.decompress(SYMBOLS, reference.compress(SYMBOLS, row.encode())) == row.encode()

"""What the C++ reference wrote (golden/cwida_vectors.json, commit 4433be9): read, decoded, written back."""

import json
import pickle

import numpy as np
import pytest
import reference
from helpers import GOLDEN, join, split

from fsst import SymbolTable, codec

SETS = json.loads((GOLDEN / "cwida_vectors.json").read_text())


@pytest.fixture(params=SETS, ids=lambda vectors: vectors["name"])
def vectors(request):
    return request.param


def exported(vectors):
    return bytes.fromhex(vectors["export_hex"])


def strings(vectors):
    # What the reference compresses as zero-terminated ends in that zero.
    end = b"\0" if vectors["zero_terminated"] else b""
    return [bytes.fromhex(string) + end for string in vectors["strings_hex"]]


def codes(vectors):
    return [bytes.fromhex(string) for string in vectors["codes_hex"]]


def test_all_eleven_sets_are_there():
    assert len(SETS) == 11
    assert sum(vectors["zero_terminated"] for vectors in SETS) == 1


def test_the_table_is_read(vectors):
    table = SymbolTable.from_bytes(exported(vectors), "cwida")
    assert list(table.symbols) == reference.read_cwida(exported(vectors))


@pytest.mark.kind(88)
def test_codes_decode_to_the_strings(vectors):
    table = SymbolTable.from_bytes(exported(vectors), "cwida")
    assert [table.decompress(row) for row in codes(vectors)] == strings(vectors)
    text, offsets = codec.decompress(table, *join(codes(vectors)))
    assert split(text, offsets) == strings(vectors)


def test_the_table_is_written_back_byte_for_byte(vectors):
    table = SymbolTable.from_bytes(exported(vectors), "cwida")
    assert table.to_bytes("cwida") == exported(vectors)
    assert table.reordered("cwida") == table
    assert table.reordered("cwida").to_bytes("cwida") == exported(vectors)


def test_the_table_is_written_back_after_a_pickle(vectors):
    table = SymbolTable.from_bytes(exported(vectors), "cwida")
    assert pickle.loads(pickle.dumps(table)).to_bytes("cwida") == exported(vectors)


def test_our_codes_are_the_references_where_both_are_greedy(vectors):
    # Its encoder cuts values every 511 bytes (formats.md, section 5): shorter ones are parsed alike.
    table = SymbolTable.from_bytes(exported(vectors), "cwida")
    expected = dict(zip(strings(vectors), codes(vectors), strict=True))
    short = [string for string in expected if len(string) <= 511]
    got, offsets = codec.compress(table, *join(short))
    assert split(got, offsets) == [expected[string] for string in short]
    assert len(short) > 0


def test_the_reordered_table_compresses_the_strings_too(vectors):
    table = SymbolTable.from_bytes(exported(vectors), "cwida").reordered("parquet")
    again = SymbolTable.from_bytes(table.to_bytes())
    rows = join(strings(vectors), np.int64)
    text, offsets = codec.decompress(again, *codec.compress(table, *rows))
    assert split(text, offsets) == strings(vectors)

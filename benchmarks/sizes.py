#!/usr/bin/env python3
"""How small each effort makes each text: exact, so a change of one byte shows.

    python benchmarks/sizes.py                      the texts whose sizes CI checks
    python benchmarks/sizes.py ../shared/corpora    each file of a folder, one string a line
    python benchmarks/sizes.py --update             write sizes.json anew, after an intended change

Sizes count codes and symbol table, as the FSST papers do; offsets are left out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import fsst

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import texts

EXPECTED = Path(__file__).with_name("sizes.json")
EFFORTS = ("fast", "default", "max")


def invented() -> dict[str, pa.Array]:
    """Seeded columns that are the same on every machine and Python version."""
    plain = {
        "urls": texts.urls(),
        "uuids": texts.uuids(),
        "log lines": texts.log_lines(),
        "names": texts.names(),
        "short column": texts.urls(rows=300),
        "sorted keys": [f"customer/{i // 7:05}/order/{i:06}" for i in range(30_000)],
    }
    columns = {name: pa.array(rows, pa.string()) for name, rows in plain.items()}
    columns["all of them"] = pa.concat_arrays([columns[name].slice(0, 5000) for name in ("urls", "uuids", "names")])
    return columns


def measure(column: pa.Array, effort: str) -> tuple[int, float]:
    """Bytes of codes and symbol table, and the CPU milliseconds of training (best of several)."""
    fastest = math.inf
    for _ in range(1 if effort == "max" else 5):
        start = time.process_time()
        table = fsst.train(column, effort=effort)
        fastest = min(fastest, time.process_time() - start)
    codes = fsst.compress(column, symbol_table=table).storage
    return (pc.sum(pc.binary_length(codes)).as_py() or 0) + len(table.to_bytes()), fastest * 1000


def report(columns: dict[str, pa.Array]) -> dict[str, dict[str, int]]:
    print(f"{'':18}{'raw':>10}" + "".join(f"{effort:>11}{'factor':>8}{'ms':>8}" for effort in EFFORTS))
    found: dict[str, dict[str, int]] = {}
    factors: dict[str, list[float]] = {effort: [] for effort in EFFORTS}
    for name, column in columns.items():
        raw = texts.text_bytes(column)
        line = f"{name:18}{raw:>10}"
        for effort in EFFORTS:
            size, milliseconds = measure(column, effort)
            found.setdefault(name, {})[effort] = size
            factors[effort].append(raw / size)
            line += f"{size:>11}{raw / size:>8.3f}{milliseconds:>8.1f}"
        print(line, flush=True)
    means = (f"{'':11}{math.exp(sum(map(math.log, factors[e])) / len(columns)):>8.3f}{'':8}" for e in EFFORTS)
    print(f"{'geomean':28}" + "".join(means))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--update", action="store_true", help="write sizes.json anew")
    arguments = parser.parse_args()
    if arguments.folder:
        report({source.name: source.load() for source in texts.sources_of(arguments.folder)})
        return
    found = report(invented())
    if arguments.update:
        EXPECTED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

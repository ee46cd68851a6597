"""Changes to honest inputs that are guided by what they reach in the package's Python code. Needs atheris.

python tests/hostile_guided.py CASE [options of libFuzzer, such as -max_total_time=60]
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["fsst"]):
    import hostile
    from hostile_cases import CASES


def main() -> None:
    name = sys.argv.pop(1)
    case = CASES[name]
    seeds = case.seeds()
    process = hostile.Process(None)

    def look(data: bytes) -> None:
        # The first byte says which seed's context and expectation go with the others.
        if data:
            process.look(case, seeds[data[0] % len(seeds)], data[1:], -1)

    with tempfile.TemporaryDirectory() as corpus:
        for i, seed in enumerate(seeds):
            Path(corpus, str(i)).write_bytes(bytes([i]) + seed.data)
        atheris.Setup([*sys.argv, corpus], look)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Instructions for each code, counted by callgrind: the same on every run, whatever else the machine does.

make instructions        builds benchmarks/native/instructions.cpp and runs this; needs valgrind
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = ("compress", "measure", "decode")


def count(program: str, kernel: str, instruction_set: str) -> tuple[float, int]:
    """Instructions in all of one kernel's call, and the bytes of codes it worked on."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--toggle-collect=*counted_{kernel}*",
                f"--callgrind-out-file={Path(folder) / 'out'}",
                program,
                instruction_set,
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    collected = re.search(r"Collected : (\d+)", done.stderr)
    codes = re.search(r"(\d+) of codes", done.stdout)
    assert collected and codes, done.stderr + done.stdout
    return int(collected[1]), int(codes[1])


def main() -> None:
    print(f"{'':10}" + "".join(f"{kernel:>12}" for kernel in KERNELS) + "   instructions a byte of codes")
    for instruction_set in ("plain", "baseline", "avx2"):
        line = f"{instruction_set:10}"
        for kernel in KERNELS:
            instructions, codes = count(sys.argv[1], kernel, instruction_set)
            line += f"{instructions / codes:>12.2f}"
        print(line)


if __name__ == "__main__":
    main()

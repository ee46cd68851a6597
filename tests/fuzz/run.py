"""Run the fuzz targets until each has had its share of CPU time; keep the inputs that reach something new.

`make fuzz` builds the targets and calls this. Time is CPU time, in slices: a target that was paused or had to
wait for others is not credited for it. Ctrl-C ends a run; what was found is kept in the build folder.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden"
CORPUS = HERE / "corpus"  # what is kept, and what tests replay
CRASHES = HERE / "crashes"  # not under version control

SLICE = 400  # seconds, on the clock
MAX_INPUT = 2100  # bytes: the largest table, and a little
KEPT_INPUTS = 200
KEPT_BYTES = 50_000
INTERRUPTED = 72  # exit status of libFuzzer
MAX_CRASHES = 3  # a target that crashes more often is given up: it would find the same again

stopped = threading.Event()
running: set[subprocess.Popen] = set()


def seeds(target: str) -> list[bytes]:
    """A few inputs to begin with: golden files behind the byte that says what they are, and text."""
    page = (GOLDEN / "page.delta.bin").read_bytes()
    plain = (GOLDEN / "page.plain.bin").read_bytes()
    text = Path(HERE.parents[1] / "README.md").read_bytes()
    if target == "symbol_table":
        return [b"\0" + (GOLDEN / "table.parquet.bin").read_bytes(), b"\1" + (GOLDEN / "table.cwida.bin").read_bytes()]
    if target == "page":
        return [b"\0" + data[1:3] + data for data in (page, plain)]
    if target == "delta":
        return [b"\0" + page[9:], b"\1" + page[9:], b"\2" + plain[9:]]
    if target == "decode":
        # No symbols, and rows of literals alone: of 3, of 5 (characters are cut), or one.
        literals = bytes(
            byte for letter in "Zoë, naïve: 100 € für 日本 \N{GRINNING FACE}.".encode() for byte in (255, letter)
        )
        return [bytes([1, 0, 0, 0, 2, length]) + literals for length in (6, 10, 255)]
    if target == "search":
        # Two letters as symbols, a pattern of one character whatever it is, and rows that are UTF-8.
        table = bytes([0, 2, 0, ord("a"), 0, ord("b")])
        rows = bytes(byte for letter in "naïve aéb ab aab".encode() for byte in (255, letter))
        return [
            bytes([kind]) + table + bytes(6) + b"\3a_b" + bytes([2, length]) + rows
            for kind in (1, 9)
            for length in (8, 255)
        ]
    return [bytes([kind]) + text[at : at + 300] for kind in (0, 1, 8, 24) for at in (0, 900)]


class Target:
    """One fuzz target and what its runs have come to."""

    def __init__(self, name: str, build: Path) -> None:
        self.name = name
        self.program = build / f"fuzz_{name}"
        self.found = build / "corpus" / name
        self.kept = CORPUS / name
        self.log = build / f"fuzz_{name}.log"
        self.executions = 0
        self.cpu = 0.0
        self.features = 0
        self.crashes = 0
        for folder in (self.found, self.kept, CRASHES):
            folder.mkdir(parents=True, exist_ok=True)
        for data in seeds(name):
            (self.found / hashlib.sha1(data).hexdigest()).write_bytes(data[:MAX_INPUT])

    def call(self, *arguments: str | Path) -> tuple[int, str]:
        """Run the program; its exit status and what it said."""
        environment = os.environ | {"ASAN_OPTIONS": "quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1"}
        with self.log.open("w+", errors="replace") as log:
            command = [self.program, f"-artifact_prefix={CRASHES}/{self.name}-", *arguments]
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            running.add(process)
            _, status, usage = os.wait4(process.pid, 0)
            running.remove(process)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu += usage.ru_utime + usage.ru_stime
            log.seek(0)
            return process.returncode, log.read()

    def fuzz(self, seconds: float) -> None:
        while True:
            if stopped.is_set() or self.cpu >= seconds or self.crashes >= MAX_CRASHES:
                return
            code, said = self.call(
                f"-max_total_time={min(SLICE, int(seconds - self.cpu) + 2)}",
                f"-max_len={MAX_INPUT}",
                "-len_control=30",
                "-timeout=300",  # on the clock, on which a target may stand still
                "-report_slow_units=300",
                "-malloc_limit_mb=256",
                "-reload=0",
                "-print_final_stats=1",
                self.found,
                self.kept,
            )
            self.executions += sum(int(n) for n in re.findall(r"number_of_executed_units: (\d+)", said))
            self.features = max([self.features, *map(int, re.findall(r" ft: (\d+)", said))])
            if code == INTERRUPTED:
                stopped.set()
            elif code != 0:
                self.crashes += 1
                shutil.copy(self.log, CRASHES / f"{self.name}-{self.crashes}.log")
                print(f"{self.name}: exit status {code}, see {CRASHES}", flush=True)

    def keep_corpus(self) -> None:
        """The fewest inputs that reach all code reached so far, smallest first, within the limits.

        Inputs whose names are words are somebody's choice, and stay.
        """
        spent = self.cpu
        fewest = self.found.with_name(self.name + ".merged")
        shutil.rmtree(fewest, ignore_errors=True)
        fewest.mkdir()
        code, said = self.call(
            "-merge=1",
            "-use_counters=0",
            f"-max_len={MAX_INPUT}",
            "-report_slow_units=300",
            fewest,
            self.found,
            self.kept,
        )
        self.cpu = spent
        if code == INTERRUPTED:
            stopped.set()
            return
        if code != 0:
            sys.exit(f"{self.name}: merging ended with {code}\n{said[-2000:]}")
        for old in self.kept.iterdir():
            if re.fullmatch("[0-9a-f]{40}", old.name):
                old.unlink()
        room = KEPT_BYTES
        for new in sorted(fewest.iterdir(), key=lambda file: (file.stat().st_size, file.name))[:KEPT_INPUTS]:
            room -= new.stat().st_size
            if room >= 0:
                shutil.copy(new, self.kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", help="all, if none is named")
    parser.add_argument("--minutes", type=float, default=20, help="CPU time for each target")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--build", type=Path, default=Path("build/fuzz"), help="where the programs are")
    options = parser.parse_args()
    names = options.targets or sorted(file.stem[5:] for file in HERE.glob("fuzz_*.cpp"))
    targets = [Target(name, options.build.resolve()) for name in names]

    def work(target: Target) -> None:
        target.fuzz(60 * options.minutes)
        if not stopped.is_set():
            target.keep_corpus()

    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    with ThreadPoolExecutor(options.jobs) as pool:
        work_of = [pool.submit(work, target) for target in targets]
        try:
            for one in work_of:
                one.result()
        except KeyboardInterrupt:
            stopped.set()
            # The terminal has sent it to the programs as well, but a kill has not.
            for process in tuple(running):
                process.send_signal(signal.SIGINT)
    print(f"{'target':14}{'executions':>12}{'CPU minutes':>13}{'features':>10}{'crashes':>9}{'kept':>6}{'bytes':>8}")
    for target in targets:
        kept = [file.stat().st_size for file in target.kept.iterdir()]
        print(
            f"{target.name:14}{target.executions:12,}{target.cpu / 60:13.1f}{target.features:10,}{target.crashes:9}"
            f"{len(kept):6}{sum(kept):8,}"
        )
    sys.exit(130 if stopped.is_set() else any(target.crashes for target in targets))


if __name__ == "__main__":
    main()

"""Damage honest inputs and read them: the process that test_hostile.py starts, and a program for longer runs.

    python tests/hostile.py [case ...]               what the test runs
    python tests/hostile.py --minutes 20 [case ...]  every change of every byte, then several at random

Faults are printed with the input that showed them. The first stops the test. What crashes the process is in the file
that --note names.
"""

from __future__ import annotations

import os

# Memory as the system gives it, so that a limit means what it says; pyarrow looks at this when it is imported.
os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"

import argparse
import collections
import ctypes
import faulthandler
import math
import random
import resource
import signal
import time
from collections.abc import Iterator
from typing import Any

import conftest  # noqa: F401  (hypothesis: the same examples each time)
from hostile_cases import CASES, PROPERTIES, Case, Fault, Seed

# Beyond what the process has, for one input of a few KB. What is lost little by little is for test_lifetimes.py.
MEMORY = 256 << 20
SECONDS = 20  # of CPU time, for one input


def cuts(seed: Seed) -> Iterator[tuple[int | None, bytes]]:
    for length in range(len(seed.data)):
        yield None, seed.data[:length]


def flips(seed: Seed, masks: Any) -> Iterator[tuple[int | None, bytes]]:
    data = bytearray(seed.data)
    for place in seed.places or range(len(data)):
        for mask in masks(place):
            data[place] ^= mask
            yield place, bytes(data)
            data[place] ^= mask


def two_kinds(place: int) -> tuple[int, int]:
    """All bits, and one of them."""
    return 0xFF, 1 << place % 8


def every_change(seed: Seed, rng: random.Random) -> Iterator[tuple[int | None, bytes]]:
    """Every change of every byte, in any order: there may be no time for all."""
    places = list(seed.places or range(len(seed.data)))
    data = bytearray(seed.data)
    for change in rng.sample(range(255 * len(places)), 255 * len(places)):
        place, mask = places[change // 255], change % 255 + 1
        data[place] ^= mask
        yield place, bytes(data)
        data[place] ^= mask


def at_random(seed: Seed, rng: random.Random) -> Iterator[tuple[int | None, bytes]]:
    """Several changes in one input: bytes, bits, pieces moved, doubled, cut out, and numbers that readers fear."""
    numbers = (0, 1, 127, 128, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)
    while True:
        data = bytearray(seed.data)
        for _ in range(rng.choice((1, 2, 2, 3, 5, 10))):
            place = rng.randrange(len(data) + 1)
            end = min(len(data), place + rng.choice((1, 2, 4, 8, 30)))
            kind = rng.randrange(7)
            if kind < 3 and place < len(data):
                data[place] ^= 1 << rng.randrange(8) if kind else rng.randrange(1, 256)
            elif kind == 3:
                width = rng.choice((1, 2, 4, 8))
                data[place : place + width] = (rng.choice(numbers) % 256**width).to_bytes(width, "little")
            elif kind == 4:
                del data[place:end]
            elif kind == 5:
                other = rng.randrange(len(data) + 1)
                data[other:other] = data[place:end]
            else:
                other = rng.randrange(len(data) + 1)
                data[other : other + end - place] = data[place:end]
        yield -1, bytes(data)


class Process:
    """Reads damaged inputs under limits, counts what came of them, and notes what it is about to read."""

    def __init__(self, note: str | None) -> None:
        self.counts: collections.Counter[str] = collections.Counter()
        self.note = None if note is None else os.open(note, os.O_WRONLY | os.O_CREAT)
        signal.signal(signal.SIGPROF, self.too_long)

    @staticmethod
    def too_long(*_: Any) -> None:
        raise Fault(f"it takes more than {SECONDS} s")

    @staticmethod
    def limit_memory() -> None:
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))

    def look(self, case: Case, seed: Seed, data: bytes, place: int | None) -> None:
        if self.note is not None:
            text = f"{seed.name}, {place}: {data.hex()}\n".encode()
            os.ftruncate(self.note, os.pwrite(self.note, text, 0))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            read = case.look(seed, data, place)
            if read and place is None and case.refuses_cuts:
                raise Fault("an input that is cut is read")
            self.counts["read" if read else "refused"] += 1
        except Fault:
            raise
        except MemoryError as error:
            raise Fault(f"{error!r} for an input of {len(data)} bytes") from error
        except case.errors:
            self.counts["refused"] += 1
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def run(self, case: Case, seed: Seed, inputs: Iterator[tuple[int | None, bytes]], until: float = math.inf) -> None:
        for number, (place, data) in enumerate(inputs):
            if number % 100 == 0:
                self.limit_memory()
            try:
                self.look(case, seed, data, place)
            except Exception as error:
                self.counts["faults"] += 1
                print(f"{seed.name}, byte {place} of {len(seed.data)}: {error!r}\n{data.hex()}", flush=True)
                if until == math.inf or self.counts["faults"] >= 100:
                    raise
            if time.process_time() > until:
                return


def run_tests(process: Process, names: list[str]) -> None:
    """Each cut, and two kinds of change for each byte."""
    for name in names:
        if name in PROPERTIES:
            PROPERTIES[name]()
            continue
        case = CASES[name]
        for seed in case.seeds():
            process.look(case, seed, seed.data, -1)
            process.run(case, seed, cuts(seed))
            process.run(case, seed, flips(seed, two_kinds))


def run_long(process: Process, names: list[str], minutes: float) -> None:
    """Changes of single bytes for half the time, or until there are no more, then several at a time.

    Each case has its share of the time, and each of its seeds.
    """
    names = [name for name in names if name in CASES]
    for name in names:
        started = time.process_time()
        until = started + minutes * 60 / len(names)
        case, rng = CASES[name], random.Random(name)
        seeds = case.seeds()
        before = process.counts.copy()
        for seed in seeds:
            process.look(case, seed, seed.data, -1)
        share = (until - time.process_time()) / 2 / len(seeds)
        for seed in seeds:
            process.run(case, seed, every_change(seed, rng), time.process_time() + share)
        while time.process_time() < until:
            for seed in seeds:
                process.run(case, seed, at_random(seed, rng), min(until, time.process_time() + 2))
        now = process.counts - before
        spent = time.process_time() - started
        print(f"{name}: {dict(now)} in {spent:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"of {', '.join([*CASES, *PROPERTIES])}; all by default")
    parser.add_argument("--minutes", type=float, help="of CPU time, for all cases together")
    parser.add_argument("--note", help="a file that holds the input being read")
    arguments = parser.parse_args()
    faulthandler.enable()
    # One arena (M_ARENA_MAX) instead of one for each thread, 64 MB of addresses each: the limit is on addresses.
    ctypes.CDLL(None).mallopt(-8, 1)
    process = Process(arguments.note)
    names = arguments.cases or [*CASES, *PROPERTIES]
    if arguments.minutes:
        run_long(process, names, arguments.minutes)
    else:
        run_tests(process, names)
    print(dict(process.counts))
    if process.counts["faults"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()

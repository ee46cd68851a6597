"""Comparing two things on a noisy machine: turn about in one process, CPU time, the best of many."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable
from typing import Any


def best_times(works: list[Callable[[], Any]], seconds: float = 2.0, least: int = 7, times: int = 1) -> list[float]:
    """The shortest CPU time of each of `works`, called in turn for about `seconds`, `times` times each turn."""
    shortest = [float("inf")] * len(works)
    rounds = 0
    gc.collect()
    gc.disable()
    end = time.perf_counter() + seconds
    try:
        while rounds < least or time.perf_counter() < end:
            for i, work in enumerate(works):
                start = time.process_time()
                for _ in range(times):
                    work()
                shortest[i] = min(shortest[i], time.process_time() - start)
            rounds += 1
    finally:
        gc.enable()
    return shortest


def speed_ratio(
    ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float = 2.0, least: int = 7, times: int = 1
) -> float:
    """How many times as fast `ours` is as `theirs`."""
    our_time, their_time = best_times([ours, theirs], seconds, least, times)
    return their_time / max(our_time, 1e-9)


def geomean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))

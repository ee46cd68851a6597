"""How gates compare: two pieces of work in turns, in one process, on CPU time, the best of many."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

Work = Callable[[], Any]


def ratio(ours: Work, theirs: Work, turns: int = 9, times: int = 1) -> float:
    """How many times as fast as `theirs` is `ours`; each turn does both `times` times."""
    best = [math.inf, math.inf]
    gc.collect()
    gc.disable()
    try:
        for _ in range(turns):
            for side, work in enumerate((ours, theirs)):
                start = time.process_time()
                for _ in range(times):
                    work()
                best[side] = min(best[side], time.process_time() - start)
    finally:
        gc.enable()
    return best[1] / max(best[0], 1e-9)


def geomean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))

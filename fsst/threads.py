"""How many threads a caller asks for."""

from __future__ import annotations

import operator
import os

__all__ = ["thread_count"]


def thread_count(threads: int | None) -> int:
    """`threads`, checked; None means as many as this process has cores."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = operator.index(threads)
    if not 1 <= count <= 4096:
        raise ValueError(f"threads must lie between 1 and 4096, not {count}")
    return count

"""DELTA_BINARY_PACKED keeps up: measured beside numpy's running sum over as many integers.

A running sum is what decoding cannot do without; numpy's makes 2 GB/s of int32 and 4 of int64 on a
Sapphire Rapids, where decoding makes 5.5 and 10, encoding 3 to 8. The gates are at 1 GB/s
there, or more.
"""

import time
from collections.abc import Callable

import numpy as np
import pytest

from fsst.delta import delta_decode, delta_encode

ROWS = 200_000


def beside_cumsum(work: Callable[[], object], values: np.ndarray) -> float:
    """How many times as fast as the running sum of `values` work is: best CPU times, taken in turns."""
    room = np.empty_like(values)
    best = [float("inf")] * 2
    for _ in range(40):
        for i, run in enumerate((work, lambda: np.cumsum(values, dtype=values.dtype, out=room))):
            start = time.process_time_ns()
            run()
            best[i] = min(best[i], time.process_time_ns() - start)
    return best[1] / best[0]


@pytest.mark.parametrize("spread", [1, 30, 5000, 2**30])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_speed(dtype: type, spread: int) -> None:
    values = np.cumsum(np.random.default_rng(1).integers(0, spread, ROWS).astype(dtype), dtype=dtype)
    encoded = delta_encode(values)
    decode = beside_cumsum(lambda: delta_decode(encoded, ROWS, dtype), values)
    encode = beside_cumsum(lambda: delta_encode(values), values)
    print(f"\n{np.dtype(dtype).name}, spread {spread}: decodes {decode:.2f}, encodes {encode:.2f} times as fast")
    assert decode > 1.2
    assert encode > 0.6

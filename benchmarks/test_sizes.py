"""Sizes are exact, and so is their gate: sizes.json changes only with a change that says why."""

import json

import pytest
import sizes

EXPECTED = json.loads(sizes.EXPECTED.read_text())
COLUMNS = sizes.invented()


@pytest.mark.kind(18, 107)
@pytest.mark.parametrize("effort", sizes.EFFORTS)
@pytest.mark.parametrize("name", COLUMNS)
def test_size(name: str, effort: str) -> None:
    size, _ = sizes.measure(COLUMNS[name], effort)
    assert size == EXPECTED[name][effort], "intended? then run: python benchmarks/sizes.py --update"


@pytest.mark.parametrize("name", COLUMNS)
def test_most_effort_is_smallest(name: str) -> None:
    # Between fast and default nothing of the kind holds: a search that goes on may end elsewhere (uuids, 1 %).
    assert EXPECTED[name]["max"] <= min(EXPECTED[name].values())

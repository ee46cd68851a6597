"""Every example in README and docs runs as it stands there."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
# Pages without examples: they describe bytes, or results of commands.
PROSE = {"performance.md", "internals.md", "reliability.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert result.failed == 0
    assert (result.attempted > 0) != (page.name in PROSE)


def test_unchecked_accesses_are_listed() -> None:
    # Every file with an access that relies on an earlier check stands in the list that says what makes it safe.
    text = (ROOT / "docs" / "internals.md").read_text()
    section = text.split("## Unchecked accesses\n")[1].split("\n## ")[0]
    listed = set(re.findall(r"`([a-z0-9_]+)`", section)) | {"_core"} & set(re.findall(r"`(_core)\.pyx`", section))
    sources = [*(ROOT / "fsst" / "csrc").glob("*.hpp"), ROOT / "fsst" / "_core.pyx"]
    unchecked = {path.stem for path in sources if "SAFETY" in path.read_text()}
    assert unchecked <= listed, unchecked - listed
    assert len(unchecked) > 15

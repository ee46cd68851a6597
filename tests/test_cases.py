"""The kinds of fault that docs/reliability.md lists: each has its tests, or a reason why not.

A test with a small input of its own is marked `case(number, ...)`, a test of the kind in general `kind(number, ...)`.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
# As the list of public reports counts them: 84 entries up to 108.
MISSING = {3, 8, 10, 15, 22, 28, 33, 37, 42, 45, 50, 54, 62, 64, 69, 73, 76, 79, 85, 91, 92, 96, 105, 106}
NUMBERS = sorted(set(range(1, 109)) - MISSING)


def marks():
    """Of each number, the files with tests that are marked: {"case": {1: {"codec"}}, "kind": ...}."""
    found = {"case": defaultdict(set), "kind": defaultdict(set)}
    for path in sorted([*ROOT.glob("tests/test_*.py"), *ROOT.glob("benchmarks/test_*.py")]):
        name = path.stem.removeprefix("test_")
        if path.parent.name == "benchmarks":
            name = f"benchmarks/{name}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for mark in node.decorator_list:
                    written = ast.unparse(mark)
                    match = re.fullmatch(r"pytest\.mark\.(case|kind)\(([\d, ]+)\)", written)
                    assert match or (".mark.case" not in written and ".mark.kind" not in written), written
                    for number in match[2].split(", ") if match else ():
                        found[match[1]][int(number)].add(name)
    return found


def test_each_kind_of_fault_has_its_row():
    rows = dict(re.findall(r"^\| (\d+) \| (.+) \|$", PAGE, re.MULTILINE))
    assert list(map(int, rows)) == NUMBERS and len(NUMBERS) == 84
    found = marks()
    assert set(found["case"]) | set(found["kind"]) <= set(NUMBERS)
    for number in NUMBERS:
        own, general = (", ".join(sorted(found[mark][number])) or "none" for mark in ("case", "kind"))
        kind = rows[str(number)].split(" | ")[0]
        assert rows[str(number)] == f"{kind} | {own} | {general}", f"entry {number}"


def test_what_has_no_test_is_told():
    told = [int(number) for number in re.findall(r"^- Entry (\d+): ", PAGE, re.MULTILINE)]
    assert set(told) <= set(NUMBERS)
    found = marks()
    untested = [number for number in NUMBERS if not found["case"][number] or not found["kind"][number]]
    assert set(untested) <= set(told) and told == sorted(set(told))

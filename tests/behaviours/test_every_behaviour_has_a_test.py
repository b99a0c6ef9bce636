"""The behaviours that users of such tools miss are numbered, and a test that holds one to its number is named after it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent.parent
NUMBERS = range(1, 108)
NUMBER = re.compile(r"_r(\d{3})(?=_)")


def _by_number() -> Counter[int]:
    """How many test functions name each behaviour."""
    names = [
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]
    return Counter(int(number) for name in names for number in NUMBER.findall(name))


def test_every_behaviour_has_a_test_that_is_named_after_it() -> None:
    found = _by_number()
    assert [f"R{number:03}" for number in NUMBERS if not found[number]] == []
    assert [f"R{number:03}" for number in found if number not in NUMBERS] == []

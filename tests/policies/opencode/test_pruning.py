from __future__ import annotations

import pytest

from harness_nb.core.item import Item
from harness_nb.core.messages import Message, ToolCall
from harness_nb.policies.opencode.config import OpenCodeConfig
from harness_nb.policies.opencode.pruning import Pruning, pruning
from harness_nb.policies.opencode.session import stored
from tests.policies.opencode.talks import policy

RECENT = [Message.user("then"), Message.assistant("ok"), Message.user("now"), Message.assistant("done")]


def results(*tokens: int, tool: str = "bash", status: str = "") -> list[Message]:
    said = [Message.user("start")]
    for at, size in enumerate(tokens):
        said.append(Message.assistant(None, [ToolCall(f"c{at}", tool)]))
        said.append(Message.tool(f"c{at}", "x" * (4 * size), name=tool, status=status))
    return said


def found(messages: list[Message], cleared: tuple[int, ...] = (), **settings: object) -> Pruning:
    items = [Item(at, message) for at, message in enumerate(messages)]
    items = [policy().cleared(item) if item.index in cleared else item for item in items]
    return pruning(stored(items), OpenCodeConfig(prune=True, **settings))  # type: ignore[arg-type]


def test_results_behind_the_newest_40_000_tokens_can_go() -> None:
    assert found([*results(25_000, 40_000), *RECENT]) == Pruning(frozenset({2}), 65_000, 25_000)


def test_the_result_that_passes_the_limit_goes_too() -> None:
    assert found([*results(25_000, 40_001), *RECENT]).indices == {2, 4}


def test_the_two_newest_turns_are_not_looked_at() -> None:
    said = [*results(50_000), *results(50_000), *results(50_000)]
    assert found(said) == Pruning(frozenset({2}), 50_000, 50_000)


def test_it_stops_at_a_result_that_was_cleared() -> None:
    assert found([*results(60_000, 10_000, 50_000), *RECENT], cleared=(4,)).indices == {6}


def test_protected_tools_are_passed_over_without_counting() -> None:
    assert found([*results(60_000, tool="skill"), *RECENT]) == Pruning()


def test_failed_calls_are_passed_over() -> None:
    assert found([*results(60_000, status="error"), *RECENT]) == Pruning()


def test_it_stops_at_a_summary() -> None:
    said = [Item(at, message) for at, message in enumerate(results(60_000))]
    marker = policy().marked(Item(3, Message.user("so far?")))
    summary = policy().summarised(Item(4, Message.assistant("all of it")))
    rest = [Item(5 + at, message) for at, message in enumerate([*results(60_000), *RECENT])]
    steps = stored([*said, marker, summary, *rest])
    assert pruning(steps, OpenCodeConfig(prune=True)).indices == {7}


@pytest.mark.parametrize(("turns", "indices"), [(1, {2}), (2, {2}), (3, set())])
def test_how_many_turns_are_spared_is_a_setting(turns: int, indices: set[int]) -> None:
    assert found([*results(60_000), *RECENT], prune_turns=turns).indices == indices


def test_it_is_off_unless_asked_for() -> None:
    steps = stored(Item(at, message) for at, message in enumerate([*results(90_000), *RECENT]))
    assert pruning(steps, OpenCodeConfig()) == Pruning()

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core.config import ClearResultsConfig, TruncateArgsConfig
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.core.view import View
from tests.policies.harness.viewing import answer, grown, policy, view_of


def write(call_id: str, chars: int) -> list[Message]:
    arguments = json.dumps({"path": "notes/a.md", "content": "x" * chars})
    return [Message.assistant(None, [ToolCall(call_id, "write", arguments)]), Message.tool(call_id, "written")]


def writing(rounds: int) -> list[Message]:
    return [Message.user("write"), *(message for at in range(rounds) for message in write(f"c{at}", 5_000)), answer()]


SHORTEN = TruncateArgsConfig(trigger_messages=5, keep_messages=3)


def test_arguments_are_shortened_in_batches_and_not_at_every_call() -> None:
    compacting = policy(truncate_args=SHORTEN, trigger_messages=0, trigger_tokens=0)
    view = replace(view_of(writing(4)), turn=100)
    acted = []
    for at in range(9):
        plan = compacting.plan(view)
        acted.append(plan.changes)
        view = grown(view.after(plan), *write(f"d{at}", 5_000))
    assert acted[0] and 2 <= sum(acted) <= 4  # 750 tokens a round, and 2,000 are the least gain
    every = policy(
        truncate_args=TruncateArgsConfig(trigger_messages=5, keep_messages=3, min_gain_tokens=0),
        trigger_messages=0, trigger_tokens=0,
    )  # fmt: skip
    view = grown(view.after(every.plan(view)), *write("e", 5_000))
    assert every.plan(view).changes


def test_the_triggers_of_arguments_may_be_shares_of_the_window() -> None:
    limits = ModelLimits(name="m", window=20_000)
    view = replace(view_of(writing(6), model=limits), turn=100)
    for share, acts in ((0.3, True), (0.9, False)):
        settings = TruncateArgsConfig(trigger_messages=0, trigger_tokens=share, keep_messages=3)
        assert policy(truncate_args=settings).plan(view).changes is acts


# Results


def result(name: str, chars: int, at: int) -> list[Message]:
    return [
        Message.assistant(None, [ToolCall(f"r{at}", name, "{}")]),
        Message.tool(f"r{at}", f"{at} ".ljust(chars, "."), name=name),
    ]


def results(*names: str, chars: int = 20_000) -> View:
    messages = [Message.user("look"), *(m for at, name in enumerate(names) for m in result(name, chars, at))]
    return replace(view_of([*messages, answer(), Message.user("and now")]), turn=len(messages) + 1)


def clearing(trigger_tokens: int = 10_000, **settings: Any) -> Any:
    cleared = ClearResultsConfig(**({"protect_tokens": 11_000, "min_gain_tokens": 5_000} | settings))
    return policy(trigger_messages=0, trigger_tokens=trigger_tokens, keep_messages=2, clear_results=cleared)


def cleared(plan: Any, view: View) -> list[int | None]:
    return [item.index for item in plan.items(view) if item.how == "cleared"]


def test_old_results_are_cleared_and_kept_so_where_that_is_enough() -> None:
    view = results(*["run"] * 6)  # 5,000 tokens each
    plan = clearing(trigger_tokens=25_000).plan(view)
    assert plan.outcome == "cleared" and cleared(plan, view) == [2, 4, 6, 8]  # the newest 11,000 tokens stay
    assert plan.reason.startswith("cleared 4 old tool result(s), ")
    text = plan.items(view)[2].message.text
    assert text.startswith("0 ...") and "18,000 characters of an old result cleared" in text and len(text) < 2_100
    assert not clearing(trigger_tokens=25_000).plan(view.after(plan)).changes


def test_a_summary_follows_where_clearing_is_not_enough() -> None:
    view = results(*["run"] * 6)
    plan = clearing(trigger_tokens=5_000).plan(view)
    assert plan.outcome == "compacted" and plan.items(view)[0].how == "summary"


@pytest.mark.parametrize("settings", [{"min_gain_tokens": 30_000}, {"protect_tokens": 60_000}, {"protect_tokens": 0.5}])
def test_too_little_gain_and_what_is_protected_stay(settings: dict[str, Any]) -> None:
    view = replace(results(*["run"] * 6), model=ModelLimits(name="m", window=100_000))
    assert cleared(clearing(trigger_tokens=25_000, **settings).plan(view), view) == []


def test_without_a_preview_a_line_says_what_was_there_and_excluded_tools_stay() -> None:
    view = results("run", "read_file", "run", "mine", "run", "run")
    plan = clearing(trigger_tokens=25_000, preview_chars=0, excluded_tool_names={"mine", "read_file"}).plan(view)
    assert cleared(plan, view) == [2, 6]
    assert plan.items(view)[2].message.text == "[old result of run, 20,000 characters, cleared]"
    assert plan.items(view)[2].message.call_id == "r0"


def test_r043_pictures_beside_a_cleared_text_stay() -> None:
    picture = Image("https://example.org/a.png", '{"type":"image_url"}')
    view = results(*["run"] * 6)
    pictured = replace(view.log[2], content=(Text("y" * 20_000), picture))
    items = (*view.input[:2], Item(2, pictured), *view.input[3:])
    view = replace(view, input=type(view.input)(items))
    plan = clearing(trigger_tokens=25_000).plan(view)
    assert picture in plan.items(view)[2].message.parts and len(plan.items(view)[2].message.text) < 2_100


def test_r041_neither_the_running_turn_nor_the_recent_end_is_cleared() -> None:
    view = results(*["run"] * 6)
    assert cleared(clearing(25_000, protect_tokens=0).plan(view), view) == [2, 4, 6, 8, 10, 12]
    assert cleared(clearing(25_000, protect_tokens=0).plan(replace(view, turn=7)), view) == [2, 4, 6]
    recent = policy(
        trigger_messages=0, trigger_tokens=29_000, keep_messages=8,
        clear_results=ClearResultsConfig(protect_tokens=0, min_gain_tokens=1),
    )  # fmt: skip
    assert cleared(recent.plan(view), view) == [2, 4, 6]


def test_switched_off_nothing_is_cleared() -> None:
    view = results(*["run"] * 6)
    assert policy(trigger_messages=0, trigger_tokens=25_000, keep_messages=2).plan(view).outcome == "compacted"

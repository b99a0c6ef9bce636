from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from harness_nb.core import pins
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Opaque, Text, ToolCall
from harness_nb.core.pins import Pin
from harness_nb.core.requests import Reply
from harness_nb.core.rounds import problems
from harness_nb.core.tool import Tool
from harness_nb.core.view import View
from tests.policies.harness.viewing import answer, answered, grown, policy, talk, view_of

LIMITS = ModelLimits(name="m", window=100_000)


def read(path: str, chars: int = 400, name: str = "read_file") -> list[Message]:
    call = ToolCall(f"{name}:{path}", name, json.dumps({"path": path}))
    return [Message.assistant(None, [call]), Message.tool(call.id, f"{path} ".ljust(chars, "r"), name=name)]


def reading(*rounds: list[Message]) -> View:
    old = [message for one in rounds for message in (*one, answer(400))]
    return view_of([Message.user("go"), *old, *talk(3), Message.user("next")], model=LIMITS)


def shown(view: View, **settings: Any) -> list[str]:
    """The files whose contents are shown after a compaction."""
    plan = answered(policy(trigger_messages=3, keep_messages=4, **settings), view, Reply("short"))
    items = plan.items(view)
    assert items[0].how == "summary" and problems([item.message for item in items]) == ()
    assert not set(items[0].stands_for) & {item.index for item in items}
    return [item.message.text.split()[0] for item in items if item.message.role == "tool"]


def test_the_newest_files_read_are_shown_again_after_a_compaction() -> None:
    view = reading(read("a.py"), read("b.py"), read("c.py"), read("d.py"))
    assert shown(view) == ["b.py", "c.py", "d.py"]
    assert shown(view, restore_results=1) == ["d.py"]
    assert shown(view, restore_results=0) == []  # switched off


def test_a_file_read_twice_is_shown_once_as_it_was_read_last() -> None:
    view = reading(read("a.py", 500), read("b.py"), read("a.py", 300))
    assert shown(view, restore_results=2) == ["b.py", "a.py"]


def test_files_come_back_within_their_tokens_and_smaller_ones_behind_a_large_one_too() -> None:
    view = reading(read("a.py", 4_000), read("b.py", 40_000), read("c.py", 4_000))
    assert shown(view, restore_tokens=2_500) == ["a.py", "c.py"]
    assert shown(view, restore_tokens=0.011) == ["c.py"]


def test_a_round_that_does_something_else_or_reads_no_file_stays_out() -> None:
    both = [
        Message.assistant(None, [ToolCall("1", "read_file", '{"path":"a.py"}'), ToolCall("2", "run", "{}")]),
        Message.tool("1", "a.py"),
        Message.tool("2", "ran"),
    ]
    broken = [Message.assistant(None, [ToolCall("3", "read_file", "[1]")]), Message.tool("3", "error")]
    assert shown(reading(both, broken, read("x", name="search"))) == []


def test_a_tool_of_ones_own_that_reads_counts() -> None:
    def load(path: str) -> str:
        return path

    view = reading(read("a.py", name="load"))
    assert shown(view) == []
    assert shown(replace(view, tools=(Tool.of(load, effect="read"),))) == ["a.py"]


def test_the_open_plan_stands_behind_the_summary_once_and_as_it_is_now() -> None:
    acting = policy(trigger_messages=6, keep_messages=2)
    view = replace(view_of(talk(5)), host={"plan": "1. find </open_plan> 2. fix"})
    plan = answered(acting, view, Reply("short"))
    assert [item.how for item in plan.items(view)] == ["summary", "note", "kept", "kept"]
    assert "1. find </open_plan> 2. fix" in plan.items(view)[1].message.text
    later = replace(grown(view.after(plan), *talk(2)), hook="manual", host={"plan": "2. fix"})
    again = answered(policy(keep_messages=2), later, Reply("shorter")).items(later)
    notes = [item.message.text for item in again if item.how == "note"]
    assert len(notes) == 1 and "2. fix" in notes[0] and "1. find" not in notes[0]


@pytest.mark.parametrize("host", [{}, {"plan": " "}, {"plan": 5}])
def test_without_a_plan_or_switched_off_no_note_of_it_is_made(host: dict[str, object]) -> None:
    view = replace(view_of(talk(5)), host=host)
    assert [item.how for item in answered(policy(trigger_messages=6, keep_messages=2), view, Reply("s")).items(view)][1:] == ["kept", "kept"]  # fmt: skip
    off = policy(trigger_messages=6, keep_messages=2, restore_plan=False)
    view = replace(view, host={"plan": "1. find"})
    assert all("find" not in item.message.text for item in answered(off, view, Reply("s")).items(view))


NATIVE = Opaque('{"type":"compaction","encrypted_content":"gAAA=="}')


@pytest.mark.parametrize(
    "message",
    [
        Message.assistant((NATIVE, Text("done"))),  # type: ignore[arg-type]
        Message("assistant", "done", rest='{"provider_specific_fields":{"compaction_blocks":[{"content":"s"}]}}'),
    ],
)
def test_a_providers_own_compaction_is_carried_through_untouched(message: Message) -> None:
    view = view_of([*talk(2), message, *talk(4)])
    settings = {"trigger_messages": 6, "keep_messages": 2}
    plan = answered(policy(**settings), view, Reply("short"))
    assert [item.index for item in plan.items(view)] == [None, 4, 11, 12]
    assert plan.items(view)[1].message is message and 4 not in plan.items(view)[0].stands_for
    again = replace(view.after(plan), hook="manual")
    assert message in [item.message for item in answered(policy(keep_messages=1), again, Reply("s")).items(again)]
    off = answered(policy(**settings, keep_native=False), view, Reply("short"))
    assert message not in [item.message for item in off.items(view)]


def test_pins_stand_in_the_planned_list_already_and_their_note_is_never_summarised() -> None:
    view = replace(view_of(talk(5)), pins=(Pin("Never touch prod."), Pin("q0 ".ljust(40), "rule", 0)))
    plan = answered(policy(trigger_messages=6, keep_messages=2), view, Reply("short"))
    first = plan.items(view)[0]
    assert pins.is_note(first) and "Never touch prod." in first.message.text and "q0 " in first.message.text
    later = replace(grown(view.after(plan), *talk(2)), hook="manual")
    requests: list[Any] = []
    again = answered(policy(keep_messages=2), later, Reply("shorter"), requests=requests)
    assert "prod" not in requests[0].messages[0].text
    assert [pins.is_note(item) for item in again.items(later)].count(True) == 1

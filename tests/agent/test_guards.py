from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.agent import guards
from harness_nb.agent.driver import Effect
from harness_nb.core import edits
from harness_nb.core.config import CompactionConfig
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.pins import Pin
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Failure, Reply
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import Hook, View
from harness_nb.policies.harness import HarnessPolicy
from tests.agent.driving import around, conversation, drive, rounds, talk
from tests.strategies import transcripts

Items = tuple[Item, ...]


def view_of(messages: list[Message], window: int = 100_000, hook: Hook = "request", **fields: object) -> View:
    return View.of(Transcript(messages), model=ModelLimits(name="model", window=window), hook=hook, **fields)


def verdict(view: View, items: Items) -> guards.Verdict:
    return guards.after(view, Plan(input=items, reason="mine"))


def sent(items: Items) -> list[Message]:
    """The list as it is sent: system items stand in the prompt."""
    return [item.message for item in items if item.message.role != "system"]


# One guard each: the list is right with it and wrong without it

LONG = [*talk(4), *rounds(2)]  # 0-7 talk, 8 the latest question, 9-12 two rounds


def is_valid(view: View, items: Items) -> bool:
    return problems(sent(items)) == ()


def says_all_once(view: View, items: Items) -> bool:
    indices = [item.index for item in items if item.index is not None]
    return len(indices) == len(set(indices)) and all(index < len(view.log) for index in indices)


def keeps_the_question(view: View, items: Items) -> bool:
    return view.log[8] in sent(items)


def shows_what_was_said(view: View, items: Items) -> bool:
    return all(item.message == view.log[item.index] for item in items if item.index is not None and item.how == "kept")


def is_in_order(view: View, items: Items) -> bool:
    indices = [item.index for item in items if item.index is not None]
    return indices == sorted(indices)


def keeps_talk_out_of_the_prompt(view: View, items: Items) -> bool:
    return all(item.message.role != "system" for item in items)


def says_the_pin(view: View, items: Items) -> bool:
    return any("Never touch prod." in item.message.text for item in items if item.message.role == "user")


FAULTS: dict[str, tuple[Callable[[View], Items], Callable[[View, Items], bool]]] = {
    "_once": (lambda view: (*view.input[6:], *view.input[6:7]), says_all_once),
    "_as_said": (
        lambda view: (replace(view.input[6], message=Message.user("no")), *view.input[7:]),
        shows_what_was_said,
    ),
    "_verbatim": (lambda view: (edits.note("short"), *view.input[9:]), keeps_the_question),
    "_in_order": (lambda view: (view.input[6], view.input[5], *view.input[7:]), is_in_order),
    "_whole_rounds": (lambda view: (*view.input[8:9], *view.input[10:]), is_valid),
    "_no_system_talk": (
        lambda view: (Item(None, Message.system("summary"), "summary", (0, 1)), *view.input[6:]),
        keeps_talk_out_of_the_prompt,
    ),
    "_pinned": (lambda view: (edits.summary(Reply("short"), of=view.input[:8]), *view.input[8:]), says_the_pin),
    "_user_first": (lambda view: view.input[7:], is_valid),
    "_answerable": (lambda view: (*view.input[6:], Item(None, Message.assistant("I go on"), "note")), is_valid),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_guard_is_needed_and_says_what_it_did(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, is_right = FAULTS[name]
    view = view_of(LONG, pins=(Pin("Never touch prod."),) if name == "_pinned" else ())
    found = verdict(view, fault(view))
    assert is_right(view, found.plan.items(view)) and found.plan.changes
    assert found.repairs
    monkeypatch.setattr(guards, name, lambda _, items: (items, ""))
    unguarded = verdict(view, fault(view))
    assert not (unguarded.plan.changes and is_right(view, unguarded.plan.items(view)))


def test_a_plan_without_a_fault_is_taken_as_it_is() -> None:
    view = view_of(LONG)
    plan = view.becomes((edits.summary(Reply("short"), of=view.input[:6]), *view.input[6:]), "mine")
    assert guards.after(view, plan) == guards.Verdict(plan)


def test_r006_the_first_message_is_the_users_also_when_nothing_stands_for_the_beginning() -> None:
    view = view_of([*talk(2), *rounds(1), Message.assistant("done"), Message.user("and now")])
    found = verdict(view, view.input[5:])
    assert [item.message.role for item in found.plan.items(view)][:2] == ["user", "assistant"]
    assert found.repairs == ("put a note first, so that the input begins with a user message",)


@pytest.mark.parametrize("reply", [Reply(""), Reply("  \n "), Reply(None), Reply(None, Failure("timeout", "late"))])
def test_r014_a_list_whose_summary_failed_is_refused(reply: Reply) -> None:
    view = view_of(LONG)
    found = verdict(view, (edits.summary(reply, of=view.input[:8]), *view.input[8:]))
    assert not found.plan.changes and "summary failed" in found.refusal


def test_a_failed_summary_is_taken_where_the_request_could_not_be_sent_otherwise() -> None:
    for view in (view_of(LONG, hook="overflow"), view_of(LONG, window=100)):
        found = verdict(view, (edits.summary(Reply(None, Failure("timeout")), of=view.input[:8]), *view.input[8:]))
        assert found.plan.changes


def test_r015_a_list_that_is_not_smaller_is_refused_with_both_figures() -> None:
    view = view_of(talk(6, chars=80))
    found = verdict(view, (edits.summary(Reply("word " * 720), of=view.input[:4]), *view.input[4:]))
    assert not found.plan.changes
    assert found.refusal.startswith("inflated: the new list is ") and f"{view.tokens:,}" in found.refusal


def test_r015_what_is_put_back_among_the_messages_is_no_word_behind_them() -> None:
    view = view_of(talk(4))
    shorter = replace(view, input=type(view.input)(view.input[2:]))
    plan = Plan(input=(*shorter.input, view.input[0]), lasts="request", reason="mine")
    found = guards.after(shorter, plan)
    assert found.refusal.startswith("inflated") and found.repairs == ("put messages back into their order",)


def test_nothing_but_system_texts_is_no_list() -> None:
    view = view_of([Message.assistant("hello"), Message.assistant("again")])
    found = verdict(view, (Item(None, Message.system("x")),))
    assert found.refusal == "the new list is empty"
    assert verdict(view, ()).refusal == "the new list is empty"


def test_pins_stay_word_for_word() -> None:
    said = (Pin("Never touch prod."), Pin(LONG[1].text, "user", 1), Pin("the latest question", "rule", 8))
    view = view_of(LONG, pins=said)
    found = verdict(view, (edits.summary(Reply("short"), of=view.input[:8]), *view.input[8:]))
    note, summary, *_ = found.plan.items(view)
    assert note.message.role == "user" and note.message.origin == "harness" and summary.how == "summary"
    assert "Never touch prod." in note.message.text and LONG[1].text in note.message.text
    assert "the latest question" not in note.message.text  # stands in the list already
    assert found.repairs == ("put 2 pin(s) back word for word",)


def test_an_edited_request_of_the_user_is_put_back_and_one_that_is_merged_into_is_not() -> None:
    view = view_of([*talk(4, chars=2_000)])
    last = view.input[-1]
    shortened = edits.edited(last, last.message.with_text("the"), "truncated")
    lying = replace(last, message=Message.user("another question"))
    merged = edits.merged(last, "earlier things", of=view.input[:-1])
    for item, is_kept in ((shortened, False), (lying, False), (merged, True)):
        found = verdict(view, (item,))
        assert (found.repairs == ()) is is_kept
        assert last.message.text in found.plan.items(view)[0].message.text


def test_what_is_put_back_looks_as_it_did_before() -> None:
    view = view_of(LONG)
    evicted = edits.evicted(view.input[12], "[moved to a file]", "large.txt")
    view = replace(view, input=type(view.input)((*view.input[:12], evicted)))
    found = verdict(view, (*view.input[6:9],))
    assert found.plan.items(view)[-1] == evicted


def test_a_round_that_is_completed_shows_its_results_as_they_were_shown_before() -> None:
    said = [*talk(1), *rounds(1, chars=4_000), Message.assistant("done"), *talk(4)]
    view = view_of(said)
    evicted = edits.evicted(view.input[4], "[moved to a file]", "large.txt")
    view = replace(view, input=type(view.input)((*view.input[:4], evicted, *view.input[5:])))
    found = verdict(view, (*view.input[2:4], *view.input[8:]))
    assert found.plan.items(view)[2] == evicted and found.repairs == ("completed a round with 1 message(s)",)


# Before any request


def test_r034_what_cannot_leave_and_is_too_long_by_itself_is_named_with_its_size() -> None:
    view = view_of([*talk(3), Message.user("x" * 200_000)], window=8_000)
    found = guards.hopeless(view)
    assert found is not None and found.parts[0] == ("user (message 7)", 50_004)
    assert "50,004" in found.reason and "8,000" in found.reason


def test_a_conversation_that_fits_is_not_hopeless() -> None:
    assert guards.hopeless(view_of(LONG)) is None


def test_r011_overhead_that_reaches_the_window_is_said_at_once_and_nothing_is_asked() -> None:
    talked = conversation([Message.user("hi")])
    beside = around(4_096, system="s", system_tokens=3_000, tool_tokens=2_000)
    effects: list[object] = []
    (only,) = drive(talked, lambda view: view.unchanged("nothing old"), beside=beside, effects=effects)  # type: ignore[arg-type]
    assert only.outcome == "skipped" and effects == []
    assert "system prompt, memory and tool schemas 5,000" in only.reason and "4,096" in only.reason


def test_r011_overhead_that_reaches_a_trigger_is_said_before_a_summary_is_asked_for() -> None:
    talked = conversation(talk(12))
    policy = HarnessPolicy(CompactionConfig(trigger_tokens=2_000, keep_messages=2))
    effects: list[Effect] = []
    (only,) = drive(
        talked, policy, beside=around(100_000, system="s", system_tokens=1_500, tool_tokens=700), effects=effects
    )
    assert only.outcome == "skipped" and effects == []
    assert only.reason == "system prompt, memory and tool schemas alone are 2,200 tokens and reach the trigger of 2,000"
    (done,) = drive(talked, policy, "manual", around(100_000, system="s", system_tokens=1_500, tool_tokens=700))
    assert done.outcome == "completed"  # asked for is asked for


# Any rubbish


def rubbish(view: View) -> st.SearchStrategy[Items]:
    """Lists as a careless policy makes them: dropped, doubled, moved, foreign and made-up items, failed summaries."""
    own = st.sampled_from(view.input[:])
    foreign = st.sampled_from(
        [
            Item(len(view.log) + 3, Message.user("never said")),
            Item(-1, Message.user("before all")),
            Item(None, Message.system("in the prompt"), "summary", (0,)),
            Item(None, Message.assistant("made up"), "note"),
            Item(None, Message.assistant(None, [ToolCall("made-up", "run")]), "note"),
            Item(None, Message.tool("nobody", "orphan"), "note"),
            edits.note("a note"),
            edits.summary(Reply("short"), of=view.input[:2]),
            edits.summary(Reply(None, Failure("timeout")), of=view.input[:2]),
        ]
    )
    edited = own.map(lambda item: edits.edited(item, item.message.with_text("?"), "truncated"))
    lying = own.map(lambda item: replace(item, message=Message.user("something else")))
    return st.lists(own | own | foreign | edited | lying, max_size=14).map(tuple)


@given(
    transcript=transcripts(1),
    hook=st.sampled_from(["request", "manual", "overflow"]),
    pin=st.integers(0, 3),
    drawn=st.data(),
)
def test_whatever_a_policy_returns_the_list_stays_one_that_a_provider_takes(
    transcript: Transcript, hook: Hook, pin: int, drawn: st.DataObject
) -> None:
    talked = conversation([message for message in transcript if message.role != "system"])
    pinned = talked.log[min(pin, len(talked.log) - 1)].text
    talked.set_pins((Pin(pinned),))
    was = talked.input
    size = talked.view(hook, around()).tokens
    said = copy.deepcopy(talked.log[:])

    drive(talked, lambda view: view.becomes(drawn.draw(rubbish(view)), "mine"), hook)

    is_waiting = talked.log[-1].role in ("user", "tool")
    assert problems(sent(talked.input[:]), needs_reply=is_waiting) == ()
    assert talked.view(hook, around()).tokens <= size
    assert talked.log[:] == said
    if talked.input is not was:
        shown = [item.message for item in talked.input]
        last = max(at for at, message in enumerate(talked.log) if message.origin == "user")
        assert talked.log[last] in shown
        assert any(pinned in message.text for message in shown if message.role == "user")

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Text, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.policies.tiers import IMAGE_ELIDED, RESULT_ELIDED, TiersConfig, TiersPolicy
from tests.strategies import PICTURE, transcripts

NOTE = (
    '<agent-note kind="compaction_summary">\n'
    "[earlier conversation: {} message(s) elided due to context pressure]\n"
    "</agent-note>"
)


def asked(text: str = "question") -> Message:
    return Message.user(text)


def said(text: str = "answer") -> Message:
    return Message.assistant(text)


def use(call_id: str = "c1") -> Message:
    return Message.assistant(None, [ToolCall(call_id, "Read", '{"path":"a"}')])


def result(call_id: str = "c1", text: str = "result", **fields: Any) -> Message:
    return Message.tool(call_id, text, **fields)


def view_of(messages: list[Message], window: int = 1_000, **fields: Any) -> View:
    return View.of(Transcript(messages), model=ModelLimits(name="model", window=window), **fields)


def at_share(messages: list[Message], share: float, policy: TiersPolicy) -> View:
    """A view whose pressure is that share of the window."""
    bare = policy.pressure(view_of(messages, window=1)).tokens
    return view_of(messages, window=max(1, int(bare / share)))


def in_tier(number: int, messages: list[Message], **settings: Any) -> tuple[View, Plan]:
    """What the policy plans when that tier is in force, by thresholds that put it there."""
    thresholds = {1: (1, 99.8, 99.9), 2: (1, 2, 99.9), 3: (1, 2, 3)}[number]
    policy = TiersPolicy(TiersConfig(thresholds=thresholds, **settings))
    view = at_share(messages, 0.5, policy)
    assert policy.pressure(view).tier == number
    return view, policy.plan(view)


def texts(plan: Plan, view: View) -> list[str]:
    return [item.message.text for item in plan.items(view)]


# Pressure


def test_the_estimate_rounds_up_each_part_by_itself() -> None:
    messages = [Message.system("s" * 400), asked("q" * 10), use(), result(text="r" * 9)]
    assert TiersPolicy().pressure(view_of(messages)).tokens == 100 + 3 + (1 + 3) + 3


def test_an_image_costs_a_fixed_amount_and_empty_text_nothing() -> None:
    policy = TiersPolicy()
    assert policy.size(Message.user((Text(""), PICTURE))) == 3_072
    assert policy.size(Message.assistant(None)) == 0


def test_arguments_count_as_compact_json_and_as_written_when_they_are_none() -> None:
    policy = TiersPolicy()
    spaced = Message.assistant(None, [ToolCall("c", "Read", '{ "path" :  "a" }')])
    broken = Message.assistant(None, [ToolCall("c", "Read", "x" * 40)])
    assert policy.size(spaced) == 1 + 3
    assert policy.size(broken) == 1 + 10


@pytest.mark.parametrize(
    ("tokens", "tier"), [(749, 0), (750, 1), (899, 1), (900, 2), (949, 2), (950, 3), (1_000, 3), (1_200, 3)]
)
def test_a_tier_begins_at_its_threshold(tokens: int, tier: int) -> None:
    pressure = TiersPolicy().pressure(view_of([Message.system("s" * 4 * tokens)]))
    assert (pressure.tokens, pressure.tier) == (tokens, tier)


def test_the_pressure_names_its_bands_for_displays() -> None:
    bands = TiersPolicy().pressure(view_of([asked()])).tiers
    assert [(band.number, band.threshold) for band in bands] == [(1, 750), (2, 900), (3, 950)]


@pytest.mark.parametrize(
    "settings",
    [
        {"thresholds": (90, 75, 95)}, {"thresholds": (0, 50, 60)}, {"thresholds": (50, 60, 101)},
        {"tier1_keep_ratio": 1.5}, {"head_ratio": -0.1}, {"tier2_keep_messages": 0}, {"chars_per_token": 0},
        {"grouping": "all"}, {"escalate": 1},
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_by_name(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        TiersConfig(**settings)
    name, value = next(iter(settings.items()))
    assert name in caught.value.problem and repr(value) in caught.value.problem


def test_below_the_first_tier_nothing_happens() -> None:
    plan = TiersPolicy().plan(view_of([asked()]))
    assert not plan.changes and plan.reason == "below 75 % of the window"


# Tier 1


@pytest.mark.parametrize(("chars", "head", "tail", "elided"), [(1_000, 200, 200, 600), (1_001, 200, 200, 601)])
def test_tier_1_keeps_two_fifths_of_the_largest_result(chars: int, head: int, tail: int, elided: int) -> None:
    text = "".join(chr(97 + at % 26) for at in range(chars))
    view, plan = in_tier(1, [asked(), use(), result(text=text)])
    marker = f"\n[{elided} characters elided due to context pressure]\n"
    assert texts(plan, view)[2] == text[:head] + marker + text[-tail:]
    assert plan.outcome == "truncated" and len(plan.items(view)) == 3


def test_tier_1_leaves_a_result_alone_that_the_marker_would_not_shorten() -> None:
    view, plan = in_tier(1, [asked(), use(), result(text="r" * 10)])
    assert not plan.changes and plan.outcome == "noop"


def test_tier_1_takes_the_oldest_of_equal_results_and_no_other() -> None:
    messages = [asked(), use("c1"), result("c1", "r" * 500), use("c2"), result("c2", "s" * 500)]
    view, plan = in_tier(1, messages)
    assert [item.how for item in plan.items(view)] == ["kept", "kept", "truncated", "kept", "kept"]


def test_tier_1_keeps_id_status_and_pictures() -> None:
    shown = replace(result(status="error"), content=(Text("r" * 900), PICTURE))
    view, plan = in_tier(1, [asked(), use(), shown])
    message = plan.items(view)[2].message
    assert (message.call_id, message.status, message.parts[-1]) == ("c1", "error", PICTURE)


def test_tier_1_shortens_again_without_piling_up_markers() -> None:
    view, plan = in_tier(1, [asked(), use(), result(text="r" * 2_000)])
    for _ in range(3):
        view = view.after(plan)
        plan = TiersPolicy(TiersConfig(thresholds=(1, 99.8, 99.9))).plan(view)
    assert texts(plan, view)[2].count("elided due to context pressure") == 1


# Tier 2


def test_tier_2_keeps_six_messages_and_says_how_many_are_gone() -> None:
    messages = [asked() if at % 2 == 0 else said() for at in range(39)]
    view, plan = in_tier(2, messages)
    first, *kept = plan.items(view)
    assert first.message == Message.user(NOTE.format(33), origin="harness")
    assert [item.index for item in kept] == list(range(33, 39))
    assert first.stands_for == tuple(range(33))


def test_tier_2_counts_on_from_the_note_before() -> None:
    view, plan = in_tier(2, [asked() if at % 2 == 0 else said() for at in range(39)])
    view = view.after(plan)
    grown = replace(view, input=view.input.append(Item(39, said("two")), Item(40, asked("more"))))
    again = TiersPolicy(TiersConfig(thresholds=(1, 2, 99.9))).plan(grown)
    assert again.items(grown)[0].message.text == NOTE.format(35) and len(again.items(grown)) == 7


def test_tier_2_never_begins_with_a_result() -> None:
    messages = [
        asked(), said(), asked(), use("c1"), result("c1"),
        asked("steer"), said(), asked(), use("c2"), result("c2"),
    ]  # fmt: skip
    view, plan = in_tier(2, messages)
    assert texts(plan, view)[0] == NOTE.format(3) and len(plan.items(view)) == 8
    assert plan.items(view)[1].message.calls


def test_tier_2_counts_parallel_results_as_one_message() -> None:
    round_of_three = [
        Message.assistant(None, [ToolCall(name, "Read") for name in ("a", "b", "c")]),
        result("a"), result("b"), result("c"),
    ]  # fmt: skip
    messages = [asked(), said(), asked(), *round_of_three, said(), asked(), said(), asked()]
    view, plan = in_tier(2, messages)
    assert texts(plan, view)[0] == NOTE.format(3)
    _, single = in_tier(2, messages, grouping="each")
    assert single.items(view)[0].message.text == NOTE.format(3)  # the cut moves back to the start of the round


def test_tier_2_without_anything_to_elide_says_nothing() -> None:
    view, plan = in_tier(2, [asked(), said(), asked(), said(), asked(), said()])
    assert not plan.changes and plan.outcome == "noop"


def test_what_a_user_types_is_no_note_even_when_it_looks_like_one() -> None:
    messages = [asked(NOTE.format(90)), *(asked() if at % 2 else said() for at in range(9))]
    view, plan = in_tier(2, messages)
    assert texts(plan, view)[0] == NOTE.format(4)


# Tier 3


def test_tier_3_keeps_the_latest_request_and_what_followed_with_placeholders() -> None:
    messages = [asked("old"), said("old"), asked("now"), use("c1"), result("c1", "long " * 50, status="error")]
    view, plan = in_tier(3, messages)
    note, request, call, answer = plan.items(view)
    assert note.message.text == NOTE.format(2)
    assert (request.message, call.message) == (messages[2], messages[3])
    assert (answer.message.text, answer.message.call_id, answer.message.status) == (RESULT_ELIDED, "c1", "error")


def test_tier_3_replaces_pictures_also_in_the_request_itself() -> None:
    view, plan = in_tier(3, [asked("old"), said(), Message.user((Text("see"), PICTURE)), said()])
    assert plan.items(view)[1].message.parts == (Text("see"), Text(IMAGE_ELIDED))


def test_tier_3_passes_over_an_elided_picture_as_a_request() -> None:
    messages = [asked("real"), said(), Message.user((Text(IMAGE_ELIDED),)), use(), result()]
    view, plan = in_tier(3, messages)
    assert plan.items(view)[0].message == asked("real")


def test_tier_3_without_a_request_goes_by_the_latest_picture_and_else_cuts_nothing() -> None:
    note = Message.user("from the harness", origin="harness")
    view, plan = in_tier(3, [note, said(), Message.user((PICTURE,)), use(), result()])
    assert plan.items(view)[1].index == 2
    view, plan = in_tier(3, [note, use(), result()])
    assert [item.index for item in plan.items(view)] == [0, 1, 2] and texts(plan, view)[2] == RESULT_ELIDED


def test_tier_3_can_leave_acknowledgements_and_the_last_results_alone() -> None:
    messages = [asked("do it"), use("c1"), result("c1", "one"), asked("Go on!"), use("c2"), result("c2", "two")]
    view, plan = in_tier(3, messages, ignore_acknowledgements=True, tier3_protect_last_results=1)
    assert texts(plan, view) == ["do it", "", RESULT_ELIDED, "Go on!", "", "two"]


def test_tier_3_may_say_nothing_of_what_is_gone() -> None:
    view, plan = in_tier(3, [asked("old"), said(), asked("now"), use(), result()], tier3_note=False)
    assert texts(plan, view)[0] == "now"


# All tiers


@pytest.mark.parametrize("number", [2, 3])
@given(transcript=transcripts(1))
def test_a_second_pass_finds_nothing_more(number: int, transcript: Transcript) -> None:
    view, plan = in_tier(number, [*transcript, *(() if transcript[-1].role != "system" else (asked(),))])
    after = view.after(plan)
    policy = TiersPolicy(TiersConfig(thresholds={2: (0.01, 0.02, 100), 3: (0.01, 0.02, 0.03)}[number]))
    again = policy.plan(replace(after, model=ModelLimits(name="m", window=max(1, policy.pressure(after).tokens) * 2)))
    assert not again.changes


@given(transcript=transcripts(1), number=st.sampled_from([1, 2, 3]))
def test_every_tier_leaves_a_list_that_a_provider_takes(transcript: Transcript, number: int) -> None:
    view, plan = in_tier(number, list(transcript))
    assert problems([item.message for item in plan.items(view)], needs_reply=False) == ()


@given(transcript=transcripts(1), number=st.sampled_from([1, 2, 3]))
def test_r023_the_view_is_as_it_was(transcript: Transcript, number: int) -> None:
    before = copy.deepcopy(list(transcript))
    view, _ = in_tier(number, list(transcript))
    assert list(transcript) == before == list(view.log)


def test_only_one_tier_acts_unless_it_is_told_to_escalate() -> None:
    messages = [
        asked("old"),
        said(),
        *(one for at in range(4) for one in (asked(f"{at}"), use(), result(text="r" * 400))),
    ]
    view, plan = in_tier(1, messages)
    assert not plan.again
    view, plan = in_tier(1, messages, escalate=True)
    assert plan.again


def test_by_hand_the_second_tier_acts_at_least() -> None:
    messages = [asked() if at % 2 == 0 else said() for at in range(20)]
    plan = TiersPolicy().plan(view_of(messages, window=100_000, hook="manual"))
    assert plan.outcome == "elided" and len(plan.input or ()) == 7


# Recorded cases


def _text(value: Any) -> Any:
    """A value of a recording with its shorthand for long texts written out."""
    match value:
        case {"repeat": [text, times]}:
            return text * times
        case {"concat": pieces}:
            return "".join(map(_text, pieces))
        case dict():
            return {key: _text(one) for key, one in value.items()}
        case list():
            return [_text(one) for one in value]
    return value


def _recorded_view(case: dict[str, Any]) -> View:
    config = case["config"]
    messages = [
        Message.from_openai(_text(wire), origin="harness" if at in config.get("harness_messages", ()) else None)
        for at, wire in enumerate(case["messages"])
    ]
    for message, part in config.get("placeholder_parts", ()):
        parts = list(messages[message].parts)
        parts[part] = Text(IMAGE_ELIDED)
        messages[message] = replace(messages[message], content=tuple(parts))
    return view_of(messages, case["expect"]["token_estimates"]["window"])


def _carried_out(policy: TiersPolicy, view: View) -> tuple[tuple[Item, ...], int]:
    """The list after all passes, and the size that the policy sees there."""
    done: tuple[Plan, ...] = ()
    while not done or (done[-1].again and len(done) < policy.passes):
        plan = policy.plan(view)
        done = (*done, plan)
        view = replace(view.after(plan), done=done)
    return view.input[:], policy.pressure(view).tokens


def _recorded(item: Item) -> dict[str, Any]:
    """An item in the words of the recordings."""
    if item.index is None:
        return {"kind": "note", "elided": item.meta["elided"]}
    if item.how == "truncated":
        meta = {"chars": len(item.message.text), "head": item.meta["head"], "tail": item.meta["tail"]}
        return {"kind": "truncated", "index": item.index, **meta, "elided": item.meta["omitted"]}
    return {"kind": "verbatim" if item.how == "kept" else "placeholder", "index": item.index}


def test_every_recorded_compaction_comes_out_the_same(data: Path) -> None:
    lines = (data / "conformance" / "eney.jsonl").read_text(encoding="utf-8").splitlines()
    known = set(TiersConfig.__dataclass_fields__)
    seen = 0
    for case in map(json.loads, lines):
        expected = case["expect"]
        if "messages" not in case or case["kind"] == "replace" or expected["status"] == "error":
            continue
        policy = TiersPolicy(TiersConfig(**{name: case["config"][name] for name in known & case["config"].keys()}))
        view = _recorded_view(case)
        items, size = _carried_out(policy, view)
        output = [
            {key: one[key] for key in one if key not in ("what", "images", "count")} for one in expected["output"]
        ]
        sizes = (expected["token_estimates"]["before"], expected["token_estimates"]["after"])
        assert (policy.pressure(view).tokens, size) == sizes, case["id"]
        assert list(map(_recorded, items)) == output, case["id"]
        seen += 1
    assert seen > 40

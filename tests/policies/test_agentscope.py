from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.messages import Message, Text, ToolCall, to_json
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Failure, Reply, Unknown
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, ContextOverflowError, HarnessError, ModelError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.policies.agentscope import (
    AgentScopeArguments,
    AgentScopeConfig,
    AgentScopeEviction,
    AgentScopePolicy,
)
from harness_nb.policies.agentscope.sizes import AgentScopeSize, arguments_text
from harness_nb.policies.agentscope.texts import SUMMARY_NAME
from tests.strategies import transcripts


def use(*ids: str, **arguments: str) -> Message:
    return Message.assistant(None, [ToolCall(one, "run", to_json(arguments)) for one in ids])


def result(call_id: str, text: str = "out") -> Message:
    return Message.tool(call_id, text, name="run")


def talk(count: int, text: str = "words") -> list[Message]:
    return [Message.user(f"{text} {at}") if at % 2 == 0 else Message.assistant(f"{text} {at}") for at in range(count)]


def policy(**settings: Any) -> AgentScopePolicy:
    return AgentScopePolicy(AgentScopeConfig(**settings))


def view_of(messages: list[Message], **fields: Any) -> View:
    return View.of(Transcript(messages), **fields)


def planned(chosen: AgentScopePolicy, view: View, *replies: Reply) -> Plan:
    """The plan once these replies came, in order."""
    given = iter(replies)
    view = replace(view, strict=True)
    while True:
        try:
            return chosen.plan(view)
        except Unknown as signal:
            view = view.learn(signal.request, next(given))


def indices(plan: Plan) -> list[int | None]:
    return [item.index for item in plan.input or ()]


# Sizes


def test_sizes_are_two_and_a_half_units_a_token_each_text_rounded_up_by_itself() -> None:
    size = AgentScopeSize()
    assert size(Message.user("x" * 10)) == 5 + 2 + 4
    assert size(Message.user("🙂" * 5, name="sam")) == 5 + 2 + 4 + 2
    assert size(Message.assistant("")) == 5 + 4
    assert size(Message.assistant(None, [ToolCall("call", "run", '{"a": "b"}')])) == 5 + 4 + 10 + 2 + 2 + 4
    assert size(Message.tool("call", "x" * 5, name="run")) == 5 + 2 + 8 + 2 + 2 + 2


def test_arguments_that_are_kept_as_text_count_twice() -> None:
    message = Message.assistant(None, [ToolCall("call", "run", '{"a":"b"}')])
    assert AgentScopeSize(raw_content=True)(message) == AgentScopeSize()(message) + 4


def test_arguments_are_measured_as_java_prints_them() -> None:
    call = ToolCall("c", "run", '{"t": "a\\"b", "n": 1.0, "b": true, "x": null, "l": [1, "y"], "m": {"k": "v"}}')
    assert arguments_text(call) == '{"t":"a"b","n":1.0,"b":true,"x":null,"l":[1, y],"m":{k=v}}'
    assert arguments_text(ToolCall("c", "run")) == arguments_text(ToolCall("c", "run", "no json")) == ""


# Trigger and cut


@pytest.mark.parametrize(
    ("settings", "count", "fires"),
    [
        ({}, 49, False), ({}, 50, True), ({"trigger_messages": 0}, 200, False),
        ({"trigger_tokens": 120, "trigger_messages": 0}, 10, False), ({"trigger_tokens": 100}, 10, True),
    ],
)  # fmt: skip
def test_either_trigger_is_enough_and_zero_switches_one_off(settings: dict[str, int], count: int, fires: bool) -> None:
    plan = policy(**settings, keep_messages=2).plan(view_of(talk(count)))
    assert plan.changes is fires


def test_an_empty_conversation_is_left_alone_even_with_a_trigger_of_nothing() -> None:
    assert not policy(trigger_messages=1).plan(view_of([])).changes


def test_the_last_messages_stay_and_a_summary_stands_for_the_others() -> None:
    plan = policy(trigger_messages=10, keep_messages=4).plan(view_of(talk(12)))
    assert indices(plan) == [None, 8, 9, 10, 11]
    summary = (plan.input or ())[0]
    assert summary.stands_for == tuple(range(8)) and summary.message.name == SUMMARY_NAME


def test_nothing_happens_when_no_more_messages_are_there_than_stay() -> None:
    plan = policy(trigger_messages=5, keep_messages=8).plan(view_of(talk(8)))
    assert (plan.changes, plan.outcome) == (False, "noop")


@pytest.mark.parametrize(
    ("messages", "raw", "safe"),
    [
        ([*talk(2), use("a"), result("a"), *talk(3)], 3, 2),  # back to the call
        ([*talk(2), result("lost"), result("lost2"), *talk(3)], 2, 4),  # past the run
        ([use("a"), result("a"), *talk(3)], 1, 0),
        ([*talk(2), use("a", "b"), result("a"), Message.user("wait"), result("b"), *talk(2)], 5, 2),
        ([use("a"), result("a"), use("b"), Message.user("x"), result("a"), result("b"), *talk(1)], 4, 2),
        ([*talk(4)], 2, 2),
    ],
)
def test_a_cut_leaves_the_run_at_it_with_its_nearest_call(messages: list[Message], raw: int, safe: int) -> None:
    items = view_of(messages).input
    cut = policy(keep_messages=len(messages) - raw).cut(items)
    assert (cut.raw, cut.safe) == (raw, safe)


@pytest.mark.parametrize(("budget", "raw"), [(10_000, 0), (22, 8), (21, 9), (1, 9)])
def test_by_tokens_the_longest_tail_within_the_budget_stays_and_one_message_in_any_case(budget: int, raw: int) -> None:
    assert policy(keep_tokens=budget).cut(view_of(talk(10)).input).raw == raw


# The pre-pass


def long_calls(text: str = "x" * 3_000) -> list[Message]:
    return [Message.user("go"), use("a", content=text), result("a"), *talk(27)]


def test_documented_arguments_keep_as_much_as_the_limit_and_stay_short_without_a_compaction() -> None:
    plan = policy(truncate_args=AgentScopeArguments()).plan(view_of(long_calls()))
    assert (plan.outcome, plan.lasts) == ("truncated", "session")
    call = (plan.input or ())[1].message.calls[0]
    assert call.parsed() == {"content": "x" * 2_000 + "...(argument truncated)"}


def test_shipped_arguments_keep_twenty_units_and_are_thrown_away_without_a_compaction() -> None:
    shipped = {"keeps_shortened": False, "shortens_to_limit": False}
    quiet = policy(truncate_args=AgentScopeArguments(), **shipped).plan(view_of(long_calls()))
    assert not quiet.changes
    plan = policy(truncate_args=AgentScopeArguments(), trigger_messages=30, keep_messages=29, **shipped).plan(
        view_of(long_calls())
    )
    call = (plan.input or ())[1].message.calls[0]
    assert call.parsed() == {"content": "x" * 20 + "...(argument truncated)"}


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        ({"trigger_messages": 31}, False), ({"keep_messages": 29}, False), ({"keep_messages": 28}, True),
        ({"keep_tokens": 1}, False), ({"keep_tokens": 100}, True), ({"max_arg_length": 3_000}, False),
        ({"trigger_messages": 0, "trigger_tokens": 100}, True), ({"trigger_messages": 0, "trigger_tokens": 0}, False),
    ],
)  # fmt: skip
def test_the_pre_pass_has_triggers_and_a_tail_of_its_own(settings: dict[str, int], changes: bool) -> None:
    plan = policy(truncate_args=AgentScopeArguments(**settings)).plan(view_of(long_calls()))
    assert plan.changes is changes


def test_only_texts_at_the_top_of_the_arguments_are_shortened() -> None:
    nested = Message.assistant(None, [ToolCall("a", "run", to_json({"l": ["y" * 99], "t": "z" * 99}))])
    messages = [Message.user("go"), nested, result("a"), *talk(27)]
    plan = policy(truncate_args=AgentScopeArguments(max_arg_length=50, truncation_text="!")).plan(view_of(messages))
    assert (plan.input or ())[1].message.calls[0].parsed() == {"l": ["y" * 99], "t": "z" * 50 + "!"}


def test_shipped_a_limit_below_twenty_breaks_on_an_argument_between() -> None:
    settings = AgentScopeArguments(max_arg_length=10)
    with pytest.raises(HarnessError, match="15 units"):
        policy(truncate_args=settings, shortens_to_limit=False).plan(view_of(long_calls("fifteen letters")))
    assert policy(truncate_args=settings).plan(view_of(long_calls("fifteen letters"))).changes


# The summary


def test_the_request_shows_the_conversation_without_arguments_and_earlier_summaries() -> None:
    earlier = Message.user("what was before", origin="harness", name=SUMMARY_NAME)
    messages = [earlier, use("a", path="secret.py"), result("a", "r" * 600), *talk(4)]
    chosen = policy(trigger_messages=5, keep_messages=2)
    view = replace(view_of(messages), strict=True)
    with pytest.raises(Unknown) as caught:
        chosen.plan(view)
    text = caught.value.request.messages[0].text  # type: ignore[union-attr]  # it is an Ask
    assert caught.value.request.shown == (1, 2, 3, 4)  # type: ignore[union-attr]
    assert "[tool_call: run]" in text and "secret.py" not in text and "what was before" not in text
    assert f"[tool_result: run] {'r' * 500}...\n" in text and "Human: words 0" in text


def test_with_nothing_but_an_earlier_summary_before_the_cut_no_model_is_asked() -> None:
    earlier = Message.user("a zebra", origin="harness", name=SUMMARY_NAME)
    plan = planned(policy(trigger_messages=5, keep_messages=5), view_of([earlier, *talk(5)]))
    assert "zebra" not in (plan.input or ())[0].message.text


@pytest.mark.parametrize(
    ("reply", "failed"),
    [
        (Reply(" \n a summary \n"), None), (Reply("  "), "blank"),
        (Reply(None, Failure("overflow", "maximum context length")), "overflow"),
    ],
)  # fmt: skip
def test_shipped_a_failed_summary_takes_the_place_of_what_it_failed_to_sum_up(reply: Reply, failed: str | None) -> None:
    plan = planned(policy(trigger_messages=8, keep_messages=4), view_of(talk(10)), reply)
    summary = (plan.input or ())[0]
    assert indices(plan) == [None, 6, 7, 8, 9] and summary.meta.get("failed") == failed
    assert (reply.text.strip() or (reply.failure.detail if reply.failure else "no summary")) in summary.message.text


def test_the_summary_names_a_file_only_where_messages_are_written_down() -> None:
    for offload in (True, False):
        chosen = policy(trigger_messages=8, keep_messages=4, offload_before_compact=offload)
        plan = planned(chosen, view_of(talk(10)), Reply("short"))
        assert ("file" in (plan.input or ())[0].message.text) is offload


def test_a_prompt_without_a_place_for_the_conversation_leaves_it_out() -> None:
    request = policy(summary_prompt="Sum up.").request(view_of(talk(4)).input[:])
    assert request.messages[0].text == "Sum up." and request.shown == (0, 1, 2, 3)


# After an overflow


def test_after_an_overflow_the_users_own_settings_do_not_count_and_the_request_comes_twice() -> None:
    view = view_of(talk(31), hook="overflow", turn=30)
    plan = policy(keep_messages=2, keep_tokens=5, trigger_messages=0).plan(view)
    assert indices(plan) == [None, *range(11, 31), 30]


def test_with_twenty_messages_an_overflow_can_not_be_recovered() -> None:
    assert not policy().plan(view_of(talk(20), hook="overflow")).changes


@pytest.mark.parametrize(
    ("text", "is_overflow"),
    [
        ("Error: context_length_exceeded", True), ("Please reduce the LENGTH of the messages", True),
        ("rate limit: token limit reached", True), ("prompt is too long", False), ("上下文长度超限", False), ("", False),
    ],
)  # fmt: skip
def test_some_errors_count_as_an_overflow(text: str, is_overflow: bool) -> None:
    assert policy().counts_as_overflow(text) is is_overflow


# Large results


def evicting(**settings: Any) -> AgentScopePolicy:
    return policy(tool_result_eviction=AgentScopeEviction(max_result_chars=100, preview_chars=20, **settings))


def test_a_large_result_becomes_a_preview_with_the_path_of_its_file() -> None:
    view = view_of([Message.user("go"), use("a"), result("a", "h" * 60 + "t" * 60)], hook="result")
    plan = planned(evicting(), view, Reply("spill/a"))
    item = (plan.input or ())[2]
    assert (item.how, item.meta["path"], item.meta["head"], item.meta["tail"]) == ("evicted", "spill/a", 20, 20)
    assert "120" in item.message.text and "h" * 20 + "\n" in item.message.text and "t" * 21 not in item.message.text


def test_results_that_are_short_exempt_or_can_not_be_written_stay() -> None:
    large = result("a", "x" * 101)
    for messages, chosen, reply in (
        ([result("a", "x" * 100)], evicting(), Reply("p")),
        ([large], evicting(excluded_tool_names=frozenset({"run"})), Reply("p")),
        ([large], evicting(), Reply(None, Failure("error", "the file exists"))),
        ([large], policy(), Reply("p")),
        ([large, Message.user("later")], evicting(), Reply("p")),
    ):
        view = view_of([Message.user("go"), use("a"), *messages], hook="result")
        assert not planned(chosen, view, reply).changes


def test_a_picture_has_no_text_that_could_be_moved() -> None:
    message = replace(result("a"), content=(Text("ab"), Text("c" * 98)))
    assert AgentScopePolicy.text_of(message) == "ab" + "c" * 98


@pytest.mark.parametrize(
    ("settings", "path", "expected"),
    [
        ({}, "spill/", "spill//My_Agent__/call_1____x"), ({}, "spill", "spill/My_Agent__/call_1____x"),
        ({"evicts_to_root": True}, "spill", "/spill/My_Agent__/call_1____x"),
        ({"evicts_to_root": True}, "/spill", "/spill/My_Agent__/call_1____x"),
    ],
)  # fmt: skip
def test_the_files_of_results_are_named_as_the_original_does(
    settings: dict[str, bool], path: str, expected: str
) -> None:
    chosen = policy(tool_result_eviction=AgentScopeEviction(eviction_path=path), **settings)
    assert chosen.evicted_path("My Agent/ü", "call:1/..\\x") == expected


# Properties


@given(transcripts(), st.integers(1, 12), st.integers(0, 12))
def test_plans_are_deterministic_and_never_lose_the_order(messages: Any, trigger: int, keep: int) -> None:
    view = View.of(Transcript(messages))
    chosen = policy(trigger_messages=trigger, keep_messages=keep)
    plan = chosen.plan(view)
    assert plan == chosen.plan(view)
    kept = [index for index in indices(plan) if index is not None]
    assert kept == sorted(kept)
    gone = {item.index for item in view.input} - set(kept)
    assert not plan.changes or gone <= set((plan.input or ())[0].stands_for)


# Settings


def test_a_wrong_setting_is_named() -> None:
    for wrong in ({"keep_messages": -1}, {"truncate_args": {}}, {"tool_result_eviction": 5}, {"raw_content": "yes"}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            AgentScopeConfig(**wrong)  # type: ignore[arg-type]


def test_the_variants_differ_in_four_settings() -> None:
    documented, shipped = presets.get("agentscope"), presets.get("agentscope", variant="as_shipped")
    assert (documented.variant, shipped.variants) == ("as_documented", ("as_documented", "as_shipped"))
    differ = {key for key, value in documented.settings.items() if shipped.settings[key] != value}
    assert differ == {"keeps_shortened", "shortens_to_limit", "replaces_errors", "evicts_to_root"}
    assert presets.get("agentscope", truncate_args={"max_arg_length": 9}).settings["truncate_args"].max_arg_length == 9
    for wrong in ({"variant": "newest"}, {"truncate_args": {"max_length": 9}}, {"keep": 3}):
        with pytest.raises(
            ConfigError, match=str(next(iter(wrong.values())) if "variant" in wrong else next(iter(wrong)))
        ):
            presets.get("agentscope", **wrong)


# Live: what the guards prevent


def agent_of(workspace: Path, clock: Clock, *, chat: Any, variant: str = "as_shipped", **options: Any) -> HarnessAgent:
    """An agent of AgentScope's that compacts at eight messages and keeps four."""
    model = ScriptedModel(chat=chat, repeat_last=True, **options.pop("scripts", {}))
    settings = {"trigger_messages": 8, "keep_messages": 4, **options}
    preset = presets.get("agentscope", variant=variant, **settings)
    return HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock)


@pytest.mark.parametrize("summary", ["  ", ModelError("down")])
def test_live_a_failed_summary_replaces_nothing(workspace: Path, clock: Clock, summary: Any) -> None:
    agent = agent_of(workspace, clock, chat=["ok"], scripts={"summary": [summary], "flush": ["NO_REPLY"]})
    for turn in range(6):
        agent.ask(f"question {turn}")
    items = agent.view().input
    agent.close()
    assert [item.index for item in items] == list(range(12))


def test_live_a_request_comes_once_after_an_overflow(workspace: Path, clock: Clock) -> None:
    chat = [*["ok"] * 12, ContextOverflowError("context_length_exceeded"), "ok"]
    agent = agent_of(workspace, clock, chat=chat, trigger_messages=0, scripts={"flush": ["NO_REPLY"]})
    for turn in range(13):
        agent.ask(f"question {turn}" + " and some more about it" * 200)
    assert isinstance(agent.model, ScriptedModel)
    last = [one for one in agent.model.requests if one.purpose == "chat"][-1]
    agent.close()
    assert sum("question 12" in message.text for message in last.messages) == 1
    assert any(message.name == SUMMARY_NAME for message in last.messages)


def test_live_the_request_of_a_long_turn_stays_word_for_word(workspace: Path, clock: Clock) -> None:
    def step(request: Any) -> Any:
        done = sum(message.role == "tool" for message in request.messages)
        seen.append([message.text for message in request.messages])
        return "done" if len(seen) > 12 else ToolCall(f"c{len(seen)}-{done}", "memory_search", '{"query": "x"}')

    seen: list[list[str]] = []
    agent = agent_of(workspace, clock, chat=[step], scripts={"flush": ["NO_REPLY"]})
    agent.ask("find everything about topic zebra")
    agent.close()
    assert all(any("topic zebra" in text for text in texts) for texts in seen)


def test_live_an_argument_that_breaks_the_pre_pass_does_not_break_the_turn(workspace: Path, clock: Clock) -> None:
    call = ToolCall("c1", "memory_search", '{"query": "fifteen letters"}')
    settings = {"trigger_messages": 3, "keep_messages": 1, "max_arg_length": 10}
    agent = agent_of(workspace, clock, chat=[[call], "ok", "still here"], truncate_args=settings, trigger_messages=0)
    agent.ask("one")
    assert agent.ask("two").text == "still here"
    agent.close()

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.config import MemoryConfig, PinsConfig, ToolResultEvictionConfig
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.rounds import problems
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import HOOKS, View
from harness_nb.errors import ConfigError
from harness_nb.lab.replay import ReplayStopped, replay
from harness_nb.lab.transcripts import read_transcript


class Noting(CompactionPolicy):
    """Does nothing, and notes where it was called and with how much in view."""

    hooks = frozenset(HOOKS)

    def __init__(self) -> None:
        self.called: list[tuple[str, int, int]] = []

    def plan(self, view: View) -> Plan:
        self.called.append((view.hook, len(view.log), view.turn))
        return view.unchanged("only looking")


def calling(*ids: str, **fields: Any) -> Message:
    return Message.assistant(calls=[ToolCall(one, "look") for one in ids], **fields)


TALK = Transcript(
    [
        Message.system("Be brief."),
        Message.user("Look twice."),
        calling("c1", "c2"),
        Message.tool("c1", "one"),
        Message.tool("c2", "two"),
        Message.assistant("Done."),
        Message.user("Thanks."),
        Message.assistant("Welcome."),
    ],
    name="talk",
)


def long_talk(turns: int = 30, words: int = 40) -> Transcript:
    said = []
    for number in range(turns):
        said += [
            Message.user(f"Item {number} costs {number * 7} euros. " + "word " * words),
            Message.assistant("Noted."),
        ]
    return Transcript(said)


def test_the_policy_is_called_where_the_live_loop_would_call_it() -> None:
    policy = Noting()
    run = replay(TALK, policy)
    assert policy.called == [
        ("turn", 2, 1),
        ("request", 2, 1),
        ("result", 5, 1),
        ("request", 5, 1),
        ("end", 6, 1),
        ("turn", 7, 6),
        ("request", 7, 6),
        ("end", 8, 6),
    ]
    assert [(step.step, step.turn, step.index, step.hook) for step in run.steps][-2:] == [
        (7, 2, 7, "request"),
        (8, 2, 8, "end"),
    ]


def test_system_messages_are_the_prompt_and_indices_are_those_of_the_transcript() -> None:
    run = replay(TALK, Noting())
    assert run.final.system == "Be brief."
    assert [item.index for item in run.final.input] == [1, 2, 3, 4, 5, 6, 7]
    assert run.final.log == TALK
    assert run.final.fixed_tokens == run.final.measure.text("Be brief.") > 0
    assert replay(TALK, Noting(), system="Another.").final.system == "Another."


def test_a_quiet_replay_changes_nothing_and_counts_what_was_sent() -> None:
    run = replay(TALK, Noting(), measure=Measure(CharsCounter()))
    assert (run.plans, run.compactions) == ((), ())
    assert {step.reason for step in run.steps} == {"only looking"}
    totals = run.totals
    assert (totals.messages, totals.turns, totals.requests, totals.compactions, totals.model_calls) == (8, 2, 3, 0, 0)
    # "Be brief." 3, "Look twice." 3 + 4, two calls of 8 + 1 + 1 and 4, two results of 1 + 4, "Done." 2 + 4, "Thanks." 2 + 4
    sizes = [3 + 7, 3 + 7 + 24 + 10, 3 + 7 + 24 + 10 + 6 + 6]
    assert [step.tokens_after for step in run.steps if step.hook == "request"] == sizes
    assert (totals.tokens_sent, totals.peak_tokens) == (sum(sizes), max(sizes))


def test_a_policy_acts_and_its_own_request_is_answered_by_the_built_in_model() -> None:
    run = replay(long_talk(), presets.get("harness", trigger_messages=20, keep_messages=6))
    totals = run.totals
    assert totals.compactions == len(run.plans) == totals.model_calls > 1
    assert totals.failures == 0
    first = run.compactions[0]
    assert (first.hook, first.messages_before, first.outcome) == ("request", 21, "compacted")
    assert first.tokens_after < first.tokens_before and first.messages_after < first.messages_before
    summary = run.final.input[0]
    assert summary.how == "summary" and not summary.assumed and "euros" in summary.message.text
    assert problems([item.message for item in run.final.input], needs_reply=False) == ()
    assert totals.own_tokens > 0


def test_without_a_model_replies_are_assumed_and_the_plans_are_the_same() -> None:
    preset = presets.get("harness", trigger_messages=20, keep_messages=6)
    asked, assumed = replay(long_talk(), preset), replay(long_talk(), preset, model=None)
    assert assumed.final.input[0].assumed
    assert [step.index for step in asked.compactions] == [step.index for step in assumed.compactions]


def test_the_transcript_stays_as_it_is_and_a_second_replay_is_equal() -> None:
    talk = long_talk()
    before = talk[:]
    first, second = replay(talk), replay(talk)
    assert talk[:] == before
    assert first.records == second.records
    assert first.final.input == second.final.input


def test_recorded_bills_are_the_figure_as_long_as_the_list_is_the_recorded_one() -> None:
    said = [
        Message.user("Hi."),
        Message.assistant("Hi.", usage=Usage(5_000, 20)),
        Message.user("Go."),
        Message.assistant("Yes."),
    ]
    steps = replay(Transcript(said), Noting()).steps
    assert [step.tokens_before for step in steps if step.hook == "request"][1] > 5_020
    assert [step.usage for step in steps if step.hook == "request"] == [Usage(5_000, 20), None]


def test_the_items_of_every_recorded_request_are_known_also_for_a_policy_that_is_never_asked_there() -> None:
    class OnlyAtTurns(Noting):
        hooks = frozenset({"turn"})

    for policy in (Noting(), OnlyAtTurns()):
        sent = list(replay(TALK, policy, measure=Measure(CharsCounter())).contexts())
        assert [[item.index for item in items] for _, items in sent] == [[1], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
        assert [step.sent_tokens for step, _ in sent] == [10, 44, 56]
        assert sent[0][1].begins(sent[1][1]) and not sent[1][1].begins(sent[0][1])


def test_the_items_of_a_request_that_was_too_long_are_those_that_its_repetition_sent() -> None:
    class OnlyOnOverflow(Noting):
        def plan(self, view: View) -> Plan:
            return view.becomes(view.input[-1:], "cut") if view.hook == "overflow" else view.unchanged("waiting")

    run = replay(long_talk(10, 200), OnlyOnOverflow(), window=1_000)
    forced = [index for index, step in enumerate(run.steps) if step.hook == "overflow"]
    assert forced
    for index in forced:
        request, overflow = run.steps[index - 1 : index + 1]
        assert request.sent is not None and len(request.sent) == overflow.messages_after
        assert request.sent_tokens == overflow.tokens_after < request.tokens_after


def test_an_input_above_the_window_makes_the_policy_act_once_a_turn_as_after_a_refusal() -> None:
    class OnlyOnOverflow(Noting):
        def plan(self, view: View) -> Plan:
            if view.hook != "overflow":
                return view.unchanged("waiting")
            assert view.error is not None and view.error.input_tokens == view.tokens
            return view.becomes(view.input[-2:], "cut", outcome="elided")

    run = replay(long_talk(10, 200), OnlyOnOverflow(), window=1_000)
    forced = [step for step in run.steps if step.hook == "overflow"]
    assert forced and all(step.changed and step.tokens_after < 1_000 for step in forced)
    assert len({step.turn for step in forced}) == len(forced)


def test_requests_above_the_window_are_counted_for_a_policy_that_never_acts() -> None:
    run = replay(long_talk(10, 200), Noting(), window=1_000)
    sent = [step.tokens_after for step in run.steps if step.hook == "request"]
    assert run.totals.overflows == sum(tokens > 1_000 for tokens in sent) > 0


def test_the_window_is_that_of_the_recorded_model_unless_one_is_given() -> None:
    known, unknown = Transcript(TALK[:], model="claude-sonnet-4-5"), Transcript(TALK[:], model="nobody-knows-it")
    assert replay(known, "eney").window == 200_000
    assert replay(unknown, "harness").window == replay(TALK).window == 128_000
    assert replay(known, "eney", window=50_000).window == 50_000


def test_large_results_are_shown_as_a_preview_where_that_is_asked_for() -> None:
    talk = Transcript(
        [Message.user("Look."), calling("c1"), Message.tool("c1", "x" * 5_000), Message.assistant("Done.")]
    )
    settings = ToolResultEvictionConfig(max_result_chars=1_000, preview_chars=100)
    item = replay(talk, eviction=settings).final.input[2]
    assert item.how == "evicted" and "large_tool_results/agent/c1-" in item.message.text
    assert len(item.message.text) < 1_000
    assert replay(talk).final.input[2].how == "kept"


@pytest.mark.parametrize("said", [[], [Message.assistant("Hello.")], [Message.user("Hi.")], [Message.system("S")]])
def test_short_and_odd_transcripts_are_replayed_as_well(said: list[Message]) -> None:
    for policy in ("harness", "eney"):
        run = replay(Transcript(said), policy)
        assert run.totals.compactions == 0
        assert len(run.frame()) == len(run.steps)
        assert run.pressure().window == run.window
        assert str(run) and run.course() == ()[: len(run.steps)] or run.steps


def test_a_wrong_preset_model_or_window_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="'harnes'.\nDid you mean 'harness'"):
        replay(TALK, "harnes")
    with pytest.raises(ConfigError, match="window=0"):
        replay(TALK, window=0)
    with pytest.raises(ConfigError, match="is no model"):
        replay(TALK, model=object())  # type: ignore[arg-type]


def test_a_path_for_a_transcript_and_a_class_for_a_policy_are_refused_with_what_to_write() -> None:
    with pytest.raises(
        ConfigError, match=r"'talk.json' is no transcript.\nRead it first: read_transcript\('talk.json'\)"
    ):
        replay("talk.json")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="3 is no transcript"):
        replay(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"is no policy.\nGive one, such as Noting\(\)"):
        replay(TALK, Noting)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="3 is no policy"):
        replay(TALK, 3)  # type: ignore[arg-type]


def test_progress_is_told_message_by_message() -> None:
    told: list[tuple[int, int]] = []
    replay(TALK, Noting(), progress=lambda done, of: told.append((done, of)))
    assert told == [(number, 8) for number in range(1, 9)]


def test_an_interrupt_gives_what_was_replayed_until_then_and_leaves_the_transcript_to_be_replayed_again() -> None:
    def interrupt(done: int, of: int) -> None:
        if done == 31:
            raise KeyboardInterrupt

    talk = long_talk()
    with pytest.raises(KeyboardInterrupt, match="stopped at message 31 of 60") as stopped:
        replay(talk, progress=interrupt)
    assert isinstance(stopped.value, ReplayStopped)
    partial = stopped.value.partial
    assert list(partial.transcript) == list(talk[:31])
    assert partial.records == replay(Transcript(talk[:31])).records
    assert replay(talk).records == replay(long_talk()).records


def test_progress_is_a_bar_where_one_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    replay(TALK, Noting(), progress=True)
    assert "8/8" in capsys.readouterr().err


RULES = [Message.user("Never delete the raw data."), Message.assistant("Understood."), *long_talk()]


@pytest.mark.parametrize(
    ("policy", "how", "stays"),
    [
        ("harness", {}, True),
        (presets.get("harness").policy, {}, True),
        ("harness", {"pins": PinsConfig(rule=False)}, False),
        ("harness", {"guarded": False}, False),
        ("hermes", {}, False),
        ("hermes", {"pins": PinsConfig()}, True),
    ],
)
def test_standing_instructions_stay_as_the_preset_has_it(policy: Any, how: dict[str, Any], stays: bool) -> None:
    run = replay(Transcript(RULES), policy, window=2_000, model=None, **how)
    assert run.compactions
    shown = "\n".join(item.message.text for item in run.final.input if not item.assumed)
    assert ("Never delete the raw data." in shown) is stays
    assert [pin.text for pin in run.final.pins] == (["Never delete the raw data."] if stays else [])


def look(topic: str) -> str:
    """Looks something up."""
    return f"Found {topic}: " + "word " * len(topic) * 9


def test_a_live_session_and_its_replay_make_the_same_plans(workspace: Path) -> None:
    preset = presets.get("harness", trigger_messages=14, keep_messages=4)
    quiet = MemoryConfig(flush="never", inject=False, tools=False)
    agent = HarnessAgent(workspace=workspace, preset=preset, memory=quiet, window=5_000, tools=[look], session="s")
    for number in range(20):
        asked = f'look(topic="{"apple" * (number % 7)}{number}")'
        agent.ask(asked if number % 3 == 0 else f"Please note that item {number} costs {number * 7} euros.")
    live, at_the_end = [event for event in agent.events if isinstance(event, CompactionFinished)], agent.view()
    agent.close()
    transcript = read_transcript(next(workspace.rglob("*.log.jsonl")))
    run = replay(transcript, preset, window=5_000, system=at_the_end.system, tools=at_the_end.tools)
    assert [(one.tokens_before, one.tokens_after, one.reason) for one in run.plans] == [
        (event.tokens_before, event.tokens_after, event.reason) for event in live
    ]
    assert len(live) > 2
    assert run.final.input == at_the_end.input
    assert run.final.tokens == at_the_end.tokens


@pytest.mark.parametrize("name", ["large-session", "before-compaction"])
@pytest.mark.parametrize("policy", ["harness", "eney"])
def test_recorded_sessions_are_replayed_in_seconds_and_stay_valid(data: Path, name: str, policy: str) -> None:
    transcript = read_transcript(data / "pi_sessions" / f"{name}.jsonl")
    begun = time.perf_counter()
    run = replay(transcript, policy)
    assert time.perf_counter() - begun < 20
    assert run.window == 200_000
    for one in run.plans:
        if one.plan.input is not None:
            assert problems([item.message for item in one.plan.input]) == ()
    acts = (name, policy) != ("large-session", "eney")  # which stays below its first tier
    assert bool(run.compactions) is acts
    assert run.totals.overflows == (0 if policy == "harness" or not acts else run.totals.overflows)


def test_a_small_window_makes_the_tiers_act_on_the_session_that_is_quiet_at_the_recorded_one(data: Path) -> None:
    transcript = read_transcript(data / "pi_sessions/large-session.jsonl")
    run = replay(transcript, "eney", window=100_000)
    assert run.compactions and run.window == 100_000


def test_the_figure_of_a_quiet_replay_is_the_recorded_bill(data: Path) -> None:
    transcript = read_transcript(data / "pi_sessions/large-session.jsonl")
    steps = [step for step in replay(transcript, Noting()).steps if step.hook == "request" and step.usage is not None]
    shares = sorted(step.tokens_before / step.usage.input_tokens for step in steps if step.usage is not None)
    assert 0.99 < shares[len(shares) // 2] < 1.01

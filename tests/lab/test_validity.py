"""Each break that is planted is found, and guards mend what they can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness_nb import CompactionPolicy, Message, ScriptedModel, Transcript, edits, presets, read_transcript, replay
from harness_nb.core.item import Item
from harness_nb.core.messages import ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask
from harness_nb.core.view import View
from harness_nb.errors import ModelError
from harness_nb.lab.datasets import load
from harness_nb.lab.run import Replay
from harness_nb.lab.validity import CHECKS, OF_PROMPTS, check_validity
from harness_nb.presets import Preset

Change = Callable[[View], list[Item]]


class Careless(CompactionPolicy):
    """Changes the list once, in any way, when seven messages were said."""

    def __init__(self, change: Change, *, outcome: str = "compacted", again: bool = False) -> None:
        self._change, self._outcome, self._again = change, outcome, again

    def plan(self, view: View) -> Plan:
        if len(view.log) != 8 or len(view.done) == 1 + self._again:
            return view.unchanged("not now")
        return view.becomes(self._change(view), "a careless plan", outcome=self._outcome, again=self._again)


def call(id: str) -> Message:
    return Message.assistant(calls=[ToolCall(id, "look")])


TALK = Transcript(
    [
        Message.system("Be brief."),
        Message.user("Look at the first thing, please, and tell me what it is."),
        call("c1"),
        Message.tool("c1", "The first thing is a rather long story. " * 5),
        Message.assistant("The first thing is a story, as it seems."),
        Message.user("And the second thing?"),
        call("c2"),
        Message.tool("c2", "The second thing is another story. " * 5),
        Message.assistant("The second thing is another story."),
        Message.user("Thanks."),
        Message.assistant("You are welcome."),
    ],
    name="talk",
)


def careless(change: Change, *, guarded: bool = False, window: int = 10_000, **fields: object) -> Replay:
    return replay(TALK, Careless(change, **fields), window=window, model=None, guarded=guarded)  # type: ignore[arg-type]  # fields by name


def without(*indices: int) -> Change:
    """Leaves messages out, by log index."""
    return lambda view: [item for item in view.input if item.index not in indices]


def swapped(view: View) -> list[Item]:
    items = list(view.input)
    items[0], items[4] = items[4], items[0]
    return items


def twice(view: View) -> list[Item]:
    return [*view.input[:4], view.input[0], *view.input[4:]]


def misquoted(view: View) -> list[Item]:
    first = replace(view.input[0], message=Message.user("Look at nothing."))
    return [first, *view.input[1:]]


def unanswerable(view: View) -> list[Item]:
    return [*view.input, edits.note("")][:-1] + [Item(None, Message.assistant("I am done."), "note")]


def promoted(view: View) -> list[Item]:
    """Puts what was said into the system role."""
    first = view.input[0]
    return [Item(None, Message.system(first.message.text), "note", (first.index or 0,)), *view.input[1:]]


PLANTED: list[tuple[str, Change]] = [
    ("pairing", without(3)),
    ("pairing", without(2)),
    ("start", without(1)),
    ("start", promoted),
    ("order", swapped),
    ("order", twice),
    ("order", misquoted),
    ("order", unanswerable),
]


@pytest.mark.parametrize(("check", "change"), PLANTED)
def test_a_broken_prompt_is_found_and_never_gets_past_the_guards(check: str, change: Change) -> None:
    found = check_validity(careless(change))
    assert check in {one.check for one in found.breaks}
    assert found.invalid_prompts > 0
    assert check_validity(careless(change, guarded=True)).invalid_prompts == 0


def test_a_break_is_found_in_every_request_that_holds_it_and_where_it_comes_in_as_a_list_grows() -> None:
    found = check_validity(careless(without(3)))
    assert [one.message for one in found.breaks if one.check == "pairing"] == [8, 10]
    unanswered = [Message.user("Look."), Message.assistant("I see."), Message.user("What?"), call("c1")]
    grown = Transcript(
        [*unanswered, Message.assistant("A story."), Message.user("Thanks."), Message.assistant("Well.")]
    )
    late = check_validity(replay(grown, Careless(without()), window=1_000, model=None, guarded=False))
    assert [(one.check, one.message) for one in late.breaks] == [("pairing", 4), ("pairing", 6)]


def test_a_system_text_that_changes_is_found() -> None:
    made = careless(without())
    last = made.steps[-1]
    changed = replace(last, view=replace(last.view, system="Be long."))
    found = check_validity(replace(made, steps=(*made.steps[:-1], changed)))
    assert [(one.check, one.detail) for one in found.breaks] == [("start", "the system text changed")]


def test_what_is_sent_above_the_window_after_a_compaction_is_found() -> None:
    found = check_validity(careless(without(2, 3), window=60))
    assert {one.check for one in found.breaks} == {"budget"}
    assert check_validity(careless(without(2, 3), window=600)).is_valid


def test_a_compaction_loop_is_found() -> None:
    drops = iter((without(2, 3), without(4)))
    found = check_validity(careless(lambda view: next(drops)(view), again=True))
    assert [(one.check, one.detail) for one in found.breaks] == [
        ("progress", "compacted twice while nothing new was said")
    ]


def test_a_second_plan_right_away_that_changes_the_list_is_found() -> None:
    class Nibbles(CompactionPolicy):
        """Leaves out one answer more each time it is asked."""

        def plan(self, view: View) -> Plan:
            answers = [item for item in view.input if item.message.role == "assistant" and not item.message.calls]
            if not answers:
                return view.unchanged("nothing left")
            return view.becomes([item for item in view.input if item is not answers[0]], "nibbled")

    made = replay(TALK, Nibbles(), window=1_000, model=None, guarded=False)
    whole = Careless(without(2, 3))
    assert [one.check for one in check_validity(made, policy=Nibbles()).breaks] == []
    again = replay(TALK, Careless(without(4)), window=1_000, model=None, guarded=False)
    assert "progress" in {one.check for one in check_validity(again, policy=_AlwaysDrops()).breaks}
    assert check_validity(replay(TALK, whole, window=1_000, model=None, guarded=False), policy=whole).is_valid


class _AlwaysDrops(CompactionPolicy):
    """Leaves out the second item of whatever it is shown."""

    def plan(self, view: View) -> Plan:
        return view.becomes([view.input[0], *view.input[2:]], "one less")


class _DropsOnFailure(CompactionPolicy):
    """Asks for a summary, and when it gets none drops what it was of without a word."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def plan(self, view: View) -> Plan:
        if len(view.log) != 8:
            return view.unchanged("not now")
        view.reply(Ask(purpose="summary", messages=(Message.user("Summarise."),)))
        return view.becomes([item for item in view.input if item.index not in (2, 3)], self._reason)


@pytest.mark.parametrize(
    ("reason", "is_silent"), [("made room", True), ("the summary failed, so two were dropped", False)]
)
def test_what_is_lost_without_a_word_after_a_failed_model_call_is_found(reason: str, is_silent: bool) -> None:
    fails = ScriptedModel(summary=[ModelError("down")], repeat_last=True)
    made = replay(TALK, _DropsOnFailure(reason), window=1_000, model=fails, guarded=False)
    assert ["fail-safe" for one in check_validity(made).breaks] == ["fail-safe"] * is_silent


def test_a_failed_plan_that_changed_the_list_is_found() -> None:
    made = careless(without(2, 3))
    acted = next(step for step in made.steps if step.passes)
    failed = replace(acted, passes=(replace(acted.passes[0], outcome="failed", reason="down"),))
    steps = tuple(failed if step is acted else step for step in made.steps)
    assert {one.check for one in check_validity(replace(made, steps=steps)).breaks} == {"fail-safe"}


def test_a_message_that_left_and_is_not_in_the_archive_as_it_was_said_is_found() -> None:
    made = careless(without(2, 3))
    assert check_validity(made, archive=list(TALK)).is_valid
    changed = [replace(one, content="Another story.") if at == 3 else one for at, one in enumerate(TALK)]
    found = check_validity(made, archive=changed)
    assert [(one.check, one.detail) for one in found.breaks] == [
        ("recoverable", "message 3 left and is not found as it was said")
    ]


def test_every_check_was_planted_here() -> None:
    assert set(CHECKS) == {*OF_PROMPTS, "budget", "progress", "fail-safe", "recoverable"}
    assert {check for check, _ in PLANTED} == set(OF_PROMPTS)


def test_validity_shows_itself_and_has_a_frame() -> None:
    found = check_validity(careless(without(3)))
    assert "2 of 5 prompts are invalid" in str(found)
    assert "pairing" in found._repr_mimebundle_()["text/html"]
    assert "no check broken" in str(check_validity(careless(without())))
    assert (check_validity(careless(without())).df.dtypes == found.df.dtypes).all()


def everything() -> list[Preset]:
    """All presets in all their variants."""
    found = [presets.get(name) for name in presets.names()]
    return [
        presets.get(one.name, variant=variant) if variant else one for one in found for variant in one.variants or ("",)
    ]


def named(preset: Preset) -> str:
    return f"{preset.name} {preset.variant}".strip()


@pytest.mark.parametrize("preset", everything(), ids=named)
def test_no_preset_sends_an_invalid_prompt_over_recorded_customer_talks(data: Path, preset: Preset) -> None:
    talks = [one.transcript for one in load(data / "tau_bench_airline").conversations][:4]
    made = [replay(talk, preset, window=8_000, model=None) for talk in talks]
    assert [check_validity(run).invalid_prompts for run in made] == [0] * len(talks)


@pytest.mark.slow
@pytest.mark.parametrize("preset", everything(), ids=named)
@pytest.mark.parametrize("window", [8_000, 32_000, 200_000])
def test_no_preset_sends_an_invalid_prompt_over_any_recorded_session(data: Path, preset: Preset, window: int) -> None:
    talks = [one.transcript for one in load(data / "tau_bench_airline").conversations]
    sessions = [read_transcript(path) for path in sorted((data / "pi_sessions").glob("*.jsonl"))]
    for transcript in (*talks, *sessions):
        found = check_validity(replay(transcript, preset, window=window, model=None))
        assert found.invalid_prompts == 0, (transcript.name, found.breaks[:3])

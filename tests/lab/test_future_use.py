"""What later calls need and find, worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, edits, read_transcript, replay
from harness_nb.core.messages import ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply
from harness_nb.core.tokens import Measure
from harness_nb.core.view import View
from harness_nb.lab.future_use import future_use, uses_of
from harness_nb.lab.run import Replay
from tests.lab.test_metrics import TenEach, ten


def call(id: str, **arguments: str) -> Message:
    return Message.assistant(calls=[ToolCall(id, "tool", json.dumps(arguments))])


TALK = Transcript(
    [
        Message.user("Look at src/first.py."),
        call("c1", path="src/first.py"),
        Message.tool("c1", "uses the_helper and\nvalue = 1"),
        call("c2", path="src/second.py"),
        Message.tool("c2", "defines other_thing"),
        Message.user("Now change it."),
        call("c3", path="src/first.py", oldText="value = 1", newText="value = the_helper(new_name)"),
        Message.tool("c3", "done"),
        call("c4", command="grep other_thing the_helper new_name"),
        Message.tool("c4", "nothing"),
        Message.assistant("Done."),
    ],
    name="talk",
)
"""Needed and seen before: at 1 src/first.py; at 3 nothing, as src/second.py was not seen; at 6 src/first.py and the_helper,
and the edit of a line that message 2 holds; at 8 other_thing, the_helper and new_name. That makes 1 + 2 + 3."""


class Drops(CompactionPolicy):
    """Replaces messages by a summary of its own once the second user message is there."""

    def __init__(self, upto: int = 5, summary: str = "They looked.") -> None:
        self.upto, self.summary = upto, summary

    def plan(self, view: View) -> Plan:
        if len(view.log) != 6:
            return view.unchanged("not yet")
        old = view.input[: self.upto]
        return view.becomes([edits.summary(Reply(self.summary), of=old), *view.input[self.upto :]], "dropped")


def run(policy: CompactionPolicy) -> Replay:
    return replay(TALK, policy, window=1_000, model=None, measure=Measure(TenEach(), size=ten), guarded=False)


class Keeps(CompactionPolicy):
    """Never acts."""

    def plan(self, view: View) -> Plan:
        return view.unchanged("kept")


def test_what_calls_need_is_what_they_name_and_what_was_seen_before() -> None:
    uses = uses_of(TALK)
    assert {at: {uses.names[one] for one in found} for at, found in uses.needed.items()} == {
        1: {"src/first.py"},
        6: {"src/first.py", "the_helper"},
        8: {"other_thing", "the_helper", "new_name"},
    }
    assert {uses.names[at]: source for at, source in enumerate(uses.sources)} == {
        "new_name": None,
        "other_thing": 4,
        "src/first.py": None,
        "the_helper": 2,
    }
    assert uses.edits == {6: (("value = 1", (2,)),)}
    assert uses_of(TALK) is uses


def test_with_the_whole_history_all_is_there() -> None:
    use = future_use(run(Keeps()))
    assert (use.share, use.exact_edits, use.reacquired_tokens) == (1.0, 1.0, 0)
    assert sum(one.needed for one in use.uses) == 6


def test_what_was_dropped_is_missing_until_a_call_brings_it_back() -> None:
    """At 6 src/first.py and the_helper are missing and so is the line to edit; at 8 other_thing is: the call at 6 brought the
    others back. So 3 of 6 are there, and two results of ten tokens would have to be read again."""
    use = future_use(run(Drops()))
    assert [(one.message, set(one.missing)) for one in use.uses if one.missing] == [
        (6, {"src/first.py", "the_helper"}),
        (8, {"other_thing"}),
    ]
    assert (use.share, use.exact_edits, use.reacquired_tokens) == (3 / 6, 0.0, 20)


def test_what_a_summary_says_is_there() -> None:
    use = future_use(run(Drops(summary="src/first.py uses the_helper; its line is\nvalue = 1")))
    assert (use.share, use.exact_edits) == (5 / 6, 1.0)
    assert use.reacquired_tokens == 10


def test_a_policy_that_changes_its_list_back_and_forth_is_followed_item_by_item() -> None:
    """Against a count that begins anew at every request."""
    for name in ("harness", "eney", "agentscope", "openharness"):
        made = replay(long_talk(), name, window=2_000, model=None, guarded=False)
        assert future_use(made).share == pytest.approx(_counted_anew(made))


def long_talk() -> Transcript:
    said: list[Message] = []
    for at in range(40):
        said += [
            Message.user(f"Look at file_{at}.py, as you did at file_{at // 2}.py."),
            call(f"c{at}", path=f"file_{at}.py", other=f"file_{at // 3}.py", key=f"key_{at // 4}"),
            Message.tool(f"c{at}", f"key_{at} stands in file_{at}.py. " * 30),
            Message.assistant(f"Seen key_{at}."),
        ]
    return Transcript(said)


def _counted_anew(made: Replay) -> float:
    from harness_nb.lab.identifiers import identifiers, texts

    uses = uses_of(made.transcript)
    there = needed = 0
    for step, items in made.contexts():
        held = {one for item in items for text in texts(item.message) for one in identifiers(text)}
        wanted = {uses.names[one] for one in uses.needed.get(step.index, ())}
        there, needed = there + len(wanted & held), needed + len(wanted)
    return there / needed


def test_without_calls_there_is_no_share() -> None:
    made = replay(Transcript([Message.user("Hello?"), Message.assistant("Yes.")]), Keeps(), window=1_000, model=None)
    assert (made.future_use.share, made.future_use.exact_edits, made.future_use.reacquired_tokens) == (None, None, 0)


def test_future_use_shows_itself_and_has_a_frame() -> None:
    use = run(Drops()).future_use
    assert "50.0%" in str(use)
    assert "the_helper" in use._repr_mimebundle_()["text/html"]
    assert use.df["missing"].map(len).tolist() == [0, 2, 1]
    assert (future_use(run(Keeps())).df.dtypes == use.df.dtypes).all()


@pytest.mark.parametrize("policy", ["harness", "hermes", "gemini-cli"])
def test_a_recorded_session_ranks_policies_by_what_they_keep(data: Path, policy: Any) -> None:
    transcript = read_transcript(data / "pi_sessions" / "large-session.jsonl")
    whole = replay(transcript, Keeps(), window=1_000_000, model=None)
    cut = replay(transcript, policy, window=64_000, model=None)
    assert whole.future_use.share == whole.future_use.exact_edits == 1
    assert 0.7 < (cut.future_use.share or 0) < 1

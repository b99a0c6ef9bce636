"""What is taken from a session's objects."""

from __future__ import annotations

from datetime import UTC, datetime

from harness_nb.core import edits
from harness_nb.core.events import CompactionFinished, FactsWritten, StepFinished, TextPiece, TurnStarted
from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Reply
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from harness_nb.frames import events_frame, messages_frame, plans_frame, usage_frame
from harness_nb.frames.records import event_records, fate_records, message_records, plan_records, usage_records

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
COMPACTED = CompactionFinished(
    time=NOW, turn=2, policy="harness", hook="request", outcome="completed", reason="r", tokens_before=900, tokens_after=200,
    fixed_tokens=50, plan_number=1,
)  # fmt: skip


def conversation() -> View:
    calls = (ToolCall("c1", "bash", "{}"),)
    messages = [Message.user("hi"), Message.assistant(None, calls), Message.tool("c1", "done"), Message.user("more")]
    return View.of(Transcript(messages))


def test_a_message_says_what_became_of_it() -> None:
    view = conversation()
    summary = edits.summary(Reply("short"), of=view.input[:3])
    after = view.after(Plan(input=(summary, view.input[3])))
    frame = messages_frame(message_records(view.log, after, session="s1"))
    assert frame["fate"].tolist() == ["stood for", "stood for", "stood for", "kept"]
    assert frame["how"].tolist()[0] == "summary"
    assert frame["calls"].tolist()[1] == ("c1",) and frame["call_id"].tolist()[2] == "c1"
    assert frame["session"].tolist() == ["s1"] * 4


def test_messages_without_a_view_have_neither_tokens_nor_fate() -> None:
    records = message_records(conversation().log)
    assert {record["fate"] for record in records} == {record["tokens"] for record in records} == {None}


def test_a_message_that_left_an_emptied_list_is_gone() -> None:
    view = conversation()
    kept = View(log=view.log, input=ModelInput(view.input[3:]))
    assert [record["fate"] for record in message_records(view.log, kept)] == ["gone", "gone", "gone", "kept"]


def test_events_become_rows_and_pieces_of_the_answer_do_not() -> None:
    events = [
        TurnStarted(time=NOW, turn=1, text="hi", index=0),
        TextPiece(time=NOW, turn=1, text="…"),
        FactsWritten(time=NOW, turn=1, facts=("a",), path="memory/x.md", messages=(4, 5, 9)),
    ]
    frame = events_frame(event_records(events, words=lambda event: event.kind, session="s"))
    assert frame["kind"].tolist() == ["turn_started", "facts_written"]
    assert frame["first_message"].tolist()[1] == 4 and frame["last_message"].tolist()[1] == 9


def test_r105_event_and_frames_give_the_same_figures_and_show_the_fixed_part() -> None:
    events = events_frame(event_records([COMPACTED], words=lambda event: event.kind))
    plans = plans_frame(plan_records([COMPACTED]))
    names = ["tokens_before", "tokens_after", "fixed_tokens", "plan_number"]
    assert events[names].iloc[0].tolist() == plans[names].iloc[0].tolist() == [900, 200, 50, 1]


def test_usage_and_estimate_stand_in_columns_of_their_own() -> None:
    step = StepFinished(time=NOW, turn=1, step=1, estimate=90, usage=Usage(100, 7), seconds=0.2)
    row = usage_frame(usage_records([step])).iloc[0]
    assert (row["estimate"], row["input_tokens"], row["output_tokens"]) == (90, 100, 7)


def test_fates_of_a_plan_name_every_message() -> None:
    view = conversation()
    plan = Plan(input=view.input[3:])
    assert [record["fate"] for record in fate_records(plan, view)] == ["gone", "gone", "gone", "kept"]

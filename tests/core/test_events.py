from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from harness_nb.core import events
from harness_nb.core.events import CompactionFinished, Event, FactsWritten, StepFinished, TextPiece, TurnStarted
from harness_nb.core.messages import Message, Usage

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
KINDS = [one for one in vars(events).values() if isinstance(one, type) and issubclass(one, Event) and one is not Event]


def test_the_kind_is_the_class_name_in_snake_case() -> None:
    assert (TextPiece.kind, CompactionFinished.kind) == ("text_piece", "compaction_finished")
    assert len({one.kind for one in KINDS}) == len(KINDS)


def test_a_record_is_made_of_json_values() -> None:
    event = StepFinished(time=NOW, turn=2, step=1, estimate=900, usage=Usage(1_000, 20, cost=0.5))

    record = json.loads(json.dumps(event.to_record()))

    assert record == {
        "event": "step_finished", "time": "2026-04-12T09:30:00+00:00", "turn": 2, "step": 1, "purpose": "chat",
        "estimate": 900, "seconds": 0.0,
        "usage": {"input_tokens": 1_000, "output_tokens": 20, "cached_tokens": 0, "cost": 0.5},
    }  # fmt: skip


def test_tuples_become_lists_and_what_is_no_json_becomes_text() -> None:
    class Odd(Event):
        pass

    plain = events._plain

    assert FactsWritten(time=NOW, facts=("a", "b"), path="p", messages=(3, 4)).to_record()["facts"] == ["a", "b"]
    assert plain({"when": NOW, 3: {"deep": (Message.user("hi"),)}}) == {"when": NOW.isoformat(), "3": {"deep": ["hi"]}}
    assert plain(Usage) == str(Usage)
    assert plain(frozenset({1})) == [1]
    assert Odd.kind == "odd"


def test_pieces_of_a_stream_are_not_stored_and_all_else_is() -> None:
    assert {one.kind for one in KINDS if not one.is_stored} == {"text_piece", "thinking_piece"}


def test_events_are_frozen_and_equal_by_value() -> None:
    event = TurnStarted(time=NOW, text="hi", index=0)

    assert event == TurnStarted(time=NOW, text="hi", index=0)
    with pytest.raises(AttributeError):
        event.text = "no"  # type: ignore[misc]

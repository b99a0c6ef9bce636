"""What requests beside the turns cost counts like that of the turns."""

from __future__ import annotations

from typing import Any

import pytest

from harness_nb.core.config import CompactionConfig, MemoryConfig
from harness_nb.core.events import StepFinished
from harness_nb.core.messages import Message, Usage
from harness_nb.errors import BudgetError
from harness_nb.model.scripted import ScriptedModel
from tests.agent.conftest import Make
from tests.agent.reading import events, log_records

SHORT = CompactionConfig(trigger_messages=6, keep_messages=2, flush_before_compact=False)


def costing(text: str, cost: float) -> Message:
    return Message.assistant(text, usage=Usage(100, 10, cost=cost))


def spending(make: Make, turns: int, **options: Any) -> Any:
    model = ScriptedModel(
        chat=[costing(f"a{at} {'y' * 300}", 0.01) for at in range(20)],
        summary=[costing("a short summary", 0.1)] * 9,
        flush=[costing("NO_REPLY", 1.0)] * 20,
    )
    agent = make(model=model, compaction=SHORT, **options)
    for turn in range(turns):
        agent.ask(f"q{turn} {'x' * 300}")
    return agent


def test_summaries_and_flushes_count_in_costs_frames_and_events(make: Make) -> None:
    agent = spending(make, 4, memory=MemoryConfig(flush="always"), session="s")
    assert agent.status().cost == pytest.approx(4 * 0.01 + 0.1 + 4 * 1.0)
    usage = agent.frames.usage()
    assert usage.groupby("purpose", observed=True)["cost"].sum().round(2).to_dict() == {
        "chat": 0.04,
        "flush": 4.0,
        "summary": 0.1,
    }
    assert {event.purpose for event in events(agent, StepFinished)} == {"chat", "summary", "flush"}
    assert len(agent.last_reply.steps) == 1
    assert [mark for *_, mark in agent.course()].count(None) == 5  # four requests and one compaction
    agent.close()
    assert spending(make, 0, session="s").status().cost == pytest.approx(4.14)


def test_a_limit_on_cost_holds_for_all_of_it(make: Make) -> None:
    agent = spending(make, 1, memory=MemoryConfig(flush="always"), max_cost=1.0)
    with pytest.raises(BudgetError, match=r"has cost \$1\.01"):
        agent.ask("more")


def test_a_flush_that_reports_no_usage_costs_nothing(make: Make) -> None:
    model = ScriptedModel(chat=["a"], flush=["- a fact of some length"])
    agent = make(model=model, memory=MemoryConfig(flush="always"))
    agent.ask("q")
    assert agent.status().cost is None and log_records(agent, "event")
    assert [event.purpose for event in events(agent, StepFinished)] == ["chat"]

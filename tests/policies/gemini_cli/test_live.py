"""What recordings of Gemini CLI show and what the guards make of it live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent import guards
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.events import CompactionFinished
from harness_nb.core.messages import Message, ToolCall, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.rounds import problems
from harness_nb.errors import ModelError
from harness_nb.model.scripted import ScriptedModel
from harness_nb.policies.gemini_cli.record import GeminiCliRecord
from tests.policies.gemini_cli.talks import answer, planned, policy, steps, view_of

Make = Callable[..., HarnessAgent]


@pytest.fixture
def make(workspace: Path, clock: Clock) -> Iterator[Make]:
    """Makes agents with a window of 4,000 tokens."""
    made: list[HarnessAgent] = []

    def agent(*, summary: list[Any], chat: Any = "ok", **settings: Any) -> HarnessAgent:
        model = ScriptedModel(chat=[chat], summary=summary, repeat_last=True, window=4_000)
        preset = presets.get("gemini-cli", **settings)
        made.append(HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock, window=4_000))
        return made[-1]

    yield agent
    for one in made:
        one.close()


def finished(agent: HarnessAgent) -> list[CompactionFinished]:
    return [event for event in agent.events if isinstance(event, CompactionFinished)]


@pytest.mark.parametrize("summary", [" ", ModelError("down")])
def test_live_a_snapshot_that_fails_costs_no_turn_and_replaces_nothing(make: Make, summary: Any) -> None:
    agent = make(summary=[summary])
    for turn in range(12):
        assert agent.ask(f"question {turn} " + "and more " * 120).text == "ok"
    failed = [event for event in finished(agent) if event.outcome == "failed"]
    assert failed and any("turn go on" in repair for repair in failed[0].repairs)
    assert [item.index for item in agent.view().input] == list(range(24))


def test_live_a_provider_that_returns_blanks_is_not_asked_at_every_turn(make: Make) -> None:
    agent = make(summary=[" "])
    agent.ask("a long question " + "and more " * 1_000)
    for turn in range(12):
        assert agent.ask(f"question {turn}").text == "ok"
    assert isinstance(agent.model, ScriptedModel)
    asked = sum(one.purpose == "summary" for one in agent.model.requests)
    assert 0 < asked <= 3 * 5


def test_live_the_latest_request_stays_word_for_word_where_everything_was_answered(make: Make) -> None:
    agent = make(summary=["a snapshot"])
    for turn in range(3):
        agent.ask(f"question {turn} " + "and more " * 100)
    agent.compact()
    shown = [item.message for item in agent.view().input]
    assert any(message.text.startswith("question 2") for message in shown)
    agent.ask("question 3")
    assert isinstance(agent.model, ScriptedModel)
    assert problems(agent.model.requests[-1].messages) == ()


def test_live_a_snapshot_that_is_longer_by_the_sessions_own_measure_is_refused(make: Make) -> None:
    agent = make(summary=["x" * 12_000])
    for turn in range(8):
        agent.ask(f"question {turn} " + "and more " * 150)
    assert {event.outcome for event in finished(agent)} <= {"failed", "skipped"} and finished(agent)
    assert len(agent.view().input) == 16


@pytest.mark.parametrize("setting", [-1, 0])
def test_live_shortening_that_makes_outputs_longer_is_refused(setting: int) -> None:
    messages = [Message.user("go"), *steps(3, chars=180_000), answer("done"), Message.user("go on")]
    view = view_of(messages, window=1_000_000, hook="request", state=GeminiCliRecord(latched=True))
    view = replace(view, usage=Usage(600_000), billed=8)
    plan, _ = planned(policy(masking=False, truncate_tool_output_threshold=setting), view)
    assert plan.outcome == "truncated" and view.tokens_of(plan.input or ()) > view.tokens
    verdict = guards.after(view, plan)
    assert verdict.refusal.startswith("inflated") and verdict.plan.input is None


def test_live_a_shortening_that_changes_nothing_is_not_called_a_gain() -> None:
    messages = [Message.user("go"), answer("done"), Message.user("go on")]
    view = view_of(messages, window=1_000, hook="request", state=GeminiCliRecord(latched=True))
    view = replace(view, usage=Usage(900), billed=2)
    plan, _ = planned(policy(masking=False), view)
    assert plan.outcome == "truncated" and guards.after(view, plan).refusal


def test_the_turn_goes_on_only_after_failures_of_the_model() -> None:
    plan = Plan(error=ModelError("down"))
    assert guards.after(view_of([]), plan).plan.error is None
    with_limit = policy(max_session_turns=1).plan(view_of([Message.user("a"), answer("b")], hook="request"))
    assert guards.after(view_of([]), with_limit).plan.error is with_limit.error


def test_live_old_outputs_are_masked_and_can_be_read_again(workspace: Path, clock: Clock) -> None:
    agent = HarnessAgent(
        model=ScriptedModel(chat=[_Looking()], repeat_last=True),
        preset=presets.get("gemini-cli", protection_threshold_tokens=2_000, min_prunable_threshold_tokens=2_000),
        workspace=workspace,
        clock=clock,
        tools=[look_up],
        permissions="allow",
    )
    for turn in range(6):
        agent.ask(f"question {turn}")
    masked = [item for item in agent.view().input if item.meta.get("unit") == "json_chars"]
    assert masked and agent.messages[masked[0].index or 0].text == look_up("row")
    path = workspace / str(masked[0].meta["path"])
    agent.close()
    assert "row of the archive" in path.read_text(encoding="utf-8")


def look_up(topic: str) -> str:
    """Looks a topic up."""
    return f"{topic} of the archive, " * 200


class _Looking:
    """A model that looks something up and then answers."""

    def __call__(self, request: Any) -> Any:
        if request.messages[-1].role == "tool":
            return "found"
        return [ToolCall(f"c{len(request.messages)}", "look_up", '{"topic": "row"}')]

"""The pressure widget: over an agent, a replay and a transcript; both forms; follows by itself; shows its errors."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import pytest

import harness_nb
from harness_nb import HarnessAgent, Message, ScriptedModel, Transcript, replay
from harness_nb.errors import ConfigError
from harness_nb.notebook.widgets.pressure import PressureWidget

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def agent() -> Iterator[HarnessAgent]:
    model = ScriptedModel(chat=["word " * 200], flush=["NO_REPLY"], repeat_last=True, window=4_000)
    with HarnessAgent("lab", model=model, workspace="ws") as agent:
        yield agent


def transcript() -> Transcript:
    return Transcript(
        [message for n in range(40) for message in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    )


def test_it_is_a_public_name() -> None:
    assert harness_nb.PressureWidget is PressureWidget


def test_it_shows_an_agent_in_both_forms(agent, live_shell) -> None:
    widget = PressureWidget(agent)
    shown = widget._repr_mimebundle_()
    assert set(shown) == {VIEW, "text/plain", "text/html"}
    assert widget.children[0].value == shown["text/html"]
    assert "policy harness" in shown["text/plain"]
    widget.close()


def test_in_static_mode_only_the_static_form_is_there(agent) -> None:
    widget = PressureWidget(agent)
    assert set(widget._repr_mimebundle_()) == {"text/plain", "text/html"}
    widget.close()


def test_it_follows_the_agent_without_being_run_again(agent) -> None:
    widget = PressureWidget(agent)
    before = widget.children[0].value
    agent.ask("go")
    assert widget.model.tokens == agent.view().tokens
    assert widget.children[0].value != before
    assert len(widget.model.course) == 1
    widget.close()


def test_several_of_the_same_agent_stay_in_step(agent) -> None:
    widgets = [PressureWidget(agent) for _ in range(3)]
    agent.ask("go")
    assert len({widget.children[0].value for widget in widgets}) == 1
    for widget in widgets:
        widget.close()


def test_a_closed_widget_no_longer_follows(agent) -> None:
    widget = PressureWidget(agent)
    widget.close()
    widget.close()
    tokens = widget.model.tokens
    agent.ask("go")
    assert widget.model.tokens == tokens


def test_no_widget_is_left_when_it_is_closed(agent) -> None:
    before = set(ipywidgets.widget._instances)
    widget = PressureWidget(agent)
    widget.close()
    assert set(ipywidgets.widget._instances) == before


def test_its_repr_is_short_and_always_the_same(agent) -> None:
    one, other = PressureWidget(agent), PressureWidget(agent)
    assert repr(one) == repr(other) and repr(one).startswith("PressureWidget(") and "0x" not in repr(one)
    one.close()
    other.close()


def test_it_shows_a_replay_with_its_course_and_marks() -> None:
    run = replay(transcript(), "harness", window=8_000)
    widget = PressureWidget(run)
    assert widget.model.policy == run.policy and widget.model.window == 8_000
    assert any(point.mark for point in widget.model.course)
    assert widget.model.tokens == run.pressure().tokens
    widget.close()


def test_it_shows_a_transcript() -> None:
    widget = PressureWidget(transcript())
    assert {part.name for part in widget.model.parts} == {"user", "assistant"}
    widget.close()


@pytest.mark.parametrize("source", [3, "talk.jsonl"])
def test_what_it_cannot_show_is_refused(source: object) -> None:
    with pytest.raises(ConfigError, match=r"can't be shown.\nGive an agent, a replay or a transcript"):
        PressureWidget(source)  # type: ignore[arg-type]


def test_an_error_is_shown_in_the_widget_and_the_figures_before_it_stay(agent, monkeypatch) -> None:
    widget = PressureWidget(agent)
    monkeypatch.setattr(type(agent), "view", lambda self: 1 / 0)
    widget.refresh()
    assert "Not up to date: ZeroDivisionError" in widget.children[-1].value
    assert "policy harness" in widget.children[0].value
    widget.close()


def test_its_frame_has_a_row_for_each_part_and_adds_up(agent) -> None:
    agent.ask("go")
    widget = PressureWidget(agent)
    assert widget.df["part"].tolist() == [part.name for part in widget.model.parts]
    assert widget.df["tokens"].sum() == widget.model.tokens
    widget.close()


def test_r105_widget_event_and_frame_give_the_same_figures() -> None:
    from harness_nb import CompactionConfig

    model = ScriptedModel(
        chat=["word " * 100], summary=["## SUMMARY\nshort"], flush=["NO_REPLY"], repeat_last=True, window=9_000
    )
    compaction = CompactionConfig(trigger_messages=6, keep_messages=2)
    with HarnessAgent("lab", model=model, workspace="ws", compaction=compaction) as agent:
        widget = PressureWidget(agent)
        for number in range(4):
            agent.ask(f"question {number}")
        event = next(
            event for event in agent.events if event.kind == "compaction_finished" and event.outcome == "completed"
        )
        row = agent.frames.plans().query("outcome == 'completed'").iloc[0]
        mark = next(point for point in widget.model.course if point.mark)
        assert (row["tokens_before"], row["tokens_after"]) == (event.tokens_before, event.tokens_after)
        assert mark.tokens == event.tokens_after
        assert row["fixed_tokens"] == event.fixed_tokens > 0
        assert widget.model.tokens == agent.pressure().tokens == agent.status().tokens
        widget.close()

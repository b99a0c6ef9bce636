"""The cutoff widget: over an agent, a replay and a transcript; pointer and controls do the same; nothing asks a model."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import pytest

import harness_nb
from harness_nb import CompactionConfig, CutoffWidget, HarnessAgent, Message, ScriptedModel, Transcript, presets, replay
from harness_nb.errors import ConfigError, ModelError

VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def agent() -> Iterator[HarnessAgent]:
    model = ScriptedModel(
        chat=["word " * 200], summary=["## SUMMARY\nshort"], flush=["NO_REPLY"], repeat_last=True, window=9_000
    )
    compaction = CompactionConfig(trigger_messages=30, keep_messages=4)
    with HarnessAgent("lab", model=model, workspace="ws", compaction=compaction) as agent:
        yield agent


def talk(turns: int = 40) -> Transcript:
    return Transcript([m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))])


@pytest.fixture
def widget() -> Iterator[CutoffWidget]:
    widget = CutoffWidget(talk())
    yield widget
    widget.close()


def test_it_is_a_public_name() -> None:
    assert harness_nb.CutoffWidget is CutoffWidget


def test_both_forms_come_from_one_renderer(widget, live_shell) -> None:
    shown = widget._repr_mimebundle_()
    assert set(shown) == {VIEW, "text/plain", "text/html"}
    assert "What harness would do now" in shown["text/html"] and "What harness would do now" in widget.children[0].value


def test_its_repr_is_short_and_always_the_same(widget) -> None:
    other = CutoffWidget(talk())
    assert repr(widget) == repr(other) == "CutoffWidget(compacted: 4.4k -> 1.7k tokens)"
    other.close()


def test_moving_the_keep_moves_the_cut_and_shows_the_settings_as_code(widget) -> None:
    widget.keep.value = 30
    assert widget.model.cutoff.index == 50
    assert "keep_messages=30" in widget.children[0].value
    made = presets.get("harness", keep_messages=30)
    assert widget.model.tokens_after == widget._scene.view.tokens_of(made.policy.plan(widget._scene.view).input)
    widget.back.click()
    assert widget.keep.value == 20 and "keep_messages" not in widget.children[0].value


def test_a_drag_does_what_the_slider_does_and_snaps_between_rounds(widget) -> None:
    widget._pointed("drag", 0.505, 0)
    by_drag = widget.model
    widget.back.click()
    widget.keep.value = 80 - by_drag.cutoff.index
    assert widget.model == by_drag


def test_a_click_reads_a_block_and_a_second_one_closes_it(widget) -> None:
    share = (widget.model.places[4] + widget.model.places[5]) / 2
    widget._pointed("click", share, 0)
    assert widget.block.value == 4 and "q2 q2" in widget._reading.value
    widget._pointed("click", share, 0)
    assert widget.block.value == -1 and widget._reading.value == ""


def test_the_number_of_a_block_reads_it_too_and_the_static_form_shows_it(widget) -> None:
    widget.block.value = 4
    assert "q2 q2" in widget._reading.value and "message 4 · user" in widget._repr_mimebundle_()["text/plain"]


def test_messages_of_the_pointer_are_checked(widget) -> None:
    pointer = next(one for one in widget.children if type(one).__name__ == "Pointer")
    pointer._take(pointer, {"kind": "click", "share": 0.0, "column": 0}, [])
    assert widget.block.value == 0
    for bad in ({}, {"kind": "delete", "share": 0.5}, {"kind": "click", "share": "x"}):
        pointer._take(pointer, bad, [])
    assert widget.block.value == 0


def test_it_says_what_would_be_done_if_asked_where_nothing_is_due(agent) -> None:
    for number in range(5):
        agent.ask(f"question {number}")
    widget = CutoffWidget(agent)
    assert widget.model.title == "What harness would do if asked"
    assert "Now nothing: below the trigger" in widget.model.line
    assert widget.model.cutoff.index == 6
    assert not any(request.purpose == "summary" for request in agent.model.requests)
    widget.close()


def test_compact_now_is_queued_and_the_widget_shows_what_came_of_it(agent) -> None:
    for number in range(5):
        agent.ask(f"question {number}")
    widget = CutoffWidget(agent)
    widget.compact.click()
    assert widget.settle()
    assert [event.outcome for event in agent.events if event.kind == "compaction_finished"] == ["completed"]
    assert "Compacting: completed" in widget._said.value
    assert widget.model.blocks[0].part == "summaries and notes"
    widget.close()


def test_a_failing_job_is_shown_inside_the_widget(agent, monkeypatch) -> None:
    widget = CutoffWidget(agent)
    monkeypatch.setattr(type(agent), "compact", lambda self: (_ for _ in ()).throw(ModelError("It is down.", "Wait.")))
    widget.compact.click()
    assert widget.settle() and "It is down." in widget._said.value
    widget.close()


def test_an_error_in_a_handler_is_shown_inside_and_what_was_there_stays(widget, monkeypatch) -> None:
    before = widget.children[0].value
    monkeypatch.setattr(type(widget._stage), "scene", lambda *_: 1 / 0)
    widget.keep.value = 33
    assert "ZeroDivisionError" in widget._said.value and 'role="alert"' in widget._said.value
    assert widget.children[0].value == before


def test_a_past_plan_of_an_agent_is_shown_by_its_number_and_stays_while_others_come(agent) -> None:
    for number in range(5):
        agent.ask(f"question {number}")
    past, now = CutoffWidget(agent), CutoffWidget(agent)
    agent.compact()
    past.place.value = 1
    done = agent.plans[0]
    assert past.model.tokens_before == done.tokens_before and past.model.title == "Plan 1: what harness did"
    assert "Nothing has been changed" not in past.model.line and now.place.value == now.place.max == 2
    shown = past.children[0].value
    for number in range(4):
        agent.ask(f"more {number}")
    agent.compact()
    assert past.place.value == 1 and past.children[0].value == shown
    assert past.place.max == now.place.value == len(agent.plans) + 1 > 2
    assert CutoffWidget(agent, plan=1).model == past.model
    with pytest.raises(ConfigError, match=r"There is no plan 99\.\nUse a number from 1 to"):
        CutoffWidget(agent, plan=99)
    past.close()
    now.close()


def test_it_follows_the_agent_and_two_of_them_stay_in_step(agent) -> None:
    widgets = [CutoffWidget(agent), CutoffWidget(agent)]
    for number in range(3):
        agent.ask(f"question {number}")
    assert len(widgets[0].model.blocks) == 6
    assert widgets[0].children[0].value == widgets[1].children[0].value
    for widget in widgets:
        widget.close()


def test_what_a_policy_did_in_a_replay_is_shown_point_by_point() -> None:
    run = replay(talk(), "harness", window=8_000, model=None)
    widget = CutoffWidget(run)
    assert widget.place.max == len(run.compactions) > 0
    widget.place.value = 1
    first = run.compactions[0]
    assert f"did at message {first.index}" in widget.model.title
    assert (widget.model.tokens_before, widget.model.tokens_after) == (first.tokens_before, first.tokens_after)
    assert "Nothing has been changed" not in widget.model.line
    widget.close()


def test_a_replay_without_compactions_and_a_policy_without_a_keep_are_shown() -> None:
    quiet = CutoffWidget(replay(talk(3), "harness", model=None))
    assert "nothing was compacted" in quiet.model.line
    eney = CutoffWidget(talk(), "eney")
    eney._pointed("drag", 0.2, 0)
    for widget in (quiet, eney):
        widget.close()


def test_a_policy_of_ones_own_is_taken_as_it_is() -> None:
    widget = CutoffWidget(talk(), presets.get("harness", keep_messages=2).policy)
    assert widget.model.cutoff.index == 78
    widget.close()


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="hernes"):
        CutoffWidget(talk(), "hernes")


def test_what_it_cannot_show_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"3 can't be shown.\nGive an agent, a replay or a transcript"):
        CutoffWidget(3)


def test_no_widget_is_left_when_it_is_closed() -> None:
    before = set(ipywidgets.widget._instances)
    widget = CutoffWidget(talk())
    widget.close()
    widget.close()
    assert set(ipywidgets.widget._instances) == before


def test_its_frame_has_a_row_for_each_message(widget) -> None:
    assert len(widget.df) == 80 and set(widget.df["fate"]) == {"kept", "stood for"}


def test_r105_widget_plan_and_event_give_the_same_figures(agent) -> None:
    for number in range(5):
        agent.ask(f"question {number}")
    widget = CutoffWidget(agent)
    before = widget.model
    event = agent.compact().events[-1]
    assert (before.tokens_before, before.fixed_tokens) == (event.tokens_before, event.fixed_tokens)
    row = agent.frames.plans().iloc[-1]
    assert (row["tokens_before"], row["tokens_after"]) == (event.tokens_before, event.tokens_after)
    assert widget.model.tokens_before == event.tokens_after == agent.status().tokens
    widget.close()

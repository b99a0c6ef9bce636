"""The live display: different unfinished texts, ten updates a second at most, a final form that stands alone."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest

from harness_nb import CompactionConfig, HarnessAgent, ScriptedModel
from harness_nb.agent.parts import FROM_PRESET
from harness_nb.core.messages import ToolCall
from harness_nb.errors import ModelError
from harness_nb.model.scripted import Broken
from harness_nb.notebook.errors import MagicError
from harness_nb.notebook.live import Pace
from harness_nb.notebook.widgets.plan_link import PlanLink

VIEW = "application/vnd.jupyter.widget-view+json"


def outputs(shell: Any) -> list[str]:
    """The texts shown one after the other."""
    return [output["data"]["text/plain"] for output in shell.display_pub.outputs]


def use(
    shell: Any, *replies: Any, tools: tuple[Any, ...] = (), compaction: Any = FROM_PRESET, **script: Any
) -> HarnessAgent:
    model = ScriptedModel(chat=list(replies), flush=["NO_REPLY"], reports_usage=True, **script)
    shell.user_ns["lab"] = HarnessAgent("lab", model=model, workspace="ws", tools=tools, compaction=compaction)
    shell.cell("%agent use lab")
    return shell.user_ns["lab"]


def probe(name: str) -> str:
    """Measures."""
    return f"{name}: 42"


def test_an_answer_is_seen_unfinished_three_times_and_ends_in_one_line(live_shell) -> None:
    agent = use(live_shell, "one two three four five six seven eight", piece_chars=8, delay_seconds=0.12)
    reply = live_shell.cell("%%agent\nCount.")
    texts = outputs(live_shell)
    unfinished = {text for text in texts if "▍" in text and "one" in text}
    assert len(unfinished) >= 3
    assert "▍" not in texts[-1] and texts[-1].startswith("1 step · ")
    assert "one two" not in texts[-1], "the answer is the value of the cell and is not shown twice"
    assert reply.text == "one two three four five six seven eight"
    agent.close()


def test_all_updates_are_of_one_display(live_shell) -> None:
    agent = use(live_shell, "a b c", piece_chars=1, delay_seconds=0.05)
    live_shell.cell("%%agent\nSpell.")
    ids = {output["transient"]["display_id"] for output in live_shell.display_pub.outputs}
    assert len(ids) == 1
    assert [output.get("update", False) for output in live_shell.display_pub.outputs][0] is False
    agent.close()


def test_tool_calls_are_folded_rows_with_arguments_and_sizes(live_shell) -> None:
    call = ToolCall("c1", "probe", '{"name":"<kappa>"}')
    agent = use(live_shell, [call], "It is 42.", tools=(probe,))
    live_shell.cell("%%agent\nMeasure.")
    final = live_shell.display_pub.outputs[-1]["data"]
    assert "tool probe: 11 characters" in final["text/plain"]
    assert "<details><summary>tool probe" in final["text/html"] and "&lt;kappa&gt;" in final["text/html"]
    agent.close()


def test_a_compaction_is_a_row_with_the_command_of_its_plan_and_a_button_that_opens_it(live_shell) -> None:
    compaction = CompactionConfig(trigger_messages=4, keep_messages=2)
    agent = use(live_shell, *["words " * 60] * 4, summary=["short"], repeat_last=True, compaction=compaction)
    for question in ("one", "two", "three"):
        live_shell.cell(f"%%agent\n{question}")
    [number] = {event.plan_number for event in agent.events if event.kind == "compaction_finished"}
    links = [shown for shown in live_shell.display_pub.outputs if VIEW in shown["data"]]
    assert [shown["data"]["text/plain"] for shown in links] == [f"Plan {number}: %context plan {number}"]
    final = live_shell.display_pub.outputs[-1]["data"]
    assert f"· %context plan {number}" in final["text/plain"] and "compacted" in final["text/plain"]
    assert f"<code>%context plan {number}</code>" in final["text/html"]
    plan = live_shell.cell(f"%context plan {number}")
    link = PlanLink(agent, number)
    link.button.click()
    assert link.opened.model == plan.model and "Plan 1: what harness did" in plan.model.title
    before = set(ipywidgets.widget._instances)
    link.button.click()
    assert link.opened is None and len(set(ipywidgets.widget._instances)) < len(before)
    for widget in (link, plan):
        widget.close()
    agent.close()


def test_a_failed_turn_keeps_the_partial_answer_in_sight_and_fails_the_cell(live_shell) -> None:
    agent = use(live_shell, Broken("half of it", ModelError("The connection broke.", "Ask again.")))
    with pytest.raises(MagicError, match="The connection broke"):
        live_shell.cell("%%agent\nGo.")
    final = outputs(live_shell)[-1]
    assert final.startswith("Failed") and "half of it" in final and "not finished" in final
    agent.close()


@pytest.mark.parametrize("how", ["option", "config", "variable", "terminal"])
def test_static_mode_shows_the_final_object_only(live_shell, monkeypatch, how: str) -> None:
    agent = use(live_shell, "done")
    if how == "config":
        live_shell.cell("%config HarnessMagics.static = True")
    elif how == "variable":
        monkeypatch.setenv("HARNESS_NB_STATIC", "1")
    elif how == "terminal":
        live_shell.kernel = None
    reply = live_shell.cell("%%agent --no-stream\nGo." if how == "option" else "%%agent\nGo.")
    assert reply.text == "done" and outputs(live_shell) == []
    agent.close()


def test_the_pace_is_ten_a_second_and_what_is_no_text_goes_first() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    allowed = 0
    for tick in range(1_000):
        now = tick / 1_000
        allowed += pace.allows(is_piece=True)
    assert allowed == 10
    pace = Pace(lambda: now)
    assert pace.allows(is_piece=True) and not pace.allows(is_piece=True) and pace.allows(is_piece=False)
    for _ in range(20):
        pace.allows(is_piece=False)
    assert not pace.allows(is_piece=False)
    now += 1.01
    assert pace.allows(is_piece=True)

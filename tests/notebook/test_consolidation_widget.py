"""The consolidation widget: choices are undone until they are applied; what is applied is in the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ipywidgets
import pytest

import harness_nb
from harness_nb import ConsolidationWidget, HarnessAgent, MemoryConfig, ScriptedModel
from harness_nb.core.clock import Clock
from harness_nb.errors import ConfigError, ModelError

VIEW = "application/vnd.jupyter.widget-view+json"
NEW = """\
# Memory

- Default solver: DOP853 since 30 Nov.
- Ana reviews every schema change.
- The disk on lab-7 was full this morning.
"""


@pytest.fixture
def agent(workspace: Path, clock: Clock) -> Iterator[HarnessAgent]:
    (workspace / "memory").mkdir()
    (workspace / "memory" / "2026-04-11.md").write_text(
        "- Default solver: DOP853 since 30 Nov.\n- Ana reviews every schema change.\n", "utf-8"
    )
    (workspace / "memory" / "2026-04-12.md").write_text("- The disk on lab-7 was full this morning.\n", "utf-8")
    (workspace / "MEMORY.md").write_text("# Memory\n\n- Default solver: RK45.\n- Bo owns the budget.\n", "utf-8")
    model = ScriptedModel(chat=["ok"], flush=["NO_REPLY"], consolidation=[NEW], repeat_last=True)
    with HarnessAgent(
        "lab", model=model, workspace=workspace, memory=MemoryConfig(review="always"), clock=clock
    ) as agent:
        yield agent


@pytest.fixture
def widget(agent: HarnessAgent) -> Iterator[ConsolidationWidget]:
    agent.consolidate()
    widget = ConsolidationWidget(agent)
    yield widget
    widget.close()


def memory(agent: HarnessAgent) -> str:
    return (agent.workspace.path / "MEMORY.md").read_text("utf-8")


def proposal(widget: ConsolidationWidget):
    return widget._proposals.children[0]


def test_it_is_a_public_name() -> None:
    assert harness_nb.ConsolidationWidget is ConsolidationWidget


def test_it_shows_what_waits_in_both_forms(widget, live_shell) -> None:
    shown = widget._repr_mimebundle_()
    assert set(shown) == {VIEW, "text/plain", "text/html"}
    assert "+ Ana reviews every schema change." in shown["text/plain"] and "next cycle" in shown["text/plain"]
    assert repr(widget) == "ConsolidationWidget(3 entries to merge, 4 changes to review)"


def test_consolidate_now_is_queued_and_its_proposal_appears(agent) -> None:
    widget = ConsolidationWidget(agent)
    assert len(widget._proposals.children) == 0
    widget.consolidate.click()
    assert widget.settle() and "waiting" in widget._said.value
    assert len(proposal(widget).rows) == 4 and "RK45" in memory(agent)
    widget.close()


def test_choices_change_nothing_until_they_are_applied_and_can_be_undone(widget, agent) -> None:
    before = memory(agent)
    proposal(widget).rows[3].chosen.value = False
    proposal(widget).rows[0].text.value = "Default solver: DOP853."
    assert (
        proposal(widget).apply.description == "Apply 3 of 4" and "edited by you" in proposal(widget).rows[0]._html.value
    )
    widget.undo.click()
    assert (
        proposal(widget).apply.description == "Apply 4 of 4"
        and "edited by you" not in proposal(widget).rows[0]._html.value
    )
    assert proposal(widget).rows[3].chosen.value is True and memory(agent) == before


def test_what_is_applied_is_in_the_file_with_the_edited_text_and_the_rest_waits_on(widget, agent) -> None:
    rows = proposal(widget).rows
    lost = next(n for n, change in enumerate(widget.model.proposals[0].changes) if change.kind == "removed")
    rows[lost].chosen.value = False
    rows[0].text.value = "Default solver: DOP853, since December."
    proposal(widget).apply.click()
    assert widget.settle()
    assert "- Default solver: DOP853, since December." in memory(agent) and "- Bo owns the budget." in memory(agent)
    assert widget.model.changes == 1 and "accepted" in widget._said.value


def test_rejecting_leaves_the_file_as_it_is(widget, agent) -> None:
    before = memory(agent)
    proposal(widget).reject_all.click()
    assert widget.settle()
    assert memory(agent) == before and widget.model.proposals == () and len(widget._proposals.children) == 0


def test_the_others_are_rejected_by_themselves(widget, agent) -> None:
    proposal(widget).rows[1].chosen.value = False
    proposal(widget).reject_others.click()
    assert widget.settle() and widget.model.changes == 3 and "RK45" in memory(agent)


def test_a_second_click_on_a_decided_candidate_is_said_and_does_nothing(widget, agent) -> None:
    agent.memory.accept(1)
    after = memory(agent)
    widget.apply(1)
    assert widget.settle() and 'role="alert"' in widget._said.value and memory(agent) == after


def test_nothing_chosen_is_said(widget) -> None:
    for row in proposal(widget).rows:
        row.chosen.value = False
    assert proposal(widget).apply.disabled
    widget.apply(1)
    assert "Nothing is chosen" in widget._said.value


def test_a_version_is_compared_and_restored(widget, agent) -> None:
    before = memory(agent)
    proposal(widget).apply.click()
    assert widget.settle() and memory(agent) != before
    widget.version.value = widget.version.options[1][1]
    assert "Restoring version" in widget._difference.value and "Bo owns the budget" in widget._difference.value
    widget.restore.click()
    assert widget.settle() and memory(agent) == before and len(widget.version.options) == 3


def test_two_widgets_of_one_memory_stay_in_step(widget, agent) -> None:
    other = ConsolidationWidget(agent.memory)
    proposal(widget).reject_all.click()
    assert widget.settle() and other.model.proposals == ()
    other.close()


def test_it_follows_consolidations_made_elsewhere(agent) -> None:
    widget = ConsolidationWidget(agent)
    agent.consolidate()
    assert widget.model.changes == 4
    widget.close()


def test_a_failing_model_is_said_and_the_buttons_work_again(agent, monkeypatch) -> None:
    widget = ConsolidationWidget(agent)
    monkeypatch.setattr(
        type(agent.memory), "consolidate", lambda self: (_ for _ in ()).throw(ModelError("Down.", "Wait."))
    )
    widget.consolidate.click()
    assert widget.settle() and "Down." in widget._said.value and not widget.consolidate.disabled
    widget.close()


def test_the_field_for_a_text_opens_and_a_removal_has_none(widget) -> None:
    row = proposal(widget).rows[0]
    assert row.text.layout.display == "none"
    row.edit.value = True
    assert row.text.layout.display is None and row.text.value == "Default solver: DOP853 since 30 Nov."
    kinds = [change.kind for change in widget.model.proposals[0].changes]
    assert proposal(widget).rows[kinds.index("removed")].edit.layout.visibility == "hidden"


def test_what_has_no_memory_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"3 has no memory.\nGive an agent, or agent.memory"):
        ConsolidationWidget(3)


def test_no_widget_is_left_when_it_is_closed(agent) -> None:
    agent.consolidate()
    before = set(ipywidgets.widget._instances)
    widget = ConsolidationWidget(agent)
    widget.close()
    assert set(ipywidgets.widget._instances) == before


def test_its_frame_has_entries_and_changes(widget) -> None:
    assert sorted(widget.df["what"].value_counts().items()) == [("change", 4), ("entry", 3)]

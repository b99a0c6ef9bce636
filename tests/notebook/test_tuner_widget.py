"""The tuner: each setting has a control, what it leads to is that of a replay, and a long one is run in the background."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import pytest

import harness_nb
from harness_nb import HarnessAgent, Message, ScriptedModel, Transcript, TunerWidget, presets, replay
from harness_nb.errors import ConfigError
from harness_nb.notebook.widgets import column as columns

VIEW = "application/vnd.jupyter.widget-view+json"


def talk(turns: int = 40) -> Transcript:
    said = [m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    return Transcript(said, name="talk")


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays of these lengths count as quick on a busy computer, too."""
    monkeypatch.setattr(columns, "QUICK_SECONDS", 30.0)


@pytest.fixture
def tuner() -> Iterator[TunerWidget]:
    tuner = TunerWidget(talk(), "harness", "eney", window=8_000)
    yield tuner
    tuner.close()


def test_it_is_a_public_name() -> None:
    assert harness_nb.TunerWidget is TunerWidget


def test_both_forms_show_all_policies_with_their_figures_and_code(tuner, live_shell) -> None:
    shown = tuner._repr_mimebundle_()
    assert set(shown) == {VIEW, "text/plain", "text/html"}
    for said in ("harness", "eney", "compactions", "mean prompt", 'presets.get("eney")', "cutoff at"):
        assert said in shown["text/plain"], said
    assert len(shown["text/html"]) <= 20_000


def test_a_slider_leads_to_what_a_replay_with_that_setting_gives(tuner) -> None:
    column = tuner.columns[0]
    column.settings["keep_messages"].value = 8
    run = replay(talk(), presets.get("harness", keep_messages=8), window=8_000, model=None)
    assert column.run.totals == run.totals
    assert column.tuned.code == 'presets.get("harness", keep_messages=8)'
    assert dict(column.tuned.metrics)["compactions"] == f"{run.totals.compactions}"
    assert column.tuned.code in column._html.value.replace("&quot;", '"')


def test_every_setting_has_a_control_that_keeps_its_value_and_kind(tuner) -> None:
    for column in tuner.columns:
        for name, control in column.settings.items():
            before = column.preset.settings[name]
            assert type(columns_value(control, before)) is type(before) and columns_value(control, before) == before


def columns_value(control: ipywidgets.Widget, before: object) -> object:
    from harness_nb.notebook.widgets.controls import value_of

    return value_of(control, before)


@pytest.mark.parametrize("name", presets.names())
def test_a_front_end_that_rounds_to_steps_changes_no_setting_of_any_preset(name: str) -> None:
    from harness_nb.notebook.widgets.controls import control, tunable

    for setting, value in tunable(presets.get(name)).items():
        made = control(setting, value, 128_000)
        if isinstance(made, ipywidgets.IntSlider | ipywidgets.FloatSlider):
            steps = (value - made.min) / made.step
            assert abs(steps - round(steps)) < 1e-6 and made.min <= value <= made.max, setting
        ipywidgets.Widget.close(made)


def test_several_numbers_are_typed_and_nonsense_is_said_inside(tuner) -> None:
    column = tuner.columns[1]
    column.settings["thresholds"].value = "50, 60, 70"
    assert column.preset.settings["thresholds"] == (50, 60, 70)
    before = column.tuned
    column.settings["thresholds"].value = "many"
    assert "are no numbers" in tuner._said.value and column.tuned is before


def test_a_value_that_the_policy_refuses_is_said_inside_and_nothing_changes(tuner) -> None:
    column = tuner.columns[1]
    column.settings["thresholds"].value = "90, 80, 70"
    assert 'role="alert"' in tuner._said.value and column.preset.settings["thresholds"] == (75, 90, 95)


def test_another_preset_brings_its_own_controls(tuner) -> None:
    column = tuner.columns[1]
    column.choice.value = "agentscope"
    assert "trigger_messages" in column.settings and column.run.policy == "agentscope"
    assert column.variant.layout.display is None and list(column.variant.options) == ["as_documented", "as_shipped"]
    column.variant.value = "as_shipped"
    assert column.preset.variant == "as_shipped"


def test_the_window_is_for_all_of_them(tuner) -> None:
    tuner.window.value = 20_000
    assert {column.run.window for column in tuner.columns} == {20_000}


def test_a_drag_moves_the_keep_and_a_click_reads_a_block(tuner) -> None:
    tuner._pointed("drag", 0.5, 0)
    assert tuner.columns[0].preset.settings["keep_messages"] == tuner.columns[0].settings["keep_messages"].value != 20
    tuner._pointed("click", 0.0, 1)
    assert tuner.block.value == 0 and "q0 q0" in tuner._reading.value
    tuner._pointed("click", 0.5, 9)


def test_a_long_replay_shows_a_preview_first_and_its_figures_when_it_is_done(monkeypatch) -> None:
    tuner = TunerWidget(talk(), window=8_000)
    monkeypatch.setattr(columns, "QUICK_SECONDS", -1.0)
    column = tuner.columns[0]
    shown: list[str] = []
    column._html.observe(lambda change: shown.append(change["new"]), names="value")
    column.settings["keep_messages"].value = 10
    assert tuner.settle() and column.run is not None
    assert "the replay is under way" in shown[0] and "the replay is under way" not in column._html.value
    assert (
        column.run.totals == replay(talk(), presets.get("harness", keep_messages=10), window=8_000, model=None).totals
    )
    tuner.close()


def test_of_several_attempts_only_the_last_one_counts(monkeypatch) -> None:
    tuner = TunerWidget(talk(), window=8_000)
    monkeypatch.setattr(columns, "QUICK_SECONDS", -1.0)
    for keep in (5, 6, 7, 8, 9):
        tuner.columns[0].settings["keep_messages"].value = keep
    assert tuner.settle()
    assert tuner.columns[0].tuned.code == 'presets.get("harness", keep_messages=9)'
    assert (
        tuner.columns[0].run.totals
        == replay(talk(), presets.get("harness", keep_messages=9), window=8_000, model=None).totals
    )
    tuner.close()


def test_a_policy_of_ones_own_has_figures_and_no_controls() -> None:
    class Mine(harness_nb.CompactionPolicy):
        name = "mine"

        def plan(self, view):
            return view.unchanged("never")

    tuner = TunerWidget(talk(), Mine())
    assert tuner.columns[0].settings == {} and dict(tuner.columns[0].tuned.metrics)["compactions"] == "0"
    tuner.close()


def test_an_agent_and_a_replay_can_be_tuned() -> None:
    model = ScriptedModel(chat=["word " * 50], flush=["NO_REPLY"], repeat_last=True)
    with HarnessAgent("lab", model=model, workspace="ws") as agent:
        agent.ask("hello")
        tuner = TunerWidget(agent)
        assert len(tuner.transcript) == 2
        tuner.close()
    tuner = TunerWidget(replay(talk(4), "eney", model=None))
    assert len(tuner.transcript) == 8
    tuner.close()


def test_an_unknown_preset_is_refused_and_leaves_nothing() -> None:
    with pytest.raises(ConfigError, match="hernes"):
        TunerWidget(talk(), "hernes")
    with pytest.raises(ConfigError, match="'talk.jsonl' is no conversation"):
        TunerWidget("talk.jsonl")


def test_no_widget_is_left_when_it_is_closed() -> None:
    before = set(ipywidgets.widget._instances)
    tuner = TunerWidget(talk(), "harness", "eney", window=8_000)
    tuner.columns[1].choice.value = "agentscope"
    tuner.close()
    assert set(ipywidgets.widget._instances) == before


def test_its_repr_and_frame_are_short_and_documented(tuner) -> None:
    assert repr(tuner).startswith("TunerWidget(harness: cutoff at") and "0x" not in repr(tuner)
    assert tuner.df["policy"].tolist() == ["harness", "eney"]

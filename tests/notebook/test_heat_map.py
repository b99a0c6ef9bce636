"""The tuner's heat map: what a sweep of two settings gives, and cells that set the sliders."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest

from harness_nb import Message, Transcript, TunerWidget, presets, replay, sweep
from harness_nb.notebook.widgets import column as columns
from harness_nb.notebook.widgets import heat as heats
from harness_nb.notebook.widgets.controls import values_to_try
from harness_nb.notebook.widgets.heat import HeatMap


def talk(turns: int = 16) -> Transcript:
    said = [m for n in range(turns) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))]
    return Transcript(said, name="talk")


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replays of these lengths count as quick on a busy computer, too."""
    monkeypatch.setattr(columns, "QUICK_SECONDS", 30.0)


@pytest.fixture
def tuner() -> Iterator[TunerWidget]:
    tuner = TunerWidget(talk(), "harness", window=8_000)
    yield tuner
    tuner.close()


def swept(tuner: TunerWidget, down: str = "trigger_messages", across: str = "keep_messages") -> HeatMap:
    heat = tuner.columns[0].heat
    heat.down.value, heat.across.value = down, across
    heat.start.click()
    assert tuner.settle()
    return heat


def test_a_cell_has_the_figure_of_a_replay_with_its_settings(tuner) -> None:
    heat = swept(tuner)
    model = heat.model
    for at, n in ((0, 0), (2, 3), (len(model.downs) - 1, len(model.acrosses) - 1)):
        settings = {model.down: model.downs[at], model.across: model.acrosses[n]}
        run = replay(talk(), presets.get("harness", **settings), window=8_000, model=None)
        totals = run.totals
        assert model.values[at][n] == round(totals.tokens_sent / totals.requests)
    heat.figure.value = "compactions"
    assert heat.model.values[-1][-1] == totals.compactions


def test_a_cell_sets_both_sliders_at_once_and_is_marked(tuner) -> None:
    heat, column = swept(tuner), tuner.columns[0]
    shown: list[str] = []
    column._html.observe(lambda change: shown.append(change["new"]), names="value")
    tuner._chosen(0, 1, 2)
    wanted = {heat.model.down: heat.model.downs[1], heat.model.across: heat.model.acrosses[2]}
    assert {name: column.settings[name].value for name in wanted} == wanted
    assert {name: column.preset.settings[name] for name in wanted} == wanted
    assert heat.model.here == (1, 2) and "◆" in heat._html.value and len(shown) == 1
    assert all(f"{name}={value}" in column.tuned.code for name, value in wanted.items())


def test_the_list_of_cells_does_what_a_click_does_and_goes_from_least_to_most(tuner) -> None:
    heat, column = swept(tuner), tuner.columns[0]
    places = [place for _, place in heat.place.options if place is not None]
    values = [heat.model.values[at][n] for at, n in places]
    assert values == sorted(values) and len(values) == len(heat.model.downs) * len(heat.model.acrosses)
    heat.place.value = places[-1]
    assert heat.model.here == places[-1]
    assert column.preset.settings["keep_messages"] == heat.model.acrosses[places[-1][1]]


def test_a_slider_moves_the_mark_and_another_setting_makes_the_map_old(tuner) -> None:
    heat, column = swept(tuner), tuner.columns[0]
    column.settings["keep_messages"].value = heat.model.acrosses[0]
    assert heat.model.here is not None and heat.model.here[1] == 0 and "sweep again" not in heat._html.value
    tuner.window.value = 20_000
    assert "sweep again" in heat._html.value


def test_the_code_it_shows_gives_the_same_figures(tuner) -> None:
    tuner.columns[0].settings["trigger_tokens"].value = 4_000
    heat = swept(tuner)
    shown: dict[str, Any] = {"sweep": sweep, "transcript": talk()}
    again = eval(heat._ground.code, shown)  # noqa: S307 - code that the widget shows to be copied
    assert [one["peak_tokens"] for one in again.records] == [one["peak_tokens"] for one in heat.found.records]
    assert heat._ground.code.startswith('sweep(transcript, {"harness": {"trigger_tokens": 4000, "trigger_messages": [')


def test_a_sweep_says_how_far_it_is_and_can_be_cancelled(tuner, monkeypatch) -> None:
    heat, reached, go_on = tuner.columns[0].heat, threading.Event(), threading.Event()
    said: list[str] = []
    heat.progress.observe(lambda change: said.append(change["new"]), names="description")

    def waiting(*given: Any, progress: Any, **settings: Any) -> Any:
        def look(done: int, total: int) -> None:
            progress(done, total)
            if done:
                reached.set()
                go_on.wait(10)

        return sweep(*given, progress=look, **settings)

    monkeypatch.setattr(heats, "sweep", waiting)
    heat.begin()
    assert reached.wait(10) and heat.progress.layout.display is None and heat.stop.layout.display is None
    heat.stop.click()
    go_on.set()
    assert tuner.settle() and heat.found is None and heat.model is None
    assert said[0] == "0 of 49 replays" and all(one.endswith(" of 49 replays") for one in said)
    assert "49 of 49 replays" not in said
    assert heat.progress.layout.display == heat.stop.layout.display == "none"


def test_the_static_form_shows_it_too_and_stays_small(tuner) -> None:
    tuner.columns[0].heat.figure.value = "peak"
    heat = swept(tuner)
    shown = tuner._repr_mimebundle_()
    for form in ("text/plain", "text/html"):
        assert heat.model.line in shown[form] and "rows: trigger_messages, columns: keep_messages" in shown[form]
        assert len(shown[form].encode()) <= 20_000
    assert "tabindex" not in shown["text/html"] and "tabindex" in heat._html.value


def test_one_setting_twice_is_refused_inside_the_widget(tuner) -> None:
    heat = tuner.columns[0].heat
    heat.across.value = heat.down.value
    heat.start.click()
    assert "is chosen twice" in tuner._said.value and heat.found is None


def test_another_preset_offers_its_own_settings(tuner) -> None:
    swept(tuner)
    column = tuner.columns[0]
    column.choice.value = "eney"
    assert column.heat.model is None and "tier2_keep_messages" in column.heat.down.options
    assert column.with_heat.heat is None


@pytest.mark.parametrize("name", presets.names())
def test_all_values_that_are_tried_are_values_that_the_slider_can_hold(name: str) -> None:
    from harness_nb.notebook.widgets.controls import control, tunable

    for setting, value in tunable(presets.get(name)).items():
        made = control(setting, value, 128_000)
        tried = values_to_try(made)
        assert not tried or value in tried, setting
        for one in tried:
            made.value = one
            assert made.value == one and type(made.value) is type(value), (setting, one)
        made.close()


def test_refused_settings_leave_a_dash_and_choosing_them_is_said_inside(tuner) -> None:
    tuner.columns[0].choice.value = "nanobot"
    heat = swept(tuner, "max_output_tokens", "consolidation_ratio")
    refused = heat.model.acrosses.index(1.0)
    assert heat.model.words(0, refused) == "–" and heat.model.shade(0, refused) is None
    before = tuner.columns[0].preset
    tuner._chosen(0, 0, refused)
    assert "consolidation_ratio=1.0 is not valid" in tuner._said.value and tuner.columns[0].preset is before
    tuner._chosen(0, 99, 99)
    tuner._chosen(5, 0, 0)


def test_no_widget_is_left_when_it_is_closed() -> None:
    before = set(ipywidgets.widget._instances)
    tuner = TunerWidget(talk(), window=8_000)
    swept(tuner)
    tuner.close()
    assert set(ipywidgets.widget._instances) == before

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness_nb import Message, Transcript, presets, replay, score
from harness_nb.errors import ConfigError, TranscriptError
from harness_nb.lab.metrics import METRICS
from harness_nb.lab.run import Replay
from harness_nb.lab.score import ScoreReport


def talk(turns: int = 12, name: str = "talk") -> Transcript:
    said = []
    for at in range(turns):
        said += [Message.user(f"Measure sample {at}."), Message.assistant(f"Sample {at}: {at * 7}. " * 20)]
    return Transcript(said, name=name, model="claude-opus-4-5")


def run(**settings: int) -> Replay:
    return replay(talk(), presets.get("harness", trigger_messages=8, keep_messages=4, **settings), model=None)


def test_a_score_holds_all_that_its_figures_depend_on() -> None:
    (one,) = score(run(), seed=3).scores
    assert (one.transcript, one.policy, one.window, one.seed) == ("talk", "harness", 200_000, 3)
    assert (one.settings["trigger_messages"], one.settings["keep_messages"]) == (8, 4)
    assert (one.counter, one.answered_by, one.guarded) == (run().final.measure.name, "assumed", True)
    assert len(one.data) == 64
    assert one.values["compactions"] == run().totals.compactions > 0


def test_all_metrics_are_scored_unless_some_are_named() -> None:
    assert list(score(run()).scores[0].values) == list(METRICS)
    assert list(score(run(), metrics=["peak_tokens"]).scores[0].values) == ["peak_tokens"]


def test_a_report_comes_back_from_its_file_and_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    report = score([run(), replay(talk(), "eney", window=8_000, model=None)])
    path = report.write(tmp_path / "scores" / "now.json")
    assert ScoreReport.read(path) == report
    assert (
        path.read_text(encoding="utf-8") == score([run(), replay(talk(), "eney", window=8_000, model=None)]).to_json()
    )


def test_the_key_tells_apart_what_was_scored_and_not_how_it_came_out() -> None:
    first, other = score([run(), run(trigger_tokens=500)]).scores
    again = score(run(), metrics=["turns"]).scores[0]
    assert first.key == again.key != other.key


def test_the_frame_has_a_row_a_replay_and_a_column_a_metric_with_its_unit() -> None:
    frame = score([run(), run()], metrics=["tokens_sent", "compression"]).df
    assert list(frame.columns) == [
        "transcript", "policy", "window", "tokens_sent", "compression",
        "settings", "data", "counter", "answered_by", "guarded", "seed",
    ]  # fmt: skip
    assert frame.attrs["metrics"]["tokens_sent"]["unit"] == "tokens"
    assert (frame["tokens_sent"] == run().totals.tokens_sent).all()


def test_a_report_shows_itself_as_text_and_html() -> None:
    report = score(run(), metrics=["tokens_sent"])
    assert "tokens sent" in str(report)
    assert "lower is better" in str(report)
    assert "<table" in report._repr_mimebundle_()["text/html"]
    many = score([run()] * 6, metrics=["tokens_sent"])
    assert str(many).count("harness") >= 6


@pytest.mark.parametrize("given", [[], "session.jsonl", [1]])
def test_what_is_no_replay_is_refused(given: object) -> None:
    with pytest.raises(ConfigError, match="no replay to score"):
        score(given)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"format": 99}), json.dumps({"format": 1, "scores": [1]})])
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(TranscriptError):
        ScoreReport.from_json(text)


def test_a_missing_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match=r"nowhere\.json"):
        ScoreReport.read(tmp_path / "nowhere.json")


def test_a_report_is_found_in_the_folder_of_a_leaderboard(tmp_path: Path) -> None:
    report = score(run())
    report.write(tmp_path / "report.json")
    assert ScoreReport.read(tmp_path) == report


@pytest.mark.parametrize("name", ["scores.tex", "scores.csv", "scores.html"])
def test_a_report_is_written_under_no_name_of_another_form(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"End it in \.json; for a table use \.df"):
        score(run()).write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []

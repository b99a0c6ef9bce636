"""Policies side by side, and the report of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from harness_nb import HarnessAgent, Message, ScriptedModel, Transcript, compare, presets, read_transcript, replay
from harness_nb.errors import ConfigError
from harness_nb.lab.writing import write_transcript
from tests.lab.test_differences import KeepsLast


def talk(turns: int = 40, model: str = "gpt-4o") -> Transcript:
    said = [m for n in range(turns) for m in (Message.user(f"q{n} <b> " * 60), Message.assistant("a " * 90))]
    return Transcript(said, name="talk <b>", model=model)


def test_each_policy_has_a_row_with_the_figures_of_its_replay() -> None:
    found = compare(talk(), ["harness", "hermes", KeepsLast(3, 9, "own")], window=8_000)
    assert found.names == ("harness", "hermes shipped", "own") == tuple(found.df["policy"])
    run = replay(talk(), "harness", window=8_000, model=None)
    assert found.df.loc[0, "tokens_sent"] == run.totals.tokens_sent
    assert found.df.loc[0, "compactions"] == run.totals.compactions > 0
    assert found.df.attrs["metrics"]["cost"]["unit"] == "US dollars"


def test_two_of_one_preset_are_told_apart() -> None:
    found = compare(talk(9), ["harness", presets.get("harness", keep_messages=4)])
    assert found.names == ("harness (1)", "harness (2)")


def test_the_timeline_has_a_row_for_each_compaction_in_order() -> None:
    found = compare(talk(), [KeepsLast(3, 9, "nine"), KeepsLast(3, 15, "fifteen")])
    frame = found.timeline()
    assert frame["index"].is_monotonic_increasing and set(frame["policy"]) == {"nine", "fifteen"}
    assert len(frame) == sum(len(run.compactions) for run in found.runs)
    idle = compare(talk(2), "harness").timeline()
    assert idle.empty
    pd.testing.assert_series_equal(idle.dtypes, frame.dtypes)


def test_where_each_leaves_the_first_is_told_by_name() -> None:
    found = compare(talk(), [KeepsLast(3, 9, "a"), KeepsLast(3, 9, "same"), KeepsLast(3, 15, "b")])
    (same, never), (other, difference) = found.differences
    assert (same, never, other) == ("same", None, "b") and difference is not None and difference.index == 11
    assert found.difference is not None and [one.policy for one in found.difference.deeds] == ["a", "same", "b"]
    assert "Where each leaves a" in str(found) and "always the same" in str(found)


def test_a_policy_that_never_acts_or_is_refused_is_shown_and_not_ranked() -> None:
    found = compare(
        talk(), [KeepsLast(3, 9, "acts"), KeepsLast(3, 9_999, "idle"), KeepsLast(90, 75, "full")], window=2_500
    )
    assert found.unranked(0) == "" and found.unranked(1) == "it never acted"
    shown = str(found)
    assert "idle is not ranked: it never acted." in shown
    row = next(line for line in shown.splitlines() if line.startswith("tokens sent"))
    assert row.count("*") <= 1


def test_it_shows_itself_within_bounds_and_escaped() -> None:
    found = compare(talk(), presets.names(), window=16_000)
    html = found._repr_mimebundle_()["text/html"]
    assert len(html) < 20_000 and "talk &lt;b&gt;" in html and "<b>" not in html
    assert "replies are assumed" in str(found) and "floor of each policy" in str(found)
    assert repr(found).startswith("Comparison(agentscope as_documented, eney, ")


def test_replies_come_from_a_model_where_one_is_named() -> None:
    found = compare(talk(), "harness", window=8_000, model="offline")
    assert found.runs[0].answered_by == "offline" and "replies by offline" in str(found)
    assert "floor" not in str(found)


def test_an_agents_own_conversation_and_a_replay_can_be_compared() -> None:
    model = ScriptedModel(chat=["word " * 50], flush=["NO_REPLY"], repeat_last=True)
    with HarnessAgent("lab", model=model, workspace="ws") as agent:
        agent.ask("hello")
        assert compare(agent, "harness").df.loc[0, "messages"] == 2
    assert len(compare(replay(talk(3), "eney"), "harness").runs[0].transcript) == 6
    assert compare(Transcript(), ["harness", "eney"]).difference is None


def test_nothing_to_compare_and_what_is_no_conversation_are_refused() -> None:
    with pytest.raises(ConfigError, match="no policy to compare"):
        compare(talk(), [])
    with pytest.raises(ConfigError, match=r"is no conversation.\nRead it first: read_transcript\('talk.jsonl'\)"):
        compare("talk.jsonl", "harness")
    with pytest.raises(ConfigError, match=r"is no conversation.\nGive an agent"):
        compare(3, "harness")
    with pytest.raises(ConfigError, match=r"'r\.pdf' is no name for a report"):
        compare(talk(3), "harness").write("r.pdf")


def test_it_can_be_stopped_and_says_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    compare(talk(3), ["harness", "eney"], progress=lambda done, of: told.append((done, of)))
    assert told == [(done, 12) for done in range(1, 13)]

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(talk(3), ["harness", "eney"], progress=stop)


def test_the_setup_says_what_the_figures_rest_on() -> None:
    found = compare(talk(), ["harness", "eney"], window=8_000, seed=7)
    setup = found.setup()
    assert setup["SHA-256 of its model and messages"] == found.scores.scores[0].data
    assert setup["seed"] == "7" and setup["window in tokens"] == "8,000" and setup["guards"] == "on"
    assert setup["tokens counted by"] == found.runs[0].final.measure.name
    assert setup["prices of gpt-4o, US dollars a million tokens"].startswith("input $2.50")
    assert re.match(r"harness_nb \d", setup["software"]) and "nobody" in setup["policies' requests answered by"]
    assert setup.df["name"].tolist()[0] == "software" and "harness_nb" in str(setup)
    assert compare(talk(model="no such"), "harness").setup()["prices"] == "not known, so no costs"


def test_the_page_needs_nothing_else_and_equal_comparisons_give_equal_bytes(tmp_path: Path) -> None:
    pages = [
        compare(talk(), ["harness", "eney"], window=8_000).write(tmp_path / f"{number}.html").read_bytes()
        for number in range(2)
    ]
    assert pages[0] == pages[1]
    text = pages[0].decode()
    assert not re.search(r'(src|href)="(?!data:)', text) and "<script" not in text and "@import" not in text
    assert "talk &lt;b&gt;" in text and "q0 <b>" not in text
    for heading in ("Setup", "Sizes", "Scores", "First difference", "Timeline", "Settings"):
        assert f"<h2>{heading}</h2>" in text
    assert "prefers-color-scheme:dark" in text and "trigger_messages" in text


def test_the_notebook_is_valid_and_its_code_makes_the_same_again(tmp_path: Path) -> None:
    import nbformat

    write_transcript(talk(), tmp_path / "talk.jsonl", format="harness_nb")
    transcript = read_transcript(tmp_path / "talk.jsonl")
    policies = ["harness", presets.get("harness", keep_messages=4), presets.get("hermes", variant="report")]
    found = compare(transcript, policies, window=8_000)
    path = found.write(tmp_path / "report.ipynb", source=tmp_path / "talk.jsonl")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    place: dict[str, object] = {}
    exec(code[0].source, place)  # noqa: S102 - the code under test
    for cell in code[1:]:
        again = eval(cell.source, place)  # noqa: S307 - the code under test
        told = str(again) if hasattr(again, "_repr_mimebundle_") else repr(again)
        assert "".join(cell.outputs[0]["data"]["text/plain"]) == told
    assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4
    assert path.read_bytes() == found.write(tmp_path / "again.ipynb", source=tmp_path / "talk.jsonl").read_bytes()

"""`df.harness`: opens places in files, draws sizes, writes Markdown; other frames are left alone."""

from __future__ import annotations

import base64
from pathlib import Path

import pandas as pd
import pytest

from harness_nb import HarnessAgent, Message, ScriptedModel, Transcript, frames, replay
from harness_nb.errors import ConfigError, StoreError


def test_a_frame_of_others_has_no_verbs() -> None:
    frames.hits_frame([])
    assert not hasattr(pd.DataFrame({"animal": ["cat"]}), "harness")
    assert hasattr(frames.messages_frame([])[["role", "text"]], "harness")


def test_a_hit_is_opened_in_its_file_with_context(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("".join(f"line {n}\n" for n in range(1, 10)), encoding="utf-8")
    frame = frames.hits_frame([{"path": "MEMORY.md", "line": 4}])
    opened = frame.harness.open(folder=tmp_path, context=1)
    assert opened.lines == ("line 3", "line 4", "line 5") and str(opened).splitlines()[1].startswith("> 4")
    assert repr(opened) == "Excerpt('MEMORY.md', line 4)"


def test_a_hit_of_an_agent_is_opened_in_its_workspace() -> None:
    model = ScriptedModel(chat=["ok"], flush=["- Ana reviews every schema change."], repeat_last=True)
    with HarnessAgent("lab", model=model, workspace="ws") as agent:
        agent.ask("Who reviews?")
        assert "Ana reviews" in str(agent.frames.hits("schema").harness.open(folder=agent))


@pytest.mark.parametrize("name", ["../secret.md", "gone.md"])
def test_a_place_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "ws"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError):
        frames.hits_frame([{"path": name, "line": 1}]).harness.open(folder=folder)


def test_a_row_or_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    frame = frames.hits_frame([{"path": None, "line": None}])
    for row, said in ((3, "no row 3"), (0, "names no place")):
        with pytest.raises(ConfigError, match=said):
            frame.harness.open(row, folder=tmp_path)
    with pytest.raises(ConfigError, match="'path'"):
        frames.plans_frame([]).harness.open(folder=tmp_path)
    with pytest.raises(ConfigError, match="'nope'"):
        frame.harness.to_markdown(only=["nope"])
    with pytest.raises(ConfigError, match="no sizes"):
        frame.harness.plot_pressure()


def test_a_markdown_table_holds_no_markup_and_no_key() -> None:
    frame = frames.messages_frame([{"index": 0, "text": "a | b\n<b>*c*</b> sk-test-abcdefghijklmnop1234"}, {}])
    table = frame.harness.to_markdown(only=["index", "text"])
    assert table.splitlines()[:2] == ["| index | text |", "| --- | --- |"]
    assert "a \\| b \\<b\\>\\*c\\*\\</b\\>" in table and "sk-test" not in table
    assert table.splitlines()[3] == "|  |  |"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # altair's own
def test_a_replay_is_drawn_with_a_picture_that_stays() -> None:
    log = Transcript([m for n in range(60) for m in (Message.user(f"q{n} " * 60), Message.assistant("a " * 90))])
    drawn = replay(log, "harness", window=8_000, model=None).frame().harness.plot_pressure()
    shown = drawn._repr_mimebundle_()
    assert base64.b64decode(shown["image/png"]).startswith(b"\x89PNG") and len(shown["image/png"]) < 60_000
    assert any("vegalite" in kind for kind in shown)
    assert (drawn.data["mark"] != "").any()
    assert repr(drawn) == f"PressureChart({len(drawn.data)} points)"

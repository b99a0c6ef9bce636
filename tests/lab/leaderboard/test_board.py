"""The leaderboard as a whole: its table, its report, what it writes, and that it goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness_nb import CompactionPolicy, Message, Transcript, View, presets
from harness_nb.core.plan import Plan
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, Question
from harness_nb.lab.datasets.record import Dataset, Terms
from harness_nb.lab.leaderboard import Leaderboard, leaderboard
from harness_nb.lab.score import ScoreReport

FIELD = ["eney", "harness", "picoclaw"]


def conversation(name: str, turns: int = 24) -> Conversation:
    """A chat in which a code is said early and asked for at the end."""
    said: list[Message] = []
    for at in range(turns):
        said += [
            Message.user(f"Sample {at} of {name} has the code zk-{at}-{name}."),
            Message.assistant(f"Sample {at} is noted. " * 40),
        ]
    question = Question(id="q", text=f"Which code has sample 2 of {name}?", category="fact", evidence=(4,))
    return Conversation(name=name, transcript=Transcript(said, name=name), questions=(question,))


@pytest.fixture
def chats() -> Dataset:
    terms = Terms(licence="MIT", duties="", source="", paper="")
    return Dataset(name="chats", terms=terms, path="nowhere", conversations=(conversation("a"), conversation("b", 30)))


@pytest.fixture
def broken() -> Iterator[str]:
    class Broken(CompactionPolicy):
        """Fails."""

        name = "broken"

        def plan(self, view: View) -> Plan:
            raise ValueError("It does not work.")

    presets.register("broken", Broken)
    yield "broken"
    presets.unregister("broken")


def test_the_table_has_a_row_for_each_version_source_and_window(chats: Dataset) -> None:
    board = leaderboard([chats], presets=FIELD, windows=[4_000, 200_000])
    assert [one.window for one in board.rows] == [4_000] * 4 + [200_000] * 4
    assert {one.label for one in board.of("chats", 4_000)} == {
        "eney",
        "harness",
        "picoclaw legacy",
        "picoclaw seahorse",
    }
    assert {one.status for one in board.of("chats", 4_000)} <= {"ranked", "over the window"}
    assert {one.label: one.status for one in board.of("chats", 200_000)}["eney"] == "never acted"
    assert len(board.report) == 2 * len(board.rows) and board.rows[0].answered_by == "offline"


def test_who_refuses_the_window_is_shown_and_not_ranked(chats: Dataset) -> None:
    board = leaderboard([chats], presets=["eney", "hermes"], windows=[4_000])
    refused = [one for one in board.rows if one.status == "refused"]
    assert [(one.label, one.rank, one.survival) for one in refused] == [
        ("hermes report", None, None),
        ("hermes shipped", None, None),
    ]
    assert refused[0].note == "Hermes needs a window of 64,000 tokens and this one has 4,000."
    assert refused[0].note in str(board.cards()[0].blocks[0])


def test_who_fails_at_every_point_is_shown_as_one_that_never_acted(chats: Dataset, broken: str) -> None:
    (row,) = leaderboard([chats], presets=[broken], windows=[200_000]).rows
    assert row.status == "never acted" and row.note.endswith(" plans failed")


def test_the_table_is_the_same_in_processes(chats: Dataset) -> None:
    here = leaderboard([chats], presets=FIELD, windows=[4_000, 16_000])
    there = leaderboard([chats], presets=FIELD, windows=[4_000, 16_000], executor=2)
    assert there.rows == here.rows and there.report.to_json() == here.report.to_json()


def test_what_was_done_is_not_done_again_and_half_a_line_is(chats: Dataset, tmp_path: Path) -> None:
    first = leaderboard([chats], presets=FIELD, windows=[4_000], folder=tmp_path)
    kept = sorted((tmp_path / "trials").glob("*.jsonl"))
    whole = {path: path.read_bytes() for path in kept}
    assert len(kept) == 2
    again = leaderboard([chats], presets=FIELD, windows=[4_000], folder=tmp_path)
    assert again.rows == first.rows and {path: path.read_bytes() for path in kept} == whole
    kept[0].write_bytes(whole[kept[0]][:-100])
    kept[1].unlink()
    mended = leaderboard([chats], presets=FIELD, windows=[4_000], folder=tmp_path)
    assert mended.rows == first.rows and mended.report.to_json() == first.report.to_json()


def test_a_policy_of_the_users_own_is_replayed_each_time(chats: Dataset, tmp_path: Path, broken: str) -> None:
    leaderboard([chats], presets=[broken], windows=[4_000], folder=tmp_path)
    assert not list(tmp_path.rglob("*.jsonl"))


def test_recorded_sessions_are_replayed_on_assumed_replies_and_scored_by_what_later_calls_need() -> None:
    plain = conversation("mine").transcript
    (row,) = leaderboard(plain, presets=["eney"], windows=[4_000]).rows
    assert (row.source, row.answered_by) == ("sessions", "assumed")
    (offline,) = leaderboard(plain, presets=["eney"], windows=[4_000], answers="offline").rows
    assert offline.answered_by == "offline"


def test_the_recorded_window_is_taken_where_none_is_given() -> None:
    plain = Transcript(conversation("mine").transcript, name="mine", model="gpt-4o")
    (row,) = leaderboard(plain, presets=["eney"], windows=[None]).rows
    assert row.window is None


def test_all_files_are_written_and_say_the_same(chats: Dataset, tmp_path: Path) -> None:
    board = leaderboard([chats], presets=FIELD, windows=[4_000])
    written = {path.name: path for path in board.write(tmp_path / "out")}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(written)
    assert ScoreReport.read(written["report.json"]) == board.report
    table = written["leaderboard.csv"].read_text(encoding="utf-8").splitlines()
    assert len(table) == len(board.rows) + 1 and table[0].startswith("source,window,rank,preset")
    assert len(written["leaderboard.md"].read_text(encoding="utf-8").splitlines()) == len(board.rows) + 2
    page = written["leaderboard.html"].read_text(encoding="utf-8")
    assert "picoclaw legacy" in page and "data:image/png;base64," in page and "<script" not in page
    assert written["pareto.png"].read_bytes().startswith(b"\x89PNG")
    assert "vega-lite" in json.loads(written["pareto.vl.json"].read_text(encoding="utf-8"))["$schema"]


def test_a_board_shows_whom_nobody_beats_in_text_and_html(chats: Dataset) -> None:
    board = leaderboard([chats], presets=FIELD, windows=[4_000])
    shown = board._repr_mimebundle_()
    best = next(one for one in board.rows if one.rank == 1)
    for text in shown.values():
        assert "chats, window 4k" in text and best.label in text and "2 conversations" in text
    assert repr(board) == f"Leaderboard({len(board.rows)} rows, {len(board.report)} replays)"
    assert isinstance(board, Leaderboard) and list(board.df["rank"].dropna())[0] == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"presets": ["hermess"]}, "There is no preset 'hermess'"),
        ({"presets": []}, "nothing to rank"),
        ({"windows": []}, "nothing to rank"),
        ({"answers": "guessed"}, "answers='guessed' is unknown"),
    ],
)
def test_wrong_input_is_refused_before_any_work(chats: Dataset, given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        leaderboard([chats], **({"presets": ["eney"], "windows": [4_000]} | given))  # type: ignore[arg-type]

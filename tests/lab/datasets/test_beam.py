from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_nb.errors import TranscriptError
from harness_nb.lab.datasets import Dataset, load
from tests.lab.datasets.samples import BEAM_CHAT, BEAM_QUESTIONS, write_beam


@pytest.fixture
def beam(tmp_path: Path) -> Dataset:
    return load(write_beam(tmp_path / "chats", "1", "15", "2"))


def test_chats_are_named_by_their_folder_in_order_of_number(beam: Dataset) -> None:
    assert [one.name for one in beam] == ["1", "2", "15"]
    assert [one.split for one in beam] == ["tuning", "report", "report"]


def test_the_mark_at_the_end_is_taken_off_and_nothing_else(beam: Dataset) -> None:
    texts = [message.text for message in beam["1"].transcript]
    assert texts[:2] == ["My rent is 900 euros.", "Noted. An arrow ->-> 1 stays inside a line."]
    assert texts[4] == "My rent has gone up to 950 euros."


def test_a_batch_is_a_session_at_the_time_of_its_anchor(beam: Dataset) -> None:
    assert beam["1"].starts == (0, 2)
    times = [message.time for message in beam["1"].transcript]
    assert times == [datetime(2024, 3, 15, tzinfo=UTC)] * 2 + [None] * 4


def test_evidence_is_read_from_lists_and_groups_and_answers_under_every_key(beam: Dataset) -> None:
    absent, rent, table = beam["1"].questions
    assert (absent.evidence, absent.answer, absent.is_answerable) == ((), "Not said.", False)
    assert (rent.evidence, rent.answer) == ((0, 4), "950 euros")
    assert rent.groups == {"original_info": (0,), "updated_info": (4,)}
    assert (table.evidence, table.answer, table.rubric) == ((2,), "a table", ("a table", "short"))
    assert table.groups == {}


def test_all_that_was_mended_is_counted(tmp_path: Path) -> None:
    found = {one.what: one.count for one in load(write_beam(tmp_path, "3")).report}
    assert found == {
        "marks at the end of messages, taken off": 2,
        "questions without evidence": 1,
        "answers under 'ideal_response'": 1,
        "evidence that names no message, dropped": 1,
        "evidence in groups, joined": 1,
        "answers under 'expected_compliance'": 1,
    }


def test_ids_that_are_not_places_are_followed(tmp_path: Path) -> None:
    moved = [*reversed(BEAM_CHAT)]
    (tmp_path / "chat.json").write_text(json.dumps(moved), encoding="utf-8")
    (tmp_path / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS), encoding="utf-8")
    (chat,) = load(tmp_path)
    assert [chat.transcript[index].text for index in chat.questions[1].evidence] == [
        "My rent has gone up to 950 euros.",
        "My rent is 900 euros.",
    ]


def test_one_chat_is_read_from_its_folder_and_from_its_file(tmp_path: Path) -> None:
    write_beam(tmp_path, "2")
    by_folder, by_file = load(tmp_path / "2"), load(tmp_path / "2" / "chat.json")
    assert by_folder.conversations == by_file.conversations


def test_a_chat_without_questions_is_refused_in_words(tmp_path: Path) -> None:
    write_beam(tmp_path, "2")
    (tmp_path / "2" / "probing_questions.json").unlink()
    with pytest.raises(TranscriptError, match="A chat is a folder with chat.json and probing_questions.json"):
        load(tmp_path)


def test_the_given_chats_have_the_published_counts(data: Path) -> None:
    beam = load(data / "beam_100k")
    assert [(one.name, len(one.transcript)) for one in beam] == [("1", 188), ("2", 200), ("5", 238), ("15", 272)]
    assert len(beam.questions) == 80
    assert sum(bool(question.evidence) for question in beam.questions) == 72
    assert all(question.rubric and question.answer for question in beam.questions)


def test_a_message_that_cannot_be_read_is_counted_and_evidence_keeps_to_its_messages(tmp_path: Path) -> None:
    broken = copy.deepcopy(BEAM_CHAT)
    broken[0]["turns"][0][1]["role"] = "narrator"
    write_beam(tmp_path, "2")
    (tmp_path / "2" / "chat.json").write_text(json.dumps(broken), encoding="utf-8")
    (chat,) = dataset = load(tmp_path)
    assert chat.starts == (0, 1)
    assert [chat.transcript[index].text for index in chat.questions[2].evidence] == [
        "Always answer with a table please."
    ]
    assert {one.what: one.count for one in dataset.report}["messages that can't be read, skipped"] == 1

from __future__ import annotations

import copy
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_nb.lab.datasets import Dataset, load
from tests.lab.datasets.samples import LOCOMO
from tests.lab.files import write_document


@pytest.fixture
def locomo(tmp_path: Path) -> Dataset:
    return load(write_document(tmp_path / "chats.json", LOCOMO))


def counts(dataset: Dataset) -> dict[str, int]:
    return {one.what: one.count for one in dataset.report}


def test_sessions_come_in_their_order_with_speaker_time_and_caption(locomo: Dataset) -> None:
    chat = locomo["conv-26"]
    assert [message.text for message in chat.transcript] == [
        "I adopted a greyhound called Comet.",
        "What does Comet eat?",
        "Only salmon, would you believe.",
        "My kiln arrived yesterday.",
        "Lovely! [a blue vase]",
    ]
    assert [(message.role, message.name) for message in chat.transcript[:2]] == [("user", "Ada"), ("assistant", "Ben")]
    assert chat.transcript[0].time == datetime(2023, 4, 8, 13, 56, tzinfo=UTC)
    assert chat.starts == (0, 3)
    assert [len(session) for session in chat.sessions] == [3, 2]


def test_who_speaks_first_is_the_user_and_a_date_that_is_none_is_no_time(locomo: Dataset) -> None:
    (hello,) = locomo["conv-99"].transcript
    assert (hello.role, hello.name, hello.time) == ("user", "Dee", None)


def test_evidence_is_taken_apart_and_what_names_no_turn_is_dropped(locomo: Dataset) -> None:
    assert [question.evidence for question in locomo["conv-26"].questions] == [(0,), (2, 3), (4,), (), (2,)]


def test_answers_become_texts_and_an_adversarial_question_has_none(locomo: Dataset) -> None:
    questions = locomo["conv-26"].questions
    assert [question.answer for question in questions] == ["Comet", "2", "Ben", "2 May 2023", ""]
    assert [question.is_answerable for question in questions] == [True, True, True, True, False]
    assert questions[1].category == "multi-hop" and questions[4].category == "adversarial"


def test_all_that_was_mended_is_counted(locomo: Dataset) -> None:
    assert counts(locomo) == {
        "dates without a session, passed over": 1,
        "answers that are no text, read as one": 1,
        "evidence that is not one plain id, taken apart": 3,
        "evidence that names no turn, dropped": 2,
        "questions without evidence": 1,
        "adversarial questions without an answer": 1,
    }


def test_constants_may_be_chosen_on_two_conversations_only(locomo: Dataset) -> None:
    assert [one.name for one in locomo.split("tuning")] == ["conv-26"]
    assert [one.name for one in locomo.split("report")] == ["conv-99"]


def test_the_released_file_has_the_published_counts(data: Path) -> None:
    locomo = load(data / "locomo")
    assert (len(locomo), len(locomo.questions)) == (10, 1_986)
    assert sum(len(one.transcript) for one in locomo) == 5_882
    assert sum(len(one.starts) for one in locomo) == 272
    found = counts(locomo)
    assert found["questions without evidence"] == 4
    assert found["evidence that is not one plain id, taken apart"] == 7  # the two others name turns that do not exist
    assert found["evidence that names no turn, dropped"] == 3
    assert found["adversarial questions without an answer"] == 444


def test_a_turn_that_cannot_be_read_is_counted_and_evidence_keeps_to_its_messages(tmp_path: Path) -> None:
    broken = copy.deepcopy(LOCOMO)
    del broken[0]["conversation"]["session_1"][1]["text"]
    locomo = load(write_document(tmp_path / "chats.json", broken))
    chat = locomo["conv-26"]
    assert [chat.transcript[index].text for index in chat.questions[1].evidence] == [
        "Only salmon, would you believe.",
        "My kiln arrived yesterday.",
    ]
    assert chat.starts == (0, 2)
    assert counts(locomo)["turns that can't be read, skipped"] == 1

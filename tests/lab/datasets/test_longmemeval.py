from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_nb.lab.datasets import Dataset, load
from tests.lab.datasets.samples import LONGMEMEVAL
from tests.lab.files import write_document


@pytest.fixture
def longmemeval(tmp_path: Path) -> Dataset:
    return load(write_document(tmp_path / "longmemeval_s.json", LONGMEMEVAL))


def test_an_instance_is_a_conversation_with_its_sessions_in_order_of_time(longmemeval: Dataset) -> None:
    chat = longmemeval["q1"]
    assert [message.text for message in chat.transcript] == [
        "I planted three quinces.",
        "Good choice.",
        "Late news.",
        "Indeed.",
    ]
    assert chat.starts == (0, 2)
    assert chat.transcript[2].time == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)


def test_the_turns_marked_as_evidence_are_and_their_sessions_are_a_group(longmemeval: Dataset) -> None:
    (question,) = longmemeval["q1"].questions
    assert (question.evidence, question.groups, question.answer) == ((0,), {"answer_sessions": (0, 1)}, "3")
    assert question.category == "single-session-user" and question.is_answerable


def test_an_id_that_says_abstention_is_a_question_without_an_answer(longmemeval: Dataset) -> None:
    (question,) = longmemeval["q2_abs"].questions
    assert (question.evidence, question.is_answerable) == ((), False)
    assert longmemeval["q2_abs"].transcript[0].time == datetime(2023, 5, 2, tzinfo=UTC)


def test_all_that_was_mended_is_counted(longmemeval: Dataset) -> None:
    assert {one.what: one.count for one in longmemeval.report} == {
        "sessions without a turn, passed over": 1,
        "histories not in order of time, put in order": 1,
        "answers that are no text, read as one": 1,
        "turns that can't be read, skipped": 1,
        "questions without an evidence turn": 1,
    }

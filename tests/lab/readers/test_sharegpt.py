from __future__ import annotations

from pathlib import Path
from typing import Any

from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_transcripts, read_with_report
from tests.lab.files import write_document, write_lines
from tests.lab.samples import SHAREGPT

TURNS: list[Any] = SHAREGPT["conversations"]  # type: ignore[assignment]


def test_calls_get_numbers_and_results_answer_them_in_order(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "t.json", SHAREGPT))
    assert [message.role for message in transcript] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [(call.id, call.name, call.arguments) for call in transcript[2].calls] == [
        ("call_1", "look", '{"at":1}'),
        ("call_2", "look", "{}"),
    ]
    assert [(one.call_id, one.name, one.text) for one in transcript[3:5]] == [
        ("call_1", "look", "one"),
        ("call_2", "look", "two"),
    ]
    assert (report.format, report.read, report.notes) == ("ShareGPT", 6, ())
    assert problems(transcript[:], needs_reply=False) == ()


def test_a_list_and_one_a_line_are_conversations_each(tmp_path: Path) -> None:
    plain = {"id": "a", "conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]}
    for path in (
        write_document(tmp_path / "t.json", [SHAREGPT, plain]),
        write_lines(tmp_path / "t.jsonl", [SHAREGPT, plain]),
    ):
        assert [len(one) for one in read_transcripts(path)] == [6, 2]


def test_what_is_not_in_the_form_is_skipped_and_reported_with_its_place(tmp_path: Path) -> None:
    odd: list[Any] = [
        {"from": "narrator", "value": "x"},
        {"from": "gpt", "value": 5},
        {"from": "function_call", "value": "no JSON"},
        {"from": "observation", "value": "nobody asked"},
    ]
    transcript = read_transcript(write_document(tmp_path / "t.json", {"conversations": [*TURNS, *odd]}))
    assert [note.partition(":")[0] for note in transcript.report] == [f"message {at}" for at in (6, 7, 8, 9)]

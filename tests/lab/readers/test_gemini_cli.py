from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.messages import Image, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import write_document, write_lines
from tests.lab.samples import GEMINI, GEMINI_HEAD, gemini


def test_a_record_of_the_model_becomes_its_answer_and_the_results_of_its_calls(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", GEMINI))
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "tool", "assistant"]
    answer = transcript[1]
    assert isinstance(answer.parts[0], Thinking) and answer.parts[0].text == "Plan\nHm."
    assert answer.parts[1] == Text("I look.")
    assert [call.arguments for call in answer.calls] == ['{"path":"g1"}', '{"path":"g2"}']
    assert answer.usage == Usage(1203, 68, cached_tokens=1000)
    assert [(one.call_id, one.name, one.status, one.text) for one in transcript[2:4]] == [
        ("g1", "read_file", "error", "No such file."),
        ("g2", "read_file", "", "a picture"),
    ]
    assert isinstance(transcript[3].parts[1], Image)
    assert (report.read, report.dropped, report.model) == (6, 1, "gemini-x")
    assert problems(transcript[:], needs_reply=False) == ()


def test_a_recording_as_one_document_holds_the_same(tmp_path: Path) -> None:
    document = write_document(tmp_path / "s.json", {**GEMINI_HEAD, "messages": GEMINI[1:]})
    assert read_transcript(document) == read_transcript(write_lines(tmp_path / "s.jsonl", GEMINI))
    assert read_transcript(document).report == ("message 3: dropped a notice that only the user saw",)


def test_a_record_that_is_written_again_counts_as_it_was_last(tmp_path: Path) -> None:
    lines = [
        *GEMINI[:2],
        gemini(2, "m1", "gemini", "I"),
        gemini(2, "m1", "gemini", "I look."),
        {"$set": {"summary": "x"}},
    ]
    assert [one.text for one in read_transcript(write_lines(tmp_path / "s.jsonl", lines))] == ["Look twice.", "I look."]


def test_what_the_user_took_back_is_dropped_and_said(tmp_path: Path) -> None:
    lines = [*GEMINI, gemini(7, "u2", "user", "No."), {"$rewindTo": "u2"}, gemini(8, "u3", "user", "Yes.")]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert transcript[-1].text == "Yes."
    assert "line 6: dropped a message that the user took back" in transcript.report


def test_a_list_that_begins_with_a_summary_is_a_compaction(tmp_path: Path) -> None:
    kept = gemini(6, "m2", "gemini", "Done.")
    lines = [
        *GEMINI,
        {"$set": {"messages": [gemini(8, "c1", "user", "So far."), kept]}},
        kept,
        gemini(9, "u2", "user", "On."),
        {"$set": {"messages": [gemini(10, "c2", "user", "So far, and on."), kept]}},
    ]
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", lines))
    assert [one.text for one in transcript if one.role != "tool"] == ["Look twice.", "I look.", "Done.", "On."]
    assert [(mark.index, mark.summary) for mark in report.compactions] == [(5, "So far."), (6, "So far, and on.")]


def test_a_shorter_list_takes_messages_back(tmp_path: Path) -> None:
    lines = [*GEMINI, {"$set": {"messages": GEMINI[1:3]}}, gemini(9, "u2", "user", "On.")]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [one.text for one in transcript if one.role != "tool"] == ["Look twice.", "I look.", "On."]
    assert "line 5: dropped a message that was taken back" in transcript.report


def test_results_that_stand_in_a_record_of_their_own_find_their_calls_and_count_once(tmp_path: Path) -> None:
    running = {"id": "g3", "name": "read_file", "args": {}, "status": "success"}
    responses = [{"functionResponse": {"name": "read_file", "response": {"output": "three"}}}]
    lines = [
        *GEMINI,
        gemini(7, "m3", "gemini", "", toolCalls=[running]),
        gemini(8, "u2", "user", responses),
        gemini(9, "u3", "user", responses),
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [(one.role, one.call_id, one.text) for one in transcript[-2:]] == [
        ("assistant", None, ""),
        ("tool", "g3", "three"),
    ]


def test_a_command_to_the_program_is_dropped(tmp_path: Path) -> None:
    transcript = read_transcript(
        write_lines(tmp_path / "s.jsonl", [*GEMINI, gemini(7, "u2", "user", [{"text": "/stats"}])])
    )
    assert transcript.report[-1] == "line 6: dropped a command to the program, which the model never saw"


CONTENTS: list[Any] = [
    {"role": "user", "parts": [{"text": "Look twice."}]},
    {
        "role": "model",
        "parts": [
            {"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"},
            {"text": "I look."},
            {"functionCall": {"name": "read_file", "args": {"path": "a"}}},
            {"functionCall": {"name": "read_file", "args": {"path": "b"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "read_file", "response": {"output": "one"}}},
            {"functionResponse": {"name": "read_file", "response": {"error": "No such file."}}},
            {"text": "And this?"},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
        ],
    },
    {"role": "model", "parts": [{"text": "Done."}]},
]


@pytest.mark.parametrize("key", ["history", "clientHistory", "contents", None])
def test_a_checkpoint_is_read_and_results_without_ids_find_their_calls(tmp_path: Path, key: str | None) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "c.json", {key: CONTENTS} if key else CONTENTS))
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    assert [call.id for call in transcript[1].calls] == ["call_1", "call_2"]
    assert [(one.call_id, one.status, one.text) for one in transcript[2:4]] == [
        ("call_1", "", "one"),
        ("call_2", "error", "No such file."),
    ]
    assert isinstance(transcript[1].parts[0], Thinking) and "c2ln" in transcript[1].parts[0].raw
    assert isinstance(transcript[4].parts[1], Image)
    assert (report.format, report.notes) == ("Gemini CLI", ())


def test_what_is_not_as_gemini_cli_writes_it_is_skipped(tmp_path: Path) -> None:
    lines = [*GEMINI, gemini(7, "x1", "user", 5), gemini(8, "x2", "gemini", "", toolCalls=[{"id": "g9"}])]
    recorded = read_transcript(write_lines(tmp_path / "s.jsonl", lines)).report
    assert [note.partition(":")[0] for note in recorded] == ["line 4", "line 6", "line 7"]
    odd = [*CONTENTS, {"role": "user", "parts": [5]}, "x"]
    listed = read_transcript(write_document(tmp_path / "c.json", odd)).report
    assert [note.partition(":")[0] for note in listed] == ["message 5", "message 6"]

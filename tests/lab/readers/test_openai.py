from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import TranscriptError
from harness_nb.lab.transcripts import read_transcript, read_transcripts, read_with_report
from tests.lab.files import OPENAI, openai_call, write_document, write_lines
from tests.lab.strategies import SPOKEN, rounds


@pytest.mark.parametrize("value", [OPENAI, {"messages": OPENAI}, [{"messages": OPENAI}], [OPENAI], {"traj": OPENAI}])
def test_a_document_is_read_on_one_line_or_on_many(tmp_path: Path, value: Any) -> None:
    on_many = read_transcript(write_document(tmp_path / "many.json", value))
    assert on_many == read_transcript(write_lines(tmp_path / "one.json", [value])) == Transcript(OPENAI)
    assert on_many.report == ()
    assert on_many.to_openai() == OPENAI


def test_one_message_a_line_is_one_conversation(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "t.jsonl", OPENAI))
    assert transcript == Transcript(OPENAI)
    assert (transcript.name, report.format, report.read) == ("t.jsonl", "OpenAI chat", 6)


def test_one_conversation_a_line_is_chosen_by_number(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t.jsonl", [{"messages": OPENAI, "model": "gpt-x"}, {"messages": OPENAI[:2]}])
    assert read_transcripts(path) == (Transcript(OPENAI), Transcript(OPENAI[:2]))
    transcript, report = read_with_report(path, conversation=1)
    assert (len(transcript), transcript.name, report.model) == (2, "t.jsonl[1]", None)
    assert read_with_report(path, conversation=0)[1].model == "gpt-x"
    with pytest.raises(TranscriptError, match="holds 2 conversations.\nRead one with conversation=0 to 1"):
        read_transcript(path)
    with pytest.raises(TranscriptError, match="has no conversation 2.\nUse 0 to 1"):
        read_transcript(path, conversation=2)


def test_what_is_no_message_is_skipped_and_reported_with_its_place(tmp_path: Path) -> None:
    bad: list[Any] = [
        {"role": "narrator", "content": "x"},
        {"role": "user", "content": 5},
        {"role": "assistant", "tool_calls": 5},
        {"role": ["user"], "content": "x"},
    ]
    lines = read_transcript(write_lines(tmp_path / "t.jsonl", [OPENAI[1], *bad, 7]))
    assert len(lines) == 1
    assert [note.partition(":")[0] for note in lines.report] == [f"line {number}" for number in range(2, 7)]
    document = read_transcript(write_document(tmp_path / "t.json", [OPENAI[1], *bad, None]))
    assert [note.partition(":")[0] for note in document.report] == [f"message {number}" for number in range(2, 7)]


def test_calls_in_another_providers_format_are_kept_and_said(tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    said = [*[OPENAI[1]] * 60, {"role": "assistant", "content": [block]}]  # behind the lines that say what the file is
    transcript = read_transcript(write_lines(tmp_path / "t.jsonl", said))
    assert transcript.to_openai() == said
    assert transcript.report[0].startswith("line 61: skipped calls or results in another provider's format")


def test_r004_rounds_are_made_whole_on_load_and_the_file_stays_as_it_was(tmp_path: Path) -> None:
    broken = [{"role": "tool", "tool_call_id": "c0", "content": "x"}, OPENAI[1], openai_call("c1"), OPENAI[1]]
    path = write_lines(tmp_path / "t.jsonl", broken)
    before = path.read_bytes()
    transcript, report = read_with_report(path)
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "user"]
    assert (report.dropped, report.repaired) == (1, 1)
    assert "'c0'" in report.notes[0] and "'c1'" in report.notes[1]
    assert path.read_bytes() == before


@given(st.lists(SPOKEN.map(lambda one: [one]) | rounds(), min_size=1, max_size=8))
def test_what_is_written_as_json_lines_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[list[dict[str, Any]]]
) -> None:
    messages = [message for piece in pieces for message in piece]
    transcript = read_transcript(write_lines(tmp_path_factory.mktemp("t") / "t.jsonl", messages))
    assert transcript.to_openai() == json.loads(json.dumps(messages))
    assert transcript == Transcript(Message.from_openai(one) for one in messages)
    assert transcript.report == ()

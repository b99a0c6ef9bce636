from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.messages import Image, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.errors import TranscriptError
from harness_nb.lab.transcripts import read_transcript, read_transcripts, read_with_report
from tests.lab.files import write_document
from tests.lab.samples import INSPECT, INSPECT_SAMPLE


def test_a_sample_is_read_with_its_attachments_errors_usage_and_marks(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "log.json", INSPECT))
    assert [message.role for message in transcript] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert transcript[1].text == "Look twice."
    assert isinstance(transcript[1].parts[1], Image) and transcript[1].parts[1].url == "data:image/png;base64,AAAA"
    answer = transcript[2]
    assert isinstance(answer.parts[0], Thinking) and answer.parts[0].text == "Hm."
    assert [(call.id, call.arguments) for call in answer.calls] == [("i1", '{"at":1}'), ("i2", '{"at":2}')]
    assert (answer.usage, answer.finish) == (Usage(1203, 68, cached_tokens=1000), "tool_calls")
    assert [(one.name, one.status, one.text) for one in transcript[3:5]] == [
        ("look", "", "one"),
        ("look", "denied", "Not allowed."),
    ]
    (mark,) = report.compactions
    assert (mark.index, mark.tokens_before) == (5, 1203)
    assert (report.format, report.model, report.notes) == ("inspect_ai", "mock/x", ())
    assert problems(transcript[:], needs_reply=False) == ()


def test_a_sample_by_itself_and_one_chosen_by_its_id_are_read(tmp_path: Path) -> None:
    alone = read_transcript(write_document(tmp_path / "sample.json", INSPECT_SAMPLE))
    second = INSPECT_SAMPLE | {"epoch": 2}
    path = write_document(tmp_path / "log.json", INSPECT | {"samples": [INSPECT_SAMPLE, second]})
    assert read_transcripts(path) == (alone, alone)
    assert read_transcript(path, conversation="s1/2").name == "log.json[s1/2]"


def write_archive(path: Path, *samples: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({key: value for key, value in INSPECT.items() if key != "samples"}))
        for number, sample in enumerate(samples, start=1):
            text = sample if isinstance(sample, str) else json.dumps(sample)
            archive.writestr(f"samples/s{number}_epoch_1.json", text)
    return path


def test_an_archive_holds_a_conversation_a_sample_and_says_where_it_is_spoilt(tmp_path: Path) -> None:
    odd = INSPECT_SAMPLE | {"messages": [*INSPECT_SAMPLE["messages"], {"role": "user"}]}
    path = write_archive(tmp_path / "log.eval", INSPECT_SAMPLE, "{spoilt", odd)
    first, second = read_transcripts(path)
    assert first == second
    assert first.report == ("samples/s2_epoch_1.json: skipped a damaged file",)
    assert second.report == (
        "samples/s3_epoch_1.json, message 7: skipped a message that is not as inspect_ai writes it",
    )


def test_an_archive_that_is_damaged_or_holds_no_conversation_is_refused(tmp_path: Path) -> None:
    whole = write_archive(tmp_path / "log.eval", INSPECT_SAMPLE).read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[:-100])
    with pytest.raises(TranscriptError, match="damaged archive.*\nGet it again"):
        read_transcript(tmp_path / "cut.eval")
    with pytest.raises(TranscriptError, match="an archive without conversations.\nUnpack it"):
        read_transcript(write_archive(tmp_path / "none.eval"))


def test_a_log_without_samples_is_refused_and_a_sample_without_messages_skipped(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="looks like inspect_ai, but no message"):
        read_transcript(write_document(tmp_path / "log.json", {**INSPECT, "samples": None}))
    transcript = read_transcript(write_document(tmp_path / "log.json", {**INSPECT, "samples": [{}, INSPECT_SAMPLE]}))
    assert transcript.report == ("the file: skipped a sample without messages",)

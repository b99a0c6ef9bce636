from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from harness_nb.core.messages import Message, Text, Thinking, ToolCall, Usage
from harness_nb.core.records import log_line
from harness_nb.core.transcript import Transcript
from harness_nb.lab.transcripts import read_transcript, read_with_report

NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
SAID = (
    Message.user("Look.", time=NOW),
    Message(
        "assistant",
        (Thinking("Hm.", '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}'), Text("I look.")),
        calls=(ToolCall("c1", "look"),),
        usage=Usage(1_203, 68, cached_tokens=1_000, cost=0.25),
        finish="tool_calls",
    ),
    Message.tool("c1", "Not allowed.", name="look", status="denied"),
    Message.user("A note.", origin="harness"),
)


def write_log(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_session_log_is_read_without_loss_and_its_events_are_passed_over(tmp_path: Path) -> None:
    lines = [log_line(index, message) for index, message in enumerate(SAID)]
    lines.insert(1, '{"kind":"event","event":"turn_started","text":"Look."}')
    transcript, report = read_with_report(
        write_log(tmp_path / "s.log.jsonl", '{"kind":"session","version":1,"model":"m"}', *lines)
    )
    assert transcript == Transcript(SAID)
    assert (report.format, report.read, report.notes, report.model) == ("harness_nb", 4, (), "m")


def test_a_message_that_was_written_twice_counts_once(tmp_path: Path) -> None:
    line = log_line(0, SAID[0])
    transcript = read_transcript(
        write_log(tmp_path / "s.log.jsonl", line, line, log_line(1, Message.assistant("Yes.")))
    )
    assert len(transcript) == 2
    assert transcript.report == ("line 2: skipped message 0, which stands in the log already",)


def test_a_record_without_a_message_is_skipped(tmp_path: Path) -> None:
    spoilt = '{"kind":"message","index":1,"message":{"role":"narrator"}}'
    transcript = read_transcript(write_log(tmp_path / "s.log.jsonl", log_line(0, SAID[0]), spoilt))
    assert len(transcript) == 1
    assert transcript.report[0].startswith("line 2: skipped a record that holds no message")

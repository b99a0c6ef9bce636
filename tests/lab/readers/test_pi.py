from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.messages import Image, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import PI, pi_message, text, write_lines


def test_a_session_becomes_a_transcript_with_all_that_it_recorded(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", PI))
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "tool", "user", "assistant"]
    calling = transcript[1]
    assert [(call.id, call.name, call.parsed()) for call in calling.calls] == [
        ("c1", "read", {"path": "a.py"}),
        ("c2", "bash", {"command": "ls"}),
    ]
    assert calling.usage == Usage(1_203, 68, cached_tokens=1_000, cost=0.25)
    assert (calling.finish, calling.time) == ("tool_calls", datetime(2026, 4, 12, 9, 30, 2, tzinfo=UTC))
    assert (report.format, report.read, report.dropped, report.repaired) == ("pi", 7, 1, 0)
    assert report.notes == ("line 7: dropped an aborted assistant message without content",)
    assert report.model == "claude-y"


def test_parts_are_kept_thinking_with_its_signature_and_pictures_as_data(tmp_path: Path) -> None:
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", PI))
    thinking = '{"type":"thinking","thinking":"Hm.","thinkingSignature":"c2ln"}'
    assert transcript[1].content == (Thinking("Hm.", thinking),)
    picture = transcript[3].parts[0]
    assert isinstance(picture, Image) and picture.url == "data:image/png;base64,AAAA"


def test_r003_a_failed_result_keeps_its_tool_and_its_status(tmp_path: Path) -> None:
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", PI))
    assert [(one.name, one.status, one.text) for one in transcript[2:4]] == [
        ("read", "error", "No such file."),
        ("bash", "", ""),
    ]


def test_a_command_of_the_user_becomes_a_user_message(tmp_path: Path) -> None:
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", PI))
    assert (transcript[4].origin, transcript[4].text) == ("user", "I ran this command:\n$ make\n\nok\n\n[exit code 0]")
    hidden = pi_message(9, role="bashExecution", command="env", output="", excludeFromContext=True)
    assert read_transcript(write_lines(tmp_path / "t.jsonl", [*PI, hidden])).report[-1] == (
        "line 11: dropped a command that the user kept out of the context"
    )


def test_a_compaction_becomes_a_mark_and_no_message(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", PI))
    (mark,) = report.compactions
    assert (mark.index, mark.summary, mark.tokens_before) == (4, "Looked.", 175_004)
    assert transcript[mark.index].text.startswith("I ran")


def entry(id: str, parent: str | None, **message: Any) -> dict[str, Any]:
    return pi_message(1, **message) | {"id": id, "parentId": parent}


def test_of_a_tree_the_path_to_the_last_entry_is_read(tmp_path: Path) -> None:
    entries = [
        PI[0] | {"version": 3},
        entry("a", None, role="user", content="First."),
        entry("b", "a", role="assistant", content=[text("Left.")]),
        {"type": "branch_summary", "id": "c", "parentId": "a", "fromId": "b", "summary": "Tried and left."},
        entry("d", "c", role="custom", customType="x", content="From an extension.", display=True),
        {"type": "custom_message", "id": "e", "parentId": "d", "customType": "x", "content": [text("Too.")]},
        {"type": "label", "id": "f", "parentId": "e", "targetId": "a", "label": "here"},
        entry("g", "f", role="user", content=[text("Second.")]),
    ]
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", entries))
    assert [(one.text, one.origin) for one in transcript] == [
        ("First.", "user"),
        ("Tried and left.", "harness"),
        ("From an extension.", "harness"),
        ("Too.", "harness"),
        ("Second.", "user"),
    ]
    assert report.notes == ("line 3: dropped a message of a branch that was left",)
    assert (report.read, report.model) == (6, "claude-x")


def test_a_session_that_was_begun_anew_is_read_from_there(tmp_path: Path) -> None:
    anew = [PI[0], entry("a", None, role="user", content="Old."), entry("b", None, role="user", content="New.")]
    assert [one.text for one in read_transcript(write_lines(tmp_path / "s.jsonl", anew))] == ["New."]


def test_an_entry_that_is_not_as_pi_writes_it_is_skipped(tmp_path: Path) -> None:
    odd: list[Any] = [
        pi_message(9, role="narrator", content="x"),
        pi_message(9, role="user"),
        pi_message(9, role="assistant", content=[{"type": "toolCall"}]),
        {"type": "message"},
        5,
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", [*PI[:2], *odd]))
    assert len(transcript) == 1
    assert [note.partition(":")[0] for note in transcript.report] == [f"line {number}" for number in range(3, 7)]


def test_an_odd_usage_or_time_is_left_out(tmp_path: Path) -> None:
    said = pi_message(1, role="assistant", content=[text("Hi.")], usage={"input": "many"}, timestamp=1e300)
    said["timestamp"] = "yesterday"
    message = read_transcript(write_lines(tmp_path / "s.jsonl", [PI[0], said]))[0]
    assert (message.usage, message.time) == (None, None)


@pytest.mark.parametrize(
    ("name", "read", "dropped", "repaired", "model", "marks"),
    [
        ("large-session", 914, 14, 18, "claude-sonnet-4-5", []),
        ("before-compaction", 990, 13, 6, "claude-opus-4-5", [(175_004, 4_291), (185_014, 3_649)]),
    ],
)
def test_the_recorded_sessions_are_read_whole(
    data: Path, name: str, read: int, dropped: int, repaired: int, model: str, marks: list[tuple[int, int]]
) -> None:
    transcript, report = read_with_report(data / "pi_sessions" / f"{name}.jsonl")
    assert (report.read, report.dropped, report.repaired, report.model) == (read, dropped, repaired, model)
    assert len(transcript) == read - dropped + repaired
    assert sum("dropped an aborted" in note or "dropped a failed" in note for note in report.notes) == dropped
    assert sum("never got a result; a stub was added" in note for note in report.notes) == repaired
    assert [(mark.tokens_before, len(mark.summary)) for mark in report.compactions] == marks
    assert problems(transcript[:], needs_reply=False) == ()


def test_the_bills_of_the_recorded_sessions_add_up(data: Path) -> None:
    billed = [one.usage for one in read_transcript(data / "pi_sessions/large-session.jsonl") if one.usage]
    assert round(sum(usage.cost or 0 for usage in billed), 2) == 30.33
    share = sum(usage.cached_tokens for usage in billed) / sum(usage.input_tokens for usage in billed)
    assert round(share, 3) == 0.910

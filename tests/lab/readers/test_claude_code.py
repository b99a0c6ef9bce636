from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Image, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import CLAUDE_CODE, claude, claude_answer, result, text, use, write_lines


def read(tmp_path: Path, entries: list[Any]) -> tuple[list[str], tuple[str, ...]]:
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", entries))
    return [message.text for message in transcript], transcript.report


def test_lines_of_one_answer_become_one_message_with_its_results_behind_it(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", CLAUDE_CODE))
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "tool", "assistant"]
    answer = transcript[1]
    assert answer.content == (
        Thinking("Hm.", '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}'),
        Text("I look."),
    )
    assert [(call.id, call.name, call.arguments) for call in answer.calls] == [
        ("t1", "Read", '{"path":"t1"}'),
        ("t2", "Read", '{"path":"t2"}'),
    ]
    assert answer.usage == Usage(125, 40, cached_tokens=100)
    assert (answer.finish, answer.time) == ("tool_calls", datetime(2026, 4, 12, 9, 30, 2, tzinfo=UTC))
    assert (report.format, report.read, report.notes, report.model) == ("Claude Code", 5, (), "claude-y")
    assert problems(transcript[:], needs_reply=False) == ()


def test_r003_results_have_their_tool_and_their_status(tmp_path: Path) -> None:
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", CLAUDE_CODE))
    assert [(one.call_id, one.name, one.status, one.text) for one in transcript[2:4]] == [
        ("t2", "Read", "error", "two"),
        ("t1", "Read", "", "one"),
    ]


def test_a_result_and_words_of_the_user_in_one_entry_are_two_messages(tmp_path: Path) -> None:
    both = result("t1", "one")
    both["content"] += [
        text("And now?"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
    ]
    entries = [claude(1, "a1", None, claude_answer("m1", use("t1"))), claude(2, "u1", "a1", both)]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", entries))
    assert [message.role for message in transcript] == ["assistant", "tool", "user"]
    words, picture = transcript[2].parts
    assert words == Text("And now?")
    assert isinstance(picture, Image) and picture.url == "data:image/jpeg;base64,AAAA"


def test_a_branch_that_was_left_is_dropped_and_said(tmp_path: Path) -> None:
    entries = [
        claude(1, "u1", None, {"role": "user", "content": "Start."}),
        claude(2, "a1", "u1", claude_answer("m1", text("Ready."))),
        claude(3, "u2", "a1", {"role": "user", "content": "First attempt."}),
        claude(4, "a2", "u2", claude_answer("m2", text("First answer."))),
        claude(5, "u3", "a1", {"role": "user", "content": "Second attempt."}),
    ]
    said, notes = read(tmp_path, entries)
    assert said == ["Start.", "Ready.", "Second attempt."]
    assert notes == tuple(f"line {number}: dropped a message of a branch that was left" for number in (3, 4))


def test_sub_agents_are_left_out_except_from_a_file_of_their_own(tmp_path: Path) -> None:
    aside = claude(2, "x1", None, {"role": "user", "content": "Survey."}, isSidechain=True)
    entries = [claude(1, "u1", None, {"role": "user", "content": "Start."}), aside]
    assert read(tmp_path, entries) == (["Start."], ("line 2: dropped a message of a sub-agent",))
    assert read(tmp_path, [aside]) == (["Survey."], ())


def test_a_compaction_becomes_a_mark_and_the_conversation_goes_on_over_it(tmp_path: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b1",
        "parentUuid": None,
        "logicalParentUuid": "a9",
        "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
    }
    summary = {"role": "user", "content": [text("So far.")]}
    entries = [
        claude(1, "u1", None, {"role": "user", "content": "Start."}),
        boundary,
        claude(2, "c1", "b1", summary, isCompactSummary=True, isVisibleInTranscriptOnly=True),
        claude(3, "a9", "c1", claude_answer("m1", text("On."))),
    ]
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", entries))
    assert [message.text for message in transcript] == ["Start.", "On."]
    (mark,) = report.compactions
    assert (mark.index, mark.summary, mark.tokens_before) == (1, "So far.", 150_000)


def test_what_the_harness_put_in_is_marked_so_and_what_the_model_never_saw_is_dropped(tmp_path: Path) -> None:
    error = claude_answer("m1", text("API Error: 529"), model="<synthetic>")
    entries = [
        claude(1, "u1", None, {"role": "user", "content": "Caveat."}, isMeta=True),
        claude(2, "u2", "u1", {"role": "user", "content": [text("[Request interrupted by user]")]}),
        claude(3, "u3", "u2", {"role": "user", "content": "For the eye."}, isVisibleInTranscriptOnly=True),
        claude(4, "e1", "u3", error, isApiErrorMessage=True),
        claude(5, "e2", "e1", claude_answer("m2")),
    ]
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", entries))
    assert [(one.text, one.origin) for one in transcript] == [
        ("Caveat.", "harness"),
        ("[Request interrupted by user]", "harness"),
    ]
    assert (report.dropped, report.model) == (3, None)
    assert [note.partition(":")[0] for note in report.notes] == ["line 3", "line 4", "line 5"]


def test_an_entry_that_stands_twice_counts_once(tmp_path: Path) -> None:
    assert len(read_transcript(write_lines(tmp_path / "s.jsonl", [*CLAUDE_CODE, *CLAUDE_CODE[2:]]))) == 5


def test_an_entry_that_is_not_as_claude_code_writes_it_is_skipped(tmp_path: Path) -> None:
    odd: list[Any] = [
        claude(7, "o1", "a5", {"role": "user", "content": 5}),
        claude(8, "o2", "o1", claude_answer("m8", {"type": "tool_use"})),
        claude(9, "o3", "o2", {"role": "user", "content": [{"type": "tool_result"}]}),
    ]
    said, notes = read(tmp_path, [*CLAUDE_CODE, *odd])
    assert said[-1] == "Done."
    assert [note.partition(":")[0] for note in notes] == [f"line {number}" for number in (11, 12, 13)]

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Image, Opaque, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import write_lines
from tests.lab.samples import CODEX, CODEX_BILL, codex, codex_bill, codex_call, codex_result, codex_words


def test_items_of_one_answer_become_one_message_with_its_results_behind_it(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "s.jsonl", CODEX))
    assert [(one.role, one.origin) for one in transcript] == [
        ("system", "harness"),
        ("user", "harness"),
        ("user", "user"),
        ("assistant", "model"),
        ("tool", "tool"),
        ("tool", "tool"),
        ("assistant", "model"),
    ]
    answer = transcript[3]
    assert isinstance(answer.parts[0], Thinking) and answer.parts[0].text == "Hm." and "c2ln" in answer.parts[0].raw
    assert answer.parts[1] == Text("I look.")
    assert [(call.id, call.name, call.parsed()) for call in answer.calls] == [
        ("c1", "shell", {"command": "cat a.py"}),
        ("c2", "shell", {"command": "cat b.py"}),
    ]
    assert (answer.usage, answer.time) == (
        Usage(1203, 68, cached_tokens=1000),
        datetime(2026, 4, 12, 9, 30, 2, tzinfo=UTC),
    )
    assert [(one.call_id, one.name, one.status) for one in transcript[4:6]] == [
        ("c1", "shell", "error"),
        ("c2", "shell", ""),
    ]
    assert isinstance(transcript[5].parts[0], Image)
    assert (report.read, report.notes, report.model, transcript[6].usage) == (7, (), "gpt-x", None)
    assert problems(transcript[:], needs_reply=False) == ()


def test_a_bill_ends_an_answer_and_one_told_twice_counts_once(tmp_path: Path) -> None:
    lines = [
        codex_words(1, "user", "Go."),
        codex_words(2, "assistant", "First."),
        codex_bill(2, 10, input_tokens=7, output_tokens=3),
        codex_bill(3, 10, input_tokens=7, output_tokens=3),
        codex_words(3, "assistant", "Second."),
        codex_bill(4, 30, input_tokens=15, output_tokens=5),
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [(one.text, one.usage) for one in transcript[1:]] == [("First.", Usage(7, 3)), ("Second.", Usage(15, 5))]


def test_a_compaction_becomes_a_mark_with_the_size_before(tmp_path: Path) -> None:
    lines = [*CODEX, codex(6, "compacted", message="Looked.", replacement_history=[]), codex_words(7, "user", "On.")]
    _, report = read_with_report(write_lines(tmp_path / "s.jsonl", lines))
    (mark,) = report.compactions
    assert (mark.index, mark.summary, mark.tokens_before) == (7, "Looked.", CODEX_BILL["total_tokens"])


def test_turns_that_were_rolled_back_are_dropped_and_said(tmp_path: Path) -> None:
    lines = [
        codex_words(1, "user", "One."),
        codex_words(2, "assistant", "First."),
        codex_words(3, "user", "Two."),
        codex_words(4, "assistant", "Second."),
        codex(5, "event_msg", type="thread_rolled_back", num_turns=1),
        codex_words(6, "user", "Three."),
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [one.text for one in transcript] == ["One.", "First.", "Three."]
    assert transcript.report == tuple(f"line {at}: dropped a message of a turn that was rolled back" for at in (3, 4))


def test_other_kinds_of_calls_and_results_are_understood(tmp_path: Path) -> None:
    action = {"type": "exec", "command": ["ls"]}
    lines = [
        codex_words(1, "user", "Go."),
        codex(2, "response_item", type="local_shell_call", call_id="c1", status="completed", action=action),
        codex_result(2, "c1", {"content": "gone", "success": False}),
        codex(3, "response_item", type="custom_tool_call", call_id="c2", name="apply_patch", input="*** Begin Patch"),
        codex(3, "response_item", type="custom_tool_call_output", call_id="c2", output="aborted by user after 1s"),
        codex_call(4, "c3", "make"),
        codex_result(4, "c3", '{"output":"no rule","metadata":{"exit_code":2}}'),
        codex(5, "response_item", type="web_search_call", status="completed", action={"query": "x"}),
        codex(5, "response_item", type="ghost_snapshot", ghost_commit={}),
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [call.name for one in transcript for call in one.calls] == ["local_shell", "apply_patch", "shell"]
    assert [(one.text, one.status) for one in transcript if one.role == "tool"][:2] == [
        ("gone", "error"),
        ("aborted by user after 1s", "interrupted"),
    ]
    assert transcript[6].status == "error"
    assert transcript[3].to_openai()["tool_calls"][0]["custom"] == {"name": "apply_patch", "input": "*** Begin Patch"}
    assert isinstance(transcript[-1].parts[0], Opaque)


def test_the_words_of_a_file_that_was_read_are_no_exit_code(tmp_path: Path) -> None:
    for output, status in (
        ("Exit code: 0\nOutput:\nsaid exit code: 1", ""),
        ("Wall time: 1 s\nProcess exited with code 2\nOutput:", "error"),
        ('{"output":"' + "x" * 5_000 + '","metadata":{"exit_code":1}}', "error"),
    ):
        lines = [codex_words(1, "user", "Go."), codex_call(2, "c1", "make"), codex_result(2, "c1", output)]
        assert read_transcript(write_lines(tmp_path / "s.jsonl", lines))[-1].status == status


def test_instructions_inside_a_conversation_are_messages_of_the_harness_not_of_the_system(tmp_path: Path) -> None:
    lines = [codex_words(1, "developer", "Rules."), codex_words(2, "user", "Go."), codex_words(3, "developer", "More.")]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", lines))
    assert [(one.role, one.origin) for one in transcript] == [
        ("system", "harness"),
        ("user", "user"),
        ("user", "harness"),
    ]


def test_the_oldest_files_with_bare_items_are_read(tmp_path: Path) -> None:
    bare: list[Any] = [one["payload"] for one in CODEX if one["type"] == "response_item"]
    transcript, report = read_with_report(
        write_lines(tmp_path / "s.jsonl", [{"id": "s1", "instructions": None}, *bare])
    )
    assert (report.format, [one.role for one in transcript]) == (
        "Codex",
        ["user", "user", "assistant", "tool", "tool", "assistant"],
    )


def test_a_line_that_is_not_as_codex_writes_it_is_skipped(tmp_path: Path) -> None:
    odd = [
        codex(6, "response_item", type="message", role="user"),
        codex(7, "response_item", type=["x"]),
        codex_result(8, "c1", 5),
    ]
    transcript = read_transcript(write_lines(tmp_path / "s.jsonl", [*CODEX, *odd]))
    assert [note.partition(":")[0] for note in transcript.report] == ["line 15", "line 16", "line 17"]

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness_nb.core.messages import Image, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import text, write_document, write_lines
from tests.lab.samples import OPENCODE, OPENCODE_TOKENS, opencode, opencode_tool

MESSAGES: list[Any] = OPENCODE["messages"]  # type: ignore[assignment]


def export(*messages: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"id": "s1"} | info, "messages": list(messages)}


def test_each_request_of_a_message_becomes_an_answer_with_its_results(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "s.json", OPENCODE))
    assert [message.role for message in transcript] == ["user", "assistant", "tool", "tool", "assistant"]
    answer = transcript[1]
    assert isinstance(answer.parts[0], Thinking) and answer.parts[1] == Text("I look.")
    assert [(call.id, call.name, call.arguments) for call in answer.calls] == [
        ("o1", "read", '{"path":"o1"}'),
        ("o2", "read", '{"path":"o2"}'),
    ]
    assert (answer.usage, answer.finish) == (Usage(1203, 68, cached_tokens=1000, cost=0.25), "tool_calls")
    assert [(one.call_id, one.status, one.text) for one in transcript[2:4]] == [
        ("o1", "error", "No such file."),
        ("o2", "", "a picture"),
    ]
    assert isinstance(transcript[3].parts[1], Image)
    assert (report.format, report.read, report.model, report.notes) == ("OpenCode", 5, "claude-y", ())
    assert problems(transcript[:], needs_reply=False) == ()


def test_the_list_alone_and_one_message_a_line_hold_the_same(tmp_path: Path) -> None:
    whole = read_transcript(write_document(tmp_path / "s.json", OPENCODE))
    assert read_transcript(write_lines(tmp_path / "list.json", [MESSAGES])) == whole
    assert read_transcript(write_lines(tmp_path / "s.jsonl", MESSAGES)) == whole


def test_the_folder_of_a_session_holds_the_same_and_says_which_file_is_spoilt(tmp_path: Path) -> None:
    folder = tmp_path / "storage" / "message" / "ses_1"
    folder.mkdir(parents=True)
    for number, message in enumerate(MESSAGES):
        write_document(folder / f"msg_{number}.json", message["info"])
        parts = tmp_path / "storage" / "part" / f"msg_{number}"
        parts.mkdir(parents=True)
        for at, part in enumerate(message["parts"]):
            write_document(parts / f"prt_{at:02}.json", part)
    assert read_transcript(folder) == read_transcript(write_document(tmp_path / "s.json", OPENCODE))
    (tmp_path / "storage" / "part" / "msg_0" / "prt_99.json").write_text("{", encoding="utf-8")
    (folder / "msg_9.json").write_text("{", encoding="utf-8")
    assert read_transcript(folder).report == (
        "msg_0.json: skipped a damaged part of it; the rest was read",
        "msg_9.json: skipped a damaged file",
    )


def test_a_message_without_marks_of_requests_is_one_answer(tmp_path: Path) -> None:
    said = opencode(3, "a2", "assistant", text("Hi."), tokens=OPENCODE_TOKENS, cost=0.5, finish="stop")
    blank = {"type": "step-finish", "reason": "stop", "tokens": {}, "cost": 0}
    for one in (said, {**said, "parts": [*said["parts"], blank]}):
        answer = read_transcript(write_document(tmp_path / "s.json", export(one)))[0]
        assert (answer.usage, answer.finish) == (Usage(1203, 68, cached_tokens=1000, cost=0.5), "stop")


def test_a_compaction_becomes_a_mark(tmp_path: Path) -> None:
    asked = opencode(4, "u2", "user", {"type": "compaction", "auto": True})
    summary = opencode(5, "a2", "assistant", text("Looked."), summary=True, tokens=OPENCODE_TOKENS)
    path = write_document(
        tmp_path / "s.json", export(*MESSAGES, asked, summary, opencode(6, "u3", "user", text("On.")))
    )
    transcript, report = read_with_report(path)
    (mark,) = report.compactions
    assert (mark.index, mark.summary, mark.tokens_before) == (5, "Looked.", 1203)
    assert transcript[5].text == "On."


def test_what_the_user_reverted_or_never_sent_is_left_out(tmp_path: Path) -> None:
    messages = [
        opencode(1, "u1", "user", text("Go."), text("a remark") | {"ignored": True}),
        opencode(2, "u2", "user", text("Made by a tool.") | {"synthetic": True}),
        opencode(3, "u3", "user", text("Gone.")),
        opencode(4, "a3", "assistant", text("Gone, too.")),
    ]
    transcript = read_transcript(write_document(tmp_path / "s.json", export(*messages, revert={"messageID": "u3"})))
    assert [(one.text, one.origin) for one in transcript] == [("Go.", "user"), ("Made by a tool.", "harness")]
    assert transcript.report == tuple(f"message {at}: dropped a message that the user reverted" for at in (3, 4))


def test_a_call_that_was_running_gets_a_stub_and_a_failed_answer_is_dropped(tmp_path: Path) -> None:
    messages = [
        *MESSAGES,
        opencode(3, "a2", "assistant", opencode_tool("o3", "running")),
        opencode(4, "a3", "assistant", error={"name": "APIError"}),
    ]
    transcript, report = read_with_report(write_document(tmp_path / "s.json", export(*messages)))
    assert (report.repaired, report.dropped, transcript[-1].status) == (1, 1, "interrupted")


def test_files_of_other_kinds_are_kept(tmp_path: Path) -> None:
    file = {"type": "file", "mime": "application/pdf", "url": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}
    (message,) = read_transcript(
        write_document(tmp_path / "s.json", export(opencode(1, "u1", "user", text("See."), file)))
    )
    assert message.to_openai()["content"][1] == {"type": "file", "url": file["url"], "name": "a.pdf"}


def test_a_message_that_is_not_as_opencode_writes_it_is_skipped(tmp_path: Path) -> None:
    odd = [opencode(3, "x1", "user", {"type": "text"}), opencode(4, "x2", "assistant", {"type": "tool"}), 5]
    transcript = read_transcript(write_document(tmp_path / "s.json", export(*MESSAGES, *odd)))
    assert [note.partition(":")[0] for note in transcript.report] == ["message 3", "message 4", "message 5"]

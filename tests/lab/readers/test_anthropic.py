from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.messages import Image, Opaque, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.lab.readers import anthropic
from harness_nb.lab.transcripts import read_transcript, read_transcripts, read_with_report
from tests.lab.files import result, text, use, write_document, write_lines
from tests.lab.samples import ANTHROPIC

TALK: list[Any] = ANTHROPIC["messages"]  # type: ignore[assignment]
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-z",
    "content": [text("Found."), use("t9")],
    "stop_reason": "tool_use",
    "usage": {
        "input_tokens": 3,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 1000,
        "output_tokens": 68,
    },
}


def test_a_request_is_read_with_its_system_prompt_its_calls_and_their_results(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "t.json", ANTHROPIC))
    assert [message.role for message in transcript] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
    ]
    assert [(call.id, call.name, call.arguments) for call in transcript[2].calls] == [
        ("t1", "Read", '{"path":"t1"}'),
        ("t2", "Read", '{"path":"t2"}'),
    ]
    assert transcript[2].parts == (
        Thinking("Hm.", '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}'),
        Text("I look."),
    )
    assert [(one.call_id, one.name, one.status, one.text) for one in transcript[3:5]] == [
        ("t1", "Read", "", "one"),
        ("t2", "Read", "error", "No such file."),
    ]
    words, picture = transcript[5].parts
    assert isinstance(picture, Image) and picture.url == "data:image/png;base64,AAAA"
    assert (report.format, report.model, report.read, report.notes) == ("Anthropic Messages", "claude-y", 7, ())
    assert problems(transcript[:], needs_reply=False) == ()


@pytest.mark.parametrize(
    "wrap", [lambda one: {"custom_id": "r1", "params": one}, lambda one: [one], lambda one: one["messages"]]
)
def test_a_line_of_a_batch_and_lists_hold_the_same(tmp_path: Path, wrap: Any) -> None:
    transcript = read_transcript(write_lines(tmp_path / "t.jsonl", [wrap(ANTHROPIC)]))
    assert [message.text for message in transcript][-6:] == [
        "Look twice.",
        "I look.",
        "one",
        "No such file.",
        "And this?",
        "Done.",
    ]


def test_one_message_a_line_is_recognised_though_it_begins_as_openais_does(tmp_path: Path) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / "t.jsonl", TALK))
    assert (len(transcript), report.format) == (6, "Anthropic Messages")


def test_one_request_a_line_is_one_conversation_each(tmp_path: Path) -> None:
    assert len(read_transcripts(write_lines(tmp_path / "t.jsonl", [ANTHROPIC, ANTHROPIC]))) == 2


def test_an_answer_of_the_api_brings_usage_model_and_the_reason_for_its_end(tmp_path: Path) -> None:
    pair = {"request": {"messages": TALK[:1]}, "response": ANSWER}
    transcript, report = read_with_report(write_lines(tmp_path / "t.jsonl", [pair]))
    assert (transcript[1].usage, transcript[1].finish) == (Usage(1203, 68, cached_tokens=1000), "tool_calls")
    assert (report.model, report.repaired) == ("claude-z", 1)
    alone = read_transcript(write_lines(tmp_path / "a.json", [ANSWER]))
    assert alone[0].usage == transcript[1].usage


def test_marks_for_the_cache_and_parts_of_the_provider_are_kept(tmp_path: Path) -> None:
    mark = {"type": "ephemeral"}
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    said = [
        {"role": "user", "content": [text("Look.") | {"cache_control": mark}]},
        {"role": "assistant", "content": [search, use("t1") | {"cache_control": mark}]},
        result("t1", [], cache_control=mark),
    ]
    transcript = read_transcript(write_lines(tmp_path / "t.jsonl", said))
    kept = '{"cache_control":{"type":"ephemeral"}}'
    assert transcript[0].parts == (Text("Look.", kept),)
    assert (transcript[1].calls[0].rest, transcript[2].rest, transcript[2].content) == (kept, kept, "")
    assert isinstance(transcript[1].parts[0], Opaque) and transcript[1].parts[0].type == "server_tool_use"


def test_a_message_in_openais_format_among_them_is_read_as_that(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    said = [
        *TALK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    transcript = read_transcript(write_lines(tmp_path / "t.jsonl", said))
    assert (transcript.report, transcript[-1].call_id) == ((), "c1")


def test_what_is_no_message_is_skipped_and_reported_with_its_place(tmp_path: Path) -> None:
    odd = [*TALK, {"role": "user", "content": 5}, {"role": "assistant", "content": [{"type": "tool_use"}]}, "x"]
    transcript = read_transcript(write_document(tmp_path / "t.json", {"messages": odd}))
    assert [note.partition(":")[0] for note in transcript.report] == ["message 5", "message 6", "message 7"]


def test_a_name_beside_the_messages_of_another_format_is_no_system_prompt() -> None:
    line = {"system": "eney", "messages": [{"role": "user", "content": "Look."}]}
    assert not anthropic.claims(line | {"expect": {}}) and anthropic.claims(line | {"max_tokens": 100, "top_p": 1})
    assert anthropic.claims(line)  # a prompt by itself, as the writer makes it where no model is known

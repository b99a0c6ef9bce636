from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.messages import Image, Text, Thinking, Usage
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.lab.transcripts import read_transcript, read_with_report
from tests.lab.files import write_document, write_lines
from tests.lab.samples import LANGCHAIN, langchain, langchain_call


def serialised(message: dict[str, Any]) -> dict[str, Any]:
    """A message as `dumpd` gives it."""
    place = ["langchain", "schema", "messages", f"{message['type'].title()}Message"]
    return {"lc": 1, "type": "constructor", "id": place, "kwargs": message["data"]}


FORMS: dict[str, list[Any]] = {
    "messages_to_dict": LANGCHAIN,
    "dumpd": [serialised(one) for one in LANGCHAIN],
    "model_dump": [one["data"] for one in LANGCHAIN],
}


@pytest.mark.parametrize("form", FORMS)
def test_each_of_the_three_forms_is_read(tmp_path: Path, form: str) -> None:
    transcript, report = read_with_report(write_document(tmp_path / "t.json", FORMS[form]))
    assert [message.role for message in transcript] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert isinstance(transcript[1].parts[1], Image)
    answer = transcript[2]
    assert isinstance(answer.parts[0], Thinking) and answer.parts[0].text == "Hm."
    assert answer.parts[1:] == (Text("I look."),)
    assert [(call.id, call.arguments) for call in answer.calls] == [("l1", '{"at":1}'), ("l2", "{at")]
    assert (answer.usage, answer.finish) == (Usage(1203, 68, cached_tokens=1000), "tool_calls")
    assert [(one.call_id, one.name, one.status) for one in transcript[3:5]] == [
        ("l1", "look", ""),
        ("l2", None, "error"),
    ]
    assert (report.format, report.model, report.notes) == ("LangChain", "gpt-x", ())
    assert problems(transcript[:], needs_reply=False) == ()


def test_one_message_a_line_and_the_state_of_an_agent_hold_the_same(tmp_path: Path) -> None:
    whole = read_transcript(write_document(tmp_path / "t.json", LANGCHAIN))
    assert read_transcript(write_lines(tmp_path / "t.jsonl", LANGCHAIN)) == whole
    for state in ({"messages": LANGCHAIN}, {"values": {"messages": LANGCHAIN}}):
        assert read_transcript(write_lines(tmp_path / "s.json", [state])) == whole


def test_calls_as_the_provider_gave_them_are_taken_where_they_belong_to_the_same(tmp_path: Path) -> None:
    raw = {"id": "l1", "type": "function", "function": {"name": "look", "arguments": '{ "at": 1 }'}}
    for ids, expected in ((["l1"], '{ "at": 1 }'), (["l1", "l2"], '{"at":1}')):
        calls = [langchain_call(one, {"at": 1}) for one in ids]
        said = langchain("ai", "", tool_calls=calls, additional_kwargs={"tool_calls": [raw]})
        transcript = read_transcript(write_lines(tmp_path / "t.jsonl", [said]))
        assert transcript[0].calls[0].arguments == expected


def test_reasoning_beside_the_content_comes_first_and_names_are_kept(tmp_path: Path) -> None:
    said = [
        langchain("human", "Hi.", name="ann"),
        langchain("chat", "Hm?", role="critic"),
        langchain("ai", "Yes.", additional_kwargs={"reasoning_content": "They greet."}),
    ]
    transcript = read_transcript(write_lines(tmp_path / "t.jsonl", said))
    assert [one.name for one in transcript] == ["ann", "critic", None]
    assert isinstance(transcript[2].parts[0], Thinking) and transcript[2].parts[0].text == "They greet."
    assert transcript[2].text == "Yes."


def test_a_message_that_says_nothing_by_itself_is_skipped_with_its_place(tmp_path: Path) -> None:
    odd = [langchain("remove", "", id="x"), langchain("function", "r", name="f"), langchain("tool", "no id"), 5]
    transcript = read_transcript(write_document(tmp_path / "t.json", [*LANGCHAIN, *odd]))
    assert [note.partition(":")[0] for note in transcript.report] == [f"message {at}" for at in (7, 8, 9, 10)]


def test_what_langchain_itself_writes_is_read_and_it_reads_what_we_write(tmp_path: Path) -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="needs the extra `bench`")
    from harness_nb.lab.writers.langchain import to_langchain

    theirs = messages.messages_from_dict(LANGCHAIN)
    transcript = read_transcript(write_document(tmp_path / "t.json", messages.messages_to_dict(theirs)))
    assert transcript == read_transcript(write_document(tmp_path / "s.json", LANGCHAIN))
    ours = messages.messages_from_dict([to_langchain(one) for one in transcript])
    assert Transcript(transcript) == read_transcript(
        write_document(tmp_path / "u.json", messages.messages_to_dict(ours))
    )

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

from harness_nb.core.messages import Message, Thinking, ToolCall, Usage, part_from_openai
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError, StoreError
from harness_nb.lab.transcripts import read_transcript, read_with_report
from harness_nb.lab.writing import WRITERS, WriteFormat, write_transcript
from tests.lab.files import OPENAI
from tests.lab.strategies import anthropic_transcripts, transcripts

HASTE = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # nothing is timed here
NOW = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
FULL = Transcript(
    [
        Message.system("Be brief."),
        Message.user("Look.", time=NOW),
        Message(
            "assistant",
            (part_from_openai({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),),
            calls=(ToolCall("c1", "look", '{ "at": 1 }'), ToolCall("c2", "look", "{at")),
            usage=Usage(1_203, 68, cached_tokens=1_000, cost=0.25),
            finish="tool_calls",
        ),
        Message.tool("c1", "one", name="look"),
        Message.tool("c2", "Not allowed.", name="look", status="denied"),
        Message.user("A note.", origin="harness"),
        Message.assistant("Done."),
    ],
    name="s1",
    model="claude-y",
)


@HASTE
@given(transcripts())
@pytest.mark.parametrize("format", ["harness_nb", "langchain"])
def test_our_own_format_and_langchains_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, format: WriteFormat, transcript: Transcript
) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    report = write_transcript(transcript, path, format)
    back, read = read_with_report(path)
    assert back == transcript
    assert (read.notes, report.notes) == ((), ())


@HASTE
@given(transcripts())
def test_openais_format_loses_only_what_stands_beside_a_message(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.json"
    write_transcript(transcript, path, "openai")
    assert read_transcript(path) == Transcript(transcript.to_openai())


@HASTE
@given(anthropic_transcripts())
def test_anthropics_format_loses_nothing_of_what_it_can_hold(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    path = tmp_path_factory.mktemp("t") / "t.json"
    report = write_transcript(transcript, path, "anthropic")
    assert read_transcript(path) == transcript
    assert report.notes == ()


@HASTE
@given(transcripts())
def test_what_anthropics_format_can_hold_of_any_conversation_is_the_same_the_second_time(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    first, second = (tmp_path_factory.mktemp("t") / name for name in ("a.json", "b.json"))
    write_transcript(Transcript([*transcript, Message.user("Still there?")]), first, "anthropic")
    write_transcript(read_transcript(first), second, "anthropic")
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("format", WRITERS)
def test_every_format_is_read_back_whole(tmp_path: Path, format: WriteFormat) -> None:
    report = write_transcript(FULL, tmp_path / "deep" / "t", format)
    back = read_transcript(report.path)
    assert [one.role for one in back] == [one.role for one in FULL]
    assert [one.text for one in back] == [one.text for one in FULL]
    assert isinstance(back[2].parts[0], Thinking)
    assert (back.report, problems(back[:], needs_reply=False), report.messages) == ((), (), 7)
    assert back.model == ("" if format == "langchain" else "claude-y")


def test_a_report_says_what_was_lost_and_how_often(tmp_path: Path) -> None:
    assert write_transcript(FULL, tmp_path / "t", "harness_nb").notes == ()
    assert write_transcript(FULL, tmp_path / "t", "langchain").notes == ("left out the name of the model: 1 time",)
    assert write_transcript(FULL, tmp_path / "t", "openai").notes == (
        "left out the time of a message: 1 time",
        "left out the usage of an answer: 1 time",
        "left out the reason why an answer ended: 1 time",
        "left out the status of a result: 1 time",
        "left out that the harness made a message: 1 time",
    )
    report = write_transcript(FULL, tmp_path / "t", "anthropic")
    assert report.notes[-2:] == (
        "wrote arguments as compact JSON: 1 time",
        "put arguments that are no JSON object into one: 1 time",
    )
    assert "7 messages in the format 'anthropic' · something was left out or changed" in str(report)
    assert "compact JSON" in report._repr_html_()


def test_openais_file_is_a_request_as_it_came_with_a_message_a_line(tmp_path: Path) -> None:
    path = write_transcript(Transcript(OPENAI), tmp_path / "t.json").path
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == {"messages": OPENAI}
    assert len(text.splitlines()) == len(OPENAI) + 2


def test_a_format_that_does_not_exist_is_refused_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="no format 'gpt'.\nUse one of openai, anthropic, langchain, harness_nb"):
        write_transcript(FULL, path, "gpt")  # type: ignore[arg-type]
    assert path.read_text(encoding="utf-8") == "mine"


def test_a_file_that_cannot_be_written_is_an_error_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError):
        write_transcript(FULL, tmp_path / "file" / "t.json")


def test_the_names_of_the_formats_are_those_that_checkers_know() -> None:
    assert get_args(WriteFormat) == tuple(WRITERS)


def test_a_recorded_session_survives_every_format(data: Path, tmp_path: Path) -> None:
    session = read_transcript(data / "pi_sessions" / "large-session.jsonl")
    for format in ("harness_nb", "langchain"):
        write_transcript(session, tmp_path / "t", format)
        assert read_transcript(tmp_path / "t") == session
    write_transcript(session, tmp_path / "t", "openai")
    assert read_transcript(tmp_path / "t").to_openai() == session.to_openai()
    write_transcript(session, tmp_path / "t", "anthropic")
    back = read_transcript(tmp_path / "t")
    assert [(one.role, one.text, one.call_id) for one in back if not one.calls] == [
        (one.role, one.text, one.call_id) for one in session if not one.calls
    ]
    assert [call for one in back for call in one.calls] == [call for one in session for call in one.calls]

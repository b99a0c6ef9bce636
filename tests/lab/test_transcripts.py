from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.messages import Message
from harness_nb.core.records import log_line
from harness_nb.core.rounds import problems
from harness_nb.core.transcript import Transcript
from harness_nb.errors import TranscriptError
from harness_nb.lab.transcripts import read_transcript, read_transcripts, read_with_report
from tests.lab.files import CLAUDE_CODE, OPENAI, PI, write_lines
from tests.lab.samples import CODEX, DOCUMENTS, GEMINI

OWN = [json.loads(log_line(index, message)) for index, message in enumerate(Transcript(OPENAI))]
SAMPLES: dict[str, list[Any]] = {
    "harness_nb": OWN,
    "pi": PI,
    "Claude Code": CLAUDE_CODE,
    "OpenAI chat": OPENAI,
    "Codex": CODEX,
    "Gemini CLI": GEMINI,
    **{name: [value] for name, value in DOCUMENTS.items()},
}


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("name", ["t.txt", "openai.json", "s.log.jsonl"])
def test_the_format_is_recognised_by_content_and_not_by_name(tmp_path: Path, format: str, name: str) -> None:
    transcript, report = read_with_report(write_lines(tmp_path / name, SAMPLES[format]))
    assert report.format == format
    assert problems(transcript[:], needs_reply=False) == ()
    assert len(transcript) == report.read - report.dropped + report.repaired


def test_a_name_may_be_a_text(tmp_path: Path) -> None:
    assert read_transcript(str(write_lines(tmp_path / "t", OPENAI))) == Transcript(OPENAI)


@pytest.mark.parametrize("content", ["Dear diary,\nno JSON.\n", "{\n  ]", '[\n {\n  "role": "user",\n  "conte'])
def test_a_file_without_json_or_torn_in_its_only_document_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "t").write_text(content, encoding="utf-8")
    with pytest.raises(TranscriptError, match="holds no JSON that can be read.\nCheck whether the file is complete"):
        read_transcript(tmp_path / "t")


@pytest.mark.parametrize("content", ['{"a": 1}\n{"b": 2}\n', "[]\n", '"text"\n'])
def test_a_file_of_no_known_format_is_refused_with_what_is_known(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(
        TranscriptError, match="is of no known format.\nGive a conversation in one of these: harness_nb, pi"
    ):
        read_transcript(path)


def test_a_file_without_a_readable_message_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="looks like pi, but no message could be read"):
        read_transcript(write_lines(tmp_path / "t", PI[:1]))


def test_r076_a_torn_last_line_is_skipped_and_reported_and_all_others_load(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", OPENAI)
    path.write_bytes(path.read_bytes()[:-10])
    transcript = read_transcript(path)
    assert len(transcript) == 5
    assert transcript.report == ("line 6: skipped the last line, which is cut off",)


def test_a_spoilt_first_line_does_not_keep_the_format_from_being_recognised(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "t", PI)
    path.write_bytes(b'{"type": "sess\n' + path.read_bytes())
    transcript, report = read_with_report(path)
    assert (len(transcript), report.format) == (6, "pi")
    assert report.notes[0] == "line 1: skipped a line that is not JSON"


@pytest.mark.parametrize("format", SAMPLES)
def test_a_file_cut_anywhere_is_read_as_far_as_it_goes_or_refused_in_words(tmp_path: Path, format: str) -> None:
    whole = write_lines(tmp_path / "whole", SAMPLES[format]).read_bytes()
    for length in range(1, len(whole), 7):
        path = tmp_path / "cut"
        path.write_bytes(whole[:length])
        try:
            transcript = read_transcript(path)
        except TranscriptError:
            continue
        assert problems(transcript[:], needs_reply=False)[1:] == ()


JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    "",
    "x",
    "\ud83d",
    [],
    [[]],
    [None],
    {},
    {"type": "text"},
    {"role": "user"},
)


def spoil(value: Any, random: random.Random) -> Any:
    """Replaces something inside a JSON value by something else."""
    spoilt = copy.deepcopy(value)
    place = spoilt
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = random.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and random.random() < 0.7:
            place = place[key]
            continue
        place[key] = random.choice(JUNK)
        return spoilt


@given(st.sampled_from(sorted(SAMPLES)), st.randoms(use_true_random=False), st.integers(1, 4))
def test_whatever_a_line_holds_no_reader_breaks(
    tmp_path_factory: pytest.TempPathFactory, format: str, random: random.Random, times: int
) -> None:
    values: Any = SAMPLES[format]
    for _ in range(times):
        values = spoil(values, random)
    path = write_lines(tmp_path_factory.mktemp("t") / "t", values)
    try:
        transcripts = read_transcripts(path)
    except TranscriptError:
        return
    for transcript in transcripts:
        kinds = {problem.kind for problem in problems(transcript[:])}
        assert not kinds & {"orphan_result", "unanswered_call"}
        json.dumps(transcript.to_openai())


@pytest.mark.parametrize(
    "name", ["pi_sessions/large-session.jsonl", "tau_bench_airline/gpt-4o-airline.longest-per-task.jsonl"]
)
def test_recorded_files_cut_at_random_places_never_break_a_reader(data: Path, tmp_path: Path, name: str) -> None:
    whole = (data / name).read_bytes()
    chance = random.Random(7)
    for _ in range(20):
        path = tmp_path / "cut"
        start = chance.choice((0, chance.randrange(len(whole))))
        path.write_bytes(whole[start : chance.randrange(start + 1, len(whole) + 1)])
        try:
            read_transcripts(path)
        except TranscriptError as error:
            assert error.remedy


def test_all_recorded_runs_of_an_airline_are_read(data: Path) -> None:
    runs = read_transcripts(data / "tau_bench_airline/gpt-4o-airline.longest-per-task.jsonl")
    assert len(runs) == 50
    assert all(run[0].role == "system" and isinstance(run[1], Message) for run in runs)
    assert round(sum(map(len, runs)) / 50) == 34

"""Data sets are recognised by content, in files and in folders; what can't be read is refused in words."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness_nb import read_transcript
from harness_nb.errors import ConfigError, TranscriptError
from harness_nb.lab.datasets import load, load_all
from tests.lab.datasets.samples import BEAM_CHAT, BEAM_QUESTIONS, LOCOMO, LONGMEMEVAL, TAU, write_beam
from tests.lab.files import OPENAI, write_document, write_lines

FILES: dict[str, list[Any]] = {"LoCoMo": LOCOMO, "LongMemEval": LONGMEMEVAL, "τ-bench": TAU}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("write", [write_document, write_lines])
def test_a_data_set_is_recognised_by_its_content(tmp_path: Path, name: str, write: Any) -> None:
    write(tmp_path / "x.json", FILES[name])
    assert load(tmp_path / "x.json").name == name
    assert load(tmp_path).name == name  # the folder with the one file


@pytest.mark.parametrize(("name", "conversation"), [("LoCoMo", "conv-99"), ("LongMemEval", "q1"), ("τ-bench", 1)])
def test_a_transcript_is_read_from_a_data_set_by_name_or_number(
    tmp_path: Path, name: str, conversation: str | int
) -> None:
    path = write_document(tmp_path / "x.json", FILES[name])
    dataset = load(path)
    assert read_transcript(path, conversation=conversation)[:] == dataset[conversation].transcript[:]
    with pytest.raises(TranscriptError, match=f"or a name such as '{dataset[-1].name}'"):
        read_transcript(path)
    with pytest.raises(TranscriptError, match="has no conversation 'nobody'"):
        read_transcript(path, conversation="nobody")


def test_a_chat_of_beam_is_a_transcript(tmp_path: Path) -> None:
    write_beam(tmp_path, "2")
    assert read_transcript(tmp_path / "2" / "chat.json")[:] == load(tmp_path)["2"].transcript[:]


def test_all_data_sets_below_a_folder_are_found(tmp_path: Path) -> None:
    write_beam(tmp_path / "beam", "1")
    for name, values in FILES.items():
        (tmp_path / name).mkdir()
        write_document(tmp_path / name / "x.json", values)
    (tmp_path / "others").mkdir()
    write_lines(tmp_path / "others" / "chat.jsonl", OPENAI)
    assert [one.name for one in load_all(tmp_path)] == ["LoCoMo", "LongMemEval", "BEAM", "τ-bench"]
    assert [one.name for one in load_all(tmp_path / "beam" / "1")] == ["BEAM"]
    assert load_all(tmp_path / "others") == ()


def test_what_is_no_data_set_or_several_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="holds no data sets known here"):
        load(write_lines(tmp_path / "chat.jsonl", OPENAI))
    with pytest.raises(TranscriptError, match="There is nothing at"):
        load(tmp_path / "missing.json")
    with pytest.raises(TranscriptError, match="There is nothing at"):
        load_all(tmp_path / "missing")
    write_document(tmp_path / "a.json", LOCOMO)
    write_document(tmp_path / "b.json", TAU)
    with pytest.raises(TranscriptError, match="holds 2 data sets"):
        load(tmp_path)


def test_a_record_that_is_not_as_its_format_says_is_refused_with_the_source(tmp_path: Path) -> None:
    broken = [{**LOCOMO[0], "qa": [{"question": "Who?"}]}]
    with pytest.raises(
        TranscriptError, match="looks like LoCoMo, but a record of it is not as its format says"
    ) as caught:
        load(write_document(tmp_path / "x.json", broken))
    assert "snap-research" in str(caught.value)


def test_a_spoilt_line_is_counted(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "x.jsonl", TAU)
    path.write_bytes(path.read_bytes() + b'{"task_id": 9, "tr')
    assert [(one.what, one.count) for one in load(path).report][-1] == ("lines that can't be read, skipped", 1)


def test_licence_source_and_counts_are_shown(tmp_path: Path) -> None:
    dataset = load(write_document(tmp_path / "x.json", LOCOMO))
    assert repr(dataset) == "Dataset('LoCoMo', 2 conversations, 5 questions)"
    text = str(dataset)
    assert "licence CC BY-NC 4.0" in text and "no commercial use" in text and "arXiv 2402.17753" in text
    assert "dates without a session, passed over" in text
    assert "CC BY-NC 4.0" in dataset._repr_mimebundle_()["text/html"]
    assert list(dataset.df["questions"]) == [5, 0]


def test_an_unknown_conversation_is_refused_with_names(tmp_path: Path) -> None:
    dataset = load(write_document(tmp_path / "x.json", LOCOMO))
    assert (
        dataset[0] is dataset["conv-26"] and dataset[:1] == (dataset[0],) and dataset.transcripts[1].name == "conv-99"
    )
    with pytest.raises(ConfigError, match="Its first are conv-26, conv-99"):
        dataset["conv-27"]


def test_shuffled_sessions_stay_whole_and_questions_follow_their_messages(tmp_path: Path) -> None:
    chat = load(write_document(tmp_path / "x.json", LOCOMO))["conv-26"]
    orders = {chat.shuffled(seed).transcript[0].text for seed in range(8)}
    assert orders == {chat.transcript[0].text, chat.transcript[3].text}
    for seed in range(8):
        other = chat.shuffled(seed)
        assert other == chat.shuffled(seed)
        assert sorted(map(len, other.sessions)) == [2, 3]
        for question, moved in zip(chat.questions, other.questions, strict=True):
            said = {chat.transcript[index].text for index in question.evidence}
            assert {other.transcript[index].text for index in moved.evidence} == said


def test_groups_of_evidence_follow_their_messages(tmp_path: Path) -> None:
    chat = load(write_beam(tmp_path, "1"))["1"]
    other = next(one for seed in range(8) if (one := chat.shuffled(seed)).starts != chat.starts)
    assert other.questions[1].groups == {"original_info": (4,), "updated_info": (2,)}
    assert json.dumps(other.questions[1].evidence) == "[2, 4]"


def spoilt(value: Any, wrong: Any) -> Iterator[Any]:
    """Copies of a JSON value, in each of which one part is something else."""
    yield wrong
    if isinstance(value, dict | list):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            for part in spoilt(value[key], wrong):
                copy: Any = dict(value) if isinstance(value, dict) else list(value)
                copy[key] = part
                yield copy


@pytest.mark.parametrize("wrong", [None, 7, [], "x"], ids=repr)
@pytest.mark.parametrize("name", [*FILES, "BEAM"])
def test_a_file_with_anything_wrong_is_read_or_refused_in_words(tmp_path: Path, name: str, wrong: Any) -> None:
    whole = {**FILES, "BEAM": [BEAM_CHAT]}[name]
    path = tmp_path / "chat.json"
    (tmp_path / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS), encoding="utf-8")
    for broken in spoilt(whole[0], wrong):
        path.write_text(json.dumps(broken if name == "BEAM" else [broken]), encoding="utf-8")
        for read in (lambda: load(path), lambda: read_transcript(path, conversation=0)):
            with contextlib.suppress(TranscriptError):
                read()

"""What is found at paths: data sets, recorded sessions, and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness_nb import Message, Transcript
from harness_nb.errors import ConfigError, TranscriptError
from harness_nb.lab.datasets import load
from harness_nb.lab.leaderboard.sources import sources
from tests.lab.conformance.recordings import as_lines, case
from tests.lab.datasets.samples import LOCOMO, TAU, write_beam
from tests.lab.files import OPENAI, PI, write_document, write_lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("locomo", "tau", "pi", "recordings"):
        (tmp_path / name).mkdir()
    write_document(tmp_path / "locomo" / "x.json", LOCOMO)
    write_lines(tmp_path / "tau" / "runs.jsonl", TAU)
    write_lines(tmp_path / "pi" / "one.jsonl", PI)
    write_lines(tmp_path / "pi" / "two.jsonl", OPENAI)
    (tmp_path / "pi" / "README.md").write_text("Notes.", encoding="utf-8")
    (tmp_path / "pi" / "other.json").write_text("{}", encoding="utf-8")
    (tmp_path / "recordings" / "eney.jsonl").write_text(as_lines(case()), encoding="utf-8")
    write_beam(tmp_path / "beam", "1")
    return tmp_path


def test_data_sets_and_sessions_are_found_in_a_folder_and_right_below(folder: Path) -> None:
    found = {one.name: one for one in sources([folder])}
    assert list(found) == ["BEAM", "LoCoMo", "pi", "τ-bench"]
    assert [one.name for one in found["pi"].conversations] == ["one.jsonl", "two.jsonl"]
    assert [one.is_labelled for one in found.values()] == [True, True, False, True]
    assert (found["LoCoMo"].licence, found["pi"].licence) == ("CC BY-NC 4.0", "")


def test_every_file_that_was_read_is_named_with_its_hash(folder: Path) -> None:
    found = {one.name: dict(one.files) for one in sources([folder])}
    data = (folder / "pi" / "one.jsonl").read_bytes()
    assert found["pi"]["one.jsonl"] == hashlib.sha256(data).hexdigest()
    assert sorted(found["BEAM"]) == ["1/chat.json", "1/probing_questions.json"]


def test_a_file_of_a_conversation_a_data_set_and_a_transcript_will_do(folder: Path) -> None:
    said = Transcript([Message.user("Hello."), Message.assistant("Hello.")], name="mine")
    found = sources([folder / "pi" / "one.jsonl", load(folder / "tau"), said])
    assert [(one.name, len(one.conversations)) for one in found] == [("one.jsonl", 1), ("τ-bench", 2), ("sessions", 1)]


def test_a_place_without_any_is_refused(folder: Path) -> None:
    with pytest.raises(TranscriptError, match="No data set and no conversation was found in"):
        sources([folder / "recordings"])
    with pytest.raises(TranscriptError, match="nowhere"):
        sources([folder / "nowhere"])
    with pytest.raises(TranscriptError, match="no known format"):
        sources([folder / "pi" / "other.json"])


def test_two_sources_of_one_name_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match="Two sources are called 'LoCoMo'"):
        sources([folder / "locomo", folder / "locomo"])


def test_a_conversation_of_ones_own_may_be_called_as_the_chats_of_beam_are(tmp_path: Path) -> None:
    write_lines(tmp_path / "chat.json", OPENAI)
    write_lines(tmp_path / "other.jsonl", OPENAI)
    (one,), (both,) = sources([tmp_path / "chat.json"]), sources([tmp_path])
    assert [conversation.name for conversation in one.conversations] == ["chat.json"]
    assert [conversation.name for conversation in both.conversations] == ["chat.json", "other.jsonl"]

"""Metrics of replays from a conversation's labels, in scores and sweeps, here and in other processes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from harness_nb import replay
from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.lab.datasets import Conversation, load
from harness_nb.lab.evidence import evidence_metrics, survival
from harness_nb.lab.score import score
from tests.lab.datasets.samples import LOCOMO, TAU, write_beam
from tests.lab.files import write_document, write_lines


@pytest.fixture
def chat(tmp_path: Path) -> Conversation:
    return load(write_document(tmp_path / "x.json", LOCOMO))["conv-26"]


def test_a_replay_that_cuts_nothing_keeps_all_evidence_verbatim(chat: Conversation) -> None:
    run = replay(chat.transcript, model=None)
    assert survival(run, chat).verbatim == 1.0
    values = {metric.name: metric(run) for metric in evidence_metrics(chat)}
    assert values["evidence_verbatim"] == values["reachable_at_10"] == values["all_reachable_at_10"] == 1.0
    assert values["evidence_gone"] == values["evidence_search"] == 0.0


def test_the_five_shares_add_up_to_one_under_a_policy_that_cuts(chat: Conversation) -> None:
    fillers = (make(f"Filler {n}. " * 200) for n in range(20) for make in (Message.user, Message.assistant))
    said = Transcript([*chat.transcript, *fillers])
    long = Conversation(name="long", transcript=said, questions=chat.questions)
    run = replay(said, "harness", window=4_000, model="offline")
    assert run.compactions
    shares = [metric(run) for metric in evidence_metrics(long)[:5]]
    assert sum(share or 0 for share in shares) == pytest.approx(1)
    assert (shares[0] or 0) < 1


def test_labels_decide_which_metrics_there_are(chat: Conversation, tmp_path: Path) -> None:
    names = [metric.name for metric in evidence_metrics(chat, k=3)]
    assert names[-3:] == ["evidence_graded", "reachable_at_3", "all_reachable_at_3"]
    beam = load(write_beam(tmp_path / "beam", "1"))[0]
    assert evidence_metrics(beam)[-1].name == "stale_shown"
    run, chatting = load(write_lines(tmp_path / "runs.jsonl", TAU))
    assert [metric.name for metric in evidence_metrics(run)] == ["gold_arguments"]
    assert evidence_metrics(run)[0](replay(run.transcript, model=None)) == 1.0
    assert evidence_metrics(chatting) == ()


def test_a_replay_of_another_transcript_has_none_of_the_figures(chat: Conversation, tmp_path: Path) -> None:
    task = load(write_lines(tmp_path / "runs.jsonl", TAU))[0]
    other = replay(Transcript([Message.user("Hello.")]), model=None)
    assert {metric(other) for metric in (*evidence_metrics(chat), *evidence_metrics(task))} == {None}


def test_metrics_are_part_of_a_report_and_go_to_other_processes(chat: Conversation) -> None:
    run = replay(chat.transcript, model=None)
    metrics = evidence_metrics(chat)
    report = score(run, metrics=[*metrics, "tokens_sent"])
    assert report.scores[0].values["evidence_verbatim"] == 1.0
    sent = pickle.loads(pickle.dumps((metrics, run)))  # noqa: S301 - our own bytes
    assert [metric(sent[1]) for metric in sent[0]] == [metric(run) for metric in metrics]

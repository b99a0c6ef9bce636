"""Gold-argument survival on a run of seven messages, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness_nb import replay
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.lab.datasets import Conversation, load
from harness_nb.lab.gold import GoldArguments
from harness_nb.lab.step import Step
from tests.lab.datasets.samples import TAU
from tests.lab.files import write_lines


@pytest.fixture
def run(tmp_path: Path) -> Conversation:
    return load(write_lines(tmp_path / "runs.jsonl", TAU))[0]


def sent(run: Conversation, *shown: int) -> list[tuple[Step, list[Item]]]:
    """The run's three requests, each with some of the messages that were said by then."""
    steps = [step for step, _ in replay(run.transcript, model=None).contexts()]
    return [(step, [Item(i, run.transcript[i]) for i in shown if i < step.index]) for step in steps]


def test_all_values_are_there_where_nothing_is_cut(run: Conversation) -> None:
    assert GoldArguments(run).survival(sent(run, *range(7))) == 1.0


def test_values_count_while_their_call_is_not_made_and_once_they_were_said(run: Conversation) -> None:
    # message 1 says ZX99QA, mia_li and HAT1; `economy` stands in the system prompt and 2 is a number: both left out.
    # request 1 needs all three; requests 2 and 3, after the right call to cancel, need mia_li and HAT1: 7 in all.
    # the last message of the user says HAT1 again, so that without message 1 only request 3 has it: 1 of 7.
    assert GoldArguments(run).survival(sent(run, 5)) == pytest.approx(1 / 7)
    assert GoldArguments(run).survival(sent(run, 1)) == 1.0


def test_a_value_is_found_as_a_whole_word_only(run: Conversation) -> None:
    longer = Item(None, Message.user("ZX99QAB and HAT12, mia_li_2", origin="harness"), "note")
    contexts = [(step, [longer]) for step, _ in sent(run)]
    assert GoldArguments(run).survival(contexts) == 0.0


def test_a_changed_message_counts_with_what_it_shows(run: Conversation) -> None:
    cut = Item(1, replace(run.transcript[1], content="Cancel booking ZX99QA …"), "truncated")
    contexts = [(step, [cut]) for step, _ in sent(run)]
    assert GoldArguments(run).survival(contexts) == pytest.approx(1 / 7)


def test_a_task_without_calls_has_no_figure(run: Conversation) -> None:
    assert GoldArguments(replace(run, actions=())).survival(sent(run, 1)) is None

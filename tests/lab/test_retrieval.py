"""Ranking metrics on cases worked out by hand, and a search over a small conversation."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.datasets import Conversation, Question, load
from harness_nb.lab.retrieval import (
    all_at,
    hit_at,
    log_line,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    retrieval,
    searchable,
)

NOON = datetime(2023, 5, 8, 12, 0, tzinfo=UTC)
CHAT = Conversation(
    name="chat",
    transcript=Transcript(
        [
            Message.user("I keep bees behind the barn.", name="Ann", time=NOON),
            Message.assistant("How lovely!", name="Bob", time=NOON),
            Message.user("The barn burned down in March.", name="Ann", time=NOON),
            Message.assistant("Oh no.\nAnd the bees?", name="Bob", time=NOON),
        ]
    ),
    questions=(
        Question(id="1", text="Where are the bees?", category="single", evidence=(0,)),
        Question(id="2", text="What happened to the barn?", category="multi", evidence=(0, 2)),
        Question(id="3", text="Who called?", category="single"),
    ),
)


def test_recall_hit_and_all_differ_on_the_same_ranking() -> None:
    ranked, relevant = (7, 3, 9, 4, 1), {3, 4, 8}
    # among the first two only 3 is relevant; among the first four 3 and 4; 8 is nowhere
    assert [recall_at(ranked, relevant, k) for k in (1, 2, 4, 5)] == [0, 1 / 3, 2 / 3, 2 / 3]
    assert [hit_at(ranked, relevant, k) for k in (1, 2, 4)] == [0, 1, 1]
    assert [all_at(ranked, relevant, k) for k in (2, 5)] == [0, 0]
    assert all_at(ranked, {3, 4}, 4) == 1


def test_the_reciprocal_rank_is_that_of_the_first_relevant_hit() -> None:
    assert reciprocal_rank((7, 3, 9, 4), {3, 4}) == 1 / 2
    assert reciprocal_rank((7, 9), {3}) == 0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    # relevant at ranks 2 and 4: 1/log2(3) + 1/log2(5); the best order has them at ranks 1 and 2: 1 + 1/log2(3)
    gained = 1 / math.log2(3) + 1 / math.log2(5)
    best = 1 + 1 / math.log2(3)
    assert ndcg_at((7, 3, 9, 4), {3, 4}, 4) == pytest.approx(gained / best)
    assert ndcg_at((3, 4), {3, 4}, 4) == 1
    assert ndcg_at((7, 3, 9, 4), {3, 4}, 1) == 0
    assert ndcg_at((3,), {3, 4}, 1) == 1  # with one hit the best order has one


def test_a_line_says_when_who_and_what_in_one_line() -> None:
    assert log_line(CHAT.transcript[3]) == "12:00 pm on 8 May, 2023 Bob: Oh no. And the bees?"
    assert log_line(Message.assistant("Hi", time=datetime(2024, 1, 2, tzinfo=UTC))) == "2 January, 2024 assistant: Hi"
    assert (
        log_line(Message.user("Hi", time=datetime(2024, 1, 2, 0, 5, tzinfo=UTC)))
        == "12:05 am on 2 January, 2024 user: Hi"
    )
    assert log_line(Message.user("Hi")) == "user: Hi"


@pytest.mark.parametrize("time", [NOON, None])
def test_a_search_finds_messages_by_their_index_with_a_day_and_without(time: datetime | None) -> None:
    said = Transcript([Message.user("The owl sleeps.", time=time), Message.assistant("Good night.", time=time)])
    with searchable(Conversation(name="owl", transcript=said)) as search:
        assert search("owl", 10) == (0,)
        assert search("nothing like it", 10) == ()


def test_questions_with_evidence_are_searched_for_in_their_conversation() -> None:
    found = retrieval(CHAT, ks=(1, 2))
    assert [one.question.id for one in found.found] == ["1", "2"]
    assert found.left_out == 1
    assert found.recall(2) == pytest.approx(sum(recall_at(one.ranked, one.relevant, 2) for one in found.found) / 2)
    assert found.of_category("multi").all(2) == 1
    assert found.tokens(1) > 0
    assert found.mrr == 3 / 4  # the bees come back in the last message, which is found before the first: 1/2, and 1


def test_figures_are_a_frame_and_a_card_by_category() -> None:
    found = retrieval([CHAT], ks=(1, 2), neighbours=1)
    assert list(found.df["category"]) == ["all", "all", "single", "single", "multi", "multi"]
    assert "2 questions · neighbours=1 · 1 question without evidence left out" in str(found)


def test_without_evidence_there_is_nothing_to_measure() -> None:
    with pytest.raises(ConfigError, match="no question with evidence"):
        retrieval(Conversation(name="x", transcript=CHAT.transcript))


def test_the_search_is_above_the_floors_on_the_chats_of_the_tuning_split(data: Path) -> None:
    found = retrieval(load(data / "locomo").split("tuning"))
    assert [found.recall(k) >= floor for k, floor in zip((5, 10, 25, 50), (0.57, 0.65, 0.72, 0.78), strict=True)] == [
        True
    ] * 4

from __future__ import annotations

from typing import Any

from harness_nb.core.messages import Image, Message, Text
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.policies.picoclaw.config import SeahorseConfig
from harness_nb.policies.picoclaw.tree import Chunk
from harness_nb.policies.picoclaw.writing import Written, condensed, leaf, readable, shown_nodes
from tests.policies.picoclaw.talks import BROKEN, call, chat, items, result
from tests.policies.picoclaw.test_tree import node

LONG = Reply("too long; " * 700)


class Asked:
    """Answers in turn, and keeps what it was asked."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = replies
        self.asks: list[Ask] = []

    def __call__(self, ask: Ask) -> Reply:
        self.asks.append(ask)
        return self.replies[min(len(self.asks), len(self.replies)) - 1]


def a_leaf(answers: Asked, tokens: int = 2_240, text: str = "q", **settings: Any) -> Written | Failure:
    piece = Chunk(0, items([Message.user(text)] * 8), ())
    return leaf(piece, SeahorseConfig(**settings), tokens, answers)


def test_a_leaf_is_asked_for_at_a_third_of_its_sources() -> None:
    answers = Asked(Reply("short"))
    assert a_leaf(answers) == Written(text="short", tokens=6, level=1)
    assert "Aim at about 784 tokens" in answers.asks[0].messages[0].text
    assert (answers.asks[0].max_tokens, answers.asks[0].shown) == (2_400, tuple(range(8)))


def test_one_that_is_too_long_is_asked_for_again_and_shorter() -> None:
    answers = Asked(LONG, Reply("short"))
    found = a_leaf(answers)
    assert isinstance(found, Written) and found.level == 2
    assert "Aim at about 448 tokens" in answers.asks[1].messages[0].text and answers.asks[1].max_tokens == 896


def test_an_empty_reply_is_asked_for_once_more() -> None:
    answers = Asked(Reply(""), Reply("short"))
    assert isinstance(a_leaf(answers), Written)
    assert [(one.purpose, one.nth) for one in answers.asks] == [("leaf1", 0), ("leaf1", 1)]


def test_at_last_the_sources_are_cut_without_a_model() -> None:
    for answers, asks in ((Asked(LONG), 2), (Asked(Reply("")), 4)):
        found = a_leaf(answers, text="q" * 700)
        assert isinstance(found, Written) and (found.level, len(answers.asks)) == (3, asks)
        assert found.text.startswith("q" * 700) and found.text.endswith("from 8 messages]")
        assert found.tokens == (2_048 + 28 + 12) * 2 // 5
    answers = Asked()
    assert isinstance(a_leaf(answers, uses_model=False), Written) and not answers.asks


def test_a_cut_through_a_character_leaves_valid_text() -> None:
    found = a_leaf(Asked(), text="问" * 700, uses_model=False)
    assert isinstance(found, Written)
    found.text.encode()
    assert found.tokens == (682 + 2 + 28 + 12) * 2 // 5


def test_an_error_ends_a_leaf() -> None:
    assert isinstance(a_leaf(Asked(BROKEN)), Failure)


def test_a_condensed_node_may_be_of_any_length() -> None:
    answers = Asked(LONG)
    found = condensed([node(1), node(2)], SeahorseConfig(), answers)
    assert isinstance(found, Written) and found.level == 1
    assert shown_nodes(answers.asks[0]) == ["s1", "s2"]
    assert "Aim at about 70 tokens" in answers.asks[0].messages[0].text


def test_one_that_stays_empty_is_cut_from_its_sources() -> None:
    answers = Asked(Reply(""))
    found = condensed([node(1), node(2)], SeahorseConfig(), answers)
    assert isinstance(found, Written) and found.level == 3
    assert [(one.purpose, one.nth) for one in answers.asks] == [("condensed1", 0), ("condensed1", 1), ("condensed2", 0)]
    assert found.text.startswith("text 1\ntext 2") and found.text.endswith("from 2 summaries]")
    assert isinstance(condensed([node(1)], SeahorseConfig(), Asked(BROKEN)), Failure)


def test_of_messages_with_calls_results_or_pictures_the_parts_are_kept() -> None:
    assert readable(call("c")) == '[the call: grep, with: {"q": "x"}]'
    assert readable(result("c")) == "[the result from c: found]"
    assert readable(Message.user((Text("look"), Image("data:,", "{}")))) == "look\n[a picture]"
    assert readable(chat(1)[0]) == chat(1)[0].text

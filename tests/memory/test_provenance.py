from __future__ import annotations

from harness_nb.core.messages import Message
from harness_nb.memory.provenance import Source, source_of

MESSAGES = [
    (4, Message.user("My lab uses   Python 3.11. Do you?")),
    (5, Message.assistant("I do not.")),
    (6, Message.tool("c", "Python 3.11 is out")),
]


def test_messages_that_the_model_named_are_the_source() -> None:
    assert source_of("whatever", (4, 5), MESSAGES) == Source((4, 5), "")
    assert source_of("whatever", (6,), MESSAGES) == Source((6, 6), "tool")


def test_a_fact_in_the_words_of_a_message_comes_from_it() -> None:
    assert source_of("User: my lab uses Python 3.11.", (), MESSAGES) == Source((4, 4), "user")


def test_any_other_fact_comes_from_all_that_was_read() -> None:
    assert source_of("The lab is in Bonn", (), MESSAGES) == Source((4, 6), "")
    assert source_of("", (), MESSAGES) == Source((4, 6), "")

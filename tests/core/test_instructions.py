from __future__ import annotations

import pytest
from hypothesis import given

from harness_nb.core.instructions import MOST_CHARS, MOST_SENTENCES, forbids, standing_instructions
from tests.strategies import texts


@pytest.mark.parametrize(
    "text",
    [
        "Always answer in German.",
        "never touch prod",
        "Don't use emojis",
        "Do not ever push without asking.",
        "You must not commit to main.",
        "All code must be typed.",
        "From now on use tabs.",
        "From  now\ton use tabs.",
        "Going forward, keep replies short.",
        "In future answers, name your source.",
        "By the way, please always answer in metric units, thanks.",
        "I hate tabs, never use them.",
        "Use tabs and never use spaces.",
        "Make sure to always include tests.",
        "I want you to always run the tests first.",
        "When you write SQL, always use parameters.",
        "Could you please always show the units?",
        "Whenever I ask for SQL, use CTEs.",
        "Cite a source whenever you give a figure.",
        "Every time you change a file, run the tests.",
        "If a test fails, stop and tell me.",
        "When any step takes longer than a minute, then report it.",
        "Before you answer, look the figure up.",
        "When you name a library, link its page.",
        "When I ask about dates, use the ISO form.",
        "Close every answer with a question.",
        "Use the formal form of address in your replies.",
        "Answer with tables only.",
    ],
)
def test_a_standing_instruction_is_recognised_word_for_word(text: str) -> None:
    assert standing_instructions(text) == (text,)
    assert standing_instructions(f"Hello there! {text}\nWhat is next?") == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I never tried it.",
        "I've never written any Flask.",
        "It always fails and never stops.",
        "I started, never finished.",
        "It was fast, never failed, never lied.",
        "Things are fast and don't break.",
        "Every time I run it, it fails.",
        "How do I ensure it always returns a list?",
        "Why does it always crash?",
        "Don't worry about it. Never mind. I don't know.",
        "The server must be down.",
        "If a user logs in, sessions are stored and the page is shown.",
        "If a request fails, Django returns an error.",
        "When you get a chance, have a look at the log.",
        "Thanks for every answer so far.",
        "Which rule: the first or the second?",
        "He told me to always try.",
        "I should always check first?",
        "> Always wash your hands.",
        "    always_run = True",
        "```\nAlways indent.\n```",
        "~~~\nNever indent.",
    ],
)
def test_what_somebody_tells_asks_or_quotes_is_none(text: str) -> None:
    assert standing_instructions(text) == ()


@pytest.mark.parametrize(
    "text", ["Never push.", "Don't push.", "If a test fails, stop.", "Delete nothing without my approval."]
)
def test_what_forbids_is_told_from_what_asks(text: str) -> None:
    assert forbids(text) and not forbids("Always answer in German, nothing else.")


def test_a_line_that_is_labelled_as_a_rule_is_taken_whole() -> None:
    text = "The code is old.\nHard requirement: only open licences. No copies of foreign files.\nRules:\nnone yet"
    assert standing_instructions(text) == ("Hard requirement: only open licences. No copies of foreign files.",)


def test_an_order_that_leans_on_the_sentence_before_is_taken_with_it() -> None:
    limit = "The limit for uploads is 20 MB. Don't exceed it."
    assert standing_instructions(f"Hello! {limit} Thanks.") == (limit,)
    assert standing_instructions("We met in May. Never rename files.") == ("Never rename files.",)
    assert standing_instructions("We met.\nNever do that.") == ("Never do that.",)
    long = f"It {'was said ' * 40}long ago. Never do that."
    assert standing_instructions(long) == ("Never do that.",)


def test_what_only_says_how_long_is_taken_with_what_follows() -> None:
    both = "For the rest of this chat. Metric units."
    assert standing_instructions(f"Hello. {both} Where is it?") == (both,)
    assert standing_instructions("From now on.") == ()


def test_marks_of_lists_are_left_out_and_an_abbreviation_ends_no_sentence() -> None:
    text = "Rules:\n- Never delete files.\n2. Always name units, e.g. km or miles. then go on.\n- Never delete files."
    assert standing_instructions(text) == ("Never delete files.", "Always name units, e.g. km or miles.")


def test_of_a_long_sentence_the_part_from_the_instruction_on_is_taken_and_of_a_document_the_first_few() -> None:
    long = f"{'we talked about this and that and ' * 20}, so from now on use tabs {'and more and more ' * 30}"
    (found,) = standing_instructions(long)
    assert found.startswith("from now on use tabs") and len(found) <= MOST_CHARS and found in long
    rules = "\n".join(f"Always do number {at}." for at in range(40))
    assert len(standing_instructions(rules)) == MOST_SENTENCES


@given(texts(400))
def test_whatever_is_found_stands_in_the_text_word_for_word(text: str) -> None:
    said = f"{text} always use {text}. Never do {text}\n{text}"
    assert all(found in said and found.strip() for found in standing_instructions(said))

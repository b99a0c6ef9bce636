from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core.tokens import CharsCounter
from harness_nb.memory.outline import HAND_ENDS, HAND_STARTS, entries, hand_written
from harness_nb.memory.rewriting import capped, generated, rewritten

COUNTER = CharsCounter()
HAND = f"{HAND_STARTS}\nMine: **never** touch prod.\n\n- and no  reformatting\n{HAND_ENDS}\n"


def made(reply: str, before: str, cap: int = 4_000) -> str:
    return rewritten(reply, before, cap, COUNTER).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{HAND}\n## A\n\n- a\n", f"{HAND}\n## A\n\n- new\n\n## B\n\n- b\n"),
        (f"# M\n\n## A\n\n- a\n\n{HAND}\n## B\n\n- b\n", f"## A\n\n- new\n\n{HAND}\n## B\n\n- b\n"),
        (f"## Gone\n\n- a\n\n{HAND}", f"## A\n\n- new\n\n## B\n\n- b\n\n{HAND}"),
        (f"## A\n{HAND.rstrip()}", f"## A\n\n- new\n\n{HAND}\n## B\n\n- b\n"),
    ],
)
def test_a_hand_written_part_comes_back_word_for_word_where_it_stood(before: str, after: str) -> None:
    assert made("## A\n\n- new\n\n## B\n\n- b\n", before) == after


def test_several_hand_written_parts_keep_their_order() -> None:
    one, two = HAND.replace("Mine", "One"), HAND.replace("Mine", "Two")
    for before in (f"{one}{two}- a\n", f"## A\n- a\n{one}\n{two}", f"{one}\n## A\n- a\n{two}"):
        text = made("## A\n\n- new\n", before)
        assert [part.text for part in hand_written(text)] == [one, two]


def test_what_the_model_is_shown_has_no_hand_written_part() -> None:
    assert generated(f"- a\n\n{HAND}\n- b\n") == "- a\n\n\n- b"


def test_no_entry_stands_there_twice_nor_beside_its_hand_written_form() -> None:
    assert made("- a b\n- A  B\n- and no reformatting\n- c\n", HAND) == f"{HAND}\n- a b\n- c\n"


def test_above_the_cap_whole_entries_go_the_least_weighty_first() -> None:
    text = "## Facts\n\n- We decided to use Postgres 16 by 2026-05-01\n- hm\n\n## Rest\n\n- well then\n"
    found = capped(text, 17, COUNTER)
    assert found.text == "## Facts\n\n- We decided to use Postgres 16 by 2026-05-01\n"
    assert found.trimmed == ("- hm", "- well then")
    assert capped(text, 4_000, COUNTER) == (text, ())


@given(st.lists(st.text("ab \n#-12", max_size=40), max_size=12).map("\n- ".join), st.integers(1, 60), st.booleans())
def test_the_cap_holds_whatever_the_reply_and_the_hand_written_part_stays(reply: str, cap: int, has_hand: bool) -> None:
    before = HAND if has_hand else ""
    found = rewritten(reply, before, cap, COUNTER)
    assert [part.text for part in hand_written(found.text)] == [part.text for part in hand_written(before)]
    headings_alone = not entries(found.text)
    assert COUNTER.count_text(found.text) <= cap or headings_alone

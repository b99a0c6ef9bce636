from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.core import edits
from harness_nb.core.item import Item, ModelInput, covered
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.requests import Reply
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View
from tests.strategies import transcripts

MESSAGES = [Message.user(f"message {number}") for number in range(8)]
VIEW = View.of(Transcript(MESSAGES))
ACTIONS = ("keep", "drop", "truncate", "clear", "absorb")


def item(index: int) -> Item:
    return Item(index, MESSAGES[index])


def summary(*items: Item) -> Item:
    return edits.summary(Reply("what was said"), of=items)


def reworked(view: View, actions: list[str]) -> tuple[Item, ...]:
    """A new list in which each item met one of the actions; what is absorbed is summarised in front."""
    absorbed, made = [], []
    for one, action in zip(view.input, actions, strict=False):
        if action == "keep":
            made.append(one)
        elif action == "truncate":
            made.append(edits.truncated(one, 1, 1, "…"))
        elif action == "clear":
            made.append(edits.cleared(one))
        elif action == "absorb":
            absorbed.append(one)
    return (summary(*absorbed), *made) if absorbed else tuple(made)


@given(transcripts(1), st.lists(st.sampled_from(ACTIONS), max_size=40))
def test_every_message_has_exactly_one_fate(transcript: Transcript, actions: list[str]) -> None:
    view = View.of(transcript)
    plan = view.becomes(reworked(view, actions), "reworked")

    fates = plan.fates(view)

    assert [one.index for one in fates] == sorted({*covered(view.input), *covered(plan.items(view))})
    for one in fates:
        assert (one.position is None) is (one.fate == "gone")
        if one.position is not None:
            assert one.index in plan.items(view)[one.position].indices


@given(transcripts(1), st.lists(st.sampled_from(ACTIONS), max_size=40))
def test_what_leaves_is_what_was_shown_word_for_word_and_no_longer_is(
    transcript: Transcript, actions: list[str]
) -> None:
    view = View.of(transcript)
    plan = view.becomes(reworked(view, actions), "reworked")

    kept = {one.index for one in plan.fates(view) if one.fate == "kept"}

    assert set(plan.leaving(view)) == {one.index for one in view.input if one.index is not None} - kept


def test_a_plan_without_a_list_leaves_all_as_it_is() -> None:
    plan = VIEW.unchanged("quiet")

    assert plan.items(VIEW) == VIEW.input[:]
    assert plan.leaving(VIEW) == ()
    assert {(one.fate, one.how, one.position == one.index) for one in plan.fates(VIEW)} == {("kept", "", True)}


def test_fates_name_the_edit_and_the_place() -> None:
    old = [item(0), item(1), item(2)]
    plan = VIEW.becomes([summary(*old), edits.cleared(item(3)), edits.merged(item(5), "S", of=[item(4)]), item(7)], "x")

    found = {one.index: (one.fate, one.how, one.position) for one in plan.fates(VIEW)}

    assert found == {
        0: ("stood for", "summary", 0), 1: ("stood for", "summary", 0), 2: ("stood for", "summary", 0),
        3: ("changed", "cleared", 1), 4: ("stood for", "merged", 2), 5: ("changed", "merged", 2),
        6: ("gone", "", None), 7: ("kept", "", 3),
    }  # fmt: skip
    assert plan.leaving(VIEW) == (0, 1, 2, 3, 4, 5, 6)


def test_a_message_that_a_summary_stood_for_can_come_back() -> None:
    view = View.of(Transcript(MESSAGES))
    now = view.after(view.becomes([summary(item(0), item(1)), item(7)], "shorter"))

    plan = now.becomes([item(1), item(7)], "one came back")

    assert [(one.index, one.fate) for one in plan.fates(now)] == [(0, "gone"), (1, "back"), (7, "kept")]
    assert plan.leaving(now) == ()


def test_a_message_that_was_gone_for_good_is_not_spoken_of() -> None:
    now = VIEW.after(VIEW.becomes([item(6), item(7)], "elided"))

    assert [one.index for one in now.unchanged("quiet").fates(now)] == [6, 7]


@pytest.mark.parametrize(("value", "fired"), [(9, False), (10, True), (11, True)])
def test_a_trigger_fires_at_its_threshold(value: int, fired: bool) -> None:
    assert Trigger(name="trigger_messages", value=value, threshold=10, unit="messages").fired is fired


def test_the_share_of_the_window_may_exceed_one() -> None:
    assert Pressure(tokens=150, window=100).share == 1.5


def test_an_empty_list_is_a_change() -> None:
    assert Plan(input=()).changes
    assert not Plan().changes
    assert Plan(input=()).items(VIEW) == ()
    assert len(ModelInput()) == 0

from __future__ import annotations

from typing import Any

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.policies.opencode.session import completed, read, stored
from tests.policies.opencode.talks import policy, talk


def session(turns: int, *earlier: dict[str, Any]) -> list[Item]:
    """Turns with compactions among them, written behind the turn that they name."""
    acting = policy()
    items: list[Item] = []
    for at in range(turns):
        items += [Item(len(items) + extra, message) for extra, message in enumerate(talk(1))]
        for one in (one for one in earlier if one["after"] == at):
            marker = Item(len(items), Message.user("so far?"))
            items.append(acting.marked(marker, tail_start=one.get("tail"), state=one.get("state", "done")))
            items.append(acting.summarised(Item(len(items), Message.assistant("all of it"))))
    failed = {at + 1 for at, item in enumerate(items) if item.meta.get("state") in ("failed", "overflow")}
    return [item for at, item in enumerate(items) if at not in failed]


def indices(items: list[Item]) -> list[int | None]:
    return [item.index for item in policy().read(items)]


def test_without_a_compaction_all_is_read() -> None:
    assert indices(session(2)) == list(range(8))


def test_a_completed_marker_ends_the_reading() -> None:
    assert indices(session(3, {"after": 1})) == [8, 9, 10, 11, 12, 13]


def test_a_tail_is_read_behind_the_marker_and_its_summary() -> None:
    assert indices(session(3, {"after": 1, "tail": 4})) == [8, 9, 4, 5, 6, 7, 10, 11, 12, 13]


def test_a_tail_that_is_not_there_makes_all_be_read() -> None:
    assert indices(session(3, {"after": 1, "tail": 999})) == list(range(14))


def test_the_newest_tail_decides_and_brings_older_markers_back_that_lie_in_it() -> None:
    found = indices(session(5, {"after": 1, "tail": 4}, {"after": 3, "tail": 4}))
    assert found == [18, 19, *range(4, 18), *range(20, 24)]


def test_a_failed_summary_with_a_tail_takes_the_head_out_all_the_same() -> None:
    assert indices(session(3, {"after": 1, "tail": 4, "state": "failed"})) == [8, 4, 5, 6, 7, 10, 11, 12, 13]


def test_a_failed_summary_without_a_tail_takes_nothing_out() -> None:
    assert indices(session(3, {"after": 1, "state": "overflow"})) == [*range(9), *range(10, 14)]


def test_a_summary_that_answers_no_marker_cuts_nothing() -> None:
    items = session(2)
    apart = Item(None, Message.assistant("made up for"), "summary", (), {"opencode": "summary", "apart": True})
    assert indices([*items, apart]) == [*range(8), None]


def test_results_belong_to_the_step_of_their_call() -> None:
    assert [len(step.items) for step in stored(session(1))] == [1, 2, 1]


def test_steps_are_told_in_the_order_of_writing_whatever_the_order_of_the_list() -> None:
    items = session(3, {"after": 1, "tail": 4})
    places = [step.place for step in stored(policy().read(items))]
    assert places == sorted(places)
    assert policy().read(policy().read(items)) == policy().read(items)


def test_completed_compactions_are_pairs() -> None:
    steps = stored(session(4, {"after": 0}, {"after": 1, "state": "failed"}, {"after": 2}))
    assert [(marker.first.index, summary.first.index) for marker, summary in completed(steps)] == [(4, 5), (16, 17)]
    assert [step.first.index for step in read(steps)] == [16, 17, 18, 19, 21]


def test_an_item_that_says_nothing_of_its_place_stands_with_the_one_before_it() -> None:
    note = Item(None, Message.user("a note", origin="harness"), "note")
    items = session(1)
    assert [step.first for step in stored([items[0], note, *items[1:]])][1] is note

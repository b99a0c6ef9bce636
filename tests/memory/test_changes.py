from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness_nb.memory.changes import differences, lost_share, with_changes
from harness_nb.memory.outline import entries

BEFORE = """\
# Memory

Intro by hand.

## Facts

- default solver: RK45
- the cluster has 48 nodes
- mice are kept in room 12

## People

- Zoe runs the lab
"""


def kinds(before: str, after: str) -> list[tuple[str, str, str]]:
    return [(change.kind, change.before, change.after) for change in differences(before, after)]


def test_each_entry_that_is_not_as_it_was_is_a_change() -> None:
    after = BEFORE.replace("RK45", "DOP853").replace("- mice are kept in room 12\n", "- budget: 4 kEUR\n")
    assert kinds(BEFORE, after) == [
        ("changed", "- default solver: RK45", "- default solver: DOP853"),
        ("added", "", "- budget: 4 kEUR"),
        ("removed", "- mice are kept in room 12", ""),
    ]
    assert [change.number for change in differences(BEFORE, after)] == [1, 2, 3]


def test_an_entry_below_another_heading_is_moved() -> None:
    (change,) = differences(BEFORE, BEFORE.replace("## People", "## Team"))
    assert (change.kind, change.heading, change.after) == ("moved", "Team", "- Zoe runs the lab")


def test_other_marks_and_order_are_no_change() -> None:
    after = BEFORE.replace("- the", "*  The").replace("- default solver: RK45\n", "").replace(
        "## Facts\n\n", "## FACTS\n\n- default solver: RK45\n"
    )  # fmt: skip
    assert differences(BEFORE, after) == ()


def test_of_equal_entries_one_counts() -> None:
    assert kinds("- a\n- a\n- a\n", "- a\n") == []


def test_an_entry_is_lost_when_no_other_says_it() -> None:
    before = "- the cluster has 48 nodes\n- the cluster stands in Lyon\n- Zoe likes tea\n"
    after = "- the cluster with 48 nodes stands in Lyon\n"
    changes = differences(before, after)
    assert [(change.before, change.is_lost) for change in changes if change.kind == "removed"] == [
        ("- the cluster stands in Lyon", False), ("- Zoe likes tea", True),
    ]  # fmt: skip
    assert lost_share(before, changes) == 1 / 3 and lost_share("", ()) == 0


def test_what_is_new_names_the_log_entries_it_comes_from() -> None:
    sources = {"memory/2026-04-12.md#3": "default solver changed to DOP853", "memory/2026-04-12.md#4": "tea"}
    (change,) = differences(BEFORE, BEFORE.replace("RK45", "DOP853"), sources)
    assert change.sources == ("memory/2026-04-12.md#3",)


def test_all_changes_applied_give_the_entries_of_the_new_text() -> None:
    after = "# Memory\n\nIntro by hand.\n\n## Team\n\n- Zoe runs the lab\n- budget: 4 kEUR\n\n## Facts\n\n- the cluster has 48 nodes\n"
    made = with_changes(BEFORE, differences(BEFORE, after))
    assert {(entry.key, entry.heading) for entry in entries(made)} == {
        (entry.key, entry.heading) for entry in entries(after)
    }


WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "12", "48", "solver", "lab", "tea", "zoe", "not"])
TEXTS = st.lists(
    st.sampled_from(["## A", "## B", "## C"])
    | st.lists(WORDS, min_size=1, max_size=4).map(lambda words: f"- {' '.join(words)}"),
    max_size=8,
).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(TEXTS, TEXTS)
def test_changes_lead_from_any_text_to_any_other(before: str, after: str) -> None:
    made = with_changes(before, differences(before, after))
    assert {entry.key for entry in entries(made)} == {entry.key for entry in entries(after)}


@given(TEXTS, TEXTS)
def test_changes_can_be_made_again_without_harm(before: str, after: str) -> None:
    changes = differences(before, after)
    made = with_changes(with_changes(before, changes), changes)
    assert {entry.key for entry in entries(made)} == {entry.key for entry in entries(after)}


def test_a_file_that_somebody_else_changed_keeps_what_they_did() -> None:
    after = BEFORE.replace("RK45", "DOP853") + "- Ada runs the cluster\n"
    changes = differences(BEFORE, after)
    theirs = BEFORE.replace("- mice are kept in room 12\n", "").replace("Intro by hand.", "Intro, edited.")
    made = with_changes(theirs, changes)
    assert (
        "Intro, edited." in made
        and "mice" not in made
        and "DOP853" in made
        and made.endswith("- Ada runs the cluster\n")
    )


def test_a_change_of_an_entry_that_was_edited_meanwhile_is_added_beside_it() -> None:
    changes = differences(BEFORE, BEFORE.replace("RK45", "DOP853"))
    made = with_changes(BEFORE.replace("RK45", "Radau"), changes)
    assert "- default solver: Radau" in made and "- default solver: DOP853" in made


def test_applying_again_changes_nothing_and_a_section_that_lost_all_goes() -> None:
    changes = differences(BEFORE, BEFORE.replace("\n## People\n\n- Zoe runs the lab\n", ""))
    made = with_changes(BEFORE, changes)
    assert "People" not in made and with_changes(made, changes) == made

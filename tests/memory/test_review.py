from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness_nb.core.config import MemoryConfig
from harness_nb.errors import ConfigError, StoreError
from harness_nb.memory.candidate import Candidate, candidate_from_record
from harness_nb.memory.outline import entries
from harness_nb.memory.recall import AgentMemory
from harness_nb.memory.review import Review
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import noted, run, state_of

BEFORE = "# Memory\n\n## Facts\n\n- default solver: RK45\n- mice are kept in room 12\n"
AFTER = "# Memory\n\n## Facts\n\n- default solver: DOP853\n- budget is 4 kEUR\n"


@pytest.fixture
def waiting(store: Workspace) -> Review:
    """A candidate that changes an entry (1), adds one (2) and removes one (3)."""
    store.curated.replace(BEFORE)
    noted(store, "default solver changed to DOP853", "budget is 4 kEUR")
    assert run(store, AFTER, review="always").candidate == 1
    return Review(store, MemoryConfig())


def one(review: Review) -> Candidate:
    (candidate,) = review.waiting()[0]
    return candidate


def test_accepting_all_makes_the_proposed_file_and_moves_the_watermark(store: Workspace, waiting: Review) -> None:
    decision = waiting.accept(1)
    assert store.curated.read() == AFTER and waiting.waiting() == ([], [])
    assert len(state_of(store).marks) == 1 and state_of(store).last_success == store.clock.now()
    assert repr(decision) == "Decision('candidate 1 accepted: 1 added, 1 changed, 1 removed')"
    assert run(store).outcome == "nothing"


def test_entries_are_accepted_and_rejected_one_by_one(store: Workspace, waiting: Review) -> None:
    assert waiting.accept(1, 2).left == 2
    assert store.curated.read() == f"{BEFORE}- budget is 4 kEUR\n" and state_of(store).marks == {}
    assert waiting.reject("1", ["3"]).left == 1
    assert waiting.accept(1, [1, 1]).left == 0
    assert store.curated.read() == f"{BEFORE}- budget is 4 kEUR\n".replace("RK45", "DOP853")
    assert waiting.waiting() == ([], []) and len(state_of(store).marks) == 1
    assert [store.curated.version(one.number) for one in store.curated.versions()][0] == BEFORE


def test_a_rejected_candidate_changes_nothing_and_is_not_proposed_again(store: Workspace, waiting: Review) -> None:
    waiting.reject(1)
    assert store.curated.read() == BEFORE and run(store).outcome == "nothing"
    assert [entry.text for entry in store.daily_log.entries()] == [
        "default solver changed to DOP853", "budget is 4 kEUR",
    ]  # fmt: skip


def test_a_candidate_rejected_to_be_made_again_leaves_its_entries_pending(store: Workspace, waiting: Review) -> None:
    waiting.reject(1, again=True)
    report = run(store, AFTER, review="always")
    assert (report.outcome, report.candidate, report.pending) == ("waiting", 2, 2)
    with pytest.raises(ConfigError, match="whole candidate"):
        waiting.reject(2, [1], again=True)


def test_an_edited_entry_is_accepted_as_edited(store: Workspace, waiting: Review) -> None:
    change = waiting.edit(1, 2, "budget is 5 kEUR\n- really, key sk-test-abcdefghijklmnop1234")
    assert change.after.startswith("- budget is 5 kEUR<br>- really, key ") and "sk-test" not in change.after
    waiting.accept(1)
    assert len(entries(store.curated.read())) == 2 and "budget is 5 kEUR<br>- really" in store.curated.read()


def test_edits_by_hand_since_the_proposal_are_kept(store: Workspace, waiting: Review) -> None:
    store.curated.change(lambda text: text.replace("RK45", "Radau") + "\n## People\n\n- Zoe runs the lab\n")
    waiting.accept(1)
    text = store.curated.read()
    assert "Radau" in text and "DOP853" in text and "Zoe runs the lab" in text and "mice" not in text


def test_accepting_again_after_a_crash_adds_nothing_twice(store: Workspace, waiting: Review) -> None:
    stored = (store.candidates_folder / "1.json").read_text(encoding="utf-8")
    waiting.accept(1, 2)
    (store.candidates_folder / "1.json").write_text(stored, encoding="utf-8")
    waiting.accept(1)
    assert sorted(entry.key for entry in entries(store.curated.read())) == [
        "budget is 4 keur",
        "default solver: dop853",
    ]


def test_no_decision_exceeds_the_cap(store: Workspace, waiting: Review) -> None:
    small = Review(store, MemoryConfig(max_memory_tokens=18))
    with pytest.raises(StoreError, match="may have at most 18"):
        small.accept(1, 2)
    assert store.curated.read() == BEFORE and len(one(waiting).changes) == 3
    assert small.accept(1, 3).left == 2


def test_a_memory_is_never_made_empty_by_a_decision(store: Workspace) -> None:
    store.curated.replace("- mice are kept in room 12\n")
    noted(store, "budget is 4 kEUR")
    run(store, "- budget is 4 kEUR\n")
    review = Review(store, MemoryConfig())
    review.reject(1, 1)
    with pytest.raises(StoreError, match="empty"):
        review.accept(1, 2)
    assert store.curated.read() == "- mice are kept in room 12\n"


@pytest.mark.parametrize(
    ("number", "entries_", "said"),
    [
        (9, None, "no candidate 9"),
        (1, 7, "no undecided change 7"),
        ("x", None, "'x' is no number"),
        (1, [None], "None is no"),
    ],
)
def test_what_is_not_there_is_named(waiting: Review, number: object, entries_: object, said: str) -> None:
    for decide in (waiting.accept, waiting.reject):
        with pytest.raises((StoreError, ConfigError), match=said):
            decide(number, entries_)  # type: ignore[arg-type]
    assert len(one(waiting).changes) == 3


def test_what_can_not_be_edited_is_said(waiting: Review) -> None:
    with pytest.raises(ConfigError, match="no text to edit"):
        waiting.edit(1, 3, "x")
    with pytest.raises(ConfigError, match="can't be empty"):
        waiting.edit(1, 2, " \n")
    with pytest.raises(StoreError, match="no undecided change 8"):
        waiting.edit(1, 8, "x")


def test_a_candidate_reads_back_as_it_was(waiting: Review, store: Workspace) -> None:
    candidate = one(waiting)
    assert candidate_from_record(json.loads(json.dumps(candidate.to_record()))) == candidate
    for broken in ({}, candidate.to_record() | {"version": 2}, candidate.to_record() | {"changes": [{"x": 1}]}):
        with pytest.raises(StoreError, match="can't be used"):
            candidate_from_record(broken)


def test_a_file_that_can_not_be_read_is_a_warning(waiting: Review, store: Workspace) -> None:
    (store.candidates_folder / "2.json").write_text("{", encoding="utf-8")
    found, warnings = waiting.waiting()
    assert len(found) == 1 and "Candidate 2" in warnings[0]


def test_the_memory_of_an_agent_reviews_and_restores(store: Workspace, waiting: Review, index: MemoryIndex) -> None:
    decided: list[int] = []
    memory = AgentMemory(store, index, decided=lambda: decided.append(1))
    pending = memory.pending()
    assert len(pending) == 5 and pending.summary == "2 log entries to merge, 3 changes to review"
    assert set(pending.df["what"]) == {"entry", "change"} and "Candidate 1: it loses 50% of the entries" in str(pending)
    assert list(memory.log().df["state"]) == ["pending", "pending"]
    memory.edit(1, 2, "budget is 5 kEUR")
    memory.accept(1, [1, 2])
    memory.reject(1)
    assert decided == [1, 1] and memory.search("5 kEUR", limit=1)[0].path == "MEMORY.md"
    assert list(memory.log().df["state"]) == ["merged", "merged"]
    assert list(memory.log().df["in_memory"]) == [True, False]
    (version,) = memory.versions()
    assert (version.number, version.entries) == (1, 2) and len(memory.versions().df) == 1
    assert memory.restore("1").text == BEFORE and len(memory.versions()) == 2
    with pytest.raises(ConfigError, match="'one' is no number of a version"):
        memory.restore("one")
    with pytest.raises(ConfigError, match="no consolidation"):
        memory.consolidate()


def test_results_show_themselves(store: Workspace, waiting: Review, index: MemoryIndex) -> None:
    memory = AgentMemory(store, index)
    for result in (memory.pending(), memory.versions(), memory.accept(1), memory.pending(), memory.versions()):
        assert {"text/plain", "text/html"} <= set(result._repr_mimebundle_())
        assert str(result) and repr(result).startswith(type(result).__name__)
    assert repr(memory.versions()[:1]) == "VersionList(1 version)"


def test_a_candidate_that_is_being_applied_waits_for_nobody(store: Workspace, waiting: Review) -> None:
    candidate = replace(one(waiting), status="applying")
    (store.candidates_folder / "1.json").write_text(json.dumps(candidate.to_record()), encoding="utf-8")
    assert waiting.waiting() == ([], [])

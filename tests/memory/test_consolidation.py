from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness_nb.core.clock import Clock
from harness_nb.core.config import MemoryConfig
from harness_nb.core.messages import Message
from harness_nb.errors import ModelError, RateLimitError
from harness_nb.memory.candidate import stored_candidates
from harness_nb.memory.consolidation import MAX_BATCHES, consolidate
from harness_nb.memory.outline import HAND_ENDS, HAND_STARTS, entries
from harness_nb.model.base import ModelRequest
from harness_nb.model.offline import OfflineModel
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.candidates import CandidateFiles
from harness_nb.store.daily_log import Fact
from harness_nb.store.watermark import content_hash
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import listed, noted, run, state_of

SOLVER = "- default solver: RK45\n"


def test_new_entries_go_to_memory_and_are_asked_about_once(store: Workspace) -> None:
    noted(store, "default solver changed to DOP853", "The lab is in Lyon")
    report = run(store)
    assert (report.outcome, report.entries, report.pending, report.model_calls) == ("applied", 2, 0, 1)
    assert "DOP853" in store.curated.read() and "Lyon" in store.curated.read()
    assert [change.kind for change in report.changes] == ["added", "added"]
    assert report.changes[0].sources == ("memory/2026-04-12.md#3",)
    assert run(store, ModelError("not asked")).outcome == "nothing"


def test_a_fresh_workspace_has_nothing_to_merge(store: Workspace) -> None:
    report = run(store, ModelError("not asked"))
    assert (report.outcome, report.entries, report.model_calls) == ("nothing", 0, 0)
    assert not store.curated.path.exists()


@pytest.mark.parametrize("reply", ["", " \n", "<think>- a", "I can't help with that.", "NO_REPLY"])
def test_r055_memory_is_never_replaced_by_nothing(store: Workspace, reply: str) -> None:
    store.curated.replace(listed(40))
    noted(store, "default solver changed to DOP853")
    report = run(store, reply, reply)
    assert report.outcome == "failed" and "could not be used" in report.reason
    assert store.curated.read() == listed(40) and store.curated.versions() == []
    assert report.pending == 1 and state_of(store).marks == {}


def test_r055_a_rewrite_that_drops_much_waits_and_one_that_drops_little_is_applied(store: Workspace) -> None:
    store.curated.replace(listed(40))
    noted(store, "default solver changed to DOP853")
    short = run(store, listed(2))
    assert (short.outcome, short.candidate) == ("waiting", 1)
    assert "loses 95% of the entries, more than 30%" in short.reason and store.curated.read() == listed(40)
    assert run(store, ModelError("not asked")).reason == "Candidate 1 waits for review."
    CandidateFiles(store.candidates_folder).remove(1)
    report = run(store, listed(38) + "- default solver: DOP853\n")
    assert report.outcome == "applied" and sum(change.is_lost for change in report.changes) == 2
    (version,) = store.curated.versions()
    assert store.curated.version(version.number) == listed(40)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (RateLimitError("Too many requests."), "Too many requests."),
        (ModelError("The server said 500."), "The server said 500."),
        ("I'm sorry, no.", "could not be used"),
        (Message.assistant("- a", finish="length"), "length limit"),
    ],
)
def test_r056_a_failure_marks_nothing_and_is_not_nothing_to_do(store: Workspace, failure: object, said: str) -> None:
    store.curated.replace(SOLVER)
    noted(store, "default solver changed to DOP853")
    report = run(store, failure, failure)
    assert report.outcome == "failed" and said in report.reason and report.pending == 1
    assert store.curated.read() == SOLVER
    assert (state_of(store).marks, state_of(store).last_success, state_of(store).failures) == ({}, None, 1)
    assert stored_candidates(CandidateFiles(store.candidates_folder)) == ([], [])


def test_r056_a_model_that_hangs_is_given_up(store: Workspace) -> None:
    async def hang(_: ModelRequest) -> str:
        await asyncio.sleep(60)
        return "- a"

    noted(store, "a fact about the lab")
    report = run(store, hang, timeout=0.05)
    assert report.outcome == "failed" and "no reply within 0.05 seconds" in report.reason


def test_r056_a_failure_names_no_key(store: Workspace) -> None:
    noted(store, "a fact about the lab")
    report = run(store, ModelError("401 for sk-test-abcdefghijklmnop1234"))
    assert "sk-test" not in report.reason


def test_a_reply_that_can_not_be_used_is_asked_for_once_more(store: Workspace) -> None:
    noted(store, "default solver changed to DOP853")
    model = ScriptedModel(consolidation=["Done!", "- default solver: DOP853\n"])
    report = run(store, model=model)
    assert (report.outcome, report.model_calls) == ("applied", 2)
    assert "no list of notes" in model.requests[1].messages[-1].text


def test_r057_the_model_sees_dates_in_order_and_the_rule_that_newer_replaces_older(store: Workspace) -> None:
    store.curated.replace(SOLVER)
    noted(store, "default solver changed to DOP853", day=12)
    noted(store, "solver benchmarks began", day=10)
    model = ScriptedModel(consolidation=["- the lab is tidy\n- RK45 was the default solver"])
    report = run(store, model=model)
    rule, shown = (message.text for message in model.requests[0].messages)
    assert "newer replaces" in rule and "<memory>\n- default solver: RK45\n</memory>" in shown
    assert shown.index("### 2026-04-10\n\n- solver benchmarks began") < shown.index("### 2026-04-12")
    assert report.missing == ("solver benchmarks began", "default solver changed to DOP853")
    assert "not in MEMORY.md: default solver changed to DOP853" in str(report)


def test_r058_failures_lose_no_log_and_the_batch_stays_bounded(store: Workspace) -> None:
    model = ScriptedModel(consolidation=[ModelError("stuck")] * 3)
    for day in range(1, 6):
        noted(store, *(f"item {day * 100 + number} {'x' * 90}" for number in range(10)), day=day)
    for failures in (1, 2, 3):
        assert run(store, model=model, batch_tokens=300).outcome == "failed"
        assert (state_of(store).failures, state_of(store).marks) == (failures, {})
    for day in range(6, 11):
        noted(store, *(f"item {day * 100 + number} {'x' * 90}" for number in range(10)), day=day)
    sizes = [len(request.messages[-1].text) for request in model.requests]
    assert max(sizes) < 300 * 4 + 500
    report = run(store, batch_tokens=300)
    assert (report.outcome, report.entries, report.pending) == ("applied", 100, 0)
    assert state_of(store).failures == 0 and len(state_of(store).marks) == 10
    assert len(entries(store.curated.read())) == 100 and report.missing == ()


def test_r058_one_run_takes_so_many_batches_and_leaves_the_rest_pending(store: Workspace) -> None:
    noted(store, *(f"fact {number} of the lab {'x' * 900}" for number in range(MAX_BATCHES + 3)))
    report = run(store, batch_tokens=200, max_memory_tokens=40_000)
    assert (report.outcome, report.entries, report.pending, report.model_calls) == (
        "applied",
        MAX_BATCHES,
        3,
        MAX_BATCHES,
    )


def test_r058_a_memory_that_can_not_be_written_moves_no_mark(store: Workspace, tmp_path: Path) -> None:
    noted(store, "a fact about the lab")
    store.curated.path.mkdir()
    assert run(store).outcome == "failed" and state_of(store).marks == {}


def test_r058_what_was_merged_before_a_failure_stays_merged(store: Workspace) -> None:
    for day in (10, 11):
        noted(store, f"the fact of day {day} {'x' * 700}", day=day)
    report = run(store, f"- the fact of day 10 {'x' * 700}\n", ModelError("stuck"), batch_tokens=200)
    assert (report.outcome, report.entries, report.pending) == ("failed", 1, 1)
    assert [mark.day for mark in state_of(store).marks] == [10]


def test_r059_a_changed_log_is_taken_whatever_its_time_says(store: Workspace) -> None:
    noted(store, "the first fact of today")
    run(store)
    (day,) = store.daily_log.days()
    path = store.daily_log.path(day)
    before = path.stat()
    noted(store, "a second fact of today")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(store).entries == 1 and "second" in store.curated.read()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**12))
    assert run(store).outcome == "nothing"
    path.write_text(path.read_text(encoding="utf-8").replace("first", "very first"), encoding="utf-8")
    assert run(store).entries == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "tomorrow", "\x00\x01"])
def test_r060_with_an_unreadable_state_all_is_merged_again_with_a_warning(store: Workspace, text: str) -> None:
    noted(store, "the first fact of today")
    run(store)
    store.watermark_path.write_text(text, encoding="utf-8")
    report = run(store)
    assert report.entries == 1 and ".consolidation_state can't be used" in report.warnings[0]
    assert len(entries(store.curated.read())) == 1 and state_of(store).last_success == store.clock.now()


def test_r061_a_memory_larger_than_what_is_injected_is_warned_of(store: Workspace) -> None:
    noted(store, *(f"fact {number} of the lab" for number in range(20)))
    report = run(store, max_injected_tokens=50)
    assert "of which at most 50 are put into the prompt" in report.warnings[0]
    assert run(store, max_injected_tokens=50, inject=False).warnings == ()


def test_r063_a_fact_of_many_lines_becomes_one_entry(store: Workspace) -> None:
    noted(store, "run this:\n- make all\n# not a heading")
    run(store)
    (entry,) = entries(store.curated.read())
    assert entry.bare == "run this:<br>- make all<br># not a heading"


def test_above_the_cap_the_model_is_told_once_and_then_entries_are_taken_out(store: Workspace) -> None:
    noted(store, "default solver changed to DOP853")
    model = ScriptedModel(consolidation=[listed(40), listed(30)])
    report = run(store, model=model, max_memory_tokens=100)
    assert report.model_calls == 2 and "may have at most 100" in model.requests[1].messages[-1].text
    assert report.tokens_after <= 100 and len(report.trimmed) + len(entries(store.curated.read())) == 30
    assert "taken out to keep the cap: - " in str(report)


def test_the_offline_model_keeps_the_cap_and_repeats_nothing(store: Workspace) -> None:
    for day in range(1, 29):
        noted(store, *(f"{line[2:]}" for line in listed(12, day * 6).splitlines()), day=day)
    report = run(store, max_memory_tokens=400, review="doubtful", max_loss_share=1)
    assert report.outcome == "applied" and report.tokens_after <= 400
    keys = [entry.key for entry in entries(store.curated.read())]
    assert len(keys) == len(set(keys)) > 5


def test_a_hand_written_part_is_kept_word_for_word_and_shown_as_such(store: Workspace) -> None:
    hand = f"{HAND_STARTS}\nNever  touch *prod*.\n{HAND_ENDS}\n"
    store.curated.replace(f"# Memory\n\n{hand}\n## Facts\n\n{SOLVER}")
    noted(store, "default solver changed to DOP853", "never touch *prod*.")
    model = ScriptedModel(consolidation=["# Memory\n\n## Facts\n\n- default solver: DOP853\n"])
    report = run(store, model=model)
    shown = model.requests[0].messages[-1].text
    assert hand in store.curated.read() and f"<hand_written>\n{hand}" in shown and shown.count("touch *prod*") == 2
    assert report.missing == ()


def test_hand_written_parts_that_leave_no_room_are_said(store: Workspace) -> None:
    store.curated.replace(f"{HAND_STARTS}\n{'mine ' * 100}\n{HAND_ENDS}\n")
    noted(store, "a fact about the lab")
    report = run(store, max_memory_tokens=100)
    assert report.outcome == "failed" and "leave no room below max_memory_tokens=100" in report.reason


def test_with_review_always_each_change_waits(store: Workspace) -> None:
    noted(store, "a fact about the lab")
    report = run(store, review="always")
    assert (report.outcome, report.candidate) == ("waiting", 1) and "every change is reviewed" in report.reason
    assert store.curated.read() == "" and state_of(store).marks == {}


def test_what_is_edited_by_hand_while_the_model_writes_is_kept(store: Workspace) -> None:
    store.curated.replace(f"# Memory\n\n{SOLVER}- mice are kept in room 12\n")
    noted(store, "default solver changed to DOP853")

    def edited(_: ModelRequest) -> str:
        store.curated.change(lambda text: text.replace("room 12", "room 14") + "- Ada runs the cluster\n")
        return "# Memory\n\n- default solver: DOP853\n- mice are kept in room 12\n"

    assert run(store, edited).outcome == "applied"
    text = store.curated.read()
    assert "room 14" in text and "Ada runs the cluster" in text and "DOP853" in text and "RK45" not in text


def test_a_memory_that_is_gone_is_made_anew_from_the_logs(store: Workspace) -> None:
    noted(store, "the first fact of today")
    run(store)
    store.curated.path.unlink()
    report = run(store)
    assert report.entries == 1 and "MEMORY.md was gone" in report.warnings[0] and "first fact" in store.curated.read()


def test_only_one_consolidation_of_a_workspace_runs_at_a_time(store: Workspace) -> None:
    inner: list[str] = []

    async def again(_: ModelRequest) -> str:
        inner.append((await consolidate(OfflineModel(), store, MemoryConfig())).outcome)
        return "- a fact about the lab"

    noted(store, "a fact about the lab")
    assert run(store, again).outcome == "applied" and inner == ["busy"]


def test_a_run_that_is_stopped_lets_the_next_one_in(store: Workspace) -> None:
    async def hang(_: ModelRequest) -> str:
        await asyncio.sleep(60)
        return ""

    async def stopped() -> None:
        work = asyncio.create_task(consolidate(ScriptedModel(consolidation=[hang]), store, MemoryConfig()))
        await asyncio.sleep(0.05)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    noted(store, "a fact about the lab")
    asyncio.run(stopped())
    assert run(store).outcome == "applied"


def test_a_model_that_raises_anything_is_a_failure(store: Workspace) -> None:
    class Faulty(OfflineModel):
        def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            raise ZeroDivisionError("oops")

    noted(store, "a fact about the lab")
    assert run(store, model=Faulty()).reason == "ZeroDivisionError: oops"


def test_a_key_in_the_reply_is_masked_before_anything_is_stored(store: Workspace) -> None:
    noted(store, "a fact about the lab")
    run(store, "- a fact about the lab: sk-test-abcdefghijklmnop1234\n")
    assert "sk-test" not in store.curated.read()
    noted(store, "another fact")
    run(store, "- token sk-test-abcdefghijklmnop1234\n", review="always")
    assert "sk-test" not in (store.candidates_folder / "2.json").read_text(encoding="utf-8")


def test_a_report_shows_itself_and_has_a_frame(store: Workspace) -> None:
    noted(store, "default solver changed to DOP853")
    report = run(store)
    assert repr(report) == "ConsolidationReport('1 log entry merged: 1 added, 0 → 12 tokens')"
    assert str(report).splitlines()[1] == "  1 + default solver changed to DOP853"
    assert report.df.iloc[0]["kind"] == "added" and {"text/plain", "text/html"} <= set(report._repr_mimebundle_())


CRASH = """
import asyncio, os, sys
from harness_nb.core.config import MemoryConfig
from harness_nb.memory import consolidation
from harness_nb.model.offline import OfflineModel
from harness_nb.store import files, curated, watermark
from harness_nb.store.workspace import Workspace

left = int(sys.argv[2])
def count(write):
    def wrapped(path, text):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return write(path, text)
    return wrapped
for module in (curated, watermark, consolidation.CandidateFiles.save.__globals__):
    names = module if isinstance(module, dict) else vars(module)
    names["write_atomic"] = count(names["write_atomic"])
print(asyncio.run(consolidation.consolidate(OfflineModel(), Workspace(sys.argv[1]), MemoryConfig())).outcome)
"""


@pytest.mark.parametrize("writes", range(8))
def test_after_a_crash_before_any_write_nothing_is_lost_and_nothing_stands_there_twice(
    store: Workspace, writes: int
) -> None:
    noted(store, "the first fact of today")
    run(store)
    noted(store, "Zoe prefers tea", "the lab is in Lyon")
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(store.path), str(writes)], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 9 or "applied" in done.stdout
    run(store)
    keys = sorted(entry.key for entry in entries(store.curated.read()))
    assert keys == ["the first fact of today", "the lab is in lyon", "zoe prefers tea"]
    assert run(store).outcome == "nothing" and CandidateFiles(store.candidates_folder).numbers() == []


def test_a_swap_that_a_crash_cut_off_behind_it_is_not_made_again(store: Workspace) -> None:
    noted(store, "the first fact of today")
    run(store, review="always")
    files = CandidateFiles(store.candidates_folder)
    (candidate,) = stored_candidates(files)[0]
    store.curated.replace(candidate.text)
    files.save(1, replace(candidate, status="applying").to_record())
    assert run(store, ModelError("not asked")).outcome == "nothing"
    assert len(state_of(store).marks) == 1 and files.numbers() == []
    assert state_of(store).memory_hash == content_hash(candidate.text)


def add_facts(folder: Path, name: str) -> None:
    store = Workspace(folder, clock=Clock.fixed(datetime(2026, 4, 12, 9, tzinfo=UTC)))
    for number in range(50):
        store.daily_log.append([Fact(f"worker {name} noted item {number}")])


def consolidate_until(folder: Path, count: int) -> int:
    """Consolidates until the memory has so many entries."""
    store = Workspace(folder, clock=Clock.fixed(datetime(2026, 4, 12, 9, tzinfo=UTC)))
    runs = 0
    end = datetime.now(UTC) + timedelta(seconds=60)
    while len(entries(store.curated.read())) < count and datetime.now(UTC) < end:
        runs += asyncio.run(consolidate(OfflineModel(), store, MemoryConfig(max_memory_tokens=40_000))).entries > 0
    return runs


def test_r084_two_processes_note_while_a_third_consolidates_and_nothing_is_lost_or_doubled(store: Workspace) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        work = [pool.submit(add_facts, store.path, name) for name in ("ann", "bob")]
        runs = pool.submit(consolidate_until, store.path, 100).result()
        for one in work:
            one.result()
    expected = {f"worker {name} noted item {number}" for name in ("ann", "bob") for number in range(50)}
    found = [entry.key for entry in entries(store.curated.read())]
    assert runs >= 1 and len(found) == 100 and set(found) == expected
    assert run(store, ModelError("not asked")).outcome == "nothing"


def test_r100_all_files_of_a_consolidation_are_readable_by_their_owner_only(store: Workspace) -> None:
    before = os.umask(0o022)
    try:
        noted(store, "the first fact of today")
        run(store)
        noted(store, "another fact of today")
        run(store)
        noted(store, "a third fact of today")
        run(store, review="always")
    finally:
        os.umask(before)
    modes = {path.relative_to(store.path).as_posix(): path.stat().st_mode & 0o777 for path in store.path.rglob("*")}
    assert {mode for name, mode in modes.items() if (store.path / name).is_file()} == {0o600}
    assert {"MEMORY.md", "memory/.consolidation_state", "memory/candidates/3.json"} <= set(modes)
    record = json.loads((store.candidates_folder / "3.json").read_text(encoding="utf-8"))
    assert record["status"] == "waiting" and record["marks"]

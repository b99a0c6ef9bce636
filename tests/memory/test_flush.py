from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from harness_nb.core.clock import Clock
from harness_nb.core.messages import Message, Usage
from harness_nb.errors import ModelError
from harness_nb.memory.flush import FlushOutcome, flush
from harness_nb.memory.flush_prompt import Numbered
from harness_nb.model.base import Delta, ModelRequest
from harness_nb.model.offline import OfflineModel
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.workspace import Workspace

SAID = [(0, Message.user("My lab uses Python 3.11.")), (1, Message.assistant("Good to know."))]
DAY = "memory/2026-04-12.md"


def run(model: object, store: Workspace, messages: list[Numbered] = SAID, **options: object) -> FlushOutcome:
    return asyncio.run(flush(model, store, messages, session="s1", **options))  # type: ignore[arg-type]


def test_facts_go_to_todays_log_with_their_source(store: Workspace) -> None:
    model = ScriptedModel(flush=["- The lab uses Python 3.11 [#0]\n- Ana owns the cluster"])
    outcome = run(model, store)
    assert outcome == FlushOutcome(
        upto=2, facts=("The lab uses Python 3.11", "Ana owns the cluster"), path=DAY, messages=(0, 1)
    )
    first, second = store.daily_log.entries()
    assert (first.text, first.session, first.messages, first.role) == ("The lab uses Python 3.11", "s1", (0, 0), "user")
    assert (second.messages, second.role, second.source) == ((0, 1), "", "flush")


def test_the_offline_model_flushes_what_the_user_states(store: Workspace) -> None:
    outcome = run(OfflineModel(), store)
    assert any("Python 3.11" in fact for fact in outcome.facts)
    assert store.daily_log.entries()[0].messages == (0, 0)


def test_r047_nothing_is_made_when_there_is_nothing_to_note(store: Workspace) -> None:
    outcome = run(ScriptedModel(flush=["NO_REPLY"]), store)
    assert outcome == FlushOutcome(upto=2, messages=(0, 1))
    assert list(store.path.iterdir()) == []


def test_r047_an_empty_memory_folder_is_normal(store: Workspace) -> None:
    store.memory_folder.mkdir()
    assert run(ScriptedModel(flush=["- a fact here"]), store).facts == ("a fact here",)


def test_r049_an_exact_repeat_is_written_once(store: Workspace) -> None:
    model = ScriptedModel(flush=["- user's lab uses Python 3.11", "- User's  lab uses python 3.11"])
    assert run(model, store).facts == ("user's lab uses Python 3.11",)
    assert run(model, store).facts == ()
    assert len(store.daily_log.entries()) == 1


def test_r049_messages_that_are_read_again_on_a_later_day_are_noted_once(store: Workspace) -> None:
    evening = datetime(2026, 4, 10, 23, 59, tzinfo=UTC)
    said = [(at, replace(message, time=evening)) for at, message in SAID]
    model = ScriptedModel(flush=["- the lab uses Python 3.11"] * 4)
    assert run(model, store, said, now=evening).facts == ("the lab uses Python 3.11",)
    assert run(model, store, said, now=evening + timedelta(days=2)).facts == ()  # the kernel had died in between
    later = [(at + 2, replace(message, time=evening + timedelta(days=2))) for at, message in SAID]
    assert run(model, store, later, now=evening + timedelta(days=2)).facts == (
        "the lab uses Python 3.11",
    )  # said again
    assert len(store.daily_log.entries()) == 2


def test_the_model_is_shown_what_is_noted_already(store: Workspace) -> None:
    store.curated.replace("- likes tea\n")
    model = ScriptedModel(flush=["- a fact here", "NO_REPLY"])
    run(model, store)
    run(model, store)
    assert "<memory>\n- likes tea\n</memory>" in model.requests[0].messages[1].text
    assert "<today>\n- a fact here\n</today>" in model.requests[1].messages[1].text


def test_nobody_is_asked_about_messages_in_which_nothing_was_said(store: Workspace) -> None:
    model = ScriptedModel(flush=[])
    assert run(model, store, [(7, Message.user("note", origin="harness"))]).upto == 8
    assert run(model, store, []) == FlushOutcome()
    assert model.requests == []


def test_r048_a_reply_without_a_list_is_asked_for_once_more(store: Workspace) -> None:
    model = ScriptedModel(flush=["You use Python 3.11.", "- The lab uses Python 3.11"], reports_usage=True)
    outcome = run(model, store)
    assert outcome.facts == ("The lab uses Python 3.11",) and outcome.refused == ()
    assert len(outcome.usages) == 2


def test_r048_a_second_reply_without_a_list_is_recorded(store: Workspace) -> None:
    outcome = run(ScriptedModel(flush=["Prose.", "More prose."]), store)
    assert outcome.refused == ("The reply holds no list of facts: 'More prose.'",)
    assert outcome.upto == 2 and not store.memory_folder.exists()


class Raising:
    """A model of a user that raises what models should not."""

    limits = OfflineModel().limits

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        raise KeyError("sk-test-abcdefghijklmnop1234")
        yield Message.assistant("never")


def test_r051_a_failing_model_is_recorded_and_the_messages_are_tried_again(store: Workspace) -> None:
    model = ScriptedModel(flush=[ModelError("The server said 500."), "- The lab uses Python 3.11"])
    failed = run(model, store)
    assert (failed.failed, failed.upto, failed.facts) == ("The server said 500.", 0, ())
    assert run(model, store).facts == ("The lab uses Python 3.11",)


def test_r051_no_exception_of_a_model_gets_out_and_no_key_with_it(store: Workspace) -> None:
    outcome = run(Raising(), store)
    assert outcome.failed.startswith("KeyError") and "abcdefgh" not in outcome.failed


def test_r051_a_model_that_hangs_is_given_up(store: Workspace) -> None:
    async def never(request: ModelRequest) -> str:
        await asyncio.Event().wait()
        return "never"

    outcome = run(ScriptedModel(flush=[never]), store, timeout_seconds=0.02)
    assert outcome.failed == "'scripted' gave no reply within 0.02 seconds." and outcome.upto == 0


def test_an_interrupt_is_not_taken_for_a_failure(store: Workspace) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(ScriptedModel(flush=[KeyboardInterrupt()]), store)


def test_r051_a_log_that_cannot_be_written_is_recorded(store: Workspace) -> None:
    store.memory_folder.write_text("a file where the folder should be", encoding="utf-8")
    outcome = run(ScriptedModel(flush=["- a fact here"]), store)
    assert "memory" in outcome.failed and outcome.upto == 0


def test_a_long_list_is_read_in_parts_and_what_was_read_counts(store: Workspace) -> None:
    said = [(number, Message.user(f"{number} " + "word " * 2_000)) for number in range(10)]
    model = ScriptedModel(flush=["- the first part", ModelError("down")], window=30_000)
    outcome = run(model, store, said)
    assert outcome.facts == ("the first part",) and outcome.failed == "down"
    assert outcome.upto == 2 and outcome.messages == (0, 1)
    assert all(len(request.messages[1].text) < 60_000 for request in model.requests)


def test_the_last_line_of_a_reply_cut_at_its_limit_is_dropped(store: Workspace) -> None:
    cut = Message.assistant("- a whole fact\n- half a f", finish="length", usage=Usage(10, 5))
    outcome = run(ScriptedModel(flush=[cut]), store)
    assert outcome.facts == ("a whole fact",) and outcome.usages == (Usage(10, 5),)


def test_r053_day_and_time_of_an_entry_are_of_one_instant_in_the_clocks_zone(store: Workspace) -> None:
    tokyo = Workspace(store.path, clock=Clock.fixed(datetime(2026, 4, 11, 18, 53, tzinfo=UTC), "Asia/Tokyo"))
    model = ScriptedModel(flush=["- a fact here"])
    assert run(model, tokyo).path == DAY
    entry = tokyo.daily_log.entries()[0]
    assert (f"{entry.time:%H:%M}", entry.zone) == ("03:53", "+09:00")
    assert model.requests[0].messages[1].text.startswith("Today is 2026-04-12.")


def test_r099_keys_are_masked_in_log_and_outcome(store: Workspace) -> None:
    outcome = run(ScriptedModel(flush=["- The key is sk-test-abcdefghijklmnop1234"]), store)
    written = (store.path / DAY).read_text(encoding="utf-8")
    assert "abcdefgh" not in written and "abcdefgh" not in outcome.facts[0] and "redacted" in written


def test_r079_lone_surrogates_pass_through(store: Workspace) -> None:
    said = [(0, Message.user("a\ud83db is the name")), (1, Message.assistant("ok"))]
    outcome = run(ScriptedModel(flush=["- the name is a\ud83db"]), store, said)
    assert outcome.failed == "" and outcome.facts == ("the name is a\ufffdb",)
    assert (store.path / DAY).read_bytes().decode("utf-8")

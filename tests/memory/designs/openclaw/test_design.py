from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from harness_nb.core.config import MemoryConfig
from harness_nb.core.messages import Message
from harness_nb.core.tokens import CharsCounter
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.openclaw import design as module
from harness_nb.memory.designs.openclaw.config import (
    OpenClawDreamingConfig,
    OpenClawMemoryConfig,
    OpenClawSearchConfig,
)
from harness_nb.memory.designs.openclaw.design import OpenClawMemory
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

COUNTER = CharsCounter()
EASY = {"deep_min_score": 0, "deep_min_signals": 1, "deep_min_queries": 1}
FACT = "Deploys of the payment service happen every Tuesday"


@pytest.fixture
def parts(store: Workspace, index: MemoryIndex) -> DesignParts:
    return DesignParts(workspace=store, index=index, model=ScriptedModel(chat=[]))


@pytest.fixture
def made(parts: DesignParts) -> Iterator[Any]:
    opened: list[OpenClawMemory] = []

    def make(
        *, inject: bool = True, tools: bool = True, dreaming: dict[str, Any] | None = None, **settings: Any
    ) -> OpenClawMemory:
        chosen = replace(parts, config=MemoryConfig(inject=inject, tools=tools))
        memory = OpenClawMemory(
            chosen,
            settings=OpenClawMemoryConfig(**settings),
            search=OpenClawSearchConfig(embeddings="none"),
            dreaming=OpenClawDreamingConfig(**(dreaming or {})),
        )
        opened.append(memory)
        return memory

    yield make
    for one in opened:
        one.notes.close()


def shown(memory: OpenClawMemory) -> str:
    return memory.injection(COUNTER).text


# What stands in the prompt


def test_files_are_shown_as_they_are(made: Any, store: Workspace) -> None:
    memory = made()
    assert shown(memory) == ""
    store.write("MEMORY.md", "Prefers tabs")
    assert "Prefers tabs" in shown(memory) and memory.injection(COUNTER).tokens > 0
    assert shown(made(context_injection="never")) == "" == shown(made(inject=False))


def test_notes_of_the_last_days_open_a_new_session_and_stay_as_they_were(made: Any, store: Workspace) -> None:
    store.write("memory/2026-04-12.md", "met Ann")
    memory = made()
    memory.begin("s1")
    store.write("memory/2026-04-12.md", "met Bob")
    assert "met Ann" in shown(memory)
    memory.begin("s2")
    assert "met Bob" in shown(memory)
    log = store.agents_folder / "main" / "sessions" / "s3.log.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("{}\n", encoding="utf-8")
    memory.begin("s3")
    assert "met" not in shown(memory)


def test_a_file_that_can_not_be_read_is_told(made: Any, store: Workspace) -> None:
    (store.path / "MEMORY.md").mkdir()
    found = made().injection(COUNTER)
    assert found.text == "" and "MEMORY.md" in found.problem


def test_the_model_gets_its_tools(made: Any) -> None:
    assert [one.name for one in made().tools()] == ["memory_search", "memory_get", "read", "write", "edit", "read_file"]
    assert made(tools=False).tools() == ()


# Notes before a compaction


def test_what_leaves_is_noted_in_the_note_of_the_day(made: Any, store: Workspace) -> None:
    memory = made()
    memory.model = ScriptedModel(chat=[], flush=["- [decision] Use tabs (#0)"])
    outcome = asyncio.run(memory.flush([(0, Message.user("use tabs"))], session="s"))
    assert outcome.path == "memory/2026-04-12.md" and "Use tabs" in (store.read(outcome.path) or "")
    assert memory.search("tabs")[0].path == outcome.path


def test_nothing_is_noted_where_that_is_off(made: Any, store: Workspace) -> None:
    outcome = asyncio.run(made(memory_flush=False).flush([(4, Message.user("x"))], session="s"))
    assert (outcome.upto, outcome.path) == (5, "") and not store.memory_folder.exists()


# Search


def test_sessions_are_another_corpus(made: Any, store: Workspace, index: MemoryIndex) -> None:
    store.write("memory/2026-04-12.md", "the kestrel nests")
    memory = made()
    assert [row.source for row in memory.search("kestrel", corpus="all")] == ["memory"]
    assert memory.search("kestrel", corpus="sessions") == [] == memory.search(" ", corpus="sessions")


def test_what_is_found_counts_where_dreaming_is_on(made: Any, store: Workspace) -> None:
    store.write("memory/2026-04-12.md", FACT)
    store.write("MEMORY.md", FACT)
    made().search("payment")
    recall = store.path / "memory/.dreams/recall.json"
    assert not recall.exists()
    memory = made(dreaming={"dreaming": True})
    memory.search("payment")
    memory.search("Tuesday")
    assert '"recalls": 2' in recall.read_text(encoding="utf-8") and "MEMORY.md" not in recall.read_text(
        encoding="utf-8"
    )


# Dreaming


def dream(memory: OpenClawMemory, now: datetime | None = None) -> tuple[str, str]:
    report = asyncio.run(memory.dream(now))
    return report.outcome, report.reason


def test_a_proposal_waits_for_the_user(made: Any, store: Workspace) -> None:
    store.write("memory/2026-04-12.md", f"- {FACT}\n")
    memory = made(dreaming=EASY)
    report = asyncio.run(memory.dream())
    assert (report.outcome, report.candidate) == ("waiting", 1) and not (store.path / "MEMORY.md").exists()
    assert FACT in (store.read("DREAMS.md") or "")
    assert asyncio.run(memory.dream()).outcome == "nothing"
    store.write("memory/2026-04-12.md", f"- {FACT}\n- Backups of the database run at night\n")
    assert "waits" in dream(memory)[1]


def test_it_writes_at_once_where_no_review_is_wanted(made: Any, store: Workspace) -> None:
    store.write("MEMORY.md", "# Mine\n\n- a fact\n")
    store.write("memory/2026-04-12.md", f"- {FACT}\n")
    report = asyncio.run(made(dreaming={**EASY, "dreaming_review": False}).dream())
    text = store.read("MEMORY.md") or ""
    assert (report.outcome, report.entries) == ("applied", 1)
    assert text.startswith("# Mine\n\n- a fact\n\n## Promoted on 2026-04-12\n") and FACT in text


def test_a_night_without_notes_proposes_nothing(made: Any, store: Workspace) -> None:
    assert dream(made())[0] == "nothing"
    (store.path / "memory/.dreams/recall.json").unlink()
    (store.path / "memory/.dreams/recall.json").mkdir()
    assert dream(made())[0] == "failed"


def test_it_dreams_once_a_night_and_only_where_that_is_on(made: Any, store: Workspace) -> None:
    now = store.clock.now()
    assert asyncio.run(made()._nightly(now)).reason == "Dreaming is off."
    memory = made(dreaming={"dreaming": True})
    told = [asyncio.run(memory._nightly(now + timedelta(hours=hours))).reason for hours in (0, 2, 24)]
    assert told == ["Nothing in the notes passed the gates.", "It dreamt on this day already.", told[0]]


def test_meanings_are_used_where_the_extra_is_there(parts: DesignParts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_available", lambda: True)
    with_meaning, without = OpenClawMemory(parts), OpenClawMemory(parts, search=OpenClawSearchConfig(embeddings="none"))
    assert with_meaning.notes._embedding is not None and without.notes._embedding is None

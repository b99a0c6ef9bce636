from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from harness_nb.core.config import MemoryConfig
from harness_nb.errors import ConfigError
from harness_nb.memory.flush import FlushOutcome
from harness_nb.memory.recall import AgentMemory
from harness_nb.store.daily_log import Fact
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace
from tests.memory.consolidating import noted, run


@pytest.fixture
def memory(store: Workspace, index: MemoryIndex) -> AgentMemory:
    return AgentMemory(store, index)


def test_r047_a_fresh_workspace_has_an_empty_memory(memory: AgentMemory) -> None:
    assert list(memory.search("anything")) == [] and list(memory.log()) == []
    assert str(memory.show()) == "MEMORY.md is empty."
    assert (
        str(memory.log()) == "Nothing is logged yet."
        and str(memory.log("today")) == "Nothing is logged on 2026-04-12 yet."
    )


@pytest.mark.parametrize("query", ["", "   ", "\n", "!!!", None])
def test_r065_blank_queries_find_nothing(store: Workspace, memory: AgentMemory, query: str | None) -> None:
    store.curated.replace("anything !!!")
    assert list(memory.search(query)) == []


def test_a_search_finds_what_was_noted(store: Workspace, memory: AgentMemory) -> None:
    store.daily_log.append([Fact("The database migration is on Friday")])
    hit = memory.search("database migration")[0]
    assert (hit.path, hit.kind) == ("memory/2026-04-12.md", "daily")


def test_show_gives_the_curated_memory(store: Workspace, memory: AgentMemory) -> None:
    store.curated.replace("# Lab\n\n- Python 3.11\n")
    shown = memory.show()
    assert repr(shown) == "MemoryText('MEMORY.md', 3 lines)" and str(shown) == "# Lab\n\n- Python 3.11"
    assert shown.records == [{"path": "MEMORY.md", "line": 3, "text": "- Python 3.11", "heading": "Lab"}]


def test_a_day_is_a_date_a_text_or_today(store: Workspace, memory: AgentMemory) -> None:
    store.daily_log.append([Fact("old")], now=datetime(2026, 4, 10, 8, tzinfo=UTC))
    store.daily_log.append([Fact("new\nin two lines")])
    assert repr(memory.log()) == "DailyLogView(2 entries of 2 days)"
    for day in ("2026-04-10", date(2026, 4, 10), datetime(2026, 4, 10, 23, tzinfo=UTC)):
        assert str(memory.log(day)) == "2026-04-10 08:00  old"
    assert str(memory.log("today")) == "2026-04-12 09:30  new in two lines"
    assert memory.log()[:1][0].text == "old" and repr(memory.log("today")) == "DailyLogView(1 entry of 2026-04-12)"


def test_what_is_no_day_is_refused(memory: AgentMemory) -> None:
    with pytest.raises(ConfigError, match="'yesterday' is no day"):
        memory.log("yesterday")


def test_entries_have_a_frame(store: Workspace, memory: AgentMemory) -> None:
    store.daily_log.append([Fact("a fact", session="s1", messages=(2, 4), role="user")])
    row = memory.log().df.iloc[0]
    assert (row["text"], row["session"], row["first_message"], row["last_message"]) == ("a fact", "s1", 2, 4)
    assert row["time"] == datetime(2026, 4, 12, 9, 30, tzinfo=UTC) and row["path"] == "memory/2026-04-12.md"


def test_the_status_says_how_the_memory_stands(store: Workspace, index: MemoryIndex) -> None:
    store.curated.replace("- Python 3.11\n")
    store.daily_log.append([Fact("old")], now=datetime(2026, 4, 10, 8, tzinfo=UTC))
    store.daily_log.append([Fact("new")])
    last = (store.clock.now(), FlushOutcome(facts=("new",)))
    memory = AgentMemory(store, index, lambda: last)
    assert memory.status().index_state == "not built yet"
    memory.search("new")
    status = memory.status()
    assert repr(status) == "MemoryStatus(1 line of MEMORY.md, 2 entries on 2 days)"
    assert (status.log_entries, status.entries_today, status.last_facts) == (2, 1, 1)
    assert str(status).splitlines() == [
        f"workspace      {store.path}",
        "MEMORY.md      1 line, 14 characters",
        "daily logs     2 entries on 2 days, 1 of them today",
        "sessions       0",
        f"index          {status.index_state} ({store.index_path})",
        "last flush     2026-04-12 09:30, 1 fact written",
        "consolidation  none yet, 2 log entries to merge",
    ]
    assert status.index_state == "5 lines of 3 files"


def test_r061_the_status_warns_of_a_memory_that_is_not_injected_whole(store: Workspace, index: MemoryIndex) -> None:
    store.curated.replace("- Python 3.11\n" * 20)
    memory = AgentMemory(store, index, config=MemoryConfig(max_injected_tokens=50))
    assert "has about 70 tokens, of which at most 50 are put into the prompt" in memory.status().warnings[0]


def test_r060_the_status_says_when_consolidation_last_succeeded(store: Workspace, index: MemoryIndex) -> None:
    assert "consolidation  none yet, 0 log entries to merge" in str(AgentMemory(store, index).status())
    noted(store, "a fact about the lab")
    run(store)
    status = AgentMemory(store, index).status()
    assert status.last_consolidation == store.clock.now() and "last 2026-04-12 09:30, 0 log entries" in str(status)
    store.watermark_path.write_text("tomorrow", encoding="utf-8")
    assert "can't be used" in AgentMemory(store, index).status().warnings[-1]


def test_the_status_says_why_the_last_flush_failed(store: Workspace, index: MemoryIndex) -> None:
    last = (store.clock.now(), FlushOutcome(failed="The server said 500."))
    assert "2026-04-12 09:30, failed: The server said 500." in str(AgentMemory(store, index, lambda: last).status())
    assert "last flush     none yet" in str(AgentMemory(store, index).status())


def test_every_answer_shows_itself_and_has_a_frame(store: Workspace, memory: AgentMemory) -> None:
    store.curated.replace("# Lab\n\n- Python 3.11\n")
    store.daily_log.append([Fact("a fact")])
    for answer, rows in ((memory.show(), 1), (memory.log(), 1), (memory.status(), 7)):
        bundle = answer._repr_mimebundle_()
        assert {"text/plain", "text/html"} <= set(bundle)
        assert len(answer.df) == rows

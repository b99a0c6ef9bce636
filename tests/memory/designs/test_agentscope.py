from __future__ import annotations

import asyncio
import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.messages import Message, ToolCall, to_json
from harness_nb.errors import StoreError
from harness_nb.memory.designs.agentscope_files import SENTINEL, AgentScopeFiles, AgentScopeThrottle
from harness_nb.memory.designs.agentscope_text import body, instant, java_order, nanoseconds, written
from harness_nb.model.scripted import ScriptedModel

NOW = "2026-09-10T08:05:32.3096574Z"


@pytest.fixture
def files(workspace: Path) -> AgentScopeFiles:
    return AgentScopeFiles(workspace)


def put(workspace: Path, name: str, text: str, time: str = "2026-09-09T00:00:00Z") -> Path:
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(nanoseconds(time) or 0, nanoseconds(time) or 0))
    return path


def no_disk(path: Path, text: str) -> None:
    raise StoreError(f"{path} is locked")


# Texts


def test_messages_are_written_with_their_role_and_context_is_not() -> None:
    messages = [
        Message.system("rules"),
        Message.user("<session_context>x</session_context>"),
        Message.user("go"),
        Message.assistant("ok", [ToolCall("a", "run", '{"n": 1.0, "é": "x"}'), ToolCall("b", "stop")]),
        Message.tool("a", "r" * 1_001, name="run"),
        Message.tool("lost", ""),
    ]
    talk = written(enumerate(messages))
    assert talk.indices == (2, 3, 4, 5)
    assert talk.lines[0] == "[USER]: go"
    assert talk.lines[1].splitlines()[1:] == ['[tool_call: run({"é":"x","n":1.0})]', "[tool_call: stop]"]
    assert talk.lines[2] == f"[TOOL]: [tool_result: run] {'r' * 1_000}...(truncated)"
    assert talk.lines[3] == "[TOOL]: [tool_result] "
    assert talk.broken_at is None


def test_arguments_are_cut_at_500_units_and_a_cut_through_a_pair_breaks_the_line() -> None:
    message = Message.assistant(None, [ToolCall("a", "say", to_json({"t": "a" + "🙂" * 300}))])
    assert body(message).endswith("...)]")
    assert written([(7, message)]).broken_at in (None, 7)
    odd = Message.assistant(None, [ToolCall("a", "say", to_json({"t": "🙂" * 300}))])
    assert {written([(7, one)]).broken_at for one in (message, odd)} == {None, 7}


def test_keys_come_in_the_order_of_a_java_hash_map() -> None:
    assert java_order(["old", "path", "new"]) == ["path", "new", "old"]
    assert java_order(["Aa", "BB"]) == ["Aa", "BB"] and java_order(["BB", "Aa"]) == ["BB", "Aa"]
    many = [f"k{number}" for number in range(40)]
    assert sorted(java_order(many)) == sorted(many)


@given(st.integers(0, 4_000_000_000_000_000_000))
def test_an_instant_reads_back_as_it_was_written(nanos: int) -> None:
    assert nanoseconds(instant(nanos)) == nanos


@pytest.mark.parametrize("text", ["", "yesterday", "2026-09-10", "2026-09-10T08:00:00", "2026-13-10T08:00:00Z"])
def test_what_is_no_instant_is_none(text: str) -> None:
    assert nanoseconds(text) is None


def test_an_instant_has_as_many_digits_as_java_gives_it() -> None:
    assert [instant(nanos) for nanos in (0, 500_000_000, 1_000, 1)] == [
        "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.500Z", "1970-01-01T00:00:00.000001Z",
        "1970-01-01T00:00:00.000000001Z",
    ]  # fmt: skip


# The original's files


def test_a_reply_is_stored_as_it_comes_unless_it_is_exactly_no_reply(files: AgentScopeFiles) -> None:
    assert files.store_facts("  NO_REPLY\n", "2026-09-10", NOW) == ""
    assert files.store_facts(" ", "2026-09-10", NOW) == ""
    assert files.store_facts("NO_REPLY.", "2026-09-10", NOW) == f"\n## Memory Flush — {NOW}\nNO_REPLY.\n"


def test_a_blank_log_gives_a_sentence_that_gets_into_it(files: AgentScopeFiles, workspace: Path) -> None:
    path = put(workspace, "memory/2026-09-10.md", "\n")
    files.store_facts("- a", "2026-09-10", NOW)
    assert path.read_text(encoding="utf-8").startswith(f"{SENTINEL}\n## Memory Flush")


def test_the_request_for_facts_shows_memory_and_log_where_they_are(files: AgentScopeFiles, workspace: Path) -> None:
    talk = [(0, Message.user("I moved to Oslo"))]
    assert files.flush_request([], "2026-09-10") is None
    bare = files.flush_request(talk, "2026-09-10")
    put(workspace, "MEMORY.md", "- likes tea")
    full = files.flush_request(talk, "2026-09-10")
    assert bare is not None and full is not None
    assert (bare.has_memory, full.has_memory, full.has_log) == (False, True, False)
    assert "likes tea" in full.messages[1].text and "likes tea" not in bare.messages[1].text


def test_only_logs_changed_after_the_watermark_are_fresh(files: AgentScopeFiles, workspace: Path) -> None:
    put(workspace, "memory/2026-09-08.md", "- a\n", "2026-09-08T20:00:00Z")
    put(workspace, "memory/2026-09-09.md", "- b\n", "2026-09-09T20:00:00.000000001Z")
    put(workspace, "memory/2026-09-10.md", " \n", "2026-09-10T20:00:00Z")
    put(workspace, "memory/archive/2026-01-01.md", "- old\n", "2026-09-10T20:00:00Z")
    assert files.fresh().names == ("2026-09-08.md", "2026-09-09.md") and files.fresh().is_first
    put(workspace, "memory/.consolidation_state", "2026-09-09T20:00:00Z\n")
    assert files.fresh().names == ("2026-09-09.md",) and not files.fresh().is_first
    put(workspace, "memory/.consolidation_state", "garbage")
    assert files.fresh().is_first


def test_the_watermark_moves_even_when_memory_could_not_be_written(files: AgentScopeFiles, workspace: Path) -> None:
    put(workspace, "MEMORY.md", "old")
    assert files.store_memory("new", 1_000_000_000, no_disk) == "lost"
    assert files.watermark() == "1970-01-01T00:00:01Z" and files.read("MEMORY.md") == "old"
    assert files.store_memory("\n", 2_000_000_000) == "empty" and files.watermark() == "1970-01-01T00:00:01Z"
    assert files.store_memory(" I can't.\n", 2_000_000_000) == "written" and files.read("MEMORY.md") == "I can't."


def test_old_logs_are_archived_unless_their_place_is_taken(files: AgentScopeFiles, workspace: Path) -> None:
    for name in ("2026-01-01.md", "2026-01-02.md", "2026-09-01.md", "notes.md", "2026-13-01.md"):
        put(workspace, f"memory/{name}", "- a\n")
    put(workspace, "memory/archive/2026-01-02.md", "- earlier\n")
    assert files.expire(date(2026, 9, 10)) == (["2026-01-01.md"], ["2026-01-02.md"])
    assert (workspace / "memory/archive/2026-01-02.md").read_text(encoding="utf-8") == "- earlier\n"


def test_old_session_files_go_but_never_the_index_of_sessions(files: AgentScopeFiles, workspace: Path) -> None:
    for name in ("s.jsonl", "sessions.json", "odd.txt"):
        put(workspace, f"agents/a/sessions/{name}", "{}", "2020-01-01T00:00:00Z")
    put(workspace, "agents/a/sessions/new.jsonl", "{}", "2026-09-01T00:00:00Z")
    gone = files.prune(nanoseconds("2026-09-10T00:00:00Z") or 0)
    assert gone == ["agents/a/sessions/odd.txt", "agents/a/sessions/s.jsonl"]


def test_a_consolidation_that_comes_too_early_is_forgotten() -> None:
    throttle = AgentScopeThrottle(100)
    assert throttle.request(0)
    throttle.succeeded(30)
    assert not throttle.request(129) and throttle.request(130) and not throttle.request(229)


def test_every_line_of_a_log_is_found_by_the_name_of_its_folder(files: AgentScopeFiles, workspace: Path) -> None:
    put(workspace, "memory/2026-09-10.md", "one\n\ntwo words\n")
    assert [(path, line) for path, line, _, _ in files.search("memory")] == [
        ("memory/2026-09-10.md", 1), ("memory/2026-09-10.md", 3),
    ]  # fmt: skip
    assert files.search('two "words"')[0][2] == "two words"
    assert files.search(" \n") == [] and files.search('""') == [] and files.search("---") == []
    assert len(files.search("memory", 1)) == 1


# Live: the same layers, with safeguards


def test_live_a_reply_that_is_no_list_is_not_stored(workspace: Path, clock: Clock) -> None:
    model = ScriptedModel(chat=["Hello."], flush=["I can't help with that.", "Nor now."])
    agent = HarnessAgent(model=model, preset="agentscope", workspace=workspace, clock=clock)
    agent.ask("hi")
    agent.close()
    assert not list(workspace.glob("memory/*.md"))


def test_live_a_blank_log_stays_free_of_sentences(workspace: Path, clock: Clock) -> None:
    put(workspace, "memory/2026-04-12.md", "")
    model = ScriptedModel(chat=["Hello."], flush=["- Likes tea"])
    agent = HarnessAgent(model=model, preset="agentscope", workspace=workspace, clock=clock)
    agent.ask("hi")
    agent.close()
    text = (workspace / "memory/2026-04-12.md").read_text(encoding="utf-8")
    assert "Likes tea" in text and SENTINEL not in text


def test_live_a_refusal_does_not_become_the_memory(workspace: Path, clock: Clock) -> None:
    put(workspace, "MEMORY.md", "- Uses Python 3.11 for the lab\n- Lives in Oslo\n")
    put(workspace, "memory/2026-04-11.md", "- Likes tea\n")
    model = ScriptedModel(consolidation=["I cannot do that.", "I cannot do that."])
    agent = HarnessAgent(model=model, preset="agentscope", workspace=workspace, clock=clock)
    asyncio.run(agent._parts.design.consolidate())  # type: ignore[attr-defined]  # its own design has it
    agent.close()
    assert "Oslo" in (workspace / "MEMORY.md").read_text(encoding="utf-8")

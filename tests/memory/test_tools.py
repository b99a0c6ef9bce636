from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from harness_nb.core.blocks import DATA_NOTE
from harness_nb.errors import ToolError
from harness_nb.memory.tools import memory_tools
from harness_nb.model.recall import hits as hits_read_offline
from harness_nb.store.daily_log import Fact
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

OUTSIDE = ["../x", "/etc/hosts", "notes/../../x", "..", "a/..", "C:\\x", "..\\x", "", "~/x", "a\0b"]


@pytest.fixture
def call(store: Workspace, index: MemoryIndex) -> Callable[..., str]:
    tools = {tool.name: tool for tool in memory_tools(store, index)}
    return lambda name, **arguments: str(tools[name].function(**arguments))


def say(store: Workspace, text: str, role: str = "user") -> None:
    message = {"role": role, "content": text}
    store.session("ann", "s1").append(
        [{"kind": "message", "index": 0, "time": "2026-04-12T09:30:00+00:00", "message": message}]
    )


def test_only_memory_save_writes_and_no_result_is_evicted(store: Workspace, index: MemoryIndex) -> None:
    tools = memory_tools(store, index)
    effects = {tool.name: tool.effect for tool in tools}
    assert effects.pop("memory_save") == "write" and set(effects.values()) == {"read"}
    assert list(effects) == ["memory_search", "memory_get", "read_file", "session_search", "session_history"]
    assert not any(tool.evicts for tool in tools)
    assert all(all("description" in one for one in tool.parameters["properties"].values()) for tool in tools)
    assert [tool.parameters["required"] for tool in tools] == [
        ["query"],
        ["path"],
        ["path"],
        ["fact"],
        ["query"],
        ["session"],
    ]


def test_a_saved_fact_stands_in_todays_log_and_is_told_of(store: Workspace, index: MemoryIndex) -> None:
    told: list[int] = []
    save = {tool.name: tool for tool in memory_tools(store, index, lambda: told.append(1))}["memory_save"].function
    assert save("Never touch prod.\n- Really") == "Saved to memory/2026-04-12.md."
    (entry,) = store.daily_log.entries()
    assert (entry.text, entry.source) == ("Never touch prod.\n- Really", "save") and told == [1]
    assert save("never touch prod.  - really") == "memory/2026-04-12.md has this already."


@pytest.mark.parametrize(
    ("fact", "said"), [("a" * 2_100, "2,100 characters; at most 2,000"), (" ", "empty"), (None, "empty")]
)
def test_r062_a_fact_is_saved_whole_or_refused(
    store: Workspace, index: MemoryIndex, fact: str | None, said: str
) -> None:
    save = {tool.name: tool for tool in memory_tools(store, index)}["memory_save"].function
    with pytest.raises(ToolError, match=said):
        save(fact)
    assert store.daily_log.entries() == []
    assert save("a" * 2_000) == "Saved to memory/2026-04-12.md." and len(store.daily_log.entries()[0].text) == 2_000


def test_r101_hits_stand_in_a_marked_block_with_their_source(store: Workspace, call: Callable[..., str]) -> None:
    store.daily_log.append([Fact("The lab uses Python 3.11", session="s1", messages=(0, 0), role="user")])
    assert call("memory_search", query="python lab") == (
        f'<search_results hits="1">\n{DATA_NOTE}\n\n'
        "Source: memory/2026-04-12.md#3: - The lab uses Python 3.11\n</search_results>"
    )


def test_the_offline_model_reads_the_hits(store: Workspace, call: Callable[..., str]) -> None:
    store.daily_log.append([Fact("The lab uses Python 3.11"), Fact("The lab lies in Bonn")])
    found = hits_read_offline(call("memory_search", query="lab"))
    assert sorted((one.source, one.text) for one in found) == [
        ("memory/2026-04-12.md#3", "The lab uses Python 3.11"),
        ("memory/2026-04-12.md#4", "The lab lies in Bonn"),
    ]


def test_a_note_is_found_although_the_question_stands_in_the_session_log(
    store: Workspace, call: Callable[..., str]
) -> None:
    store.daily_log.append([Fact("Kepler ends on 5 May")])
    say(store, "When is the deadline of Kepler?")
    shown = call("memory_search", query="deadline Kepler")
    assert "5 May" in shown and "When is" not in shown


def test_what_was_only_said_is_found_where_no_note_has_it(store: Workspace, call: Callable[..., str]) -> None:
    say(store, "The deadline of Kepler is 5 May.")
    say(store, "When is the deadline of Kepler?")
    shown = call("memory_search", query="deadline Kepler")
    assert "5 May" in shown and "When is" not in shown and ".log.jsonl#1:" in shown


@pytest.mark.parametrize("query", ["", "   ", "\n", "!!!", None])
def test_r065_blank_queries_find_nothing(store: Workspace, call: Callable[..., str], query: str | None) -> None:
    store.daily_log.append([Fact("The lab uses Python 3.11!!!")])
    assert call("memory_search", query=query).startswith("Nothing was found")


def test_hits_are_bounded_in_number_and_length(store: Workspace, call: Callable[..., str]) -> None:
    store.curated.replace("".join(f"- {number} kepler {'pad ' * 500}\n" for number in range(100)))
    assert call("memory_search", query="kepler").count("Source:") == 10
    assert call("memory_search", query="kepler", limit=3).count("Source:") == 3
    most = call("memory_search", query="kepler", limit=1_000)
    assert most.count("Source:") == 30 and len(most) < 20_000


def test_numbers_are_taken_as_models_write_them(store: Workspace, call: Callable[..., str]) -> None:
    store.curated.replace("one\ntwo\nthree\n")
    assert "2|two\n</file>" in call("memory_get", path="MEMORY.md", start_line="2", end_line=2.0)


@pytest.mark.parametrize("limit", [0, -1, "ten", None, True, 1.5])
def test_a_limit_that_is_no_number_is_refused(call: Callable[..., str], limit: Any) -> None:
    with pytest.raises(ToolError, match="limit=.* is not valid"):
        call("memory_search", query="lab", limit=limit)


@pytest.mark.parametrize("tool", ["memory_get", "read_file"])
@pytest.mark.parametrize("path", OUTSIDE)
def test_r082_no_name_leads_out_of_the_workspace(call: Callable[..., str], tool: str, path: str) -> None:
    with pytest.raises(ToolError) as caught:
        call(tool, path=path)
    assert caught.value.remedy


def test_r082_no_link_leads_out_of_the_workspace(store: Workspace, call: Callable[..., str]) -> None:
    (store.path.parent / "secret.txt").write_text("secret", encoding="utf-8")
    os.symlink(store.path.parent / "secret.txt", store.path / "link.txt")
    with pytest.raises(ToolError):
        call("read_file", path="link.txt")


@pytest.mark.parametrize("tool", ["memory_get", "read_file"])
def test_what_cannot_be_read_says_what_to_do(store: Workspace, call: Callable[..., str], tool: str) -> None:
    (store.path / "folder").mkdir()
    (store.path / "picture.png").write_bytes(b"\x89PNG\0\0")
    for path in ("missing.md", "folder", "picture.png"):
        with pytest.raises(ToolError, match=path) as caught:
            call(tool, path=path)
        assert caught.value.remedy


def test_r072_a_hit_and_memory_get_count_lines_alike(store: Workspace, call: Callable[..., str]) -> None:
    store.memory_folder.mkdir()
    text = "one\x0c\u2028still one\r\ntwo\rstill two\n\nneedle here\n"
    (store.memory_folder / "2026-04-12.md").write_bytes(text.encode())
    assert "2026-04-12.md#4: needle here" in call("memory_search", query="needle")
    assert "4|needle here\n</file>" in call("memory_get", path="memory/2026-04-12.md", start_line=4, end_line=4)


def test_r042_an_evicted_result_is_read_in_pieces(store: Workspace, call: Callable[..., str]) -> None:
    path = store.evict("ann", "call_1", "y" * 50_000)
    assert call("read_file", path=path).endswith(
        "There are 30000 more characters. Continue with read_file, offset=20000."
    )
    assert 'characters="40000-50000 of 50000"' in call("read_file", path=path, offset=40_000)
    assert 'characters="0-100 of 50000"' in call("read_file", path=path, limit=100)

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_nb.agent.eviction import is_too_large
from harness_nb.core import edits
from harness_nb.core.config import MemoryConfig, ToolResultEvictionConfig
from harness_nb.core.events import ResultEvicted, Warned
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Text, ToolCall
from harness_nb.core.preview import placeholder
from tests.agent.conftest import Make
from tests.agent.reading import all_valid, chats, events, log_records, talk_of

SETTINGS = ToolResultEvictionConfig(max_result_chars=2_000, preview_chars=100)
TEXT = "".join(f"row {at}\n" for at in range(1_000))


def rows() -> str:
    """Many rows."""
    return TEXT


def evicting(make: Make, **options: Any) -> Any:
    agent = make([ToolCall("c1", "rows")], "done", tools=[rows], **({"tool_result_eviction": SETTINGS} | options))
    agent.ask("go")
    return agent


def shown(agent: Any) -> str:
    return next(item.message.text for item in agent.view().input if item.message.role == "tool")


def test_a_large_result_goes_to_a_file_and_head_tail_and_path_stay(make: Make) -> None:
    agent = evicting(make)
    (event,) = events(agent, ResultEvicted)
    assert event.path.startswith("large_tool_results/agent/c1-") and event.chars == len(TEXT)
    assert agent.workspace.read(event.path) == TEXT
    assert len(shown(agent)) < 600 and event.path in shown(agent)
    assert "row 0\n" in shown(agent) and "row 999\n" in shown(agent) and "read_file(path=" in shown(agent)
    assert talk_of(chats(agent)[1])[-1].text == shown(agent) and all_valid(agent)


def test_the_log_keeps_the_whole_result(make: Make) -> None:
    agent = evicting(make)
    assert TEXT in [message.text for message in agent.messages]
    assert any(record["message"]["content"] == TEXT for record in log_records(agent, "message"))


def test_it_is_off_unless_it_is_given(make: Make) -> None:
    assert shown(evicting(make, tool_result_eviction=None)) == TEXT


def test_excluded_tools_and_short_results_stay(make: Make) -> None:
    excluded = ToolResultEvictionConfig(max_result_chars=2_000, excluded_tool_names=frozenset({"rows"}))
    assert shown(evicting(make, tool_result_eviction=excluded)) == TEXT
    assert shown(evicting(make, tool_result_eviction=ToolResultEvictionConfig())) == TEXT


def test_r045_without_a_tool_to_read_it_the_text_says_so(make: Make) -> None:
    agent = evicting(make, memory=MemoryConfig(flush="never", tools=False))
    assert "read_file" not in shown(agent) and "you have no tool to read it" in shown(agent)


def test_a_result_that_cannot_be_moved_stays_whole_with_a_warning(make: Make) -> None:
    (make("x").workspace.path / "large_tool_results").write_text("a file in the way", encoding="utf-8")
    agent = evicting(make)
    assert shown(agent) == TEXT
    assert [event.about for event in events(agent, Warned)] == ["eviction"]


@pytest.mark.parametrize(("size", "too_large"), [(2_000, False), (2_001, True)])
def test_the_limit_itself_is_not_too_large(size: int, too_large: bool) -> None:
    assert is_too_large(Message.tool("c", "x" * size), SETTINGS) is too_large


def test_r044_a_placeholder_that_is_no_shorter_is_not_used(make: Make) -> None:
    settings = ToolResultEvictionConfig(max_result_chars=60, preview_chars=60)
    agent = make([ToolCall("c1", "short")], "done", tools=[short], tool_result_eviction=settings)
    agent.ask("go")
    assert shown(agent) == short() and events(agent, ResultEvicted) == []


def short() -> str:
    """A little above the limit."""
    return "x" * 101


@given(text=st.text(min_size=1, max_size=400), preview=st.integers(0, 300), can_read=st.booleans())
def test_r044_head_and_tail_never_overlap(text: str, preview: int, can_read: bool) -> None:
    made = placeholder(text, "f.txt", preview_chars=preview, can_read=can_read)
    assert sum(len(piece) for piece in made.split("]\n", 1)[1].split("\n[...")[0:1]) <= max(1, len(text))
    assert "f.txt" in made


def test_r043_a_result_in_parts_counts_by_its_texts_and_its_picture_stays() -> None:
    address = "data:image/png;base64," + "A" * 100_000
    picture = Image(address, json.dumps({"type": "image_url", "image_url": {"url": address}}))
    message = Message.tool("c1", (Text("y" * 100_000), picture), name="plot")
    assert is_too_large(message, ToolResultEvictionConfig())
    assert not is_too_large(Message.tool("c1", (Text("y" * 1_000), picture)), ToolResultEvictionConfig())
    shown = placeholder(message.text, "large_tool_results/plot.txt", preview_chars=2_000, can_read=True)
    item = edits.evicted(Item(3, message), shown, "large_tool_results/plot.txt")
    assert item.message.parts == (Text(shown), picture) and len(shown) < 5_000
    assert Message.from_openai(item.message.to_openai()).call_id == "c1"

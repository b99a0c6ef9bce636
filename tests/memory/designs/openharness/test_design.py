"""OpenHarness' memory in a live agent: what it shows, picks, writes and takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.messages import ToolCall, to_json
from harness_nb.errors import ConfigError
from harness_nb.memory.designs.openharness.config import OpenHarnessMemoryConfig
from harness_nb.memory.designs.openharness.design import OpenHarnessMemory
from harness_nb.memory.designs.openharness.extraction import read_records
from harness_nb.model.scripted import ScriptedModel

Agents = Callable[..., HarnessAgent]


@pytest.fixture
def agents(workspace: Path, clock: Clock) -> Any:
    """Makes agents with the preset, closed afterwards."""
    made: list[HarnessAgent] = []

    def make(chat: list[Any], *, flush: list[Any] | None = None, **settings: Any) -> HarnessAgent:
        model = ScriptedModel(chat=chat, flush=flush, repeat_last=True)
        preset = presets.get("openharness", **settings)
        made.append(HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock, permissions="allow"))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


def design(agent: HarnessAgent) -> OpenHarnessMemory:
    found = agent._parts.design
    assert isinstance(found, OpenHarnessMemory)
    return found


def sent(agent: HarnessAgent) -> str:
    """What the last request of the loop sent."""
    assert isinstance(agent.model, ScriptedModel)
    request = next(one for one in reversed(agent.model.requests) if one.purpose == "chat")
    return "\n".join(message.text for message in request.messages)


def writing(path: str, content: str) -> list[ToolCall]:
    return [ToolCall("w", "write_file", to_json({"path": path, "content": content}))]


def test_the_index_stands_in_the_prompt_and_a_topic_only_where_the_words_ask_for_it(agents: Agents) -> None:
    agent = agents(["ok"])
    design(agent).notes.add("Deploy steps", "Use the staging cluster.")
    agent.ask("How do I deploy?")
    assert "- [Deploy steps](deploy_steps.md)" in sent(agent) and "staging cluster" in sent(agent)
    agent.ask("Something else")
    assert "staging cluster" not in sent(agent).rpartition("</memory>")[0]


def test_the_model_writes_its_memory_with_file_tools_below_the_workspace(agents: Agents, workspace: Path) -> None:
    agent = agents([writing("style.md", "Tabs."), writing("MEMORY.md", "- [style](style.md)\n"), "done"])
    agent.ask("Remember tabs.")
    assert design(agent).notes.folder.is_relative_to(workspace)
    assert (design(agent).notes.folder / "style.md").read_text() == "Tabs."
    agent.ask("next")
    assert "- [style](style.md)" in sent(agent)


@pytest.mark.parametrize("path", ["../x.md", "/etc/x.md", "x.txt", ".hidden.md", "a/../../x.md"])
def test_the_file_tools_reach_no_other_place(agents: Agents, workspace: Path, path: str) -> None:
    agent = agents([writing(path, "no"), "done"])
    agent.ask("write")
    results = [message for message in agent.messages if message.role == "tool"]
    assert results[0].status == "error" and not list(workspace.rglob("x.*"))


def test_a_text_is_edited_where_it_stands_once(agents: Agents) -> None:
    edit = [ToolCall("e", "edit_file", to_json({"path": "a.md", "old": "one", "new": "two"}))]
    agent = agents([writing("a.md", "one"), edit, edit, "done"])
    agent.ask("go")
    assert (design(agent).notes.folder / "a.md").read_text() == "two"
    assert [message.status for message in agent.messages if message.role == "tool"][-1] == "error"


def test_notes_are_taken_after_a_turn_only_when_switched_on(agents: Agents) -> None:
    reply = to_json([{"title": "Name", "type": "user", "body": "The user is Ada."}])
    agent = agents(["hello"], flush=[reply])
    agent.ask("I am Ada.")
    assert design(agent).notes.listed() == []
    taking = agents(["hello"], flush=[reply], auto_extract_enabled=True)
    taking.ask("I am Ada.")
    taking.flush()
    assert design(taking).notes.listed() == ["name.md"]


def test_what_can_not_be_read_is_not_taken() -> None:
    assert read_records("no JSON", 3) == [] and read_records('[{"title": "x"}]', 3) == []
    four = to_json([{"title": str(at), "body": "b"} for at in range(4)])
    assert [one.title for one in read_records(f"```json\n{four}\n```", 3)] == ["0", "1", "2"]


def test_a_setting_that_is_not_valid_is_named() -> None:
    for setting in ("max_files", "max_entrypoint_bytes", "data_root", "topic_schema", "auto_extract_max_records"):
        with pytest.raises(ConfigError, match=setting):
            OpenHarnessMemoryConfig(**{setting: -1})

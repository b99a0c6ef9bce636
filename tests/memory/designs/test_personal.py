"""A personal agent's memory: profile always, notes when relevant, the rest by search, changes after review."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError, ToolError
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.personal import PersonalMemory, PersonalMemoryConfig
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

COUNTER = CharsCounter()
NOTES = "# Lab\n- The confocal microscope is called Heron.\n- Mira is responsible for the laser.\n- Lunch is at noon.\n"

Make = Callable[..., PersonalMemory]


@pytest.fixture
def make(workspace: Path, clock: Clock) -> Iterator[Make]:
    """Makes the memory of one workspace."""
    place = Workspace(workspace, clock=clock)
    place.ensure()
    index = MemoryIndex.of(place)

    def made(config: MemoryConfig | None = None, **settings: object) -> PersonalMemory:
        parts = DesignParts(
            workspace=place, index=index, model=ScriptedModel(chat=[]), **({"config": config} if config else {})
        )
        return PersonalMemory(parts, PersonalMemoryConfig(**{"search_mode": "keyword"} | settings))

    yield made
    index.close()


def shown(memory: PersonalMemory) -> str:
    return memory.injection(COUNTER).text


def update(memory: PersonalMemory, **arguments: str) -> str:
    return {tool.name: tool for tool in memory.tools()}["profile_update"].function(**arguments)


def test_the_profile_is_always_shown_and_notes_only_where_the_request_points_to_them(make: Make) -> None:
    memory = make()
    memory.workspace.write("USER.md", "Prefers short answers.\n")
    memory.workspace.curated.replace(NOTES)
    assert "Prefers short answers." in shown(memory) and "Heron" not in shown(memory)
    memory.asked("Which microscope is free?")
    assert "Heron" in shown(memory) and "Lunch" not in shown(memory) and "Mira" not in shown(memory)
    memory.asked("Tell me a joke about cats.")
    assert "Prefers short answers." in shown(memory) and "MEMORY.md" not in shown(memory)


def test_relevant_notes_are_bounded_in_lines_and_tokens(make: Make) -> None:
    memory = make(relevant_lines=2)
    memory.workspace.curated.replace("".join(f"- Sample {at} is blue.\n" for at in range(9)))
    memory.asked("Which sample is blue?")
    assert shown(memory).count("is blue") == 2
    tight = make(MemoryConfig(max_injected_tokens=8))
    tight.asked("Which sample is blue?")
    assert shown(tight).count("is blue") == 1
    none = make(relevant_lines=0)
    none.asked("Which sample is blue?")
    assert shown(none) == ""


def test_nothing_is_injected_where_that_is_off_or_there_is_nothing(make: Make) -> None:
    assert make().injection(COUNTER).message is None
    off = make(MemoryConfig(inject=False, tools=False))
    off.workspace.write("USER.md", "Prefers short answers.")
    assert shown(off) == "" and off.tools() == ()


def test_another_session_begins_without_the_notes_of_the_last_one(make: Make) -> None:
    memory = make()
    memory.workspace.curated.replace(NOTES)
    memory.asked("microscope")
    memory.begin("next")
    assert shown(memory) == ""


def test_the_profile_is_changed_line_by_line_and_never_grows_above_its_limit(make: Make) -> None:
    memory = make(profile_chars=60)
    assert update(memory, new="Called Zoë.") == "USER.md has 11 of 60 characters."
    update(memory, new="Prefers metric units.")
    update(memory, new="Prefers metric units.")
    assert memory.profile() == "Called Zoë.\nPrefers metric units."
    update(memory, old="metric", new="SI")
    assert "Prefers SI units." in shown(memory)
    with pytest.raises(ToolError, match="at most 60 fit"):
        update(memory, new="x" * 60)
    update(memory, old="Prefers SI units.", new="")
    assert memory.profile() == "Called Zoë."
    for arguments in ({"new": ""}, {"old": "absent", "new": "x"}):
        with pytest.raises(ToolError):
            update(memory, **arguments)
    assert memory.profile() == "Called Zoë."


def test_keys_are_masked_in_the_profile(make: Make) -> None:
    memory = make()
    update(memory, new="My key is sk-ant-" + "a1B2" * 12)
    assert "a1B2a1B2" not in memory.profile()


def test_a_profile_that_can_not_be_read_is_said_and_not_injected(make: Make) -> None:
    memory = make()
    (memory.workspace.path / "USER.md").mkdir()
    assert memory.injection(COUNTER).problem and shown(memory) == ""
    with pytest.raises(ToolError):
        update(memory, new="x")


def test_search_by_meaning_is_a_setting_that_is_checked(make: Make) -> None:
    with pytest.raises(ConfigError, match="search_mode='vector'|mode='vector'"):
        make(search_mode="vector")
    with pytest.raises(ConfigError, match="profile_chars=0"):
        make(profile_chars=0)


def test_the_preset_keeps_the_long_tail_out_of_the_prompt_and_changes_nothing_without_review(
    workspace: Path, clock: Clock
) -> None:
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    (workspace / "USER.md").write_text("Called Zoë.\n", encoding="utf-8")
    (workspace / "MEMORY.md").write_text(NOTES, encoding="utf-8")
    model = ScriptedModel(
        chat=["It is Heron."],
        flush=["- The microscope moved to room 5."],
        consolidation=[NOTES + "- The microscope moved to room 5.\n"],
        repeat_last=True,
    )
    preset = presets.get("personal", search_mode="keyword")
    assert preset.memory.review == "always" and preset.settings["trigger_tokens"] == 0.75
    with HarnessAgent(model=model, preset=preset, workspace=workspace, clock=clock) as agent:
        agent.ask("What is the microscope called?")
        sent = next(one for one in model.requests if one.purpose == "chat")
        text = "\n".join(message.text for message in sent.messages)
        assert "Called Zoë." in text and "Heron" in text and "Lunch" not in text
        assert {"memory_search", "session_search", "profile_update"} <= set(agent.tools)
        agent.flush()
        report = agent.consolidate()
        assert report.outcome == "waiting" and len(agent.memory.pending())
        assert "room 5" not in agent.workspace.curated.read()

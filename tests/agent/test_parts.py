from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.config import CompactionConfig
from harness_nb.core.limits import DEFAULT_WINDOW
from harness_nb.errors import ConfigError, HarnessError, StoreError
from harness_nb.model.offline import OfflineModel
from harness_nb.model.scripted import ScriptedModel
from tests.agent.conftest import Make


@pytest.mark.parametrize(
    "options",
    [
        {"name": ""}, {"name": "  "}, {"name": None}, {"preset": "harnes"}, {"compaction": {"trigger_messages": 3}},
        {"tool_result_eviction": True}, {"permissions": "maybe"}, {"permissions": {"run": "sometimes"}},
        {"tools": [lambda text: text]}, {"tools": [5]}, {"model": "scripted"}, {"model": ""}, {"model": object()},
        {"window": 0}, {"window": "large"}, {"max_steps": True}, {"workspace": ""},
    ],
)  # fmt: skip
def test_a_wrong_setting_is_refused_in_two_lines_that_name_it_before_anything_is_made(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises((ConfigError, StoreError)) as caught:
        HarnessAgent(**({"workspace": tmp_path / "ws"} | options))
    assert caught.value.remedy and len(str(caught.value).splitlines()) <= 3
    assert not (tmp_path / "ws" / "agents").exists()


def test_a_workspace_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match="ws"):
        HarnessAgent(workspace=tmp_path / "ws")


def test_without_settings_it_is_the_offline_model_in_a_workspace_here(tmp_path: Path) -> None:
    with HarnessAgent() as agent:
        assert repr(agent) == "HarnessAgent('agent', model='offline', preset='harness')"
        assert agent.workspace.path == Path.cwd() / ".harness_nb" / "workspace"
        assert isinstance(agent.model, OfflineModel)
        assert agent.ask("My lab uses Python 3.11.").text


@pytest.mark.parametrize("given", [print, "print", 3])
def test_tools_that_are_no_list_are_refused_with_what_to_write(given: Any) -> None:
    with pytest.raises(ConfigError, match=r"is no list.\nGive a list of functions: tools=\[...\]"):
        HarnessAgent(tools=given)


def test_r103_window_and_its_source_are_visible(make: Make) -> None:
    assert (make("x", window=9_000).status().window, make("x", window=9_000).status().window_source) == (9_000, "user")
    status = make(model=ScriptedModel(chat=["x"], window=7_000)).status()
    assert (status.window, status.window_source) == (7_000, "model")
    status = make("x", preset="eney", window=9_000).status()
    assert (status.window, status.window_source) == (9_000, "user")


def test_r103_an_unknown_model_has_the_documented_window_and_one_warning(workspace: Path) -> None:
    with HarnessAgent(model="openai/my-local-7b", workspace=workspace) as agent:
        assert (agent.status().window, agent.status().window_source) == (DEFAULT_WINDOW, "default")
        (warning,) = agent.warnings
        assert "openai/my-local-7b" in warning and "128" in warning
    with HarnessAgent(model="openai/my-local-7b", workspace=workspace, preset="eney") as agent:
        assert agent.status().window == 128_000


def test_r103_absolute_triggers_work_whatever_the_window_is(make: Make) -> None:
    agent = make("a", "b", "c", compaction=CompactionConfig(trigger_tokens=4_000, keep_messages=1))
    for text in "xyz":
        agent.ask(text * 8_000)
    assert any(item.how == "summary" for item in agent.view().input)


def test_the_settings_in_force_are_those_that_were_given(make: Make) -> None:
    agent = make("x", max_steps=7, compaction=CompactionConfig(keep_messages=3))
    assert agent.settings["max_steps"] == 7 and agent.settings["keep_messages"] == 3
    assert agent.status().preset == "harness"


def test_a_memory_that_cannot_be_read_is_a_warning(make: Make) -> None:
    agent = make("x")
    (agent.workspace.path / "MEMORY.md").mkdir()
    assert any("MEMORY.md" in warning for warning in agent.warnings)
    assert agent.ask("hello").text == "x"


def test_an_agent_is_a_context_manager_and_its_frames_hold_what_happened(make: Make) -> None:
    with make("one", "two") as agent:
        agent.ask("a")
        agent.ask("b")
        assert list(agent.frames.messages()["role"]) == ["user", "assistant"] * 2
        assert len(agent.frames.usage()) == 2 and len(agent.frames.events()) == len(agent.events)
        assert len(agent.frames.plans()) == 0
        assert repr(agent.frames) == "AgentFrames('agent')"


def test_pressure_and_memory_tokens_are_figures_of_the_view(make: Make) -> None:
    agent = make("one")
    assert agent.memory_tokens == 0
    agent.workspace.curated.replace("- likes tea\n")
    assert agent.memory_tokens > 0
    agent.ask("a")
    assert agent.pressure().tokens == agent.view().tokens
    assert [trigger.name for trigger in agent.pressure().triggers] == ["trigger_messages", "trigger_tokens"]


def test_status_names_what_holds_and_no_key(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-abcdefghijklmnop1234")
    agent = make("one")
    text = str(agent.status())
    assert "model: scripted" in text and "policy: harness" in text and "sk-test" not in text
    assert isinstance(agent.status().records, list)


def test_errors_of_the_package_are_all_of_one_root() -> None:
    assert issubclass(ConfigError, HarnessError) and issubclass(StoreError, HarnessError)

from __future__ import annotations

from pathlib import Path

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.messages import ToolCall
from harness_nb.errors import ConfigError
from harness_nb.memory.designs.openclaw.design import OpenClawMemory
from harness_nb.model.scripted import ScriptedModel


def test_settings_of_all_its_parts_are_given_by_name() -> None:
    settings = presets.get("openclaw", keep_recent_tokens=9_000, startup_days=3, mmr=True, deep_limit=2).settings
    assert [settings[name] for name in ("keep_recent_tokens", "startup_days", "mmr", "deep_limit")] == [
        9_000,
        3,
        True,
        2,
    ]


@pytest.mark.parametrize(
    ("name", "hint"), [("mrr", "mmr"), ("startup_day", "startup_days"), ("dreaming_revue", "dreaming_review")]
)
def test_an_unknown_setting_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        presets.get("openclaw", **{name: 1})
    assert hint in caught.value.remedy


def test_dreaming_happens_in_the_background_only_where_it_is_on() -> None:
    assert presets.get("openclaw").maintenance is None
    keeping = presets.get("openclaw", dreaming=True).maintenance
    assert keeping is not None and keeping.daily_file_retention_days is None


def test_an_agent_writes_a_note_and_finds_it_in_the_next_session(workspace: Path, clock: Clock) -> None:
    (workspace / "SOUL.md").write_text("You are terse.", encoding="utf-8")
    write = ToolCall("c1", "write", '{"path": "memory/2026-04-12.md", "content": "- Ann likes tea"}')
    look = ToolCall("c2", "memory_search", '{"query": "tea"}')
    model = ScriptedModel(chat=[[write], "Noted.", [look], "Tea."])
    with HarnessAgent(model=model, preset="openclaw", workspace=workspace, clock=clock) as agent:
        assert isinstance(agent._parts.design, OpenClawMemory)
        agent.ask("Ann likes tea")
        agent.ask("what does Ann like?")
        found = [message.text for message in agent.messages if message.role == "tool"]
    assert (
        found[0] == "Wrote memory/2026-04-12.md."
        and "memory/2026-04-12.md#L1-L" in found[1]
        and "Ann likes tea" in found[1]
    )
    later = ScriptedModel(chat=["Hi."])
    with HarnessAgent(model=later, preset="openclaw", workspace=workspace, clock=clock) as agent:
        agent.ask("hello")
    sent = "\n".join(message.text for message in later.requests[0].messages)
    assert "You are terse." in sent and "Ann likes tea" in sent

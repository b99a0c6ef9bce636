from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness_nb import presets
from harness_nb.agent.agent import HarnessAgent
from harness_nb.core.clock import Clock
from harness_nb.core.config import MaintenanceConfig, MemoryConfig
from harness_nb.core.messages import ToolCall, to_json
from harness_nb.core.tokens import CharsCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import ConfigError, ModelError, StoreError, ToolError
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.gemini_cli import inbox as inbox_module
from harness_nb.memory.designs.gemini_cli.config import GeminiCliMemoryConfig
from harness_nb.memory.designs.gemini_cli.design import GeminiCliMemory
from harness_nb.memory.designs.gemini_cli.run_lock import run_lock
from harness_nb.memory.designs.gemini_cli.tools import HEADING
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex
from harness_nb.store.workspace import Workspace

COUNTER = CharsCounter()
Make = Callable[..., GeminiCliMemory]


@pytest.fixture
def make(workspace: Path, clock: Clock) -> Iterator[Make]:
    """Makes memories of one workspace."""
    place = Workspace(workspace, clock=clock)
    place.ensure()
    index = MemoryIndex.of(place)

    def memory(facts: Any = "NO_REPLY", config: MemoryConfig | None = None, **settings: Any) -> GeminiCliMemory:
        model = ScriptedModel(chat=[], flush=[facts], repeat_last=True)
        parts = DesignParts(workspace=place, index=index, model=model, config=config or MemoryConfig())
        return GeminiCliMemory(parts, settings=GeminiCliMemoryConfig(**settings))

    yield memory
    index.close()


def shown(memory: GeminiCliMemory) -> str:
    return memory.injection(COUNTER).text


def tool(memory: GeminiCliMemory, name: str) -> Tool:
    return next(one for one in memory.tools() if one.name == name)


def private(memory: GeminiCliMemory, name: str = "MEMORY.md") -> str:
    return memory.workspace.relative(memory.places.private_folder / name)


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# The prompt


def test_the_tiers_stand_in_the_prompt_in_their_order_each_below_its_path(make: Make) -> None:
    memory = make()
    for path, text in (
        (memory.places.roots[0] / "GEMINI.md", "team rule"),
        (memory.places.index_file, "private note"),
        (memory.places.global_file, "own wish, see @more.md"),
        (memory.places.global_file.parent / "more.md", "more of it"),
    ):
        put(path, text)
    memory.begin("s")
    text = shown(memory)
    assert text.index("own wish") < text.index("more of it") < text.index("private note") < text.index("team rule")
    assert f"--- {private(memory)} (private) ---" in text and "--- GEMINI.md (project) ---" in text
    assert memory.injection(COUNTER).lines == 5


def test_files_are_read_when_a_session_begins_and_not_in_between(make: Make) -> None:
    memory = make()
    assert "no context file yet" in shown(memory)
    put(memory.places.global_file, "a wish")
    assert "a wish" not in shown(memory)
    memory.begin("next")
    assert "a wish" in shown(memory)


def test_everything_lies_below_the_workspace_in_a_folder_named_after_the_working_directory(
    make: Make, workspace: Path
) -> None:
    memory = make()
    for path in (memory.places.global_file, memory.places.private_folder, memory.places.inbox_folder):
        assert path.is_relative_to(os.path.realpath(workspace))
    assert memory.places.private_folder.parent.name.startswith(f"{Path.cwd().name}-")


def test_context_files_of_a_project_elsewhere_are_read_only_where_it_is_named_and_trusted(
    make: Make, tmp_path: Path
) -> None:
    put(tmp_path / "repository/GEMINI.md", "of the repository")
    put(tmp_path / "repository/app/AGENTS.md", "of the app")
    (tmp_path / "repository/.git").mkdir()
    root = {"project_root": str(tmp_path / "repository/app"), "file_name": ("AGENTS.md",)}
    assert "of the repository" not in shown(make())
    text = shown(make(**root))
    assert text.index("of the repository") < text.index("of the app")
    assert "of the" not in shown(make(**root, is_trusted=False)).replace("of the project", "").replace(
        "of the user", ""
    )


def test_further_folders_are_shown_only_where_that_is_switched_on(make: Make, tmp_path: Path) -> None:
    put(tmp_path / "other/GEMINI.md", "of the other")
    folders = {"include_directories": (str(tmp_path / "other"),)}
    assert "of the other" not in shown(make(**folders))
    assert "of the other" in shown(make(**folders, load_memory_from_include_directories=True))


def test_without_injection_and_tools_nothing_is_said(make: Make) -> None:
    assert shown(make(config=MemoryConfig(inject=False))) == ""
    bare = make(config=MemoryConfig(tools=False))
    assert shown(bare) == "" and bare.tools() == ()


# Tools


def test_the_model_writes_files_of_the_memory_and_no_others(make: Make, workspace: Path) -> None:
    memory = make()
    write = tool(memory, "write_file").function
    for name in (private(memory), private(memory, "topic.md"), "gemini/GEMINI.md", "GEMINI.md", "src/GEMINI.md"):
        assert name in write(name, "a note")
        assert (workspace / name).read_text(encoding="utf-8") == "a note"
    outside = ("../GEMINI.md", "/etc/GEMINI.md", "MEMORY.md", "notes.md", "gemini/other.md", "agents/a/log.md")
    inside = (
        private(memory, ".inbox/x.md"),
        private(memory, "sub/x.md"),
        private(memory, ".x.md"),
        private(memory, "x.py"),
    )
    for name in (*outside, *inside, ""):
        with pytest.raises(ToolError):
            write(name, "a note")
        with pytest.raises(ToolError):
            tool(memory, "write_file").check({"path": name})  # type: ignore[misc]


def test_a_key_is_never_written(make: Make, workspace: Path) -> None:
    memory = make()
    tool(memory, "write_file").function("GEMINI.md", "key sk-ant-api03-" + "a1B2" * 20)
    assert "a1B2a1B2" not in (workspace / "GEMINI.md").read_text(encoding="utf-8")


def test_a_passage_is_replaced_only_where_it_stands_once(make: Make, workspace: Path) -> None:
    memory = make()
    change = tool(memory, "replace").function
    with pytest.raises(ToolError, match="no file"):
        change("GEMINI.md", "a", "b")
    put(workspace / "GEMINI.md", "one two two")
    change("GEMINI.md", "one", "1")
    assert (workspace / "GEMINI.md").read_text(encoding="utf-8") == "1 two two"
    for passage, why in (("two", "2 times"), ("three", "not there"), ("", "not there")):
        with pytest.raises(ToolError, match=why):
            change("GEMINI.md", passage, "x")


def test_what_holds_for_a_touched_file_comes_along_once(make: Make, workspace: Path) -> None:
    memory = make()
    put(workspace / "src/GEMINI.md", "rule of the sources")
    put(workspace / "src/main.py", "code")
    read = tool(memory, "read_file").function
    assert "rule of the sources" in read("src/main.py") and "rule of the sources" not in read("src/main.py")
    memory.begin("next")
    assert "rule of the sources" in tool(memory, "list_directory").function("src")
    untrusted = make(is_trusted=False)
    assert "rule of the sources" not in tool(untrusted, "read_file").function("src/main.py")


def test_folders_are_listed_without_what_is_hidden(make: Make, workspace: Path) -> None:
    memory = make()
    listing = tool(memory, "list_directory").function
    assert listing() == "(empty)"
    put(workspace / "src/.hidden", "")
    put(workspace / "src/a.py", "")
    assert listing("src") == "a.py" and listing() == "src/"
    with pytest.raises(ToolError):
        listing("missing")


def test_the_historical_tool_appends_one_line_below_its_heading(make: Make, workspace: Path) -> None:
    memory = make(writer="save_memory_append")
    assert [one.name for one in memory.tools()] == ["read_file", "save_memory"]
    save = tool(memory, "save_memory").function
    save("- likes\n  tea")
    put(memory.places.global_file, f"# Mine\n\n{HEADING}\n- likes tea\n\n## Other\n- stays\n")
    save("drinks coffee, too")
    text = memory.places.global_file.read_text(encoding="utf-8")
    assert text == f"# Mine\n\n{HEADING}\n- likes tea\n- drinks coffee, too\n\n## Other\n- stays\n"
    save("uses tabs", "project")
    assert (workspace / "GEMINI.md").read_text(encoding="utf-8") == f"{HEADING}\n- uses tabs\n"
    for fact, scope in ((" - ", "global"), ("x", "planet")):
        with pytest.raises(ToolError):
            save(fact, scope)


def test_the_historical_tool_never_writes_outside_the_workspace(make: Make, tmp_path: Path) -> None:
    memory = make(writer="save_memory_append", project_root=str(tmp_path / "elsewhere"))
    with pytest.raises(ToolError, match="outside"):
        tool(memory, "save_memory").function("x", "project")


# Mining


def session(memory: GeminiCliMemory, name: str, *, prompts: int = 10, hours: float = 5) -> None:
    """A session that ended some hours ago."""
    at = memory.workspace.clock.now() - timedelta(hours=hours)
    files = memory.workspace.session("agent", name)
    records = []
    for number in range(prompts):
        asked = {"message": {"role": "user", "content": f"prompt {number}"}, "origin": "user"}
        records.append({"kind": "message", "index": number, "time": at.isoformat(), **asked})
    files.append(records)


def mined(memory: GeminiCliMemory, hours: float = 0) -> Any:
    return asyncio.run(memory.consolidate(memory.workspace.clock.now() + timedelta(hours=hours)))


def test_what_is_mined_waits_and_changes_nothing_by_itself(make: Make) -> None:
    memory = make("- The team deploys on Mondays [#3]\n- The user likes tea [#4]")
    session(memory, "old")
    report = mined(memory)
    assert (report.outcome, report.candidate, report.model_calls) == ("waiting", 1, 1)
    assert not memory.places.index_file.exists()
    (candidate,) = memory.memory.pending().candidates
    assert candidate.changes[0].after == "- The team deploys on Mondays\n- The user likes tea"
    assert candidate.changes[0].heading == private(memory)


def test_an_accepted_change_is_made_and_stands_in_the_prompt_at_once(make: Make) -> None:
    memory = make("- The user likes tea")
    session(memory, "old")
    mined(memory)
    decision = memory.memory.accept(1)
    assert (decision.verb, decision.left, decision.changes[0].kind) == ("accepted", 0, "added")
    assert memory.memory.show().text == "- The user likes tea\n" and "likes tea" in shown(memory)
    assert len(memory.memory.pending()) == 0


def test_a_rejected_change_is_gone_and_its_session_is_not_read_again(make: Make) -> None:
    memory = make("- The user likes tea")
    session(memory, "old")
    mined(memory)
    memory.memory.reject("1")
    assert mined(memory, 1).outcome == "nothing" and not memory.places.index_file.exists()
    session(memory, "old", hours=4)
    assert mined(memory, 2).outcome == "waiting"


def test_later_finds_are_merged_with_those_that_wait(make: Make) -> None:
    memory = make("- The user likes tea")
    session(memory, "one")
    mined(memory)
    other = make("- The user has a dog")
    session(other, "two")
    mined(other, 1)
    (candidate,) = other.memory.pending().candidates
    assert candidate.changes[0].after == "- The user likes tea\n- The user has a dog"


@pytest.mark.parametrize(("prompts", "hours"), [(9, 5), (10, 2.9)])
def test_short_and_fresh_sessions_are_left_alone(make: Make, prompts: int, hours: float) -> None:
    memory = make("- The user likes tea")
    session(memory, "old", prompts=prompts, hours=hours)
    report = mined(memory)
    assert (report.outcome, report.model_calls) == ("nothing", 0)


def test_the_session_in_use_is_left_alone(make: Make) -> None:
    memory = make("- The user likes tea")
    memory.begin("old")
    session(memory, "old")
    assert mined(memory).model_calls == 0


def test_runs_keep_a_distance_and_read_few_sessions_each(make: Make) -> None:
    memory = make("- The user likes tea", max_new_sessions=2)
    for at in range(3):
        session(memory, f"s{at}", hours=5 + at)
    assert mined(memory).model_calls == 2
    assert "short while" in mined(memory, 0.4).reason
    assert mined(memory, 0.6).model_calls == 1


def test_a_session_that_could_not_be_read_comes_back(make: Make) -> None:
    memory = make(ModelError("down"))
    session(memory, "old")
    report = mined(memory)
    assert (report.outcome, report.reason) == ("failed", "down")
    again = make("- The user likes tea")
    assert mined(again).outcome == "waiting"


def test_a_reply_without_facts_counts_as_read(make: Make) -> None:
    memory = make("NO_REPLY")
    session(memory, "old")
    assert mined(memory).outcome == "nothing" and mined(memory, 1).model_calls == 0
    state = json.loads((memory.places.private_folder / ".extraction-state.json").read_text(encoding="utf-8"))
    assert [run["changes"] for run in state["runs"]] == [0]


def test_a_state_that_can_not_be_read_counts_as_none(make: Make) -> None:
    memory = make("- The user likes tea")
    put(memory.places.private_folder / ".extraction-state.json", "{broken")
    session(memory, "old")
    assert mined(memory).outcome == "waiting"


def test_one_run_at_a_time_and_a_dead_or_old_one_does_not_count(make: Make) -> None:
    memory = make("- The user likes tea")
    session(memory, "old")
    now, folder = memory.workspace.clock.now(), memory.places.private_folder
    with run_lock(folder, now, timedelta(minutes=35)) as is_mine:
        assert is_mine and mined(memory).outcome == "busy"
        assert mined(memory, 0.6).outcome == "waiting"
    put(folder / ".extraction.lock", to_json({"pid": 2**22 + 1, "started": now.isoformat()}))
    with run_lock(folder, now, timedelta(minutes=35)) as is_mine:
        assert is_mine
    put(folder / ".extraction.lock", "odd")
    with run_lock(folder, now, timedelta(minutes=35)) as is_mine:
        assert is_mine
    assert not (folder / ".extraction.lock").exists()


# The inbox


def test_several_files_are_changed_together_or_not_at_all(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = make()
    index, topic = memory.places.index_file, memory.places.private_folder / "topic.md"
    put(index, "old\n")
    memory.inbox.propose("private", {index: "new\n", topic: "a topic\n"})
    real = os.replace

    def fails_second(source: Any, target: Any) -> None:
        if Path(target) == topic:
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(inbox_module.os, "replace", fails_second)
    with pytest.raises(StoreError, match="No space"):
        memory.memory.accept(1)
    monkeypatch.undo()
    assert index.read_text(encoding="utf-8") == "old\n" and not topic.exists()
    assert [path.name for path in index.parent.iterdir() if path.suffix == ".new"] == []
    memory.memory.accept(1)
    assert index.read_text(encoding="utf-8") == "new\n- topic.md: see topic.md\n"
    assert topic.read_text(encoding="utf-8") == "a topic\n"


def test_changes_can_be_decided_on_one_by_one(make: Make) -> None:
    memory = make()
    folder = memory.places.private_folder
    memory.inbox.propose("private", {folder / "a.md": "a\n", folder / "b.md": "b\n"})
    assert memory.memory.accept(1, [2]).left == 1
    assert not (folder / "a.md").exists() and (folder / "b.md").exists()
    assert memory.memory.reject(1, 1).left == 0
    with pytest.raises(StoreError, match="waits"):
        memory.memory.accept(1)


def test_a_change_of_the_users_own_file_is_another_candidate(make: Make) -> None:
    memory = make()
    memory.inbox.propose("global", {memory.places.global_file: "likes tea\n"})
    (candidate,) = memory.memory.pending().candidates
    assert candidate.number == 2
    memory.memory.accept(2)
    assert memory.places.global_file.read_text(encoding="utf-8") == "likes tea\n"


def test_a_change_may_not_reach_what_its_kind_may_not_change(make: Make, workspace: Path) -> None:
    memory = make()
    for kind, path in (
        ("private", memory.places.global_file),
        ("private", memory.places.private_folder / "sub/a.md"),
        ("global", memory.places.index_file),
        ("private", workspace / "GEMINI.md"),
    ):
        with pytest.raises(StoreError, match="may not be made"):
            memory.inbox.propose(kind, {Path(os.path.realpath(path)): "x\n"})


def test_a_patch_that_was_tampered_with_is_named_and_not_applied(make: Make, workspace: Path) -> None:
    memory = make()
    put(memory.inbox.path("private"), "--- /dev/null\n+++ ../../evil.md\n@@ -0,0 +1 @@\n+x\n")
    assert "evil" in memory.memory.pending().warnings[0]
    put(memory.inbox.path("private"), "--- /dev/null\n+++ GEMINI.md\n@@ -0,0 +1 @@\n+x\n")
    with pytest.raises(StoreError):
        memory.memory.accept(1)
    assert not (workspace / "GEMINI.md").exists()


def test_a_change_whose_file_was_edited_meanwhile_waits_on(make: Make) -> None:
    memory = make()
    put(memory.places.index_file, "one\n")
    memory.inbox.propose("private", {memory.places.index_file: "one\ntwo\n"})
    put(memory.places.index_file, "edited by hand\n")
    with pytest.raises(StoreError, match="has changed"):
        memory.memory.accept(1)
    assert len(memory.memory.pending()) == 1


def test_what_the_inbox_can_not_do_is_said(make: Make) -> None:
    memory = make()
    for call in (lambda: memory.memory.edit(1, 1, "x"), lambda: memory.memory.reject(1, again=True)):
        with pytest.raises(ConfigError):
            call()
    for number in (3, 0):
        with pytest.raises(StoreError):
            memory.memory.accept(number)
    memory.inbox.propose("private", {memory.places.index_file: "x\n"})
    with pytest.raises(StoreError, match="no change 7"):
        memory.memory.accept(1, 7)


# Settings and the agent


@pytest.mark.parametrize(
    "setting",
    [
        {"import_format": "web"}, {"writer": "none"}, {"file_name": ("../x.md",)}, {"file_name": ("notes.txt",)},
        {"file_name": "X.md"}, {"project_root": " "}, {"max_new_sessions": 0}, {"auto_memory": 1},
    ],
)  # fmt: skip
def test_a_setting_that_is_not_valid_is_refused_by_name(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        presets.get("gemini-cli", **setting)
    assert caught.value.subject == next(iter(setting))


def test_sessions_are_kept_for_thirty_days_unless_told_otherwise() -> None:
    def kept(**settings: Any) -> int | None:
        upkeep = presets.get("gemini-cli", **settings).maintenance
        assert isinstance(upkeep, MaintenanceConfig)
        return upkeep.session_retention_days

    assert (kept(), kept(session_retention_days=5), kept(session_retention_enabled=False)) == (30, 5, None)


def test_live_an_agent_writes_its_memory_and_finds_it_in_the_next_session(workspace: Path, clock: Clock) -> None:
    call = ToolCall("c", "write_file", to_json({"path": "gemini/GEMINI.md", "content": "The user likes tea."}))
    for chat in ([[call], "Saved."], ["You like tea."]):
        model = ScriptedModel(chat=chat)
        agent = HarnessAgent(model=model, preset="gemini-cli", workspace=workspace, clock=clock, permissions="allow")
        agent.ask("what do I like?")
        sent = "\n".join(message.text for message in model.requests[-1].messages)
        agent.close()
    assert "The user likes tea." in sent


def test_ended_sessions_are_mined_soon_after_a_session_begins(workspace: Path, clock: Clock) -> None:
    model = ScriptedModel(chat=["ok"], flush=["- The user likes tea"], repeat_last=True)
    preset = presets.get("gemini-cli", auto_memory=True)
    place = Workspace(workspace, clock=clock)
    index = MemoryIndex.of(place)
    design = preset.design(DesignParts(workspace=place, index=index, model=model))
    assert isinstance(design, GeminiCliMemory)
    session(design, "old")
    design.begin("new")
    assert design.maintenance is not None and design.maintenance.schedule().due(clock.now()) == "consolidation"
    report = design.maintenance.tick(clock.now())
    index.close()
    assert report is not None and report.steps[0].outcome == "waiting"


def test_without_mining_and_upkeep_there_is_no_maintenance(make: Make) -> None:
    assert make().maintenance is None

"""PicoClaw's memory: files whole in the prompt, notes of three calendar days, and tools that write no other file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from harness_nb.agent.calls import Outcome, run_call
from harness_nb.agent.permissions import Permissions
from harness_nb.agent.runner import runner
from harness_nb.core.config import MemoryConfig
from harness_nb.core.messages import ToolCall, to_json
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError, ToolError
from harness_nb.lab.conformance.folders import files_in, folder
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.picoclaw import PicoClawMemory, PicoClawMemoryConfig
from harness_nb.memory.designs.picoclaw_tools import memory_path

NOW = datetime(2026, 6, 13, 12, tzinfo=UTC)
NOTES = {f"memory/202606/202606{day:02}.md": f"# note of {day}" for day in (9, 10, 11, 13)}


def context(files: Mapping[str, str], **settings: Any) -> str:
    with folder(files, now=NOW) as place:
        return PicoClawMemory(place, PicoClawMemoryConfig(**settings)).context()


def called(place: DesignParts, name: str, permission: str = "allow", **arguments: Any) -> Outcome:
    tools = {tool.name: tool for tool in PicoClawMemory(place).tools()}
    call = ToolCall("call", name, to_json(arguments))
    return runner.wait(run_call(call, tools, Permissions(default=permission)))  # type: ignore[arg-type]


# In the prompt


def test_notes_of_the_last_calendar_days_stand_in_the_prompt_newest_first() -> None:
    assert context(NOTES) == "## Recent Daily Notes\n\n# note of 13\n\n---\n\n# note of 11"
    assert "note of 9" in context(NOTES, notes_days=5)
    assert context(NOTES, notes_days=0) == ""


def test_the_long_term_memory_stands_before_them_whole() -> None:
    text = context({**NOTES, "memory/MEMORY.md": "- a fact\n" * 9_000})
    assert text.startswith("## Long-term Memory\n\n- a fact\n")
    assert text.count("- a fact") == 9_000 and text.endswith("note of 11")


def test_profile_persona_and_definition_stand_before_that() -> None:
    files = {"AGENTS.md": "---\nname: a\n---\nBe useful.", "USER.md": "Ann", "SOUL.md": "Calm", "IDENTITY.md": "older"}
    with folder({**files, "memory/MEMORY.md": "- a fact"}, now=NOW) as place:
        text = PicoClawMemory(place).injection(CharsCounter()).text
    order = [text.index(part) for part in ("Be useful.", "Calm", "Ann", "- a fact")]
    assert order == sorted(order)
    assert "older" not in text and "name: a" not in text


def test_files_are_read_anew_for_each_request_so_that_midnight_and_new_notes_show() -> None:
    with folder({}, now=NOW) as place:
        memory = PicoClawMemory(place)
        assert "nothing noted yet" in memory.injection(CharsCounter()).text
        called(place, "append_file", path="memory/202606/20260613.md", content="met Ann")
        assert "met Ann" in memory.injection(CharsCounter()).text


def test_it_can_be_switched_off() -> None:
    with folder(NOTES, config=MemoryConfig(inject=False, tools=False), now=NOW) as place:
        memory = PicoClawMemory(place)
        assert (memory.injection(CharsCounter()).text, memory.tools()) == ("", ())


def test_seahorse_has_tools_that_look_up_what_was_said() -> None:
    with folder({}) as place:
        plain, more = ({tool.name for tool in PicoClawMemory(place, expands=one).tools()} for one in (False, True))
    assert plain == {"read_file", "write_file", "append_file", "edit_file"}
    assert more - plain == {"session_search", "session_history"}


def test_a_wrong_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="notes_days"):
        PicoClawMemoryConfig(notes_days=-1)


# Tools


def test_the_model_writes_adds_and_edits() -> None:
    with folder({}, now=NOW) as place:
        assert called(place, "write_file", path="memory/MEMORY.md", content="- likes tea\n").status == "ok"
        assert called(place, "append_file", path="memory/MEMORY.md", content="- likes rye").status == "ok"
        assert called(place, "edit_file", path="memory/MEMORY.md", old_text="tea", new_text="coffee").status == "ok"
        assert called(place, "append_file", path="memory/202606/20260613.md", content="met Ann").status == "ok"
        assert files_in(place.workspace.path) == {
            "memory/MEMORY.md": "- likes coffee\n- likes rye\n",
            "memory/202606/20260613.md": "# 20260613\n\nmet Ann\n",
        }


def test_what_is_added_begins_on_a_line_of_its_own() -> None:
    with folder({"USER.md": "Ann"}) as place:
        called(place, "append_file", path="./USER.md", content="likes tea")
        assert files_in(place.workspace.path)["USER.md"] == "Ann\nlikes tea\n"


@pytest.mark.parametrize("old", ["", "absent", "a"])
def test_an_edit_needs_a_text_that_occurs_once(old: str) -> None:
    with folder({"USER.md": "Ann Lee has a cat"}) as place:
        found = called(place, "edit_file", path="USER.md", old_text=old, new_text="x")
        assert found.status == "error" and "times" in found.text
        assert files_in(place.workspace.path) == {"USER.md": "Ann Lee has a cat"}


@pytest.mark.parametrize(
    "path", ["notes.md", "../USER.md", "/etc/passwd", "memory/202605/20260613.md", "memory/MEMORY.txt", "", None, 3]
)
def test_other_files_are_refused_before_anybody_is_asked(path: Any) -> None:
    with pytest.raises(ToolError):
        memory_path(path)
    with folder({}) as place:
        assert called(place, "write_file", permission="ask", path=path, content="x").status == "error"
        assert files_in(place.workspace.path) == {}


def test_a_call_that_is_not_permitted_writes_nothing() -> None:
    with folder({}) as place:
        assert called(place, "write_file", permission="deny", path="USER.md", content="x").status == "denied"
        assert files_in(place.workspace.path) == {}


def test_a_content_that_is_no_text_is_refused() -> None:
    with folder({}) as place:
        assert called(place, "write_file", path="USER.md", content=3).status == "error"
        assert files_in(place.workspace.path) == {}


def test_a_folder_in_the_place_of_a_file_is_said_and_nothing_breaks() -> None:
    with folder({"USER.md/inside.md": "x", "memory/MEMORY.md/inside.md": "x"}) as place:
        problem = PicoClawMemory(place).injection(CharsCounter()).problem
        found = called(place, "edit_file", path="USER.md", old_text="x", new_text="y")
        written = called(place, "write_file", path="USER.md", content="y")
    assert "USER.md" in problem
    assert (found.status, written.status) == ("error", "error")

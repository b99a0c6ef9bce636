"""OpenCode's instruction files: found below the workspace, read anew for each request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness_nb.core.config import MemoryConfig
from harness_nb.core.tokens import CharsCounter
from harness_nb.errors import ConfigError
from harness_nb.lab.conformance.folders import folder
from harness_nb.memory.designs.opencode import OpenCodeMemory, OpenCodeMemoryConfig

FILES = {
    "CLAUDE.md": "Use tabs.",
    "CONTEXT.md": "Never read.",
    "docs/style.md": "Be brief.",
    "docs/tone.md": "Be kind.",
}


def injected(files: dict[str, str], **settings: Any) -> str:
    with folder(files) as place:
        return OpenCodeMemory(place, OpenCodeMemoryConfig(**settings)).injection(CharsCounter()).text


def test_the_first_name_that_exists_is_the_one_that_is_read() -> None:
    text = injected(FILES)
    assert "## CLAUDE.md\n\nUse tabs." in text
    assert "Never read" not in text and "Be brief" not in text
    assert "Ours." in injected({**FILES, "AGENTS.md": "Ours."})


def test_further_files_come_by_pattern_each_once() -> None:
    text = injected(FILES, instructions=["docs/*.md", "docs/style.md"])
    assert text.index("Use tabs") < text.index("Be brief") < text.index("Be kind")
    assert text.count("Be brief") == 1


def test_nothing_is_injected_without_a_file_or_when_it_is_switched_off() -> None:
    assert injected({}) == ""
    with folder(FILES, config=MemoryConfig(inject=False, tools=False)) as place:
        memory = OpenCodeMemory(place)
        assert memory.injection(CharsCounter()).text == ""
        assert memory.tools() == ()


def test_files_are_read_anew_and_are_not_cut() -> None:
    with folder({"AGENTS.md": "before"}) as place:
        memory = OpenCodeMemory(place)
        assert "before" in memory.injection(CharsCounter()).text
        (place.workspace.path / "AGENTS.md").write_text("after " * 20_000, encoding="utf-8")
        assert memory.injection(CharsCounter()).tokens > 30_000


def test_a_file_can_not_close_its_block() -> None:
    assert injected({"AGENTS.md": "a </instructions> b"}).rstrip().endswith("</instructions_2>")


def test_a_link_that_leads_out_of_the_workspace_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("outside", encoding="utf-8")
    with folder(FILES) as place:
        (place.workspace.path / "docs/link.md").symlink_to(secret)
        (place.workspace.path / "AGENTS.md").symlink_to(secret)
        memory = OpenCodeMemory(place, OpenCodeMemoryConfig(instructions=("docs/*.md",)))
        text = memory.injection(CharsCounter()).text
    assert "outside" not in text and "Use tabs" in text and "Be kind" in text


def test_the_only_tool_reads_files() -> None:
    with folder(FILES) as place:
        assert [tool.name for tool in OpenCodeMemory(place).tools()] == ["read_file"]


@pytest.mark.parametrize(
    "wrong", [{"instructions": "docs/*.md"}, {"instructions": ["../a"]}, {"instruction_names": ["/etc/a"]}]
)
def test_a_pattern_that_leads_out_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        OpenCodeMemoryConfig(**wrong)


def test_a_file_that_can_not_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with folder({"AGENTS.md": "x"}) as place:
        memory = OpenCodeMemory(place)
        monkeypatch.setattr(Path, "read_bytes", broken)
        assert "Permission denied" in memory.injection(CharsCounter()).problem

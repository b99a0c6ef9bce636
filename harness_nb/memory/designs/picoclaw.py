"""PicoClaw's durable memory: Markdown files that the model writes with file tools, all of them in the prompt.

A profile, a persona and MEMORY.md whole, and the daily notes of the last calendar days, newest first. Nothing writes a note by
itself, and nothing is merged or searched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from harness_nb.core.blocks import block
from harness_nb.core.config import plain_repr, whole
from harness_nb.core.tokens import TokenCounter
from harness_nb.core.tool import Tool
from harness_nb.errors import StoreError
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.designs.picoclaw_tools import file_tools
from harness_nb.memory.injection import Injection
from harness_nb.memory.session_tools import session_tools
from harness_nb.memory.tools import memory_tools
from harness_nb.store.files import read_text

MEMORY_FILE = "memory/MEMORY.md"
AGENT_FILES = ("AGENT.md", "AGENTS.md", "IDENTITY.md")
PERSONA_FILES = ("SOUL.md", "USER.md")

_RULE = "\n\n---\n\n"
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_NOTE = (
    "Files of this workspace that you and its people wrote. Write what should last to memory/MEMORY.md with write_file or "
    "edit_file; notes of today go to {today} with append_file."
)


@dataclass(frozen=True, kw_only=True, repr=False)
class PicoClawMemoryConfig:
    """Settings of PicoClaw's memory.

    Attributes:
        notes_days: Calendar days whose daily notes stand in the prompt, today included (default 3).
    """

    notes_days: int = 3

    def __post_init__(self) -> None:
        whole(self, "notes_days")

    __repr__ = plain_repr


def note_name(day: date) -> str:
    """The file of a day's notes."""
    return f"memory/{day:%Y%m}/{day:%Y%m%d}.md"


class PicoClawMemory(NoMemory):
    """Files below the workspace, whole in the prompt.

    Args:
        parts: What it is made from; no model is asked.
        settings: Its own settings.
        expands: Whether what was said can be looked up, as the Seahorse manager has it.
    """

    def __init__(
        self, parts: DesignParts, settings: PicoClawMemoryConfig | None = None, *, expands: bool = False
    ) -> None:
        super().__init__(parts)
        self.settings = settings or PicoClawMemoryConfig()
        self._expands = expands

    def injection(self, counter: TokenCounter) -> Injection:
        """All files as they are now, and how they are written; a file that can't be read is named as the problem."""
        if not self.config.inject:
            return Injection()
        try:
            texts = [*self._bootstrap(), self.context()]
        except StoreError as error:
            return Injection(problem=error.problem)
        body = "\n\n".join(text for text in texts if text)
        text = block("memory", body or "(nothing noted yet)", note=_NOTE.format(today=note_name(self._today)))
        lines = sum(bool(line.strip()) for line in body.split("\n"))
        return Injection(text=text, tokens=counter.count_text(text), lines=lines)

    def _bootstrap(self) -> list[str]:
        """Definition of the agent, persona and profile, as far as they are there."""
        agent = next((name for name in AGENT_FILES if self._read(name)), None)
        names = [*([agent] if agent else []), *PERSONA_FILES]
        texts = [(name, _FRONT_MATTER.sub("", self._read(name)).strip()) for name in names]
        return [f"## {name}\n\n{text}" for name, text in texts if text]

    def context(self) -> str:
        """MEMORY.md and the notes of the last days."""
        memory = self._read(MEMORY_FILE)
        notes = _RULE.join(filter(None, map(self._read, self.note_files())))
        parts = [f"## Long-term Memory\n\n{memory}"] if memory else []
        parts += [f"## Recent Daily Notes\n\n{notes}"] if notes else []
        return _RULE.join(parts)

    def note_files(self) -> list[str]:
        """Files with notes of the last calendar days, newest first."""
        days = (self._today - timedelta(days=back) for back in range(self.settings.notes_days))
        return [name for name in map(note_name, days) if self._path(name).is_file()]

    @property
    def _today(self) -> date:
        return self.workspace.clock.now().date()

    def _path(self, name: str) -> Path:
        return self.workspace.path / name

    def _read(self, name: str) -> str:
        return read_text(self._path(name)) or ""

    def tools(self) -> tuple[Tool, ...]:
        """`read_file`, the tools that write the files above, and with Seahorse those that look up what was said."""
        if not self.config.tools:
            return ()
        reading = tuple(tool for tool in memory_tools(self.workspace, self.index) if tool.name == "read_file")
        looking = session_tools(self.workspace, self.index) if self._expands else ()
        return (*reading, *file_tools(self.workspace), *looking)

"""Fixtures: what a workspace holds when a task begins."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from harness_nb.core.messages import Message
from harness_nb.core.transcript import Transcript
from harness_nb.errors import ConfigError
from harness_nb.lab.writing import write_transcript
from harness_nb.store.daily_log import Fact
from harness_nb.store.workspace import Workspace

Said = Transcript | Sequence[Message | dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixtures:
    """What a workspace holds when a task begins.

    Attributes:
        memory: Text of MEMORY.md, or empty for none.
        topics: Texts of topic files by name, in the folder `memory/`.
        daily_logs: Daily logs by day (a date, or its ISO text): the text of the file, or a list of facts.
        sessions: Conversations by session id: a transcript, or messages, also in OpenAI chat format.
        files: Texts of further files by name in the workspace.
        folder: A folder that is copied first, or None.
    """

    memory: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)
    daily_logs: Mapping[date | str, str | Sequence[str]] = field(default_factory=dict)
    sessions: Mapping[str, Said] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    folder: str | Path | None = None

    def seed(self, workspace: Workspace, agent: str) -> None:
        """Writes all of it into a workspace.

        Args:
            workspace: The workspace.
            agent: Name of the agent whose sessions these are.

        Raises:
            ConfigError: The folder is none, a day is none, or a session holds nothing.
            StoreError: A name leads out of the workspace, or a file can't be written.
        """
        if self.folder is not None:
            _copy(Path(self.folder), workspace.path)
        texts = {f"memory/{name}": text for name, text in self.topics.items()} | dict(self.files)
        if self.memory:
            texts["MEMORY.md"] = self.memory
        for name, text in texts.items():
            workspace.write(name, text)
        for day, log in self.daily_logs.items():
            _write_log(workspace, _day(day), log)
        for session, said in self.sessions.items():
            _write_session(workspace, agent, session, said)


def _copy(folder: Path, target: Path) -> None:
    if not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} is no folder.", "Give the folder of a workspace.", subject=folder)
    shutil.copytree(folder, target, dirs_exist_ok=True)


def _day(given: date | str) -> date:
    try:
        return given if isinstance(given, date) else date.fromisoformat(given)
    except ValueError as error:
        raise ConfigError(f"{given!r} is no day.", "Give one such as '2026-04-12'.", subject=given) from error


def _write_log(workspace: Workspace, day: date, log: str | Sequence[str]) -> None:
    """The file as it is, or facts noted at noon of the day."""
    if isinstance(log, str):
        workspace.write(f"memory/{day.isoformat()}.md", log)
        return
    noon = datetime.combine(day, time(12), tzinfo=workspace.clock.now().tzinfo)
    workspace.daily_log.append([Fact(text) for text in log], source="fixture", now=noon)


def _write_session(workspace: Workspace, agent: str, session: str, said: Said) -> None:
    transcript = said if isinstance(said, Transcript) else Transcript(said)
    if not len(transcript):
        raise ConfigError(f"Session {session!r} holds no message.", "Leave it out.", subject=session)
    path = workspace.session(agent, session).log_path
    write_transcript(transcript, path, format="harness_nb")

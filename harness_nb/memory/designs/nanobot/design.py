"""Nanobot's durable memory as the agent's loop sees it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from harness_nb.core.archive import NOTHING, RAW_MARK
from harness_nb.core.clock import Clock
from harness_nb.memory.designs.base import DesignParts, NoMemory
from harness_nb.memory.designs.nanobot.history import History


class NanobotMemory(NoMemory):
    """An archive of summaries.

    Args:
        parts: What it is made from.
        clock: Gives the time; by default the workspace's.
    """

    def __init__(self, parts: DesignParts, *, clock: Callable[[], datetime] | None = None) -> None:
        super().__init__(parts)
        self._session = ""
        self.history = History(parts.workspace.path / "memory", Clock(read=clock) if clock else parts.workspace.clock)
        self.summary, self.last_active = "", ""

    def begin(self, session: str) -> None:
        """Notes whose entries are shown."""
        self._session = session

    def set_summary(self, text: str, last_active: str) -> None:
        """Keeps the session's summary."""
        self.summary, self.last_active = text, last_active

    def remember(self, texts: tuple[str, ...], *, last_active: str, keeps_summary: bool = True) -> None:
        """Takes what a policy archived."""
        for text in texts:
            self.history.append(text, session_key=self._session, is_summary=True)
            if keeps_summary and text != NOTHING and not text.startswith(RAW_MARK):
                self.set_summary(text, last_active)

    def file_sections(self) -> list[tuple[str, str]]:
        """None."""
        return []

    def told(self, summary: str) -> dict[str, object]:
        """What a policy is told of it."""
        entries = tuple((one.timestamp, one.content) for one in self.history.recent(self._session))
        texts = tuple(text for _, text in self.file_sections())
        return {"sections": texts, "archive": entries, "summary": summary, "last_active": self.last_active}

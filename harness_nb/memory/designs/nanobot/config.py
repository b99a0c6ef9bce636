"""Settings of Nanobot's memory."""

from __future__ import annotations

from dataclasses import dataclass

from harness_nb.core.config import plain_repr, switch, text_or_none, whole


@dataclass(frozen=True, kw_only=True, repr=False)
class NanobotMemoryConfig:
    """Settings of the memory.

    Attributes:
        prompt_entries: Most entries of the archive in the prompt (default 50).
        prompt_entry_tokens: Most tokens of them (default 8,000).
        prompt_shows_once: Whether an entry that equals the session's summary is left out (`head`).
        shows_blank_files: Whether a blank SOUL.md, USER.md or AGENTS.md has its heading in the prompt (`july`).
        unified_session: Whether sessions are shown each other's entries, internal ones aside (default False).
        max_history_entries: Most entries of the archive after a Dream run (default 1,000; 0 for all).
        keeps_unread: Whether entries that no run has read yet stay all the same (`head`; `july` loses them).
        strict_lines: Whether a line of the archive that is no object is an error, as in July's code (default False).
        versions: Whether the memory files are kept as they were before each run, so that it can be undone (default True).
        dream_enabled: Whether the archive is dreamt in the background (default True). Otherwise it counts as read.
        dream_batch: Oldest unread entries that one run reads (default 20).
        dream_preview_chars: Characters of each that it reads (`july` 500, `head` 1,000).
        dream_embed_chars: Characters of each memory file that it is shown (default 8,000).
        dream_guide_chars: Most characters of the user's own guide, `prompts/dream.md` (default 32,000).
        dream_needs_change: Whether an archive counts as read only when a file changed, then even after an error (`july`).
        dream_writes_whole: Whether a run may write the memory files anew and not only edit them (`head`).
        dream_max_steps: Most model calls with tools of one run (default 200).
        dream_model: Another model for it, None for the agent's own (default None).
    """

    prompt_entries: int = 50
    prompt_entry_tokens: int = 8_000
    prompt_shows_once: bool = False
    shows_blank_files: bool = True
    unified_session: bool = False
    max_history_entries: int = 1_000
    keeps_unread: bool = False
    strict_lines: bool = False
    versions: bool = True
    dream_enabled: bool = True
    dream_batch: int = 20
    dream_preview_chars: int = 500
    dream_embed_chars: int = 8_000
    dream_guide_chars: int = 32_000
    dream_needs_change: bool = True
    dream_writes_whole: bool = False
    dream_max_steps: int = 200
    dream_model: str | None = None

    def __post_init__(self) -> None:
        whole(self, "prompt_entries", "prompt_entry_tokens", "dream_batch", "dream_max_steps", least=1)
        whole(self, "dream_preview_chars", "dream_embed_chars", "dream_guide_chars", least=1)
        whole(self, "max_history_entries")
        switch(self, "prompt_shows_once", "shows_blank_files", "unified_session", "keeps_unread", "strict_lines")
        switch(self, "versions", "dream_enabled", "dream_needs_change", "dream_writes_whole")
        text_or_none(self, "dream_model")

    __repr__ = plain_repr

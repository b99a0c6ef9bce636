"""Settings of Gemini CLI's memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from harness_nb.core.config import one_of, plain_repr, switch, whole
from harness_nb.errors import ConfigError

DEFAULT_NAME = "GEMINI.md"

_TEXTS = ("file_name", "memory_boundary_markers", "include_directories")


@dataclass(frozen=True, kw_only=True, repr=False)
class GeminiCliMemoryConfig:
    """Settings of the memory.

    Attributes:
        file_name: Further names of context files, which go before `GEMINI.md` (default none).
        import_format: How files that a context file names with `@path` are shown: `tree`, in their place, or `flat`, one
            behind the other (default `tree`).
        memory_boundary_markers: Names that mark the folder up to which context files are looked for above the project
            (default `.git`); none of them: only the project itself.
        project_root: Folder of the project, whose context files are read; None (the default) for the workspace. Files
            outside the workspace are never written.
        is_trusted: Whether context files of the project are used (default True); the user's own always are.
        include_directories: Further folders like the project's (default none).
        load_memory_from_include_directories: Whether context files of these are shown, too (default False).
        writer: How the model writes: `prompt_edit`, with tools that write files, as Gemini CLI does today, or
            `save_memory_append`, with the tool that appended one line, as it did until April 2026 (default `prompt_edit`).
        auto_memory: Whether sessions that ended are mined for what is worth keeping (default False). What is found waits in
            an inbox for a person.
        min_idle_minutes: Minutes without activity after which a session counts as ended (default 180).
        min_user_messages: Least prompts of a session that is mined (default 10).
        throttle_minutes: Least minutes from the end of one run to the next (default 30).
        stale_lock_minutes: Minutes after which the lock of a run that did not end is taken over (default 35).
        max_new_sessions: Most sessions that one run reads (default 10).
        max_memory_changes: Most facts that are proposed of one session (default 5).
        session_retention_enabled: Whether sessions nobody used for long are deleted (default True).
        session_retention_days: Days after which they are (default 30).
    """

    file_name: tuple[str, ...] = ()
    import_format: Literal["tree", "flat"] = "tree"
    memory_boundary_markers: tuple[str, ...] = (".git",)
    project_root: str | None = None
    is_trusted: bool = True
    include_directories: tuple[str, ...] = ()
    load_memory_from_include_directories: bool = False
    writer: Literal["prompt_edit", "save_memory_append"] = "prompt_edit"
    auto_memory: bool = False
    min_idle_minutes: int = 180
    min_user_messages: int = 10
    throttle_minutes: int = 30
    stale_lock_minutes: int = 35
    max_new_sessions: int = 10
    max_memory_changes: int = 5
    session_retention_enabled: bool = True
    session_retention_days: int = 30

    def __post_init__(self) -> None:
        switch(self, "is_trusted", "load_memory_from_include_directories", "auto_memory", "session_retention_enabled")
        whole(self, "min_idle_minutes", "min_user_messages", "throttle_minutes", "max_memory_changes")
        whole(self, "stale_lock_minutes", "max_new_sessions", "session_retention_days", least=1)
        one_of(self, "import_format", "tree", "flat")
        one_of(self, "writer", "prompt_edit", "save_memory_append")
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(one, str) and one for one in value):
                raise ConfigError(f"{name}={value!r} is not valid.", "Give a tuple of texts.", subject=name)
        for one in self.file_name:
            if PurePosixPath(one).name != one or not one.endswith(".md"):
                raise ConfigError(
                    f"{one!r} is no name of a context file.", "Give one like 'AGENTS.md'.", subject="file_name"
                )
        if self.project_root is not None and not (isinstance(self.project_root, str) and self.project_root.strip()):
            raise ConfigError(
                f"project_root={self.project_root!r} is not valid.", "Name a folder, or None.", subject="project_root"
            )

    __repr__ = plain_repr

    @property
    def names(self) -> tuple[str, ...]:
        """Names of context files, in the order in which they are looked for; `GEMINI.md` comes last."""
        return (*(one for one in dict.fromkeys(self.file_name) if one != DEFAULT_NAME), DEFAULT_NAME)

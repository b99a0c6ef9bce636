"""Settings: frozen, keyword-only, checked when made. Names and defaults are those of AgentScope's documentation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any

from harness_nb.errors import ConfigError


def whole(settings: object, *names: str, least: int = 0) -> None:
    """Checks that some settings are whole numbers of at least `least`.

    Raises:
        ConfigError: One is not; names it and its value.
    """
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ConfigError(
                f"{name}={value!r} is not valid.", f"Give a whole number of {least} or more.", subject=name
            )


def switch(settings: object, *names: str) -> None:
    """Checks that some settings are True or False."""
    for name in names:
        value = getattr(settings, name)
        if not isinstance(value, bool):
            raise ConfigError(f"{name}={value!r} is not valid.", "Give True or False.", subject=name)


def positive(settings: object, *names: str) -> None:
    """Checks that some settings are finite numbers above 0."""
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
            raise ConfigError(f"{name}={value!r} is not valid.", "Give a number above 0.", subject=name)


def share(settings: object, *names: str) -> None:
    """Checks that some settings are numbers from 0 to 1.

    Raises:
        ConfigError: One is not; names it and its value.
    """
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ConfigError(f"{name}={value!r} is not valid.", "Give a number from 0 to 1.", subject=name)


def duration(settings: object, *names: str) -> None:
    """Checks that some settings are spans of time above 0.

    Raises:
        ConfigError: One is not; names it and its value.
    """
    for name in names:
        value = getattr(settings, name)
        if not isinstance(value, timedelta) or value <= timedelta():
            remedy = "Give a span of time above 0, such as timedelta(hours=6)."
            raise ConfigError(f"{name}={value!r} is not valid.", remedy, subject=name)


def plain_repr(settings: Any) -> str:
    """A repr that shows only what differs from the default."""
    shown = [
        f"{one.name}={_ordered_repr(getattr(settings, one.name))}"
        for one in fields(settings)
        if getattr(settings, one.name) != one.default
    ]
    return f"{type(settings).__name__}({', '.join(shown)})"


def _ordered_repr(value: object) -> str:
    """A repr that is the same in every process, sets too."""
    return f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, frozenset) and value else repr(value)


@dataclass(frozen=True, kw_only=True, repr=False)
class TruncateArgsConfig:
    """Shortening of long call arguments in older messages, without a model.

    Attributes:
        trigger_messages: Acts at this many messages (default 25; 0 never).
        trigger_tokens: Acts at this many tokens (default 40,000; 0 never). Either is enough.
        keep_messages: Newest messages that are left alone (default 20).
        keep_tokens: Above 0: tokens at the end that are left alone, instead of `keep_messages` (default 0).
        max_arg_length: Longest text in an argument that stays whole, in characters (default 2,000).
    """

    trigger_messages: int = 25
    trigger_tokens: int = 40_000
    keep_messages: int = 20
    keep_tokens: int = 0
    max_arg_length: int = 2_000

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens")
        whole(self, "max_arg_length", least=1)

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class CompactionConfig:
    """When a conversation is compacted and what stays.

    Attributes:
        trigger_messages: Acts at this many messages (default 50; 0 never).
        trigger_tokens: Acts at this many tokens (default 80,000; 0 never). Either is enough.
        keep_messages: Newest messages that stay, at least (default 20); rounds stay whole.
        keep_tokens: Above 0: tokens at the end that stay, at most, instead of `keep_messages` (default 0).
        flush_before_compact: Facts go to the daily log before messages leave (default True).
        offload_before_compact: Messages must be in the session file before they leave (default True).
        summary_prompt: An instruction of one's own; `{messages}` stands for the conversation. None: built in.
        truncate_args: Pre-pass that shortens call arguments; None (the default) switches it off.
    """

    trigger_messages: int = 50
    trigger_tokens: int = 80_000
    keep_messages: int = 20
    keep_tokens: int = 0
    flush_before_compact: bool = True
    offload_before_compact: bool = True
    summary_prompt: str | None = None
    truncate_args: TruncateArgsConfig | None = None

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens")
        switch(self, "flush_before_compact", "offload_before_compact")
        if self.summary_prompt is not None and not (
            isinstance(self.summary_prompt, str) and self.summary_prompt.strip()
        ):
            raise ConfigError(
                f"summary_prompt={self.summary_prompt!r} is not valid.",
                "Give a text or None.",
                subject="summary_prompt",
            )
        if self.truncate_args is not None and not isinstance(self.truncate_args, TruncateArgsConfig):
            raise ConfigError(
                f"truncate_args={self.truncate_args!r} is not valid.",
                "Give a TruncateArgsConfig or None.",
                subject="truncate_args",
            )

    __repr__ = plain_repr


def _is_folder_name(value: object) -> bool:
    """True for a relative path that stays below the folder it is joined to."""
    if not isinstance(value, str) or "\\" in value or ":" in value or "\0" in value:
        return False
    steps = value.strip().split("/")
    return bool(steps[0]) and ".." not in steps and steps != ["."]


EXCLUDED_TOOLS = frozenset(
    {
        "read_file",
        "write_file",
        "edit_file",
        "grep_files",
        "glob_files",
        "list_files",
        "memory_search",
        "memory_get",
        "session_search",
        "session_history",
    }
)
"""Tools whose results are bounded by themselves; evicting them would lead to reading them back in a circle."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ToolResultEvictionConfig:
    """Moving large tool results to files before they count as context.

    Attributes:
        max_result_chars: A result above this many characters is evicted (default 80,000).
        preview_chars: Characters of head and of tail that stay (default 2,000 each).
        eviction_path: Folder below the workspace (default `large_tool_results`).
        excluded_tool_names: Tools whose results always stay (default: the reading and searching tools).
    """

    max_result_chars: int = 80_000
    preview_chars: int = 2_000
    eviction_path: str = "large_tool_results"
    excluded_tool_names: frozenset[str] = field(default=EXCLUDED_TOOLS)

    def __post_init__(self) -> None:
        whole(self, "max_result_chars", least=1)
        whole(self, "preview_chars")
        if not _is_folder_name(self.eviction_path):
            raise ConfigError(
                f"eviction_path={self.eviction_path!r} is not valid.",
                "Give the name of a folder below the workspace.",
                subject="eviction_path",
            )
        names = self.excluded_tool_names
        if not isinstance(names, set | frozenset | list | tuple) or not all(isinstance(name, str) for name in names):
            raise ConfigError(
                f"excluded_tool_names={names!r} is not valid.",
                "Give a set of tool names.",
                subject="excluded_tool_names",
            )
        object.__setattr__(self, "excluded_tool_names", frozenset(names))

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class MemoryConfig:
    """What the durable memory does around a conversation.

    Attributes:
        flush: After each turn: `always` (default) or `never` extract facts to the daily log.
        inject: Whether MEMORY.md stands in the prompt (default True).
        max_injected_tokens: Most tokens of MEMORY.md in the prompt (default 4,000, as for its consolidated size).
        tools: Whether the model gets the memory tools and `read_file` (default True).
        max_memory_tokens: Most tokens of MEMORY.md after a consolidation (default 4,000).
        review: `doubtful` (default): a new MEMORY.md that loses more than `max_loss_share` waits for the user, any other is
            applied by itself; `always`: each waits.
        max_loss_share: Share of the entries that a consolidation may lose unseen, 0 to 1 (default 0.3).
        batch_tokens: Most tokens of new log entries in one request for a consolidation (default 8,000).
    """

    flush: str = "always"
    inject: bool = True
    max_injected_tokens: int = 4_000
    tools: bool = True
    max_memory_tokens: int = 4_000
    review: str = "doubtful"
    max_loss_share: float = 0.3
    batch_tokens: int = 8_000

    def __post_init__(self) -> None:
        if self.flush not in ("always", "never"):
            raise ConfigError(f"flush={self.flush!r} is not valid.", "Use 'always' or 'never'.", subject="flush")
        if self.review not in ("doubtful", "always"):
            raise ConfigError(f"review={self.review!r} is not valid.", "Use 'doubtful' or 'always'.", subject="review")
        whole(self, "max_injected_tokens", "max_memory_tokens", "batch_tokens", least=1)
        share(self, "max_loss_share")
        switch(self, "inject", "tools")

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class MaintenanceConfig:
    """When the memory is put in order in the background, and how long files are kept.

    Attributes:
        interval: Time from one whole cycle (expire, consolidate, prune, reindex) to the next (default 6 hours).
        min_gap: Least time between two consolidations, and from a new fact to its consolidation (default 30 minutes).
        daily_file_retention_days: Age in days at which a merged daily log is archived (default 90; 0 or None never).
        session_retention_days: Days without activity after which a session is deleted (default 180; 0 or None never).
    """

    interval: timedelta = timedelta(hours=6)
    min_gap: timedelta = timedelta(minutes=30)
    daily_file_retention_days: int | None = 90
    session_retention_days: int | None = 180

    def __post_init__(self) -> None:
        duration(self, "interval", "min_gap")
        for name in ("daily_file_retention_days", "session_retention_days"):
            if getattr(self, name) is not None:
                whole(self, name)

    __repr__ = plain_repr

"""Settings: frozen, keyword-only, checked when made. Names and defaults are those of AgentScope's documentation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any

from harness_nb.core.named import named
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


def one_of(settings: object, name: str, *values: str) -> None:
    """Checks that a setting is one of some words."""
    value = getattr(settings, name)
    if value not in values:
        remedy = f"Use {' or '.join(map(repr, values))}."
        raise ConfigError(f"{name}={value!r} is not valid.", remedy, subject=name)


def share(settings: object, *names: str) -> None:
    """Checks that some settings are numbers from 0 to 1."""
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ConfigError(f"{name}={value!r} is not valid.", "Give a number from 0 to 1.", subject=name)


def tokens_or_share(settings: object, *names: str) -> None:
    """Checks that some settings are numbers of tokens, or shares of the context window as fractions above 0 and up to 1.

    Raises:
        ConfigError: One is not; names it and its value.
    """
    for name in names:
        value = getattr(settings, name)
        is_tokens = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        if not is_tokens and not (isinstance(value, float) and 0 < value <= 1):
            remedy = "Give a whole number of tokens, or a share of the window from above 0 to 1, such as 0.5."
            raise ConfigError(f"{name}={value!r} is not valid.", remedy, subject=name)


def in_tokens(value: int | float, window: int) -> int:
    """A setting that is a number of tokens or a share of the window, in tokens."""
    return max(1, int(value * window)) if isinstance(value, float) else value


def text_or_none(settings: object, name: str) -> None:
    """Checks that a setting is a text with something in it, or None."""
    value = getattr(settings, name)
    if value is not None and not (isinstance(value, str) and value.strip()):
        raise ConfigError(f"{name}={value!r} is not valid.", "Give a text or None.", subject=name)


def nested(settings: object, name: str, kind: type) -> None:
    """Checks that a setting is a record of its kind or None."""
    value = getattr(settings, name)
    if value is not None and not isinstance(value, kind):
        raise ConfigError(f"{name}={value!r} is not valid.", f"Give a {kind.__name__} or None.", subject=name)


def tool_names(settings: object, name: str) -> None:
    """Checks that a setting is a set of names, and makes it frozen."""
    names = getattr(settings, name)
    if not isinstance(names, set | frozenset | list | tuple) or not all(isinstance(one, str) for one in names):
        raise ConfigError(f"{name}={names!r} is not valid.", "Give a set of tool names.", subject=name)
    object.__setattr__(settings, name, frozenset(names))


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


@named
@dataclass(frozen=True, kw_only=True, repr=False)
class TruncateArgsConfig:
    """Shortening of long call arguments in older messages, without a model.

    Attributes:
        trigger_messages: Acts at this many messages (default 25; 0 never).
        trigger_tokens: Acts at this many tokens, or at a share of the window (default 40,000; 0 never). Either is enough.
        keep_messages: Newest messages that are left alone (default 20).
        keep_tokens: Above 0: tokens at the end that are left alone, or a share of the window, instead of `keep_messages`
            (default 0).
        max_arg_length: Longest text in an argument that stays whole, in characters (default 2,000).
        min_gain_tokens: Once it has acted, it acts again only when that saves as many tokens (default 2,000), since each
            time the provider's cache is lost from the first changed message on.
    """

    trigger_messages: int = 25
    trigger_tokens: int | float = 40_000
    keep_messages: int = 20
    keep_tokens: int | float = 0
    max_arg_length: int = 2_000
    min_gain_tokens: int = 2_000

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "keep_messages", "min_gain_tokens")
        tokens_or_share(self, "trigger_tokens", "keep_tokens")
        whole(self, "max_arg_length", least=1)

    __repr__ = plain_repr


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


@named
@dataclass(frozen=True, kw_only=True, repr=False)
class ClearResultsConfig:
    """Clearing of old tool results once a compaction is due, without a model; the calls stay.

    Attributes:
        protect_tokens: Newest tokens of tool results that stay, or a share of the window (default 40,000).
        min_gain_tokens: Acts only when that saves as many tokens (default 20,000), since each time the provider's cache is
            lost from the first changed message on.
        preview_chars: Characters of head and of tail that stay of each (default 1,000 each); 0: a line that says how much
            was cleared.
        excluded_tool_names: Tools whose results always stay (default: the reading and searching tools).
    """

    protect_tokens: int | float = 40_000
    min_gain_tokens: int = 20_000
    preview_chars: int = 1_000
    excluded_tool_names: frozenset[str] = field(default=EXCLUDED_TOOLS)

    def __post_init__(self) -> None:
        tokens_or_share(self, "protect_tokens")
        whole(self, "min_gain_tokens", "preview_chars")
        tool_names(self, "excluded_tool_names")

    __repr__ = plain_repr


FALLBACKS = ("overflow", "always", "never")


@named
@dataclass(frozen=True, kw_only=True, repr=False)
class CompactionConfig:
    """When a conversation is compacted and what stays.

    Sizes in tokens may be given as shares of the context window: 0.75 is three quarters of it.

    Attributes:
        trigger_messages: Acts at this many messages (default 50; 0 never).
        trigger_tokens: Acts at this many tokens (default 80,000; 0 never). Either is enough. Lowered where the window
            leaves less for the input.
        keep_messages: Newest messages that stay, at least (default 20); rounds stay whole.
        keep_tokens: Above 0: tokens at the end that stay, at most, instead of `keep_messages` (default 0).
        flush_before_compact: Facts go to the daily log before messages leave (default True).
        offload_before_compact: Messages must be in the session file before they leave (default True).
        summary_prompt: An instruction of one's own; `{messages}` stands for the conversation. None: built in.
        truncate_args: Pre-pass that shortens call arguments; None (the default) switches it off.
        clear_results: Pre-pass that clears old tool results; None (the default) switches it off.
        reserved: Tokens of the window that are held free for the reply; None (the default) for the model's largest reply,
            at most half of the window, and a margin of 2 %.
        summary_model: Name of another model that writes summaries; None (the default) for the agent's.
        fallback: When no summary can be written, a note takes the place of what is old: `overflow` (default) only where the
            request could not be sent otherwise, `always`, or `never`.
        warn_at: Share of the token trigger from which the model is told, once, that a compaction is near (default 0.9; 0
            never).
        compact_tool: Whether the model gets `compact_context`, to compact before its next request (default True).
        restore_results: Newest files read that are shown again after a compaction, at most (default 3; 0 none).
        restore_tokens: Most tokens of them (default 0.05, a share of the window).
        restore_plan: Whether the open plan, the text `agent.host["plan"]`, stands behind each summary (default True).
        keep_native: Whether messages that hold a provider's own compaction always stay as they are (default True).
    """

    trigger_messages: int = 50
    trigger_tokens: int | float = 80_000
    keep_messages: int = 20
    keep_tokens: int | float = 0
    flush_before_compact: bool = True
    offload_before_compact: bool = True
    summary_prompt: str | None = None
    truncate_args: TruncateArgsConfig | None = None
    clear_results: ClearResultsConfig | None = None
    reserved: int | float | None = None
    summary_model: str | None = None
    fallback: str = "overflow"
    warn_at: float = 0.9
    compact_tool: bool = True
    restore_results: int = 3
    restore_tokens: int | float = 0.05
    restore_plan: bool = True
    keep_native: bool = True

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "keep_messages", "restore_results")
        tokens_or_share(self, "trigger_tokens", "keep_tokens", "restore_tokens")
        if self.reserved is not None:
            tokens_or_share(self, "reserved")
        share(self, "warn_at")
        switch(self, "flush_before_compact", "offload_before_compact", "compact_tool", "restore_plan", "keep_native")
        for name in ("summary_prompt", "summary_model"):
            text_or_none(self, name)
        nested(self, "truncate_args", TruncateArgsConfig)
        nested(self, "clear_results", ClearResultsConfig)
        one_of(self, "fallback", *FALLBACKS)

    __repr__ = plain_repr


@named
@dataclass(frozen=True, kw_only=True, repr=False)
class PinsConfig:
    """What stays word for word through every compaction; what the user pins by hand always does.

    Attributes:
        max_tokens: Most tokens of all pins (default 2,000). When it is reached, the oldest that the rule found give way, those
            that forbid something last.
        rule: Whether the user's standing instructions are recognised and pinned by themselves (default True).
        tool: Whether the model gets `pin_instruction`, to pin what the user said (default True).
    """

    max_tokens: int = 2_000
    rule: bool = True
    tool: bool = True

    def __post_init__(self) -> None:
        whole(self, "max_tokens", least=1)
        switch(self, "rule", "tool")

    __repr__ = plain_repr


def _is_folder_name(value: object) -> bool:
    """True for a relative path that stays below the folder it is joined to."""
    if not isinstance(value, str) or "\\" in value or ":" in value or "\0" in value:
        return False
    steps = value.strip().split("/")
    return bool(steps[0]) and ".." not in steps and steps != ["."]


@named
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
        tool_names(self, "excluded_tool_names")

    __repr__ = plain_repr


@named
@dataclass(frozen=True, kw_only=True, repr=False)
class MemoryConfig:
    """What the durable memory does around a conversation.

    Attributes:
        flush: After each turn: `always` (default) or `never` extract facts to the daily log, or `throttled`: no sooner than
            `flush_gap` after the last time, and what is left when the session is closed.
        flush_gap: Least time between two flushes that are throttled (default 5 minutes).
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
    flush_gap: timedelta = timedelta(minutes=5)
    inject: bool = True
    max_injected_tokens: int = 4_000
    tools: bool = True
    max_memory_tokens: int = 4_000
    review: str = "doubtful"
    max_loss_share: float = 0.3
    batch_tokens: int = 8_000

    def __post_init__(self) -> None:
        one_of(self, "flush", "always", "throttled", "never")
        duration(self, "flush_gap")
        one_of(self, "review", "doubtful", "always")
        whole(self, "max_injected_tokens", "max_memory_tokens", "batch_tokens", least=1)
        share(self, "max_loss_share")
        switch(self, "inject", "tools")

    __repr__ = plain_repr


@named
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

"""Settings of AgentScope's compaction, under their documented names in snake case."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness_nb.core.config import EXCLUDED_TOOLS, plain_repr, switch, whole
from harness_nb.errors import ConfigError


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeArguments:
    """Shortening of long call arguments in older messages, before the trigger is looked at.

    Attributes:
        trigger_messages: Acts at this many messages (default 25; 0 never).
        trigger_tokens: Acts at this many tokens (default 40,000; 0 never). Either is enough.
        keep_messages: Newest messages that are left alone (default 20).
        keep_tokens: Above 0: tokens at the end that are left alone, instead of `keep_messages` (default 0).
        max_arg_length: Longest text of an argument that stays whole, in UTF-16 units (default 2,000).
        truncation_text: Stands behind what is left (default `...(argument truncated)`).
    """

    trigger_messages: int = 25
    trigger_tokens: int = 40_000
    keep_messages: int = 20
    keep_tokens: int = 0
    max_arg_length: int = 2_000
    truncation_text: str = "...(argument truncated)"

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens", "max_arg_length")

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeEviction:
    """Moving large results to files.

    Attributes:
        max_result_chars: A result above this many UTF-16 units is moved (default 80,000).
        preview_chars: Units of head and of tail that stay, at most half the text each (default 2,000).
        eviction_path: Folder (default `large_tool_results`).
        excluded_tool_names: Tools whose results stay (default: the reading and searching tools).
    """

    max_result_chars: int = 80_000
    preview_chars: int = 2_000
    eviction_path: str = "large_tool_results"
    excluded_tool_names: frozenset[str] = field(default=EXCLUDED_TOOLS - {"session_history"})

    def __post_init__(self) -> None:
        whole(self, "max_result_chars", "preview_chars")
        object.__setattr__(self, "excluded_tool_names", frozenset(self.excluded_tool_names))

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeConfig:
    """Settings of AgentScope's compaction.

    Attributes:
        trigger_messages: Acts at this many messages (default 50; 0 never).
        trigger_tokens: Acts at this many tokens of its own estimate (default 80,000; 0 never). Either is enough.
        keep_messages: Newest messages that stay (default 20).
        keep_tokens: Above 0: most tokens at the end that stay, instead of `keep_messages` (default 0).
        flush_before_compact: Facts go to the daily log before messages leave (default True).
        offload_before_compact: Messages go to the session file before they leave; then the summary names it (default True).
        summary_prompt: An instruction of one's own with `{messages}` in it; without that the history is silently absent.
            None: built in.
        truncate_args: Shortening of call arguments; None (the default) switches it off.
        tool_result_eviction: Moving large results to files; None (the default) leaves it to the agent.
        raw_content: Whether argument texts are kept beside the parsed arguments and count twice (default False).
        keeps_shortened: Whether shortened arguments stay short when no compaction follows (default True; False shipped).
        shortens_to_limit: Whether an argument keeps as much as the limit allows (default True; False, as shipped: 20 units).
        replaces_errors: Whether an overflow that can't be recovered hides the provider's error (default False; True shipped).
        evicts_to_root: Whether a relative eviction path is put below the root of the disk (default False; True shipped).
            It is a name in recordings only: live, files always lie below the workspace.
    """

    trigger_messages: int = 50
    trigger_tokens: int = 80_000
    keep_messages: int = 20
    keep_tokens: int = 0
    flush_before_compact: bool = True
    offload_before_compact: bool = True
    summary_prompt: str | None = None
    truncate_args: AgentScopeArguments | None = None
    tool_result_eviction: AgentScopeEviction | None = None
    raw_content: bool = False
    keeps_shortened: bool = True
    shortens_to_limit: bool = True
    replaces_errors: bool = False
    evicts_to_root: bool = False

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens")
        switch(self, "flush_before_compact", "offload_before_compact", "raw_content")
        switch(self, "keeps_shortened", "shortens_to_limit", "replaces_errors", "evicts_to_root")
        for name, kind in (("truncate_args", AgentScopeArguments), ("tool_result_eviction", AgentScopeEviction)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise ConfigError(f"{name}={value!r} is not valid.", f"Give {kind.__name__} or None.", subject=name)

    __repr__ = plain_repr

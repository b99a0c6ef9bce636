"""Settings of Nanobot's compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness_nb.core.config import one_of, plain_repr, switch, text_or_none, tool_names, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError

_RATIOS = (0.1, 0.95)
_ESTIMATORS = ("tokens", "joined_tokens", "utf8_bytes", "missing")

LARGEST_WINDOW_MESSAGES = 2_000
LEAST_WINDOW_MESSAGES = 120
TOKENS_PER_MESSAGE = 100
"""How many messages July's replay window holds: one for so many tokens of the context window, within these limits."""

COMPACTABLE = frozenset(
    {"read_file", "exec", "grep", "find_files", "web_search", "web_fetch", "list_dir", "list_exec_sessions"}
)
"""Tools whose results of the running turn may be taken away when a request would be too long."""


@dataclass(frozen=True, kw_only=True, repr=False)
class NanobotConfig:
    """Settings of the compaction.

    Attributes:
        context_window: Context window in tokens; None (the default) for the model's, 0 for none: nothing is archived then.
        max_output_tokens: Tokens of the window reserved for the reply (default 8,192).
        safety_buffer: Tokens reserved beside them (default 1,024).
        consolidation_ratio: Share of the budget down to which it archives, 0.1 to 0.95 (default 0.5).
        max_rounds: Most chunks archived in one check (default 5).
        estimator: How tokens are counted: `tokens` by the session's tokenizer, each message once (default), `joined_tokens`
            the whole prompt as one text at each look, as Nanobot does, `utf8_bytes` one a byte, `missing` as July does without a tokenizer: the whole prompt counts as 0, so nothing is ever archived.
        replay_max_messages: Latest messages that are replayed; what is older is archived whatever its size. None (the
            default) derives it from the window (window / 100, within 120 to 2,000); 0 has no such limit (`head`).
        replay_min_messages: Latest messages that stay in the list when they are archived (`july` 0, `head` 8).
        trims_replies: Whether replies lose the white space around them when they are replayed (default False: the list stays
            as it is where nothing else changes; Nanobot always trims).
        session_file_cap: Most messages of a session; older ones are dumped and dropped (`july` 2,000; `head` 0, none).
        request_form: What the model that summarises is shown: `text`, rendered rows cut to the budget (`july`), or
            `prefix`, the conversation itself with an instruction at its end, and no call when that is too long (`head`).
        strict_replies: Whether a summary that was cut off, is blank or comes with tool calls counts as failed (`head`).
        idle_drops: Whether a session left idle loses all but its last messages (`july`).
        idle_keep: Messages that an idle session keeps in the list, back to a message of the user (default 8).
        idle_minutes: Minutes after its last message from which on a session counts as idle (default 15; 0 never).
        idle_at_turn: Whether an idle session is seen to when its next turn begins (default True; Nanobot looks every minute
            in the background, and so does whoever calls the hook `idle`).
        recent_entries: Most entries of the archive in the prompt (default 50).
        recent_tokens: Most tokens of them (default 8,000).
        shows_summary_once: Whether an entry that equals the session's summary is left out (`head`).
        estimates_summary_line: Whether the trigger counts the line above the session's summary (`head`).
        max_tool_result_chars: Results above this length go to files for a request (default 16,000 characters).
        tool_result_preview_chars: What a request shows of them (default 1,200 characters).
        offload_exempt: Tools whose results stay whole (default `read_file`).
        compact_min_chars: Least length of a result of the running turn that may be taken away (default 500 characters).
        compact_target: Share of the budget down to which they are (default 0.85).
        drops_repeated_results: Whether a result is left out whose call id was answered before, also where the id was
            used again (`head`).
        instruction: The user's own instruction for a summary; `{n}` is the number of messages it is about (default None).
    """

    context_window: int | None = None
    max_output_tokens: int = 8_192
    safety_buffer: int = 1_024
    consolidation_ratio: float = 0.5
    max_rounds: int = 5
    estimator: Literal["tokens", "joined_tokens", "utf8_bytes", "missing"] = "tokens"
    replay_max_messages: int | None = None
    replay_min_messages: int = 0
    trims_replies: bool = False
    session_file_cap: int = LARGEST_WINDOW_MESSAGES
    request_form: Literal["text", "prefix"] = "text"
    strict_replies: bool = False
    idle_drops: bool = True
    idle_keep: int = 8
    idle_minutes: int = 15
    idle_at_turn: bool = True
    recent_entries: int = 50
    recent_tokens: int = 8_000
    shows_summary_once: bool = False
    estimates_summary_line: bool = False
    max_tool_result_chars: int = 16_000
    tool_result_preview_chars: int = 1_200
    offload_exempt: frozenset[str] = frozenset({"read_file"})
    compact_min_chars: int = 500
    compact_target: float = 0.85
    drops_repeated_results: bool = False
    instruction: str | None = None

    def __post_init__(self) -> None:
        whole(self, "max_output_tokens", "max_rounds", "recent_entries", "recent_tokens", least=1)
        whole(self, "safety_buffer", "replay_min_messages", "session_file_cap", "idle_keep", "idle_minutes")
        whole(self, "max_tool_result_chars", "tool_result_preview_chars", "compact_min_chars")
        whole(self, *(name for name in ("context_window", "replay_max_messages") if getattr(self, name) is not None))
        switch(
            self,
            "strict_replies",
            "idle_drops",
            "idle_at_turn",
            "trims_replies",
            "shows_summary_once",
            "estimates_summary_line",
        )
        switch(self, "drops_repeated_results")
        text_or_none(self, "instruction")
        tool_names(self, "offload_exempt")
        _within(self, "consolidation_ratio", *_RATIOS)
        _within(self, "compact_target", 0.0, 1.0)
        one_of(self, "estimator", *_ESTIMATORS)
        one_of(self, "request_form", "text", "prefix")

    __repr__ = plain_repr

    def window(self, limits: ModelLimits) -> int:
        """The context window in tokens."""
        return limits.window if self.context_window is None else self.context_window

    def budget(self, window: int) -> int:
        """Tokens that a request may have; below 1 when the reserves are larger than the window."""
        return window - self.max_output_tokens - self.safety_buffer

    def target(self, window: int) -> int:
        """Tokens down to which it archives."""
        return int(self.budget(window) * self.consolidation_ratio)

    def replay_tokens(self, window: int) -> int:
        """Tokens of earlier messages that a turn begins with; 0 for no limit."""
        budget = self.budget(window)
        return 0 if window <= 0 else budget if budget > 0 else max(128, window // 2)

    def replay_messages(self, window: int) -> int:
        """Messages that the replay window holds; 0 for no limit."""
        if self.replay_max_messages is not None:
            return self.replay_max_messages
        if window <= 0:
            return LARGEST_WINDOW_MESSAGES
        return min(LARGEST_WINDOW_MESSAGES, max(LEAST_WINDOW_MESSAGES, window // TOKENS_PER_MESSAGE))


def _within(config: NanobotConfig, name: str, least: float, most: float) -> None:
    value = getattr(config, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ConfigError(f"{name}={value!r} is not valid.", f"Use a number from {least} to {most}.", subject=name)

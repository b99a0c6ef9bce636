"""Settings of OpenHarness' compaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from harness_nb.core.config import plain_repr, positive, switch, tool_names, whole
from harness_nb.errors import ConfigError

LEAST_RESULT_CHARS = 256
"""Smallest size that OpenHarness takes for a large result; a lower setting is raised to it."""

LEAST_PREVIEW_CHARS = 128
"""Smallest preview that it takes."""

LEAST_IMAGE_TOKENS = 64
"""Smallest price of a picture that it takes."""

MICRO_TOOLS = frozenset(
    {"bash", "edit_file", "glob", "grep", "read_file", "web_fetch", "web_search", "write_file"},
)
"""Tools whose old results are cleared whatever their size."""

_CHOICES = {"breaker_scope": ("run", "session"), "digest_keeps": ("oldest", "newest")}


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenHarnessConfig:
    """Settings of OpenHarness' compaction. "Messages" are its own: all results of one answer are one.

    Attributes:
        auto_compact_threshold_tokens: Acts at this many estimated tokens; None (the default): the window less
            `summary_reserve_tokens` and `buffer_tokens`. Values below 1 count as None.
        summary_reserve_tokens: Kept free for a summary (default 20,000).
        buffer_tokens: Kept free besides (default 13,000).
        automatic: Whether it acts by itself before a request (default True; the first version acts by hand only).
        keep_messages: Newest messages that a summary leaves as they are (default 6).
        micro_keep: Newest results that are never cleared (default 5, at least 1).
        micro_large_chars: Results of other tools count as clearable from this many characters on (default 4,000, at least 256).
        micro_tools: Tools whose results are clearable whatever their size (default: reading, searching, writing, shell).
        collapse_limit_chars: Longest text of an older message that stays whole (default 2,400).
        collapse_head_chars: Its beginning that stays (default 900).
        collapse_tail_chars: Its end that stays (default 500).
        session_memory: Whether a digest without a model goes before a summary (default True; False is what the report describes).
        session_memory_keep: Newest messages that the digest leaves as they are (default 12).
        session_memory_more_than: The digest needs more than so many messages (default 16).
        session_memory_lines: Lines of the digest, at most (default 48).
        session_memory_chars: Characters of the digest, at most (default 4,000).
        session_memory_line_chars: Characters of text in a line (default 160).
        use_checkpoint: Whether the session's checkpoint file takes the place of the digest where there is one (default True).
        llm_summary: Whether a model summarises (default True; the first version has a digest of texts only).
        summary_max_tokens: Limit on a summary in tokens (default 20,000).
        timeout_seconds: Limit on one attempt in seconds (default 25).
        attempts: Attempts at a summary in all (default 3).
        overflow_retries: Attempts with the oldest part left out, after the request was too long (default 3).
        failure_limit: Failures in a row after which it acts no more by itself (default 3).
        breaker_scope: What that count lives as long as: `run`, one message of the user (default), or `session`.
        padding: Factor on the estimate (default 4/3).
        chars_per_token: Characters of one token (default 4).
        image_tokens: Tokens of one picture before the factor (default 3,072, at least 64).
        counts_only_text: Whether calls, results and pictures count nothing (default False; True in the first version).
        pair_safe: Whether a cut leaves calls with their results (default True; False in the first version).
        attachments: Whether the state of the work stands behind the kept messages (default True).
        attachment_paths: Paths of attached files that are named, at most (default 6).
        inline_chars: A result above this many characters is moved to a file (default 16,000, at least 256).
        preview_chars: Characters of it that stay (default 3,000, at least 128).
        digest_role: Who says the digest of texts: `user` (default) or `assistant` (the first version).
        keeps_after_error: Whether a compaction stays when the request after it fails (default False, as shipped).
        rechecks: Whether a summary follows a digest that leaves the conversation over the threshold (default False, as shipped).
        trusts_checkpoint: Whether the file is used in the middle of a turn that it knows nothing of (default True, as shipped).
        digest_keeps: Which lines stay when the digest is full: `oldest` (default, as shipped) or `newest`.
        least_threshold_share: The threshold is at least this part of the window (default 0, as shipped: it may be below 0).
        reports_passthrough: Whether "nothing done" counts as a compaction and puts a marker in front (default True, as shipped).
        only_known_overflows: Whether it acts only on refusals whose words it knows (default False; OpenHarness: True).
        hooks: Whether the host is asked before a summary, which it can forbid, and after it (default False).
        attachments_first: Whether the state of the work stands before the kept messages (default False, as shipped).
    """

    auto_compact_threshold_tokens: int | None = None
    summary_reserve_tokens: int = 20_000
    buffer_tokens: int = 13_000
    automatic: bool = True
    keep_messages: int = 6
    micro_keep: int = 5
    micro_large_chars: int = 4_000
    micro_tools: frozenset[str] = field(default=MICRO_TOOLS)
    collapse_limit_chars: int = 2_400
    collapse_head_chars: int = 900
    collapse_tail_chars: int = 500
    session_memory: bool = True
    session_memory_keep: int = 12
    session_memory_more_than: int = 16
    session_memory_lines: int = 48
    session_memory_chars: int = 4_000
    session_memory_line_chars: int = 160
    use_checkpoint: bool = True
    llm_summary: bool = True
    summary_max_tokens: int = 20_000
    timeout_seconds: float = 25.0
    attempts: int = 3
    overflow_retries: int = 3
    failure_limit: int = 3
    breaker_scope: Literal["run", "session"] = "run"
    padding: float = 4 / 3
    chars_per_token: int = 4
    image_tokens: int = 3_072
    counts_only_text: bool = False
    pair_safe: bool = True
    attachments: bool = True
    attachment_paths: int = 6
    inline_chars: int = 16_000
    preview_chars: int = 3_000
    digest_role: Literal["user", "assistant"] = "user"
    keeps_after_error: bool = False
    rechecks: bool = False
    trusts_checkpoint: bool = True
    digest_keeps: Literal["oldest", "newest"] = "oldest"
    least_threshold_share: float = 0.0
    reports_passthrough: bool = True
    only_known_overflows: bool = False
    hooks: bool = False
    attachments_first: bool = False

    def __post_init__(self) -> None:
        self._check_figures()
        switch(self, "automatic", "session_memory", "use_checkpoint", "llm_summary", "counts_only_text", "pair_safe")
        switch(self, "attachments", "keeps_after_error", "rechecks", "trusts_checkpoint", "reports_passthrough")
        switch(self, "only_known_overflows", "hooks", "attachments_first")
        tool_names(self, "micro_tools")
        for name, choices in {**_CHOICES, "digest_role": ("user", "assistant")}.items():
            if getattr(self, name) not in choices:
                remedy = f"Use {' or '.join(map(repr, choices))}."
                raise ConfigError(f"{name}={getattr(self, name)!r} is not valid.", remedy, subject=name)
        self._raise_to_least()

    __repr__ = plain_repr

    def _check_figures(self) -> None:
        chosen = self.auto_compact_threshold_tokens
        if chosen is not None:
            whole(self, "auto_compact_threshold_tokens", least=-(10**12))
        whole(self, "summary_reserve_tokens", "buffer_tokens", "micro_large_chars", "image_tokens")
        whole(self, "collapse_limit_chars", "collapse_head_chars", "collapse_tail_chars", "session_memory_more_than")
        whole(self, "overflow_retries", "attachment_paths", "inline_chars", "preview_chars", "session_memory_chars")
        whole(
            self, "keep_messages", "session_memory_keep", "session_memory_lines", "session_memory_line_chars", least=1
        )
        whole(self, "micro_keep", "summary_max_tokens", "attempts", "failure_limit", "chars_per_token", least=1)
        positive(self, "timeout_seconds", "padding")
        share = self.least_threshold_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            raise ConfigError(
                f"least_threshold_share={share!r} is not valid.",
                "Give a share from 0 to below 1.",
                subject="least_threshold_share",
            )

    def _raise_to_least(self) -> None:
        """Takes the smallest value that OpenHarness takes where one below it was given."""
        least = {
            "micro_large_chars": LEAST_RESULT_CHARS,
            "inline_chars": LEAST_RESULT_CHARS,
            "preview_chars": LEAST_PREVIEW_CHARS,
            "image_tokens": LEAST_IMAGE_TOKENS,
        }
        for name, value in least.items():
            object.__setattr__(self, name, max(value, getattr(self, name)))

    def threshold(self, window: int) -> int:
        """Estimated tokens at which it acts, for a window in tokens; may be below 0, as shipped."""
        chosen = self.auto_compact_threshold_tokens
        if chosen is not None and chosen > 0:
            return chosen
        plain = window - self.summary_reserve_tokens - self.buffer_tokens
        share = self.least_threshold_share
        return max(plain, int(share * window)) if share else plain

"""Settings of OpenClaw's compaction, and the figures that follow from them and from a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness_nb.core.config import one_of, plain_repr, positive, share, switch, whole

UNCONFIGURED_RESERVE = 16_384
UNCONFIGURED_KEEP = 20_000
MOST_TURNS = 12
MOST_RETRIES = 3

_LEAST_PROMPT_TOKENS = 8_000
_LEAST_PROMPT_SHARE = 0.5


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenClawConfig:
    """Settings of the compaction.

    Attributes:
        mode: `safeguard`: five headings, re-distilled, with excerpts and an audit; `default`: six sections, updated in
            place (default `safeguard`).
        reserve_tokens: Tokens of the window kept free, None for 16,384 (default None).
        reserve_tokens_floor: Least such reserve as far as the window allows, None for 20,000 (default None).
        keep_recent_tokens: Tokens at the end that stay, None for 20,000 (default None); given, they stay by hand, too.
        soft_threshold_tokens: Tokens before the reserve at which a turn begins with a compaction (default 4,000).
        server_threshold: Least threshold at which it does, as a provider compacts by itself from there (default 0: none).
        max_history_share: Share of the window above which the kept end makes old history be summarised apart (default 0.5).
        recent_turns_preserve: Last turns of what is summarised that stay as excerpts, at most 12 (default 3).
        identifier_policy: `strict`: the audit looks for identifiers; `off`; `custom`: by `identifier_instructions`
            (default `strict`).
        identifier_instructions: What is asked about identifiers under `custom` (default empty).
        instructions: What is asked of every summary, up to 800 characters; empty for the built-in one (default empty).
        quality_guard: Whether a summary is audited (default True).
        quality_guard_max_retries: Further tries after a failed audit, at most 3 (default 1).
        accept_failed_audit: Whether the last try is taken although it fails (default True, as in this version; False
            leaves the list alone).
        whole_branch: Whether a compaction with nothing before its cut summarises the whole session and keeps it, too
            (default True; False does nothing then).
        excerpts_shown: Whether the model also reads what stays as excerpts (default False).
        merge_file_lists: Whether file lists of an earlier safeguard summary are carried on (default False).
        manual_keeps_tail: Whether the newest messages stay in a compaction by hand (default False: they are dropped).
        preflight: Whether a turn may begin with a compaction (default True).
        precheck: Whether the first request of a turn is estimated before it is sent (default True).
        loop_guard: Whether every request is held below 90 % of the window in characters (default True).
        mid_turn_precheck: Whether requests in a tool loop are estimated, too (default False).
        inner: Whether `default` mode compacts after an answer above window less reserve (default True).
        result_max_chars: Longest stored tool result in characters, None for 16,000 to 64,000 by window (default None).
        cap_requests: Whether results are capped again in the first request of a turn (default True).
        prune_images: Whether pictures before the last three finished turns leave requests (default True).
        pruning: Whether old results leave requests after an idle gap (default False).
        pruning_ttl_seconds: The idle gap (default 300).
        pruning_keep_assistants: Latest assistant messages from which on nothing is pruned (default 3).
        pruning_soft_ratio: Share of the window from which on long results are trimmed (default 0.3).
        pruning_hard_ratio: Share of the window from which on results are cleared (default 0.5).
        pruning_min_chars: Least characters in prunable results for clearing (default 50,000).
        pruning_soft_max_chars: Results above this length are trimmed (default 4,000 characters).
        pruning_soft_head_chars: Characters that stay of their beginning (default 1,500).
        pruning_soft_tail_chars: Characters that stay of their end (default 1,500).
        pruning_clears: Whether results are cleared at all (default True).
        flush_before_compact: Whether the memory is written before a compaction that a full window forces, and before one
            at the start of a turn (default True).
        timeout_seconds: Limit on one summary request (default 180).
    """

    mode: Literal["safeguard", "default"] = "safeguard"
    reserve_tokens: int | None = None
    reserve_tokens_floor: int | None = None
    keep_recent_tokens: int | None = None
    soft_threshold_tokens: int = 4_000
    server_threshold: int = 0
    max_history_share: float = 0.5
    recent_turns_preserve: int = 3
    identifier_policy: Literal["strict", "off", "custom"] = "strict"
    identifier_instructions: str = ""
    instructions: str = ""
    quality_guard: bool = True
    quality_guard_max_retries: int = 1
    accept_failed_audit: bool = True
    whole_branch: bool = True
    excerpts_shown: bool = False
    merge_file_lists: bool = False
    manual_keeps_tail: bool = False
    preflight: bool = True
    precheck: bool = True
    loop_guard: bool = True
    mid_turn_precheck: bool = False
    inner: bool = True
    result_max_chars: int | None = None
    cap_requests: bool = True
    prune_images: bool = True
    pruning: bool = False
    pruning_ttl_seconds: int = 300
    pruning_keep_assistants: int = 3
    pruning_soft_ratio: float = 0.3
    pruning_hard_ratio: float = 0.5
    pruning_min_chars: int = 50_000
    pruning_soft_max_chars: int = 4_000
    pruning_soft_head_chars: int = 1_500
    pruning_soft_tail_chars: int = 1_500
    pruning_clears: bool = True
    flush_before_compact: bool = True
    timeout_seconds: float = 180.0

    def __post_init__(self) -> None:
        for name, least in (("reserve_tokens", 0), ("reserve_tokens_floor", 0), ("keep_recent_tokens", 1)):
            if getattr(self, name) is not None:
                whole(self, name, least=least)
        if self.result_max_chars is not None:
            whole(self, "result_max_chars", least=1)
        whole(self, "soft_threshold_tokens", "server_threshold", "recent_turns_preserve", "quality_guard_max_retries")
        whole(self, "pruning_ttl_seconds", "pruning_keep_assistants", "pruning_min_chars")
        whole(self, "pruning_soft_max_chars", "pruning_soft_head_chars", "pruning_soft_tail_chars")
        positive(self, "max_history_share", "timeout_seconds")
        share(self, "pruning_soft_ratio", "pruning_hard_ratio")
        switch(self, *(name for name, value in vars(type(self)).items() if isinstance(value, bool)))
        one_of(self, "mode", "safeguard", "default")
        one_of(self, "identifier_policy", "strict", "off", "custom")

    __repr__ = plain_repr

    def reserve(self, window: int) -> int:
        """Tokens of a window that stay free: never so many that a prompt of 8,000 or half the window would not fit."""
        least_prompt = min(_LEAST_PROMPT_TOKENS, max(1, int(window * _LEAST_PROMPT_SHARE)))
        most = max(0, window - least_prompt)
        floor = min(self.floor, most)
        wanted = UNCONFIGURED_RESERVE if self.reserve_tokens is None else self.reserve_tokens
        return min(most, max(wanted, floor))

    @property
    def floor(self) -> int:
        """The floor of the reserve in force."""
        return UNCONFIGURED_KEEP if self.reserve_tokens_floor is None else self.reserve_tokens_floor

    @property
    def keep(self) -> int:
        """Tokens at the end that stay, in force."""
        return UNCONFIGURED_KEEP if self.keep_recent_tokens is None else self.keep_recent_tokens

    def threshold(self, window: int) -> int:
        """Tokens at which a turn begins with a flush or a compaction; 0 or less where it never does."""
        return max(window - self.floor - self.soft_threshold_tokens, self.server_threshold)

    @property
    def tries(self) -> int:
        """How often a summary is written at most."""
        return 1 + min(MOST_RETRIES, self.quality_guard_max_retries) if self.quality_guard else 1

    @property
    def excerpt_turns(self) -> int:
        """Turns that stay as excerpts, in force."""
        return min(MOST_TURNS, self.recent_turns_preserve)

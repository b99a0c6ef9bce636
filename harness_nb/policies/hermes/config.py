"""Settings of Hermes' compaction, and the thresholds that follow from them and from a window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from harness_nb.core.config import one_of, plain_repr, positive, share, switch, whole
from harness_nb.core.limits import ModelLimits

_RAISES = (
    (re.compile(r"codex.*gpt-5\.[456].*spark|codex.*spark"), 0.70),
    (re.compile(r"codex.*gpt-5\.[456]"), 0.85),
    (re.compile(r"arcee.*trinity|trinity.*arcee"), 0.75),
)
"""Thresholds that Hermes raises by the model's name, as a share of the window."""

_RATIO_LIMITS = (0.10, 0.80)


@dataclass(frozen=True, kw_only=True, repr=False)
class HermesConfig:
    """Settings of the compaction.

    Attributes:
        enabled: Whether it acts by itself (default True). By hand it always does.
        threshold: Share of the window at which it acts (default 0.50).
        threshold_floor: Least such share for windows below `small_window` (default 0.75).
        small_window: Windows from this size on, in tokens, go by `threshold` alone (default 512,000).
        minimum_threshold: Least trigger in tokens (default 64,000).
        degenerate_ratio: Share of the window that takes the place of a trigger that would not fit into it (default 0.85).
        model_raises: Whether models that Hermes knows by name get a higher share (default True).
        max_tokens: Tokens of the window that are reserved for the reply, None for none (default None).
        target_ratio: Share of the trigger that the kept end may fill, held between 0.10 and 0.80 (default 0.20).
        soft_ceiling_ratio: By how much the kept end may be longer, as a factor (default 1.5).
        protect_first_n: Messages kept at the start in the first compaction (default 3).
        protect_last_n: Latest messages whose results and arguments stay whole, at least (default 20).
        tail_floor: Latest messages that the cut keeps, as far as `protect_last_n` allows (default 8).
        head_decay: Whether the start is kept in the first compaction only (default True).
        feed_decayed_head: Whether what stands before an earlier summary is summarised, too (default False: it is lost).
        prune_result_chars: Old results above this length become one line (default 200 characters).
        dedupe_result_chars: Equal results from this length on become a reference to the newest (default 200 characters).
        prune_argument_chars: Old call arguments above this length are shortened (default 500 characters).
        summary_ratio: Length asked of a summary, as a share of what it stands for (default 0.20).
        summary_min_tokens: Least length asked of a summary (default 2,000 tokens).
        summary_max_tokens: Greatest length asked of a summary (default 10,000 tokens).
        summary_window_share: The same as a share of the window (default 0.05).
        task_snapshot: Whether the task in a summary is overwritten with the last request (default True).
        summary_model: Model that writes summaries, None for the agent's own (default None).
        summary_model_window: Its window in tokens, None for the same as the agent's (default None).
        summary_timeout_seconds: Limit on one summary request (default 300).
        abort_on_summary_failure: Whether every failure of a summary leaves the list alone (default False: unless it has
            to do with keys, money or the network, a text made without a model takes the place of the summary).
        in_place: Whether a compacted session archives its rows and goes on; False leaves them to a parent (default True;
            a setting of Hermes' store: here a session keeps its id and its log in any case).
        session_store: Whether sessions are stored, which makes the count of useless passes begin anew (default True).
        waits_for_usage: Whether a provider that reports no count is waited for after a compaction all the same, so that no
            other follows (default False; Hermes waits).
        stored_mark_chars: Characters by which a stored message counts as longer (default 23, about 6 tokens).
        hygiene_ratio: Share of the window at which a waiting session is compacted (default 0.85).
        hygiene_hard_message_limit: Messages at which it is, whatever its size (default 5,000).
        minimum_window: Smallest window that Hermes supports, in tokens (default 64,000).
        below_minimum: What happens with a smaller one: `run`, as when its compressor is called directly, or `refuse`, as
            Hermes does (default `run`, so that small windows can be studied).
        level: `session` is the live system, `engine` its compressor called directly (default `session`).
    """

    enabled: bool = True
    threshold: float = 0.50
    threshold_floor: float = 0.75
    small_window: int = 512_000
    minimum_threshold: int = 64_000
    degenerate_ratio: float = 0.85
    model_raises: bool = True
    max_tokens: int | None = None
    target_ratio: float = 0.20
    soft_ceiling_ratio: float = 1.5
    protect_first_n: int = 3
    protect_last_n: int = 20
    tail_floor: int = 8
    head_decay: bool = True
    feed_decayed_head: bool = False
    prune_result_chars: int = 200
    dedupe_result_chars: int = 200
    prune_argument_chars: int = 500
    summary_ratio: float = 0.20
    summary_min_tokens: int = 2_000
    summary_max_tokens: int = 10_000
    summary_window_share: float = 0.05
    task_snapshot: bool = True
    summary_model: str | None = None
    summary_model_window: int | None = None
    summary_timeout_seconds: float = 300.0
    abort_on_summary_failure: bool = False
    in_place: bool = True
    session_store: bool = True
    waits_for_usage: bool = False
    stored_mark_chars: int = 23
    hygiene_ratio: float = 0.85
    hygiene_hard_message_limit: int = 5_000
    minimum_window: int = 64_000
    below_minimum: Literal["run", "refuse"] = "run"
    level: Literal["session", "engine"] = "session"

    def __post_init__(self) -> None:
        share(self, "threshold", "threshold_floor", "degenerate_ratio", "target_ratio", "hygiene_ratio")
        share(self, "summary_ratio", "summary_window_share")
        positive(self, "soft_ceiling_ratio", "summary_timeout_seconds")
        whole(self, "protect_first_n", "protect_last_n", "tail_floor", "stored_mark_chars", "minimum_window")
        whole(self, "prune_result_chars", "dedupe_result_chars", "prune_argument_chars", "small_window")
        whole(self, "minimum_threshold", "summary_min_tokens", "summary_max_tokens", least=1)
        whole(self, "hygiene_hard_message_limit", least=1)
        for name in ("max_tokens", "summary_model_window"):
            if getattr(self, name) is not None:
                whole(self, name)
        switch(self, "enabled", "model_raises", "head_decay", "feed_decayed_head", "task_snapshot")
        switch(self, "abort_on_summary_failure", "in_place", "session_store", "waits_for_usage")
        one_of(self, "below_minimum", "run", "refuse")
        one_of(self, "level", "session", "engine")

    __repr__ = plain_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Figures in force for one window, in tokens.

    Attributes:
        trigger: The compaction acts from this size on.
        tail: Size that the kept end may have.
        soft_ceiling: Size up to which it may be longer.
        summary_ceiling: Greatest length asked of a summary.
        hygiene: A waiting session is compacted from this size on.
    """

    trigger: int
    tail: int
    soft_ceiling: int
    summary_ceiling: int
    hygiene: int


def thresholds(config: HermesConfig, limits: ModelLimits) -> Thresholds:
    """The figures in force for a model."""
    window = limits.window
    room = window - config.max_tokens if config.max_tokens and config.max_tokens < window else window
    trigger = max(int(room * _share(config, limits)), config.minimum_threshold)
    if trigger >= room:
        trigger = max(1, min(int(room * config.degenerate_ratio), room - 1))
    low, high = _RATIO_LIMITS
    tail = int(trigger * min(max(config.target_ratio, low), high))
    return Thresholds(
        trigger=trigger,
        tail=tail,
        soft_ceiling=int(tail * config.soft_ceiling_ratio),
        summary_ceiling=min(int(window * config.summary_window_share), config.summary_max_tokens),
        hygiene=int(window * config.hygiene_ratio),
    )


def _share(config: HermesConfig, limits: ModelLimits) -> float:
    """The share of the window at which the compaction acts; only ever raised, so a higher setting holds."""
    found = config.threshold
    if limits.window < config.small_window:
        found = max(found, config.threshold_floor)
    if config.model_raises:
        name = limits.name.lower()
        found = max(found, next((raised for pattern, raised in _RAISES if pattern.search(name)), 0.0))
    return found

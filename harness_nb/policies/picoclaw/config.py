"""Settings of PicoClaw's compaction; both managers share those of the loop around them."""

from __future__ import annotations

from dataclasses import dataclass

from harness_nb.core.config import plain_repr, share, switch, text_or_none, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError

_MOST_TOKENS = 32_768
_WINDOW_PARTS = 4


@dataclass(frozen=True, kw_only=True, repr=False)
class PicoClawConfig:
    """Settings of the loop.

    Attributes:
        max_tokens: Tokens of the window that are kept free for the reply; None (the default) for a quarter of the window,
            at most 32,768.
        summary_model: Model that writes summaries, None (the default) for the agent's own.
        summary_timeout_seconds: Limit on one summary request (default 120).
    """

    max_tokens: int | None = None
    summary_model: str | None = None
    summary_timeout_seconds: int = 120

    def __post_init__(self) -> None:
        if self.max_tokens is not None:
            whole(self, "max_tokens")
        whole(self, "summary_timeout_seconds", least=1)
        text_or_none(self, "summary_model")

    __repr__ = plain_repr

    def reply_tokens(self, limits: ModelLimits) -> int:
        """Tokens kept free for the reply."""
        return min(_MOST_TOKENS, limits.window // _WINDOW_PARTS) if self.max_tokens is None else self.max_tokens


@dataclass(frozen=True, kw_only=True, repr=False)
class LegacyConfig(PicoClawConfig):
    """Settings of the legacy manager.

    Attributes:
        summarize_message_threshold: More messages than this are summarised after a turn (default 20).
        summarize_token_percent: More tokens than this percentage of the window are, too (default 75).
        keep_last: Messages that stay, at least and in whole turns (default 4).
        split_above: More messages than this are summarised in two halves that are merged (default 10).
        llm_attempts: Attempts at each request (default 3).
        carries_summary: Whether the earlier summary is passed on when two halves are merged (default False, as shipped:
            then it is forgotten).
        excerpt_chars: Least length of an excerpt that takes the place of a failed summary (default 200 characters).
        excerpt_share: Share of a message that it holds when that is more (default 0.10).
    """

    summarize_message_threshold: int = 20
    summarize_token_percent: int = 75
    keep_last: int = 4
    split_above: int = 10
    llm_attempts: int = 3
    carries_summary: bool = False
    excerpt_chars: int = 200
    excerpt_share: float = 0.10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "summarize_message_threshold", "summarize_token_percent", "keep_last", "excerpt_chars")
        whole(self, "split_above", "llm_attempts", least=1)
        switch(self, "carries_summary")
        share(self, "excerpt_share")

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class SeahorseConfig(PicoClawConfig):
    """Settings of the Seahorse manager; all but two are constants in the original.

    Attributes:
        fresh_tail: Newest items that no leaf takes, and that are kept longest (default 32).
        leaf_min: Messages in a row that make a leaf, at least (default 8).
        leaf_chunk_tokens: A leaf ends with the message that brings it to this many tokens; a condensed node stands for no
            more (default 20,000).
        leaf_target: Length asked of a leaf, in tokens (default 1,200; at most 35 % of what it stands for).
        condensed_min: Nodes of one depth that are condensed wherever they stand (default 4).
        condensed_target: Length asked of a condensed node, and tokens that a row of nodes at the start has to have to be
            condensed (default 2,000).
        condense_at: Share of the window above which nodes are condensed after a turn (default 1.0, as shipped).
        compact_every_turn: Whether a leaf is made after each turn, however empty the window is (default True).
        most_rounds: Most steps after an overflow (default 20).
        passes_large_head: Whether a leaf may have fewer messages when these have `leaf_chunk_tokens` already (default False,
            as shipped: then large messages at the start block compaction for ever).
        uses_model: Whether a model writes the nodes (default True); without one they are cut from their sources.
    """

    fresh_tail: int = 32
    leaf_min: int = 8
    leaf_chunk_tokens: int = 20_000
    leaf_target: int = 1_200
    condensed_min: int = 4
    condensed_target: int = 2_000
    condense_at: float = 1.0
    compact_every_turn: bool = True
    most_rounds: int = 20
    passes_large_head: bool = False
    uses_model: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self, "fresh_tail", "condensed_target", "most_rounds")
        whole(self, "leaf_min", "leaf_chunk_tokens", "leaf_target", "condensed_min", least=1)
        share(self, "condense_at")
        switch(self, "compact_every_turn", "passes_large_head", "uses_model")
        if not self.condense_at:
            raise ConfigError("condense_at=0 is not valid.", "Give a share above 0.", subject="condense_at")

    __repr__ = plain_repr

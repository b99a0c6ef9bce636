"""Settings of OpenCode's compaction, and the budgets that follow from them and from a model's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness_nb.core.config import EXCLUDED_TOOLS, plain_repr, switch, text_or_none, tool_names, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.errors import ConfigError

_RESERVED = 20_000
_TAIL_SHARE = 4
_LEAST_TAIL = 2_000
_UNKNOWN_SHARE = 4


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenCodeConfig:
    """Settings of the compaction.

    Attributes:
        auto: Whether it acts by itself, before a call and after an overflow (default True). By hand it always does.
        prune: Whether old results are cleared after a turn (default False).
        tail_turns: Most turns that stay, the newest; 0 for none, None for no limit (default 2; None in 1.18.33).
        preserve_recent_tokens: Tokens that the turns which stay may fill; None (the default) for a quarter of the usable
            budget, at least 2,000 and at most `tail_cap`.
        tail_cap: The most that this quarter can be, in tokens (default 8,000; 15,000 in 1.18.33).
        reserved: Tokens left free below a declared `input_limit`; None (the default) for 20,000 or the longest reply,
            whichever is less. It does nothing for a model without an input limit.
        context_limit: Context window in tokens, None (the default) for the model's. 0: it is not known, and nothing acts.
        input_limit: Largest input that the model declares beside its window, in tokens (default None).
        output_limit: Longest reply in tokens, None (the default) for the model's; 0: it is not known.
        output_token_max: Most tokens that a reply reserves, and what one of unknown length reserves (default 32,000).
        caps_reserve: Whether a reply of unknown length reserves at most a quarter of the window (default True; False, as
            shipped, makes a small window compact at every step).
        estimates_usage: Whether an estimate takes the place of the count that a provider does not report (default True;
            False, as shipped: then it never acts before an overflow).
        autocontinue: Whether a compaction that nobody asked for tells the model to go on (default True).
        prune_protect: Newest tokens of results that clearing leaves alone (default 40,000).
        prune_minimum: Clearing has to gain more than this many tokens (default 20,000).
        prune_turns: Newest user messages behind which it does not look (default 2).
        prune_tools: Tools whose results are never cleared (default `skill`).
        result_chars: Characters of a result that the summary request shows (default 2,000).
        summary_input: What the summary request shows: `chat`, the messages; or `transcript`, one text (default `chat`;
            `transcript` in 1.18.33).
        summary_model: Model that writes summaries, None (the default) for the agent's own.
        summary_context: A further text for the summary request, or None (the default).
        provider_package: Package of the provider; decides whether results can hold pictures, which tells how much they
            count (default `@ai-sdk/anthropic`).
        max_lines: Lines of a result beyond which it goes to a file (default 2,000).
        max_bytes: Bytes of a result beyond which it does (default 51,200).
        shell_tools: Tools of which the end stays, if need be of one line (default `bash`, `shell`).
        tail_tools: Other tools of which the end stays; of all others the beginning does (default none).
        spill_excluded_tools: Tools whose results stay whole (default: the reading and searching tools).
    """

    auto: bool = True
    prune: bool = False
    tail_turns: int | None = 2
    preserve_recent_tokens: int | None = None
    tail_cap: int = 8_000
    reserved: int | None = None
    context_limit: int | None = None
    input_limit: int | None = None
    output_limit: int | None = None
    output_token_max: int = 32_000
    caps_reserve: bool = True
    estimates_usage: bool = True
    autocontinue: bool = True
    prune_protect: int = 40_000
    prune_minimum: int = 20_000
    prune_turns: int = 2
    prune_tools: frozenset[str] = frozenset({"skill"})
    result_chars: int = 2_000
    summary_input: Literal["chat", "transcript"] = "chat"
    summary_model: str | None = None
    summary_context: str | None = None
    provider_package: str = "@ai-sdk/anthropic"
    max_lines: int = 2_000
    max_bytes: int = 51_200
    shell_tools: frozenset[str] = frozenset({"bash", "shell"})
    tail_tools: frozenset[str] = frozenset()
    spill_excluded_tools: frozenset[str] = EXCLUDED_TOOLS

    def __post_init__(self) -> None:
        switch(self, "auto", "prune", "caps_reserve", "estimates_usage", "autocontinue")
        whole(self, "tail_cap", "prune_protect", "prune_minimum", "prune_turns", "result_chars")
        whole(self, "output_token_max", "max_lines", "max_bytes", least=1)
        limits = ("context_limit", "input_limit", "output_limit", "reserved", "tail_turns", "preserve_recent_tokens")
        whole(self, *(name for name in limits if getattr(self, name) is not None))
        for name in ("prune_tools", "shell_tools", "tail_tools", "spill_excluded_tools"):
            tool_names(self, name)
        for name in ("summary_model", "summary_context", "provider_package"):
            text_or_none(self, name)
        if self.summary_input not in ("chat", "transcript"):
            raise ConfigError(
                f"summary_input={self.summary_input!r} is not valid.",
                "Use 'chat' or 'transcript'.",
                subject="summary_input",
            )

    __repr__ = plain_repr


@dataclass(frozen=True, slots=True)
class Budget:
    """What a model's limits leave, in tokens.

    Attributes:
        context: The window; 0 when it is not known.
        reply: What the longest reply reserves.
        usable: The compaction acts at this size.
        tail: What the turns that stay may fill.
    """

    context: int
    reply: int
    usable: int
    tail: int


def budget(config: OpenCodeConfig, limits: ModelLimits) -> Budget:
    """The budgets in force for a model. The tail goes by the usual reserve for a reply, whatever `output_token_max` is."""
    context = limits.window if config.context_limit is None else config.context_limit
    reply = _reply(config, limits, context, config.output_token_max)
    usual = _reply(config, limits, context, OpenCodeConfig.output_token_max)
    tail = config.preserve_recent_tokens
    if tail is None:
        tail = min(config.tail_cap, max(_LEAST_TAIL, _usable(config, context, usual) // _TAIL_SHARE))
    return Budget(context, reply, _usable(config, context, reply), tail)


def _reply(config: OpenCodeConfig, limits: ModelLimits, context: int, most: int) -> int:
    declared = (limits.max_output or 0) if config.output_limit is None else config.output_limit
    if declared:
        return min(declared, most)
    return min(most, context // _UNKNOWN_SHARE) if config.caps_reserve else most


def _usable(config: OpenCodeConfig, context: int, reply: int) -> int:
    if context == 0:
        return 0
    if config.input_limit:
        reserved = min(_RESERVED, reply) if config.reserved is None else config.reserved
        return max(0, config.input_limit - reserved)
    return max(0, context - reply)

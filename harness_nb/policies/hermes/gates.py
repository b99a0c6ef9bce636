"""Whether Hermes compacts now: by the point of the loop, the sizes, and what happened before."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness_nb.core.view import View
from harness_nb.policies.hermes.config import HermesConfig, Thresholds
from harness_nb.policies.hermes.record import HermesRecord

LEAST_MESSAGES = 4
"""Messages that a session must have to be compacted by hand or while it waits."""

ATTEMPTS = 3
"""Compactions in one call, and in the tool loop of one turn."""

_GROWTH_TOKENS, _GROWTH_SHARE = 4_096, 0.05
_BREAKER = 2
_HERE = re.compile(r"(?:up to )?here(?:\s+(\S+))?|--keep(?:[\s=]+(\S+))?", re.IGNORECASE)
_KEEP = 2


@dataclass(frozen=True, slots=True)
class Gate:
    """A decision to compact or not.

    Attributes:
        code: Why not, in one word; empty to go on.
        reason: In words.
        tokens: The size that was compared.
        threshold: With what.
    """

    code: str
    reason: str
    tokens: int
    threshold: int

    @property
    def is_open(self) -> bool:
        """Whether to go on."""
        return not self.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """What a gate compares, in tokens.

    Attributes:
        request: Estimate of system prompt and messages.
        messages: Estimate of the messages alone.
    """

    request: int
    messages: int


def gate(view: View, config: HermesConfig, limits: Thresholds, record: HermesRecord, sizes: Sizes) -> Gate:
    """Whether to compact now; a pass after another of the same call goes by size alone."""
    if config.below_minimum == "refuse" and config.level == "session" and view.model.window < config.minimum_window:
        return _closed("window_below_minimum", "the window is smaller than Hermes supports", sizes.request, limits)
    if view.hook == "overflow":
        return Gate("", "the provider refused the input as too long", sizes.request, limits.trigger)
    if view.hook == "manual":
        return _by_hand(view, config, limits, sizes)
    if not config.enabled:
        return _closed("disabled", "the compaction is switched off", sizes.request, limits)
    if view.hook == "idle":
        return _waiting(view, config, limits, record, sizes)
    if view.hook == "result":
        return _by_size(view, limits, record, record.real_tokens if not record.awaiting_usage else 0)
    if view.done or config.level == "engine":
        return _by_size(view, limits, record, sizes.request)
    return _before_request(view, config, limits, record, sizes)


def exchanges_kept(words: str) -> int | None:
    """Exchanges that `here`, `up to here` or `--keep` wants kept; None for any other words, which are a topic."""
    found = _HERE.fullmatch(words.strip())
    if found is None:
        return None
    number = found[1] or found[2] or ""
    return int(number) if number.isdecimal() and int(number) > 0 else _KEEP


def _closed(code: str, reason: str, tokens: int, limits: Thresholds) -> Gate:
    return Gate(code, reason, tokens, limits.trigger)


def _by_hand(view: View, config: HermesConfig, limits: Thresholds, sizes: Sizes) -> Gate:
    if config.level == "session" and len(view.input) < LEAST_MESSAGES:
        return _closed("fewer_than_4_messages", f"fewer than {LEAST_MESSAGES} messages", sizes.request, limits)
    return Gate("", "asked for", sizes.request, limits.trigger)


def _waiting(view: View, config: HermesConfig, limits: Thresholds, record: HermesRecord, sizes: Sizes) -> Gate:
    tokens = record.real_tokens or sizes.messages
    if len(view.input) < LEAST_MESSAGES:
        return Gate("fewer_than_4_messages", f"fewer than {LEAST_MESSAGES} messages", tokens, limits.hygiene)
    if tokens < limits.hygiene and len(view.input) < config.hygiene_hard_message_limit:
        return Gate("below_threshold", f"{tokens:,} of {limits.hygiene:,} tokens", tokens, limits.hygiene)
    return Gate(
        "", f"the session waits with {tokens:,} tokens and {len(view.input):,} messages", tokens, limits.hygiene
    )


def _before_request(view: View, config: HermesConfig, limits: Thresholds, record: HermesRecord, sizes: Sizes) -> Gate:
    """At the start of a turn, and before each request of its tool loop."""
    few = len(view.input) <= config.protect_first_n + config.protect_last_n + 1
    if view.hook == "turn" and few and sizes.messages < limits.trigger <= sizes.request:
        return _closed("cheap_gate", "too few messages to be looked at", sizes.request, limits)
    if sizes.request < limits.trigger:
        return _closed("below_threshold", f"{sizes.request:,} of {limits.trigger:,} tokens", sizes.request, limits)
    if view.hook == "request" and record.turn == view.turn and record.attempts >= ATTEMPTS:
        return _closed("attempts", f"compacted {ATTEMPTS} times in this turn already", sizes.request, limits)
    return _deferred(limits, record, sizes.request) or _by_size(view, limits, record, sizes.request)


def is_looked_at(view: View, config: HermesConfig, limits: Thresholds, sizes: Sizes) -> bool:
    """Whether a turn's start gets as far as an estimate of the request."""
    return len(view.input) > config.protect_first_n + config.protect_last_n + 1 or sizes.messages >= limits.trigger


def _deferred(limits: Thresholds, record: HermesRecord, tokens: int) -> Gate | None:
    """Waits for the provider's count after a compaction, and trusts the last one while little was added to it."""
    if record.awaiting_usage:
        return _closed("awaiting_usage", "the provider has not counted the compacted list yet", tokens, limits)
    growth = tokens - record.fitting_tokens
    tolerated = max(_GROWTH_TOKENS, int(limits.trigger * _GROWTH_SHARE))
    if record.fitting_tokens and record.real_tokens < limits.trigger and growth <= tolerated:
        return _closed("small_growth", f"grew by {growth:,} tokens since a request that fitted", tokens, limits)
    return None


def _by_size(view: View, limits: Thresholds, record: HermesRecord, tokens: int) -> Gate:
    if tokens < limits.trigger:
        return _closed("below_threshold", f"{tokens:,} of {limits.trigger:,} tokens", tokens, limits)
    seconds = record.resting(view.now.timestamp())
    if seconds:
        return _closed("cooldown", f"no summary is tried for {seconds:,.0f} s", tokens, limits)
    if record.ineffective >= _BREAKER:
        return _closed("breaker_ineffective", "the last passes brought too little; compact by hand", tokens, limits)
    if record.fallbacks >= _BREAKER:
        return _closed("breaker_fallback", "the last summaries failed; compact by hand", tokens, limits)
    return Gate("", f"{tokens:,} tokens reach the trigger of {limits.trigger:,}", tokens, limits.trigger)

"""What Hermes' compaction remembers of a session, and what a provider's count changes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

UNKNOWN = -1
"""Stands for the last prompt's tokens after a compaction, until the provider reports a count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HermesRecord:
    """State of one session.

    Attributes:
        compactions: Compactions so far.
        ineffective: Passes in a row that found nothing, or after which the provider's count was still too high.
        fallbacks: Summaries in a row that were made without a model.
        cooldown_until: No summary is tried before this time, in seconds since 1970; 0 for none.
        timeouts: Timeouts of summaries in a row.
        awaiting_usage: Whether a compaction's effect is still to be reported by the provider.
        last_prompt_tokens: Last count reported, or a higher estimate since; `UNKNOWN` right after a compaction.
        rough_tokens: Last estimate of a request.
        fitting_tokens: The estimate of the last request that fitted by the provider's count; 0 for none.
        real_tokens: Last count reported; 0 for none.
        heard: Length of the log up to where counts were taken in.
        earlier: Text of the last summary, where the session keeps it outside the list.
        trigger: A trigger lowered to the window of the summary's model, None where it is not.
        main_model_only: Whether the summary's own model failed, so that the agent's takes its place.
        turn: Where the turn began that `attempts` counts for.
        attempts: Compactions inside that turn's tool loop.
    """

    compactions: int = 0
    ineffective: int = 0
    fallbacks: int = 0
    cooldown_until: float = 0.0
    timeouts: int = 0
    awaiting_usage: bool = False
    last_prompt_tokens: int = 0
    rough_tokens: int = 0
    fitting_tokens: int = 0
    real_tokens: int = 0
    heard: int = 0
    earlier: str = ""
    trigger: int | None = None
    main_model_only: bool = False
    turn: int = -1
    attempts: int = 0

    def reported(self, tokens: int, trigger: int) -> HermesRecord:
        """The record once the provider reported the tokens of a prompt.

        Args:
            tokens: The count.
            trigger: The trigger in force.
        """
        fits = tokens < trigger
        ineffective = self.ineffective
        if self.awaiting_usage:
            ineffective = 0 if fits else self.ineffective + 1
        return replace(
            self,
            last_prompt_tokens=tokens,
            real_tokens=tokens,
            fitting_tokens=self.rough_tokens if fits else 0,
            awaiting_usage=False,
            ineffective=ineffective,
        )

    def unreported(self) -> HermesRecord:
        """The record once a reply came without a count: there is none to wait for."""
        if not self.awaiting_usage:
            return self
        return replace(self, awaiting_usage=False, last_prompt_tokens=self.rough_tokens)

    def estimated(self, tokens: int) -> HermesRecord:
        """The record with a new estimate of the request; a higher one takes the place of the last count."""
        last = self.last_prompt_tokens
        return replace(self, rough_tokens=tokens, last_prompt_tokens=max(last, tokens) if last >= 0 else last)

    def resting(self, now: float) -> float:
        """Seconds for which no summary is tried."""
        return max(0.0, self.cooldown_until - now)

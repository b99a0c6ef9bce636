"""What OpenHarness takes for the provider's word that a request was too long: some phrases, too few and one too many."""

from __future__ import annotations

from harness_nb.core.requests import Failure

_PHRASES = (
    "prompt too long",
    "context_length_exceeded",
    "context length",
    "maximum context",
    "context window",
    "input tokens exceed",
    "messages resulted in",
    "reduce the length of the messages",
    "configured limit",
    "too many tokens",
    "too large for the model",
    "exceed_context",
    "available context size",
)


def is_overflow_text(text: str) -> bool:
    """Whether the text of an error counts as an overflow."""
    lower = text.lower()
    return any(phrase in lower for phrase in _PHRASES)


def is_overflow(failure: Failure) -> bool:
    """Whether a failed request counts as one that was too long."""
    return failure.kind == "overflow" or is_overflow_text(failure.detail)

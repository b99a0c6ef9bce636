"""What a reply that brought no error says about the input: dropped in silence, window full, or only the output cut."""

from __future__ import annotations

from harness_nb.core.messages import Message
from harness_nb.errors import ContextOverflowError

SHORTFALL = 0.6
"""Reported input divided by the estimate below which the server is believed to have dropped the rest. Estimates are a
quarter off at most; servers that drop the beginning keep about half of their window."""

FULL = 0.98
"""Share of the window from which a reply without any output means that there was no room for it."""

_LEAST_TOKENS = 1_000  # the shortfall of a smaller input says nothing: prompts of the server itself weigh too much
_CUT = ("length", "max_tokens")


def overflow_in(reply: Message, window: int) -> ContextOverflowError | None:
    """The overflow that a reply stands for, where the provider raises no error.

    Args:
        reply: A complete reply with usage and finish reason as reported.
        window: Context window of the model in tokens.
    """
    if not reply.is_blank:
        return None
    is_full = reply.usage is not None and reply.usage.input_tokens >= FULL * window
    if reply.finish == "model_context_window_exceeded" or (is_full and reply.finish in _CUT):
        size = reply.usage.input_tokens if reply.usage else None
        return ContextOverflowError(
            f"The model had no room to reply: the input of {size or 'unknown'} tokens fills the window of {window}.",
            "Compact the conversation, or choose a model with a larger window.",
            input_tokens=size,
            window=window,
        )
    return None


def is_output_cut(reply: Message) -> bool:
    """Whether the reply ended at its own limit with something in it; that is no overflow."""
    return reply.finish in _CUT and not reply.is_blank


def truncation_warning(reply: Message, *, estimated_tokens: int, window: int) -> str:
    """A warning that the server has probably truncated the input, or an empty text.

    Args:
        reply: A complete reply with usage as reported.
        estimated_tokens: Our own estimate of the input.
        window: Context window of the model in tokens.
    """
    if reply.usage is None or reply.usage.input_tokens == 0:
        return ""
    reported = reply.usage.input_tokens
    if estimated_tokens >= _LEAST_TOKENS and reported < SHORTFALL * estimated_tokens:
        return (
            f"The input was probably truncated by the server: it reports {reported} tokens, about {estimated_tokens} "
            f"were sent. Its real window may be smaller than {window}."
        )
    if reply.usage.output_tokens == 0 and reported >= FULL * window:
        return (
            f"The input was probably truncated by the server: the window of {window} tokens is full and nothing came."
        )
    return ""

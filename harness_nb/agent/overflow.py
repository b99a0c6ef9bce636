"""What is said when an input is too long and nothing more can be done about it."""

from __future__ import annotations

from harness_nb.agent.conversation import Conversation, Surroundings, scaled
from harness_nb.agent.guards import hopeless
from harness_nb.core.view import Refusal, View
from harness_nb.errors import ContextOverflowError

_SHOWN = 3


def refusal_of(error: ContextOverflowError) -> Refusal:
    """The provider's refusal as a policy sees it."""
    return Refusal(error.problem, error.input_tokens, error.window)


def learn(conversation: Conversation, refusal: Refusal, around: Surroundings) -> None:
    """Corrects estimate and window for the rest of the session, since the provider counted more than we did."""
    conversation.scale = scaled(conversation, refusal, around)
    if refusal.window is not None and refusal.window < around.model.window:
        conversation.window = refusal.window
    conversation.usage, conversation.billed, conversation.carried = None, 0, 0


def largest_parts(view: View) -> tuple[tuple[str, int], ...]:
    """The parts of the input by size, largest first."""
    parts = [("system prompt, memory and tool schemas", view.fixed_tokens)]
    for item in view.input:
        message = item.message
        name = f"result of {message.name or 'a tool'}" if message.role == "tool" else message.role
        place = f"message {item.index}" if item.index is not None else item.how
        parts.append((f"{name} ({place})", view.measure(message)))
    return tuple(sorted(parts, key=lambda part: -part[1]))


def still_too_long(view: View, cause: ContextOverflowError, why: str) -> ContextOverflowError:
    """The error that ends the turn: names the largest parts and what can be done."""
    parts = largest_parts(view)
    found = hopeless(view)
    shown = ", ".join(f"{name} {size:,} tokens" for name, size in parts[:_SHOWN])
    problem = found.reason if found is not None else f"The input is too long for {view.model.name!r}, and {why}."
    return ContextOverflowError(
        problem[0].upper() + problem[1:],
        f"Largest parts: {shown}. Shorten these, raise window=, choose a model with a larger window, or "
        "begin another session: agent.reset().",
        subject=view.model.name,
        input_tokens=cause.input_tokens,
        window=cause.window or view.model.window,
        largest=parts,
    )

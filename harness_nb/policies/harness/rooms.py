"""How much fits where: the thresholds in force, and the room that the window leaves for the input."""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness_nb.core.config import CompactionConfig, in_tokens
from harness_nb.core.plan import Trigger
from harness_nb.core.policy import Rest
from harness_nb.core.view import View

TAIL_SHARE = 0.5
"""Most of the trigger that the kept end may fill, so that a pass gains at least as much as it leaves."""

OUTPUT_SHARE = 0.5
"""Most of the window that is held free for the reply where the model's own limit is larger."""

UNKNOWN_OUTPUT_TOKENS = 16_000
"""Room for the reply when the model's limit is not known; at most a quarter of the window."""

MARGIN_SHARE = 0.02
"""Part of the window that stays free besides: estimates of what came after the last bill are not exact."""


def room_for_input(view: View, reserved: int | float | None = None) -> int:
    """Tokens that the window leaves for input once the reply is held free.

    Args:
        view: The conversation.
        reserved: The user's own figure for what is held free, in tokens or as a share of the window.
    """
    window = view.model.window
    if reserved is not None:
        return max(1, window - in_tokens(reserved, window))
    if view.model.max_output is None:
        output = min(UNKNOWN_OUTPUT_TOKENS, window // 4)
    else:
        output = min(view.model.max_output, int(window * OUTPUT_SHARE))
    return max(1, window - output - int(window * MARGIN_SHARE))


def trigger_tokens(config: CompactionConfig, view: View) -> int:
    """The token trigger in force: the one that was set, or what the window leaves for input where that is less."""
    room = room_for_input(view, config.reserved)
    return min(in_tokens(config.trigger_tokens, view.model.window), room) if config.trigger_tokens else room


def triggers(config: CompactionConfig, view: View) -> tuple[Trigger, ...]:
    """The thresholds in force."""
    found = []
    if config.trigger_messages:
        found.append(
            Trigger(name="trigger_messages", value=len(view.input), threshold=config.trigger_messages, unit="messages")
        )
    if config.trigger_tokens:
        found.append(Trigger(name="trigger_tokens", value=view.tokens, threshold=trigger_tokens(config, view)))
    return tuple(found)


def rest(config: CompactionConfig, view: View, *, warned: bool) -> Rest:
    """The sizes between which no trigger, no warning and no pre-pass is due, and none is to be forgotten."""
    tokens, messages, least = [], [config.trigger_messages], 0
    if config.trigger_tokens:
        threshold = trigger_tokens(config, view)
        near = math.ceil(config.warn_at * threshold) if config.warn_at else threshold
        tokens.append(threshold if warned else near)
        least = near if warned else 0
    if config.truncate_args is not None:
        tokens.append(in_tokens(config.truncate_args.trigger_tokens, view.model.window))
        messages.append(config.truncate_args.trigger_messages)
    return Rest(min(filter(None, tokens), default=None), min(filter(None, messages), default=None), least)


def lowered(config: CompactionConfig, view: View) -> str:
    """Says that a fixed trigger was lowered, and why; empty where it was not."""
    wanted = in_tokens(config.trigger_tokens, view.model.window)
    room = room_for_input(view, config.reserved)
    if wanted <= room:
        return ""
    free = view.model.window - room
    return f"trigger_tokens={wanted:,} was lowered to {room:,}, as {free:,} of the window are held free for the reply"


def quiet(found: Sequence[Trigger]) -> str:
    """Why nothing happens."""
    shown = [f"{one.value:,} of {one.threshold:,} {one.unit}" for one in found]
    return f"below the trigger: {', '.join(shown)}" if shown else "no trigger is set"


def why(view: View, found: Sequence[Trigger]) -> str:
    """Why something happens."""
    if view.hook != "request":
        return "the provider refused the input as too long" if view.hook == "overflow" else "asked for"
    return ", ".join(f"{one.value:,} {one.unit} reach {one.name}={one.threshold:,}" for one in found if one.fired)


def is_forced(view: View) -> bool:
    """Whether the next request could not be sent as the list is: the provider refused it, or it is above the window."""
    return view.hook == "overflow" or view.tokens >= view.model.window


def in_estimate(tokens: int, view: View) -> int:
    """Tokens as the provider counts them, in tokens of our own estimate, as cuts are measured."""
    return max(1, round(tokens / view.scale)) if tokens else 0

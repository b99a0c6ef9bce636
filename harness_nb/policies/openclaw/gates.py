"""What OpenClaw goes by before it acts: tokens at the start of a turn, the estimate of a request, the answer's bill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core.item import Item
from harness_nb.core.js_json import js_json
from harness_nb.core.messages import Message, Usage
from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.results import aggregate_cap, capped_results, result_cap
from harness_nb.policies.openclaw.sizes import measured_once, message_tokens, quarter, request_pressure
from harness_nb.policies.openclaw.wording import UNREADABLE

NEAR_TOKENS = 8_192
"""Distance to the threshold at which the stored messages are read for the length of the last answer."""

_RECORDS, _READ_BYTES, _LINE_BYTES = 200, 2**20, 2**18
_FRAME_BYTES = 190  # what a stored line has beside the message: type, ids and time
_BUFFER_CHARS = 2_048


@dataclass(frozen=True, slots=True)
class Stored:
    """What the stored messages say of the size of the next request.

    Attributes:
        prompt_tokens: Tokens of it, 0 when there are none.
        output_tokens: Tokens of the last answer by its bill, 0 when that is not known.
    """

    prompt_tokens: int
    output_tokens: int = 0


def stored(messages: Sequence[Message]) -> Stored:
    """Reads the newest stored messages; what was compacted away counts again, and a very long line counts as none.

    The bill of the very last message is taken as it is; otherwise the larger of an earlier bill with what was stored
    since, and the estimate of the messages.
    """
    at, usage = _last_bill(messages)
    if usage is not None and at == len(messages) - 1 and usage.input_tokens and usage.output_tokens:
        return Stored(usage.input_tokens, usage.output_tokens)
    estimate = sum(map(_readable_tokens, _newest(messages)))
    if usage is None or not usage.input_tokens:
        return Stored(estimate)
    since = quarter(sum(map(line_bytes, messages[at + 1 :])))
    return Stored(max(usage.input_tokens + since, estimate), usage.output_tokens)


def _last_bill(messages: Sequence[Message]) -> tuple[int, Usage | None]:
    for at in range(len(messages) - 1, -1, -1):
        usage = messages[at].usage
        if usage is not None and (usage.input_tokens or usage.output_tokens):
            return at, usage
    return -1, None


def _newest(messages: Sequence[Message]) -> list[Message]:
    """The last messages that are read: so many lines, and so many bytes."""
    found: list[Message] = []
    left = _READ_BYTES
    for message in reversed(messages):
        left -= line_bytes(message)
        if left < 0 or len(found) == _RECORDS:
            break
        found.append(message)
    return found


def _readable_tokens(message: Message) -> int:
    return quarter(len(UNREADABLE)) if line_bytes(message) > _LINE_BYTES else message_tokens(message)


@measured_once
def line_bytes(message: Message) -> int:
    """Bytes of a message as a line of the session's file, about."""
    if message.role == "system":
        return 0
    return len(js_json(message.to_openai()).encode()) + _FRAME_BYTES


@dataclass(frozen=True, slots=True)
class Preflight:
    """The size of the request that a turn would begin with.

    Attributes:
        tokens: Its tokens.
        threshold: Where a turn begins with a compaction; 0 or less where it never does.
    """

    tokens: int
    threshold: int

    @property
    def fires(self) -> bool:
        """Whether it does."""
        return 0 < self.threshold <= self.tokens


def preflight(past: Sequence[Message], prompt: str, known_tokens: int | None, threshold: int) -> Preflight:
    """Measures at the start of a turn.

    Args:
        past: The stored messages, the new one of the user not among them.
        prompt: The new message of the user.
        known_tokens: Tokens of the last request by its bill, as far as that holds still; None when it does not.
        threshold: Where it fires.
    """
    more = quarter(utf16_len(prompt.strip()))
    known = known_tokens or 0
    is_near = bool(more) and threshold > 0 and known + more >= threshold - NEAR_TOKENS
    if known and not is_near:
        return Preflight(known + more, threshold)
    found = stored(past)
    with_known = known + found.output_tokens + more if known else 0
    with_stored = found.prompt_tokens + found.output_tokens + more if found.prompt_tokens else 0
    return Preflight(max(with_known, with_stored), threshold)


@dataclass(frozen=True, slots=True)
class Precheck:
    """The estimate of a request before it is sent.

    Attributes:
        items: The list as it would be sent, its results capped.
        capped: How many results are shorter.
        per_result_chars: Cap of one result.
        aggregate_chars: Cap of all results together.
        aggregate_pressure: Whether all together were too long.
        tokens: Estimated tokens.
        budget: Tokens that it may have.
        reducible_chars: Characters that results could still give.
        route: What to do: `fits`, `compact_only`, `truncate_tool_results_only` or `compact_then_truncate`.
    """

    items: tuple[Item, ...]
    capped: int
    per_result_chars: int
    aggregate_chars: int
    aggregate_pressure: bool
    tokens: int
    budget: int
    reducible_chars: int
    route: str

    @property
    def overflow(self) -> int:
        """Tokens above the budget."""
        return max(0, self.tokens - self.budget)

    @property
    def compacts(self) -> bool:
        """Whether a compaction is wanted."""
        return self.route in ("compact_only", "compact_then_truncate")


def precheck(
    items: Sequence[Item], system: str, prompt: str, window: int, config: OpenClawConfig, *, caps: bool = True
) -> Precheck:
    """Caps the results of a request, and estimates it; results that are too long together ask for a compaction at once.

    Args:
        items: The list, the new message of the user not in it.
        system: The system prompt.
        prompt: The new message, empty in a tool loop.
        window: Context window in tokens.
        config: Caps and reserve.
        caps: Whether results are capped first.
    """
    per_result = result_cap(window, config.result_max_chars)
    aggregate = aggregate_cap(window, per_result)
    made = capped_results(items, per_result, aggregate, spare_last=True) if caps else None
    shown = made.items if made is not None else tuple(items)
    pressed = made is not None and made.under_pressure
    tokens = request_pressure(shown, system, prompt)
    budget = max(1, window - config.reserve(window))
    reducible = 0 if pressed else capped_results(shown, per_result, aggregate, spare_last=False).saved_chars
    route = "compact_then_truncate" if pressed else _route(tokens - budget, reducible)
    changed = made.changed if made is not None else 0
    return Precheck(shown, changed, per_result, aggregate, pressed, tokens, budget, reducible, route)


def _route(over_tokens: int, reducible: int) -> str:
    if over_tokens <= 0:
        return "fits"
    over = 4 * over_tokens
    if reducible <= 0:
        return "compact_only"
    enough = max(over + _BUFFER_CHARS, -(-3 * over // 2))
    return "truncate_tool_results_only" if reducible >= enough else "compact_then_truncate"

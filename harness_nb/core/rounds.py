"""Rounds: an assistant message with calls plus all results of these is one unit that is never split.

Also the repair of lists in which calls and results do not match, and the check that says what a provider would refuse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness_nb.core.messages import Message

UNANSWERED = "[no result: the call was never answered]"
"""Text of the stub that stands for a result that never came."""


@dataclass(frozen=True, slots=True)
class Span:
    """Positions `start` up to but not including `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def units(messages: Sequence[Message]) -> tuple[Span, ...]:
    """Divides messages into the smallest spans that hold each call together with its results.

    Works over the whole list, so results that stand apart from their call pull everything between into the unit.
    Refused, failed and empty results answer like any other.
    """
    return units_of(pairs(messages), len(messages))


def units_of(call_of: Mapping[int, int], length: int) -> tuple[Span, ...]:
    """The same for messages of which it is known which call each result answers.

    Args:
        call_of: Position of the calling message by position of the result, as `pairs` gives it.
        length: Number of messages; results from there on are left out.
    """
    spans: list[Span] = []
    last_of: dict[int, int] = {}
    for result, call in call_of.items():
        if result < length:
            last_of[call] = max(last_of.get(call, call), result)
    position = 0
    while position < length:
        stop = max(last_of.get(position, position), position) + 1
        probe = position
        while probe < stop:
            stop = max(stop, last_of.get(probe, probe) + 1)
            probe += 1
        spans.append(Span(position, stop))
        position = stop
    return tuple(spans)


def boundaries(messages: Sequence[Message]) -> tuple[int, ...]:
    """Positions at which a cut may fall: the start of each unit, and the end of the list."""
    return (*(span.start for span in units(messages)), len(messages))


def pairs(messages: Sequence[Message]) -> dict[int, int]:
    """For each position of a tool result that has one, the position of the message that made the call.

    A result answers the nearest earlier call of its id that has no answer yet.
    """
    pairing = Pairing()
    pairing.take(messages)
    return pairing.call_of


class Pairing:
    """Which call each result answers, for messages that only ever grow in number: none is looked at twice.

    Attributes:
        call_of: For each position of a result that answers one, the position of the message that made the call.
    """

    __slots__ = ("_open", "_seen", "call_of")

    def __init__(self) -> None:
        self.call_of: dict[int, int] = {}
        self._open: dict[str, list[int]] = {}
        self._seen = 0

    def is_behind(self, messages: Sequence[Message]) -> bool:
        """Whether there are new messages to look at."""
        return self._seen < len(messages)

    def take(self, messages: Sequence[Message]) -> None:
        """Looks at the messages that are new."""
        for position in range(self._seen, len(messages)):
            message = messages[position]
            for call in message.calls:
                self._open.setdefault(call.id, []).append(position)
            if message.role == "tool" and self._open.get(message.call_id or ""):
                self.call_of[position] = self._open[message.call_id or ""].pop()
        self._seen = max(self._seen, len(messages))


@dataclass(frozen=True, slots=True)
class Repair:
    """A list with whole rounds, and what was done to get it.

    Attributes:
        order: Positions in the old list, in the new order; a stub stands as the message itself.
        dropped: Positions of results without a call.
        stubbed: Ids of calls that got a stub.
        moved: Positions of results that were put next to their call.
    """

    order: tuple[int | Message, ...]
    dropped: tuple[int, ...] = ()
    stubbed: tuple[str, ...] = ()
    moved: tuple[int, ...] = ()

    @property
    def changed(self) -> bool:
        """True when the list was not right as it was."""
        return bool(self.dropped or self.stubbed or self.moved)

    def apply(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The repaired list."""
        return tuple(messages[one] if isinstance(one, int) else one for one in self.order)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done, in words, for a warning."""
        said = []
        if self.dropped:
            said.append(f"left out {len(self.dropped)} tool result(s) without a call, at {_listed(self.dropped)}")
        if self.stubbed:
            said.append(f"added a stub for {len(self.stubbed)} unanswered call(s): {_listed(self.stubbed)}")
        if self.moved:
            said.append(f"put {len(self.moved)} result(s) next to their call, from {_listed(self.moved)}")
        return tuple(said)


def _listed(values: Sequence[object], most: int = 8) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown


def repair(messages: Sequence[Message]) -> Repair:
    """Makes rounds whole: drops orphan results, adds a stub for an unanswered call, moves late results to their call."""
    call_of = pairs(messages)
    results: dict[int, dict[str, list[int]]] = {}
    for result, call in call_of.items():
        results.setdefault(call, {}).setdefault(messages[result].call_id or "", []).append(result)
    order: list[int | Message] = []
    dropped, stubbed = [], []
    for position, message in enumerate(messages):
        if message.role == "tool":
            if position not in call_of:
                dropped.append(position)
            continue
        order.append(position)
        stubbed += _answer(message, results.get(position, {}), order)
    kept = [one for one in order if isinstance(one, int)]
    moved = tuple(one for one in _out_of_order(kept) if messages[one].role == "tool")
    return Repair(tuple(order), tuple(dropped), tuple(stubbed), moved)


def _answer(message: Message, results: dict[str, list[int]], order: list[int | Message]) -> list[str]:
    """Puts the results of a message's calls behind it, in the order they came; returns ids that had none."""
    found, missing = [], []
    for call in message.calls:
        mine = results.get(call.id)
        if mine:
            found.append(mine.pop(0))
        else:
            missing.append(call)
    order.extend(sorted(found))
    order.extend(
        Message.tool(call.id, UNANSWERED, name=call.name, origin="harness", status="interrupted") for call in missing
    )
    return [call.id for call in missing]


def _out_of_order(order: Sequence[int]) -> list[int]:
    """Entries that jumped ahead of one that stood before them."""
    moved, smallest_behind = [], len(order) + max(order, default=0) + 1
    for value in reversed(order):
        if value > smallest_behind:
            moved.append(value)
        smallest_behind = min(smallest_behind, value)
    return sorted(moved)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a provider would refuse a list.

    Attributes:
        position: Where, as a position in the list.
        kind: `orphan_result`, `unanswered_call`, `start`, `end`, `empty` or `late_system`.
        detail: In words.
    """

    position: int
    kind: str
    detail: str


def problems(messages: Sequence[Message], *, needs_reply: bool = True) -> tuple[Problem, ...]:
    """What the strictest providers would refuse about a model input.

    Args:
        messages: The input, system messages first.
        needs_reply: Also require that it ends with a turn that the model has to answer.
    """
    found = list(_pairing_problems(messages))
    talk = [(at, message) for at, message in enumerate(messages) if message.role != "system"]
    if not talk:
        return (*found, Problem(0, "empty", "there is no message beside the system prompt"))
    first_at, first = talk[0]
    if first.role != "user":
        found.append(Problem(first_at, "start", f"the first message is of role {first.role}, not user"))
    late = [at for at, message in enumerate(messages) if message.role == "system" and at > first_at]
    found += [Problem(at, "late_system", "a system message stands inside the conversation") for at in late]
    if needs_reply and talk[-1][1].role == "assistant":
        found.append(Problem(talk[-1][0], "end", "the last message is the assistant's, so there is nothing to answer"))
    return tuple(found)


def _pairing_problems(messages: Sequence[Message]) -> list[Problem]:
    found: list[Problem] = []
    caller, open_ids = 0, list[str]()
    for position, message in enumerate(messages):
        if message.role != "tool":
            found += _unanswered(caller, open_ids)
            caller, open_ids = position, [call.id for call in message.calls]
        elif (message.call_id or "") in open_ids:
            open_ids.remove(message.call_id or "")
        else:
            found.append(Problem(position, "orphan_result", f"no call {message.call_id!r} stands before this result"))
    return found + _unanswered(caller, open_ids)


def _unanswered(position: int, ids: Sequence[str]) -> list[Problem]:
    return [Problem(position, "unanswered_call", f"call {one!r} has no result") for one in ids]

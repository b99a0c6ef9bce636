"""What leaves one request and not the session: old pictures, old results, and results too long for a tool loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Part, Text
from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.policies.openclaw.config import OpenClawConfig
from harness_nb.policies.openclaw.sizes import guard_chars, images, measured_once, pruning_chars, texts
from harness_nb.policies.openclaw.wording import (
    CLEARED,
    OLD_PICTURE,
    OLD_REFERENCE,
    PRUNED_PICTURE,
    omitted,
    trimmed,
)

GUARD_SHARE = 0.9
_LEAST_GUARD_CHARS = 1_024
_KEPT_TURNS = 3
_LINE_SHARE = 0.7
_REFERENCES = (
    re.compile(r"\[media attached(?:\s+\d+/\d+)?:\s*[^\]]+\]", re.IGNORECASE),
    re.compile(r"\[Image:\s*source:\s*[^\]]+\]", re.IGNORECASE),
    re.compile(r"\bmedia://inbound/[^\]\s/\\]+"),
)

# Old pictures


def without_old_pictures(items: Sequence[Item]) -> tuple[Item, ...]:
    """The list with pictures, and references to them, replaced that are older than the last three finished turns."""
    limit = _oldest_kept_turn(items)
    return tuple(
        _without_pictures(item) if at < limit and _media(item.message) else item for at, item in enumerate(items)
    )


@measured_once
def _media(message: Message) -> int:
    """How many pictures, and references to some, a message of the user or of a tool holds."""
    if message.role not in ("user", "tool"):
        return 0
    found = (len(reference.findall(text)) for text in texts(message) for reference in _REFERENCES)
    return images(message) + sum(found)


def _oldest_kept_turn(items: Sequence[Item]) -> int:
    """Position of the third last finished turn; 0 where no turn is older."""
    finished: list[int] = []
    start, answered = -1, False
    for at, item in enumerate(items):
        if item.message.role == "user":
            finished += [start] if start >= 0 and answered else []
            start, answered = at, False
        elif item.message.role == "tool":
            start = at if start < 0 else start
        elif item.message.role == "assistant" and start >= 0:
            answered = True
    finished += [start] if start >= 0 and answered else []
    return finished[-_KEPT_TURNS] if len(finished) > _KEPT_TURNS else 0


def _without_pictures(item: Item) -> Item:
    if item.index is None:
        return item
    return _with_parts(item, tuple(map(_without_picture, item.message.parts)))


def _without_picture(part: Part) -> Part:
    if isinstance(part, Image):
        return Text(OLD_PICTURE)
    if not isinstance(part, Text):
        return part
    text = part.text
    for reference in _REFERENCES:
        text = reference.sub(OLD_REFERENCE, text)
    return part if text == part.text else replace(part, text=text)


def _with_parts(item: Item, parts: tuple[Part, ...]) -> Item:
    if parts == item.message.parts:
        return item
    content: str | tuple[Part, ...] = parts
    if isinstance(item.message.content, str) and len(parts) == 1 and isinstance(parts[0], Text):
        content = parts[0].text
    return edits.edited(item, replace(item.message, content=content), "cleared")


# Old results


def pruned(items: Sequence[Item], window: int, config: OpenClawConfig) -> tuple[Item, ...]:
    """The list with old long results trimmed, and then old results cleared, as far as the window is full.

    Nothing before the first request, nor from the third last answer on, is touched.
    """
    places = _prunable(items, config.pruning_keep_assistants)
    total = sum(map(pruning_chars, items))
    room = 4 * window
    if places is None or total / room < config.pruning_soft_ratio:
        return tuple(items)
    made = {at: _trimmed(items[at], config) for at in places}
    total += sum(pruning_chars(made[at]) - pruning_chars(items[at]) for at in places)
    if config.pruning_clears and sum(map(pruning_chars, made.values())) >= config.pruning_min_chars:
        _clear(made, total, room, config.pruning_hard_ratio)
    return tuple(made.get(at, item) for at, item in enumerate(items))


def _prunable(items: Sequence[Item], keep_assistants: int) -> list[int] | None:
    """Positions of old results; None where there are too few answers to tell."""
    answers = [at for at, item in enumerate(items) if item.message.role == "assistant"]
    if keep_assistants > len(answers):
        return None
    stop = answers[-keep_assistants] if keep_assistants else len(items)
    start = next((at for at, item in enumerate(items) if item.message.role == "user" and item.index is not None), stop)
    return [at for at in range(start, stop) if items[at].message.role == "tool"]


def _clear(made: dict[int, Item], total: int, room: int, ratio: float) -> None:
    for at in made:
        if total / room < ratio:
            return
        cleared = edits.cleared(made[at], CLEARED)
        total += pruning_chars(cleared) - pruning_chars(made[at])
        made[at] = cleared


def _trimmed(item: Item, config: OpenClawConfig) -> Item:
    """A result of which head and tail stay when it is long; its pictures become words in any case."""
    pieces = [
        part.text if isinstance(part, Text) else PRUNED_PICTURE
        for part in item.message.parts
        if isinstance(part, Text | Image)
    ]
    text, shows_pictures = "\n".join(pieces), images(item.message) > 0
    size, head, tail = utf16_len(text), config.pruning_soft_head_chars, config.pruning_soft_tail_chars
    if size <= config.pruning_soft_max_chars or head + tail >= size:
        return edits.edited(item, replace(item.message, content=text), "cleared") if shows_pictures else item
    shown = f"{utf16_cut(text, 0, head)}\n...\n{utf16_cut(text, size - tail) if tail else ''}"
    message = replace(item.message, content=shown + trimmed(head, tail, size))
    return edits.edited(item, message, "truncated", head=head, tail=tail)


# The guard of the tool loop


@dataclass(frozen=True, slots=True)
class Guarded:
    """A request in a tool loop.

    Attributes:
        items: The list, results above half the window cut.
        chars: Its characters as the guard counts.
        limit: Most characters.
    """

    items: tuple[Item, ...]
    chars: int
    limit: int

    @property
    def overflows(self) -> bool:
        """Whether it is too long to be sent."""
        return self.chars > self.limit


def guarded(items: Sequence[Item], window: int) -> Guarded:
    """The list as the guard lets it through, and whether it does."""
    most = max(_LEAST_GUARD_CHARS, window)
    made = tuple(_cut_for_loop(item, most) for item in items)
    limit = max(_LEAST_GUARD_CHARS, int(window * 4 * GUARD_SHARE))
    return Guarded(made, sum(map(guard_chars, made)), limit)


def _cut_for_loop(item: Item, most: int) -> Item:
    """A result that counts as at most so many characters, each of its own counted twice."""
    if item.message.role != "tool" or guard_chars(item) <= most:
        return item
    text = "\n".join(texts(item.message))
    budget = most // 2
    shown = _cut_at_line(text, budget, omitted) if text else omitted(max(1, (guard_chars(item) - most) // 2))
    if item.how == "kept" and not isinstance(item.message.content, str):
        return edits.edited(item, replace(item.message, content=(Text(shown),)), "truncated")
    return edits.edited(item, replace(item.message, content=shown), "truncated")


def _cut_at_line(text: str, most: int, notice: Callable[[int], str]) -> str:
    size = utf16_len(text)
    if size <= most:
        return text
    room = most
    for _ in range(4):
        room = max(0, most - len(notice(max(1, size - room))))
    head = utf16_cut(text, 0, room + 1)
    line = head.rfind("\n")
    at = utf16_len(head[:line]) if line >= 0 else -1
    at = at if at > room * _LINE_SHARE else room
    return utf16_cut(text, 0, at) + notice(size - at)

"""Three tiers of pressure, one action each, no model: shorten one result, elide all but six messages, keep one request.

The compaction of Eney as its report describes it. Counts are of transcript messages, in which a run of tool results is
one message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from harness_nb.core import edits
from harness_nb.core.config import plain_repr, switch, whole
from harness_nb.core.item import Item
from harness_nb.core.messages import Image, Message, Part, Text
from harness_nb.core.plan import Plan, Pressure, Tier
from harness_nb.core.policy import CompactionPolicy, Rest
from harness_nb.core.view import View
from harness_nb.errors import ConfigError

IMAGE_ELIDED = "[image elided due to context pressure]"
RESULT_ELIDED = "[tool result elided due to context pressure]"
_NOTE_TEXT = (
    '<agent-note kind="compaction_summary">\n'
    "[earlier conversation: {} message(s) elided due to context pressure]\n"
    "</agent-note>"
)
_NOTE = re.compile(re.escape(_NOTE_TEXT).replace(r"\{\}", r"(\d+)"))
_ACTIONS = ("shorten the largest tool result", "elide all but the latest messages", "keep only the latest request")
_ACKNOWLEDGEMENTS = {"ok", "okay", "yes", "y", "continue", "go on", "thanks", "thank you", "sure", "proceed"}


@dataclass(frozen=True, kw_only=True, repr=False)
class TiersConfig:
    """Settings of the tiers.

    Attributes:
        thresholds: Where the tiers begin, in percent of the window, inclusive (default 75, 90, 95).
        tier1_keep_ratio: Part of the largest result that tier 1 keeps (default 0.4).
        head_ratio: Part of what is kept that comes from the beginning (default 0.5).
        tier2_keep_messages: Latest messages that tier 2 keeps, at least (default 6).
        cumulative_note: Whether the note counts what earlier passes elided too (default True).
        tier3_note: Whether tier 3 puts a note when something was elided (default True).
        tier3_protect_last_results: Latest messages with results whose content tier 3 leaves alone (default 0).
        ignore_acknowledgements: Whether a bare "continue" is passed over as a request (default False).
        escalate: Whether the next tier follows at once while the pressure stays high (default False).
        chars_per_token: Characters of one token in the estimate (default 4).
        image_tokens: Tokens of one picture in the estimate (default 3,072).
        grouping: What one message is: `results`, a run of results; `each`, every result by itself; `steering`, a run of
            results with the user message right after it (default `results`).
    """

    thresholds: tuple[float, float, float] = (75, 90, 95)
    tier1_keep_ratio: float = 0.4
    head_ratio: float = 0.5
    tier2_keep_messages: int = 6
    cumulative_note: bool = True
    tier3_note: bool = True
    tier3_protect_last_results: int = 0
    ignore_acknowledgements: bool = False
    escalate: bool = False
    chars_per_token: int = 4
    image_tokens: int = 3_072
    grouping: Literal["results", "each", "steering"] = "results"

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        if len(self.thresholds) != 3 or not 0 < self.thresholds[0] < self.thresholds[1] < self.thresholds[2] <= 100:
            raise ConfigError(
                f"thresholds={self.thresholds!r} are not valid.",
                "Give three ascending percentages above 0 and up to 100.",
                subject="thresholds",
            )
        for name in ("tier1_keep_ratio", "head_ratio"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(
                    f"{name}={getattr(self, name)!r} is not valid.", "Give a share from 0 to 1.", subject=name
                )
        whole(self, "tier2_keep_messages", "chars_per_token", least=1)
        whole(self, "tier3_protect_last_results", "image_tokens")
        switch(self, "cumulative_note", "tier3_note", "ignore_acknowledgements", "escalate")
        if self.grouping not in ("results", "each", "steering"):
            raise ConfigError(
                f"grouping={self.grouping!r} is not valid.", "Use 'results', 'each' or 'steering'.", subject="grouping"
            )

    __repr__ = plain_repr


Group = tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class PartwiseSize:
    """Tokens of a message: every part, call name and call argument by characters, each rounded up by itself.

    Attributes:
        chars_per_token: Characters of one token.
        image_tokens: Tokens of one picture.
    """

    chars_per_token: int = 4
    image_tokens: int = 3_072

    def __call__(self, message: Message) -> int:
        """Tokens of one message."""
        tokens = sum(map(self._part, message.parts))
        for call in message.calls:
            value = call.parsed()
            written = call.arguments if value is None else _compact(value)
            tokens += self.text(call.name) + self.text(written)
        return tokens

    def text(self, text: str) -> int:
        """Tokens of one text."""
        return -(-len(text) // self.chars_per_token)

    def _part(self, part: Part) -> int:
        if isinstance(part, Image):
            return self.image_tokens
        return self.text(part.text if isinstance(part, Text) else part.raw)


class TiersPolicy(CompactionPolicy):
    """Chooses one tier by pressure and applies its action once.

    Args:
        config: Thresholds and what each action keeps.
        name: Shown in events.

    Attributes:
        size: Tokens of a message by this policy's own formula.
        image_elided: Text that stands for a picture that was elided.
    """

    name = "tiers"
    passes = 3
    hooks = frozenset({"request", "manual"})
    image_elided = IMAGE_ELIDED

    def __init__(self, config: TiersConfig | None = None, *, name: str = "tiers") -> None:
        self.config = config or TiersConfig()
        self.name = name
        self.size = PartwiseSize(self.config.chars_per_token, self.config.image_tokens)

    def plan(self, view: View) -> Plan:
        """The action of the tier in force, before every request; by hand the next higher one, at least the second."""
        pressure = self.pressure(view)
        number = max(pressure.tier, 2) if view.hook == "manual" else pressure.tier
        number = self._escalated(view, number) if view.done else number
        if number == 0:
            return view.unchanged(f"below {self.config.thresholds[0]:g} % of the window", pressure=pressure)
        items = (self._tier1, self._tier2, self._tier3)[number - 1](view.input[:])
        again = self.config.escalate and number < 3
        if _same(items, view.input):
            reason = f"tier {number} finds nothing to {_ACTIONS[number - 1].split()[0]}"
            return view.unchanged(reason, outcome="noop", pressure=pressure, again=again)
        return view.becomes(
            items,
            f"tier {number} at {pressure.share:.1%}: {_ACTIONS[number - 1]}",
            outcome="truncated" if number == 1 else "elided",
            pressure=pressure,
            again=again,
        )

    def rests(self, view: View) -> Rest:
        """Below the first tier, by this policy's own formula."""
        first = int(self.config.thresholds[0] * view.model.window // 100)
        return Rest(first - self.size.text(view.system), size=self.size)

    def pressure(self, view: View) -> Pressure:
        """Estimate and tier by this policy's own formula: system prompt and conversation, no schemas."""
        window = view.model.window
        tokens = self.size.text(view.system) + view.input.messages.tokens(self.size)
        bands = tuple(
            Tier(number=at + 1, threshold=-int(-threshold * window // 100), action=_ACTIONS[at])
            for at, threshold in enumerate(self.config.thresholds)
        )
        tier = sum(tokens * 100 >= threshold * window for threshold in self.config.thresholds)
        source = f"estimated by characters/{self.config.chars_per_token}, each part rounded up"
        return Pressure(tokens=tokens, window=window, tier=tier, tiers=bands, source=source)

    def elided(self, item: Item) -> int | None:
        """The number of messages that a note says were elided; None for any other item."""
        return _elided(item) if _is_note(item) else None

    def groups(self, items: Sequence[Item]) -> list[Group]:
        """Transcript messages: items without the note, results joined as `grouping` says."""
        groups: list[Group] = []
        for item in items:
            if _is_note(item):
                continue
            joins = bool(groups) and self._joins(groups[-1][-1], item)
            if joins:
                groups[-1] = (*groups[-1], item)
            else:
                groups.append((item,))
        return groups

    def _escalated(self, view: View, number: int) -> int:
        """The next tier after the last one of this call; 0 once the pressure is gone."""
        last = max((plan.pressure.tier for plan in view.done if plan.pressure is not None), default=0)
        reached = last + len(view.done)
        return min(3, reached) if number else 0

    # Tier 1

    def _tier1(self, items: Sequence[Item]) -> tuple[Item, ...]:
        results = [(len(item.message.text), -at) for at, item in enumerate(items) if item.message.role == "tool"]
        if not results:
            return tuple(items)
        at = -max(results)[1]
        shorter = self._shortened(items[at])
        if self.size(shorter.message) >= self.size(items[at].message):
            return tuple(items)
        return (*items[:at], shorter, *items[at + 1 :])

    def _shortened(self, item: Item) -> Item:
        text = item.message.text
        keep = int(self.config.tier1_keep_ratio * len(text))
        head = -int(-keep * self.config.head_ratio // 1)
        tail = keep - head
        omitted = len(text) - keep
        marker = f"\n[{omitted} characters elided due to context pressure]\n"
        new = text[:head] + marker + (text[-tail:] if tail else "")
        others = tuple(part for part in item.message.parts if not isinstance(part, Text))
        message = replace(item.message, content=(Text(new), *others) if others else new)
        return edits.edited(item, message, "truncated", omitted=omitted, head=head, tail=tail)

    # Tier 2

    def _tier2(self, items: Sequence[Item]) -> tuple[Item, ...]:
        groups = self.groups(items)
        boundary = len(groups) - self.config.tier2_keep_messages
        while boundary > 0 and _has_result(groups[boundary]):
            boundary -= 1
        if boundary <= 0:
            return tuple(items)
        return (self._note(items, groups[:boundary]), *_flat(groups[boundary:]))

    def _note(self, items: Sequence[Item], removed: Sequence[Group]) -> Item:
        earlier = [item for item in items if _is_note(item)]
        before = sum(_elided(item) for item in earlier) if self.config.cumulative_note else 0
        number = before + len(removed)
        return edits.note(_NOTE_TEXT.format(number), of=(*earlier, *_flat(removed)), meta={"elided": number})

    def _joins(self, before: Item, item: Item) -> bool:
        if self.config.grouping == "each" or before.message.role != "tool":
            return False
        return item.message.role == "tool" or (self.config.grouping == "steering" and item.message.role == "user")

    # Tier 3

    def _tier3(self, items: Sequence[Item]) -> tuple[Item, ...]:
        groups = self.groups(items)
        anchor = self._anchor(groups)
        kept = groups[anchor:]
        results = [at for at, group in enumerate(kept) if _has_result(group)]
        protected = set(results[max(0, len(results) - self.config.tier3_protect_last_results) :])
        elided = [item if at in protected else _elide(item) for at, group in enumerate(kept) for item in group]
        if anchor == 0 and not any(map(_is_note, items)):
            return tuple(elided)
        if not self.config.tier3_note and anchor:
            return tuple(elided)
        notes = [item for item in items if _is_note(item)]
        note = self._note(items, groups[:anchor]) if anchor else notes[0]
        return (note, *elided)

    def _anchor(self, groups: Sequence[Group]) -> int:
        """The latest substantive request; else the latest message with a picture; else the start."""
        for fits in (self._is_substantive, _shows_image):
            found = [at for at, group in enumerate(groups) if _is_request(group) and fits(group[0].message)]
            if found:
                return found[-1]
        return 0

    def _is_substantive(self, message: Message) -> bool:
        texts = [part.text for part in message.parts if isinstance(part, Text) and part.text != IMAGE_ELIDED]
        said = " ".join(texts).strip()
        return bool(said) and not (
            self.config.ignore_acknowledgements and said.lower().rstrip(".!") in _ACKNOWLEDGEMENTS
        )


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _same(items: Sequence[Item], before: Sequence[Item]) -> bool:
    return len(items) == len(before) and all(new is old or new == old for new, old in zip(items, before, strict=True))


def _flat(groups: Iterable[Group]) -> tuple[Item, ...]:
    return tuple(item for group in groups for item in group)


def _is_note(item: Item) -> bool:
    """True for our note, also one that came with a transcript: the harness wrote it, and it reads like one."""
    return item.message.origin == "harness" and _NOTE.fullmatch(item.message.text) is not None


def _elided(item: Item) -> int:
    found = _NOTE.fullmatch(item.message.text)
    return int(found[1]) if found else 0


def _has_result(group: Group) -> bool:
    return any(item.message.role == "tool" for item in group)


def _is_request(group: Group) -> bool:
    message = group[0].message
    return len(group) == 1 and message.role == "user" and message.origin == "user"


def _shows_image(message: Message) -> bool:
    return any(
        isinstance(part, Image) or (isinstance(part, Text) and part.text == IMAGE_ELIDED) for part in message.parts
    )


def _elide(item: Item) -> Item:
    """The item with its result, or each of its pictures, replaced by a placeholder."""
    message = item.message
    if message.role == "tool":
        return item if message.text == RESULT_ELIDED else edits.cleared(item, RESULT_ELIDED)
    if not any(isinstance(part, Image) for part in message.parts):
        return item
    parts = tuple(Text(IMAGE_ELIDED) if isinstance(part, Image) else part for part in message.parts)
    return edits.edited(item, replace(message, content=parts), "cleared")

"""View model of a cutoff: the conversation block by block, what a plan does to each, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item
from harness_nb.core.plan import Fate, Plan
from harness_nb.core.view import View
from harness_nb.render.text import count, percent, short
from harness_nb.render.theme import ROLE_COLOURS

LEAVES = frozenset({"stood for", "gone"})
"""Fates of what the model no longer sees."""

PART_OF_ROLE = {"tool": "tool results", "assistant": "assistant", "user": "user", "system": "system"}
MADE = "summaries and notes"
UNCHANGED = "Nothing has been changed."


class StripBlock(NamedTuple):
    """One message of the strip.

    Attributes:
        position: Its place in the strip.
        message: Its log index, or None for what the harness made.
        part: What it is, as in the colours of the roles.
        tokens: Its estimated size.
        fate: What becomes of it.
        how: The edit that changes it or stands for it, or empty.
        is_pinned: Whether it stays word for word whatever a policy wants.
    """

    position: int
    message: int | None
    part: str
    tokens: int
    fate: str = "kept"
    how: str = ""
    is_pinned: bool = False

    @property
    def leaves(self) -> bool:
        """Whether the model no longer sees it."""
        return self.fate in LEAVES

    @property
    def colour(self) -> str:
        """The colour of what it is."""
        return ROLE_COLOURS[self.part]


class Made(NamedTuple):
    """A summary or note that the plan puts in.

    Attributes:
        how: `summary`, `note` or `merged`.
        tokens: Its estimated size.
        stands_for: Number of messages whose place it takes.
        is_assumed: Whether no model has written it yet.
        text: What it says.
    """

    how: str
    tokens: int
    stands_for: int
    is_assumed: bool
    text: str


@dataclass(frozen=True, kw_only=True)
class CutoffModel:
    """All that a cutoff display shows.

    Attributes:
        title: What is shown.
        state: The state in words, without sizes.
        promise: That nothing has been changed, or empty.
        blocks: The conversation, in order.
        cutoff: Where it is cut, as a position in the strip; None where nothing is cut.
        tokens_before: Size of the model input before, by the session's measure.
        tokens_after: The same measure after.
        fixed_tokens: System prompt, memory and schemas, part of both sizes.
        window: Context window in tokens.
        made: What is put in.
        price: US dollars for a token of input, or None where it is not known.
        policy: Name of the policy, or empty.
        names: What `before` and `after` are called.
    """

    title: str
    state: str
    promise: str = ""
    blocks: tuple[StripBlock, ...] = ()
    cutoff: Cutoff | None = None
    tokens_before: int = 0
    tokens_after: int = 0
    fixed_tokens: int = 0
    window: int = 0
    made: tuple[Made, ...] = ()
    price: float | None = None
    policy: str = ""
    names: tuple[str, str] = ("before", "after")

    @cached_property
    def tokens(self) -> int:
        """What the whole width of the strip stands for."""
        return sum(block.tokens for block in self.blocks)

    @property
    def saved(self) -> float:
        """The part of the input that goes, 0 to 1."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @property
    def model_calls(self) -> int:
        """Model calls that what is put in asks for."""
        return sum(one.is_assumed for one in self.made)

    @property
    def line(self) -> str:
        """The state in words, sizes included."""
        if self.tokens_before == self.tokens_after:
            return " ".join(filter(None, (self.state, self.promise)))
        sizes = f"{short(self.tokens_before)} → {short(self.tokens_after)} tokens ({saved_words(self.saved)})."
        return " ".join(filter(None, (self.state, sizes, self.promise)))

    @cached_property
    def leaving(self) -> tuple[StripBlock, ...]:
        """The blocks that the model no longer sees."""
        return tuple(block for block in self.blocks if block.leaves)

    @cached_property
    def places(self) -> tuple[float, ...]:
        """Where each block begins and the last one ends, as parts of the width."""
        total, places, at = max(1, self.tokens), [0.0], 0
        for block in self.blocks:
            at += block.tokens
            places.append(at / total)
        return tuple(places)

    def block_at(self, share: float) -> StripBlock | None:
        """The block at a place of the strip, given as a part of the width."""
        from bisect import bisect_right

        if not self.blocks:
            return None
        return self.blocks[min(len(self.blocks) - 1, max(0, bisect_right(self.places, share) - 1))]

    @property
    def sums(self) -> list[tuple[str, int, int, int]]:
        """Of each kind of content: its name, tokens now, tokens of it that leave, and messages that leave."""
        rows: dict[str, list[int]] = {}
        for block in self.blocks:
            row = rows.setdefault(block.part, [0, 0, 0])
            row[0] += block.tokens
            row[1] += block.tokens * block.leaves
            row[2] += block.leaves
        return [(name, *rows[name]) for name in ROLE_COLOURS if name in rows]  # type: ignore[misc]  # three numbers


def saved_words(saved: float) -> str:
    """A part that goes, with its sign."""
    return f"−{percent(saved, 0)}" if saved >= 0 else f"+{percent(-saved, 0)}"


def planned_model(view: View, plan: Plan, policy: str = "", *, price: float | None = None) -> CutoffModel:
    """What a plan would do to the list that the model sees now.

    Args:
        view: The conversation as the policy saw it.
        plan: What it wants.
        policy: Its name.
        price: US dollars for a token of input, where that is known.
    """
    blocks = _blocks_of_list(view, plan)
    return CutoffModel(
        title=f"What {policy} would do now" if policy else "What would be done now",
        state=f"{plan.outcome}: {plan.reason}.",
        promise=UNCHANGED,
        blocks=blocks,
        cutoff=plan.cutoff if plan.cutoff is not None and plan.changes else _seen_cut(blocks),
        tokens_before=view.tokens,
        tokens_after=view.tokens_of(plan.input) if plan.input is not None else view.tokens,
        fixed_tokens=view.fixed_tokens,
        window=view.model.window,
        made=_made(view, plan.input or (), view.input),
        price=price,
        policy=policy,
    )


def outcome_model(view: View, policy: str = "", *, title: str = "", price: float | None = None) -> CutoffModel:
    """What became of the whole conversation by now: of all that was said, what the model sees.

    Args:
        view: The conversation now.
        policy: Name of the policy that led there.
        title: What is shown; by default that it is the end of the conversation.
        price: US dollars for a token of input, where that is known.
    """
    blocks = _blocks_of_log(view)
    leave = sum(block.leaves for block in blocks)
    state = f"{count(len(blocks) - leave, 'message')} of {len(blocks):,} are seen" if leave else "All messages are seen"
    said = sum(block.tokens for block in blocks) + view.fixed_tokens
    return CutoffModel(
        title=title or (f"What {policy} leaves of the conversation" if policy else "What the model sees"),
        state=f"{state}.",
        blocks=blocks,
        cutoff=_seen_cut(blocks),
        tokens_before=max(said, view.tokens),
        tokens_after=view.tokens,
        fixed_tokens=view.fixed_tokens,
        window=view.model.window,
        made=_made(view, view.input, ()),
        price=price,
        policy=policy,
        names=("said", "seen"),
    )


def _blocks_of_list(view: View, plan: Plan) -> tuple[StripBlock, ...]:
    """A block for each item that the model sees now."""
    fates = {fate.index: fate for fate in plan.fates(view)}
    stay = {id(item) for item in plan.items(view)}
    kept = [item for item in plan.items(view) if item.index is None]
    sums, pinned = view.sums(view.measure), view.pinned_indices
    blocks: list[StripBlock] = []
    for at, item in enumerate(view.input):
        fate = _fate_of_made(item, id(item) in stay or item in kept) if item.index is None else fates[item.index]
        how = fate.how or ("" if item.how == "kept" else item.how)
        is_pinned = item.index in pinned
        blocks.append(
            StripBlock(at, item.index, _part(item), sums[at + 1] - sums[at], _told(item, fate), how, is_pinned)
        )
    return tuple(blocks)


def _told(item: Item, fate: Fate) -> str:
    """What becomes of an item now; an edit made earlier is no change."""
    return "kept" if fate.fate == "changed" and fate.how == item.how else fate.fate


def _fate_of_made(item: Item, stays: bool) -> Fate:
    """What becomes of an earlier summary or note."""
    return Fate(-1, "kept" if stays else "stood for" if item.stands_for else "gone")


def _blocks_of_log(view: View) -> tuple[StripBlock, ...]:
    """A block for each message that was said."""
    shown = {item.index: item for item in view.input if item.index is not None}
    stood = {index: item.how for item in view.input for index in item.stands_for}
    sums, pins = view.log.sums(view.measure), view.pinned_indices
    blocks: list[StripBlock] = []
    for at, message in enumerate(view.log):
        if message.role == "system":
            continue
        item = shown.get(at)
        if item is not None:
            fate, how = ("kept", "") if item.how == "kept" else ("changed", item.how)
        else:
            fate, how = ("stood for", stood[at]) if at in stood else ("gone", "")
        part = PART_OF_ROLE[message.role] if message.origin != "harness" else MADE
        blocks.append(StripBlock(len(blocks), at, part, sums[at + 1] - sums[at], fate, how, at in pins))
    return tuple(blocks)


def _part(item: Item) -> str:
    return MADE if item.how in ("summary", "note") else PART_OF_ROLE[item.message.role]


def _made(view: View, items: Iterable[Item], before: Iterable[Item]) -> tuple[Made, ...]:
    """What stands in a list for something and did not stand in the one before."""
    there = {id(item) for item in before}
    return tuple(
        Made(item.how, view.measure(item.message), len(item.stands_for), item.assumed, item.message.text)
        for item in items
        if id(item) not in there and (item.index is None or item.how == "merged")
    )


def _seen_cut(blocks: Sequence[StripBlock]) -> Cutoff | None:
    """The cut as it shows, where the policy does not tell: behind the last block that leaves."""
    leaving = [block.position for block in blocks if block.leaves]
    if not leaving:
        return None
    at = leaving[-1] + 1
    return Cutoff(at, at, f"the last {count(len(blocks) - at, 'message')} stay")

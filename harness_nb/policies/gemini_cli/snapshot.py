"""A snapshot in the making: what it is to stand for, what stays, and what comes of asking for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness_nb.core import edits
from harness_nb.core.cutoff import Cutoff
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.requests import Count, Reply
from harness_nb.core.view import View
from harness_nb.policies.gemini_cli.config import GeminiCliConfig, asked_model
from harness_nb.policies.gemini_cli.history import History
from harness_nb.policies.gemini_cli.request import ACKNOWLEDGEMENT, Older, draft_ask, verify_ask
from harness_nb.policies.gemini_cli.sizes import text_part
from harness_nb.policies.gemini_cli.turns import Turn, has_media, positions, split, tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a snapshot would stand for and what would stay.

    Attributes:
        past: The history with long outputs shortened.
        older: What the summariser is shown, as a request has it.
        older_tokens: Token estimate of that.
        original_tokens: The same of the older turns as they were.
        is_shortened: Whether the summariser is shown shortened outputs.
        tail: The turns that stay.
        cutoff: Where the list is cut.
    """

    past: History
    older: Older
    older_tokens: int
    original_tokens: int
    is_shortened: bool
    tail: tuple[Turn, ...]
    cutoff: Cutoff

    @property
    def kept(self) -> tuple[Item, ...]:
        """The items that stay."""
        return tuple(self.past.items[at] for at in positions(self.tail))

    @property
    def gone(self) -> tuple[Item, ...]:
        """The items that go: the older ones, and blank answers."""
        kept = set(positions(self.tail))
        return tuple(item for at, item in enumerate(self.past.items) if at not in kept)


def drafted(view: View, original: History, short: History, config: GeminiCliConfig) -> Draft | None:
    """The draft of a snapshot; None where nothing comes before the split.

    The split is made on shortened outputs. The summariser is shown the older turns as they were, as long as their
    estimate is below the window.

    Args:
        view: Knows the window and the path of an approved plan.
        original: The history.
        short: The same with long outputs shortened.
        config: How much stays.
    """
    found = short.turns
    where = split(found, 1 - config.preserve_fraction)
    older, tail = found[: where.at], found[where.at :]
    at = positions(older)
    if not at:
        return None
    whole = original.turns[: where.at]
    fits = tokens(whole) < view.model.window
    shown = tuple((original if fits else short).items[one] for one in at)
    behind = positions(tail)
    return Draft(
        past=short,
        older=Older(items=shown, environment=short.counted, plan=str(view.host.get("plan_path") or "")),
        older_tokens=tokens(whole if fits else older),
        original_tokens=tokens(whole),
        is_shortened=any(item is not original.items[one] for item, one in zip(shown, at, strict=True)),
        tail=tail,
        cutoff=_cutoff(behind[0] if behind else len(short.items), _position(found, where.wanted, short), config),
    )


def _cutoff(index: int, wanted: int, config: GeminiCliConfig) -> Cutoff:
    reason = f"a prompt behind {1 - config.preserve_fraction:.0%} of the characters"
    return Cutoff(index, wanted, reason if index == wanted else f"{reason}; wanted at {wanted}, where there is none")


def _position(found: Sequence[Turn], at: int, past: History) -> int:
    """Position in the list where a turn begins."""
    begun = positions(found[at:])
    return begun[0] if begun else len(past.items)


@dataclass(frozen=True, slots=True)
class Made:
    """What came of asking for a snapshot.

    Attributes:
        reply: The text of the check unless it is blank, else of the draft; or what failed.
        items: The snapshot, the fixed answer to it, and what stays; none after a failure or a blank reply.
        tokens: Size of the new history.
    """

    reply: Reply
    items: tuple[Item, ...] = ()
    tokens: int = 0


def made(view: View, draft: Draft, config: GeminiCliConfig) -> Made:
    """Asks for a snapshot and for its check, and puts it in the place of the older turns."""
    reply = _asked(view, draft, config)
    if reply.failure is not None or not reply.text.strip():
        return Made(reply)
    summary = edits.summary(reply, of=draft.gone, opening="", closing="")
    answer = Item(None, Message.assistant(ACKNOWLEDGEMENT, origin="harness"), "note")
    items = (summary, answer, *draft.kept)
    return Made(reply, items, _size(view, draft, items))


def _asked(view: View, draft: Draft, config: GeminiCliConfig) -> Reply:
    request = draft_ask(draft.older, model=asked_model(config, view.model.name), attempts=config.blank_attempts)
    first = view.reply(request)
    if first.failure is not None:
        return first
    checked = view.reply(verify_ask(request, first.text.strip()))
    return first if checked.failure is None and not checked.text.strip() else checked


def _size(view: View, draft: Draft, items: Sequence[Item]) -> int:
    """Size of the new history: counted by the provider where media stand in it, else estimated."""
    if has_media(draft.tail):
        counted = view.reply(Count(messages=tuple(item.message for item in items)))
        if counted.failure is None and isinstance(counted.value, int):
            return counted.value
    ours = (text_part(item.message.text) for item in items[:2])
    return tokens(draft.tail, *draft.past.environment_part, *ours)

"""From what a model wrote to the text that may become MEMORY.md.

Hand-written parts come back to their places, no entry stands there twice, and the whole keeps the cap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from harness_nb.core.tokens import TokenCounter
from harness_nb.memory.outline import Block, blocks, entries, hand_written, joined
from harness_nb.model.cues import fact_weight


class Rewritten(NamedTuple):
    """A text that may become MEMORY.md, and the entries that were taken out to keep the cap, as they stood."""

    text: str
    trimmed: tuple[str, ...] = ()


def generated(text: str) -> str:
    """A text without its hand-written parts."""
    return joined(block for block in blocks(text) if block.kind != "hand").strip("\n")


def rewritten(reply: str, before: str, max_tokens: int, counter: TokenCounter) -> Rewritten:
    """The new curated memory.

    Args:
        reply: What the model wrote, without hand-written parts.
        before: The memory so far; its hand-written parts are kept word for word.
        max_tokens: Cap on the whole text. Where it is above, entries are taken out whole: the least weighty first, of
            equal ones the earlier.
        counter: Counts tokens.
    """
    hands = hand_written(before)
    known = {entry.key for hand in hands for entry in entries(_inside(hand))}
    own = _without_repeats(blocks(reply), known)
    return capped(_with_hands(own, hands, blocks(before)), max_tokens, counter)


def capped(text: str, max_tokens: int, counter: TokenCounter) -> Rewritten:
    """A text with as many entries taken out as the cap needs; hand-written parts stay whatever their size."""
    found = blocks(text)
    order = sorted(
        (at for at, block in enumerate(found) if block.kind == "entry"),
        key=lambda at: (fact_weight(found[at].bare), at),
    )
    out: set[int] = set()
    excess = counter.count_text(text) - max_tokens
    for at in order:
        if excess <= 0:  # by the sizes of the entries alone; what goes with them makes it a little less
            excess = counter.count_text(_text_without(found, out)) - max_tokens
        if excess <= 0:
            break
        out.add(at)
        excess -= counter.count_text(found[at].text)
    return Rewritten(_text_without(found, out), tuple(found[at].text.strip("\n") for at in sorted(out)))


def _inside(hand: Block) -> str:
    """A hand-written part without its markers."""
    return "".join(hand.text.splitlines(keepends=True)[1:-1])


def _without_repeats(found: Iterable[Block], known: Iterable[str]) -> list[Block]:
    seen = set(known)
    kept = []
    for block in found:
        if block.kind != "entry" or block.key not in seen:
            kept.append(block)
        seen |= {block.key} if block.kind == "entry" else set()
    return kept


def _with_hands(own: Sequence[Block], hands: Sequence[Block], before: Sequence[Block]) -> str:
    """The text of blocks with each hand-written part at the end of the section it stood in.

    One that stood above all else stays on top; one whose section is gone comes last.
    """
    found = list(own)
    for hand in hands:
        ended = Block("hand", hand.text if hand.text.endswith("\n") else f"{hand.text}\n", hand.heading)
        at = _place_of(hand, found, before)
        above = [Block("blank", "\n")] if at and found[at - 1].kind != "blank" else []
        below = [Block("blank", "\n")] if at < len(found) and found[at].kind != "blank" else []
        found[at:at] = [*above, ended, *below]
    return _tidy(found)


def _place_of(hand: Block, found: Sequence[Block], before: Sequence[Block]) -> int:
    above = before[: next(at for at, block in enumerate(before) if block is hand or block == hand)]
    if all(block.kind in ("blank", "hand") for block in above):
        return next((at for at, block in enumerate(found) if block.kind not in ("blank", "hand")), len(found))
    key = Block("heading", hand.heading).key
    section = [at for at, block in enumerate(found) if Block("heading", block.heading).key == key]
    lines = [at for at in section if found[at].kind != "blank"]
    return lines[-1] + 1 if lines else len(found)


def _text_without(found: Sequence[Block], out: set[int]) -> str:
    """The text without some entries and without the headings that have nothing left below them."""
    if not out:
        return joined(found)
    left = [block for at, block in enumerate(found) if at not in out]
    emptied = {found[at].heading for at in out} - {block.heading for block in left if block.kind in ("entry", "hand")}
    return _tidy(block for block in left if block.kind != "heading" or block.heading not in emptied - {""})


def _tidy(found: Iterable[Block]) -> str:
    """The text of blocks with no blank line at its ends and never two of them together."""
    kept: list[Block] = []
    for block in found:
        if block.kind != "blank" or (kept and kept[-1].kind != "blank"):
            kept.append(block)
    while kept and kept[-1].kind == "blank":
        kept.pop()
    text = joined(kept)
    return text if text.endswith("\n") or not text else f"{text}\n"

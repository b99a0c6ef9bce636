"""Results of every layer as MIME bundles: text always, HTML or Markdown beside it.

Results are told apart by the name of their class, as this layer knows none above the core. What is not known shows as its
text. Nothing here raises, reads a file or asks a model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness_nb.core.redact import redact
from harness_nb.render.card import Block, Card, Drawing, Pre, Table, card_html, card_text
from harness_nb.render.markdown import safe_markdown
from harness_nb.render.masking import without_known
from harness_nb.render.text import clip

MAX_BYTES = 20_000
"""Most bytes of one form of a result; rows and texts are shortened until it fits."""

_MAX_MARKDOWN_CHARS = 200_000


def bundle(result: object) -> dict[str, Any]:
    """The forms in which a front-end may show a result.

    Args:
        result: Any result of this package.

    Returns:
        A MIME bundle: `text/plain`, and `text/html` where the class is known. A reply of a model has `text/markdown`
        instead of HTML, and its exact text.
    """
    try:
        if type(result).__name__ == "AgentReply":
            return reply_bundle(str(result.text))  # type: ignore[attr-defined]  # known by its name
        card = card_of(result)
        if card is not None:
            return card_bundle(card)
    except Exception as error:  # noqa: BLE001 - a display never breaks a cell
        return {"text/plain": f"{_plain(result)}\n(its display failed: {type(error).__name__}: {error})"}
    return {"text/plain": _plain(result)}


def reply_bundle(text: str) -> dict[str, Any]:
    """A model's answer: exactly as it is in text, and as Markdown that hides and fetches nothing."""
    shown = without_known(redact(text))
    return {"text/plain": shown, "text/markdown": safe_markdown(clip(shown, _MAX_MARKDOWN_CHARS))}


def card_bundle(card: Card) -> dict[str, Any]:
    """A card in text and HTML, each within `MAX_BYTES`."""
    return {"text/plain": _fitted(card, card_text), "text/html": _fitted(card, card_html)}


def card_of(result: object) -> Card | None:
    """The card of a result, or None when its class is not known."""
    from harness_nb.render import core_cards, lab_cards, memory_cards, result_cards

    for kind in type(result).__mro__:
        for cards in (result_cards.CARDS, memory_cards.CARDS, core_cards.CARDS, lab_cards.CARDS):
            if kind.__name__ in cards:
                return cards[kind.__name__](result)
    return None


def _plain(result: object) -> str:
    try:
        return without_known(redact(clip(repr(result), 2_000)))
    except Exception:  # noqa: BLE001 - somebody's repr may be broken
        return f"<{type(result).__name__}>"


def _fitted(card: Card, draw: Callable[[Card], str]) -> str:
    """A form of a card within `MAX_BYTES`: rows and texts are shortened first, then pictures give way to their words."""
    for rows, chars in ((1_000, 4_000), (20, 4_000), (10, 2_000), (5, 800), (2, 200), (0, 0)):
        shown = draw(_shrunk(card, rows, chars))
        if _fits(shown):
            return shown
    for kept in reversed(range(sum(isinstance(block, Drawing) for block in card.blocks))):
        shown = draw(_with_pictures(_shrunk(card, 5, 800), kept))
        if _fits(shown):
            return shown
    return draw(Card(clip(card.title, 200), clip(card.line, 1_000)))


def _fits(shown: str) -> bool:
    return len(shown.encode("utf-8", "replace")) <= MAX_BYTES


def _with_pictures(card: Card, most: int) -> Card:
    """The card with its first pictures; of the others the words."""
    blocks: list[Block] = []
    for block in card.blocks:
        if isinstance(block, Drawing):
            most -= 1
            block = block if most >= 0 else Pre(clip(block.text, 400))
        blocks.append(block)
    return replace(card, blocks=tuple(blocks))


def _shrunk(card: Card, rows: int, chars: int) -> Card:
    blocks = []
    for block in card.blocks:
        if isinstance(block, Table):
            block = replace(block, rows=block.rows[:rows], total=max(block.total, len(block.rows)))
        elif isinstance(block, Pre):
            block = replace(block, text=clip(block.text, chars))
        blocks.append(block)
    return replace(card, blocks=tuple(blocks))

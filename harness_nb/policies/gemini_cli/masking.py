"""Masks: tool outputs behind the newest ones give way to previews, once enough of them has come together."""

from __future__ import annotations

from collections.abc import Iterator

from harness_nb.core.item import Item
from harness_nb.core.requests import Evict
from harness_nb.core.view import View
from harness_nb.policies.gemini_cli.config import GeminiCliConfig
from harness_nb.policies.gemini_cli.history import History
from harness_nb.policies.gemini_cli.outputs import MASK_TAG, filed_text, masked, preview


def masks(view: View, past: History, config: GeminiCliConfig) -> dict[int, Item]:
    """The results that are to be masked, as they become, by their position in the history; none where it is too little.

    Args:
        view: Knows what came of filing.
        past: The history.
        config: How much is protected, how much has to come together, and which tools are exempt.
    """
    if view.input.messages.tokens(past.sizes.output_tokens) <= config.protection_threshold_tokens:
        return {}
    found: list[int] = []
    protected = prunable = 0
    for at in _outputs(past, config):
        size = past.sizes.output_tokens(past.items[at].message)
        if not found:
            protected += size
        if protected > config.protection_threshold_tokens:
            found.append(at)
            prunable += size
    if prunable < config.min_prunable_threshold_tokens:
        return {}
    made = {at: _masked(view, past, past.items[at], config) for at in found}
    return {at: item for at, item in made.items() if item is not None}


def _outputs(past: History, config: GeminiCliConfig) -> Iterator[int]:
    """Positions of the results that may be masked, newest first."""
    scanned = past.turns[:-1] if config.protect_latest_turn else past.turns
    for turn in reversed(scanned):
        for piece in reversed(turn):
            if piece.is_result and not _is_exempt(past.items[piece.at], config):
                yield piece.at


def _is_exempt(item: Item, config: GeminiCliConfig) -> bool:
    return item.index is None or item.message.name in config.exempt_tools or MASK_TAG in item.message.text


def _masked(view: View, past: History, item: Item, config: GeminiCliConfig) -> Item | None:
    """A result that gives way to a preview; None where it can't be filed or would not get shorter."""
    message = item.message
    filing = Evict(index=item.index or 0, call_id=message.call_id or "", text=filed_text(message.text))
    reply = view.reply(filing)
    if reply.failure is not None:
        return None
    made = masked(item, preview(message.text, is_shell=config.is_shell(message.name)), reply.text)
    return made if past.sizes.output_tokens(made.message) < past.sizes.output_tokens(message) else None

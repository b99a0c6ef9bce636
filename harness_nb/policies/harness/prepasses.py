"""What is shortened without a model before anything is summarised; it stays shortened when no summary follows.

Neither pre-pass touches the turn in progress or the newest messages. Each works in batches: whatever changes an early
message costs the provider's cache of all behind it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness_nb.core import edits
from harness_nb.core.config import ClearResultsConfig, TruncateArgsConfig, in_tokens
from harness_nb.core.item import Item
from harness_nb.core.plan import Plan
from harness_nb.core.view import View

_MARKER = "\n[... {omitted} characters of an old result cleared ...]\n"


def shortened(view: View, settings: TruncateArgsConfig | None) -> Plan | None:
    """The pre-pass on call arguments, or None when it is off, not due, or gains too little."""
    if settings is None or not _is_due(view, settings):
        return None
    window = view.model.window
    stop = view.cutoff(keep_messages=settings.keep_messages, keep_tokens=in_tokens(settings.keep_tokens, window)).index
    items = [
        edits.arguments_truncated(item, settings.max_arg_length) if _is_old(view, at, item, stop) else item
        for at, item in enumerate(view.input)
    ]
    has_acted = any(item.how == "truncated" and item.message.calls for item in view.input[:stop])
    return _gained(
        view,
        items,
        settings.min_gain_tokens if has_acted else 1,
        f"shortened arguments above {settings.max_arg_length:,} characters in {{changed}} older message(s)",
        "truncated",
    )


def cleared(view: View, settings: ClearResultsConfig | None, stop: int) -> Plan | None:
    """The pre-pass on old tool results, or None when it is off or gains too little.

    Args:
        view: The conversation.
        settings: Which results are cleared.
        stop: Position of the first item of the end that a compaction would keep.
    """
    if settings is None:
        return None
    old = _unprotected(view, settings, stop)
    items = [_cleared(item, settings.preview_chars) if at in old else item for at, item in enumerate(view.input)]
    reason = "cleared {changed} old tool result(s)"
    return _gained(view, items, settings.min_gain_tokens, reason, "cleared")


def _is_due(view: View, settings: TruncateArgsConfig) -> bool:
    by_messages = 0 < settings.trigger_messages <= len(view.input)
    return by_messages or 0 < in_tokens(settings.trigger_tokens, view.model.window) <= view.tokens


def _is_old(view: View, at: int, item: Item, stop: int) -> bool:
    return at < stop and item.index is not None and item.index < view.turn


def _unprotected(view: View, settings: ClearResultsConfig, stop: int) -> Collection[int]:
    """Positions of results behind which as many tokens of results stand as are protected."""
    room = in_tokens(settings.protect_tokens, view.model.window)
    found = set()
    for at in range(len(view.input) - 1, -1, -1):
        item = view.input[at]
        if item.message.role != "tool" or (item.message.name or "") in settings.excluded_tool_names:
            continue
        room -= view.measure(item.message)
        if room < 0 and item.how in ("kept", "truncated") and _is_old(view, at, item, stop):
            found.add(at)
    return found


def _cleared(item: Item, preview_chars: int) -> Item:
    """Head and tail of a result, or a line in its place; the item itself where that is no shorter."""
    text = item.message.text
    if preview_chars:
        shorter = edits.truncated(item, preview_chars, preview_chars, _MARKER)
        return item if shorter is item else edits.edited(item, shorter.message, "cleared")
    line = f"[old result of {item.message.name or 'a tool'}, {len(text):,} characters, cleared]"
    return edits.cleared(item, line) if len(line) < len(text) else item


def _gained(view: View, items: Sequence[Item], least: int, reason: str, outcome: str) -> Plan | None:
    """The plan for a list with some items edited, or None when that saves too little."""
    pairs = [(old, new) for old, new in zip(view.input, items, strict=True) if new is not old]
    gain = sum(view.measure(old.message) - view.measure(new.message) for old, new in pairs)
    if not pairs or gain < least:
        return None
    said = f"{reason.replace('{changed}', str(len(pairs)))}, {gain:,} tokens"
    return view.becomes(items, said, outcome=outcome)

"""What a summary must not cost: files read lately, the open plan, and a provider's own compaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence, Set

from harness_nb.core import edits
from harness_nb.core.blocks import block
from harness_nb.core.config import CompactionConfig, in_tokens
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Opaque
from harness_nb.core.view import View

_READERS = frozenset({"read_file", "read", "view", "view_file", "open_file", "cat", "memory_get"})
_PATHS = ("path", "file_path", "filename", "file")
_PLAN = "plan"
_PLAN_NOTE = "This is the plan as it stood when the conversation above was summarised. Go on with it."


def read_again(view: View, old: Sequence[Item], config: CompactionConfig) -> tuple[Item, ...]:
    """The rounds of the newest files read among some items, each file once, that fit into the tokens for them."""
    room = in_tokens(config.restore_tokens, view.model.window)
    readers = _READERS | {tool.name.lower() for tool in view.tools if tool.effect == "read"}
    found: dict[int, Item] = {}
    seen: set[str] = set()
    for round_ in _rounds(old):
        paths = _paths_read(round_[0].message, readers)
        if not paths or paths <= seen or len(seen | paths) > config.restore_results:
            continue
        size = round(view.measure.total(item.message for item in round_) * view.scale)
        if size > room:
            continue
        seen |= paths
        room -= size
        found.update({item.index: item for item in round_ if item.index is not None})
    return tuple(found[index] for index in sorted(found))


def _rounds(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    """Calls with their results that follow, the newest first."""
    stop = len(items)
    for at in range(len(items) - 1, -1, -1):
        if items[at].message.role == "tool":
            continue
        if items[at].message.calls and at + 1 < stop:
            yield tuple(items[at:stop])
        stop = at


def _paths_read(message: Message, readers: Set[str]) -> set[str]:
    """The files that a message's calls read; empty when one of them does something else."""
    paths = {_path(call.arguments) if call.name.lower() in readers else "" for call in message.calls}
    return set() if "" in paths else paths


def _path(arguments: str) -> str:
    try:
        given = json.loads(arguments)
    except ValueError:
        return ""
    named = (given.get(name) for name in _PATHS) if isinstance(given, dict) else ()
    return next((path for path in named if isinstance(path, str)), "")


def plan_note(view: View, config: CompactionConfig) -> tuple[Item, ...]:
    """The open plan of the host as a note, where there is one."""
    text = view.host.get("plan")
    if not config.restore_plan or not isinstance(text, str) or not text.strip():
        return ()
    return (edits.note(block("open_plan", text.strip(), note=_PLAN_NOTE), meta={_PLAN: True}),)


def is_plan_note(item: Item) -> bool:
    """Whether an item is such a note."""
    return bool(item.meta.get(_PLAN))


def holds_native(message: Message) -> bool:
    """Whether a message holds a provider's own compaction, which stands for what came before it at that provider."""
    content = message.content
    if isinstance(content, tuple) and any(isinstance(part, Opaque) and _is_compaction(part.raw) for part in content):
        return True
    return '"compaction_blocks"' in message.rest


def _is_compaction(raw: str) -> bool:
    part = json.loads(raw)
    return isinstance(part, dict) and str(part.get("type", "")).startswith("compaction")

"""OpenHarness' lists in the words of the recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.lab.conformance.driving import verbatim

if TYPE_CHECKING:
    from harness_nb.policies.openharness.digest import Digest
    from harness_nb.policies.openharness.peers import Peers


class Told:
    """Says what an item is.

    Args:
        log: All messages.
        numbers: The case's number of each of its messages, by log index; other ones were made by the run. None where the
            log has no others.
    """

    def __init__(self, log: Sequence[Message], numbers: Mapping[int, int] | None = None) -> None:
        self.log = log
        self.numbers = {index: index for index in range(len(log))} if numbers is None else numbers

    def output(self, items: Iterable[Item]) -> list[dict[str, Any]]:
        """A list as a recording has it."""
        return [one for item in items for one in self._item(item)]

    def name(self, item: Item) -> str | None:
        """The name of an item that is no message of the case, None for one that is."""
        if item.index is None:
            kind = str(item.meta.get("openharness", "note"))
            return str(item.meta["source"]) if kind == "summary" else kind
        if item.index in self.numbers:
            return None
        return "assistant" if item.message.role == "assistant" else "tool_result"

    def indices(self, items: Iterable[Item]) -> list[int]:
        """Indices of the case's messages among some items."""
        found = (self.numbers.get(item.index) for item in items if item.index is not None)
        return [number for number in found if number is not None]

    def _item(self, item: Item) -> list[dict[str, Any]]:
        if item.index is None:
            return [_made(item)]
        if item.index not in self.numbers:
            said = item.message.text if item.message.role == "assistant" else ""
            return [{"kind": "reply", "what": self.name(item), "chars": len(said)}]
        item = replace(item, index=self.numbers[item.index])
        if item.how == "cleared":
            return [{"kind": "placeholder", "index": item.index, "chars": len(item.message.text)}]
        if item.how == "evicted":
            return [_evicted(item)]
        blocks: Any = item.meta.get("collapsed", [])
        has_several = isinstance(item.message.content, tuple) and len(item.message.content) > 1
        cut = [{"kind": "truncated", "index": item.index, **_figures(one, has_several)} for one in blocks]
        return cut or [verbatim(item)]

    def digest(self, found: Digest) -> dict[str, Any]:
        """The lines of a digest."""
        lines = [
            {"index": self._stands_for(one.peer.items), "chars": len(one.text), "form": one.form} for one in found.lines
        ]
        return {
            "lines": lines,
            "condensed": found.is_condensed,
            "older": found.older,
            "body_chars": len(found.body),
        }

    def _stands_for(self, items: Sequence[Item]) -> Any:
        return self.name(items[0]) or self.indices(items)

    def summary_request(self, older: Peers, instruction: str, max_tokens: int) -> dict[str, Any]:
        """A request for a summary."""
        items = [item for peer in older for item in peer.items]
        about = {
            "call": "summary",
            "peer_messages": len(older),
            "system": "agent",
            "max_tokens": max_tokens,
            "tools": 0,
        }
        pictures = [item for item in items if any(_is_picture(part) for part in item.message.parts)]
        stubs = {"image_stub": self.indices(pictures)} if pictures else {}
        return {**about, "instruction_chars": len(instruction), **self.shown(items), **stubs}

    def shown(self, items: Sequence[Item]) -> dict[str, Any]:
        """What a request shows: messages of the case, which of them were changed, and what else."""
        cleared = self.indices(item for item in items if item.how == "cleared")
        short = self.indices(item for item in items if item.meta.get("collapsed"))
        others = [name for item in items if (name := self.name(item)) is not None]
        more = {"placeholder": cleared, "truncated": [one for one in short if one not in cleared], "others": others}
        return {"indices": self.indices(items), **{key: one for key, one in more.items() if one}}


def _is_picture(part: object) -> bool:
    return type(part).__name__ == "Image"


def _figures(block: Mapping[str, Any], has_several: bool) -> dict[str, Any]:
    figures = {key: block[key] for key in ("chars", "head", "tail", "omitted", "original")}
    return {**figures, **({"part": block["part"]} if has_several else {})}


def _evicted(item: Item) -> dict[str, Any]:
    meta = item.meta
    sizes = {"chars": len(item.message.text), "head": meta["head"], "tail": 0}
    more = {"original": meta["original"], "omitted": meta["omitted"], "notice_first": True}
    return {"kind": "truncated", "index": item.index, **sizes, **more}


def _made(item: Item) -> dict[str, Any]:
    """What the system itself wrote."""
    meta, text = item.meta, item.message.text
    cut = {"truncated": True} if meta.get("collapsed") else {}
    if meta.get("openharness") == "summary":
        return {"kind": "summary", "source": meta["source"], "chars": len(text), **_source(item), **cut}
    found: dict[str, Any] = {"kind": "note", "what": meta["openharness"], "chars": len(text)}
    if meta["openharness"] == "boundary":
        return {
            **found,
            "trigger": meta["trigger"],
            "of": meta["of"],
            "before": meta["before"],
            "after": meta["after"],
            **cut,
        }
    lines = text.split("\n")[1:]
    paths = {"paths": [line[2:] for line in lines[1:]]} if meta["openharness"] == "recent_attachments" else {}
    return {**found, "lines": len(lines), **paths, **cut}


def _source(item: Item) -> dict[str, Any]:
    if item.meta["source"] == "llm":
        return {"text": item.meta["text"], "recent_note": item.meta["recent"], "resume_note": True}
    return {"body_chars": item.meta["body_chars"]} if item.meta["source"] == "checkpoint" else {}

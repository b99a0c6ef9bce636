"""Reading a new curated memory from a model's reply, in whatever dress it comes; and refusing what is none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness_nb.memory.facts import says_nothing, without_thoughts
from harness_nb.memory.outline import Block, blocks, entries, joined

SECTIONS = ("memory", "hand_written", "entries", "budget_tokens")
"""Names of the sections of a request; a reply that holds others than `memory` repeats the request."""

_WRAPPED = re.compile(r"<memory>\s*?\n?(.*?)\n?\s*</memory>", re.DOTALL | re.IGNORECASE)
_ECHO = re.compile(rf"</?(?:{'|'.join(SECTIONS[1:])})>", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_STRUCTURE = re.compile(r"^(?:#{1,6}\s|\s{0,3}(?:[-*+]|\d{1,3}[.)])\s)", re.MULTILINE)
_MOST_PREAMBLE_CHARS = 400


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply holds.

    Attributes:
        text: The new curated memory without hand-written parts, empty when it was refused.
        refused: Why the reply can't be used, in words that the model can act on; empty when it can.
    """

    text: str = ""
    refused: str = ""


def read_memory(reply: str, before: str = "", *, is_cut: bool = False) -> Reading:
    """Reads the whole new file from a reply: bare, fenced, tagged, or with a sentence before it.

    Args:
        reply: The model's text.
        before: The memory so far. A reply without headings and bullets is only taken when it keeps entries of it.
        is_cut: Whether the reply ended at its length limit; it lacks its end then, and is refused.
    """
    text = without_thoughts(reply).strip().lstrip("\ufeff")
    if not text:
        return Reading(refused="it was empty")
    if is_cut:
        return Reading(refused="it ended at the length limit, in the middle of the file")
    text = _unwrapped(text)
    if not text.strip():
        return Reading(refused="it was empty")
    if says_nothing(text):
        return Reading(refused="it said that there is nothing to write, but the whole file is wanted")
    if _ECHO.search(text):
        return Reading(refused="it repeated the request")
    text = joined(block for block in _without_preamble(blocks(text)) if block.kind != "hand").strip("\n")
    if not entries(text) or not _is_memory(text, before):
        return Reading(refused=f"it is no list of notes below headings: {text.strip()[:80]!r}")
    return Reading(f"{text}\n")


def _unwrapped(text: str) -> str:
    """What stands in the tag or the only fence that the reply consists of."""
    tagged = _WRAPPED.search(text)
    if tagged:
        text = tagged[1].strip()
    fences = list(_FENCED.finditer(text))
    if len(fences) != 1:
        return text
    outside = text[: fences[0].start()] + text[fences[0].end() :]
    is_dress = len(outside) <= _MOST_PREAMBLE_CHARS and not _STRUCTURE.search(outside)
    return fences[0][2].strip() if is_dress and _STRUCTURE.search(fences[0][2]) else text


def _without_preamble(found: list[Block]) -> list[Block]:
    """The blocks without a first paragraph that only leads over to the file."""
    first = next((at for at, block in enumerate(found) if block.kind != "blank"), None)
    if first is None or found[first].kind != "entry":
        return found
    lead = found[first].text.strip()
    leads = lead.endswith((":", "：")) and len(lead) <= _MOST_PREAMBLE_CHARS and not _STRUCTURE.match(lead)
    return found[first + 1 :] if leads else found


def _is_memory(text: str, before: str) -> bool:
    known = {entry.key for entry in entries(before)}
    return bool(_STRUCTURE.search(text)) or any(entry.key in known for entry in entries(text))

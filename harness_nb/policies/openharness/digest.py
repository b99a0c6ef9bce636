"""What OpenHarness writes without a model in the place of older messages: a line each, the checkpoint file, or some texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from harness_nb.core import edits
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.peers import Peer, items_of

DIGEST_OPENING = "Notes on the earlier part of this conversation, in lines:\n"
CHECKPOINT_OPENING = "Checkpoint of this session, written at the end of its turns:\n"
TEXTS_OPENING = "[earlier conversation]\n"
CONDENSED = "[earlier lines follow no further]"
"""Texts as long as OpenHarness' own, so that figures are exact."""

_CALLS = ": tools called: "
_RESULTS = ": results of tool calls"
_OTHER = ": nothing in writing"
_MOST_NAMES = 4
_TEXTS_MESSAGES = 8
_TEXT_CHARS = 300

Form = Literal["text", "calls", "results", "other"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a digest.

    Attributes:
        peer: What it stands for.
        form: What it says: the beginning of a text, names of tools, that results came, or that there is no text.
        text: The line, its speaker in front.
    """

    peer: Peer
    form: Form
    text: str


@dataclass(frozen=True, slots=True)
class Digest:
    """Lines about older messages.

    Attributes:
        lines: The lines that fit.
        is_condensed: Whether some did not fit.
        older: How many messages it stands for.
        keeps: Whether the oldest lines fit or the newest.
    """

    lines: tuple[Line, ...]
    is_condensed: bool
    older: int
    keeps: str = "oldest"

    @property
    def body(self) -> str:
        """The lines, and where some are missing a word about it."""
        lines = [line.text for line in self.lines]
        if self.is_condensed:
            lines = [*lines, CONDENSED] if self.keeps == "oldest" else [CONDENSED, *lines]
        return "\n".join(lines)


def digest(older: Sequence[Peer], config: OpenHarnessConfig) -> Digest:
    """One line a message until lines or characters are used up; the first line is always taken."""
    newest = config.digest_keeps == "newest"
    lines: list[Line] = []
    chars = 0
    for peer in reversed(older) if newest else older:
        line = line_of(peer, config.session_memory_line_chars)
        chars += len(line.text) + 1
        if lines and (len(lines) >= config.session_memory_lines or chars >= config.session_memory_chars):
            return Digest(_ordered(lines, newest), True, len(older), config.digest_keeps)
        lines.append(line)
    return Digest(_ordered(lines, newest), False, len(older), config.digest_keeps)


def _ordered(lines: list[Line], is_reversed: bool) -> tuple[Line, ...]:
    return tuple(reversed(lines)) if is_reversed else tuple(lines)


def line_of(peer: Peer, chars: int, names: int = _MOST_NAMES) -> Line:
    """A message in one line: the beginning of its text, else the first names of its calls, else what it is."""
    text = " ".join(peer.text.split())
    if text:
        return Line(peer, "text", f"{peer.role}: {text[:chars]}")
    if peer.calls:
        return Line(peer, "calls", f"{peer.role}{_CALLS}{', '.join(call.name for call in peer.calls[:names])}")
    return Line(peer, "results", peer.role + _RESULTS) if peer.has_results else Line(peer, "other", peer.role + _OTHER)


def digest_item(found: Digest) -> Item:
    """The message that stands for those that have a line in it; the others are gone."""
    return _summary(DIGEST_OPENING + found.body, (line.peer for line in found.lines), "digest")


def checkpoint_item(text: str, known: Iterable[Peer]) -> Item:
    """The message with the session's checkpoint file, which stands for those that were there when it was written."""
    return _summary(CHECKPOINT_OPENING + text, known, "checkpoint", body_chars=len(text))


def texts_item(older: Sequence[Peer], role: Literal["user", "assistant"] = "user") -> Item | None:
    """The first version's digest: the beginnings of the texts among the last eight older messages, None without a text."""
    told = [peer for peer in older[-_TEXTS_MESSAGES:] if peer.text.strip()]
    lines = [f"{peer.role}: {peer.text.strip()[:_TEXT_CHARS]}" for peer in told]
    return _summary(TEXTS_OPENING + "\n".join(lines), told, "text_digest", role=role) if lines else None


def _summary(
    text: str, told: Iterable[Peer], source: str, *, role: Literal["user", "assistant"] = "user", **meta: object
) -> Item:
    gone = items_of(told)
    known = {"openharness": "summary", "source": source, **meta}
    if role == "assistant":
        covered = tuple(sorted(set(chain.from_iterable(item.indices for item in gone))))
        return Item(None, Message.assistant(text, origin="harness"), "note", covered, known)
    return edits.note(text, of=gone, meta=known)

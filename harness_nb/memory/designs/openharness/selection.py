"""Which topic files go into the prompt: those whose words a prompt has, with a bonus for what is used, new or important."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from harness_nb.memory.designs.openharness.notes import Listed
from harness_nb.memory.designs.openharness.schema import Note

_WORD = re.compile(r"[A-Za-z0-9_]+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LEAST_CHARS = 3
_USES = 5
_RECENT = ((timedelta(days=14), 0.3), (timedelta(days=30), 0.1))


def tokens(text: str) -> frozenset[str]:
    """The words of a prompt that are looked for: three letters at least, and each Han character by itself."""
    words = {word for word in _WORD.findall(text.lower()) if len(word) >= _LEAST_CHARS}
    return frozenset(words | set(_HAN.findall(text)))


def selected(
    notes: Sequence[Listed],
    query: str,
    *,
    most: int,
    scan: int = 100,
    now: datetime,
    usage: Mapping[str, int] | None = None,
    bonus: bool = True,
) -> list[Note]:
    """The notes that a prompt asks for, best first; of equals the one that was changed last.

    Args:
        notes: Those that count, the last changed first.
        query: The prompt.
        most: How many, at most.
        scan: How many are looked at.
        now: The time.
        usage: How often each was used, by id.
        bonus: Whether importance, use and age count besides words.
    """
    wanted = tokens(query)
    ranked = []
    for one in notes[:scan]:
        words = _hits(one.note, wanted)
        if words:
            more = _bonus(one.note, (usage or {}).get(one.note.id, 0), now) if bonus else 0.0
            ranked.append((-(words + more), -one.changed, one.note))
    ranked.sort(key=lambda found: found[:2])
    return [note for _, _, note in ranked[:most]]


def _hits(note: Note, wanted: frozenset[str]) -> float:
    """Words found, also inside other words; those in title and description count twice."""
    about, text = f"{note.name} {note.description}".lower(), note.preview.lower()
    return 2.0 * sum(word in about for word in wanted) + sum(word in text for word in wanted)


def _bonus(note: Note, uses: int, now: datetime) -> float:
    age = None if note.updated is None else now - note.updated
    recency = next((gain for limit, gain in _RECENT if age is not None and age <= limit), 0.0)
    return 0.4 * note.importance + 0.1 * min(uses, _USES) + recency

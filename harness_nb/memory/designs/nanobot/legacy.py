"""The older form of the archive, HISTORY.md, taken over once."""

from __future__ import annotations

import re
from pathlib import Path

from harness_nb.memory.designs.nanobot.history import History, HistoryEntry
from harness_nb.store.files import read_text

OLD_NAME = "HISTORY.md"

_BEGINS = re.compile(r"\[\d{4}-\d{2}-\d{2}[^\]]*\]\s*")
_STAMP = re.compile(r"\[(\d{4}-\d{2}-\d{2} \d{2}:\d{2})\]\s*")
_DUMPED = re.compile(r"\[\d{4}-\d{2}-\d{2}[^\]]*\]\s+[A-Z][A-Z0-9_]*(?:\s+\[tools:\s*[^\]]+\])?:")


def take_over(folder: Path, history: History, now: str) -> None:
    """Turns an older archive into entries that count as read, and keeps it under another name.

    Args:
        folder: Folder of the memory files.
        history: The archive; one that has entries already stays as it is.
        now: The time for entries without one.
    """
    old = folder / OLD_NAME
    text = read_text(old)
    if text is None or (history.path.exists() and history.path.stat().st_size):
        return
    pieces = _pieces(text.replace("\r\n", "\n").replace("\r", "\n").strip())
    history.seed([_entry(number, piece, now) for number, piece in enumerate(pieces, 1)])
    old.replace(_free(folder))


def _entry(number: int, piece: str, now: str) -> HistoryEntry:
    found = _STAMP.match(piece)
    rest = piece[found.end() :].lstrip() if found else ""
    return HistoryEntry(cursor=number, timestamp=found.group(1) if found else now, content=rest or piece)


def _pieces(text: str) -> list[str]:
    """Entries: parted by blank lines, or by a date at the start of a line; a dump of messages keeps its own dates."""
    pieces: list[list[str]] = [[]]
    for line in text.split("\n"):
        current = pieces[-1]
        is_parted = bool(current) and not current[-1].strip() and bool(line.strip())
        if is_parted or (current and _BEGINS.match(line) and not (_is_dump(current) and _DUMPED.match(line))):
            pieces.append([line])
        else:
            current.append(line)
    made = ("\n".join(piece).strip() for piece in pieces)
    return [piece for piece in made if piece]


def _is_dump(lines: list[str]) -> bool:
    first = next((line for line in lines if line.strip()), "")
    found = _STAMP.match(first)
    return found is not None and first[found.end() :].lstrip().startswith("[RAW]")


def _free(folder: Path) -> Path:
    """A name that is not taken."""
    place, number = folder / f"{OLD_NAME}.bak", 2
    while place.exists():
        place, number = folder / f"{OLD_NAME}.bak.{number}", number + 1
    return place

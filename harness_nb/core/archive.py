"""Entries of an archive of summaries, and how a prompt shows those that are new.

Shared by a policy that measures the prompt and the memory design that writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

CUT_SUFFIX = "\n... (truncated)"
"""Ends every text that was cut."""

SUMMARY_CHARS = 8_000
RAW_CHARS = 16_000
ENTRY_CHARS = 64_000
"""Most characters of a summary's entry, of a dump of messages below its first line, and of any entry."""

RAW_MARK = "[RAW] "
NOTHING = "(nothing)"
"""Begins a dump of messages; a model's word for a chunk without anything worth keeping."""

DIVIDER = "\n\n---\n\n"
"""Stands between two sections of the prompt."""

_TAG = r"(?:thinking|thought|think)"
_THOUGHTS = (
    (rf"<(?P<tag>{_TAG})>[\s\S]*?</(?P=tag)>", ""),
    (rf"^\s*<{_TAG}>[\s\S]*$", ""),
    (r"^\s*<thinking/>\s*|\s*<thinking/>\s*$", ""),
    (rf"<{_TAG}(?![A-Za-z0-9_\-:>/])", ""),
    (rf"^\s*</{_TAG}>\s*|\s*</{_TAG}>\s*$", ""),
    (r"^\s*<\|?channel\|?>\s*", ""),
    (r"</?(?:thinking|thinkin|thinki|think|thought|though|thoug|thou|tho|thin|thi|th|t)>?$", ""),
    (r"<\|?c(?:h(?:a(?:n(?:n(?:e(?:l(?:\|?>?)?)?)?)?)?)?)?$", ""),
    (r"^\s*<\|?$", ""),
)


class ArchiveEntry(NamedTuple):
    """One entry as a prompt shows it.

    Attributes:
        time: Local time, to the minute.
        text: What it says.
    """

    time: str
    text: str


def cut_chars(text: str, most: int) -> str:
    """A text of at most so many characters, and behind them a mark that something is missing; all of it for 0."""
    return text if most <= 0 or len(text) <= most else text[:most] + CUT_SUFFIX


def cut_tokens(text: str, most: int, count: Callable[[str], int]) -> str:
    """The longest beginning of a text that has, with the mark behind it, at most so many tokens.

    Args:
        text: The text.
        most: Tokens.
        count: Counts the tokens of a text; more text never has fewer.
    """
    if count(text) <= most:
        return text
    suffix = CUT_SUFFIX if count(CUT_SUFFIX) < most else ""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle] + suffix) <= most else (low, middle - 1)
    return text[:low] + suffix


def without_thinking(text: str) -> str:
    """A text without a model's reasoning tags and what stands in them, trimmed."""
    for pattern, put in _THOUGHTS:
        text = re.sub(pattern, put, text)
    return text.strip()


def entry_text(text: str, most: int) -> str:
    """What an archive keeps of a text: within its limit, and without reasoning."""
    return without_thinking(cut_chars(text.rstrip(), most))


def recent_section(entries: Sequence[ArchiveEntry], *, most: int, most_tokens: int, count: Callable[[str], int]) -> str:
    """The newest entries, oldest first, a line each; cut at the end, so that the newest text goes first.

    Args:
        entries: All that may be shown, oldest first.
        most: Most entries.
        most_tokens: Most tokens.
        count: Counts the tokens of a text.
    """
    lines = "\n".join(f"- [{one.time}] {one.text}" for one in entries[-most:])
    return cut_tokens(lines, most_tokens, count) if lines else ""


def shown_once(entries: Sequence[ArchiveEntry], summary: str) -> tuple[ArchiveEntry, ...]:
    """Entries without the newest one that says the same as a summary which is shown beside them."""
    same = next((at for at in range(len(entries) - 1, -1, -1) if entries[at].text == summary), None)
    return tuple(one for at, one in enumerate(entries) if at != same)


def recent_heading(text: str) -> str:
    """The section of recent entries under its heading."""
    return f"# Recent History\n\n{text}"


def summary_line(text: str, last_active: str) -> str:
    """A session's summary with the time when the session was last active."""
    return f"Previous conversation summary (last active {last_active}):\n{text}"


def summary_heading(text: str) -> str:
    """The section of a session's summary under its heading."""
    return f"[Archived Context Summary]\n\n{text}"


def kept(text: str) -> str:
    """What the archive keeps of what a policy gives it: a summary within its limit, a dump as it is."""
    return entry_text(text, ENTRY_CHARS if text.startswith(RAW_MARK) else SUMMARY_CHARS)

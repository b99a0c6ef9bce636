"""What of the index MEMORY.md stands in the prompt: its first lines, then its first bytes, and a word about the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_WARNING = (
    "> This index is longer than what is shown of it here: it has {found} {unit} and at most {limit} are shown. "
    "Shorten it to one line for each note."
)
"""As long as OpenHarness' own warning, so that figures are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated:
    """Why an index is not shown whole.

    Attributes:
        unit: `lines` or `bytes`.
        found: How many the whole index has.
        limit: How many are shown, at most.
    """

    unit: Literal["lines", "bytes"]
    found: int
    limit: int

    @property
    def warning(self) -> str:
        """The same in words, for the model."""
        return _WARNING.format(found=self.found, unit=self.unit, limit=self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIndex:
    """What is shown of an index.

    Attributes:
        state: `missing`, `blank` or `shown`.
        text: What is shown.
        truncated: Why that is not all, or None.
    """

    state: Literal["missing", "blank", "shown"]
    text: str = ""
    truncated: Truncated | None = None


def shown_index(text: str | None, *, max_lines: int, max_bytes: int | None, shows_blank: bool = False) -> ShownIndex:
    """What is shown of an index.

    Args:
        text: The index, None where there is no file.
        max_lines: Most lines.
        max_bytes: Most UTF-8 bytes of them; None for no limit, and then no warning either.
        shows_blank: Whether an index of blank lines is shown as such.
    """
    if text is None:
        return ShownIndex(state="missing")
    if not text.strip() and not shows_blank:
        return ShownIndex(state="blank")
    lines = text.splitlines()
    kept = "\n".join(lines[:max_lines])
    if max_bytes is None:
        return ShownIndex(state="shown", text=kept)
    size, why = len(text.encode("utf-8", "replace")), None
    if len(lines) > max_lines:
        why = Truncated(unit="lines", found=len(lines), limit=max_lines)
    if len(kept.encode("utf-8", "replace")) > max_bytes:
        kept = _first_bytes(kept, max_bytes)
        why = Truncated(unit="bytes", found=size, limit=max_bytes)
    return ShownIndex(state="shown", text=kept, truncated=why)


def _first_bytes(text: str, most: int) -> str:
    """The beginning of a text, back to the end of a line where there is one; no split character."""
    cut = text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
    at = cut.rfind("\n")
    return cut[:at] if at > 0 else cut

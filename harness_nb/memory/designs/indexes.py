"""What a model is shown of an index of topic files: its first lines, in a fence that they can't close."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

_LINE_END = re.compile(r"\r\n|\r|\n")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIndex:
    """The part of an index that is shown.

    Attributes:
        state: `missing`, `blank` or `shown`.
        lines: The lines.
        truncated: Whether there are more.
        fence: Backticks around it, 0 when nothing is shown.
    """

    state: Literal["missing", "blank", "shown"]
    lines: tuple[str, ...] = ()
    truncated: bool = False
    fence: int = 0

    @property
    def fenced(self) -> str:
        """The lines in their fence."""
        marks = "`" * self.fence
        return "\n".join((f"{marks}markdown", *self.lines, marks))


def first_lines(text: str | None, most: int) -> ShownIndex:
    """The first lines of an index; only LF, CRLF and CR end a line, and one at the very end adds none.

    Args:
        text: The index, None where there is no file.
        most: Most lines.
    """
    if text is None:
        return ShownIndex(state="missing")
    if not text.strip():
        return ShownIndex(state="blank")
    lines = _LINE_END.split(text)
    lines = lines[:-1] if lines[-1] == "" else lines
    shown = tuple(lines[:most])
    return ShownIndex(state="shown", lines=shown, truncated=len(lines) > most, fence=_fence("\n".join(shown)))


def _fence(text: str) -> int:
    """Backticks that are more than any run of them in a text, three at least."""
    return max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))

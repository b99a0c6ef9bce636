"""A place in a file with the lines around it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Excerpt:
    """Some lines of a file.

    Attributes:
        path: The file, as it was named.
        line: Number of the line that is meant, 1 for the first.
        first: Number of the first line that is shown.
        lines: The lines.
    """

    path: str
    line: int
    first: int
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Excerpt({self.path!r}, line {self.line})"

    def __str__(self) -> str:
        width = len(str(self.first + len(self.lines)))
        numbered = enumerate(self.lines, self.first)
        return "\n".join(f"{'>' if at == self.line else ' '} {at:>{width}}  {text}" for at, text in numbered)

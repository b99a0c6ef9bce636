"""Pieces of a long text for a model to read: bounded in characters, each saying how to go on to the next."""

from __future__ import annotations

from harness_nb.core.blocks import block
from harness_nb.core.preview import head_and_tail
from harness_nb.errors import ToolError

PIECE_CHARS = 20_000
"""Most characters of a file in one result, about 5,000 tokens."""

MAX_LINES = 400
"""Most lines of a file in one result."""


def text_lines(text: str) -> list[str]:
    """The lines of a text, as the index counts them: only LF and CRLF end a line; a last empty one does not count."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def piece(name: str, text: str, offset: int, limit: int) -> str:
    """A run of characters in a marked block, and where to go on.

    Args:
        name: Name of the file.
        text: Its whole text.
        offset: First character, from 0.
        limit: Most characters; at most 20,000.

    Raises:
        ToolError: The offset is behind the end.
    """
    if offset > len(text) or (offset == len(text) and text):
        raise ToolError(
            f"offset={offset} is behind the end of {name!r}, which has {len(text)} characters.",
            f"Use an offset from 0 to {max(0, len(text) - 1)}.",
            subject=name,
        )
    limit = min(limit, PIECE_CHARS)
    rest = text[offset : offset + limit + 1]
    part = head_and_tail(rest, limit, 0).head or rest[:limit]  # a character made of more parts than that is cut, too
    stop = offset + len(part)
    title = f'path="{name}" characters="{offset}-{stop} of {len(text)}"'
    shown = block("file", part, title=title)
    if stop == len(text):
        return shown
    return f"{shown}\nThere are {len(text) - stop} more characters. Continue with read_file, offset={stop}."


def numbered_lines(name: str, text: str, start_line: int, end_line: int | None) -> str:
    """Some lines with their numbers in a marked block, and where to go on.

    Args:
        name: Name of the file.
        text: Its whole text.
        start_line: First line, from 1.
        end_line: Last line, included; None for as many as fit.

    Raises:
        ToolError: The file has fewer lines, or the last line stands before the first.
    """
    lines = text_lines(text)
    last = len(lines) if end_line is None else min(end_line, len(lines))
    _check_range(name, len(lines), start_line, end_line)
    shown: list[str] = []
    size = 0
    for number in range(start_line, min(last, start_line + MAX_LINES - 1) + 1):
        line = f"{number}|{lines[number - 1]}"
        size += len(line) + 1
        if size > PIECE_CHARS:
            break
        shown.append(line)
    stop = start_line + len(shown)
    title = f'path="{name}" lines="{start_line}-{stop - 1} of {len(lines)}"'
    if shown or not lines:
        after = f"\nThere are more lines. Continue with memory_get, start_line={stop}." if stop <= last else ""
        return block("file", "\n".join(shown), title=title if lines else f'path="{name}" lines="none"') + after
    offset = _offset_of_line(text, start_line)
    return f"Line {start_line} of {name!r} is too long to be shown whole. Read it with read_file, offset={offset}."


def _check_range(name: str, lines: int, start_line: int, end_line: int | None) -> None:
    if start_line > max(lines, 1):
        raise ToolError(
            f"start_line={start_line} is behind the end of {name!r}, which has {lines} lines.",
            f"Use a line from 1 to {max(lines, 1)}.",
            subject=name,
        )
    if end_line is not None and end_line < start_line:
        raise ToolError(
            f"end_line={end_line} stands before start_line={start_line}.", "Leave end_line out, or give a later line."
        )


def _offset_of_line(text: str, line: int) -> int:
    """Place of the first character of a line."""
    at = 0
    for _ in range(line - 1):
        at = text.index("\n", at) + 1
    return at

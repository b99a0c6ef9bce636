"""Long results: which lines stay when the whole text goes to a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Spill:
    """What stays of a text.

    Attributes:
        text: That.
        lines: Whole lines of it.
        omitted: What is left out, in `unit`.
        unit: `lines` or `bytes`, by the limit that was met.
        inside_line: Whether the end of one long line is all that stays.
    """

    text: str
    lines: int
    omitted: int
    unit: str
    inside_line: bool = False


def spilled(text: str, *, max_lines: int, max_bytes: int, keeps_end: bool, splits_line: bool = False) -> Spill | None:
    """What stays of a text that is over a limit, or None when it is not.

    Args:
        text: The text; its lines are the pieces between line feeds.
        max_lines: Most lines that stay.
        max_bytes: Most bytes of UTF-8 that stay, line feeds included.
        keeps_end: Whether the end stays instead of the beginning.
        splits_line: Whether the end of a last line that is too long stays.
    """
    lines = text.split("\n")
    total = _bytes(text)
    if len(lines) <= max_lines and total <= max_bytes:
        return None
    kept: list[str] = []
    used, is_full = 0, False
    for line in lines[::-1] if keeps_end else lines:
        if len(kept) == max_lines:
            break
        size = _bytes(line) + bool(kept)
        if used + size > max_bytes:
            is_full = True
            break
        kept.append(line)
        used += size
    if splits_line and is_full and not kept:
        end = _end_of(lines[-1], max_bytes)
        return Spill(text=end, lines=0, omitted=total - _bytes(end), unit="bytes", inside_line=True)
    shown = "\n".join(kept[::-1] if keeps_end else kept)
    omitted = (total - used, "bytes") if is_full else (len(lines) - len(kept), "lines")
    return Spill(text=shown, lines=len(kept), omitted=omitted[0], unit=omitted[1])


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _end_of(line: str, max_bytes: int) -> str:
    """The last bytes of a line, from the border of a character on."""
    data = line.encode("utf-8", "surrogatepass")
    at = max(0, len(data) - max_bytes)
    while at < len(data) and data[at] & 0xC0 == 0x80:  # noqa: PLR2004 - a byte inside a character
        at += 1
    return data[at:].decode("utf-8", "surrogatepass")

"""Numbers, times and texts in the form in which people read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from harness_nb.core.redact import redact

ELLIPSIS = "…"
_LONGEST_KEY_CHARS = 4_000


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: `1 message`, `1,204 messages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def short(number: int) -> str:
    """A number of tokens in at most five characters or so: `940`, `6.2k`, `128k`, `1.05M`."""
    if abs(number) < 1_000:
        return str(number)
    for limit, unit, size in ((999_500, "k", 1_000), (999_500_000, "M", 1_000_000)):
        if abs(number) < limit:
            value = number / size
            text = f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"
            return f"{text.removesuffix('.0')}{unit}"
    return f"{number / 1_000_000_000:.1f}G"


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage with a thin gap; whole figures without decimals."""
    text = f"{share * 100:.{digits}f}"
    return f"{text.removesuffix('.' + '0' * digits)} %"


def seconds(value: float) -> str:
    """A time span: `84 ms`, `1.2 s`, `3 min 5 s`."""
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60} s"


def money(cost: float | None) -> str:
    """US dollars, or that the price is not known."""
    if cost is None:
        return "price not known"
    return f"${cost:.2f}" if cost >= 0.1 or cost == 0 else f"${cost:.4f}"


def moment(value: datetime | None) -> str:
    """Date and time to the second with the offset from UTC, or nothing."""
    return "" if value is None else value.isoformat(sep=" ", timespec="seconds")


def clip(text: str, chars: int) -> str:
    """At most so many characters, the last an ellipsis where something is left out; a key is masked before it is cut."""
    if len(text) <= chars:
        return text
    return redact(text[: chars + _LONGEST_KEY_CHARS])[: max(0, chars - 1)].rstrip() + ELLIPSIS


def one_line(text: str, chars: int = 120) -> str:
    """A text on one line: white space runs become one space."""
    return clip(" ".join(text[: chars * 8].split()), chars)


def cell(value: object) -> str:
    """A value as the text of a table's cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3g}"
    if isinstance(value, datetime):
        return moment(value)
    return str(value)


def text_table(head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[bool]) -> str:
    """A table as text, columns padded to their widest cell, one line a row."""
    lines = [[one_line(cell(value)) for value in row] for row in rows]
    lines = [list(head), *lines] if any(head) else lines
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(_padded(line, widths, right) for line in lines)


def _padded(line: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    parts = [
        text.rjust(width) if to_right else text.ljust(width)
        for text, width, to_right in zip(line, widths, right, strict=True)
    ]
    return "  ".join(parts).rstrip()

"""What OpenClaw's policy writes where something was taken away, or in the place of a summary.

The words are ours. Texts that count in a size have the length of the original's, so that cuts and caps fall where they
do there; a test holds these lengths.
"""

from __future__ import annotations

import re
from datetime import datetime

HEADINGS = ("## Decisions", "## Open TODOs", "## Constraints/Rules", "## Pending user asks", "## Exact identifiers")
"""Lines that a safeguard summary must have."""

SUMMARY_OPENING = "What was said in this session before is left out; the summary below takes its place:\n\n<summary>\n"
SUMMARY_CLOSING = "\n</summary>"
SPLIT_TURN = "**How this turn began, short**\n\n"
DIVIDER = "\n\n---\n\n"
EXCERPTS = "\n\n## The last turns of it, shortened\n"
FAILURES = "\n\n## Failed calls:\n"
CUT_SUMMARY = "\n\n[The summary is cut here to keep its limit.]"
NO_HISTORY = "No history before"
WITHOUT_OUTPUT = "without any output"

REDISTILL_OPENING = (
    "<summary-so-far>\n"
    "A summary of what came before these messages. Work it in anew together with them: leave out what is outdated, "
    "repeated or replaced by newer things, but do not repeat it at length.\n\n"
)
REDISTILL_CLOSING = "\n</summary-so-far>"

BLANK_REQUEST = "(go ahead)"
MIDDLE = "\n\n\u2026\u2026\u2026 [the middle is left out here; head and tail follow] \u2026\u2026\u2026\n\n"
ELIDED = "[this result is left out: all results together were too long; run the command again if you need it...]"
OLD_PICTURE = "[picture left out; the model has seen it already]"
OLD_REFERENCE = "[reference left out; the model has seen what it names]"
PRUNED_PICTURE = "[picture left out of an older request]"
CLEARED = "[this old result was taken away.]"
UNREADABLE = "[message left out here, it was too large]"


def stub(earlier: str) -> str:
    """A summary written without a model: the five headings, with an earlier summary where it lacks them."""
    if earlier.strip() and has_sections(earlier):
        return earlier.strip()
    bodies = (earlier.strip() or NO_HISTORY, "None.", "None.", "None.", "None to record")
    return "\n\n".join(f"{heading}\n{body}" for heading, body in zip(HEADINGS, bodies, strict=True))


def has_sections(summary: str) -> bool:
    """Whether the five headings stand in a summary in their order."""
    lines = iter(line.strip() for line in summary.split("\n"))
    return all(any(line == heading for line in lines) for heading in HEADINGS)


def omitted(chars: int) -> str:
    """The notice at the end of a cut result."""
    return f"[... {max(1, chars)} characters are left out; ask for less at once to see the rest]"


def omitted_in_short(chars: int) -> str:
    """The same where room is scarce."""
    return f"[... {max(1, chars)} chars left out; ask for less]"


NOTICE = re.compile(
    r"(?:\[\.\.\. [0-9]+ (?:characters are left out; ask for less at once to see the rest|chars left out; ask for less)\]"
    r"|\n\n\[Of this result the first [0-9]+ and the last [0-9]+ of [0-9]+ characters are shown\.\])\Z"
)
"""Any of these notices at the end of a text."""


def trimmed(head: int, tail: int, chars: int) -> str:
    """The notice below a trimmed result."""
    return f"\n\n[Of this result the first {head} and the last {tail} of {chars} characters are shown.]"


def part_label(number: int, of: int, first: datetime | None, last: datetime | None) -> str:
    """The line above one of several partial summaries."""
    when = _when(first, last)
    if number == 1:
        return f"[Part 1 \u2014 oldest messages:{when}]\n"
    if number == of:
        return f"[Part {number} \u2014 most recent messages:{when}]\n"
    return f"[Part  {number}/{of}{when}]\n"


PART_LABEL = re.compile(r"^\[User\]: \[Part +[0-9]+[/ ]", re.MULTILINE)
"""Begins each partial summary in a request."""


def _when(first: datetime | None, last: datetime | None) -> str:
    if first is None or last is None:
        return ""
    start, end = (f"{one:%Y-%m-%d %H:%M}" for one in (first, last))
    return f" [{start} UTC]" if first == last else f" [{start} \u2014 {end} UTC]"


def partly(done: int, parts: int) -> str:
    """The note below a summary of which later parts failed."""
    return f"\n\n[This covers parts 1-{done} of {parts} only. Parts {done + 1}-{parts} failed, so that none of them is in here..]"


def too_large(role: str, tokens: int) -> str:
    """The note for a message that was too large to be summarised."""
    return f"[Long: {role} (~{round_half_up(tokens / 1_000)}K tokens) is not in this text.]"


def unavailable(messages: int, oversized: int) -> str:
    """The text that stands where no summary could be written."""
    return f"There were {messages} messages here ({oversized} too large). A summary of them could not be written..."


def round_half_up(value: float) -> int:
    """A number rounded as JavaScript does."""
    return int(value + 0.5)


def more_lines(count: int) -> str:
    """The last line of a list that was cut."""
    return f"(and {count} more.)"

"""What a summary of OpenClaw's is made of, read from its text: for displays and comparisons."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness_nb.core.utf16 import utf16_len
from harness_nb.policies.openclaw.wording import CUT_SUMMARY, DIVIDER, EXCERPTS, FAILURES, SPLIT_TURN

_MORE = re.compile(r"- \(and ([0-9]+) more\.\)|\(and ([0-9]+) more\.\)")
_ENTRY = re.compile(r"^- (?=User: |Assistant: |Tool output \()", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that may have been cut.

    Attributes:
        listed: Entries that are there.
        more: Entries that are left out.
    """

    listed: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class SummaryParts:
    """The parts of a summary.

    Attributes:
        body: The model's text or what stands in its place; where the rest fills the cap, what is left of the rest's
            beginning.
        is_cut: Whether the body was cut.
        split_turn: The part about a turn that was cut through; None for none.
        excerpt_chars: Length of each line of excerpts, in UTF-16 units; None without excerpts.
        failures: Failed calls; None for none.
        read: Files that were read.
        modified: Files that were modified.
    """

    body: str
    is_cut: bool
    split_turn: str | None = None
    excerpt_chars: tuple[int, ...] | None = None
    failures: Listed | None = None
    read: Listed = Listed()
    modified: Listed = Listed()


def parts_of(text: str) -> SummaryParts:
    """Takes a summary apart at its headings, from its end on."""
    rest, read = _without_list(text, "files-read")
    rest, modified = _without_list(rest, "files-modified")
    rest, failures = _cut_off(rest, FAILURES)
    rest, excerpts = _cut_off(rest, EXCERPTS)
    body, split = _cut_off(rest, SPLIT_TURN)
    return SummaryParts(
        body=body.removesuffix(DIVIDER).removesuffix("\n\n"),
        is_cut=CUT_SUMMARY in body,
        split_turn=None if split is None else SPLIT_TURN + split,
        excerpt_chars=None if excerpts is None else _line_chars(excerpts),
        failures=None if failures is None else _listed(failures, "- "),
        read=read,
        modified=modified,
    )


def _cut_off(text: str, heading: str) -> tuple[str, str | None]:
    """A text in two at the last place of a heading."""
    before, found, after = text.rpartition(heading)
    return (before, after) if found else (text, None)


def _without_list(text: str, tag: str) -> tuple[str, Listed]:
    before, found, after = text.rpartition(f"\n\n<{tag}>\n")
    inner, closed, behind = after.partition(f"\n</{tag}>")
    return (before + behind, _listed(inner, "")) if found and closed else (text, Listed())


def _listed(text: str, mark: str) -> Listed:
    lines = [line for line in text.split("\n") if line.startswith(mark) and line]
    more = [found for line in lines if (found := _MORE.fullmatch(line))]
    count = sum(int(found[1] or found[2]) for found in more)
    return Listed(len(lines) - len(more), count)


def _line_chars(text: str) -> tuple[int, ...]:
    """Lengths of the entries, each of which begins with a dash and may run over lines."""
    starts = [found.start() for found in _ENTRY.finditer(text)]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    return tuple(utf16_len(text[start:end]) for start, end in zip(starts, ends, strict=True))

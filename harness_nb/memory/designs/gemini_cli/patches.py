"""Unified diffs of context files: made, read strictly, and applied in memory."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness_nb.errors import StoreError

NO_FILE = "/dev/null"
_CONTEXT_LINES = 3
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_END = "\\ No newline at end of file\n"
_PREFIXES = ("a/", "b/")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place of a change.

    Attributes:
        start: First line of the old text, from 1; 0 where there is none.
        old: Lines of the old text, with their ends.
        new: Lines that take their place.
    """

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The change of one file.

    Attributes:
        path: The file, as the headers name it.
        is_new: Whether the file is made.
        hunks: Its places, first to last.
        source: The lines that it was read from.
    """

    path: str
    is_new: bool
    hunks: tuple[Hunk, ...]
    source: str = ""

    def applied(self, text: str | None) -> str:
        """The text of the file afterwards.

        Args:
            text: Its text before, None where there is no such file.

        Raises:
            StoreError: The change does not fit the text.
        """
        if self.is_new != (text is None):
            raise _unfit(self.path, "it is there already" if self.is_new else "there is no such file")
        lines = (text or "").splitlines(keepends=True)
        made: list[str] = []
        at = 0
        for hunk in self.hunks:
            start = max(0, hunk.start - 1) if hunk.old else hunk.start
            if start < at or tuple(lines[start : start + len(hunk.old)]) != hunk.old:
                raise _unfit(self.path, f"it has changed near line {hunk.start}")
            made += [*lines[at:start], *hunk.new]
            at = start + len(hunk.old)
        return "".join([*made, *lines[at:]])

    @property
    def before(self) -> str:
        """The lines that go, without their context."""
        return self._side(lambda hunk: (hunk.old, hunk.new))

    @property
    def after(self) -> str:
        """The lines that come, without their context."""
        return self._side(lambda hunk: (hunk.new, hunk.old))

    def _side(self, sides: Callable[[Hunk], tuple[Sequence[str], Sequence[str]]]) -> str:
        found: list[str] = []
        for hunk in self.hunks:
            own, other = sides(hunk)
            blocks = difflib.SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
            found += [line for tag, start, stop, _, _ in blocks if tag != "equal" for line in own[start:stop]]
        return "".join(found).strip("\n")


def made_patch(path: str, before: str | None, after: str) -> str:
    """The change of one file as a unified diff with three lines of context.

    Args:
        path: The file.
        before: Its text, None where it is to be made.
        after: Its new text.
    """
    old, new = (before or "").splitlines(keepends=True), after.splitlines(keepends=True)
    origin = NO_FILE if before is None else path
    lines = difflib.unified_diff(old, new, origin, path, n=_CONTEXT_LINES)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in lines)


def read_patches(text: str) -> tuple[FilePatch, ...]:
    """The changes in a text, one for each file, in order.

    Raises:
        StoreError: The text is no unified diff, a count is wrong, or the headers of a file do not agree.
    """
    lines = text.splitlines(keepends=True)
    found: list[FilePatch] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        patch, at = _file(lines, at)
        found.append(patch)
    if not found:
        raise _broken("it is empty")
    return tuple(found)


def _file(lines: Sequence[str], at: int) -> tuple[FilePatch, int]:
    """The change that begins at a line, and the line behind it."""
    start = at
    if at + 1 >= len(lines) or not lines[at].startswith("--- ") or not lines[at + 1].startswith("+++ "):
        raise _broken(f"line {at + 1} is no header of a file")
    old, new = (_header(lines[at + step]) for step in (0, 1))
    is_new = old == NO_FILE
    if new == NO_FILE or not (is_new or old == new):
        raise _broken(f"its headers name {old!r} and {new!r}")
    at += 2
    hunks: list[Hunk] = []
    while at < len(lines) and lines[at].startswith("@@"):
        hunk, at = _hunk(lines, at)
        hunks.append(hunk)
    if not hunks:
        raise _broken(f"nothing is said of {new!r}")
    return FilePatch(new, is_new, tuple(hunks), "".join(lines[start:at])), at


def _header(line: str) -> str:
    """The path in a header; the prefixes that git puts there are left out."""
    name = line[4:].rstrip("\r\n").split("\t")[0]
    return name[2:] if name.startswith(_PREFIXES) else name


def _hunk(lines: Sequence[str], at: int) -> tuple[Hunk, int]:
    """The place that begins at a line, and the line behind it."""
    head = _HUNK.match(lines[at])
    if head is None:
        raise _broken(f"line {at + 1} is no header of a place")
    wanted = tuple(1 if count is None else int(count) for count in (head[2], head[4]))
    old: list[str] = []
    new: list[str] = []
    at += 1
    while at < len(lines) and (len(old), len(new)) != wanted:
        for side in _sides(lines[at], at, old, new):
            side.append(lines[at][1:])
        at += 1
        if at < len(lines) and lines[at].startswith("\\"):
            _without_end(lines[at - 1], old, new)
            at += 1
    if (len(old), len(new)) != wanted:
        raise _broken(f"a place has {len(old)} and {len(new)} lines where {wanted[0]} and {wanted[1]} are announced")
    return Hunk(int(head[1]), tuple(old), tuple(new)), at


def _sides(line: str, at: int, old: list[str], new: list[str]) -> tuple[list[str], ...]:
    """The sides that a line belongs to."""
    sides = {" ": (old, new), "-": (old,), "+": (new,)}.get(line[:1])
    if sides is None:
        raise _broken(f"line {at + 1} is neither kept, taken out nor added")
    return sides


def _without_end(line: str, old: list[str], new: list[str]) -> None:
    """Takes the line feed off the last line of the sides that a line belongs to."""
    for mark, side in (("-", old), ("+", new)):
        if line[:1] in (mark, " ") and side:
            side[-1] = side[-1].rstrip("\n")


def _broken(why: str) -> StoreError:
    return StoreError(f"The patch can't be used: {why}.", "Reject it; what it was made from is mined again.")


def _unfit(path: str, why: str) -> StoreError:
    return StoreError(f"The change of {path!r} can't be made: {why}.", "Reject it, or make it by hand.", subject=path)

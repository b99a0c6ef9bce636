"""The daily log: one Markdown file a day, `YYYY-MM-DD.md`, that is only ever appended to.

Each append writes a heading with time, offset and source, and below it one line a fact. Where a fact comes from stands
behind it in a comment, which Markdown does not show:

    ## 09:30:12 +09:00 · flush

    - The lab uses Python 3.11. <!-- session s1 · messages 12-14 · user -->

A fact is one line: a line feed in it is written `<br>`. What could be taken for `<br>`, for a comment or for such an
escape is written `&lt;br>`, `&lt;!--`, `&amp;lt;`, so that a fact reads back as it was. Files edited by hand are read too:
each line that is neither blank nor a heading is an entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.store.files import append_text, make_folder, read_bytes, read_text, unusable, write_atomic
from harness_nb.store.locks import locked

Range = tuple[int, int]

ARCHIVE = "archive"
"""Folder below the logs where expired ones go."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HEADING = re.compile(r"## (\d\d:\d\d:\d\d) ([+-]\d\d:\d\d)(?: · (.*))?")
_COMMENT = re.compile(r"<!--((?:(?!<!--).)*)-->$")
_BULLET = re.compile(r"[-*] +")
_TO_ESCAPE = re.compile(r"\n|\r|<(?=br>|!--)|&(?=(?:lt|amp|#(?:10|13|38|60|62|183));)")
_TO_ESCAPE_IN_COMMENT = re.compile(r"[\r\n·<>&]")
_ESCAPED = re.compile(r"<br>|&(?:lt|amp|#(10|13|38|60|62|183));")
_ESCAPES = {"\n": "<br>", "<": "&lt;", "&": "&amp;"}
_ESCAPED_BY_NAME = {"<br>": "\n", "&lt;": "<", "&amp;": "&"}


@dataclass(frozen=True, slots=True)
class Fact:
    """Something worth remembering, and where it comes from.

    Attributes:
        text: The fact, without a bullet.
        session: Id of the session it was said in, or empty.
        messages: First and last index of the messages it stands in, both included, or None.
        role: Who said it: `user`, `assistant`, `tool`, or empty.
    """

    text: str
    session: str = ""
    messages: Range | None = None
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a daily log.

    Attributes:
        date: Day of the log.
        text: The fact.
        line: Number of its line in the file, from 1.
        time: Time of day, where the log says it.
        zone: Offset from UTC such as `+09:00`, or empty.
        source: What wrote it, or empty.
        session: Id of the session, or empty.
        messages: First and last index of the messages, or None.
        role: Who said it, or empty.
    """

    date: date
    text: str
    line: int
    time: time | None = None
    zone: str = ""
    source: str = ""
    session: str = ""
    messages: Range | None = None
    role: str = ""

    @property
    def moment(self) -> datetime | None:
        """When it was written, aware; None where the log does not say time and zone."""
        if self.time is None or not self.zone:
            return None
        return datetime.fromisoformat(f"{self.date.isoformat()}T{self.time.isoformat()}{self.zone}")


class DailyLog:
    """The daily logs of one workspace.

    Args:
        folder: Where the files are.
        clock: The time of an entry; its zone says which day it is.
        clean: Makes a text such as may be written.
    """

    def __init__(self, folder: Path, *, clock: Clock, clean: Callable[[str], str]) -> None:
        self.folder = folder
        self._clock = clock
        self._clean = clean

    def path(self, day: date) -> Path:
        """The file of a day."""
        return self.folder / f"{day.isoformat()}.md"

    def days(self) -> list[date]:
        """The days that have a log, oldest first. A file of any other name is none."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise unusable(self.folder, "read", error) from error
        return sorted(day for day in map(day_of, names) if day is not None)

    def append(
        self, facts: Sequence[Fact], *, source: str = "flush", now: datetime | None = None, since: date | None = None
    ) -> list[Fact]:
        """Appends facts to the log of today.

        A blank fact, and one whose text stands in that log already up to case and white space, is left out.

        Args:
            facts: The facts.
            source: What writes them.
            now: The aware time of the entries; by default the clock's.
            since: A fact from messages of a session that stands in a log from this day on and comes from the same ones is
                left out, too: after a crash messages are read again, perhaps on a later day. None: only today's log counts.

        Returns:
            The facts that were written, as they were written.

        Raises:
            StoreError: The log can't be read or written.
        """
        moment = now or self._clock.now()
        path = self.path(moment.date())
        try:
            make_folder(self.folder)
            with locked(path):
                before = read_text(path) or ""
                new = self._without_repeats(facts, before, self._between(since, moment.date()))
                if new:
                    append_text(path, _addition(before, new, _heading(moment, self._clean(source))))
                return new
        except OSError as error:
            raise unusable(path, "write", error) from error

    def entries(self, day: date | None = None) -> list[Entry]:
        """The entries of a day, or of all days, in the order written.

        Raises:
            StoreError: A log can't be read.
        """
        days = self.days() if day is None else [day]
        return [entry for one in days for entry in read_entries(read_text(self.path(one)) or "", one)]

    def archive(self, day: date, is_merged: Callable[[bytes], bool]) -> Path | None:
        """Moves the log of a day to `archive/`, if it may go; one that lies there already is added to.

        Args:
            day: The day.
            is_merged: Says of the log's bytes whether it may go; nobody appends to it in the meantime.

        Returns:
            Where it lies now, or None when it stayed or there is none.

        Raises:
            StoreError: A file can't be read or written.
        """
        path = self.path(day)
        target = path.parent / ARCHIVE / path.name
        try:
            if not path.exists():
                return None
            with locked(path):
                data = read_bytes(path)
                if data is None or not is_merged(data):
                    return None
                _move(path, target, data.decode("utf-8", "replace"))
                return target
        except OSError as error:
            raise unusable(path, "write", error) from error

    def _between(self, since: date | None, today: date) -> list[Entry]:
        """The entries of the days from `since` on and before today."""
        if since is None or since >= today:
            return []
        return [entry for day in self.days() if since <= day < today for entry in self.entries(day)]

    def _without_repeats(self, facts: Sequence[Fact], log: str, earlier: Sequence[Entry]) -> list[Fact]:
        seen = {_key(entry.text) for entry in read_entries(log, date.min)}
        new = []
        for fact in facts:
            text = self._clean(fact.text).strip()
            key = _key(text)
            if key and key not in seen and not any(_is_from(entry, fact, key) for entry in earlier):
                seen.add(key)
                new.append(replace(fact, text=text))
        return new


def _is_from(entry: Entry, fact: Fact, key: str) -> bool:
    """Whether an entry says a fact, by the key of its text, and was made of some of the same messages."""
    if entry.messages is None or fact.messages is None or entry.session != fact.session or _key(entry.text) != key:
        return False
    return entry.messages[0] <= fact.messages[1] and fact.messages[0] <= entry.messages[1]


def _move(path: Path, target: Path, text: str) -> None:
    """Moves a log; where the target is there, what it lacks is added. Done again after a crash, nothing is there twice."""
    there = read_text(target)
    if there is None:
        make_folder(target.parent)
        path.replace(target)
        return
    known = set(there.split("\n"))
    new = [line for line in text.split("\n") if line and line not in known]
    if new:
        write_atomic(target, "".join(f"{line}\n" for line in [*there.rstrip("\n").split("\n"), *new]))
    path.unlink()


def day_of(name: str) -> date | None:
    """The day that a file named exactly `YYYY-MM-DD.md` is the log of, None for any other name."""
    stem = name.removesuffix(".md")
    if stem == name or not _DAY.fullmatch(stem):
        return None
    with suppress(ValueError):
        return date.fromisoformat(stem)
    return None


def read_entries(text: str, day: date) -> list[Entry]:
    """The entries of a log's text."""
    entries = []
    heading = Entry(date=day, text="", line=0)
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line.startswith("#"):
            heading = _read_heading(line, day)
        elif line and (entry := _read_line(line, replace(heading, line=number))).text:
            entries.append(entry)
    return entries


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _heading(moment: datetime, source: str) -> str:
    clock, zone = f"{moment:%H:%M:%S}", f"{moment:%z}"
    return f"## {clock} {zone[:3]}:{zone[3:5]} · {' '.join(source.split())}"


def _addition(before: str, facts: Sequence[Fact], heading: str) -> str:
    lines = [_line(fact) for fact in facts]
    last = next((line for line in reversed(before.split("\n")) if line.startswith("#")), "")
    if last != heading:
        lines = [*([""] if before else []), heading, "", *lines]
    return "".join(f"{line}\n" for line in lines)


def _line(fact: Fact) -> str:
    line = "- " + _TO_ESCAPE.sub(lambda found: _ESCAPES.get(found[0]) or f"&#{ord(found[0])};", fact.text)
    where = [f"session {_in_comment(fact.session)}"] if fact.session else []
    if fact.messages is not None:
        first, last = fact.messages
        where.append(f"messages {first}-{last}" if first != last else f"message {first}")
    if fact.role:
        where.append(_in_comment(fact.role))
    return f"{line} <!-- {' · '.join(where)} -->" if where else line


def _in_comment(text: str) -> str:
    return _TO_ESCAPE_IN_COMMENT.sub(lambda found: f"&#{ord(found[0])};", text)


def _read_heading(line: str, day: date) -> Entry:
    found = _HEADING.fullmatch(line)
    if found is not None:
        with suppress(ValueError):
            said = time.fromisoformat(found[1])
            return Entry(date=day, text="", line=0, time=said, zone=found[2], source=found[3] or "")
    return Entry(date=day, text="", line=0, source=line.lstrip("# "))


def _read_line(line: str, heading: Entry) -> Entry:
    comment = _COMMENT.search(line)
    text = line[: comment.start()] if comment else line
    bullet = _BULLET.match(text)
    entry = replace(heading, text=_unescaped(text[bullet.end() if bullet else 0 :].strip()))
    for field in comment[1].split(" · ") if comment else ():
        entry = _with_field(entry, field.strip())
    return entry


def _with_field(entry: Entry, field: str) -> Entry:
    name, _, value = field.partition(" ")
    if name == "session":
        return replace(entry, session=_unescaped(value))
    if found := re.fullmatch(r"messages? (\d+)(?:-(\d+))?", field):
        return replace(entry, messages=(int(found[1]), int(found[2] or found[1])))
    return replace(entry, role=_unescaped(field))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPED_BY_NAME.get(found[0]) or chr(int(found[1])), text)

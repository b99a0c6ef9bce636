"""Curated memory merged with new log entries: repeats go, what is newer replaces what it corrects, the budget holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from harness_nb.model.alike import Alike
from harness_nb.model.cues import bare_fact, fact_weight, topic_of
from harness_nb.model.sentences import content_words, normal, trigrams

NEAR_REPEAT = 0.8
"""Entries are near repeats when they have this share of all their runs of three words in common; the newer one stays."""

_HEADING = re.compile(r"^#{1,6}\s")
_BULLET = re.compile(r"^\s{0,3}[-*+]\s+")
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_CHANGED = r"(?:changed|moved|switched|renamed|updated|raised|lowered|increased|reduced|extended|postponed)"
_SUBJECT = re.compile(
    rf"^(?P<subject>.{{3,80}}?)\s*(?:\b(?:is|are|was|were|will be|becomes|became|{_CHANGED})\b|:|=|是|は)(?P<value>.+)$",
    re.DOTALL,
)
_CORRECTS = re.compile(
    rf"\b(?:now|actually|instead|no longer|not any ?more|becomes|became|{_CHANGED}|correction|corrected|new)\b|改|現在|现在",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|without|\w+n't)\b|不|没", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_LONGEST_VALUE_WORDS = 8
_FILLERS = frozenset(("now", "new", "actually"))
_SAME_SHARE = 0.85  # of the words of both; a repeat may lack one word in seven
_MOST_COMPARED = 20  # of the entries about one subject, the newest
_CHARS_PER_TOKEN = 4


class _Entry:
    """A bullet with what belongs to it, or a paragraph; read once, compared often."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def is_bullet(self) -> bool:
        return _BULLET.match(self.text) is not None

    @cached_property
    def fact(self) -> str:
        return bare_fact(_BULLET.sub("", _COMMENT.sub("", self.text)))

    @cached_property
    def words(self) -> frozenset[str]:
        """Content words, each with the figures of all in order and whether it is denied: other figures, other words."""
        words = content_words(self.fact) or [normal(self.fact)]
        figures = [word for word in words if any(map(str.isdigit, word))]
        stamp = " ".join(("not" if _NEGATION.search(self.fact) else "", *figures))
        return frozenset(f"{word} {stamp}" for word in words)

    @cached_property
    def runs(self) -> frozenset[str]:
        return frozenset(trigrams(_COMMENT.sub("", self.text)))

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Content words before "is" or the like; empty for other sentences."""
        found = _SUBJECT.match(self.fact)
        return tuple(word for word in content_words(found["subject"]) if word not in _FILLERS) if found else ()

    @cached_property
    def value(self) -> str:
        """What stands behind the subject; empty where it is long, as what says so much is hardly a value."""
        found = _SUBJECT.match(self.fact)
        return found["value"] if found and len(found["value"].split()) <= _LONGEST_VALUE_WORDS else ""

    @cached_property
    def says_changed(self) -> bool:
        return _CORRECTS.search(self.fact) is not None

    @cached_property
    def worth(self) -> int:
        return fact_weight(_BULLET.sub("", self.text))


@dataclass(slots=True)
class _Section:
    """A heading and what stands below it; None where an entry was taken out."""

    heading: str
    entries: list[_Entry | None] = field(default_factory=list)

    @property
    def left(self) -> list[_Entry]:
        """The entries that are still there."""
        return [entry for entry in self.entries if entry is not None]


class _Memory:
    """The sections, with their bullets by what a repeat or a correction would share with them.

    Args:
        sections: The memory so far; of its own repeats the first stays.
        facts: What will be placed.
    """

    def __init__(self, sections: list[_Section], facts: Sequence[_Entry]) -> None:
        self.sections = sections
        self.by_age: dict[_Entry, None] = {}
        there = [entry for section in sections for entry in section.left]
        bullets = [entry for entry in (*there, *facts) if entry.is_bullet]
        self._by_words: Alike[_Entry] = Alike(_SAME_SHARE, (one.words for one in bullets))
        self._by_runs: Alike[_Entry] = Alike(NEAR_REPEAT, (one.runs for one in bullets))
        self._by_subject: dict[tuple[str, ...], dict[_Entry, None]] = {}
        self._places: dict[_Entry, tuple[_Section, int]] = {}
        self._homes = {normal(section.heading.lstrip("# ")): section for section in reversed(sections)}
        for section in sections:
            for at, entry in enumerate(section.left):
                if entry.is_bullet and self._repeats(entry):
                    section.entries[at] = None
                else:
                    self._put(entry, section, at)

    def place(self, fact: _Entry) -> None:
        """Puts a fact where the first one that it repeats or corrects stands, else at the end of its topic."""
        former = self._repeats(fact) or self._corrected(fact)
        places = [self._take_out(entry) for entry in former]
        if places:
            self._put(fact, *places[0])
        else:
            home = self._home_of(fact)
            home.entries.append(None)
            self._put(fact, home, len(home.entries) - 1)

    def _put(self, entry: _Entry, section: _Section, at: int) -> None:
        section.entries[at] = entry
        self.by_age[entry] = None
        if entry.is_bullet:
            self._places[entry] = (section, at)
            self._by_words.add(entry, entry.words)
            self._by_runs.add(entry, entry.runs)
            self._by_subject.setdefault(entry.subject, {})[entry] = None

    def _take_out(self, entry: _Entry) -> tuple[_Section, int]:
        section, at = self._places.pop(entry)
        section.entries[at] = None
        del self.by_age[entry]
        self._by_words.remove(entry)
        self._by_runs.remove(entry)
        del self._by_subject[entry.subject][entry]
        return section, at

    def _repeats(self, fact: _Entry) -> list[_Entry]:
        """What says the same in the same words or nearly the same text, in the order it was put there."""
        return list(dict.fromkeys((*self._by_words.find(fact.words), *self._by_runs.find(fact.runs))))

    def _corrected(self, fact: _Entry) -> list[_Entry]:
        """The newest that has the same subject and another value, if any."""
        about = self._by_subject.get(fact.subject, {}) if fact.subject else {}
        newest = islice(reversed(about), _MOST_COMPARED)
        return list(islice((entry for entry in newest if _corrects(fact, entry)), 1))

    def _home_of(self, fact: _Entry) -> _Section:
        """The section of the fact's topic, which is made when there is none."""
        topic = topic_of(fact.text)
        home = self._homes.get(normal(topic))
        if home is None:
            home = self._homes[normal(topic)] = _Section(f"## {topic}")
            self.sections.append(home)
        return home


def merged(memory: str, entries: str, budget_tokens: int) -> str:
    """The whole new curated memory; no two bullets in it are near repeats.

    Args:
        memory: The curated memory so far, Markdown. Its headings and order are kept.
        entries: New log entries, oldest first; only their bullets count, or their lines where there are none.
        budget_tokens: Largest size, four characters a token. The least weighty and oldest bullets go first.
    """
    facts = _new_facts(entries)
    notes = _Memory(_sections(memory), facts)
    for fact in facts:
        notes.place(fact)
    _trim(notes, budget_tokens * _CHARS_PER_TOKEN)
    return _written(notes.sections)


def _sections(markdown: str) -> list[_Section]:
    sections = [_Section("")]
    is_fenced = is_open = False
    last = _Entry("")
    for line in markdown.splitlines():
        entries = sections[-1].entries
        if not is_fenced and _HEADING.match(line):
            sections.append(_Section(line.strip()))
        elif is_fenced or (is_open and line.strip() and not _BULLET.match(line)):
            last.text += f"\n{line}"
        elif line.strip():
            last = _Entry(line.rstrip())
            entries.append(last)
        is_fenced ^= line.lstrip().startswith(("```", "~~~"))
        is_open = bool(line.strip() and sections[-1].entries)
    return sections


def _new_facts(entries: str) -> list[_Entry]:
    lines = [line for line in _COMMENT.sub("", entries).splitlines() if line.strip() and not _HEADING.match(line)]
    bullets = [line for line in lines if _BULLET.match(line)]
    return [_Entry(f"- {_BULLET.sub('', line).strip()}") for line in bullets or lines]


def _corrects(new: _Entry, old: _Entry) -> bool:
    """Of one subject: another value. A subject of one word needs short values, with figures or a word that says so."""
    if len(new.subject) > 1:
        return True
    have_figures = _DIGIT.search(new.value) is not None and _DIGIT.search(old.value) is not None
    return bool(new.value and old.value) and (have_figures or new.says_changed)


def _trim(notes: _Memory, most_chars: int) -> None:
    """Takes out what is above the budget: bullets before prose, the least weighty first, of equal ones the older.

    A heading goes with the last entry below it, and headings that had none at the very end.
    """
    excess = len(_written(notes.sections)) - most_chars
    if excess <= 0:
        return
    home = {entry: section for section in notes.sections for entry in section.left}
    left = {id(section): len(section.left) for section in notes.sections}
    out: set[_Entry] = set()
    for entry in sorted(notes.by_age, key=lambda entry: (not entry.is_bullet, entry.worth)):
        if excess <= 0:
            break
        out.add(entry)
        excess -= len(entry.text) + 1
        section = home[entry]
        left[id(section)] -= 1
        if not left[id(section)]:
            excess -= len(section.heading) + 2
            section.heading = ""
    for section in notes.sections:
        section.entries = [entry for entry in section.left if entry not in out]
    while excess > 0 and any(section.heading for section in notes.sections):
        last = next(section for section in reversed(notes.sections) if section.heading)
        excess -= len(last.heading) + 2
        last.heading = ""


def _written(sections: Iterable[_Section]) -> str:
    """Markdown with a blank line after headings and paragraphs; bullets stay together."""
    blocks: list[str] = []
    for section in sections:
        blocks += [section.heading] if section.heading else []
        run: list[str] = []
        for entry in section.left:
            if not entry.is_bullet:
                blocks += ["\n".join(run)] if run else []
                run = []
                blocks.append(entry.text)
            else:
                run.append(entry.text)
        blocks += ["\n".join(run)] if run else []
    return "\n\n".join(blocks) + "\n" if blocks else ""

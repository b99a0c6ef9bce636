"""Curated memory merged with new log entries: repeats go, what is newer replaces what it corrects, the budget holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from harness_nb.model.cues import bare_fact, fact_weight, topic_of
from harness_nb.model.sentences import content_words, normal

_HEADING = re.compile(r"^#{1,6}\s")
_BULLET = re.compile(r"^\s{0,3}[-*+]\s+")
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_SUBJECT = re.compile(
    r"^(?P<subject>.{3,80}?)\s*(?:\b(?:is|are|was|were|will be)\b|:|=|是|は)(?P<value>.+)$", re.DOTALL
)
_CORRECTS = re.compile(
    r"\b(?:now|actually|instead|no longer|not any ?more|changed|moved|correction|corrected|updated|new)\b|改|現在|现在",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|no|without|\w+n't)\b|不|没", re.IGNORECASE)
_FILLERS = frozenset(("now", "new", "actually"))
_SAME_SHARE = 0.85
_RAREST = 3  # a repeat may lack one word in seven
_CHARS_PER_TOKEN = 4


class _Entry:
    """A bullet with what belongs to it, or a paragraph; read once, compared often."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def is_bullet(self) -> bool:
        return _BULLET.match(self.text) is not None

    @cached_property
    def fact(self) -> str:
        return bare_fact(_BULLET.sub("", _COMMENT.sub("", self.text)))

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(content_words(self.fact))

    @cached_property
    def figures(self) -> frozenset[str]:
        return frozenset(word for word in self.words if any(map(str.isdigit, word)))

    @cached_property
    def is_negated(self) -> bool:
        return _NEGATION.search(self.fact) is not None

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Content words before "is" or the like; empty for other sentences."""
        found = _SUBJECT.match(self.fact)
        return tuple(word for word in content_words(found["subject"]) if word not in _FILLERS) if found else ()

    @cached_property
    def has_figure_as_value(self) -> bool:
        found = _SUBJECT.match(self.fact)
        return found is not None and re.search(r"\d", found["value"]) is not None

    @cached_property
    def worth(self) -> int:
        return fact_weight(_BULLET.sub("", self.text))


@dataclass(slots=True)
class _Section:
    """A heading and what stands below it."""

    heading: str
    entries: list[_Entry] = field(default_factory=list)


class _Memory:
    """The sections, and their bullets by the words that a repeat or a correction would share with them."""

    def __init__(self, sections: list[_Section]) -> None:
        self.sections = sections
        self._homes: dict[_Entry, _Section] = {}  # of the bullets that are still there
        self._by_word: dict[str, list[_Entry]] = {}
        self._by_subject: dict[tuple[str, ...], list[_Entry]] = {}
        for section in sections:
            for entry in section.entries:
                self._index(entry, section)

    def place(self, fact: _Entry) -> None:
        """Puts a fact where the one it repeats or corrects stands, else at the end of its topic."""
        former = next(
            (entry for entry in self._alike(fact) if _says_the_same(fact, entry) or _corrects(fact, entry)), None
        )
        if former is None:
            home = self._section_of_topic(fact)
            home.entries.append(fact)
        else:
            home = self._homes.pop(former)
            home.entries[home.entries.index(former)] = fact
        self._index(fact, home)

    def _index(self, entry: _Entry, home: _Section) -> None:
        if entry.is_bullet:
            self._homes[entry] = home
            for word in entry.words or {normal(entry.fact)}:
                self._by_word.setdefault(word, []).append(entry)
            self._by_subject.setdefault(entry.subject, []).append(entry)

    def _alike(self, fact: _Entry) -> list[_Entry]:
        """Bullets with the same subject, and those that share one of the fact's rarest words: a repeat has nearly all."""
        words = sorted(fact.words or {normal(fact.fact)}, key=lambda word: (len(self._by_word.get(word, ())), word))
        rarest = [entry for word in words[:_RAREST] for entry in self._by_word.get(word, ())]
        same_subject = self._by_subject.get(fact.subject, ()) if fact.subject else ()
        return [entry for entry in (*same_subject, *rarest) if entry in self._homes]

    def _section_of_topic(self, fact: _Entry) -> _Section:
        """The section of the fact's topic, which is made when there is none."""
        topic = topic_of(fact.text)
        home = next((one for one in self.sections if normal(one.heading.lstrip("# ")) == normal(topic)), None)
        if home is None:
            home = _Section(f"## {topic}")
            self.sections.append(home)
        return home


def merged(memory: str, entries: str, budget_tokens: int) -> str:
    """The whole new curated memory.

    Args:
        memory: The curated memory so far, Markdown. Its headings and order are kept.
        entries: New log entries, oldest first; only their bullets count, or their lines where there are none.
        budget_tokens: Largest size, four characters a token. The least weighty and oldest bullets go first.
    """
    notes = _Memory(_sections(memory))
    for fact in _new_facts(entries):
        notes.place(fact)
    _trim(notes.sections, budget_tokens * _CHARS_PER_TOKEN)
    return _written(notes.sections)


def _sections(markdown: str) -> list[_Section]:
    sections = [_Section("")]
    is_fenced = is_open = False
    for line in markdown.splitlines():
        entries = sections[-1].entries
        if not is_fenced and _HEADING.match(line):
            sections.append(_Section(line.strip()))
        elif is_fenced or (is_open and line.strip() and not _BULLET.match(line)):
            entries[-1].text += f"\n{line}"
        elif line.strip():
            entries.append(_Entry(line.rstrip()))
        is_fenced ^= line.lstrip().startswith(("```", "~~~"))
        is_open = bool(line.strip() and sections[-1].entries)
    return sections


def _new_facts(entries: str) -> list[_Entry]:
    lines = [line for line in _COMMENT.sub("", entries).splitlines() if line.strip() and not _HEADING.match(line)]
    bullets = [line for line in lines if _BULLET.match(line)]
    return [_Entry(f"- {_BULLET.sub('', line).strip()}") for line in bullets or lines]


def _says_the_same(new: _Entry, old: _Entry) -> bool:
    if not new.words or not old.words:
        return normal(new.fact) == normal(old.fact)
    same = len(new.words & old.words) >= _SAME_SHARE * len(new.words | old.words)
    return same and new.figures == old.figures and new.is_negated == old.is_negated


def _corrects(new: _Entry, old: _Entry) -> bool:
    """Same subject, another value: plain only for a figure, a subject of two words, or with a word that says so."""
    is_plain = len(new.subject) > 1 or (new.has_figure_as_value and old.has_figure_as_value)
    return bool(new.subject) and new.subject == old.subject and (is_plain or _CORRECTS.search(new.fact) is not None)


def _trim(sections: list[_Section], most_chars: int) -> None:
    """Takes entries out until the budget holds: bullets before prose, the least weighty first, of equal ones the older."""
    excess = len(_written(sections)) - most_chars
    if excess <= 0:
        return
    out: set[_Entry] = set()
    left = {id(section): len(section.entries) for section in sections}
    places = [(section, entry) for section in sections for entry in section.entries]
    for section, entry in sorted(places, key=lambda place: (not place[1].is_bullet, place[1].worth)):
        if excess <= 0:
            break
        out.add(entry)
        excess -= len(entry.text) + 1
        left[id(section)] -= 1
        if not left[id(section)]:
            excess -= len(section.heading) + 2
            section.heading = ""
    for section in sections:
        section.entries = [entry for entry in section.entries if entry not in out]


def _written(sections: Iterable[_Section]) -> str:
    """Markdown with a blank line after headings and paragraphs; bullets stay together."""
    blocks: list[str] = []
    for section in sections:
        blocks += [section.heading] if section.heading else []
        last: _Entry | None = None
        for entry in section.entries:
            if last is not None and last.is_bullet and entry.is_bullet:
                blocks[-1] += f"\n{entry.text}"
            else:
                blocks.append(entry.text)
            last = entry
    return "\n\n".join(blocks) + "\n" if blocks else ""

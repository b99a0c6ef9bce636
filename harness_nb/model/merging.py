"""Curated memory merged with new log entries: repeats go, what is newer replaces what it corrects, the budget holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

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
_SAME_SHARE = 0.85
_CHARS_PER_TOKEN = 4


@dataclass(slots=True)
class _Section:
    """A heading and what stands below it, a bullet or paragraph each."""

    heading: str
    entries: list[str] = field(default_factory=list)


def merged(memory: str, entries: str, budget_tokens: int) -> str:
    """The whole new curated memory.

    Args:
        memory: The curated memory so far, Markdown. Its headings and order are kept.
        entries: New log entries, oldest first; only their bullets count, or their lines where there are none.
        budget_tokens: Largest size, four characters a token. The least weighty and oldest bullets go first.
    """
    sections = _sections(memory)
    for fact in _new_facts(entries):
        _place(sections, fact)
    _trim(sections, budget_tokens * _CHARS_PER_TOKEN)
    return _written(sections)


def _sections(markdown: str) -> list[_Section]:
    sections = [_Section("")]
    fenced = False
    is_open = False
    for line in markdown.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        if not fenced and _HEADING.match(line):
            sections.append(_Section(line.strip()))
            is_open = False
        elif fenced or (is_open and line.strip() and not _BULLET.match(line)):
            sections[-1].entries[-1] += f"\n{line}"
        elif line.strip():
            sections[-1].entries.append(line.rstrip())
        is_open = bool(line.strip()) and bool(sections[-1].entries)
        fenced ^= is_fence
    return sections


def _new_facts(entries: str) -> list[str]:
    lines = [line for line in _COMMENT.sub("", entries).splitlines() if line.strip() and not _HEADING.match(line)]
    bullets = [_BULLET.sub("", line).strip() for line in lines if _BULLET.match(line)]
    return bullets or [line.strip() for line in lines]


def _place(sections: list[_Section], fact: str) -> None:
    """Puts a fact where the one it repeats or corrects stands, else at the end of its topic."""
    for section in sections:
        for at, entry in enumerate(section.entries):
            if _replaces(fact, entry):
                section.entries[at] = f"- {fact}"
                return
    topic = topic_of(fact)
    home = next((one for one in sections if normal(one.heading.lstrip("# ")) == normal(topic)), None)
    if home is None:
        home = _Section(f"## {topic}")
        sections.append(home)
    home.entries.append(f"- {fact}")


def _replaces(fact: str, entry: str) -> bool:
    """Whether the newer fact says the same as an entry, or corrects it."""
    if not _BULLET.match(entry):
        return False
    old = bare_fact(_BULLET.sub("", _COMMENT.sub("", entry)))
    new = bare_fact(fact)
    return _says_the_same(new, old) or _corrects(new, old)


def _says_the_same(new: str, old: str) -> bool:
    ours, theirs = set(content_words(new)), set(content_words(old))
    if not ours or not theirs:
        return normal(new) == normal(old)
    figures = {word for word in ours ^ theirs if any(map(str.isdigit, word))}
    negated = bool(_negations(new)) != bool(_negations(old))
    return not figures and not negated and len(ours & theirs) >= _SAME_SHARE * len(ours | theirs)


def _negations(text: str) -> list[str]:
    return re.findall(r"\b(?:not|never|no|without|\w+n't)\b|不|没", text, re.IGNORECASE)


def _corrects(new: str, old: str) -> bool:
    """Same subject, another value: plain only for a figure, a subject of two words, or with a word that says so."""
    ours, theirs = _SUBJECT.match(new), _SUBJECT.match(old)
    if ours is None or theirs is None:
        return False
    subject, former = content_words(ours["subject"]), content_words(theirs["subject"])
    fillers = {"now", "new", "actually"}
    subject, former = ([word for word in words if word not in fillers] for words in (subject, former))
    both_figures = bool(re.search(r"\d", ours["value"])) and bool(re.search(r"\d", theirs["value"]))
    return bool(subject) and subject == former and (len(subject) > 1 or both_figures or bool(_CORRECTS.search(new)))


def _trim(sections: list[_Section], most_chars: int) -> None:
    """Takes bullets out until the budget holds: the least weighty first, of equal ones the older; then the rest."""
    excess = len(_written(sections)) - most_chars
    candidates = [(section, entry) for section in sections for entry in section.entries]
    order = sorted(
        range(len(candidates)), key=lambda at: (not _BULLET.match(candidates[at][1]), _worth(candidates[at][1]), at)
    )
    for at in order:
        if excess <= 0:
            return
        section, entry = candidates[at]
        section.entries.remove(entry)
        excess -= len(entry) + 1
        if not section.entries:
            excess -= len(section.heading) + 2
            section.heading = ""


def _worth(entry: str) -> int:
    return fact_weight(bare_fact(_BULLET.sub("", entry)))


def _written(sections: Iterable[_Section]) -> str:
    """Markdown with a blank line after headings and paragraphs; bullets stay together."""
    blocks: list[str] = []
    for section in sections:
        blocks += [section.heading] if section.heading else []
        for at, entry in enumerate(section.entries):
            follows = at > 0 and _BULLET.match(entry) and _BULLET.match(section.entries[at - 1])
            if follows:
                blocks[-1] += f"\n{entry}"
            else:
                blocks.append(entry)
    return "\n\n".join(blocks) + "\n" if blocks else ""

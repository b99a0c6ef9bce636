"""Dreaming: notes are read at night, what recurs comes forward, and what passes the gates is proposed for MEMORY.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from harness_nb.memory.designs.openclaw.config import OpenClawDreamingConfig
from harness_nb.memory.designs.openclaw.evidence import Evidence, evidence_of, passes, score
from harness_nb.memory.designs.openclaw.ranking import likeness, likeness_words
from harness_nb.store.files import read_text

CHARS_PER_TOKEN = 4

_DAILY_SCORE = 0.62
_LEAST_CHARS, _MOST_CHARS, _MOST_LINES = 8, 280, 4
_TRUTHS, _TRUTH_LIKENESS, _LEAST_CONFIDENCE = 3, 0.88, 0.45
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SECTION = re.compile(r"^## Promoted on (\d{4}-\d\d-\d\d)\n(?:(?!^#{1,2} ).*\n?)*", re.MULTILINE)
_KEY = re.compile(r"<!-- promoted (\S+) ")
_TRANSCRIPT = re.compile(r"^\s*(?:user|assistant|system|tool)\s*:|<conversation>|<!-- promoted ", re.IGNORECASE)


class Line(NamedTuple):
    """Some lines of a note that belong together."""

    path: str
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What came of one night.

    Attributes:
        evidence: All evidence afterwards, by key.
        staged: What the light phase took in.
        themes: What many lines are about, with their strength.
        truths: What the REM phase holds for true.
        promoted: What is proposed, with its score, best first.
    """

    evidence: dict[str, Evidence]
    staged: tuple[Evidence, ...] = ()
    themes: tuple[tuple[str, float], ...] = ()
    truths: tuple[Evidence, ...] = ()
    promoted: tuple[tuple[Evidence, float], ...] = ()


def dreamt(folder: Path, known: dict[str, Evidence], now: datetime, config: OpenClawDreamingConfig) -> Night:
    """One night: light, REM and deep.

    Args:
        folder: The workspace.
        known: The evidence so far.
        now: The aware time, in the user's zone.
        config: Look-back, limits and gates.
    """
    evidence = _taken_in(notes(folder, now, config.light_days), known, now)
    staged = _staged(evidence, now, config)
    evidence = _taken_in(notes(folder, now, config.rem_days), evidence, now)
    recent = [one for one in evidence.values() if one.age_days(now) <= config.rem_days]
    truths = _truths(recent)
    for keys, name in ((staged, "light_hits"), (truths, "rem_hits")):
        for one in keys:
            held = evidence[one.key]
            evidence[one.key] = replace(held, **{name: getattr(held, name) + 1}, dreamt_at=now.isoformat())
    promoted = _chosen(folder, evidence, now, config)
    for one, _ in promoted:
        evidence[one.key] = replace(evidence[one.key], promoted_at=now.isoformat())
    return Night(
        evidence=evidence, staged=tuple(staged), themes=_themes(recent, config), truths=tuple(truths), promoted=promoted
    )


# Reading the notes


def notes(folder: Path, now: datetime, days: int) -> Iterator[Line]:
    """The lines of the daily notes of the last days."""
    for back in range(days):
        name = f"memory/{now - timedelta(days=back):%Y-%m-%d}.md"
        yield from lines_of(name, read_text(folder / name) or "")


def lines_of(name: str, text: str) -> Iterator[Line]:
    """A note in points and paragraphs of at most four lines and 280 characters; headings and short ones are left out."""
    held: list[str] = []
    start = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        bare = _COMMENT.sub("", line)
        ends = not bare.strip() or _HEADING.match(bare) or _BULLET.match(bare) or len(held) == _MOST_LINES
        if ends and held:
            joined = " ".join(held)[:_MOST_CHARS]
            if len(joined) >= _LEAST_CHARS:
                yield Line(name, start, joined)
            held = []
        if bare.strip() and not _HEADING.match(bare):
            start = start if held else number
            held.append(_BULLET.sub("", bare, count=1).strip())


def _taken_in(lines: Iterator[Line], known: dict[str, Evidence], now: datetime) -> dict[str, Evidence]:
    """The evidence with one signal for each line that was not read on this day yet."""
    found = dict(known)
    for line in lines:
        if _TRANSCRIPT.search(line.text):
            continue
        new = evidence_of(line.path, line.number, line.text)
        held = replace(found.get(new.key, new), line=line.number)
        query = f"daily:{line.path}:{now.date().isoformat()}"
        found[new.key] = held if held.knows(query) else held.seen("daily", query, _DAILY_SCORE, now)
    return found


# Light and REM


def _staged(evidence: dict[str, Evidence], now: datetime, config: OpenClawDreamingConfig) -> list[Evidence]:
    """Lines of the last days, the strongest of those that say the same."""
    recent = [one for one in evidence.values() if one.age_days(now) <= config.light_days]
    ranked = sorted(recent, key=lambda one: (-score(one, now, config.deep_half_life_days), one.key))
    return _different(ranked, config.light_dedupe)[: config.light_limit]


def _different(ranked: Sequence[Evidence], most_alike: float) -> list[Evidence]:
    kept: list[tuple[Evidence, frozenset[str]]] = []
    for one in ranked:
        words = likeness_words(one.snippet)
        if all(likeness(words, other) < most_alike for _, other in kept):
            kept.append((one, words))
    return [one for one, _ in kept]


def _themes(recent: Sequence[Evidence], config: OpenClawDreamingConfig) -> tuple[tuple[str, float], ...]:
    """What many lines are about, the strongest first."""
    counts: dict[str, int] = {}
    for tag in (tag for one in recent for tag in one.tags):
        counts[tag] = counts.get(tag, 0) + 1
    strengths = ((tag, min(1.0, 2 * count / len(recent))) for tag, count in counts.items())
    strong = [pair for pair in strengths if pair[1] >= config.rem_min_strength]
    return tuple(sorted(strong, key=lambda pair: (-pair[1], pair[0]))[: config.rem_limit])


def _truths(recent: Sequence[Evidence]) -> list[Evidence]:
    """The few lines that came up most surely."""
    sure = [(confidence(one), one) for one in recent]
    ranked = [
        one for sureness, one in sorted(sure, key=lambda pair: (-pair[0], pair[1].key)) if sureness >= _LEAST_CONFIDENCE
    ]
    return _different(ranked, _TRUTH_LIKENESS)[:_TRUTHS]


def confidence(one: Evidence) -> float:
    """How sure it is that a line holds: by its scores, recalls, days and what it is about."""
    shares = (one.average, min(1.0, one.recalls / 3), min(1.0, len(one.days) / 3), min(1.0, len(one.tags) / 6))
    return sum(weight * share for weight, share in zip((0.45, 0.25, 0.2, 0.1), shares, strict=True))


# Deep


def _chosen(
    folder: Path, evidence: dict[str, Evidence], now: datetime, config: OpenClawDreamingConfig
) -> tuple[tuple[Evidence, float], ...]:
    """The lines that pass the gates and are still in their note."""
    able = [one for one in evidence.values() if passes(one, now, config) and not _TRANSCRIPT.search(one.snippet)]
    there = [one for one in able if is_there(folder, one)]
    ranked = [(one, score(one, now, config.deep_half_life_days)) for one in there]
    return tuple(sorted(ranked, key=lambda pair: (-pair[1], pair[0].key))[: config.deep_limit])


def is_there(folder: Path, one: Evidence) -> bool:
    """Whether a line is still in its note, word for word."""
    text = _COMMENT.sub("", read_text(folder / one.path) or "")
    return any(one.snippet in " ".join(line.text.split()) for line in lines_of(one.path, text))


def promotion(promoted: Sequence[tuple[Evidence, float]], now: datetime, config: OpenClawDreamingConfig) -> str:
    """The section with what is promoted, each line with its key and score in a comment."""
    most = config.snippet_tokens * CHARS_PER_TOKEN
    lines = [
        f"- {one.snippet[:most]} <!-- promoted {one.key} score={value:.3f} from={one.path}#{one.line} -->"
        for one, value in promoted
    ]
    return f"## Promoted on {now:%Y-%m-%d}\n" + "\n".join(lines) + "\n"


def with_promotion(memory: str, section: str, budget_chars: int) -> str:
    """MEMORY.md with a section more; the oldest promotions give way where it would be above the budget, nothing else.

    Lines that it holds already are not added again.
    """
    known = set(_KEY.findall(memory))
    head, *lines = section.rstrip("\n").split("\n")
    new = [line for line in lines if not (found := _KEY.search(line)) or found[1] not in known]
    if not new:
        return memory
    added = "\n".join((head, *new)) + "\n"
    while len(memory) + len(added) + 1 > budget_chars:
        oldest = min(_SECTION.finditer(memory), key=lambda found: found[1], default=None)
        if oldest is None:
            break
        memory = memory[: oldest.start()] + memory[oldest.end() :]
    before = memory.rstrip("\n")
    return f"{before}\n\n{added}" if before else added


def diary(night: Night, now: datetime) -> str:
    """What happened in a night, for a person to read."""
    lines = [f"## {now:%Y-%m-%d %H:%M}", f"Staged {len(night.staged)} lines of the notes."]
    lines += [f"- theme: {tag} ({strength:.2f})" for tag, strength in night.themes]
    lines += [f"- holds for true: {one.snippet}" for one in night.truths]
    lines += [f"- proposed ({value:.2f}): {one.snippet}" for one, value in night.promoted]
    return "\n".join(lines) + "\n"

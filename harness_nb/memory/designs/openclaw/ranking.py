"""How OpenClaw scores hits: words and meaning weighed, age, difference, and a floor that gives way."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness_nb.core.utf16 import utf16_len
from harness_nb.memory.designs.openclaw.config import OpenClawSearchConfig
from harness_nb.memory.designs.openclaw.terms import word_runs

_DATED = re.compile(r"(?:^|/)memory/(\d{4})-(\d\d)-(\d\d)(-[^/]+)?\.md$", re.ASCII)
_ASCII_WORD = re.compile(r"[a-z0-9_]+")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u1100-\u11ff]")
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A chunk that was found.

    Attributes:
        key: Names the chunk.
        path: Its note, relative to the workspace.
        start_line: First line, from 1.
        end_line: Last line, included.
        snippet: Beginning of its text.
        score: What it is ranked by.
        vector_score: Nearness of meaning.
        text_score: Score by words.
        source: `memory` or `sessions`.
    """

    key: str
    path: str
    start_line: int = 1
    end_line: int = 1
    snippet: str = ""
    score: float = 0.0
    vector_score: float = 0.0
    text_score: float = 0.0
    source: str = "memory"


TimeOf = Callable[[Row], datetime | None]
"""When the file of a row was changed last; None where there is none."""


def rank_score(rank: float) -> float:
    """A score from 0 to 1 for a bm25 value, of which lower is better."""
    if not math.isfinite(rank):
        return 1 / 1_000
    return -rank / (1 - rank) if rank < 0 else 1 / (1 + rank)


def boosted(question: str, path: str, text: str, score: float) -> float:
    """The score of a hit where there are no meanings: more for words in it, in its path, and for a longer text."""
    asked = list(dict.fromkeys(word.lower() for word in word_runs(question)))
    if not asked:
        return score
    said = {word.lower() for word in word_runs(text)}
    overlap = sum(word in said for word in asked)
    in_path = 0.18 * sum(word in path.lower() for word in asked)
    length = min(utf16_len(text) / 160, 0.18)
    return min(1.0, score + 0.45 * overlap / len(asked) + 0.2 * overlap / max(len(said), 1) + in_path + length)


def merged(
    vector: Iterable[Row], keyword: Iterable[Row], config: OpenClawSearchConfig, now: datetime, time_of: TimeOf
) -> list[Row]:
    """Both sides as one list, best first: scores weighed, then age, then difference.

    Args:
        vector: Hits by meaning.
        keyword: Hits by words; their snippet goes before the other's.
        config: Weights and what of this is on.
        now: The aware time.
        time_of: Says when files that have no day in their name were changed.
    """
    rows = {row.key: replace(row, text_score=0.0) for row in vector}
    for row in keyword:
        known = rows.get(row.key)
        if known is None:
            rows[row.key] = replace(row, vector_score=0.0)
        else:
            rows[row.key] = replace(known, text_score=row.text_score, snippet=row.snippet or known.snippet)
    weighed = (
        replace(row, score=config.vector_weight * row.vector_score + config.text_weight * row.text_score)
        for row in rows.values()
    )
    aged = decayed(weighed, config, now, time_of)
    ranked = sorted(aged, key=lambda row: -row.score)
    return diverse(ranked, config.mmr_lambda) if config.mmr else ranked


# Age


def decayed(rows: Iterable[Row], config: OpenClawSearchConfig, now: datetime, time_of: TimeOf) -> list[Row]:
    """Rows whose score went down with their age, where that is on; topics and MEMORY.md have none."""
    if not config.temporal_decay:
        return list(rows)
    found = []
    for row in rows:
        when = note_day(row.path, slugs=config.slugs_decay)
        if when is None and not (row.source == "memory" and is_evergreen(row.path, slugs=config.slugs_decay)):
            when = time_of(row)
        if when is not None:
            age = max(0.0, (now - when).total_seconds()) / _DAY_SECONDS
            row = replace(row, score=row.score * math.exp(-math.log(2) / config.half_life_days * age))
        found.append(row)
    return found


def note_day(path: str, *, slugs: bool = False) -> datetime | None:
    """The day of a daily note as midnight in UTC; None for any other file, and for a day that does not exist."""
    found = _DATED.search(_plain(path))
    if found is None or (found[4] and not slugs):
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None


def is_evergreen(path: str, *, slugs: bool = False) -> bool:
    """Whether a file never ages: MEMORY.md, and notes whose name is no day."""
    plain = _plain(path)
    found = _DATED.search(plain)
    is_dated = found is not None and (slugs or not found[4])
    return plain == "MEMORY.md" or (plain.startswith("memory/") and not is_dated)


def _plain(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


# Difference


def diverse(rows: Sequence[Row], weight: float) -> list[Row]:
    """Rows in another order: each next one has a high score and little in common with those before.

    Args:
        rows: Best first.
        weight: Weight of the score; at 1 the order stays.
    """
    if len(rows) < 2 or weight >= 1:
        return list(rows)
    low, high = min(row.score for row in rows), max(row.score for row in rows)
    left = [(row, (row.score - low) / (high - low) if high > low else 1.0, likeness_words(row.snippet)) for row in rows]
    chosen: list[tuple[Row, float, frozenset[str]]] = []
    while left:
        values = [
            (weight * score - (1 - weight) * max((likeness(words, one[2]) for one in chosen), default=0.0), row.score)
            for row, score, words in left
        ]
        chosen.append(left.pop(values.index(max(values))))
    return [row for row, _, _ in chosen]


def likeness_words(text: str) -> frozenset[str]:
    """What two texts are compared by: ASCII words, and East Asian characters with their neighbours."""
    lower = text.strip().lower()
    single = [(at, char) for at, char in enumerate(lower) if _EAST_ASIAN.match(char)]
    pairs = (a + b for (at, a), (after, b) in zip(single, single[1:], strict=False) if after == at + 1)
    return frozenset((*_ASCII_WORD.findall(lower), *pairs, *(char for _, char in single)))


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """What two texts have in common, as a share of all that they have."""
    if not one or not other:
        return 1.0 if one == other else 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


# Choice


def selected(rows: Sequence[Row], keyword: Iterable[Row], config: OpenClawSearchConfig) -> list[Row]:
    """The rows above the floor; with none, and hits by words, those of them that were found by words."""
    strict = [row for row in rows if row.score >= config.min_score]
    places = {(row.source, row.path, row.start_line, row.end_line) for row in keyword}
    if strict or not places or not config.relax_floor:
        return strict[: config.max_results]
    found = [row for row in rows if (row.source, row.path, row.start_line, row.end_line) in places]
    return [row for row in found if row.score >= 0][: config.max_results]

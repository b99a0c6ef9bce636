"""What speaks for keeping a line of the notes: that it was searched for, on how many days, and in how many ways."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from harness_nb.core.keywords import keywords
from harness_nb.memory.designs.openclaw.config import OpenClawDreamingConfig
from harness_nb.store.files import read_text, write_atomic

FILE_NAME = "recall.json"

_ENTRIES, _QUERIES, _DAYS, _TAGS, _SNIPPET_CHARS = 512, 32, 16, 8, 800
_WEIGHTS = {
    "relevance": 0.30,
    "frequency": 0.24,
    "diversity": 0.15,
    "recency": 0.15,
    "consolidation": 0.10,
    "conceptual": 0.06,
}
_BOOSTS = (0.06, 0.09)  # light, REM
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One line of the notes with what speaks for it.

    Attributes:
        key: Names it.
        path: Its note.
        line: Where it stood when it was last seen, from 1.
        snippet: Its text.
        recalls: Times that a search found it.
        daily: Nights on which it was read in a note.
        grounded: Signals that came with a source.
        total_score: Sum of the scores of all signals.
        queries: Hashes of different queries.
        days: Different days, ISO dates.
        tags: What it is about.
        last_seen: Time of the last signal, in ISO format.
        light_hits: Nights on which the light phase staged it.
        rem_hits: Nights on which the REM phase held it for true.
        dreamt_at: Time of the last such night, in ISO format; empty before the first.
        promoted_at: When it was proposed for MEMORY.md; empty before.
    """

    key: str
    path: str
    line: int = 1
    snippet: str = ""
    recalls: int = 0
    daily: int = 0
    grounded: int = 0
    total_score: float = 0.0
    queries: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    last_seen: str = ""
    light_hits: int = 0
    rem_hits: int = 0
    dreamt_at: str = ""
    promoted_at: str = ""

    @property
    def signals(self) -> int:
        """All signals together."""
        return self.recalls + self.daily + self.grounded

    @property
    def average(self) -> float:
        """Mean score of a signal."""
        return min(1.0, self.total_score / self.signals) if self.signals else 0.0

    @property
    def breadth(self) -> int:
        """Different queries or days, whichever are more."""
        return max(len(self.queries), len(self.days))

    def seen(self, kind: str, query: str, score: float, now: datetime) -> Evidence:
        """The evidence with one signal more.

        Args:
            kind: `recalls`, `daily` or `grounded`.
            query: What was searched for, or what stands for that.
            score: Score of the signal, 0 to 1.
            now: The aware time.
        """
        mark, day = hashlib.sha256(query.strip().lower().encode()).hexdigest()[:12], now.date().isoformat()
        return replace(
            self,
            **{kind: getattr(self, kind) + 1},
            total_score=self.total_score + score,
            queries=tuple(dict.fromkeys((*self.queries, mark)))[-_QUERIES:],
            days=tuple(dict.fromkeys((*self.days, day)))[-_DAYS:],
            last_seen=now.isoformat(),
        )

    def knows(self, query: str) -> bool:
        """Whether a query was among its signals."""
        return hashlib.sha256(query.strip().lower().encode()).hexdigest()[:12] in self.queries

    def age_days(self, now: datetime) -> float:
        """Days since the last signal."""
        return _days_since(self.last_seen, now)


def evidence_of(path: str, line: int, text: str) -> Evidence:
    """Evidence for a line that nothing speaks for yet."""
    snippet = " ".join(text.split())[:_SNIPPET_CHARS]
    digest = hashlib.sha256(snippet.lower().encode("utf-8", "surrogatepass")).hexdigest()[:16]
    tags = tuple(word for word in keywords(snippet) if len(word) > 3 or not word.isascii())[:_TAGS]
    return Evidence(key=f"{path}:{digest}", path=path, line=line, snippet=snippet, tags=tags)


def score(one: Evidence, now: datetime, half_life_days: float) -> float:
    """How much speaks for a line: a weighted sum of six figures, and a little for nights on which it came up."""
    fade = math.log(2) / half_life_days
    spread = _consolidation(one)
    figures = {
        "relevance": one.average,
        "frequency": min(1.0, math.log1p(one.signals) / math.log1p(10)),
        "diversity": min(1.0, one.breadth / 5),
        "recency": math.exp(-fade * one.age_days(now)),
        "consolidation": spread,
        "conceptual": min(1.0, len(one.tags) / 6),
    }
    faded = math.exp(-fade * _days_since(one.dreamt_at, now)) if one.dreamt_at else 0.0
    nights = zip(_BOOSTS, (one.light_hits, one.rem_hits), strict=True)
    boost = sum(most * min(1.0, math.log1p(hits) / math.log1p(6)) for most, hits in nights)
    return sum(weight * figures[name] for name, weight in _WEIGHTS.items()) + boost * faded


def _consolidation(one: Evidence) -> float:
    """How far its signals are apart."""
    days = sorted(datetime.fromisoformat(day) for day in one.days)
    if not days:
        return 0.0
    spread = 0.2
    if len(days) > 1:
        span = (days[-1] - days[0]).days
        spread = 0.55 * min(1.0, math.log1p(len(days) - 1) / math.log1p(4)) + 0.45 * min(1.0, span / 7)
    return max(spread, min(1.0, one.grounded / 3))


def passes(one: Evidence, now: datetime, config: OpenClawDreamingConfig) -> bool:
    """Whether so much speaks for a line that it may be promoted."""
    signals = one.signals if config.promotion_evidence == "all" else one.recalls
    return (
        not one.promoted_at
        and signals >= config.deep_min_signals
        and one.breadth >= config.deep_min_queries
        and one.age_days(now) <= config.deep_max_age_days
        and score(one, now, config.deep_half_life_days) >= config.deep_min_score
    )


def _days_since(moment: str, now: datetime) -> float:
    if not moment:
        return math.inf
    return max(0.0, (now - datetime.fromisoformat(moment)).total_seconds()) / _DAY_SECONDS


class EvidenceFile:
    """All evidence of a workspace, in one JSON file.

    Args:
        path: Where it lies.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Evidence]:
        """All of it by key; what can't be read counts as none, as it is gathered anew.

        Raises:
            StoreError: The file is there and can't be read.
        """
        try:
            records = json.loads(read_text(self.path) or "[]")
            found = [_from_record(record) for record in records]
        except (ValueError, TypeError, KeyError, AttributeError):
            return {}
        return {one.key: one for one in found}

    def write(self, evidence: Iterable[Evidence]) -> None:
        """Replaces it; of more than 512 lines those that were not seen for longest are left out.

        Raises:
            StoreError: It can't be written.
        """
        kept = sorted(evidence, key=lambda one: one.last_seen)[-_ENTRIES:]
        records = [asdict(one) for one in sorted(kept, key=lambda one: one.key)]
        write_atomic(self.path, json.dumps(records, ensure_ascii=False, indent=1) + "\n")


def _from_record(record: Mapping[str, Any]) -> Evidence:
    known = {one.name for one in fields(Evidence)}
    values = {name: value for name, value in record.items() if name in known}
    values |= {name: tuple(values.get(name, ())) for name in ("queries", "days", "tags")}
    return Evidence(**values)

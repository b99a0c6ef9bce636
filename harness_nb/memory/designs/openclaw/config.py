"""Settings of OpenClaw's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness_nb.core.config import plain_repr, positive, share, switch, whole
from harness_nb.errors import ConfigError

_DEFAULT_WEIGHTS = (0.7, 0.3)
_MOST_CANDIDATES = 200


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenClawMemoryConfig:
    """Settings of the notes and their injection.

    Attributes:
        bootstrap_max_chars: Most characters of one injected file (default 20,000).
        bootstrap_total_max_chars: Most characters of all injected files (default 60,000).
        context_injection: When they are injected: `always` or `never` (default `always`).
        truncation_warning: Whether a cut file says so (default True).
        startup_days: Days whose notes open a session, today among them, at most 14 (default 2; 0 for none).
        startup_file_bytes: Notes above this size are passed over there (default 16,384, at most 65,536).
        startup_file_chars: Most characters of one of them (default 1,200, at most 10,000).
        startup_total_chars: Most characters of all of them (default 2,800, at most 50,000).
        startup_slugs: Notes of one day that have a name beside the date, newest first (default 4).
        memory_flush: Whether notes are taken before a compaction (default True).
        force_flush_transcript_bytes: Size of the session at which notes are taken in any case (default 2,097,152).
    """

    bootstrap_max_chars: int = 20_000
    bootstrap_total_max_chars: int = 60_000
    context_injection: Literal["always", "never"] = "always"
    truncation_warning: bool = True
    startup_days: int = 2
    startup_file_bytes: int = 16_384
    startup_file_chars: int = 1_200
    startup_total_chars: int = 2_800
    startup_slugs: int = 4
    memory_flush: bool = True
    force_flush_transcript_bytes: int = 2 * 1_024 * 1_024

    def __post_init__(self) -> None:
        whole(self, "bootstrap_max_chars", "bootstrap_total_max_chars", "force_flush_transcript_bytes", least=1)
        whole(self, "startup_slugs")
        for name, most in _STARTUP_LIMITS:
            whole(self, name)
            object.__setattr__(self, name, min(most, getattr(self, name)))
        switch(self, "truncation_warning", "memory_flush")
        if self.context_injection not in ("always", "never"):
            raise ConfigError(
                f"context_injection={self.context_injection!r} is not valid.",
                "Use 'always' or 'never'.",
                subject="context_injection",
            )

    __repr__ = plain_repr


_STARTUP_LIMITS = (
    ("startup_days", 14),
    ("startup_file_bytes", 65_536),
    ("startup_file_chars", 10_000),
    ("startup_total_chars", 50_000),
)


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenClawSearchConfig:
    """Settings of the search. Weights, shares and counts out of bounds are brought into them, as OpenClaw does.

    Attributes:
        embeddings: What gives a text's meaning: `auto`, where the extra `semantic` is installed, or `none` (default `auto`).
        chunk_tokens: Size of a chunk in tokens of four characters (default 400).
        chunk_overlap: Tokens that a chunk begins with from the one before, at least (default 80).
        bounded_overlap: Whether the overlap keeps below the size of a chunk (default False, as in this version).
        max_results: Most hits (default 6).
        min_score: Least score of a hit (default 0.35).
        relax_floor: Whether hits by words count without that where nothing reaches it (default True).
        hybrid: Whether words are searched beside meanings (default True).
        vector_weight: Weight of the meaning (default 0.7).
        text_weight: Weight of the words (default 0.3).
        candidate_multiplier: Candidates of each side, as a multiple of `max_results`, 1 to 20 (default 4).
        fts_join: Whether a chunk must hold all words of a question, `and`, or one, `or` (default `and`).
        fts_tokenizer: `unicode61` or `trigram` (default `unicode61`).
        mmr: Whether hits that say the same give way to others (default False).
        mmr_lambda: Weight of the score there, the rest is difference (default 0.7).
        temporal_decay: Whether notes of a day lose weight with age (default False).
        half_life_days: Days in which they lose half (default 30).
        slugs_decay: Whether notes of a day with a name beside the date lose weight, too (default False).
    """

    embeddings: Literal["auto", "none"] = "auto"
    chunk_tokens: int = 400
    chunk_overlap: int = 80
    bounded_overlap: bool = False
    max_results: int = 6
    min_score: float = 0.35
    relax_floor: bool = True
    hybrid: bool = True
    vector_weight: float = _DEFAULT_WEIGHTS[0]
    text_weight: float = _DEFAULT_WEIGHTS[1]
    candidate_multiplier: float = 4
    fts_join: Literal["and", "or"] = "and"
    fts_tokenizer: Literal["unicode61", "trigram"] = "unicode61"
    mmr: bool = False
    mmr_lambda: float = 0.7
    temporal_decay: bool = False
    half_life_days: float = 30
    slugs_decay: bool = False

    def __post_init__(self) -> None:
        whole(self, "chunk_tokens", "max_results", least=1)
        whole(self, "chunk_overlap")
        switch(self, "bounded_overlap", "relax_floor", "hybrid", "mmr", "temporal_decay", "slugs_decay")
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                raise ConfigError(
                    f"{name}={getattr(self, name)!r} is not valid.",
                    f"Use {' or '.join(map(repr, known))}.",
                    subject=name,
                )
        self._bring_into_bounds()

    def _bring_into_bounds(self) -> None:
        weights = _within(self.vector_weight, 0, 1), _within(self.text_weight, 0, 1)
        total = sum(weights)
        vector, text = (one / total for one in weights) if total > 0 else _DEFAULT_WEIGHTS
        bounded = {
            "vector_weight": vector,
            "text_weight": text,
            "min_score": _within(self.min_score, 0, 1),
            "candidate_multiplier": int(_within(self.candidate_multiplier, 1, 20)),
            "mmr_lambda": _within(self.mmr_lambda, 0, 1),
            "half_life_days": max(1, int(self.half_life_days)),
            "chunk_overlap": min(self.chunk_overlap, max(0, self.chunk_tokens - 1)),
        }
        for name, value in bounded.items():
            object.__setattr__(self, name, value)

    __repr__ = plain_repr

    @property
    def candidates(self) -> int:
        """Most candidates of each side."""
        return min(_MOST_CANDIDATES, max(1, int(self.max_results * self.candidate_multiplier)))


_CHOICES = (
    ("embeddings", ("auto", "none")),
    ("fts_join", ("and", "or")),
    ("fts_tokenizer", ("unicode61", "trigram")),
)


def _within(value: float, least: float, most: float) -> float:
    return max(least, min(most, value))


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenClawDreamingConfig:
    """Settings of dreaming, which promotes to MEMORY.md what recurs in searches and notes.

    Attributes:
        dreaming: Whether it runs in the background (default False). By hand it always can.
        dreaming_review: Whether its proposals wait for the user (default True; False writes at once, as OpenClaw does).
        promotion_evidence: What counts for a promotion: `all` signals or `recalls` only (default `all`).
        light_days: Days whose notes the light phase reads (default 2).
        light_limit: Most entries it takes in (default 100).
        light_dedupe: Likeness from which on two lines are one (default 0.9).
        rem_days: Days that the REM phase reads (default 7).
        rem_limit: Most themes of it (default 10).
        rem_min_strength: Least strength of a theme (default 0.75).
        deep_limit: Most promotions of one night (default 10).
        deep_min_score: Least score (default 0.8).
        deep_min_signals: Least signals (default 3).
        deep_min_queries: Least different queries or days (default 3).
        deep_half_life_days: Days in which a recall loses half its weight (default 14).
        deep_max_age_days: Age in days at which an entry is no longer promoted (default 30).
        snippet_tokens: Most tokens of a promoted line (default 160).
        budget_chars: Size that MEMORY.md is held to by dropping the oldest promotions (default 10,000 characters).
    """

    dreaming: bool = False
    dreaming_review: bool = True
    promotion_evidence: Literal["all", "recalls"] = "all"
    light_days: int = 2
    light_limit: int = 100
    light_dedupe: float = 0.9
    rem_days: int = 7
    rem_limit: int = 10
    rem_min_strength: float = 0.75
    deep_limit: int = 10
    deep_min_score: float = 0.8
    deep_min_signals: int = 3
    deep_min_queries: int = 3
    deep_half_life_days: float = 14
    deep_max_age_days: float = 30
    snippet_tokens: int = 160
    budget_chars: int = 10_000

    def __post_init__(self) -> None:
        switch(self, "dreaming", "dreaming_review")
        whole(self, "light_days", "light_limit", "rem_days", "rem_limit", "deep_limit")
        whole(self, "deep_min_signals", "deep_min_queries", "snippet_tokens", "budget_chars", least=1)
        share(self, "light_dedupe", "rem_min_strength", "deep_min_score")
        positive(self, "deep_half_life_days", "deep_max_age_days")
        if self.promotion_evidence not in ("all", "recalls"):
            raise ConfigError(
                f"promotion_evidence={self.promotion_evidence!r} is not valid.",
                "Use 'all' or 'recalls'.",
                subject="promotion_evidence",
            )

    __repr__ = plain_repr

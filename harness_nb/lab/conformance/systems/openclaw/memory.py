"""OpenClaw's memory in the recordings: chunks, queries, ranks, the hybrid search, and when notes are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from harness_nb import presets
from harness_nb.core.keywords import keywords
from harness_nb.core.messages import to_json
from harness_nb.core.utf16 import utf16_len
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Ranked
from harness_nb.lab.conformance.driving import policy_of
from harness_nb.lab.conformance.folders import folder
from harness_nb.memory.designs.openclaw.chunker import chunked
from harness_nb.memory.designs.openclaw.config import OpenClawMemoryConfig, OpenClawSearchConfig
from harness_nb.memory.designs.openclaw.flushing import FlushRecord, Transcript, is_due
from harness_nb.memory.designs.openclaw.ranking import (
    Row,
    boosted,
    decayed,
    is_evergreen,
    merged,
    note_day,
    rank_score,
    selected,
)
from harness_nb.memory.designs.openclaw.search import NoteSearch, Vector
from harness_nb.memory.designs.openclaw.terms import fallback_terms, terms_of

_START = datetime(2026, 1, 1, tzinfo=UTC)
_LAST_LINE = 5  # of a hit that names none
_FRAME_BYTES = 190


def run(given: Given, level: str) -> Mapping[str, Any]:
    """What came of a case of the memory."""
    return _LEVELS[level](given)


def _now(given: Given) -> datetime:
    told = given.config.get("now")
    return datetime.fromisoformat(told) if told else _START


def _config(given: Given, **more: Any) -> OpenClawSearchConfig:
    """The settings of the search as the recording names them."""
    told = given.config
    hybrid = told.get("hybrid") or {}
    mmr, decay = hybrid.get("mmr") or {}, hybrid.get("temporal_decay") or told.get("temporal_decay") or {}
    chunking = told.get("chunking") or {}
    wanted = {
        "max_results": told.get("max_results"),
        "min_score": told.get("min_score"),
        "hybrid": hybrid.get("enabled"),
        "vector_weight": hybrid.get("vector_weight"),
        "text_weight": hybrid.get("text_weight"),
        "candidate_multiplier": hybrid.get("candidate_multiplier"),
        "mmr": mmr.get("enabled"),
        "mmr_lambda": mmr.get("lambda"),
        "temporal_decay": decay.get("enabled"),
        "half_life_days": decay.get("half_life_days"),
        "fts_tokenizer": told.get("tokenizer"),
        "chunk_tokens": chunking.get("tokens"),
        "chunk_overlap": chunking.get("overlap"),
    }
    return OpenClawSearchConfig(**{key: one for key, one in (wanted | more).items() if one is not None})


def _resolved(config: OpenClawSearchConfig) -> dict[str, Any]:
    return {
        "max_results": config.max_results,
        "min_score": Ranked(config.min_score),
        "vector_weight": Ranked(config.vector_weight),
        "text_weight": Ranked(config.text_weight),
        "candidate_multiplier": config.candidate_multiplier,
        "mmr": {"enabled": config.mmr, "lambda": Ranked(config.mmr_lambda)},
        "temporal_decay": {"enabled": config.temporal_decay, "half_life_days": config.half_life_days},
    }


# Chunks, queries and scores


def _chunker(given: Given) -> Mapping[str, Any]:
    config = _config(given)
    chunks = chunked(given.input["text"], config.chunk_tokens, config.chunk_overlap)
    return {
        "chunks": [
            {"start_line": one.start_line, "end_line": one.end_line, "chars": utf16_len(one.text), "sha256": one.sha256}
            for one in chunks
        ]
    }


def _query(given: Given) -> Mapping[str, Any]:
    question, tokenizer = given.input["query"], given.config.get("tokenizer") or "unicode61"
    terms = terms_of(question, tokenizer)
    return {
        "match": terms.match,
        "substrings": list(terms.substrings),
        "keywords": keywords(question, whole_runs=tokenizer == "trigram"),
        "fallback_terms": fallback_terms(question, tokenizer),
    }


def _rank(given: Given) -> Mapping[str, Any]:
    ranks = (float("nan") if one is None or isinstance(one, str) else float(one) for one in given.input["ranks"])
    return {"scores": [Ranked(rank_score(one)) for one in ranks]}


def _boost(given: Given) -> Mapping[str, Any]:
    question = given.input["query"]
    scores = (boosted(question, one["path"], one["text"], one["fts_score"]) for one in given.input["hits"])
    return {"scores": [Ranked(one) for one in scores]}


# Merging and age


def _times(given: Given) -> Callable[[Row], datetime | None]:
    """When the files of a case were changed, as far as it says."""
    every = [one for value in given.input.values() if isinstance(value, Sequence) for one in value]
    known = {one["path"]: one.get("mtime") for one in every if isinstance(one, Mapping) and one.get("mtime")}

    def time_of(row: Row) -> datetime | None:
        told = known.get(row.path)
        if told is None:
            return None
        return datetime.fromisoformat(told) if isinstance(told, str) else datetime.fromtimestamp(told / 1_000, UTC)

    return time_of


def _decay(given: Given) -> Mapping[str, Any]:
    config, now = _config(given), _now(given)
    rows = [
        Row(key=str(at), path=one["path"], score=one["score"], source=one.get("source", "memory"))
        for at, one in enumerate(given.input["rows"])
    ]
    days = [note_day(row.path) for row in rows]
    return {
        "scores": [Ranked(row.score) for row in decayed(rows, config, now, _times(given))],
        "dates": [None if day is None else day.date().isoformat() for day in days],
        "evergreen": [is_evergreen(row.path) for row in rows],
    }


def _merge(given: Given) -> Mapping[str, Any]:
    config = _config(given)
    vector = [_hit(one, vector_score=one["score"]) for one in given.input["vector"]]
    keyword = [_hit(one, text_score=one["score"]) for one in given.input["keyword"]]
    rows = merged(vector, keyword, config, _now(given), _times(given))
    return {
        "merged": [_row(row) for row in rows],
        "selected": [_row(row) for row in selected(rows, keyword, config)],
        "resolved": _resolved(config),
    }


def _hit(one: Mapping[str, Any], **scores: float) -> Row:
    return Row(
        key=one["id"],
        path=one["path"],
        start_line=one.get("start_line", 1),
        end_line=one.get("end_line", _LAST_LINE),
        snippet=one.get("snippet", ""),
        source=one.get("source", "memory"),
        **scores,
    )


def _row(row: Row) -> dict[str, Any]:
    place = {"path": row.path, "start_line": row.start_line, "end_line": row.end_line}
    scores = {"score": row.score, "vector_score": row.vector_score, "text_score": row.text_score}
    return {**place, **{key: Ranked(one) for key, one in scores.items()}}


# The search


def _search(given: Given) -> Mapping[str, Any]:
    config = _config(given)
    has_meaning = given.config.get("provider") != "none"
    embedding = _embedding((given.more.get("stub") or {}).get("embedding") or {}) if has_meaning else None
    with folder(given.input["files"]) as place:
        search = NoteSearch(place.workspace.path, config, embedding)
        try:
            rows = search.search(given.input["query"], _now(given))
            chunks = [[path, chunk.start_line, chunk.end_line] for path, chunk in search.chunks()]
        finally:
            search.close()
    return {"results": [_result(row, has_meaning) for row in rows], "chunks": chunks, "resolved": _resolved(config)}


def _embedding(told: Mapping[str, Any]) -> Callable[[Sequence[str]], list[Vector]]:
    terms = told.get("terms") or ()

    def embed(texts: Sequence[str]) -> list[Vector]:
        return [[float(text.lower().count(term)) for term in terms] for text in texts]

    return embed


def _result(row: Row, has_meaning: bool) -> dict[str, Any]:
    found = _row(row)
    if not has_meaning:
        del found["vector_score"]
    return {**found, "snippet_chars": utf16_len(row.snippet)}


# Reserve and flush


def _reserve(given: Given) -> Mapping[str, Any]:
    found = []
    for row in given.input["rows"]:
        names = ("reserve_tokens", "reserve_tokens_floor", "keep_recent_tokens")
        told = {name: row[name] for name in names if row.get(name) is not None}
        if not told.get("keep_recent_tokens", 1):
            del told["keep_recent_tokens"]
        config = policy_of(presets.get("openclaw", **told)).config
        found.append({"reserve_tokens": config.reserve(row["context_window"]), "keep_recent_tokens": config.keep})
    return {"resolved": found}


def _flush(given: Given) -> Mapping[str, Any]:
    told, session = given.config.get("memory_flush") or {}, given.more.get("session")
    names = {"soft_threshold_tokens": told.get("soft_threshold_tokens")}
    names |= {"reserve_tokens_floor": given.config.get("reserve_tokens_floor")}
    policy = policy_of(presets.get("openclaw", **{key: one for key, one in names.items() if one is not None}))
    memory = OpenClawMemoryConfig(
        memory_flush=told.get("enabled", True),
        **({"force_flush_transcript_bytes": size} if (size := told.get("force_flush_transcript_bytes")) else {}),
    )
    window = given.config.get("context_window") or 200_000
    threshold = policy.config.threshold(window) if memory.memory_flush else None
    record = None if session is None else _record(session)
    may = memory.memory_flush and not any(given.config.get(name) for name in _NEVER)
    due = may and is_due(
        record,
        _transcript(given),
        given.more.get("prompt") or "",
        threshold=threshold or 0,
        most_bytes=memory.force_flush_transcript_bytes,
    )
    return _flushed(given, record or FlushRecord(), due, threshold)


_NEVER = ("heartbeat", "cli", "read_only", "sandbox_read_only")


def _record(session: Mapping[str, Any]) -> FlushRecord:
    return FlushRecord(
        total_tokens=session.get("total_tokens"),
        is_fresh=session.get("total_tokens_fresh"),
        compactions=session.get("compaction_count") or 0,
        flushed_at=session.get("flushed_at_count"),
        failures=session.get("failure_count"),
    )


def _transcript(given: Given) -> Transcript:
    bills = [one["usage"] for one in given.wire if any((one.get("usage") or {}).values())]
    bill = bills[-1] if bills else {}
    size = sum(len(to_json(dict(one)).encode()) + _FRAME_BYTES for one in given.wire)
    return Transcript(
        prompt_tokens=bill.get("prompt_tokens", 0), output_tokens=bill.get("completion_tokens", 0), size_bytes=size
    )


def _flushed(given: Given, record: FlushRecord, due: bool, threshold: int | None) -> Mapping[str, Any]:
    failed = bool((given.more.get("stub") or {}).get("flush_error"))
    after = record if not due else record.failed() if failed else record.succeeded()
    outcome = "skipped" if not due else "completed" if not failed else "exhausted" if after.is_exhausted else "failed"
    zone = given.config.get("user_timezone") or given.config.get("timezone")
    now = _now(given).astimezone(ZoneInfo(zone)) if zone else _now(given)
    return {
        "outcome": outcome,
        "ran": due,
        "target": f"memory/{now:%Y-%m-%d}.md" if due else None,
        "threshold": threshold,
        "after": {"flushed_at_count": after.flushed_at, "failure_count": after.failures},
        "visible_notices": {"failed": 1, "exhausted": 2}.get(outcome, 0),
    }


_LEVELS: Mapping[str, Callable[[Given], Mapping[str, Any]]] = {
    "chunker": _chunker,
    "query": _query,
    "rank": _rank,
    "boost": _boost,
    "decay": _decay,
    "merge": _merge,
    "search": _search,
    "reserve": _reserve,
    "flush": _flush,
}

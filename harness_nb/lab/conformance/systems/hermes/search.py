"""Hermes' search in sessions: a query alone, and its tool."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Ranked
from harness_nb.memory.designs.hermes.query import read_query
from harness_nb.memory.designs.hermes.rows import Row, SessionRows
from harness_nb.memory.designs.hermes.session_search import DEFAULT_ROLES, Found, Searched, SessionSearch
from harness_nb.memory.designs.hermes.syncing import stored

_STAND_IN = "A summary stands here."
_DIGITS = 9


def searched(given: Given) -> Mapping[str, Any]:
    """Searches all stored messages."""
    reading = read_query(given.config["query"])
    with _stored(given) as rows:
        try:
            hits = rows.search(reading)
        except sqlite3.OperationalError:
            return {"sanitized": reading.text, "path": "syntax_error", "hits": []}
    scores = {str(row.at): Ranked(round(row.rank, _DIGITS)) for row in hits}
    return {
        "sanitized": reading.text,
        "path": reading.way,
        "hits": [row.at for row in hits],
        "scores": dict(sorted(scores.items(), key=lambda one: int(one[0]))),
    }


def session_searched(given: Given) -> Mapping[str, Any]:
    """Calls the tool."""
    args, config = given.config["args"], given.config
    with _stored(given) as rows:
        search = SessionSearch(rows=rows, current=config.get("current_session") or "", asks_again=False)
        return _told(_called(search, rows, args))


def _called(search: SessionSearch, rows: SessionRows, args: Mapping[str, Any]) -> Searched:
    limits = {"limit": args["limit"]} if "limit" in args else {}
    if args.get("query"):
        wanted = args.get("role_filter")
        roles = tuple(one.strip() for one in wanted.split(",")) if wanted else DEFAULT_ROLES
        return search.discover(args["query"], sort=args.get("sort", ""), roles=roles, **limits)
    if "session_id" not in args:
        return search.browse(**limits)
    if "around_index" not in args:
        return search.read(args["session_id"])
    every = rows.of_session(args["session_id"], only_live=False)
    anchor = next((row.id for row in every if row.at == args["around_index"]), -1)
    window = {"window": args["window"]} if "window" in args else {}
    return search.scroll(args["session_id"], anchor, **window)


def _told(found: Searched) -> dict[str, Any]:
    if found.error:
        return {"success": False, "mode": None, "error": found.error}
    told: dict[str, Any] = {"success": True, "mode": found.mode}
    match found.mode:
        case "discover":
            told["results"] = [_result(one) for one in found.found]
        case "browse":
            told["results"] = [{"session": one.id, "messages": one.messages} for one in found.sessions]
        case "scroll":
            told |= {"window": _indices(found.rows), "before": found.before, "after": found.after}
        case "read":
            is_cut = len(found.rows) < found.total
            told |= {"messages": _indices(found.rows), "total": found.total, "truncated": is_cut}
    return told


def _result(one: Found) -> dict[str, Any]:
    return {
        "session": one.session.id,
        "by": one.by,
        "match": one.match.at,
        "window": _indices(one.window),
        "opening": _indices(one.opening),
        "closing": _indices(one.closing),
        "before": one.before,
        "after": one.after,
    }


def _indices(rows: Iterable[Row]) -> list[int | None]:
    return [row.at for row in rows]


@contextmanager
def _stored(given: Given) -> Iterator[SessionRows]:
    """The recorded sessions in a file of their own."""
    config = given.config
    with tempfile.TemporaryDirectory(prefix="harness-nb-") as folder:
        rows = SessionRows(Path(folder) / "sessions.db")
        sources = config.get("sources") or {}
        for number, one in enumerate(config["sessions"]):
            source = sources.get(one["id"], one["source"])
            rows.add_session(one["id"], source=source, title=one["title"], started=float(number))
        named: dict[str, str] = {}
        for index, (message, session) in enumerate(zip(given.messages(), config["session_of"], strict=True)):
            rows.add(session, [stored(index, message, named)])
        if config.get("archive"):
            rows.archive(config["archive"], (), [("assistant", _STAND_IN)])
        if config.get("rewind_from") is not None:
            start = config["rewind_from"]
            rows.rewind(config["session_of"][start], start)
        yield rows

"""A function a frame: plain records in, a frame with the documented columns out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import time

import pandas as pd

from harness_nb.frames import columns, lab_columns
from harness_nb.frames.assembly import Record, assemble

_SESSION_LOG = re.compile(r"(?:^|/)sessions/([^/]+?)(?:\.log)?\.jsonl$")


def hits_frame(records: Iterable[Record], *, query: str = "") -> pd.DataFrame:
    """Search hits, best first; columns `columns.HITS`.

    Args:
        records: Hits in order; `position` is filled in where it is missing.
        query: Kept in `attrs`, for provenance.
    """
    placed = [
        {"position": position, "session": _session_of(record), **record}
        for position, record in enumerate(records, start=1)
    ]
    frame = assemble(placed, columns.HITS)
    frame.attrs = {"query": query}
    return frame


def _session_of(record: Record) -> str | None:
    """Id of the session whose log a hit stands in."""
    found = _SESSION_LOG.search(str(record.get("path", "")))
    return found[1] if found else None


def messages_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Messages of a session's log; columns `columns.MESSAGES`."""
    return assemble(records, columns.MESSAGES)


def events_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What happened in a session, in order; columns `columns.EVENTS`."""
    numbered = [{"number": number, **record} for number, record in enumerate(records, start=1)]
    return assemble(numbered, columns.EVENTS)


def daily_logs_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Entries of the daily logs; columns `columns.DAILY_LOGS`.

    A local `time` of day becomes UTC by the record's `date` and `zone`; `messages`, a pair, is taken apart.
    """
    return assemble(map(_log_row, records), columns.DAILY_LOGS)


def _log_row(record: Record) -> Record:
    row = dict(record)
    if isinstance(span := row.get("messages"), tuple | list) and span:
        row |= {"first_message": span[0], "last_message": span[-1]}
    if isinstance(clock := row.get("time"), time):
        zone = row.get("zone")
        row["time"] = f"{row['date']}T{clock.isoformat()}{zone}" if zone else None  # without a zone it is no instant
    return row


def plans_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Plans that were carried out, skipped or failed; columns `columns.PLANS`."""
    return assemble(records, columns.PLANS)


def usage_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Model requests with what the provider reported beside our estimate; columns `columns.USAGE`."""
    return assemble(map(_with_usage, records), columns.USAGE)


def _with_usage(record: Record) -> Record:
    usage = record.get("usage")
    return {**record, **usage} if isinstance(usage, Mapping) else record


def replay_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Points at which a policy was called in a replay; columns `columns.REPLAY`."""
    return assemble(records, columns.REPLAY)


def thresholds_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Where a policy acts; columns `columns.THRESHOLDS`."""
    return assemble(records, columns.THRESHOLDS)


def course_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Sizes over a session; columns `columns.COURSE`."""
    return assemble(records, columns.COURSE)


def presets_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Presets; columns `columns.PRESETS`."""
    return assemble(records, columns.PRESETS)


def systems_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Systems beside each other; columns `columns.SYSTEMS`."""
    return assemble(records, columns.SYSTEMS)


def conformance_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Recordings of real systems that were run against the presets; columns `columns.CONFORMANCE`."""
    return assemble(records, columns.CONFORMANCE)


def memory_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Lines of curated memory; columns `columns.MEMORY`."""
    return assemble(records, columns.MEMORY)


def changes_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What becomes of entries of curated memory; columns `columns.CHANGES`."""
    return assemble(records, columns.CHANGES)


def pending_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Log entries to merge and changes to review; columns `columns.PENDING`."""
    return assemble(records, columns.PENDING)


def versions_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Versions of curated memory; columns `columns.VERSIONS`."""
    return assemble(records, columns.VERSIONS)


def maintenance_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Steps of maintenance runs; columns `columns.MAINTENANCE`."""
    return assemble(records, columns.MAINTENANCE)


def status_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Lines of a status; columns `columns.STATUS`."""
    return assemble(records, columns.STATUS)


def fates_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What would become of each message; columns `columns.FATES`."""
    return assemble(records, columns.FATES)


def parts_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What fills the window; columns `columns.PARTS`."""
    return assemble(records, columns.PARTS)


def tools_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Tools of an agent; columns `columns.TOOLS`."""
    return assemble(records, columns.TOOLS)


def pins_frame(records: Iterable[Record]) -> pd.DataFrame:
    """What is pinned; columns `columns.PINS`."""
    return assemble(records, columns.PINS)


def sessions_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Sessions of a workspace; columns `columns.SESSIONS`."""
    return assemble(records, columns.SESSIONS)


def sweep_frame(
    records: Iterable[Record], *, settings: Sequence[str], metrics: Sequence[str], has_rungs: bool = False
) -> pd.DataFrame:
    """Trials of a sweep: columns `lab_columns.SWEEP`, one for each setting, one for each metric (numbers).

    Args:
        records: One a trial.
        settings: Names of the settings.
        metrics: Names of the metrics.
        has_rungs: Whether each has its last round of a successive halving: columns `lab_columns.RUNGS`.
    """
    rows = list(records)
    fixed = assemble(rows, lab_columns.SWEEP)
    rounds = [assemble(rows, lab_columns.RUNGS)] if has_rungs else []
    parts = [fixed[["transcript", "policy", "window"]], _tried(rows, settings), *rounds, _measured(rows, metrics)]
    return pd.concat([*parts, fixed[["error"]]], axis="columns")


def pareto_frame(records: Iterable[Record], *, by: Sequence[str], x: str, y: str) -> pd.DataFrame:
    """Points by two figures: a column for all that tells them apart, both figures, and columns `lab_columns.PARETO`."""
    rows = list(records)
    return pd.concat([_tried(rows, by), _measured(rows, (x, y)), assemble(rows, lab_columns.PARETO)], axis="columns")


def _tried(rows: Sequence[Record], settings: Sequence[str]) -> pd.DataFrame:
    """A column for each setting; one that is missing in a row is missing there."""
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in settings}).convert_dtypes()


def _measured(rows: Sequence[Record], metrics: Sequence[str]) -> pd.DataFrame:
    """A column of numbers for each metric."""
    return pd.DataFrame(
        {
            name: pd.to_numeric(pd.Series([row.get(name) for row in rows], dtype="object")).convert_dtypes()
            for name in metrics
        }
    )


def score_frame(records: Iterable[Record], *, metrics: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Scores of replays: columns `lab_columns.SCORE`, and a number column for each metric.

    Args:
        records: One a replay.
        metrics: Name, unit, direction and meaning of each metric; kept in `attrs`.
    """
    rows = list(records)
    fixed = assemble(rows, lab_columns.SCORE)
    names = [str(one["name"]) for one in metrics]
    taken = assemble(rows, [columns.Column(name, "number", "") for name in names])
    frame = pd.concat([fixed.iloc[:, :3], taken, fixed.iloc[:, 3:]], axis="columns")
    frame.attrs = {"metrics": {str(one["name"]): dict(one) for one in metrics}}
    return frame


def cache_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Recorded requests of a replay and what each reads from a prompt cache; columns `lab_columns.CACHE`."""
    return assemble(records, lab_columns.CACHE)


def cache_check_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Predicted against billed reads from a prompt cache; columns `lab_columns.CACHE_CHECK`."""
    return assemble(records, lab_columns.CACHE_CHECK)


def cost_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Compactions and when each has paid off; columns `lab_columns.COST`."""
    return assemble(records, lab_columns.COST)


def future_use_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Recorded requests and what their calls needed; columns `lab_columns.FUTURE_USE`."""
    return assemble(records, lab_columns.FUTURE_USE)


def validity_frame(records: Iterable[Record]) -> pd.DataFrame:
    """Breaks of the checks of a replay; columns `lab_columns.VALIDITY`."""
    return assemble(records, lab_columns.VALIDITY)

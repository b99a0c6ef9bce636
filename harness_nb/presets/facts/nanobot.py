"""Facts of Nanobot."""

from __future__ import annotations

from dataclasses import replace

from harness_nb.presets.facts.record import Facts

_JULY = Facts(
    trigger="the whole budget of the window before a turn, too many messages to send again, or 15 idle minutes",
    cut="at requests of the user, in up to five rounds, down to half of the budget",
    kept="what is not archived",
    model_calls="an extraction of facts a round; a scheduled run that edits the files",
    holds="SOUL.md, USER.md and MEMORY.md, and an archive of summaries",
    injected="all three files, the latest archived entries and the session's last summary",
    review="none before; versions of the files can be restored",
    search="none; the archive is a file that tools can read",
    defaults=("safety_buffer", "consolidation_ratio", "max_rounds", "idle_minutes", "recent_entries", "dream_enabled"),
    known_faults=(
        "only the last round's facts stand for the session",
        "a chunk above the summariser's budget is cut at its end without a word",
        "an idle session loses all but its last eight messages on disk",
        "one giant turn is archived only after the next one was answered without it",
        "nothing recovers from a provider's refusal",
        "files in the prompt have no bound",
    ),
    source="source, tests and recordings of HKUDS/nanobot",
    version="July 20, 2026",
)

FACTS = {
    "july": _JULY,
    "head": replace(
        _JULY,
        trigger="the whole budget of the window before a turn, or 15 idle minutes",
        kept="the newest eight messages at least, back to a request",
        known_faults=(
            _JULY.known_faults[0],
            "a chunk above the summariser's budget goes to the archive raw",
            *_JULY.known_faults[3:],
        ),
        version="main of August 23, 2026, past 0.3.0",
    ),
}

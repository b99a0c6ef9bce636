"""Data frames; the only layer that imports pandas. Plain records go in, and every frame has its documented columns.

Each has `df.harness` with a few verbs. Columns, dtypes, meanings and units stand in `columns.py`; a frame without rows has the same ones.
"""

from harness_nb.frames import accessor as accessor  # registers df.harness
from harness_nb.frames.frames import (
    changes_frame,
    comparison_frame,
    conformance_frame,
    course_frame,
    daily_logs_frame,
    events_frame,
    fates_frame,
    hits_frame,
    maintenance_frame,
    memory_frame,
    messages_frame,
    parts_frame,
    pending_frame,
    pins_frame,
    plans_frame,
    presets_frame,
    replay_frame,
    sessions_frame,
    status_frame,
    systems_frame,
    thresholds_frame,
    tools_frame,
    usage_frame,
    versions_frame,
)

__all__ = [
    "changes_frame",
    "comparison_frame",
    "conformance_frame",
    "course_frame",
    "daily_logs_frame",
    "events_frame",
    "fates_frame",
    "hits_frame",
    "maintenance_frame",
    "memory_frame",
    "messages_frame",
    "parts_frame",
    "pending_frame",
    "pins_frame",
    "plans_frame",
    "presets_frame",
    "replay_frame",
    "sessions_frame",
    "status_frame",
    "systems_frame",
    "thresholds_frame",
    "tools_frame",
    "usage_frame",
    "versions_frame",
]

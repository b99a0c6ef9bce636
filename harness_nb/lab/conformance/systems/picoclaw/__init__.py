"""PicoClaw: the legacy manager and the loop in one module, Seahorse in another, and the daily notes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.folders import folder
from harness_nb.lab.conformance.systems.picoclaw import legacy, seahorse
from harness_nb.memory.designs.picoclaw import PicoClawMemory, PicoClawMemoryConfig


def run(given: Given) -> Mapping[str, Any]:
    """Lets PicoClaw act on a case."""
    return _OPERATIONS[given.config["op"]](given)


def _notes(given: Given) -> Mapping[str, Any]:
    """What of the memory stands in the prompt."""
    config = given.config
    files = (given.more.get("setup") or {}).get("files") or {}
    now = datetime.fromisoformat(config["today"]).replace(hour=12, tzinfo=UTC)
    with folder(files, now=now) as place:
        memory = PicoClawMemory(place, PicoClawMemoryConfig(notes_days=config["days"]))
        return {"files": memory.note_files(), "context": memory.context()}


_OPERATIONS = {**legacy.OPERATIONS, **seahorse.OPERATIONS, "notes": _notes}

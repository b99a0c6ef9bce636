"""A conversation as a session log of ours: a head, and a record a line. Nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

from harness_nb.core.messages import to_json
from harness_nb.core.records import log_line
from harness_nb.core.transcript import Transcript
from harness_nb.lab.writers.losses import Losses


def written(transcript: Transcript, losses: Losses) -> Iterator[str]:
    """The text of the file."""
    head = {"kind": "session", "version": 1, "id": transcript.name, "model": transcript.model}
    yield f"{to_json({key: value for key, value in head.items() if value})}\n"
    for index, message in enumerate(transcript):
        yield f"{log_line(index, message)}\n"

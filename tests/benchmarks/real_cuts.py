"""Where a real system cut, beside where a preset does: `HARNESS_NB_DATA=… python tests/benchmarks/real_cuts.py [PRESET]`.

The session was recorded with two compactions of the system itself, pi, of which OpenClaw has its own. Each row says after how
many messages a compaction came, which message is the first that is shown as it was said, and how long the input was, real
sizes as billed. The preset acts on the same messages from the beginning, so its compactions come where its own list is long.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from harness_nb.core.transcript import Transcript
from harness_nb.lab.replay import replay
from harness_nb.lab.run import Step
from harness_nb.lab.transcripts import read_with_report

SESSION = "pi_sessions/before-compaction.jsonl"


class Cut(NamedTuple):
    """One compaction."""

    said: int
    system: str
    first_kept: int | None
    tokens_before: int
    tokens_after: int | None = None


def real_cuts(path: Path) -> list[Cut]:
    """The compactions that the recorded system made."""
    transcript, report = read_with_report(path)
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kept = [one["firstKeptEntryIndex"] for one in entries if one.get("type") == "compaction"]
    return [
        Cut(mark.index, "recorded", _index_of(transcript, entries[first:]), mark.tokens_before or 0)
        for mark, first in zip(report.compactions, kept, strict=True)
    ]


def _index_of(transcript: Transcript, entries: list[dict[str, object]]) -> int | None:
    """Log index of the first message at or behind an entry."""
    times = (str(one["timestamp"]) for one in entries if one.get("type") == "message")
    start = datetime.fromisoformat(next(times))
    return next((at for at, one in enumerate(transcript) if one.time is not None and one.time >= start), None)


def preset_cuts(path: Path, preset: str) -> list[Cut]:
    """The compactions that a preset makes of the same messages."""
    transcript, _ = read_with_report(path)
    run = replay(transcript, preset, model=None)
    return [
        Cut(one.index, preset, _first_kept(one), one.tokens_before, one.tokens_after)
        for one in run.compactions
        if _cuts(one)
    ]


def _cuts(step: Step) -> bool:
    """Whether messages left, as against results that were shortened."""
    return step.messages_after < step.messages_before


def _first_kept(step: Step) -> int | None:
    """Log index of the first message that is shown as it was said behind the last summary or note."""
    items = next(one.plan.input for one in reversed(step.passes) if one.plan.input is not None)
    made = max((at for at, item in enumerate(items) if item.index is None), default=-1)
    return next((item.index for item in items[made + 1 :]), None)


def main() -> int:
    """Prints the table."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        print("HARNESS_NB_DATA names no folder of recorded conversations.")
        return 2
    path, preset = Path(folder) / SESSION, sys.argv[1] if len(sys.argv) > 1 else "openclaw"
    print(
        f"{'messages said':>13}  {'system':<12}  {'first kept':>10}  {'kept':>5}  {'tokens before':>13}  {'after':>8}"
    )
    for cut in sorted((*real_cuts(path), *preset_cuts(path, preset))):
        kept = "-" if cut.first_kept is None else cut.said - cut.first_kept
        after = "-" if cut.tokens_after is None else f"{cut.tokens_after:,}"
        first = "-" if cut.first_kept is None else cut.first_kept
        print(f"{cut.said:>13}  {cut.system:<12}  {first:>10}  {kept:>5}  {cut.tokens_before:>13,}  {after:>8}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Three days in the life of an agent: two sessions, midnight in two time zones, a crash and a model that fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness_nb.agent.agent import HarnessAgent
from harness_nb.agent.hooks import Hook
from harness_nb.core.clock import Clock
from harness_nb.core.config import CompactionConfig, ToolResultEvictionConfig
from harness_nb.core.messages import ToolCall
from harness_nb.errors import ModelError
from harness_nb.model.scripted import Reply, ScriptedModel

TOKYO, BERLIN = "Asia/Tokyo", "Europe/Berlin"
MIDNIGHT = datetime(2026, 4, 10, 15, 0, tzinfo=UTC)  # of Tokyo; in Berlin it is five in the afternoon

PAGE = Path(__file__).parent.parent.parent / "notebooks" / "reference" / "files.md"
BLOCK = re.compile(r"^`([^`\n]+)`:\n\n```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

FIRST_DAY = """\
## 23:59:50 +09:00 · flush

- The lab uses Python 3.11 <!-- session tokyo · messages 0-1 -->

## 17:00:10 +02:00 · flush

- Zoe leads the project in Berlin <!-- session berlin · message 0 · user -->
"""
SECOND_DAY = """\
## 00:00:10 +09:00 · flush

- The default solver is RK45 <!-- session tokyo · message 2 · user -->

## 09:00:00 +09:00 · flush

- The cluster has 48 nodes <!-- session tokyo · message 4 · user -->

## 09:05:00 +09:00 · flush

- The default solver changed to DOP853 <!-- session tokyo · message 6 · user -->
"""
FIRST_MEMORY = """\
# Notes

- The lab uses Python 3.11
- Zoe leads the project in Berlin
- The default solver is RK45
- The cluster has 48 nodes
"""
SECOND_MEMORY = """\
# Notes

- The lab uses Python 3.11
- Zoe leads the project in Berlin
- The default solver is DOP853
- The cluster has 48 nodes
- Results go to /data/out
"""


def agent(
    folder: Path, moment: datetime, flush: Sequence[str] = (), consolidation: Sequence[Reply] = (), *,
    zone: str = TOKYO, session: str = "tokyo", hooks: Sequence[Hook] = (),
) -> HarnessAgent:  # fmt: skip
    """The agent at a moment, with what its model will note and write."""
    model = ScriptedModel(chat=["Noted."], flush=list(flush), consolidation=list(consolidation), repeat_last=True)
    clock = Clock.fixed(moment, zone)
    return HarnessAgent(
        "ann", model=model, workspace=folder, session=session, clock=clock, hooks=hooks, maintenance=None
    )


def crash(folder: Path) -> None:
    """The second morning: the process ends just after the fact was written, before the session says so."""

    def die(event: object) -> None:
        if type(event).__name__ == "FactsWritten":
            os._exit(9)

    at = MIDNIGHT + timedelta(hours=9)
    agent(folder, at, ["- The cluster has 48 nodes [#4]"], hooks=[die]).ask("The cluster has 48 nodes.")


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def live(workspace: Path) -> None:
    """Three days, looked at as they go."""
    with agent(workspace, MIDNIGHT - timedelta(seconds=10), ["- The lab uses Python 3.11"]) as tokyo:
        tokyo.ask("My lab uses Python 3.11, did I say that?")
    told = ["- Zoe leads the project in Berlin [#0]"]
    with agent(workspace, MIDNIGHT + timedelta(seconds=10), told, zone=BERLIN, session="berlin") as berlin:
        berlin.ask("Zoe leads the project in Berlin.")
    with agent(workspace, MIDNIGHT + timedelta(seconds=10), ["- The default solver is RK45 [#2]"]) as tokyo:
        tokyo.ask("The default solver is RK45.")

    done = subprocess.run([sys.executable, "-m", "tests.agent.test_three_days", str(workspace)], check=False)
    assert done.returncode == 9

    again = ["- the cluster has 48 nodes [#4]\n- The default solver changed to DOP853 [#6]"]
    with agent(workspace, MIDNIGHT + timedelta(hours=9, minutes=5), again, [ModelError("stuck")]) as tokyo:
        assert [message.text for message in tokyo.messages][-2:] == ["The cluster has 48 nodes.", "Noted."]
        tokyo.ask("The default solver changed to DOP853.")
        failed = tokyo.maintain()
        assert (failed["consolidate"].outcome, failed["consolidate"].detail) == ("failed", "stuck")
        assert tokyo.memory.pending().failures == 1 and len(tokyo.memory.pending().entries) == 5

    assert read(workspace, "memory/2026-04-10.md") == FIRST_DAY
    assert read(workspace, "memory/2026-04-11.md") == SECOND_DAY

    with agent(workspace, MIDNIGHT + timedelta(days=1, hours=1), [], [FIRST_MEMORY]) as tokyo:
        assert tokyo.consolidate().missing == ("The default solver changed to DOP853",)
    assert read(workspace, "MEMORY.md") == FIRST_MEMORY

    result = ["- Results go to /data/out [#8]"]
    with agent(workspace, MIDNIGHT + timedelta(days=1, hours=2), result, [SECOND_MEMORY]) as tokyo:
        tokyo.ask("Results go to /data/out.")
        report = tokyo.consolidate()
        assert (report.entries, report.missing) == (1, ())
        assert report.changes[-1].sources == ("memory/2026-04-12.md#3",)
        assert read(workspace, "MEMORY.md") == SECOND_MEMORY
        assert [one.number for one in tokyo.memory.versions()] == [1]
        tokyo.memory.restore(1)
        assert read(workspace, "MEMORY.md") == FIRST_MEMORY
        assert read(workspace, f"memory/versions/{tokyo.memory.versions()[1].path.rpartition('/')[2]}") == SECOND_MEMORY
        logs = tokyo.frames.daily_logs()
        assert list(logs["state"]) == ["merged"] * 6 and not logs["text"].str.casefold().duplicated().any()
        assert list(logs["in_memory"]) == [True, True, True, True, False, False]
        for fact in ("Python 3.11", "Zoe", "48 nodes", "DOP853", "/data/out"):
            assert tokyo.memory.search(fact), fact


def fourth_day(workspace: Path) -> None:
    """A large result, a pin, a compaction, and a change of the memory that waits for review."""

    def rows() -> str:
        """Gives a table."""
        return "".join(f"row {at}\n" for at in range(60))

    chat: list[Reply] = [ToolCall("c1", "rows"), "A table of 60 rows.", "Noted."]
    model = ScriptedModel(
        chat=chat, summary=["The table has 60 rows."], flush=["NO_REPLY", "- The paper is due on 2 May [#4]"],
        consolidation=["# Notes\n\n- The paper is due on 2 May"],
    )  # fmt: skip
    eviction = ToolResultEvictionConfig(max_result_chars=300, preview_chars=20)
    with HarnessAgent(
        "ann", model=model, workspace=workspace, session="paper", maintenance=None, tools=[rows], permissions="allow",
        clock=Clock.fixed(MIDNIGHT + timedelta(days=3), TOKYO), tool_result_eviction=eviction,
        compaction=CompactionConfig(trigger_messages=5, keep_messages=1, flush_before_compact=False),
    ) as ann:  # fmt: skip
        ann.ask("How long is the table?")
        ann.pin("Keep the table as it is.")
        ann.ask("The paper is due on 2 May. Shall we go on?")
        assert ann.consolidate().outcome == "waiting"


def test_three_days_leave_these_files_and_nothing_is_lost_or_doubled(workspace: Path) -> None:
    live(workspace)


def test_the_files_are_as_the_page_on_file_formats_says(workspace: Path) -> None:
    live(workspace)
    fourth_day(workspace)
    shown = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(shown) >= 9
    for name, kind, text in shown:
        written = (workspace / name).read_text(encoding="utf-8")
        if kind == "jsonl":
            lines = iter(written.splitlines())
            missing = [line for line in text.splitlines() if line not in lines]
            assert missing == [], name
        else:
            assert written == text, name


if __name__ == "__main__":
    crash(Path(sys.argv[1]))

"""Kills an agent at random instants of its life, and looks each time at what is left.

    python -m tests.fuzz.kills 200

The instants are random, but each of the phases that write (flush, swap of the list, consolidation, index) has its share:
where the process was, its journal tells. A life goes on after a kill, in the same files; every tenth life is a new one.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness_nb.core.clock import Clock
from harness_nb.core.rounds import problems
from harness_nb.memory.pending import pending
from harness_nb.model.base import ModelRequest
from harness_nb.store.index import MemoryIndex
from harness_nb.store.watermark import Watermark
from harness_nb.store.workspace import Workspace
from tests.fuzz.life import agent, fact, numbers

PHASES = ("flush", "swap", "consolidation", "index")
KILLS_PER_LIFE = 10
BEGINNING = datetime(2026, 4, 12, 9, 30, tzinfo=UTC)
BETWEEN = timedelta(hours=7)
PROJECT = Path(__file__).parent.parent.parent


@dataclass
class Life:
    """What is known of a life from its journals.

    Attributes:
        workspace: Its folder, alone in its parent.
        said: Facts that a model has heard, in order.
        noted: Facts that the agent said it has written down.
        moment: The time that the agent is told.
        next: Number of the next fact.
    """

    workspace: Path
    said: list[int] = field(default_factory=list)
    noted: set[int] = field(default_factory=set)
    moment: datetime = BEGINNING
    next: int = 0


def run(kills: int, seed: int = 0) -> Counter[str]:
    """Kills as often as said; what was hit, counted.

    Raises:
        AssertionError: Something was lost, doubled or unreadable; names the life and the kill.
    """
    chance, found = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        for start in range(0, kills, KILLS_PER_LIFE):
            life = Life(Path(folder) / str(start) / "workspace")
            life.workspace.parent.mkdir()
            for kill in range(start, min(start + KILLS_PER_LIFE, kills)):
                try:
                    found[f"killed in {killed(life, kill, _aimed_at(kill, found), chance)}"] += 1
                    found.update(looked_at(life))
                except AssertionError as error:
                    raise AssertionError(f"kill {kill} with seed {seed}: {error}") from error
            ended(life)
            found["lives"] += 1
    return found


def _aimed_at(kill: int, found: Counter[str]) -> str:
    """The phase that was hit least so far; every tenth kill is aimed at none."""
    return "" if kill % 10 == 4 else min(PHASES, key=lambda phase: found[f"killed in {phase}"])


def killed(life: Life, kill: int, target: str, chance: random.Random) -> str:
    """Lets the agent live and kills it; the phase in which it was, the innermost one."""
    journal = life.workspace.parent / f"journal-{kill}"
    command = [sys.executable, "-m", "tests.fuzz.life", str(life.workspace), str(journal), str(life.next)]
    with subprocess.Popen([*command, life.moment.isoformat()], cwd=PROJECT, stdout=subprocess.PIPE) as process:
        try:
            _wait(process, target, chance)
        finally:
            process.send_signal(signal.SIGKILL)
    lines = journal.read_text(encoding="utf-8").splitlines()
    said = [int(line.split()[1]) for line in lines if line.startswith("said")]
    life.next = max(said, default=life.next - 1) + 2  # the one behind may be on disk and not in the journal yet
    life.moment += BETWEEN
    life.said += said
    life.noted |= {int(word) for line in lines if line.startswith("noted") for word in line.split()[1:]}
    return _phase(lines)


def _wait(process: subprocess.Popen[bytes], target: str, chance: random.Random) -> None:
    """Waits for a random instant: somewhere, or inside a phase, by how long it took before in this process."""
    assert process.stdout is not None
    line = process.stdout.readline()
    while line and line != b"ready\n":
        line = process.stdout.readline()
    assert line, "the agent did not come to life"
    if not target:
        time.sleep(chance.random() * 1.5)
        return
    lengths, begun = [0.0], 0.0
    for _ in range(2 * chance.randint(2, 4) - 1):
        while line and line.split() not in ([b"begin", target.encode()], [b"end", target.encode()]):
            line = process.stdout.readline()
        if line.startswith(b"begin"):
            begun = time.monotonic()
        else:
            lengths.append(time.monotonic() - begun)
        line = b" "
    time.sleep(chance.random() * max(lengths))


def _phase(lines: Sequence[str]) -> str:
    """The innermost phase that had begun and not ended."""
    open_phases: list[str] = []
    for line in lines:
        word, _, name = line.partition(" ")
        if word == "begin":
            open_phases.append(name)
        elif word == "end" and name in open_phases:
            open_phases.reverse()
            open_phases.remove(name)
            open_phases.reverse()
    return open_phases[-1] if open_phases else "no phase"


# What must be left


def looked_at(life: Life) -> Counter[str]:
    """Looks at what a kill left, and lets the agent say one thing more; what had to be mended, counted."""
    found = _files(life.workspace)
    heard: list[ModelRequest] = []
    with agent(life.workspace, life.moment, heard.append) as ann:
        found["sessions with a torn line"] += any("no complete record" in text for text in ann.warnings)
        said = [one for message in ann.messages if message.origin == "user" for one in numbers(message.text)]
        assert said == sorted(set(said)), f"said twice or out of order: {said}"
        assert set(life.said) <= set(said), f"lost what was said: {sorted(set(life.said) - set(said))}"
        assert not said or not problems([item.message for item in ann.view().input], needs_reply=False)
        ann.ask(f"{fact(life.next)}.")
        life.said.append(life.next)
        life.next += 1
        assert all(not problems(request.messages) for request in heard), "no provider would take that"
        shown = [item.index for item in ann.view().input if item.index is not None]
        assert shown == sorted(set(shown)), f"shown twice or out of order: {shown}"
        found["indexes made again"] += any("set aside" in text for text in ann.memory.index.warnings)
    _facts(life)
    _index(life)
    return found


def _files(workspace: Path) -> Counter[str]:
    """Every file can be read; what was left half written is no file of ours."""
    found: Counter[str] = Counter()
    for path in sorted(workspace.rglob("*")):
        if not path.is_file() or path.suffix in (".lock", ".claim"):
            continue
        if path.name.startswith(".") and path.suffix == ".tmp":
            found["temporary files left"] += 1
            continue
        text = path.read_bytes().decode("utf-8")
        if path.name.endswith(".log.jsonl"):
            found["torn lines in session logs"] += sum(not _is_json(line) for line in text.split("\n") if line)
        elif path.suffix == ".jsonl":
            assert all(_is_json(line) for line in text.splitlines()), f"{path.name} is torn"
        elif path.suffix == ".json" or path.name == ".consolidation_state":
            assert _is_json(text), f"{path.name} is torn"
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _facts(life: Life) -> None:
    """No fact is lost or doubled, in the logs, in MEMORY.md and in its versions."""
    place = Workspace(life.workspace)
    logged = [one for entry in place.daily_log.entries() for one in numbers(entry.text)]
    twice = [one for one, number in Counter(logged).items() if number > 1]
    assert not twice, f"noted twice: {twice}"
    assert life.noted <= set(logged), f"lost what was noted: {sorted(life.noted - set(logged))}"
    assert all(numbers(entry.text) for entry in place.daily_log.entries()), "half a fact"
    merged = numbers(place.curated.read())
    assert len(merged) == len(set(merged)), "twice in MEMORY.md"
    assert set(merged) <= set(logged), "made up"
    state, warning = Watermark(place.watermark_path, clock=Clock.fixed(life.moment)).read()
    assert not warning, warning
    waiting = {one for entry in pending(place.daily_log, state.marks).entries for one in numbers(entry.text)}
    assert set(logged) <= set(merged) | waiting, (
        f"neither merged nor pending: {sorted(set(logged) - set(merged) - waiting)}"
    )
    for version in place.curated.versions():
        assert place.curated.version(version.number).strip()


def _index(life: Life) -> None:
    """The index says what an index says that is made from the files now."""
    place = Workspace(life.workspace)
    fresh = life.workspace.parent / "fresh" / "memory_index.db"
    with MemoryIndex.of(place) as index, MemoryIndex(life.workspace, database=fresh) as other:
        assert index.refresh() and other.refresh()
        assert _rows(index.path) == _rows(fresh), "the index differs from the files"
        for number in sorted(life.noted)[-3:]:
            assert index.search(f"fact-{number:06}", kinds=["daily"]), f"fact {number} is not found"
    shutil.rmtree(fresh.parent)


def _rows(database: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO line_fts(line_fts, rank) VALUES('integrity-check', 1)")
        rows = connection.execute(
            "SELECT path, line, date, text FROM line JOIN doc ON doc.id = line.doc ORDER BY path, line, text"
        )
        return rows.fetchall()


def ended(life: Life) -> None:
    """At the end of a life everything that was said is noted once, and merged once."""
    with agent(life.workspace, life.moment, lambda _: None) as ann:
        ann.flush()
        report = ann.consolidate()
        assert report.outcome in ("applied", "nothing"), report
    life.noted |= set(life.said)
    _facts(life)
    _index(life)
    place = Workspace(life.workspace)
    assert sorted(numbers(place.curated.read())) == sorted(
        one for entry in place.daily_log.entries() for one in numbers(entry.text)
    )


def main(kills: int) -> None:
    """Kills as often as said and prints what was hit."""
    begun = time.monotonic()
    found = run(kills)
    print(f"{kills} kills in {time.monotonic() - begun:.0f} s")
    for name, number in sorted(found.items()):
        print(f"{number:6}  {name}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)

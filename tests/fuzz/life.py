"""The life of an agent in a process of its own, which may be killed at any instant.

    python -m tests.fuzz.life WORKSPACE JOURNAL FIRST_FACT MOMENT [END]

It says one new fact a turn, lets a tool give a long result in every third, consolidates in every second, and writes down in
a journal what begins and ends, so that whoever kills it knows where it was. Files and database are slow inside these
phases, as on a busy disk, so that there is something to hit.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from harness_nb.agent.agent import HarnessAgent
from harness_nb.agent.flushing import Flushing
from harness_nb.agent.session import Session
from harness_nb.core.clock import Clock
from harness_nb.core.config import CompactionConfig, MemoryConfig, ToolResultEvictionConfig
from harness_nb.core.events import FactsWritten
from harness_nb.core.messages import ToolCall
from harness_nb.memory.design import TwoLayers
from harness_nb.model.base import ModelRequest
from harness_nb.model.scripted import ScriptedModel
from harness_nb.store.index import MemoryIndex

FACT = re.compile(r"Sample fact-(\d{6}) weighs \d+ grams")
SPOKEN = re.compile(r"^\[USER #(\d+)\] (Sample fact-\d{6} weighs \d+ grams)", re.MULTILINE)
BULLET = re.compile(r"^- (.+)$", re.MULTILINE)
TURNS = 60
PAGE = 4_096
SLOW_EVENTS = frozenset({"open", "os.rename", "os.remove", "os.chmod", "os.mkdir", "os.truncate"})


def fact(number: int) -> str:
    """A fact that nobody else states."""
    return f"Sample fact-{number:06} weighs {number * 7 % 1_000} grams"


def numbers(text: str) -> list[int]:
    """The numbers of the facts that a text states."""
    return [int(one) for one in FACT.findall(text)]


class Journal:
    """What began and ended, a line each, on disk before anything goes on.

    Args:
        path: Its file.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._write = os.write
        self.open: list[str] = []

    def note(self, *words: object) -> None:
        """Writes a line down, and tells whoever reads along."""
        line = (" ".join(map(str, words)) + "\n").encode()
        self._write(self._file, line)
        os.fdatasync(self._file)
        self._write(1, line)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """A phase of work."""
        self.note("begin", name)
        self.open.append(name)
        try:
            yield
        finally:
            self.open.pop()
            self.note("end", name)


def slowly(journal: Journal, chance: random.Random) -> None:
    """Makes files and databases slow inside phases; a write of many pages may stop between two of them."""
    write = os.write

    def pause(event: str, arguments: tuple[Any, ...]) -> None:
        if journal.open and event in SLOW_EVENTS:
            time.sleep(chance.random() * 0.002)
        if event == "sqlite3.connect/handle":
            arguments[0].set_progress_handler(busy, 100)

    def busy() -> int:
        if journal.open:
            time.sleep(0.0003)
        return 0

    def in_pieces(descriptor: int, data: Any) -> int:
        if not journal.open or not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return write(descriptor, data)
        time.sleep(chance.random() * 0.002)
        pages = len(data) // PAGE
        return write(descriptor, data[: PAGE * chance.randint(1, pages)] if pages else data)

    sys.addaudithook(pause)
    os.write = in_pieces  # type: ignore[assignment]


def journalled(journal: Journal) -> None:
    """Has the phases written down."""

    def around(owner: type, name: str, phase: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        @functools.wraps(inner)
        def plain(*given: Any, **options: Any) -> Any:
            with journal.phase(phase):
                return inner(*given, **options)

        @functools.wraps(inner)
        async def awaited(*given: Any, **options: Any) -> Any:
            with journal.phase(phase):
                return await inner(*given, **options)

        is_async = getattr(inner, "__code__", None) is not None and inner.__code__.co_flags & 0x80
        setattr(owner, name, awaited if is_async else plain)

    around(Flushing, "_flush", "flush")
    around(Session, "save_list", "swap")
    around(TwoLayers, "consolidate", "consolidation")
    around(MemoryIndex, "_write", "index")


class Talker:
    """The model: it calls a tool in every third turn, notes each fact that the user stated, and merges all of them.

    Args:
        heard: Called with a request of the loop: by then it is on disk.
    """

    def __init__(self, heard: Callable[[ModelRequest], None]) -> None:
        self._heard = heard

    def __call__(self, request: ModelRequest) -> Any:
        if request.purpose == "flush":
            return self._facts(request.messages[-1].text)
        if request.purpose == "consolidation":
            return self._memory(request.messages[-1].text)
        if request.purpose != "chat":
            return "## SESSION INTENT\nWeigh samples.\n## SUMMARY\nSome were weighed.\n" + "And so on. " * 30
        self._heard(request)
        last = request.messages[-1]
        found = numbers(last.text)
        if last.role == "user" and found and found[-1] % 3 == 0:
            return ToolCall(f"c{found[-1]}", "weigh", json.dumps({"number": found[-1]}))
        return "Noted. " + "It is written down. " * 20

    def _facts(self, text: str) -> str:
        _, _, said = text.rpartition("<conversation>")
        return "\n".join(f"- {what} [#{index}]" for index, what in SPOKEN.findall(said)) or "NO_REPLY"

    def _memory(self, text: str) -> str:
        facts = sorted({one for one in BULLET.findall(text) if FACT.fullmatch(one)})
        return "\n".join(["# Samples", "", *(f"- {one}" for one in facts)])


def weigh(number: int) -> str:
    """Weighs a sample and gives the whole protocol.

    Args:
        number: Which.
    """
    return f"protocol of sample {number}\n" + "a long line of the protocol\n" * (200 + number % 5 * 200)


def agent(workspace: Path, moment: datetime, heard: Callable[[ModelRequest], None], *, hooks: Any = ()) -> HarnessAgent:
    """The agent whose life it is."""
    return HarnessAgent(
        "ann",
        model=ScriptedModel([Talker(heard)], repeat_last=True),
        workspace=workspace,
        session="s",
        clock=Clock.fixed(moment),
        compaction=CompactionConfig(trigger_messages=8, keep_messages=3),
        tool_result_eviction=ToolResultEvictionConfig(max_result_chars=12_000, preview_chars=1_000),
        memory=MemoryConfig(max_memory_tokens=100_000, max_injected_tokens=500, review="doubtful"),
        maintenance=None,
        tools=[weigh],
        permissions="allow",
        hooks=hooks,
    )


def live(workspace: Path, journal: Journal, first: int, moment: datetime, turns: int = TURNS) -> None:
    """Lives for some turns."""

    def heard(request: ModelRequest) -> None:
        if request.messages[-1].role == "user":
            journal.note("said", *numbers(request.messages[-1].text)[-1:])

    def noted(event: object) -> None:
        if isinstance(event, FactsWritten):
            journal.note("noted", *(one for text in event.facts for one in numbers(text)))

    with agent(workspace, moment, heard, hooks=[noted]) as ann:
        journal.note("ready")
        for number in range(first, first + turns):
            ann.ask(f"{fact(number)}. {'Some words about it. ' * 20}")
            journal.note("answered", number)
            if number % 2:
                journal.note("consolidated", ann.consolidate().outcome)


def main(workspace: str, journal: str, first: str, moment: str) -> None:
    """Lives until it is killed."""
    notes = Journal(Path(journal))
    journalled(notes)
    slowly(notes, random.Random(f"{journal} {first}"))
    sqlite3.enable_callback_tracebacks(False)
    live(Path(workspace), notes, int(first), datetime.fromisoformat(moment))


if __name__ == "__main__":
    main(*sys.argv[1:])

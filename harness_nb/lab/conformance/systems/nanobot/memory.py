"""Nanobot's archive, and its Dream runs, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from harness_nb.agent.runner import runner
from harness_nb.core import archive
from harness_nb.core.clock import Clock
from harness_nb.core.messages import Message, ToolCall
from harness_nb.errors import ModelError
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.folders import folder, write_exact
from harness_nb.lab.conformance.systems.nanobot.texts import long_text
from harness_nb.memory.designs.nanobot import dream as dreaming
from harness_nb.memory.designs.nanobot.design import NanobotMemory
from harness_nb.memory.designs.nanobot.history import HistoryEntry
from harness_nb.memory.designs.nanobot.versions import FILES, SCHEDULED_SUBJECT, MemoryVersion
from harness_nb.presets.nanobot import memory_settings, raw_entry
from harness_nb.store.workspace import Workspace

_START = "2026-07-20T12:00:00"
_ACTIVE = "2026-07-20T11:00:00"
_STUB_GUIDE_CHARS = 5
_BODY_LINES = 6
_LONG_CHARS = 2_000


def remembered(given: Given) -> Mapping[str, Any]:
    """Carries out the steps of a case in a folder of its own."""
    stub = given.more.get("stub") or {}
    answers = [_answer(one) for one in stub.get("turn_answers", ())]
    setup = given.more["setup"]
    with folder({name: _text(one) for name, one in setup["files"].items()}, answers=answers) as parts:
        clock = _Clock()
        workspace = Workspace(parts.workspace.path, clock=Clock(read=clock))
        config = given.config
        is_head = given.more["presets"] == ["nanobot_head"]
        own = {} if "max_history_entries" not in config else {"max_history_entries": config["max_history_entries"]}
        own |= {} if "max_iterations" not in config else {"dream_max_steps": config["max_iterations"]}
        settings = memory_settings(
            "head" if is_head else "july", strict_lines=not is_head, versions=setup["git"], **own
        )
        memory = NanobotMemory(replace(parts, workspace=workspace), settings)
        if setup["git"]:
            memory.versions.begin()
        case = _Steps(memory, clock)
        return {"steps": [case.step(one) for one in given.more["steps"]]}


class _Clock:
    """A clock that steps set."""

    def __init__(self) -> None:
        self.now = _moment(_START)

    def __call__(self) -> datetime:
        return self.now


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class _Steps:
    """Carries steps out one by one."""

    def __init__(self, memory: NanobotMemory, clock: _Clock) -> None:
        self.memory, self.clock = memory, clock
        self.history, self.files = memory.history, memory.workspace

    def step(self, given: Mapping[str, Any]) -> Any:
        """What came of a step; the name of what the real system raised."""
        try:
            return getattr(self, f"_{given['op']}")(given)
        except AttributeError as error:
            if not isinstance(error.obj, list | str | int | float):
                raise
            return {"error": "AttributeError"}

    # The archive

    def _clock(self, given: Mapping[str, Any]) -> None:
        self.clock.now = _moment(given["value"])

    def _write(self, given: Mapping[str, Any]) -> None:
        write_exact(self.files.path / given["path"], given["text"])

    def _read(self, given: Mapping[str, Any]) -> Any:
        return self.files.read(given["path"])

    def _exists(self, given: Mapping[str, Any]) -> list[str]:
        return [name for name in given["paths"] if (self.files.path / name).exists()]

    def _append(self, given: Mapping[str, Any]) -> dict[str, int]:
        return {"cursor": self.history.append(given["entry"], session_key=given.get("session_key")).cursor}

    def _raw_archive(self, given: Mapping[str, Any]) -> dict[str, Any]:
        messages = [_message(one) for one in given["messages"]]
        text = raw_entry(messages, given.get("max_chars") or archive.RAW_CHARS)
        return {
            "entry": long_text(self.history.append(text, session_key=given.get("session_key")).content, _LONG_CHARS)
        }

    def _entries(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{**one.record, "content": long_text(one.content, _LONG_CHARS)} for one in self.history.entries()]

    def _latest_cursor(self, given: Mapping[str, Any]) -> int:
        return self.history.latest

    def _unprocessed(self, given: Mapping[str, Any]) -> list[int]:
        return _cursors(self.history.unread(given["since"]))

    def _recent(self, given: Mapping[str, Any]) -> list[int]:
        shown = self.history.recent(given["session_key"], since=given["since"], unified=given.get("unified", False))
        return _cursors(shown)

    def _compact(self, given: Mapping[str, Any]) -> list[int]:
        self.history.shorten()
        return _cursors(self.history.entries())

    def _prompt_sections(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        self.memory.begin(given.get("session_key") or "")
        self.memory.summary, self.memory.last_active = given.get("session_summary") or "", _ACTIVE
        files = [(name, text.removeprefix("# Memory\n\n")) for name, text in self.memory.file_sections()]
        found = [{"section": name, "text": long_text(text, _LONG_CHARS)} for name, text in files]
        for section in self.memory.sections(_Bytes())[len(found) :]:
            found.append(_section(section))
        return found

    # Dream runs

    def _set_dream_cursor(self, given: Mapping[str, Any]) -> int:
        self.history.read_upto = given["value"]
        return self.history.read_upto

    def _disabled_startup(self, given: Mapping[str, Any]) -> int:
        self.history.read_upto = self.history.latest
        return self.history.read_upto

    def _dream_batch(self, given: Mapping[str, Any]) -> dict[str, Any] | None:
        batch = self.memory.dream().batch()
        if batch is None:
            return None
        is_ours = batch.guide == dreaming.GUIDE
        return {
            "last_cursor": batch.last_cursor,
            "guide_chars": _STUB_GUIDE_CHARS if is_ours else len(batch.guide),
            "files": {name: long_text(text.rstrip(), _LONG_CHARS) for name, text in batch.files.items()},
            "history": long_text(batch.history, _LONG_CHARS),
            "history_lines": sum(line.startswith("[") for line in batch.history.split("\n")),
        }

    def _dream(self, given: Mapping[str, Any]) -> dict[str, Any]:
        before, entries = self.history.read_upto, len(self.history.entries())
        report = runner.wait(self.memory.run_dream())
        return {
            "outcome": report.outcome,
            "committed": bool(report.version),
            "tools": list(report.tools),
            "cursor_before": before,
            "cursor_after": report.read_upto,
            "model_calls": report.model_calls,
            "entries_before": entries,
            "entries_after": len(self.history.entries()),
            "recent_history_in_prompt": False,
            "files": {name: self.files.read(name) for name in FILES},
            "commits": self._commits(given),
        }

    def _scheduled_commit(self, given: Mapping[str, Any]) -> dict[str, Any] | None:
        made = self.memory.versions.commit(SCHEDULED_SUBJECT)
        return None if made is None else _commit(made)

    def _content_changed(self, given: Mapping[str, Any]) -> bool:
        return bool(self.memory.versions.changes())

    def _commits(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [_commit(one) for one in reversed(self.memory.versions.all())]

    def _restore(self, given: Mapping[str, Any]) -> dict[str, Any]:
        dreams = self.memory.dreams()
        nth = given["nth_newest"]
        is_restored = nth < len(dreams) and self.memory.restore(dreams[nth].id)
        return {"restored": is_restored, "dream_cursor": self.history.read_upto}


class _Bytes:
    """One token a byte."""

    name = "bytes"

    def count_text(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))


def _section(text: str) -> dict[str, Any]:
    heading, _, body = text.partition("\n\n")
    if heading != "# Recent History":
        return {"section": "archived_summary", "text": long_text(body, _LONG_CHARS)}
    return {
        "section": "recent_history",
        "text": long_text(body, _LONG_CHARS),
        "lines": sum(line.startswith("- [") for line in body.split("\n")),
        "truncated": body.endswith(archive.CUT_SUFFIX),
    }


def _commit(version: MemoryVersion) -> dict[str, Any]:
    lines = [line for line in version.body.split("\n") if line]
    return {"subject": version.subject, "has_body": bool(lines), "body_head": lines[:_BODY_LINES]}


def _cursors(entries: Sequence[HistoryEntry]) -> list[int]:
    return [one.cursor for one in entries]


def _text(given: Any) -> str:
    """A file as recorded: a text, or lines of which some are objects."""
    if isinstance(given, str):
        return given
    return "".join(f"{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}\n" for one in given)


def _message(given: Mapping[str, Any]) -> Message:
    time = given.get("timestamp")
    wire = {key: value for key, value in given.items() if key != "timestamp"}
    return Message.from_openai(wire, time=_moment(time) if time else None)


def _answer(given: Mapping[str, Any]) -> Any:
    if "error" in given:
        return ModelError(str(given["error"]), "")
    calls = [ToolCall(one["id"], one["name"], json.dumps(one["arguments"])) for one in given.get("tool_calls") or ()]
    return Message.assistant(given.get("text"), calls, finish=given.get("finish_reason") or "")

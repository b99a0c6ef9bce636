"""What OpenHarness keeps track of while it works: goals, files, what was checked and done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness_nb.core.messages import Message, ToolCall

_GOAL_CHARS = 240
_ENTRY_CHARS = 320
_MOST = {
    "recent_goals": 5,
    "active_artifacts": 8,
    "verified_state": 10,
    "recent_verified_work": 10,
    "recent_work_log": 10,
    "invoked_skills": 8,
    "read_file_state": 6,
}
_LINES = 200  # that a reading tool gives by default
_PREVIEW_LINES = 6


class Tracked:
    """The state of the work, as far as messages tell it.

    Attributes:
        state: By name, as `carryover.Carryover`.
    """

    def __init__(self) -> None:
        focus: dict[str, Any] = {
            "goal": "",
            "recent_goals": [],
            "active_artifacts": [],
            "verified_state": [],
            "next_step": "",
        }
        self.state: dict[str, Any] = {"task_focus_state": focus}
        self._calls: dict[str, ToolCall] = {}
        self._time = 0

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Tracked:
        """The state after some messages."""
        made = cls()
        for message in messages:
            made.take(message)
        return made

    @property
    def focus(self) -> dict[str, Any]:
        """Goals, files and what was checked."""
        found: dict[str, Any] = self.state["task_focus_state"]
        return found

    def take(self, message: Message) -> None:
        """Takes one message in. Failed results count as nothing done."""
        if message.role == "user" and message.origin == "user":
            self._goal(message.text)
        self._calls |= {call.id: call for call in message.calls}
        call = self._calls.get(message.call_id or "") if message.role == "tool" else None
        if call is not None and message.status in ("", "ok"):
            self._done(call, call.parsed() or {}, message.text)

    def _goal(self, text: str) -> None:
        goal = " ".join(text.split())[:_GOAL_CHARS]
        if goal:
            self._add(self.focus, "recent_goals", goal)
            self.focus["goal"] = goal

    def _done(self, call: ToolCall, arguments: Mapping[str, Any], result: str) -> None:
        path = _text(arguments, "path") or _text(arguments, "file_path")
        if path:
            self._add(self.focus, "active_artifacts", path[:_GOAL_CHARS])
        outcome = next((line.strip() for line in result.splitlines() if line.strip()), "no output")[:120]
        match call.name:
            case "read_file" if path:
                self._read(path, arguments, result)
            case "write_file" | "edit_file" if path:
                self._log(f"Changed {path}")
            case "bash":
                self._checked(f"Ran {_text(arguments, 'command')[:160]!r}: {outcome}", logs=True)
            case "grep" | "glob":
                self._checked(f"Searched for {_text(arguments, 'pattern')[:180]}", logs=call.name == "grep")
            case "web_fetch" if _text(arguments, "url"):
                self._add(self.focus, "active_artifacts", _text(arguments, "url")[:_GOAL_CHARS])
                self._checked(f"Fetched {_text(arguments, 'url')}")
            case "web_search" if _text(arguments, "query"):
                self._checked(f"Searched the web for {_text(arguments, 'query')[:180]}")
            case "skill" if _text(arguments, "name"):
                self._add(self.state, "invoked_skills", _text(arguments, "name"))

    def _read(self, path: str, arguments: Mapping[str, Any], result: str) -> None:
        start, count = _number(arguments, "offset", 0), _number(arguments, "limit", _LINES)
        span = f"lines {start + 1}-{start + count}"
        self._time += 1
        preview = " | ".join(line.strip() for line in result.splitlines()[:_PREVIEW_LINES] if line.strip())
        files = [one for one in self.state.get("read_file_state", []) if one["path"] != path]
        files.append({"path": path, "span": span, "preview": preview[:_ENTRY_CHARS], "timestamp": float(self._time)})
        self.state["read_file_state"] = files[-_MOST["read_file_state"] :]
        self._checked(f"Read {path} ({span})", logs=True)

    def _checked(self, text: str, *, logs: bool = False) -> None:
        self._add(self.state, "recent_verified_work", text[:_ENTRY_CHARS])
        self._add(self.focus, "verified_state", text[:_ENTRY_CHARS])
        if logs:
            self._log(text)

    def _log(self, text: str) -> None:
        log = self.state.setdefault("recent_work_log", [])
        self.state["recent_work_log"] = [*log, text[:_ENTRY_CHARS]][-_MOST["recent_work_log"] :]

    @staticmethod
    def _add(state: dict[str, Any], name: str, entry: str) -> None:
        """Puts an entry behind the others, each of which is there once."""
        others = [one for one in state.get(name, []) if one != entry]
        state[name] = [*others, entry][-_MOST[name] :]


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""


def _number(arguments: Mapping[str, Any], name: str, default: int) -> int:
    value = arguments.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default

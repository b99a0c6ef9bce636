"""Nanobot's compaction: turns, a session left idle, and a new session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from harness_nb.agent.conversation import Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.archive import CUT_SUFFIX, summary_line
from harness_nb.core.clock import Clock
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask, Evict, Failure, Reply
from harness_nb.core.tokens import CharsCounter, Measure
from harness_nb.core.tool import Tool
from harness_nb.core.view import Hook, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Worded, Wording
from harness_nb.lab.conformance.driving import Driven, Stub, conversation, drive, policy_of
from harness_nb.lab.conformance.folders import folder
from harness_nb.lab.conformance.systems.nanobot.rounds import Watching, detail, estimates, rounds_of, status
from harness_nb.lab.conformance.systems.nanobot.texts import long_text
from harness_nb.memory.designs.base import DesignParts
from harness_nb.memory.designs.nanobot.design import NanobotMemory
from harness_nb.presets import Preset, get
from harness_nb.presets.nanobot import NanobotRecord, Sending, memory_settings
from harness_nb.store.workspace import Workspace

if TYPE_CHECKING:
    from harness_nb.policies.nanobot.policy import NanobotPolicy

_LONG_CHARS = 400


def preset_of(given: Given) -> Preset:
    """The preset that a case means, with its settings."""
    config = given.config
    names = {
        "max_output_tokens",
        "safety_buffer",
        "consolidation_ratio",
        "max_rounds",
        "session_file_cap",
        "idle_minutes",
    }
    names |= {"context_window", "replay_max_messages", "replay_min_messages"}
    estimator = {"cl100k_base": "joined_tokens", "tokenizer_missing": "missing"}.get(config["estimator"], "utf8_bytes")
    settings = {key: config[key] for key in names & config.keys()}
    is_head = "nanobot_head" in given.more["presets"]
    if config["estimator"] == "tokenizer_missing" and is_head:
        estimator = "utf8_bytes"
    settings |= {
        "estimator": estimator,
        "instruction": config["instruction"],
        "idle_at_turn": False,
        "trims_replies": True,
    }
    return get("nanobot", variant="head" if is_head else "july", **settings)


def compacted(given: Given) -> Mapping[str, Any]:
    """Lets a session come to its next turn, lie idle, or end."""
    preset = preset_of(given)
    with folder(given.config.get("files"), now=_clock(given)) as parts:
        case = _Session(given, preset, parts)
        match given.config["op"]:
            case "idle":
                return case.left_idle()
            case "new":
                return case.begun_anew()
        return case.turn()


def _clock(given: Given) -> datetime:
    return datetime.fromisoformat(given.config["clock"]).replace(tzinfo=UTC)


class _Session:
    """A session as recorded, with its memory on disk."""

    def __init__(self, given: Given, preset: Preset, parts: DesignParts) -> None:
        config = self.config = given.config
        self.policy: NanobotPolicy = policy_of(preset)
        self.now = _clock(given)
        workspace = Workspace(parts.workspace.path, clock=Clock(read=lambda: self.now))
        settings = memory_settings(preset.variant)
        self.memory = NanobotMemory(replace(parts, workspace=workspace), settings)
        self.key = config["session_key"]
        self.memory.begin(self.key)
        for one in config.get("history", ()):
            self.memory.history.append(one["content"], session_key=one.get("session_key"))
        if "dream_cursor" in config:
            self.memory.history.read_upto = config["dream_cursor"]
        if config.get("last_summary"):
            self.memory.set_summary(config["last_summary"], self._active())
        self.stub = Stub(given.answers)
        self.limits = ModelLimits(name="stub", window=max(1, config["context_window"]))
        self.messages = tuple(replace(one, time=self.now) for one in given.messages())
        is_turn = config["op"] == "turn"
        self.talk = conversation(self.messages, now=lambda: self.now, measure=_measure(config["estimator"]))
        self.talk.turn = len(self.messages) - 1 if is_turn else len(self.messages)
        start = next((at for at, one in enumerate(self.messages) if one.role != "system"), len(self.messages))
        self.first = start
        self.talk.state = NanobotRecord(begins=start, archived=config.get("first_unarchived", start))
        self.tools = tuple(_tool(one) for one in config.get("tools") or ())
        self._views: list[View] = []

    # Operations

    def turn(self) -> dict[str, Any]:
        """The turn with which the messages end, and where there is one, another."""
        shown = self.memory.summary
        found = self._archived_rounds("turn")
        sent = self._sent(shown)
        found |= {"output": sent.output, **sent.before_governance}
        found["token_estimates"] |= {"sent": sent.tokens, "per_message": self._per_message()}
        self.talk.add(replace(Message.assistant("ok"), time=self.now))
        after = self._archived_rounds("end")
        found["post_turn"] = {key: value for key, value in after.items() if key not in ("status", "triggered")}
        found["stored_messages"] = len(self._rows())
        found["next_turn"] = self._next("next question").output
        return found

    def left_idle(self) -> dict[str, Any]:
        """A session that nobody answers for a while."""
        config = self.config
        active = self._active()
        self.now += timedelta(seconds=config["idle_seconds"])
        view = self._view("idle")
        is_due = self.policy.is_idle(view) and not config.get("session_active")
        has_work = bool(self.policy.idle_chunk(view)[0])
        found = self._archived_rounds("idle", active=active, acts=is_due and has_work)
        found["scheduled"] = int(is_due and has_work)
        found["stored"] = self._rows()
        found["token_estimates"] = {"budget": self._budget, "per_message": self._per_message()}
        sent = self._next("follow-up")
        return {**found, "output": sent.output, **sent.before_governance}

    def begun_anew(self) -> dict[str, Any]:
        """A session that the user ends."""
        found = self._archived_rounds("new")
        self.memory.set_summary("", "")
        found["stored"] = self._rows()
        found["last_summary"] = None
        found["token_estimates"] = {"budget": self._budget, "per_message": self._per_message()}
        sent = self._next("hello again", named="follow-up")
        return {**found, "reply": "New session started.", "output": sent.output, **sent.before_governance}

    # One check

    def _archived_rounds(self, hook: Hook, *, active: str = "", acts: bool = True) -> dict[str, Any]:
        calls, cursor = self.stub.calls, self.memory.history.latest
        driven = self._drive(hook) if acts else None
        rounds = rounds_of(self.policy, self._views, driven.plans) if driven is not None else ()
        for one in driven.passes if driven is not None else ():
            before = self.memory.summary
            self.memory.remember(one.plan.remember)
            if active and self.memory.summary != before:
                self.memory.set_summary(self.memory.summary, active)
        entries = [entry.record for entry in self.memory.history.entries() if entry.cursor > cursor]
        details = [detail(self.policy, one) for one in rounds]
        modes = [one["mode"] for one in details]
        return {
            "status": status(modes),
            "triggered": bool(rounds),
            "rounds": len(rounds),
            "summarised": [list(one.chunk) for one in rounds],
            "round_details": details,
            "model_calls": self.stub.calls - calls,
            "history_entries": [{**one, "content": _long(one["content"])} for one in entries],
            "first_unarchived": self._first_unarchived(),
            "last_summary": _long(self.memory.summary) if self.memory.summary else None,
            "token_estimates": estimates(self.policy, self._views, driven.plans) if driven is not None else {},
        }

    # What is sent

    def _sent(self, shown: str, named: str = "") -> _Sent:
        before = self.talk.outgoing[:]
        around = self._around(summary=shown)
        view = self.talk.view("request", around)
        driven = drive(self.talk, self.policy, "request", around, self._respond)
        items = driven.items
        made = self._output(items, view, named)
        earlier = self._output(before, view, named)
        sending = Sending(view, self.policy.config, self.policy.sizes(view), self.policy.system(view))
        tokens = sending.tokens(items)
        is_worded = any(item.how in ("evicted", "cleared") or item.index is None for item in items)
        governed = {} if earlier == made else {"output_before_governance": earlier}
        return _Sent(made, governed, Worded(tokens) if is_worded else tokens)

    def _next(self, text: str, named: str = "") -> _Sent:
        """Another turn."""
        shown = self.memory.summary
        self.talk.next_input = None
        self.talk.begin_turn(replace(Message.user(text), time=self.now))
        driven = self._drive("turn")
        for one in driven.passes:
            self.memory.remember(one.plan.remember)
        return self._sent(shown, named)

    def _output(self, items: Sequence[Item], view: View, named: str) -> list[dict[str, Any]]:
        system = [{"kind": "verbatim", "index": at} for at in range(self.first)]
        return [*system, *self._sections(view), *self._rows_of(items, named)]

    def _rows_of(self, items: Sequence[Item], named: str) -> Iterable[dict[str, Any]]:
        turn = self.talk.turn
        at_turn = next((at for at, item in enumerate(items) if item.index == turn), -1)
        is_joined = at_turn > 0 and items[at_turn - 1].message.role == "user"
        for at, item in enumerate(items):
            row = _row(item)
            if is_joined and at in (at_turn - 1, at_turn):
                row["joined"] = True
            if named and item.index == turn:
                row["index"] = named
            yield row

    def _sections(self, view: View) -> Iterable[dict[str, Any]]:
        for name, text in self.memory.file_sections():
            yield {"kind": "note", "in": "system", "section": name, "text": _long(text.removeprefix("# Memory\n\n"))}
        recent = self.policy.recent(view)
        if recent:
            cut = recent.endswith(CUT_SUFFIX)
            yield {"kind": "note", "in": "system", "section": "recent_history", "text": _long(recent), "truncated": cut}
        if view.host.get("summary"):
            text = summary_line(str(view.host["summary"]), str(view.host["last_active"]))
            yield {"kind": "summary", "in": "system", "section": "archived_summary", "text": _long(text)}

    # Beside it

    def _drive(self, hook: Hook) -> Driven:
        self._views = []
        watched = Watching(self.policy, self._views)
        return drive(self.talk, watched, hook, self._around(), self._respond)

    def _view(self, hook: Hook) -> View:
        return self.talk.view(hook, self._around())

    def _around(self, summary: str | None = None) -> Surroundings:
        base = "\n".join(one.text for one in self.messages if one.role == "system")
        told = {
            "sections": tuple(text for _, text in self.memory.file_sections()),
            "archive": self.memory.entries(),
            "summary": self.memory.summary if summary is None else summary,
            "last_active": self.memory.last_active,
        }
        return Surroundings(model=self.limits, system=base, tools=self.tools, host=told)

    def _respond(self, effect: Effect) -> Answer:
        if isinstance(effect, Begun | Leaving):
            return None
        if isinstance(effect, Evict):
            return Reply(f"tool-results/{effect.call_id}.txt")
        if not isinstance(effect, Ask):
            return Failure("error", "not recorded")
        answer = self.stub.next(effect)
        if "error" in answer:
            return Reply(None, Failure("error", str(answer["error"])))
        finish = answer.get("finish_reason") or ("tool_calls" if answer.get("tool_calls") else "stop")
        return Reply(answer.get("text") or "", finish=finish)

    @property
    def _budget(self) -> int:
        return self.policy.config.budget(self.config["context_window"])

    def _active(self) -> str:
        return self.now.replace(tzinfo=None).isoformat()

    def _state(self) -> NanobotRecord:
        state = self.talk.state
        return state if isinstance(state, NanobotRecord) else NanobotRecord()

    def _rows(self) -> list[int]:
        log, begins = self.talk.log, self._state().begins
        return [index for index in range(begins, len(log)) if log[index].role != "system"]

    def _first_unarchived(self) -> int:
        """Position of the first stored message that is not archived, the system message counted."""
        return self.first + sum(index < self._state().archived for index in self._rows())

    def _per_message(self) -> list[int | None]:
        size = self.policy.sizes(self._view("turn")).message
        return [None if one.role == "system" else size(one) for one in self.messages]


@dataclass(frozen=True, slots=True)
class _Sent:
    output: list[dict[str, Any]]
    before_governance: dict[str, Any]
    tokens: int


def _row(item: Item) -> dict[str, Any]:
    if item.index is None:
        called = item.message.call_id
        return {"kind": "note", "role": item.message.role, "tool_call_id": called, "text": Wording(item.message.text)}
    if item.how in ("evicted", "cleared"):
        return {"kind": "placeholder", "index": item.index}
    if item.how == "truncated":
        text = item.message.text
        return {"kind": "truncated", "index": item.index, "chars": len(text), "head": 0, "tail": 0, "text": text}
    return {"kind": "verbatim", "index": item.index}


def _long(text: str) -> Any:
    return long_text(text, _LONG_CHARS)


def _measure(estimator: str) -> Measure:
    if estimator != "cl100k_base":
        return Measure(CharsCounter())
    from harness_nb.model.tokenizer import TiktokenCounter

    return Measure(TiktokenCounter("cl100k_base"))


def _tool(wire: Mapping[str, Any]) -> Tool:
    schema = wire.get("function", wire)
    return Tool(
        name=schema["name"],
        description=schema.get("description", ""),
        parameters=schema.get("parameters", {}),
        function=lambda: "",
    )

"""Rollouts of the Codex CLI: JSON Lines under `~/.codex/sessions`, an item a line.

Built from the protocol that Codex publishes (github.com/openai/codex: `codex-rs/protocol/src/protocol.rs` and
`models.rs`) and from public descriptions of recorded files (AcidicSoil/codex-session-viewer,
jnarowski/agentcmd `.agent/research/codex/format-comparison.md`).

A line has a `type` and a `payload`. `response_item` is what the model saw and said, item by item: one answer is spread over
reasoning, texts and calls, and is put together here. `event_msg` repeats that for the screen and adds usage, rollbacks
and aborted turns; `compacted` marks a compaction; `session_meta` and `turn_context` name instructions and model. The
oldest files have the items bare, without a payload. Sub-agents have files of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from harness_nb.core.messages import Message, Part, ToolCall, Usage, part_from_openai, to_json
from harness_nb.lab.entries import UNREADABLE, Compacted, Dropped, Entry, Line, Place, Said, Skipped
from harness_nb.lab.readers.blocks import as_content, count, moment, picture, reasoning, tool_call

NAME = "Codex"

_TYPES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_BARE_ITEMS = {"reasoning", "function_call", "function_call_output", "local_shell_call"}
_BY_HARNESS = re.compile(r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|permissions)|# AGENTS\.md )")
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d+)", re.MULTILINE)
_EXIT_CODE_IN_JSON = re.compile(r'"exit_code":\s*(-?\d+)')
_ABORTED = "aborted by user"
_CHARS_LOOKED_AT = 400
"""At the beginning of a result, and of one in JSON at the end, where the exit code stands."""


def claims(value: Any) -> bool:
    """True for a line with a type of Codex and a payload, and for the bare items of the oldest files."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in _TYPES:
        return isinstance(value.get("payload"), dict)
    return value["type"] in _BARE_ITEMS and "role" not in value and ("call_id" in value or "summary" in value)


def read(lines: Iterable[Line]) -> Iterator[Entry]:
    """The messages and marks; turns that were rolled back are dropped."""
    rollout = _Rollout()
    for line in lines:
        try:
            rollout.take(line)
        except UNREADABLE:
            rollout.entries.append(Skipped(line.place, "a line that is not as Codex writes it"))
    rollout.close_answer()
    return iter(rollout.entries)


@dataclass(slots=True)
class _Answer:
    """An answer as far as its items are known."""

    place: Place
    time: datetime | None
    parts: list[Part] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def message(self) -> Message:
        content = as_content(tuple(self.parts)) if self.parts else None
        return Message("assistant", content, calls=tuple(self.calls), time=self.time)


@dataclass(slots=True)
class _Rollout:
    """What a rollout says, line by line."""

    entries: list[Entry] = field(default_factory=list)
    model: str = ""
    _answer: _Answer | None = None
    _names: dict[str, str] = field(default_factory=dict)
    _billed: Mapping[str, Any] | None = None
    _has_begun: bool = False

    def take(self, line: Line) -> None:
        """Takes the next line."""
        value = line.value
        kind = value.get("type") if isinstance(value, Mapping) else None
        if kind == "response_item":
            self._item(line, value["payload"])
        elif kind == "event_msg":
            self._event(line.place, value["payload"])
        elif kind == "compacted":
            self._compacted(line.place, value["payload"])
        elif kind == "turn_context":
            self.model = str(value["payload"].get("model") or self.model)
        elif kind == "session_meta":
            self._instructions(line, value["payload"].get("base_instructions"))
        elif kind in _ITEMS:
            self._item(line, value)

    def close_answer(self) -> None:
        """Tells the answer in progress."""
        if self._answer is not None:
            answer, self._answer = self._answer, None
            self.entries.append(Said(answer.place, answer.message(), self.model))

    def _item(self, line: Line, item: Mapping[str, Any]) -> None:
        make = _ITEMS.get(item["type"])
        if make is not None:
            make(self, line, item)

    def _instructions(self, line: Line, instructions: Any) -> None:
        text = instructions.get("text") if isinstance(instructions, Mapping) else instructions
        if isinstance(text, str) and text.strip() and not self._has_begun:
            self._say(line, Message.system(text))

    def _say(self, line: Line, message: Message) -> None:
        self.close_answer()
        self.entries.append(Said(line.place, replace(message, time=_time(line))))

    def _message(self, line: Line, item: Mapping[str, Any]) -> None:
        found = tuple(_part(block) for block in item["content"])
        if item["role"] == "assistant":
            self._open_answer(line).parts.extend(found)
            return
        message = Message.user(as_content(found))
        if item["role"] == "user":
            by_harness = _BY_HARNESS.match(message.text) is not None
            self._has_begun |= not by_harness
            self._say(line, replace(message, origin="harness") if by_harness else message)
        elif self._has_begun:  # a system message inside a conversation is refused by providers
            self._say(line, replace(message, origin="harness"))
        else:
            self._say(line, Message("system", message.content))

    def _reasoning(self, line: Line, item: Mapping[str, Any]) -> None:
        texts = [one["text"] for key in ("summary", "content") for one in item.get(key) or () if "text" in one]
        self._open_answer(line).parts.append(reasoning("\n".join(texts), item))

    def _call(self, line: Line, item: Mapping[str, Any]) -> None:
        given, rest = item.get("arguments", item.get("action")), ""
        if item["type"] == "custom_tool_call":
            given, rest = item["input"], to_json({"type": "custom"})
        name = item.get("name") or "local_shell"
        call = tool_call(item.get("call_id") or item["id"], name, given, rest=rest)
        self._names[call.id] = call.name
        self._open_answer(line).calls.append(call)

    def _result(self, line: Line, item: Mapping[str, Any]) -> None:
        call_id, output = str(item["call_id"]), item.get("output")
        content = _output(output)
        name = self._names.get(call_id)
        self._say(line, Message.tool(call_id, content, name=name, status=_status(output, content)))

    def _searched(self, line: Line, item: Mapping[str, Any]) -> None:
        """What the provider did by itself, without a result to send back."""
        self._open_answer(line).parts.append(part_from_openai(item))

    def _open_answer(self, line: Line) -> _Answer:
        """The answer in progress; it ends at a result, a message of someone else or a bill."""
        if self._answer is None:
            self._answer = _Answer(line.place, _time(line))
        return self._answer

    def _compacted(self, place: Place, payload: Mapping[str, Any]) -> None:
        self.close_answer()
        last = self._billed.get("last_token_usage") if self._billed else None
        before = count(last, "total_tokens") if isinstance(last, Mapping) else 0
        self.entries.append(Compacted(place, str(payload.get("message") or ""), before or None))

    def _event(self, place: Place, event: Mapping[str, Any]) -> None:
        if event.get("type") == "token_count":
            self._usage(event.get("info"))
        elif event.get("type") == "thread_rolled_back":
            self.close_answer()
            self._roll_back(int(event["num_turns"]))

    def _usage(self, info: Any) -> None:
        """Puts what a request cost to its answer. The same figures are told again when limits change."""
        if not isinstance(info, Mapping) or info == self._billed:
            return
        self.close_answer()
        self._billed, last = info, info.get("last_token_usage")
        at = next((at for at in reversed(range(len(self.entries))) if _is_answer(self.entries[at])), None)
        if at is None or not isinstance(last, Mapping):
            return
        said = self.entries[at]
        if isinstance(said, Said) and said.message.usage is None:
            self.entries[at] = replace(said, message=replace(said.message, usage=_billed(last)))

    def _roll_back(self, turns: int) -> None:
        """Drops the last turns, each from its user message on."""
        begins = [at for at, one in enumerate(self.entries) if isinstance(one, Said) and one.message.origin == "user"]
        if turns < 1 or not begins:
            return
        start = begins[-min(turns, len(begins))]
        self.entries[start:] = [
            Dropped(one.place, "a message of a turn that was rolled back") if isinstance(one, Said) else one
            for one in self.entries[start:]
        ]


_ITEMS: dict[str, Callable[[_Rollout, Line, Mapping[str, Any]], None]] = {
    "message": _Rollout._message,
    "reasoning": _Rollout._reasoning,
    "function_call": _Rollout._call,
    "custom_tool_call": _Rollout._call,
    "local_shell_call": _Rollout._call,
    "function_call_output": _Rollout._result,
    "custom_tool_call_output": _Rollout._result,
    "web_search_call": _Rollout._searched,
}


def _is_answer(entry: Entry) -> bool:
    return isinstance(entry, Said) and entry.message.role == "assistant"


def _time(line: Line) -> datetime | None:
    return moment(line.value.get("timestamp"))


def _part(block: Mapping[str, Any]) -> Part:
    kind = block["type"]
    if kind in ("input_text", "output_text", "text"):
        return part_from_openai({"type": "text", "text": block["text"]})
    if kind == "input_image" and isinstance(block.get("image_url"), str):
        return picture(block["image_url"])
    return part_from_openai(block)


def _output(output: Any) -> str | tuple[Part, ...]:
    """The content of a result: a text, a list of blocks, or an object that holds either."""
    inner = output.get("content") if isinstance(output, Mapping) else output
    if isinstance(inner, list):
        return as_content(tuple(_part(block) for block in inner))
    return inner if isinstance(inner, str) else to_json(output)


def _status(output: Any, content: str | tuple[Part, ...]) -> str:
    if isinstance(output, Mapping) and output.get("success") is False:
        return "error"
    text = content if isinstance(content, str) else ""
    if text.startswith(_ABORTED):
        return "interrupted"
    if text.startswith("{"):
        code = _EXIT_CODE_IN_JSON.search(text[-_CHARS_LOOKED_AT:])
    else:
        code = _EXIT_CODE.search(text[:_CHARS_LOOKED_AT])
    return "error" if code and int(code[1]) != 0 else ""


def _billed(wire: Mapping[str, Any]) -> Usage | None:
    """Usage; cached tokens are among the input's, reasoning is among the output's."""
    usage = Usage(
        input_tokens=count(wire, "input_tokens"),
        output_tokens=count(wire, "output_tokens"),
        cached_tokens=count(wire, "cached_input_tokens"),
    )
    return usage if usage.input_tokens or usage.output_tokens else None

"""Made-up conversations in the formats that are read, small enough to see through."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DAY = "2026-04-12T09:30:"


def write_lines(path: Path, values: Iterable[Any]) -> Path:
    """Writes JSON Lines."""
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def write_document(path: Path, value: Any) -> Path:
    """Writes one JSON document over many lines."""
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")
    return path


def openai_call(*ids: str) -> dict[str, Any]:
    """An assistant message that calls `look` once for each id."""
    calls = [{"id": one, "type": "function", "function": {"name": "look", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Look twice."},
    openai_call("c1", "c2"),
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": ""},
    {"role": "assistant", "content": "Done."},
]


def pi_message(second: int, **message: Any) -> dict[str, Any]:
    """An entry of pi with a message."""
    return {"type": "message", "timestamp": f"{DAY}{second:02}.000Z", "message": message}


def text(words: str) -> dict[str, str]:
    """A text block."""
    return {"type": "text", "text": words}


PI_USAGE = {"input": 3, "output": 68, "cacheRead": 1000, "cacheWrite": 200, "cost": {"total": 0.25}}

PI = [
    {"type": "session", "id": "s1", "timestamp": f"{DAY}00.000Z", "cwd": "/w", "modelId": "claude-x"},
    pi_message(1, role="user", content=[text("Look twice.")]),
    pi_message(
        2,
        role="assistant",
        model="claude-y",
        stopReason="toolUse",
        usage=PI_USAGE,
        content=[
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "c2ln"},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}},
            {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": "ls"}},
        ],
    ),
    pi_message(3, role="toolResult", toolCallId="c1", toolName="read", isError=True, content=[text("No such file.")]),
    pi_message(
        4,
        role="toolResult",
        toolCallId="c2",
        toolName="bash",
        isError=False,
        content=[{"type": "image", "data": "AAAA", "mimeType": "image/png"}],
    ),
    {"type": "thinking_level_change", "timestamp": f"{DAY}04.500Z", "thinkingLevel": "minimal"},
    pi_message(5, role="assistant", model="claude-y", stopReason="aborted", content=[]),
    {"type": "compaction", "timestamp": f"{DAY}06.000Z", "summary": "Looked.", "tokensBefore": 175_004},
    pi_message(7, role="bashExecution", command="make", output="ok\n", exitCode=0, cancelled=False),
    pi_message(8, role="assistant", model="claude-y", stopReason="stop", content=[text("Done.")]),
]


def claude(second: int, uuid: str, parent: str | None, message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """An entry of Claude Code."""
    entry = {
        "type": message["role"],
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "isSidechain": False,
        "timestamp": f"{DAY}{second:02}.000Z",
        "message": message,
    }
    return entry | fields


def claude_answer(id: str, *blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """The message of one line of an answer."""
    return {"id": id, "role": "assistant", "model": "claude-y", "content": list(blocks)} | fields


def use(id: str) -> dict[str, Any]:
    """A block that calls `Read`."""
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"path": id}}


def result(id: str, content: Any, **fields: Any) -> dict[str, Any]:
    """The message that brings one result."""
    block = {"type": "tool_result", "tool_use_id": id, "content": content} | fields
    return {"role": "user", "content": [block]}


CLAUDE_CODE = [
    {"type": "summary", "summary": "A title", "leafUuid": "u9"},
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    claude(1, "u1", None, {"role": "user", "content": "Look twice."}),
    claude(2, "a1", "u1", claude_answer("m1", {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})),
    claude(2, "a2", "a1", claude_answer("m1", text("I look."), usage={"input_tokens": 9, "output_tokens": 1})),
    claude(3, "a3", "a2", claude_answer("m1", use("t1"))),
    claude(
        3,
        "a4",
        "a3",
        claude_answer(
            "m1",
            use("t2"),
            stop_reason="tool_use",
            usage={
                "input_tokens": 5,
                "output_tokens": 40,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 100,
            },
        ),
    ),
    claude(4, "r2", "a4", result("t2", [text("two")], is_error=True)),
    claude(5, "r1", "a3", result("t1", "one")),
    claude(6, "a5", "r1", claude_answer("m2", text("Done."), stop_reason="end_turn")),
]

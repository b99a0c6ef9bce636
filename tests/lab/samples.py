"""Made-up conversations in the formats that came later; each looks twice, fails once, and sees a picture where it can."""

from __future__ import annotations

import json
from typing import Any

from tests.lab.files import DAY, result, text, use

ANTHROPIC = {
    "model": "claude-y",
    "max_tokens": 1024,
    "system": "Be brief.",
    "messages": [
        {"role": "user", "content": "Look twice."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                text("I look."),
                use("t1"),
                use("t2"),
            ],
        },
        {
            "role": "user",
            "content": [
                *result("t1", "one")["content"],
                *result("t2", [text("No such file.")], is_error=True)["content"],
                text("And this?"),
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ],
}


def codex(second: int, kind: str, /, **payload: Any) -> dict[str, Any]:
    """A line of a rollout of Codex."""
    return {"timestamp": f"{DAY}{second:02}.000Z", "type": kind, "payload": payload}


def codex_words(second: int, role: str, words: str) -> dict[str, Any]:
    """A message in a rollout of Codex."""
    kind = "output_text" if role == "assistant" else "input_text"
    return codex(second, "response_item", type="message", role=role, content=[{"type": kind, "text": words}])


def codex_call(second: int, id: str, command: str) -> dict[str, Any]:
    """A call of `shell` in a rollout of Codex."""
    arguments = json.dumps({"command": command})
    return codex(second, "response_item", type="function_call", name="shell", arguments=arguments, call_id=id)


def codex_result(second: int, id: str, output: Any) -> dict[str, Any]:
    """The result of a call in a rollout of Codex."""
    return codex(second, "response_item", type="function_call_output", call_id=id, output=output)


def codex_bill(second: int, total: int, **last: int) -> dict[str, Any]:
    """The event in which Codex tells the usage of a request."""
    info = {"total_token_usage": {"total_tokens": total}, "last_token_usage": last}
    return codex(second, "event_msg", type="token_count", info=info)


CODEX_BILL = {"input_tokens": 1203, "cached_input_tokens": 1000, "output_tokens": 68, "total_tokens": 1271}

CODEX = [
    codex(0, "session_meta", id="s1", cwd="/w", cli_version="0.65.0", base_instructions={"text": "Be brief."}),
    codex_words(0, "user", "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"),
    codex(1, "turn_context", cwd="/w", model="gpt-x"),
    codex_words(1, "user", "Look twice."),
    codex(1, "event_msg", type="user_message", message="Look twice."),
    codex(
        2,
        "response_item",
        type="reasoning",
        summary=[{"type": "summary_text", "text": "Hm."}],
        encrypted_content="c2ln",
    ),
    codex_words(2, "assistant", "I look."),
    codex_call(2, "c1", "cat a.py"),
    codex_call(2, "c2", "cat b.py"),
    codex_bill(3, 1271, **CODEX_BILL),
    codex_result(4, "c1", "Exit code: 1\nOutput:\nNo such file."),
    codex_result(4, "c2", [{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]),
    codex_bill(4, 1271, **CODEX_BILL),
    codex_words(5, "assistant", "Done."),
]

GEMINI_HEAD = {"sessionId": "s1", "projectHash": "p1", "startTime": f"{DAY}00.000Z", "lastUpdated": f"{DAY}09.000Z"}


def gemini(second: int, id: str, type: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A record of Gemini CLI."""
    return {"id": id, "timestamp": f"{DAY}{second:02}.000Z", "type": type, "content": content, **fields}


def gemini_call(id: str, status: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """A call with its result in a record of Gemini CLI."""
    call = {"id": id, "name": "read_file", "args": {"path": id}, "status": status, "timestamp": f"{DAY}04.000Z"}
    return call | {"result": list(parts)}


def gemini_output(id: str, **response: Any) -> dict[str, Any]:
    """The part that brings the result of a call in the form of the Gemini API."""
    return {"functionResponse": {"id": id, "name": "read_file", "response": response}}


GEMINI = [
    GEMINI_HEAD,
    gemini(1, "u1", "user", [{"text": "Look twice."}]),
    gemini(
        2,
        "m1",
        "gemini",
        "I look.",
        model="gemini-x",
        thoughts=[{"subject": "Plan", "description": "Hm.", "timestamp": f"{DAY}02.000Z"}],
        toolCalls=[
            gemini_call("g1", "error", gemini_output("g1", error="No such file.")),
            gemini_call(
                "g2",
                "success",
                gemini_output("g2", output="a picture"),
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            ),
        ],
        tokens={"input": 1203, "output": 60, "cached": 1000, "thoughts": 8, "tool": 0, "total": 1271},
    ),
    gemini(5, "i1", "info", "Request cancelled."),
    gemini(6, "m2", "gemini", "Done.", model="gemini-x"),
]


def opencode(second: int, id: str, role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    """A message of OpenCode."""
    created = 1_776_000_000_000 + second * 1000
    about = {"id": id, "sessionID": "s1", "role": role, "time": {"created": created}} | info
    return {"info": about, "parts": list(parts)}


def opencode_tool(id: str, status: str, **state: Any) -> dict[str, Any]:
    """A call with its result as a part of OpenCode."""
    return {"type": "tool", "callID": id, "tool": "read", "state": {"status": status, "input": {"path": id}} | state}


OPENCODE_TOKENS = {"input": 3, "output": 60, "reasoning": 8, "cache": {"read": 1000, "write": 200}}

OPENCODE = {
    "info": {"id": "s1", "title": "Looking", "version": "1.1.0"},
    "messages": [
        opencode(1, "u1", "user", text("Look twice.")),
        opencode(
            2,
            "a1",
            "assistant",
            {"type": "step-start"},
            {"type": "reasoning", "text": "Hm."},
            text("I look."),
            opencode_tool("o1", "error", error="No such file."),
            opencode_tool(
                "o2",
                "completed",
                output="a picture",
                attachments=[{"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"}],
            ),
            {"type": "step-finish", "reason": "tool-calls", "cost": 0.25, "tokens": OPENCODE_TOKENS},
            {"type": "step-start"},
            text("Done."),
            {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"input": 0, "output": 0}},
            modelID="claude-y",
        ),
    ],
}


def langchain(type: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A message as LangChain's `messages_to_dict` gives it."""
    data = {
        "content": content,
        "additional_kwargs": {},
        "response_metadata": {},
        "type": type,
        "name": None,
        "id": None,
    }
    return {"type": type, "data": data | fields}


def langchain_call(id: str, args: Any, type: str = "tool_call") -> dict[str, Any]:
    """A call of a message of LangChain."""
    return {"name": "look", "args": args, "id": id, "type": type}


LANGCHAIN = [
    langchain("system", "Be brief."),
    langchain("human", [text("Look twice."), {"type": "image", "base64": "AAAA", "mime_type": "image/png"}]),
    langchain(
        "ai",
        [{"type": "reasoning", "reasoning": "Hm."}, text("I look."), {"type": "tool_use", "id": "l1", "name": "look"}],
        tool_calls=[langchain_call("l1", {"at": 1})],
        invalid_tool_calls=[langchain_call("l2", "{at", "invalid_tool_call")],
        usage_metadata={
            "input_tokens": 1203,
            "output_tokens": 68,
            "total_tokens": 1271,
            "input_token_details": {"cache_read": 1000},
        },
        response_metadata={"model_name": "gpt-x", "finish_reason": "tool_calls"},
    ),
    langchain("tool", "one", name="look", tool_call_id="l1", status="success"),
    langchain("tool", "No such place.", tool_call_id="l2", status="error"),
    langchain("ai", "Done.", tool_calls=[], invalid_tool_calls=[], usage_metadata=None),
]

SHAREGPT = {
    "system": "Be brief.",
    "conversations": [
        {"from": "human", "value": "Look twice."},
        {
            "from": "function_call",
            "value": '[{"name": "look", "arguments": {"at": 1}}, {"name": "look", "arguments": {}}]',
        },
        {"from": "observation", "value": "one"},
        {"from": "observation", "value": "two"},
        {"from": "gpt", "value": "Done."},
    ],
}

INSPECT_SAMPLE = {
    "id": "s1",
    "epoch": 1,
    "messages": [
        {"id": "m0", "role": "system", "content": "Be brief."},
        {
            "id": "m1",
            "role": "user",
            "source": "input",
            "content": [{"type": "text", "text": "attachment://a1"}, {"type": "image", "image": "attachment://a2"}],
        },
        {
            "id": "m2",
            "role": "assistant",
            "source": "generate",
            "model": "mock/x",
            "content": [{"type": "reasoning", "reasoning": "Hm.", "signature": "c2ln"}, text("I look.")],
            "tool_calls": [
                {"id": "i1", "function": "look", "arguments": {"at": 1}, "type": "function"},
                {"id": "i2", "function": "look", "arguments": {"at": 2}, "type": "function"},
            ],
        },
        {"id": "m3", "role": "tool", "tool_call_id": "i1", "function": "look", "content": "one"},
        {
            "id": "m4",
            "role": "tool",
            "tool_call_id": "i2",
            "function": "look",
            "content": "",
            "error": {"type": "approval", "message": "Not allowed."},
        },
        {"id": "m5", "role": "assistant", "source": "generate", "model": "mock/x", "content": "Done."},
    ],
    "output": {"model": "mock/x"},
    "attachments": {"a1": "Look twice.", "a2": "data:image/png;base64,AAAA"},
    "events": [
        {
            "event": "model",
            "completed": f"{DAY}02.000+00:00",
            "output": {
                "choices": [{"message": {"id": "m2", "role": "assistant"}, "stop_reason": "tool_calls"}],
                "usage": {
                    "input_tokens": 3,
                    "output_tokens": 68,
                    "input_tokens_cache_read": 1000,
                    "input_tokens_cache_write": 200,
                },
            },
        },
        {"event": "compaction", "tokens_before": 1203, "tokens_after": 40},
        {"event": "model", "output": {"choices": [{"message": {"id": "m5"}, "stop_reason": "stop"}]}},
    ],
}

INSPECT = {"version": 2, "status": "success", "eval": {"model": "mock/y"}, "samples": [INSPECT_SAMPLE]}

DOCUMENTS = {
    "Anthropic Messages": ANTHROPIC,
    "OpenCode": OPENCODE,
    "LangChain": LANGCHAIN,
    "ShareGPT": SHAREGPT,
    "inspect_ai": INSPECT,
}
"""Samples of formats whose files are one JSON document."""

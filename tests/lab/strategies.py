"""Conversations of all shapes for hypothesis."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from harness_nb.core.messages import Message, Part, Text, ToolCall, Usage, part_from_openai, to_json
from harness_nb.core.transcript import Transcript
from tests.lab.files import openai_call

TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda one: st.lists(one, max_size=2) | st.dictionaries(TEXT, one, max_size=2),
    max_leaves=4,
)
TEXT_PART = st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}, optional={"cache_control": JSON})
IMAGE_PART = st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": TEXT})})
OTHER_PART = st.fixed_dictionaries(
    {"type": st.sampled_from(["thinking", "input_audio", "weird"])}, optional={"x": JSON}
)
CONTENT = st.none() | TEXT | st.lists(TEXT_PART | IMAGE_PART | OTHER_PART, max_size=3)
SPOKEN = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": CONTENT},
    optional={"name": TEXT, "refusal": JSON},
)


@st.composite
def rounds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """An assistant message with calls and a result for each."""
    ids = draw(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=3, unique=True))
    call = openai_call(*ids) | {"content": draw(CONTENT)}
    results = [{"role": "tool", "tool_call_id": one, "content": draw(TEXT)} for one in ids]
    return [call, *results]


ARGUMENTS = st.dictionaries(TEXT, JSON, max_size=2).map(to_json) | TEXT | st.just('{ "at": 1 }')
USAGE = st.builds(
    Usage,
    st.integers(0, 10**6),
    st.integers(0, 10**4),
    cached_tokens=st.integers(0, 10**4),
    cost=st.none() | st.floats(0, 10, allow_nan=False),
)
BESIDE = st.fixed_dictionaries(
    {},
    optional={
        "time": st.datetimes(min_value=datetime(2020, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds the zone
        "usage": USAGE,
        "finish": st.sampled_from(["stop", "tool_calls", "length", "odd"]),
        "origin": st.sampled_from(["user", "model", "tool", "harness"]),
        "status": st.sampled_from(["ok", "error", "denied", "interrupted"]),
    },
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Conversations in whole rounds with all that a message can hold."""
    pieces = draw(st.lists(SPOKEN.map(lambda one: [one]) | rounds(), min_size=1, max_size=4))
    messages = [Message.from_openai(wire, **draw(BESIDE)) for piece in pieces for wire in piece]
    return Transcript(
        replace(one, calls=tuple(replace(call, arguments=draw(ARGUMENTS)) for call in one.calls)) for one in messages
    )


WORDS = st.text(min_size=1, max_size=12).filter(str.strip)
URL = st.sampled_from(["data:image/png;base64,AAAA", "https://example.org/a.png"])
PICTURE = URL.map(lambda url: part_from_openai({"type": "image_url", "image_url": {"url": url}}))
MARKED = WORDS.map(lambda text: Text(text, '{"cache_control":{"type":"ephemeral"}}'))
SIGNED = WORDS.map(lambda text: part_from_openai({"type": "thinking", "thinking": text, "signature": "c2ln"}))
SEARCH = st.just(part_from_openai({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}))


def parts_of(*kinds: st.SearchStrategy[Part]) -> st.SearchStrategy[tuple[Part, ...]]:
    """Contents of parts; a single plain text is a text there."""
    return st.lists(st.one_of(*kinds), min_size=1, max_size=3).map(tuple).filter(lambda one: not _is_plain(one))


def _is_plain(parts: tuple[Part, ...]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], Text) and not parts[0].rest


@st.composite
def anthropic_rounds(draw: st.DrawFn) -> list[Message]:
    """An answer that calls tools, as Anthropic's API can hold it, and a result for each."""
    ids = draw(st.lists(st.text("aZ09_-", min_size=1, max_size=12), min_size=1, max_size=3, unique=True))
    arguments = draw(st.dictionaries(TEXT, JSON, max_size=2).map(to_json))
    calls = [ToolCall(one, "look", arguments) for one in ids]
    answer = draw(st.none() | WORDS | parts_of(WORDS.map(Text), SIGNED, SEARCH))
    statuses = st.sampled_from(["", "error"])
    contents = TEXT | parts_of(WORDS.map(Text), PICTURE)
    return [
        Message("assistant", answer, calls=tuple(calls)),
        *(Message.tool(one, draw(contents), name="look", status=draw(statuses)) for one in ids),
    ]


@st.composite
def anthropic_transcripts(draw: st.DrawFn) -> Transcript:
    """Conversations that Anthropic's API can hold, with a picture or a mark in them, by which the format is known."""
    system = draw(st.lists(WORDS.map(Message.system), max_size=2))
    asked = (WORDS | parts_of(WORDS.map(Text), MARKED, PICTURE)).map(Message.user)
    answered = (WORDS | parts_of(WORDS.map(Text), SIGNED, SEARCH)).map(lambda said: Message("assistant", said))
    talk = draw(st.lists((asked | answered).map(lambda one: [one]) | anthropic_rounds(), max_size=5))
    last = Message.user((Text("And this?"), draw(PICTURE)))
    return Transcript([*system, *(one for piece in talk for one in piece), last])

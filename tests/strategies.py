"""Hypothesis strategies for conversations: valid ones, broken ones, and the JSON they come in."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import strategies as st

from harness_nb.core.item import ModelInput
from harness_nb.core.messages import Image, Message, Opaque, Text, Thinking, ToolCall, Usage
from harness_nb.core.transcript import Transcript
from harness_nb.core.view import View

# JSON and OpenAI chat format


def _no_split_pairs(text: str) -> bool:
    """False for a high surrogate right before a low one: written as JSON, the two are one character."""
    return not any(
        "\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in zip(text, text[1:], strict=False)
    )


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Any text that a message may hold, lone surrogates, braces and marks of markup among it."""
    odd = st.sampled_from(
        ["", " \n", "{messages}", "{0}", "<|endoftext|>", "\ud83d", "a\r\nb", "👩‍🔬 é", "数据", "```\n"]
    )
    return (odd | st.text(max_size=max_size) | st.text("\ud83dab\udd2c", max_size=6)).filter(_no_split_pairs)


def json_values() -> st.SearchStrategy[Any]:
    """Any JSON value, big numbers among them."""
    plain = st.none() | st.booleans() | st.integers() | st.integers(-(10**30), 10**30) | texts()
    leaves = plain | st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(8), inner, max_size=3), max_leaves=6
    )


def _with_extras(
    fixed: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[Any]:
    """Mappings with those keys and up to two unknown ones, in any order."""
    made = st.fixed_dictionaries(fixed, optional=optional)
    extras = st.dictionaries(texts(8).filter(lambda key: key not in {*fixed, *optional}), json_values(), max_size=2)
    return st.tuples(made, extras).flatmap(
        lambda both: st.permutations(list((both[1] | both[0]).items())).map(dict)  # type: ignore[arg-type]
    )


def wire_parts() -> st.SearchStrategy[Any]:
    """Content parts in OpenAI chat format and others that providers send."""
    address = st.one_of(st.just("data:image/png;base64,QUJD"), st.just("https://example.org/a.png"), texts())
    return st.one_of(
        _with_extras({"type": st.just("text"), "text": texts()}),
        _with_extras({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": address}) | address}),
        _with_extras({"type": st.sampled_from(["thinking", "reasoning"]), "thinking": json_values()}),
        _with_extras({"type": st.just("redacted_thinking"), "data": texts()}),
        _with_extras({"type": json_values()}),
        json_values(),
    )


def wire_calls() -> st.SearchStrategy[Any]:
    """Tool calls in OpenAI chat format: functions, custom tools, and arguments that came as a value."""
    function = _with_extras({"name": texts(8), "arguments": texts() | json_values()})
    custom = _with_extras({"name": texts(8), "input": texts()})
    return _with_extras(
        {"id": texts(8), "type": st.just("function"), "function": function}, custom=json_values()
    ) | _with_extras({"id": texts(8), "type": st.just("custom"), "custom": custom}, function=json_values())


def wire_messages() -> st.SearchStrategy[dict[str, Any]]:
    """Messages in OpenAI chat format as clients, servers and logs write them."""
    return _with_extras(
        {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])},
        content=st.none() | texts() | st.lists(wire_parts(), max_size=3),
        tool_calls=st.none() | st.lists(wire_calls(), max_size=3),
        tool_call_id=st.none() | texts(8),
        name=st.none() | texts(8),
    )


# Conversations: drawn from few prepared pieces, as shape matters more than text here and drawing is slow

TEXTS = (
    "fit the model", "", " \n", "x" * 400, "{messages} {0}", "<|endoftext|>", "a\ud83db", "👩‍🔬 naïve", "数据已经整理好了",
    "line\r\nline", "</summary>", "sk-not-a-key",
)  # fmt: skip
PICTURE = Image("data:image/png;base64,QUJD", '{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}')
THOUGHT = Thinking("hm, {x}", '{"type":"thinking","thinking":"hm, {x}","signature":"c2ln=="}')
SERVER_PAIR = (
    Opaque('{"type":"server_tool_use","id":"s1"}'),
    Opaque('{"type":"server_tool_result","tool_use_id":"s1"}'),
)

_SAID = [Message.user(text) for text in TEXTS if text.strip()] + [Message.user((Text("see"), PICTURE))]
_ANSWERS: list[Message] = [Message.assistant(text) for text in TEXTS if text.strip()] + [
    Message("assistant", (THOUGHT, Text("so"))),
    Message("assistant", (THOUGHT, *SERVER_PAIR, Text("found"))),
]
_RESULTS = [Message.tool("", text, name="run", status="ok") for text in TEXTS] + [
    Message.tool("", "", name="run", status="error"),
    Message.tool("", "not allowed", name="run", status="denied"),
    Message.tool("", "stopped", name="run", status="interrupted"),
    Message.tool("", (Text("plot"), PICTURE), name="run"),
]
_ROUND = st.tuples(
    st.sampled_from([None, "let me look", ""]),
    st.lists(st.sampled_from(_RESULTS), min_size=1, max_size=4),
    st.booleans(),
)
_TURN = st.tuples(st.sampled_from(_SAID), st.lists(_ROUND, max_size=3), st.sampled_from(_ANSWERS))


def _conversation(made: tuple[bool, list[Any], bool]) -> list[Message]:
    """Messages of drawn turns; the last turn has its answer or is in progress."""
    has_system, turns, is_answered = made
    messages = [Message.system("Be brief.")] if has_system else []
    numbers = count(1)
    for said, rounds, answer in turns:
        messages.append(said)
        for text, results, is_reversed in rounds:
            messages += _round(text, [replace(one, call_id=f"c{next(numbers)}") for one in results], is_reversed)
        messages.append(answer)
    return messages if is_answered or not turns else messages[:-1]


def _round(text: str | None, results: list[Message], is_reversed: bool) -> list[Message]:
    arguments = [{"path": "a.md", "content": text}, {}, {"n": 10**20}]
    calls = [
        ToolCall(one.call_id or "", "run", json.dumps(arguments[at % len(arguments)])) for at, one in enumerate(results)
    ]
    return [Message.assistant(text, calls), *(reversed(results) if is_reversed else results)]


def message_lists(
    min_turns: int = 0, max_turns: int = 5, *, system: bool | None = None
) -> st.SearchStrategy[list[Message]]:
    """Valid conversations: turns of a user message, rounds and an answer; the last turn may be in progress.

    Args:
        min_turns: Fewest turns.
        max_turns: Most turns.
        system: Whether a system message comes first; None for either.
    """
    turns = st.lists(_TURN, min_size=min_turns, max_size=max_turns)
    first = st.booleans() if system is None else st.just(system)
    return st.tuples(first, turns, st.booleans()).map(_conversation)


def transcripts(min_turns: int = 0, max_turns: int = 5, *, system: bool | None = None) -> st.SearchStrategy[Transcript]:
    """Valid conversations as transcripts."""
    return message_lists(min_turns, max_turns, system=system).map(Transcript)


_DAMAGE = st.tuples(st.sampled_from(["lose", "double", "move", "same id"]), st.integers(0, 60), st.integers(0, 60))


def broken_lists() -> st.SearchStrategy[list[Message]]:
    """Conversations in which messages were lost, doubled or moved, so that calls and results may not match."""
    return st.tuples(message_lists(1, 3), st.lists(_DAMAGE, max_size=4)).map(lambda made: _damaged(*made))


def _damaged(messages: list[Message], damages: list[tuple[str, int, int]]) -> list[Message]:
    made = list(messages)
    for action, first, second in damages:
        at, to = first % len(made), second % len(made)
        if action == "lose" and len(made) > 1:
            del made[at]
        elif action == "double":
            made.insert(to, made[at])
        elif action == "move":
            made.insert(to, made.pop(at))
        else:
            made.insert(to, Message.assistant(None, [ToolCall("c1", "run"), ToolCall("c1", "run")]))
    return made


def views(min_turns: int = 1, max_turns: int = 5) -> st.SearchStrategy[View]:
    """Views before a request: bare or with a bill, with an estimate that was corrected or not."""
    return st.builds(
        _view,
        transcripts(min_turns, max_turns),
        st.sampled_from([1.0, 1.37, 0.6]),
        st.integers(0, 60),
        st.none() | st.builds(Usage, st.integers(0, 5_000), st.integers(0, 500)),
    )


def _view(transcript: Transcript, scale: float, billed: int, usage: Usage | None) -> View:
    view = View.of(transcript, scale=scale, usage=usage)
    return replace(view, billed=0 if usage is None else billed % (len(view.input) + 1))


def model_inputs() -> st.SearchStrategy[ModelInput]:
    """Model inputs as they are before anything was compacted."""
    return transcripts(1).map(lambda transcript: View.of(transcript).input)

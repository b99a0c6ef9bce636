"""The built-in model: deterministic, instant, without weights, key or network; and it says so."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from dataclasses import replace

from harness_nb.core.limits import DEFAULT_WINDOW, ModelLimits
from harness_nb.core.messages import Message, ToolCall, to_json
from harness_nb.core.tokens import CharsCounter, TokenCounter
from harness_nb.errors import ContextOverflowError
from harness_nb.model.base import Delta, ModelRequest
from harness_nb.model.extractive import facts, summary
from harness_nb.model.merging import merged
from harness_nb.model.reading import asked, conversation, number, section
from harness_nb.model.recall import Wish, answer
from harness_nb.model.sentences import shortened
from harness_nb.model.streaming import by_word, deltas
from harness_nb.model.usage import CHARS_PER_TOKEN, counted_usage, input_tokens, tokens_of_chars

NO_REPLY = "NO_REPLY"
"""Answer to a request for facts when there are none."""

_MOST_FACTS = 40
_LEAST_SUMMARY_TOKENS = 160
_SHORT_SHARE, _SHORT_TOKENS = 5, 1_000  # a summary is one fifth of what it stands for up to this size,
_LONG_SHARE = 20  # and one twentieth of much
_MEMORY_TOKENS = 4_000


class OfflineModel:
    """A model of fixed rules that finds and quotes sentences.

    It answers what the harness asks: summaries in four sections and facts by extractive ranking of sentences, curated
    memory by merging. In a chat it searches the memory with the tools it is offered and quotes what they found, calls a
    tool that the user names with arguments, and notes what it is told. It never reasons, and says so when asked to.

    Equal requests have equal replies. Tokens are counted as four characters each, which for this model is the usage and
    not an estimate. A chat whose input is above the window is refused, so that an overflow can be tried out; the
    requests of the harness are read whole.

    Args:
        window: Context window in tokens.
        name: Name of the model.
    """

    def __init__(self, *, window: int = DEFAULT_WINDOW, name: str = "offline") -> None:
        self._limits = ModelLimits(name=name, window=window, window_source="model", takes_images=False)

    def __repr__(self) -> str:
        """Name and window."""
        return f"OfflineModel(window={self._limits.window})"

    @property
    def counter(self) -> TokenCounter:
        """Four characters are a token, as in the usage that it reports."""
        return CharsCounter()

    @property
    def limits(self) -> ModelLimits:
        """What was set."""
        return self._limits

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """Answers by the request's purpose; any but a chat, a flush and a consolidation gets a summary.

        Raises:
            ContextOverflowError: The input of a chat is above the window.
        """
        import asyncio

        reply = self._reply(request)
        for delta in deltas(reply, by_word):
            await asyncio.sleep(0)
            yield delta
        yield reply

    def _reply(self, request: ModelRequest) -> Message:
        match request.purpose:
            case "chat":
                return self._chat(request)
            case "flush":
                text = _facts(asked(request.messages), request.max_tokens)
            case "consolidation":
                text = _consolidated(asked(request.messages), request.max_tokens)
            case _:
                text = _summary(asked(request.messages), request.max_tokens)
        return _finished(request, Message.assistant(text))

    def _chat(self, request: ModelRequest) -> Message:
        size = input_tokens(request)
        if size > self._limits.window:
            raise ContextOverflowError(
                f"The input of {size} tokens is above the window of {self._limits.window} of {self._limits.name!r}.",
                "Compact the conversation, or give the model a larger window.",
                subject=self._limits.name,
                input_tokens=size,
                window=self._limits.window,
            )
        said = answer(request.messages, request.tools)
        if isinstance(said, Wish):
            call = ToolCall(_call_id(request, said), said.name, to_json(said.arguments))
            return _finished(request, Message.assistant(calls=[call]))
        text = said if request.max_tokens is None else shortened(said, request.max_tokens * CHARS_PER_TOKEN)
        return _finished(request, Message.assistant(text))


def _call_id(request: ModelRequest, wish: Wish) -> str:
    """An id that only an equal request would get again."""
    seed = zlib.crc32(wish.name.encode())
    for message in request.messages:
        seed = zlib.crc32(message.text.encode("utf-8", "surrogatepass"), seed)
    return f"call_{len(request.messages)}_{seed:08x}"


def _finished(request: ModelRequest, reply: Message) -> Message:
    return replace(reply, usage=counted_usage(request, reply), finish="tool_calls" if reply.calls else "stop")


def _summary(text: str, max_tokens: int | None) -> str:
    said = conversation(text)
    earlier = section(text, "previous_summary") or ""
    size = tokens_of_chars(len(earlier) + sum(len(one.text) for one in said))
    tokens = max(_LEAST_SUMMARY_TOKENS, min(size // _SHORT_SHARE, _SHORT_TOKENS), size // _LONG_SHARE)
    return summary(said, earlier, min(tokens, max_tokens or tokens) * CHARS_PER_TOKEN)


def _facts(text: str, max_tokens: int | None) -> str:
    known = "\n".join(filter(None, (section(text, "memory"), section(text, "today"))))
    found = facts(conversation(text), known, _MOST_FACTS)
    left = None if max_tokens is None else max_tokens * CHARS_PER_TOKEN
    lines = []
    for fact in found:
        if left is not None:
            left -= len(fact) + 3
            if left < 0:
                break
        lines.append(f"- {fact}")
    return "\n".join(lines) or NO_REPLY


def _consolidated(text: str, max_tokens: int | None) -> str:
    budget = number(text, "budget_tokens", _MEMORY_TOKENS)
    entries = section(text, "entries")
    memory = section(text, "memory") or ""
    return merged(memory, text if entries is None and not memory else entries or "", min(budget, max_tokens or budget))

"""A model that plays a list of replies: for notebooks, tests and demonstrations."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Union

from harness_nb.core.limits import DEFAULT_WINDOW, ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.tokens import CharsCounter, TokenCounter
from harness_nb.errors import ConfigError, HarnessError, ModelError
from harness_nb.model.base import Delta, ModelRequest, TextDelta
from harness_nb.model.streaming import by_length, call_deltas, deltas
from harness_nb.model.usage import counted_usage


@dataclass(frozen=True, slots=True)
class Broken:
    """A reply whose stream fails half-way.

    Attributes:
        text: Text that is streamed before the failure. May be empty.
        error: What is raised then.
        call: A tool call whose name and arguments are streamed before the failure. Write in `arguments` only as much as
            shall have come. It never becomes part of a message.
    """

    text: str
    error: BaseException
    call: ToolCall | None = None


Reply = Union[  # noqa: UP007 - names itself, which `|` can't do with a string
    str,
    Message,
    ToolCall,
    Sequence[ToolCall],
    BaseException,
    Broken,
    Callable[[ModelRequest], Union["Reply", Awaitable["Reply"]]],
]
"""One entry of a script; see `ScriptedModel`."""


class ScriptedModel:
    """A model that plays a list of replies and records what it was asked.

    A reply is one of:

    * a text, which is the answer;
    * a `ToolCall` or a list of them, which the assistant makes;
    * a `Message` of an assistant, sent as it is, with its usage and finish reason;
    * an exception, which is raised: an error of this package, an interrupt and a cancellation as they are, any other
      as the `ModelError` it means, with the exception as its cause;
    * a `Broken`, whose stream fails half-way;
    * a function of the request, plain or async, that returns one of these.

    A request is answered from the list of its purpose; without one from `replies`, in order; without these, too, by the
    offline model, so that a script for the chat needs no lines for the work in the background.

    Attributes:
        requests: All requests so far, oldest first.

    Args:
        replies: Replies to requests whose purpose has no list of its own.
        chat: Replies to the requests of the agent's loop.
        summary: Replies to requests for a summary.
        flush: Replies to requests for facts.
        consolidation: Replies to requests for a new curated memory.
        purposes: Replies by any other purpose, a policy's own word.
        name: Name of the model.
        window: Context window in tokens. It is only stated; raise an overflow by a `ContextOverflowError` in the list.
        max_output: Largest reply in tokens, only stated.
        piece_chars: Length of a streamed piece in characters.
        delay_seconds: Pause before each piece.
        repeat_last: Play the last reply of a list again and again instead of failing at its end.
        reports_usage: Report usage for replies that bring none, four characters a token.

    Raises:
        ConfigError: A setting is out of range.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | None = None,
        *,
        chat: Sequence[Reply] | None = None,
        summary: Sequence[Reply] | None = None,
        flush: Sequence[Reply] | None = None,
        consolidation: Sequence[Reply] | None = None,
        purposes: Mapping[str, Sequence[Reply]] | None = None,
        name: str = "scripted",
        window: int = DEFAULT_WINDOW,
        max_output: int | None = None,
        piece_chars: int = 24,
        delay_seconds: float = 0.0,
        repeat_last: bool = False,
        reports_usage: bool = False,
    ) -> None:
        if piece_chars < 1:
            raise ConfigError(f"piece_chars={piece_chars!r} is no length.", "Give a whole number above 0.")
        if delay_seconds < 0:
            raise ConfigError(f"delay_seconds={delay_seconds!r} is below 0.", "Give a number of seconds, 0 for none.")
        lists = {"chat": chat, "summary": summary, "flush": flush, "consolidation": consolidation, **(purposes or {})}
        self.requests: list[ModelRequest] = []
        self._scripts = {purpose: _Script(purpose, given) for purpose, given in lists.items() if given is not None}
        self._rest = None if replies is None else _Script("any", replies)
        self._limits = ModelLimits(name=name, window=window, max_output=max_output, window_source="model")
        self._cut = by_length(piece_chars)
        self._delay_seconds = delay_seconds
        self._repeat_last = repeat_last
        self._reports_usage = reports_usage

    def __repr__(self) -> str:
        """Name and number of requests so far."""
        return f"ScriptedModel({self._limits.name!r}, asked {len(self.requests)} times)"

    @property
    def counter(self) -> TokenCounter:
        """Four characters are a token, as in the usage that it reports."""
        return CharsCounter()

    @property
    def limits(self) -> ModelLimits:
        """What was stated."""
        return self._limits

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Message]:
        """Plays the next reply.

        Raises:
            ModelError: The script says so, or it has no reply left.
        """
        self.requests.append(request)
        script = self._scripts.get(request.purpose, self._rest)
        if script is None:
            from harness_nb.model.offline import OfflineModel

            async for piece in OfflineModel(window=self._limits.window).stream(request):
                yield piece
            return
        reply = await _settled(script.next(self._repeat_last), request)
        if isinstance(reply, Broken):
            async for piece in self._until_it_breaks(reply):
                yield piece
            raise _raisable(reply.error)
        message = self._message(reply, request)
        for delta in deltas(message, self._cut):
            await self._pause()
            yield delta
        await self._pause()
        yield message

    async def _until_it_breaks(self, reply: Broken) -> AsyncIterator[Delta]:
        pieces: list[Delta] = [TextDelta(piece) for piece in self._cut(reply.text)]
        if reply.call is not None:
            pieces += call_deltas(0, reply.call, self._cut)
        for piece in pieces:
            await self._pause()
            yield piece

    def _message(self, reply: Reply, request: ModelRequest) -> Message:
        message = _as_message(reply)
        if not message.finish:
            message = replace(message, finish="tool_calls" if message.calls else "stop")
        if message.usage is None and self._reports_usage:
            message = replace(message, usage=counted_usage(request, message))
        return message

    async def _pause(self) -> None:
        import asyncio

        await asyncio.sleep(self._delay_seconds)


class _Script:
    """One list of replies and the place reached in it."""

    def __init__(self, purpose: str, replies: Sequence[Reply]) -> None:
        if isinstance(replies, str) or not isinstance(replies, Sequence):
            raise ConfigError(f"{replies!r} is no list of replies.", "Put the reply in a list: [...].", subject=replies)
        self.purpose = purpose
        self._replies = tuple(replies)
        self._played = 0

    def next(self, repeat_last: bool) -> Reply:
        at = self._played
        self._played += 1
        if at < len(self._replies):
            return self._replies[at]
        if repeat_last and self._replies:
            return self._replies[-1]
        raise ModelError(
            f"The script has {len(self._replies)} replies for {self.purpose!r} requests and was asked once more.",
            "Add a reply to its list, or set repeat_last=True.",
            subject=self.purpose,
        )


async def _settled(reply: Reply, request: ModelRequest) -> Reply:
    """The reply itself, functions called; an exception is raised."""
    while callable(reply):
        made = reply(request)
        reply = await made if inspect.isawaitable(made) else made
    if isinstance(reply, BaseException):
        raise _raisable(reply)
    return reply


def _raisable(error: BaseException) -> BaseException:
    """The error as a model raises it, with its cause set."""
    if isinstance(error, HarnessError) or not isinstance(error, Exception):
        return error
    from harness_nb.model.errors import classify

    meant = classify(error)
    meant.__cause__ = error
    return meant


def _as_message(reply: Reply) -> Message:
    match reply:
        case str():
            return Message.assistant(reply)
        case Message(role="assistant"):
            return reply
        case ToolCall():
            return Message.assistant(calls=[reply])
        case [*calls] if calls and all(isinstance(call, ToolCall) for call in calls):
            return Message.assistant(calls=calls)
    raise ModelError(
        f"The script holds {reply!r}, which is no reply.",
        "Use a text, a tool call, an assistant message, an exception, a Broken or a function.",
        subject=reply,
    )

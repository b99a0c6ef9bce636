"""AgentScope's compaction as it is, faults included: a failed summary still takes the place of what it failed to sum up.

Order, figures and cuts are those of the generation that its documentation describes. Lengths are UTF-16 units, as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, takewhile
from typing import Any

from harness_nb.core import edits
from harness_nb.core.config import EXCLUDED_TOOLS, plain_repr, switch, whole
from harness_nb.core.item import Item, covered
from harness_nb.core.messages import Message, Text, ToolCall, to_json
from harness_nb.core.plan import Plan, Pressure, Trigger
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.prompts import SUMMARY_PROMPT
from harness_nb.core.requests import Ask, Evict, Reply
from harness_nb.core.utf16 import utf16_cut, utf16_len
from harness_nb.core.view import View
from harness_nb.errors import ConfigError, HarnessError

SUMMARY_NAME = "__compaction_summary__"
"""Name of the message that stands for what was summarised."""

SHIPPED_ARGUMENT_CHARS = 20
"""To so many units the shipped code shortens an argument, whatever the limit is."""

FORCED_KEEP_MESSAGES = 20
"""Messages that the compaction after an overflow keeps; the user's own settings do not count there."""

OVERFLOW_MARKS = (
    "context_length_exceeded",
    "context length",
    "maximum context",
    "token limit",
    "too many tokens",
    "exceeds the model's maximum",
    "reduce the length",
)
"""What the text of an error holds, in lower case, when it counts as an overflow."""

_ROLES = {"user": "USER", "assistant": "ASSISTANT", "tool": "TOOL", "system": "SYSTEM"}
_NO_HISTORY = "No earlier conversation history."
_UNAVAILABLE = "(Summary unavailable)"
_OPENING = "A summary of the conversation so far:\n\n"
_CITING = (
    "The conversation goes on from here. Its whole history is in {path}, and this is a summary of it:\n\n<summary>\n{text}\n"
    "</summary>"
)
_RESULT_CHARS = 500
_LABELS = {"user": "Human", "assistant": "AI", "tool": "Tool"}
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeArguments:
    """Shortening of long call arguments in older messages, before the trigger is looked at.

    Attributes:
        trigger_messages: Acts at this many messages (default 25; 0 never).
        trigger_tokens: Acts at this many tokens (default 40,000; 0 never). Either is enough.
        keep_messages: Newest messages that are left alone (default 20).
        keep_tokens: Above 0: tokens at the end that are left alone, instead of `keep_messages` (default 0).
        max_arg_length: Longest text of an argument that stays whole, in UTF-16 units (default 2,000).
        truncation_text: Stands behind what is left (default `...(argument truncated)`).
    """

    trigger_messages: int = 25
    trigger_tokens: int = 40_000
    keep_messages: int = 20
    keep_tokens: int = 0
    max_arg_length: int = 2_000
    truncation_text: str = "...(argument truncated)"

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens", "max_arg_length")

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeEviction:
    """Moving large results to files.

    Attributes:
        max_result_chars: A result above this many UTF-16 units is moved (default 80,000).
        preview_chars: Units of head and of tail that stay, at most half the text each (default 2,000).
        eviction_path: Folder (default `large_tool_results`).
        excluded_tool_names: Tools whose results stay (default: the reading and searching tools).
    """

    max_result_chars: int = 80_000
    preview_chars: int = 2_000
    eviction_path: str = "large_tool_results"
    excluded_tool_names: frozenset[str] = field(default=EXCLUDED_TOOLS - {"session_history"})

    def __post_init__(self) -> None:
        whole(self, "max_result_chars", "preview_chars")
        object.__setattr__(self, "excluded_tool_names", frozenset(self.excluded_tool_names))

    __repr__ = plain_repr


@dataclass(frozen=True, kw_only=True, repr=False)
class AgentScopeConfig:
    """Settings of AgentScope's compaction.

    Attributes:
        trigger_messages: Acts at this many messages (default 50; 0 never).
        trigger_tokens: Acts at this many tokens of its own estimate (default 80,000; 0 never). Either is enough.
        keep_messages: Newest messages that stay (default 20).
        keep_tokens: Above 0: most tokens at the end that stay, instead of `keep_messages` (default 0).
        flush_before_compact: Facts go to the daily log before messages leave (default True).
        offload_before_compact: Messages go to the session file before they leave; then the summary names it (default True).
        summary_prompt: An instruction of one's own with `{messages}` in it; without that the history is silently absent.
            None: built in.
        truncate_args: Shortening of call arguments; None (the default) switches it off.
        tool_result_eviction: Moving large results to files; None (the default) leaves it to the agent.
        raw_content: Whether argument texts are kept beside the parsed arguments and count twice (default False).
        keeps_shortened: Whether shortened arguments stay short when no compaction follows (default True; False shipped).
        shortens_to_limit: Whether an argument keeps as much as the limit allows (default True; False, as shipped: 20 units).
        replaces_errors: Whether an overflow that can't be recovered hides the provider's error (default False; True shipped).
        evicts_to_root: Whether a relative eviction path is put below the root of the disk (default False; True shipped).
            It is a name in recordings only: live, files always lie below the workspace.
    """

    trigger_messages: int = 50
    trigger_tokens: int = 80_000
    keep_messages: int = 20
    keep_tokens: int = 0
    flush_before_compact: bool = True
    offload_before_compact: bool = True
    summary_prompt: str | None = None
    truncate_args: AgentScopeArguments | None = None
    tool_result_eviction: AgentScopeEviction | None = None
    raw_content: bool = False
    keeps_shortened: bool = True
    shortens_to_limit: bool = True
    replaces_errors: bool = False
    evicts_to_root: bool = False

    def __post_init__(self) -> None:
        whole(self, "trigger_messages", "trigger_tokens", "keep_messages", "keep_tokens")
        switch(self, "flush_before_compact", "offload_before_compact", "raw_content")
        switch(self, "keeps_shortened", "shortens_to_limit", "replaces_errors", "evicts_to_root")
        for name, kind in (("truncate_args", AgentScopeArguments), ("tool_result_eviction", AgentScopeEviction)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise ConfigError(f"{name}={value!r} is not valid.", f"Give {kind.__name__} or None.", subject=name)

    __repr__ = plain_repr


class AgentScopeSize:
    """Tokens of a message by AgentScope's formula: 2.5 UTF-16 units a token, each text rounded up by itself.

    Args:
        raw_content: Whether argument texts count beside the parsed arguments.
    """

    def __init__(self, raw_content: bool = False) -> None:
        self.raw_content = raw_content

    def __call__(self, message: Message) -> int:
        """Tokens of one message."""
        tokens = 5 + self.text(_ROLES[message.role])
        if message.role == "tool":
            return tokens + 8 + self.text(message.name) + self.text(message.call_id) + self._parts(message)
        calls = sum(map(self._call, message.calls))
        return tokens + self.text(message.name) + self._parts(message) + calls

    def text(self, text: str | None) -> int:
        """Tokens of one text."""
        return -(-2 * utf16_len(text) // 5) if text else 0

    def _parts(self, message: Message) -> int:
        return sum(self.text(part.text) if isinstance(part, Text) else 5 for part in message.parts)

    def _call(self, call: ToolCall) -> int:
        raw = self.text(call.arguments) if self.raw_content else 0
        return 10 + self.text(call.name) + self.text(call.id) + self.text(arguments_text(call)) + raw


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as AgentScope's estimate writes them: texts in quotes, nothing escaped."""
    arguments = call.parsed()
    if not arguments:
        return ""
    return "{" + ",".join(f'"{key}":{_java(value, True)}' for key, value in arguments.items()) + "}"


def _java(value: object, quotes: bool = False) -> str:
    """A JSON value as Java prints it."""
    if isinstance(value, str):
        return f'"{value}"' if quotes else value
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_java(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_java, value)) + "]"
    return str(value)


@dataclass(frozen=True, slots=True)
class AgentScopeCut:
    """Where it cuts.

    Attributes:
        raw: Where the keep setting would.
        safe: Where it does, so that a result stays with its call as far as the run at the cut goes.
    """

    raw: int
    safe: int


class AgentScopePolicy(CompactionPolicy):
    """Summarises what is old once a trigger fires.

    Args:
        config: Settings.
        name: Shown in events.

    Attributes:
        size: Tokens of a message by its own formula.
    """

    name = "agentscope"
    passes = 1
    hooks = frozenset({"request", "result", "overflow", "manual"})

    @staticmethod
    def is_summary(item: Item) -> bool:
        """True for a summary that an earlier compaction made, also one that came with a transcript."""
        return item.message.role == "user" and item.message.name == SUMMARY_NAME

    @staticmethod
    def text_of(message: Message) -> str:
        """The text of a result as it is measured and moved: its text parts, one behind the other."""
        return "".join(part.text for part in message.parts if isinstance(part, Text))

    def __init__(self, config: AgentScopeConfig | None = None, *, name: str = "agentscope") -> None:
        self.config = config or AgentScopeConfig()
        self.name = name
        self.size = AgentScopeSize(self.config.raw_content)
        self._bare = AgentScopeSize()

    def plan(self, view: View) -> Plan:
        """Moves large results out, or shortens arguments and compacts when a trigger fires or somebody asks for it."""
        if view.hook == "result":
            return self._evicted(view)
        if view.hook == "overflow":
            return self._recovered(view)
        items = self.shortened(view.input[:])
        pressure = self._pressure(view, items)
        if view.hook == "request" and not any(trigger.fired for trigger in pressure.triggers):
            return self._only_shortened(view, items, "below the triggers", pressure)
        cut = self.cut(items)
        if cut.safe <= 0:
            return self._only_shortened(view, items, "there is nothing before the cut", pressure)
        return self._compacted(view, items, cut, pressure)

    # Sizes

    def sizes(self, items: Sequence[Item]) -> list[int]:
        """Tokens of each item; shortened ones have lost their argument texts."""
        return [(self._bare if item.how == "truncated" else self.size)(item.message) for item in items]

    def _pressure(self, view: View, items: Sequence[Item]) -> Pressure:
        tokens = sum(self.sizes(items))
        by_messages = Trigger(
            name="trigger_messages", value=len(items), threshold=self.config.trigger_messages, unit="messages"
        )
        by_tokens = Trigger(name="trigger_tokens", value=tokens, threshold=self.config.trigger_tokens)
        triggers = tuple(one for one in (by_messages, by_tokens) if one.threshold > 0 and items)
        source = "estimated by UTF-16 units/2.5, without system prompt and schemas"
        return Pressure(tokens=tokens, window=view.model.window, triggers=triggers, source=source)

    # The pre-pass on arguments

    def shortened(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """The items with long arguments of older calls shortened.

        Raises:
            HarnessError: As shipped, an argument over a limit below 20 is shorter than the 20 units that are to stay.
        """
        settings = self.config.truncate_args
        if settings is None or not items:
            return tuple(items)
        sizes = self.sizes(items)
        by_messages = 0 < settings.trigger_messages <= len(items)
        if not by_messages and not 0 < settings.trigger_tokens <= sum(sizes):
            return tuple(items)
        stop = _left_alone(sizes, settings)
        return tuple(self._with_short_arguments(item, settings) if at < stop else item for at, item in enumerate(items))

    def _with_short_arguments(self, item: Item, settings: AgentScopeArguments) -> Item:
        calls = tuple(self._short_call(call, settings) for call in item.message.calls)
        if all(new is old for new, old in zip(calls, item.message.calls, strict=True)):
            return item
        return edits.edited(item, replace(item.message, calls=calls), "truncated")

    def _short_call(self, call: ToolCall, settings: AgentScopeArguments) -> ToolCall:
        arguments = call.parsed() or {}
        long = {key: value for key, value in arguments.items() if _is_long(value, settings.max_arg_length)}
        if not long:
            return call
        short = {key: self._short(value, settings) for key, value in long.items()}
        return replace(call, arguments=to_json({**arguments, **short}))

    def _short(self, text: str, settings: AgentScopeArguments) -> str:
        head = settings.max_arg_length if self.config.shortens_to_limit else SHIPPED_ARGUMENT_CHARS
        if utf16_len(text) < head:
            raise HarnessError(
                f"An argument of {utf16_len(text)} units can't be shortened to {head}.",
                f"Set max_arg_length to {SHIPPED_ARGUMENT_CHARS} or more, or use the variant 'as_documented'.",
            )
        return utf16_cut(text, 0, head) + settings.truncation_text

    def _only_shortened(self, view: View, items: tuple[Item, ...], reason: str, pressure: Pressure) -> Plan:
        if self.config.keeps_shortened and not _same(items, view.input):
            return view.becomes(items, f"shortened arguments; {reason}", outcome="truncated", pressure=pressure)
        return view.unchanged(reason, outcome="noop", pressure=pressure)

    # The cut

    def cut(self, items: Sequence[Item], *, forced: bool = False) -> AgentScopeCut:
        """Where a list is cut.

        Args:
            items: The list.
            forced: After an overflow: the user's keep settings do not count.
        """
        keep_messages = FORCED_KEEP_MESSAGES if forced else self.config.keep_messages
        keep_tokens = 0 if forced else self.config.keep_tokens
        raw = _by_tokens(self.sizes(items), keep_tokens) if keep_tokens > 0 else max(0, len(items) - keep_messages)
        return AgentScopeCut(raw, _safe(items, raw))

    # The summary

    def _compacted(self, view: View, items: tuple[Item, ...], cut: AgentScopeCut, pressure: Pressure) -> Plan:
        prefix, tail = items[: cut.safe], items[cut.safe :]
        old = [item for item in prefix if not self.is_summary(item)]
        reply = view.reply(self.request(old)) if old else Reply(_NO_HISTORY)
        if reply.failure is not None and reply.failure.kind == "throw":
            return view.unchanged(f"the call failed: {reply.failure.detail}", outcome="failed", pressure=pressure)
        cites = self.config.offload_before_compact or view.hook == "overflow"
        fired = [f"{one.value:,} {one.unit}" for one in pressure.triggers if one.fired]
        reason = f"{' and '.join(fired) or 'asked for'}: {len(prefix)} messages became a summary"
        summary = _summary(reply, prefix, cites)
        return view.becomes((summary, *tail), reason, outcome="compressed", pressure=pressure)

    def request(self, items: Sequence[Item]) -> Ask:
        """The request for a summary: one message, the conversation in full but for results and arguments."""
        template = self.config.summary_prompt if self.config.summary_prompt is not None else SUMMARY_PROMPT
        talk = "\n\n".join(line for item in items if (line := _line(item.message)))
        message = Message.user(template.replace("{messages}", talk), origin="harness")
        return Ask(purpose="summary", messages=(message,), shown=covered(items))

    # After an overflow

    def counts_as_overflow(self, error: str) -> bool:
        """Whether the text of an error is one of those that it takes for an overflow."""
        folded = error.lower()
        return any(mark in folded for mark in OVERFLOW_MARKS)

    def _recovered(self, view: View) -> Plan:
        """A compaction with the defaults; then the call's own messages are added, which are there already."""
        items = view.input[:]
        pressure = self._pressure(view, items)
        cut = self.cut(items, forced=True)
        if cut.safe <= 0:
            return view.unchanged("no more messages than are kept", outcome="noop", pressure=pressure)
        plan = self._compacted(view, items, cut, pressure)
        if plan.input is None:
            return plan
        begun = (item for item in items if item.index is not None and item.index >= view.turn)
        asked = takewhile(lambda item: item.message.role == "user", begun)
        return replace(plan, input=(*plan.input, *asked))

    # Large results

    def _evicted(self, view: View) -> Plan:
        settings = self.config.tool_result_eviction
        if settings is None:
            return view.unchanged("large results are the agent's to move")
        items = list(view.input)
        at = len(items)
        while at > 0 and items[at - 1].message.role == "tool":
            at -= 1
            items[at] = self._moved(view, items[at], settings)
        if _same(items, view.input):
            return view.unchanged("no result is too long", outcome="noop")
        return view.becomes(items, f"a result above {settings.max_result_chars:,} characters", outcome="evicted")

    def _moved(self, view: View, item: Item, settings: AgentScopeEviction) -> Item:
        text = self.text_of(item.message)
        is_exempt = item.message.name in settings.excluded_tool_names or item.how == "evicted"
        if item.index is None or is_exempt or utf16_len(text) <= settings.max_result_chars:
            return item
        reply = view.reply(Evict(index=item.index, call_id=item.message.call_id or "", text=text))
        if reply.failure is not None:
            return item
        preview = min(settings.preview_chars, utf16_len(text) // 2)
        message = replace(item.message, content=_placeholder(text, reply.text, preview))
        return edits.edited(item, message, "evicted", path=reply.text, head=preview, tail=preview)

    def evicted_path(self, agent: str, call_id: str) -> str:
        """The file that a result goes to, as AgentScope names it."""
        folder = (self.config.tool_result_eviction or AgentScopeEviction()).eviction_path
        names = "/".join(_UNSAFE.sub("_", name) for name in (agent, call_id))
        if self.config.evicts_to_root and not folder.startswith("/"):
            folder = f"/{folder}"
        return f"{folder}/{names}"


def _same(items: Sequence[Item], before: Sequence[Item]) -> bool:
    return all(new is old for new, old in zip(items, before, strict=True))


def _is_long(value: Any, most: int) -> bool:
    return isinstance(value, str) and utf16_len(value) > most


def _left_alone(sizes: Sequence[int], settings: AgentScopeArguments) -> int:
    """Position of the first message that the pre-pass leaves alone; with none that fits it shortens nothing."""
    if settings.keep_tokens <= 0:
        return max(0, len(sizes) - settings.keep_messages)
    fit = sum(1 for _ in takewhile(lambda total: total <= settings.keep_tokens, accumulate(reversed(sizes))))
    return len(sizes) - fit if fit else 0


def _by_tokens(sizes: Sequence[int], keep_tokens: int) -> int:
    """Position of the longest tail within a number of tokens; one message is kept in any case."""
    if sum(sizes) <= keep_tokens:
        return 0
    fit = sum(1 for _ in takewhile(lambda total: total <= keep_tokens, accumulate(reversed(sizes))))
    return max(0, min(len(sizes) - fit, len(sizes) - 1))


def _safe(items: Sequence[Item], raw: int) -> int:
    """A cut that leaves the run of results at it with the nearest call of any of them; without one it goes past the run."""
    if not 0 < raw < len(items) or items[raw].message.role != "tool":
        return raw
    run = list(takewhile(lambda item: item.message.role == "tool", items[raw:]))
    ids = {item.message.call_id for item in run if item.message.call_id is not None}
    owners = (at for at in range(raw - 1, -1, -1) if ids & {call.id for call in items[at].message.calls})
    return next(owners, raw + len(run))


def _summary(reply: Reply, prefix: Sequence[Item], cites: bool) -> Item:
    """The message that stands for the prefix, also after a failure, which it then holds."""
    meta: dict[str, object] = {"cites": cites}
    text = reply.text.strip()
    if reply.failure is not None:
        text, meta["failed"] = f"(Summarization failed: {reply.failure.detail})", reply.failure.kind
    elif not text:
        text, meta["failed"] = _UNAVAILABLE, "blank"
    if reply.assumed:
        meta["assumed"] = True
    shown = _CITING.format(path="the session's file", text=text) if cites else f"{_OPENING}{text}"
    return Item(None, Message.user(shown, origin="harness", name=SUMMARY_NAME), "summary", covered(prefix), meta)


def _line(message: Message) -> str:
    """A message in the request for a summary: calls without their arguments, results up to 500 units."""
    if message.role == "system":
        return ""
    if message.role == "tool":
        text = " ".join(part.text for part in message.parts if isinstance(part, Text)).strip()
        short = text if utf16_len(text) <= _RESULT_CHARS else f"{utf16_cut(text, 0, _RESULT_CHARS)}..."
        pieces = [f"[tool_result: {message.name or '?'}] {short}"]
    else:
        pieces = [part.text.strip() for part in message.parts if isinstance(part, Text) and part.text.strip()]
        pieces += [f"[tool_call: {call.name}]" for call in message.calls]
    return f"{_LABELS[message.role]}: {' '.join(pieces)}" if pieces else ""


def _placeholder(text: str, path: str, preview: int) -> str:
    said = (
        f"This result of {utf16_len(text):,} characters was moved to {path}. Read it there with read_file, in pieces. "
        "Its beginning and its end:"
    )
    if not preview:
        return said
    size = utf16_len(text)
    return f"{said}\n\n{utf16_cut(text, 0, preview)}\n\n[...]\n\n{utf16_cut(text, size - preview)}"

"""AgentScope: compaction before a call and after an overflow, and eviction of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, ToolCall
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Evict, Failure, Reply
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import Refusal, View
from harness_nb.errors import HarnessError
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import (
    Driven,
    Stub,
    conversation,
    drive,
    named_results,
    policy_of,
    surroundings,
    verbatim,
)
from harness_nb.memory.designs.agentscope_text import java_order, written

_LIMITS = ModelLimits(name="stub")


def _preset(given: Given, **more: Any) -> Any:
    settings = dict(given.config.get("compaction") or {})
    raw = given.config.get("raw_content", False)
    return policy_of(presets.get("agentscope", variant=given.config["variant"], raw_content=raw, **settings, **more))


def _messages(given: Given) -> tuple[Message, ...]:
    """The conversation as the original holds it: each result with the name of its call, no empty text."""
    return tuple(replace(message, content=message.content or None) for message in named_results(given.messages()))


# Compaction


@dataclass
class _Around:
    """Answers the driver as the original's surroundings would, and notes what was asked of them.

    Attributes:
        policy: Its policy.
        stub: The model.
        forced: After an overflow: flush and offload run whatever the settings say.
        calls: What each model call was for.
        flush: What was shown for facts, or None.
        offload: What would be in the session file, or None.
        cut: Where the list is cut, once that is known.
        ahead: The plan as it stood before any call.
    """

    policy: Any
    stub: Stub
    forced: bool = False
    calls: list[str] = field(default_factory=list)
    flush: dict[str, Any] | None = None
    offload: dict[str, Any] | None = None
    cut: Any = None
    ahead: Plan | None = None

    def __call__(self, effect: Effect) -> Answer:
        """What comes of an effect."""
        if isinstance(effect, Begun):
            self.ahead = effect.ahead
        elif isinstance(effect, Leaving):
            self._leave(effect.view)
        elif isinstance(effect, Ask):
            self.calls.append("summary")
            return stub_reply(self.stub.next(effect))
        return None

    def _leave(self, view: View) -> None:
        """Facts are taken from what becomes a summary; everything is written to the session file."""
        if self.ahead is None or not any(item.how == "summary" for item in self.ahead.items(view)[:1]):
            return
        items = view.input[:] if self.forced else self.policy.shortened(view.input[:])
        self.cut = self.policy.cut(items, forced=self.forced)
        config = self.policy.config
        if config.flush_before_compact or self.forced:
            self.flush = self._flushed(items[: self.cut.safe])
        if config.offload_before_compact or self.forced:
            self.offload = _offloaded(items)

    def _flushed(self, prefix: Sequence[Item]) -> dict[str, Any]:
        talk = written((item.index or 0, item.message) for item in prefix if not self.policy.is_summary(item))
        found = {"messages": list(talk.indices), "wrote": False, "chars": utf16_len(talk.text)}
        self.flush = found
        if talk.text.strip():
            self.calls.append("flush")
            reply = stub_reply(self.stub.next(talk))
            if reply.failure is not None and reply.failure.kind == "throw":
                raise _ThrownError(reply.failure.detail)
            found["wrote"] = bool(reply.text.strip()) and reply.text.strip() != "NO_REPLY"
        return found


class _ThrownError(HarnessError):
    """A call that threw at once where nothing catches it."""


def stub_reply(answer: Any) -> Reply:
    """A stub answer as a reply; what throws at once is a failure of its own kind."""
    if isinstance(answer, str):
        return Reply(answer)
    kind = "throw" if "throw" in answer else "error"
    return Reply(None, Failure(kind, str(answer[kind])))


def _offloaded(items: Sequence[Item]) -> dict[str, Any]:
    """The messages with a whole line in the session file: those before the first that can't be encoded."""
    lines = written((item.index or 0, item.message) for item in items)
    broken = lines.broken_at
    if broken is None:
        return {"messages": list(lines.indices)}
    return {"messages": list(lines.indices[: lines.indices.index(broken)]), "broken_at": broken}


def _hook(given: Given) -> Mapping[str, Any]:
    """Compaction before a model call."""
    policy, messages = _preset(given), _messages(given)
    around = _Around(policy, Stub(given.answers))
    talk = conversation(messages)
    items = talk.input[:]
    before = sum(policy.sizes(items))
    try:
        driven = drive(talk, policy, "request", surroundings(messages, _LIMITS), around)
    except HarnessError:
        return {**_failed(policy, items, around), "token_estimates": _sizes(policy, items, around, before)}
    return {**_outcome(policy, driven, around), "call_fails": False}


def _failed(policy: Any, items: Sequence[Item], around: _Around) -> dict[str, Any]:
    """An error that leaves the hook: the agent's call fails, the conversation stays."""
    return {
        "status": "error",
        "triggered": around.flush is not None,
        "call_fails": True,
        "output": [verbatim(item) for item in items],
        "summarised": [],
        "model_calls": len(around.calls),
        "calls": around.calls,
        "cutoff": None if around.cut is None else {"raw": around.cut.raw, "safe": around.cut.safe},
        "flush": around.flush,
        "offload": None,
        "summary": None,
        "hook_error": True,
    }


def _sizes(policy: Any, items: Sequence[Item], around: _Around, before: int) -> dict[str, int]:
    """Sizes as far as they were taken: after the pre-pass only where it did not fail."""
    return {"before": before, **({} if around.cut is None else {"total": sum(policy.sizes(policy.shortened(items)))})}


def _outcome(policy: Any, driven: Driven, around: _Around, *, forced: bool = False) -> dict[str, Any]:
    view, plan = driven.view, driven.plans[-1]
    pressure = plan.pressure or view.pressure()
    items = view.input[:] if forced else policy.shortened(view.input[:])
    triggered = forced or any(trigger.fired for trigger in pressure.triggers)
    cut = policy.cut(items, forced=forced) if triggered else None
    tail = policy.sizes(items[cut.safe :]) if cut is not None and plan.outcome == "compressed" else None
    before, total = sum(policy.sizes(view.input)), sum(policy.sizes(items))
    worked = cut is not None and cut.safe > 0
    suffix = policy.config.truncate_args.truncation_text if policy.config.truncate_args else ""
    old = [one.index for one in items[: cut.safe] if not policy.is_summary(one)] if worked and cut is not None else []
    return {
        "status": {"failed": "error"}.get(plan.outcome, plan.outcome),
        "triggered": triggered,
        "output": [_output(item, view, suffix) for item in driven.items],
        "summarised": old,
        "model_calls": len(around.calls),
        "calls": around.calls,
        "cutoff": None if cut is None else {"raw": cut.raw, "safe": cut.safe},
        "flush": around.flush,
        "offload": around.offload,
        "summary": _summary(driven.items, around) if plan.outcome == "compressed" else None,
        "token_estimates": {"before": before, "total": total, **({} if tail is None else {"tail": sum(tail)})},
        "hook_error": plan.outcome == "failed",
    }


def _summary(items: Sequence[Item], around: _Around) -> str:
    if "summary" not in around.calls:
        return "none"
    failed = items[0].meta.get("failed")
    return "model" if failed is None else "unavailable" if failed == "blank" else "failed"


def _output(item: Item, view: View, suffix: str) -> dict[str, Any]:
    if item.index is None:
        return {"kind": "summary"}
    if item.how != "truncated":
        return verbatim(item)
    pairs = zip(view.log[item.index].calls, item.message.calls, strict=True)
    short = [one for at, (old, new) in enumerate(pairs) for one in _shortened(at, old, new, suffix)]
    return {"kind": "truncated_args", "index": item.index, "arguments": short}


def _shortened(at: int, old: ToolCall, new: ToolCall, suffix: str) -> list[dict[str, Any]]:
    """The arguments of a call that were shortened; what is left of each stands before the suffix."""
    before, after = old.parsed() or {}, new.parsed() or {}
    sizes = {key: utf16_len(after[key]) for key in java_order(list(before)) if before[key] != after[key]}
    return [
        {"call": at, "key": key, "chars": size, "head": size - utf16_len(suffix), "tail": 0}
        for key, size in sizes.items()
    ]


def _overflow(given: Given) -> Mapping[str, Any]:
    """The call failed: a forced compaction, the call's messages once more, and compaction before the second attempt."""
    policy, messages = _preset(given), _messages(given)
    talk = conversation(messages)
    talk.turn = min(given.config["request"], default=len(messages))
    nothing = _nothing(sum(policy.sizes(talk.input)))
    error = str(given.config["error"])
    if not policy.counts_as_overflow(error):
        return {**nothing, "error": "passed"}
    if given.config["compaction"] is None:
        return {**nothing, "error": "replaced" if policy.config.replaces_errors else "passed"}
    if not talk.input:
        return {**nothing, "error": "replaced"}
    around = _Around(policy, Stub(given.answers), forced=True)
    settings = surroundings(messages, _LIMITS)
    driven = drive(talk, policy, "overflow", settings, around, error=Refusal(error))
    found = _outcome(policy, driven, around, forced=True)
    if not driven.plans[-1].changes:
        return {**found, "status": "error", "output": [], "error": "replaced"}
    return {**found, **_second(policy, talk, settings, around)}


def _second(policy: Any, talk: Conversation, settings: Surroundings, around: _Around) -> dict[str, Any]:
    """The second attempt passes the compaction again, with the user's own settings; nothing when that does not act."""
    again = _Around(policy, around.stub)
    driven = drive(talk, policy, "request", settings, again)
    if not driven.plans[-1].changes:
        return {}
    found = _outcome(policy, driven, again)
    calls = [*around.calls, *again.calls]
    return {"second_pass": True, "output": found["output"], "calls": calls, "model_calls": len(calls)}


def _nothing(before: int) -> dict[str, Any]:
    """What comes of an error that no compaction follows."""
    found = {"status": "error", "triggered": False, "output": [], "summarised": [], "model_calls": 0, "calls": []}
    return {**found, "token_estimates": {"before": before}}


def _eviction(given: Given) -> Mapping[str, Any]:
    """One result after its tool ran."""
    config = given.config
    policy = policy_of(presets.get("agentscope", variant=config["variant"], tool_result_eviction=config["eviction"]))
    taken = set(config.get("existing_files") or ())
    target = config["target_index"]

    def respond(effect: Effect) -> Answer:
        if not isinstance(effect, Evict):
            return None
        path = policy.evicted_path(config["agent"], effect.call_id)
        return Failure("error", "the file exists") if path in taken else Reply(path)

    messages = _messages(given)
    size = policy.size(messages[target])
    driven = drive(conversation(messages), policy, "result", surroundings(messages, _LIMITS), respond)
    item = next(item for item in driven.items if item.index == target)
    found = {"summarised": [], "model_calls": 0, "token_estimates": {"result": size}}
    if item.how != "evicted":
        return {**found, "status": "noop", "triggered": False, "output": [verbatim(item)]}
    chars = utf16_len(policy.text_of(messages[target]))
    sizes = {"head": item.meta["head"], "tail": item.meta["tail"], "full_chars": chars}
    output = [{"kind": "placeholder", "index": target, **sizes}]
    evicted = {"path": item.meta["path"], "chars": chars}
    return {**found, "status": "evicted", "triggered": True, "output": output, "evicted": evicted}


LEVELS = {"hook": _hook, "overflow": _overflow, "eviction": _eviction}

"""OpenCode: compaction at its entrances, the view, clearing, spilling, and which errors are overflows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness_nb import presets
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.requests import Evict, Failure, Reply
from harness_nb.core.view import Hook, Refusal
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import (
    Driven,
    Stub,
    conversation,
    drive,
    named_results,
    plain_reply,
    policy_of,
    stubbed,
    surroundings,
    verbatim,
)

_LIMITS = ModelLimits(name="stub")
_HOOKS: dict[str, Hook] = {"loop": "request", "step": "request", "error": "overflow", "manual": "manual"}
_FAILURES = ("failed", "overflow")
_ERRORS = ("failed", "cut", "stored")


def run(given: Given) -> Mapping[str, Any]:
    """Lets OpenCode act on a case."""
    return _LEVELS[given.config["level"]](given)


def _policy(given: Given, **more: Any) -> Any:
    """The policy with the settings of a case, as shipped."""
    config = given.config
    limit, compaction = config.get("limit") or {}, config.get("compaction") or {}
    settings = {name: value for name, value in compaction.items() if value is not None}
    settings |= {f"{name}_limit": value for name, value in limit.items() if value is not None}
    for name in ("output_token_max", "provider_package", "autocontinue", "max_lines", "max_bytes"):
        if config.get(name) is not None:
            settings[name] = config[name]
    return policy_of(presets.get("opencode", caps_reserve=False, estimates_usage=False, **settings, **more))


def _items(given: Given, policy: Any, messages: Iterable[Message]) -> list[Item]:
    """What a session holds: each message, with the marks of earlier compactions and clearings."""
    items = {at: Item(at, one) for at, one in enumerate(messages) if one.role != "system"}
    for at in given.config.get("cleared") or ():
        items[at] = policy.cleared(items[at])
    for one in given.config.get("earlier") or ():
        state, start = one.get("state") or "done", one.get("tail_start")
        marker, summary = items[one["marker"]], items.pop(one["summary"])
        items[one["marker"]] = policy.marked(marker, tail_start=start, state=state)
        if state not in _FAILURES:
            items[one["summary"]] = policy.summarised(summary)
    return [items[at] for at in sorted(items)]


def _messages(given: Given) -> tuple[Message, ...]:
    """The conversation; the newest finished reply bears the usage that the provider reported."""
    messages = list(named_results(given.messages()))
    usage = given.config.get("usage")
    failed = {one["summary"] for one in given.config.get("earlier") or () if one.get("state") == "failed"}
    replies = [at for at, one in enumerate(messages) if one.role == "assistant" and at not in failed]
    if usage is not None and replies:
        messages[replies[-1]] = replace(messages[replies[-1]], usage=_usage(usage))
    return tuple(messages)


def _usage(given: Mapping[str, Any]) -> Usage:
    """A total, or else the sum of its parts."""
    cache = given.get("cache") or {}
    read, write = given.get("cache_read", cache.get("read")) or 0, given.get("cache_write", cache.get("write")) or 0
    output = given.get("output") or 0
    total = given.get("total") or (given.get("input") or 0) + output + read + write
    return Usage(input_tokens=total - output, output_tokens=output)


# Compaction


def _compaction(given: Given) -> Mapping[str, Any]:
    policy, messages, stub = _policy(given), _messages(given), Stub(given.answers)
    entry = given.config["entry"]
    talk = conversation(messages, items=policy.read(_items(given, policy, messages)))
    talk.usage = next((one.usage for one in reversed(messages) if one.usage is not None), None)
    error = Refusal("") if entry == "error" else None
    respond = stubbed(stub, _reply)
    driven = drive(talk, policy, _HOOKS[entry], surroundings(messages, _LIMITS), respond, error=error)
    return _outcome(given, policy, driven, stub)


def _reply(answer: Any) -> Reply:
    if isinstance(answer, Mapping) and answer.get("overflow"):
        return Reply(None, Failure("overflow", str(answer.get("error", ""))))
    return plain_reply(answer)


def _outcome(given: Given, policy: Any, driven: Driven, stub: Stub) -> dict[str, Any]:
    view, plan = driven.view, driven.plans[-1]
    limits = policy.budget(view)
    usage = given.config.get("usage")
    used = None if usage is None else _usage(usage).input_tokens + _usage(usage).output_tokens
    sizes: dict[str, Any] = {"usable": limits.usable, "tail_budget": limits.tail, "used": used}
    found: dict[str, Any] = {
        "status": "error" if plan.outcome in _ERRORS else plan.outcome,
        "triggered": bool(stub.calls),
        "output": _output(driven),
        "model_calls": stub.calls,
        "summarised": [],
        "tail_start": None,
        "token_estimates": sizes,
    }
    if plan.outcome == "stored":
        found["error"] = "stored"
    if not stub.calls:
        return found
    ready = policy.preparation(view, replays=given.config["entry"] == "error")
    sizes |= {"turns": list(ready.chosen.turns), "tail": ready.chosen.tokens}
    if plan.outcome in _ERRORS:
        found["error"] = _error(driven, ready)
    return {**found, **_worked_on(policy, driven, ready)}


def _error(driven: Driven, ready: Any) -> str:
    (_, reply), *_ = driven.asked
    if reply.failure is None or reply.failure.kind != "overflow":
        return "summary failed"
    return "history too large" if ready.replay is not None else "session too large"


def _worked_on(policy: Any, driven: Driven, ready: Any) -> dict[str, Any]:
    shown = policy.shown(ready)
    markers = [item for item in driven.items if item not in driven.view.input and item.meta.get("opencode") == "marker"]
    start: Any = markers[0].meta["tail_start"] if markers else None
    return {
        "summarised": sorted(driven.asked[0][0].shown),
        "tail_start": None if start is None else start[0],
        "anchor": None if ready.anchor is None else ready.anchor.first.index,
        "replay": None if ready.replay is None else ready.replay.first.index,
        "tool_cut": list(shown.cut),
        "media_noted": list(shown.noted),
    }


def _output(driven: Driven) -> list[dict[str, Any]]:
    return [_item(item) for item in driven.items]


def _item(item: Item) -> dict[str, Any]:
    kind = item.meta.get("opencode")
    if kind == "replay":
        return {"kind": "replay", "index": item.index, "media_noted": item.meta["noted"]}
    if item.how == "cleared":
        return {"kind": "placeholder", "index": item.index}
    if item.index is not None:
        return verbatim(item)
    if kind == "continue":
        return {"kind": "continue", "explains_media": item.meta["explains_media"]}
    return {"kind": kind, "empty": True} if kind == "summary" and not item.message.text else {"kind": kind}


# The other levels


_QUIET: dict[str, Any] = {"triggered": False, "summarised": [], "model_calls": 0, "token_estimates": {}}


def _view(given: Given) -> Mapping[str, Any]:
    """How a session is read."""
    policy = _policy(given)
    items = policy.read(_items(given, policy, _messages(given)))
    return {**_QUIET, "status": "view", "output": [_item(item) for item in items]}


def _prune(given: Given) -> Mapping[str, Any]:
    """Clearing after a turn."""
    policy, messages = _policy(given), _messages(given)
    talk = conversation(messages, items=policy.read(_items(given, policy, messages)))
    driven = drive(talk, policy, "end", surroundings(messages, _LIMITS), stubbed(Stub(())))
    found = policy.pruning(driven.view)
    is_pruned = driven.plans[-1].outcome == "pruned"
    return {
        **_QUIET,
        "status": driven.plans[-1].outcome,
        "triggered": is_pruned,
        "pruned": sorted(found.indices) if is_pruned else [],
        "output": _output(driven),
        "token_estimates": {"seen": found.seen, "prunable": found.prunable},
    }


def _spill(given: Given) -> Mapping[str, Any]:
    """One result after its tool ran."""
    config = given.config
    target = config["target_index"]
    messages = named_results(given.messages())[: target + 1]
    name = messages[target].name
    ends = {
        "shell_tools": {name} if config["shell"] else (),
        "tail_tools": {name} if config["direction"] == "tail" else (),
    }
    policy = _policy(given, spill_excluded_tools=(), **ends)

    def respond(effect: Any) -> Reply | None:
        return Reply("tool-output/result") if isinstance(effect, Evict) else None

    driven = drive(conversation(messages), policy, "result", surroundings(messages, _LIMITS), respond)
    item = next(item for item in driven.items if item.index == target)
    if item.how != "evicted":
        return {**_QUIET, "status": "noop", "output": [verbatim(item)]}
    text = messages[target].text
    spilled = len(text.encode("utf-8", "surrogatepass"))
    output = [_spilled(policy.spill(name, text), target, config)]
    return {**_QUIET, "status": "truncated", "triggered": True, "spilled_bytes": spilled, "output": output}


def _spilled(found: Any, target: int, config: Mapping[str, Any]) -> dict[str, Any]:
    ends = (0, found.lines) if config["shell"] or config["direction"] == "tail" else (found.lines, 0)
    kept = len(found.text.encode("utf-8", "surrogatepass"))
    told = {"kind": "truncated", "index": target, "unit": "lines", "head": ends[0], "tail": ends[1], "kept_bytes": kept}
    if config["shell"]:
        return {**told, "inside_line": found.inside_line}
    return {**told, "omitted": found.omitted, "omitted_unit": found.unit}


def _error_level(given: Given) -> Mapping[str, Any]:
    """Whether a provider's error counts as an overflow."""
    config = given.config
    is_one = _policy(given).is_overflow(config["message"], status=config.get("status"), code=config.get("code"))
    return {**_QUIET, "status": "overflow" if is_one else "passed", "triggered": is_one, "output": []}


_LEVELS = {
    "compaction": _compaction,
    "view": _view,
    "prune": _prune,
    "spill": _spill,
    "error": _error_level,
}

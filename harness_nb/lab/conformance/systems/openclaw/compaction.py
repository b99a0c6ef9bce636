"""OpenClaw: compaction at every point of a turn, caps and pruning of what is sent, and memory with hybrid search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.core.view import Hook, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import (
    START,
    Driven,
    Stub,
    conversation,
    drive,
    named_results,
    plain_reply,
    policy_of,
    verbatim,
)

_ALIKE = (
    "mode",
    "reserve_tokens",
    "reserve_tokens_floor",
    "max_history_share",
    "recent_turns_preserve",
    "identifier_policy",
    "identifier_instructions",
)
_HOOKS: Mapping[str, Hook] = {
    "preflight": "turn",
    "inner": "end",
    "precheck": "request",
    "forced": "overflow",
    "manual": "manual",
    "persist": "result",
    "image_prune": "request",
    "pruning": "request",
}
_STAGES: Mapping[str, Mapping[str, bool]] = {
    "precheck": {"prune_images": False, "loop_guard": False},
    "image_prune": {"precheck": False, "cap_requests": False, "loop_guard": False},
    "pruning": {"precheck": False, "cap_requests": False, "loop_guard": False, "prune_images": False, "pruning": True},
}
"""Stages of a request that did not run in a recording of another one."""


def run(given: Given) -> Mapping[str, Any]:
    """Lets OpenClaw act on a case."""
    trigger = given.config.get("trigger")
    if trigger == "estimate":
        return _estimate(given)
    if trigger in ("loop_guard", "midturn"):
        return _loop(given)
    return _Run(given).outcome()


# Settings and surroundings


def _settings(given: Given) -> dict[str, Any]:
    config = given.config
    settings = {name: config[name] for name in _ALIKE if config.get(name) is not None}
    settings |= {"keep_recent_tokens": config["keep_recent_tokens"]} if config.get("keep_recent_tokens") else {}
    guard = config.get("quality_guard") or {}
    settings |= {"quality_guard": guard["enabled"]} if "enabled" in guard else {}
    settings |= {"quality_guard_max_retries": guard["max_retries"]} if guard.get("max_retries") is not None else {}
    settings |= _STAGES.get(config.get("trigger", ""), {})
    return settings | _pruning(config.get("resolved") or {})


def _pruning(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of pruning as OpenClaw made them of what it was told."""
    if "ttl_ms" not in resolved:
        return {}
    soft = resolved["soft_trim"]
    return {
        "pruning_ttl_seconds": resolved["ttl_ms"] // 1_000,
        "pruning_keep_assistants": resolved["keep_last_assistants"],
        "pruning_soft_ratio": resolved["soft_trim_ratio"],
        "pruning_hard_ratio": resolved["hard_clear_ratio"],
        "pruning_min_chars": resolved["min_prunable_tool_chars"],
        "pruning_soft_max_chars": soft["max_chars"],
        "pruning_soft_head_chars": soft["head_chars"],
        "pruning_soft_tail_chars": soft["tail_chars"],
        "pruning_clears": resolved.get("hard_clear", {}).get("enabled", True),
    }


def _messages(given: Given) -> tuple[Message, ...]:
    """The conversation, a minute between messages, with bills and failed results where OpenClaw has them."""
    made = named_results(given.messages())
    return tuple(_message(one, wire, at) for at, (one, wire) in enumerate(zip(made, given.wire, strict=True)))


def _message(message: Message, wire: Mapping[str, Any], at: int) -> Message:
    fields: dict[str, Any] = {"time": START + timedelta(minutes=at)}
    if bill := wire.get("usage"):
        cached = (bill.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        fields["usage"] = Usage(bill.get("prompt_tokens", 0), bill.get("completion_tokens", 0), cached)
    if wire.get("stop_reason"):
        fields["finish"] = wire["stop_reason"]
    if wire.get("is_error"):
        fields["status"] = "error"
    beside = {key: one for key, one in wire.items() if key == "reasoning_content"}
    return replace(message, rest=json.dumps(beside) if beside else "", **fields)


def _limits(given: Given) -> ModelLimits:
    config = given.config
    return ModelLimits(name="stub", window=config["context_window"], max_output=config.get("model_max_tokens"))


def _around(given: Given, messages: Sequence[Message]) -> Surroundings:
    system = "\n".join(one.text for one in messages if one.role == "system")
    return Surroundings(model=_limits(given), system=system)


# A run of the policy


@dataclass
class _Model:
    """The stub model: what the policy asks is tried as often as it may be, and noted."""

    stub: Stub
    calls: list[Ask] = field(default_factory=list)

    def __call__(self, effect: Effect) -> Answer:
        """What comes of an effect."""
        if isinstance(effect, Begun | Leaving):
            return None
        if not isinstance(effect, Ask):
            return Failure("error", "the recording answers model calls only")
        reply = Reply(None, Failure("error"))
        for _ in range(effect.attempts):
            self.calls.append(effect)
            reply = plain_reply(self.stub.next(effect))
            if reply.failure is None:
                break
        return reply


class _Run:
    """One case of a compaction or a request."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.trigger: str = given.config["trigger"]
        self.policy = policy_of(presets.get("openclaw", **_settings(given)))
        self.said = _messages(given)
        self.prompt: str | None = given.more.get("prompt")
        self.model = _Model(Stub(given.answers))

    def outcome(self) -> Mapping[str, Any]:
        """What came of it."""
        talk = self._conversation()
        around = _around(self.given, self.said)
        words = self.given.more.get("custom_instructions") or ""
        before = talk.input[:]
        driven = drive(talk, self.policy, _HOOKS[self.trigger], around, self.model, words=words)
        view = replace(driven.view, words=words)
        found = _Found(self, view, driven, [item for item in before if not self._is_prompt(item)], talk)
        return found.as_recorded()

    def _conversation(self) -> Conversation:
        prompt = [Message.user(self.prompt)] if self.prompt is not None else []
        talk = conversation([*self.said, *prompt], items=self._items(bool(prompt)))
        talk.turn = len(self.said)
        talk.state = self._state()
        session = self.given.more.get("session") or {}
        if session.get("total_tokens") and session.get("total_tokens_fresh") is not False:
            talk.usage, talk.billed = Usage(session["total_tokens"]), len(talk.input)
        return talk

    def _items(self, has_prompt: bool) -> list[Item]:
        """The list after the compactions that a case begins with."""
        shown = [Item(at, one) for at, one in enumerate(self.said) if one.role != "system"]
        priors = self.given.more.get("prior") or ()
        if priors:
            last = priors[-1]
            first = last["at"] if last["first_kept"] is None else last["first_kept"]
            gone = tuple(item.index for item in shown if item.index is not None and item.index < first)
            shown = [_earlier(self.policy, last, gone), *(item for item in shown if (item.index or 0) >= first)]
        return [*shown, *([Item(len(self.said), Message.user(self.prompt or ""))] if has_prompt else [])]

    def _state(self) -> object:
        priors = self.given.more.get("prior") or ()
        made = self.policy.record(compactions=len(priors), compacted_at=priors[-1]["at"] if priors else 0)
        return replace(made, pruned_at=1.0) if self.trigger == "pruning" else made

    def _is_prompt(self, item: Item) -> bool:
        return item.index == len(self.said)


def _earlier(policy: Any, prior: Mapping[str, Any], gone: tuple[int, ...]) -> Item:
    details = prior.get("details") or {}
    files = {"read": details.get("read_files", []), "modified": details.get("modified_files", [])}
    made: Item = policy.summary(prior["summary"], of=gone, files=files, from_hook=bool(prior.get("from_hook")))
    return made


@dataclass(frozen=True)
class _Found:
    """What came of a run, as the recordings say it."""

    case: _Run
    view: View
    driven: Driven
    before: Sequence[Item]
    talk: Conversation

    def as_recorded(self) -> Mapping[str, Any]:
        """All keys."""
        items = [item for item in self.items if not self.case._is_prompt(item)]
        return {
            "status": self._status(),
            "triggered": self._triggered(),
            "failure": self._failure(),
            "output": [_output(self.case.policy, item, self.view) for item in items],
            **self._indices(items),
            "model_calls": len(self.case.model.calls),
            "calls": [_call(self.case.policy, ask) for ask in self.case.model.calls],
            "gate": self._gate(),
            "token_estimates": self._tokens(),
            **({} if self.summary is None else self._summary(self.summary)),
        }

    @property
    def items(self) -> tuple[Item, ...]:
        """The list as recorded: what is sent where a request is looked at, else what is stored."""
        return self.driven.items

    @property
    def compaction(self) -> Plan | None:
        """The plan that compacted, if any."""
        return next((plan for plan in self.driven.plans if plan.outcome == "compressed"), None)

    @property
    def summary(self) -> Item | None:
        """The new summary, if any."""
        return next(iter(self.compaction.input or ()), None) if self.compaction is not None else None

    def _status(self) -> str:
        if self.compaction is not None:
            return "compressed"
        outcomes = [plan.outcome for plan in self.driven.plans]
        known = (one for one in outcomes if one in ("masked", "truncated"))
        if "summariser_failed" in outcomes:
            return "error"
        return next(known, "noop")

    def _failure(self) -> str | None:
        return next((plan.outcome for plan in self.driven.plans if plan.outcome in _FAILURES), None)

    def _triggered(self) -> bool:
        if self.case.trigger in ("forced", "manual"):
            return True
        if self.case.trigger == "preflight":
            return bool(self.case.policy.preflight(self.view).fires)
        if self.case.trigger == "precheck":
            return bool(self.case.policy.precheck(self.view).route != "fits")
        return any(plan.outcome in ("compressed", "masked", "truncated", *_FAILURES) for plan in self.driven.plans)

    def _indices(self, items: Sequence[Item]) -> Mapping[str, Any]:
        meta: Mapping[str, Any] = {} if self.summary is None else self.summary.meta
        was, now = _shown(self.before), _shown(items)
        lists = {name: list(meta.get(name, ())) for name in ("summarised", "turn_prefix", "excerpted")}
        removed = sorted(was - now)
        lost = sorted(set(removed) - {at for one in lists.values() for at in one})
        more: dict[str, Any] = {"dropped_from_history": list(meta["dropped"])} if meta.get("dropped") else {}
        if meta.get("whole_branch"):
            more["whole_branch"] = True
        return {**lists, "removed": removed, "lost": lost, **more}

    def _gate(self) -> Mapping[str, Any]:
        policy, trigger = self.case.policy, self.case.trigger
        if trigger == "preflight":
            return {"tokens": policy.preflight(self.view).tokens}
        if trigger == "manual" and self.compaction is not None:
            return {"boundary_hardened": policy.hardens(self.view, policy.draft(self.view))}
        if trigger != "precheck":
            return {}
        found = policy.precheck(self.view)
        gate: dict[str, Any] = {
            "per_result_max_chars": found.per_result_chars,
            "aggregate_max_chars": found.aggregate_chars,
            "aggregate_pressure": found.aggregate_pressure,
            "route": found.route,
        }
        if not found.aggregate_pressure:
            gate |= {
                "estimated_prompt_tokens": found.tokens,
                "prompt_budget": found.budget,
                "overflow_tokens": found.overflow,
                "reducible_chars": found.reducible_chars,
            }
        if found.route == "compact_then_truncate":
            gate["truncated_after"] = policy.truncated(self.view)
        return gate

    def _tokens(self) -> Mapping[str, Any]:
        policy = self.case.policy
        stored = [item for item in self.talk.input if not self.case._is_prompt(item)]
        after = sum(map(policy.size, stored))
        found: dict[str, Any] = {
            "per_message": _per_message(policy, self.case.said),
            "context_tokens": policy.tokens(self.before),
            "transcript_prompt_tokens": policy.stored_tokens(self.case.said),
            "context_tokens_after": after,
        }
        if self.compaction is not None:
            unshortened = [item for item in self.compaction.input or () if not self.case._is_prompt(item)]
            found |= {"tokens_before": policy.tokens(self.before)}
            found |= {"reported_tokens_after": self._reported(after, unshortened)}
        return found

    def _reported(self, after: int, items: Sequence[Item]) -> int | None:
        """What OpenClaw stores as the size afterwards: nothing where it is above what it was told before."""
        if self.case.trigger == "inner":
            return None
        if self.case.trigger == "preflight":
            return after if after <= self.case.policy.preflight(self.view).tokens else None
        if self.case.trigger == "precheck":
            return int(sum(map(self.case.policy.size, self._unshortened(items))))
        return after

    def _unshortened(self, items: Sequence[Item]) -> Sequence[Item]:
        """A list before its results were shortened."""
        log = self.view.log
        return [Item(item.index, log[item.index]) if item.index is not None else item for item in items]

    def _summary(self, summary: Item) -> Mapping[str, Any]:
        found = self.case.policy.parts(summary)
        files: Any = summary.meta["files"]
        text = self.case.policy.text(summary)
        body: dict[str, Any] = {"part": "body", "chars": _units(found.body), "cut": found.is_cut}
        kept = bool(summary.meta["body_kept"])
        if not kept:
            body = {"part": "suffix_tail", "chars": _units(found.body) + (2 if found.body != text else 0)}
        parts = [body]
        if found.split_turn is not None and kept:
            parts.append({"part": "split_turn", "chars": _units(found.split_turn)})
        if found.excerpt_chars is not None:
            parts.append({"part": "recent_turns", "line_chars": list(found.excerpt_chars)})
        if found.failures is not None:
            parts.append({"part": "tool_failures", "listed": found.failures.listed, "more": found.failures.more})
        if found.read.listed or found.modified.listed:
            lists = {
                name: {"listed": one.listed, "more": one.more}
                for name, one in (("read", found.read), ("modified", found.modified))
            }
            parts.append({"part": "files", **lists})
        return {
            "summary": {"chars": _units(text), "body_kept": kept, "parts": parts},
            "details": {"read_files": files["read"], "modified_files": files["modified"]},
        }


_FAILURES = ("already_compacted", "no_real_conversation", "summariser_failed")


def _shown(items: Sequence[Item]) -> set[int]:
    return {item.index for item in items if item.index is not None}


def _per_message(policy: Any, messages: Sequence[Message]) -> list[int]:
    return [policy.size(Item(at, one)) for at, one in enumerate(messages) if one.role != "system"]


def _call(policy: Any, ask: Ask) -> dict[str, Any]:
    is_merge = ask.purpose.endswith("merge")
    return {
        "kind": {"summary": "history"}.get(ask.purpose, ask.purpose),
        "indices": list(ask.shown),
        **({"chunk_summaries": policy.partials(ask)} if is_merge else {}),
        "previous_summary": policy.earlier(ask) or None,
        "retry_feedback": policy.retries(ask),
        "max_tokens": ask.max_tokens,
    }


def _output(policy: Any, item: Item, view: View) -> dict[str, Any]:
    if item.index is None:
        return {"kind": "summary"}
    if item.how == "kept":
        return verbatim(item)
    return _changed(policy, item, view.log[item.index])


def _changed(policy: Any, item: Item, original: Message) -> dict[str, Any]:
    """An edited message: what is left of the text it had."""
    parts, were = item.message.parts, original.parts
    if item.how == "cleared" and isinstance(item.message.content, tuple) and len(parts) == len(were):
        changed = [at for at, (new, old) in enumerate(zip(parts, were, strict=True)) if new != old]
        return {"kind": "placeholder", "index": item.index, "parts": changed}
    text = item.message.text
    chars, (head, tail) = _units(text), policy.kept_chars(text)
    if "head" in item.meta:
        head, tail = item.meta["head"], item.meta["tail"]
    if item.how == "cleared" or not head:
        return {"kind": "placeholder", "index": item.index, "chars": chars}
    return {"kind": "truncated", "index": item.index, "chars": chars, "head": head, "tail": tail}


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# Estimates and the tool loop


def _estimate(given: Given) -> Mapping[str, Any]:
    policy, said = policy_of(presets.get("openclaw")), _messages(given)
    items = [Item(at, one) for at, one in enumerate(said) if one.role != "system"]
    system = "\n".join(one.text for one in said if one.role == "system")
    return {
        "status": "noop",
        "triggered": False,
        "summarised": [],
        "turn_prefix": [],
        "model_calls": 0,
        "calls": [],
        "token_estimates": {
            "per_message": _per_message(policy, said),
            "context_tokens": policy.tokens(items),
            "memory_and_chunk_tokens": sum(map(policy.size, items)),
            "precheck_per_message": [policy.pressure_of(item) for item in items],
            "precheck_total": policy.request_tokens(items, system, given.more.get("prompt") or ""),
        },
    }


def _loop(given: Given) -> Mapping[str, Any]:
    """The guard before a model call in a tool loop, with the optional check of the middle of a turn."""
    policy, said = policy_of(presets.get("openclaw", **_settings(given))), _messages(given)
    talk = conversation(said)
    before = given.config.get("messages_before_turn")
    shown = [item.index for item in talk.input if item.index is not None]
    talk.turn = shown[before] if before is not None and before < len(shown) else len(said)
    view = talk.view("request", _around(given, said))
    middle = policy.mid_turn(view) if given.config["trigger"] == "midturn" else None
    guard = policy.guarded(view)
    items, status, gate = guard.items, "noop", {}
    if middle is not None and middle.route != "fits":
        items, status = view.input[:], "compaction_requested"
        gate = {
            "route": middle.route,
            "estimated_prompt_tokens": middle.tokens,
            "prompt_budget": middle.budget,
            "overflow_tokens": middle.overflow,
            "reducible_chars": middle.reducible_chars,
        }
    elif guard.overflows:
        items, status = view.input[:], "overflow"
    elif any(item.how != "kept" for item in items):
        status = "truncated"
    return {
        "status": status,
        "triggered": status in ("overflow", "compaction_requested"),
        "gate": gate,
        "output": [_output(policy, item, view) for item in items],
        "summarised": [],
        "turn_prefix": [],
        "model_calls": 0,
        "calls": [],
        "token_estimates": {"per_message": _per_message(policy, said)},
    }

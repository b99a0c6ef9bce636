"""What came of a run of OpenClaw's policy, as the recordings say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness_nb.agent.conversation import Conversation
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.requests import Ask
from harness_nb.core.utf16 import utf16_len
from harness_nb.core.view import View
from harness_nb.lab.conformance.driving import Driven, verbatim


class Case(Protocol):
    """A case that was run.

    Attributes:
        trigger: What was run.
        policy: The policy.
        said: The conversation.
        calls: What was asked of the model, each try.
    """

    trigger: str
    policy: Any
    said: Sequence[Message]

    @property
    def calls(self) -> Sequence[Ask]:
        """What was asked of the model, each try."""
        ...

    def is_prompt(self, item: Item) -> bool:
        """Whether an item is the new message of the user, which is not stored yet."""
        ...


@dataclass(frozen=True)
class Found:
    """What came of a run, as the recordings say it."""

    case: Case
    view: View
    driven: Driven
    before: Sequence[Item]
    talk: Conversation

    def as_recorded(self) -> Mapping[str, Any]:
        """All keys."""
        items = [item for item in self.items if not self.case.is_prompt(item)]
        return {
            "status": self._status(),
            "triggered": self._triggered(),
            "failure": self._failure(),
            "output": [output(self.case.policy, item, self.view) for item in items],
            **self._indices(items),
            "model_calls": len(self.case.calls),
            "calls": [_call(self.case.policy, ask) for ask in self.case.calls],
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
        stored = [item for item in self.talk.input if not self.case.is_prompt(item)]
        after = sum(map(policy.size, stored))
        found: dict[str, Any] = {
            "per_message": per_message(policy, self.case.said),
            "context_tokens": policy.tokens(self.before),
            "transcript_prompt_tokens": policy.stored_tokens(self.case.said),
            "context_tokens_after": after,
        }
        if self.compaction is not None:
            unshortened = [item for item in self.compaction.input or () if not self.case.is_prompt(item)]
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
        body: dict[str, Any] = {"part": "body", "chars": utf16_len(found.body), "cut": found.is_cut}
        kept = bool(summary.meta["body_kept"])
        if not kept:
            body = {"part": "suffix_tail", "chars": utf16_len(found.body) + (2 if found.body != text else 0)}
        parts = [body]
        if found.split_turn is not None and kept:
            parts.append({"part": "split_turn", "chars": utf16_len(found.split_turn)})
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
            "summary": {"chars": utf16_len(text), "body_kept": kept, "parts": parts},
            "details": {"read_files": files["read"], "modified_files": files["modified"]},
        }


_FAILURES = ("already_compacted", "no_real_conversation", "summariser_failed")


def _shown(items: Sequence[Item]) -> set[int]:
    return {item.index for item in items if item.index is not None}


def per_message(policy: Any, messages: Sequence[Message]) -> list[int]:
    """Tokens of each message that is no system message."""
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


def output(policy: Any, item: Item, view: View) -> dict[str, Any]:
    """One line of a list as the recordings say it."""
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
    chars, (head, tail) = utf16_len(text), policy.kept_chars(text)
    if "head" in item.meta:
        head, tail = item.meta["head"], item.meta["tail"]
    if item.how == "cleared" or not head:
        return {"kind": "placeholder", "index": item.index, "chars": chars}
    return {"kind": "truncated", "index": item.index, "chars": chars, "head": head, "tail": tail}

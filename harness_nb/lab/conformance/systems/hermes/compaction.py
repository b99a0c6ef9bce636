"""Rounds of a Hermes session: messages come in, and its compaction acts at a point of the loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.core.plan import Plan
from harness_nb.core.policy import CompactionPolicy
from harness_nb.core.view import Hook, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Worded, WordedShare
from harness_nb.lab.conformance.driving import START, Driven, Stub, conversation, drive, policy_of, surroundings
from harness_nb.lab.conformance.systems.hermes.client import Client
from harness_nb.lab.conformance.systems.hermes.output import holds_words_of_ours, output, roles, summaries

if TYPE_CHECKING:
    from harness_nb.policies.hermes.draft import Draft
    from harness_nb.policies.hermes.policy import HermesPolicy
    from harness_nb.policies.hermes.record import HermesRecord

_HOOKS: dict[str, Hook] = {
    "preflight": "turn",
    "pre_call": "request",
    "post_response": "result",
    "hygiene": "idle",
    "manual": "manual",
}
_SETTINGS = (
    "enabled",
    "threshold",
    "max_tokens",
    "target_ratio",
    "protect_first_n",
    "protect_last_n",
    "abort_on_summary_failure",
    "in_place",
    "summary_model",
    "hygiene_hard_message_limit",
    "level",
    "session_store",
)
_MARK_CHARS = 23
_PEER_MARK = "[CONTEXT SUMMARY]:"
_SAID_WHEN_THERE = frozenset({"reason", "lost", "passes", "summary", "cooldown_set_s", "store"})
_STATE = {
    "compression_count": "compactions",
    "ineffective_count": "ineffective",
    "fallback_streak": "fallbacks",
    "awaiting_usage": "awaiting_usage",
    "last_prompt_tokens": "last_prompt_tokens",
}


def compacted(given: Given) -> Mapping[str, Any]:
    """Lets the compaction act on each round of a case."""
    session = _Session(given)
    rounds = [session.round(one) for one in given.config["rounds"]]
    return {**rounds[-1], "rounds": rounds}


@dataclass(eq=False)
class _Watched(CompactionPolicy):
    """A policy of which every view and plan can be looked at afterwards."""

    policy: HermesPolicy
    seen: dict[int, tuple[View, Plan]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.name, self.passes, self.hooks = self.policy.name, self.policy.passes, self.policy.hooks

    def plan(self, view: View) -> Plan:
        plan = self.policy.plan(view)
        self.seen[len(view.done)] = (view, plan)
        return plan


class _Session:
    """A session that lives through the rounds of a case."""

    def __init__(self, given: Given) -> None:
        config = given.config
        self.config = config
        self.policy: HermesPolicy = policy_of(_preset(config))
        self.messages = tuple(_with_mark(message, self.policy.mark) for message in given.messages())
        self.client = Client(Stub(given.answers))
        self.moment: datetime = START
        limits = ModelLimits(name="recorded", window=config["context_window"])
        self.is_engine = config["level"] == "engine"
        around = surroundings(self.messages, limits, host=_host(config))
        self.around: Surroundings = replace(around, system="") if self.is_engine else around
        self.talk: Conversation = conversation((), now=lambda: self.moment)
        self.talk.state = self.policy.record(**_state_before(config.get("state") or {}))
        self.upto = 0
        self.handed: set[int] = set()

    def round(self, one: Mapping[str, Any]) -> dict[str, Any]:
        """One round and what came of it."""
        self.moment += timedelta(seconds=one.get("advance_s", 0))
        self._take_in(self.messages[self.upto : one["upto"]])
        self.upto = one["upto"]
        if "usage" in one:
            self._report(one["usage"])
        before = self._record.cooldown_until
        wired, asked = self.client.stub.calls, self.client.summaries
        watched = _Watched(self.policy)
        hook = _HOOKS[one["entry"]]
        driven = drive(self.talk, watched, hook, self.around, self.client, words=one.get("args", ""))
        seen = [watched.seen[at] for at in sorted(watched.seen)]
        if "usage_after" in one:
            self._report(one["usage_after"])
        found = {
            **self._outcome(driven, seen, one),
            "model_calls": self.client.summaries - asked,
            "wire_calls": self.client.stub.calls - wired,
            "cooldown_set_s": self._cooldowns_set(before),
        }
        return {key: value for key, value in found.items() if value or key not in _SAID_WHEN_THERE}

    def _cooldowns_set(self, before: float) -> list[int]:
        until = self._record.cooldown_until
        return [round(until - self.moment.timestamp())] if until not in (0.0, before) else []

    @property
    def _record(self) -> HermesRecord:
        return self.talk.state  # type: ignore[return-value]  # set at the start, and by the policy since

    def _take_in(self, messages: Iterable[Message]) -> None:
        for message in messages:
            index = self.talk.add(message)
            if message.role == "system" and not self.is_engine:
                self.talk.replace_input(type(self.talk.input)(item for item in self.talk.input if item.index != index))
            if message.origin == "user":
                self.talk.turn = index

    def _report(self, tokens: int) -> None:
        """The provider reports the tokens of a prompt."""
        self.talk.usage = Usage(input_tokens=tokens)
        drive(self.talk, self.policy, "reply", self.around, self.client)

    def _outcome(self, driven: Driven, seen: Sequence[tuple[View, Plan]], one: Mapping[str, Any]) -> dict[str, Any]:
        passes = [_Pass(self.policy, view, plan) for view, plan in seen]
        made = [each for each in passes if each.is_open]
        turns = [item.index for each in made for item in each.turns if item.index is not None]
        self.handed.update(turns)
        lost = [index for index in _shown(driven.view.input) if index not in _shown(driven.items) | self.handed]
        return {
            "status": _status(made, passes[0]),
            "triggered": bool(made),
            "reason": passes[0].reason,
            "output": [output(item) for item in driven.items],
            "summarised": turns,
            "lost": lost,
            "token_estimates": self._estimates(driven, passes[0].view, one),
            "passes": [each.record for each in made if each.is_shown],
            "roles": roles(driven.items),
            "state_after": self._state_after(),
            "store": self._rows(driven, made) if self.config.get("stored_before") else {},
            "summary": summaries(driven.items) if any(plan.changes for _, plan in seen) else [],
        }

    def _estimates(self, driven: Driven, view: View, one: Mapping[str, Any]) -> dict[str, Any]:
        sizes = self.policy.sizes(view)
        after = self.policy.size.of(item.message for item in driven.items)
        changed = [item for item in driven.items if item not in set(view.input)]
        if not changed and len(driven.items) == len(view.input):
            after = sizes.messages
        found: dict[str, Any] = {
            "request": sizes.request,
            "messages": sizes.messages,
            "messages_after": Worded(after) if holds_words_of_ours(driven.items, self.talk.log) else after,
        }
        if holds_words_of_ours(view.input, self.talk.log):
            found |= {"request": Worded(sizes.request), "messages": Worded(sizes.messages)}
        if one["entry"] == "post_response":
            found["real_prompt_tokens"] = one["usage"]
        if one["entry"] == "hygiene":
            limits = self.policy.limits(view, self._record)
            found |= {"request": one.get("usage", sizes.messages), "hygiene_limit": limits.hygiene}
        return found

    def _state_after(self) -> dict[str, Any]:
        record = self._record
        limits = self.policy.limits(self.talk.view("turn", self.around), record)
        return {
            **{name: getattr(record, ours) for name, ours in _STATE.items()},
            "cooldown_s": round(record.resting(self.moment.timestamp())),
            "previous_summary_kept": bool(record.earlier),
            "threshold": limits.trigger,
            "tail_budget": limits.tail,
        }

    def _rows(self, driven: Driven, made: Sequence[_Pass]) -> dict[str, Any]:
        """Rows of a session store by their state: in place the old ones are archived, else they stay with the parent."""
        old = len(driven.view.input) if any(each.plan.changes for each in made) else 0
        new = len(driven.items)
        is_child = bool(old) and not self.policy.config.in_place
        live = [{"active": 1, "compacted": 0, "rows": new + old if is_child else new}]
        archived = [{"active": 0, "compacted": 1, "rows": old}] if old and not is_child else []
        return {"id_changed": is_child, "rows": live + archived}


@dataclass(frozen=True)
class _Pass:
    """One pass: its view, its plan, and what the policy drafted."""

    policy: HermesPolicy
    view: View
    plan: Plan

    @property
    def is_open(self) -> bool:
        return self.policy.look(self.view).gate.is_open

    @property
    def reason(self) -> str:
        look = self.policy.look(self.view)
        if self.plan.error is not None and look.gate.is_open:
            return "summary_model_window_below_minimum"
        return look.gate.code or ("nothing_to_compress" if self._draft is None else "")

    @property
    def is_shown(self) -> bool:
        return self.plan.error is None

    @property
    def turns(self) -> tuple[Item, ...]:
        draft = self._draft
        return () if draft is None or self.plan.error is not None else draft.turns

    @property
    def _draft(self) -> Draft | None:
        return self.policy.draft(self.view, self.policy.look(self.view).record)

    @property
    def record(self) -> dict[str, Any]:
        draft = self._draft
        if draft is None:
            length = len(self.view.input)
            return {"list_len": length, "out_len": length, "savings_pct": 0.0}
        items = self._compressed(draft)
        indices = [item.index for item in draft.before]
        short = draft.pruned
        focus = {"kind": "derived" if draft.focus.turns else "given", "chars": len(draft.focus.text)}
        return {
            "list_len": len(draft.before),
            "head_end": draft.head,
            "cut": draft.cut,
            "first_after_head": indices[draft.head],
            "first_tail": indices[draft.cut],
            "out_len": len(items),
            "pruned_count": len(short.results),
            **({"pruned": [indices[at] for at in short.results]} if short.results else {}),
            **({"args_cut": [indices[at] for at in short.arguments]} if short.arguments else {}),
            "iterative": draft.is_update,
            "budget_tokens": draft.budget_tokens,
            "input_chars": draft.input_chars,
            **self._how(draft),
            "savings_pct": self._savings(draft, items),
            "focus": {**focus, "turns": draft.focus.turns} if draft.focus.turns else focus,
        }

    def _how(self, draft: Draft) -> dict[str, Any]:
        if self.plan.outcome == "fallback":
            return {"fallback": True, "dropped": len(draft.turns)}
        return {"aborted": True} if self.plan.outcome in ("failed", "aborted") else {}

    def _compressed(self, draft: Draft) -> list[Item]:
        """The new list as the compressor made it: without what was set aside, and without what the session put back."""
        gone = {item.index for item in draft.middle} if self.plan.changes else set()
        gone |= {item.index for item in self.policy.set_aside(self.view)}
        items = self.plan.items(self.view)
        return [item for item in items if item.how != "note" and (item.index is None or item.index not in gone)]

    def _savings(self, draft: Draft, items: Sequence[Item]) -> float:
        """By how much the list became shorter, in percent of the list with old results shortened."""
        if not self.plan.changes or self.plan.outcome == "aborted":
            return 100.0
        size = self.policy.size
        marks = self.policy.config.stored_mark_chars * len(draft.before) // 4 if not self.view.done else 0
        before = size.of(item.message for item in draft.pruned.items) + marks
        return WordedShare(round((before - size.of(item.message for item in items)) / before * 100, 2))


def _status(made: Sequence[_Pass], first: _Pass) -> str:
    if first.plan.error is not None:
        return "error"
    done = [each.plan.outcome for each in made if each.plan.outcome != "noop"]
    if not done:
        return "noop"
    return "aborted" if done[-1] == "failed" else done[-1]


def _shown(items: Iterable[Item]) -> set[int]:
    return {item.index for item in items if item.index is not None}


def _preset(config: Mapping[str, Any]) -> presets.Preset:
    settings = {name: config[name] for name in _SETTINGS if name in config}
    return presets.get(
        "hermes",
        **settings,
        summary_model_window=config.get("aux_context_window"),
        stored_mark_chars=_MARK_CHARS if config.get("stored_before") else 0,
        below_minimum="refuse",
        waits_for_usage=True,
    )


def _with_mark(message: Message, mark: str) -> Message:
    """A message in which the peer's mark of an earlier summary is ours; they have the same length."""
    text = message.text
    return message.with_text(mark + text[len(_PEER_MARK) :]) if text.startswith(_PEER_MARK) else message


def _host(config: Mapping[str, Any]) -> dict[str, object]:
    """What the loop knows: the open tasks, a line each."""
    tasks = config.get("todo") or config.get("todos") or ()
    listed = [tasks] if isinstance(tasks, str) else tasks
    lines = [str(one.get("content", "")) if isinstance(one, Mapping) else str(one) for one in listed]
    return {"todo": "\n".join(lines)}


def _state_before(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state that a session began with: fields of the policy's record."""
    known: dict[str, Any] = {ours: state[name] for name, ours in _STATE.items() if name in state}
    if "cooldown_s" in state:
        known["cooldown_until"] = START.timestamp() + state["cooldown_s"]
    return known

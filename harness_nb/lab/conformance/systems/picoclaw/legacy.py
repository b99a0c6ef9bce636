"""PicoClaw: summaries after a turn, forced compression, trimming before a call, and the clean-up of calls and results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from harness_nb import presets
from harness_nb.agent.driver import Answer, Effect
from harness_nb.core.item import Item
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message
from harness_nb.core.plan import Plan
from harness_nb.core.policy import FunctionPolicy
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.core.view import Hook, View
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import (
    Driven,
    Stub,
    conversation,
    drive,
    plain_reply,
    policy_of,
    surroundings,
    verbatim,
)

_SETTINGS = (
    "summarize_message_threshold",
    "summarize_token_percent",
    "keep_last",
    "split_above",
    "llm_attempts",
    "max_tokens",
)
MOST_REQUESTS = 12
"""Requests of a case that are described in a recording, the first ones."""

_LONG_CHARS, _HEAD_CHARS, _TAIL_CHARS = 400, 160, 80
_PEER_DROPPED = "[Emergency compression dropped {count} oldest messages due to context limit]"
_PEER_OMITTED = "[Note: Some oversized messages were omitted from this summary for efficiency.]"
"""Notes of the system's own, as recorded inside summaries; ours say the same in other words."""


class Played:
    """The stub model with the attempts that a request may have; each of them is a call."""

    def __init__(self, answers: Any) -> None:
        self.stub = Stub(answers)

    def __call__(self, effect: Effect) -> Answer:
        """What comes of an effect."""
        if not isinstance(effect, Ask):
            return None
        reply = Reply("")
        for _ in range(effect.attempts):
            reply = plain_reply(self.stub.next(effect))
            if reply.failure is None and effect.blank_fails and not reply.text:
                reply = Reply(None, Failure("blank"))
            if reply.failure is None:
                break
        return reply


def limits(given: Given) -> ModelLimits:
    """The model of a case."""
    return ModelLimits(name="stub", window=given.config.get("context_window") or 131_072)


def per_message(policy: Any, messages: tuple[Message, ...]) -> list[int | None]:
    """The estimate of each message."""
    return [None if one.role == "system" else policy.size(one) for one in messages]


def _policy(given: Given) -> Any:
    settings = {name: given.config[name] for name in _SETTINGS if name in given.config}
    return policy_of(presets.get("picoclaw", variant="legacy", **settings))


def _driven(
    given: Given, policy: Any, hook: Hook, plan: Callable[[View], Plan] | None, respond: Callable[[Effect], Answer]
) -> Driven:
    """Lets the manager, or one function of it, act on the conversation of a case."""
    messages = given.messages()
    said = [Item(at, one) for at, one in enumerate(messages) if one.role != "system"]
    before = given.config.get("summary")
    items = [policy.summary(_ours(before), said[:0]), *said] if before else said
    around = surroundings(messages, limits(given), system_tokens=given.config.get("fixed_tokens") or 0)
    acting = policy if plan is None else FunctionPolicy(plan)
    return drive(conversation(messages, items=items), acting, hook, around, respond)


def _ours(text: str) -> str:
    """An earlier summary in which the system's notes are ours."""
    opening, _, rest = _PEER_DROPPED.partition("{count}")
    while opening in text and rest in text:
        at = text.index(opening)
        count, _, after = text[at + len(opening) :].partition(rest)
        text = f"{text[:at]}{_our_note(count)}{after}"
    return text


def _our_note(count: str) -> str:
    return str(_NOTES.dropped_note).replace("{count}", count)


def _theirs(text: str) -> str:
    """A summary with the notes as recorded."""
    opening, _, rest = _NOTES.dropped_note.partition("{count}")
    text = text.replace(_NOTES.omitted_note, _PEER_OMITTED)
    while opening in text:
        at = text.index(opening)
        count, _, after = text[at + len(opening) :].partition(rest)
        text = f"{text[:at]}{_PEER_DROPPED.replace('{count}', count)}{after}"
    return text


_NOTES: Any = policy_of(presets.get("picoclaw"))


def _output(driven: Driven) -> list[dict[str, Any]]:
    return [_item(item) for item in driven.items]


def _item(item: Item) -> dict[str, Any]:
    if item.index is not None:
        return verbatim(item)
    return {"kind": "summary", "in": "system", "text": _shortened(_theirs(_NOTES.text_of(item)))}


def _shortened(text: str) -> Any:
    if len(text) <= _LONG_CHARS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"chars": len(text), "head": text[:_HEAD_CHARS], "tail": text[-_TAIL_CHARS:], "sha256": digest}


def _summarise(given: Given) -> Mapping[str, Any]:
    """The check after a turn."""
    policy, play = _policy(given), Played(given.answers)
    driven = _driven(given, policy, "end", None, play)
    view, plan = driven.view, driven.plans[-1]
    pressure = policy.thresholds(view)
    is_made = plan.outcome == "compressed"
    shown = policy.material(view)
    made = next((item for item in driven.items if item.meta.get("batches")), None)
    return {
        "status": "compressed" if is_made else "noop",
        "triggered": any(one.fired for one in pressure.triggers),
        "rounds": int(is_made),
        "summarised": [[item.index for item in shown.valid]] if is_made else [],
        "omitted_oversized": [item.index for item in shown.oversized] if is_made else [],
        "source": _source(driven) if is_made else None,
        "batches": [] if made is None else list(made.meta["batches"]),  # type: ignore[call-overload]  # a list of ours
        "token_estimates": {
            "history": pressure.tokens,
            "threshold": policy.most_tokens(view),
            "per_message": per_message(policy, given.messages()),
        },
        "output": _output(driven),
        "model_calls": play.stub.calls,
        "requests": [_request(ask) for ask in play.stub.asked[:MOST_REQUESTS]],
    }


def _source(driven: Driven) -> str:
    merges = [reply for ask, reply in driven.asked if ask.purpose == "merge"]
    if not merges:
        return "single"
    return "merged" if merges[-1].failure is None else "joined"


def _request(ask: Ask) -> dict[str, Any]:
    if ask.purpose == "merge":
        return {"what": "merge"}
    has_summary = "<previous_summary>" in ask.messages[-1].text
    return {"what": "batch", "indices": list(ask.shown), "previous_summary": has_summary}


def _force(given: Given) -> Mapping[str, Any]:
    """Forced compression."""
    policy = _policy(given)
    driven = _driven(given, policy, "overflow", policy.force, Played(()))
    made = [item.meta["dropped"] for item in driven.items if item.index is None and item.meta.get("dropped")]
    is_made = driven.plans[-1].changes
    return {
        "status": driven.plans[-1].outcome,
        "triggered": is_made,
        "dropped": made[-1] if is_made else 0,
        "summarised": [],
        "token_estimates": {"per_message": per_message(policy, given.messages())},
        "output": _output(driven),
        "model_calls": 0,
        "requests": [],
    }


def _trim(given: Given) -> Mapping[str, Any]:
    """Trimming of the conversation before a call."""
    policy = _policy(given)
    driven = _driven(given, policy, "request", policy.trim, Played(()))
    return {
        "status": driven.plans[-1].outcome,
        "fits": policy.fits(driven.view, driven.items),
        "output": _output(driven),
        "token_estimates": {"per_message": per_message(policy, given.messages())},
    }


def _sanitise(given: Given) -> Mapping[str, Any]:
    """The clean-up of calls and results."""
    policy = _policy(given)
    driven = _driven(given, policy, "request", policy.clean, Played(()))
    return {"status": driven.plans[-1].outcome, "output": _output(driven)}


OPERATIONS = {"summarise": _summarise, "force": _force, "trim": _trim, "sanitise": _sanitise}

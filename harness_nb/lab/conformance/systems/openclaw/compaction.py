"""OpenClaw's policy let loose on a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from harness_nb import presets
from harness_nb.agent.conversation import Conversation
from harness_nb.agent.driver import Answer, Begun, Effect, Leaving
from harness_nb.core.item import Item
from harness_nb.core.messages import Message, Usage
from harness_nb.core.requests import Ask, Failure, Reply
from harness_nb.core.view import Hook
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import Stub, conversation, drive, plain_reply, policy_of
from harness_nb.lab.conformance.systems.openclaw import loop
from harness_nb.lab.conformance.systems.openclaw.found import Found
from harness_nb.lab.conformance.systems.openclaw.given import around, messages, settings

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


def run(given: Given) -> Mapping[str, Any]:
    """Lets OpenClaw act on a case."""
    trigger = given.config.get("trigger")
    if trigger == "estimate":
        return loop.estimate(given)
    if trigger in ("loop_guard", "midturn"):
        return loop.guard(given)
    return _Run(given).outcome()


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
        self.policy = policy_of(presets.get("openclaw", **settings(given)))
        self.said: Sequence[Message] = messages(given)
        self.prompt: str | None = given.more.get("prompt")
        self.model = _Model(Stub(given.answers))

    def outcome(self) -> Mapping[str, Any]:
        """What came of it."""
        talk = self._conversation()
        beside = around(self.given, self.said)
        words = self.given.more.get("custom_instructions") or ""
        before = talk.input[:]
        driven = drive(talk, self.policy, _HOOKS[self.trigger], beside, self.model, words=words)
        view = replace(driven.view, words=words)
        found = Found(self, view, driven, [item for item in before if not self.is_prompt(item)], talk)
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

    @property
    def calls(self) -> Sequence[Ask]:
        """What was asked of the model, each try."""
        return self.model.calls

    def is_prompt(self, item: Item) -> bool:
        """Whether an item is the new message of the user, which is not stored yet."""
        return item.index == len(self.said)


def _earlier(policy: Any, prior: Mapping[str, Any], gone: tuple[int, ...]) -> Item:
    details = prior.get("details") or {}
    files = {"read": details.get("read_files", []), "modified": details.get("modified_files", [])}
    made: Item = policy.summary(prior["summary"], of=gone, files=files, from_hook=bool(prior.get("from_hook")))
    return made

"""PicoClaw's Seahorse: turns stored, compacted and assembled, and the loop after an overflow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness_nb import presets
from harness_nb.agent.conversation import Conversation, Surroundings
from harness_nb.agent.driver import Answer, Effect
from harness_nb.core.item import Item
from harness_nb.core.messages import Message
from harness_nb.core.requests import Ask
from harness_nb.core.view import Refusal
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import conversation, drive, policy_of, surroundings, verbatim
from harness_nb.lab.conformance.systems.picoclaw.legacy import MOST_REQUESTS, Played, limits, per_message

_SETTINGS = (
    "max_tokens",
    "fresh_tail",
    "leaf_min",
    "leaf_chunk_tokens",
    "leaf_target",
    "condensed_min",
    "condensed_target",
    "compact_every_turn",
)
_TARGET = re.compile(r"Aim at about (\d+) tokens")
_TEMPERATURES = (0.3, 0)


class _Around:
    """The stub model; notes which nodes a request to condense shows."""

    def __init__(self, given: Given, policy: Any) -> None:
        self.play = Played(given.answers)
        self.requests: list[dict[str, Any]] = []
        self._policy = policy

    def __call__(self, effect: Effect) -> Answer:
        """What comes of an effect."""
        if isinstance(effect, Ask):
            self.requests.append(self._described(effect))
        return self.play(effect)

    def _described(self, ask: Ask) -> dict[str, Any]:
        found = _TARGET.search(ask.messages[-1].text)
        told: dict[str, Any] = {
            "what": ask.purpose,
            "target": int(found[1]) if found else None,
            "temperature": _TEMPERATURES[ask.nth],
        }
        if ask.purpose.startswith("condensed"):
            return {**told, "indices": list(self._policy.shown_nodes(ask))}
        return {**told, "indices": list(ask.shown), "max_tokens": ask.max_tokens}


def _policy(given: Given) -> Any:
    config = given.config
    settings = {name: config[name] for name in _SETTINGS if name in config}
    uses_model = config.get("model") is not False
    return policy_of(presets.get("picoclaw", variant="seahorse", uses_model=uses_model, **settings))


def _turns(given: Given) -> Mapping[str, Any]:
    """Each turn stored and compacted, then the request assembled."""
    policy, messages = _policy(given), given.messages()
    around, settings = _Around(given, policy), surroundings(messages, limits(given))
    talk = conversation([message for message in messages if message.role == "system"], items=())
    for turn in _by_turn(messages):
        for message in turn:
            talk.add(message)
        if policy.config.compact_every_turn:
            drive(talk, policy, "end", settings, around)
    return _outcome(policy, talk, settings, messages, around)


def _by_turn(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _until_under(given: Given) -> Mapping[str, Any]:
    """All turns stored, then the loop after an overflow."""
    policy, messages = _policy(given), given.messages()
    around, settings = _Around(given, policy), surroundings(messages, limits(given))
    talk = conversation(messages)
    driven = drive(talk, policy, "overflow", settings, around, error=Refusal("too long"))
    _, steps, end = policy.until_under(driven.passes[0].view)
    found = _outcome(policy, talk, settings, messages, around)
    return {**found, "until_under": {"end": end, "iterations": steps}}


def _outcome(
    policy: Any, talk: Conversation, settings: Surroundings, messages: Sequence[Message], around: _Around
) -> dict[str, Any]:
    items = policy.bare(talk.input)
    nodes = policy.nodes(items)
    sent = policy.assembly(talk.view("request", settings))
    leaves = [list(node.messages) for node in nodes if node.is_leaf]
    messages_sent = [item for item in sent.items if item.index is not None]
    return {
        "status": "compressed" if nodes else "noop",
        "triggered": bool(nodes),
        "nodes": [_node(node) for node in nodes],
        "summarised": leaves,
        "items": [_item(policy, item) for item in items],
        "context_tokens": sum(map(policy.tokens_of, items)),
        "model_calls": around.play.stub.calls,
        "requests": around.requests[:MOST_REQUESTS],
        "token_estimates": {"per_message": per_message(policy, tuple(messages))},
        "assembled": {
            "budget": sent.budget,
            "tokens": sent.tokens,
            "hint": sent.hint,
            "preserved_active_turn": sent.keeps_turn,
        },
        "output": [_item(policy, item) for item in sorted(sent.items, key=lambda one: one.index is not None)],
        "dropped_by_sanitiser": policy.dropped_by_clean_up(messages_sent),
    }


def _node(node: Any) -> dict[str, Any]:
    told = {"id": node.id, "level": node.level, "tokens": node.tokens, "source_tokens": node.source_tokens}
    if node.is_leaf:
        return {"kind": "leaf", **told, "sources": list(node.messages), "previous": list(node.previous)}
    more = {"sources": list(node.sources), "depth": node.depth, "descendants": node.descendants}
    return {"kind": "condensed", **told, **more}


def _item(policy: Any, item: Item) -> dict[str, Any]:
    if item.index is not None:
        return verbatim(item)
    node = policy.node_of(item)
    sources = list(node.messages) if node.is_leaf else list(node.sources)
    return {
        "kind": "summary",
        "in": "system",
        "id": node.id,
        "depth": node.depth,
        "sources": sources,
        "tokens": node.tokens,
    }


OPERATIONS = {"turns": _turns, "until_under": _until_under}

"""Eney: three tiers of pressure, and a memory that only tools write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb import presets
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Image, Message
from harness_nb.core.replacement import invalid
from harness_nb.core.view import View
from harness_nb.errors import ConfigError
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.compare import Wording
from harness_nb.lab.conformance.driving import (
    Driven,
    Stub,
    conversation,
    drive,
    policy_of,
    stubbed,
    surroundings,
    verbatim,
    with_placeholders,
)

_NOT_SETTINGS = frozenset({"model", "window_override", "harness_messages", "placeholder_parts", "call"})


def run(given: Given) -> Mapping[str, Any]:
    """Lets Eney act on a case."""
    return _replaced(given) if given.config.get("call") == "replace_messages" else _compaction(given)


def _compaction(given: Given) -> Mapping[str, Any]:
    config = given.config
    preset = presets.get("eney", **{key: one for key, one in config.items() if key not in _NOT_SETTINGS})
    policy = policy_of(preset)
    messages = with_placeholders(
        given.messages(by_harness=config.get("harness_messages", ())),
        config.get("placeholder_parts", ()),
        policy.image_elided,
    )
    try:
        limits = _limits(preset, config["model"], config["window_override"])
    except ConfigError:
        return _refused("configuration")
    talk = conversation(messages)
    stub = Stub(given.answers)
    driven = drive(talk, policy, "request", surroundings(messages, limits), stubbed(stub))
    return {**_outcome(policy, driven), "model_calls": stub.calls}


def _limits(preset: presets.Preset, model: str, override: object) -> ModelLimits:
    if override is None:
        return preset.limits(ModelLimits(name=model))
    return ModelLimits(name=model, window=override, window_source="user")  # type: ignore[arg-type]  # it checks


def _refused(why: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"output": [], "summarised": [], "model_calls": 0, "token_estimates": {}}
    return {"status": "error", "triggered": False, "error": why, **nothing}


def _outcome(policy: Any, driven: Driven) -> dict[str, Any]:
    before, after = policy.pressure(driven.view), policy.pressure(_after(driven))
    changed = [plan for plan in driven.plans if plan.changes]
    fresh = [item for item in driven.items if item.how != "kept" and item not in driven.view.input]
    notes = [found for item in driven.items if (found := policy.elided(item)) is not None]
    return {
        "status": changed[-1].outcome if changed else "noop",
        "triggered": before.tier > 0,
        "tier": before.tier,
        "applied": list(range(before.tier, before.tier + sum(plan.outcome != "unchanged" for plan in driven.plans))),
        "output": [_output(item, driven.view) for item in driven.items],
        "summarised": [],
        "removed": _count(policy, driven.view.input) - _count(policy, driven.items),
        "cumulative": notes[0] if notes else None,
        "placeholders": {
            "images": sum(_images_elided(item, driven.view) for item in fresh),
            "results": sum(item.how == "cleared" and item.message.role == "tool" for item in fresh),
        },
        "irreducible": before.tier > 0 and after.tokens > after.window,
        "token_estimates": {"before": before.tokens, "after": after.tokens, "window": before.window},
    }


def _after(driven: Driven) -> View:
    return replace(driven.view, input=ModelInput(driven.items))


def _count(policy: Any, items: Sequence[Item]) -> int:
    return len(policy.groups(items))


def _output(item: Item, view: View) -> dict[str, Any]:
    if item.index is None:
        return {"kind": "note", "elided": item.meta["elided"]}
    if item.how == "truncated":
        meta = item.meta
        sizes = {"chars": len(item.message.text), "head": meta["head"], "tail": meta["tail"], "elided": meta["omitted"]}
        return {"kind": "truncated", "index": item.index, **sizes}
    if item.how == "cleared" and item.message.role == "tool":
        return {"kind": "placeholder", "index": item.index, "what": "result"}
    if item.how == "cleared":
        return {"kind": "placeholder", "index": item.index, "what": "images", "images": _images_elided(item, view)}
    return verbatim(item)


def _images_elided(item: Item, view: View) -> int:
    """Pictures of a message of either side that the item shows no more."""
    if item.index is None or item.message.role == "tool":
        return 0
    return _images(view.log[item.index]) - _images(item.message)


def _images(message: Message) -> int:
    return sum(isinstance(part, Image) for part in message.parts)


_REFUSALS = {
    "empty": "empty",
    "orphan_result": "result without call",
    "unanswered_call": "call without result",
    "blank": "message without blocks",
}


def _replaced(given: Given) -> Mapping[str, Any]:
    """A host's own list in the place of the conversation."""
    messages = given.messages()
    found = invalid([message for message in messages if message.role != "system"])
    if found is not None:
        return _refused(_REFUSALS.get(found.kind) or Wording(found.kind))
    output = [{"kind": "verbatim", "index": at} for at, one in enumerate(messages) if one.role != "system"]
    nothing = {"triggered": False, "summarised": [], "model_calls": 0, "token_estimates": {}}
    return {"status": "replaced", "output": output, **nothing}

"""Eney: three tiers of pressure, and a memory that only tools write."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness_nb import presets
from harness_nb.agent.calls import run_call
from harness_nb.agent.permissions import Permissions
from harness_nb.agent.runner import runner
from harness_nb.core.item import Item, ModelInput
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Image, Message, ToolCall, to_json
from harness_nb.core.replacement import invalid
from harness_nb.core.tool import Tool
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
from harness_nb.lab.conformance.folders import files_in, folder
from harness_nb.memory.designs.eney import EneyMemory, evaluation_memory
from harness_nb.memory.designs.eney_tools import NameRefused, topic_file, topic_tools
from harness_nb.memory.designs.namespaces import namespace

_NOT_SETTINGS = frozenset({"model", "harness_messages", "placeholder_parts", "call"})


def run(given: Given) -> Mapping[str, Any]:
    """Lets Eney act on a case."""
    if given.kind in _MEMORY:
        return _MEMORY[given.kind](given.input)
    return _replaced(given) if given.config.get("call") == "replace_messages" else _compaction(given)


def _compaction(given: Given) -> Mapping[str, Any]:
    config = given.config
    try:
        preset = presets.get("eney", **{key: one for key, one in config.items() if key not in _NOT_SETTINGS})
    except ConfigError:
        return _refused("configuration")
    policy, stub = policy_of(preset), Stub(given.answers)
    messages = with_placeholders(
        given.messages(by_harness=config.get("harness_messages", ())),
        config.get("placeholder_parts", ()),
        policy.image_elided,
    )
    around = surroundings(messages, preset.limits(ModelLimits(name=config["model"])))
    driven = drive(conversation(messages), policy, "request", around, stubbed(stub))
    return {**_outcome(policy, driven), "model_calls": stub.calls}


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


# The durable memory


def _name(given: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return {"status": "ok", "file": topic_file(given["name"])}
    except NameRefused as error:
        return {"status": "rejected", "reason": error.reason}


def _namespace(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"status": "ok", "folder": namespace(given["cwd"], home=given["home"])}


def _index(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a session shows of an index that lies in its folder when it begins."""
    with folder() as place:
        memory = EneyMemory(place)
        if given["content"] is not None:
            memory.topics.write_index(given["content"])
        memory.begin("s")
        shown = memory.shown
    found = {"status": "ok", "state": shown.state, "lines": len(shown.lines), "truncated": shown.truncated}
    return {**found, "first": shown.lines[0], "last": shown.lines[-1], "fence": shown.fence} if shown.lines else found


def _tools(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tool calls, checked, permitted and run as in the live loop."""
    with evaluation_memory(given["files"]) as topics:
        tools = {tool.name: tool for tool in topic_tools(lambda: topics)}
        prompts: list[str] = []
        results = [_call(call, tools, prompts) for call in given["calls"]]
        left = files_in(topics.folder)
    return {"status": "ok", "results": results, "prompts": len(prompts), "files": left}


def _call(given: Mapping[str, Any], tools: Mapping[str, Tool], prompts: list[str]) -> dict[str, Any]:
    def asked(tool: Tool, _: Mapping[str, Any]) -> bool:
        prompts.append(tool.name)
        return bool(given["answer"] == "allow")

    permissions = Permissions(
        default=given.get("permission", "allow"), asker=asked if given.get("answer") is not None else None
    )
    call = ToolCall("call", given["tool"], to_json(given["arguments"]))
    outcome = runner.wait(run_call(call, tools, permissions))
    if outcome.status != "ok":
        return {"is_error": True, "reason": Wording(outcome.text)}
    named = _FILE.search(outcome.text)
    return {"is_error": False, "file": named[0] if named else ""}


_FILE = re.compile(r"[\w-]+\.md")
_MEMORY = {
    "memory-name": _name,
    "memory-namespace": _namespace,
    "memory-index": _index,
    "memory-tools": _tools,
}

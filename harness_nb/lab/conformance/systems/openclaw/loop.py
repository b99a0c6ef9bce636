"""OpenClaw's estimates, and its guard before each model call of a tool loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb import presets
from harness_nb.core.item import Item
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import conversation, policy_of
from harness_nb.lab.conformance.systems.openclaw.found import output, per_message
from harness_nb.lab.conformance.systems.openclaw.given import around, messages, settings


def estimate(given: Given) -> Mapping[str, Any]:
    """The estimates alone."""
    policy, said = policy_of(presets.get("openclaw")), messages(given)
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
            "per_message": per_message(policy, said),
            "context_tokens": policy.tokens(items),
            "memory_and_chunk_tokens": sum(map(policy.size, items)),
            "precheck_per_message": [policy.pressure_of(item) for item in items],
            "precheck_total": policy.request_tokens(items, system, given.more.get("prompt") or ""),
        },
    }


def guard(given: Given) -> Mapping[str, Any]:
    """The guard before a model call in a tool loop, with the optional check of the middle of a turn."""
    policy, said = policy_of(presets.get("openclaw", **settings(given))), messages(given)
    talk = conversation(said)
    before = given.config.get("messages_before_turn")
    shown = [item.index for item in talk.input if item.index is not None]
    talk.turn = shown[before] if before is not None and before < len(shown) else len(said)
    view = talk.view("request", around(given, said))
    middle = policy.mid_turn(view) if given.config["trigger"] == "midturn" else None
    found = policy.guarded(view)
    items, status, gate = found.items, "noop", {}
    if middle is not None and middle.route != "fits":
        items, status = view.input[:], "compaction_requested"
        gate = {
            "route": middle.route,
            "estimated_prompt_tokens": middle.tokens,
            "prompt_budget": middle.budget,
            "overflow_tokens": middle.overflow,
            "reducible_chars": middle.reducible_chars,
        }
    elif found.overflows:
        items, status = view.input[:], "overflow"
    elif any(item.how != "kept" for item in items):
        status = "truncated"
    return {
        "status": status,
        "triggered": status in ("overflow", "compaction_requested"),
        "gate": gate,
        "output": [output(policy, item, view) for item in items],
        "summarised": [],
        "turn_prefix": [],
        "model_calls": 0,
        "calls": [],
        "token_estimates": {"per_message": per_message(policy, said)},
    }

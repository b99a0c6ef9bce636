"""What a case gives OpenClaw: settings, messages, and what is sent beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from harness_nb.agent.conversation import Surroundings
from harness_nb.core.limits import ModelLimits
from harness_nb.core.messages import Message, Usage
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import START, named_results

_ALIKE = (
    "mode",
    "reserve_tokens",
    "reserve_tokens_floor",
    "max_history_share",
    "recent_turns_preserve",
    "identifier_policy",
    "identifier_instructions",
)
_STAGES: Mapping[str, Mapping[str, bool]] = {
    "precheck": {"prune_images": False, "loop_guard": False},
    "image_prune": {"precheck": False, "cap_requests": False, "loop_guard": False},
    "pruning": {"precheck": False, "cap_requests": False, "loop_guard": False, "prune_images": False, "pruning": True},
}
"""Stages of a request that did not run in a recording of another one."""


def settings(given: Given) -> dict[str, Any]:
    """Settings of the preset as a case names them."""
    config = given.config
    made = {name: config[name] for name in _ALIKE if config.get(name) is not None}
    made |= {"keep_recent_tokens": config["keep_recent_tokens"]} if config.get("keep_recent_tokens") else {}
    guard = config.get("quality_guard") or {}
    made |= {"quality_guard": guard["enabled"]} if "enabled" in guard else {}
    made |= {"quality_guard_max_retries": guard["max_retries"]} if guard.get("max_retries") is not None else {}
    made |= _STAGES.get(config.get("trigger", ""), {})
    return made | _pruning(config.get("resolved") or {})


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


def messages(given: Given) -> tuple[Message, ...]:
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


def limits(given: Given) -> ModelLimits:
    """Limits of the model."""
    config = given.config
    return ModelLimits(name="stub", window=config["context_window"], max_output=config.get("model_max_tokens"))


def around(given: Given, said: Sequence[Message]) -> Surroundings:
    """What is sent beside the messages."""
    system = "\n".join(one.text for one in said if one.role == "system")
    return Surroundings(model=limits(given), system=system)

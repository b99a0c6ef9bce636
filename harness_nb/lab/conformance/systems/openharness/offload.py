"""OpenHarness' shortening of one result before it enters the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness_nb.agent.driver import Answer, Effect
from harness_nb.core.limits import ModelLimits
from harness_nb.core.requests import Evict, Reply
from harness_nb.lab.conformance.cases import Given
from harness_nb.lab.conformance.driving import conversation, drive, named_results, policy_of, surroundings
from harness_nb.lab.conformance.systems.openharness.output import Told
from harness_nb.presets import get as get_preset

_TIME, _RANDOM = "20260101-000000", "0" * 12


def offloaded(given: Given) -> Mapping[str, Any]:
    """Lets a result come in."""
    config, target = given.config, given.config["target_index"]
    sizes = {name: config[name] for name in ("inline_chars", "preview_chars")}
    policy = policy_of(get_preset("openharness", **sizes))
    messages = named_results(given.messages())
    tool = messages[target].name or "tool"
    path = policy.artifact_path(tool, _TIME, _RANDOM)
    filed: list[str] = []

    def respond(effect: Effect) -> Answer:
        if not isinstance(effect, Evict):
            return None
        filed.append(effect.text)
        return Reply(path)

    around = surroundings(messages, ModelLimits(name="recorded"))
    driven = drive(conversation(messages[: target + 1]), policy, "result", around, respond)
    found = {"summarised": [], "model_calls": 0, "token_estimates": {"before": policy.estimate.size(messages[target])}}
    output = Told(messages).output(driven.items)
    if not filed:
        return {**found, "status": "noop", "triggered": False, "output": output}
    folder, _, file = path.partition("/")
    name = file.removeprefix(f"{_TIME}-").removesuffix(f"-{_RANDOM}.txt")
    spill = {
        "folder": folder,
        "name_after_time": name,
        "random_chars": len(_RANDOM),
        "path_chars": len(path),
        "whole_text_saved": filed == [messages[target].text],
    }
    return {**found, "status": "truncated", "triggered": True, "output": output, "spill": spill}

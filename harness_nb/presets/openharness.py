"""Preset `openharness`: four steps of compaction of which the last asks a model; topic files picked by the words of a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from harness_nb.core.config import MemoryConfig, plain_repr, whole
from harness_nb.core.limits import ModelLimits
from harness_nb.memory.designs.openharness.config import OpenHarnessMemoryConfig
from harness_nb.memory.designs.openharness.design import OpenHarnessMemory
from harness_nb.policies.openharness.config import OpenHarnessConfig
from harness_nb.policies.openharness.policy import OpenHarnessPolicy
from harness_nb.presets.preset import Preset, chosen_variant, in_force, shared_out

NAME = "openharness"
VARIANTS = ("as_shipped", "as_described", "v0_1_0")

_VERSIONS: dict[str, dict[str, Any]] = {
    "as_shipped": {},
    "as_described": {"session_memory": False},
    "v0_1_0": {
        "automatic": False,
        "session_memory": False,
        "llm_summary": False,
        "use_checkpoint": False,
        "attachments": False,
        "pair_safe": False,
        "padding": 1.0,
        "counts_only_text": True,
        "digest_role": "assistant",
        "topic_schema": False,
        "max_entrypoint_bytes": None,
    },
}
_ABOUT = {
    "as_shipped": "At 167,000 of 200,000 tokens clears results, cuts texts, writes a digest; a model only for short talks.",
    "as_described": "At 167,000 of 200,000 tokens clears results, cuts texts, and has a model summarise all but 6 messages.",
    "v0_1_0": "By hand only: the beginnings of the last eight older texts take the place of all but 6 messages.",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class OpenHarnessWindows:
    """The context window that OpenHarness assumes.

    Attributes:
        context_window_tokens: Of every model, in tokens (default 200,000).
    """

    context_window_tokens: int = 200_000

    def __post_init__(self) -> None:
        whole(self, "context_window_tokens", least=1)

    __repr__ = plain_repr

    def of(self, limits: ModelLimits) -> int:
        """The window in tokens, whatever the model."""
        return self.context_window_tokens


def make(variant: str | None = None, **settings: Any) -> Preset:
    """The preset.

    Args:
        variant: `as_shipped` (default), `as_described` or `v0_1_0`.
        **settings: Any setting of `OpenHarnessConfig`, `OpenHarnessWindows` and `OpenHarnessMemoryConfig`.
    """
    version = chosen_variant(NAME, variant, VARIANTS)
    given = {**_VERSIONS[version], **settings}
    ours, windows, notes = shared_out(NAME, given, OpenHarnessConfig, OpenHarnessWindows, OpenHarnessMemoryConfig)
    config, window, memory = OpenHarnessConfig(**ours), OpenHarnessWindows(**windows), OpenHarnessMemoryConfig(**notes)
    return Preset(
        name=NAME,
        about=_ABOUT[version],
        policy=OpenHarnessPolicy(config, name=NAME),
        memory=MemoryConfig(flush="never"),
        design=partial(OpenHarnessMemory, settings=memory),
        variant=version,
        variants=VARIANTS,
        settings=in_force(config, window, memory),
        window_of=window.of,
    )
